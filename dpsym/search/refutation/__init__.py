"""Search for exact witnesses against false claims, and their presentation.

``refute_statement`` proposes values and distributions, the kernel's ``refute`` decides.
"""

from dpsym.search.refutation.dispatch import refute_statement
from dpsym.search.refutation.report import describe
from dpsym.search.refutation.script import script

__all__ = ["describe", "refute_statement", "script"]
