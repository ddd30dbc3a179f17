"""Reports: what --report and `podere report` write, and what they refuse."""

import hashlib
import json
import math
import os
import re
import resource
import signal

import numpy
import pytest

from conftest import ENDLESS, interrupted, says, wait_until

MARK = '<script type="application/json" id="podere-report">'


def document(podere, name):
    """Of a report, from a page or alone."""
    text = (podere.folder / name).read_text(encoding="utf-8")
    if name.endswith(".html"):
        text = text.split(MARK)[1].split("</script>")[0]
    return json.loads(text)


def run_of(podere, name):
    [run] = document(podere, name)["runs"]
    return run


def measured(run, rows):
    [found] = [m for m in run["measured"] if m["rows"] == rows]
    return found


TRAIN = ["train", "gbt", "--trees", 8, "--depth", 3, "-o", "m.json"]


def test_a_training_and_a_test_become_one_page(podere, events):
    podere.done(*TRAIN, events, "--rows", ":4000", "--report", "train.json")
    podere.done("evaluate", "m.json", events, "--rows", "4000:", "--report", "test.html")
    result = podere.done("report", "train.json", "test.html", "-o", "all.html")
    assert result.stdout == "2 runs in all.html\n"
    train, test = document(podere, "all.html")["runs"]
    assert train["name"] == "train m.json" and test["name"] == "evaluate m.json on events.csv, rows 4000:"
    assert train["command"] == "train" and train["state"] == "done"
    assert train["arguments"].startswith("podere train gbt --trees 8 --depth 3 -o m.json ")
    sha256 = hashlib.sha256((podere.folder / "m.json").read_bytes()).hexdigest()
    assert train["model"]["sha256"] == test["model"]["sha256"] == sha256
    assert [p["phase"] for p in train["phases"]] == ["read", "bin", "train", "report"]
    assert all(a["end"] == b["begin"] for a, b in zip(train["phases"], train["phases"][1:]))
    assert {task["phase"] for task in train["result"]["metrics"]["tasks"]} == {"read", "bin", "train", "report"}
    # A report of reports is one, too.
    podere.done("report", "all.html", "-o", "again.json")
    assert document(podere, "again.json") == document(podere, "all.html")


def test_every_tree_is_a_point_of_the_curve(podere, events):
    podere.done(*TRAIN, events, "--report", "r.json", "--validation-fraction", 0.2)
    run = run_of(podere, "r.json")
    [curve] = run["curves"]
    assert (curve["unit"], curve["total"], curve["done"]) == ("tree", 8, list(range(9)))
    assert curve["seconds"] == sorted(curve["seconds"]) and curve["seconds"][-1] <= run["seconds"]
    assert curve["metrics"]["validation_loss"][-1] == run["result"]["validation_loss"]
    assert curve["metrics"]["loss"][1] > curve["metrics"]["loss"][8]


def test_measures_are_those_of_the_predictions(podere, events):
    podere.done(*TRAIN, events, "--rows", ":4000", "--report", "train.json", "--validation-fraction", 0.25)
    podere.done("evaluate", "m.json", events, "--rows", "4000:", "--report", "test.json", "--json")
    podere.done("predict", "m.json", events, "-o", "p.csv")
    labels = numpy.loadtxt(events, delimiter=",", skiprows=1, usecols=0)
    scores = numpy.loadtxt(podere.folder / "p.csv", dtype="float32")
    test = measured(run_of(podere, "test.json"), "test")
    assert (test["n_rows"], test["data"]) == (2000, "events.csv, rows 4000:")
    bins = numpy.minimum(numpy.floor(scores[4000:].astype(float) * 400), 399)
    for k in (0, 1):
        expected = numpy.bincount(bins[labels[4000:] == k].astype(int), minlength=400)
        assert test["scores"]["weights"][k] == expected.tolist()
    train = run_of(podere, "train.json")
    parts = [measured(train, which) for which in ("training", "validation")]
    assert [p["n_rows"] for p in parts] == [train["result"]["training_rows"], train["result"]["validation_rows"]]
    together = sum(numpy.array(p["scores"]["weights"]) for p in parts)
    bins = numpy.minimum(numpy.floor(scores[:4000].astype(float) * 400), 399)
    for k in (0, 1):
        expected = numpy.bincount(bins[labels[:4000] == k].astype(int), minlength=400)
        assert together[k].tolist() == expected.tolist()
    assert math.isclose(parts[1]["log_loss"], train["result"]["validation_loss"], rel_tol=1e-6)
    assert parts[0]["roc"][0][1:] == [0, 0] and parts[0]["roc"][-1][1:] == [1, 1]


