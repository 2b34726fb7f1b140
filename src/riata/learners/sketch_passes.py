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
from riata.learners.sketch_bounds import Limits
from riata.learners.sketch_certificate import certify, slot_limits, worst_violation
from riata.learners.sketch_memory import Solution
from riata.learners.sketch_parameters import check_data
from riata.learners.sketch_points import (
    ORIGIN,
    Certificate,
    Floats,
    Keys,
    PathPoint,
    Point,
    Settings,
    hardest_first,
    history_entry,
    shorter_step,
    weights_at,
)
from riata.learners.sketch_rest import NEAR, Rest, accumulate, step_by_hard_ones
from riata.learners.sketch_sample import Examples, SampleSettings, most_sweeps
from riata.learners.sketch_start import first_in_memory, solve_in_memory

MOST_HALVINGS = 40
ROOM, ROOM_FACTOR = 1000, 3
"""Without a capacity, so many features may be active, or so many times the weights that are not zero. At the
start far more pull hard than will stay, and curvature is a square: the worst first, the others next time."""
SAMPLE_ROOM, SAMPLE_ROOM_FACTOR = 100, 2
"""The same where passes are cheap and curvature is what costs: over a sample in memory."""
ROUNDING = 1e-12
"""A rise of the objective by this much, relative, is none."""
CENTRED = 1e-9
"""The intercept on its own is at its best when its slope is this small, relative to the sum of their sizes."""
PATIENCE = 8
"""Where all examples are in memory, they are solved there if so many passes did not do."""
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
    limits: Limits | None = None
    rest: Rest | None = None
    """Examples besides those of the passes, as a quadratic model."""
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
        self._begin(self._origin())

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
        return accumulate(self.core, block, labels, positive, threads)

    def end(self, sample: Examples | None = None) -> None:
        """Judge the weights of this pass and move on: done, or the next pass has begun."""
        if self.done or self.core.fingerprint[0] == 0:
            return
        if self.rest is not None:
            self.rest.add_to(self.core, self.accepted)
        check_data(self.core, self.settings, self.fingerprint)
        self.fingerprint = self.core.fingerprint
        self.passes += 1
        if self.passes == 1 and not self.started and (self._start(sample) or self._centre()):
            return
        if not self.gammas:
            if self._recentre():
                return
            self._lay_path()
        point = self.point
        if self._rose(point):
            self._shorten(point)
        else:
            self.accepted, self.halvings = point.pruned(), 0
            self._advance(point, sample)
            self.shortened = 1.0
        if self._spent:
            self.done = True

    @property
    def _spent(self) -> bool:
        """Whether this penalty has had its passes: those since the one before it was solved."""
        since = self.path[-1].passes if self.path else 0
        return self.passes - since >= self.settings.max_passes

    def start_at(self, point: Point) -> None:
        """Begin at weights that are worth going on from; those that are not zero are active."""
        self._begin(point, point.keys[point.weights != 0])

    # The parts of `end`

    def _start(self, sample: Examples | None) -> bool:
        """After the first pass, at zero: go on from a solution in memory."""
        if sample is None or not self.gammas or isinstance(self.settings, SampleSettings):
            return False
        point = self.point
        certificate = self._certify(point, self.gamma)
        if certificate.gap <= self.settings.tol * certificate.objective:
            return False
        solved, whole = first_in_memory(self, sample)
        if solved is None:
            return False
        self._note(certificate, point)
        self.accepted = point.pruned()
        self._go_on_from(solved, whole)
        if self._spent:
            self.done = True
        return True

    def _go_on_from(self, solution: Solution, whole: bool) -> None:
        """The solution for the sample; where that is all examples, nothing but its certificate is asked for."""
        point, keys = solution.point, solution.point.keys
        if self.settings.algorithm == "reduced":
            if whole:
                self.core.begin(keys, point.weights, point.intercept, curved=False)
                return
            others = hardest_first(solution.keys, solution.pulls, NEAR * solution.gamma)
            keys = self.fill(keys, others)
        self._begin(point, keys)

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
        start = self._origin(intercept)
        self._begin(start, np.union1d(keys, start.keys))
        if self._spent:
            self.done = True
        return True

    def _recentre(self) -> bool:
        """Where examples have offsets, no formula gives the best intercept on its own: Newton's steps, a pass each."""
        free = self.settings.fit_intercept and not self.settings.penalize_intercept
        if not free or abs(self.core.slope) <= CENTRED * self.core.absolute_slope:
            return False
        _, best = self._solve(MOST_GAMMA, 0.0, 0.0, 1)
        before = self.point
        intercept = min(max(best, before.intercept - 2), before.intercept + 2)
        self._begin(self._origin(intercept), before.keys)
        if self._spent:
            self.done = True
        return True

    def _lay_path(self) -> None:
        """A geometric grid from the smallest gamma that leaves nothing but the intercept."""
        _, outside = self.outside(0.0)
        inside = self.core.active_gradient()
        if self.limits is not None:
            first = int(self.settings.fit_intercept)
            inside = inside[first:][self.limits.allowed(self.core.keys, inside[first:])]
        largest = max(np.abs(inside).max(initial=0.0), np.abs(outside).max(initial=0.0))
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

    def _shorten(self, point: Point) -> None:
        """Back towards the last good weights, from where a convex function falls: as far as the pass says."""
        assert self.accepted is not None
        self._note(self._certify(point, self.gamma), point)
        self.halvings += 1
        if self.halvings > MOST_HALVINGS:
            self.done = True
            return
        step, there = shorter_step(
            self.core.along(),
            self.accepted,
            point.pruned(),
            self.gamma,
            self.settings.penalize_intercept,
        )
        self.shortened *= step
        self._begin(there, self.fill(there.keys, point.keys))

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
        solved = None
        again = self.at > before or not self.core.curved or self.passes >= PATIENCE
        if sample is not None and sample.whole and again:
            solved = solve_in_memory(self, sample, point)
        elif sample is not None and sample.hard and self.settings.algorithm == "reduced":
            self._begin(*step_by_hard_ones(self, sample, point, certificate))
            return
        if solved is not None:
            self._go_on_from(solved, True)
        elif not self.core.curved:  # the same pass again, with what a step takes
            self._begin(point, self.fill(point.keys, self._candidates(point, self.gamma)[1]))
        else:
            self._step(point, certificate)

    def _step(self, point: Point, certificate: Certificate) -> None:
        s, gamma = self.settings, self.gamma
        # As exact as the model deserves: it is wrong by much more than a hundredth of the violation.
        accuracy = max(0.01 * certificate.violation, 0.1 * s.tol * gamma)
        sweeps = most_sweeps(s, certificate, self.history)
        step = Point(
            point.keys, *self._solve(gamma, gamma * s.penalize_intercept, accuracy, sweeps)
        )
        _, worst_first = self._candidates(point, gamma)
        keys = np.sort(step.keys[step.weights != 0])
        if s.algorithm == "reduced":
            keys = self.fill(keys, worst_first)
            if s.capacity is not None:  # section 5.1: with room to spare, who was active stays
                keys = self.fill(keys, point.keys)
        self._begin(step, keys)

    def _candidates(self, point: Point, gamma: float) -> tuple[Keys, Keys]:
        """Features with |gradient| >= tau * gamma: ascending, and again in falling order of it."""
        if self.settings.algorithm == "multipass":
            return ORIGIN.keys, ORIGIN.keys
        outside, pull = self.outside(self.settings.tau * gamma)
        inside = self.core.active_gradient()[int(self.settings.fit_intercept) :]
        keys, pulls = np.concatenate([outside, point.keys]), np.concatenate([pull, inside])
        ranked = hardest_first(keys, pulls, self.settings.tau * gamma)
        return self.fill(ORIGIN.keys, ranked), ranked

    def fill(self, keys: Keys, more: Keys) -> Keys:
        """Those keys, and as many of the others as there is room for, first come first served; ascending."""
        new = more[~np.isin(more, keys)]
        room, factor = ROOM, ROOM_FACTOR
        if isinstance(self.settings, SampleSettings):
            room, factor = SAMPLE_ROOM, SAMPLE_ROOM_FACTOR
        room = self.settings.capacity or max(room, factor * len(keys))
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
        if worst_violation(self.core, s, self.limits, self.gamma) > 10 * s.tol * self.gamma:
            return False
        self.needed = support + certificate.violators
        return True

    def _begin(self, point: Point, active: Keys | None = None) -> None:
        keys = point.keys if active is None else active
        start = self.accepted
        if start is not None:
            whole = np.union1d(keys, start.keys)
            room = self.settings.capacity
            if room is not None and len(whole) > max(room, len(keys)):
                start = (
                    None  # no room for what the step sets to zero: it is halved where it overshoots
                )
            elif self.settings.algorithm == "reduced":
                keys = whole
            else:
                keys = np.concatenate([keys, np.setdiff1d(start.keys, keys)])
        self.core.begin(keys, weights_at(point, keys), point.intercept)
        if start is not None:
            self.core.came_from(start.keys, start.weights, start.intercept)

    # What the pass says

    def _certify(self, point: Point, gamma: float) -> Certificate:
        return certify(self.core, self.settings, self.limits, point, gamma)

    def outside(self, threshold: float) -> tuple[Keys, Floats]:
        """Features that are not active, pull at least so hard and may go there; and their pulls."""
        keys, pulls = self.core.outside(threshold)
        if self.limits is not None:
            may = self.limits.allowed(keys, pulls)
            keys, pulls = keys[may], pulls[may]
        return keys, pulls

    def _solve(
        self, gamma: float, gamma0: float, accuracy: float, sweeps: int
    ) -> tuple[Floats, float]:
        """The minimum of the model: weights of the active features, and the intercept."""
        low = high = None
        if self.limits is not None:
            low, high = slot_limits(self.core, self.settings, self.limits)
        w, _, _ = self.core.solve(gamma, gamma0, 0.0, accuracy, sweeps, low, high)
        first = int(self.settings.fit_intercept)
        return w[first:], float(w[0]) if first else 0.0

    def _origin(self, intercept: float = 0.0) -> Point:
        if self.limits is not None:
            return self.limits.origin(intercept)
        return Point(ORIGIN.keys, ORIGIN.weights, intercept)

    def _note(self, certificate: Certificate, point: Point) -> None:
        self.history.append(
            history_entry(self.passes, self.gamma, certificate, point, self.shortened)
        )

    def _keep(self, point: Point, certificate: Certificate) -> None:
        live = point.pruned()
        self.path.append(
            PathPoint(
                self.gamma, live.keys, live.weights, live.intercept,
                certificate.objective, certificate.gap, self.passes,
            )
        )  # fmt: skip
