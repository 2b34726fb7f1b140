"""Sketches of other examples add up."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from riata.learners.sketch import Sketch


def merge_sketches(mine: Sketch, other: Sketch) -> None:
    """Add to the first what the other has seen; both are held."""
    if mine.parameters() != other.parameters():
        raise ValueError("sketches add up only when all their parameters are equal")
    if mine.folds:
        raise ValueError(
            "sketches with folds do not add up: learn all examples in one, or leave folds out"
        )
    if mine._passes and [p.passes for p in mine._passes] != [p.passes for p in other._passes]:
        raise ValueError("sketches add up only within the same pass")
    for one, theirs in zip(mine._online, other._online, strict=True):
        one.merge(theirs)
    for run, theirs_ in zip(mine._passes, other._passes, strict=True):
        run.core.merge(theirs_.core)
    if mine._passes and (mine._sample.hard or mine._passes[0].passes == 0):
        mine._sample.merge(other._sample)  # after the first pass both have all there is
    mine._seen[:] = [mine._seen[0] + other._seen[0], max(mine._seen[1], other._seen[1])]
    mine._scorer[0] = None
