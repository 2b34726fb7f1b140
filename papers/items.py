"""Every item that `python -m papers` makes: what it needs, what the paper says, and the script that finds ours."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

REUTERS = "reuters21578/reuters21578_sgm.tar.gz"


@dataclass(frozen=True)
class Item:
    """A table or figure. Its script, in the folder of its paper, has a function `item(quick)` that returns a Found."""

    paper: str
    name: str
    title: str
    script: str
    data: tuple[str, ...] = ()
    seed: str = "0"

    @property
    def key(self) -> str:
        return f"{self.paper}/{self.name}"


@dataclass(frozen=True)
class Gap:
    """What the command does not make, and why."""

    paper: str
    title: str
    why: str


Found = dict[str, Any]
"""rows: [what, theirs, ours, verdict]; picture: a file in the paper's folder, or None; note: a sentence or two."""
Make = Callable[[bool], Found]

REPRODUCED, COMPARABLE, NOT = "reproduced", "comparable", "not"

ITEMS = (
    Item(
        "bayesian-2021", "table-1", "Table 1: regret / ln T after 1,000,000 examples, d = 200",
        "table_1", seed="draws 0, 1, ...",
    ),
    Item(
        "balakrishnan-2008", "table-3", "Table 3: Reuters-21578 ModApte, \"earn\", gamma = 100, L1 distances",
        "table_3_and_4:table_3", (REUTERS,), seed="none: nothing is drawn",
    ),
    Item(
        "balakrishnan-2008", "table-4", "Table 4: the same, gamma = 10, after 8 passes, by k",
        "table_3_and_4:table_4", (REUTERS,), seed="none: nothing is drawn",
    ),
    Item(
        "carbonetto-2008", "experiments-1-3", "Experiments 1 to 3: who is closest to the lasso after one pass",
        "items:experiments", seed="data sets 0 to 19",
    ),
    Item(
        "carbonetto-2008", "experiment-4", "Experiment 4: shrinkage, after 1 and 10 passes", "items:shrinkage",
        seed="4",
    ),
    Item(
        "lipton-2015", "equality", "Lazy weights are the dense ones (Theorems 1 and 2)", "items:equality",
    ),
)  # fmt: skip
GAPS = (
    Gap("bayesian-2021", "Table 1, 10 million examples; figures 1 to 6",
        "not yet items of this command: see bayesian-2021/RESULTS.md for those that were run by hand"),
    Gap("balakrishnan-2008", "Tables 1 and 2, figures 3 and 4",
        "not yet items of this command: `python papers/balakrishnan-2008/run.py simulated`"),
    Gap("balakrishnan-2008", "Tables 5 and 6, figure 5", "RCV1-v2 is not at hand"),
    Gap("carbonetto-2008", "Section 5.2, spam",
        "TREC 2005 is not at hand; `python papers/carbonetto-2008/spam.py` has TREC 2007 in its place"),
    Gap("langford-2009", "Tables 1 and 2, figures 2 to 6",
        "not yet items of this command: `python papers/langford-2009/run.py`"),
    Gap("lipton-2015", "Table 1 and the speed-up",
        "not yet items of this command: `python papers/lipton-2015/run.py`"),
)  # fmt: skip
PAPERS = {
    "bayesian-2021": "Low complexity approximate Bayesian logistic regression (ICLR 2021 submission)",
    "balakrishnan-2008": "Balakrishnan & Madigan 2008",
    "carbonetto-2008": "Carbonetto, Schmidt & de Freitas 2008",
    "langford-2009": "Langford, Li & Zhang 2009",
    "lipton-2015": "Lipton & Elkan 2015",
}
