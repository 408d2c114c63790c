"""CPU seconds that a search may spend, also inside long work of the kernel."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from time import perf_counter, process_time

from dpsym.kernel.limits import interruptible

_PAUSE = 0.002  # seconds between two looks at the time of the process


class OutOfBudget(Exception):
    """The seconds of a budget are spent."""


def clock() -> float:
    """CPU seconds of this process, but for what looks have taken that interrupted a search."""
    return process_time() - _paused[0]


_paused = [0.0]


class _Alarm:
    """Calls functions, each once, when it is time."""

    __slots__ = ("_left", "at")

    def __init__(self, calls: list[tuple[float, Callable[[], None]]]) -> None:
        self._left = [*calls, (math.inf, lambda: None)]
        self.at = self._left[0][0]

    def ring(self) -> None:
        _, call = self._left.pop(0)
        self.at = math.inf  # not while the function runs
        with interruptible(None):  # it keeps to a budget of its own
            call()
        self.at = self._left[0][0]


_LOOKS: ContextVar[_Alarm | None] = ContextVar("looks at something else", default=None)


@contextmanager
def looking(*calls: tuple[float, Callable[[], None]]) -> Iterator[None]:
    """While this lasts, functions are called, each once after so many seconds, by any budget that
    is checked then. What they take counts for no budget; what they raise comes out of the check."""
    now = clock()
    token = _LOOKS.set(_Alarm([(now + seconds, call) for seconds, call in calls]))
    try:
        yield
    finally:
        _LOOKS.reset(token)


def look() -> None:
    """Call what is due."""
    alarm = _LOOKS.get()
    if alarm is not None and clock() > alarm.at:
        started = clock()
        try:
            alarm.ring()
        finally:
            _paused[0] += clock() - started


class Budget:
    """CPU seconds of this process, counted from when the budget is made.

    >>> Budget(60).left() > 59
    True
    """

    __slots__ = ("_alarm", "_end", "_looked")

    def __init__(self, seconds: float) -> None:
        self._end = clock() + seconds
        self._looked = 0.0
        self._alarm: _Alarm | None = None

    def left(self) -> float:
        """Seconds that are left; negative when overdrawn."""
        return self._end - clock()

    def part(self, seconds: float) -> Budget:
        """A budget of at most so many seconds, within this one."""
        out = Budget(min(seconds, self.left()))
        out._alarm = self._alarm
        return out

    def interrupted(self, *calls: tuple[float, Callable[[], None]]) -> Budget:
        """A budget of what is left, within which checks call functions, each once after so long.

        What a function raises comes out of that check. Times are in order.
        """
        out = self.part(self.left())
        now = clock()
        out._alarm = _Alarm([(now + seconds, call) for seconds, call in calls])
        return out

    def check(self) -> None:
        """Raises OutOfBudget when nothing is left."""
        now = clock()
        if now > self._end:
            raise OutOfBudget
        if self._alarm is not None and now > self._alarm.at:
            self._alarm.ring()
        look()

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
