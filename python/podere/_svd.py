"""Singular values and vectors of tall matrices, and the estimators that are made of them."""
from __future__ import annotations

import re
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from . import _arrays, _core, _parameters, _progress
from ._frames import as_rows, is_date, is_frame
from ._jobs import JobRunner
from ._matrices import Keep, impute_field, run_for_arrays
from ._sklearn import check_array, remember_or_check_features
from ._table import Table, stored_table

_METHODS = {name: name for name in ("auto", "gram", "krylov")}
_Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class SVD:
    """Leading singular values and vectors, as `Session.svd` finds them: the matrix is close to `U * s @ Vt`.

    Attributes
    ----------
    U : ndarray or Table of shape (n_rows, rank), or None
        Left vectors; columns of zeros where a value is no more than rounding makes of zero. None with `left=False`.
    s : ndarray of shape (rank,)
        Singular values, falling.
    Vt : ndarray of shape (rank, n_columns)
        Right vectors. The largest entry of each is positive.
    mean : ndarray of shape (n_columns,), or None
        What was subtracted from each column; None if columns were not centered.
    scale : ndarray of shape (n_columns,), or None
        What each column was divided by; None if columns were not scaled.
    explained_variance : ndarray of shape (rank,), or None
        `s**2 / (n_rows - 1)`; None if columns were not centered.
    shares : ndarray of shape (rank,)
        Of the sum of squares of all values; of centered columns this is the share of the variance.
    residuals : ndarray of shape (rank,)
        The length of `A.T @ u - s * v`, in `s`: a residual of 1e-10 means ten digits at least.
    n_resolved : int
        How many values are more than rounding makes of zero.
    n_rows : int
    method : "gram" or "krylov"
    n_passes : int
        Over the rows.
    converged : bool
        Whether all residuals are as small as was asked for, or as rounding allows.
    values : str
        The type of the values that were read: "float64"; "float32" of tables and of text.
    imputed : dict of str to int
        How many missing values of which columns became the mean of their column.
    columns : ndarray of int of shape (n_columns,), or None
        With `drop_missing` the places, among the columns that were read, of those that have values.
    """

    U: _Array | Table | None
    s: _Array
    Vt: _Array
    mean: _Array | None
    scale: _Array | None
    explained_variance: _Array | None
    shares: _Array
    residuals: _Array
    n_resolved: int
    n_rows: int
    method: str
    n_passes: int
    converged: bool
    values: str
    imputed: dict[str, int]
    columns: NDArray[np.intp] | None

    def __repr__(self) -> str:
        return (f"<podere.SVD of rank {len(self.s)}: {self.n_rows:,} rows x {self.Vt.shape[1]:,} columns, largest residual "
                f"{self.residuals.max():.1e}>")


def svd_on_executors(jobs: JobRunner, source: dict[str, Any], fields: Mapping[str, Any],
                     keep: Keep | None) -> SVD:
    """Of a table or file; `fields` are those of the job, `keep` as of run_for_arrays."""
    result, found = run_for_arrays(jobs, {"kind": "svd", "table": source, **fields}, "U", keep)
    is_centered = "mean" in found
    svd = SVD(U=found.get("U"), s=found["s"], Vt=np.ascontiguousarray(found["V"].T), mean=found.get("mean"),
              scale=found.get("deviation"),
              explained_variance=found["s"]**2 / (result["rows"] - 1) if is_centered and result["rows"] > 1 else None,
              shares=np.array(result["shares"], float), residuals=np.array(result["residuals"], float),
              n_resolved=result["resolved"], n_rows=result["rows"], method=result["method"],
              n_passes=result["passes"], converged=result["has_converged"], values=result["values"],
              imputed=dict(result.get("imputed", {})),
              columns=found["columns"].astype(np.intp) if "columns" in found else None)
    _warn_if_not_converged(svd.converged, svd.residuals, "session.svd", 4)
    return svd


def svd_fields(*, rank: Any, center: Any, scale: Any, left: Any, method: Any, tolerance: Any, max_passes: Any, seed: Any,
               impute: Any, drop_missing: Any) -> dict[str, Any]:
    """Of a job, as Session.svd has them."""
    return {"rank": _parameters.whole("rank", rank, 1, 1_000_000),
            "center": _parameters.flag("center", center), "scale": _parameters.flag("scale", scale),
            "left": _parameters.flag("left", left), "method": _parameters.choice("method", method, _METHODS),
            "tolerance": _tolerance("tolerance", tolerance),
            "max_passes": _parameters.whole("max_passes", max_passes, 3, 1_000_000),
            "seed": _parameters.whole("seed", seed, 0, 2**64 - 1),
            "drop_missing": _parameters.flag("drop_missing", drop_missing),
            "impute": impute_field(impute)}


