"""Neighbouring relations: which inputs a mechanism's guarantee is about."""

from __future__ import annotations

from collections.abc import Iterable

from dpsym.errors import InputError

__all__ = ["RELATIONS", "one_relation", "relation_of"]

RELATIONS = {
    "add/remove": "one record more or less",
    "replace-one": "one record replaced by another",
    "zero-out": "one record replaced by one that counts nothing",
}
"""The neighbouring relations by name, in words."""

_FACTOR = (
    "; a replacement is one removal and one addition, so its sensitivity is at most twice the other"
)


def relation_of(value: object) -> str | None:
    """The name of a relation, or None, which says nothing.

    >>> relation_of("add/remove")
    'add/remove'
    """
    if value is None:
        return None
    if not isinstance(value, str) or value not in RELATIONS:
        raise InputError("relation", f"one of {', '.join(RELATIONS)}", value)
    return value


def one_relation(argument: str, parts: Iterable[object]) -> str | None:
    """The relation that the parts have in common; None if no part says one.

    Raises: InputError for two different ones: their guarantees are about different inputs.
    """
    found: dict[str, object] = {}
    for part in parts:
        relation = getattr(part, "relation", None)
        if relation is not None:
            found.setdefault(relation, part)
    if len(found) > 1:
        (first, one), (second, other), *_ = found.items()
        factor = _FACTOR if "replace-one" in (first, second) else ""
        raise InputError(
            argument,
            "one neighbouring relation for all mechanisms",
            tuple(found),
            got=f"{first} for {one!r} and {second} for {other!r}{factor}",
        )
    return next(iter(found), None)
