"""What `riata evaluate` says to people."""

from __future__ import annotations

from typing import Any

from riata.cli.text import (
    number,
    percent,
    plural,
    printable,
    rows,
    weights_line,
    worse_line,
)
from riata.labels import as_text
from riata.record import Model

MOST_CLASSES = 12
"""With more there is no square of them on the screen."""


def report(model: Model, result: dict[str, Any], name: str) -> str:
    """The result for people."""
    lines = [("data", f"{plural(result['examples'], 'example')} of {printable(name, 400)}")]
    lines += _loss(model, result)
    lines += _regression(result) if model.classes is None else _classification(model, result)
    if "bootstrap" in result:
        boot = result["bootstrap"]
        said = f"{boot['level']:.0%} of {boot['replicates']} bootstrap replicates lie"
        lines.append(("", f"in brackets where {said}"))
    worse = worse_line(result)
    lines += [] if worse is None else [("", worse)]
    lines.append(("weights", weights_line(model)))
    parts = [rows(lines)]
    parts += [_table(*table) for table in _tables(model, result)]
    if result.get("calibration"):
        parts.append(calibration(result, as_text(model.labels[-1])))
    return "\n\n".join(parts)


def _around(result: dict[str, Any], name: str, digits: int = 5) -> str:
    """The interval of the bootstrap, where there is one."""
    ends = result.get("intervals", {}).get(name)
    return "" if ends is None else f" [{ends[0]:.{digits}f}, {ends[1]:.{digits}f}]"


def _loss(model: Model, result: dict[str, Any]) -> list[tuple[str, str]]:
    """One loss, and what it is."""
    if "log_loss" in result:
        said = f"{number(result['log_loss'])}{_around(result, 'log_loss')}"
        meaning = "minus the logarithm of the probability given to what was true, on average"
        return [
            ("log loss", f"{said}, {meaning}"),
            (
                "",
                f"{number(result['base_log_loss'])} by always predicting the shares of the classes",
            ),
        ]
    name = model.loss_name
    if model.classes is None and name == "squared":
        return []  # that is half the mean squared error
    lines = [
        (
            "loss",
            f"{number(result['loss'])}{_around(result, 'loss')} {name}, what was minimised, on average",
        )
    ]
    if model.classes is not None and result.get("constant_loss") is not None:
        lines.append(("", f"{number(result['constant_loss'])} by always predicting the same"))
    return lines


def _regression(result: dict[str, Any]) -> list[tuple[str, str]]:
    lines = [("MSE", f"{result['mse']:.6g}{_around(result, 'mse')}, the mean squared error")]
    if result.get("constant_mse") is not None:
        lines.append(
            ("", f"{result['constant_mse']:.6g} by always predicting the mean of these labels")
        )
    lines.append(("RMSE", f"{result['rmse']:.6g}{_around(result, 'rmse')}"))
    lines.append(("MAE", f"{result['mae']:.6g}{_around(result, 'mae')}"))
    lines.append(("R2", number(result["r2"]) + _around(result, "r2")))
    return lines


def _classification(model: Model, result: dict[str, Any]) -> list[tuple[str, str]]:
    lines = []
    found = result.get("threshold")
    accuracy = result["accuracy"] if found is None else found["accuracy"]
    lines.append(("accuracy", percent(accuracy, 2) + _around(result, "accuracy", 4)))
    if result.get("auc") is not None:
        within = f" within {result['auc_error']:.0e}" if result["auc_error"] > 0 else ""
        auc = f"{number(result['auc'])}{within}{_around(result, 'auc')}"
        against = " against ".join(printable(as_text(label)) for label in reversed(model.labels))
        lines.append(("AUC", f"{auc}, {against}"))
    if found is not None:
        by = "probability" if "probability" in found else "score"
        label = printable(as_text(model.labels[-1]))
        lines.append(("decided", f"for {label} from {by} {found[by]:g} on"))
        for name in ("precision", "recall", "f1"):
            title = "F1" if name == "f1" else name
            lines.append((title, number(found[name], 4) + _around(result, name, 4)))
    elif "macro" in result:
        shown = ", ".join(
            f"{'F1' if k == 'f1' else k} {number(v, 4)}" for k, v in result["macro"].items()
        )
        lines.append(("classes", f"{shown}: means over the classes"))
    return lines


