"""Explicit mechanisms: what they put out on two neighbouring inputs, as densities and tables."""

from __future__ import annotations

from dpsym.mechanisms import noise
from dpsym.mechanisms.additive import AdditiveNoise
from dpsym.mechanisms.base import MECHANISMS, Mechanism, Neighbours, Part
from dpsym.mechanisms.clamped import ClampedGeometric
from dpsym.mechanisms.densities import DensityPair, GaussianPair, PMFPair
from dpsym.mechanisms.noise import Mixture
from dpsym.mechanisms.relations import RELATIONS
from dpsym.mechanisms.selection import ExponentialMechanism, PermuteAndFlip, ReportNoisyMax
from dpsym.mechanisms.tables import RandomizedResponse, Table, UnaryEncoding
from dpsym.mechanisms.vectors import VectorGaussian, VectorLaplace

__all__ = [
    "MECHANISMS",
    "RELATIONS",
    "AdditiveNoise",
    "ClampedGeometric",
    "DensityPair",
    "ExponentialMechanism",
    "GaussianPair",
    "Mechanism",
    "Mixture",
    "Neighbours",
    "PMFPair",
    "Part",
    "PermuteAndFlip",
    "RandomizedResponse",
    "ReportNoisyMax",
    "Table",
    "UnaryEncoding",
    "VectorGaussian",
    "VectorLaplace",
    "noise",
]
