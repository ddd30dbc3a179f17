"""A head behind a network, as one network: what tests of features do not come to."""

import csv
import json

import numpy
import pytest
from conftest import needed

onnx = needed("onnx")
needed("PIL")

from test_classify import make_pictures, write_network  # noqa: E402
from test_features import NET  # noqa: E402


@pytest.fixture
def pictures(podere):
    write_network(podere.folder / "net.onnx")
    return make_pictures(podere.folder / "pictures", 30)


def train_head(podere, query, head="m.json"):
    podere.done("train", "mlp", f"images:pictures?{query}", "--layers", "4", "-o", head)


def joined(podere, head, network, layer, output, *options):
    podere.done("convert", head, "--network", network, "--layer", layer, "-o", output, *options)
    model = onnx.load(str(podere.folder / output))
    onnx.checker.check_model(model, full_check=True)
    return model


def scores(podere, *arguments):
    """The scores of each picture, by class."""
    podere.done("classify", "pictures", "--top", 3, "-o", "scores.csv", *arguments)
    with open(podere.folder / "scores.csv", newline="") as lines:
        return [{row["label" + end]: float(row["score" + end]) for end in ("", "_2", "_3")} for row in csv.DictReader(lines)]


def predicted(podere, head, query):
    podere.done("predict", head, f"images:pictures?{query}", "-o", "p.csv")
    return numpy.loadtxt(podere.folder / "p.csv", delimiter=",")


def check(podere, model, head, query):
    found = [[of[kind] for kind in "abc"] for of in scores(podere, "--model", model, "--labels", model.replace("onnx", "txt"))]
    assert numpy.array(found) == pytest.approx(predicted(podere, head, query), abs=5e-5)


@pytest.mark.parametrize("layer", ["podere_head_features", "podere_head_layer_1_active", "podere_head_probabilities", "d"])
def test_what_was_joined_may_be_joined_again(podere, pictures, layer):
    """A head on what an earlier head made: names of the one are not those of the other."""
    train_head(podere, f"{NET}&layer=d")
    joined(podere, "m.json", "net.onnx", "d", "once.onnx", "--preprocess", "unit")
    train_head(podere, f"model=once.onnx&layer={layer}", "second.json")
    model = joined(podere, "second.json", "once.onnx", layer, "twice.onnx")
    assert [json.loads(entry.value) for entry in model.metadata_props if entry.key == "classes"] == [["a", "b", "c"]]
    check(podere, "twice.onnx", "second.json", f"model=once.onnx&layer={layer}")


def test_a_head_on_the_picture_itself_is_joined(podere, pictures):
    train_head(podere, f"{NET}&layer=picture")
    model = joined(podere, "m.json", "net.onnx", "picture", "j.onnx", "--preprocess", "unit")
    assert not {"kernel", "dense"} & {weight.name for weight in model.graph.initializer}
    check(podere, "j.onnx", "m.json", f"{NET}&layer=picture")


def test_names_of_classes_stay_as_they_are(podere, pictures):
    kinds = [" tips ", "wires, \"long\"", "пленки\t", "<b>&amp;", "פתיתים", "-1"]
    with open(podere.folder / "kinds.csv", "w", newline="") as lines:
        csv.writer(lines).writerows([["file", "label"], *([name, kinds[i % 6]] for i, name in enumerate(sorted(pictures)))])
    train_head(podere, f"{NET}&layer=d&labels=kinds.csv")
    names = json.loads((podere.folder / "m.json").read_text())["model"]["schema"]["classes"]
    podere.done("classify", "pictures", "--model", "net.onnx", "--preprocess", "unit", "--layer", "d", "--head", "m.json",
                "--top", 6, "-o", "c.csv")
    with open(podere.folder / "c.csv", newline="") as lines:
        for row in csv.DictReader(lines):
            assert {row["label" + end] for end in ("", *(f"_{k}" for k in range(2, 7)))} == set(names)
    model = joined(podere, "m.json", "net.onnx", "d", "j.onnx", "--preprocess", "unit")
    [kept] = [json.loads(entry.value) for entry in model.metadata_props if entry.key == "classes"]
    assert kept == names and (podere.folder / "j.txt").read_text() == "".join(f"{name}\n" for name in names)


def test_a_network_with_weights_beside_it_is_not_joined(podere, pictures):
    onnx.save(onnx.load(str(podere.folder / "net.onnx")), str(podere.folder / "net.onnx"), save_as_external_data=True,
              location="weights.bin", size_threshold=0)
    train_head(podere, f"{NET}&layer=d")
    assert "has weights in files beside it" in podere.refused("convert", "m.json", "--network", "net.onnx", "--preprocess",
                                                              "unit", "--layer", "d", "-o", "j.onnx")


def test_a_head_gives_the_names_and_nothing_else_may(podere, pictures):
    train_head(podere, f"{NET}&layer=d")
    (podere.folder / "names.txt").write_text("a\nb\nc\n")
    assert "--labels: the head has the names of classes" in podere.refused(
        "classify", "pictures", "--model", "net.onnx", "--preprocess", "unit", "--layer", "d", "--head", "m.json",
        "--labels", "names.txt", "-o", "c.csv")
