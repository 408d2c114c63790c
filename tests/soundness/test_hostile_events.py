"""Events that refute nothing: what the checker of refutations must refuse."""

from __future__ import annotations

from dataclasses import replace

import pytest
from flint import acb, arb, fmpq
from mpmath import mp

from dpsym.analytic import Analytic, resolved, spread
from dpsym.events import MAX_ATOMS, Chosen, Event, Part
from dpsym.kernel import terms as tm
from dpsym.kernel.balls import Evaluator, precision, rational
from dpsym.kernel.refusal import Refusal
from dpsym.kernel.statements import Assumed, Fact, Guarantee, Mechanism, Pair, Region, Statement
from dpsym.kernel.terms import Term, absolute, atan, exp, ite, lgamma, log, num, power, sqrt, var
from dpsym.quadrature import integrate
from dpsym.refutations import Output, Refutation, refute

x, t, n, s = map(var, ("x", "t", "n", "s"))
HALF, ONE_TENTH = fmpq(1, 2), fmpq(1, 10)
WIDE = (fmpq(-20), fmpq(20))


def g(name: str, *args: Term | int | fmpq | None, **ways: bool) -> Guarantee:
    return Guarantee(name, tuple(None if a is None else tm.term(a) for a in args), **ways)


def gauss(y: Term) -> Term:
    return exp(-power(y, 2) / 2) / sqrt(2 * tm.PI)


def laplace(y: Term) -> Term:
    return exp(-absolute(y)) / 2


def uniform(y: Term) -> Term:
    return ite(1 - absolute(y), num(HALF), num(0))


def noise(density, normalised: bool = True, **region) -> Mechanism:
    pair = Pair(
        (Region(density(x), density(x - t), "x", **region),),
        (("t", "real"),),
        (Fact(1 - t, ">="), Fact(1 + t, ">=")),
        normalised=normalised,
    )
    return Mechanism((pair,))


def geometric() -> Mechanism:
    """Masses (1 - r)/(1 + r) r^|n| with r = 1/2, and the shift 1, on the integers up to 30."""
    masses = [power(num(HALF), 1) * 0 + exp(-log(num(2)) * absolute(y)) / 3 for y in (n, n - 1)]
    facts = (Fact(30 - n, ">="), Fact(n + 30, ">="))
    return Mechanism((Pair((Region(masses[0], masses[1], "n", facts, kind="integer"),)),))


def statement(stage, *claims: Guarantee, variables=(), facts=()) -> Statement:
    stages = stage if isinstance(stage, tuple) else (stage,)
    return Statement(variables, facts, stages, claims)


def event(*within: tuple[fmpq, fmpq], shift: object = 1, region: int = 0) -> Event:
    values = {} if shift is None else {"t": fmpq(shift)}
    return Event((Chosen(0, values, (Part(region, tuple(within)),)),))


FALSE = statement(noise(gauss), g("ApproxDP", 1, ONE_TENTH))
GOOD = event((fmpq(-20), -HALF))


def refuted(claim: Statement, witness: Event, order: fmpq | None = None) -> Refutation:
    return refute(claim, {}, witness, order)


def test_the_good_one() -> None:
    found = refuted(FALSE, GOOD).exceeded
    assert found is not None
    assert found.low is not None
    mp.dps = 50
    true = mp.ncdf(-HALF_FLOAT) - mp.e * mp.ncdf(-3 * HALF_FLOAT)
    low = mp.mpf(int(found.low.p)) / int(found.low.q)
    assert 0 <= true - low < mp.mpf(10) ** -25


HALF_FLOAT = mp.mpf(1) / 2

