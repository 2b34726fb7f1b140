"""What `riata train --log` wrote: one JSON object a line."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from riata.errors import DataError


@dataclass
class Log:
    """Moments of a run, in their order, and how it ended."""

    name: str
    moments: list[dict[str, Any]] = field(default_factory=list)
    """Entries with examples, pass, loss, loss_since_last, holdout_loss, live_weights and seconds."""
    record: dict[str, Any] | None = None
    """Of the model that was saved; None where the run did not get so far."""
    broken: int = 0
    """Lines that are not whole."""

    @classmethod
    def read(cls, path: str | Path) -> Log:
        """A log of `--log`. Lines that are cut, as a crash or a full disk leaves them, are counted and left out."""
        log = cls(str(path))
        with open(path, "rb") as file:
            for line in file:
                if line.strip():
                    log._take(line)
        if not log.moments and log.record is None:
            raise DataError(f"{path}: no log of riata train: no line with an event in it")
        return log

    def _take(self, line: bytes) -> None:
        try:
            entry = json.loads(line)
        except ValueError:
            entry = None
        if not isinstance(entry, dict):
            self.broken += 1
        elif entry.get("event") in ("progress", "pass"):
            if isinstance(entry.get("examples"), int):
                self.moments.append(entry)
            else:
                self.broken += 1
        elif entry.get("event") == "saved" and isinstance(entry.get("record"), dict):
            self.record = entry["record"]

    def column(self, name: str) -> list[float | None]:
        """A number of each moment, None where there is none."""
        found = [moment.get(name) for moment in self.moments]
        return [
            float(v) if isinstance(v, int | float) and not isinstance(v, bool) else None
            for v in found
        ]

    @property
    def examples(self) -> list[float]:
        return [float(moment["examples"]) for moment in self.moments]
