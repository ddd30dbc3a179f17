#!/usr/bin/env python3
"""GBTClassifier.fit beside XGBClassifier.fit on 10,000 x 28 simulated events: python_fit.py [--runs N] [--cores C ...]

Prints one line of JSON a run: seconds of fit, and the accuracy and AUC on other events, which must be right. Needs the
package in PYTHONPATH (build/release/python), the program `podere` for the events (--podere), xgboost and scikit-learn.
Runs are in turns: podere, xgboost, podere, ...
"""
import argparse
import json
import os
import subprocess
import sys
import time

import numpy
from sklearn.metrics import accuracy_score, roc_auc_score

ROWS, TEST_ROWS = 10_000, 20_000
CASES = {"depth 6, 50 trees": {"n_estimators": 50, "max_depth": 6}, "default": {}}


def events(podere, n_rows, seed):
    """float64 [n_rows x 28] and labels, as a notebook has them."""
    text = subprocess.run([podere, "generate", "higgs", "--events", str(n_rows), "--seed", str(seed), "-o",
                           "/dev/stdout"], check=True, capture_output=True, text=True).stdout
    table = numpy.array([line.split(",") for line in text.splitlines()], dtype=numpy.float64)
    return numpy.ascontiguousarray(table[:, 1:]), table[:, 0].astype(int)


def podere_estimator(parameters, cores):
    import podere
    return podere.__version__, podere.GBTClassifier(**parameters, n_jobs=cores)


def xgboost_estimator(parameters, cores):
    import xgboost
    chosen = {"n_estimators": 100, "max_depth": 6, "learning_rate": 0.1, "max_bin": 256, **parameters}
    return xgboost.__version__, xgboost.XGBClassifier(tree_method="hist", n_jobs=cores, **chosen)


def measure(name, case, cores, train, test):
    make = {"podere": podere_estimator, "xgboost": xgboost_estimator}[name]
    version, estimator = make(CASES[case], cores)
    start = time.perf_counter()
    estimator.fit(*train)
    seconds = time.perf_counter() - start
    probability = estimator.predict_proba(test[0])[:, 1]
    facts = {"bench": "python_fit", "case": case, "estimator": name, "version": version, "cores": cores, "rows": ROWS,
             "fit_seconds": seconds, "accuracy": accuracy_score(test[1], probability > 0.5),
             "auc": roc_auc_score(test[1], probability), "load_average": os.getloadavg()[0]}
    assert facts["auc"] > 0.75, facts
    return facts


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--podere", default="build/release/bin/podere")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--cores", type=int, nargs="+", default=[1, 2])
    arguments = parser.parse_args()
    train, test = events(arguments.podere, ROWS, 1), events(arguments.podere, TEST_ROWS, 2)
    for name in ("podere", "xgboost"):  # what is loaded and started at the first call is not measured
        measure(name, "default", 1, train, test)
    for case in CASES:
        for cores in arguments.cores:
            for run in range(arguments.runs):
                for name in ("podere", "xgboost"):
                    print(json.dumps({**measure(name, case, cores, train, test), "run": run}), flush=True)


if __name__ == "__main__":
    sys.exit(main())
