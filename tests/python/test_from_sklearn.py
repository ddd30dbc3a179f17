"""from_sklearn: what scikit-learn's forests and boosted trees predict, Podere predicts."""
import numpy
import pytest
from sklearn.datasets import load_iris
from sklearn.ensemble import (ExtraTreesClassifier, ExtraTreesRegressor, GradientBoostingClassifier,
                              GradientBoostingRegressor, HistGradientBoostingClassifier, HistGradientBoostingRegressor,
                              RandomForestClassifier, RandomForestRegressor)
from sklearn.linear_model import LinearRegression
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import podere

MODELS = {
    "forest": RandomForestRegressor(8, max_depth=5, random_state=1),
    "extra": ExtraTreesRegressor(8, max_depth=5, random_state=1),
    "forest of two classes": RandomForestClassifier(10, random_state=1),
    "forest of three classes": RandomForestClassifier(10, max_depth=4, random_state=1),
    "extra trees of three classes": ExtraTreesClassifier(10, random_state=1),
    "tree": DecisionTreeRegressor(max_depth=5),
    "tree of three classes": DecisionTreeClassifier(max_depth=5),
    "boosting": GradientBoostingRegressor(n_estimators=8),
    "quantile": GradientBoostingRegressor(n_estimators=8, loss="quantile", alpha=0.8),
    "two classes": GradientBoostingClassifier(n_estimators=8),
    "exponential": GradientBoostingClassifier(n_estimators=8, loss="exponential"),
    "histograms": HistGradientBoostingRegressor(max_iter=8),
    "poisson": HistGradientBoostingRegressor(max_iter=8, loss="poisson"),
    "histograms of three classes": HistGradientBoostingClassifier(max_iter=8),
}


def data(missing):
    rng = numpy.random.default_rng(5)
    X = rng.normal(size=(400, 4)).astype("float32")
    signal = X[:, 0] + X[:, 1] * X[:, 2] + 0.2 * rng.normal(size=len(X))
    if missing:
        X[rng.random(X.shape) < 0.1] = numpy.nan
    return X, signal


def thresholds(model):
    """Rows at thresholds and beside them."""
    members = numpy.ravel(getattr(model, "estimators_", [model] if hasattr(model, "tree_") else []))
    trees = [tree.tree_.threshold for tree in members]
    nodes = [predictor.nodes["num_threshold"] for round_ in getattr(model, "_predictors", []) for predictor in round_]
    values = numpy.concatenate(trees + nodes).astype("float32")
    near = numpy.random.default_rng(6).choice(values[numpy.isfinite(values)], (200, 4))
    return numpy.r_[near, numpy.nextafter(near, numpy.float32(1e30)), numpy.nextafter(near, numpy.float32(-1e30))]


@pytest.mark.parametrize("name", MODELS)
def test_predictions_are_those_of_scikit_learn(name, tmp_path):
    model = MODELS[name]
    X, signal = data("istograms" in name or name == "poisson")
    classes = {"two classes": ["no", "yes"], "exponential": ["no", "yes"], "forest of two classes": [3, 7],
               "histograms of three classes": [1, 5, 9], "forest of three classes": ["ash", "elm", "fir"],
               "extra trees of three classes": [1, 5, 9], "tree of three classes": [1, 5, 9]}.get(name)
    y = numpy.exp(signal) if classes is None else numpy.array(classes)[numpy.digitize(signal, [0, 1][:len(classes) - 1])]
    model.fit(X, y)
    ours = podere.from_sklearn(model)
    rows = numpy.r_[X, thresholds(model)]
    if classes is None:
        assert numpy.allclose(ours.predict(rows), model.predict(rows), rtol=1e-6, atol=1e-6)
    else:
        assert numpy.allclose(ours.predict_proba(rows), model.predict_proba(rows), rtol=1e-6, atol=1e-6)
        assert (ours.predict(X) == model.predict(X)).all()
    ours.save_model(tmp_path / "m.json")
    again = type(ours)().load_model(tmp_path / "m.json")
    assert numpy.array_equal(again.predict(rows), ours.predict(rows))


def test_what_podere_does_not_have_is_refused():
    X, signal = data(False)
    three = numpy.digitize(signal, [0, 1])
    for model, y, reason in [
        (RandomForestClassifier(3), numpy.ones(len(X)), "alone"),
        (RandomForestRegressor(3), numpy.c_[signal, signal], "2 targets, Podere one: choose it with target="),
        (GradientBoostingRegressor(n_estimators=2, init=LinearRegression()), signal, "init"),
        (HistGradientBoostingClassifier(max_iter=2, categorical_features=[0]), three, "categorical_features"),
    ]:
        X[:, 0] = numpy.abs(X[:, 0]).astype(int)
        with pytest.raises(ValueError, match=reason):
            podere.from_sklearn(model.fit(X, y))
    with pytest.raises(TypeError, match="RandomForestRegressor"):
        podere.from_sklearn(LinearRegression())


def test_a_forest_of_iris_is_known_by_its_classes(tmp_path):
    """Of classes that as many trees chose, the first counts, as in scikit-learn: trees that are pure make such ties."""
    iris = load_iris(as_frame=True)
    y = iris.target_names[iris.target]
    model = RandomForestClassifier(10, max_features=1, random_state=1).fit(iris.data[::2], y[::2])
    ours = podere.from_sklearn(model)
    rows = numpy.random.default_rng(1).uniform(0, 8, (4000, 4))
    rows = type(iris.data)(rows.astype("float32"), columns=iris.data.columns)
    shares = model.predict_proba(rows)
    assert (numpy.sort(shares, axis=1)[:, -1] == numpy.sort(shares, axis=1)[:, -2]).sum() > 10
    assert (ours.predict(rows) == model.predict(rows)).all()
    assert ours.score(iris.data, y) == model.score(iris.data, y)
    explanation = ours.explain(iris.data[:5])
    sums = explanation.values.sum(axis=1) + explanation.base_values
    assert numpy.allclose(sums, ours.predict_proba(iris.data[:5]), atol=1e-6)
    ours.save_model(tmp_path / "m.json")
    again = podere.GBTClassifier().load_model(tmp_path / "m.json")
    assert (again.predict(rows) == ours.predict(rows)).all() and list(again.classes_) == list(iris.target_names)
    with pytest.raises(ValueError, match="objective"):
        again.set_params(warm_start=True, n_estimators=20).fit(iris.data, y)


def test_of_several_targets_the_chosen_one_is_taken():
    X, signal = data(False)
    y = numpy.c_[signal, 3 - signal]
    model = RandomForestRegressor(8, random_state=1).fit(X, y)
    kinds = numpy.c_[numpy.digitize(signal, [0, 1]), signal > 0]  # of three classes, and of two
    classifier = DecisionTreeClassifier(max_depth=4).fit(X, kinds)
    for target in (0, 1):
        ours = podere.from_sklearn(model, target=target)
        assert numpy.allclose(ours.predict(X), model.predict(X)[:, target], rtol=1e-6, atol=1e-6)
        ours = podere.from_sklearn(classifier, target=target)
        assert numpy.allclose(ours.predict_proba(X), classifier.predict_proba(X)[target], atol=1e-6)
        assert (ours.predict(X) == classifier.predict(X)[:, target]).all()
    with pytest.raises(ValueError, match="from 0 to 1"):
        podere.from_sklearn(model, target=2)
    with pytest.raises(ValueError, match="has one"):
        podere.from_sklearn(DecisionTreeClassifier().fit(X, kinds[:, 0]), target=0)
