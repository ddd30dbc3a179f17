"""TuneSearchCV: what scikit-learn asks of searches, and what it finds."""
import pickle
import warnings

import numpy
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import FitFailedWarning
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, RepeatedKFold, ShuffleSplit
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from podere import GBTClassifier, TuneSearchCV

TREE = {"max_depth": (1, 8), "min_samples_leaf": (1, 50, "log"), "criterion": ["gini", "entropy"]}


@parametrize_with_checks([
    TuneSearchCV(LogisticRegression(), {"C": (0.1, 10.0, "log")}, n_trials=3, cv=2),
    TuneSearchCV(make_pipeline(StandardScaler(), Ridge()), {"ridge__alpha": (0.1, 10.0)}, n_trials=3, cv=2),
])
def test_every_check_of_scikit_learn(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("error", category=DeprecationWarning)
        warnings.simplefilter("ignore", category=FitFailedWarning)
        check(estimator)


def without_times(results):
    return {name: numpy.asarray(value).tolist() for name, value in results.items() if not name.endswith("_time")}


def test_it_finds_the_same_for_any_n_jobs(three_classes):
    searches = [TuneSearchCV(DecisionTreeClassifier(random_state=0), TREE, n_trials=30, cv=3, n_jobs=n_jobs).fit(*three_classes)
                for n_jobs in (1, 2, None)]
    for search in searches[1:]:
        assert search.best_params_ == searches[0].best_params_
        assert without_times(search.cv_results_) == without_times(searches[0].cv_results_)
    best = searches[0]
    assert len(best.cv_results_["params"]) == 30
    assert best.best_score_ == best.cv_results_["mean_test_score"].max() == best.cv_results_["mean_test_score"][best.best_index_]
    again = clone(best.estimator).set_params(**best.best_params_).fit(*three_classes)
    assert_array_equal(best.predict(three_classes[0]), again.predict(three_classes[0]))
    assert_array_equal(pickle.loads(pickle.dumps(best)).predict_proba(three_classes[0]), again.predict_proba(three_classes[0]))


def test_a_grid_is_that_of_scikit_learn(two_classes):
    X, y = two_classes
    space = {"max_depth": [2, 4], "learning_rate": [0.1, 0.3, 0.5]}
    ours = TuneSearchCV(GBTClassifier(n_estimators=10), space, search="grid", cv=2).fit(X, y)
    theirs = GridSearchCV(GBTClassifier(n_estimators=10), space, cv=2).fit(X, y)
    assert len(ours.cv_results_["params"]) == 6 and ours.best_score_ == theirs.best_score_
    assert sorted(ours.cv_results_["mean_test_score"]) == sorted(theirs.cv_results_["mean_test_score"])


def test_values_of_any_kind_in_a_pipeline():
    X, y = load_iris(return_X_y=True)
    pipeline = Pipeline([("scale", "passthrough"), ("model", MLPClassifier(max_iter=20, random_state=0))])
    space = {"scale": [StandardScaler(), MinMaxScaler(), "passthrough", None], "model__hidden_layer_sizes": [(8,), (8, 4)],
             "model__alpha": {"low": 1e-5, "high": 1e-2, "log": True, "when": {"model__hidden_layer_sizes": [(8, 4)]}}}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it does not converge
        search = TuneSearchCV(pipeline, space, n_trials=8, cv=2, search="random", parallel=3).fit(X, y)
    assert {type(params["scale"]).__name__ for params in search.cv_results_["params"]} > {"StandardScaler", "MinMaxScaler"}
    assert {params["model__hidden_layer_sizes"] for params in search.cv_results_["params"]} == {(8,), (8, 4)}
    for params in search.cv_results_["params"]:
        assert ("model__alpha" in params) == (params["model__hidden_layer_sizes"] == (8, 4))
    depths = TuneSearchCV(DecisionTreeClassifier(), {"max_depth": [None, 1]}, search="grid").fit(X, y)
    assert depths.best_params_ == {"max_depth": None}


def test_of_several_scores_refit_names_the_one_that_is_searched_for(two_classes):
    X, y = numpy.nan_to_num(two_classes[0]), two_classes[1]
    scoring = {"precise": "precision", "complete": "recall"}
    tree = DecisionTreeClassifier(random_state=0)
    searches = {name: TuneSearchCV(tree, TREE, n_trials=24, cv=2, scoring=scoring, refit=name).fit(X, y) for name in scoring}
    for name, search in searches.items():
        alone = TuneSearchCV(tree, TREE, n_trials=24, cv=2, scoring=scoring[name]).fit(X, y)
        assert search.best_params_ == alone.best_params_ and search.best_score_ == alone.best_score_
        assert search.cv_results_["params"] == alone.cv_results_["params"]
    assert searches["precise"].cv_results_["params"] != searches["complete"].cv_results_["params"]

    def both(estimator, X, y):
        return {"accurate": estimator.score(X, y), "shallow": -estimator.get_depth()}

    assert TuneSearchCV(tree, TREE, n_trials=20, cv=2, scoring=both, refit="shallow").fit(X, y).best_params_["max_depth"] == 1
    for several in (scoring, both):
        with pytest.raises(ValueError, match="refit is False, allowed is the name of the score"):
            TuneSearchCV(tree, TREE, n_trials=2, cv=2, scoring=several, refit=False).fit(X, y)


def test_without_refit_the_best_parameters_are_known(two_classes):
    X, y = two_classes
    search = TuneSearchCV(GBTClassifier(n_estimators=3), {"max_depth": (1, 5)}, n_trials=3, cv=2, refit=False).fit(X, y)
    assert 1 <= search.best_params_["max_depth"] <= 5 and not hasattr(search, "best_estimator_")
    chosen = TuneSearchCV(GBTClassifier(n_estimators=3), {"max_depth": (1, 5)}, n_trials=3, cv=2, refit=lambda results: 1)
    assert chosen.fit(X, y).best_index_ == 1


class Fussy(LogisticRegression):
    """Fails for some parameters."""

    def fit(self, X, y):
        if self.C < 1:
            raise ValueError(f"C is {self.C}")
        return super().fit(X, y)


@pytest.mark.parametrize("parallel", [1, 8])
def test_settings_that_fail_cost_no_others(two_classes, parallel):
    X, y = numpy.nan_to_num(two_classes[0]), two_classes[1]
    space = {"C": [3.0, 0.1, 0.2, 2.0, 0.3]}
    with pytest.warns(FitFailedWarning):
        search = TuneSearchCV(Fussy(), space, search="grid", cv=2, parallel=parallel).fit(X, y)
    assert search.best_params_["C"] in (2, 3)
    with pytest.raises(ValueError, match="All the .* fits failed"):
        TuneSearchCV(Fussy(), {"C": (0.1, 0.5)}, n_trials=9, cv=2).fit(X, y)
    with pytest.raises(ValueError, match="C is 0.1"):
        TuneSearchCV(Fussy(), space, search="grid", cv=2, parallel=parallel, error_score="raise").fit(X, y)


def test_groups_and_weights_reach_the_folds(two_classes):
    X, y = two_classes
    groups = numpy.arange(len(y)) % 4
    search = TuneSearchCV(GBTClassifier(n_estimators=3), {"max_depth": (1, 5)}, n_trials=3, cv=GroupKFold(4))
    search.fit(X, y, groups=groups, sample_weight=numpy.ones(len(y)))
    assert search.n_splits_ == 4 and search.score(X, y) > 0.7


@pytest.mark.parametrize("space, options, message", [
    ({}, {}, "space is empty"), ({"max_depth": (3, 1)}, {}, "the wrong way round"), (TREE, {"n_trials": 0}, "trials is 0"),
    (TREE, {"search": "x"}, "search is 'x'"), (TREE, {"parallel": 0}, "parallel is 0"), ({"depth": [1]}, {}, "[Ii]nvalid parameter"),
    (TREE, {"random_state": -1}, "random_state is -1"),
])
def test_what_cannot_be_searched_is_refused(two_classes, space, options, message):
    with pytest.raises(ValueError, match=message):
        TuneSearchCV(DecisionTreeClassifier(), space, **options).fit(*two_classes)


def test_another_seed_is_another_search(three_classes):
    def tried(random_state):
        search = TuneSearchCV(DecisionTreeClassifier(random_state=0), TREE, n_trials=4, cv=2, random_state=random_state)
        return search.fit(*three_classes).cv_results_["params"]

    assert tried(0) == tried(None) != tried(1)
    assert tried(numpy.random.RandomState(5)) == tried(numpy.random.RandomState(5))


@pytest.mark.parametrize("cv", [KFold(3, shuffle=True), ShuffleSplit(2), RepeatedKFold(n_splits=2, n_repeats=2)])
def test_folds_that_change_are_refused(cv):
    search = TuneSearchCV(Ridge(), {"alpha": (0.1, 10.0, "log")}, n_trials=3, cv=cv)
    x = numpy.random.default_rng(0).normal(size=(40, 2))
    with pytest.raises(ValueError, match="deals other folds on each call"):
        search.fit(x, x[:, 0])
    assert search.set_params(cv=type(cv)(random_state=3, **({"shuffle": True} if hasattr(cv, "shuffle") else {}))).fit(
        x, x[:, 0]).best_score_ > 0.9
