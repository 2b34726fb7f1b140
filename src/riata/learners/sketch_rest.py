"""Where a step of the sketch leads when not all examples fit into memory.

The hard examples of the pass, those with the largest losses, are kept as they are; all others as the quadratic model of
their losses, which the pass added up anyway. The sum of both has the value, the gradient and the curvature of the
objective at the weights of the pass, and where that is not quadratic it follows the examples that matter most. Its
minimum costs no pass: it is found by Newton's steps over the examples in memory.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from riata import _core
from riata.block import Block
from riata.learners.sketch_points import (
    Certificate,
    Floats,
    Keys,
    Point,
    hardest_first,
    weights_at,
)
from riata.learners.sketch_sample import Examples, SampleSettings

if TYPE_CHECKING:
    from riata.learners.sketch_passes import Passes

NEAR = 0.5
"""Features that pull at least this hard, relative to gamma, may become active by what hard examples say of them."""
REST_TOL, REST_PASSES = 0.01, 100
"""How well the model is solved, relative to the square of the relative gap, and in how many steps at most."""

RIDGE = 1e-9
"""What is added to the curvature of the others, relative to that of all: more than what rounding takes away."""
SCALARS = 6


@dataclass
class Rest:
    """The quadratic model of the examples that are not kept, in the active features."""

    keys: Keys
    at: Floats
    """Weights by slot where the model was taken: the intercept first, where there is one; the same for the rest."""
    scalars: Floats
    """loss, slope, weight, positive, absolute slope and dual there."""
    gradient: Floats
    curvature: NDArray[np.float64]
    largest: float
    intercept: bool

    @classmethod
    def of(cls, whole: _core.Sketch, kept: _core.Sketch, intercept: bool) -> Rest:
        """All examples but those kept; both passes were made at the same weights."""
        n = len(whole.weights)
        curvature = whole.curvature().reshape(n, n)
        ridge = RIDGE * np.diagonal(curvature)
        curvature -= kept.curvature().reshape(n, n)
        curvature[np.diag_indices(n)] += ridge
        gradient = kept.active_gradient() - whole.active_gradient()
        scalars = _total(whole) - _total(kept)
        return cls(
            whole.keys, whole.weights, scalars, gradient, curvature, whole.largest, intercept
        )

    def add_to(self, core: _core.Sketch, start: Point | None) -> None:
        """Add it to a pass over the examples that are kept, wherever that was made; `start`: where its step began."""
        first = int(self.intercept)
        intercept = float(core.weights[0]) if first else 0.0
        point = Point(core.keys, core.weights[first:], intercept)
        here = self._slots(point)
        slopes, loss = self._model(here - self.at)
        model = _core.Sketch("logit", self.intercept, False)
        model.begin(core.keys, point.weights, intercept)
        sums = np.zeros((2, SCALARS))  # all of it in the first of the two parts of a pass
        sums[0] = self.scalars
        sums[0, 0], sums[0, -1] = loss, 0.0
        if first:
            sums[0, 1], sums[0, 4] = slopes[0], abs(slopes[0])
        lengths, _ = core.along()
        along = np.zeros((2, len(lengths)))
        if start is not None and len(lengths):
            begin = self._slots(start)
            model.came_from(start.keys, start.weights, start.intercept)
            along[0] = [self._model(begin + t * (here - begin) - self.at)[1] for t in lengths]
        model.set_curvature(self._cells(core.keys))
        gradients = np.zeros((len(self.keys), 2))
        gradients[:, 0] = slopes[first:]
        scalars = [*sums.ravel(), *along.ravel(), self.largest]
        features = max(core.features, int(self.keys.max(initial=-1)) + 1)
        model.set_sums(scalars, self.keys, gradients, features)
        core.merge(model)

    def _cells(self, keys: Keys) -> Floats:
        """The curvature of these features and the intercept."""
        first = int(self.intercept)
        slots = np.concatenate([np.arange(first), first + np.searchsorted(self.keys, keys)])
        cells: Floats = self.curvature[np.ix_(slots, slots)].ravel()
        return cells

    def _slots(self, point: Point) -> Floats:
        weights = weights_at(point, self.keys)
        return np.append(point.intercept, weights) if self.intercept else weights

    def _model(self, change: Floats) -> tuple[Floats, float]:
        """The gradient and the loss, so far from where the model was taken."""
        curved = self.curvature @ change
        return self.gradient + curved, float(
            self.scalars[0] + self.gradient @ change + 0.5 * change @ curved
        )


def _total(core: _core.Sketch) -> Floats:
    return np.array(
        [core.loss, core.slope, core.weight, core.positive, core.absolute_slope, core.dual]
    )


def accumulate(
    core: _core.Sketch, block: Block, labels: Floats, positive: float, threads: int
) -> tuple[Floats, Floats]:
    """Add the Block to the pass; its scores and losses."""
    return core.accumulate(
        block.indptr, block.indices, block.values, labels, block.weights, positive, threads,
        block.offsets,
    )  # fmt: skip


def on_features(block: Block, keys: Keys) -> Block:
    """The rows with these features alone, which are ascending."""
    inside = np.isin(block.indices, keys)
    ends = np.concatenate([[0], np.cumsum(inside)])[block.indptr]
    return Block(
        ends.astype(np.int64), block.indices[inside], block.values[inside], block.labels, block.weights,
        offsets=block.offsets,
    )  # fmt: skip


def step_by_hard_ones(
    passes: Passes, sample: Examples, point: Point, certificate: Certificate
) -> tuple[Point, Keys]:
    """The minimum of the model in the active features, and which features are to be active there."""
    s, gamma = passes.settings, passes.gamma
    near, pulls = passes.outside(NEAR * gamma)
    block = on_features(sample.block, np.union1d(point.keys, near))
    before = _pass_in_memory(passes, sample, block, point)
    inside = on_features(block, point.keys)
    far = certificate.gap / certificate.objective
    run = type(passes)(
        SampleSettings.like(s, max(s.tol / 4, REST_TOL * far**2), REST_PASSES),
        [gamma],
        started=True,
        limits=passes.limits,
        rest=Rest.of(passes.core, before, s.fit_intercept),
    )
    run.start_at(point)
    while not run.done:
        run.accumulate(inside, sample.labels, sample.positive, 1)
        run.end()
    solution = run.accepted
    assert solution is not None
    # how hard other features will pull there, as far as the hard examples say
    after = _pass_in_memory(passes, sample, block, solution)
    then, now = (weights_at(Point(*core.outside(0.0), 0.0), near) for core in (before, after))
    own = run.core.active_gradient()[int(s.fit_intercept) :]
    keys = np.concatenate([near, run.core.keys])
    ranked = hardest_first(keys, np.concatenate([pulls + now - then, own]), s.tau * gamma)
    return solution, passes.fill(np.sort(solution.keys), ranked)


def _pass_in_memory(passes: Passes, sample: Examples, block: Block, point: Point) -> _core.Sketch:
    """The sums over these examples at the weights."""
    core = _core.Sketch(passes.settings.link, passes.settings.fit_intercept, False)
    core.begin(point.keys, point.weights, point.intercept)
    accumulate(core, block, sample.labels, sample.positive, 1)
    return core
