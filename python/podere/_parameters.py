"""Parameters of estimators: what is allowed, how many threads they mean, and their names among Podere's options."""
from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from numbers import Integral, Real
from typing import Any, TypeVar

from numpy import bool_
from sklearn.utils import check_random_state

from . import _core

_Value = TypeVar("_Value")
_INF = float("inf")
_MOST_THREADS = 4096  # as --cores has it
_PENALTY = "a number from 0 to 1e12"


def whole(name: str, value: Any, least: int, most: int, none: int | None = None) -> int:
    """A whole number in [least, most]; `none` is what None means, if it is allowed."""
    if value is None and none is not None:
        return none
    allowed = f"allowed is a whole number from {least} to {most}" + (" or None" if none is not None else "")
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise TypeError(f"{name} is {value!r}, {allowed}")
    if not least <= int(value) <= most:
        raise ValueError(f"{name} is {value!r}, {allowed}")
    return int(value)


def real(name: str, value: Any, allowed: str, above: float = -_INF, least: float = -_INF, below: float = _INF,
         most: float = _INF) -> float:
    """A finite number above, from, below or up to the bounds, which `allowed` says in words."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{name} is {value!r}, allowed is {allowed}")
    try:
        number = float(value)
    except OverflowError:  # a whole number
        number = _INF if value > 0 else -_INF  # type: ignore[operator]  # numbers.Real has no order for mypy
    if not (math.isfinite(number) and above < number < below and least <= number <= most):
        raise ValueError(f"{name} is {value!r}, allowed is {allowed}")
    return number


def absolute(name: str, path: Any) -> str:
    """Of a path that is called `name`, for executors, which may work in another folder and receive it as JSON."""
    if not isinstance(path, (str, bytes, os.PathLike)):
        raise TypeError(f"{name} is {path!r}, allowed is a path")
    text = os.fsdecode(path)
    if not text or "\0" in text:
        raise ValueError(f"{name} is {path!r}, allowed is a path")
    text = os.path.abspath(text)
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError(f"{name} is {text!r}, which is no UTF-8: rename it, or make a link to it with another name") from None
    return text


def place_of(feature: Any, names: Sequence[str], parameter: str) -> int:
    """Where a feature stands that a parameter gives by name or by position."""
    if isinstance(feature, str) and feature in names:
        return names.index(feature)
    if isinstance(feature, Integral) and not isinstance(feature, bool) and 0 <= int(feature) < len(names):
        return int(feature)
    shown = ", ".join(names[:20]) + (", ..." if len(names) > 20 else "")
    raise ValueError(f"{parameter} names the feature {feature!r}; there are {shown} (positions 0 to {len(names) - 1})")


def choice(name: str, value: Any, allowed: Mapping[str, _Value],
           elsewhere: Mapping[str, str] | None = None) -> _Value:
    """The value of a text. `elsewhere` has texts of other libraries, and what to use instead."""
    if not isinstance(value, str) or value not in allowed:
        own = f"; of {value!r} the counterpart is {elsewhere[value]}" if elsewhere and value in elsewhere else ""
        raise ValueError(f"{name} is {value!r}, allowed are {', '.join(map(repr, allowed))}{own}")
    return allowed[value]


def n_threads(n_jobs: Any) -> int:
    """Threads for n_jobs: None is all cores that this process may use, -1 too, -2 all but one.

    Where OMP_NUM_THREADS is set, None is at most that: joblib sets it in the processes it starts, so that a grid search
    with n_jobs does not start as many threads in each as the machine has cores.
    """
    if n_jobs is None:
        cores = _core.usable_cores()
        asked = os.environ.get("OMP_NUM_THREADS", "")
        return min(cores, int(asked)) if asked.isdecimal() and int(asked) > 0 else cores
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, Integral):
        raise TypeError(f"n_jobs is {n_jobs!r}, allowed is a whole number or None")
    if n_jobs == 0:
        raise ValueError("n_jobs is 0, allowed is 1 or more, None or -1 for all usable cores, -2 for all but one, ...")
    if int(n_jobs) > _MOST_THREADS:
        raise ValueError(f"n_jobs is {n_jobs}, allowed is at most {_MOST_THREADS}")
    return int(n_jobs) if int(n_jobs) > 0 else max(1, _core.usable_cores() + 1 + int(n_jobs))


def seed_of(random_state: Any) -> int:
    """None is 0: training is always repeatable. A generator gives its next number."""
    if random_state is None:
        return 0
    if isinstance(random_state, Integral) and not isinstance(random_state, bool):
        return whole("random_state", random_state, 0, 2**64 - 1)
    return int(check_random_state(random_state).randint(2**31 - 1))


def monotone_text(constraints: Any, names: Sequence[str]) -> str:
    """{"pt": 1, 3: -1}, or one of -1, 0, 1 for each feature."""
    if constraints is None:
        return ""
    if isinstance(constraints, Mapping):
        pairs = [(place_of(feature, names, "monotone_constraints"), sign) for feature, sign in constraints.items()]
    elif isinstance(constraints, str) or not hasattr(constraints, "__len__"):
        raise TypeError(f"monotone_constraints is {constraints!r}, allowed is a dict or a sequence")
    elif len(constraints) != len(names):
        raise ValueError(f"monotone_constraints has {len(constraints)} values, X has {len(names)} features")
    else:
        pairs = list(enumerate(constraints))
    for place, sign in pairs:
        if sign not in (-1, 0, 1):
            raise ValueError(f"monotone_constraints has {sign!r} for {names[place]!r}, allowed is -1, 0 or 1")
    return ",".join(f"{_reference(place, names)}:{int(sign):+d}" for place, sign in pairs if sign != 0)


def interaction_text(constraints: Any, names: Sequence[str]) -> str:
    """[["a", "b"], [2, 3, 4]]."""
    if constraints is None:
        return ""
    if isinstance(constraints, str) or not all(
            hasattr(group, "__len__") and not isinstance(group, str) and len(group) > 0 for group in constraints):
        raise TypeError(f"interaction_constraints is {constraints!r}, allowed is a list of lists of features")
    groups = [[place_of(feature, names, "interaction_constraints") for feature in group] for group in constraints]
    return ";".join(",".join(_reference(place, names) for place in group) for group in groups)


def _reference(place: int, names: Sequence[str]) -> str:
    """How options name a feature: by its name, or by its position where the name has what parts names there."""
    if not any(separator in names[place] for separator in ",;"):
        return names[place]
    if str(place) in names:
        raise ValueError(f"feature {names[place]!r} cannot be named in constraints, as {str(place)!r} is a feature too")
    return str(place)


def tree_options(estimator: Any, names: Sequence[str], has_eval_set: bool, n_rounds: int = 0) -> dict[str, Any]:
    """Podere's options of boosted trees that both estimators have, beyond the rounds of the model of a warm start."""
    p = estimator
    best_first = choice("grow_policy", p.grow_policy, {"depthwise": False, "lossguide": True})
    stopping = whole("early_stopping_rounds", p.early_stopping_rounds, 1, 100000, none=0)
    fraction = real("validation_fraction", p.validation_fraction, "a number above 0, below 1", above=0, below=1)
    share = "a number above 0, at most 1"
    n_trees = whole("n_estimators", p.n_estimators, 1, 100000) - n_rounds
    max_leaves = whole("max_leaves", p.max_leaves, 0, 2**31 - 1)
    options = {
        "n_trees": n_trees,
        "depth": whole("max_depth", p.max_depth, 1, 30, none=30),
        "max_leaves": max_leaves,
        "best_first": best_first,
        "bins": whole("max_bins", p.max_bins, 2, 256),
        "learning_rate": real("learning_rate", p.learning_rate, share, above=0, most=1),
        "lambda": real("reg_lambda", p.reg_lambda, _PENALTY, least=0, most=1e12),
        "min_child_weight": real("min_child_weight", p.min_child_weight, "a number, 0 or more", least=0),
        "min_gain": real("min_split_gain", p.min_split_gain, "a number, 0 or more", least=0),
        "subsample": real("subsample", p.subsample, share, above=0, most=1),
        "column_subsample": real("colsample_bytree", p.colsample_bytree, share, above=0, most=1),
        "early_stopping_rounds": stopping,
        "validation_fraction": fraction if stopping > 0 and not has_eval_set else 0.0,
        "monotone": monotone_text(p.monotone_constraints, names),
        "interactions": interaction_text(p.interaction_constraints, names),
        "seed": seed_of(p.random_state),
    }
    if n_trees < 1:
        raise ValueError(f"n_estimators is {p.n_estimators}, allowed is more than {n_rounds}, the rounds of the model that "
                         "warm_start continues")
    if max_leaves == 1:
        raise ValueError("max_leaves is 1, allowed is 0 (no limit) or at least 2")
    if best_first and max_leaves == 0:
        raise ValueError("max_leaves is 0, allowed is at least 2 where grow_policy is 'lossguide'")
    if p.base_score is not None:
        options["base_score"] = real("base_score", p.base_score, "a finite number or None")
    return options


