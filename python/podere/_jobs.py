"""Jobs on the executors of a session, whatever they do."""
from __future__ import annotations

import contextlib
import itertools
import os
import secrets
import tempfile
import threading
from collections.abc import Iterator, Sequence
from typing import Any, TypedDict

from ._connection import Connection, SessionError
from ._parameters import absolute
from ._progress import make_progress
from ._trials import LiveTrials


class Status(TypedDict):
    """What a session says of itself."""

    session: str
    process: int
    executors: int
    cores: int
    page: str | None
    prometheus: str | None
    shared_folder: str | None
    tables: list[Any]
    jobs: list[dict[str, Any]]


class JobRunner:
    """Runs jobs over a connection, one after another, and shows how far they are. Thread-safe."""

    def __init__(self, connection: Connection, shows_progress: bool, keeps_reports: bool = False) -> None:
        self._connection = connection
        self._keeps_reports = keeps_reports
        self._shows_progress = shows_progress
        self._prefix = secrets.token_hex(2)  # of names that are made up here
        self._numbers = itertools.count(1)
        self.page = self.status["page"]
        self._refused: dict[int, str] = {}  # by thread: why
        self._arrays: dict[str, tuple[Any, ...]] = {}  # behind tables that have names of their own

    @property
    def session_name(self) -> str:
        return self._connection.name

    @property
    def status(self) -> Status:
        status: Status = self._connection.ask(ask="status")
        return status

    def run(self, job: dict[str, Any], keep: bool = False, live: LiveTrials | None = None) -> dict[str, Any]:
        """The result of a job; `keep` is that of Connection.run. `live` gets its trials."""
        if why := self._refused.get(threading.get_ident()):
            raise SessionError(why)
        if self._keeps_reports and job["kind"] in ("train", "evaluate"):
            job = {**job, "report": True}
        progress = make_progress(self._shows_progress, self.page, live.html if live else None)
        try:
            return self._connection.run(job, progress, keep, live.take if live else None)
        finally:
            progress.clear()

    @contextlib.contextmanager
    def refused_here(self, why: str) -> Iterator[None]:
        """Jobs of this thread are refused meanwhile, which would wait without end."""
        self._refused[threading.get_ident()] = why
        try:
            yield
        finally:
            del self._refused[threading.get_ident()]

    def run_of(self, job: int) -> dict[str, Any]:
        """The run of a job, as reports have it."""
        run: dict[str, Any] = self._connection.ask(ask="run", job=job)
        return run

    def runs_there(self, jobs: Sequence[int]) -> list[dict[str, Any]]:
        """Of these jobs, without those that never began or whose runs the session does not keep any more."""
        runs = []
        for job in jobs:
            with contextlib.suppress(ValueError):
                runs.append(self.run_of(job))
        return runs

    # Tables

    def table_name(self, name: str | None = None) -> str:
        """What a table will be called: as asked, or a name that no other has."""
        return f"{self._prefix}-{next(self._numbers)}" if name is None else str(name)

    def drop_later(self, table: str) -> None:
        """Gives a table's memory back soon; allowed in finalizers."""
        self._connection.drop_later(table)

    def keep_arrays(self, table: str, arrays: tuple[Any, ...]) -> None:
        """Arrays that a table which stays is made from, should it have to be made again."""
        self._arrays[table] = arrays

    def drop(self, table: str) -> None:
        """Gives a table's memory back now, with its arrays."""
        self.run({"kind": "drop", "name": table})
        self._arrays.pop(table, None)

    # Files

    def output_path(self, name: str, path: Any) -> str:
        """Of a file that executors will write: in a folder that is there, as far as can be seen from here."""
        output = absolute(name, path)
        folder = os.path.dirname(output)
        if self.status["shared_folder"] is None and not os.path.isdir(folder):
            raise ValueError(f"{name} is {path!r}: there is no folder {folder}")
        return output

    @contextlib.contextmanager
    def shared_file(self) -> Iterator[str]:
        """An empty file that executors can open: in memory of this process, or where they see it from elsewhere."""
        folder = self.status["shared_folder"]
        if folder is None:
            with os.fdopen(os.memfd_create("podere"), "w+b") as file:
                yield f"/proc/{os.getpid()}/fd/{file.fileno()}"
        else:
            with tempfile.TemporaryDirectory(dir=folder) as own:
                path = os.path.join(own, "file")
                open(path, "xb").close()
                yield path
