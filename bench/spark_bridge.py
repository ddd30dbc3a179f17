#!/usr/bin/env python3
"""Measures podere.spark beside Parquet files and toPandas(), in the same run: a table from Spark to the executors of a
session and back. Prints one JSON object for each way and turn, with the bytes that the table has as float32.

Ways: "podere" (podere.spark), "parquet" (df.write.parquet, session.read; back Table.save, spark.read.csv, since Podere writes
no Parquet), "pandas" (df.toPandas() by Arrow, session.put; back Table.to_pandas(), spark.createDataFrame), and "spark", what
Spark itself takes: the same batches through a Python worker that drops them; back a Python worker that makes them.

PYTHONPATH=build/release/python $(tests/spark/environment.sh) bench/spark_bridge.py [--gigabytes 1] [--executors 2]
    [--cores 1] [--turns 3] [--spark-cores 2] [--type float]
"""
import argparse
import json
import shutil
import statistics
import sys
import tempfile
import time

import numpy
import podere
import podere.spark
import spark_rows
from pyspark.sql import functions as F


def dropped(batches):
    import pyarrow
    n_rows = sum(batch.num_rows for batch in batches)
    yield pyarrow.RecordBatch.from_pydict({"rows": [n_rows]})


def made(n_rows, names):
    def make(batches):
        import numpy
        import pyarrow
        for _ in batches:
            for begin in range(0, n_rows, 1 << 16):
                n = min(1 << 16, n_rows - begin)
                yield pyarrow.RecordBatch.from_arrays([pyarrow.array(numpy.ones(n, "float32"))] * len(names), names=names)
    return make


class Bench:
    def __init__(self, options, folder):
        self.options, self.folder = options, folder
        self.spark = spark_rows.start(options.spark_cores, options.memory, folder)
        self.spark.conf.set("spark.sql.execution.arrow.pyspark.enabled", "true")
        item_bytes = 4 if options.type == "float" else 8
        self.names = [f"x{j}" for j in range(options.features)]
        self.n_rows = int(options.gigabytes * 1e9 / (4 * options.features))
        values = ((F.hash("id", F.lit(j)) / 2**31).cast(options.type).alias(name) for j, name in enumerate(self.names))
        self.df = self.spark.range(0, self.n_rows, numPartitions=4 * options.spark_cores).select(*values).cache()
        self.sums = self.sums_of(self.df)
        self.batch_rows = (8 << 20) // (item_bytes * options.features)
        self.session = podere.Session(options.executors, options.cores, progress=False, page=False)

    @staticmethod
    def sums_of(df):
        row = df.select(F.count(F.lit(1)).alias("n"), *(F.sum(F.col(name).cast("double")).alias(name) for name in df.columns)
                        ).first()
        return numpy.array(list(row), float)

    def check_table(self, table):
        found = table.describe()["mean"].to_numpy()
        assert table.n_rows == self.n_rows and numpy.allclose(found, self.sums[1:] / self.n_rows, rtol=1e-4, atol=1e-6)

    def check_frame(self, df):
        assert numpy.allclose(self.sums_of(df.select(*self.names)), self.sums, rtol=1e-4, atol=1), "other values came back"

    # There: a table of the session

    def podere_there(self):
        return podere.spark.send(self.df, self.session)

    def parquet_there(self):
        path = f"{self.folder}/rows.parquet"
        self.df.write.mode("overwrite").parquet(path)
        return self.session.read(path)

    def pandas_there(self):
        return self.session.put(self.df.toPandas())

    def spark_there(self):
        self.spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", str(self.batch_rows))
        assert sum(row.rows for row in self.df.mapInArrow(dropped, "rows long").collect()) == self.n_rows

    # Back: a DataFrame of which Spark has seen every value

    def podere_back(self, table):
        return podere.spark.read(self.spark, self.session, table)

    def parquet_back(self, table):
        path = f"{self.folder}/rows.csv"
        table.save(path)
        return self.spark.read.csv(path, header=True, schema=", ".join(f"{name} float" for name in self.names))

    def pandas_back(self, table):
        return self.spark.createDataFrame(table.to_pandas())

    def spark_back(self, _):
        parts = self.options.spark_cores
        return self.spark.range(0, parts, numPartitions=parts).mapInArrow(
            made(self.n_rows // parts, self.names), ", ".join(f"{name} float" for name in self.names))

    def turn(self, way, turn):
        start = time.perf_counter()
        table = getattr(self, f"{way}_there")()
        there = time.perf_counter() - start
        kept = table
        if table is None:
            kept = None
        else:
            self.check_table(table)
        start = time.perf_counter()
        back = getattr(self, f"{way}_back")(kept)
        back.select(*(F.sum(name) for name in self.names)).collect()
        seconds_back = time.perf_counter() - start
        if table is not None and turn == 0:
            self.check_frame(back)
        if table is not None:
            table.drop()
        n_bytes = 4 * self.n_rows * len(self.names)
        print(json.dumps({"bench": "spark_bridge", "way": way, "turn": turn, "type": self.options.type, "bytes": n_bytes,
                          "executors": self.options.executors, "spark_cores": self.options.spark_cores,
                          "there_seconds": there, "there_bytes_per_second": n_bytes / there,
                          "back_seconds": seconds_back, "back_bytes_per_second": n_bytes / seconds_back}), flush=True)
        return there, seconds_back


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gigabytes", type=float, default=1)
    parser.add_argument("--features", type=int, default=28)
    parser.add_argument("--executors", type=int, default=2)
    parser.add_argument("--cores", type=int, default=1)
    parser.add_argument("--spark-cores", type=int, default=2)
    parser.add_argument("--memory", default="6g", help="of Spark's Java")
    parser.add_argument("--type", default="float", choices=["float", "double"])
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--ways", nargs="*", default=["podere", "spark", "parquet", "pandas"])
    options = parser.parse_args()
    folder = tempfile.mkdtemp(prefix="podere-spark-")
    try:
        bench = Bench(options, folder)
        with bench.session:
            seconds = {way: [] for way in options.ways}
            for turn in range(options.turns):
                for way in options.ways:
                    seconds[way].append(bench.turn(way, turn))
        bench.spark.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    medians = {way: [statistics.median(times) for times in zip(*seconds[way])] for way in options.ways}
    for way, (there, back) in medians.items():
        print(f"{way}: there {there:.2f} s, back {back:.2f} s (medians of {options.turns})", file=sys.stderr)


if __name__ == "__main__":
    main()
