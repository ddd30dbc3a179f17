"""What commands print and write when all is well."""

import json
import os
import pty
import re
import subprocess

import numpy
import pytest
import xgboost

from conftest import PODERE


def auc(scores, labels, weights=None):
    """Of all pairs of a signal and a background row the share that is in order; ties count one half."""
    scores, labels = numpy.asarray(scores, float), numpy.asarray(labels)
    weights = numpy.ones(len(scores)) if weights is None else numpy.asarray(weights, float)
    signal, background = labels == 1, labels == 0
    order = numpy.argsort(scores[background], kind="stable")
    values, cumulated = scores[background][order], numpy.cumsum(numpy.r_[0, weights[background][order]])
    below = cumulated[numpy.searchsorted(values, scores[signal], "left")]
    not_above = cumulated[numpy.searchsorted(values, scores[signal], "right")]
    total = weights[signal].sum() * weights[background].sum()
    return float((weights[signal] * (below + not_above) / 2).sum() / total)


def test_train_predict_and_evaluate_agree_with_a_plain_auc(podere, events, model):
    podere.done("predict", model, events, "--rows", "4000:", "-o", "p.csv", "--executors", 2)
    facts = json.loads(podere.done("evaluate", model, events, "--rows", "4000:", "--executors", 3, "--json").stdout)
    probabilities = numpy.loadtxt(podere.folder / "p.csv")
    labels = numpy.loadtxt(events, delimiter=",", skiprows=1, usecols=0)[4000:]
    assert len(probabilities) == facts["rows"] == 2000
    assert facts["auc"] == pytest.approx(auc(probabilities, labels), abs=1e-12)
    assert facts["auc"] > 0.7
    assert facts["accuracy"] == pytest.approx(((probabilities >= 0.5) == labels).mean(), abs=1e-12)
    clipped = numpy.clip(probabilities, 1e-15, 1 - 1e-15)
    log_loss = -numpy.mean(labels * numpy.log(clipped) + (1 - labels) * numpy.log(1 - clipped))
    assert facts["log_loss"] == pytest.approx(log_loss, abs=1e-7)
    assert numpy.sum(facts["confusion"]) == 2000


def test_weights_count_in_the_auc(podere, events, model):
    names = events.read_text().split("\n", 1)[0].split(",")
    rows = numpy.loadtxt(events, delimiter=",", skiprows=1)[:1500]
    weights = numpy.round(numpy.random.default_rng(1).uniform(0.1, 3, len(rows)), 3)
    numpy.savetxt(podere.folder / "w.csv", numpy.c_[rows, weights], delimiter=",", header=",".join(names + ["w"]),
                  comments="", fmt="%.9g")
    facts = json.loads(podere.done("evaluate", model, "w.csv", "--weight", "w", "--json").stdout)
    podere.done("predict", model, "w.csv", "-o", "p.csv")
    assert facts["auc"] == pytest.approx(auc(numpy.loadtxt(podere.folder / "p.csv"), rows[:, 0], weights), abs=1e-6)


@pytest.mark.parametrize("kind", ["gbt", "nn"])
def test_a_model_finds_its_label_wherever_that_stands(podere, kind):
    """Columns a, b, label: the label is asked for once, and --label still says otherwise."""
    rng = numpy.random.default_rng(1)
    x = rng.normal(size=(400, 2)).round(4)
    table = numpy.c_[x, x[:, 0] > 0, x[:, 0] <= 0]
    numpy.savetxt(podere.folder / "d.csv", table, delimiter=",", fmt="%g", header="a,b,is_up,is_down", comments="")
    numpy.savetxt(podere.folder / "nameless.csv", table, delimiter=",", fmt="%g")
    for data, label, other in (("d.csv", "is_up", "is_down"), ("nameless.csv", "2", "3")):
        podere.done("train", kind, data, "--label", label, "--columns", "0,1", "-o", "m.json")

        def accuracy(*options):
            return json.loads(podere.done("evaluate", "m.json", data, "--json", *options).stdout)["accuracy"]
        assert accuracy() == accuracy("--label", label) > 0.9
        assert accuracy("--label", other) < 0.1
    podere.done("train", kind, "d.csv", "--label", "is_up", "--columns", "0,1", "-o", "m.json")
    podere.write("turned.csv", "b,is_up,a\n0,1,1\n0,0,-1\n")
    assert json.loads(podere.done("evaluate", "m.json", "turned.csv", "--json").stdout)["accuracy"] == 1
    podere.write("first.csv", "is_up,a,b\n" + "1,1,0\n0,-1,0\n" * 20)
    podere.done("train", kind, "first.csv", "--validation", "turned.csv", "-o", "n.json")


