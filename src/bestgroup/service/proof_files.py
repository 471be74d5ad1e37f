"""The routes of proof files: the file, the links of the log, and whether the verifier accepts them.

"verified" is said of what the verifier has checked: the command `bestgroup verify` is run, in a process
of its own, on the files as they would be sent.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from fastapi import APIRouter, Response

from bestgroup.errors import InvalidInput
from bestgroup.service import schemas
from bestgroup.service.api import AStudy
from bestgroup.service.auth import SCHEMES
from bestgroup.service.hub import Watched
from bestgroup.service.problems import Busy, described

PATIENCE = 600.0  # seconds for the verifier
router = APIRouter(prefix="/api/v1", tags=["proofs"], dependencies=SCHEMES, responses=described())


class Files:
    """A proof, its rows and their links, of one moment, in a folder that is removed afterwards."""

    def __init__(self, watched: Watched) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="bestgroup-")
        folder = Path(self._folder.name)
        self.proof, self.rows = folder / "proof.json", folder / "rows.csv"
        self.links = folder / "links.csv"
        try:
            watched.study.save_proof(self.proof, rows=self.rows, chain=self.links)
        except BaseException:
            self._folder.cleanup()
            raise

    def __enter__(self) -> Files:
        return self

    def __exit__(self, *_: object) -> None:
        self._folder.cleanup()


def _attached(content: bytes, kind: str, name: str) -> Response:
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(content, media_type=kind, headers=headers)


@router.get(
    "/proof",
    summary="A proof file of what is decided",
    response_class=Response,
    responses={200: {"description": "The file", "content": {"application/json": {}}}},
)
def proof(watched: AStudy) -> Response:
    """Send a proof file, for `bestgroup verify` with an export; refuses, with the reason, if none."""
    with Files(watched) as files:
        return _attached(files.proof.read_bytes(), "application/json", "proof.json")


@router.get(
    "/links",
    summary="The links of the log as CSV",
    response_class=Response,
    responses={200: {"description": "CSV", "content": {"text/csv": {}}}},
)
def links(watched: AStudy) -> Response:
    """Send the links of the log, each of which commits to all tells before it."""
    with tempfile.TemporaryDirectory(prefix="bestgroup-") as name:
        rows, chain = Path(name) / "rows.csv", Path(name) / "links.csv"
        watched.study.export(rows, chain=chain)
        return _attached(chain.read_bytes(), "text/csv", "links.csv")


@router.get("/verified", summary="Whether the verifier accepts the proof")
def verified(watched: AStudy) -> schemas.Verified:
    """Make the proof file of this moment and run `bestgroup verify` on it, with rows and links."""
    with Files(watched) as files:
        command = [sys.executable, "-m", "bestgroup", "verify", str(files.proof), str(files.rows)]
        try:
            done = subprocess.run(
                [*command, "--chain", str(files.links), "--json"],
                capture_output=True,
                check=False,
                timeout=PATIENCE,
                stdin=subprocess.DEVNULL,
            )
        except subprocess.TimeoutExpired:
            raise Busy(
                f"the verifier took longer than {PATIENCE:g} s; run `bestgroup verify` yourself"
            ) from None
        try:
            found = json.loads(done.stdout)
        except ValueError:  # it ended before it came to a verdict
            said = done.stderr.decode(errors="replace").strip()[-300:]
            raise InvalidInput(f"the verifier could not be run: {said}") from None
        return schemas.Verified(
            verified=bool(found["verified"]) and done.returncode == 0,
            digest=found["digest"],
            lines=found["lines"],
            failed=found["failed"],
            why=found["why"],
            claim=found["claim"],
        )
