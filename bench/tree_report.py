#!/usr/bin/python3
"""Tables (Markdown) and a chart (SVG) of what bench/trees.py has measured: tree_report.py [--chart FILE] RESULTS...

Medians of the runs. Ratios are Podere's figure by the peer's, the median over pairs of one turn. Bytes are in MiB.
"""
import argparse
import collections
import json
import statistics
from xml.sax.saxutils import escape

BEST_OF = ("xgboost", "lightgbm", "lightgbm-quantised")
NAMES = {"podere": "Podere", "podere-executors": "Podere, 1 core an executor", "xgboost": "XGBoost",
         "lightgbm": "LightGBM", "lightgbm-quantised": "LightGBM, quantized", "scikit-learn": "scikit-learn",
         "spark": "Spark MLlib"}


def together(line):
    """Seconds of binning and training."""
    return (line["bin_seconds"] or 0) + line["train_seconds"]


def turn(line):
    """What ran in turn has this in common."""
    return line["started"], line["run"]


def ratio(ours, theirs, value):
    """Median over turns of ours by theirs; of several peers, the least in each turn counts. None without pairs."""
    of_turn = collections.defaultdict(list)
    for line in theirs:
        of_turn[turn(line)].append(value(line))
    ratios = [value(line) / min(of_turn[turn(line)]) for line in ours if turn(line) in of_turn]
    return statistics.median(ratios) if ratios else None


def median(lines, value):
    return statistics.median(map(value, lines))


def print_load(lines):
    """Figures from a busy machine are to be known as such: waiting threads lose out of all proportion."""
    loads = [line["load_average"] for line in lines]
    print(f"Load average while measuring: {min(loads):.1f} to {max(loads):.1f}.\n")


def text(value, decimals=2):
    return "" if value is None else f"{value:.{decimals}f}"


def by_peer(lines):
    """{peer: lines that have a result}, {peer: why there is none}, both in the order of NAMES."""
    done, failed = {}, {}
    for peer in NAMES:
        if found := [line for line in lines if line["peer"] == peer and "failed" not in line]:
            done[peer] = found
        elif found := [line for line in lines if line["peer"] == peer]:
            failed[peer] = found[-1]["failed"]
    return done, failed


def print_table(head, rows, failed=()):
    print(f"| {' | '.join(head)} |\n|{'---|' * len(head)}")
    for row in rows:
        print(f"| {' | '.join(row)} |")
    for peer in failed:
        print(f"| {NAMES[peer]} | {failed[peer]} |{' |' * (len(head) - 2)}")
    print()


def name_of(peer, lines):
    last = lines[-1]
    extrapolated = last.get("trees_trained", last["trees"]) < last["trees"]
    return f"{NAMES[peer]} {last.get('version', '')}".strip() + (
        f" (extrapolated from {last['trees_trained']} trees)" if extrapolated else "")


def print_training(lines):
    """One table, shape of trees and number of cores."""
    first = lines[0]
    print(f"### {first['rows']:,} rows, {first['trees']} trees of depth {first['depth']}, {first['bins']} bins, "
          f"{first['cores']} core{'s' if first['cores'] > 1 else ''}\n")
    done, failed = by_peer(lines)
    ours, rows = done.get("podere", []), []
    for peer, found in done.items():
        def against(value):
            return "" if peer == "podere" else text(ratio(ours, found, value))
        def value_of(key, decimals=2, unit=1):
            return "" if found[0].get(key) is None else text(median(found, lambda x: x[key]) / unit, decimals)
        rows.append([
            name_of(peer, found), value_of("bin_seconds"), value_of("train_seconds"), text(median(found, together)),
            against(together), value_of("auc", 4), value_of("peak_memory_bytes", 0, 2**20),
            value_of("memory_above_data_bytes", 0, 2**20), against(lambda x: x["peak_memory_bytes"]), str(len(found))])
    print_table(["", "binning s", "training s", "together s", "Podere's time by it", "AUC", "peak MiB",
                 "above the data MiB", "Podere's peak by it", "runs"], rows, failed)
    best = [line for peer in BEST_OF for line in done.get(peer, [])]
    if ours and best:
        auc = median(ours, lambda x: x["auc"]) - max(x["auc"] for x in best)
        print("Podere's time by that of the fastest of XGBoost and LightGBM in each turn: "
              f"**{text(ratio(ours, best, together))}**; its AUC less the best of theirs: {auc:+.4f}.\n")


