"""What users of other libraries give, and what they read."""
import contextlib
import io
import os

import numpy
import pandas
import pytest
from numpy.testing import assert_array_equal
from sklearn.datasets import make_regression

import podere
from podere import GBTClassifier, GBTRegressor, MLPClassifier, NNClassifier, NNRegressor
from podere._progress import step_text
from podere._words import in_python
from test_session import session  # noqa: F401, a fixture

try:
    import polars
except ImportError:  # polars.sh could not put it here
    polars = None

needs_polars = pytest.mark.skipif(polars is None and not os.environ.get("CI"), reason="needs polars")


def frame(columns):
    """{name: (values, name of the type)}"""
    return polars.DataFrame({name: polars.Series(values, dtype=getattr(polars, dtype))
                             for name, (values, dtype) in columns.items()})


@needs_polars
def test_texts_that_pandas_reads_as_missing_are_missing(session, tmp_path):  # noqa: F811
    words = sorted(pandas._libs.parsers.STR_NA_VALUES - {""}) + ["None", "?"]
    path = tmp_path / "words.csv"
    path.write_text("y,x\n" + "".join(f"{i % 2},{word}\n{i % 2},1.5\n" for i, word in enumerate(words)))
    table = session.read_csv(path, label="y")
    assert table.describe()["missing"]["x"] == len(words)


def test_frames_of_polars_are_as_those_of_pandas(session):
    rng = numpy.random.default_rng(2)
    size, town = rng.normal(size=1500), rng.choice(["Delft", "Gouda", "Leiden"], 1500)
    y = (size + (town == "Gouda") > 0.3).astype(int)
    towns = [None if i % 50 == 0 else str(t) for i, t in enumerate(town)]
    ours = frame({"size": (size.tolist(), "Float64"), "town": (towns, "Categorical")})
    theirs = pandas.DataFrame({"size": size, "town": pandas.Categorical(towns)})
    model = GBTClassifier(n_estimators=10).fit(ours, y)
    expected = GBTClassifier(n_estimators=10).fit(theirs, y)
    assert model._model.to_text() == expected._model.to_text()
    assert model.feature_names_in_.tolist() == ["size", "town"]
    assert_array_equal(model.predict_proba(ours), expected.predict_proba(theirs))
    numbers = frame({"size": (size.tolist(), "Float64"), "rank": (list(range(1500)), "Int64")})
    assert session.put(numbers, y).features == ["size", "rank"]
    assert NNClassifier(epochs=1).fit(numbers, y).feature_names_in_.tolist() == ["size", "rank"]


@needs_polars
def test_a_lazy_frame_is_refused_with_advice_to_collect():
    with pytest.raises(TypeError, match="X is a LazyFrame, .* X.collect"):
        GBTClassifier().fit(polars.LazyFrame({"a": [1, 2]}), [0, 1])


@pytest.fixture(scope="module")
def table(session):  # noqa: F811
    X, y = make_regression(2000, 4, random_state=3)
    return session.put(X, (y > 0).astype(int) + 1), X, (y > 0).astype(int) + 1


@pytest.mark.parametrize("estimator", [GBTClassifier(n_estimators=5), NNClassifier(epochs=2), MLPClassifier(iterations=3)])
def test_estimators_take_tables_of_sessions(session, table, estimator):
    rows, X, y = table
    model = estimator.fit(rows)
    assert model._model.to_text() == session.fit(type(estimator)(**estimator.get_params()), rows)._model.to_text()
    assert_array_equal(model.classes_, [1, 2])
    for method in ("predict", "predict_proba", "decision_function"):
        found = getattr(model, method)(rows)
        numpy.testing.assert_allclose(found, getattr(model, method)(X), rtol=1e-6, atol=1e-7)
    assert_array_equal(session.predict(model, rows), model.predict(X))


def test_where_tables_do_not_fit_the_message_says_what_does(session, table):
    rows, X, y = table
    with pytest.raises(ValueError, match=r"X is a table of a session, which has its own label .* fit\(table\)"):
        GBTClassifier().fit(rows, y)
    with pytest.raises(TypeError, match=r"X is the table .* of a session, allowed here are arrays"):
        NNRegressor().partial_fit(rows, y)
    with pytest.raises(TypeError, match=r"table is ndarray, allowed is a Table, as read_csv\(\) and put\(X, y\) make"):
        session.fit(GBTClassifier(), X)


