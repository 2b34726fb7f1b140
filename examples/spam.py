"""Mail with words as features: a Bayesian model that says what it is unsure of.

    python examples/spam.py

Nothing is tuned. Every weight is a Gaussian, so each prediction comes with an interval: wide for a
message whose words are new, narrow for one whose words are known. The mail is made up here.
"""

from __future__ import annotations

import math
import random
from typing import Any

from riata import BayesianClassifier
from riata.sources import open_source

MESSAGES = 3_000
WRONG = 0.05
"""The share of messages whose label is wrong: nobody can do better than its entropy."""
COMMON = ["the", "you", "please", "today", "we", "for", "and", "your", "with", "best"]
SPAM = ["free", "money", "winner", "pills", "click", "offer", "cheap", "prize"]
HAM = ["meeting", "lunch", "report", "draft", "thanks", "tomorrow", "agenda", "invoice"]


def messages(n: int, seed: int = 0) -> list[dict[str, Any]]:
    """Words by kind; one word in three says something, some messages are mislabelled."""
    rng = random.Random(seed)
    out: list[dict[str, Any]] = []
    for _ in range(n):
        spam = rng.random() < 0.4
        telling, other = (SPAM, HAM) if spam else (HAM, SPAM)
        words = rng.choices(COMMON, k=6) + rng.choices(telling, k=3) + rng.choices(other, k=1)
        label = spam != (rng.random() < WRONG)
        out.append({"spam": label, "word": sorted(set(words))})
    return out


def entropy(share: float) -> float:
    return -share * math.log(share) - (1 - share) * math.log(1 - share)


def main() -> None:
    mail = messages(MESSAGES)
    model = BayesianClassifier()
    model.learn(open_source(mail, label="spam"))
    loss = model.model_.record.progressive_loss
    print(f"{MESSAGES:,} messages, each predicted before it was learned: log loss {loss:.3f}")
    share = sum(message["spam"] for message in mail) / MESSAGES
    print(
        f"(guessing by the share of spam: {entropy(share):.3f}; labels are wrong: {entropy(WRONG):.3f})\n"
    )

    learner = model.model_.learner
    keys, means = learner.coef()
    names = learner.names(keys)
    spread = learner.coef_std()
    print("word              weight         (mean and standard deviation)")
    ranked = sorted(zip(names, means[:, 0], spread[:, 0], strict=True), key=lambda row: -row[1])
    for name, mean, std in [*ranked[:4], *ranked[-4:]]:
        print(f"{name:16} {mean:+6.2f} ± {std:.2f}")

    print("\nchance of spam   90 % interval   message")
    for text in ("free money today", "lunch tomorrow and your report", "free lunch", "zloty qubit"):
        event = {"word": text.split()}
        [block] = open_source([event | {"spam": False}], label="spam")
        low, high = learner.interval(block, 0.9)
        chance = model.predict_proba_one(event)[True]
        print(f"{chance:14.3f}   {low[0, 0]:.3f} to {high[0, 0]:.3f}  {text}")


if __name__ == "__main__":
    main()
