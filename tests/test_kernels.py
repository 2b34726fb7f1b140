"""Kernels for wide instructions: what their object files may hold, and that every set gives the same bits.

The object files are those of the build, or compiled here as the build compiles them. Code for AVX that calls code for
SSE with the upper halves of registers in use is slow on some processors; and what a wide object defines outside its
namespace the linker may take for everyone. So a wide object calls nothing but memcpy and memset, clears the upper
halves before it returns or calls, and defines nothing outside its namespace.
"""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SOURCES = sorted((ROOT / "cpp" / "riata").rglob("*_kernels.cpp"))
CMAKE = ROOT / "cmake" / "kernels.cmake"
HARMLESS = {"memcpy", "memset", "memmove", "_GLOBAL_OFFSET_TABLE_"}
WIDE = platform.machine() in ("x86_64", "AMD64")
TOOLS = all(shutil.which(tool) for tool in ("g++", "nm", "objdump"))
needs_tools = pytest.mark.skipif(not (WIDE and TOOLS), reason="needs x86-64, g++, nm and objdump")


def flags(instructions: str) -> list[str]:
    text = CMAKE.read_text()
    named = dict(re.findall(r"set\(RIATA_KERNEL_FLAGS_(\w+)\s+([^)]*)\)", text))
    own = named[instructions].replace("${RIATA_KERNEL_FLAGS_avx2}", named["avx2"])
    return own.split()


def built(instructions: str) -> dict[str, Path]:
    """The objects of the module's build, where they are newer than all that they are made of; else none."""
    changed = max(path.stat().st_mtime for path in (ROOT / "cpp" / "riata").rglob("*.?pp"))
    for folder in ROOT.glob(f"build/*/CMakeFiles/_core_kernels_{instructions}.dir"):
        objects = {path.name: folder / f"{path.relative_to(ROOT)}.o" for path in SOURCES}
        if all(path.exists() and path.stat().st_mtime > changed for path in objects.values()):
            return objects
    return {}


def compiled(instructions: str, folder: Path) -> dict[str, Path]:
    objects = {path.name: folder / f"{path.stem}.o" for path in SOURCES}
    command = ["g++", "-std=c++20", "-O2", "-fPIC", "-ffp-contract=off", "-fno-math-errno"]
    command += ["-fno-trapping-math", "-fno-exceptions", "-w", f"-DRIATA_TARGET={instructions}"]
    command += ["-DRIATA_WIDE_KERNELS", f"-I{ROOT / 'cpp'}", *flags(instructions)]
    for source in SOURCES:
        subprocess.run([*command, "-c", str(source), "-o", str(objects[source.name])], check=True)
    return objects


def lines(*command: str) -> list[str]:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()


@needs_tools
@pytest.mark.parametrize("instructions", ["avx2", "avx512"])
def test_wide_objects_keep_to_themselves(instructions: str, tmp_path: Path) -> None:
    assert SOURCES
    for name, path in (built(instructions) or compiled(instructions, tmp_path)).items():
        calls_nothing_and_defines_nothing_for_others(name, path)
        clears_the_upper_halves(name, path)


def calls_nothing_and_defines_nothing_for_others(name: str, path: Path) -> None:
    undefined = {line.split()[-1] for line in lines("nm", "-u", str(path))}
    assert undefined <= HARMLESS, f"{name} needs {sorted(undefined - HARMLESS)}"
    for line in lines("nm", "-C", "--defined-only", str(path)):
        kind, symbol = line.split(maxsplit=2)[1:]
        own = symbol.startswith(("riata::avx2::", "riata::avx512::"))
        assert kind.islower() or own, f"{name} defines {symbol} for everyone"


def clears_the_upper_halves(name: str, path: Path) -> None:
    """No return from a function, and no call of one, after a register of 256 or 512 bits was written (0 to 15: the
    others do no harm)."""
    dirty, function = False, ""
    for line in lines("objdump", "-d", "--no-show-raw-insn", str(path)):
        if found := re.match(r"[0-9a-f]+ <(.*)>:", line):
            dirty, function = False, found[1]
        instruction = line.partition("\t")[2].strip()
        if instruction.startswith("vzero"):
            dirty = False
        elif instruction.startswith(("ret", "call")):
            assert not dirty, f"{name}: {function}: {line.strip()}"
        elif instruction.startswith("j"):
            dirty = False  # what lies behind is reached from elsewhere too
        elif re.search(r"%[yz]mm(\d|1[0-5])(\{.*\})?$", instruction):
            dirty = True


LEARN = """
import hashlib, sys
import numpy as np
from riata import _core
from riata.block import Block
from riata.learners import ElasticNet, FTRL, TruncatedGradient
rng = np.random.default_rng(5)
n, d = 300, 400
blocks = {}
for classes in (2, 6):
    rows = [np.sort(rng.choice(d, rng.integers(0, 40), replace=False)) for _ in range(n)]
    indptr = np.concatenate([[0], np.cumsum([len(r) for r in rows])]).astype(np.int64)
    values = rng.normal(size=indptr[-1]).astype(np.float32)
    labels = rng.integers(0, classes, n).astype(float)
    blocks[classes] = Block(indptr, np.concatenate(rows).astype(np.int64), values, labels)
digest = hashlib.sha256()
for classes, block in blocks.items():
    for family, options in (
        (ElasticNet, dict(update="fobos")), (ElasticNet, dict(update="sgd")),
        (TruncatedGradient, dict(update="truncate", gravity=1e-3, theta=0.2, period=3)),
        (TruncatedGradient, dict(update="round", theta=0.01, period=7)),
        (FTRL, dict(l1=0.1)),
    ):
        for store in ("dense", "table", "hashed"):
            extra = dict(bits=7) if store == "hashed" else {}
            learner = family(store=store, outputs=1 if classes == 2 else classes, **options, **extra)
            digest.update(np.asarray(learner.learn(block)).tobytes())
            digest.update(np.asarray(learner.score(block)).tobytes())
print(_core.instructions()[1], digest.hexdigest())
"""


def test_every_set_gives_the_same_bits() -> None:
    found = {}
    for chosen in ("plain", "avx2", "avx512"):
        environment = os.environ | {"RIATA_INSTRUCTIONS": chosen}
        environment.pop("RIATA_PLAIN", None)
        done = subprocess.run(
            [sys.executable, "-c", LEARN], env=environment, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        used, digest = done.stdout.split()
        assert used == chosen or not WIDE or used in ("plain", "avx2")
        found[chosen] = digest
    assert len(set(found.values())) == 1, found


@needs_tools
def test_a_function_that_only_prefetches_is_called(tmp_path: Path) -> None:
    """Compilers leave out calls of functions that do nothing, and take prefetching for that."""
    source = tmp_path / "ahead.cpp"
    source.write_text(
        '#include "riata/base/fetch_line.hpp"\n'
        "[[gnu::noinline]] static void ahead(const char* p, int n) noexcept {\n"
        "  for (int i = 0; i < n; ++i) riata::fetch_line(p + 64 * i);\n"
        "}\n"
        "void work(const char* p, int n) { ahead(p, n); }\n"
    )
    made = tmp_path / "ahead.s"
    command = ["g++", "-std=c++20", "-O3", f"-I{ROOT / 'cpp'}", "-S", str(source), "-o", str(made)]
    subprocess.run(command, check=True)
    assert "prefetch" in made.read_text()
