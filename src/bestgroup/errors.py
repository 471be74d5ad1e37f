"""The exceptions of bestgroup, and what each one means at the edges.

::

    BestGroupError                     everything raised on purpose        HTTP 500
    ├── InvalidInput (ValueError)      the caller's input cannot be used   HTTP 422
    │   └── TapeTooShort               a replay asked for a missing pull   HTTP 422
    ├── TicketError                    a ticket cannot be told or failed   HTTP 409
    ├── StoreError                     the storage refused or is gone      HTTP 503
    │   ├── NoSuchStudy                there is no study of that name      HTTP 404
    │   ├── WrongVersion               it takes another bestgroup to go on HTTP 409
    │   └── Damaged                    what is stored was changed          HTTP 409
    ├── EvaluationFailed               an evaluator failed for good        HTTP 502
    └── Unreachable                    a cluster or server does not answer HTTP 503

The command line prints ``error: ...`` and exits with 2 for every one of them.
"""


class BestGroupError(Exception):
    """Base of every error that the library raises on purpose."""

    status = 500


class InvalidInput(BestGroupError, ValueError):
    """What was given cannot be used; the message says what must hold and what was got."""

    status = 422


class TapeTooShort(InvalidInput):
    """A replay needed a pull that the tape does not hold."""


class TicketError(BestGroupError):
    """A ticket was told or failed that cannot be; `group`, `arm` and `pulls` say which one."""

    status = 409

    def __init__(
        self,
        what: str,
        group: object = None,
        arm: object = None,
        pulls: tuple[int, int] | None = None,
    ) -> None:
        self.what, self.group, self.arm, self.pulls = what, group, arm, pulls
        if pulls is None:
            super().__init__(what)
            return
        first, last = pulls
        which = f"pull {first}" if first == last else f"pulls {first} to {last}"
        super().__init__(f"{which} of arm {arm!r} of {group!r} {what}")


class StoreError(BestGroupError):
    """The storage refused, is locked, is gone or is of another version."""

    status = 503


class NoSuchStudy(StoreError):
    """There is no study of that name in the storage, or no storage yet."""

    status = 404


class WrongVersion(StoreError):
    """A study can be read here, but not go on: its algorithm's version is not there."""

    status = 409


class Damaged(StoreError):
    """What is stored does not fit its checksum: it was changed by other means than bestgroup."""

    status = 409


class EvaluationFailed(BestGroupError):
    """An evaluator raised, hung or gave no usable values, again and again.

    `group`, `arm`, `seed` and `item` say where; `study` holds what was measured before, if the
    study was kept nowhere else.
    """

    status = 502

    def __init__(
        self,
        message: str,
        group: str | None = None,
        arm: str | None = None,
        seed: int | None = None,
        item: str | None = None,
    ) -> None:
        super().__init__(message)
        self.group, self.arm, self.seed, self.item = group, arm, seed, item
        self.study: object = None


class Unreachable(BestGroupError):
    """A cluster or server does not answer."""

    status = 503
