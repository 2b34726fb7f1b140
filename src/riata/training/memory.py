"""How much memory a run may take, and how much it takes."""

from __future__ import annotations

import os
import re
from pathlib import Path

from riata.errors import OutOfMemory, SettingsError

SHARE = 0.8
"""Of what the machine or its control group allows, where nobody said otherwise."""
TO_SAVE = 1.5
"""Memory that it takes to save a model, as a multiple of its own: 1.24 was measured at most, of all families."""
_UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}


def parse_size(size: int | float | str) -> int:
    """Bytes.

    >>> parse_size("2G"), parse_size("512MB"), parse_size(1e6)
    (2147483648, 536870912, 1000000)
    """
    found = re.fullmatch(r"(\d+\.?\d*|\.\d+)\s*([kmgt]?)i?b?", str(size).strip().lower())
    number = float(found[1]) * _UNITS[found[2]] if found is not None else 0.0
    if isinstance(size, int | float):
        number = float(size)
    if not 1 <= number < 1 << 62:
        raise SettingsError(f"max_memory is a size such as 512M or 2G, not {size!r}")
    return int(number)


def allowed(root: str = "/") -> int | None:
    """Bytes that this process may have: the machine's, or less where its control groups say so. None: unknown.

    `root` is where /proc and /sys are.
    """
    limits = [*_machine(root), *_control_groups(root)]
    return min(limits, default=None)


def _machine(root: str) -> list[int]:
    try:
        text = Path(root, "proc/meminfo").read_text()
    except OSError:
        return []
    found = re.search(r"^MemTotal:\s*(\d+) kB", text, re.MULTILINE)
    return [] if found is None else [int(found[1]) << 10]


def _control_groups(root: str) -> list[int]:
    """The limits of the group and of those that it is in, version 1 and 2."""
    try:
        lines = Path(root, "proc/self/cgroup").read_text().splitlines()
    except OSError:
        return []
    limits = []
    for line in lines:
        _, _, rest = line.partition(":")
        controllers, _, group = rest.partition(":")
        if controllers == "":
            base, name = Path(root, "sys/fs/cgroup"), "memory.max"
        elif "memory" in controllers.split(","):
            base, name = Path(root, "sys/fs/cgroup/memory"), "memory.limit_in_bytes"
        else:
            continue
        parts = [part for part in group.split("/") if part not in ("", "..")]
        # In a container the path may be that of the host, and the group itself be mounted as the root.
        for depth in range(len(parts) + 1):
            limits += _number(base.joinpath(*parts[:depth], name))
    return limits


def _number(path: Path) -> list[int]:
    try:
        return [int(path.read_text())]
    except (OSError, ValueError):  # "max", or no such file
        return []


def in_use() -> int | None:
    """Bytes of memory of this process, without files that are mapped into it. None: unknown."""
    try:
        with open("/proc/self/statm", "rb") as file:
            _, resident, shared = file.read().split()[:3]
    except (OSError, ValueError):
        return None
    return (int(resident) - int(shared)) * os.sysconf("SC_PAGE_SIZE")


class MemoryLimit:
    """The most memory that a run may take. `check` is called after every Block.

    Room to save the model is kept: `TO_SAVE` times what has come since the start.
    """

    def __init__(self, size: int | float | str | None = None) -> None:
        most = allowed()
        self.chosen = size is not None
        self.most = (
            parse_size(size) if size is not None else None if most is None else int(SHARE * most)
        )
        self._before = in_use()

    def check(self) -> None:
        now = in_use()
        if self.most is None or now is None or self._before is None:
            return
        to_save = max(0, int(TO_SAVE * (now - self._before)))
        if now + to_save > self.most:
            raise OutOfMemory(self._complaint(now, to_save))

    def _complaint(self, now: int, to_save: int) -> str:
        whose = "--max-memory" if self.chosen else f"{SHARE:.0%} of what this machine allows"
        return (
            f"{_words(now)} of memory in use, and up to {_words(to_save)} needed to save the model, are more than "
            f"{_words(self.most or 0)} ({whose}): fewer features (--store hashed --bits 22, a higher l1), a "
            f"smaller --shuffle or --holdout, a machine with more memory, or a higher --max-memory would help"
        )


def _words(size: int) -> str:
    """
    >>> _words(3 << 29)
    '1.5 GiB'
    """
    for unit, factor in (("GiB", 1 << 30), ("MiB", 1 << 20)):
        if size >= factor:
            return f"{size / factor:.4g} {unit}"
    return f"{size:,} bytes"
