#!/usr/bin/env python3
"""Writes tests/fuzz/graph_fuzz, where the fuzz target of networks begins: of each operator the smallest case of
operators.bin, without its input and what is expected of it, and a small network whose operators are joined.

    /usr/bin/python3 tests/data/graph/make_seeds.py
"""

import struct
from pathlib import Path

import numpy
import onnx
from onnx import helper, numpy_helper

HERE = Path(__file__).parent
SEEDS = HERE.parents[1] / "fuzz/graph_fuzz"


def smallest_cases():
    """By name."""
    content, at, smallest = (HERE / "operators.bin").read_bytes(), 0, {}
    while at < len(content):
        (n_bytes,) = struct.unpack_from("<I", content, at)
        model = onnx.ModelProto.FromString(content[at + 4:at + 4 + n_bytes])
        at += 4 + n_bytes
        weights = [weight for weight in model.graph.initializer if not weight.name.startswith("podere_")]
        del model.graph.initializer[:]
        model.graph.initializer.extend(weights)
        seed = model.graph.name, model.SerializeToString(deterministic=True)
        operators = frozenset(node.op_type for node in model.graph.node)
        smallest[operators] = min(smallest.get(operators, seed), seed, key=lambda named: len(named[1]))
    return dict(smallest.values())


def joined():
    """Batch norm, activation and sum in the weights and the tile of a convolution; results that are concatenated."""
    random_numbers = numpy.random.default_rng(1)
    graph = onnx.GraphProto(name="joined")

    def weight(*shape):
        name = f"w{len(graph.initializer)}"
        values = random_numbers.uniform(0.25, 1, size=shape).round(2).astype(numpy.float32)
        graph.initializer.append(numpy_helper.from_array(values, name))
        return name

    def node(operator, *inputs, **attributes):
        name = f"t{len(graph.node)}"
        graph.node.append(helper.make_node(operator, inputs, [name], **attributes))
        return name

    around = [1, 1, 1, 1]
    first = node("Relu", node("BatchNormalization", node("Conv", "x", weight(4, 3, 3, 3), pads=around, strides=[2, 2]),
                              weight(4), weight(4), weight(4), weight(4)))
    by_channel = node("Conv", first, weight(4, 1, 3, 3), weight(4), pads=around, group=4)
    parts = [node("Add", node("HardSwish", by_channel), first), node("Conv", first, weight(2, 4, 1, 5), pads=[0, 2, 0, 2]),
             *(node(pool, first, kernel_shape=[3, 3], pads=around) for pool in ("MaxPool", "AveragePool"))]
    means = node("Flatten", node("GlobalAveragePool", node("Concat", *parts, axis=1)))
    last = node("Softmax", node("Gemm", means, weight(3, 14), weight(3), transB=1), axis=1)
    graph.input.append(helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, ["N", 3, 8, 8]))
    graph.output.append(helper.make_tensor_value_info(last, onnx.TensorProto.FLOAT, ["N", 3]))
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    onnx.checker.check_model(model)
    return model.SerializeToString(deterministic=True)


def main():
    SEEDS.mkdir(exist_ok=True)
    for name, seed in {**smallest_cases(), "joined": joined()}.items():
        (SEEDS / f"{name.removeprefix('test_')}.onnx").write_bytes(seed)
    print(len(list(SEEDS.iterdir())), "seeds")


if __name__ == "__main__":
    main()
