"""Rules of algebra: factors, denominators, logs, monotone functions, and sums of products.

H, ``|-`` and D(e | H) are as in ``rules_logic``.
"""

from __future__ import annotations

from typing import Any

from flint import fmpq

from dpsym.kernel import kinds
from dpsym.kernel import terms as tm
from dpsym.kernel.canon import constant, scaled, to_term
from dpsym.kernel.kinds import POSITIVE, SIGN, TERM, ListKind, MaybeKind, RowKind, choice
from dpsym.kernel.lemmas import LEMMAS, instance
from dpsym.kernel.refusal import Refusal, require
from dpsym.kernel.rules import Goal, keep, leaf_rule
from dpsym.kernel.sequents import Facts, Sequent, context, normal, obligations, unless_evident
from dpsym.kernel.statements import Fact
from dpsym.kernel.terms import Term


class InstanceKind(kinds.Kind):
    """A lemma's name and its arguments, of the kinds that the lemma has."""

    describe = "a lemma's name and arguments"

    def check(self, value: object) -> None:
        if type(value) is not tuple or [type(part) for part in value] != [str, tuple]:
            raise self.refuse(value)
        instance(*value)

    def read(self, data: Any, source: kinds.Reader) -> Any:
        name, args = kinds.read_list(data, 2)
        fits = type(name) is str and name in LEMMAS
        require(fits, "certificate", "the name of a lemma", name)
        return name, RowKind(LEMMAS[name].kinds).read(args, source)


INSTANCE = InstanceKind()
INDEX = kinds.whole(0, 10_000)


def _rest(goal: Sequent, item: Term) -> Sequent:
    """The term, in canonical form, in the place of the goal's."""
    return normal(goal.hypotheses, item, goal.goal.rel)


def _require_equal(goal: Sequent, item: Term, rule: str, condition: str) -> None:
    same = context(goal.hypotheses).same(goal.goal.term, item)
    require(same, rule, condition, item, goal.goal)


@leaf_rule(factor=TERM)
def multiply(goal: Sequent, factor: Term) -> list[Goal]:
    """Multiplication by something positive; the product is put in canonical form.

    D(m | H)   H |- m > 0   H |- m g rel 0
    --------------------------------------
    H |- g rel 0

    Fails when the canonical form grows too large.
    """
    positive = unless_evident(goal.hypotheses, Fact(factor, ">"))
    shown = [*obligations(goal.hypotheses, factor), *positive]
    return keep([*shown, _rest(goal, goal.goal.term * factor)])


@leaf_rule(signs=ListKind(RowKind((TERM, SIGN))))
def clear(goal: Sequent, signs: tuple[tuple[Term, int], ...]) -> list[Goal]:
    """Denominators with their signs.

    H |- s_i A_i > 0 for odd k_i   H |- s N rel 0
    ---------------------------------------------- g = N / product A_i^k_i, s = product s_i
    H |- g rel 0

    Signs not given are 1; evident ones need no premise. Fails when there is no denominator.
    """
    known = context(goal.hypotheses)
    form, below = known.canon.together(known.canon(goal.goal.term))
    require(bool(below), "clear", "the canonical form has denominators", goal.goal)
    unknown = {item for item, k in below.items() if k % 2 and not known.canon.is_positive(item)}
    given, total, shown = dict(signs), 1, []
    for item in sorted(unknown, key=lambda item: item.key):
        sign = given.get(item, 1)
        total *= sign
        shown.append(Sequent(goal.hypotheses, Fact(sign * item, ">")))
    numerator = Fact(to_term(scaled(form, total)), goal.goal.rel)
    return keep([*shown, Sequent(goal.hypotheses, numerator)])


_INCREASING = {"exp": 1, "log": 1, "sqrt": 1, "atan": 1, "erfc": -1}


