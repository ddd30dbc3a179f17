"""Jobs that train, measure and use models on tables of executors. Models are texts here."""
from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._jobs import JobRunner
from ._stored_table import StoredTable

_MEASURES = ("rows", "auc", "accuracy", "log_loss", "confusion", "mean_poisson_deviance", "pinball_loss",
             "root_mean_squared_error", "mean_absolute_error", "r2", "inertia", "silhouette", "silhouette_rows", "log_likelihood",
             "bic", "aic", "anomalies", "anomaly_share", "median_score", "score_percentile_95", "score_percentile_99",
             "largest_score")


@dataclass(frozen=True)
class Run:
    """How a training job runs, whatever it trains."""

    checkpoint: str | None = None
    tensorboard: str | None = None
    keep_on_interrupt: bool = False


def train(table: StoredTable, validation: StoredTable | None, job: dict[str, Any], classes: NDArray[Any] | None,
          run: Run) -> str:
    """The model that `job`, what an algorithm says of itself, gives. With `classes` labels are places among them."""
    model: str = train_with_facts(table, validation, job, classes, run)["model"]
    return model


def train_with_facts(table: StoredTable, validation: StoredTable | None, job: dict[str, Any],
                     classes: NDArray[Any] | None, run: Run) -> dict[str, Any]:
    """The same, as "model", with "facts" of the training."""
    job = {"kind": "train", **job, "table": table.spec(classes)}
    if validation is not None:
        job["validation"] = validation.spec(classes)
    for name, path in (("checkpoint", run.checkpoint), ("tensorboard", run.tensorboard)):
        if path is not None:
            job[name] = path
    result: dict[str, Any] = table.jobs.run(job, keep=run.keep_on_interrupt)
    return result


def evaluate(model: str, table: StoredTable, classes: NDArray[Any] | None, roc_points: int) -> dict[str, Any]:
    """How good a model is, as Session.evaluate has it."""
    with _model_file(table.jobs, model) as path:
        result = table.jobs.run({"kind": "evaluate", "table": table.spec(classes), "model": path,
                                 "roc_points": roc_points})
    measures = {name: result[name] for name in _MEASURES if name in result}
    for name in ("confusion", "roc"):
        if name in result:
            measures[name] = np.array(result[name], dtype=float)
    return {name: float("nan") if value is None else value for name, value in measures.items()}


def predict(model: str, table: StoredTable, *, margins: bool) -> NDArray[np.float64]:
    """Margins or predictions [n_outputs x n_rows]."""
    jobs = table.jobs
    with _model_file(jobs, model) as path, jobs.shared_file() as output:
        jobs.run({"kind": "predict", "table": table.spec(), "model": path, "output": output, "margin": margins,
                  "as": "probability"})
        with open(output, "rb") as file:
            values = np.fromstring(file.read().replace(b",", b" "), dtype=np.float32, sep=" ")
    return np.ascontiguousarray(values.reshape(table.facts["rows"], -1).T).astype(np.float64)


@contextlib.contextmanager
def _model_file(jobs: JobRunner, model: str) -> Iterator[str]:
    with jobs.shared_file() as path:
        with open(path, "wb") as file:
            file.write(model.encode())
        yield path
