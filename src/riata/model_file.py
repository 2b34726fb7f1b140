"""A model on disk: one safetensors file.

The tensors are the learner's state. The metadata has one entry, `riata`: JSON with the format's
name and version, the Riata that wrote it, family, parameters, classes, the number of features, the
record of the training, and a SHA-256 of the whole file, taken with its own 64 digits as zeros. Equal
models give equal files. Nothing in a file is ever executed.
"""

from __future__ import annotations

import json
import os
import sys
from datetime import datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

import riata
from riata import tensor_file
from riata.errors import ModelError
from riata.labels import as_python
from riata.record import Model, Record, Settings
from riata.schema import Schema

FORMAT = tensor_file.MODEL
VERSION = 2
"""The newest that is read. Files with packed tensors are of version 2, all others of 1."""

AS_WRITTEN = "as written"
"""The classes are those of the data. Files without this have numbers where the data had words."""
_BESIDE = "beside."
"""How the names of tensors begin that are no state of the learner."""


def save(model: Model, path: str | os.PathLike[str], *, small: bool = False) -> None:
    """Write a model, atomically: on any failure what was at `path` before is untouched.

    small: all tensors compressed, which takes longer; else only the names of `auto`.

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
    tensor_file.write_parts(path, _to_parts(model, small))


def load(path: str | os.PathLike[str]) -> Model:
    """Read a model. A file that is cut short, damaged, foreign, made up or too new is a ModelError.

    Nothing is executed, and no more memory is asked for than the file's own size accounts for.
    """
    content = tensor_file.read_whole(path)
    header = tensor_file.read_header(content, str(path), FORMAT, VERSION)
    from riata.learners import FAMILIES

    family = FAMILIES.get(header["family"]) if isinstance(header.get("family"), str) else None
    if family is None:
        raise ModelError(
            f"{path}: a model of the family {str(header.get('family'))[:80]!r}, which this Riata "
            f"({riata.__version__}) does not know: use a newer one"
        )
    state = tensor_file.tensors_of(content, str(path))
    del content  # its memory is wanted for the model
    beside = {k.removeprefix(_BESIDE): state.pop(k) for k in list(state) if k.startswith(_BESIDE)}
    try:
        record = _record(header["record"])
        if "packed" in header:
            from riata.packed_state import unpack, unpacked_size  # most have nothing of the kind

            tensor_file.check_room(unpacked_size(header["packed"]), "unpacked")
            state = unpack(state, header["packed"], record.hash_key)
        if record.schema is not None and record.schema.is_weighed:
            record.schema = _with_text_weights(record.schema, state)
        learner = family.from_state(header["parameters"], state)
        learner.use_hash_key(record.hash_key)
        classes = _classes(header["classes"], learner.task, learner.outputs)
        if header.get("labels") != AS_WRITTEN:
            classes = _with_words(classes, record)
        return Model(learner, classes, record, beside)
    except MemoryError as error:
        raise ModelError(f"{path}: there is not enough memory for this model") from error
    except ModelError as error:
        raise ModelError(f"{path}: {error}") from error
    except Exception as error:  # a file from anywhere: whatever is wrong with it, it is the file
        by = str(header.get("riata"))[:40]
        raise ModelError(
            f"{path}: saved by Riata {by}, read by {riata.__version__}: the parts of this model do not fit together: "
            f"{str(error) or repr(error)}"
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
        length = int.from_bytes(tensor_file.read_up_to(file, 8), "little")
        head: dict[str, Any] = json.loads(
            tensor_file.read_up_to(file, min(length, tensor_file.LONGEST_HEADER))
        )
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
    for mean in (record.loss, record.loss_before_pass, record.loss_after_first):
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


def _to_parts(model: Model, small: bool = False) -> list[bytes | memoryview]:
    """The content of the file of a model."""
    with model.learner.lock:  # one moment: nobody learns meanwhile, at most a Block is waited for
        header, state = _parts_of(model)
    if small or (model.learner.family == "auto" and "names" in state):
        from riata.packed_state import pack  # most models do without

        state, packed = pack(state, model.record.hash_key, everything=small)
        header |= {"version": 2, "packed": packed}
    return tensor_file.to_parts(header, state)


def _parts_of(model: Model) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    header = {
        "format": FORMAT,
        "version": 1,
        "riata": riata.__version__,
        "sha256": tensor_file.NO_DIGEST,
        "family": model.learner.family,
        "parameters": model.learner.parameters(),
        "classes": None if model.classes is None else [as_python(label) for label in model.classes],
        "labels": AS_WRITTEN,
        "n_features": int(model.learner.n_features),
        "record": model.record.to_json(),
    }
    weights = None if model.record.schema is None else model.record.schema.text_weights
    beside = {_BESIDE + k: v for k, v in model.beside.items()}
    return header, model.learner.state() | beside | ({} if weights is None else weights.arrays())
