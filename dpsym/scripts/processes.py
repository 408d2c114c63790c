"""A pool of processes that ends with the one that made it."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager, suppress
from multiprocessing import get_context
from multiprocessing.connection import Connection
from threading import Thread
from typing import Any

__all__ = ["cores", "processes"]


def cores() -> int:
    """How many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@contextmanager
def processes(count: int) -> Iterator[ProcessPoolExecutor]:
    """An executor with this many processes.

    Each starts anew (no copy of this process with its threads and locks). They leave Ctrl-C to this
    process, and end at once when the block is left by an exception or when this process ends,
    whatever they are at.
    """
    context = get_context("spawn")
    ear, mouth = context.Pipe(duplex=False)
    pool = _Pool(count, mp_context=context, initializer=_listen, initargs=(ear,))
    try:
        yield pool
    except BaseException:
        mouth.close()
        pool.shutdown(wait=True, cancel_futures=True)
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
        mouth.close()
        ear.close()


class _Pool(ProcessPoolExecutor):
    """Starts its processes with SIGINT blocked, so that none is hit while it still loads."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        if not hasattr(signal, "pthread_sigmask"):
            return super().submit(fn, *args, **kwargs)
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            return super().submit(fn, *args, **kwargs)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _listen(ear: Connection) -> None:
    """Runs in each new process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=_end_with, args=(ear,), daemon=True).start()


def _end_with(ear: Connection) -> None:
    """Waits for the other end of the pipe to be closed; nothing is ever sent."""
    with suppress(EOFError, OSError):
        ear.recv_bytes()
    os._exit(1)
