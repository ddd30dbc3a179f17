"""Features of pictures: the values of a layer of a network, as a table for everything that takes one."""

import csv
import hashlib
import json
import os
import re
import shutil
import stat

import numpy
import pytest
from conftest import needed

needed("onnx")
needed("PIL")

from test_classify import SIDE, make_pictures, weights, write_network  # noqa: E402

Image = __import__("PIL.Image").Image
NET = "model=net.onnx&preprocess=unit"


@pytest.fixture
def pictures(podere):
    """Thirty of three kinds, which a label says, and the network of test_classify."""
    write_network(podere.folder / "net.onnx")
    return make_pictures(podere.folder / "pictures", 30)


def features(picture):
    """Of the layer "d": the mean of each channel behind the convolution, of a Pillow picture."""
    known = weights()
    small = picture.convert("RGB").resize((SIDE, SIDE), Image.BILINEAR)
    values = numpy.pad(numpy.asarray(small, dtype=numpy.float64) / 255, ((1, 1), (1, 1), (0, 0)))
    patches = numpy.stack([values[i:i + SIDE, j:j + SIDE] for i in range(3) for j in range(3)], axis=2)
    kernel = known["kernel"].transpose(2, 3, 1, 0).reshape(9 * 3, 6)
    return numpy.maximum(patches.reshape(SIDE, SIDE, 27) @ kernel + known["kernel_bias"], 0).mean(axis=(0, 1))


def train(podere, source, *options, what="gbt"):
    chosen = ["--trees", "3", "--depth", "3", "--min-child-weight", "0.1"] if what == "gbt" else ["--layers", "8"]
    podere.done("train", what, source, *chosen, "-o", "m.json", *options)
    return (podere.folder / "m.json").read_bytes()


def test_features_are_those_of_a_plain_computation(podere, pictures):
    facts = json.loads(podere.done("describe", f"images:pictures?{NET}&layer=d", "--json").stdout)
    columns = {column["name"]: column for column in facts["columns"]}
    expected = numpy.array([features(picture) for picture in pictures.values()])
    names = [name for name in columns if name != "label"]
    assert [name.split("@")[0] for name in names] == [f"feature{i}" for i in range(1, 7)]
    assert len({name.split("@")[1] for name in names}) == 1
    for k, name in enumerate(names):
        assert columns[name]["minimum"] == pytest.approx(expected[:, k].min(), rel=1e-5)
        assert columns[name]["maximum"] == pytest.approx(expected[:, k].max(), rel=1e-5)
        assert columns[name]["mean"] == pytest.approx(expected[:, k].mean(), rel=1e-5)


@pytest.mark.parametrize("what", ["gbt", "mlp", "nn"])
def test_a_model_of_features_is_the_same_on_any_number_of_executors(podere, pictures, what):
    source = f"images:pictures?{NET}&layer=d"
    alone = train(podere, source, what=what)
    for executors in (2, 3, 5):
        assert train(podere, source, "--executors", executors, what=what) == alone
    if what == "gbt":
        assert train(podere, source, "--low-memory", what=what) == alone
    facts = json.loads(podere.done("evaluate", "m.json", source, "--json").stdout)
    assert facts["rows"] == 30
    (podere.folder / "new").mkdir()
    shutil.copy(podere.folder / "pictures/a/00000.png", podere.folder / "new")
    podere.done("predict", "m.json", f"images:new?{NET}&layer=d", "-o", "p.csv")
    assert len((podere.folder / "p.csv").read_text().splitlines()) == 1
    simulated = f"sem:12?seed=1&{NET}&layer=d"
    assert train(podere, simulated, "--executors", 3, what=what) == train(podere, simulated, what=what)


def test_a_layer_of_any_shape_is_features(podere, pictures):
    train(podere, f"images:pictures?{NET}&layer=a")
    assert len(json.loads((podere.folder / "m.json").read_text())["model"]["schema"]["features"]) == 6 * SIDE * SIDE
    train(podere, f"images:pictures?{NET}")
    assert len(json.loads((podere.folder / "m.json").read_text())["model"]["schema"]["features"]) == 4


