"""Selection of one of finitely many candidates by their scores."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, pairwise, permutations
from typing import ClassVar

import sympy as sp

from dpsym.arguments import real, truth
from dpsym.errors import InputError
from dpsym.guarantees import Guarantee, PureDP
from dpsym.mechanisms.base import Mechanism, Neighbours, Part
from dpsym.mechanisms.noise import Exponential, Gumbel, Laplace
from dpsym.mechanisms.relations import relation_of
from dpsym.mechanisms.values import NONNEGATIVE, POSITIVE

__all__ = ["ExponentialMechanism", "PermuteAndFlip", "ReportNoisyMax"]

Row = tuple[sp.Expr, ...]
MAX_CANDIDATES = 100
MAX_CLOSED = 8  # candidates for which sums over subsets are written out

_SCORES = "two or more lists of scores, one for each input, or the number of candidates"


class _Selection(Mechanism, abstract=True):
    """What puts out one of finitely many candidates, with probabilities that depend on scores."""

    scores: tuple[Row, ...]
    sensitivity: sp.Expr
    monotone: bool

    def probabilities(self, row: Sequence[sp.Expr]) -> Row:
        """Those of the candidates, at these scores."""
        raise NotImplementedError

    def parameters(self) -> Iterator[tuple[str, sp.Expr]]:
        yield from super().parameters()
        for row in self.scores:
            for score in row:
                yield "scores", score

    def hypotheses(self) -> tuple[sp.Basic, ...]:
        return (*super().hypotheses(), *_within(self.scores, self.sensitivity, self.monotone))

    def neighbours(self) -> tuple[Neighbours, ...]:
        """One pair for every two lists of scores in each order, one atom for each candidate."""
        rows = [self.probabilities(row) for row in self.scores]
        return tuple(
            Neighbours(
                parts=tuple(Part(p, q) for p, q in zip(rows[i], rows[j], strict=True)),
                label=f"scores {i + 1} and {j + 1}",
            )
            for i, j in permutations(range(len(rows)), 2)
        )


class _Budgeted(_Selection, abstract=True):
    """Selection that is calibrated to an epsilon."""

    fields = ("scores", "epsilon", "sensitivity", "monotone", "relation")
    domains = {"epsilon": NONNEGATIVE, "sensitivity": POSITIVE}
    most: ClassVar[int]
    epsilon: sp.Expr
    relation: str | None

    def __init__(
        self,
        scores: object,
        epsilon: object,
        sensitivity: object = 1,
        monotone: bool = False,
        relation: str | None = None,
    ) -> None:
        self._take(epsilon=epsilon, sensitivity=sensitivity)
        self._set(monotone=truth("monotone", monotone), relation=relation_of(relation))
        self._set(scores=_rows(scores, self.sensitivity, self.monotone, self.most))

    def rate(self) -> sp.Expr:
        """What a score counts, in the exponent."""
        return self.epsilon / ((1 if self.monotone else 2) * self.sensitivity)

    def suggested(self) -> tuple[Guarantee, ...]:
        return (PureDP(self.epsilon),)


class ExponentialMechanism(_Budgeted):
    """The exponential mechanism: candidate i with probability proportional to
    e^(epsilon u_i/(2 sensitivity)), or e^(epsilon u_i/sensitivity) if the scores are monotone.

    McSherry, Talwar, "Mechanism Design via Differential Privacy", FOCS 2007, definition 2.

    Args:
        scores: lists of scores of the candidates, one list for each input; any two inputs are
            neighbours. Or the number of candidates: then two lists of symbols, u1, u2, ... and
            v1, v2, ..., which stand for all scores within the sensitivity.
        epsilon: in nats, >= 0.
        sensitivity: how much one score may differ between neighbours; positive.
        monotone: whether between two neighbours all scores change in one direction; symbolic ones
            then grow from each list to the next.
        relation: as for ``AdditiveNoise``.

    Raises: InputError for scores of numbers that differ by more than the sensitivity, and for such
    that are not monotone.

    >>> e = sp.Symbol("epsilon", positive=True)
    >>> ExponentialMechanism([[0, 0], [1, -1]], e).probabilities((0, 0))
    (1/2, 1/2)
    """

    title = "The exponential mechanism"
    source = "McSherry, Talwar, FOCS 2007, definition 2"
    most = MAX_CANDIDATES

    def probabilities(self, row: Sequence[sp.Expr]) -> Row:
        return _softmax(row, self.rate())


class PermuteAndFlip(_Budgeted):
    """Permute-and-flip: the candidates in random order, each accepted with probability
    e^(epsilon (u_i - max u)/(2 sensitivity)), until one is.

    With the candidate's place as a uniform variable z in [0, 1], candidate i is put out with
    probability p_i times the integral of the product of 1 - p_j z over the others. McKenna,
    Sheldon, "Permute-and-Flip: A New Mechanism for Differentially Private Selection", NeurIPS 2020,
    algorithm 1.

    Args:
        scores, epsilon, sensitivity, monotone, relation: as for ``ExponentialMechanism``.

    >>> PermuteAndFlip([[0, 0], [1, 0]], sp.log(4)).probabilities((sp.Integer(1), sp.Integer(0)))
    (3/4, 1/4)
    """

    title = "Permute-and-flip"
    source = "McKenna, Sheldon, NeurIPS 2020, algorithm 1"
    most = MAX_CLOSED

    def probabilities(self, row: Sequence[sp.Expr]) -> Row:
        return _flips(row, self.rate())


class ReportNoisyMax(_Selection):
    """The candidate with the largest score plus noise, and nothing else.

    With Gumbel noise it is the exponential mechanism, with exponential noise permute-and-flip
    (Ding, Kifer, Sayed, Steinke, Wang, Xiao, Zhang, "The Permute-and-Flip Mechanism Is Identical to
    Report-Noisy-Max with Exponential Noise", 2021). For Laplace noise: Dwork, Roth, "The
    Algorithmic Foundations of Differential Privacy", 2014, claim 3.9; with more than two candidates
    the scores must be rational numbers.

    Args:
        scores: as for ``ExponentialMechanism``.
        noise: ``noise.Gumbel``, ``noise.Exponential`` or ``noise.Laplace``.
        sensitivity, monotone, relation: as for ``ExponentialMechanism``.

    >>> twins = ReportNoisyMax([[0, 0], [1, 0]], Laplace(scale=1))
    >>> twins.probabilities((sp.Integer(1), sp.Integer(0)))
    (1 - 3*exp(-1)/4, 3*exp(-1)/4)
    """

    fields = ("scores", "noise", "sensitivity", "monotone", "relation")
    domains = {"sensitivity": POSITIVE}
    title = "Report noisy max"
    source = "Dwork, Roth, 2014, claim 3.9; Ding et al., 2021"
    noise: Gumbel | Exponential | Laplace
    relation: str | None

    def __init__(
        self,
        scores: object,
        noise: object,
        sensitivity: object = 1,
        monotone: bool = False,
        relation: str | None = None,
    ) -> None:
        if not isinstance(noise, (Gumbel, Exponential, Laplace)):
            raise InputError("noise", "noise.Gumbel, noise.Exponential or noise.Laplace", noise)
        self._take(sensitivity=sensitivity)
        self._set(noise=noise, relation=relation_of(relation))
        self._set(monotone=truth("monotone", monotone))
        most = MAX_CANDIDATES if isinstance(noise, Gumbel) else MAX_CLOSED
        rows = _rows(scores, self.sensitivity, self.monotone, most)
        plain = all(score.is_Rational for row in rows for score in row)
        if isinstance(noise, Laplace) and len(rows[0]) > 2 and not plain:
            raise InputError(
                "scores", "rational numbers, for Laplace noise and three or more candidates", rows
            )
        self._set(scores=rows)

    def probabilities(self, row: Sequence[sp.Expr]) -> Row:
        if isinstance(self.noise, Gumbel):
            return _softmax(row, 1 / self.noise.scale)
        if isinstance(self.noise, Exponential):
            return _flips(row, 1 / self.noise.scale)
        return _laplace_wins(row, self.noise.scale)

    def parameters(self) -> Iterator[tuple[str, sp.Expr]]:
        yield from self.noise.parameters()
        yield from super().parameters()

    def hypotheses(self) -> tuple[sp.Basic, ...]:
        return (*self.noise.hypotheses(), *super().hypotheses())

    def suggested(self) -> tuple[Guarantee, ...]:
        moves = (1 if self.monotone else 2) * self.sensitivity
        return (PureDP(moves / self.noise.scale),)


# --- scores ---------------------------------------------------------------------------------------


def _rows(scores: object, sensitivity: sp.Expr, monotone: bool, most: int) -> tuple[Row, ...]:
    """The lists of scores, checked as far as they are numbers."""
    if isinstance(scores, (int, sp.Integer)) and not isinstance(scores, bool):
        if not 2 <= scores <= most:
            raise InputError("scores", f"from 2 to {most} candidates", scores)
        places = range(1, int(scores) + 1)
        return tuple(tuple(sp.Symbol(f"{name}{i}", real=True) for i in places) for name in "uv")
    rows = [_listed(row, scores) for row in _listed(scores, scores)]
    if len(rows) < 2:
        raise InputError("scores", _SCORES, scores)
    lengths = {len(row) for row in rows}
    if len(lengths) != 1 or not 2 <= len(rows[0]) <= most:
        raise InputError("scores", f"lists of one length, of 2 to {most} candidates", scores)
    found = tuple(
        tuple(real(f"scores {i}, candidate {j}", score) for j, score in enumerate(row, 1))
        for i, row in enumerate(rows, 1)
    )
    for i, j in combinations(range(len(found)), 2):
        _refuse_far(found[i], found[j], sensitivity, monotone, f"scores {i + 1} and {j + 1}")
    return found


def _listed(value: object, scores: object) -> Sequence[object]:
    if isinstance(value, sp.MatrixBase):
        rows: list[list[object]] = value.tolist()
        return rows
    if not isinstance(value, Sequence) or isinstance(value, str):
        raise InputError("scores", _SCORES, scores)
    return value


def _refuse_far(
    first: Row, second: Row, sensitivity: sp.Expr, monotone: bool, argument: str
) -> None:
    moves = [b - a for a, b in zip(first, second, strict=True) if (b - a).is_Rational]
    if sensitivity.is_Rational and any(abs(move) > sensitivity for move in moves):
        raise InputError(
            argument, f"scores that differ by at most the sensitivity {sensitivity}", moves
        )
    if monotone and any(move > 0 for move in moves) and any(move < 0 for move in moves):
        raise InputError(argument, "scores that all change in one direction (monotone)", moves)


def _within(rows: tuple[Row, ...], sensitivity: sp.Expr, monotone: bool) -> tuple[sp.Basic, ...]:
    """What makes every two of the lists neighbours, for scores that are no numbers."""
    found: list[sp.Basic] = []
    for first, second in combinations(rows, 2):
        for a, b in zip(first, second, strict=True):
            move = b - a
            if move.is_Rational and sensitivity.is_Rational:
                continue
            found.append(sp.Le(move, sensitivity, evaluate=False))
            lowest = sp.Integer(0) if monotone else -sensitivity
            if not (monotone and move.is_Rational):
                found.append(sp.Ge(move, lowest, evaluate=False))
    return tuple(found)


# --- who wins -------------------------------------------------------------------------------------


def _softmax(row: Sequence[sp.Expr], rate: sp.Expr) -> Row:
    weights = [sp.exp(score * rate) for score in row]
    total = sp.Add(*weights)
    return tuple(weight / total for weight in weights)


def _flips(row: Sequence[sp.Expr], rate: sp.Expr) -> Row:
    """Each candidate's p times the integral over z of the product of 1 - p_j z of the others."""
    best = sp.Max(*row)
    accepted = [sp.exp((score - best) * rate) for score in row]
    found = []
    for i, own in enumerate(accepted):
        powers = [sp.Integer(1)]  # the coefficients of the product, in z
        for other in (*accepted[:i], *accepted[i + 1 :]):
            lower = [*powers, sp.Integer(0)]
            raised = [sp.Integer(0), *powers]
            powers = [sp.expand(a - other * b) for a, b in zip(lower, raised, strict=True)]
        found.append(own * sp.Add(*(c / (n + 1) for n, c in enumerate(powers))))
    return tuple(found)


def _laplace_wins(row: Sequence[sp.Expr], scale: sp.Expr) -> Row:
    if len(row) > 2:
        return tuple(_laplace_win(row, i, scale) for i in range(len(row)))
    gap = (row[0] - row[1]) / scale
    behind = sp.exp(-sp.Abs(gap)) * (2 + sp.Abs(gap)) / 4
    first = sp.Piecewise((1 - behind, gap >= 0), (behind, True))
    second = sp.Piecewise((behind, gap >= 0), (1 - behind, True))
    return first, second


def _laplace_win(row: Sequence[sp.Expr], winner: int, scale: sp.Expr) -> sp.Expr:
    """The integral over x of the winner's density times the others' distribution functions.

    Between two scores these are sums of terms c e^((m x + s)/scale), kept as {(m, s): c}.
    """
    cuts = [-sp.oo, *sorted(set(row)), sp.oo]
    total = sp.Integer(0)
    for low, high in pairwise(cuts):
        terms = {(0, sp.Integer(0)): 1 / (2 * scale)}
        for j, score in enumerate(row):
            side = -1 if low >= score else 1  # x is above the score, or below it
            tail = {(side, -side * score): sp.Rational(1, 2)}
            if j == winner:
                tail = {(side, -side * score): sp.Integer(1)}
            elif side < 0:
                tail = {(0, sp.Integer(0)): sp.Integer(1), (side, score): sp.Rational(-1, 2)}
            product: dict[tuple[int, sp.Expr], sp.Expr] = {}
            for (m, s), c in terms.items():
                for (n, r), d in tail.items():
                    key = (m + n, s + r)
                    product[key] = product.get(key, sp.Integer(0)) + c * d
            terms = product
        for (m, s), c in terms.items():
            total += c * _exponential(m, s, scale, low, high)
    return sp.expand(total)


def _exponential(m: int, s: sp.Expr, scale: sp.Expr, low: sp.Expr, high: sp.Expr) -> sp.Expr:
    """The integral of e^((m x + s)/scale) from low to high; m tells which end may be infinite."""
    if m == 0:
        return (high - low) * sp.exp(s / scale)
    ends = ((high, 1), (low, -1))
    return scale / m * sp.Add(*(c * sp.exp((m * x + s) / scale) for x, c in ends if x.is_finite))
