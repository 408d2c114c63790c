"""What the search for integrals finds out about parameters before it integrates."""

from dataclasses import replace

import numpy as np
import pytest
import sympy as sp

import dpsym as dp
from dpsym.kernel import terms as tm
from dpsym.kernel.proofs import Lemma
from dpsym.kernel.sequents import Sequent, context
from dpsym.kernel.statements import Fact, Guarantee, Mechanism, Pair, Region, Statement
from dpsym.search import leaf
from dpsym.search.forms import folded
from dpsym.search.integrals.cuts import choices, never_zero, shorter, vanishing
from dpsym.search.integrals.sampling import is_largest, numbers, parameters
from dpsym.search.integrals.whole import as_whole, known_value, one_by_one
from dpsym.search.leaf.hinted import Clear, Derive, Scale
from dpsym.search.leaf.numeric import Values

b, k, n, t, u, a = (tm.var(name) for name in "bkntua")
r = tm.exp(-1 / b)


def _goal(*facts):
    """A claim about noise on the integers, shifted by t."""
    p, q = (tm.exp(-tm.absolute(k - shift)) for shift in (tm.ZERO, t))
    region = Region(p, q, "k", kind="integer")
    stage = Mechanism((Pair((region,)),))
    names = (("b", "real"), ("n", "integer"), ("t", "integer"))
    return Statement(names, facts, (stage,), (Guarantee("ApproxDP", (b, b)),))


def _at_least(item):
    return Fact(item, ">=")


def test_bounds_of_integers_are_made_whole():
    assert as_whole(_goal(_at_least(t), _at_least(n - t)), "u") is None
    half = tm.num(1) / 2
    assert as_whole(_goal(_at_least(t - half)), "u") == ("integers", {"name": "t", "bound": 0})
    assert as_whole(_goal(Fact(t + 1, ">")), "u") == ("integers", {"name": "t", "bound": -1})
    name, given = as_whole(_goal(Fact(3 - t, ">")), "u")
    assert name == "named" and given == {"name": "u", "value": -t, "kind": "integer"}


def test_a_variable_between_equal_bounds_is_known():
    assert known_value(_goal(_at_least(t - 2), _at_least(2 - t)))[1]["value"] is tm.num(2)
    assert known_value(_goal(_at_least(t - n), _at_least(n - t)))[1] == {"name": "n", "value": t}
    assert known_value(_goal(_at_least(t - b), _at_least(b - t)))[1] == {"name": "b", "value": t}
    assert known_value(_goal(_at_least(t - 2), Fact(2 - t, ">"))) is None
    scaled = Fact(b, ">"), _at_least(b * (2 - t))  # at most 2, once b is taken off
    assert known_value(_goal(*scaled, _at_least(t - 2)))[1] == {"name": "t", "value": tm.num(2)}
    assert known_value(_goal(*scaled[1:], _at_least(t - 2))) is None


def test_a_bound_that_a_kinked_fact_says_is_stated():
    names, bound = (("b", "real"), ("u", "real")), 1 / b
    given = Fact(b, ">"), _at_least(bound - tm.absolute(u))
    known = replace(_goal(*given, _at_least(u - bound)), variables=names)
    assert known_value(known) == ("either", {"item": tm.mul(-1, u - bound)})
    assert known_value(replace(_goal(*given, _at_least(u - bound / 2)), variables=names)) is None
    assert known_value(replace(_goal(given[0], _at_least(u - bound)), variables=names)) is None


def test_few_values_of_a_shift_are_taken_one_by_one():
    assert one_by_one(_goal(_at_least(t + 1), _at_least(1 - t)))[0] == "either"
    assert one_by_one(_goal(_at_least(t), _at_least(100 - t))) is None
    assert one_by_one(_goal(_at_least(n), _at_least(2 - n))) is None  # not in the densities


def test_a_factor_that_may_be_zero_is_named_with_the_sign_that_it_does_not_have():
    given = Fact(b, ">"), _at_least(u), _at_least(1 - u)
    known = context(given)
    names = {"b", "u"}
    found = vanishing((1 - u) * tm.exp(-k * b), given, names)
    assert known.same(found, u - 1)
    assert known.same(vanishing((u - 1) / b, given, names), u - 1)
    assert vanishing(u * b, given, names) is -u
    assert vanishing(u * b, given, {"b"}) is None  # not one of the variables
    assert vanishing((1 + u) * b, given, names) is None
    assert vanishing(u, (*given, Fact(u, ">")), names) is None
    assert vanishing(t - u, given, {"t", "u"}) is None  # of either sign


