"""Clicks, one event at a time: predict, then learn, from a stream that is never stored.

    python examples/click_stream.py

Each event is a dict. Users come and go for ever, so an L1 penalty keeps the model small: a weight
stays zero until there is evidence for it. The truth of the stream is known, so the last lines can
say how far the model is from the best possible prediction.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from typing import Any

import riata

EVENTS = 40_000
ADS = {"shoes": 0.6, "flights": -0.4, "books": 0.1, "phones": -0.9}
HOURS = {"morning": 0.0, "noon": -0.3, "evening": 0.5, "night": -0.6}
FANS = {("shoes", "evening"): 1.2, ("books", "night"): 1.5}

Event = tuple[dict[str, Any], bool, float]


def clicks(n: int, seed: int = 0) -> Iterator[Event]:
    """An event, whether it was clicked, and the true chance of that."""
    rng = random.Random(seed)
    for i in range(n):
        ad, hour = rng.choice(list(ADS)), rng.choice(list(HOURS))
        score = -1 + ADS[ad] + HOURS[hour] + FANS.get((ad, hour), 0)
        chance = 1 / (1 + math.exp(-score))
        user = f"u{rng.randrange(i + 1)}"  # half of the users are new
        event = {"ad": ad, "hour": hour, "both": f"{ad}*{hour}", "user": user}
        yield event, rng.random() < chance, chance


def log_loss(chance: float, clicked: bool) -> float:
    return -math.log(chance if clicked else 1 - chance)


def main() -> None:
    model = riata.FTRLClassifier(alpha=0.3, l1=3.0)
    ours = best = 0.0
    users = set()
    print("events   loss so far   best possible")
    for n, (event, clicked, chance) in enumerate(clicks(EVENTS), start=1):
        known = model.predict_proba_one(event)  # before it is learned, so the loss is honest
        ours += log_loss(known[True] if len(known) == 2 else 0.5, clicked)
        best += log_loss(chance, clicked)
        users.add(event["user"])
        model.learn_one(event, clicked)
        if n in (1_000, 10_000, EVENTS):
            print(f"{n:6,}   {ours / n:11.4f}   {best / n:13.4f}")

    weights = model.named_coef_
    of_users = sum(name.startswith("user=") for name in weights)
    print(f"\n{len(users):,} users seen; {of_users} of them have a weight.")
    print(f"The strongest of the other {len(weights) - of_users}; positive is {model.classes_[1]}:")
    others = [(name, w) for name, w in weights.items() if not name.startswith("user=")]
    for name, weight in sorted(others, key=lambda pair: -abs(pair[1]))[:6]:
        print(f"  {name:20} {weight:+.2f}")

    event = {"ad": "books", "hour": "night", "both": "books*night", "user": "nobody"}
    print(f"\nBooks at night, to somebody new: {model.predict_proba_one(event)[True]:.3f}")
    truth = -1 + ADS["books"] + HOURS["night"] + FANS["books", "night"]
    print(f"The truth of the stream:         {1 / (1 + math.exp(-truth)):.3f}")


if __name__ == "__main__":
    main()
