"""inspect, diff and evaluate, as people type them."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import riata as library
from tests.cli.helpers import COLUMNS, riata, riata_process, write_problem

# inspect


def test_inspect_says_how_it_was_made(folder: Path) -> None:
    said = riata("inspect", folder / "two.riata", "--top", 2).out
    for words in (
        "by Riata 0.1.0",
        "ftrl, classification",
        "all parameters as by default",
        "number, scaled by the first rows: year, price",
        "text: body",
        "learned   300 examples, 1 pass",
        "by always predicting the same",
        "for yes",
        "against yes",
        "body",
    ):
        assert words in said, words
    found = json.loads(riata("inspect", folder / "two.riata", "--json").out)
    assert found["progressive_loss"] < found["constant_loss"] < 0.7
    assert found["changed"] == {}
    assert sum(g["weights"] for g in found["groups"]) == found["live_weights"]
    assert {g["group"] for g in found["groups"]} == {"body", "city", "price", "year"}
    assert all(e["weights"][0] > 0 for e in found["for"])
    assert all(e["weights"][0] < 0 for e in found["against"])
    model = library.load(folder / "two.riata")
    assert found["intercept"] == pytest.approx(model.intercept_.tolist())
    for entry in found["strongest"]:
        assert entry["weights"][0] == pytest.approx(model.named_coef_[entry["feature"]])


def test_the_loss_of_several_classes_is_named(folder: Path) -> None:
    """It may be the sum over the classes, which is not the log loss that `evaluate` prints."""
    words = "logistic of 3 classes, each against the rest, added up"
    said = " ".join(riata("inspect", folder / "three.riata").out.split())
    assert f"{words}, before learning each example" in said
    assert json.loads(riata("inspect", folder / "three.riata", "--json").out)["loss"] == "logistic"
    assert "added up" not in riata("inspect", folder / "two.riata").out
    for kind, named in (("ovr", words), ("multinomial", "log loss of 3 classes")):
        model = folder / f"{kind}.riata"
        done = riata(
            "train", folder / "three.csv", "-o", model, *COLUMNS[:-1], "--multi-class", kind
        )
        assert f"{named}, before learning each example" in " ".join((done.out + done.err).split())


def test_counts_are_true(folder: Path) -> None:
    found = json.loads(riata("inspect", folder / "three.riata", "--json", "--top", 0).out)
    coef = library.load(folder / "three.riata").named_coef_
    assert found["live_features"] == len(coef) == found["features"]
    assert found["live_weights"] == np.count_nonzero(list(coef.values()))
    said = riata("inspect", folder / "three.riata").out
    zero = 1 - found["live_weights"] / (3 * len(coef))
    assert (
        f"{found['live_weights']} not zero, of {len(coef)} features x 3 classes ({100 * zero:.2f} % zero)"
        in said
    )


def test_inspect_narrows(folder: Path) -> None:
    words = ["inspect", folder / "two.riata", "--json", "--top", 1000]
    found = json.loads(riata(*words, "--namespace", "city").out)
    assert {e["feature"] for e in found["strongest"]} <= {"city=Rome", "city=Oslo", "city=Bern"}
    assert found["matching"] == len(found["strongest"])
    found = json.loads(riata(*words, "--grep", "free$").out)
    assert found["strongest"]
    assert all(e["feature"].endswith("free") for e in found["strongest"])
    assert (
        "no feature is in 'town'; there are 'body'"
        in riata(*words, "--namespace", "town", code=2).err
    )
    assert "no regular expression" in riata(*words, "--grep", "(", code=2).err
    write_problem(folder / "d.svm")
    riata("train", folder / "d.svm", "-o", folder / "d.riata", "-q")
    assert (
        "have numbers, not names" in riata("inspect", folder / "d.riata", "--grep", "a", code=2).err
    )


def test_inspect_as_a_table(folder: Path) -> None:
    rows = list(csv.reader(io.StringIO(riata("inspect", folder / "three.riata", "--csv").out)))
    assert rows[0] == ["feature", "weight no", "weight very", "weight yes"]
    coef = library.load(folder / "three.riata").named_coef_
    assert {row[0]: [float(w) for w in row[1:]] for row in rows[1:]} == coef
    assert "choose one" in riata("inspect", folder / "three.riata", "--csv", "--json", code=2).err


def test_deviations_are_shown(folder: Path) -> None:
    words = [*COLUMNS, "--method", "bayesian"]
    riata("train", folder / "two.csv", "-o", folder / "b.riata", *words)
    found = json.loads(riata("inspect", folder / "b.riata", "--json").out)
    deviations: Any = library.load(folder / "b.riata").named_coef_std_
    for entry in found["strongest"]:
        assert entry["std"][0] == pytest.approx(deviations[entry["feature"]])
    said = riata("inspect", folder / "b.riata").out
    assert "std" in said
    assert "average" in said


def test_inspect_what_is_empty_or_a_pipe(folder: Path, tmp_path: Path) -> None:
    words = [*COLUMNS, "--method", "elastic-net", "--l1", "9"]
    riata("train", folder / "two.csv", "-o", tmp_path / "m", *words)
    found = json.loads(riata("inspect", tmp_path / "m", "--json").out)
    assert (found["live_weights"], found["strongest"], found["groups"]) == (0, [], [])
    assert "0 not zero" in riata("inspect", tmp_path / "m").out
    model = folder / "two.riata"
    piped = riata_process("inspect", "/dev/stdin", stdin=model.read_bytes()).out
    whole = riata("inspect", model).out
    assert piped.splitlines() == whole.splitlines()[2:]


# diff


def test_diff(folder: Path, tmp_path: Path) -> None:
    words = [*COLUMNS, "--method", "ftrl", "--l1", "2"]
    riata("train", folder / "two.csv", "-o", tmp_path / "other.riata", *words)
    a, b = folder / "two.riata", tmp_path / "other.riata"
    found = json.loads(riata("diff", a, b, folder / "two.csv", "--json", "--top", 5).out)
    one, two = (library.load(path).named_coef_ for path in (a, b))
    assert found["counts"] == {
        "gained": len(set(two) - set(one)),
        "lost": len(set(one) - set(two)),
        "moved": sum(one[name] != two[name] for name in set(one) & set(two)),
        "same": sum(one[name] == two[name] for name in set(one) & set(two)),
    }
    largest = max(set(one) & set(two), key=lambda name: abs(one[name] - two[name]))
    assert found["moved"][0]["feature"] == largest
    assert found["moved"][0]["before"] == pytest.approx([one[largest]])
    assert found["parameters"] == {"l1": [0.0, 2.0]}
    before, after = (
        np.array(riata("predict", m, folder / "two.csv", "--proba").lines, float) for m in (a, b)
    )
    said = found["predictions"]
    assert said["rows"] == 300
    assert said["changed_decisions"] == int(((before > 0.5) != (after > 0.5)).sum())
    assert said["mean_difference"] == pytest.approx(np.abs(after - before).mean())
    assert said["correlation"] == pytest.approx(np.corrcoef(before, after)[0, 1])
    top = said["largest"][0]
    assert top["row"] == int(np.abs(after - before).argmax())
    assert (top["before"], top["after"]) == pytest.approx((before[top["row"]], after[top["row"]]))
    text = riata("diff", a, b, folder / "two.csv").out
    for words_ in ("l1: 0.0 -> 2.0", "lost", "moved", "largest differences", "correlation"):
        assert words_ in text


def test_a_model_does_not_differ_from_itself(folder: Path) -> None:
    for name in ("two", "three", "number"):
        path = folder / f"{name}.riata"
        found = json.loads(riata("diff", path, path, folder / f"{name}.csv", "--json").out)
        assert found["counts"]["same"] == len(library.load(path).named_coef_)
        assert [found[k] for k in ("gained", "lost", "moved", "parameters")] == [[], [], [], {}]
        assert found["predictions"]["mean_difference"] == 0
        assert found["predictions"]["correlation"] == pytest.approx(1)


def test_diff_of_what_cannot_be_compared(folder: Path) -> None:
    two, three, number = (folder / f"{name}.riata" for name in ("two", "three", "number"))
    assert "cannot be compared" in riata("diff", two, number, code=1).err
    assert "cannot be compared" in riata("diff", two, three, code=1).err
    assert "only once" in riata("diff", two, two, "-", code=2).err
    write_problem(folder / "e.svm")
    riata("train", folder / "e.svm", "-o", folder / "e.riata", "-q")
    assert "names, those of the other numbers" in riata("diff", two, folder / "e.riata", code=1).err


def test_diff_across_families(folder: Path) -> None:
    words = [*COLUMNS, "--method", "sketch"]
    riata("train", folder / "two.csv", "-o", folder / "s.riata", *words)
    found = json.loads(riata("diff", folder / "two.riata", folder / "s.riata", "--json").out)
    one, two = (library.load(folder / f).named_coef_ for f in ("two.riata", "s.riata"))
    assert found["counts"]["lost"] == len(set(one) - set(two))
    assert found["counts"]["moved"] == len(set(one) & set(two))


# evaluate


def test_evaluate_says_where_the_model_has_learned_from_the_data(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "other.csv"
    other.write_bytes((folder / "two.csv").read_bytes())
    words = [*COLUMNS, "--initial", folder / "two.riata"]
    riata("train", other, "-o", tmp_path / "both.riata", *words)
    monkeypatch.chdir(folder)
    for model, data, learned in (
        ("two.riata", ["two.csv"], ["two.csv"]),
        ("two.riata", [other], []),
        (tmp_path / "both.riata", ["two.csv", other], ["two.csv", str(other)]),
    ):
        said = riata("evaluate", model, *data).err
        assert (f"has learned from {', '.join(learned)}:" in said) == bool(learned)
        assert ("warning" in said) == bool(learned)
        assert json.loads(riata("evaluate", model, *data, "--json").out)["learned_from"] == learned


def test_evaluate_in_detail(folder: Path) -> None:
    words = ["evaluate", folder / "two.riata", folder / "two.csv"]
    said = riata(*words, "--at", "precision=0.9,recall=0.8", "--by", "city", "--bootstrap", 50).out
    for words_ in (
        "log loss",
        "precision 0.9",
        "recall 0.8",
        "true \\ said",
        "top 10 %",
        "Rome",
        "F1",
        "bootstrap",
    ):
        assert words_ in said, words_
    assert said.count("log loss") == 2  # the loss, and a column of the groups
    found = json.loads(riata(*words, "--json", "--threshold", 0.9, "--by", "city").out)
    assert found["threshold"]["probability"] == 0.9
    assert sum(one["examples"] for one in found["groups"]) == 300
    by_id = json.loads(riata(*words, "--json", "--by", "id").out)
    assert len(by_id["groups"]) == 300
    assert "no column 'town' for --by" in riata(*words, "--by", "town", code=1).err
    assert "expected precision=0.95" in riata(*words, "--at", "f1=2", code=2).err
    assert "percentages" in riata(*words, "--lift", "200", code=2).err
    assert (
        "for models of two classes"
        in riata(
            "evaluate", folder / "three.riata", folder / "three.csv", "--at", "recall=1", code=2
        ).err
    )
    assert (
        "a regression"
        in riata(
            "evaluate", folder / "number.riata", folder / "number.csv", "--threshold", "1", code=2
        ).err
    )


def test_evaluate_groups_of_other_formats(folder: Path, tmp_path: Path) -> None:
    table = pd.read_csv(folder / "two.csv")
    table.to_json(tmp_path / "d.jsonl", orient="records", lines=True)
    table.to_parquet(tmp_path / "d.parquet")
    want = json.loads(
        riata("evaluate", folder / "two.riata", folder / "two.csv", "--by", "city", "--json").out
    )
    for name in ("d.jsonl", "d.parquet"):
        found = json.loads(
            riata("evaluate", folder / "two.riata", tmp_path / name, "--by", "city", "--json").out
        )
        assert found["groups"] == want["groups"]
    write_problem(tmp_path / "d.svm")
    riata("train", tmp_path / "d.svm", "-o", tmp_path / "m", "-q")
    assert (
        "svmlight has none"
        in riata("evaluate", tmp_path / "m", tmp_path / "d.svm", "--by", "a", code=2).err
    )
