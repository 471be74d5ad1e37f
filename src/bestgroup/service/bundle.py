"""The charting library's script, plotly.js, as the installed package `plotly` ships it.

The package is found, never imported: it takes long to import, and only one of its files is needed.
"""

from __future__ import annotations

import gzip
import re
from functools import cached_property
from importlib import metadata, util
from pathlib import Path

from fastapi import Request
from fastapi.responses import FileResponse, Response

# The whole library has maps, whose style sheet it adds as text unless an element of that id is
# there. The page draws no maps, and its policy allows no style sheets as text.
_SHEET = re.compile(rb'if\(!document\.getElementById\("([0-9a-f]{64})"\)\)')
_HEADERS = {
    "Cache-Control": "private, max-age=31536000, immutable",  # the version is in the address
    "Vary": "Accept-Encoding",
}


class Bundle:
    """The script on disk, under an address that holds the package's version."""

    def __init__(self, path: Path, version: str) -> None:
        self.path, self.name = path, f"plotly-{version}.min.js"

    @cached_property
    def packed(self) -> bytes:
        """The script as gzip packs it: less than a third of its size."""
        return gzip.compress(self.path.read_bytes(), 9, mtime=0)

    @cached_property
    def tags(self) -> str:
        """What the page's head says of the script: its address, and the ids that keep sheets out."""
        ids = [found.decode() for found in _SHEET.findall(self.path.read_bytes())]
        head = f'<meta name="plotly" content="/static/{self.name}">'
        return "".join([head, *(f'<meta id="{id_}">' for id_ in ids)])

    def response(self, request: Request) -> Response:
        """Return the script, packed for whoever can unpack it."""
        if "gzip" not in request.headers.get("accept-encoding", ""):
            return FileResponse(self.path, media_type="text/javascript", headers=_HEADERS)
        headers = {**_HEADERS, "Content-Encoding": "gzip"}
        return Response(self.packed, media_type="text/javascript", headers=headers)


def find_bundle() -> Bundle | None:
    """Return the script of the installed package; None if there is none."""
    spec = util.find_spec("plotly")
    try:
        version = metadata.version("plotly")
    except metadata.PackageNotFoundError:
        return None
    for folder in (spec and spec.submodule_search_locations) or ():
        path = Path(folder) / "package_data" / "plotly.min.js"
        if path.is_file():
            return Bundle(path, version)
    return None
