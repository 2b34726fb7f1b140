"""Single events, dicts of named features, for a model that lives inside a service or a notebook."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Hashable, Mapping
from copy import copy
from typing import Any, Self, cast

import numpy as np

from riata.learners import Learner
from riata.learners.base import Floats, Lock, new_lock
from riata.record import EVENTS, Model, Record, Settings
from riata.schema import Column, Schema
from riata.sources.keyed import parse_hash_key
from riata.text_weights import with_weights
from riata.training.preparation import check_takes_weighed
from riata.words import TextOptions, looks_like_text

EVENTS_LOOKED_AT = 20
"""Single events that show whether texts are among them."""


class Events:
    """What classifiers and regressors share of it."""

    model_: Model
    n_features_in_: int
    _hash_key: str | None = None
    _texts: tuple[Column, ...] = ()
    """Keys of single events whose texts are taken apart."""
    _strings: dict[str, list[str]] | None = None
    """What the first events had under each key, as long as nothing was said of it."""

    @abstractmethod
    def _make_learner(self, outputs: int) -> Learner: ...

    @abstractmethod
    def _fitted(self) -> Learner: ...

    def _event_learner(self) -> Learner:
        """The learner that single events go to, made when the first one comes."""
        if not hasattr(self, "model_"):
            learner = self._make_learner(1)
            schema = self._event_schema(learner)
            record = Record(data=list(EVENTS), settings=Settings(), schema=schema)
            learner.use_hash_key(record.hash_key)
            self.model_ = Model(learner, None, record)
            self.n_features_in_ = 0
        return self.model_.learner

    def _event_schema(self, learner: Learner) -> Schema | None:
        if self._hash_key is None and not self._texts:
            return None
        schema = Schema(self._texts, open=True, hash_key=self._hash_key)
        if schema.is_weighed:
            check_takes_weighed(learner)
            schema = with_weights(schema, None)
        return schema

    def use_text(
        self,
        *keys: str,
        ngrams: str = "words:1-2",
        text_weight: str = "log",
        text_idf: bool = False,
        text_norm: bool = False,
    ) -> Self:
        """Take the texts of single events under these keys apart into n-grams, as texts of tables are.

        Before the first event, since there are no first rows that would show it. The model keeps it.

        >>> from riata import FTRLClassifier
        >>> model = FTRLClassifier().use_text("body")
        >>> for text, label in [("free entry now", "spam"), ("see you at home", "ham")] * 10:
        ...     _ = model.learn_one({"body": text}, label)
        >>> model.predict_one({"body": "entry is free"})
        'spam'
        >>> sorted(model.named_coef_)[:3]
        ['body^at', 'body^at home', 'body^entry']
        """
        options = TextOptions(ngrams, text_weight, text_idf, text_norm)
        with self._turn():
            if hasattr(self, "model_"):
                raise ValueError("this model has learned already: use_text comes first")
            made = (Column(key, kind="text", tokeniser=options.to_json()) for key in keys)
            self._texts = (*self._texts, *made)
        return self

    def _look_for_texts(self, x: Mapping[str, Any], seen: int) -> None:
        """Say once that texts are taken as names: of a table they would be taken apart."""
        if self._strings is None or seen == 0:
            self._strings = {}
        for key, value in x.items():
            if isinstance(value, str):
                self._strings.setdefault(key, []).append(value)
        if seen == EVENTS_LOOKED_AT:
            found = [key for key, values in self._strings.items() if looks_like_text(values)]
            self._strings = None
            if found:
                keys = ", ".join(map(repr, found))
                warnings.warn(
                    f"single events: {keys} hold texts of several words, mostly different, and each is taken as one "
                    f"name. To take them apart into words: a new model, model.use_text({keys}) before the first event",
                    stacklevel=3,
                )

    def use_hash_key(self, hash_key: str = "random") -> Self:
        """Hash the names of single events by a key of one's own, for names that a stranger may choose.

        32 hexadecimal digits, or `random`; before the first event. The model keeps it.

        >>> from riata import FTRLClassifier
        >>> model = FTRLClassifier().use_hash_key("random").learn_one({"word": "free"}, "spam")
        >>> len(model.model_.schema.hash_key)
        32
        """
        with self._turn():
            if hasattr(self, "model_"):
                raise ValueError("this model has hashed names already: use_hash_key comes first")
            self._hash_key = parse_hash_key(hash_key)
        return self

    def _turn(self) -> Lock:
        """Held while the model is made or replaced."""
        lock = self.__dict__.get("_lock")
        if lock is None:  # of two threads, the first one's
            lock = self.__dict__.setdefault("_lock", new_lock(self, "_lock"))
        return cast(Lock, lock)

    def __getstate__(self) -> Any:
        state: Any = super().__getstate__()
        return (
            {k: v for k, v in state.items() if k != "_lock"} if isinstance(state, dict) else state
        )

    def _event_scores(self, x: Mapping[str, Any]) -> list[float]:
        model = self.model_
        return model.learner.score_one(model.event(x))


class ClassifierEvents(Events):
    """Features and classes that were never seen before just join."""

    class_weight: Any

    @abstractmethod
    def _normalised(self, scores: Floats) -> Floats: ...

    def learn_one(self, x: Mapping[str, Any], y: Any, sample_weight: float = 1.0) -> Self:
        """Learn one event: a number is a feature's value, a string the feature "key=value", a list several of them.

        Features and classes that were never seen before just join.

        >>> from riata import FTRLClassifier
        >>> model = FTRLClassifier(alpha=0.5)
        >>> for n in range(20):
        ...     _ = model.learn_one({"words": ["free", "money"], "length": 0.2}, "spam")
        ...     _ = model.learn_one({"words": ["lunch"], "length": 0.3}, "ham")
        >>> model.predict_one({"words": ["money"]})
        'spam'
        """
        if self.class_weight is not None:
            sample_weight *= self._factor(y)
        while True:
            try:
                model = self.model_
                code = model.codes[y]
            except (AttributeError, KeyError, TypeError):  # the first event, a new class, no hash
                with self._turn():
                    code = self._class_code(y)
                    model = self.model_
            learner, record = model.learner, model.record
            lock = learner.lock
            lock.acquire()  # `with` takes twice as long
            try:
                if self.model_ is model:  # otherwise a class has joined: this one is history
                    if record.schema is None:
                        if record.examples <= EVENTS_LOOKED_AT:
                            self._look_for_texts(x, record.examples)
                        learner.learn_one(x, code, sample_weight)
                    else:
                        model.learn_read(x, code, sample_weight)
                    record.examples += 1
                    return self
            finally:
                lock.release()

    def _factor(self, y: Any) -> float:
        if not isinstance(self.class_weight, Mapping):
            raise ValueError(
                "class_weight='balanced' needs all of y at once: give a dict to learn_one"
            )
        return float(self.class_weight.get(y, 1.0))

    def _class_code(self, y: Any) -> float:
        """The place of y among the classes, which it joins if it is new: single events keep them as they came."""
        if not isinstance(y, Hashable):
            raise TypeError(f"a label is a string, a number or a bool, not {type(y).__name__}")
        if y is None or y != y:  # None or NaN
            raise ValueError(f"y is {y!r}: an event is learned with its label")
        learner = self._event_learner()
        with learner.lock:  # a thread that comes to learn meanwhile finds the new model
            known = list(self.model_.labels)
            if y in known:
                return float(known.index(y))
            known.append(y.item() if isinstance(y, np.generic) else y)
            # A learner and a record of their own: a save of the model before, under way, stays of one moment.
            learner = learner.with_outputs(len(known)) if len(known) > 2 else copy(learner)
            alike = len({type(label) for label in known}) == 1
            classes = np.array(known) if alike else np.array(known, dtype=object)
            self.model_ = Model(learner, classes, copy(self.model_.record))
            return float(len(known) - 1)

    def predict_one(self, x: Mapping[str, Any]) -> Any:
        """The class of one event; None before the first was learned."""
        if not hasattr(self, "model_"):
            return None
        model = self.model_
        scores = model.learner.score_one(model.event(x))
        code = int(scores[0] > 0) if len(scores) == 1 else int(np.argmax(scores))
        return model.labels[min(code, len(model.labels) - 1)]

    def predict_proba_one(self, x: Mapping[str, Any]) -> dict[Any, float]:
        """The probability of each class for one event; empty before the first was learned."""
        if not hasattr(self, "model_"):
            return {}
        model = self.model_
        labels = model.labels
        if len(labels) == 1:
            return {labels[0]: 1.0}
        scores = model.learner.score_one(model.event(x))
        if len(scores) == 1:
            probability = model.learner.probability_one(scores)
            if probability is None:
                raise AttributeError("this loss gives no probabilities")
            return {labels[0]: 1 - probability[0], labels[1]: probability[0]}
        return dict(zip(labels, self._normalised(np.array([scores]))[0].tolist(), strict=True))


class RegressorEvents(Events):
    """Features that were never seen before just join."""

    def learn_one(self, x: Mapping[str, Any], y: float, sample_weight: float = 1.0) -> Self:
        """Learn one event: a number is a feature's value, a string the feature "key=value", a list several of them."""
        if not hasattr(self, "model_"):
            with self._turn():
                self._event_learner()
        model = self.model_
        lock = model.learner.lock
        lock.acquire()  # `with` takes twice as long
        try:
            if model.record.examples <= EVENTS_LOOKED_AT and model.record.schema is None:
                self._look_for_texts(x, model.record.examples)
            model.learn_read(x, float(y), sample_weight)
            model.record.examples += 1
        finally:
            lock.release()
        return self

    def predict_one(self, x: Mapping[str, Any]) -> float:
        """The prediction for one event; zero before the first was learned."""
        return self._event_scores(x)[0] if hasattr(self, "model_") else 0.0