def _tolerance(name: str, value: Any) -> float:
    return _parameters.real(name, value, "a number from 1e-15 to 1", least=1e-15, most=1)


def _warn_if_not_converged(converged: bool, residuals: _Array, what: str, callers: int) -> None:
    if not converged:
        warnings.warn(f"{what}: residuals are up to {residuals.max():.1e}, above the tolerance and rounding: such values are "
                      "less certain; more max_passes, or fewer values, may help", ConvergenceWarning,
                      stacklevel=callers)


# Estimators -----------------------------------------------------------------------------------------------------------

class _Decomposition(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """What PCA and TruncatedSVD share: V is `components_`, and rows are projected on it."""

    _CENTERS = False
    n_components: Any
    tol: Any
    method: Any
    max_passes: Any
    random_state: Any
    verbose: Any
    n_jobs: Any
    n_features_in_: int
    feature_names_in_: NDArray[Any]
    components_: _Array
    singular_values_: _Array
    residuals_: _Array

    def fit(self, X: Any, y: Any = None) -> Any:
        """Find the components, on several threads and with Python's lock free, or on the executors of a session.

        Parameters
        ----------
        X : array or DataFrame of shape (n_samples, n_features), or Table
            Numbers, which are taken as float64: an array that is float64, row by row, is not copied. Missing values are
            refused. Of a Table of a session its features, which are float32: its executors do the work, and `n_jobs` is
            not asked.
        y : ignored

        Returns
        -------
        self
        """
        if isinstance(X, Table):
            shape, names = X.shape, X.features
            found = self._fit_table(X, self._rank_of(shape))
            self._take_names(names)
        else:
            values = self._values(X, reset=True)
            shape = values.shape[0], values.shape[1]
            found = self._fit_array(values, self._rank_of(shape))
        self._take(found, shape)
        _warn_if_not_converged(bool(found["has_converged"]), self.residuals_, type(self).__name__, 3)
        return self

    def transform(self, X: Any) -> _Array:
        """The scores of rows: their coordinates along the components.

        Parameters
        ----------
        X : array or DataFrame of shape (n_samples, n_features), or Table
            Of a Table the executors compute them.

        Returns
        -------
        ndarray of shape (n_samples, n_components_)
        """
        check_is_fitted(self)
        units = self._units()
        scores = self._project_table(X) if isinstance(X, Table) else self._project(self._values(X, reset=False))
        return scores if units is None else scores / units

    def inverse_transform(self, X: Any) -> _Array:
        """Rows that have these scores: the nearest to the original ones that the components can make.

        Parameters
        ----------
        X : array of shape (n_samples, n_components_)

        Returns
        -------
        ndarray of shape (n_samples, n_features)
        """
        check_is_fitted(self)
        scores = check_array(X, dtype=np.float64, order="C", input_name="X")
        n_components = len(self.components_)
        if scores.shape[1] != n_components:
            raise ValueError(f"X has {scores.shape[1]} columns, allowed are {n_components}: one for each component")
        units = self._units()
        scores = scores if units is None else scores * units
        names = [f"component {i}" for i in range(n_components)]
        rows: _Array = _core.project(scores, names, [0.0] * n_components, self.components_,
                                     _parameters.n_threads(self.n_jobs))
        rows += self._mean()
        return rows

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)

    def _mean(self) -> _Array:
        return np.zeros(self.n_features_in_)

    def _units(self) -> _Array | None:
        """Of the scores of each component; None: those of the rows."""
        return None

    def _rank_of(self, shape: tuple[int, int]) -> int:
        """How many components to find of a matrix. Refuses what n_components cannot be."""
        raise NotImplementedError

    def _take(self, found: Mapping[str, Any], shape: tuple[int, int]) -> None:
        """The attributes of a fitted estimator."""
        self.components_ = np.ascontiguousarray(found["V"].T)
        self.singular_values_ = found["s"]
        self.residuals_ = found["residuals"]

    def _names(self) -> list[str]:
        return _arrays.feature_names(self)

    def _take_names(self, names: list[str]) -> None:
        self.n_features_in_ = len(names)
        if hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        if not all(re.fullmatch("f[0-9]+", name) for name in names):  # made up where there were none
            self.feature_names_in_ = np.array(names, dtype=object)

    def _options(self, rank: int) -> dict[str, Any]:
        return {"rank": rank, "method": _parameters.choice("method", self.method, _METHODS),
                "tolerance": _tolerance("tol", self.tol),
                "max_passes": _parameters.whole("max_passes", self.max_passes, 3, 1_000_000),
                "seed": _parameters.seed_of(self.random_state), "center": self._CENTERS, "left": False}

    def _fit_array(self, values: _Array, rank: int) -> Mapping[str, Any]:
        threads = _parameters.n_threads(self.n_jobs)
        with _progress.shown(self.verbose) as show:
            return _core.decompose(values, self._names(), n_threads=threads, show=show, **self._options(rank))

    def _fit_table(self, table: Table, rank: int) -> Mapping[str, Any]:
        stored = stored_table(table)
        with stored.jobs.shared_file() as path:
            result = stored.run("svd", output=path, **self._options(rank))
            with np.load(path) as arrays:
                found: dict[str, Any] = {name: arrays[name] for name in arrays}
        for name in ("shares", "residuals"):
            found[name] = np.array(result[name], float)
        return {**result, **found}

    def _vectors(self) -> _Array:
        """V, row by row."""
        return np.ascontiguousarray(self.components_.T)

    def _project(self, values: _Array) -> _Array:
        scores: _Array = _core.project(values, self._names(), self._mean().tolist(), self._vectors(),
                                       _parameters.n_threads(self.n_jobs))
        return scores

    def _project_table(self, table: Table) -> _Array:
        stored = stored_table(table)
        names = list(getattr(self, "feature_names_in_", []))
        if names and names != table.features or table.shape[1] != self.n_features_in_:
            raise ValueError(f"X is the table {table.name} with {table.shape[1]} features, allowed are those of the fit, in "
                             f"their order: {', '.join(map(repr, self._names()[:20]))}; X.select([...]) chooses them")
        with stored.jobs.shared_file() as path:
            stored.run("project", output=path, mean=self._mean().tolist(), vectors=self._vectors().ravel().tolist())
            with np.load(path) as arrays:
                scores: _Array = arrays["scores"]
        return scores

    def _values(self, X: Any, *, reset: bool) -> _Array:
        """X as float64, row by row; not checked for NaN, which is for what computes with them."""
        X = as_rows(X)
        if is_frame(X):
            return _matrix_of_frame(_arrays.check_features(self, X, reset=reset))
        values: _Array = np.require(
            check_array(X, dtype=np.float64, order="C", allow_infinite=True, estimator=self, input_name="X"),
            requirements=["C", "ALIGNED"])
        remember_or_check_features(self, X if hasattr(X, "shape") else values, reset=reset)
        return values


