"""podere train --folds: how good models are on rows that they were not trained on."""

import csv
import hashlib
import itertools
import json
import math
import os
import re
import signal
import statistics
import time

import numpy
import pytest

from conftest import wait_until

ROWS = 6000
FAST = {"gbt": ["--trees", 12, "--depth", 4], "nn": ["--epochs", 3, "--layers", "8"]}


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """Three classes, of which one is rare, a column of texts, some negative weights."""
    rng = numpy.random.default_rng(5)
    classes = rng.choice(3, ROWS, p=[0.6, 0.37, 0.03])
    features = rng.normal(0, 1, (ROWS, 4))
    features[:, 0] += classes
    features[:, 1] -= classes > 1
    weights = rng.gamma(2, 0.5, ROWS) * numpy.where(rng.uniform(size=ROWS) < 0.05, -1, 1)
    path = tmp_path_factory.mktemp("folds") / "table.csv"
    with open(path, "w") as file:
        print("class,binary,target,weight,x0,x1,x2,x3", file=file)
        for k, weight, row in zip(classes, weights, features):
            values = [k, int(k > 0), k * 1.5 + row[2], weight, *row]
            print(*(f"{value:.7g}" for value in values), sep=",", file=file)
    return path


COLUMNS = ["--columns", "x0,x1,x2,x3"]


def folds_of(podere, *arguments, **options):
    return json.loads(podere.done("train", *arguments, "-o", "model.json", "--json", **options).stdout)["cross_validation"]


def without_seconds(found):
    return {name: value for name, value in found.items() if name != "seconds"}


@pytest.mark.parametrize("algorithm, label, weight", [("gbt", "class", []), ("gbt", "target", ["--weight", "weight"]),
                                                      ("nn", "binary", [])])
def test_folds_are_the_same_on_1_2_3_5_executors_and_1_3_threads(podere, table, algorithm, label, weight):
    found = {}
    for executors in (1, 2, 3, 5):
        for cores in (1, 3):
            found[executors, cores] = without_seconds(folds_of(
                podere, algorithm, table, "--label", label, *weight, *COLUMNS, *FAST[algorithm], "--folds", 3,
                "--fold-repeats", 2, "--executors", executors, "--cores", cores))
    first = found[1, 1]
    assert all(other == first for other in found.values()), found
    assert [(fold["repeat"], fold["fold"]) for fold in first["each"]] == [(r, f) for r in (1, 2) for f in (1, 2, 3)]
    for repeat in (1, 2):
        assert sum(fold["rows"] for fold in first["each"] if fold["repeat"] == repeat) == ROWS
    for name, of_all in first["measures"].items():
        scores = [fold[name] for fold in first["each"]]
        assert math.isclose(of_all["mean"], statistics.mean(scores))
        assert math.isclose(of_all["standard_deviation"], statistics.stdev(scores), rel_tol=1e-6)
        assert math.isclose(of_all["standard_error"], statistics.stdev(scores) / math.sqrt(3), rel_tol=1e-6)
        assert len(set(scores)) >= 4, "each fold has rows of its own"


@pytest.mark.parametrize("algorithm", ["gbt", "nn"])
def test_the_model_is_that_of_a_training_without_folds(podere, table, algorithm):
    podere.done("train", algorithm, table, "--label", "binary", *COLUMNS, *FAST[algorithm], "-o", "alone.json")
    folds_of(podere, algorithm, table, "--label", "binary", *COLUMNS, *FAST[algorithm], "--folds", 4)
    assert (podere.folder / "model.json").read_bytes() == (podere.folder / "alone.json").read_bytes()


def test_folds_foresee_the_measures_of_rows_never_seen(podere):
    """The rows held out of 8,000 are about as well predicted as others; those trained on are too well predicted."""
    found = folds_of(podere, "gbt", "collider:8000", "--trees", 60, "--depth", 6, "--folds", 5)["measures"]["auc"]
    seen, new = (json.loads(podere.done("evaluate", "model.json", rows, "--json").stdout)["auc"]
                 for rows in ("collider:8000", "collider:40000?seed=99"))
    assert abs(found["mean"] - new) < 4 * found["standard_error"] + 0.01, (found, new)
    assert seen - found["mean"] > 0.05, (found, seen)


