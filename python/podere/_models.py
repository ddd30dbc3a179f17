"""Models trained and used on the tables of a session."""
from __future__ import annotations

import contextlib
import os
from typing import Any, Iterator

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ._estimator import Estimator
from ._jobs import Jobs
from ._parameters import absolute
from ._table import Table

_MEASURES = ("rows", "auc", "accuracy", "log_loss", "confusion", "mean_poisson_deviance", "pinball_loss",
             "root_mean_squared_error", "mean_absolute_error")


class Models(Jobs):
    """The part of a session that trains, measures and predicts."""

    def fit(self, estimator: Any, table: Table, validation: Table | None = None,
            checkpoint: str | os.PathLike[str] | None = None, on_interrupt: str = "raise",
            tensorboard: str | os.PathLike[str] | None = None) -> Any:
        """Train on the executors: the model that estimator.fit gives for the same rows, byte for byte.

        Parameters
        ----------
        estimator : GBTClassifier, GBTRegressor, NNClassifier, NNRegressor or MLPClassifier
            Its `n_jobs` is not asked: the session has its cores. Classes are the labels that occur in the table.
        table : Table with a label
        validation : Table or None
            What `eval_set` is to estimator.fit.
        checkpoint : path or None
            Keeps the model so far there, and goes on from it if it is there; None keeps it with the session.
        on_interrupt : {"raise", "keep"}
            Whether Ctrl-C raises KeyboardInterrupt and leaves the estimator as it was, or ends training with the model
            so far.
        tensorboard : path or None
            Folder for TensorBoard to show the run from, while it goes on: `--tensorboard` of the command line.

        Returns
        -------
        estimator
            The same object, now fitted. It predicts here as well as on tables.
        """
        if not isinstance(estimator, Estimator):
            raise TypeError(f"{estimator!r} is no estimator of Podere: allowed are GBTClassifier, GBTRegressor, "
                            "NNClassifier, NNRegressor and MLPClassifier")
        if on_interrupt not in ("raise", "keep"):
            raise ValueError(f"on_interrupt is {on_interrupt!r}, allowed are 'raise', 'keep'")
        self._own(table)
        if validation is not None:
            self._own(validation, "validation")
        job: dict[str, Any] = {"kind": "train"}
        if checkpoint is not None:
            job["checkpoint"] = self._place_for("checkpoint", checkpoint)
        if tensorboard is not None:
            job["tensorboard"] = absolute("tensorboard", tensorboard)

        def train(what: dict[str, Any], classes: np.ndarray | None) -> str:
            job.update(what, table=table._spec(classes))
            if validation is not None:
                job["validation"] = validation._spec(classes)
            return self._run(job, keep=on_interrupt == "keep")["model"]

        return estimator._fit_elsewhere(table, validation is not None, train)

    def evaluate(self, model: Any, table: Table, *, roc_points: int = 0) -> dict[str, Any]:
        """How good a fitted estimator is on a table.

        Returns
        -------
        dict
            "rows" and what fits the objective: "auc", "accuracy", "log_loss", "confusion" (array of shape (n_classes,
            n_classes), true by predicted), or "root_mean_squared_error" and others. With `roc_points`, "roc": an array
            of shape (n_points, 3) of threshold, false positive rate and true positive rate.
        """
        with self._model_file(model) as path:
            spec = self._own(table)._spec(getattr(model, "classes_", None))
            result = self._run({"kind": "evaluate", "table": spec, "model": path,
                                "roc_points": roc_points})
        measures = {name: result[name] for name in _MEASURES if name in result}
        for name in ("confusion", "roc"):
            if name in result:
                measures[name] = np.array(result[name], dtype=float)
        return {name: float("nan") if value is None else value for name, value in measures.items()}

    def predict(self, model: Any, table: Table) -> np.ndarray:
        """What model.predict gives for the rows of a table, computed by the executors.

        Returns
        -------
        ndarray of shape (n_rows,)
        """
        values = self._predict(model, table, margin=hasattr(model, "classes_"))
        return model._choose(values) if hasattr(model, "classes_") else values[0]

    def predict_proba(self, model: Any, table: Table) -> np.ndarray:
        """What model.predict_proba gives for the rows of a table: of shape (n_rows, n_classes)."""
        if not hasattr(model, "predict_proba"):
            raise TypeError(f"{type(model).__name__} has no probabilities")
        return model._probabilities(self._predict(model, table, margin=False))

    def _predict(self, model: Any, table: Table, margin: bool) -> np.ndarray:
        """[n_outputs x n_rows]"""
        with self._model_file(model) as path, self._shared_file() as output:
            self._run({"kind": "predict", "table": self._own(table)._spec(), "model": path, "output": output,
                       "margin": margin})
            with open(output, "rb") as file:
                values = np.fromstring(file.read().replace(b",", b" "), dtype=np.float32, sep=" ")
        return np.ascontiguousarray(values.reshape(table.n_rows, -1).T).astype(np.float64)

    @contextlib.contextmanager
    def _model_file(self, model: Any) -> Iterator[str]:
        if not isinstance(model, Estimator):
            raise TypeError(f"{type(model).__name__} is no estimator of Podere")
        check_is_fitted(model)
        with self._shared_file() as path:
            with open(path, "wb") as file:
                file.write(model._model.to_text().encode())
            yield path
