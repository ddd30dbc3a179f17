#!/usr/bin/python3
"""Reading Parquet beside pyarrow: parquet_peers.py PODERE [--rows 2000000] [--columns 16] [--runs 5], by a Python that has
pyarrow.

Writes files with pyarrow to a folder of its own: real numbers, some of them missing, whole numbers, numbers of few values
in dictionaries, single precision; packed by snappy, zstd and not at all. Reads each by `podere describe` (the seconds of
loading alone) and by pyarrow to columns of float32, in turn, on one core and on two. Checks the mean of a column. Prints
lines of JSON with the median of each and the ratio of pyarrow's time to Podere's.
"""
import argparse
import json
import tempfile

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from reading_peers import compare

PYARROW = """
import sys, time
import pyarrow as pa, pyarrow.parquet as pq
n = int(sys.argv[2])
pa.set_cpu_count(n)
pa.set_io_thread_count(n)
start = time.perf_counter()
table = pq.read_table(sys.argv[1], use_threads=n > 1)
columns = [table.column(i).cast(pa.float32(), safe=False).to_numpy() for i in range(table.num_columns)]
print(time.perf_counter() - start)
"""


def with_some_missing(values, random):
    return pa.array(values, mask=random.random(len(values)) < 0.1)


KINDS = {  # values, whether to use a dictionary, codec
    "real": (lambda random, n: random.normal(size=n), False, "snappy"),
    "real, zstd": (lambda random, n: random.normal(size=n), False, "zstd"),
    "real, not packed": (lambda random, n: random.normal(size=n), False, "none"),
    "single precision": (lambda random, n: random.normal(size=n).astype("f4"), False, "snappy"),
    "some missing": (lambda random, n: with_some_missing(random.normal(size=n), random), False, "snappy"),
    "whole": (lambda random, n: random.integers(0, 10**6, n), True, "snappy"),
    "few values": (lambda random, n: random.integers(0, 1000, n) * 0.25, True, "snappy"),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("podere")
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--columns", type=int, default=16)
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    random = np.random.default_rng(2026)
    with tempfile.TemporaryDirectory() as folder:
        for kind, (make, use_dictionary, codec) in KINDS.items():
            table = pa.table({f"x{i}": make(random, options.rows) for i in range(options.columns)})
            path = f"{folder}/table.parquet"
            pq.write_table(table, path, use_dictionary=use_dictionary, compression=codec)
            mean = pa.compute.mean(table.column(0)).as_py()
            for cores in (1, 2):
                own, other = compare(options.podere, path, mean, PYARROW, cores, options.runs)
                megabytes = 4e-6 * options.rows * options.columns
                print(json.dumps({"bench": "parquet", "kind": kind, "codec": codec, "cores": cores,
                                  "podere_seconds": round(own, 4), "pyarrow_seconds": round(other, 4),
                                  "float32_mb_per_second": round(megabytes / own), "ratio": round(other / own, 2)}), flush=True)


if __name__ == "__main__":
    main()
