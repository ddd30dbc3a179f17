"""Files that are not delimited text: IDX, which MNIST has, and libsvm."""

import gzip
import json
import os
import signal

import numpy
import pytest
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

from test_session import session  # noqa: F401, a fixture

IMAGES, LABELS = "train-images-idx3-ubyte", "train-labels-idx1-ubyte"


def idx_bytes(array):
    shape = numpy.array(array.shape, ">u4").tobytes()
    return bytes([0, 0, 8, array.ndim]) + shape + array.astype(numpy.uint8).tobytes()


def digits(n, seed):
    """Images of 6 x 5 with a bright row for each of 4 classes; their frame is always dark, as MNIST's is."""
    random = numpy.random.default_rng(seed)
    y = random.integers(0, 4, n)
    X = numpy.zeros((n, 6, 5), numpy.uint8)
    X[:, 1:5, 1:4] = random.integers(0, 120, (n, 4, 3))
    X[numpy.arange(n), 1 + y, 1:4] += 100
    return X, y


@pytest.fixture
def images(podere):
    for name, n in (("train", 3000), ("t10k", 1500)):
        X, y = digits(n, n)
        packed = gzip.compress if name == "train" else bytes
        end = ".gz" if name == "train" else ""
        (podere.folder / f"{name}-images-idx3-ubyte{end}").write_bytes(packed(idx_bytes(X)))
        (podere.folder / f"{name}-labels-idx1-ubyte{end}").write_bytes(packed(idx_bytes(y)))
    return IMAGES + ".gz"


def as_csv(podere, name, n):
    X, y = digits(n, n)
    lines = [",".join(["class"] + [f"pixel{i + 1}" for i in range(30)])]
    lines += [",".join(map(str, [label, *row])) for label, row in zip(y, X.reshape(n, 30))]
    return podere.write(name, "\n".join(lines) + "\n")


NN = ["--loss", "cross-entropy", "--layers", "16", "--epochs", "8", "--batch-size", "100"]


def test_a_network_learns_from_images_and_their_labels(podere, images):
    facts = json.loads(podere.done("train", "nn", images, *NN, "--validation", "t10k-images-idx3-ubyte", "-o", "n.json", "--json").stdout)
    assert (facts["rows"], facts["features"], facts["validation_rows"]) == (3000, 30, 1500)
    measured = json.loads(podere.done("evaluate", "n.json", "t10k-images-idx3-ubyte", "--json").stdout)
    assert measured["rows"] == 1500 and measured["accuracy"] > 0.97
    podere.done("predict", "n.json", "t10k-images-idx3-ubyte", "--rows", "10:20", "-o", "p.csv")
    predicted = numpy.loadtxt(podere.folder / "p.csv", delimiter=",").argmax(axis=1)
    assert (predicted == digits(1500, 1500)[1][10:20]).all()


@pytest.mark.parametrize("learn", [["nn", *NN], ["gbt", "--objective", "softmax", "--trees", "3"]])
def test_the_model_is_that_of_the_same_rows_as_csv_on_any_number_of_executors(podere, images, learn):
    csv = as_csv(podere, "rows.csv", 3000)
    podere.done("train", *learn, csv, "-o", "csv.json", "--executors", 2)
    podere.done("train", *learn, images, "-o", "idx.json", "--executors", 3)
    models = [json.loads((podere.folder / name).read_text())["model"] for name in ("csv.json", "idx.json")]
    assert models[0]["schema"].pop("label") == "class" and models[1]["schema"].pop("label") == "label"
    assert models[0] == models[1]
    # Each model takes the other's rows: features have the same names, and labels need none.
    test = as_csv(podere, "test.csv", 1500)
    measured = [json.loads(podere.done("evaluate", model, *rows, "--json").stdout)
                for model, *rows in (["csv.json", "t10k-images-idx3-ubyte"], ["idx.json", test, "--label", "class"])]
    assert [measured[0][key] == measured[1][key] for key in ("log_loss", "confusion")] == [True, True]


def test_low_memory_and_explanations_take_images_too(podere, images):
    learn = ["train", "gbt", images, "--objective", "softmax", "--trees", 3]
    podere.done(*learn, "-o", "a.json")
    podere.done(*learn, "-o", "b.json", "--low-memory", "--executors", 2)
    assert (podere.folder / "a.json").read_bytes() == (podere.folder / "b.json").read_bytes()
    explained = json.loads(podere.done("explain", "a.json", "t10k-images-idx3-ubyte", "--json").stdout)
    best = {feature["name"] for feature in explained["features"][:6]}
    assert best <= {f"pixel{5 * row + column + 1}" for row in range(1, 5) for column in range(1, 4)}


