"""What commands say: numbers as people read them, commands as they type them, and how `riata train` went."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from riata.record import Model


def count(number: float) -> str:
    """
    >>> count(1234567)
    '1,234,567'
    """
    return f"{number:,.0f}"


def size(n_bytes: float) -> str:
    """
    >>> size(999), size(1_530_000), size(2.5e9)
    ('999 B', '1.5 MB', '2.5 GB')
    """
    for unit, scale in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if n_bytes >= scale:
            return f"{n_bytes / scale:.1f} {unit}"
    return f"{n_bytes:.0f} B"


def part_of(done: float, n_bytes: float) -> str:
    """
    >>> part_of(51.4e6, 156.2e6), part_of(0, 20), part_of(1e6, 2e9)
    ('51/156 MB', '0/20 B', '0.0/2.0 GB')
    """
    for unit, scale in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if n_bytes >= scale:
            digits = 1 if n_bytes < 10 * scale else 0
            return f"{done / scale:.{digits}f}/{n_bytes / scale:.{digits}f} {unit}"
    return f"{done:.0f}/{n_bytes:.0f} B"


def short(value: float) -> str:
    """
    >>> short(950), short(12_345), short(1_858_412)
    ('950', '12k', '1.9M')
    """
    if value >= 1e6:
        return f"{value / 1e6:.1f}M"
    return f"{value / 1e3:.0f}k" if value >= 1e4 else f"{value:.0f}"


def number(value: float | None, digits: int = 5) -> str:
    """
    >>> number(0.6931471), number(None)
    ('0.69315', '-')
    """
    return "-" if value is None else f"{value:.{digits}f}"


def percent(share: float | None, digits: int = 1) -> str:
    """
    >>> percent(0.1234)
    '12.3 %'
    """
    return "-" if share is None else f"{100 * share:.{digits}f} %"


def plural(n: int, noun: str) -> str:
    """
    >>> plural(1, "pass"), plural(2, "pass"), plural(3, "example")
    ('1 pass', '2 passes', '3 examples')
    """
    if n == 1:
        return f"1 {noun}"
    return f"{count(n)} {noun}{'es' if noun.endswith('s') else 's'}"


def command_line(words: Sequence[str]) -> str:
    """A command that can be pasted into a shell.

    >>> command_line(["riata", "train", "my data.svm"])
    "riata train 'my data.svm'"
    """
    return shlex.join(words)


def printable(name: str, longest: int = 80) -> str:
    """A name that can be shown on a terminal, whatever is in it.

    >>> printable("a\\x1b[2Jb"), printable("x" * 99, 8)
    ('a\\\\x1b[2Jb', 'xxxxx...')
    """
    shown = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in name)
    return shown if len(shown) <= longest else shown[: longest - 3] + "..."


def rows(pairs: Sequence[tuple[str, str]]) -> str:
    """Lines of a label and a text, aligned; an empty label continues the one above.

    >>> print(rows([("loss", "0.5"), ("holdout", "0.6")]))
    loss      0.5
    holdout   0.6
    """
    return "\n".join(f"{label:<10}{text}".rstrip() for label, text in pairs)


def trained(
    model: Model,
    output: str,
    seconds: float | None,
    skipped: str | None = None,
    note: str | None = None,
) -> str:
    """After a run that came to its end; `seconds` is None where it was not all done in one go."""
    record, learner = model.record, model.learner
    loss = loss_name(model)
    speed = f" in {seconds:.1f} s, {count(record.examples / seconds)} a second" if seconds else ""
    lines = [
        ("learned", f"{plural(record.examples, 'example')} in {plural(record.passes, 'pass')}"),
        ("", f"from {' '.join(record.data)}{speed}"),
        ("loss", f"{number(record.progressive_loss)} {loss}, before learning each example"),
    ]
    lines += [("", line) for line in not_learned(model)]
    if skipped is not None:
        lines.insert(2, ("skipped", skipped))
    if note is not None:
        lines.insert(2, ("", note))
    verdict = learner.verdict
    if verdict is not None:
        lines.append(("proof", verdict))
    if record.stopped_early and not learner.complete:
        lines.append(("", "stopped early: the loss got no better"))
    if record.holdout is not None:
        lines.append(("holdout", holdout_line(record.holdout)))
        worse = worse_line(record.holdout)
        lines += [] if worse is None else [("", worse)]
    lines += [("weights", weights_line(model)), ("saved", output), ("", "")]
    evaluate = command_line(["riata", "evaluate", output])
    predict = command_line(["riata", "predict", output])
    lines += [("next", f"{evaluate} TEST"), ("", f"{predict} NEW")]
    return rows(lines)


def loss_name(model: Model) -> str:
    """What is minimised; families that have no choice of it minimise log loss."""
    return str(model.learner.parameters().get("loss", "logistic"))


def not_learned(model: Model) -> list[str]:
    """What to say where always predicting the same would have lost less."""
    from riata.metrics_constant import worse_than_constant  # not every command needs it

    record, learner = model.record, model.learner
    constant = record.labels.constant_loss(learner.losses, learner.outputs)
    if not worse_than_constant(record.progressive_loss, constant, record.examples):
        return []
    said = f"WORSE THAN ALWAYS PREDICTING THE SAME, which has {number(constant)}: do not use this model."
    if learner.family == "auto":
        return [said, "These features say nothing of the label, or it changes on the way."]
    return [
        said,
        "Leave out --method, or make the steps smaller, or scale the features",
        "(--normalize l2; of a table --log1p, --buckets, --categorical)",
    ]


def worse_line(result: dict[str, Any]) -> str | None:
    """The same of labelled data: what `riata evaluate` and holdouts say."""
    from riata.metrics_constant import ENOUGH, worse_than_constant

    n = result["examples"]
    worse = worse_than_constant(result.get("log_loss"), result.get("base_log_loss"), n)
    if result.get("r2") is not None:
        worse = n >= ENOUGH and result["r2"] < 0
    return "WORSE THAN ALWAYS PREDICTING THE SAME" if worse else None


def holdout_line(result: dict[str, Any]) -> str:
    parts = [f"{number(result['loss'])} on {plural(result['examples'], 'example')} never learned"]
    if result.get("auc") is not None:
        parts.append(f"AUC {number(result['auc'], 4)}")
    if result.get("accuracy") is not None:
        parts.append(f"accuracy {percent(result['accuracy'])}")
    if result.get("rmse") is not None:
        parts.append(f"RMSE {result['rmse']:.5g}")
    if result.get("r2") is not None:
        parts.append(f"R2 {number(result['r2'], 4)}")
    return ", ".join(parts)


def weights_line(model: Model) -> str:
    """How many weights are not zero, of how many that could be."""
    from riata.metrics import sparsity  # not every command needs it

    live = model.learner.n_live()
    total = model.learner.n_features * model.learner.outputs
    zero = percent(sparsity(live, total), 2)
    of = f"{count(model.learner.n_features)} features"
    if model.learner.outputs > 1:
        of += f" x {model.learner.outputs} classes"
    return f"{count(live)} not zero, of {of} ({zero} zero)"


def interrupted(model: Model, output: str, resume: list[str]) -> str:
    """After Ctrl-C."""
    return f"\ninterrupted: {_so_far(model)} saved to {output}\n{_go_on(resume)}"


def rescued(model: Model, beside: str, resume: list[str]) -> str:
    """After an error in the data."""
    return f"{_so_far(model)} saved to {beside}; once that is mended:\n{_go_on(resume)}"


def saved_elsewhere(model: Model, place: str, resume: list[str] | None) -> str:
    """After the place where the model should go could not be written; `resume` where it is not complete."""
    if resume is None:
        return f"the model is saved to {place} instead: move it to where it should be"
    return f"{_so_far(model)} saved to {place} instead\n{_go_on(resume)}"


def checkpoint_saved(model: Model, place: str) -> str:
    """After the first one."""
    return f"checkpoint: {_so_far(model)} saved to {place}, and again from time to time"


def checkpoint_found(model: Model, place: str, resume: list[str]) -> str:
    """Before a run that would replace it."""
    return f"{place} has {_so_far(model)} by a run that was stopped, and will be replaced;\n{_go_on(resume)}"


def _so_far(model: Model) -> str:
    record = model.record
    where = f"pass {record.passes + 1} of {record.settings.passes}"
    return f"{plural(record.examples, 'example')} learned ({where})"


def _go_on(resume: list[str]) -> str:
    piped = "  (with the same data on standard input)" if "-" in resume else ""
    return f"to go on: {command_line(resume)}{piped}"
