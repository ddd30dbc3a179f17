"""Singular values and vectors of matrices, as a user finds them: beside NumPy's, and the same bytes on any executors."""

import hashlib
import json
import os
import signal

import h5py
import numpy
import pandas
import pytest

RANDOM = numpy.random.default_rng(4)
ROWS, COLUMNS, RANK = 2500, 40, 6
NAMED = ("V", "mean", "deviation")  # with a row for each column of the matrix
UMASK = os.umask(0)
os.umask(UMASK)


def field():
    """Float64 with values that float32 has not, leading patterns and noise."""
    patterns = RANDOM.normal(size=(ROWS, 5)) @ (RANDOM.normal(size=(5, COLUMNS)) * 3 / numpy.arange(1, 6)[:, None])
    return patterns + 0.1 * RANDOM.normal(size=(ROWS, COLUMNS)) + 10


FIELD = field()


def aligned(found, expected):
    """Columns with the signs of the expected ones."""
    return found * numpy.sign(numpy.sum(found * expected, axis=0))


def expect_svd(arrays, values):
    u, s, vt = numpy.linalg.svd(values, full_matrices=False)
    numpy.testing.assert_allclose(arrays["s"], s[:RANK], rtol=1e-12)
    numpy.testing.assert_allclose(aligned(arrays["V"], vt[:RANK].T), vt[:RANK].T, atol=1e-9)
    if "U" in arrays:
        numpy.testing.assert_allclose(aligned(arrays["U"], u[:, :RANK]), u[:, :RANK], atol=1e-9)
    largest = arrays["V"][numpy.abs(arrays["V"]).argmax(axis=0), range(RANK)]
    assert (largest > 0).all()


@pytest.fixture
def saved(podere):
    numpy.save(podere.folder / "field.npy", FIELD)
    return "field.npy"


def facts_of(podere, *arguments):
    return json.loads(podere.done("svd", *arguments, "--rank", RANK, "--json").stdout)


@pytest.mark.parametrize("method", ["auto", "gram", "krylov"])
def test_values_and_vectors_are_those_of_numpy(podere, saved, method):
    facts = facts_of(podere, saved, "--method", method, "-o", "out.npz")
    with numpy.load(podere.folder / "out.npz") as arrays:
        assert sorted(arrays) == ["U", "V", "residuals", "s", "shares"]
        expect_svd(arrays, FIELD)
        assert all(facts[name] == arrays[name].tolist() for name in ("s", "shares", "residuals"))
    assert (facts["rows"], facts["columns"], facts["values"]) == (ROWS, COLUMNS, "float64")
    assert facts["has_converged"] and facts["resolved"] == RANK
    assert facts["method"] == ("gram" if method == "auto" else method)
    assert max(facts["residuals"]) < 1e-10 and max(facts["orthogonality"].values()) < 1e-9
    numpy.testing.assert_allclose(facts["shares"], numpy.square(facts["s"]) / numpy.square(FIELD).sum(), rtol=1e-10)


@pytest.mark.parametrize("options", [["--center"], ["--scale"]], ids=["centered", "scaled"])
def test_principal_components(podere, saved, options):
    facts = facts_of(podere, saved, *options, "-o", "out.npz")
    values = FIELD - FIELD.mean(axis=0)
    if options == ["--scale"]:
        values /= FIELD.std(axis=0, ddof=1)
    with numpy.load(podere.folder / "out.npz") as arrays:
        expect_svd(arrays, values)
        numpy.testing.assert_allclose(arrays["mean"], FIELD.mean(axis=0), rtol=1e-14)
        if options == ["--scale"]:
            numpy.testing.assert_allclose(arrays["deviation"], FIELD.std(axis=0, ddof=1), rtol=1e-10)
    variances = numpy.square(numpy.linalg.svd(values, compute_uv=False))
    numpy.testing.assert_allclose(facts["shares"], (variances / variances.sum())[:RANK], rtol=1e-10)


