"""Privacy notions: one class each, with its expression, its homogeneous form and how it is shown.

P and Q are the output distributions on two neighbouring inputs, p and q their densities, and
L = log(p/q) under P the privacy loss. Each notion bounds a moment of L, or its support. As an
integral of a function of (p, q) a moment is homogeneous of degree 1, so a function of t = p/q and
two values, at (p, q) = (1, 0) and at (0, 1), say it all. Logarithms are natural, epsilon in nats.

Unless ``one_way=True``, a guarantee says this for (P, Q) and for (Q, P).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Union

import sympy as sp

from dpsym import losses
from dpsym.arguments import nonnegative, positive, probability, real, sign_of_constant
from dpsym.errors import InputError, shown
from dpsym.kernel import statements
from dpsym.kernel import terms as k
from dpsym.kernel.statements import RATIO
from dpsym.kernel.terms import Term
from dpsym.translate import nodes_of

if TYPE_CHECKING:
    from sympy.stats.rv import RandomSymbol

    from dpsym.scope import Scope

__all__ = [
    "GDP",
    "NOTIONS",
    "TCDP",
    "ZCDP",
    "ApproxDP",
    "Both",
    "BoundedRange",
    "Guarantee",
    "HomogeneousForm",
    "MomentBound",
    "ProbabilisticDP",
    "PureDP",
    "RenyiDP",
    "both",
]

Decide = Callable[[Term], Union[str, None]]
"""Asks the sign of a term over the whole domain: ">", "<", "=" or None for not known."""

NOTIONS: dict[str, type[Guarantee]] = {}
"""Every privacy notion, by name."""

_T = sp.Symbol("t", positive=True)
_LOSS = sp.Dummy("L", dummy_index=-1, real=True)  # the bound variable of a moment


@dataclass(frozen=True)
class HomogeneousForm:
    """A notion as ``integral of q f(p/q) <= bound``, with the values on the two rays.

    ``kind`` is "integral"; "support" if the bound is on f wherever P or Q has mass, instead of on
    the integral; "range" if it is on the largest f minus the smallest.
    """

    ratio: sp.Symbol
    f: sp.Expr
    at_q_zero: sp.Expr
    at_p_zero: sp.Expr
    bound: sp.Expr
    kind: str = "integral"


class Guarantee:
    """A privacy notion at given parameters. Immutable; equal if name and parameters are.

    A notion is a subclass: it sets ``fields`` and ``title`` and has the methods below. Defining
    it registers it.
    """

    fields: ClassVar[tuple[str, ...]]
    title: ClassVar[str]

    one_way: bool

    def __init_subclass__(cls) -> None:
        for needed in ("fields", "title", "expression", "homogeneous", "hypotheses"):
            if needed not in vars(cls):
                raise TypeError(f"a privacy notion needs {needed}: {cls.__name__}")
        NOTIONS[cls.__name__] = cls

    def _set(self, one_way: object, **values: object) -> None:
        if not isinstance(one_way, bool):
            raise InputError("one_way", "True or False", one_way)
        for name, value in (*values.items(), ("one_way", one_way)):
            object.__setattr__(self, name, value)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__} is immutable")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{type(self).__name__} is immutable")

    def _key(self) -> tuple[Any, ...]:
        return (type(self), self.one_way, *(getattr(self, name) for name in self.fields))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Guarantee) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        shown_fields = [self._show(name) for name in self.fields]
        if self.one_way:
            shown_fields.append("one_way=True")
        return f"{type(self).__name__}({', '.join(shown_fields)})"

    def _show(self, name: str) -> str:
        return shown(getattr(self, name))

    def _repr_latex_(self) -> str:
        return f"${self.latex()}$"

    def parameters(self) -> Iterator[tuple[str, sp.Expr]]:
        """The (name, expression) of every parameter that is a real number."""
        for name in self.fields:
            value = getattr(self, name)
            if value is not sp.oo:
                yield name, value

    def expression(self, L: RandomSymbol) -> sp.Basic:  # noqa: N803
        """What the guarantee says, as a relation over the privacy loss ``L``."""
        raise NotImplementedError

    def homogeneous(self) -> HomogeneousForm:
        """What the guarantee says, as a function of the densities."""
        raise NotImplementedError

    def hypotheses(self) -> tuple[sp.Basic, ...]:
        """What a subject of this kind adds to the assumptions: its parameters are in range."""
        raise NotImplementedError

    def to_kernel(self, scope: Scope, decide: Decide) -> tuple[statements.Guarantee, ...]:
        """The kernel's statement. ``decide`` tells signs over the claim's domain.

        Raises: InputError if the meaning depends on a sign that the domain does not settle.
        """
        del decide
        args = tuple(scope.term(value, name) for name, value in self.parameters())
        return (self._named(type(self).__name__, *args),)

    def _named(self, name: str, *args: Term | None) -> statements.Guarantee:
        return statements.Guarantee(name, args, two_way=not self.one_way)

    def text(self) -> str:
        """One plain line."""
        way = ", from P to Q only" if self.one_way else ""
        names = ", ".join(self._show(name) for name in self.fields)
        return f"{self.title.format(names)}: {self._says()}{way}"

    def latex(self) -> str:
        """The line over the privacy loss as LaTeX, without dollar signs."""
        return self._says_latex()

    def _says(self) -> str:
        raise NotImplementedError

    def _says_latex(self) -> str:
        raise NotImplementedError


def _ge(left: object, right: object) -> sp.Basic:
    """An inequality that SymPy is not to decide."""
    return sp.Ge(left, right, evaluate=False)


def _le(left: object, right: object) -> sp.Basic:
    return sp.Le(left, right, evaluate=False)


def _unit(delta: sp.Expr) -> tuple[sp.Basic, ...]:
    return _ge(delta, 0), _le(delta, 1)


def _sum(expr: sp.Expr) -> str:
    """An expression as a summand or factor of a plain line."""
    return f"({shown(expr)})" if isinstance(expr, sp.Add) else shown(expr)


class PureDP(Guarantee):
    """(epsilon, 0)-differential privacy: L <= epsilon almost surely, so p <= e^epsilon q.

    Dwork, McSherry, Nissim, Smith, "Calibrating Noise to Sensitivity", TCC 2006, Definition 1.

    Args:
        epsilon: in nats; real in a claim, >= 0 in a subject; a constant must be >= 0.

    Raises: InputError for a constant out of range and for what is no real expression.

    >>> print(PureDP(sp.Symbol("epsilon")).text())
    epsilon-differential privacy: L <= epsilon almost surely
    """

    fields = ("epsilon",)
    title = "{}-differential privacy"
    epsilon: sp.Expr

    def __init__(self, epsilon: object, *, one_way: bool = False) -> None:
        self._set(one_way, epsilon=nonnegative("epsilon", epsilon))

    def expression(self, L: RandomSymbol) -> sp.Basic:  # noqa: N803
        return _le(L, self.epsilon)

    def homogeneous(self) -> HomogeneousForm:
        return HomogeneousForm(
            _T, _T - sp.exp(self.epsilon), sp.S.One, -sp.exp(self.epsilon), sp.S.Zero, "support"
        )

    def hypotheses(self) -> tuple[sp.Basic, ...]:
        return (_ge(self.epsilon, 0),)

    def _says(self) -> str:
        return f"L <= {shown(self.epsilon)} almost surely"

    def _says_latex(self) -> str:
        return rf"L \le {sp.latex(self.epsilon)} \text{{ almost surely}}"


class ApproxDP(Guarantee):
    """(epsilon, delta)-differential privacy: the hockey-stick divergence is at most delta.

    Dwork, Kenthapadi, McSherry, Mironov, Naor, "Our Data, Ourselves", EUROCRYPT 2006; as a
    divergence: Barthe and Olmedo, ICALP 2013; Balle, Barthe, Gaboardi, NeurIPS 2018, Theorem 1.

    Args:
        epsilon: in nats; real in a claim, >= 0 in a subject; a constant must be >= 0.
        delta: real in a claim, in [0, 1] in a subject; a constant must lie in [0, 1].

    Raises: InputError for a constant out of range and for what is no real expression.

    >>> print(ApproxDP(*sp.symbols("epsilon delta")).text())
    (epsilon, delta)-differential privacy: E[(1 - e^(epsilon - L))_+] <= delta
    """

    fields = ("epsilon", "delta")
    title = "({})-differential privacy"
    epsilon: sp.Expr
    delta: sp.Expr

    def __init__(self, epsilon: object, delta: object, *, one_way: bool = False) -> None:
        self._set(
            one_way, epsilon=nonnegative("epsilon", epsilon), delta=probability("delta", delta)
        )

    def expression(self, L: RandomSymbol) -> sp.Basic:  # noqa: N803
        return _le(losses.hockey_stick(L, self.epsilon), self.delta)

    def homogeneous(self) -> HomogeneousForm:
        f = sp.Max(0, _T - sp.exp(self.epsilon))
        return HomogeneousForm(_T, f, sp.S.One, sp.S.Zero, self.delta)

    def hypotheses(self) -> tuple[sp.Basic, ...]:
        return (_ge(self.epsilon, 0), *_unit(self.delta))

    def _says(self) -> str:
        return f"E[(1 - e^({shown(self.epsilon)} - L))_+] <= {shown(self.delta)}"

    def _says_latex(self) -> str:
        epsilon, delta = sp.latex(self.epsilon), sp.latex(self.delta)
        return rf"\mathbb{{E}}\left[\left(1 - e^{{{epsilon} - L}}\right)_+\right] \le {delta}"


class RenyiDP(Guarantee):
    """(alpha, epsilon)-Rényi differential privacy: the divergence of order alpha is <= epsilon.

    For alpha > 1: E[e^((alpha-1) L)] <= e^((alpha-1) epsilon). For alpha = 1 it is E[L] <= epsilon,
    for 0 < alpha < 1 the inequality turns, and alpha = oo is pure differential privacy.
    Mironov, "Rényi Differential Privacy", CSF 2017, Definition 4; van Erven and Harremoës, 2014.

    Args:
        alpha: the order; positive, or oo. For a symbol the claim must settle whether it is above,
            at or below 1 (``where=[alpha > 1]``).
        epsilon: in nats; real in a claim, >= 0 in a subject; a constant must be >= 0.

    Raises: InputError for a constant out of range and for what is no real expression.

    >>> print(RenyiDP(*sp.symbols("alpha epsilon")).text())
    (alpha, epsilon)-Rényi differential privacy: E[e^((alpha - 1)*L)] <= e^((alpha - 1)*epsilon)
    """

    fields = ("alpha", "epsilon")
    title = "({})-Rényi differential privacy"
    alpha: sp.Expr
    epsilon: sp.Expr

    def __init__(self, alpha: object, epsilon: object, *, one_way: bool = False) -> None:
        infinite = alpha is sp.oo or (isinstance(alpha, float) and alpha == float("inf"))
        order = sp.oo if infinite else positive("alpha", alpha)
        self._set(one_way, alpha=order, epsilon=nonnegative("epsilon", epsilon))

    def expression(self, L: RandomSymbol) -> sp.Basic:  # noqa: N803
        if self.alpha is sp.oo:
            return _le(L, self.epsilon)
        return _le(losses.renyi(L, self.alpha), self.epsilon)

    def homogeneous(self) -> HomogeneousForm:
        """For a symbolic order that its assumptions do not settle: that of an order above 1."""
        alpha, epsilon = self.alpha, self.epsilon
        if alpha is sp.oo:
            return PureDP(epsilon).homogeneous()
        if alpha == 1:
            return HomogeneousForm(_T, _T * sp.log(_T), sp.oo, sp.S.Zero, epsilon)
        bound = sp.exp((alpha - 1) * epsilon)
        if (1 - alpha).is_positive:
            return HomogeneousForm(_T, -(_T**alpha), sp.S.Zero, sp.S.Zero, -bound)
        return HomogeneousForm(_T, _T**alpha, sp.oo, sp.S.Zero, bound)

    def hypotheses(self) -> tuple[sp.Basic, ...]:
        order = () if self.alpha is sp.oo else (sp.Gt(self.alpha, 0, evaluate=False),)
        return (*order, _ge(self.epsilon, 0))

    def to_kernel(self, scope: Scope, decide: Decide) -> tuple[statements.Guarantee, ...]:
        epsilon = scope.term(self.epsilon, "epsilon")
        if self.alpha is sp.oo:
            return (self._named("PureDP", epsilon),)
        alpha = scope.term(self.alpha, "alpha")
        above = self.alpha - 1 if self.alpha.is_Rational else None  # exact, by SymPy's rationals
        side = _sign(alpha - 1 if above is None else scope.term(above, "alpha"), decide)
        if side == ">":
            return (self._named("RenyiDP", alpha, epsilon),)
        if side == "=":
            return (self._named("KLDP", epsilon),)
        if side is None or _sign(alpha, decide) != ">":
            raise InputError(
                "alpha",
                "an order that the claim settles to be > 1, = 1, or in (0, 1): "
                f"add, for example, {shown(self.alpha)} > 1 to where",
                self.alpha,
            )
        return (self._named("RenyiDPBelowOne", alpha, epsilon),)

    def _says(self) -> str:
        if self.alpha is sp.oo:
            return f"L <= {shown(self.epsilon)} almost surely"
        if self.alpha == 1:
            return f"E[L] <= {shown(self.epsilon)}"
        less = self.alpha - 1
        rel = ">=" if less.is_negative else "<="
        if less == 1:
            return f"E[e^L] <= e^{_sum(self.epsilon)}"
        return f"E[e^({_sum(less)}*L)] {rel} e^({_sum(less)}*{_sum(self.epsilon)})"

    def _says_latex(self) -> str:
        epsilon = sp.latex(self.epsilon)
        if self.alpha is sp.oo:
            return rf"L \le {epsilon} \text{{ almost surely}}"
        if self.alpha == 1:
            return rf"\mathbb{{E}}\left[L\right] \le {epsilon}"
        alpha = sp.latex(self.alpha)
        moment = rf"\mathbb{{E}}\left[e^{{({alpha} - 1) L}}\right]"
        return rf"\frac{{1}}{{{alpha} - 1}} \log {moment} \le {epsilon}"


class ZCDP(Guarantee):
    """rho-zero-concentrated differential privacy: (alpha, rho*alpha)-Rényi DP for all alpha > 1.

    Bun and Steinke, "Concentrated Differential Privacy", TCC 2016-B, Definition 1.1, with xi = 0.

    Args:
        rho: real in a claim, >= 0 in a subject; a constant must be >= 0.

    Raises: InputError for a constant out of range and for what is no real expression.

    >>> print(ZCDP(sp.Symbol("rho")).text())
    rho-zCDP: E[e^((a - 1)*L)] <= e^((a - 1)*a*rho) for every a > 1
    """

    fields = ("rho",)
    title = "{}-zCDP"
    rho: sp.Expr

    def __init__(self, rho: object, *, one_way: bool = False) -> None:
        self._set(one_way, rho=nonnegative("rho", rho))

    def _order(self) -> sp.Symbol:
        """The order that "for every" is about."""
        return sp.Dummy("alpha", dummy_index=-2, positive=True)

    def expression(self, L: RandomSymbol) -> sp.Basic:  # noqa: N803
        """The bound at one order ``alpha`` (a dummy symbol); it holds for every alpha > 1."""
        return _le(losses.renyi(L, self._order()), self.rho * self._order())

    def homogeneous(self) -> HomogeneousForm:
        """The form at one order ``alpha`` (a dummy symbol)."""
        return RenyiDP(self._order(), self.rho * self._order()).homogeneous()

    def hypotheses(self) -> tuple[sp.Basic, ...]:
        return (_ge(self.rho, 0),)

    def _says(self) -> str:
        return f"E[e^((a - 1)*L)] <= e^((a - 1)*a*{_sum(self.rho)}) for every a > 1"

    def _says_latex(self) -> str:
        rho = sp.latex(self.rho)
        moment = r"\mathbb{E}\left[e^{(\alpha - 1) L}\right]"
        return (
            rf"{moment} \le e^{{(\alpha - 1)\, \alpha\, \left({rho}\right)}} "
            r"\text{ for every } \alpha > 1"
        )


class TCDP(Guarantee):
    """(rho, omega)-truncated concentrated DP: (alpha, rho*alpha)-Rényi DP for 1 < alpha < omega.

    Bun, Dwork, Rothblum, Steinke, "Composable and Versatile Privacy via Truncated CDP", STOC 2018,
    Definition 1.

    Args:
        rho: real in a claim, >= 0 in a subject; a constant must be >= 0.
        omega: where the orders end; above 1.

    Raises: InputError for a constant out of range and for what is no real expression.

    >>> print(TCDP(*sp.symbols("rho omega")).text())
    (rho, omega)-tCDP: E[e^((a - 1)*L)] <= e^((a - 1)*a*rho) for every a in (1, omega)
    """

    fields = ("rho", "omega")
    title = "({})-tCDP"
    rho: sp.Expr
    omega: sp.Expr

    def __init__(self, rho: object, omega: object, *, one_way: bool = False) -> None:
        end = positive("omega", omega)
        if (end - 1).is_nonpositive:
            raise InputError("omega", "an end of the orders above 1", omega)
        self._set(one_way, rho=nonnegative("rho", rho), omega=end)

    def expression(self, L: RandomSymbol) -> sp.Basic:  # noqa: N803
        """The bound at one order ``alpha`` (a dummy symbol); it holds for 1 < alpha < omega."""
        return ZCDP(self.rho).expression(L)

    def homogeneous(self) -> HomogeneousForm:
        """The form at one order ``alpha`` (a dummy symbol)."""
        return ZCDP(self.rho).homogeneous()

    def hypotheses(self) -> tuple[sp.Basic, ...]:
        return _ge(self.rho, 0), sp.Gt(self.omega, 1, evaluate=False)

    def _says(self) -> str:
        bound = f"E[e^((a - 1)*L)] <= e^((a - 1)*a*{_sum(self.rho)})"
        return f"{bound} for every a in (1, {shown(self.omega)})"

    def _says_latex(self) -> str:
        bound, _ = ZCDP(self.rho)._says_latex().split(r" \text")
        return rf"{bound} \text{{ for every }} 1 < \alpha < {sp.latex(self.omega)}"


class GDP(Guarantee):
    """mu-Gaussian DP: telling P from Q is no easier than telling N(mu, 1) from N(0, 1).

    The hockey-stick divergence of every order e^epsilon is at most that of the two Gaussians,
    Phi(mu/2 - epsilon/mu) - e^epsilon Phi(-mu/2 - epsilon/mu), for every real epsilon. Dong, Roth,
    Su, "Gaussian Differential Privacy", JRSS B 2022, Definition 2.6 and Corollary 2.13.

    Args:
        mu: positive.

    Raises: InputError for a constant that is not positive and for what is no real expression.

    >>> print(GDP(sp.Symbol("mu")).text())
    mu-GDP: E[(1 - e^(x - L))_+] <= Phi(mu/2 - x/mu) - e^x*Phi(-mu/2 - x/mu) for every real x
    """

    fields = ("mu",)
    title = "{}-GDP"
    mu: sp.Expr

    def __init__(self, mu: object, *, one_way: bool = False) -> None:
        self._set(one_way, mu=positive("mu", mu))

    def _member(self) -> tuple[sp.Symbol, sp.Expr]:
        """The epsilon that "for every" is about, and the largest divergence there."""
        x, mu = sp.Dummy("epsilon", dummy_index=-8, real=True), self.mu
        below, above = (sp.erfc(-(side * mu / 2 - x / mu) / sp.sqrt(2)) / 2 for side in (1, -1))
        return x, below - sp.exp(x) * above

    def expression(self, L: RandomSymbol) -> sp.Basic:  # noqa: N803
        """The bound at one ``epsilon`` (a dummy symbol); it holds for every real one."""
        x, most = self._member()
        return _le(losses.hockey_stick(L, x), most)

    def homogeneous(self) -> HomogeneousForm:
        """The form at one ``epsilon`` (a dummy symbol)."""
        x, most = self._member()
        return HomogeneousForm(_T, sp.Max(0, _T - sp.exp(x)), sp.S.One, sp.S.Zero, most)

    def hypotheses(self) -> tuple[sp.Basic, ...]:
        return (sp.Gt(self.mu, 0, evaluate=False),)

    def _says(self) -> str:
        mu = _sum(self.mu)
        most = f"Phi({mu}/2 - x/{mu}) - e^x*Phi(-{mu}/2 - x/{mu})"
        return f"E[(1 - e^(x - L))_+] <= {most} for every real x"

    def _says_latex(self) -> str:
        mu = sp.latex(self.mu)
        sides = (
            rf"\Phi\left({sign}\frac{{{mu}}}{{2}} - \frac{{x}}{{{mu}}}\right)" for sign in ("", "-")
        )
        return (
            r"\mathbb{E}\left[\left(1 - e^{x - L}\right)_+\right] \le "
            + r" - e^x ".join(sides)
            + r" \text{ for every real } x"
        )


class ProbabilisticDP(Guarantee):
    """Probabilistic (epsilon, delta)-differential privacy: P(L > epsilon) <= delta.

    Stronger than ``ApproxDP``, and not closed under post-processing. Machanavajjhala, Kifer, Abowd,
    Gehrke, Vilhuber, "Privacy: Theory meets Practice on the Map", ICDE 2008; Meiser, 2018.

    Args:
        epsilon: in nats; real in a claim, >= 0 in a subject; a constant must be >= 0.
        delta: real in a claim, in [0, 1] in a subject; a constant must lie in [0, 1].

    Raises: InputError for a constant out of range and for what is no real expression.

    >>> print(ProbabilisticDP(*sp.symbols("epsilon delta")).text())
    probabilistic (epsilon, delta)-differential privacy: P(L > epsilon) <= delta
    """

    fields = ("epsilon", "delta")
    title = "probabilistic ({})-differential privacy"
    epsilon: sp.Expr
    delta: sp.Expr

    def __init__(self, epsilon: object, delta: object, *, one_way: bool = False) -> None:
        self._set(
            one_way, epsilon=nonnegative("epsilon", epsilon), delta=probability("delta", delta)
        )

    def expression(self, L: RandomSymbol) -> sp.Basic:  # noqa: N803
        from sympy.stats import Probability

        return _le(Probability(sp.Gt(L, self.epsilon, evaluate=False)), self.delta)

    def homogeneous(self) -> HomogeneousForm:
        above = sp.Gt(_T, sp.exp(self.epsilon), evaluate=False)
        f = sp.Piecewise((_T, above), (0, True))
        return HomogeneousForm(_T, f, sp.S.One, sp.S.Zero, self.delta)

    def hypotheses(self) -> tuple[sp.Basic, ...]:
        return (_ge(self.epsilon, 0), *_unit(self.delta))

    def _says(self) -> str:
        return f"P(L > {shown(self.epsilon)}) <= {shown(self.delta)}"

    def _says_latex(self) -> str:
        return rf"\mathbb{{P}}\left(L > {sp.latex(self.epsilon)}\right) \le {sp.latex(self.delta)}"


class BoundedRange(Guarantee):
    """epsilon-bounded range: t <= L <= t + epsilon almost surely, for some t of the pair.

    In an adaptive composition t may depend on the earlier outputs. Durfee and Rogers, "Practical
    Differentially Private Top-k Selection", NeurIPS 2019; Dong, Durfee, Rogers, ICML 2020.

    Args:
        epsilon: in nats; real in a claim, >= 0 in a subject; a constant must be >= 0.

    Raises: InputError for a constant out of range and for what is no real expression.

    >>> print(BoundedRange(sp.Symbol("epsilon")).text())
    epsilon-bounded range: t <= L <= t + epsilon almost surely, for some t
    """

    fields = ("epsilon",)
    title = "{}-bounded range"
    epsilon: sp.Expr

    def __init__(self, epsilon: object, *, one_way: bool = False) -> None:
        self._set(one_way, epsilon=nonnegative("epsilon", epsilon))

    def expression(self, L: RandomSymbol) -> sp.Basic:  # noqa: N803
        lowest = sp.Dummy("t", dummy_index=-3, real=True)
        return sp.And(_le(lowest, L), _le(L, lowest + self.epsilon))

    def homogeneous(self) -> HomogeneousForm:
        return HomogeneousForm(_T, sp.log(_T), sp.oo, -sp.oo, self.epsilon, "range")

    def hypotheses(self) -> tuple[sp.Basic, ...]:
        return (_ge(self.epsilon, 0),)

    def _says(self) -> str:
        return f"t <= L <= t + {shown(self.epsilon)} almost surely, for some t"

    def _says_latex(self) -> str:
        return rf"t \le L \le t + {sp.latex(self.epsilon)} \text{{ almost surely, for some }} t"


class MomentBound(Guarantee):
    """A moment of the user's own: the positive part of h(L) is integrable and E[h(L)] <= c.

    Args:
        h: a function of the loss, ``lambda L: exp((alpha - 1)*L)``, a SymPy ``Lambda``, or an
            expression in one ``PrivacyLoss`` symbol.
        c: the bound; any real expression.
        at_infinity: h(+oo), which counts where only P has mass: a real expression or oo. If not
            given, it is the limit of h, where dpsym can tell it from the signs of its parts.

    Raises: InputError for what is no function of a loss, or no real expression.

    >>> alpha, c = sp.symbols("alpha c", positive=True)
    >>> print(MomentBound(lambda L: sp.exp((alpha - 1) * L), c).text())
    moment bound: E[exp(L*(alpha - 1))] <= c
    """

    fields = ("h", "c", "at_infinity")
    title = "moment bound"
    h: sp.Lambda
    c: sp.Expr
    at_infinity: sp.Expr | None

    def __init__(
        self, h: object, c: object, *, at_infinity: object = None, one_way: bool = False
    ) -> None:
        limit = at_infinity
        if limit is not None and limit is not sp.oo and limit != float("inf"):
            limit = real("at_infinity", limit)
        elif limit is not None:
            limit = sp.oo
        moment = sp.Lambda(_LOSS, real("h", _as_body(h)))
        self._set(one_way, h=moment, c=real("c", c), at_infinity=limit)

    def _show(self, name: str) -> str:
        if name == "h":
            return f"lambda L: {shown(self._body())}"
        return shown(getattr(self, name))

    def __repr__(self) -> str:
        parts = [self._show("h"), self._show("c")]
        if self.at_infinity is not None:
            parts.append(f"at_infinity={self._show('at_infinity')}")
        if self.one_way:
            parts.append("one_way=True")
        return f"MomentBound({', '.join(parts)})"

    def parameters(self) -> Iterator[tuple[str, sp.Expr]]:
        yield "c", self.c
        if self.at_infinity not in (None, sp.oo):
            yield "at_infinity", self.at_infinity

    def bound_symbols(self) -> tuple[sp.Symbol, ...]:
        """Symbols of ``h`` that are no parameters."""
        return (_LOSS,)

    def expression(self, L: RandomSymbol) -> sp.Basic:  # noqa: N803
        return _le(losses.expectation(self.h(L)), self.c)

    def homogeneous(self) -> HomogeneousForm:
        """``at_q_zero`` is NaN if the parameters' assumptions do not tell it."""
        limit = self.at_infinity
        if limit is None:
            limit = limit_at_infinity(self.h(_LOSS), _LOSS, _assumed_sign)
        known = sp.nan if limit is None else limit
        return HomogeneousForm(_T, _T * self.h(sp.log(_T)), known, sp.S.Zero, self.c)

    def hypotheses(self) -> tuple[sp.Basic, ...]:
        return ()

    def to_kernel(self, scope: Scope, decide: Decide) -> tuple[statements.Guarantee, ...]:
        ratio = k.var(RATIO)
        f = ratio * scope.term(self.h(_LOSS), "h", {_LOSS: k.log(ratio)})
        limit = self.at_infinity
        if limit is None:

            def sign(expr: sp.Expr) -> str | None:
                return _sign(scope.term(expr, "h"), decide)

            limit = limit_at_infinity(self.h(_LOSS), _LOSS, sign)
        if limit is None or limit is -sp.oo:
            raise InputError(
                "at_infinity",
                f"the value of h(L) = {shown(self._body())} at L = +oo (give it, or conditions in "
                "where that settle its sign)",
                limit,
                got="one that dpsym can not tell",
            )
        ray = None if limit is sp.oo else scope.term(limit, "at_infinity")
        return (self._named("MomentBound", f, ray, scope.term(self.c, "c")),)

    def text(self) -> str:
        way = ", from P to Q only" if self.one_way else ""
        return f"{self.title}: {self._says()}{way}"

    def _says(self) -> str:
        return f"E[{shown(self._body())}] <= {shown(self.c)}"

    def _says_latex(self) -> str:
        return rf"\mathbb{{E}}\left[{sp.latex(self._body())}\right] \le {sp.latex(self.c)}"

    def _body(self) -> sp.Expr:
        """h(L), for showing."""
        return self.h(_LOSS).xreplace({_LOSS: sp.Symbol("L", real=True)})


