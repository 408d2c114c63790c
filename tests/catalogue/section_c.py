"""Conversions."""

from __future__ import annotations

from sympy import Min, Piecewise, Rational, cosh, erfc, exp, log, oo, pi, sinh, sqrt, symbols, tanh

import dpsym as dp
from dpsym import noise
from tests.catalogue.entries import (
    REFUTED,
    UNKNOWN,
    Answer,
    Section,
    below,
    check,
    equal,
    is_formula,
)
from tests.catalogue.section_b import gaussian_profile

C = Section("C")

eps, D, delta0, w = symbols("epsilon D delta w", nonnegative=True)
e, mu, alpha, beta, rho, delta, t, omega = symbols(
    "e mu alpha beta rho delta t omega", positive=True
)
real_eps = symbols("epsilon", real=True)
p, q = symbols("p q", positive=True)

SMALL = [delta < 1]
ORDERS = (alpha > 1, alpha < 1)
HALF = Rational(1, 2)

gaussian = dp.AdditiveNoise(noise.Gaussian(sigma=1), mu)
EXACT = log(cosh((alpha - HALF) * eps) / cosh(eps / 2)) / (alpha - 1)
RANGE = e / (1 - exp(-e))  # m: the divergence of bounded range is m - 1 - log(m)


@C.entry()
def gdp_zcdp() -> Answer:
    yield from is_formula(gaussian.renyi(alpha, [alpha > 1]), alpha * mu**2 / 2)
    yield check(dp.GDP(mu), dp.ZCDP(mu**2 / 2))


@C.entry()
def chi2_tv() -> Answer:
    return check(dp.RenyiDP(2, eps), dp.ApproxDP(0, sqrt(exp(eps) - 1) / 2))


@C.entry()
def pure_kl() -> Answer:
    yield check(dp.PureDP(eps), dp.RenyiDP(1, eps * tanh(eps / 2)))
    yield check(dp.PureDP(eps), dp.RenyiDP(1, eps**2 / 2))
    yield below(eps * tanh(eps / 2), eps**2 / 2)
    yield from is_formula(dp.RandomizedResponse(e).kl(), e * tanh(e / 2))


@C.entry()
def pdp_adp() -> Answer:
    for one_way in (True, False):
        known = dp.ProbabilisticDP(eps, delta0, one_way=one_way)
        yield check(known, dp.ApproxDP(eps, delta0, one_way=one_way))


@C.entry()
def pure_zcdp() -> Answer:
    yield check(dp.PureDP(eps), dp.ZCDP(eps**2 / 2))
    yield below(EXACT, alpha * eps**2 / 2, [alpha > 1])


@C.entry()
def zcdp_tail() -> Answer:
    s = symbols("t", nonnegative=True)
    bound = exp(-(s**2) / (4 * rho))
    yield check(dp.ZCDP(rho), dp.ProbabilisticDP(rho + s, bound))

    def reached(loss):
        return Piecewise((1, loss >= rho + s), (0, True))

    yield check(dp.ZCDP(rho), dp.MomentBound(reached, bound, at_infinity=1))


@C.entry()
def zcdp_dp_cks() -> Answer:
    rho = symbols("rho", nonnegative=True)
    bound = exp((alpha - 1) * (alpha * rho - real_eps)) / (alpha - 1) * (1 - 1 / alpha) ** alpha
    return check(dp.ZCDP(rho), dp.ApproxDP(real_eps, bound), [alpha > 1])


@C.entry()
def renyi_monotone() -> Answer:
    def lower(order, to, *where):
        return check(dp.RenyiDP(order, eps), dp.RenyiDP(to, eps), where)

    yield lower(beta, alpha, alpha > 1, beta >= alpha)
    yield lower(beta, 1, beta > 1)
    yield lower(beta, alpha, alpha < 1, beta > 1)
    yield lower(1, alpha, alpha < 1)
    yield lower(beta, alpha, beta < 1, beta >= alpha)
    for side in ORDERS:
        yield lower(oo, alpha, side)
    yield lower(oo, 1)
    yield lower(2, Rational(3, 2))


@C.entry()
def prob_preservation() -> Answer:
    # The event and its complement, by post-processing.
    event = p**alpha * q ** (1 - alpha)
    total = event + (1 - p) ** alpha * (1 - q) ** (1 - alpha)
    where = [alpha > 1, p < 1, q < 1]
    yield below(event, total, where)
    where = [*where, event <= exp((alpha - 1) * D)]
    yield below(p, (exp(D) * q) ** ((alpha - 1) / alpha), where)


