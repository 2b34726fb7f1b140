from __future__ import annotations

import errno
import json
import os
import pickle
import stat
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import load_file, save_file
from safetensors.numpy import save as with_tensors

import riata
from riata import atomic, model_file
from riata.block import Block
from riata.errors import ModelError
from riata.learners import ElasticNet, Portfolio
from riata.record import Model, Record, Settings
from riata.schema import Schema
from riata.training import train
from tests.streams import ListSource, problem


def trained(classes: int = 2, n: int = 60, d: int = 10, **options: Any) -> Model:
    loss = "squared" if classes == 0 else "logistic"
    source = ListSource(problem(n, d, classes))
    return train(source, lambda m: ElasticNet(outputs=m, loss=loss, eta0=0.1), **options)


@pytest.mark.parametrize("classes", [0, 2, 3])
def test_round_trip(tmp_path: Path, classes: int) -> None:
    model = trained(classes, passes=2, holdout=0.2)
    model_file.save(model, tmp_path / "m.riata")
    again = model_file.load(tmp_path / "m.riata")
    assert type(again.learner) is ElasticNet
    assert again.learner.parameters() == model.learner.parameters()
    assert again.record == model.record
    assert np.array_equal(again.classes, model.classes)  # type: ignore[arg-type]
    old, new = model.learner.state(), again.learner.state()
    assert {k: (v.dtype, v.shape, v.tobytes()) for k, v in old.items()} == {
        k: (v.dtype, v.shape, v.tobytes()) for k, v in new.items()
    }
    model_file.save(again, tmp_path / "again.riata")
    assert (tmp_path / "again.riata").read_bytes() == (tmp_path / "m.riata").read_bytes()


def test_a_record_of_0_1_calls_the_schema_fitted(tmp_path: Path) -> None:
    record = trained().record
    record.schema = Schema(crosses=(("a", "b"),), open=True)
    values = record.to_json()
    values["fitted"] = values.pop("schema")
    assert Record.from_json(values) == record


def test_any_safetensors_reader_opens_it(tmp_path: Path) -> None:
    model = trained()
    path = tmp_path / "m.riata"
    model_file.save(model, path)
    tensors = load_file(path)
    assert tensors.keys() == model.learner.state().keys()
    with safe_open(path, "numpy") as file:
        header = json.loads(file.metadata()["riata"])
    assert header["format"] == "riata-model"
    assert header["riata"] == riata.__version__
    assert header["family"] == "elastic-net"
    assert header["classes"] == [-1, 1]
    assert header["n_features"] == model.learner.n_features
    assert header["record"]["examples"] == 60
    assert header["record"]["data"] == ["list of 60"]


def test_loaded_model_goes_on_with_the_same_bits(tmp_path: Path) -> None:
    block = problem(100)
    stopping = ListSource(block, 10, fail_at=(1, 50), error=KeyboardInterrupt())
    stopped = train(stopping, lambda m: ElasticNet(outputs=m), passes=2)
    model_file.save(stopped, tmp_path / "m")
    loaded = model_file.load(tmp_path / "m")
    end = train(ListSource(block), loaded.learner, resume=loaded)
    whole = train(ListSource(block), lambda m: ElasticNet(outputs=m), passes=2)
    model_file.save(end, tmp_path / "end")
    model_file.save(whole, tmp_path / "whole")
    assert (tmp_path / "end").read_bytes() == (tmp_path / "whole").read_bytes()


# Files that are not whole


def test_every_flipped_byte_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "m"
    model_file.save(trained(d=4), path)
    content = path.read_bytes()
    for place in range(len(content)):
        damaged = bytearray(content)
        damaged[place] ^= 1 << place % 8
        path.write_bytes(damaged)
        with pytest.raises(ModelError, match="/m: "):
            model_file.load(path)


def test_every_length_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "m"
    model_file.save(trained(d=4), path)
    content = path.read_bytes()
    for length in range(len(content)):
        path.write_bytes(content[:length])
        with pytest.raises(ModelError, match=r"cut short|empty"):
            model_file.load(path)
    path.write_bytes(content + b"x")
    with pytest.raises(ModelError):
        model_file.load(path)


