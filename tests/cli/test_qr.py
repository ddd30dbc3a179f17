"""Orthonormal columns and a triangle, as a user finds them: beside NumPy's, and the same bytes on any executors."""
import hashlib
import json

import h5py
import numpy
import pytest

RANDOM = numpy.random.default_rng(7)
ROWS, COLUMNS = 2500, 25
FIELD = RANDOM.normal(size=(ROWS, COLUMNS)) @ RANDOM.normal(size=(COLUMNS, COLUMNS)) + 10


@pytest.fixture
def saved(podere):
    numpy.save(podere.folder / "field.npy", FIELD)
    return "field.npy"


def facts_of(podere, *arguments):
    return json.loads(podere.done("qr", *arguments, "--json").stdout)


def expect_qr(q, r, values, tolerance=1e-12):
    expected_q, expected_r = numpy.linalg.qr(values)
    signs = numpy.sign(numpy.diag(expected_r))
    numpy.testing.assert_allclose(r, expected_r * signs[:, None], atol=tolerance * numpy.abs(r).max())
    numpy.testing.assert_allclose(q, expected_q * signs, atol=tolerance)
    assert numpy.abs(q.T @ q - numpy.eye(len(r))).max() < 1e-14
    assert (numpy.tril(r, -1) == 0).all() and (numpy.diag(r) > 0).all()
    assert (numpy.abs(values - q @ r).max(axis=0) < 1e-14 * numpy.abs(values).max(axis=0)).all()


def test_factors_are_those_of_numpy(podere, saved):
    facts = facts_of(podere, saved, "-o", "out.npz")
    with numpy.load(podere.folder / "out.npz") as arrays:
        assert sorted(arrays) == ["Q", "R"]
        expect_qr(arrays["Q"], arrays["R"], FIELD)
        r = arrays["R"]
    assert (facts["rows"], facts["columns"], facts["values"]) == (ROWS, COLUMNS, "float64")
    assert (facts["passes"], facts["shifted"]) == (2, 0)
    assert facts["orthogonality"] < 1e-14 and facts["residual"] < 1e-14
    facts = facts_of(podere, saved, "--no-q", "-o", "out.h5")
    assert "residual" not in facts and "orthogonality" not in facts
    with h5py.File(podere.folder / "out.h5") as file:
        assert sorted(file) == ["R"]
        numpy.testing.assert_array_equal(file["R"][:], r)


def vandermonde():
    """Of a condition of 1e12."""
    return numpy.vander(numpy.linspace(0, 1, 4000), 17, increasing=True)


def test_nearly_dependent_columns(podere):
    values = vandermonde()
    assert numpy.linalg.cond(values) > 1e11
    numpy.save(podere.folder / "powers.npy", values)
    out = podere.done("qr", "powers.npy", "-o", "out.npz").stdout
    assert "by Cholesky QR, 3 passes (1 with a shift, for nearly dependent columns) over the rows" in out
    assert "largest deviation of Q from orthonormal: " in out and "written: out.npz (Q, R)" in out
    with numpy.load(podere.folder / "out.npz") as arrays:
        expect_qr(arrays["Q"], arrays["R"], values, 1e-3)


@pytest.mark.parametrize("values", [FIELD, vandermonde()], ids=["far from dependent", "nearly dependent"])
def test_the_bytes_are_the_same_on_any_number_of_executors_and_threads(podere, values):
    numpy.save(podere.folder / "field.npy", values)
    found = set()
    for executors, cores in ((1, 1), (1, 3), (2, 1), (3, 3), (5, 1)):
        podere.done("qr", "field.npy", "--executors", executors, "--cores", cores, "-o", "out.npz")
        found.add(hashlib.sha256((podere.folder / "out.npz").read_bytes()).hexdigest())
    assert len(found) == 1


def test_units_of_columns_do_not_matter(podere):
    values = FIELD * numpy.logspace(-150, 250, COLUMNS)
    numpy.save(podere.folder / "field.npy", values)
    facts = facts_of(podere, "field.npy", "-o", "out.npz")
    assert facts["shifted"] == 0
    with numpy.load(podere.folder / "out.npz") as arrays:
        expect_qr(arrays["Q"], arrays["R"] / numpy.logspace(-150, 250, COLUMNS), FIELD)


def with_column(place, column):
    values = FIELD.copy()
    values[:, place] = column
    return values


@pytest.mark.parametrize(("array", "options", "words"), [
    (with_column(5, FIELD[:, 0] - FIELD[:, 3]), [], "field.npy: 1 column is a combination of those before it, but for rounding, so Q has no direction for it: 'f5'; leave it out with --drop"),
    (with_column(0, 0), [], "'f0'; leave it out with --drop"),
    (numpy.ones((ROWS, 3)), [], "2 columns are combinations of those before them, but for rounding, so Q has no direction for them: 'f1', 'f2'"),
    (FIELD[:10], [], "field.npy: has 10 rows and 25 columns, allowed are at least as many rows as columns"),
    (with_column(3, numpy.where(numpy.arange(ROWS) == 1700, numpy.nan, 1)), [], "field.npy: row 1700, column 'f3': the value is missing or infinite; leave rows or columns out"),
    (FIELD * 1e300, [], "divide them"),
    (FIELD, ["-o", "out.mat"], "out.mat"),
])
def test_what_is_refused(podere, array, options, words):
    numpy.save(podere.folder / "field.npy", array)
    for executors in (1, 2):
        assert words in podere.refused("qr", "field.npy", "--executors", executors, *(options or ["-o", "out.npz"]))
    assert not (podere.folder / "out.npz").exists()
