"""Tables that are put batch by batch, of what Arrow can describe."""
from __future__ import annotations

import contextlib
import functools
import itertools
import threading
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from ._connection import SessionError
from ._frames import as_rows, is_frame
from ._jobs import JobRunner
from ._sending import Sending
from ._spark_columns import Columns, Part, check_columns, warn_of_dates
from ._spark_gathering import Gathering
from ._spark_worker import REFUSED, Refused, Sender
from ._stored_table import Facts, Origin

_ALLOWED = "allowed are numbers, booleans, decimals, dates, lists of numbers, and dictionaries of texts as categories"
_LOSS_SECONDS = 5


def put_batches(jobs: JobRunner, batches: Iterable[Any], name: str, label: str | None, weight: str | None,
                features: Sequence[str] | None, address: str) -> tuple[Facts, Origin]:
    """As Session.put_batches has them; called by it."""
    try:
        import pyarrow
    except ImportError:
        raise ImportError("put_batches needs pyarrow, which is not installed: pip install pyarrow") from None
    if is_frame(batches) or not isinstance(batches, Iterable) or isinstance(batches, (pyarrow.Table, pyarrow.RecordBatch)):
        raise TypeError(f"batches is a {type(batches).__name__}, allowed are several frames or Arrow batches, one after "
                        "another: put takes a single one, to_delayed() makes parts of one of Dask")
    source = _Source(batches)
    columns = _columns_of(source.first, label, weight, features)
    warn_of_dates(columns, callers=4)
    facts = Sending(columns, jobs, name, address, functools.partial(_deliver, source, columns), _in_words).run()
    is_truth = label is not None and str(source.first.schema.field(label).type) == "bool"
    return facts, Origin(classes=np.array([False, True])) if is_truth else Origin()


class _Source:
    """Batches with rows as tables of Arrow, of which the first was looked at. What can be gone through once is."""

    def __init__(self, batches: Iterable[Any]) -> None:
        self._batches = batches
        tables = self._tables()
        first = next(tables, None)
        if first is None:
            raise ValueError("batches has no rows, allowed is one at least")
        self.first = first
        self._rest: Iterator[Any] | None = itertools.chain([first], tables)

    def _tables(self) -> Iterator[Any]:
        return (table for table in map(_table_of, self._batches) if table.num_rows)

    def __iter__(self) -> Iterator[Any]:
        if self._rest is None:
            if iter(self._batches) is self._batches:
                raise SessionError("executors were lost, and batches can be gone through only once: put them again")
            return self._tables()
        tables, self._rest = self._rest, None
        return tables


def _table_of(batch: Any) -> Any:
    import pyarrow as pa

    batch = batch.compute() if hasattr(batch, "compute") else batch  # of Dask
    if isinstance(batch, pa.RecordBatch):
        return pa.Table.from_batches([batch])
    if isinstance(batch, pa.Table):
        return batch
    frame = as_rows(batch)
    if is_frame(frame):
        return pa.Table.from_pandas(frame, preserve_index=False)
    raise TypeError(f"batches has a {type(batch).__name__}, allowed are tables and batches of Arrow, and frames of pandas, "
                    "Polars and Dask")


# Columns --------------------------------------------------------------------------------------------------------------

def _columns_of(table: Any, label: str | None, weight: str | None, features: Sequence[str] | None) -> Columns:
    names = check_columns(table.column_names, features, label, weight)
    parts = [_part(table, name) for name in names]
    others = [None if name is None else _part(table, name) for name in (label, weight)]
    for what, part in zip(("label", "weight"), others, strict=True):
        if part is not None and part.width is not None:
            raise ValueError(f"the {what} {part.name!r} has lists, allowed are numbers")
    columns = Columns(parts, *others)
    columns.check_names()
    return columns


def _part(table: Any, name: str) -> Part:
    """By the type, and by the first batch, whose lists have the length of all, and whose dictionary has all texts."""
    import pyarrow as pa

    kind, column = table.schema.field(name).type, table.column(name)
    part = Part(name, names=[name])
    if pa.types.is_dictionary(kind):
        texts = column.unify_dictionaries().chunk(0).dictionary.to_pylist()
        if not all(isinstance(text, str) for text in texts):
            raise ValueError(f"column {name!r} is of {kind}, {_ALLOWED}")
        part.texts = sorted(texts, key=str.encode)
    elif pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind):
        if not _is_number(kind.value_type):
            raise ValueError(f"column {name!r} is of {kind}, {_ALLOWED}")
        part.width = len(column[0]) if column[0].is_valid else 0
        if part.width == 0:
            raise ValueError(f"column {name!r} has no list, or an empty one, in the first row, allowed is one length")
        part.names = [f"{name}_{i}" for i in range(part.width)]
    elif pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        part.is_date = True
    elif pa.types.is_duration(kind):
        part.is_period = True
    elif not _is_number(kind):
        raise ValueError(f"column {name!r} is of {kind}, {_ALLOWED}")
    return part


def _is_number(kind: Any) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_integer(kind) or kind in (pa.float32(), pa.float64()) or pa.types.is_boolean(kind)
                or pa.types.is_decimal(kind))


def _plain(column: Any) -> Any:
    """The same values, of a type that `_spark_worker` sends."""
    import pyarrow as pa

    kind = column.type
    if pa.types.is_dictionary(kind):
        return column.cast(pa.string())
    if pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind):
        return _plain(column.cast(pa.list_(kind.value_type)))
    if pa.types.is_list(kind):
        return column.cast(pa.list_(pa.float64()), safe=False)
    if pa.types.is_unsigned_integer(kind) and kind.bit_width > 8:
        return column.cast(pa.float64() if kind.bit_width == 64 else pa.int64(), safe=False)
    if pa.types.is_date64(kind):
        return column.cast(pa.date32())
    if (pa.types.is_timestamp(kind) or pa.types.is_duration(kind)) and kind.unit == "ns":
        other = pa.timestamp("us", kind.tz) if pa.types.is_timestamp(kind) else pa.duration("us")
        return column.cast(other, safe=False)
    return column


# Sending --------------------------------------------------------------------------------------------------------------

def _deliver(source: _Source, columns: Columns, plan: dict[str, Any], gathering: Gathering) -> list[int]:
    """Each batch is a partition."""
    import pyarrow as pa

    is_lost = threading.Event()
    gathering.call_on_loss(is_lost.set)
    names = [part.name for part in columns.parts]
    counts = []
    for number, table in enumerate(source):
        if missing := [name for name in names if name not in table.column_names]:
            raise ValueError(f"batch {number} has no column {missing[0]!r}, which the first has")
        rows = pa.table([_plain(table.column(name)) for name in names], names=names).combine_chunks()
        try:
            with contextlib.closing(Sender(plan, number)) as sender:
                for batch in rows.to_batches():
                    sender.send(batch)
                sender.end()
        except RuntimeError as error:
            if not isinstance(error, Refused):
                is_lost.wait(_LOSS_SECONDS)  # the gathering may see it later
            raise
        counts.append(rows.num_rows)
    return counts


def _in_words(error: Exception) -> Exception:
    if isinstance(error, Refused):
        return ValueError(str(error).removeprefix(REFUSED).strip())
    return error
