"""Files of NumPy: the same rows as text give the same model, byte for byte."""

import gzip
import json
import lzma
import zipfile

import numpy
import pytest

N = 1500
RANDOM = numpy.random.default_rng(8)
Y = RANDOM.integers(0, 2, N)
LEARN = ["train", "gbt", "--trees", 3, "--depth", 3]


def whole(least, most, dtype):
    return RANDOM.integers(least, most, (N, 3), dtype=dtype, endpoint=True)


def real(dtype):
    values = (RANDOM.normal(size=(N, 3)) + Y[:, None]).astype(dtype)
    values[::7, 1] = numpy.nan
    values[::11, 2] = numpy.inf
    return values


def dates(unit, span):
    values = numpy.datetime64("1990-03-01", unit) + RANDOM.integers(0, span, (N, 3)).astype(f"m8[{unit}]")
    values[::5, 1] = numpy.datetime64("NaT")
    return values


TEXTS = numpy.array(["Rome", "Zürich", "東京", "", "🦊 and 🐔", "it's \"so\""])[RANDOM.integers(0, 6, (N, 3))]
ARRAYS = {
    "bool": RANDOM.integers(0, 2, (N, 3)).astype(bool),
    **{f"{kind}{size}": whole(numpy.iinfo(f"{kind}{size}").min, numpy.iinfo(f"{kind}{size}").max, f"{kind}{size}")
       for kind in "iu" for size in (1, 2, 4, 8)},
    **{f"f{size}": real(f"f{size}") for size in (2, 4, 8)},
    "S": numpy.char.encode(TEXTS, "utf-8"),
    "U": TEXTS,
    "M8[M]": dates("M", 400), "M8[W]": dates("W", 2000), "M8[D]": dates("D", 15000), "M8[h]": dates("h", 300000),
    "M8[s]": dates("s", 10**9), "M8[ms]": dates("ms", 10**12), "M8[ns]": dates("ns", 10**18),
    "m8[s]": RANDOM.integers(-10**7, 10**7, (N, 3)).astype("m8[s]"),
}


def text_of(value):
    """As a person would write it."""
    if isinstance(value, (numpy.datetime64, numpy.timedelta64)) and numpy.isnat(value):
        return ""
    if isinstance(value, numpy.datetime64):
        unit = numpy.datetime_data(value)[0]
        return str(value.astype("M8[D]") if unit in "MWD" else value.astype("M8[us]")).replace("T", " ")
    if isinstance(value, numpy.timedelta64):
        return repr(value.astype("m8[s]").astype(int) / 86400)
    if isinstance(value, numpy.floating):
        return repr(float(value))
    value = value.decode() if isinstance(value, bytes) else str(value)
    return '"' + value.replace('"', '""') + '"' if '"' in value else value


def as_csv(podere, name, columns):
    rows = zip(*columns.values(), strict=True)
    lines = [",".join(columns), *(",".join(map(text_of, row)) for row in rows)]
    return podere.write(name, "\n".join(lines) + "\n")


def model_of(podere, *arguments, executors=1):
    podere.done(*LEARN, *arguments, "-o", "m.json", "--executors", executors)
    return (podere.folder / "m.json").read_bytes()


@pytest.mark.parametrize("dtype", ARRAYS)
def test_an_array_of_each_type_is_what_text_is(podere, dtype):
    X = ARRAYS[dtype]
    options = ["--categorical", "f0,f1,f2"] if dtype in "SU" else []
    csv = as_csv(podere, "t.csv", {**{f"f{j}": X[:, j] for j in range(3)}, "label": Y})
    expected = model_of(podere, csv, "--label", "label", *options)
    orders = [X, numpy.asfortranarray(X), X.astype(X.dtype.newbyteorder(">"))]
    numpy.save(podere.folder / "y.npy", Y)
    for i, array in enumerate(orders):
        numpy.save(podere.folder / "X.npy", array)
        found = model_of(podere, "X.npy", "--labels", "y.npy", *options, executors=(1, 3, 3)[i])
        assert found == expected, (dtype, i)
    for save in numpy.savez, numpy.savez_compressed:
        save(podere.folder / "a.npz", X=X, label=Y)
        assert model_of(podere, "a.npz", "--label", "label", *options, executors=3) == expected, save


