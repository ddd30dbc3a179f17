"""Which columns a fitted estimator gives in Spark, by the names of Spark's parameters, and their values. Runs in Spark's
workers, so it does not import pyspark."""
from __future__ import annotations

import copy
import pickle
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._clusters import GaussianMixture, KMeans
from ._estimator import Classifier, Estimator, Regressor
from ._svd import PCA, TruncatedSVD

_VECTOR = "array<double>"
_KINDS: list[tuple[tuple[type, ...], dict[str, str]]] = [
    ((Classifier,), {"rawPredictionCol": _VECTOR, "probabilityCol": _VECTOR, "predictionCol": "double"}),
    ((Regressor,), {"predictionCol": "double"}),
    ((GaussianMixture,), {"probabilityCol": _VECTOR, "predictionCol": "int"}),
    ((KMeans,), {"predictionCol": "int"}),
    ((PCA, TruncatedSVD), {"outputCol": _VECTOR}),
]


def types_of(estimator: Any) -> dict[str, str]:
    """Types of the columns in SQL; arrays become vectors."""
    for classes, types in _KINDS:
        if isinstance(estimator, classes):
            return types
    raise TypeError(f"estimator is {type(estimator).__name__}, allowed are classifiers and regressors of Podere, KMeans, "
                    "GaussianMixture, PCA and TruncatedSVD")


def has_label(estimator: Any) -> bool:
    """Whether it learns from labels."""
    return isinstance(estimator, (Classifier, Regressor))


def packed(estimator: Any) -> bytes:
    """A fitted estimator for a worker of Spark, which has one core and gives rows without names."""
    bare = copy.copy(estimator).set_params(n_jobs=1)
    vars(bare).pop("feature_names_in_", None)
    return pickle.dumps(bare)


def values_of(estimator: Any, X: NDArray[np.float64], wanted: Sequence[str]) -> dict[str, NDArray[Any]]:
    """Columns [n_rows] and [n_rows x n] of rows [n_rows x n_features]."""
    if isinstance(estimator, Classifier):
        values = _values_of_classifier(estimator, X, wanted)
    elif isinstance(estimator, Estimator):
        values = {"predictionCol": estimator.predict(X)} if "predictionCol" in wanted else {}
        if "probabilityCol" in wanted:
            values["probabilityCol"] = estimator.predict_proba(X)
    else:
        values = {"outputCol": estimator.transform(X)}
    return {name: values[name] for name in wanted}


def _values_of_classifier(model: Any, X: NDArray[np.float64], wanted: Sequence[str]) -> dict[str, NDArray[Any]]:
    """Vectors have an element for each number up to the largest class, as Spark's evaluators read them."""
    values: dict[str, NDArray[Any]] = {}
    places = model.classes_.astype(int)
    if "probabilityCol" in wanted:
        values["probabilityCol"] = _spread(model.predict_proba(X), places, 0.0)
    if "probabilityCol" not in wanted or len(wanted) > 1:
        margins = model.decision_function(X)
        margins = np.stack([-margins, margins], axis=1) if margins.ndim == 1 else margins
        values["rawPredictionCol"] = _spread(margins, places, -np.inf)
        values["predictionCol"] = places[margins.argmax(axis=1)].astype(float)
    return values


def _spread(values: NDArray[Any], places: NDArray[Any], other: float) -> NDArray[Any]:
    """Columns at their places, and `other` between."""
    if len(places) == places.max() + 1 and (places[:-1] < places[1:]).all():
        return values
    spread = np.full((len(values), places.max() + 1), other)
    spread[:, places] = values
    return spread
