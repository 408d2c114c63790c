"""Claims that were published, coded or assumed, and are false; each with numbers that break it.

A claim is meant for all values of its parameters, so it falls with one pair of output distributions
P and Q, or one composition of such pairs, that has what the claim assumes and lacks what it says.
dpsym gives the probabilities, exactly, and prints them with the verdict; they can be checked by
hand.

L = log(p/q), under P, is the privacy loss. PureDP(eps) says L <= eps; ApproxDP(eps, delta) that
E[(1 - e^(eps - L))_+] <= delta; ProbabilisticDP(eps, delta) that P(L > eps) <= delta;
RenyiDP(alpha, eps) that E[e^((alpha - 1) L)] <= e^((alpha - 1) eps); ZCDP(rho) that this holds with
eps = rho alpha for every alpha > 1. All in both directions, unless one_way=True; see
composition.py.

The slips come in families, and the sections follow them: a quantity misread, a formula used where
it was not proved, a constant or a power that is off, a direction or a sampling scheme mixed up.
More false statements stand beside the theorems that they resemble, in the other scripts.
"""

from sympy import Eq, Interval, Piecewise, Range, Rational, cosh, erfc, exp, log, sqrt, symbols

import dpsym as dp
from dpsym import noise
from dpsym.scripts import refuted

alpha, sigma, b, Delta, w, mu = symbols("alpha sigma b Delta w mu", positive=True)
epsilon, epsilon1, delta, rho, p, q, c, t = symbols(
    "epsilon epsilon1 delta rho p q c t", positive=True
)
D, delta0 = symbols("D delta", nonnegative=True)
j = symbols("j", integer=True)

SMALL = [delta < 1]
ABOVE_ONE = [alpha > 1]
HALF = Rational(1, 2)


def phi(x):
    """The distribution function of the standard normal law."""
    return erfc(-x / sqrt(2)) / 2


def gaussian(scale):
    """The Gaussian mechanism with noise of standard deviation scale Delta, and sensitivity
    Delta."""
    return dp.AdditiveNoise(noise.Gaussian(sigma=Delta * scale), sensitivity=Delta)


def subsampled_gaussian(shift=1):
    """A step of the Poisson-subsampled Gaussian mechanism with the record, and without it."""
    base = noise.Gaussian(sigma=sigma)
    step = noise.Mixture([1 - q, q], [base, noise.Shifted(base, shift)])
    return dp.DensityPair(step, base)


# -- 1. What delta, epsilon and the order are not


@refuted(source="a common reading of delta; see Meiser (2018)")
def delta_is_the_probability_that_pure_privacy_fails():
    """False: ApproxDP(eps, delta) is ProbabilisticDP(eps, delta).

    Idea: just above eps a loss counts hardly at all in (1 - e^(eps - L))_+, but fully in P(L >
    eps).
    """
    return dp.check(dp.ApproxDP(D, delta0), dp.ProbabilisticDP(D, delta0))


@refuted(source="Meiser (2018); Kifer and Lin (2010) for the axiom that fails")
def probabilistic_dp_survives_post_processing():
    """False: after post-processing, ProbabilisticDP(eps, delta) still holds.

    Idea: see postprocessing.py.
    """
    known = dp.ProbabilisticDP(D, delta0)
    return dp.check(dp.postprocess(known), known)


@refuted(source="a slip: the sub-Gaussian scale read as a bound")
def zcdp_is_pure_dp():
    """False: ZCDP(rho) is PureDP(sqrt(2 rho)).

    Idea: concentrated losses may be arbitrarily large, as for Gaussian noise.
    """
    return dp.check(dp.ZCDP(rho), dp.PureDP(sqrt(2 * rho)))


@refuted(source="a slip: a small delta neglected in Renyi accounting")
def a_small_delta_is_a_small_renyi_divergence():
    """False: ApproxDP(0, delta) is RenyiDP(2, 2 delta).

    Idea: where only P has mass the loss is infinite, and so is every divergence of order above 1.
    """
    return dp.check(dp.ApproxDP(0, delta), dp.RenyiDP(2, 2 * delta))


@refuted(source="a slip: arguments in the wrong order")
def order_and_epsilon_may_be_swapped():
    """False: RenyiDP(alpha, eps) is RenyiDP(eps, alpha), for alpha > 1 and eps > 1.

    Idea: a bound of 9 at order 2 is no bound of 2 at order 9.
    """
    where = [alpha > 1, epsilon > 1]
    return dp.check(dp.RenyiDP(alpha, epsilon), dp.RenyiDP(epsilon, alpha), where=where)


