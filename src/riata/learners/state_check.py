"""What the state of a learner must be before anything is made of it: a model file may come from anywhere.

A table names the tensors of a family. A shape has numbers, or letters that stand for the same number wherever they
occur; "n+1" is one more than n. Whatever does not fit is a ValueError that says which tensor and why.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

Arrays = Mapping[str, NDArray[Any]]


@dataclass(frozen=True)
class Tensor:
    """One tensor: its dtype, its shape, and what its numbers may be."""

    dtype: str
    shape: tuple[int | str, ...]
    optional: bool = False
    finite: bool = True
    least: int | None = None
    """No number is smaller."""


NAMES = {
    "names": Tensor("uint8", ("bytes",), optional=True),
    "name_offsets": Tensor("int64", ("n+1",), optional=True, least=0),
}
SCALE_STATE = {  # of feature_scale="rms"
    "scale_keys": Tensor("int64", ("scaled",), least=0),
    "scale_sums": Tensor("float64", ("scaled", 2), least=0),
}


def check_state(state: Arrays, tensors: Mapping[str, Tensor], what: str = "") -> None:
    """Raise a ValueError unless `state` has these tensors and no others.

    >>> table = {"keys": Tensor("int64", ("n",), least=0), "rows": Tensor("float64", ("n", 2))}
    >>> check_state({"keys": np.zeros(3, dtype=np.int64), "rows": np.zeros((3, 2))}, table)
    >>> check_state({"keys": np.zeros(3, dtype=np.int64), "rows": np.zeros((4, 2))}, table)
    Traceback (most recent call last):
    ValueError: tensor 'rows' has the shape (4, 2), not (n=3, 2)
    """
    for name in state:
        if name not in tensors:
            raise ValueError(f"tensor {what + name!r} has no place in such a model")
    sizes: dict[str, int] = {}
    for name, tensor in tensors.items():
        if name in state:
            _check(what + name, state[name], tensor, sizes)
        elif not tensor.optional:
            raise ValueError(f"tensor {what + name!r} is missing")
    if ("names" in state) != ("name_offsets" in state):
        raise ValueError("one of the tensors 'names' and 'name_offsets' is missing")


def _check(name: str, array: NDArray[Any], tensor: Tensor, sizes: dict[str, int]) -> None:
    if array.dtype != np.dtype(tensor.dtype):
        raise ValueError(f"tensor {name!r} has the type {array.dtype}, not {tensor.dtype}")
    fits = array.ndim == len(tensor.shape)
    for size, wanted in zip(array.shape, tensor.shape, strict=False):
        if isinstance(wanted, int):
            fits = fits and size == wanted
        else:
            letter, _, more = wanted.partition("+")
            fits = fits and sizes.setdefault(letter, size - int(more or 0)) == size - int(more or 0)
    if not fits:
        said = (f"{w}={sizes[w]}" if w in sizes else str(w) for w in tensor.shape)
        raise ValueError(f"tensor {name!r} has the shape {array.shape}, not ({', '.join(said)})")
    if array.dtype.kind == "f" and tensor.finite and not np.isfinite(array).all():
        raise ValueError(f"tensor {name!r} holds numbers that are not finite")
    if tensor.least is not None and array.size and array.min() < tensor.least:
        raise ValueError(f"tensor {name!r} holds {array.min()}, and {tensor.least} is the least")


def check_known(keys: NDArray[np.int64], features: int, name: str = "keys") -> None:
    """Features are numbered from 0, and a model knows how many there are."""
    if len(keys) and int(keys.max()) >= features:
        raise ValueError(f"tensor {name!r} has feature {int(keys.max())}, of {features} there are")


_TYPES: dict[str, tuple[type, ...]] = {
    "bool": (bool,), "int": (int,), "float": (int, float), "str": (str,),
}  # fmt: skip


def check_parameters(family: type, parameters: Any, state: Arrays) -> None:
    """Parameters as JSON had them: types, and no more outputs than the tensors have numbers for."""
    if not isinstance(parameters, dict):
        raise ValueError("the parameters are not a table of names and values")
    types = {f.name: f.type for f in fields(family)}
    for name, value in parameters.items():
        wanted = _TYPES.get(str(types.get(name)))
        if wanted is not None and (
            not isinstance(value, wanted) or (isinstance(value, bool) and bool not in wanted)
        ):
            raise ValueError(f"parameter {name!r} is {str(value)[:40]!r}, not {types[name]}")
    numbers = sum(array.size for array in state.values())
    if parameters.get("outputs", 1) > numbers:
        raise ValueError(
            f"parameter 'outputs' is {parameters['outputs']}, and all tensors together have {numbers} numbers"
        )
