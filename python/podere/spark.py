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
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from . import _spark_worker
from ._connection import SessionError, socket_path
from ._sending import Sending
from ._session import Session
from ._spark_columns import choose_columns, warn_of_dates
from ._spark_gathering import Gathering
from ._stored_table import Origin
from ._table import Table, stored_table

__all__ = ["estimator", "read", "send", "with_rows"]

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
    if isinstance(batch_bytes, bool) or not isinstance(batch_bytes, int) or not 1 << 10 <= batch_bytes <= 1 << 30:
        raise ValueError(f"batch_bytes is {batch_bytes!r}, allowed are whole numbers from 1024 to 2^30")
    jobs = session._jobs
    if name is not None:
        session._free_name(name)
    columns = choose_columns(df, features, label, weight, categorical)
    warn_of_dates(columns, callers=3)
    table_name = jobs.table_name(name)
    rows = df.select(*(part.column.alias(f"c{place}") for place, part in enumerate(columns.parts)))  # whatever names are
    batch_rows = max(1, batch_bytes // sum(part.row_bytes for part in columns.parts))
    facts = Sending(columns, jobs, table_name, address, functools.partial(_deliver, rows, batch_rows, table_name),
                    functools.partial(_in_one_line, table_name)).run()
    return session._table(facts, _origin(df, label), is_temporary=name is None)


def with_rows(df: Any, table: Table, column: str = "row") -> Any:
    """A DataFrame that was sent, with the number that each of its rows has in the table, by which results join back.

    The rows must be in the same partitions, in the same order, as when they were sent: those of a DataFrame that is
    cached, or that is read from the same files. Columns may have been added; a filter, sort, join or explode gives other
    rows, or the same ones elsewhere. Spark fails with a line where there are more rows than were sent.
    """
    from pyspark.sql import functions

    if not isinstance(table, Table):
        raise TypeError(f"table is {type(table).__name__}, allowed is a Table, as send() returns it")
    counts = stored_table(table).facts.get("partitions")
    if counts is None:
        raise ValueError(f"table is {table.name}, of which it is not known where its rows were: allowed is what send() "
                         "returned")
    if column in df.columns:
        raise ValueError(f"column is {column!r}, which df has already, allowed is another name")
    begins = [0, *np.cumsum(counts).tolist()[:-1]]
    number = functions.monotonically_increasing_id()
    partition = functions.shiftright(number, _PLACE_BITS).cast("int")
    place = number.bitwiseAND(functions.lit((1 << _PLACE_BITS) - 1))

    def of_partition(values: Sequence[int]) -> Any:
        """Null beyond the last."""
        return functions.get(functions.array(*(functions.lit(int(value)).cast("long") for value in values)), partition)

    message = (f"podere: df has rows or partitions that the table {table.name} does not have: with_rows takes the DataFrame "
               "that was sent, with columns added and nothing else; cache it before it is sent, or join by a key")
    is_there = functions.coalesce(place < of_partition(counts), functions.lit(False))
    return df.withColumn(column, functions.when(is_there, of_partition(begins) + place)
                         .otherwise(functions.raise_error(message).cast("long")))


def _origin(df: Any, label: str | None) -> Origin:
    from pyspark.sql.types import BooleanType

    is_truth = label is not None and isinstance(df.schema[label].dataType, BooleanType)
    return Origin(classes=np.array([False, True])) if is_truth else Origin()


def _deliver(rows: Any, batch_rows: int, name: str, plan: dict[str, Any], gathering: Gathering) -> list[int]:
    """The rows of each partition. Spark's own exceptions if it fails, or is cancelled as executors are lost."""
    spark = rows.sparkSession
    with _tagged(spark, f"podere-{name}", gathering), _batches_of(spark, batch_rows):
        reported = rows.mapInArrow(_spark_worker.task_of(plan), "partition int, rows long").collect()
    counts = dict.fromkeys(range(len(reported)), 0) | {row["partition"]: row["rows"] for row in reported}
    if len(counts) != len(reported):
        raise RuntimeError(f"Spark has reported {len(reported)} partitions, whose numbers are not 0 to {len(reported) - 1}")
    return [counts[partition] for partition in range(len(reported))]


@contextlib.contextmanager
def _tagged(spark: Any, tag: str, gathering: Gathering) -> Iterator[None]:
    """What Spark does meanwhile is cancelled when executors are lost."""
    if ".connect." in type(spark).__module__:
        add, cancel, remove = spark.addTag, spark.interruptTag, spark.removeTag
    else:  # there these are of PySpark 4.0 and newer
        context = spark.sparkContext
        add, cancel, remove = context.addJobTag, context.cancelJobsWithTag, context.removeJobTag
    add(tag)
    gathering.call_on_loss(lambda: cancel(tag))
    try:
        yield
    finally:
        gathering.call_on_loss(lambda: None)
        with contextlib.suppress(Exception):  # Spark may have gone
            remove(tag)


@contextlib.contextmanager
def _batches_of(spark: Any, n_rows: int) -> Iterator[None]:
    before = spark.conf.get(_BATCH_ROWS)
    spark.conf.set(_BATCH_ROWS, str(n_rows))
    try:
        yield
    finally:
        with contextlib.suppress(Exception):
            spark.conf.set(_BATCH_ROWS, before)


def _in_one_line(table: str, error: Exception) -> Exception:
    """What failed in Spark, without the words of Java."""
    text = str(error)
    if refused := re.search(re.escape(_spark_worker.REFUSED) + "(.*)", text):
        return ValueError(refused[1].strip())
    causes = re.findall(r"^(?:Caused by: )?(?:\w+\.)*\w*(?:Error|Exception): (.+)$", text, re.MULTILINE)
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
    if not isinstance(session, Session):
        raise TypeError(f"session is {type(session).__name__}, allowed is a podere.Session")
    if int(pyspark.__version__.split(".")[0]) < 4:
        raise ImportError(f"podere.spark.read needs pyspark 4.0 or newer, this is {pyspark.__version__}")
    if not hasattr(spark, "dataSource"):
        raise TypeError(f"spark is {type(spark).__name__}, allowed is a SparkSession")
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
