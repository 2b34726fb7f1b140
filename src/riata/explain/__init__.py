"""What a model is, and why it says what it says: summaries, explanations, differences."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import closing
from typing import Any

from riata.block import Block
from riata.explain.contributions import ORIGINS, STEPS, Contributions, Explainer
from riata.explain.explanation import Explanation, Explanations, Term, explained
from riata.explain.summary import Summary, Wanted, summary
from riata.record import Model
from riata.sources.source import iterate

__all__ = [
    "ORIGINS",
    "STEPS",
    "Contributions",
    "Explainer",
    "Explanation",
    "Explanations",
    "Summary",
    "Term",
    "Wanted",
    "explain",
    "explained",
    "summary",
]


def explain(
    model: Model,
    blocks: Iterable[Block],
    *,
    target: Any = None,
    top: int | None = None,
    origin: str = "average",
    texts: Sequence[dict[str, str]] | None = None,
) -> Explanations:
    """Take the scores of these rows apart; see `Explainer`. The rows stay in memory."""
    explainer = Explainer(model, origin)
    with closing(iterate(blocks)) as read:  # type: ignore[arg-type]
        parts = [explainer.of(block) for block in read]
    return Explanations(model, parts, target, top, texts)
