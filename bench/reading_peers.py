"""Reading a file by podere and by another program in turn, as parquet_peers.py and hdf5_peers.py do."""
import json
import os
import statistics
import subprocess
import sys


def on_cores(n: int, command: list[str]) -> str:
    cores = sorted(os.sched_getaffinity(0))[:n]
    return subprocess.run(command, check=True, capture_output=True, text=True,
                          preexec_fn=lambda: os.sched_setaffinity(0, cores)).stdout


def compare(podere: str, path: str, mean: float, program: str, cores: int, runs: int) -> tuple[float, float]:
    """Median seconds of `podere describe`, for loading alone, and of a Python program with the path and the cores as
    arguments, which prints its own. Checks the mean of the first column."""
    own, other = [], []
    for run in range(runs + 1):  # the first brings the file into memory
        facts = json.loads(on_cores(cores, [podere, "describe", path, "--json"]))
        assert abs(facts["columns"][0]["mean"] - mean) < 1e-4 * max(1, abs(mean)), facts["columns"][0]
        seconds = float(on_cores(cores, [sys.executable, "-c", program, path, str(cores)]))
        if run > 0:
            own.append(facts["load_seconds"])
            other.append(seconds)
    return statistics.median(own), statistics.median(other)