@leaf_rule(function=choice(*_INCREASING), larger=TERM, smaller=TERM)
def monotone(goal: Sequent, function: str, larger: Term, smaller: Term) -> list[Goal]:
    """A monotone function on both sides.

    D(f(a), f(b) | H)   H |- a - b rel 0
    ------------------------------------ g = f(a) - f(b), f increasing (a, b swapped for erfc)
    H |- g rel 0

    Fails when the goal is not that difference.
    """
    first, second = (Term(function, (item,)) for item in (larger, smaller))
    _require_equal(goal, first - second, "monotone", "the goal is f(larger) - f(smaller)")
    difference = _rest(goal, _INCREASING[function] * (larger - smaller))
    return keep([*obligations(goal.hypotheses, first, second), difference])


@leaf_rule(larger=TERM, smaller=TERM)
def square(goal: Sequent, larger: Term, smaller: Term) -> list[Goal]:
    """Squares of both sides.

    D(a, b | H)   H |- a >= 0   H |- a^2 - b^2 rel 0
    ------------------------------------------------ g = a - b
    H |- g rel 0

    Fails when the goal is not that difference.
    """
    _require_equal(goal, larger - smaller, "square", "the goal is larger - smaller")
    shown = obligations(goal.hypotheses, larger, smaller)
    shown += unless_evident(goal.hypotheses, Fact(larger, ">="))
    return keep([*shown, _rest(goal, tm.power(larger, 2) - tm.power(smaller, 2))])


FACTORS = ListKind(RowKind((TERM, kinds.whole(-60, 60), SIGN)))


@leaf_rule(coefficient=kinds.RATIONAL, factors=FACTORS)
def factor(
    goal: Sequent, coefficient: fmpq, factors: tuple[tuple[Term, int, int], ...]
) -> list[Goal]:
    """A product, factor by factor.

    D(f_i | H)   H |- s_i f_i rel 0 (odd k_i)   H |- f_i != 0 (k_i < 0; or even k_i for >)
    --------------------------------------------------------------------------------------
    H |- g rel 0                                                g = c product f_i^k_i

    Fails when the product is not the goal or c times the signs of odd factors is not positive.
    """
    hypotheses, rel = goal.hypotheses, goal.goal.rel
    product, sign = tm.num(coefficient), 1 if coefficient > 0 else -1
    require(bool(coefficient != 0), "factor", "a coefficient other than 0", coefficient)
    out: list[Sequent] = []
    for item, count, item_sign in factors:
        require(count != 0, "factor", "an exponent other than 0", count)
        product = product * tm.power(item, count)
        out.extend(obligations(hypotheses, item))
        if count % 2:
            sign *= item_sign
            out.append(Sequent(hypotheses, Fact(item_sign * item, rel)))
        if count < 0 or (count % 2 == 0 and rel == ">"):
            out.extend(unless_evident(hypotheses, Fact(item, "!=")))
    require(sign > 0, "factor", "a positive product of signs", coefficient)
    _require_equal(goal, product, "factor", "the product is the goal")
    return keep(out)


def _used(hypotheses: Facts, lemma: tuple[str, tuple[Any, ...]]) -> tuple[Fact, list[Sequent]]:
    """The lemma's fact, and what must be shown to use it."""
    conditions, fact = instance(*lemma)
    shown = obligations(hypotheses, *(arg for arg in lemma[1] if isinstance(arg, Term)))
    return fact, shown + unless_evident(hypotheses, *conditions)


@leaf_rule(multiplier=TERM, lemma=INSTANCE)
def subtract(goal: Sequent, multiplier: Term, lemma: tuple[str, tuple[Any, ...]]) -> list[Goal]:
    """A lemma taken off, with a nonnegative multiplier.

    D(m | H)   H |- m >= 0   conditions of the lemma e >= 0   H |- g - m e rel 0
    ----------------------------------------------------------------------------
    H |- g rel 0

    Fails when the canonical form grows too large.
    """
    fact, shown = _used(goal.hypotheses, lemma)
    shown.append(Sequent(goal.hypotheses, Fact(multiplier, ">=")))
    rest = _rest(goal, goal.goal.term - multiplier * fact.term)
    return keep([*obligations(goal.hypotheses, multiplier), *shown, rest])