def _as_body(h: object) -> object:
    """The expression of h(L) in the bound variable."""
    if isinstance(h, sp.Lambda):
        return h(_LOSS) if len(h.signature) == 1 else _not_a_moment(h)
    if isinstance(h, sp.Expr):
        found = [node for node in h.free_symbols if losses.is_privacy_loss(node)]
        return h.xreplace({found[0]: _LOSS}) if len(found) == 1 else _not_a_moment(h)
    if callable(h):
        return h(_LOSS)
    return _not_a_moment(h)


def _not_a_moment(h: object) -> object:
    raise InputError("h", "a function of the loss, such as lambda L: exp(2*L)", h)


# --- limits, for the mass that only P has ---------------------------------------------------------


def _sign(term: Term, decide: Decide) -> str | None:
    return sign_of_constant(term) or decide(term)


def _assumed_sign(expr: sp.Expr) -> str | None:
    """The sign that the symbols' assumptions alone settle."""
    if expr.is_zero:
        return "="
    return ">" if expr.is_positive else "<" if expr.is_negative else None


def limit_at_infinity(
    expr: sp.Expr, x: sp.Symbol, sign: Callable[[sp.Expr], str | None]
) -> sp.Expr | None:
    """The limit as x goes to +oo: an expression, oo or -oo; None if the rules do not tell.

    By continuity of each function, with the values of the extended line where they are determined
    (oo - oo and 0 * oo are not), and e^(-k x) x^n -> 0.

    >>> x, a = sp.symbols("x a", positive=True)
    >>> limit_at_infinity(sp.Max(0, 1 - sp.exp(a - x)), x, _assumed_sign)
    1
    >>> limit_at_infinity(x**2 * sp.exp(a * x) - 5, x, _assumed_sign)
    oo
    """
    limits: dict[sp.Basic, sp.Expr | None] = {}
    for node in nodes_of(expr, "h"):
        if isinstance(node, sp.Expr):
            limits[node] = _limit(node, x, sign, limits)
    return limits[expr]