BAD: dict[str, Event] = {
    "reversed ends": event((-HALF, fmpq(-20))),
    "no length": event((-HALF, -HALF)),
    "overlapping": event((fmpq(-20), -HALF), (fmpq(-1), fmpq(0))),
    "listed twice": event((fmpq(-20), -HALF), (fmpq(-20), -HALF)),
    "not in order": event((fmpq(-1), -HALF), (fmpq(-20), fmpq(-1))),
    "region listed twice": Event(
        (Chosen(0, {"t": fmpq(1)}, (Part(0, ((fmpq(-20), -HALF),)),) * 2),)
    ),
    "no such region": event((fmpq(-20), -HALF), region=1),
    "a region from the end": event((fmpq(-20), -HALF), region=-1),
    "no such pair": Event((replace(GOOD.stages[0], pair=1),)),
    "a pair from the end": Event((replace(GOOD.stages[0], pair=-1),)),
    "a float": event((-20.0, -HALF)),  # type: ignore[arg-type]
    "a shift beyond the sensitivity": event((fmpq(-20), -HALF), shift=2),
    "no shift": event((fmpq(-20), -HALF), shift=None),
    "another variable": Event((replace(GOOD.stages[0], values={"t": fmpq(1), "u": fmpq(1)}),)),
    "a float shift": Event((replace(GOOD.stages[0], values={"t": 1.0}),)),  # type: ignore[dict-item]
    "no stage": Event(()),
    "two stages": Event(GOOD.stages * 2),
    "nothing": Event((Chosen(0, {"t": fmpq(1)}),)),
    "too few outputs": event((fmpq(-20), fmpq(-3))),
    "where p is smaller": event((fmpq(0), fmpq(20))),
}


@pytest.mark.parametrize("witness", BAD.values(), ids=BAD)
def test_malformed_events(witness: Event) -> None:
    with pytest.raises(Refusal):
        refuted(FALSE, witness)


REGION = (Fact(x, ">="), Fact(1 - x, ">="))
ATOMS = Mechanism((Pair((Region(num(HALF), num(HALF)), Region(num(HALF), num(HALF)))),))
PART = Mechanism((Pair((Region(num(HALF), num(1)), Region(num(HALF), num(0), weight=num(-1)))),))
DOUBTFUL = Mechanism((Pair((Region(num(1), num(1), facts=(Fact(num(-1), ">="),)),)),))

REFUSED: dict[str, tuple[Statement, Event]] = {
    "densities of mass 2": (
        statement(noise(lambda y: 2 * gauss(y)), g("ApproxDP", 1, ONE_TENTH)),
        event((fmpq(-20), fmpq(1))),
    ),
    "densities up to a factor": (
        statement(noise(gauss, normalised=False), g("ApproxDP", 1, ONE_TENTH)),
        event((fmpq(-20), -HALF)),
    ),
    "masses up to a factor": (
        statement(
            Mechanism((replace(ATOMS.pairs[0], normalised=False),)), g("ApproxDP", 0, fmpq(-1))
        ),
        Event((Chosen(0, {}),)),
    ),
    "outputs outside of the region": (
        statement(noise(laplace, facts=REGION), g("ApproxDP", 1, fmpq(1, 1000))),
        event((fmpq(-2), fmpq(-1))),
    ),
    "outputs partly outside of the region": (
        statement(noise(laplace, facts=REGION), g("ApproxDP", 0, fmpq(1, 1000))),
        event((fmpq(-2), HALF)),
    ),
    "half an integer": (
        statement(geometric(), g("ApproxDP", 0, ONE_TENTH)),
        event((fmpq(-20), -HALF), shift=None),
    ),
    "integers twice": (
        statement(geometric(), g("ApproxDP", 0, ONE_TENTH)),
        event((fmpq(-20), fmpq(0)), (fmpq(0), fmpq(0)), shift=None),
    ),
    "integers outside of the region": (
        statement(geometric(), g("ApproxDP", 0, ONE_TENTH)),
        event((fmpq(-31), fmpq(0)), shift=None),
    ),
    "very many integers": (
        statement(geometric(), g("ApproxDP", 0, ONE_TENTH)),
        event((fmpq(-2 * MAX_ATOMS), fmpq(0)), shift=None),
    ),
    "intervals of an atom": (
        statement(ATOMS, g("ApproxDP", 0, fmpq(-1))),
        event((fmpq(0), fmpq(1)), shift=None),
    ),
    "a negative number of atoms": (
        statement(PART, g("ApproxDP", 0, fmpq(-10))),
        Event((Chosen(0, {}),)),
    ),
    "atoms of facts that fail": (
        statement(DOUBTFUL, g("ApproxDP", 0, fmpq(-1))),
        Event((Chosen(0, {}),)),
    ),
    "a form that may be negative": (
        statement(noise(gauss), g("MomentBound", log(var("$t")), None, fmpq(-1))),
        event(WIDE),
    ),
    "an order of 1": (statement(noise(gauss), g("RenyiDP", 1, ONE_TENTH)), event(WIDE)),
    "assumed guarantees": (
        statement(Assumed((g("PureDP", 1),)), g("ApproxDP", 0, ONE_TENTH)),
        Event((Chosen(0, {}),)),
    ),
    "masses of intervals, which are not convex in this form": (
        statement((noise(gauss), noise(gauss)), g("ProbabilisticDP", 1, fmpq(1, 100))),
        Event(GOOD.stages * 2),
    ),
    "masses of intervals of densities of mass 2": (
        statement((noise(lambda y: 2 * gauss(y)),) * 2, g("ApproxDP", 1, ONE_TENTH)),
        Event(event(WIDE).stages * 2),
    ),
    "masses of intervals up to a factor": (
        statement((noise(gauss, normalised=False),) * 2, g("ApproxDP", 0, fmpq(1, 1000))),
        Event(GOOD.stages * 2),
    ),
    "losses of intervals too wide": (
        statement(noise(laplace), g("BoundedRange", fmpq(19, 10))),
        event((fmpq(-3), fmpq(-2)), (fmpq(2), fmpq(3))),
    ),
}


