"""What the settings of `auto` add together, each seeing values in its own way."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from riata.block import Block
from riata.learners.portfolio import (
    INTERCEPT_VARIANCE,
    corrections,
    whole_intercept,
    whole_rows,
)
from riata.learners.portfolio_settings import SETTINGS, groups_of
from riata.reference.classes import against_others

Floats = NDArray[np.float64]


@dataclass
class Moments:
    """Of weights: their means, and their variances where a setting has them, zero elsewhere; (n, outputs, settings)."""

    means: Floats
    variances: Floats


def moments_of(
    rows: Floats, settings: tuple[int, ...], outputs: int, prior: float | None = None
) -> Moments:
    """What the rows of a model say. `prior`: the variance before anything was learned, if not the setting's."""
    means, variances = (np.zeros((len(rows), outputs, len(settings))) for _ in range(2))
    at = 2
    for rule, _, low, high in groups_of(settings):
        width = outputs * (high - low)
        means[:, :, low:high] = rows[:, at : at + width].reshape(len(rows), outputs, high - low)
        if rule == "bayesian":
            gains = rows[:, at + width : at + 2 * width].reshape(len(rows), outputs, high - low)
            before = [SETTINGS[k][2] if prior is None else prior for k in settings[low:high]]
            variances[:, :, low:high] = 1 / (1 / np.array(before) + gains)
        at += 2 * width
    return Moments(means, variances)


@dataclass
class Settings:
    """A model of `auto`, setting by setting; behind all features one that was never seen.

    The score is the log odds of an average of probabilities. What a feature adds to it is what it adds to the log odds
    of each setting, weighted by how much the average follows that setting in this row: by the slope of the average in
    the setting's log odds, the slopes of a row made to add up to one. A setting that is sure of what another doubts
    has little say in an average of probabilities, and so in what is shown.
    """

    keys: NDArray[np.int64]
    counts: Floats
    squares: Floats
    settings: tuple[int, ...]
    features: Moments
    intercept: Moments
    log_weights: Floats
    """(outputs, settings), as are those below."""
    factors: Floats
    constants: Floats
    shares: bool
    """Whether the outputs of each setting share one probability."""

    def _ways(self, block: Block, places: NDArray[np.int32], seen: Floats) -> dict[str, Floats]:
        """What each setting may see of the values, as when it scores."""
        rows = np.repeat(np.arange(len(block)), np.diff(block.indptr))
        squares = self.squares[places] + seen**2
        size = np.sqrt(squares / (self.counts[places] + 1))
        ways = {"raw": seen, "rms": np.divide(seen, size, out=np.zeros_like(seen), where=size > 0)}
        for name in ("raw", "rms"):
            sums = np.bincount(rows, ways[name] ** 2, minlength=len(block))
            length = np.sqrt(np.where(sums > 0, sums, 1.0))
            ways["unit" if name == "raw" else "unit-rms"] = ways[name] / length[rows]
        return ways

    def entries(
        self, block: Block, places: NDArray[np.int32], seen: Floats
    ) -> tuple[Floats, Floats, Floats | None]:
        """What each entry adds to the score, what the intercept does in each row, and what scores of other classes do.

        Where classes share a probability, the scores of a setting are in proportion to it but for a number that is the
        same for all: entries and intercepts are those that add up to zero over the classes, and the log odds of one
        class against the others are less by what these have.
        """
        outputs = len(self.factors)
        ways = self._ways(block, places, seen)
        offsets = np.zeros(len(block)) if block.offsets is None else block.offsets
        given = 0.0 if self.shares else offsets
        dots, shrunk = (
            np.array(each)
            for each in zip(
                *(self._dots(block, places, ways, o) for o in range(outputs)), strict=True
            )
        )
        own = (dots + given) * shrunk - given
        odds = against_others(own) if self.shares else own
        odds = offsets + self.factors[:, :, None] * odds + self.constants[:, :, None]
        means, first = self._comparable(self.features.means), self._comparable(self.intercept.means)
        total, start = np.zeros((len(seen), outputs)), np.zeros((len(block), outputs))
        others = np.zeros_like(start)
        rows = np.repeat(np.arange(len(block)), np.diff(block.indptr))
        for o in range(outputs):
            shares = _slopes(odds[o], self.log_weights[o])
            kept = shares * shrunk[o] * self.factors[o][:, None]
            start[:, o] = (kept * first[0, o][:, None]).sum(axis=0)
            start[:, o] += (shares * self.constants[o][:, None]).sum(axis=0)
            for k, setting in enumerate(self.settings):  # for little memory with long rows
                total[:, o] += means[places, o, k] * ways[SETTINGS[setting][1]] * kept[k][rows]
            if self.shares:
                linear = kept * (dots[o] - dots.mean(axis=0)) + shares * self.constants[o][:, None]
                others[:, o] = (shares * (odds[o] - offsets) - linear).sum(axis=0)
        return total, start, others if self.shares else None

    def _comparable(self, means: Floats) -> Floats:
        return means - means.mean(axis=1, keepdims=True) if self.shares else means

    def _dots(
        self, block: Block, places: NDArray[np.int32], ways: dict[str, Floats], o: int
    ) -> tuple[Floats, Floats]:
        """Of each setting the score of an output, and its part that is left for what is unsure: (settings, rows)."""
        n, many = len(block), len(self.settings)
        rows = np.repeat(np.arange(n), np.diff(block.indptr))
        dots, shrunk = np.empty((many, n)), np.ones((many, n))
        for k, setting in enumerate(self.settings):
            rule, view, _ = SETTINGS[setting]
            x = ways[view]
            if rule == "bayesian":
                spread = np.bincount(
                    rows, self.features.variances[places, o, k] * x * x, minlength=n
                )
                spread = spread + self.intercept.variances[0, o, k]
                shrunk[k] = 1 / np.sqrt(1 + np.pi / 8 * spread)
            dot = np.bincount(rows, self.features.means[places, o, k] * x, minlength=n)
            dots[k] = dot + self.intercept.means[0, o, k]  # integers where no row has a feature
        return dots, shrunk