def test_the_bytes_are_the_same_on_any_number_of_executors_and_threads(podere, saved):
    found = set()
    for method in ("gram", "krylov"):
        for executors, cores in ((1, 1), (1, 3), (2, 1), (3, 3), (5, 1)):
            podere.done("svd", saved, "--rank", RANK, "--center", "--method", method, "--executors", executors, "--cores",
                        cores, "-o", "out.npz")
            found.add((method, hashlib.sha256((podere.folder / "out.npz").read_bytes()).hexdigest()))
    assert len(found) == 2, found


def test_other_files_make_the_same_matrix(podere, saved):
    """By rows of another order in memory, in HDF5, in an archive, and of a field with two dimensions of columns."""
    expected = facts_of(podere, saved, "-o", "expected.npz")["s"]
    numpy.save(podere.folder / "fortran.npy", numpy.asfortranarray(FIELD))
    numpy.save(podere.folder / "cube.npy", FIELD.reshape(ROWS, 5, 8))
    numpy.savez(podere.folder / "archive.npz", X=FIELD)
    with h5py.File(podere.folder / "field.h5", "w") as file:
        file.create_dataset("temperature", data=FIELD, chunks=(100, 10))
    for name in ("fortran.npy", "cube.npy", "archive.npz", "field.h5"):
        assert facts_of(podere, name, "-o", "out.npz")["s"] == expected, name
        assert (podere.folder / "out.npz").read_bytes() == (podere.folder / "expected.npz").read_bytes(), name


def test_text_and_kept_tables_are_float32_and_that_is_printed(podere, tmp_path_factory):
    rows = FIELD.astype(numpy.float32)
    numpy.savetxt(podere.folder / "field.csv", rows, delimiter=",", fmt="%.9g")
    facts = facts_of(podere, "field.csv", "-o", "out.npz")
    with numpy.load(podere.folder / "out.npz") as arrays:
        expect_svd(arrays, rows.astype(float))
    assert facts["values"] == "float32"
    assert "40 columns of float32" in podere.done("svd", "field.csv", "--rank", 2).stdout
    runtime = {"XDG_RUNTIME_DIR": str(tmp_path_factory.mktemp("run"))}
    podere.done("session", "start", "s", "--executors", 2, environment=runtime)
    try:
        podere.done("session", "load", "s", "field.csv", "--as", "field", environment=runtime)
        podere.done("svd", "table:field", "--rank", RANK, "--session", "s", "-o", "kept.npz", environment=runtime)
    finally:
        podere.done("session", "stop", "s", environment=runtime)
    assert (podere.folder / "kept.npz").read_bytes() == (podere.folder / "out.npz").read_bytes()


def test_columns_and_rows_are_chosen(podere, saved):
    facts = facts_of(podere, saved, "--drop", "f0,f39", "--rows", "100:2000")
    expected = numpy.linalg.svd(FIELD[100:2000, 1:39], compute_uv=False)
    numpy.testing.assert_allclose(facts["s"], expected[:RANK], rtol=1e-12)
    facts = facts_of(podere, saved, "--columns", "f7,f3,f1,f2,f4,5,f6")
    expected = numpy.linalg.svd(FIELD[:, [7, 3, 1, 2, 4, 5, 6]], compute_uv=False)
    numpy.testing.assert_allclose(facts["s"], expected[:RANK], rtol=1e-12)


def test_means_far_above_what_varies(podere):
    numpy.save(podere.folder / "field.npy", FIELD + 1e6)
    facts = facts_of(podere, "field.npy", "--center", "-o", "out.npz")
    values = FIELD + 1e6
    with numpy.load(podere.folder / "out.npz") as arrays:
        expect_svd(arrays, values - values.mean(axis=0))
    assert facts["has_converged"]


def test_small_values_beside_a_large_one(podere):
    numpy.save(podere.folder / "field.npy", FIELD + 1e4)
    facts = facts_of(podere, "field.npy")
    numpy.testing.assert_allclose(facts["s"], numpy.linalg.svd(FIELD + 1e4, compute_uv=False)[:RANK], rtol=1e-9)


