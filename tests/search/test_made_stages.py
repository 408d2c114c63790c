"""Claims about repetitions, groups and samples: textbook ones are proved, false neighbours get
witnesses, which are recomputed here by the definitions and by their scripts."""

from __future__ import annotations

import subprocess
import sys
from fractions import Fraction

import pytest
import sympy as sp
from sympy import Rational, exp, log, sqrt

import dpsym as dp
from dpsym.kernel.certificate import verify
from dpsym.kernel.statements import Blend, Group, Repeated, Statement
from dpsym.refutations import Atom
from tests.soundness.hostile_privacy import World, false_statement
from tests.soundness.made import Atoms, Copies, Made, Rows
from tests.soundness.values import value

e, f, d, alpha, rho = sp.symbols("epsilon epsilon2 delta alpha rho", positive=True)
k = sp.Symbol("k", integer=True)
n = sp.Symbol("n", integer=True, positive=True)
q = sp.Symbol("q", real=True)
LAPLACE = dp.AdditiveNoise(dp.noise.Laplace(1 / e), 1)
GAUSSIAN = dp.AdditiveNoise(dp.noise.Gaussian(sigma=1 / e), 1)
SAMPLED = log(1 + q * (exp(e) - 1))
METHODS = ("poisson", "without_replacement")
BELOW_ONE = [d < 1]
BUDGET = 30.0


def advanced(count: object) -> dp.ApproxDP:
    """What Dwork, Rothblum and Vadhan's bound is for zCDP of epsilon^2/2 (Bun and Steinke 2016)."""
    return dp.ApproxDP(count * e**2 / 2 + e * sqrt(2 * count * log(1 / d)), d)


PROVED = {
    "pure": (dp.repeat(dp.PureDP(e), k), dp.PureDP(k * e), []),
    "renyi": (dp.repeat(dp.RenyiDP(alpha, e), k), dp.RenyiDP(alpha, k * e), [alpha > 1]),
    "renyi at 1": (dp.repeat(dp.RenyiDP(1, e), k), dp.RenyiDP(1, k * e), []),
    "renyi below 1": (
        dp.repeat(dp.RenyiDP(Rational(1, 2), e), k),
        dp.RenyiDP(Rational(1, 2), k * e),
        [],
    ),
    "zcdp": (dp.repeat(dp.ZCDP(rho), k), dp.ZCDP(k * rho), []),
    "approx": (dp.repeat(dp.ApproxDP(e, d), k), dp.ApproxDP(k * e, k * d), BELOW_ONE),
    "approx, sharp": (
        dp.repeat(dp.ApproxDP(e, d), k),
        dp.ApproxDP(k * e, 1 - (1 - d) ** k),
        BELOW_ONE,
    ),
    "more than needed": (dp.repeat(dp.PureDP(e), k), dp.PureDP(k * e + 1), []),
    "a number": (dp.repeat(dp.PureDP(e), 7), dp.PureDP(7 * e), []),
    "one": (dp.repeat(dp.PureDP(e), 1), dp.PureDP(e), []),
    "one, weaker": (dp.repeat(dp.PureDP(e), 1), dp.ApproxDP(2 * e, d), BELOW_ONE),
    "nothing": (dp.repeat(dp.PureDP(0), k), dp.PureDP(0), []),
    "advanced": (dp.repeat(dp.PureDP(e), k), advanced(k), BELOW_ONE),
    "advanced, 1000 copies": (dp.repeat(dp.PureDP(e), 1000), advanced(1000), BELOW_ONE),
    "Laplace": (dp.repeat(LAPLACE, k), dp.PureDP(k * e), []),
    "Gaussian": (dp.repeat(GAUSSIAN, k), dp.ZCDP(k * e**2 / 2), []),
    "group, pure": (dp.group(dp.PureDP(e), k), dp.PureDP(k * e), []),
    "group of one": (dp.group(dp.PureDP(e), 1), dp.PureDP(e), []),
    "group of three": (dp.group(dp.PureDP(e), 3), dp.PureDP(3 * e), []),
    "group, approx": (  # Vadhan (2017), Lemma 2.2, sharpened
        dp.group(dp.ApproxDP(e, d), k),
        dp.ApproxDP(k * e, d * (exp(k * e) - 1) / (exp(e) - 1)),
        [],
    ),
    "group, zcdp": (dp.group(dp.ZCDP(rho), k), dp.ZCDP(k**2 * rho), []),
    "group, Laplace": (dp.group(LAPLACE, k), dp.PureDP(k * e), []),
    **{
        f"{method}, {name}": (dp.subsample(one, rate, method), claim, [])
        for method in METHODS
        for name, one, rate, claim in (
            ("pure", dp.PureDP(e), q, dp.PureDP(SAMPLED)),
            ("approx", dp.ApproxDP(e, d), q, dp.ApproxDP(SAMPLED, q * d)),
            ("no sampling", dp.PureDP(e), q, dp.PureDP(e)),
            ("a quotient", dp.PureDP(e), 1 / n, dp.PureDP(log(1 + (exp(e) - 1) / n))),
            ("everything", dp.PureDP(e), 1, dp.PureDP(e)),
            ("nothing", dp.PureDP(e), 0, dp.PureDP(0)),
            (
                "a number",
                dp.ApproxDP(e, d),
                Rational(1, 10),
                dp.ApproxDP(log(1 + (exp(e) - 1) / 10), d / 10),
            ),
        )
    },
    "poisson, Laplace": (dp.subsample(LAPLACE, q), dp.PureDP(SAMPLED), []),
    "poisson, everything": (
        dp.subsample(GAUSSIAN, 1),
        dp.RenyiDP(alpha, alpha * e**2 / 2),
        [alpha > 1],
    ),
    "poisson, rates that end at 1": (dp.subsample(LAPLACE, q), dp.PureDP(e), [q >= 1]),
    "poisson, steps at any rate": (
        dp.repeat(dp.subsample(GAUSSIAN, q), k),
        dp.RenyiDP(2, k * log(1 + q**2 * (exp(e**2) - 1))),
        [],
    ),
}