@pytest.mark.parametrize("algorithm, patience, length", [("gbt", ["--trees", 400, "--learning-rate", 0.3], "trees"),
                                                         ("nn", ["--epochs", 60, "--learning-rate", 0.5], "epochs")])
def test_early_stopping_in_folds_says_how_long_to_train_on_all_rows(podere, table, algorithm, patience, length):
    result = podere.done("train", algorithm, table, "--label", "binary", *COLUMNS, *patience, "--early-stopping", 2,
                         "--folds", 3, "-o", "model.json")
    assert f"The model was trained on all rows, without early stopping: its {length} are the folds' mean." in result.stdout
    assert "Early stopping watched the rows that each fold was measured on: these scores are a little too good." in result.stdout
    facts = json.loads(podere.done("train", algorithm, table, "--label", "binary", *COLUMNS, *patience, "--early-stopping",
                                   2, "--folds", 3, "-o", "model.json", "--json").stdout)
    lengths = [fold[length] for fold in facts["cross_validation"]["each"]]
    assert max(lengths) < patience[1], lengths
    assert abs(facts[length] - statistics.mean(lengths)) <= 0.5


def test_an_executor_killed_among_folds_costs_time_and_nothing_else(podere, table):
    train = ["gbt", table, "--label", "class", *COLUMNS, "--trees", 12, "--depth", 4, "--folds", 3, "--fold-repeats", 20,
             "--executors", 2, "--cores", 1]
    undisturbed = without_seconds(folds_of(podere, *train))
    model = (podere.folder / "model.json").read_bytes()
    process = podere.start("train", *train, "-o", "model.json", "--json", "--checkpoint", "c.json")
    wait_until((podere.folder / "c.json.folds").exists)
    os.kill(podere.executors(2)[0], signal.SIGKILL)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    facts = json.loads(out)
    assert len(facts["losses"]) == 1
    assert without_seconds(facts["cross_validation"]) == undisturbed
    assert (podere.folder / "model.json").read_bytes() == model
    assert not (podere.folder / "c.json.folds").exists()


def test_ctrl_c_among_folds_leaves_them_for_the_same_command(podere, table):
    train = ["train", "gbt", table, "--label", "binary", *COLUMNS, "--trees", 12, "--folds", 3, "--fold-repeats", 200,
             "-o", "model.json", "--checkpoint", "c.json"]
    process = podere.start(*train)
    wait_until((podere.folder / "c.json.folds").exists)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert not (podere.folder / "model.json").exists()
    kept = (podere.folder / "c.json.folds").read_text()
    n_done = len(json.loads(kept)["folds"])
    assert 0 < n_done < 600
    assert f"interrupted after {n_done} of 600 folds, before the model was trained; rerun the same command to resume" in err
    other = table.with_name("other.csv")
    lines = table.read_text().splitlines()
    lines[1] = lines[1].rpartition(",")[0] + ",7"  # a feature, not a label
    other.write_text("\n".join(lines))
    for changed in ([*train, "--depth", 3], [*train, "--fold-seed", 1], ["train", "nn", *train[2:7], *train[9:]],
                    [*train[:2], other, *train[3:]]):
        assert "c.json.folds: is of a run with other rows, options or folds; remove it" in podere.refused(*changed)
    podere.done(*train[:9], "-o", "alone.json", "--checkpoint", "c.json")
    assert (podere.folder / "c.json.folds").read_text() == kept, "it is not of a run without folds"
    # What is kept is not done again: another score in it is found in the result.
    folds = re.search(r'"folds":(\[.*?\]),"sha256"', kept)[1]
    changed = re.sub(r'"auc":[0-9.]+', '"auc":0.125', folds, count=1)
    kept = kept.replace(folds, changed).replace(*(hashlib.sha256(text.encode()).hexdigest() for text in (folds, changed)))
    (podere.folder / "c.json.folds").write_text(kept)
    found = json.loads(podere.done(*train, "--json").stdout)["cross_validation"]
    assert found["each"][0]["auc"] == 0.125 and len(found["each"]) == 600
    assert not (podere.folder / "c.json.folds").exists()