def test_columns_are_counted_by_class(podere, events):
    podere.done(*TRAIN, events)
    podere.done("evaluate", "m.json", events, "--report", "r.json")
    columns = run_of(podere, "r.json")["columns"]
    table = numpy.genfromtxt(events, delimiter=",", names=True)
    assert columns["classes"] == ["0", "1"] and columns["left_out"] == 0
    for feature in columns["features"]:
        values = table[feature["name"].replace("-", "")]
        for k in (0, 1):
            shown = values[table["label"] == k]
            inside = shown[(shown >= feature["low"]) & (shown <= feature["high"])]
            assert sum(feature["weights"][k]) == len(inside)
            assert feature["below"][k] + feature["above"][k] == len(shown) - len(inside)
            assert len(inside) >= 0.95 * len(shown)
            assert feature["missing"][k] == 0


def test_a_report_is_the_same_on_any_number_of_executors(podere, events):
    found = []
    for executors, cores in [(1, 1), (2, 1), (3, 3)]:
        group = ["--executors", executors, "--cores", cores]
        podere.done(*TRAIN, events, *group, "--report", "train.json", "--validation-fraction", 0.3)
        podere.done("evaluate", "m.json", events, *group, "--report", "test.json")
        runs = [run_of(podere, "train.json"), run_of(podere, "test.json")]
        found.append([{part: run[part] for part in ("model", "measured", "columns")} for run in runs])
    assert found[0] == found[1] == found[2]


def test_the_model_is_the_same_with_a_report(podere, events):
    podere.done(*TRAIN, events)
    without = (podere.folder / "m.json").read_bytes()
    podere.done(*TRAIN, events, "--report", "r.json", "--executors", 2)
    assert (podere.folder / "m.json").read_bytes() == without


def test_a_report_changes_nothing_of_json(podere, events):
    plain = json.loads(podere.done(*TRAIN, events, "--json").stdout)
    reported = json.loads(podere.done(*TRAIN, events, "--json", "--report", "r.json").stdout)
    assert list(plain) == list(reported)
    assert "tasks" not in reported["metrics"]


def test_many_classes_numbers_and_networks_have_reports(podere):
    rows = [f"{'abc'[i % 3]},{i * 37 % 11},{i % 7}" for i in range(300)]
    podere.write("classes.csv", "kind,x,y\n" + "\n".join(rows) + "\n")
    podere.done(*TRAIN, "classes.csv", "--label", "kind", "--report", "r.json")
    run = run_of(podere, "r.json")
    assert run["columns"]["classes"] == run["model"]["classes"] == ["a", "b", "c"]
    [training] = run["measured"]
    assert len(training["confusion"]) == 3 and "scores" not in training
    podere.done("train", "gbt", "classes.csv", "--label", "y", "--columns", "x", "--objective", "squared-error", "-o", "n.json",
                "--report", "r.json")
    [training] = run_of(podere, "r.json")["measured"]
    assert sum(training["residuals"]["weights"]) == 300
    reach = training["residuals"]["edges"][1]
    assert math.log2(reach) % 1 == 0 and reach / 2 < 6 * training["mean_absolute_error"] <= reach
    podere.done("train", "nn", "classes.csv", "--label", "kind", "--layers", 4, "--epochs", 2, "-o", "nn.json", "--report", "r.json")
    run = run_of(podere, "r.json")
    assert run["curves"] and "importance" not in run["model"] and run["measured"][0]["n_rows"] == 300


def test_importance_is_that_of_the_model(podere, events):
    podere.done(*TRAIN, events, "--report", "r.json")
    expected = json.loads(podere.done("model", "m.json", "--json").stdout)["features"]
    assert run_of(podere, "r.json")["model"]["importance"] == [
        {"feature": f["name"], "gain": f["gain"], "splits": f["splits"]} for f in expected]


def test_categories_have_a_bin_each(podere):
    rows = [f"{i % 2},{['red', 'green', 'blue'][i % 3]}" for i in range(60)]
    podere.write("c.csv", "label,color\n" + "\n".join(rows) + "\n")
    podere.done(*TRAIN, "c.csv", "--categorical", "color", "--report", "r.json")
    [color] = run_of(podere, "r.json")["columns"]["features"]
    assert color["categories"] == ["blue", "green", "red"]
    assert [sum(pair) for pair in zip(*color["weights"])] == [20, 20, 20]


def test_names_cannot_end_the_script(podere):
    name = "</script><script>alert(1)</script><!--"
    rows = "\n".join(f"{i % 2},{i}" for i in range(20))
    podere.write("t.csv", f'label,"{name}"\n{rows}\n')
    podere.done(*TRAIN, "t.csv", "--report", "r.html")
    assert run_of(podere, "r.html")["columns"]["features"][0]["name"] == name
    assert "<script>alert" not in (podere.folder / "r.html").read_text()


