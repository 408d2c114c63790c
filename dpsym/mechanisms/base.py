"""What every explicit mechanism has."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import sympy as sp

from dpsym.errors import InputError, UnsupportedError, shown
from dpsym.kernel import statements
from dpsym.kernel import terms as k
from dpsym.kernel.statements import INTEGER, REAL, Fact, Pair, Region
from dpsym.kernel.terms import Term
from dpsym.mechanisms.values import Value
from dpsym.scope import check_symbol, interval_facts
from dpsym.translate import SUPPORTED, exact, is_random, nodes_of

if TYPE_CHECKING:
    from dpsym.closed_forms import ClosedForm
    from dpsym.enclosures import Enclosure, Settled
    from dpsym.guarantees import Guarantee
    from dpsym.scope import Scope

__all__ = ["MECHANISMS", "Mechanism", "Neighbours", "Part", "output_variable"]


@dataclass(frozen=True)
class Part:
    """A part of the output space: densities (or, if integer, masses) p and q of ``variable`` on
    ``support``; or, without a variable, ``weight`` atoms of masses p and q each.

    The ends of ``support``, an ``Interval``, may hold parameters; those of integers are closed.
    """

    p: sp.Expr
    q: sp.Expr
    variable: sp.Symbol | None = None
    support: sp.Set = sp.S.Reals
    integer: bool = False
    weight: sp.Expr = sp.S.One

    def __post_init__(self) -> None:
        for name in ("p", "q", "weight"):  # Python's numbers are taken exactly
            value = getattr(self, name)
            if not isinstance(value, sp.Basic):
                object.__setattr__(self, name, exact(value, name))


@dataclass(frozen=True)
class Neighbours:
    """A family of pairs (P, Q): one for every value of ``shift`` with low <= shift <= high.

    The parts make up the output space, up to outputs that neither P nor Q has. Unless
    ``normalised``, p and q are those of P and Q up to one positive factor, the same for both.
    """

    parts: tuple[Part, ...]
    shift: sp.Symbol | None = None
    low: sp.Expr | None = None
    high: sp.Expr | None = None
    integer: bool = False
    label: str = ""
    normalised: bool = True


MECHANISMS: dict[str, type[Mechanism]] = {}
"""Every mechanism, by name."""


class Mechanism(Value):
    """An explicit mechanism: a family of neighbouring pairs of output distributions. Immutable.

    A mechanism is a subclass: it sets ``fields``, ``title`` and ``source`` and has the method
    ``neighbours``. Defining it registers it, unless it is ``abstract``.
    """

    title: ClassVar[str]
    source: ClassVar[str]
    relation: str | None = None

    def __init_subclass__(cls, abstract: bool = False) -> None:
        if abstract:
            return
        for needed in ("fields", "title", "source"):
            if not hasattr(cls, needed):
                raise TypeError(f"a mechanism needs {needed}: {cls.__name__}")
        if cls.neighbours is Mechanism.neighbours:
            raise TypeError(f"a mechanism needs neighbours: {cls.__name__}")
        MECHANISMS[cls.__name__] = cls

    def suggested(self) -> tuple[Guarantee, ...]:
        """Guarantees that it probably has, for the search to prove and build on."""
        return ()

    def neighbours(self) -> tuple[Neighbours, ...]:
        """The families of neighbouring pairs. Symbols that are bound may be dummies."""
        raise NotImplementedError

    def enclose(
        self,
        claim: Guarantee,
        solve_for: sp.Symbol | None = None,
        width: object = None,
        where: object = None,
        cells: int = 300,
    ) -> Enclosure:
        """Rigorous numbers: the best parameter of a claim between two exact ones, for given
        parameters or for all in a box of them.

        See ``dpsym.enclosures.enclose``, which has the same arguments.
        """
        from dpsym.enclosures import enclose
        from dpsym.enclosures.failures import NoEnclosureError

        try:
            return enclose(self, claim, solve_for, width, where, cells)
        except MemoryError:
            raise NoEnclosureError("the memory is used up") from None

    def holds(self, claim: Guarantee, where: object = None, cells: int = 300) -> Settled:
        """Whether a claim holds for all parameters in a box, by subdivision and ball arithmetic.

        See ``dpsym.enclosures.holds``, which has the same arguments.
        """
        from dpsym.enclosures import holds

        return holds(self, claim, where, cells)

    def renyi(self, alpha: object, where: object = ()) -> ClosedForm:
        """The largest Rényi divergence of order alpha in closed form, proved.

        See ``dpsym.closed_forms.renyi``, which has the same arguments; so have the others below.
        """
        from dpsym.closed_forms import renyi

        return renyi(self, alpha, where)

    def kl(self, where: object = ()) -> ClosedForm:
        """The largest Kullback-Leibler divergence in closed form, proved."""
        from dpsym.closed_forms import kl

        return kl(self, where)

    def hockey_stick(self, epsilon: object, where: object = ()) -> ClosedForm:
        """The smallest delta at this epsilon in closed form, proved."""
        from dpsym.closed_forms import hockey_stick

        return hockey_stick(self, epsilon, where)

    def total_variation(self, where: object = ()) -> ClosedForm:
        """The largest total variation distance in closed form, proved."""
        return self.hockey_stick(0, where)

    def privacy_profile(self, epsilon: sp.Symbol, where: object = ()) -> sp.Lambda:
        """The smallest delta as a function of epsilon, in closed form and proved for every value
        that the symbol's assumptions allow."""
        return sp.Lambda(epsilon, self.hockey_stick(epsilon, where).value)

    def max_divergence(self, where: object = ()) -> ClosedForm:
        """The largest loss, the smallest epsilon of pure privacy, in closed form, proved."""
        from dpsym.closed_forms import max_divergence

        return max_divergence(self, where)

    def privacy_loss(self, where: object = ()) -> sp.Lambda:
        """The loss as a function of the output, for the first pair at the largest shift."""
        from dpsym.closed_forms import privacy_loss

        return privacy_loss(self, where)

    def to_kernel(self, scope: Scope) -> statements.Mechanism:
        """The pairs as kernel data. All parameters have been declared in the scope before.

        Raises: InputError for an output variable that is a parameter of the claim as well;
        UnsupportedError for functions that the kernel does not have.
        """
        known: dict[sp.Expr, Term] = {}
        try:
            return statements.Mechanism(
                tuple(_pair(family, scope, known) for family in self.neighbours())
            )
        except UnsupportedError as error:
            raise UnsupportedError(
                shown(self), error.functions, f"{SUPPORTED}; enclose() has numbers for it"
            ) from None