@pytest.mark.parametrize("executors", [1, 2, 5])
def test_predictions_are_the_same_bytes_on_any_number_of_executors(podere, model, executors):
    podere.done("predict", model, "collider:5000?seed=8", "-o", "one.csv")
    podere.done("predict", model, "collider:5000?seed=8", "-o", "many.csv", "--executors", executors, "--cores", 2)
    assert (podere.folder / "one.csv").read_bytes() == (podere.folder / "many.csv").read_bytes()


def test_predictions_join_ids_in_the_order_of_the_rows(podere, events, model):
    lines = events.read_text().splitlines()[:301]
    rows = [f"row{i},{line}" for i, line in enumerate(lines[1:])]
    podere.write("new.csv", "\n".join([f"id,{lines[0]}", *rows]) + "\n")
    podere.done("predict", model, events, "--rows", ":300", "-o", "plain.csv")
    podere.done("predict", model, "new.csv", "--columns", ",".join(lines[0].split(",")[1:]), "-o", "predictions.csv")
    subprocess.run("tail -n +2 new.csv | cut -d, -f1 | paste -d, - predictions.csv > joined.csv", shell=True, check=True,
                   cwd=podere.folder)
    plain = (podere.folder / "plain.csv").read_text().splitlines()
    assert (podere.folder / "joined.csv").read_text().splitlines() == [f"row{i},{p}" for i, p in enumerate(plain)]


def test_margins_are_the_log_odds_of_probabilities(podere, model):
    for name, flags in (("p.csv", []), ("m.csv", ["--margin"])):
        podere.done("predict", model, "collider:500", "-o", name, *flags)
    p, m = (numpy.loadtxt(podere.folder / name) for name in ("p.csv", "m.csv"))
    assert numpy.allclose(numpy.log(p / (1 - p)), m, atol=1e-5)


def test_predictions_can_go_to_a_pipe(podere, model):
    result = podere.done("predict", model, "collider:50", "-o", "/dev/stdout")
    assert len(result.stdout.splitlines()) == 50 and os.listdir(podere.folder) == []


@pytest.mark.parametrize("name", ["/dev/stdout", "-", "/dev/fd/1", "/proc/self/fd/1", "link"])
def test_standard_output_is_written_as_the_shell_opened_it(podere, model, name):
    (podere.folder / "link").symlink_to("/dev/stdout")
    podere.done("predict", model, "collider:50", "-o", "plain.csv")
    plain = (podere.folder / "plain.csv").read_text()
    predict = f"{PODERE} predict {model} collider:50 -o {name}"
    script = f"echo old > appended; {predict} >> appended; (echo first; {predict}; echo last) > written; {predict} | cat"
    result = subprocess.run(["/bin/sh", "-c", script], cwd=podere.folder, capture_output=True, text=True, timeout=60,
                            env=podere.environment())
    assert (result.returncode, result.stdout) == (0, plain)
    assert (podere.folder / "appended").read_text() == "old\n" + plain
    assert (podere.folder / "written").read_text() == "first\n" + plain + "last\n"
    shown = "/dev/stdout" if name == "-" else name
    assert result.stderr == f"50 predictions: {shown} (probability of '1')\n" * 3  # messages go to standard error where results are written


