"""Groups, post-processing and subsampling."""

from __future__ import annotations

from sympy import Max, Rational, binomial, exp, log, oo, sqrt, symbols

import dpsym as dp
from dpsym import noise
from tests.catalogue.entries import REFUTED, UNKNOWN, Answer, Section, below, check, equal
from tests.catalogue.section_b import NO_SUM, gaussian_profile

D = Section("D")

eps, delta, rho, loss1, loss2 = symbols("epsilon delta rho epsilon1 epsilon2", nonnegative=True)
alpha, sigma, q, mu = symbols("alpha sigma q mu", positive=True)
a, b, c, x, y = symbols("a b c x y", nonnegative=True)
real_eps = symbols("epsilon", real=True)
k = symbols("k", integer=True, positive=True)

RATE = [q < 1]
ORDERS = (alpha > 1, alpha < 1)
AMPLIFIED = log(1 + q * (exp(eps) - 1))


def subsampled(rate, by=1):
    """A step of the Poisson-subsampled Gaussian, and the same without the record."""
    base = noise.Gaussian(sigma=sigma)
    step = noise.Mixture([1 - rate, rate], [base, noise.Shifted(base, by)])
    return dp.DensityPair(step, base)


@D.entry()
def group_pure() -> Answer:
    return check(dp.group(dp.PureDP(eps), k), dp.PureDP(k * eps))


@D.entry()
def postprocessing() -> Answer:
    yield check(dp.postprocess(dp.ApproxDP(eps, delta)), dp.ApproxDP(eps, delta))
    for side in ORDERS:
        known = dp.RenyiDP(alpha, eps)
        yield check(dp.postprocess(known), known, [side])
    for known in (dp.RenyiDP(1, eps), dp.RenyiDP(oo, eps)):
        yield check(dp.postprocess(known), known)


@D.entry()
def sub_lower() -> Answer:
    return below(q * eps, AMPLIFIED, [q <= 1])


@D.entry()
def sub_small_eps() -> Answer:
    where = [*RATE, eps <= 1]
    yield check(dp.subsample(dp.PureDP(eps), q), dp.PureDP(2 * q * eps), where)
    yield check(dp.subsample(dp.PureDP(eps), q), dp.PureDP(q * (exp(eps) - 1)), where)


@D.entry()
def renyi_weak_triangle() -> Answer:
    both = dp.both(dp.RenyiDP(2 * alpha, loss1), dp.RenyiDP(2 * alpha - 1, loss2))
    bound = (alpha - Rational(1, 2)) / (alpha - 1) * loss1 + loss2
    return check(dp.group(both, 2), dp.RenyiDP(alpha, bound), [alpha > 1])


@D.entry()
def sub_approx() -> Answer:
    step = dp.subsample(dp.ApproxDP(eps, delta), q)
    return check(step, dp.ApproxDP(AMPLIFIED, q * delta), RATE)


@D.entry()
def sub_add_identity() -> Answer:
    # x is the ratio of the densities of P and Q.
    left = 1 - exp(eps) * (1 - q)
    mixed = Max(0, 1 - exp(eps) * (1 - q + q * x))
    yield from equal(mixed, left * Max(0, 1 - exp(log(q * exp(eps) / left)) * x), [*RATE, left > 0])
    yield below(mixed, 0, [*RATE, left <= 0])


def whole_order(order):
    """The sum for the Rényi divergence of the sampled Gaussian mechanism."""
    return sum(
        binomial(order, j) * (1 - q) ** (order - j) * q**j * exp(j * (j - 1) / (2 * sigma**2))
        for j in map(Rational, range(order + 1))
    )


@D.entry(index="the orders 2 to 4")
def mtz_integer() -> Answer:
    pair = subsampled(q)
    for order in (2, 3, 4):
        terms = [whole_order(order)]
        claim = dp.RenyiDP(order, log(sum(terms)) / (order - 1), one_way=True)
        yield check(pair, claim, RATE)
        less = order - 1

        def moment(loss, less=less):
            return -exp(less * loss)

        yield check(pair, dp.MomentBound(moment, -sum(terms), at_infinity=0, one_way=True), RATE)


@D.entry()
def group_gdp() -> Answer:
    yield check(dp.group(dp.GDP(mu), k), dp.GDP(k * mu))
    yield check(dp.group(dp.GDP(mu), k), dp.ApproxDP(eps, gaussian_profile(k * mu, eps)))


@D.entry()
def adv_joint_convexity() -> Answer:
    amplified = log(1 + q * (exp(eps) - 1))
    weight = exp(amplified - eps)
    left = Max(0, (1 - q) * a + q * b - exp(amplified) * ((1 - q) * a + q * c))
    return equal(left, q * Max(0, b - exp(eps) * ((1 - weight) * a + weight * c)), [q <= 1])


@D.entry()
def sub_hoeffding() -> Answer:
    bound = q * real_eps + real_eps**2 / 8
    return below(log(1 + q * (exp(real_eps) - 1)), bound, [q <= 1])


@D.entry()
def sub_remove_identity() -> Answer:
    e0 = log(1 + (exp(eps) - 1) / q)
    step = dp.subsample(dp.ApproxDP(e0, delta, one_way=True), q)
    yield check(step, dp.ApproxDP(eps, q * delta, one_way=True), RATE)
    mixed = Max(0, 1 - q + q * x - exp(eps))
    yield from equal(mixed, q * Max(0, x - exp(e0)), [q <= 1])


