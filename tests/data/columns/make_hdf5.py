"""Made the files in hdf5/ of table.csv: make_hdf5.py FOLDER, with h5py 3.16, hdf5plugin 7.1, netCDF4 1.7, PyTables 3.11 and
pandas 3.1.1 of PyPI, and again with pandas 2.3.3 those that have it in their name."""

import sys
import warnings
from pathlib import Path

import h5py
import hdf5plugin
import netCDF4
import numpy as np
import pandas as pd

warnings.simplefilter("ignore")
folder = Path(sys.argv[1])
table = pd.read_csv(folder / "table.csv", parse_dates=["when"], dtype={"single": "f4", "small": "i4"})
folder /= "hdf5"
table["when"] = table["when"].dt.as_unit("ns")
numbers = table.drop(columns=["color", "kind"])
version = "" if pd.__version__.startswith("3.") else pd.__version__.replace(".", "_") + "_"

packed = {"format": "table", "index": False, "complib": "zlib", "complevel": 1}
table.to_hdf(folder / f"{version}pandas.h5", key="rows", **packed)
table.to_hdf(folder / f"{version}pandas_columns.h5", key="rows", data_columns=True, **packed)
frame = table.assign(color=table["color"].astype("category"), kind=table["kind"].astype("category"))
frame.to_hdf(folder / f"{version}pandas_categories.h5", key="rows", **packed | {"complib": "blosc:zstd"})
numbers.to_hdf(folder / f"{version}pandas_fixed.h5", key="deep/rows", format="fixed", complib="zlib", complevel=3)
if version:
    sys.exit()

TEXTS = table[["color", "kind"]].fillna("")
SECONDS = table["when"].astype("datetime64[s]").astype(str)


def write(name, make, **options):
    """Datasets side by side in the order of the columns."""
    with h5py.File(folder / f"{name}.h5", "w", track_order=True) as file:
        for column in table:
            make(file, column, options)


def arrays(file, column, options):
    if column in ("color", "kind"):
        file.create_dataset(column, data=TEXTS[column].tolist(), dtype=h5py.string_dtype(), **options)
    elif column == "when":
        file.create_dataset(column, data=[text.encode() for text in SECONDS], **options)
    else:
        file.create_dataset(column, data=table[column].to_numpy(), fletcher32=bool(options) and column == "whole", **options)


def numbers_packed(file, column, options):  # hdf5plugin's Blosc crashes on texts
    arrays(file, column, {} if column in ("color", "kind", "when") else options)


def enumerated(file, column, options):
    if column not in ("color", "kind"):
        return arrays(file, column, options)
    names = {name: 3 * place - 4 for place, name in enumerate(sorted(set(TEXTS[column]) - {""}))}
    codes = TEXTS[column].map(names).fillna(77).to_numpy("i2")
    file.create_dataset(column, data=codes, dtype=h5py.enum_dtype(names, basetype="i2"))


write("plain", arrays)
write("enumerated", enumerated)
write("gzip", arrays, compression="gzip", shuffle=True, chunks=(7,))
write("lzf", arrays, compression="lzf", chunks=(16,))
for codec in ("Zstd", "Blosc", "LZ4", "Bitshuffle"):
    write(codec.lower(), numbers_packed, **getattr(hdf5plugin, codec)())

fields = np.dtype([(name, table[name].dtype if name in numbers and name != "when" else h5py.string_dtype() if name == "kind" else "S19")
                   for name in table])
records = np.empty(len(table), fields)
for name in table:
    records[name] = SECONDS.str.encode("utf-8") if name == "when" else TEXTS["color"].str.encode("utf-8") if name == "color" else table[name]
with h5py.File(folder / "records.h5", "w", userblock_size=512) as file:
    file.create_dataset("in/a/group", data=records, chunks=(9,))

matrix = table[["real", "single", "whole", "small", "same"]].to_numpy("f8")
with h5py.File(folder / "matrix.h5", "w") as file:
    file["data"] = matrix.astype(">f8")
    file["target"] = table["flag"].to_numpy()
    file["feature_names"] = [b"real", b"single", b"whole", b"small", b"same"]
    file["meta/of"] = np.arange(3)
    file["n_rows"] = len(table)
with h5py.File(folder / "matlab.mat", "w", userblock_size=512) as file:
    for name, array in (("data", matrix), ("target", table[["flag"]].to_numpy("u1"))):
        file.create_dataset(name, data=array.T).attrs["MATLAB_class"] = np.bytes_("logical" if name == "target" else "double")
with netCDF4.Dataset(folder / "netcdf.nc", "w") as file:
    file.createDimension("row", len(table))
    for name in ("real", "single", "whole", "small", "same"):
        values = table[name].to_numpy()
        variable = file.createVariable(name, values.dtype, ("row",), zlib=True, chunksizes=(11,))
        variable[:] = np.ma.masked_invalid(values)
    packed = file.createVariable("packed", "i2", ("row",), fill_value=-9)
    packed.scale_factor, packed.add_offset = 0.5, 10.0
    packed[:] = np.ma.masked_where(np.arange(len(table)) % 3 == 0, np.arange(len(table)) / 2 + 10)
with h5py.File(folder / "kinds.h5", "w") as file:
    file["scalar"] = 1.0
    file["complex"] = np.ones(4, "c16")
    file.create_dataset("lists", data=[np.arange(i) for i in range(4)], dtype=h5py.vlen_dtype("i4"))
    file.create_dataset("pairs", data=np.ones((4, 2), [("a", "f4"), ("b", "f4")]))
    file["short"] = np.arange(3)
    file["half"] = np.array([1.5, -2, np.nan, 65504], "f2")
    file["large"] = np.array([0, 1, 2**63, 2**64 - 1], "u8")
    file["beyond"] = np.array([1, 2, 1e300, 4])
    file.create_dataset("nowhere", shape=(4,), dtype="f8", external=[("other.bin", 0, 32)])
    layout = h5py.VirtualLayout(shape=(4,), dtype="f8")
    layout[:] = h5py.VirtualSource("missing.h5", "x", shape=(4,))
    file.create_virtual_dataset("virtual", layout)
with h5py.File(folder / "two.h5", "w") as file:
    for part, rows in (("train", slice(0, 30)), ("test", slice(30, None))):
        file[f"{part}/X"] = matrix[rows]
        file[f"{part}/y"] = table["flag"].to_numpy()[rows]