@pytest.mark.parametrize("arguments", [
    ["generate", "higgs", "--events", "50"], ["train", "gbt", "collider:500", "--trees", "2"],
    ["evaluate", "MODEL", "collider:500"],
])
def test_what_is_written_to_standard_output_is_alone_there(podere, model, arguments):
    arguments = [str(model) if argument == "MODEL" else argument for argument in arguments]
    option = "--plot" if arguments[0] == "evaluate" else "-o"
    podere.done(*arguments, option, "file")
    for name in ("/dev/stdout", "-"):
        result = podere.done(*arguments, option, name, "--json")
        assert result.stdout == (podere.folder / "file").read_text()
        assert json.loads(result.stderr)
    assert os.listdir(podere.folder) == ["file"]


def test_softmax_predicts_a_probability_per_class(podere):
    rng = numpy.random.default_rng(4)
    classes = rng.integers(0, 3, 600)
    table = numpy.c_[classes, rng.normal(classes[:, None], 0.7, (600, 2))]
    numpy.savetxt(podere.folder / "three.csv", table, delimiter=",", fmt="%.6g", header="class,a,b", comments="")
    podere.done("train", "gbt", "three.csv", "-o", "m.json", "--objective", "softmax", "--trees", 20)
    facts = json.loads(podere.done("evaluate", "m.json", "three.csv", "--json", "--executors", 2).stdout)
    podere.done("predict", "m.json", "three.csv", "-o", "p.csv")
    p = numpy.loadtxt(podere.folder / "p.csv", delimiter=",")
    assert p.shape == (600, 3) and numpy.allclose(p.sum(axis=1), 1, atol=1e-5)
    assert facts["accuracy"] == pytest.approx((p.argmax(axis=1) == classes).mean(), abs=1e-12)
    assert facts["accuracy"] > 0.8
    assert facts["log_loss"] == pytest.approx(-numpy.log(p[numpy.arange(600), classes]).mean(), abs=1e-5)


def test_squared_error_is_measured_by_its_root(podere):
    x = numpy.linspace(0, 1, 500)
    numpy.savetxt(podere.folder / "line.csv", numpy.c_[3 * x + 1, x], delimiter=",", fmt="%.7g", header="y,x", comments="")
    podere.done("train", "gbt", "line.csv", "-o", "m.json", "--objective", "squared-error")
    facts = json.loads(podere.done("evaluate", "m.json", "line.csv", "--json").stdout)
    podere.done("predict", "m.json", "line.csv", "-o", "p.csv")
    error = numpy.sqrt(numpy.mean((numpy.loadtxt(podere.folder / "p.csv") - (3 * x + 1)) ** 2))
    assert facts["root_mean_squared_error"] == pytest.approx(error, abs=1e-6) and error < 0.1


def write_numbers(path, label, *columns):
    names = ["y"] + [f"x{j}" for j in range(len(columns))]
    numpy.savetxt(path, numpy.c_[(label, *columns)], delimiter=",", header=",".join(names), comments="", fmt="%.9g")


