"""Where executors report that they take rows, and learn when all were sent."""
from __future__ import annotations

import contextlib
import hmac
import json
import secrets
import socket
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

from ._spark_worker import stay_alive

_MOST_HELLO_BYTES = 1 << 16
_HELLO_SECONDS = 10


class Group:
    """Executors that take the partitions of one table together. It is lost as soon as one of them goes before the end."""

    def __init__(self, n_executors: int) -> None:
        self.addresses: list[tuple[str, int] | None] = [None] * n_executors
        self.connections: list[socket.socket] = []
        self.is_lost = False
        self.is_ended = False  # it knows that no more rows come

    @property
    def takes_rows(self) -> bool:
        return all(self.addresses) and not self.is_lost and not self.is_ended


class Gathering:
    """Listens for the executors of a job `receive`, whose fields `token`, `host` and `port` are. Ends with `close`."""

    def __init__(self, address: str) -> None:
        self.token = secrets.token_hex(24)
        try:
            family = socket.getaddrinfo(address, 0, type=socket.SOCK_STREAM)[0][0]
            self._listener = socket.create_server((address, 0), family=family)
        except OSError as error:
            raise ValueError(f"address is {address!r}, which cannot be listened on: {error}; allowed is an address of "
                             "this machine that executors reach") from None
        self.host, self.port = address, self._listener.getsockname()[1]
        self._is_closed = False
        self._changed = threading.Condition()
        self._groups: dict[str, Group] = {}  # guarded by _changed
        self._latest: Group | None = None  # the same
        self._on_loss: Callable[[], None] = lambda: None
        threading.Thread(target=self._accept, name="podere gathering", daemon=True).start()

    def wait(self, is_over: Callable[[], bool], seconds: float) -> Group | None:
        """The group that takes rows, once there is one; None if there is none after some time."""
        with self._changed:
            self._changed.wait_for(lambda: self._ready() is not None or is_over(), seconds)
            return self._ready()

    def call_on_loss(self, call: Callable[[], None]) -> None:
        self._on_loss = call

    def complete(self, group: Group, n_rows: Sequence[int]) -> None:
        """All partitions were sent, of so many rows each. If executors are lost even now, another group will come."""
        self._end(group, {"rows": list(n_rows)})

    def abandon(self, why: str) -> None:
        with self._changed:
            groups = list(self._groups.values())
        for group in groups:
            self._end(group, {"abandon": why})

    def close(self) -> None:
        self.abandon("abandoned by its sender")
        self._is_closed = True
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _ready(self) -> Group | None:
        return self._latest if self._latest is not None and self._latest.takes_rows else None

    def _end(self, group: Group, line: dict[str, Any]) -> None:
        with self._changed:
            if group.is_lost or group.is_ended:
                return
            group.is_ended = True
        for connection in group.connections:
            with contextlib.suppress(OSError):  # that executor has gone
                connection.sendall(json.dumps(line).encode() + b"\n")

    def _accept(self) -> None:
        while not self._is_closed:
            try:
                connection, _ = self._listener.accept()
                threading.Thread(target=self._serve, args=(connection,), daemon=True).start()
            except (OSError, RuntimeError):  # closed; or there are no descriptors or threads left for now
                time.sleep(0.05)

    def _serve(self, connection: socket.socket) -> None:
        with connection, contextlib.suppress(OSError, ValueError, LookupError, TypeError, AttributeError):
            connection.settimeout(_HELLO_SECONDS)
            with connection.makefile("rb") as lines:
                hello = json.loads(lines.readline(_MOST_HELLO_BYTES))
                if not hmac.compare_digest(str(hello["token"]).encode(), self.token.encode()):
                    return
                connection.settimeout(None)
                stay_alive(connection)
                group = self._join(hello, connection)
                lines.readline(1)  # until it ends
                self._lose(group)

    def _join(self, hello: dict[str, Any], connection: socket.socket) -> Group:
        with self._changed:
            group = self._groups.setdefault(hello["group"], Group(hello["executors"]))
            group.addresses[hello["executor"]] = (hello["address"], hello["port"])
            group.connections.append(connection)
            self._latest = group
            self._changed.notify_all()
            return group

    def _lose(self, group: Group) -> None:
        """One of its executors has gone: the others are to know. Those of a group that is ended leave one by one."""
        with self._changed:
            if group.is_ended:
                return
            is_first = not group.is_lost
            group.is_lost = True
            for connection in group.connections:
                with contextlib.suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)
            self._changed.notify_all()
        if is_first:
            self._on_loss()