SOURCE = choice("hypothesis", "positive", "nonnegative", "lemma")
FACTS = ListKind(RowKind((SOURCE, MaybeKind(INDEX), MaybeKind(TERM), MaybeKind(INSTANCE))))
PRODUCTS = ListKind(RowKind((POSITIVE, ListKind(INDEX), MaybeKind(TERM))))
Rows = tuple[tuple[Any, ...], ...]


@leaf_rule(facts=FACTS, multiplier=PRODUCTS, terms=PRODUCTS, contradiction=kinds.FLAG)
def positivstellensatz(
    goal: Sequent, facts: Rows, multiplier: Rows, terms: Rows, contradiction: bool
) -> list[Goal]:
    """The goal, times something positive, as a sum of products of facts and squares.

    conditions of the facts
    ----------------------- M g = sum c_j (product of facts) s_j^2,  M = such a sum, positive
    H |- g rel 0

    or, as a contradiction, sum c_j (product of facts) s_j^2 is a negative number (or zero, with a
    positive summand), so that H never holds. Facts are hypotheses, terms with an evident sign, and
    lemmas.
    Fails when the identity does not hold or a sign is not there.
    """
    out: list[Sequent] = []
    given = [_fact(goal.hypotheses, row, out) for row in facts]
    total, total_strict = _sum_of_products(goal.hypotheses, given, terms, out)
    canon = context(goal.hypotheses).canon
    if contradiction:
        form, below = canon.together(canon(total))
        negative = set(form) == set(constant(1)) and all(value < 0 for value in form.values())
        negative = negative and all(canon.is_positive(item) for item in below)
        fits = negative or (not form and total_strict)
        _need(fits, "a sum that is negative, or zero with a positive summand", to_term(form))
        return keep(out)
    positive, factor_strict = _sum_of_products(goal.hypotheses, given, multiplier, out)
    _need(factor_strict, "a positive multiplier", multiplier)
    _need(total_strict or goal.goal.rel != ">", "a positive summand", terms)
    difference = canon(positive * goal.goal.term - total)
    _need(canon.is_zero(difference), "the identity holds", to_term(difference))
    return keep(out)


def _need(holds: bool, condition: str, value: object) -> None:
    require(holds, "positivstellensatz", condition, value)


def _fact(hypotheses: Facts, row: tuple[Any, ...], out: list[Sequent]) -> Fact:
    """One fact; what it needs goes to ``out``."""
    kind, index, item, lemma = row
    if kind == "hypothesis" and index is not None and index < len(hypotheses):
        known: Fact = hypotheses[index]
        _need(known.rel != "!=", "an order hypothesis", known)
        return known
    if kind in ("positive", "nonnegative") and item is not None:
        fact = Fact(item, ">" if kind == "positive" else ">=")
        out.extend(obligations(hypotheses, item))
        _need(context(hypotheses).evident(fact), f"an evidently {kind} term", item)
        return fact
    if kind == "lemma" and lemma is not None:
        fact, shown = _used(hypotheses, lemma)
        out.extend(shown)
        return fact
    raise Refusal("positivstellensatz", "a hypothesis, a term or a lemma", kind)


def _sum_of_products(
    hypotheses: Facts, given: list[Fact], products: Rows, out: list[Sequent]
) -> tuple[Term, bool]:
    """The sum, and whether a summand is positive."""
    parts, strict = [], False
    for value, indices, square in products:
        _need(all(i < len(given) for i in indices), "indices of facts", indices)
        factors = [given[i].term for i in indices]
        if square is None:
            strict = strict or all(given[i].rel == ">" for i in indices)
        else:
            out.extend(obligations(hypotheses, square))
            factors.append(tm.power(square, 2))
        parts.append(tm.mul(value, *factors))
    return tm.add(*parts), strict
