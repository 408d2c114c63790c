"""Composition.

What a statement says of every mechanism is checked of guarantees; what it says of one pair, of that
pair.
"""

from __future__ import annotations

from sympy import Abs, Max, Min, Rational, binomial, exp, log, oo, sqrt, symbols, tanh

import dpsym as dp
from dpsym import noise
from tests.catalogue.entries import REFUTED, UNKNOWN, Answer, Section, below, check, equal
from tests.catalogue.section_a import Phi

B = Section("B")

eps, eps1, eps2, delta1, delta2 = symbols(
    "epsilon epsilon1 epsilon2 delta1 delta2", nonnegative=True
)
e, alpha, rho1, rho2, omega1, omega2 = symbols("e alpha rho1 rho2 omega1 omega2", positive=True)
delta, mu1, mu2, b = symbols("delta mu1 mu2 b", positive=True)
p1, q1, p2, q2 = symbols("p1 q1 p2 q2", positive=True)
real_eps, y, d1, d2 = symbols("epsilon y d1 d2", real=True)
x = symbols("x", nonnegative=True)
k = symbols("k", integer=True, positive=True)

SMALL = [delta < 1]
ORDERS = (alpha > 1, alpha < 1)
NO_SUM = "there is no language for a sum over an index"
NO_PROFILE = "there is no language for a profile, a guarantee at every epsilon"


def spent(total):
    """What k runs of epsilon-DP are, for every delta."""
    return check(dp.repeat(dp.PureDP(eps), k), dp.ApproxDP(total, delta), SMALL)


def gaussian_profile(mu, at):
    """The hockey-stick divergence of N(mu, 1) and N(0, 1)."""
    return Phi(mu / 2 - at / mu) - exp(at) * Phi(-mu / 2 - at / mu)


@B.entry()
def renyi_product() -> Answer:
    def total(*laws):
        """The sum of p^alpha q^(1 - alpha) for a product of binary laws."""
        masses = [(1, 1)]
        for p, q in laws:
            masses = [(a * c, b * d) for a, b in masses for c, d in ((p, q), (1 - p, 1 - q))]
        return sum(p**alpha * q ** (1 - alpha) for p, q in masses)

    one, two = (p1, q1), (p2, q2)
    yield from equal(total(one, two), total(one) * total(two), [p1 < 1, q1 < 1, p2 < 1, q2 < 1])
    for side in ORDERS:  # of the logarithms
        less = alpha - 1
        yield from equal(log(p1 * q1) / less, log(p1) / less + log(q1) / less, [side])


@B.entry()
def rdp_adaptive() -> Answer:
    two = [dp.RenyiDP(alpha, eps1), dp.RenyiDP(alpha, eps2)]
    for side in ORDERS:
        yield check(dp.compose(*two), dp.RenyiDP(alpha, eps1 + eps2), [side])
    two = [dp.RenyiDP(1, eps1), dp.RenyiDP(1, eps2)]
    yield check(dp.compose(*two), dp.RenyiDP(1, eps1 + eps2))
    two = [dp.RenyiDP(oo, eps1), dp.RenyiDP(oo, eps2)]
    yield check(dp.compose(*two), dp.RenyiDP(oo, eps1 + eps2))


@B.entry()
def tcdp_adaptive() -> Answer:
    two = [dp.TCDP(rho, omega) for rho, omega in ((rho1, omega1), (rho2, omega2))]
    where = [omega1 > 1, omega2 > 1]
    return check(dp.compose(*two), dp.TCDP(rho1 + rho2, Min(omega1, omega2)), where)


@B.entry()
def pure_basic() -> Answer:
    return check(dp.compose(dp.PureDP(eps1), dp.PureDP(eps2)), dp.PureDP(eps1 + eps2))


@B.entry()
def laplace_l1() -> Answer:
    two = [dp.AdditiveNoise(noise.Laplace(b), mu) for mu in (mu1, mu2)]
    yield check(dp.compose(*two), dp.PureDP((mu1 + mu2) / b))
    z = symbols("x", real=True)
    loss = (Abs(z - d1) - Abs(z) + Abs(y - d2) - Abs(y)) / b
    yield below(loss, (Abs(d1) + Abs(d2)) / b)


@B.entry()
def parallel_replace() -> Answer:
    # The replaced record leaves one cell and enters another: two mechanisms see a change.
    yield check(dp.compose(dp.PureDP(eps), dp.PureDP(eps)), dp.PureDP(2 * eps))


@B.entry(UNKNOWN, why=NO_PROFILE)
def hs_tower() -> Answer:
    r, s = symbols("r s", nonnegative=True)
    joint = Max(0, p1 * r - exp(real_eps) * q1 * s)
    yield from equal(joint, p1 * Max(0, r - exp(real_eps - log(p1 / q1)) * s))
    yield dp.Unknown("the divergence of a joint law", reason=NO_PROFILE)