@pytest.mark.parametrize(("claim", "witness"), REFUSED.values(), ids=REFUSED)
def test_events_that_do_not_count(claim: Statement, witness: Event) -> None:
    with pytest.raises(Refusal):
        refuted(claim, witness)


EXACT = exp(num(1))  # the Gaussian's moment of order 2 for the shift 1
BINS = Event(event(*((fmpq(i, 8), fmpq(i + 1, 8)) for i in range(-40, 40))).stages * 2)
DISTANCE = 1 - tm.erfc(num(HALF))  # of two normal shifts by 1, as one by the root of 2
TRUE: dict[str, tuple[Statement, Event]] = {
    "gaussian order 2": (statement(noise(gauss), g("RenyiDP", 2, 1)), event(WIDE)),
    "gaussian order 1/2": (
        statement(noise(gauss), g("RenyiDPBelowOne", HALF, fmpq(1, 4))),
        event(WIDE),
    ),
    "gaussian kl": (statement(noise(gauss), g("KLDP", HALF)), event(WIDE)),
    "laplace distance": (
        statement(noise(laplace), g("ApproxDP", 0, 1 - exp(num(-HALF)))),
        event((fmpq(-80), HALF)),
    ),
    "uniform": (statement(noise(uniform), g("ApproxDP", 1, HALF)), event((fmpq(-1), fmpq(0)))),
    "uniform probability": (
        statement(noise(uniform), g("ProbabilisticDP", 1, HALF)),
        event((fmpq(-1), fmpq(0))),
    ),
    "laplace range": (
        statement(noise(laplace), g("BoundedRange", 2)),
        event((fmpq(-3), fmpq(-2)), (fmpq(2), fmpq(3))),
    ),
    "two gaussians": (statement((noise(gauss), noise(gauss)), g("ApproxDP", 0, DISTANCE)), BINS),
    "equal tables": (statement(ATOMS, g("ApproxDP", 0, 0)), Event((Chosen(0, {}),))),
    "equal tables, kl": (statement(ATOMS, g("KLDP", 0)), Event((Chosen(0, {}),))),
    "delta of 1": (statement(noise(uniform), g("ApproxDP", 0, 1)), event((fmpq(-1), fmpq(1)))),
}


@pytest.mark.parametrize(("claim", "witness"), TRUE.values(), ids=TRUE)
def test_true_claims(claim: Statement, witness: Event) -> None:
    """Tight ones: with a bound that is smaller by 1e-9, the same event refutes."""
    with pytest.raises(Refusal):
        refuted(claim, witness)


@pytest.mark.parametrize("name", ["gaussian order 2", "gaussian kl", "uniform", "laplace distance"])
def test_what_is_a_little_smaller_is_refuted(name: str) -> None:
    claim, witness = TRUE[name]
    (told,) = claim.claims
    smaller = replace(told, args=(*told.args[:-1], told.args[-1] - fmpq(1, 10**9)))
    assert refuted(replace(claim, claims=(smaller,)), witness).exceeded is not None


