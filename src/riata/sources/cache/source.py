"""Sources that keep their Blocks in a file, so that later passes need not parse again."""

from __future__ import annotations

import atexit
import os
import queue
import tempfile
import threading
import weakref
from collections.abc import Callable, Generator, Iterator
from contextlib import closing, contextmanager, suppress
from typing import Any, BinaryIO

from riata import __version__
from riata.atomic import atomic_write, check_writable
from riata.block import Block
from riata.errors import DataError
from riata.schema import Schema
from riata.sources.cache.arrow_file import HEAD, is_cache
from riata.sources.cache.file import (
    SUFFIX,
    CacheReader,
    Damaged,
    Known,
    schema_of,
    stamp_of,
)
from riata.sources.cache.writer import CacheWriter
from riata.sources.io.bytes import STDIN, is_remote
from riata.sources.io.remote import remote_status
from riata.sources.source import Source, iterate, split
from riata.sources.text.text import join_names

TEMPORARY = "temporary"

Identity = dict[str, Any] | None
"""What a cache was made from, as JSON can hold it; None for what cannot be told, such as a pipe."""


class CachedSource:
    """Blocks of a source, from a cache where it is good, else from the source, which makes it.

    A cache that is damaged, or was made from other data or with other options, is never trusted:
    it is made anew. It appears under its name only when it is complete, so several processes may
    make it at once. Where it cannot be written, the source is read every time, and `note` says why.
    """

    def __init__(
        self,
        source: Source,
        path: str,
        identity: Callable[[], Identity],
        *,
        block_rows: int | None = None,
        read_first: bool = False,
    ) -> None:
        """`read_first`: read the source at least once if it has bad lines, which are to be kept."""
        self.name = source.name
        self.source = source
        self.path = path
        self.note: str | None = None
        self.n_rows: int | None = source.n_rows
        self.n_bytes = source.n_bytes
        self.bytes_read = 0
        self.skipped = 0
        self.repeatable = True
        self.compressed = False
        self._schema: Schema | None = None
        self._identity = identity
        self._block_rows = block_rows
        self._read_first = read_first
        self._temporary: BinaryIO | None = None
        self._made_here: Identity | object = object()
        self._reading: CacheReader | None = None
        self._known: Known | None = None
        if path != TEMPORARY:
            _check_target(path)

    @property
    def schema(self) -> Schema | None:
        """What the source found out from its first rows, where it does."""
        found: Schema | None = getattr(self.source, "schema", None)
        return self._schema if found is None else found

    @property
    def label_names(self) -> list[str] | None:
        """Where labels are words: label i stands for the i-th."""
        return list((self.schema or Schema()).label_names or ()) or None

    def check(self) -> None:
        """LostData if a cache was cut short while its Blocks were used."""
        if self._reading is not None:
            self._reading.check()

    def __iter__(self) -> Iterator[Block]:
        return self._pass()

    def _pass(self) -> Generator[Block, None, None]:
        self.bytes_read = self.skipped = 0
        for block in self._blocks():
            yield from split(block, self._block_rows)

    def _blocks(self) -> Generator[Block, None, None]:
        done = 0
        self._reading = None
        try:
            cache = self._open()
        except (Damaged, OSError):
            cache = None
        if cache is not None:
            file, reader = cache
            self._reading = reader
            self.skipped = reader.about["skipped"]
            self._schema = schema_of(reader.about)
            try:
                with closing(reader.blocks()) as blocks:
                    for block, _ in blocks:
                        done += len(block)
                        self.bytes_read = (self.n_bytes or 0) * done // max(1, reader.n_rows)
                        yield block
                self._known = reader.known
                return
            except Damaged:
                pass  # go on from the source, behind the rows that were good
            finally:
                if file is not self._temporary:
                    file.close()
        with closing(self._from_source(done)) as rest:
            yield from rest

    def _open(self) -> tuple[BinaryIO, CacheReader] | None:
        """The cache, if it is there and was made from what the source would read now."""
        if self._read_first and self._has_made_none():
            with open(self.path, "rb") as old:
                if CacheReader(old, self.path).about["skipped"]:
                    return None
        identity = self._identity()
        if self.path == TEMPORARY:
            if self._temporary is None or identity != self._made_here:
                return None
            return self._temporary, CacheReader(self._temporary, "temporary cache", self._known)
        if identity is None and self._made_here is not None:
            return None
        file = open(self.path, "rb", buffering=0)  # noqa: SIM115
        try:
            reader = CacheReader(file, self.path, self._known)
            if reader.about.get("identity") == identity:
                return file, reader
        except BaseException:
            file.close()
            raise
        file.close()
        return None

    def _has_made_none(self) -> bool:
        """Whether this source has made no cache yet."""
        return type(self._made_here) is object

    def _from_source(self, skip: int) -> Generator[Block, None, None]:
        """The Blocks of the source without the first rows; a new cache on the way."""
        before = self._identity()
        with closing(_Making(self)) as making, closing(iterate(self.source)) as blocks:
            for block in blocks:
                making.write(block)
                self.bytes_read = self.source.bytes_read
                self.skipped = getattr(self.source, "skipped", 0)
                if skip < len(block):
                    yield block[skip:] if skip else block
                skip = max(0, skip - len(block))
            self.skipped = getattr(self.source, "skipped", 0)
            if self._identity() == before:  # it did not change while it was read
                making.finish(about(before, self.skipped, self.schema))


