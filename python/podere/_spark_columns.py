"""What columns of a DataFrame of Spark mean in a table."""
from __future__ import annotations

import json
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

_MOST_TEXTS = 1 << 20  # of a category
_MOST_FOUND = 1000  # texts of a category that is found, as io::kMostFoundCategories
_MOST_CLASSES = 1000  # as table::kMaxTextClasses
_ALLOWED = "allowed are numbers, booleans, decimals, dates, arrays and vectors of numbers, and texts as categories"


@dataclass
class Part:
    """A column as it travels: one feature, or those of an array."""

    name: str
    column: Any = None
    """The expression that Spark evaluates, if it does."""
    width: int | None = None
    """Elements of its arrays."""
    texts: list[str] | None = None
    """Of its categories or classes, sorted."""
    is_date: bool = False
    is_period: bool = False
    names: list[str] = field(default_factory=list)
    """Of its features."""
    row_bytes: int = 8

    def for_workers(self) -> dict[str, Any]:
        return {"name": self.name, "width": self.width, "texts": self.texts}


@dataclass
class Columns:
    """Those of a table."""

    features: list[Part]
    label: Part | None
    weight: Part | None

    @property
    def parts(self) -> list[Part]:
        """In the order in which they travel."""
        return [*self.features, *(part for part in (self.label, self.weight) if part is not None)]

    @property
    def names(self) -> list[str]:
        return [name for part in self.features for name in part.names]

    def check_names(self) -> None:
        seen: set[str] = set()
        for name in self.names:
            if name in seen:
                raise ValueError(f"two features are called {name!r}, allowed are different names: rename a column")
            seen.add(name)

    def kinds(self) -> dict[str, Any]:
        """What a job says of the features that are not plain numbers."""
        categories, dates, place = [], [], 0
        for part in self.features:
            if part.texts is not None:
                categories.append({"feature": place, "texts": part.texts})
            if part.is_date or part.is_period:
                dates.append(place)
            place += len(part.names)
        return {**({"categories": categories} if categories else {}), **({"dates": dates} if dates else {})}


def choose_columns(df: Any, features: Sequence[str] | None, label: str | None, weight: str | None,
                   categorical: Sequence[str] | str | None) -> Columns:
    """The columns of a table that is sent. Asks Spark for the lengths of arrays and for the texts of categories."""
    if not (hasattr(df, "mapInArrow") and hasattr(df, "schema")):
        raise TypeError(f"df is {type(df).__name__}, allowed is a DataFrame of Spark; Session.put takes frames and arrays "
                        "of this process")
    names = check_columns(df.columns, features, label, weight)
    finds = categorical == "auto"
    if isinstance(categorical, str) and not finds:
        raise TypeError(f"categorical is {categorical!r}, allowed are a list of names and 'auto'")
    chosen = [] if finds or categorical is None else list(categorical)
    _check_there(names, "categorical", chosen)
    parts = [_part(df, name, "auto" if finds else name in chosen) for name in names]
    _find_widths(df, parts)
    columns = Columns(parts, None if label is None else _label(df, label),
                      None if weight is None else _part(df, weight, False))
    if columns.weight is not None and columns.weight.width is not None:
        raise ValueError(f"the weight {weight!r} has arrays, allowed are numbers")
    columns.check_names()
    return columns


def check_columns(there: Sequence[str], features: Sequence[str] | None, label: str | None, weight: str | None) -> list[str]:
    """The names of the features among the columns that are there; all that are chosen are."""
    there = list(there)
    if len(set(there)) < len(there):
        twice = next(name for i, name in enumerate(there) if name in there[:i])
        raise ValueError(f"there are two columns named {twice!r}, allowed are different names")
    for what, name in (("label", label), ("weight", weight)):
        if name is not None:
            _check_there(there, what, [name])
    if isinstance(features, str):
        raise TypeError(f"features is {features!r}, allowed is a list of names")
    names = [name for name in there if name not in (label, weight)] if features is None else list(features)
    _check_there(there, "features", names)
    if not names:
        raise ValueError("there is no column that is a feature, allowed is one at least")
    used: set[str] = set()
    for name in [*names, *(other for other in (label, weight) if other is not None)]:
        if name in used:
            raise ValueError(f"column {name!r} is asked for twice: a column is feature, label or weight, once")
        used.add(name)
    return names


