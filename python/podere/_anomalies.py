"""Anomalies among rows, which need no labels."""
from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import OutlierMixin

from . import _parameters
from ._clusters import Unsupervised

_USUAL_SAMPLE = 256


class IsolationForest(OutlierMixin, Unsupervised):  # type: ignore[misc]  # scikit-learn has no types
    """Anomalies: rows that a few random splits set apart. The same ones on any number of executors and threads.

    Each tree is grown of some rows, by features and thresholds that are drawn. docs/anomalies.md says more.

    Parameters
    ----------
    n_estimators : int, default=100
        Trees.
    max_samples : int or "auto", default="auto"
        Rows that each tree is grown of, at most; "auto" is 256.
    contamination : float or "auto", default="auto"
        Share of the rows that are anomalies, above 0, at most 0.5, which sets `offset_`; with "auto" it is -0.5.
    random_state : int, RandomState or None, default=None
        Seed; None is 0, so that results stay the same.
    verbose : bool or int, default=False
        Show progress.
    n_jobs : int or None, default=None
        Threads; None and -1: all cores that this process may use.

    Attributes
    ----------
    offset_ : float
        Rows whose score_samples are less are anomalies.
    max_samples_ : int
        Rows that each tree was grown of.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Where X was a DataFrame whose columns have names.
    """

    _ALGORITHM = "isolation-forest"
    _OBJECTIVES = ("isolation",)

    def __init__(self, *, n_estimators: int = 100, max_samples: Any = "auto", contamination: Any = "auto",
                 random_state: Any = None, verbose: bool | int = False, n_jobs: int | None = None) -> None:
        self.n_estimators = n_estimators
        self.max_samples = max_samples
        self.contamination = contamination
        self.random_state = random_state
        self.verbose = verbose
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None) -> Any:  # type: ignore[override]  # all rows count alike
        """Grow the trees, on several threads and with Python's lock free.

        Parameters
        ----------
        X : array, DataFrame, sparse matrix or Table of a session, of shape (n_samples, n_features)
            Numbers of any type, which become float32, or categories; NaN is a missing value. A table's label is not
            looked at, and it may have no weights.
        y : ignored

        Returns
        -------
        self
        """
        if tuple(getattr(X, "shape", ()))[:1] == (1,):
            raise ValueError("X has 1 sample: 2 at least are needed")  # in scikit-learn's words
        return super().fit(X)

    def _options(self) -> dict[str, Any]:
        is_auto = isinstance(self.max_samples, str) and self.max_samples == "auto"
        has_share = not (isinstance(self.contamination, str) and self.contamination == "auto")
        return {"n_trees": _parameters.whole("n_estimators", self.n_estimators, 1, 10_000),
                "sample": _USUAL_SAMPLE if is_auto else _parameters.whole("max_samples", self.max_samples, 2, 5_000_000),
                "share": _parameters.real("contamination", self.contamination, "'auto' or a number above 0, at most 0.5",
                                          above=0, most=0.5) if has_share else 0.0,
                "seed": _parameters.seed_of(self.random_state)}

    def _take_facts(self, facts: dict[str, Any]) -> None:
        pass

    @property
    def offset_(self) -> float:
        return -float(self._described()["threshold"])

    @property
    def max_samples_(self) -> int:
        return int(self._described()["sample"])

    def predict(self, X: Any) -> NDArray[Any]:
        """-1 for anomalies and 1 for other rows, of shape (n_samples,).

        Parameters
        ----------
        X : array, DataFrame, sparse matrix or Table of a session, of shape (n_samples, n_features)
        """
        return np.where(self._predict(X, margins=False)[0] > 0, -1, 1)

    def score_samples(self, X: Any) -> NDArray[Any]:
        """Minus the scores of rows, of shape (n_samples,): the less, the more of an anomaly; from -1 to 0."""
        return -self._predict(X, margins=False)[1]  # type: ignore[no-any-return]

    def decision_function(self, X: Any) -> NDArray[Any]:
        """score_samples(X) - offset_, of shape (n_samples,): anomalies are below 0."""
        return self.score_samples(X) - self.offset_

    def _takes_nan(self) -> bool:
        return True
