"""Privacy-loss random variables, and divergences as expectations of them. All logs are natural.

For two output distributions P and Q with densities p and q, the privacy loss is the random
variable ``L = log(p(x)/q(x))`` for x drawn from P; it is +oo where q is 0. (Dwork, Rothblum,
Vadhan, "Boosting and Differential Privacy", FOCS 2010; Sommer, Meiser, Mohammadi, PoPETs 2019.)
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import sympy as sp

from dpsym.arguments import positive, real
from dpsym.errors import InputError
from dpsym.translate import is_random

if TYPE_CHECKING:
    from sympy.stats.rv import RandomSymbol

__all__ = [
    "PrivacyLoss",
    "expectation",
    "hockey_stick",
    "is_privacy_loss",
    "kl_divergence",
    "renyi",
]


@lru_cache(maxsize=1)
def _classes() -> tuple[type, type]:
    """The random symbol and its space; made late, because ``sympy.stats`` is slow to import."""
    from sympy.stats.rv import PSpace, RandomSymbol

    class PrivacyLossSpace(PSpace):
        """The outputs of a mechanism on one of two neighbouring inputs; nothing more is known."""

        is_real = None

    class PrivacyLossSymbol(RandomSymbol):
        """A privacy loss: a real number, or +oo where only P has mass."""

        is_finite = None
        is_extended_real = True

    return PrivacyLossSymbol, PrivacyLossSpace


def PrivacyLoss(name: str = "L") -> RandomSymbol:  # noqa: N802 - a constructor to its users
    """The privacy loss of a generic pair (P, Q), under P, as a ``sympy.stats`` random symbol.

    >>> PrivacyLoss()
    L
    """
    if not isinstance(name, str) or not name:
        raise InputError("name", "a name", name)
    symbol, space = _classes()
    return symbol(sp.Symbol(name, extended_real=True), space())


def is_privacy_loss(value: object) -> bool:
    """Whether it is a random symbol made by ``PrivacyLoss``."""
    return is_random(value) and isinstance(value, _classes()[0])


def _loss(value: object) -> sp.Expr:
    if not is_random(value):
        raise InputError("L", "a random symbol, such as PrivacyLoss()", value)
    return value


def expectation(expr: sp.Expr) -> sp.Expr:
    """The unevaluated expectation of an expression in a privacy loss."""
    from sympy.stats import Expectation

    return Expectation(expr)


def hockey_stick(L: RandomSymbol, epsilon: object) -> sp.Expr:  # noqa: N803
    """``E[(1 - e^(epsilon - L))_+]``, the hockey-stick divergence of order e^epsilon.

    (epsilon, delta)-differential privacy holds if and only if it is at most delta, for every
    neighbouring pair (Barthe and Olmedo, ICALP 2013; Balle, Barthe, Gaboardi, NeurIPS 2018,
    Theorem 1; as an expectation of the loss: Balle and Wang, ICML 2018).

    >>> hockey_stick(PrivacyLoss(), sp.Symbol("epsilon", real=True))
    Expectation(Max(0, 1 - exp(epsilon - L)))
    """
    order = real("epsilon", epsilon)
    return expectation(sp.Max(0, 1 - sp.exp(order - _loss(L))))


def kl_divergence(L: RandomSymbol) -> sp.Expr:  # noqa: N803
    """``E[L]``, the Kullback-Leibler divergence: Rényi's at order 1, in nats."""
    return expectation(_loss(L))


def renyi(L: RandomSymbol, alpha: object) -> sp.Expr:  # noqa: N803
    """The Rényi divergence ``log(E[e^((alpha - 1) L)]) / (alpha - 1)`` of order alpha, in nats.

    At alpha = 1 it is ``E[L]``. (Mironov, "Rényi Differential Privacy", CSF 2017, Definition 3;
    van Erven and Harremoës, IEEE Trans. Inf. Theory 60(7), 2014.)

    Raises: InputError for a constant alpha <= 0, and for alpha = oo, where the divergence is the
    largest loss, which is no expectation.

    >>> renyi(PrivacyLoss(), 2)
    log(Expectation(exp(L)))
    """
    order = positive("alpha", alpha)
    if order == 1:
        return kl_divergence(L)
    return sp.log(expectation(sp.exp((order - 1) * _loss(L)))) / (order - 1)
