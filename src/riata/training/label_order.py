"""What is said of labels that come in an order from which a model learns too much of its end."""

from __future__ import annotations

import warnings

from riata.labels import Classes, in_words
from riata.metrics_running import LabelOrder

_SHUFFLE = (
    "shuffle the data, or use --shuffle ROWS (shuffle=...) with as many rows as fit into memory, "
    "all of them if they do"
)


def warn_of_order(order: LabelOrder, classes: Classes | None, name: str) -> None:
    """Of sorted labels, else of many of one class at the end, else of shares that changed."""
    if order.sorted:
        changes = "once" if order.changes == 1 else f"{order.changes:,} times"
        warnings.warn(
            f"{name}: the labels come sorted: {changes} in {order.examples:,} examples was a label not that of the one "
            f"before, where random order makes it {order.usual:,.0f} times. The loss that is shown is then far too "
            f"good, and the model knows best what came last: {_SHUFFLE}",
            stacklevel=3,
        )
        return
    if classes is None:
        return

    def label(code: int) -> str:
        return in_words(classes.labels[code : code + 1])

    if order.one_class_at_the_end:
        warnings.warn(
            f"{name}: the last {order.run:,} of {order.examples:,} examples are all of class {label(order.last)}; "
            f"of those before, {100 * order.share_before:.3g} % were. The model knows best what came last, and the "
            f"loss that is shown is too good: {_SHUFFLE}",
            stacklevel=3,
        )
        return
    code, before, after = order.drift.widest
    if order.drift.is_wide:
        warnings.warn(
            f"{name}: of the first quarter of the examples {100 * before:.3g} % are of class {label(code)}, of the "
            f"last {100 * after:.3g} %. The model knows best what came last. That is as it should be where what is "
            f"to be predicted comes after it; else {_SHUFFLE}",
            stacklevel=3,
        )
