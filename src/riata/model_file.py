"""A model on disk: one safetensors file.

The tensors are the learner's state. The metadata has one entry, `riata`: JSON with the format's
name and version, the Riata that wrote it, family, parameters, classes, the number of features, the
record of the training, and a SHA-256 of the whole file, taken with its own 64 digits as zeros. Equal
models give equal files. Nothing in a file is ever executed.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
import sys
from datetime import datetime
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load as safetensors_load

import riata
from riata.atomic import atomic_write
from riata.errors import ModelError
from riata.labels import as_python
from riata.record import Model, Record, Settings
from riata.schema import Schema

FORMAT = "riata-model"
VERSION = 1
"""Raised when an older Riata could no longer make sense of the file."""

AS_WRITTEN = "as written"
"""The classes are those of the data. Files without this have numbers where the data had words."""
_NO_DIGEST = "0" * 64
_LONGEST_HEADER = 100_000_000


def save(model: Model, path: str | os.PathLike[str]) -> None:
    """Write a model, atomically: on any failure what was at `path` before is untouched.

    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> from riata.learners import ElasticNet
    >>> from riata.sources import open_source
    >>> from riata.training import train
    >>> data = open_source(np.eye(4), np.array([1.0, 0.0, 1.0, 0.0]))
    >>> model = train(data, lambda m: ElasticNet(outputs=m))
    >>> path = Path(tempfile.mkdtemp()) / "model.riata"
    >>> save(model, path)
    >>> load(path).record == model.record
    True
    """
    parts = _to_parts(model)
    with atomic_write(path) as file:
        for part in parts:
            file.write(part)


def load(path: str | os.PathLike[str]) -> Model:
    """Read a model. A file that is cut short, damaged, foreign, made up or too new is a ModelError.

    Nothing is executed, and no more memory is asked for than the file's own size accounts for.
    """
    content = _read(path)
    header = _read_header(content, str(path))
    from riata.learners import FAMILIES

    family = FAMILIES.get(header["family"]) if isinstance(header.get("family"), str) else None
    if family is None:
        raise ModelError(
            f"{path}: a model of the family {str(header.get('family'))[:80]!r}, which this Riata "
            f"({riata.__version__}) does not know: use a newer one"
        )
    state = _tensors(content, str(path))
    try:
        record = _record(header["record"])
        if record.schema is not None and record.schema.is_weighed:
            record.schema = _with_text_weights(record.schema, state)
        learner = family.from_state(header["parameters"], state)
        learner.use_hash_key(record.hash_key)
        classes = _classes(header["classes"], learner.task, learner.outputs)
        if header.get("labels") != AS_WRITTEN:
            classes = _with_words(classes, record)
        return Model(learner, classes, record)
    except MemoryError as error:
        raise ModelError(f"{path}: there is not enough memory for this model") from error
    except ModelError as error:
        raise ModelError(f"{path}: {error}") from error
    except Exception as error:  # a file from anywhere: whatever is wrong with it, it is the file
        raise ModelError(
            f"{path}: the parts of this model do not fit together: {str(error) or repr(error)}"
        ) from error


def _with_text_weights(schema: Schema, state: dict[str, NDArray[Any]]) -> Schema:
    """The schema with its weights of texts, which are taken out of the tensors."""
    from riata.text_weights import TENSORS, TextWeights, with_weights  # most models have none

    arrays = {name: state.pop(name) for name in TENSORS}
    return with_weights(schema, TextWeights.of(schema, arrays))


def about(path: str | os.PathLike[str]) -> dict[str, Any]:
    """What the file of a model says beside the model: its size, when it was saved, by which Riata.

    Nothing of a pipe, which can be read only once.
    """
    if not os.path.isfile(path):
        return {}
    head, _ = _outer_header(path)
    version = json.loads(head["__metadata__"]["riata"])["riata"]
    status = os.stat(path)
    saved = datetime.fromtimestamp(status.st_mtime).astimezone().isoformat(" ", "minutes")
    return {
        "path": os.fsdecode(path),
        "bytes": status.st_size,
        "saved": saved,
        "version": str(version),
    }


def names(path: str | os.PathLike[str]) -> tuple[Any, Any, Any] | None:
    """Keys, names and where these begin, as they lie in the file of a model; None where it has none in this way."""
    if not os.path.isfile(path):
        return None
    head, start = _outer_header(path)
    wanted = {"keys": "<i8", "names": "<u1", "name_offsets": "<i8"}
    if not all(name in head for name in wanted):
        return None
    found = []
    with open(path, "rb") as file:
        for name, kind in wanted.items():
            first, last = head[name]["data_offsets"]
            file.seek(start + first)
            found.append(np.frombuffer(file.read(last - first), dtype=kind))
    keys, text, offsets = found
    return (keys, text, offsets) if len(offsets) == len(keys) + 1 else None


def _outer_header(path: str | os.PathLike[str]) -> tuple[dict[str, Any], int]:
    """The header of a file that has been loaded, and where its tensors begin."""
    with open(path, "rb") as file:
        length = int.from_bytes(_read_up_to(file, 8), "little")
        head: dict[str, Any] = json.loads(_read_up_to(file, min(length, _LONGEST_HEADER)))
    return head, 8 + length


def _record(values: Any) -> Record:
    """The record, if its values are of the kinds that a Record has."""
    if not isinstance(values, dict):
        raise ValueError("the record is not a table of names and values")
    blank = Record(data=[], settings=Settings())
    for name, value in values.items():
        example = getattr(blank, name, None)
        if example is None or hasattr(example, "__dataclass_fields__"):
            if value is not None and not isinstance(value, dict):
                raise ValueError(f"{name!r} of the record is not a table of names and values")
        elif type(value) is not type(example) or (isinstance(value, int) and value < 0):
            raise ValueError(f"{name!r} of the record is {str(value)[:40]!r}")
    for name in ("history", "earlier"):
        if not all(isinstance(entry, dict) for entry in values.get(name, [])):
            raise ValueError(f"{name!r} of the record has an entry that is no table")
    record = Record.from_json(values)
    for mean in (record.loss, record.loss_before_pass):
        mean.total, mean.weight = float(mean.total), float(mean.weight)
    return record


def _classes(values: Any, task: str, outputs: int) -> NDArray[Any] | None:
    """The classes, if there are as many as the learner has outputs for."""
    if values is None:
        return None
    if not isinstance(values, list) or not all(
        isinstance(value, str | int | float | bool) for value in values
    ):
        raise ValueError("the classes are not a list of numbers or strings")
    if not all(isinstance(value, str) or abs(value) <= sys.float_info.max for value in values):
        raise ValueError("a class is a number that is not finite")
    if task == "regression" or not (len(values) <= 2 if outputs == 1 else len(values) == outputs):
        raise ValueError(f"{len(values)} classes for {outputs} outputs of a {task}")
    if len(set(values)) < len(values):
        raise ValueError("a class is named twice")
    alike = len({type(value) for value in values}) <= 1
    numbers = all(isinstance(value, int | float) for value in values)
    return np.array(values) if alike or numbers else np.array(values, dtype=object)


def _with_words(classes: NDArray[Any] | None, record: Record) -> NDArray[Any] | None:
    """Classes of early files of 0.1, which were numbers of words in the schema."""
    words = (record.schema or Schema()).label_names
    if classes is None or not words or classes.dtype.kind != "f":
        return classes
    return np.array([words[int(code)] for code in classes])


def _to_parts(model: Model) -> list[bytes | memoryview]:
    """The content of the file, in pieces: the header, and each tensor where it lies in memory."""
    with model.learner.lock:  # one moment: nobody learns meanwhile, at most a Block is waited for
        header, state = _parts_of(model)
    # As safetensors has it: by falling size and kind of the numbers, so that each lies at a multiple of its size.
    names = sorted(state, key=lambda name: (-_TYPES.index(state[name].dtype.name), name))
    tensors = [_bytes_of(state[name]) for name in names]
    head = _header(json.dumps(header), {name: state[name] for name in names})
    digest = hashlib.sha256(head)
    for tensor in tensors:
        digest.update(tensor)
    place = _digest_place(head)
    return [head[:place] + digest.hexdigest().encode() + head[place + 64 :], *tensors]


_TYPES = (
    "bool", "uint8", "int8", "int16", "uint16", "float16", "int32", "uint32", "float32",
    "float64", "int64", "uint64",
)  # fmt: skip
"""NumPy's names in the order that safetensors has its own in: BOOL, U8, I8, ..."""


