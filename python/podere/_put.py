"""Arrays of this process on their way to executors, which read the bytes of their own rows by HTTP."""
from __future__ import annotations

import functools
import hmac
import math
import re
import secrets
import socketserver
import threading
import weakref
from collections.abc import Callable, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from ._arrays import (
    Categories,
    check_different,
    classes_of,
    find_categories,
    find_dates,
    find_rounded,
    numbers_of_column,
    warn_of_dates,
)
from ._frames import as_array, as_rows, is_frame

_MOST_COPIED = 1 << 24  # bytes of an array with gaps that are put together at once


class ServedArray:
    """An array whose bytes are served as long as this object lives. It must not be changed meanwhile.

    A sparse matrix by rows is served as the array that it stands for, of which some rows at a time are made.
    """

    def __init__(self, values: Any) -> None:
        if scipy.sparse.issparse(values):
            self.by_columns, self._values, self._bytes = False, values, None
            self.n_bytes = math.prod(values.shape) * values.dtype.itemsize
        else:
            self._take(values)
        self.dtype = values.dtype.name
        self.path = f"/{secrets.token_hex(8)}"

    def _take(self, values: NDArray[Any]) -> None:
        self.by_columns = values.ndim == 2 and values.flags.f_contiguous and not values.flags.c_contiguous
        self._values = values.T if self.by_columns else values  # row by row now, with or without gaps
        self.n_bytes = values.nbytes
        self._bytes = self._values.data.cast("B") if self._values.flags.c_contiguous else None

    def pieces(self, begin: int, end: int) -> Any:
        """The bytes [begin, end), without a copy where there are no gaps."""
        if self._bytes is not None:
            yield self._bytes[begin:end]
            return
        row_bytes = self.n_bytes // self._values.shape[0]
        step = max(1, _MOST_COPIED // row_bytes)
        for row in range(begin // row_bytes, -(-end // row_bytes), step):
            some = self._values[row:row + step]
            some = some.toarray() if scipy.sparse.issparse(some) else some
            part = np.ascontiguousarray(some).data.cast("B")
            first = row * row_bytes
            yield part[max(begin - first, 0):end - first]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"  # connections stay
    disable_nagle_algorithm = True
    server: ArrayServer

    def do_GET(self) -> None:
        asked = self.headers.get("Authorization", "")
        if not hmac.compare_digest(asked.encode(), f"Bearer {self.server.token}".encode()):
            self.send_error(401)
            return
        array = self.server.arrays.get(self.path)
        found = re.fullmatch(r"bytes=([0-9]+)-([0-9]+)", self.headers.get("Range", ""))
        if array is None:
            self.send_error(404)
            return
        begin, end = (int(found[1]), int(found[2]) + 1) if found else (0, 0)
        if not begin < end <= array.n_bytes:
            self.send_error(416)
            return
        self.send_response(206)
        self.send_header("Content-Length", str(end - begin))
        self.send_header("Content-Range", f"bytes {begin}-{end - 1}/{array.n_bytes}")
        self.end_headers()
        for piece in array.pieces(begin, end):
            self.wfile.write(piece)

    def log_message(self, *_: Any) -> None:
        pass


class ArrayServer(ThreadingHTTPServer):
    """Serves arrays to processes of this machine that know the token."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.token = secrets.token_urlsafe(32)
        self.arrays: weakref.WeakValueDictionary[str, ServedArray] = weakref.WeakValueDictionary()
        threading.Thread(target=self.serve_forever, name="podere arrays", daemon=True).start()

    def server_bind(self) -> None:
        socketserver.TCPServer.server_bind(self)  # HTTPServer's asks for the name of this machine
        address, self.server_port = self.socket.getsockname()
        self.server_name = str(address)

    def handle_error(self, *_: Any) -> None:
        pass  # an executor went away

    def serve(self, array: ServedArray) -> dict[str, Any]:
        """What a job says of the array."""
        self.arrays[array.path] = array
        return {"url": f"http://127.0.0.1:{self.server_port}{array.path}", "dtype": array.dtype,
                "by_columns": array.by_columns}


@functools.cache
def array_server(process: int) -> ArrayServer:
    """That of this process, to its end. A child that was forked has a server of its own."""
    return ArrayServer()


# What is put ----------------------------------------------------------------------------------------------------------

class Features:
    """What is put of X: numbers [n_rows x n_features], or a sparse matrix by rows; names and kinds of the features."""

    def __init__(self, X: Any, feature_names: Sequence[str] | None) -> None:
        X = as_rows(X)
        self.categories: Categories = {}
        self.dates: set[int] = set()
        self.rounded: dict[str, float] = {}
        if is_frame(X):
            columns = list(X.columns)
            texts = [name for name in columns if isinstance(name, str)]
            if 0 < len(texts) < len(columns):
                raise TypeError(f"some names of columns of X are texts, as {texts[0]!r}, and some are not, allowed are all "
                                "texts: X.columns.astype(str) makes them")
            self.names = _names(texts or _made_up(len(columns)), feature_names)
            self.categories = find_categories(X, self.names, None)
            self.dates = find_dates(X, self.names, self.categories)
            warn_of_dates(X, self.names, self.categories, callers=3)
            self.values = _numbers_of_frame(X, self.names, self.categories)
            if self.values.dtype == np.float32:  # of others executors see it
                self.rounded = find_rounded(X, self.names, self.categories)
            return
        self.values = _by_rows(X) if scipy.sparse.issparse(X) else numbers_of(X, "X", 2)
        self.names = _names(_made_up(self.values.shape[1]), feature_names)

    def kinds(self) -> dict[str, Any]:
        """What a job says of the features that are not plain numbers."""
        kinds: dict[str, Any] = {}
        if self.categories:
            kinds["categories"] = [{"feature": place, "texts": texts} for place, texts in self.categories.items()]
        if self.dates:
            kinds["dates"] = sorted(self.dates)
        return kinds


def _made_up(n_features: int) -> list[str]:
    return [f"f{j}" for j in range(n_features)]


def _names(names: list[str], feature_names: Sequence[str] | None) -> list[str]:
    if feature_names is not None:
        if len(feature_names) != len(names):
            raise ValueError(f"feature_names are {len(feature_names)}, X has {len(names)} columns")
        names = [str(name) for name in feature_names]
    check_different(names)
    return names


def _numbers_of_frame(X: Any, names: Sequence[str], categories: Categories) -> NDArray[Any]:
    """Without a copy where all columns are of one type of numbers; else as float32, column by column."""
    first = X.dtypes.iloc[0] if X.shape[1] else None
    if isinstance(first, np.dtype) and first.kind in "biuf" and not categories and (X.dtypes == first).all():
        return numbers_of(X.to_numpy(), "X", 2)
    values = np.empty(X.shape, np.float32, order="F")
    with np.errstate(over="ignore"):  # infinity, which executors refuse
        for place, name in enumerate(names):
            values[:, place] = numbers_of_column(X.iloc[:, place], name, categories.get(place))
    return numbers_of(values, "X", 2)


def _by_rows(X: Any) -> Any:
    """A sparse matrix of numbers that executors read, in its order by rows."""
    rows = X.tocsr()
    if 0 in rows.shape:
        raise ValueError(f"X has the shape {rows.shape}, allowed is at least one row and one column")
    values = numbers_of(rows.data, "X", 1) if rows.data.size else rows.data.astype(np.float64)
    return rows if values is rows.data else rows.astype(values.dtype)


def numbers_of(values: Any, name: str, n_dimensions: int, n_rows: int | None = None) -> NDArray[Any]:
    """An array of numbers that executors read as it is."""
    numbers = _numbers_of(lambda: np.asarray(values), name)
    if numbers.ndim != n_dimensions:
        allowed = "(n_rows, n_features)" if n_dimensions == 2 else "(n_rows,)"
        raise ValueError(f"{name} has the shape {numbers.shape}, allowed is {allowed}")
    if n_rows is not None and len(numbers) != n_rows:
        raise ValueError(f"{name} has {len(numbers)} values, X has {n_rows} rows")
    if numbers.size == 0:
        raise ValueError(f"{name} has the shape {numbers.shape}, allowed is at least one row and one column")
    if numbers.dtype.kind == "O":
        numbers = _numbers_of(lambda: numbers.astype(np.float64), name)
    if numbers.dtype.kind not in "biuf":
        raise ValueError(f"{name} is of {numbers.dtype}, allowed are numbers")
    if not numbers.dtype.isnative or (numbers.dtype.kind == "f" and numbers.dtype.itemsize not in (4, 8)):
        numbers = numbers.astype(np.float64 if numbers.dtype.kind == "f" else numbers.dtype.newbyteorder("="))
    return numbers


def _numbers_of(make: Callable[[], NDArray[Any]], name: str) -> NDArray[Any]:
    try:
        return make()
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} does not become an array of numbers: {str(error).splitlines()[0]}") from None


def labels_of(y: Any, n_rows: int) -> tuple[NDArray[Any], NDArray[Any] | None]:
    """Labels [n_rows]; of texts and truth values their places among the classes, and these."""
    values = np.asarray(as_array(y))
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.dtype.kind in "iuf":
        return numbers_of(values, "y", 1, n_rows), None
    if values.ndim != 1 or len(values) != n_rows:
        raise ValueError(f"y has the shape {values.shape}, allowed is ({n_rows},)")
    classes, places = classes_of(values)
    if all(isinstance(label, (int, float)) and not isinstance(label, bool) for label in classes.tolist()):
        return numbers_of(values.astype(np.float64), "y", 1, n_rows), None
    return places.astype(np.int32), classes
