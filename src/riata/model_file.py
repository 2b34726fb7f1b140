"""A model on disk: one safetensors file.

The tensors are the learner's state. The metadata has one entry, `riata`: JSON with the format's
name and version, the Riata that wrote it, family, parameters, classes, the number of features, the
record of the training, and a SHA-256 of the whole file, taken with its own 64 digits as zeros.
Equal
models give equal files. Nothing in a file is ever executed.
"""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load as safetensors_load
from safetensors.numpy import save as safetensors_save

import riata
from riata.atomic import atomic_write
from riata.errors import ModelError
from riata.record import Model, Record

FORMAT = "riata-model"
VERSION = 1
"""Raised when an older Riata could no longer make sense of the file."""

_NO_DIGEST = "0" * 64
_LONGEST_HEADER = 100_000_000


def save(model: Model, path: str | os.PathLike[str]) -> None:
    """Write a model, atomically: on any failure what was at `path` before is untouched.

    >>> import tempfile
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
    """Read a model. A file that is cut short, damaged, foreign or too new is a ModelError."""
    content = Path(path).read_bytes()
    header = _read_header(content, str(path))
    from riata.learners import FAMILIES

    family = FAMILIES.get(header["family"])
    if family is None:
        raise ModelError(
            f"{path}: a model of the family {header['family']!r}, which this Riata "
            f"({riata.__version__}) does not know: use a newer one"
        )
    state = safetensors_load(content)
    try:
        learner = family.from_state(header["parameters"], state)
        record = Record.from_json(header["record"])
    except (KeyError, TypeError, ValueError) as error:
        raise ModelError(f"{path}: the parts of this model do not fit together: {error}") from error
    classes = header["classes"]
    return Model(learner, None if classes is None else np.array(classes), record)


def _to_parts(model: Model) -> list[bytes | memoryview]:
    """The content of the file, in pieces, so that nothing large is copied once more."""
    with model.learner.lock:  # one moment: nobody learns meanwhile, at most a Block is waited for
        header, state = _parts_of(model)
    content = safetensors_save(state, {"riata": json.dumps(header)})
    place = _digest_place(content)
    digest = hashlib.sha256(content).hexdigest().encode()
    view = memoryview(content)
    return [view[:place], digest, view[place + 64 :]]


def _parts_of(model: Model) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    header = {
        "format": FORMAT,
        "version": VERSION,
        "riata": riata.__version__,
        "sha256": _NO_DIGEST,
        "family": model.learner.family,
        "parameters": model.learner.parameters(),
        "classes": None if model.classes is None else model.classes.tolist(),
        "n_features": int(model.learner.n_features),
        "record": model.record.to_json(),
    }
    state = {name: _contiguous(array) for name, array in model.learner.state().items()}
    return header, state


def _contiguous(array: NDArray[Any]) -> NDArray[Any]:
    return array if array.flags.c_contiguous else array.copy(order="C")


def _digest_place(content: bytes) -> int:
    """Where the digits of the checksum begin. JSON inside JSON: its quotes are escaped."""
    key = b'\\"sha256\\": \\"'
    place = content.find(key, 8, 8 + int.from_bytes(content[:8], "little"))
    return place + len(key) if place >= 0 else -1


def _read_header(content: bytes, path: str) -> dict[str, Any]:
    """The JSON header of a file that is whole; anything else is a ModelError that says what."""
    _check_shape(content, path)
    length = int.from_bytes(content[:8], "little")
    try:
        outer = json.loads(content[8 : 8 + length])
        text = outer.get("__metadata__", {}).get("riata")
        header = None if text is None else json.loads(text)
    except (ValueError, AttributeError, TypeError) as error:
        raise ModelError(f"{path}: damaged: its header cannot be read ({error})") from error
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise ModelError(f"{path}: a safetensors file, but not a model of Riata's")
    version = header.get("version")
    if not isinstance(version, int):
        raise ModelError(f"{path}: damaged: its header has no format version")
    if version > VERSION:
        raise ModelError(
            f"{path}: written by a newer Riata ({header.get('riata')}, format {version}); this one "
            f"({riata.__version__}) reads up to format {VERSION}: upgrade Riata"
        )
    _check_digest(content, path, header.get("sha256"))
    return header


def _check_shape(content: bytes, path: str) -> None:
    """Tell files that were never a model from those that are no longer one."""
    if not content:
        raise ModelError(f"{path}: an empty file, not a model")
    if content[:1] == b"\x80" and content[1:2] in b"\x02\x03\x04\x05":
        raise ModelError(f"{path}: a pickle, which Riata never opens, not a model of Riata's")
    length = int.from_bytes(content[:8], "little")
    if len(content) < 9:
        raise ModelError(f"{path}: only {len(content)} bytes: cut short, or not a model")
    if length > _LONGEST_HEADER or content[8:9] != b"{":
        raise ModelError(f"{path}: not a model of Riata's (nor any safetensors file)")
    if len(content) < 8 + length:
        raise ModelError(
            f"{path}: cut short: {len(content):,} bytes, and its header alone takes {8 + length:,}"
        )


def _check_digest(content: bytes, path: str, digest: object) -> None:
    try:
        safetensors_load(content)
    except (SafetensorError, KeyError, ValueError) as error:
        raise ModelError(f"{path}: cut short or damaged: {error}") from error
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
