"""Gradient-boosted trees with scikit-learn's interface."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from . import _arrays, _core, _parameters
from ._estimator import Classifier, Regressor, WithHistory
from ._explanation import Explanation
from ._stored_table import StoredTable

#: Objectives of XGBoost, LightGBM and scikit-learn, as `podere help names` has them, and what they are here.
_OTHER_OBJECTIVES = {
    **dict.fromkeys(("reg:squarederror", "reg:linear", "regression", "regression_l2", "l2", "mse"), "'squared_error'"),
    "count:poisson": "'poisson'",
    "reg:quantileerror": "'quantile'",
    **dict.fromkeys(("reg:absoluteerror", "regression_l1", "l1", "mae", "absolute_error"), "'quantile', with quantile=0.5"),
    **dict.fromkeys(("binary:logistic", "binary", "cross_entropy", "log_loss", "multi:softprob", "multi:softmax",
                     "multiclass"), "GBTClassifier"),
}

_PARAMETERS = """
    Parameters
    ----------
    n_estimators : int, default=100
        Rounds of boosting{per_class}. `--trees` of the command line.
    max_depth : int or None, default=6
        Levels of a tree, 1 to 30; None is 30. `--depth`.
    max_leaves : int, default=0
        Leaves of a tree; 0 is no limit. `--max-leaves`.
    grow_policy : {{"depthwise", "lossguide"}}, default="depthwise"
        All nodes of a level at once, or the leaf that gains most first, up to max_leaves. `--growth`.
    max_bins : int, default=256
        Histogram bins of a feature, 2 to 256; missing values take one of them. `--bins`.
    learning_rate : float, default=0.1
        Step of each tree, above 0, at most 1. `--learning-rate`.
    reg_lambda : float, default=1.0
        L2 penalty on leaf values. `--lambda`.
    min_child_weight : float, default=1.0
        Least sum of second derivatives in a leaf. `--min-child-weight`.
    min_split_gain : float, default=0.0
        Least gain of a split. `--min-gain`.
    subsample : float, default=1.0
        Share of rows drawn for each round. `--subsample`.
    colsample_bytree : float, default=1.0
        Share of features drawn for each tree. `--column-subsample`.
{own}    base_score : float or None, default=None
        Prediction before any tree; None is the one that fits best. `--base-score`.
    early_stopping_rounds : int or None, default=None
        Stop after so many rounds without a lower loss on `eval_set`, or without one on rows set aside, and keep the
        best round. `--early-stopping`.
    validation_fraction : float, default=0.1
        Share of rows set aside, where there is early_stopping_rounds and no eval_set. `--validation-fraction`.
    monotone_constraints : dict, sequence of shape (n_features,) or None, default=None
        Features, by name or position, with which predictions never fall (1) or never rise (-1). `--monotone`.
    interaction_constraints : list of lists or None, default=None
        Sets of features, by name or position, that may meet on a path of a tree; those in none meet no other.
        `--interactions`.
    categorical_features : list, mask of shape (n_features,), "auto" or None, default=None
        Features of categories, by name or position, besides the columns of pandas' category dtype. Numbers are codes
        0, 1, 2, ...; texts need a DataFrame, and texts that were not there in training are missing values. "auto": all
        columns of texts of which few differ, at most 1,000, and each in two rows on average; others are refused.
        `--categorical`.
    warm_start : bool, default=False
        Whether fit keeps the trees that there are and adds others, up to n_estimators in all, as scikit-learn has it. On
        the same rows, with the same parameters, that is the model of a single fit. `--from`.
    verbose : bool or int, default=False
        Whether fit shows how far it is, with the losses: a line in a terminal, a bar in a notebook, elsewhere ten lines.
    random_state : int, RandomState or None, default=None
        Seed of all random draws; None is 0. `--seed`.
    n_jobs : int or None, default=None
        Threads. None is all cores that this process may use (affinity, control groups), but at most OMP_NUM_THREADS
        where that is set; -1 is all, -2 all but one. The model is the same for any number. `--cores`.

    Attributes
    ----------
{attributes}    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Where X was a DataFrame whose columns have names.
    feature_importances_ : ndarray of shape (n_features_in_,)
        Gain of all splits on each feature, as a share of all gain.
    n_estimators_ : int
        Rounds in the model.
    best_iteration_ : int or None
        The round with the lowest validation loss, the last that the model has, counted from 1 as in LightGBM (XGBoost's
        best_iteration is one less): history_["validation_loss"][best_iteration_ - 1]. None without
        early_stopping_rounds.
    history_ : dict
        "train_loss" and "validation_loss" after each round, those after best_iteration_ too, whose trees were not kept;
        the latter is empty where nothing was validated on.