def test_foreign_files(tmp_path: Path) -> None:
    path = tmp_path / "m"
    path.write_bytes(b"")
    with pytest.raises(ModelError, match="empty file"):
        model_file.load(path)
    for protocol in range(2, 6):
        path.write_bytes(pickle.dumps({"a": 1}, protocol=protocol))
        with pytest.raises(ModelError, match="pickle, which Riata never opens"):
            model_file.load(path)
    for text in (b"1 3:1 7:2\n" * 10, b"<html>", b"{}", b"\x1f\x8b" + bytes(50)):
        path.write_bytes(text)
        with pytest.raises(ModelError, match="not a model"):
            model_file.load(path)
    for metadata in (None, {"riata": "{}"}, {"riata": '{"format": "other"}'}, {"x": "y"}):
        save_file({"w": np.zeros(3)}, path, metadata=metadata)
        with pytest.raises(ModelError, match="not a model of Riata's"):
            model_file.load(path)


def test_the_file_is_what_safetensors_would_write() -> None:
    x, y = np.eye(6, dtype=np.float32), np.arange(6) % 2
    models = [
        riata.ElasticNetClassifier(),
        riata.BayesianClassifier(),
        riata.SketchClassifier(algorithm="online", block_size=4),
        riata.InteriorPointClassifier(),
    ]
    named = riata.FTRLClassifier().learn_one({"word": ["grün", "blue"]}, "é").learn_one({}, "b")
    exact = riata.SketchClassifier().fit(x, y)
    for model in (exact, *(m.partial_fit(x, y, classes=[0, 1]) for m in models), named):
        parts = model_file._to_parts(model.model_)
        content = b"".join(bytes(part) for part in parts)
        length = int.from_bytes(content[:8], "little")
        metadata = json.loads(content[8 : 8 + length])["__metadata__"]
        assert content == with_tensors(model.model_.learner.state(), metadata)


def test_saving_copies_no_tensor_once_more(tmp_path: Path) -> None:
    learner = ElasticNet(l1=0)
    n = 300_000
    block = Block(
        np.array([0, n]), np.arange(n, dtype=np.int32), np.ones(n, np.float32), np.array([1.0])
    )
    learner.learn(block)
    model = Model(learner, np.array([0, 1]), Record(data=[], settings=Settings()))
    tracemalloc.start()
    try:
        model_file.save(model, tmp_path / "m.riata")
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert most < os.path.getsize(tmp_path / "m.riata") / 8


def rewritten(model: Model, monkeypatch: pytest.MonkeyPatch, path: Path, **header: Any) -> None:
    """Save with another header, checksum and all."""
    usual, state = model_file._parts_of(model)
    monkeypatch.setattr(model_file, "_parts_of", lambda _: (usual | header, state))
    model_file.save(model, path)
    monkeypatch.undo()


def test_newer_and_unknown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "m"
    rewritten(trained(), monkeypatch, path, version=model_file.VERSION + 1, riata="9.0")
    with pytest.raises(ModelError, match=r"newer Riata \(9.0, format 3\).*upgrade"):
        model_file.load(path)
    rewritten(trained(), monkeypatch, path, family="next")
    with pytest.raises(ModelError, match="family 'next'"):
        model_file.load(path)
    rewritten(trained(), monkeypatch, path, parameters={"no": 1})
    with pytest.raises(ModelError, match="do not fit together"):
        model_file.load(path)
    with pytest.raises(FileNotFoundError):
        model_file.load(tmp_path / "absent")


# Writing


def leftovers(directory: Path) -> list[str]:
    return [name for name in os.listdir(directory) if name.endswith(".tmp")]


