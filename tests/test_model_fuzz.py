"""Whatever a model file holds, loading it is a ModelError or a model that works."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import tracemalloc
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load as tensors_of

import riata
from riata import _core, tensor_file
from riata.errors import ModelError
from tests.fuzz_models import rows, signed

ROOT = Path(__file__).parent.parent


def test_changed_and_signed_again() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.fuzz_models", "600"],
        capture_output=True,
        text=True,
        cwd=ROOT,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert "refused" in done.stdout
    assert "used" in done.stdout


def parts(path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    content = path.read_bytes()
    outer = json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])
    return json.loads(outer["__metadata__"]["riata"]), dict(tensors_of(content))


@pytest.fixture
def model(tmp_path: Path) -> Path:
    x, y = rows()
    riata.ElasticNetClassifier().partial_fit(x, y, classes=[0, 1]).save(tmp_path / "m.riata")
    return tmp_path / "m.riata"


def test_outputs_beyond_the_file_are_not_made_room_for(model: Path) -> None:
    header, tensors = parts(model)
    header["parameters"]["outputs"] = 2147483647
    model.write_bytes(signed(header, tensors))
    with pytest.raises(ModelError, match="outputs"):
        riata.load(model)


@pytest.mark.parametrize("name", ["keys", "rows", "clock", "intercept", "seen", "rate_factor"])
def test_a_tensor_of_another_type_or_shape(model: Path, name: str) -> None:
    header, tensors = parts(model)
    for wrong in (tensors[name].astype(np.float32), tensors[name][:-1], tensors[name][None]):
        model.write_bytes(signed(header, tensors | {name: np.ascontiguousarray(wrong)}))
        with pytest.raises(ModelError, match="do not fit together"):
            riata.load(model)
    del tensors[name]
    model.write_bytes(signed(header, tensors))
    with pytest.raises(ModelError, match=f"{name}.*missing"):
        riata.load(model)


def test_numbers_that_are_not_finite(model: Path) -> None:
    header, tensors = parts(model)
    model.write_bytes(signed(header, tensors | {"intercept": np.array([np.nan])}))
    with pytest.raises(ModelError, match="'intercept' holds numbers that are not finite"):
        riata.load(model)


@pytest.mark.parametrize("label", [float("nan"), float("inf"), 10**400])
def test_a_class_that_is_no_finite_number(model: Path, label: float) -> None:
    header, tensors = parts(model)
    header["classes"] = [0, label]
    model.write_bytes(signed(header, tensors))
    with pytest.raises(ModelError, match="finite"):
        riata.load(model)


def test_passes_that_nobody_can_count(tmp_path: Path) -> None:
    path = tmp_path / "m.riata"
    riata.SketchClassifier(gamma="path", path_length=3).fit(*rows()).save(path)
    header, tensors = parts(path)
    changed = tensors["0.path"].copy()
    changed[0, 4] = 1e300
    path.write_bytes(signed(header, tensors | {"0.path": changed}))
    with pytest.raises(ModelError, match="'path' holds numbers that are not counts"):
        riata.load(path)


def test_a_sparse_file_of_ten_gigabytes(tmp_path: Path) -> None:
    path = tmp_path / "m.riata"
    with open(path, "wb") as file:
        file.truncate(10 << 30)
    with pytest.raises(ModelError, match="not a model"):
        riata.load(path)


def test_a_model_with_gigabytes_behind_it(model: Path) -> None:
    with open(model, "ab") as file:
        file.truncate(10 << 30)
    with pytest.raises(ModelError, match="10,737,418,240 bytes, and its header speaks of"):
        riata.load(model)


def sparse_model(path: Path, gigabytes: int) -> None:
    """A file that claims a tensor of so many bytes, all of them zeros, and takes none on the disk."""
    size = gigabytes << 30
    header = {
        "__metadata__": {"riata": json.dumps({"format": "riata-model", "sha256": "0" * 64})},
        "rows": {"dtype": "F64", "shape": [size // 8], "data_offsets": [0, size]},
    }
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        file.truncate(8 + len(text) + size)


def test_a_model_that_memory_does_not_hold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tensor_file, "allowed", lambda: 16 << 30)
    path = tmp_path / "m.riata"
    sparse_model(path, 10)
    with pytest.raises(ModelError, match="10 GiB of data: to load that takes about 35 GiB"):
        riata.load(path)


def test_a_packed_model_that_memory_does_not_hold(
    model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    header, tensors = parts(model)
    size = 100 << 20  # of zeros, which a file of 100 kB holds
    told = {"dtype": "uint8", "stored": "uint8", "shape": [size]}
    tensors["keys"] = np.frombuffer(zlib.compress(bytes(size)), dtype=np.uint8)
    model.write_bytes(signed(header | {"packed": {"tensors": {"keys": told}}}, tensors))
    monkeypatch.setattr(tensor_file, "allowed", lambda: 1 << 30)
    with pytest.raises(ModelError, match="unpacked: its header speaks of 800 MiB of data"):
        riata.load(model)


def test_a_file_is_read_without_another_copy(tmp_path: Path) -> None:
    path = tmp_path / "m.riata"
    content = signed({"format": "riata-model"}, {"rows": np.zeros(1 << 20)})
    path.write_bytes(content)
    tracemalloc.start()
    try:
        assert tensor_file.read_whole(path) == content
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert most < 1.2 * len(content)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_on_a_pipe(model: Path, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    for content, good in ((model.read_bytes(), True), (model.read_bytes()[:-5], False)):
        os.mkfifo(pipe)
        writer = threading.Thread(target=pipe.write_bytes, args=(content,))
        writer.start()
        if good:
            assert riata.load(pipe).t_ == 30
        else:
            with pytest.raises(ModelError, match="cut short"):
                riata.load(pipe)
        writer.join()
        pipe.unlink()


def test_replaced_while_it_is_read(model: Path) -> None:
    """A program that replaces a file by renaming, as `save` does, leaves the one that was opened whole."""
    stop = threading.Event()
    one, other = riata.load(model), riata.load(model)
    other.partial_fit(*rows())

    def replace() -> None:
        while not stop.is_set():
            one.save(model)
            other.save(model)

    writer = threading.Thread(target=replace)
    writer.start()
    seen = {riata.load(model).t_ for _ in range(100)}
    stop.set()
    writer.join()
    assert seen <= {30, 60}


def test_the_bindings_refuse_what_would_lead_out_of_bounds() -> None:
    scorer = _core.Scorer()
    with pytest.raises(ValueError, match="index"):
        scorer.set(np.array([-1]), np.zeros((1, 1)), np.zeros(1))
    with pytest.raises(ValueError, match="column"):
        scorer.set(np.zeros(0, np.int64), np.zeros((0, 0)), np.zeros(0))
    core = _core.OnlineSketch("logit", True, False, 1.0, 0.0, 1e-6, 1)
    none, empty = np.zeros(0, np.int64), np.zeros(0)
    for keys in ([0], [-1, -5], [-1, 3, 3], [-1, 2**40]):
        with pytest.raises(ValueError, match=r"state|index|places"):
            core.restore(np.array(keys), np.zeros((len(keys), 3)), none, none, empty, 0, 0)
    full = riata.learners.Bayesian(update="joint", covariance="full")
    state = full.state()
    with pytest.raises(ValueError, match="keys"):
        riata.learners.Bayesian.from_state(full.parameters(), state | {"keys": np.array([5])})