@pytest.fixture(scope="module")
def visits(tmp_path_factory):
    """Visits of 60 patients, some of them often, whose number and blood are their own, and so is whether they are ill."""
    rng = numpy.random.default_rng(8)
    ill = rng.integers(0, 2, 60)
    blood = rng.uniform(0, 1, 60)
    patients = numpy.minimum(59, rng.exponential(25, ROWS).astype(int))
    path = tmp_path_factory.mktemp("visits") / "visits.csv"
    with open(path, "w") as file:
        print("ill,day,code,patient,blood,noise,steps", file=file)
        for patient in patients:
            day = rng.integers(0, 900)
            values = [ill[patient], day, 16777216 + patient, f"p{patient}", blood[patient], rng.normal(),
                      rng.integers(0, 6) + (day > 450) * ill[patient]]
            print(*values, sep=",", file=file)
    return path


GROUP = ["--label", "ill", "--drop", "day,code", "--fold-group", "patient"]
ORDER = ["--label", "ill", "--drop", "code,patient", "--fold-order", "day"]


@pytest.mark.parametrize("algorithm, options", [("gbt", [*GROUP, "--fold-repeats", 2]), ("nn", GROUP), ("gbt", ORDER),
                                                ("nn", ORDER)])
def test_folds_by_a_column_are_the_same_on_1_2_3_5_executors_and_1_3_threads(podere, visits, algorithm, options):
    found = [without_seconds(folds_of(podere, algorithm, visits, *options, *FAST[algorithm], "--folds", 3, "--executors",
                                      executors, "--cores", cores)) for executors in (1, 2, 3, 5) for cores in (1, 3)]
    assert all(other == found[0] for other in found), found
    assert len({json.dumps(fold["auc"]) for fold in found[0]["each"]}) == len(found[0]["each"])


def features_of(podere, model):
    return [feature["name"] for feature in json.loads(podere.done("model", model, "--json").stdout)["features"]]


def test_a_patient_is_held_out_whole(podere, visits):
    """Trees know the patients by their blood. They say nothing of others."""
    learn = ["gbt", visits, "--label", "ill", "--columns", "blood,noise", "--trees", 60, "--depth", 6, "--folds", 5]
    known = folds_of(podere, *learn)
    held_out = folds_of(podere, *learn, "--fold-group", "patient")
    assert known["measures"]["auc"]["mean"] > 0.99
    assert held_out["measures"]["auc"]["mean"] < 0.8, held_out
    assert (held_out["group"], held_out["groups"]) == ("patient", 60)
    rows = [fold["rows"] for fold in held_out["each"]]
    assert sum(rows) == ROWS and max(rows) - min(rows) < 60, rows
    assert features_of(podere, "model.json") == ["blood", "noise"]


def search_visits(podere, visits, *arguments):
    """The trees of two depths, as podere tune measures them."""
    podere.write("space.toml", "n_trees = 60\ndepth = [2, 6]\n")
    return json.loads(podere.done("tune", "gbt", visits, "--label", "ill", "--columns", "blood,noise", "--space", "space.toml",
                                  "--search", "grid", "--schedule", "none", "--score", "auc", "-o", "model.json", "--json",
                                  *arguments).stdout)


@pytest.mark.parametrize("parts", [["--folds", 5], ["--held-out", 3]])
def test_a_search_holds_a_patient_out_whole(podere, visits, parts):
    known = search_visits(podere, visits, *parts)
    held_out = search_visits(podere, visits, *parts, "--fold-group", "patient")
    assert all(trial["score"] > 0.95 for trial in known["trials"]), known["trials"]
    assert all(trial["score"] < 0.8 for trial in held_out["trials"]), held_out["trials"]
    assert held_out["measured_on"]["group"] == "patient" and "group" not in known["measured_on"]
    assert features_of(podere, "model.json") == ["blood", "noise"] and held_out["features"] == 2
    if parts[0] == "--folds":
        learn = ["gbt", visits, "--label", "ill", "--columns", "blood,noise", "--trees", 60, "--depth", 6]
        folds = folds_of(podere, *learn, *parts, "--fold-group", "patient")
        assert held_out["trials"][1]["score"] == folds["measures"]["auc"]["mean"]


