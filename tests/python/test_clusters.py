"""podere.KMeans and podere.GaussianMixture: in this process and in a session, the same bits as the command line's."""
import pickle

import numpy
import pytest
import scipy.sparse
import sklearn.cluster
import sklearn.mixture
from sklearn.metrics import adjusted_rand_score, silhouette_score
from sklearn.utils.estimator_checks import parametrize_with_checks

import podere

KINDS = ["full", "tied", "diag", "spherical"]


@pytest.fixture(scope="module")
def groups():
    """Rows around four points far apart, and the group of each."""
    random = numpy.random.default_rng(5)
    group = random.integers(4, size=2000)
    rows = random.normal(size=(4, 3))[group] * 20 + random.normal(size=(2000, 3))
    return rows.astype(numpy.float32), group


NOT_MEANT = {  # checks that scikit-learn's own estimators do not pass either
    ("KMeans", "check_sample_weights_invariance"): "what is drawn for a row hangs on its number",
    ("KMeans", "check_sample_weight_equivalence_on_dense_data"): "what is drawn for a row hangs on its number",
    ("KMeans", "check_sample_weight_equivalence_on_sparse_data"): "what is drawn for a row hangs on its number",
    ("MiniBatchKMeans", "check_sample_weights_invariance"): "what is drawn for a row hangs on its number",
    ("MiniBatchKMeans", "check_sample_weight_equivalence_on_dense_data"): "what is drawn for a row hangs on its number",
    ("MiniBatchKMeans", "check_sample_weight_equivalence_on_sparse_data"): "what is drawn for a row hangs on its number",
    ("GaussianMixture", "check_estimator_sparse_data"): "it wants a probability for each class of a label",
    ("GaussianMixture", "check_estimator_sparse_array"): "it wants a probability for each class of a label",
    ("GaussianMixture", "check_estimator_sparse_matrix"): "it wants a probability for each class of a label",
}


@parametrize_with_checks([podere.KMeans(n_clusters=2), podere.MiniBatchKMeans(n_clusters=2), podere.GaussianMixture()])
def test_they_are_estimators(estimator, check):
    reason = NOT_MEANT.get((type(estimator).__name__, getattr(check, "func", check).__name__))
    if reason is not None:
        pytest.xfail(reason)
    check(estimator)


@pytest.mark.parametrize("make", [lambda: podere.KMeans(2), lambda: podere.GaussianMixture(2)])
def test_sparse_rows_are_those_they_stand_for(groups, make):
    X = groups[0].clip(0)
    dense, sparse = make().fit(X), make().fit(scipy.sparse.csr_matrix(X))
    assert (dense.predict(X) == sparse.predict(scipy.sparse.csr_matrix(X))).all()


def test_kmeans_finds_groups_as_scikit_learn_does(groups):
    X, group = groups
    ours = podere.KMeans(4).fit(X)
    theirs = sklearn.cluster.KMeans(4, n_init=1, random_state=0).fit(X)
    assert adjusted_rand_score(group, ours.labels_) == 1
    assert ours.inertia_ == pytest.approx(theirs.inertia_, rel=1e-4) and ours.score(X) == pytest.approx(-ours.inertia_)
    assert (ours.predict(X) == ours.labels_).all() and (ours.fit_predict(X) == ours.labels_).all()
    distances = numpy.linalg.norm(X[:, None, :] - ours.cluster_centers_, axis=2)
    numpy.testing.assert_allclose(ours.transform(X), distances, rtol=1e-4)
    assert ours.silhouette(X) == pytest.approx(silhouette_score(X, ours.labels_), abs=1e-5)
    counts = numpy.bincount(ours.labels_)
    for k, center in enumerate(ours.cluster_centers_):
        numpy.testing.assert_allclose(center, X[ours.labels_ == k].mean(axis=0, dtype=float), rtol=1e-4)
    assert counts.sum() == 2000 and ours.n_iter_ >= 1


@pytest.mark.parametrize("kind", KINDS[:3])
def test_mixtures_are_those_of_scikit_learn(groups, kind):
    X, group = groups
    X = X.astype(float)
    ours = podere.GaussianMixture(4, covariance_type=kind, tol=1e-7).fit(X)
    theirs = sklearn.mixture.GaussianMixture(4, covariance_type=kind, tol=1e-7, n_init=5, random_state=0).fit(X)
    order = numpy.argsort(ours.means_[:, 0])
    other = numpy.argsort(theirs.means_[:, 0])
    numpy.testing.assert_allclose(ours.means_[order], theirs.means_[other], atol=1e-3)
    numpy.testing.assert_allclose(ours.weights_[order], theirs.weights_[other], atol=1e-4)
    here, there = (ours.covariances_, theirs.covariances_) if kind == "tied" else (ours.covariances_[order],
                                                                                    theirs.covariances_[other])
    numpy.testing.assert_allclose(here, there, atol=1e-2)
    assert ours.score(X) == pytest.approx(theirs.score(X), abs=1e-4) and ours.bic(X) == pytest.approx(theirs.bic(X), rel=1e-5)
    assert ours.aic(X) == pytest.approx(theirs.aic(X), rel=1e-5) and ours.converged_
    numpy.testing.assert_allclose(ours.score_samples(X), theirs.score_samples(X), atol=1e-2)
    numpy.testing.assert_allclose(ours.predict_proba(X)[:, order], theirs.predict_proba(X)[:, other], atol=1e-3)
    assert adjusted_rand_score(group, ours.predict(X)) == 1


