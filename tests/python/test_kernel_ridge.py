"""podere.KernelRidge: in this process and in a session, the same bits as the command line's."""
import pickle

import numpy
import pytest
from sklearn.kernel_approximation import RBFSampler
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import podere


@pytest.fixture(scope="module")
def rows():
    random = numpy.random.default_rng(5)
    X = random.normal(size=(4000, 4)) * [1, 3, 0.5, 2] + [0, 3, 2, -7]
    return X, numpy.sin(X[:, 0] * 2) + X[:, 1] * X[:, 2] + 0.1 * random.normal(size=4000)


@parametrize_with_checks([podere.KernelRidge(n_components=50), podere.KernelRidge(n_components=50, solver="cg")])
def test_it_is_an_estimator(estimator, check):
    check(estimator)


@pytest.mark.parametrize("solver", ["cholesky", "cg"])
@pytest.mark.parametrize("gamma, alpha", [("scale", 1), (0.1, 0.1)])
def test_it_is_as_good_as_rbf_sampler_and_ridge(rows, solver, gamma, alpha):
    X, y = rows
    ours = podere.KernelRidge(alpha, gamma=gamma, n_components=400, standardize=True, solver=solver).fit(X[:3000], y[:3000])
    theirs = [make_pipeline(StandardScaler(), RBFSampler(gamma=gamma if gamma != "scale" else 1 / 4, n_components=400,
                                                         random_state=seed), Ridge(alpha)).fit(X[:3000], y[:3000])
              for seed in range(5)]
    assert ours.score(X[3000:], y[3000:]) > numpy.mean([t.score(X[3000:], y[3000:]) for t in theirs]) - 0.005
    assert ours.gamma_ == pytest.approx(gamma if gamma != "scale" else 1 / 4, rel=1e-6)


def test_both_solvers_find_the_same(rows):
    X, y = rows
    weight = numpy.arange(4000) % 3
    one, other = (podere.KernelRidge(n_components=100, solver=solver, tol=1e-10).fit(X, y, sample_weight=weight)
                  for solver in ("cholesky", "cg"))
    numpy.testing.assert_allclose(one.random_coef_, other.random_coef_, atol=1e-6)
    assert one.intercept_ == pytest.approx(other.intercept_, abs=1e-6) and one.n_iter_ == 3 < other.n_iter_
    assert one.gamma_ == pytest.approx(1 / (4 * numpy.average(
        (X.astype(numpy.float32) - numpy.average(X, axis=0, weights=weight).mean()) ** 2, axis=0, weights=weight).mean()), rel=1e-4)


def test_sessions_and_files_have_the_same(rows, tmp_path):
    X, y = rows
    made = {"n_components": 60, "standardize": True, "random_state": 4, "solver": "cg"}
    here = podere.KernelRidge(2, **made).fit(X, y)
    here.save_model(tmp_path / "here.json")
    with podere.Session(executors=2, cores=1, progress=False, page=False) as s:
        table = s.put(X, y)
        there = s.fit(podere.KernelRidge(2, **made), table)
        there.save_model(tmp_path / "there.json")
        assert (tmp_path / "there.json").read_bytes() == (tmp_path / "here.json").read_bytes()
        assert (there.predict(table) == here.predict(X)).all()
    for copy in (podere.KernelRidge().load_model(tmp_path / "here.json"), pickle.loads(pickle.dumps(here))):
        assert (copy.predict(X) == here.predict(X)).all() and copy.intercept_ == here.intercept_
    assert (podere.KernelRidge(2, **made | {"random_state": 5}).fit(X, y).random_coef_ != here.random_coef_).any()
    with pytest.raises(ValueError, match="is no linear model"):
        podere.Ridge().load_model(tmp_path / "here.json")
    podere.Ridge().fit(X, y).save_model(tmp_path / "ridge.json")
    with pytest.raises(ValueError, match="is no kernel ridge model"):
        podere.KernelRidge().load_model(tmp_path / "ridge.json")


@pytest.mark.parametrize("make, words", [
    (lambda: podere.KernelRidge(-1), "alpha is -1"), (lambda: podere.KernelRidge(gamma=0), "gamma is 0"),
    (lambda: podere.KernelRidge(gamma="auto"), "gamma is 'auto'"), (lambda: podere.KernelRidge(n_components=0), "n_components is 0"),
    (lambda: podere.KernelRidge(solver="svd"), "solver is 'svd', allowed are 'auto', 'cholesky', 'cg'"),
    (lambda: podere.KernelRidge(standardize=1), "standardize is 1"), (lambda: podere.KernelRidge(max_iter=0), "max_iter is 0"),
    (lambda: podere.KernelRidge(tol=-1), "tol is -1"),
])
def test_what_has_no_meaning_is_refused(rows, make, words):
    with pytest.raises((ValueError, TypeError), match=words):
        make().fit(*rows)


def test_a_run_that_has_not_converged_warns(rows):
    with pytest.warns(UserWarning, match="conjugate gradients have not converged after 2 iterations"):
        podere.KernelRidge(n_components=50, solver="cg", max_iter=2).fit(*rows)
