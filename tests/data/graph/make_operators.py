#!/usr/bin/env python3
"""Writes operators.bin: cases of the ONNX project's own tests of operators (package onnx, onnx.backend.test.case), for
podere/graph/operators_test.cc. Of each case the first input, float32, is the network's; the others become weights. The
file is models one after the other, each behind its length (4 bytes, little endian); "podere_input" and
"podere_expected" are weights that no operator takes. Written with onnx 1.23:

    python3 -m venv v && v/bin/pip install onnx && v/bin/python tests/data/graph/make_operators.py
"""

import struct
import warnings
from pathlib import Path

import numpy as np
import onnx
from onnx import numpy_helper

warnings.filterwarnings("ignore")
OPERATORS = set(
    """Conv BatchNormalization Relu LeakyRelu PRelu Clip Sigmoid HardSigmoid HardSwish Tanh Erf Gelu Softmax LogSoftmax
    Add Sub Mul Div Pow Sqrt Exp MaxPool AveragePool GlobalAveragePool GlobalMaxPool ReduceMean ReduceSum ReduceMax
    ReduceMin ReduceSumSquare ReduceL2 Concat Flatten Reshape Transpose Squeeze Unsqueeze Pad Gemm MatMul
    LayerNormalization InstanceNormalization LRN Dropout Identity Cast Constant ConstantOfShape Shape Gather Slice Split
    Expand Sum Max Min Elu Mish Swish Abs Neg Reciprocal Floor Ceil Log""".split()
)
# What Podere refuses by name: training, windows over three dimensions, products of two tensors that are no weights.
REFUSED = ("training", "3d", "4d", "matmul_bcast", "matmul_1d", "gemm_default_matrix_bias", "storage_order",
           "argmax_2d_precomputed_strides", "max_example", "min_example", "sum_example", "sequence", "identity_opt",
           "_expanded")
MOST_BYTES = 8000


def tensor(value):
    return value if isinstance(value, onnx.TensorProto) else numpy_helper.from_array(np.asarray(value))


def to_weights(case):
    """The case as one model, or None if it is not for Podere."""
    from_case = case.model
    if from_case is None or any(n.op_type not in OPERATORS or n.domain for n in from_case.graph.node):
        return None
    inputs, outputs = case.data_sets[0]
    if not inputs or any(isinstance(v, (list, type(None))) for v in [*inputs, outputs[0]]):
        return None
    inputs, expected = [tensor(v) for v in inputs], tensor(outputs[0])
    is_float = all(t.data_type == onnx.TensorProto.FLOAT and t.dims and all(t.dims) for t in (inputs[0], expected))
    if not is_float or any(part in case.name for part in REFUSED):
        return None
    model = onnx.ModelProto()
    model.CopyFrom(from_case)
    model.graph.name = case.name
    for port, weight in list(zip(model.graph.input, inputs))[1:]:
        weight.name = port.name
        model.graph.initializer.append(weight)
    for name, value in (("podere_input", inputs[0]), ("podere_expected", expected)):
        value = numpy_helper.from_array(numpy_helper.to_array(value), name)
        model.graph.initializer.append(value)
    del model.graph.input[1:]
    del model.graph.output[1:]
    return model


def main():
    from onnx.backend.test.case.node import collect_testcases

    models = []
    for case in collect_testcases(None):
        try:
            model = to_weights(case)
        except Exception:  # sequences and other types that are no arrays
            continue
        if model and model.ByteSize() <= MOST_BYTES and any(o.version <= 26 for o in model.opset_import):
            models.append(model.SerializeToString(deterministic=True))
    target = Path(__file__).with_name("operators.bin")
    target.write_bytes(b"".join(struct.pack("<I", len(m)) + m for m in models))
    print(len(models), "cases,", target.stat().st_size, "bytes")


if __name__ == "__main__":
    main()
