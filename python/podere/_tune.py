"""Searches for the parameters of estimators, on tables of sessions."""
from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sklearn.base import clone

from . import _core
from ._estimator import Estimator
from ._space import Encoding, domains_of, to_toml
from ._stored_table import StoredTable
from ._trials import LiveTrials, best_first, frame_of, html_of, is_maximized

#: Parameters whose options have other names.
_OPTIONS = {"n_estimators": "n_trees", "max_depth": "depth", "grow_policy": "best_first", "max_bins": "bins",
            "reg_lambda": "lambda", "min_split_gain": "min_gain", "colsample_bytree": "column_subsample",
            "hidden_layer_sizes": "hidden", "solver": "optimiser", "iterations": "epochs", "standardize": "standardise",
            "initialization": "initialisation", "random_state": "seed"}
_BEST_FIRST = {"depthwise": False, "lossguide": True}
_LENGTHS = ("n_trees", "epochs")
_PATIENCE = ("early_stopping_rounds", "early_stopping_epochs")


@dataclass(frozen=True)
class Tuned:
    """What Session.tune found.

    Attributes
    ----------
    estimator : estimator
        A copy with the best parameters, fitted on all rows.
    params : dict
        Those that were searched, and how long it was trained; of an ensemble those of the best trial.
    score : float
        Of that trial, or of the ensemble. It is the best of many, so it is a little too good: evaluate the estimator on other rows.
    measure : str
        What the score is: "auc", "log_loss", ...
    trials : list of dict
        The best in front: "trial" (its number), "state" ("complete", "paused" or "failed"), "score", "rounds" (or epochs,
        after which it was the best), "params", "facts" (its measures, or "error").
    ensemble : dict or None
        The trials that the estimator blends, and the weight of each. None: it is one trial alone.
    nested : dict or None
        Of nested searches "each" part of the rows with its measures and the "search_score", which the search had found;
        and "measures", of each the "mean", the "standard_deviation" and the "standard_error".
    """

    estimator: Any
    params: dict[str, Any]
    score: float
    measure: str
    trials: list[dict[str, Any]]
    ensemble: dict[int, float] | None = None
    nested: dict[str, Any] | None = None

    def to_pandas(self) -> Any:
        """A DataFrame with a row for each trial, the best in front."""
        return frame_of(self.trials, "rounds")

    def __repr__(self) -> str:
        return f"<{self.measure} {self.score:.6g} of {len(self.trials)} trials: {self.estimator!r}>"

    def _repr_html_(self) -> str:
        return html_of(self.trials, self.measure, "rounds")


def tune_on_table(estimator: Estimator, space: Any, table: StoredTable, validation: StoredTable | None,
                  search: dict[str, Any]) -> Tuned:
    """As Session.tune; `search` are fields of the job."""
    fold_group = search.get("folds", {}).get("group")
    names = [name for name in table.facts["features"] if name != fold_group]
    model = clone(estimator)
    options, defaults = (of._make_options(names, True) for of in (model, type(model)()))
    model._check_categories(table, fold_group)
    model._learn_target_of(table)
    searched = _space_of(model, space)
    job = model._job_of(model._choose_objective(options), options)
    classes = getattr(model, "classes_", None)
    # What is not searched is the estimator's; of the default space so is what was chosen for it.
    names_of_space = searched or tomllib.loads(_core.default_space(job["algorithm"], json.dumps(job["options"])))
    fixed = {name: value for name, value in job["options"].items() if name != "validation_fraction" and (
        name not in names_of_space or not searched and defaults.get(name) != value)}
    job = {**job, **search, "kind": "tune", "options": fixed, "table": table.spec(classes), "space_name": "space",
           "space": to_toml(searched)}
    if validation is not None:
        job["validation"] = validation.spec(classes)
    result = table.jobs.run(job, live=LiveTrials(lambda trial: _trial_of(model, trial), "rounds"))
    facts = result["facts"]
    chosen = next(trial for trial in facts["trials"] if trial["trial"] == facts["chosen"])
    params = _params_of(model, {name: facts["options"][name] for name in dict.fromkeys((*chosen["setting"], *_LENGTHS))
                                if name in facts["options"]})
    model.set_params(**params)
    model._model = model._MODEL.from_text(result["model"], f"model of table {table.name}")
    model._take_names(names)
    trials = best_first((_trial_of(model, trial) for trial in facts["trials"]), is_maximized(facts["score"]))
    blended = facts.get("ensemble")
    ensemble = blended and {member["trial"]: member["weight"] for member in blended["trials"]}
    return Tuned(model, params, (blended or chosen)["score"], facts["score"], trials, ensemble, facts.get("nested"))


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
    """Options and what they may be; empty: the default."""
    if space is None:
        return {}
    params = model.get_params(deep=False)
    for name in space if isinstance(space, Mapping) else ():
        if name not in params:
            raise ValueError(f"space names {name!r}, which is no parameter of {type(model).__name__}: there are "
                             f"{', '.join(sorted(params))}")
    layers = space.get("hidden_layer_sizes") if isinstance(space, Mapping) else None
    if isinstance(layers, tuple):  # of one network, not a range
        space = {**space, "hidden_layer_sizes": [layers]}
    return domains_of(space, _Options())


class _Options(Encoding):
    """Those of the estimators' parameters."""

    def name(self, name: str) -> str:
        return _OPTIONS.get(name, name)

    def value(self, name: str, value: Any) -> Any:
        if name == "grow_policy" and value in _BEST_FIRST:
            return _BEST_FIRST[value]
        if name == "hidden_layer_sizes":
            return ",".join(str(size) for size in (value if isinstance(value, (tuple, list)) else [value]))
        return value
