"""Searches over functions: the same result for any workers, whichever is done first, and after interruptions."""
import json
import math
import os
import re
import resource
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool

import numpy
import pytest

from podere import Step, Study, _progress

SPACE = {"x": (-5.0, 5.0), "rate": (1e-4, 1.0, "log"), "depth": (1, 9), "kind": ["flat", (2, 3), None],
         "leaves": {"low": 8, "high": 64, "log": True, "when": {"kind": [None, (2, 3)]}}}


def score_of(params):
    return -(params["x"] - 1) ** 2 - abs(math.log10(params["rate"]) + 2) - abs(params["depth"] - 4) - (
        0 if params["kind"] is None else 1)


def measure(step):
    return score_of(step.params) - 1 / step.budget


def measure_at_any_time(step):
    """Which step is done first changes from run to run."""
    time.sleep(numpy.random.default_rng().uniform(0, 0.004))
    if step.trial % 7 == 3:
        raise ArithmeticError(f"trial {step.trial} diverged")
    return measure(step)


def without_times(path):
    return re.sub(r'"\d{4}-\d\d-\d\dT[\d:.]+"', "TIME", path.read_text())


@pytest.mark.parametrize("schedule", ["none", "asha", "halving", "median", "hyperband"])
def test_the_same_is_found_by_any_number_of_workers(tmp_path, schedule):
    def found(workers, name):
        study = Study(SPACE, 40, schedule=schedule, most=9, seed=3, journal=tmp_path / name)
        return study.run(measure_at_any_time, workers).trials, without_times(tmp_path / name)

    one = found(1, "one")
    assert len(one[0]) == 40 and one[0][0]["score"] > -3
    for workers in (3, 5):
        assert found(workers, str(workers)) == one
    with ThreadPoolExecutor(4) as threads, ProcessPoolExecutor(2) as processes:
        assert found(threads, "threads") == found(processes, "processes") == one


def test_scores_may_be_reported_in_any_order():
    study = Study(SPACE, 30, schedule="asha", most=9)
    random = numpy.random.default_rng()
    while steps := study.ask():
        for i in random.permutation(len(steps))[:random.integers(1, len(steps) + 1)]:
            study.tell(steps[i], measure(steps[i]))
    assert study.trials == Study(SPACE, 30, schedule="asha", most=9).run(measure).trials


def test_a_search_learns():
    assert Study(SPACE, 100).run(measure).best_score > Study(SPACE, 100, search="random").run(measure).best_score
    least = Study({"x": (-5.0, 5.0)}, 60, maximize=False).run(lambda step: (step.params["x"] - 2) ** 2)
    assert least.best_score == least.best_trial["score"] == min(trial["score"] for trial in least.trials) < 0.1
    assert least.best_params == least.trials[0]["params"] and abs(least.best_params["x"] - 2) < 0.4


def test_steps_name_what_is_to_be_done():
    steps = []
    study = Study({"n": (1, 100)}, 9, schedule="halving", least=2, most=18, parallel=9)
    study.run(lambda step: steps.append(step) or step.params["n"])
    assert [step.trial for step in steps[:9]] == list(range(9))
    assert {(step.rung, step.start, step.budget) for step in steps} == {(0, 0, 2), (1, 2, 6), (2, 6, 18)}
    assert len(steps) == 9 + 3 + 1 and steps[-1].params == study.best_params


def test_what_ended_is_not_trained_further():
    study = Study({"n": (1, 100)}, 9, schedule="halving", least=1, most=9, parallel=9)
    while steps := study.ask():
        for step in steps:
            study.tell(step, step.params["n"], ended=step.params["n"] > 50)
    assert all((trial["budget"] == 1) == (trial["params"]["n"] > 50) for trial in study.trials if trial["state"] == "complete")
    assert study.best_params["n"] > 50 and {trial["state"] for trial in study.trials} >= {"complete", "paused"}