def test_poisson_predicts_the_mean_of_counts(podere):
    rng = numpy.random.default_rng(6)
    x = rng.uniform(0, 1, (3000, 2)).astype(numpy.float32)
    y = rng.poisson(numpy.exp(2 * x[:, 0] - 1))
    write_numbers(podere.folder / "counts.csv", y, *x.T)
    podere.done("train", "gbt", "counts.csv", "-o", "m.json", "--objective", "poisson", "--depth", 3)
    facts = json.loads(podere.done("evaluate", "m.json", "counts.csv", "--json", "--executors", 2).stdout)
    podere.done("predict", "m.json", "counts.csv", "-o", "p.csv")
    podere.done("predict", "m.json", "counts.csv", "-o", "m.csv", "--margin")
    p = numpy.loadtxt(podere.folder / "p.csv")
    assert numpy.allclose(numpy.log(p), numpy.loadtxt(podere.folder / "m.csv"), atol=1e-6)
    logs = numpy.log(numpy.where(y > 0, y, 1) / numpy.where(y > 0, p, 1))
    deviance = numpy.mean(2 * (y * logs - y + p))
    assert facts["mean_poisson_deviance"] == pytest.approx(deviance, abs=1e-6)
    assert facts["mean_absolute_error"] == pytest.approx(numpy.abs(y - p).mean(), abs=1e-6)
    assert facts["r2"] == pytest.approx(1 - ((y - p)**2).mean() / y.var(), abs=1e-6)
    assert p.mean() == pytest.approx(y.mean(), rel=0.01)
    podere.done("convert", "m.json", "--to", "xgboost", "-o", "xgboost.json")
    theirs = xgboost.Booster(model_file=str(podere.folder / "xgboost.json")).predict(
        xgboost.DMatrix(x, feature_names=["x0", "x1"]))
    assert numpy.allclose(theirs, p, rtol=1e-5)
    podere.done("convert", "xgboost.json", "--to", "podere", "-o", "back.json")
    podere.done("predict", "back.json", "counts.csv", "-o", "again.csv")
    assert numpy.allclose(numpy.loadtxt(podere.folder / "again.csv"), p, rtol=1e-5)
    podere.done("convert", "m.json", "--to", "onnx", "-o", "m.onnx")
    assert numpy.abs(p / numpy.exp(2 * x[:, 0] - 1) - 1).mean() < 0.2


@pytest.mark.parametrize("quantile", [0.1, 0.5, 0.9])
def test_that_share_of_the_labels_lies_below_a_quantile(podere, quantile):
    rng = numpy.random.default_rng(7)
    x = rng.uniform(-1, 1, (4000, 2)).astype(numpy.float32)
    y = x[:, 0] + rng.exponential(1 + x[:, 1] ** 2)
    write_numbers(podere.folder / "q.csv", y, *x.T)
    podere.done("train", "gbt", "q.csv", "-o", "m.json", "--objective", "quantile", "--quantile", quantile, "--depth", 3)
    facts = json.loads(podere.done("evaluate", "m.json", "q.csv", "--json").stdout)
    podere.done("predict", "m.json", "q.csv", "-o", "p.csv")
    p = numpy.loadtxt(podere.folder / "p.csv")
    assert (y <= p).mean() == pytest.approx(quantile, abs=0.02)
    assert facts["pinball_loss"] == pytest.approx(numpy.mean((y - p) * (quantile - (y < p))), abs=1e-6)
    best = -numpy.log(1 - quantile) * (1 + x[:, 1] ** 2) + x[:, 0]
    assert facts["pinball_loss"] < 1.01 * numpy.mean((y - best) * (quantile - (y < best)))


@pytest.mark.parametrize("objective, ours", [("count:poisson", "poisson"), ("reg:absoluteerror", "quantile"),
                                             ("reg:squarederror", "squared-error"), ("binary:logistic", "logistic")])
