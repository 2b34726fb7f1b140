"""Colour on a terminal that wants it, and nowhere else."""

from __future__ import annotations

import os
import sys
from typing import Any


def wanted(stream: Any = None) -> bool:
    """Whether to colour what goes there: a terminal, and nobody has said NO_COLOR."""
    stream = sys.stdout if stream is None else stream
    if os.environ.get("NO_COLOR"):
        return False
    return bool(getattr(stream, "isatty", lambda: False)()) and os.environ.get("TERM") != "dumb"


def console() -> Any:
    """rich's console for standard output: text alone where colour is not wanted, and never any markup."""
    from rich.console import Console

    coloured = wanted()
    return Console(
        file=sys.stdout,
        markup=False,
        highlight=False,
        emoji=False,
        force_terminal=coloured,
        no_color=not coloured,
    )