Cells = tuple[list[str], list[list[str]]]


def _tables(model: Model, result: dict[str, Any]) -> list[Cells]:
    tables = [_at(result), _lift(result), _classes(result), _confusion(result), _groups(result)]
    return [table for table in tables if table is not None]


def _at(result: dict[str, Any]) -> Cells | None:
    if not result.get("at"):
        return None
    cells = []
    for one in result["at"]:
        [(what, wanted)] = one["wanted"].items()
        if not one["reached"]:
            cells.append([f"{what} {wanted:g}", "not reached", "", "", ""])
            continue
        threshold = one["probability"] if one["probability"] is not None else one["score"]
        numbers = [number(one[k], 4) for k in ("precision", "recall", "f1")]
        cells.append([f"{what} {wanted:g}", f"{threshold:.6g}", *numbers])
    return ["wanted", "threshold", "precision", "recall", "F1"], cells


def _lift(result: dict[str, Any]) -> Cells | None:
    if not result.get("lift"):
        return None
    cells = [
        [
            f"top {100 * one['top']:g} %",
            f"{one['lift']:.2f}",
            percent(one["share"]),
            percent(one["captured"]),
        ]
        for one in result["lift"]
    ]
    return ["of the scores", "lift", "positive", "of all"], cells


def _classes(result: dict[str, Any]) -> Cells | None:
    if "by_class" not in result or "threshold" in result:
        return None
    cells = [
        [
            as_text(one["class"]),
            *(number(one[k], 4) for k in ("precision", "recall", "f1")),
            f"{one['weight']:g}",
        ]
        for one in result["by_class"][:100]
    ]
    return ["class", "precision", "recall", "F1", "examples"], cells


def _confusion(result: dict[str, Any]) -> Cells | None:
    if "confusion" not in result or len(result["confusion"]) > MOST_CLASSES:
        return None
    labels = [as_text(one["class"]) for one in result["by_class"]]
    cells = [
        [name, *(f"{w:g}" for w in row)]
        for name, row in zip(labels, result["confusion"], strict=True)
    ]
    return ["true \\ said", *labels], cells


def _groups(result: dict[str, Any]) -> Cells | None:
    if "groups" not in result:
        return None
    names = {
        "log_loss": "log loss",
        "accuracy": "accuracy",
        "auc": "AUC",
        "positive_share": "positive",
    }
    names |= {"rmse": "RMSE", "mae": "MAE", "r2": "R2"}
    there = [name for name in names if name in result["groups"][0]]
    shown = result["groups"][:50]
    cells = [
        [one["group"], f"{one['examples']:,}", *(number(one.get(k), 4) for k in there)]
        for one in shown
    ]
    left = len(result["groups"]) - len(shown)
    cells += [[f"and {left} more", *[""] * (1 + len(there))]] if left else []
    return ["group", "examples", *(names[name] for name in there)], cells


def _table(heads: list[str], cells: list[list[str]]) -> str:
    table = [
        [printable(cell, 40 if i == 0 else 12) for i, cell in enumerate(row)]
        for row in [heads, *cells]
    ]
    width = max(len(row[0]) for row in table)
    return "\n".join(f"{row[0]:<{width}}" + "".join(f"{c:>13}" for c in row[1:]) for row in table)


def calibration(result: dict[str, Any], label: str) -> str:
    """The probability of a label, predicted against observed, bin by bin."""
    head = f"{'predicted':>14}{'mean':>10}{'observed':>10}{'share':>9}"
    total = sum(b["weight"] for b in result["calibration"])
    lines = [
        f"{b['from']:>7.1f} - {b['to']:.1f} {b['predicted']:>9.4f}{b['observed']:>10.4f}"
        f"{percent(b['weight'] / total):>9}"
        for b in result["calibration"]
    ]
    error = f"off by {number(result['calibration_error'], 4)} on average"
    return "\n".join([f"calibration: the probability of {printable(label)}", head, *lines, error])