@B.entry()
def approx_basic() -> Answer:
    two = dp.compose(dp.ApproxDP(eps1, delta1), dp.ApproxDP(eps2, delta2))
    yield check(two, dp.ApproxDP(eps1 + eps2, delta1 + delta2))
    yield check(two, dp.ApproxDP(eps1 + eps2, 1 - (1 - delta1) * (1 - delta2)))


@B.entry()
def br_zcdp_k() -> Answer:
    total = k * eps**2 / 8 + eps * sqrt(k * log(1 / delta) / 2)
    return check(dp.repeat(dp.BoundedRange(eps), k), dp.ApproxDP(total, delta), SMALL)


@B.entry()
def gdp_composition() -> Answer:
    mu = sqrt(mu1**2 + mu2**2)
    yield check(dp.compose(dp.GDP(mu1), dp.GDP(mu2)), dp.GDP(mu))
    yield check(dp.GDP(mu1), dp.ApproxDP(real_eps, gaussian_profile(mu1, real_eps)))


@B.entry(index="two and three copies")
def kov_optimal() -> Answer:
    for count in (2, 3):
        for i in range(count // 2 + 1):
            terms = [
                binomial(count, m) * (exp((count - m) * e) - exp((count - 2 * i + m) * e))
                for m in range(i)
            ]
            claim = dp.ApproxDP((count - 2 * i) * e, sum(terms) / (1 + exp(e)) ** count)
            yield check(dp.repeat(dp.PureDP(e), count), claim)


@B.entry()
def filter_pure() -> Answer:
    return check(dp.filtered(dp.PureDP(x), x, eps), dp.PureDP(eps))


@B.entry(index="two and three guarantees", slow=True)
def kov_hetero() -> Answer:
    losses = symbols("epsilon1:4", nonnegative=True)
    for count in (2, 3):
        some = losses[:count]
        mean = sum(loss * tanh(loss / 2) for loss in some)
        total = mean + sqrt(2 * log(1 / delta) * sum(loss**2 for loss in some))
        yield check(dp.compose(*map(dp.PureDP, some)), dp.ApproxDP(total, delta), SMALL)


@B.entry(UNKNOWN, why=NO_PROFILE)
def adaptive_dominating() -> Answer:
    return dp.Unknown("dominating pairs", reason=NO_PROFILE)


@B.entry()
def drv_advanced() -> Answer:
    return spent(eps * sqrt(2 * k * log(1 / delta)) + k * eps * (exp(eps) - 1))


@B.entry()
def advanced_2sqrt() -> Answer:
    total = 2 * eps * sqrt(2 * k * log(1 / delta))
    where = [delta <= exp(-Rational(1, 8)), total <= 1]
    return check(dp.repeat(dp.PureDP(eps), k), dp.ApproxDP(total, delta), where)


@B.entry()
def filter_rdp() -> Answer:
    return check(dp.filtered(dp.RenyiDP(alpha, x), x, eps), dp.RenyiDP(alpha, eps), [alpha > 1])


@B.entry(UNKNOWN, why="the best of many pairs; a paper's proof, of several pages")
def br_optimal() -> Answer:
    return dp.Unknown("optimal composition of bounded range", reason=NO_SUM)


# Neighbours that are false


@B.entry(REFUTED)
def false_rdp_adaptive_larger_order() -> Answer:
    two = [dp.RenyiDP(alpha, eps1), dp.RenyiDP(alpha, eps2)]
    return check(dp.compose(*two), dp.RenyiDP(alpha + 1, eps1 + eps2), [alpha > 1])


@B.entry(REFUTED)
def false_pure_basic_root_of_squares() -> Answer:
    two = [dp.PureDP(eps1), dp.PureDP(eps2)]
    return check(dp.compose(*two), dp.PureDP(sqrt(eps1**2 + eps2**2)))


@B.entry(REFUTED)
def false_approx_basic_twice_the_product() -> Answer:
    two = dp.compose(dp.ApproxDP(eps1, delta1), dp.ApproxDP(eps2, delta2))
    return check(two, dp.ApproxDP(eps1 + eps2, delta1 + delta2 - 2 * delta1 * delta2))


@B.entry(REFUTED)
def false_advanced_without_second_term() -> Answer:
    return spent(sqrt(k) * eps)


@B.entry(REFUTED)
def false_kov_optimal_smaller() -> Answer:
    claim = dp.ApproxDP(0, Rational(99, 100) * (exp(2 * e) - 1) / (1 + exp(e)) ** 2)
    return check(dp.repeat(dp.PureDP(e), 2), claim)


@B.entry(REFUTED)
def false_br_adds_up() -> Answer:
    two = dp.compose(dp.BoundedRange(eps1), dp.BoundedRange(eps2))
    return check(two, dp.BoundedRange(eps1 + eps2))
