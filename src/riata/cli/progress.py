"""Progress while training: a live bar, a table, JSON lines."""

from __future__ import annotations

import json
import sys
import time
import warnings
from collections.abc import Callable
from contextlib import suppress
from typing import IO, TYPE_CHECKING, Any, Protocol

import click

from riata.cli.options import option
from riata.cli.text import count, number, part_of, short, size
from riata.record import Progress

if TYPE_CHECKING:
    from rich.progress import Progress as RichProgress

FIRST_ROW = 128
"""The table's first row comes after so many examples, the next after twice as many, and so on."""


class Display(Protocol):
    def show(self, progress: Progress) -> None: ...
    def close(self) -> None: ...


class Doubling:
    """Which moments make a row: the example counts that double, and the end of a pass."""

    def __init__(self) -> None:
        self.next = FIRST_ROW
        self.last: Progress | None = None

    def due(self, progress: Progress) -> bool:
        if progress.examples < self.next and not progress.end_of_pass:
            return False
        while self.next <= progress.examples:
            self.next *= 2
        return True


class Table:
    """A row each time the number of examples has doubled, and at the end of a pass.

    `loss` is progressive, since the start; `since last` only since the row above.
    """

    HEAD = (
        f"{'examples':>12} {'pass':>4} {'loss':>9} {'since last':>10} {'holdout':>9} "
        f"{'non-zero':>10} {'read':>8} {'examples/s':>10}"
    )

    def __init__(self, stream: IO[str]) -> None:
        self.stream, self.rows = stream, Doubling()

    def show(self, progress: Progress) -> None:
        if not self.rows.due(progress):
            return
        holdout = progress.holdout_loss if progress.end_of_pass else None
        since = progress.loss_since(self.rows.last)
        if self.rows.last is None:
            print(self.HEAD, file=self.stream)
        print(
            f"{count(progress.examples):>12} {progress.pass_number:>4} "
            f"{number(progress.loss):>9} {number(since):>10} {number(holdout):>9} "
            f"{count(progress.n_live):>10} {size(progress.bytes_read):>8} "
            f"{count(progress.examples_per_second):>10}",
            file=self.stream,
            flush=True,
        )
        self.rows.last = progress

    def close(self) -> None:
        pass


def moment_of(progress: Progress, last: Progress | None) -> dict[str, Any]:
    """What a log says of a moment; of `auto` also the weight of each of its settings."""
    learner = None if progress.model is None else progress.model().learner
    members = getattr(learner, "members", None)
    return {
        "event": "pass" if progress.end_of_pass else "progress",
        "examples": progress.examples,
        "pass": progress.pass_number,
        "loss": progress.loss,
        "loss_since_last": progress.loss_since(last),
        "holdout_loss": progress.holdout_loss if progress.end_of_pass else None,
        "live_weights": progress.n_live,
        "bytes_read": progress.bytes_read,
        "bytes": progress.n_bytes,
        "seconds": round(progress.seconds, 6),
    } | ({"members": members} if members else {})


