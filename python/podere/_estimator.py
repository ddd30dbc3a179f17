"""What estimators of all kinds of models share: rows in, predictions out, files, pickles."""
from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.validation import check_consistent_length, check_is_fitted, column_or_1d

from . import _arrays, _core, _models, _parameters, _progress
from ._frames import as_array
from ._sklearn import check_array
from ._stored_table import StoredTable
from ._table import Table, stored_table, table_of

_PICKLE_VERSION = 1
_ROC_POINTS = 1000  # at most, of a figure


class Target:
    """Labels [n_samples] and what their column is called, if it has a name."""

    def __init__(self, values: NDArray[Any], name: Any) -> None:
        self.values = values
        self.name = name


def _check_eval_set(eval_set: Any) -> tuple[Any, Any, Any] | None:
    """(X, y, sample_weight or None)."""
    if eval_set is None:
        return None
    if isinstance(eval_set, list) and len(eval_set) == 1:
        eval_set = eval_set[0]
    if not isinstance(eval_set, tuple) or len(eval_set) not in (2, 3):
        raise ValueError("eval_set is not (X, y) or (X, y, sample_weight), nor a list of one of these")
    return (*eval_set, None)[:3]


class Estimator(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """An estimator that holds its model as `_model`, of the type `_MODEL`, and names the model's objectives in
    `_OBJECTIVES`."""

    _MODEL: Any = _core.Model
    _model: _core._Predicting  # of fitted ones
    _OBJECTIVES: tuple[str, ...] = ()
    n_features_in_: int
    feature_names_in_: NDArray[Any]

    def _check_rows(self, X: Any, y: Any, sample_weight: Any, *, reset: bool) -> tuple[Any, Any, Any]:
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None")
        X = _arrays.check_features(self, X, reset=reset)
        y_name = getattr(y, "name", None)
        y = column_or_1d(as_array(y), warn=True)
        check_consistent_length(X, y)
        return X, Target(y, y_name), _arrays.check_weight(sample_weight, X)

    def _make_rows(self, X: Any, labels: NDArray[Any], weight: NDArray[Any] | None, names: Sequence[str],
                   categories: _arrays.Categories, threads: int, y: Any = None,
                   sample_weight: Any = None) -> _core.Rows:
        """A table of what _check_rows returned; its columns have the names that `y` and `sample_weight` have."""
        label_name = _arrays.free_name(getattr(y, "name", None), "label", names)
        weight_name = _arrays.free_name(getattr(sample_weight, "name", None), "weight", [*names, label_name])
        rows = _arrays.make_rows(X, names, categories, threads, label_name, None if weight is None else weight_name)
        rows.set_label(labels, threads)
        rows.set_classes(self._class_texts())
        if weight is not None:
            rows.set_weight(weight, threads)
        return rows

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, *, eval_set: Any = None) -> Any:
        """Train, on several threads and with Python's lock free.

        Ctrl-C raises KeyboardInterrupt after the round or step it came in, and leaves the estimator as it was before.

        Parameters
        ----------
        X : array, DataFrame or sparse matrix of shape (n_samples, n_features)
            Numbers of any type, NaN is a missing value. Zeros that a sparse matrix leaves out are zeros; in memory it
            becomes a dense table of float32, as anything else. Or a Table of a session, which has its labels and weights:
            this is `session.fit(model, table)` then.
        y : array of shape (n_samples,)
        sample_weight : array of shape (n_samples,), number or None, default=None
            Negative weights are allowed where they sum to more than zero.
        eval_set : tuple or None, default=None
            (X, y) or (X, y, sample_weight) to validate on; a list with one such tuple too. Of a table a Table.

        Returns
        -------
        self
        """
        if isinstance(X, Table):
            if y is not None or sample_weight is not None:
                raise ValueError("X is a table of a session, which has its own label and weight: fit(table) trains on "
                                 "these")
            return fit_on_table(self, X, eval_set, _models.Run())
        with self._kept_if_it_fails(), _progress.shown(self.verbose) as show:
            threads = _parameters.n_threads(self.n_jobs)
            X, y, weight = self._check_rows(X, y, sample_weight, reset=True)
            names = _arrays.feature_names(self, self._base())
            validation = _check_eval_set(eval_set)
            options = self._make_options(names, validation is not None)
            categories = self._find_categories(X, names)
            _arrays.warn_of_dates(X, names, categories)
            _arrays.warn_of_rounded(X, names, categories)
            labels = self._learn_target(y)
            objective = self._choose_objective(options)
            self._check_target(objective, labels)
            rows = self._make_rows(X, labels, weight, names, categories, threads, y, sample_weight)
            validation_rows = None
            if validation is not None:
                X, y, weight = self._check_rows(*validation, reset=False)
                validation_rows = self._make_rows(X, self._encode(y), weight, names, categories, threads)
            del X, y, weight, labels  # what was made of them for this call is not held while training
            self._model = self._train(rows, validation_rows, objective, options, threads, show)
        return self

    def _fit_on_table(self, table: StoredTable, validation: StoredTable | None, run: _models.Run) -> None:
        """As fit, on the executors that keep a table."""
        with self._kept_if_it_fails():
            names = table.facts["features"]
            options = self._make_options(names, validation is not None)
            self._check_categories(table)
            self._learn_target_of(table)
            job = self._job_of(self._choose_objective(options), options)
            text = _models.train(table, validation, job, getattr(self, "classes_", None), run)
            self._model = self._MODEL.from_text(text, f"model of table {table.name}")
            self._take_names(names)

    def _base(self) -> Any:
        """The model that a warm start continues, if there is one."""
        return getattr(self, "_model", None) if _parameters.flag("warm_start", self.warm_start) else None

    def _class_texts(self) -> list[str]:
        """The classes by place, where they are texts."""
        return []

    def _refuse_warm_start(self) -> None:
        if _parameters.flag("warm_start", self.warm_start):
            raise ValueError("warm_start is True, allowed in a session is False")

    def _check_target(self, objective: str, labels: NDArray[Any]) -> None:
        """Refuses labels that the objective does not allow."""

    @contextmanager
    def _kept_if_it_fails(self) -> Iterator[None]:
        """Fitted as before, or not fitted, if an exception leaves it."""
        before = dict(self.__dict__)
        try:
            yield
        except BaseException:
            self.__dict__.clear()
            self.__dict__.update(before)
            raise

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_model")

    def _predict(self, X: Any, *, margins: bool) -> NDArray[Any]:
        """[n_outputs x n_samples]"""
        check_is_fitted(self)
        if isinstance(X, Table):
            return _models.predict(self._model.to_text(), stored_table(X), margins=margins)
        threads = _parameters.n_threads(self.n_jobs)
        return self._model.predict(self._rows_of(X, threads), margins, threads).astype(np.float64)

    def _rows_of(self, X: Any, threads: int) -> _core.Rows:
        """Features of the fitted model."""
        X = _arrays.check_features(self, X, reset=False)
        return _arrays.make_rows(X, self._model.features, self._model.categories, threads, dates=self._model.dates)

    def save_model(self, path: str | os.PathLike[str]) -> None:
        """Write Podere's model file, which `podere predict`, `podere explain` and the others read.

        The file is there whole or not at all. Parameters of the estimator are not in it; use pickle to keep them.
        """
        check_is_fitted(self)
        _core.write_file(os.fspath(path), self._file_text())

    def load_model(self, path: str | os.PathLike[str]) -> Any:
        """Take the model from a file that save_model or the command line wrote.

        Parameters of this estimator stay as they are.

        Returns
        -------
        self
        """
        path = os.fspath(path)
        text = _core.read_model_text(path)
        model = self._MODEL.from_text(text, path)
        if model.objective not in self._OBJECTIVES:
            raise ValueError(f"{path}: its objective is {model.objective}, allowed for {type(self).__name__} are "
                             f"{', '.join(self._OBJECTIVES)}")
        with self._kept_if_it_fails():
            self._model = model
            self._take_classes(text, path)
            self._take_names(model.features)
        return self

    def _take_names(self, names: Sequence[str]) -> None:
        self.n_features_in_ = len(names)
        if hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        if not all(re.fullmatch("f[0-9]+", name) for name in names):  # made up where there were none
            self.feature_names_in_ = np.array(names, dtype=object)

    def evaluate(self, table: Table) -> dict[str, Any]:
        """How good this model is on a table of a session: Session.evaluate.

        Returns
        -------
        dict
            "rows" and what fits the objective, such as "auc", "accuracy", "log_loss" and "confusion".
        """
        return evaluate_on_table(self, table)

    def _refuse_to_score(self, X: Any) -> None:
        if isinstance(X, Table):
            raise TypeError(f"X is the table {X.name} of a session, which has its own label: evaluate(X) measures the "
                            "model on it")

    def _file_text(self) -> str:
        return self._model.to_text()

    def _take_classes(self, text: str, path: str) -> None:
        pass

    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())
        model = state.pop("_model", None)
        state["_podere"] = {"version": _PICKLE_VERSION, "podere": _core.__version__,
                            "model": None if model is None else model.to_text()}
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        state = dict(state)
        header = state.pop("_podere", {})
        if header.get("version") != _PICKLE_VERSION:
            raise ValueError(
                f"this pickle of {type(self).__name__} is of version {header.get('version')} (Podere "
                f"{header.get('podere', 'unknown')}), Podere {_core.__version__} reads version {_PICKLE_VERSION}: "
                "train again, or pass models on with save_model and load_model")
        if header["model"] is not None:
            state["_model"] = self._MODEL.from_text(header["model"], f"pickle of {type(self).__name__}")
        for old, new in (("initialisation", "initialization"), ("standardise", "standardize")):  # of earlier pickles
            if old in state and new not in state:
                state[new], state[old] = state[old], None
        super().__setstate__(state)

    def _takes_nan(self) -> bool:
        """Whether values may be missing."""
        return True

    def _more_tags(self) -> dict[str, Any]:  # scikit-learn before 1.6
        return {"allow_nan": self._takes_nan()}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self._takes_nan()
        tags.input_tags.sparse = True
        return tags


