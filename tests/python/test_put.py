"""Arrays of this process as tables of a session."""
import os
import signal
import socket
import threading
import time
import urllib.error
import urllib.request

import numpy
import pytest
import scipy.sparse

import podere
from conftest import executors_of, model_text, wait_until
from podere import GBTClassifier, GBTRegressor
from podere._put import array_server


@pytest.fixture(scope="module")
def session(mark):
    with podere.Session(executors=2, cores=2, progress=False) as s:
        yield s


@pytest.fixture(scope="module")
def rows(two_classes):
    X, y = two_classes
    return X.astype(numpy.float32), y, numpy.linspace(0.5, 2, len(y))


ESTIMATOR = GBTClassifier(n_estimators=10, subsample=0.8)


def gaps(X):
    wide = numpy.full((len(X), X.shape[1] * 2), -7, X.dtype)
    wide[:, ::2] = X
    return wide[:, ::2]


@pytest.mark.parametrize("layout", [
    numpy.ascontiguousarray, numpy.asfortranarray, gaps, lambda X: gaps(X.T).T, lambda X: X[::-1][::-1],
    lambda X: X.astype(numpy.float64), lambda X: X.astype(">f8"), lambda X: X.astype(object), lambda X: X.tolist(),
], ids=["by rows", "by columns", "gaps", "gaps by columns", "twice reversed", "float64", "other byte order", "objects",
        "lists"])
def test_the_model_is_that_of_this_process(session, rows, layout, tmp_path):
    X, y, weight = rows
    expected = model_text(ESTIMATOR.fit(X, y, weight), tmp_path)
    table = session.put(layout(X), y, weight)
    assert table.shape == X.shape and (table.label, table.weight) == ("label", "weight")
    assert model_text(session.fit(ESTIMATOR, table), tmp_path) == expected
    first, second = table.split(0.5)
    assert first.n_rows + second.n_rows == len(X)


def test_the_model_is_that_of_a_file_with_the_same_values(session, rows, tmp_path):
    X, y, _ = rows
    names = [f"x{j}" for j in range(8)]
    numpy.savetxt(tmp_path / "rows.csv", numpy.column_stack([y, X]), fmt="%.9g", delimiter=",",
                  header=",".join(["label", *names]), comments="")
    of_file = session.fit(ESTIMATOR, session.read_csv(tmp_path / "rows.csv", label="label"))
    expected = model_text(of_file, tmp_path)
    assert model_text(session.fit(ESTIMATOR, session.put(X, y, feature_names=names)), tmp_path) == expected


