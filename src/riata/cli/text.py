"""What commands say: numbers as people read them, commands as they type them, and how `riata train` went."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from riata.show import count as count
from riata.show import first_apart as first_apart
from riata.show import number as number
from riata.show import part_of as part_of
from riata.show import percent as percent
from riata.show import plural as plural
from riata.show import printable as printable
from riata.show import rows as rows
from riata.show import short as short
from riata.show import size as size

if TYPE_CHECKING:
    from riata.record import Model


def command_line(words: Sequence[str]) -> str:
    """A command that can be pasted into a shell.

    >>> command_line(["riata", "train", "my data.svm"])
    "riata train 'my data.svm'"
    """
    return shlex.join(words)


def trained(
    model: Model,
    output: str,
    seconds: float | None,
    skipped: str | None = None,
    note: str | None = None,
) -> str:
    """After a run that came to its end; `seconds` is None where it was not all done in one go."""
    record, learner = model.record, model.learner
    speed = f" in {seconds:.1f} s, {count(record.examples / seconds)} a second" if seconds else ""
    lines = [
        ("learned", f"{plural(record.examples, 'example')} in {plural(record.passes, 'pass')}"),
        ("", f"from {' '.join(record.data)}{speed}"),
        (
            "loss",
            f"{number(record.progressive_loss)} {model.loss_in_words}, before learning each example",
        ),
    ]
    apart = first_apart(record.progressive_loss, record.loss_after_first.value)
    lines += [("", line) for line in (*apart, *not_learned(model))]
    known = same_files(record.data, record.data_before)
    if known:
        said = "too good: the model had learned from"
        lines.append(("", f"{said} {printable(', '.join(known), 400)} before"))
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


def trained_json(model: Model, output: str, seconds: float) -> str:
    """The same for programs, as one JSON object."""
    import json

    record, learner = model.record, model.learner
    done = {
        "model": output,
        "family": learner.family,
        "task": learner.task,
        "classes": None if model.classes is None else model.labels,
        "parameters": learner.parameters(),
        "data": record.data,
        "examples": record.examples,
        "passes": record.passes,
        "seconds": seconds,
        "progressive_loss": record.progressive_loss,
        "loss_after_first": record.loss_after_first.value,
        "constant_loss": model.constant_loss,
        "holdout": record.holdout,
        "stopped_early": record.stopped_early,
        "skipped": record.skipped,
        "verdict": learner.verdict,
        "live_weights": learner.n_live(),
        "features": int(learner.n_features),
    }
    return json.dumps(done)


def same_files(names: Sequence[str], others: Sequence[str]) -> list[str]:
    """Those of the names that are files among the others."""
    places = {os.path.realpath(name) for name in others if name != "-"}
    return [name for name in names if name != "-" and os.path.realpath(name) in places]


def not_learned(model: Model) -> list[str]:
    """What to say where always predicting the same would have lost less."""
    from riata.metrics_running import worse_than_constant  # not every command needs it

    record, learner = model.record, model.learner
    if record.labels.all_the_same:
        return ["ALL LABELS ARE THE SAME: there is nothing to learn from them."]
    constant = record.labels.constant_loss(learner.losses, learner.outputs)
    if record.log_loss_of:
        constant = model.constant_loss
    if not worse_than_constant(record.judged_loss, constant, record.examples):
        return []
    said = f"WORSE THAN ALWAYS PREDICTING THE SAME, which has {number(constant)}: do not use this model."
    if learner.family.startswith("auto"):
        return [said, "These features say nothing of the label, or it changes on the way."]
    return [
        said,
        "Leave out --method, or make the steps smaller, or scale the features",
        "(--normalize l2; of a table --log1p, --buckets, --categorical)",
    ]


def worse_line(result: dict[str, Any]) -> str | None:
    """The same of labelled data: what `riata evaluate` and holdouts say."""
    from riata.metrics_running import ENOUGH, worse_than_constant

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
    return model.weights_in_words()


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
