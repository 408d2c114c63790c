"""Explicit mechanisms: their densities and tables in the kernel, and what is refused."""

from fractions import Fraction

import pytest
import sympy as sp
from flint import fmpq

from dpsym.errors import InputError
from dpsym.kernel import terms as k
from dpsym.kernel.statements import Fact, Pair, Region
from dpsym.kernel.terms import absolute, exp, num, var
from dpsym.mechanisms import AdditiveNoise, DensityPair, RandomizedResponse, Table, noise
from dpsym.scope import Scope
from tests.mechanisms.numbers import pairs

b, D, e = sp.symbols("b Delta epsilon", positive=True)
x = sp.Symbol("x", real=True)
n = sp.Symbol("k", integer=True)
HALF = sp.Rational(1, 2)


def test_laplace_noise_for_every_shift():
    (pair,) = pairs(AdditiveNoise(noise.Laplace(scale=b), sensitivity=D))
    t, out = var("t"), var("x")
    rate = k.power(var("b"), -1)

    def density(distance):
        return k.mul(fmpq(1, 2), rate, exp(k.mul(-1, rate, absolute(distance))))

    assert pair == Pair(
        regions=(Region(density(out), density(k.mul(-1, out) + t), "x"),),
        variables=(("t", "real"),),
        facts=(Fact(var("Delta") - t, ">="), Fact(t + var("Delta"), ">=")),
        label="answers within the sensitivity",
    )


def test_names_of_shift_and_output_avoid_the_parameters():
    mechanism = AdditiveNoise(noise.Laplace(sp.Symbol("t", positive=True)), D)
    (pair,) = pairs(mechanism, sp.Symbol("x", real=True))
    (region,) = pair.regions
    assert (pair.variables, region.output) == ((("t_1", "real"),), "x_1")
    assert region.q.vars == {"x_1", "t_1", "t"}


def test_a_density_of_the_users_own_keeps_its_variable():
    z = sp.Symbol("z", real=True)
    (pair,) = pairs(AdditiveNoise(noise.Density(sp.exp(-2 * sp.Abs(z) / b), z), 1))
    (region,) = pair.regions
    assert region.output == "z" and region.q.vars == {"z", "t", "b"}
    assert pair.facts == (Fact(1 - var("t"), ">="), Fact(var("t") + 1, ">="))
    output_t = sp.Symbol("t", real=True)
    (pair,) = pairs(AdditiveNoise(noise.Density(sp.exp(-sp.Abs(output_t)), output_t), 1))
    assert (pair.variables, pair.regions[0].output) == ((("t_1", "real"),), "t")


@pytest.mark.parametrize("density", [sp.exp(-sp.Abs(x)) * x / x, sp.exp(-(x**2))])
def test_a_claim_may_not_use_the_output(density):
    with pytest.raises(InputError, match=r"^variable: expected a symbol that is no parameter"):
        pairs(AdditiveNoise(noise.Density(density, x), 1), x)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: AdditiveNoise(noise.Laplace(1), 0), "^sensitivity: expected a number > 0, got 0$"),
        (lambda: AdditiveNoise(noise.Laplace(1), -D * 0 - 1), "^sensitivity: "),
        (lambda: AdditiveNoise(sp.exp(-x), 1), "^noise: expected noise such as"),
        (lambda: DensityPair(0, 1, x), "^p: expected a density"),
        (lambda: DensityPair(1, 1, x, (0, 1)), "^support: expected an Interval"),
        (lambda: DensityPair(1, 1, b), "^support: expected an Interval on which b is nonnegative"),
        (lambda: DensityPair(1, 1, b, sp.Interval(-1, 1)), "^support: "),
        (lambda: DensityPair(1, 1, n, sp.Interval(0, 1)), "^variable: "),
        (lambda: RandomizedResponse(-1), "^epsilon: expected a number >= 0"),
        (lambda: RandomizedResponse(e, 1), "^categories: expected an integer >= 2.*got 1$"),
        (lambda: RandomizedResponse(e, 2.5), "^categories: "),
        (lambda: RandomizedResponse(e, b), "^categories: .*integer=True"),
        (lambda: Table([[1]]), "^matrix: expected two or more rows"),
        (lambda: Table("ab"), "^matrix: "),
        (lambda: Table(["ab", "cd"]), "^matrix: expected rows"),
        (lambda: Table([[1], [HALF, HALF]]), "^matrix: expected rows of one length"),
        (lambda: Table([[], []]), "^matrix: expected rows of one length"),
        (lambda: Table([[1, 0], [HALF, HALF + 1]]), r"^row 2, column 2: .*\[0, 1\], got 3/2$"),
        (
            lambda: Table([[HALF, HALF], [HALF, 0.4]]),
            "^row 2: expected probabilities that sum to 1",
        ),
        (lambda: Table([[1, "0"], [1, 0]]), "^row 1, column 2: "),
        (lambda: Table([[0] * 1000 + [1]] * 5), "^matrix: expected at most"),
    ],
)
def test_what_has_no_meaning_is_refused_at_once(make, message):
    with pytest.raises(InputError, match=message):
        make()


def test_a_density_pair_on_an_interval():
    pair_of = DensityPair(sp.exp(-x / b), 2 * sp.exp(-2 * x / b), x, sp.Interval.Ropen(0, b))
    (pair,) = pairs(pair_of)
    (region,) = pair.regions
    out = var("x")
    assert region.output == "x" and not pair.variables
    assert region.facts == (Fact(out, ">="), Fact(var("b") - out, ">"))
    (line,) = pairs(DensityPair(sp.exp(-(x**2)), sp.exp(-((x - 1) ** 2)), x))
    assert line.regions[0].facts == ()


