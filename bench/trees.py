#!/usr/bin/python3
"""Boosted trees beside their peers: same rows, same parameters, same cores, in turn, each run a process of its own.

Prints one JSON line a run and keeps it in --results, of which bench/tree_report.py makes tables and a chart. Peers are
used from build/peers (bench/peers.sh), else from Debian, else named as absent. How parameters map to those of a peer
stands beside it in bench/tree_peers.py and bench/tree_spark.py.

train: binning and training of rows in memory (Podere reads its CSV before), AUC on other events, peak memory.
job: from CSV to AUC on the test part. predict: margins of the training rows, in memory, on models of equal shape.

Example: bench/trees.py --rows 1e6 --cores 1 2 --bins 256 --depth 10 --peers podere xgboost lightgbm
"""
import argparse
import itertools
import json
import os
import signal
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
MODULES = {"xgboost": "xgboost", "lightgbm": "lightgbm", "lightgbm-quantised": "lightgbm", "scikit-learn": "sklearn",
           "spark": "pyspark"}
OURS = ("podere", "podere-executors")  # one executor with all cores; an executor a core
PEERS_OF_PART = {"train": [*OURS, *MODULES],
                 "job": ["podere", "xgboost", "lightgbm", "lightgbm-quantised", "scikit-learn"],
                 "predict": ["podere", "xgboost", "lightgbm"]}
TEST_ROWS = 100_000
AUC_TOLERANCE = 0.005  # of a model that is right; a million rows differ by less than 0.001


class Failed(Exception):
    """A run without result, and why."""


def run(command, limit):
    """What `command` says as one JSON line, and the seconds it took."""
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               start_new_session=True)
    try:
        out, errors = process.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        raise Failed(f"did not finish in {limit:.0f} s") from None
    finally:  # an interrupted benchmark leaves nothing running either
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
    if process.returncode != 0:
        raise Failed((errors.strip().splitlines() or [f"ended with {process.returncode}"])[-1][:200])
    return json.loads(out.splitlines()[-1]), time.perf_counter() - start


def pythons():
    """For each peer the Python that has it: that of build/peers, else Debian's, else None."""
    found = {}
    for module in set(MODULES.values()):
        found[module] = next((python for python in (os.path.join(HERE, "../build/peers/bin/python"), "/usr/bin/python3")
                              if os.path.exists(python) and subprocess.run(
                                  [python, "-c", f"import {module}"], capture_output=True).returncode == 0), None)
    return {peer: found[module] for peer, module in MODULES.items()}


