"""How training went, how it is shown, and why a model predicts what it does."""
import numpy
import pytest
from conftest import model_text
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import make_classification
from podere import GBTClassifier, GBTRegressor, MLPClassifier, NNClassifier, NNRegressor


@pytest.fixture(scope="module")
def noisy():
    """Few rows, of which a tenth has another label: what is learned too well shows."""
    X, y = make_classification(1200, 8, n_informative=4, flip_y=0.2, random_state=6)
    return X[:800], y[:800], X[800:], y[800:]


# History

@pytest.mark.parametrize("estimator, patience", [
    (GBTClassifier(n_estimators=200, learning_rate=0.3), "early_stopping_rounds"),
    (NNClassifier(epochs=200, learning_rate=0.03, hidden_layer_sizes=(64,)), "early_stopping_epochs")])
def test_history_continues_after_the_best_round(noisy, tmp_path, estimator, patience):
    X, y, X_new, y_new = noisy
    model = clone(estimator).set_params(**{patience: 5}).fit(X, y, eval_set=(X_new, y_new))
    losses = model.history_["validation_loss"]
    best = model.best_iteration_ if patience == "early_stopping_rounds" else model.n_iter_
    assert best == losses.argmin() + 1 and len(losses) == best + 5
    assert len(model.history_["train_loss"]) == len(losses)
    whole = clone(estimator).set_params(**({"n_estimators": len(losses)} if "rounds" in patience else {"epochs": len(losses)}))
    assert_array_equal(whole.fit(X, y, eval_set=(X_new, y_new)).history_["validation_loss"], losses)
    model.save_model(tmp_path / "m.json")
    again = type(estimator)().load_model(tmp_path / "m.json")
    assert_array_equal(again.history_["validation_loss"], losses)
    p = model.predict_proba(X_new)[numpy.arange(len(y_new)), y_new]
    assert_allclose(-numpy.log(p).mean(), losses[best - 1], rtol=1e-5)


# verbose

@pytest.mark.parametrize("estimator", [GBTClassifier(n_estimators=30), GBTRegressor(n_estimators=30), NNClassifier(epochs=30),
                                       NNRegressor(epochs=30), MLPClassifier(iterations=30)])
def test_verbose_shows_how_far_training_is_and_changes_nothing(noisy, tmp_path, capfd, estimator):
    X, y, *_ = noisy
    silent = model_text(clone(estimator).fit(X, y), tmp_path)
    assert capfd.readouterr().err == ""
    shown = model_text(clone(estimator).set_params(verbose=True).fit(X, y), tmp_path)
    lines = [line for line in capfd.readouterr().err.splitlines() if "training" in line]
    assert 5 < len(lines) <= 11 and all(line.startswith("podere: training") for line in lines), lines
    assert "loss" in lines[-1] and shown == silent
    with pytest.raises(TypeError, match="verbose is 'yes'"):
        clone(estimator).set_params(verbose="yes").fit(X, y)


# warm_start

@pytest.mark.parametrize("estimator, n_classes", [(GBTClassifier(subsample=0.8, random_state=3), 2),
                                                  (GBTClassifier(max_depth=3), 3), (GBTRegressor(max_depth=3), 2)])
def test_trees_that_are_added_make_the_model_of_a_single_fit(tmp_path, estimator, n_classes):
    X, y = make_classification(2000, 8, n_informative=6, n_classes=n_classes, random_state=3)
    y = y + 5
    model = clone(estimator).set_params(n_estimators=4, warm_start=True).fit(X, y)
    first = model.predict(X)
    model.set_params(n_estimators=10).fit(X, y)
    assert model_text(model, tmp_path) == model_text(clone(estimator).set_params(n_estimators=10).fit(X, y), tmp_path)
    assert model.n_estimators_ == 10 and len(model.history_["train_loss"]) == 10 and (first != model.predict(X)).any()
    for n in (7, 10):
        with pytest.raises(ValueError, match=f"n_estimators is {n}, allowed is more than 10, the rounds of the model"):
            model.set_params(n_estimators=n).fit(X, y)
    assert model.n_estimators_ == 10


