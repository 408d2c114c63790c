"""The audit sees what is false, of every kind of goal, and nothing wrong in what is true."""

from __future__ import annotations

import random
import re
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import mpmath
import pytest

import dpsym as dp
from dpsym.audit import Coverage, audit, find
from dpsym.audit.guarantees import has
from dpsym.audit.points import Points, UndefinedFact
from dpsym.audit.values import DIGITS, Undefined, Unsure, value
from dpsym.audit.worlds import World
from dpsym.cli import main
from dpsym.kernel.refusal import Refusal
from dpsym.kernel.sequents import Sequent
from dpsym.kernel.statements import (
    Assumed,
    Blend,
    Fact,
    Filter,
    Group,
    Guarantee,
    Link,
    Mechanism,
    Pair,
    Processed,
    Region,
    Repeated,
    Statement,
)
from dpsym.kernel.terms import (
    ONE,
    PI,
    ZERO,
    absolute,
    erfc,
    exp,
    ite,
    lgamma,
    log,
    maximum,
    num,
    power,
    real_power,
    sqrt,
    var,
)

e, f, d, q, a, k, x, t = (var(n) for n in ("e", "f", "d", "q", "a", "k", "x", "$t"))
VARIABLES = (*((n, "real") for n in ("e", "f", "d", "q", "a")), ("k", "integer"))
FACTS = (*(Fact(item, ">=") for item in (e, f, d, q, 1 - q, 1 - d, k - 1)), Fact(a - 1, ">"))


def one(name, *args, **ways):
    return Guarantee(name, args, **ways)


def given(name, *args, **ways):
    return Assumed((one(name, *args, **ways),))


def pure(item):
    return given("PureDP", item)


def goal(claim, *stages, facts=()):
    return Statement(VARIABLES, FACTS + facts, stages, (claim,))


SAMPLED = Blend((q, 1 - q), (ZERO, ONE), (Link(0, 1, pure(e)),))
AMPLIFIED = log(1 + q * (exp(e) - 1))
COIN = exp(e) / (1 + exp(e))
RESPONSE = Mechanism((Pair((Region(COIN, 1 - COIN), Region(1 - COIN, COIN))),))
BELL = exp(-power(x, 2) / 2) / sqrt(2 * PI), exp(-power(x - e, 2) / 2) / sqrt(2 * PI)
NORMAL = Mechanism((Pair((Region(*BELL, "x"),)),))
HALF_LINE = (Fact(x, ">="),)
FAST = Region(a * exp(-a * x), 2 * a * exp(-2 * a * x), "x", HALF_LINE)
WAITS = Mechanism((Pair((FAST,)),))
ODDS = (ONE - num(1) / 2) * exp(-x * log(num(2)))
COUNTS = Mechanism((Pair((Region(ODDS, ODDS, "x", HALF_LINE, kind="integer"),)),))
MOMENT = one("MomentBound", power(t, 2), None, 1 + f, two_way=False)

