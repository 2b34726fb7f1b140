"""Stop, go on, compare: from the command line and in Python, with the same bits.

    python examples/resume.py

Commands run as a user would type them, in a temporary folder. A run of three passes in one go and
a run that stops after each end in the same model, bit for bit; so does Python. Then tomorrow's data
is learned on top, and the models are compared on data that none has seen.
"""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

import riata


def write(path: Path, rows: int, seed: int) -> None:
    """svmlight text of a made-up stream: 30 of 2,000 features an example, the first 50 matter."""
    rng, lines = np.random.default_rng(seed), []
    w = np.zeros(2_001)
    w[1:51] = np.random.default_rng(0).normal(0, 2, 50)
    for _ in range(rows):
        at = np.unique((2_000 ** rng.random(30)).astype(int))
        label = 1 if rng.random() < 1 / (1 + np.exp(-w[at].sum())) else -1
        lines.append(f"{label} " + " ".join(f"{i}:1" for i in at))
    path.write_text("\n".join(lines) + "\n")


def run(folder: Path, words: str) -> str:
    print(f"$ riata {words}")
    argv = [sys.executable, "-m", "riata", *shlex.split(words)]
    return subprocess.run(argv, cwd=folder, check=True, capture_output=True, text=True).stdout


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for file, rows, seed in (("today", 4_000, 1), ("tomorrow", 4_000, 2), ("test", 4_000, 3)):
            write(folder / f"{file}.svm", rows, seed)
        options = "--method ftrl --alpha 0.3 --l1 1 --quiet"

        run(folder, f"train today.svm -o whole.riata --passes 3 {options}")
        run(folder, f"train today.svm -o parts.riata --passes 1 {options}")
        for passes in (2, 3):
            again = f"--resume parts.riata --passes {passes} --quiet"
            run(folder, f"train today.svm -o parts.riata {again}")
        whole, parts = (riata.load(folder / f"{x}.riata") for x in ("whole", "parts"))
        python = riata.FTRLClassifier(alpha=0.3, l1=1.0)
        python.learn(str(folder / "today.svm"), passes=3)
        for other in (parts, python):
            assert np.array_equal(whole.sparse_coef_.toarray(), other.sparse_coef_.toarray())
            assert np.array_equal(whole.intercept_, other.intercept_)
        print("\nIn one go, in three parts and from Python: the same bits.\n")

        run(folder, "train tomorrow.svm -o more.riata --initial whole.riata --quiet")
        print()
        found = {}
        for model in ("whole", "more"):
            found[model] = json.loads(run(folder, f"evaluate {model}.riata test.svm --json"))
        print("\nmodel    examples learned   log loss   weights")
        for model, said in found.items():
            fitted = riata.load(folder / f"{model}.riata")
            nnz = fitted.sparse_coef_.nnz
            print(f"{model:6}   {fitted.t_:16,}   {said['log_loss']:8.4f}   {nnz:7,}")


if __name__ == "__main__":
    main()
