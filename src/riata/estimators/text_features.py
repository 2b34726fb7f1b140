"""Texts to a sparse matrix of n-grams, as a scikit-learn transformer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from riata import _core
from riata.errors import DataError
from riata.words import TextOptions

_PIECE = 1 << 20
"""Characters that are tokenised at once: what is made of them stays close by."""

Rows = tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float32]]
"""Where rows begin, the numbers of their features, and how often each occurs, weighed."""


class TextFeatures(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Words and n-grams of texts, as Riata's text columns have them: CSR, a column an n-gram.

    ngrams: which, such as `words:1-2`, `chars:3-5` or both with a comma between.
    weight: what an n-gram that occurs n times in a text is worth: `count` n, `presence` 1, `log` 1 + log n.
    idf: times its inverse document frequency 1 + log((1 + N) / (1 + d)), in d of the N texts that were fitted.
    norm: divided by the length of the row.

    `partial_fit` goes on with more texts, whose new n-grams get the columns behind; n-grams that were never
    fitted are passed over by `transform`. What a word is stands in `docs/text.md`. None and NaN are texts
    without words.

    >>> from riata import TextFeatures
    >>> features = TextFeatures()
    >>> features.fit_transform(["Free entry!", "don't call, FREE"]).toarray()
    array([[1., 1., 1., 0., 0., 0., 0.],
           [1., 0., 0., 1., 1., 1., 1.]], dtype=float32)
    >>> features.get_feature_names_out().tolist()
    ['free', 'entry', 'free entry', "don't", 'call', "don't call", 'call free']
    """

    def __init__(
        self,
        *,
        ngrams: str = "words:1-2",
        weight: str = "log",
        idf: bool = False,
        norm: bool = False,
    ) -> None:
        self.ngrams = ngrams
        self.weight = weight
        self.idf = idf
        self.norm = norm

    def fit(self, raw_documents: Iterable[Any], y: Any = None) -> Self:
        """Learn which n-grams there are, and in how many texts each is."""
        self._forget()
        self._count(raw_documents, learn=True)
        return self

    def partial_fit(self, raw_documents: Iterable[Any], y: Any = None) -> Self:
        """The same, with what was learned before."""
        if not hasattr(self, "n_documents_"):
            self._forget()
        self._count(raw_documents, learn=True)
        return self

    def fit_transform(self, raw_documents: Iterable[Any], y: Any = None) -> sp.csr_matrix:
        """What `fit` and then `transform` give, in the time of one."""
        self._forget()
        return self._matrix(*self._count(raw_documents, learn=True))

    def transform(self, raw_documents: Iterable[Any]) -> sp.csr_matrix:
        """The texts as rows."""
        check_is_fitted(self, "n_documents_")
        return self._matrix(*self._count(raw_documents, learn=False))

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """The n-grams, in the order of the columns."""
        check_is_fitted(self, "n_documents_")
        _, names, offsets = self._index.arrays()
        text, ends = names.tobytes(), offsets.tolist()
        found = [text[a:b].decode() for a, b in pairwise(ends)]
        return np.array(found, dtype=object)

    def _forget(self) -> None:
        self._index = _core.FeatureIndex()
        self._holding = np.zeros(0, dtype=np.int64)
        self.n_documents_ = 0

    def _count(self, raw_documents: Iterable[Any], learn: bool) -> Rows:
        options = TextOptions(self.ngrams, self.weight, self.idf, self.norm)
        found: list[Rows] = []
        before = 0
        for texts in _pieces(raw_documents):
            rows = _core.tokenise(texts, options.spans, options.weight, "", learn)
            if rows.error is not None:
                raise DataError(
                    f"text {before + rows.n_lines} (from 0): byte {rows.error.column} is no UTF-8: "
                    f"{rows.error.text!r}; decode it first, or replace what cannot be"
                )
            keys = rows.indices.astype(np.int64, copy=False)
            numbers = self._index.translate(keys, rows.names, rows.name_offsets)
            if learn:
                self._add(rows.indptr, numbers)
                found.append((rows.indptr, numbers, rows.values))
            else:
                found.append(_known(rows.indptr, numbers, rows.values))
            before += len(texts)
        if not found:
            raise ValueError("no texts: give a list of at least one")
        starts = np.cumsum([0, *(len(numbers) for _, numbers, _ in found)])
        indptr = [p[1:] + start for (p, _, _), start in zip(found, starts[:-1], strict=True)]
        return (
            np.concatenate([np.zeros(1, dtype=np.int64), *indptr]),
            np.concatenate([numbers for _, numbers, _ in found]),
            np.concatenate([values for _, _, values in found]),
        )

    def _add(self, indptr: NDArray[np.int64], numbers: NDArray[np.int32]) -> None:
        self.n_documents_ += int(np.count_nonzero(np.diff(indptr)))
        counts = np.bincount(numbers, minlength=len(self._index))
        counts[: len(self._holding)] += self._holding
        self._holding = counts

    def _matrix(
        self, indptr: NDArray[np.int64], numbers: NDArray[np.int32], values: NDArray[np.float32]
    ) -> sp.csr_matrix:
        if self.idf:
            values = values * self.idf_.astype(np.float32)[numbers]
        if self.norm and len(values):
            squares = np.zeros(len(indptr) - 1)
            filled = np.flatnonzero(np.diff(indptr))
            squares[filled] = np.add.reduceat(np.square(values, dtype=np.float64), indptr[filled])
            lengths: NDArray[np.float32] = np.sqrt(squares).astype(np.float32)
            values = np.divide(values, np.repeat(lengths, np.diff(indptr)), dtype=np.float32)
        if len(numbers) < 2**31:
            indptr = indptr.astype(np.int32)
        matrix = sp.csr_matrix(
            (values, numbers, indptr), shape=(len(indptr) - 1, len(self._index)), copy=False
        )
        matrix.sort_indices()
        return matrix

    @property
    def idf_(self) -> NDArray[np.float64]:
        """The inverse document frequency of each column."""
        check_is_fitted(self, "n_documents_")
        inverse: NDArray[np.float64] = 1 + np.log((1 + self.n_documents_) / (1 + self._holding))
        return inverse

    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())
        if "_index" in state:
            state["_index"] = state["_index"].arrays()
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        state = dict(state)
        if "_index" in state:
            arrays = state["_index"]
            state["_index"] = _core.FeatureIndex()
            state["_index"].translate(*arrays)
        super().__setstate__(state)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        tags.transformer_tags.preserves_dtype = []
        return tags


def _known(
    indptr: NDArray[np.int64], numbers: NDArray[np.int32], values: NDArray[np.float32]
) -> Rows:
    """Without what has no number."""
    kept = numbers >= 0
    if kept.all():
        return indptr, numbers, values
    before = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(kept)])
    return before[indptr], numbers[kept], values[kept]


def _pieces(raw_documents: Iterable[Any]) -> Iterator[list[str | bytes]]:
    """The texts, some at a time."""
    if isinstance(raw_documents, (str, bytes)):
        raise ValueError("expected many texts, such as a list, not one string")
    piece: list[str | bytes] = []
    size = 0
    for number, text in enumerate(raw_documents):
        if not isinstance(text, (str, bytes)):
            if text is not None and text == text:
                raise TypeError(f"text {number} (from 0) is a {type(text).__name__}, not a str")
            text = ""
        piece.append(text)
        size += len(text)
        if size >= _PIECE:
            yield piece
            piece, size = [], 0
    if piece:
        yield piece
