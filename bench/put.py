#!/usr/bin/env python3
"""Measures Session.put: how fast arrays of Python reach the executors. Prints one JSON object a turn.

PYTHONPATH=build/release/python bench/put.py [--gigabytes 1] [--executors 2] [--cores 1] [--turns 3] [--dtype float32]
"""
import argparse
import json
import time

import numpy
import podere


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gigabytes", type=float, default=1)
    parser.add_argument("--features", type=int, default=28)
    parser.add_argument("--executors", type=int, default=2)
    parser.add_argument("--cores", type=int, default=1)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--dtype", default="float32")
    parser.add_argument("--order", default="C", choices=["C", "F"])
    options = parser.parse_args()

    item_bytes = numpy.dtype(options.dtype).itemsize
    n_rows = int(options.gigabytes * 1e9 / (options.features * item_bytes))
    block = numpy.random.default_rng(1).normal(size=(min(n_rows, 1 << 16), options.features)).astype(options.dtype)
    X = numpy.empty((n_rows, options.features), options.dtype, order=options.order)
    for row in range(0, n_rows, len(block)):
        X[row:row + len(block)] = block[:n_rows - row]
    mean = X.mean(axis=0, dtype=numpy.float64)

    with podere.Session(options.executors, options.cores, progress=False) as session:
        for turn in range(options.turns):
            start = time.perf_counter()
            table = session.put(X)
            seconds = time.perf_counter() - start
            means = table.describe()["mean"].to_numpy()
            assert numpy.allclose(means, mean, rtol=1e-9), "other values arrived"
            table.drop()
            print(json.dumps({"bench": "put", "turn": turn, "executors": options.executors, "cores": options.cores,
                              "dtype": options.dtype, "order": options.order, "bytes": X.nbytes, "seconds": seconds,
                              "bytes_per_second": X.nbytes / seconds}), flush=True)


if __name__ == "__main__":
    main()