"""


def _document(per_class: str, own: str, attributes: str) -> Any:
    def append(estimator: type) -> type:
        if estimator.__doc__ is None:  # python -OO
            return estimator
        description, end = estimator.__doc__.split("    PARAMETERS\n")
        parameters = _PARAMETERS.format(per_class=per_class, own=own, attributes=attributes).lstrip("\n")
        estimator.__doc__ = description + parameters + end
        return estimator
    return append


class _GBT(WithHistory):
    """What both estimators do."""

    _model: _core.Model

    def _make_options(self, names: Sequence[str], has_eval_set: bool) -> dict[str, Any]:
        base = self._base()
        return _parameters.tree_options(self, names, has_eval_set, 0 if base is None else base.n_rounds)

    def _find_categories(self, X: Any, names: Sequence[str]) -> _arrays.Categories:
        base = self._base()  # whose codes mean the same texts
        return _arrays.find_categories(X, names, self.categorical_features) if base is None else base.categories

    def _train(self, rows: _core.Rows, validation: _core.Rows | None, objective: str, options: dict[str, Any],
               threads: int, show: Any) -> _core.Model:
        return _core.train(rows, validation, objective, options, self._base(), threads, show)

    def _job_of(self, objective: str, options: dict[str, Any]) -> dict[str, Any]:
        self._refuse_warm_start()
        return {"algorithm": "trees", "options": {**options, "objective": objective}}

    def _check_categories(self, table: StoredTable, fold_group: str | None = None) -> None:
        """Whether a table has the categories that this estimator asks for, if it asks; a group of folds is no feature."""
        chosen = self.categorical_features
        if chosen is None or (isinstance(chosen, str) and chosen == "auto"):
            return
        names, categorical = ([name for name in table.facts[kind] if name != fold_group] for kind in ("features", "categorical"))
        asked = {names[place] for place in _arrays.find_places(chosen, names)}
        if asked != set(categorical):
            raise ValueError(f"categorical_features are {sorted(asked)}, those of the table are "
                             f"{sorted(categorical)}: choose columns of categories when you make a table")

    @property
    def feature_importances_(self) -> NDArray[Any]:
        check_is_fitted(self)
        gain = np.array(self._model.gain)
        return gain / gain.sum() if gain.sum() > 0 else gain

    def explain(self, X: Any) -> Explanation:
        """Why this model predicts what it does: SHAP values, the share of each feature in each row's margin.

        The numbers of `podere explain`: path-dependent TreeSHAP, as shap.TreeExplainer has it.

        Parameters
        ----------
        X : array, DataFrame or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        Explanation
            With `values`, `base_values` and `plot()`. `values.sum(axis=1) + base_values` is the margin, decision_function
            of a classifier.
        """
        check_is_fitted(self)
        threads = _parameters.n_threads(self.n_jobs)
        shares = self._model.explain(self._rows_of(X, threads), threads)  # [n_samples x n_outputs x (n_features + 1)]
        return Explanation(shares, self._model.features, getattr(self, "classes_", None))

    @property
    def n_estimators_(self) -> int:
        check_is_fitted(self)
        return self._model.n_rounds

    @property
    def best_iteration_(self) -> int | None:
        check_is_fitted(self)
        return self._model.n_rounds if self._model.early_stopping_rounds > 0 else None


@_document(
    per_class="; with more than two classes each grows a tree for each class",
    own="""    class_weight : dict, "balanced" or None, default=None
        By which weights of rows are multiplied, {class: weight}, 1 for classes that are not named; or so that all
        classes weigh the same. `--class-weight`.
    scale_pos_weight : float, default=1.0
        By which weights of the second of two classes are multiplied besides. `--scale-pos-weight`.
""",
    attributes="""    classes_ : ndarray of shape (n_classes,)