def test_a_model_is_as_good_as_that_of_xgboost(podere, objective, ours):
    rng = numpy.random.default_rng(8)
    x = rng.uniform(-1, 1, (12000, 5)).astype(numpy.float32)
    mean = numpy.exp(x[:, 0] + x[:, 1] * x[:, 2])
    y = rng.poisson(mean) if ours == "poisson" else (rng.uniform(size=12000) * mean > 0.5).astype(int)
    if ours in ("quantile", "squared-error"):
        y = mean + rng.standard_t(3, 12000)
    write_numbers(podere.folder / "t.csv", y, *x.T)
    start = {"poisson": y[:8000].mean(), "quantile": numpy.median(y[:8000])}.get(ours, 0.5)
    booster = xgboost.train({"objective": objective, "max_depth": 4, "eta": 0.1, "tree_method": "hist", "nthread": 2,
                             "base_score": start}, xgboost.DMatrix(x[:8000], y[:8000]), 60)
    theirs = booster.predict(xgboost.DMatrix(x[8000:]))
    podere.done("train", "gbt", "t.csv", "--rows", ":8000", "-o", "m.json", "--objective", ours, "--depth", 4,
                "--learning-rate", 0.1, "--trees", 60)
    podere.done("predict", "m.json", "t.csv", "--rows", "8000:", "--label", "y", "-o", "p.csv")
    p, y = numpy.loadtxt(podere.folder / "p.csv"), y[8000:]
    loss = {
        "poisson": lambda p: numpy.mean(p - y * numpy.log(p)),
        "quantile": lambda p: numpy.abs(y - p).mean(),
        "squared-error": lambda p: numpy.mean((y - p) ** 2),
        "logistic": lambda p: -numpy.mean(numpy.log(numpy.where(y == 1, p, 1 - p))),
    }[ours]
    assert loss(p) < 1.01 * loss(theirs)


def test_stages_are_the_measures_of_models_with_fewer_rounds(podere, model, events):
    names = ("auc", "accuracy", "log_loss")
    staged = json.loads(podere.done("evaluate", model, events, "--staged=4", "--json", "--executors", 2).stdout)
    assert [stage["rounds"] for stage in staged["stages"]] == [4, 8, 10]
    for stage in staged["stages"]:
        alone = json.loads(podere.done("evaluate", model, events, "--rounds", stage["rounds"], "--json").stdout)
        assert {name: stage[name] for name in names} == {name: alone[name] for name in names}
    assert all(staged[name] == stage[name] for name in names)
    losses = [s["log_loss"] for s in json.loads(podere.done("evaluate", model, events, "--staged", "--json").stdout)["stages"]]
    assert len(losses) == 10 and losses == sorted(losses, reverse=True)
    assert "log loss" in podere.done("evaluate", model, events, "--staged").stdout


def test_the_first_rounds_of_a_model_are_a_model(podere, events):
    for trees in (3, 7):
        podere.done("train", "gbt", events, "-o", f"m{trees}.json", "--trees", trees, "--depth", 3)
    podere.done("predict", "m3.json", events, "-o", "p3.csv")
    podere.done("predict", "m7.json", events, "--rounds", 3, "-o", "p7.csv")
    assert (podere.folder / "p3.csv").read_bytes() == (podere.folder / "p7.csv").read_bytes()


def test_a_warm_start_works_with_other_options(podere, events, model):
    podere.done("train", "gbt", events, "--rows", ":4000", "--from", model, "--trees", 3, "--learning-rate", 0.05, "-o", "m.json")
    old, new = (json.loads(path.read_text())["model"] for path in (model, podere.folder / "m.json"))
    assert new["trees"][:10] == old["trees"] and len(new["trees"]) == 13
    assert new["options"] == {**old["options"], "n_trees": 13, "learning_rate": 0.05}


def test_weights_of_classes_move_the_probability(podere, events):
    labels = numpy.loadtxt(events, delimiter=",", skiprows=1, usecols=0)
    means = []
    for arguments in ([], ["--class-weight", "0:1,1:3"], ["--scale-pos-weight", 3], ["--base-score", 0.9]):
        podere.done("train", "gbt", events, "-o", "m.json", "--trees", 5, "--depth", 3, *arguments)
        podere.done("predict", "m.json", events, "-o", "p.csv")
        means.append(numpy.loadtxt(podere.folder / "p.csv").mean())
    weighted = 3 * labels.sum() / (3 * labels.sum() + (1 - labels).sum())
    assert means[0] == pytest.approx(labels.mean(), abs=0.01)
    assert means[1] == means[2] == pytest.approx(weighted, abs=0.03)
    assert means[3] > means[0] + 0.1