def test_values_are_those_of_the_space():
    kinds = [None, (64, 32), numpy.float32(0.5), "é\x7f\"😀", True, math.cos]
    study = Study({"kind": kinds, "fixed": 7, "none": None, "child": {"value": "there", "when": {"kind": [None, (64, 32)]}}},
                  search="grid")
    seen = [step.params for step in study.ask()]
    assert [params["kind"] for params in seen] == kinds and all(params["kind"] is kind for params, kind in zip(seen, kinds))
    assert all(params["fixed"] == 7 and params["none"] is None for params in seen)
    assert ["child" in params for params in seen] == [True, True, False, False, False, False]


def test_a_study_resumes_where_it_was_stopped(tmp_path):
    whole = Study(SPACE, 30, schedule="asha", most=9, journal=tmp_path / "whole").run(measure)
    for n_steps in (1, 2, 9, 25):
        path = tmp_path / f"{n_steps}"
        for n_trials in (20, 30):  # stopped, then interrupted while it is the only one that knows the journal
            calls = []
            study = Study(SPACE, 30, schedule="asha", most=9, journal=path)
            study.run(lambda step, calls=calls: calls.append(step) or measure(step), 1,
                      callback=lambda study, step, score, n=n_trials, calls=calls: n == 20 and len(calls) == n_steps)
        assert study.trials == whole.trials and without_times(path) == without_times(tmp_path / "whole")
        assert len(calls) == len(re.findall('"after ', path.read_text())) - n_steps


def test_a_finished_study_continues_with_more_trials(tmp_path):
    Study(SPACE, 12, journal=tmp_path / "s").run(measure)
    calls = []
    more = Study(SPACE, 20, journal=tmp_path / "s").run(lambda step: calls.append(step.trial) or measure(step))
    assert calls == list(range(12, 20))
    assert more.trials == Study(SPACE, 20).run(measure).trials


def test_a_failure_is_a_trial_and_the_search_continues():
    def fails(step):
        if step.trial == 0:
            raise ArithmeticError("it diverged\udcff")
        return [1.5, math.nan, -math.inf, None, "2", numpy.zeros(2), numpy.float32(0.5), numpy.array(1)][step.trial - 1]

    study = Study({"x": (0.0, 1.0)}, 9).run(fails)
    by_number = {trial["trial"]: trial for trial in study.trials}
    assert [by_number[i]["state"] == "failed" for i in range(9)] == [True, False, True, True, True, True, True, False, False]
    assert [by_number[i]["error"] for i in range(5)] == [
        "ArithmeticError: it diverged?", None, "the score is nan", "the score is -inf",
        "TypeError: the score is None, allowed is a number"]
    assert "the score is '2'" in by_number[5]["error"] and "TypeError" in by_number[6]["error"]
    assert study.best_trial == {"trial": 1, "state": "complete", "score": 1.5, "budget": 1,
                                "params": by_number[1]["params"], "error": None}


@pytest.mark.parametrize("workers", [1, 3])
def test_if_all_fail_the_first_cause_is_raised(workers):
    study = Study({"x": (0.0, 1.0)}, 9)
    with pytest.raises(RuntimeError, match="all 9 trials failed, the first one by: ZeroDivisionError: division by zero") as got:
        study.run(lambda step: step.trial / 0, workers)
    assert isinstance(got.value.__cause__, ZeroDivisionError)
    assert study.ask() == [] and len(study.trials) == 9
    with pytest.raises(RuntimeError, match="no trial has a score yet"):
        study.best_params


def end_the_process(step):
    os._exit(1)


def test_an_executor_that_breaks_is_no_failed_trial():
    study = Study(SPACE, 9)
    with ProcessPoolExecutor(1) as processes, pytest.raises(BrokenProcessPool):
        study.run(end_the_process, processes)
    assert study.trials == [] and len(study.run(measure).trials) == 9


