"""Searches in sessions: the best parameters of an estimator, the same that the command line finds."""
import json
import re

import numpy
import pytest

import podere as library
from conftest import model_text
from podere import GBTClassifier, GBTRegressor, MLPClassifier, NNClassifier, _progress

SPACE = {"n_estimators": 20, "max_depth": (2, 5), "learning_rate": (0.05, 0.5, "log"),
         "subsample": {"low": 0.5, "high": 1.0, "step": 0.1}, "grow_policy": ["depthwise", "lossguide"],
         "max_leaves": {"low": 4, "high": 16, "log": True, "when": {"grow_policy": "lossguide"}}}
TOML = """n_trees = 20
depth = { low = 2, high = 5 }
learning_rate = { low = 0.05, high = 0.5, log = true }
subsample = { low = 0.5, high = 1.0, step = 0.1 }
best_first = [false, true]
max_leaves = { low = 4, high = 16, log = true, when = { best_first = true } }
"""


@pytest.fixture(scope="module")
def session(mark):
    with library.Session(executors=2, cores=1, progress=False) as s:
        yield s


@pytest.fixture(scope="module")
def table(session):
    return session.read("collider:3000")


@pytest.fixture(scope="module")
def found(session, table):
    return session.tune(GBTClassifier(), SPACE, table, trials=9, score="auc", seed=1)


def test_it_finds_what_the_command_line_finds(found, podere, tmp_path):
    (tmp_path / "space.toml").write_text(TOML)
    facts = json.loads(podere("tune", "gbt", "collider:3000", "--space", tmp_path / "space.toml", "--trials", "9", "--score",
                              "auc", "--search-seed", "1", "-o", tmp_path / "m.json", "--json"))
    assert model_text(found.estimator, tmp_path) == (tmp_path / "m.json").read_text()
    assert found.score == facts["trials"][facts["best"]]["score"] and found.measure == "auc"
    assert {trial["trial"]: trial["score"] for trial in found.trials} == {
        trial["trial"]: trial["score"] for trial in facts["trials"]}


def test_the_estimator_is_fitted_with_the_best_parameters(found, session, table, tmp_path):
    assert found.score == max(trial["score"] for trial in found.trials) == found.trials[0]["score"]
    chosen = found.estimator.get_params()
    assert {name: chosen[name] for name in found.params} == found.params
    assert found.params["max_depth"] == found.trials[0]["params"]["max_depth"]
    again = session.fit(GBTClassifier(**chosen), table)
    assert model_text(again, tmp_path) == model_text(found.estimator, tmp_path)
    assert found.estimator.evaluate(table)["auc"] > 0.8


def test_nested_searches_and_the_smallest_good_model_are_those_of_the_command_line(session, table, podere, tmp_path):
    (tmp_path / "space.toml").write_text(TOML)
    found = session.tune(GBTClassifier(), SPACE, table, trials=6, folds=3, score="auc", schedule="hyperband",
                         one_standard_error=True, nested=2)
    facts = json.loads(podere("tune", "gbt", "collider:3000", "--space", tmp_path / "space.toml", "--trials", "6", "--folds",
                              "3", "--score", "auc", "--schedule", "hyperband", "--one-standard-error", "--nested", "2", "-o",
                              tmp_path / "m.json", "--json"))
    assert model_text(found.estimator, tmp_path) == (tmp_path / "m.json").read_text()
    assert found.nested == facts["nested"] and len(found.nested["each"]) == 2
    assert found.score == facts["trials"][facts["chosen"]]["score"] and found.ensemble is None


