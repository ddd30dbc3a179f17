"""Searches for the parameters of estimators of any kind, with scikit-learn's interface."""
from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping
from numbers import Integral
from typing import Any

from sklearn.exceptions import FitFailedWarning
from sklearn.model_selection._search import BaseSearchCV

from ._parameters import seed_of
from ._study import Study


class TuneSearchCV(BaseSearchCV):  # type: ignore[misc]  # scikit-learn has no types
    """A search for the best parameters of any estimator by cross-validation, as RandomizedSearchCV, but one that learns
    from its trials.

    It finds the same for any `n_jobs`. Afterwards it predicts with the best estimator, fitted on all rows::

        search = podere.TuneSearchCV(podere.GBTClassifier(), {"max_depth": (2, 8), "learning_rate": (0.02, 0.3, "log")})
        search.fit(X, y).best_params_

    Parameters
    ----------
    estimator : estimator of scikit-learn's kind
        A pipeline, too: its parameters are called `model__max_depth`.
    space : dict
        As that of Study: (low, high), (low, high, "log"), a list of values, ... for each parameter.
    n_trials : int, default=64
        Settings to try. A grid may have fewer.
    search : {"tpe", "random", "sobol", "grid"}, default="tpe"
    random_state : int, RandomState instance or None, default=0
        Of the search. None is 0.
    scoring, cv, n_jobs, refit, verbose, pre_dispatch, error_score, return_train_score
        As those of RandomizedSearchCV. With several scores `refit` names the one that is searched for.
    parallel : int, default=8
        How many settings are measured at once, before the search learns from them. Another number is another search.

    Attributes
    ----------
    best_params_ : dict
    best_score_ : float
        The mean over the folds.
    best_estimator_ : estimator
        With the best parameters, fitted on all rows.
    best_index_ : int
    cv_results_ : dict of arrays
        Of all settings, in the order of trials. A setting with which no fit succeeded may be missing.
    scorer_, n_splits_, refit_time_, multimetric_, classes_, n_features_in_, feature_names_in_
        As those of RandomizedSearchCV.
    """

    _required_parameters = ("estimator", "space")

    def __init__(self, estimator: Any, space: Mapping[str, Any], *, n_trials: int = 64, search: str = "tpe",
                 random_state: Any = 0, scoring: Any = None, n_jobs: int | None = None, refit: Any = True,
                 cv: Any = None, verbose: int = 0, parallel: int = 8, pre_dispatch: Any = "2*n_jobs",
                 error_score: Any = math.nan, return_train_score: bool = False) -> None:
        super().__init__(estimator, scoring=scoring, n_jobs=n_jobs, refit=refit, cv=cv, verbose=verbose,
                         pre_dispatch=pre_dispatch, error_score=error_score, return_train_score=return_train_score)
        self.space = space
        self.n_trials = n_trials
        self.search = search
        self.random_state = random_state
        self.parallel = parallel

    def _run_search(self, evaluate_candidates: Callable[[list[dict[str, Any]]], dict[str, Any]]) -> None:
        """Called by fit of the base class, as that of a search of one's own is."""
        if getattr(self.cv, "shuffle", hasattr(self.cv, "random_state")) and not isinstance(
                getattr(self.cv, "random_state", 0), Integral):
            raise ValueError(f"cv is {self.cv!r}, which deals other folds on each call: give it a whole number as "
                             "random_state")
        study = Study(self.space, self.n_trials, search=self.search, seed=seed_of(self.random_state),
                      parallel=self.parallel)
        has_scores = False
        while steps := study.ask():
            try:
                scores = self._scores_of(evaluate_candidates([step.params for step in steps]))[-len(steps):]
                has_scores = True
            except ValueError as error:  # as scikit-learn has it where all fits of a call fail; those of others did not
                if not has_scores or self.error_score == "raise" or "fits failed" not in str(error):
                    raise
                warnings.warn(str(error), FitFailedWarning, stacklevel=3)
                scores = [math.nan] * len(steps)
            for step, score in zip(steps, scores, strict=True):
                study.tell(step, score)

    def _scores_of(self, results: Mapping[str, Any]) -> Any:
        """Those that are searched for, of all settings so far."""
        score = self.refit if f"mean_test_{self.refit}" in results else "score"
        if f"mean_test_{score}" not in results:
            raise ValueError(f"refit is {self.refit!r}, allowed is the name of the score that is searched for, as "
                             "there are several")
        return results[f"mean_test_{score}"]
