#!/usr/bin/python3
"""Reading text beside its peers: csv_peers.py BENCH [--threads 1 2] [--rows N] [--directory DIR] [--runs 3]

BENCH is the program csv_bench, which writes the file if it is not there. Runs it, pandas' C engine and XGBoost's reader
in turn on the same file and prints, as lines of JSON, the median of each and Podere's ratio to it. A first round that is
not counted brings the file into the page cache.
"""
import argparse
import json
import statistics
import subprocess
import sys

PEERS = {
    "pandas": """
import sys, time, numpy, pandas
start = time.perf_counter()
pandas.read_csv(sys.argv[1], header=None, dtype=numpy.float32, engine="c")
print(time.perf_counter() - start)
""",
    "xgboost": """
import sys, time, xgboost
xgboost.set_config(verbosity=0)
start = time.perf_counter()
xgboost.DMatrix(sys.argv[1] + "?format=csv&label_column=0", nthread=int(sys.argv[2]))
print(time.perf_counter() - start)
""",
}


def run_podere(bench: str, arguments: list[str], threads: int) -> dict:
    out = subprocess.run([bench, "--threads", str(threads), *arguments], check=True, capture_output=True, text=True)
    return json.loads(out.stdout)


def run_peer(name: str, path: str, threads: int) -> float:
    """Seconds; nothing but the reading is counted, in a process of its own."""
    command = [sys.executable, "-c", PEERS[name], path, str(threads)]
    out = subprocess.run(command, check=True, capture_output=True, text=True, env={"OMP_NUM_THREADS": str(threads)})
    return float(out.stdout.split()[-1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bench")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--rows", type=int, default=1000000)
    parser.add_argument("--directory")
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    arguments = ["--rows", str(options.rows)] + (["--directory", options.directory] if options.directory else [])

    first = run_podere(options.bench, arguments, 1)
    path, megabytes = first["file"], first["megabytes"]
    for threads in options.threads:
        seconds: dict[str, list[float]] = {"podere": [], **{peer: [] for peer in PEERS}}
        for _ in range(options.runs):
            seconds["podere"].append(run_podere(options.bench, arguments, threads)["seconds"])
            for peer in PEERS:
                seconds[peer].append(run_peer(peer, path, threads))
        ours = statistics.median(seconds["podere"])
        for reader, runs in seconds.items():
            median = statistics.median(runs)
            print(json.dumps({
                "bench": "csv", "reader": reader, "threads": threads, "megabytes": megabytes,
                "runs_seconds": [round(run, 4) for run in runs], "median_seconds": round(median, 4),
                "megabytes_per_second": round(megabytes / median), "podere_times_faster": round(median / ours, 2),
            }), flush=True)


if __name__ == "__main__":
    main()