def test_rows_of_a_group_are_held_out_together(session, podere, tmp_path):
    rng = numpy.random.default_rng(3)
    patients = rng.integers(0, 40, 2000)
    of_patient = rng.uniform(size=(40, 2))
    with open(tmp_path / "visits.csv", "w") as file:
        print("ill,patient,blood,noise", file=file)
        for patient in patients:
            print(int(of_patient[patient, 0] > 0.5), f"p{patient}", of_patient[patient, 1], rng.normal(), sep=",", file=file)
    visits = session.read_csv(tmp_path / "visits.csv", label="ill", categorical=["patient"])
    one = GBTClassifier(n_estimators=30)
    known, by_group = (session.tune(one, {"max_depth": [5]}, visits, search="grid", score="auc", **group)
                       for group in ({}, {"fold_group": "patient"}))
    assert known.score > 0.95 > 0.85 > by_group.score
    assert list(by_group.estimator.feature_names_in_) == ["blood", "noise"]
    categories = GBTClassifier(n_estimators=3, categorical_features=[])
    session.tune(categories, {"max_depth": [5]}, visits, search="grid", fold_group="patient")
    with pytest.raises(ValueError, match=r"categorical_features are \[\], those of the table are \['patient'\]"):
        session.tune(categories, {"max_depth": [5]}, visits, search="grid")
    with pytest.raises(ValueError, match="fold_group is 'ill', which is the label"):
        session.tune(one, {"max_depth": [4, 5]}, visits, fold_group="ill")
    with pytest.raises(TypeError, match="fold_group is 3, allowed is the name of a column"):
        session.tune(one, {"max_depth": [4, 5]}, visits, fold_group=3)
    (tmp_path / "space.toml").write_text("depth = [5]\n")
    facts = json.loads(podere("tune", "gbt", tmp_path / "visits.csv", "--label", "ill", "--space", tmp_path / "space.toml",
                              "--search", "grid", "--fix", "n_trees=30", "--score", "auc", "--fold-group", "patient",
                              "--fix", "early_stopping_rounds=0", "-o", tmp_path / "m.json", "--json"))
    assert facts["trials"][0]["score"] == by_group.score
    assert model_text(by_group.estimator, tmp_path) == (tmp_path / "m.json").read_text()


def test_a_small_network_has_a_default_space(session, table, tmp_path):
    found = session.tune(MLPClassifier(iterations=30), None, table, trials=3, folds=2, search="random")
    for trial in found.trials:
        assert set(trial["params"]) == {"iterations", "hidden_layer_sizes", "activation", "l2"}
        assert trial["params"]["iterations"] == 30 and 1e-7 <= trial["params"]["l2"] <= 0.01
    assert len({trial["params"]["l2"] for trial in found.trials}) == 3
    again = session.fit(MLPClassifier(**found.estimator.get_params()), table)  # by L-BFGS, too
    assert model_text(again, tmp_path) == model_text(found.estimator, tmp_path)


def test_an_ensemble_is_that_of_the_command_line(session, table, podere, tmp_path):
    (tmp_path / "space.toml").write_text(TOML)
    found = session.tune(GBTClassifier(), SPACE, table, trials=8, folds=2, score="auc", schedule="none", ensemble=6)
    facts = json.loads(podere("tune", "gbt", "collider:3000", "--space", tmp_path / "space.toml", "--trials", "8", "--folds",
                              "2", "--score", "auc", "--schedule", "none", "--ensemble", "6", "-o", tmp_path / "m.json",
                              "--json"))
    assert model_text(found.estimator, tmp_path) == (tmp_path / "m.json").read_text()
    assert len(found.ensemble) > 1 and sum(found.ensemble.values()) == pytest.approx(1)
    assert found.ensemble == {member["trial"]: member["weight"] for member in facts["ensemble"]["trials"]}
    assert found.score == facts["ensemble"]["score"] > found.trials[0]["score"]


def test_trials_are_a_frame_and_a_table(found):
    frame = found.to_pandas()
    assert list(frame["score"]) == [trial["score"] for trial in found.trials] and frame["trial"].nunique() == 9
    leaves = frame[frame["grow_policy"] == "lossguide"]["max_leaves"]
    assert len(leaves) > 0 and leaves.between(4, 16).all()
    assert frame[frame["grow_policy"] == "depthwise"]["max_leaves"].isna().all()
    assert "auc" in repr(found) and found._repr_html_().count("<tr>") == 10 and "max_leaves" in found._repr_html_()


class Screen:
    """What a notebook displays: each state of the one output."""

    def __init__(self):
        self.states = []

    def update(self, data, raw):
        self.states.append(data["text/html"])

    def display(self, data, raw, display_id=False):
        self.update(data, raw)
        return self


def test_a_notebook_shows_trials_while_they_are_trained(session, table, monkeypatch):
    screen = Screen()
    monkeypatch.setattr("IPython.display.display", screen.display)
    monkeypatch.setattr(_progress, "_is_notebook", lambda: True)
    for seconds in ("_QUIET_SECONDS", "_DRAW_SECONDS"):
        monkeypatch.setattr(_progress, seconds, 0)
    monkeypatch.setattr(session._jobs, "_shows_progress", True)
    found = session.tune(GBTClassifier(), SPACE, table, trials=9, score="auc", seed=1)
    tables = [state for state in screen.states if "<table>" in state]
    assert " under way" in tables[0] and "running" in tables[0] and "max_depth" in tables[0]
    assert "9 trials, 0 under way" in tables[-1] and tables[-1].count("<tr>") == 10 and "<th>auc</th>" in tables[-1]
    scores = re.findall(r"<tr><td>\d+</td><td>([\d.]+)</td>", tables[-1])
    assert scores == [f"{trial['score']:.6g}" for trial in found.trials]
    assert screen.states[-1] == "", "what was found is shown in its place"


