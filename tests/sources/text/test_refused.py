"""What each format of text refuses: the place and the reason are said, and the rows before it are good."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from riata.block import concatenate
from riata.sources.options import ReadOptions
from riata.sources.text.arff import ArffSource
from riata.sources.text.csv import CsvSource
from riata.sources.text.jsonl import JsonSource
from riata.sources.text.svmlight import SvmlightSource
from riata.sources.text.vw import VwSource
from tests.sources.named import drain, write
from tests.sources.text.test_arff import HEAD

SCHEMA = {"columns": ["y", "a", "b"], "kinds": ["label", "number", "category"]}


@dataclass(frozen=True)
class Refusing:
    """A format, and lines that it refuses: each with the column and the words of the error."""

    open: Callable[..., Any]
    before: str
    after: str
    good: list[int]
    """The lines that are read before the bad one."""
    cases: list[tuple[str | bytes, int, str]]
    options: ReadOptions | None = None


FORMATS = {
    "svmlight": Refusing(
        SvmlightSource, "1 1:1\n# two\n-1 2:2\n", "1 1:1\n", [1, 3], [
            ("3:4 5:6", 1, "label is missing"),
            ("qid:3 5:6", 1, "label is missing"),
            ("spam 3:4", 1, "number as the label, found 'spam'"),
            ("1,2 3:4", 1, "several labels ('1,2')"),
            ("nan 3:4", 1, "label is 'nan'"),
            ("-inf 3:4", 1, "label is '-inf'"),
            ("1e400 3:4", 1, "beyond what a 64-bit float"),
            ("1 qid:a 3:4", 3, "after qid:"),
            ("1 0:4", 3, "--zero-based"),
            ("1 -3:4", 3, "negative index in '-3:4'"),
            ("1 3:4 3:5", 7, "index 3 comes twice"),
            ("1 13:4 12:5", 8, "'12:5' is smaller than the 13 before it"),
            ("1 9223372036854775808:4", 3, "beyond 2^63"),
            ("1 3: 4:1", 3, "'3:' has no value"),
            ("1 3:abc", 5, "after the colon, found 'abc'"),
            ("1 3:1.5.2", 5, "after the colon, found '1.5.2'"),
            ("1 3:0x10", 5, "after the colon, found '0x10'"),
            ("1 3:nan", 5, "value is 'nan'"),
            ("1 3:+inf", 5, "value is '+inf'"),
            ("1 3:1e39", 5, "beyond what a 32-bit float"),
            ("1 3", 3, "expected index:value, found '3'"),
            ("1 3:1 hello", 7, "expected index:value, found 'hello'"),
            (b"1 3:1 \xff\xfe", 7, r"found '\xff\xfe'"),
            (b"1 3:1\x00 4:1", 5, r"found '1\x00'"),
            ("1 3:1 " + "y" * 500, 7, "found '" + "y" * 37 + "...'"),
            ("1 3:1 \u00e9t\u00e9", 7, "found '\u00e9t\u00e9'"),
        ],
    ),
    "vw": Refusing(
        VwSource, "1 | a\n\n-1 | b\n", "1 | c\n", [1, 3], [
            ("| a", 1, "label is missing"),
            ("1| a", 1, "touches the bar"),
            ("1 a:2", 6, "no bar"),
            ("spam | a", 1, "number as the label, found 'spam'"),
            ("nan | a", 1, "label is 'nan'"),
            ("1 -2 | a", 3, "must not be negative"),
            ("1 1 inf | a", 5, "initial prediction is 'inf'; it must be a finite number"),
            ("1 1 nan | a", 5, "initial prediction is 'nan'; it must be a finite number"),
            ("1 1 1e39 | a", 5, "initial prediction '1e39' is beyond"),
            ("1 1 -1e999 | a", 5, "initial prediction '-1e999' is beyond"),
            ("1 1 0 4 | a", 7, "'4' is one word too many"),
            ("1 't 2 | a", 6, "tag comes last"),
            ("1 2\t| a", 4, "a tab before the bar"),
            ("1:0.5 2:1 | a", 1, "'1:0.5' is a cost-sensitive label"),
            ("1:2:0.5 | a", 1, "'1:2:0.5' is a contextual bandit label"),
            ("1,3 | a", 1, "'1,3' is a multi-label"),
            ("shared | a", 1, "several lines"),
            ("ccb slot | a", 1, "conditional contextual bandit"),
            ("slates shared | a", 1, "slates"),
            ("ca 1:2:3 | a", 1, "continuous-action"),
            ('{"a": 1}', 1, "this is JSON"),
            ("1 |:2 a", 4, "name of a namespace"),
            ("1 |a: b", 5, "no weight behind its colon"),
            ("1 |a:x b", 6, "weight of the namespace, found 'x'"),
            ("1 | a: b", 5, "'a:' has no value"),
            ("1 | a:b", 7, "found 'b'; for a feature with a word as its value write name=word"),
            ("1 | a:1e39", 7, "32-bit float"),
            ("1 | a:-inf", 7, "value is '-inf'"),
            ("1 | a:3e38 b a:3e38", 14, "add up"),
            (b"1 | a:1\x00", 7, r"found '1\x00'"),
        ],
    ),
    "jsonl": Refusing(
        JsonSource, '{"y":1,"a":2}\n\n{"y":0}\n', '{"y":1}\n', [1, 3], [
            ("[1]", 1, "expected an object, {...}, on each line, found '[1]'"),
            ('{"y":1} x', 9, "text behind the object"),
            ("{y:1}", 2, "key in double quotes"),
            ('{"y" 1}', 6, "expected a colon"),
            ('{"y":1 "a":2}', 8, "comma or a closing brace"),
            ('{"y":1,}', 8, "key in double quotes"),
            ('{"y":1,"a":[1 2]}', 15, "comma or a closing bracket"),
            ('{"y":1,"a":[1,]}', 15, "expected a value"),
            ('{"y":1,"a":tru}', 12, "expected a value"),
            ('{"y":1,"a":01}', 12, "expected a number"),
            ('{"y":1,"a":1.}', 12, "expected a value"),
            ('{"y":1,"a":+1}', 12, "expected a value"),
            ('{"y":1,"a":NaN}', 12, "must be finite"),
            ('{"y":1,"a":1e39}', 12, "32-bit float"),
            ('{"y":1,"a":"x}', 12, "not closed"),
            ('{"y":1,"a":"\t"}', 13, "control character"),
            ('{"y":1,"a":"\\x"}', 13, "unknown escape"),
            ('{"y":1,"a":"\\ud800"}', 13, "surrogate"),
            ('{"y":1,"a":' + "[" * 70 + "]" * 70 + "}", 75, "64 deep"),
            ('{"a":1}', 1, "the label 'y' is missing"),
            ('{"y":1,"y":2}', 12, "label comes twice"),
            ('{"y":{}}', 6, "must be a number or a text"),
            ('{"y":1,"w":-1}', 12, "must not be negative"),
            ('{"y":1,"w":1e999}', 12, "weights must be finite"),
            ('{"y":1,"n":"x"}', 12, "column 'n' holds numbers, but here is"),
        ],
        ReadOptions(label="y", weight="w", numeric=("n",)),
    ),
    "csv": Refusing(
        CsvSource, "y,a,b\n1,2,x\n\n0,1,\n", "1,3,z\n", [2, 4], [
            ("1,2", 4, "ends before all of its 3 columns"),
            ("1,2,3,4", 7, "'4' is one more"),
            (',2,"x"', 1, "label, column 'y', is missing"),
            ("spam,2,x", 1, "number as the label, found 'spam'"),
            ("1,two,x", 3, "column 'a' holds numbers, but here is 'two'"),
            ("1,1e39,x", 3, "32-bit float"),
            ("1,-inf,x", 3, "value is '-inf'"),
            ('1,2,x"y', 5, "a quote inside the field"),
            ('1,2,"x"y', 5, "text behind the closing quote"),
            ('1,2,"x', 5, "never closed"),
        ],
        ReadOptions(label="y", numeric=("a",), schema=SCHEMA),
    ),
    "arff": Refusing(
        ArffSource, f"{HEAD}1,red,a,no\n", "2,red,b,yes\n", [9], [
            ("1,red,a", 8, "ends before all of its 4 attributes"),
            ("1,red,a,yes,5", 13, "'5' is one more"),
            ("1,red,a,maybe", 9, "'maybe' is none of the declared values: no, yes"),
            ("1,red,a,?", 9, "label, column 'class', is missing"),
            ("x,red,a,yes", 1, "attribute 'size' is numeric, but here is 'x'"),
            ("1,red,a,yes,{5}", 13, "weight of an instance"),
            ("{1 red", 7, "expected the end of the line"),
            ("{4 red}", 2, "attribute '4' is not there"),
            ("{2 a, 1 red}", 7, "behind a later one"),
            ("{a red}", 2, "number of an attribute"),
            ("{0 1,}", 6, "number of an attribute"),
            ("1,'red,a,yes", 3, "not closed"),
            ("1,r'ed,a,yes", 3, "a quote inside"),
        ],
    ),
}  # fmt: skip
CASES = [(name, *case) for name, refusing in FORMATS.items() for case in refusing.cases]


@pytest.mark.parametrize(
    ("name", "line", "column", "message"), CASES, ids=[f"{c[0]}-{str(c[1])[:24]}" for c in CASES]
)
@pytest.mark.parametrize("chunk_bytes", [1, 1 << 20])
def test_refuses(
    tmp_path: Path, name: str, line: str | bytes, column: int, message: str, chunk_bytes: int
) -> None:
    refusing = FORMATS[name]
    raw = line if isinstance(line, bytes) else line.encode()
    after = "" if "never" in message else refusing.after  # an open quote takes all that follows
    text = refusing.before.encode() + raw + b"\n" + after.encode()
    path = write(tmp_path, text, f"x.{name}")
    options = {} if refusing.options is None else {"options": refusing.options}
    blocks, error = drain(refusing.open([path], **options, _chunk_bytes=chunk_bytes))
    assert error is not None
    place = refusing.before.count("\n") + 1
    assert str(error).startswith(f"{path}:{place}:{column}: ")
    assert message in str(error)
    assert concatenate(blocks).lines.tolist() == refusing.good  # type: ignore[union-attr]
