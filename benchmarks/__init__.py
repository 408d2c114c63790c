"""Figures of speed and size: ``python -m benchmarks``."""
