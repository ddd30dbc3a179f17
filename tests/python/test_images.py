"""Pictures in Python: features of them as a transformer, and tables of them in a session."""
import pathlib
import pickle

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
        with pytest.raises(TypeError, match="picture 0 is"):
            podere.ImageFeatures(folder / "net.onnx", preprocess="unit", n_jobs=n_jobs).transform(mixed)
    with pytest.raises(ValueError, match="picture 0 is of Pillow's mode I;16"):
        features.transform([Image.fromarray(numpy.zeros((9, 9), dtype=numpy.uint16))])
    one_thread = podere.ImageFeatures(folder / "net.onnx", preprocess="unit", n_jobs=1)
    assert numpy.array_equal(one_thread.transform(paths), made)
    assert features.transform([]).shape == (0, 4)
    gray = numpy.full((9, 9), 50, dtype=numpy.uint8)
    assert numpy.array_equal(features.transform([gray]), features.transform([numpy.stack([gray] * 3, axis=2)]))


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
    for array in (numpy.zeros((3, 3)), numpy.zeros((3, 3, 2), numpy.uint8), numpy.zeros(3, numpy.uint8),
                  numpy.zeros((0, 3), numpy.uint8)):
        with pytest.raises(ValueError, match=r"picture 0 is an array of .*allowed are"):
            features.transform([array])
    (folder / "pictures/a/text.png").write_text("lost")
    with pytest.raises(ValueError, match=r"text\.png: is a text"):
        features.transform(folder / "pictures")
    with pytest.raises(ValueError, match="no such"):
        features.transform(folder / "none")


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
