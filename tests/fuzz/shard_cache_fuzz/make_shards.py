#!/usr/bin/env python3
"""Writes the shards that the fuzzer begins with into shards/, by the layout in podere/io/shard_file.h."""
import json
import struct
import zlib
from pathlib import Path


def shard(schema: dict, n_global_rows: int, begin: int, end: int) -> bytes:
    columns = len(schema["features"]) + (schema["label"] is not None) + (schema["weight"] is not None)
    text = json.dumps({"n_global_rows": n_global_rows, "begin": begin, "end": end, **schema}).encode()
    values = [struct.pack(f"<{end - begin}f", *(column + row / 4 for row in range(end - begin))) for column in range(columns)]
    checksums = b"".join(struct.pack("<I", zlib.crc32(column)) for column in values if column)
    checked = struct.pack("<QQ", 32 + len(text) + len(checksums), len(text)) + text + checksums
    header = b"PODSHARD" + struct.pack("<II", 1, zlib.crc32(checked)) + checked
    return b"".join(part + bytes(-len(part) % 64) for part in [header, *values])


SCHEMAS = {
    "plain": {"features": ["x"], "label": None, "weight": None, "categories": []},
    "full": {"features": ["a", "b", "gr\u00f6\u00dfe"], "label": "y", "weight": "w",
             "categories": [{"feature": 0, "texts": None}, {"feature": 1, "texts": ["", "red", "white"]}]},
}

if __name__ == "__main__":
    folder = Path(__file__).parent / "shards"
    folder.mkdir(exist_ok=True)
    for name, schema in SCHEMAS.items():
        for rows in [(0, 0, 0), (1, 0, 1), (20, 0, 20), (30, 5, 30)]:
            (folder / "-".join(map(str, [name, *rows]))).write_bytes(shard(schema, *rows))
