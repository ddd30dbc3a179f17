"""Covariances and QR decompositions on the executors of a session: as NumPy's, and the same bits as the program's."""
import numpy
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import podere

RANDOM = numpy.random.default_rng(9)
ROWS, COLUMNS = 2500, 12
X = RANDOM.normal(size=(ROWS, COLUMNS)) @ RANDOM.normal(size=(COLUMNS, COLUMNS)) + 10


@pytest.fixture(scope="module")
def session(mark):
    with podere.Session(executors=2, cores=1, progress=False) as s:
        yield s


@pytest.fixture
def saved(tmp_path):
    numpy.save(tmp_path / "x.npy", X)
    return tmp_path / "x.npy"


def test_covariances_are_those_of_numpy(session, saved):
    found = session.covariance(saved)
    assert_allclose(found.matrix, numpy.cov(X, rowvar=False), rtol=1e-11, atol=1e-12)
    assert_allclose(found.mean, X.mean(axis=0), rtol=1e-13)
    assert_allclose(found.deviation, X.std(axis=0, ddof=1), rtol=1e-13)
    assert (found.n_rows, found.values, found.constant, found.imputed) == (ROWS, "float64", [], {})
    assert repr(found) == "<podere.Covariance of 12 columns: 2,500 rows>"


def test_correlations_of_a_table(session):
    rows = X.astype(numpy.float32)
    rows[:, 3] = 0.1
    found = session.covariance(session.put(rows), correlation=True)
    with numpy.errstate(invalid="ignore"):
        expected = numpy.corrcoef(rows.astype(float), rowvar=False)
    varies = [j for j in range(COLUMNS) if j != 3]
    assert_allclose(found.matrix[numpy.ix_(varies, varies)], expected[numpy.ix_(varies, varies)], atol=1e-13)
    assert numpy.isnan(found.matrix[3]).all() and numpy.isnan(found.matrix[:, 3]).all()
    assert found.constant == ["f3"] and found.values == "float32"
    first, second, correlation = found.strongest[0]
    assert correlation == found.matrix[int(first[1:]), int(second[1:])]
    assert abs(correlation) == numpy.nanmax(numpy.abs(found.matrix - numpy.eye(COLUMNS)))


@pytest.mark.parametrize("degree", [3, 16], ids=["far from dependent", "nearly dependent"])
def test_qr_is_that_of_numpy(session, tmp_path, degree):
    values = numpy.vander(numpy.linspace(0, 1, ROWS), degree + 1, increasing=True)
    numpy.save(tmp_path / "x.npy", values)
    found = session.qr(tmp_path / "x.npy")
    r = numpy.linalg.qr(values)[1]
    assert_allclose(found.R, r * numpy.sign(numpy.diag(r))[:, None], atol=1e-12)
    assert_allclose(found.Q @ found.R, values, atol=1e-14)
    assert_allclose(found.Q.T @ found.Q, numpy.eye(degree + 1), atol=1e-14)
    assert found.orthogonality < 1e-14 and found.residual < 1e-14
    assert (found.n_passes, found.n_shifted) == ((2, 0) if degree == 3 else (3, 1))
    assert repr(found) == f"<podere.QR of 2,500 rows x {degree + 1} columns>"


def test_the_bits_are_those_of_the_program(podere, session):
    numpy.save(podere.folder / "x.npy", X)
    covariance, qr = session.covariance(podere.folder / "x.npy"), session.qr(podere.folder / "x.npy")
    for executors in (1, 3):
        podere("covariance", "x.npy", "-o", "c.npz", "--executors", executors)
        podere("qr", "x.npy", "-o", "qr.npz", "--executors", executors)
        with numpy.load(podere.folder / "c.npz") as arrays:
            assert_array_equal(arrays["covariance"], covariance.matrix)
        with numpy.load(podere.folder / "qr.npz") as arrays:
            assert_array_equal(arrays["R"], qr.R)
            assert_array_equal(arrays["Q"], qr.Q)


def test_q_stays_with_the_executors_or_is_not_made(session):
    table = session.put(X)
    expected = session.qr(table)
    found = session.qr(table, name="Q")
    assert found.Q.name == "Q" and found.Q.features == [f"Q{j}" for j in range(COLUMNS)]
    assert_array_equal(found.Q.to_pandas().astype("float32").to_numpy(), expected.Q.astype(numpy.float32))
    alone = session.qr(table, q=False)
    assert_array_equal(alone.R, expected.R)
    assert alone.Q is None and alone.residual is None and alone.orthogonality is None
    with pytest.raises(ValueError, match="there is a table called Q already: drop it first"):
        session.qr(table, name="Q")
    with pytest.raises(ValueError, match="name is 'P', allowed with q=False is None"):
        session.qr(table, q=False, name="P")


def test_rows_and_columns_are_chosen_and_filled_in(session, tmp_path):
    values = X.copy()
    values[1700, 3] = numpy.nan
    numpy.save(tmp_path / "x.npy", values)
    chosen = {"rows": slice(1000, 2000), "drop": ["f0"], "impute": "mean"}
    expected = values[1000:2000, 1:].copy()
    expected[700, 2] = numpy.nanmean(expected[:, 2])
    found = session.covariance(tmp_path / "x.npy", **chosen)
    assert_allclose(found.matrix, numpy.cov(expected, rowvar=False), rtol=1e-11, atol=1e-12)
    assert found.imputed == {"f3": 1}
    assert_allclose(numpy.abs(session.qr(tmp_path / "x.npy", **chosen).R), numpy.abs(numpy.linalg.qr(expected)[1]), atol=1e-9)


def test_what_is_refused(session, tmp_path):
    values = X.copy()
    values[:, 5] = values[:, 1] - values[:, 2]
    numpy.save(tmp_path / "x.npy", values)
    with pytest.raises(ValueError, match=r"1 column is a combination of those before it, .*: 'f5'; leave it out with drop"):
        session.qr(tmp_path / "x.npy")
    with pytest.raises(ValueError, match="has 5 rows and 12 columns, allowed are at least as many rows as columns"):
        session.qr(tmp_path / "x.npy", rows=slice(0, 5))
    with pytest.raises(ValueError, match="has 1 row, covariances are of 2 or more"):
        session.covariance(tmp_path / "x.npy", rows=slice(0, 1))
    values[1700, 3] = numpy.nan
    numpy.save(tmp_path / "x.npy", values)
    for find in (session.covariance, session.qr):
        with pytest.raises(ValueError, match=r"row 1700, column 'f3': .*leave rows or columns out \(rows, drop\), or fill them in \(impute='mean'\)"):
            find(tmp_path / "x.npy")
        with pytest.raises(TypeError, match="table is ndarray, allowed are a Table and the path of a file: of arrays numpy"):
            find(X)
        with pytest.raises(ValueError, match="drop is given, which is for files: of a table choose by table.select"):
            find(session.put(X), drop=["f0"])
        with pytest.raises(ValueError, match="impute is 'median', allowed are 'mean'"):
            find(tmp_path / "x.npy", impute="median")
    with pytest.raises(TypeError, match="correlation"):
        session.covariance(tmp_path / "x.npy", correlation="yes")
