"""Divergences of explicit mechanisms in closed form, each with proofs that it is right.

A closed form is found for the pairs at the largest shift. Then it is proved that no neighbouring
pair exceeds it, and that the pair it was found for attains it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import sympy as sp

from dpsym.checking import confirm, sign_of
from dpsym.errors import InputError, ProofError, shown
from dpsym.guarantees import ApproxDP, Guarantee, PureDP, RenyiDP
from dpsym.kernel import statements
from dpsym.kernel import terms as tm
from dpsym.kernel.definitions import Form, Moment, constraints
from dpsym.kernel.proofs import Lemma
from dpsym.kernel.sequents import Sequent, context
from dpsym.kernel.statements import Fact, Mechanism, Pair, Region, Statement
from dpsym.kernel.terms import ZERO, Term
from dpsym.mechanisms.base import Mechanism as Explicit
from dpsym.results import Result
from dpsym.scope import Scope
from dpsym.search import leaf
from dpsym.search.integrals.closed import Case, cases, joined, moment, reversed_pair
from dpsym.search.integrals.losses import candidates
from dpsym.search.integrals.sampling import is_largest
from dpsym.search.leaf.budget import Budget, OutOfBudget
from dpsym.search.leaf.lowest import factored, product
from dpsym.search.privacy.prover import prove_statement
from dpsym.search.privacy.steps import Stuck
from dpsym.search.samples import points
from dpsym.translate import to_sympy
from dpsym.verdicts import Proved

__all__ = ["ClosedForm", "hockey_stick", "kl", "max_divergence", "privacy_loss", "renyi"]

_BUDGET = 60.0
_PURE = statements.Guarantee("PureDP", (ZERO,), two_way=False)
_WORTH = 0.6
_SIMPLE = 60  # operations of what SymPy is asked to simplify


@dataclass(frozen=True)
class ClosedForm:
    """A divergence in closed form.

    ``value`` holds for the parameters that satisfy the mechanism's hypotheses and the conditions
    given. ``upper`` is the theorem that no neighbouring pair exceeds it, ``lower`` the one that
    the worst pair attains it.

    >>> import sympy as sp, dpsym as dp
    >>> sigma, Delta, alpha = sp.symbols("sigma Delta alpha", positive=True)
    >>> gaussian = dp.AdditiveNoise(dp.noise.Gaussian(sigma=sigma), sensitivity=Delta)
    >>> gaussian.renyi(alpha, where=[alpha > 1])
    Delta**2*alpha/(2*sigma**2)
    """

    value: sp.Expr
    name: str
    upper: Result
    lower: Result | None

    def __repr__(self) -> str:
        return shown(self.value)

    def __str__(self) -> str:
        return f"{self.name} = {shown(self.value)}"

    def _repr_latex_(self) -> str:
        return f"$\\displaystyle {sp.latex(self.value)}$"

    @property
    def certificate(self) -> str:
        """The proof, as JSON, that no neighbouring pair exceeds the value."""
        return self.upper.certificate()


def renyi(mechanism: Explicit, alpha: object, where: object = ()) -> ClosedForm:
    """The largest Rényi divergence of order alpha of neighbouring outputs, in nats.

    Args:
        mechanism: an explicit mechanism.
        alpha: the order, above 0; 1 is the Kullback-Leibler divergence. ``where`` must settle
            whether a symbol is above or below 1.
        where: conditions on the parameters.

    Raises: InputError for an order at which the divergence is infinite; ProofError if no closed
    form is found and proved.
    """
    claim = RenyiDP(alpha, 0)
    order = claim.alpha

    def finish(total: sp.Expr) -> sp.Expr:
        if order == 1:
            return total
        sign = -1 if claim_below_one(claim, where) else 1
        return sp.log(sign * total) / (order - 1)

    name = "KL" if order == 1 else f"D_{shown(order)}"
    return _Derivation(mechanism, claim, where, name).derive(
        finish, lambda value: RenyiDP(order, value)
    )


def claim_below_one(claim: RenyiDP, where: object) -> bool:
    """Whether the order is below 1 for certain."""
    scope = Scope(where)
    scope.declare(claim.alpha, "alpha")
    (found,) = claim.to_kernel(scope, lambda term: sign_of(term, tuple(scope.facts)))
    return found.name == "RenyiDPBelowOne"


def kl(mechanism: Explicit, where: object = ()) -> ClosedForm:
    """The largest Kullback-Leibler divergence of neighbouring outputs, in nats."""
    return renyi(mechanism, 1, where)


def hockey_stick(mechanism: Explicit, epsilon: object, where: object = ()) -> ClosedForm:
    """The largest hockey-stick divergence of order e^epsilon of neighbouring outputs.

    It is the smallest delta at which the mechanism is (epsilon, delta)-differentially private; at
    epsilon = 0 it is the total variation distance. (Barthe and Olmedo, ICALP 2013; Balle, Barthe,
    Gaboardi, NeurIPS 2018, Theorem 1.)

    Args and raises: as for ``renyi``, with epsilon real, in nats.
    """
    claim = ApproxDP(epsilon, 0)
    return _Derivation(mechanism, claim, where, f"H({shown(claim.epsilon)})").derive(
        lambda total: total, lambda value: ApproxDP(claim.epsilon, value)
    )


class _Derivation:
    """One divergence of one mechanism."""

    def __init__(self, mechanism: Explicit, claim: Guarantee, where: object, name: str) -> None:
        self.mechanism, self.claim, self.where, self.name = mechanism, claim, where, name
        self.ends = time.process_time() + _BUDGET
        self.scope = Scope(where)
        for item in (mechanism, claim):
            for argument, expr in item.parameters():
                self.scope.declare(expr, argument)
        self.scope.assume(mechanism.hypotheses(), "mechanism")
        self.facts = tuple(self.scope.facts)
        (found,) = claim.to_kernel(self.scope, lambda term: sign_of(term, self.facts))
        (constraint,) = constraints(replace(found, two_way=False))
        self.constraint = constraint

    @property
    def form(self) -> Form:
        if not isinstance(self.constraint, Moment):
            raise InputError("claim", "a notion that bounds an expectation", self.claim)
        return self.constraint.form

    def left(self) -> float:
        return max(self.ends - time.process_time(), 1.0)

    def derive(
        self, finish: Callable[[sp.Expr], sp.Expr], claimed: Callable[[sp.Expr], Guarantee]
    ) -> ClosedForm:
        found: list[tuple[Pair, Term, sp.Expr]] = []
        for pair in self.extreme_pairs():
            for direction in (pair, reversed_pair(pair)):
                integral = self.total(direction)
                if integral is not None:
                    found.append((direction, *integral))
        if not found:
            raise ProofError(_NotFound(self.name, self.mechanism))
        pair, total, expr = self.largest(found)
        for value in simpler(finish(expr)):
            verdict = confirm(self.mechanism, claimed(value), self.where, self.left())
            if isinstance(verdict, Proved) and isinstance(verdict.theorem, Result):
                return ClosedForm(value, self.name, verdict.theorem, self.attained(pair, total))
        raise ProofError(verdict)

    def extreme_pairs(self) -> Iterator[Pair]:
        """The kernel's pairs at the largest shift."""
        stage = self.mechanism.to_kernel(self.scope)
        for pair, family in zip(stage.pairs, self.mechanism.neighbours(), strict=True):
            if family.shift is None or family.high is None:
                yield pair
                continue
            ((name, _),) = pair.variables
            high = {name: self.scope.term(family.high, "sensitivity")}
            yield statements.replaced(replace(pair, variables=(), facts=()), high)

    def goal(self, pair: Pair, claim: statements.Guarantee) -> Statement:
        return Statement(self.scope.variables, self.facts, (Mechanism((pair,)),), (claim,))

    def largest_loss(self) -> ClosedForm:
        found = [
            (value, pair, region, at)
            for one in self.extreme_pairs()
            for pair in (one, reversed_pair(one))
            for value, region, at in candidates(self.goal(pair, _PURE), pair)
        ]
        samples = points(self.scope.variables, self.facts, 12)
        for value, _, region, at in found:
            if not is_largest(value, (other[0] for other in found), samples):
                continue
            for expr in simpler(to_sympy(value, self.scope.symbols)):
                verdict = confirm(self.mechanism, PureDP(expr), self.where, self.left())
                if isinstance(verdict, Proved) and isinstance(verdict.theorem, Result):
                    lower = self.taken(value, region, at)
                    return ClosedForm(expr, self.name, verdict.theorem, lower)
            raise ProofError(verdict)
        raise ProofError(_NotFound(self.name, self.mechanism))

    def taken(self, value: Term, region: Region, at: Term | None) -> Result | None:
        """The theorem that the loss takes the value, at this output of the region."""
        if region.output is not None and at is None:
            return None
        names = {} if region.output is None or at is None else {region.output: at}
        p, q = tm.substitute(region.p, names), tm.substitute(region.q, names)
        sequent = Sequent(self.facts, Fact(p - tm.exp(value) * q, ">="))
        found = leaf.prove(sequent, self.left())
        return Result(found) if isinstance(found, Lemma) else None

    def total(self, pair: Pair) -> tuple[Term, sp.Expr] | None:
        """The integral, as the kernel's term and as SymPy's, by cases."""
        goal = self.goal(pair, moment(self.form.f, self.form.at_p))
        try:
            with Budget(self.left()).enforced():
                found = cases(goal)
        except OutOfBudget:
            return None
        if not found or any(case.floors for case in found):
            return None
        return joined(found), self.expression(found)

    def expression(self, found: tuple[Case, ...]) -> sp.Expr:
        def side(fact: Fact) -> sp.Basic:
            expr = to_sympy(fact.term, self.scope.symbols)
            return sp.Gt(expr, 0) if fact.rel == ">" else sp.Ge(expr, 0)

        pieces = [
            (_simple(self.shorter(case.total)), sp.And(*(side(fact) for fact in case.conditions)))
            for case in found
        ]
        if len({value for value, _ in pieces}) == 1:
            return pieces[0][0]
        return sp.Piecewise(*pieces[:-1], (pieces[-1][0], True))

    def shorter(self, total: Term) -> sp.Expr:
        """The term as it is, or as one quotient if it is long."""
        expr = to_sympy(total, self.scope.symbols)
        if expr.count_ops() <= _SIMPLE:
            return expr
        other = to_sympy(product(*factored(context(self.facts).canon, total)), self.scope.symbols)
        return min(expr, other, key=sp.count_ops)

    def largest(self, found: list[tuple[Pair, Term, sp.Expr]]) -> tuple[Pair, Term, sp.Expr]:
        """The one that is largest at all sample values."""
        samples = points(self.scope.variables, self.facts, 12)
        for entry in found:
            if is_largest(entry[1], (other[1] for other in found), samples):
                return entry
        raise ProofError(_NotFound(self.name, self.mechanism))

    def attained(self, pair: Pair, total: Term) -> Result:
        """The theorem that the pair's divergence is at least the total."""
        form = _turned(self.form)
        claim = moment(form.f, form.at_p, -total)
        try:
            return Result(prove_statement(self.goal(pair, claim), self.left()))
        except Stuck as stuck:
            raise ProofError(_NotFound(self.name, self.mechanism, stuck.reason)) from None


