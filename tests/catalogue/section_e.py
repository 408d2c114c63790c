"""Claims about mechanisms, most of them false.

A false claim is stated as it was made, for all parameters it was made for, and must be refuted.
"""

from __future__ import annotations

from functools import cache

from sympy import (
    Eq,
    Interval,
    Piecewise,
    Range,
    Rational,
    binomial,
    cosh,
    exp,
    log,
    oo,
    pi,
    sqrt,
    symbols,
)

import dpsym as dp
from dpsym import noise
from tests.catalogue.entries import (
    ENCLOSED,
    REFUTED,
    UNKNOWN,
    Answer,
    Section,
    below,
    check,
    encloses,
    equal,
    is_formula,
    mass_is,
)
from tests.catalogue.section_a import Phi, phi

E = Section("E")

alpha, sigma, b, D, w, mu = symbols("alpha sigma b Delta w mu", positive=True)
eps, eps1, delta, rho, t, p, q, c = symbols("epsilon epsilon1 delta rho t p q c", positive=True)
x = symbols("x", real=True)
j = symbols("j", integer=True)
k = symbols("k", integer=True, positive=True)

SMALL = [delta < 1]
NO_SELECTION = "there is no language for a random number of runs or for an adaptive stop"


def gaussian(scale):
    """The Gaussian mechanism of a formula for sigma/Delta."""
    return dp.AdditiveNoise(noise.Gaussian(sigma=D * scale), D)


def approx(scale, *where):
    """It is (epsilon, delta)-private."""
    return check(gaussian(scale), dp.ApproxDP(eps, delta), where)


@cache
def profile():
    """The Gaussian mechanism's hockey-stick divergence, proved for every shift."""
    return dp.AdditiveNoise(noise.Gaussian(sigma=sigma), D).hockey_stick(eps)


def calibrated(scale, epsilon, bound, *where):
    """The same in two steps, by the closed form of the divergence."""
    yield profile()
    value = profile().value.subs({sigma: D * scale, eps: epsilon}, simultaneous=True)
    yield below(value, bound, where)


def subsampled(rate, noise_multiplier, by=1):
    """A step of the Poisson-subsampled Gaussian, and the same without the record."""
    base = noise.Gaussian(sigma=noise_multiplier)
    step = noise.Mixture([1 - rate, rate], [base, noise.Shifted(base, by)])
    return dp.DensityPair(step, base)


def sampled_response(rate):
    """Randomized response on a record that is there with this probability, and without it."""
    keep, flip = exp(eps) / (1 + exp(eps)), 1 / (1 + exp(eps))
    mixed = rate * keep + (1 - rate) * flip
    return dp.Table([[mixed, 1 - mixed], [flip, keep]])


def bernoulli(chance, name=j):
    """The masses of 1 and 0."""
    return Piecewise((chance, Eq(name, 1)), (1 - chance, True))


def classical(number):
    """sqrt(2 ln(number/delta))/epsilon."""
    return sqrt(2 * log(number / delta)) / eps


# Theorems


@E.entry()
def odometer_missing_log_is_conservative() -> Answer:
    return below(eps * sqrt(2 * k * log(1 / delta)), eps * sqrt(2 * k / delta), SMALL)


@E.entry()
def threshold_dlaplace() -> Answer:
    masses = (1 - exp(-1 / b)) / (1 + exp(-1 / b)) * exp(-abs(j - 1) / b)
    return mass_is(masses, j, Interval(k, oo), exp(-(k - 1) / b) / (1 + exp(-1 / b)))


@E.entry()
def unary_encoding_asym() -> Answer:
    where = [q < p, p < 1]
    return is_formula(
        dp.UnaryEncoding(p, q).max_divergence(where), log(p * (1 - q) / ((1 - p) * q)), where
    )


@E.entry()
def unary_encoding() -> Answer:
    where = [p >= Rational(1, 2), p < 1]
    return is_formula(dp.UnaryEncoding(p).max_divergence(where), 2 * log(p / (1 - p)), where)


