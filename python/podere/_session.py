"""Executors that stay, for a script or a notebook."""
from __future__ import annotations

import contextlib
import html
import itertools
import operator
import os
import re
import secrets
import tempfile
import weakref
from numbers import Integral
from typing import Any, Iterator, Sequence

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ._connection import Connection
from ._estimator import Estimator, _free_name
from ._parameters import whole
from ._progress import make_progress
from ._put import ServedArray, array_server, features_of, labels_of, numbers_of
from ._table import Table

_MEASURES = ("rows", "auc", "accuracy", "log_loss", "confusion", "mean_poisson_deviance", "pinball_loss",
             "root_mean_squared_error", "mean_absolute_error")
_ROC_POINTS = 1000


def _executors_text(executors: Any) -> str:
    if isinstance(executors, Integral) and not isinstance(executors, bool) and executors >= 1:
        return str(int(executors))
    if isinstance(executors, str) and re.fullmatch("[0-9]+(:[0-9]+)?", executors):
        return executors
    raise ValueError(f"executors is {executors!r}, allowed is a number from 1, or '2:8' for 8, or what is left down to "
                     "2")


def _address_text(prometheus: Any) -> str:
    if isinstance(prometheus, bool) or not isinstance(prometheus, (Integral, str)):
        raise TypeError(f"prometheus is {prometheus!r}, allowed are a port and 'ADDRESS:PORT'")
    return str(prometheus)


def _count(name: str, value: Any) -> int:
    return whole(name, value, 1, 2**31 - 1)


