"""Leaves that need one particular step, and false ones near them."""

from __future__ import annotations

import pytest
from flint import fmpq

from dpsym.kernel.canon import NO_SIGNS, to_term
from dpsym.kernel.proofs import Lemma, check
from dpsym.kernel.sequents import Sequent, context
from dpsym.kernel.statements import Fact
from dpsym.kernel.terms import PI, ZERO, Term, erfc, exp, log, power, sqrt, term, var
from dpsym.search.leaf import Point, decide
from dpsym.search.leaf.arguments import simpler
from dpsym.search.leaf.means import powers
from dpsym.search.leaf.moves import Ends, logarithms
from dpsym.search.leaf.numeric import refutes
from dpsym.search.leaf.steps import by_powers

x, y, z, t, c, alpha, eps = (var(name) for name in ("x", "y", "z", "t", "c", "alpha", "eps"))


def leaf(goal: Term, *given: tuple[Term, str]) -> Sequent:
    return Sequent(tuple(Fact(*item) for item in given), Fact(term(goal), ">="))


def raised(base: Term, exponent: Term) -> Term:
    return exp(exponent * log(base))


def bounded_range_moment(scale: int) -> Term:
    """Between the moment of a loss in a range of length eps and the largest, times the scale."""
    share = (exp(-t) - exp(-eps)) / (1 - exp(-eps))
    moment = share * exp(alpha * t) + (1 - share) * exp(alpha * (t - eps))
    gap = log(exp(-eps) - exp(-alpha * eps))
    top = alpha * log(1 - exp(-alpha * eps)) + (alpha - 1) * log(alpha - 1)
    largest = top - log(1 - exp(-eps)) - alpha * log(alpha) - (alpha - 1) * gap
    return (largest - scale * log(moment)) / (alpha - 1)


inner = erfc(t / sqrt(term(2)))  # 2 Phi(t) - 1 = 1 - inner
small, large = sqrt(z), sqrt(z + eps)
quarter = sqrt(PI * z / 4 + eps) - sqrt(PI * z / 4)
positive = ((z, ">"), (eps, ">"))
in_range = ((alpha - 1, ">"), (eps, ">"), (t, ">="), (eps - t, ">="))
mean = eps / (1 - exp(-eps))

TRUE = {
    # Pólya 1945: bounds of the normal distribution function
    "from below": leaf(power(1 - inner, 2) - 1 + exp(-power(t, 2) / 2), (t, ">=")),
    "from above": leaf(1 - exp(-2 * power(t, 2) / PI) - power(1 - inner, 2), (t, ">=")),
    "with a root": leaf(1 - sqrt(1 - exp(-z)) - erfc(small), (z, ">=")),
    # the same where the argument, multiplied out, is sqrt(z)
    "a sum of roots below the line": leaf(
        1 - sqrt(1 - exp(-z)) - erfc((small + large - eps / (small + large)) / 2), *positive
    ),
    "a difference of roots below the line": leaf(
        1 + sqrt(1 - exp(-z)) - erfc((quarter - eps / quarter) / 2), *positive
    ),
    # the slope of log(1 + z^c): Bernoulli's inequality where the powers of z touch
    "a weighted mean of powers": leaf(
        raised(c - 1, (c - 1) / c) - c * raised(z, c - 1) / (1 + raised(z, c)),
        *((z, ">"), (c - 1, ">")),
    ),
    # a tangent of the logarithm that no part of the goal names
    "a tangent of a log": leaf(
        mean - 1 - log(mean) - t + eps * (exp(t - eps) - exp(-eps)) / (1 - exp(-eps)),
        *((eps, ">"), (t, ">="), (eps - t, ">=")),
    ),
    "logs with symbols before them": leaf(bounded_range_moment(1), *in_range),
    # Bun, Steinke 2016, of the Laplace mechanism: an exponent that is not linear
    "exponentials as logs": leaf(
        exp(alpha * (alpha - 1) * (eps + exp(-eps) - 1))
        - alpha / (2 * alpha - 1) * exp((alpha - 1) * eps)
        - (alpha - 1) / (2 * alpha - 1) * exp(-alpha * eps),
        *((alpha - 1, ">"), (eps, ">")),
    ),
}

