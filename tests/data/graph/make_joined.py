#!/usr/bin/env python3
"""Writes joined.onnx of tests/fuzz/graph_fuzz: a small network whose operators are joined, for the fuzz target of
networks to begin with.

    /usr/bin/python3 tests/data/graph/make_joined.py
"""

from pathlib import Path

import numpy
import onnx
from onnx import helper, numpy_helper

HERE = Path(__file__).parent


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


if __name__ == "__main__":
    (HERE.parents[1] / "fuzz/graph_fuzz/joined.onnx").write_bytes(joined())
