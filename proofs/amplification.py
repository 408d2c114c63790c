"""Amplification: a mechanism that sees a random sample of the data is more private than it was.

A mechanism is run on a random sample, and which records are in it stays secret. P and Q are the
output distributions on two neighbouring data sets. The proofs write them as mixtures. With a
sampling rate q:

* Poisson sampling, neighbours by adding or removing a record: each record is in the sample with
  probability q, independently. Let A be the output distribution given that the record is not in the
  sample, B given that it is. Then one of the two is (1 - q) A + q B, the other is A, and B and A
  are outputs of the mechanism itself on neighbouring samples.
* Sampling without replacement, neighbours by replacing a record: a fixed number of records is
  drawn, each with probability q. Then the two are (1 - q) A + q B and (1 - q) A + q C: the record
  is not there, or it is there with the one value or the other. B and C come from neighbouring
  samples; A and B do as well, as a sample without the record is coupled to the one in which another
  record has taken its place.
* Sampling with replacement, neighbours by replacing a record: m times one of n records is drawn, so
  that a record occurs k times with probability w_k = C(m, k) n^-k (1 - 1/n)^(m - k). Given that it
  occurs k times, B and C are outputs on samples that differ in k records. The others are as before,
  with q = 1 - w_0, and one k after the other: P is the mean of (1 - q) A + q B_k with the weights
  w_k/q.

Given a guarantee for each of these pairs, what has to be shown is an inequality between three
numbers a, b and c, the densities of A, B and C at one output. The gain is that the part A is common
to both.

PureDP(eps) says p <= e^eps q, ApproxDP(eps, delta) that (p - e^eps q)_+ integrates to at most
delta, RenyiDP(alpha, eps) that p^alpha q^(1 - alpha) integrates to at most e^((alpha - 1) eps), for
(P, Q) and for (Q, P) unless one_way=True. See composition.py for the notions.
"""

from sympy import Max, Rational, binomial, erfc, exp, log, sqrt, symbols

import dpsym as dp
from dpsym import noise
from dpsym.scripts import proved, refuted

epsilon, delta = symbols("epsilon delta", nonnegative=True)
q, sigma, b = symbols("q sigma b", positive=True)
n = symbols("n", integer=True, positive=True)
x_a, x_b, x_c = symbols("a b c", nonnegative=True)

RATE = [q <= 1]
AMPLIFIED = log(1 + q * (exp(epsilon) - 1))
WITHOUT_REPLACEMENT = "without_replacement"


def gaussian_profile(shift, at):
    """The hockey-stick divergence of N(shift, 1) from N(0, 1)."""

    def normal(x):
        return erfc(-x / sqrt(2)) / 2

    return normal(shift / 2 - at / shift) - exp(at) * normal(-shift / 2 - at / shift)


def subsampled_gaussian(rate):
    """A step of the Poisson-subsampled Gaussian mechanism with the record, and without it."""
    base = noise.Gaussian(sigma=sigma)
    step = noise.Mixture([1 - rate, rate], [base, noise.Shifted(base, 1)])
    return dp.DensityPair(step, base)


# -- 1. The identity behind it


@proved(source="Balle, Barthe and Gaboardi (2018), Theorem 2, advanced joint convexity")
def advanced_joint_convexity():
    """With e^w = 1 + q (e^eps - 1) and s = e^(w - eps), for all a, b, c >= 0
    ((1 - q) a + q b - e^w ((1 - q) a + q c))_+ = q (b - e^eps ((1 - s) a + s c))_+.

    Idea: both sides are the same linear function of a, b and c, under the positive part. On the
    right there is the mechanism's own e^eps, against a mixture of A and C, to both of which B is
    close. Exact: it is an equality.
    """
    share = exp(AMPLIFIED - epsilon)
    mixed = (1 - q) * x_a + q * x_b - exp(AMPLIFIED) * ((1 - q) * x_a + q * x_c)
    left = Max(0, mixed)
    right = q * Max(0, x_b - exp(epsilon) * ((1 - share) * x_a + share * x_c))
    return [
        dp.check_inequality(left, right, where=[q <= 1]),
        dp.check_inequality(right, left, where=[q <= 1]),
    ]


# -- 2. Poisson sampling, add or remove a record


@proved(source="Li, Qardaji and Su (2012); Balle, Barthe and Gaboardi (2018), Theorem 8")
def poisson_sampling_amplifies_pure_dp():
    """A mechanism with PureDP(eps) on a Poisson sample is PureDP(log(1 + q (e^eps - 1))).

    Idea: b <= e^eps a gives (1 - q) a + q b <= (1 - q + q e^eps) a. In the other direction a is
    at most e^eps b, and the same factor is enough. Exact: randomized response on a single record.
    """
    return dp.check(dp.subsample(dp.PureDP(epsilon), q), dp.PureDP(AMPLIFIED), where=RATE)


