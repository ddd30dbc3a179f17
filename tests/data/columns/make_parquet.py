"""Made the Parquet files here, and table.csv, which all of them hold: make_parquet.py FOLDER, with pyarrow 26.0.1, pandas
3.1.1, polars 2.1.0, duckdb 2.0.1 and fastparquet 2026.9.0 of PyPI."""

import decimal
import sys
from pathlib import Path

import duckdb
import fastparquet
import numpy as np
import pandas as pd
import polars
import pyarrow as pa
import pyarrow.parquet as pq

folder = Path(sys.argv[1])
random = np.random.default_rng(7)
n = 40
table = pd.DataFrame({
    "real": random.normal(size=n).round(6),
    "single": random.integers(-400, 400, n).astype("f4") / 8,
    "whole": random.integers(-(10**6), 10**6, n),
    "small": random.integers(-(2**31), 2**31 - 1, n).astype("i4"),
    "same": np.full(n, 7.5),
    "color": random.choice(["red", "green", "blue", "é"], n),
    "when": pd.date_range("1969-12-30 06:00", periods=n, freq="37h30min").as_unit("us"),
    "flag": random.random(n) > 0.5,
    "kind": random.choice(["cat", "dog", "eel"], n),
})
for column in ("real", "single", "color"):
    table.loc[random.random(n) < 0.15, column] = None if column == "color" else np.nan
table.to_csv(folder / "table.csv", index=False)
arrow = pa.Table.from_pandas(table, preserve_index=False)

for codec in ("none", "snappy", "gzip", "brotli", "zstd", "lz4"):
    version = "2.0" if codec in ("none", "gzip", "zstd") else "1.0"
    pq.write_table(arrow, folder / f"{codec}.parquet", compression=codec, data_page_version=version, row_group_size=17,
                   write_page_checksum=codec in ("none", "zstd"), write_statistics=False, store_schema=False)
plain = {column: "PLAIN" for column in table}
others = {"real": "BYTE_STREAM_SPLIT", "single": "BYTE_STREAM_SPLIT", "whole": "DELTA_BINARY_PACKED", "small": "DELTA_BINARY_PACKED",
          "color": "DELTA_BYTE_ARRAY", "kind": "DELTA_LENGTH_BYTE_ARRAY", "when": "DELTA_BINARY_PACKED", "flag": "RLE"}
for name, encodings in (("plain", plain), ("encodings", {**plain, **others})):
    pq.write_table(arrow, folder / f"{name}.parquet", use_dictionary=False, column_encoding=encodings, compression="none",
                   data_page_size=64, write_batch_size=5, write_statistics=False, store_schema=False)
pq.write_table(arrow, folder / "int96.parquet", use_deprecated_int96_timestamps=True, write_statistics=False, store_schema=False)
table.set_index(pd.Index(random.permutation(n), name="number")).to_parquet(folder / "pandas.parquet")
fastparquet.write(str(folder / "fastparquet.parquet"), table, compression="SNAPPY", stats=False)
polars.from_pandas(table).write_parquet(folder / "polars.parquet", compression="zstd", row_group_size=25, statistics=False)
frame = table  # by which SQL knows it
duckdb.sql(f"copy frame to '{folder / 'duckdb.parquet'}' (format parquet, parquet_version v2)")

# What is no column of a table, and kinds of numbers that CSV has no form for.
pq.write_table(pa.table({
    "x": [1.0, 2.0, 3.0], "list": [[1], [], None], "struct": [{"a": 1}] * 3, "map": pa.array([[("a", 1)]] * 3, pa.map_(pa.string(), pa.int8())),
    "bytes": [b"a", b"b", None], "price": [decimal.Decimal("1.25"), decimal.Decimal("-2.50"), None],
    "clock": pa.array([3600, 43200, None], pa.time32("s")), "half": np.array([1.5, -2, 0.25], "f2"),
    "large": pa.array([2**63, 5, 0], pa.uint64()), "beyond": [1e300, 1.0, 2.0], "nothing": pa.nulls(3),
}), folder / "kinds.parquet", store_schema=False)
pd.DataFrame({"x": [1.0, 2.0], "wait": pd.to_timedelta(["36h", None])}).to_parquet(folder / "durations.parquet")
pq.write_table(pa.table({"x": [1.0, 2.0], "wait": pa.array([36 * 3_600_000_000, None], pa.duration("us"))}), folder / "arrow_durations.parquet")
pd.DataFrame({"x": [1.0, 2.0], "note": ["a", "b"], "late": ["c", "d"]}).to_parquet(folder / "something.parquet")
pd.DataFrame({"x": [1.0, 2.0], "note": [None, None], "late": [None, None]}).to_parquet(folder / "nothing.parquet")
pq.write_table(pa.table({"x": pa.array([], pa.float64())}), folder / "no_rows.parquet", store_schema=False)
