"""Data that several tests use, and the program `podere` (in the environment variable PODERE) beside the package."""
import os
import pathlib
import subprocess
import time
import uuid

import numpy
import pytest
from sklearn.datasets import make_classification, make_regression


@pytest.fixture(scope="session")
def two_classes():
    """3,000 x 8 with missing values; labels 0 and 1."""
    X, y = make_classification(3000, 8, n_informative=5, random_state=3)
    X[numpy.random.default_rng(3).uniform(size=X.shape) < 0.05] = numpy.nan
    return X, y


@pytest.fixture(scope="session")
def three_classes():
    return make_classification(2000, 8, n_informative=5, n_classes=3, random_state=4)


@pytest.fixture(scope="session")
def numbers():
    X, y = make_regression(2000, 6, n_informative=4, noise=10, random_state=5)
    return X, y


@pytest.fixture
def podere(tmp_path):
    """Runs the program in a folder of its own; returns what it printed."""
    def run(*arguments):
        command = [os.environ["PODERE"], *map(str, arguments)]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
        return done.stdout
    run.folder = tmp_path
    return run


def model_text(estimator, folder):
    """The model file that the estimator writes."""
    path = folder / "of_estimator.json"
    estimator.save_model(path)
    return path.read_text()


# Processes of sessions

def marked_processes(mark):
    """Ids and arguments of the processes whose environment has `mark`, but for this one."""
    found = {}
    for entry in pathlib.Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and mark.encode() in (entry / "environ").read_bytes():
                found[int(entry.name)] = (entry / "cmdline").read_bytes().decode().split("\0")
        except OSError:
            pass  # it ended, or is another user's
    found.pop(os.getpid(), None)
    return found


def wait_until(condition, seconds=30.0):
    end = time.monotonic() + seconds
    while not (value := condition()):
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.02)
    return value


@pytest.fixture(scope="module")
def mark():
    """In the environment of all that these tests start; nothing of it outlives them."""
    value = str(uuid.uuid4())
    os.environ["PODERE_TEST_MARK"] = value
    yield value
    del os.environ["PODERE_TEST_MARK"]
    wait_until(lambda: not marked_processes(value))


def executors_of(driver):
    """Ids of the executors below a driver."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and (entry / "cmdline").read_bytes().split(b"\0")[1:2] == [b"executor"]:
                ancestor = int(entry.name)
                while ancestor > 1 and ancestor != driver:
                    ancestor = int((pathlib.Path("/proc") / str(ancestor) / "stat").read_text().rsplit(")")[1].split()[1])
                if ancestor == driver:
                    found.append(int(entry.name))
        except OSError:
            pass
    return sorted(found)