@E.entry(slow=True)
def gauss_kqueries() -> Answer:
    vector = dp.VectorGaussian(sigma=sigma, l2_sensitivity=sqrt(k) * D)
    found = vector.hockey_stick(eps)
    yield found
    value = found.value.subs(sigma, D * sqrt(k) * classical(Rational(5, 4)))
    yield below(value, delta, [eps <= 1, delta < 1], 60)


@E.entry()
def tfp166_zero_eps_correct() -> Answer:
    pair = subsampled(Rational(105, 100000), 1)
    return check(pair, dp.ApproxDP(0, Rational(1, 1000)))


@E.entry(slow=True)
def bounded_laplace() -> Answer:
    def size(centre):
        return 1 - (exp(-centre / b) + exp(-(w - centre) / b)) / 2

    laws = [exp(-abs(x - centre) / b) / (2 * b * size(centre)) for centre in (0, D)]
    pair = dp.DensityPair(*laws, x, Interval(0, w))
    bound = D / b + log(size(D) / size(0))
    yield check(pair, dp.PureDP(bound, one_way=True), [w >= D])
    yield from equal((laws[0] / laws[1]).subs(x, 0), exp(bound), [w >= D])


@E.entry(slow=True)
def gauss_sqrt2ln1delta_true_range() -> Answer:
    return calibrated(classical(1), eps, delta, eps <= 1, delta <= Rational(3, 4))


@E.entry()
def gauss_tail_suff() -> Answer:
    more = symbols("c", nonnegative=True)  # epsilon is the least one, or more
    least = mu**2 / 2 + mu * sqrt(2 * log(1 / delta))
    return calibrated(1 / mu, least + more, delta, delta < 1)


@E.entry()
def gauss_classical_ext() -> Answer:
    # With t = sqrt(2 ln(K/delta)), so that delta = K e^(-t^2/2), for every t > 0.
    kappa = symbols("kappa", positive=True)
    where = (eps <= 2 * log(2 * kappa), t**2 >= eps / 2)
    return calibrated(t / eps, eps, kappa * exp(-(t**2) / 2), *where)


@E.entry(slow=True)
def private_selection_3eps() -> Answer:
    # One output: it has probability p (under Q: q), a better one has a (c). It is the best of a
    # geometric number of runs with probability g p/((1 - (1-g)(1-a)) (1 - (1-g)(1-a-p))).
    a, c, g = symbols("a c g", nonnegative=True)

    def best(mass, better):
        stay = 1 - g
        return g * mass / ((g + stay * better) * (g + stay * (better + mass)))

    base = [p <= exp(eps) * q, q <= exp(eps) * p, a <= exp(eps) * c, c <= exp(eps) * a]
    base += [a + p <= 1, c + q <= 1, g > 0, g <= 1]
    return below(best(p, a), exp(3 * eps) * best(q, c), base, budget=60)


@E.entry(UNKNOWN, why="four scores with symbols for the scale", slow=True)
def rnm_laplace() -> Answer:
    general = dp.ReportNoisyMax(2, noise.Laplace(2 * D / eps), D)
    yield check(general, dp.PureDP(eps))
    monotone = dp.ReportNoisyMax(2, noise.Laplace(D / eps), D, monotone=True)
    yield check(monotone, dp.PureDP(eps))


@E.entry(UNKNOWN, why=NO_SELECTION)
def svt_correct() -> Answer:
    return dp.Unknown("the sparse vector technique", reason=NO_SELECTION)


@E.entry(slow=True)
def gauss_vinterbo() -> Answer:
    # With z = -ln(4 delta (1 - delta)), so that delta = (1 - sqrt(1 - e^(-z)))/2.
    z = symbols("z", nonnegative=True)
    scale = (sqrt(z + eps) + sqrt(z)) / (eps * sqrt(2))
    return calibrated(scale, eps, (1 - sqrt(1 - exp(-z))) / 2)


@E.entry(slow=True)
def gauss_vinterbo_big() -> Answer:
    z = symbols("z", positive=True)
    scale = (sqrt(pi / 4 * z + eps) - sqrt(pi / 4 * z)) / (eps * sqrt(2))
    return calibrated(scale, eps, (1 + sqrt(1 - exp(-z))) / 2)