def test_few_values_are_more_than_rounding(podere):
    numpy.save(podere.folder / "low.npy", numpy.outer(numpy.arange(1, 301.0), numpy.arange(1, 11.0)))
    out = podere.done("svd", "low.npy", "--rank", 3, "-o", "out.npz").stdout
    assert "2 of the values are no more than rounding makes of zero; their columns of U are zeros" in out
    with numpy.load(podere.folder / "out.npz") as arrays:
        assert (arrays["U"][:, 1:] == 0).all() and abs(numpy.linalg.norm(arrays["U"][:, 0]) - 1) < 1e-14


def test_a_column_that_may_be_a_label_is_named(podere):
    numpy.savez(podere.folder / "both.npz", X=FIELD, y=numpy.arange(ROWS))
    out = podere.done("svd", "both.npz", "--rank", 2).stdout
    assert "41 columns of several types" in out and "called as labels are, and taken as any other: 'y' (if not: --drop)" in out
    assert "called as labels" not in podere.done("svd", "both.npz", "--rank", 2, "--drop", "y").stdout


def test_a_limit_of_passes_that_is_too_low_is_printed(podere):
    numpy.save(podere.folder / "noise.npy", RANDOM.normal(size=(3000, 200)))
    out = podere.done("svd", "noise.npy", "--rank", 30, "--method", "krylov", "--passes", 3).stdout
    assert "residuals are above --tolerance 1e-10 and rounding" in out and "vectors are written with -o FILE.npz, FILE.h5 or FOLDER/" in out


@pytest.mark.parametrize("exponent", [-200, 200])
def test_huge_and_tiny_values(podere, exponent):
    numpy.save(podere.folder / "field.npy", FIELD * 10.0**exponent)
    facts = facts_of(podere, "field.npy", "--center", "-o", "out.npz")
    expected = numpy.linalg.svd(FIELD - FIELD.mean(axis=0), compute_uv=False)
    numpy.testing.assert_allclose(numpy.array(facts["s"]) / 10.0**exponent, expected[:RANK], rtol=1e-9)


def with_value(value):
    values = FIELD.copy()
    values[1700, 3] = value
    return values


@pytest.mark.parametrize(("array", "options", "words"), [
    (with_value(numpy.nan), [], "field.npy: row 1700, column 'f3': the value is missing or infinite"),
    (with_value(-numpy.inf), [], "field.npy: row 1700, column 'f3': the value is missing or infinite"),
    (FIELD, ["--rank", "41"], "rank must be from 1 to 40, of 2500 rows and 40 columns; it is 41"),
    (FIELD[:3], ["--rank", "4"], "rank must be from 1 to 3, of 3 rows and 40 columns; it is 4"),
    (FIELD[:0], ["--rank", "1"], "field.npy: has no rows"),
    (numpy.where(numpy.arange(40) == 7, 0.1, FIELD), ["--scale"], "column 'f7' is constant, and cannot be scaled"),
    (FIELD, ["--drop", "f77"], "field.npy: has no column 'f77'; did you mean 'f7'?"),
    (FIELD, ["--columns", "f1,1"], "field.npy: column 'f1' is chosen twice"),
    (FIELD, ["--missing", "10000"], "field.npy: missing cannot be chosen"),
    (FIELD.astype("U8"), [], "a matrix has numbers, and 40 columns have none: 'f0' (U8), "),
    (FIELD[:, :1].astype("U8"), ["--rank", "1"], "a matrix has numbers, and 1 column has none: 'f0' (U8); leave it out"),
    (with_value(numpy.nan), [], "leave rows or columns out (--rows, --drop, --drop-missing), or fill them in (--impute mean)"),
    (with_value(numpy.inf), ["--impute", "mean"], "field.npy: row 1700, column 'f3': the value is missing or infinite"),
    (numpy.where(numpy.arange(40) == 7, numpy.nan, FIELD), ["--impute", "mean"], "field.npy: column 'f7' has no values, and no mean"),
])
def test_what_no_matrix_is(podere, array, options, words):
    numpy.save(podere.folder / "field.npy", array)
    options = options if "--rank" in options else [*options, "--rank", "2"]
    for executors in (1, 2):
        assert words in podere.refused("svd", "field.npy", *options, "--executors", executors, "-o", "out.npz")


