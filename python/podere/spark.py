"""Between Apache Spark and the executors of a session: rows go both ways in parallel, and never through this process.

    import podere, podere.spark
    with podere.Session(executors=2) as s:
        train = podere.spark.send(df, s, label="label", name="train")
        model = s.fit(podere.GBTClassifier(), train)
        podere.spark.read(spark, s, "train").show()

Spark's executors need pyarrow and NumPy, and not Podere. docs/spark.md says what types mean.
"""
from __future__ import annotations

import contextlib
import functools
import json
import re
import threading
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from . import _spark_worker
from ._connection import SessionError, socket_path
from ._jobs import JobRunner
from ._reading import read_as
from ._session import Session
from ._spark_columns import Columns, choose_columns
from ._spark_gathering import Gathering, Group
from ._stored_table import Origin
from ._table import Table, stored_table

__all__ = ["estimator", "read", "send", "with_rows"]

_MOST_ATTEMPTS = 3  # groups of executors to which a table is sent, one after the loss of another
_WAIT_SECONDS = 0.02
_PLACE_BITS = 33  # of monotonically_increasing_id: the place of a row in its partition
_BATCH_ROWS = "spark.sql.execution.arrow.maxRecordsPerBatch"


def _pyspark() -> Any:
    """Also has what runs in Spark's workers sent by value."""
    try:
        import pyarrow  # noqa: F401
        import pyspark
        from pyspark import cloudpickle
    except ImportError as error:
        raise ImportError(f"podere.spark needs {error.name}, which is not installed: pip install 'pyspark>=3.5' pyarrow"
                          ) from None
    if tuple(int(part) for part in pyspark.__version__.split(".")[:2]) < (3, 5):
        raise ImportError(f"podere.spark needs pyspark 3.5 or newer, this is {pyspark.__version__}")
    cloudpickle.register_pickle_by_value(_spark_worker)
    return pyspark


# Sending --------------------------------------------------------------------------------------------------------------

def send(df: Any, session: Session, *, label: str | None = None, weight: str | None = None,
         features: Sequence[str] | None = None, categorical: Sequence[str] | str | None = None,
         name: str | None = None, address: str = "127.0.0.1", batch_bytes: int = 8 << 20) -> Table:
    """Send a DataFrame of Spark to the executors of a session, which keep it as a table.

    Spark's tasks send their partitions themselves, in parallel. The rows of the table are those of partition 0, in their
    order, then those of partition 1, and so on. A task that Spark runs again sends nothing twice.

    Parameters
    ----------
    df : DataFrame of pyspark
        Numbers, booleans, decimals, dates, and arrays and vectors of numbers; nulls are missing values.
    session : Session
    label, weight : str or None
        Columns. A label of texts has them as classes.
    features : list of str or None
        Columns, in this order; None: all others.
    categorical : list of str, "auto" or None
        Columns of texts that are categories. "auto": all columns of texts, of which few may differ.
    name : str or None
        Of the table; one without a name is dropped when the last reference to it goes.
    address : str
        Of this machine, at which executors of the session reach it. They listen where it reaches them.
    batch_bytes : int
        About how large a batch of rows is in Spark's memory; a task holds a few.

    Returns
    -------
    Table

    Raises
    ------
    ValueError, TypeError
        For what has no meaning in a table, with the column.
    SessionError
        If Spark or the session ends before all rows were sent.
    """
    _pyspark()
    if not isinstance(session, Session):
        raise TypeError(f"session is {type(session).__name__}, allowed is a podere.Session")
    jobs = session._jobs
    if name is not None:
        session._free_name(name)
    columns = choose_columns(df, features, label, weight, categorical)
    _warn_of_dates(columns)
    table_name = jobs.table_name(name)
    result, counts = _Sending(df, columns, jobs, table_name, address, batch_bytes).run()
    facts, = result["tables"]
    facts["read_as"] = read_as({"rounded": result["rounded"]})
    facts["partitions"] = counts
    return session._table(facts, _origin(df, label), is_temporary=name is None)


def with_rows(df: Any, table: Table, column: str = "row") -> Any:
    """A DataFrame that was sent, with the number that each of its rows has in the table, by which results join back.

    The rows must be in the same partitions, in the same order, as when they were sent: those of a DataFrame that is
    cached, or that is read from the same files.
    """
    from pyspark.sql import functions

    counts = stored_table(table).facts.get("partitions")
    if counts is None:
        raise ValueError(f"table is {table.name}, of which it is not known where its rows were: allowed is what send() "
                         "returned")
    if column in df.columns:
        raise ValueError(f"column is {column!r}, which df has already, allowed is another name")
    begins = [0, *np.cumsum(counts).tolist()[:-1]]
    number = functions.monotonically_increasing_id()
    partition = functions.shiftright(number, _PLACE_BITS).cast("int")
    begin = functions.element_at(functions.array(*(functions.lit(int(begin)).cast("long") for begin in begins)),
                                 partition + 1)
    return df.withColumn(column, begin + number.bitwiseAND(functions.lit((1 << _PLACE_BITS) - 1)))


