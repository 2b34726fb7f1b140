"""One safetensors file: a header of JSON, tensors, and a checksum of it all; how much memory there is for it.

Nothing in a file is ever executed.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import stat
import sys
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load as safetensors_load

import riata
from riata.atomic import atomic_write
from riata.errors import ModelError

MODEL, SUMMARY = "riata-model", "riata-summary"
"""The formats: models, and what one shard of a training gives."""
_FOREIGN = "a safetensors file, but not a model of Riata's"
_OTHERS = {
    SUMMARY: "this is what one shard of a training gave, not a model: riata merge puts all of them together",
    MODEL: "this is a model, not what one shard of a training gave (riata train --shard)",
}
NO_DIGEST = "0" * 64
DAMAGED = "damaged: the checksum does not match: restore it from a copy, or train again"
LONGEST_HEADER = 100_000_000
MEMORY_SHARE = 0.8
"""Of what the machine or its control group allows, where nobody said otherwise."""
TO_LOAD = 3.5
"""Memory that it takes to load a model, as a multiple of its file: 3.3 was measured (tensors, and a table of rows)."""
_SMALL = 1 << 26
"""A file of so many bytes always has room."""
Tensors = dict[str, NDArray[Any]]


def write(path: str | os.PathLike[str], header: dict[str, Any], state: Tensors) -> None:
    """One safetensors file with this JSON in its header, and a checksum; atomically."""
    write_parts(path, to_parts(header, state))


def write_parts(path: str | os.PathLike[str], parts: list[bytes | memoryview]) -> None:
    with atomic_write(path) as file:
        for part in parts:
            file.write(part)


def to_parts(header: dict[str, Any], state: Tensors) -> list[bytes | memoryview]:
    """The content of a file, in pieces: the header, and each tensor where it lies in memory."""
    if "sha256" not in header:
        header = header | {"sha256": NO_DIGEST}
    # As safetensors has it: by falling size and kind of the numbers, so that each lies at a multiple of its size.
    names = sorted(state, key=lambda name: (-TYPES.index(state[name].dtype.name), name))
    tensors = [_bytes_of(state[name]) for name in names]
    head = _header(json.dumps(header), {name: state[name] for name in names})
    digest = hashlib.sha256(head)
    for tensor in tensors:
        digest.update(tensor)
    place = digest_place(head)
    return [head[:place] + digest.hexdigest().encode() + head[place + 64 :], *tensors]


TYPES = (
    "bool", "uint8", "int8", "int16", "uint16", "float16", "int32", "uint32", "float32",
    "float64", "int64", "uint64",
)  # fmt: skip
"""NumPy's names in the order that safetensors has its own in: BOOL, U8, I8, ..."""


def in_file(kind: str) -> str:
    """What safetensors calls it.

    >>> in_file("float64"), in_file("uint8"), in_file("bool")
    ('F64', 'U8', 'BOOL')
    """
    return "BOOL" if kind == "bool" else kind[0].upper() + kind.lstrip("uintfloa")


