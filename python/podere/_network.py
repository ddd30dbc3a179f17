"""Dense networks with scikit-learn's interface."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import _check_partial_fit_first_call
from sklearn.utils.validation import check_is_fitted

from . import _arrays, _core, _parameters
from ._estimator import Classifier, Regressor, Target, WithHistory
from ._stored_table import StoredTable

_NN = """
    Parameters
    ----------
    hidden_layer_sizes : sequence of int or int, default=(100,)
        Widths of the hidden layers, 1 to 4096 each; () is a linear model, a number one layer. `--layers` of the command line.
    activation : {"identity", "relu", "sigmoid", "tanh"}, default="relu"
        Of hidden layers. `--activation`.
    initialization : {"glorot", "he", "pytorch"}, default="pytorch"
        Initialization of the weights. `--initialization`.
    solver : {"adam", "adamw", "sgd"}, default="adam"
        `--optimizer`.
    epochs : int, default=50
        Passes over the rows. `--epochs`.
    batch_size : int or None, default=None
        Rows of a step; None is a hundredth of all, at least 32, at most 4096. `--batch-size`.
    learning_rate : float, default=0.001
        Length of steps. `--learning-rate`.
    schedule : {"constant", "exponential", "cosine"}, default="constant"
        Of the learning rate. `--schedule`.
    learning_rate_decay : float, default=0.95
        Factor after each epoch of the exponential schedule. `--learning-rate-decay`.
    momentum : float, default=0.9
        Of "sgd". `--momentum`.
    l2 : float, default=0.0
        Penalty: half of this times the sum of squared weights, biases left out. `--l2`.
    weight_decay : float, default=0.01
        Of "adamw": each step takes the learning rate times this off weights. `--weight-decay`.
    clip_norm : float or None, default=None
        Gradients longer than this are shortened to it. `--clip-norm`.
    dropout : float, default=0.0
        Share of hidden units left out of each row and step. `--dropout`.
    early_stopping_epochs : int or None, default=None
        Stop after so many epochs without a lower loss on `eval_set`, or without one on rows set aside, and keep the
        weights of the best. `--early-stopping`.
    validation_fraction : float, default=0.1
        Share of rows set aside, where there is early_stopping_epochs and no eval_set. `--validation-fraction`.
"""

_MLP = """
    Parameters
    ----------
    hidden_layer_sizes : sequence of int or int, default=(30, 30)
        Widths of the hidden layers, 1 to 4096 each; () is a linear model, a number one layer. `--layers` of the command line.
    activation : {"identity", "relu", "sigmoid", "tanh"}, default="sigmoid"
        Of hidden layers. `--activation`.
    initialization : {"glorot", "he", "pytorch"}, default="glorot"
        Initialization of the weights. `--initialization`.
    iterations : int, default=100
        Most steps of L-BFGS. `--iterations`.
    tolerance : float, default=1e-6
        Ends where the loss falls by less than this share. `--tolerance`.
    history : int, default=10
        Steps that L-BFGS remembers, 1 to 100. `--history`.
    l2 : float, default=0.0
        Penalty: half of this times the sum of squared weights, biases left out. `--l2`.
