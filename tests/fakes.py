"""Stand-ins for a theorem and a witness, to test what only shows or counts them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass
class FakeTheorem:
    """Counts how often its certificate is asked for."""

    steps: Mapping[str, int] = field(default_factory=lambda: {"dual": 2, "tower": 1})
    postulates: tuple[str, ...] = ()
    text: str = '{"goal": []}'
    asked: int = 0

    def rules(self) -> Mapping[str, int]:
        return self.steps

    def route(self) -> tuple[str, ...]:
        return ()

    def certificate(self) -> str:
        self.asked += 1
        return self.text


@dataclass
class FakeWitness:
    lines: str = "epsilon = 1\nloss 1 > 1/2 at output 0"
    values: Mapping[str, object] = field(default_factory=lambda: {"epsilon": 1})

    def text(self) -> str:
        return self.lines
