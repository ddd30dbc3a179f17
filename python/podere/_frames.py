"""Rows of other libraries, as what NumPy, pandas and SciPy have."""
from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def is_frame(X: Any) -> bool:
    """Whether X is a DataFrame of pandas."""
    return all(hasattr(X, name) for name in ("iloc", "columns", "dtypes"))


def as_rows(X: Any) -> Any:
    """Frames of other libraries, and arrays of records, as a DataFrame of pandas; tensors as an array; all else as it
    is."""
    if hasattr(X, "collect"):
        raise TypeError(f"X is a {type(X).__name__}, which has no rows yet, allowed is a DataFrame: X.collect() makes one")
    if hasattr(X, "compute") and hasattr(X, "dask"):
        raise TypeError(f"X is a {type(X).__name__} of Dask, which has no rows yet, allowed is a DataFrame: X.compute() makes "
                        "one, and a session's put_batches(X.to_delayed()) takes its parts one by one")
    if is_frame(X):
        return X
    if isinstance(X, np.ndarray) and X.dtype.names:
        return _pandas(X).DataFrame({name: _field(X, name) for name in X.dtype.names})
    if all(hasattr(X, name) for name in ("columns", "dtypes", "__getitem__")):
        return _columns_to_pandas(X)
    if _is_of(X, "pyarrow") and hasattr(X, "to_pandas"):
        return _arrow_to_pandas(X)
    if hasattr(X, "__arrow_c_stream__"):
        try:
            import pyarrow
        except ImportError:
            if not hasattr(X, "__dataframe__"):
                raise ImportError(f"X is a {_name_of(X)}, which needs pyarrow, which is not installed") from None
        else:
            return _arrow_to_pandas(pyarrow.table(X))
    if hasattr(X, "__dataframe__"):
        _pandas(X)
        from pandas.api.interchange import from_dataframe
        return from_dataframe(X)
    return as_array(X)


def as_array(values: Any) -> Any:
    """A tensor of torch, on any device and with or without gradients, as an array; of a masked array what is masked as
    NaN; all else as it is."""
    if isinstance(values, np.ma.MaskedArray):
        return _without_mask(values)
    if not (_is_of(values, "torch") and hasattr(values, "detach")):
        return values
    tensor = values.detach().cpu()
    tensor = tensor.to_dense() if str(tensor.layout) != "torch.strided" else tensor
    return (tensor.float() if str(tensor.dtype) == "torch.bfloat16" else tensor).numpy()


def _without_mask(values: Any) -> Any:
    if not np.any(values.mask):
        return values.data
    if values.dtype.kind == "f":
        return values.filled(np.nan)
    return values.astype(np.float64).filled(np.nan) if values.dtype.kind in "biu" else values.astype(object).filled(None)


def _is_of(values: Any, library: str) -> bool:
    return type(values).__module__.partition(".")[0] == library


def _name_of(X: Any) -> str:
    return f"{type(X).__module__.partition('.')[0]} {type(X).__name__}"


def _pandas(X: Any) -> Any:
    try:
        import pandas
    except ImportError:
        raise ImportError(f"X is a {_name_of(X)}, which needs pandas, which is not installed; X.to_numpy() works where "
                          "all columns are numbers") from None
    return pandas


def _field(X: NDArray[Any], name: str) -> NDArray[Any]:
    field = X[name]
    if field.ndim != 1:
        raise ValueError(f"column {name!r} of X has the shape {field.shape}, allowed is a number in each row")
    return field if field.dtype.isnative else field.astype(field.dtype.newbyteorder("="))


def _columns_to_pandas(X: Any) -> Any:
    """Of polars, or of another library whose columns have to_numpy."""
    pandas = _pandas(X)
    columns = []
    for name in X.columns:
        kind = str(X[name].dtype)
        if kind.startswith(("List", "Array", "Struct", "Object", "Binary")):
            raise ValueError(f"column {name!r} of X is of {kind}, allowed are numbers, dates and categories: make columns "
                             "of what is in it, or leave it out")
        values = X[name].to_numpy()
        if kind.startswith(("Categorical", "Enum")):
            values = pandas.Categorical(values)
        columns.append(pandas.Series(values, name=name))
    return pandas.concat(columns, axis=1) if columns else pandas.DataFrame()


def _arrow_to_pandas(X: Any) -> Any:
    """Dictionaries of the chunks of a column become one."""
    for field in X.schema:
        if str(field.type).startswith(("list", "large_list", "fixed_size_list", "struct", "map", "binary")):
            raise ValueError(f"column {field.name!r} of X is of {field.type}, allowed are numbers, dates and categories: "
                             "make columns of what is in it, or leave it out")
    _pandas(X)
    return X.to_pandas(date_as_object=False)


# Dates ----------------------------------------------------------------------------------------------------------------

def is_date(column: Any) -> bool:
    """Whether a column of a DataFrame holds dates, with or without a time zone, or periods of time."""
    return getattr(column.dtype, "kind", "") in "mM"


def days_of(column: Any) -> NDArray[np.float64]:
    """Days since the begin of 1970, of dates with a time zone in UTC; or how many days a period is. NaN: missing."""
    if getattr(column.dtype, "tz", None) is not None:
        column = column.dt.tz_convert(None)
    values = column.to_numpy()
    per_day = np.timedelta64(1, "D") // np.timedelta64(1, np.datetime_data(values.dtype)[0])
    days, rest = np.divmod(values.view(np.int64), per_day)  # in the column's own unit, as nanoseconds end in 2262
    found: NDArray[np.float64] = np.where(np.isnat(values), np.nan, days + rest / per_day)
    return found
