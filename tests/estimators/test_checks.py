"""scikit-learn's own checks of every estimator."""

from __future__ import annotations

from sklearn.utils.estimator_checks import parametrize_with_checks

from riata.estimators import ESTIMATORS

WEIGHTS = "a weight of zero is not the same as removing the example: the learning rate and the penalty move on"
SPARSIFY = "sparsify(z) drops features that are not sure to matter; it is not scikit-learn's change of format"


def expected_failures(estimator):
    if hasattr(estimator, "gamma"):  # the sketch: exact, whatever the order and the scale
        return {}
    failures = {
        "check_sample_weight_equivalence_on_dense_data": WEIGHTS,
        "check_sample_weight_equivalence_on_sparse_data": WEIGHTS,
    }
    if hasattr(estimator, "prior_variance"):
        failures["check_sparsify_coefficients"] = SPARSIFY
    return failures


@parametrize_with_checks([make() for make in ESTIMATORS], expected_failed_checks=expected_failures)
def test_scikit_learn_check(estimator, check):
    check(estimator)
