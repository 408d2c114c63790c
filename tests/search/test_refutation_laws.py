"""Witnesses against copies, groups and samples: found, and refused where they are none."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import pytest
from flint import fmpq
from sympy import Rational, exp, log, sqrt, symbols

import dpsym as dp
from dpsym.kernel.refusal import Refusal
from dpsym.refutations import Atom, refute

eps, delta = symbols("epsilon delta", nonnegative=True)
q, alpha = symbols("q alpha", positive=True)
k = symbols("k", integer=True)
amplified = log(1 + q * (exp(eps) - 1))


def found(subject, claim, where=()):
    verdict = dp.check(subject, claim, where, budget=20)
    assert isinstance(verdict, dp.Refuted), verdict
    return verdict.witness.refutation


def law(refutation, i):
    return [Fraction(int(atom.under[i].p), int(atom.under[i].q)) for atom in refutation.witness]


def test_a_group_is_a_chain_of_neighbours() -> None:
    shown = found(dp.group(dp.PureDP(1), 3), dp.PureDP(Rational(5, 2)))
    laws = [law(shown, i) for i in range(4)]
    e = Fraction(2718281828, 10**9)
    for first, second in pairwise(laws):
        assert sum(first) == sum(second) == 1
        assert all(max(a, b) <= e * min(a, b) for a, b in zip(first, second, strict=True))
    worst = max(max(a / b, b / a) for a, b in zip(laws[0], laws[3], strict=True))
    assert worst > Fraction(1218250, 10**5)  # e^(5/2)


def test_a_sample_is_a_mixture() -> None:
    step = dp.subsample(dp.ApproxDP(1, 0), Rational(1, 2), method="without_replacement")
    claim = dp.ApproxDP(Rational(3, 5), 0)  # log(1 + (e - 1)/2) is 0.6201
    shown = found(step, claim)
    r0, r1, r2 = (law(shown, i) for i in range(3))
    p = [(a + c) / 2 for a, c in zip(r0, r2, strict=True)]
    other = [(b + c) / 2 for b, c in zip(r1, r2, strict=True)]
    gap = Fraction(18221189, 10**7)  # above e^(3/5)
    both = max(
        sum(max(a - gap * b, 0) for a, b in pairs)
        for pairs in (list(zip(p, other, strict=True)), list(zip(other, p, strict=True)))
    )
    assert both > 0


def test_copies_are_stages() -> None:
    shown = found(dp.repeat(dp.PureDP(eps), k), dp.PureDP(sqrt(k) * eps), [k >= 3])
    assert shown.values["k"] >= 3
    assert len(shown.stages) == shown.values["k"]


@pytest.mark.parametrize(
    ("subject", "claim", "where"),
    [
        (dp.repeat(dp.PureDP(eps), k), dp.PureDP(k * eps), []),
        (dp.group(dp.PureDP(eps), k), dp.PureDP(k * eps), []),
        (dp.group(dp.ApproxDP(1, delta), 2), dp.ApproxDP(2, (1 + exp(1)) * delta), []),
        (dp.subsample(dp.PureDP(eps), q), dp.PureDP(amplified), []),
        (dp.subsample(dp.ApproxDP(eps, delta), q), dp.ApproxDP(amplified, q * delta), []),
    ],
)
def test_true_claims_have_no_witness(subject, claim, where) -> None:
    from dpsym.checking import read_claim, sign_of
    from dpsym.search.refutation import refute_statement

    statement = read_claim(subject, claim, where, sign_of).statement
    assert refute_statement(statement, 4.0) is None


def changed(atoms, at, **fields):
    return tuple(replace(atom, **fields) if i == at else atom for i, atom in enumerate(atoms))


def test_what_is_no_witness_is_refused() -> None:
    shown = found(dp.group(dp.PureDP(1), 2), dp.PureDP(Rational(3, 2)))
    statement, atoms = shown.statement, shown.witness
    assert refute(statement, shown.values, atoms).witness == atoms
    first = atoms[0]

    def refused(witness, what):
        with pytest.raises(Refusal, match=what):
            refute(statement, shown.values, witness)

    refused(changed(atoms, 0, under=()), "a probability each")
    refused(changed(atoms, 0, under=first.under[:2]), "a probability each")
    refused(changed(atoms, 0, p=first.p + fmpq(1, 100)), "sum to 1")
    more = (first.under[0], first.under[1] + fmpq(1, 100), first.under[2])
    refused(changed(atoms, 0, under=more), "sum to 1")
    # the middle distribution at one end: the other pair is too far apart
    ends = tuple(
        replace(atom, under=(atom.under[0], atom.under[0], atom.under[2])) for atom in atoms
    )
    refused(ends, "a stage's guarantee")
    middle = tuple(Atom(atom.under[0], atom.under[1], under=atom.under) for atom in atoms)
    refused(middle, "mixture")
    same = tuple(Atom(x.under[0], x.under[0], under=(x.under[0],) * 3) for x in atoms)
    refused(same, "a claim that fails")


def test_laws_belong_to_groups_and_samples() -> None:
    shown = found(dp.PureDP(1), dp.PureDP(Rational(1, 2)))
    extra = tuple(replace(atom, under=(atom.p, atom.q)) for atom in shown.witness)
    with pytest.raises(Refusal, match="one pair"):
        refute(shown.statement, shown.values, extra)
