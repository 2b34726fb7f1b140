"""Riata: sparse linear models from streams."""

__version__ = "0.1.0"