def test_a_large_group_is_not_the_one_part_held_out(podere):
    """Of 1,000 rows 700 are of one group."""
    lines = "".join(f"{row % 2},{row},{'large' if row < 700 else f's{row % 9}'}\n" for row in range(1000))
    podere.write("sites.csv", "y,x,site\n" + lines)
    found = json.loads(podere.done("tune", "gbt", "sites.csv", "--fold-group", "site", "--held-out", 5, "--trials", 1, "--fix",
                                   "n_trees=2", "-o", "m.json", "--json").stdout)
    assert found["groups"] == 10 and found["trials"][0]["facts"]["rows"] < 200


def test_searches_by_group_are_the_same_on_1_2_3_5_executors(podere, visits):
    texts = set()
    for executors in (1, 2, 3, 5):
        found = search_visits(podere, visits, "--folds", 3, "--nested", 2, "--fold-group", "patient", "--executors", executors,
                              "--cores", 1)
        texts.add(json.dumps([found["trials"], found["nested"], (podere.folder / "model.json").read_text()]))
    assert len(texts) == 1
    # Else a part would have patients that the search knew.
    assert all(part["auc"] < 0.8 for part in found["nested"]["each"]), found["nested"]


def test_the_groups_of_a_search_are_printed(podere, visits):
    tune = ["tune", "gbt", visits, "--label", "ill", "--columns", "blood,noise", "--trials", 1, "--fix", "n_trees=2", "-o", "m.json",
            "--fold-group", "patient"]
    assert " 5 folds, grouped by 'patient' (60 groups; no feature)\n" in podere.done(*tune).stdout
    assert " about one row of 4, grouped by 'patient' (60 groups; no feature)\n" in podere.done(*tune, "--held-out", 4).stdout


def test_a_study_is_of_its_groups(podere, visits):
    search = ["--folds", 3, "--study", "a.journal"]
    search_visits(podere, visits, *search, "--fold-group", "patient")
    assert search_visits(podere, visits, *search, "--fold-group", "patient")["steps"] == 0
    tune = ["tune", "gbt", visits, "--label", "ill", "--columns", "blood,noise", "--space", "space.toml", "--search", "grid",
            "--schedule", "none", "--score", "auc", "-o", "model.json", *search]
    assert "a.journal: is a study with other" in podere.refused(*tune)
    assert "a.journal: is a study with other" in podere.refused(*tune, "--fold-group", "code")


@pytest.mark.parametrize("arguments, words", [
    (["--fold-group", "patiet"], "no categorical column 'patiet'"),
    (["--fold-group", "ill", "--drop", "patient"], "fold-group is 'ill', which is the label: choose another with --label"),
    (["--fold-group", "patient", "--validation", "collider:100"], "--fold-group"),
    (["--fold-group", "patient", "--held-out", 70], "held-out is 70, but the column 'patient' has"),
    (["--fold-group", "patient", "--nested", 70], "nested is 70, but the column 'patient' has")])
def test_a_group_that_a_search_cannot_have_is_refused(podere, visits, arguments, words):
    assert words in podere.refused("tune", "gbt", visits, "--label", "ill", "--trials", 2, "-o", "model.json", *arguments)


def test_the_column_that_folds_follow_is_no_feature(podere, visits):
    """Whether it is named among others, or dropped, or neither."""
    models = set()
    for columns in (["--drop", "day,code"], ["--drop", "day,code,patient"], ["--columns", "blood,noise,steps"],
                    ["--columns", "patient,blood,noise,steps"], ["--drop", "day,code", "--categorical", "patient"]):
        result = podere.done("train", "gbt", visits, "--label", "ill", *columns, *FAST["gbt"], "--folds", 3, "--fold-group",
                             "patient", "-o", "model.json")
        assert re.search(r"left out as group +patient, 60 groups\n", result.stdout), result.stdout
        assert re.search(r"rows × features +6,000 × 3\n", result.stdout), result.stdout
        models.add((podere.folder / "model.json").read_bytes())
    podere.done("train", "gbt", visits, "--label", "ill", "--drop", "day,code,patient", *FAST["gbt"], "-o", "model.json")
    models.add((podere.folder / "model.json").read_bytes())
    assert len(models) == 1
    result = podere.done("train", "gbt", visits, *ORDER, *FAST["gbt"], "--folds", 3, "-o", "model.json")
    assert re.search(r"left out as order +day\n", result.stdout), result.stdout


