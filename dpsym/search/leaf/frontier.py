"""What a search left open: of all sets of goals whose proofs would complete one, a small one.

A search that gave up has, for some goals, steps of which some premises are not proved. The cost of
a goal is how long it is to read, or the sum of the costs of what one of its steps left, whichever
is less; so what is shown never costs more than the claim itself.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from functools import lru_cache
from math import inf

from flint import fmpq

from dpsym.kernel import terms as tm
from dpsym.kernel.refusal import Refusal
from dpsym.kernel.sequents import Facts, Sequent, context
from dpsym.kernel.statements import Fact
from dpsym.kernel.terms import Term
from dpsym.search.leaf import counterexample
from dpsym.search.leaf.budget import Budget
from dpsym.search.leaf.numeric import relevant
from dpsym.search.leaf.prover import Search
from dpsym.search.leaf.steps import evident

Steps = Mapping[Sequent, Collection[tuple[Sequent, ...]]]

_EACH, _NAME, _NODE, _HARD, _DIGIT = 800, 200, 100, 300, 20
_NARROWER, _MOST_NARROW = 2, 50  # percent for a hypothesis: under it, a proof is closer
_FUNCTIONS = frozenset({"exp", "log", "sqrt", "erfc", "atan", "lgamma", *tm.KINKED})
_MOST, _PASSES = 3000, 30
_TRY, _LOOK = 0.04, 0.03  # seconds for one goal's proof or counterexample


def frontier(
    root: Sequent, steps: Steps, proved: Iterable[Sequent], seconds: float
) -> tuple[Sequent, ...]:
    """Goals that would complete a proof of ``root``, few and short.

    ``steps`` are, for a goal, what each step that was tried left to prove. While there is time,
    goals that are false at a point are avoided, and goals with a quick proof left out.
    """
    known, false, checked = set(proved), set[Sequent](), {root}
    part = Budget(seconds)
    found = _cheapest(root, steps, known, false)
    while part.left() > 0:
        new = [goal for goal in found if goal not in checked]
        if not new:
            break
        for goal in new:
            checked.add(goal)
            if Search(part.part(_TRY)).run(goal) is not None:
                known.add(goal)
            elif counterexample.find(goal, part.part(_LOOK), frozenset(), thorough=False):
                false.add(goal)
        found = _cheapest(root, steps, known, false)
    return found if found == (root,) else tuple(dict.fromkeys(map(_shown, found)))


# -- the cheapest set of goals


def _cheapest(
    root: Sequent, steps: Steps, proved: set[Sequent], false: set[Sequent]
) -> tuple[Sequent, ...]:
    reached = _reached(root, steps)
    costs: dict[Sequent, float] = {g: inf if g in false else cost(g, root) for g in reached}
    costs.update(dict.fromkeys(proved & costs.keys(), 0.0))
    best: dict[Sequent, tuple[Sequent, ...]] = {}
    for _ in range(_PASSES):
        before = dict(best)
        for goal in reversed(reached):
            for left in steps.get(goal, ()) if goal not in proved else ():
                total = sum(costs.get(premise, inf) for premise in left)
                if total < costs[goal]:
                    costs[goal], best[goal] = total, left
        if best == before:
            break
    out: dict[Sequent, None] = {}
    todo = [root]
    while todo:  # costs fall along the steps, so there is no cycle
        goal = todo.pop()
        if goal in best:
            todo += [premise for premise in reversed(best[goal]) if premise not in proved]
        else:
            out[goal] = None
    return tuple(out) or (root,)


def _reached(root: Sequent, steps: Steps) -> list[Sequent]:
    """The goals below the root, nearest first."""
    out = {root: None}
    layer = [root]
    while layer and len(out) < _MOST:
        below = dict.fromkeys(
            premise for goal in layer for left in steps.get(goal, ()) for premise in left
        )
        layer = [premise for premise in below if premise not in out]
        out.update(dict.fromkeys(layer))
    return list(out)


def cost(goal: Sequent, root: Sequent) -> int:
    """How long the goal is to read, a little less for every hypothesis that the root has not."""
    more = sum(fact not in root.hypotheses for fact in goal.hypotheses)
    percent = 100 - min(_NARROWER * more, _MOST_NARROW)
    return (_EACH + _weight(goal.goal.term)) * percent // 100


@lru_cache(maxsize=20_000)
def _weight(item: Term) -> int:
    """How long the term is to read: its nodes, more for functions and numbers, and its names."""
    return _NAME * len(item.vars) + _length(item, {})


def _length(item: Term, known: dict[Term, int]) -> int:
    if item not in known:
        own = _NODE + _HARD * (item.op in _FUNCTIONS)
        own += _DIGIT * len(str(item.value)) if item.op in ("num", "pow") else 0
        known[item] = own + sum(_length(arg, known) for arg in item.args)
    return known[item]


# -- what is shown of a goal


def _shown(goal: Sequent) -> Sequent:
    """The goal in its shorter form, without hypotheses that say nothing more about it."""
    fact, hypotheses = goal.goal, goal.hypotheses
    try:
        tidy = context(hypotheses).tidy(fact)
        fact = min(fact, tidy, key=lambda one: _weight(one.term))
        names = relevant(hypotheses, fact.term.vars)
        kept = tuple(given for given in hypotheses if given.term.vars & names)
        return Sequent(_needed(kept), fact)
    except (Refusal, ArithmeticError):
        return goal


def _needed(hypotheses: Facts) -> Facts:
    """Without hypotheses that follow at once from the others."""
    for fact in hypotheses:
        rest = tuple(given for given in hypotheses if given is not fact)
        if evident(rest, fact.term, fact.rel) or _weaker(fact, rest):
            return _needed(rest)
    return hypotheses


def _weaker(fact: Fact, others: Facts) -> bool:
    """Whether it is a bound of a variable by a number, and one of the others is a closer one."""
    own = _bound(fact)
    if own is None:
        return False
    name, lower, end = own
    ends = [found[2] for found in map(_bound, others) if found and found[:2] == (name, lower)]
    return bool(ends) and bool(max(ends) > end if lower else min(ends) < end)


def _bound(fact: Fact) -> tuple[str, bool, fmpq] | None:
    """The variable, whether it is a lower bound, and the number."""
    if len(fact.term.vars) != 1 or fact.rel == "!=":
        return None
    (name,) = fact.term.vars
    split = context(()).affine(fact.term, name)
    if split is None or split[1].op != "num":
        return None
    return name, bool(split[0] > 0), split[1].value
