"""Theorems of one's own: used by ``check`` for one mechanism, in compositions, repetitions, samples
and other theorems, and never for anything else."""

from __future__ import annotations

import pytest
from sympy import exp, log, symbols

import dpsym as dp
from dpsym.kernel.certificate import verify

x, y, z = symbols("x y z", nonnegative=True)
e, rho, q, delta = symbols("epsilon rho q delta", positive=True)
k = symbols("k", integer=True, positive=True)
BUDGET = 1.0


def of_pure(loss):
    """The divergence of order 2 of randomized response: Mironov (2017), Proposition 5."""
    return log(exp(loss) + exp(-loss) - 1)


def of_laplace(scale):
    """The divergence of order 2 of the Laplace mechanism: Mironov (2017), Proposition 6."""
    return log((2 * exp(1 / scale) + exp(-2 / scale)) / 3)


def laplace(scale):
    return dp.AdditiveNoise(dp.noise.Laplace(scale), 1)


@pytest.fixture
def added():
    """Adds theorems, and takes them away again."""
    found = []

    def add(subject, claim):
        found.append(dp.prove(subject, claim))
        return dp.add_theorem(found[-1])

    yield add
    for theorem in found:
        dp.remove_theorem(theorem)


USES = {
    "itself": (dp.PureDP(y), dp.RenyiDP(2, of_pure(y))),
    "weaker": (dp.PureDP(y), dp.RenyiDP(2, of_pure(y) + z)),
    "a number": (dp.PureDP(3), dp.RenyiDP(2, of_pure(3))),
    "many copies": (dp.repeat(dp.PureDP(y), k), dp.RenyiDP(2, k * of_pure(y))),
    "a composition": (
        dp.compose(dp.PureDP(y), dp.PureDP(z)),
        dp.RenyiDP(2, of_pure(y) + of_pure(z)),
    ),
    "beside others": (
        dp.compose(dp.RenyiDP(2, rho), dp.PureDP(z)),
        dp.RenyiDP(2, rho + of_pure(z)),
    ),
    "then a conversion": (
        dp.repeat(dp.PureDP(y), k),
        dp.ApproxDP(k * of_pure(y) + log(1 / delta), delta),
    ),
    "a group of one": (dp.group(dp.PureDP(y), 1), dp.RenyiDP(2, of_pure(y))),
}


@pytest.mark.parametrize("name", USES)
def test_it_is_used(name, added):
    subject, claim = USES[name]
    mine = added(dp.PureDP(x), dp.RenyiDP(2, of_pure(x)))
    verdict = dp.check(subject, claim, [delta < 1], budget=60)
    assert isinstance(verdict, dp.Proved), verdict
    assert '"use"' in verdict.certificate
    statements = [one.statement for one in _theorems(verify(verdict.certificate))]
    assert mine.proved.statement in statements


def _theorems(theorem):
    """The theorem and all that its proof uses."""
    left, found = [theorem], []
    while left:
        one = left.pop()
        found.append(one)
        proofs = [one.proof]
        while proofs:
            proof = proofs.pop()
            proofs += proof.premises if hasattr(proof, "premises") else ()
            if getattr(proof, "rule", "") == "use":
                left.append(proof.parameters["theorem"])
    return found


@pytest.mark.parametrize("name", ["many copies", "a composition"])
def test_without_it_the_claim_is_not_settled(name):
    """So that the tests above say something; the claims are true."""
    assert isinstance(dp.check(*USES[name], budget=BUDGET), dp.Unknown)


def test_the_route_says_that_it_was_added(added):
    added(dp.PureDP(x), dp.RenyiDP(2, of_pure(x)))
    (first, _) = dp.check(*USES["many copies"]).route
    assert (
        first
        == "k copies: each has RenyiDP(2, log(-1 + exp(y) + exp(-y))), by a theorem that was added"
    )


@pytest.mark.parametrize("scale", [1 / rho])
def test_one_about_an_explicit_mechanism_is_used_of_copies(added, scale):
    added(laplace(1 / e), dp.RenyiDP(2, of_laplace(1 / e)))
    claim = dp.RenyiDP(2, k * of_laplace(scale))
    assert isinstance(dp.check(dp.repeat(laplace(scale), k), claim), dp.Proved)


@pytest.mark.parametrize(
    "subject",
    [
        dp.PureDP(2 * y),  # more than it is about
        dp.PureDP(y, one_way=True),  # in one direction only
        dp.group(dp.PureDP(y), 2),
        dp.repeat(dp.PureDP(y), 2),
        dp.compose(dp.PureDP(y), dp.PureDP(y)),
    ],
    ids=str,
)
def test_it_is_not_used_of_what_it_is_not_about(added, subject):
    added(dp.PureDP(x), dp.RenyiDP(2, of_pure(x)))
    claim = dp.RenyiDP(2, of_pure(y))
    assert not isinstance(dp.check(subject, claim, [y > 0], budget=BUDGET), dp.Proved)


@pytest.mark.parametrize("what", [None, "a theorem", dp.PureDP(1)])
def test_what_is_no_theorem_is_refused(what):
    with pytest.raises(dp.InputError, match="theorem: expected"):
        dp.add_theorem(what)
    with pytest.raises(dp.InputError, match="theorem: expected"):
        dp.remove_theorem(what)
