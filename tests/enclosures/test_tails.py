"""Growth and tails: what they enclose is checked against mpmath, infinity against theory."""

from __future__ import annotations

import mpmath as mp
import pytest
import sympy as sp
from flint import arb

from dpsym.enclosures.failures import Infinite, Undecided
from dpsym.enclosures.forms import Product, to_product
from dpsym.enclosures.reading import read
from dpsym.enclosures.rewriting import product_towards
from dpsym.enclosures.tails import germ, integral, series

x = sp.Symbol("x", real=True)
R = sp.Rational


def product(expr: sp.Expr) -> Product:
    return product_towards(to_product(read(expr, x)), 1)


def encloses(found: arb, true: mp.mpf) -> bool:
    slack = abs(true) * mp.mpf(10) ** -12
    low, high = (mp.mpf(end.str(30, radius=False)) for end in (found.lower(), found.upper()))
    return low - slack <= true <= high + slack


STEEP = "Gumbel, on its steep side"
INTEGRABLE = {
    "exponential": sp.exp(-x),
    "Gaussian": sp.exp(-((x - 1) ** 2) / 2),
    "logistic": sp.exp(-x) / (1 + sp.exp(-x)) ** 2,
    "logistic, the other way": sp.exp(x) / (1 + sp.exp(x)) ** 2,
    "Student": (1 + x**2 / 3) ** -2,
    "Student of 5/2": (1 + x**2 * R(2, 5)) ** R(-7, 4),
    STEEP: sp.exp(x - sp.exp(x)),
    "stretched": sp.exp(-sp.sqrt(x)),
    "of power 3/2": sp.exp(-(x ** R(3, 2))),
    "two that partly cancel": sp.exp((x - 1) ** R(3, 2) - 2 * x ** R(3, 2)),
    "mixture": sp.exp(-(x**2)) / 3 + sp.exp(-((x - 1) ** 2)),
    "skewed": sp.exp(-(x**2)) * sp.erfc(-x),
    "with a logarithm": sp.log(1 + x**2) * (1 + x**2) ** -2,
}


HEAVY = {"Student", "Student of 5/2", "stretched", "with a logarithm"}


@pytest.mark.parametrize("name", INTEGRABLE)
@pytest.mark.parametrize("start", [8, 32])
def test_integral(name: str, start: int) -> None:
    expr = INTEGRABLE[name]
    f = sp.lambdify(x, expr, "mpmath")
    found = integral(germ(product(expr), arb(start)), arb(start))
    near = [start + mp.mpf(2) ** k for k in range(-6, 7)] if name != STEEP else [start + 1]
    far = [start * mp.mpf(2) ** k for k in range(6, 24)] + [mp.inf] if name in HEAVY else []
    with mp.workdps(30):
        true = mp.quad(f, [mp.mpf(start), *near, *far])
    assert encloses(found, true)


SUMMABLE = {
    "geometric": sp.exp(-x / 2),
    "Gaussian": sp.exp(-(x**2) / 50),
    "Poisson": 5**x / sp.factorial(x),
    "Bessel": sp.besseli(x, 3),
    "power": (1 + x) ** -3,
}


@pytest.mark.parametrize("name", SUMMABLE)
def test_series(name: str) -> None:
    expr = SUMMABLE[name]
    f = sp.lambdify(x, expr, "mpmath")
    found = series(germ(product(expr), arb(20)), 20)
    with mp.workdps(30):
        assert encloses(found, mp.nsum(lambda k: f(mp.mpf(int(k))), [20, mp.inf]))


@pytest.mark.parametrize(
    "expr",
    [1 / (1 + x), sp.exp(x) / (1 + sp.exp(x)), sp.exp(x**2 / 9 - x), sp.exp(sp.exp(x / 8) - x / 9)],
    ids=str,
)
def test_diverges(expr: sp.Expr) -> None:
    with pytest.raises(Infinite):
        integral(germ(product(expr), arb(16)), arb(16))


def test_nothing_is_said_too_early() -> None:
    """Below 3 the exponent of exp(-(x - 3)^2) still grows."""
    item = product(sp.exp(-((x - 3) ** 2)))
    with pytest.raises(Undecided):
        integral(germ(item, arb(2)), arb(2))
    with pytest.raises(Undecided):  # 0 in a base whose power is taken
        integral(germ(product((x - 5) ** R(-3, 2)), arb(4)), arb(4))
