#!/usr/bin/python3
"""What the network costs when executors grow trees together: measured, modeled, and the model checked.

collectives  seconds of collectives between 2 and 4 executors on this machine, one JSON line each
predict      seconds a tree on 2 to 1,024 executors, by what one tree sends (the counters of `podere train --json`)
             and the latency and bandwidth of some networks
check        the same training on two network namespaces joined by a wire of known delay and bandwidth, beside what
             the model says from the wire's latency and bandwidth as collectives measure them; needs root

Time of a tree = computing of the rows of one executor + sum over collectives of (steps(p) * latency + bytes(p) /
bandwidth). Steps are those of the algorithms that Open MPI 4.1 chooses (coll_tuned_decision_fixed.c): reduce_scatter by
a ring for p < 64 and large buffers, above by a butterfly; the other, small ones by doubling.

Example: bench/communication.py check --rows 1e6 --networks 1000:0.2 100:1
"""
import argparse
import json
import math
import os
import signal
import subprocess
import sys
import tempfile

from shaped_network import shaped_network

BUILD = os.environ.get("PODERE_BUILD", os.path.join(os.path.dirname(os.path.abspath(__file__)), "../build/release"))
PODERE = os.path.join(BUILD, "bin/podere")
COLLECTIVES = os.path.join(BUILD, "bench/communication_bench")
FEATURES, BINS = 28, 256
RING_BELOW = 64  # ranks
NETWORKS = {"1 Gb/s, 200 us": (200e-6, 1e9 / 8), "10 Gb/s, 50 us": (50e-6, 10e9 / 8),
            "100 Gb/s, 5 us": (5e-6, 100e9 / 8)}


