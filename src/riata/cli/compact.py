"""riata compact"""

from __future__ import annotations

import json
import os
from typing import Any

import click

from riata import model_file
from riata.atomic import check_folder
from riata.cli.data import Number, data_options, open_data, read_options
from riata.cli.options import Command, option
from riata.cli.text import count, number, percent, rows, size
from riata.errors import DataError
from riata.record import Model
from riata.training import evaluate

HELP = """Make one small linear model of MODEL, which `riata train` made with its default method, auto.

\b
  riata compact mail.riata -o small.riata --data new.vw
  riata predict small.riata new.vw

Of all settings that were averaged, one linear model is left, the one that predicted best while MODEL was trained, and
weights that are not worth a part of the log loss are dropped. It predicts, and is evaluated and inspected, as any
other. With --data both models are measured there: do so on examples that MODEL has not learned."""


@click.command("compact", cls=Command, help=HELP)
@click.argument("model", metavar="MODEL")
@option("-o", "--output", required=True, metavar="SMALL", help="Where to save the small model.")
@option(
    "--sparse",
    type=Number(min=0, max=1),
    default=0.005,
    show_default=True,
    metavar="LOSS",
    help="Drop weights that are not worth this part of the log loss; 0 keeps all.",
)
@option(
    "--data",
    "data",
    multiple=True,
    metavar="FILE",
    help="Measure both models on these labelled examples; may be repeated.",
)
@option("--json", "as_json", is_flag=True, help="Print what was done as one JSON object.")
@data_options
def command(
    model: str, output: str, sparse: float, data: tuple[str, ...], as_json: bool, **given: Any
) -> int:
    check_folder(output)
    if os.path.exists(output) and os.path.samefile(model, output):
        raise click.UsageError(
            f"{output}: the model to read and the one to write are the same file"
        )
    loaded = model_file.load(model)
    learner = loaded.learner
    if learner.family != "auto":
        raise DataError(
            f"{model}: a model of --method {learner.family} is one already; compact takes those of auto"
        )
    cost, before = learner.cost_of_collapse, learner.n_live()  # type: ignore[attr-defined]
    made = loaded.collapsed(sparse)
    measured = [_loss_on(each, data, given) for each in (loaded, made)] if data else None
    model_file.save(made, output, small=True)
    small: Any = made.learner
    done = {
        "model": output,
        "cost": cost,
        "sparse": sparse,
        "weights": small.n_live(),
        "weights_before": before,
        "normalize": small.normalize,
        "feature_scale": small.feature_scale,
        "bytes": os.path.getsize(output),
        "loss_on_data": measured,
    }
    click.echo(json.dumps(done) if as_json else _text(done, model))
    return 0


def _loss_on(model: Model, data: tuple[str, ...], given: dict[str, Any]) -> float:
    options = read_options(given, schema=model.schema, names=model.learner.scores_by_name)
    source = open_data(data, options)
    result = evaluate(model, source)
    if result["examples"] == 0:
        raise DataError(f"{source.name}: no examples")
    return float(result.get("log_loss", result["loss"]))


def _text(done: dict[str, Any], model: str) -> str:
    seen = "rows of length one" if done["normalize"] == "l2" else "values as they are"
    if done["feature_scale"] == "rms":
        seen += ", of values divided by their root mean square"
    lines = [("model", f"one linear model, on {seen}")]
    if done["loss_on_data"] is None:
        lines += [
            (
                "cost",
                f"{done['cost']:+.1%} log loss while MODEL was trained, each example predicted",
            ),
            ("", f"before it was learned; dropping weights: about {percent(done['sparse'])} more,"),
            ("", "by estimate. On new data it may cost more: give some by --data"),
        ]
    else:
        before, after = done["loss_on_data"]
        more = f"{after / before - 1:+.1%}" if before > 0 else "more"
        lines.append(
            ("cost", f"{more} log loss on the data given: {number(after)}, MODEL {number(before)}")
        )
    sizes = f"{size(done['bytes'])}; {model} has {size(os.path.getsize(model))}"
    left = f"{count(done['weights'])} of {count(done['weights_before'])} are left"
    return rows([*lines, ("weights", left), ("saved", f"{done['model']}, {sizes}")])
