"""Lazy updates against dense ones, as an item of `python -m papers`."""

from __future__ import annotations

from typing import Any

from run import equality as measured


def equality(quick: bool) -> dict[str, Any]:
    found = measured()
    rows = []
    for update in ("sgd", "fobos"):
        own = [v for name, v in found.items() if name.startswith(update)]
        apart, printed = max(v["Riata"] for v in own), max(v["printed"] for v in own)
        rows.append(
            [f"{update}, nine settings of rate and penalties", "equal",
             f"apart by at most {apart:.0e} of the largest weight; the formulas as printed: {printed:.0e}",
             "reproduced" if apart < 1e-9 else "not"]
        )  # fmt: skip
    note = (
        'The statement of Theorem 1 drops lambda_1 where its proof has it; "as printed" is the program with the '
        "printed formulas."
    )
    return {"rows": rows, "note": note, "picture": None}
