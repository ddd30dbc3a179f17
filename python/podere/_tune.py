"""Searches for the parameters of estimators, on tables of sessions."""
from __future__ import annotations

import html
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sklearn.base import clone

from ._estimator import Estimator
from ._stored_table import StoredTable

#: Parameters whose options have other names.
_OPTIONS = {"n_estimators": "n_trees", "max_depth": "depth", "grow_policy": "best_first", "max_bins": "bins",
            "reg_lambda": "lambda", "min_split_gain": "min_gain", "colsample_bytree": "column_subsample",
            "hidden_layer_sizes": "hidden", "solver": "optimiser", "iterations": "epochs", "standardize": "standardise",
            "initialization": "initialisation", "random_state": "seed"}
_BEST_FIRST = {"depthwise": False, "lossguide": True}
_LENGTHS = ("n_trees", "epochs")
_PATIENCE = ("early_stopping_rounds", "early_stopping_epochs")
_SHOWN = 10


@dataclass(frozen=True)
class Tuned:
    """What Session.tune found.

    Attributes
    ----------
    estimator : estimator
        A copy with the best parameters, fitted on all rows.
    params : dict
        Those that were searched, and how long it was trained.
    score : float
        Of the best trial. It is the best of many, so it is a little too good: evaluate the estimator on other rows.
    measure : str
        What the score is: "auc", "log_loss", ...
    trials : list of dict
        The best in front: "trial" (its number), "state" ("complete", "paused" or "failed"), "score", "rounds" (or epochs,
        after which it was the best), "params", "facts" (its measures, or "error").
    """

    estimator: Any
    params: dict[str, Any]
    score: float
    measure: str
    trials: list[dict[str, Any]]

    def to_pandas(self) -> Any:
        """A DataFrame with a row for each trial, the best in front."""
        import pandas
        return pandas.DataFrame([{**{name: trial[name] for name in ("trial", "state", "score", "rounds")},
                                  **trial["params"]} for trial in self.trials])

    def __repr__(self) -> str:
        return f"<{self.measure} {self.score:.6g} of {len(self.trials)} trials: {self.estimator!r}>"

    def _repr_html_(self) -> str:
        names = list(dict.fromkeys(name for trial in self.trials for name in trial["params"]))
        head = "".join(f"<th>{html.escape(name)}</th>" for name in ("trial", self.measure, "rounds", "state", *names))
        rows = "".join(_html_row(trial, names) for trial in self.trials[:_SHOWN])
        more = len(self.trials) - _SHOWN
        return f"<table><tr>{head}</tr>{rows}</table>" + (f"<p>... and {more} more</p>" if more > 0 else "")


def _html_row(trial: Mapping[str, Any], names: Sequence[str]) -> str:
    score = "" if trial["score"] is None else f"{trial['score']:.6g}"
    cells = [trial["trial"], score, trial["rounds"], trial["state"], *(trial["params"].get(name, "") for name in names)]
    return "<tr>" + "".join(f"<td>{html.escape(_cell(cell))}</td>" for cell in cells) + "</tr>"


