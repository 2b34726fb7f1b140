"""What two models differ in: parameters, features, predictions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from typing import Any

import numpy as np
from numpy.typing import NDArray

from riata.block import Block
from riata.explain import difference_text
from riata.explain.values import Values
from riata.explain.weights import WeightTable, read_weights
from riata.labels import as_text
from riata.metrics import class_probabilities, predicted_codes
from riata.record import Model
from riata.schema import Schema, describe
from riata.sources.source import Source, iterate

Floats = NDArray[np.float64]


class Difference(Values):
    """What `difference` finds."""

    for_terminal, as_html = difference_text.for_terminal, difference_text.as_html

    def __repr__(self) -> str:
        c = self["counts"]
        return f"<difference of two models: {c['gained']} features gained, {c['lost']} lost, {c['moved']} moved>"


def difference(
    a: Model, b: Model, top: int = 10, sources: tuple[Source, Source] | None = None
) -> Difference:
    """What has changed from model `a` to model `b`; with sources of the same rows, one read for each model, where
    predictions differ."""
    one, two = read_weights(a).original(), read_weights(b).original()
    if one.named != two.named and len(one) and len(two):
        raise ValueError(
            "the features of one model have names, those of the other numbers: they cannot be compared"
        )
    values: dict[str, Any] = {
        "families": [a.learner.family, b.learner.family],
        "classes": [_classes(a), _classes(b)],
        "examples": [a.learner.t, b.learner.t],
        "progressive_loss": [a.record.progressive_loss, b.record.progressive_loss],
        "data": [a.record.data, b.record.data],
        "live_weights": [int(np.count_nonzero(t.weights)) for t in (one, two)],
        "parameters": _parameters(a, b),
        "schema": schema_differences(a.schema or Schema(), b.schema or Schema()),
    }
    values |= _features(a, b, one, two, top)
    if sources is not None:
        values["predictions"] = _predictions(a, b, sources, top)
    return Difference(values)


def _classes(model: Model) -> list[Any] | None:
    return None if model.classes is None else model.labels


def _parameters(a: Model, b: Model) -> dict[str, list[Any]]:
    """Those that differ, of those that both families have."""
    mine, theirs = a.learner.parameters(), b.learner.parameters()
    return {n: [v, theirs[n]] for n, v in mine.items() if n in theirs and theirs[n] != v}


def schema_differences(a: Schema, b: Schema) -> list[str]:
    """What is not the same, in words."""
    found = []
    for name in [*a.by_name, *(n for n in b.by_name if n not in a.by_name)]:
        mine, theirs = a.by_name.get(name), b.by_name.get(name)
        if mine is None or theirs is None:
            found.append(f"column {name!r} is only in the {'second' if mine is None else 'first'}")
        elif mine.what != theirs.what:
            found.append(f"column {name!r} was {mine.what}, and is {theirs.what}")
        elif mine != theirs and describe(mine) != describe(theirs):
            found.append(f"column {name!r} was {describe(mine)}, and is {describe(theirs)}")
    for what in ("named", "crosses", "missing", "absent", "hash_key"):
        if getattr(a, what) != getattr(b, what):
            found.append(f"{what} was {getattr(a, what)!r}, and is {getattr(b, what)!r}")
    return found


def _columns(a: Model, b: Model) -> tuple[list[str], list[int], list[int]]:
    """Outputs that both models have: what they are called, and their places in either."""
    if a.learner.outputs == 1 and b.learner.outputs == 1:
        return ["" if b.classes is None else as_text(b.labels[-1])], [0], [0]
    if 1 in (a.learner.outputs, b.learner.outputs):
        raise ValueError(
            f"one model has {a.learner.outputs} outputs, the other {b.learner.outputs}: the weights of two classes "
            f"and of more cannot be compared"
        )
    both = [label for label in a.labels if label in b.labels]
    if not both:
        raise ValueError("the models have no class in common")
    names = [as_text(label) for label in both]
    return names, [a.labels.index(x) for x in both], [b.labels.index(x) for x in both]


def _features(a: Model, b: Model, one: WeightTable, two: WeightTable, top: int) -> dict[str, Any]:
    """Features that came, went and moved, by how much their weights changed."""
    names, mine, theirs = _columns(a, b)
    left, right = _common_keys(one, two)
    keys = np.union1d(left, right)
    before, after = np.zeros((len(keys), len(mine))), np.zeros((len(keys), len(mine)))
    at_left, at_right = np.searchsorted(keys, left), np.searchsorted(keys, right)
    before[at_left], after[at_right] = one.weights[:, mine], two.weights[:, theirs]
    was, is_ = before.any(axis=1), after.any(axis=1)
    change = np.abs(after - before).max(axis=1, initial=0.0)
    home_left = np.full(len(keys), -1)
    home_right = np.full(len(keys), -1)
    home_left[at_left], home_right[at_right] = np.arange(len(left)), np.arange(len(right))
    kinds = {
        "gained": np.flatnonzero(is_ & ~was),
        "lost": np.flatnonzero(was & ~is_),
        "moved": np.flatnonzero(was & is_ & (change > 0)),
    }
    counts = {kind: len(places) for kind, places in kinds.items()}
    counts["same"] = int(np.count_nonzero(was & is_ & (change == 0)))
    found: dict[str, Any] = {"counts": counts, "outputs": names}
    for kind, places in kinds.items():
        order = places[np.lexsort((places, -change[places]))][:top]
        table, home = (one, home_left) if kind == "lost" else (two, home_right)
        called = table.features(home[order]) if len(order) else []
        found[kind] = [
            {"feature": name, "before": before[place].tolist(), "after": after[place].tolist()}
            for name, place in zip(called, order.tolist(), strict=True)
        ]
    return found


def _common_keys(one: WeightTable, two: WeightTable) -> tuple[Any, Any]:
    """Keys by which features of both are the same. A model that numbers its names knows them by name alone."""
    numbered = [hasattr(t.learner, "_feature_index") and t.named for t in (one, two)]
    keyed = [t.learner.hash_key for t in (one, two)]
    if not any(numbered) and keyed[0] == keyed[1]:
        return one.keys, two.keys
    return _name_hashes(one), _name_hashes(two)


def _name_hashes(table: WeightTable) -> NDArray[np.int64]:
    from riata import _core

    names = table.raw_names()
    assert names is not None
    return np.asarray(_core.keys_of_names(*names, None), dtype=np.int64)


# Predictions


def _predictions(a: Model, b: Model, sources: tuple[Source, Source], top: int) -> dict[str, Any]:
    """Where predictions differ: of each row the probabilities, else the scores. Kept are sums and `top` rows."""
    worst: list[dict[str, Any]] = []
    rows = changed = 0
    apart_in_all = 0.0
    sums = np.zeros(6)
    with closing(iterate(sources[0])) as left, closing(iterate(sources[1])) as right:
        for mine, theirs in _aligned(left, right):
            x, code_x = _said(a, mine)
            y, code_y = _said(b, theirs, like=a)
            apart = np.abs(y - x).max(axis=1)
            for i in np.argsort(-apart, kind="stable")[:top].tolist():
                worst.append(_row(mine, rows, i, x, y, code_x, code_y, float(apart[i])))
            worst = sorted(worst, key=lambda row: (-row["difference"], row["row"]))[:top]
            changed += int(np.count_nonzero(code_x != code_y)) if a.classes is not None else 0
            u, v = x[:, -1], y[:, -1]
            sums += [len(u), u.sum(), v.sum(), (u * u).sum(), (v * v).sum(), (u * v).sum()]
            rows += len(mine)
            apart_in_all += float(apart.sum())
    if rows == 0:
        raise ValueError(f"{sources[0].name}: no rows")
    return {
        "rows": rows,
        "what": "probability" if _has_probability(a) and _has_probability(b) else "score",
        "mean_difference": apart_in_all / rows,
        "changed_decisions": changed if a.classes is not None else None,
        "changed_share": changed / rows if a.classes is not None else None,
        "correlation": _correlation(sums),
        "largest": worst,
    }


def _aligned(left: Iterator[Block], right: Iterator[Block]) -> Iterator[tuple[Block, Block]]:
    """The same rows of two readings, however they are cut."""
    mine: Block | None = None
    theirs: Block | None = None
    while True:
        mine = mine if mine is not None and len(mine) else next(left, None)
        theirs = theirs if theirs is not None and len(theirs) else next(right, None)
        if mine is None and theirs is None:
            return
        if mine is None or theirs is None:
            raise ValueError("the models read different numbers of rows from the data")
        n = min(len(mine), len(theirs))
        if n:
            yield mine[:n], theirs[:n]
        mine, theirs = mine[n:], theirs[n:]


def _has_probability(model: Model) -> bool:
    learner = model.learner
    return (
        model.classes is not None
        and learner.probability(np.zeros((1, learner.outputs))) is not None
    )


def _said(model: Model, block: Block, like: Model | None = None) -> tuple[Floats, Any]:
    """Probabilities of the classes, or else scores, and the label that is predicted; columns as `like` has them."""
    scores = model.learner.score(block)
    said = scores
    if _has_probability(model) and (like is None or _has_probability(like)):
        probability = model.learner.probability(scores)
        assert probability is not None
        said = class_probabilities(probability)
    if model.classes is None:
        return said, scores[:, 0]
    labels = model.labels
    codes = np.minimum(predicted_codes(scores), len(labels) - 1)
    chosen = np.array([as_text(label) for label in labels], dtype=object)[codes]
    if like is not None and said.shape[1] > 1 and like.labels != labels:
        places = {label: i for i, label in enumerate(labels)}
        wide = np.zeros((len(said), len(like.labels)))
        for i, label in enumerate(like.labels):
            if label in places:
                wide[:, i] = said[:, places[label]]
        said = wide
    return said, chosen


def _row(
    block: Block, before: int, i: int, x: Floats, y: Floats, code_x: Any, code_y: Any, apart: float
) -> dict[str, Any]:
    where = block.where(i) if block.path is not None and block.lines is not None else None
    # The column that differs most; of two classes that of the last one, whose score it is.
    column = 1 if x.shape[1] == 2 else int(np.abs(y[i] - x[i]).argmax())
    said = {"row": before + i, "where": where or f"row {before + i}", "difference": apart}
    said |= {"before": float(x[i, column]), "after": float(y[i, column])}
    return said | {"predicted": [_as_json(code_x[i]), _as_json(code_y[i])]}


def _as_json(value: Any) -> Any:
    return value if isinstance(value, str) else float(value)


def _correlation(sums: Floats) -> float | None:
    n, u, v, uu, vv, uv = sums.tolist()
    spread = (uu - u * u / n) * (vv - v * v / n)
    return float((uv - u * v / n) / np.sqrt(spread)) if spread > 0 else None


def check_same_task(a: Model, b: Model, names: Sequence[str] = ("the first", "the second")) -> None:
    """Refuse to compare a classification with a regression."""
    if a.learner.task != b.learner.task:
        raise ValueError(
            f"{names[0]} model is a {a.learner.task}, {names[1]} a {b.learner.task}: they cannot be compared"
        )
