"""The program `podere` behind a session: how it is found and started, and the messages over its socket."""
from __future__ import annotations

import collections
import contextlib
import itertools
import json
import os
import queue
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import weakref
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from . import _core
from ._progress import Progress, step_text
from ._words import in_python

_MOST_FOLDERS_UP = 4
_CONNECT_SECONDS = 0.01  # between two attempts
_LAST_WORDS_SECONDS = 0.5  # after which a line is not what a session says as it ends
_HELLO_SECONDS = 5
_TICK_SECONDS = 0.2
_MOST_LOG_BYTES = 1 << 20
_END_SECONDS = 15  # for executors to leave in order


class SessionError(RuntimeError):
    """A session could not do what it was asked to, and not for what it was given."""


# The program --------------------------------------------------------------------------------------------------------

def find_program() -> str:
    """The path of `podere`: what the variable PODERE names, that of this installation, or the one in PATH."""
    asked = os.environ.get("PODERE")
    if asked:
        if not os.access(asked, os.X_OK):
            raise SessionError(f"the variable PODERE is {asked!r}, which is not a program")
        return asked
    # PREFIX/bin beside PREFIX/lib/python3.11/site-packages/podere (which for `pip install --user` is not sys.prefix),
    # FOLDER/bin beside FOLDER/podere (pip --target), bin beside python/podere in a build tree.
    folders = Path(os.path.abspath(__file__)).parent.parents[:_MOST_FOLDERS_UP]
    for folder in (*folders, Path(sys.prefix)):
        place = folder / "bin" / "podere"
        if place.is_file() and os.access(place, os.X_OK):
            return str(place)
    found = shutil.which("podere")
    if found is None:
        raise SessionError("the program podere, which sessions run, is not found: build it, and put it in PATH or name "
                           "it in the variable PODERE")
    return found


def socket_path(name: str) -> str:
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    if runtime:
        return os.path.join(runtime, "podere", f"{name}.socket")
    folder = next((os.environ[v] for v in ("TMPDIR", "TMP", "TEMP", "TEMPDIR") if os.environ.get(v)), "/tmp")
    return os.path.join(folder, f"podere-sessions-{os.geteuid()}", f"{name}.socket")


def _try_connect(name: str) -> socket.socket | None:
    connection = socket.socket(socket.AF_UNIX)
    try:
        connection.connect(socket_path(name))
    except OSError:
        connection.close()
        return None
    return connection


class _Program:
    """A session that this process owns: it ends when this process does, whatever ends that."""

    def __init__(self, name: str, options: list[str]) -> None:
        command = [find_program(), "session", "start", name, "--foreground", "--owned", *options]
        self._log = tempfile.TemporaryFile()  # noqa: SIM115, as long as the program runs
        # In a session of its own, so that Ctrl-C in a terminal reaches this process alone.
        self._process = subprocess.Popen(command, bufsize=0, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                                         stderr=self._log, start_new_session=True)
        assert self._process.stdin is not None
        self._stdin = self._process.stdin  # which it watches: when that is closed, its owner has gone

    def connect(self, name: str, progress: Progress) -> socket.socket:
        """Waits until the executors are there."""
        seen = shown = ""  # of what it says, the last line
        since_seen = time.monotonic()
        # Until it says so, another process listens under that name.
        while "podere: ready" not in self._lines() or (connection := _try_connect(name)) is None:
            code = self._process.poll()
            if code is not None:
                words = self.last_words() or f"it ended with code {code}"
                raise (ValueError if code == 2 else SessionError)(in_python(words))
            words = self.last_words()
            if words != seen:
                seen, since_seen = words, time.monotonic()
            elif words != shown and time.monotonic() - since_seen > _LAST_WORDS_SECONDS:
                progress.say(words)
                shown = words
            progress.tick()
            time.sleep(_CONNECT_SECONDS)
        return connection

    def last_words(self) -> str:
        """The last line that it wrote."""
        lines = self._lines()
        return lines[-1].removeprefix("podere: ") if lines else ""

    def _lines(self) -> list[str]:
        # The place in the file is the program's too: it stays where it is.
        text = os.pread(self._log.fileno(), _MOST_LOG_BYTES, 0).decode(errors="replace")
        return [line for line in text.splitlines() if line]

    def let_go(self) -> None:
        """In a forked child, where the program is not its own."""
        self._stdin.close()  # or it would not notice when its owner has gone
        self._process.returncode = 0  # so that it is not waited for

    def end(self) -> None:
        with contextlib.suppress(OSError):
            self._stdin.close()
        for order in (None, self._process.terminate, self._process.kill):
            if order is not None:
                order()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(_END_SECONDS)
                break
        self._log.close()


