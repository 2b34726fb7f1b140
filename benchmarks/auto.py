"""How well `auto` predicts without tuning, beside Vowpal Wabbit: its defaults, and the best of a grid in hindsight;
and, fitted to most examples and tested on the others, beside scikit-learn.

Progressive log loss: every example is predicted just before it is learned, one pass, in the order of the file. `auto`
reads the raw file, of which only the label is named; Vowpal Wabbit gets the features that were read, as they are.
"""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

import riata
from benchmarks.paths import DATA
from benchmarks.ratio import Ratio, Run
from riata.sources import open_source

TITLE = "Log loss of `auto`, nothing tuned"

STREAMS: dict[str, tuple[str, dict[str, Any]]] = {
    "a9a": ("libsvm/a9a", {}),
    "ijcnn1": ("libsvm/ijcnn1.trn.bz2", {}),
    "reuters": ("reuters21578/reuters.trn.bz2", {}),
    "iPinYou": ("ctr/ipinyou_deepctr_train.fm.txt", {}),
    "Criteo head": (
        "ctr/criteo_wideresdnn_train.csv",
        {"header": False, "delimiter": "\t", "label": "1"},
    ),
    "Avazu head": ("ctr/avazu_fastdg_small3.train.csv", {"label": "click"}),
    "SMS": ("sms/SMSSpamCollection", {}),
    "news20": ("libsvm/news20-small.binary.gz", {}),
    "trec07p": ("trec07p/trec07p.vw.zst", {}),
}
GRID = [
    " ".join(words)
    for words in itertools.product(
        ("", "--normalized --invariant --adaptive", "--adaptive --invariant", "--sgd"),
        ("-l 0.1", "-l 0.5", "-l 2", "-l 8"),
    )
] + ["--ftrl", "--ftrl --ftrl_alpha 0.1", "--coin", "--pistol", "-l 0.5 --power_t 0", "--freegrad"]
"""Settings of Vowpal Wabbit."""
TIES = 0.005
"""Losses that are this near, relatively, are a tie."""


def as_vowpal_wabbit(path: Path, options: dict[str, Any], target: Path) -> None:
    """The examples as they were read, labels -1 and 1."""
    codes: dict[Any, int] = {}
    with target.open("w") as out:
        for block in open_source(path, names=False, **options):
            assert block.labels is not None
            for row, label in enumerate(block.labels.tolist()):
                code = codes.setdefault(label, len(codes))
                cells = slice(int(block.indptr[row]), int(block.indptr[row + 1]))
                keys, values = block.indices[cells].tolist(), block.values[cells].tolist()
                pairs = " ".join(f"f{k}:{v:.7g}" for k, v in zip(keys, values, strict=True))
                out.write(f"{2 * code - 1} | {pairs}\n")


def vowpal_wabbit_loss(file: Path, flags: str) -> float:
    from vowpalwabbit import Workspace

    workspace = Workspace(f"--data {file} --loss_function logistic -b 22 --quiet {flags}")
    loss = workspace.get_sum_loss() / workspace.get_weighted_examples()
    workspace.finish()
    return float(loss)


def progressive(run: Run) -> Iterator[Ratio]:
    for name, (place, options) in STREAMS.items():
        path, what = DATA / place, "log loss of `auto` over Vowpal Wabbit's"
        if not path.exists():
            yield Ratio(f"{what}, {name}", None, why=f"{place} is not under $RIATA_DATA")
            continue
        model = riata.AutoClassifier().learn(path, **options)
        ours = model.model_.record.progressive_loss
        assert ours is not None
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "data.vw"
            as_vowpal_wabbit(path, options, file)
            default = vowpal_wabbit_loss(file, "")
            yield Ratio(
                f"{what}, defaults, {name}",
                ours / default,
                most=1.0,
                detail=f"{ours:.4f} / {default:.4f}",
            )
            if run.quick:
                continue
            losses = {flags: vowpal_wabbit_loss(file, flags) for flags in GRID}
        best = min(losses, key=losses.__getitem__)
        yield Ratio(
            f"{what}, best of {len(GRID)} settings in hindsight, {name}",
            ours / losses[best],
            most=1 + TIES,
            detail=f"{ours:.4f} / {losses[best]:.4f} ({best})",
        )


def matrix(path: Path, **options: Any) -> tuple[Any, Any]:
    """All examples as they are read, features renumbered."""
    blocks = list(open_source(path, names=False, **options))
    keys = np.concatenate([block.indices for block in blocks])
    known, columns = np.unique(keys, return_inverse=True)
    values = np.concatenate([block.values for block in blocks])
    lengths = np.concatenate([np.diff(block.indptr) for block in blocks])
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    X = csr_matrix((values.astype(np.float64), columns, indptr), shape=(len(lengths), len(known)))
    return X, np.concatenate([block.labels for block in blocks if block.labels is not None])


def batch(run: Run) -> Iterator[Ratio]:
    """Fit on 80 %, log loss of the other 20 %."""
    from sklearn.linear_model import LogisticRegression, LogisticRegressionCV
    from sklearn.metrics import log_loss
    from sklearn.model_selection import train_test_split

    rivals: list[Any] = [LogisticRegression(), *([] if run.quick else [LogisticRegressionCV()])]
    for name, (place, options) in STREAMS.items():
        path = DATA / place
        if name == "trec07p":  # too large for these rivals
            continue
        if not path.exists():
            yield Ratio(f"held-out log loss, {name}", None, why=f"{path.name} is not here")
            continue
        X, X_test, y, y_test = train_test_split(
            *matrix(path, **options), test_size=0.2, random_state=0
        )
        ours = log_loss(y_test, riata.AutoClassifier().fit(X, y).predict_proba(X_test))
        for rival in rivals:
            theirs = log_loss(y_test, rival.fit(X, y).predict_proba(X_test))
            yield Ratio(
                f"held-out log loss of `auto` over {type(rival).__name__}'s, {name}",
                ours / theirs,
                most=1.0,
                detail=f"{ours:.4f} / {theirs:.4f}",
            )


def regression(run: Run) -> Iterator[Ratio]:
    """One pass over raw columns, squared error of the 20 % held out, over ten splits."""
    from sklearn.linear_model import Ridge
    from sklearn.model_selection import train_test_split

    path = DATA / "uci" / "housing.arff"
    if not path.exists():
        yield Ratio("AutoRegressor", None, why="uci/housing.arff is not under $RIATA_DATA")
        return
    ours, theirs = [], []
    for seed in range(10):
        X, X_test, y, y_test = train_test_split(*matrix(path), test_size=0.2, random_state=seed)
        ours.append(np.mean((riata.AutoRegressor().fit(X, y).predict(X_test) - y_test) ** 2))
        theirs.append(np.mean((Ridge().fit(X, y).predict(X_test) - y_test) ** 2))
    what = "squared error of AutoRegressor over Ridge's, housing, raw columns, held out"
    detail = f"{np.mean(ours):.2f} / {np.mean(theirs):.2f}"
    yield Ratio(what, float(np.mean(ours) / np.mean(theirs)), most=1.0, detail=detail)


def ratios(run: Run) -> Iterator[Ratio]:
    for part in (progressive, batch, regression):
        yield from part(run)
