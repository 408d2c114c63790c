"""Why there may be no enclosure, or none yet."""

from __future__ import annotations

from dpsym.errors import DpsymError, UnsupportedError

__all__ = ["Infinite", "NoEnclosureError", "Undecided"]


class Undecided(Exception):
    """The precision, or the range, does not tell. More of it may."""


class Infinite(Exception):
    """The integral or sum diverges, or the supremum is infinite: this is certain."""


class NoEnclosureError(UnsupportedError):
    """A question that ``enclose`` has no method for.

    >>> print(NoEnclosureError("no bound on the loss is known"))
    enclose: no bound on the loss is known
    """

    def __init__(self, reason: str) -> None:
        self.argument, self.functions = "enclose", ()
        DpsymError.__init__(self, f"enclose: {reason}")
