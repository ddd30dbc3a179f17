"""podere.IsolationForest: in this process and in a session, the same bits as the command line's."""
import pickle

import numpy
import pandas
import pytest
import scipy.sparse
import sklearn.ensemble
from sklearn.metrics import roc_auc_score
from sklearn.utils.estimator_checks import parametrize_with_checks

import podere


@pytest.fixture(scope="module")
def rows():
    """Rows of two groups, among them anomalies, and which these are."""
    random = numpy.random.default_rng(5)
    X = random.normal(size=(4000, 6)) + random.choice([-4, 4], size=(4000, 1))
    is_anomaly = random.random(4000) < 0.02
    X[is_anomaly] = random.uniform(-9, 9, size=(is_anomaly.sum(), 6))
    return X.astype(numpy.float32), is_anomaly


@parametrize_with_checks([podere.IsolationForest(n_estimators=20)])
def test_it_is_an_estimator(estimator, check):
    check(estimator)


def test_it_finds_anomalies_as_scikit_learn_does(rows):
    X, is_anomaly = rows
    ours = [roc_auc_score(is_anomaly, -podere.IsolationForest(random_state=seed).fit(X).score_samples(X)) for seed in range(5)]
    theirs = [roc_auc_score(is_anomaly, -sklearn.ensemble.IsolationForest(random_state=seed).fit(X).score_samples(X))
              for seed in range(5)]
    assert numpy.mean(ours) > 0.95 and numpy.mean(ours) == pytest.approx(numpy.mean(theirs), abs=0.01)


def test_scores_are_distributed_as_those_of_scikit_learn(rows):
    X, _ = rows
    ours = podere.IsolationForest(n_estimators=500).fit(X).score_samples(X)
    theirs = sklearn.ensemble.IsolationForest(n_estimators=500, random_state=0).fit(X).score_samples(X)
    assert numpy.corrcoef(ours, theirs)[0, 1] > 0.99
    numpy.testing.assert_allclose(numpy.quantile(ours, [0.01, 0.1, 0.5, 0.9]), numpy.quantile(theirs, [0.01, 0.1, 0.5, 0.9]),
                                  atol=0.01)


@pytest.mark.parametrize("contamination", ["auto", 0.02, 0.5])
def test_anomalies_are_below_the_offset(rows, contamination):
    X, _ = rows
    model = podere.IsolationForest(contamination=contamination).fit(X)
    scores = model.score_samples(X)
    assert ((scores > -1) & (scores < 0)).all()
    assert (model.decision_function(X) == scores - model.offset_).all()
    assert ((model.predict(X) == -1) == (scores < model.offset_)).all() and (model.fit_predict(X) == model.predict(X)).all()
    assert set(model.predict(X)) == {-1, 1} and model.max_samples_ == 256
    if contamination == "auto":
        assert model.offset_ == -0.5
    else:
        assert (model.predict(X) == -1).sum() == pytest.approx(contamination * len(X), abs=1)


def test_missing_values_categories_and_sparse_rows_have_scores(rows):
    X, is_anomaly = rows
    holes = X.copy()
    holes[numpy.random.default_rng(1).random(X.shape) < 0.1] = numpy.nan
    assert roc_auc_score(is_anomaly, -podere.IsolationForest().fit(holes).score_samples(holes)) > 0.85
    frame = pandas.DataFrame({"x": X[:, 0], "kind": pandas.Categorical(numpy.where(numpy.arange(4000) == 77, "rare", "usual"))})
    scores = podere.IsolationForest(max_samples=4000).fit(frame).score_samples(frame)
    assert scores.argmin() == 77
    positive = X.clip(0)
    dense, sparse = (podere.IsolationForest().fit(m) for m in (positive, scipy.sparse.csr_matrix(positive)))
    assert (dense.score_samples(positive) == sparse.score_samples(scipy.sparse.csr_matrix(positive))).all()


def test_sessions_find_the_same(rows, tmp_path):
    X, is_anomaly = rows
    here = podere.IsolationForest(contamination=0.03, random_state=3).fit(X)
    with podere.Session(executors=2, cores=1, progress=False, page=False) as s:
        table = s.put(X)
        there = s.fit(podere.IsolationForest(contamination=0.03, random_state=3), table)
        there.save_model(tmp_path / "there.json")
        here.save_model(tmp_path / "here.json")
        assert (tmp_path / "there.json").read_bytes() == (tmp_path / "here.json").read_bytes()
        assert (there.score_samples(table) == here.score_samples(X)).all() and there.offset_ == here.offset_
        assert (there.fit_predict(table) == here.predict(X)).all()
        measures = there.evaluate(table)
        assert measures["anomalies"] == (here.predict(X) == -1).sum() and "auc" not in measures
        labeled = s.put(X, is_anomaly.astype(float))
        assert there.evaluate(labeled)["auc"] == pytest.approx(roc_auc_score(is_anomaly, -here.score_samples(X)), abs=1e-9)
        with pytest.raises(ValueError, match="counts all rows alike, and the table has weights"):
            s.fit(podere.IsolationForest(), s.put(X, is_anomaly.astype(float), sample_weight=numpy.ones(len(X))))


def test_models_are_kept_in_files_and_pickles(rows, tmp_path):
    X, _ = rows
    model = podere.IsolationForest(max_samples=100, contamination=0.1).fit(X)
    model.save_model(tmp_path / "m.json")
    for copy in (podere.IsolationForest().load_model(tmp_path / "m.json"), pickle.loads(pickle.dumps(model))):
        assert (copy.score_samples(X) == model.score_samples(X)).all()
        assert copy.offset_ == model.offset_ and copy.max_samples_ == 100
    with pytest.raises(ValueError, match="allowed for KMeans are squared-distance"):
        podere.KMeans().load_model(tmp_path / "m.json")


@pytest.mark.parametrize("make, words", [
    (lambda: podere.IsolationForest(n_estimators=0), "n_estimators is 0, allowed is a whole number from 1 to 10000"),
    (lambda: podere.IsolationForest(max_samples=0.5), "max_samples is 0.5, allowed is a whole number from 2"),
    (lambda: podere.IsolationForest(max_samples=60_000), "sample is 60000, allowed is 2 to 50000 with 100 trees"),
    (lambda: podere.IsolationForest(contamination=0), "contamination is 0, allowed is 'auto' or a number above 0, at most 0.5"),
    (lambda: podere.IsolationForest(contamination="some"), "contamination is 'some'"),
])
def test_what_has_no_meaning_is_refused(rows, make, words):
    with pytest.raises((ValueError, TypeError), match=words):
        make().fit(rows[0])
