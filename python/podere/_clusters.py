"""Clusters of rows, which need no labels."""
from __future__ import annotations

import json
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassNamePrefixFeaturesOutMixin, ClusterMixin, DensityMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from . import _arrays, _core, _models, _parameters, _progress
from ._estimator import Estimator, fit_on_table
from ._stored_table import StoredTable
from ._table import Table, stored_table


class Unsupervised(Estimator):
    """The base of estimators that look at features alone, and whose algorithm is in Podere's table of algorithms."""

    _ALGORITHM = ""
    _MODEL = _core.AnyModel
    _model: _core.AnyModel
    verbose: bool | int
    n_jobs: int | None
    n_iter_: int

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:  # type: ignore[override]  # has no eval_set
        """Find the clusters, on several threads and with Python's lock free.

        Parameters
        ----------
        X : array, DataFrame, sparse matrix or Table of a session, of shape (n_samples, n_features)
            Numbers without missing ones; they become float32. A table's label is not looked at, and its weights count.
        y : ignored
        sample_weight : array of shape (n_samples,), number or None, default=None
            From 0.

        Returns
        -------
        self
        """
        if isinstance(X, Table):
            if sample_weight is not None:
                raise ValueError("X is a table of a session, which has its own weight")
            return fit_on_table(self, X, None, _models.Run())
        with self._kept_if_it_fails(), _progress.shown(self.verbose) as show:
            threads = _parameters.n_threads(self.n_jobs)
            X = _arrays.check_features(self, X, reset=True)
            weight = _arrays.check_weight(sample_weight, X)
            names = _arrays.feature_names(self, None)
            rows = _arrays.make_rows(X, names, _arrays.find_categories(X, names, None), threads,
                                     weight=None if weight is None else _arrays.free_name(None, "weight", names))
            if weight is not None:
                rows.set_weight(weight, threads)
            options = json.dumps(self._options(), allow_nan=False)
            self._model, facts = _core.train_any(self._ALGORITHM, rows, None, options, threads, show)
            self._take_facts(json.loads(facts))
            self._take_rows(X)
        return self

    def _fit_on_table(self, table: StoredTable, validation: StoredTable | None, run: _models.Run) -> None:
        if validation is not None:
            raise ValueError(f"{type(self).__name__} does not validate: evaluate(table) measures the fitted model")
        if run.checkpoint is not None:
            raise ValueError(f"checkpoint is {run.checkpoint!r}, but {self._ALGORITHM} keeps none")
        with self._kept_if_it_fails():
            job = {"algorithm": self._ALGORITHM, "options": self._options()}
            result = _models.train_with_facts(table, None, job, None, run)
            self._model = self._MODEL.from_text(result["model"], f"model of table {table.name}")
            self._take_names(table.facts["features"])
            self._take_facts(result["facts"])
            self.__dict__.pop("labels_", None)  # of rows that executors hold

    def _options(self) -> dict[str, Any]:
        """Those of the algorithm."""
        raise NotImplementedError

    def _take_facts(self, facts: dict[str, Any]) -> None:
        self.n_iter_ = facts["iterations"]

    def _take_rows(self, X: Any) -> None:
        """Of rows of this process, that the estimator was fitted on."""

    def _described(self) -> dict[str, Any]:
        check_is_fitted(self)
        described: dict[str, Any] = json.loads(self._model.describe())
        return described

    def _measures(self, X: Any) -> dict[str, Any]:
        check_is_fitted(self)
        if isinstance(X, Table):
            return _models.evaluate(self._model.to_text(), stored_table(X), None, 0)
        threads = _parameters.n_threads(self.n_jobs)
        measures: dict[str, Any] = json.loads(self._model.measures_of_rows(self._rows_of(X, threads), threads))
        return measures

    def _nearest(self, X: Any) -> NDArray[Any]:
        check_is_fitted(self)
        if isinstance(X, Table):
            of_table: NDArray[Any] = self._predict(X, margins=True).argmax(axis=0).astype(np.int32)
            return of_table
        threads = _parameters.n_threads(self.n_jobs)
        return self._model.likeliest(self._rows_of(X, threads), threads)

    def _takes_nan(self) -> bool:
        return False


