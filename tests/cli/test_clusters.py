"""podere train kmeans and podere train mixture: clusters of rows, without labels."""
import json
import os
import signal

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score, silhouette_score
from sklearn.mixture import GaussianMixture

from conftest import says
from test_loss import sha256
from test_session import session  # noqa: F401


def groups(n_rows=3000, n_groups=4, seed=1):
    """Rows around points far apart, and the group of each."""
    random = np.random.default_rng(seed)
    centers = random.normal(size=(n_groups, 3)) * 20
    group = random.integers(n_groups, size=n_rows)
    return (centers[group] + random.normal(size=(n_rows, 3))).astype(np.float32), group


def write_groups(podere, name="d.csv", n_rows=3000):
    rows, group = groups(n_rows)
    lines = [",".join(map(repr, map(float, row))) for row in rows]
    podere.write(name, "a,b,c\n" + "\n".join(lines) + "\n")
    return rows, group


def numbers(podere, name):
    return np.loadtxt(podere.folder / name, delimiter=",")


@pytest.mark.parametrize("algorithm", ["kmeans", "mixture"])
@pytest.mark.parametrize("executors, cores", [(1, 3), (2, 1), (3, 1), (5, 1), (5, 3)])
def test_the_model_is_the_same_on_any_number_of_executors(podere, algorithm, executors, cores):
    command = ["train", algorithm, "collider:20000", "--clusters", "5"]
    podere.done(*command, "-o", "alone.json", "--cores", "1")
    podere.done(*command, "-o", "model.json", "--executors", executors, "--cores", cores)
    assert sha256(podere) == sha256(podere, "alone.json")


@pytest.mark.parametrize("executors, cores", [(1, 3), (2, 1), (3, 3), (5, 1)])
def test_batches_make_the_same_model_on_any_number_of_executors(podere, executors, cores):
    command = ["train", "kmeans", "collider:20000", "--clusters", "5", "--batch", "300"]
    podere.done(*command, "-o", "alone.json", "--cores", "1")
    podere.done(*command, "-o", "model.json", "--executors", executors, "--cores", cores)
    assert sha256(podere) == sha256(podere, "alone.json")


def test_batches_find_the_groups(podere):
    rows, group = write_groups(podere)
    facts = json.loads(podere.done("train", "kmeans", "d.csv", "--clusters", "4", "--batch", "100", "-o", "m.json", "--json").stdout)
    assert facts["has_converged"] and facts["inertia"] == pytest.approx(KMeans(4, n_init=1, random_state=0).fit(rows).inertia_, rel=0.05)
    podere.done("predict", "m.json", "d.csv", "-o", "clusters.csv")
    assert adjusted_rand_score(group, numbers(podere, "clusters.csv")) == 1
    assert "patience is 0, allowed is 1 to " in podere.refused("train", "kmeans", "d.csv", "--batch", "9", "--patience", "0", "-o", "m.json")
    few = json.loads(podere.done("train", "kmeans", "d.csv", "--batch", "100", "--max-iterations", "1", "--patience", "1000", "-o",
                                 "m.json", "--json").stdout)
    assert few["iterations"] == 30 and not few["has_converged"]


def test_groups_are_found_measured_and_written(podere):
    rows, group = write_groups(podere)
    facts = json.loads(podere.done("train", "kmeans", "d.csv", "--clusters", "4", "-o", "m.json", "--json").stdout)
    theirs = KMeans(4, n_init=1, random_state=0).fit(rows)
    assert facts["label"] == {"kind": "none", "column": None, "called_as_labels": []} and facts["has_converged"]
    assert facts["inertia"] == pytest.approx(theirs.inertia_, rel=1e-4)
    assert sum(facts["cluster_weights"]) == 3000
    done = podere.done("predict", "m.json", "d.csv", "-o", "clusters.csv")
    assert "3,000 predictions: clusters.csv\n" in done.stdout
    clusters = numbers(podere, "clusters.csv").astype(int)
    assert adjusted_rand_score(group, clusters) == 1
    measures = json.loads(podere.done("evaluate", "m.json", "d.csv", "--json").stdout)
    assert measures["inertia"] == pytest.approx(facts["inertia"], rel=1e-9) and measures["silhouette_rows"] == 3000
    assert measures["silhouette"] == pytest.approx(silhouette_score(rows, clusters), abs=1e-5)
    podere.done("predict", "m.json", "d.csv", "-o", "distances.csv", "--margin")
    squares = ((rows[:, None, :] - np.array(json.loads(podere.done("model", "m.json", "--json").stdout)["centroids"])) ** 2)
    assert numbers(podere, "distances.csv") == pytest.approx(-squares.sum(axis=2), rel=1e-4, abs=1e-4)
    shown = podere.done("model", "m.json").stdout
    assert "cluster 3" in shown and "weight of rows" in shown