def _pair(family: Neighbours, scope: Scope, known: dict[sp.Expr, Term]) -> Pair:
    """A family as kernel data; ``known`` has the terms of what holds no bound symbol."""
    taken: set[str] = set()
    bound: dict[sp.Symbol, Term] = {}
    outputs = dict.fromkeys(part.variable for part in family.parts if part.variable is not None)
    for symbol in (*outputs, *((family.shift,) if family.shift is not None else ())):
        name = _bound_name(symbol, scope, taken)
        taken.add(name)
        bound[symbol] = k.var(name)

    def term(expr: sp.Expr, argument: str) -> Term:
        if bound:
            return scope.term(expr, argument, bound)
        if expr not in known:
            known[expr] = scope.term(expr, argument)
        return known[expr]

    regions = []
    for part in family.parts:
        p, q = term(part.p, "p"), term(part.q, "q")
        if part.variable is None:
            regions.append(Region(p, q, weight=term(part.weight, "weight")))
            continue
        output = bound[part.variable]
        inside = interval_facts(part.support, output, scope, "support", bound)
        kind = INTEGER if part.integer else REAL
        regions.append(Region(p, q, str(output.value), inside, kind=kind))
    variables, facts = [], []
    if family.shift is not None:
        shift = bound[family.shift]
        variables.append((str(shift.value), INTEGER if family.integer else REAL))
        if family.high is not None:
            facts.append(Fact(term(family.high, "shift") - shift, ">="))
        if family.low is not None:
            facts.append(Fact(shift - term(family.low, "shift"), ">="))
    return Pair(tuple(regions), tuple(variables), tuple(facts), family.label, family.normalised)


def _bound_name(symbol: sp.Symbol, scope: Scope, taken: set[str]) -> str:
    """A name for a bound symbol. A user's own keeps its name, which no parameter may have.

    Raises: InputError for a clash.
    """
    if isinstance(symbol, sp.Dummy):
        return scope.fresh(symbol.name, taken)
    if symbol.name in scope.symbols:
        raise InputError("variable", "a symbol that is no parameter of the claim as well", symbol)
    return str(symbol.name)


def output_variable(variable: object, integer: bool = False) -> sp.Symbol:
    """A symbol that runs over the outputs, all real ones or all integers.

    Raises: InputError for what is no such symbol.
    """
    if not isinstance(variable, sp.Symbol) or is_random(variable):
        raise InputError("variable", "the symbol of the output", variable)
    check_symbol(variable)
    if integer and not variable.is_integer:
        raise InputError("variable", "a symbol declared with integer=True", variable)
    return variable


def density(expr: object, argument: str) -> sp.Expr:
    """The expression of a density or mass, which must not be a number <= 0."""
    value = exact(expr, argument)
    if value.is_Rational and value <= 0:
        raise InputError(argument, "a density, which is positive somewhere", expr)
    return value


def free_parameters(expr: sp.Expr, argument: str, variable: sp.Symbol) -> Iterator[sp.Symbol]:
    """The symbols of a density but its variable.

    Raises: InputError for another symbol of the variable's name.
    """
    for node in nodes_of(expr, argument):
        if isinstance(node, sp.Symbol) and node != variable:
            if node.name == variable.name:
                raise InputError(argument, f"one symbol of the name {node.name}", expr)
            yield node
