"""Tables that are put batch by batch: of Arrow, Polars, pandas and Dask."""
import datetime
import os
import signal
import weakref

import numpy
import pandas
import pytest
from conftest import executors_of, wait_until
from test_outsiders import needs_polars, polars

import podere

try:
    import pyarrow
    from dask import dataframe as dask
except ImportError:  # polars.sh could not put them here
    pyarrow = dask = None

pytestmark = pytest.mark.skipif(pyarrow is None and not os.environ.get("CI"), reason="needs pyarrow and Dask")
N = 1000


@pytest.fixture(scope="module")
def session(mark):
    with podere.Session(executors=2, cores=1, progress=False) as s:
        yield s


@pytest.fixture(scope="module")
def frame():
    random = numpy.random.default_rng(5)
    size = random.normal(size=N)
    return pandas.DataFrame({"size": numpy.where(size > 2, numpy.nan, size), "count": numpy.arange(N),
                             "town": pandas.Categorical(random.choice(["Delft", "Gouda"], N)), "y": (size > 0).astype(int)})


def parts_of(frame, n=3):
    return [frame.iloc[begin:begin + -(-N // n)] for begin in range(0, N, -(-N // n))]


SOURCES = {
    "pandas": parts_of,
    "Arrow tables": lambda frame: [pyarrow.Table.from_pandas(part, preserve_index=False) for part in parts_of(frame)],
    "a reader of Arrow": lambda frame: pyarrow.Table.from_pandas(frame, preserve_index=False).to_reader(300),
    "Dask": lambda frame: dask.from_pandas(frame, npartitions=4).to_delayed(),
    "Polars": pytest.param(lambda frame: polars.from_pandas(frame).iter_slices(300), marks=needs_polars),
}


@pytest.mark.parametrize("make", SOURCES.values(), ids=list(SOURCES))
def test_batches_are_the_table_of_all_rows(session, frame, make):
    table = session.put_batches(make(frame), label="y")
    put = session.put(frame[["size", "count", "town"]], frame["y"])
    assert (table.features, table.label, table.categorical) == (["size", "count", "town"], "y", ["town"])
    pandas.testing.assert_frame_equal(table.to_pandas(), put.to_pandas())
    models = [session.fit(podere.GBTClassifier(n_estimators=3), t)._model.to_text() for t in (table, put)]
    assert models[0] == models[1]


def test_batches_of_small_types_go_in_parts(session):
    """An executor has more bytes for each value than Arrow for a bit."""
    many = pyarrow.array(numpy.arange(1_700_000) % 2 == 0)
    table = session.put_batches([of(**{f"x{j}": many for j in range(20)})])
    assert (table.n_rows, len(table.features)) == (1_700_000, 20)


def test_one_batch_at_a_time_is_here(session):
    alive = []

    def batches():
        for i in range(20):
            rows = pyarrow.table({"x": numpy.full(20_000, float(i))})
            alive.append(weakref.ref(rows))
            yield rows
            del rows
            assert sum(one() is not None for one in alive) <= 2  # and the first, whose types are those of all

    assert session.put_batches(batches()).describe()["mean"]["x"] == 9.5


def test_a_frame_of_dask_as_a_whole_is_refused_with_advice(session, frame):
    whole = dask.from_pandas(frame, npartitions=2)
    with pytest.raises(TypeError, match=r"X is a DataFrame of Dask, which has no rows yet, .* put_batches\(X.to_delayed"):
        session.put(whole)
    with pytest.raises(TypeError, match=r"batches is a DataFrame, .* to_delayed\(\) makes parts of one of Dask"):
        session.put_batches(whole)


def test_types_have_the_meaning_that_the_documents_say(session):
    day = datetime.date(2026, 11, 29)
    rows = pyarrow.table({
        "truth": [True, None, False], "small": pyarrow.array([1, None, 3], pyarrow.uint16()),
        "large": pyarrow.array([1, 2, 2**40], pyarrow.uint64()),
        "day": pyarrow.array([day, None, day], pyarrow.date64()),
        "moment": pyarrow.array([numpy.datetime64("2026-11-29T06:00:00.000000001"), None,
                                 numpy.datetime64("1970-01-02T00:00:00.000000000")], pyarrow.timestamp("ns")),
        "array": pyarrow.array([[1, 2], [3, None], [5, 6]], pyarrow.list_(pyarrow.int32(), 2)),
        "list": pyarrow.array([[1.0], [2.0], [3.0]], pyarrow.large_list(pyarrow.float64())),
        "y": [True, False, True]})
    with pytest.warns(UserWarning, match="columns 'day', 'moment' hold dates: days since 1970-01-01, in UTC"):
        table = session.put_batches([rows.slice(0, 1), rows.slice(1, 0), rows.slice(1)], label="y")
    found = table.to_pandas()
    days = (day - datetime.date(1970, 1, 1)).days
    expected = {"truth": [1, None, 0], "small": [1, None, 3], "large": [1, 2, 2**40],
                "day": [days, None, days], "moment": [days + 0.25, None, 1], "array_0": [1, 3, 5], "array_1": [2, None, 6],
                "list_0": [1, 2, 3]}
    assert table.features == list(expected)
    for name, values in expected.items():
        numpy.testing.assert_allclose(found[name].astype(float), numpy.array(values, float), atol=0.002)
    assert session.fit(podere.GBTClassifier(n_estimators=1, min_child_weight=0), table).classes_.tolist() == [False, True]


def of(**columns):
    return pyarrow.table(columns)


@pytest.mark.parametrize("make, kind, message", [
    (lambda: of(x=[1]), TypeError, "batches is a Table, allowed are several frames or Arrow batches"),
    (lambda: [], ValueError, "batches has no rows"),
    (lambda: ["x"], TypeError, "batches has a str, allowed are tables and batches of Arrow"),
    (lambda: [of(x=["a"])], ValueError, "column 'x' is of string, allowed are numbers, .* dictionaries of texts"),
    (lambda: [of(x=[["1.5"]])], ValueError, "column 'x' is of list<item: string>, allowed are numbers"),
    (lambda: [of(x=numpy.ones(1, "float16"))], ValueError, "column 'x' is of halffloat, allowed are numbers"),
    (lambda: [of(x=[1], z=[2]), of(x=[1])], ValueError, "batch 1 has no column 'z', which the first has"),
    (lambda: [of(x=[[1]]), of(x=[[1, 2]])], ValueError, "column 'x' has arrays of 1 and of 2 elements"),
    (lambda: [of(x=[1.0]), of(x=["a"])], ValueError, "column 'x' is of string, allowed are numbers"),
    (lambda: [of(x=pyarrow.array([text]).dictionary_encode()) for text in "ab"], ValueError,
     "column 'x' has the text 'b', which was not there .* give all batches the same categories"),
    (lambda: [of(x=[float("inf")])], ValueError, "has infinity, or a value too large for float32, in row"),
    (lambda: (of(x=[1 / n]) for n in (1, 0)), ZeroDivisionError, "division"),
])
def test_what_has_no_meaning_is_named_and_the_session_stays(session, make, kind, message):
    with pytest.raises(kind, match=message):
        session.put_batches(make())
    with pytest.raises(ValueError, match="label has 'y', which is no column, allowed are 'x'"):
        session.put_batches([of(x=[1])], label="y")
    assert session.put_batches([of(x=[1, 2])]).n_rows == 2


def test_batches_that_ask_the_session_are_named(session):
    table = session.put([[1.0], [2.0]])
    with pytest.raises(podere.SessionError, match="is sent, the session does nothing else"):
        session.put_batches(of(x=table.to_pandas().iloc[:, 0]) for _ in range(2) if True)
    with pytest.raises(ValueError, match="column 'x' is asked for twice"):
        session.put_batches([of(x=[1])], label="x", features=["x"])
    assert session.put_batches([of(x=[1, 2])]).n_rows == 2


@pytest.mark.parametrize("again", [True, False])
def test_executors_that_are_lost_get_all_batches_again_where_there_is_an_again(mark, again):
    def make():
        for i in range(5):
            if i == 2 and victims:
                os.kill(victims.pop(), signal.SIGKILL)
                wait_until(lambda: s.executors == 1)
            yield of(x=numpy.arange(i * 100, i * 100 + 100))

    class Again:
        def __iter__(self):
            return make()

    with podere.Session(executors=2, cores=1, progress=False) as s:
        s.put([[1.0]])
        victims = [executors_of(s.status["process"])[-1]]
        if again:
            with pytest.warns(UserWarning, match="executors of the session were lost while .* was sent: all is sent again"):
                table = s.put_batches(Again())
            assert table.to_pandas()["x"].tolist() == list(range(500))
        else:
            with pytest.raises(podere.SessionError, match="batches can be gone through only once: put them again"):
                s.put_batches(make())
            assert s.put([[1.0]]).n_rows == 1
