"""Rules of algebra: factors, denominators, logs, monotone functions, and sums of products.

H, ``|-`` and D(e | H) are as in ``rules_logic``.
"""

from __future__ import annotations

from typing import Any

from flint import fmpq

from dpsym.kernel import terms as tm
from dpsym.kernel.canon import Poly, constant, plus, scaled, to_term
from dpsym.kernel.kinds import (
    FLAG,
    POSITIVE,
    RATIONAL,
    SIGN,
    TERM,
    ChoiceKind,
    Kind,
    ListKind,
    MaybeKind,
    Reader,
    RowKind,
    WholeKind,
    read_list,
)
from dpsym.kernel.lemmas import LEMMAS, Instance, instance
from dpsym.kernel.refusal import Refusal
from dpsym.kernel.rules import Goal, keep, leaf_rule, require
from dpsym.kernel.sequents import Context, Facts, Sequent, context, obligations
from dpsym.kernel.statements import Fact
from dpsym.kernel.terms import Term


class InstanceKind(Kind):
    """A lemma's name and its arguments, of the kinds that the lemma has."""

    describe = "a lemma's name and arguments"

    def check(self, value: object) -> None:
        if type(value) is not tuple or len(value) != 2 or type(value[0]) is not str:
            raise self.refuse(value)
        if type(value[1]) is not tuple:
            raise self.refuse(value)
        instance(*value)

    def read(self, data: Any, source: Reader) -> Any:
        name, args = read_list(data, 2)
        if type(name) is not str or name not in LEMMAS:
            raise Refusal("certificate", "the name of a lemma", name)
        kinds = LEMMAS[name].kinds
        items = read_list(args, len(kinds))
        return name, tuple(kind.read(arg, source) for kind, arg in zip(kinds, items, strict=True))


INSTANCE = InstanceKind()
INDEX = WholeKind(0, 10_000)


@leaf_rule(factor=TERM)
def multiply(goal: Sequent, factor: Term) -> list[Goal]:
    """Multiplication by something positive; the product is put in canonical form.

    D(m | H)   H |- m > 0   H |- m g rel 0
    --------------------------------------
    H |- g rel 0

    Fails when the canonical form grows too large.
    """
    known = context(goal.hypotheses)
    out = obligations(goal.hypotheses, factor)
    positive = Fact(factor, ">")
    if not known.evident(positive):
        out.append(Sequent(goal.hypotheses, positive))
    product = known.canon.normal(goal.goal.term * factor)
    out.append(Sequent(goal.hypotheses, Fact(product, goal.goal.rel)))
    return keep(out)


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
    given = dict(signs)
    total, out = 1, []
    for item, count in sorted(below.items(), key=lambda pair: pair[0].key):
        if count % 2 and not known.canon.is_positive(item):
            sign = given.get(item, 1)
            total *= sign
            out.append(Sequent(goal.hypotheses, Fact(sign * item, ">")))
    numerator = to_term(scaled(form, total))
    out.append(Sequent(goal.hypotheses, Fact(numerator, goal.goal.rel)))
    return keep(out)


@leaf_rule(scale=POSITIVE)
def exponentiate(goal: Sequent, scale: fmpq) -> list[Goal]:
    """A sum of logs as one inequality between products.

    H |- exp(C) product A_i^k_i - product B_j^l_j rel 0
    --------------------------------------------------- scale g = C + sum k log A - sum l log B
    H |- g rel 0                                        (k, l positive whole numbers)

    Fails when a log has a coefficient that is not whole.
    """
    known = context(goal.hypotheses)
    rest: Poly = {}
    above, below = tm.ONE, tm.ONE
    for mono, value in scaled(known.canon(goal.goal.term), scale).items():
        inside = _single(mono, "log")
        if inside is None:
            rest[mono] = value
            continue
        require(value.q == 1, "exponentiate", "whole coefficients of logs", value)
        factor = tm.power(inside.args[0], abs(int(value)))
        if value > 0:
            above = above * factor
        else:
            below = below * factor
    item = known.canon.normal(tm.exp(to_term(rest)) * above - below)
    return [Sequent(goal.hypotheses, Fact(item, goal.goal.rel))]


def _single(mono: Any, op: str) -> Term | None:
    """The atom if the monomial is one atom of this operation to the first power."""
    if mono[0] or len(mono[1]) != 1:
        return None
    ((item, count),) = mono[1]
    return item if item.op == op and count == 1 else None


_INCREASING = {"exp": 1, "log": 1, "sqrt": 1, "erfc": -1}


@leaf_rule(function=ChoiceKind(tuple(_INCREASING)), larger=TERM, smaller=TERM)
def monotone(goal: Sequent, function: str, larger: Term, smaller: Term) -> list[Goal]:
    """A monotone function on both sides.

    D(f(a), f(b) | H)   H |- a - b rel 0
    ------------------------------------ g = f(a) - f(b), f increasing (a, b swapped for erfc)
    H |- g rel 0

    Fails when the goal is not that difference.
    """
    first, second = (Term(function, (item,)) for item in (larger, smaller))
    canon = context(goal.hypotheses).canon
    same = canon.is_zero(canon(goal.goal.term - (first - second)))
    require(same, "monotone", "the goal is f(larger) - f(smaller)", goal.goal)
    difference = canon.normal(_INCREASING[function] * (larger - smaller))
    out = obligations(goal.hypotheses, first, second)
    return keep([*out, Sequent(goal.hypotheses, Fact(difference, goal.goal.rel))])


