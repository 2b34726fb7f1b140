"""What `riata train` does so that nothing is lost."""

from __future__ import annotations

import errno
import json
import os
import re
import resource
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from riata import model_file
from riata.atomic import atomic_write, check_writable
from riata.cli import saving
from riata.training import safeguards
from tests.cli.helpers import RIATA, many_rows, riata, write_problem


@pytest.fixture
def data(tmp_path: Path) -> Path:
    write_problem(tmp_path / "d.svm", 2000)
    return tmp_path / "d.svm"


# Checkpoints


def test_a_run_with_checkpoints_gives_the_same_model_and_leaves_none(
    data: Path, tmp_path: Path
) -> None:
    riata("train", data, "-o", tmp_path / "plain", "--passes", 2)
    done = riata(
        "train", data, "-o", tmp_path / "m", "--passes", 2,
        "--checkpoint", tmp_path / "c", "--every", 300,
    )  # fmt: skip
    assert f"saved to {tmp_path / 'c'}" in done.err
    assert (tmp_path / "m").read_bytes() == (tmp_path / "plain").read_bytes()
    assert not (tmp_path / "c").exists()


def test_a_killed_run_is_found_and_goes_on(tmp_path: Path) -> None:
    data, output = tmp_path / "d", tmp_path / "m"
    many_rows(data, 20_000)
    options = ["--passes", "100000", "--shuffle", "3000", "--holdout", "0.1"]
    words = [*RIATA, "train", str(data), "-o", str(output), *options, "--every", "7000"]
    with subprocess.Popen(words, stderr=subprocess.DEVNULL) as process:
        place = Path(f"{output}.checkpoint")
        waited = time.monotonic()
        while not place.exists() and time.monotonic() < waited + 60:
            time.sleep(0.01)
        process.kill()
    assert not output.exists()
    passes = model_file.load(place).record.passes + 2
    again = riata("train", data, "-o", tmp_path / "m", "--passes", 1, "--shuffle", 5)
    assert f"{place} has " in again.err
    command = re.search(r"to go on: riata (.*)", again.err)
    assert command is not None
    assert place.exists()
    riata(*shlex.split(command[1]), "--passes", passes)
    assert not place.exists()
    options[1] = str(passes)
    riata("train", data, "-o", tmp_path / "whole", *options)
    assert output.read_bytes() == (tmp_path / "whole").read_bytes()


