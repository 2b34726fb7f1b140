"""Counts of labels that add up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from riata.labels import Label


def merged_counts(several: Sequence[Mapping[Label, int]]) -> dict[Label, int]:
    """The counts of all shards."""
    counts: dict[Label, int] = {}
    for some in several:
        for label, count in some.items():
            counts[label] = counts.get(label, 0) + count
    return counts