@pytest.mark.parametrize("step", ["write", "fsync", "replace", "fchmod"])
def test_a_full_disk_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    path = tmp_path / "m"
    model_file.save(trained(), path)
    before = path.read_bytes()

    def full(*args: Any, **kwargs: Any) -> Any:
        raise OSError(errno.ENOSPC, "No space left on device")

    if step == "write":
        real = os.fdopen

        def open_full(*args: Any) -> Any:
            file = real(*args)

            class Full:
                def close(self) -> None:
                    file.close()

                write = staticmethod(full)

            return Full()

        monkeypatch.setattr(atomic.os, "fdopen", open_full)
    else:
        monkeypatch.setattr(atomic.os, step, full)
    with pytest.raises(OSError, match="No space"):
        model_file.save(trained(3), path)
    monkeypatch.undo()
    assert path.read_bytes() == before
    assert leftovers(tmp_path) == []
    model_file.load(path)


def test_an_error_while_writing_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "m"
    path.write_text("old")

    def write_half() -> None:
        with atomic.atomic_write(path) as file:
            file.write(b"half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_half()
    assert path.read_text() == "old"
    assert leftovers(tmp_path) == []


def test_a_symbolic_link_is_followed(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "there" / "m")
    for _ in range(2):  # the first time it points to nothing
        model_file.save(trained(), tmp_path / "link")
        assert (tmp_path / "link").is_symlink()
        model_file.load(tmp_path / "there" / "m")


def test_permissions(tmp_path: Path) -> None:
    path = tmp_path / "m"
    old = os.umask(0o027)
    try:
        model_file.save(trained(), path)
    finally:
        os.umask(old)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    path.chmod(0o604)
    model_file.save(trained(), path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o604


def test_a_system_without_file_locks(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """As Windows is one: what is written takes its place all the same, and nothing is removed as a leftover."""
    monkeypatch.setattr(atomic, "fcntl", None)
    monkeypatch.delattr(atomic.os, "fchmod")
    path, other = tmp_path / "m", tmp_path / ".m.0123456789ab.tmp"
    other.write_bytes(b"somebody else's")
    for content in (b"first", b"second"):
        atomic.check_writable(path)
        with atomic.atomic_write(path) as file:
            file.write(content)
        assert path.read_bytes() == content
    with pytest.raises(ValueError, match="closed"), atomic.atomic_write(path) as file:
        file.close()
    assert path.read_bytes() == b"second"
    assert sorted(os.listdir(tmp_path)) == [other.name, "m"]


def test_devices_are_written_directly(tmp_path: Path) -> None:
    with atomic.atomic_write("/dev/null") as file:
        file.write(b"gone")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no such device here")
def test_a_full_device_is_named() -> None:
    for size in (10, 1 << 20):  # found out when it is closed, and when it is written
        with (
            pytest.raises(OSError, match="No space left") as caught,
            atomic.atomic_write("/dev/full") as f,
        ):
            f.write(b"x" * size)
        assert caught.value.filename == "/dev/full"
        assert caught.value.__context__ is None


def test_check_writable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    atomic.check_writable(tmp_path / "new")
    atomic.check_writable("/dev/null")
    assert os.listdir(tmp_path) == []
    with pytest.raises(IsADirectoryError):
        atomic.check_writable(tmp_path)
    with pytest.raises(FileNotFoundError):
        atomic.check_writable(tmp_path / "no" / "such")
    if os.geteuid() == 0:  # root may write anywhere: have the system say no
        monkeypatch.setattr(
            atomic, "_open_beside", lambda _: (_ for _ in ()).throw(PermissionError(13, "no"))
        )
    tmp_path.chmod(0o500)
    with pytest.raises(PermissionError):
        atomic.check_writable(tmp_path / "new")
    tmp_path.chmod(0o700)


def test_a_model_of_auto_of_before_says_who_made_it_and_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = train(ListSource(problem(100)), lambda m: Portfolio(outputs=m))
    whole = Portfolio.state
    without = lambda self: {k: v for k, v in whole(self).items() if k != "corrections"}  # noqa: E731
    with monkeypatch.context() as patched:
        patched.setattr(Portfolio, "state", without)
        model_file.save(model, tmp_path / "m")
    with pytest.raises(ModelError, match=rf"saved by Riata {riata.__version__}.*train it again"):
        model_file.load(tmp_path / "m")
