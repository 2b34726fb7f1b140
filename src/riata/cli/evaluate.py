"""riata evaluate"""

from __future__ import annotations

import json
from typing import Any

import click

from riata.cli.data import data_options, load_model, open_data, read_options, skipped_lines
from riata.cli.options import Command, option
from riata.cli.text import loss_name, number, percent, plural, rows, weights_line, worse_line
from riata.errors import DataError
from riata.labels import as_text
from riata.record import Model
from riata.training import evaluate

HELP = """Measure MODEL on labelled DATA: files, or - for standard input.

\b
  riata evaluate clicks.riata test.svm
  riata evaluate clicks.riata test.svm --json"""


@click.command("evaluate", cls=Command, help=HELP)
@click.argument("model", metavar="MODEL")
@click.argument("data", nargs=-1, required=True, metavar="DATA...")
@option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@data_options
def command(model: str, data: tuple[str, ...], as_json: bool, **given: Any) -> int:
    loaded = load_model(model, data)
    learner = loaded.learner
    options = read_options(given, schema=loaded.schema, names=learner.scores_by_name)
    source = open_data(data, options)
    result = evaluate(loaded, source)
    if result["examples"] == 0:
        raise DataError(f"{source.name}: no examples")
    if as_json:
        live: dict[str, Any] = {
            "live_weights": loaded.learner.n_live(),
            "features": loaded.learner.n_features,
        }
        live["skipped"] = getattr(source, "skipped", 0)
        if loaded.classes is not None:
            live["classes"] = loaded.labels
        click.echo(json.dumps(result | live))
    else:
        click.echo(report(loaded, result, source.name))
    skipped = skipped_lines(source, options)
    if skipped is not None:
        click.echo(f"riata: not measured: {skipped}", err=True)
    return 0


def report(model: Model, result: dict[str, Any], name: str) -> str:
    """The result for people."""
    lines = [
        ("data", f"{plural(result['examples'], 'example')} of {name}"),
        ("loss", f"{number(result['loss'])} {loss_name(model)}"),
    ]
    if "log_loss" in result:
        base = f"(always predicting the shares of the classes: {number(result['base_log_loss'])})"
        lines.append(("log loss", f"{number(result['log_loss'])} {base}"))
    if "accuracy" in result:
        lines.append(("accuracy", percent(result["accuracy"], 2)))
    if result.get("auc") is not None:
        auc = f"{number(result['auc'])} within {result['auc_error']:.0e}"
        against = " against ".join(as_text(label) for label in reversed(model.labels))
        lines.append(("AUC", f"{auc}, {against}"))
    if "rmse" in result:
        lines += [("RMSE", f"{result['rmse']:.6g}"), ("MAE", f"{result['mae']:.6g}")]
        lines.append(("R2", number(result["r2"])))
    worse = worse_line(result)
    lines += [] if worse is None else [("", worse)]
    lines.append(("weights", weights_line(model)))
    text = rows(lines)
    if result.get("calibration"):
        text += "\n\n" + calibration(result, as_text(model.labels[-1]))
    return text


def calibration(result: dict[str, Any], label: str) -> str:
    """The probability of a label, predicted against observed, bin by bin."""
    head = f"{'predicted':>14}{'mean':>10}{'observed':>10}{'share':>9}"
    total = sum(b["weight"] for b in result["calibration"])
    lines = [
        f"{b['from']:>7.1f} - {b['to']:.1f} {b['predicted']:>9.4f}{b['observed']:>10.4f}"
        f"{percent(b['weight'] / total):>9}"
        for b in result["calibration"]
    ]
    error = f"off by {number(result['calibration_error'], 4)} on average"
    return "\n".join([f"calibration: the probability of {label}", head, *lines, error])