def _limit(
    node: sp.Expr,
    x: sp.Symbol,
    sign: Callable[[sp.Expr], str | None],
    limits: dict[sp.Basic, sp.Expr | None],
) -> sp.Expr | None:
    if node == x:
        return sp.oo
    if not node.has(x):
        return node
    slope = node.diff(x) if node.is_polynomial(x) else sp.S.Zero
    if slope and not slope.has(x):  # linear in x
        side = sign(slope)
        if side == "=":
            return node.xreplace({x: sp.S.Zero})
        return None if side is None else sp.oo if side == ">" else -sp.oo
    parts = [limits.get(arg) for arg in node.args]
    if isinstance(node, sp.Mul) and _decays(node, x, limits):
        return sp.S.Zero
    if any(part is None for part in parts):
        return None
    if isinstance(node, sp.Add):
        infinite = {part for part in parts if part in (sp.oo, -sp.oo)}
        if infinite:
            return infinite.pop() if len(infinite) == 1 else None
        return sp.Add(*parts)
    if isinstance(node, sp.Mul):
        if not any(part in (sp.oo, -sp.oo) for part in parts):
            return sp.Mul(*parts)
        signs = [_extended_sign(part, sign) for part in parts]
        if any(side not in (">", "<") for side in signs):
            return None
        return -sp.oo if signs.count("<") % 2 else sp.oo
    if isinstance(node, sp.exp):
        return {sp.oo: sp.oo, -sp.oo: sp.S.Zero}.get(parts[0], sp.exp(parts[0]))
    if isinstance(node, sp.Abs):
        return sp.oo if parts[0] in (sp.oo, -sp.oo) else sp.Abs(parts[0])
    if isinstance(node, (sp.Max, sp.Min)):
        return node.func(*parts)
    if isinstance(node, sp.Pow) and node.args[1].is_Integer and node.args[1] > 0:
        return parts[0] ** node.args[1]
    return None