@pytest.mark.parametrize("workers", [1, 3])
def test_an_interrupt_keeps_the_best_so_far(tmp_path, capsys, workers):
    path = tmp_path / "s"

    def interrupts(step):
        if step.trial == 12:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.3)
        return measure(step)

    study = Study(SPACE, 20, journal=path).run(interrupts, workers)
    n_kept = len(study.trials)
    assert 8 <= n_kept <= 12 and study.best_score == max(trial["score"] for trial in study.trials)
    assert f"podere: interrupted; <Study: {n_kept} of 20 trials, best score" in capsys.readouterr().err
    expected = Study(SPACE, 20).run(measure).trials
    assert study.run(measure, workers).trials == expected
    assert Study(SPACE, 20, journal=path).trials == expected


@pytest.mark.parametrize("workers", [1, 2])
def test_an_interrupt_before_the_first_score_is_raised(workers):
    def interrupts(step):
        if step.trial == 0:
            os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.3)

    with pytest.raises(KeyboardInterrupt):
        Study(SPACE, 20).run(interrupts, workers)


def test_a_callback_sees_each_step_and_may_end_the_search():
    seen = []
    study = Study(SPACE, 20)
    assert study.run(measure_at_any_time, callback=lambda of, step, score: seen.append((of, step.trial, score))) is study
    assert [step for _, step, _ in seen] == list(range(20)) and all(of is study for of, _, _ in seen)
    assert [score is None for _, _, score in seen] == [trial % 7 == 3 for trial in range(20)]
    for workers in (1, 3):
        study = Study(SPACE, 20)
        study.run(measure, workers, callback=lambda study, step, score: step.trial == 4)
        assert 1 <= len(study.trials) <= 8 and len(study.run(measure).trials) == 20
    with pytest.raises(ArithmeticError):
        Study(SPACE, 20).run(measure, 3, callback=lambda *of: 1 / 0)


def test_progress_is_shown(capsys):
    Study(SPACE, 20).run(measure, verbose=True)
    assert re.search("podere: searching: 20 of 20 trials, best -", capsys.readouterr().err)


def test_a_notebook_shows_trials_while_they_are_measured(monkeypatch):
    states = []
    monkeypatch.setattr("IPython.display.display", lambda data, **_: states.append(data["text/html"]))
    monkeypatch.setattr(_progress, "_is_notebook", lambda: True)
    for seconds in ("_QUIET_SECONDS", "_DRAW_SECONDS"):
        monkeypatch.setattr(_progress, seconds, 0)
    Study(SPACE, 5).run(measure, verbose=True)
    assert [state.count("<tr>") for state in states if state] == [2, 3, 4, 5, 6]


def test_a_score_is_reported_once():
    study, other = Study(SPACE, 20), Study(SPACE, 20, seed=1)
    first, second = study.ask()[:2]
    study.tell(second, 1)
    assert second not in study.ask() and study.trials == [], "it waits for the first"
    for step in (second, other.ask()[0], Step({}, 0), Step(first.params, 19)):
        with pytest.raises(ValueError, match="waits for no score"):
            study.tell(step, 2)
    for step in (None, 0, first.params):
        with pytest.raises(TypeError, match="allowed is one of ask"):
            study.tell(step, 2)
    for score in (None, "1", [1], object()):
        with pytest.raises(TypeError, match="allowed is a number"):
            study.tell(first, score)
    study.tell(first, 3)
    assert [trial["score"] for trial in study.trials] == [3, 1]


