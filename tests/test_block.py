"""Blocks: cutting, taking and joining rows."""

from __future__ import annotations

import numpy as np
import pytest

from riata.block import Block, concatenate


def named_block() -> Block:
    words = ["a=1", "b", "ünï", "", "long name"]
    text = b"".join(w.encode() for w in words)
    lengths = [len(w.encode()) for w in words]
    return Block(
        indptr=np.array([0, 2, 2, 4, 5], dtype=np.int64),
        indices=np.array([5, 3, 9, 1, 2], dtype=np.int64),
        values=np.arange(1, 6, dtype=np.float32),
        labels=np.array([0.0, 1, 2, 3]),
        weights=np.array([1.0, 2, 3, 4]),
        names=np.frombuffer(text, dtype=np.uint8),
        name_offsets=np.concatenate([[0], np.cumsum(lengths)]),
        path="x.vw",
        lines=np.array([1, 2, 4, 5]),
    )


def rows_of(block: Block) -> list[tuple]:
    return [
        (
            block.labels[r],
            block.weights[r],
            block.where(r),
            [
                (int(block.indices[k]), float(block.values[k]), block.name_of(k))
                for k in range(block.indptr[r], block.indptr[r + 1])
            ],
        )
        for r in range(len(block))
    ]


def test_take_cut_and_join_keep_every_row_together():
    block = named_block()
    rows = rows_of(block)
    assert rows[2][3] == [(9, 3.0, "ünï"), (1, 4.0, "")]
    assert rows_of(block.take(np.array([3, 0, 2]))) == [rows[3], rows[0], rows[2]]
    assert rows_of(block[1:3]) == rows[1:3]
    assert rows_of(concatenate([block[2:], block[:2]])) == rows[2:] + rows[:2]
    assert rows_of(concatenate([block[1:3].take(np.array([1])), block[3:]])) == rows[2:]


def test_joining_blocks_of_both_index_widths():
    block = named_block()
    narrow = Block(block.indptr, block.indices.astype(np.int32), block.values)
    joined = concatenate([narrow, block])
    assert joined.indices.dtype == np.int64
    assert joined.labels is None
    assert joined.names is None
    assert joined.path is None


def test_only_consecutive_rows():
    with pytest.raises(ValueError, match="consecutive"):
        named_block()[::2]
    assert len(named_block()[3:1]) == 0
