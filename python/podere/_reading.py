"""What jobs say of rows that lie elsewhere: in files, or in arrays of this process."""
from __future__ import annotations

import operator
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np

from . import _core
from ._arrays import free_name
from ._parameters import absolute, whole
from ._put import Features, ServedArray, array_server, labels_of, numbers_of
from ._stored_table import MOST_CLASSES, Origin


def csv_source(path: str | os.PathLike[str], *, rows: slice | None, columns: dict[str, str | int | None],
               lists: dict[str, Sequence[str | int] | None], choices: dict[str, Any]) -> dict[str, Any]:
    """A file of delimited text. `columns` are those with a meaning of their own, `lists` what is given as a list,
    `choices` all else, by the names of the parameters of Session.read_csv; None means the default."""
    source = _file("path", path, "csv")
    _choose(source, columns, lists, choices)
    return {**source, **row_numbers(rows)}


def _choose(source: dict[str, Any], columns: dict[str, str | int | None],
            lists: dict[str, Sequence[str | int] | None], choices: dict[str, Any]) -> None:
    source.update((name, str(column)) for name, column in columns.items() if column is not None)
    source.update((name, _texts(name, values)) for name, values in lists.items() if values is not None)
    source.update((name, choice) for name, choice in choices.items() if choice is not None)


Columns = Sequence[str | int] | None


def columns_of_pandas(columns: Columns, categorical: Columns | str, usecols: Any, dtype: Any,
                      others: Sequence[str | int | None]) -> tuple[Columns, Columns | str]:
    """`columns` and `categorical` of Session.read_csv, with what `usecols` and `dtype` of pandas say; `others` are the
    label and the weight, which are no features."""
    if usecols is not None:
        if columns is not None:
            raise ValueError("columns and usecols are given, allowed is one of them: they choose the same")
        if isinstance(usecols, str) or callable(usecols):
            raise TypeError(f"usecols is {usecols!r}, allowed is a list of names or positions")
        columns = [column for column in usecols if column not in others]
    if dtype is None:
        return columns, categorical
    if not isinstance(dtype, Mapping):
        _is_category(dtype, "all columns", can_be_category=False)
        dtype = {}
    found = [column for column, kind in dtype.items() if _is_category(kind, repr(column))]
    if not found:
        return columns, categorical
    if categorical == "auto":
        raise ValueError(f"categorical is {categorical!r} and dtype has 'category', allowed is one of them")
    named = list(categorical or [])
    return columns, [*named, *(column for column in found if column not in named)]


def n_skipped(skiprows: Any) -> int | None:
    """`skip` of a source, as the parameter of pandas has it."""
    if skiprows is None:
        return None
    if isinstance(skiprows, bool) or not isinstance(skiprows, Integral):
        raise TypeError(f"skiprows is {skiprows!r}, allowed is how many lines there are above the table, a whole number")
    if skiprows < 0:
        raise ValueError(f"skiprows is {skiprows!r}, allowed are whole numbers from 0")
    return int(skiprows)


def _is_category(kind: Any, column: str, *, can_be_category: bool = True) -> bool:
    """Whether a type of pandas is that of categories and not of numbers. Others are refused."""
    if can_be_category and str(kind) == "category":
        return True
    try:
        is_number = np.dtype(kind.lower() if isinstance(kind, str) else kind).kind in "biuf"
    except TypeError:
        is_number = str(kind).lower() == "boolean"
    if is_number:
        return False
    allowed = "'category' and types of numbers" if can_be_category else "types of numbers, and 'category' by column"
    raise ValueError(f"dtype is {kind!r} for {column}, allowed are {allowed}: texts are read as categories, dates are "
                     "found")


def location_source(location: str | os.PathLike[str], *, format: str | None, labels: str | os.PathLike[str] | None,
                    key: str | None, n_features: int | None, zero_based: bool, raw: dict[str, Any],
                    rows: slice | None, columns: dict[str, str | int | None],
                    lists: dict[str, Sequence[str | int] | None], choices: dict[str, Any]) -> dict[str, Any]:
    """What says itself what is in it, as Session.read has it; the last as of csv_source."""
    scheme = isinstance(location, str) and location.startswith(("collider:", "images:", "sem:"))
    source: dict[str, Any] = {"location": location} if scheme else _file("location", location, format or "auto")
    _choose(source, columns, lists, choices)
    if labels is not None:
        source["labels"] = _file("labels", labels, "idx")["location"]
    if key is not None:
        source["key"] = key
    if n_features is not None:
        source["n_features"] = operator.index(n_features)
    if zero_based:
        source["zero_based"] = True
    source.update(_raw_layout(**raw))
    return {**source, **row_numbers(rows)}


def _raw_layout(raw_type: Any, raw_columns: int | None, skip_bytes: int) -> dict[str, Any]:
    """What says how numbers lie in a file that has no header, as far as it is chosen."""
    layout: dict[str, Any] = {}
    if raw_type is not None:
        try:
            kind = np.dtype(raw_type)
        except TypeError:
            raise ValueError(f"raw_type is {raw_type!r}, allowed are types of NumPy, such as 'float32' and '>f8'") from None
        layout["raw_type"] = kind.name
        if kind.newbyteorder("<") != kind:
            layout["big_endian"] = True
    if raw_columns is not None:
        layout["raw_columns"] = whole("raw_columns", raw_columns, 1, 10_000_000)
    if skip_bytes != 0:
        layout["skip_bytes"] = whole("skip_bytes", skip_bytes, 0, 2**63 - 1)
    return layout


