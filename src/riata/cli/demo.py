"""riata demo"""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

import click
import numpy as np
from numpy.typing import NDArray

from riata import model_file
from riata.atomic import atomic_write
from riata.cli import INTERRUPTED
from riata.cli.clicks import CATEGORIES, FEATURES, Clicks, category_and_value, svmlight
from riata.cli.data import open_data
from riata.cli.options import DEFAULT_METHOD, Command, count_option, option, progress_option
from riata.cli.progress import Displays
from riata.cli.text import command_line, count, interrupted, percent, size
from riata.cli.train import Job, learn
from riata.metrics import auc, log_loss
from riata.record import Model
from riata.sources import ReadOptions

HELP = """See it work: make a click stream on disk, learn from it, look at the result.

The events come from a model that is known, so that what was learned can be held against the truth:
22 categories of 2, 4, ... 4,194,304 values, each event with one value of each, a few of them common
and most of them rare."""

STRONGEST = 10


@click.command("demo", cls=Command, help=HELP)
@count_option(
    "--events",
    1000,
    "N",
    "Events to learn from; a tenth as many to test with.  [default: 300,000]",
    300_000,
    "Options",
)
@option(
    "--output",
    default="riata-demo",
    show_default=True,
    metavar="DIR",
    help="Where the files go.",
)
@count_option("--seed", 0, "N", "Another stream.", 20, "Options")
@progress_option("How progress is shown, as for riata train.", "Options")
def command(events: int, output: str, seed: int, progress_kind: str) -> int:
    directory = Path(output)
    directory.mkdir(parents=True, exist_ok=True)
    click.echo("Riata learns sparse linear models from streams. Here is one, from end to end.\n")

    heading("1. A stream of clicks")
    stream = write_stream(directory, events, seed)
    click.echo(describe(stream))

    heading("2. Learn it, in one pass over the file")
    job = Job(
        data=[str(stream.train)],
        output=str(directory / "clicks.riata"),
        method=DEFAULT_METHOD,
        parameters={},
        reading=ReadOptions(),
        options={"holdout": str(stream.test)},
    )
    click.echo(f"   $ {command_line(train_words(job)[:5])} \\")
    click.echo(f"       {command_line(train_words(job)[5:])}\n")
    started = time.perf_counter()
    with Displays.of(progress_kind) as displays:
        model = learn(job, open_data(job.data, job.reading), displays)
    seconds = time.perf_counter() - started
    model_file.save(model, job.output)
    if model.record.interrupted:
        click.echo(interrupted(model, job.output, job.command_to_resume(job.output)))
        return INTERRUPTED
    speed, rate = count(events / seconds), size(stream.train.stat().st_size / seconds)
    click.echo(f"\n   {count(events)} events in {seconds:.1f} s: {speed} or {rate} a second.\n")

    heading(f"3. How good is it? On {count(stream.tests)} events that it never learned:")
    click.echo(quality(model, stream))

    heading("4. What did it find out?")
    click.echo(survivors(model, stream))

    heading("5. Your turn")
    click.echo(what_next(job, stream))
    return 0


def heading(text: str) -> None:
    click.echo(click.style(text, bold=True))


@dataclass
class Stream:
    """What was written to disk, and what is known about it."""

    train: Path
    test: Path
    events: int
    tests: int
    clicks: int
    seen: NDArray[np.int64]
    """How often each feature is in an event to learn from."""
    weights: NDArray[np.float64]
    test_clicked: NDArray[np.bool_]
    test_chance: NDArray[np.float64]


def write_stream(directory: Path, events: int, seed: int) -> Stream:
    """Draw the events and write them down, some at a time."""
    source = Clicks(seed)
    seen = np.zeros(FEATURES, dtype=np.int64)
    train, test, tests = directory / "train.svm", directory / "test.svm", events // 10
    clicks = 0
    with atomic_write(train) as file:
        for n in source.pieces(events):
            rows, clicked, _ = source.draw(n)
            file.write(svmlight(rows, clicked))
            seen += np.bincount(rows.ravel(), minlength=FEATURES)
            clicks += int(clicked.sum())
    outcomes, chances = [], []
    with atomic_write(test) as file:
        for n in source.pieces(tests):
            rows, clicked, chance = source.draw(n)
            file.write(svmlight(rows, clicked))
            outcomes.append(clicked)
            chances.append(chance)
    return Stream(
        train=train,
        test=test,
        events=events,
        tests=tests,
        clicks=clicks,
        seen=seen,
        weights=source.weights,
        test_clicked=np.concatenate(outcomes),
        test_chance=np.concatenate(chances),
    )


