"""The network that comes with Podere, on micrographs that it was not trained on."""

import csv
import json
import pathlib

import numpy
from conftest import needed

onnx = needed("onnx")
needed("onnx.numpy_helper")
needed("PIL")
Image = __import__("PIL.Image").Image

DATA = pathlib.Path(__file__).parents[2] / "data"
NETWORK = ["--model", DATA / "micrographs.onnx", "--labels", DATA / "micrographs.txt"]


def convolved(values, kernel, bias, stride, padding):
    values = numpy.pad(values, ((0, 0), (padding, padding), (padding, padding)))
    windows = numpy.lib.stride_tricks.sliding_window_view(values, kernel.shape[2:], axis=(1, 2))[:, ::stride, ::stride]
    return numpy.einsum("cyxij,ocij->oyx", windows, kernel) + bias[:, None, None]


def scores_of(path):
    """By a plain computation of what the ONNX file says."""
    fields = json.loads((DATA / "micrographs.json").read_text())
    pixels = numpy.asarray(Image.open(path).convert("L").resize((96, 96), Image.BILINEAR), dtype=numpy.float64)
    values = (pixels[None] / fields["divisor"] - fields["mean"][0]) / fields["std"][0]
    graph = onnx.load(str(DATA / "micrographs.onnx")).graph
    weights = {tensor.name: onnx.numpy_helper.to_array(tensor).astype(numpy.float64) for tensor in graph.initializer}
    for node in graph.node:
        attributes = {attribute.name: onnx.helper.get_attribute_value(attribute) for attribute in node.attribute}
        if node.op_type == "Conv":
            values = convolved(values, *(weights[name] for name in node.input[1:]), attributes["strides"][0],
                               attributes["pads"][0])
        elif node.op_type == "Relu":
            values = numpy.maximum(values, 0)
        elif node.op_type == "GlobalAveragePool":
            values = values.mean(axis=(1, 2))
        elif node.op_type == "Gemm":
            assert node.input[0] == "features"
            values = weights[node.input[1]] @ values + weights[node.input[2]]
    assert [node.op_type for node in graph.node[-3:]] == ["Flatten", "Gemm", "Softmax"]
    powers = numpy.exp(values - values.max())
    return powers / powers.sum()


def test_it_names_other_micrographs_with_the_scores_of_a_plain_computation(podere):
    podere.done("generate", "sem", "--images", 60, "--seed", 3, "-o", "micrographs")
    podere.done("classify", "micrographs", *NETWORK, "--top", 10, "-o", "labels.csv")
    with open(podere.folder / "labels.csv", newline="") as lines:
        rows = list(csv.DictReader(lines))
    assert sum(row["label"] == row["picture"].split("/")[0] for row in rows) >= 58, "it names 99.8 % of pictures"
    names = (DATA / "micrographs.txt").read_text().split()
    for row in rows[::12]:
        plain = scores_of(podere.folder / "micrographs" / row["picture"])
        found = {row["label" + end]: float(row["score" + end]) for end in ["", *(f"_{k}" for k in range(2, 11))]}
        assert max(abs(found[name] - score) for name, score in zip(names, plain)) < 1e-5
        assert row["label"] == names[plain.argmax()]