def _cell(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def tune_on_table(estimator: Estimator, space: Any, table: StoredTable, validation: StoredTable | None,
                  search: dict[str, Any]) -> Tuned:
    """As Session.tune; `search` are fields of the job."""
    names = table.facts["features"]
    model = clone(estimator)
    options, defaults = (of._make_options(names, True) for of in (model, type(model)()))
    model._check_categories(table)
    model._learn_target_of(table)
    searched = _space_of(model, space)
    job = model._job_of(model._choose_objective(options), options)
    classes = getattr(model, "classes_", None)
    # Of a space of its own, all others are the estimator's; of the default one, those that were chosen.
    fixed = {name: value for name, value in job["options"].items() if name != "validation_fraction" and (
        name not in searched if searched else defaults.get(name) != value)}
    job = {**job, **search, "kind": "tune", "options": fixed, "table": table.spec(classes), "space_name": "space",
           "space": _toml(searched)}
    if validation is not None:
        job["validation"] = validation.spec(classes)
    result = table.jobs.run(job)
    facts = result["facts"]
    best = facts["trials"][facts["best"]]
    params = _params_of(model, {name: facts["options"][name] for name in dict.fromkeys((*best["setting"], *_LENGTHS))
                                if name in facts["options"]})
    model.set_params(**params)
    model._model = model._MODEL.from_text(result["model"], f"model of table {table.name}")
    model._take_names(names)
    trials = [_trial_of(model, trial) for trial in facts["trials"]]
    sign = -1 if facts["score"] in ("auc", "accuracy") else 1
    trials.sort(key=lambda trial: (trial["score"] is None, sign * (trial["score"] or 0)))
    return Tuned(model, params, best["score"], facts["score"], trials)


def _trial_of(model: Estimator, trial: Mapping[str, Any]) -> dict[str, Any]:
    return {"trial": trial["trial"], "state": trial["state"], "score": trial["score"], "rounds": trial["budget"],
            "params": _params_of(model, trial["setting"]), "facts": trial["facts"]}


def _params_of(model: Estimator, options: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters of the names of the estimator."""
    names = {_OPTIONS.get(name, name): name for name in model.get_params(deep=False)}
    return {names[option]: _value_of(option, value) for option, value in options.items() if option in names}


def _value_of(option: str, value: Any) -> Any:
    if option == "best_first":
        return "lossguide" if value else "depthwise"
    if option == "hidden":
        sizes = value.split(",") if isinstance(value, str) else value if isinstance(value, list) else [value]
        return tuple(int(size) for size in sizes)
    return None if option in _PATIENCE and value == 0 else value


def _space_of(model: Estimator, space: Any) -> dict[str, Any]:
    """Options and what they may be, as TOML has them; empty: the default."""
    if space is None:
        return {}
    if not isinstance(space, Mapping):
        raise TypeError(f"space is {space!r}, allowed is a dict of parameters, or None")
    if not space:
        raise ValueError("space is empty, allowed is a dict of parameters, or None for the default one")
    params = model.get_params(deep=False)
    for name in space:
        if name not in params:
            raise ValueError(f"space names {name!r}, which is no parameter of {type(model).__name__}: there are "
                             f"{', '.join(sorted(params))}")
    return {_OPTIONS.get(str(name), str(name)): _domain_of(name, domain) for name, domain in space.items()}


def _domain_of(name: str, domain: Any) -> Any:
    if isinstance(domain, tuple) and len(domain) in (2, 3) and name != "hidden_layer_sizes":
        if len(domain) == 3 and domain[2] != "log":
            raise ValueError(f"space of {name} is {domain!r}, allowed are (low, high), (low, high, 'log') and lists")
        return {"low": domain[0], "high": domain[1], **({"log": True} if len(domain) == 3 else {})}
    if isinstance(domain, list):
        return [_option_value(name, value) for value in domain]
    if isinstance(domain, Mapping):
        when = {_OPTIONS.get(parent, parent): [_option_value(parent, value) for value in
                                               (values if isinstance(values, list) else [values])]
                for parent, values in domain.get("when", {}).items()}
        return {**{key: value for key, value in domain.items() if key != "when"}, **({"when": when} if when else {})}
    return _option_value(name, domain)


def _option_value(name: str, value: Any) -> Any:
    if name == "grow_policy" and value in _BEST_FIRST:
        return _BEST_FIRST[value]
    if name == "hidden_layer_sizes":
        return ",".join(str(size) for size in (value if isinstance(value, (tuple, list)) else [value]))
    return value.item() if hasattr(value, "item") else value


def _toml(space: Mapping[str, Any]) -> str:
    return "".join(f"{json.dumps(name)} = {_toml_value(value)}\n" for name, value in space.items())


def _toml_value(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{json.dumps(name)} = {_toml_value(of)}" for name, of in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml_value, value)) + "]"
    if hasattr(value, "item"):
        value = value.item()
    if not isinstance(value, (bool, int, float, str)):
        raise TypeError(f"space has {value!r}, allowed are numbers, texts, True and False")
    return repr(value) if isinstance(value, float) else json.dumps(value)
