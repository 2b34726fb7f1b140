"""The schema of models that were saved before there was one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from riata.schema import ROLES, Column, Schema


def schema_of_0_1(values: Mapping[str, Any]) -> Schema:
    """What 0.1 saved: the kinds of columns where it had them, else some of the rest."""
    edges, omitted = values.get("edges") or {}, values.get("omitted") or {}
    columns = [
        Column(
            name,
            kind if kind in ROLES else "feature",
            "" if kind in ROLES else kind,
            tuple(map(float, edges.get(name, ()))),
            omitted=omitted.get(name, ""),
        )
        for name, kind in zip(values.get("columns") or (), values.get("kinds") or (), strict=True)
    ]
    if values.get("offset") is not None:
        columns.append(Column(values["offset"], "offset"))
    words = values.get("label_names", () if "kinds" in values else None)
    return Schema(
        tuple(columns),
        open="kinds" not in values,
        label_names=None if words is None else tuple(words),
        crosses=tuple(tuple(cross) for cross in values.get("crosses") or ()),
        missing=values.get("missing") or "drop",
        absent=tuple(values.get("absent") or ()),
        hash_key=values.get("hash_key"),
        truths=False,
    )
