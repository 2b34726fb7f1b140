"""The state of a model in less room, without loss: names compressed, keys worked out from them, short numbers.

A packed tensor is the bytes of a zlib stream; what they stand for is in the header of the file. Numbers are kept in the
shortest type that has them exactly, first bytes first, since neighbours often share these.
"""

from __future__ import annotations

import itertools
import math
import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from riata import _core

Arrays = dict[str, NDArray[Any]]
Header = dict[str, Any]

_SHORTER = {"float64": ("float32",), "int64": ("uint8", "uint16", "uint32")}
_BY_ROW = ("rows", "scale_sums")
"""Tensors with an entry for every key."""
_MOST = 1040
"""No zlib stream gives more bytes for each of its own."""


def pack(state: Arrays, hash_key: bytes | None, *, everything: bool) -> tuple[Arrays, Header]:
    """The tensors to store, and what the header has to say of them. `everything`: smaller, and slower to save.

    >>> names, offsets = np.frombuffer(b"pearapple", dtype=np.uint8), np.array([0, 4, 9])
    >>> keys = _core.keys_of_names(names, offsets)
    >>> state = {"keys": keys, "rows": np.array([[0.5], [2.0]]), "names": names, "name_offsets": offsets}
    >>> stored, header = pack(state, None, everything=True)
    >>> back = unpack(stored, header, None)
    >>> sorted(back) == sorted(state) and back["names"].tobytes() in (b"pearapple", b"applepear")
    True
    """
    state = dict(state)
    header: Header = {}
    names = state.get("names")
    keys, offsets = state["keys"], state.get("name_offsets")
    if "scale_keys" in state and np.array_equal(state["scale_keys"], keys):
        del state["scale_keys"]
        header["scale_keys"] = "keys"
    if names is not None and offsets is not None:
        if everything and "scale_keys" not in state:
            _sort_by_name(state)
            keys, names, offsets = state["keys"], state["names"], state["name_offsets"]
        if np.array_equal(_core.keys_of_names(names, offsets, hash_key), keys):
            del state["keys"]
            header["keys"] = "names"
        del state["name_offsets"]
        state["name_lengths"] = np.diff(offsets)
    wanted = list(state) if everything else [n for n in ("names", "name_lengths") if n in state]
    header["tensors"] = {}
    for name in wanted:
        state[name], header["tensors"][name] = _squeezed(state[name], 6 if everything else 4)
    return state, header


def unpacked_size(header: Header) -> int:
    """Bytes of all tensors once they are unpacked, as the header has it: a thousand times the file's at most."""
    return sum(math.prod(int(n) for n in told["shape"]) * 8 for told in header["tensors"].values())


def unpack(stored: Arrays, header: Header, hash_key: bytes | None) -> Arrays:
    """The state as it was, but for the order of its rows. A ValueError says what does not fit together."""
    state = dict(stored)
    for name, told in header["tensors"].items():
        if name not in state:
            raise ValueError(f"the packed tensor {name!r} is missing")
        state[name] = _unsqueezed(name, state[name], told)
    if "name_lengths" in state:
        lengths = state.pop("name_lengths").astype(np.int64)
        if lengths.ndim != 1 or (lengths < 0).any() or lengths.sum() != len(state["names"]):
            raise ValueError("the lengths of the names do not add up to their bytes")
        state["name_offsets"] = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    if header.get("keys") == "names":
        state["keys"] = _core.keys_of_names(state["names"], state["name_offsets"], hash_key)
    if header.get("scale_keys") == "keys":
        state["scale_keys"] = state["keys"]
    return state


def _sort_by_name(state: Arrays) -> None:
    """Neighbours share their beginnings then, which compresses well."""
    text, offsets = state["names"].tobytes(), state["name_offsets"].tolist()
    found = [text[a:b] for a, b in itertools.pairwise(offsets)]
    order = sorted(range(len(found)), key=found.__getitem__)
    for name in ("keys", *_BY_ROW):
        if name in state:
            state[name] = state[name][order]
    state["names"] = np.frombuffer(b"".join(found[i] for i in order), dtype=np.uint8)
    lengths = np.diff(state["name_offsets"])[order]
    state["name_offsets"] = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)


def _squeezed(array: NDArray[Any], level: int) -> tuple[NDArray[np.uint8], Header]:
    shortest = array
    with np.errstate(over="ignore"):
        for kind in _SHORTER.get(array.dtype.name, ()):
            shorter = array.astype(kind)
            if np.array_equal(shorter.astype(array.dtype), array):
                shortest = shorter
                break
    plain = np.ascontiguousarray(shortest, dtype=shortest.dtype.newbyteorder("<"))
    planes = plain.reshape(-1).view(np.uint8).reshape(-1, plain.itemsize).T
    told = {"dtype": array.dtype.name, "stored": shortest.dtype.name, "shape": list(array.shape)}
    packed = zlib.compress(np.ascontiguousarray(planes).data, level)
    return np.frombuffer(packed, dtype=np.uint8), told


def _unsqueezed(name: str, packed: NDArray[Any], told: Header) -> NDArray[Any]:
    kinds = ("uint8", *_SHORTER, *(kind for of in _SHORTER.values() for kind in of))
    if told["dtype"] not in kinds or told["stored"] not in kinds:
        raise ValueError(f"the packed tensor {name!r} is of a kind that there is not")
    shape = tuple(int(n) for n in told["shape"])
    stored = np.dtype(told["stored"])
    size = math.prod(shape) * stored.itemsize
    if min(shape, default=0) < 0 or not 0 <= size <= _MOST * (packed.size + 64):
        raise ValueError(f"the packed tensor {name!r} cannot have the shape {shape}")
    unpacking = zlib.decompressobj()
    content = unpacking.decompress(packed.tobytes(), size + 1)
    if len(content) != size or not unpacking.eof:
        raise ValueError(f"the packed tensor {name!r} has not the size that the header says")
    planes = np.frombuffer(content, dtype=np.uint8).reshape(stored.itemsize, -1)
    plain = np.ascontiguousarray(planes.T).reshape(-1).view(stored.newbyteorder("<"))
    return np.ascontiguousarray(plain.reshape(shape).astype(told["dtype"]))