def print_scaling(lines):
    """Podere on one core, two cores, two executors, in turn."""
    rows = []
    for (n_rows, depth, bins), group in grouped(lines, "rows", "depth", "bins"):
        one = [x for x in group if x["peer"] == "podere" and x["cores"] == 1]
        for cores in sorted({x["cores"] for x in group} - {1}):
            many = [x for x in group if x["peer"] == "podere" and x["cores"] == cores]
            spread = [x for x in group if x["peer"] == "podere-executors" and x["cores"] == cores]
            if one and many and ratio(one, many, together):
                rows.append([f"{n_rows:,}", str(depth), str(bins), str(cores), text(median(one, together)),
                             text(median(many, together)), text(ratio(one, many, together)),
                             text(median(spread, together)) if spread else "", text(ratio(spread, many, together))])
    if rows:
        print("### More cores, more executors\n")
        print_table(["rows", "depth", "bins", "cores", "1 core s", "1 executor s", "times faster",
                     "1 core an executor s", "by 1 executor"], rows)


def print_others(lines, title, value, unit, more):
    """Tables of one figure: the whole job, or prediction."""
    for (n_rows, depth, bins, cores), group in grouped(lines, "rows", "depth", "bins", "cores"):
        print(f"### {title}: {n_rows:,} rows, depth {depth}, {bins} bins, {cores} core{'s' if cores > 1 else ''}\n")
        done, failed = by_peer(group)
        print_table(["", "s", *unit, "Podere's time by it"],
                    [[name_of(peer, found), text(median(found, value)), *more(found),
                      "" if peer == "podere" else text(ratio(done.get("podere", []), found, value))]
                     for peer, found in done.items()], failed)


def grouped(lines, *keys):
    groups = collections.defaultdict(list)
    for line in lines:
        groups[tuple(line[key] for key in keys)].append(line)
    return sorted(groups.items())


def draw_chart(lines, path):
    """Bars of binning and training of each peer, a panel a number of rows, each with its own scale. Spark has no room."""
    parts, y = [], 14
    for (rows,), group in grouped(lines, "rows"):
        done, _ = by_peer([line for line in group if line["peer"] not in ("spark", "podere-executors")])
        parts.append(f'<text x="0" y="{y + 4}" font-weight="bold">{rows:,} rows</text>')
        y += 14
        scale = 380 / max(median(found, together) for found in done.values())
        for peer, found in done.items():
            bins, all_seconds = median(found, lambda x: x["bin_seconds"]), median(found, together)
            color = "#1b7837" if peer == "podere" else "#8c96a8"
            parts.append(f'<text x="146" y="{y + 13}" text-anchor="end">{escape(NAMES[peer])}</text>'
                         f'<rect x="154" y="{y}" width="{all_seconds * scale:.1f}" height="17" fill="{color}"/>'
                         f'<rect x="154" y="{y}" width="{bins * scale:.1f}" height="17" fill="#000" fill-opacity="0.3"/>'
                         f'<text x="{160 + all_seconds * scale:.1f}" y="{y + 13}">{all_seconds:.3g} s</text>')
            y += 21
        y += 16
    first = lines[0]
    parts.append(f'<text x="0" y="{y}">{first["trees"]} trees of depth {first["depth"]}, {first["bins"]} bins, '
                 f'{first["cores"]} cores; dark: binning. Each panel has its own scale.</text>')
    with open(path, "w") as file:
        file.write(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="-10 -10 640 {y + 24}" font-family="sans-serif" '
                   f'font-size="13">\n<rect x="-10" y="-10" width="640" height="{y + 24}" fill="#fff"/>\n')
        file.write("\n".join(parts) + "\n</svg>\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", nargs="+")
    parser.add_argument("--chart", help="SVG file to write: depth 10, 256 bins, 2 cores")
    options = parser.parse_args()
    lines = []
    for path in options.results:
        with open(path) as file:
            lines += map(json.loads, file)
    training = [line for line in lines if line["part"] == "train"]
    print_load(lines)
    for _, group in grouped(training, "rows", "depth", "bins", "cores"):
        print_training(group)
    print_scaling([line for line in training if "failed" not in line])
    print_others([line for line in lines if line["part"] == "job"], "From CSV to AUC", lambda x: x["seconds"],
                 ["AUC"], lambda found: [text(median(found, lambda x: x["auc"]), 4)])
    print_others([line for line in lines if line["part"] == "predict"], "Prediction", lambda x: x["predict_seconds"],
                 ["rows/s", "leaves"], lambda found: [
                     f"{found[0]['rows'] / median(found, lambda x: x['predict_seconds']):,.0f}",
                     f"{found[0]['leaves']:,}"])
    shown = [line for line in training if (line["depth"], line["bins"], line["cores"]) == (10, 256, 2)]
    if options.chart and by_peer(shown)[0]:
        draw_chart(shown, options.chart)


if __name__ == "__main__":
    main()