def test_masses_of_intervals() -> None:
    claim, witness = TRUE["two gaussians"]
    mp.dps = 30
    for share, holds in ((fmpq(99, 100), False), (fmpq(1), True)):
        told = g("ApproxDP", 0, share * DISTANCE)
        if holds:
            with pytest.raises(Refusal):
                refuted(replace(claim, claims=(told,)), witness)
        else:
            found = refuted(replace(claim, claims=(told,)), witness).exceeded
            assert found is not None
            assert found.low is not None
            assert mp.mpf(int(found.low.p)) / int(found.low.q) < mp.erf(HALF_FLOAT)


def test_orders_of_a_family() -> None:
    claim = statement(noise(gauss), g("ZCDP", fmpq(49, 100)))
    assert refuted(claim, event(WIDE), fmpq(2)).orders == (2,)
    for order in (None, fmpq(1), fmpq(1, 2)):
        with pytest.raises(Refusal):
            refuted(claim, event(WIDE), order)


def test_facts_at_the_values() -> None:
    scaled = noise(lambda y: exp(-absolute(y) / s) / (2 * s))
    claim = statement(
        scaled, g("ApproxDP", 0, ONE_TENTH), variables=(("s", "real"),), facts=(Fact(s - 1, ">="),)
    )
    witness = event((fmpq(-80), HALF))
    assert refute(claim, {"s": fmpq(1)}, witness).values == {"s": 1}
    for values in ({"s": HALF}, {}, {"s": fmpq(1), "t": fmpq(1)}, {"s": 1.0}):
        with pytest.raises(Refusal):
            refute(claim, values, witness)


def test_an_output_of_the_integers() -> None:
    claim = statement(geometric(), g("PureDP", HALF))
    assert refute(claim, {}, Output(0, 0, {}, (fmpq(0), fmpq(0)))).witness
    for at in ((fmpq(-1), HALF), (fmpq(0), fmpq(-1)), None, (fmpq(0), fmpq(31))):
        with pytest.raises(Refusal):
            refute(claim, {}, Output(0, 0, {}, at))


def unnormalised(mass, facts=()) -> Statement:
    regions = (Region(mass(n), mass(n - 1), "n", facts, kind="integer"),)
    return statement(Mechanism((Pair(regions, normalised=False),)), g("ApproxDP", 0, ONE_TENTH))


def test_masses_up_to_a_factor() -> None:
    """Geometric masses with r = 1/2: at 0 there is (1 - r)/(1 + r) = 1/3, which is the distance."""
    witness = event((fmpq(-100), fmpq(0)), shift=None)
    claim = unnormalised(lambda y: 7 * exp(-log(num(2)) * absolute(y)))
    found = refuted(claim, witness).exceeded
    assert found is not None
    assert found.low is not None
    assert 0 <= fmpq(1, 3) - found.low < fmpq(1, 10**25)
    exact = replace(claim, claims=(g("ApproxDP", 0, fmpq(1, 3)),))
    with pytest.raises(Refusal):
        refuted(exact, witness)


@pytest.mark.parametrize(
    "mass",
    [
        lambda y: 1 / (1 + power(y, 2)),
        lambda y: exp(-sqrt(1 + power(y, 2))) + fmpq(1, 10**9),
        lambda y: exp(-absolute(y)) * power(y - 40, 2),
        lambda y: exp(-absolute(y) / 100_000),
    ],
    ids=["heavy", "a constant", "zero somewhere", "very wide"],
)
def test_masses_without_a_known_sum(mass) -> None:
    with pytest.raises(Refusal):
        refuted(unnormalised(mass), event((fmpq(-100), fmpq(0)), shift=None))


def test_masses_on_few_integers() -> None:
    facts = (Fact(n, ">="), Fact(1 - n, ">="))
    regions = (Region(2 - n, 1 + n, "n", facts, kind="integer"),)  # 2/3, 1/3 and 1/3, 2/3
    pair = Pair(regions, normalised=False)
    claim = statement(Mechanism((pair,)), g("ApproxDP", 0, fmpq(3333, 10**4)))
    found = refuted(claim, event((fmpq(0), fmpq(1)), shift=None)).exceeded
    assert found is not None
    assert found.low is not None
    assert abs(found.low - fmpq(1, 3)) < fmpq(1, 10**30)


def test_only_the_checker_makes_refutations() -> None:
    with pytest.raises(Refusal):
        Refutation()