class Session:
    """Executors of this process: they keep tables, train on them, and end with it.

    >>> import podere
    >>> with podere.Session(executors=2, cores=1, progress=False) as s:
    ...     train, test = s.read("collider:2e4").split(0.9, seed=7)
    ...     model = s.fit(podere.GBTClassifier(n_estimators=20, max_depth=5), train)
    ...     model.evaluate(test)["auc"] > 0.7
    True

    Executors that are lost are made up for, with their tables; the model is the same, byte for byte. Ctrl-C (and the
    interrupt of a notebook) cancels the job that runs and keeps the session. A session that nobody closes ends with the
    process, even if that is killed.

    Parameters
    ----------
    executors : int or str, default=1
        How many; "2:8" wants 8 and goes on with what is left, down to 2.
    cores : int or None, default=None
        Threads of each; None shares this machine's out.
    name : str or None, default=None
        By which others find it: `podere session attach NAME`, `Session.connect(name)`. None makes one up.
    farm : str or None, default=None
        On Kubernetes, in whose pods they run: "astro", or "NAMESPACE/astro". Pods that come and go are executors that
        do. None starts them on this machine.
    progress : bool, default=True
        Show what goes on: a line in a terminal, a bar in a notebook, losses as lines on standard error.
    prometheus : int, str or None, default=None
        A port of 127.0.0.1 (0: any that is free), or "ADDRESS:PORT" of this machine, where Prometheus scrapes what
        jobs cost. `s.prometheus` is the URL.

    Raises
    ------
    ValueError
        For what cannot be: no such number of executors, a name that is taken.
    SessionError
        Where executors do not start.
    """

    def __init__(self, executors: int | str = 1, cores: int | None = None, name: str | None = None, *,
                 farm: str | None = None, progress: bool = True, prometheus: int | str | None = None) -> None:
        options = ["--executors", _executors_text(executors)]
        if cores is not None:
            options += ["--cores", str(_count("cores", cores))]
        if prometheus is not None:
            options += ["--prometheus", _address_text(prometheus)]
        if farm is not None:
            options += ["--on", "kubernetes", "--farm", _farm_name(farm)]
        name = f"python-{os.getpid()}-{secrets.token_hex(3)}" if name is None else _session_name(name)
        self._attach(name, options, progress)

    @classmethod
    def connect(cls, name: str, *, progress: bool = True) -> Session:
        """Join a session that there is, of `podere session start NAME` or another process.

        It stays when this process leaves; `shutdown()` ends it.
        """
        session = cls.__new__(cls)
        session._attach(_session_name(name), None, progress)
        return session

    def _attach(self, name: str, start: list[str] | None, progress: bool) -> None:
        self._shows = bool(progress)
        shown = make_progress(self._shows)
        if start is not None:
            n = start[1].split(":")[-1]
            shown.show(f"starting {n} executor{'' if n == '1' else 's'}")
        try:
            self._connection = Connection(name, start, shown)
        finally:
            shown.clear()
        self._token = secrets.token_hex(2)
        self._numbers = itertools.count(1)
        self._put: dict[str, Any] = {}  # arrays behind tables that have names of their own
        self._finalizer = weakref.finalize(self, self._connection.close)

    # The session

    @property
    def name(self) -> str:
        """What it is called."""
        return self._connection.name

    @property
    def status(self) -> dict[str, Any]:
        """What there is: "session", "process" (of the driver), "executors", "cores", "tables", "jobs"."""
        return self._connection.ask(ask="status")

    @property
    def executors(self) -> int:
        """How many there are."""
        return self.status["executors"]

    @property
    def cores(self) -> int:
        """Threads of each executor."""
        return self.status["cores"]

    @property
    def prometheus(self) -> str | None:
        """Where Prometheus finds what jobs cost; None if nobody asked for it."""
        return self.status["prometheus"]

    @property
    def tables(self) -> dict[str, Table]:
        """All tables that the session keeps, by name, those of others too. To have one here does not keep it there."""
        return {facts["name"]: Table(self, facts, False) for facts in self.status["tables"]}

    @property
    def jobs(self) -> list[dict[str, Any]]:
        """What was asked for, the last ones of many: "job" (a number), "kind", "state", "seconds", "progress"."""
        return self.status["jobs"]

    def log(self, job: int | None = None) -> list[str]:
        """What happened in a job, line by line, such as losses of executors; None is the last job that has begun.

        (But for those that drop tables which nobody has any more.)
        """
        return self._told_of(job, "running", "done", "failed", "cancelled").get("log", [])

    def metrics(self, job: int | None = None) -> dict[str, Any]:
        """What a job cost: seconds of work, waiting and CPU, bytes, rows, memory. None is the last job that is done.

        (But for those that drop tables which nobody has any more.)

        Returns
        -------
        dict
            The figures of docs/metrics.md: of the "job", as a dict; of each of its "phases", as a list of dicts; and of
            its "tasks", each a phase on one executor. Empty for a job that failed or is not done.
        """
        return self._told_of(job, "done").get("metrics") or {}

    def _told_of(self, job: int | None, *states: str) -> dict[str, Any]:
        """What there is to tell of a job; None is the last that is in one of these states."""
        if job is None:
            numbers = [known["job"] for known in self.jobs if known["state"] in states and known["kind"] != "drop"]
            if not numbers:
                return {}
            job = numbers[-1]
        return self._connection.ask(ask="job", job=_count("job", job))

    def cancel(self, job: int) -> None:
        """Stop a job, of another thread or process. Training keeps the trees it has."""
        self._connection.ask(cancel_job=_count("job", job))

    def scale(self, n: int) -> None:
        """Go on with `n` executors, soon; training pauses at a checkpoint. The model stays the same."""
        self._connection.ask(scale={"executors": _count("n", n)})

    def adapt(self, minimum: int = 1, maximum: int = 1) -> None:
        """Go on with `maximum` executors, and when some are lost with what is left, down to `minimum`."""
        minimum, maximum = _count("minimum", minimum), _count("maximum", maximum)
        if minimum > maximum:
            raise ValueError(f"minimum is {minimum}, allowed is at most maximum, {maximum}")
        self._connection.ask(scale={"executors": maximum, "least": minimum})

    def close(self) -> None:
        """Leave the session, and end it if it was started here. May be called more than once."""
        self._finalizer()

    def shutdown(self) -> None:
        """End the session with its executors, whoever started it."""
        if self._finalizer.detach() is not None:
            self._connection.close(stop=True)

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __repr__(self) -> str:
        if not self._finalizer.alive:
            return f"<podere.Session {self.name}: closed>"
        try:
            status = self.status
        except RuntimeError as error:
            return f"<podere.Session {self.name}: {error}>"
        return (f"<podere.Session {self.name}: {status['executors']} executors x {status['cores']} cores, "
                f"{len(status['tables'])} tables>")

    def _repr_html_(self) -> str:
        return html.escape(repr(self).strip("<>").removeprefix("podere."))

    # Tables

    def read_csv(self, path: str | os.PathLike[str], label: str | int | None = None, weight: str | int | None = None,
                 columns: Sequence[str | int] | None = None, categorical: Sequence[str | int] | None = None,
                 header: bool | None = None, delimiter: str | None = None, missing: Sequence[str] | None = None,
                 rows: slice | None = None, name: str | None = None) -> Table:
        """Read a file of delimited text, plain or gzip, into the executors' memory.

        Parameters
        ----------
        path : path
            Executors read it themselves: all must see it.
        label, weight : str, int or None
            Columns, by name or by position from 0; None: there is none.
        columns : list or None
            Features to keep, in this order; None: all but label and weight.
        categorical : list or None
            Features whose fields are texts.
        header : bool or None
            Whether the first line holds names; None finds out.
        delimiter : str or None
            One character; None finds out.
        missing : list of str or None
            Fields that stand for missing values; None: empty ones, NA, NaN and the like.
        rows : slice or None
            Such as slice(0, 1000); None: all.
        name : str or None
            Of the table; one without a name is dropped when nobody has it any more.

        Raises
        ------
        FileNotFoundError, ValueError
            The latter with file, line and column.
        """
        spec = _file(path, "csv")
        for key, column in (("label", label), ("weight", weight)):
            if column is not None:
                spec[key] = str(column)
        for key, texts in (("columns", columns), ("categorical", categorical), ("missing", missing)):
            if isinstance(texts, str):
                raise TypeError(f"{key} is {texts!r}, allowed is a list")
            if texts is not None:
                spec[key] = [str(text) for text in texts]
        for key, choice in (("header", header), ("delimiter", delimiter)):
            if choice is not None:
                spec[key] = choice
        return self._load(spec, rows, name)

    def read(self, location: str | os.PathLike[str], *, format: str | None = None, columns: Sequence[str] | None = None,
             labels: str | os.PathLike[str] | None = None, n_features: int | None = None, zero_based: bool = False,
             rows: slice | None = None, name: str | None = None) -> Table:
        """Read a file that says itself what is in it, or "collider:1e6?seed=3", simulated events made by the executors.

        Files are IDX, which MNIST has, or libsvm (SVMlight), plain or gzip; of delimited text all columns are features
        here: use `read_csv`. The label of all but delimited text is called "label".

        Parameters
        ----------
        location : str or path
            Executors read a file themselves: all must see it.
        format : "csv", "idx", "libsvm" or None
            None finds out: IDX by the first bytes, libsvm by the names .libsvm, .svm and .svmlight, with or without .gz.
        columns : list or None
            Features to keep, in this order; None: all. "pixel1", ... of images, "f1", ... of libsvm files.
        labels : path or None
            Of an IDX file: the file of its labels; None: train-labels-idx1-ubyte.gz beside train-images-idx3-ubyte.gz
            and the like, if it is there.
        n_features : int or None
            Of a libsvm file; None: as many as its largest index asks for.
        zero_based : bool
            Whether indices of a libsvm file count from 0 and not from 1.
        rows : slice or None
            Such as slice(0, 1000); None: all.
        name : str or None
            Of the table; one without a name is dropped when nobody has it any more.

        Raises
        ------
        FileNotFoundError, ValueError
            The latter with file and line, or byte.
        """
        events = isinstance(location, str) and location.startswith("collider:")
        spec: dict[str, Any] = {"location": location} if events else _file(location, format or "auto")
        if isinstance(columns, str):
            raise TypeError(f"columns is {columns!r}, allowed is a list")
        if columns is not None:
            spec["columns"] = [str(column) for column in columns]
        if labels is not None:
            spec["labels"] = _file(labels, "idx")["location"]
        if n_features is not None:
            spec["n_features"] = operator.index(n_features)
        if zero_based:
            spec["zero_based"] = True
        return self._load(spec, rows, name)

    def put(self, X: Any, y: Any = None, sample_weight: Any = None, feature_names: Sequence[str] | None = None,
            name: str | None = None) -> Table:
        """Bring arrays of this process into the executors' memory; each reads the rows that it keeps.

        The arrays are read again when executors are lost, so they must not be changed while the table, or one made
        from it, is there: arrays that were are refused then. They are not copied unless they have gaps or are of a type that executors do not read.

        Parameters
        ----------
        X : array or DataFrame of shape (n_rows, n_features)
            Numbers of any type and layout; NaN is a missing value, infinity an error.
        y : array of shape (n_rows,) or None
            Labels: numbers, truth values or texts. Classification takes any whole numbers as classes.
        sample_weight : array of shape (n_rows,) or None
        feature_names : list of str or None
            None: the columns of a DataFrame, or f0, f1, ...
        name : str or None
            Of the table; one without a name is dropped when nobody has it any more.
        """
        values, features = features_of(X, feature_names)
        served = {"values": ServedArray(values)}
        n_rows = len(values)
        arrays: dict[str, Any] = {"n_rows": n_rows, "features": features}
        classes = None
        if y is not None:
            labels, classes = labels_of(y, n_rows)
            served["label"] = ServedArray(labels)
            arrays["label_name"] = _free_name(getattr(y, "name", None), "label", features)
        if sample_weight is not None:
            served["weight"] = ServedArray(numbers_of(sample_weight, "sample_weight", 1, n_rows))
            taken = [*features, arrays.get("label_name", "")]
            arrays["weight_name"] = _free_name(getattr(sample_weight, "name", None), "weight", taken)
        server = array_server(os.getpid())
        arrays.update({part: server.serve(array) for part, array in served.items()}, token=server.token)
        table_name = self._new_name(name)
        spec = {"location": f"put:{table_name}", "arrays": arrays}
        facts, = self._run({"kind": "load", "table": spec, "name": table_name})["tables"]
        if name is not None:
            self._put[table_name] = served
        label_dtype = labels.dtype if y is not None else np.int64
        return Table(self, facts, name is None, classes=classes, label_dtype=label_dtype,
                     served=tuple(served.values()))

    def _load(self, spec: dict[str, Any], rows: slice | None, name: str | None) -> Table:
        if rows is not None:
            spec.update(_row_numbers(rows))
        facts, = self._run({"kind": "load", "table": spec, "name": self._new_name(name)})["tables"]
        return Table(self, facts, name is None)

    # Models

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
            job["checkpoint"] = os.path.abspath(os.fspath(checkpoint))

        if tensorboard is not None:
            job["tensorboard"] = os.path.abspath(os.fspath(tensorboard))

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

    # Within

    def _run(self, job: dict[str, Any], keep: bool = False) -> dict[str, Any]:
        progress = make_progress(self._shows)
        try:
            return self._connection.run(job, progress, keep)
        finally:
            progress.clear()

    def _new_name(self, name: str | None = None) -> str:
        return f"{self._token}-{next(self._numbers)}" if name is None else str(name)

    def _own(self, table: Any, what: str = "table") -> Table:
        if not isinstance(table, Table):
            raise TypeError(f"{what} is {type(table).__name__}, allowed is a Table, as read_csv() makes")
        if table.session.name != self.name:
            raise ValueError(f"{what} {table.name} is kept by the session {table.session.name}, this is {self.name}")
        return table

    @contextlib.contextmanager
    def _model_file(self, model: Any) -> Iterator[str]:
        if not isinstance(model, Estimator):
            raise TypeError(f"{type(model).__name__} is no estimator of Podere")
        check_is_fitted(model)
        with self._shared_file() as path:
            with open(path, "wb") as file:
                file.write(model._model.to_text().encode())
            yield path

    @contextlib.contextmanager
    def _shared_file(self) -> Iterator[str]:
        """An empty file that executors can open: in memory of this process, or where they see it from elsewhere."""
        folder = self.status["shared_folder"]
        if folder is None:
            with os.fdopen(os.memfd_create("podere"), "w+b") as file:
                yield f"/proc/{os.getpid()}/fd/{file.fileno()}"
        else:
            with tempfile.TemporaryDirectory(dir=folder) as own:
                path = os.path.join(own, "file")
                open(path, "xb").close()
                yield path