def test_missing_values_become_the_mean_of_their_column(podere):
    values = FIELD.copy()
    lost = RANDOM.uniform(size=values.shape) < numpy.linspace(0, 0.3, COLUMNS)
    lost[:, 5:] = False
    values[lost] = numpy.nan
    numpy.save(podere.folder / "field.npy", values)
    numpy.save(podere.folder / "filled.npy", numpy.where(lost, numpy.nanmean(values, axis=0), values))
    expected = facts_of(podere, "filled.npy", "--center", "-o", "expected.npz")["s"]
    found = set()
    for executors, cores in ((1, 1), (2, 2), (5, 1)):
        facts = facts_of(podere, "field.npy", "--center", "--impute", "mean", "-o", "out.npz", "--executors", executors,
                         "--cores", cores)
        found.add((podere.folder / "out.npz").read_bytes())
    assert len(found) == 1
    numpy.testing.assert_allclose(facts["s"], expected, rtol=1e-12)
    assert facts["imputed"] == {f"f{j}": n for j, n in enumerate(lost.sum(axis=0).tolist()) if n}
    out = podere.done("svd", "field.npy", "--rank", 2, "--impute", "mean").stdout
    assert f"missing values filled in with their column's mean: {lost.sum():,}, in 'f1', 'f2', 'f3', 'f4'" in out
    assert "no values are missing" in podere.done("svd", "filled.npy", "--rank", 2, "--impute", "mean").stdout


def test_columns_without_values_are_left_out_and_the_others_have_their_places(podere):
    values = FIELD.copy()
    values[:, [0, 7, 8, COLUMNS - 1]] = numpy.nan
    values[100, 3] = numpy.nan
    numpy.save(podere.folder / "field.npy", values)
    found = set()
    for executors, cores in ((1, 1), (2, 2), (5, 1)):
        facts = facts_of(podere, "field.npy", "--center", "--drop-missing", "--impute", "mean", "-o", "out.npz",
                         "--executors", executors, "--cores", cores)
        found.add((podere.folder / "out.npz").read_bytes())
    assert len(found) == 1
    assert (facts["columns"], facts["without_values"], facts["imputed"]) == (COLUMNS - 4, 4, {"f3": 1})
    kept = [j for j in range(COLUMNS) if j not in (0, 7, 8, COLUMNS - 1)]
    with numpy.load(podere.folder / "out.npz") as arrays:
        assert arrays["columns"].tolist() == kept and arrays["V"].shape == (COLUMNS - 4, RANK)
        rest = values[:, kept]
        rest[100, kept.index(3)] = numpy.delete(rest[:, kept.index(3)], 100).mean()
        numpy.testing.assert_allclose(arrays["s"], numpy.linalg.svd(rest - rest.mean(axis=0), compute_uv=False)[:RANK])
    out = podere.done("svd", "field.npy", "--rank", 2, "--drop-missing", "--impute", "mean").stdout
    assert "columns without a value in any row, left out: 4" in out
    refused = podere.refused("svd", "field.npy", "--rank", 2, "--drop-missing")
    assert "row 100, column 'f3': the value is missing or infinite" in refused
    numpy.save(podere.folder / "nothing.npy", numpy.full((5, 3), numpy.nan))
    assert "nothing.npy: all values are missing" in podere.refused("svd", "nothing.npy", "--rank", 1, "--drop-missing")


