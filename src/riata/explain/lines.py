"""Explanations as lines of JSON or CSV, Block by Block, without a Python object for each feature."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from riata import _core
from riata.explain.contributions import Contributions
from riata.explain.explanation import targets_of
from riata.labels import as_text
from riata.metrics import class_probabilities, predicted_codes
from riata.record import Model
from riata.schema import Schema

CSV_HEAD = ("where", "class", "score", "probability", "kind", "feature", "value", "weight")
FORMATS = ("jsonl", "csv")
Fields = list[tuple[bytes, Any]]


class LineWriter:
    """Makes lines of the contributions of Blocks, the rows of which come one after another."""

    def __init__(
        self, model: Model, format: str, *, top: int, target: Any = None, id_name: str | None = None
    ) -> None:
        self.model, self.format, self.top, self.target, self.id_name = (
            model,
            format,
            top,
            target,
            id_name,
        )
        self.row = 0

    def head(self) -> bytes:
        """What stands before the first row."""
        if self.format != "csv":
            return b""
        ids = [] if self.id_name is None else [_cell(self.id_name)]
        return ",".join([*ids, *CSV_HEAD, "contribution", "std"]).encode() + b"\n"

    def lines(self, part: Contributions, ids: Sequence[Any] | None = None) -> bytes:
        block, scores = part.block, part.scores
        outputs = targets_of(self.model, scores, self.target)
        counts = np.diff(block.indptr)
        sizes = _column(part.entries, outputs, counts)
        starts, places, *sums = _core.strongest_entries(block.indptr, sizes, self.top)
        fields = self._fields(part, outputs, ids)
        rest = _rest(part, outputs, np.diff(starts), *sums)
        if self.format != "csv":
            fields += self._json_rest(part, rest)
        first = (self.model.schema or Schema()).base or 0
        names, offsets = (block.names, block.name_offsets) if block.named else (None, None)
        text = _core.explanation_lines(
            self.format, fields, self._csv_rest(rest) if self.format == "csv" else [],
            starts, places, np.ascontiguousarray(block.indices, dtype=np.int64), first, names, offsets,
            np.ascontiguousarray(part.values), _column(part.weights, outputs, counts), sizes,
            None if part.deviations is None else _column(part.deviations, outputs, counts),
        )  # fmt: skip
        self.row += len(block)
        return text

    def _fields(
        self, part: Contributions, outputs: NDArray[np.intp], ids: Sequence[Any] | None
    ) -> Fields:
        """What a row is called, its class, score and probability."""
        model, block, n = self.model, part.block, len(part.block)
        json_like = self.format != "csv"
        fields: Fields = [(b"{" if json_like else b"", None)]
        if ids is not None:
            shown = [json.dumps(v, default=str) if json_like else _cell(v) for v in ids]
            before = json.dumps(self.id_name).encode() + b":" if json_like else b""
            texts = [text.encode() for text in shown]
            fields += [(before, (np.arange(n, dtype=np.int32), texts)), (b",", None)]
        path = block.path if block.lines is not None else None
        where = "row " if path is None else f"{path}:"
        numbers = (
            np.arange(self.row, self.row + n)
            if block.lines is None or path is None
            else block.lines
        )
        called = json.dumps(where)[:-1] if json_like else _open_cell(where)
        fields.append(
            (
                (b'"where":' if json_like else b"") + called.encode(),
                np.asarray(numbers, dtype=np.int64),
            )
        )
        fields.append((b'"' if json_like else _close_cell(where), None))
        scores, labels = part.scores, model.labels
        goals = np.full(n, len(labels) - 1) if scores.shape[1] == 1 else outputs
        if labels:
            texts = [
                (json.dumps(label) if json_like else _cell(as_text(label))).encode()
                for label in labels
            ]
            if json_like:
                codes = np.minimum(predicted_codes(scores), len(labels) - 1).astype(np.int32)
                fields.append((b',"prediction":', (codes, texts)))
            fields.append((b',"class":' if json_like else b",", (goals.astype(np.int32), texts)))
        elif not json_like:
            fields.append((b",", None))
        score = np.ascontiguousarray(scores[np.arange(n), outputs])
        fields.append((b',"score":' if json_like else b",", score))
        if part.score_deviations is not None and json_like:
            fields.append(
                (
                    b',"score_std":',
                    np.ascontiguousarray(part.score_deviations[np.arange(n), outputs]),
                )
            )
        probability = model.learner.probability(scores) if labels else None
        if probability is not None:
            chance = np.ascontiguousarray(class_probabilities(probability)[np.arange(n), goals])
            fields.append((b',"probability":' if json_like else b",", chance))
        elif not json_like:
            fields.append((b",", None))
        return fields

    def _json_rest(self, part: Contributions, rest: dict[str, Any]) -> Fields:
        fields: Fields = [
            (b',"intercept":', rest["intercept"]),
            (b',"offset":', rest["offset"]),
            (b',"steps":{', None),
        ]
        for i, name in enumerate(part.steps):
            fields.append(((b"," if i else b"") + json.dumps(name).encode() + b":", rest[name]))
        fields += [
            (b'},"others":{"features":', rest["n_others"]),
            (b',"contribution":', rest["others"]),
            (b'},"unknown_features":', rest["n_unknown"]),
        ]
        return fields

    @staticmethod
    def _csv_rest(rest: dict[str, Any]) -> Fields:
        numbers = {k: v for k, v in rest.items() if v.dtype == np.float64}
        return [(f",{name},,,,".encode(), value) for name, value in numbers.items()]


def _column(values: Any, outputs: NDArray[np.intp], counts: Any) -> NDArray[np.float64]:
    """Of each entry what belongs to its row's output."""
    if values.shape[1] == 1:
        return np.ascontiguousarray(values[:, 0])
    return np.ascontiguousarray(values[np.arange(len(values)), np.repeat(outputs, counts)])


def _rest(
    part: Contributions, outputs: Any, n_shown: Any, live: Any, total: Any, shown: Any
) -> dict[str, Any]:
    """What else is added to the score of each row."""
    n, left = len(part.block), live - n_shown
    found = {
        "others": np.where(left > 0, total - shown, 0.0),
        "intercept": np.ascontiguousarray(part.intercept[np.arange(n), outputs]),
        "offset": np.zeros(n) if part.offsets is None else np.ascontiguousarray(part.offsets),
    }
    steps = {
        name: np.ascontiguousarray(step[np.arange(n), outputs]) for name, step in part.steps.items()
    }
    return found | steps | {"n_others": left, "n_unknown": np.diff(part.block.indptr) - live}


def _cell(value: Any) -> str:
    if value is None:
        return ""
    text = io.StringIO()
    csv.writer(text, lineterminator="").writerow([value])
    return text.getvalue()


def _open_cell(text: str) -> str:
    """The beginning of a cell that a number ends."""
    return _cell(text).removesuffix('"') if _close_cell(text) else text


def _close_cell(text: str) -> bytes:
    return b'"' if any(sign in text for sign in ',"\r\n') else b""
