"""The examples that shards of a sketch keep, put together."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from riata.learners.sketch_sample import Sample

Arrays = dict[str, NDArray[Any]]


def merged_samples(mine: Arrays, theirs: Arrays, places: NDArray[np.int32] | None) -> Arrays:
    """One sample of both. Where features have names, `places` tells theirs numbers among all."""
    other = _sample(theirs, places)
    if not mine:
        return _arrays(other, theirs)
    whole = _sample(mine, None)
    whole.merge(other)
    return _arrays(whole, mine)


def _sample(arrays: Arrays, places: NDArray[np.int32] | None) -> Sample:
    state = dict(arrays)
    capacity = int(state.pop("capacity")[0])
    if places is not None and "indices" in state:
        state["indices"] = np.ascontiguousarray(places[state["indices"]], dtype=np.int64)
    sample = Sample(capacity)
    sample.restore(state)
    return sample


def _arrays(sample: Sample, like: Arrays) -> Arrays:
    return {"capacity": like["capacity"]} | sample.state()
