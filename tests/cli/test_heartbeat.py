"""A line at a terminal while a command works on in silence; none where nobody looks, or it waits."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from typing import Any

from bestgroup._version import __version__ as version

WORK = "deadline = time.process_time() + 0.6\nwhile time.process_time() < deadline: pass\n"
WAIT = "time.sleep(1.0)\n"
BEAT = "bestgroup: at work"


def at_terminal(body: str, **streams: Any) -> str:
    """Return what a program writes to a terminal while a heart beats, every twentieth of a second."""
    inner = "".join(f"    {line}\n" for line in body.splitlines())
    program = (
        "import sys, time\nfrom bestgroup.cli.heartbeat import heartbeat\n"
        f"with heartbeat(0.05):\n{inner}"
    )
    ours, theirs = pty.openpty()
    given = {"stdin": theirs, "stdout": theirs, "stderr": theirs} | streams
    with subprocess.Popen([sys.executable, "-c", program], **given) as process:
        os.close(theirs)
        found = b""
        while True:
            try:
                chunk = os.read(ours, 65536)
            except OSError:
                break
            if not chunk:
                break
            found += chunk
    os.close(ours)
    assert process.returncode == 0
    return found.decode()


def screen(text: str) -> list[str]:
    """Return the lines that are left to see."""
    lines = []
    for line in text.replace("\r\n", "\n").split("\n"):
        lines.append(line.split("\x1b[2K")[-1].split("\r")[-1])
    return lines


def test_work_in_silence_is_heard_of_and_leaves_no_trace() -> None:
    found = at_terminal(f"print('first')\n{WORK}print('second', file=sys.stderr)\n{WORK}")
    first, second = found.index("first"), found.index("second")
    assert found.count(BEAT, first, second) >= 2 and BEAT in found[second:]
    assert screen(found) == ["first", "second", ""]


def test_who_waits_is_not_said_to_work() -> None:
    found = at_terminal(f"print('first')\n{WAIT}print('second')")
    assert found.count(BEAT) <= 1 and screen(found) == ["first", "second", ""]


def test_a_line_that_is_not_ended_is_left_alone() -> None:
    found = at_terminal(f"print('a question? ', end='', flush=True)\n{WORK}print('yes')")
    assert screen(found) == ["a question? yes", ""] and BEAT not in found


def test_nothing_is_said_where_nobody_looks() -> None:
    found = at_terminal(f"print('first')\n{WORK}", stderr=subprocess.DEVNULL)
    assert "first" in found and BEAT not in found
    found = at_terminal(f"print('first')\n{WORK}", env=os.environ | {"TERM": "dumb"})
    assert found == "first\r\n"


def test_results_in_a_file_hold_nothing_else(tmp_path: Any) -> None:
    path = tmp_path / "results"
    with path.open("w") as file:
        found = at_terminal(f"print('first')\n{WORK}print('second')", stdout=file)
    assert BEAT in found and path.read_text() == "first\nsecond\n"


def test_a_terminal_that_goes_ends_nothing_else(tmp_path: Any) -> None:
    path, mark = tmp_path / "results", tmp_path / "mark"
    program = (
        "import os, time\nfrom bestgroup.cli.heartbeat import heartbeat\n"
        "with heartbeat(0.05):\n"
        f"    while not os.path.exists({str(mark)!r}): pass\n"
        "    end = time.process_time() + 0.2\n"
        "    while time.process_time() < end: pass\n"
        "    print('first')\n"
    )
    ours, theirs = pty.openpty()
    command = [sys.executable, "-c", program]
    with (
        path.open("w") as file,
        subprocess.Popen(command, stdout=file, stderr=theirs) as process,
    ):
        os.close(theirs)
        found = b""
        while BEAT.encode() not in found:
            found += os.read(ours, 65536)
        os.close(ours)  # with the line there
        mark.touch()
        process.wait(60)
    assert process.returncode == 0 and path.read_text() == "first\n"


def test_a_job_in_the_background_leaves_the_terminal_alone() -> None:
    body = (
        "import fcntl, os, termios\n"
        "fcntl.ioctl(2, termios.TIOCSCTTY, 0)\n"
        "other = os.fork()\n"
        "if other == 0: time.sleep(60)\n"
        "os.setpgid(other, other)\n"
        "os.tcsetpgrp(2, other)\n"
        f"print('first')\n{WORK}"
        "os.kill(other, 9)\n"
    )
    found = at_terminal(body, start_new_session=True)
    assert "first" in found and BEAT not in found


def test_a_process_that_is_forked_off_can_write() -> None:
    body = (
        "import os, threading\n"
        "holds, over = threading.Event(), threading.Event()\n"
        "def hold():\n"
        "    with sys.stderr._heart.lock:\n"
        "        holds.set()\n"
        "        over.wait()\n"
        "threading.Thread(target=hold).start()\n"
        "holds.wait()\n"
        "child = os.fork()\n"
        "if child == 0:\n"
        "    print('child', file=sys.stderr, flush=True)\n"
        "    os._exit(0)\n"
        "until = time.monotonic() + 5\n"
        "while os.waitpid(child, os.WNOHANG)[0] == 0:\n"
        "    if time.monotonic() > until: os.kill(child, 9); os._exit(3)\n"
        "over.set()\n"
    )
    assert screen(at_terminal(body)) == ["child", ""]


def test_the_command_begins_with_it_and_imports_nothing_heavy_before() -> None:
    program = "import sys, bestgroup.cli.start\nprint(sorted({'typer', 'numpy', 'rich'} & set(sys.modules)))"
    found = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert found.stdout.strip() == "[]"


def test_an_exit_does_what_is_due_and_says_whether_all_has_arrived() -> None:
    def ends(words: str, **streams: Any) -> subprocess.CompletedProcess[str]:
        given = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | streams
        program = (
            "import atexit, sys, threading, time\nfrom bestgroup.cli.start import run\n"
            "atexit.register(print, 'exit function')\n"
            "def late():\n"
            "    while 'bestgroup.cli.main' not in sys.modules: time.sleep(0.05)\n"
            "    time.sleep(0.5)\n"
            "    print('thread')\n"
            f"threading.Thread(target=late).start()\nsys.argv[1:] = {words.split()!r}\nrun()\n"
        )
        return subprocess.run([sys.executable, "-c", program], text=True, check=False, **given)

    found = ends("--version")
    assert found.returncode == 0
    said = found.stdout.split("\n")
    assert {"thread", f"bestgroup {version}"} < set(said) and said[-2:] == ["exit function", ""]
    assert ends("no-such-command").returncode == 2
    with open("/dev/full", "w") as full:
        assert ends("--version", stdout=full).returncode != 0


def test_an_exit_ends_pools_of_threads_and_says_why_a_module_ended_it(tmp_path: Any) -> None:
    (tmp_path / "pooled.py").write_text(
        "from concurrent.futures import ThreadPoolExecutor\n"
        "pool = ThreadPoolExecutor(1)\n"
        "pool.submit(print, 'from a pool').result()\n"
    )
    (tmp_path / "ends.py").write_text("import sys\nsys.exit('needs a licence')\n")

    def ends(module: str) -> subprocess.CompletedProcess[str]:
        words = [sys.executable, "-m", "bestgroup", "--import", module, "token", "--help"]
        return subprocess.run(
            words, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60
        )

    found = ends("pooled")
    assert found.returncode == 0 and found.stdout.startswith("from a pool\n")
    found = ends("ends")
    assert found.returncode == 1 and found.stderr == "needs a licence\n" and not found.stdout
