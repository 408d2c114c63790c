"""dpsym checks proofs of differential-privacy guarantees, for all parameters.

>>> import dpsym as dp
>>> from sympy import symbols
>>> e1, e2, d1, d2 = symbols("epsilon1 epsilon2 delta1 delta2", nonnegative=True)
>>> two = dp.compose(dp.ApproxDP(e1, d1), dp.ApproxDP(e2, d2))
>>> isinstance(dp.check(two, dp.ApproxDP(e1 + e2, d1 + d2)), dp.Proved)
True

Public names load when they are first used, so that ``dpsym verify`` never loads SymPy.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from dpsym.version import VERSION as __version__

if TYPE_CHECKING:
    import dpsym.testing as testing
    from dpsym.bounding import Bound, bound
    from dpsym.checking import check, check_inequality, prove
    from dpsym.combinators import compose, postprocess
    from dpsym.enclosures import Enclosure
    from dpsym.errors import DpsymError, InputError, ProofError, UnsupportedError
    from dpsym.guarantees import (
        GDP,
        TCDP,
        ZCDP,
        ApproxDP,
        BoundedRange,
        MomentBound,
        ProbabilisticDP,
        PureDP,
        RenyiDP,
        both,
    )
    from dpsym.hints import derive, lemma, split, subst, use
    from dpsym.library import add_theorem, remove_theorem, theorems
    from dpsym.losses import PrivacyLoss, hockey_stick, renyi
    from dpsym.mechanisms import (
        AdditiveNoise,
        ClampedGeometric,
        DensityPair,
        ExponentialMechanism,
        GaussianPair,
        Mixture,
        PermuteAndFlip,
        PMFPair,
        RandomizedResponse,
        ReportNoisyMax,
        Table,
        UnaryEncoding,
        VectorGaussian,
        VectorLaplace,
        noise,
    )
    from dpsym.results import Result
    from dpsym.scripts import proved, refuted
    from dpsym.stages import filtered, group, parallel, repeat, subsample
    from dpsym.verdicts import Proved, Refuted, Unknown, Vacuous, Verdict

_HOMES = {
    "bounding": ("Bound", "bound"),
    "checking": ("check", "check_inequality", "prove"),
    "combinators": ("compose", "postprocess"),
    "enclosures": ("Enclosure",),
    "errors": ("DpsymError", "InputError", "ProofError", "UnsupportedError"),
    "guarantees": (
        "ApproxDP",
        "BoundedRange",
        "GDP",
        "MomentBound",
        "ProbabilisticDP",
        "PureDP",
        "RenyiDP",
        "TCDP",
        "ZCDP",
        "both",
    ),
    "hints": ("derive", "lemma", "split", "subst", "use"),
    "library": ("add_theorem", "remove_theorem", "theorems"),
    "losses": ("PrivacyLoss", "hockey_stick", "renyi"),
    "mechanisms": (
        "AdditiveNoise",
        "ClampedGeometric",
        "DensityPair",
        "ExponentialMechanism",
        "GaussianPair",
        "Mixture",
        "PMFPair",
        "PermuteAndFlip",
        "RandomizedResponse",
        "ReportNoisyMax",
        "Table",
        "UnaryEncoding",
        "VectorGaussian",
        "VectorLaplace",
        "noise",
    ),
    "results": ("Result",),
    "scripts": ("proved", "refuted"),
    "stages": ("filtered", "group", "parallel", "repeat", "subsample"),
    "verdicts": ("Proved", "Refuted", "Unknown", "Vacuous", "Verdict"),
}
_HOME = {name: home for home, names in _HOMES.items() for name in names}

_MODULES = ("testing",)  # names of their own, which need Hypothesis

__all__ = ["__version__", *sorted((*_HOME, *_MODULES))]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"dpsym.{name}")
    home = _HOME.get(name)
    if home is None:
        raise AttributeError(f"module 'dpsym' has no attribute {name!r}")
    value = getattr(import_module(f"dpsym.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
