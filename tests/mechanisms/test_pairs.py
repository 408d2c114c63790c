"""Pairs of distributions: densities, masses, Gaussians, mixtures."""

import mpmath as mp
import pytest
import sympy as sp
from sympy import stats

import dpsym as dp
from dpsym.errors import InputError
from dpsym.kernel.statements import Fact
from dpsym.kernel.terms import var
from dpsym.mechanisms import DensityPair, GaussianPair, Mixture, PMFPair, noise
from tests.mechanisms.numbers import DIGITS, function, integral, number, pairs, total

x = sp.Symbol("x", real=True)
k = sp.Symbol("k", integer=True)
b, q, sigma = sp.symbols("b q sigma", positive=True)
HALF = sp.Rational(1, 2)


def test_masses_on_an_interval_of_integers():
    n = sp.Symbol("n", integer=True, positive=True)
    pair_of = PMFPair(1 / (n + 1), 2 * (n - k) / (n * (n + 1)), k, sp.Interval(0, n))
    (pair,) = pairs(pair_of)
    (region,) = pair.regions
    assert (region.kind, region.output) == ("integer", "k")
    assert region.facts == (Fact(var("k"), ">="), Fact(var("n") - var("k"), ">="))


@pytest.mark.parametrize(
    ("support", "expected"),
    [
        (sp.S.Integers, sp.S.Reals),
        (sp.S.Naturals0, sp.Interval(0, sp.oo)),
        (sp.S.Naturals, sp.Interval(1, sp.oo)),
        (sp.Range(2, 6), sp.Interval(2, 5)),
        (sp.Interval(-1, 4), sp.Interval(-1, 4)),
        (sp.Interval.open(-sp.oo, 4), None),
        (sp.Interval.Ropen(0, 4), None),
        (sp.Interval(0, 9 * HALF), None),
        (sp.Interval(0, b), None),
        (sp.Range(0, 6, 2), None),
        (sp.Range(0, 0), None),
        (sp.FiniteSet(1, 2), None),
    ],
    ids=str,
)
def test_supports_of_masses(support, expected):
    if expected is None:
        with pytest.raises(
            InputError, match=r"^support: expected an Interval with closed integer ends"
        ):
            PMFPair(HALF, HALF, k, support)
    else:
        assert PMFPair(HALF, HALF, k, support).support == expected


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: PMFPair(HALF, HALF, x), "^variable: expected a symbol declared with integer=True"),
        (
            lambda: PMFPair(
                HALF, HALF, sp.Symbol("k", integer=True, positive=True), sp.S.Naturals0
            ),
            "^variable: expected a symbol that takes all integer values",
        ),
        (
            lambda: PMFPair(HALF, HALF, sp.Symbol("k", integer=True, nonnegative=True)),
            "^support: expected an Interval on which k is nonnegative",
        ),
        (
            lambda: PMFPair(HALF, HALF, sp.Symbol("k", even=True), sp.S.Naturals0),
            "^variable: expected a symbol that takes all integer values",
        ),
        (lambda: PMFPair(noise.Laplace(1), noise.Laplace(2)), "^p: expected noise on the integers"),
        (lambda: DensityPair(noise.Poisson(1), noise.Poisson(2)), "^p: expected noise on the real"),
        (lambda: DensityPair(noise.Laplace(1), noise.Poisson(2)), "^p, q: expected noise on the"),
        (lambda: DensityPair(1, noise.Laplace(1)), "^variable: expected the symbol of the output"),
        (
            lambda: PMFPair(noise.DiscreteGaussian(1), noise.DiscreteGaussian(2)),
            "^p: expected a distribution with a normalised density",
        ),
        (
            lambda: DensityPair(noise.Laplace(1), noise.Laplace(2), support=sp.Interval(0, 1)),
            "^support: expected none with distributions",
        ),
        (lambda: GaussianPair(0, 0, 1, 1), "^sigma1: expected a number > 0, got 0$"),
        (lambda: DensityPair(1, 1, x, sp.Interval(0, 1), "no"), "^normalised: expected True or"),
    ],
)
def test_what_is_no_pair_is_refused(make, message):
    with pytest.raises(InputError, match=message):
        make()


def test_a_natural_symbol_on_the_naturals():
    natural = sp.Symbol("m", integer=True, positive=True)
    (pair,) = pairs(PMFPair(2**-natural, 3**-natural * 2, natural, sp.S.Naturals))
    assert pair.regions[0].facts == (Fact(var("m") - 1, ">="),)