def test_numbers_that_float32_does_not_hold_are_groups_of_their_own(podere, visits):
    by_code, by_patient = (folds_of(podere, "gbt", visits, "--label", "ill", "--columns", "blood,noise", *FAST["gbt"],
                                    "--folds", 5, "--fold-group", group) for group in ("code", "patient"))
    assert by_code["groups"] == by_patient["groups"] == 60


def rows_where(visits, keep, columns):
    """The rows of a table, as text, of which only some columns stay."""
    head, *rows = (line.split(",") for line in visits.read_text().splitlines())
    places = [head.index(column) for column in columns]
    kept = [row for row in rows if keep(dict(zip(head, row)))]
    return "\n".join(",".join(row[i] for i in places) for row in [head, *kept]) + "\n"


def score(podere, train, test):
    """Of trees on one table of `ill` and `steps`, of which each value has a bin, measured on another."""
    podere.write("train.csv", train), podere.write("test.csv", test)
    podere.done("train", "gbt", "train.csv", "--label", "ill", *FAST["gbt"], "-o", "alone.json")
    return json.loads(podere.done("evaluate", "alone.json", "test.csv", "--json").stdout)["auc"]


def test_three_groups_in_three_folds_are_measured_as_files_of_their_own_are(podere, visits):
    clinic = lambda row: str(int(row["patient"][1:]) % 3)
    text = visits.read_text().splitlines()
    head = text[0].split(",")
    lines = [text[0] + ",clinic"] + [line + "," + clinic(dict(zip(head, line.split(",")))) for line in text[1:]]
    podere.write("clinics.csv", "\n".join(lines))
    found = folds_of(podere, "gbt", "clinics.csv", "--label", "ill", "--columns", "steps", *FAST["gbt"], "--folds", 3,
                     "--fold-group", "clinic")
    expected = {}
    for held_out in "012":
        train, test = (rows_where(visits, lambda row: (clinic(row) == held_out) == is_test, ["ill", "steps"])
                       for is_test in (False, True))
        expected[test.count("\n") - 1] = score(podere, train, test)
    assert {fold["rows"]: fold["auc"] for fold in found["each"]} == pytest.approx(expected, abs=1e-9)


def test_folds_in_order_are_measured_on_what_comes_after(podere, visits):
    found = folds_of(podere, "gbt", visits, "--label", "ill", "--columns", "steps", *FAST["gbt"], "--folds", 4,
                     "--fold-order", "day")
    assert found["order"] == "day"
    days = sorted(int(line.split(",")[1]) for line in visits.read_text().splitlines()[1:])
    run_of = {}  # that of the middle of the rows with this day
    for day in set(days):
        run_of[day] = (days.index(day) + days.count(day) / 2) * 5 // ROWS
    for k, fold in enumerate(found["each"]):
        train, test = (rows_where(visits, keep, ["ill", "steps"]) for keep in (
            lambda row: run_of[int(row["day"])] <= k, lambda row: run_of[int(row["day"])] == k + 1))
        assert fold["rows"] == test.count("\n") - 1
        assert fold["auc"] == pytest.approx(score(podere, train, test), abs=1e-9)


def test_folds_of_a_table_in_a_session_follow_its_columns(podere, visits):
    session = lambda *arguments: podere.done("session", *arguments)
    session("start", "s", "--executors", 2, "--no-page")
    try:
        session("load", "s", visits, "--as", "v", "--label", "ill", "--categorical", "patient")
        found = folds_of(podere, "gbt", "table:v", *FAST["gbt"], "--folds", 3, "--fold-group", "patient", "--session", "s")
        assert found["groups"] == 60
        assert sorted(features_of(podere, "model.json")) == ["blood", "code", "day", "noise", "steps"]
        again = folds_of(podere, "gbt", "table:v", *FAST["gbt"], "--folds", 3, "--fold-group", "patient", "--session", "s")
        assert without_seconds(again) == without_seconds(found), "the session's table has kept the column"
    finally:
        session("stop", "s")
    alone = folds_of(podere, "gbt", visits, "--label", "ill", *FAST["gbt"], "--folds", 3, "--fold-group", "patient")
    assert without_seconds(alone) == without_seconds(found)


