"""How progress is shown: one line of a terminal, a bar in a notebook, nothing elsewhere."""
from __future__ import annotations

import contextlib
import html
import os
import shutil
import sys
import time
import urllib.parse
from collections.abc import Callable, Iterator, Mapping
from numbers import Integral
from typing import Any

_BAR_CELLS = 24
_DRAW_SECONDS = 0.1
_QUIET_SECONDS = 0.3  # what is over by then is not shown
_WORDS = {"": "working", "read": "reading", "receive": "receiving", "restore": "making tables again",
          "folds": "cross-validating", "tune": "searching", "train": "training", "split": "splitting", "transform": "transforming",
          "write": "writing", "explain": "explaining", "permute": "shuffling", "svd": "finding singular values",
          "project": "projecting", "covariance": "finding covariances", "qr": "finding Q and R"}
_UNITS = {"train": "trees", "explain": "rows", "permute": "shuffles", "restore": "tables"}


def step_text(event: Mapping[str, Any]) -> str:
    """What a progress event says, in words: "training: 12 of 50 trees, loss 0.5310"."""
    phase, done, total = event.get("phase", ""), event.get("done", 0), event.get("total", 0)
    text: str = _WORDS.get(phase, phase)
    unit = _plural(event["unit"]) if event.get("unit") else _UNITS.get(phase, "steps")
    if total > 1:
        text += f": {done:,} of {total:,} {unit}"
    elif total == 0 and done > 0 and event.get("unit"):  # how many there will be is not known
        text += f": {done:,} {event['unit'] if done == 1 else unit}"
    for name, value in (event.get("metrics") or {}).items():
        if isinstance(value, (int, float)):
            digits = ".0f" if name in ("epoch", "fold") else ".1e" if name == "residual" else ".4f"
            text += f", {name.replace('_', ' ')} {value:{digits}}"
    return text


def _plural(unit: str) -> str:
    return unit + ("es" if unit.endswith("s") else "s")


class Progress:
    """Of one job. This one shows only what must be shown."""

    def show(self, text: str, share: float | None = None) -> None:
        """Show what is done, and which share of it is finished, if that is known."""

    def tick(self) -> None:
        """Some time has passed."""

    def say(self, line: str) -> None:
        """Print a line that stays."""
        print(f"podere: {line}", file=sys.stderr, flush=True)

    def clear(self) -> None:
        """The job is over."""


class Silent(Progress):
    """Shows nothing."""

    def say(self, line: str) -> None:
        pass


class _Drawn(Progress):
    """What can be drawn again and again, though not too often."""

    def __init__(self) -> None:
        self._text = ""
        self._share: float | None = None
        self._start = time.monotonic()
        self._due = self._start + _QUIET_SECONDS
        self._is_drawn = False

    def show(self, text: str, share: float | None = None) -> None:
        self._text, self._share = text, share
        self.tick()

    def tick(self) -> None:
        now = time.monotonic()
        if now < self._due or not self._text:
            return
        self._due = now + _DRAW_SECONDS
        self._draw(f"{self._text} · {now - self._start:.0f} s", self._share)
        self._is_drawn = True

    def say(self, line: str) -> None:
        self.clear()
        super().say(line)

    def clear(self) -> None:
        if self._is_drawn:
            self._erase()
        self._is_drawn = False

    def _draw(self, text: str, share: float | None) -> None:
        raise NotImplementedError

    def _erase(self) -> None:
        raise NotImplementedError


class _Terminal(_Drawn):
    def _draw(self, text: str, share: float | None) -> None:
        bar = ""
        if share is not None:
            n = int(_BAR_CELLS * min(max(share, 0), 1))
            bar = "━" * n + "─" * (_BAR_CELLS - n) + " "
        width = shutil.get_terminal_size().columns
        sys.stderr.write("\r\x1b[K" + (bar + text)[:width - 1])
        sys.stderr.flush()

    def _erase(self) -> None:
        sys.stderr.write("\r\x1b[K")
        sys.stderr.flush()


class _Notebook(_Drawn):
    def __init__(self, link: str = "", below: Callable[[], str] | None = None) -> None:
        super().__init__()
        self._link = link
        self._below = below
        self._handle: Any = None

    def _draw(self, text: str, share: float | None) -> None:
        value = "" if share is None else f' value="{min(max(share, 0), 1):.4f}"'
        link = f" · {self._link}" if self._link else ""
        below = self._below() if self._below else ""
        self._put(f'<progress max="1"{value}></progress> {html.escape(text)}{link}{below}', text)

    def _erase(self) -> None:
        self._put("", "")

    def _put(self, text: str, plain: str) -> None:
        from IPython.display import display
        data = {"text/html": text, "text/plain": plain}
        if self._handle is None:
            self._handle = display(data, raw=True, display_id=True)
        else:
            self._handle.update(data, raw=True)


def _is_notebook() -> bool:
    """Whether this runs in a kernel of Jupyter."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return shell is not None and hasattr(shell, "kernel")


class _Lines(Progress):
    """A line at each tenth of the way, for logs."""

    def __init__(self) -> None:
        self._tenths = -1

    def show(self, text: str, share: float | None = None) -> None:
        if share is not None and int(10 * share) > self._tenths:
            self._tenths = int(10 * share)
            self.say(text)


@contextlib.contextmanager
def shown(verbose: Any, below: Callable[[], str] | None = None) -> Iterator[Callable[[Mapping[str, Any]], None] | None]:
    """What training in this process calls with its progress events; None where they are not shown.

    `below` is that of make_progress.
    """
    if not isinstance(verbose, Integral) and not hasattr(verbose, "__bool__"):
        raise TypeError(f"verbose is {verbose!r}, allowed are True, False and whole numbers")
    if not verbose:
        yield None
        return
    progress = make_progress(True, below=below)
    if type(progress) is Progress:
        progress = _Lines()

    def show(event: Mapping[str, Any]) -> None:
        total = event["total"]
        progress.show(step_text(event), event["done"] / total if total > 1 else None)

    try:
        yield show
    finally:
        progress.clear()


def address_here(page: str) -> str:
    """Where a browser finds the page of a session: under JupyterHub by way of jupyter-server-proxy."""
    hub = os.environ.get("JUPYTERHUB_SERVICE_PREFIX")
    if not hub:
        return page
    parts = urllib.parse.urlsplit(page)
    return f"{hub.rstrip('/')}/proxy/{parts.port}/?{parts.query}"


def page_link(page: str | None) -> str:
    """The page of a session as HTML; "" for a session without one."""
    if page is None:
        return ""
    return f'<a href="{html.escape(address_here(page))}" target="_blank" rel="noopener noreferrer">open the page</a>'


def show_panel(text: str, plain: str) -> None:
    """Under the cell of a notebook; nothing elsewhere."""
    if _is_notebook():
        from IPython.display import display
        display({"text/html": text, "text/plain": plain}, raw=True)


def make_progress(is_wanted: bool, page: str | None = None, below: Callable[[], str] | None = None) -> Progress:
    """What fits where this runs; `page` is that of the session, `below` makes what a notebook has below it, as HTML."""
    if not is_wanted:
        return Silent()
    if _is_notebook():
        return _Notebook(page_link(page), below)
    if sys.stderr is not None and sys.stderr.isatty():
        return _Terminal()
    return Progress()