@refuted(source="a slip: what holds for a Gaussian, assumed of any mechanism")
def one_order_tells_the_others():
    """False: RenyiDP(2, eps) is RenyiDP(3, 3/2 eps).

    Idea: a rare but large loss hardly moves the divergence of order 2, and determines that of
    order 3.
    """
    return dp.check(dp.RenyiDP(2, c), dp.RenyiDP(3, Rational(3, 2) * c))


# -- 2. Conversions with something missing


@refuted(source="a slip: Bun and Steinke (2016), Proposition 1.3, without its linear term")
def zcdp_to_approximate_dp_without_rho():
    """False: ZCDP(rho) is ApproxDP(2 sqrt(rho log(1/delta)), delta); here for delta = 1/100.

    Idea: for a large rho the mean loss rho is more than the deviation.
    """
    claim = dp.ApproxDP(2 * sqrt(rho * log(100)), Rational(1, 100))
    return dp.check(dp.ZCDP(rho), claim)


@refuted(source="a slip: the moment accountant's lambda = alpha - 1 read as the order alpha")
def renyi_to_approximate_dp_divided_by_alpha():
    """False: RenyiDP(alpha, eps) is ApproxDP(eps + log(1/delta)/alpha, delta).

    Idea: Mironov (2017), Proposition 3, divides by alpha - 1.
    """
    claim = dp.ApproxDP(c + log(1 / delta) / alpha, delta)
    return dp.check(dp.RenyiDP(alpha, c), claim, where=[alpha > 1, delta < 1])


@refuted(source="a slip: a sign")
def renyi_to_approximate_dp_with_the_wrong_sign():
    """False: RenyiDP(alpha, eps) is ApproxDP(eps - log(1/delta)/(alpha - 1), delta).

    Idea: a smaller delta would need a smaller epsilon.
    """
    claim = dp.ApproxDP(c - log(1 / delta) / (alpha - 1), delta)
    return dp.check(dp.RenyiDP(alpha, c), claim, where=[alpha > 1, delta < 1])


@refuted(source="Canonne, Kamath and Steinke (2020), Proposition 12 with the power of Corollary 13")
def renyi_to_approximate_dp_with_the_other_power():
    """False: RenyiDP(alpha, D) is ApproxDP(eps, e^((alpha - 1) (D - eps)) (1 -
    1/alpha)^alpha/alpha).

    Idea: the two results divide by alpha and by alpha - 1, with the powers alpha - 1 and alpha.
    """
    least = exp((alpha - 1) * (D - epsilon)) / alpha * (1 - 1 / alpha) ** alpha
    return dp.check(dp.RenyiDP(alpha, D), dp.ApproxDP(epsilon, least), where=ABOVE_ONE)


@refuted(source="a slip in the bound of Asoodeh et al. (2021): alpha in place of alpha - 1")
def renyi_to_approximate_dp_with_a_larger_exponent():
    """False: RenyiDP(alpha, D) is ApproxDP(eps, (e^((alpha - 1) D) - 1)/(alpha (e^(alpha eps) -
    1))).

    Idea: the slope of t^alpha at e^eps has the exponent alpha - 1.
    """
    bound = (exp((alpha - 1) * D) - 1) / (alpha * (exp(alpha * epsilon) - 1))
    return dp.check(dp.RenyiDP(alpha, D), dp.ApproxDP(epsilon, bound), where=ABOVE_ONE)


@refuted(source="a slip: the total variation distance of pure privacy")
def pure_dp_bounds_total_variation_by_half():
    """False: PureDP(eps) has a total variation distance of at most (1 - e^-eps)/2.

    Idea: randomized response has tanh(eps/2) = (1 - e^-eps)/(1 + e^-eps).
    """
    return dp.check(dp.PureDP(epsilon), dp.ApproxDP(0, (1 - exp(-epsilon)) / 2))


@refuted(source="a bug of an accountant, since mended: pure privacy with eps/2 for eps")
def exponential_mechanism_with_half_its_renyi_divergence():
    """False: the exponential mechanism with PureDP(eps) has the Renyi divergence of a randomized
    response with eps/2.

    Idea: its losses lie in an interval of length eps, which need not be centred at 0.
    """
    curve = log(cosh((alpha - HALF) * epsilon / 2) / cosh(epsilon / 4)) / (alpha - 1)
    mechanism = dp.ExponentialMechanism(2, epsilon)
    return dp.check(mechanism, dp.RenyiDP(alpha, curve), where=ABOVE_ONE)


