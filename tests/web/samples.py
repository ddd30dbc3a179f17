"""Documents as Podere writes them, and others that the page must bear. All are the same each time."""

import math
import random

from facts import cost, curve, draw_scores, in_steps, measured, report, sha, spread_tasks, task

FEATURES = [
    "lepton_pT",
    "lepton_eta",
    "lepton_phi",
    "missing_energy",
    "jet1_pT",
    "jet1_eta",
    "jet1_btag",
    "jet2_pT",
    "jet2_btag",
    "jet3_pT",
    "jet4_pT",
    "m_jj",
    "m_jjj",
    "m_lv",
    "m_jlv",
    "m_bb",
    "m_wbb",
    "m_wwbb",
]


def higgs_columns(n=12000):
    """Log-normal columns; the mass m_bb of signal has a peak."""
    chance = random.Random(5)
    features = []
    for place, name in enumerate(FEATURES):
        low, high, bins = 0.0, 4.0, 80
        weights, above = [[0.0] * bins, [0.0] * bins], [0.0, 0.0]
        for i in range(n // 4):
            label = i % 2
            value = (
                chance.gauss(0.95, 0.15)
                if name == "m_bb" and label and chance.random() < 0.75
                else chance.lognormvariate(-0.02 * place, 0.5)
            )
            at = math.floor((value - low) / (high - low) * bins)
            if at < bins:
                weights[label][max(0, at)] += 4
            else:
                above[label] += 4
        features.append(
            {
                "name": name,
                "low": low,
                "high": high,
                "weights": weights,
                "below": [0, 0],
                "above": above,
                "missing": [120, 80] if name == "jet4_pT" else [0, 0],
            }
        )
    return {"classes": ["background", "signal"], "features": features}


def trees_training():
    before_loss = [("read", 0.3, 0.6), ("bin", 0.6, 0.7), ("train", 0.7, 4.2)]
    phases = [("read", 4.2, 4.7, 0.9), ("bin", 4.7, 4.82, 0.6), ("train", 4.82, 12.1, 0.55)]
    n = 50
    loss = [0.69 * math.exp(-0.012 * i) for i in range(1, n + 1)]
    validation = [0.69 * math.exp(-0.0095 * i) + 0.00003 * i * i for i in range(1, n + 1)]
    lost = {
        "executor": "executor 3",
        "how": "killed by signal 9",
        "at": "tree 13",
        "phase": "train",
        "executors_left": 3,
        "lost_at_seconds": 3.4,
        "back_at_seconds": 6.0,
        "seconds_lost": 2.6,
    }
    tasks = spread_tasks(phases, 3, 1)
    return {
        "name": "train gbt real.model.json",
        "command": "train",
        "began": "2026-11-27T18:45:12Z",
        "seconds": 12.3,
        "state": "done",
        "arguments": "podere train gbt data/higgs.csv --rows :12000 --trees 50 --depth 6 --executors 4 --cores 1 -o real.model.json",
        "phases": [
            {"phase": name, "begin": begin, "end": end}
            for name, begin, end in before_loss + [phase[:3] for phase in phases]
        ],
        "curves": [
            curve(
                "tree",
                n,
                12.1,
                {
                    "loss": loss,
                    "validation_loss": validation,
                    "validation_auc": [None, *(0.7 + 0.1 * (1 - math.exp(-0.1 * i)) for i in range(2, n + 1))],
                },
            )
        ],
        "events": [
            {
                "seconds": 6.2,
                "message": "lost executor 3 (killed by signal 9) at tree 13; continuing with 3 executors from tree 13; 2.6 s lost",
            }
        ],
        "result": {
            "label": {"column": "label", "position": 0, "kind": "two classes", "classes": [0.0, 1.0]},
            "rows": 12000,
            "training_rows": 9600,
            "validation_rows": 2400,
            "features": len(FEATURES),
            "objective": "logistic",
            "trees": 50,
            "rounds_run": 50,
            "best_round": None,
            "loss": loss[-1],
            "validation_loss": validation[-1],
            "validation_auc": 0.799,
            "executors": 4,
            "cores": 1,
            "losses": [lost],
            "peak_memory_bytes": 61_000_000,
            "metrics": cost("train", tasks, 12.1, 2.6),
        },
        "model": {
            "sha256": sha("trees"),
            "objective": "logistic",
            "classes": ["background", "signal"],
            "importance": [
                {"feature": name, "gain": 9000 / (1 + (place * 7) % len(FEATURES)) ** 1.2, "splits": 400 - 17 * place}
                for place, name in enumerate(FEATURES)
            ],
        },
        "measured": [
            measured("training", "higgs.csv rows :12000", draw_scores(9600, 1.75, 1)),
            measured("validation", "higgs.csv rows :12000", draw_scores(2400, 1.3, 2)),
        ],
        "columns": higgs_columns(),
    }


TREES_TEST = draw_scores(3688, 1.28, 3)


def evaluation(of, name, data, rows, model):
    phases = [("read", 0.01, 0.2, 0.9), ("evaluate", 0.2, 0.31, 0.8)]
    tasks = spread_tasks(phases, 2, 7)
    found = measured("test", data, rows)
    return {
        "name": name,
        "command": "evaluate",
        "arguments": f"podere evaluate {of} {data.split()[0]} --rows 12000: --report test.html",
        "began": "2026-11-27T18:46:40Z",
        "seconds": 0.42,
        "state": "done",
        "curves": [],
        "events": [],
        "phases": [{"phase": phase, "begin": begin, "end": end} for phase, begin, end, _ in phases],
        "result": {
            "rows": len(rows),
            "objective": "logistic",
            "auc": found["auc"],
            "accuracy": found["accuracy"],
            "log_loss": found["log_loss"],
            "confusion": found["confusion"],
            "executors": 2,
            "cores": 1,
            "losses": [],
            "peak_memory_bytes": 31_000_000,
            "metrics": cost("evaluate", tasks, 0.31),
        },
        "model": model,
        "measured": [found],
    }


def network_training():
    n = 30
    phases = [("read", 0.02, 0.4, 0.9), ("prepare", 0.4, 0.5, 0.7), ("train", 0.5, 21.0, 0.85)]
    loss = [0.55 + 0.14 * math.exp(-0.15 * i) for i in range(1, n + 1)]
    tasks = spread_tasks(phases, 2, 3)
    return {
        "name": "train nn network.model.json",
        "command": "train",
        "began": "2026-11-27T18:50:02Z",
        "seconds": 21.4,
        "state": "done",
        "arguments": "podere train nn data/higgs.csv --rows :12000 --layers 100 --epochs 30 --executors 2 --cores 1 -o network.model.json",
        "phases": [{"phase": name, "begin": begin, "end": end} for name, begin, end, _ in phases],
        "curves": [
            in_steps(
                curve(
                    "epoch",
                    n,
                    21.0,
                    {
                        "loss": loss,
                        "validation_loss": [value + 0.012 for value in loss],
                        "validation_accuracy": [0.7 - 0.1 * math.exp(-0.2 * i) for i in range(1, n + 1)],
                        "validation_auc": [0.77 - 0.12 * math.exp(-0.2 * i) for i in range(1, n + 1)],
                    },
                )
            )
        ],
        "events": [],
        "result": {
            "rows": 12000,
            "training_rows": 9600,
            "validation_rows": 2400,
            "features": len(FEATURES),
            "objective": "binary-cross-entropy",
            "layers": f"{len(FEATURES)}-100-1",
            "weights": 2001,
            "epochs_run": n,
            "loss": loss[-1],
            "executors": 2,
            "cores": 1,
            "losses": [],
            "peak_memory_bytes": 48_000_000,
            "metrics": cost("train", tasks, 21.0),
        },
        "model": {"sha256": sha("network"), "objective": "binary-cross-entropy", "classes": ["background", "signal"]},
        "measured": [measured("training", "higgs.csv rows :12000", draw_scores(9600, 1.1, 11))],
    }


def study():
    """As podere scale measures on 4 cores, with two modeled points: 1 s + 11 s / cores."""

    def point(executors, cores, seconds, **more):
        speed_up = 12 / seconds
        return {
            "executors": executors,
            "cores": cores,
            "total_cores": executors * cores,
            "modeled": not more,
            "n_runs": 3 if more else 0,
            "seconds": seconds,
            "speed_up": speed_up,
            "efficiency": speed_up / executors / cores,
            **more,
        }

    def measured_point(executors, cores, seconds, wait):
        return point(
            executors,
            cores,
            seconds,
            least_seconds=0.96 * seconds,
            most_seconds=1.1 * seconds,
            wait_share=wait,
            phases=[{"phase": "read", "seconds": 0.25 * seconds}, {"phase": "train", "seconds": 0.7 * seconds}],
            peak_memory_bytes=400_000_000 // executors,
        )

    return {
        "podere_scale": 1,
        "version": "0.1.0",
        "name": "gbt.json",
        "command": "podere train gbt higgs.csv --trees 50",
        "weak_rows": None,
        "cpu": "A processor",
        "usable_cores": 4,
        "runs": [],
        "same_results": True,
        "points": [
            measured_point(1, 1, 12.0, 0),
            measured_point(1, 2, 6.5, 0),
            measured_point(2, 1, 6.6, 0.03),
            measured_point(1, 4, 3.75, 0),
            measured_point(4, 1, 3.9, 0.08),
            point(8, 1, 2.375),
            point(25, 1, 1.44),
        ],
        "model": {"text": "Modeled: 1 s + 11 s / cores. Fitted to 5 measured points, from which it differs by up to 4.0 % (4 × 1)."},
        "suggestion": {"executors": 1, "cores": 4, "reasons": ["1 executor × 4 cores: the fastest that was measured"]},
        "papers": {"text": "For orientation: GBT in the course's papers took 1 min on 25 cores."},
    }


def search():
    """As podere tune reports it: 40 trials, of which the better ones are trained further. Trials 7 and 23 failed."""
    chance = random.Random(4)
    trials = []
    for number in range(40):
        setting = {
            "n_trees": 36,
            "learning_rate": 0.02 * 15 ** chance.random(),
            "depth": chance.randint(3, 10),
            "lambda": 0.01 * 10_000 ** chance.random(),
            "growth": chance.choice(["level", "best-first"]),
        }
        if setting["growth"] == "best-first":
            setting["max_leaves"] = chance.randint(8, 64)
        worse = abs(math.log(setting["learning_rate"] / 0.1)) / 12 + chance.gauss(0, 0.01)
        curve = [[budget, 0.8 - worse - 0.1 / budget] for budget in (4, 12, 36)[: 3 if worse < 0.03 else 1 + (worse < 0.06)]]
        state = "complete" if len(curve) == 3 else "paused"
        facts = {"auc": curve[-1][1], "trees": float(curve[-1][0])}
        if number in (7, 23):
            curve[-1][1], state, facts = None, "failed", {"error": "training diverged in step 3 of epoch 1"}
        budget, score = curve[-1]
        trials.append(
            {"trial": number, "state": state, "score": score, "budget": budget, "setting": setting, "facts": facts, "curve": curve}
        )
    best = max((trial for trial in trials if trial["score"]), key=lambda trial: trial["score"])
    return report(
        {
            "name": "tune best.json",
            "command": "tune",
            "arguments": "podere tune gbt higgs.csv --trials 40 --score auc --report tune.html -o best.json",
            "seconds": 28.0,
            "state": "done",
            "result": {"rows": 12000, "features": 28, "score": "auc", "best": best["trial"], "rungs": [4, 12, 36], "trials": trials},
        }
    )


def higgs():
    """Two trainings, each with its evaluation on test rows."""
    trees, network = trees_training(), network_training()
    data = "higgs.csv rows 12000:"
    return report(
        trees,
        network,
        evaluation("real.model.json", "evaluate real.model.json", data, TREES_TEST, trees["model"]),
        evaluation(
            "network.model.json", "evaluate network.model.json", data, draw_scores(3688, 1.05, 13), network["model"]
        ),
        studies=[study()],
    )


def three_classes():
    run = trees_training()
    names = ["setosa", "versicolor", "virginica"]
    confusion = [[50, 0, 0], [0, 47, 3], [0, 4, 46]]
    chance = random.Random(2)
    columns = [
        {
            "name": name,
            "low": 0,
            "high": 8,
            "weights": [[chance.randrange(20) for _ in range(40)] for _ in names],
            "below": [0] * 3,
            "above": [0] * 3,
            "missing": [0] * 3,
        }
        for name in ("sepal length", "sepal width", "petal length", "petal width")
    ]
    return report(
        {
            **run,
            "name": "iris",
            "model": {**run["model"], "sha256": sha("iris"), "classes": names},
            "columns": {"classes": names, "features": columns},
            "measured": [
                {
                    "rows": "test",
                    "data": "iris.csv",
                    "n_rows": 150,
                    "accuracy": 143 / 150,
                    "log_loss": 0.11,
                    "confusion": confusion,
                }
            ],
        }
    )


def regression():
    run = trees_training()

    def residuals(kind, spread, n, seed):
        chance = random.Random(seed)
        reach = 2.0 ** math.ceil(math.log2(6 * 0.8 * spread))
        weights = [0.0] * 320
        for _ in range(n):
            weights[min(319, max(0, int((chance.gauss(0, spread) / reach + 1) * 160)))] += 1
        return {
            "rows": kind,
            "data": "houses.csv",
            "n_rows": n,
            "root_mean_squared_error": spread,
            "mean_absolute_error": 0.8 * spread,
            "residuals": {"edges": [-reach, reach], "weights": weights},
        }

    columns = {
        "classes": [],
        "features": [
            {**each, "weights": each["weights"][:1], "below": [0], "above": [0], "missing": [0]}
            for each in higgs_columns(2000)["features"]
        ],
    }
    return report(
        {
            **run,
            "name": "houses",
            "model": {
                "sha256": sha("houses"),
                "objective": "squared-error",
                "importance": run["model"]["importance"][:5],
            },
            "measured": [residuals("training", 1.5, 4000, 1), residuals("test", 2.0, 1000, 2)],
            "columns": columns,
        }
    )


def one_class():
    run = evaluation(
        "m.json",
        "evaluate one class",
        "signal.csv",
        [(score, 1) for score, _ in draw_scores(500, 1, 4)],
        {"sha256": sha("one"), "objective": "logistic", "classes": ["background", "signal"]},
    )
    return report(run)


def studies_alone():
    """What `podere report gbt.json` makes: no runs."""
    weak = study()
    weak.update(name="weak.json", weak_rows=1000, model=None, suggestion=None, papers=None, same_results=None)
    weak["points"] = weak["points"][:2]
    nothing = {**study(), "name": "begun.json", "points": [], "model": None, "suggestion": None}
    return report(studies=[study(), weak, nothing])


def no_rows():
    run = evaluation("m.json", "evaluate no rows", "empty.csv", [], {"sha256": sha("none"), "objective": "logistic"})
    run["columns"] = {
        "classes": [],
        "features": [
            {"name": "x", "low": 0, "high": 0, "weights": [[]], "below": [], "above": [], "missing": []},
            {"name": "y", "low": 1, "high": 1, "weights": [[0, 0]], "below": [0], "above": [0], "missing": [3]},
        ],
    }
    return report(run)


HOSTILE = [
    "<script>document.title='taken'</script>",
    "</script><img src=x onerror=\"document.title='taken'\">",
    "x" * 10_000,
    "שלום עולם \u202e txt.exe",
    "'\"&amp; ]]> --> \u0000\u2028",
    "__proto__",
    "",
]


def hostile():
    """Each name in each place where a name can be."""
    runs = []
    for place, name in enumerate(HOSTILE):
        run = trees_training()
        run.update(name=name, arguments=f"podere train gbt {name}", events=[{"seconds": 1, "message": name}])
        run["model"] = {
            "sha256": sha(str(place)),
            "objective": name,
            "classes": [name, name + "2"],
            "importance": [{"feature": name, "gain": 3, "splits": 1}],
        }
        run["columns"] = {"classes": [name, name + "2"], "features": [{**run["columns"]["features"][0], "name": name}]}
        run["measured"] = [
            {**measured("training", name, draw_scores(300, 1, 5)), "rows": "training"},
            {**measured("test", name, draw_scores(300, 1, 6)), "rows": name or "test"},
        ]
        run["curves"][0]["metrics"] = {
            name: run["curves"][0]["metrics"]["loss"],
            "loss": run["curves"][0]["metrics"]["loss"],
        }
        run["curves"][0]["unit"] = name
        for loss in run["result"]["losses"]:
            loss.update(executor=name, how=name, at=name)
        run["result"]["label"]["column"] = name
        for each in run["result"]["metrics"]["tasks"]:
            each.update(phase=name, host=name)
        runs.append(run)
    return report(*runs)


def bare():
    """Only what a run must have, and a run whose parts are all null."""
    keys = (
        "arguments",
        "began",
        "seconds",
        "state",
        "phases",
        "curves",
        "events",
        "result",
        "model",
        "measured",
        "columns",
    )
    return report({"name": "bare", "command": "predict"}, {"name": "null", "command": "train", **dict.fromkeys(keys)})


def other_commands():
    """explain has SHAP values, describe histograms without classes."""
    explain = {
        "name": "explain",
        "command": "explain",
        "seconds": 2.0,
        "state": "interrupted",
        "model": {"sha256": sha("trees")},
        "result": {
            "rows": 100,
            "features": [
                {"name": "m_bb", "mean_abs_shap": 0.4, "permutation_mean": 0.02},
                {"name": "m_lv", "mean_abs_shap": 0.1},
            ],
        },
        "shap_points": {
            "rows": 4,
            "features": [
                {"name": "m_bb", "is_category": False, "shap": [0.5, -0.25, 0.125, -0.5], "places": [1, 0.5, None, 0]},
                {"name": "m_lv", "is_category": True, "shap": [0.1, 0.1, -0.1, 0.1], "places": [0.5, 0.5, 1, 0.5]},
                {"name": "damaged", "shap": [1], "places": []},
            ],
        },
    }
    column = {
        "name": "a",
        "kind": "number",
        "minimum": 1.0,
        "mean": 3.5,
        "maximum": 7.0,
        "missing": 4,
        "histogram": [1, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1],
    }
    text = {"name": "b", "kind": "text", "minimum": None, "maximum": None, "missing": 0, "histogram": []}
    return report(
        explain, {"name": "describe", "command": "describe", "result": {"rows": 8, "columns": [column, text]}}
    )


def damaged_parts():
    run = trees_training()
    run["curves"] = "?"
    run["measured"][0]["scores"]["weights"][0].pop()
    run["model"] = 5
    run["result"]["metrics"]["tasks"].append({"phase": 3})
    return report(run, {"command": "train"}, 7)


def many_tasks(executors=1000, phases=100):
    chance = random.Random(9)
    names = [f"phase {i}" for i in range(phases)]
    tasks = [
        task(name, executor, run := chance.uniform(0.5, 1), 1 - run) for name in names for executor in range(executors)
    ]
    figures = {"run_seconds": 75_000.0, "wait_seconds": 25_000.0, "elapsed_seconds": 100.0}
    return report(
        {
            "name": "large",
            "command": "train",
            "seconds": float(phases),
            "state": "done",
            "phases": [{"phase": name, "begin": i, "end": i + 1} for i, name in enumerate(names)],
            "result": {
                "executors": executors,
                "cores": 1,
                "losses": [],
                "metrics": {"job": figures, "phases": [{"phase": name, **figures} for name in names], "tasks": tasks},
            },
        }
    )


ALL = {
    "higgs": higgs,
    "three_classes": three_classes,
    "regression": regression,
    "one_class": one_class,
    "no_rows": no_rows,
    "studies_alone": studies_alone,
    "search": search,
    "hostile": hostile,
    "bare": bare,
    "other_commands": other_commands,
    "damaged_parts": damaged_parts,
    "empty": report,
    "many_tasks": many_tasks,
}
