"""Valid certificates, damaged at random: none may prove a false goal.

``python -m tests.soundness.mutations COUNT [SEED]`` damages COUNT certificates and prints what
became of them. A damaged certificate must be refused with a reason; or show the same goal; or show
another goal that is true at 1,000 points to 50 digits and that is proved afresh.
"""

from __future__ import annotations

import copy
import json
import random
import sys
from collections import Counter

import dpsym as dp
from dpsym.kernel.certificate import verify
from dpsym.kernel.proofs import Lemma
from dpsym.kernel.refusal import Refusal
from dpsym.kernel.rules import RULES
from dpsym.kernel.statements import Mechanism, Statement
from dpsym.search import leaf
from dpsym.search.privacy.prover import Stuck, prove_statement
from tests.soundness.exact import true_at_points
from tests.soundness.hostile_leaf import Source
from tests.soundness.hostile_mechanisms import random_point, witness
from tests.soundness.values import Undefined, Unsure

RELATIONS = (">=", ">", "!=")


def certificates(hard: bool = False) -> list[str]:
    """Certificates of every kind of goal and most rules; of the other rules too, if ``hard``."""
    from sympy import Abs, Interval, Max, Rational, erfc, exp, log, oo, pi, sqrt, symbols

    e, e1, e2, d1, d2 = symbols("e e1 e2 d1 d2", nonnegative=True)
    alpha, b, size = symbols("alpha b D", positive=True)
    k = symbols("k", integer=True, positive=True)
    x = symbols("x", real=True)
    pure, approx, renyi = dp.PureDP(e1), dp.ApproxDP(e2, d2), dp.RenyiDP(alpha, e2)
    laplace = dp.AdditiveNoise(dp.noise.Laplace(scale=b), sensitivity=size)
    gaussian = dp.AdditiveNoise(dp.noise.Gaussian(sigma=b), sensitivity=size)
    response = dp.RandomizedResponse(e, categories=k)
    waits = dp.DensityPair(exp(-x), 2 * exp(-2 * x), x, Interval(0, oo))
    above = [alpha > 1]
    verdicts = [
        dp.check(dp.compose(pure, dp.PureDP(e2)), dp.PureDP(e1 + e2)),
        dp.check(dp.compose(dp.ApproxDP(e1, d1), approx), dp.ApproxDP(e1 + e2, d1 + d2)),
        dp.check(dp.compose(dp.ApproxDP(e1, d1), approx, pure), dp.ApproxDP(2 * e1 + e2, d1 + d2)),
        dp.check(dp.compose(dp.RenyiDP(alpha, e1), renyi), dp.RenyiDP(alpha, e1 + e2), above),
        dp.check(dp.compose(pure, renyi), dp.RenyiDP(alpha, e1 + e2), above),
        dp.check(dp.compose(dp.ZCDP(e1), dp.ZCDP(e2)), dp.ZCDP(e1 + e2)),
        dp.check(dp.compose(dp.RenyiDP(1, e1), dp.RenyiDP(1, e2)), dp.RenyiDP(1, e1 + e2)),
        dp.check(dp.ProbabilisticDP(e1, d1), dp.ApproxDP(e1, d1)),
        dp.check(dp.postprocess(renyi), renyi, above),
        dp.check(dp.repeat(pure, k), dp.PureDP(k * e1)),
        dp.check(dp.group(pure, k), dp.PureDP(k * e1)),
        dp.check(dp.subsample(dp.PureDP(e), b), dp.PureDP(log(1 + b * (exp(e) - 1)))),
        dp.check(laplace, dp.PureDP(size / b)),
        dp.check(dp.RandomizedResponse(e, categories=k), dp.PureDP(e), [k >= 2]),
        dp.check(response, dp.ApproxDP(0, (exp(e) - 1) / (exp(e) + k - 1)), [k >= 2]),
        dp.check(gaussian, dp.RenyiDP(alpha, alpha * size**2 / (2 * b**2)), above),
        dp.check(waits, dp.ApproxDP(0, Rational(1, 4))),
        dp.check_inequality(1 + x, exp(x)),
        dp.check_inequality(log(1 + e), e),
        dp.check_inequality(e * (exp(e) - 1), 2 * e**2, [e <= 1]),
        dp.check_inequality(Max(e1 + x, 0), Max(x, 0) + e1),
        dp.check_inequality(Abs(x + e), Abs(x) + e),
        dp.check_inequality(e * (exp(e) - 1) / (exp(e) + 1), e**2 / 2),
    ]
    if hard:  # slow to prove afresh
        verdicts += [
            dp.check(laplace, dp.RenyiDP(1, size / b + exp(-size / b) - 1)),
            dp.check_inequality(  # a convex function beyond two zeros
                log((exp(alpha * e) + exp((1 - alpha) * e)) / (1 + exp(e))),
                alpha * (alpha - 1) * e**2 / 2,
                above,
            ),
            dp.check_inequality(  # a limit at infinity: Birnbaum's bound of the Gaussian tail
                2 * exp(-(e**2) / 2) / (e + sqrt(e**2 + 4)), sqrt(pi / 2) * erfc(e / sqrt(2))
            ),
            dp.check_inequality(1 - exp(-e), sqrt(1 - (1 + e) ** 2 * exp(-2 * e))),  # squares
        ]
    return [verdict.certificate for verdict in verdicts if isinstance(verdict, dp.Proved)]