@pytest.mark.parametrize("ours, theirs", [("full", "full"), ("tied", "tied"), ("diagonal", "diag")])
def test_mixtures_are_those_of_scikit_learn(podere, ours, theirs):
    rows, group = write_groups(podere)
    facts = json.loads(podere.done("train", "mixture", "d.csv", "--clusters", "4", "--covariance", ours, "--tolerance",
                                   "1e-6", "-o", "m.json", "--json").stdout)
    rows = rows.astype(np.float64)
    peer = GaussianMixture(4, covariance_type=theirs, tol=1e-6, n_init=5, random_state=0).fit(rows)
    assert facts["log_likelihood"] == pytest.approx(peer.score(rows), abs=1e-4)
    assert facts["bic"] == pytest.approx(peer.bic(rows), rel=1e-5) and facts["aic"] == pytest.approx(peer.aic(rows), rel=1e-5)
    measures = json.loads(podere.done("evaluate", "m.json", "d.csv", "--json").stdout)
    assert measures["log_likelihood"] == pytest.approx(facts["log_likelihood"], abs=1e-9)
    assert measures["bic"] == pytest.approx(facts["bic"])
    podere.done("predict", "m.json", "d.csv", "-o", "p.csv", "--as", "both")
    found = numbers(podere, "p.csv")
    assert adjusted_rand_score(group, found[:, 0]) == 1
    assert found[:, 1:].sum(axis=1) == pytest.approx(1, abs=1e-5) and (found[:, 1:].argmax(axis=1) == found[:, 0]).all()
    means = np.array(json.loads(podere.done("model", "m.json", "--json").stdout)["means"])
    order, other = np.argsort(means[:, 0]), np.argsort(peer.means_[:, 0])
    assert means[order] == pytest.approx(peer.means_[other], abs=1e-2)


def test_what_may_be_a_label_is_printed_and_can_be_left_out(podere):
    rows, group = groups(200)
    lines = [",".join(map(repr, [*map(float, row), int(k)])) for row, k in zip(rows, group)]
    podere.write("d.csv", "a,b,c,label\n" + "\n".join(lines) + "\n")
    text = podere.done("train", "kmeans", "d.csv", "--clusters", "3", "-o", "m.json").stdout
    assert "none: all columns are features, 'label' too (if it is the label: --label label)" in text
    text = podere.done("train", "kmeans", "d.csv", "--clusters", "3", "--label", "label", "-o", "m.json").stdout
    assert "label, which is left out" in text and "200 × 3" in text
    podere.done("evaluate", "m.json", "d.csv")  # which has a column more
    podere.done("predict", "m.json", "d.csv", "-o", "c.csv")


def test_features_of_other_widths_are_warned_of(podere):
    rows, group = groups(500)
    rows[:, 0] = np.random.default_rng(3).normal(size=500) * 1e6
    np.save(podere.folder / "x.npy", rows)
    result = podere.done("train", "kmeans", "x.npy", "--clusters", "4", "-o", "m.json")
    assert "'f0' varies " in result.stderr and "--standardize makes all features count alike" in result.stderr
    podere.done("predict", "m.json", "x.npy", "-o", "wide.csv")
    result = podere.done("train", "kmeans", "x.npy", "--clusters", "4", "--standardize", "-o", "m.json")
    assert "varies" not in result.stderr
    podere.done("predict", "m.json", "x.npy", "-o", "c.csv")
    assert adjusted_rand_score(group, numbers(podere, "wide.csv")) < 0.1
    assert adjusted_rand_score(group, numbers(podere, "c.csv")) > 0.3  # the column of noise counts as any other


