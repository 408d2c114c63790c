"""The entry points: ``prove``, ``refute`` and ``decide``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from flint import fmpq

from dpsym.kernel import terms as tm
from dpsym.kernel.proofs import Lemma, Proof, prove_lemma, top_obligations
from dpsym.kernel.refusal import Refusal
from dpsym.kernel.sequents import Sequent, context
from dpsym.kernel.statements import Fact
from dpsym.search.leaf import hinted, quick
from dpsym.search.leaf.budget import Budget, OutOfBudget, budget
from dpsym.search.leaf.hinted import Hint
from dpsym.search.leaf.hypotheses import lean, linked, own
from dpsym.search.leaf.memory import Failure, Memory, is_short, shape
from dpsym.search.leaf.steps import form_of, premises

if TYPE_CHECKING:
    from dpsym.search.leaf.prover import Search

_QUICK, _FIRST_LOOK, _LAST_LOOK = 0.3, 0.05, 2.0
# after so many seconds the search for a proof is interrupted, for a look of at most so many, and
# whether floats, which had a look before it, have another one
_BETWEEN = ((0.6, 0.25, False), (3.0, 1.0, True))
_REST = 0.25  # share of what the search for a proof leaves, for the last look
_HINTED = 0.6  # share of the time for following hints
_OWN = 0.15  # share of the time for a proof without hypotheses about other variables
_SIGN = 0.9  # for that a term has a sign, if it is asked whether it is not zero
_MANY = 6  # hypotheses, of which some are likely to be evident by others
_FACTORED = 0.6  # for proofs about the factors of a quotient
_FRONTIER = 0.15  # for choosing what to show of what is left open

MEMORY = Memory()
TRIED = "no proof of what is left was found before, in as long a time"


@dataclass(frozen=True, slots=True)
class Open:
    """Neither proved nor refuted. ``left`` are sequents whose proofs would complete one."""

    reason: str
    left: tuple[Sequent, ...] = ()


@dataclass(frozen=True, slots=True)
class Point:
    """Exact values at which all hypotheses hold and the goal fails."""

    values: dict[str, fmpq] = field(default_factory=dict)


def prove(sequent: Sequent, seconds: Budget | float, hints: tuple[Hint, ...] = ()) -> Lemma | Open:
    """Search for a proof that the kernel accepts, for at most so many CPU seconds."""
    given = budget(seconds)
    return _by_hints(sequent, given, hints) or _known(sequent, given)


def easy(sequent: Sequent) -> bool:
    """Whether a proof is found within milliseconds."""
    return _quickly(sequent, Budget(_QUICK)) is not None


def follow(sequent: Sequent, seconds: Budget | float, hints: tuple[Hint, ...]) -> Lemma | None:
    """A proof that begins with these hints, if there is one."""
    return _by_hints(sequent, budget(seconds), hints)


def refute(
    sequent: Sequent, seconds: Budget | float, integers: frozenset[str] = frozenset()
) -> dict[str, fmpq] | None:
    """A rational point at which all hypotheses hold and the goal fails, for certain, or None.

    Variables named in ``integers`` get whole values."""
    from dpsym.search.leaf import counterexample  # loads numpy

    return counterexample.find(sequent, budget(seconds), integers, thorough=True)


def decide(
    sequent: Sequent,
    seconds: Budget | float,
    integers: frozenset[str] = frozenset(),
    hints: tuple[Hint, ...] = (),
) -> Lemma | Point | Open:
    """Easy proofs, a short search for a counterexample, a search for a proof, a longer look.

    The search for a proof is interrupted for thorough looks. Hints are followed first, for a part
    of the time."""
    given = budget(seconds)
    found: Lemma | Open | None = _by_hints(sequent, given, hints)
    found = found or _quickly(sequent, given, alone=True)
    if found is not None:
        return found
    from dpsym.search.leaf import counterexample  # loads numpy

    point = counterexample.find(sequent, given.part(_FIRST_LOOK), integers, thorough=False)
    if point is not None:
        return Point(point)
    late = min(_LAST_LOOK, given.left() / 10)

    def look(most: float, floats: bool) -> None:
        seconds = Budget(min(most, given.left() / 10))
        if floats:
            point = counterexample.find(sequent, seconds, integers, thorough=True)
        else:
            point = counterexample.exactly(sequent, seconds, integers)
        if point is not None:
            raise _Found(point)

    looks = [(after, partial(look, most, floats)) for after, most, floats in _BETWEEN]
    try:
        searching = given.part(given.left() - late).interrupted(*looks)
        found = _thoroughly(sequent, searching)
    except _Found as refuted:
        return Point(refuted.point)
    if isinstance(found, Lemma):
        return found
    longer = max(_LAST_LOOK, given.left() * _REST)
    point = counterexample.find(sequent, given.part(longer), integers, thorough=True, seed=2)
    return found if point is None else Point(point)


class _Found(Exception):
    """A counterexample turned up during the search for a proof."""

    def __init__(self, point: dict[str, fmpq]) -> None:
        super().__init__()
        self.point = point


def _by_hints(sequent: Sequent, given: Budget, hints: tuple[Hint, ...]) -> Lemma | None:
    if not hints:
        return None
    from dpsym.search.leaf.prover import Search  # loads numpy

    search = Search(given.part(given.left() * _HINTED))
    try:
        needed = top_obligations(sequent.hypotheses, sequent.goal)
        shown = {premise: search.run(premise) for premise in needed}
        if None in shown.values():
            return None
        # a fact that is given is compared with the goal, so signs of denominators matter
        used = isinstance(hints[0], hinted.Have | hinted.Use)
        stated = _stated(sequent, shown) if used else []
        finish = partial(hinted.prove_with, search, hints=hints)
        proof = _with_facts(search, sequent, stated, finish)
    except (Refusal, ArithmeticError, RecursionError):
        return None
    return _checked(sequent, proof, list(shown.values())) if isinstance(proof, Proof) else None


def _quickly(sequent: Sequent, given: Budget, alone: bool = False) -> Lemma | None:
    """What was proved before, or a proof of a few milliseconds.

    A goal that stands ``alone`` is proved in full, not by a short lemma about other names."""
    part = given.part(_QUICK)
    try:
        with part.enforced():
            key, names = shape(sequent)
            found = _remembered(sequent, key, names, part, alone)
            if found is not None:
                return found
            proof = quick.prove(sequent, part)
            if proof is None:
                return None
            shown = [
                quick.prove(premise, part)
                for premise in top_obligations(sequent.hypotheses, sequent.goal)
            ]
    except (OutOfBudget, Refusal):
        return None
    found = _checked(sequent, proof, shown)
    if found is not None:
        MEMORY.keep(key, found, names)
    return found


def _remembered(
    sequent: Sequent, key: Sequent, names: tuple[str, ...], part: Budget, alone: bool
) -> Lemma | None:
    """By a lemma with these hypotheses, or with those about the goal's own variables alone."""
    fewer = own(sequent)
    for one, called in [(key, names)] + ([shape(fewer)] if fewer is not sequent else []):
        known = MEMORY.find(one)
        if known is not None and alone and known[0].sequent != sequent and is_short(known[0]):
            continue
        found = None if known is None else _instance(sequent, *known, called, part)
        if found is not None:
            return found
    return None