@pytest.mark.parametrize("dtype", ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
                                   "float16", "float32", "float64", "longdouble"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_every_type_of_number_arrives(session, dtype, order):
    values = numpy.arange(3 * 2500).reshape(2500, 3) % 100
    X = numpy.array(values, dtype=dtype, order=order)
    frame = session.put(X, X[:, 0].astype(numpy.float32)).to_pandas()
    assert (frame[["f0", "f1", "f2"]].to_numpy() == X.astype(numpy.float64)).all()
    assert (frame["label"].to_numpy() == X[:, 0].astype(numpy.float64)).all()


def test_a_frame_keeps_its_names_and_missing_values(session):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": [1, 2, 3], "b": [0.5, numpy.nan, 2], "c": pandas.array([1, None, 3], "Int64")})
    table = session.put(frame, pandas.Series([0, 1, 1], name="kind"))
    assert table.features == ["a", "b", "c"] and table.label == "kind"
    again = table.to_pandas()
    assert again["b"].isna().tolist() == again["c"].isna().tolist() == [False, True, False]
    assert session.put(frame.astype({"a": "category"})).categorical == ["a"]


def test_classes_that_are_texts_come_back(session, rows):
    X, y, _ = rows
    names = numpy.array(["no", "yes"])[y]
    train, test = session.put(X, names).split(0.8)
    model = session.fit(GBTClassifier(n_estimators=5), train)
    assert model.classes_.tolist() == ["no", "yes"]
    assert set(session.predict(model, test)) == {"no", "yes"}
    with pytest.raises(ValueError, match="holds classes, allowed are numbers"):
        session.fit(GBTRegressor(), train)


@pytest.mark.parametrize("labels", [
    [1, 2], [5, -3], [0, 2], [False, True], ["a", "b"], [numpy.int8(7), numpy.int8(9)], [numpy.uint16(1), numpy.uint16(0)],
    [2.0, 4.0], [numpy.float32(-1), numpy.float32(1)]])
def test_classes_may_be_any_and_the_model_is_that_of_this_process(session, rows, labels, tmp_path):
    X, y, weight = rows
    named = numpy.array(labels)[y]
    expected = model_text(ESTIMATOR.fit(X, named, weight), tmp_path)
    classes = ESTIMATOR.classes_
    table = session.put(X, named, weight)
    model = session.fit(ESTIMATOR, table)
    assert model_text(model, tmp_path) == expected
    assert model.classes_.dtype == classes.dtype and model.classes_.tolist() == classes.tolist()
    predicted = session.predict(model, table)
    assert predicted.dtype == named.dtype and (predicted == model.predict(X)).all()
    measures = model.evaluate(table)
    assert measures["accuracy"] == pytest.approx(numpy.average(predicted == named, weights=weight))
    # Labels as they were, and once more after the jobs above.
    again = GBTClassifier(n_estimators=30, early_stopping_rounds=2)
    parts = (table.rows[:2000], table.rows[2000:])
    expected = model_text(again.fit(X[:2000], named[:2000], weight[:2000],
                                    eval_set=(X[2000:], named[2000:], weight[2000:])), tmp_path)
    assert model_text(session.fit(again, parts[0], validation=parts[1]), tmp_path) == expected
    assert session.fit(again, table, validation=table).evaluate(table)["auc"] > 0.9
    if named.dtype.kind in "iuf":
        assert (table.to_pandas()["label"] == named).all()


def test_labels_of_many_classes_and_of_other_tables_are_numbered_as_the_model_has_them(session, three_classes, tmp_path):
    X, y = three_classes
    for labels in ([30, 10, 20], ["x", "z", "y"]):
        named = numpy.array(labels)[y]
        estimator = GBTClassifier(n_estimators=4)
        expected = model_text(estimator.fit(X, named), tmp_path)
        model = session.fit(estimator, session.put(X, named))
        assert model_text(model, tmp_path) == expected
        some = named != sorted(labels)[0]  # where places among the classes are others
        measures = model.evaluate(session.put(X[some], named[some]))
        assert measures["accuracy"] == pytest.approx(model.score(X[some], named[some]))
        assert measures["confusion"][0].sum() == 0


def test_labels_that_are_no_classes_are_refused(session, rows):
    X, y, _ = rows
    refused = [
        ("has values such as 0.5: allowed for classes are whole numbers", y + 0.5),
        ("more than 1000 different values", numpy.arange(len(y))),
        ("'label' is 3 in all rows, allowed are at least two classes", numpy.full(len(y), 3)),
        ("has values beyond 2^24, which tables hold rounded", y + 2**24),
    ]
    for words, labels in refused:
        with pytest.raises(ValueError) as raised:
            session.fit(GBTClassifier(n_estimators=1), session.put(X, labels))
        assert words in str(raised.value) and "\n" not in str(raised.value), str(raised.value)
    with pytest.raises(ValueError, match="label of row 0 is 8, allowed are 1, 2"):
        model = session.fit(GBTClassifier(n_estimators=1), session.put(X, y + 1))
        model.evaluate(session.put(X, y + 8))


def test_what_is_no_table_is_refused(session):
    X = numpy.ones((4, 2))
    refused = [
        (ValueError, r"X has the shape (4,), allowed is (n_rows, n_features)", [X[:, 0]]),
        (ValueError, "X has the shape (2, 2, 1)", [numpy.ones((2, 2, 1))]),
        (ValueError, "X has the shape (0, 2)", [X[:0]]),
        (ValueError, "X has the shape (4, 0)", [X[:, :0]]),
        (ValueError, "y has 3 values, X has 4 rows", [X, numpy.ones(3)]),
        (ValueError, "y has the shape (4, 2)", [X, X]),
        (ValueError, "sample_weight has 5 values", [X, None, numpy.ones(5)]),
        (ValueError, "feature_names are 3, X has 2 columns", [X, None, None, ["a", "b", "c"]]),
        (ValueError, "two columns named 'a'", [X, None, None, ["a", "a"]]),
        (ValueError, "X is of complex128", [X + 1j]),
        (ValueError, "X is of <U1", [[["a", "b"]]]),
        (ValueError, "X does not become an array of numbers", [numpy.array([[{}, 1]], dtype=object)]),
        (ValueError, "labels that do not compare", [X, [1, "a", None, 2]]),
        (ValueError, "X has infinity, or a value too large for float32, in row 3, column 1",
         [numpy.array([[1, 2]] * 3 + [[1, numpy.inf]])]),
        (ValueError, "y has NaN, infinity or a value too large for float32 in row 2", [X, [1, 2, numpy.nan, 4]]),
        (ValueError, "X is of complex128", [scipy.sparse.eye(4) * 1j]),
    ]
    for kind, words, arguments in refused:
        with pytest.raises(kind) as raised:
            session.put(*arguments)
        assert words in str(raised.value) and "\n" not in str(raised.value), str(raised.value)
    assert session.put(X).n_rows == 4


def test_a_table_that_was_put_is_made_again_after_a_loss(mark, rows, tmp_path):
    X, y, weight = rows
    with podere.Session(executors=2, cores=1, progress=False) as s:
        table = s.put(X.copy(), y, weight).split(0.7)[0]  # the arrays stay as long as the table made from them
        expected = model_text(s.fit(ESTIMATOR, table), tmp_path)
        os.kill(executors_of(s.status["process"])[-1], signal.SIGKILL)
        wait_until(lambda: s.executors == 1)
        assert model_text(s.fit(ESTIMATOR, table), tmp_path) == expected


@pytest.mark.parametrize("part", ["X", "y", "sample_weight"])
def test_an_array_that_was_changed_is_noticed_when_it_is_read_again(mark, rows, part, tmp_path, capfd):
    arrays = dict(zip(("X", "y", "sample_weight"), (part.copy() for part in rows)))
    with podere.Session(executors=1, cores=1) as s:
        changed = s.put(**arrays)
        half = changed.split(0.5)[0]
        kept = s.put(*rows)
        expected = model_text(s.fit(ESTIMATOR, kept), tmp_path)
        arrays[part][-1] += 1
        s.scale(2)  # other executors, which read the arrays again
        wait_until(lambda: s.executors == 2)
        for table in (changed, half):
            with pytest.raises(ValueError, match=f"table {table.name} was lost with its executors: {changed.name}: its "
                               "arrays have changed since they were put, so .* put them again"):
                s.fit(ESTIMATOR, table)
        assert model_text(s.fit(ESTIMATOR, kept), tmp_path) == expected
        assert s.put(**arrays).n_rows == kept.n_rows


# The bytes themselves -------------------------------------------------------------------------------------------------

def status_of(url, **headers):
    try:
        with urllib.request.urlopen(urllib.request.Request(url, headers=headers)) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, b""


def load(session, **changes):
    """Loads 5 x 2 float32 from elsewhere than `put` says."""
    X = numpy.arange(10, dtype=numpy.float32).reshape(5, 2)
    array = podere._put.ServedArray(X)
    server = array_server(os.getpid())
    arrays = {"n_rows": 5, "features": ["a", "b"], "values": server.serve(array), "token": server.token}
    for key, value in changes.items():
        target = arrays if key in arrays else arrays["values"]
        target[key] = value
    return session._jobs.run({"kind": "load", "name": session._jobs.table_name(), "table": {"location": "put:x", "arrays": arrays}})


def test_only_who_has_the_token_gets_bytes_and_only_those_that_there_are(session):
    array = podere._put.ServedArray(numpy.arange(10, dtype=numpy.uint8))
    server = array_server(os.getpid())
    url = server.serve(array)["url"]
    right = f"Bearer {server.token}"
    assert url.startswith("http://127.0.0.1:")
    assert status_of(url, Authorization=right, Range="bytes=2-4") == (206, b"\2\3\4")
    for headers in ({}, {"Authorization": "Bearer x"}, {"Authorization": server.token}, {"Authorization": "Bearer é"}):
        assert status_of(url, Range="bytes=2-4", **headers)[0] == 401
    for asked in ("bytes=5-10", "bytes=4-3", "bytes=-3", "lines=1-2"):
        assert status_of(url, Authorization=right, Range=asked)[0] == 416
    assert status_of(url + "x", Authorization=right, Range="bytes=0-1")[0] == 404
    del array
    until = time.monotonic() + 30  # the thread that has just answered may hold it a little longer
    while status_of(url, Authorization=right, Range="bytes=2-4")[0] != 404:
        assert time.monotonic() < until


def test_executors_report_what_is_wrong_with_what_comes(session):
    assert load(session)["tables"][0]["rows"] == 5
    refused = [
        ("the token is refused (HTTP status 401)", dict(token="wrong")),
        ("HTTP status 404", dict(url=array_server(os.getpid()).serve(podere._put.ServedArray(numpy.ones(3)))["url"])),
        ("HTTP status 416", dict(n_rows=5000)),
        ("an array of complex128: allowed are", dict(dtype="complex128")),
        ("rotocol", dict(url="file:///etc/passwd")),
        ("X has no rows, or no columns", dict(n_rows=0)),
        ("onnect", dict(url="http://127.0.0.1:9/x")),
    ]
    for words, changes in refused:
        with pytest.raises(ValueError) as raised:
            load(session, **changes)
        assert words in str(raised.value) and "\n" not in str(raised.value), str(raised.value)


@pytest.mark.parametrize("answer, words", [
    (b"HTTP/1.1 206 Partial Content\r\nContent-Length: 40\r\n\r\nshort", "bytes remaining to read"),
    (b"HTTP/1.1 206 Partial Content\r\nContent-Length: 5\r\n\r\nshort", "5 bytes came, 40 were asked for"),
    (b"HTTP/1.1 206 Partial Content\r\nContent-Length: 41\r\n\r\n" + b"x" * 41, "more came than the 40 bytes asked for"),
    (b"HTTP/1.1 200 OK\r\nContent-Length: 40\r\n\r\n" + b"x" * 40, "HTTP status 200"),
    (b"", "mpty reply"),
])
def test_answers_that_are_too_short_or_too_long_are_refused(session, answer, words):
    listener = socket.create_server(("127.0.0.1", 0))
    ended = threading.Event()

    def serve():
        while not ended.is_set():
            connection, _ = listener.accept()
            with connection:
                if connection.recv(65536):
                    connection.sendall(answer)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    with pytest.raises(ValueError, match=words):
        load(session, url=f"http://127.0.0.1:{listener.getsockname()[1]}/x")
    ended.set()
    socket.create_connection(listener.getsockname()).close()
    thread.join()
    listener.close()
    assert load(session)["tables"][0]["rows"] == 5
