"""riata compact"""

from __future__ import annotations

import json
import os

import click

from riata import model_file
from riata.atomic import check_folder
from riata.cli.options import Command, option
from riata.cli.text import count, percent, rows, size
from riata.errors import DataError
from riata.record import Model

HELP = """Make one small linear model of MODEL, which `riata train` made with its default method, auto.

\b
  riata compact mail.riata -o small.riata
  riata predict small.riata new.vw

Of all settings that were averaged, one linear model is left, the one that predicted best while MODEL was trained, and
weights that are not worth a part of the log loss are dropped. It predicts, and is evaluated and inspected, as any
other."""


@click.command("compact", cls=Command, help=HELP)
@click.argument("model", metavar="MODEL")
@option("-o", "--output", required=True, metavar="SMALL", help="Where to save the small model.")
@option(
    "--sparse",
    type=click.FloatRange(min=0, max=1),
    default=0.005,
    show_default=True,
    metavar="LOSS",
    help="Drop weights that are not worth this part of the log loss; 0 keeps all.",
)
@option("--json", "as_json", is_flag=True, help="Print what was done as one JSON object.")
def command(model: str, output: str, sparse: float, as_json: bool) -> int:
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
    small = learner.collapse(sparse)  # type: ignore[attr-defined]
    model_file.save(Model(small, loaded.classes, loaded.record), output)
    if as_json:
        done = {
            "model": output,
            "cost": cost,
            "sparse": sparse,
            "weights": small.n_live(),
            "weights_before": before,
            "normalize": small.normalize,
            "feature_scale": small.feature_scale,
            "bytes": os.path.getsize(output),
        }
        click.echo(json.dumps(done))
        return 0
    seen = "rows of length one" if small.normalize == "l2" else "values as they are"
    if small.feature_scale == "rms":
        seen += ", of values divided by their root mean square"
    click.echo(
        rows(
            [
                ("model", f"one linear model, on {seen}"),
                (
                    "cost",
                    f"{cost:+.1%} log loss while MODEL was trained, against its average before calibration;",
                ),
                ("", f"dropping weights: about {percent(sparse)} more, by estimate;"),
                ("", "calibration is left out: compare both with riata evaluate on new data"),
                ("weights", f"{count(small.n_live())} of {count(before)} are left"),
                (
                    "saved",
                    f"{output}, {size(os.path.getsize(output))}; {model} has {size(os.path.getsize(model))}",
                ),
            ]
        )
    )
    return 0