""")
class GBTClassifier(Classifier, _GBT):
    """Gradient-boosted trees for two classes or more.

    The same data, parameters and seed give the same model, bit for bit, on any number of threads, and as `podere train
    gbt` trains it on any number of executors.

    PARAMETERS
    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from podere import GBTClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> GBTClassifier(n_estimators=20).fit(X[:400], y[:400]).score(X[400:], y[400:]) > 0.9
    True
    """

    _OBJECTIVES = ("logistic", "softmax", "probabilities", "one-versus-all")  # the last two of from_sklearn and convert

    def __init__(self, *, n_estimators: int = 100, max_depth: int | None = 6, max_leaves: int = 0,
                 grow_policy: str = "depthwise", max_bins: int = 256, learning_rate: float = 0.1,
                 reg_lambda: float = 1.0, min_child_weight: float = 1.0, min_split_gain: float = 0.0,
                 subsample: float = 1.0, colsample_bytree: float = 1.0, class_weight: Any = None,
                 scale_pos_weight: float = 1.0, base_score: float | None = None,
                 early_stopping_rounds: int | None = None, validation_fraction: float = 0.1,
                 monotone_constraints: Any = None, interaction_constraints: Any = None,
                 categorical_features: Any = None, warm_start: bool = False, verbose: bool | int = False,
                 random_state: Any = None, n_jobs: int | None = None) -> None:
        _parameters.take(self, locals())

    def _choose_objective(self, options: dict[str, Any]) -> str:
        n_classes = self._count_classes()
        options["scale_pos_weight"] = _parameters.real("scale_pos_weight", self.scale_pos_weight, "a number above 0",
                                                       above=0)
        if n_classes > 2:
            options["n_classes"] = n_classes
            for name, default in (("scale_pos_weight", 1.0), ("base_score", None)):
                if options.get(name, default) != default:
                    raise ValueError(f"{name} is {options[name]!r}, which is for two classes; y has {n_classes}")
        self._weigh_classes(options)
        return "softmax" if n_classes > 2 else "logistic"

    def _weigh_classes(self, options: dict[str, Any]) -> None:
        if isinstance(self.class_weight, str) and self.class_weight == "balanced":
            options["balance_classes"] = True
        elif isinstance(self.class_weight, dict):
            weights = dict.fromkeys(self.classes_.tolist(), 1.0)
            for label, weight in self.class_weight.items():
                if label not in weights:
                    raise ValueError(f"class_weight names the class {label!r}, there are {list(weights)}")
                weights[label] = _parameters.real("class_weight", weight, "a number above 0 for each class", above=0)
            options["class_weight"] = list(weights.values())
        elif self.class_weight is not None:
            raise ValueError(f"class_weight is {self.class_weight!r}, allowed is a dict, 'balanced' or None")


@_document(
    per_class="",
    own="""    objective : {"squared_error", "poisson", "quantile"}, default="squared_error"
        What is minimized: the squared error, the Poisson deviance of counts or rates (y >= 0), or the pinball loss of
        a quantile. `--objective`.
    quantile : float, default=0.5
        Which quantile, above 0, below 1. `--quantile`.
    max_delta_step : float, default=0.7
        Most that a tree of "poisson" adds to the logarithm of the mean before the learning rate. `--max-delta-step`.
""",
    attributes="")
class GBTRegressor(Regressor, _GBT):
    """Gradient-boosted trees for numbers: means, counts or quantiles.

    The same data, parameters and seed give the same model, bit for bit, on any number of threads, and as `podere train
    gbt` trains it on any number of executors.

    PARAMETERS
    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from podere import GBTRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> GBTRegressor(n_estimators=50, max_depth=3).fit(X[:300], y[:300]).score(X[300:], y[300:]) > 0.3
    True
    """

    _OBJECTIVES = ("squared-error", "poisson", "quantile")

    def __init__(self, *, objective: str = "squared_error", quantile: float = 0.5, n_estimators: int = 100,
                 max_depth: int | None = 6, max_leaves: int = 0, grow_policy: str = "depthwise", max_bins: int = 256,
                 learning_rate: float = 0.1, reg_lambda: float = 1.0, min_child_weight: float = 1.0,
                 min_split_gain: float = 0.0, subsample: float = 1.0, colsample_bytree: float = 1.0,
                 max_delta_step: float = 0.7, base_score: float | None = None,
                 early_stopping_rounds: int | None = None, validation_fraction: float = 0.1,
                 monotone_constraints: Any = None, interaction_constraints: Any = None,
                 categorical_features: Any = None, warm_start: bool = False, verbose: bool | int = False,
                 random_state: Any = None, n_jobs: int | None = None) -> None:
        _parameters.take(self, locals())

    def _choose_objective(self, options: dict[str, Any]) -> str:
        objective = _parameters.choice("objective", self.objective, {name.replace("-", "_"): name
                                                                     for name in self._OBJECTIVES}, _OTHER_OBJECTIVES)
        options["quantile"] = _parameters.real("quantile", self.quantile, "a number above 0, below 1", above=0, below=1)
        options["max_delta_step"] = _parameters.real("max_delta_step", self.max_delta_step, "a number above 0", above=0)
        return objective

    def _check_target(self, objective: str, labels: NDArray[Any]) -> None:
        if objective == "poisson" and (labels < 0).any():
            raise ValueError(f"y has {labels[labels < 0][0]}, allowed with objective 'poisson' are numbers from 0")
