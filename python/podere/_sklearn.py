"""What scikit-learn calls differently from version to version (1.2 and later)."""
from __future__ import annotations

import inspect
from typing import Any

from sklearn.utils.validation import check_array as _check_array

try:
    from sklearn.utils.validation import validate_data
except ImportError:  # before 1.6
    validate_data = None

_FINITE = "ensure_all_finite"
if _FINITE not in inspect.signature(_check_array).parameters:  # before 1.6
    _FINITE = "force_all_finite"


def check_array(values: Any, *, allow_infinite: bool = False, **options: Any) -> Any:
    """scikit-learn's check_array, with or without a look at each number."""
    return _check_array(values, **{_FINITE: not allow_infinite}, **options)


def remember_or_check_features(estimator: Any, X: Any, *, reset: bool) -> None:
    """Sets n_features_in_ and feature_names_in_, or compares X with them."""
    if validate_data is not None:
        validate_data(estimator, X, "no_validation", reset=reset, skip_check_array=True)
    else:
        estimator._check_feature_names(X, reset=reset)
        estimator._check_n_features(X, reset=reset)
