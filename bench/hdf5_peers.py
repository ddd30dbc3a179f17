#!/usr/bin/python3
"""Reading HDF5 beside h5py and pandas: hdf5_peers.py PODERE [--rows 2000000] [--columns 16] [--runs 5], by a Python that has
h5py and pandas with PyTables.

Writes files to a folder of its own: a matrix of real numbers, as it is and in chunks packed by gzip; a dataset for each
column; a data frame in pandas' fixed and table formats. Reads each by `podere describe` (the seconds of loading alone) and
by its own library to float32, in turn, on one core and on two. Checks the mean of a column. Prints lines of JSON with the
median of each and the ratio of the other's time to Podere's.
"""
import argparse
import json
import os
import tempfile

import h5py
import numpy as np
import pandas as pd
from reading_peers import compare

H5PY = """
import sys, time
import h5py
start = time.perf_counter()
with h5py.File(sys.argv[1]) as file:
    columns = [file[name].astype("f4")[:] for name in file]
print(time.perf_counter() - start)
"""
PANDAS = """
import sys, time
import pandas as pd
start = time.perf_counter()
values = pd.read_hdf(sys.argv[1]).to_numpy("f4")
print(time.perf_counter() - start)
"""


def write_matrix(path, values, **options):
    with h5py.File(path, "w") as file:
        file.create_dataset("X", data=values, **options)


def write_columns(path, values):
    with h5py.File(path, "w") as file:
        for i in range(values.shape[1]):
            file[f"x{i}"] = values[:, i]


def write_frame(path, values, **options):
    pd.DataFrame(values, columns=[f"x{i}" for i in range(values.shape[1])]).to_hdf(path, key="rows", **options)


KINDS = {
    "matrix": (write_matrix, H5PY),
    "matrix, gzip": (lambda path, values: write_matrix(path, values, chunks=(10_000, values.shape[1]), compression="gzip"), H5PY),
    "a dataset for each column": (write_columns, H5PY),
    "pandas, fixed": (lambda path, values: write_frame(path, values, format="fixed"), PANDAS),
    "pandas, table": (lambda path, values: write_frame(path, values, format="table", index=False), PANDAS),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("podere")
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--columns", type=int, default=16)
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    values = np.random.default_rng(2026).normal(size=(options.rows, options.columns))
    with tempfile.TemporaryDirectory() as folder:
        for kind, (write, program) in KINDS.items():
            path = f"{folder}/table.h5"
            write(path, values)
            for cores in (1, 2):
                own, other = compare(options.podere, path, values[:, 0].mean(), program, cores, options.runs)
                print(json.dumps({"bench": "hdf5", "kind": kind, "cores": cores, "podere_seconds": round(own, 4),
                                  "other": "h5py" if program == H5PY else "pandas", "other_seconds": round(other, 4),
                                  "ratio": round(other / own, 2)}), flush=True)
            os.remove(path)


if __name__ == "__main__":
    main()