def test_a_mixture_against_its_base():
    """One step of the Poisson-subsampled Gaussian: (1 - q) N(0, 1) + q N(1, 1) against N(0, 1),
    whose ratio is 1 - q + q e^(x - 1/2)."""
    base = noise.Gaussian(1)
    mixed = Mixture([1 - q, q], [base, noise.Shifted(base, 1)])
    mechanism = DensityPair(mixed, base)
    (family,) = mechanism.neighbours()
    (part,) = family.parts
    at = {q: sp.Rational(1, 5)}
    with mp.workdps(DIGITS):
        p, other = (function(side.xreplace(at), part.variable) for side in (part.p, part.q))
        for place in (mp.mpf(-2), mp.mpf("0.5"), mp.mpf(3)):
            expected = mp.mpf(4) / 5 + mp.exp(place - mp.mpf(1) / 2) / 5
            assert abs(p(place) / other(place) - expected) < mp.mpf(10) ** -13
        assert abs(integral(part.p.xreplace(at), part.variable) - 1) < mp.mpf(10) ** -20
    obligations = mechanism.obligations()
    assert sp.Ge(q, 0, evaluate=False) in obligations and len(obligations) == 3
    assert sp.Gt(sigma, 0, evaluate=False) in DensityPair(noise.Gaussian(sigma), base).hypotheses()


def test_random_symbols_as_distributions():
    mechanism = PMFPair(stats.Poisson("X", 2), stats.Poisson("Y", 3))
    (part,) = mechanism.neighbours()[0].parts
    with mp.workdps(DIGITS):
        loss = (part.p / part.q).subs(part.variable, 4)
        assert abs(number(loss) - mp.exp(1) * (mp.mpf(2) / 3) ** 4) < mp.mpf(10) ** -20
        assert part.support == sp.Interval(0, sp.oo)
        assert abs(total(part.p, part.variable, 0, 150) - 1) < mp.mpf(10) ** -20


def test_masses_that_vanish_outside_of_an_interval_have_it_as_support():
    n, m = sp.symbols("n m", integer=True, positive=True)
    k = sp.Symbol("k", integer=True)

    def support(p, q):
        (part,) = PMFPair(p, q, k).neighbours()[0].parts
        return part.support, part.p

    half = sp.Piecewise((2 ** (-k - 1), k >= 0), (0, True))
    assert support(half, half) == (sp.Interval(0, sp.oo), 2 ** (-k - 1))
    trials = [noise.Binomial(count, sp.Rational(1, 3)).at(k) for count in (n, n, m)]
    assert support(*trials[:2])[0] == sp.Interval(0, n)
    for name in ("N", "a", "z"):  # SymPy may turn a relation around, by the names in it
        count = sp.Symbol(name, integer=True, positive=True)
        law = noise.Binomial(count, sp.Rational(1, 3)).at(k)
        assert support(law, law)[0] == sp.Interval(0, count)
    square = sp.Piecewise((2 ** (-k - 1), k >= k**2), (0, True))
    assert support(square, square) == (sp.S.Reals, square)
    for p, q in (
        trials[1:],  # other supports
        (half, 2 ** (-k - 1)),
        (half, sp.Piecewise((2 ** (-k - 1), k >= 0), (sp.Rational(1, 9), sp.Eq(k, -1)), (0, True))),
        (half, sp.Piecewise((2 ** (-k - 1), k >= 0), (sp.Rational(1, 9), True))),
        (trials[0], half),
    ):
        assert support(p, q) == (sp.S.Reals, p)


def test_gaussians_of_two_variances():
    """The divergence of order 2 is log(s2^2/(s1 sqrt(v))) + (m1 - m2)^2/v with v = 2 s2^2 - s1^2
    (Gil, Alajaji, Linder, 2013)."""
    (family,) = GaussianPair(1, 2, 0, 3).neighbours()
    (part,) = family.parts
    v = 2 * 9 - 4
    with mp.workdps(DIGITS):
        moment = integral(sp.simplify(part.p**2 / part.q), part.variable)
        expected = mp.log(9 / (2 * mp.sqrt(v))) + mp.mpf(1) / v
        assert abs(mp.log(moment) - expected) < mp.mpf(10) ** -15


def test_ratios_that_are_not_bounded():
    assert isinstance(dp.check(GaussianPair(0, 1, 0, 2), dp.PureDP(3)), dp.Refuted)
    claim = DensityPair(sp.exp(-x / b) / b, 2 * sp.exp(-2 * x / b) / b, x, sp.Interval(0, sp.oo))
    assert isinstance(dp.check(claim, dp.PureDP(1)), dp.Refuted)


def test_integer_masses_have_a_pure_guarantee_up_to_a_factor():
    """Masses r^|k| and r^|k - 1| without their common factor."""
    r = sp.exp(-1 / b)
    rough = PMFPair(r ** sp.Abs(k), r ** sp.Abs(k - 1), k, normalised=False)
    (pair,) = pairs(rough)
    assert not pair.normalised
    assert isinstance(dp.check(rough, dp.PureDP(1 / b)), dp.Proved)
