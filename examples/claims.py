"""What each of the accountants is about: a mechanism and the guarantee that it promises."""

from __future__ import annotations

from sympy import Interval, Symbol, exp, oo, symbols

import dpsym as dp

sigma, Delta, epsilon, delta, a, b, q = symbols("sigma Delta epsilon delta a b q", positive=True)
promised = Symbol("promised", nonnegative=True)
k = Symbol("k", integer=True, positive=True)
x = Symbol("x", real=True)

gaussians = dp.repeat(dp.AdditiveNoise(dp.noise.Gaussian(sigma=sigma), Delta), k)
gaussians_private = dp.ApproxDP(epsilon, delta)

sampled = dp.subsample(dp.PureDP(epsilon), q)
sampled_private = dp.PureDP(promised)

exponentials = dp.DensityPair(a * exp(-a * x), b * exp(-b * x), x, Interval(0, oo))
exponentials_close = dp.RenyiDP(1, promised)

histograms = dp.repeat(dp.AdditiveNoise(dp.noise.Laplace(scale=b), 2, relation="replace-one"), k)
histograms_private = dp.PureDP(promised)