def _extended_sign(value: sp.Expr, sign: Callable[[sp.Expr], str | None]) -> str | None:
    return ">" if value is sp.oo else "<" if value is -sp.oo else sign(value)


def _decays(node: sp.Mul, x: sp.Symbol, limits: dict[sp.Basic, sp.Expr | None]) -> bool:
    """A product of constants, powers of x, and an e^u with u linear in x that goes to -oo."""
    falling = False
    for factor in node.args:
        if isinstance(factor, sp.exp) and limits.get(factor) is sp.S.Zero:
            falling = falling or not factor.args[0].diff(x).has(x)
        polynomial = factor == x or (
            isinstance(factor, sp.Pow) and factor.args[0] == x and factor.args[1].is_Integer
        )
        if not (polynomial or not factor.has(x) or limits.get(factor) is sp.S.Zero):
            return False
    return falling


# --- several at once -----------------------------------------------------------------------------


class Both:
    """Several guarantees of one mechanism, all of which hold. Made by ``both``."""

    guarantees: tuple[Guarantee, ...]

    def __init__(self, guarantees: tuple[Guarantee, ...]) -> None:
        object.__setattr__(self, "guarantees", guarantees)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("Both is immutable")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Both) and self.guarantees == other.guarantees

    def __hash__(self) -> int:
        return hash((Both, self.guarantees))

    def __repr__(self) -> str:
        return f"both({', '.join(map(repr, self.guarantees))})"

    def _repr_latex_(self) -> str:
        return f"${self.latex()}$"

    def parameters(self) -> Iterator[tuple[str, sp.Expr]]:
        for guarantee in self.guarantees:
            yield from guarantee.parameters()

    def hypotheses(self) -> tuple[sp.Basic, ...]:
        return tuple(fact for guarantee in self.guarantees for fact in guarantee.hypotheses())

    def to_kernel(self, scope: Scope, decide: Decide) -> tuple[statements.Guarantee, ...]:
        """The statements of all of them."""
        parts = (guarantee.to_kernel(scope, decide) for guarantee in self.guarantees)
        return tuple(statement for part in parts for statement in part)

    def text(self) -> str:
        return " and ".join(guarantee.text() for guarantee in self.guarantees)

    def latex(self) -> str:
        return r" \quad\text{and}\quad ".join(item.latex() for item in self.guarantees)


def both(*guarantees: Guarantee | Both) -> Both:
    """Every one of the guarantees at once, as a subject or as a claim.

    Raises: InputError for fewer than two, or for what is no guarantee.

    >>> both(PureDP(1), ZCDP(sp.Rational(1, 2)))
    both(PureDP(1), ZCDP(1/2))
    """
    if len(guarantees) < 2:
        raise InputError("both", "two or more guarantees", guarantees)
    flat: list[Guarantee] = []
    for guarantee in guarantees:
        if isinstance(guarantee, Both):
            flat.extend(guarantee.guarantees)
        elif isinstance(guarantee, Guarantee):
            flat.append(guarantee)
        else:
            raise InputError("both", "guarantees, such as PureDP(epsilon)", guarantee)
    return Both(tuple(flat))