def _matrix_of_frame(X: Any) -> _Array:
    values = np.empty(X.shape)
    for place, name in enumerate(X.columns):
        column = X.iloc[:, place]
        try:
            if is_date(column) or str(column.dtype) == "category":
                raise TypeError
            values[:, place] = _arrays.numbers_of_column(column, str(name))
        except (TypeError, ValueError):
            raise ValueError(f"column {name!r} of X is of {column.dtype}, allowed are numbers: leave it out by "
                             f"X.drop(columns={name!r})") from None
    return values


class PCA(_Decomposition):
    """Principal components, with the interface of scikit-learn's PCA: directions in which rows vary most.

    The same bits on any number of threads, and as the executors of a session find them for the same numbers. Signs are as
    in scikit-learn from 1.5 on: the largest entry of each component, in magnitude, is positive.

    >>> import numpy, podere
    >>> X = numpy.random.default_rng(0).normal(size=(1000, 3)) * [3, 2, 1]
    >>> podere.PCA(n_components=2).fit(X).explained_variance_.round(1)
    array([9.2, 3.9])

    Parameters
    ----------
    n_components : int, float or None, default=None
        How many; a number between 0 and 1 for as many as explain that share of the variance; None for all, the smaller of
        n_samples and n_features.
    whiten : bool, default=False
        Whether scores are divided by their standard deviation.
    tol : float, default=1e-10
        Largest residual of a singular value, in that value: `residuals_`.
    method : {"auto", "gram", "krylov"}, default="auto"
        Products of all pairs of features, block Krylov subspaces, or what suits the shape: docs/matrices.md.
    max_passes : int, default=100
        Most passes over the rows.
    random_state : int, RandomState or None, default=None
        Of the columns with which "krylov" begins; None is 0.
    verbose : bool, default=False
        Show progress.
    n_jobs : int or None, default=None
        Threads; None is all cores that this process may use.

    Attributes
    ----------
    components_ : ndarray of shape (n_components_, n_features)
    explained_variance_, explained_variance_ratio_, singular_values_ : ndarray of shape (n_components_,)
    mean_ : ndarray of shape (n_features,)
    noise_variance_ : float
        The mean variance along the directions that are left out; 0 if there are none.
    residuals_ : ndarray of shape (n_components_,)
        The length of `X.T @ u - s * v`, in `s`, for each component: 1e-10 means ten digits at least.
    n_components_, n_samples_, n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        If X has names that are texts.
    """

    _CENTERS = True

    def __init__(self, n_components: float | None = None, *, whiten: bool = False, tol: float = 1e-10,
                 method: str = "auto", max_passes: int = 100, random_state: Any = None, verbose: bool = False,
                 n_jobs: int | None = None) -> None:
        self.n_components = n_components
        self.whiten = whiten
        self.tol = tol
        self.method = method
        self.max_passes = max_passes
        self.random_state = random_state
        self.verbose = verbose
        self.n_jobs = n_jobs

    def _units(self) -> _Array | None:
        if not _parameters.flag("whiten", self.whiten):
            return None
        deviations: _Array = np.sqrt(self.explained_variance_)
        # Where scores do not vary, what rounding leaves is not blown up.
        units: _Array = deviations.clip(min=np.finfo(float).eps * max(deviations[0], 1e-290))
        return units

    def _mean(self) -> _Array:
        mean: _Array = self.mean_
        return mean

    def _rank_of(self, shape: tuple[int, int]) -> int:
        n_samples, n_features = shape
        most = min(n_samples, n_features)
        if n_samples < 2:
            raise ValueError(f"X has n_samples={n_samples}, allowed are 2 or more: one does not vary")
        n = self.n_components
        if n is None or self._wants_share():
            return most
        if isinstance(n, bool) or not isinstance(n, Integral) or not 1 <= int(n) <= most:
            raise ValueError(f"n_components is {n!r}, allowed are a whole number from 1 to {most}, the smaller of "
                             f"n_samples={n_samples} and n_features={n_features}, a number between 0 and 1, and None")
        return int(n)

    def _wants_share(self) -> bool:
        n = self.n_components
        return isinstance(n, Real) and not isinstance(n, Integral) and 0 < float(n) < 1

    def _take(self, found: Mapping[str, Any], shape: tuple[int, int]) -> None:
        shares = found["shares"]
        n = len(shares)
        if self._wants_share():
            n = min(int(np.searchsorted(np.cumsum(shares), float(self.n_components), side="right")) + 1, n)
        super()._take({**found, "s": found["s"][:n], "V": found["V"][:, :n], "residuals": found["residuals"][:n]}, shape)
        self.n_components_ = n
        self.n_samples_ = shape[0]
        self.mean_ = found["mean"]
        self.explained_variance_ = self.singular_values_**2 / (shape[0] - 1)
        self.explained_variance_ratio_ = shares[:n]
        self.noise_variance_ = self._noise_variance(min(shape) - n)

    def _noise_variance(self, n_left: int) -> float:
        explained = float(self.explained_variance_ratio_.sum())
        if n_left == 0 or explained == 0:
            return 0.0
        return float(self.explained_variance_.sum()) / explained * max(1 - explained, 0.0) / n_left


