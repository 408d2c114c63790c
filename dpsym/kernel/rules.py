"""What a rule is, and ``step``: the one way to apply one.

A rule turns a goal and parameters into premises, such that the goal holds if all premises do. It
never decides how to choose the parameters. Rules are data: their name, the types of their
parameters, which goals they take and their text, which gives the inference and when it fails.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from dpsym.kernel.kinds import Kind
from dpsym.kernel.refusal import Refusal
from dpsym.kernel.sequents import Sequent
from dpsym.kernel.statements import Statement

Goal = Sequent | Statement
Apply = Callable[..., list[Goal]]
ORDER = (">=", ">")


@dataclass(frozen=True)
class Rule:
    name: str
    kinds: Mapping[str, Kind]
    goal: type
    relations: tuple[str, ...]
    apply: Apply

    @property
    def text(self) -> str:
        return self.apply.__doc__ or ""


RULES: dict[str, Rule] = {}


def leaf_rule(*relations: str, **kinds: Kind) -> Callable[[Apply], Apply]:
    """Register a rule for sequents whose goal has one of these relations (default >= and >)."""
    return _register(Sequent, relations or ORDER, kinds)


def privacy_rule(**kinds: Kind) -> Callable[[Apply], Apply]:
    """Register a rule for statements."""
    return _register(Statement, (), kinds)


def _register(
    goal: type, relations: tuple[str, ...], kinds: Mapping[str, Kind]
) -> Callable[[Apply], Apply]:
    def add(apply: Apply) -> Apply:
        name = apply.__name__.rstrip("_")
        RULES[name] = Rule(name, dict(kinds), goal, relations, apply)
        return apply

    return add


def step(goal: Goal, name: str, parameters: Mapping[str, Any]) -> list[Goal]:
    """The premises of one inference; raises ``Refusal`` where the rule does not apply."""
    rule = RULES.get(name)
    if rule is None:
        raise Refusal("step", "the name of a rule", name)
    if type(goal) is not rule.goal:
        raise Refusal(name, f"a goal that is a {rule.goal.__name__}", type(goal).__name__)
    if isinstance(goal, Sequent) and goal.goal.rel not in rule.relations:
        raise Refusal(name, f"a goal with one of {rule.relations}", goal.goal.rel)
    if set(parameters) != set(rule.kinds):
        raise Refusal(name, f"the parameters {sorted(rule.kinds)}", sorted(parameters))
    for key, kind in rule.kinds.items():
        try:
            kind.check(parameters[key])
        except Refusal as refusal:
            raise Refusal(f"{name}.{key}", refusal.condition, *refusal.values) from refusal
    return rule.apply(goal, **parameters)


def keep(premises: list[Sequent]) -> list[Goal]:
    """The premises in order, each once."""
    return list(dict.fromkeys(premises))
