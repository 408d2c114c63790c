"""``dp.bound`` on random problems about one stage: how wide the certified intervals are.

Usage: ``python -m benchmarks.bounds [--problems N] [--seed S]``. Each problem has up to 6
guarantees (Rényi at orders that need not be whole, approximate, pure) and asks for delta at an
epsilon. A row has what was asked, the interval, its relative width and the processor seconds. Exit
code 1 if an interval is wider than 1e-6, or takes longer than 2 s.
"""

from __future__ import annotations

import argparse
import random
import statistics
import sys
import time

import sympy as sp

import dpsym as dp

DELTA = sp.Symbol("delta", nonnegative=True)
ORDERS = tuple(sp.Rational(text) for text in ("11/10", "3/2", "2", "5/2", "3", "4", "6", "8", "16"))
WIDTH, SECONDS = 1e-6, 2.0


def problem(rng: random.Random) -> tuple[list[dp.PureDP | dp.ApproxDP | dp.RenyiDP], dp.ApproxDP]:
    """Guarantees, and the claim with delta unknown."""
    found: list[dp.PureDP | dp.ApproxDP | dp.RenyiDP] = []
    rho = sp.Rational(rng.randint(2, 60), 100)
    for _ in range(rng.randint(1, 6)):
        kind = rng.random()
        if kind < 0.55:
            order = rng.choice(ORDERS)
            found.append(dp.RenyiDP(order, rho * order * sp.Rational(rng.randint(60, 110), 100)))
        elif kind < 0.95:
            delta = sp.Rational(round(10**6 * 10 ** rng.uniform(-5, -1)), 10**6)
            found.append(dp.ApproxDP(sp.Rational(rng.randint(10, 200), 100), delta))
        else:
            found.append(dp.PureDP(sp.Rational(rng.randint(50, 400), 100)))
    return found, dp.ApproxDP(sp.Rational(rng.randint(0, 300), 100), DELTA)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.bounds", description=__doc__)
    parser.add_argument("--problems", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    rng = random.Random(given.seed)
    widths, times, missed = [], [], 0
    for number in range(1, given.problems + 1):
        guarantees, claim = problem(rng)
        start = time.process_time()
        found = dp.bound(guarantees, claim, solve_for=DELTA)
        times.append(time.process_time() - start)
        asked = f"{number:3} {len(guarantees)} guarantees, epsilon = {float(claim.epsilon):4.2f}"
        if not isinstance(found, dp.Bound):
            print(f"{asked}: {found}  <- missed", flush=True)
            missed += 1
            continue
        widths.append(float(found.relative_width))
        late = widths[-1] > WIDTH or times[-1] > SECONDS
        missed += late
        ends = "none" if found.lower is None else f"{float(found.lower):.12g}"
        print(
            f"{asked}: [{ends}, {float(found.upper):.12g}] width {widths[-1]:.1e} "
            f"in {times[-1]:.2f} s{'  <- missed' if late else ''}",
            flush=True,
        )
    print(
        f"{given.problems - missed} of {given.problems}; width {statistics.median(widths):.1e} "
        f"(median) to {max(widths):.1e}; {statistics.median(times):.2f} s (median) to "
        f"{max(times):.2f} s"
    )
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
