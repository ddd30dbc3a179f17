"""What orders of any kind to a session have in common."""
from __future__ import annotations

import contextlib
import os
import tempfile
from typing import Any, Iterator

from ._connection import Connection
from ._parameters import absolute
from ._progress import make_progress
from ._table import Table


class Jobs:
    """The part of a session that runs jobs. Its attributes are set by the session."""

    _connection: Connection
    _shows: bool  # how far jobs are
    _token: str  # begins the names that are made up here
    _numbers: Iterator[int]  # and goes on in them

    @property
    def name(self) -> str:
        """What it is called."""
        return self._connection.name

    @property
    def status(self) -> dict[str, Any]:
        """What there is: "session", "process" (of the driver), "executors", "cores", "tables", "jobs"."""
        return self._connection.ask(ask="status")

    def _run(self, job: dict[str, Any], keep: bool = False) -> dict[str, Any]:
        progress = make_progress(self._shows)
        try:
            return self._connection.run(job, progress, keep)
        finally:
            progress.clear()

    def _new_name(self, name: str | None = None) -> str:
        return f"{self._token}-{next(self._numbers)}" if name is None else str(name)

    def _own(self, table: Any, what: str = "table") -> Table:
        if not isinstance(table, Table):
            raise TypeError(f"{what} is {type(table).__name__}, allowed is a Table, as read_csv() and put(X, y) make")
        if table.session.name != self.name:
            raise ValueError(f"{what} {table.name} is kept by the session {table.session.name}, this is {self.name}")
        return table

    def _place_for(self, name: str, path: Any) -> str:
        """Of a file that executors will write: in a folder that is there, as far as can be seen from here."""
        place = absolute(name, path)
        folder = os.path.dirname(place)
        if self.status["shared_folder"] is None and not os.path.isdir(folder):
            raise ValueError(f"{name} is {path!r}: there is no folder {folder}")
        return place

    @contextlib.contextmanager
    def _shared_file(self) -> Iterator[str]:
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