def _farm_name(farm: Any) -> str:
    if not isinstance(farm, str) or not farm:
        raise ValueError(f"farm is {farm!r}, allowed is a name such as \"astro\" or \"namespace/astro\"")
    return farm


def _session_name(name: Any) -> str:
    if isinstance(name, str) and re.fullmatch("[A-Za-z0-9_-][A-Za-z0-9._-]{0,39}", name):
        return name
    raise ValueError(f"name is {name!r}, allowed are up to 40 letters, digits, dots, _ and -")


def _file(path: str | os.PathLike[str], format: str) -> dict[str, Any]:
    location = os.path.abspath(os.fspath(path))
    os.stat(location)  # FileNotFoundError, PermissionError
    return {"location": location} if format == "auto" else {"location": location, "format": format}


def _row_numbers(rows: Any) -> dict[str, int]:
    if not isinstance(rows, slice) or rows.step not in (None, 1):
        raise TypeError(f"rows is {rows!r}, allowed is a slice such as slice(0, 1000)")
    numbers = {"first_row": rows.start, "last_row": rows.stop}
    for value in numbers.values():
        if value is not None and (not isinstance(value, Integral) or value < 0):
            raise ValueError(f"rows is {rows!r}, allowed are whole numbers from 0")
    return {name: int(value) for name, value in numbers.items() if value is not None}