@refuted(source="a slip: Hoeffding's lemma with 16 for 8")
def hoeffding_with_sixteen():
    """False: a variable that is 1 or -1 has E[e^(lambda X)] <= e^(lambda^2 2^2/16).

    Idea: E[e^(lambda X)] = cosh(lambda), about 1 + lambda^2/2.
    """
    point = symbols("lambda", real=True)
    return dp.check_inequality(cosh(point), exp(point**2 * 2**2 / 16))


# -- 3. Compositions with something missing


@refuted(source="a slip: deltas added, epsilons forgotten")
def two_mechanisms_with_one_epsilon():
    """False: ApproxDP(eps, delta1) and ApproxDP(eps, delta2) are ApproxDP(eps, delta1 + delta2).

    Idea: two losses just below eps make one far above it.
    """
    delta1, delta2 = symbols("delta1 delta2", positive=True)
    two = dp.compose(dp.ApproxDP(epsilon, delta1), dp.ApproxDP(epsilon, delta2))
    return dp.check(two, dp.ApproxDP(epsilon, delta1 + delta2))


@refuted(source="Dwork and Roth (2014), Corollary 3.21, as it is printed, for a delta near 1")
def advanced_composition_in_one_term_for_any_delta():
    """False: if 2 eps sqrt(2 k log(1/delta)) <= 1 then k of PureDP(eps) are ApproxDP of that and
    delta; here for one mechanism, with the total exactly 1, so delta = e^(-1/(8 eps^2)).

    Idea: for a large eps this delta is close to 1, and randomized response is worse at epsilon = 1.
    It is true for delta <= e^(-1/8), see advanced_composition.py.
    """
    return dp.check(dp.PureDP(epsilon), dp.ApproxDP(1, exp(-1 / (8 * epsilon**2))))


@refuted(source="a slip: the square root of basic composition")
def four_mechanisms_cost_twice():
    """False: four mechanisms with PureDP(eps) are PureDP(2 eps).

    Idea: the largest losses add.
    """
    return dp.check(dp.compose(*[dp.PureDP(epsilon)] * 4), dp.PureDP(2 * epsilon))


@refuted(source="the sparse vector technique without noise on its queries; Lyu, Su and Li (2017)")
def sparse_vector_without_noise_on_the_queries():
    """False: two queries, answered 0 and 1 or 1 and 0, against one threshold with Laplace noise,
    are PureDP(eps).

    Idea: "below, above" is possible for the first data set only.
    """
    between = (1 - exp(-epsilon1)) / 2
    rows = ((HALF, (between, 0)), (HALF, (0, between)))
    table = dp.Table([[both, *one, both * exp(-epsilon1)] for both, one in rows])
    return dp.check(table, dp.PureDP(epsilon))


# -- 4. Noise


@refuted(source="Dwork, Kenthapadi, McSherry, Mironov and Naor (2006), used beyond epsilon = 1")
def gaussian_noise_by_a_formula_for_small_epsilon():
    """False: sigma = sqrt(2 log(2/delta)) Delta/epsilon gives ApproxDP(epsilon, delta) for every
    epsilon; here for epsilon = 12 and delta = 1/10^5.

    Idea: for a large epsilon, a standard deviation below Delta/sqrt(2 epsilon) is too small.
    """
    scale = sqrt(2 * log(200000)) / 12
    return dp.check(gaussian(scale), dp.ApproxDP(12, Rational(1, 10**5)))


@refuted(source="a slip: the variance of the classical formula used as a standard deviation")
def gaussian_noise_with_the_scale_squared():
    """False: for epsilon <= 1 a standard deviation of 2 log(5/(4 delta)) Delta^2/epsilon^2 is
    enough; here for epsilon = 1, delta = 1/10^5 and Delta = 1/10.

    Idea: for a small Delta the square is less than the number.
    """
    variance = 2 * log(125000) / 100
    mechanism = dp.AdditiveNoise(noise.Gaussian(sigma=variance), Rational(1, 10))
    return dp.check(mechanism, dp.ApproxDP(1, Rational(1, 10**5)))


@refuted(source="a slip: a sensitivity reported without its square root")
def gaussian_noise_with_a_squared_sensitivity():
    """False: noise of standard deviation s Delta^2 on an answer with sensitivity Delta is
    RenyiDP(alpha, alpha/(2 s^2)).

    Idea: for Delta < 1 it is too little noise.
    """
    mechanism = gaussian(sigma * Delta)
    return dp.check(mechanism, dp.RenyiDP(alpha, alpha / (2 * sigma**2)), where=ABOVE_ONE)


