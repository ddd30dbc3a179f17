#!/usr/bin/python3
"""What the searches find, beside Optuna's: choices.py [--seeds N] [--trials N] [--table FILE] [--podere PROGRAM]

Functions whose least value is known, and a recorded table: the AUC of trees of all settings of a grid, after three
numbers of rounds, on HIGGS-like rows. For each it prints one line of JSON with the medians over seeds of what is
lacking to the best after all trials and of their cost, in trainings of the first number of rounds, and how many seeds
ended better, as well, and worse than Optuna's with the same number. Optuna is used from build/peers (bench/peers.sh); the package of Podere from PYTHONPATH.

Example: PYTHONPATH=build/release/python bench/choices.py --seeds 30 --trials 100
"""
import argparse
import itertools
import json
import math
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROUNDS = [30, 90, 270]  # of the recorded table; what successive halving takes
ROWS = 15_000
TABLE = {  # option: its values
    "learning_rate": [0.02, 0.035, 0.06, 0.1, 0.17, 0.3], "depth": [3, 5, 7, 10], "min_child_weight": [0.5, 3, 17, 100],
    "lambda": [0.01, 1, 100], "subsample": [0.5, 1], "column_subsample": [0.4, 1]}


def sphere(x):
    return sum(v * v for v in x)


def branin(x):
    a, b = x
    return ((b - 5.1 / (4 * math.pi**2) * a * a + 5 / math.pi * a - 6) ** 2
            + 10 * (1 - 1 / (8 * math.pi)) * math.cos(a) + 10 - 0.39788735773)


def rosenbrock(x):
    return sum(100 * (b - a * a) ** 2 + (1 - a) ** 2 for a, b in itertools.pairwise(x))


def ackley(x):
    squares, waves = sum(v * v for v in x) / len(x), sum(math.cos(2 * math.pi * v) for v in x) / len(x)
    return 20 + math.e - 20 * math.exp(-0.2 * math.sqrt(squares)) - math.exp(waves)


def hartmann(x):
    a = [[10, 3, 17, 3.5, 1.7, 8], [0.05, 10, 17, 0.1, 8, 14], [3, 3.5, 1.7, 10, 17, 8], [17, 8, 0.05, 10, 0.1, 14]]
    p = [[0.1312, 0.1696, 0.5569, 0.0124, 0.8283, 0.5886], [0.2329, 0.4135, 0.8307, 0.3736, 0.1004, 0.9991],
         [0.2348, 0.1451, 0.3522, 0.2883, 0.3047, 0.6650], [0.4047, 0.8828, 0.8732, 0.5743, 0.1091, 0.0381]]
    return 3.32236801 - sum(
        c * math.exp(-sum(a * (v - p) ** 2 for a, v, p in zip(row, x, place, strict=True)))
        for c, row, place in zip([1, 1.2, 3, 3.2], a, p, strict=True))


FUNCTIONS = {"sphere": (sphere, [(-5.0, 5.0)] * 5), "branin": (branin, [(-5.0, 10.0), (0.0, 15.0)]),
             "rosenbrock": (rosenbrock, [(-2.0, 2.0)] * 4), "ackley": (ackley, [(-20.0, 30.0)] * 5),
             "hartmann": (hartmann, [(0.0, 1.0)] * 6)}


class Function:
    """A problem without budgets."""

    budgets = [1]

    def __init__(self, name):
        self.function, self.ranges = FUNCTIONS[name]

    def lack(self, places, _):
        return self.function(places)


class Table:
    """AUC that is lacking to the best setting; a place is the number of a value."""

    budgets = ROUNDS

    def __init__(self, auc_of):
        self.ranges = [(0, len(values) - 1) for values in TABLE.values()]
        self.auc_of = auc_of
        self.best = max(auc_of[str(ROUNDS[-1])].values())

    def lack(self, places, budget):
        return self.best - self.auc_of[str(budget)][",".join(map(str, places))]