def predictions_of(path):
    """A list of dicts of texts."""
    return list(csv.DictReader(path.read_text().splitlines()))


def auc(labels, scores):
    order = numpy.argsort(scores)
    values, places = numpy.unique(numpy.asarray(scores), return_inverse=True)
    rank = numpy.zeros(len(values))
    numpy.add.at(rank, places[order], numpy.arange(1, len(order) + 1))
    ranks = (rank / numpy.bincount(places))[places]
    n = labels.sum()
    return (ranks[labels == 1].sum() - n * (n + 1) / 2) / (n * (len(labels) - n))


@pytest.mark.parametrize("algorithm, options", [
    ("gbt", ["--label", "class", *COLUMNS, "--fold-repeats", 2]), ("nn", ["--label", "binary", *COLUMNS]),
    ("gbt", ["--label", "target", *COLUMNS])])
def test_predictions_of_rows_held_out_are_those_that_were_measured(podere, table, algorithm, options):
    files = set()
    for executors, cores in itertools.product((1, 2, 3, 5), (1, 3)):
        found = folds_of(podere, algorithm, table, *options, *FAST[algorithm], "--folds", 3, "--executors", executors,
                         "--cores", cores, "--fold-predictions", "p.csv")
        files.add((podere.folder / "p.csv").read_bytes())
    assert len(files) == 1 and found["predictions"] == "p.csv"
    lines = predictions_of(podere.folder / "p.csv")
    repeats = found["repeats"]
    assert [(int(line["row"]), int(line["repeat"])) for line in lines] == list(itertools.product(
        range(ROWS), range(1, repeats + 1)))
    labels = [row[options[1]] for row in predictions_of(table)]
    assert [float(line["label"]) for line in lines[::repeats]] == [float(label) for label in labels]
    for fold in found["each"]:
        own = [line for line in lines if (int(line["repeat"]), int(line["fold"])) == (fold["repeat"], fold["fold"])]
        assert len(own) == fold["rows"]
        label = numpy.array([float(line["label"]) for line in own])
        numbers = numpy.array([[float(line[name]) for name in line if name.startswith("prediction")] for line in own])
        if options[1] == "class":
            assert list(own[0])[4:] == ["prediction_0", "prediction_1", "prediction_2"]
            assert fold["accuracy"] == pytest.approx((numbers.argmax(1) == label).mean())
        elif options[1] == "binary":
            assert fold["auc"] == pytest.approx(auc(label, numbers[:, 0]))
        else:
            assert fold["root_mean_squared_error"] == pytest.approx(math.sqrt(((numbers[:, 0] - label) ** 2).mean()))


def test_predictions_have_the_texts_of_classes(podere):
    rows = [("b,c" if i % 3 else "a", i % 3 + i % 5 / 10) for i in range(90)]
    podere.write("texts.csv", "kind,x\n" + "".join(f'"{kind}",{x}\n' for kind, x in rows))
    podere.done("train", "gbt", "texts.csv", "--folds", 3, "--fold-predictions", "p.csv", "-o", "model.json")
    assert [line["label"] for line in predictions_of(podere.folder / "p.csv")] == [kind for kind, _ in rows]


def test_rows_that_no_fold_holds_out_have_no_prediction(podere, visits):
    found = folds_of(podere, "gbt", visits, *ORDER, *FAST["gbt"], "--folds", 3, "--executors", 2, "--fold-predictions", "p.csv")
    day = [int(row["day"]) for row in predictions_of(visits)]
    lines = predictions_of(podere.folder / "p.csv")
    assert len(lines) == sum(fold["rows"] for fold in found["each"])
    run = {int(line["row"]): int(line["fold"]) for line in lines}
    for k in (1, 2, 3):
        before = [day[row] for row in range(ROWS) if run.get(row, 0) < k]
        assert max(before) < min(day[row] for row in run if run[row] == k)


