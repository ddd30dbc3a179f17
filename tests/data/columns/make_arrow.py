"""Makes the Arrow files beside it: python3 tests/data/columns/make_arrow.py (pyarrow, pandas and Polars of PyPI).

Their rows are those of frame(), so that tests can write the same rows as CSV.
"""
import datetime
import decimal
import pathlib

TOWNS = ["Rome", "Bari", "Città della Pieve", "a, \"quoted\" town of many letters"]
DAY = datetime.date(2026, 1, 31)


def frame(n):
    """Columns by name, as Python's values; None is missing. The label follows from the others."""
    numbers = [i % 60 for i in range(n)]  # repeated, so that packed files are small
    columns = {
        "label": [int((i * 7 % 50 > 24) != (row % 7 == 1)) for row, i in enumerate(numbers)],
        "real": [i * 7 % 50 / 8 - 3 if i % 11 else None for i in numbers],
        "single": [i * 3 % 40 / 4 for i in numbers],
        "whole": [i * 5 % 60 - 30 if i % 13 else None for i in numbers],
        "large": [2**40 + i % 32 * 2**20 for i in numbers],
        "ok": [i % 3 == 0 if i % 17 else None for i in numbers],
        "town": [TOWNS[i % 4] if i % 19 else None for i in numbers],
        "code": [10 * (i % 5) for i in numbers],
        "day": [DAY + datetime.timedelta(days=i - 45) if i % 7 else None for i in numbers],
        "when": [datetime.datetime(2026, 1, 31, i % 24, 15 * (i % 4), 0, 250_000) for i in numbers],
        "time": [datetime.time(i % 24, i) for i in numbers],
        "price": [decimal.Decimal(i * 11 % 500 - 100).scaleb(-2) if i % 23 else None for i in numbers],
        "none": [None for i in numbers],
    }
    return columns


def csv_text(columns):
    def field(value):
        if isinstance(value, str):
            return '"' + value.replace('"', '""') + '"'
        return "" if value is None else str(value)

    lines = [",".join(columns)]
    lines += [",".join(map(field, row)) for row in zip(*columns.values())]
    return "\n".join(lines) + "\n"


def main():
    import pandas
    import polars
    import pyarrow as pa

    folder = pathlib.Path(__file__).parent / "arrow"
    folder.mkdir(exist_ok=True)
    types = {"label": pa.int8(), "real": pa.float64(), "single": pa.float32(), "whole": pa.int16(), "large": pa.uint64(),
             "ok": pa.bool_(), "town": pa.string(), "code": pa.int64(), "day": pa.date32(),
             "when": pa.timestamp("us", "UTC"), "time": pa.time32("ms"), "price": pa.decimal128(7, 2), "none": pa.null()}

    def table(n, **others):
        columns = frame(n)
        if "real" in others:
            columns["real"] = [None if value is None else decimal.Decimal(value) for value in columns["real"]]
        return pa.table({name: pa.array(values, {**types, **others}[name]) for name, values in columns.items()})

    def write(name, rows, batch, stream=False, **options):
        options = pa.ipc.IpcWriteOptions(**options)
        new = pa.ipc.new_stream if stream else pa.ipc.new_file
        with new(folder / name, rows.schema, options=options) as writer:
            writer.write_table(rows, max_chunksize=batch)

    coded = pa.dictionary(pa.int8(), pa.string())
    # To train on.
    write("rows.arrow", table(1500), 800, compression="zstd")
    write("coded.arrow", table(1500, town=coded, code=pa.dictionary(pa.int16(), pa.int64())), 800, compression="lz4")
    write("other.arrows", table(1500, real=pa.decimal128(9, 3), single=pa.float16(), town=pa.string_view(), day=pa.date64(),
                                when=pa.timestamp("ns"), time=pa.time64("ns"), label=pa.uint32()),
          800, stream=True, compression="zstd")
    frame_of_pandas = table(1500).drop(["none", "price", "when"]).to_pandas()
    frame_of_pandas.index = pandas.Index([i % 60 + 5 for i in range(1500)], name="id")
    frame_of_pandas.to_feather(folder / "pandas.feather", compression="zstd")
    polars.from_arrow(table(1500).drop(["none"])).write_ipc(folder / "polars.ipc", compression="zstd")
    # To be damaged: small.
    write("small.arrow", table(9), 5)
    write("small_packed.arrow", table(9, town=coded), 6, compression="lz4")
    write("small_views.arrow", table(9, town=pa.string_view()), None, compression="zstd")
    legacy = dict(use_legacy_format=True, metadata_version=pa.ipc.MetadataVersion.V4)
    write("legacy.arrow", table(9), 5, **legacy)
    write("legacy.arrows", table(9), 5, stream=True, **legacy)
    # Dictionaries that grow, and are replaced.
    for name, options in (("delta.arrows", {"emit_dictionary_deltas": True}), ("replaced.arrows", {})):
        schema = pa.schema([("town", coded), ("x", pa.int32())])
        with pa.ipc.new_stream(folder / name, schema, options=pa.ipc.IpcWriteOptions(**options)) as writer:
            for towns in (["Rome"], ["Rome", "Bari"], ["Rome", "Bari", "Pisa"]) if options else (["Rome"], ["Bari", "Pisa"]):
                places = pa.array([i % len(towns) for i in range(4)], pa.int8())
                batch = [pa.DictionaryArray.from_arrays(places, towns), pa.array(range(4), pa.int32())]
                writer.write_batch(pa.record_batch(batch, schema=schema))
    # Columns that no table can have, before one that it can.
    n = 6
    inner = pa.array(["x"] * n).dictionary_encode()
    parts = {"list": pa.array([[1.5, 2]] * n), "struct": pa.StructArray.from_arrays([inner, pa.array(range(n))], ["a", "b"]),
             "map": pa.array([[("k", 1)]] * n, pa.map_(pa.string(), pa.int8())), "bytes": pa.array([b"12"] * n),
             "fixed": pa.array([b"12"] * n, pa.binary(2)), "pair": pa.array([[1, 2]] * n, pa.list_(pa.int8(), 2)),
             "union": pa.UnionArray.from_sparse(pa.array([0] * n, pa.int8()), [pa.array(range(n))]),
             "dense": pa.UnionArray.from_dense(pa.array([0] * n, pa.int8()), pa.array(range(n), pa.int32()), [pa.array(range(n))]),
             "run": pa.RunEndEncodedArray.from_arrays(pa.array([n], pa.int32()), pa.array([1.5])),
             "view": pa.array([b"12"] * n, pa.binary_view()), "views": pa.array([[1]] * n, pa.list_view(pa.int8())),
             "interval": pa.array([(1, 2, 3)] * n, pa.month_day_nano_interval()),
             "wait": pa.array([43_200] * n, pa.duration("s")), "text": pa.array(["a text of more than 12 bytes"] * n, pa.string_view()),
             "x": pa.array(range(n))}
    write("nested.arrow", pa.table(parts), 4)


if __name__ == "__main__":
    main()
