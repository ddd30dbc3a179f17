"""Ctrl-C during fit, and other threads of Python meanwhile."""
import os
import signal
import threading
import time

import numpy
import pytest

from podere import GBTClassifier

LONG = GBTClassifier(n_estimators=100_000, max_depth=3, learning_rate=1e-3)


@pytest.fixture(scope="module")
def events():
    rng = numpy.random.default_rng(1)
    X = rng.normal(size=(20_000, 10))
    return X, (X[:, 0] + rng.normal(size=len(X)) > 0).astype(int)


def interrupt_after(seconds):
    timer = threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    return timer


def test_control_c_ends_a_fit_soon_and_leaves_the_estimator_as_it_was(events):
    X, y = events
    estimator = LONG.set_params(n_estimators=2).fit(X[:, :4], y)
    before = estimator.predict_proba(X[:, :4])
    estimator.set_params(n_estimators=100_000)
    timer = interrupt_after(0.5)
    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        estimator.fit(X, y + 1)
    assert time.monotonic() - start < 20, "it did not end before its end"
    timer.join()
    assert estimator.n_features_in_ == 4 and estimator.classes_.tolist() == [0, 1]
    assert (estimator.predict_proba(X[:, :4]) == before).all()


def test_control_c_leaves_a_new_estimator_not_fitted(events):
    timer = interrupt_after(0.3)
    estimator = GBTClassifier(n_estimators=100_000)
    with pytest.raises(KeyboardInterrupt):
        estimator.fit(*events)
    timer.join()
    assert not [name for name in vars(estimator) if name.endswith("_") or name == "_model"]


def test_an_exception_of_a_signal_handler_is_raised(events):
    class Alarm(Exception):
        pass

    def ring(*_):
        raise Alarm

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, 0.3)
    try:
        with pytest.raises(Alarm):
            GBTClassifier(n_estimators=100_000).fit(*events)
    finally:
        signal.signal(signal.SIGALRM, before)


def test_other_threads_run_while_a_model_is_trained(events):
    turns = []
    ended = threading.Event()

    def count():
        while not ended.is_set():
            turns.append(time.monotonic())
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    start = time.monotonic()
    GBTClassifier(n_estimators=100).fit(*events)
    end = time.monotonic()
    ended.set()
    thread.join()
    during = [turn for turn in turns if start < turn < end]
    assert len(during) > 10


def test_two_threads_may_fit_at_once(events):
    X, y = events
    expected = GBTClassifier(n_estimators=10).fit(X, y).predict_proba(X)
    fitted = [GBTClassifier(n_estimators=10) for _ in range(2)]
    threads = [threading.Thread(target=estimator.fit, args=(X, y)) for estimator in fitted]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for estimator in fitted:
        assert (estimator.predict_proba(X) == expected).all()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_may_fit_too(events):
    X, y = events
    expected = GBTClassifier(n_estimators=5, n_jobs=2).fit(X, y).predict_proba(X)
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            again = GBTClassifier(n_estimators=5, n_jobs=2).fit(X, y).predict_proba(X)
            status = 0 if (again == expected).all() else 2
        finally:
            os._exit(status)
    os.close(writer)
    os.close(reader)
    for _ in range(300):
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid:
            break
        time.sleep(0.1)
    else:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        raise AssertionError("the child did not end")
    assert os.waitstatus_to_exitcode(status) == 0
