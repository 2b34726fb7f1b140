"""Section 5.2 on the TREC 2007 public corpus: tag mail as it arrives, learn it afterwards.

`python spam.py` makes one pass for each way of writing a message as numbers and prints the tables.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import replace

import numpy as np
from mail import CORPUS, messages
from numpy.typing import NDArray

from riata.block import Block
from riata.learners import InteriorPoint

LAMBDA, SIGMA, K0, CERTAIN = 10.0, 0.5, 1.0, 0.97  # the paper's
START, DUAL = 0.01, 0.1  # not given in the paper: chosen on the first 20,000 messages


def frequencies(block: Block, per: float) -> Block:
    """Counts as shares of the message's words, times `per`."""
    totals = np.add.reduceat(block.values.astype(np.float64), block.indptr[:-1])
    shares = block.values / np.repeat(totals, np.diff(block.indptr))
    return replace(block, values=(per * shares).astype(np.float32))


def log_counts(block: Block, length: float) -> Block:
    """log(1 + count), each message scaled to this length."""
    logs = np.log1p(block.values.astype(np.float64))
    lengths = np.sqrt(np.add.reduceat(logs * logs, block.indptr[:-1]))
    scaled = logs / np.repeat(lengths, np.diff(block.indptr))
    return replace(block, values=(length * scaled).astype(np.float32))


FORMS = {
    "shares of the message": lambda b: frequencies(b, 1.0),
    "per hundred words": lambda b: frequencies(b, 100.0),
    "per thousand words": lambda b: frequencies(b, 1000.0),
    "log counts, length 100": lambda b: log_counts(b, 100.0),
}


def filter_mail(
    block: Block, d: int, start: float, dual: float
) -> tuple[InteriorPoint, NDArray[np.float64], float]:
    """The learner after one pass, the probability of spam of each message before it was learned, seconds."""
    learner = InteriorPoint(
        l1=LAMBDA / len(block),
        update="paper",
        sigma=SIGMA,
        k0=K0,
        start=start,
        dual=dual,
        dimension=d,
    )
    began = time.perf_counter()
    scores = learner.learn(block)
    seconds = time.perf_counter() - began
    probabilities = learner.probability(scores)
    assert probabilities is not None
    return learner, probabilities[:, 0], seconds


def report(
    name: str, block: Block, learner: InteriorPoint, p: NDArray[np.float64], seconds: float
) -> None:
    assert block.labels is not None
    spam, tagged = block.labels == 1, p >= CERTAIN
    wrong = (p >= 0.5) != spam
    print(
        f"\n{name}: {seconds:.0f} s\n\n| predicted | not spam | spam |\n|---|---|---|\n"
        f"| not spam | {(~tagged & ~spam).sum()} | {(~tagged & spam).sum()} |\n"
        f"| spam | {(tagged & ~spam).sum()} | {(tagged & spam).sum()} |\n\n"
        f"wrong at p = 0.5: {wrong.mean():.2%}, in the second half {wrong[len(p) // 2 :].mean():.2%}"
    )
    last = block[-5000:]
    before = learner.probability(learner.score(last))
    for share in (0.001, 0.01, 0.1):
        pruned = InteriorPoint.from_state(learner.parameters() | {"prune": share}, learner.state())
        after = pruned.probability(pruned.score(last))
        assert before is not None
        assert after is not None
        print(
            f"without the smallest weights that carry {share:g} of the sum: {pruned.n_live()} of "
            f"{learner.n_live()} left, probabilities of the last 5,000 messages change by "
            f"{np.abs(before - after).mean():.5f} on average, {np.abs(before - after).max():.3f} at most"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--messages", type=int, default=None, help="only the first so many")
    parser.add_argument("--form", choices=list(FORMS), action="append", help="default: all")
    parser.add_argument("--start", type=float, default=START)
    parser.add_argument("--dual", type=float, default=DUAL)
    given = parser.parse_args()
    began = time.perf_counter()
    block, d = messages(CORPUS)
    block = block[: given.messages]
    print(f"{len(block)} messages, {d} features, read in {time.perf_counter() - began:.0f} s")
    for name in given.form or FORMS:
        written = FORMS[name](block)
        report(name, written, *filter_mail(written, d, given.start, given.dual))


if __name__ == "__main__":
    main()
