"""What one shard tells of labels, numbers and texts, as a file: where each shard is looked at on its own.

`riata train --shard 3/64 --survey` writes one, `riata merge` makes one of all of them, and `riata train --shard 3/64
--surveyed` reads the data by it.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from riata import tensor_file
from riata.errors import ModelError, SettingsError
from riata.labels import as_python
from riata.learners import Learner
from riata.shards.plan import Plan, RunSurvey, plan_for, survey_shard
from riata.shards.summary import (
    SURVEY,
    VERSION,
    Arrays,
    MergeError,
    Summary,
    check_alike,
    check_count,
    header_of,
    ordered_parts,
)
from riata.shards.survey import Survey, Wanted, merged
from riata.sources import ReadOptions
from riata.text_weights import TENSORS


class _Enough(Exception):
    """The survey is made."""


def survey_part(
    paths: Sequence[str], learner: Learner, options: ReadOptions, number: int, count: int
) -> Summary:
    """What shard `number` of `count` tells: labels, numbers and texts, all that a schema can learn."""
    made: list[Summary] = []

    def look(plan: Plan, wanted: Wanted) -> Survey:
        found = survey_shard(plan, wanted, plan.shards[number - 1])
        made.append(_stored(found, plan, wanted, [number]))
        raise _Enough

    classes = None if learner.task == "regression" else "scan"
    try:
        plan_for(paths, learner, options, count=count, classes=classes, survey=True, run=look)
    except _Enough:
        return made[0]
    raise SettingsError(
        "there is nothing to survey: no labels of classes, no numbers to scale or cut, no texts to weigh"
    )


def surveyed_by(path: str | os.PathLike[str]) -> RunSurvey:
    """What a survey of all shards found, for a plan of the same data."""
    stored = Summary.load(path)
    if stored.header["family"] != SURVEY:
        raise SettingsError(
            f"{path}: sums of shards, not a survey (riata train --shard 1/2 --survey)"
        )
    check_count(stored.numbers, stored.header["count"], True)

    def run(plan: Plan, wanted: Wanted) -> Survey:
        head = _header(plan, wanted, stored.numbers)
        try:
            check_alike(stored.header, head)
        except MergeError:
            raise SettingsError(
                f"{path}: a survey of other data, of another number of shards, or read with other options: give it "
                "those that it was made with, or make it again"
            ) from None
        return _survey(stored)

    return run


def merge_surveys(paths: Sequence[str | os.PathLike[str]]) -> Summary:
    """One survey of all shards, from files in any order."""
    _, ordered = ordered_parts(paths)
    parts = [Summary.load(path) for path in ordered]
    head = dict(parts[0].header)
    head["numbers"] = sorted(n for part in parts for n in part.numbers)
    found = merged([_survey(part) for part in parts])
    return _filled(head, found)


def is_survey(path: str | os.PathLike[str]) -> bool:
    """Whether a part is a survey, by its header."""
    head = tensor_file.header_of(path, tensor_file.SUMMARY, VERSION)
    return head.get("family") == SURVEY


def _header(plan: Plan, wanted: Wanted, numbers: Sequence[int]) -> dict[str, Any]:
    about = {
        "labels": True,
        "scaled": list(wanted.scaled),
        "cut": list(wanted.cut),
        "schema": None if wanted.schema is None else wanted.schema.to_json(),
    }
    return header_of(SURVEY, about, plan.digest(), len(plan.shards), 0, "") | {
        "numbers": list(numbers)
    }


def _stored(found: Survey, plan: Plan, wanted: Wanted, numbers: Sequence[int]) -> Summary:
    return _filled(_header(plan, wanted, numbers), found)


def _filled(head: dict[str, Any], found: Survey) -> Summary:
    columns, cut = sorted(found.numbers), sorted(found.samples)
    header = head | {
        "training": {},
        "fingerprints": {str(n): "" for n in head["numbers"]},
        "rows": sum(found.labels.values()),
        "loss": [0.0, 0.0],
        "labels": [[as_python(label), count] for label, count in found.labels.items()],
        "columns": columns,
        "sampled": cut,
    }
    arrays: Arrays = {f"add.numbers.{i}": found.numbers[name] for i, name in enumerate(columns)}
    for i, name in enumerate(cut):
        arrays[f"add.hashes.{i}"], arrays[f"add.sample.{i}"] = found.samples[name]
    return Summary(header, arrays | {f"add.{name}": array for name, array in found.texts.items()})


def _survey(part: Summary) -> Survey:
    head, arrays = part.header, part.arrays
    try:
        return Survey(
            {label: int(count) for label, count in head["labels"]},
            {name: arrays[f"add.numbers.{i}"] for i, name in enumerate(head["columns"])},
            {
                name: (arrays[f"add.hashes.{i}"], arrays[f"add.sample.{i}"])
                for i, name in enumerate(head["sampled"])
            },
            {name: arrays[f"add.{name}"] for name in TENSORS if f"add.{name}" in arrays},
        )
    except (KeyError, TypeError, ValueError) as error:
        raise ModelError(f"the survey of shard {part.numbers[0]} is damaged: {error}") from None
