"""Noise mechanisms: Gaussian, Laplace, geometric, discrete Gaussian, Cauchy, randomized response.

Additive noise with density f puts out f(x) on one input and f(x - t) on a neighbouring one, for
every shift t with |t| <= Delta, the sensitivity. What is claimed is claimed for all of these shifts
and in both directions; that the densities are nonnegative and have mass 1 is proved along the way.

The proofs integrate. For the Renyi divergence of the Gaussian, p^alpha q^(1 - alpha) is again a
normal density, moved and multiplied, and has mass 1; for Laplace it is exponential on three pieces.
For the hockey-stick divergence the outputs are cut where p = e^epsilon q. Every antiderivative is
checked by differentiating it. The largest shift is the worst since the integral grows with t.

Sources: Mironov (2017), Renyi Differential Privacy, Propositions 6 and 7; Balle and Wang (2018),
Improving the Gaussian Mechanism for Differential Privacy, Theorem 8; Bun and Steinke (2016),
Proposition 1.6; Dwork and Roth (2014), Theorem A.1; Canonne, Kamath and Steinke (2020), The
Discrete Gaussian, Proposition 5; Ghosh, Roughgarden and Sundararajan (2012), Definition 2.1.
"""

from sympy import Rational, asinh, erfc, exp, log, sqrt, symbols, tanh

import dpsym as dp
from dpsym.scripts import proved, refuted

sigma, b, Delta = symbols("sigma b Delta", positive=True)
alpha, epsilon, delta = symbols("alpha epsilon delta", positive=True)
n, order = symbols("n order", integer=True, positive=True)

gaussian = dp.AdditiveNoise(dp.noise.Gaussian(sigma=sigma), sensitivity=Delta)
laplace = dp.AdditiveNoise(dp.noise.Laplace(scale=b), sensitivity=Delta)


def normal(x):
    """The distribution function of the standard normal law."""
    return erfc(-x / sqrt(2)) / 2


# -- Gaussian noise


@proved(source="Mironov (2017), Proposition 7")
def gaussian_renyi():
    """The divergence of order alpha is at most alpha Delta^2/(2 sigma^2)."""
    claim = dp.RenyiDP(alpha, alpha * Delta**2 / (2 * sigma**2))
    return dp.check(gaussian, claim, where=[alpha > 1])


@proved(source="Bun and Steinke (2016), Proposition 1.6")
def gaussian_is_concentrated():
    """Gaussian noise is Delta^2/(2 sigma^2)-zCDP."""
    return dp.check(gaussian, dp.ZCDP(Delta**2 / (2 * sigma**2)))


@proved(source="Balle and Wang (2018), Theorem 8")
def analytic_gaussian():
    """delta = Phi(mu/2 - epsilon/mu) - e^epsilon Phi(-mu/2 - epsilon/mu), mu = Delta/sigma."""
    mu = Delta / sigma
    best = normal(mu / 2 - epsilon / mu) - exp(epsilon) * normal(-mu / 2 - epsilon / mu)
    return dp.check(gaussian, dp.ApproxDP(epsilon, best))


@proved(source="Dwork and Roth (2014), Theorem A.1")
def classical_gaussian():
    """sigma = sqrt(2 log(5/(4 delta))) Delta/epsilon is enough for epsilon <= 1."""
    noise = dp.noise.Gaussian(sigma=sqrt(2 * log(Rational(5, 4) / delta)) * Delta / epsilon)
    where = [epsilon <= 1, delta < 1]
    mechanism = dp.AdditiveNoise(noise, sensitivity=Delta)
    return dp.check(mechanism, dp.ApproxDP(epsilon, delta), where=where, budget=100)


@refuted
def classical_gaussian_for_large_epsilon():
    """False for epsilon = 10 and delta = 1e-5."""
    noise = dp.noise.Gaussian(sigma=sqrt(2 * log(125000)) / 10)
    mechanism = dp.AdditiveNoise(noise, sensitivity=1)
    return dp.check(mechanism, dp.ApproxDP(10, Rational(1, 10**5)))


# -- Laplace noise


@proved(source="Dwork, McSherry, Nissim and Smith (2006), Proposition 1")
def laplace_is_pure():
    """Laplace noise is Delta/b-differentially private."""
    return dp.check(laplace, dp.PureDP(Delta / b))


@proved(source="Mironov (2017), Proposition 6")
def laplace_renyi():
    """The divergence of order alpha > 1, exactly."""
    up, down = exp((alpha - 1) * Delta / b), exp(-alpha * Delta / b)
    moment = alpha / (2 * alpha - 1) * up + (alpha - 1) / (2 * alpha - 1) * down
    return dp.check(laplace, dp.RenyiDP(alpha, log(moment) / (alpha - 1)), where=[alpha > 1])


@proved(source="Balle, Barthe and Gaboardi (2018), section 3")
def laplace_hockey_stick():
    """delta = 1 - e^((epsilon - Delta/b)/2) for epsilon <= Delta/b."""
    best = 1 - exp((epsilon - Delta / b) / 2)
    return dp.check(laplace, dp.ApproxDP(epsilon, best), where=[epsilon <= Delta / b])


@refuted
def laplace_with_half_the_loss():
    """False: Delta/(2 b) is too small."""
    return dp.check(laplace, dp.PureDP(Delta / (2 * b)))


# -- noise on the integers


@proved(source="Ghosh, Roughgarden and Sundararajan (2012)")
def geometric_is_pure():
    """The geometric mechanism is n/b-differentially private for integer sensitivity n."""
    mechanism = dp.AdditiveNoise(dp.noise.Geometric(scale=b), sensitivity=n)
    return dp.check(mechanism, dp.PureDP(n / b))


@proved(source="Canonne, Kamath and Steinke (2020), Proposition 5, for integer orders")
def discrete_gaussian_renyi():
    """At integer orders the divergence is that of the Gaussian: the sum is moved by an integer."""
    mechanism = dp.AdditiveNoise(dp.noise.DiscreteGaussian(sigma=sigma), sensitivity=n)
    claim = dp.RenyiDP(order, order * n**2 / (2 * sigma**2))
    return dp.check(mechanism, claim, where=[order >= 2])


# -- heavy tails, and randomized response


@proved(source="the maximum of a quotient of two quadratics")
def cauchy_is_pure():
    """Cauchy noise is 2 arsinh(Delta/(2 b))-differentially private."""
    mechanism = dp.AdditiveNoise(dp.noise.Cauchy(scale=b), sensitivity=Delta)
    return dp.check(mechanism, dp.PureDP(2 * asinh(Delta / (2 * b))))


@proved(source="Kairouz, Oh and Viswanath (2014), section 2.2, by direct summation")
def randomized_response_renyi():
    """k-ary randomized response, at order alpha > 1."""
    k = symbols("k", integer=True, positive=True)
    moment = (exp(alpha * epsilon) + exp((1 - alpha) * epsilon) + k - 2) / (exp(epsilon) + k - 1)
    claim = dp.RenyiDP(alpha, log(moment) / (alpha - 1))
    mechanism = dp.RandomizedResponse(epsilon, categories=k)
    return dp.check(mechanism, claim, where=[alpha > 1, k >= 2])


@proved(source="Bun and Steinke (2016), section 3, by direct summation")
def randomized_response_kl():
    """The Kullback-Leibler divergence of randomized response is epsilon tanh(epsilon/2)."""
    return dp.check(dp.RandomizedResponse(epsilon), dp.RenyiDP(1, epsilon * tanh(epsilon / 2)))
