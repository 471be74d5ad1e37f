"""The description of the package: README without what only works beside the source.

A package index shows no file of the source tree, so the figure, a relative link, is left out there.
"""

import re
from pathlib import Path

from hatchling.metadata.plugin.interface import MetadataHookInterface

FIGURE = re.compile(r"^!\[[^\]]*\]\((?!https:)[^)]*\)\n\n", re.M)
COMMENT = re.compile(r"^<!--.*?-->\n", re.M)


class Description(MetadataHookInterface):
    """Fills in the field `readme`."""

    def update(self, metadata: dict) -> None:
        """Put the text of README into the metadata."""
        text = Path(self.root, "README.md").read_text(encoding="utf-8")
        text = COMMENT.sub("", FIGURE.sub("", text))
        metadata["readme"] = {"content-type": "text/markdown", "text": text}