# Messages -------------------------------------------------------------------------------------------------------------

def _title_of(job: dict[str, Any]) -> str:
    """What a session shows a job as: "train network table:higgs"."""
    table = job.get("table")
    location = table.get("location") if isinstance(table, dict) else None
    return " ".join(str(word) for word in (job["kind"], job.get("algorithm"), location) if word)


class Connection:
    """One client of a session: orders go out, and a thread takes in what comes back. Thread-safe.

    `close` ends the session too if it was started here.
    """

    def __init__(self, name: str, start: list[str] | None, progress: Progress) -> None:
        self.name = name
        self._owner = os.getpid()
        self._program = None if start is None else _Program(name, start)
        try:
            self._socket = self._open(progress)
            self._lines = self._socket.makefile("rb")
            self._check_hello()
        except BaseException:
            if self._program is not None:
                self._program.end()
            raise
        self._sending = threading.Lock()
        self._changed = threading.Condition()
        self._events: dict[int, collections.deque[dict[str, Any]]] = {}  # by order; guarded by _changed
        self._gone: str | None = None  # why; guarded by _changed
        self._ids = itertools.count(1)
        self._unwanted: collections.deque[str] = collections.deque()  # tables without references
        self._janitor_wake_up: queue.SimpleQueue[None] = queue.SimpleQueue()
        self._reader = threading.Thread(target=self._read, name=f"podere session {name}", daemon=True)
        self._reader.start()
        threading.Thread(target=self._clean, name=f"podere tables {name}", daemon=True).start()
        _connections.add(self)

    def _open(self, progress: Progress) -> socket.socket:
        if self._program is not None:
            return self._program.connect(self.name, progress)
        connection = _try_connect(self.name)
        if connection is None:
            raise ValueError(f"there is no session called {self.name}: `podere session list` shows those there are")
        return connection

    def _check_hello(self) -> None:
        self._socket.settimeout(_HELLO_SECONDS)
        try:
            hello = json.loads(self._lines.readline() or b"{}")
        except (OSError, ValueError):
            hello = {}
        self._socket.settimeout(None)
        if hello.get("event") != "ready":
            raise SessionError(f"the session {self.name} does not answer")
        if hello.get("version") != _core.__version__:
            raise SessionError(f"the session {self.name} is of Podere {hello.get('version')}, this is "
                               f"{_core.__version__}: stop it and start it anew")

    # Threads of its own

    def _read(self) -> None:
        with contextlib.suppress(OSError, ValueError):
            for line in self._lines:
                event = json.loads(line)
                with self._changed:
                    events = self._events.get(event.get("id"))
                    if events is not None:
                        events.append(event)
                        self._changed.notify_all()
        with self._changed:
            if self._gone is None:
                self._gone = f"the session {self.name} has ended"
            self._changed.notify_all()
        self._janitor_wake_up.put(None)

    def _clean(self) -> None:
        while self._gone is None:
            self._janitor_wake_up.get()
            with contextlib.suppress(SessionError), self._sending:
                self._send_drops()

    # For others

    def drop_later(self, name: str) -> None:
        """Gives a table's memory back soon. Takes no lock: garbage is collected at any time, in any thread."""
        if os.getpid() == self._owner:
            self._unwanted.append(name)
            self._janitor_wake_up.put(None)

    def ask(self, **order: Any) -> Any:
        """The answer to a question that is no job."""
        with self._order(order) as (_, events), self._changed:
            self._changed.wait_for(lambda: events or self._gone)
            return self._answer(events)

    def run(self, job: dict[str, Any], progress: Progress, keep: bool = False,
            listener: Callable[[Mapping[str, Any]], None] | None = None) -> dict[str, Any]:
        """The result of a job. Python's lock is free meanwhile.

        KeyboardInterrupt cancels the job; when the session has got rid of it, the exception is raised. With `keep`, and
        a job that has something to show then, that is returned instead. `listener` is called with each event before it
        is shown.
        """
        interrupt: KeyboardInterrupt | None = None
        with self._order({"job": job, "name": _title_of(job)}) as (number, events):
            while True:
                try:
                    with self._changed:
                        has_come = self._changed.wait_for(lambda: events or self._gone, _TICK_SECONDS)
                    if not has_come:
                        progress.tick()
                    elif not events or events[0]["event"] in ("result", "failed"):
                        break
                    else:
                        if listener is not None:
                            listener(events[0])
                        _show(events[0], progress)
                        events.popleft()
                except KeyboardInterrupt as error:
                    if interrupt is not None:
                        raise  # impatience
                    interrupt = error
                    self._send({"cancel": number})
            if interrupt is None:
                answer: dict[str, Any] = self._answer(events)
                return answer
        result: dict[str, Any] | None = events[0].get("result") if events else None
        if keep and result is not None:
            return result
        for table in (result or {}).get("tables", []):
            self.drop_later(table["name"])
        raise interrupt

    def _answer(self, events: collections.deque[dict[str, Any]]) -> Any:
        if not events:
            raise SessionError(self._gone)
        if events[0]["event"] == "failed":
            kind = ValueError if events[0].get("kind") == "input" else SessionError
            raise kind(in_python(events[0].get("message", "")))
        return events[0].get("result")

    @contextlib.contextmanager
    def _order(self, order: dict[str, Any]) -> Iterator[tuple[int, collections.deque[dict[str, Any]]]]:
        number = next(self._ids)
        with self._changed:
            events = self._events[number] = collections.deque()
        try:
            self._send({"id": number, **order})
            yield number, events
        finally:
            with self._changed:
                del self._events[number]

    def _send(self, order: dict[str, Any]) -> None:
        with self._sending:
            self._send_drops()  # before what may want the same name
            self._send_now(order)

    def _send_drops(self) -> None:
        while self._unwanted:
            self._send_now({"id": 0, "job": {"kind": "drop", "name": self._unwanted.popleft()}})

    def _send_now(self, order: dict[str, Any]) -> None:
        if self._gone is not None:
            raise SessionError(self._gone)
        try:
            self._socket.sendall(json.dumps(order).encode() + b"\n")
        except OSError:
            raise SessionError(f"the session {self.name} has ended") from None

    def close(self, stop: bool | None = None) -> None:
        """Leaves; ends the session if `stop`, or if it was started here. May be called more than once."""
        if os.getpid() != self._owner:
            return
        with self._changed:
            if self._gone is not None and self._program is None:
                return
        if stop or (stop is None and self._program is not None):
            with contextlib.suppress(SessionError):
                self._send({"stop": True})
            if self._program is None:
                self._reader.join(_END_SECONDS)
        with self._changed:
            self._gone = f"the session {self.name} is closed"
            self._changed.notify_all()
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        program, self._program = self._program, None
        if program is not None:
            program.end()
        self._janitor_wake_up.put(None)

    def _forget_in_child(self) -> None:
        if self._program is not None:
            self._program.let_go()
        with contextlib.suppress(OSError):
            os.close(self._socket.detach())  # unless it was closed before; the session goes by who has it open
        self._sending = threading.Lock()  # its holder is a thread of the parent
        self._changed = threading.Condition()
        self._gone = f"the session {self.name} belongs to the process that this one was forked from"


def _show(event: dict[str, Any], progress: Progress) -> None:
    if event["event"] == "warning":
        progress.say(in_python(event.get("message", "")))
    elif event["event"] == "progress":
        total = event.get("total", 0)
        progress.show(step_text(event), event.get("done", 0) / total if total > 1 else None)


_connections: weakref.WeakSet[Connection] = weakref.WeakSet()


def _after_fork_in_child() -> None:
    for connection in list(_connections):
        connection._forget_in_child()


os.register_at_fork(after_in_child=_after_fork_in_child)
