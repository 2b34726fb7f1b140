"""Reading a model: `inspect` of a million named weights against loading its file, and `explain` in rows a second.

Both are what the commands do after Python has started: load, find the strongest weights of all and by namespace, write
the text; read the rows of svmlight text, work out contributions, write a line of JSON for each.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from benchmarks.paths import CACHE
from benchmarks.problems import load
from benchmarks.ratio import Ratio, Run, ratio
from benchmarks.steps import SCHEDULE
from riata import model_file
from riata.explain.contributions import Explainer
from riata.explain.lines import LineWriter
from riata.explain.summary import Wanted, summary
from riata.learners import ElasticNet
from riata.sources import open_source
from riata.training import train

TITLE = "Reading a model"
NAMES, EACH = 1_000_000, 20


def named_model() -> Path:
    """A model of a million named weights, in a hundred namespaces."""
    path = CACHE / "named.riata"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        text = path.with_suffix(".vw")
        with open(text, "w") as out:
            for row in range(NAMES // EACH):
                words = " ".join(f"word-{row * EACH + k}" for k in range(EACH))
                out.write(f"{1 if row % 3 else -1} |space{row % 100} {words}\n")
        model = train(open_source(str(text)), ElasticNet(l1=0.0, l2=0.0, **SCHEDULE))
        model_file.save(model, path)
    return path


def ratios(run: Run) -> Iterator[Ratio]:
    path = named_model()

    def inspect() -> None:
        model = model_file.load(path)
        found = summary(model, Wanted(10), model_file.about(path), model_file.names(path))
        assert found.to_dict()["live_weights"] == NAMES
        str(found)

    times = run.turns({"inspect": inspect, "load": lambda: model_file.load(path)})
    yield ratio(
        "inspect over loading the file, a million named weights",
        times["inspect"],
        times["load"],
        most=1.5,
        note=f"{path.stat().st_size / 1e6:.0f} MB",
    )
    problem = load("medline")
    model = train(open_source(str(problem.svmlight)), ElasticNet(eta0=20.0, **SCHEDULE))

    def explain() -> None:
        explainer, writer = Explainer(model, "average"), LineWriter(model, "jsonl", top=10)
        for block in open_source(str(problem.svmlight)):
            writer.lines(explainer.of(block))

    times = run.turns({"explain": explain})
    rows = 200_000
    yield Ratio(
        "explain, svmlight text to lines of JSON, the ten strongest of 77 features",
        rows / times["explain"].best,
        rows / times["explain"].median,
        unit=" rows/s",
        least=200_000,
    )