@proved(source="Balle, Barthe and Gaboardi (2018), Theorem 8")
def poisson_sampling_amplifies_approximate_dp():
    """A mechanism with ApproxDP(eps, delta) on a Poisson sample is
    ApproxDP(log(1 + q (e^eps - 1)), q delta).

    Idea: advanced joint convexity, with C = A in the one direction and B = A in the other. Exact:
    give the input away with probability delta, else randomized response.
    """
    step = dp.subsample(dp.ApproxDP(epsilon, delta), q)
    return dp.check(step, dp.ApproxDP(AMPLIFIED, q * delta), where=RATE)


@proved(source="the same at epsilon = 0")
def poisson_sampling_amplifies_total_variation():
    """A total variation distance of at most delta becomes one of at most q delta.

    Idea: log(1 + q (e^0 - 1)) = 0. Exact: it is an equality.
    """
    return dp.check(dp.subsample(dp.ApproxDP(0, delta), q), dp.ApproxDP(0, q * delta), where=RATE)


@proved(source="Balle, Barthe and Gaboardi (2018), Theorem 2; Zhu, Dong and Wang (2022)")
def poisson_sampling_from_the_larger_data_set():
    """From the data set with the record to the one without it,
    ApproxDP(log(1 + (e^eps - 1)/q), delta) becomes ApproxDP(eps, q delta).

    Idea: ((1 - q) a + q b - e^eps a)_+ = q (b - (1 + (e^eps - 1)/q) a)_+. Exact: it is an equality.
    """
    own = log(1 + (exp(epsilon) - 1) / q)
    step = dp.subsample(dp.ApproxDP(own, delta, one_way=True), q)
    return dp.check(step, dp.ApproxDP(epsilon, q * delta, one_way=True), where=RATE)


@proved(source="folklore, by e^eps - 1 <= 2 eps for eps <= 1")
def poisson_sampling_for_a_small_epsilon():
    """For eps <= 1, a mechanism with PureDP(eps) on a Poisson sample is PureDP(q (e^eps - 1)) and
    PureDP(2 q eps).

    Idea: log(1 + x) <= x, and e^eps - 1 <= 2 eps for eps <= 1. Loose: by a factor of 2 in the
    limit of a small eps.
    """
    step = dp.subsample(dp.PureDP(epsilon), q)
    return [
        dp.check(step, dp.PureDP(q * (exp(epsilon) - 1)), where=[*RATE, epsilon <= 1]),
        dp.check(step, dp.PureDP(2 * q * epsilon), where=[*RATE, epsilon <= 1]),
    ]


@proved(source="Hoeffding (1963), Lemma 1, for a variable with two values")
def amplification_is_nearly_linear():
    """q eps <= log(1 + q (e^eps - 1)) <= q eps + eps^2/8 for 0 < q <= 1.

    Idea: it is the logarithm of a moment of a variable that is eps with probability q, else 0: at
    least its mean, by Jensen's inequality, at most the mean plus eps^2/8, by Hoeffding's. Loose:
    the middle is q eps + q (1 - q) eps^2/2 + O(eps^3).
    """
    return [
        dp.check_inequality(q * epsilon, AMPLIFIED, where=[q <= 1]),
        dp.check_inequality(AMPLIFIED, q * epsilon + epsilon**2 / 8, where=[q <= 1]),
    ]


# -- 3. Sampling without replacement, replace a record


@proved(source="Balle, Barthe and Gaboardi (2018), Theorem 9")
def sampling_without_replacement_amplifies_pure_dp():
    """A mechanism with PureDP(eps) on a sample without replacement is PureDP(log(1 + q (e^eps -
    1))).

    Idea: b is at most e^eps a and at most e^eps c, so at most e^eps ((1 - s) a + s c) for the s of
    advanced joint convexity. Exact: randomized response on the record, when it is there.
    """
    step = dp.subsample(dp.PureDP(epsilon), q, method=WITHOUT_REPLACEMENT)
    return dp.check(step, dp.PureDP(AMPLIFIED), where=RATE)


@proved(source="Balle, Barthe and Gaboardi (2018), Theorem 9")
def sampling_without_replacement_amplifies_approximate_dp():
    """A mechanism with ApproxDP(eps, delta) on a sample without replacement is
    ApproxDP(log(1 + q (e^eps - 1)), q delta).

    Idea: advanced joint convexity, then (b - e^eps ((1 - s) a + s c))_+ is at most (1 - s) (b -
    e^eps a)_+ + s (b - e^eps c)_+, whose integrals are at most delta. Exact: give a record away
    with probability delta, else randomized response.
    """
    step = dp.subsample(dp.ApproxDP(epsilon, delta), q, method=WITHOUT_REPLACEMENT)
    return dp.check(step, dp.ApproxDP(AMPLIFIED, q * delta), where=RATE)


