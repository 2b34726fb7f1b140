"""riata verify"""

from __future__ import annotations

import json
from contextlib import closing
from typing import Any

import click

from riata import model_file
from riata.batches import iterate
from riata.cli.data import data_options, open_data, read_options
from riata.cli.options import Command, option
from riata.cli.text import plural, rows
from riata.errors import DataError, ModelError
from riata.learners.sketch import Sketch
from riata.learners.sketch_verify import certificates
from riata.record import Model
from riata.sources import Source
from riata.training import evaluate
from riata.training.encoder import encode_for

HELP = """Check that MODEL is whole: its checksum, and that all its parts are possible and fit together.

With labelled DATA, for a model of --method sketch, prove anew how far its weights are from the optimum. The status
is 0 if all is well, and 1 if not. A checksum tells damage, not who made a file: for that, sign it.

\b
  riata verify clicks.riata
  riata verify clicks.riata train.svm"""


@click.command("verify", cls=Command, help=HELP)
@click.argument("model", metavar="MODEL")
@click.argument("data", nargs=-1, metavar="[DATA...]")
@option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@data_options
def command(model: str, data: tuple[str, ...], as_json: bool, **given: Any) -> int:
    loaded = model_file.load(model)  # checks everything, or says what is wrong
    learner = loaded.learner
    result: dict[str, Any] = {
        "family": learner.family,
        "examples": learner.t,
        "tensors": len(learner.state()),
        "live_weights": learner.n_live(),
    }
    good = True
    if data:
        options = read_options(given, schema=loaded.schema, names=learner.scores_by_name)
        source = open_data(data, options)
        if isinstance(learner, Sketch) and learner.algorithm != "online":
            result["outputs"] = _prove(loaded, learner, source)
            good = all(entry["proved"] for entry in result["outputs"])
        else:
            found = evaluate(loaded, source)
            if found["examples"] == 0:
                raise DataError(f"{source.name}: no examples")
            result["loss"] = found["loss"]
    click.echo(json.dumps(result | {"good": good}) if as_json else _report(result, learner))
    return 0 if good else 1


def _prove(model: Model, learner: Sketch, source: Source) -> list[dict[str, Any]]:
    encode = encode_for(model, source, model.record.settings.class_weight)
    try:
        with closing(iterate(source)) as blocks:
            found = certificates(learner, (encode(block) for block in blocks))
    except ValueError as error:
        raise ModelError(str(error)) from error
    return [
        {
            "objective": c.objective,
            "gap": c.gap,
            "violation": c.violation,
            "proved": c.gap <= learner.tol * c.objective,
        }
        for c in found
    ]


def _report(result: dict[str, Any], learner: Any) -> str:
    lines = [
        ("file", "whole: the checksum is right, and all parts fit together"),
        ("model", f"{result['family']}, {plural(result['examples'], 'example')} learned, "
                  f"{plural(result['live_weights'], 'weight')} not zero, {plural(result['tensors'], 'tensor')}"),
    ]  # fmt: skip
    if "loss" in result:
        lines.append(
            ("loss", f"{result['loss']:.6g} on this data; only --method sketch proves more")
        )
    for c, entry in enumerate(result.get("outputs", [])):
        name = "proof" if len(result["outputs"]) == 1 else f"proof, class {c}"
        share = entry["gap"] / entry["objective"] if entry["objective"] else 0.0
        verdict = "within" if entry["proved"] else "NOT within"
        lines.append(
            (name, f"objective {entry['objective']:.9g}, at most {share:.2g} of it above the optimum: "
                   f"{verdict} the tolerance of {learner.tol:g}")
        )  # fmt: skip
    return rows(lines)
