"""inspect, explain, diff, evaluate and completion, as people type them."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import riata as library
from riata.cli import COMMANDS
from tests.cli.helpers import riata, riata_process, write_problem
from tests.test_explain import EVIL, frame

COLUMNS = ("--label", "y", "--ignore", "id", "--text", "body", "-q")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Models of two and of three classes, and of a regression, with their data."""
    place = tmp_path_factory.mktemp("reading")
    for name, classes in (("two", 2), ("three", 3)):
        table = frame(classes)
        table.insert(0, "id", [f"r{i}" for i in range(len(table))])
        table.to_csv(place / f"{name}.csv", index=False)
        words = ["-o", place / f"{name}.riata", *COLUMNS, "--method", "ftrl"]
        riata("train", place / f"{name}.csv", *words)
    table = frame().drop(columns="y")
    table["y"] = table.price * 2
    table.to_csv(place / "number.csv", index=False)
    words = ["--label", "y", "--loss", "squared", "--method", "elastic-net", "--text", "body", "-q"]
    riata("train", place / "number.csv", "-o", place / "number.riata", *words)
    return place


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
    """It is the sum over the classes, not the log loss that `evaluate` prints."""
    words = "logistic of 3 classes, each against the rest, added up"
    said = " ".join(riata("inspect", folder / "three.riata").out.split())
    assert f"{words}, before learning each example" in said
    assert json.loads(riata("inspect", folder / "three.riata", "--json").out)["loss"] == "logistic"
    assert "added up" not in riata("inspect", folder / "two.riata").out
    trained = riata(
        "train", folder / "three.csv", "-o", folder / "again.riata", *COLUMNS[:-1], code=0
    )
    assert words in " ".join((trained.out + trained.err).split())


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


# explain


def test_explain_reads_standard_input(folder: Path) -> None:
    text = (folder / "two.csv").read_bytes()
    piped = riata_process(
        "explain", folder / "two.riata", "-", "--json", "--format", "csv", stdin=text
    ).lines
    whole = riata("explain", folder / "two.riata", folder / "two.csv", "--json").lines
    for one, other in zip(piped, whole, strict=True):
        assert json.loads(one)["contributions"] == json.loads(other)["contributions"]
    said = riata_process("explain", folder / "two.riata", "-", "--format", "csv", stdin=text).out
    assert said.count("= score") == 300
    assert (
        "standard input can be read only once"
        in riata("explain", folder / "two.riata", "-", "--id", "id", code=1).err
    )


def test_explain_prints_sums(folder: Path) -> None:
    said = riata("explain", folder / "two.riata", folder / "two.csv", "--top", 3, "--id", "id").out
    first = said.split("\n\n")[0].splitlines()
    scores = riata("predict", folder / "two.riata", folder / "two.csv", "--score").lines
    assert first[0].startswith("r0  ")
    assert "two.csv:2: yes" in first[0]
    assert first[-1].split()[0] == f"{float(scores[0]):+.4f}"
    parts = [float(line.split()[0]) for line in first[2:-1]]
    assert sum(parts) == pytest.approx(float(scores[0]), abs=1e-3)
    assert first[1].startswith("body: ")
    assert "\x1b" not in said
    assert said.count("= score") == 300


@pytest.mark.parametrize("model", ["two", "three", "number"])
def test_explain_as_json(folder: Path, model: str) -> None:
    data, path = folder / f"{model}.csv", folder / f"{model}.riata"
    lines = riata("explain", path, data, "--json", "--top", 1000).lines
    scores = [line.split("\t") for line in riata("predict", path, data, "--score").lines]
    expected = [one.to_dict() for one in library.load(path).explain(data)]
    assert len(lines) == len(scores) == len(expected) == 300
    for line, score, other in zip(lines, scores, expected, strict=True):
        one = json.loads(line)
        assert repr(one["score"]) in [repr(float(s)) for s in score]
        total = one["intercept"] + one["offset"] + sum(one["steps"].values())
        total += (
            sum(c["contribution"] for c in one["contributions"]) + one["others"]["contribution"]
        )
        assert total == pytest.approx(one["score"], abs=1e-9)
        assert one["contributions"] == [
            {k: pytest.approx(v) if k == "value" else v for k, v in c.items()}
            for c in other["contributions"]
        ]
        rest = {k: v for k, v in other.items() if k not in ("contributions", "where")}
        if model == "number":
            rest.pop("prediction")
        assert {k: v for k, v in one.items() if k in rest} == rest
        assert one["where"].startswith(str(data))


