"""Rigorous numbers for mechanisms at given parameters, in ball arithmetic."""

from dpsym.enclosures.enclosing import enclose, holds, masses
from dpsym.enclosures.enclosure import Enclosure
from dpsym.enclosures.settling import Settled

__all__ = ["Enclosure", "Settled", "enclose", "holds", "masses"]