# False claims


@E.entry(REFUTED)
def false_integer_sensitivity_floor() -> Answer:
    return check(dp.AdditiveNoise(noise.Laplace(1 / eps), Rational(3, 2)), dp.PureDP(eps))


@E.entry(REFUTED)
def false_one_sided_exp_pure() -> Answer:
    return check(dp.AdditiveNoise(noise.Exponential(D / eps), D), dp.PureDP(eps))


@E.entry(REFUTED)
def false_laplace_resampled() -> Answer:
    def size(centre):
        return 1 - (exp(-centre / b) + exp(-(w - centre) / b)) / 2

    laws = [exp(-abs(x - centre) / b) / (2 * b * size(centre)) for centre in (0, D)]
    return check(dp.DensityPair(*laws, x, Interval(0, w)), dp.PureDP(D / b), [w > D])


@E.entry(REFUTED)
def false_laplace_inverted_scale() -> Answer:
    return check(dp.AdditiveNoise(noise.Laplace(eps / D), D), dp.PureDP(eps))


@E.entry(REFUTED)
def false_gauss_rdp_sigma_not_squared() -> Answer:
    mechanism = dp.AdditiveNoise(noise.Gaussian(sigma=sigma), 1)
    return check(mechanism, dp.RenyiDP(alpha, alpha / (2 * sigma)), [alpha > 1])


@E.entry(REFUTED, slow=True)
def false_gauss_sqrt2ln1delta() -> Answer:
    return approx(classical(1), delta < 1)


@E.entry(REFUTED, slow=True)
def false_gauss_scale_squared() -> Answer:
    variance = 2 * log(5 / (4 * delta)) * D**2 / eps**2
    mechanism = dp.AdditiveNoise(noise.Gaussian(sigma=variance), D)
    return check(mechanism, dp.ApproxDP(eps, delta), [eps <= 1, delta < 1])


@E.entry(REFUTED)
def false_rdp_dp_alpha_not_minus1() -> Answer:
    claim = dp.ApproxDP(c + log(1 / delta) / alpha, delta)
    return check(dp.RenyiDP(alpha, c), claim, [alpha > 1, delta < 1])


@E.entry(REFUTED)
def false_comp_same_eps() -> Answer:
    d1, d2 = symbols("delta1 delta2", positive=True)
    two = dp.compose(dp.ApproxDP(eps, d1), dp.ApproxDP(eps, d2))
    return check(two, dp.ApproxDP(eps, d1 + d2))


@E.entry(REFUTED)
def false_uniform_noise_pure() -> Answer:
    return check(dp.AdditiveNoise(noise.Uniform(D / eps), D), dp.PureDP(eps), [eps <= 2])


@E.entry(REFUTED, slow=True)
def false_trunclap_log1delta() -> Answer:
    cut = noise.TruncatedLaplace(D / eps, D / eps * log(1 / delta))
    return check(dp.AdditiveNoise(cut, D), dp.ApproxDP(eps, delta), [delta < Rational(1, 2)])


@E.entry(REFUTED, slow=True)
def false_rnm_lap_non_monotone() -> Answer:
    return check(dp.ReportNoisyMax(2, noise.Laplace(D / eps), D), dp.PureDP(eps))


@E.entry(REFUTED, slow=True)
def false_gauss_dwork06_large_eps() -> Answer:
    return approx(classical(2), delta < 1)


@E.entry(REFUTED)
def false_expmech_no_factor_2() -> Answer:
    return check(dp.ExponentialMechanism(2, 2 * eps, D), dp.PureDP(eps))


@E.entry(REFUTED)
def false_hoeffding_16() -> Answer:
    lam = symbols("lambda", real=True)
    return below(cosh(lam), exp(lam**2 * 2**2 / 16))


@E.entry(REFUTED)
def false_rdp_extrapolate() -> Answer:
    return check(dp.RenyiDP(2, c), dp.RenyiDP(10, 5 * c))


