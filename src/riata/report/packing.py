"""Arrays and names as printable text that a page unpacks: compressed, and 13 bits in two characters.

A script of the page has this text; `unpack.js` is the other side.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

ALPHABET = "".join(chr(c) for c in range(33, 127) if chr(c) not in "<&\\")
"""91 characters that mean nothing in HTML; 91 * 91 is more than 2^13."""

_CHUNK = 13 << 16
"""Bytes that are turned to text at a time: whole groups of 13 bits."""


def as_text(content: bytes) -> str:
    """Bytes as characters of the alphabet: 16 for 13 bytes.

    >>> as_text(b""), as_text(bytes(2))
    ('', '!!!!')
    """
    table = np.frombuffer(ALPHABET.encode(), dtype=np.uint8)
    powers = (1 << np.arange(12, -1, -1)).astype(np.int32)
    parts = []
    for start in range(0, len(content), _CHUNK):
        bits = np.unpackbits(np.frombuffer(content[start : start + _CHUNK], dtype=np.uint8))
        bits = np.pad(bits, (0, -len(bits) % 13))
        groups = bits.reshape(-1, 13) @ powers
        pairs = np.stack(np.divmod(groups, 91), axis=1)
        parts.append(table[pairs].tobytes().decode("ascii"))
    return "".join(parts)


def front_coded(names: Sequence[bytes]) -> bytes:
    """Names that ascend, each as how much it shares with the one before, and the rest.

    >>> front_coded([b"spam", b"spare"])
    b'\\x00\\x04spam\\x03\\x02re'
    """
    out = bytearray()
    before = b""
    for name in names:
        shared, most = 0, min(len(name), len(before))
        while shared < most and name[shared] == before[shared]:
            shared += 1
        _put_number(out, shared)
        _put_number(out, len(name) - shared)
        out += name[shared:]
        before = name
    return bytes(out)


def _put_number(out: bytearray, number: int) -> None:
    """Seven bits a byte, the lowest first; the highest bit says that more follow."""
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    out.append(number)


@dataclass
class Pack:
    """Parts one behind another: what `text` holds, compressed, and where each part is."""

    parts: list[bytes] = field(default_factory=list)
    index: dict[str, dict[str, Any]] = field(default_factory=dict)
    _size: int = 0

    def add_bytes(self, name: str, content: bytes, count: int) -> None:
        self._add(name, content, {"kind": "names", "count": count})

    def add_array(self, name: str, array: NDArray[np.floating[Any]]) -> None:
        """Numbers of 8 or 4 bytes; their first bytes stand together, their second bytes, and so on."""
        array = np.ascontiguousarray(array)
        width = array.dtype.itemsize
        little = array.astype(array.dtype.newbyteorder("<"), copy=False).reshape(-1)
        planes = little.view(np.uint8).reshape(-1, width).T
        self._add(name, planes.tobytes(), {"kind": f"f{8 * width}", "count": array.size})

    def _add(self, name: str, content: bytes, about: dict[str, Any]) -> None:
        self.index[name] = about | {"at": self._size, "size": len(content)}
        self.parts.append(content)
        self._size += len(content)

    @property
    def size(self) -> int:
        """Bytes before they are compressed."""
        return self._size

    def text(self) -> tuple[str, int]:
        """The text, and how many bytes it stands for: a few bits behind them fill it up."""
        squeeze = zlib.compressobj(9 if self._size < 1 << 20 else 6)
        packed = b"".join([*(squeeze.compress(part) for part in self.parts), squeeze.flush()])
        return as_text(packed), len(packed)
