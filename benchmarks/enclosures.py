"""Certified hockey-stick divergences beside the values of dp_accounting and SciPy.

Usage: ``python -m benchmarks.enclosures [--runs N]``. Whichever of the two is not installed is
left out. Each row has the certified value, the digits that are certain, the milliseconds after
the first call, and for every other value the ratio of the times and its relative distance from
the certified interval: 0 if it is inside.
"""

from __future__ import annotations

import argparse
import importlib
import math
import statistics
import time
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import sympy as sp

import dpsym as dp

R = sp.Rational
DELTA = sp.Symbol("delta", nonnegative=True)
Other = Callable[[float], float]


def additive(noise: Any) -> Any:
    return dp.AdditiveNoise(noise, sensitivity=1)


def subsampled() -> Any:
    base = dp.noise.Gaussian(1)
    mixture = dp.noise.Mixture([R(99, 100), R(1, 100)], [base, dp.noise.Shifted(base, 1)])
    return dp.DensityPair(mixture, base)


def accounting() -> dict[str, Other]:
    """delta at epsilon by dp_accounting, for the mechanisms that it has."""
    try:
        m = importlib.import_module("dp_accounting.pld.privacy_loss_mechanism")
    except ImportError:
        return {}
    add = m.AdjacencyType.ADD
    remove = m.AdjacencyType.REMOVE
    losses = {
        "Gaussian": [m.GaussianPrivacyLoss(1.0)],
        "Laplace": [m.LaplacePrivacyLoss(1.0)],
        "geometric": [m.DiscreteLaplacePrivacyLoss(1.0)],
        "discrete Gaussian": [m.DiscreteGaussianPrivacyLoss(1.0)],
        "subsampled Gaussian": [
            m.GaussianPrivacyLoss(1.0, sampling_prob=0.01, adjacency_type=kind)
            for kind in (add, remove)
        ],
    }

    def largest(name: str) -> Other:
        return lambda eps: max(loss.get_delta_for_epsilon(eps) for loss in losses[name])

    return {name: largest(name) for name in losses}


def scipy() -> dict[str, Other]:
    """The same by distribution functions, or masses, of SciPy, as one would write it."""
    try:
        stats = importlib.import_module("scipy.stats")
    except ImportError:
        return {}

    def gaussian(eps: float) -> float:
        cdf = stats.norm.cdf
        return float(cdf(0.5 - eps) - math.exp(eps) * cdf(-0.5 - eps))

    def logistic(eps: float) -> float:
        half = math.exp((eps + 1) / 2)
        root = math.log((half - math.e) / (1 - half))
        cdf = stats.logistic.cdf
        return float(cdf(root) - math.exp(eps) * cdf(root - 1))

    def student(eps: float) -> float:
        c = math.exp(eps / 2)
        a, b, d = (c - 1) / 3, 2 / 3, c - 4 / 3
        gap = math.sqrt(b * b - 4 * a * d)
        ends = [(-b - gap) / (2 * a), (-b + gap) / (2 * a)]
        p, q = (stats.t.cdf([end - shift for end in ends], 3) for shift in (0, 1))
        return float(p[1] - p[0] - math.exp(eps) * (q[1] - q[0]))

    def skellam(eps: float) -> float:
        numpy = importlib.import_module("numpy")
        k = numpy.arange(-200, 201)
        gaps = stats.skellam.pmf(k, 2, 2) - math.exp(eps) * stats.skellam.pmf(k - 1, 2, 2)
        return float(gaps.clip(min=0).sum())

    return {"Gaussian": gaussian, "logistic": logistic, "Student t(3)": student, "Skellam": skellam}


MECHANISMS: dict[str, tuple[Callable[[], Any], list[sp.Rational]]] = {
    "Gaussian": (lambda: additive(dp.noise.Gaussian(1)), [R(1, 2), R(7), R(21)]),
    "Laplace": (lambda: additive(dp.noise.Laplace(1)), [R(1, 2), 1 - R(1, 10**12)]),
    "logistic": (lambda: additive(dp.noise.Logistic(1)), [R(1, 2), 1 - R(1, 10**6)]),
    "Student t(3)": (lambda: additive(dp.noise.StudentT(3, 1)), [R(1, 2), R(1139236, 10**6)]),
    "subsampled Gaussian": (subsampled, [R(1, 10), R(2), R(10)]),
    "discrete Gaussian": (lambda: additive(dp.noise.DiscreteGaussian(1)), [R(1, 2), R(7), R(21)]),
    "geometric": (lambda: additive(dp.noise.Geometric(1)), [R(1, 2), 1 - R(1, 10**12)]),
    "Skellam": (lambda: additive(dp.noise.Skellam(4)), [R(1, 2), R(2), R(3)]),
}


def timed(call: Callable[[], Any], runs: int) -> tuple[Any, float]:
    """The value, and the median of the seconds of all calls but the first."""
    value, seconds = call(), []
    for _ in range(runs):
        start = time.perf_counter()
        call()
        seconds.append(time.perf_counter() - start)
    return value, statistics.median(seconds)


def distance(value: float, found: Any) -> float:
    """How far outside of the interval, relative to it."""
    low, high = (Fraction(int(end.p), int(end.q)) for end in found)
    if not math.isfinite(value):
        return math.inf
    exact = Fraction(value)
    outside = max(low - exact, exact - high, Fraction(0))
    return float(outside / high) if high else float(outside)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=9)
    runs = parser.parse_args().runs
    others = {"dp_accounting": accounting(), "SciPy": scipy()}
    print(f"{'mechanism':20} {'epsilon':>10} {'delta':>13} {'digits':>6} {'ms':>6}  others")
    for name, (make, epsilons) in MECHANISMS.items():
        mechanism = make()
        for eps in epsilons:
            found, seconds = timed(
                lambda m=mechanism, e=eps: m.enclose(dp.ApproxDP(e, DELTA)), runs
            )
            digits = -math.log10(float(found.relative_width)) if found.relative_width else math.inf
            row = f"{name:20} {float(eps):10.8g} {found.upper.n(6)!s:>13}"
            row += f" {digits:6.1f} {1000 * seconds:6.1f}"
            for label, by_name in others.items():
                if name in by_name:
                    value, needed = timed(lambda f=by_name[name], e=float(eps): f(e), runs)
                    ratio, off = seconds / needed, distance(value, found)
                    row += f"  {label}: time x{ratio:.3g}, off by {off:.2g}"
            print(row)


if __name__ == "__main__":
    main()
