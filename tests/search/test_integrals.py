"""The parts of the search for integrals, against exact values."""

from __future__ import annotations

import math

import pytest
import sympy as sp
from flint import fmpq

import dpsym as dp
from dpsym import noise
from dpsym.kernel import terms as tm
from dpsym.kernel.proofs import Lemma
from dpsym.kernel.sequents import Sequent, context
from dpsym.kernel.statements import Fact
from dpsym.kernel.terms import Term, erfc, exp, num, power, sqrt, var
from dpsym.search import leaf
from dpsym.search.integrals import fractions
from dpsym.search.integrals.antiderivatives import antiderivative
from dpsym.search.integrals.cuts import Split, roots
from dpsym.search.integrals.limits import limit_at
from dpsym.search.integrals.radicals import radicals, root
from dpsym.search.leaf.entry import MEMORY
from dpsym.search.leaf.lowest import factored, product, reduced
from dpsym.search.samples import number

x, a, b, c = map(var, "xabc")
FACTS = tuple(Fact(item, ">") for item in (a, b, c))
POINTS = [{"a": 0.7, "b": 1.3, "c": 2.1}, {"a": 1.9, "b": 0.4, "c": 0.6}]


def slopes(primitive: Term, integrand: Term, places: tuple[float, ...]) -> None:
    slope = tm.derivative(primitive, "x")
    for at in POINTS:
        for place in places:
            point = {**at, "x": place}
            assert number(slope, point) == pytest.approx(number(integrand, point), rel=1e-9)


@pytest.mark.parametrize(
    "integrand",
    [
        erfc(a * x + b),
        x * erfc(a * x - b),
        power(x, 3) * exp(-c * x) * erfc(a - b * x),
        exp(c * x) * erfc(a * x) + erfc(b * x) * exp(-x) - 2 * x,
    ],
)
def test_exponentials_times_gaussian_tails_are_integrated_by_parts(integrand: Term) -> None:
    found = antiderivative(context(FACTS).canon, integrand, x, 1)
    assert found is not None
    slopes(found, integrand, (-1.1, 0.0, 0.8))


def test_two_tails_are_not() -> None:
    assert antiderivative(context(FACTS).canon, erfc(x) * erfc(a * x), x, 1) is None


@pytest.mark.parametrize(
    ("item", "way", "value"),
    [
        (exp(-c * x) * erfc(a * x), 1, num(0)),
        (exp(c * x) * erfc(a * x + b), 1, num(0)),
        (2 * exp(-c * x) - exp(-c * x) * erfc(a * x), -1, num(0)),  # beside a tail that tends to 2
        (erfc(-a * x), 1, num(2)),
    ],
)
def test_limits_of_tails(item: Term, way: int, value: Term) -> None:
    found = limit_at(FACTS, item, x, way, POINTS)
    assert found is not None
    assert found.value is value


def test_a_double_exponential_passes_its_limit_by_a_multiple_of_a_single_one() -> None:
    rate = a + (1 - a) * exp(-b)  # positive, which is not evident
    item = -exp(-rate * exp(-x / c)) / rate
    found = limit_at(FACTS, item, x, -1, POINTS)
    assert found is not None and found.value is num(0)
    bound = tm.add(*(slack.value(-x) for slack in found.slacks))
    for at in POINTS:
        for place in (-3.0, -1.0, -0.3):
            point = {**at, "x": place}
            assert 0 < -number(item, point) <= number(bound, point)
    above = limit_at(FACTS, -item, x, -1, POINTS)
    assert above is not None and above.value is num(0) and above.slacks == ()


def test_a_tail_does_not_tame_an_exponential_that_grows_beside_it() -> None:
    assert limit_at(FACTS, exp(c * x) * erfc(-a * x), x, 1, POINTS) is None


@pytest.mark.parametrize(
    "integrand",
    [
        power(x, 2) / (x + a),
        1 / ((x + a) * (b * x + c)),
        1 / (power(x, 2) * power(a * x + b, 3)),
        x / ((x + a) * (2 * x + 2 * a)),  # the same factor twice
        1 / (a * b + (a + b) * x + power(x, 2)),  # a product of two
    ],
)
def test_partial_fractions(integrand: Term) -> None:
    canon = context((*FACTS, Fact(x, ">"))).canon
    found = fractions.integrated(canon, integrand, x)
    assert found is not None
    slopes(found, integrand, (0.3, 1.0, 4.7))


def test_no_partial_fractions_of_an_irreducible_quadratic() -> None:
    assert fractions.integrated(context(FACTS).canon, 1 / (power(x, 2) + a), x) is None


@pytest.mark.parametrize(
    ("item", "value"),
    [
        ((a * x + 1) / (b * x + c), a / b),
        (x / (power(x, 2) + 1), num(0)),
        (x - power(x, 2) / (x + a), a),
        (power(x, 2) / (x + 1), None),
        (exp(x) / x, None),
    ],
)
def test_limits_of_quotients(item: Term, value: Term | None) -> None:
    known = context(FACTS)
    found = fractions.limit(known.canon, item, x)
    if value is None:
        assert found is None
    else:
        assert found is not None
        assert known.same(found, value)