def test_a_killed_executor_leaves_the_predictions_as_they_were(podere, table):
    train = ["gbt", table, "--label", "binary", *COLUMNS, *FAST["gbt"], "--folds", 3, "--fold-repeats", 60, "--executors", 2,
             "--cores", 1]
    folds_of(podere, *train, "--fold-predictions", "undisturbed.csv")
    process = podere.start("train", *train, "-o", "model.json", "--json", "--checkpoint", "c.json", "--fold-predictions", "p.csv")
    executor = podere.executors(2)[0]
    time.sleep(0.7)
    os.kill(executor, signal.SIGKILL)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    assert len(json.loads(out)["losses"]) == 1
    assert (podere.folder / "p.csv").read_bytes() == (podere.folder / "undisturbed.csv").read_bytes()
    assert sorted(podere.listing()) == ["model.json", "p.csv", "undisturbed.csv"]


def test_ctrl_c_leaves_no_predictions(podere, table):
    process = podere.start("train", "gbt", table, "--label", "binary", *COLUMNS, *FAST["gbt"], "--folds", 3, "--fold-repeats",
                           900, "-o", "model.json", "--checkpoint", "c.json", "--fold-predictions", "p.csv")
    podere.executors(1)
    time.sleep(0.7)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert err.strip().endswith("of 2700 folds, before the model was trained"), err
    assert podere.listing() == {}


def test_a_file_for_predictions_that_cannot_be_is_refused(podere, table):
    train = ["train", "gbt", table, "--label", "binary", *COLUMNS, *FAST["gbt"], "-o", "model.json"]
    assert "--folds" in podere.refused(*train, "--fold-predictions", "p.csv")
    for path in ("model.json", table, "nowhere/p.csv"):
        assert str(path) in podere.refused(*train, "--folds", 3, "--fold-predictions", path)


def test_finished_folds_of_other_groups_are_refused(podere, visits):
    train = ["train", "gbt", visits, "--label", "ill", "--columns", "blood", *FAST["gbt"], "--folds", 3, "--fold-repeats",
             300, "--fold-group", "patient", "-o", "model.json", "--checkpoint", "c.json"]
    process = podere.start(*train)
    wait_until((podere.folder / "c.json.folds").exists)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    other = visits.with_name("other.csv")
    lines = visits.read_text().splitlines()
    other.write_text("\n".join([lines[0], lines[1].replace(",p", ",q"), *lines[2:]]))
    for changed in ([*train[:2], other, *train[3:]], [*train[:train.index("patient")], "code", "-o", "model.json", *train[-2:]]):
        assert "c.json.folds: is of a run with other rows, options or folds" in podere.refused(*changed)
    found = json.loads(podere.done(*train, "--json").stdout)["cross_validation"]
    assert len(found["each"]) == 900 and found["groups"] == 60


@pytest.mark.parametrize("arguments, words", [
    (["--fold-group", "patiet"], "no categorical column 'patiet'"),
    (["--fold-order", "dy"], "fold-order: there is no column 'dy'; did you mean 'day'?"),
    (["--fold-group", "ill"], "fold-group is 'ill', which is the label: choose another with --label"),
    (["--fold-order", "day", "--weight", "day"], "fold-order is 'day', which is the weight"),
    (["--fold-group", "patient", "--folds", 61], "folds is 61, but the column 'patient' has"),
    (["--fold-order", "patient", "--categorical", "patient"], "the column 'patient' holds categories, which have no order"),
    (["--fold-order", "patient"], "patient"),
    (["--fold-group", "patient", "--fold-order", "day"], "--fold-group"),
    (["--fold-order", "day", "--fold-repeats", 2], "--fold-repeats"),
    (["--fold-order", "day", "--fold-seed", 2], "--fold-seed"),
    (["--fold-group", "patient", "--columns", "patient"], "the only feature")])
