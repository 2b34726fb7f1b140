"""Results as Markdown: for the screen, and for README.md between its two marks."""

from __future__ import annotations

from pathlib import Path

from benchmarks.measure import QUIET, Line, Result

BEGIN, END = "<!-- measured: begin -->", "<!-- measured: end -->"


def _time(seconds: float) -> str:
    """
    >>> _time(12.7), _time(0.0532), _time(0.00056), _time(2.9e-7)
    ('12.7 s', '53.2 ms', '560 us', '0.290 us')
    """
    for size, unit in ((1.0, "s"), (1e-3, "ms"), (1e-6, "us")):
        if seconds >= size or unit == "us":
            scaled = seconds / size
            digits = 0 if scaled >= 100 else 1 if scaled >= 10 else 2 if scaled >= 1 else 3
            return f"{scaled:.{digits}f} {unit}"
    raise AssertionError


def _ratio(value: float) -> str:
    return f"{value:,.0f}x" if value >= 100 else f"{value:.1f}x" if value >= 10 else f"{value:.2f}x"


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.4f}"


def _row(line: Line, ours: Line | None, *, rate: bool) -> str:
    name = f"{line.library}: {line.label}"
    if line.error is not None:
        return f"| {name} | failed: {line.error.splitlines()[0][:120]} | | | | | |"
    notes = list(line.notes)
    if rate and line.megabytes is not None:
        notes.insert(0, f"{line.megabytes / line.best:,.0f} MB/s")
    times = "" if ours is None else _ratio(line.best / ours.best)
    return (
        f"| {name} | {_time(line.best)} | {_time(line.median)} | {times} | {_number(line.loss)} "
        f"| {_number(line.progressive)} | {'; '.join(notes)} |"
    )


def _quiet(result: Result) -> str:
    if result.disturbed is None:
        return "What other processes did meanwhile is not known."
    if result.disturbed <= QUIET:
        return f"Other processes used {result.disturbed:.2f} cores meanwhile."
    return f"**Disturbed**: other processes used {result.disturbed:.2f} cores meanwhile."


def section(result: Result) -> str:
    """One task on one problem, as a table, its check of equal work, and its targets."""
    ours = next((x for x in result.lines if x.adapter == "riata" and x.seconds), None)
    out = [f"### {result.task.title} (`{result.task.name}`, {result.problem})", ""]
    out.append("| | best | median | times Riata's best | loss | progressive loss | notes |")
    out.append("|---|---:|---:|---:|---:|---:|---|")
    out += [_row(line, ours, rate=result.task.name == "reader") for line in result.lines]
    out += ["", f"Equal work: {result.equal_work}. {_quiet(result)}"]
    return "\n".join(out) + "\n"


def targets(results: list[Result]) -> str:
    """All targets with what was measured beside them."""
    out = ["| work | | target | best | median | |", "|---|---|---:|---:|---:|---|"]
    for result in results:
        for v in result.verdicts:
            unit = v.unit
            if v.measured is None or v.measured_median is None:
                best = median = ""
            elif unit == "x":
                best, median = _ratio(v.measured), _ratio(v.measured_median)
            else:
                best, median = f"{v.measured:,.0f}{unit}", f"{v.measured_median:,.0f}{unit}"
            word = {True: "reached", False: "**missed**", None: "not measured"}[v.reached]
            timed = v.measured is not None
            if timed and result.disturbed is not None and result.disturbed > QUIET:
                word += ", but disturbed"
            wanted = f"{v.wanted:,g}{unit}" if unit else ""
            out.append(
                f"| {result.task.title} | {v.what} | {wanted} | {best} | {median} | {word} |"
            )
    return "\n".join(out) + "\n"


def head(machine: dict[str, str], versions: dict[str, str], skipped: dict[str, str]) -> str:
    out = ["Machine: " + "; ".join(f"{k} {v}" for k, v in machine.items()) + ".", ""]
    out.append("Versions: " + "; ".join(f"{k} {v}" for k, v in versions.items()) + ".")
    out += ["", *(f"Skipped: {name}: {why}." for name, why in skipped.items())]
    return "\n".join(out).rstrip() + "\n"


def whole(top: str, problems: list[str], results: list[Result]) -> str:
    data = "".join(f"- {text}\n" for text in problems)
    parts = [top, data, "## Targets\n", targets(results), "## Tables\n", *map(section, results)]
    return "\n".join(parts)


def write(path: Path, text: str) -> None:
    """Into the file between its marks; a file without marks, or none, becomes the text."""
    old = path.read_text() if path.exists() else ""
    if BEGIN in old and END in old:
        before, _, rest = old.partition(BEGIN)
        text = f"{before}{BEGIN}\n\n{text}\n{END}{rest.partition(END)[2]}"
    path.write_text(text)
