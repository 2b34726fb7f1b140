"""Pictures with matplotlib (`pip install riata[plot]`): each function draws into `ax`, or a new one, and returns it.

>>> import riata.plot  # matplotlib is imported when something is drawn
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from riata.errors import DataError
from riata.metrics import Calibration, auc
from riata.report.logs import Log
from riata.report.measure import Curve

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#999999")
"""Okabe and Ito's: told apart with every kind of colour vision."""
STYLES = ("-", "--", ":", "-.")


def _axes(ax: Any) -> Any:
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise ImportError("pictures need matplotlib: pip install riata[plot]") from None
    return plt.subplots(figsize=(7, 4.2), layout="constrained")[1]


def _finish(ax: Any, x: str, y: str, title: str, legend: bool = False) -> Any:
    ax.set_xlabel(x)
    ax.set_ylabel(y)
    ax.set_title(title, loc="left")
    ax.grid(color="#dddddd", linewidth=0.7)
    ax.set_axisbelow(True)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    if legend:  # beside the data, never over it
        ax.legend(loc="upper left", bbox_to_anchor=(1.01, 1), frameon=False)
    return ax


def _wide(ax: Any, counts: Sequence[float]) -> None:
    """Counts along x: logarithmic where they reach far."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    if min(counts) > 0 and max(counts) > 10 * min(counts):
        ax.set_xscale("log", base=2)
    else:
        ax.xaxis.set_major_locator(MaxNLocator(nbins=6, integer=True))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda n, _: f"{n:,.0f}"))


def _history(what: Any) -> list[dict[str, Any]]:
    """Moments of a run: of a log, by its path, or of the passes of a model."""
    if isinstance(what, str | os.PathLike):
        path = os.fspath(what)
        with open(path, "rb") as file:
            is_model = not file.read(1).startswith(b"{")
        if not is_model:
            return Log.read(path).moments
        from riata import model_file

        what = model_file.load(path)
    if isinstance(what, Log):
        return what.moments
    record = getattr(getattr(what, "model_", what), "record", None)
    if record is None:
        raise TypeError(f"a log, a model, or the path of one, not {type(what).__name__}")
    moments = [entry | {"live_weights": entry.get("live")} for entry in record.history]
    if not moments:
        raise DataError("the model has no completed pass to show: write a log with --log")
    return moments


def _draw_line(
    ax: Any, k: int, label: str, x: Sequence[float], y: Sequence[Any], mark: str = ""
) -> None:
    pairs = [(a, b) for a, b in zip(x, y, strict=True) if b is not None]
    if pairs:
        ax.plot(
            *zip(*pairs, strict=True),
            color=COLOURS[k % 8],
            linestyle=STYLES[k % 4],
            marker=mark,
            label=label,
        )


def loss(what: Any, ax: Any = None) -> Any:
    """The loss while learning: `what` is a log of `riata train --log` or its path, or a model (by pass)."""
    moments, ax = _history(what), _axes(ax)
    x = [moment["examples"] for moment in moments]
    for k, (name, label) in enumerate(
        [
            ("loss", "since the start"),
            ("loss_since_last", "since the point before"),
            ("holdout_loss", "holdout"),
        ]
    ):
        _draw_line(ax, k, label, x, [moment.get(name) for moment in moments], "o" if k else "")
    _wide(ax, x)
    return _finish(ax, "examples learned", "loss", "Loss while learning", legend=len(ax.lines) > 1)


def sparsity(what: Any, ax: Any = None) -> Any:
    """The weights that are not zero while learning; `what` as for `loss`."""
    moments, ax = _history(what), _axes(ax)
    x = [moment["examples"] for moment in moments]
    _draw_line(ax, 0, "weights", x, [moment.get("live_weights") for moment in moments], "o")
    _wide(ax, x)
    ax.set_ylim(bottom=0)
    return _finish(ax, "examples learned", "weights that are not zero", "Sparsity while learning")


def path(what: Any, ax: Any = None, *, top: int = 8, output: int = 0) -> Any:
    """Weights along a path of penalties: a fitted `SketchClassifier` with several gammas, or its `path_`.

    The `top` features with the largest weights have names; the others are grey.
    """
    solutions, ax = list(getattr(what, "path_", what)), _axes(ax)
    if len(solutions) < 2:
        raise DataError("a path has several penalties: gamma='path', or a list of them")
    solutions.sort(key=lambda s: -s.gamma)
    gammas = [s.gamma for s in solutions]
    coef = np.array([np.atleast_2d(s.coef)[output] for s in solutions])
    order = np.argsort(-np.abs(coef).max(axis=0), kind="stable")
    order = order[np.abs(coef[:, order]).max(axis=0) > 0]
    called = getattr(what, "get_feature_names_out", None)
    names = (
        [str(k) for k in range(coef.shape[1])]
        if called is None
        else [str(name) for name in called()]
    )
    for feature in order[top:]:
        ax.plot(gammas, coef[:, feature], color="#bbbbbb", linewidth=0.8)
    for k, feature in enumerate(order[:top]):
        ax.plot(
            gammas,
            coef[:, feature],
            color=COLOURS[k % 8],
            linestyle=STYLES[k % 4],
            label=names[feature][:40],
        )
    ax.set_xscale("log")
    ax.invert_xaxis()
    return _finish(ax, "penalty gamma (falling)", "weight", "Weights along the path", legend=True)


def sweep(what: Any, ax: Any = None) -> Any:
    """Loss against non-zero weights of the settings of a sweep: a `Sweep`, or the path of its JSON file."""
    from riata.sweeping import Sweep

    found = what if isinstance(what, Sweep) else Sweep.load(what)
    ax = _axes(ax)
    kept = [r for r in found.records if r["loss"] is not None and np.isfinite(r["loss"])]
    if not kept:
        raise DataError("no setting of the sweep has a loss")
    for k, method in enumerate(sorted({r["method"] for r in kept})):
        own = [r for r in kept if r["method"] == method]
        around = [0.0 if r["se"] is None else r["se"] for r in own]
        ax.errorbar(
            [r["non_zeros"] for r in own], [r["loss"] for r in own], yerr=around, fmt="osD^v<>p"[k % 8],
            color=COLOURS[k % 8], label=method, capsize=2, linewidth=1,
        )  # fmt: skip
    best = found.records[found.best_index_]
    ax.plot(
        [best["non_zeros"]],
        [best["loss"]],
        "o",
        markersize=14,
        fillstyle="none",
        color="black",
        label="chosen",
    )
    _wide(ax, [r["non_zeros"] for r in kept])
    return _finish(
        ax,
        "weights that are not zero",
        found.metric.replace("_", " "),
        "Settings of the sweep",
        legend=True,
    )


def _two_classes(
    y: ArrayLike, p: ArrayLike, positive: Any
) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
    labels, chances = np.asarray(y), np.asarray(p, dtype=np.float64)
    if chances.ndim == 2 and chances.shape[1] == 2:
        chances = chances[:, 1]
    if labels.shape != chances.shape:
        raise ValueError(f"{labels.shape} labels for {chances.shape} predictions: one each")
    classes = np.unique(labels)
    if len(classes) != 2:
        raise ValueError(f"two classes are needed, and there are {len(classes)}")
    return labels == (classes[-1] if positive is None else positive), chances


def reliability(y: ArrayLike, p: ArrayLike, ax: Any = None, *, positive: Any = None) -> Any:
    """Predicted probabilities against observed shares, in ten bins: labels, and probabilities of the positive class.

    positive: which label that is; the last one in their order if not said.
    """
    is_positive, chances = _two_classes(y, p, positive)
    found, ax = Calibration(), _axes(ax)
    found.add(chances, is_positive, None)
    bins = found.bins()
    ax.plot([0, 1], [0, 1], color="#999999", linestyle=":", linewidth=1)
    ax.plot([b["predicted"] for b in bins], [b["observed"] for b in bins], "o-", color=COLOURS[0])
    ax.set(xlim=(0, 1), ylim=(0, 1))
    return _finish(
        ax,
        "predicted probability",
        "observed share",
        f"Reliability, off by {found.error:.3f} on average",
    )


def _curve(y: ArrayLike, p: ArrayLike, positive: Any) -> Any:
    is_positive, scores = _two_classes(y, p, positive)
    curve = Curve()
    curve.add(scores, is_positive, np.ones(len(scores)))
    return *curve.rates(), auc(scores, is_positive), float(is_positive.mean())


def roc(y: ArrayLike, p: ArrayLike, ax: Any = None, *, positive: Any = None) -> Any:
    """The ROC curve of labels, and probabilities or scores of the positive class."""
    rates, _, area, _ = _curve(y, p, positive)
    ax = _axes(ax)
    ax.plot([0, 1], [0, 1], color="#999999", linestyle=":", linewidth=1)
    ax.plot(*rates, color=COLOURS[0])
    ax.set(xlim=(0, 1), ylim=(0, 1.01))
    return _finish(ax, "false positive rate", "true positive rate", f"ROC curve, AUC {area:.4f}")


def precision_recall(y: ArrayLike, p: ArrayLike, ax: Any = None, *, positive: Any = None) -> Any:
    """Precision against recall of labels, and probabilities or scores; dotted: the share of positives."""
    _, rates, _, share = _curve(y, p, positive)
    ax = _axes(ax)
    ax.axhline(share, color="#999999", linestyle=":", linewidth=1)
    ax.plot(*rates, color=COLOURS[0])
    ax.set(xlim=(0, 1), ylim=(0, 1.01))
    return _finish(ax, "recall", "precision", "Precision and recall")


def weights(
    model: Any, ax: Any = None, *, top: int = 20, level: float = 0.9, output: int = 0
) -> Any:
    """The largest weights of an estimator or a Model, with central intervals where the family knows them.

    Intervals of correlated features are too narrow unless the model has `covariance="full"`.
    """
    model = getattr(model, "model_", model)
    learner = model.learner
    keys, values = learner.coef()
    size = np.abs(values[:, output])
    order = np.lexsort((keys, -size))[:top][::-1]
    names = learner.names(keys[order])
    base = 0 if model.schema is None else model.schema.base or 0
    called = (
        [str(k + base) for k in keys[order].tolist()] if names is None else [n[:40] for n in names]
    )
    ax = _axes(ax)
    around = None
    if hasattr(learner, "coef_std"):
        from scipy.special import ndtri

        around = ndtri(0.5 + level / 2) * learner.coef_std()[order, output]
    chosen = values[order, output]
    places = np.arange(len(order))
    for sign, colour in ((1, COLOURS[0]), (-1, COLOURS[1])):
        own = np.sign(chosen) == sign
        spread = None if around is None else around[own]
        ax.errorbar(chosen[own], places[own], xerr=spread, fmt="o", color=colour, capsize=2)
    ax.axvline(0, color="#555555", linewidth=0.8)
    ax.set_yticks(places, called)
    title = (
        "The largest weights"
        if around is None
        else f"The largest weights, with {level:.0%} intervals"
    )
    return _finish(ax, "weight", "", title)


def evidence(moments: Any, ax: Any = None, *, top: int = 7) -> Any:
    """The weight of each setting of `auto` in the average over time: a log of `riata train --log`, or its path."""
    if isinstance(moments, str | os.PathLike | Log):
        moments = _history(moments)
    told: list[Mapping[str, Any]] = [m for m in moments if m.get("members")]
    if not told:
        raise DataError("the log says nothing of settings side by side: it is not of --method auto")
    shares: dict[str, list[float]] = {}
    for k, moment in enumerate(told):
        for member in moment["members"]:
            name = f"{member['rule']}, {member['values']} values, {member['parameter']:g}"
            shares.setdefault(name, [0.0] * len(told))[k] = float(member["weight"])
    ax = _axes(ax)
    x = [moment["examples"] for moment in told]
    order = sorted(shares, key=lambda name: -max(shares[name]))
    for name in order[top:]:
        ax.plot(x, shares[name], color="#cccccc", linewidth=0.8)
    for k, name in enumerate(order[:top]):
        ax.plot(x, shares[name], color=COLOURS[k % 8], linestyle=STYLES[k % 4], label=name)
    _wide(ax, x)
    ax.set_ylim(0, 1)
    return _finish(
        ax,
        "examples learned",
        "weight in the average",
        "Evidence of the settings of auto",
        legend=True,
    )