"""

_ALL = """    standardize : bool, default=True
        Scale features to mean 0 and standard deviation 1 of the training rows. `--no-standardize`.
{own}    impute : bool, default=False
        Missing numbers become the mean of their feature; else they are refused. `--impute`.
    one_hot : int, default=64
        Categories of a feature up to which each has an input of its own; more share so many by hashes. Features of
        categories are the columns of pandas' category dtype. A missing or unknown category sets no input. `--one-hot`.
    warm_start : bool, default=False
        Whether fit starts from the present weights, with their scale of features.
    verbose : bool or int, default=False
        Whether fit shows how far it is, with the losses: a line in a terminal, a bar in a notebook, elsewhere ten lines.
    random_state : int, RandomState or None, default=None
        Seed of all random draws; None is 0. `--seed`.
    n_jobs : int or None, default=None
        Threads, as of GBTClassifier. The model is the same for any number. `--cores`.
    initialisation, standardise : default=None
        Deprecated: old spellings of `initialization` and `standardize`.

    Attributes
    ----------
{attributes}    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Where X was a DataFrame whose columns have names.
    coefs_ : list of ndarray of shape (n_inputs, n_outputs)
        Weights of the layers, of features on their common scale.
    intercepts_ : list of ndarray of shape (n_outputs,)
    n_iter_ : int
        Epochs, or iterations, in the model.
    history_ : dict
        "train_loss" and "validation_loss" after each epoch, those after the best one too, whose weights were not kept
        (n_iter_ is the best); the latter is empty where nothing was validated on.{losses}
"""

_TARGET = """    standardize_target : bool, default=True
        Learn y on a common scale too, its mean 0 and its standard deviation 1; predictions are in the unit of y.
        `--no-standardize-target`.
"""
_TARGET_LOSSES = """ Half the squared error of y on its common scale: 0.5 is that of its mean, and 1 less twice
        the loss is R²."""


def _document(parameters: str, attributes: str = "", own: str = "", losses: str = "") -> Any:
    def append(estimator: type) -> type:
        if estimator.__doc__ is None:  # python -OO
            return estimator
        description, end = estimator.__doc__.split("    PARAMETERS\n")
        estimator.__doc__ = description + parameters.lstrip("\n") + _ALL.format(
            attributes=attributes, own=own, losses=losses) + end
        return estimator
    return append


_PARTIAL_FIT = """One epoch over these rows, from the weights that there are, or from the start.

        Calls in a row are one run of the optimizer: Adam's means and the exponential schedule continue, and rows are
        shuffled anew; after fit or load_model they start anew. The scale of features is that of the first call's rows, of
        which there should be enough. `epochs` is not asked.

        Parameters
        ----------
        X : array, DataFrame or sparse matrix of shape (n_samples, n_features)
        y : array of shape (n_samples,)
{classes}        sample_weight : array of shape (n_samples,), number or None, default=None

        Returns
        -------
        self
        """

_CLASSES = """        classes : array of shape (n_classes,) or None, default=None
            All classes that there will be. Needed in the first call; the same, or None, in others.
