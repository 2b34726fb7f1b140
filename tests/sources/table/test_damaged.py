"""Damaged Arrow and Parquet files are errors, never the end of the process."""

from __future__ import annotations

from pathlib import Path

import pytest

pa = pytest.importorskip("pyarrow")

from riata.errors import DataError  # noqa: E402
from riata.sources import open_source  # noqa: E402
from riata.sources.table.arrow_layout import find_table_schema  # noqa: E402
from riata.sources.table.layout import Roles, TableOptions  # noqa: E402
from riata.sources.table.parquet_footer import BadFooter, check_footer  # noqa: E402
from tests.sources.fuzzing import run  # noqa: E402


def test_files_with_changed_bytes() -> None:
    refused, _ = run("tests.sources.table.fuzz_tables", 1500)
    assert refused > 0


def test_a_column_that_the_rows_do_not_have() -> None:
    """With some damaged footers pyarrow reads all columns but one."""
    whole = pa.table({"label": [0, 1], "x": [1.0, 2.0], "flag": [True, False]})
    with pytest.raises(DataError, match=r"bad\.parquet: .* column 'flag'"):
        find_table_schema(whole.schema, whole.drop(["flag"]), TableOptions(Roles()), "bad.parquet")


def test_a_codec_that_there_is_not(tmp_path: Path) -> None:
    """pyarrow opens such a file, and ends the process when it is asked for the codec."""
    import pyarrow.parquet as pq

    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"label": [0, 1], "x": [1.0, 2.0]}), path, compression="snappy")
    whole = path.read_bytes()
    check_footer(whole[-8 - int.from_bytes(whole[-8:-4], "little") : -8])
    place = whole.rindex(b"\x18\x01x")
    codec = whole.index(b"\x15\x02", place)  # field 4, an i32 of 1: Snappy
    path.write_bytes(whole[:codec] + b"\x15\x7e" + whole[codec + 2 :])
    with pytest.raises(DataError, match="codec"):
        list(open_source(str(path)))


@pytest.mark.parametrize(
    "data",
    [b"", b"\x19", b"\x15", b"\x1c" * 100, b"\x18\xff\xff\xff\xff\x0f", b"\x19\xfc\xff\xff\x7f"],
)
def test_a_footer_that_ends_nowhere(data: bytes) -> None:
    with pytest.raises(BadFooter):
        check_footer(data)
