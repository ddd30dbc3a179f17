"""From what users hand over (NumPy, pandas, SciPy) to columns of a table, in one copy."""
from __future__ import annotations

import contextlib
import itertools
import warnings
from collections.abc import Iterator, Sequence
from numbers import Real
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length

from . import _core
from ._frames import as_array, as_rows, days_of, is_date, is_frame
from ._parameters import place_of
from ._sklearn import check_array, remember_or_check_features
from ._table import Table

#: Texts of the categories of a feature, sorted; None where its values are their codes.
Categories = dict[int, "list[str] | None"]
_MOST_FOUND_CATEGORIES = 1000  # of a feature, as io::kMostFoundCategories


def check_features(estimator: Any, X: Any, *, reset: bool) -> Any:
    """X [n_rows x n_features] as a DataFrame, an array of numbers or a sparse matrix by columns.

    With `reset` its width and names are remembered in the estimator, else compared with them.
    """
    if isinstance(X, Table):
        raise TypeError(f"X is the table {X.name} of a session, allowed here are arrays, DataFrames and sparse matrices: "
                        "X.to_pandas() makes a DataFrame, session.fit(model, X) trains on the executors")
    X = as_rows(X)
    if is_frame(X):
        X = X if reset else _in_order(estimator, X)
        remember_or_check_features(estimator, X, reset=reset)
        for count, what in zip(X.shape, ("sample", "feature"), strict=True):
            if count == 0:
                raise ValueError(f"Found array with 0 {what}(s) (shape={X.shape}) while a minimum of 1 is required.")
        return X
    checked = check_array(X, accept_sparse="csc", allow_infinite=True, estimator=estimator, input_name="X")
    remember_or_check_features(estimator, X if hasattr(X, "shape") else checked, reset=reset)
    return checked


def _in_order(estimator: Any, X: Any) -> Any:
    """The columns of a DataFrame that the model has, by name, in its order; X as it is where there are no names."""
    names = list(getattr(estimator, "feature_names_in_", []))
    columns = list(X.columns)
    if names == columns or not names or not all(isinstance(name, str) for name in columns):
        return X
    missing = [name for name in names if name not in columns]
    if missing:
        some = ", ".join(map(repr, missing[:5])) + (", ..." if len(missing) > 5 else "")
        raise ValueError("The feature names should match those that were passed during fit, in any order: X lacks "
                         f"{len(missing)}, {some}")
    check_different([name for name in columns if name in names])
    return X[names]


def check_weight(sample_weight: Any, X: Any) -> NDArray[Any] | None:
    """Weights [n_rows] as float64; negative ones are allowed."""
    if sample_weight is None:
        return None
    if isinstance(sample_weight, Real):
        return np.full(X.shape[0], float(sample_weight))
    weights: NDArray[np.float64] = check_array(as_array(sample_weight), ensure_2d=False, dtype=np.float64,
                                               input_name="sample_weight")
    if weights.ndim != 1:
        raise ValueError(f"sample_weight has {weights.ndim} dimensions, allowed is one: a weight for each row")
    check_consistent_length(X, weights)
    if not weights.any():
        raise ValueError("sample_weight is zero for every row, allowed are weights that sum to more than zero")
    return weights


def feature_names(estimator: Any, base: Any = None) -> list[str]:
    """The names that the model gives the features: those of the columns, or else of `base`, the model of
    a warm start, or f0, f1, ..."""
    if hasattr(estimator, "feature_names_in_"):
        names = [str(name) for name in estimator.feature_names_in_]
        check_different(names)
        return names
    if base is not None and len(base.features) == estimator.n_features_in_:
        return list(base.features)
    return [f"f{i}" for i in range(estimator.n_features_in_)]


def free_name(name: Any, default: str, used: Sequence[str]) -> str:
    """What a column is called: its own name or the default, with underscores behind it while others have that."""
    free: str = name if isinstance(name, str) and name else default
    while free in used:
        free += "_"
    return free


def check_different(names: Sequence[str]) -> None:
    """Of the columns of X."""
    if len(set(names)) < len(names):
        twice = next(name for i, name in enumerate(names) if name in names[:i])
        raise ValueError(f"X has two columns named {twice!r}, allowed are different names")