# -- functions of complex balls: branch cuts must not be crossed unnoticed

FUNCTIONS = {
    "log": (log(x), fmpq(1, 100), fmpq(4), lambda u: mp.log(u)),
    "sqrt": (sqrt(x), fmpq(0), fmpq(4), lambda u: mp.sqrt(u)),
    "log of a square": (log(power(x, 2) + fmpq(1, 100)), fmpq(-3), fmpq(3), None),
    "sqrt of a quadratic": (sqrt(power(x, 2) + fmpq(1, 100)), fmpq(-3), fmpq(3), None),
    "atan": (atan(10 * x), fmpq(-3), fmpq(4), lambda u: mp.atan(10 * u)),
    "lgamma": (lgamma(x), fmpq(1, 10), fmpq(20), lambda u: mp.loggamma(u)),
    "pole nearby": (1 / (power(x, 2) + fmpq(1, 10**4)), fmpq(-3), fmpq(3), None),
    "odd power of a root": (
        power(sqrt(power(x, 2) - x + 1), 3),
        fmpq(-2),
        fmpq(3),
        lambda u: mp.sqrt(u**2 - u + 1) ** 3,
    ),
    "erfc": (tm.erfc(x), fmpq(-3), fmpq(9), lambda u: mp.erfc(u)),
}
FUNCTIONS["log of a square"] = (
    *FUNCTIONS["log of a square"][:3],
    lambda u: mp.log(u**2 + mp.mpf(1) / 100),
)
FUNCTIONS["sqrt of a quadratic"] = (
    *FUNCTIONS["sqrt of a quadratic"][:3],
    lambda u: mp.sqrt(u**2 + mp.mpf(1) / 100),
)
FUNCTIONS["pole nearby"] = (*FUNCTIONS["pole nearby"][:3], lambda u: 1 / (u**2 + mp.mpf(1) / 10**4))


@pytest.mark.parametrize(("item", "low", "high", "plain"), FUNCTIONS.values(), ids=FUNCTIONS)
def test_integrals(item: Term, low: fmpq, high: fmpq, plain) -> None:
    mp.dps = 30
    with precision(128):
        found = integrate(Analytic(item, "x"), arb(low), arb(high), 60)
    ends = [mp.mpf(int(e.p)) / int(e.q) for e in (low, high)]
    cuts = [ends[0] + (ends[1] - ends[0]) * k / 50 for k in range(51)]
    true = mp.quad(plain, sorted({*cuts, *([mp.mpf(0)] if ends[0] < 0 else [])}))
    assert abs(mp.mpf(found.mid().str(30, radius=False)) - true) < mp.mpf(10) ** -13 * abs(true)


@pytest.mark.parametrize("item", [log(x), sqrt(x), atan(x), lgamma(x)])
def test_a_cut_is_not_analytic(item: Term) -> None:
    """On a ball over the cut, and over the branch point."""
    function = Analytic(item, "x")
    around = {"atan": acb(0, 2)}.get(item.op, acb(-HALF))
    for middle in (around, acb(around.real, around.imag / 2)):
        ball = middle + acb(arb(0, 0.75), arb(0, 0.75))
        assert not function(ball, True).is_finite()


def test_kinks_that_are_not_certain() -> None:
    box = {"x": (rational(fmpq(-1))[0], rational(fmpq(1))[1])}
    value = Evaluator(box, True)
    for item in (absolute(x), tm.maximum(x, 0), tm.minimum(x, 0), ite(x, num(1), num(2))):
        assert resolved(item, value) is None
        assert resolved(exp(item) + 1, value) is None
    touching = Evaluator({"x": (rational(fmpq(-1))[0], rational(fmpq(0))[1])}, True)
    assert resolved(absolute(x), touching) is -x
    assert resolved(ite(x, num(1), num(2)), touching) is None  # another value at 0


def test_logarithms_of_products_keep_their_signs() -> None:
    value = Evaluator({"x": (rational(fmpq(-2))[0], rational(fmpq(-1))[1])}, True)
    product = log(tm.mul(x, x - 1, exp(x)))  # both factors negative
    with precision(64):
        kept = spread(product, value)
        assert value(kept)[0] <= value(product)[1]
        assert value(kept)[1] >= value(product)[0]
    assert spread(log(power(x, 2)), value) is log(power(x, 2))