def _origin(df: Any, label: str | None) -> Origin:
    from pyspark.sql.types import BooleanType

    is_truth = label is not None and isinstance(df.schema[label].dataType, BooleanType)
    return Origin(classes=np.array([False, True])) if is_truth else Origin()


def _warn_of_dates(columns: Columns) -> None:
    for found, meaning in (([part.name for part in columns.features if part.is_date], "dates: days since 1970-01-01, in UTC"),
                           ([part.name for part in columns.features if part.is_period], "periods of time: days")):
        if found:
            warnings.warn(f"column{'s' if len(found) > 1 else ''} {', '.join(map(repr, found))} "
                          f"hold{'' if len(found) > 1 else 's'} {meaning}", UserWarning, stacklevel=3)


class _Sending:
    """One table on its way."""

    def __init__(self, df: Any, columns: Columns, jobs: JobRunner, name: str, address: str, batch_bytes: int) -> None:
        if isinstance(batch_bytes, bool) or not isinstance(batch_bytes, int) or not 1 << 10 <= batch_bytes <= 1 << 30:
            raise ValueError(f"batch_bytes is {batch_bytes!r}, allowed are whole numbers from 1024 to 2^30")
        self._rows = df.select(*(part.column for part in columns.parts))
        self._columns = columns
        self._jobs = jobs
        self._name = name
        self._batch_rows = max(1, batch_bytes // sum(part.row_bytes for part in columns.parts))
        self._gathering = Gathering(address)
        self._result: dict[str, Any] | None = None
        self._failure: Exception | None = None
        self._job = threading.Thread(target=self._run_job, name="podere receive", daemon=True)

    def run(self) -> tuple[dict[str, Any], list[int]]:
        """What the job reports, and the rows of each partition."""
        self._job.start()
        try:
            counts = self._send()
        except BaseException:
            self._gathering.close()
            self._job.join()
            raise
        self._job.join()
        self._gathering.close()
        if self._failure is not None:
            raise self._failure
        assert self._result is not None
        return self._result, counts

    def _run_job(self) -> None:
        columns = self._columns
        job = {"kind": "receive", "name": self._name, "token": self._gathering.token, "host": self._gathering.host,
               "port": self._gathering.port, "features": columns.names, "blocks": [len(part.names) for part in columns.features],
               "kinds": columns.kinds()}
        if columns.label is not None:
            job.update(label=columns.label.name, classes=columns.label.texts or [])
        if columns.weight is not None:
            job["weight"] = columns.weight.name
        try:
            self._result = self._jobs.run(job)
        except Exception as error:  # noqa: BLE001, raised again where send() is called
            self._failure = error

    def _send(self) -> list[int]:
        counts: list[int] = []
        attempts = 0
        while (group := self._await_group()) is not None:
            if attempts == _MOST_ATTEMPTS:
                raise SessionError(f"executors were lost {attempts} times while Spark sent {self._name}")
            if attempts > 0:
                warnings.warn(f"executors of the session were lost while Spark sent {self._name}: all is sent again",
                              UserWarning, stacklevel=4)
            attempts += 1
            try:
                counts = self._send_to(group)
            except Exception as error:
                if not group.is_lost:
                    self._gathering.abandon("Spark did not send all of its rows")
                    raise _in_one_line(error, self._name) from error
            else:
                self._gathering.complete(group, counts)
        return counts

    def _await_group(self) -> Group | None:
        """The next that takes rows; None once the job has ended."""
        while self._job.is_alive():
            group = self._gathering.wait(lambda: not self._job.is_alive(), _WAIT_SECONDS)
            if group is not None:
                return group
        return None

    def _send_to(self, group: Group) -> list[int]:
        """The rows of each partition. Spark's own exceptions if it fails, or is cancelled as the group is lost."""
        plan = {"token": self._gathering.token, "executors": group.addresses,
                "parts": [part.for_workers() for part in self._columns.parts]}
        spark = self._rows.sparkSession
        with _tagged(spark, f"podere-{self._name}", self._gathering), _batches_of(spark, self._batch_rows):
            rows = self._rows.mapInArrow(_spark_worker.task_of(plan), "partition int, rows long").collect()
        counts = dict.fromkeys(range(len(rows)), 0) | {row["partition"]: row["rows"] for row in rows}
        if len(counts) != len(rows):
            raise RuntimeError(f"Spark has reported {len(rows)} partitions, whose numbers are not 0 to {len(rows) - 1}")
        return [counts[partition] for partition in range(len(rows))]


@contextlib.contextmanager
def _tagged(spark: Any, tag: str, gathering: Gathering) -> Iterator[None]:
    """What Spark does meanwhile is cancelled when executors are lost."""
    spark.addTag(tag) if hasattr(spark, "addTag") else spark.sparkContext.addJobTag(tag)
    gathering.call_on_loss(lambda: spark.interruptTag(tag) if hasattr(spark, "interruptTag")
                           else spark.sparkContext.cancelJobsWithTag(tag))
    try:
        yield
    finally:
        gathering.call_on_loss(lambda: None)
        with contextlib.suppress(Exception):  # Spark may have gone
            spark.removeTag(tag) if hasattr(spark, "removeTag") else spark.sparkContext.removeJobTag(tag)


@contextlib.contextmanager
def _batches_of(spark: Any, n_rows: int) -> Iterator[None]:
    before = spark.conf.get(_BATCH_ROWS)
    spark.conf.set(_BATCH_ROWS, str(n_rows))
    try:
        yield
    finally:
        with contextlib.suppress(Exception):
            spark.conf.set(_BATCH_ROWS, before)


def _in_one_line(error: Exception, table: str) -> Exception:
    """What failed in Spark, without the words of Java."""
    text = str(error)
    if refused := re.search(re.escape(_spark_worker.REFUSED) + "(.*)", text):
        return ValueError(refused[1].strip())
    causes = re.findall(r"^(?:\w+\.)*\w*(?:Error|Exception): (.+)$", text, re.MULTILINE)
    line = causes[-1] if causes else text.strip().splitlines()[0] if text.strip() else type(error).__name__
    return SessionError(f"Spark has not sent the table {table}: {line.strip()}")


# Reading back ---------------------------------------------------------------------------------------------------------

def read(spark: Any, session: Session, table: Table | str, *, row: str | None = None, partitions: int | None = None,
         address: str = "127.0.0.1") -> Any:
    """A table of a session as a DataFrame of Spark, whose tasks read the rows from the session's executors.

    Each time that Spark evaluates it, it asks the session where the rows are: the session must be there still, and the
    table, and this process may have gone.

    Parameters
    ----------
    spark : SparkSession, of PySpark 4.0 or newer
    session : Session
    table : Table or str
    row : str or None
        What a column of the row numbers is called; None: there is none.
    partitions : int or None
        At least so many; None: as many as Spark has cores.
    address : str
        As of `send`.

    Returns
    -------
    DataFrame
        Features, label and weight: floats, NaN where a value is missing; texts of categories and classes.
    """
    pyspark = _pyspark()
    if int(pyspark.__version__.split(".")[0]) < 4:
        raise ImportError(f"podere.spark.read needs pyspark 4.0 or newer, this is {pyspark.__version__}")
    from pyspark import cloudpickle

    from . import _spark_source
    cloudpickle.register_pickle_by_value(_spark_source)
    name = table.name if isinstance(table, Table) else str(table)
    offer = session._jobs.run({"kind": "offer", "table": {"location": f"table:{name}"}, "host": address})
    if row is not None and row in _spark_source.names_of(offer):
        raise ValueError(f"row is {row!r}, which is a column of the table, allowed is another name")
    spark.dataSource.register(_spark_source.PodereTable)
    options = {"socket": socket_path(session.name), "session": session.name, "table": name, "host": address,
               "row": row or "", "partitions": str(partitions or spark.sparkContext.defaultParallelism),
               "columns": json.dumps(_spark_source.columns_of(offer))}
    return spark.read.format(_spark_source.FORMAT).options(**options).load()


# Pipelines ------------------------------------------------------------------------------------------------------------

def estimator(estimator: Any, session: Session, *, featuresCol: str = "features", labelCol: str = "label",
              weightCol: str = "", predictionCol: str = "prediction", probabilityCol: str = "probability",
              rawPredictionCol: str = "rawPrediction", outputCol: str = "output", address: str = "127.0.0.1") -> Any:
    """An estimator of Podere as one of Spark, for `pyspark.ml.Pipeline`, `CrossValidator` and the like.

    `fit` sends rows to the session, whose executors train. Spark's Python workers apply the model, and need Podere for
    it. All parameters of `estimator` are parameters of the result: `ParamGridBuilder().addGrid(trees.max_depth, [3, 6])`.

    Parameters
    ----------
    estimator : classifier or regressor of Podere, KMeans, GaussianMixture, PCA or TruncatedSVD
    session : Session
    featuresCol : str
        Column of vectors or arrays of numbers; NaN is a missing value.
    labelCol : str
        Column of numbers; for classifiers classes numbered from 0, as StringIndexer makes them.
    weightCol : str
        Column of weights; "" if there is none.
    predictionCol, probabilityCol, rawPredictionCol, outputCol : str
        What columns are called that the model adds: the first three of classifiers, `predictionCol` of regressors and
        KMeans, that and `probabilityCol` of GaussianMixture, `outputCol` of PCA and TruncatedSVD. One called "" is not
        added. Vectors have an element for each number up to the largest class.
    address : str
        As of `send`.

    Returns
    -------
    pyspark.ml.Estimator
        The model that its `fit` returns has the fitted estimator of Podere as `estimator`.
    """
    _pyspark()
    if not isinstance(session, Session):
        raise TypeError(f"session is {type(session).__name__}, allowed is a podere.Session")
    from ._spark_ml import PodereEstimator

    columns = {"featuresCol": featuresCol, "labelCol": labelCol, "weightCol": weightCol, "predictionCol": predictionCol,
               "probabilityCol": probabilityCol, "rawPredictionCol": rawPredictionCol, "outputCol": outputCol}
    return PodereEstimator(estimator, functools.partial(send, session=session, address=address), columns)
