#!/usr/bin/python3
"""Boosted trees beside XGBoost: same rows, same parameters, same cores, in turn, each run in a fresh process.

Prints one JSON line a run, then one with medians and pair-wise ratios. Needs python3-xgboost and python3-pandas (Debian).
Example: bench/trees.py --rows 1e6 --cores 2 --runs 3
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import time

TEST_ROWS = 100_000
AUC_TOLERANCE = 0.005  # of a model that is right; a million rows differ by less than 0.001


def podere_line(program, args):
    return json.loads(subprocess.run([program, *args, "--json"], check=True, capture_output=True, text=True).stdout)


def run_podere(options, table):
    """Trains and evaluates with the command line, as a user does."""
    os.makedirs(options.directory, exist_ok=True)
    model = os.path.join(options.directory, "trees.model.json")
    shape = ["--executors", str(options.executors), "--cores", str(options.cores // options.executors)]
    train = podere_line(options.podere, [
        "train", "gbt", table, "-o", model, "--rows", f":{options.rows}", "--trees", str(options.trees),
        "--depth", str(options.depth), "--bins", str(options.bins), "--learning-rate", "0.1", *shape])
    test = podere_line(options.podere, ["evaluate", model, table, "--rows", f"{options.rows}:", *shape])
    return {"bin_seconds": train["bin_seconds"], "train_seconds": train["train_seconds"],
            "load_seconds": train["load_seconds"], "peak_memory_bytes": train["peak_memory_bytes"], "auc": test["auc"]}


def run_xgboost(options, table):
    """Runs in a process of its own, so that its peak memory is its own."""
    import resource

    import numpy
    import pandas
    import xgboost
    from sklearn.metrics import roc_auc_score

    start = time.perf_counter()
    rows = pandas.read_csv(table, header=None, dtype=numpy.float32).to_numpy()
    load_seconds = time.perf_counter() - start
    train, test = rows[:options.rows], rows[options.rows:]
    features, label = numpy.ascontiguousarray(train[:, 1:]), train[:, 0].copy()
    test_features, test_label = numpy.ascontiguousarray(test[:, 1:]), test[:, 0].copy()
    del rows, train, test
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    start = time.perf_counter()
    binned = xgboost.QuantileDMatrix(features, label, max_bin=options.bins, nthread=options.cores)
    binned_at = time.perf_counter()
    model = xgboost.train(
        {"objective": "binary:logistic", "tree_method": "hist", "max_depth": options.depth, "eta": 0.1,
         "max_bin": options.bins, "nthread": options.cores, "lambda": 1, "min_child_weight": 1}, binned, options.trees)
    end = time.perf_counter()
    scores = model.predict(xgboost.DMatrix(test_features), output_margin=True)
    return {"version": xgboost.__version__, "bin_seconds": binned_at - start, "train_seconds": end - binned_at,
            "load_seconds": load_seconds, "peak_memory_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
            "peak_memory_before_training_bytes": before, "auc": float(roc_auc_score(test_label, scores))}


def peer_process(options, table):
    command = [sys.executable, __file__, "--xgboost-on", table, "--rows", str(options.rows), "--trees", str(options.trees),
               "--depth", str(options.depth), "--bins", str(options.bins), "--cores", str(options.cores)]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--podere", default="build/release/bin/podere")
    parser.add_argument("--directory", default=os.path.join(os.environ.get("TMPDIR", "/tmp"), "podere-bench"))
    parser.add_argument("--table", help="a CSV of HIGGS layout to use instead of generated events")
    parser.add_argument("--rows", type=lambda text: int(float(text)), default=1_000_000)
    parser.add_argument("--trees", type=int, default=50)
    parser.add_argument("--depth", type=int, default=10)
    parser.add_argument("--bins", type=int, default=256)
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--executors", type=int, default=1)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--xgboost-on", metavar="TABLE", help=argparse.SUPPRESS)
    return parser.parse_args()


def main():
    options = arguments()
    for name in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE"):  # halve the peer's speed where they are set
        os.environ.pop(name, None)
    if options.xgboost_on:
        print(json.dumps(run_xgboost(options, options.xgboost_on)))
        return
    table = options.table
    if not table:
        os.makedirs(options.directory, exist_ok=True)
        table = os.path.join(options.directory, f"higgs-{options.rows}.csv")
        if not os.path.exists(table):
            podere_line(options.podere, ["generate", "higgs", "--events", str(options.rows + TEST_ROWS), "--seed", "1", "-o", table])
    case = {"bench": "trees", "rows": options.rows, "trees": options.trees, "depth": options.depth, "bins": options.bins,
            "cores": options.cores, "executors": options.executors}
    pairs = []
    for run in range(options.runs):
        ours, peer = run_podere(options, table), peer_process(options, table)
        pairs.append((ours, peer))
        for name, result in (("podere", ours), ("xgboost", peer)):
            print(json.dumps({**case, "run": run, "what": name, **result}), flush=True)

    auc_difference = statistics.median(ours["auc"] - peer["auc"] for ours, peer in pairs)
    if not auc_difference > -AUC_TOLERANCE:
        sys.exit(f"AUC is {-auc_difference:.4f} below the peer's, allowed is {AUC_TOLERANCE}")

    def seconds(result):
        return result["bin_seconds"] + result["train_seconds"]

    print(json.dumps({
        **case, "what": "medians",
        "podere_seconds": statistics.median(seconds(ours) for ours, _ in pairs),
        "xgboost_seconds": statistics.median(seconds(peer) for _, peer in pairs),
        "ratio": statistics.median(seconds(ours) / seconds(peer) for ours, peer in pairs),
        "auc_difference": auc_difference,
        "podere_peak_memory_bytes": statistics.median(ours["peak_memory_bytes"] for ours, _ in pairs),
        "xgboost_peak_memory_bytes": statistics.median(peer["peak_memory_bytes"] for _, peer in pairs),
        "float32_feature_bytes": options.rows * 28 * 4}))


if __name__ == "__main__":
    main()