@pytest.mark.parametrize("estimator", [GBTClassifier, GBTRegressor, NNClassifier, NNRegressor, MLPClassifier])
def test_an_unknown_parameter_is_refused_in_the_name_of_the_class(estimator):
    with pytest.raises(TypeError) as raised:
        estimator(n_hidden=3)
    assert str(raised.value).startswith(f"{estimator.__name__}.__init__()"), raised.value


def test_one_hidden_layer_may_be_a_number():
    X, y = make_regression(200, 3, random_state=1)
    assert [c.shape for c in NNRegressor(hidden_layer_sizes=7, epochs=1).fit(X, y).coefs_] == [(3, 7), (7, 1)]


@pytest.mark.parametrize("said, words", [
    ("leave out with --drop id,when, or name a text for missing values with --missing",
     "leave out with drop=['id', 'when'], or name a text for missing values with missing=[...]"),
    ("take texts as categories with --categorical a, or", "take texts as categories with categorical=['a'], or"),
    ("monotone is 'f0:+1', allowed with softmax is none", "monotone_constraints is 'f0:+1', allowed with softmax is none"),
    ("choose with --header (names) or --no-header (a row), in Python header=True or False", "choose with header=True (names) or header=False (a row)"),
    ("give one of --columns and --drop", "give one of columns and drop"),
    ("a libsvm file is read with --format libsvm", "a libsvm file is read with format='libsvm'"),
    ("lost (--debug shows all output)", "lost"),
    ("Try a learning-rate below 5, or clip-norm", "Try a learning_rate below 5, or clip_norm"),
    ("it is not so: a well-known-fact - x--y", "it is not so: a well-known-fact - x--y"),
])
def test_messages_name_parameters_and_not_options(said, words):
    assert in_python(said) == words


def test_what_executors_and_training_say_names_parameters(session, tmp_path):
    (tmp_path / "t.csv").write_text("y,id,a\n" + "".join(f"{i % 2},x{i},{i}\n" for i in range(50)))
    with pytest.raises(ValueError, match=r"leave out with drop=\['id'\]") as raised:
        session.read_csv(tmp_path / "t.csv", label="y")
    assert "--" not in str(raised.value)
    X, y = make_regression(2000, 3, random_state=1)
    with pytest.raises(ValueError, match="Try a learning_rate below 1000000") as raised:
        NNRegressor(solver="sgd", learning_rate=1e6, epochs=50).fit(X, y)
    assert "clip_norm" in str(raised.value)


@pytest.mark.parametrize("begin, kind", [(b"PAR1\x15\x04", "a Parquet file"), (b"SQLite format 3\x00", "an SQLite database"),
                                         (b"ARROW1\x00\x00", "an Arrow file"), (b"\x89HDF\r\n", "an HDF5 file")])
def test_files_of_other_kinds_are_named(session, tmp_path, begin, kind):
    (tmp_path / "f.csv").write_bytes(begin + b"\x00\x01,2\n3,4\n" * 20)
    with pytest.raises(ValueError, match=f"f.csv: is {kind}"):
        session.read_csv(tmp_path / "f.csv")


def test_classes_are_named_as_python_writes_them():
    X, y = make_regression(40, 3, random_state=1)
    for learn, words in [
        (lambda: GBTClassifier().fit(X, numpy.zeros(40, int)), "y has one class, 0, allowed"),
        (lambda: GBTClassifier().fit(X, numpy.full(40, "a")), "y has one class, 'a', allowed"),
        (lambda: GBTClassifier().fit(X, (y > 0).astype(int), eval_set=(X, numpy.full(40, 2))), "eval_set has the class 2, which"),
    ]:
        with pytest.raises(ValueError) as raised:
            learn()
        assert words in str(raised.value)


def test_score_of_a_table_names_evaluate(session):  # noqa: F811
    table = session.read("collider:200")
    for estimator in (GBTClassifier(n_estimators=2), GBTRegressor(n_estimators=2), NNClassifier(epochs=1)):
        with pytest.raises(TypeError) as raised:
            estimator.fit(table).score(table)
        assert "evaluate(X) measures the model" in str(raised.value)


def test_epochs_are_shown_as_whole_numbers():
    event = {"phase": "train", "done": 3, "total": 30, "unit": "step", "metrics": {"epoch": 2.0, "loss": 0.5}}
    assert step_text(event) == "training: 3 of 30 steps, epoch 2, loss 0.5000"
