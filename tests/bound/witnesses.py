"""A witness computed again, with mpmath and none of dpsym's arithmetic."""

from __future__ import annotations

from collections.abc import Iterable

import mpmath as mp

import dpsym as dp
from dpsym.refutations import Atom

DIGITS = 60


def masses(found: dp.Bound) -> list[tuple[mp.mpf, mp.mpf]]:
    """The outcomes of the only stage, as they are: each sum is checked to be exactly 1."""
    assert found.witness is not None
    atoms = found.witness.refutation.witness
    assert isinstance(atoms, tuple)
    assert all(isinstance(atom, Atom) and not atom.then for atom in atoms)
    assert sum(atom.p for atom in atoms) == 1 == sum(atom.q for atom in atoms)
    with mp.workdps(DIGITS):
        return [(mp.mpf(int(a.p.p)) / int(a.p.q), mp.mpf(int(a.q.p)) / int(a.q.q)) for a in atoms]


def renyi(pairs: Iterable[tuple[mp.mpf, mp.mpf]], order: object) -> mp.mpf:
    """The divergence of an order above 1; infinite where Q has no mass and P has."""
    with mp.workdps(DIGITS):
        alpha, total = mp.mpf(str(order.p)) / int(order.q), mp.mpf(0)  # type: ignore[attr-defined]
        for p, q in pairs:
            if p and not q:
                return mp.inf
            total += p**alpha * q ** (1 - alpha) if p else 0
        return mp.log(total) / (alpha - 1)


def excess(pairs: Iterable[tuple[mp.mpf, mp.mpf]], epsilon: object) -> mp.mpf:
    """The hockey-stick divergence."""
    with mp.workdps(DIGITS):
        factor = mp.exp(mp.mpf(int(epsilon.p)) / int(epsilon.q))  # type: ignore[attr-defined]
        return mp.fsum(max(p - factor * q, mp.mpf(0)) for p, q in pairs)


def holds(pairs: list[tuple[mp.mpf, mp.mpf]], guarantee: dp.PureDP) -> bool:
    """Whether the distributions have the guarantee, in both directions."""
    turned = [(q, p) for p, q in pairs]
    for way in (pairs, turned):
        if isinstance(guarantee, dp.RenyiDP):
            if not renyi(way, guarantee.alpha) <= _number(guarantee.epsilon):
                return False
        elif isinstance(guarantee, dp.ApproxDP):
            if not excess(way, guarantee.epsilon) <= _number(guarantee.delta):
                return False
        elif isinstance(guarantee, dp.PureDP):
            with mp.workdps(DIGITS):
                if any(p > mp.exp(_number(guarantee.epsilon)) * q for p, q in way):
                    return False
    return True


def _number(value: object) -> mp.mpf:
    with mp.workdps(DIGITS):
        return mp.mpf(int(value.p)) / int(value.q)  # type: ignore[attr-defined]