def test_a_product_is_not_zero_if_no_factor_is():
    given = Fact(b, ">"), Fact(u, ">"), Fact(1 - u, ">")
    inner = 1 - tm.exp(-b)
    assert never_zero(u * inner - u * u * inner, given)
    assert not never_zero(u * inner - u * u * inner, given[:2])
    assert never_zero((u - 1) / b, given)


def test_masses_that_may_be_zero():
    p, q = sp.symbols("p q", nonnegative=True)
    j = sp.Symbol("j", integer=True)
    laws = [sp.Piecewise((one, sp.Eq(j, 1)), (1 - one, True)) for one in (p, q)]
    pair, where = dp.PMFPair(*laws, j, sp.Range(0, 2)), [p <= 1, q <= 1]
    for factor, outcome in ((1, dp.Proved), (sp.Rational(9, 10), dp.Refuted)):
        claim = dp.ApproxDP(0, factor * sp.Abs(p - q), one_way=True)
        assert isinstance(dp.check(pair, claim, where), outcome)


def test_one_integer_among_others():
    j, p = sp.Symbol("j", integer=True), sp.Symbol("p", nonnegative=True)
    law, even = sp.Piecewise((p, sp.Eq(j, 2)), ((1 - p) / 4, True)), sp.Rational(1, 5)
    pair = dp.PMFPair(law, even, j, sp.Range(0, 5))
    for factor, outcome in ((1, dp.Proved), (sp.Rational(9, 10), dp.Refuted)):
        claim = dp.ApproxDP(0, factor * sp.Abs(p - even), one_way=True)
        assert isinstance(dp.check(pair, claim, [p <= 1]), outcome)


def test_masses_up_to_an_integer_and_not_beyond():
    j, k = sp.Symbol("j", integer=True), sp.Symbol("k", integer=True, nonnegative=True)
    longer, law = (sp.Piecewise((1 / (n + 1), j <= n), (0, True)) for n in (k + 1, k))
    pair = dp.PMFPair(longer, law, j, sp.Range(0, sp.oo))
    for factor, outcome in ((1, dp.Proved), (sp.Rational(9, 10), dp.Refuted)):
        claim = dp.ApproxDP(0, factor / (k + 2), one_way=True)
        assert isinstance(dp.check(pair, claim), outcome)


def test_common_factors_are_taken_out_of_sums_of_quotients():
    facts = (Fact(b, ">"),)
    item = 1 / (1 - r) * (1 / (1 + r)) - r / (1 - r) * (1 / (1 + r))
    assert context(facts).same(shorter(item, facts), 1 / (1 + r))
    assert len(context(facts).canon(shorter(item, facts))) == 1


def test_factors_that_have_the_output_are_no_constant_switch():
    epsilon, scale, size = sp.Symbol("epsilon", real=True), *sp.symbols("b Delta", positive=True)
    noisy = dp.AdditiveNoise(dp.noise.Logistic(scale), size)
    claim = dp.ApproxDP(epsilon, (1 - sp.exp((epsilon - size / scale) / 2)) ** 2)
    where = [sp.Abs(epsilon) <= size / scale]
    assert isinstance(dp.check(noisy, claim, where, budget=5), dp.Unknown | dp.Refuted)


def test_terms_at_the_samples_and_the_largest_of_them():
    samples = parameters((("b", "real"), ("n", "integer")), (Fact(b, ">"), _at_least(n - 1)), 20)
    for value, at in zip(numbers(n * tm.exp(-b), samples), samples, strict=True):
        assert value == pytest.approx(at["n"] * 2.718281828459045 ** -at["b"])
    large = tm.exp(40 * n)  # its rounding errors are large too
    assert is_largest(large + 1 - 1, [large, b * 0], samples)
    assert not is_largest(large, [2 * large], samples)


def test_a_strict_fact_does_not_hold_by_rounding():
    facts = Fact(b, ">"), _at_least(u - b / 3), _at_least(b / 3 - u)
    names = (("b", "real"), ("u", "real"))
    assert len(parameters(names, facts, 20)) == 20
    assert not parameters(names, (*facts, Fact(b / 3 - u, ">")), 20)
    assert not parameters(names, (*facts, Fact(-(u - b / 3), ">")), 20)


def test_choices_are_not_clear_where_a_factor_has_lost_its_digits():
    """Densities of logistic noise, whose quotient tends to exp(t/b) and stays below."""

    def density(x):
        return tm.exp(-x / b) * tm.power(1 + tm.exp(-x / b), -2)

    gap = tm.maximum(density(k) - tm.exp(t / b) * density(k - t), 0)
    places = np.append(np.linspace(-40.6, -39, 40), 0.0)
    at = Values({"b": np.full(41, 0.11), "t": np.full(41, 0.1881), "k": places}, 41)
    assert any(at(gap) > 0)  # by rounding
    rows, clear = choices(gap, at)
    assert not any(clear[:-1]) and clear[-1] and not rows[-1][0]


