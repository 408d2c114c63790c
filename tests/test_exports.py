"""The public names: what is exported, what loads lazily, and what type checkers see."""

from __future__ import annotations

import ast
from importlib import import_module
from pathlib import Path

import dpsym
from dpsym.guarantees import NOTIONS


def homes() -> dict[str, str]:
    return dict(dpsym._HOME)


def test_every_name_loads_from_its_home():
    for name, home in homes().items():
        module = import_module(f"dpsym.{home}")
        assert getattr(dpsym, name) is getattr(module, name)
        assert name in getattr(module, "__all__", [name])


def test_type_checkers_see_the_same_names():
    source = ast.parse(Path(dpsym.__file__).read_text(encoding="utf-8"))
    (block,) = (node for node in source.body if isinstance(node, ast.If))
    seen = {
        alias.name: node.module.removeprefix("dpsym.")
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert seen == homes()


def test_every_notion_is_exported_and_described():
    readme = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
    for name in NOTIONS:
        assert name in dpsym.__all__
        assert f"`{name}(" in readme


def test_every_rule_has_a_sentence():
    from dpsym.explaining import REASONS
    from dpsym.kernel.rules import RULES

    assert set(REASONS) == set(RULES)
