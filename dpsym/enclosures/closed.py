"""Divergences that have a closed form whatever the numbers: those of Gaussians.

They keep their relative accuracy for scales such as 1e-155, where no quadrature would.
"""

from __future__ import annotations

import sympy as sp

from dpsym.enclosures.divergences import Pair
from dpsym.enclosures.failures import Infinite
from dpsym.enclosures.forms import Product, power, times
from dpsym.enclosures.numbers import sign

__all__ = ["gaussian_renyi", "gaussian_rho"]


def gaussian_renyi(pair: Pair, alpha: sp.Expr) -> sp.Expr | None:
    """The Rényi divergence of two Gaussians, None if the pair is another one; alpha is not 1.

    Raises: Infinite.
    """
    found = _gaussians(pair)
    if found is None or alpha == 1:
        return None
    p, q = found
    item = times(power(p, alpha), power(q, 1 - alpha))
    poly = (*item.exponent.poly, *[sp.S.Zero] * 3)[:3]
    c, b, a = poly
    if sign(a) >= 0:
        raise Infinite
    # the integral of factor * exp(a x**2 + b x + c)
    log = sp.log(item.factor**2 * sp.pi / -a) / 2 + c - b**2 / (4 * a)
    return log / (alpha - 1)


def gaussian_rho(pair: Pair) -> sp.Expr | None:
    """The smallest rho of zCDP of two Gaussians of one variance: (mean - mean')**2/(2 sigma**2).

    For discrete Gaussians it is the same, reached at every order alpha for which
    (alpha - 1) * shift is whole: Canonne, Kamath, Steinke, 2020, theorem 4.
    """
    found = _gaussians(pair, discrete=True)
    if found is None:
        return None
    p, q = (item.exponent.poly for item in found)
    if p[2] != q[2] or found[0].factor != found[1].factor:
        return None
    return -((p[1] - q[1]) ** 2) / (4 * p[2])


def _gaussians(pair: Pair, discrete: bool = False) -> tuple[Product, Product] | None:
    if pair.atoms or bool(pair.line) == bool(pair.lattice) or (pair.lattice and not discrete):
        return None
    if pair.line:
        if len(pair.line) != 1:
            return None
        piece = pair.line[0]
        p, q = piece.p, piece.q
        whole = piece.start is -sp.oo and piece.end is sp.oo
    else:
        if len(pair.lattice) != 1:
            return None
        run = pair.lattice[0]
        p, q = run.p, run.q
        whole = run.first is None and run.last is None
    if not whole or p is None or q is None or not (_is_gaussian(p) and _is_gaussian(q)):
        return None
    return p, q


def _is_gaussian(item: Product) -> bool:
    return (
        not item.powers
        and not item.exponent.rest
        and item.exponent.degree == 2
        and sign(item.exponent.poly[2]) < 0
    )