def test_a_model_is_applied_to_the_features_that_it_learned_alone(podere, pictures):
    train(podere, f"images:pictures?{NET}&layer=d")
    shutil.copy(podere.folder / "net.onnx", podere.folder / "copy.onnx")  # the same network of another name
    podere.done("evaluate", "m.json", "images:pictures?model=copy.onnx&preprocess=unit&layer=d")
    write_network(podere.folder / "other.onnx", operator="Sigmoid")
    for query in ["model=other.onnx&preprocess=unit&layer=d", "model=net.onnx&preprocess=raw&layer=d", f"{NET}&layer=c",
                  NET]:
        for command in (["evaluate", "m.json"], ["predict", "m.json", "-o", "p.csv"]):
            line = podere.refused(*command[:2], f"images:pictures?{query}", *command[2:])
            assert "features of the network" in line and "of its training" in line
    assert "the model learned features of a network" in podere.refused("evaluate", "m.json", "images:pictures?size=8")
    train(podere, "images:pictures?size=8")
    assert "the model learned pixels" in podere.refused("evaluate", "m.json", f"images:pictures?{NET}")


def test_weights_beside_the_network_keep_networks_apart(podere, pictures):
    onnx = needed("onnx")
    model = onnx.load(str(podere.folder / "net.onnx"))
    onnx.save(model, str(podere.folder / "big.onnx"), save_as_external_data=True, location="big.weights",
              size_threshold=0)
    source = "images:pictures?model=big.onnx&preprocess=unit&layer=d"
    train(podere, source)
    podere.done("evaluate", "m.json", source)
    weights_file = podere.folder / "big.weights"
    values = bytearray(weights_file.read_bytes())
    values[3] ^= 0x80  # the sign of a weight
    weights_file.write_bytes(values)
    assert "features of the network" in podere.refused("evaluate", "m.json", source)


def test_preprocessing_and_size_are_found_as_classify_finds_them(podere, pictures):
    (podere.folder / "net.json").write_text('{"divisor": 255}')
    beside = train(podere, "images:pictures?model=net.onnx&layer=d")
    assert beside == train(podere, f"images:pictures?{NET}&layer=d")
    (podere.folder / "sub").mkdir()
    shutil.move(podere.folder / "net.json", podere.folder / "sub/net.json")
    assert beside == train(podere, "images:pictures?model=net.onnx&layer=d&preprocess=sub/net.json")
    write_network(podere.folder / "any.onnx", side=None)
    assert "size= says which, such as size=224" in podere.refused("train", "gbt", "images:pictures?model=any.onnx&layer=d&preprocess=unit",
                                                                 "-o", "x.json")
    train(podere, "images:pictures?model=any.onnx&layer=d&preprocess=unit&size=16")


@pytest.mark.parametrize("query, words", [
    ("model=none.onnx&preprocess=unit", "none.onnx: cannot be read: No such file or directory"),
    ("model=net.onnx", "preprocess=imagenet (as torchvision's networks)"),
    (f"{NET}&layer=dd", "has no tensor 'dd': did you mean 'd'?"),
    (f"{NET}&layer=", "layer is '', allowed are the name of a tensor"),
    ("model=net.onnx&preprocess=sharp", "sharp: is no file that can be read"),
    (f"{NET}&channels=3", "channels is of pixels"),
    (f"{NET}&fit=crop", "fit is of pixels"),
    (f"{NET}&size=20", "size is 20, the network takes pictures of height 16"),
    (f"{NET}&size=16x20", "a network takes one number for both sides"),
    ("size=8&layer=d", "layer is of a network, which model=FILE.onnx names"),
    ("size=8&cache=no", "cache is of a network"),
    ("size=8&preprocess=unit", "preprocess is of a network"),
    ("model=&size=8", "model is '', allowed are the name of a file"),
])
def test_what_cannot_be_is_refused(podere, pictures, query, words):
    for location in (f"images:pictures?{query}", f"sem:3?{query}"):
        if "cache" in query and location.startswith("sem:"):
            continue
        for executors in ("1", "2"):
            assert words in podere.refused("train", "gbt", location, "-o", "m.json", "--executors", executors)