@C.entry()
def pure_rdp_exact() -> Answer:
    for side in ORDERS:
        yield check(dp.PureDP(eps), dp.RenyiDP(alpha, EXACT), [side])
        found = dp.RandomizedResponse(e).renyi(alpha, [side])
        yield from is_formula(found, EXACT.subs(eps, e), [side])


@C.entry()
def br_kl_eps2_8() -> Answer:
    yield below(RANGE - 1 - log(RANGE), e**2 / 8)
    yield check(dp.BoundedRange(e), dp.RenyiDP(1, RANGE - 1 - log(RANGE)))
    yield check(dp.BoundedRange(e), dp.RenyiDP(1, e**2 / 8))


@C.entry()
def hellinger_tv() -> Answer:
    return check(dp.RenyiDP(HALF, eps), dp.ApproxDP(0, sqrt(1 - exp(-eps))))


@C.entry()
def zcdp_dp() -> Answer:
    rho = symbols("rho", nonnegative=True)
    total = rho + 2 * sqrt(rho * log(1 / delta))
    return check(dp.ZCDP(rho), dp.ApproxDP(total, delta), SMALL)


@C.entry()
def rdp_dp_cks() -> Answer:
    bound = exp((alpha - 1) * (D - real_eps)) / alpha * (1 - 1 / alpha) ** (alpha - 1)
    yield check(dp.RenyiDP(alpha, D), dp.ApproxDP(real_eps, bound), [alpha > 1])
    loss = D + log((alpha - 1) / alpha) - (log(delta) + log(alpha)) / (alpha - 1)
    yield check(dp.RenyiDP(alpha, D), dp.ApproxDP(loss, delta), [alpha > 1])


@C.entry(slow=True)
def rr_renyi_cosh() -> Answer:
    form = log((sinh(alpha * e) - sinh((alpha - 1) * e)) / sinh(e)) / (alpha - 1)
    for side in ORDERS:
        yield from equal(form, EXACT.subs(eps, e), [side])


@C.entry()
def onesided_tv() -> Answer:
    known = dp.ApproxDP(eps, delta0, one_way=True)
    return check(known, dp.ApproxDP(0, 1 - (1 - delta0) * exp(-eps)))


@C.entry()
def adp_pdp() -> Answer:
    for one_way in (True, False):
        known = dp.ApproxDP(eps, delta0, one_way=one_way)
        claim = dp.ProbabilisticDP(eps + t, delta0 / (1 - exp(-t)), one_way=one_way)
        yield check(known, claim)


@C.entry()
def gdp_dp() -> Answer:
    yield from is_formula(gaussian.hockey_stick(eps), gaussian_profile(mu, eps))
    yield check(gaussian, dp.GDP(mu))
    yield check(dp.GDP(mu), dp.ApproxDP(eps, gaussian_profile(mu, eps)))


@C.entry()
def pure_rdp_min() -> Answer:
    bound = Min(eps, alpha * eps**2 / 2)
    yield check(dp.PureDP(eps), dp.RenyiDP(alpha, bound), [alpha > 1])
    yield below(EXACT, bound, [alpha > 1])


@C.entry()
def approx_tv() -> Answer:
    known = dp.ApproxDP(eps, delta0)
    yield check(known, dp.ApproxDP(0, (exp(eps) - 1 + 2 * delta0) / (exp(eps) + 1)))
    yield check(known, dp.ApproxDP(0, delta0 + (1 - delta0) * tanh(eps / 2)))


@C.entry()
def pure_gdp() -> Answer:
    # epsilon is the one of which 2 Phi^-1(e^epsilon/(1 + e^epsilon)) is mu.
    known = dp.PureDP(log(erfc(-mu / (2 * sqrt(2))) / erfc(mu / (2 * sqrt(2)))))
    return check(known, dp.ApproxDP(w, gaussian_profile(mu, w)))


@C.entry()
def rdp_dp_asoodeh() -> Answer:
    known = dp.RenyiDP(alpha, D)
    bound = (exp((alpha - 1) * D) - 1) / (alpha * (exp((alpha - 1) * e) - 1))
    yield check(known, dp.ApproxDP(e, bound), [alpha > 1])
    loss = log(1 + (exp((alpha - 1) * D) - 1) / (alpha * delta)) / (alpha - 1)
    yield check(known, dp.ApproxDP(loss, delta), [alpha > 1])