def test_executors_that_are_lost_cost_time_and_nothing_else(podere):
    command = ["train", "kmeans", "collider:300000", "--clusters", "20", "-o"]
    podere.done(*command, "alone.json")
    process = podere.start(*command, "model.json", "--executors", "2", "--cores", "1", "--json")
    os.kill(podere.executors(2)[1], signal.SIGKILL)
    assert "lost " in says(process, "(continuing with|starting) 1 executor.*\n")
    stdout, stderr = process.communicate(timeout=120)
    assert process.returncode == 0, stderr
    assert sha256(podere) == sha256(podere, "alone.json")


def test_a_session_trains_and_measures_them(podere, session):  # noqa: F811
    podere.done("train", "kmeans", "collider:20000", "--clusters", "3", "-o", "alone.json")
    session.start("s", "--executors", "2", "--cores", "1")
    session("load", "s", "collider:20000", "--as", "t")
    session.run("train", "kmeans", "table:t", "--clusters", "3", "--session", "s", "-o", "model.json")
    assert sha256(podere) == sha256(podere, "alone.json")
    session.run("predict", "model.json", "table:t", "--session", "s", "-o", "c.csv")
    assert set(numbers(podere, "c.csv")) == {0, 1, 2}
    assert "silhouette" in session.run("evaluate", "model.json", "table:t", "--session", "s").stdout


def test_reports_show_what_was_found(podere):
    podere.done("train", "mixture", "collider:3000", "--clusters", "2", "-o", "m.json", "--report", "r.json")
    podere.done("evaluate", "m.json", "collider:3000", "--report", "e.html")
    assert "m.json" in (podere.folder / "r.json").read_text() and (podere.folder / "e.html").stat().st_size > 10_000


@pytest.mark.parametrize("flags, words", [
    (["--clusters", "0"], "--clusters is 0, allowed is 1 to 10000"),
    (["--clusters", "201"], "clusters is 201, the table has 200 rows: allowed is 1 to 200"),
    (["--tolerance", "-1"], "--tolerance is -1, allowed are finite numbers from 0"),
    (["--restarts", "0"], "--restarts is 0, allowed is 1 to 10000"),
    (["--low-memory"], "has no option --low-memory"),
    (["--checkpoint", "c.json"], "has no option --checkpoint"),
    (["--columns", "a,b,nope"], "nope"),
])
def test_what_cannot_be_done_is_refused(podere, flags, words):
    write_groups(podere, n_rows=200)
    assert words in podere.refused("train", "kmeans", "d.csv", "-o", "m.json", *flags)


@pytest.mark.parametrize("text, words", [
    ("a,b\n1,2\n3,\n4,5\n", "row 1, column 'b': the value is missing (NaN), and distances need numbers"),
    ("a,b\n1,2\n1,2\n1,2\n", "clusters is 2, and the table has only 1 different row: allowed is 1 to 1"),
    ("a,b\n1,x\n2,y\n1,x\n", "takes numbers, and these features have categories: 'b'; leave them out by --drop"),
    ("a,b\n", "no rows"),
])
@pytest.mark.parametrize("algorithm", ["kmeans", "mixture"])
def test_rows_that_have_no_clusters_are_refused(podere, text, words, algorithm):
    podere.write("d.csv", text)
    flags = ["--categorical", "b"] if "x" in text else []
    assert words in podere.refused("train", algorithm, "d.csv", "--clusters", "2", "-o", "m.json", *flags)


def test_searches_and_explanations_are_refused_in_plain_words(podere):
    write_groups(podere, n_rows=200)
    podere.done("train", "kmeans", "d.csv", "--clusters", "2", "-o", "m.json")
    assert "this is for boosted trees" in podere.refused("explain", "m.json", "d.csv", "-o", "e.csv")
    assert "--roc and --plot need a model of two classes" in podere.refused("evaluate", "m.json", "d.csv", "--roc", "r.csv")
    assert "row 0, column 'a'" in podere.refused("predict", "m.json", podere.write("bad.csv", "a,b,c\n,1,2\n"), "-o", "p.csv")