class KMeans(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, Unsupervised):  # type: ignore[misc]  # scikit-learn has no types
    """Clusters of rows by their nearest centroid. The same clusters on any number of executors and threads.

    Begins with k-means|| and k-means++, and moves centroids by Lloyd's algorithm, of which bounds save most distances.
    docs/clusters.md says more.

    Parameters
    ----------
    n_clusters : int, default=8
    standardize : bool, default=False
        Measure each feature in its standard deviations, so that all count alike.
    n_init : int or "auto", default="auto"
        Starts, of which that with the least inertia is kept; "auto" is one.
    max_iter : int, default=300
    tol : float, default=1e-4
        Stop once centroids move less: the sum of their squares, relative to the mean variance of the features.
    random_state : int, RandomState or None, default=None
        Seed; None is 0, so that results stay the same.
    verbose : bool or int, default=False
        Show progress; a number n shows each n-th iteration in a line of its own.
    n_jobs : int or None, default=None
        Threads; None and -1: all cores that this process may use.

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
    labels_ : ndarray of shape (n_samples,)
        The cluster of each row of X; not after fitting on a Table, for which there is predict.
    inertia_ : float
        The weighted sum of squared distances of rows from their centroids; of standardized ones if `standardize`.
    n_iter_ : int
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Where X was a DataFrame whose columns have names.
    """

    _ALGORITHM = "kmeans"
    _OBJECTIVES = ("squared-distance",)

    inertia_: float
    labels_: NDArray[Any]

    def __init__(self, n_clusters: int = 8, *, standardize: bool = False, n_init: Any = "auto", max_iter: int = 300,
                 tol: float = 1e-4, random_state: Any = None, verbose: bool | int = False,
                 n_jobs: int | None = None) -> None:
        self.n_clusters = n_clusters
        self.standardize = standardize
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.verbose = verbose
        self.n_jobs = n_jobs

    def _options(self) -> dict[str, Any]:
        return {**self._common_options(),
                "tolerance": _parameters.real("tol", self.tol, "a number from 0", least=0)}

    def _common_options(self) -> dict[str, Any]:
        return {"n_clusters": _parameters.whole("n_clusters", self.n_clusters, 1, 10_000),
                "standardize": _parameters.flag("standardize", self.standardize),
                "restarts": 1 if isinstance(self.n_init, str) and self.n_init == "auto"
                else _parameters.whole("n_init", self.n_init, 1, 10_000),
                "max_iterations": _parameters.whole("max_iter", self.max_iter, 1, 1_000_000),
                "seed": _parameters.seed_of(self.random_state)}

    @property
    def cluster_centers_(self) -> NDArray[Any]:
        return np.array(self._described()["centroids"])

    @property
    def _n_features_out(self) -> int:
        return self._model.n_outputs

    def _take_facts(self, facts: dict[str, Any]) -> None:
        super()._take_facts(facts)
        if "inertia" in facts:
            self.inertia_ = facts["inertia"]

    def _take_rows(self, X: Any) -> None:
        self.labels_ = self._nearest(X)

    def predict(self, X: Any) -> NDArray[Any]:
        """The number of the nearest cluster of each row, of shape (n_samples,).

        Parameters
        ----------
        X : array, DataFrame, sparse matrix or Table of a session, of shape (n_samples, n_features)
        """
        return self._nearest(X)

    def fit_predict(self, X: Any, y: Any = None, sample_weight: Any = None) -> NDArray[Any]:
        """predict(X) of the estimator that is fitted on X."""
        return self.fit(X, sample_weight=sample_weight).predict(X)  # type: ignore[no-any-return]

    def transform(self, X: Any) -> NDArray[Any]:
        """The distances of each row from all centroids, of shape (n_samples, n_clusters)."""
        return np.ascontiguousarray(np.sqrt(-self._predict(X, margins=True)).T)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Minus the inertia of rows, so that more is better."""
        distances = -self._predict(X, margins=True).max(axis=0)
        return -float(np.sum(distances if sample_weight is None else distances * np.asarray(sample_weight)))

    def silhouette(self, X: Any) -> float:
        """The mean silhouette of rows, from -1 to 1, measured on about 5,000 of them; NaN for one cluster."""
        value = self._measures(X)["silhouette"]
        return float("nan") if value is None else float(value)


_KINDS = {"full": "full", "tied": "tied", "diag": "diagonal", "spherical": "spherical"}


class MiniBatchKMeans(KMeans):
    """k-means for many rows: each step moves centroids by a few rows that are drawn at random.

    Fitting takes steps until the inertia of batches no longer falls, and then looks at all rows once, for `labels_` and
    `inertia_`. The same clusters on any number of executors and threads. docs/clusters.md says when it pays.

    Parameters
    ----------
    n_clusters : int, default=8
    batch_size : int, default=1024
        Rows that are drawn for each step, at most all.
    standardize : bool, default=False
        Measure each feature in its standard deviations, so that all count alike.
    n_init : int or "auto", default="auto"
        Starts, of which that with the least inertia is kept; "auto" is one.
    max_iter : int, default=100
        At most as many rows are drawn as so many passes over them have.
    max_no_improvement : int, default=10
        Stop once so many steps, one after another, did not improve.
    random_state : int, RandomState or None, default=None
        Seed; None is 0, so that results stay the same.
    verbose : bool or int, default=False
        Show progress; a number n shows each n-th iteration in a line of its own.
    n_jobs : int or None, default=None
        Threads; None and -1: all cores that this process may use.

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
    labels_ : ndarray of shape (n_samples,)
        The cluster of each row of X; not after fitting on a Table, for which there is predict.
    inertia_ : float
        The weighted sum of squared distances of rows from their centroids; of standardized ones if `standardize`.
    n_iter_ : int
        Steps.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Where X was a DataFrame whose columns have names.
    """

    def __init__(self, n_clusters: int = 8, *, batch_size: int = 1024, standardize: bool = False, n_init: Any = "auto",
                 max_iter: int = 100, max_no_improvement: int = 10, random_state: Any = None, verbose: bool | int = False,
                 n_jobs: int | None = None) -> None:
        self.n_clusters = n_clusters
        self.batch_size = batch_size
        self.standardize = standardize
        self.n_init = n_init
        self.max_iter = max_iter
        self.max_no_improvement = max_no_improvement
        self.random_state = random_state
        self.verbose = verbose
        self.n_jobs = n_jobs

    def _options(self) -> dict[str, Any]:
        return {**self._common_options(), "batch": _parameters.whole("batch_size", self.batch_size, 1, 1_000_000_000),
                "patience": _parameters.whole("max_no_improvement", self.max_no_improvement, 1, 1_000_000)}


class GaussianMixture(DensityMixin, Unsupervised):  # type: ignore[misc]  # scikit-learn has no types
    """Clusters of rows as Gaussians. The same ones on any number of executors and threads.

    Expectation-maximization that begins with KMeans. docs/clusters.md says more.

    Parameters
    ----------
    n_components : int, default=1
    covariance_type : {"full", "tied", "diag", "spherical"}, default="full"
    tol : float, default=1e-3
        Stop once the mean log-likelihood of a row grows by less.
    reg_covar : float, default=1e-6
        Added to each variance, as a share of that of the feature among all rows.
    max_iter : int, default=100
    n_init : int, default=1
        Starts, of which the most likely one is kept.
    random_state : int, RandomState or None, default=None
        Seed; None is 0, so that results stay the same.
    verbose : bool or int, default=False
        Show progress; a number n shows each n-th iteration in a line of its own.
    n_jobs : int or None, default=None
        Threads; None and -1: all cores that this process may use.

    Attributes
    ----------
    weights_ : ndarray of shape (n_components,)
    means_ : ndarray of shape (n_components, n_features)
    covariances_ : ndarray
        Of shape (n_components, n_features, n_features) if "full", (n_features, n_features) if "tied", (n_components,
        n_features) if "diag". If "spherical" of that shape too: balls of features on a common scale are ellipsoids of
        these.
    converged_ : bool
    lower_bound_ : float
        The mean log-likelihood of a row.
    n_iter_ : int
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Where X was a DataFrame whose columns have names.
    """

    _ALGORITHM = "mixture"
    _OBJECTIVES = ("log-likelihood",)

    converged_: bool
    lower_bound_: float

    def __init__(self, n_components: int = 1, *, covariance_type: str = "full", tol: float = 1e-3,
                 reg_covar: float = 1e-6, max_iter: int = 100, n_init: int = 1, random_state: Any = None,
                 verbose: bool | int = False, n_jobs: int | None = None) -> None:
        self.n_components = n_components
        self.covariance_type = covariance_type
        self.tol = tol
        self.reg_covar = reg_covar
        self.max_iter = max_iter
        self.n_init = n_init
        self.random_state = random_state
        self.verbose = verbose
        self.n_jobs = n_jobs

    def _options(self) -> dict[str, Any]:
        if self.covariance_type not in _KINDS:
            raise ValueError(f"covariance_type is {self.covariance_type!r}, allowed are {', '.join(map(repr, _KINDS))}")
        return {"n_clusters": _parameters.whole("n_components", self.n_components, 1, 10_000),
                "covariance": _KINDS[self.covariance_type],
                "tolerance": _parameters.real("tol", self.tol, "a number from 0", least=0),
                "regularization": _parameters.real("reg_covar", self.reg_covar, "a number from 0", least=0),
                "max_iterations": _parameters.whole("max_iter", self.max_iter, 1, 1_000_000),
                "restarts": _parameters.whole("n_init", self.n_init, 1, 10_000),
                "seed": _parameters.seed_of(self.random_state)}

    @property
    def weights_(self) -> NDArray[Any]:
        return np.array(self._described()["weights"])

    @property
    def means_(self) -> NDArray[Any]:
        return np.array(self._described()["means"])

    @property
    def covariances_(self) -> NDArray[Any]:
        described = self._described()
        covariances = np.array(described["covariances"])
        if described["covariance"] == "tied":
            return covariances[0]  # type: ignore[no-any-return]
        return covariances if described["covariance"] == "full" else covariances[:, :, 0]

    def _take_facts(self, facts: dict[str, Any]) -> None:
        super()._take_facts(facts)
        if "log_likelihood" in facts:
            self.converged_ = facts["has_converged"]
            self.lower_bound_ = facts["log_likelihood"]

    def predict(self, X: Any) -> NDArray[Any]:
        """The number of the most likely cluster of each row, of shape (n_samples,).

        Parameters
        ----------
        X : array, DataFrame, sparse matrix or Table of a session, of shape (n_samples, n_features)
        """
        return self._nearest(X)

    def fit_predict(self, X: Any, y: Any = None, sample_weight: Any = None) -> NDArray[Any]:
        """predict(X) of the estimator that is fitted on X."""
        return self.fit(X, sample_weight=sample_weight).predict(X)  # type: ignore[no-any-return]

    def predict_proba(self, X: Any) -> NDArray[Any]:
        """How likely each row is of each cluster, of shape (n_samples, n_components)."""
        return np.ascontiguousarray(self._predict(X, margins=False).T)

    def score_samples(self, X: Any) -> NDArray[Any]:
        """The logarithm of the density at each row, of shape (n_samples,)."""
        logarithms: NDArray[Any] = np.logaddexp.reduce(self._predict(X, margins=True), axis=0)
        return logarithms

    def score(self, X: Any, y: Any = None) -> float:
        """The mean log-likelihood of a row."""
        return float(self._measures(X)["log_likelihood"])

    def bic(self, X: Any) -> float:
        """The Bayesian information criterion: the less, the more likely are the rows for how many numbers the model has."""
        return float(self._measures(X)["bic"])

    def aic(self, X: Any) -> float:
        """Akaike's information criterion, the same with a smaller price of numbers."""
        return float(self._measures(X)["aic"])
