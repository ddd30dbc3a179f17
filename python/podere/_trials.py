"""How trials of a search are shown."""
from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from typing import Any

_SHOWN = 10

Trials = Sequence[Mapping[str, Any]]  # each with "trial", "score", "state", "params", and its length under a name


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
