"""Every two-class set at hand, and one of twenty classes, as matrices: for items that go through all of them."""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from riata.sources import open_source

Floats = NDArray[np.float64]
CODES = (
    "hour",
    "C1",
    "banner_pos",
    "device_type",
    "device_conn_type",
    *(f"C{k}" for k in range(14, 22)),
)
SETS: dict[str, tuple[str, dict[str, Any]]] = {
    "heart": ("libsvm/heart_scale", {}),
    "a9a": ("libsvm/a9a", {}),
    "ijcnn1": ("libsvm/ijcnn1.trn.bz2", {}),
    "money-fx": ("reuters21578/reuters.trn.bz2", {}),
    "news20, two groups": ("libsvm/news20-small.binary.gz", {}),
    "rcv1, sample": ("vw/rcv1_small.dat", {}),
    "SMS": ("sms/SMSSpamCollection", {"text": ("SMS",)}),
    "iPinYou": ("ctr/ipinyou_deepctr_train.fm.txt", {"format": "svmlight"}),
    "Criteo, head": (
        "ctr/criteo_wideresdnn_train.csv",
        {"format": "csv", "header": False, "label": "1", "delimiter": "\t", "missing": "feature",
         "log1p": tuple(map(str, range(2, 15)))},
    ),
    "Avazu, head": ("ctr/avazu_fastdg_small3.train.csv", {"label": "click", "ignore": ("id",), "categorical": CODES}),
    "kr-vs-kp": ("uci/kr.vs.kp.arff", {}),
    "crx": ("uci/credit.a.arff", {}),
    "mushroom": ("uci/mushroom.arff", {}),
    "magic": ("uci/magic.arff", {}),
    "wbc": ("uci/breast.w.arff", {}),
    "spambase": ("uci/spambase.data", {"format": "csv", "header": False, "label": "58"}),
    "wdbc": ("uci/wdbc.data", {"format": "csv", "header": False, "label": "2", "ignore": ("1",)}),
    "wpbc": ("uci/wpbc.data", {"format": "csv", "header": False, "label": "2", "ignore": ("1",)}),
    "mail, log counts": ("trec07p/trec07p.vw.zst", {}),
}  # fmt: skip
CLASSES = "libsvm/news20-multiclass.gz"


def load(file: str, options: dict[str, Any]) -> tuple[sparse.csr_matrix, Floats]:
    """A matrix and labels, whatever the format."""
    path = Path(os.environ["RIATA_DATA"]) / file
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        blocks = list(open_source(str(path), **options))
    lengths = np.concatenate([np.diff(b.indptr) for b in blocks])
    inside = [slice(b.indptr[0], b.indptr[-1]) for b in blocks]
    keys = np.concatenate([b.indices[s] for b, s in zip(blocks, inside, strict=True)])
    values = np.concatenate([b.values[s] for b, s in zip(blocks, inside, strict=True)])
    _, columns = np.unique(keys, return_inverse=True)
    X = sparse.csr_matrix(
        (values, columns.astype(np.int32), np.concatenate([[0], np.cumsum(lengths)]))
    )
    X.sum_duplicates()
    if path.name == "trec07p.vw.zst":
        X.data = np.log1p(X.data)
    return X, np.concatenate([b.labels for b in blocks if b.labels is not None])