def run_here(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def say(**line):
    print(json.dumps(line), flush=True)


def measure_collectives(run, n_ranks, largest=16 << 20, runs=15):
    """Lines of communication_bench, started by `run`."""
    out = run("mpirun", "-n", str(n_ranks), COLLECTIVES, "--largest", str(largest), "--runs", str(runs))
    return [json.loads(line) for line in out.splitlines()]


def fit(lines):
    """(latency, bandwidth) from the smallest and the largest reduce_scatter between 2 ranks: one step, half the bytes."""
    times = sorted((line["bytes"], line["seconds"]) for line in lines if line.get("collective") == "reduce_scatter")
    latency = times[0][1]
    return latency, times[-1][0] / 2 / max(times[-1][1] - latency, 1e-9)


def train(run, depth, rows, n_trees, n_runs):
    """The facts of the run of median time on 2 executors of one core."""
    with tempfile.TemporaryDirectory() as directory:
        command = [PODERE, "train", "gbt", f"collider:{rows:.0f}", "-o", os.path.join(directory, "model.json"),
                   "--trees", str(n_trees), "--depth", str(depth), "--bins", str(BINS),
                   "--executors", "2", "--cores", "1", "--json"]
        facts = [json.loads(run(*command)) for _ in range(n_runs)]
    return sorted(facts, key=lambda found: found["train_seconds"])[len(facts) // 2]


def of_one_tree(facts):
    """kind: (calls, bytes put into all of them) a tree. With 2 ranks a reduce_scatter sends half of what is put in;
    of the other kinds the bytes that are counted are those put in."""
    return {kind: (found["calls"] / facts["trees"], found["bytes"] / facts["trees"] * (2 if kind == "reduce_scatter" else 1))
            for kind, found in facts["communication"].items()}


def communication_seconds(tree, p, latency, bandwidth):
    doubling = math.ceil(math.log2(p))
    owners = min(p, FEATURES)
    seconds = 0
    for kind, (calls, n) in tree.items():
        if kind == "reduce_scatter" and p < RING_BELOW:
            seconds += (p - 1) * (calls * latency + n / owners / bandwidth)
        elif kind == "reduce_scatter":
            seconds += doubling * calls * latency + n / bandwidth
        elif kind == "all_gather":  # those who own features give their splits to all
            seconds += doubling * calls * latency + (owners - 1) * n / bandwidth
        else:
            seconds += doubling * (calls * latency + n / bandwidth)
    return seconds


def most_histogram_bytes(options):
    """Of a tree with all nodes that its depth has, none of them small: the root, then the smaller of siblings. A tree of
    depth 1 gives the bytes of one node."""
    _, node_bytes = of_one_tree(train(run_here, 1, options.rows, 1, 1))["reduce_scatter"]
    return 2 ** (options.depth - 1) * node_bytes


def predict(options):
    """Tables of seconds a tree. Computing takes a * rows + b seconds, from two runs here; b is what each executor does
    for all nodes, however few its rows are."""
    latency, bandwidth = fit(measure_collectives(run_here, 2))
    computing, trees = {}, {}
    for rows in (options.rows / 10, options.rows):
        facts = train(run_here, options.depth, rows, options.trees, options.runs)
        trees[rows] = of_one_tree(facts)
        computing[rows] = (facts["train_seconds"] / facts["trees"]
                           - communication_seconds(trees[rows], 2, latency, bandwidth))
        say(bench="tree_traffic", rows=rows, seconds_a_tree=facts["train_seconds"] / facts["trees"], per_tree=trees[rows])
    most_bytes = most_histogram_bytes(options)
    few, many = computing
    per_row = (computing[many] - computing[few]) / (many - few) * 2  # an executor had half of the rows
    fixed = max(computing[few] - per_row * few / 2, 0)
    say(bench="computing", seconds_per_row=per_row, seconds_fixed=fixed, latency=latency, bandwidth=bandwidth,
        most_histogram_bytes=most_bytes)
    for name, (latency, bandwidth) in NETWORKS.items():
        print(f"\nSeconds a tree on {name}; in brackets those of communication\n")
        sizes = (options.rows, 10 * options.rows, 1000 * options.rows)
        print("| executors of one core | " + " | ".join(f"{size / 1e6:,.0f} M rows" for size in sizes) + " |")
        print("|---" * (1 + len(sizes)) + "|")
        for p in (2, 4, 8, 16, 32, 64, 128, 256, 512, 1024):
            cells = []
            for size in sizes:
                tree = dict(trees[many])
                if size > many:
                    tree["reduce_scatter"] = (tree["reduce_scatter"][0], most_bytes)
                seconds = communication_seconds(tree, p, latency, bandwidth)
                cells.append(f"{per_row * size / p + fixed + seconds:.3g} ({seconds:.2g})")
            print(f"| {p:,} | " + " | ".join(cells) + " |", flush=True)


def on_wire(wire, options, n_trees, n_runs):
    """The facts of the run of median time, and the bytes that the busier end sent in each run."""
    before = wire.bytes_sent()
    facts = train(wire.run, options.depth, options.rows, n_trees, n_runs)
    return facts, max(after - start for start, after in zip(before, wire.bytes_sent())) / n_runs


def bytes_of(facts):
    return sum(found["bytes"] for found in facts["communication"].values())


def check(options):
    """One line a wire: seconds and bytes as the model says them and as they are."""
    base_latency, base_bandwidth = fit(measure_collectives(run_here, 2))
    here = train(run_here, options.depth, options.rows, options.trees, options.runs)
    tree = of_one_tree(here)
    computing = here["train_seconds"] - here["trees"] * communication_seconds(tree, 2, base_latency, base_bandwidth)
    for network in options.networks:
        megabits, delay_ms = (float(part) for part in network.split(":"))
        with shaped_network(delay_ms / 1000, megabits) as wire:
            latency, bandwidth = fit(measure_collectives(wire.run, 2, largest=4 << 20, runs=5))
            one, one_on_wire = on_wire(wire, options, 1, 1)
            facts, all_on_wire = on_wire(wire, options, options.trees, options.runs)
        predicted = computing + here["trees"] * communication_seconds(tree, 2, latency, bandwidth)
        say(bench="shaped_network", megabits=megabits, delay_ms=delay_ms, rows=options.rows, trees=here["trees"],
            latency_ms=round(1000 * latency, 3), megabits_measured=round(bandwidth * 8 / 1e6, 1),
            unshaped_seconds=round(here["train_seconds"], 3), predicted_seconds=round(predicted, 3),
            measured_seconds=round(facts["train_seconds"], 3),
            # Less the first tree and what comes before it, which is not counted.
            megabytes_counted=round((bytes_of(facts) - bytes_of(one)) / 1e6, 2),
            megabytes_on_wire=round((all_on_wire - one_on_wire) / 1e6, 2))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", default=["collectives", "predict", "check"],
                        help="collectives, predict, check [all]")
    parser.add_argument("--rows", type=float, default=1e6)
    parser.add_argument("--trees", type=int, default=10)
    parser.add_argument("--depth", type=int, default=10)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--networks", nargs="+", default=["1000:0.2", "100:1"], metavar="MEGABITS:DELAY_MS")
    options = parser.parse_args()
    # As podere/launch/local.cc starts executors.
    os.environ.update(OMPI_MCA_pml="ob1", OMPI_MCA_btl="self,vader", OMPI_MCA_btl_vader_single_copy_mechanism="none",
                      OMPI_MCA_mpi_yield_when_idle="0", OMPI_MCA_hwloc_base_binding_policy="none",
                      OMPI_MCA_rmaps_base_oversubscribe="1", OMPI_ALLOW_RUN_AS_ROOT="1",
                      OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    parts = {"collectives": lambda: [say(**line) for n in (2, 4) for line in measure_collectives(run_here, n)],
             "predict": lambda: predict(options), "check": lambda: check(options)}
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # leave no namespaces
    for part in options.parts:
        if part not in parts:
            parser.error(f"no part '{part}', there are {', '.join(parts)}")
        if part == "check" and os.geteuid() != 0:
            sys.exit("check makes network namespaces: it needs root")
        parts[part]()


if __name__ == "__main__":
    main()
