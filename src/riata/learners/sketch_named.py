"""Named features for learners that number theirs."""

from __future__ import annotations

import numpy as np

from riata import _core
from riata.block import Block


def numbered(lexicon: _core.Lexicon, block: Block, join: bool) -> Block:
    """The Block with numbers for its names; new ones join the lexicon, or else get the number -1."""
    first, last = int(block.indptr[0]), int(block.indptr[-1])
    keys = np.ascontiguousarray(block.indices[first:last], dtype=np.int64)
    names, offsets = (block.names, block.name_offsets) if join else (None, None)
    if offsets is not None:
        offsets = np.ascontiguousarray(offsets[first : last + 1])
    return Block(
        indptr=block.indptr - first,
        indices=lexicon.translate(keys, names, offsets),
        values=block.values[first:last],
        labels=block.labels,
        weights=block.weights,
        path=block.path,
        lines=block.lines,
    )