def test_fields_have_names_kinds_and_padding(podere):
    rows = numpy.zeros(N, numpy.dtype([("mass", "<f8"), ("town", "U9"), ("when", "M8[s]"), ("ok", "?"), ("größe", ">i2"),
                                       ("label", "u1"), ("pair", "f4", (2,)), ("z", "c16")], align=True))
    rows["mass"], rows["town"], rows["when"] = real("f8")[:, 0], ARRAYS["U"][:, 0], dates("s", 10**9)[:, 0]
    rows["ok"], rows["größe"], rows["label"] = ARRAYS["bool"][:, 0], whole(-99, 99, "i2")[:, 0], Y
    numpy.save(podere.folder / "r.npy", rows)
    kept = ["mass", "town", "when", "ok", "größe", "label"]
    csv = as_csv(podere, "t.csv", {name: rows[name] for name in kept})
    expected = model_of(podere, csv, "--categorical", "town")
    for executors in 1, 3:
        assert model_of(podere, "r.npy", "--categorical", "town", "--drop", "pair,z", executors=executors) == expected
    message = podere.refused(*LEARN, "r.npy", "-o", "m.json", "--categorical", "town")
    assert "columns cannot be in a table: 'pair' (float32[2]), 'z' (complex128); leave out with --drop pair,z" in message


def test_packed_arrays_and_low_memory(podere):
    X = real("f4")
    numpy.save(podere.folder / "X.npy", X)
    numpy.save(podere.folder / "y.npy", Y)
    expected = model_of(podere, "X.npy", "--labels", "y.npy")
    for order in X, numpy.asfortranarray(X):
        numpy.save(podere.folder / "X.npy", order)
        plain = (podere.folder / "X.npy").read_bytes()
        (podere.folder / "X.npy.gz").write_bytes(gzip.compress(plain))
        (podere.folder / "X.npy.xz").write_bytes(lzma.compress(plain))
        for name in "X.npy", "X.npy.gz", "X.npy.xz":
            assert model_of(podere, name, "--labels", "y.npy", executors=2) == expected
            assert model_of(podere, name, "--labels", "y.npy", "--low-memory", executors=3) == expected


def test_images_have_the_names_of_idx_files(podere):
    images = RANDOM.integers(0, 256, (N, 4, 5, 3)).astype("u1")
    images[:, 2, 3, 1] = 90 * Y
    csv = as_csv(podere, "t.csv", {**{f"pixel{j + 1}": column for j, column in enumerate(images.reshape(N, 60).T)}, "label": Y})
    expected = model_of(podere, csv)
    numpy.save(podere.folder / "y.npy", Y)
    for order in images, numpy.asfortranarray(images):
        numpy.save(podere.folder / "X.npy", order)
        assert model_of(podere, "X.npy", "--labels", "y.npy", executors=3) == expected


def test_texts_as_labels(podere):
    numpy.save(podere.folder / "X.npy", real("f8"))
    numpy.save(podere.folder / "y.npy", numpy.where(Y, "signal", "background"))
    described = podere.done(*LEARN, "X.npy", "--labels", "y.npy", "-o", "m.json")
    assert "2 classes, 'background', 'signal'" in described.stdout
    measured = json.loads(podere.done("evaluate", "m.json", "X.npy", "--labels", "y.npy", "--json").stdout)
    assert measured["rows"] == N and measured["accuracy"] > 0.7
    podere.done("predict", "m.json", "X.npy", "-o", "p.csv")
    podere.done(*LEARN, "X.npy", "--labels", "y.npy", "-o", "m.json", "--validation", "X.npy", "--validation-labels", "y.npy")


def columns_of(podere, *arguments):
    return [column["name"] for column in json.loads(podere.done("describe", *arguments, "--json").stdout)["columns"]]


def test_arrays_of_an_archive_are_side_by_side(podere):
    save = lambda **arrays: numpy.savez(podere.folder / "a.npz", **arrays)
    X = real("f4")
    save(X=X, y=Y)
    assert columns_of(podere, "a.npz") == ["f0", "f1", "f2", "y"]
    save(angles=X, y=Y)
    assert columns_of(podere, "a.npz") == ["angles0", "angles1", "angles2", "y"]
    save(X=X, Z=X[:, :2], y=Y)
    assert columns_of(podere, "a.npz") == ["X0", "X1", "X2", "Z0", "Z1", "y"]
    save(angles=X, feature_names=numpy.array(["a", "b", "ä"]), y=Y)
    assert columns_of(podere, "a.npz") == ["a", "b", "ä", "y"]


def test_arrays_of_other_rows_are_left_out_by_name(podere):
    X = RANDOM.integers(0, 256, (N, 2, 2)).astype("u1")
    numpy.savez_compressed(podere.folder / "a.npz", x_train=X, y_train=Y, x_test=X[:99], y_test=Y[:99])
    message = podere.refused("describe", "a.npz")
    assert f"'x_test' (99 rows, others have {N}), 'y_test' (99 rows, others have {N}); leave out with --drop x_test,y_test" in message
    assert columns_of(podere, "a.npz", "--drop", "x_test,y_test") == ["pixel1", "pixel2", "pixel3", "pixel4", "y_train"]
    podere.done(*LEARN, "a.npz", "--drop", "x_test,y_test", "--label", "y_train", "-o", "m.json")
    measured = podere.done("evaluate", "m.json", "a.npz", "--drop", "x_train,y_train", "--label", "y_test", "--json")
    assert json.loads(measured.stdout)["rows"] == 99
    numpy.savez(podere.folder / "o.npz", X=X, y=Y, about=numpy.array({"by": "me"}, dtype=object))
    assert "'about' (holds objects of Python, which are pickled" in podere.refused("describe", "o.npz")
    assert columns_of(podere, "o.npz", "--drop", "about")[-1] == "y"


