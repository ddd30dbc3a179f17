"""Spark MLlib's multilayer perceptron for networks.py: 28-30-30-2, sigmoid, softmax, L-BFGS, on rows that are cached.

case: train and test (CSV files without headers), cores, memory, folder, iterations. One line of JSON. Features are brought to
a common scale before the time begins.
"""
import json
import sys
import time

import spark_rows


def main():
    import pyspark
    from pyspark.ml.classification import MultilayerPerceptronClassifier
    from pyspark.ml.evaluation import BinaryClassificationEvaluator
    from pyspark.ml.feature import StandardScaler

    case = json.loads(sys.argv[1])
    spark = spark_rows.start(case["cores"], case["memory"], case["folder"])
    rows, _ = spark_rows.read(spark, case["train"])
    scaler = StandardScaler(withMean=True, inputCol="features", outputCol="scaled").fit(rows)
    scaled = scaler.transform(rows).select("label", "scaled").cache()
    n_rows = scaled.count()
    rows.unpersist()

    perceptron = MultilayerPerceptronClassifier(featuresCol="scaled", layers=[28, 30, 30, 2], maxIter=case["iterations"],
                                                tol=0.0, seed=case["seed"])
    start = time.perf_counter()
    model = perceptron.fit(scaled)
    seconds = time.perf_counter() - start

    summary = model.summary()
    test = scaler.transform(spark_rows.read(spark, case["test"])[0])
    auc = BinaryClassificationEvaluator(numBins=0).evaluate(model.transform(test))
    print(json.dumps({"program": "spark " + pyspark.__version__, "rows_trained": n_rows, "seconds": seconds,
                      "epochs": summary.totalIterations, "loss": summary.objectiveHistory[-1], "auc": auc}))
    spark.stop()


if __name__ == "__main__":
    sys.exit(main())
