"""benchmarks/ is not installed: it is found beside the tests, in a checkout."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
if (ROOT / "benchmarks").is_dir():
    sys.path.insert(0, str(ROOT))
else:
    collect_ignore_glob = ["test_*.py"]
