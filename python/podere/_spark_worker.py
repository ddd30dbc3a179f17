"""What runs in Spark's Python workers, to which it is sent by value: they need pyarrow and NumPy, and not Podere.

The bytes are those of podere/io/row_frames.h and row_outlet.h.
"""
from __future__ import annotations

import contextlib
import select
import socket
import struct
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

REFUSED = "podere refuses: "  # before the line in which a task says why it fails
_MAGIC = b"PODEROW1"
_MOST_FRAME_BYTES = 64 << 20
_CONNECT_SECONDS = 20
_OK, _HAVE_IT, _REFUSED = 0, 1, 2
_ELEMENTS = {"uint8": 5, "int8": 1, "int16": 2, "int32": 3, "int64": 4, "float": 9, "double": 10}
_MICROSECONDS_PER_DAY = 86_400_000_000


class Refused(RuntimeError):
    """Rows that have no meaning in a table, or that executors refuse: to try again is in vain."""

    def __init__(self, why: str) -> None:
        super().__init__(f"{REFUSED}{why}\n")


class HaveIt(Exception):
    """The partition is there already."""

    def __init__(self, n_rows: int) -> None:
        self.n_rows = n_rows


# Values ---------------------------------------------------------------------------------------------------------------

def numbers_of(column: Any, name: str) -> Any:
    """Numbers of NumPy's types, without nulls: those are NaN; dates and periods are days, True is 1."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = column.type
    if pa.types.is_boolean(kind):
        column = column.cast(pa.uint8())
    elif pa.types.is_decimal(kind):
        column = column.cast(pa.float64())
    elif pa.types.is_date(kind):
        column = column.cast(pa.int32())
    elif pa.types.is_timestamp(kind) or pa.types.is_duration(kind):
        unit = pa.timestamp("us", kind.tz) if pa.types.is_timestamp(kind) else pa.duration("us")
        column = pc.divide(column.cast(unit).cast(pa.int64()).cast(pa.float64(), safe=False),
                           float(_MICROSECONDS_PER_DAY))
    if str(column.type) not in _ELEMENTS:
        raise Refused(f"column {name!r} is of {kind}, allowed are numbers")
    if column.null_count:
        column = column if pa.types.is_floating(column.type) else column.cast(pa.float64(), safe=False)
        column = column.fill_null(float("nan"))
    return column


def codes_of(column: Any, name: str, texts: Sequence[str]) -> Any:
    """The place of each text among `texts` as float32; NaN for nulls."""
    import pyarrow as pa
    import pyarrow.compute as pc

    places = pc.index_in(column, value_set=pa.array(texts, column.type))
    if places.null_count != column.null_count:
        text = column.filter(pc.and_(places.is_null(), column.is_valid()))[0].as_py()
        raise Refused(f"column {name!r} has the text {text!r}, which was not there when its texts were looked at before: keep "
                      "rows of Spark by df.cache(), give all batches the same categories")
    return places.cast(pa.float32()).fill_null(float("nan"))


def elements_of(column: Any, name: str, width: int) -> Any:
    """The elements of arrays that all have `width` of them."""
    import pyarrow.compute as pc

    if column.null_count:
        raise Refused(f"column {name!r} has {column.null_count} nulls where arrays of {width} numbers are allowed; "
                      "df.dropna leaves such rows out")
    lengths = pc.min_max(pc.list_value_length(column))
    shortest, longest = lengths["min"].as_py(), lengths["max"].as_py()
    if shortest != width or longest != width:
        other = shortest if shortest != width else longest
        raise Refused(f"column {name!r} has arrays of {width} and of {other} elements, allowed is one length")
    return numbers_of(column.flatten(), name)


def block_of(column: Any, part: dict[str, Any]) -> tuple[int, memoryview]:
    """The kind of the values and their bytes."""
    name = part["name"]
    if part["width"] is not None:
        values = elements_of(column, name, part["width"])
    elif part["texts"] is not None:
        values = codes_of(column, name, part["texts"])
    else:
        values = numbers_of(column, name)
    return _ELEMENTS[str(values.type)], memoryview(values.to_numpy(zero_copy_only=True)).cast("B")


# Sending --------------------------------------------------------------------------------------------------------------

class Sender:
    """A connection over which one partition goes to the executor whose it is."""

    def __init__(self, plan: dict[str, Any], partition: int) -> None:
        self._parts = plan["parts"]
        executors = plan["executors"]
        address, port = executors[partition % len(executors)]
        try:
            self._socket = socket.create_connection((address, port), _CONNECT_SECONDS)
        except OSError as error:
            raise RuntimeError(f"the executor of Podere at {address}:{port} does not answer: {error}") from None
        self._socket.settimeout(None)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        stay_alive(self._socket)
        self._answers = select.poll()
        self._answers.register(self._socket, select.POLLIN)
        token = plan["token"].encode()
        self.n_rows = 0
        self._send([_MAGIC, struct.pack("<I", len(token)), token, struct.pack("<I", partition)])
        self._answer()

    def send(self, batch: Any) -> None:
        """A frame, or several of a batch with many bytes. Each column of the batch is that of a part, in order."""
        row_bytes = sum(8 * (part["width"] or 1) for part in self._parts)  # as the executor counts them
        most_rows = max(1, _MOST_FRAME_BYTES // row_bytes)
        for begin in range(0, batch.num_rows, most_rows):
            rows = batch.slice(begin, most_rows)
            pieces: list[Any] = [struct.pack("<I", rows.num_rows)]
            for column, part in zip(rows.columns, self._parts, strict=True):
                element, values = block_of(column, part)
                pieces += [bytes([element]), values]
            if self._answers.poll(0):
                self._answer()  # before the end it is never good
            self._send(pieces)
            self.n_rows += rows.num_rows

    def end(self) -> None:
        """The executor has all rows when this returns."""
        self._send([struct.pack("<IQ", 0, self.n_rows)])
        self._answer()

    def close(self) -> None:
        self._socket.close()

    def _send(self, pieces: list[Any]) -> None:
        left = [memoryview(piece) for piece in pieces]
        try:
            while left:
                n = self._socket.sendmsg(left[:64])
                while left and n >= len(left[0]):
                    n -= len(left.pop(0))
                if n:
                    left[0] = left[0][n:]
        except OSError as error:
            with contextlib.suppress(RuntimeError):
                self._answer()  # why it does not take more
            raise RuntimeError(f"the executor of Podere has gone: {error}") from None

    def _answer(self) -> None:
        code, n_bytes = struct.unpack("<BI", receive(self._socket, 5))
        text = bytes(receive(self._socket, n_bytes)).decode(errors="replace")
        if code == _HAVE_IT:
            raise HaveIt(int(text))
        if code != _OK:
            raise Refused(text)


def stay_alive(connection: socket.socket) -> None:
    """A machine at the other end that has gone is noticed within about a minute, where nothing is sent."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for option, value in (("TCP_KEEPIDLE", 20), ("TCP_KEEPINTVL", 10), ("TCP_KEEPCNT", 4)):
        if hasattr(socket, option):
            connection.setsockopt(socket.IPPROTO_TCP, getattr(socket, option), value)