class WithHistory(Estimator):
    """An estimator whose model knows how its losses went."""

    _model: _core._WithHistory

    @property
    def history_(self) -> dict[str, NDArray[Any]]:
        check_is_fitted(self)
        return {"train_loss": np.array(self._model.train_loss),
                "validation_loss": np.array(self._model.validation_loss)}


# On tables, for estimators and sessions alike -------------------------------------------------------------------------

def fit_on_table(estimator: Estimator, table: Table, validation: Any, run: _models.Run) -> Estimator:
    """The estimator, fitted by the executors that keep `table`; `validation` is a Table of theirs or None."""
    jobs = stored_table(table).jobs
    validated_on = None if validation is None else table_of(jobs, validation, "validation")
    estimator._fit_on_table(stored_table(table), validated_on, run)
    return estimator


def evaluate_on_table(estimator: Estimator, table: Any, roc_points: int = 0) -> dict[str, Any]:
    """As Session.evaluate."""
    if not isinstance(table, Table):
        raise TypeError(f"table is {type(table).__name__}, allowed is a Table of a session; for arrays there are "
                        "predict and score")
    check_is_fitted(estimator)
    return _models.evaluate(estimator._model.to_text(), stored_table(table), getattr(estimator, "classes_", None),
                            roc_points)


class Classifier(ClassifierMixin, Estimator):  # type: ignore[misc]  # scikit-learn has no types
    """An estimator of classes, whose labels may be anything that sorts."""

    classes_: NDArray[Any]

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Accuracy on arrays, as scikit-learn has it; `evaluate` is for tables of a session."""
        self._refuse_to_score(X)
        return float(super().score(X, y, sample_weight))

    def _predict(self, X: Any, *, margins: bool) -> NDArray[Any]:
        values = super()._predict(X, margins=margins)
        # Log odds of the second of two classes that have an output each.
        return values[1:] - values[:1] if margins and len(values) == 2 else values

    def _learn_target(self, y: Target) -> NDArray[Any]:
        return self._learn_classes(y)

    def _learn_target_of(self, table: StoredTable) -> None:
        self.classes_ = table.classes()

    def _count_classes(self) -> int:
        if len(self.classes_) > 1000:
            raise ValueError(f"y has {len(self.classes_)} classes, allowed are at most 1000")
        return len(self.classes_)

    def predict_proba(self, X: Any) -> NDArray[Any]:
        """Probabilities of the classes, in the order of classes_.

        Parameters
        ----------
        X : array, DataFrame, sparse matrix or Table of a session, of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        return self._probabilities(self._predict(X, margins=False))

    def predict_log_proba(self, X: Any) -> NDArray[Any]:
        """Logarithms of predict_proba, of shape (n_samples, n_classes)."""
        with np.errstate(divide="ignore"):
            logarithms: NDArray[np.float64] = np.log(self.predict_proba(X))
        return logarithms

    def decision_function(self, X: Any) -> NDArray[Any]:
        """Margins: sums of what the trees say, or what the last layer adds up. Log odds of the second of two classes; of more, one for each.

        Parameters
        ----------
        X : array, DataFrame, sparse matrix or Table of a session, of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,), or (n_samples, n_classes) for more than two classes
        """
        margins = self._predict(X, margins=True)
        return margins[0] if len(margins) == 1 else np.ascontiguousarray(margins.T)

    def predict(self, X: Any) -> NDArray[Any]:
        """The most likely class of each row.

        Parameters
        ----------
        X : array, DataFrame, sparse matrix or Table of a session, of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return self._choose(self._predict(X, margins=True))

    def plot_roc(self, table: Table, ax: Any = None, name: str | None = None) -> Any:
        """Draw the ROC curve on a table of a session with matplotlib. For two classes.

        Parameters
        ----------
        table : Table with a label
        ax : Axes of matplotlib or None
            To draw on; None makes a figure.
        name : str or None
            Of the curve in the legend, before its AUC; None shows the AUC alone.

        Returns
        -------
        Axes
        """
        if len(getattr(self, "classes_", ())) > 2:
            raise ValueError(f"an ROC curve is of two classes, this model has {len(self.classes_)}")
        try:
            from matplotlib import pyplot
        except ImportError:
            raise ImportError("plot_roc needs matplotlib, which is not installed") from None
        measures = evaluate_on_table(self, table, _ROC_POINTS)
        if ax is None:
            ax = pyplot.subplots()[1]
        auc = f"AUC {measures['auc']:.4f}"
        ax.plot(measures["roc"][:, 1], measures["roc"][:, 2], label=f"{name}: {auc}" if name else auc)
        ax.plot([0, 1], [0, 1], color="0.7", linewidth=1, zorder=0)
        ax.set(xlabel="false positive rate", ylabel="true positive rate", xlim=(0, 1), ylim=(0, 1), aspect="equal")
        ax.legend(loc="lower right")
        return ax

    @staticmethod
    def _probabilities(predictions: NDArray[Any]) -> NDArray[Any]:
        """[n_samples x n_classes] of predictions [n_outputs x n_samples]."""
        if len(predictions) == 1:
            predictions = np.stack([1 - predictions[0], predictions[0]])
        return np.ascontiguousarray(predictions.T)

    def _choose(self, margins: NDArray[Any]) -> NDArray[Any]:
        """The most likely classes [n_samples] by margins [n_outputs x n_samples]."""
        places = (margins[0] > 0).astype(int) if len(margins) == 1 else margins.argmax(axis=0)
        chosen: NDArray[Any] = self.classes_[places]
        return chosen

    def _learn_classes(self, y: Target) -> NDArray[Any]:
        """Sets classes_; the place among them of each label [n_samples]."""
        _arrays.check_labels(y.values)
        if self._base() is not None:
            return self._encode(y, "y", "the classes of the model that warm_start continues")
        self.classes_, labels = _arrays.classes_of(y.values)
        if len(self.classes_) < 2:
            raise ValueError(f"y has one class, {self.classes_[:1].tolist()[0]!r}, allowed are at least two")
        return labels

    def _encode(self, y: Target, what: str = "eval_set", classes: str = "y") -> NDArray[Any]:
        """Places among classes_ [n_samples]."""
        unknown = ~_arrays.are_among(y.values, self.classes_)
        if unknown.any():
            first = y.values[unknown][:1].tolist()[0]
            raise ValueError(f"{what} has the class {first!r}, which is not in {classes}")
        order = np.argsort(self.classes_)  # of a model that was read, the positive class may not be the last in order
        places: NDArray[Any] = order[np.searchsorted(self.classes_, y.values, sorter=order)]
        return places

    def _class_texts(self) -> list[str]:
        classes: list[Any] = self.classes_.tolist()
        if all(isinstance(label, str) for label in classes):
            return classes
        if self.classes_.dtype.kind == "b":
            return [str(label) for label in classes]
        are_numbers = self.classes_.dtype.kind in "iuf" and classes != list(range(len(classes)))
        return [str(int(label)) for label in classes] if are_numbers else []

    def _file_text(self) -> str:
        """Texts of classes are in the model; others stand beside it too, of their type, which the command line ignores."""
        text = super()._file_text()
        classes = self.classes_.tolist()
        if self._model.classes == classes == numbers_of(classes):
            return text
        if classes == list(range(len(classes))) and self.classes_.dtype.kind in "iu":
            return text
        if not all(isinstance(label, (str, int, float)) for label in classes):
            raise ValueError(f"classes_ has {classes[0]!r}, allowed in a model file are texts and numbers")
        return text.rstrip().removesuffix("}") + ',"classes":' + json.dumps(classes) + "}\n"

    def _take_classes(self, text: str, path: str) -> None:
        n_classes = max(2, self._model.n_outputs)
        beside = json.loads(text).get("classes") if '"classes":' in text else None
        classes = beside or numbers_of(self._model.classes) or list(range(n_classes))
        if not isinstance(classes, list) or len(classes) != n_classes:
            raise ValueError(f"{path}: its classes are not {n_classes}")
        self.classes_ = np.array(classes)


def numbers_of(texts: list[str]) -> list[Any]:
    """Texts that are whole numbers, as `podere train` writes classes, as these numbers; others as they are."""
    if all(re.fullmatch(r"0|-?[1-9][0-9]{0,17}", text) for text in texts):
        return [int(text) for text in texts]
    return texts


class Regressor(RegressorMixin, Estimator):  # type: ignore[misc]  # scikit-learn has no types
    """An estimator of numbers."""

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """R² on arrays, as scikit-learn has it; `evaluate` is for tables of a session."""
        self._refuse_to_score(X)
        return float(super().score(X, y, sample_weight))

    def _learn_target(self, y: Target) -> NDArray[Any]:
        return self._encode(y)

    def _learn_target_of(self, table: StoredTable) -> None:
        if table.origin.classes is not None or table.facts.get("classes"):
            raise ValueError(f"the label of the table {table.name} holds classes, allowed are numbers")

    def predict(self, X: Any) -> NDArray[Any]:
        """The mean, or the quantile, for each row.

        Parameters
        ----------
        X : array, DataFrame, sparse matrix or Table of a session, of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        values: NDArray[Any] = self._predict(X, margins=False)[0]
        return values

    def _encode(self, y: Target) -> NDArray[Any]:
        """Finite numbers [n_samples]."""
        numbers: NDArray[np.float64] = check_array(y.values, ensure_2d=False, dtype=np.float64, input_name="y")
        return numbers
