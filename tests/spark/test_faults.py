"""Spark on a cluster of two worker processes, and what goes wrong while it sends."""
import os
import pathlib
import signal
import threading
import time
import warnings

import pandas
import podere
import podere._spark_worker
import podere.spark
import pytest
from pyspark.sql import functions as F

MASTER = "local-cluster[2,1,1024]"
N_ROWS, N_PARTITIONS = 4000, 8


def slowly(seconds, fails_first=()):
    """Rows one batch after another, so that there is time for what goes wrong; tasks of some partitions fail at their
    first attempt, after they have sent rows."""
    def pass_on(batches):
        from pyspark import TaskContext
        task = TaskContext.get()
        for batch in batches:
            for begin in range(0, batch.num_rows, 100):
                time.sleep(seconds)
                yield batch.slice(begin, 100)
                if task.partitionId() in fails_first and task.attemptNumber() == 0 and begin > 100:
                    raise RuntimeError("failed at its first attempt")
    return pass_on


@pytest.fixture(scope="module")
def rows(spark):
    return spark.range(0, N_ROWS, numPartitions=N_PARTITIONS).select("id", (F.col("id") % 2).cast("int").alias("y"))


def slow_rows(rows, seconds=0.15, **choices):
    return rows.mapInArrow(slowly(seconds, **choices), rows.schema)


def assert_whole(table):
    expected = pandas.DataFrame({"y": [i % 2 for i in range(N_ROWS)], "id": range(N_ROWS)}).astype("float64")
    pandas.testing.assert_frame_equal(table.to_pandas().astype("float64"), expected)


def children_of(process, word):
    """Ids of the processes below one whose command has a word."""
    parents, found = {}, []
    for entry in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
    for number in parents:
        above = number
        while above in parents and above != process:
            above = parents[above]
        try:
            if above == process and word in pathlib.Path(f"/proc/{number}/cmdline").read_text():
                found.append(number)
        except OSError:
            continue
    return found


class During:
    """Calls something some time after a table has begun to be sent."""

    def __init__(self, monkeypatch, call, seconds=1.0):
        original = podere.spark._deliver
        self.calls = 0

        def deliver(*arguments):
            if self.calls == 0:
                self.calls = 1
                threading.Timer(seconds, call).start()
            return original(*arguments)
        monkeypatch.setattr(podere.spark, "_deliver", deliver)


def test_two_executors_send_and_read_at_once(rows, spark, session):
    table = podere.spark.send(rows, session, label="y")
    assert_whole(table)
    back = podere.spark.read(spark, session, table, row="row")
    assert back.where("row = id").count() == N_ROWS


def test_tasks_that_fail_and_are_tried_again_send_nothing_twice(rows, session):
    assert_whole(podere.spark.send(slow_rows(rows, 0.01, fails_first=(0, 3, 7)), session, label="y"))


def test_a_task_that_fails_after_its_rows_were_taken_sends_nothing_twice(rows, session, monkeypatch):
    original = podere._spark_worker.task_of

    def task_of(plan):
        task = original(plan)

        def fail_at_the_end(batches):
            from pyspark import TaskContext
            yield from task(batches)
            if TaskContext.get().attemptNumber() == 0:
                raise RuntimeError("failed after its rows were taken")
        return fail_at_the_end

    monkeypatch.setattr(podere._spark_worker, "task_of", task_of)
    assert_whole(podere.spark.send(rows, session, label="y"))


def test_an_executor_of_spark_that_is_killed_while_it_sends_is_made_up_for(rows, session, monkeypatch):
    executors = children_of(os.getpid(), "CoarseGrainedExecutorBackend")
    assert len(executors) == 2
    during = During(monkeypatch, lambda: os.kill(executors[0], signal.SIGKILL))
    assert_whole(podere.spark.send(slow_rows(rows), session, label="y"))
    assert during.calls == 1 and executors[0] not in children_of(os.getpid(), "CoarseGrainedExecutorBackend")


def test_executors_of_podere_that_are_killed_meanwhile_get_all_rows_again(rows, session, monkeypatch):
    victim = session.status["each"][1]["process"]
    During(monkeypatch, lambda: os.kill(victim, signal.SIGKILL))
    with pytest.warns(UserWarning, match="executors of the session were lost while .* was sent"):
        assert_whole(podere.spark.send(slow_rows(rows), session, label="y"))


def test_executors_that_are_killed_when_all_was_sent_get_all_rows_again(rows, monkeypatch):
    original = podere.spark.Gathering.complete
    victims = []

    def complete(gathering, group, counts):
        while victims:
            os.kill(victims.pop(), signal.SIGKILL)
        original(gathering, group, counts)

    monkeypatch.setattr(podere.spark.Gathering, "complete", complete)
    with podere.Session(executors=2, cores=1, progress=False, page=False) as session:
        session.put([[1.0], [2.0]])  # its executors have begun
        victims.append(session.status["each"][1]["process"])
        with pytest.warns(UserWarning, match="executors of the session were lost while .* was sent"):
            assert_whole(podere.spark.send(rows, session, label="y"))


def test_a_table_outlives_executors_that_are_lost_later(rows, session):
    table = podere.spark.send(rows, session, label="y")
    os.kill(session.status["each"][0]["process"], signal.SIGKILL)
    assert_whole(table)


def test_a_session_that_ends_while_spark_sends_is_named(rows, monkeypatch):
    with podere.Session(executors=1, cores=1, progress=False, page=False) as short:
        During(monkeypatch, short.shutdown)
        with pytest.raises(podere.SessionError, match="has ended|is closed"):
            podere.spark.send(slow_rows(rows), short, label="y")


def test_a_partition_that_never_comes_is_named(rows, session, monkeypatch):
    """As if Spark had counted rows that it did not send."""
    original = podere.spark._deliver

    def count_one_more(*arguments):
        counts = original(*arguments)
        return [*counts[:-1], counts[-1] + 1]

    monkeypatch.setattr(podere.spark, "_deliver", count_one_more)
    with pytest.raises(ValueError, match="1 partition has not arrived whole: 7; send the table again"):
        podere.spark.send(rows, session, label="y")


def test_spark_that_is_stopped_while_it_sends_leaves_the_session_as_it_was(rows, spark, session, monkeypatch):
    During(monkeypatch, spark.stop)
    with warnings.catch_warnings(), pytest.raises(podere.SessionError, match="Spark has not sent the table"):
        podere.spark.send(slow_rows(rows), session, label="y")
    assert session.put([[1.0], [2.0]]).n_rows == 2
