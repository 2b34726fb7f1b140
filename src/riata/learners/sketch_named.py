"""Named features for learners that number theirs."""

from __future__ import annotations

import numpy as np

from riata import _core
from riata.block import Block, NameListBlock


def numbered(feature_index: _core.FeatureIndex, block: Block, join: bool) -> Block:
    """The Block with numbers for its names; new ones join the feature_index, or else get the number -1."""
    first, last = int(block.indptr[0]), int(block.indptr[-1])
    keys = np.ascontiguousarray(block.indices[first:last], dtype=np.int64)
    numbers = None
    if not join or isinstance(
        block, NameListBlock
    ):  # whose names are not at hand, nor often needed
        numbers = feature_index.translate(keys, None, None)
    if join and (numbers is None or (numbers < 0).any()):
        names, offsets = block.names, block.name_offsets
        if offsets is not None:
            offsets = np.ascontiguousarray(offsets[first : last + 1])
        numbers = feature_index.translate(keys, names, offsets)
    assert numbers is not None
    return block.with_indices(numbers)
