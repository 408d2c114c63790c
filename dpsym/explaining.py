"""A checked proof as numbered steps that a mathematician can follow."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from dpsym.certificates import earlier_results
from dpsym.goals import goal_text, guarantee_text
from dpsym.kernel.proofs import Lemma, Proof, step
from dpsym.kernel.sequents import Sequent
from dpsym.kernel.statements import Fact, Statement
from dpsym.kernel.terms import Term
from dpsym.kernel.theorems import Theorem
from dpsym.printing import show, show_fact

__all__ = ["REASONS", "explain"]

Parameters = Mapping[str, Any]
_CLOSED = "evident"
_MAX_LINES = 4000


def explain(root: Lemma | Theorem) -> str:
    """The proof, with the earlier results that it uses as lemmas of their own.

    >>> import dpsym as dp
    >>> from sympy import exp, symbols
    >>> x = symbols("x", nonnegative=True)
    >>> print(explain(dp.check_inequality(1 + x, exp(x)).theorem.proved))
    Claim. For all real x with x >= 0: exp(x) >= 1 + x.
    Proof.
    1. To show: exp(x) >= 1 + x. By interval arithmetic on boxes that cover the domain.
    """
    results = earlier_results(root)
    names = {id(item): f"Lemma {number}" for number, item in enumerate(results[:-1], 1)}
    names[id(root)] = "Claim"
    lines: list[str] = []
    for item in results:
        lines += _Explanation(names).of(item)
        if len(lines) > _MAX_LINES:
            return "\n".join([*lines[:_MAX_LINES], "..."])
    return "\n".join(lines)


class _Explanation:
    def __init__(self, names: dict[int, str]) -> None:
        self.names = names

    def of(self, item: Lemma | Theorem) -> list[str]:
        goal = item.sequent if isinstance(item, Lemma) else item.statement
        head = f"{self.names[id(item)]}. {_claim(goal)}"
        return [head, "Proof.", *self.steps(goal, item.proof, "1", ())]

    def steps(
        self, goal: Sequent | Statement, proof: Proof, number: str, above: tuple[Fact, ...]
    ) -> Iterator[str]:
        """The step and those that it needs; evident ones are told in its line."""
        while proof.rule == "tidy" and isinstance(goal, Sequent):
            (goal,) = step(goal, "tidy", {})  # type: ignore[assignment]
            (proof,) = proof.premises
        premises = step(goal, proof.rule, proof.parameters)
        reason = REASONS[proof.rule](proof.parameters, self)
        yield f"{number}. {_goal(goal, above)} {reason}"
        known = goal.hypotheses if isinstance(goal, Sequent) else goal.facts
        pairs = list(zip(premises, proof.premises, strict=True))
        left = [(premise, inner) for premise, inner in pairs if inner.rule != _CLOSED]
        told = [premise for premise, inner in pairs if inner.rule == _CLOSED]
        for index, (premise, inner) in enumerate(left, 1):
            yield from self.steps(premise, inner, f"{number}.{index}", known)
        if told and proof.rule not in ("tower", "support", "use"):
            shown = "; ".join(dict.fromkeys(_short(premise) for premise in told))
            yield f"{number}.{len(left) + 1}. Evident: {shown}."

    def name(self, item: object) -> str:
        return self.names.get(id(item), "a lemma")


def _claim(goal: Sequent | Statement) -> str:
    if isinstance(goal, Statement):
        text = " ".join(line.strip() for line in goal_text(goal).splitlines())
        return f"{text[:1].upper()}{text[1:]}."
    shown, *domain = goal_text(goal).splitlines()
    return f"{domain[0][:1].upper()}{domain[0][1:]}: {shown}." if domain else f"{shown}."


def _goal(goal: Sequent | Statement, above: tuple[Fact, ...]) -> str:
    if isinstance(goal, Statement):
        shown = " and ".join(map(guarantee_text, goal.claims))
        return f"To show: {shown}, for {len(goal.stages)} stage{'s' * (len(goal.stages) > 1)}."
    new = [fact for fact in goal.hypotheses if fact not in above]
    given = f" when {', '.join(map(show_fact, new))}" if new and above else ""
    return f"To show{given}: {show_fact(goal.goal)}."


def _short(goal: Any) -> str:
    return show_fact(goal.goal) if isinstance(goal, Sequent) else _goal(goal, ())


def _says(text: str) -> Callable[[Parameters, _Explanation], str]:
    return lambda parameters, context: text


def _names(template: str, *keys: str) -> Callable[[Parameters, _Explanation], str]:
    """A sentence with parameters in it, terms shown as text."""

    def fill(parameters: Parameters, context: _Explanation) -> str:
        values = (parameters[key] for key in keys)
        return template.format(*(show(v) if isinstance(v, Term) else v for v in values))

    return fill


def _derive(parameters: Parameters, context: _Explanation) -> str:
    name, start = parameters["name"], show(parameters["start"])
    way = "grows from" if parameters["direction"] == 1 else "falls to the left of"
    return f"It is so at {name} = {start}, and the gap {way} there."


def _approach(parameters: Parameters, context: _Explanation) -> str:
    name, start, direction = (parameters[key] for key in ("name", "start", "direction"))
    end = ("-" if direction == 1 else "+") + "oo" if start is None else show(start)
    return (
        f"As {name} tends to {end}, the limit of the gap is not negative, and it grows from there."
    )


def _change(parameters: Parameters, context: _Explanation) -> str:
    item, u = show(parameters["item"]), parameters["new"]
    image = {
        "shift": f"{u} + {item}",
        "negate": f"{item} - {u}",
        "scale": f"({item})*{u}",
        "inverse": f"({item})/{u}",
        "log": f"({item})*log({u})",
        "decay": f"({item})*exp(-{u})",
        "square": f"({item})*{u}**2",
    }[parameters["kind"]]
    return f"Write {parameters['name']} = {image}."


def _subtract(parameters: Parameters, context: _Explanation) -> str:
    name = parameters["lemma"][0].replace("_", " ")
    return f"Use the textbook inequality '{name}', times {show(parameters['multiplier'])} >= 0."


def _sum(parameters: Parameters, context: _Explanation) -> str:
    if parameters["contradiction"]:
        return "The hypotheses contradict each other: a sum of products of them is negative."
    return (
        "By textbook inequalities and the hypotheses: the difference of the two sides, times "
        "something positive, is a sum of nonnegative terms."
    )


def _use(parameters: Parameters, context: _Explanation) -> str:
    at = ", ".join(f"{name} = {show(term)}" for name, term in parameters["mapping"])
    return f"This is {context.name(parameters['theorem'])}{f' at {at}' if at else ''}."


def _instance(parameters: Parameters, context: _Explanation) -> str:
    at = ", ".join(f"{name} = {show(term)}" for name, term in parameters["mapping"])
    return f"This is {context.name(parameters['lemma'])}{f' at {at}' if at else ''}."


def _cut(parameters: Parameters, context: _Explanation) -> str:
    shown = " and ".join(map(guarantee_text, parameters["guarantees"]))
    first, last = parameters["first"] + 1, parameters["last"] + 1
    which = f"Stage {first} has" if first == last else f"Stages {first} to {last} together have"
    return f"{which} {shown}; take them for one stage that has it."


def _tower(parameters: Parameters, context: _Explanation) -> str:
    parts = []
    for number, (a, b, weights, _) in enumerate(parameters["multipliers"], 1):
        terms = [f"({show(a[0])}) p", f"({show(b[0])}) q"]
        terms += [f"({show(w[0])}) g{i}" for i, w in enumerate(weights, 1)]
        parts.append(f"stage {number} by {' + '.join(t for t in terms if not t.startswith('(0)'))}")
    return (
        "Bound the claim's function pointwise, with the earlier outputs held fixed ($s is the "
        f"ratio of the earlier stages), and integrate: {'; '.join(parts)}."
    )


REASONS: dict[str, Callable[[Parameters, _Explanation], str]] = {
    "evident": _says("Every term has the sign."),
    "tidy": _says("Write it in normal form."),
    "nonzero": _says("It has a sign."),
    "cases": _names("Take the two cases of {}.", "kinked"),
    "branch": _names("One case of {} applies.", "kinked"),
    "split": _names("Take the cases {} >= 0 and < 0.", "item"),
    "have": lambda parameters, context: f"First, {show_fact(parameters['fact'])}.",
    "instance": _instance,
    "multiply": _names("Multiply by {} > 0.", "factor"),
    "clear": _says("Clear the denominators."),
    "exponentiate": _says("Collect the logarithms and take exponentials."),
    "monotone": _names("{} is monotone: compare {} and {}.", "function", "larger", "smaller"),
    "square": _names("Compare the squares of {} >= 0 and {}.", "larger", "smaller"),
    "factor": _says("Factor it; each factor has a sign."),
    "subtract": _subtract,
    "positivstellensatz": _sum,
    "derive": _derive,
    "approach": _approach,
    "secant": _names(
        "It is convex in {}, not positive at {} and nonnegative at {}, so nonnegative beyond.",
        "name",
        "before",
        "start",
    ),
    "change": _change,
    "vertex": _names("It is piecewise concave in {}: look at the ends and kinks.", "name"),
    "boxes": _says("By interval arithmetic on boxes that cover the domain."),
    "claims": _says("One claim after the other."),
    "forward": _says("By symmetry, for (P, Q) alone."),
    "directions": _says("For (P, Q), and for (Q, P)."),
    "integers": _names("{} is an integer, so it is at least {} + 1.", "name", "bound"),
    "every": _names("Let {} be any order.", "name"),
    "specialise": _names("Use the family of stage {0} + 1 at {1}.", "stage", "value"),
    "cut": _cut,
    "use": _use,
    "support": _says("The likelihood ratios of the stages are bounded, and multiply."),
    "tower": _tower,
    "limit": _names("Let {} decrease to {}.", "name", "start"),
    "postprocess": _says("The guarantee's function is convex, so Jensen's inequality applies."),
    "pointwise": _says("Compare the densities at every output."),
}