@pytest.mark.parametrize("name", PROVED)
def test_proved(name):
    subject, claim, where = PROVED[name]
    verdict = dp.check(subject, claim, where, budget=BUDGET)
    assert isinstance(verdict, dp.Proved), verdict
    again = verify(verdict.certificate)
    assert again.statement == verify(verdict.certificate).statement
    assert verdict.explain()


REFUTED = {
    "pure": (dp.repeat(dp.PureDP(e), k), dp.PureDP(k * e / 2), []),
    "pure, sqrt": (dp.repeat(dp.PureDP(e), k), dp.PureDP(sqrt(k) * e), []),
    "pure, a number": (dp.repeat(dp.PureDP(e), 3), dp.PureDP(Rational(29, 10) * e), []),
    "renyi": (dp.repeat(dp.RenyiDP(2, e), k), dp.RenyiDP(2, (k - Rational(1, 10)) * e), []),
    "zcdp": (dp.repeat(dp.ZCDP(rho), k), dp.ZCDP((k - Rational(1, 10)) * rho), []),
    "approx": (dp.repeat(dp.ApproxDP(e, d), k), dp.ApproxDP(k * e, d), BELOW_ONE),
    "approx is not pure": (dp.repeat(dp.ApproxDP(e, d), k), dp.PureDP(k * e), BELOW_ONE),
    "without the second term": (
        dp.repeat(dp.PureDP(e), k),
        dp.ApproxDP(e * sqrt(2 * k * log(1 / d)), d),
        BELOW_ONE,
    ),
    "sqrt k": (dp.repeat(dp.PureDP(e), k), dp.ApproxDP(sqrt(k) * e, d), BELOW_ONE),
    "group, pure": (dp.group(dp.PureDP(e), k), dp.PureDP((k - Rational(1, 2)) * e), []),
    "group, approx": (dp.group(dp.ApproxDP(e, d), k), dp.ApproxDP(k * e, k * d), []),
    "group of two, approx": (dp.group(dp.ApproxDP(e, d), 2), dp.ApproxDP(2 * e, 2 * d), []),
    "group, zcdp": (dp.group(dp.ZCDP(rho), k), dp.ZCDP(k * rho), []),
    **{
        f"{method}, {name}": (dp.subsample(one, q, method), claim, [])
        for method in METHODS
        for name, one, claim in (
            ("pure", dp.PureDP(e), dp.PureDP(q * e)),
            ("approx", dp.ApproxDP(e, d), dp.ApproxDP(SAMPLED, q * d * Rational(9, 10))),
            ("both", dp.ApproxDP(e, d), dp.ApproxDP(q * e, q * d)),
            ("approx is not pure", dp.ApproxDP(e, d), dp.PureDP(e)),
            ("at rate 1", dp.PureDP(e), dp.PureDP(sp.Piecewise((SAMPLED, q < 1), (e / 2, True)))),
            ("at rate 0", dp.PureDP(e), dp.PureDP(sp.Piecewise((SAMPLED, q > 0), (-1, True)))),
        )
    },
}


@pytest.mark.parametrize(
    "claim", [dp.PureDP(e - log(q)), dp.PureDP(e / q), dp.ApproxDP(e, q / (1 - q))]
)
def test_what_is_undefined_at_an_end_of_the_rates_is_an_error(claim):
    with pytest.raises(dp.InputError, match=r"undefined at .*q = [01]"):
        dp.check(dp.subsample(dp.PureDP(e), q), claim, budget=3)


