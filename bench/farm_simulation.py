#!/usr/bin/python3
"""What policies do to a shared cluster: simulates all of them on the same random traces, and draws the chart of docs/farms.md.

Each trace is a cluster on which farms come, want more and less, and rest; each policy lives through each of them. One
JSON line a trace and policy, then the table of the page, in Markdown. Checked: no policy of Podere takes an executor that was
not needed, and none makes a cycle.

Example: bench/farm_simulation.py --picture docs/images/farm-simulation.svg
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile

PODERE = os.environ.get("PODERE", os.path.join(os.path.dirname(os.path.abspath(__file__)), "../build/release/bin/podere"))
POLICIES = ["proportional", "fair-share", "history-aware", "original"]
ROWS = [  # of the table: name, how to sum it up over traces, how to write it
    ("wait for a guarantee, median", "wait_median_seconds", statistics.mean, "{:.0f} s"),
    ("99 % of them within", "wait_p99_seconds", statistics.mean, "{:,.0f} s"),
    ("longest", "wait_longest_seconds", max, "{:,.0f} s"),
    ("missing below guarantees, executor-hours", "missing_executor_seconds", lambda values: sum(values) / 3600, "{:,.0f}"),
    ("executors reclaimed for guarantees", "reclaimed", sum, "{:,.0f}"),
    ("of these more than needed", "reclaimed_needlessly", sum, "{:,.0f}"),
    ("executors reclaimed for shares", "reclaimed_for_shares", sum, "{:,.0f}"),
    ("rooms that went back to the farm they were reclaimed from", "returned", sum, "{:,.0f}"),
    ("cycles A → B → A", "cycles", sum, "{:,.0f}"),
    ("work lost, executor-hours", "work_lost_executor_seconds", lambda values: sum(values) / 3600, "{:,.1f}"),
    ("utilization of what is asked for", "utilization_of_asked", statistics.mean, "{:.3f}"),
    ("fairness of borrowed room (Jain)", "fairness", statistics.mean, "{:.3f}"),
    ("decisions a second", "decisions_per_second", statistics.mean, "{:,.0f}"),
]


def run(*arguments):
    done = subprocess.run([PODERE, "farm", *map(str, arguments)], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(done.stderr)
    return done.stdout


def simulate(options, seed, folder):
    """{policy: its report} on the trace of a seed."""
    trace = os.path.join(folder, "trace.jsonl")
    run("trace", "--farms", options.farms, "--nodes", options.nodes, "--slots", options.slots, "--hours", options.hours,
        "--guaranteed", options.guaranteed, "--change-minutes", options.change_minutes, "--adopted", options.adopted, "--seed", seed, "-o", trace)
    reports = {}
    for policy in POLICIES:
        reports[policy] = json.loads(run("simulate", trace, "--policy", policy, "--json"))["policies"][0]
        print(json.dumps({"bench": "farm_simulation", "seed": seed, "farms": options.farms, "nodes": options.nodes,
                          "slots": options.slots, **reports[policy]}), flush=True)
    return reports


def table(traces):
    lines = ["| | " + " | ".join(POLICIES) + " |", "|---|" + "---:|" * len(POLICIES)]
    for name, member, sum_up, form in ROWS:
        cells = []
        for policy in POLICIES:
            values = [reports[policy][member] for reports in traces]
            cells.append("-" if None in values else form.format(sum_up(values)))
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def picture(traces, path):
    """Bars, the policies side by side."""
    import matplotlib
    matplotlib.use("svg")
    import matplotlib.pyplot as plt
    matplotlib.rcParams.update({"svg.hashsalt": "podere", "font.family": "sans-serif", "svg.fonttype": "none"})
    charts = [("missing below guarantees, executor-hours", "missing_executor_seconds", lambda values: sum(values) / 3600),
              ("executors reclaimed for guarantees", "reclaimed", sum),
              ("work lost, executor-hours", "work_lost_executor_seconds", lambda values: sum(values) / 3600),
              ("fairness of borrowed room", "fairness", statistics.mean)]
    figure, axes = plt.subplots(1, len(charts), figsize=(11, 2.9))
    colors = ["#1f77b4", "#2a9d8f", "#7a9e3b", "#c0392b"]
    for axis, (title, member, sum_up) in zip(axes, charts):
        values = [sum_up([reports[policy][member] for reports in traces]) for policy in POLICIES]
        bars = axis.bar(POLICIES, values, color=colors)
        axis.bar_label(bars, labels=[f"{value:,.2f}" if value < 10 else f"{value:,.0f}" for value in values], fontsize=8)
        axis.set_title(title, fontsize=9)
        axis.tick_params(axis="x", labelrotation=25, labelsize=8)
        axis.tick_params(axis="y", labelsize=8)
        if max(values) > 100 * min(values):
            axis.set_yscale("log")
        axis.margins(y=0.15)
        axis.spines[["top", "right"]].set_visible(False)
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--farms", type=int, default=30)
    parser.add_argument("--nodes", type=int, default=20)
    parser.add_argument("--slots", type=int, default=8)
    parser.add_argument("--hours", type=float, default=8)
    parser.add_argument("--change-minutes", type=float, default=20)
    parser.add_argument("--guaranteed", type=float, default=0.7)
    parser.add_argument("--adopted", type=float, default=0)
    parser.add_argument("--traces", type=int, default=5)
    parser.add_argument("--picture", metavar="FILE.svg")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        traces = [simulate(options, seed, folder) for seed in range(1, options.traces + 1)]
    print(table(traces))
    if options.picture:
        picture(traces, options.picture)
    for reports in traces:
        for policy in POLICIES[:3]:
            if reports[policy]["reclaimed_needlessly"] or reports[policy]["cycles"]:
                sys.exit(f"{policy} reclaimed executors that were not needed, or made a cycle")


if __name__ == "__main__":
    main()
