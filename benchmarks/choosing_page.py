"""The table of progressive losses in docs/choosing.md, and the one in docs/auto.md.

    python -m benchmarks.choosing_page measure [STREAM...]     of these streams, or of all; takes an hour
    python -m benchmarks.choosing_page                         write the tables into the pages

Log loss of each example just before it is learned, one pass, in the order of the file; nothing is tuned. The file is
read by Riata, of which only the label is named; the others get the features that it has read, as they are. Numbers are
kept in benchmarks/choosing.json; the tables have nothing that is not in there.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

import riata
from benchmarks import machine
from benchmarks.auto import GRID, STREAMS, as_vowpal_wabbit, matrix, vowpal_wabbit_loss
from benchmarks.paths import DATA, ROOT
from benchmarks.scale_page import table
from benchmarks.suite import versions

CHOOSING, AUTO = ROOT / "docs" / "choosing.md", ROOT / "docs" / "auto.md"
NUMBERS = ROOT / "benchmarks" / "choosing.json"

RIATA: dict[str, Callable[[], Any]] = {
    "`auto`": riata.AutoClassifier,
    "`bayesian`": riata.BayesianClassifier,
    '`bayesian`, `feature_scale="rms"`': lambda: riata.BayesianClassifier(feature_scale="rms"),
    "`ftrl`": riata.FTRLClassifier,
    "`elastic-net`": riata.ElasticNetClassifier,
    "`truncated`": riata.TruncatedGradientClassifier,
    "`elastic-net`, the paper's schedule": lambda: riata.ElasticNetClassifier(
        learning_rate="inv_sqrt", eta0=0.5, feature_scale="none"
    ),
}
SGD, RIVER = "scikit-learn `SGDClassifier`, log loss", "river `LogisticRegression`"
DEFAULT, BEST, CONSTANT = (
    "Vowpal Wabbit, defaults",
    f"Vowpal Wabbit, best of {len(GRID)}",
    "always predicting the same",
)
ROWS = (*RIATA, DEFAULT, BEST, SGD, RIVER, CONSTANT)
SHORT = {
    "elastic net": "`elastic-net`",
    "FTRL": "`ftrl`",
    "Bayesian": "`bayesian`",
    "`auto`": "`auto`",
}
"""The rows of the shorter table, by the words used there."""


def log_loss(log_odds: float, label: float) -> float:
    return float(np.logaddexp(0.0, -log_odds if label > 0 else log_odds))


def scikit_learn(X: Any, y: Any, at_once: int = 64) -> float:
    """`partial_fit`, a row at a time; what is unknown before the first row is as likely as not.

    A call takes time for every column there is, so that some rows at a time see their own columns alone. All others
    only shrink, by as much as a weight of one does in a column more that is never there: the same numbers, sooner.
    """
    from sklearn.linear_model import SGDClassifier

    learner, total = SGDClassifier(loss="log_loss", random_state=0), 0.0
    weights = np.zeros(X.shape[1])
    for start in range(0, X.shape[0], at_once):
        rows = X[start : start + at_once]
        columns = np.unique(rows.indices)
        part = csr_matrix(
            (rows.data, np.searchsorted(columns, rows.indices), rows.indptr),
            shape=(rows.shape[0], len(columns) + 1),
        )
        if start:
            learner.coef_ = np.append(weights[columns], 1.0)[None]
            learner.n_features_in_ = len(columns) + 1
        for i in range(rows.shape[0]):
            row, label = part[i], y[start + i : start + i + 1]
            known = start + i > 0
            score = (row @ learner.coef_[0] + learner.intercept_[0]).item() if known else 0.0
            total += log_loss(score, label[0])
            learner.partial_fit(row, label, classes=[0.0, 1.0])
        weights *= learner.coef_[0, -1]  # before the first rows they are all zero
        weights[columns] = learner.coef_[0, :-1]
    return float(total / X.shape[0])


def river(X: Any, y: Any) -> float:
    from river.linear_model import LogisticRegression

    learner: Any = LogisticRegression()
    total = 0.0
    for i in range(X.shape[0]):
        row = slice(X.indptr[i], X.indptr[i + 1])
        x = dict(zip(X.indices[row].tolist(), X.data[row].tolist(), strict=True))
        chance = learner.predict_proba_one(x)[True]
        total -= np.log(max(chance if y[i] else 1 - chance, 1e-15))
        learner.learn_one(x, bool(y[i]))
    return float(total / X.shape[0])


def measured(name: str) -> dict[str, Any]:
    """The loss of every row of the table on a stream."""
    place, options = STREAMS[name]
    path = DATA / place
    losses: dict[str, float] = {}
    for row, make in RIATA.items():
        model = make().learn(path, **options)
        losses[row] = model.model_.record.progressive_loss
        losses[CONSTANT] = model.model_.constant_loss
        print(name, row, losses[row], flush=True)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "data.vw"
        as_vowpal_wabbit(path, options, file)
        losses[DEFAULT] = vowpal_wabbit_loss(file, "")
        grid = {flags: vowpal_wabbit_loss(file, flags) for flags in GRID}
    best = min(grid, key=grid.__getitem__)
    losses[BEST] = grid[best]
    X, labels = matrix(path, **options)
    y = (labels == labels.max()).astype(np.float64)
    losses[RIVER] = river(X, y)
    losses[SGD] = scikit_learn(X, y)
    return {"losses": losses, "best": best, "examples": len(y)}


def shown(loss: float | None, best: float) -> str:
    """
    >>> shown(0.12345, 0.1235), shown(6.6e8, 0.1), shown(None, 0.1)
    ('**0.1235**', '6.6e+08', '')
    """
    if loss is None:
        return ""
    text = f"{loss:.4f}" if loss < 100 else f"{loss:.2g}"
    return f"**{text}**" if round(loss, 4) <= best else text


def rows(found: dict[str, Any], wanted: dict[str, str], streams: list[str]) -> list[list[str]]:
    """A line for each, under its words; the least of each stream is bold. What was not measured is blank."""
    each = {s: [found[s]["losses"].get(row) for row in wanted.values()] for s in streams}
    least = {s: min(round(loss, 4) for loss in each[s] if loss is not None) for s in streams}
    return [
        [words, *(shown(each[s][i], least[s]) for s in streams)] for i, words in enumerate(wanted)
    ]


def choosing(numbers: dict[str, Any]) -> str:
    found, of = numbers["streams"], numbers["versions"]
    streams = [name for name in STREAMS if name in found]
    text = table(["", *streams], rows(found, {row: row for row in ROWS}, streams))
    known = [name for name in streams if BEST in found[name]["losses"]]
    best = "; ".join(f"{name} `{found[name]['best'].strip()}`" for name in known)
    return text + (
        f"\nVowpal Wabbit {of['vowpalwabbit']}, scikit-learn {of['scikit-learn']} (`partial_fit`, a row at a time), "
        f"river {of['river']}. Best of {len(GRID)} settings of Vowpal Wabbit in hindsight: {best}.\n"
    )


def auto(numbers: dict[str, Any]) -> str:
    found = numbers["streams"]
    streams = ["trec07p", "a9a", "ijcnn1"]
    kinds = ("mail, word counts", "binary features", "numbers")
    head = [f"{name} ({kind})" for name, kind in zip(streams, kinds, strict=True)]
    return table(["", *head], rows(found, SHORT, streams))


PARTS = {CHOOSING: choosing, AUTO: auto}


def written(page: str, text: str) -> str:
    """The page with the table in its place."""
    begin, end = "<!-- losses -->\n", "<!-- end of losses -->\n"
    before, rest = page.split(begin)
    _, after = rest.split(end)
    return before + begin + "\n" + text + "\n" + end + after


def main(argv: list[str]) -> int:
    numbers: dict[str, Any] = json.loads(NUMBERS.read_text()) if NUMBERS.exists() else {}
    if argv[:1] == ["measure"]:
        for name in argv[1:] or STREAMS:
            numbers.setdefault("streams", {})[name] = measured(name)
            numbers |= {"versions": versions(), "machine": machine.describe()}
            NUMBERS.write_text(json.dumps(numbers, indent=1) + "\n")
    elif argv:
        print(__doc__)
        return 2
    if set(STREAMS) <= set(numbers.get("streams", {})):
        for page, part in PARTS.items():
            page.write_text(written(page.read_text(), part(numbers)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