def _header(riata: str, tensors: dict[str, NDArray[Any]]) -> bytes:
    """How a safetensors file begins that holds these tensors one after another."""
    outer: dict[str, Any] = {"__metadata__": {"riata": riata}}
    end = 0
    for name, array in tensors.items():
        kind = array.dtype.name
        outer[name] = {
            "dtype": "BOOL" if kind == "bool" else kind[0].upper() + kind.lstrip("uintfloa"),
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


def _parts_of(model: Model) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    header = {
        "format": FORMAT,
        "version": VERSION,
        "riata": riata.__version__,
        "sha256": _NO_DIGEST,
        "family": model.learner.family,
        "parameters": model.learner.parameters(),
        "classes": None if model.classes is None else [as_python(label) for label in model.classes],
        "labels": AS_WRITTEN,
        "n_features": int(model.learner.n_features),
        "record": model.record.to_json(),
    }
    weights = None if model.record.schema is None else model.record.schema.text_weights
    return header, model.learner.state() | ({} if weights is None else weights.arrays())


def _digest_place(content: bytes) -> int:
    """Where the digits of the checksum begin. JSON inside JSON: its quotes are escaped."""
    key = b'\\"sha256\\": \\"'
    place = content.find(key, 8, 8 + int.from_bytes(content[:8], "little"))
    return place + len(key) if place >= 0 else -1


def _read(path: str | os.PathLike[str]) -> bytes:
    """The bytes of a file or pipe, once its beginning says that it can be a model, and how long it is."""
    with open(path, "rb") as file:
        status = os.fstat(file.fileno())
        size = status.st_size if stat.S_ISREG(status.st_mode) else None
        start = _read_up_to(file, 9)
        _check_start(start, str(path), size)
        length = int.from_bytes(start[:8], "little")
        head = start + _read_up_to(file, length - 1)
        if len(head) < 8 + length:
            raise ModelError(
                f"{path}: cut short: {len(head):,} bytes, and its header alone takes {8 + length:,}"
            )
        wanted = _data_size(head, str(path))
        if size is not None and size != len(head) + wanted:
            raise ModelError(
                f"{path}: cut short or damaged: {size:,} bytes, and its header speaks of "
                f"{len(head) + wanted:,}"
            )
        data = _read_up_to(file, wanted)
        if len(data) != wanted or file.read(1):
            raise ModelError(
                f"{path}: cut short or damaged: its header speaks of {wanted:,} bytes of data, and "
                f"there are {'more' if len(data) == wanted else format(len(data), ',')}"
            )
        return head + data


def _read_up_to(file: IO[bytes], size: int) -> bytes:
    """So many bytes, or all there are: memory is taken as they come, whatever a header claims."""
    parts = []
    while size > 0 and (part := file.read(min(size, 1 << 26))):
        parts.append(part)
        size -= len(part)
    return parts[0] if len(parts) == 1 else b"".join(parts)


def _data_size(head: bytes, path: str) -> int:
    """How many bytes of tensors follow the header."""
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
    return max(ends, default=0)


def _tensors(content: bytes, path: str) -> dict[str, NDArray[Any]]:
    try:
        return safetensors_load(content)
    except Exception as error:  # SafetensorError, or a type that NumPy lacks
        raise ModelError(f"{path}: cut short or damaged: {error}") from error


def _read_header(content: bytes, path: str) -> dict[str, Any]:
    """The JSON header of a file that is whole; anything else is a ModelError that says what."""
    length = int.from_bytes(content[:8], "little")
    try:
        outer = json.loads(content[8 : 8 + length])
        text = outer.get("__metadata__", {}).get("riata")
        header = None if text is None else json.loads(text)
    except (ValueError, AttributeError, TypeError, RecursionError) as error:
        raise ModelError(f"{path}: damaged: its header cannot be read ({error})") from error
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise ModelError(f"{path}: a safetensors file, but not a model of Riata's")
    version = header.get("version")
    if not isinstance(version, int):
        raise ModelError(f"{path}: damaged: its header has no format version")
    if version > VERSION:
        raise ModelError(
            f"{path}: written by a newer Riata ({str(header.get('riata'))[:40]}, format {version}); this "
            f"one ({riata.__version__}) reads up to format {VERSION}: upgrade Riata"
        )
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
    if length > _LONGEST_HEADER or start[8:9] != b"{":
        raise ModelError(f"{path}: not a model of Riata's (nor any safetensors file)")
    if size is not None and size < 8 + length:
        raise ModelError(
            f"{path}: cut short: {size:,} bytes, and its header alone takes {8 + length:,}"
        )


def _check_digest(content: bytes, path: str, digest: object) -> None:
    place = _digest_place(content)
    found = hashlib.sha256()
    if place >= 0:
        view = memoryview(content)
        found.update(view[:place])
        found.update(_NO_DIGEST.encode())
        found.update(view[place + 64 :])
    if place < 0 or found.hexdigest() != digest:
        raise ModelError(
            f"{path}: damaged: the checksum does not match: restore it from a copy, or train again"
        )
