"""What scikit-learn asks of estimators, and what it does with them."""
import copy
import pickle
import warnings

import numpy
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from podere import GBTClassifier, GBTRegressor


@parametrize_with_checks([GBTClassifier(), GBTRegressor(), GBTRegressor(objective="quantile")])
def test_every_check_of_scikit_learn(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("error", category=DeprecationWarning)
        check(estimator)


@pytest.mark.parametrize("estimator", [GBTClassifier(), GBTClassifier(subsample=0.5), GBTRegressor(),
                                       GBTRegressor(objective="quantile"), GBTRegressor(objective="poisson")])
def test_few_rows_may_be_repeated_instead_of_weighted_and_come_in_any_order(two_classes, numbers, estimator):
    """As newer versions of scikit-learn check."""
    random = numpy.random.default_rng(2)
    X, y = two_classes if isinstance(estimator, GBTClassifier) else (numbers[0], abs(numbers[1]))
    X, y, weight = X[:300], y[:300], random.integers(0, 4, 300)
    expected = clone(estimator).fit(X.repeat(weight, axis=0), y.repeat(weight)).predict(X)
    order = random.permutation(300)
    assert_array_equal(clone(estimator).fit(X[order], y[order], weight[order]).predict(X), expected)


def test_it_works_in_a_pipeline_and_a_grid_search(two_classes):
    X, y = two_classes
    pipeline = make_pipeline(StandardScaler(), GBTClassifier(n_estimators=50))
    search = GridSearchCV(pipeline, {"gbtclassifier__max_depth": [1, 5]}, n_jobs=2, cv=3).fit(X, y)
    assert search.best_params_ == {"gbtclassifier__max_depth": 5}
    assert search.best_score_ > 0.85


def test_cross_validation_of_numbers(numbers):
    assert cross_val_score(GBTRegressor(), *numbers, cv=3).mean() > 0.85


def test_a_clone_is_not_fitted_and_learns_the_same(three_classes):
    X, y = three_classes
    fitted = GBTClassifier(n_estimators=5, subsample=0.5, random_state=7).fit(X, y)
    copied = clone(fitted)
    assert not hasattr(copied, "classes_")
    assert_array_equal(copied.fit(X, y).predict_proba(X), fitted.predict_proba(X))


@pytest.mark.parametrize("way", [copy.deepcopy, lambda estimator: pickle.loads(pickle.dumps(estimator))])
def test_a_pickle_predicts_the_same_bits(three_classes, way):
    X, y = three_classes
    estimator = GBTClassifier(n_estimators=5).fit(X, y)
    again = way(estimator)
    assert_array_equal(again.predict_proba(X), estimator.predict_proba(X))
    assert again.get_params() == estimator.get_params()
    assert_array_equal(again.classes_, estimator.classes_)


def test_an_estimator_that_is_not_fitted_has_a_pickle_too():
    assert pickle.loads(pickle.dumps(GBTRegressor(max_depth=3))).max_depth == 3


def test_a_pickle_of_another_version_is_refused(two_classes):
    estimator = GBTClassifier(n_estimators=2).fit(*two_classes)
    state = estimator.__getstate__()
    state["_podere"] = {**state["_podere"], "version": 2, "podere": "9.1"}
    with pytest.raises(ValueError, match=r"is of version 2 \(Podere 9.1\), Podere .* reads version 1"):
        GBTClassifier().__setstate__(state)


def test_a_pickle_with_an_altered_model_is_refused(two_classes):
    estimator = GBTClassifier(n_estimators=2).fit(*two_classes)
    state = estimator.__getstate__()
    state["_podere"] = {**state["_podere"], "model": state["_podere"]["model"].replace("0.1", "0.2", 1)}
    with pytest.raises(ValueError, match="checksum"):
        GBTClassifier().__setstate__(state)


def test_attributes_describe_the_model(two_classes):
    X, y = two_classes
    estimator = GBTClassifier(n_estimators=200, learning_rate=0.3, early_stopping_rounds=5).fit(X, y)
    assert 1 <= estimator.best_iteration_ == estimator.n_estimators_ < 200
    assert {name: len(losses) for name, losses in estimator.history_.items()} == {  # to where it lost patience
        "train_loss": estimator.best_iteration_ + 5, "validation_loss": estimator.best_iteration_ + 5}
    assert estimator.history_["validation_loss"].argmin() == estimator.best_iteration_ - 1
    assert estimator.feature_importances_.shape == (8,)
    assert estimator.feature_importances_.sum() == pytest.approx(1)
    assert GBTClassifier(n_estimators=3).fit(X, y).best_iteration_ is None
    with pytest.raises(AttributeError):
        GBTClassifier().feature_importances_


def test_probabilities_margins_and_classes_agree(two_classes, three_classes):
    for X, y in (two_classes, three_classes):
        estimator = GBTClassifier(n_estimators=10).fit(X, numpy.array(["ape", "bee", "cat"])[y])
        probabilities = estimator.predict_proba(X)
        assert_array_equal(estimator.predict(X), estimator.classes_[probabilities.argmax(axis=1)])
        assert probabilities.sum(axis=1) == pytest.approx(1)
        margins = estimator.decision_function(X)
        if margins.ndim == 1:
            assert 1 / (1 + numpy.exp(-margins)) == pytest.approx(probabilities[:, 1], rel=1e-5)
        else:
            assert_array_equal(margins.argmax(axis=1), probabilities.argmax(axis=1))
