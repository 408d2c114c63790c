"""Property tests for mechanisms and accountants, with Hypothesis and, if one likes, pytest.

>>> import dpsym as dp
>>> from dpsym.testing import assert_private
>>> from sympy import symbols
>>> b = symbols("b", positive=True)
>>> print(assert_private(dp.AdditiveNoise(dp.noise.Laplace(b), 1), dp.PureDP(1 / b)))
proved for all parameters: AdditiveNoise(noise=Laplace(scale=b), sensitivity=1) has PureDP(1/b)

Names load when they are first used. What draws examples needs Hypothesis: install
``dpsym[testing]``.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from dpsym.errors import DpsymError

if TYPE_CHECKING:
    from dpsym.testing.accountants import assert_accountant
    from dpsym.testing.bounds import lower_bound
    from dpsym.testing.domains import parameters
    from dpsym.testing.failures import ClaimFails, Failure, NotDecided, PromisesTooMuch
    from dpsym.testing.numbers import rationals
    from dpsym.testing.outcomes import Outcome
    from dpsym.testing.private import assert_private
    from dpsym.testing.registry import register, strategy_for
    from dpsym.testing.searching import simplest
    from dpsym.testing.strategies import (
        compositions,
        density_pairs,
        guarantees,
        mechanisms,
        noise_mechanisms,
        noises,
        subjects,
        tables,
    )

_HOMES = {
    "accountants": ("assert_accountant",),
    "bounds": ("lower_bound",),
    "domains": ("parameters",),
    "failures": ("ClaimFails", "Failure", "NotDecided", "PromisesTooMuch"),
    "numbers": ("rationals",),
    "outcomes": ("Outcome",),
    "private": ("assert_private",),
    "registry": ("register", "strategy_for"),
    "searching": ("simplest",),
    "strategies": (
        "compositions",
        "density_pairs",
        "guarantees",
        "mechanisms",
        "noise_mechanisms",
        "noises",
        "subjects",
        "tables",
    ),
}
_HOME = {name: home for home, names in _HOMES.items() for name in names}
_WITHOUT_HYPOTHESIS = {"bounds", "failures", "outcomes"}

__all__ = ["MissingHypothesisError", *sorted(_HOME)]


class MissingHypothesisError(DpsymError, ImportError):
    """What draws examples needs Hypothesis, and it is not installed."""

    def __init__(self) -> None:
        super().__init__(
            "dpsym.testing draws its examples with Hypothesis, which is not installed: "
            "pip install 'dpsym[testing]'"
        )


def __getattr__(name: str) -> Any:
    home = _HOME.get(name)
    if home is None:
        raise AttributeError(f"module 'dpsym.testing' has no attribute {name!r}")
    if home not in _WITHOUT_HYPOTHESIS:
        try:
            import_module("hypothesis")
        except ModuleNotFoundError as error:
            if error.name != "hypothesis":
                raise
            raise MissingHypothesisError from None
    value = getattr(import_module(f"dpsym.testing.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
