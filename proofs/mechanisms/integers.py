"""Noise on the integers: geometric and discrete Gaussian.

An answer is a whole number that changes by at most n, a whole number, between neighbouring data
sets. The noise has masses f(j) on the integers j, so the output masses on two neighbours are f(j)
and f(j - t), for a whole number |t| <= n; what is claimed is claimed for all of these t and in both
directions. That the masses are nonnegative and add to 1 is proved along the way.

Sums take the place of integrals. One in closed form is checked by telescoping: the summand is F(j +
1) - F(j). RenyiDP(alpha, eps) says that the sum of p^alpha q^(1 - alpha) is at most e^((alpha - 1)
eps), PureDP(eps) that p <= e^eps q at every output; see composition.py.
"""

from sympy import Rational, symbols

import dpsym as dp
from dpsym.scripts import proved, refuted

b, sigma = symbols("b sigma", positive=True)
n, order = symbols("n order", integer=True, positive=True)


@proved(source="Ghosh, Roughgarden and Sundararajan (2012), Definition 2.1")
def geometric_is_pure():
    """Geometric noise, with masses proportional to e^(-|j|/b), is PureDP(n/b).

    Idea: the triangle inequality, as for Laplace noise. Exact.
    """
    mechanism = dp.AdditiveNoise(dp.noise.Geometric(scale=b), sensitivity=n)
    return dp.check(mechanism, dp.PureDP(n / b))


@proved(source="Canonne, Kamath and Steinke (2020), Proposition 5, for integer orders")
def discrete_gaussian_renyi():
    """Discrete Gaussian noise, with masses proportional to e^(-j^2/(2 sigma^2)), is
    RenyiDP(order, order n^2/(2 sigma^2)) at the orders 2, 3, ...

    Idea: complete the square as for the normal law. What is left is the sum of the masses moved by
    order times t, a whole number, so it is 1. Exact.
    """
    mechanism = dp.AdditiveNoise(dp.noise.DiscreteGaussian(sigma=sigma), sensitivity=n)
    claim = dp.RenyiDP(order, order * n**2 / (2 * sigma**2))
    return dp.check(mechanism, claim, where=[order >= 2])


@proved(source="Canonne, Kamath and Steinke (2020), Proposition 5, in the limit of order 1")
def discrete_gaussian_kullback_leibler():
    """Discrete Gaussian noise has a Kullback-Leibler divergence of at most n^2/(2 sigma^2).

    Idea: the loss is linear in the output, and the mean of the noise is 0. Exact.
    """
    mechanism = dp.AdditiveNoise(dp.noise.DiscreteGaussian(sigma=sigma), sensitivity=n)
    return dp.check(mechanism, dp.RenyiDP(1, n**2 / (2 * sigma**2)))


@refuted(source="a slip: a sensitivity rounded down; a mended bug of a library for bounded means")
def sensitivity_rounded_down():
    """False: Laplace noise of scale 1 on an answer with sensitivity 3/2 is PureDP(1).

    Idea: the loss is 3/2.
    """
    mechanism = dp.AdditiveNoise(dp.noise.Laplace(1), sensitivity=Rational(3, 2))
    return dp.check(mechanism, dp.PureDP(1))


@refuted(source="a slip: rounding a noise taken for the noise of the same name on the integers")
def rounded_laplace_is_geometric():
    """False: Laplace noise of scale b, rounded to integers, has the masses of geometric noise.

    Idea: the mass at 0 is 1 - e^(-1/(2 b)) and not (1 - e^(-1/b))/(1 + e^(-1/b)).
    """
    pair = dp.PMFPair(dp.noise.RoundedLaplace(b), dp.noise.Geometric(b))
    return dp.check(pair, dp.PureDP(0))
