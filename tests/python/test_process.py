"""What the package does to the process it is in: threads, and no MPI."""
import ctypes
import os
import subprocess
import sys

import numpy
import pytest

from podere import GBTClassifier, _parameters


def test_all_usable_cores_are_those_of_the_affinity():
    core = min(os.sched_getaffinity(0))
    program = f"""
import os
os.sched_setaffinity(0, [{core}])
os.environ.pop("OMP_NUM_THREADS", None)
from podere import _parameters
print(_parameters.n_threads(None), _parameters.n_threads(-1), _parameters.n_threads(-5), _parameters.n_threads(3))"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["1", "1", "1", "3"]


@pytest.mark.parametrize("value, allowed", [("1", 1), ("0", None), ("many", None), ("1000", None)])
def test_no_more_threads_than_joblib_grants(monkeypatch, value, allowed):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    cores = _parameters.n_threads(None)
    monkeypatch.setenv("OMP_NUM_THREADS", value)
    assert _parameters.n_threads(None) == (allowed or cores)
    assert _parameters.n_threads(-1) == cores


def test_mpi_is_not_started():
    GBTClassifier(n_estimators=2).fit(numpy.arange(20.0).reshape(-1, 1), numpy.arange(20) > 9)
    with open("/proc/self/maps") as maps:
        libraries = {line.split()[-1] for line in maps if "/libmpi.so" in line}
    for library in libraries:
        started = ctypes.c_int(-1)
        ctypes.CDLL(library).MPI_Initialized(ctypes.byref(started))
        assert started.value == 0
