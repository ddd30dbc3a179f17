"""Data frames of all libraries give the model of the same rows in a CSV file, in `fit` and in `Session.put`."""
import datetime
import decimal
import warnings

import numpy
import pandas
import pytest
import scipy.sparse
from numpy.testing import assert_array_equal

import podere
from conftest import model_text
from podere import GBTClassifier, GBTRegressor, NNClassifier, _frames
from test_outsiders import needs_polars, polars

try:
    import pyarrow
except ImportError:
    pyarrow = None
try:
    import torch
except ImportError:
    torch = None

needs_pyarrow = pytest.mark.skipif(pyarrow is None, reason="needs pyarrow")
needs_torch = pytest.mark.skipif(torch is None, reason="needs torch")
pytestmark = pytest.mark.filterwarnings("ignore:columns? .* of X holds? (dates|periods)")

N = 400
RNG = numpy.random.default_rng(11)
SIZE = RNG.normal(size=N).astype(numpy.float32).astype(float)
COUNT = RNG.integers(0, 9, N)
TOWN = RNG.choice(["Delft", "Gouda", "Leiden", "Zürich"], N)
WHEN = numpy.datetime64("2024-01-01T00:00:00") + RNG.integers(0, 4 * 10**7, N)
LABEL = ((SIZE > 0) ^ (TOWN == "Gouda") ^ (COUNT > 6)).astype(int)
GONE = numpy.arange(N) % 7 == 3  # rows where a value is missing
ESTIMATOR = GBTClassifier(n_estimators=5, subsample=0.8)


@pytest.fixture(scope="module")
def session():
    with podere.Session(executors=2, cores=1, progress=False) as s:
        yield s


def some(values):
    return [None if gone else value for value, gone in zip(values.tolist(), GONE)]


BASE = pandas.DataFrame({"size": SIZE, "count": COUNT, "town": pandas.Categorical(some(TOWN)),
                         "when": pandas.Series(WHEN.astype("M8[ns]")).where(~GONE)})


def of_polars():
    return polars.DataFrame({"size": SIZE, "count": COUNT, "town": polars.Series(some(TOWN), dtype=polars.Categorical),
                             "when": polars.Series(some(WHEN.astype("M8[us]")), dtype=polars.Datetime("us"))})


def of_polars_enum():
    kind = polars.Enum(["Zürich", "Leiden", "Gouda", "Delft", "Rome"])
    return of_polars().with_columns(polars.Series("town", some(TOWN), dtype=kind))


def of_pyarrow():
    """Two chunks, whose dictionaries differ."""
    def part(rows):
        return pyarrow.table({"size": SIZE[rows], "count": COUNT[rows],
                              "town": pyarrow.array(some(TOWN)[rows]).dictionary_encode(),
                              "when": pyarrow.array(some(WHEN.astype("M8[us]"))[rows], pyarrow.timestamp("us"))})
    return pyarrow.concat_tables([part(slice(0, 3)), part(slice(3, N))])


class Interchanged:
    """Nothing but the data frame protocol."""

    def __init__(self, frame):
        self.__dataframe__ = frame.__dataframe__


class Streamed:
    """Nothing but a stream of Arrow."""

    def __init__(self, table):
        self._table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self._table.__arrow_c_stream__(requested_schema)


FRAMES = {
    "pandas": lambda: BASE,
    "an index": lambda: BASE.set_index(numpy.arange(N)[::-1]),
    "nullable": lambda: BASE.astype({"size": "Float64", "count": "Int64"}),
    "ordered": lambda: BASE.assign(town=BASE["town"].cat.reorder_categories(sorted(set(TOWN))[::-1], ordered=True)),
    "unused category": lambda: BASE.assign(town=BASE["town"].cat.add_categories(["Rome"])),
    "UTC": lambda: BASE.assign(when=BASE["when"].dt.tz_localize("UTC")),
    "time zone": lambda: BASE.assign(when=BASE["when"].dt.tz_localize("UTC").dt.tz_convert("Europe/Amsterdam")),
    "Decimal": lambda: BASE.assign(size=[decimal.Decimal(repr(value)) for value in SIZE]),
    "objects": lambda: BASE.assign(count=COUNT.astype(object)),
    "polars": pytest.param(of_polars, marks=needs_polars),
    "polars Enum": pytest.param(of_polars_enum, marks=needs_polars),
    "pyarrow": pytest.param(of_pyarrow, marks=needs_pyarrow),
    "Arrow stream": pytest.param(lambda: Streamed(of_pyarrow()), marks=needs_pyarrow),
}