def test_explain_into_files(folder: Path, tmp_path: Path) -> None:
    words = ["explain", folder / "two.riata", folder / "two.csv", "--top", 2, "--id", "id"]
    riata(*words, "-o", tmp_path / "why.csv")
    table = pd.read_csv(tmp_path / "why.csv")
    assert list(table.columns[:3]) == ["id", "where", "class"]
    sums = table.groupby("id", sort=False).contribution.sum()
    scores = table.groupby("id", sort=False).score.first()
    assert np.allclose(sums, scores)
    assert set(table.kind) == {"feature", "others", "intercept"}
    riata(*words, "-o", tmp_path / "why.jsonl")
    first = json.loads((tmp_path / "why.jsonl").read_text().splitlines()[0])
    assert first["id"] == "r0"
    assert len(first["contributions"]) == 2
    assert first["others"]["features"] > 0
    assert "end its name in" in riata(*words, "-o", tmp_path / "why", code=2).err
    assert "choose one" in riata(*words, "--json", "--to", "csv", code=2).err


def test_explain_chooses_a_class(folder: Path) -> None:
    words = ["explain", folder / "three.riata", folder / "three.csv", "--json"]
    found = [json.loads(line) for line in riata(*words, "--class", "very").lines]
    assert {one["class"] for one in found} == {"very"}
    assert len({one["prediction"] for one in found}) == 3
    assert "no class 'never'" in riata(*words, "--class", "never", code=1).err
    zero = json.loads(riata(*words, "--from", "zero").lines[0])
    price = next(c for c in zero["contributions"] if c["feature"] == "price")
    assert price["contribution"] == pytest.approx(price["value"] * price["weight"], rel=1e-6)


def test_explain_other_formats(folder: Path, tmp_path: Path) -> None:
    table = pd.read_csv(folder / "two.csv")
    table.to_parquet(tmp_path / "d.parquet")
    table.to_json(tmp_path / "d.jsonl", orient="records", lines=True)
    want = riata("explain", folder / "two.riata", folder / "two.csv", "--json").lines
    for name in ("d.parquet", "d.jsonl"):
        found = riata("explain", folder / "two.riata", tmp_path / name, "--json").lines
        for line, other in zip(found, want, strict=True):
            assert json.loads(line)["contributions"] == json.loads(other)["contributions"]
        said = riata("explain", folder / "two.riata", tmp_path / name).out
        assert "body: " in said
    svm = tmp_path / "d.svm"
    write_problem(svm)
    riata("train", svm, "-o", tmp_path / "m", "-q", "--method", "elastic-net")
    first = json.loads(riata("explain", tmp_path / "m", svm, "--json").lines[0])
    assert (
        str(first["contributions"][0]["feature"])
        in svm.read_text().splitlines()[0].replace(":", " ").split()
    )
    vw = tmp_path / "d.vw"
    vw.write_text("1 'one |user u17 |words cheap flights:2\n-1 'two |user u2 |words rain\n" * 20)
    riata("train", vw, "-o", tmp_path / "v", "-q", "--method", "ftrl")
    first = json.loads(riata("explain", tmp_path / "v", vw, "--json").lines[0])
    assert first["tag"] == "one"
    assert {c["feature"] for c in first["contributions"]} == {
        "user^u17",
        "words^cheap",
        "words^flights",
    }


def test_what_does_not_fit(folder: Path, tmp_path: Path) -> None:
    pd.read_csv(folder / "two.csv").drop(columns="price").to_csv(tmp_path / "d.csv", index=False)
    for command in (["explain"], ["diff", folder / "two.riata"]):
        said = riata(*command, folder / "two.riata", tmp_path / "d.csv", code=1).err
        assert "column 'price' is missing" in said
    write_problem(tmp_path / "d.svm")
    said = riata("explain", folder / "two.riata", tmp_path / "d.svm", code=1).err
    assert "numbered features" in said
    assert "not a model" in riata("explain", folder / "two.csv", folder / "two.csv", code=1).err
    newer = (folder / "two.riata").read_bytes().replace(b'\\"version\\": 1', b'\\"version\\": 9', 1)
    (tmp_path / "new.riata").write_bytes(newer)
    for command in (["inspect"], ["explain"], ["diff", folder / "two.riata"], ["evaluate"]):
        data = [] if command[0] == "inspect" else [folder / "two.csv"]
        said = riata(*command, tmp_path / "new.riata", *data, code=1).err
        assert "written by a newer Riata" in said
        assert "upgrade Riata" in said


