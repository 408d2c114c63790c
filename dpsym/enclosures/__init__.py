"""Rigorous numbers for mechanisms at given parameters, in ball arithmetic."""

from dpsym.enclosures.enclosing import enclose, masses
from dpsym.enclosures.enclosure import Enclosure

__all__ = ["Enclosure", "enclose", "masses"]
