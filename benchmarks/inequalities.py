"""``python -m benchmarks.inequalities [SECONDS]``: the inequalities of ``tests/data``, one by one.

Prints those that come out undecided or wrong, and the counts, times and certificate sizes.
"""

from __future__ import annotations

import statistics
import sys
import time

import dpsym as dp
from dpsym.kernel.certificate import verify
from tests.data import Case, inequalities


def decide(case: Case, seconds: float) -> dp.Verdict:
    """The verdict on one case, through the public verb."""
    left, right, where = case.read()
    return dp.check_inequality(left, right, where=where, strict=case.strict, budget=seconds)


def main(seconds: float) -> int:
    times, sizes, checks = [], [], []
    right = {True: 0, False: 0}
    wrong = 0
    cases = inequalities().values()
    for case in cases:
        started = time.process_time()
        verdict = decide(case, seconds)
        times.append(time.process_time() - started)
        said = {dp.Proved: True, dp.Refuted: False}.get(type(verdict))
        if said is case.truth:
            right[said] += 1
        else:
            wrong += said is not None
            print(f"{case.id}: {type(verdict).__name__}, {times[-1]:.2f} s")
        if isinstance(verdict, dp.Proved):
            text = verdict.certificate
            sizes.append(len(text))
            started = time.process_time()
            verify(text)
            checks.append(time.process_time() - started)
    true = sum(case.truth for case in cases)
    false = len(cases) - true
    print(f"true {right[True]} of {true}, false {right[False]} of {false}, wrong {wrong}")
    times.sort()
    middle, tenth = statistics.median(times), times[int(0.9 * len(times))]
    print(f"search: median {middle:.2f} s, 90 % {tenth:.2f} s, worst {times[-1]:.1f} s")
    print(f"certificates: median {statistics.median(sizes):.0f} B, largest {max(sizes)} B")
    print(f"checks: median {1e3 * statistics.median(checks):.1f} ms, largest {max(checks):.2f} s")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(float(sys.argv[1]) if len(sys.argv) > 1 else 20.0))