def warn_of_dates(columns: Columns, callers: int) -> None:
    """`callers` as stacklevel has them, of the warning."""
    for found, meaning in (([part.name for part in columns.features if part.is_date], "dates: days since 1970-01-01, in UTC"),
                           ([part.name for part in columns.features if part.is_period], "periods of time: days")):
        if found:
            warnings.warn(f"column{'s' if len(found) > 1 else ''} {', '.join(map(repr, found))} "
                          f"hold{'' if len(found) > 1 else 's'} {meaning}", UserWarning, stacklevel=callers)


def _check_there(there: Sequence[str], what: str, names: Sequence[str]) -> None:
    for name in names:
        if name not in there:
            raise ValueError(f"{what} has {name!r}, which is no column, allowed are {', '.join(map(repr, there))}")


def _quoted(df: Any, name: str) -> Any:
    return df["`" + name.replace("`", "``") + "`"]


def _part(df: Any, name: str, category: bool | str) -> Part:
    from pyspark.ml.functions import vector_to_array
    from pyspark.sql import types

    kind, column = df.schema[name].dataType, _quoted(df, name)
    part = Part(name, column.alias(name), names=[name])
    if isinstance(kind, (types.StringType, types.CharType, types.VarcharType)):
        if not category:
            raise ValueError(f"column {name!r} holds texts, allowed are numbers: name it in categorical, which may be "
                             "'auto', or leave it out")
        part.texts = _texts(df, name, column, found=category == "auto")
        return part
    if category is True:
        raise ValueError(f"categorical has {name!r}, which is of {kind.simpleString()}, allowed are texts")
    if kind.typeName() == "vectorudt" or type(kind).__name__ == "VectorUDT":
        part.column, part.width = vector_to_array(column).alias(name), -1
        part.names = _names_of_vector(df, name)
    elif isinstance(kind, types.ArrayType) and _is_number(kind.elementType):
        part.width, part.names = -1, []
    elif isinstance(kind, (types.DateType, types.TimestampType, types.TimestampNTZType)):
        part.is_date = True
    elif isinstance(kind, types.DayTimeIntervalType):
        part.is_period = True
    elif not _is_number(kind):
        raise ValueError(f"column {name!r} is of {kind.simpleString()}, {_ALLOWED}")
    return part


def _is_number(kind: Any) -> bool:
    from pyspark.sql import types

    return isinstance(kind, (types.NumericType, types.BooleanType))


def _names_of_vector(df: Any, name: str) -> list[str]:
    """As VectorAssembler noted them; empty if it did not, or not of all."""
    metadata = json.loads(json.dumps(df.schema[name].metadata or {}))
    groups = metadata.get("ml_attr", {}).get("attrs", {})
    named = {attribute["idx"]: attribute.get("name") for group in groups.values() for attribute in group}
    if set(named) != set(range(len(named))) or not all(named.values()):
        return []
    return [named[i] for i in range(len(named))]


def _find_widths(df: Any, parts: Sequence[Part]) -> None:
    """By the first row; the others are compared with it where they are sent."""
    from pyspark.sql import functions

    arrays = [part for part in parts if part.width is not None]
    if not arrays:
        return
    first = df.select(*(functions.size(part.column) for part in arrays)).first()
    if first is None:
        raise ValueError("df has no rows, allowed is one at least")
    for part, width in zip(arrays, first, strict=True):
        if width is None or width < 1:
            raise ValueError(f"column {part.name!r} has {'no array' if width is None or width < 0 else 'an empty one'} in "
                             "the first row, allowed are arrays of one length")
        part.width, part.row_bytes = width, 8 * width
        if len(part.names) != width:
            part.names = [f"{part.name}_{i}" for i in range(width)]


def _label(df: Any, name: str) -> Part:
    from pyspark.sql import types

    if isinstance(df.schema[name].dataType, types.StringType):
        part = _part(df, name, True)
        if part.texts is not None and len(part.texts) > _MOST_CLASSES:
            raise ValueError(f"the label {name!r} has {len(part.texts)} different texts, allowed are {_MOST_CLASSES}")
        return part
    part = _part(df, name, False)
    if part.width is not None:
        raise ValueError(f"the label {name!r} has arrays, allowed are numbers and texts")
    return part


def _texts(df: Any, name: str, column: Any, found: bool) -> list[str]:
    """Those that occur, sorted as everywhere in Podere: by their bytes."""
    most = _MOST_FOUND if found else _MOST_TEXTS
    rows = df.select(column.alias("text")).where("text is not null").distinct().limit(most + 1).collect()
    if len(rows) > most:
        advice = "name it in categorical, or leave it out" if found else "leave it out"
        raise ValueError(f"column {name!r} has more than {most} different texts, too many for categories: {advice}")
    return sorted((row["text"] for row in rows), key=str.encode)