@pytest.mark.parametrize("ending", ["h5", "hdf5"])
def test_hdf5_has_the_arrays_of_the_archive(podere, saved, ending):
    podere.done("svd", saved, "--rank", RANK, "--scale", "-o", "expected.npz")
    found = set()
    for executors, cores in ((1, 1), (2, 1), (3, 2), (5, 1)):
        podere.done("svd", saved, "--rank", RANK, "--scale", "-o", f"out.{ending}", "--executors", executors, "--cores", cores)
        found.add((podere.folder / f"out.{ending}").read_bytes())
    assert len(found) == 1
    with h5py.File(podere.folder / f"out.{ending}") as file, numpy.load(podere.folder / "expected.npz") as expected:
        assert sorted(file) == sorted(expected) == ["U", "V", "deviation", "mean", "residuals", "s", "shares"]
        for name in expected:
            assert file[name].dtype == numpy.float64
            numpy.testing.assert_array_equal(file[name][:], expected[name], err_msg=name)
    podere.done("svd", saved, "--rank", RANK, "--no-left", "-o", f"out.{ending}", "--executors", 2)
    with h5py.File(podere.folder / f"out.{ending}") as file:
        assert sorted(file) == ["V", "residuals", "s", "shares"]
    scores = json.loads(podere.done("svd", f"out.{ending}", "--key", "V", "--rank", 1, "--json").stdout)
    assert (scores["rows"], scores["columns"]) == (COLUMNS, RANK)


