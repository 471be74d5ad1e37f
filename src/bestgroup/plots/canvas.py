"""What all figures share: an empty one without a display, colours, room for every text, files.

matplotlib is imported when a figure is made; nothing touches its global state.
"""

from __future__ import annotations

import textwrap
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bestgroup.errors import InvalidInput

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Okabe and Ito's palette, which colour-blind readers can tell apart.
BLUE, ORANGE, BLACK = "#0072B2", "#E69F00", "#000000"
GREEN, GREY, VERMILLION = "#009E73", "#999999", "#D55E00"
FORMATS = ("png", "svg", "pdf")
_TRIES = 6
_LEAST = 0.02  # inches that a text may miss by rounding


def figure(width: float, height: float) -> Figure:
    """Return an empty figure with legible fonts, drawn without a display."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        raise InvalidInput("plots need matplotlib: pip install 'bestgroup[plots]'") from None
    result = Figure(figsize=(width, height), layout="constrained", dpi=150)
    FigureCanvasAgg(result)
    return result


def wrapped(text: str, width: int = 28, lines: int = 2) -> str:
    r"""Return a name in a few short lines; what does not fit into them ends with dots.

    >>> wrapped("a name that is much too long for the side of a figure", 12)
    'a name that\nis much […]'
    """
    return "\n".join(textwrap.wrap(text, width, max_lines=lines, placeholder=" […]"))


def fitted(drawn: Figure) -> Figure:
    """Return the figure, made larger where a title, legend or label would be cut."""
    for _ in range(_TRIES):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            drawn.draw_without_rendering()
        if any("constrained_layout not applied" in str(one.message) for one in caught):
            drawn.set_size_inches(
                *(1.5 * drawn.get_size_inches())
            )  # the texts leave no room at all
            continue
        box: Any = drawn.get_tightbbox()  # inches
        width, height = (float(side) for side in drawn.get_size_inches())
        wider = max(-box.x0, 0.0) + max(box.x1 - width, 0.0)
        higher = max(-box.y0, 0.0) + max(box.y1 - height, 0.0)
        if max(wider, higher) <= _LEAST:
            break
        # What is centred sticks out on both sides.
        drawn.set_size_inches(width + 2 * wider, height + 2 * higher)
    return drawn


def image_format(path: Path) -> str:
    """Return the format that a file's name asks for; PNG without an ending.

    >>> image_format(Path("front.pdf")), image_format(Path("front"))
    ('pdf', 'png')
    """
    found = path.suffix.removeprefix(".").lower() or "png"
    if found not in FORMATS:
        raise InvalidInput(f"a plot's file must end in .png, .svg or .pdf; got {path.name!r}")
    return found


def write(drawn: Figure, path: Path, kind: str) -> None:
    """Write a figure as PNG, SVG or PDF; the same figure gives the same bytes."""
    dates = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}
    drawn.savefig(path, format=kind, dpi=200, metadata=dates.get(kind))
