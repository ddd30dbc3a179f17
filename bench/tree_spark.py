"""Spark MLlib's GBTClassifier for tree_peers.py: one process with local[cores], which starts a Java virtual machine.

It has no lambda and no min_child_weight (minInstancesPerNode is 1), and bins inside of fit. Its rows are read from the
CSV and cached before the time begins. case["memory"] is the most that Java's heap may take. Where case["trees"] are fewer
than case["all_trees"], the time of all is that of one and, for each other, what a tree took beyond the first; Java has
been warmed with a tree before.
"""
import sys
import time

import spark_rows
from tree_peers import LEARNING_RATE, memory


def train(case):
    import pyspark
    from pyspark.ml.classification import GBTClassifier
    from pyspark.ml.evaluation import BinaryClassificationEvaluator

    spark = spark_rows.start(case["cores"], case["memory"], case["arrays"])
    start = time.perf_counter()
    rows, n_rows = spark_rows.read(spark, case["train"])
    assert n_rows == case["rows"]
    load_seconds = time.perf_counter() - start

    def fit(n_trees):
        start = time.perf_counter()
        model = GBTClassifier(maxIter=n_trees, maxDepth=case["depth"], maxBins=case["bins"], stepSize=LEARNING_RATE,
                              minInstancesPerNode=1, featureSubsetStrategy="all", maxMemoryInMB=1024, seed=1).fit(rows)
        return model, time.perf_counter() - start

    if case["trees"] < case["all_trees"]:
        fit(1)  # Java's compiler takes longer than the trees of a small table
        one = fit(1)[1]
        model, several = fit(case["trees"])
        if several <= one:
            sys.exit(f"{case['trees']} trees took {several:.1f} s, one {one:.1f} s: nothing to extrapolate from")
        seconds = one + (case["all_trees"] - 1) * (several - one) / (case["trees"] - 1)
    else:
        model, seconds = fit(case["trees"])
    java = spark._jvm.java.lang.ProcessHandle.current().pid()
    peak = memory("VmHWM") + memory("VmHWM", java)
    auc = BinaryClassificationEvaluator(numBins=0).evaluate(model.transform(spark_rows.read(spark, case["test"])[0]))
    spark.stop()
    return {"version": pyspark.__version__, "load_seconds": load_seconds, "bin_seconds": None, "train_seconds": seconds,
            "trees_trained": case["trees"], "peak_memory_bytes": peak, "auc": auc}