# -- 4. Sampling with replacement, replace a record


@proved(source="Balle, Barthe and Gaboardi (2018), Theorem 10")
def sampling_with_replacement_amplifies_approximate_dp():
    """Of m records drawn with replacement from n: a mechanism that has ApproxDP(eps, delta_k) for
    samples that differ in at most k records is ApproxDP(log(1 + q (e^eps - 1)), sum of C(m, k) n^-k
    (1 - 1/n)^(m - k) delta_k over k from 1 to m), where q = 1 - (1 - 1/n)^m; here for m = 1, 2 and
    3, with n and delta_k free.

    Idea: for each k, the samples with k times the record are of a fixed size, and the record is in
    them with probability q: that is ApproxDP(log(1 + q (e^eps - 1)), q delta_k). Means of such
    pairs have the mean delta, as (x + y)_+ is at most x_+ + y_+. Exact: give a record away the more
    often the more there are of it in the sample.
    """
    verdicts = []
    for draws in (1, 2, 3):
        deltas = symbols(f"delta1:{draws + 1}", nonnegative=True)
        known = [dp.ApproxDP(epsilon, own) for own in deltas]
        step = dp.subsample(known, 1 / n, method="with_replacement", draws=draws)
        rest = 1 - 1 / n
        weights = [binomial(draws, k) * n**-k * rest ** (draws - k) for k in range(1, draws + 1)]
        total = sum(weight * own for weight, own in zip(weights, deltas, strict=True))
        loss = log(1 + (1 - rest**draws) * (exp(epsilon) - 1))
        verdicts.append(dp.check(step, dp.ApproxDP(loss, total)))
    return verdicts


# -- 5. Renyi divergences of Poisson samples


def whole_order(order, moments):
    """The sum of C(n, k) (1 - q)^(n - k) q^k times the k-th of these, over k from 0 to n."""
    return sum(
        binomial(order, k) * (1 - q) ** (order - k) * q**k * moment
        for k, moment in enumerate(moments)
    )


@proved(source="Mironov, Talwar and Zhang (2019), Section 3.3; Zhu and Wang (2019), Theorem 6")
def poisson_sampling_amplifies_renyi_dp():
    """With t_k = e^((k - 1) eps_k): a mechanism with RenyiDP(k, eps_k) for k from 2 to n on a
    Poisson sample has RenyiDP(n, log(sum of C(n, k) (1 - q)^(n - k) q^k t_k)/(n - 1)), where t_0 =
    t_1 = 1; here for n = 2, 3 and 4, with eps_k free.

    Idea: with t = b/a and g = 1 - q + q t, one direction is the integral of g^n, multiplied out.
    For the other one, of g^(1 - n), let h = 1 - q + q/t and w = (2 n - 1) q/(3 + 2 (n - 2) q). Then
    g^(1 - n) <= (1 - w) g^n + w t h^n + c (t - 1), where c makes both sides touch at t = 1: their
    difference is (t - 1)^4 times something positive. Both g^n and t h^n have the same bound. Exact:
    in the first direction, where all eps_k are attained at once, as by Gaussian noise.
    """
    losses = symbols("epsilon2:5", nonnegative=True)
    verdicts = []
    for order in (2, 3, 4):
        known = [dp.RenyiDP(k, loss) for k, loss in enumerate(losses[: order - 1], 2)]
        moments = [1, 1, *(exp((k - 1) * loss) for k, loss in enumerate(losses[: order - 1], 2))]
        step = dp.subsample(known[0] if order == 2 else dp.both(*known), q)
        claim = dp.RenyiDP(order, log(whole_order(order, moments)) / (order - 1))
        verdicts.append(dp.check(step, claim, where=RATE))
    return verdicts


@proved(source="Mironov, Talwar and Zhang (2019), Theorem 5 and Section 3.3; Abadi et al. (2016)")
def noisy_gradient_descent_has_renyi_dp():
    """k steps of the Gaussian mechanism, each on a Poisson sample, have RenyiDP(n, k log(sum of
    C(n, j) (1 - q)^(n - j) q^j e^(j (j - 1)/(2 sigma^2)))/(n - 1)) in both directions; here for the
    orders n = 2, 4 and 8, and every number k of steps.

    Idea: the theorem above for one step, as Gaussian noise has zCDP 1/(2 sigma^2), and Renyi
    divergences at one order add up. Exact: for one step and a record that is added, it is the
    divergence.
    """
    steps = symbols("k", integer=True, positive=True)
    step = dp.subsample(dp.AdditiveNoise(noise.Gaussian(sigma=sigma), sensitivity=1), q)
    verdicts = []
    for order in (2, 4, 8):
        moments = [exp(Rational(j * (j - 1), 2) / sigma**2) for j in range(order + 1)]
        total = steps * log(whole_order(order, moments)) / (order - 1)
        verdicts.append(dp.check(dp.repeat(step, steps), dp.RenyiDP(order, total), where=RATE))
    return verdicts


