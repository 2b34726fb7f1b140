"""What `riata train` says at the end."""

from __future__ import annotations

from typing import Any

from riata.cli.text import command_line, count, number, percent, plural, rows
from riata.metrics import sparsity
from riata.record import Model


def trained(
    model: Model,
    output: str,
    seconds: float | None,
    skipped: str | None = None,
    note: str | None = None,
) -> str:
    """After a run that came to its end; `seconds` is None where it was not all done in one go."""
    record, learner = model.record, model.learner
    loss = learner.parameters().get("loss", "loss")
    speed = f" in {seconds:.1f} s, {count(record.examples / seconds)} a second" if seconds else ""
    lines = [
        ("learned", f"{plural(record.examples, 'example')} in {plural(record.passes, 'pass')}"),
        ("", f"from {' '.join(record.data)}{speed}"),
        ("loss", f"{number(record.progressive_loss)} {loss}, before learning each example"),
    ]
    if runs_away(model):
        lines.append(
            ("", "far worse than guessing, as features of large values make it: scale them")
        )
        lines.append(("", "(--normalize l2; of a table --log1p, --buckets, --categorical)"))
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
    lines += [("weights", weights_line(model)), ("saved", output), ("", "")]
    evaluate = command_line(["riata", "evaluate", output])
    predict = command_line(["riata", "predict", output])
    lines += [("next", f"{evaluate} TEST"), ("", f"{predict} NEW")]
    return rows(lines)


def runs_away(model: Model) -> bool:
    """Whether the loss is beyond what guessing costs by so much that only large scores explain it."""
    loss = model.record.progressive_loss
    return model.classes is not None and loss is not None and loss > 20 * model.learner.outputs


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
