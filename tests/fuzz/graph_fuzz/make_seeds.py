#!/usr/bin/python3
"""Writes the cases of tests/data/graph/operators.bin into a folder, a file each: make_seeds.py FOLDER"""

import pathlib
import struct
import sys

content = pathlib.Path(__file__).parents[2].joinpath("data/graph/operators.bin").read_bytes()
at = n_cases = 0
while at < len(content):
    (n_bytes,) = struct.unpack_from("<I", content, at)
    pathlib.Path(sys.argv[1], f"case{n_cases}.onnx").write_bytes(content[at + 4 : at + 4 + n_bytes])
    at, n_cases = at + 4 + n_bytes, n_cases + 1
