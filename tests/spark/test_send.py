"""Tables that go from Spark to the executors of a session and back, in one process of Spark."""
import datetime
import decimal
import socket
import struct
import threading
import warnings

import numpy
import pandas
import podere
import podere.spark
import pytest
from pyspark.ml.feature import VectorAssembler
from pyspark.ml.linalg import Vectors
from pyspark.sql import functions as F
from pyspark.sql import types as T


@pytest.fixture(scope="module")
def rows(spark):
    """5,000 rows in 5 partitions, of which one is empty."""
    df = spark.range(0, 5000, numPartitions=4).select(
        "id", (F.col("id") * 0.5).alias("half"), F.when(F.col("id") % 10 == 3, None).otherwise(F.col("id").cast("int")).alias("some"),
        (F.col("id") % 2).cast("int").alias("y"), (F.col("id") % 7 + 1).cast("float").alias("w"))
    return df.union(df.where("id < 0").coalesce(1))


def values_of(table):
    """The rows as executors hold them."""
    return table.to_pandas()


def test_rows_stand_by_partition_and_place_and_nulls_are_missing(rows, session):
    table = podere.spark.send(rows, session, label="y", weight="w")
    assert (table.features, table.label, table.weight) == (["id", "half", "some"], "y", "w")
    expected = rows.toPandas().astype("float64")
    found = values_of(table)
    pandas.testing.assert_frame_equal(found[list(expected)].astype("float64"), expected)
    assert table.n_rows == 5000 and found["some"].isna().sum() == 500


def test_models_are_those_of_the_same_rows_that_were_put(rows, session):
    table = podere.spark.send(rows, session, label="y", weight="w")
    frame = rows.toPandas()
    put = session.put(frame[["id", "half", "some"]], frame["y"], sample_weight=frame["w"])
    models = [session.fit(podere.GBTClassifier(n_estimators=5, max_depth=3), t) for t in (table, put)]
    assert numpy.array_equal(models[0].predict_proba(frame[["id", "half", "some"]]),
                             models[1].predict_proba(frame[["id", "half", "some"]]))


def test_the_table_is_the_same_on_any_number_of_executors(rows, session):
    here = values_of(podere.spark.send(rows, session, label="y"))
    for n in (1, 3):
        with podere.Session(executors=n, cores=1, progress=False, page=False) as other:
            pandas.testing.assert_frame_equal(values_of(podere.spark.send(rows, other, label="y")), here)


def test_types_have_the_meaning_that_the_documents_say(spark, session):
    day, moment = datetime.date(2026, 11, 29), datetime.datetime(2026, 11, 29, 6, 0)
    schema = T.StructType([
        T.StructField("truth", T.BooleanType()), T.StructField("byte", T.ByteType()), T.StructField("long", T.LongType()),
        T.StructField("decimal", T.DecimalType(12, 3)), T.StructField("day", T.DateType()),
        T.StructField("moment", T.TimestampType()), T.StructField("clock", T.TimestampNTZType()),
        T.StructField("period", T.DayTimeIntervalType()), T.StructField("array", T.ArrayType(T.DoubleType())),
        T.StructField("kind", T.StringType())])
    df = spark.createDataFrame([
        (True, 1, 2**25 + 1, decimal.Decimal("1.125"), day, moment, moment, datetime.timedelta(hours=36), [1.0, None], "b"),
        (None, None, None, None, None, None, None, None, [3.0, 4.0], None),
        (False, -1, 3, decimal.Decimal("-2"), day, moment, moment, datetime.timedelta(0), [5.0, 6.0], "a")], schema)
    with pytest.warns(UserWarning, match="'day', 'moment', 'clock' hold dates: days since 1970-01-01, in UTC"):
        table = podere.spark.send(df.coalesce(1), session, categorical=["kind"])
    found = values_of(table)
    days = (day - datetime.date(1970, 1, 1)).days
    assert found.loc[0].to_dict() == pytest.approx({
        "truth": 1, "byte": 1, "long": 2**25, "decimal": 1.125, "day": days, "moment": days + 0.25, "clock": days + 0.25,
        "period": 1.5, "array_0": 1, "array_1": float("nan"), "kind": "b"}, nan_ok=True, abs=0.002)
    assert found.drop(columns=["array_0", "array_1"]).loc[1].isna().all()
    assert found.loc[2, "kind"] == "a" and table.categorical == ["kind"]
    assert "beyond 2^24" in table.read_as["long"]


def test_vectors_dense_and_sparse_are_features_with_the_names_of_their_assembler(rows, spark, session):
    complete = rows.where("some is not null")
    df = VectorAssembler(inputCols=["id", "half"], outputCol="features").transform(complete).select("features", "y")
    table = podere.spark.send(df, session, label="y")
    assert table.features == ["id", "half"]
    expected = complete.select("y", "id", "half").toPandas().astype("float64")
    pandas.testing.assert_frame_equal(values_of(table).astype("float64"), expected)
    mixed = spark.createDataFrame([(Vectors.dense([1, 0, 2]),), (Vectors.sparse(3, [1], [5.0]),)], ["v"]).coalesce(1)
    table = podere.spark.send(mixed, session)
    assert table.features == ["v_0", "v_1", "v_2"] and values_of(table).values.tolist() == [[1, 0, 2], [0, 5, 0]]


