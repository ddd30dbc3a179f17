"""Tables that lie in the executors' memory."""
from __future__ import annotations

import html
import math
import os
import weakref
from typing import TYPE_CHECKING, Any, Sequence

import numpy as np

from ._parameters import absolute, whole

if TYPE_CHECKING:
    from ._session import Session

_MOST_CLASSES = 1000
_MOST_EXACT = 1 << 24  # whole numbers below are exact as float32


class Table:
    """Rows that a session keeps, spread over its executors; nothing of them is in this process.

    Tables come from a session (`read_csv`, `read`, `put`) and from other tables. A table without a name of its own is
    dropped when nobody has it any more; one that was given a name stays until `drop()` or the end of the session.

    Attributes
    ----------
    name : str
        What the session calls it: `podere train gbt table:NAME --session ...` finds it.
    shape : tuple of (n_rows, n_features)
    n_rows : int
    features : list of str
    label, weight : str or None
        What these columns are called, if there are such.
    categorical : list of str
        Features of categories.
    first_line : "names", "row" or None
        What the first line of the file that it was read from was found to be; None: nobody had to find out.
    memory_bytes : int
        Of all executors together.
    rows
        Some of the rows: `table.rows[1000:2000]` is a Table.
    """

    def __init__(self, session: Session, facts: dict[str, Any], is_dropped: bool,
                 scaling: dict[str, Any] | None = None, classes: np.ndarray | None = None,
                 label_dtype: Any = np.int64, served: tuple[Any, ...] = ()) -> None:
        self._session = session
        self._facts = facts
        self._scaling = scaling
        self._classes = classes  # whose places the label column holds, where it does
        self._label_dtype = label_dtype  # of labels that are numbers, as they were put
        self._served = served  # arrays of this process that it is made of, should it have to be made again
        self._found_classes: np.ndarray | None = None
        self._summary: list[dict[str, Any]] | None = None
        self._finalizer = weakref.finalize(self, session._connection.drop_later, facts["name"])
        self._finalizer.atexit = False
        if not is_dropped:
            self._finalizer.detach()

    @property
    def session(self) -> Session:
        """Whose executors keep it."""
        return self._session

    @property
    def name(self) -> str:
        return self._facts["name"]

    @property
    def n_rows(self) -> int:
        return self._facts["rows"]

    @property
    def features(self) -> list[str]:
        return list(self._facts["features"])

    @property
    def shape(self) -> tuple[int, int]:
        return self.n_rows, len(self._facts["features"])

    @property
    def label(self) -> str | None:
        return self._facts["label"]

    @property
    def weight(self) -> str | None:
        return self._facts["weight"]

    @property
    def categorical(self) -> list[str]:
        return list(self._facts["categorical"])

    @property
    def first_line(self) -> str | None:
        return self._facts.get("first_line")

    @property
    def memory_bytes(self) -> int:
        return self._facts["memory_bytes"]

    def __len__(self) -> int:
        return self.n_rows

    def __repr__(self) -> str:
        parts = [f"{self.n_rows:,} rows x {self.shape[1]} features"]
        parts += [f"{what} {name!r}" for what, name in (("label", self.label), ("weight", self.weight)) if name]
        parts += self._found_in_file()
        return f"<podere.Table {self.name}: {', '.join(parts)}>"

    def _repr_html_(self) -> str:
        shown = self.features[:12]
        names = ", ".join(map(html.escape, shown)) + (", …" if len(shown) < self.shape[1] else "")
        return (f"<b>Table {html.escape(self.name)}</b>: {self.n_rows:,} rows × {self.shape[1]} features"
                f"{', label <i>' + html.escape(self.label) + '</i>' if self.label else ''}"
                f"{', weight <i>' + html.escape(self.weight) + '</i>' if self.weight else ''}"
                f", {self.memory_bytes / 2**20:,.1f} MiB{''.join(', ' + found for found in self._found_in_file())}<br><small>{names}</small>")

    def _found_in_file(self) -> list[str]:
        """What was decided about the file that it was read from."""
        return [f"first line read as {'names' if self.first_line == 'names' else 'a row'}"] if self.first_line else []

    # What it holds

    def describe(self) -> Any:
        """Each column in a few numbers.

        Returns
        -------
        DataFrame of shape (n_columns, 6), or a dict of dicts where there is no pandas
            By column (features, label, weight): "minimum", "mean" and "maximum" of finite values, how many are
            "missing" and "infinite", and a "histogram" of 16 bins of equal width from minimum to maximum.
        """
        columns = {column["name"]: {key: math.nan if value is None else value
                                    for key, value in column.items() if key != "name"} for column in self._describe()}
        try:
            import pandas
        except ImportError:
            return columns
        return pandas.DataFrame.from_dict(columns, orient="index")

    def to_pandas(self) -> Any:
        """All rows as a DataFrame of this process, with label and weight: of shape (n_rows, n_columns).

        Meant for what fits here; `select` and `rows` make tables smaller first.
        """
        try:
            import pandas
        except ImportError:
            raise ImportError("to_pandas needs pandas, which is not installed") from None
        with self._session._shared_file() as path:
            self._job("save", output=path)
            return pandas.read_csv(path)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write all rows to a file of comma-separated values, with a line of names."""
        path = absolute("path", path)
        partial = f"{path}.part-{os.getpid()}"
        with open(partial, "xb"):
            pass
        try:
            self._job("save", output=partial)
            os.replace(partial, path)
        except BaseException:
            os.unlink(partial)
            raise

    # Other tables

    def split(self, fraction: float = 0.9, seed: int = 0) -> tuple[Table, Table]:
        """Two tables: each row goes to the first with probability `fraction`, by a hash of its number and the seed.

        The same rows on any number of executors.
        """
        names = self._session._new_name(), self._session._new_name()
        result = self._job("split", fraction=float(fraction), seed=whole("seed", seed, 0, 2**64 - 1), first=names[0],
                           second=names[1])
        first, second = (self._made(facts, True, self._scaling) for facts in result["tables"])
        return first, second

    def select(self, features: Sequence[str], *, name: str | None = None) -> Table:
        """These features alone, in this order, with label and weight."""
        if isinstance(features, str):
            raise TypeError(f"features is {features!r}, allowed is a list of names")
        return self._transform(name, select=[str(feature) for feature in features])

    def where(self, expression: str, *, name: str | None = None) -> Table:
        """The rows for which an expression holds, such as "m_bb > 95 && m_bb < 140 && !missing(jet3_pt)".

        Features, label and weight are variables; comparisons with missing values do not hold.
        """
        if not isinstance(expression, str):
            raise TypeError(f"expression is {expression!r}, allowed is a text such as 'm_bb > 95'")
        return self._transform(name, where=expression)

    def standardise(self, like: Table | None = None, *, name: str | None = None) -> Table:
        """Each feature less its mean, divided by its standard deviation; or by those of `like`, a standardised table.

        >>> train = train.standardise()             # doctest: +SKIP
        >>> test = test.standardise(like=train)     # doctest: +SKIP
        """
        if like is None:
            return self._transform(name, standardise=True)
        if not isinstance(like, Table) or like._scaling is None:
            raise ValueError("like is not a table that standardise() made, or that was made from one")
        return self._transform(name, standardise=True, scaling=like._scaling)

    @property
    def rows(self) -> _Rows:
        return _Rows(self)

    def drop(self) -> None:
        """Give its memory back now."""
        self._session._run({"kind": "drop", "name": self.name})
        self._finalizer.detach()
        self._session._put.pop(self.name, None)

    def _transform(self, name: str | None, **choices: Any) -> Table:
        result = self._job("transform", name=self._session._new_name(name), **choices)
        facts, = result["tables"]
        if name is not None and self._served:
            self._session._put[facts["name"]] = self._served
        scaling = result.get("scaling") or (None if "select" in choices else self._scaling)
        return self._made(facts, name is None, scaling)

    def _made(self, facts: dict[str, Any], is_dropped: bool, scaling: dict[str, Any] | None) -> Table:
        """A table that was made from this one."""
        return Table(self._session, facts, is_dropped, scaling, self._classes, self._label_dtype, self._served)

    def _spec(self, classes: np.ndarray | None = None) -> dict[str, Any]:
        """What a job says of this table; with labels as places among `classes` [n_classes]."""
        spec: dict[str, Any] = {"location": f"table:{self.name}"}
        if classes is not None:
            values = self._label_values(classes.tolist())
            if values != list(range(len(values))):
                spec["classes"] = values
        return spec

    def _job(self, kind: str, **fields: Any) -> dict[str, Any]:
        return self._session._run({"kind": kind, "table": self._spec(), **fields})

    def _describe(self) -> list[dict[str, Any]]:
        if self._summary is None:
            self._summary = self._job("describe")["columns"]
        return self._summary

    def _find_classes(self) -> np.ndarray:
        """The labels of a table for classification [n_classes], rising: those it was put with, or those that occur."""
        if self._classes is not None:
            return self._classes
        if self._found_classes is not None:
            return self._found_classes
        if self.label is None:
            raise ValueError(f"the table {self.name} has no label: say which column it is when the table is made")
        values = self._job("describe", label_values=_MOST_CLASSES)["label_values"]
        if values is None:
            raise ValueError(f"the label {self.label!r} has more than {_MOST_CLASSES} different values, or missing ones: "
                             "for numbers there are GBTRegressor and NNRegressor")
        if not all(value.is_integer() for value in map(float, values)):
            fraction = next(value for value in values if not float(value).is_integer())
            raise ValueError(f"the label {self.label!r} has values such as {fraction:g}: allowed for classes are whole "
                             "numbers; for others there are GBTRegressor and NNRegressor")
        if max(map(abs, values)) >= _MOST_EXACT:
            raise ValueError(f"the label {self.label!r} has values beyond 2^24, which tables hold rounded: put texts as "
                             "labels")
        if len(values) < 2:
            raise ValueError(f"the label {self.label!r} is {values[0]:g} in all rows, allowed are at least two classes")
        self._found_classes = np.array(values).astype(self._label_dtype)
        return self._found_classes

    def _label_values(self, classes: Sequence[Any]) -> list[float]:
        """What stands in the label column for each of some classes; numbers that do not occur for those it lacks."""
        if self._classes is not None:
            places = {label: place for place, label in enumerate(self._classes.tolist())}
            return [places.get(label, -1 - k) for k, label in enumerate(classes)]
        if not all(isinstance(label, (int, float)) for label in classes):  # the table holds their places
            return list(range(len(classes)))
        return [float(label) for label in classes]


class _Rows:
    """table.rows[a:b]"""

    def __init__(self, table: Table) -> None:
        self._table = table

    def __getitem__(self, key: slice) -> Table:
        if not isinstance(key, slice):
            raise TypeError(f"rows[{key!r}]: allowed is a slice, such as rows[1000:2000]")
        first, last, step = key.indices(self._table.n_rows)
        if step != 1:
            raise ValueError(f"rows with step {step}, allowed is 1")
        return self._table._transform(None, first_row=first, last_row=max(first, last))