def _slopes(odds: Floats, log_weights: Floats) -> Floats:
    """How the log odds of the average of probabilities follow each of the log odds, by parts of one: (settings, rows).

    >>> _slopes(np.array([[-2.0], [-40.0]]), np.log([0.5, 0.5])).round(3).tolist()
    [[1.0], [0.0]]
    """
    slopes = log_weights[:, None] - np.logaddexp(0, odds) - np.logaddexp(0, -odds)
    slopes = np.exp(slopes - slopes.max(axis=0))
    found: Floats = slopes / slopes.sum(axis=0)
    return found


def settings_of(learner: Any) -> Settings | None:
    """Of a model of `auto`; None of any other."""
    if learner.family != "auto" or not hasattr(learner, "_snapshot"):
        return None
    now = learner._snapshot()
    settings, outputs = tuple(now["settings"].tolist()), learner.outputs
    rows = whole_rows(now, now["rows"], now["keys"])
    never = np.zeros((1, rows.shape[1]))
    intercept = moments_of(whole_intercept(now), settings, outputs, INTERCEPT_VARIANCE)
    if not learner.fit_intercept:
        intercept = Moments(np.zeros_like(intercept.means), np.zeros_like(intercept.variances))
    with np.errstate(divide="ignore"):
        log_weights = np.maximum(np.log(now["weights"]), -700)
    return Settings(
        now["keys"], np.append(rows[:, 0], 0.0), np.append(rows[:, 1], 0.0), settings,
        moments_of(np.vstack([rows, never]), settings, outputs), intercept, log_weights,
        *corrections(now), learner.shares,
    )  # fmt: skip