def test_an_integral_is_planned_once_however_its_numbers_are_written():
    at_one = [t, tm.ONE, tm.mul(-1, tm.MINUS_ONE), tm.Term("mul", (tm.num(-1), tm.num(-1)))]
    terms = [tm.substitute(tm.exp(-tm.absolute(k - t)), {"t": one}) for one in at_one]
    assert len(set(terms)) == 3 and len({*map(folded, terms)}) == 2
    zero = tm.substitute((1 - u) * tm.exp(k), {"u": tm.ONE})
    assert zero is not tm.ZERO and folded(zero) is tm.ZERO


def test_an_impossible_case_of_a_closed_form_is_left_out():
    d, eps = sp.Symbol("d", positive=True), sp.Symbol("eps", real=True)
    law = dp.noise.Logistic(1)
    pair = dp.DensityPair(dp.noise.Shifted(law, d), law)
    bound = (sp.exp(d / 2) - sp.exp(eps / 2)) ** 2 / (sp.exp(d) - 1)
    claim = dp.ApproxDP(eps, bound, one_way=True)
    assert isinstance(dp.check(pair, claim, [abs(eps) <= d]), dp.Proved)


def test_a_sum_of_exponentials_grows_with_the_shift():
    def total(shift):
        s = tm.exp((1 - 2 * a) / b)
        grown = (1 - r * s) * tm.exp((a - 1) * shift / b) + (r - s) * tm.exp(-a * shift / b)
        return grown / ((1 + r) * (1 - s))

    facts = (Fact(b, ">"), Fact(a - 1, ">"), _at_least(t), _at_least(n - t))
    goal = Sequent(facts, _at_least(total(n) - total(t)))
    hints = (Clear(), Derive("t", n), Clear(), Scale("t"), Derive("t", tm.ZERO))
    assert isinstance(leaf.follow(goal, 20, hints), Lemma)
    false = Sequent(facts, _at_least(total(t) - total(n)))
    assert leaf.follow(false, 5, hints) is None


def test_moments_of_poisson_laws_by_masses_that_begin_later():
    """E[k] = u and E[k^2] = u^2 + u, and the loss against the mean u/2 is k log 2 - u/2."""
    u, v = sp.symbols("u v", positive=True)
    pair = dp.PMFPair(dp.noise.Poisson(u), dp.noise.Poisson(v))
    kl = u * sp.log(u / v) + v - u
    assert isinstance(dp.check(pair, dp.RenyiDP(1, kl, one_way=True)), dp.Proved)
    smaller = dp.RenyiDP(1, kl * sp.Rational(99, 100), one_way=True)
    assert isinstance(dp.check(pair, smaller, [u >= 2 * v]), dp.Refuted)
    half = dp.PMFPair(dp.noise.Poisson(u), dp.noise.Poisson(u / 2))

    def second(moment):
        bound = moment * sp.log(2) ** 2
        claim = dp.MomentBound(
            lambda loss: (loss + u / 2) ** 2, bound, at_infinity=sp.oo, one_way=True
        )
        return dp.check(half, claim)

    assert isinstance(second(u**2 + u), dp.Proved)
    assert not isinstance(second(u**2 + u * sp.Rational(9, 10)), dp.Proved)


def test_poisson_and_binomial_masses_are_proved_to_be_distributions():
    u, r = sp.symbols("u r", positive=True)
    n = sp.symbols("n", integer=True, positive=True)
    counts = dp.noise.Poisson(u), dp.noise.Poisson(2 * u)
    trials = dp.noise.Binomial(n, r), dp.noise.Binomial(n, r / 2)
    for laws, where in ((counts, ()), (trials, [r < 1])):
        mass = dp.MomentBound(lambda loss: sp.Integer(1), 1, one_way=True)
        verdict = dp.check(dp.PMFPair(*laws), mass, where)
        assert isinstance(verdict, dp.Proved) and not verdict.assumptions, str(verdict)


def test_facts_that_leave_one_value_are_no_crash():
    """|epsilon| <= D/b and epsilon <= -D/b leave epsilon = -D/b alone."""
    size, scale = sp.symbols("Delta b", positive=True)
    eps = sp.symbols("epsilon", real=True)
    where = [sp.Abs(eps) <= size / scale, eps <= -size / scale]
    for law in (dp.noise.Laplace(scale=scale), dp.noise.Gaussian(sigma=scale)):
        verdict = dp.check(dp.AdditiveNoise(law, size), dp.ApproxDP(eps, 1), where, budget=10)
        assert isinstance(verdict, dp.Proved)
