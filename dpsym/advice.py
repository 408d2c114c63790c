"""What a user may do where neither a proof nor a counterexample was found."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dpsym.kernel.statements import Mechanism, Statement, singles

__all__ = ["DOMAIN", "HINTS", "ROOM", "SHORTER", "VALUE", "advice", "larger"]

_ANY = ("PureDP", "BoundedRange", "GDP", "ZCDP")
_ENOUGH = {
    "PureDP": ("PureDP", "BoundedRange"),
    "ApproxDP": (*_ANY, "TCDP", "RenyiDP", "ApproxDP", "ProbabilisticDP"),
    "RenyiDP": (*_ANY, "TCDP", "RenyiDP"),
    "ZCDP": _ANY,
    "TCDP": (*_ANY, "TCDP"),
    "GDP": ("PureDP", "GDP"),
    "BoundedRange": ("PureDP", "BoundedRange"),
}
"""Notions, by the claim's: a guarantee of one of these for every stage bounds what is claimed."""

HINTS = "hints for what is left (dpsym.hints), if it is true; check_inequality tries them alone"
DOMAIN = "conditions in where under which every term is defined"
ROOM = "more room in the claim; bound() has the best value that is proved"
VALUE = "check with a value in place of the symbol, for which more is tried"
SHORTER = "a shorter claim: a symbol for a long part of it, with its range in where"
_IN_PLACE = (
    "in place of an explicit mechanism, a guarantee that check proves of it by itself, such as "
    "PureDP or GDP"
)
_ENCLOSED = "a symbol in the claim and the mechanism's enclose(), which has certified numbers"
_NUMBERS = "numbers for some of the parameters, for which more is tried"


def advice(statement: Statement, first: Iterable[str], numbers: bool) -> tuple[str, ...]:
    """Suggestions for a claim, the most promising first.

    Args:
        statement: what is open.
        first: what is known to be in the way, such as the time.
        numbers: whether all that could be a number is one.
    """
    found = [*_premises(statement), *first]
    stages = statement.stages
    if any(isinstance(one, Mechanism) for stage in stages for one in singles(stage)):
        if len(stages) > 1 or not isinstance(stages[0], Mechanism):
            found.append(_IN_PLACE)
        elif numbers:
            found.append(_ENCLOSED)
    return tuple(found if numbers else [*found, _NUMBERS])


def larger(limit: float) -> str:
    """To give it more time."""
    return f"a larger budget than these {limit:g} seconds"


def _premises(statement: Statement) -> Iterator[str]:
    """Stages that have no guarantee from which the claim can follow."""
    for claim in statement.claims:
        enough = _ENOUGH.get(_said(claim.name))
        for number, stage in enumerate(statement.stages, 1):
            for single in singles(stage):
                if isinstance(single, Mechanism) or enough is None:
                    continue
                names = dict.fromkeys(_said(one.name) for one in single.guarantees)
                if not any(name in enough for name in names):
                    which = f" of stage {number}" if len(statement.stages) > 1 else ""
                    yield (
                        f"a guarantee{which} from which {_said(claim.name)} follows, by "
                        f"dp.both(A, B): {_or(enough)}, as {' and '.join(names)} is not enough"
                    )


def _said(name: str) -> str:
    """A notion as it is called outside of the kernel."""
    return "RenyiDP" if name in ("RenyiDPBelowOne", "KLDP") else name


def _or(names: tuple[str, ...]) -> str:
    return f"{', '.join(names[:-1])} or {names[-1]}"
