#!/usr/bin/env python3
"""make_seeds.py FOLDER: inputs of row_frames_fuzz, as podere/io/row_frames.h has them."""
import pathlib
import struct
import sys

KINDS = "?bhiqBHIQfd"  # of struct, in the order of table::Element
HELLO = b"PODEROW1" + struct.pack("<I5s", 5, b"token")


def column(kind, values):
    return bytes([KINDS.index(kind)]) + struct.pack(f"<{len(values)}{kind}", *values)


def frame(width, kind, n_rows):
    block = column(kind, [i % 2 for i in range(n_rows * width)])
    rest = [column("f", [float(i) for i in range(n_rows)]) for _ in range(3)]  # a feature, label and weight
    return struct.pack("<I", n_rows) + block + b"".join(rest)


def seeds():
    for width in (1, 2, 3):
        for kind in KINDS:
            frames = frame(width, kind, 3) + frame(width, kind, 1)
            yield bytes([width - 1]) + HELLO + frames + struct.pack("<IQ", 0, 4)
    yield b"\0" + HELLO + struct.pack("<IQ", 0, 0)
    yield b"\0" + HELLO + struct.pack("<IQ", 0, 7)
    yield b"\0" + HELLO + struct.pack("<I", 1 << 31)
    yield b"\0" + HELLO + struct.pack("<IB", 1, 11)
    yield b"\0" + HELLO.replace(b"token", b"wrong")


if __name__ == "__main__":
    folder = pathlib.Path(sys.argv[1])
    for number, seed in enumerate(seeds()):
        (folder / f"{number}").write_bytes(seed)