def exact(mass) -> Fraction:
    return Fraction(int(mass.p), int(mass.q))


def in_turn(witness: tuple[Atom, ...]) -> tuple[Atoms, ...]:
    """The pairs of a witness that does not look at earlier outcomes."""
    found = []
    while witness:
        assert all(atom.then == witness[0].then for atom in witness)
        found.append(tuple((exact(atom.p), exact(atom.q)) for atom in witness))
        witness = witness[0].then
    return tuple(found)


def world_of(statement: Statement, values, witness: tuple[Atom, ...]) -> World:
    point = {name: exact(number) for name, number in values.items()}
    (stage,) = statement.stages
    made: Made
    if isinstance(stage, Repeated):
        made = Copies(in_turn(witness))
    else:
        rows = tuple(
            tuple(map(exact, row)) for row in zip(*(a.under for a in witness), strict=True)
        )
        if isinstance(stage, Group):
            ends = [tuple(Fraction(i == j) for i in range(len(rows))) for j in (0, len(rows) - 1)]
        else:
            assert isinstance(stage, Blend)
            ends = [tuple(value(w, point) for w in side) for side in (stage.p, stage.q)]
        made = Rows(((Fraction(1), rows),), *ends)
    return World(point, (made.pair(),), (), made)


@pytest.mark.parametrize("name", REFUTED)
def test_refuted(name):
    subject, claim, where = REFUTED[name]
    verdict = dp.check(subject, claim, where, budget=BUDGET)
    assert isinstance(verdict, dp.Refuted), verdict
    assert str(verdict)
    found = verdict.witness.refutation
    assert isinstance(found.witness, tuple)
    world = world_of(found.statement, found.values, found.witness)
    assert false_statement(found.statement, world)


SCRIPTS = ("pure", "zcdp", "without the second term", "group, approx", "poisson, pure",
           "without_replacement, approx")  # fmt: skip


@pytest.mark.parametrize("name", SCRIPTS)
def test_the_script_reproduces_the_violation_alone(name):
    """In a process of its own, without dpsym."""
    subject, claim, where = REFUTED[name]
    verdict = dp.check(subject, claim, where, budget=BUDGET)
    text = verdict.witness.script()
    assert "dpsym" not in text.replace("# ", "").split("import ")[-1]
    done = subprocess.run(
        [sys.executable, "-I", "-c", text], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.strip().endswith("True")
    assert not done.stderr


NOTIONS = {
    "pure": (dp.PureDP(e), lambda n: dp.PureDP(n * e), []),
    "renyi": (dp.RenyiDP(3, e), lambda n: dp.RenyiDP(3, n * e), []),
    "below one": (dp.RenyiDP(Rational(1, 2), e), lambda n: dp.RenyiDP(Rational(1, 2), n * e), []),
    "kl": (dp.RenyiDP(1, e), lambda n: dp.RenyiDP(1, n * e), []),
    "zcdp": (dp.ZCDP(rho), lambda n: dp.ZCDP(n * rho), []),
    "approx": (dp.ApproxDP(e, d), lambda n: dp.ApproxDP(n * e, n * d), BELOW_ONE),
    "Laplace": (LAPLACE, lambda n: dp.PureDP(n * e), []),
    "Gaussian": (GAUSSIAN, lambda n: dp.ZCDP(n * e**2 / 2), []),
    "randomized response": (dp.RandomizedResponse(e), lambda n: dp.PureDP(n * e), []),
}


@pytest.mark.parametrize("name", NOTIONS)
@pytest.mark.parametrize("part", [1, Rational(9, 10)], ids=["all", "less"])
def test_a_repetition_is_the_composition_of_its_copies(name, part):
    """The same verdict for what they have, and for a little less."""
    one, total, where = NOTIONS[name]
    claim = total(3 * part)
    whole = dp.check(dp.repeat(one, 3), claim, where, budget=BUDGET)
    copies = dp.check(dp.compose(one, one, one), claim, where, budget=BUDGET)
    assert type(whole) is type(copies)
    assert isinstance(whole, dp.Proved if part == 1 else dp.Refuted)


def test_a_witness_on_the_way_to_a_proof():
    """Advanced composition without its mean: a proof is looked for in vain for much longer."""
    small = sp.Symbol("epsilon", nonnegative=True)
    claim = dp.ApproxDP(small * sqrt(2 * k * log(1 / d)), d)
    found = dp.check(dp.repeat(dp.PureDP(small), k), claim, where=BELOW_ONE)
    assert isinstance(found, dp.Refuted)
    assert found.seconds < 8
