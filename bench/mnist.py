#!/usr/bin/python3
"""A network of 784-128-64-10 on MNIST, in every way there is to train it: mnist.py FOLDER [--picture chart.svg]

Adam, learning rate 0.001 that falls to 0 along a cosine, batches of 100, one core for each executor.

FOLDER has the four files of MNIST (train-images-idx3-ubyte.gz and so on). All 60,000 pictures are trained on, accuracy is
of the 10,000 others, after each epoch. One line of JSON a run, in turns: seconds, steps a second, accuracy in the end and
over time; for workers and servers, how stale gradients were. Accuracy is checked. PyTorch is that of the Python that runs
this (Debian: python3-torch).

Example: bench/mnist.py mnist --runs 3 --picture docs/images/mnist.svg
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile

import openblas

PODERE = os.environ.get("PODERE", os.path.join(os.path.dirname(os.path.abspath(__file__)), "../build/release/bin/podere"))
LAYERS = "128,64"
WAYS = {
    "1 executor": ["--executors", 1],
    "2 executors": ["--executors", 2],
    "1 worker, 1 server": ["--workers", 1, "--servers", 1, "--async"],
    "2 workers, 1 server": ["--workers", 2, "--servers", 1, "--async"],
    "2 workers, 1 server, in step": ["--workers", 2, "--servers", 1],
}


def measure_podere(way, options):
    with tempfile.TemporaryDirectory() as folder:
        command = [PODERE, "train", "nn", os.path.join(options.folder, "train-images-idx3-ubyte.gz"),
                   "--validation", os.path.join(options.folder, "t10k-images-idx3-ubyte.gz"), "--loss", "cross-entropy",
                   "--layers", LAYERS, "--schedule", "cosine", "--epochs", options.epochs, "--batch-size", options.batch_size, "--cores", 1,
                   "-o", os.path.join(folder, "network.json"), "--json", *WAYS[way]]
        facts = json.loads(subprocess.run([*map(str, command)], check=True, capture_output=True, text=True).stdout)
    curve = facts["curve"]
    run = {"seconds": curve["seconds"][-1], "steps_per_second": facts["steps"] / curve["seconds"][-1],
           "curve_seconds": curve["seconds"], "curve_accuracy": curve["validation_accuracy"],
           "load_seconds": facts["load_seconds"], "peak_memory_bytes": facts["peak_memory_bytes"]}
    if servers := facts["parameter_servers"]:
        run |= {name: servers[name] for name in ("gradients_by_staleness", "mean_staleness", "wait_shares")}
        run["steps_per_second_of_workers"] = servers["steps_per_second"]
    return run


PEER = r"""
import gzip, json, os, sys, time
import numpy, torch
folder, epochs, batch = json.loads(sys.argv[1])
torch.set_num_threads(1)
torch.manual_seed(0)
def load(name):
    images = numpy.frombuffer(gzip.open(os.path.join(folder, name + "-images-idx3-ubyte.gz")).read(), "u1", offset=16)
    labels = numpy.frombuffer(gzip.open(os.path.join(folder, name + "-labels-idx1-ubyte.gz")).read(), "u1", offset=8)
    return torch.from_numpy(images.reshape(-1, 784).astype("f")), torch.from_numpy(labels.astype("i8"))
x, y = load("train")
tx, ty = load("t10k")
start = time.perf_counter()
mean, scale = x.mean(0), x.std(0)
scale[scale == 0] = 1
x, tx = (x - mean) / scale, (tx - mean) / scale
net = torch.nn.Sequential(torch.nn.Linear(784, 128), torch.nn.ReLU(), torch.nn.Linear(128, 64), torch.nn.ReLU(),
                          torch.nn.Linear(64, 10))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3, foreach=True)
schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, epochs * -(-len(y) // batch))
of = torch.nn.CrossEntropyLoss()
seconds, accuracy = [], []
for epoch in range(epochs):
    order = torch.randperm(len(y))
    for i in range(0, len(y), batch):
        rows = order[i:i + batch]
        optimizer.zero_grad(set_to_none=True)
        of(net(x[rows]), y[rows]).backward()
        optimizer.step()
        schedule.step()
    with torch.no_grad():
        accuracy.append(float((net(tx).argmax(1) == ty).float().mean()))
    seconds.append(time.perf_counter() - start)
print(json.dumps({"seconds": seconds[-1], "steps_per_second": epochs * -(-len(y) // batch) / seconds[-1],
                  "curve_seconds": seconds, "curve_accuracy": accuracy}))
"""


def measure_pytorch(options):
    arguments = json.dumps([options.folder, options.epochs, options.batch_size])
    result = subprocess.run([sys.executable, "-c", PEER, arguments], check=True, capture_output=True, text=True,
                            env={**os.environ, **openblas.quickest_kernel(), "OPENBLAS_NUM_THREADS": "1",
                                 "OMP_NUM_THREADS": "1"})
    return json.loads(result.stdout)


def draw(runs, path):
    """Accuracy over time of the median run of each way."""
    import matplotlib
    matplotlib.use("svg")
    matplotlib.rcParams["svg.fonttype"] = "none"
    import matplotlib.pyplot as plt
    figure, axes = plt.subplots(figsize=(8, 4.5))
    for way, measured in runs.items():
        run = sorted(measured, key=lambda run: run["seconds"])[len(measured) // 2]
        style = "--" if way.startswith("PyTorch") else ":" if "server" in way else "-"
        axes.plot(run["curve_seconds"], [100 * a for a in run["curve_accuracy"]], style, marker=".", label=way)
    axes.axhline(97.5, color="grey", linewidth=0.8)
    axes.set_xlabel("seconds of training, a point an epoch")
    axes.set_ylabel("test accuracy, %")
    axes.set_ylim(93, 98.5)
    axes.legend(loc="lower right")
    axes.grid(alpha=0.3)
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder")
    parser.add_argument("--epochs", type=int, default=12)
    parser.add_argument("--batch-size", type=int, default=100)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--alone", action="store_true", help="Podere without its peer")
    parser.add_argument("--picture", help="SVG of accuracy over time")
    options = parser.parse_args()
    runs = {}
    for run in range(options.runs):
        for way in WAYS if options.alone else [*WAYS, "PyTorch, 1 core"]:
            facts = measure_podere(way, options) if way in WAYS else measure_pytorch(options)
            runs.setdefault(way, []).append(facts)
            accuracy = facts["curve_accuracy"][-1]
            print(json.dumps({"bench": "mnist", "way": way, "run": run, "accuracy": accuracy, **facts,
                              "load_average": os.getloadavg()[0]}), flush=True)
            assert accuracy > 0.97, facts
    for way, measured in runs.items():
        median = {name: statistics.median(run[name] for run in measured) for name in ("seconds", "steps_per_second")}
        print(json.dumps({"bench": "mnist", "way": way, "runs": len(measured), **median, "accuracy":
                          statistics.median(run["curve_accuracy"][-1] for run in measured)}))
    if options.picture:
        draw(runs, options.picture)


if __name__ == "__main__":
    sys.exit(main())
