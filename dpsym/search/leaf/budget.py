"""CPU seconds that a search may spend, also inside long work of the kernel."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter, process_time

from dpsym.kernel.limits import interruptible

_PAUSE = 0.002  # seconds between two looks at the time of the process


class OutOfBudget(Exception):
    """The seconds of a budget are spent."""


class Budget:
    """CPU seconds of this process, counted from when the budget is made.

    >>> Budget(60).left() > 59
    True
    """

    __slots__ = ("_end", "_looked")

    def __init__(self, seconds: float) -> None:
        self._end = process_time() + seconds
        self._looked = 0.0

    def left(self) -> float:
        """Seconds that are left; negative when overdrawn."""
        return self._end - process_time()

    def part(self, seconds: float) -> Budget:
        """A budget of at most so many seconds, within this one."""
        return Budget(min(seconds, self.left()))

    def check(self) -> None:
        """Raises OutOfBudget when nothing is left."""
        if process_time() > self._end:
            raise OutOfBudget

    def _tick(self) -> None:
        now = perf_counter()  # which costs little, unlike the time of the process
        if now - self._looked > _PAUSE:
            self._looked = now
            self.check()

    @contextmanager
    def enforced(self) -> Iterator[Budget]:
        """Raises OutOfBudget from inside kernel work done in the body, once nothing is left."""
        with interruptible(self._tick):
            yield self


def budget(value: Budget | float) -> Budget:
    """The budget itself, or one of so many seconds."""
    return value if isinstance(value, Budget) else Budget(value)