class TruncatedSVD(_Decomposition):
    """Leading singular vectors, with the interface of scikit-learn's TruncatedSVD: as PCA, but columns are not centered.

    X is dense. The same bits on any number of threads, and as the executors of a session find them.

    Parameters
    ----------
    n_components : int, default=2
        From 1 to the smaller of n_samples and n_features.
    tol, method, max_passes, random_state, verbose, n_jobs
        As of `podere.PCA`.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
    singular_values_ : ndarray of shape (n_components,)
    shares_ : ndarray of shape (n_components,)
        Of the sum of squares of all values. (Shares of the variance are those of `podere.PCA`.)
    residuals_ : ndarray of shape (n_components,)
        As of `podere.PCA`.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        If X has names that are texts.
    """

    def __init__(self, n_components: int = 2, *, tol: float = 1e-10, method: str = "auto", max_passes: int = 100,
                 random_state: Any = None, verbose: bool = False, n_jobs: int | None = None) -> None:
        self.n_components = n_components
        self.tol = tol
        self.method = method
        self.max_passes = max_passes
        self.random_state = random_state
        self.verbose = verbose
        self.n_jobs = n_jobs

    def _rank_of(self, shape: tuple[int, int]) -> int:
        most, n = min(shape), self.n_components
        if isinstance(n, bool) or not isinstance(n, Integral) or not 1 <= int(n) <= most:
            raise ValueError(f"n_components is {n!r}, allowed is a whole number from 1 to {most}, the smaller of "
                             f"n_samples={shape[0]} and n_features={shape[1]}")
        return int(n)

    def _take(self, found: Mapping[str, Any], shape: tuple[int, int]) -> None:
        super()._take(found, shape)
        self.shares_ = found["shares"]
