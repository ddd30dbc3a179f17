"""A table on its way to the executors of a session, wherever its rows are."""
from __future__ import annotations

import threading
import warnings
from collections.abc import Callable
from typing import Any

from ._connection import SessionError
from ._jobs import JobRunner
from ._reading import read_as
from ._spark_columns import Columns
from ._spark_gathering import Gathering, Group
from ._stored_table import Facts

_MOST_ATTEMPTS = 3  # groups of executors to which a table is sent, one after the loss of another
_WAIT_SECONDS = 0.02

Deliver = Callable[[dict[str, Any], Gathering], list[int]]
"""Sends all partitions by a plan, as `_spark_worker.Sender` does; how many rows each has. Called again after a loss."""


class Sending:
    """One table. `in_words` makes of what `deliver` raises what the caller is to see."""

    def __init__(self, columns: Columns, jobs: JobRunner, name: str, address: str, deliver: Deliver,
                 in_words: Callable[[Exception], Exception]) -> None:
        self._columns = columns
        self._jobs = jobs
        self._name = name
        self._deliver = deliver
        self._in_words = in_words
        self._gathering = Gathering(address)
        self._result: dict[str, Any] | None = None
        self._failure: Exception | None = None
        self._job = threading.Thread(target=self._run_job, name="podere receive", daemon=True)

    def run(self) -> Facts:
        """What executors say of the table that they have then."""
        self._job.start()
        try:
            with self._jobs.refused_here(f"while the table {self._name} is sent, the session does nothing else"):
                counts = self._send()
        except BaseException:
            self._gathering.close()
            self._job.join()
            raise
        self._job.join()
        self._gathering.close()
        if self._failure is not None:
            raise self._failure
        assert self._result is not None
        facts: Facts
        facts, = self._result["tables"]
        facts["read_as"] = read_as({"rounded": self._result["rounded"]})
        facts["partitions"] = counts
        return facts

    def _run_job(self) -> None:
        columns = self._columns
        job = {"kind": "receive", "name": self._name, "token": self._gathering.token, "host": self._gathering.host,
               "port": self._gathering.port, "features": columns.names, "blocks": [len(part.names) for part in columns.features],
               "kinds": columns.kinds()}
        if columns.label is not None:
            job.update(label=columns.label.name, classes=columns.label.texts or [])
        if columns.weight is not None:
            job["weight"] = columns.weight.name
        try:
            self._result = self._jobs.run(job)
        except Exception as error:  # noqa: BLE001, raised again where run() is called
            self._failure = error

    def _send(self) -> list[int]:
        counts: list[int] = []
        attempts = 0
        while (group := self._await_group()) is not None:
            if attempts == _MOST_ATTEMPTS:
                raise SessionError(f"executors were lost {attempts} times while {self._name} was sent")
            if attempts > 0:
                warnings.warn(f"executors of the session were lost while {self._name} was sent: all is sent again",
                              UserWarning, stacklevel=4)
            attempts += 1
            plan = {"token": self._gathering.token, "executors": group.addresses,
                    "parts": [part.for_workers() for part in self._columns.parts]}
            try:
                counts = self._deliver(plan, self._gathering)
            except Exception as error:  # noqa: BLE001, of whatever rows come from
                if not group.is_lost:
                    self._gathering.abandon("not all of its rows were sent")
                    seen = self._in_words(error)
                    raise seen from (None if seen is error else error)
            else:
                self._gathering.complete(group, counts)
        return counts

    def _await_group(self) -> Group | None:
        """The next that takes rows; None once the job has ended."""
        while self._job.is_alive():
            group = self._gathering.wait(lambda: not self._job.is_alive(), _WAIT_SECONDS)
            if group is not None:
                return group
        return None
