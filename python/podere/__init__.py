"""Podere: machine-learning models that are the same, bit for bit, on any number of threads and executors.

The estimators have scikit-learn's interface and train in this process::

    from podere import GBTClassifier
    model = GBTClassifier(n_estimators=50).fit(X, y)
    model.predict_proba(X_new)

What goes wrong is told by Python's own exceptions, in one line: ValueError and TypeError for what was given,
RuntimeError for what failed.
"""
from ._core import __version__
from ._gbt import GBTClassifier, GBTRegressor

__all__ = ["GBTClassifier", "GBTRegressor", "__version__"]
