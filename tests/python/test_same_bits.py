"""The same model on any number of threads, and as the command line trains it."""
import json

import numpy
import pytest

from conftest import model_text
from podere import GBTClassifier, GBTRegressor


@pytest.mark.parametrize("estimator", [
    GBTClassifier(n_estimators=10, subsample=0.6, colsample_bytree=0.7, random_state=3),
    GBTRegressor(n_estimators=10, objective="quantile", quantile=0.8, subsample=0.6),
])
def test_the_model_is_the_same_for_1_2_3_jobs(two_classes, tmp_path, estimator):
    X, y = two_classes
    texts = {model_text(estimator.set_params(n_jobs=n_jobs).fit(X, y, sample_weight=y + 0.5), tmp_path)
             for n_jobs in (1, 2, 3, None, -1)}
    assert len(texts) == 1


def write_csv(path, names, columns):
    numpy.savetxt(path, numpy.column_stack(columns), fmt="%.9g", delimiter=",", header=",".join(names), comments="")


@pytest.mark.parametrize("estimator, options", [
    (GBTClassifier(n_estimators=12, max_depth=4, subsample=0.7, colsample_bytree=0.8, random_state=11,
                   class_weight={0: 1, 1: 2.5}, monotone_constraints={"f1": 1}, interaction_constraints=[[0, 1], [2, 3]]),
     ["--trees", 12, "--depth", 4, "--subsample", 0.7, "--column-subsample", 0.8, "--seed", 11, "--class-weight",
      "0:1,1:2.5", "--monotone", "f1:+1", "--interactions", "f0,f1;f2,f3"]),
    (GBTClassifier(n_estimators=30, early_stopping_rounds=3, validation_fraction=0.2, learning_rate=0.5, max_bins=32,
                   reg_lambda=2.5, min_child_weight=3, min_split_gain=0.01, base_score=0.4),
     ["--trees", 30, "--early-stopping", 3, "--validation-fraction", 0.2, "--learning-rate", 0.5, "--bins", 32,
      "--lambda", 2.5, "--min-child-weight", 3, "--min-gain", 0.01, "--base-score", 0.4]),
    (GBTRegressor(n_estimators=5, objective="poisson", grow_policy="lossguide", max_leaves=12, max_depth=None),
     ["--objective", "poisson", "--trees", 5, "--growth", "best-first", "--max-leaves", 12]),
    (GBTRegressor(n_estimators=5), ["--objective", "squared-error", "--trees", 5]),
])
def test_the_model_file_is_that_of_the_command_line(two_classes, podere, estimator, options):
    X, y = two_classes
    X = X.astype(numpy.float32)
    weight = numpy.linspace(0.5, 2, len(y)).astype(numpy.float32)
    write_csv(podere.folder / "rows.csv", ["label", "weight", *(f"f{j}" for j in range(X.shape[1]))], [y, weight, X])
    podere("train", "gbt", "rows.csv", "--label", "label", "--weight", "weight", "-o", "model.json", *options)
    of_program = (podere.folder / "model.json").read_text()
    assert model_text(estimator.fit(X, y, sample_weight=weight), podere.folder) == of_program
    assert len(json.loads(of_program)["model"]["trees"]) >= 3


def test_many_classes_and_names_give_the_file_of_the_command_line(three_classes, podere):
    pandas = pytest.importorskip("pandas")
    X, y = three_classes
    frame = pandas.DataFrame(X, columns=[f"x{j}" for j in range(8)])
    frame["town"] = numpy.array(["Rome", "Ücker", "Bath", "York"])[(X[:, 0] * 10).astype(int) % 4]
    with_label = frame.assign(kind=y)
    with_label.to_csv(podere.folder / "rows.csv", index=False, float_format="%.17g")
    podere("train", "gbt", "rows.csv", "--label", "kind", "--objective", "softmax", "--categorical", "town", "--trees", 4,
           "--class-weight", "balanced", "-o", "model.json")
    estimator = GBTClassifier(n_estimators=4, class_weight="balanced", categorical_features=["town"])
    text = model_text(estimator.fit(frame, with_label["kind"]), podere.folder)
    assert text == (podere.folder / "model.json").read_text()


def test_the_command_line_predicts_the_same_and_classes_come_back(two_classes, podere):
    X, y = two_classes
    estimator = GBTClassifier(n_estimators=5).fit(X, numpy.array(["no", "yes"])[y])
    estimator.save_model(podere.folder / "model.json")
    write_csv(podere.folder / "rows.csv", [f"f{j}" for j in range(X.shape[1])], [X.astype(numpy.float32)])
    podere("predict", "model.json", "rows.csv", "-o", "predictions.csv")
    predicted = numpy.loadtxt(podere.folder / "predictions.csv", dtype=numpy.float32)
    assert (predicted == estimator.predict_proba(X)[:, 1].astype(numpy.float32)).all()

    again = GBTClassifier().load_model(podere.folder / "model.json")
    assert again.classes_.tolist() == ["no", "yes"]
    assert (again.predict_proba(X) == estimator.predict_proba(X)).all()
    with pytest.raises(ValueError, match="model.json: its objective is logistic, allowed for GBTRegressor"):
        GBTRegressor().load_model(podere.folder / "model.json")


def test_a_model_of_the_command_line_is_loaded(numbers, podere):
    X, y = numbers
    write_csv(podere.folder / "rows.csv", ["y", *"abcdef"], [y, X.astype(numpy.float32)])
    podere("train", "gbt", "rows.csv", "--label", "y", "--objective", "squared-error", "--trees", 5, "-o", "model.json")
    estimator = GBTRegressor().load_model(podere.folder / "model.json")
    assert estimator.feature_names_in_.tolist() == list("abcdef")
    assert estimator.n_estimators_ == 5
    podere("predict", "model.json", "rows.csv", "-o", "predictions.csv")
    predicted = numpy.loadtxt(podere.folder / "predictions.csv", dtype=numpy.float32)
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        assert (estimator.predict(X).astype(numpy.float32) == predicted).all()
