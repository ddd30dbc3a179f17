"""A table of a session as a data source of Spark. Sent to Spark's processes by value, which need pyarrow alone."""
from __future__ import annotations

import json
import socket
import struct
from collections.abc import Iterator
from typing import Any

from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from pyspark.sql.types import FloatType, LongType, StringType, StructField, StructType

FORMAT = "podere"
_MAGIC = b"PODEROW1"
_FRAME_BYTES = 8 << 20
_SECONDS = 20


def names_of(offer: dict[str, Any]) -> list[str]:
    return [*offer["features"], *(offer[what] for what in ("label", "weight") if offer[what] is not None)]


def columns_of(offer: dict[str, Any]) -> list[dict[str, Any]]:
    """The columns of an offered table: "name", and "has_texts"."""
    with_texts = {entry["feature"] for entry in offer["texts"]}
    columns = [{"name": name, "has_texts": place in with_texts} for place, name in enumerate(offer["features"])]
    if offer["label"] is not None:
        columns.append({"name": offer["label"], "has_texts": bool(offer["classes"])})
    if offer["weight"] is not None:
        columns.append({"name": offer["weight"], "has_texts": False})
    return columns


class PodereTable(DataSource):  # type: ignore[misc]
    """`podere.spark.read` sets its options."""

    @classmethod
    def name(cls) -> str:
        return FORMAT

    def schema(self) -> StructType:
        fields = [StructField(column["name"], StringType() if column["has_texts"] else FloatType())
                  for column in json.loads(self.options["columns"])]
        if self.options["row"]:
            fields.insert(0, StructField(self.options["row"], LongType(), nullable=False))
        return StructType(fields)

    def reader(self, schema: StructType) -> DataSourceReader:
        return TableReader(dict(self.options))


class TableReader(DataSourceReader):  # type: ignore[misc]
    def __init__(self, options: dict[str, str]) -> None:
        self._options = options

    def partitions(self) -> list[InputPartition]:
        """Where the rows are now."""
        offer = self._ask()
        if columns_of(offer) != json.loads(self._options["columns"]):
            raise RuntimeError(f"the table {self._options['table']} has other columns than when it was read: read it again")
        texts = {str(entry["feature"]): entry["texts"] for entry in offer["texts"]}
        if offer["classes"]:
            texts[str(len(offer["features"]))] = offer["classes"]
        held = [executor for executor in offer["executors"] if executor["end"] > executor["begin"]]
        most_rows = max(1, -(-offer["rows"] // int(self._options["partitions"])))
        parts = []
        for executor in held:
            for begin in range(executor["begin"], executor["end"], most_rows):
                parts.append(InputPartition({"address": executor["address"], "port": executor["port"], "begin": begin,
                                             "end": min(executor["end"], begin + most_rows), "token": offer["token"],
                                             "columns": len(names_of(offer)), "texts": texts}))
        return parts

    def _ask(self) -> dict[str, Any]:
        """The result of a job `offer` of the session."""
        session = self._options["session"]
        job = {"kind": "offer", "table": {"location": f"table:{self._options['table']}"}, "host": self._options["host"]}
        try:
            with socket.socket(socket.AF_UNIX) as connection:
                connection.connect(self._options["socket"])
                connection.sendall(json.dumps({"id": 1, "job": job, "name": "offer"}).encode() + b"\n")
                with connection.makefile("rb") as lines:
                    for line in lines:
                        event = json.loads(line)
                        if event.get("event") == "queued" and event.get("ahead"):
                            connection.sendall(json.dumps({"id": 2, "ask": "status"}).encode() + b"\n")
                        if event.get("event") == "result" and event.get("id") == 2:
                            self._refuse_while_receiving(event["result"])
                        elif event.get("event") == "result":
                            result: dict[str, Any] = event["result"]
                            return result
                        if event.get("event") == "failed":
                            raise RuntimeError(event.get("message", "the session failed"))
        except OSError as error:
            raise RuntimeError(f"the session {session} has ended: {error}") from None
        raise RuntimeError(f"the session {session} has ended")

    def _refuse_while_receiving(self, status: dict[str, Any]) -> None:
        """Spark may be asked for these very rows by the table that comes: they would wait for each other."""
        if any(job.get("name") == "receive" and job.get("state") == "running" for job in status["jobs"]):
            raise RuntimeError(f"the session {self._options['session']} is receiving a table now, so rows of "
                               f"{self._options['table']} cannot be read: to send what comes of them, call df.cache() and "
                               "df.count() first")

    def read(self, partition: InputPartition) -> Iterator[Any]:
        return _read_rows(partition.value, bool(self._options["row"]),
                          [column["name"] for column in json.loads(self._options["columns"])], self._options["row"])


def _read_rows(part: dict[str, Any], has_rows: bool, names: list[str], row: str) -> Iterator[Any]:
    """Record batches."""
    import pyarrow as pa

    place = f"{part['address']}:{part['port']}"
    token = part["token"].encode()
    frame_rows = max(1, _FRAME_BYTES // (4 * part["columns"]))
    texts = {int(column): pa.array(values, pa.string()) for column, values in part["texts"].items()}
    try:
        with socket.create_connection((part["address"], part["port"]), _SECONDS) as connection:
            connection.settimeout(None)
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
            connection.sendall(_MAGIC + struct.pack("<I", len(token)) + token
                               + struct.pack("<QQI", part["begin"], part["end"], frame_rows))
            code, n_bytes = struct.unpack("<BI", _receive(connection, 5))
            answer = bytes(_receive(connection, n_bytes)).decode(errors="replace")
            if code != 0:
                raise RuntimeError(f"the executor of Podere at {place} refuses: {answer}")
            begin = part["begin"]
            while n_rows := struct.unpack("<I", _receive(connection, 4))[0]:
                values = pa.py_buffer(_receive(connection, 4 * n_rows * part["columns"]))
                columns = [pa.Array.from_buffers(pa.float32(), n_rows, [None, values.slice(4 * n_rows * j, 4 * n_rows)])
                           for j in range(part["columns"])]
                for j, known in texts.items():
                    columns[j] = _texts_of(columns[j], known)
                if has_rows:
                    columns.insert(0, pa.array(range(begin, begin + n_rows), pa.int64()))
                yield pa.RecordBatch.from_arrays(columns, names=[row, *names] if has_rows else names)
                begin += n_rows
    except OSError as error:
        raise RuntimeError(f"the executor of Podere at {place} has gone: {error}") from None


def _texts_of(codes: Any, texts: Any) -> Any:
    import numpy as np
    import pyarrow as pa

    values = codes.to_numpy()
    is_missing = np.isnan(values)
    places = pa.array(np.where(is_missing, 0, values).astype(np.int32), mask=is_missing)
    return texts.take(places)


def _receive(connection: socket.socket, n_bytes: int) -> bytearray:
    received = bytearray(n_bytes)
    view = memoryview(received)
    while view:
        n = connection.recv_into(view)
        if n == 0:
            raise OSError("the connection ended")
        view = view[n:]
    return received
