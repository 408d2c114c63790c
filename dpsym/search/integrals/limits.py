"""What an antiderivative tends to at infinity, and vanishing terms by which it is passed at most."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from flint import fmpq

from dpsym.kernel import canon as cn
from dpsym.kernel import terms as tm
from dpsym.kernel.canon import Canon
from dpsym.kernel.rules_mechanisms import Limit, Slack
from dpsym.kernel.terms import ONE, ZERO, Term
from dpsym.search.integrals.summands import coefficients
from dpsym.search.samples import number

__all__ = ["limit_at", "sign_at"]

Samples = Sequence[Mapping[str, float]]


def sign_at(item: Term, samples: Samples) -> int:
    """The sign of a term at all the samples, or 0 if it has none."""
    values = [number(item, point) for point in samples]
    if values and all(value > 0 for value in values):
        return 1
    return -1 if values and all(value < 0 for value in values) else 0


def limit_at(canon: Canon, item: Term, x: Term, way: int, samples: Samples) -> Limit | None:
    """The limit of a term as way * x grows, or None for forms that are not known here."""
    value, slacks = ZERO, []
    for mono, count in canon(item).items():
        found = _Part(canon, mono, fmpq(count), x, way, samples)
        if not found.known:
            return None
        value, slacks = value + found.value, slacks + found.slacks
    return Limit(canon.normal(value), tuple(slacks))


class _Part:
    """One monomial: what it tends to, and slacks if it may pass it on the side that matters."""

    def __init__(
        self, canon: Canon, mono: cn.Monomial, count: fmpq, x: Term, way: int, samples: Samples
    ) -> None:
        self.canon, self.x, self.way, self.samples = canon, x, way, samples
        self.value: Term = ZERO
        self.slacks: list[Slack] = []
        whole = cn.mono_term(mono, count)
        if x.value not in whole.vars:
            self.value, self.known = whole, True
            return
        moving = [(atom, k) for atom, k in mono[1] if x.value in atom.vars]
        fixed = cn.mono_term((frozenset(), mono[1].difference(moving)), count)
        powers = coefficients(canon, dict(mono[0]), x)
        self.known = powers is not None and self.fits(moving, fixed, powers)
        if self.slacks and canon.has_sign(canon(-way * (whole - self.value)), False):
            self.slacks = []

    def fits(
        self, moving: list[tuple[Term, int]], fixed: Term, powers: list[Term]
    ) -> bool:
        size = fixed * tm.exp(powers[0]) if powers[0] is not ZERO else fixed
        if len(powers) > 1:
            power = dict(moving).get(self.x, 0)
            only = not moving or (len(moving) == 1 and power > 0)
            return only and self.exponential(size, power, powers)
        if len(moving) != 1:
            return False
        ((atom, count),) = moving
        if atom is self.x:
            return count < 0 and self.inverse(size, -count)
        if count != 1 or atom.op not in ("erfc", "atan"):
            return False
        inside = coefficients(self.canon, self.canon(atom.args[0]), self.x)
        if inside is None or len(inside) != 2:
            return False
        return self.sigmoid(atom.op, size, inside[1], inside[0])

    def away(self, rate: Term) -> int:
        """1 if rate * x grows towards the end, -1 if it falls, 0 if that is not known."""
        return self.way * sign_at(rate, self.samples)

    def exponential(self, size: Term, power: int, powers: list[Term]) -> bool:
        if self.away(powers[-1]) >= 0 and len(powers) == 2:
            return False
        if len(powers) == 2:
            rate = -self.way * powers[1]
            if power:  # a^n exp(-r a) <= (3n/(4r))^n exp(-r a/2), as 2/e < 3/4
                most = tm.power(fmpq(3 * power, 4) / rate, power)
                sign = sign_at(size, self.samples)
                self.slacks = [Slack(sign * size * most, "exp", rate / 2, ZERO)]
                return bool(sign)
            self.slacks = [Slack(self.way * size, "exp", rate, ZERO)]
            return True
        if len(powers) != 3 or sign_at(powers[2], self.samples) != -1 or power > 1:
            return False
        root = tm.sqrt(-powers[2])  # exp(-w^2) and w exp(-w^2) are at most 1/w
        middle = powers[1] / (2 * root)
        size = size * tm.exp(tm.power(middle, 2))
        parts = [size] if not power else [size / root, size * middle / root]
        signs = [sign_at(part, self.samples) for part in parts]
        self.slacks = [
            Slack(sign * part, "inverse", root, self.way * middle)
            for sign, part in zip(signs, parts, strict=True)
            if sign or self.canon.normal(part) is not ZERO
        ]
        return all(slack.coefficient is not ZERO for slack in self.slacks)

    def inverse(self, size: Term, count: int) -> bool:
        if count == 1:
            self.slacks = [Slack(size, "inverse", ONE, ZERO)]
            return True
        sign = sign_at(size, self.samples)  # a^-n <= 1/(a - 1) for a > 1
        self.slacks = [Slack(sign * size, "inverse", ONE, ONE)]
        return bool(sign)

    def sigmoid(self, op: str, size: Term, rate: Term, shift: Term) -> bool:
        side = self.away(rate)
        if not side:
            return False
        rate, shift = side * self.way * rate, side * shift  # e = rate a + shift grows
        if op == "atan":
            self.value = size * side * tm.PI * fmpq(1, 2)
            sign = sign_at(size, self.samples)  # pi/2 - atan(e) <= 1/e
            self.slacks = [Slack(sign * size, "inverse", rate, -shift)]
            return bool(sign)
        self.value = ZERO if side == 1 else 2 * size
        self.slacks = [Slack(self.way * side * size, "erfc", rate, -shift)]
        return True

