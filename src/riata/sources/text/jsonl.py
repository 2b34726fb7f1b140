"""JSON objects, one a line, as a source."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import islice
from typing import Any

from riata import _core
from riata.block import Block
from riata.errors import DataError
from riata.sources.bad_lines import BadLine, Skipping
from riata.sources.io.bytes import Stop
from riata.sources.io.lines import Buffers, Chunk, cut_lines
from riata.sources.options import ReadOptions, check_crosses
from riata.sources.source import split
from riata.sources.table.layout import LOOK_AT
from riata.sources.table.roles import LABEL, Roles, like_columns, suggest
from riata.sources.text.csv import look_ahead
from riata.sources.text.named import (
    LABEL_MESSAGES,
    VALUE_MESSAGES,
    NamedTextSource,
)
from riata.sources.text.text import Parsed, excerpt, parsed

_MESSAGES = (
    VALUE_MESSAGES
    | LABEL_MESSAGES
    | {
        "object": "expected an object, {{...}}, on each line, found {text}; of one list of "
        "objects, jq -c '.[]' makes such lines",
        "trailing": "text behind the object: {text}; one object a line, please",
        "key": "expected a key in double quotes, found {text}",
        "colon": "expected a colon behind the key, found {text}",
        "comma_object": "expected a comma or a closing brace, found {text}",
        "comma_list": "expected a comma or a closing bracket, found {text}",
        "value": "expected a value, found {text}",
        "value_syntax": "expected a number, found {text}",
        "depth": "objects and lists are nested more than 64 deep",
        "string_open": "the string {text} is not closed on its line",
        "string_control": "a control character within a string; write it as \\u00..",
        "escape": "unknown escape {text} within a string",
        "surrogate": "{text} is half of a surrogate pair; the other half is missing",
        "label_missing": "the label '{label}' is missing; name its key with --label (label=...)",
        "label_kind": "the label is {text}; it must be a number or a text",
        "offset_missing": "the offset '{offset}' is missing; name its key with --offset (offset=...)",
    }
)


class JsonFormat:
    """What becomes of the keys of an object, shared by text and dicts."""

    def __init__(self, roles: Roles, labelled: bool, names: bool, crosses: list[list[str]]) -> None:
        self.roles = roles
        self.label = LABEL if roles.label is None else roles.label
        replace(roles, label=self.label)  # it must not have another role
        self.label_names: list[str] | None = None
        self._options = (roles.missing == "feature", labelled, names, crosses)
        self._core: _core.JsonFormat | None = None
        self._expected: set[str] = set()

    def find_out(self, objects: Iterable[Any], name: str) -> None:
        """Whether labels are words, from the first objects; and whether they have the keys at all."""
        objects = [item for item in objects if isinstance(item, Mapping)]
        self._check_keys(objects, name)
        labels = [_lookup(item, self.label) for item in objects]
        words = {label for label in labels if isinstance(label, str)}
        numbers = any(isinstance(label, (int, float)) for label in labels)
        self.set_label_names(sorted(words) if words and not numbers else [])

    def _check_keys(self, objects: list[Mapping[str, Any]], name: str) -> None:
        """A label or offset that no object has is an error. Other keys may yet come: there is only a warning."""
        roles = self.roles
        needed = {"label": self.label if self._options[1] else None, "offset": roles.offset}
        paths = [*needed.values(), *roles.ignore, *roles.numeric, *roles.categorical]
        unknown = [path for path in paths if path is not None and not _any_has(objects, path)]
        if not unknown or not objects:
            return
        found = dict.fromkeys(path for item in objects[:100] for path in _paths_in(item))
        for role, path in needed.items():
            if path is not None and path in unknown:
                raise DataError(
                    f"{name}: the {role} '{path}' is missing in all of the first objects; name its "
                    f"key with --{role} ({role}=...): {suggest(path, list(found))}"
                )
        for path in unknown:
            if path not in self._expected:
                warnings.warn(
                    f"{name}: none of the first objects has a key {path!r}; "
                    f"{suggest(path, list(found))}",
                    stacklevel=2,
                )

    def set_label_names(self, label_names: list[str]) -> None:
        roles = self.roles
        keys = [(self.label, "label")]
        for role, path in (("weight", roles.weight), ("offset", roles.offset)):
            keys += [] if path is None else [(path, role)]
        for role, paths in (
            ("ignored", roles.ignore),
            ("numeric", roles.numeric),
            ("categorical", roles.categorical),
        ):
            keys += [(path, role) for path in paths]
        self.label_names = label_names
        self._core = _core.JsonFormat(keys, label_names, *self._options)

    def take(self, given: Mapping[str, Any]) -> None:
        """Labels as another source found them."""
        self._expected = set(given.get("columns", ()))
        if "label_names" in given:
            self.set_label_names(list(given["label_names"]))

    @property
    def schema(self) -> dict[str, Any] | None:
        missing, crosses = self.roles.missing, self._options[3]
        kept = {"label_names": self.label_names, "missing": missing, "crosses": crosses}
        if self.roles.offset is not None:
            kept["offset"] = self.roles.offset
        return kept if self.ready else None

    @property
    def ready(self) -> bool:
        return self._core is not None

    def parse(self, text: bytes | bytearray, size: int, path: str) -> Parsed:
        assert self._core is not None
        return parsed(self._core.parse(text, size), path)

    def details(self) -> dict[str, object]:
        names = ", ".join((self.label_names or [])[:10])
        return {"label": self.label, "offset": self.roles.offset, "labels": names}


class JsonSource(NamedTextSource):
    """Files of JSON objects, one a line, or `-` for standard input.

    Keys of nested objects are joined: `{"user": {"age": 30}}` is the feature `user.age` with the
    value 30. A text is the feature `key=text`, true is `key` with 1; false and null are nothing. A
    list of texts is several features, other things in lists are numbered, `key.0`. Columns of
    `Roles` are keys here, `user.age` if nested; an ignored key leaves out all below it.

    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "one.jsonl"
    >>> _ = path.write_text('{"y": 1, "user": {"age": 30, "tags": ["a", "b"]}, "new": true}')
    >>> [block] = JsonSource([str(path)], ReadOptions(label="y"))
    >>> [block.name_of(i) for i in range(block.nnz)]
    ['user.age', 'user.tags=a', 'user.tags=b', 'new']
    """

    format = "JSON"
    messages = _MESSAGES

    def __init__(
        self, paths: list[str], options: ReadOptions | None = None, **reading: Any
    ) -> None:
        super().__init__(paths, options, **reading)
        roles = like_columns(self._options.roles, self._given)
        self._mapping = JsonFormat(roles, self._labelled, self._names, self._crosses)
        self._mapping.take(self._given)

    @property
    def schema(self) -> dict[str, Any] | None:
        return self._mapping.schema

    @property
    def label_names(self) -> list[str] | None:
        return self._mapping.label_names or None

    def _chunks(self, buffers: Buffers, stop: Stop) -> Iterator[Chunk]:
        chunks = cut_lines(self._paths, buffers, stop)
        if not self._mapping.ready:
            chunks, path, text = look_ahead(chunks, LOOK_AT)
            objects = _objects(text.split(b"\n", LOOK_AT)[:LOOK_AT])
            self._mapping.find_out(objects, path or self.name)
        yield from chunks

    def _parse(self, chunk: Chunk) -> Parsed:
        return self._mapping.parse(chunk.buffer, chunk.size, chunk.path)

    def _details(self, error: _core.ParseError) -> dict[str, object]:
        return self._mapping.details() | {"detail": self._mapping.label}

    def _reason(self, error: _core.ParseError) -> str:
        reason = super()._reason(error)
        if error.text or error.kind not in ("key", "value", "comma_object", "comma_list"):
            return reason
        return f"{reason}; an object must not go on on the next line: jq -c . mends that"


class DictSource:
    """Dicts from an iterable, read as the JSON objects that they would be.

    A list or tuple can be gone over more than once, a generator only once.

    >>> rows = [{"y": 1, "words": ["spam", "offer"]}, {"y": 0, "length": 30}]
    >>> [block] = DictSource(rows, ReadOptions(label="y"))
    >>> block.labels, [block.name_of(i) for i in range(block.nnz)]
    (array([1., 0.]), ['words=spam', 'words=offer', 'length'])
    """

    format = "dicts"
    bytes_read = 0
    n_bytes = None

    def __init__(
        self,
        rows: Iterable[Mapping[str, Any]],
        options: ReadOptions | None = None,
        *,
        skipping: Skipping | None = None,
    ) -> None:
        options = options or ReadOptions()
        sized = isinstance(rows, (list, tuple))
        self.n_rows: int | None = len(rows) if isinstance(rows, (list, tuple)) else None
        self.repeatable = sized or iter(rows) is not rows
        self.name = f"{self.n_rows} dicts" if sized else f"dicts from a {type(rows).__name__}"
        self._rows = rows
        self._block_rows = options.block_rows
        self._skipping = skipping
        given = options.schema or {}
        crosses = check_crosses(options.crosses or given.get("crosses", ()))
        roles = like_columns(options.roles, given)
        self._mapping = JsonFormat(roles, options.labelled, options.names, crosses)
        self._mapping.take(given)
        self._begun = False

    schema = JsonSource.schema
    label_names = JsonSource.label_names

    def __iter__(self) -> Iterator[Block]:
        if self._begun and not self.repeatable:
            raise DataError(f"{self.name} can be read only once; make a list of them first")
        self._begun = True
        return self._pass()

    @property
    def skipped(self) -> int:
        """Rows of the current pass that could not be read and were left out."""
        return 0 if self._skipping is None else self._skipping.count

    def _pass(self) -> Iterator[Block]:
        rows = iter(self._rows)
        before = 0
        empty = True
        if self._skipping is not None:
            self._skipping.begin_pass()
        while piece := list(islice(rows, LOOK_AT)):
            if not self._mapping.ready:
                self._mapping.find_out(piece, self.name)
            for block in self._blocks(piece, before):
                empty = False
                yield from split(block, self._block_rows)
            before += len(piece)
        if self._skipping is not None:
            self._skipping.end_pass(self.name, before)
        if empty:
            raise DataError(f"no examples in {self.name}")

    def _blocks(self, piece: list[Mapping[str, Any]], before: int) -> Iterator[Block]:
        """The rows, those before a bad one in front of its error; it may be left out."""
        done = 0
        while done < len(piece):
            texts, reason = _texts_of(piece[done:])
            text = "".join(texts).encode()
            part = self._mapping.parse(text, len(text), self.name)
            if len(part.block):
                yield replace(part.block, path=None, lines=None)
            if part.error is not None:
                reason = _MESSAGES[part.error.kind].format(
                    text=excerpt(part.error.text), detail="", **self._mapping.details()
                )
            done += part.n_lines
            if reason:
                self._leave_out(piece[done], before + done, reason)
                done += 1

    def _leave_out(self, row: Any, number: int, reason: str) -> None:
        if self._skipping is None:
            raise DataError(f"row {number}: {reason}")
        shown = repr(row).encode("utf-8", "replace")
        self._skipping.add(self.name, BadLine(number, 1, reason, shown), number + 1)


def _texts_of(rows: list[Mapping[str, Any]]) -> tuple[list[str], str]:
    """The rows as text, up to one that cannot be written so, and why."""
    texts = []
    for row in rows:
        try:
            texts.append(_dumped(row))
        except (TypeError, ValueError, RecursionError) as error:
            return texts, f"cannot be read as features: {error}"
    return texts, ""


def _dumped(row: Mapping[str, Any]) -> str:
    return json.dumps(row, ensure_ascii=False, default=_plain, separators=(",", ":")) + "\n"


def _plain(value: Any) -> Any:
    """NumPy's numbers and arrays, mappings and sets as JSON knows them."""
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, (set, frozenset)):
        return sorted(value)
    raise TypeError(f"{type(value).__name__} is neither number, text, list nor dict")


def _objects(lines: Iterable[bytes]) -> Iterator[Any]:
    for line in lines:
        try:
            yield json.loads(line)
        except (ValueError, RecursionError):  # parsing will say what is wrong with it
            continue


_NOTHING = object()


def _lookup(item: Any, path: str, nothing: Any = None) -> Any:
    """The value under a key, or under a path of keys."""
    if not isinstance(item, Mapping):
        return nothing
    if path in item:
        return item[path]
    for at, sign in enumerate(path):
        if sign == "." and path[:at] in item:
            return _lookup(item[path[:at]], path[at + 1 :], nothing)
    return nothing


def _any_has(objects: Iterable[Any], path: str) -> bool:
    """Whether there is something, perhaps null, under this path in one of them."""
    return any(_lookup(item, path, _NOTHING) is not _NOTHING for item in objects)


def _paths_in(item: Mapping[str, Any], before: str = "") -> Iterator[str]:
    for key, value in item.items():
        if isinstance(value, Mapping):
            yield from _paths_in(value, f"{before}{key}.")
        else:
            yield f"{before}{key}"