@pytest.fixture(scope="module")
def expected(session, tmp_path_factory):
    """The model of the rows as pandas writes them to a file."""
    path = tmp_path_factory.mktemp("csv") / "rows.csv"
    BASE.assign(label=LABEL).to_csv(path, index=False)
    table = session.read_csv(path, label="label", dtype={"town": "category"})
    return session.fit(ESTIMATOR, table)._model.to_text()


@pytest.mark.parametrize("make", FRAMES.values(), ids=FRAMES)
def test_the_model_is_that_of_a_file_in_this_process_and_put(session, expected, make):
    frame = make()
    model = GBTClassifier(**ESTIMATOR.get_params()).fit(frame, LABEL)
    assert model._model.to_text() == expected
    table = session.put(frame, LABEL)
    assert table.features == ["size", "count", "town", "when"] and table.categorical == ["town"]
    assert session.fit(ESTIMATOR, table)._model.to_text() == expected
    assert_array_equal(model.predict_proba(frame), model.predict_proba(BASE))
    assert_array_equal(session.predict_proba(model, table), model.predict_proba(BASE))


def test_the_data_frame_protocol_is_enough():
    numbers = BASE[["size", "count"]]
    assert (GBTClassifier(n_estimators=3).fit(Interchanged(numbers), LABEL)._model.to_text()
            == GBTClassifier(n_estimators=3).fit(numbers, LABEL)._model.to_text())


@pytest.mark.parametrize("column, as_numbers", [
    (pandas.array([True, None, False] * 4, "boolean"), [1, numpy.nan, 0] * 4),
    (pandas.Series([True, None, False] * 4, dtype=object), [1, numpy.nan, 0] * 4),
    (numpy.array([True, False] * 6), [1, 0] * 6),
    (pandas.array([1, None, 3] * 4, "UInt8"), [1, numpy.nan, 3] * 4),
    (numpy.array([2**63, 2**24 + 1, 5] * 4, numpy.uint64), numpy.float32([2**63, 2**24 + 1, 5] * 4)),
    (numpy.array([1, 36, "NaT"] * 4, "m8[h]"), [1 / 24, 1.5, numpy.nan] * 4),
    (pandas.arrays.SparseArray([0.0, 0.0, 2.5] * 4), [0, 0, 2.5] * 4),
])
def test_columns_of_all_kinds_become_numbers(session, column, as_numbers):
    frame = pandas.DataFrame({"x": column})
    y = numpy.arange(12.0)
    fitted = GBTRegressor(n_estimators=2).fit(frame, y)
    plain = GBTRegressor(n_estimators=2).fit(pandas.DataFrame({"x": as_numbers}), y)
    assert fitted.predict(frame).tolist() == plain.predict(pandas.DataFrame({"x": as_numbers})).tolist() \
        if frame["x"].dtype.kind != "m" else True
    assert_array_equal(session.put(frame).to_pandas()["x"].to_numpy().astype(numpy.float32), numpy.float32(as_numbers))


def test_dates_are_named_once_and_stay_dates():
    frame = BASE[["size", "when"]].assign(wait=pandas.to_timedelta(COUNT, unit="h"))
    with pytest.warns(UserWarning) as caught:
        model = GBTClassifier(n_estimators=2).fit(frame, LABEL)
    assert [str(one.message) for one in caught] == ["column 'when' of X holds dates: days since 1970-01-01",
                                                  "column 'wait' of X holds periods of time: days"]
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.predict(frame)
    with pytest.raises(ValueError, match="column 'when' of X holds no dates, it had dates in training"):
        model.predict(frame.assign(when=1.0))
    with pytest.raises(ValueError, match="column 'size' of X holds dates, it had other numbers in training"):
        model.predict(frame.assign(size=frame["when"]))


def test_columns_are_matched_by_name(tmp_path):
    for estimator in (GBTClassifier(n_estimators=3), NNClassifier(epochs=1)):
        numbers = BASE[["size", "count"]].assign(other=SIZE[::-1])
        model = estimator.fit(numbers, LABEL)
        expected = model.predict_proba(numbers)
        assert_array_equal(model.predict_proba(numbers[["other", "size", "count"]].assign(town="Rome")), expected)
        with pytest.raises(ValueError, match="passed during fit, in any order: X lacks 1, 'count'$"):
            model.predict(numbers[["other", "size"]])


def test_categories_that_training_did_not_see_are_missing(session):
    model = GBTClassifier(n_estimators=5).fit(BASE, LABEL)
    unseen = BASE.assign(town=pandas.Categorical(["Rome"] * N))
    missing = BASE.assign(town=pandas.Categorical([None] * N, ["Delft"]))
    assert_array_equal(model.predict_proba(unseen), model.predict_proba(missing))
    assert_array_equal(session.predict_proba(model, session.put(unseen)), model.predict_proba(missing))