class _NotFound:
    """Why there is no closed form, as ``ProofError`` shows it."""

    def __init__(self, name: str, mechanism: Explicit, reason: str = "") -> None:
        self.text = f"no closed form of {name} was found and proved for {mechanism!r}"
        self.text += f": {reason}" if reason else "; enclose() has rigorous numbers"

    def __str__(self) -> str:
        return self.text


def _turned(form: Form) -> Form:
    """A function whose integral is minus the form's, and that is never positive or bounded below:
    for the form t log t, minus (t log t - t + 1), as p and q have the same mass."""
    t = tm.var(statements.RATIO)
    if form.f is t * tm.log(t):
        return Form(t - 1 - form.f, None, tm.MINUS_ONE)
    return Form(-form.f, None if form.at_p is None else -form.at_p, tm.ZERO)


def simpler(value: sp.Expr) -> Iterator[sp.Expr]:
    """Ways to write a value, the best first; each is proved afresh."""
    whole = _simple(value)
    if whole.count_ops() > _WORTH * value.count_ops():
        whole = value  # a quotient of a logarithm as it stands is what people write
    yield from dict.fromkeys((whole, value))


def _simple(value: sp.Expr) -> sp.Expr:
    if value.count_ops() > _SIMPLE:
        return value
    tried = [value, sp.simplify(value), sp.factor(sp.powsimp(value)), sp.logcombine(value)]
    return min(tried, key=lambda expr: (expr.count_ops(), len(str(expr))))


