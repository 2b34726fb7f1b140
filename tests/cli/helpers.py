"""Run the command line."""

from __future__ import annotations

import io
import shlex
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import numpy as np

from riata.block import Block
from riata.cli import run
from tests.streams import problem

RIATA = [sys.executable, "-m", "riata"]
ELASTIC = ("--method", "elastic-net", "--l1", "1e-3")
COLUMNS = ("--label", "y", "--ignore", "id", "--text", "body", "-q")
"""Of the table of `tests.explained.frame`, with an `id`."""


def typed(line: str) -> list[str]:
    """Words as a shell makes them."""
    return shlex.split(line)


def riata(*words: Any, code: int = 0) -> Result:
    """Run `riata WORDS...` in this process, which is fast, and expect an exit code."""
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2))
    with redirect_stdout(out), redirect_stderr(err):
        returned = run([str(word) for word in words])
    result = Result(_content(out), _content(err))
    assert returned == code, f"exit {returned}\n{result.out}\n{result.err}"
    return result


def says(words: list[str], code: int, *said: str) -> None:
    """The command ends with this code, and its error output has these texts."""
    err = riata(*words, code=code).err
    for text in said:
        assert text in err, err


def riata_process(
    *words: Any, cwd: Path | None = None, code: int = 0, stdin: bytes = b""
) -> Result:
    """Run `riata WORDS...` in a process of its own; never a traceback."""
    done = subprocess.run(
        [*RIATA, *map(str, words)], input=stdin, capture_output=True, cwd=cwd, check=False
    )
    result = Result(done.stdout.decode(), done.stderr.decode())
    assert done.returncode == code, f"exit {done.returncode}\n{result.out}\n{result.err}"
    assert "Traceback" not in result.err
    return result


def _content(stream: io.TextIOWrapper) -> str:
    stream.flush()
    stream.seek(0)
    return stream.read()


class Result:
    def __init__(self, out: str, err: str) -> None:
        self.out, self.err = out, err

    @property
    def lines(self) -> list[str]:
        return self.out.splitlines()


def text_of(block: Block) -> str:
    """A Block as svmlight text, every digit kept."""
    lines = []
    for row in range(len(block)):
        cells = slice(int(block.indptr[row]), int(block.indptr[row + 1]))
        pairs = zip(block.indices[cells].tolist(), block.values[cells].tolist(), strict=True)
        label = 0.0 if block.labels is None else block.labels[row]
        lines.append(" ".join([f"{label:.17g}", *(f"{i + 1}:{v:.9g}" for i, v in pairs)]))
    return "\n".join(lines) + "\n"


def write_problem(path: Path, n: int = 400, classes: int = 2, seed: int = 0) -> Block:
    block = problem(n, classes=classes, seed=seed)
    path.write_text(text_of(block))
    return block


def many_rows(path: Path, n: int, seed: int = 0) -> None:
    """A file of n rows of five features, fast."""
    rng = np.random.default_rng(seed)
    columns = np.sort(rng.integers(1, 200, size=(n, 5)) + 200 * np.arange(5), axis=1)
    labels = rng.integers(0, 2, n)
    with path.open("w") as file:
        for label, row in zip(labels.tolist(), columns.tolist(), strict=True):
            file.write(f"{label} {' '.join(f'{c}:1' for c in row)}\n")