def test_of_threads_that_report_the_same_step_one_succeeds():
    study = Study(SPACE, 200)
    outcomes = []

    def report(barrier):
        for _ in range(100):
            barrier.wait()
            step = study.ask()[0]
            barrier.wait()
            try:
                study.tell(step, threading.get_ident() % 97)
                outcomes.append(step.trial)
            except ValueError:
                pass

    barrier = threading.Barrier(4)
    threads = [threading.Thread(target=report, args=(barrier,)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == list(range(100))


@pytest.mark.parametrize("space, kind, message", [
    ([], TypeError, r"space is \[\], allowed is a dict"), ({}, ValueError, "space is empty"),
    ({7: [1]}, ValueError, "space names 7"), ({"a-b": [1]}, ValueError, "space names 'a-b'"),
    ({"é": [1]}, ValueError, "^space: .* no name of a parameter"),
    ({"x": (2, 1)}, ValueError, "^space: x: low is 2 and high is 1, the wrong way round"),
    ({"x": (0.0, 1.0, "log")}, ValueError, "^space: x: log needs a low above 0"),
    ({"x": (1, 2, 3)}, ValueError, r"space of x is \(1, 2, 3\), allowed are \(low, high\)"),
    ({"x": ("a", "b")}, ValueError, "allowed are"), ({"x": (1,)}, ValueError, "allowed are"),
    ({"x": range(3)}, TypeError, r"space of x is range\(0, 3\), allowed are"),
    ({"x": []}, ValueError, "^space: x: the list of choices is empty"),
    ({"x": [1, 1.0]}, ValueError, "^space: x: the choice 1.0 is there twice"),
    ({"x": [None, "None"]}, ValueError, "is there twice"), ({"x": [math.nan]}, ValueError, "not finite"),
    ({"x": {"low": 1}}, ValueError, "low and high belong together"), ({"x": {"lo": 1, "high": 2}}, ValueError, "'low' is meant"),
    ({"x": {"value": 1, "when": {"y": 1}}}, ValueError, "'when' names 'y'"),
    ({"x": {"low": object(), "high": 1}}, TypeError, "allowed are numbers"),
])
def test_spaces_that_cannot_be_are_refused(space, kind, message):
    with pytest.raises(kind, match=message):
        Study(space)


@pytest.mark.parametrize("options, kind, message", [
    ({"trials": 0}, ValueError, "trials is 0"), ({"trials": 1.5}, TypeError, "trials is 1.5"),
    ({"search": "x"}, ValueError, "search is 'x', allowed are grid, random, sobol, tpe"),
    ({"schedule": "x"}, ValueError, "schedule is 'x'"), ({"least": 2}, ValueError, "least is 2"),
    ({"most": 0}, ValueError, "most is 0"), ({"eta": 1}, ValueError, "eta is 1"), ({"parallel": 0}, ValueError, "parallel is 0"),
    ({"seed": -1}, ValueError, "seed is -1"), ({"maximize": "yes"}, TypeError, "maximize is 'yes'"),
    ({"journal": 7}, TypeError, "journal is 7"), ({"journal": "/nowhere/x"}, ValueError, "/nowhere/x"),
    ({"search": "grid"}, ValueError, "rate: a grid needs its values"),
])
def test_options_that_cannot_be_are_refused(options, kind, message):
    with pytest.raises(kind, match=message):
        Study(SPACE, **options)


def test_what_cannot_run_is_refused():
    study = Study(SPACE)
    for function, workers, message in ((7, 1, "function is 7"), (measure, "2", "workers is '2'"), (measure, None, "workers is None")):
        with pytest.raises(TypeError, match=message):
            study.run(function, workers)
    with pytest.raises(ValueError, match="workers is 0"):
        study.run(measure, 0)
    assert study.trials == []


def test_a_journal_of_another_study_is_refused(tmp_path):
    path = tmp_path / "s"
    Study(SPACE, 3, journal=path).run(measure)
    before = path.read_bytes()
    for space, options, what in (({"x": [1]}, {}, "space"), (SPACE, {"seed": 1}, r"seed \(0, not 1\)"),
                                 (SPACE, {"maximize": False}, "maximize"), (SPACE, {"most": 2}, "most budget"),
                                 (SPACE, {"search": "sobol"}, "search"), (SPACE, {"parallel": 7}, "parallel trials")):
        with pytest.raises(ValueError, match=f"is a study with other {what}"):
            Study(space, 3, journal=path, **options)
    assert path.read_bytes() == before
    path.write_text("a,b\n")
    with pytest.raises(ValueError, match="line 1: is no record of a study"):
        Study(SPACE, journal=path)


def test_one_study_at_a_time_has_a_journal(tmp_path):
    path = tmp_path / "s"
    other = [sys.executable, "-c", f"import podere; podere.Study({{'x': [1, 2]}}, search='grid', journal={str(path)!r})"]
    first = Study({"x": [1, 2]}, search="grid", journal=path)
    refused = subprocess.run(other, capture_output=True, text=True)
    assert "ValueError" in refused.stderr and "another command is at work on it" in refused.stderr
    again = Study({"x": [1, 2]}, search="grid", journal=path)  # as a cell of a notebook that runs again
    for use in (first.ask, lambda: first.run(measure), lambda: first.tell(again.ask()[0], 1)):
        with pytest.raises(ValueError, match="the study is closed"):
            use()
    assert first.trials == []
    again.close()
    assert subprocess.run(other).returncode == 0


def test_a_full_disk_loses_nothing(tmp_path):
    path = tmp_path / "s"
    study = Study(SPACE, 12, journal=path)
    most, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (3000, hard))
    try:
        with pytest.warns(UserWarning, match="File too large; the search continues") as warned:
            study.run(measure, callback=lambda study, step, score: step.trial == 9)
        assert len(warned) == 1 and path.stat().st_size == 3000
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, hard))
    study.run(measure)
    study.close()
    assert Study(SPACE, 12, journal=path).trials == study.trials and len(study.trials) == 12