# a true statement, and a claim in its place that is false
STATEMENTS = {
    "pure": (goal(one("PureDP", e + f), pure(e), pure(f)), one("PureDP", maximum(e, f))),
    "approximate": (
        goal(one("ApproxDP", e + f, 2 * d), given("ApproxDP", e, d), given("ApproxDP", f, d)),
        one("ApproxDP", e + f, d),
    ),
    "renyi": (
        goal(one("RenyiDP", a, e + f), given("RenyiDP", a, e), given("RenyiDP", a, f)),
        one("RenyiDP", a, maximum(e, f)),
    ),
    "below one": (
        goal(one("RenyiDPBelowOne", num(1) / 2, e), given("RenyiDPBelowOne", num(1) / 2, e)),
        one("RenyiDPBelowOne", num(1) / 2, e / 2),
    ),
    "kl": (goal(one("KLDP", e + f), given("KLDP", e), given("KLDP", f)), one("KLDP", e)),
    "zcdp": (goal(one("ZCDP", e + f), given("ZCDP", e), given("ZCDP", f)), one("ZCDP", e)),
    "tcdp": (goal(one("TCDP", e, a), given("TCDP", e, a)), one("TCDP", e / 2, a)),
    "gdp": (
        goal(
            one("GDP", sqrt(power(e, 2) + power(a, 2))),
            given("GDP", e),
            given("GDP", a),
            facts=(Fact(e, ">"),),
        ),
        one("GDP", maximum(e, a)),
    ),
    "probability": (
        goal(one("ApproxDP", e, d), given("ProbabilisticDP", e, d)),
        one("ApproxDP", e, d / 2),
    ),
    "range": (
        goal(one("BoundedRange", e + 2 * f), given("BoundedRange", e), pure(f)),
        one("BoundedRange", e),
    ),
    "moment": (
        goal(MOMENT, Assumed((MOMENT,))),
        replace(MOMENT, args=(power(t, 2), None, 1 + f / 2)),
    ),
    "processed": (goal(one("PureDP", e), Processed((one("PureDP", e),))), one("PureDP", e / 2)),
    "repeated": (goal(one("PureDP", k * e), Repeated(pure(e), k)), one("PureDP", e)),
    "group": (goal(one("PureDP", k * e), Group(pure(e), k)), one("PureDP", e)),
    "blend": (goal(one("PureDP", AMPLIFIED), SAMPLED), one("PureDP", AMPLIFIED / 2)),
    "filter": (goal(one("PureDP", e), Filter("x", pure(x), e)), one("PureDP", e / 2)),
    "atoms": (goal(one("PureDP", e), RESPONSE), one("PureDP", e / 2)),
    "atoms and a stage": (goal(one("PureDP", e + f), RESPONSE, pure(f)), one("PureDP", e)),
    "density": (
        goal(one("RenyiDP", a, a * power(e, 2) / 2), NORMAL),
        one("RenyiDP", a, a * power(e, 2) / 3),
    ),
    "densities": (goal(one("ZCDP", power(e, 2)), NORMAL, NORMAL), one("ZCDP", power(e, 2) / 4)),
    "half line": (
        goal(one("ApproxDP", ZERO, num(1) / 4), WAITS),
        one("ApproxDP", ZERO, num(1) / 5),
    ),
    "mass": (goal(one("Distributions"), COUNTS), one("PureDP", num(-1) / 10)),
}


@pytest.mark.parametrize("name", STATEMENTS)
def test_statements(name: str) -> None:
    true, claim = STATEMENTS[name]
    for seed in range(2):
        assert find(true, seed) is None
    false = replace(true, claims=(claim,))
    assert any(find(false, seed) is not None for seed in range(3))


def test_densities_that_are_none() -> None:
    for factor in (num(9) / 10, num(11) / 10):
        regions = (Region(BELL[0], factor * BELL[1], "x"),)
        assert find(goal(one("Distributions"), Mechanism((Pair(regions),)))) is not None
    assert find(goal(one("Distributions"), NORMAL)) is None


def sequent(item, *given, rel=">="):
    return Sequent(tuple(Fact(h, ">=") for h in given), Fact(item, rel))


TRUE = [
    sequent(exp(x) - 1 - x),
    sequent(x - log(1 + x), x),
    sequent(power(x, 2) - power(x, 2)),
    sequent(exp(log(1 + absolute(x))) - absolute(x) - 1),  # equal, but not by exact numbers
    sequent(sqrt(power(x, 2)) - absolute(x)),
    sequent(lgamma(x + 2) - lgamma(x + 1) - log(x + 1), x),
    sequent(exp(-power(x, 2)) - erfc(x), x),
    sequent(ite(x, sqrt(x), ZERO)),
    sequent(f - e, e - log(num(2)), log(num(2)) - e, f - 1),
]
FALSE = [
    sequent(exp(x) - 1 - x, rel=">"),  # at 0 alone
    sequent(x - log(1 + x) - num(1) / 10, x),
    sequent(log(x), x - num(1) / 100),
    sequent(1 / x, x),  # undefined at 0
    sequent(sqrt(x)),
    sequent(erfc(x) - exp(-power(x, 2)), x),
    sequent(num(10) - x, x),
    sequent(e - num(7) / 10, e - log(num(2)), log(num(2)) - e),  # log 2 < 7/10
    sequent(real_power(x, e) - 1 - e * (x - 1), x - 1, 1 - e, e),  # Bernoulli, turned round
    sequent(x, log(x)),  # a hypothesis that is undefined
]


@pytest.mark.parametrize("item", TRUE, ids=repr)
def test_true_inequalities(item: Sequent) -> None:
    assert all(find(item, seed, 12) is None for seed in range(3))


@pytest.mark.parametrize("item", FALSE, ids=repr)
def test_false_inequalities(item: Sequent) -> None:
    assert find(item, 1, 20) is not None


# -- the parts