def test_long_runs_have_checkpoints_without_being_asked(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [0.0]

    def clock() -> float:
        now[0] += 60.0
        return now[0]

    monkeypatch.setattr(safeguards.time, "monotonic", clock)
    done = riata("train", data, "-o", tmp_path / "m", "--passes", 3)
    said = re.search(
        r"checkpoint: [\d,]+ examples learned \(pass . of 3\) saved to (.*), and", done.err
    )
    assert said is not None
    assert said[1] == f"{tmp_path / 'm'}.checkpoint"
    assert not Path(f"{tmp_path / 'm'}.checkpoint").exists()
    off = riata("train", data, "-o", tmp_path / "m", "--passes", 3, "--no-checkpoint")
    assert "checkpoint" not in off.err
    quiet = riata("train", data, "-o", tmp_path / "m", "--passes", 3, "--quiet")
    assert quiet.err == ""


def test_sigterm_saves_as_ctrl_c_does(tmp_path: Path) -> None:
    data, output = tmp_path / "d", tmp_path / "m"
    many_rows(data, 20_000)
    words = [
        *RIATA,
        "train",
        str(data),
        "-o",
        str(output),
        "--passes",
        "100000",
        "--progress",
        "lines",
    ]
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        for _ in range(5):
            process.stderr.readline()
        process.send_signal(signal.SIGTERM)
        rest = process.stderr.read()
    assert process.returncode == 143, rest
    record = model_file.load(output).record
    assert record.interrupted
    command = re.search(r"to go on: riata (.*)", rest)
    assert command is not None
    riata(*shlex.split(command[1]), "--passes", record.passes + 1)
    riata("train", data, "-o", tmp_path / "whole", "--passes", record.passes + 1)
    assert output.read_bytes() == (tmp_path / "whole").read_bytes()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--every", "soon"], "60s"),
        (["--no-checkpoint", "--every", "60s"], "choose one"),
        (["--checkpoint", "m"], "name another one"),
        (["--checkpoint", "d.svm"], "would be replaced"),
        (["--max-memory", "much"], "512M"),
    ],
)
def test_wrong_usage(
    words: list[str], message: str, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(data.parent)
    assert message in riata("train", "d.svm", "-o", "m", *words, code=2).err


def test_a_checkpoint_that_cannot_be_written_is_found_out_at_once(
    data: Path, tmp_path: Path
) -> None:
    done = riata("train", data, "-o", tmp_path / "m", "--checkpoint", tmp_path / "no" / "c", code=1)
    assert f"{tmp_path / 'no' / 'c'}: there is no folder {tmp_path / 'no'}" in done.err


def test_resume_with_other_labels(data: Path, tmp_path: Path) -> None:
    riata("train", data, "-o", tmp_path / "m")
    text = (
        data.read_text().replace("\n-1 ", "\n9 ").replace("\n1 ", "\n-1 ").replace("\n9 ", "\n1 ")
    )
    other = tmp_path / "other.svm"
    other.write_text(text)
    words = ["train", other, "-o", tmp_path / "m2", "--resume", tmp_path / "m", "--passes", 2]
    done = riata(*words, code=1)
    assert f"{other}: not the data" in done.err
    assert str(data) in done.err
    assert not (tmp_path / "m2").exists()
    piped = subprocess.run(
        [*RIATA, "train", "-", "-o", "m2", "--resume", "m", "--passes", "2", "--cache", "c", "--format", "svmlight"],
        input=text.encode(), cwd=tmp_path, capture_output=True,
    )  # fmt: skip
    assert piped.returncode == 1
    assert b"not the data" in piped.stderr


# Places that cannot be written


def failing(bad: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    """Let saving to files of these names fail as a full disk does."""
    save = model_file.save

    def fail(model: object, path: str, **how: bool) -> None:
        if os.path.basename(path) in bad:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), path)
        save(model, path, **how)  # type: ignore[arg-type]

    monkeypatch.setattr(saving.model_file, "save", fail)