def test_a_column_that_folds_cannot_follow_is_refused(podere, visits, arguments, words):
    drop = [] if "--columns" in arguments else ["--drop", "code"] if "patient" in arguments else ["--drop", "patient"]
    folds = [] if "--folds" in arguments else ["--folds", 3]
    assert words in podere.refused("train", "gbt", visits, "--label", "ill", *drop, *folds, "-o", "model.json", *arguments)


def test_groups_that_are_missing_are_refused_with_their_number(podere):
    podere.write("gaps.csv", "y,x,g\n" + "".join(f"{i % 2},{i},{'' if i in (3, 8) else i % 5}\n" for i in range(20)))
    for option in ("--fold-group", "--fold-order"):
        line = podere.refused("train", "gbt", "gaps.csv", "--folds", 2, option, "g", "-o", "model.json")
        assert "the column 'g' says which rows are held out, and is missing in 2 of 20 rows" in line


def test_fold_columns_need_folds(podere, visits):
    for option in ("--fold-group", "--fold-order"):
        assert "--folds" in podere.refused("train", "gbt", visits, option, "day", "-o", "model.json")


def test_iterations_of_mlp_are_called_so(podere, table):
    result = podere.done("train", "mlp", table, "--label", "binary", *COLUMNS, "--iterations", 5, "--folds", 2, "-o", "m.json")
    assert re.search(r"fold +rows +iterations +log loss", result.stdout), result.stdout


@pytest.mark.parametrize("text, words", [("{}", "is no file of folds, or damaged"), ("[1]", "is something else"),
                                         ('{"run": 1, "folds": [7], "sha256": "0"}', "is no file of folds, or damaged"),
                                         ('{"folds": [', "is no file of folds, or damaged")])
def test_a_file_of_folds_that_is_something_else_is_refused(podere, table, text, words):
    (podere.folder / "c.json.folds").write_text(text)
    assert words in podere.refused("train", "gbt", table, "--label", "binary", *COLUMNS, "--folds", 3, "-o", "model.json",
                                   "--checkpoint", "c.json")


@pytest.mark.parametrize("arguments, words", [
    (["--folds", 1], "--folds"), (["--folds", 101], "--folds"), (["--folds", "x"], "--folds"),
    (["--fold-repeats", 2], "--folds"), (["--fold-seed", 2], "--folds"), (["--folds", 3, "--fold-repeats", 0], "--fold-repeats"),
    (["--folds", 3, "--validation-fraction", 0.2], "--validation-fraction"),
    (["--folds", 3, "--low-memory"], "folds need all rows in memory"),
    (["--early-stopping", 3], "--early-stopping needs --validation, --validation-fraction or --folds")])
def test_what_does_not_go_with_folds_is_refused(podere, table, arguments, words):
    assert words in podere.refused("train", "gbt", table, "--label", "binary", *COLUMNS, "-o", "model.json", *arguments)


def test_folds_of_too_few_rows_are_refused(podere):
    (podere.folder / "few.csv").write_text("y,x\n" + "".join(f"{int(i == 7 or i == 3)},{i}\n" for i in range(9)))
    line = podere.refused("train", "gbt", "few.csv", "--folds", 3, "-o", "model.json")
    assert "folds is 3, but class 1 of the label has 2 rows, allowed are 2 to 2 folds" in line
    (podere.folder / "stray.csv").write_text("y,x\n" + "".join(f"{2 if i == 5 else i % 2},{i}\n" for i in range(20)))
    line = podere.refused("train", "gbt", "stray.csv", "--objective", "logistic", "--folds", 3, "-o", "model.json")
    assert "label of row 5 is 2" in line
    line = podere.refused("train", "gbt", "few.csv", "--label", "x", "--folds", 10, "-o", "model.json")
    assert "folds is 10, but there are 9 rows" in line


def test_folds_are_not_for_what_cannot_leave_rows_out(podere, table):
    assert "folds are not for" in podere.refused(
        "train", "nn", table, "--label", "binary", *COLUMNS, "--folds", 3, "--servers", 1, "--executors", 3, "-o", "model.json")
    assert "leave out max-steps" in podere.refused(
        "train", "nn", table, "--label", "binary", *COLUMNS, "--folds", 3, "--max-steps", 5, "-o", "model.json")
