"""A column that is named and not there: an error, or for JSON a warning, that says what was meant."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from riata.errors import DataError
from riata.sources import open_source

ROWS = [("1", "Rome", "30"), ("0", "Paris", "41")]
HEADER = ("clicked", "city", "age")
OPTIONS: list[dict[str, Any]] = [
    {"label": "clickde"},
    {"label": "clicked", "ignore": ["citty"]},
    {"label": "clicked", "numeric": ["Agee"]},
    {"label": "clicked", "categorical": ["aeg"]},
    {"label": "clicked", "weight": "agge"},
    {"label": "clicked", "offset": "agge"},
    {"label": "clicked", "log1p": ["agee"]},
    {"label": "clicked", "buckets": {"agee": 2}},
    {"label": "clicked", "crosses": ["citty:age"]},
]
MEANT = ["clicked", "city", *["age"] * 6, "city"]


def write(folder: Path, format: str) -> Path:
    path = folder / f"x.{format}"
    if format in ("csv", "tsv"):
        sign = "," if format == "csv" else "\t"
        path.write_text("".join(sign.join(row) + "\n" for row in (HEADER, *ROWS)))
    elif format == "arff":
        kinds = ("numeric", "string", "numeric")
        head = "".join(f"@attribute {n} {k}\n" for n, k in zip(HEADER, kinds, strict=True))
        path.write_text(f"@relation r\n{head}@data\n" + "".join(f"{','.join(r)}\n" for r in ROWS))
    else:
        pa = pytest.importorskip("pyarrow")
        import pyarrow.feather
        import pyarrow.parquet

        table = pa.table({"clicked": [1, 0], "city": ["Rome", "Paris"], "age": [30, 41]})
        module = pyarrow.parquet if format == "parquet" else pyarrow.feather
        (module.write_table if format == "parquet" else module.write_feather)(table, str(path))
    return path


@pytest.mark.parametrize("format", ["csv", "tsv", "parquet", "feather", "arff"])
@pytest.mark.parametrize(("options", "meant"), list(zip(OPTIONS, MEANT, strict=True)))
def test_says_what_was_meant(options: Any, meant: str, format: str, tmp_path: Path) -> None:
    if format == "arff" and {"log1p", "buckets"} & set(options):
        pytest.skip("ARFF has no transforms")
    path = write(tmp_path, format)
    with pytest.raises(DataError, match=rf"x.{format}: .*did you mean '{meant}'.*There are '"):
        list(open_source(path, **options))


@pytest.mark.parametrize("separator", [",", "\t"])
@pytest.mark.parametrize("options", OPTIONS)
def test_without_a_header(options: Any, separator: str, tmp_path: Path) -> None:
    path = tmp_path / ("x.csv" if separator == "," else "x.tsv")
    path.write_text("".join(separator.join(row) + "\n" for row in ROWS))
    numbered = {"label": "1"} if options["label"] == "clicked" else {}
    with pytest.raises(DataError, match=r"there are [23] columns without names.*--header-line"):
        list(open_source(path, header=False, **{**options, **numbered}))
    with pytest.raises(DataError, match="no column '9' for the label"):
        list(open_source(path, header=False, label="9"))


JSON = '{"clicked": 1, "user": {"city": "Rome", "age": 30}}\n'


def test_json_label(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text(JSON)
    with pytest.raises(DataError, match=r"x.jsonl: the label 'clickde' is missing.*'clicked'\?"):
        list(open_source(path, label="clickde"))
    with pytest.raises(DataError, match=r"3 dicts: the label 'y' is missing"):
        list(open_source([{"a": 1}] * 3, label="y"))
    assert len(list(open_source(path, label="clickde", labelled=False))) == 1


def test_json_offset(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text(JSON)
    for labelled in (True, False):
        with pytest.raises(
            DataError, match=r"x.jsonl: the offset 'user.agee' is missing.*'user.age'\?"
        ):
            list(open_source(path, label="clicked", offset="user.agee", labelled=labelled))


@pytest.mark.parametrize("role", ["ignore", "numeric", "categorical"])
def test_json_keys_may_yet_come(role: str, tmp_path: Path, recwarn: Any) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text(JSON)
    options: dict[str, Any] = {"label": "clicked", role: ["user.citty"]}
    with pytest.warns(UserWarning, match="has a key 'user.citty'; did you mean 'user.city'"):
        list(open_source(path, **options))
    list(open_source(path, label="clicked", **{role: ["user.age"]}))
    list(open_source(path, label="clicked", ignore=["user"]))
    assert len(recwarn) == 0


def test_the_command_line_warns_without_a_traceback(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text(JSON)
    words = ["convert", str(path), str(tmp_path / "x.vw"), "--label", "clicked", "--ignore", "usr"]
    done = subprocess.run(
        [sys.executable, "-m", "riata", *words], capture_output=True, text=True, check=True
    )
    assert f"riata: warning: {path}: none of the first objects has a key 'usr'" in done.stderr
    assert "jsonl.py" not in done.stderr