def _instance(
    sequent: Sequent, lemma: Lemma, old: tuple[str, ...], new: tuple[str, ...], part: Budget
) -> Lemma | None:
    if lemma.sequent == sequent:
        return lemma
    mapping = tuple((name, tm.var(other)) for name, other in zip(old, new, strict=True))
    parameters = {"lemma": lemma, "mapping": mapping}
    left = premises(sequent, "instance", parameters)
    if left is None:
        return None
    proofs = [quick.prove(premise, part) for premise in left]
    shown = [
        quick.prove(premise, part) for premise in top_obligations(sequent.hypotheses, sequent.goal)
    ]
    kept = tuple(proof for proof in proofs if proof is not None)
    if len(kept) != len(proofs):
        return None
    return _checked(sequent, Proof("instance", parameters, kept), shown)


def _with_fewer(sequent: Sequent, given: Budget) -> Lemma | Open | None:
    """By a lemma without hypotheses that are likely not to matter; None if it has to be tried with
    all of them."""
    few, rest = own(sequent), linked(sequent)
    if len(sequent.hypotheses) > _MANY or any(fact.term.kinked for fact in sequent.hypotheses):
        few, rest = lean(few), lean(rest)
    first = [(few, _OWN)] if few not in (sequent, rest) and _plausible(few) else []
    for one, share in (*first, (rest, 1.0)):
        if one == sequent:
            continue
        found = _known(one, given.part(share * given.left()))
        if isinstance(found, Lemma):
            whole = _weaker(sequent, found, given.part(_QUICK))
            if whole is not None:
                return whole
        elif share == 1:
            return found
    return None


