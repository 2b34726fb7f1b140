"""What `riata sweep` shows: the leaders while it runs; at the end a table, and loss against sparsity."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Mapping, Sequence
from typing import IO, Any

from riata.cli.progress import Doubling, JsonLog
from riata.cli.text import count, number, short
from riata.record import Progress
from riata.sweeping import Job, Sweep
from riata.sweeping.grid import show
from riata.sweeping.result import frontier, varied

NAMES = {"log_loss": "log loss", "error": "error", "squared_error": "squared err", "loss": "loss"}
_BAR = 40


class Leaderboard:
    """The leaders on a terminal, a line each time the examples double elsewhere, and JSON lines for a log."""

    EVERY = 0.5

    def __init__(self, job: Job, kind: str, top: int, log: str | None, stream: IO[str]) -> None:
        self.job, self.top, self.stream = job, top, stream
        if kind == "auto":
            kind = "bar" if stream.isatty() else "lines"
        self.kind = kind
        self.log = None if log is None else JsonLog(log)
        self._rows, self._logged = Doubling(), Doubling()
        self._shown = -self.EVERY
        self._live: Any = None
        self._headed = False
        self._names = varied(job.settings)

    def __enter__(self) -> Leaderboard:
        if self.kind == "bar":
            from rich.console import Console
            from rich.live import Live

            self._live = Live(console=Console(file=self.stream), auto_refresh=False)
            self._live.start()
        return self

    def __exit__(self, *error: object) -> None:
        if self._live is not None:
            self._live.stop()
        if self.log is not None:
            self.log.close()

    def leaders(self) -> list[tuple[int, float]]:
        """Settings with their losses, best first."""
        columns = self.job.columns
        if columns is None:
            return []
        loss = columns.judged.loss
        there = [s for s in range(len(loss)) if columns.alive[s] and loss[s] == loss[s]]
        return [(s, float(loss[s])) for s in sorted(there, key=lambda s: loss[s])]

    def on_progress(self, progress: Progress) -> None:
        if self.log is not None and self._logged.due(progress):
            self.log.write(self._entry(progress))
        if self.kind == "bar":
            now = time.monotonic()
            if progress.end_of_pass or now - self._shown >= self.EVERY:
                self._shown = now
                self._live.update(self._table(progress), refresh=True)
        elif self.kind == "lines" and self._rows.due(progress):
            self._line(progress)

    def note(self, entry: dict[str, Any]) -> None:
        if self.log is not None:
            self.log.write(entry)

    def _entry(self, progress: Progress) -> dict[str, Any]:
        columns = self.job.columns
        return {
            "event": "pass" if progress.end_of_pass else "progress",
            "examples": progress.examples,
            "pass": progress.pass_number,
            "settings": 0 if columns is None else int(columns.alive.sum()),
            "leaders": [
                {"setting": s, "text": self._text(s), "loss": loss}
                for s, loss in self.leaders()[: self.top]
            ],
            "bytes_read": progress.bytes_read,
            "bytes": progress.n_bytes,
            "seconds": round(progress.seconds, 6),
        }

    def _text(self, s: int) -> str:
        return self.job.settings[s].text(self._names)

    def _line(self, progress: Progress) -> None:
        leaders = self.leaders()
        columns = self.job.columns
        if not leaders or columns is None:
            return
        if not self._headed:
            self._headed = True
            head = f"{'examples':>12} {'pass':>4} {'settings':>8} {'loss':>9}  leader"
            print(head, file=self.stream)
        s, loss = leaders[0]
        print(
            f"{count(progress.examples):>12} {progress.pass_number:>4} {int(columns.alive.sum()):>8} "
            f"{number(loss):>9}  {self._text(s)}",
            file=self.stream,
            flush=True,
        )

    def _table(self, progress: Progress) -> Any:
        from rich.table import Table

        total = progress.n_bytes
        part = f"{100 * progress.bytes_read / total:.0f} %, " if total else ""
        table = Table(
            title=f"pass {progress.pass_number}/{progress.passes}: {part}{short(progress.examples)} examples, "
            f"{short(progress.examples_per_second)}/s",
            title_justify="left",
        )
        for name in ("", "setting", "loss"):
            table.add_column(name, justify="left" if name == "setting" else "right")
        for place, (s, loss) in enumerate(self.leaders()[: self.top], 1):
            table.add_row(str(place), self._text(s), number(loss))
        return table


def leaderboard(
    job: Job, kind: str, top: int, log: str | None, stream: IO[str] | None = None
) -> Leaderboard:
    return Leaderboard(job, kind, top, log, sys.stderr if stream is None else stream)


def table_of(found: Sweep, top: int) -> str:
    """The best settings, a line each; what was chosen has an arrow."""
    names = list(dict.fromkeys(name for r in found.records for name in r["parameters"]))
    several = len({r["method"] for r in found.records}) > 1
    chosen = found.best_index_
    shown = found.ranking[:top]
    if chosen not in shown:
        shown.append(chosen)
    head = ["", *(["method"] if several else []), *names, NAMES[found.metric]]
    head += ["+/-", "worse by", "95 % interval", "non-zero"]
    extra = [
        n for n in ("auc", "accuracy", "r2") if any(r.get(n) is not None for r in found.records)
    ]
    lines = [[*head, *(n.upper() if n != "accuracy" else n for n in extra)]]
    for i in shown:
        r = found.records[i]
        parameters = [show(r["parameters"].get(name, "-")) for name in names]
        interval = "-" if r["low"] is None else f"{r['low']:+.5f} {r['high']:+.5f}"
        lines.append(
            [
                "->" if i == chosen else "",
                *([r["method"]] if several else []),
                *parameters,
                number(r["loss"]),
                number(r["se"]),
                f"{r['difference']:+.5f}",
                interval,
                "-" if r["non_zeros"] is None else count(r["non_zeros"]),
                *(number(r.get(name), 4) for name in extra),
            ]
        )
        if r["status"]:
            lines[-1].append(r["status"])
    return aligned(lines)


def aligned(lines: Sequence[Sequence[str]]) -> str:
    """Cells under each other, numbers to the right.

    >>> print(aligned([["a", "loss"], ["bb", "0.5"]]))
     a  loss
    bb   0.5
    """
    columns = max(map(len, lines))
    widths = [max(len(line[c]) if c < len(line) else 0 for line in lines) for c in range(columns)]
    return "\n".join(
        "  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=False)).rstrip()
        for line in lines
    )


def frontier_of(found: Sweep) -> str:
    """Loss against sparsity: settings that none beats in both; the bar grows with the loss above the best's."""
    points = frontier(found.records)
    if not points:
        return ""
    losses = [found.records[i]["loss"] for i in points]
    low, high = min(losses), max(losses)
    lines = []
    for i, loss in zip(points, losses, strict=True):
        record = found.records[i]
        length = 1 if high == low else 1 + round((_BAR - 1) * (loss - low) / (high - low))
        lines.append(
            [count(record["non_zeros"]), number(loss), "#" * length, parameters_text(record)]
        )
    widths = [max(len(line[c]) for line in lines) for c in range(3)]
    shown = [
        f"{a:>{widths[0]}}  {b:>{widths[1]}}  {c:<{widths[2]}}  {d}".rstrip()
        for a, b, c, d in lines
    ]
    return "\n".join(["non-zero weights, loss, and settings that none beats in both:", *shown])


def parameters_text(record: Mapping[str, Any]) -> str:
    """
    >>> parameters_text({"method": "ftrl", "parameters": {"l1": 0.5}})
    'ftrl l1=0.5'
    """
    return " ".join(
        [record["method"], *(f"{k}={show(v)}" for k, v in record["parameters"].items())]
    )


def as_json(found: Sweep) -> str:
    return json.dumps(found.finite(), allow_nan=False)