def test_an_output_is_no_input_of_the_features(podere, pictures):
    train(podere, f"images:pictures?{NET}&layer=d")
    (podere.folder / "p.json").write_text("{}")
    for output in ("net.onnx", "pictures/b/00001.tif", "p.json"):
        source = "images:pictures?model=net.onnx&layer=d&preprocess=p.json"
        before = (podere.folder / output).read_bytes()
        for command in (["train", "gbt", source], ["predict", "m.json", source], ["explain", "m.json", source]):
            assert f"-o {output} is a file that images:pictures" in podere.refused(*command, "-o", output)
        assert (podere.folder / output).read_bytes() == before


def test_values_that_are_not_finite_and_damaged_pictures_are_named(podere, pictures):
    write_network(podere.folder / "log.onnx", operator="Log")
    line = podere.refused("train", "gbt", "images:pictures?model=log.onnx&preprocess=unit", "-o", "m.json")
    assert "pictures/" in line and "NaN or infinite values of it in 'scores'" in line
    (podere.folder / "pictures/b/text.tif").write_text("lost\n")
    for executors in ("1", "2"):
        assert "b/text.tif: is a text" in podere.refused("train", "gbt", f"images:pictures?{NET}", "-o", "m.json",
                                                        "--executors", executors)


def forge(file):
    """Other features, which look as if they had been computed: each with its sign turned."""
    kept, length = file.read_bytes(), 64 + 6 * 4 + 16
    forged = b""
    for at in range(0, len(kept), length):
        key, values = kept[at:at + 64], numpy.frombuffer(kept[at + 64:at + length - 16], "<f4")
        record = key + (-values).astype("<f4").tobytes()
        forged += record + hashlib.sha256(record).hexdigest()[:16].encode()
    file.write_bytes(forged)


def test_features_are_kept_and_computed_once(podere, pictures):
    source = f"images:pictures?{NET}&layer=d"
    home = {"environment": {"XDG_CACHE_HOME": "", "HOME": str(podere.folder / "home")}}

    def features_of(query="", executors=1):
        facts = json.loads(podere.done("describe", source + query, "--json", "--executors", executors, **home).stdout)
        return [column["mean"] for column in facts["columns"]][:6]

    right = features_of("&cache=no")
    assert not (podere.folder / "home").exists()
    assert features_of(executors=3) == right
    files = sorted((podere.folder / "home/.cache/podere/features").rglob("*.features"))
    assert 1 <= len(files) <= 3
    assert stat.S_IMODE(files[0].stat().st_mode) == 0o600
    for executors in (1, 2, 5):
        assert features_of(executors=executors) == right
    sizes = [file.stat().st_size for file in files]
    for file in files:
        forge(file)
    assert features_of(executors=2) == [-mean for mean in right]  # so nothing was computed again
    assert features_of("&cache=no") == right
    assert features_of("&cache=own") == right
    assert list((podere.folder / "own").rglob("*.features"))
    assert [file.stat().st_size for file in files] == sizes
    for file in files:
        content = bytearray(file.read_bytes())
        for at in range(70, len(content), 64 + 6 * 4 + 16):
            content[at] ^= 1
        file.write_bytes(content)
    assert features_of(executors=2) == right  # what is damaged is computed
    picture = podere.folder / "pictures/a/00000.png"
    picture.write_bytes((podere.folder / "pictures/b/00001.tif").read_bytes())
    changed = features_of()
    assert changed != right and changed == features_of("&cache=no")


def test_a_cache_that_cannot_be_written_does_no_harm(podere, pictures):
    source = f"images:pictures?{NET}&layer=d"
    (podere.folder / "full").write_text("no folder")
    assert train(podere, source + "&cache=full") == train(podere, source)


