"""Subjects that are made of others, as trees."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from tests.campaign import curves
from tests.campaign import truth as tr
from tests.campaign.truth import Atoms, number


@dataclass(frozen=True)
class Tree:
    """A subject: what it is made by, of what, and with which number."""

    made: str
    of: tuple[Tree, ...] = ()
    value: Any = None

    def names(self) -> set[str]:
        return {self.made}.union(*(child.names() for child in self.of))

    def losses(self) -> set[Fraction]:
        """Of the guarantees that it is made of."""
        found = {loss for child in self.of for loss in child.losses()}
        if self.made in ("pure", "approximate"):
            found.add(self.value if self.made == "pure" else self.value[0])
        return found

    @property
    def depth(self) -> int:
        return 1 + max((child.depth for child in self.of), default=-1)

    def chooses(self) -> bool:
        """Whether an output may choose what comes next."""
        several = {"parallel", "table", "fixed"} & self.names()
        return bool(several and {"compose", "repeat"} & self.names())

    def response(self) -> Atoms:
        """The worst pair that has a guarantee, or several: with several, its curve is the lower one
        everywhere."""
        if self.made == "pure":
            return tr.response(number(self.value))
        if self.made == "approximate":
            return tr.response(*map(number, self.value))
        assert self.made == "both"
        return curves.lowest([tr.response(*map(number, each)) for each in self.value])
