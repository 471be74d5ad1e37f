"""The description of the package: README without what only works beside the source; and its addresses.

A package index shows no file of the source tree, so the figure, a relative link, is left out there.
The addresses are those of the repository that a release is built from, which is where its runner says
it is: the source itself has no home that could be written down.
"""

import os
import re
from pathlib import Path

from hatchling.metadata.plugin.interface import MetadataHookInterface

FIGURE = re.compile(r"^!\[[^\]]*\]\((?!https:)[^)]*\)\n\n", re.M)
COMMENT = re.compile(r"^<!--.*?-->\n", re.M)


class Description(MetadataHookInterface):
    """Fills in the fields `readme` and `urls`."""

    def update(self, metadata: dict) -> None:
        """Put the text of README into the metadata, and addresses where they are known."""
        text = Path(self.root, "README.md").read_text(encoding="utf-8")
        text = COMMENT.sub("", FIGURE.sub("", text))
        metadata["readme"] = {"content-type": "text/markdown", "text": text}
        server, name = (os.environ.get(f"GITHUB_{key}") for key in ("SERVER_URL", "REPOSITORY"))
        home = f"{server}/{name}"
        metadata["urls"] = (
            {
                "Source": home,
                "Documentation": f"{home}/tree/main/docs",
                "Changelog": f"{home}/blob/main/CHANGELOG.md",
                "Issues": f"{home}/issues",
            }
            if server and name
            else {}
        )