@contextlib.contextmanager
def _comparing() -> Iterator[None]:
    """Explain what it means that labels do not compare."""
    try:
        yield
    except TypeError as error:
        raise ValueError(f"y has labels that do not compare with one another ({error}), allowed are all numbers or all "
                         "texts") from None


def check_labels(labels: NDArray[Any]) -> None:
    """Of classification."""
    with _comparing():
        check_classification_targets(labels)


def classes_of(labels: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """The different labels, rising, and the place among them of each."""
    with _comparing():
        return np.unique(labels, return_inverse=True)


def are_among(labels: NDArray[Any], classes: NDArray[Any]) -> NDArray[Any]:
    """Whether each of some labels is one of the classes. A text is no number."""
    of_numbers = [values.dtype.kind in "biuf" for values in (labels, classes)]
    if of_numbers[0] != of_numbers[1]:  # which NumPy compares with a warning
        labels, classes = labels.astype(object), classes.astype(object)
    return np.isin(labels, classes)


# Categories -----------------------------------------------------------------------------------------------------------

def find_categories(X: Any, names: Sequence[str], chosen: Any) -> Categories:
    """The features of categories: those `chosen` by name, position or mask, and columns of pandas' category dtype;
    "auto": those, and columns of texts of which few differ."""
    is_auto = isinstance(chosen, str) and chosen == "auto"
    places = set() if chosen is None or is_auto else find_places(chosen, names)
    if not is_frame(X):
        return dict.fromkeys(sorted(places))
    columns = {place: X.iloc[:, place] for place in range(X.shape[1])}
    places |= {place for place, column in columns.items()
               if _is_category(column) or (is_auto and _is_of_texts(column) and _are_few_texts(column, names[place]))}
    return {place: None if _is_number(columns[place]) else _texts(columns[place], names[place])
            for place in sorted(places)}


def find_places(chosen: Any, names: Sequence[str]) -> set[int]:
    """Where the features stand that are chosen by name, position or mask."""
    if isinstance(chosen, str) or not hasattr(chosen, "__iter__"):
        raise TypeError(f"categorical_features is {chosen!r}, allowed is a list of names or positions, a mask, or 'auto'")
    chosen = list(chosen)
    if chosen and all(isinstance(value, (bool, np.bool_)) for value in chosen):
        if len(chosen) != len(names):
            raise ValueError(f"categorical_features is a mask of {len(chosen)}, and X has {len(names)} features")
        return {place for place, value in enumerate(chosen) if value}
    return {place_of(value, names, "categorical_features") for value in chosen}


def _is_category(column: Any) -> bool:
    return getattr(column.dtype, "name", "") == "category"


def _is_of_texts(column: Any) -> bool:
    """Whether all values that are there are texts, one at least."""
    if getattr(column.dtype, "kind", "O") in "biufcmM":
        return False
    values = column.dropna()
    return len(values) > 0 and all(isinstance(value, str) for value in values)


def _are_few_texts(column: Any, name: str) -> bool:
    """As --categorical auto has it: else they are refused, since fit leaves no column out."""
    n_different, n = column.nunique(), column.count()
    if n_different <= _MOST_FOUND_CATEGORIES and 2 * n_different <= n:
        return True
    raise ValueError(f"column {name!r} of X has {n_different} different texts in {n} rows, too many for "
                     f"categorical_features='auto': leave it out by X.drop(columns={name!r}), or name what to take as "
                     "categories")


def _is_number(column: Any) -> bool:
    return getattr(column.dtype, "kind", "O") in "biuf" and not _is_category(column)


def _text_of(category: Any) -> str:
    """3 and 3.0 are the same category: pandas makes floats of whole numbers where some are missing."""
    is_number = isinstance(category, Real) and not isinstance(category, (bool, np.bool_))
    return str(int(category)) if is_number and float(category).is_integer() else str(category)


def _texts(column: Any, name: str) -> list[str]:
    """The categories that occur, as sorted texts."""
    column = column if _is_category(column) else column.astype("category")
    codes = column.cat.codes.to_numpy()
    texts = sorted(_text_of(column.cat.categories[code]) for code in np.unique(codes[codes >= 0]))
    for text, following in itertools.pairwise(texts):
        if text == following:
            raise ValueError(f"column {name!r} of X has two categories that read {text!r}, allowed are different texts")
    return texts


def _codes(column: Any, texts: Sequence[str]) -> NDArray[Any]:
    """The place of each value's text among `texts`; NaN for what is missing or was not there in training."""
    column = column if _is_category(column) else column.astype("category")
    place = {text: i for i, text in enumerate(texts)}
    codes = [place.get(_text_of(category), np.nan) for category in column.cat.categories]
    places: NDArray[np.intp] = column.cat.codes.to_numpy()
    return np.array([*codes, np.nan], np.float32)[places]  # code -1, missing, takes the last


# Tables ---------------------------------------------------------------------------------------------------------------

def make_rows(X: Any, names: Sequence[str], categories: Categories, n_threads: int, label: str | None = None,
              weight: str | None = None, dates: set[int] | None = None) -> _core.Rows:
    """A table of what check_features returned; `dates` are the features of dates of the model that is to read it."""
    found = find_dates(X, names, categories)
    if dates is not None and is_frame(X):
        for place in sorted(found ^ dates):
            here, there = ("dates", "other numbers") if place in found else ("no dates", "dates")
            raise ValueError(f"column {names[place]!r} of X holds {here}, it had {there} in training: allowed is the same")
    rows = _core.Rows(X.shape[0], names, categories, label, weight, found if dates is None else dates)
    if is_frame(X):
        _set_frame(rows, X, names, categories, n_threads)
        return rows
    for place, texts in categories.items():
        if texts is not None:
            raise ValueError(f"feature {names[place]!r} has categories of texts; give X as a DataFrame")
    if scipy.sparse.issparse(X):
        values = X.data if X.data.dtype in (np.float32, np.float64) else X.data.astype(np.float64)
        rows.set_sparse_features(X.indptr, X.indices, values, n_threads)
    else:
        rows.set_features(_native(X), 0, n_threads)
    return rows


def find_dates(X: Any, names: Sequence[str], categories: Categories) -> set[int]:
    """The features of dates, and of periods of time, in a DataFrame."""
    if not is_frame(X):
        return set()
    return {place for place in range(X.shape[1]) if place not in categories and is_date(X.iloc[:, place])}


def warn_of_dates(X: Any, names: Sequence[str], categories: Categories, callers: int = 1) -> None:
    """What is made of them. `callers` are the functions of the package between here and the user's program."""
    places = sorted(find_dates(X, names, categories))
    periods = [names[place] for place in places if X.dtypes.iloc[place].kind == "m"]
    dates = [names[place] for place in places if names[place] not in periods]
    for found, meaning in ((dates, "dates: days since 1970-01-01"), (periods, "periods of time: days")):
        if found:
            warnings.warn(f"column{'s' if len(found) > 1 else ''} {', '.join(map(repr, found))} of X "
                          f"hold{'' if len(found) > 1 else 's'} {meaning}", UserWarning, stacklevel=2 + callers)


# Whole numbers that float32 does not hold ------------------------------------------------------------------------------

_FIRST_ROUNDED = 2.0**24


def find_rounded(X: Any, names: Sequence[str], categories: Categories) -> dict[str, float]:
    """Features with whole numbers that float32 does not hold: how far float32 numbers lie apart at the largest."""
    if is_frame(X):
        columns = ((names[place], X.iloc[:, place]) for place in range(X.shape[1]) if place not in categories)
        steps = {name: _rounded_step(numbers_of_column(column, name)) for name, column in columns if _is_number(column)}
    elif scipy.sparse.issparse(X):
        large = np.unique(X.tocoo().col[np.abs(X.tocoo().data) >= _FIRST_ROUNDED])
        steps = {names[place]: _rounded_step(X[:, [place]].tocoo().data) for place in large.tolist()}
    else:
        large = np.flatnonzero(_largest(X) >= _FIRST_ROUNDED) if _may_be_rounded(X) else np.array([], np.intp)
        steps = {names[place]: _rounded_step(X[:, place]) for place in large.tolist()}
    return {name: step for name, step in steps.items() if step > 0}


def warn_of_rounded(X: Any, names: Sequence[str], categories: Categories, callers: int = 1) -> None:
    """As warn_of_dates."""
    for name, step in find_rounded(X, names, categories).items():
        warnings.warn(f"feature {name!r} of X holds whole numbers beyond 2^24, which float32 rounds, here to multiples of "
                      f"up to {step:.0f}: some that differ become equal", UserWarning, stacklevel=2 + callers)


def _may_be_rounded(values: NDArray[Any]) -> bool:
    return values.size > 0 and values.dtype.kind in "iuf" and values.dtype.itemsize >= 4 and values.dtype != np.float32


def _largest(values: NDArray[Any]) -> NDArray[np.float64]:
    """The largest absolute value by column, or of a column; missing ones do not count."""
    with np.errstate(invalid="ignore"):
        largest: NDArray[np.float64] = np.fmax(-np.fmin.reduce(values, axis=0).astype(np.float64),
                                               np.fmax.reduce(values, axis=0).astype(np.float64))
    return largest


def _rounded_step(values: NDArray[Any]) -> float:
    if not _may_be_rounded(values) or not _largest(values) >= _FIRST_ROUNDED:
        return 0.0
    exact = values.astype(np.longdouble)  # holds 64 bits
    exact = exact[np.abs(exact) >= _FIRST_ROUNDED]
    with np.errstate(over="ignore"):  # infinity, which is refused
        nearest = exact.astype(np.float32)
    rounded = nearest[(exact == np.floor(exact)) & (exact != nearest) & np.isfinite(nearest)]
    return float(np.spacing(np.abs(rounded).max())) if rounded.size else 0.0


def _set_frame(rows: _core.Rows, X: Any, names: Sequence[str], categories: Categories, n_threads: int) -> None:
    if not categories and _is_one_array(X):
        rows.set_features(X.to_numpy(), 0, n_threads)
        return
    for place in range(X.shape[1]):
        column = X.iloc[:, place]
        texts = categories.get(place)
        values = numbers_of_column(column, names[place], texts)
        rows.set_features(values, place, n_threads)


def _is_one_array(X: Any) -> bool:
    """Whether a DataFrame holds its numbers row by row, so that pandas does not copy them."""
    first = X.iloc[:, 0]
    if not _is_plain(first.dtype) or any(dtype != first.dtype for dtype in X.dtypes):
        return False
    return bool(first.to_numpy().strides[0] != first.dtype.itemsize or X.shape[1] == 1)


def _is_plain(dtype: Any) -> bool:
    return isinstance(dtype, np.dtype) and dtype.kind in "biuf"


def numbers_of_column(column: Any, name: str, texts: Sequence[str] | None = None) -> NDArray[Any]:
    """The numbers of a column, or the codes of its categories; pandas' NA is NaN."""
    if texts is not None:
        return _codes(column, texts)
    if is_date(column):
        return days_of(column)
    if _is_plain(column.dtype):
        return _native(column.to_numpy())
    if getattr(column.dtype, "kind", "O") == "O" and not _is_category(column) and _holds_numbers_as_texts(column):
        raise ValueError(f"column {name!r} of X has numbers as texts, allowed are numbers: pandas.to_numeric makes them, "
                         "and astype('category') makes categories")
    try:
        if getattr(column.dtype, "kind", "O") in "biufO" and not _is_category(column):
            numbers: NDArray[np.float64] = column.to_numpy(dtype=np.float64, na_value=np.nan)
            return numbers
    except (TypeError, ValueError):
        pass
    raise ValueError(f"column {name!r} of X is of {column.dtype}, allowed are numbers; boosted trees take texts as "
                     "categories where the column's dtype is category or categorical_features names it or is 'auto'")


def _holds_numbers_as_texts(column: Any) -> bool:
    texts = [value for value in column if isinstance(value, str)]
    try:
        return bool(np.array(texts, object).astype(np.float64).size)
    except ValueError:
        return False


def _native(values: NDArray[Any]) -> NDArray[Any]:
    """As it is, if Podere reads such numbers."""
    if values.dtype.isnative and not (values.dtype.kind == "f" and values.dtype.itemsize not in (4, 8)):
        return values
    return values.astype(np.float64)
