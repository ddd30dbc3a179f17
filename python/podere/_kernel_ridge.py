"""Kernel ridge regression by random features."""
from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from . import _parameters
from ._linear import LeastSquares

_SOLVERS = {name: name for name in ("auto", "cholesky", "cg")}


class KernelRidge(LeastSquares):
    """Ridge regression with a Gaussian kernel, by random Fourier features. The same bits on any number of executors.

    As scikit-learn's RBFSampler and Ridge in one, and near its KernelRidge(kernel="rbf") where n_components is large, with
    an intercept. Rows are not compared with each other, so there may be any number of them: docs/linear.md.

    Parameters
    ----------
    alpha : float, default=1.0
        Times the sum of the squared coefficients, of features sqrt(2 / n_components) cos(w x + b), is added to the
        weighted sum of squared errors. The intercept is free.
    gamma : "scale" or float, default="scale"
        Of the kernel exp(-gamma |x - x'|^2); "scale": 1 / (n_features * variance of X), as `gamma_` says.
    n_components : int, default=1000
        Random features. The error of the kernel falls as 1 / sqrt(n_components).
    standardize : bool, default=False
        Divide each feature by its standard deviation before the kernel is computed.
    solver : {"auto", "cholesky", "cg"}, default="auto"
        "cholesky" sums the products of all pairs of random features once; "cg", conjugate gradients, goes through the
        rows once an iteration, and needs no memory for pairs; "auto" is "cholesky" for up to 5,000 components.
    tol : float, default=1e-4
        "cg" stops once the norm of the gradient is this share of that at the start.
    max_iter : int, default=1000
        Iterations of "cg" at most.
    random_state : int, RandomState or None, default=None
        Seed of the random features; None is 0.
    verbose : bool or int, default=False
        Show progress.
    n_jobs : int or None, default=None
        Threads; None and -1: all cores that this process may use.

    Attributes
    ----------
    gamma_ : float
    random_coef_ : ndarray of shape (n_components,)
        Of cos(w x + b).
    intercept_ : float
    n_iter_ : int
        Passes over the rows in which random features were made.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Where X was a DataFrame whose columns have names.
    """

    algorithm = "kernel-ridge"
    _WHAT = "kernel ridge model"
    _COEFFICIENTS = "random_coefficients"

    def __init__(self, alpha: float = 1.0, *, gamma: Any = "scale", n_components: int = 1000, standardize: bool = False,
                 solver: str = "auto", tol: float = 1e-4, max_iter: int = 1000, random_state: Any = None,
                 verbose: bool | int = False, n_jobs: int | None = None) -> None:
        self.alpha = alpha
        self.gamma = gamma
        self.n_components = n_components
        self.standardize = standardize
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.verbose = verbose
        self.n_jobs = n_jobs

    def _options(self) -> dict[str, Any]:
        is_scale = isinstance(self.gamma, str) and self.gamma == "scale"
        return {"l2": _parameters.real("alpha", self.alpha, "a number from 0", least=0),
                "gamma": 0.0 if is_scale else _parameters.real("gamma", self.gamma, "'scale' or a number above 0", above=0),
                "random_features": _parameters.whole("n_components", self.n_components, 1, 100_000),
                "standardize": _parameters.flag("standardize", self.standardize),
                "solver": _parameters.choice("solver", self.solver, _SOLVERS),
                "tolerance": _parameters.real("tol", self.tol, "a number from 0", least=0),
                "max_iterations": _parameters.whole("max_iter", self.max_iter, 1, 1_000_000),
                "seed": _parameters.seed_of(self.random_state)}

    @property
    def gamma_(self) -> float:
        return float(self._described()["gamma"])

    @property
    def random_coef_(self) -> NDArray[Any]:
        return self._coefficients()

    @property
    def n_iter_(self) -> int:
        return int(self._described()["passes"])