def test_losses_are_events_and_the_curve_is_whole(podere):
    process = podere.start("train", "gbt", "collider:20000", *ENDLESS, "--depth", "7", "--cores", "1", "-o", "m.json",
                           "--checkpoint", "c.json", "--checkpoint-every", "0.1", "--executors", "2", "--report", "r.json")
    wait_until((podere.folder / "c.json").exists)
    os.kill(podere.executors(2)[1], signal.SIGKILL)
    says(process, "lost executor")
    interrupted(process)
    run = run_of(podere, "r.json")
    assert any("lost executor" in event["message"] for event in run["events"])
    done = run["curves"][0]["done"]
    assert done == sorted(set(done)) and done[0] == 0 and done[-1] == run["result"]["trees"]


def test_an_interrupted_training_has_a_report(podere, events):
    process = podere.start("train", "gbt", str(events), *ENDLESS, "-o", "m.json", "--report", "r.json")
    says(process, "trees")
    interrupted(process)
    run = run_of(podere, "r.json")
    assert run["state"] == "interrupted" and run["curves"][0]["total"] == 100000


def test_a_session_reports(podere, events, tmp_path_factory):
    runtime = {"XDG_RUNTIME_DIR": str(tmp_path_factory.mktemp("run"))}
    podere.done("session", "start", "s", environment=runtime)
    try:
        podere.done("session", "load", "s", events, "--as", "t", "--label", "label", environment=runtime)
        podere.done("train", "gbt", "table:t", "--session", "s", "--trees", 5, "-o", "m.json", "--report", "r.html",
                    environment=runtime)
        run = run_of(podere, "r.html")
        assert run["curves"][0]["done"] == [0, 1, 2, 3, 4, 5] and run["measured"][0]["data"] == "table:t"
        # The table stays whole.
        podere.done("evaluate", "m.json", "table:t", "--session", "s", environment=runtime)
    finally:
        podere.done("session", "stop", "s", environment=runtime)


def test_what_cannot_be_reported_is_refused(podere, events):
    refused = lambda *options: podere.refused(*TRAIN, events, *options)
    assert "'r.txt' ends neither in .html" in refused("--report", "r.txt")
    assert "are the same file" in refused("--report", "m.json")
    assert "leave out --low-memory, or the report" in refused("--report", "r.html", "--low-memory")
    assert "no/r.html" in refused("--report", "no/r.html")


def test_a_model_is_kept_where_its_report_lacks_measures(podere):
    podere.write("t.csv", "kind,x\n" + "\n".join(f"{i % 3},{i % 3}" for i in range(60)) + "\n")
    podere.write("v.csv", "kind,x\n3,1\n0,0\n")
    result = podere.done("train", "centroid", "t.csv", "--validation", "v.csv", "-o", "c.json", "--report", "r.json")
    assert "the report has no measures of validation rows: " in result.stderr
    assert [m["rows"] for m in run_of(podere, "r.json")["measured"]] == ["training"] and (podere.folder / "c.json").exists()


def test_what_is_no_report_is_refused(podere, model):
    assert ".: is no file" in podere.refused("report", ".", "-o", "../x.html")
    assert "is no report of Podere" in podere.refused("report", model, "-o", "x.html")
    assert "none.json" in podere.refused("report", "none.json", "-o", "x.html")
    podere.write("new.json", '{"podere_report": 2, "runs": []}')
    assert "of a newer Podere, version 2" in podere.refused("report", "new.json", "-o", "x.html")
    podere.write("old.json", '{"podere_report": 1, "runs": [{"name": "a"}]}')
    assert "are the same file" in podere.refused("report", "old.json", "-o", "old.json")
    assert json.loads(podere.done("report", "old.json", "-o", "x.html", "--json").stdout) == {
        "output": "x.html", "runs": ["a"], "studies": 0}


def test_an_explanation_belongs_to_the_model_that_was_trained(podere, events):
    podere.done(*TRAIN, events, "--rows", ":4000", "--report", "train.json")
    podere.done("explain", "m.json", events, "--rows", "4000:", "--report", "explain.json")
    train, explain = run_of(podere, "train.json"), run_of(podere, "explain.json")
    assert explain["name"] == "explain m.json on events.csv, rows 4000:"
    assert explain["model"]["sha256"] == train["model"]["sha256"]
    assert {f["name"] for f in explain["result"]["features"]} == {i["feature"] for i in train["model"]["importance"]}
    assert all(feature["mean_abs_shap"] >= 0 for feature in explain["result"]["features"])