def test_describe_and_columns_of_images(podere, images):
    columns = json.loads(podere.done("describe", images, "--columns", "pixel7,pixel1", "--json").stdout)["columns"]
    assert [column["name"] for column in columns] == ["pixel7", "pixel1", "label"]
    assert columns[1]["maximum"] == 0 and columns[2]["maximum"] == 3


def test_a_session_reads_them_again_when_executors_are_lost(podere, session, images):  # noqa: F811
    session.start("s", "--executors", 2, "--cores", 1)
    session("load", "s", images, "--as", "digits")
    session("load", "s", podere.write("a.svm", "1 1:1\n0 2:1\n"), "--as", "sparse", "--features", 5)

    def columns_of(table):
        result = podere.done("describe", table, "--session", "s", "--json", environment=session.environment)
        return json.loads(result.stdout)["columns"]

    expected = columns_of("table:digits")
    assert expected[-1]["name"] == "label" and len(columns_of("table:sparse")) == 6
    os.kill(podere.executors(2)[0], signal.SIGKILL)
    assert columns_of("table:digits") == expected


def test_images_to_validate_on_have_the_size_of_those_trained_on(podere, images):
    small, labels = numpy.zeros((20, 3, 3), numpy.uint8), numpy.arange(20, dtype=numpy.uint8) % 2
    (podere.folder / "small-images-idx3-ubyte").write_bytes(idx_bytes(small))
    (podere.folder / "small-labels-idx1-ubyte").write_bytes(idx_bytes(labels))
    message = podere.refused("train", "nn", "small-images-idx3-ubyte", "--validation", images, "-o", "n.json")
    assert f"validation data {images}: it has" in message and "features, the rows trained on have 9" in message


@pytest.mark.parametrize("kind", [["gbt", "--objective", "softmax", "--trees", 1],
                                  ["nn", "--loss", "cross-entropy", "--layers", 4, "--epochs", 1]], ids=["trees", "network"])
def test_images_to_predict_have_the_size_of_those_trained_on(podere, images, kind):
    podere.done("train", *kind, images, "-o", "m.json")
    for name, side in (("small", 3), ("large", 8)):
        (podere.folder / f"{name}-images-idx3-ubyte").write_bytes(idx_bytes(numpy.zeros((20, side, side), numpy.uint8)))
        (podere.folder / f"{name}-labels-idx1-ubyte").write_bytes(idx_bytes(numpy.arange(20, dtype=numpy.uint8) % 2))
        words = f"the model takes pictures of 30 pixels, those of the data have {side * side}"
        assert words in podere.refused("predict", "m.json", f"{name}-images-idx3-ubyte", "-o", "p.csv")
        assert words in podere.refused("evaluate", "m.json", f"{name}-images-idx3-ubyte", "--executors", 2)


# What is wrong with IDX files.


def test_idx_files_that_are_refused(podere, images):
    good = gzip.decompress((podere.folder / images).read_bytes())
    cut = podere.folder / "cut-images"
    cut.write_bytes(good[:-1])
    assert "cut-images: byte 90015: the file is cut" in podere.refused("describe", cut)
    cut.write_bytes(good + b"0")
    assert "byte 90016: the file continues" in podere.refused("describe", cut)
    cut.write_bytes(good[:2] + b"\x07" + good[3:])
    assert "byte 2: the type is 0x07" in podere.refused("describe", cut, "--executors", 2)
    message = podere.refused("train", "nn", images, "--labels", "t10k-labels-idx1-ubyte", "-o", "n.json")
    assert "there are 3000 rows, and 1500 labels in t10k-labels-idx1-ubyte" in message
    (podere.folder / "t10k-labels-idx1-ubyte").unlink()
    message = podere.refused("train", "gbt", "t10k-images-idx3-ubyte", "-o", "n.json")
    assert "has no labels: there is no t10k-labels-idx1-ubyte; say where they are with --labels" in message
    assert "label cannot be chosen" in podere.refused("describe", images, "--label", "0")
    assert "there is no feature 'pixel31'; there are pixel1 to pixel30" in podere.refused("describe", images, "--columns", "pixel31")


def test_labels_are_not_overwritten(podere, images):
    podere.done("train", "gbt", images, "--objective", "softmax", "--trees", 1, "-o", "m.json")
    for command in (["train", "gbt", images, "--objective", "softmax"], ["predict", "m.json", images]):
        assert "are the same file" in podere.refused(*command, "-o", LABELS + ".gz")


# libsvm.


