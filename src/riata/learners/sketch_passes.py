"""The multi-pass algorithms of the sketch, for one output: what happens between two passes.

A pass gives, at the weights it was made with, the objective, the gradient in every feature, the curvature among
the active ones, and from these a certificate of how far the optimum can be. Then Shooting moves the weights.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from statistics import NormalDist

import numpy as np

from riata import _core
from riata.block import Block
from riata.errors import DataError
from riata.learners.sketch_points import (
    ORIGIN,
    Certificate,
    Floats,
    Keys,
    PathPoint,
    Point,
    Settings,
    violation_of,
    weights_at,
)
from riata.learners.sketch_sample import Examples, SampleSettings, best_step

MOST_HALVINGS = 40
ROOM, ROOM_FACTOR = 1000, 3
"""Without a capacity, so many features may be active, or so many times the weights that are not zero. At the
start far more pull hard than will stay, and curvature is a square: the worst first, the others next time."""
ROUNDING = 1e-12
"""A rise of the objective by this much, relative, is none."""
CENTRED = 1e-9
"""The intercept on its own is at its best when its slope is this small, relative to the sum of their sizes."""
SAMPLE_TOL = 1e-4
"""How well a sample is solved that is not all of the data: its error is that of sampling."""
MOST_GAMMA = 1e300
"""A penalty that no feature overcomes."""


@dataclass
class Passes:
    """One output's run: begin, `core.accumulate` for every Block, `end`, and so on until `done`."""

    settings: Settings
    gammas: list[float]
    """Falling; empty until the first passes have shown where the path starts."""
    path_length: int = 0
    path_ratio: float = 1.0
    started: bool = False
    """It begins at weights that are worth going on from, not at zero."""
    core: _core.Sketch = field(init=False)
    at: int = 0
    passes: int = 0
    halvings: int = 0
    """Times in a row that a step was shortened, and what is left of it."""
    shortened: float = 1.0
    done: bool = False
    converged: bool = False
    needed: int = 0
    """The capacity that would do, where the one given does not."""
    accepted: Point | None = None
    fingerprint: tuple[int, int, int] | None = None
    history: list[dict[str, float]] = field(default_factory=list)
    path: list[PathPoint] = field(default_factory=list)

    def __post_init__(self) -> None:
        s = self.settings
        self.core = _core.Sketch(s.link, s.fit_intercept, s.algorithm == "multipass")
        self._begin(ORIGIN)

    @property
    def gamma(self) -> float:
        return self.gammas[self.at]

    @property
    def point(self) -> Point:
        """The weights that the current pass is made with."""
        w = self.core.weights
        first = int(self.settings.fit_intercept)
        return Point(self.core.keys, w[first:], float(w[0]) if first else 0.0, self.core.loss)

    def accumulate(
        self, block: Block, labels: Floats, positive: float, threads: int
    ) -> tuple[Floats, Floats]:
        """Scores and losses of the Block, which is now part of the pass."""
        return self.core.accumulate(
            block.indptr, block.indices, block.values, labels, block.weights, positive, threads,
            block.offsets,
        )  # fmt: skip

    def end(self, sample: Examples | None = None) -> None:
        """Judge the weights of this pass and move on: done, or the next pass has begun."""
        if self.done or self.core.fingerprint[0] == 0:
            return
        self._check_data()
        self.passes += 1
        if self.passes == 1 and not self.started and (self._start(sample) or self._centre()):
            return
        if not self.gammas:
            if self._recentre():
                return
            self._lay_path()
        point = self.point
        if self._rose(point):
            self._shorten(point, sample)
        else:
            self.accepted, self.halvings, self.shortened = point.pruned(), 0, 1.0
            self._advance(point, sample)
        if self.passes >= self.settings.max_passes:
            self.done = True

    # The parts of `end`

    def _check_data(self) -> None:
        seen = self.core.fingerprint
        if self.fingerprint is not None and self.fingerprint != seen:
            rows, nnz, _ = self.fingerprint
            raise DataError(
                f"the data changed between passes: {rows:,} examples with {nnz:,} values at first, now "
                f"{seen[0]:,} with {seen[1]:,}, or others in their place; train on a file that stays as it is"
            )
        self.fingerprint = seen
        positive, weight = self.core.positive, self.core.weight
        if weight == 0:
            raise DataError("all examples have weight 0: there is nothing to learn from")
        free = self.settings.fit_intercept and not self.settings.penalize_intercept
        if free and positive in (0.0, weight):
            raise DataError(
                "all labels are equal, and one class is not enough: without a penalty the intercept grows "
                "without bound; "
                "check the labels, or use penalize_intercept=True"
            )

    def _start(self, sample: Examples | None) -> bool:
        """After the first pass, at zero: go on from the solution of the sample."""
        if sample is None or not self.gammas or isinstance(self.settings, SampleSettings):
            return False
        point = self.point
        run = self._solved(sample, None)
        if run is None:
            return False
        self._note(self._certify(point, self.gamma), point)
        self.accepted = point.pruned()
        self._go_on_from(run)
        if self.passes >= self.settings.max_passes:
            self.done = True
        return True

    def _solved(self, sample: Examples, start: Point | None) -> Passes | None:
        """The run to the solution for the sample, by passes over it alone; None where it has none."""
        tol = self.settings.tol / 4 if sample.whole else max(self.settings.tol, SAMPLE_TOL)
        gamma = self.gamma * sample.weight / self.core.weight
        run = Passes(SampleSettings(self.settings, tol), [gamma], started=start is not None)
        if start is not None:
            run._begin(start, self.point.keys)
        try:
            while not run.done:
                run.accumulate(sample.block, sample.labels, sample.positive, 1)
                run.end(sample)
        except DataError:  # one class alone, or weights of zero
            return None
        return run

    def _go_on_from(self, run: Passes) -> None:
        solution = run.accepted or ORIGIN
        keys = np.sort(solution.keys)
        if self.settings.algorithm == "reduced":
            keys = self._fill(keys, run.core.keys)
        self._begin(Point(solution.keys, solution.weights, solution.intercept), keys)

    def _centre(self) -> bool:
        """After the first pass, at zero: the best intercept on its own, and who is active there."""
        if not self.settings.fit_intercept or self.settings.penalize_intercept:
            return False
        share = self.core.positive / self.core.weight
        intercept = (
            math.log(share / (1 - share))
            if self.settings.link == "logit"
            else NormalDist().inv_cdf(share)
        )
        point = self.point
        if self.gammas:
            # the certificate at zero; the path of gammas starts at the best intercept instead
            self._note(self._certify(point, self.gamma), point)
        self.accepted = point.pruned()
        keys, _ = self._candidates(point, self.gamma if self.gammas else math.inf)
        self._begin(Point(ORIGIN.keys, ORIGIN.weights, intercept), keys)
        if self.passes >= self.settings.max_passes:
            self.done = True
        return True

    def _recentre(self) -> bool:
        """Where examples have offsets, no formula gives the best intercept on its own: Newton's steps, a pass each."""
        free = self.settings.fit_intercept and not self.settings.penalize_intercept
        if not free or abs(self.core.slope) <= CENTRED * self.core.lean:
            return False
        step, _, _ = self.core.solve(MOST_GAMMA, 0.0, 0.0, 0.0, 1)
        before = self.point
        intercept = min(max(float(step[0]), before.intercept - 2), before.intercept + 2)
        self._begin(Point(ORIGIN.keys, ORIGIN.weights, intercept), before.keys)
        if self.passes >= self.settings.max_passes:
            self.done = True
        return True

    def _lay_path(self) -> None:
        """A geometric grid from the smallest gamma that leaves nothing but the intercept."""
        _, outside = self.core.outside(0.0)
        largest = max(
            np.abs(self.core.active_gradient()).max(initial=0.0), np.abs(outside).max(initial=0.0)
        )
        if largest == 0:
            raise DataError("no feature has any bearing on the labels: there is no path to follow")
        self.gammas = [
            float(g) for g in largest * np.geomspace(1, self.path_ratio, self.path_length)
        ]

    def _rose(self, point: Point) -> bool:
        if self.accepted is None:
            return False
        penalized = self.settings.penalize_intercept
        before = self.accepted.loss + self.gamma * self.accepted.l1(penalized)
        now = point.loss + self.gamma * point.l1(penalized)
        return not now <= before + ROUNDING * abs(before)

    def _shorten(self, point: Point, sample: Examples | None) -> None:
        """Back towards the last good weights, from where a convex function falls: as far as the sample says, or
        half way."""
        assert self.accepted is not None
        self._note(self._certify(point, self.gamma), point)
        self.halvings += 1
        if self.halvings > MOST_HALVINGS:
            self.done = True
            return
        end = point.pruned()
        step = 0.5
        if sample is not None:
            gamma = self.gamma * sample.weight / self.core.weight
            penalized = self.settings.penalize_intercept
            best = best_step(sample, self.settings.link, gamma, self.accepted, end, penalized)
            step = min(best, 0.5)
        self.shortened *= step
        keys = np.union1d(self.accepted.keys, end.keys)
        here, there = weights_at(self.accepted, keys), weights_at(end, keys)
        intercept = self.accepted.intercept + step * (end.intercept - self.accepted.intercept)
        self._begin(
            Point(keys, here + step * (there - here), intercept), self._fill(keys, point.keys)
        )

    def _advance(self, point: Point, sample: Examples | None) -> None:
        """Down the path for as long as this pass answers for it, then a step towards the next solution."""
        before = self.at
        while True:
            certificate = self._certify(point, self.gamma)
            self._note(certificate, point)
            self.converged = certificate.gap <= self.settings.tol * certificate.objective
            if not self.converged:
                break
            self._keep(point, certificate)
            if self.at + 1 == len(self.gammas):
                self.done = True
                return
            self.at += 1
        if self._stuck(point, certificate):
            self._keep(point, certificate)
            self.done = True
            return
        run = None
        if self.at > before and sample is not None and sample.whole:
            run = self._solved(sample, point)
        if run is not None:
            self._go_on_from(run)
        else:
            self._step(point, certificate)

    def _step(self, point: Point, certificate: Certificate) -> None:
        s, gamma = self.settings, self.gamma
        # As exact as the model deserves: it is wrong by much more than a hundredth of the violation.
        accuracy = max(0.01 * certificate.violation, 0.1 * s.tol * gamma)
        w, _, _ = self.core.solve(gamma, gamma * s.penalize_intercept, 0.0, accuracy, 2000)
        first = int(s.fit_intercept)
        step = Point(point.keys, w[first:], float(w[0]) if first else 0.0)
        _, worst_first = self._candidates(point, gamma)
        keys = np.sort(step.keys[step.weights != 0])
        if s.algorithm == "reduced":
            keys = self._fill(keys, worst_first)
            if s.capacity is not None:  # section 5.1: with room to spare, who was active stays
                keys = self._fill(keys, point.keys)
        self._begin(step, keys)

    def _candidates(self, point: Point, gamma: float) -> tuple[Keys, Keys]:
        """Features with |gradient| >= tau * gamma: ascending, and again in falling order of it."""
        if self.settings.algorithm == "multipass":
            return ORIGIN.keys, ORIGIN.keys
        outside, pull = self.core.outside(self.settings.tau * gamma)
        inside = self.core.active_gradient()[int(self.settings.fit_intercept) :]
        near = np.abs(inside) >= self.settings.tau * gamma
        keys = np.concatenate([outside, point.keys[near]])
        pulls = np.abs(np.concatenate([pull, inside[near]]))
        ranked = keys[np.lexsort((keys, -pulls))]
        return self._fill(ORIGIN.keys, ranked), ranked

    def _fill(self, keys: Keys, more: Keys) -> Keys:
        """Those keys, and as many of the others as there is room for, first come first served; ascending."""
        new = more[~np.isin(more, keys)]
        room = self.settings.capacity or max(ROOM, ROOM_FACTOR * len(keys))
        new = new[: max(0, room - len(keys))]
        return np.sort(np.concatenate([keys, new]))

    def _stuck(self, point: Point, certificate: Certificate) -> bool:
        """The active features are at their optimum, others should join, and there is no room."""
        s = self.settings
        if s.capacity is None or certificate.violators == 0:
            return False
        support = int(np.count_nonzero(point.weights))
        if support < s.capacity:
            return False
        r, w = self.core.active_gradient(), self.core.weights
        if (
            violation_of(r, w, self._penalties(self.gamma, len(w))).max(initial=0.0)
            > 10 * s.tol * self.gamma
        ):
            return False
        self.needed = support + certificate.violators
        return True

    def _begin(self, point: Point, active: Keys | None = None) -> None:
        keys = point.keys if active is None else active
        self.core.begin(keys, weights_at(point, keys), point.intercept)

    # What the pass says

    def _penalties(self, gamma: float, n: int) -> Floats:
        penalties = np.full(n, gamma)
        if self.settings.fit_intercept and not self.settings.penalize_intercept:
            penalties[:1] = 0.0
        return penalties

    def _certify(self, point: Point, gamma: float) -> Certificate:
        """The objective, a bound on its distance from the minimum, and the largest violation.

        For a feasible dual point take the slopes of the losses and shrink them: all by s, until no feature pulls
        harder than gamma, and before that, where the intercept is free, those of the class that pulls harder by r,
        until both pull alike. A dual term is concave and 0 at 0, so shrinking it by s leaves at least s times it.
        """
        core, s = self.core, self.settings
        r, w = core.active_gradient(), core.weights
        _, outside = core.outside(min(s.tau, 0.999) * gamma)
        pulls = np.abs(outside)
        objective = point.loss + gamma * point.l1(s.penalize_intercept)
        violation = max(
            violation_of(r, w, self._penalties(gamma, len(w))).max(initial=0.0),
            pulls.max(initial=gamma) - gamma,
        )
        free = s.fit_intercept and not s.penalize_intercept
        hardest = max(np.abs(r[int(free) :]).max(initial=0.0), pulls.max(initial=0.0))
        dual = point.loss + float(w @ r)  # sum of loss - margin * slope
        if free:
            positive = (core.lean - core.slope) / 2
            negative = (core.lean + core.slope) / 2
            ratio = min(positive, negative) / max(positive, negative) if core.lean > 0 else 1.0
            heavier = core.dual if positive > negative else dual - core.dual
            dual -= (1 - ratio) * heavier
            hardest += abs(core.slope) * core.largest
        scale = gamma / hardest if hardest > gamma else 1.0
        gap = max(0.0, objective - scale * dual)
        return Certificate(
            objective, float(gap), float(violation), int(np.count_nonzero(pulls > gamma))
        )

    def _note(self, certificate: Certificate, point: Point) -> None:
        self.history.append(
            {
                "pass": self.passes,
                "gamma": self.gamma,
                "objective": certificate.objective,
                "gap": certificate.gap,
                "violation": certificate.violation,
                "active": len(point.keys),
                "support": int(np.count_nonzero(point.weights)),
                "step": self.shortened,
            }
        )

    def _keep(self, point: Point, certificate: Certificate) -> None:
        live = point.pruned()
        self.path.append(
            PathPoint(
                self.gamma, live.keys, live.weights, live.intercept,
                certificate.objective, certificate.gap, self.passes,
            )
        )  # fmt: skip