@C.entry()
def tcdp_dp() -> Answer:
    log_delta = log(1 / delta)
    where = [*SMALL, omega > 1, log_delta <= (omega - 1) ** 2 * rho]
    total = rho + 2 * sqrt(rho * log_delta)
    yield check(dp.TCDP(rho, omega), dp.ApproxDP(total, delta), where)
    total = rho * omega + log_delta / (omega - 1)
    yield check(dp.TCDP(rho, omega), dp.ApproxDP(total, delta), [*SMALL, omega > 1])


@C.entry(UNKNOWN, why="multipliers for all orders at once, weighted by a density", slow=True)
def zcdp_dp_bs_lemma() -> Answer:
    z = (eps - rho) / (2 * rho)
    tail = exp(-((eps - rho) ** 2) / (4 * rho))
    last = 2 / (1 + z + sqrt((1 + z) ** 2 + 4 / (pi * rho)))
    for factor in (1, 1 / (1 + z), sqrt(pi * rho), last):
        yield check(dp.ZCDP(rho), dp.ApproxDP(eps, tail * factor), [eps >= rho])


@C.entry(UNKNOWN, why="an open problem: it rests on numerical evidence", slow=True)
def br_tight_zcdp() -> Answer:
    return check(dp.BoundedRange(e), dp.ZCDP(RANGE - 1 - log(RANGE)))


# Neighbours that are false


@C.entry(REFUTED)
def false_chi2_tv_third() -> Answer:
    return check(dp.RenyiDP(2, eps), dp.ApproxDP(0, sqrt(exp(eps) - 1) / 3))


@C.entry(REFUTED)
def false_pure_kl_quarter() -> Answer:
    return check(dp.PureDP(eps), dp.RenyiDP(1, Rational(9, 10) * eps * tanh(eps / 2)))


@C.entry(REFUTED)
def false_pure_zcdp_two_fifths() -> Answer:
    return check(dp.PureDP(eps), dp.ZCDP(Rational(2, 5) * eps**2))


@C.entry(REFUTED)
def false_renyi_monotone_upward() -> Answer:
    return check(dp.RenyiDP(2, eps), dp.RenyiDP(Rational(21, 10), eps))


@C.entry(REFUTED)
def false_rdp_dp_cks_other_power() -> Answer:
    bound = exp((alpha - 1) * (D - eps)) / alpha * (1 - 1 / alpha) ** alpha
    return check(dp.RenyiDP(alpha, D), dp.ApproxDP(eps, bound), [alpha > 1])


@C.entry(REFUTED)
def false_onesided_tv_as_two_sided() -> Answer:
    known = dp.ApproxDP(eps, delta0, one_way=True)
    return check(known, dp.ApproxDP(0, (exp(eps) - 1 + 2 * delta0) / (exp(eps) + 1)))


@C.entry(REFUTED)
def false_adp_pdp_same_delta() -> Answer:
    return check(dp.ApproxDP(eps, delta0), dp.ProbabilisticDP(eps + t, delta0))


@C.entry(REFUTED)
def false_approx_tv_without_delta() -> Answer:
    return check(dp.ApproxDP(eps, delta0), dp.ApproxDP(0, tanh(eps / 2) + delta0 / 2))


@C.entry(REFUTED)
def false_hellinger_tv_without_root() -> Answer:
    return check(dp.RenyiDP(HALF, eps), dp.ApproxDP(0, 1 - exp(-eps)))


@C.entry(REFUTED)
def false_rdp_dp_asoodeh_without_order() -> Answer:
    bound = (exp((alpha - 1) * D) - 1) / (alpha * (exp(alpha * e) - 1))
    return check(dp.RenyiDP(alpha, D), dp.ApproxDP(e, bound), [alpha > 1])


@C.entry(REFUTED)
def false_br_zcdp_tenth() -> Answer:
    return check(dp.BoundedRange(e), dp.ZCDP(e**2 / 10))


@C.entry(REFUTED)
def false_zcdp_tail_faster() -> Answer:
    return check(dp.ZCDP(rho), dp.ProbabilisticDP(rho + t, exp(-(t**2) / (2 * rho))))
