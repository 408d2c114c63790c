"""The parts of a campaign, and how many attempts of each kind a round has."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from typing import NamedTuple

from tests.campaign import certificates, claims, inputs, notions, samples

Found = dict[str, dict[str, int]]
Outcome = tuple[str, str]


class Part(NamedTuple):
    attempt: Callable[[str, random.Random], Outcome]
    counts: dict[str, int]  # of a round


assert notions and samples  # their kinds are among those of claims
_CLAIMS = dict.fromkeys(claims.KINDS, 10) | {
    "constants": 90,
    "polynomials": 70,
    "inequalities": 50,
    "enclosures": 60,
    "randomized response": 40,
    "a table": 40,
    "other_notions": 30,
    "concentrated": 4,
    "bounds": 4,
    "parameters": 6,
    "Laplace noise": 6,
    "Gaussian noise": 6,
    "nested_subjects": 40,
    "ends_of_domains": 30,
    "chosen_on_the_way": 16,
    "nested_bounds": 6,
    "samples_at_whole_orders": 12,
    "ends_of_rates": 16,
    "deltas_of_samples": 8,
    "with_replacement": 12,
    "added_theorems": 16,
    "ranges": 16,
    "filters": 10,
}
_CERTIFICATES = dict.fromkeys(certificates.KINDS, 100) | {
    "grammar": 300,
    "damage": 120,
    "bombs": 40,
    "stages": 120,
    "alike": 160,
    "other_stages": 120,
    "one_pair": 160,
}
PARTS = {
    "claims": Part(claims.attempt, _CLAIMS),
    "certificates": Part(certificates.attempt, _CERTIFICATES),
    "input": Part(inputs.attempt, dict.fromkeys(inputs.KINDS, 10)),
}


def repeat(part: str, kind: str, seed: int, number: int) -> Outcome:
    """One attempt."""
    return PARTS[part].attempt(kind, random.Random(f"{seed} {part} {kind} {number}"))


def attempts(part: str, seed: int, start: int, share: float = 1.0) -> tuple[Found, list[str]]:
    """A round: counts by kind and outcome, and the faults."""
    found: Found = {}
    faults = []
    for kind, whole in PARTS[part].counts.items():
        count = max(1, round(whole * share))
        seen: Counter[str] = Counter()
        for number in range(start * count, (start + 1) * count):
            outcome, said = repeat(part, kind, seed, number)
            seen[outcome] += 1
            if outcome == "WRONG":
                faults.append(f"--repeat {part} {kind!r} {seed} {number}: {said}")
        found[kind] = dict(seen)
    return found, faults