def folder_bytes(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize("ending", ["npy", "csv"])
def test_a_folder_has_a_file_for_each_array(podere, saved, ending):
    podere.done("svd", saved, "--rank", RANK, "--scale", "-o", "expected.npz")
    found = []
    for executors, cores in ((1, 1), (2, 1), (3, 2), (5, 1)):
        out = podere.done("svd", saved, "--rank", RANK, "--scale", "-o", f"out{executors}/", "--output-format", ending,
                          "--executors", executors, "--cores", cores).stdout
        found.append(folder_bytes(podere.folder / f"out{executors}"))
        assert f"written: out{executors}/ (U, s, V)" in out
    assert all(files == found[0] for files in found)
    with numpy.load(podere.folder / "expected.npz") as expected:
        assert sorted(found[0]) == sorted(f"{name}.{ending}" for name in expected)
        for name, values in expected.items():
            path = podere.folder / "out3" / f"{name}.{ending}"
            assert path.stat().st_mode & 0o777 == 0o666 & ~UMASK
            if ending == "npy":
                numpy.testing.assert_array_equal(numpy.load(path), values)
            else:
                frame = pandas.read_csv(path, float_precision="round_trip", index_col="column" if name in NAMED else None)
                numpy.testing.assert_array_equal(frame.to_numpy().reshape(values.shape), values)
                assert list(frame.columns) == ([name] if values.ndim == 1 else [f"{name}{k + 1}" for k in range(RANK)])
                assert name not in NAMED or list(frame.index) == [f"f{j}" for j in range(COLUMNS)]
    assert (podere.folder / "out3").stat().st_mode & 0o777 == 0o777 & ~UMASK
    assert not list(podere.folder.glob("*.part-*"))
    read = json.loads(podere.done("svd", f"out3/V.{ending}", "--rank", 1, "--json", *(["--drop", "column"] if ending == "csv" else []))
                      .stdout)
    assert (read["rows"], read["columns"]) == (COLUMNS, RANK)


def test_names_of_columns_are_quoted(podere):
    numpy.savetxt(podere.folder / "field.csv", FIELD[:200, :3], delimiter=",", header='"a,b",c,"d""e"', comments="")
    podere.done("svd", "field.csv", "--rank", 1, "--no-left", "-o", "out", "--output-format", "csv")
    assert sorted(folder_bytes(podere.folder / "out")) == ["V.csv", "residuals.csv", "s.csv", "shares.csv"]
    assert list(pandas.read_csv(podere.folder / "out/V.csv")["column"]) == ["a,b", "c", 'd"e']


@pytest.mark.parametrize("arguments", [
    ["out.npy"], ["out.csv"], ["out.nc"], ["out/"], ["there"], ["out.csv", "--output-format", "csv"], ["out.npz", "--output-format", "npy"],
    ["out.h5", "--output-format", "npz"], ["there", "--output-format", "hdf5"]])
def test_outputs_that_are_not_clear_are_refused(podere, saved, arguments):
    (podere.folder / "there").mkdir()
    line = podere.refused("svd", saved, "--rank", 2, "-o", *arguments)
    assert line == (f"podere: {arguments[0]}: several arrays are written: as FILE.npz (NumPy) or FILE.h5 (HDF5), or a file of each "
                    "into FOLDER/ with --output-format npy or csv")
    assert not (podere.folder / "out").exists()


def test_a_folder_appears_whole_or_not_at_all(podere, saved):
    (podere.folder / "there").mkdir()
    (podere.folder / "there/mine.txt").write_text("mine")
    command = ["svd", saved, "--rank", 2, "--output-format", "csv"]
    assert podere.refused(*command, "-o", "there") == (
        f"podere: {podere.folder.resolve()}/there: is a folder with something in it, which would be lost: remove it, or name another")
    assert podere.refused(*command, "-o", "field.npy/").endswith(
        "field.npy: is a file, and a folder is to be made there: name another")
    assert "cannot be written" in podere.refused(*command, "-o", "nowhere/out")
    assert "--output-format requires --output" in podere.refused(*command)
    assert "'txt', allowed are npz, hdf5, npy, csv" in podere.refused("svd", saved, "--rank", 2, "-o", "out", "--output-format", "txt")
    numpy.save(podere.folder / "field.npy", with_value(numpy.nan))
    podere.refused(*command, "-o", "out")
    assert sorted(path.name for path in podere.folder.iterdir()) == ["field.npy", "there"]
    numpy.save(podere.folder / "field.npy", FIELD)
    (podere.folder / "empty").mkdir()
    podere.done(*command, "-o", "empty/")
    assert sorted(folder_bytes(podere.folder / "empty")) == ["U.csv", "V.csv", "residuals.csv", "s.csv", "shares.csv"]


def test_a_key_names_an_array_of_an_archive_and_is_refused_elsewhere(podere, saved):
    numpy.savez(podere.folder / "grid.npz", sst=FIELD.reshape(ROWS, 5, 8), slp=FIELD + 1, lat=numpy.arange(5.0))
    expected = facts_of(podere, saved)["s"]
    assert facts_of(podere, "grid.npz", "--key", "sst")["s"] == expected
    out = podere.done("svd", "grid.npz", "--drop", "lat", "--rank", 1).stdout
    assert "columns are 'sst' (5 x 8), 'slp' (40), side by side (for one alone: --key slp)" in out
    assert "grid.npz: has no array 'tos'; it has 'sst', 'slp', 'lat'" in podere.refused("svd", "grid.npz", "--key", "tos", "--rank", 1)
    for command in ("svd", "describe"):
        assert "field.npy: key cannot be chosen" in podere.refused(command, saved, "--key", "sst", *(["--rank", 1] if command == "svd" else []))
    assert len(json.loads(podere.done("describe", "grid.npz", "--key", "slp", "--json").stdout)["columns"]) == COLUMNS


def test_a_grid_of_a_quarter_of_a_degree(podere):
    values = RANDOM.normal(size=(3, 720, 1440)).astype("f4")
    numpy.save(podere.folder / "grid.npy", values)
    facts = json.loads(podere.done("svd", "grid.npy", "--rank", 2, "--no-left", "--json").stdout)
    expected = numpy.linalg.svd(values.reshape(3, -1).astype(float), compute_uv=False)
    numpy.testing.assert_allclose(facts["s"], expected[:2], rtol=1e-12)
    assert facts["columns"] == 1_036_800
    line = podere.refused("describe", "grid.npy")
    assert "grid.npy: 1036800 columns are more than the 1000000 features that a table can have; take some with --columns" in line


def test_an_hdf5_file_that_cannot_be_written_is_refused(podere, saved):
    assert "nowhere" in podere.refused("svd", saved, "--rank", 2, "-o", "nowhere/out.h5")


def test_text_is_refused_in_words_of_svd(podere):
    podere.write("towns.csv", "a,town,b\n" + "".join(f"{i},Bath,{i * i}\n" for i in range(20)))
    line = podere.refused("svd", "towns.csv", "--rank", 1)
    assert "leave out with --drop town, or name a text for missing values with --missing" in line
    assert "--categorical" not in line and "--label" not in line
    podere.done("svd", "towns.csv", "--drop", "town", "--rank", 1)
    podere.write("days.csv", "a,day\n" + "".join(f"{i},2026-01-{i + 10}\n" for i in range(20)))
    assert "this column has categories or dates: 'day'; leave it out" in podere.refused("svd", "days.csv", "--rank", 1)
    podere.write("numbers.csv", "y,a\n" + "".join(f"{i}x,{i}\n" for i in range(20)))
    assert "leave out with --drop y" in podere.refused("svd", "numbers.csv", "--rank", 1)


def test_help_offers_what_a_matrix_has(podere):
    text = podere.done("svd", "--help").stdout
    for option in ("--label", "--weight", "--drop-unlabeled", "--date-parts", "--day-first", "--labels"):
        assert f"{option} " not in text, option
    data, of_text = text.index("\nData"), text.index("\nDelimited text")
    assert data < text.index("--key") < of_text < text.index("--delimiter")


def test_too_many_pairs_of_columns_are_refused_beforehand(podere):
    numpy.save(podere.folder / "wide.npy", numpy.zeros((2, 400_000)))
    line = podere.refused("svd", "wide.npy", "--rank", 1, "--method", "gram", "--executors", 1)
    assert "products of all pairs of 400000 columns (--method gram) take " in line
    assert "use --method krylov with a smaller --rank, fewer --cores, or fewer columns" in line


def test_a_lost_executor_costs_time_and_nothing_else(podere):
    numpy.save(podere.folder / "noise.npy", RANDOM.normal(size=(30_000, 200)))
    command = ["svd", "noise.npy", "--rank", 40, "--method", "krylov", "--tolerance", "1e-14", "--passes", 20]
    podere.done(*command, "-o", "expected.npz")
    process = podere.start(*command, "--executors", 3, "-o", "out.npz")
    os.kill(podere.executors(3)[1], signal.SIGKILL)
    _, stderr = process.communicate(timeout=180)
    assert process.returncode == 0 and "lost executor" in stderr, stderr
    assert (podere.folder / "out.npz").read_bytes() == (podere.folder / "expected.npz").read_bytes()


def test_values_at_the_ends_of_float64(podere):
    values = RANDOM.normal(size=(300, 6))
    numpy.save(podere.folder / "tiny.npy", values * 1e-303)
    found = json.loads(podere.done("svd", "tiny.npy", "--rank", 2, "--json").stdout)["s"]
    numpy.testing.assert_allclose(found, numpy.linalg.svd(values, compute_uv=False)[:2] * 1e-303, rtol=1e-6)
    numpy.save(podere.folder / "huge.npy", values * 1e300)
    assert "column 'f" in podere.refused("svd", "huge.npy", "--rank", 2, "-o", "out.npz")
    numpy.save(podere.folder / "narrow.npy", values * numpy.array([1, 1, 1e-310, 1, 1, 1]))
    assert "column 'f2' is constant" in podere.refused("svd", "narrow.npy", "--rank", 2, "--scale")


def test_rows_in_messages_are_those_of_the_file(podere):
    numpy.save(podere.folder / "field.npy", with_value(numpy.nan))
    assert "row 1700, column 'f3'" in podere.refused("svd", "field.npy", "--rows", "1000:2000", "--rank", 2)
