"""podere train isolation-forest: anomalies among rows, without labels."""
import json
import os
import signal

import numpy as np
import pytest
from sklearn.ensemble import IsolationForest
from sklearn.metrics import roc_auc_score

from conftest import says
from test_loss import sha256
from test_session import session  # noqa: F401

TRAIN = ["train", "isolation-forest"]


def write_rows(podere, name="d.csv", n_rows=3000):
    """Numbers, some of them missing, and categories; which of the rows are anomalies is the last column."""
    random = np.random.default_rng(4)
    rows = random.normal(size=(n_rows, 3))
    is_anomaly = random.random(n_rows) < 0.02
    rows[is_anomaly] *= 5
    lines = [f"{a:.6g},{b:.6g},{'' if i % 11 == 0 else f'{c:.6g}'},{'red' if i % 3 else 'blue'},{int(y)}"
             for i, ((a, b, c), y) in enumerate(zip(rows, is_anomaly))]
    podere.write(name, "a,b,c,color,y\n" + "\n".join(lines) + "\n")
    return is_anomaly


def outputs(podere, name):
    return np.loadtxt(podere.folder / name, delimiter=",", unpack=True)


@pytest.mark.parametrize("executors, cores", [(1, 3), (2, 1), (2, 3), (3, 1), (3, 3), (5, 1), (5, 3)])
def test_the_model_is_the_same_on_any_number_of_executors(podere, executors, cores):
    command = [*TRAIN, "collider:20000", "--share", "0.05"]
    podere.done(*command, "-o", "alone.json", "--cores", "1")
    podere.done(*command, "-o", "model.json", "--executors", executors, "--cores", cores)
    assert sha256(podere) == sha256(podere, "alone.json")


def test_rows_need_not_be_in_memory(podere):
    podere.done(*TRAIN, "collider:100000", "--share", "0.05", "-o", "alone.json")
    podere.done(*TRAIN, "collider:100000", "--share", "0.05", "-o", "model.json", "--low-memory", "--executors", "2")
    assert sha256(podere) == sha256(podere, "alone.json")


def test_anomalies_are_found_measured_and_written(podere):
    is_anomaly = write_rows(podere)
    flags = ["--label", "y", "--categorical", "color"]
    result = podere.done(*TRAIN, "d.csv", *flags, "--share", "0.02", "-o", "m.json", "--json")
    facts = json.loads(result.stdout)
    assert facts["trees"] == 100 and facts["sample"] == 256 and facts["anomalies"] == 60 and facts["objective"] == "isolation"
    assert "p.csv (1 for an anomaly, score)\n" in podere.done("predict", "m.json", "d.csv", "-o", "p.csv").stdout
    found, scores = outputs(podere, "p.csv")
    assert found.sum() == 60 and ((scores.astype(np.float32) > np.float32(facts["threshold"])) == found).all() and roc_auc_score(is_anomaly, scores) > 0.95
    for chosen in (flags, flags[2:]):  # without a label all columns are features
        podere.done(*TRAIN, "d.csv", *chosen, "-o", "memory.json")
        podere.done(*TRAIN, "d.csv", *chosen, "--low-memory", "-o", "low.json")
        assert sha256(podere, "low.json") == sha256(podere, "memory.json")
    done = podere.done("predict", "m.json", "d.csv", "-o", "lengths.csv", "--margin")
    assert "lengths.csv (score minus threshold, mean length of ways)\n" in done.stdout
    beyond, lengths = outputs(podere, "lengths.csv")
    assert beyond == pytest.approx(scores - facts["threshold"], abs=1e-7)
    assert 2 ** (-lengths / 10.244770920119917) == pytest.approx(scores, rel=1e-6)  # of scikit-learn's formula for 256 rows
    measures = json.loads(podere.done("evaluate", "m.json", "d.csv", "--json").stdout)
    assert measures["anomalies"] == 60 and measures["anomaly_share"] == 0.02 and "auc" not in measures
    assert measures["median_score"] == pytest.approx(np.sort(scores)[1499]) and measures["largest_score"] == pytest.approx(scores.max())
    assert measures["score_percentile_99"] == pytest.approx(np.sort(scores)[2969])
    compared = json.loads(podere.done("evaluate", "m.json", "d.csv", "--label", "y", "--json").stdout)
    assert compared["auc"] == pytest.approx(roc_auc_score(is_anomaly, scores), abs=1e-9)
    assert compared["label"] == {"kind": "none", "compared_with": "y"}


