"""Covariances and correlations of columns, as a user finds them: beside NumPy's, and the same bytes on any executors."""
import hashlib
import json
import re

import h5py
import numpy
import pytest

RANDOM = numpy.random.default_rng(6)
ROWS, COLUMNS = 2500, 30
FIELD = RANDOM.normal(size=(ROWS, 6)) @ RANDOM.normal(size=(6, COLUMNS)) + 0.3 * RANDOM.normal(size=(ROWS, COLUMNS)) + 10


@pytest.fixture
def saved(podere):
    numpy.save(podere.folder / "field.npy", FIELD)
    return "field.npy"


def facts_of(podere, *arguments):
    return json.loads(podere.done("covariance", *arguments, "--json").stdout)


def test_covariances_and_correlations_are_those_of_numpy(podere, saved):
    facts = facts_of(podere, saved, "-o", "out.npz")
    with numpy.load(podere.folder / "out.npz") as arrays:
        assert sorted(arrays) == ["covariance", "deviation", "mean"]
        numpy.testing.assert_allclose(arrays["covariance"], numpy.cov(FIELD, rowvar=False), rtol=1e-12, atol=1e-13)
        numpy.testing.assert_allclose(arrays["mean"], FIELD.mean(axis=0), rtol=1e-14)
        numpy.testing.assert_allclose(arrays["deviation"], FIELD.std(axis=0, ddof=1), rtol=1e-13)
    facts_of(podere, saved, "--correlation", "-o", "out.h5")
    expected = numpy.corrcoef(FIELD, rowvar=False)
    with h5py.File(podere.folder / "out.h5") as file:
        assert sorted(file) == ["correlation", "deviation", "mean"]
        numpy.testing.assert_allclose(file["correlation"][:], expected, atol=1e-14)
    assert (facts["rows"], facts["columns"], facts["values"], facts["constant"]) == (ROWS, COLUMNS, "float64", [])
    upper = sorted(((abs(expected[i, j]), i, j) for i in range(COLUMNS) for j in range(i)), reverse=True)[:10]
    for pair, (_, i, j) in zip(facts["strongest"], upper):
        assert pair["columns"] == [f"f{j}", f"f{i}"]
        assert abs(pair["correlation"] - expected[i, j]) < 1e-14


def test_the_bytes_are_the_same_on_any_number_of_executors_and_threads(podere, saved):
    found = set()
    for executors, cores in ((1, 1), (1, 3), (2, 1), (3, 3), (5, 1)):
        podere.done("covariance", saved, "--executors", executors, "--cores", cores, "-o", "out.npz")
        found.add(hashlib.sha256((podere.folder / "out.npz").read_bytes()).hexdigest())
    assert len(found) == 1


def test_means_far_above_what_varies(podere):
    noise = numpy.round(FIELD * 2**8) / 2**20  # such that 1e8 + noise is exact
    numpy.save(podere.folder / "field.npy", 1e8 + noise)
    podere.done("covariance", "field.npy", "-o", "out.npz")
    with numpy.load(podere.folder / "out.npz") as arrays:
        expected = numpy.cov(noise, rowvar=False)
        numpy.testing.assert_allclose(arrays["covariance"], expected, rtol=1e-10, atol=1e-13 * expected.max())


def test_what_was_decided_is_printed(podere):
    values = numpy.where(numpy.arange(COLUMNS) == 7, 0.1, FIELD)
    values[:, 3] = -2 * values[:, 4]
    numpy.savez(podere.folder / "both.npz", X=values, y=RANDOM.integers(0, 2, size=ROWS))
    out = podere.done("covariance", "both.npz", "-o", "out.npz").stdout
    assert "2,500 rows, 31 columns of several types" in out and "taken as any other: 'y' (if not: --drop)" in out
    assert re.search("most correlated columns +correlation\n'f3', 'f4' +-1.000000\n", out)
    assert "constant columns, whose covariances are 0, and correlations NaN: 'f7'" in out
    assert "written: out.npz (covariance, mean, deviation)" in out
    with numpy.load(podere.folder / "out.npz") as arrays:
        assert (arrays["covariance"][7] == 0).all() and arrays["deviation"][7] == 0 and arrays["mean"][7] == 0.1
    podere.done("covariance", "both.npz", "--correlation", "-o", "out.npz")
    with numpy.load(podere.folder / "out.npz") as arrays:
        assert numpy.isnan(arrays["correlation"][7]).all() and numpy.isnan(arrays["correlation"]).sum() == 2 * 31 - 1
    out = podere.done("covariance", "both.npz", "--columns", "f1").stdout
    assert "no two columns vary: there are no correlations" in out and "all are written with -o FILE.npz, FILE.h5 or FOLDER/" in out


def test_text_is_float32_and_columns_have_its_names(podere):
    podere.write("towns.csv", "a,b,c\n" + "".join(f"{i},{i * i},{i % 3}\n" for i in range(20)))
    facts = facts_of(podere, "towns.csv")
    assert facts["values"] == "float32" and facts["strongest"][0]["columns"] == ["a", "b"]


def test_missing_values_become_the_mean_of_their_column(podere):
    values = FIELD.copy()
    values[::7, 3] = numpy.nan
    numpy.save(podere.folder / "field.npy", values)
    facts = facts_of(podere, "field.npy", "--impute", "mean", "-o", "out.npz")
    assert facts["imputed"] == {"f3": 358}
    values[::7, 3] = numpy.nanmean(values[:, 3])
    with numpy.load(podere.folder / "out.npz") as arrays:
        numpy.testing.assert_allclose(arrays["covariance"], numpy.cov(values, rowvar=False), rtol=1e-11, atol=1e-12)


def with_value(value):
    values = FIELD.copy()
    values[1700, 3] = value
    return values


@pytest.mark.parametrize(("array", "options", "words"), [
    (with_value(numpy.nan), [], "field.npy: row 1700, column 'f3': the value is missing or infinite; leave rows or columns out"),
    (with_value(numpy.inf), ["--impute", "mean"], "field.npy: row 1700, column 'f3': the value is missing or infinite"),
    (FIELD[:1], [], "field.npy: has 1 row, covariances are of 2 or more: one does not vary"),
    (FIELD[:0], [], "field.npy: has no rows"),
    (FIELD * 1e200, [], "whose square is no float64: divide it, leave it out with --drop, or find correlations with --correlation"),
    (FIELD, ["--drop", "f77"], "field.npy: has no column 'f77'; did you mean 'f7'?"),
    (FIELD, ["-o", "out.mat"], "out.mat"),
])
def test_what_is_refused(podere, array, options, words):
    numpy.save(podere.folder / "field.npy", array)
    options = options if "-o" in options else [*options, "-o", "out.npz"]
    for executors in (1, 2):
        assert words in podere.refused("covariance", "field.npy", *options, "--executors", executors)
    assert not (podere.folder / "out.npz").exists()


def test_too_many_pairs_of_columns_are_refused_beforehand(podere):
    numpy.save(podere.folder / "wide.npy", numpy.zeros((2, 400_000)))
    line = podere.refused("covariance", "wide.npy", "--executors", 1)
    assert "products of all pairs of 400000 columns take " in line and "use fewer --cores or fewer columns" in line
