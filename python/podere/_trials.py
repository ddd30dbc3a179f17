"""How trials of a search are shown."""
from __future__ import annotations

import html
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

_SHOWN = 10

Trials = Sequence[Mapping[str, Any]]  # each with "trial", "score", "state", "params", and its length under a name


class LiveTrials:
    """The trials of a search that is under way, as events of its job have them; `shown` makes of each one of Trials."""

    def __init__(self, shown: Callable[[Mapping[str, Any]], dict[str, Any]], length: str) -> None:
        self._shown, self._length = shown, length
        self._measure = ""
        self._trials: dict[int, dict[str, Any]] = {}

    def take(self, event: Mapping[str, Any]) -> None:
        """An event of the job, which may have trials or not."""
        search = event.get("search", {})
        self._measure = search.get("score", self._measure)
        for trial in search.get("trials", []):
            self._trials[trial["trial"]] = trial

    def html(self) -> str:
        """The best ones, and how many are under way; "" before the first."""
        if not self._trials:
            return ""
        trials = best_first(self._trials.values(), is_maximized(self._measure))
        n_running = sum(trial["state"] == "running" for trial in trials)
        table = html_of([self._shown(trial) for trial in trials[:_SHOWN]], self._measure or "score", self._length)
        return f"{table}<p>{len(trials)} trials, {n_running} under way</p>"


def is_maximized(measure: str) -> bool:
    """Whether models with more of it are better."""
    return measure in ("auc", "accuracy")


def best_first(trials: Iterable[dict[str, Any]], maximize: bool) -> list[dict[str, Any]]:
    """Those without a score last."""
    sign = -1 if maximize else 1
    return sorted(trials, key=lambda trial: math.inf if trial["score"] is None else sign * trial["score"])


def frame_of(trials: Trials, length: str) -> Any:
    """A DataFrame with a row for each."""
    import pandas
    return pandas.DataFrame([{**{name: trial[name] for name in ("trial", "state", "score", length)}, **trial["params"]}
                             for trial in trials])


def html_of(trials: Trials, measure: str, length: str) -> str:
    """A table of the first ones."""
    names = list(dict.fromkeys(name for trial in trials for name in trial["params"]))
    head = "".join(f"<th>{html.escape(name)}</th>" for name in ("trial", measure, length, "state", *names))
    rows = "".join(_row(trial, length, names) for trial in trials[:_SHOWN])
    more = len(trials) - _SHOWN
    return f"<table><tr>{head}</tr>{rows}</table>" + (f"<p>... and {more} more</p>" if more > 0 else "")


def _row(trial: Mapping[str, Any], length: str, names: Sequence[str]) -> str:
    score = "" if trial["score"] is None else f"{trial['score']:.6g}"
    cells = [trial["trial"], score, trial[length], trial["state"], *(trial["params"].get(name, "") for name in names)]
    return "<tr>" + "".join(f"<td>{html.escape(_cell(cell))}</td>" for cell in cells) + "</tr>"


def _cell(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)