@refuted(source="a slip: the loss looked at under Q in place of P")
def gaussian_tail_under_the_wrong_law():
    """False: noise N(0, 1) on an answer with sensitivity mu is ApproxDP(eps, Phi(-eps/mu - mu/2)).

    Idea: delta is at most P(L > eps) = Phi(mu/2 - eps/mu); under Q the loss has the mean -mu^2/2.
    """
    mechanism = dp.AdditiveNoise(noise.Gaussian(sigma=1), mu)
    return dp.check(mechanism, dp.ApproxDP(epsilon, phi(-epsilon / mu - mu / 2)))


@refuted(source="a library's scale for Gaussian noise, computed in floating point")
def gaussian_noise_from_rounded_arithmetic():
    """False: the standard deviation 2612449488023683/2^53 is enough for sensitivity 1, epsilon = 20
    and delta = 1/10^5.

    Idea: far in the tail 1 - Phi loses its digits; delta is 1.00015/10^5.
    """
    scale = Rational(2612449488023683, 2**53)
    mechanism = dp.AdditiveNoise(noise.Gaussian(sigma=scale), 1)
    return dp.check(mechanism, dp.ApproxDP(20, Rational(1, 10**5)))


@refuted(source="a slip: the factor 1/2 outside the exponent")
def laplace_hockey_stick_with_half_outside():
    """False: Laplace noise is ApproxDP(eps, (1 - e^(eps - Delta/b))/2) for eps < Delta/b.

    Idea: it is 1 - e^((eps - Delta/b)/2).
    """
    mechanism = dp.AdditiveNoise(noise.Laplace(b), Delta)
    claim = dp.ApproxDP(epsilon, (1 - exp(epsilon - Delta / b)) / 2)
    return dp.check(mechanism, claim, where=[epsilon < Delta / b])


@refuted(source="Mironov (2017), Proposition 6, with its two coefficients swapped")
def laplace_renyi_with_swapped_coefficients():
    """False: Laplace noise of scale 1 has the divergence log(m)/(alpha - 1) with
    m = (alpha - 1)/(2 alpha - 1) e^((alpha - 1) t) + alpha/(2 alpha - 1) e^(-alpha t).

    Idea: the larger coefficient belongs to the larger loss.
    """
    moment = (alpha - 1) / (2 * alpha - 1) * exp((alpha - 1) * t)
    moment += alpha / (2 * alpha - 1) * exp(-alpha * t)
    mechanism = dp.AdditiveNoise(noise.Laplace(1), t)
    return dp.check(mechanism, dp.RenyiDP(alpha, log(moment) / (alpha - 1)), where=ABOVE_ONE)


@refuted(source="a slip: Laplace noise scaled to the Euclidean sensitivity")
def laplace_noise_scaled_to_the_euclidean_distance():
    """False: two answers that change by at most d1 and d2, with Laplace noise of scale
    sqrt(d1^2 + d2^2)/eps on each, are PureDP(eps).

    Idea: the losses d1/b and d2/b add.
    """
    d1, d2 = symbols("d1 d2", positive=True)
    vector = dp.VectorLaplace(sqrt(d1**2 + d2**2) / epsilon, d1 + d2)
    return dp.check(vector, dp.PureDP(epsilon))


@refuted(source="a proposal for a library; see Holohan, Antonatos, Braghin and Mac Aonghusa (2018)")
def laplace_noise_drawn_again_until_it_fits():
    """False: Laplace noise of scale b, drawn until the sum is in [0, w], is PureDP(Delta/b).

    Idea: the probability to fit differs between the neighbours, and its ratio comes on top.
    """

    def size(centre):
        return 1 - (exp(-centre / b) + exp(-(w - centre) / b)) / 2

    x = symbols("x", real=True)
    laws = [exp(-abs(x - centre) / b) / (2 * b * size(centre)) for centre in (0, Delta)]
    pair = dp.DensityPair(*laws, x, Interval(0, w))
    return dp.check(pair, dp.PureDP(Delta / b), where=[w > Delta])


@refuted(source="a slip: a threshold that is passed one count earlier")
def a_threshold_off_by_one():
    """False: release a key with count 1 plus geometric noise of scale b if this is at least tau: a
    data set without the key differs in ApproxDP(eps, e^(-tau/b)/(1 + e^(-1/b))).

    Idea: noise of tau - 1 is enough, so the probability is e^(-(tau - 1)/b)/(1 + e^(-1/b)).
    """
    tau = symbols("tau", integer=True)
    released, claimed = (exp(-count / b) / (1 + exp(-1 / b)) for count in (tau - 1, tau))
    table = dp.Table([[released, 1 - released], [0, 1]])
    return dp.check(table, dp.ApproxDP(epsilon, claimed), where=[tau >= 1])