def test_a_final_save_that_fails_goes_elsewhere(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    riata("train", data, "-o", tmp_path / "whole")
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    failing(("m",), monkeypatch)
    done = riata("train", data, "-o", tmp_path / "m", code=1)
    assert f"riata: {tmp_path / 'm'}: No space left on device" in done.err
    assert f"the model is saved to {tmp_path / 'm'}.checkpoint instead" in done.err
    assert Path(f"{tmp_path / 'm'}.checkpoint").read_bytes() == (tmp_path / "whole").read_bytes()
    failing(("m", "m.checkpoint"), monkeypatch)
    done = riata("train", data, "-o", tmp_path / "m", code=1)
    place = tmp_path / "temporary" / f"m.{os.getpid()}.riata"
    assert f"the model is saved to {place} instead" in done.err
    assert place.read_bytes() == (tmp_path / "whole").read_bytes()


def test_a_folder_that_goes_away(tmp_path: Path) -> None:
    """Ctrl-C after the folder of the output is gone: the part learned is in the temporary folder."""
    data, folder, temporary = tmp_path / "d", tmp_path / "f", tmp_path / "t"
    many_rows(data, 20_000)
    folder.mkdir()
    temporary.mkdir()
    words = [
        *RIATA,
        "train",
        str(data),
        "-o",
        str(folder / "m"),
        "--passes",
        "100000",
        "--progress",
        "lines",
    ]
    with subprocess.Popen(
        words, stderr=subprocess.PIPE, text=True, env={**os.environ, "TMPDIR": str(temporary)}
    ) as process:
        assert process.stderr is not None
        for _ in range(5):
            process.stderr.readline()
        folder.rmdir()
        process.send_signal(signal.SIGINT)
        rest = process.stderr.read()
    assert process.returncode == 1, rest
    (saved,) = temporary.iterdir()
    assert f"saved to {saved} instead" in rest
    record = model_file.load(saved).record
    folder.mkdir()
    command = re.search(r"to go on: riata (.*)", rest)
    assert command is not None
    riata(*shlex.split(command[1]), "--passes", record.passes + 1)
    riata("train", data, "-o", tmp_path / "whole", "--passes", record.passes + 1)
    assert (folder / "m").read_bytes() == (tmp_path / "whole").read_bytes()


def test_a_full_disk_under_the_log_does_not_end_training(data: Path, tmp_path: Path) -> None:
    if not os.path.exists("/dev/full"):
        pytest.skip("no /dev/full here")
    words = [*RIATA, "train", str(data), "-o", str(tmp_path / "m"), "--log", "/dev/full"]
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("/dev/full: No space left on device: this log has gaps") == 1
    riata("train", data, "-o", tmp_path / "whole")
    assert (tmp_path / "m").read_bytes() == (tmp_path / "whole").read_bytes()
    with open("/dev/full", "w") as full:  # so is a full disk under what is shown
        words = [*RIATA, "train", str(data), "-o", str(tmp_path / "m2"), "--progress", "lines"]
        assert subprocess.run(words, stderr=full, stdout=subprocess.DEVNULL).returncode == 0
    assert (tmp_path / "m2").read_bytes() == (tmp_path / "whole").read_bytes()


def test_a_log_goes_on_after_a_gap(tmp_path: Path) -> None:
    from riata.cli.progress import JsonLog

    log = JsonLog(str(tmp_path / "log"))
    log.write({"n": 1})
    size = os.stat(tmp_path / "log").st_size
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size + 3, limits[1]))
    try:
        with pytest.warns(UserWarning, match="log: File too large: this log has gaps"):
            log.write({"n": 2})
        log.write({"n": 3})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    log.write({"n": 4})
    log.close()
    lines = (tmp_path / "log").read_text().splitlines()
    assert json.loads(lines[0]) == {"n": 1}
    assert json.loads(lines[-1]) == {"n": 4}
    assert len(lines) == 3  # what there was room for stands alone


def test_a_full_disk_names_the_file_and_keeps_the_first_error(tmp_path: Path) -> None:
    """A limit of file sizes stands for the disk: what cannot be flushed when it is closed is no news."""

    def write() -> None:
        with atomic_write(tmp_path / "m") as file:
            for _ in range(1000):
                file.write(b"x" * 100)

    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))
    try:
        with pytest.raises(OSError, match="File too large") as caught:
            write()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert caught.value.filename == str(tmp_path / "m")
    assert caught.value.__context__ is None
    assert list(tmp_path.iterdir()) == []


# Leftovers


def test_leftovers_of_killed_runs_are_removed_and_those_of_live_ones_are_not(
    tmp_path: Path,
) -> None:
    script = """
import os, signal, sys
from riata.atomic import atomic_write
with atomic_write(sys.argv[1]) as file:
    file.write(b"half")
    print("ready", flush=True)
    if sys.argv[2] == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    sys.stdin.readline()
    file.write(b" and half")
"""
    output = tmp_path / "m"
    words = [sys.executable, "-c", script, str(output)]
    subprocess.run([*words, "die"], capture_output=True)
    (dead,) = tmp_path.iterdir()
    with subprocess.Popen([*words, "live"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as live:
        assert live.stdout is not None
        live.stdout.readline()
        foreign = tmp_path / ".m.other.0123456789ab.tmp"
        foreign.write_text("not ours")
        assert len(list(tmp_path.iterdir())) == 3
        check_writable(output)
        assert not dead.exists()
        assert foreign.exists()
        assert len(list(tmp_path.iterdir())) == 2
        live.communicate(b"\n")
    assert output.read_bytes() == b"half and half"