def take(estimator: Any, given: Mapping[str, Any]) -> None:
    """Keeps the arguments of __init__, its locals(), under their names."""
    vars(estimator).update((name, value) for name, value in given.items() if name != "self")


def _layers(sizes: Any) -> list[int]:
    if isinstance(sizes, Integral) and not isinstance(sizes, bool):
        sizes = [sizes]
    if isinstance(sizes, (str, bytes)) or not (isinstance(sizes, Sequence) or getattr(sizes, "ndim", 0) == 1):
        raise TypeError(f"hidden_layer_sizes is {sizes!r}, allowed is a sequence of whole numbers from 1 to 4096, or one")
    return [whole("hidden_layer_sizes", size, 1, 4096) for size in sizes]


def flag(name: str, value: Any) -> bool:
    if not isinstance(value, (bool, bool_)):
        raise TypeError(f"{name} is {value!r}, allowed are True and False")
    return bool(value)


def _network_options(p: Any) -> dict[str, Any]:
    """Podere's options that all networks have."""
    activations = ("identity", "relu", "sigmoid", "tanh")
    return {
        "hidden": _layers(p.hidden_layer_sizes),
        "activation": choice("activation", p.activation, {name: name for name in activations}),
        "initialisation": choice("initialization", p.initialization if p.initialisation is None else p.initialisation,
                                 {name: name for name in ("glorot", "he", "pytorch")}),
        "l2": real("l2", p.l2, _PENALTY, least=0, most=1e12),
        "standardise": flag("standardize", p.standardize if p.standardise is None else p.standardise),
        "impute": flag("impute", p.impute),
        "one_hot": whole("one_hot", p.one_hot, 2, 4096),
        "seed": seed_of(p.random_state),
    }


