"""Singular values and principal components from Python: as scikit-learn's, and the same bits everywhere."""
import hashlib
import json
import os
import pickle
import signal
import warnings

import numpy
import pytest
from conftest import executors_of, wait_until
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.decomposition import PCA as OtherPCA
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

import podere
from podere import PCA, TruncatedSVD
from podere._progress import step_text

pandas = pytest.importorskip("pandas")
RANDOM = numpy.random.default_rng(8)
ROWS, COLUMNS, RANK = 2500, 12, 4


def matrix():
    """Of float64 that float32 has not."""
    patterns = RANDOM.normal(size=(ROWS, 5)) @ (RANDOM.normal(size=(5, COLUMNS)) * 3 / numpy.arange(1, 6)[:, None])
    return patterns + 0.1 * RANDOM.normal(size=(ROWS, COLUMNS)) + 10


X = matrix()


@pytest.fixture(scope="module")
def session(mark):
    with podere.Session(executors=2, cores=1, progress=False) as s:
        yield s


def with_signs(vectors):
    """Rows with the largest entry positive, as scikit-learn has them from 1.5 on."""
    largest = vectors[range(len(vectors)), numpy.abs(vectors).argmax(axis=1)]
    return vectors * numpy.sign(largest)[:, None]


def digest(*arrays):
    return hashlib.sha256(b"".join(numpy.ascontiguousarray(array).tobytes() for array in arrays)).hexdigest()


# Estimators -----------------------------------------------------------------------------------------------------------

