"""A checked proof as text that a mathematician can follow."""

from dpsym.explaining.steps import REASONS, explain

__all__ = ["REASONS", "explain"]