@pytest.mark.parametrize("rows, n_shown", [(":400", [400]), ("0:", range(420, 580))])
def test_the_report_of_an_explanation_has_points_of_some_rows(podere, events, model, rows, n_shown):
    """They are those of the table of SHAP values, and the same on any number of executors."""
    podere.done("explain", model, events, "--rows", rows, "--report", "one.json", "-o", "shap.csv")
    podere.done("explain", model, events, "--rows", rows, "--report", "three.json", "--executors", 3)
    points = run_of(podere, "one.json")["shap_points"]
    assert run_of(podere, "three.json")["shap_points"] == points
    assert points["rows"] in n_shown and len(points["features"]) == 20
    header, *lines = (podere.folder / "shap.csv").read_text().splitlines()
    all_rows = [[float(number) for number in line.split(",")] for line in lines]
    shares = [feature["mean_abs_shap"] for feature in run_of(podere, "one.json")["result"]["features"]]
    assert sorted(shares)[-20:] == sorted(
        next(f["mean_abs_shap"] for f in run_of(podere, "one.json")["result"]["features"] if f["name"] == feature["name"])
        for feature in points["features"])
    if len(n_shown) > 1:
        return
    names, *lines = events.read_text().splitlines()
    table = numpy.array([line.split(",") for line in lines[:400]], dtype=float)
    for feature in points["features"]:
        shap = [row[header.split(",").index(feature["name"])] for row in all_rows]
        values = table[:, names.split(",").index(feature["name"])]
        places = [((values < value).sum() + (values <= value).sum() - 1) / 2 / 399 for value in values]
        found = list(zip(feature["shap"], feature["places"]))
        assert numpy.allclose(feature["shap"], sorted(shap), rtol=2e-3, atol=1e-9) and not feature["is_category"]
        assert numpy.allclose(sorted(feature["places"]), sorted(places), atol=1e-3)
        assert numpy.isclose(numpy.dot(*zip(*found)), numpy.dot(shap, places), rtol=2e-2, atol=0.05), "they belong together"


def test_points_of_missing_values_have_no_place(podere):
    podere.write("t.csv", "y,a\n" + "".join(f"{i % 2},{'' if i % 3 == 0 else i % 2 + i / 100}\n" for i in range(90)))
    podere.done("train", "gbt", "t.csv", "--trees", 3, "-o", "m.json")
    podere.done("explain", "m.json", "t.csv", "--report", "r.json")
    feature, = run_of(podere, "r.json")["shap_points"]["features"]
    places = [place for place in feature["places"] if place is not None]
    assert feature["places"].count(None) == 30 and (min(places), max(places)) == (0, 1)


def test_predictions_and_descriptions_have_reports(podere, events, model):
    podere.done("predict", model, events, "-o", "p.csv", "--report", "predict.json")
    run = run_of(podere, "predict.json")
    assert run["name"] == "predict model.json on events.csv" and run["result"]["rows"] == 6000
    assert [phase["phase"] for phase in run["phases"]] == ["read", "predict", "write"]
    podere.done("describe", events, "--report", "describe.html")
    run = run_of(podere, "describe.html")
    assert run["name"] == "describe events.csv" and len(run["result"]["columns"]) == 29
    line = podere.refused("describe", events, "--report", events)
    assert "--report" in line


def test_weighted_rows_have_the_squares_that_error_bars_are_made_of(podere):
    podere.done("train", "gbt", "collider:2000", "--trees", 3, "-o", "m.json")
    podere.done("generate", "higgs", "--events", "1000", "--seed", "5", "-o", "events.csv", "--header")
    lines = (podere.folder / "events.csv").read_text().splitlines()
    weighted = [lines[0] + ",w", *(f"{line},{0.5 if i % 2 else 4}" for i, line in enumerate(lines[1:]))]
    podere.write("weighted.csv", "\n".join(weighted) + "\n")
    podere.done("evaluate", "m.json", "weighted.csv", "--weight", "w", "--report", "w.json")
    scores = measured(run_of(podere, "w.json"), "test")["scores"]
    assert numpy.sum(scores["weights"]) == pytest.approx(2250) and numpy.sum(scores["squares"]) == pytest.approx(8125)
    podere.done("evaluate", "m.json", "events.csv", "--report", "plain.json")
    assert "squares" not in measured(run_of(podere, "plain.json"), "test")["scores"]


def test_a_report_that_finds_no_room_costs_only_itself(podere, events, model):
    """The page is larger than files may be here."""
    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))

    result = podere.run("evaluate", model, events, "--report", "r.html", "--json", preexec_fn=limit)
    assert result.returncode == 2 and json.loads(result.stdout)["rows"] == 6000
    assert re.fullmatch(r"podere: --report: r\.html: .*File too large\n", result.stderr), result.stderr
    assert not (podere.folder / "r.html").exists()
