"""Real inequalities that privacy rules leave: tidied, rid of foreign hypotheses, proved once."""

from __future__ import annotations

import math
from collections.abc import Iterable

from dpsym.kernel.proofs import Lemma, Proof
from dpsym.kernel.sequents import Facts, Sequent, context
from dpsym.kernel.statements import PREFIX, RATIO, Fact
from dpsym.search import leaf
from dpsym.search.leaf.hinted import Have, Hint
from dpsym.search.samples import number, points

_GRID = (0.02, 0.3, 0.7, 0.97, 1.0, 1.04, 1.4, 2.5, 6.0, 40.0)
_TOLERANCE, _GUESS = 1e-9, 4.0
_known: dict[Fact, list[Lemma]] = {}


def relevant(sequent: Sequent) -> Sequent:
    """The sequent without the hypotheses that share no variable, even indirectly, with the goal."""
    names = set(sequent.goal.term.vars)
    while True:
        more = {
            name for fact in sequent.hypotheses if fact.term.vars & names for name in fact.term.vars
        }
        if more <= names:
            break
        names |= more
    kept: Facts = tuple(fact for fact in sequent.hypotheses if fact.term.vars & names)
    return Sequent(kept, sequent.goal)


def prove_leaf(
    sequent: Sequent,
    seconds: float,
    hints: tuple[Hint, ...] = (),
    guesses: Iterable[tuple[Hint, ...]] = (),
) -> Proof | leaf.Open:
    """A proof of the sequent, whose definedness is shown elsewhere.

    ``guesses`` are hints that are tried for a short time each, if the goal is not easy."""
    known = context(sequent.hypotheses)
    if known.evident(sequent.goal):
        return Proof("evident")
    goal = sequent.goal
    two = len(known.canon(goal.term)) == 2  # compared as they are, not multiplied out
    core = relevant(Sequent(sequent.hypotheses, goal if two else known.tidy(goal)))
    found = _shown(core)
    if found is None:
        given = _apt(core, hints)
        answer = _guessed(core, seconds, guesses) or leaf.prove(core, seconds, given)
        if not isinstance(answer, Lemma):
            return answer
        found = answer
        _known.setdefault(core.goal, []).append(found)
    used = Proof("instance", {"lemma": found, "mapping": ()})
    return used if two else Proof("tidy", {}, (used,))


def _apt(core: Sequent, hints: tuple[Hint, ...]) -> tuple[Hint, ...]:
    """The hints that are about variables of the goal, if it is not easy without them."""
    apt = tuple(
        hint
        for hint in hints
        if not isinstance(hint, Have) or hint.fact.term.vars <= core.goal.term.vars
    )
    return () if apt and leaf.easy(core) else apt


def _guessed(core: Sequent, seconds: float, guesses: Iterable[tuple[Hint, ...]]) -> Lemma | None:
    guessing = iter(guesses)
    first = next(guessing, None)
    if first is None or leaf.easy(core):
        return None
    tried = (leaf.follow(core, min(_GUESS, seconds / 2), guess) for guess in (first, *guessing))
    return next((found for found in tried if found is not None), None)


def _shown(sequent: Sequent) -> Lemma | None:
    """What was proved of the same goal from some of the hypotheses."""
    given = set(sequent.hypotheses)
    for lemma in _known.get(sequent.goal, ()):
        if given.issuperset(lemma.sequent.hypotheses):
            return lemma
    return None


def plausible(sequent: Sequent) -> bool:
    """Whether the goal holds at sample points, as far as floating point tells."""
    names = tuple((name, "real") for name in sorted(sequent.vars - {PREFIX, RATIO}))
    outer = tuple(fact for fact in sequent.hypotheses if not fact.term.vars & {PREFIX, RATIO})
    for values in points(names, outer, count=3):
        for s in _GRID if PREFIX in sequent.vars else (1.0,):
            for t in _GRID if RATIO in sequent.vars else (1.0,):
                at = {**values, PREFIX: s, RATIO: t}
                if all(_holds(fact, at, 0.0) for fact in sequent.hypotheses) and not _holds(
                    sequent.goal, at, _TOLERANCE
                ):
                    return False
    return True


def _holds(fact: Fact, values: dict[str, float], slack: float) -> bool:
    value = number(fact.term, values)
    if math.isnan(value) or fact.rel == "!=":
        return slack > 0
    parts = fact.term.args if fact.term.op == "add" else (fact.term,)
    scale = 1 + max(abs(number(part, values)) for part in parts)
    return value >= -slack * (scale if math.isfinite(scale) else 1)