def nn_options(estimator: Any, has_eval_set: bool) -> dict[str, Any]:
    """Podere's options of networks that are trained by gradient descent."""
    p = estimator
    stopping = whole("early_stopping_epochs", p.early_stopping_epochs, 1, 1000000, none=0)
    fraction = real("validation_fraction", p.validation_fraction, "a number above 0, below 1", above=0, below=1)
    share = "a number, 0 or more, below 1"
    clip_norm = 0.0 if p.clip_norm is None else real("clip_norm", p.clip_norm, "a number above 0 or None", above=0)
    return {
        **_network_options(p),
        "optimiser": choice("solver", p.solver, {name: name for name in ("adam", "adamw", "sgd")}),
        "epochs": whole("epochs", p.epochs, 1, 1000000),
        "batch_size": whole("batch_size", p.batch_size, 1, 2**20, none=0),
        "learning_rate": real("learning_rate", p.learning_rate, "a number above 0, at most 1e6", above=0, most=1e6),
        "schedule": choice("schedule", p.schedule, {name: name for name in ("constant", "exponential", "cosine")}),
        "learning_rate_decay": real("learning_rate_decay", p.learning_rate_decay, "a number above 0, at most 1",
                                    above=0, most=1),
        "momentum": real("momentum", p.momentum, share, least=0, below=1),
        "weight_decay": real("weight_decay", p.weight_decay, _PENALTY, least=0, most=1e12),
        "clip_norm": clip_norm,
        "dropout": real("dropout", p.dropout, share, least=0, below=1),
        "early_stopping_epochs": stopping,
        "validation_fraction": fraction if stopping > 0 and not has_eval_set else 0.0,
    }


def mlp_options(estimator: Any) -> dict[str, Any]:
    """Podere's options of networks that are trained by L-BFGS."""
    return {
        **_network_options(estimator),
        "optimiser": "lbfgs",
        "epochs": whole("iterations", estimator.iterations, 1, 1000000),
        "tolerance": real("tolerance", estimator.tolerance, "a number, 0 or more", least=0),
        "history": whole("history", estimator.history, 1, 100),
    }
