"""Tables of a session as users see them."""
from __future__ import annotations

import html
import math
import os
from collections.abc import Sequence
from typing import Any

from ._jobs import JobRunner
from ._parameters import absolute, whole
from ._stored_table import StoredTable


class Table:
    """Rows that a session keeps, spread over its executors; nothing of them is in this process.

    Tables come from a session (`read_csv`, `read`, `put`) and from other tables. A table without a name of its own is
    dropped when the last reference to it goes; one that was given a name stays until `drop()` or the end of the session.

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
        What the first line of the file that it was read from was found to be; None: it was given.
    read_as : dict of str to str
        What columns of the file were taken for that are no plain numbers, or that are left out, where you had not said
        it: {"when": "dates: days since 1970-01-01"}.
    memory_bytes : int
        Of all executors together.
    rows
        Some of the rows: `table.rows[1000:2000]` is a Table.
    """

    # The session is kept alive by its tables. It stands above them, so its class is not named here.
    def __init__(self, session: Any, stored: StoredTable) -> None:
        self._session = session
        self._stored = stored

    @property
    def session(self) -> Any:
        """Whose executors keep it."""
        return self._session

    @property
    def name(self) -> str:
        return self._stored.facts["name"]

    @property
    def n_rows(self) -> int:
        return self._stored.facts["rows"]

    @property
    def features(self) -> list[str]:
        return list(self._stored.facts["features"])

    @property
    def shape(self) -> tuple[int, int]:
        return self.n_rows, len(self._stored.facts["features"])

    @property
    def label(self) -> str | None:
        return self._stored.facts["label"]

    @property
    def weight(self) -> str | None:
        return self._stored.facts["weight"]

    @property
    def categorical(self) -> list[str]:
        return list(self._stored.facts["categorical"])

    @property
    def first_line(self) -> str | None:
        return self._stored.facts.get("first_line")

    @property
    def read_as(self) -> dict[str, str]:
        return dict(self._stored.facts.get("read_as", {}))

    @property
    def memory_bytes(self) -> int:
        return self._stored.facts["memory_bytes"]

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
        first = [f"first line read as {'names' if self.first_line == 'names' else 'a row'}"] if self.first_line else []
        return first + [f"{column!r}: {read_as}" for column, read_as in self.read_as.items()]

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
                                    for key, value in column.items() if key != "name"} for column in self._stored.columns()}
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
        with self._stored.jobs.shared_file() as path:
            self._stored.run("save", output=path)
            return pandas.read_csv(path)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write all rows to a file of comma-separated values, with a line of names."""
        path = absolute("path", path)
        partial = f"{path}.part-{os.getpid()}"
        with open(partial, "xb"):
            pass
        try:
            self._stored.run("save", output=partial)
            os.replace(partial, path)
        except BaseException:
            os.unlink(partial)
            raise

    # Other tables

    def split(self, fraction: float = 0.9, seed: int = 0) -> tuple[Table, Table]:
        """Two tables: each row goes to the first with probability `fraction`, by a hash of its number and the seed.

        The same rows on any number of executors.
        """
        jobs, scaling = self._stored.jobs, self._stored.scaling
        result = self._stored.run("split", fraction=float(fraction), seed=whole("seed", seed, 0, 2**64 - 1),
                                  first=jobs.table_name(), second=jobs.table_name())
        first, second = (self._stored.derived(facts, scaling, is_temporary=True) for facts in result["tables"])
        return Table(self._session, first), Table(self._session, second)

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

    def standardize(self, like: Table | None = None, *, name: str | None = None) -> Table:
        """Each feature less its mean, divided by its standard deviation; or by those of `like`, a standardized table.

        >>> train = train.standardize()             # doctest: +SKIP
        >>> test = test.standardize(like=train)     # doctest: +SKIP
        """
        if like is None:
            return self._transform(name, standardise=True)
        if not isinstance(like, Table) or like._stored.scaling is None:
            raise ValueError("like is not a table that standardize() made, or that was made from one")
        return self._transform(name, standardise=True, scaling=like._stored.scaling)

    def standardise(self, like: Table | None = None, *, name: str | None = None) -> Table:
        """Deprecated: the old spelling of `standardize`."""
        return self.standardize(like, name=name)

    @property
    def rows(self) -> _Rows:
        return _Rows(self)

    def drop(self) -> None:
        """Give its memory back now."""
        self._stored.drop()

    def _transform(self, name: str | None, **choices: Any) -> Table:
        return Table(self._session, self._stored.transform(name, **choices))


def stored_table(table: Table) -> StoredTable:
    """What is behind a table, for the rest of the package."""
    return table._stored


def table_of(jobs: JobRunner, table: Any, name: str = "table") -> StoredTable:
    """As stored_table, of a parameter called `name` that is to be a table of one session."""
    if not isinstance(table, Table):
        raise TypeError(f"{name} is {type(table).__name__}, allowed is a Table, as read_csv() and put(X, y) make")
    kept_by = table._stored.jobs.session_name
    if kept_by != jobs.session_name:
        raise ValueError(f"{name} {table.name} is kept by the session {kept_by}, this is {jobs.session_name}")
    return table._stored


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
