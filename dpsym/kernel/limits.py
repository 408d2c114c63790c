"""Size limits, and the hook by which a search can interrupt long work.

Reaching a limit raises; it never makes anything true. The checker runs without a hook.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

MAX_TERMS = 4000  # monomials of one canonical form
MAX_PRODUCT = 160_000  # products of monomials in one multiplication
MAX_WORK = 200_000_000  # bits of their coefficients, all together
MAX_BITS = 1_000_000  # bits of one rational

_hooks: list[Callable[[], None] | None] = [None]


def tick() -> None:
    """Called often during long work; lets the hook raise."""
    hook = _hooks[-1]
    if hook is not None:
        hook()


@contextmanager
def interruptible(hook: Callable[[], None] | None) -> Iterator[None]:
    """Install ``hook`` for the body; ``None`` for work that must not be interrupted."""
    _hooks.append(hook)
    try:
        yield
    finally:
        _hooks.pop()
