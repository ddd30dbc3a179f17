"""Data that several tests use, and the program `podere` (in the environment variable PODERE) beside the package."""
import os
import subprocess

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
