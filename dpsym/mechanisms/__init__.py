"""Explicit mechanisms: what they put out on two neighbouring inputs, as densities and tables."""

from __future__ import annotations

from dpsym.mechanisms import noise
from dpsym.mechanisms.additive import AdditiveNoise
from dpsym.mechanisms.base import Mechanism
from dpsym.mechanisms.densities import DensityPair
from dpsym.mechanisms.tables import RandomizedResponse, Table

__all__ = ["AdditiveNoise", "DensityPair", "Mechanism", "RandomizedResponse", "Table", "noise"]
