"""Two models that learned from two parts of the data, as one: learners, classes, schemas, counts of texts, records."""

from __future__ import annotations

from dataclasses import replace
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from riata.errors import SettingsError
from riata.explain.difference import schema_differences
from riata.labels import in_words
from riata.metrics_running import LabelSums, Mean
from riata.record import Model, Record
from riata.schema import Schema
from riata.text_weights import COUNTS, DOCUMENTS, KEYS, TextWeights

MERGED = ("auto", "auto-regression", "bayesian", "bayesian-regression")
"""The families whose models can be merged."""


def merge_models(models: list[Model], names: list[str] | None = None) -> Model:
    """All of them as one; an error says by these names which two do not go together.

    >>> from riata.learners import Bayesian
    >>> from riata.sources import open_source
    >>> from riata.training import train
    >>> parts = [open_source(np.eye(2), y=[0, 1]), open_source(np.eye(2), y=[1, 0])]
    >>> merged = merge_models([train(part, lambda m: Bayesian(outputs=m)) for part in parts])
    >>> merged.learner.t, merged.record.examples
    (4, 4)
    """
    names = names or ["the first", "the second", *map(str, range(3, len(models) + 1))]
    if len(models) < 2:
        raise SettingsError(f"there is one model, {names[0]}, and nothing to merge it with")

    def both(one: tuple[str, Model], two: tuple[str, Model]) -> tuple[str, Model]:
        try:
            return f"{one[0]}, {two[0]}", _merged(one[1], two[1])
        except ValueError as error:
            raise SettingsError(f"{one[0]} and {two[0]}: {error}") from None

    whole = reduce(both, zip(names, models, strict=True))[1]
    whole.record.merged = [part for model in models for part in _parts(model.record)]
    return whole


def _merged(one: Model, two: Model) -> Model:
    for model in (one, two):
        if model.learner.family not in MERGED:
            raise ValueError(
                f"models of {model.learner.family} cannot be merged, those of {', '.join(MERGED)} can: train by shards "
                "(riata train --shard), or train one with --initial the other"
            )
    learners: list[Any] = [one.learner, two.learner]
    if type(learners[0]) is not type(learners[1]):
        raise ValueError(
            f"models of {learners[0].family} and of {learners[1].family} cannot be merged"
        )
    if one.classes is not None and two.classes is not None:
        order = _order(one.labels, two.labels)
        if order != sorted(order):
            if not hasattr(two.learner, "with_classes_in_order"):
                raise ValueError(
                    f"the models know different classes, or the same in another order: {in_words(one.labels)} and "
                    f"{in_words(two.labels)}"
                )
            learners[1] = learners[1].with_classes_in_order(order)
    schema = _schema(one.schema, two.schema)
    learner = learners[0].merge(learners[1])
    return Model(learner, one.classes, _record(one.record, two.record, schema, _codes(one, two)))


def _order(ours: list[Any], theirs: list[Any]) -> list[int]:
    """Where each of our classes stands among theirs."""
    if len(ours) != len(theirs) or set(ours) != set(theirs):
        raise ValueError(
            f"the models know different classes: {in_words(ours)} and {in_words(theirs)}"
        )
    return [theirs.index(label) for label in ours]


def _codes(one: Model, two: Model) -> list[int] | None:
    return None if one.classes is None else _order(one.labels, two.labels)


def _schema(one: Schema | None, two: Schema | None) -> Schema | None:
    """What the features of both are; a ValueError where these are not the same."""
    if one is None or two is None:
        return one or two
    if one.named != two.named:
        ways = ["named" if schema.named else "numbered" for schema in (one, two)]
        raise ValueError(
            f"features of the one are {ways[0]}, those of the other {ways[1]}: train both on data of one kind"
        )
    differences = schema_differences(*(_features_alone(schema) for schema in (one, two)))
    if one.open and two.open:  # rows may have other columns than others
        more = [column for column in two.columns if column.name not in one.by_name]
        differences = [d for d in differences if " is only in the " not in d]
        one = replace(one, columns=(*one.columns, *more), text_weights=one.text_weights)
    if differences:
        raise ValueError(
            "the models read their data in different ways, so that their features are not the same: "
            f"{differences[0]}; read both by one schema (--read-as MODEL, schema=model.model_.schema), or without "
            "scales (--scale none, scale='none')"
        )
    if not one.is_weighed:
        return one
    texts = [schema.text_weights for schema in (one, two)]
    return replace(one, text_weights=_texts(one, [text for text in texts if text is not None]))


def _features_alone(schema: Schema) -> Schema:
    """Without labels, ids, weights, ...: where these come from is no matter of what was learned."""
    features = tuple(column for column in schema.columns if column.is_feature)
    return replace(schema, columns=features, text_weights=None)


def _texts(schema: Schema, parts: list[TextWeights]) -> TextWeights:
    """In how many texts of all parts each n-gram was."""
    arrays = [part.arrays() for part in parts]
    keys: NDArray[np.int64] = np.unique(np.concatenate([each[KEYS] for each in arrays]))
    counts = np.zeros(len(keys), dtype=np.int64)
    for each in arrays:
        counts[np.searchsorted(keys, each[KEYS])] += each[COUNTS]
    documents = np.sum([each[DOCUMENTS] for each in arrays], axis=0)
    most = np.iinfo(np.uint32).max
    whole = {KEYS: keys, COUNTS: np.minimum(counts, most).astype(np.uint32), DOCUMENTS: documents}
    return TextWeights.of(schema, whole)


def _record(one: Record, two: Record, schema: Schema | None, order: list[int] | None) -> Record:
    """How both were made, as one run that has come to its end."""
    return Record(
        data=list(dict.fromkeys([*one.data, *two.data])),
        settings=one.settings,
        examples=one.examples + two.examples,
        passes=one.settings.passes,
        loss=one.loss.plus(two.loss),
        loss_after_first=one.loss_after_first.plus(two.loss_after_first),
        labels=_labels(one.labels, two.labels, order),
        classes_fixed=one.classes_fixed and two.classes_fixed,
        classes_open=one.classes_open and two.classes_open,
        skipped=one.skipped + two.skipped,
        schema=schema,
        earlier=[*one.earlier, *two.earlier],
    )


def _labels(one: LabelSums, two: LabelSums, order: list[int] | None) -> LabelSums:
    if order is not None:
        sums = np.zeros(len(order))
        sums[: len(one.classes)] = one.classes
        theirs = np.zeros(len(order))
        theirs[: len(two.classes)] = two.classes
        return LabelSums((sums + theirs[order]).tolist())
    apart = two.first - one.first  # what the other measures is from its own first label
    n, far = two.distance.weight, two.distance.total
    moved = Mean(one.distance.total + far + n * apart, one.distance.weight + n)
    square = one.square.total + two.square.total + 2 * apart * far + n * apart**2
    return LabelSums([], one.first, moved, Mean(square, one.square.weight + two.square.weight))


def _parts(record: Record) -> list[dict[str, Any]]:
    """What a merged model says of one that it was made of, which may be a merged one itself."""
    return record.merged or [record.summary()]
