"""What the C++ below and the executors say, in the words of Python."""
from __future__ import annotations

import re
from typing import Any

#: Options of the command line whose parameters have other names.
_PARAMETERS = {
    "header": "header=True", "no-header": "header=False", "zero-based": "zero_based=True", "features": "n_features",
    "trees": "n_estimators", "depth": "max_depth", "growth": "grow_policy", "bins": "max_bins", "lambda": "reg_lambda",
    "min-gain": "min_split_gain", "column-subsample": "colsample_bytree", "monotone": "monotone_constraints",
    "interactions": "interaction_constraints", "layers": "hidden_layer_sizes", "optimizer": "solver",
    "no-standardize": "standardize=False", "no-standardize-target": "standardize_target=False",
    "day-first": "day_first=True", "month-first": "day_first=False", "seed": "random_state", "from": "warm_start", "missing": "missing=[...]",
    "skip": "skiprows", "passes": "max_passes",
}
#: Options that messages name without dashes; no words of English.
_BARE = ("base-score", "batch-size", "class-weight", "clip-norm", "column-subsample", "learning-rate-decay",
         "learning-rate", "fold-group", "max-delta-step", "max-leaves", "min-child-weight", "min-gain", "scale-pos-weight",
         "raw-type", "raw-columns", "big-endian", "skip-bytes",
         "standardize-target", "validation-fraction", "weight-decay")


def in_python(message: str) -> str:
    """A message with parameters in the place of options of the command line: label for --label, drop=['id', 'when'] for
    --drop id,when."""
    message = re.sub(r" \(--debug [^)]*\)", "", message)  # which is for the command line alone
    message = re.sub(r"^space:\d+: ", "space: ", message)  # of a dict, which has no lines
    message = re.sub(r"^monotone is", "monotone_constraints is", message)
    message = re.sub(r", in Python [^;]*", "", message)  # which is what the options become below
    message = re.sub(r"--(drop|categorical|columns) (?!and\b|or\b)([^\s;:(),]+(?:,[^\s;:(),]+)*)", _with_list, message)
    message = re.sub(r"--(decimal|comment) '?([^\w\s'])'?", r"\1='\2'", message)
    message = re.sub(r"--skip (\d+)", r"skiprows=\1", message)
    message = re.sub(r"--(format|impute) (\w+)", r"\1='\2'", message)
    message = re.sub(r"(?<![\w-])--([a-z][a-z0-9-]*)", lambda option: _parameter(option[1]), message)
    return re.sub(rf"(?<![\w-])(?:{'|'.join(_BARE)})(?![\w-])", lambda option: _parameter(option[0]), message)


def _parameter(option: str) -> str:
    return _PARAMETERS.get(option, option.replace("-", "_"))


def _with_list(found: Any) -> str:
    values = [int(value) if value.isdecimal() else value for value in found[2].split(",")]
    return f"{found[1]}={values}"