"""


_Method = TypeVar("_Method", bound=Callable[..., Any])


def _document_partial_fit(classes: str = "") -> Callable[[_Method], _Method]:
    def document(method: _Method) -> _Method:
        method.__doc__ = _PARTIAL_FIT.format(classes=classes)
        return method
    return document


class _Network(WithHistory):
    """What all networks do."""

    _MODEL = _core.Network
    _model: _core.Network

    def _find_categories(self, X: Any, names: Sequence[str]) -> _arrays.Categories:
        base = self._base()
        return _arrays.find_categories(X, names, None) if base is None else base.categories

    def _check_categories(self, table: StoredTable, fold_group: str | None = None) -> None:
        pass  # any will do

    def _train(self, rows: _core.Rows, validation: _core.Rows | None, objective: str, options: dict[str, Any],
               threads: int, show: Any) -> _core.Network:
        return _core.train_network(rows, validation, {**options, "loss": objective}, self._base(), threads, show)

    def _job_of(self, objective: str, options: dict[str, Any]) -> dict[str, Any]:
        self._refuse_warm_start()
        return {"algorithm": "network", "options": {**options, "loss": objective}}

    @property
    def coefs_(self) -> list[NDArray[Any]]:
        check_is_fitted(self)
        return [layer[:, :-1].T for layer in self._model.layers]

    @property
    def intercepts_(self) -> list[NDArray[Any]]:
        check_is_fitted(self)
        return [layer[:, -1] for layer in self._model.layers]

    @property
    def n_iter_(self) -> int:
        check_is_fitted(self)
        return self._model.n_epochs

    def _takes_nan(self) -> bool:
        return bool(self.impute)


class _NetworkClassifier(Classifier, _Network):
    _OBJECTIVES = ("binary-cross-entropy", "cross-entropy")

    def _choose_objective(self, options: dict[str, Any]) -> str:
        n_classes = self._count_classes()
        if n_classes > 2:
            options["n_classes"] = n_classes
        return "cross-entropy" if n_classes > 2 else "binary-cross-entropy"


class _GradientDescent(_Network):
    """What networks that are trained by gradient descent have."""

    def _make_options(self, names: Sequence[str], has_eval_set: bool) -> dict[str, Any]:
        return _parameters.nn_options(self, has_eval_set)

    def _partial_fit(self, X: Any, y: Any, sample_weight: Any, learn: Callable[[Target], NDArray[Any]]) -> Any:
        """One epoch; `learn` makes labels of y."""
        if self.early_stopping_epochs is not None:
            raise ValueError(f"early_stopping_epochs is {self.early_stopping_epochs!r}, allowed in partial_fit is None")
        if self.schedule == "cosine":
            raise ValueError("schedule is 'cosine', allowed in partial_fit, which has no end, are 'constant' and "
                             "'exponential'")
        with self._kept_if_it_fails():
            threads = _parameters.n_threads(self.n_jobs)
            base = getattr(self, "_model", None)
            X, y, weight = self._check_rows(X, y, sample_weight, reset=base is None)
            names = _arrays.feature_names(self, base)
            options = {**self._make_options(names, False), "epochs": 1}
            labels = learn(y)
            options["loss"] = self._choose_objective(options)
            categories = _arrays.find_categories(X, names, None) if base is None else base.categories
            _arrays.warn_of_dates(X, names, categories)
            _arrays.warn_of_rounded(X, names, categories)
            rows = self._make_rows(X, labels, weight, names, categories, threads, y, sample_weight)
            del X, y, weight, labels
            kept = getattr(self, "_optimiser", None)  # and whose it is: fit and load_model make other models
            before = {}
            if base is not None and kept is not None and kept["solver"] == self.solver and all(
                    np.array_equal(a, b) for a, b in zip(kept["layers"], base.layers, strict=False)):
                before = kept["numbers"]
            self._model, numbers = _core.partial_fit_network(rows, options, base, before, threads)
            self._optimiser = {"solver": self.solver, "layers": self._model.layers, "numbers": numbers}
        return self


@_document(_NN, "    classes_ : ndarray of shape (n_classes,)\n")
class NNClassifier(_NetworkClassifier, _GradientDescent):
    """A dense network for two classes or more, trained by stochastic gradient descent.

    The same data, parameters and seed give the same model, bit for bit, on any number of threads, and as `podere train
    nn` trains it on any number of executors.

    PARAMETERS
    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from podere import NNClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> NNClassifier(hidden_layer_sizes=(20,)).fit(X[:400], y[:400]).score(X[400:], y[400:]) > 0.9
    True
    """

    def __init__(self, *, hidden_layer_sizes: int | Sequence[int] = (100,), activation: str = "relu",
                 initialization: str = "pytorch", solver: str = "adam", epochs: int = 50,
                 batch_size: int | None = None, learning_rate: float = 0.001,
                 schedule: str = "constant", learning_rate_decay: float = 0.95, momentum: float = 0.9, l2: float = 0.0,
                 weight_decay: float = 0.01, clip_norm: float | None = None, dropout: float = 0.0,
                 early_stopping_epochs: int | None = None, validation_fraction: float = 0.1, standardize: bool = True,
                 impute: bool = False, one_hot: int = 64, warm_start: bool = False, verbose: bool | int = False,
                 random_state: Any = None,
                 n_jobs: int | None = None, initialisation: str | None = None,
                 standardise: bool | None = None) -> None:
        _parameters.take(self, locals())

    @_document_partial_fit(_CLASSES)
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Any:
        def learn(y: Target) -> NDArray[Any]:
            if _check_partial_fit_first_call(self, classes) and len(self.classes_) < 2:
                raise ValueError(f"classes is {classes!r}, allowed are at least two")
            _arrays.check_labels(y.values)
            return self._encode(y, "y", "classes")

        return self._partial_fit(X, y, sample_weight, learn)


@_document(_NN, own=_TARGET, losses=_TARGET_LOSSES)
class NNRegressor(Regressor, _GradientDescent):
    """A dense network for numbers, trained by stochastic gradient descent on the squared error.

    The same data, parameters and seed give the same model, bit for bit, on any number of threads, and as `podere train
    nn` trains it on any number of executors.

    PARAMETERS
    Examples
    --------
    >>> from sklearn.datasets import make_friedman1
    >>> from podere import NNRegressor
    >>> X, y = make_friedman1(2000, random_state=0)
    >>> NNRegressor(learning_rate=0.01).fit(X[:1500], y[:1500]).score(X[1500:], y[1500:]) > 0.8
    True
    """

    def __init__(self, *, hidden_layer_sizes: int | Sequence[int] = (100,), activation: str = "relu",
                 initialization: str = "pytorch", solver: str = "adam", epochs: int = 50,
                 batch_size: int | None = None, learning_rate: float = 0.001,
                 schedule: str = "constant", learning_rate_decay: float = 0.95, momentum: float = 0.9, l2: float = 0.0,
                 weight_decay: float = 0.01, clip_norm: float | None = None, dropout: float = 0.0,
                 early_stopping_epochs: int | None = None, validation_fraction: float = 0.1, standardize: bool = True,
                 standardize_target: bool = True, impute: bool = False, one_hot: int = 64, warm_start: bool = False, verbose: bool | int = False,
                 random_state: Any = None,
                 n_jobs: int | None = None, initialisation: str | None = None,
                 standardise: bool | None = None) -> None:
        _parameters.take(self, locals())

    @_document_partial_fit()
    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        return self._partial_fit(X, y, sample_weight, self._learn_target)

    _OBJECTIVES = ("squared-error",)

    def _make_options(self, names: Sequence[str], has_eval_set: bool) -> dict[str, Any]:
        options = super()._make_options(names, has_eval_set)
        return {**options, "standardize_target": _parameters.flag("standardize_target", self.standardize_target)}

    def _choose_objective(self, options: dict[str, Any]) -> str:
        return "squared-error"


@_document(_MLP, "    classes_ : ndarray of shape (n_classes,)\n")
class MLPClassifier(_NetworkClassifier):
    """A multilayer perceptron for two classes or more, trained by L-BFGS over all rows, as Spark MLlib's.

    The same data, parameters and seed give the same model, bit for bit, on any number of threads, and as `podere train
    mlp` trains it on any number of executors.

    PARAMETERS
    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from podere import MLPClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> MLPClassifier(hidden_layer_sizes=(10,)).fit(X, y).score(X, y) > 0.95
    True
    """

    def __init__(self, *, hidden_layer_sizes: int | Sequence[int] = (30, 30), activation: str = "sigmoid",
                 initialization: str = "glorot", iterations: int = 100, tolerance: float = 1e-6, history: int = 10,
                 l2: float = 0.0,
                 standardize: bool = True, impute: bool = False, one_hot: int = 64, warm_start: bool = False, verbose: bool | int = False,
                 random_state: Any = None,
                 n_jobs: int | None = None, initialisation: str | None = None,
                 standardise: bool | None = None) -> None:
        _parameters.take(self, locals())

    def _make_options(self, names: Sequence[str], has_eval_set: bool) -> dict[str, Any]:
        return _parameters.mlp_options(self)

    def _choose_objective(self, options: dict[str, Any]) -> str:
        options["n_classes"] = self._count_classes()
        return "cross-entropy"