def _by_sign(sequent: Sequent, given: Budget) -> Lemma | None:
    """That a term is not zero, by its sign."""
    if sequent.goal.rel != "!=":
        return None
    for way in (1, -1):
        fact = context(sequent.hypotheses).tidy(Fact(way * sequent.goal.term, ">"))
        positive = Sequent(sequent.hypotheses, fact)
        if not _plausible(positive):
            continue
        found = _known(positive, given.part(_SIGN * given.left()))
        left = premises(sequent, "have", {"fact": fact}) or []
        if not isinstance(found, Lemma) or positive not in left:
            continue
        part, needed = given.part(_QUICK), top_obligations(sequent.hypotheses, sequent.goal)
        try:
            proofs = [found.proof if one == positive else quick.prove(one, part) for one in left]
            shown = [quick.prove(one, part) for one in needed]
        except OutOfBudget:
            return None
        kept = tuple(proof for proof in proofs if proof is not None)
        if len(kept) == len(left):
            return _checked(sequent, Proof("have", {"fact": fact}, kept), shown)
    return None


def _known(sequent: Sequent, given: Budget) -> Lemma | Open:
    return _quickly(sequent, given) or _thoroughly(sequent, given)


def _plausible(sequent: Sequent) -> bool:
    from dpsym.search.leaf.numeric import plausible  # loads numpy

    return plausible(sequent)


def _in_lowest_terms(sequent: Sequent, given: Budget) -> Lemma | None:
    """By lemmas about the factors of a quotient."""
    from dpsym.search.leaf.moves import in_lowest_terms  # loads numpy

    if sequent.goal.rel == "!=" or sequent.goal.term.kinked:
        return None
    try:
        with given.part(_FACTORED * given.left()).enforced() as part:
            move = in_lowest_terms(sequent, form_of(sequent))
            left = None if move is None else premises(sequent, move.rule, move.parameters)
            if move is None or left is None or not all(map(_plausible, left)):
                return None
            needed = top_obligations(sequent.hypotheses, sequent.goal)
            shown = [_proof(one, part) for one in needed]
            proofs = [_proof(one, part) for one in left]
    except (OutOfBudget, Refusal):
        return None
    kept = tuple(proof for proof in proofs if proof is not None)
    whole = len(kept) == len(left)
    return _checked(sequent, Proof(move.rule, move.parameters, kept), shown) if whole else None


def _proof(sequent: Sequent, given: Budget) -> Proof | None:
    found = _known(sequent, given)
    return found.proof if isinstance(found, Lemma) else None


def _weaker(sequent: Sequent, lemma: Lemma, part: Budget) -> Lemma | None:
    """By a lemma with fewer hypotheses."""
    names = shape(lemma.sequent)[1]
    try:
        with part.enforced():
            return _instance(sequent, lemma, names, names, part)
    except (OutOfBudget, Refusal):
        return None


def _checked(sequent: Sequent, proof: Proof, shown: list[Proof | None]) -> Lemma | None:
    """The lemma, if the kernel accepts the proofs."""
    kept = tuple(item for item in shown if item is not None)
    if len(kept) != len(shown):
        return None
    try:
        return prove_lemma(sequent, proof, kept)
    except Refusal:
        return None