def describe(stream: Stream) -> str:
    width = max(len(str(stream.train)), len(str(stream.test)))
    share, disk = percent(stream.clicks / stream.events), size(stream.train.stat().st_size)
    return f"""\
   An event shows {CATEGORIES} of {count(FEATURES)} features: one value from each of {CATEGORIES}
   categories, say the site, the hour, the advertisement. A few values are
   everywhere, most are rare. {share} of the events are clicks.
   As text, one event a line:

   {stream.train!s:<{width}}   {count(stream.events):>9} events to learn from, {disk}
   {stream.test!s:<{width}}   {count(stream.tests):>9} events to test with
"""


def train_words(job: Job) -> list[str]:
    """The command that does what the demo does."""
    return ["riata", "train", *job.data, "-o", job.output, "--holdout", job.options["holdout"]]


def quality(model: Model, stream: Stream) -> str:
    """The model between a guess and the truth, and predicted against observed."""
    result = model.record.holdout
    assert result is not None
    true_loss = log_loss(stream.test_chance, stream.test_clicked)
    true_auc = auc(stream.test_chance, stream.test_clicked)
    lines = [
        f"{'':<42}log loss     AUC",
        f"   {'always guessing the share of clicks':<39}{result['base_log_loss']:>8.4f}{0.5:>8.4f}",
        click.style(
            f"   {'the model':<39}{result['log_loss']:>8.4f}{result['auc']:>8.4f}", bold=True
        ),
        f"   {'the truth behind the data, out of reach':<39}{true_loss:>8.4f}{true_auc or 0:>8.4f}",
        "",
        "   Can its probabilities be believed? Where it says ..., so many are clicks:",
        "",
        f"   {'it says':>10}{'clicks':>10}{'events':>12}",
    ]
    lines += [
        f"   {percent(b['predicted']):>10}{percent(b['observed']):>10}{count(b['weight']):>12}"
        for b in result["calibration"]
    ]
    return "\n".join([*lines, ""])


def survivors(model: Model, stream: Stream) -> str:
    """From all features to those that have a weight, and the strongest of these."""
    indices, weights = model.learner.coef()
    order = np.argsort(-np.abs(weights[:, 0]), kind="stable")[:STRONGEST]
    seen = int((stream.seen > 0).sum())
    lines = [
        f"   {count(FEATURES):>11}   features there are",
        f"   {count(seen):>11}   were seen in the events",
        click.style(f"   {count(len(indices)):>11}   have a weight: that is the model", bold=True),
        "",
        "   Nothing was tuned: 36 settings learned side by side in that one pass, and",
        "   the prediction averages them by how well each has predicted. The weights",
        "   are one linear model that stands for all of them. All others are zero.",
        "",
        f"   {'the strongest':<26}{'weight':>8}{'truth':>8}{'in events':>12}",
    ]
    for index, weight in zip(indices[order].tolist(), weights[order, 0].tolist(), strict=True):
        category, value = category_and_value(index)
        name = f"category {category}, value {value}"
        true, times = stream.weights[index], count(stream.seen[index])
        lines.append(f"   {name:<26}{weight:>+8.2f}{true:>+8.2f}{times:>12}")
    return "\n".join([*lines, ""])


def what_next(job: Job, stream: Stream) -> str:
    evaluate = command_line(["riata", "evaluate", job.output, str(stream.test)])
    predict = command_line(["riata", "predict", job.output, str(stream.test), "--proba"])
    return f"""\
   The model is saved: {job.output}. Measure it, predict with it:

   $ {evaluate}
   $ {predict} | head

   With your own data, as svmlight text: label index:value index:value ...
   (.gz works, and - reads from a pipe)

   $ riata train YOUR.svm -o your.riata --holdout 0.1"""