@E.entry(REFUTED)
def false_moments_leading_term() -> Answer:
    order = symbols("alpha", integer=True, positive=True)
    claim = dp.RenyiDP(order, q**2 * order / ((1 - q) * sigma**2), one_way=True)
    return check(subsampled(q, sigma), claim, [q < 1, sigma >= 1, order >= 2])


@E.entry(REFUTED)
def false_svt_alg5_no_query_noise() -> Answer:
    # Two queries, answered 0 and 1 or 1 and 0, against a threshold with Laplace noise: both above,
    # only the second, only the first, none.
    between = (1 - exp(-eps1)) / 2
    table = dp.Table([[h, *row, h * exp(-eps1)] for h, row in _ANSWERS(between)])
    return check(table, dp.PureDP(eps))


def _ANSWERS(between):  # noqa: N802
    half = Rational(1, 2)
    return (half, (between, 0)), (half, (0, between))


@E.entry(REFUTED)
def false_expmech_half_eps_rdp() -> Answer:
    curve = log(cosh((alpha - Rational(1, 2)) * eps / 2) / cosh(eps / 4)) / (alpha - 1)
    return check(dp.ExponentialMechanism(2, eps), dp.RenyiDP(alpha, curve), [alpha > 1])


@E.entry(REFUTED)
def false_expmech_difference_sens() -> Answer:
    # exp(epsilon u/(2*2)) with scores that move by 4 is exp(2 epsilon u/(2*4)).
    return check(dp.ExponentialMechanism(2, 2 * eps, sensitivity=4), dp.PureDP(eps))


@E.entry(REFUTED)
def false_approx_to_rdp() -> Answer:
    return check(dp.ApproxDP(0, delta), dp.RenyiDP(2, 2 * delta))


@E.entry(REFUTED)
def false_unary_encoding_one_bit() -> Answer:
    return check(dp.UnaryEncoding(p), dp.PureDP(log(p / (1 - p))), [p > Rational(1, 2), p < 1])


@E.entry(REFUTED)
def false_rdp_dp_sign() -> Answer:
    claim = dp.ApproxDP(c - log(1 / delta) / (alpha - 1), delta)
    return check(dp.RenyiDP(alpha, c), claim, [alpha > 1, delta < 1])


@E.entry(REFUTED)
def false_laplace_l2_calibration() -> Answer:
    d1, d2 = symbols("d1 d2", positive=True)
    vector = dp.VectorLaplace(sqrt(d1**2 + d2**2) / eps, d1 + d2)
    return check(vector, dp.PureDP(eps))


@E.entry(REFUTED)
def false_mills_lower_as_upper() -> Answer:
    return below(Phi(-t), t / (1 + t**2) * phi(t))


@E.entry(REFUTED)
def false_sub_2qeps_large() -> Answer:
    return check(sampled_response(q), dp.PureDP(2 * q * eps), [q < 1])


@E.entry(REFUTED)
def false_laplace_renyi_swapped() -> Answer:
    moment = (alpha - 1) / (2 * alpha - 1) * exp((alpha - 1) * t)
    moment += alpha / (2 * alpha - 1) * exp(-alpha * t)
    mechanism = dp.AdditiveNoise(noise.Laplace(1), t)
    return check(mechanism, dp.RenyiDP(alpha, log(moment) / (alpha - 1)), [alpha > 1])


@E.entry(REFUTED)
def false_zcdp_to_pure() -> Answer:
    return check(dp.ZCDP(rho), dp.PureDP(sqrt(2 * rho)))


@E.entry(REFUTED)
def false_renyi_symmetric() -> Answer:
    return check(dp.RenyiDP(alpha, c, one_way=True), dp.RenyiDP(alpha, c), [alpha > 1])


@E.entry(REFUTED)
def false_delta_is_failure_prob() -> Answer:
    return check(dp.ApproxDP(eps, delta), dp.ProbabilisticDP(eps, delta))


@E.entry(REFUTED)
def false_pure_tv_slip() -> Answer:
    return check(dp.PureDP(eps), dp.ApproxDP(0, (1 - exp(-eps)) / 2))