def _thoroughly(sequent: Sequent, given: Budget) -> Lemma | Open:
    found = (
        _by_sign(sequent, given) or _with_fewer(sequent, given) or _in_lowest_terms(sequent, given)
    )
    if found is not None:
        return found
    key, names = shape(sequent)
    seconds = given.left()
    before = MEMORY.tried(key, seconds)
    if before is not None:
        left = before.left if before.names == names else (sequent,)
        return Open(TRIED, left)
    found = _search(sequent, given)
    if isinstance(found, Lemma):
        MEMORY.keep(key, found, names, at_once=False)
    else:
        MEMORY.failed(key, Failure(seconds, names, found.left))
    return found


def _search(sequent: Sequent, given: Budget) -> Lemma | Open:
    from dpsym.search.leaf.frontier import frontier
    from dpsym.search.leaf.prover import Search  # loads numpy

    search = Search(given)
    shown: dict[Sequent, Proof | None] = {}
    try:
        needed = top_obligations(sequent.hypotheses, sequent.goal)
        for premise in needed:
            known = _quickly(premise, given) or _by_sign(premise, given)
            shown[premise] = search.run(premise) if known is None else known.proof
            if shown[premise] is None:
                left = frontier(premise, search.stuck, search.proved, _FRONTIER)
                return Open("not shown to be defined everywhere", (*left, sequent))
        proof = _with_facts(search, sequent, _stated(sequent, shown), search.run)
    except Refusal as refusal:
        return Open(str(refusal), (sequent,))
    if not isinstance(proof, Proof):
        late = given.left() <= 0
        reason = "the budget is used up" if late else "no proof was found of what is left"
        left = frontier(proof, search.stuck, search.proved, _FRONTIER)
        return Open(reason, (sequent,) if left == (proof,) else left)
    found = _checked(sequent, proof, list(shown.values()))
    return found if found is not None else Open("the kernel refused the proof", (sequent,))


def _stated(sequent: Sequent, shown: dict[Sequent, Proof | None]) -> list[Fact]:
    """What was shown under the hypotheses; signs in place of what is not zero."""
    out = []
    for premise, proof in shown.items():
        if proof is None or premise.hypotheses != sequent.hypotheses:
            continue
        fact = premise.goal
        if fact.rel == "!=" and proof.rule == "nonzero":
            fact = Fact(proof.parameters["sign"] * fact.term, ">")
        elif fact.rel == "!=" and proof.rule == "have":
            fact = proof.parameters["fact"]
        out.append(fact)
    return out


def _with_facts(
    search: Search, sequent: Sequent, facts: list[Fact], finish: Callable[[Sequent], Proof | None]
) -> Proof | Sequent:
    """A proof that first states that the goal is defined, where that is not evident, and goes on
    with ``finish``; or the goal that stayed open."""
    if not facts:
        return _with_cleared(search, sequent, finish)
    first, *rest = facts
    known = context(sequent.hypotheses)
    fact = known.tidy(first)
    parameters = {"fact": fact}
    left = premises(sequent, "have", parameters)
    if left is None or known.evident(first):
        return _with_facts(search, sequent, rest, finish)
    proofs = []
    for premise in left[:-1]:
        lemma = _quickly(premise, search.budget)
        found = lemma.proof if lemma else search.run(premise)
        if found is None:
            return sequent
        proofs.append(found)
    last = _with_facts(search, left[-1], rest, finish)
    return Proof("have", parameters, (*proofs, last)) if isinstance(last, Proof) else last


def _with_cleared(
    search: Search, sequent: Sequent, finish: Callable[[Sequent], Proof | None]
) -> Proof | Sequent:
    """A proof that first clears denominators of hypotheses; or the goal that stayed open."""
    from dpsym.search.leaf.denominators import cleared  # loads numpy

    for fact, proof in cleared(sequent, search.run):
        parameters = {"fact": fact}
        left = premises(sequent, "have", parameters)
        if left is None or len(left) != 2:
            continue
        last = _with_cleared(search, left[-1], finish)
        return Proof("have", parameters, (proof, last)) if isinstance(last, Proof) else last
    return finish(sequent) or sequent