def test_factors_in_lowest_terms() -> None:
    canon = context(FACTS).canon
    item = (exp(2 * x) - 1) / (3 * exp(x) + 3) * exp(-x)
    scale, powers = factored(canon, item)
    assert scale == fmpq(1, 3)
    assert canon.is_zero(canon(product(scale, powers) - item))
    assert [one for one in powers if one.op == "add"] == [canon.normal(exp(x) - 1)]
    assert reduced(canon, 1 / (a + b) + 1 / (a - b) - 2 * a / (power(a, 2) - power(b, 2))) is num(0)


def test_a_root_is_written_by_the_roots_that_are_there() -> None:
    canon = context((*FACTS, Fact(a - b, ">"))).canon
    known = radicals(canon, [x / sqrt(power(a, 2) - power(b, 2)) + sqrt(c)])
    inside = power(a, 2) * c / (4 * power(a, 2) - 4 * power(b, 2))
    found = root(canon, inside, known)
    assert found is not None
    found = canon.normal(found)
    for at in ({"a": 2.0, "b": 0.3, "c": 0.7}, {"a": 1.1, "b": 1.0, "c": 5.0}):
        assert number(found, at) == pytest.approx(number(inside, at) ** 0.5)
    assert {part for part in tm.subterms(found) if part.op == "sqrt"} <= {*known}
    assert root(canon, a * c, known) is None


ONE_LAW = exp(-x) / power(1 + exp(-x), 2)
OTHER_LAW = exp(a + b - x) / power(1 + exp(a - x), 2)
"""The logistic density, and that with its centre moved by a, times e^b."""
SAMPLES = [{"a": 3.0, "b": 1.0}, {"a": 2.5, "b": 0.3}]


def test_a_difference_of_powers_has_the_zero_of_that_of_their_bases() -> None:
    item = ONE_LAW - OTHER_LAW
    (found,) = roots(item, x, (Fact(b, ">"), Fact(a - b, ">")), SAMPLES)
    for at in SAMPLES:
        half = math.exp((at["a"] + at["b"]) / 2)
        place = -math.log((half - 1) / (math.exp(at["a"]) - half))
        assert number(found, at) == pytest.approx(place)


def test_a_zero_that_moves_to_infinity_is_split_off() -> None:
    with pytest.raises(Split) as caught:
        roots(ONE_LAW - OTHER_LAW, x, (Fact(b, ">"), Fact(a - b, ">=")), SAMPLES)
    assert context((Fact(a - b, ">"),)).evident(Fact(-caught.value.item, ">"))


def test_hypotheses_about_others_do_not_matter_to_a_lemma() -> None:
    MEMORY.clear()
    goal = Fact(exp(a) * erfc(-b) - 1, "!=")  # by its sign
    first = leaf.prove(Sequent((Fact(a, ">"), Fact(b, ">"), Fact(x - a, ">")), goal), 10)
    assert isinstance(first, Lemma)
    kept = len(MEMORY.lemmas)
    again = leaf.prove(Sequent((Fact(a, ">"), Fact(b, ">"), Fact(c - x - b, ">")), goal), 10)
    assert isinstance(again, Lemma)
    assert len(MEMORY.lemmas) >= kept


EPSILON, SHIFT = sp.symbols("epsilon Delta", positive=True)


def test_the_hockey_stick_of_logistic_noise() -> None:
    pair = dp.DensityPair(noise.Shifted(noise.Logistic(1), SHIFT), noise.Logistic(1))
    value = (1 - sp.exp((EPSILON - SHIFT) / 2)) ** 2 / (1 - sp.exp(-SHIFT))
    where = [EPSILON <= SHIFT]
    assert isinstance(dp.check(pair, dp.ApproxDP(EPSILON, value, one_way=True), where), dp.Proved)
    less = dp.ApproxDP(EPSILON, sp.Rational(9, 10) * value, one_way=True)
    assert not isinstance(dp.check(pair, less, [*where, EPSILON <= 3], budget=5), dp.Proved)


def test_a_density_with_a_gaussian_tail_has_mass_one() -> None:
    v = sp.symbols("v", real=True)
    density = sp.sqrt(sp.pi) * sp.erfc(v)
    pair = dp.DensityPair(density, density, v, sp.Interval(0, sp.oo))
    verdict = dp.check(pair, dp.PureDP(0))
    assert isinstance(verdict, dp.Proved)
    assert not verdict.assumptions


def test_a_stretch_of_integers_that_is_empty_for_all_samples() -> None:
    n = sp.symbols("n", integer=True, positive=True)
    mechanism = dp.AdditiveNoise(noise.Geometric(1), n)
    value = (sp.exp(n) - 1) / (sp.exp(n) + 1)
    assert isinstance(dp.check(mechanism, dp.ApproxDP(0, value)), dp.Proved)
