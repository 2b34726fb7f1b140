"""Where real data is: `$RIATA_DATA`, or a folder beside the repository. What needs it is skipped where it is not."""

from __future__ import annotations

import os
from pathlib import Path

DATA = Path(os.environ.get("RIATA_DATA", Path(__file__).parents[2] / "shared" / "data"))
