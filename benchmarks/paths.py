"""Where the benchmark keeps what it makes, and where real data is looked for."""

from __future__ import annotations

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CACHE = Path(os.environ.get("RIATA_BENCH_CACHE", ROOT / "build" / "bench"))
DATA = Path(os.environ.get("RIATA_DATA", ROOT.parent / "shared" / "data"))