def test_the_command_line_shows_a_journal(podere):
    study = Study(SPACE, 12, journal=podere.folder / "s").run(measure)
    shown = json.loads(podere("study", "show", "s", "--json"))
    assert [trial["score"] for trial in shown["trials"]] == [trial["score"] for trial in study.trials]
    assert f"{study.best_trial['trial']}" == podere("study", "show", "s").split("setting\n")[1].split()[0]
    assert json.loads(podere("study", "best", "s", "--json"))["score"] == study.best_score


def test_trials_are_a_frame_and_a_table():
    study = Study(SPACE, 12)
    assert repr(study) == "<Study: 0 of 12 trials>" and "<tr>" in study._repr_html_()
    frame = study.run(measure_at_any_time).to_pandas()
    assert list(frame["score"][:10]) == [trial["score"] for trial in study.trials[:10]] and frame["score"].isna().sum() == 2
    assert frame["leaves"].isna().equals(frame["kind"] == "flat")
    assert study._repr_html_().count("<tr>") == 11 and "best score" in repr(study)
    assert Study({"x": [1, 2, 3]}, search="grid").run(lambda step: step.params["x"]).to_pandas()["x"].tolist() == [3, 2, 1]


def test_parameters_may_be_arrays():
    arrays = [numpy.arange(n) for n in (2, 3, 4)]
    study = Study({"x": arrays, "y": (0.0, 1.0)}, trials=12, search="random")
    study.run(lambda step: len(step.params["x"]) + step.params["y"])
    assert len(study.best_params["x"]) == 4


def test_a_study_that_is_refused_leaves_the_one_before_open(tmp_path):
    journal = tmp_path / "s.journal"
    study = Study({"x": (0.0, 1.0)}, trials=4, journal=journal)
    with pytest.raises(ValueError, match="tpee"):
        Study({"x": (0.0, 1.0)}, trials=4, search="tpee", journal=journal)
    study.run(lambda step: step.params["x"])
    assert len(study.trials) == 4


def test_a_journal_is_a_file(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ValueError, match="pipe: a file is needed"):
        Study({"x": (0.0, 1.0)}, journal=tmp_path / "pipe")


@pytest.mark.parametrize("schedule", ["asha", "halving", "hyperband", "median"])
def test_a_schedule_needs_to_know_how_long_trials_are(schedule):
    with pytest.raises(ValueError, match="needs most"):
        Study({"x": (0.0, 1.0)}, schedule=schedule)