def about(identity: Identity, skipped: int, schema: Schema | None) -> dict[str, Any]:
    """What a cache says of itself."""
    return {"identity": identity, "skipped": skipped, "schema": schema and schema.to_json()}


class _Making:
    """A cache in the making, in a thread beside the pass.

    What goes wrong with it is noted and does not stop the pass.
    """

    def __init__(self, owner: CachedSource) -> None:
        self._owner = owner
        self._context: Any = None
        self._writer: CacheWriter | None = None
        self._file: BinaryIO | None = None
        self._blocks: queue.Queue[Block | None] = queue.Queue(maxsize=4)
        self._error: BaseException | None = None
        self._thread: threading.Thread | None = None
        with self._noting():
            if owner.path == TEMPORARY:
                self._file = tempfile.TemporaryFile(prefix="riata-")  # noqa: SIM115
            else:
                self._context = atomic_write(owner.path, durable=False)
                self._file = self._context.__enter__()
            self._writer = CacheWriter(self._file, (owner.schema or Schema()).hash_key)
            self._thread = threading.Thread(target=self._run, name="riata-cache", daemon=True)
            self._thread.start()
            _in_the_making.add(self)

    def write(self, block: Block) -> None:
        if self._writer is not None:
            if self._error is None:
                self._blocks.put(block)
            else:
                self._stop()

    def _run(self) -> None:
        while (block := self._blocks.get()) is not None:
            writer = self._writer
            if writer is not None and self._error is None:
                try:
                    writer.write(block)
                except BaseException as error:
                    self._error = (
                        error  # a thread that waits to hand over a Block must not wait for ever
                    )

    def _stop(self) -> None:
        """Let the thread come to its end, and raise or note its error."""
        if self._thread is not None:
            self._blocks.put(None)
            self._thread.join()
            self._thread = None
            _in_the_making.discard(self)
        if self._error is not None:
            error, self._error = self._error, None
            with self._noting():
                raise error

    def finish(self, about: dict[str, Any]) -> None:
        self._stop()
        if self._writer is None or self._file is None:
            return
        with self._noting():
            self._writer.finish(about)
            status = os.fstat(self._file.fileno())
            if self._context is not None:
                context, self._context = self._context, None
                context.__exit__(None, None, None)
                inode, status = status.st_ino, os.stat(self._owner.path)
                if status.st_ino != inode:
                    return  # somebody else's by now
            else:
                self._owner._temporary, self._file = self._file, None
            self._owner._known = Known(stamp_of(status))
            self._owner._made_here = about["identity"]

    def close(self) -> None:
        """Remove what was not finished."""
        self._writer = None
        self._stop()
        if self._context is not None:
            context, self._context = self._context, None
            error = GeneratorExit()
            with suppress(GeneratorExit, OSError):
                context.__exit__(GeneratorExit, error, None)
        elif self._owner.path == TEMPORARY and self._file is not None:
            self._file.close()

    @contextmanager
    def _noting(self) -> Iterator[None]:
        try:
            yield
        except (OSError, MemoryError) as error:
            why = getattr(error, "strerror", None) or str(error) or "memory is exhausted"
            self._owner.note = f"no cache was made: {why}"
            self.close()