class JsonLog:
    """What the table says, as one JSON object a line."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.file = open(path, "wb", buffering=0)  # noqa: SIM115
        self.failed = self.cut = False
        self.rows = Doubling()

    def show(self, progress: Progress) -> None:
        if not self.rows.due(progress):
            return
        self.write(moment_of(progress, self.rows.last))
        self.rows.last = progress

    def write(self, entry: dict[str, Any]) -> None:
        """A line. Where the disk is full that is said once, and the next line tries again."""
        line = (json.dumps(entry) + "\n").encode()
        if self.cut:
            line = b"\n" + line
        rest = memoryview(line)
        try:
            while rest:
                rest = rest[self.file.write(rest) :]
            self.cut = False
        except OSError as error:
            self.cut = self.cut or len(rest) < len(line)
            if not self.failed:
                reason = error.strerror or error
                warnings.warn(
                    f"{self.path}: {reason}: this log has gaps; training goes on", stacklevel=2
                )
            self.failed = True

    def close(self) -> None:
        with suppress(OSError):
            self.file.close()


class Bar:
    """A live bar on a terminal: how far, how fast, how good, how sparse."""

    COUNT_EVERY = 0.5
    """Seconds between two counts of the non-zero weights, which take a look at each."""

    def __init__(self, stream: IO[str]) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, TextColumn
        from rich.progress import Progress as RichProgress

        self.bar: RichProgress = RichProgress(
            TextColumn("{task.fields[passes]}"),
            BarColumn(bar_width=10),
            TextColumn("{task.fields[facts]}"),
            console=Console(file=stream),
        )
        self.task = self.bar.add_task("", total=None, passes="", facts="")
        self.counted = -self.COUNT_EVERY
        self.live = 0
        self.bar.start()

    def show(self, progress: Progress) -> None:
        now = time.monotonic()
        if progress.end_of_pass or now - self.counted >= self.COUNT_EVERY:
            self.live, self.counted = progress.n_live, now
        read, total = progress.bytes_read, progress.n_bytes
        facts = (
            size(read) if total is None else part_of(read, total),
            f"[bold]{short(progress.examples)}[/bold] examples",
            f"{short(progress.examples_per_second)}/s",
            f"loss [bold]{number(progress.loss)}[/bold]",
            f"{count(self.live)} non-zero",
        )
        passes = f"{progress.pass_number}/{progress.passes}" if progress.passes > 1 else ""
        self.bar.update(
            self.task, total=total, completed=read, passes=passes, facts="  ".join(facts)
        )

    def close(self) -> None:
        self.bar.stop()


class Displays:
    """All that watch a run; a context that closes them."""

    def __init__(self, displays: list[Display], stream: IO[str]) -> None:
        self.displays, self.stream = displays, stream

    @classmethod
    def of(
        cls,
        kind: str,
        log: str | None = None,
        stream: IO[str] | None = None,
        watch: tuple[int, str] | None = None,
    ) -> Displays:
        """kind: auto (a bar on a terminal, a table elsewhere), bar, lines or none. watch: port, and name to show."""
        stream = sys.stderr if stream is None else stream
        if kind == "auto":
            kind = "bar" if stream.isatty() else "lines"
        displays: list[Display] = []
        if watch is not None:
            from riata.cli.watch import Watch  # before a log is begun: the port may be taken

            served = Watch(*watch)
            print(f"watch: {served.address}", file=stream, flush=True)
            displays.append(served)
        if log is not None:
            displays.append(JsonLog(log))
        if kind == "bar":
            displays.append(Bar(stream))
        elif kind == "lines":
            displays.append(Table(stream))
        return cls(displays, stream)

    @property
    def on_progress(self) -> Callable[[Progress], None] | None:
        """For `train`; None when nobody watches, so that it costs nothing."""
        return self._show if self.displays else None

    def _show(self, progress: Progress) -> None:
        for display in list(self.displays):
            try:
                display.show(progress)
            except (
                OSError
            ):  # a terminal that was closed, a full disk behind 2>: nothing to stop training for
                self.displays.remove(display)

    def say(self, text: str) -> None:
        """A line among the progress."""
        for display in self.displays:
            if isinstance(display, Bar):
                display.bar.console.print(text, markup=False, highlight=False, soft_wrap=True)
                return
        with suppress(OSError):
            print(text, file=self.stream, flush=True)

    def note(self, entry: dict[str, Any]) -> None:
        """Write an entry of another kind to the log, if there is one."""
        for display in self.displays:
            if isinstance(display, JsonLog):
                display.write(entry)

    def __enter__(self) -> Displays:
        return self

    def __exit__(self, *error: object) -> None:
        for display in self.displays:
            with suppress(OSError):
                display.close()


watch_option = option(
    "--watch",
    is_flag=False,
    flag_value=8417,
    type=click.IntRange(0, 65535),
    metavar="[PORT]",
    section="Output",
    help="Serve the report of the model so far on 127.0.0.1 while it is trained.  [port: 8417; 0: any]",
)
