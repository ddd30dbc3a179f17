"""podere.LinearRegression and podere.Ridge: in this process and in a session, the same bits as the command line's."""
import pickle

import numpy
import pytest
import sklearn.linear_model
from sklearn.utils.estimator_checks import parametrize_with_checks

import podere


@pytest.fixture(scope="module")
def rows():
    random = numpy.random.default_rng(5)
    X = random.normal(size=(1000, 4)) * [1, 10, 0.1, 5] + [0, 3, 2, -7]
    return X, X @ [1, -0.5, 20, 0] + random.normal(size=1000)


@parametrize_with_checks([podere.LinearRegression(), podere.Ridge()])
def test_they_are_estimators(estimator, check):
    check(estimator)


@pytest.mark.parametrize("ours, theirs", [
    (podere.LinearRegression(), sklearn.linear_model.LinearRegression()),
    (podere.Ridge(3), sklearn.linear_model.Ridge(3)),
    (podere.Ridge(0), sklearn.linear_model.LinearRegression()),
])
def test_coefficients_are_those_of_scikit_learn(rows, ours, theirs):
    X, y = rows
    weight = numpy.arange(1000) % 3
    ours, theirs = ours.fit(X, y, sample_weight=weight), theirs.fit(X, y, sample_weight=weight)
    numpy.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-5)
    assert ours.intercept_ == pytest.approx(theirs.intercept_, abs=1e-4)
    assert ours.score(X, y) == pytest.approx(theirs.score(X, y), abs=1e-6)


def test_sessions_and_files_have_the_same(rows, tmp_path):
    X, y = rows
    here = podere.Ridge(2, standardize=True).fit(X, y)
    here.save_model(tmp_path / "here.json")
    with podere.Session(executors=2, cores=1, progress=False, page=False) as s:
        table = s.put(X, y)
        there = s.fit(podere.Ridge(2, standardize=True), table)
        there.save_model(tmp_path / "there.json")
        assert (tmp_path / "there.json").read_bytes() == (tmp_path / "here.json").read_bytes()
        assert (there.predict(table) == here.predict(X)).all()
    for copy in (podere.Ridge().load_model(tmp_path / "here.json"), pickle.loads(pickle.dumps(here))):
        assert (copy.coef_ == here.coef_).all() and copy.intercept_ == here.intercept_
    podere.GBTRegressor(n_estimators=1).fit(X, y).save_model(tmp_path / "trees.json")
    with pytest.raises(ValueError, match="is no linear model"):
        podere.Ridge().load_model(tmp_path / "trees.json")


@pytest.mark.parametrize("make, words", [
    (lambda: podere.Ridge(-1), "alpha is -1"), (lambda: podere.Ridge("much"), "alpha is 'much'"),
    (lambda: podere.Ridge(standardize="yes"), "standardize is 'yes'"),
])
def test_what_has_no_meaning_is_refused(rows, make, words):
    with pytest.raises((ValueError, TypeError), match=words):
        make().fit(*rows)
    with pytest.raises(ValueError, match="does not validate"):
        podere.Ridge().fit(*rows, eval_set=rows)
