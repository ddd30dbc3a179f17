"""Files of numbers alone: the rows of the same array that numpy.save wrote, bit for bit."""

import gzip
import json
import lzma

import numpy
import pytest

RANDOM = numpy.random.default_rng(6)
N, COLUMNS = 3000, 4
LEARN = ["train", "gbt", "--label", "f3", "--trees", 3, "--depth", 3]
KINDS = ["float32", "float64", "float16", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]


def values(kind):
    array = (RANDOM.normal(size=(N, COLUMNS)) * 20 + 60).astype(kind)
    array[:, 3] = RANDOM.integers(0, 2, N)
    return array


def raw(kind):
    return ["--format", "raw", "--raw-type", kind, "--raw-columns", COLUMNS]


def models_of(podere, *commands):
    found = []
    for command in commands:
        podere.done(*LEARN, *command, "-o", "model.json")
        found.append((podere.folder / "model.json").read_bytes())
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_rows_are_those_of_numpy(podere, kind):
    array = values(kind)
    numpy.save(podere.folder / "a.npy", array)
    array.tofile(podere.folder / "little.bin")
    array.astype(array.dtype.newbyteorder(">")).tofile(podere.folder / "big.bin")
    expected, *found = models_of(
        podere, ["a.npy"], ["little.bin", *raw(kind)], ["big.bin", *raw(kind), "--big-endian", "--executors", 3])
    assert found == [expected, expected]


def test_the_matrix_is_that_of_numpy_in_float64(podere):
    array = RANDOM.normal(size=(N, COLUMNS)) + 1e8
    numpy.save(podere.folder / "a.npy", array)
    (podere.folder / "a.bin").write_bytes(b"header " + array.astype(">f8").tobytes())
    podere.done("svd", "a.npy", "--rank", 2, "--center", "-o", "expected.npz")
    for executors in (1, 2, 3, 5):
        out = podere.done("svd", "a.bin", *raw("float64"), "--big-endian", "--skip-bytes", 7, "--rank", 2, "--center", "-o",
                          "out.npz", "--executors", executors).stdout
        assert "3,000 rows, 4 columns of float64" in out
        assert (podere.folder / "out.npz").read_bytes() == (podere.folder / "expected.npz").read_bytes()


def test_packed_files_several_files_and_labels_of_their_own(podere):
    array = values("float32")
    numpy.save(podere.folder / "a.npy", array[:, :3])
    numpy.save(podere.folder / "y.npy", array[:, 3])
    content = numpy.ascontiguousarray(array[:, :3]).tobytes()
    (podere.folder / "a.bin").write_bytes(content)
    (podere.folder / "a.gz").write_bytes(gzip.compress(content))
    (podere.folder / "a.xz").write_bytes(lzma.compress(content))
    (podere.folder / "parts").mkdir()
    for part in range(3):
        (podere.folder / f"parts/{part}.bin").write_bytes(content[part * 12000:(part + 1) * 12000])
    learn = ["train", "gbt", "--labels", "y.npy", "--trees", 3]
    podere.done(*learn, "a.npy", "-o", "expected.json")
    for name in ("a.bin", "a.gz", "a.xz", "parts/"):
        podere.done(*learn, name, "--format", "raw", "--raw-type", "float32", "--raw-columns", 3, "-o", "model.json", "--executors", 2)
        assert (podere.folder / "model.json").read_bytes() == (podere.folder / "expected.json").read_bytes(), name


def test_rows_and_columns_are_chosen_and_missing_values_are_found(podere):
    array = values("float32")
    array[5, 1] = numpy.nan
    array.tofile(podere.folder / "a.bin")
    array[100:2000, [2, 1, 3]].tofile(podere.folder / "b.bin")
    whole = json.loads(podere.done("describe", "a.bin", *raw("float32"), "--json").stdout)
    assert whole["rows"] == N and [column["name"] for column in whole["columns"]] == ["f0", "f1", "f2", "f3"]
    podere.done("svd", "a.bin", *raw("float32"), "--rows", "100:2000", "--columns", "f2,f1", "--rank", 2, "-o", "some.npz")
    podere.done("svd", "b.bin", "--format", "raw", "--raw-type", "float32", "--raw-columns", 3, "--drop", "f2", "--rank", 2, "-o", "expected.npz")
    assert (podere.folder / "some.npz").read_bytes() == (podere.folder / "expected.npz").read_bytes()
    assert "row 5, column 'f1'" in podere.refused("svd", "a.bin", *raw("float32"), "--rank", 1)


@pytest.mark.parametrize("options, words", [
    (["--format", "raw"], "a.bin: no header says what is in it: choose --raw-type, such as float32, and --raw-columns"),
    (["--format", "raw", "--raw-type", "float32"], "choose --raw-type, such as float32, and --raw-columns"),
    (["--format", "raw", "--raw-type", "float32", "--raw-columns", "7"],
     "a.bin: its 48000 bytes are no whole number of rows: 7 columns of float32 are 28 bytes a row"),
    (["--format", "raw", "--raw-type", "int8", "--raw-columns", "1", "--skip-bytes", "48001"],
     "its 48000 bytes are no whole number of rows after the 48001 to skip: 1 column of int8 are 1 bytes a row"),
    (["--format", "raw", "--raw-type", "float32", "--raw-columns", "0"], "a.bin: --raw-columns is 0, allowed is 1 to 10000000"),
    (["--format", "raw", "--raw-type", "float80", "--raw-columns", "3"], "raw-type is 'float80', allowed are float32, float64, "),
    (["--raw-type", "float32", "--raw-columns", "4"], "cannot be chosen"),
    (["--format", "raw", "--raw-type", "float32", "--raw-columns", "4", "--key", "a"], "key cannot be chosen: it is a file of numbers"),
])
def test_what_does_not_fit_is_refused(podere, options, words):
    values("float32").tofile(podere.folder / "a.bin")
    for command in (["svd", "a.bin", "--rank", 1], ["describe", "a.bin"]):
        assert words in podere.refused(*command, *options)


def test_options_of_other_formats_are_refused_of_matrices(podere):
    numpy.save(podere.folder / "a.npy", values("float32"))
    assert "a.npy: raw-columns cannot be chosen" in podere.refused("svd", "a.npy", "--rank", 1, "--raw-columns", 4)
    assert "a.npy: key cannot be chosen" in podere.refused("svd", "a.npy", "--rank", 1, "--key", "a")
