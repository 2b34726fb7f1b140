"""What somebody may have meant who typed what there is not: options of other programs, commands with a slip."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from difflib import get_close_matches

import click

_CROSS = "--cross a:b, with the names of two or three namespaces or columns"
_MEANT = {
    "--quadratic": _CROSS,
    "--cubic": _CROSS,
    "--interactions": _CROSS,
    "--loss-function": "--loss",
    "--lr": "--eta0",
    "-l": "--eta0",
    "--epochs": "--passes",
    "--n-iter": "--passes",
    "--max-iter": "--passes",
    "--final-regressor": "-o MODEL",
    "-f": "-o MODEL",
    "--model": "-o MODEL",
    "--initial-regressor": "--initial MODEL, or --resume MODEL",
    "-i": "--initial MODEL, or --resume MODEL",
    "--data": "name the files without an option",
    "-d": "name the files without an option",
    "--input": "name the files without an option",
    "--testonly": "riata predict, or riata evaluate",
    "-t": "riata predict, or riata evaluate",
    "--predictions": "riata predict MODEL DATA -o FILE",
    "-p": "riata predict MODEL DATA -o FILE",
    "--bit-precision": "--store hashed --bits N",
    "-b": "--store hashed --bits N",
    "--oaa": "nothing: labels of more than two classes are noticed",
    "--binary": "nothing: predict prints labels",
    "--raw-predictions": "riata predict --score",
    "-r": "riata predict --score",
    "--min-prediction": "--clip LOW HIGH",
    "--max-prediction": "--clip LOW HIGH",
    "--classweight": "--class-weight LABEL=FACTOR",
    "--ftrl": "--method ftrl",
    "--ftrl-alpha": "--method ftrl --alpha",
    "--ftrl-beta": "--method ftrl --beta",
    "--sgd": "--method elastic-net --learning-rate inv_sqrt --feature-scale none",
    "--bfgs": "--method sketch",
    "--adaptive": "--method auto, the default",
    "--normalized": "--method auto, the default",
    "--invariant": "--method auto, the default",
    "-c": "--cache",
    "-k": "--cache, which is made anew where the data has changed",
    "--kill-cache": "--cache, which is made anew where the data has changed",
    "--cache-file": "--cache",
    "--holdout-period": "--holdout FRACTION|FILE",
    "--holdout-off": "nothing: there is no holdout without --holdout",
    "--early-terminate": "--patience N",
    "--quantile-tau": "--quantile",
    "--noconstant": "--no-intercept",
    "--invert-hash": "riata inspect MODEL --csv",
    "--readable-model": "riata inspect MODEL --csv",
    "--audit": "riata explain MODEL DATA",
    "-a": "riata explain MODEL DATA",
    "--save-resume": "nothing: a model has all that is needed to go on",
    "--random-seed": "--seed",
    "-P": "--progress",
    "--link": "riata predict --proba",
    "--target": "--label COLUMN",
    "--target-column": "--label COLUMN",
    "--sep": "--delimiter SIGN",
    "--separator": "--delimiter SIGN",
    "--na-values": "--absent TEXTS",
    "--na": "--absent TEXTS",
    "--drop": "--ignore COLUMNS",
    "--exclude": "--ignore COLUMNS",
    "--validation": "--holdout FRACTION|FILE",
    "--test": "--holdout FRACTION|FILE, or riata evaluate",
    "--test-size": "--holdout FRACTION|FILE",
    "--regression": "--loss squared",
    "--jobs": "--threads N",
    "--n-jobs": "--threads N",
    "--random-state": "--seed N",
    "--positive": "--classes other,positive",
    "--output-format": "--to, or the end of the name of -o FILE",
    "--probabilities": "--proba",
    "--predict-proba": "--proba",
    "--no-header": "--no-header-line",
    "--id": "riata predict --id COLUMN; to learn without a column: --ignore COLUMN",
}


_OF_TRAIN = (
    "--classes",
    "--class-weight",
    "--passes",
    "--shuffle",
    "--method",
    "--loss",
    "--holdout",
    "--l1",
    "--l2",
)


_OF_PREDICT = ("--proba", "--score", "--interval", "--header", "--to")


def say_what_was_meant(error: click.NoSuchOption) -> None:
    """A better error where click's guess by spelling would miss the option that is likely meant."""
    option = error.option_name.replace("_", "-")
    command = "" if error.ctx is None else error.ctx.info_name
    if command != "train" and option in _OF_TRAIN:
        raise click.UsageError(f"{option} is an option of riata train", error.ctx) from error
    if command in ("evaluate", "train") and option in _OF_PREDICT:
        raise click.UsageError(f"{option} is an option of riata predict", error.ctx) from error
    if command == "convert" and option in ("-o", "--output"):
        said = f"{option}: name the file to write last, riata convert DATA... OUT"
        raise click.UsageError(said, error.ctx) from error
    known = _MEANT.get(option)
    if known is not None:
        said = f"No such option {error.option_name!r}; here it is {known}"
        raise click.UsageError(said, error.ctx) from error


def say_which_is_near(error: click.BadParameter) -> None:
    """A better error for a value that is none of those that can be: with the one it looks like."""
    choices = getattr(getattr(error.param, "type", None), "choices", ())
    given = re.match(r"'(.*?)' is not one of", error.message)
    near = get_close_matches(given[1].lower(), list(choices), 1) if given else []
    if near:
        said = f"{error.message} did you mean {near[0]}?"
        raise click.BadParameter(said, error.ctx, error.param, error.param_hint) from error


def refuse_quadratic(words: Sequence[str]) -> None:
    """-q is quiet here. In Vowpal Wabbit it crosses namespaces, and its argument would be taken for a file."""
    for word, following in zip(words, [*words[1:], ""], strict=True):
        glued = re.fullmatch(r"-q(\w\w|::)", word)
        pair = glued[1] if glued else following
        if (word == "-q" or glued) and re.fullmatch(r"\w\w|::", pair) and not os.path.exists(pair):
            cross = ":".join(pair) if pair != "::" else "::"
            raise click.UsageError(
                f"-q is --quiet here; to cross the features of two namespaces: --cross {cross} (with their "
                f"names in full; of all with all: --cross ::)"
            )


def similar(word: str, known: Sequence[str]) -> str:
    """
    >>> similar("trian", ["train", "predict"])
    'did you mean train?'
    >>> similar("fit", ["train", "predict"])
    'did you mean train?'
    """
    meant = {"fit": "train", "learn": "train", "score": "predict", "test": "evaluate"}
    meant |= {
        "show": "inspect",
        "info": "inspect",
        "check": "verify",
        "compare": "diff",
        "why": "explain",
    }
    near = get_close_matches(word.lower(), known, 1) or [meant.get(word.lower(), "")]
    return f"did you mean {near[0]}?" if near[0] else f"there are {', '.join(known)}"
