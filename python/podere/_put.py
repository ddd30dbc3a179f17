"""Arrays of this process on their way to executors, which read the bytes of their own rows by HTTP."""
from __future__ import annotations

import functools
import hmac
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

from ._arrays import as_frame, check_different, classes_of, is_frame

_MOST_COPIED = 1 << 24  # bytes of an array with gaps that are put together at once


class ServedArray:
    """An array whose bytes are served as long as this object lives. It must not be changed meanwhile."""

    def __init__(self, values: NDArray[Any]) -> None:
        self.by_columns = values.ndim == 2 and values.flags.f_contiguous and not values.flags.c_contiguous
        self._values = values.T if self.by_columns else values  # row by row now, with or without gaps
        self.dtype = values.dtype.name
        self.n_bytes = values.nbytes
        self._bytes = self._values.data.cast("B") if self._values.flags.c_contiguous else None
        self.path = f"/{secrets.token_hex(8)}"

    def pieces(self, begin: int, end: int) -> Any:
        """The bytes [begin, end), without a copy where there are no gaps."""
        if self._bytes is not None:
            yield self._bytes[begin:end]
            return
        row_bytes = self.n_bytes // len(self._values)
        step = max(1, _MOST_COPIED // row_bytes)
        for row in range(begin // row_bytes, -(-end // row_bytes), step):
            part = np.ascontiguousarray(self._values[row:row + step]).data.cast("B")
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

def features_of(X: Any, feature_names: Sequence[str] | None) -> tuple[NDArray[Any], list[str]]:
    """Numbers [n_rows x n_features] and the names of the features."""
    if scipy.sparse.issparse(X):
        raise TypeError("X is sparse, allowed are arrays and DataFrames: X.toarray() makes one")
    names = None
    X = as_frame(X)
    if is_frame(X):
        names = [str(name) for name in X.columns]
        for name, dtype in zip(names, X.dtypes, strict=True):
            if getattr(dtype, "kind", "O") not in "biufO" or dtype.name in ("category", "string"):
                raise ValueError(f"column {name!r} of X is of {dtype}, allowed are numbers; read_csv takes categories")
        is_plain = all(isinstance(dtype, np.dtype) and dtype.kind in "biuf" for dtype in X.dtypes)
        X = X.to_numpy() if is_plain else _numbers_of(lambda: X.to_numpy(dtype=np.float64, na_value=np.nan), "X")
    values = numbers_of(X, "X", 2)
    if feature_names is not None:
        names = [str(name) for name in feature_names]
        if len(names) != values.shape[1]:
            raise ValueError(f"feature_names are {len(names)}, X has {values.shape[1]} columns")
    names = [f"f{j}" for j in range(values.shape[1])] if names is None else names
    check_different(names)
    return values, names


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
    values = np.asarray(y)
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
