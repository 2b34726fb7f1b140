"""Riata beside its rivals, as ratios within one run. See README.md."""