def damaged(text: str, source: random.Random) -> str:
    """The certificate with one to three changes somewhere."""
    data = json.loads(text)
    for _ in range(source.choice((1, 1, 1, 2, 3))):
        _damage(data, source)
    return json.dumps(data)


def _damage(data: object, source: random.Random) -> None:
    places: list[tuple[object, object]] = []
    stack = [data]
    while stack:
        node = stack.pop()
        keys = node.keys() if isinstance(node, dict) else range(len(node))
        for key in list(keys):
            places.append((node, key))
            if isinstance(node[key], (dict, list)):
                stack.append(node[key])
    node, key = source.choice(places)
    old = node[key]
    if isinstance(old, bool):
        node[key] = not old
    elif isinstance(old, int):
        node[key] = source.choice((old + 1, old - 1, 0, -old, source.randrange(40), 10**30))
    elif isinstance(old, str):
        node[key] = _other_text(old, source)
    elif isinstance(old, list) and old:
        i, j = source.randrange(len(old)), source.randrange(len(old))
        change = source.randrange(4)
        if change == 0:
            old[i], old[j] = old[j], old[i]
        elif change == 1:
            del old[i]
        elif change == 2:
            old.insert(i, copy.deepcopy(old[j]))
        else:
            old[i] = copy.deepcopy(source.choice(places)[0])
    elif isinstance(node, dict):
        del node[key]


def _other_text(old: str, source: random.Random) -> str:
    if old in RULES:
        return source.choice(sorted(RULES))
    if old in RELATIONS:
        return source.choice(RELATIONS)
    if old.lstrip("-").replace("/", "").isdigit():
        return source.choice(("0", "1", "-1", "2", "1/2", old.lstrip("-"), "-" + old, old + "1"))
    return source.choice((old + "x", "add", "mul", "exp", "log", "max", "PureDP", "ApproxDP", "e1"))


def false_of_mechanism(goal: object, count: int = 8) -> bool:
    """Whether a statement about one explicit mechanism is clearly false at some of these points."""
    if not isinstance(goal, Statement) or not isinstance(goal.stages[0], Mechanism):
        return False
    source = Source(7)
    for _ in range(count if len(goal.stages) == 1 else 0):
        try:
            if witness(goal, random_point(source, goal)) is not None:
                return True
        except (Undefined, Unsure):
            continue
    return False


def outcome(text: str, goal: object) -> str:
    """What a damaged certificate comes to; raises AssertionError if it proves a false goal."""
    try:
        found = verify(text)
    except Refusal:
        return "refused"
    shown = found.sequent if isinstance(found, Lemma) else found.statement
    if shown == goal:
        return "same goal"
    assert true_at_points(shown), f"a false goal was proved: {shown}"
    assert not false_of_mechanism(shown), f"a false goal was proved: {shown}"
    if isinstance(found, Lemma):
        assert isinstance(leaf.prove(shown, 20), Lemma), f"not proved afresh: {shown}"
    else:
        try:
            prove_statement(shown, 30)
        except Stuck as stuck:
            raise AssertionError(f"not proved afresh ({stuck}): {shown}") from None
    return "another true goal"


def run(count: int, seed: int, hard: bool = False) -> Counter[str]:
    """Damage so many certificates."""
    source = random.Random(seed)
    texts = certificates(hard)
    goals = [verify(text) for text in texts]
    shown = [g.sequent if isinstance(g, Lemma) else g.statement for g in goals]
    found: Counter[str] = Counter()
    for _ in range(count):
        which = source.randrange(len(texts))
        found[outcome(damaged(texts[which], source), shown[which])] += 1
    return found


if __name__ == "__main__":
    total = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    start = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    for name, number in sorted(run(total, start, hard=True).items()):
        sys.stdout.write(f"{number:6d} {name}\n")