def test_the_roc_curve_is_written_and_drawn(podere, events, model):
    podere.done("evaluate", model, events, "--roc", "roc.csv", "--plot", "roc.svg")
    curve = numpy.loadtxt(podere.folder / "roc.csv", delimiter=",", skiprows=1)
    assert tuple(curve[0, 1:]) == (0, 0) and tuple(curve[-1, 1:]) == (1, 1)
    assert (numpy.diff(curve[:, 1:], axis=0) >= 0).all()
    assert (podere.folder / "roc.svg").read_text().lstrip().startswith("<")


def test_describe_shows_what_is_there(podere):
    podere.write("d.csv", "a,b\n1,5\n2,\n3,7\n6,NA\n")
    facts = json.loads(podere.done("describe", "d.csv", "--json", "--executors", 2).stdout)
    a, b = facts["columns"]
    assert facts["rows"] == 4
    assert (a["name"], a["minimum"], a["mean"], a["maximum"], a["missing"]) == ("a", 1, 3, 6, 0)
    assert (b["minimum"], b["mean"], b["maximum"], b["missing"]) == (5, 6, 7, 2)
    assert sum(a["histogram"]) == 4 and sum(b["histogram"]) == 2
    text = podere.done("describe", "d.csv").stdout
    assert "50.00 %" in text and "█" in text


def test_describe_shows_infinite_values_where_there_are_any(podere):
    podere.write("d.csv", "a,b\n1,5\ninf,6\n3,7\n-inf,\n")
    a, b = json.loads(podere.done("describe", "d.csv", "--json").stdout)["columns"]
    assert (a["minimum"], a["mean"], a["maximum"], a["missing"], a["infinite"]) == (1, 2, 3, 0, 2)
    assert (b["missing"], b["infinite"]) == (1, 0)
    text = podere.done("describe", "d.csv").stdout
    assert re.search(r"missing +infinite", text) and re.search(r"0\.00 % +50\.00 %", text)
    assert "infinite" not in podere.done("describe", "d.csv", "--columns", "b").stdout


# For machines.

FACTS = {"rows", "training_rows", "validation_rows", "features", "objective", "trees", "rounds_run", "best_round",
         "stopped_early", "was_stopped", "start_seconds", "load_seconds",
         "bin_seconds", "train_seconds", "communication", "loss", "executors", "cores", "peak_memory_bytes", "model"}


def test_json_of_training_has_the_documented_keys_and_is_all_there_is(podere):
    result = podere.done("train", "gbt", "collider:3000", "--validation", "collider:1000?seed=2", "--trees", 3,
                         "--executors", 2, "--cores", 1, "-o", "m.json", "--json")
    facts = json.loads(result.stdout)
    assert result.stderr == "" and result.stdout.count("\n") == 1
    assert FACTS | {"validation_loss", "validation_auc"} <= set(facts)
    assert (facts["rows"], facts["features"], facts["trees"], facts["executors"], facts["cores"]) == (3000, 28, 3, 2, 1)
    assert (facts["training_rows"], facts["validation_rows"]) == (3000, 1000)
    assert (facts["rounds_run"], facts["best_round"], facts["stopped_early"]) == (3, None, False)
    assert facts["was_stopped"] is False and facts["peak_memory_bytes"] > 1e6
    histograms = facts["communication"]["reduce_scatter"]
    assert 3 <= histograms["calls"] <= 3 * 6 and histograms["bytes"] > 3 * 3000 and 0 < histograms["seconds"]