def test_a_warm_start_keeps_classes_and_categories(noisy):
    import pandas
    X, y, *_ = noisy
    frame = pandas.DataFrame(X).rename(columns=str).assign(town=pandas.Categorical(["b", "a"] * 400))
    model = GBTClassifier(n_estimators=3, warm_start=True).fit(frame, y)
    other = frame.assign(town=pandas.Categorical(["c", "b"] * 400))
    assert model.set_params(n_estimators=5).fit(other, y)._model.categories == {8: ["a", "b"]}
    with pytest.raises(ValueError, match="y has the class 2, which is not in the classes of the model that warm_start"):
        model.set_params(n_estimators=7).fit(frame, y + 1)


# explain

@pytest.mark.parametrize("n_classes", [1, 2, 3])
def test_shap_values_sum_to_the_margin_and_are_those_of_the_command_line(podere, n_classes):
    X, y = make_classification(600, 6, n_informative=5, n_redundant=0, n_classes=max(n_classes, 2), random_state=5)
    X = X.astype(numpy.float32)
    model = (GBTRegressor if n_classes == 1 else GBTClassifier)(n_estimators=12, max_depth=4).fit(X, y)
    found = model.explain(X)
    margins = model.predict(X) if n_classes == 1 else model.decision_function(X)
    assert found.values.shape == (600, 6) + ((3,) if n_classes == 3 else ())
    assert_allclose(found.values.sum(axis=1) + found.base_values, margins, atol=1e-5)
    model.save_model(podere.folder / "m.json")
    numpy.savetxt(podere.folder / "x.csv", X, delimiter=",", header=",".join(found.feature_names), comments="", fmt="%.9g")
    podere("explain", "m.json", "x.csv", "-o", "shap.csv")
    shap = numpy.loadtxt(podere.folder / "shap.csv", delimiter=",", skiprows=1).reshape(600, -1, 7)
    assert_allclose(found.values.reshape(600, 6, -1), numpy.moveaxis(shap[:, :, :-1], 1, 2), rtol=1e-7, atol=1e-9)
    assert_allclose(numpy.ravel(found.base_values), shap[0, :, -1], rtol=1e-7)


def test_shap_values_are_those_of_xgboost_by_way_of_the_export(noisy, podere):
    xgboost = pytest.importorskip("xgboost")
    X, y, *_ = noisy
    X = X.astype(numpy.float32)
    model = GBTClassifier(n_estimators=12, max_depth=4).fit(X, y)
    model.save_model(podere.folder / "m.json")
    podere("convert", "m.json", "--to", "xgboost", "-o", "x.json")
    booster = xgboost.Booster(model_file=podere.folder / "x.json")
    theirs = booster.predict(xgboost.DMatrix(X, feature_names=booster.feature_names), pred_contribs=True)
    assert_allclose(theirs[:, :-1], model.explain(X).values, atol=1e-4)


def test_shap_values_are_drawn(noisy):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    X, y, *_ = noisy
    found = GBTClassifier(n_estimators=5).fit(X, y).explain(X)
    axes = found.plot(max_features=3)
    order = numpy.argsort(-numpy.abs(found.values).mean(axis=0))[:3]
    assert [label.get_text() for label in axes.get_yticklabels()] == [f"f{j}" for j in order[::-1]]
    X, y = make_classification(300, 6, n_informative=5, n_redundant=0, n_classes=3, random_state=5)
    several = GBTClassifier(n_estimators=3).fit(X, numpy.array(["a", "b", "c"])[y]).explain(X).plot()
    assert [text.get_text() for text in several.get_legend().get_texts()] == ["a", "b", "c"]


def test_without_matplotlib_the_plot_says_so(noisy, monkeypatch):
    X, y, *_ = noisy
    found = GBTClassifier(n_estimators=2).fit(X, y).explain(X[:5])
    monkeypatch.setitem(__import__("sys").modules, "matplotlib", None)
    with pytest.raises(ImportError, match="plot needs matplotlib"):
        found.plot()