def receive(connection: socket.socket, n_bytes: int) -> bytearray:
    """So many bytes. RuntimeError if the connection ends before."""
    received = bytearray(n_bytes)
    view = memoryview(received)
    while view:
        try:
            n = connection.recv_into(view)
        except OSError as error:
            raise RuntimeError(f"the executor of Podere has gone: {error}") from None
        if n == 0:
            raise RuntimeError("the executor of Podere has gone")
        view = view[n:]
    return received


def send_partition(plan: dict[str, Any], batches: Iterable[Any]) -> Iterator[Any]:
    """Sends a partition, once however often its task is tried. One row: its number, and how many rows it has."""
    import pyarrow as pa
    from pyspark import TaskContext

    partition = TaskContext.get().partitionId()
    try:
        sender = Sender(plan, partition)
        with contextlib.closing(sender):
            for batch in batches:
                sender.send(batch)
            sender.end()
            n_rows = sender.n_rows
    except HaveIt as known:
        n_rows = known.n_rows
    for _ in batches:  # Spark goes through all of them
        pass
    yield pa.RecordBatch.from_arrays([pa.array([partition], pa.int32()), pa.array([n_rows], pa.int64())],
                                     names=["partition", "rows"])


def task_of(plan: dict[str, Any]) -> Callable[[Iterable[Any]], Iterator[Any]]:
    """What Spark calls for each partition."""
    return lambda batches: send_partition(plan, batches)


# Applying models ------------------------------------------------------------------------------------------------------

def applier_of(packed: bytes, wanted: Sequence[str]) -> Callable[[], Callable[[Any], Any]]:
    """What Spark calls once in a worker for the function that it then calls with rows. This alone needs Podere there."""
    def make() -> Callable[[Any], Any]:
        import pickle

        try:
            from podere import _spark_outputs
        except ImportError as error:
            raise RuntimeError("podere: to apply a model, Spark's executors need Podere, as send and read do not: install "
                               f"it in their Python ({error})") from None
        estimator = pickle.loads(packed)
        return lambda rows: _spark_outputs.values_of(estimator, rows, wanted)
    return make
