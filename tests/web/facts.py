"""What runs consist of: pages, measures of scores, tasks and curves. The same each time."""

import hashlib
import json
import math
import pathlib
import random

PAGE = pathlib.Path(__file__).parents[2] / "web/dist/page.html"
PLACE = '<script type="application/json" id="podere-report">null</script>'
BINS = 400


def page(document, to):
    """Writes the page with a document in it, as Podere does: `<` in texts is \\u003c. A document may be text, too."""
    text = document if isinstance(document, str) else json.dumps(document, separators=(",", ":"), allow_nan=False)
    before, after = PAGE.read_text().split(PLACE)
    to.write_text(before + PLACE.replace("null", text.replace("<", r"\u003c")) + after)
    return to


def report(*runs, **more):
    return {"podere_report": 1, "version": "0.1.0", "runs": list(runs), **more}


def sha(text):
    return hashlib.sha256(text.encode()).hexdigest()


def clipped(value):
    return min(max(value, 1e-6), 1 - 1e-6)


def draw_scores(n, separation, seed, share=0.53):
    """Probabilities of class 1 that are calibrated, by log odds of normal variables `separation` apart; with classes."""
    chance = random.Random(seed)
    rows = []
    for _ in range(n):
        signal = chance.random() < share
        x = chance.gauss(separation / 2 if signal else -separation / 2, 1)
        rows.append((1 / (1 + math.exp(-separation * x - math.log(share / (1 - share)))), int(signal)))
    return rows


def measured(kind, data, rows, weights=(1.0, 1.0)):
    """How good these scores are; all rows of a class have the same weight."""
    bins = [[0.0] * BINS, [0.0] * BINS]
    confusion = [[0, 0], [0, 0]]
    loss = 0.0
    for score, label in rows:
        bins[label][min(BINS - 1, int(score * BINS))] += weights[label]
        confusion[label][int(score >= 0.5)] += 1
        loss -= math.log(clipped(score if label else 1 - score))
    totals = [sum(row) for row in confusion]
    roc, auc = roc_of(rows, totals) if all(totals) else ([], None)
    n = len(rows)
    return {
        "rows": kind,
        "data": data,
        "n_rows": n,
        "auc": auc,
        "accuracy": (confusion[0][0] + confusion[1][1]) / n if n else None,
        "log_loss": loss / n if n else None,
        "confusion": confusion,
        "roc": roc,
        "scores": {"bins": BINS, "weights": bins} if n else None,
    }


def roc_of(rows, totals):
    """About 200 points, and the area by all."""
    points, auc = [[None, 0.0, 0.0]], 0.0
    wrong = right = 0
    every = max(1, len(rows) // 200)
    for i, (score, label) in enumerate(sorted(rows, reverse=True)):
        right += label
        wrong += 1 - label
        auc += 0 if label else right / totals[1] / totals[0]
        if i % every == every - 1 or i + 1 == len(rows):
            points.append([score, wrong / totals[0], right / totals[1]])
    return points, auc


def task(phase, executor, run, wait, **more):
    return {
        "phase": phase,
        "executor": executor,
        "host": f"node{executor // 8:02d}",
        "elapsed_seconds": run + wait,
        "run_seconds": run,
        "wait_seconds": wait,
        "cpu_seconds": 0.9 * run,
        "cpu_user_seconds": 0.8 * run,
        "cpu_system_seconds": 0.1 * run,
        "decode_seconds": 0.0,
        "read_seconds": 0.0,
        "write_seconds": 0.0,
        "io_wait_seconds": None,
        "bytes_read": 0,
        "bytes_written": 0,
        "storage_bytes_read": 0,
        "storage_bytes_written": 0,
        "bytes_sent": 4_000_000,
        "rows_read": 0,
        "rows_written": 0,
        "peak_memory_bytes": 60_000_000 + 1000 * executor,
        **more,
    }


def cost(kind, tasks, elapsed, lost=0.0):
    def total(of, key):
        return sum(each[key] for each in of)

    def figures(of):
        keys = (
            "run_seconds",
            "wait_seconds",
            "cpu_seconds",
            "read_seconds",
            "write_seconds",
            "bytes_read",
            "bytes_written",
            "bytes_sent",
            "rows_read",
        )
        return {
            **{key: total(of, key) for key in keys},
            "elapsed_seconds": max((each["elapsed_seconds"] for each in of), default=0),
            "peak_memory_bytes": max((each["peak_memory_bytes"] for each in of), default=0),
            "energy_joules": None,
        }

    phases = []
    for phase in dict.fromkeys(each["phase"] for each in tasks):
        of = [each for each in tasks if each["phase"] == phase]
        runs = sorted(each["run_seconds"] for each in of)
        middle = (runs[len(runs) // 2] + runs[(len(runs) - 1) // 2]) / 2
        phases.append(
            {
                "phase": phase,
                "tasks": len(of),
                **figures(of),
                "skew": runs[-1] / middle if middle else None,
                "retries": 0,
            }
        )
    return {
        "job": {"kind": kind, **figures(tasks), "elapsed_seconds": elapsed, "lost_seconds": lost},
        "phases": phases,
        "tasks": tasks,
    }


def spread_tasks(phases, executors, seed):
    """Tasks of phases (name, begin, end, share of work): the slowest executor has no wait."""
    chance = random.Random(seed)
    tasks = []
    for name, begin, end, share in phases:
        runs = [share * (end - begin) * chance.uniform(0.6, 1) for _ in range(executors)]
        runs[-1] = share * (end - begin)
        more = {"read_seconds": 0.4 * runs[0], "bytes_read": 2_000_000, "rows_read": 4000} if name == "read" else {}
        tasks += [task(name, executor, run, end - begin - run, **more) for executor, run in enumerate(runs)]
    return tasks


def curve(unit, n, seconds, metrics, begin=0.6):
    return {
        "phase": "train",
        "unit": unit,
        "total": n,
        "done": list(range(1, n + 1)),
        "seconds": [begin + (seconds - begin) * i / n for i in range(1, n + 1)],
        "metrics": metrics,
    }


def in_steps(epochs, steps=4):
    """As networks report it: each step, with the measures of the last complete epoch."""

    def spread(values, before):
        return [before] * (steps - 1) + [value for value in values[:-1] for _ in range(steps)] + values[-1:]

    n = epochs["total"] * steps
    return {
        "phase": "train",
        "unit": "step",
        "total": n,
        "done": list(range(1, n + 1)),
        "seconds": [0.6 + 20.4 * i / n for i in range(1, n + 1)],
        "metrics": {
            "epoch": spread([float(epoch) for epoch in epochs["done"]], 0.0),
            **{name: spread(values, None) for name, values in epochs["metrics"].items()},
        },
    }