def recorded(path, podere):
    """Trains trees of all settings, each as often as there are rounds to look at, unless the file has them."""
    if path.exists():
        return json.loads(path.read_text())
    auc_of = {}
    with tempfile.TemporaryDirectory() as folder:
        space = pathlib.Path(folder, "space.toml")
        space.write_text("".join(f"{name} = {values}\n" for name, values in TABLE.items()))
        rows = f"{folder}/rows.csv"
        subprocess.run([podere, "generate", "higgs", "--events", str(ROWS), "-o", rows], check=True, capture_output=True)
        for rounds in ROUNDS:
            run = subprocess.run(
                [podere, "tune", "gbt", rows, "--space", space, "--search", "grid", "--trials", "100000", "--schedule",
                 "none", "--fix", f"n_trees={rounds}", "--held-out", "5", "--score", "auc", "--json",
                 "-o", f"{folder}/best.json"], check=True, capture_output=True, text=True)
            trials = json.loads(run.stdout)["trials"]
            auc_of[rounds] = {
                ",".join(str(TABLE[name].index(trial["setting"][name])) for name in TABLE): trial["score"]
                for trial in trials}
    path.write_text(json.dumps(auc_of))
    return json.loads(path.read_text())


def podere_search(problem, trials, seed, parallel, schedule):
    import podere
    space = {f"x{i}": edges for i, edges in enumerate(problem.ranges)}
    levels = {"least": 1, "most": 3 ** (len(problem.budgets) - 1)}
    study = podere.Study(space, trials, schedule=schedule, seed=seed, maximize=False, parallel=parallel, **levels)
    whole, cost = [], 0
    while steps := study.ask():
        step = steps[0]
        level = round(math.log(step.budget, 3))
        lack = problem.lack(list(step.params.values()), problem.budgets[level])
        if level == len(problem.budgets) - 1:
            whole.append(lack)
        study.tell(step, lack)
        cost += step.budget - step.start
    return min(whole), cost


def optuna_search(problem, trials, seed, schedule):
    import optuna
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    pruner = optuna.pruners.SuccessiveHalvingPruner(min_resource=1, reduction_factor=3)
    study = optuna.create_study(sampler=optuna.samplers.TPESampler(multivariate=True, seed=seed), pruner=pruner)

    def measure(trial):
        places = [(trial.suggest_float if isinstance(low, float) else trial.suggest_int)(f"x{i}", low, high)
                  for i, (low, high) in enumerate(problem.ranges)]
        if schedule == "none":
            return problem.lack(places, problem.budgets[-1])
        for level, budget in enumerate(problem.budgets):
            lack = problem.lack(places, budget)
            trial.report(lack, 3**level)
            if level + 1 < len(problem.budgets) and trial.should_prune():
                raise optuna.TrialPruned
        return lack

    study.optimize(measure, trials)
    return study.best_value, sum(3 ** (len(problem.budgets) if schedule == "none" else len(trial.intermediate_values)) // 3
                                 for trial in study.trials)


def compare(name, problem, options, schedule):
    lacks = {"optuna": [optuna_search(problem, options.trials, seed, schedule) for seed in range(options.seeds)]}
    for parallel in options.parallel:
        lacks[f"podere, parallel {parallel}"] = [
            podere_search(problem, options.trials, seed, parallel, schedule) for seed in range(options.seeds)]
    for search, measured in lacks.items():
        found = [lack for lack, _ in measured]
        pairs = list(zip(found, [lack for lack, _ in lacks["optuna"]], strict=True))
        print(json.dumps({
            "bench": "choices", "problem": name, "schedule": schedule, "search": search, "trials": options.trials,
            "seeds": options.seeds, "median_lack": statistics.median(found),
            "median_cost": statistics.median(cost for _, cost in measured), "better": sum(a < b for a, b in pairs),
            "equal": sum(a == b for a, b in pairs), "worse": sum(a > b for a, b in pairs)}), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=30)
    parser.add_argument("--trials", type=int, default=100)
    parser.add_argument("--parallel", type=int, nargs="+", default=[1, 8])
    parser.add_argument("--problems", nargs="+", choices=[*FUNCTIONS, "trees"], default=[*FUNCTIONS, "trees"])
    parser.add_argument("--table", type=pathlib.Path, default=HERE.parent / "build/choices.json",
                        help="where the recorded table is kept")
    parser.add_argument("--podere", default=str(HERE.parent / "build/release/bin/podere"))
    options = parser.parse_args()
    python = HERE.parent / "build/peers/bin/python"
    if python.exists() and pathlib.Path(sys.prefix) != python.parent.parent:
        os.execv(python, [str(python), *sys.argv])
    for name in options.problems:
        if name != "trees":
            compare(name, Function(name), options, "none")
            continue
        table = Table(recorded(options.table, options.podere))
        for schedule in ("none", "asha"):
            compare(name, table, options, schedule)


if __name__ == "__main__":
    main()
