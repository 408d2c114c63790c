"""The Gaussian mechanism: an answer, plus noise from a normal law.

An answer f(D) is a number that changes by at most Delta, its sensitivity, between neighbouring data
sets. The mechanism gives f(D) + N(0, sigma^2). Its output distributions on two neighbours are N(0,
sigma^2) and N(t, sigma^2) up to a common shift, for some |t| <= Delta; what is claimed is claimed
for all of these t and in both directions. That the densities are nonnegative and have mass 1 is
proved along the way.

The loss L = log(p/q) is linear in the output, so under p it is normal itself, with mean t^2/(2
sigma^2) and variance t^2/sigma^2. It is unbounded: there is no pure guarantee. The proofs integrate
over the outputs; an antiderivative is checked by differentiating it. The largest t is the worst
since each integral grows with it.

RenyiDP(alpha, eps) bounds E[e^((alpha - 1) L)] by e^((alpha - 1) eps), ZCDP(rho) says so of every
alpha > 1 with eps = rho alpha, ApproxDP(eps, delta) bounds E[(1 - e^(eps - L))_+] by delta, GDP(mu)
says that this expectation is at most that of the pair N(mu, 1), N(0, 1) at every real eps. Phi is
the distribution function of the standard normal law.
"""

from sympy import Rational, erfc, exp, log, sqrt, symbols

import dpsym as dp
from dpsym.scripts import proved, refuted

sigma, Delta = symbols("sigma Delta", positive=True)
alpha, epsilon = symbols("alpha epsilon", positive=True)

gaussian = dp.AdditiveNoise(dp.noise.Gaussian(sigma=sigma), sensitivity=Delta)


def phi(x):
    """The distribution function of the standard normal law."""
    return erfc(-x / sqrt(2)) / 2


@proved(source="Mironov (2017), Proposition 7")
def gaussian_renyi():
    """RenyiDP(alpha, alpha Delta^2/(2 sigma^2)), for alpha > 1.

    Idea: p^alpha q^(1 - alpha) is again a normal density, moved by alpha t, times
    e^(alpha (alpha - 1) t^2/(2 sigma^2)): complete the square. Exact.
    """
    claim = dp.RenyiDP(alpha, alpha * Delta**2 / (2 * sigma**2))
    return dp.check(gaussian, claim, where=[alpha > 1])


@proved(source="Bun and Steinke (2016), Proposition 1.6")
def gaussian_is_concentrated():
    """ZCDP(Delta^2/(2 sigma^2)), and a Kullback-Leibler divergence of at most this.

    Idea: the divergence is linear in the order. Exact.
    """
    rho = Delta**2 / (2 * sigma**2)
    return [dp.check(gaussian, dp.ZCDP(rho)), dp.check(gaussian, dp.RenyiDP(1, rho))]


@proved(source="Dong, Roth and Su (2022), Theorem 2.7")
def gaussian_is_gaussian_dp():
    """GDP(Delta/sigma).

    Idea: for t = Delta it is the definition, in units of sigma. Exact.
    """
    return dp.check(gaussian, dp.GDP(Delta / sigma))


@proved(source="Balle and Wang (2018), Theorem 8, the analytic Gaussian mechanism")
def analytic_gaussian():
    """ApproxDP(epsilon, Phi(mu/2 - epsilon/mu) - e^epsilon Phi(-mu/2 - epsilon/mu)), mu =
    Delta/sigma.

    Idea: p > e^epsilon q on a half-line, which has the first mass under p and the second under q.
    Exact.
    """
    mu = Delta / sigma
    best = phi(mu / 2 - epsilon / mu) - exp(epsilon) * phi(-mu / 2 - epsilon / mu)
    return dp.check(gaussian, dp.ApproxDP(epsilon, best))


@proved(source="Dwork and Roth (2014), Theorem A.1, which has epsilon <= 1")
def classical_gaussian():
    """With t = sqrt(2 log(5/(4 delta))), sigma = t Delta/epsilon gives ApproxDP(epsilon, delta) for
    epsilon <= 9/5 and t^2 >= epsilon/2; at epsilon = 1 the latter says that delta <= 0.97.

    Idea: delta is at most P(L > epsilon) = Phi(epsilon/(2 t) - t), and Phi(-x) <= e^(-x^2/2)/2 for
    x >= 0. Loose: at epsilon = 1 and delta = 1/10^5, sigma = 4.84 Delta where 3.73 Delta is enough.
    """
    t = symbols("t", positive=True)
    mechanism = dp.AdditiveNoise(dp.noise.Gaussian(sigma=t * Delta / epsilon), sensitivity=Delta)
    claim = dp.ApproxDP(epsilon, Rational(5, 4) * exp(-(t**2) / 2))
    return dp.check(mechanism, claim, where=[epsilon <= Rational(9, 5), t**2 >= epsilon / 2])


@proved(source="Dwork and Roth (2014), Theorem A.1, for several answers")
def gaussian_noise_on_a_vector():
    """Noise N(0, sigma^2) on each coordinate of a vector that changes by at most Delta in Euclidean
    distance is ZCDP(Delta^2/(2 sigma^2)).

    Idea: the density depends on distances alone, so the axes may be turned until the change is
    along one of them, and there it is the mechanism with one answer. Exact.
    """
    vector = dp.VectorGaussian(sigma=sigma, l2_sensitivity=Delta)
    return dp.check(vector, dp.ZCDP(Delta**2 / (2 * sigma**2)))


@refuted(
    source="Dwork and Roth (2014), Theorem A.1, used beyond its range; see Balle and Wang (2018)"
)
def classical_gaussian_for_large_epsilon():
    """False: the classical formula for epsilon = 10 and delta = 1/10^5.

    Idea: for a large epsilon the exact sigma falls like 1/sqrt(2 epsilon), the formula's like
    1/epsilon.
    """
    noise = dp.noise.Gaussian(sigma=sqrt(2 * log(125000)) / 10)
    mechanism = dp.AdditiveNoise(noise, sensitivity=1)
    return dp.check(mechanism, dp.ApproxDP(10, Rational(1, 10**5)))


@refuted(source="a slip: the standard deviation in place of the variance")
def gaussian_renyi_with_sigma_not_squared():
    """False: RenyiDP(alpha, alpha Delta^2/(2 sigma)).

    Idea: for sigma < 1 this is less than the exact value.
    """
    claim = dp.RenyiDP(alpha, alpha * Delta**2 / (2 * sigma))
    return dp.check(gaussian, claim, where=[alpha > 1])