def test_sessions_keep_features(podere, pictures, tmp_path_factory):
    alone = train(podere, f"images:pictures?{NET}&layer=d")
    there = {"XDG_RUNTIME_DIR": str(tmp_path_factory.mktemp("run"))}
    podere.done("session", "start", "s", "--executors", "2", environment=there)
    try:
        relative = os.path.relpath(podere.folder / "pictures", podere.folder)
        podere.done("session", "load", "s", f"images:{relative}?{NET}&layer=d", "--as", "p", environment=there)
        podere.done("train", "gbt", "table:p", "--trees", "3", "--depth", "3", "--min-child-weight", "0.1", "-o",
                    "s.json", "--session", "s", environment=there)
    finally:
        podere.done("session", "stop", "s", environment=there)
    assert (podere.folder / "s.json").read_bytes() == alone


def join(podere, *options):
    return podere.done("convert", "m.json", "--network", "net.onnx", "--preprocess", "unit", "--layer", "d", "-o",
                       "joined.onnx", *options)


def classes_of(podere, *arguments):
    podere.done("classify", "pictures", "--model", "joined.onnx", "-o", "c.csv", *arguments)
    with open(podere.folder / "c.csv", newline="") as lines:
        return list(csv.DictReader(lines))


@pytest.mark.parametrize("what, options", [
    ("mlp", ["--layers", "8"]),
    ("mlp", ["--layers", "8", "--columns", "{3},{1}"]),
    ("nn", ["--loss", "cross-entropy", "--classes", 3, "--layers", "5,4", "--activation", "tanh"]),
    ("nn", ["--positive", "b", "--layers", "4", "--activation", "relu"]),
])
def test_network_and_head_in_one_file_find_the_classes_of_the_head(podere, pictures, what, options):
    is_binary = "--positive" in options
    lines = [f"{name},{'b' if name[0] == 'b' else 'no b'}\n" for name in pictures]
    (podere.folder / "two.csv").write_text("file,label\n" + "".join(lines))
    source = f"images:pictures?{NET}&layer=d" + ("&labels=two.csv" if is_binary else "")
    facts = json.loads(podere.done("describe", source, "--json").stdout)
    names = [column["name"] for column in facts["columns"]]
    options = [option.format(*names) if isinstance(option, str) else option for option in options]
    podere.done("train", what, source, *options, "-o", "m.json")
    text = join(podere).stdout
    assert "podere classify PICTURES --model joined.onnx --labels joined.txt" in text
    kinds = (podere.folder / "joined.txt").read_text().splitlines()
    assert kinds == (["no b", "b"] if is_binary else ["a", "b", "c"])
    found = classes_of(podere, "--labels", "joined.txt", "--top", len(kinds))
    text = podere.done("classify", "pictures", "--model", "net.onnx", "--layer", "d", "--head", "m.json", "--preprocess",
                       "unit", "--top", len(kinds), "-o", "by_head.csv", "--executors", 2).stdout
    assert (podere.folder / "by_head.csv").read_bytes() == (podere.folder / "c.csv").read_bytes()
    assert re.search("classes +as m.json", text)
    assert re.search("preprocessing +unit", text)
    podere.done("predict", "m.json", source, "-o", "p.csv")
    with open(podere.folder / "p.csv") as lines:
        head = [[float(field) for field in line.split(",")] for line in lines]
    assert len(found) == len(head) == 30
    for row, probabilities in zip(found, head):
        if is_binary:
            probabilities = [1 - probabilities[0], probabilities[0]]
        scores = {row["label" + end]: float(row["score" + end]) for end in ["", *(f"_{k}" for k in range(2, len(kinds) + 1))]}
        assert [scores[kind] for kind in kinds] == pytest.approx(probabilities, abs=5e-5)
    onnx = needed("onnx")
    model = onnx.load(str(podere.folder / "joined.onnx"))
    onnx.checker.check_model(model)
    assert json.loads({entry.key: entry.value for entry in model.metadata_props}["classes"]) == kinds
    assert "dense" not in {weight.name for weight in model.graph.initializer}  # behind the layer


