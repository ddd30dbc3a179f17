"""Fitted forests and boosted trees of scikit-learn as estimators of Podere."""
from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from . import _core, _parameters
from ._gbt import GBTClassifier, GBTRegressor

_LOWEST, _MOST = np.finfo(np.float32).min, np.finfo(np.float32).max
_TREES = ("DecisionTreeRegressor", "ExtraTreeRegressor", "DecisionTreeClassifier", "ExtraTreeClassifier")
_FORESTS = ("RandomForestRegressor", "ExtraTreesRegressor", "RandomForestClassifier", "ExtraTreesClassifier")
_BOOSTING = ("GradientBoostingRegressor", "GradientBoostingClassifier")
_HISTOGRAMS = ("HistGradientBoostingRegressor", "HistGradientBoostingClassifier")


def from_sklearn(model: Any, *, target: int | None = None) -> GBTClassifier | GBTRegressor:
    """A fitted tree, forest or boosted trees of scikit-learn, as an estimator of Podere that predicts the same.

    Predictions are equal up to rounding to float32, for features that are float32: Podere rounds others first. Save the
    result with `save_model`; `podere convert` then makes files for other programs of it.

    Parameters
    ----------
    model : DecisionTree, ExtraTree, RandomForest, ExtraTrees, GradientBoosting or HistGradientBoosting, regressor or classifier
        Fitted. Refused are categorical features, and an `init` that is a model.
    target : int or None, default=None
        Of a tree or forest that predicts several targets the one to take, counted from 0.

    Returns
    -------
    GBTClassifier or GBTRegressor
    """
    name = type(model).__name__
    allowed = _TREES + _FORESTS + _BOOSTING + _HISTOGRAMS
    if type(model).__module__.partition(".")[0] != "sklearn" or name not in allowed:
        raise TypeError(f"model is a {name}, allowed are scikit-learn's {', '.join(allowed)}")
    check_is_fitted(model)
    if name in _TREES + _FORESTS:
        return _from_forest(model, [model] if name in _TREES else model.estimators_, target)
    _chosen_target(1, target)
    return _from_boosting(model) if name in _BOOSTING else _from_histograms(model)


def _from_forest(model: Any, members: list[Any], target: int | None) -> GBTClassifier | GBTRegressor:
    chosen = _chosen_target(model.n_outputs_, target)
    classes = getattr(model, "classes_", None)
    if classes is not None and model.n_outputs_ > 1:
        classes = classes[chosen]
    if classes is not None and len(classes) < 2:
        raise ValueError(f"model knows the class {classes[0]!r} alone: fit it on two at least")
    trees = []
    for member in members:
        values = member.tree_.value[:, chosen, :]  # [n_nodes x n_classes], of all targets as many as one has at most
        if classes is not None:  # counts of classes before 1.3
            values = values[:, :len(classes)] / values.sum(axis=1, keepdims=True)
        trees += _columns_of(member.tree_, values / len(members))
    if classes is not None:
        return _classifier(model, classes, "probabilities", np.zeros(len(classes)), trees)
    return _regressor(model, "squared-error", 0.0, trees)


def _chosen_target(n_targets: int, target: int | None) -> int:
    if n_targets == 1:
        if target is not None:
            raise ValueError(f"target is {target}, which is for models of several targets: this has one")
        return 0
    if target is None:
        raise ValueError(f"model predicts {n_targets} targets, Podere one: choose it with target=, from 0 to {n_targets - 1}")
    return _parameters.whole("target", target, 0, n_targets - 1)


def _from_boosting(model: Any) -> GBTClassifier | GBTRegressor:
    is_classifier = hasattr(model, "classes_")
    if not isinstance(model.init_, str) and type(model.init_).__name__ not in ("DummyClassifier", "DummyRegressor"):
        raise ValueError("model has an init that is a model, which Podere does not have: fit it with init=None or 'zero'")
    # Probabilities of the exponential loss are those of twice the margin.
    factor = 2.0 if is_classifier and model.loss == "exponential" else 1.0
    base = factor * model._raw_predict_init(np.zeros((1, model.n_features_in_), dtype=np.float32))[0]
    trees = [columns for estimator in model.estimators_.ravel()
             for columns in _columns_of(estimator.tree_, factor * model.learning_rate * estimator.tree_.value[:, 0, :])]
    if is_classifier:
        return _classifier(model, model.classes_, _objective_of(base), base, trees)
    return _regressor(model, "quantile" if model.loss == "quantile" else "squared-error", base[0], trees,
                      model.alpha if model.loss == "quantile" else 0.5)


