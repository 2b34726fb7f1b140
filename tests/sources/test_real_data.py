"""Files from the wild, where they are at hand: what scikit-learn reads, rounded once."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_svmlight_file

from riata.block import concatenate
from riata.sources import open_source
from tests.cli.helpers import riata
from tests.data import DATA


@pytest.mark.parametrize(
    "name", ["a9a.t", "heart_scale", "news20-multiclass.gz", "news20-small.binary.gz"]
)
def test_as_scikit_learn_reads_it(name: str) -> None:
    path = DATA / "libsvm" / name
    if not path.exists():
        pytest.skip(f"{path} is not there; set RIATA_DATA to the folder of real data")
    block = concatenate(list(open_source(path)))
    X, y = load_svmlight_file(str(path), zero_based=False)
    X.eliminate_zeros()
    np.testing.assert_array_equal(block.labels, y)
    np.testing.assert_array_equal(block.indptr, X.indptr)
    np.testing.assert_array_equal(block.indices, X.indices)
    np.testing.assert_array_equal(block.values, X.data.astype(np.float32))


CATEGORIES = (
    "hour,C1,banner_pos,site_id,device_type,device_conn_type,C14,C15,C16,C17,C18,C19,C20,C21"
)
TRAINED: list[tuple[str, int, str]] = [
    ("ctr/criteo_wideresdnn_train.csv", 7_200, "--label 1 --log1p 2,3,4,5,6 --cross 15:16"),
    (
        "ctr/avazu_fastdg_small3.train.csv",
        9_999,
        f"--label click --ignore id --categorical {CATEGORIES}",
    ),
    ("ctr/ipinyou_deepctr_train.fm.txt", 26_773, ""),
    ("libsvm/a9a*", 48_842, ""),
    ("libsvm/heart_scale", 270, ""),
    ("libsvm/ijcnn1.trn.bz2", 49_990, ""),
    ("libsvm/news20-multiclass.gz", 2_000, ""),
    ("reuters21578/reuters.tst.bz2", 3_299, ""),
    ("sms/SMSSpamCollection", 5_574, "--header-line --label Label"),
    ("uci/ad.first999rows.data", 998, "--label class --absent ?"),
    ("uci/breast.w.arff", 699, ""),
    ("uci/credit.a.arff", 690, "--missing feature"),
    ("uci/housing.arff", 506, ""),
    ("uci/kr.vs.kp.arff", 3_196, ""),
    ("uci/magic.arff", 19_020, ""),
    ("uci/mushroom.arff", 8_124, ""),
    ("uci/spambase.data", 4_601, "--label 58 --buckets 55:10 --buckets 56:10 --buckets 57:10"),
    ("uci/wdbc.data", 569, "--label 2 --ignore 1"),
    ("uci/wpbc.data", 198, "--label 2 --ignore 1 --absent ?"),
    ("vw/rcv1_small.dat", 1_000, ""),
    ("vw/rcv1_multiclass.dat", 1_000, ""),
]
LEARNING = {"uci/housing.arff": "--loss squared"}


@pytest.mark.parametrize(("name", "examples", "options"), TRAINED, ids=[t[0] for t in TRAINED])
def test_as_people_would_train_on_it(
    tmp_path: Path, name: str, examples: int, options: str
) -> None:
    """Every example is learned, and converted to a cache that holds as many."""
    if not list(DATA.glob(name)):
        pytest.skip(f"{DATA / name} is not there; set RIATA_DATA to the folder of real data")
    reading = options.split()
    learning = LEARNING.get(name, "").split()
    said = riata("train", DATA / name, "-o", tmp_path / "model", *reading, *learning).out
    assert f"learned   {examples:,} examples in 1 pass" in said
    said = riata("convert", DATA / name, tmp_path / "x.riata-cache", *reading).err
    assert f"read      {examples:,} examples" in said


def test_a_header_with_one_name_too_many(tmp_path: Path) -> None:
    path = DATA / "uci" / "zoo.data"
    if not path.exists():
        pytest.skip(f"{path} is not there; set RIATA_DATA to the folder of real data")
    shutil.copy(path, tmp_path / "zoo.csv")
    said = riata("train", tmp_path / "zoo.csv", "--label", "type", "-o", tmp_path / "m", code=1).err
    assert "the first line has 19 columns, all rows behind it have 18" in said
    rows = "".join(path.read_text().splitlines(keepends=True)[1:])
    (tmp_path / "rows.csv").write_text(rows)
    options = ["--no-header-line", "--label", "18", "--ignore", "1"]
    said = riata("train", tmp_path / "rows.csv", *options, "-o", tmp_path / "m").out
    assert "learned   101 examples" in said