def test_an_output_symbol_that_is_positive_on_a_positive_support():
    out = sp.Symbol("y", positive=True)
    (pair,) = pairs(DensityPair(sp.exp(-out), 2 * sp.exp(-2 * out), out, sp.Interval(0, sp.oo)))
    assert pair.regions[0].facts == (Fact(var("y"), ">="),)


def test_one_name_for_output_and_parameter_is_refused():
    other = sp.Symbol("x", positive=True)
    with pytest.raises(InputError, match=r"one symbol of the name x|no parameter"):
        pairs(DensityPair(sp.exp(-x / other), sp.exp(-x), x))
    with pytest.raises(InputError, match=r"one symbol of the name x|no parameter"):
        pairs(AdditiveNoise(noise.Density(sp.exp(-sp.Abs(x) / other), x), 1))


def total(pair, side):
    return sum(getattr(region, side) * region.weight for region in pair.regions)


def value(term, **at):
    """An exact rational value at rational places, with e^epsilon given as ``odds``."""
    for name, number in at.items():
        old = exp(var("epsilon")) if name == "odds" else var(name)
        term = k.replace(term, old, num(number))
    if term.op == "num":
        return Fraction(int(term.value.p), int(term.value.q))
    args = [value(arg) for arg in term.args]
    if term.op == "pow":
        return args[0] ** term.value
    return sum(args) if term.op == "add" else args[0] * value(k.mul(1, *term.args[1:]))


@pytest.mark.parametrize("count", [2, 3, 10])
def test_randomized_response_is_a_distribution_with_ratio_e_to_epsilon(count):
    for mechanism, at in (
        (RandomizedResponse(e, count), {}),
        (RandomizedResponse(e, n), {"k": fmpq(count)}),
    ):
        (pair,) = pairs(mechanism)
        assert value(total(pair, "p"), odds=fmpq(3), **at) == 1
        assert value(total(pair, "q"), odds=fmpq(3), **at) == 1
        keep = value(pair.regions[0].p, odds=fmpq(3), **at)
        assert keep == Fraction(3, 3 + count - 1)  # Kairouz, Oh, Viswanath (2014)


def test_randomized_response_assumes_its_domain():
    scope = Scope()
    scope.assume(RandomizedResponse(sp.Symbol("q", real=True), n).hypotheses(), "subject")
    assert scope.facts == [Fact(var("q"), ">="), Fact(var("k") - 2, ">=")]
    assert len(pairs(RandomizedResponse(1))[0].regions) == 2


def test_every_two_rows_of_a_table_are_a_pair_in_both_orders():
    table = Table([[HALF, HALF, 0], [0.25, 0.75, 0], [1, 0, 0]])
    found = pairs(table)
    orders = [(1, 2), (1, 3), (2, 1), (2, 3), (3, 1), (3, 2)]
    assert [pair.label for pair in found] == [f"rows {i} and {j}" for i, j in orders]
    assert found[0].regions[1] == Region(num(fmpq(1, 2)), num(fmpq(3, 4)), weight=k.ONE)
    assert table.obligations() == ()
    assert table == Table(sp.Matrix([[HALF, HALF, 0], [0.25, 0.75, 0], [1, 0, 0]]))
    assert table == Table([(0.5, 0.5, 0), (0.25, 0.75, 0), (1, 0, 0)])


def test_a_symbolic_row_must_be_proved_to_be_a_distribution():
    a = sp.Symbol("a", real=True)
    table = Table([[a, 1 - a], [HALF, HALF]])
    scope = Scope()
    facts = [fact for item in table.obligations() for fact in scope.relation(item, "matrix")]
    entry = var("a")
    assert Fact(entry, ">=") in facts and Fact(1 - entry, ">=") in facts
    assert len(facts) == 4  # and the sum is 1, as two inequalities
    irrational = Table([[1 / sp.sqrt(2), 1 - 1 / sp.sqrt(2)], [HALF, HALF]])
    assert len(irrational.obligations()) == 3


@pytest.mark.parametrize(
    "mechanism",
    [
        AdditiveNoise(noise.Laplace(b), D),
        AdditiveNoise(noise.Density(sp.exp(-sp.Abs(x)), x), D, relation="add/remove"),
        DensityPair(sp.exp(-sp.Abs(x)), sp.exp(-sp.Abs(x - 1)), x),
        RandomizedResponse(e, n),
        Table([[HALF, HALF], [1, 0]]),
    ],
    ids=lambda mechanism: type(mechanism).__name__,
)
def test_mechanisms_are_immutable_values(mechanism):
    again = type(mechanism)(*(getattr(mechanism, name) for name in mechanism.fields))
    assert mechanism == again and hash(mechanism) == hash(again) and repr(mechanism) == repr(again)
    with pytest.raises(AttributeError, match="immutable"):
        mechanism.relation = "replace-one"


def test_what_is_not_checked_is_said():
    assert AdditiveNoise(noise.Laplace(1), 1).assumptions() == ()
    own = noise.Density(sp.exp(-sp.Abs(x)), x, normalised=False)
    assert "up to a constant factor" in AdditiveNoise(own, 1).assumptions()[0]
    (pair,) = pairs(AdditiveNoise(own, 1))
    assert not pair.normalised
    assert DensityPair(1, 1, x, sp.Interval(0, 1)).assumptions() == ()
    (text,) = DensityPair(1, 1, x, sp.Interval(0, 1), normalised=False).assumptions()
    assert text == "p and q are densities of distributions, up to one constant factor for both"