def test_a_file_of_scikit_learn_is_what_it_wrote(podere):
    random = numpy.random.default_rng(5)
    X = random.normal(size=(2500, 40)).astype(numpy.float32) * (random.random((2500, 40)) < 0.2)
    X[:, 7] = numpy.abs(X[:, 7])
    y = (X[:, 0] + X[:, 3] > 0).astype(int)
    path = podere.folder / "rows.svm"
    dump_svmlight_file(X, y, str(path), zero_based=False, comment="written by a test")
    back, labels = load_svmlight_file(str(path), n_features=40)
    assert (labels == y).all()
    csv = podere.write("rows.csv", "\n".join(
        ",".join([str(label), *(repr(float(value)) for value in row)]) for label, row in zip(y, back.toarray())) + "\n")
    for executors in (1, 3):
        described = [json.loads(podere.done("describe", name, "--executors", executors, "--json").stdout)
                     for name in (path, csv)]
        assert described[0]["rows"] == 2500
        by_name = {column["name"]: column for column in described[0]["columns"]}
        assert by_name.pop("label")["mean"] == pytest.approx(y.mean())
        for column in [*by_name.values(), *described[1]["columns"]]:
            column.pop("examples")  # of delimited text
        assert list(by_name.values()) == described[1]["columns"][1:]  # the label is f0 there
    for name, model in ((path, "a.json"), (csv, "b.json")):
        podere.done("train", "gbt", name, "--trees", 5, "-o", model)
    models = [json.loads((podere.folder / name).read_text())["model"] for name in ("a.json", "b.json")]
    assert models[0]["schema"].pop("label") == "label" and models[1]["schema"].pop("label") == "f0"
    assert models[0] == models[1]


def test_rows_without_a_label_are_left_out_in_the_file(podere):
    podere.write("some.svm", "1 1:2\nnan 1:3\n0 1:4\n")
    line = podere.refused("train", "gbt", "some.svm", "-o", "m.json")
    assert line.endswith("some.svm: the label 'label' is missing in 1 of 3 rows, first in row 1 (from 0): leave out such rows in the file")
    assert "drop-unlabeled cannot be chosen" in podere.refused("train", "gbt", "some.svm", "--drop-unlabeled", "-o", "m.json")


def test_whole_numbers_that_float32_rounds_are_printed(podere):
    ids = numpy.arange(16777216, 16777246)
    podere.write("ids.svm", "".join(f"{i % 2} 1:{i % 3} 2:{number} 3:{number}.5\n" for i, number in enumerate(ids)))
    (podere.folder / "ids-idx2").write_bytes(bytes([0, 0, 12, 2]) + numpy.array([30, 2], ">u4").tobytes()
                                             + numpy.stack([ids % 3, ids], axis=1).astype(">i4").tobytes())
    for name, column in (("ids.svm", "f2"), ("ids-idx2", "f1")):
        for options in ((), ("--executors", 2)):
            facts = json.loads(podere.done("describe", name, *options, "--json").stdout)
            assert facts["files"] == [{"file": name, "rounded": [{"column": column, "step": 2, "only_numbers": True}]}]
        assert podere.done("describe", name).stdout.splitlines()[0] == (
            f"{name}: column {column} holds whole numbers beyond 2^24, which float32 rounds, here to multiples of up to 2: some that differ become equal")
    for options in ((), ("--low-memory",)):
        facts = json.loads(podere.done("train", "gbt", "ids.svm", "--trees", 1, *options, "-o", "m.json", "--json").stdout)
        assert [column["column"] for column in facts["files"][0]["rounded"]] == ["f2"], options


def test_a_model_takes_files_of_fewer_and_of_more_features(podere):
    random = numpy.random.default_rng(6)
    X = (random.random((3000, 12)) < 0.4) * random.normal(size=(3000, 12))
    y = (X[:, 1] > 0).astype(int)
    write = lambda name, X, y: dump_svmlight_file(X, y, str(podere.folder / name), zero_based=False)  # noqa: E731
    write("train.svm", X[:2000], y[:2000])
    write("whole.svm", X[2000:], y[2000:])
    narrow = X[2000:].copy()
    narrow[:, 5:] = 0  # what is 0 is not written
    write("narrow.svm", narrow, y[2000:])
    write("wide.svm", numpy.hstack([X[2000:], numpy.ones((1000, 3))]), y[2000:])
    for train in (["gbt", "--trees", 10], ["nn", "--layers", 8, "--epochs", 5, "--validation", "narrow.svm"]):
        podere.done("train", *train, "train.svm", "-o", "m.json")
        predictions = {}
        for name in ("whole", "narrow", "wide"):
            podere.done("predict", "m.json", f"{name}.svm", "-o", f"{name}.csv")
            predictions[name] = (podere.folder / f"{name}.csv").read_text()
        assert predictions["wide"] == predictions["whole"]
        csv = podere.write("narrow.txt", "\n".join(",".join(map(repr, map(float, [0, *row]))) for row in narrow) + "\n")
        podere.done("predict", "m.json", csv, "-o", "same.csv")
        assert predictions["narrow"] == (podere.folder / "same.csv").read_text()
        assert json.loads(podere.done("evaluate", "m.json", "narrow.svm", "--json").stdout)["rows"] == 1000
    podere.done("train", "gbt", "narrow.svm", "--features", 12, "--trees", 1, "-o", "n.json")
    assert len(json.loads(podere.done("model", "n.json", "--json").stdout)["features"]) == 12


