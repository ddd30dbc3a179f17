"""Linear regression."""
from __future__ import annotations

import json
import os
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from . import _core, _parameters
from ._algorithm import OfAlgorithm
from ._estimator import Regressor


class LeastSquares(OfAlgorithm, Regressor):
    """The base of what finds coefficients and an intercept."""

    _WHAT: str
    _COEFFICIENTS: str
    _OBJECTIVES = ("squared-error",)

    @property
    def intercept_(self) -> float:
        return float(self._described()["intercept"])

    def load_model(self, path: str | os.PathLike[str]) -> Any:
        name = os.fspath(path)
        described = json.loads(_core.AnyModel.from_text(_core.read_model_text(name), name).describe())
        if self._COEFFICIENTS not in described:
            raise ValueError(f"{name} is no {self._WHAT}, allowed for {type(self).__name__} is one of podere train "
                             f"{self.algorithm}")
        return super().load_model(path)

    def _described(self) -> dict[str, Any]:
        check_is_fitted(self)
        described: dict[str, Any] = json.loads(self._model.describe())
        return described

    def _choose_objective(self, options: dict[str, Any]) -> str:
        return self._OBJECTIVES[0]

    def _takes_nan(self) -> bool:
        return False

    def _coefficients(self) -> NDArray[Any]:
        return np.array(self._described()[self._COEFFICIENTS], dtype=np.float64)


class _Linear(LeastSquares):
    algorithm = "linear"
    _WHAT = "linear model"
    _COEFFICIENTS = "coefficients"

    @property
    def coef_(self) -> NDArray[Any]:
        return self._coefficients()


class LinearRegression(_Linear):
    """Least squares. The same coefficients, bit for bit, on any number of executors and threads.

    Normal equations in float64, refined by gradients: docs/linear.md. Where features are not independent of each other,
    coefficients are the smallest of all that are as good, and a warning says how many are independent.

    Parameters
    ----------
    verbose : bool or int, default=False
        Show progress.
    n_jobs : int or None, default=None
        Threads; None and -1: all cores that this process may use.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
    intercept_ : float
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Where X was a DataFrame whose columns have names.
    """

    def __init__(self, *, verbose: bool | int = False, n_jobs: int | None = None) -> None:
        self.verbose = verbose
        self.n_jobs = n_jobs

    def _options(self) -> dict[str, Any]:
        return {}


class Ridge(_Linear):
    """Least squares with small coefficients. The same, bit for bit, on any number of executors and threads.

    Minimizes the weighted sum of squared errors and alpha times the sum of the squared coefficients; the intercept is
    free. docs/linear.md.

    Parameters
    ----------
    alpha : float, default=1.0
    standardize : bool, default=False
        Measure coefficients, for alpha, as if each feature had the standard deviation 1.
    verbose : bool or int, default=False
        Show progress.
    n_jobs : int or None, default=None
        Threads; None and -1: all cores that this process may use.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Of the features as they are, also with `standardize`.
    intercept_ : float
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Where X was a DataFrame whose columns have names.
    """

    def __init__(self, alpha: float = 1.0, *, standardize: bool = False, verbose: bool | int = False,
                 n_jobs: int | None = None) -> None:
        self.alpha = alpha
        self.standardize = standardize
        self.verbose = verbose
        self.n_jobs = n_jobs

    def _options(self) -> dict[str, Any]:
        return {"l2": _parameters.real("alpha", self.alpha, "a number from 0", least=0),
                "standardize": _parameters.flag("standardize", self.standardize)}
