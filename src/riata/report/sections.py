"""The parts of a report that are HTML without a script: facts, training, quality, weights, settings."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from riata.labels import as_text
from riata.metrics_running import sparsity
from riata.record import Model
from riata.report.html import facts, shown, table
from riata.report.logs import Log
from riata.report.measure import Measured
from riata.report.svg import Series, interval_chart, line_chart
from riata.schema import Schema, describe
from riata.show import first_apart
from riata.sweeping import Sweep


def number(value: Any, digits: int = 5) -> str:
    """
    >>> number(0.123456789), number(None), number(1234567.0)
    ('0.12346', '', '1,234,567')
    """
    if value is None:
        return ""
    return f"{value:,.0f}" if abs(value) >= 1e5 else f"{value:.{digits}g}"


def overview(model: Model) -> str:
    """The most important numbers."""
    learner, record = model.learner, model.record
    live = learner.n_live()
    outputs = learner.outputs
    total = learner.n_features * outputs
    classes = [shown(as_text(label), 40) for label in model.labels]
    of = f"of {total:,}" + (
        f" ({learner.n_features:,} features x {outputs} classes)" if outputs > 1 else ""
    )
    holdout = record.holdout or {}
    apart = first_apart(record.progressive_loss, record.loss_after_first.value)
    return facts(
        [
            ("method", learner.family, learner.task),
            ("classes", ", ".join(classes[:6]) if len(classes) <= 6 else f"{len(classes)}", ""),
            (
                "examples learned",
                f"{learner.t:,}",
                f"in {record.passes} {'pass' if record.passes == 1 else 'passes'}",
            ),
            (
                "progressive loss",
                number(record.progressive_loss),
                "; ".join(
                    [model.loss_in_words, "each example predicted before it was learned", *apart]
                ),
            ),
            (
                "holdout loss",
                number(holdout.get("loss")),
                f"{holdout.get('examples', 0):,} examples never learned",
            ),
            (
                "weights not zero",
                f"{live:,}",
                f"{of}, {sparsity(live, total):.2%} zero" if total else "",
            ),
        ]
    )


def training(model: Model | None, log: Log | None) -> str:
    """Loss and sparsity over examples, from a log or the passes of the record."""
    if log is not None and log.moments:
        return _from_log(log)
    history = [] if model is None else model.record.history
    if len(history) < 2:
        return ""
    examples = [float(entry["examples"]) for entry in history]
    charts = [
        line_chart(
            "Loss by pass",
            [
                Series("progressive", examples, [e.get("loss") for e in history], marks=True),
                *_if_any(
                    Series(
                        "holdout", examples, [e.get("holdout_loss") for e in history], marks=True
                    )
                ),
            ],
            "examples learned",
            "loss",
        ),
        line_chart(
            "Weights that are not zero, by pass",
            [Series("weights", examples, [e.get("live") for e in history], marks=True)],
            "examples learned",
            "weights",
        ),
    ]
    return f'<div class="columns">{"".join(charts)}</div>'


def _if_any(series: Series) -> list[Series]:
    return [series] if series.points() else []


def _from_log(log: Log) -> str:
    x = log.examples
    charts = [
        line_chart(
            "Loss while learning",
            [
                Series("since the start", x, log.column("loss")),
                *_if_any(
                    Series("since the point before", x, log.column("loss_since_last"), marks=True)
                ),
                *_if_any(Series("holdout", x, log.column("holdout_loss"), marks=True)),
            ],
            "examples learned (logarithmic)",
            "loss",
            log_x=True,
        ),
        line_chart(
            "Weights that are not zero",
            [Series("weights", x, log.column("live_weights"))],
            "examples learned (logarithmic)",
            "weights",
            log_x=True,
        ),
    ]
    note = (
        f'<p class="note">{log.broken} lines of the log are not whole and left out.</p>'
        if log.broken
        else ""
    )
    ended = (
        ""
        if log.record is not None
        else '<p class="note">The log ends before the model was saved.</p>'
    )
    return f'<div class="columns">{"".join(charts)}</div>{note}{ended}'


def swept(sweep: Sweep) -> str:
    """The settings of a sweep: loss against non-zero weights, and a table, the best first."""
    records = [r for r in sweep.records if r["loss"] is not None]
    methods = sorted({r["method"] for r in records})
    series = [
        Series(
            method,
            [float(r["non_zeros"]) for r in records if r["method"] == method],
            [r["loss"] for r in records if r["method"] == method],
            marks=True,
            line=False,
        )
        for method in methods[:4]
    ]
    metric = sweep.metric.replace("_", " ")
    chart = line_chart("Loss against non-zero weights", series, "weights that are not zero", metric)
    rows = [
        [
            r["method"],
            ", ".join(f"{k}={_shown(v)}" for k, v in r["parameters"].items()),
            number(r["loss"]),
            number(r["se"], 2),
            f"{r['non_zeros']:,}",
            r["status"] or ("chosen" if k == sweep.best_index_ else ""),
        ]
        for k, r in ((k, sweep.records[k]) for k in sweep.ranking[:500])
    ]
    heads = ["method", "parameters", metric, "standard error", "non-zero", ""]
    how = f"{sweep.folds} folds" if sweep.folds else "each example predicted before it was learned"
    said = f"<p>{sweep.examples:,} examples of {shown(', '.join(sweep.data))}, compared by {shown(metric)}: {how}.</p>"
    return said + chart + table("Settings, the best first", heads, rows, (2, 3, 4))


def quality(model: Model, measured: Measured) -> str:
    """Metrics and curves on data."""
    result = measured.result
    classes = [as_text(label) for label in model.labels]
    parts = [
        f"<p>{result['examples']:,} examples of {shown(measured.name)}</p>",
        facts(
            [
                ("log loss", number(result.get("log_loss")), _base(result)),
                (
                    "loss",
                    "" if result.get("log_loss") is not None else number(result.get("loss")),
                    "",
                ),
                ("accuracy", _percent(result.get("accuracy")), ""),
                (
                    "AUC",
                    number(result.get("auc")),
                    " against ".join(reversed(classes)) if result.get("auc") else "",
                ),
                (
                    "calibration error",
                    number(result.get("calibration_error"), 3),
                    "mean distance of predicted and observed",
                ),
                ("RMSE", number(result.get("rmse")), ""),
                ("MAE", number(result.get("mae")), ""),
                ("R2", number(result.get("r2")), ""),
            ]
        ),
        f'<div class="columns">{"".join(_curves(measured, classes))}</div>',
    ]
    if measured.confusion is not None:
        rows = [
            [
                as_text(label),
                *(f"{n:,.6g}" for n in row),
                _percent(row[k] / row.sum() if row.sum() else None),
            ]
            for k, (label, row) in enumerate(zip(classes, measured.confusion, strict=False))
        ]
        heads = ["true class", *(f"predicted {label}" for label in classes), "recall"]
        parts.append(
            table("Examples by true and predicted class", heads, rows, range(1, len(heads)))
        )
    return "".join(parts)


def _base(result: dict[str, Any]) -> str:
    base = result.get("base_log_loss")
    return "" if base is None else f"{base:.5g} for always predicting the shares of the classes"


def _percent(share: float | None) -> str:
    return "" if share is None else f"{share:.2%}"


def _curves(measured: Measured, classes: Sequence[str]) -> list[str]:
    charts = []
    ends = (0.0, 1.0)
    if measured.roc is not None:
        charts.append(
            line_chart("ROC curve", [Series("model", *_lists(measured.roc))], "false positive rate",
                       "true positive rate", x_ends=ends, y_ends=ends, diagonal=True)
        )  # fmt: skip
    if measured.precision_recall is not None:
        charts.append(
            line_chart("Precision and recall", [Series("model", *_lists(measured.precision_recall))], "recall",
                       "precision", x_ends=ends, y_ends=ends)
        )  # fmt: skip
    bins = measured.result.get("calibration")
    if bins:
        series = Series(
            "model", [b["predicted"] for b in bins], [b["observed"] for b in bins], marks=True
        )
        charts.append(
            line_chart(f"Reliability: the probability of {classes[-1]}", [series], "predicted", "observed",
                       x_ends=ends, y_ends=ends, diagonal=True)
        )  # fmt: skip
    return charts


def _lists(curve: tuple[Any, Any]) -> tuple[list[float], list[float]]:
    return curve[0].tolist(), curve[1].tolist()


def most_wrong(model: Model, measured: Measured) -> str:
    """The examples that went most wrong, each with what its score is made of."""
    parts = []
    for wrong in measured.wrong:
        if model.classes is None:
            said = f"label {wrong.label:.6g}, predicted {wrong.scores[0]:.6g}"
            of = "the prediction"
        else:
            truth = as_text(model.labels[int(wrong.label)])
            chance = (
                ""
                if wrong.probabilities is None
                else f", given {wrong.probabilities[int(wrong.label)]:.4g}"
            )
            best = 0 if len(wrong.scores) == 1 else int(np.argmax(wrong.scores))
            of = as_text(model.labels[-1 if len(wrong.scores) == 1 else best])
            said = f"label {truth}{chance}"
        rows = [
            (name, "" if math.isnan(value) else f"{value:.5g}", f"{adds:+.5g}")
            for name, value, adds in wrong.terms[:12]
            if adds
        ]
        content = table(
            f"What adds most to the score of {of}", ["feature", "value", "adds"], rows, (1, 2)
        )
        parts.append(
            f"<details><summary>{shown(wrong.where)}: {shown(said)}, loss {wrong.loss:.4g}</summary>{content}</details>"
        )
    return "".join(parts)


def strongest(model: Model, top: int = 20) -> str:
    """The largest weights, with twice their standard deviation where there is one: for paper, too."""
    learner = model.learner
    keys, weights = learner.coef()
    size = np.abs(weights).max(axis=1, initial=0.0)
    order = np.lexsort((keys, -size))[:top]
    names = learner.names(keys[order])
    base = 0 if model.schema is None else model.schema.base or 0
    called = [str(key + base) for key in keys[order].tolist()] if names is None else names
    std = getattr(learner, "coef_std", None)
    around = np.zeros_like(weights) if std is None else 2 * std()
    if learner.outputs == 1:
        rows = [
            (
                name,
                float(weights[i, 0]),
                float(weights[i, 0] - around[i, 0]),
                float(weights[i, 0] + around[i, 0]),
            )
            for name, i in zip(called, order.tolist(), strict=True)
        ]
        title = "The largest weights" + (
            "" if std is None else ", with two standard deviations to each side"
        )
        scaled = any(
            c.is_changed and c.kind == "number" for c in (model.schema or Schema()).features
        )
        axis = "weight, of numbers in standard deviations" if scaled else "weight"
        return interval_chart(title, rows, axis)
    heads = ["feature", *(as_text(label) for label in model.labels[:8])]
    body = [
        [name, *(f"{w:.5g}" for w in weights[i, :8])]
        for name, i in zip(called, order.tolist(), strict=True)
    ]
    return table("The largest weights, by class", heads, body, range(1, len(heads)))


def settings(model: Model) -> str:
    """Parameters, schema, data and its fingerprint."""
    learner, record = model.learner, model.record
    rows = [(name, _shown(value)) for name, value in learner.parameters().items()]
    run = record.settings
    rows += [
        ("passes", str(run.passes)),
        ("shuffle", str(run.shuffle)),
        ("seed", str(run.random_state)),
        ("holdout", str(run.holdout)),
    ]
    parts = [table("Parameters", ["name", "value"], rows)]
    schema = model.schema
    if schema is not None and schema.columns:
        columns = [
            (c.name, c.role, describe(c) if c.is_feature else "") for c in schema.columns[:500]
        ]
        parts.append(table("Columns", ["column", "role", "what becomes of it"], columns))
    if schema is not None and schema.crosses:
        parts.append(
            f"<p>Crosses: {shown(', '.join(' x '.join(cross) for cross in schema.crosses), 1000)}</p>"
        )
    seen = record.seen
    data = [
        ("data", ", ".join(record.data)),
        ("examples of a pass", "" if seen.rows is None else f"{seen.rows:,}"),
    ]
    if seen.marks:
        count, mark = seen.marks[-1]
        data.append((f"fingerprint of {int(count):,} examples", str(mark)))
    for k, earlier in enumerate(record.earlier, start=1):
        data.append(
            (
                f"run {k} before",
                f"{earlier.get('examples', 0):,} examples of {', '.join(earlier.get('data', []))}",
            )
        )
    parts.append(table("Data", ["what", "value"], data))
    return "".join(parts)


def _shown(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