@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
@pytest.mark.parametrize("dtype", ["float32", "int64", "bool"])
def test_a_sparse_matrix_is_put_as_it_is_fitted(session, form, dtype, tmp_path):
    X = (RNG.integers(0, 3, (2500, 7)) * (RNG.uniform(size=(2500, 7)) < 0.3)).astype(dtype)
    if dtype == "float32":
        X[5, 2] = numpy.nan
    y = (X[:, 0] > X[:, 1]).astype(int)
    sparse = scipy.sparse.csr_matrix(X)
    sparse.data[:4] = 0  # stored zeros are as those that are left out
    dense, sparse = sparse.toarray(), sparse.asformat(form)
    expected = model_text(ESTIMATOR.fit(dense, y), tmp_path)
    assert model_text(ESTIMATOR.fit(sparse, y), tmp_path) == expected
    assert model_text(session.fit(ESTIMATOR, session.put(sparse, y)), tmp_path) == expected


def test_a_sparse_matrix_is_made_dense_some_rows_at_a_time(monkeypatch):
    matrix = scipy.sparse.random(1000, 9, 0.2, "csr", numpy.float32, random_state=1)
    monkeypatch.setattr(podere._put, "_MOST_COPIED", 500)
    served = podere._put.ServedArray(matrix)
    pieces = [bytes(piece) for piece in served.pieces(40, 30001)]
    assert b"".join(pieces) == matrix.toarray().tobytes()[40:30001] and max(map(len, pieces)) <= 500


def test_arrays_of_records_have_names(session):
    records = numpy.array(list(zip(SIZE, COUNT)), dtype=[("size", ">f4"), ("count", "i8")])
    model = GBTClassifier(n_estimators=3).fit(records, LABEL)
    assert model._model.to_text() == GBTClassifier(n_estimators=3).fit(BASE[["size", "count"]], LABEL)._model.to_text()
    assert session.put(records).features == ["size", "count"]
    with pytest.raises(ValueError, match=r"column 'v' of X has the shape \(4, 2\)"):
        session.put(numpy.zeros(4, [("v", "f4", 2)]))


def test_what_an_array_masks_is_missing(session):
    values = numpy.column_stack([SIZE, COUNT])
    values[GONE, 1] = -999
    masked, missing = numpy.ma.masked_equal(values, -999), numpy.where(values == -999, numpy.nan, values)
    for X, y in ((masked, LABEL), (masked[:, 1:].astype(int), numpy.ma.array(LABEL))):
        expected = GBTClassifier(n_estimators=3).fit(missing[:, -X.shape[1]:], LABEL)._model.to_text()
        assert GBTClassifier(n_estimators=3).fit(X, y)._model.to_text() == expected
        assert session.fit(GBTClassifier(n_estimators=3), session.put(X, y))._model.to_text() == expected
    with pytest.raises(ValueError, match="row 3, column 'f1': the value is missing"):
        podere.PCA(1).fit(masked)
    with pytest.raises(ValueError, match="y contains NaN"):
        podere.Ridge().fit(values, numpy.ma.array(SIZE, mask=GONE))
    with pytest.raises(ValueError, match="sample_weight contains NaN"):
        podere.Ridge().fit(values, SIZE, sample_weight=numpy.ma.array(SIZE**2, mask=GONE))


@needs_torch
def test_tensors_are_arrays(session):
    X = numpy.column_stack([SIZE, COUNT]).astype(numpy.float32)
    expected = GBTClassifier(n_estimators=3).fit(X, LABEL)._model.to_text()
    for tensor in (torch.tensor(X.tolist()), torch.tensor(X.tolist(), requires_grad=True)):
        y = torch.tensor(LABEL.tolist())
        assert GBTClassifier(n_estimators=3).fit(tensor, y)._model.to_text() == expected
        assert session.fit(GBTClassifier(n_estimators=3), session.put(tensor, y))._model.to_text() == expected
    half = torch.tensor([[1.5], [2.0]]).to(torch.bfloat16)
    assert _frames.as_rows(half).dtype == numpy.float32


