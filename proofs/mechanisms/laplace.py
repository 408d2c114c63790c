"""The Laplace mechanism: an answer, plus noise from a Laplace law, and its relatives on the line.

An answer is a number that changes by at most Delta, its sensitivity, between neighbouring data
sets. Noise with the density f is added, so the output densities on two neighbours are f(x) and f(x
- t), for some |t| <= Delta; what is claimed is claimed for all of these t and in both directions.
That the densities are nonnegative and have mass 1 is proved along the way.

Laplace noise of scale b has f(x) = e^(-|x|/b)/(2 b). The loss log(f(x)/f(x - t)) = (|x - t| -
|x|)/b is constant outside the interval from 0 to t and linear on it, so integrals have three
pieces, each with an exponential. PureDP(eps) says that the loss is at most eps; the other notions
are those of composition.py.
"""

from sympy import asinh, exp, log, symbols

import dpsym as dp
from dpsym.scripts import proved, refuted

b, Delta = symbols("b Delta", positive=True)
alpha, epsilon = symbols("alpha epsilon", positive=True)

laplace = dp.AdditiveNoise(dp.noise.Laplace(scale=b), sensitivity=Delta)


@proved(source="Dwork, McSherry, Nissim and Smith (2006), Proposition 1")
def laplace_is_pure():
    """PureDP(Delta/b).

    Idea: the triangle inequality, |x - t| - |x| <= |t|. Exact.
    """
    return dp.check(laplace, dp.PureDP(Delta / b))


@proved(source="Mironov (2017), Proposition 6")
def laplace_renyi():
    """The divergence of order alpha > 1 is at most log(m)/(alpha - 1) with
    m = alpha/(2 alpha - 1) e^((alpha - 1) Delta/b) + (alpha - 1)/(2 alpha - 1) e^(-alpha Delta/b).

    Idea: p^alpha q^(1 - alpha) is exponential on each of the three pieces. Exact.
    """
    up, down = exp((alpha - 1) * Delta / b), exp(-alpha * Delta / b)
    moment = alpha / (2 * alpha - 1) * up + (alpha - 1) / (2 * alpha - 1) * down
    return dp.check(laplace, dp.RenyiDP(alpha, log(moment) / (alpha - 1)), where=[alpha > 1])


@proved(source="Mironov (2017), Proposition 6, in the limit of order 1")
def laplace_kullback_leibler():
    """The Kullback-Leibler divergence is at most Delta/b - 1 + e^(-Delta/b).

    Idea: the loss is Delta/b before 0, and linear from there on. Exact.
    """
    return dp.check(laplace, dp.RenyiDP(1, Delta / b - 1 + exp(-Delta / b)))


@proved(source="Balle, Barthe and Gaboardi (2018), section 3")
def laplace_hockey_stick():
    """ApproxDP(epsilon, 1 - e^((epsilon - Delta/b)/2)), for epsilon <= Delta/b.

    Idea: p > e^epsilon q to the left of (Delta - epsilon b)/2; the masses there are two
    exponentials. Exact.
    """
    best = 1 - exp((epsilon - Delta / b) / 2)
    return dp.check(laplace, dp.ApproxDP(epsilon, best), where=[epsilon <= Delta / b])


@proved(source="Dwork, McSherry, Nissim and Smith (2006), Proposition 1, for several answers")
def laplace_noise_on_a_vector():
    """Laplace noise of scale b on each coordinate of a vector that changes by at most Delta in
    total (the sum of the absolute changes) is PureDP(Delta/b).

    Idea: the losses of the coordinates add, and so do the changes. Exact: one coordinate may have
    all of the change.
    """
    return dp.check(dp.VectorLaplace(b, Delta), dp.PureDP(Delta / b))


@proved(source="the maximum of a quotient of two quadratics; Nissim et al. (2007) for the noise")
def cauchy_is_pure():
    """Cauchy noise of scale b is PureDP(2 arsinh(Delta/(2 b))).

    Idea: (b^2 + (x - t)^2) <= c (b^2 + x^2) for all x with the least c for which the difference,
    a quadratic in x, has no two zeros. Exact.
    """
    mechanism = dp.AdditiveNoise(dp.noise.Cauchy(scale=b), sensitivity=Delta)
    return dp.check(mechanism, dp.PureDP(2 * asinh(Delta / (2 * b))))


@proved(source="the derivative of the logarithm of the logistic density is at most 1/b")
def logistic_is_pure():
    """Logistic noise of scale b is PureDP(Delta/b).

    Idea: log f has a slope of at most 1/b. Exact in the limit of large outputs.
    """
    mechanism = dp.AdditiveNoise(dp.noise.Logistic(scale=b), sensitivity=Delta)
    return dp.check(mechanism, dp.PureDP(Delta / b))


@refuted(source="a slip: the scale is the half-width")
def laplace_with_half_the_loss():
    """False: PureDP(Delta/(2 b)).

    Idea: before 0 the loss is Delta/b.
    """
    return dp.check(laplace, dp.PureDP(Delta / (2 * b)))


@refuted(source="a slip: the scale of the noise turned upside down, b = epsilon/Delta")
def laplace_with_the_scale_inverted():
    """False: Laplace noise of scale epsilon/Delta is PureDP(epsilon).

    Idea: less noise for a smaller epsilon.
    """
    mechanism = dp.AdditiveNoise(dp.noise.Laplace(epsilon / Delta), sensitivity=Delta)
    return dp.check(mechanism, dp.PureDP(epsilon))


@refuted(source="a slip: one direction looked at")
def exponential_noise_is_pure():
    """False: noise that is never negative, with the density e^(-x/b)/b, is PureDP(Delta/b).

    Idea: an answer that is larger by t never gives outputs below t. In the other direction
    the loss is at most t/b.
    """
    mechanism = dp.AdditiveNoise(dp.noise.Exponential(b), sensitivity=Delta)
    return dp.check(mechanism, dp.PureDP(Delta / b))


@refuted(source="a slip: noise that is bounded taken for private")
def uniform_noise_is_pure():
    """False: noise that is uniform on an interval of half-width Delta/epsilon is PureDP(epsilon),
    for epsilon <= 2.

    Idea: at the ends there are outputs that one of the data sets can not give.
    """
    mechanism = dp.AdditiveNoise(dp.noise.Uniform(Delta / epsilon), sensitivity=Delta)
    return dp.check(mechanism, dp.PureDP(epsilon), where=[epsilon <= 2])