def _from_histograms(model: Any) -> GBTClassifier | GBTRegressor:
    if getattr(model, "is_categorical_", None) is not None:
        raise ValueError("model has categorical_features, which from_sklearn does not read: fit it on numbers, or fit "
                         "podere's own estimators with categorical_features")
    base = np.ravel(model._baseline_prediction)
    trees = [columns for round_ in model._predictors for predictor in round_
             for columns in _columns_of_nodes(predictor.nodes)]
    if hasattr(model, "classes_"):
        return _classifier(model, model.classes_, _objective_of(base), base, trees)
    objectives = {"squared_error": "squared-error", "absolute_error": "squared-error", "quantile": "quantile",
                  "poisson": "poisson", "gamma": "poisson"}  # by how a margin becomes a prediction
    if model.loss not in objectives:
        raise ValueError(f"model has the loss {model.loss!r}, allowed are {', '.join(objectives)}")
    return _regressor(model, objectives[model.loss], base[0], trees,
                      model.quantile if model.loss == "quantile" else 0.5)


def _objective_of(base: NDArray[Any]) -> str:
    return "softmax" if len(base) > 1 else "logistic"


def _classifier(model: Any, classes: Any, objective: str, base: NDArray[Any],
                trees: list[_core.TreeColumns]) -> GBTClassifier:
    estimator = GBTClassifier()
    estimator.classes_ = np.array(classes)
    texts = estimator._class_texts()
    _take(estimator, model, objective, base, trees, texts=texts)
    return estimator


def _regressor(model: Any, objective: str, base: float, trees: list[_core.TreeColumns],
               quantile: float = 0.5) -> GBTRegressor:
    estimator = GBTRegressor(objective=objective.replace("-", "_"), quantile=quantile)
    _take(estimator, model, objective, np.array([base]), trees, quantile=quantile)
    return estimator


def _take(estimator: Any, model: Any, objective: str, base: NDArray[Any], trees: list[_core.TreeColumns], *,
          texts: list[str] | None = None, quantile: float = 0.5) -> None:
    names = getattr(model, "feature_names_in_", None)
    names = [f"f{j}" for j in range(model.n_features_in_)] if names is None else [str(name) for name in names]
    estimator._model = _core.Model.from_trees(objective, quantile, names, texts or [], [float(b) for b in base], trees)
    estimator._take_names(names)


def _columns_of(tree: Any, values: NDArray[Any]) -> list[_core.TreeColumns]:
    """Of sklearn.tree, a tree for each output of values [n_nodes x n_outputs]: float32(x) <= threshold, a float64, goes
    left."""
    nodes = tree.__getstate__()["nodes"]
    missing_left = (nodes["missing_go_to_left"] if "missing_go_to_left" in (nodes.dtype.names or ())
                    else np.zeros(len(nodes)))  # before 1.3 missing values are refused
    return _in_order(nodes["left_child"] < 0, nodes["feature"], nodes["threshold"], nodes["left_child"],
                     nodes["right_child"], missing_left.astype(bool), values, nodes["weighted_n_node_samples"])


def _columns_of_nodes(nodes: NDArray[Any]) -> list[_core.TreeColumns]:
    """Of HistGradientBoosting: x <= threshold, both float64, goes left."""
    return _in_order(nodes["is_leaf"].astype(bool), nodes["feature_idx"], nodes["num_threshold"], nodes["left"],
                     nodes["right"], nodes["missing_go_to_left"].astype(bool), nodes["value"][:, None], nodes["count"])


def _in_order(is_leaf: NDArray[Any], feature: NDArray[Any], threshold: NDArray[Any], left: NDArray[Any],
              right: NDArray[Any], missing_left: NDArray[Any], values: NDArray[Any],
              cover: NDArray[Any]) -> list[_core.TreeColumns]:
    """Nodes in Podere's order, level by level with brothers side by side, where x < threshold goes left; a tree for each
    column of values [n_nodes x n_outputs]."""
    left, right, missing_left = left.astype(np.int64), right.astype(np.int64), missing_left.copy()
    with np.errstate(over="ignore"):
        nearest = threshold.astype(np.float32)
    strict = np.where(nearest > threshold, nearest, np.nextafter(nearest, np.float32(np.inf)))
    strict = np.where(threshold < float(_LOWEST), _LOWEST, strict)
    # All numbers go left, and missing values perhaps elsewhere: from the least number on, numbers go right.
    parts = (threshold >= float(_MOST)) & ~is_leaf
    strict[parts] = _LOWEST
    left[parts], right[parts] = right[parts], left[parts].copy()
    missing_left[parts] = ~missing_left[parts]

    order, places = [0], np.full(len(left), -1, dtype=np.int32)
    for node in order:  # which grows meanwhile
        if not is_leaf[node]:
            places[node] = len(order)
            order += [int(left[node]), int(right[node])]
    nodes = np.array(order)
    leaf = is_leaf[nodes]
    splits = (np.where(leaf, -1, feature[nodes]).astype(np.int32), np.where(leaf, 0, strict[nodes]).astype(np.float32),
              np.where(leaf, -1, places[nodes]).astype(np.int32), missing_left[nodes] & ~leaf)
    return [(*splits, np.where(leaf, value[nodes], 0).astype(np.float32), cover[nodes].astype(np.float32))
            for value in values.T]