def test_labels_may_be_texts_and_truth_values(rows, session):
    named = rows.select("id", F.when(F.col("y") == 1, "signal").otherwise("background").alias("kind"),
                        (F.col("y") == 1).alias("truth"))
    table = podere.spark.send(named.drop("truth"), session, label="kind")
    model = session.fit(podere.GBTClassifier(n_estimators=2), table)
    assert model.classes_.tolist() == ["background", "signal"]
    model = session.fit(podere.GBTClassifier(n_estimators=2), podere.spark.send(named.drop("kind"), session, label="truth"))
    assert model.classes_.tolist() == [False, True]


def test_a_result_joins_back_by_row_numbers(rows, spark, session):
    table = podere.spark.send(rows, session, label="y", weight="w", name="joined")
    numbered = podere.spark.with_rows(rows, table)
    back = podere.spark.read(spark, session, table, row="row").select("row", F.col("id").alias("sent"))
    joined = numbered.join(back, "row")
    assert joined.count() == 5000 and joined.where("id != sent").count() == 0
    with pytest.raises(ValueError, match="allowed is what send"):
        podere.spark.with_rows(rows, session.tables["joined"])
    table.drop()


def test_a_table_comes_back_with_texts_and_missing_values(spark, session):
    df = spark.createDataFrame([(1.5, "b", "yes"), (None, None, "no"), (2.5, "a", "yes")],
                               "x double, kind string, y string").coalesce(1)
    table = podere.spark.send(df, session, label="y", categorical=["kind"], name="texts")
    back = podere.spark.read(spark, session, "texts", row="n")
    assert [field.dataType.simpleString() for field in back.schema] == ["bigint", "float", "string", "string"]
    found = back.orderBy("n").collect()
    assert [(row.n, row.kind, row.y) for row in found] == [(0, "b", "yes"), (1, None, "no"), (2, "a", "yes")]
    assert found[0].x == 1.5 and numpy.isnan(found[1].x)
    table.drop()
    with pytest.raises(Exception, match="there is no table called texts"):
        back.count()  # it asks anew


def test_what_is_read_is_what_was_put_however_it_is_cut(spark, session):
    X = numpy.random.default_rng(1).normal(size=(5000, 3)).astype("float32")
    table = session.put(X, name="cut")
    for partitions in (1, 5):
        back = podere.spark.read(spark, session, table, row="row", partitions=partitions)
        assert back.rdd.getNumPartitions() >= partitions
        found = back.toPandas().sort_values("row")
        assert numpy.array_equal(found[["f0", "f1", "f2"]].to_numpy(), X) and found["row"].tolist() == list(range(5000))
    with pytest.raises(ValueError, match="row is 'f1', which is a column"):
        podere.spark.read(spark, session, table, row="f1")
    table.drop()


@pytest.mark.parametrize("choices, message", [
    ({"label": "z"}, "label has 'z', which is no column, allowed are 'id', 'half', 'some', 'y', 'w'"),
    ({"features": ["id", "z"]}, "features has 'z'"),
    ({"categorical": ["id"]}, "categorical has 'id', which is of bigint, allowed are texts"),
    ({"name": "no name"}, "a table cannot be called"),
    ({"batch_bytes": 1}, "batch_bytes is 1"),
    ({"address": "192.0.2.1"}, "address is '192.0.2.1', which cannot be listened on"),
])
def test_choices_that_are_wrong_are_named(rows, session, choices, message):
    with pytest.raises(ValueError, match=message):
        podere.spark.send(rows, session, **choices)
    assert podere.spark.send(rows, session).n_rows == 5000  # the session has stayed


@pytest.mark.parametrize("expression, message", [
    ("if(id = 4000, array(1.0D), array(1.0D, 2.0D)) v", "column 'v' has arrays of 2 and of 1 elements, allowed is one length"),
    ("if(id = 4000, null, array(1.0D, 2.0D)) v", "column 'v' has 1 nulls where arrays of 2 numbers are allowed"),
    ("if(id = 4000, double('infinity'), 1.0D) v", "has infinity, or a value too large for float32, in row"),
    ("struct(id) v", "column 'v' is of struct<id:bigint>, allowed are numbers"),
    ("array(array(id)) v", "column 'v' is of array<array<bigint>>, allowed are numbers"),
    ("cast(id as string) v", "column 'v' holds texts, allowed are numbers: name it in categorical"),
    ("encode('x', 'utf-8') v", "column 'v' is of binary"),
])
def test_rows_without_a_meaning_are_named(rows, session, expression, message):
    with pytest.raises(ValueError, match=message):
        podere.spark.send(rows.selectExpr("id", expression), session)


