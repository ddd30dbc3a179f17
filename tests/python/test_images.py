"""Pictures in Python: features of them as a transformer, and tables of them in a session."""
import os
import pathlib
import pickle
import shutil

import numpy
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import podere

onnx = pytest.importorskip("onnx")
pytest.importorskip("onnx.numpy_helper")
Image = pytest.importorskip("PIL.Image")
SIDE = 8


@pytest.fixture
def pictures(tmp_path, monkeypatch):
    """Thirty in three folders, and a network: a convolution, and the mean of each channel."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    random_numbers = numpy.random.default_rng(3)
    node, info = onnx.helper.make_node, onnx.helper.make_tensor_value_info
    kernel = random_numbers.normal(size=(4, 3, 1, 1)).astype(numpy.float32)
    graph = onnx.helper.make_graph(
        [node("Conv", ["x", "kernel"], ["sums"], kernel_shape=[1, 1]), node("Relu", ["sums"], ["active"]),
         node("GlobalAveragePool", ["active"], ["pool"])],
        "g", [info("x", onnx.TensorProto.FLOAT, ["N", 3, SIDE, SIDE])], [info("pool", onnx.TensorProto.FLOAT, ["N", 4, 1, 1])],
        [onnx.numpy_helper.from_array(kernel, "kernel")])
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 13)])
    model.ir_version = 8
    onnx.save(model, str(tmp_path / "net.onnx"))
    for i in range(30):
        values = random_numbers.integers(60 * (i % 3), 60 * (i % 3) + 100, size=(12, 10, 3), dtype=numpy.uint8)
        (tmp_path / "pictures" / "abc"[i % 3]).mkdir(parents=True, exist_ok=True)
        Image.fromarray(values).save(tmp_path / "pictures" / "abc"[i % 3] / f"{i:02}.png")
    return tmp_path, kernel


def expected(path, kernel):
    small = Image.open(path).convert("RGB").resize((SIDE, SIDE), Image.BILINEAR)
    values = numpy.asarray(small, dtype=numpy.float64) / 255
    return numpy.maximum(values @ kernel[:, :, 0, 0].T, 0).mean(axis=(0, 1))


def test_all_ways_to_give_pictures_make_the_same_features(pictures):
    folder, kernel = pictures
    features = podere.ImageFeatures(folder / "net.onnx", preprocess="unit", n_jobs=2)
    paths = sorted((folder / "pictures").rglob("*.png"))
    made = features.fit_transform(paths)
    assert made.dtype == numpy.float32 and made.shape == (30, 4)
    assert numpy.allclose(made, [expected(path, kernel) for path in paths], rtol=1e-5)
    pillow = [Image.open(path) for path in paths]
    for others in (folder / "pictures", str(folder / "pictures/*/*.png"), numpy.array([str(path) for path in paths]), pillow,
                   [numpy.asarray(picture) for picture in pillow], numpy.stack([numpy.asarray(p) for p in pillow])):
        assert numpy.array_equal(features.transform(others), made)
    mixed = [*paths[:20], *pillow[20:]]  # refused for any number of threads
    for n_jobs in (1, 2):
        with pytest.raises(TypeError, match="picture 0 is a path and picture 20 is PngImageFile: give paths alone, or pictures"):
            podere.ImageFeatures(folder / "net.onnx", preprocess="unit", n_jobs=n_jobs).transform(mixed)
    with pytest.raises(ValueError, match="picture 0 is of Pillow's mode I;16"):
        features.transform([Image.fromarray(numpy.zeros((9, 9), dtype=numpy.uint16))])
    one_thread = podere.ImageFeatures(folder / "net.onnx", preprocess="unit", n_jobs=1)
    assert numpy.array_equal(one_thread.transform(paths), made)
    assert features.transform([]).shape == (0, 4)
    gray = numpy.full((9, 9), 50, dtype=numpy.uint8)
    assert numpy.array_equal(features.transform([gray]), features.transform([numpy.stack([gray] * 3, axis=2)]))


def test_names_of_files_need_not_be_text(pictures):
    folder, _ = pictures
    network = {"model": folder / "net.onnx", "preprocess": "unit"}
    features = podere.ImageFeatures(**network)
    paths = sorted((folder / "pictures/a").glob("*.png"))
    made = features.transform(paths)
    odd = os.fsencode(folder) + b"/odd \xff"
    os.mkdir(odd)
    names = [odd + b"/\xe9%02d.png" % i for i in range(len(paths))]
    for path, name in zip(paths, names):
        shutil.copy(path, name)
    for X in (names, [os.fsdecode(name) for name in names], [pathlib.Path(os.fsdecode(name)) for name in names], odd,
              os.fsdecode(odd), odd + b"/*.png", [names[0], *map(os.fsdecode, names[1:])], numpy.array(names)):
        assert numpy.array_equal(features.transform(X), made)
    shutil.copy(folder / "net.onnx", odd + b"/net.onnx")
    (pathlib.Path(os.fsdecode(odd)) / "net.json").write_text('{"divisor": 255}')
    for preprocess in ("unit", None, pathlib.Path(os.fsdecode(odd)) / "net.json"):
        other = podere.ImageFeatures(os.fsdecode(odd) + "/net.onnx", preprocess=preprocess)
        assert numpy.array_equal(other.transform(names), made)
    with open(names[3], "w") as file:
        file.write("lost")
    with pytest.raises(ValueError, match=r"odd \\xff/\\xe903\.png: is a text"):
        features.transform(names)
    with pytest.raises(ValueError, match=r"none\\xff\.onnx: cannot be read|none\\xff\.onnx: "):
        podere.ImageFeatures(os.fsencode(folder) + b"/none\xff.onnx", preprocess="unit").fit()
    for empty in ("", b"a.png\0"):
        with pytest.raises(ValueError, match="picture 1 is .*, allowed is a path"):
            features.transform([paths[0], empty])
        with pytest.raises(ValueError, match="X is .*, allowed is a path"):
            features.transform(empty)
    with podere.Session(executors=1) as s:
        for what in ({"path": odd}, {"path": os.fsdecode(odd)}, {"path": folder / "pictures", "model": odd + b"/net.onnx"},
                     {"path": folder / "pictures", "size": 4, "labels": odd + b"/l.csv"}):
            with pytest.raises(ValueError, match=r"(path|model|labels) is '.*odd \\udcff.*', which is no UTF-8: rename it"):
                s.read_images(**what)
        with pytest.raises(TypeError, match=r"path is \[.*\], allowed is a path"):
            s.read_images(names)
        assert s.read_images(os.fsencode(folder / "pictures"), size=4).shape == (30, 16)


def test_what_is_white_may_be_chosen(pictures, tmp_path):
    folder, _ = pictures
    values = numpy.random.default_rng(5).integers(0, 256, size=(20, 30), dtype=numpy.uint8)
    Image.fromarray(values).save(tmp_path / "8.png")
    Image.fromarray(values.astype(numpy.uint16) * 16).save(tmp_path / "12.png")
    expected = podere.ImageFeatures(folder / "net.onnx", preprocess="unit").transform([tmp_path / "8.png"])
    with pytest.raises(ValueError, match="12.png: has values of 16 bits and uses 12 of them"):
        podere.ImageFeatures(folder / "net.onnx", preprocess="unit").transform([tmp_path / "12.png"])
    features = podere.ImageFeatures(folder / "net.onnx", preprocess="unit", bits=12)
    assert numpy.array_equal(features.transform([tmp_path / "12.png"]), expected)
    with pytest.raises(ValueError, match="bits is 7, allowed is a whole number from 8 to 32"):
        podere.ImageFeatures(folder / "net.onnx", preprocess="unit", bits=7).fit()


def test_features_are_a_transformer(pictures):
    folder, _ = pictures
    features = podere.ImageFeatures(folder / "net.onnx", "active", "unit")
    assert clone(features).get_params() == features.get_params()
    names = features.get_feature_names_out()
    assert len(names) == 4 * SIDE * SIDE and names[0].startswith("feature1@")
    features.set_params(layer="pool")
    assert features.transform(folder / "pictures").shape == (30, 4)
    again = pickle.loads(pickle.dumps(features))
    assert numpy.array_equal(again.transform(folder / "pictures"), features.transform(folder / "pictures"))
    paths = [str(path) for path in sorted((folder / "pictures").rglob("*.png"))]
    labels = [pathlib.Path(path).parent.name for path in paths]
    head = make_pipeline(features, LogisticRegression(C=100)).fit(paths, labels)
    assert head.score(paths, labels) > 0.8


def test_what_cannot_be_is_refused(pictures):
    folder, _ = pictures
    net = folder / "net.onnx"
    with pytest.raises(ValueError, match="preprocess=imagenet"):
        podere.ImageFeatures(net).fit()
    with pytest.raises(ValueError, match="has no tensor 'pol': did you mean 'pool'"):
        podere.ImageFeatures(net, "pol", "unit").fit()
    with pytest.raises(ValueError, match="size is 9, the network takes"):
        podere.ImageFeatures(net, preprocess="unit", size=9).fit()
    with pytest.raises(TypeError, match="layer is 3"):
        podere.ImageFeatures(net, 3).fit()
    features = podere.ImageFeatures(net, preprocess="unit", n_jobs=1)
    for shape in ((9, 9), (9, 9, 3)):
        with pytest.raises(ValueError, match="which is one picture: give .X."):
            features.transform(numpy.zeros(shape, dtype=numpy.uint8))
    paths = sorted((folder / "pictures").rglob("*.png"))
    (folder / "twice.txt").write_text("\n".join(map(str, [paths[0], paths[1], paths[0]])))
    assert len(features.transform(folder / "twice.txt")) == 3
    with pytest.raises(TypeError, match="X is int"):
        features.transform(3)
    with pytest.raises(TypeError, match="picture 1 is int"):
        features.transform([numpy.zeros((3, 3), numpy.uint8), 3])
    for array in (numpy.zeros((5, 3, 2), numpy.uint8), numpy.zeros(3, numpy.uint8), numpy.zeros((0, 3), numpy.uint8),
                  numpy.zeros((2, 3, 3, 3), numpy.uint8)):
        with pytest.raises(ValueError, match=r"picture 0 is an array of .*allowed are"):
            features.transform([array])
    (folder / "pictures/a/text.png").write_text("lost")
    with pytest.raises(ValueError, match=r"text\.png: is a text"):
        features.transform(folder / "pictures")
    with pytest.raises(ValueError, match="no such"):
        features.transform(folder / "none")


def test_arrays_of_other_kinds_are_refused_with_what_to_do(pictures):
    features = podere.ImageFeatures(pictures[0] / "net.onnx", preprocess="unit", n_jobs=1)
    values = numpy.random.default_rng(7).integers(0, 256, size=(12, 10, 3), dtype=numpy.uint8)
    made = features.transform([values])
    kinds = [
        ((values / 255).astype(numpy.float32), r"float32 \[12, 10, 3\]: 8 bits .* give \(255 \* x\)\.round"),
        (values > 127, r"bool \[12, 10, 3\]: 8 bits .* give 255 \* x\.astype"),
        (values.astype(numpy.uint16) * 256, r"uint16 \[12, 10, 3\]: 8 bits are needed: give the path of its file and bits="),
        (values.transpose(2, 0, 1), r"uint8 \[3, 12, 10\]: the channels come last, give .transpose\(1, 2, 0\)"),
        (numpy.dstack([values, values[:, :, :1]]), r"uint8 \[12, 10, 4\]: leave out alpha, as \[:, :, :3\] does"),
    ]
    for array, words in kinds:
        with pytest.raises(ValueError, match="picture 1 is an array of " + words):
            features.transform([values, array])
        with pytest.raises(ValueError, match="picture 0 is an array of " + words):
            features.transform(numpy.stack([array, array]))
    # What the messages say to do makes the same features.
    assert numpy.array_equal(features.transform([(255 * (values / 255)).round().astype("uint8")]), made)
    assert numpy.array_equal(features.transform([values.transpose(2, 0, 1).transpose(1, 2, 0)]), made)
    with pytest.raises(ValueError, match=r"X is an array of float64 \[9, 64\], allowed are a folder"):
        features.transform(numpy.zeros((9, 64)))
    with pytest.raises(TypeError, match=r"X is Image, which is one picture: give \[X\]"):
        features.transform(Image.fromarray(values))
    with pytest.raises(TypeError, match="X is set, allowed are"):
        features.transform({"a.png"})

    class Tensor:
        permute = None
    with pytest.raises(TypeError, match=r"picture 0 is Tensor: give \.permute\(1, 2, 0\)\.numpy\(\)"):
        features.transform([Tensor()])


def test_paths_may_be_a_column_of_a_data_frame(pictures):
    pandas = pytest.importorskip("pandas")
    folder, _ = pictures
    features = podere.ImageFeatures(folder / "net.onnx", preprocess="unit")
    paths = [str(path) for path in sorted((folder / "pictures").rglob("*.png"))]
    made = features.transform(paths)
    frame = pandas.DataFrame({"path": paths, "other": 1.0})
    assert numpy.array_equal(features.transform(frame["path"]), made)
    assert numpy.array_equal(features.transform(frame[["path"]]), made)
    with pytest.raises(ValueError, match="X has 2 columns, allowed is 1"):
        features.transform(frame)


def test_a_session_reads_pictures_and_their_features(pictures):
    folder, kernel = pictures
    network = {"model": folder / "net.onnx", "layer": "pool", "preprocess": "unit"}
    with podere.Session(executors=2) as s:
        table = s.read_images(folder / "pictures", **network)
        assert table.shape == (30, 4)
        names = list(podere.ImageFeatures(**network).get_feature_names_out())
        assert list(table.features) == names
        assert list((folder / "cache").rglob("*.features"))
        model = s.fit(podere.GBTClassifier(n_estimators=5, min_child_weight=0.01), table)
        X = podere.ImageFeatures(**network).transform(folder / "pictures")
        assert list(model.classes_) == ["a", "b", "c"] and len(model.predict(X)) == 30
        again = s.read_images(folder / "pictures", **network, cache=False)
        assert model.evaluate(again)["accuracy"] == model.evaluate(table)["accuracy"] > 0.5
        pixels = s.read_images(folder / "pictures", size=4, channels=3, fit="crop")
        assert pixels.shape == (30, 48)
        with pytest.raises(ValueError, match="lacks columns that the model needs: feature1@"):
            model.evaluate(pixels)
        with pytest.raises(ValueError, match="needs the size"):
            s.read_images(folder / "pictures")
