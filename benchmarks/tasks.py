"""The pieces of work, and what Riata should reach in each."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Task:
    name: str
    title: str
    problems: tuple[str, ...] = ("medline",)
    """Data sets that it runs on."""
    equal_weights: bool = False
    """Contenders must hold the same weights after the same examples."""
    checked: bool = False
    """Riata's contenders check something of their own (bits, memory, imports): a target as well."""


EVERY = ("medline", "trec07p", "a9a")

TASKS = (
    Task("memory", "CSR in memory to model: logistic, one pass in order", EVERY),
    Task("text", "svmlight text to model, in a warm process"),
    Task("vw", "Vowpal Wabbit text to model, in a warm process", ("medline", "trec07p")),
    Task("command", "Text file to saved model, a whole process"),
    Task("reader", "svmlight reader alone, one thread", checked=True),
    Task("lazy", "One example: lazy against every weight", ("medline-88",), equal_weights=True),
    Task("dimension", "Same examples in a larger space", checked=True),
    Task("single", "One partial_fit with one CSR row, d = 2^20"),
    Task("delta", "One interior-point step, 100,000 features seen", equal_weights=True),
    Task("startup", "What the command line loads", checked=True),
)


@dataclass(frozen=True)
class Target:
    """`theirs` must take at least `ratio` times as long as `ours`."""

    task: str
    problem: str
    theirs: tuple[str, str]
    """The adapter, and how the contender's label starts."""
    ratio: float
    ours: str = ""


@dataclass(frozen=True)
class Rate:
    """Riata must do so many megabytes a second."""

    task: str
    problem: str
    at_least: float


TARGETS = (
    Target("memory", "medline", ("sklearn", 'SGDClassifier(penalty="elasticnet")'), 3.5),
    Target("memory", "medline", ("sklearn", 'SGDClassifier(penalty="l2")'), 1.0),
    Target("text", "medline", ("vw", "Workspace(--data ...), --sgd"), 5.0),
    Target("text", "medline", ("vw", "Workspace(--data ...), its usual"), 5.0),
    Target("text", "medline", ("sklearn", "load_svmlight_file + SGDClassifier"), 20.0),
    *(
        Target("vw", problem, ("vw", f"Workspace(--data ...), {steps}"), ratio, ours)
        for problem in ("medline", "trec07p")
        for ours, ratio in (('learn(file), store="hashed"', 5.0), ("learn(file), names kept", 2.5))
        for steps in ("--sgd", "its usual")
    ),
    Target("command", "medline", ("vw", "python -m vowpalwabbit, --sgd"), 5.0),
    Target("command", "medline", ("vw", "python -m vowpalwabbit, its usual"), 5.0),
    Target("lazy", "medline-88", ("dense", "NumPy"), 2000.0),
    Target("lazy", "medline-88", ("dense", "C++"), 100.0),
    Target("dimension", "medline", ("riata", "d = 1,000,000"), 0.5, ours="d = 100,000,000"),
    Target("delta", "medline", ("dense", "NumPy, riata.reference"), 15.0),
    Target("single", "medline", ("sklearn", "SGDClassifier.partial_fit"), 50.0),
)
RATES = (Rate("reader", "medline", 400.0),)
