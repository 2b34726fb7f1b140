"""The model of a page, packed: as exactly as fits, and with a note where that is not all of it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from riata.record import Model
from riata.report.packing import Pack, front_coded
from riata.report.scorer import (
    BUDGET,
    LONGEST_NAME,
    Packed,
    Parts,
    auto_parts,
    bayesian_parts,
    linear_parts,
    single_parts,
)
from riata.schema import Schema

MOST_COUNTS = 150_000
"""N-grams whose counts of texts go into a page."""
_MIXTURES = {"bayesian": bayesian_parts, "auto": auto_parts}


def packed_model(model: Model, budget: int = BUDGET) -> Packed:
    """The model as the page scores with it.

    An average of several models comes whole if that fits. Otherwise the page has one linear model in its place, and
    says so; numbers of 32 bits, and says how far scores may be off; and at last the strongest features alone.
    """
    family = model.learner.family
    attempts = [(_MIXTURES.get(family, linear_parts), list[str]())]
    if getattr(model.learner, "covariance", "") == "full":
        attempts = [(single_parts, [_single(model)])]
    elif family in _MIXTURES:
        attempts.append((single_parts, [_single(model)]))
    for make, notes in attempts:
        parts = make(model.learner)
        for bits in (64, 32):
            if _surely_too_large(parts, bits, budget):
                continue
            packed = _pack(model, parts, bits, notes)
            if len(packed.text) <= budget:
                return packed
    return _strongest(model, parts, notes, budget)


def _single(model: Model) -> str:
    learner = model.learner
    if getattr(learner, "covariance", "") == "full":
        what = "the covariances of all features, which are not in this page"
    else:
        what = f"an average of several models ({learner.family}), which is too large for a page"
    cost = getattr(learner, "cost_of_single", None)
    said = "" if cost is None else f": so far it had {cost:+.1%} log loss against the average"
    return (
        f"Predictions of this model come from {what}. The form scores with one linear model in their place, "
        f"the one whose weights are shown{said}. Its probabilities differ from those of riata predict."
    )


def _surely_too_large(parts: Parts, bits: int, budget: int) -> bool:
    """Before it is packed: random bits do not get smaller."""
    least = sum(np.count_nonzero(array) for array in parts.arrays.values()) * (bits / 8 - 2)
    return least * 16 / 13 > budget


def _strongest(model: Model, parts: Parts, notes: list[str], budget: int) -> Packed:
    """As many features as fit, those with the largest weights."""
    order = np.argsort(-np.abs(parts.shown).max(axis=0, initial=0.0), kind="stable")
    share = 1.0
    for _ in range(8):
        kept = np.sort(order[: int(share * len(order))])
        packed = _pack(
            model, parts.take(kept), 32, notes, left_out=_largest(parts, order[len(kept) :])
        )
        if len(packed.text) <= budget or not len(kept):
            break
        share *= 0.97 * budget / len(packed.text)
    return packed


def _largest(parts: Parts, places: NDArray[Any]) -> tuple[int, float]:
    """How many features are left out, and the largest weight of them."""
    return len(places), float(np.abs(parts.shown[:, places]).max(initial=0.0))


def _pack(
    model: Model, parts: Parts, bits: int, notes: list[str], left_out: tuple[int, float] = (0, 0.0)
) -> Packed:
    learner, schema = model.learner, model.schema or Schema(named=False)
    notes = list(notes)
    names, lookup = _names(model, schema, parts.keys)
    longest = np.array([len(name) for name in names], dtype=np.int64) > LONGEST_NAME
    if longest.any():
        count, largest = _largest(parts, np.flatnonzero(longest))
        left_out = (left_out[0] + count, max(left_out[1], largest))
        names = [name for name, long in zip(names, longest.tolist(), strict=True) if not long]
        parts = parts.take(~longest)
    order = np.array(sorted(range(len(names)), key=names.__getitem__), dtype=np.int64)
    parts = parts.take(order)
    kind = np.float64 if bits == 64 else np.float32
    pack = Pack()
    pack.add_bytes("names", front_coded([names[i] for i in order.tolist()]), len(names))
    for name, array in parts.arrays.items():
        pack.add_array(name, array.astype(kind))
    if "weights" not in parts.arrays:
        pack.add_array("shown", parts.shown.astype(np.float32))
    if parts.std is not None:
        pack.add_array("std", parts.std.astype(np.float32))
    known = _add_counts(pack, schema)
    text, size = pack.text()
    about = {
        "outputs": learner.outputs,
        "lookup": lookup,
        "base": schema.base or 0,
        "bits": getattr(learner, "bits", None)
        if getattr(learner, "store", "") == "hashed"
        else None,
        "precision": bits,
        "texts_known": known,
        "cut": left_out[1],
        "cut_count": left_out[0],
        "index": pack.index,
        "packed": size,
    } | parts.about
    about.setdefault("shown_intercept", about.get("intercept"))
    if bits == 32:
        notes.append(
            "Weights are rounded to 32 bits here, to keep the page small: scores differ from those of "
            "riata predict in the seventh digit."
        )
    if left_out[0]:
        notes.append(
            f"{left_out[0]:,} features are not in this page: their weights are at most {left_out[1]:.3g}, or "
            f"their names longer than {LONGEST_NAME} bytes. The form says how far a score may be off for that."
        )
    return Packed(about, text, notes, len(names))


def _add_counts(pack: Pack, schema: Schema) -> bool:
    """In how many texts n-grams were, where these are weighed by it. False: the page cannot know."""
    if not schema.is_weighed or schema.text_weights is None:
        return not schema.is_weighed
    arrays = schema.text_weights.arrays()
    keys = arrays["text_keys"]
    if schema.hash_key is not None or len(keys) > MOST_COUNTS:
        return False
    pack.add_array("text_high", (keys >> 32).astype(np.float64))
    pack.add_array("text_low", (keys & 0xFFFFFFFF).astype(np.float64))
    pack.add_array("text_counts", arrays["text_counts"].astype(np.float64))
    return True


def _names(model: Model, schema: Schema, keys: NDArray[np.int64]) -> tuple[list[bytes], str]:
    """What the features are called in the page, and how it finds them: by name, by number, or by the key of a name."""
    names = model.learner.names(keys)
    if names is not None:
        return [name.encode("utf-8", "replace") for name in names], "name"
    hashed = getattr(model.learner, "store", "") == "hashed"
    first = 0 if schema.named or hashed else schema.base or 0
    numbers = [str(key + first).encode() for key in keys.tolist()]
    if not schema.named:
        return numbers, "number"
    return numbers, "none" if schema.hash_key is not None else "key"