@pytest.mark.parametrize("arguments, keys", [
    (["generate", "higgs", "--events", "1e2", "-o", "x.csv"], {"events", "seed", "output", "seconds"}),
    (["predict", "MODEL", "collider:10", "-o", "p.csv"], {"rows", "output", "start_seconds", "load_seconds", "predict_seconds"}),
    (["evaluate", "MODEL", "collider:100"], {"rows", "objective", "auc", "accuracy", "log_loss", "confusion"}),
    (["explain", "MODEL", "collider:100", "--permutation", 2], {
        "rows", "objective", "bias", "features", "measure", "baseline", "start_seconds", "load_seconds", "explain_seconds",
        "permutation_seconds", "executors", "cores", "peak_memory_bytes"}),
    (["model", "MODEL"], {"objective", "rounds", "trees", "nodes", "features"}),
    (["doctor"], {"ok", "findings"}),
])
def test_json_of_other_commands_has_the_documented_keys(podere, model, arguments, keys):
    result = podere.done(*[model if argument == "MODEL" else argument for argument in arguments], "--json")
    assert keys <= set(json.loads(result.stdout)) and result.stderr == ""


# For people.


def test_a_validation_and_early_stopping_end_with_the_best_round(podere):
    facts = json.loads(podere.done("train", "gbt", "collider:1500", "--validation-fraction", 0.3, "--trees", 500,
                                   "--learning-rate", 0.5, "--early-stopping", 5, "-o", "m.json", "--json").stdout)
    assert 0 < facts["trees"] < 500 and facts["was_stopped"] is False and facts["stopped_early"] is True
    assert facts["best_round"] == facts["trees"] == facts["rounds_run"] - 5
    assert facts["training_rows"] + facts["validation_rows"] == 1500 and 350 < facts["validation_rows"] < 550
    history = json.loads((podere.folder / "m.json").read_text())
    text = json.dumps(history)
    assert "validation_loss" in text and facts["validation_loss"] < 0.7


def test_what_early_stopping_did_is_shown_to_people(podere):
    train = ["train", "gbt", "collider:1500", "--learning-rate", 0.5, "--early-stopping", 5, "-o", "m.json"]
    text = podere.done(*train, "--validation", "collider:400?seed=1", "--trees", 500).stdout
    n_trees, n_rounds = map(int, re.search(r"trees +(\d+), the best of (\d+) rounds \(stopped early\)\n", text).groups())
    assert n_rounds == n_trees + 5
    assert re.search(r"trained, validated on +1,500, 400 rows\n", text)
    text = podere.done(*train, "--validation", "collider:400?seed=1", "--trees", n_trees + 2).stdout
    assert re.search(rf"trees +{n_trees}, the best of {n_trees + 2} rounds\n", text)


def test_a_bar_is_drawn_on_a_terminal_and_removed(podere):
    ours, theirs = pty.openpty()
    process = subprocess.Popen([PODERE, "train", "gbt", "collider:20000", "--trees", "60", "-o", "m.json"],
                               cwd=podere.folder, stdout=subprocess.PIPE, stderr=theirs,
                               env=podere.environment(TERM="xterm", NO_COLOR="1"))
    os.close(theirs)
    shown = b""
    try:
        while piece := os.read(ours, 65536):
            shown += piece
    except OSError:
        pass  # the other side is closed
    process.communicate(timeout=20)
    text = shown.decode()
    assert process.returncode == 0
    assert re.search(r"\r\x1b\[K━*─* \d+ of 60 trees, loss 0\.\d+", text)
    assert text.endswith("\r\x1b[K") and "\x1b[32m" not in text and "\n" not in text


def test_every_command_has_help_with_an_example(podere):
    for command in (["generate", "higgs"], ["describe"], ["train", "gbt"], ["predict"], ["evaluate"], ["explain"], ["model"],
                    ["doctor"]):
        assert f"Example: podere {' '.join(command)}" in podere.done(*command, "--help").stdout


def test_doctor_finds_all_well_here_and_reports_what_is_missing(podere):
    assert "mpirun" in podere.done("doctor").stdout
    result = podere.run("doctor", environment={"PATH": "/nowhere"})
    assert result.returncode == 1 and "openmpi-bin" in result.stdout