# -- 6. Explicit mechanisms


@proved(source="Balle, Barthe and Gaboardi (2018), Theorem 8, with Dwork et al. (2006)")
def subsampled_laplace():
    """The Laplace mechanism with scale b and sensitivity 1 on a Poisson sample is
    PureDP(log(1 + q (e^(1/b) - 1))).

    Idea: the mechanism is PureDP(1/b). Exact: outputs far to the one side attain it.
    """
    step = dp.subsample(dp.AdditiveNoise(noise.Laplace(b), 1), q)
    return dp.check(step, dp.PureDP(log(1 + q * (exp(1 / b) - 1))), where=RATE)


@proved(source="Balle, Barthe and Gaboardi (2018); Zhu, Dong and Wang (2022)")
def subsampled_gaussian_hockey_stick():
    """The Gaussian mechanism with noise sigma and sensitivity 1 on a Poisson sample is
    ApproxDP(eps, q H(log(1 + (e^eps - 1)/q))), with H the Gaussian mechanism's own divergence.

    Idea: poisson_sampling_from_the_larger_data_set, with the mechanism's divergence at the larger
    epsilon; the other direction has less. Exact: it is attained when the record is removed.
    """
    own = log(1 + (exp(epsilon) - 1) / q)
    step = dp.subsample(dp.AdditiveNoise(noise.Gaussian(sigma=sigma), 1), q)
    claim = dp.ApproxDP(epsilon, q * gaussian_profile(1 / sigma, own))
    return dp.check(step, claim, where=RATE, budget=60)


@proved(source="Mironov, Talwar and Zhang (2019), section 3.3; Abadi et al. (2016)")
def subsampled_gaussian_renyi_at_integer_orders():
    """From the data set with the record to the one without it, the Poisson-subsampled Gaussian
    mechanism has, at the orders n = 2, 3 and 4, the divergence log(S)/(n - 1) with
    S = sum over j <= n of C(n, j) (1 - q)^(n - j) q^j e^(j (j - 1)/(2 sigma^2)).

    Idea: (1 - q + q t)^n is a sum of powers t^j, by the binomial theorem, and the moment of t^j for
    two Gaussians is e^(j (j - 1)/(2 sigma^2)). Exact: it is an equality.
    """
    verdicts = []
    for order in (2, 3, 4):
        terms = [
            binomial(order, j) * (1 - q) ** (order - j) * q**j * exp(j * (j - 1) / (2 * sigma**2))
            for j in map(Rational, range(order + 1))
        ]
        claim = dp.RenyiDP(order, log(sum(terms)) / (order - 1), one_way=True)
        verdicts.append(dp.check(subsampled_gaussian(q), claim, where=RATE))
    return verdicts


# -- 7. What does not hold


@refuted(source="a slip: the rate times epsilon, which is the limit for a small epsilon")
def sampling_multiplies_epsilon():
    """False: a mechanism with ApproxDP(eps, delta) on a Poisson sample is ApproxDP(q eps, q delta).

    Idea: log(1 + q (e^eps - 1)) is larger than q eps, since the exponential is convex.
    """
    step = dp.subsample(dp.ApproxDP(epsilon, delta), q)
    return dp.check(step, dp.ApproxDP(q * epsilon, q * delta), where=RATE)


@refuted(source="poisson_sampling_for_a_small_epsilon, used beyond epsilon = 1")
def sampling_doubles_the_rate_for_any_epsilon():
    """False: for eps <= 2, a mechanism with PureDP(eps) on a Poisson sample is PureDP(2 q eps).

    Idea: at eps = 2, log(1 + q (e^2 - 1)) is about 6.4 q for a small q.
    """
    step = dp.subsample(dp.PureDP(epsilon), q)
    return dp.check(step, dp.PureDP(2 * q * epsilon), where=[*RATE, epsilon <= 2])


@refuted(source="the next smaller delta after Balle, Barthe and Gaboardi (2018), Theorem 9")
def sampling_without_replacement_halves_delta_too():
    """False: without replacement the delta is q delta/2 at the same epsilon.

    Idea: the mechanism that gives its input away with probability delta does so for a record in
    the sample with probability q delta.
    """
    step = dp.subsample(dp.ApproxDP(epsilon, delta), q, method=WITHOUT_REPLACEMENT)
    return dp.check(step, dp.ApproxDP(AMPLIFIED, q * delta / 2), where=RATE)
