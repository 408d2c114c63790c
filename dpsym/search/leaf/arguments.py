"""Arguments of functions without sums of square roots below the line, as far as that is possible.

In the goal f(A) becomes f(B), where B is A multiplied out: 1/(sqrt(a) + sqrt(b)) is
(sqrt(a) - sqrt(b))/(a - b), and N/D is the quotient where D divides N. Canonical forms do not see
that f(A) = f(B), but they see that A - B is zero.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from flint import fmpq

from dpsym.kernel import terms as tm
from dpsym.kernel.canon import Canon, Poly, mono_term, plus, sorted_monos, to_term
from dpsym.kernel.proofs import Proof
from dpsym.kernel.sequents import Sequent, context
from dpsym.kernel.statements import Fact
from dpsym.kernel.terms import Term
from dpsym.search.leaf.factoring import quotient
from dpsym.search.leaf.steps import EVIDENT, atoms, by_powers, evident, exponentials, premises

Prove = Callable[[Sequent], Proof | None]
_FUNCTIONS = {"exp": 1, "log": 1, "sqrt": 1, "atan": 1, "erfc": -1}  # as they grow or fall
_MOST_ROOTS = 3


def simplified(sequent: Sequent, form: Poly, prove: Prove) -> tuple[bool, Proof | None]:
    """Whether an argument in the goal can be written in a simpler way, and a proof by way of
    that."""
    for old, new, powers in _replacements(context(sequent.hypotheses).canon, form):
        slope = _slope(old, new, powers)
        canon = context(sequent.hypotheses).canon
        fact = Fact(canon.normal(sequent.goal.term - slope * (old - new)), sequent.goal.rel)
        left = premises(sequent, "have", {"fact": fact})
        if left is None:
            continue
        last = _concluded(left[-1], slope, old, new, prove)
        if last is None:
            continue
        proofs = [prove(premise) for premise in left[:-1]]
        kept = tuple(proof for proof in proofs if proof is not None)
        whole = len(kept) == len(proofs)
        return True, Proof("have", {"fact": fact}, (*kept, last)) if whole else None
    return False, None


def _replacements(canon: Canon, form: Poly) -> Iterator[tuple[Term, Term, dict[int, Poly]]]:
    """f(A), f(B), and what multiplies the powers of f(A) in the form."""
    for item in atoms(form):
        if item.op in _FUNCTIONS:
            argument = simpler(canon, item.args[0])
            if argument is not None:
                yield item, Term(item.op, (argument,)), by_powers(form, item)
    for inner in exponentials(form):
        argument = simpler(canon, to_term(dict(inner)))
        if argument is not None:
            rest: Poly = {(frozenset(), m[1]): v for m, v in form.items() if m[0] == inner}
            yield tm.exp(to_term(dict(inner))), tm.exp(argument), {1: rest}


def _slope(old: Term, new: Term, powers: dict[int, Poly]) -> Term:
    """(p(old) - p(new))/(old - new), where p is the polynomial with these coefficients."""
    return tm.add(
        *(
            to_term(part) * tm.power(old, i) * tm.power(new, count - 1 - i)
            for count, part in sorted(powers.items())
            for i in range(count)
        )
    )


def _concluded(goal: Sequent, slope: Term, old: Term, new: Term, prove: Prove) -> Proof | None:
    """A proof of the goal, whose last hypothesis is the goal without slope * (old - new)."""
    start, hypotheses = len(goal.hypotheses), goal.hypotheses
    shown: list[tuple[Fact, tuple[Proof, ...]]] = []
    for fact, above, below in ((old - new, old, new), (new - old, new, old)):
        stated = Fact(fact, ">=")
        left = premises(Sequent(hypotheses, goal.goal), "have", {"fact": stated})
        if left is None or len(left) < 2 or left[-2].goal != stated:
            return None
        given = {"function": old.op, "larger": above.args[0], "smaller": below.args[0]}
        inner = premises(left[-2], "monotone", given)
        proofs = None if inner is None else [prove(premise) for premise in inner]
        needed = [prove(premise) for premise in left[:-2]]
        if proofs is None or None in proofs or None in needed:
            return None
        compared = Proof("monotone", given, tuple(p for p in proofs if p is not None))
        shown.append((stated, (*(p for p in needed if p is not None), compared)))
        hypotheses = left[-1].hypotheses
    last = _sum(Sequent(hypotheses, goal.goal), start, slope)
    for stated, proofs_of in reversed(shown):
        last = last and Proof("have", {"fact": stated}, (*proofs_of, last))
    return last


def _sum(goal: Sequent, start: int, slope: Term) -> Proof | None:
    """The goal as the changed one plus slope times a difference, of which both signs are given."""
    facts: list[Any] = [("hypothesis", start + i, None, None) for i in (-1, 0, 1)]
    one = fmpq(1)
    terms: list[Any] = [(one, (0,), None)]
    form = context(goal.hypotheses).canon(slope)
    for mono in sorted_monos(form):
        value, item = form[mono], mono_term(mono)
        for sign in (1, -1):
            side = 1 if sign * value > 0 else 2
            if evident(goal.hypotheses, item):
                if sign == 1:
                    terms.append((abs(value), (side, len(facts)), None))
                    facts.append(("nonnegative", None, item, None))
            else:  # m = ((m + 1)^2 - (m - 1)^2)/4
                terms.append((abs(value) / 4, (side,), item + sign))
    parameters = {
        "facts": tuple(facts),
        "multiplier": ((one, (), None),),
        "terms": tuple(terms),
        "contradiction": False,
    }
    left = premises(goal, "positivstellensatz", parameters)
    if left is None or not all(evident(p.hypotheses, p.goal.term, p.goal.rel) for p in left):
        return None
    return Proof("positivstellensatz", parameters, (EVIDENT,) * len(left))


# -- simpler arguments


def simpler(canon: Canon, item: Term) -> Term | None:
    """The same without sums below the line; None if there are none, or if they stay."""
    above, below = canon.together(canon(item))
    if not below:
        return None
    under: Poly = {}
    for part, count in below.items():
        power = canon.to_power(canon(part), count)
        under = canon.times(under, power) if under else power
    for factor in _conjugates(canon, under, _MOST_ROOTS):
        found = quotient(canon.times(above, factor), canon.times(under, factor))
        if found is not None:
            return canon.normal(to_term(found))
    return None


def _conjugates(canon: Canon, form: Poly, most: int) -> Iterator[Poly]:
    """1, and what removes square roots from the form by a^2 - b^2 r = (a + b sqrt(r)) (...)."""
    yield canon(tm.ONE)
    for root in atoms(form) if most else ():
        odd = by_powers(form, root).get(1) if root.op == "sqrt" else None
        if not odd:
            continue
        times: Poly = canon.times(odd, canon(root))
        other = plus(form, times, -2)
        for factor in _conjugates(canon, canon.times(form, other), most - 1):
            yield canon.times(other, factor)
