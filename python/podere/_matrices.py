"""Jobs on the matrix that a table or a file is: what they take, what they give, covariances and QR decompositions."""
from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _parameters
from ._jobs import JobRunner
from ._reading import location_source
from ._table import Table, table_of

_Array = NDArray[np.float64]
#: Makes a table of an array with many rows in an archive, given the names of the others in it.
Keep = Callable[[str, list[str]], Table]


@dataclass(frozen=True, eq=False)
class Covariance:
    """Covariances or correlations of columns, as `Session.covariance` finds them.

    Attributes
    ----------
    matrix : ndarray of shape (n_columns, n_columns)
        As `numpy.cov(rowvar=False)` or, with `correlation=True`, `numpy.corrcoef(rowvar=False)` have it. Correlations of
        constant columns are NaN.
    mean : ndarray of shape (n_columns,)
    deviation : ndarray of shape (n_columns,)
        Standard deviations, of n_rows - 1.
    strongest : list of (str, str, float)
        The ten pairs of columns with the largest correlations in magnitude, the largest first.
    constant : list of str
        Columns that do not vary.
    n_rows : int
    values : str
        The type of the values that were read: "float64"; "float32" of tables and of text.
    imputed : dict of str to int
        How many missing values of which columns became the mean of their column.
    """

    matrix: _Array
    mean: _Array
    deviation: _Array
    strongest: list[tuple[str, str, float]]
    constant: list[str]
    n_rows: int
    values: str
    imputed: dict[str, int]

    def __repr__(self) -> str:
        return f"<podere.Covariance of {len(self.mean):,} columns: {self.n_rows:,} rows>"


@dataclass(frozen=True, eq=False)
class QR:
    """Orthonormal columns and a triangle, as `Session.qr` finds them: the matrix is `Q @ R`.

    Attributes
    ----------
    Q : ndarray or Table of shape (n_rows, n_columns), or None
        Orthonormal columns. None with `q=False`.
    R : ndarray of shape (n_columns, n_columns)
        Upper triangular, with a positive diagonal.
    orthogonality : float or None
        The largest entry of `Q.T @ Q - 1`, in magnitude; None with `q=False`.
    residual : float or None
        The largest `A - Q @ R` in a column, in the largest value of that column; None with `q=False`.
    n_rows : int
    n_passes : int
        Over the rows.
    n_shifted : int
        Of these, passes with a shift: columns are nearly dependent.
    values : str
        The type of the values that were read: "float64"; "float32" of tables and of text.
    imputed : dict of str to int
        How many missing values of which columns became the mean of their column.
    """

    Q: _Array | Table | None
    R: _Array
    orthogonality: float | None
    residual: float | None
    n_rows: int
    n_passes: int
    n_shifted: int
    values: str
    imputed: dict[str, int]

    def __repr__(self) -> str:
        return f"<podere.QR of {self.n_rows:,} rows x {len(self.R):,} columns>"


def matrix_source(jobs: JobRunner, table: Any, alternative: str, *, format: Any, key: Any, rows: Any,
                  raw_type: Any, raw_columns: Any, skip_bytes: Any, **lists: Any) -> dict[str, Any]:
    """Of a job: a Table, or the path of a file, of which the others choose. `alternative` ends what arrays are refused
    with."""
    if isinstance(table, Table):
        of_files = {**lists, "rows": rows, "format": format, "key": key, "raw_type": raw_type, "raw_columns": raw_columns,
                    "skip_bytes": skip_bytes or None}
        if chosen := [name for name, value in of_files.items() if value is not None]:
            raise ValueError(f"{chosen[0]} is given, which is for files: of a table choose by table.select([...]) and "
                             "table.rows[a:b]")
        return table_of(jobs, table).spec()
    if not isinstance(table, (str, os.PathLike)):
        raise TypeError(f"table is {type(table).__name__}, allowed are a Table and the path of a file: of arrays "
                        f"{alternative}")
    return location_source(table, format=format, labels=None, key=key, n_features=None, zero_based=False,
                           raw={"raw_type": raw_type, "raw_columns": raw_columns, "skip_bytes": skip_bytes}, rows=rows,
                           columns={}, lists=lists, choices={})


def impute_field(impute: Any) -> str:
    """Of a job."""
    return "none" if impute is None else _parameters.choice("impute", impute, {"mean": "mean"})


def run_for_arrays(jobs: JobRunner, job: Mapping[str, Any], rows_name: str = "",
                   keep: Keep | None = None) -> tuple[dict[str, Any], dict[str, Any]]:
    """The result of a job, and the arrays that it writes. `keep` makes a table of that called `rows_name`; None: it comes
    into this process, too."""
    with jobs.shared_file() as path:
        result = jobs.run({**job, "output": path})
        with np.load(path) as arrays:
            found: dict[str, Any] = {name: arrays[name] for name in arrays if name != rows_name or keep is None}
        if keep is not None:
            found[rows_name] = keep(path, list(found))
    return result, found


def covariance_on_executors(jobs: JobRunner, source: dict[str, Any], correlation: Any, impute: Any) -> Covariance:
    """Of a table or file."""
    is_correlation = _parameters.flag("correlation", correlation)
    result, found = run_for_arrays(jobs, {"kind": "covariance", "table": source, "correlation": is_correlation,
                                          "impute": impute_field(impute)})
    return Covariance(matrix=found["correlation" if is_correlation else "covariance"], mean=found["mean"],
                      deviation=found["deviation"],
                      strongest=[(*pair["columns"], pair["correlation"]) for pair in result["strongest"]],
                      constant=list(result["constant"]), n_rows=result["rows"], values=result["values"],
                      imputed=dict(result.get("imputed", {})))


def qr_on_executors(jobs: JobRunner, source: dict[str, Any], q: bool, impute: Any, keep: Keep | None) -> QR:
    """Of a table or file; `keep` as of run_for_arrays."""
    job = {"kind": "qr", "table": source, "q": q, "impute": impute_field(impute)}
    result, found = run_for_arrays(jobs, job, "Q", keep)
    return QR(Q=found.get("Q"), R=found["R"], orthogonality=result.get("orthogonality"), residual=result.get("residual"),
              n_rows=result["rows"], n_passes=result["passes"], n_shifted=result["shifted"], values=result["values"],
              imputed=dict(result.get("imputed", {})))
