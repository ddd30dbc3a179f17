#!/usr/bin/python3
"""Podere's networks beside PyTorch, on the same simulated events: networks.py [nn] [mlp] [--rows N] [--cores C ...]

nn: 28-100-1, relu, Adam, batches of 3200, an epoch's seconds with the rows resident. mlp: 28-30-30-2, sigmoid, L-BFGS
with strong Wolfe line search, 100 iterations. One line of JSON a run, in turns, with the AUC on other events, which must
be right, and for nn the share of this machine's rate of large matrix products (OpenBLAS, in the same run). PyTorch is that
of the Python that runs this (Debian: python3-torch). --spark adds Spark MLlib's perceptron to mlp, of build/peers
(bench/peers.sh puts it there).

Example: bench/networks.py nn --epochs 5 --cores 1 2 --runs 3
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

import openblas

HERE = os.path.dirname(os.path.abspath(__file__))
PODERE = os.environ.get("PODERE", os.path.join(HERE, "../build/release/bin/podere"))
TEST_ROWS = 100_000
FLOP_PER_ROW = 4 * (28 + 1) * 100 + 6 * 101  # of nn: forward, and by weights; the last layer by its inputs too


def podere(*arguments):
    result = subprocess.run([PODERE, *map(str, arguments), "--json"], check=True, capture_output=True, text=True)
    return json.loads(result.stdout)


def measure_podere(job, options, cores, folder):
    model = os.path.join(folder, "network.json")
    source = f"collider:{options.rows}"
    if job == "nn":
        facts = podere("train", "nn", source, "--layers", 100, "--batch-size", options.batch_size, "--epochs", options.epochs,
                       "--initialization", options.initialization, "--seed", options.seed,
                       "--executors", options.executors, "--cores", cores, "-o", model)
    else:
        facts = podere("train", "mlp", source, "--layers", "30,30", "--iterations", options.iterations, "--tolerance", 0,
                       "--seed", options.seed, "--executors", options.executors, "--cores", cores, "-o", model)
    auc = podere("evaluate", model, f"collider:{TEST_ROWS}?seed=1", "--cores", cores)["auc"]
    return {"program": "podere", "seconds": facts["train_seconds"], "epochs": facts["epochs"], "loss": facts["loss"], "auc": auc,
            "prepare_seconds": facts["prepare_seconds"], "peak_memory_bytes": facts["peak_memory_bytes"]}


PEER = r"""
import json, sys, time
import numpy, torch
job, train, test, cores, epochs, batch, iterations, chunk, seed = json.loads(sys.argv[1])
torch.set_num_threads(cores)
torch.manual_seed(seed)
def load(path):
    table = numpy.load(path)
    return torch.from_numpy(table[:, 1:].copy()), torch.from_numpy(table[:, 0].copy())
x, y = load(train)
tx, ty = load(test)
mean, scale = x.mean(0), x.std(0)
x, tx = (x - mean) / scale, (tx - mean) / scale
n = len(y)
start = time.perf_counter()
if job == "nn":
    net = torch.nn.Sequential(torch.nn.Linear(28, 100), torch.nn.ReLU(), torch.nn.Linear(100, 1))
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-3, foreach=True)
    of = torch.nn.BCEWithLogitsLoss()
    y = y[:, None]
    for epoch in range(epochs):
        order = torch.randperm(n)
        total = 0.0
        for i in range(0, n, batch):
            rows = order[i:i + batch]
            optimizer.zero_grad(set_to_none=True)
            loss = of(net(x[rows]), y[rows])
            loss.backward()
            optimizer.step()
            total += loss.item() * len(rows)
    steps, loss = epochs, total / n
else:
    net = torch.nn.Sequential(torch.nn.Linear(28, 30), torch.nn.Sigmoid(), torch.nn.Linear(30, 30), torch.nn.Sigmoid(),
                              torch.nn.Linear(30, 2))
    for layer in net:
        if isinstance(layer, torch.nn.Linear):
            torch.nn.init.xavier_uniform_(layer.weight); torch.nn.init.zeros_(layer.bias)
    optimizer = torch.optim.LBFGS(net.parameters(), max_iter=iterations, max_eval=10 * iterations, history_size=10,
                                  tolerance_grad=0, tolerance_change=0, line_search_fn="strong_wolfe")
    of = torch.nn.CrossEntropyLoss(reduction="sum")
    labels = y.long()
    last = [0.0]
    def closure():
        optimizer.zero_grad(set_to_none=True)
        total = 0.0
        for i in range(0, n, chunk):
            loss = of(net(x[i:i + chunk]), labels[i:i + chunk]) / n
            loss.backward()
            total = total + loss.detach()
        last[0] = float(total)
        return total
    optimizer.step(closure)
    steps, loss = optimizer.state[optimizer._params[0]]["n_iter"], last[0]
