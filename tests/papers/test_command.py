"""`python -m papers`: what it says of names, data, results that are there, and places that cannot be written."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest

papers = pytest.importorskip("papers.__main__")

from papers import data, items  # noqa: E402
from papers import one_page as page  # noqa: E402


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Results and the page go elsewhere."""
    monkeypatch.setattr(page, "FOLDER", tmp_path)
    return tmp_path


def found(quick: bool = True) -> dict[str, object]:
    return {"rows": [["a", 1, 1.01, "reproduced"]], "note": "", "picture": None}


def test_an_item_is_made_once_a_commit(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    made = []
    monkeypatch.setattr(papers, "commit", lambda: "abc")
    monkeypatch.setattr(papers, "make", lambda item, quick: made.append(item.key) or found())
    assert papers.main(["lipton-2015/equality", "--quick"]) == 0
    assert papers.main(["lipton-2015/equality", "--quick"]) == 0
    assert "already made from this commit" in capsys.readouterr().out
    assert made == ["lipton-2015/equality"]
    assert papers.main(["lipton-2015/equality", "--quick", "--again"]) == 0
    monkeypatch.setattr(papers, "commit", lambda: "def")
    assert papers.main(["lipton-2015/equality", "--quick"]) == 0
    assert len(made) == 3
    shown = (home / "RESULTS.md").read_text()
    assert "| a | 1 | 1.01 | reproduced |" in shown
    assert "Commit def" in shown
    assert papers.main(["--check"]) == 0
    (home / "RESULTS.md").write_text(shown.replace("1.01", "1.00"))
    assert papers.main(["--check"]) == 1
    assert "is not what papers/results say" in capsys.readouterr().err


def test_absent_data_is_a_named_gap_and_other_data_an_error(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("RIATA_DATA", str(home / "data"))
    assert papers.main(["balakrishnan-2008/table-3"]) == 0
    shown = (home / "RESULTS.md").read_text()
    assert f"**Gap**: {items.REUTERS} is not under $RIATA_DATA" in shown
    path = home / "data" / items.REUTERS
    path.parent.mkdir(parents=True)
    path.write_text("something else")
    assert papers.main(["balakrishnan-2008/table-3"]) == 1
    assert "another file than the items are about" in capsys.readouterr().err


def test_wrong_names_and_places_are_clear(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert papers.main(["nobody-1999"]) == 1
    assert "'nobody-1999' is no paper and no item; there are" in capsys.readouterr().err
    (home / "results").write_text("a file where the folder should be")
    assert papers.main(["lipton-2015"]) == 1
    assert "cannot be written" in capsys.readouterr().err


def test_a_script_that_fails_ends_the_run_and_leaves_what_was_made(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    item = items.Item("lipton-2015", "none", "None", "no_such_module")
    monkeypatch.setattr(papers, "ITEMS", (item,))
    monkeypatch.setattr(page, "ITEMS", (item,))
    assert papers.main([]) == 1
    assert "lipton-2015/none: its script failed" in capsys.readouterr().err
    assert not page.stored(item).exists()


def test_the_page_says_how_long_full_runs_took(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(papers, "make", lambda item, quick: found())
    clock = iter([0.0, 120.0, 0.0, 6.0, 0.0, 6.0])
    monkeypatch.setattr(papers.time, "perf_counter", lambda: next(clock))
    assert papers.main(["lipton-2015/equality"]) == 0
    for _ in range(2):
        assert papers.main(["lipton-2015/equality", "--quick", "--again"]) == 0
    shown = (home / "RESULTS.md").read_text()
    assert "took 0.1 minutes to make" in shown
    assert f"Full runs of 1 of {len(items.ITEMS)} items took 2.0 minutes." in shown


def test_an_interrupted_run_goes_on_at_the_next_item(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    made: list[str] = []

    def make(item: items.Item, quick: bool) -> dict[str, object]:
        made.append(item.name)
        if made == ["equality", "table-1"]:
            raise KeyboardInterrupt
        return found()

    monkeypatch.setattr(papers, "commit", lambda: "abc")
    monkeypatch.setattr(papers, "make", make)
    monkeypatch.setattr(papers, "missing", lambda names: [])
    assert papers.main(["lipton-2015"]) == 130
    assert "the same command goes on at the next item" in capsys.readouterr().err
    assert papers.main(["lipton-2015"]) == 0
    assert made == ["equality", "table-1", "table-1", "speed-up"]


def test_every_item_has_its_script_and_every_file_its_checksum() -> None:
    for item in items.ITEMS:
        module, _, function = item.script.partition(":")
        text = (data.HERE / item.paper / f"{module}.py").read_text()
        assert f"def {function or 'item'}(quick: bool)" in text
        assert set(item.data) <= set(data.CHECKSUMS)
    readme = (data.HERE / "README.md").read_text()
    for name, checksum in data.CHECKSUMS.items():
        assert name in readme
        assert checksum in readme


def test_the_page_is_what_the_results_say() -> None:
    assert page.page().read_text(encoding="utf-8") == page.text()
    for item in items.ITEMS:
        if (stored := page.stored(item)).exists():
            assert {"commit", "quick", "seconds"} <= set(json.loads(stored.read_text()))


def test_two_items_are_made_at_the_same_time(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    both = threading.Barrier(2, timeout=60)

    def make(item: items.Item, quick: bool) -> dict[str, object]:
        both.wait()  # breaks where the other has not begun
        return found() | {"processor_seconds": 90.0}

    monkeypatch.setattr(papers, "commit", lambda: "abc")
    monkeypatch.setattr(papers, "make", make)
    names = ["lipton-2015/equality", "lipton-2015/speed-up"]
    assert papers.main([*names, "--quick"]) == 0
    shown = (home / "RESULTS.md").read_text()
    assert shown.count("(90 s of the processor)") == 2
    assert f"2 of {len(items.ITEMS)} took 3.0 minutes of processor time" in shown
    assert papers.main([*names, "--jobs", "-1"]) == 1


def test_an_item_that_fails_keeps_those_before_it_and_ends_the_run(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    made = []

    def make(item: items.Item, quick: bool) -> dict[str, object]:
        made.append(item.name)
        if item.name == "table-1":
            raise papers.PapersError(f"{item.key}: its script failed, see above")
        return found()

    monkeypatch.setattr(papers, "make", make)
    assert papers.main(["lipton-2015", "--jobs", "1"]) == 1
    assert "its script failed" in capsys.readouterr().err
    assert made == ["equality", "table-1"]
    assert (home / "results/lipton-2015/equality.json").exists()
    assert not (home / "results/lipton-2015/table-1.json").exists()
