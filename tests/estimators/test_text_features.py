"""TextFeatures: what scikit-learn expects of a transformer of texts, and its values against the reference."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from riata import DataError, ElasticNetClassifier, TextFeatures

TEXTS = [
    "Free entry in 2 a wkly comp to win FA Cup final",
    "Ok lar Joking wif u oni",
    "",
    "FREE free call to win",
    "Nah I don t think he goes to usf",
]
SPAM = [1, 0, 0, 1, 0]
SCIKIT = {"token_pattern": r"(?u)\w+", "ngram_range": (1, 2)}


@pytest.mark.filterwarnings("ignore:Can't test estimator")
@parametrize_with_checks([TextFeatures(), TextFeatures(ngrams="chars:3", idf=True, norm=True)])
def test_it_is_a_transformer_of_scikit_learn(estimator: TextFeatures, check: object) -> None:
    check(estimator)  # type: ignore[operator]


def sorted_by_name(features: object, matrix: object) -> np.ndarray:
    names = features.get_feature_names_out()  # type: ignore[attr-defined]
    return matrix.toarray()[:, np.argsort(names)]  # type: ignore[attr-defined, no-any-return]


def test_counts_are_those_of_scikit_learn() -> None:
    ours, theirs = TextFeatures(weight="count"), CountVectorizer(**SCIKIT)
    mine, other = ours.fit_transform(TEXTS), theirs.fit_transform(TEXTS)
    assert set(ours.get_feature_names_out()) == set(theirs.get_feature_names_out())
    assert (sorted_by_name(ours, mine) == sorted_by_name(theirs, other)).all()
    assert mine.dtype == np.float32
    assert mine.has_sorted_indices


def test_inverse_document_frequencies_are_those_of_scikit_learn() -> None:
    texts = [text for text in TEXTS if text]
    ours = TextFeatures(idf=True, norm=True)
    theirs = TfidfVectorizer(**SCIKIT, sublinear_tf=True)
    mine, other = ours.fit_transform(texts), theirs.fit_transform(texts)
    assert_allclose(sorted_by_name(ours, mine), sorted_by_name(theirs, other), rtol=1e-6)
    assert_allclose(ours.transform(texts).toarray(), mine.toarray())


def test_a_text_without_words_is_no_document() -> None:
    assert TextFeatures().fit(TEXTS).n_documents_ == 4
    empty = TextFeatures(idf=True, norm=True).fit_transform(["", "...", None, float("nan")])
    assert empty.shape == (4, 0)


@pytest.mark.parametrize(
    "options", [{}, {"idf": True, "norm": True}, {"ngrams": "words:1,chars:2-3"}]
)
def test_parts_are_fitted_as_the_whole(options: dict[str, object]) -> None:
    whole = TextFeatures(**options).fit(TEXTS)
    parts = TextFeatures(**options).partial_fit(TEXTS[:2]).partial_fit(TEXTS[2:])
    assert (whole.get_feature_names_out() == parts.get_feature_names_out()).all()
    expected = whole.transform(TEXTS).toarray()
    assert (parts.transform(TEXTS).toarray() == expected).all()
    assert (TextFeatures(**options).fit_transform(TEXTS).toarray() == expected).all()
    assert (clone(whole).fit(TEXTS).transform(TEXTS).toarray() == expected).all()
    again = pickle.loads(pickle.dumps(whole))
    assert (again.transform(TEXTS).toarray() == expected).all()
    assert (again.partial_fit(["entirely new"]).get_feature_names_out()[-1]) != ""
    assert again.transform(TEXTS).shape[1] > expected.shape[1]


def test_what_was_never_fitted_is_passed_over() -> None:
    features = TextFeatures(ngrams="words:1", weight="count").fit(["a b", "c"])
    assert features.transform(["c d c", "e", "a"]).toarray().tolist() == [
        [0, 0, 2],
        [0, 0, 0],
        [1, 0, 0],
    ]


def test_in_pipelines_and_on_columns_of_frames() -> None:
    frame = pd.DataFrame({"body": TEXTS, "length": [len(text) for text in TEXTS]})
    columns = ColumnTransformer(
        [("body", TextFeatures(), "body"), ("length", "passthrough", ["length"])]
    )
    for model in (LogisticRegression(), ElasticNetClassifier()):
        pipeline = make_pipeline(columns, model).fit(frame, SPAM)
        assert pipeline.predict(frame).shape == (5,)
    assert "body__free entry" in columns.fit(frame).get_feature_names_out()


def test_many_texts_are_taken_in_pieces() -> None:
    texts = [f"number {i} of many {'long ' * 300}" for i in range(2500)]
    matrix = TextFeatures(weight="count").fit_transform(texts)
    assert matrix.shape[0] == 2500
    assert matrix.sum() == sum(2 * len(text.split()) - 1 for text in texts)


def test_mistakes() -> None:
    with pytest.raises(NotFittedError):
        TextFeatures().transform(TEXTS)
    with pytest.raises(ValueError, match="expected many texts"):
        TextFeatures().fit("one text")
    with pytest.raises(TypeError, match=r"text 1 \(from 0\) is a int, not a str"):
        TextFeatures().fit(["a", 3])
    with pytest.raises(ValueError, match="no texts"):
        TextFeatures().fit([])
    with pytest.raises(ValueError, match="words:1-2"):
        TextFeatures(ngrams="bigrams").fit(TEXTS)
    with pytest.raises(ValueError, match="weight is one of"):
        TextFeatures(weight="tfidf").fit(TEXTS)
    with pytest.raises(DataError, match=r"text 1 \(from 0\): byte 2 is no UTF-8"):
        TextFeatures().fit([b"fine", b"ab\xff"])
