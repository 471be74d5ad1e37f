"""How large a problem may be: refused with a sentence, before memory is spent on it."""

from __future__ import annotations

from collections.abc import Sequence

from bestgroup.errors import InvalidInput

MOST_GROUPS = 100_000
MOST_ARMS = 1_000_000  # in all groups
MOST_DIMS = 1_000
MOST_CELLS = 50_000_000  # groups x arms of the largest group x dims: what arrays are padded to
LONGEST_NAME = 1_000  # characters


def check_size(sizes: Sequence[int], dims: int) -> None:
    """Raise InvalidInput if groups of these sizes with so many dims are too much.

    >>> check_size([2, 3], 2)
    """
    most = ((len(sizes), MOST_GROUPS, "groups"), (sum(sizes), MOST_ARMS, "arms"))
    for got, limit, what in (*most, (dims, MOST_DIMS, "dims")):
        if got > limit:
            raise InvalidInput(f"a problem may have up to {limit:,} {what}; got {got:,}")
    cells = len(sizes) * max(sizes, default=0) * dims
    if cells > MOST_CELLS:
        raise InvalidInput(
            f"groups times arms of the largest group times dims may be up to {MOST_CELLS:,}; got "
            f"{cells:,}: split the largest group, or leave out groups"
        )


def check_name(name: str, what: str) -> str:
    """Return a name unless it is too long.

    >>> check_name("a1", "an arm")
    'a1'
    """
    if len(name) > LONGEST_NAME:
        raise InvalidInput(
            f"the name of {what} may have up to {LONGEST_NAME:,} characters; got {len(name):,}"
        )
    return name
