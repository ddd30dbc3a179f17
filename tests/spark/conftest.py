"""A real Spark. The package podere is found by a path of this process alone, unless a module asks for more.

Environment: PODERE (the program) and PODERE_PACKAGE (the folder in which the package podere lies).
"""
import os
import sys

import pytest

sys.path.insert(0, os.environ["PODERE_PACKAGE"])


def _start(master, workers_have_podere):
    from pyspark.sql import SparkSession

    os.environ.update(SPARK_LOCAL_IP="127.0.0.1", PYSPARK_PYTHON=sys.executable, PYSPARK_DRIVER_PYTHON=sys.executable)
    more = {"spark.executorEnv.PYTHONPATH": os.environ["PODERE_PACKAGE"]} if workers_have_podere else {}
    spark = (SparkSession.builder.master(master).appName("podere")
             .config("spark.ui.enabled", "false").config("spark.ui.showConsoleProgress", "false")
             .config("spark.driver.bindAddress", "127.0.0.1").config("spark.driver.host", "127.0.0.1")
             .config("spark.driver.memory", "1g").config("spark.sql.shuffle.partitions", "4")
             .config("spark.sql.session.timeZone", "UTC").config(map=more).getOrCreate())
    spark.sparkContext.setLogLevel("OFF")
    return spark


@pytest.fixture(scope="module")
def spark(request):
    """local[2], or what MASTER of the module says. One Spark at a time in a process. Its workers have Podere if the module
    has WORKERS_HAVE_PODERE."""
    session = _start(getattr(request.module, "MASTER", "local[2]"), getattr(request.module, "WORKERS_HAVE_PODERE", False))
    yield session
    session.stop()


@pytest.fixture(scope="module")
def session():
    import podere

    with podere.Session(executors=2, cores=1, progress=False, page=False) as session:
        yield session