@E.entry(REFUTED)
def false_threshold_off_by_one() -> Answer:
    # A record that is there is released with the first probability, one that is not never.
    tau = symbols("tau", integer=True)
    released, claimed = (exp(-count / b) / (1 + exp(-1 / b)) for count in (tau - 1, tau))
    table = dp.Table([[released, 1 - released], [0, 1]])
    return check(table, dp.ApproxDP(eps, claimed), [tau >= 1])


@E.entry(REFUTED)
def false_2sqrt_large_eps() -> Answer:
    # The claim is for every number of stages; this is one stage.
    return check(dp.PureDP(eps), dp.ApproxDP(2 * eps * sqrt(2 * log(1 / delta)), delta), SMALL)


@E.entry(REFUTED)
def false_rdp_params_swapped() -> Answer:
    return check(dp.RenyiDP(alpha, eps), dp.RenyiDP(eps, alpha), [alpha > 1, eps > 1])


@E.entry(REFUTED)
def false_sqrtk_pure() -> Answer:
    # The claim is for every number of stages; these are four.
    return check(dp.compose(*[dp.PureDP(eps)] * 4), dp.PureDP(2 * eps))


@E.entry(REFUTED)
def false_sub_linear() -> Answer:
    return check(sampled_response(q), dp.PureDP(q * eps), [q < 1])


@E.entry(REFUTED)
def false_sub_poisson_replace() -> Answer:
    # Without the record the output is 0; with it 1 or 2, by randomized response.
    keep, flip = q * exp(eps) / (1 + exp(eps)), q / (1 + exp(eps))
    table = dp.Table([[1 - q, keep, flip], [1 - q, flip, keep]])
    return check(table, dp.PureDP(log(1 + q * (exp(eps) - 1))), [q < 1])


@E.entry(REFUTED)
def false_best_of_k_free() -> Answer:
    # Two runs of randomized response, of which the larger output is released.
    both = [(odds / (1 + exp(eps))) ** 2 for odds in (exp(eps), 1)]
    return check(dp.Table([[chance, 1 - chance] for chance in both]), dp.PureDP(eps))


@E.entry(REFUTED)
def false_pdp_postprocessing() -> Answer:
    subject = dp.ProbabilisticDP(eps, delta)
    return check(dp.postprocess(subject), subject)


@E.entry(REFUTED, slow=True)
def false_gauss_loss_under_Q() -> Answer:  # noqa: N802
    mechanism = dp.AdditiveNoise(noise.Gaussian(sigma=1), mu)
    return check(mechanism, dp.ApproxDP(eps, Phi(-eps / mu - mu / 2)))


@E.entry(REFUTED)
def false_binom_klogkc() -> Answer:
    chosen = symbols("c", integer=True, positive=True)
    return below(log(binomial(k, chosen)), chosen * log(k / chosen), [chosen <= k])


@E.entry(REFUTED)
def false_zcdp_dp_no_rho() -> Answer:
    return check(dp.ZCDP(rho), dp.ApproxDP(2 * sqrt(rho * log(1 / delta)), delta), SMALL)


@E.entry(REFUTED)
def false_l2_sens_not_rooted() -> Answer:
    return check(gaussian(sigma * D), dp.RenyiDP(alpha, alpha / (2 * sigma**2)), [alpha > 1])


@E.entry(REFUTED)
def false_threshold_laplace_for_gauss() -> Answer:
    above = log(1 / (2 * delta)) / sqrt(2 * log(5 / (4 * delta)))
    return below(Phi(-above), delta, [delta < Rational(1, 2)])


@E.entry(REFUTED)
def false_laplace_profile_slip() -> Answer:
    mechanism = dp.AdditiveNoise(noise.Laplace(b), D)
    return check(mechanism, dp.ApproxDP(eps, (1 - exp(eps - D / b)) / 2), [eps < D / b])


@E.entry(REFUTED)
def false_rounded_laplace_is_geometric() -> Answer:
    return check(dp.PMFPair(noise.RoundedLaplace(1 / eps), noise.Geometric(1 / eps)), dp.PureDP(0))


@E.entry(REFUTED)
def false_sub_rdp_quadratic() -> Answer:
    pair = subsampled(q, 1, mu)
    return check(pair, dp.RenyiDP(2, q**2 * mu**2, one_way=True), [q < 1])