seconds = time.perf_counter() - start
with torch.no_grad():
    z = net(tx)
    score = (z[:, 0] if job == "nn" else z[:, 1] - z[:, 0]).double().numpy()
rank = numpy.empty(len(score)); rank[numpy.argsort(score, kind="stable")] = numpy.arange(1, len(score) + 1)
positive = ty.numpy() == 1
auc = (rank[positive].sum() - positive.sum() * (positive.sum() + 1) / 2) / (positive.sum() * (~positive).sum())
print(json.dumps({"program": "pytorch " + torch.__version__, "seconds": seconds, "epochs": steps, "loss": loss, "auc": auc}))
"""


def measure_pytorch(job, options, cores, folder):
    arguments = [job, os.path.join(folder, "train.npy"), os.path.join(folder, "test.npy"), cores, options.epochs,
                 options.batch_size, options.iterations, 8192, options.seed]
    # OpenBLAS's own threads beside those of PyTorch only make it slower: measured (docs/performance.md).
    environment = {**os.environ, **openblas.quickest_kernel(), "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": str(cores)}
    result = subprocess.run([sys.executable, "-c", PEER, json.dumps(arguments)], check=True, capture_output=True, text=True,
                            env=environment)
    return json.loads(result.stdout)


def measure_spark(job, options, cores, folder):
    case = {"train": os.path.join(folder, "train.csv"), "test": os.path.join(folder, "test.csv"), "cores": cores,
            "memory": options.spark_memory, "folder": folder, "iterations": options.iterations,
            "seed": options.seed}
    result = subprocess.run([os.path.join(HERE, "../build/peers/bin/python"), os.path.join(HERE, "network_spark.py"),
                             json.dumps(case)], check=True, capture_output=True, text=True)
    return json.loads(result.stdout)


def events(n_rows, seed, path):
    """path.csv without a header, and float32 [n_rows x 29], the label first, as path.npy of NumPy's."""
    import numpy
    import pandas
    subprocess.run([PODERE, "generate", "higgs", "--events", str(n_rows), "--seed", str(seed), "-o", path + ".csv"], check=True,
                   capture_output=True)
    table = pandas.read_csv(path + ".csv", header=None, dtype=numpy.float32)
    numpy.save(path + ".npy", numpy.ascontiguousarray(table.to_numpy()))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("jobs", nargs="*", metavar="nn|mlp", help="which networks [both]")
    parser.add_argument("--rows", type=lambda text: int(float(text)), default=1_000_000)
    parser.add_argument("--cores", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--executors", type=int, default=1)
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--iterations", type=int, default=100)
    parser.add_argument("--batch-size", type=int, default=3200)
    parser.add_argument("--initialization", default="pytorch", help="of Podere's NN [pytorch, as the peer]")
    parser.add_argument("--seed", type=int, default=0, help="of all programs' starting weights and batches")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--spark", action="store_true", help="mlp beside Spark MLlib's perceptron too")
    parser.add_argument("--spark-memory", default="8g", help="heap of Spark's Java virtual machine [8g]")
    parser.add_argument("--alone", action="store_true", help="Podere without its peer")
    options = parser.parse_args()
    jobs = options.jobs or ["nn", "mlp"]
    if set(jobs) - {"nn", "mlp"}:
        parser.error(f"jobs are nn and mlp, not {' '.join(jobs)}")
    with tempfile.TemporaryDirectory() as folder:
        if options.spark or not options.alone:
            events(options.rows, 0, os.path.join(folder, "train"))
            events(TEST_ROWS, 1, os.path.join(folder, "test"))
        for job in jobs:
            peers = [] if options.alone else [measure_pytorch]
            if options.spark and job == "mlp":
                peers.append(measure_spark)
            for cores in options.cores:
                rate = openblas.product_rate(cores) if job == "nn" else 0  # and where it cannot be measured
                for run in range(options.runs):
                    for measure in (measure_podere, *peers):
                        facts = measure(job, options, cores, folder)
                        facts["seconds_per_epoch"] = facts["seconds"] / facts["epochs"]
                        if job == "nn":
                            reached = FLOP_PER_ROW * options.rows / facts["seconds_per_epoch"] / 1e9
                            facts |= {"gflops": reached, "share_of_product_rate": reached / rate if rate else None}
                        print(json.dumps({"bench": "networks", "job": job, "rows": options.rows, "cores": cores,
                                          "executors": options.executors, "run": run, **facts,
                                          "load_average": os.getloadavg()[0]}), flush=True)
                        assert facts["auc"] > 0.6, facts


if __name__ == "__main__":
    sys.exit(main())
