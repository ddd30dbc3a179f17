"""Estimators of any algorithm in the catalog."""
from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from . import _arrays, _core, _models
from ._estimator import Classifier, Estimator
from ._stored_table import StoredTable


class OfAlgorithm(Estimator):
    """The base of an estimator that is trained by an algorithm of the catalog, on rows with labels."""

    algorithm: str
    verbose: bool | int = False
    n_jobs: int | None = None
    warm_start = False
    _MODEL = _core.AnyModel
    _model: _core.AnyModel

    def _options(self) -> dict[str, Any]:
        """Those of the algorithm."""
        raise NotImplementedError

    def _make_options(self, names: Sequence[str], has_eval_set: bool) -> dict[str, Any]:
        if has_eval_set and not _core.abilities_of(self.algorithm)["validates"]:
            raise ValueError(f"{self.algorithm} does not validate while it trains: measure the fitted model by score() or "
                             "evaluate()")
        return self._options()

    def _find_categories(self, X: Any, names: Sequence[str]) -> _arrays.Categories:
        return _arrays.find_categories(X, names, None)

    def _check_categories(self, table: StoredTable, fold_group: str | None = None) -> None:
        pass  # the algorithm knows whether it takes them

    def _fit_on_table(self, table: StoredTable, validation: StoredTable | None, run: _models.Run) -> None:
        if run.checkpoint is not None and not _core.abilities_of(self.algorithm)["keeps_checkpoints"]:
            raise ValueError(f"checkpoint is {run.checkpoint!r}, but {self.algorithm} keeps none")
        super()._fit_on_table(table, validation, run)

    def _train(self, rows: _core.Rows, validation: _core.Rows | None, objective: str, options: dict[str, Any],
               threads: int, show: Any) -> _core.AnyModel:
        return _core.train_any(self.algorithm, rows, validation, json.dumps(options, allow_nan=False), threads, show)[0]

    def _job_of(self, objective: str, options: dict[str, Any]) -> dict[str, Any]:
        return {"algorithm": self.algorithm, "options": options}


class AlgorithmClassifier(OfAlgorithm, Classifier):
    """The base of a classifier whose algorithm is written in C++ and is in Podere's table of algorithms.

    A subclass says which algorithm that is and takes its options, of the same names, in a constructor of its own, as
    scikit-learn has it. The algorithm has an option `n_classes`, which is counted from y. docs/extending.md has an example::

        class NearestCentroid(AlgorithmClassifier):
            algorithm = "centroid"
            objectives = ("nearest-centroid",)

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Where X was a DataFrame whose columns have names.
    """

    objectives: tuple[str, ...]
    _RUN = ("verbose", "n_jobs")  # parameters that are not the algorithm's

    @property
    def _OBJECTIVES(self) -> tuple[str, ...]:  # type: ignore[override]  # estimators of the package have them fixed
        return self.objectives

    def _options(self) -> dict[str, Any]:
        return {name: value.item() if isinstance(value, np.generic) else value
                for name, value in self.get_params(deep=False).items() if name not in self._RUN}

    def _choose_objective(self, options: dict[str, Any]) -> str:
        options["n_classes"] = self._count_classes()
        return self.objectives[0]