def test_names_are_shown_as_text_on_the_command_line(tmp_path: Path) -> None:
    row = {"w": EVIL, "y": "a"}
    (tmp_path / "d.jsonl").write_text(f"{json.dumps(row)}\n" * 20 + '{"w": "ok", "y": "b"}\n' * 20)
    riata(
        "train",
        tmp_path / "d.jsonl",
        "-o",
        tmp_path / "m",
        "--label",
        "y",
        "-q",
        "--method",
        "ftrl",
    )
    for words in (["inspect"], ["explain"], ["diff", tmp_path / "m"]):
        data = [] if words[0] == "inspect" else [tmp_path / "d.jsonl"]
        said = riata(*words, tmp_path / "m", *data).out
        assert "\x1b" not in said
        assert "\u202e" not in said
    first = json.loads(riata("explain", tmp_path / "m", tmp_path / "d.jsonl", "--json").lines[0])
    assert first["contributions"][0]["feature"] == f"w={EVIL}"
    table = riata("explain", tmp_path / "m", tmp_path / "d.jsonl", "--to", "csv").out
    assert f"w={EVIL}" in next(csv.reader(io.StringIO(table.splitlines()[1])))


def test_colour_only_where_it_is_wanted(folder: Path) -> None:
    pytest.importorskip("pty")
    import pty

    def through_terminal(**more: str) -> str:
        here, there = pty.openpty()
        with subprocess.Popen(
            [sys.executable, "-m", "riata", "explain", str(folder / "two.riata"), str(folder / "few.csv")],
            stdout=there, stderr=there, env=os.environ | {"TERM": "xterm"} | more,
        ) as process:  # fmt: skip
            os.close(there)
            found = b""
            while True:
                try:
                    part = os.read(here, 65536)
                except OSError:
                    break
                if not part:
                    break
                found += part
            process.wait()
        os.close(here)
        return found.decode()

    text = (folder / "two.csv").read_text().splitlines()
    (folder / "few.csv").write_text("\n".join(text[:3]) + "\n")
    coloured = through_terminal()
    assert "\x1b[" in coloured
    assert "= score" in coloured
    assert "\x1b[" not in through_terminal(NO_COLOR="1")


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


# Shells and JSON


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion(shell: str) -> None:
    said = riata("completion", shell).out
    assert "_RIATA_COMPLETE" in said
    assert f"{shell}_complete" in said


def complete(*words: str) -> list[str]:
    env = os.environ | {
        "_RIATA_COMPLETE": "bash_complete",
        "COMP_WORDS": " ".join(["riata", *words]),
        "COMP_CWORD": str(len(words)),
    }
    done = subprocess.run(
        [sys.executable, "-m", "riata"], env=env, capture_output=True, text=True, check=False
    )
    assert "Traceback" not in done.stderr
    return done.stdout.split()


def test_what_is_completed() -> None:
    assert complete("ins") == ["plain,inspect"]
    assert complete("train", "--method", "b") == ["plain,bayesian"]
    assert "plain,--bootstrap" in complete("evaluate", "--boot")
    assert complete("evaluate", "mod") == ["file,mod"]
    assert "plain,--alpha" in complete("train", "--method", "ftrl", "--alp")


def test_the_nearest_is_suggested(folder: Path) -> None:
    assert "did you mean explain?" in riata("explian", code=2).err
    assert "--method" in riata("train", "x", "-o", "y", "--methd", "ftrl", code=2).err
    assert "did you mean ftrl?" in riata("train", "x", "-o", "y", "--method", "ftlr", code=2).err
    assert "--bootstrap" in riata("evaluate", "m", "d", "--bootstrp", "3", code=2).err
    assert "did you mean fish?" in riata("completion", "fsh", code=2).err


def test_json_everywhere(folder: Path, tmp_path: Path) -> None:
    model, data = folder / "two.riata", folder / "two.csv"
    rows = [json.loads(line) for line in riata("predict", model, data, "--json").lines]
    assert len(rows) == 300
    assert rows[0]["prediction"] in ("yes", "no")
    assert "choose one" in riata("predict", model, data, "--json", "--to", "csv", code=2).err
    done = json.loads(riata("convert", data, tmp_path / "d.vw", "--label", "y", "--json").out)
    assert done["rows"] == 300
    trained = json.loads(
        riata(
            "train",
            data,
            "-o",
            tmp_path / "m",
            "--label",
            "y",
            "--text",
            "body",
            "--method",
            "ftrl",
            "--json",
        ).out
    )
    assert trained["model"] == str(tmp_path / "m")
    assert trained["examples"] == 300
    assert trained["family"] == "ftrl"
    assert json.loads(riata("verify", model, "--json").out)["good"]
    for command in COMMANDS:
        if command not in ("demo", "completion", "sweep", "report", "watch", "serve"):
            assert (
                "--json"
                in riata_process(command, "--help-all" if command == "train" else "--help").out
            ), command
