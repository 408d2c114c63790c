"""Divergences as expectations, against values from the literature and by hand."""

import subprocess
import sys

import pytest
import sympy as sp
from sympy.stats import Expectation
from sympy.stats.rv import RandomSymbol

from dpsym.errors import InputError
from dpsym.losses import PrivacyLoss, hockey_stick, is_privacy_loss, kl_divergence, renyi

L = PrivacyLoss()
HALF = sp.Rational(1, 2)
PAIR = [(HALF, sp.Rational(3, 4)), (HALF, sp.Rational(1, 4))]


def mean(expr):
    """The value of expectations over the pair, by their definition."""

    def of(expectation):
        body = expectation.args[0]
        return sum(p * body.xreplace({L: sp.log(p / q)}) for p, q in PAIR)

    return expr.replace(lambda node: isinstance(node, Expectation), of)


def test_a_privacy_loss_is_a_random_symbol():
    assert isinstance(L, RandomSymbol) and is_privacy_loss(L)
    assert PrivacyLoss("L") == L and PrivacyLoss("K") != L
    assert L.is_extended_real and not L.is_finite  # it may be +oo
    assert not is_privacy_loss(sp.Symbol("L"))


def test_hockey_stick_of_a_pair():  # (1/2 - 1/4 e^0)_+ + (1/2 - 3/4)_+ = 1/4
    assert sp.simplify(mean(hockey_stick(L, 0))) == sp.Rational(1, 4)
    assert sp.simplify(mean(hockey_stick(L, sp.log(2)))) == 0


def test_renyi_divergences_of_a_pair():
    # order 2: log(sum p^2/q) = log(1/3 + 1); order 1/2: -2 log(sum sqrt(p q))
    assert sp.simplify(mean(renyi(L, 2)) - sp.log(sp.Rational(4, 3))) == 0
    bhattacharyya = -2 * sp.log(sp.sqrt(sp.Rational(3, 8)) + sp.sqrt(sp.Rational(1, 8)))
    assert abs((mean(renyi(L, HALF)) - bhattacharyya).evalf()) < 1e-12
    kl = HALF * sp.log(sp.Rational(2, 3)) + HALF * sp.log(2)
    assert sp.simplify(mean(renyi(L, 1)) - kl) == 0
    assert renyi(L, 1) == kl_divergence(L) == Expectation(L)


@pytest.mark.parametrize("alpha", [0, -1, sp.oo, "2", 0.0, sp.exp(1) - 3])
def test_orders_without_meaning_are_refused(alpha):
    with pytest.raises(InputError, match=r"^alpha: "):
        renyi(L, alpha)


@pytest.mark.parametrize("bad", [sp.Symbol("L"), 1, "L"])
def test_a_loss_must_be_random(bad):
    with pytest.raises(InputError, match=r"^L: expected a random symbol"):
        hockey_stick(bad, 1)


@pytest.mark.parametrize("name", ["", 3])
def test_a_loss_needs_a_name(name):
    with pytest.raises(InputError, match=r"^name: "):
        PrivacyLoss(name)


def test_the_modules_do_not_import_sympy_stats():
    code = "import sys, dpsym.reader; sys.exit('sympy.stats' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
