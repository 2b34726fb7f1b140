"""What all shards have in common: how they are read, which classes there are, and what they are in all."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

import riata
from riata import _core
from riata.block import Block, concatenate
from riata.errors import ChangedData, DataError, NoExamples, SettingsError
from riata.labels import LOOK_AT, Classes, Label, LabelReader, as_python, in_words, words_of
from riata.learners import Learner
from riata.schema import Schema
from riata.shards.split import Piece, Shard, split
from riata.shards.survey import Survey, Wanted, learned
from riata.shards.survey import survey as survey_of
from riata.sources import ReadOptions, Source, open_source
from riata.sources.recognise import format_of
from riata.sources.source import iterate
from riata.training.encoder import Encoder, class_factors

FIRST_FILES = 64
"""Files that are opened to look at the first rows."""
Counts: TypeAlias = Callable[["Plan"], Mapping[Label, int]]
RunSurvey: TypeAlias = Callable[["Plan", Wanted], Survey]
"""Looks at all shards, and puts together what they tell."""
_KEPT = ("format", "on_error", "max_bad", "threads", "block_rows", "header", "delimiter", "quote")
"""Options that a schema says nothing of."""


@dataclass(frozen=True)
class Plan:
    """Everything about the data that a task must know, in values that JSON holds.

    `classes` are None for a regression.
    """

    shards: tuple[Shard, ...]
    options: ReadOptions
    head: bytes = b""
    """The line with the names of columns, where parts of a file lack it."""
    classes: tuple[Any, ...] | None = None
    class_weight: tuple[tuple[Any, float], ...] | None = None
    riata: str = field(default_factory=lambda: riata.__version__)

    @property
    def name(self) -> str:
        first, more = (
            self.shards[0].pieces[0].path,
            len({p.path for s in self.shards for p in s.pieces}),
        )
        return first if more == 1 else f"{first} and {more - 1} more files"

    def digest(self) -> str:
        """Equal for parts that can be put together: the same shards, read in the same way, with the same classes."""
        about = {k: v for k, v in self.options.about_content().items() if k != "schema"}
        schema = self.options.schema
        whole: dict[str, Any] = {
            "shards": [shard.identity() for shard in self.shards],
            "options": {k: repr(v) for k, v in sorted(about.items())},
            "schema": None if schema is None else schema.to_json(),
            "classes": self.classes,
            "class_weight": self.class_weight,
        }
        if schema is not None and schema.text_weights is not None:
            arrays = sorted(schema.text_weights.arrays().items())
            content = b"".join(array.tobytes() for _, array in arrays)
            whole["texts"] = hashlib.sha256(content).hexdigest()
        return hashlib.sha256(json.dumps(whole, sort_keys=True).encode()).hexdigest()[:32]

    def training(self) -> dict[str, Any]:
        """What a model is made with, besides the sums: values that JSON holds."""
        schema = self.options.schema
        return {
            "data": self.name,
            "classes": None if self.classes is None else list(self.classes),
            "class_weight": None
            if self.class_weight is None
            else [list(p) for p in self.class_weight],
            "schema": None if schema is None else schema.to_json(),
        }

    @classmethod
    def of_training(cls, values: Mapping[str, Any], count: int) -> Plan:
        """The same where the data is not at hand."""
        weights, schema = values["class_weight"], values["schema"]
        return cls(
            tuple(Shard(n, (Piece(str(values["data"]), 0),)) for n in range(1, count + 1)),
            ReadOptions(schema=None if schema is None else Schema.from_json(schema)),
            classes=None if values["classes"] is None else tuple(values["classes"]),
            class_weight=None if weights is None else tuple((k, float(w)) for k, w in weights),
        )

    def sources(self, shard: Shard, names: bool, data: Any = None) -> Iterator[Source]:
        """The pieces of a shard, each as a source; `data` is what it holds, where that is no file."""
        options = replace(self.options, names=names)
        if data is not None:
            yield open_held(data, options)
            return
        for piece in shard.pieces:
            part = piece.part(self.head)
            yield open_source(piece.path, options=replace(options, part=part))

    def read(self, shard: Shard, names: bool, data: Any = None) -> Iterator[Block]:
        """The rows of a shard, with class codes for labels and class weights in their weights."""
        for source in self.sources(shard, names, data):
            encode = self._encoding(source, shard)
            with closing(iterate(source)) as blocks:
                try:
                    yield from map(encode, filter(len, blocks))
                except NoExamples:
                    continue

    def _encoding(self, source: Source, shard: Shard) -> Callable[[Block], Block]:
        if self.classes is None:
            return _with_labels
        classes = Classes(list(self.classes), fixed=True)
        reader = LabelReader(classes, words_of(source))
        factors = (
            None if self.class_weight is None else class_factors(list(self.class_weight), classes)
        )

        def encode(block: Block) -> Block:
            try:
                codes = reader.encode(block)
            except DataError as error:
                raise DataError(
                    f"{error} (shard {shard.number}). The classes are those of the first {LOOK_AT:,} rows of all the "
                    "data, unless they are named (classes=[...], --classes) or found in a pass of their own "
                    '(classes="scan")'
                ) from None
            if factors is None:
                return block.with_labels(codes, block.weights)
            weights = factors[codes.astype(int)]
            return block.with_labels(
                codes, weights if block.weights is None else weights * block.weights
            )

        return encode

    def watched(self, shard: Shard, names: bool, data: Any = None) -> Watched:
        return Watched(self, shard, names, data)


class Watched:
    """The rows of a shard as they pass by: how many, and their fingerprint at the end."""

    def __init__(self, plan: Plan, shard: Shard, names: bool, data: Any = None) -> None:
        self._plan, self.shard, self._names, self._data = plan, shard, names, data
        self.rows = 0
        self.weight = 0.0
        self.fingerprint = ""

    def __iter__(self) -> Iterator[Block]:
        seen = _core.Fingerprint()
        if self._data is None:
            self.shard.check()
        try:
            for block in self._plan.read(self.shard, self._names, self._data):
                self.rows += len(block)
                self.weight += float(len(block) if block.weights is None else block.weights.sum())
                seen.add(
                    block.indptr, block.indices, block.values, block.labels, block.weights,
                    block.offsets, 0, len(block),
                )  # fmt: skip
                yield block
        except DataError:
            if self._data is None:
                self.shard.check()  # if the file is another one by now, that is what is wrong
            raise
        if self._data is None:
            self.shard.check()
        self.fingerprint = f"{seen.digest():016x}"


def open_held(data: Any, options: ReadOptions) -> Source:
    """A partition that somebody holds: a frame, a matrix with its labels and weights, or some paths."""
    if isinstance(data, tuple):
        x, y, weights = data
        if not _is_words(y):
            return open_source(x, y, weights)
        words, codes = _of_words(np.asarray(y))
        source = open_source(x, codes, weights)
        source.label_names = words  # type: ignore[attr-defined]
        return source
    from riata.sources.table.frame import is_frame

    if is_frame(data):
        options = replace(options, format="table")
    return open_source(data, options=options)


def _is_words(labels: Any) -> bool:
    array = np.asarray(labels)
    return array.dtype.kind in "UST" or (
        array.dtype.kind == "O" and any(isinstance(label, str) for label in array.flat)
    )


def _of_words(labels: NDArray[Any]) -> tuple[list[Any], NDArray[np.float64]]:
    """The different labels, and which of them each is."""
    try:
        words, codes = np.unique(labels, return_inverse=True)
    except TypeError:
        raise DataError(
            "y has labels of different kinds, or some that are missing: make all of them words or all numbers"
        ) from None
    return words.tolist(), codes.astype(np.float64)


def _with_labels(block: Block) -> Block:
    if block.labels is None:
        raise DataError(f"{block.where(0)}: the examples have no labels")
    return block


def plan_for(
    paths: Sequence[str] | str,
    learner: Learner,
    options: ReadOptions | None = None,
    *,
    count: int | None = None,
    shard_bytes: int | None = None,
    classes: Any = None,
    class_weight: Any = None,
    survey: bool = False,
    run: RunSurvey | None = None,
) -> Plan:
    """Split files, and find out from the first rows of all of them what every shard must know.

    Kinds, scales and buckets of columns come from the first rows of the first file, just as where one machine reads
    them all; so do classes, unless they are given. With `survey`, scales and buckets come from all rows; with
    `classes="scan"` or `class_weight="balanced"`, labels are counted; `text_idf` counts texts. All this takes one pass
    of its own, which `run` makes.
    """
    options = options or ReadOptions()
    if options.cache not in (None, False):
        raise SettingsError("shards are read where they are: leave the cache out")
    if options.bad_lines is not None:
        raise SettingsError("bad_lines is one file, and shards are read apart: leave it out")
    shards = split(paths, options, count=count, shard_bytes=shard_bytes)
    files = list(dict.fromkeys(piece.path for shard in shards for piece in shard.pieces))
    found = format_of(files, options.format)
    options = replace(options, format=found)
    source = open_source(files[:FIRST_FILES], options=options)
    rows = first_rows(source)
    plan = Plan(tuple(shards), resolved(options, source), _head_of(source))
    labels = wants_labels(learner, classes, class_weight)
    plan, counts = surveyed(plan, options, labels, survey, run)
    return with_classes(plan, rows, source, learner, classes, class_weight, counts)


def with_classes(
    plan: Plan,
    rows: Block,
    source: Source,
    learner: Learner,
    classes: Any,
    class_weight: Any,
    counts: Counts | None,
) -> Plan:
    """The plan with its classes."""
    if learner.task == "regression":
        if class_weight is not None:
            raise SettingsError("class_weight goes with classes; this loss is of a regression")
        return plan
    encoder = Encoder(classes, class_weight, words_of(source))
    if encoder.wants_scan:
        if counts is None:
            raise SettingsError(
                'classes="scan" and class_weight="balanced" take a pass over all shards: name the classes '
                "and their weights where each shard is trained on its own"
            )
        counted = counts(plan)
        if len(counted) < 2:
            raise DataError(f"{plan.name}: fewer than two classes among the labels")
        encoder.scan(counted)
    classes = encoder.find_classes(rows, LOOK_AT if learner.takes_more_classes else None)
    if len(classes) < 2 or classes.open_pair:  # the other class may be in any shard
        if counts is None:
            raise DataError(
                f"{plan.name}: there is one class only among the first rows, {in_words(classes.labels[-1:])}: "
                "name all of them (--classes, classes=[...])"
            )
        return with_classes(plan, rows, source, learner, "scan", class_weight, counts)
    weights = encoder.weights_by_label
    return replace(
        plan,
        classes=tuple(map(as_python, classes.labels)),
        class_weight=None if weights is None else tuple(weights),
    )


def survey_shard(plan: Plan, wanted: Wanted, shard: Shard, data: Any = None) -> Survey:
    """What one shard tells of labels, numbers and texts."""
    reading = replace(plan, options=replace(plan.options, schema=wanted.schema))
    return survey_of(reading.sources(shard, True, data), shard, wanted)


def surveyed(
    plan: Plan, options: ReadOptions, labels: bool, numbers: bool, run: RunSurvey | None
) -> tuple[Plan, Counts | None]:
    """The plan with what a pass over all shards tells, where one is needed; and who counts labels.

    Texts are always counted where they are to be weighed, numbers where that is asked for, in the same pass as labels.
    """
    known = options.schema is not None and options.schema.text_weights is not None
    wanted = Wanted.of(plan.options.schema, options, labels, numbers)
    if run is None:
        if wanted.weighs and not known:
            raise SettingsError(
                "to weigh texts by text_idf takes a pass over all shards: survey each first (riata train --shard 1/2 "
                "--survey), or leave it out where each shard is trained on its own"
            )
        if numbers:
            raise SettingsError(
                "a survey takes a pass over all shards: leave it out where each shard is trained on its own"
            )
        return plan, None
    if not wanted.nothing:
        found = run(plan, wanted)
        if plan.options.schema is not None:
            schema = learned(plan.options.schema, found, wanted, options)
            plan = replace(plan, options=replace(plan.options, schema=schema))
        if labels:
            return plan, lambda _: found.labels
    return plan, lambda plan: run(plan, Wanted(plan.options.schema, True)).labels


def wants_labels(learner: Learner, classes: Any, class_weight: Any) -> bool:
    """Whether labels are to be counted."""
    asked = [word for word in (classes, class_weight) if isinstance(word, str)]
    return learner.task != "regression" and bool({"scan", "balanced"} & set(asked))


def first_rows(source: Source) -> Block:
    """As many rows as decide which classes there are, where there are so many."""
    held: list[Block] = []
    with closing(iterate(source)) as blocks:
        for block in blocks:
            held += [block] if len(block) else []
            if sum(map(len, held)) >= LOOK_AT:
                break
    if not held:
        raise NoExamples(f"no examples in {source.name}")
    return concatenate(held)


def resolved(options: ReadOptions, source: Source) -> ReadOptions:
    """How a shard is read: by the schema of the whole, whatever its own first rows look like."""
    kept = {name: getattr(options, name) for name in _KEPT}
    dialect = getattr(source, "dialect", None)
    if dialect is not None and options.format in ("csv", "tsv"):
        _, delimiter, quote, header = dialect
        kept |= {"delimiter": delimiter, "quote": quote or "none", "header": header}
    return ReadOptions(**kept, schema=getattr(source, "schema", None))


def _head_of(source: Source) -> bytes:
    """The line that names the columns, where text has one."""
    dialect = getattr(source, "dialect", None)
    if dialect is None or not dialect[3] or getattr(source, "format", "") == "fastText":
        return b""
    columns, delimiter, quote, _ = dialect
    cells = [
        f"{quote}{c.replace(quote, quote * 2)}{quote}"
        if quote and any(sign in c for sign in (delimiter, quote, "\n"))
        else c
        for c in columns
    ]
    line: str = delimiter.join(cells) + "\n"
    return line.encode()


def check_same_content(before: Sequence[str], now: Sequence[str], plan: Plan) -> None:
    """ChangedData where the rows of a shard are not those of the round before."""
    for shard, old, new in zip(plan.shards, before, now, strict=True):
        if old != new:
            raise ChangedData(
                f"{shard.name} (shard {shard.number}): changed between rounds: its examples had the fingerprint "
                f"{old}, and have {new} now: train on files that stay as they are"
            )