@pytest.mark.parametrize("second", ["+1 5:1 7:1", "+1 5:1 7:1 9:2"])
def test_a_libsvm_file_read_as_csv_is_refused_with_the_format(podere, second):
    path = podere.write("a9a", f"-1 3:1 11:1 14:1\n{second}\n-1 1:1 2:1 3:1\n")
    assert "a libsvm file is read with --format libsvm" in podere.refused("train", "gbt", path, "--no-header", "-o", "m.json")
    assert "a libsvm file is read with --format libsvm" in podere.done("describe", path).stdout
    podere.done("describe", path, "--format", "libsvm")


def test_indices_that_count_from_zero_and_names_without_an_end(podere):
    path = podere.write("rows", "1 0:1 4:2\n0 2:1\n")
    columns = json.loads(podere.done("describe", path, "--format", "libsvm", "--zero-based", "--json").stdout)["columns"]
    assert [column["name"] for column in columns] == ["f0", "f1", "f2", "f3", "f4", "label"]
    assert "rows:1: index 0, where indices count from 1: say --zero-based" in podere.refused("describe", path, "--format", "libsvm")


@pytest.mark.parametrize("executors", [1, 3])
@pytest.mark.parametrize("row, message", [
    ("1 3:1 2:1", "index 2 stands behind 3; they must rise"), ("1 3:1 3:2", "index 3 stands twice"),
    ("1 3:x", "the value of index 3 is 'x', which is no number"), ("yes 3:1", "the label is 'yes', which is no number"),
    ("1 qid:2 3:1", "'qid:2' is of rows that are to be ranked"), ("1 3", "'3' is not index:value"),
    ("1 1000001:1", "index 1000001 is beyond the 1000000 features")])
def test_rows_that_are_refused(podere, row, message, executors):
    rows = [f"{i % 2} 1:{i} 3:0.5" for i in range(3000)]
    path = podere.write("rows.svm", "\n".join([*rows[:2000], row, *rows[2000:]]) + "\n")
    assert f"rows.svm:2001: {message}" in podere.refused("train", "gbt", path, "-o", "m.json", "--executors", executors)


def test_a_table_beyond_the_memory_is_refused_before_it_is_made(podere):
    path = podere.write("rows.svm", "1 1:1\n" * 1_000_000 + "1 1000000:1\n")
    assert "with 1000000 columns take 4000.0 GB of memory" in podere.refused("describe", path, "--executors", 2)


def test_labels_of_minus_one_are_classes_as_those_of_csv_are(podere):
    measures = []
    for name, text in (("a.svm", "-1 1:1\n+1 1:2\n" * 20), ("a.csv", "-1,1\n1.0,2\n" * 20)):
        data = podere.write(name, text)
        facts = json.loads(podere.done("train", "gbt", data, "--trees", 3, "-o", f"{name}.json", "--json").stdout)
        assert facts["label"]["classes"] == ["-1", "1"] and facts["objective"] == "logistic"
        measures += [json.loads(podere.done("evaluate", f"{name}.json", data, "--json").stdout)["confusion"]]
    assert measures == [[[20, 0], [0, 20]]] * 2
    other = podere.write("b.svm", "-1 1:1\n0 1:2\n")
    assert "the label of row 1 is 0, allowed are -1, 1" in podere.refused("evaluate", "a.svm.json", other, "--executors", 2)
    texts = podere.write("t.csv", "x,y\n" + "1,no\n2,yes\n" * 20)
    podere.done("train", "gbt", texts, "--trees", 1, "-o", "t.json")
    line = podere.refused("evaluate", "t.json", other)
    assert "b.svm: the label 'label' holds numbers, and the model's classes are texts: 'no', 'yes'" in line, line
