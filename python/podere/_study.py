"""Searches over any function of Python's."""
from __future__ import annotations

import functools
import json
import math
import os
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Executor, Future, wait
from concurrent.futures import ThreadPoolExecutor as Threads
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from weakref import WeakValueDictionary

from . import _core
from ._parameters import absolute, flag, whole
from ._progress import make_progress, shown
from ._space import Encoding, domains_of, to_toml
from ._trials import best_first, frame_of, html_of

_MOST_BUDGET = 2**31 - 1
_MOST_WORKERS = 4096
_STUDIES: WeakValueDictionary[str, Study] = WeakValueDictionary()  # by journal; those of this process


@dataclass(frozen=True)
class Step:
    """What is to be measured next of a trial.

    Attributes
    ----------
    params : dict
        One value for each parameter of the space that the trial has.
    trial : int
        Its number, from 0.
    rung : int
        How many steps of the trial came before. 0 unless the study has a schedule.
    start, budget : int
        Train the trial up to `budget` rounds, epochs or whatever the study counts; it was measured at `start` before
        (0: it is new).
    """

    params: dict[str, Any]
    trial: int
    rung: int = 0
    start: int = 0
    budget: int = 1


class Study:
    """The search for the parameters at which a function of yours is best.

    The same settings are tried, and the same is found, whatever the number of workers and whichever is done first::

        study = podere.Study({"x": (-5.0, 5.0), "kind": ["sin", "cos"]}, trials=100)
        study.run(lambda step: getattr(math, step.params["kind"])(step.params["x"]), workers=4)
        study.best_params

    Where `run` does not fit, ask for steps and report their scores yourself::

        while steps := study.ask():
            for step in steps:
                study.tell(step, measure(**step.params))

    Parameters
    ----------
    space : dict
        For each parameter (low, high), (low, high, "log"), a list of values, a value, or a dict with "low", "high",
        "log", "step", and "when" ({other parameter: values}). Whole numbers as bounds give whole numbers. In lists
        anything may stand; a journal has the repr of what is no number, text, True or False.
    trials : int, default=64
        Settings to try. A grid may have fewer.
    search : {"tpe", "random", "sobol", "grid"}, default="tpe"
    schedule : {"none", "asha", "halving", "hyperband", "median"}, default="none"
        Which trials are trained longer. "none": all, to the end.
    eta : int, default=3
        How many times longer, and one trial of how many.
    least, most : int, default=1
        What the schedule counts, such as epochs: a trial is first measured at `least` or later, and at `most` at the
        end.
    seed : int, default=0
    maximize : bool, default=True
        Whether a larger score is better.
    parallel : int, default=8
        How many steps the search assumes to be at work at once. More workers have nothing to do; another number is
        another search.
    journal : path, default=None
        A file that keeps all scores, from which a study with the same arguments resumes; `trials` may be more. It has
        the form of Optuna's journals.
    """

    def __init__(self, space: Mapping[str, Any], trials: int = 64, *, search: str = "tpe", schedule: str = "none",
                 eta: int = 3, least: int = 1, most: int = 1, seed: int = 0, maximize: bool = True, parallel: int = 8,
                 journal: str | os.PathLike[str] | None = None) -> None:
        self._encoding = Encoding()
        self._maximize = flag("maximize", maximize)
        self._journal = "" if journal is None else absolute("journal", journal)
        self._failure: tuple[int, Exception] | None = None  # the first trial's that was seen here
        self._has_warned = False
        domains = domains_of(space, self._encoding)
        most = whole("most", most, 1, _MOST_BUDGET)
        if schedule in ("asha", "halving", "hyperband", "median") and most == 1:
            raise ValueError(f"schedule {schedule!r} needs most: what a trial is trained for at the end, such as most=81")
        make = functools.partial(
            _core.Study, space=to_toml(domains), search=str(search), schedule=str(schedule),
            trials=whole("trials", trials, 1, 1_000_000), eta=whole("eta", eta, 2, 100),
            least=whole("least", least, 1, most), most=most, parallel=whole("parallel", parallel, 1, 10_000),
            seed=whole("seed", seed, 0, 2**64 - 1), maximize=self._maximize)
        if earlier := _STUDIES.get(self._journal):  # a cell of a notebook runs again
            make(journal="")  # before that one is closed: arguments may be refused
            earlier.close()
        self._study = make(journal=self._journal)
        if self._journal:
            _STUDIES[self._journal] = self

    def ask(self) -> list[Step]:
        """The steps that may be done now, in any order and at the same time; none: the search is over.

        A step stays among them until its score is known. Do the first ones first: others may wait for them.
        """
        steps = json.loads(self._study.to_do())
        return [Step(self._encoding.params(step.pop("setting")), **step) for step in steps]

    def tell(self, step: Step, score: Any, *, ended: bool = False, error: str | None = None) -> None:
        """Report what a step of `ask` gave. Threads may do so at the same time.

        Parameters
        ----------
        step : Step
        score : number
            One that is not finite is a failure, too.
        ended : bool
            Training longer would change nothing, so that the schedule asks for no more steps of the trial.
        error : str or None
            Why it failed; `score` is then ignored.
        """
        if not isinstance(step, Step):
            raise TypeError(f"step is {step!r}, allowed is one of ask()")
        number = math.nan if error is not None else _number(score)
        if error is None and not math.isfinite(number):
            error = f"the score is {number}"
        if repr(step) not in map(repr, self.ask()):  # parameters may be arrays
            raise ValueError(f"trial {step.trial} waits for no score of {step}: it has one, or the step is of another "
                             "study")
        self._study.report(step.trial, step.rung, math.nan if error is not None else number,
                           flag("ended", ended) or error is not None, _encodable(error or ""))
        self._warn_of_fault()

    def run(self, function: Callable[[Step], Any], workers: int | Executor = 1, *,
            callback: Callable[[Study, Step, float | None], Any] | None = None, verbose: bool = False) -> Study:
        """Try all settings. Ctrl-C ends it early and keeps the best so far; `run` again resumes.

        What is at work elsewhere at Ctrl-C runs to its end, and is measured again.

        Parameters
        ----------
        function : callable
            `function(step)` returns the score at `step.params`. A trial fails where it raises an exception, and the
            search continues.
        workers : int or concurrent.futures.Executor, default=1
            Threads, or what calls the function in processes or on other machines. 1 calls it in this thread.
        callback : callable, default=None
            `callback(study, step, score)` is called in this thread after each step, whose score is None if it failed.
            If it returns something true, no more steps begin.
        verbose : bool, default=False
            Show progress, and in a notebook the best trials so far.

        Returns
        -------
        Study
            This one.
        """
        if not callable(function):
            raise TypeError(f"function is {function!r}, allowed is what can be called with a step")
        under_way: dict[Future[Any], Step] = {}
        is_stopped = False
        with _executor_of(workers) as (executor, n_workers), shown(verbose, self._repr_html_) as show:
            try:
                while True:
                    for step in [] if is_stopped else self._next(under_way, n_workers):
                        under_way[executor.submit(function, step)] = step
                    if not under_way:
                        break
                    for future in wait(under_way, return_when=FIRST_COMPLETED).done:
                        step = under_way.pop(future)
                        score = self._take(step, future)
                        if show is not None:
                            show(self._progress())
                        if callback is not None and callback(self, step, score):
                            is_stopped = True
                            under_way = {future: step for future, step in under_way.items() if not future.cancel()}
            except KeyboardInterrupt:
                if self._study.best is None:
                    raise
                make_progress(True).say(f"interrupted; {self!r} is kept")
            finally:
                for future in under_way:
                    future.cancel()
        if not is_stopped and self._study.best is None:
            self._raise_first_failure()
        return self

    def _next(self, under_way: Mapping[Future[Any], Step], n_workers: int) -> list[Step]:
        """Steps for the workers that are free."""
        busy = {(step.trial, step.rung) for step in under_way.values()}
        return [step for step in self.ask() if (step.trial, step.rung) not in busy][:n_workers - len(busy)]

    def _take(self, step: Step, future: Future[Any]) -> float | None:
        """Report how a step went; its score."""
        try:
            score = _number(future.result())
        except (BrokenExecutor, CancelledError):  # which the function is not to blame for
            raise
        except Exception as error:  # noqa: BLE001, whatever the function raises
            if self._failure is None or step.trial < self._failure[0]:
                self._failure = step.trial, error
            self.tell(step, None, error=traceback.format_exception_only(error)[-1].strip())
            return None
        self.tell(step, score)
        return score if math.isfinite(score) else None

    def _progress(self) -> dict[str, Any]:
        trials = self.trials
        metrics = {} if self._study.best is None else {"best": trials[0]["score"]}
        return {"phase": "tune", "done": len(trials), "total": self._study.n_trials, "metrics": metrics,
                "unit": "trial"}

    def _raise_first_failure(self) -> None:
        trials = self.trials
        cause = self._failure[1] if self._failure and self._failure[0] == trials[0]["trial"] else None
        raise RuntimeError(f"all {len(trials)} trials failed, the first one by: {trials[0]['error']}") from cause

    def _warn_of_fault(self) -> None:
        fault = self._study.fault
        if fault and not self._has_warned:
            self._has_warned = True
            warnings.warn(f"{self._journal}: {fault}; the search continues, and what it finds is written once that is "
                          "possible", stacklevel=3)

    def close(self) -> None:
        """Let another process have the journal. The study can still be read."""
        self._study.close()

    @property
    def trials(self) -> list[dict[str, Any]]:
        """Those that were measured, the best in front: "trial" (its number), "state" ("complete", "paused", "running"
        or "failed"), "score", "budget" (at which it was the best), "params" and "error".

        A score is looked at once all that come before it are known. So what is here depends on no clock, either.
        """
        trials = [{"trial": trial["trial"], "state": trial["state"], "score": trial["score"], "budget": trial["budget"],
                   "params": self._encoding.params(trial["setting"]), "error": trial["facts"].get("error")}
                  for trial in json.loads(self._study.trials())]
        return best_first(trials, self._maximize)

    @property
    def best_trial(self) -> dict[str, Any]:
        """The first of `trials`."""
        best = self._study.best
        if best is None:
            raise RuntimeError("no trial has a score yet")
        return next(trial for trial in self.trials if trial["trial"] == best)

    @property
    def best_params(self) -> dict[str, Any]:
        """The best setting."""
        params: dict[str, Any] = self.best_trial["params"]
        return params

    @property
    def best_score(self) -> float:
        """Its score. It is the best of many, so it is a little too good where scores vary by chance."""
        score: float = self.best_trial["score"]
        return score

    def to_pandas(self) -> Any:
        """A DataFrame with a row for each trial, the best in front."""
        return frame_of(self.trials, "budget")

    def __repr__(self) -> str:
        trials = self.trials
        best = "" if self._study.best is None else f", best score {trials[0]['score']:.6g} at {trials[0]['params']!r}"
        return f"<Study: {len(trials)} of {self._study.n_trials} trials{best}>"

    def _repr_html_(self) -> str:
        return html_of(self.trials, "score", "budget")


class _Here(Executor):
    """Calls a function where it is submitted, so that Ctrl-C ends it."""

    def submit(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        try:
            future.set_result(function(*args, **kwargs))
        except Exception as error:  # noqa: BLE001, as other executors do
            future.set_exception(error)
        return future


@contextmanager
def _executor_of(workers: Any) -> Iterator[tuple[Executor, int]]:
    """What calls functions, and how many at once."""
    if isinstance(workers, Executor):
        yield workers, sys.maxsize
        return
    n_workers = whole("workers", workers, 1, _MOST_WORKERS)
    executor = _Here() if n_workers == 1 else Threads(n_workers)
    try:
        yield executor, n_workers
    finally:
        executor.shutdown(wait=False)


def _number(score: Any) -> float:
    if isinstance(score, (str, bytes)) or not hasattr(score, "__float__"):
        raise TypeError(f"the score is {score!r}, allowed is a number")
    return float(score)


def _encodable(text: str) -> str:
    return text.encode(errors="replace").decode()
