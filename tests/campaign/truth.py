"""What is true of a privacy claim, to 50 digits, by worst pairs and closed forms. No dpsym here.

A ``Truth`` says what the largest loss, hockey-stick divergence and Renyi divergence of a subject
are. For any mechanism with pure or approximate DP they are those of randomised response, with an
outcome of infinite loss (Kairouz, Oh and Viswanath 2015, Theorem 3.4: it dominates, and so do the
products in adaptive compositions); for GDP those of the normal pair (Dong, Roth and Su 2022).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

import mpmath
from mpmath import mpf

DIGITS = 50
CLOSE = mpf(10) ** -25  # nearer than that, nothing is said, but of exact numbers
NONE = mpf(0)
Atoms = list[tuple[mpf, mpf]]


def number(value: Fraction | int) -> mpf:
    value = Fraction(value)
    return mpf(value.numerator) / value.denominator


def at_most(left: mpf, right: mpf) -> bool | None:
    """Whether left <= right; None where that is too close to call."""
    gap = right - left
    if mpmath.isnan(gap):
        return None
    return None if abs(gap) <= CLOSE * (1 + abs(right)) else bool(gap > 0)


@dataclass(frozen=True)
class Truth:
    """Divergences of a subject, the larger of the two directions; None where they are not known."""

    loss: Callable[[], mpf]
    hockey: Callable[[mpf], mpf]
    renyi: Callable[[mpf], mpf]
    exact_loss: Fraction | None = None


def response(epsilon: mpf, delta: mpf = NONE) -> Atoms:
    keep = 1 / (1 + mpmath.exp(-epsilon))
    rest = 1 - delta
    atoms = [(rest * keep, rest * (1 - keep)), (rest * (1 - keep), rest * keep)]
    return [*atoms, (delta, mpf(0)), (mpf(0), delta)] if delta else atoms


def joint(pairs: list[Atoms]) -> Atoms:
    out = []
    for chosen in product(*pairs):
        out.append((mpmath.fprod(p for p, _ in chosen), mpmath.fprod(q for _, q in chosen)))
    return out


def sampled(atoms: Atoms, rate: mpf) -> Atoms:
    return [(rate * p + (1 - rate) * q, q) for p, q in atoms]


def loss(atoms: Atoms) -> mpf:
    if any(p and not q for p, q in atoms):
        return mpmath.inf
    return max(mpmath.log(p / q) for p, q in atoms if p)


def hockey(atoms: Atoms, epsilon: mpf) -> mpf:
    bound = mpmath.exp(epsilon)
    return mpmath.fsum(max(p - bound * q, mpf(0)) for p, q in atoms)


def renyi(atoms: Atoms, order: mpf) -> mpf:
    if order >= 1 and any(p and not q for p, q in atoms):
        return mpmath.inf
    both = [(p, q) for p, q in atoms if p and q]
    if order == 1:
        return mpmath.fsum(p * mpmath.log(p / q) for p, q in both)
    total = mpmath.fsum(q * mpmath.exp(order * mpmath.log(p / q)) for p, q in both)
    return mpmath.log(total) / (order - 1)


def spread(atoms: Atoms) -> mpf:
    if any((p and not q) or (q and not p) for p, q in atoms):
        return mpmath.inf
    losses = [mpmath.log(p / q) for p, q in atoms if p]
    return max(losses) - min(losses)


def above(atoms: Atoms, epsilon: mpf) -> mpf | None:
    """The mass of losses above epsilon; None where one is too close to it."""
    mass = mpf(0)
    for p, q in atoms:
        if p and not q:
            mass += p
        elif p:
            gap = mpmath.log(p / q) - epsilon
            if abs(gap) < CLOSE:
                return None
            mass += p if gap > 0 else 0
    return mass


def of_pairs(pairs: list[Atoms], exact: Fraction | None = None) -> Truth:
    """The worst of several pairs, each in both directions."""
    ways = [way for atoms in pairs for way in (atoms, [(q, p) for p, q in atoms])]
    return Truth(
        lambda: max(map(loss, ways)),
        lambda epsilon: max(hockey(atoms, epsilon) for atoms in ways),
        lambda order: max(renyi(atoms, order) for atoms in ways),
        exact,
    )


def below(x: mpf) -> mpf:
    """The standard normal distribution function."""
    return mpmath.erfc(-x / mpmath.sqrt(2)) / 2


def gaussian(mu: mpf) -> Truth:
    return Truth(
        lambda: mpmath.inf,
        lambda e: below(mu / 2 - e / mu) - mpmath.exp(e) * below(-mu / 2 - e / mu),
        lambda order: order * mu**2 / 2,
    )


def laplace(ratio: mpf, exact: Fraction) -> Truth:
    """Laplace noise, for the largest shift over the scale (Mironov 2017, Proposition 6; Balle,
    Barthe and Gaboardi 2018, section 3)."""

    def divergence(order: mpf) -> mpf:
        if order == 1:
            return ratio + mpmath.exp(-ratio) - 1
        if order == mpf(1) / 2:
            return ratio - 2 * mpmath.log(1 + ratio / 2)
        up, down = mpmath.exp((order - 1) * ratio), mpmath.exp(-order * ratio)
        total = (order * up + (order - 1) * down) / (2 * order - 1)
        return mpmath.log(total) / (order - 1)

    def delta(epsilon: mpf) -> mpf:
        if epsilon >= ratio:
            return mpf(0)
        if epsilon <= -ratio:
            return 1 - mpmath.exp(epsilon)
        return 1 - mpmath.exp((epsilon - ratio) / 2)

    return Truth(lambda: ratio, delta, divergence, exact)