@leaf_rule(coefficient=RATIONAL, factors=ListKind(RowKind((TERM, WholeKind(-60, 60), SIGN))))
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
            nonzero = Fact(item, "!=")
            if not context(hypotheses).evident(nonzero):
                out.append(Sequent(hypotheses, nonzero))
    require(sign > 0, "factor", "a positive product of signs", coefficient)
    canon = context(hypotheses).canon
    same = canon.is_zero(canon(goal.goal.term - product))
    require(same, "factor", "the product is the goal", product, goal.goal)
    return keep(out)


def _conditions(hypotheses: Facts, found: Instance, args: tuple[Any, ...]) -> list[Sequent]:
    known = context(hypotheses)
    out = obligations(hypotheses, *(arg for arg in args if isinstance(arg, Term)))
    out += [Sequent(hypotheses, fact) for fact in found[0] if not known.evident(fact)]
    return out


@leaf_rule(multiplier=TERM, lemma=INSTANCE)
def subtract(goal: Sequent, multiplier: Term, lemma: tuple[str, tuple[Any, ...]]) -> list[Goal]:
    """A lemma taken off, with a nonnegative multiplier.

    D(m | H)   H |- m >= 0   conditions of the lemma e >= 0   H |- g - m e rel 0
    ----------------------------------------------------------------------------
    H |- g rel 0

    Fails when the canonical form grows too large.
    """
    hypotheses = goal.hypotheses
    found = instance(*lemma)
    out = obligations(hypotheses, multiplier) + _conditions(hypotheses, found, lemma[1])
    out.append(Sequent(hypotheses, Fact(multiplier, ">=")))
    rest = context(hypotheses).canon.normal(goal.goal.term - multiplier * found[1].term)
    out.append(Sequent(hypotheses, Fact(rest, goal.goal.rel)))
    return keep(out)


FACTS = ListKind(
    RowKind(
        (
            ChoiceKind(("hypothesis", "positive", "nonnegative", "lemma")),
            MaybeKind(INDEX),
            MaybeKind(TERM),
            MaybeKind(INSTANCE),
        )
    )
)
PRODUCT = RowKind((POSITIVE, ListKind(INDEX), MaybeKind(TERM)))


@leaf_rule(facts=FACTS, multiplier=ListKind(PRODUCT), terms=ListKind(PRODUCT), contradiction=FLAG)
def positivstellensatz(
    goal: Sequent,
    facts: tuple[Any, ...],
    multiplier: tuple[Any, ...],
    terms: tuple[Any, ...],
    contradiction: bool,
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
    hypotheses = goal.hypotheses
    known = context(hypotheses)
    out: list[Sequent] = []
    given: list[tuple[Poly, bool]] = []  # form, whether it is positive
    for kind, index, item, lemma in facts:
        if kind == "hypothesis" and index is not None and index < len(hypotheses):
            fact = hypotheses[index]
            require(fact.rel != "!=", "positivstellensatz", "an order hypothesis", fact)
        elif kind in ("positive", "nonnegative") and item is not None:
            fact = Fact(item, ">" if kind == "positive" else ">=")
            out.extend(obligations(hypotheses, item))
            require(known.evident(fact), "positivstellensatz", f"an evidently {kind} term", item)
        elif kind == "lemma" and lemma is not None:
            found = instance(*lemma)
            out.extend(_conditions(hypotheses, found, lemma[1]))
            fact = found[1]
        else:
            raise Refusal("positivstellensatz", "a hypothesis, a term or a lemma", kind)
        given.append((known.canon(fact.term), fact.rel == ">"))
    total, total_strict = _sum_of_products(known, hypotheses, given, terms, out)
    if contradiction:
        form, below = known.canon.together(total)
        negative = set(form) == set(constant(1)) and all(value < 0 for value in form.values())
        negative = negative and all(known.canon.is_positive(item) for item in below)
        require(
            negative or (not form and total_strict),
            "positivstellensatz",
            "a sum that is negative, or zero with a positive summand",
            to_term(form),
        )
        return keep(out)
    factor_form, factor_strict = _sum_of_products(known, hypotheses, given, multiplier, out)
    require(factor_strict, "positivstellensatz", "a positive multiplier", multiplier)
    if goal.goal.rel == ">":
        require(total_strict, "positivstellensatz", "a positive summand", terms)
    product = known.canon.times(factor_form, known.canon(goal.goal.term))
    same = known.canon.is_zero(plus(product, total, -1))
    require(same, "positivstellensatz", "the identity holds", to_term(plus(product, total, -1)))
    return keep(out)


def _sum_of_products(
    known: Context,
    hypotheses: Facts,
    given: list[tuple[Poly, bool]],
    products: tuple[Any, ...],
    out: list[Sequent],
) -> tuple[Poly, bool]:
    total: Poly = {}
    strict = False
    for value, indices, square in products:
        require(
            all(i < len(given) for i in indices), "positivstellensatz", "indices of facts", indices
        )
        form = constant(value)
        for i in indices:
            form = known.canon.times(form, given[i][0])
        if square is None:
            strict = strict or all(given[i][1] for i in indices)
        else:
            out.extend(obligations(hypotheses, square))
            form = known.canon.times(form, known.canon.to_power(known.canon(square), 2))
        total = plus(total, form)
    return total, strict