def test_what_was_found_is_printed(podere):
    write_rows(podere)
    text = podere.done(*TRAIN, "d.csv", "--label", "y", "--drop", "color", "-o", "m.json").stdout
    assert "y, which is left out" in text and "100 of 256 rows each" in text and "0.5\n" in text and "above" not in text
    text = podere.done(*TRAIN, "d.csv", "--label", "y", "--drop", "color", "--share", "0.1", "-o", "m.json").stdout
    assert "rows above it" in text and "300\n" in text
    text = podere.done("evaluate", "m.json", "d.csv", "--label", "y").stdout
    assert "y, which scores are compared with" in text and "AUC" in text and "anomaly share" in text
    assert "none is looked at" in podere.done("evaluate", "m.json", "d.csv").stdout
    shown = podere.done("model", "m.json").stdout
    assert "rows of each tree" in shown and "splits" in shown
    podere.done(*TRAIN, "d.csv", "--label", "y", "--drop", "color", "-o", "m.json", "--report", "r.html")
    podere.done("evaluate", "m.json", "d.csv", "--report", "e.html")
    assert min((podere.folder / name).stat().st_size for name in ("r.html", "e.html")) > 10_000


def test_it_ranks_rows_as_scikit_learn_does(podere):
    podere.done("generate", "higgs", "--events", "5000", "-o", "d.csv")
    rows = np.loadtxt(podere.folder / "d.csv", delimiter=",")[:, 1:].astype(np.float32)
    podere.done(*TRAIN, "d.csv", "--label", "0", "--trees", "500", "-o", "m.json")
    podere.done("predict", "m.json", "d.csv", "--label", "0", "-o", "p.csv")
    theirs = -IsolationForest(n_estimators=500, random_state=0).fit(rows).score_samples(rows)
    assert np.corrcoef(outputs(podere, "p.csv")[1], theirs)[0, 1] > 0.98


def test_executors_that_are_lost_cost_time_and_nothing_else(podere):
    command = [*TRAIN, "collider:1000000", "--share", "0.1", "--trees", "300", "-o"]
    podere.done(*command, "alone.json")
    process = podere.start(*command, "model.json", "--executors", "2", "--cores", "1", "--json")
    os.kill(podere.executors(2)[1], signal.SIGKILL)
    assert "lost " in says(process, "(continuing with|starting) 1 executor.*\n")
    stdout, stderr = process.communicate(timeout=120)
    assert process.returncode == 0, stderr
    assert sha256(podere) == sha256(podere, "alone.json")


def test_a_session_trains_and_measures_it(podere, session):  # noqa: F811
    podere.done(*TRAIN, "collider:20000", "-o", "alone.json")
    session.start("s", "--executors", "2", "--cores", "1")
    session("load", "s", "collider:20000", "--as", "t")
    session.run(*TRAIN, "table:t", "--session", "s", "-o", "model.json")
    assert sha256(podere) == sha256(podere, "alone.json")
    session.run("predict", "model.json", "table:t", "--session", "s", "-o", "p.csv")
    assert set(outputs(podere, "p.csv")[0]) == {0, 1}
    assert "anomaly share" in session.run("evaluate", "model.json", "table:t", "--session", "s").stdout


@pytest.mark.parametrize("flags, words", [
    (["--trees", "0"], "--trees is 0, allowed is 1 to 10000"),
    (["--sample", "1"], "--sample is 1, allowed is 2 to 50000 with 100 trees"),
    (["--share", "0.7"], "--share is 0.7, allowed is 0 to 0.5"),
    (["--share", "many"], "--share: 'many' is not a number"),
    (["--weight", "a"], "counts all rows alike, and the table has weights, 'a': leave --weight out"),
    (["--checkpoint", "c.json"], "has no option --checkpoint"),
    (["--label", "nope"], "nope"),
    (["--rows", ":1"], "the table has 1 row: 2 at least are needed"),
])
def test_what_cannot_be_done_is_refused(podere, flags, words):
    write_rows(podere, n_rows=50)
    assert words in podere.refused(*TRAIN, "d.csv", "--drop", "color", "-o", "m.json", *flags)


def test_what_a_forest_cannot_do_is_refused_in_plain_words(podere):
    write_rows(podere, n_rows=200)
    podere.done(*TRAIN, "d.csv", "--drop", "color,y", "-o", "m.json")
    assert "is an isolation forest, this is for boosted trees" in podere.refused("explain", "m.json", "d.csv", "-o", "e.csv")
    for name, words in (("xgboost", "written as podere only: the other formats have boosted trees"), ("onnx", "not written as ONNX")):
        assert f"an isolation forest is {words}" in podere.refused("convert", "m.json", "--to", name, "-o", "c.out")
    assert "which has none" in podere.refused("predict", "m.json", "d.csv", "--rounds", "3", "-o", "p.csv")
    assert "predicts numbers, and no classes" in podere.refused("predict", "m.json", "d.csv", "--as", "class", "-o", "p.csv")
    assert "lacks columns that the model needs: b" in podere.refused("predict", "m.json", podere.write("bad.csv", "a,c\n1,2\n"), "-o", "p.csv")
    assert "the table has weights, 'y'" in podere.refused("evaluate", "m.json", "d.csv", "--weight", "y")
    cut = podere.write("cut.json", (podere.folder / "m.json").read_text()[:-500])
    assert "cut.json" in podere.refused("predict", cut, "d.csv", "-o", "p.csv")