def privacy_loss(mechanism: Explicit, where: object = ()) -> sp.Lambda:
    """The loss log(p(x)/q(x)) as a function of the output, for the first pair at the largest shift.

    It is in nats; with x drawn from P it is the privacy-loss random variable. For a mechanism with
    finitely many outputs the function takes the number of the output, from 1.

    >>> import sympy as sp, dpsym as dp
    >>> sigma, Delta = sp.symbols("sigma Delta", positive=True)
    >>> privacy_loss(dp.AdditiveNoise(dp.noise.Gaussian(sigma=sigma), sensitivity=Delta))
    Lambda(x, Delta**2/(2*sigma**2) - Delta*x/sigma**2)
    """
    derivation = _Derivation(mechanism, PureDP(0), where, "loss")
    pair = next(derivation.extreme_pairs())
    canon = context(derivation.facts).canon

    def loss(region: Region) -> sp.Expr:
        item = canon.normal(tm.log(region.p) - tm.log(region.q))
        return to_sympy(item, {**derivation.scope.symbols, **names})

    outputs = [region.output for region in pair.regions if region.output is not None]
    names = {name: sp.Symbol(name, real=True) for name in outputs}
    if len(pair.regions) == 1 and outputs:
        return sp.Lambda(names[outputs[0]], loss(pair.regions[0]))
    number_of = sp.Symbol("x", integer=True, positive=True)
    pieces = [(loss(region), sp.Eq(number_of, i)) for i, region in enumerate(pair.regions, 1)]
    return sp.Lambda(number_of, sp.Piecewise(*pieces))


def max_divergence(mechanism: Explicit, where: object = ()) -> ClosedForm:
    """The largest loss of neighbouring outputs, in nats: the smallest epsilon of pure privacy.

    ``lower`` is None where the loss comes as close to the value as one likes but does not take it.

    Args and raises: as for ``renyi``.

    >>> import sympy as sp, dpsym as dp
    >>> b, Delta = sp.symbols("b Delta", positive=True)
    >>> max_divergence(dp.AdditiveNoise(dp.noise.Laplace(scale=b), sensitivity=Delta))
    Delta/b
    """
    return _Derivation(mechanism, PureDP(0), where, "D_oo").largest_loss()