def test_parameters_that_were_chosen_are_those_of_all_trials(session, table):
    found = session.tune(GBTClassifier(min_child_weight=5, n_estimators=7), {"max_depth": [2, 3]}, table, search="grid")
    assert found.estimator.min_child_weight == 5 and found.estimator.n_estimators <= 7
    assert sorted(trial["params"]["max_depth"] for trial in found.trials) == [2, 3]


def test_labels_of_any_kind(session, numbers):
    X = numpy.random.default_rng(0).normal(size=(400, 3))
    text = numpy.where(X[:, 0] > 0.5, "high", numpy.where(X[:, 0] < -0.5, "low", "middle"))
    model = session.tune(GBTClassifier(n_estimators=9), {"max_depth": [2, 3]}, session.put(X, text)).estimator
    assert list(model.classes_) == ["high", "low", "middle"]
    assert (model.predict(X) == text).mean() > 0.9
    found = session.tune(GBTRegressor(n_estimators=9), {"max_depth": [2, 3]}, session.put(X, 2 * X[:, 0]))
    assert found.measure == "root_mean_squared_error" and found.score == min(trial["score"] for trial in found.trials)


def test_networks(session, table, tmp_path):
    found = session.tune(NNClassifier(epochs=3), {"hidden_layer_sizes": [8, (8, 4)]}, table, search="grid", folds=2)
    assert found.params["hidden_layer_sizes"] in ((8,), (8, 4)) and len(found.trials) == 2
    assert session.tune(NNClassifier(), None, table, trials=2).params["solver"] == "adamw"
    found = session.tune(MLPClassifier(iterations=5), {"l2": (1e-6, 0.1, "log")}, table, trials=2, validation=table)
    assert 0 < found.params["iterations"] <= 5
    again = session.fit(MLPClassifier(**found.estimator.get_params()), table)  # by L-BFGS, not the network's default
    assert model_text(again, tmp_path) == model_text(found.estimator, tmp_path)


def test_a_study_resumes(session, table, tmp_path):
    study = tmp_path / "s.journal"
    few = session.tune(GBTClassifier(), SPACE, table, trials=3, study=study)
    size = study.stat().st_size
    again = session.tune(GBTClassifier(), SPACE, table, trials=3, study=study)
    assert again.trials == few.trials and study.stat().st_size == size
    with pytest.raises(ValueError, match="is a study with other seed"):
        session.tune(GBTClassifier(), SPACE, table, trials=3, study=study, seed=1)


@pytest.mark.parametrize("space, options, message", [
    ({"depth": 3}, {}, "space names 'depth', which is no parameter of GBTClassifier"),
    ({}, {}, "space is empty"),
    ({"max_depth": (5, 2)}, {}, "the wrong way round"),
    ({"max_depth": (2, 500)}, {}, "500, allowed is 1 to 30"),
    ({"learning_rate": (0.1, 0.2, "logarithm")}, {}, r"allowed are \(low, high\)"),
    (SPACE, {"trials": 0}, "trials is 0"), (SPACE, {"folds": 1}, "folds is 1"), (SPACE, {"score": "x"}, "score is 'x'"),
    (SPACE, {"search": "x"}, "search is 'x'"), (SPACE, {"schedule": "x"}, "schedule"), (SPACE, {"seconds": -1}, "seconds"),
])
def test_what_cannot_be_searched_is_refused(session, table, space, options, message):
    with pytest.raises(ValueError, match=message):
        session.tune(GBTClassifier(), space, table, **options)


def test_what_is_no_search_is_refused(session, table):
    with pytest.raises(TypeError, match="no estimator of Podere"):
        session.tune(object(), None, table)
    with pytest.raises(TypeError, match="space is 7"):
        session.tune(GBTClassifier(), 7, table)
    with pytest.raises(ValueError, match="ensemble is 0"):
        session.tune(GBTClassifier(), None, table, ensemble=0)
    with pytest.raises(ValueError, match="there are no ensembles of network models"):
        session.tune(NNClassifier(), None, table, ensemble=2)