@parametrize_with_checks([PCA(), PCA(n_components=1, whiten=True), PCA(method="krylov"), TruncatedSVD(n_components=1)])
def test_every_check_of_scikit_learn(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("error", category=DeprecationWarning)
        check(estimator)


@pytest.mark.parametrize("n_components", [RANK, None, 0.9, 0.9999])
@pytest.mark.parametrize("whiten", [False, True])
def test_components_are_those_of_scikit_learn(n_components, whiten):
    found = PCA(n_components, whiten=whiten).fit(X)
    expected = OtherPCA(n_components, whiten=whiten, svd_solver="full").fit(X)
    assert found.n_components_ == expected.n_components_
    for name in ("explained_variance_", "explained_variance_ratio_", "singular_values_", "mean_"):
        assert_allclose(getattr(found, name), getattr(expected, name), rtol=1e-10, err_msg=name)
    assert_allclose(found.noise_variance_, expected.noise_variance_, rtol=1e-9, atol=1e-14)
    assert_allclose(found.components_, with_signs(expected.components_), atol=1e-8)
    expected.components_ = with_signs(expected.components_)
    scores = found.transform(X)
    assert_allclose(scores, expected.transform(X), atol=1e-6)
    assert_allclose(found.inverse_transform(scores), expected.inverse_transform(scores), atol=1e-8)
    assert_array_equal(found.fit_transform(X), scores)
    assert found.residuals_.max() < 1e-10


def test_truncated_svd_is_that_of_the_matrix_as_it_is():
    found = TruncatedSVD(RANK).fit(X)
    s, vt = numpy.linalg.svd(X, full_matrices=False)[1:]
    assert_allclose(found.singular_values_, s[:RANK], rtol=1e-11)
    assert_allclose(found.components_, with_signs(vt[:RANK]), atol=1e-9)
    assert_allclose(found.shares_, s[:RANK]**2 / (s**2).sum(), rtol=1e-10)
    assert_allclose(found.transform(X), X @ with_signs(vt[:RANK]).T, atol=1e-7)
    assert_allclose(found.inverse_transform(found.transform(X)), X @ vt[:RANK].T @ vt[:RANK], atol=1e-9)


def test_the_bits_are_the_same_on_any_number_of_threads():
    for method in ("gram", "krylov"):
        found = set()
        for n_jobs in (1, 2, 3, None, -1):
            pca = PCA(RANK, method=method, n_jobs=n_jobs).fit(X)
            found.add(digest(pca.components_, pca.singular_values_, pca.mean_, pca.transform(X)))
        assert len(found) == 1, method


def test_the_bits_are_those_of_the_program_and_of_executors(podere, session):
    numpy.save(podere.folder / "x.npy", X)
    pca = PCA(RANK).fit(X)
    for executors in (1, 3):
        podere("svd", "x.npy", "--rank", RANK, "--center", "-o", "out.npz", "--executors", executors)
        with numpy.load(podere.folder / "out.npz") as arrays:
            assert digest(arrays["s"], arrays["V"].T, arrays["mean"]) == digest(pca.singular_values_, pca.components_, pca.mean_)
    found = session.svd(podere.folder / "x.npy", RANK, center=True)
    assert digest(found.s, found.Vt, found.mean) == digest(pca.singular_values_, pca.components_, pca.mean_)


def test_tables_give_the_bits_of_their_rows_as_arrays(session):
    rows = X.astype(numpy.float32)
    table = session.put(rows)
    for estimator in (PCA(RANK), PCA(0.9, whiten=True), TruncatedSVD(RANK)):
        there, here = clone(estimator).fit(table), clone(estimator).fit(rows)
        assert digest(there.components_, there.singular_values_) == digest(here.components_, here.singular_values_)
        assert_array_equal(there.transform(table), here.transform(rows))
        assert_array_equal(there.transform(rows[:100]), there.transform(table.rows[:100]))
        assert (there.n_features_in_, hasattr(there, "feature_names_in_")) == (COLUMNS, False)


def test_frames_and_tables_have_names(session):
    frame = pandas.DataFrame(X, columns=[f"at {j}" for j in range(COLUMNS)])
    frame["at 3"] = (frame["at 3"] * 10).round().astype("Int64")
    pca = PCA(RANK).fit(frame)
    assert list(pca.feature_names_in_) == list(frame.columns)
    assert list(pca.get_feature_names_out()) == ["pca0", "pca1", "pca2", "pca3"]
    assert_array_equal(pca.transform(frame[frame.columns[::-1]]), pca.transform(frame))
    table = session.put(frame)
    there = PCA(RANK).fit(table)
    assert list(there.feature_names_in_) == list(frame.columns)
    assert_allclose(there.transform(frame), pca.transform(frame), atol=1e-2)
    with pytest.raises(ValueError, match=r"X is the table .* with 11 features, allowed are those of the fit"):
        there.transform(table.select(list(frame.columns[1:])))
    assert list(PCA(2).set_output(transform="pandas").fit_transform(frame).columns) == ["pca0", "pca1"]


def test_they_work_in_pipelines_and_pickles():
    y = OtherPCA(1).fit_transform(X)[:, 0] > 0
    model = make_pipeline(PCA(RANK), LogisticRegression()).fit(X, y)
    assert model.score(X, y) > 0.98
    pca = PCA(RANK).fit(X)
    assert_array_equal(pickle.loads(pickle.dumps(pca)).transform(X), pca.transform(X))


def with_value(value):
    values = X.copy()
    values[1700, 3] = value
    return values


@pytest.mark.parametrize(("estimator", "values", "words"), [
    (PCA(RANK), with_value(numpy.nan), "X: row 1700, column 'f3': the value is missing or infinite"),
    (PCA(RANK), with_value(numpy.inf), "X: row 1700, column 'f3': the value is missing or infinite"),
    (PCA(13), X, "n_components is 13, allowed are a whole number from 1 to 12, the smaller of n_samples=2500 and n_features=12"),
    (PCA("mle"), X, "n_components is 'mle', allowed are a whole number"),
    (PCA(1.5), X, "n_components is 1.5, allowed are"),
    (PCA(RANK), X[:1], "X has n_samples=1, allowed are 2 or more"),
    (PCA(RANK, method="arpack"), X, "method is 'arpack', allowed are 'auto', 'gram', 'krylov'"),
    (PCA(RANK, tol=0), X, "tol is 0, allowed is a number from 1e-15 to 1"),
    (TruncatedSVD(20), X, "n_components is 20, allowed is a whole number from 1 to 12"),
    (PCA(RANK), X * 1e300, "X: column 'f"),
    (PCA(RANK), pandas.DataFrame({"a": [1, 2, 3], "town": ["Bath", "York", "Rome"]}), ", allowed are numbers: leave it out by X.drop(columns='town')"),
    (PCA(1), pandas.DataFrame({"a": [1, 2], "day": pandas.to_datetime(["2026-01-01", "2026-01-02"])}), "X.drop(columns='day')"),
])
def test_what_is_refused(estimator, values, words):
    with pytest.raises(ValueError) as caught:
        estimator.fit(values)
    assert words in str(caught.value) and "\n" not in str(caught.value)
    assert not hasattr(estimator, "components_")


def test_scores_are_refused_for_other_rows():
    pca = PCA(RANK).fit(X)
    with pytest.raises(ValueError, match="X: row 1700, column 'f3': the value is missing or infinite"):
        pca.transform(with_value(numpy.nan))
    with pytest.raises(ValueError, match="X has 3 columns, allowed are 4"):
        pca.inverse_transform(X[:, :3])


def test_values_that_are_less_certain_are_warned_of():
    noise = RANDOM.normal(size=(2000, 150))
    with pytest.warns(ConvergenceWarning, match="PCA: residuals are up to .*, above the tolerance") as caught:
        PCA(20, method="krylov", max_passes=3).fit(noise)
    assert caught[0].filename == __file__


def test_rows_that_do_not_vary_have_no_variance():
    pca = PCA().fit(numpy.full((5, 3), 0.1))
    assert_array_equal(pca.explained_variance_, 0)
    assert pca.noise_variance_ == 0
    assert numpy.isfinite(PCA(whiten=True).fit_transform(numpy.full((5, 3), 0.1))).all()


# Sessions -------------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("options", [{}, {"center": True}, {"scale": True}], ids=["as it is", "centered", "scaled"])
def test_svd_of_a_file(session, tmp_path, options):
    numpy.save(tmp_path / "x.npy", X)
    found = session.svd(tmp_path / "x.npy", RANK, **options)
    values = X - X.mean(axis=0) if options else X
    if "scale" in options:
        values = values / X.std(axis=0, ddof=1)
        assert_allclose(found.scale, X.std(axis=0, ddof=1), rtol=1e-10)
    s, vt = numpy.linalg.svd(values, full_matrices=False)[1:]
    assert_allclose(found.s, s[:RANK], rtol=1e-11)
    assert_allclose(found.Vt, with_signs(vt[:RANK]), atol=1e-8)
    assert_allclose(found.U * found.s, values @ found.Vt.T, atol=1e-7)
    assert_allclose(found.shares, s[:RANK]**2 / (s**2).sum(), rtol=1e-10)
    if options:
        assert_allclose(found.explained_variance, s[:RANK]**2 / (ROWS - 1), rtol=1e-10)
        assert_allclose(found.mean, X.mean(axis=0), rtol=1e-13)
    else:
        assert found.explained_variance is None and found.mean is None
    assert (found.n_rows, found.values, found.converged, found.method) == (ROWS, "float64", True, "gram")
    assert repr(found).startswith("<podere.SVD of rank 4: 2,500 rows x 12 columns, largest residual ")


def test_svd_of_a_table_without_left_vectors(session):
    table = session.put(X)
    found = session.svd(table, RANK, left=False)
    assert found.U is None and found.values == "float32"
    assert_allclose(found.s, numpy.linalg.svd(X.astype(numpy.float32).astype(float), compute_uv=False)[:RANK], rtol=1e-11)


def test_left_vectors_stay_with_the_executors_also_after_a_loss(mark):
    with podere.Session(executors=2, cores=1, progress=False) as s:
        table = s.put(X)
        expected = s.svd(table, RANK, center=True).U.astype(numpy.float32)
        found = s.svd(table, RANK, center=True, name="U")
        assert found.U.name == "U" and found.U.features == ["U0", "U1", "U2", "U3"] and found.mean.shape == (COLUMNS,)
        assert_array_equal(found.U.to_pandas().astype("float32").to_numpy(), expected)
        os.kill(executors_of(s.status["process"])[-1], signal.SIGKILL)
        wait_until(lambda: s.executors == 1)
        assert_array_equal(s.tables["U"].to_pandas().astype("float32").to_numpy(), expected)
        with pytest.raises(ValueError, match="there is a table called U already: drop it first"):
            s.svd(table, RANK, name="U")
        with pytest.raises(ValueError, match="name is 'V', allowed with left=False is None"):
            s.svd(table, RANK, left=False, name="V")


def test_svd_takes_rows_and_columns_and_fills_in(session, tmp_path):
    numpy.save(tmp_path / "x.npy", with_value(numpy.nan))
    found = session.svd(tmp_path / "x.npy", 2, rows=slice(1000, 2000), drop=["f0"], impute="mean")
    assert found.imputed == {"f3": 1}
    expected = X[1000:2000].copy()
    expected[700, 3] = numpy.delete(expected[:, 3], 700).mean()
    assert_allclose(found.s, numpy.linalg.svd(expected[:, 1:], compute_uv=False)[:2], rtol=1e-11)


def test_svd_leaves_columns_without_values_out(session, tmp_path):
    values = X.copy()
    values[:, [2, 5]] = numpy.nan
    numpy.save(tmp_path / "x.npy", values)
    found = session.svd(tmp_path / "x.npy", 2, drop_missing=True)
    assert found.columns.tolist() == [j for j in range(COLUMNS) if j not in (2, 5)]
    assert_allclose(found.s, numpy.linalg.svd(values[:, found.columns], compute_uv=False)[:2], rtol=1e-11)
    assert session.svd(session.put(X), 2).columns is None


def test_what_svd_refuses(session, tmp_path):
    numpy.save(tmp_path / "x.npy", with_value(numpy.nan))
    with pytest.raises(ValueError, match=r"row 1700, column 'f3': .*leave rows or columns out \(rows, drop, drop_missing\), or fill them in \(impute='mean'\)"):
        session.svd(tmp_path / "x.npy", RANK)
    with pytest.raises(ValueError, match="rank must be from 1 to 12"):
        session.svd(tmp_path / "x.npy", 13)
    with pytest.raises(ValueError, match="impute is 'median', allowed are 'mean'"):
        session.svd(tmp_path / "x.npy", 2, impute="median")
    with pytest.raises(FileNotFoundError):
        session.svd(tmp_path / "none.npy", 2)
    with pytest.raises(TypeError, match=r"table is ndarray, allowed are a Table and the path of a file: of arrays podere.PCA"):
        session.svd(X, 2)
    with pytest.raises(ValueError, match=r"drop is given, which is for files: of a table choose by table.select"):
        session.svd(session.put(X), 2, drop=["f0"])


def test_progress_of_passes_says_how_many_were_done():
    event = {"event": "progress", "phase": "svd", "done": 5, "total": 0, "unit": "pass", "metrics": {"residual": 3.2e-5}}
    assert step_text(event) == "finding singular values: 5 passes, residual 3.2e-05"
    assert step_text({**event, "done": 1, "metrics": {}}) == "finding singular values: 1 pass"
    assert step_text({"phase": "svd", "done": 0, "total": 1}) == "finding singular values"


def test_progress_is_shown(capfd):
    PCA(RANK, verbose=True).fit(X)
    assert "Traceback" not in capfd.readouterr().err


def test_facts_of_the_program_are_those_of_the_result(podere, session):
    numpy.save(podere.folder / "x.npy", X)
    facts = json.loads(podere("svd", "x.npy", "--rank", 2, "--json"))
    found = session.svd(podere.folder / "x.npy", 2, left=False)
    assert facts["residuals"] == found.residuals.tolist() and facts["passes"] == found.n_passes