_in_the_making: weakref.WeakSet[_Making] = weakref.WeakSet()


@atexit.register
def _stop_all() -> None:
    """None may be inside the core while the interpreter goes down."""
    for making in list(_in_the_making):
        with suppress(Exception):
            making.close()


class CacheSource:
    """Files of Blocks, as `riata convert` and `--cache` write them, read one after another."""

    repeatable = True

    def __init__(self, paths: list[str], block_rows: int | None = None) -> None:
        if not paths:
            raise DataError("no files given")
        self._paths = paths
        self._block_rows = block_rows
        readers = []
        for path in paths:
            with _open_cache(path) as file:
                readers.append(CacheReader(file, path))
        self.name = join_names(paths)
        self.n_rows: int | None = sum(reader.n_rows for reader in readers)
        self.n_bytes: int | None = sum(reader.n_bytes for reader in readers)
        self.skipped = sum(reader.about["skipped"] for reader in readers)
        self.schema: Schema | None = schema_of(readers[0].about)
        self.named = None if self.schema is None else self.schema.named
        self.bytes_read = 0
        self._known: dict[str, Known] = {}
        self._reading: CacheReader | None = None
        self.label_names = list((self.schema or Schema()).label_names or ()) or None
        if self.n_rows == 0:
            raise DataError(f"no examples in {self.name}")

    def check(self) -> None:
        """LostData if a file was cut short while its Blocks were used."""
        if self._reading is not None:
            self._reading.check()

    def __iter__(self) -> Iterator[Block]:
        self.bytes_read = before = 0
        for path in self._paths:
            with _open_cache(path) as file:
                self._reading = reader = CacheReader(file, path, self._known.get(path))
                with closing(reader.blocks()) as blocks:
                    for block, position in blocks:
                        self.bytes_read = before + position
                        yield from split(block, self._block_rows)
                # Of many files, each would keep a little memory: only that they were good is kept.
                one = len(self._paths) == 1
                self._known[path] = reader.known if one else Known(reader.known.stamp)
                before += reader.n_bytes
                self.bytes_read = before


def identity_of(paths: list[str], options: dict[str, Any]) -> Identity:
    """Size and times of the files, the options they are read with, and by which version of Riata.

    None where there is a pipe.
    """
    files: list[list[Any]] = []
    for path in paths:
        if path == STDIN:
            return None
        if is_remote(path):
            files.append([path, *remote_status(path)])
            continue
        try:
            status = os.stat(path)
        except OSError:
            return None
        if os.path.isdir(path):
            from riata.sources.text.folder import labelled_files

            inside = identity_of([file for _, file in labelled_files(path)], {})
            files += [] if inside is None else inside["files"]
            continue
        files.append(
            [os.path.abspath(path), status.st_size, status.st_mtime_ns, status.st_ctime_ns]
        )
    asked = {k: repr(v) for k, v in sorted(options.items())}
    return {"files": files, "options": asked, "version": __version__}


def default_path(paths: list[str]) -> str:
    """Beside the first file; a temporary one for what has no place of its own."""
    if paths[0] == STDIN or is_remote(paths[0]):
        return TEMPORARY
    more = f"+{len(paths) - 1}" if len(paths) > 1 else ""
    return f"{paths[0].rstrip(os.sep)}{more}{SUFFIX}"


def _check_target(path: str) -> None:
    """Refuse to put a cache in the place of something else."""
    try:
        with open(path, "rb") as file:
            head = file.read(len(HEAD))
        if head and not is_cache(head):
            raise DataError(f"{path}: this file is no cache, and a cache would replace it")
    except FileNotFoundError:
        try:
            check_writable(path)
        except OSError as error:
            raise _no_place(path, error) from None
    except OSError as error:
        raise _no_place(path, error) from None


def _no_place(path: str, error: OSError) -> DataError:
    return DataError(
        f"{path}: cannot make a cache there: {error.strerror}: name another place with --cache FILE"
    )


def _open_cache(path: str) -> BinaryIO:
    try:
        return open(path, "rb", buffering=0)
    except FileNotFoundError:
        raise DataError(f"{path}: no such file") from None
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror or error}") from None
