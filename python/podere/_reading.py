"""Rows of files and of arrays, into the executors' memory."""
from __future__ import annotations

import operator
import os
from numbers import Integral
from typing import Any, Sequence

import numpy as np

from ._estimator import _free_name
from ._jobs import Jobs
from ._parameters import absolute
from ._put import ServedArray, array_server, features_of, labels_of, numbers_of
from ._table import Table


class Reading(Jobs):
    """The part of a session that makes tables of what lies elsewhere."""

    _put: dict[str, Any]  # arrays behind tables that have names of their own

    def read_csv(self, path: str | os.PathLike[str], label: str | int | None = None, weight: str | int | None = None,
                 columns: Sequence[str | int] | None = None, categorical: Sequence[str | int] | None = None,
                 header: bool | None = None, delimiter: str | None = None, missing: Sequence[str] | None = None,
                 rows: slice | None = None, name: str | None = None,
                 drop: Sequence[str | int] | None = None) -> Table:
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
            Whether the first line holds names; None finds out, see `Table.first_line`, and refuses what is in doubt.
        delimiter : str or None
            One character; None finds out.
        missing : list of str or None
            Fields that stand for missing values; None: empty ones, NA, NaN and the like.
        rows : slice or None
            Such as slice(0, 1000); None: all.
        name : str or None
            Of the table; one without a name is dropped when nobody has it any more.
        drop : list or None
            Columns to leave out, by name or by position; not with `columns`.

        Raises
        ------
        FileNotFoundError, ValueError
            The latter with file, line and column; of texts among numbers it names all columns that hold any.
        """
        spec = _file("path", path, "csv")
        for key, column in (("label", label), ("weight", weight)):
            if column is not None:
                spec[key] = str(column)
        for key, texts in (("columns", columns), ("drop", drop), ("categorical", categorical),
                           ("missing", missing)):
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
        spec: dict[str, Any] = {"location": location} if events else _file("location", location, format or "auto")
        if isinstance(columns, str):
            raise TypeError(f"columns is {columns!r}, allowed is a list")
        if columns is not None:
            spec["columns"] = [str(column) for column in columns]
        if labels is not None:
            spec["labels"] = _file("labels", labels, "idx")["location"]
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
        result = self._run({"kind": "load", "table": spec, "name": self._new_name(name)})
        facts, = result["tables"]
        for file in result.get("files", []):
            facts["first_line"] = file["first_line"]
        return Table(self, facts, name is None)


def _file(name: str, path: str | os.PathLike[str], format: str) -> dict[str, Any]:
    location = absolute(name, path)
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
