"""Every item that `python -m papers` makes: what it needs, what the paper says, and the script that finds ours."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

REUTERS = "reuters21578/reuters21578_sgm.tar.gz"
OHSUMED = "ohsumed/ohsumed-first-20000-docs.tar.gz"
TREC = "trec07p/trec07p.vw.zst"
CLICKS = (
    "ctr/criteo_wideresdnn_train.csv", "ctr/criteo_wideresdnn_dev.csv", "ctr/criteo_wideresdnn_test.csv",
    "ctr/ipinyou_deepctr_train.fm.txt",
)  # fmt: skip
UCI = tuple(
    f"uci/{name}"
    for name in (
        "ad.first999rows.data", "credit.a.arff", "housing.arff", "kr.vs.kp.arff", "magic.arff", "mushroom.arff",
        "spambase.data", "breast.w.arff", "wdbc.data", "wpbc.data", "zoo.data",
    )
)  # fmt: skip
EVERY_SET = (
    "libsvm/heart_scale", "libsvm/a9a", "libsvm/ijcnn1.trn.bz2", "libsvm/news20-small.binary.gz",
    "libsvm/news20-multiclass.gz", "reuters21578/reuters.trn.bz2", "vw/rcv1_small.dat", "sms/SMSSpamCollection",
    "ctr/ipinyou_deepctr_train.fm.txt", "ctr/criteo_wideresdnn_train.csv", "ctr/avazu_fastdg_small3.train.csv",
    *(f"uci/{name}" for name in ("kr.vs.kp.arff", "credit.a.arff", "mushroom.arff", "magic.arff", "breast.w.arff",
                                 "spambase.data", "wdbc.data", "wpbc.data")),
    TREC,
)  # fmt: skip


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
"""rows: [what, theirs, ours, verdict]; picture: a file in the paper's folder, or None; note: a sentence or two; tables:
further ones, each with title, head and rows."""
Make = Callable[[bool], Found]

REPRODUCED, COMPARABLE, NOT = "reproduced", "comparable", "not"

ITEMS = (
    Item(
        "bayesian-2021", "table-1", "Table 1: regret / ln T after 1,000,000 examples, d = 200",
        "table_1", seed="draws 0, 1, ...",
    ),
    Item(
        "bayesian-2021", "table-1-10m", "Table 1: the columns with 10,000,000 examples", "table_1:ten_million",
        seed="draw 0",
    ),
    Item(
        "bayesian-2021", "draws-10m", "Table 1: Algorithm 1 with 10,000,000 examples, by draw",
        "table_1:draws_of_ten_million", seed="0, 1, ...",
    ),
    Item("bayesian-2021", "schedules", "Table 1: which schedule SGD had", "schedules"),
    Item("bayesian-2021", "sampled", "Table 1: VB-100 and VB-1000", "table_1:sampled", seed="draws 0, 1, ..."),
    Item("bayesian-2021", "probit", "Appendix B: probit regression", "table_1:probit", seed="draws 0, 1, ..."),
    Item("bayesian-2021", "figures-1-4", "Figures 1 and 4: features at random", "figures:figure_1_and_4"),
    Item("bayesian-2021", "figure-2-left", "Figure 2, left: a long tail", "figures:figure_2_left"),
    Item(
        "bayesian-2021", "figure-2-right", "Figure 2, right: loss against the best SGD", "real:figure_2_right",
        (*CLICKS, TREC), seed="none: nothing is drawn",
    ),
    Item("bayesian-2021", "figure-3", "Figure 3: logistic and normal", "figures:figure_3", seed="none"),
    Item("bayesian-2021", "figure-5", "Figure 5: other values, more features", "figures:figure_5"),
    Item("bayesian-2021", "figure-6", "Figure 6: categories", "figures:figure_6"),
    Item(
        "bayesian-2021", "calibration", "Beside the paper: calibration on real data", "real:calibration",
        (*CLICKS, TREC, "libsvm/a9a"),
    ),
    Item(
        "bayesian-2021", "correction", "Beside the paper: which correction of log odds", "choice",
        ("libsvm/ijcnn1.trn.bz2", "libsvm/ijcnn1.tst.bz2", "uci/magic.arff", "uci/spambase.data",
         "sms/SMSSpamCollection"),
        seed="0",
    ),
    Item(
        "balakrishnan-2008", "table-1", "Table 1: simulated, online and batch", "simulated:table_1",
        seed="2008, 2009, ...",
    ),
    Item(
        "balakrishnan-2008", "table-2", "Table 2: simulated, online and passes of MP", "simulated:table_2",
        seed="7, 8, ...",
    ),
    Item(
        "balakrishnan-2008", "variance", "Tables 1 and 2: which variance the features had", "simulated:evidence",
        seed="100, 200 and 300 on",
    ),
    Item(
        "balakrishnan-2008", "figures-3-4", "Figures 3 and 4: online weights over time", "simulated:figures",
        seed="2008",
    ),
    Item("balakrishnan-2008", "appendix-c", "Appendix C: the online limit", "simulated:limit", seed="1, 2, ..."),
    Item(
        "balakrishnan-2008", "table-3", "Table 3: Reuters-21578 ModApte, \"earn\", gamma = 100, L1 distances",
        "table_3_and_4:table_3", (REUTERS,), seed="none: nothing is drawn",
    ),
    Item(
        "balakrishnan-2008", "table-4", "Table 4: the same, gamma = 10, after 8 passes, by k",
        "table_3_and_4:table_4", (REUTERS,), seed="none: nothing is drawn",
    ),
    Item(
        "balakrishnan-2008", "passes", "Section 7: passes until the weights are the batch ones", "modapte", (REUTERS,),
        seed="none: nothing is drawn",
    ),
    Item(
        "balakrishnan-2008", "every-set", "Beside the paper: passes and time on every set at hand", "every_set",
        EVERY_SET, seed="none: nothing is drawn",
    ),
    Item("balakrishnan-2008", "table-5", "Table 5's design, on mail", "large:table_5", (TREC,), seed="none"),
    Item("balakrishnan-2008", "table-6", "Table 6's design, on mail", "large:table_6", (TREC,), seed="none"),
    Item(
        "carbonetto-2008", "experiments-1-3", "Experiments 1 to 3: who is closest to the lasso after one pass",
        "items:experiments", seed="data sets 0 to 19; further lots 20 to 79",
    ),
    Item(
        "carbonetto-2008", "experiment-4", "Experiment 4: shrinkage, after 1 and 10 passes", "items:shrinkage",
        seed="4",
    ),
    Item(
        "carbonetto-2008", "table-1", "Table 1: filtering spam as it arrives", "spam", (TREC,),
        seed="none: nothing is drawn",
    ),
    Item(
        "carbonetto-2008", "every-set", "Beside the paper: the optimum inside bounds on every set at hand", "every_set",
        tuple(name for name in EVERY_SET if "multiclass" not in name), seed="0",
    ),
    Item("carbonetto-2008", "analysis", "Sections 4.1 and 4.2: convergence and stability", "analysis"),
    Item("langford-2009", "figure-1", "Figure 1: rounding and truncation", "items:figure_1", seed="none"),
    Item(
        "langford-2009", "figures-2-3", "Figures 2 and 3: features left at a cost of at most 1 %",
        "items:figures_2_and_3", UCI, seed="2009",
    ),
    Item(
        "langford-2009", "figures-4-5", "Figures 4 and 5: the period K", "items:figures_4_and_5", UCI, seed="2009",
    ),
    Item("langford-2009", "figure-6", "Figure 6: the threshold", "items:figure_6", UCI, seed="2009"),
    Item("langford-2009", "figure-7", "Figure 7: four methods", "items:figure_7", UCI, seed="2009; orders 0 to 2"),
    Item("langford-2009", "theorems", "Theorems 3.1 and 3.2, corollary 4.1", "items:bounds", seed="0, 1, ..."),
    Item("langford-2009", "big-ads", "Big_Ads, a stream in its shape", "items:big_ads_item"),
    Item(
        "lipton-2015", "equality", "Lazy weights are the dense ones (Theorems 1 and 2)", "items:equality",
    ),
    Item("lipton-2015", "table-1", "Table 1: time an example, lazy and dense", "items:table_1", (OHSUMED, TREC)),
    Item("lipton-2015", "speed-up", "The speed-up by d / p", "items:speed_up"),
)  # fmt: skip
GAPS = (
    Gap("bayesian-2021", "Figure 2, right, on all of Criteo", "of its 45 million examples only the head is at hand"),
    Gap("balakrishnan-2008", "Tables 5 and 6 on RCV1-v2", "it is not at hand: their design is tried on mail"),
    Gap("balakrishnan-2008", "Figures 1, 2, 5 and 6", "they are drawings"),
    Gap("langford-2009", "rcv1 in section 6.1", "RCV1-v2 is not at hand"),
)  # fmt: skip
PAPERS = {
    "bayesian-2021": "Low complexity approximate Bayesian logistic regression (ICLR 2021 submission)",
    "balakrishnan-2008": "Balakrishnan & Madigan 2008",
    "carbonetto-2008": "Carbonetto, Schmidt & de Freitas 2008",
    "langford-2009": "Langford, Li & Zhang 2009",
    "lipton-2015": "Lipton & Elkan 2015",
}