def _header(riata: str, tensors: dict[str, NDArray[Any]]) -> bytes:
    """How a safetensors file begins that holds these tensors one after another."""
    outer: dict[str, Any] = {"__metadata__": {"riata": riata}}
    end = 0
    for name, array in tensors.items():
        outer[name] = {
            "dtype": in_file(array.dtype.name),
            "shape": array.shape,
            "data_offsets": (end, end + array.nbytes),
        }
        end += array.nbytes
    text = json.dumps(outer, ensure_ascii=False, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text


def _bytes_of(array: NDArray[Any]) -> memoryview:
    """A tensor as it stands in the file: no copy where the machine has it that way round."""
    array = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
    return array.reshape(-1).view(np.uint8).data


def digest_place(content: bytes) -> int:
    """Where the digits of the checksum begin. JSON inside JSON: its quotes are escaped."""
    key = b'\\"sha256\\": \\"'
    place = content.find(key, 8, 8 + int.from_bytes(content[:8], "little"))
    return place + len(key) if place >= 0 else -1


def read_whole(path: str | os.PathLike[str]) -> bytes:
    """The bytes of a file or pipe, once its beginning says that it can be a model, and how long it is."""
    with open(path, "rb") as file:
        status = os.fstat(file.fileno())
        size = status.st_size if stat.S_ISREG(status.st_mode) else None
        head = read_head(file, str(path), size)
        wanted = data_size(head, str(path), size)
        check_room(wanted, str(path))
        if size is not None:  # at once, without putting parts together
            file.seek(0)
            content = file.read(size)
            if len(content) == size and content[: len(head)] == head and not file.read(1):
                return content
            raise ModelError(f"{path}: changed while it was read: try again")
        data = read_up_to(file, wanted)
        if len(data) != wanted or file.read(1):
            raise ModelError(
                f"{path}: cut short or damaged: its header speaks of {wanted:,} bytes of data, and "
                f"there are {'more' if len(data) == wanted else format(len(data), ',')}"
            )
        return head + data


def read_head(file: IO[bytes], path: str, size: int | None) -> bytes:
    """How a file begins, up to its tensors; `size` is how long it is, where that is known."""
    start = read_up_to(file, 9)
    _check_start(start, path, size)
    length = int.from_bytes(start[:8], "little")
    head = start + read_up_to(file, length - 1)
    if len(head) < 8 + length:
        raise ModelError(
            f"{path}: cut short: {len(head):,} bytes, and its header alone takes {8 + length:,}"
        )
    return head


def check_room(size: int, path: str) -> None:
    """A file may be larger than memory, or say so: better an error than the end of the process."""
    most = allowed() if size > _SMALL else None
    if most is None or (in_use() or 0) + TO_LOAD * size <= MEMORY_SHARE * most:
        return
    raise ModelError(
        f"{path}: its header speaks of {size_words(size)} of data: to load that takes about "
        f"{size_words(int(TO_LOAD * size))} of memory, and {size_words(int(MEMORY_SHARE * most))} "
        f"({MEMORY_SHARE:.0%} of what this machine allows) are too little: a machine with more memory would help"
    )


def read_up_to(file: IO[bytes], size: int) -> bytes:
    """So many bytes, or all there are: memory is taken as they come, whatever a header claims."""
    parts = []
    while size > 0 and (part := file.read(min(size, 1 << 26))):
        parts.append(part)
        size -= len(part)
    return parts[0] if len(parts) == 1 else b"".join(parts)


def data_size(head: bytes, path: str, size: int | None) -> int:
    """How many bytes of tensors follow the header; `size` is how long the file is, where that is known."""
    try:
        outer = json.loads(head[8:])
        ends = [
            int(tensor["data_offsets"][1])
            for name, tensor in outer.items()
            if name != "__metadata__"
        ]
    except (ValueError, LookupError, AttributeError, TypeError, RecursionError) as error:
        raise ModelError(f"{path}: damaged: its header cannot be read ({error})") from error
    if min(ends, default=0) < 0:
        raise ModelError(f"{path}: damaged: a tensor ends before it begins")
    wanted = max(ends, default=0)
    if size is not None and size != len(head) + wanted:
        raise ModelError(
            f"{path}: cut short or damaged: {size:,} bytes, and its header speaks of {len(head) + wanted:,}"
        )
    return wanted


def tensors_of(content: bytes, path: str) -> dict[str, NDArray[Any]]:
    try:
        return safetensors_load(content)
    except Exception as error:  # SafetensorError, or a type that NumPy lacks
        raise ModelError(f"{path}: cut short or damaged: {error}") from error


def header_of(path: str | os.PathLike[str], format: str, newest: int) -> dict[str, Any]:
    """The header alone, before anything is known of the rest: `read` must still say that the file is whole."""
    with open(path, "rb") as file:
        start = read_up_to(file, 9)
        _check_start(start, str(path), None)
        head = start + read_up_to(file, int.from_bytes(start[:8], "little") - 1)
    return read_header(head, str(path), format, newest, checked=False)


def format_of(path: str | os.PathLike[str]) -> str | None:
    """What the header of a file of Riata's says it is, `MODEL` or `SUMMARY`; None where it is something else."""
    for format in (MODEL, SUMMARY):
        with contextlib.suppress(ModelError):
            header_of(path, format, sys.maxsize)
            return format
    return None


def read(path: str | os.PathLike[str], format: str, newest: int) -> tuple[dict[str, Any], Tensors]:
    """Header and tensors of a file of this format that is whole; anything else is a ModelError that says what."""
    content = read_whole(path)
    return read_header(content, str(path), format, newest), tensors_of(content, str(path))


def read_header(
    content: bytes, path: str, format: str, newest: int, checked: bool = True
) -> dict[str, Any]:
    """The JSON header of a file that is whole; anything else is a ModelError that says what."""
    length = int.from_bytes(content[:8], "little")
    try:
        outer = json.loads(content[8 : 8 + length])
        text = outer.get("__metadata__", {}).get("riata")
        header = None if text is None else json.loads(text)
    except (ValueError, AttributeError, TypeError, RecursionError) as error:
        raise ModelError(f"{path}: damaged: its header cannot be read ({error})") from error
    found = header.get("format") if isinstance(header, dict) else None
    if not isinstance(header, dict) or found != format:
        raise ModelError(f"{path}: {_OTHERS.get(str(found), _FOREIGN)}")
    version = header.get("version")
    if not isinstance(version, int):
        raise ModelError(f"{path}: damaged: its header has no format version")
    if version > newest:
        raise ModelError(
            f"{path}: written by a newer Riata ({str(header.get('riata'))[:40]}, format {version}); this "
            f"one ({riata.__version__}) reads up to format {newest}: upgrade Riata"
        )
    if checked:
        _check_digest(content, path, header.get("sha256"))
    return header


def _check_start(start: bytes, path: str, size: int | None) -> None:
    """Tell files that were never a model from those that are no longer one, by their first nine bytes."""
    if not start:
        raise ModelError(f"{path}: an empty file, not a model")
    if start[:1] == b"\x80" and start[1:2] in b"\x02\x03\x04\x05":
        raise ModelError(f"{path}: a pickle, which Riata never opens, not a model of Riata's")
    length = int.from_bytes(start[:8], "little")
    if len(start) < 9:
        raise ModelError(f"{path}: only {len(start)} bytes: cut short, or not a model")
    if length > LONGEST_HEADER or start[8:9] != b"{":
        raise ModelError(f"{path}: not a model of Riata's (nor any safetensors file)")
    if size is not None and size < 8 + length:
        raise ModelError(
            f"{path}: cut short: {size:,} bytes, and its header alone takes {8 + length:,}"
        )


def _check_digest(content: bytes, path: str, digest: object) -> None:
    place = digest_place(content)
    found = hashlib.sha256()
    if place >= 0:
        view = memoryview(content)
        found.update(view[:place])
        found.update(NO_DIGEST.encode())
        found.update(view[place + 64 :])
    if place < 0 or found.hexdigest() != digest:
        raise ModelError(f"{path}: {DAMAGED}")


# Memory


def allowed(root: str = "/") -> int | None:
    """Bytes that this process may have: the machine's, or less where its control groups say so. None: unknown.

    `root` is where /proc and /sys are.
    """
    limits = [*_machine(root), *_control_groups(root)]
    return min(limits, default=None)


def _machine(root: str) -> list[int]:
    try:
        text = Path(root, "proc/meminfo").read_text()
    except OSError:
        return []
    found = re.search(r"^MemTotal:\s*(\d+) kB", text, re.MULTILINE)
    return [] if found is None else [int(found[1]) << 10]


def _control_groups(root: str) -> list[int]:
    """The limits of the group and of those that it is in, version 1 and 2."""
    try:
        lines = Path(root, "proc/self/cgroup").read_text().splitlines()
    except OSError:
        return []
    limits = []
    for line in lines:
        _, _, rest = line.partition(":")
        controllers, _, group = rest.partition(":")
        if controllers == "":
            base, name = Path(root, "sys/fs/cgroup"), "memory.max"
        elif "memory" in controllers.split(","):
            base, name = Path(root, "sys/fs/cgroup/memory"), "memory.limit_in_bytes"
        else:
            continue
        parts = [part for part in group.split("/") if part not in ("", "..")]
        # In a container the path may be that of the host, and the group itself be mounted as the root.
        for depth in range(len(parts) + 1):
            limits += _number(base.joinpath(*parts[:depth], name))
    return limits


def _number(path: Path) -> list[int]:
    try:
        return [int(path.read_text())]
    except (OSError, ValueError):  # "max", or no such file
        return []


def in_use() -> int | None:
    """Bytes of memory of this process, without files that are mapped into it. None: unknown."""
    try:
        with open("/proc/self/statm", "rb") as file:
            _, resident, shared = file.read().split()[:3]
    except (OSError, ValueError):
        return None
    return (int(resident) - int(shared)) * os.sysconf("SC_PAGE_SIZE")


def size_words(size: int) -> str:
    """Bytes, for people.

    >>> size_words(3 << 29)
    '1.5 GiB'
    """
    for unit, factor in (("GiB", 1 << 30), ("MiB", 1 << 20)):
        if size >= factor:
            return f"{size / factor:.4g} {unit}"
    return f"{size:,} bytes"
