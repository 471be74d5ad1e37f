"""Progress in a notebook: one line of HTML that is written again in its place."""

from __future__ import annotations

import sys
from html import escape
from typing import Any

_BAR = "display:inline-block;width:12em;height:.7em;border:1px solid #8888;border-radius:.35em"


def in_notebook() -> bool:
    """Return whether this process shows its output in a Jupyter notebook."""
    shell = sys.modules.get("IPython")
    found = shell.get_ipython() if shell is not None else None
    return found is not None and type(found).__name__ == "ZMQInteractiveShell"


def shows_progress(wanted: bool | None) -> bool:
    """Return whether to show progress; by default at a terminal and in a notebook."""
    return (sys.stderr.isatty() or in_notebook()) if wanted is None else wanted


class NotebookLine:
    """Words and a bar in the output of a cell."""

    def __init__(self) -> None:
        from IPython.display import display

        self._line: Any = display({"text/plain": ""}, raw=True, display_id=True)

    def show(self, words: str, share: float | None = None) -> None:
        """Write the line again; `share` is how much of the work is done, None if nobody knows."""
        self._line.update(page(words, share), raw=True)

    def clear(self) -> None:
        """Leave nothing behind."""
        self._line.update({"text/plain": "", "text/html": ""}, raw=True)


def page(words: str, share: float | None) -> dict[str, str]:
    """Return a line for notebooks that show HTML, and for those that do not.

    >>> page("3 < 4", None)
    {'text/plain': '3 < 4', 'text/html': '<code>3 &lt; 4</code>'}
    """
    if share is None:
        return {"text/plain": words, "text/html": f"<code>{escape(words)}</code>"}
    done = min(max(share, 0.0), 1.0)
    inside = f"display:block;height:100%;width:{done:.0%};background:#0072B2"
    bar = f'<span style="{_BAR}"><span style="{inside}"></span></span>'
    plain = f"{words} ({done:.0%})"
    return {"text/plain": plain, "text/html": f"{bar} <code>{escape(words)}</code>"}