def run_podere(part, peer, case, options):
    executors = case["cores"] if peer == "podere-executors" else 1
    shape = ["--executors", str(executors), "--cores", str(case["cores"] // executors), "--json"]
    model = case["model"]

    def podere(*arguments):
        return run([options.podere, *arguments, *shape], options.limit)

    def train():
        return podere("train", "gbt", case["train"], "-o", model, "--trees", str(case["trees"]),
                      "--depth", str(case["depth"]), "--bins", str(case["bins"]), "--learning-rate", "0.1",
                      "--lambda", "1", "--min-child-weight", "1")

    if part == "predict":
        if not os.path.exists(model):
            train()
        facts, _ = podere("predict", model, case["train"], "--label", "0", "--margin", "-o", model + ".margins")
        os.remove(model + ".margins")
        nodes = run([options.podere, "model", model, "--json"], options.limit)[0]["nodes"]
        return {"predict_seconds": facts["predict_seconds"], "leaves": (nodes + case["trees"]) // 2}
    trained, train_wall = train()
    tested, test_wall = podere("evaluate", model, case["test"])
    facts = {"bin_seconds": trained["bin_seconds"], "train_seconds": trained["train_seconds"], "auc": tested["auc"]}
    if part == "job":
        return {**facts, "seconds": train_wall + test_wall}
    peak = executors * trained["peak_memory_bytes"]  # of the largest executor, so their sum is not above this
    return {**facts, "load_seconds": trained["load_seconds"], "peak_memory_bytes": peak,
            "memory_above_data_bytes": peak - os.path.getsize(os.path.join(case["arrays"], "train.features.npy"))}


def run_peer(part, peer, case, options):
    if options.python[peer] is None:
        raise Failed("absent")
    os.environ.update({name: str(case["cores"]) for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")})
    command = [options.python[peer], os.path.join(HERE, "tree_peers.py"), part, peer, json.dumps(case)]
    facts, wall = run(command, options.limit)
    return {**facts, "process_seconds": wall}


def make_data(rows, options):
    """Events as CSV, and the same in the binary form that peers read."""
    directory = os.path.join(options.directory, f"trees-{rows}")
    os.makedirs(directory, exist_ok=True)
    files = {part: os.path.join(directory, part + ".csv") for part in ("train", "test")} | {"arrays": directory}
    for seed, part, events in ((1, "train", rows), (2, "test", TEST_ROWS)):
        if not os.path.exists(files[part]):
            run([options.podere, "generate", "higgs", "--events", str(events), "--seed", str(seed), "-o", files[part],
                 "--json"], None)
    python = next(filter(None, options.python.values()), None)
    if python and not os.path.exists(os.path.join(directory, "test.label.npy")):  # the last that is written
        case = json.dumps({**files, "cores": os.cpu_count()})
        run([python, os.path.join(HERE, "tree_peers.py"), "convert", "-", case], None)
    return files


def case_of(peer, files, rows, depth, bins, cores, options):
    suffix = "txt" if peer.startswith("lightgbm") else "json"
    trees = options.spark_trees or options.trees if peer == "spark" else options.trees
    model = os.path.join(files["arrays"], f"{peer}-{trees}-{depth}-{bins}.{suffix}")
    return {**files, "model": model, "rows": rows, "trees": trees, "all_trees": options.trees, "depth": depth, "bins": bins,
            "cores": cores, "memory": options.spark_memory}


def measure(options, rows, depth, bins):
    """All runs of one table and shape of trees; cores and peers take turns. Returns the lines."""
    files, lines, given_up = make_data(rows, options), [], set()
    for number, cores, peer in itertools.product(range(options.runs), options.cores, options.peers):
        if (cores, peer) in given_up or (peer == "podere-executors" and cores == 1):
            continue
        os.sched_setaffinity(0, options.cpus[:cores])  # what is started inherits it
        line = {"bench": "trees", "started": options.started, "part": options.part, "peer": peer, "rows": rows,
                "depth": depth, "bins": bins, "trees": options.trees, "cores": cores, "run": number,
                "load_average": round(os.getloadavg()[0], 1)}
        case = case_of(peer, files, rows, depth, bins, cores, options)
        try:
            line.update((run_podere if peer in OURS else run_peer)(options.part, peer, case, options))
        except Failed as failure:
            line["failed"] = str(failure)
            given_up.add((cores, peer))
        lines.append(line)
        print(json.dumps(line), flush=True)
        with open(options.results, "a") as results:
            results.write(json.dumps(line) + "\n")
    return lines


def check_auc(lines):
    """A benchmark of wrong models says nothing."""
    of_peers = [line["auc"] for line in lines if "auc" in line and line["peer"] not in (*OURS, "spark")]
    for line in lines:
        if line["peer"] in OURS and "failed" in line:
            sys.exit(f"{line['peer']}: {line['failed']}")
        if line["peer"] in OURS and of_peers and line.get("auc", 1) < max(of_peers) - AUC_TOLERANCE:
            sys.exit(f"{line['peer']}: AUC is {line['auc']:.4f}, the best peer's {max(of_peers):.4f}")


def arguments():
    def whole(text):
        return int(float(text))

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", choices=PEERS_OF_PART, default="train")
    parser.add_argument("--rows", type=whole, nargs="+", default=[1_000_000])
    parser.add_argument("--depth", type=int, nargs="+", default=[10])
    parser.add_argument("--bins", type=int, nargs="+", default=[256])
    parser.add_argument("--cores", type=int, nargs="+", default=[2])
    parser.add_argument("--trees", type=int, default=50)
    parser.add_argument("--peers", nargs="+", choices=PEERS_OF_PART["train"], help="all but spark unless given")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--limit", type=float, default=600, help="seconds that one run may take")
    parser.add_argument("--spark-trees", type=int, help="train Spark with 1 and with so many trees only, and extrapolate")
    parser.add_argument("--spark-memory", default="8g", help="heap of Spark's Java virtual machine")
    parser.add_argument("--podere", default="build/release/bin/podere")
    parser.add_argument("--directory", default=os.path.join(os.environ.get("TMPDIR", "/tmp"), "podere-bench"))
    parser.add_argument("--results", help="file of JSON lines to add to [DIRECTORY/trees.jsonl]")
    options = parser.parse_args()
    options.cpus = sorted(os.sched_getaffinity(0))
    if max(options.cores) > len(options.cpus) or min(options.cores) < 1:
        parser.error(f"--cores {max(options.cores)}: there are {len(options.cpus)}")
    allowed = PEERS_OF_PART[options.part]
    options.peers = options.peers or [peer for peer in allowed if peer != "spark"]
    for peer in options.peers:
        if peer not in allowed:
            parser.error(f"--part {options.part} knows {', '.join(allowed)}; not {peer}")
    os.makedirs(options.directory, exist_ok=True)
    options.results = options.results or os.path.join(options.directory, "trees.jsonl")
    options.python = pythons()
    options.started = int(time.time())
    return options


def main():
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    for name in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE"):  # halve a peer's speed where they are set
        os.environ.pop(name, None)
    options = arguments()
    for rows, depth, bins in itertools.product(options.rows, options.depth, options.bins):
        check_auc(measure(options, rows, depth, bins))


if __name__ == "__main__":
    main()