def test_values_are_those_of_mpmath() -> None:
    at = {"x": Fraction(7, 5)}
    with mpmath.workdps(DIGITS):
        y = mpmath.mpf(7) / 5
        known = {
            exp(x): mpmath.exp(y),
            erfc(3 * x): mpmath.erfc(3 * y),
            lgamma(x): mpmath.loggamma(y),
            power(sqrt(x) + log(x), -3): (mpmath.sqrt(y) + mpmath.log(y)) ** -3,
        }
        for item, number in known.items():
            found = value(item, at)
            assert abs(found.middle - number) <= found.radius < mpmath.mpf(10) ** -50
    assert value(maximum(x, 1) / 3 + absolute(x - 2), at) == Fraction(7, 15) + Fraction(3, 5)


def test_undefined_is_told_from_unsure() -> None:
    for item in (log(x), 1 / x, lgamma(x), sqrt(x - 1)):
        with pytest.raises(Undefined):
            value(item, {"x": Fraction(0)})
    with pytest.raises(Unsure):
        value(1 / (exp(x) - exp(x)), {"x": Fraction(1)})
    assert value(ite(x, num(1), log(-exp(x))), {"x": Fraction(0)}) == 1


def test_points_satisfy_the_facts() -> None:
    facts = (Fact(x - 1, ">"), Fact(2 - x, ">="), Fact(e - x, ">="), Fact(x + log(x) - e, ">="))
    points = Points(random.Random(1))
    found = list(points.draw(facts, {"x": "real", "e": "real"}, 10, 400))
    assert len(found) == 10
    assert all(1 < at["x"] <= min(2, at["e"]) for at in found)
    assert all(at["x"].denominator == 1 for at in points.draw(facts[:2], {"x": "integer"}, 3, 30))
    with pytest.raises(UndefinedFact):
        list(points.draw((Fact(log(x), ">="),), {"x": "real"}, 9, 99))


def test_worlds_have_the_guarantees_and_are_near_the_worst() -> None:
    at = {"e": Fraction(1), "d": Fraction(1, 10), "k": Fraction(3)}
    kept = {
        pure(e): one("PureDP", num(9) / 10 * e),
        given("ApproxDP", e, d): one("ApproxDP", e, d * 9 / 10),
        given("ZCDP", e): one("ZCDP", e * 8 / 10),
        given("GDP", e): one("GDP", e * 9 / 10),
        given("RenyiDP", num(2), e): one("RenyiDP", num(2), e * 9 / 10),
    }
    for stage, less in kept.items():
        world, tight = World(random.Random(4), at), 0
        for _ in range(20):
            atoms = world.pair(stage)
            assert atoms is not None
            assert sum(p for p, _ in atoms) == sum(q for _, q in atoms) == 1
            with mpmath.workdps(DIGITS):
                assert has(stage.guarantees[0], atoms, at, assumed=True)
                tight += not has(less, atoms, at)
        assert tight > 0, stage


# -- the command


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from sympy import symbols

    a, b = symbols("a b", nonnegative=True)
    file = tmp_path_factory.mktemp("audit") / "proof.json"
    dp.prove(dp.compose(dp.PureDP(a), dp.PureDP(b)), dp.PureDP(a + b)).save(file)
    return file


def test_the_command(certificate: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["audit", str(certificate)]) == 0
    said = capsys.readouterr().out
    assert said.startswith(f"OK  {certificate}  (")
    assert re.search(r"6 of 6 steps tried, at \d+ points and on \d+ distributions\n", said)
    assert main(["audit", "--seed", "3", "--points", "2", "--rules", *[str(certificate)] * 2]) == 0
    said = capsys.readouterr().out
    assert "2 of 2 without a fault" in said
    assert "never tried: approach, blended, boxes," in said


def test_what_the_kernel_refuses(
    certificate: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = certificate.read_text(encoding="utf-8")
    wrong = tmp_path / "wrong.json"
    wrong.write_text(text.replace("support", "evident"), encoding="utf-8")
    assert main(["audit", str(wrong), str(certificate)]) == 1
    said = capsys.readouterr().out
    assert said.startswith(f"REFUSED  {wrong}\n")
    assert "1 of 2 without a fault" in said
    assert main(["audit", str(tmp_path / "none.json")]) == 2
    assert main(["audit", "--points", "0", str(certificate)]) == 2
    with pytest.raises(Refusal):
        audit("{}")


def test_the_same_seed_tries_the_same(certificate: Path) -> None:
    text = certificate.read_text(encoding="utf-8")
    first, second = audit(text, 5), audit(text, 5)
    assert (first.points, first.worlds, first.tried) == (second.points, second.worlds, second.tried)
    coverage = Coverage()
    coverage.add(first)
    assert "support" not in coverage.never()
    assert "integral" in coverage.never()