# What is refused.


@pytest.mark.parametrize("array, words", [
    (numpy.zeros((4, 2), complex), "holds values of type complex128, which no table can have: save real and imaginary parts"),
    (numpy.array([{}, []], object), "holds objects of Python, which are pickled"),
    (numpy.zeros((4, 2), "V3"), "holds values of type void24"),
    (numpy.float64(3), "holds a single value"),
    (numpy.zeros((0, 3)), "has no rows"),
    (numpy.zeros((3, 0)), "has no columns"),
    (numpy.zeros((2, 2), [("a", "f4")]), "holds fields in 2 dimensions"),
    (numpy.array([[1, 2], [3, 1e300]]), "row 1, column 'f1': 1e+300 is beyond float32"),
    (numpy.array([b"a\xff", b"b"]), "row 0, column 'f0': 'a\\xff' is not UTF-8"),
])
def test_arrays_that_no_table_can_have(podere, array, words):
    numpy.save(podere.folder / "X.npy", array)
    for executors in 1, 2:
        assert words in podere.refused("describe", "X.npy", "--executors", executors)


def test_files_that_are_damaged(podere):
    numpy.save(podere.folder / "X.npy", real("f8"))
    numpy.save(podere.folder / "y.npy", Y[1:])
    good = (podere.folder / "X.npy").read_bytes()
    bad = podere.folder / "bad.npy"
    for content, words in [(good[:-1], f"byte {len(good) - 1}: the file is cut"), (good + b"x", "the file continues"),
                           (good[:9], "the file ends within its header"), (good[:6] + b"\7" + good[7:], "the version is 7.0"),
                           (good.replace(b"'shape'", b"'shame'"), "it has a key of its own"),
                           (good.replace(b"<f8", b"<q8"), "there is no type '<q8'"),
                           (good.replace(b"(1500, 3)", b"(9**9, 3)"), "the header is none of NumPy")]:
        bad.write_bytes(content)
        assert words in podere.refused("describe", bad)
    assert f"there are {N} rows, and {N - 1} labels in y.npy" in podere.refused(*LEARN, "X.npy", "--labels", "y.npy", "-o", "m.json")
    assert "labels are one column, here are 3" in podere.refused(*LEARN, "X.npy", "--labels", "X.npy", "-o", "m.json")
    message = podere.refused(*LEARN, "X.npy", "--labels", "X.npy", "--label", "f0", "-o", "m.json")
    assert "label and labels are both chosen" in message


def test_archives_that_are_damaged(podere):
    numpy.savez_compressed(podere.folder / "a.npz", X=real("f8"), y=Y)
    good = (podere.folder / "a.npz").read_bytes()
    middle = len(good) // 2
    for name, content in [("cut", good[:-30]), ("begin", b"PK\3\4"), ("bad", good[:middle] + bytes(9) + good[middle + 9:])]:
        (podere.folder / f"{name}.npz").write_bytes(content)
        podere.refused("describe", f"{name}.npz")
    with zipfile.ZipFile(podere.folder / "other.npz", "w") as archive:
        archive.writestr("readme.txt", "x")
        archive.writestr("X.npy", "no array")
    assert "has no array for a table" in podere.refused("describe", "other.npz")
    (podere.folder / "no.npz").write_bytes(b"1,2\n")
    assert "is no archive of NumPy" in podere.refused("describe", "no.npz", "--format", "npz")


def test_labels_may_lie_beside_an_archive(podere):
    X = RANDOM.normal(size=(N, 3)) + Y[:, None]
    numpy.savez(podere.folder / "a.npz", X=X, extra=Y * 2.0)
    numpy.save(podere.folder / "y.npy", Y)
    numpy.savez(podere.folder / "b.npz", X=X, extra=Y * 2.0, label=Y)
    podere.done(*LEARN, "a.npz", "--labels", "y.npy", "-o", "a.json", "--executors", 2)
    podere.done(*LEARN, "b.npz", "--label", "label", "-o", "b.json")
    assert (podere.folder / "a.json").read_bytes() == (podere.folder / "b.json").read_bytes()
    assert "b.npz: has a column 'label', and labels are in y.npy: choose one of them" in podere.refused(*LEARN, "b.npz", "--labels", "y.npy", "-o", "c.json")
    assert "are the same file" in podere.refused(*LEARN, "a.npz", "--labels", "y.npy", "-o", "y.npy")
