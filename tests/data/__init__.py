"""Data of the tests."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def inequalities() -> list[dict[str, Any]]:
    """True and false inequalities of privacy proofs."""
    text = Path(__file__).with_name("inequalities.json").read_text(encoding="utf-8")
    cases: list[dict[str, Any]] = json.loads(text)["cases"]
    return cases