FALSE = {
    "from below": leaf(power(1 - inner, 2) - 1 + exp(-11 * power(t, 2) / 20), (t, ">=")),
    "from above": leaf(1 - exp(-3 * power(t, 2) / 5) - power(1 - inner, 2), (t, ">=")),
    "a sum of roots below the line": leaf(
        1 - sqrt(1 - exp(-z)) - erfc((small + large - 2 * eps / (small + large)) / 2), *positive
    ),
    "a weighted mean of powers": leaf(
        fmpq(9, 10) * raised(c - 1, (c - 1) / c) - c * raised(z, c - 1) / (1 + raised(z, c)),
        *((z, ">"), (c - 1, ">")),
    ),
    "logs with symbols before them": leaf(bounded_range_moment(2), *in_range),
}


@pytest.mark.parametrize("name", TRUE)
def test_true(name: str) -> None:
    found = decide(TRUE[name], 30)
    assert isinstance(found, Lemma), found
    check(found.sequent, found.proof)


@pytest.mark.parametrize("name", FALSE)
def test_false(name: str) -> None:
    found = decide(FALSE[name], 30)
    assert isinstance(found, Point), found
    assert refutes(FALSE[name], found.values)


def test_arguments_multiplied_out() -> None:
    known = context((Fact(z, ">"), Fact(eps, ">"))).canon
    found = simpler(known, (small + large - eps / (small + large)) / 2)
    assert found is small
    three = 1 / (1 + sqrt(x) + sqrt(y))
    found = simpler(NO_SIGNS, three * (1 + x - y + 2 * sqrt(x)))
    assert found is not None
    assert NO_SIGNS(found) == NO_SIGNS(1 + sqrt(x) - sqrt(y))
    assert simpler(NO_SIGNS, (power(x, 2) - power(y, 2)) / (x - y)) is not None
    assert simpler(NO_SIGNS, 1 / (x + y)) is None  # a sum without roots stays
    assert simpler(NO_SIGNS, sqrt(x) / 2) is None  # nothing is below the line


def test_powers_of_a_variable_and_of_its_exponential() -> None:
    known = context((Fact(z, ">"),)).canon
    form = known(3 * raised(z, c) - z + 2)
    found = {to_term(exponent): factor for exponent, factor in powers(form, z, log(z))}
    assert found == {c: known(term(3)), term(1): known(term(-1)), ZERO: known(term(2))}
    assert powers(known(raised(z, c) + z * log(z)), z, log(z)) == []
    assert len(powers(known(exp(c * x) + exp(-x) + 1), x, x)) == 3


def test_a_form_by_powers_of_an_atom() -> None:
    tail = erfc(x)
    form = NO_SIGNS(2 * power(tail, 2) * x - tail * exp(x) + 5)
    assert by_powers(form, tail) == {2: NO_SIGNS(2 * x), 1: NO_SIGNS(-exp(x))}


def test_superfluous_bounds() -> None:
    facts = ((x, ">"), (x - 1, ">="), (x - y, ">="), (3 - x, ">="), (2 - x, ">"))
    about = Ends(leaf(x, *facts), "x")
    assert about.lower == [(term(1), ">="), (y, ">=")]
    assert about.upper == [(term(2), ">")]


def test_one_exponent_that_is_not_linear() -> None:
    bent = leaf(exp(power(alpha, 2) * eps) - 1 - alpha, (alpha, ">"), (eps - 1, ">="))
    found = logarithms(bent, NO_SIGNS(bent.goal.term))
    assert found is not None and found["function"] == "exp"
    assert NO_SIGNS(found["larger"]) == NO_SIGNS(power(alpha, 2) * eps)
    assert NO_SIGNS(found["smaller"]) == NO_SIGNS(log(1 + alpha))
    flat = leaf(exp(alpha * eps) - 1 - alpha * eps)
    assert logarithms(flat, NO_SIGNS(flat.goal.term)) is None