def test_bits_are_a_part_of_the_features(podere, pictures):
    for path in (podere.folder / "pictures").rglob("*.png"):
        values = numpy.asarray(Image.open(path))
        path.unlink()
        Image.fromarray(values.reshape(*values.shape[:2], -1).max(axis=2).astype(numpy.uint16) * 16).save(path)
    train(podere, f"images:pictures?{NET}&layer=d&bits=12", what="mlp")
    assert "give the network, layer" in podere.refused("convert", "m.json", "--network", "net.onnx", "--preprocess", "unit",
                                                       "--layer", "d", "-o", "j.onnx")
    join(podere, "--bits", 12)
    assert json.loads((podere.folder / "joined.json").read_text())["bits"] == 12
    joined = classes_of(podere, "--labels", "joined.txt")
    podere.done("classify", "pictures", "--model", "net.onnx", "--layer", "d", "--head", "m.json", "--preprocess", "unit",
                "--bits", 12, "-o", "c2.csv")
    assert (podere.folder / "c2.csv").read_bytes() == (podere.folder / "c.csv").read_bytes()
    assert all(row["label"] in "abc" and not row["error"] for row in joined)


def test_heads_that_do_not_fit_are_not_joined(podere, pictures):
    source = f"images:pictures?{NET}&layer=d"
    with_network = ["--network", "net.onnx", "--preprocess", "unit", "-o", "j.onnx"]
    train(podere, source)
    assert "trees cannot be joined" in podere.refused("classify", "pictures", "--model", "net.onnx", "--preprocess", "unit",
                                                      "--layer", "d", "--head", "m.json", "-o", "c.csv")
    assert "trees cannot be joined" in podere.refused("convert", "m.json", *with_network, "--layer", "d")
    train(podere, source, what="mlp")
    assert "give the network, layer, size and preprocessing" in podere.refused("convert", "m.json", *with_network)
    assert "give the network, layer" in podere.refused("convert", "m.json", "--network", "net.onnx", "--preprocess", "raw",
                                                       "--layer", "d", "-o", "j.onnx")
    assert "has no tensor 'e'" in podere.refused("convert", "m.json", *with_network, "--layer", "e")
    assert "are the same file" in podere.refused("convert", "m.json", *with_network[:-1], "m.onnx", "--layer", "d")
    podere.refused("convert", "m.json", *with_network, "--layer", "d", "--to", "xgboost")
    podere.refused("convert", "m.json", "--layer", "d", "-o", "j.onnx")
    assert "ends with .onnx" in podere.refused("convert", "m.json", *with_network[:-1], "j.v2", "--layer", "d")


def test_old_files_and_free_sizes_are_joined(podere, pictures):
    """Weights among the inputs, as files of the third version have them, and a height and width that are free."""
    onnx = needed("onnx")
    model = onnx.load(str(podere.folder / "net.onnx"))
    for weight in model.graph.initializer:
        model.graph.input.append(onnx.helper.make_tensor_value_info(weight.name, weight.data_type, list(weight.dims)))
    for dimension in model.graph.input[0].type.tensor_type.shape.dim[2:]:
        dimension.dim_param = "side"
    model.ir_version = 3
    onnx.save(model, str(podere.folder / "net.onnx"))
    size = ["--size", "16"]
    podere.done("train", "mlp", f"images:pictures?{NET}&layer=d&size=16", "--layers", "4", "-o", "m.json")
    join(podere, *size)
    onnx.checker.check_model(onnx.load(str(podere.folder / "joined.onnx")))
    joined = classes_of(podere, "--labels", "joined.txt")
    podere.done("classify", "pictures", "--model", "net.onnx", "--preprocess", "unit", "--layer", "d", *size, "--head",
                "m.json", "-o", "c.csv")
    with open(podere.folder / "c.csv", newline="") as lines:
        assert list(csv.DictReader(lines)) == joined
