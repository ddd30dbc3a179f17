"""A Spark session in this process, and the rows of a CSV file in its memory, for what measures Spark MLlib."""
import os
import sys


def start(cores, memory, folder):
    """A session of local[cores], whose Java heap takes at most `memory` ("8g") and whose files lie in `folder`."""
    os.environ.update(SPARK_LOCAL_IP="127.0.0.1", PYSPARK_PYTHON=sys.executable)
    import pyspark

    spark = (pyspark.sql.SparkSession.builder.master(f"local[{cores}]")
             .config("spark.driver.memory", memory).config("spark.local.dir", folder)
             .config("spark.ui.enabled", "false").config("spark.ui.showConsoleProgress", "false")
             .config("spark.driver.bindAddress", "127.0.0.1").getOrCreate())
    spark.sparkContext.setLogLevel("ERROR")
    return spark


def read(spark, path):
    """The rows of a file without a header, cached, in columns "label" (its first) and "features"; and their number."""
    from pyspark.ml.feature import VectorAssembler

    with open(path) as file:
        names = [f"f{i}" for i in range(1, file.readline().count(",") + 1)]
    rows = spark.read.csv(path, schema=", ".join(f"{name} FLOAT" for name in ["label", *names]))
    rows = VectorAssembler(inputCols=names, outputCol="features").transform(rows).select("label", "features").cache()
    return rows, rows.count()