@E.entry(REFUTED, slow=True)
def false_float_diffprivlib_analytic_gauss() -> Answer:
    scale = Rational(2612449488023683, 9007199254740992)
    mechanism = dp.AdditiveNoise(noise.Gaussian(sigma=scale), 1)
    return check(mechanism, dp.ApproxDP(20, Rational(1, 10**5)))


@E.entry(REFUTED)
def false_sub_direction_general() -> Answer:
    mixed = (1 - q) * w + q * p
    forward = mixed**alpha * w ** (1 - alpha) + (1 - mixed) ** alpha * (1 - w) ** (1 - alpha)
    pair = dp.PMFPair(bernoulli(w), bernoulli(mixed), j, Range(0, 2))
    claim = dp.RenyiDP(alpha, log(forward) / (alpha - 1), one_way=True)
    return check(pair, claim, [alpha > 1, p < 1, q < 1, w < 1])


@E.entry(REFUTED)
def false_rdp_dp_wrong_power() -> Answer:
    least = exp((alpha - 1) * (c - eps)) / alpha * (1 - 1 / alpha) ** alpha
    return check(dp.RenyiDP(alpha, c), dp.ApproxDP(eps, least), [alpha > 1])


@E.entry(REFUTED, slow=True)
def false_gauss_classical_large_eps_b() -> Answer:
    return approx(classical(Rational(5, 4)), Eq(eps, 6), Eq(delta, Rational(1, 10)))


@E.entry(REFUTED)
def false_wor_accounted_as_poisson() -> Answer:
    base = noise.Gaussian(sigma=sigma)
    laws = [noise.Mixture([1 - q, q], [base, noise.Shifted(base, by)]) for by in (1, -1)]
    bound = log(1 + q**2 * (exp(1 / sigma**2) - 1))
    return check(dp.DensityPair(*laws), dp.RenyiDP(2, bound), [q < 1])


@E.entry(ENCLOSED, why="Bessel functions are not in the language of proofs")
def false_skellam_gaussian_rdp() -> Answer:
    mechanism = dp.AdditiveNoise(noise.Skellam(mu), 1)
    return check(mechanism, dp.RenyiDP(alpha, alpha / (2 * mu)), [alpha > 1])


@E.at_points("false_skellam_gaussian_rdp")
def _() -> Answer:
    e = symbols("e", positive=True)
    mechanism = dp.AdditiveNoise(noise.Skellam(mu), 1)
    points = [{mu: 1, alpha: Rational(101, 100)}]
    return encloses(mechanism, dp.RenyiDP(alpha, e), e, alpha / (2 * mu), points, sign=1)


@E.entry(REFUTED, slow=True)
def false_gdp_clt_bound() -> Answer:
    # The claim is for every number of steps; this is one step.
    m = q * sqrt(exp(1 / sigma**2) - 1)
    profile = Phi(m / 2 - eps / m) - exp(eps) * Phi(-m / 2 - eps / m)
    return check(subsampled(q, sigma), dp.ApproxDP(eps, profile), [q < 1])


@E.entry(REFUTED, slow=True)
def false_gauss_sqrt2ln1delta_eps1() -> Answer:
    return approx(classical(1), eps <= 1, delta < 1)


@E.entry(REFUTED)
def false_dr_cor321_delta_near_1() -> Answer:
    # The claim is for every number of stages and every delta that leaves epsilon0 <= 1; this is one
    # stage, with epsilon0 = 1.
    return check(dp.PureDP(eps), dp.ApproxDP(1, exp(-1 / (8 * eps**2))))


@E.entry(UNKNOWN, why=NO_SELECTION)
def false_svt_alg4_small_noise() -> Answer:
    return dp.Unknown("the sparse vector technique, algorithm 4", reason=NO_SELECTION)


@E.entry(UNKNOWN, why=NO_SELECTION)
def false_svt_alg6_no_cutoff() -> Answer:
    return dp.Unknown("the sparse vector technique, algorithm 6", reason=NO_SELECTION)
