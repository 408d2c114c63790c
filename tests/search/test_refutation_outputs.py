"""False pure-DP claims about explicit mechanisms get outputs, recomputed here with mpmath."""

from __future__ import annotations

import subprocess
import sys
from fractions import Fraction

import pytest
from flint import fmpq
from mpmath import mp, mpf

from dpsym.kernel.statements import Fact, Guarantee, Mechanism, Pair, Region, Statement
from dpsym.kernel.terms import ONE, ZERO, Term, absolute, exp, log, maximum, num, power, term, var
from dpsym.refutations import Output, Refutation
from dpsym.search.refutation import describe, refute_statement
from tests.search.witnesses import BUDGET, refuted, values

b, reach, t, x, epsilon, k = map(var, ("b", "Delta", "t", "x", "epsilon", "k"))
SCALES = ((("b", "real"), ("Delta", "real")), (Fact(b, ">"), Fact(reach, ">")))


def pure(stage: Mechanism, claim: Term | fmpq | int, domain=((), ())) -> Statement:
    return Statement(*domain, (stage,), (Guarantee("PureDP", (term(claim),)),))


def noise(density, sensitivity: Term | int) -> Mechanism:
    facts = (Fact(sensitivity - t, ">="), Fact(sensitivity + t, ">="))
    region = Region(density(x), density(x - t), "x")
    return Mechanism((Pair((region,), (("t", "real"),), facts),))


def laplace(y: Term) -> Term:
    return exp(-absolute(y) / b) / (2 * b)


def bump(u: Term) -> Term:
    return maximum(0, 1 - 2 * absolute(u))


def bumps(y: Term) -> Term:
    half = fmpq(1, 2)
    near = 2 * bump(y - half) + 2 * bump(y + half)
    return exp(-absolute(y) / 10 - near - bump(y - 3 * half) - bump(y + 3 * half))


def response(claim: Term) -> Statement:
    """k-ary randomised response, the values 0 and 1 being the true ones."""
    total = exp(epsilon) + k - 1
    kept, other = exp(epsilon) / total, 1 / total
    regions = (Region(other, other, weight=k - 2), Region(kept, other), Region(other, kept))
    domain = (("epsilon", "real"), ("k", "integer")), (Fact(epsilon, ">="), Fact(k - 2, ">="))
    return pure(Mechanism((Pair(regions),)), claim, domain)


def output(found: Refutation) -> Output:
    assert isinstance(found.witness, Output)
    return found.witness


def middle(found: Refutation) -> mpf:
    at = output(found).at
    assert at is not None
    return (mpf(int(at[0].p)) / int(at[0].q) + mpf(int(at[1].p)) / int(at[1].q)) / 2


@pytest.mark.parametrize("share", [fmpq(1, 2), fmpq(99, 100), fmpq(9999, 10000)])
def test_laplace(share: fmpq) -> None:
    found = refuted(pure(noise(laplace, reach), reach / b * share, SCALES))
    v = values(found)
    shift = mpf(int(output(found).values["t"].p)) / int(output(found).values["t"].q)
    assert abs(shift) <= v["Delta"]
    y = middle(found)
    loss = (abs(y - shift) - abs(y)) / v["b"]
    assert abs(loss) > v["Delta"] / v["b"] * int(share.p) / int(share.q)


def bump_loss(y: Fraction, shift: Fraction) -> Fraction:
    def potential(z: Fraction) -> Fraction:
        def tent(u: Fraction) -> Fraction:
            return max(Fraction(0), 1 - 2 * abs(u))

        half = Fraction(1, 2)
        near = 2 * tent(z - half) + 2 * tent(z + half)
        return abs(z) / 10 + near + tent(z - 3 * half) + tent(z + 3 * half)

    return abs(potential(y - shift) - potential(y))


@pytest.mark.parametrize("claimed", [fmpq(1), fmpq(2), fmpq(204, 100)])
def test_a_smaller_shift_is_worse(claimed: fmpq) -> None:
    found = refuted(pure(noise(bumps, 1), claimed))
    shift, at = output(found).values["t"], output(found).at
    assert at is not None
    assert abs(shift) < 1
    assert "t = " in describe(found)
    y = (at[0] + at[1]) / 2
    loss = bump_loss(Fraction(int(y.p), int(y.q)), Fraction(int(shift.p), int(shift.q)))
    assert loss > Fraction(int(claimed.p), int(claimed.q))
    at_one = (bump_loss(Fraction(i, 100), Fraction(1)) for i in range(-400, 400))
    assert max(at_one) == Fraction(9, 10)


def test_randomised_response() -> None:
    found = refuted(response(epsilon * fmpq(99, 100)))
    assert output(found).region in (1, 2)
    assert values(found)["k"] >= 2


def test_a_table_names_the_rows_and_the_column() -> None:
    rows = [[(1, 2), (1, 4), (1, 4)], [(1, 4), (1, 2), (1, 4)], [(1, 5), (3, 10), (1, 2)]]
    pairs = tuple(
        Pair(
            tuple(
                Region(num(fmpq(*p)), num(fmpq(*q))) for p, q in zip(rows[i], rows[j], strict=True)
            ),
            label=f"rows {i} and {j}",
        )
        for i in range(3)
        for j in range(i)
    )
    found = refuted(pure(Mechanism(pairs), log(num(2))))
    assert "rows 2 and 0" in describe(found)
    assert "outcome 1" in describe(found)
    assert refute_statement(pure(Mechanism(pairs), log(num(fmpq(5, 2)))), 1.0) is None


def test_unbounded_loss() -> None:
    regions = (
        Region(ONE, ZERO, "x", (Fact(x, ">="), Fact(fmpq(1, 2) - x, ">"))),
        Region(ONE, ONE, "x", (Fact(x - fmpq(1, 2), ">="), Fact(1 - x, ">"))),
        Region(ZERO, ONE, "x", (Fact(x - 1, ">="), Fact(fmpq(3, 2) - x, ">"))),
    )
    domain = (("epsilon", "real"),), (Fact(epsilon, ">="),)
    found = refuted(pure(Mechanism((Pair(regions),)), epsilon, domain))
    assert "infinite" in describe(found)


def test_gaussian_noise_is_not_pure() -> None:
    def gauss(y: Term) -> Term:
        return exp(-power(y, 2) / (2 * power(b, 2)))

    found = refuted(pure(noise(gauss, reach), 10 * reach / b, SCALES))
    assert abs(middle(found)) > 1


@pytest.mark.parametrize(
    "true",
    [
        pure(noise(laplace, reach), reach / b, SCALES),
        pure(noise(bumps, 1), fmpq(206, 100)),
        response(epsilon),
    ],
    ids=["laplace", "bumps", "response"],
)
def test_true_claims_stand(true: Statement) -> None:
    assert refute_statement(true, 0.5) is None


def test_nothing_heavy_is_loaded_before_it_is_needed() -> None:
    program = "import sys, dpsym.search.refutation; print('numpy' in sys.modules, BUDGET)"
    program = program.replace(", BUDGET", ", 'highspy' in sys.modules")
    out = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert out.stdout.split() == ["False", "False"]
    assert BUDGET > 1
    assert mp.dps >= 40