def test_labels_that_lack_are_named(rows, session):
    with pytest.raises(ValueError, match="column some of partition . has NaN, infinity or a value too large"):
        podere.spark.send(rows, session, label="some")


def test_names_may_be_any_and_come_back(spark, session):
    df = spark.createDataFrame([(1.0, 2.0, 0), (3.0, 4.0, 1)], ["Sepal.Length", "a `b`", "y.z"])
    table = podere.spark.send(df, session, label="y.z")
    assert (table.features, table.label) == (["Sepal.Length", "a `b`"], "y.z")
    assert podere.spark.read(spark, session, table).columns == ["Sepal.Length", "a `b`", "y.z"]


def test_rows_that_were_not_sent_have_no_number(rows, session):
    table = podere.spark.send(rows, session, label="y")
    for other in (rows.union(rows), rows.withColumn("q", F.explode(F.array(F.lit(1), F.lit(2)))), rows.coalesce(1)):
        with pytest.raises(Exception, match="with_rows takes the DataFrame that was sent"):
            podere.spark.with_rows(other, table).collect()


def test_what_comes_of_a_table_that_is_read_is_sent_once_it_is_cached(rows, spark, session):
    table = podere.spark.send(rows, session, label="y")
    back = podere.spark.read(spark, session, table).withColumn("more", F.col("half") * 2)
    with pytest.raises(podere.SessionError, match="is receiving a table now, .* call df.cache"):
        podere.spark.send(back, session, label="y")
    back = back.cache()
    assert back.count() == 5000 and podere.spark.send(back, session, label="y").n_rows == 5000


@pytest.mark.parametrize("call", [
    lambda spark, session, table: podere.spark.send(pandas.DataFrame({"x": [1]}), session),
    lambda spark, session, table: podere.spark.with_rows(spark.range(1), "t"),
    lambda spark, session, table: podere.spark.read(spark, "s", table),
    lambda spark, session, table: podere.spark.read(None, session, table),
])
def test_what_is_of_another_type_is_named(rows, spark, session, call):
    table = podere.spark.send(rows, session, label="y")
    with pytest.raises(TypeError, match="allowed is a"):
        call(spark, session, table)


def test_a_dataframe_without_rows_is_refused(rows, session):
    with pytest.raises(ValueError, match="no rows were sent"):
        podere.spark.send(rows.where("id < 0"), session)


def test_two_senders_of_one_name_get_one_table(rows, session):
    outcomes = []

    def send():
        try:
            outcomes.append(podere.spark.send(rows, session, name="once").n_rows)
        except ValueError as error:
            outcomes.append(str(error))

    threads = [threading.Thread(target=send) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(map(str, outcomes)) == ["5000", "there is a table called once already: drop it first"]
    session.tables["once"].drop()


def test_spark_that_fails_leaves_the_session_as_it_was(rows, spark, session):
    broken = rows.withColumn("z", F.expr("assert_true(id < 4000, 'a row that is broken')").cast("string").isNull().cast("int"))
    with pytest.raises(podere.SessionError, match="Spark has not sent the table .*: .*a row that is broken"):
        podere.spark.send(broken, session)
    assert podere.spark.send(rows, session).n_rows == 5000


def test_workers_of_spark_do_not_have_the_package(spark):
    def imports(batches):
        import importlib.util

        import pyarrow
        for _ in batches:
            yield pyarrow.RecordBatch.from_pydict({"there": [importlib.util.find_spec("podere") is not None]})

    assert not any(row.there for row in spark.range(2).mapInArrow(imports, "there boolean").collect())


def test_a_model_says_that_it_needs_the_package_there(rows, session):
    df = VectorAssembler(inputCols=["id", "half"], outputCol="features").transform(rows)
    scored = podere.spark.estimator(podere.KMeans(n_clusters=2), session).fit(df).transform(df)
    with pytest.raises(Exception, match="podere: to apply a model, Spark's executors need Podere"):
        scored.select("prediction").collect()


def test_a_stranger_who_lacks_the_token_is_refused(rows, spark, session, monkeypatch):
    """As one that finds the port of an executor while a table is sent."""
    answers = []
    original = podere.spark._deliver

    def with_stranger(rows, batch_rows, name, plan, gathering):
        for address in plan["executors"]:
            with socket.create_connection(address) as stranger:
                stranger.sendall(b"PODEROW1" + struct.pack("<I", 5) + b"wrong" + struct.pack("<I", 0))
                answers.append(stranger.recv(100))
            with socket.create_connection(address) as stranger:
                stranger.sendall(b"GET / HTTP/1.1\r\n\r\n")
                answers.append(stranger.recv(100))
        return original(rows, batch_rows, name, plan, gathering)

    monkeypatch.setattr(podere.spark, "_deliver", with_stranger)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert podere.spark.send(rows, session).n_rows == 5000
    assert [answer[:1] for answer in answers] == [b"\2"] * 4
    assert b"the token is not that of the session" in answers[0] and b"these are no rows of Podere" in answers[1]
