"""Examples that are never learned: where they are, and how good the model is on them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import closing
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from riata.batches import iterate
from riata.block import Block
from riata.errors import DataError
from riata.labels import Classes, words_of
from riata.metrics import Evaluation
from riata.record import Model, check_hash_key
from riata.sources.source import unweighed
from riata.training.encoder import Encoder

if TYPE_CHECKING:
    from riata.learners import Learner
    from riata.sources import Source

Floats: TypeAlias = NDArray[np.float64]


class Holdout:
    """A fraction of the examples, or a source of its own."""

    def __init__(self, holdout: float | Source) -> None:
        if isinstance(holdout, int | float):
            self.fraction, self.source = float(holdout), None
        else:
            self.fraction, self.source = 0.0, unweighed(holdout)

    def __bool__(self) -> bool:
        return self.fraction > 0 or self.source is not None

    @property
    def setting(self) -> float | str:
        """As settings keep it."""
        return self.fraction if self.source is None else self.source.name

    def score(
        self,
        learner: Learner,
        held_out: Iterable[Block],
        encode: Callable[[Source], Callable[[Block], Block]],
        weigh: Callable[[Block], Block] = lambda block: block,
    ) -> dict[str, Any] | None:
        """What `metrics.Evaluation` says of the examples held out; None where there are none.

        `encode` says what becomes of the labels of a source, `weigh` of the values of texts.
        """
        if not self:
            return None
        evaluation = Evaluation(learner.task, learner.outputs)
        if self.source is not None:
            check_hash_key(learner, self.source)
            prepare = encode(self.source)
            with closing(iterate(self.source)) as blocks:
                for block in blocks:
                    evaluate_block(evaluation, learner, weigh(prepare(block)))
            if evaluation.examples == 0:
                raise DataError(f"{self.source.name}: the holdout has no examples")
        for block in held_out:
            evaluate_block(evaluation, learner, weigh(block))
        return evaluation.result() if evaluation.examples else None


def evaluate(model: Model, blocks: Iterable[Block]) -> dict[str, Any]:
    """Score labelled Blocks, or those of a source, and say how good it is: `metrics.Evaluation.result`."""
    encode = encode_for(model, blocks)
    evaluation = Evaluation(model.learner.task, model.learner.outputs)
    if hasattr(blocks, "schema"):  # a source
        check_hash_key(model.learner, blocks)
        from riata.sources.weighed import checked_and_weighed  # training does without

        blocks = checked_and_weighed(cast("Source", blocks), model.schema)
    with closing(iterate(cast("Source", blocks))) as read:
        for block in read:
            evaluate_block(evaluation, model.learner, encode(block))
    return evaluation.result()


def encode_for(model: Model, source: Any, class_weight: Any = None) -> Callable[[Block], Block]:
    """What becomes of the labels of a source that a model is used on."""
    if model.classes is None:
        return with_labels
    encoder = Encoder(Classes(model.labels, fixed=True), class_weight)
    return encoder.encode_other(words_of(source))


def evaluate_block(evaluation: Evaluation, learner: Learner, block: Block) -> None:
    labels = cast(Floats, block.labels)
    scores = learner.score(block)
    losses = learner.losses(scores, labels)
    evaluation.add(scores, learner.probability(scores), labels, block.weights, losses)


def with_labels(block: Block) -> Block:
    """A regression's labels stay what they are."""
    if block.labels is None:
        raise DataError(f"{block.where(0)}: the examples have no labels")
    return block
