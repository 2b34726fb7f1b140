"""What the numbers were measured on: no number means anything without it."""

from __future__ import annotations

import os
import platform
import subprocess
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


def describe() -> dict[str, str]:
    """Processor, cores, memory, system, Python and compiler; nothing that names the machine."""
    kilobytes = _first("/proc/meminfo", "MemTotal").split()[0]
    memory = f"{int(kilobytes) / 2**20:.1f} GiB" if kilobytes.isdigit() else "unknown"
    load = os.getloadavg()
    return {
        "processor": f"{_first('/proc/cpuinfo', 'model name')} ({platform.machine()})",
        "cores": str(len(os.sched_getaffinity(0))),
        "cache": _first("/proc/cpuinfo", "cache size") + " a core, as the kernel tells it",
        "memory": memory,
        "system": f"{platform.system()} {platform.release().split('-')[0]}",
        "Python": platform.python_version(),
        "compiler": _compiler(),
        "load at the start": f"{load[0]:.2f} over a minute",
    }
