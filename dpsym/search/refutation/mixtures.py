"""Mixtures of which the parts are mixtures themselves."""

from __future__ import annotations

from dpsym.kernel.statements import Blend, Stage
from dpsym.refutations import apart


def same_pairs(stage: Stage) -> list[Blend]:
    """The blends of which this is one or the other: a pair that is in all of them is in it."""
    if not isinstance(stage, Blend) or not apart(stage):
        return [stage] if isinstance(stage, Blend) else []
    inside = [link.stage for link in stage.links]
    return [one for part in inside if isinstance(part, Blend) for one in same_pairs(part)]
