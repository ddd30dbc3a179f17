"""Executors that stay, for a script or a notebook."""
from __future__ import annotations

import html
import itertools
import os
import re
import secrets
import weakref
from numbers import Integral
from typing import Any

from ._connection import Connection
from ._models import Models
from ._parameters import whole
from ._progress import make_progress
from ._reading import Reading
from ._table import Table


def _executors_text(executors: Any) -> str:
    if isinstance(executors, Integral) and not isinstance(executors, bool) and executors >= 1:
        return str(int(executors))
    if isinstance(executors, str) and re.fullmatch("[0-9]+(:[0-9]+)?", executors):
        return executors
    raise ValueError(f"executors is {executors!r}, allowed is a number from 1, or '2:8' for 8, or what is left down to "
                     "2")


def _address_text(prometheus: Any) -> str:
    if isinstance(prometheus, bool) or not isinstance(prometheus, (Integral, str)):
        raise TypeError(f"prometheus is {prometheus!r}, allowed are a port and 'ADDRESS:PORT'")
    return str(prometheus)


def _count(name: str, value: Any) -> int:
    return whole(name, value, 1, 2**31 - 1)


class Session(Reading, Models):
    """Executors of this process: they keep tables, train on them, and end with it.

    >>> import podere
    >>> with podere.Session(executors=2, cores=1, progress=False) as s:
    ...     train, test = s.read("collider:2e4").split(0.9, seed=7)
    ...     model = s.fit(podere.GBTClassifier(n_estimators=20, max_depth=5), train)
    ...     model.evaluate(test)["auc"] > 0.7
    True

    Executors that are lost are made up for, with their tables; the model is the same, byte for byte. Ctrl-C (and the
    interrupt of a notebook) cancels the job that runs and keeps the session. A session that nobody closes ends with the
    process, even if that is killed.

    Parameters
    ----------
    executors : int or str, default=1
        How many; "2:8" wants 8 and goes on with what is left, down to 2.
    cores : int or None, default=None
        Threads of each; None shares this machine's out.
    name : str or None, default=None
        By which others find it: `podere session attach NAME`, `Session.connect(name)`. None makes one up.
    farm : str or None, default=None
        On Kubernetes, in whose pods they run: "astro", or "NAMESPACE/astro". Pods that come and go are executors that
        do. None starts them on this machine.
    progress : bool, default=True
        Show what goes on: a line in a terminal, a bar in a notebook, losses as lines on standard error.
    prometheus : int, str or None, default=None
        A port of 127.0.0.1 (0: any that is free), or "ADDRESS:PORT" of this machine, where Prometheus scrapes what
        jobs cost. `s.prometheus` is the URL.

    Raises
    ------
    ValueError
        For what cannot be: no such number of executors, a name that is taken.
    SessionError
        Where executors do not start.
    """

    def __init__(self, executors: int | str = 1, cores: int | None = None, name: str | None = None, *,
                 farm: str | None = None, progress: bool = True, prometheus: int | str | None = None) -> None:
        options = ["--executors", _executors_text(executors)]
        if cores is not None:
            options += ["--cores", str(_count("cores", cores))]
        if prometheus is not None:
            options += ["--prometheus", _address_text(prometheus)]
        if farm is not None:
            options += ["--on", "kubernetes", "--farm", _farm_name(farm)]
        name = f"python-{os.getpid()}-{secrets.token_hex(3)}" if name is None else _session_name(name)
        self._attach(name, options, progress)

    @classmethod
    def connect(cls, name: str, *, progress: bool = True) -> Session:
        """Join a session that there is, of `podere session start NAME` or another process.

        It stays when this process leaves; `shutdown()` ends it.
        """
        session = cls.__new__(cls)
        session._attach(_session_name(name), None, progress)
        return session

    def _attach(self, name: str, start: list[str] | None, progress: bool) -> None:
        self._shows = bool(progress)
        shown = make_progress(self._shows)
        if start is not None:
            n = start[1].split(":")[-1]
            shown.show(f"starting {n} executor{'' if n == '1' else 's'}")
        try:
            self._connection = Connection(name, start, shown)
        finally:
            shown.clear()
        self._token = secrets.token_hex(2)
        self._numbers = itertools.count(1)
        self._put = {}
        self._finalizer = weakref.finalize(self, self._connection.close)

    @property
    def executors(self) -> int:
        """How many there are."""
        return self.status["executors"]

    @property
    def cores(self) -> int:
        """Threads of each executor."""
        return self.status["cores"]

    @property
    def prometheus(self) -> str | None:
        """Where Prometheus finds what jobs cost; None if nobody asked for it."""
        return self.status["prometheus"]

    @property
    def tables(self) -> dict[str, Table]:
        """All tables that the session keeps, by name, those of others too. To have one here does not keep it there."""
        return {facts["name"]: Table(self, facts, False) for facts in self.status["tables"]}

    @property
    def jobs(self) -> list[dict[str, Any]]:
        """What was asked for, the last ones of many: "job" (a number), "kind", "state", "seconds", "progress"."""
        return self.status["jobs"]

    def log(self, job: int | None = None) -> list[str]:
        """What happened in a job, line by line, such as losses of executors; None is the last job that has begun.

        (But for those that drop tables which nobody has any more.)
        """
        return self._told_of(job, "running", "done", "failed", "cancelled").get("log", [])

    def metrics(self, job: int | None = None) -> dict[str, Any]:
        """What a job cost: seconds of work, waiting and CPU, bytes, rows, memory. None is the last job that is done.

        (But for those that drop tables which nobody has any more.)

        Returns
        -------
        dict
            The figures of docs/metrics.md: of the "job", as a dict; of each of its "phases", as a list of dicts; and of
            its "tasks", each a phase on one executor. Empty for a job that failed or is not done.
        """
        return self._told_of(job, "done").get("metrics") or {}

    def _told_of(self, job: int | None, *states: str) -> dict[str, Any]:
        """What there is to tell of a job; None is the last that is in one of these states."""
        if job is None:
            numbers = [known["job"] for known in self.jobs if known["state"] in states and known["kind"] != "drop"]
            if not numbers:
                return {}
            job = numbers[-1]
        return self._connection.ask(ask="job", job=_count("job", job))

    def cancel(self, job: int) -> None:
        """Stop a job, of another thread or process. Training keeps the trees it has."""
        self._connection.ask(cancel_job=_count("job", job))

    def scale(self, n: int) -> None:
        """Go on with `n` executors, soon; training pauses at a checkpoint. The model stays the same."""
        self._connection.ask(scale={"executors": _count("n", n)})

    def adapt(self, minimum: int = 1, maximum: int = 1) -> None:
        """Go on with `maximum` executors, and when some are lost with what is left, down to `minimum`."""
        minimum, maximum = _count("minimum", minimum), _count("maximum", maximum)
        if minimum > maximum:
            raise ValueError(f"minimum is {minimum}, allowed is at most maximum, {maximum}")
        self._connection.ask(scale={"executors": maximum, "least": minimum})

    def close(self) -> None:
        """Leave the session, and end it if it was started here. May be called more than once."""
        self._finalizer()

    def shutdown(self) -> None:
        """End the session with its executors, whoever started it."""
        if self._finalizer.detach() is not None:
            self._connection.close(stop=True)

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __repr__(self) -> str:
        if not self._finalizer.alive:
            return f"<podere.Session {self.name}: closed>"
        try:
            status = self.status
        except RuntimeError as error:
            return f"<podere.Session {self.name}: {error}>"
        return (f"<podere.Session {self.name}: {status['executors']} executors x {status['cores']} cores, "
                f"{len(status['tables'])} tables>")

    def _repr_html_(self) -> str:
        return html.escape(repr(self).strip("<>").removeprefix("podere."))


def _farm_name(farm: Any) -> str:
    if not isinstance(farm, str) or not farm:
        raise ValueError(f"farm is {farm!r}, allowed is a name such as \"astro\" or \"namespace/astro\"")
    return farm


def _session_name(name: Any) -> str:
    if isinstance(name, str) and re.fullmatch("[A-Za-z0-9_-][A-Za-z0-9._-]{0,39}", name):
        return name
    raise ValueError(f"name is {name!r}, allowed are up to 40 letters, digits, dots, _ and -")
