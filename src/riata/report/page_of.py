"""The page: its parts put together, with the scripts and the packed model."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any

from riata import __version__, _core
from riata.labels import as_text
from riata.record import Model
from riata.report import sections
from riata.report.html import data, section, shown
from riata.report.logs import Log
from riata.report.measure import Measured
from riata.report.model_data import packed_model
from riata.report.scorer import BUDGET, LONGEST_NAME, Packed
from riata.schema import Schema
from riata.sweeping import Sweep

_SCRIPTS = ("unpack.js", "words.js", "rows.js", "score.js", "form.js", "table.js", "page.js")


@dataclass
class Page:
    """A whole HTML page, and what somebody should know about it."""

    html: str
    notes: list[str] = field(default_factory=list)


def page_of(
    model: Model | None = None,
    *,
    log: Log | None = None,
    sweep: Sweep | None = None,
    measured: Measured | None = None,
    name: str = "",
    budget: int = BUDGET,
    live: str = "",
) -> Page:
    """The report on a model, a log, a sweep, or several of them; `measured` is how the model did on data.

    live: a script for pages that are served while the training goes on.
    """
    notes: list[str] = []
    parts: list[str] = []
    scripts = ""
    if model is not None:
        packed = packed_model(model, budget)
        notes = packed.notes
        parts.append(sections.overview(model))
        parts.append(section("try", "Try it", _form(model, packed), "interactive"))
        scripts = _scripts(model, packed)
    if sweep is not None:
        parts.append(section("sweep", "Sweep", sections.swept(sweep)))
    parts.append(section("training", "Training", sections.training(model, log)))
    if model is not None:
        if measured is not None:
            parts.append(section("quality", "Quality", sections.quality(model, measured)))
            parts.append(section("wrong", "Most wrong", sections.most_wrong(model, measured)))
        parts.append(section("weights", "Weights", sections.strongest(model)))
        table = '<div id="features"></div>'
        parts.append(section("all", "All features", _all_features(model) + table, "interactive"))
        parts.append(section("settings", "Settings and data", sections.settings(model)))
    title = name or "report"
    return Page(_whole(title, parts, scripts, live), notes)


def _form(model: Model, packed: Packed) -> str:
    if packed.about["lookup"] == "none":
        return (
            "<p>This model knows its features only by keys that a secret key was used for, and that is not put into a "
            "page: score with riata predict.</p>"
        )
    if not packed.about["texts_known"]:
        return (
            "<p>This model weighs texts by how many texts had a word, and these counts are not in this page: score "
            "with riata predict.</p>"
        )
    notes = "".join(f'<p class="note warning">{shown(note, 1000)}</p>' for note in packed.notes)
    offset = (
        '<p class="note warning">The model was trained with offsets; the form scores with an offset of 0.</p>'
        if model.schema is not None and model.schema.of_role("offset") is not None
        else ""
    )
    return (
        "<p>What is typed here is scored in this page and goes nowhere. An empty field is a missing value.</p>"
        f'{notes}{offset}<p id="status" role="status">The model is being unpacked…</p>'
        '<form id="form" autocomplete="off"></form><div id="result" aria-live="polite"></div>'
        "<noscript><p>Scoring needs JavaScript.</p></noscript>"
    )


def _all_features(model: Model) -> str:
    notes = []
    if model.learner.family in ("auto", "bayesian"):
        notes.append(
            "Predictions average several models. The weights here are those of one linear model that stands for them."
        )
    schema = model.schema or Schema()
    if any(c.is_changed and c.kind == "number" for c in schema.features):
        notes.append(
            "Weights of columns that were scaled are for numbers as they stand in the data."
        )
    return "".join(f'<p class="note">{note}</p>' for note in notes)


def page_schema(model: Model) -> dict[str, Any]:
    """The schema as the scripts want it."""
    schema = model.schema or Schema(named=False)
    documents = {} if schema.text_weights is None else schema.text_weights.documents
    columns = [
        {
            "name": name,
            "role": "category" if kind == "list" else "free" if kind == "dict" else kind,
            "feature": column.is_feature,
            "absent": absent,
            "edges": edges,
            "buckets": buckets,
            "centre": centre,
            "scale": scale,
            "text": {
                "spans": text[0],
                "weight": text[1],
                "norm": text[2],
                "documents": documents.get(name),
                "divides": column.text.norm,
            },
        }
        for column, (kind, name, absent, _, edges, buckets, centre, scale, text) in zip(
            schema.columns, schema.core_columns(objects=True), strict=True
        )
        if len(name) <= LONGEST_NAME
    ]
    return {
        "named": schema.named,
        "open": schema.open,
        "missing": schema.missing == "feature",
        "absent": list(schema.absent),
        "crosses": [list(cross) for cross in schema.crosses],
        "columns": columns,
    }


def _scripts(model: Model, packed: Packed) -> str:
    kinds, folds = _core.character_ranges()
    schema = model.schema or Schema()
    mixture = packed.about["kind"] != "linear"
    rest = "averaging of models, and calibration" if mixture else "what was cut off"
    if packed.about["probability"] == "shared":
        rest = f"the other classes, {rest}"
    content = {
        "model": packed.about,
        "schema": page_schema(model),
        "task": model.learner.task,
        "classes": _two(model),
        "label": schema.of_role("label") or "prediction",
        "rest": rest,
        "kinds": kinds.ravel().tolist(),
        "folds": folds.ravel().tolist(),
    }
    code = "\n".join(_file(name) for name in _SCRIPTS)
    return (
        f'<script type="application/json" id="model-data">{data(content)}</script>'
        f'<script type="text/plain" id="model-parts">{packed.text}</script>'
        f'<script>(() => {{\n"use strict";\n{code}}})();</script>'
    )


def _two(model: Model) -> list[str]:
    """The classes; where only one was ever seen there is still another."""
    classes = [as_text(label) for label in model.labels]
    if model.learner.task == "classification":
        while len(classes) < 2:
            classes.append("another class")
    return classes


@cache
def _file(name: str) -> str:
    return files("riata.report").joinpath("page", name).read_text("utf-8")


def _whole(title: str, parts: list[str], scripts: str, live: str) -> str:
    body = "".join(parts)
    links = "".join(
        f'<li><a href="#{name}">{label}</a></li>'
        for name, label in (
            ("try", "Try it"), ("sweep", "Sweep"), ("training", "Training"), ("quality", "Quality"),
            ("wrong", "Most wrong"), ("weights", "Weights"), ("all", "All features"),
            ("settings", "Settings and data"),
        )
        if f'<section id="{name}"' in body
    )  # fmt: skip
    policy = (
        "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:"
    )
    policy += "; connect-src 'self'" if live else ""
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{shown(title)}</title>'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<meta name="generator" content="riata {__version__}"><link rel="icon" href="data:,">'
        f"<style>{_file('page.css')}</style></head>\n"
        f'<body><header><h1>{shown(title)}</h1><nav aria-label="Parts of this page"><ul>{links}</ul></nav></header>'
        f"<main>{body}</main>"
        f'<footer><p class="soft">Made by Riata {__version__}.</p></footer>{scripts}{live}</body></html>\n'
    )
