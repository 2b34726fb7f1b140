"""What the numbers were measured on: no number means anything without it."""

from __future__ import annotations

import os
import platform
import resource
import subprocess
import time
from pathlib import Path


def _first(path: str, start: str) -> str:
    file = Path(path)
    if not file.exists():
        return "unknown"
    for line in file.read_text().splitlines():
        if line.startswith(start):
            return line.partition(":")[2].strip()
    return "unknown"


def _compiler() -> str:
    try:
        said = subprocess.run(["g++", "--version"], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return "no g++"
    return said.stdout.splitlines()[0]


class Neighbours:
    """How many cores other processes kept busy meanwhile: what sharing does to a benchmark.

    Contenders with two threads, and those that wait for each other, suffer most from it, so it
    shifts ratios and not only times.
    """

    def __init__(self) -> None:
        self._since = self._now()

    @staticmethod
    def _now() -> tuple[float, float, float]:
        """Seconds on the clock; busy on all cores; busy of this process and its children."""
        ticks = [int(x) for x in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]]
        idle = ticks[3] + ticks[4]
        mine = sum(
            usage.ru_utime + usage.ru_stime
            for usage in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
        )
        return time.monotonic(), (sum(ticks) - idle) / os.sysconf("SC_CLK_TCK"), mine

    def cores(self) -> float | None:
        """Mean over the time since this was made; None where it cannot be told."""
        try:
            (t0, all0, mine0), (t1, all1, mine1) = self._since, self._now()
        except OSError:
            return None
        return max(0.0, (all1 - all0 - (mine1 - mine0)) / max(t1 - t0, 1e-9))


def describe() -> dict[str, str]:
    """Processor, cores, memory, system, Python and compiler; nothing that names the machine."""
    kilobytes = _first("/proc/meminfo", "MemTotal").split()[0]
    memory = f"{int(kilobytes) / 2**20:.1f} GiB" if kilobytes.isdigit() else "unknown"
    load = os.getloadavg()
    affinity = getattr(os, "sched_getaffinity", None)  # not on every system
    cores = len(affinity(0)) if affinity else os.cpu_count()
    return {
        "processor": f"{_first('/proc/cpuinfo', 'model name')} ({platform.machine()})",
        "cores": str(cores),
        "cache": _first("/proc/cpuinfo", "cache size") + " a core, as the kernel tells it",
        "memory": memory,
        "system": f"{platform.system()} {platform.release().split('-')[0]}",
        "Python": platform.python_version(),
        "compiler": _compiler(),
        "load at the start": f"{load[0]:.2f} over a minute",
    }