@pytest.mark.parametrize("frame, message", [
    (pandas.DataFrame({"a": [1, 2], "x": ["1", "2"]}), "column 'x' of X has numbers as texts, allowed are numbers: pandas.to_num"),
    (pandas.DataFrame({"a": [1, 2], "x": pandas.array(["p", "q"], "string")}), "column 'x' of X is of string, allowed"),
    (pandas.DataFrame({"a": [1, 2], "x": [1, "q"]}), "column 'x' of X is of object, allowed are numbers"),
    (pandas.DataFrame({"a": [1, 2], "x": [[1], [2]]}), "column 'x' of X is of object, allowed are numbers"),
    (pandas.DataFrame({"a": [1, 2], "x": [datetime.date(2020, 1, 1)] * 2}), "column 'x' of X is of object"),
    (pandas.DataFrame([[1, 2], [3, 4]], columns=["x", "x"]), "two columns named 'x'"),
    (pandas.DataFrame({"x": []}), "0 sample|at least one row"),
    (pandas.DataFrame(index=[0, 1]), "0 feature|at least one row"),
])
def test_what_is_no_number_is_refused_by_name(session, frame, message):
    for use in (lambda: GBTClassifier().fit(frame, [0, 1][:len(frame)]), lambda: session.put(frame)):
        with pytest.raises(ValueError, match=message) as refused:
            use()
        assert "\n" not in str(refused.value)


@needs_polars
def test_lists_of_polars_are_refused_by_name():
    with pytest.raises(ValueError, match=r"column 'x' of X is of List\(Int64\), allowed are numbers, dates and categories"):
        GBTClassifier().fit(polars.DataFrame({"x": [[1], [2, 3]]}), [0, 1])


@needs_pyarrow
def test_lists_of_pyarrow_are_refused_by_name():
    with pytest.raises(ValueError, match="column 'x' of X is of list<item: int64>, allowed are numbers, dates"):
        GBTClassifier().fit(pyarrow.table({"x": [[1], [2, 3]]}), [0, 1])


@pytest.mark.parametrize("columns", [[0, 1], [3.5, 4.5], pandas.MultiIndex.from_tuples([("a", 1), ("a", 2)])])
def test_columns_without_texts_as_names_are_numbered(session, columns):
    frame = pandas.DataFrame(numpy.column_stack([SIZE, COUNT]), columns=columns)
    model = GBTClassifier(n_estimators=3).fit(frame, LABEL)
    table = session.put(frame, LABEL)
    assert table.features == ["f0", "f1"]
    assert session.fit(GBTClassifier(n_estimators=3), table)._model.to_text() == model._model.to_text()


def test_names_of_which_some_are_texts_are_refused(session):
    frame = pandas.DataFrame(numpy.ones((2, 2)), columns=["a", 1])
    for use in (lambda: GBTClassifier().fit(frame, [0, 1]), lambda: session.put(frame)):
        with pytest.raises(TypeError, match="string names|some are not, allowed are all texts"):
            use()


def test_dates_of_any_unit_are_days():
    for unit in ("s", "ms", "us", "ns"):
        dates = pandas.Series(numpy.array(["1965-01-01T06:00", "NaT"], f"M8[{unit}]"))
        assert_array_equal(_frames.days_of(dates), [-1825.75, numpy.nan])


# read_csv as in pandas ------------------------------------------------------------------------------------------------

@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("pandas") / "rows.csv"
    BASE.assign(label=LABEL).to_csv(path, index=False)
    return path


def test_usecols_and_dtype_are_as_in_pandas(session, path):
    chosen = {"usecols": ["size", "town", "label"], "dtype": {"town": "category", "size": "float32"}}
    theirs = pandas.read_csv(path, **chosen)
    table = session.read_csv(path, label="label", **chosen)
    assert table.features == ["size", "town"] and table.categorical == ["town"]
    expected = GBTClassifier(n_estimators=3).fit(theirs[["size", "town"]], theirs["label"])
    assert session.fit(GBTClassifier(n_estimators=3), table)._model.to_text() == expected._model.to_text()
    assert session.read_csv(path, label=4, usecols=[0, 1, 4], dtype=numpy.float64).features == ["size", "count"]


@pytest.mark.parametrize("choices, message", [
    ({"usecols": ["size"], "columns": ["size"]}, "columns and usecols are given, allowed is one"),
    ({"usecols": "size"}, "usecols is 'size', allowed is a list"),
    ({"dtype": {"town": str}}, "dtype is <class 'str'> for 'town', allowed are 'category' and types of numbers"),
    ({"dtype": {"town": "datetime64[ns]"}}, "dtype is 'datetime64.ns.' for 'town'"),
    ({"dtype": {"town": "category"}, "categorical": "auto"}, "categorical is 'auto' and dtype has 'category'"),
    ({"dtype": "category"}, "dtype is 'category' for all columns, allowed are types of numbers"),
])
def test_what_pandas_takes_and_podere_does_not_is_refused(session, path, choices, message):
    with pytest.raises((TypeError, ValueError), match=message):
        session.read_csv(path, label="label", **choices)