@D.entry()
def subgauss_hs() -> Answer:
    e0 = log(1 + (exp(eps) - 1) / q)
    bound = q * gaussian_profile(1 / sigma, e0)
    step = dp.subsample(dp.AdditiveNoise(noise.Gaussian(sigma=sigma), 1), q)
    yield check(step, dp.ApproxDP(eps, bound), RATE, budget=60)
    # Where the record is removed it is attained, by the identity of the positive parts.
    mixed = Max(0, 1 - q + q * x - exp(eps))
    yield from equal(mixed, q * Max(0, x - exp(e0)), [q <= 1])


@D.entry(index="1 to 3 draws")
def sub_wr_profile() -> Answer:
    n = symbols("n", integer=True, positive=True)
    rest = 1 - 1 / n
    for draws in (1, 2, 3):
        deltas = symbols(f"delta1:{draws + 1}", nonnegative=True)
        known = [dp.ApproxDP(eps, own) for own in deltas]
        step = dp.subsample(known, 1 / n, method="with_replacement", draws=draws)
        bound = sum(
            binomial(draws, j) * n**-j * rest ** (draws - j) * own
            for j, own in zip(map(Rational, range(1, draws + 1)), deltas, strict=True)
        )
        loss = log(1 + (1 - rest**draws) * (exp(eps) - 1))
        yield check(step, dp.ApproxDP(loss, bound), budget=60)


@D.entry(index="the sizes 2, 4 and 8")
def group_rdp() -> Answer:
    for c in (1, 2, 3):
        claim = dp.RenyiDP(alpha / 2**c, 3**c * eps)
        yield check(dp.group(dp.RenyiDP(alpha, eps), 2**c), claim, [alpha >= 2 ** (c + 1)])


@D.entry()
def sub_wor_approx() -> Answer:
    step = dp.subsample(dp.ApproxDP(eps, delta), q, method="without_replacement")
    return check(step, dp.ApproxDP(AMPLIFIED, q * delta), RATE)


@D.entry(slow=True)
def group_zcdp() -> Answer:
    return check(dp.group(dp.ZCDP(rho), k), dp.ZCDP(k**2 * rho))


@D.entry(index="the orders 2 and 3")
def zhu_wang_general() -> Answer:
    losses = symbols("epsilon2:4", nonnegative=True)
    known = dp.both(*(dp.RenyiDP(order, losses[order - 2]) for order in (2, 3)))
    for order in (2, 3):
        terms = [(1 - q) ** (order - 1) * (order * q - q + 1)]
        terms += [
            (1 if j == 2 else 3)
            * binomial(order, j)
            * (1 - q) ** (order - j)
            * q**j
            * exp((j - 1) * losses[j - 2])
            for j in range(2, order + 1)
        ]
        claim = dp.RenyiDP(order, log(sum(terms)) / (order - 1))
        yield check(dp.subsample(known, q), claim, RATE)


@D.entry(index="the orders 2 to 6")
def mtz_direction() -> Answer:
    step = dp.subsample(dp.AdditiveNoise(noise.Gaussian(sigma=sigma), 1), q)
    for order in range(2, 7):  # what the other direction attains
        yield check(step, dp.RenyiDP(order, log(whole_order(order)) / (order - 1)), RATE)


@D.entry(UNKNOWN, why="there is no language for a sum over an index")
def mtz_closed() -> Answer:
    return dp.Unknown("the closed form of all integer orders", reason=NO_SUM)


# Neighbours that are false


@D.entry(REFUTED)
def false_group_pure_root() -> Answer:
    return check(dp.group(dp.PureDP(eps), k), dp.PureDP(sqrt(k) * eps))


@D.entry(REFUTED)
def false_group_zcdp_linear() -> Answer:
    return check(dp.group(dp.ZCDP(rho), 2), dp.ZCDP(3 * rho))


@D.entry(REFUTED)
def false_sub_approx_linear() -> Answer:
    step = dp.subsample(dp.ApproxDP(eps, delta), q)
    return check(step, dp.ApproxDP(q * eps, q * delta), RATE)


@D.entry(REFUTED)
def false_sub_small_eps_too_large() -> Answer:
    where = [*RATE, eps <= 2]
    return check(dp.subsample(dp.PureDP(eps), q), dp.PureDP(2 * q * eps), where)


@D.entry(REFUTED)
def false_group_rdp_twice() -> Answer:
    claim = dp.RenyiDP(alpha / 2, 2 * eps)
    return check(dp.group(dp.RenyiDP(alpha, eps), 2), claim, [alpha >= 4])


@D.entry(REFUTED)
def false_sub_wor_same_delta_smaller_eps() -> Answer:
    step = dp.subsample(dp.ApproxDP(eps, delta), q, method="without_replacement")
    return check(step, dp.ApproxDP(AMPLIFIED, q * delta / 2), RATE)


@D.entry(REFUTED)
def false_postprocessing_probabilistic() -> Answer:
    known = dp.ProbabilisticDP(eps, delta)
    return check(dp.postprocess(known), known)