def test_spherical_mixtures_are_balls_of_standardized_features(groups):
    X, group = groups
    model = podere.GaussianMixture(4, covariance_type="spherical").fit(X)
    variances = model.covariances_ / X.var(axis=0, dtype=float)
    numpy.testing.assert_allclose(variances, variances[:, :1] * numpy.ones((1, 3)), rtol=1e-3)
    assert adjusted_rand_score(group, model.predict(X)) == 1


@pytest.mark.parametrize("make", [lambda: podere.KMeans(4, random_state=3), lambda: podere.MiniBatchKMeans(4), lambda: podere.GaussianMixture(3)])
def test_sessions_find_the_same(groups, make, tmp_path):
    X, _ = groups
    here = make().fit(X)
    with podere.Session(executors=2, cores=1, progress=False, page=False) as s:
        table = s.put(X)
        there = s.fit(make(), table)
        there.save_model(tmp_path / "there.json")
        here.save_model(tmp_path / "here.json")
        assert (tmp_path / "there.json").read_bytes() == (tmp_path / "here.json").read_bytes()
        assert (there.predict(table) == here.predict(X)).all() and there.n_iter_ == here.n_iter_
        measures = there.evaluate(table)
        if isinstance(here, podere.KMeans):
            assert measures["inertia"] == pytest.approx(here.inertia_) and not hasattr(there, "labels_")
            assert there.silhouette(table) == here.silhouette(X)
        else:
            assert measures["bic"] == pytest.approx(here.bic(X)) and there.score(table) == pytest.approx(here.score(X))
            numpy.testing.assert_allclose(there.predict_proba(table), here.predict_proba(X), rtol=1e-5)


def test_models_are_kept_in_files_and_pickles(groups, tmp_path):
    X, _ = groups
    model = podere.KMeans(3).fit(X)
    model.save_model(tmp_path / "m.json")
    for copy in (podere.KMeans().load_model(tmp_path / "m.json"), pickle.loads(pickle.dumps(model))):
        assert (copy.predict(X) == model.labels_).all() and (copy.cluster_centers_ == model.cluster_centers_).all()
    with pytest.raises(ValueError, match="allowed for GaussianMixture are log-likelihood"):
        podere.GaussianMixture().load_model(tmp_path / "m.json")


def test_mini_batches_find_nearly_what_all_rows_do(groups):
    random = numpy.random.default_rng(3)
    X = random.normal(size=(40, 5))[random.integers(40, size=50_000)] * 4 + random.normal(size=(50_000, 5))
    model = podere.MiniBatchKMeans(40, batch_size=512, n_init=3).fit(X)
    assert model.inertia_ < 1.05 * podere.KMeans(40, n_init=3).fit(X).inertia_
    assert (model.predict(X) == model.labels_).all() and model.score(X) == pytest.approx(-model.inertia_)
    assert 10 < model.n_iter_ < 50_000 * 100 // 512
    again = sklearn.base.clone(model).set_params(n_jobs=1).fit(X)
    assert (again.cluster_centers_ == model.cluster_centers_).all()
    assert podere.MiniBatchKMeans(4, batch_size=100, max_iter=1).fit(groups[0]).n_iter_ <= 20


def test_weights_count_as_rows(groups):
    X, _ = groups
    weight = numpy.random.default_rng(1).integers(1, 4, size=len(X)).astype(float)
    weighted = podere.KMeans(4).fit(X, sample_weight=weight)
    repeated = podere.KMeans(4).fit(numpy.repeat(X, weight.astype(int), axis=0))
    assert weighted.inertia_ == pytest.approx(repeated.inertia_, rel=1e-5)


@pytest.mark.parametrize("make, words", [
    (lambda: podere.KMeans(0), "n_clusters is 0, allowed is a whole number from 1 to 10000"),
    (lambda: podere.KMeans(2, n_init="many"), "n_init is 'many'"),
    (lambda: podere.KMeans(2, tol=-1), "tol is -1"),
    (lambda: podere.MiniBatchKMeans(2, batch_size=0), "batch_size is 0, allowed is a whole number from 1"),
    (lambda: podere.MiniBatchKMeans(2, max_no_improvement=0), "max_no_improvement is 0, allowed is a whole number from 1"),
    (lambda: podere.KMeans(3000), "the table has 2000 rows"),
    (lambda: podere.GaussianMixture(2, covariance_type="round"), "allowed are 'full', 'tied', 'diag', 'spherical'"),
])
def test_what_has_no_meaning_is_refused(groups, make, words):
    with pytest.raises((ValueError, TypeError), match=words):
        make().fit(groups[0])
