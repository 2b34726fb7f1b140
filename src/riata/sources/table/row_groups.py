"""Row groups of Parquet files: how large they are, and which of them are a part."""

from __future__ import annotations

from contextlib import closing
from typing import Any

from riata.errors import DataError
from riata.sources.io.bytes import FilePart
from riata.sources.table import columnar
from riata.sources.table.parquet_footer import BadFooter


def parquet_groups(path: str) -> list[tuple[int, int]]:
    """Rows and bytes, as stored, of each row group; none where no row is. Only the footer is read."""
    arrow = columnar._pyarrow(path)
    import pyarrow.parquet as pq

    with closing(columnar._open(path, True)) as file:
        try:
            columnar.check_parquet_footer(file)
            metadata = pq.read_metadata(file)
        except (arrow.ArrowException, OSError, BadFooter, UnicodeError) as error:
            shown = str(error).splitlines()[0] if str(error) else type(error).__name__
            raise DataError(f"{path}: cannot be read as Parquet data: {shown}") from None
        groups = [metadata.row_group(i) for i in range(metadata.num_row_groups)]
        sizes = [
            sum(group.column(k).total_compressed_size for k in range(group.num_columns))
            for group in groups
        ]
    if not any(group.num_rows for group in groups):
        return []
    return [(group.num_rows, size) for group, size in zip(groups, sizes, strict=True)]


def groups_of(metadata: Any, part: FilePart | None, path: str) -> range:
    """The row groups to read: all, or those of a part."""
    if part is None:
        return range(metadata.num_row_groups)
    if not 0 <= part.start <= part.stop <= metadata.num_row_groups:
        raise DataError(
            f"{path}: row groups {part.start} to {part.stop - 1} are wanted, of {metadata.num_row_groups} "
            "there are: the file has changed"
        )
    return range(part.start, part.stop)