# -- 5. Directions and samples


@refuted(source="a slip: a divergence taken for symmetric")
def renyi_divergence_is_symmetric():
    """False: RenyiDP(alpha, eps) from P to Q holds from Q to P.

    Idea: an output that is rare under P and rarer under Q is worse in the one direction.
    """
    known = dp.RenyiDP(alpha, c, one_way=True)
    return dp.check(known, dp.RenyiDP(alpha, c), where=ABOVE_ONE)


@refuted(
    source="Mironov, Talwar and Zhang (2019), Theorem 5, beyond Gaussians; Lebeda et al. (2024)"
)
def removing_a_record_is_always_the_worse_direction():
    """False: for a mechanism on a Poisson sample, with laws of two outputs, the divergence from the
    smaller data set to the larger one is at most that from the larger to the smaller.

    Idea: the theorem rests on a reflection that swaps the two normal laws.
    """

    def law(chance):
        return Piecewise((chance, Eq(j, 1)), (1 - chance, True))

    mixed = (1 - q) * w + q * p
    forward = mixed**alpha * w ** (1 - alpha) + (1 - mixed) ** alpha * (1 - w) ** (1 - alpha)
    pair = dp.PMFPair(law(w), law(mixed), j, Range(0, 2))
    claim = dp.RenyiDP(alpha, log(forward) / (alpha - 1), one_way=True)
    return dp.check(pair, claim, where=[alpha > 1, p < 1, q < 1, w < 1])


@refuted(source="a slip: Poisson sampling with the neighbours of the other scheme")
def poisson_sampling_for_replaced_records():
    """False: with Poisson sampling and a replaced record, PureDP(eps) is PureDP(log(1 + q (e^eps -
    1))).

    Idea: that PureDP(eps) holds between two present records says nothing of a record that is not
    there: let the output tell whether there is one.
    """
    keep, flip = q * exp(epsilon) / (1 + exp(epsilon)), q / (1 + exp(epsilon))
    table = dp.Table([[1 - q, keep, flip], [1 - q, flip, keep]])
    return dp.check(table, dp.PureDP(log(1 + q * (exp(epsilon) - 1))), where=[q < 1])


@refuted(source="training with batches of a fixed size, accounted as Poisson sampling")
def sampling_without_replacement_accounted_as_poisson():
    """False: the subsampled Gaussian mechanism without replacement has, for replaced records, the
    divergence of order 2 that it has for Poisson sampling, log(1 + q^2 (e^(1/sigma^2) - 1)).

    Idea: a replaced record moves the mean from 1 to -1 and not from 1 to 0.
    """
    base = noise.Gaussian(sigma=sigma)
    laws = [noise.Mixture([1 - q, q], [base, noise.Shifted(base, by)]) for by in (1, -1)]
    bound = log(1 + q**2 * (exp(1 / sigma**2) - 1))
    return dp.check(dp.DensityPair(*laws), dp.RenyiDP(2, bound), where=[q < 1])


@refuted(source="a rule of thumb: rho becomes q^2 rho; see Bun, Dwork, Rothblum and Steinke (2018)")
def sampling_squares_the_rate_in_renyi_dp():
    """False: at order 2 a Gaussian mechanism with the divergence mu^2 has q^2 mu^2 on a Poisson
    sample.

    Idea: it is log(1 + q^2 (e^(mu^2/sigma^2) - 1)), here with sigma = 1, and e^x - 1 > x.
    """
    base = noise.Gaussian(sigma=1)
    step = noise.Mixture([1 - q, q], [base, noise.Shifted(base, mu)])
    claim = dp.RenyiDP(2, q**2 * mu**2, one_way=True)
    return dp.check(dp.DensityPair(step, base), claim, where=[q < 1])


@refuted(source="Abadi et al. (2016), Lemma 3, without its remainder and conditions")
def moments_accountant_by_its_leading_term():
    """False: at integer orders alpha >= 2 a step of the subsampled Gaussian mechanism with sigma >=
    1 has a divergence of at most q^2 alpha/((1 - q) sigma^2).

    Idea: at high orders the moment grows like q^alpha e^(alpha^2/(2 sigma^2)).
    """
    order = symbols("alpha", integer=True, positive=True)
    claim = dp.RenyiDP(order, q**2 * order / ((1 - q) * sigma**2), one_way=True)
    return dp.check(subsampled_gaussian(), claim, where=[q < 1, sigma >= 1, order >= 2])