def images_location(path: str | os.PathLike[str], *, model: Any, preprocess: Any, cache: Any, **choices: Any) -> str:
    """"images:..." of what Session.read_images has."""
    values = {name: value for name, value in choices.items() if value is not None}
    if model is not None:
        values["model"] = absolute("model", model)
    if preprocess is not None:
        is_name = isinstance(preprocess, str) and preprocess in _core.preprocessing_names()
        values["preprocess"] = preprocess if is_name else absolute("preprocess", preprocess)
    if cache is not True:
        values["cache"] = "no" if cache is False else absolute("cache", cache)
    location = absolute("path", path)
    for name, value in {"path": location, **values}.items():
        if "?" in str(value) and name == "path" or "&" in str(value) and name != "path":
            raise ValueError(f"{name} is {value!r}, allowed are names without {'?' if name == 'path' else '&'}")
    query = "&".join(f"{name}={value}" for name, value in values.items())
    return f"images:{location}?{query}" if query else f"images:{location}"


def read_as(file: dict[str, Any]) -> dict[str, str]:
    """What a job found columns of a file to be that the caller had not said, as Table.read_as has it."""
    reasons = {"index": "left out, an index without a name", "frame": "left out, the data frame's index",
               "group": "left out, a group of arrays: key reads it instead",
               "coordinate": "left out, a coordinate: key reads it instead",
               "texts": "left out, too many different texts for categories"}
    found = {column["column"]: ": ".join(filter(None, (column["form"], column["meaning"])))
             for column in file.get("read_as", [])}
    found.update((column["column"], f"whole numbers beyond 2^24, rounded to multiples of up to {column['step']:.0f}")
                 for column in file.get("rounded", []))
    found.update((column, "in the names of folders") for column in file.get("folder_columns", []) if column not in found)
    found.update((column, "categories") for column in file.get("categories", []))
    found.update((column["column"], reasons[column["reason"]]) for column in file.get("left_out", []))
    return found


@dataclass(frozen=True)
class PutArrays:
    """Arrays of this process that are served to executors as long as `origin` lives."""

    description: dict[str, Any]  # for the job that makes a table of them
    origin: Origin
    rounded: dict[str, float]  # as of find_rounded, of what was made float32 here


def put_arrays(X: Any, y: Any, sample_weight: Any, feature_names: Sequence[str] | None) -> PutArrays:
    """As Session.put has them."""
    put = Features(X, feature_names)
    features = put.names
    served = {"values": ServedArray(put.values)}
    n_rows = put.values.shape[0]
    description: dict[str, Any] = {"n_rows": n_rows, "features": features}
    if kinds := put.kinds():
        description["kinds"] = kinds
    classes, label_dtype = None, np.dtype(np.int64)
    if y is not None:
        labels, classes = labels_of(y, n_rows)
        label_dtype = labels.dtype
        served["label"] = ServedArray(labels)
        description["label_name"] = free_name(getattr(y, "name", None), "label", features)
        if classes is not None and classes.dtype.kind == "b":
            description["classes"] = [str(label) for label in classes.tolist()]
        elif classes is not None and len(classes) <= MOST_CLASSES and all(isinstance(label, str) for label in classes.tolist()):
            description["classes"], classes = classes.tolist(), None  # executors know them
    if sample_weight is not None:
        served["weight"] = ServedArray(numbers_of(sample_weight, "sample_weight", 1, n_rows))
        used = [*features, description.get("label_name", "")]
        description["weight_name"] = free_name(getattr(sample_weight, "name", None), "weight", used)
    server = array_server(os.getpid())
    description.update({part: server.serve(array) for part, array in served.items()}, token=server.token)
    return PutArrays(description, Origin(classes, label_dtype, tuple(served.values())), put.rounded)


def _texts(name: str, values: Sequence[str | int]) -> list[str]:
    if isinstance(values, str):
        raise TypeError(f"{name} is {values!r}, allowed is a list")
    return [str(value) for value in values]


def _file(name: str, path: str | os.PathLike[str], format: str) -> dict[str, Any]:
    if isinstance(path, str) and "://" in path and not os.path.exists(path):
        location = path  # of a scheme, or of none that executors know, who say which there are
    else:
        location = absolute(name, path)
        if not any(c in location for c in "*?[") or os.path.exists(location):  # else a pattern, which Podere looks for
            os.stat(location)  # FileNotFoundError, PermissionError
    return {"location": location} if format == "auto" else {"location": location, "format": format}


def row_numbers(rows: Any) -> dict[str, int]:
    if rows is None:
        return {}
    if not isinstance(rows, slice) or rows.step not in (None, 1):
        raise TypeError(f"rows is {rows!r}, allowed is a slice such as slice(0, 1000)")
    numbers = {"first_row": rows.start, "last_row": rows.stop}
    for value in numbers.values():
        if value is not None and (not isinstance(value, Integral) or value < 0):
            raise ValueError(f"rows is {rows!r}, allowed are whole numbers from 0")
    return {name: int(value) for name, value in numbers.items() if value is not None}
