"""Sessions from Python: executors that keep tables, train, are lost, and end with the process."""
import os
import pathlib
import signal
import subprocess
import sys
import threading
import time
import urllib.request
import uuid

import numpy
import pytest

import podere
from conftest import executors_of, marked_processes, model_text, wait_until
from podere import GBTClassifier, GBTRegressor

LONG = dict(n_estimators=100_000, max_depth=3, learning_rate=1e-3)


@pytest.fixture(scope="module")
def session(mark):
    with podere.Session(executors=2, cores=1, progress=False) as s:
        yield s


@pytest.fixture(scope="module")
def rows_csv(tmp_path_factory, two_classes):
    """two_classes with weights and a header; float32 values in full."""
    X, y = two_classes
    X = X.astype(numpy.float32)
    weight = numpy.linspace(0.5, 2, len(y)).astype(numpy.float32)
    path = tmp_path_factory.mktemp("session") / "rows.csv"
    names = ["label", "weight", *(f"f{j}" for j in range(X.shape[1]))]
    numpy.savetxt(path, numpy.column_stack([y, weight, X]), fmt="%.9g", delimiter=",", header=",".join(names),
                  comments="")
    return path, X, y, weight


@pytest.fixture(scope="module")
def table(session, rows_csv):
    return session.read_csv(rows_csv[0], label="label", weight="weight")


# Tables ---------------------------------------------------------------------------------------------------------------

def test_a_table_knows_what_it_is(table):
    assert table.shape == (3000, 8) and len(table) == table.n_rows == 3000
    assert table.features == [f"f{j}" for j in range(8)]
    assert (table.label, table.weight, table.categorical) == ("label", "weight", [])
    assert "3,000 rows x 8 features, label 'label', weight 'weight'" in repr(table)
    assert "3,000 rows × 8 features" in table._repr_html_()


def test_describe_is_a_frame_of_columns(table, two_classes):
    frame = table.describe()
    assert list(frame.index) == [*table.features, "label", "weight"]
    assert frame.loc["f3", "missing"] == numpy.isnan(two_classes[0][:, 3]).sum()
    assert frame.loc["label", "mean"] == pytest.approx(two_classes[1].mean())


def test_split_gives_the_same_rows_each_time(table):
    first, second = table.split(0.8, seed=7)
    again, _ = table.split(0.8, seed=7)
    assert first.n_rows + second.n_rows == 3000 and 2200 < first.n_rows < 2600
    assert (first.to_pandas().fillna(-9) == again.to_pandas().fillna(-9)).all(axis=None)


def test_tables_are_chosen_from_by_name_value_and_number(table, rows_csv):
    _, X, y, weight = rows_csv
    chosen = table.select(["f5", "f2"])
    assert chosen.features == ["f5", "f2"] and chosen.label == "label"
    assert numpy.array_equal(chosen.to_pandas()["f5"].to_numpy(numpy.float32), X[:, 5], equal_nan=True)
    high = table.where("f1 > 0.5 && label == 1")
    assert high.n_rows == ((X[:, 1] > 0.5) & (y == 1)).sum()
    part = table.rows[100:200]
    assert part.n_rows == 100
    assert (part.to_pandas()["weight"].to_numpy(numpy.float32) == weight[100:200]).all()
    assert table.rows[:-2900].n_rows == 100


def test_one_table_is_standardized_like_another(table):
    first, second = table.split(0.5)
    first = first.standardize()
    frame = first.describe()
    assert frame.loc["f0":"f7", "mean"].abs().max() < 1e-6
    second = second.standardize(like=first)
    assert 0 < abs(second.describe().loc["f0", "mean"]) < 0.3
    with pytest.raises(ValueError, match="like is not a table that standardize"):
        second.standardize(like=table)


def test_a_saved_table_is_the_table(session, table, tmp_path):
    table.save(tmp_path / "saved.csv")
    again = session.read_csv(tmp_path / "saved.csv", label="label", weight="weight")
    assert again.describe().equals(table.describe())
    assert [path.name for path in tmp_path.iterdir()] == ["saved.csv"]


def test_a_table_without_references_is_dropped_and_a_named_one_stays(session, rows_csv):
    unnamed = session.read_csv(rows_csv[0], label="label")
    kept = session.read_csv(rows_csv[0], label="label", name="kept")
    name = unnamed.name
    assert {name, "kept"} <= set(session.tables)
    del unnamed, kept
    wait_until(lambda: name not in session.tables)
    session.tables["kept"].drop()
    assert "kept" not in session.tables


# Models ---------------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("estimator, options", [
    (GBTClassifier(n_estimators=12, max_depth=4, subsample=0.7, colsample_bytree=0.8, random_state=11,
                   class_weight={0: 1, 1: 2.5}, monotone_constraints={"f1": 1}),
     ["--trees", 12, "--depth", 4, "--subsample", 0.7, "--column-subsample", 0.8, "--seed", 11, "--class-weight",
      "0:1,1:2.5", "--monotone", "f1:+1"]),
    (GBTClassifier(n_estimators=30, early_stopping_rounds=3, learning_rate=0.5, base_score=0.4),
     ["--trees", 30, "--early-stopping", 3, "--validation-fraction", 0.1, "--learning-rate", 0.5, "--base-score", 0.4]),
    (GBTRegressor(n_estimators=5, objective="poisson"), ["--objective", "poisson", "--trees", 5]),
])
def test_the_model_is_that_of_this_process_and_of_the_command_line(session, table, rows_csv, podere, estimator, options):
    path, X, y, weight = rows_csv
    podere("train", "gbt", path, "--label", "label", "--weight", "weight", "-o", "model.json", *options)
    expected = (podere.folder / "model.json").read_text()
    assert model_text(estimator.fit(X, y, sample_weight=weight), podere.folder) == expected
    predicted = estimator.predict(X)
    fitted = session.fit(estimator, table)
    assert fitted is estimator
    assert model_text(fitted, podere.folder) == expected
    assert (fitted.predict(X) == predicted).all()
    assert (session.predict(fitted, table) == predicted).all()


def test_many_classes_are_found_and_predicted(session, three_classes, podere):
    X, y = three_classes
    X = X.astype(numpy.float32)
    numpy.savetxt(podere.folder / "three.csv", numpy.column_stack([y, X]), fmt="%.9g", delimiter=",",
                  header="label," + ",".join(f"f{j}" for j in range(8)), comments="")
    table = session.read_csv(podere.folder / "three.csv", label="label")
    model = session.fit(GBTClassifier(n_estimators=4), table)
    assert model.classes_.tolist() == [0, 1, 2]
    assert model_text(model, podere.folder) == model_text(GBTClassifier(n_estimators=4).fit(X, y), podere.folder)
    assert (session.predict(model, table) == model.predict(X)).all()
    assert (session.predict_proba(model, table) == model.predict_proba(X)).all()
    measures = model.evaluate(table)
    assert measures["rows"] == 2000 and measures["accuracy"] == pytest.approx(model.score(X, y))
    assert measures["confusion"].sum() == 2000
    with pytest.raises(ValueError, match="of two classes, this model has 3"):
        model.plot_roc(table)


def test_classes_of_a_file_may_be_any_whole_numbers(session, three_classes, podere):
    X, y = three_classes
    X = X.astype(numpy.float32)
    labels = numpy.array([-7, 2, 40])[y]
    numpy.savetxt(podere.folder / "any.csv", numpy.column_stack([labels, X]), fmt="%.9g", delimiter=",",
                  header="label," + ",".join(f"f{j}" for j in range(8)), comments="")
    table = session.read_csv(podere.folder / "any.csv", label="label")
    estimator = GBTClassifier(n_estimators=4)
    expected = model_text(estimator.fit(X, labels), podere.folder)
    score = estimator.score(X, labels)
    model = session.fit(estimator, table)
    assert model_text(model, podere.folder) == expected
    assert model.classes_.tolist() == [-7, 2, 40] and model.classes_.dtype == numpy.int64
    assert (session.predict(model, table) == model.predict(X)).all()
    assert model.evaluate(table)["accuracy"] == pytest.approx(score)
    two = table.where("label > 0")
    model = session.fit(GBTClassifier(n_estimators=2), two)
    assert model.classes_.tolist() == [2, 40]
    assert model.evaluate(two)["auc"] > 0.7
    with pytest.raises(ValueError, match=r"label of row \d+ is -7, allowed are 2, 40"):
        model.evaluate(table)
    assert (table.to_pandas()["label"] == labels).all()
    with pytest.raises(ValueError, match="'label' is 40 in all rows, allowed are at least two classes"):
        session.fit(GBTClassifier(), table.where("label == 40"))
    assert session.fit(GBTRegressor(n_estimators=2), table).n_estimators_ == 2


def test_validation_is_on_another_table(session, table, rows_csv, podere):
    _, X, y, weight = rows_csv
    estimator = GBTClassifier(n_estimators=20, early_stopping_rounds=2, learning_rate=0.5)
    expected = estimator.fit(X[:2000], y[:2000], weight[:2000], eval_set=(X[2000:], y[2000:], weight[2000:]))
    expected = model_text(expected, podere.folder)
    model = session.fit(estimator, table.rows[:2000], validation=table.rows[2000:])
    assert model_text(model, podere.folder) == expected


def test_the_roc_curve_is_drawn(session, table):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    pyplot.switch_backend("agg")
    model = session.fit(GBTClassifier(n_estimators=5), table)
    axes = model.plot_roc(table)
    assert axes.get_legend_handles_labels()[1] == [f"AUC {model.evaluate(table)['auc']:.4f}"]
    assert model.plot_roc(table, ax=axes) is axes
    pyplot.close("all")


def test_a_checkpoint_is_gone_on_from(session, table, tmp_path):
    session.fit(GBTClassifier(n_estimators=3), table, checkpoint=tmp_path / "trees.json")
    assert not list(tmp_path.glob("*.part*"))


# What jobs cost -------------------------------------------------------------------------------------------------------

def test_what_a_job_cost_is_a_dict(session, table):
    session.fit(GBTClassifier(n_estimators=3), table)
    metrics = session.metrics()
    assert metrics == session.metrics(session.jobs[-1]["job"])
    assert [phase["phase"] for phase in metrics["phases"]][-1] == "train"
    assert {task["executor"] for task in metrics["tasks"]} == {0, 1}
    of_job = metrics["job"]
    assert of_job["kind"] == "train" and of_job["executors"] == 2 and of_job["retries"] == 0
    assert of_job["elapsed_seconds"] > 0 and of_job["peak_memory_bytes"] > 1e6
    with pytest.raises(ValueError):
        table.where("f1 >")
    assert session.metrics(session.jobs[-1]["job"]) == {} != session.metrics()
    with pytest.raises(ValueError, match="there is no job 99999"):
        session.metrics(99999)
    assert session.prometheus is None


def test_prometheus_reads_what_jobs_cost(mark):
    with podere.Session(cores=1, progress=False, prometheus=0) as s:
        s.read("collider:1e3")
        assert s.prometheus.startswith("http://127.0.0.1:")
        with urllib.request.urlopen(s.prometheus, timeout=30) as answer:
            assert b'podere_jobs_total{kind="load",state="done"} 1' in answer.read()
    for kind, address in ((TypeError, 94.5), (ValueError, "nowhere"), (ValueError, 70000)):
        with pytest.raises(kind, match=str(address)):
            podere.Session(prometheus=address)


# Files that say themselves what is in them --------------------------------------------------------------------------

def write_idx(path, array):
    shape = numpy.array(array.shape, ">u4").tobytes()
    path.write_bytes(bytes([0, 0, 8, array.ndim]) + shape + array.astype(numpy.uint8).tobytes())


def test_idx_files_bring_their_labels(session, tmp_path):
    X = numpy.arange(30 * 2 * 3).reshape(30, 2, 3) % 251
    y = numpy.arange(30) % 3
    write_idx(tmp_path / "train-images-idx3-ubyte", X)
    write_idx(tmp_path / "train-labels-idx1-ubyte", y)
    table = session.read(tmp_path / "train-images-idx3-ubyte")
    assert table.features == [f"pixel{i}" for i in range(1, 7)] and table.label == "label"
    frame = table.to_pandas()
    assert (frame.drop(columns="label").to_numpy() == X.reshape(30, 6)).all() and (frame["label"] == y).all()
    part = session.read(str(tmp_path / "train-images-idx3-ubyte"), columns=["pixel2"], rows=slice(3, 9)).to_pandas()
    assert (part["pixel2"] == X.reshape(30, 6)[3:9, 1]).all() and (part["label"] == y[3:9]).all()
    write_idx(tmp_path / "other", 2 - y)
    assert (session.read(tmp_path / "train-images-idx3-ubyte", labels=tmp_path / "other").to_pandas()["label"] == 2 - y).all()


def test_arrays_of_numpy_bring_their_labels(session, tmp_path):
    X, y = numpy.arange(60.0).reshape(30, 2), numpy.arange(30) % 3
    numpy.save(tmp_path / "X.npy", numpy.asfortranarray(X))
    numpy.save(tmp_path / "y.npy", y)
    frame = session.read(tmp_path / "X.npy", labels=tmp_path / "y.npy").to_pandas()
    assert (frame[["f0", "f1"]].to_numpy() == X).all() and (frame["label"] == y).all()
    numpy.savez(tmp_path / "a.npz", X=X, y=y)
    assert session.read(tmp_path / "a.npz", columns=["f1", "y"]).to_pandas()["y"].tolist() == y.tolist()


def test_an_hdf5_file_has_tables_by_keys(session, tmp_path):
    import h5py

    X, y = numpy.arange(60.0).reshape(30, 2), numpy.arange(30) % 3
    with h5py.File(tmp_path / "jets.h5", "w") as file:
        file["train/X"], file["train/y"], file["test/X"], file["test/y"] = X[:20], y[:20], X[20:], y[20:]
    frame = session.read(tmp_path / "jets.h5", label="y", key="test").to_pandas()
    assert (frame[["f0", "f1"]].to_numpy() == X[20:]).all() and (frame["y"] == y[20:]).all()
    assert session.read(tmp_path / "jets.h5", key="train/y").to_pandas()["y"].tolist() == y[:20].tolist()
    with pytest.raises(ValueError, match="has arrays in 2 groups: test, train; choose one by key"):
        session.read(tmp_path / "jets.h5")
    with pytest.raises(ValueError, match="key cannot be chosen"):
        session.read(tmp_path / "jets.h5", key="train", format="csv")


def test_libsvm_files_have_as_many_features_as_are_asked_for(session, tmp_path):
    path = tmp_path / "rows.svm"
    path.write_text("1 1:2\n0 3:4.5\n")
    assert session.read(path).to_pandas()[["f1", "f2", "f3", "label"]].to_numpy().tolist() == [[2, 0, 0, 1], [0, 0, 4.5, 0]]
    assert session.read(path, n_features=5).features == ["f1", "f2", "f3", "f4", "f5"]
    assert session.read(path, zero_based=True).features == ["f0", "f1", "f2", "f3"]
    text = tmp_path / "rows.txt"
    text.write_bytes(path.read_bytes())
    assert session.read(text, format="libsvm").features == ["f1", "f2", "f3"]
    for kind, match, wrong in ((ValueError, "index 3 is beyond the 2 features", dict(n_features=2)),
                               (ValueError, "allowed are auto, csv, arrow, hdf5, idx, parquet, npy, npz, raw, libsvm", dict(format="svm")),
                               (ValueError, "labels cannot be chosen", dict(labels=path)),
                               (TypeError, "columns is 'f1'", dict(columns="f1")),
                               (ValueError, "scheme 's3' is not known", dict(labels="s3://bucket/labels", format="idx")),
                               (FileNotFoundError, "nowhere", dict(labels=tmp_path / "nowhere"))):
        with pytest.raises(kind, match=match):
            session.read(path, **wrong)


# What goes wrong ------------------------------------------------------------------------------------------------------

def test_what_cannot_be_is_reported_in_one_line(session, table, rows_csv, tmp_path):
    path = rows_csv[0]
    refused = [
        (FileNotFoundError, "nowhere.csv", lambda: session.read_csv(tmp_path / "nowhere.csv")),
        (ValueError, "labl", lambda: session.read_csv(path, label="labl")),
        (TypeError, "columns is 'f1', allowed is a list", lambda: session.read_csv(path, columns="f1")),
        (ValueError, "cannot be called", lambda: session.read_csv(path, name="no name")),
        (ValueError, "collider:many", lambda: session.read("collider:many")),
        (ValueError, "f9", lambda: table.select(["f9"])),
        (ValueError, "the expression ends where a value should be", lambda: table.where("f1 >")),
        (ValueError, "shares of 1.5", lambda: table.split(1.5)),
        (TypeError, "seed is 'x'", lambda: table.split(0.5, seed="x")),
        (ValueError, "step 2", lambda: table.rows[::2]),
        (TypeError, "allowed is a slice", lambda: table.rows[3]),
        (ValueError, "has no label", lambda: session.fit(GBTClassifier(), session.read_csv(path))),
        (ValueError, "the label 'f1' has more than 1000 different values",
         lambda: session.fit(GBTClassifier(), session.read_csv(path, label="f1", columns=["f2"]))),
        (ValueError, "n_estimators is 0", lambda: session.fit(GBTClassifier(n_estimators=0), table)),
        (ValueError, "categorical_features are", lambda: session.fit(GBTClassifier(categorical_features=["f1"]), table)),
        (TypeError, "allowed are GBTClassifier", lambda: session.fit("gbt", table)),
        (TypeError, "allowed is a Table", lambda: session.fit(GBTClassifier(), numpy.zeros((3, 3)))),
        (TypeError, "allowed is a Table of a session", lambda: GBTClassifier().evaluate(numpy.zeros((3, 3)))),
        (ValueError, "not fitted", lambda: session.predict(GBTClassifier(), table)),
        (ValueError, "there is no job 99999", lambda: session.log(99999)),
        (ValueError, "n is 0", lambda: session.scale(0)),
        (ValueError, "minimum is 3", lambda: session.adapt(minimum=3, maximum=2)),
        (ValueError, "no session called absent", lambda: podere.Session.connect("absent")),
        (ValueError, "executors is 'two'", lambda: podere.Session("two")),
        (ValueError, f"there is a session called {session.name} already", lambda: podere.Session(name=session.name)),
    ]
    for kind, words, attempt in refused:
        with pytest.raises(kind) as raised:
            attempt()
        message = str(raised.value)
        assert words in message and "\n" not in message, message
    assert session.fit(GBTClassifier(n_estimators=1), table).n_estimators_ == 1


def test_a_failure_leaves_the_estimator_as_it_was(session, table, rows_csv):
    model = session.fit(GBTClassifier(n_estimators=2), table)
    dropped = session.read_csv(rows_csv[0], label="weight", columns=["f2"])
    with pytest.raises(ValueError):
        session.fit(model, dropped)
    assert model.n_features_in_ == 8 and model.n_estimators_ == 2


def test_without_the_program_the_cause_is_reported(monkeypatch, tmp_path):
    monkeypatch.setenv("PODERE", str(tmp_path / "nothing"))
    with pytest.raises(podere.SessionError, match="which is not a program"):
        podere.Session()
    program = tmp_path / "podere"
    program.write_text("#!/bin/sh\necho 'podere: no slots here' >&2; exit 1\n")
    program.chmod(0o700)
    monkeypatch.setenv("PODERE", str(program))
    with pytest.raises(podere.SessionError, match="^no slots here$"):
        podere.Session()


@pytest.mark.parametrize("package", ["lib/python3.11/site-packages", "local/lib/python3.11/dist-packages", "", "python"])
def test_the_program_is_that_of_the_installation(package, monkeypatch, tmp_path):
    """As pip lays both out in an environment, for the user, with --target; and as they lie in a build tree."""
    prefix = tmp_path / ("local" if package.startswith("local") else ".")
    (tmp_path / package / "podere").mkdir(parents=True)
    (prefix / "bin").mkdir()
    program = prefix / "bin" / "podere"
    program.touch(0o700)
    monkeypatch.delenv("PODERE")
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setattr(podere._connection, "__file__", str(tmp_path / package / "podere" / "_connection.py"))
    assert pathlib.Path(podere._connection.find_program()) == program
    program.chmod(0o600)
    with pytest.raises(podere.SessionError, match="is not found: build it, and put it in PATH or name it"):
        podere._connection.find_program()


def test_a_session_that_has_ended_says_so(mark, rows_csv):
    s = podere.Session(progress=False)
    table = s.read_csv(rows_csv[0], label="label")
    os.kill(s.status["process"], signal.SIGKILL)
    with pytest.raises(podere.SessionError, match=f"the session {s.name} has ended"):
        wait_until(lambda: s.fit(GBTClassifier(n_estimators=1), table) is None)
    s.close()
    with pytest.raises(podere.SessionError, match=f"the session {s.name} is closed"):
        table.describe()
    assert "closed" in repr(s)


# Coming, going, and others --------------------------------------------------------------------------------------------

def test_an_executor_that_is_killed_costs_no_tree(mark, tmp_path):
    estimator = GBTClassifier(n_estimators=80, max_depth=6)
    with podere.Session(executors=2, cores=1, progress=False) as s:
        table = s.read("collider:2e4")
        undisturbed = model_text(s.fit(estimator, table), tmp_path)
        driver = s.status["process"]
        fitted = threading.Thread(target=s.fit, args=(estimator, table))
        fitted.start()
        wait_until(lambda: s.jobs[-1]["kind"] == "train" and s.jobs[-1]["progress"]["done"] > 5)
        os.kill(executors_of(driver)[-1], signal.SIGKILL)
        fitted.join()
        assert model_text(estimator, tmp_path) == undisturbed
        assert "lost executor" in s.log()[0]
        assert s.executors == 1 and table.n_rows == 20_000
        assert estimator.evaluate(table)["auc"] > 0.8


def interrupt_when(condition):
    def wait():
        wait_until(condition)
        os.kill(os.getpid(), signal.SIGINT)
    thread = threading.Thread(target=wait)
    thread.start()
    return thread


def is_growing(session):
    return session.jobs[-1]["state"] == "running" and session.jobs[-1]["progress"]["done"] > 3


def test_control_c_cancels_the_job_and_keeps_the_session(session, table):
    estimator = session.fit(GBTClassifier(n_estimators=2), table).set_params(**LONG)
    thread = interrupt_when(lambda: is_growing(session))
    with pytest.raises(KeyboardInterrupt):
        session.fit(estimator, table)
    thread.join()
    assert session.jobs[-1]["state"] == "cancelled"
    assert estimator.n_estimators_ == 2, "it is not as it was"
    assert session.fit(GBTClassifier(n_estimators=3), table).n_estimators_ == 3


def test_control_c_may_end_training_with_the_trees_so_far(session, table):
    thread = interrupt_when(lambda: is_growing(session))
    model = session.fit(GBTClassifier(**LONG), table, on_interrupt="keep")
    thread.join()
    assert 3 < model.n_estimators_ < 100_000
    assert model.evaluate(table)["auc"] > 0.5


def test_two_clients_share_a_session(session, rows_csv, tmp_path):
    shared = session.read_csv(rows_csv[0], label="label", weight="weight", name="shared")
    other = podere.Session.connect(session.name, progress=False)
    theirs = other.tables["shared"]
    assert theirs.shape == shared.shape
    models = {}

    def fit(s, table):
        models[s] = model_text(s.fit(GBTClassifier(n_estimators=10), table), tmp_path / str(id(s)))

    for s in (session, other):
        (tmp_path / str(id(s))).mkdir()
    threads = [threading.Thread(target=fit, args=pair) for pair in ((session, shared), (other, theirs))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert models[session] == models[other]
    with pytest.raises(ValueError, match="is kept by the session"), podere.Session(progress=False) as third:
        third.fit(GBTClassifier(), shared)
    other.close()
    assert session.fit(GBTClassifier(n_estimators=1), shared).n_estimators_ == 1
    shared.drop()


def test_the_session_grows_and_shrinks(mark, rows_csv, tmp_path):
    with podere.Session(executors=1, cores=1, progress=False) as s:
        table = s.read_csv(rows_csv[0], label="label")
        one = model_text(s.fit(GBTClassifier(n_estimators=5), table), tmp_path)
        s.scale(3)
        wait_until(lambda: s.executors == 3)
        assert model_text(s.fit(GBTClassifier(n_estimators=5), table), tmp_path) == one
        s.adapt(minimum=1, maximum=2)
        wait_until(lambda: s.executors == 2)
        assert model_text(s.fit(GBTClassifier(n_estimators=5), table), tmp_path) == one


def test_a_table_may_be_dropped_while_another_one_is(session):
    """Finalizers run in the middle of one another, as garbage is collected there too."""
    def finalizer(*_):
        sys.setprofile(None)
        session._connection.drop_later("none such")
        sys.setprofile(finalizer)

    def put_back():
        sys.setprofile(finalizer)
        session._connection.drop_later("none such")
        sys.setprofile(None)

    thread = threading.Thread(target=put_back, daemon=True)
    thread.start()
    thread.join(20)
    assert not thread.is_alive()


SCRIPT = """
import podere, sys
s = podere.Session(executors=2, cores=1, progress=False)
table = s.read("collider:1e4")
print("ready", flush=True)
"""


@pytest.mark.parametrize("end, how", [
    ("", None), ("raise SystemExit(3)", None), ("1 / 0", None), ("sys.stdin.read()", signal.SIGKILL),
    ("sys.stdin.read()", signal.SIGTERM),
    ("s.fit(podere.GBTClassifier(n_estimators=100_000), table)", signal.SIGKILL),
    ("import os\nif os.fork() == 0:\n    sys.stdin.read()\n    sys.exit()\nsys.stdin.read()", signal.SIGKILL),
    ("import os\nif os.fork() == 0:\n    sys.exit()\nos.wait()\nassert s.executors == 2\nassert table.describe() is not None",
     None),
])
def test_a_session_that_is_left_open_ends_with_its_process(mark, end, how):
    own = f"PODERE_TEST_SCRIPT={uuid.uuid4()}"
    name, value = own.split("=")
    script = subprocess.Popen([sys.executable, "-c", SCRIPT + end], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, env={**os.environ, name: value})
    assert script.stdout.readline() == "ready\n"
    if how is not None:
        assert sum(arguments[1:2] == ["executor"] for arguments in marked_processes(own).values()) == 2
        time.sleep(0.2)
        script.send_signal(how)
    assert script.wait(30) == (-how if how is not None else 3 if "3" in end and "Exit" in end else "1 / 0" in end)
    wait_until(lambda: not any("podere" in arguments[0] for arguments in marked_processes(own).values()), 10)
    script.stdin.close()
    wait_until(lambda: not marked_processes(own), 10)
    errors = script.stderr.read()
    assert ("Traceback" in errors) == ("1 / 0" in end), errors
    script.stdout.close()
    script.stderr.close()


def test_a_forked_child_holds_nothing_of_its_parents_session(mark):
    child = """
import os
s.put([[1.0]])
if os.fork() == 0:
    connection = s._connection
    assert connection._program._process.stdin.closed and connection._socket.fileno() == -1
    del s, table
    sys.exit()
assert os.waitstatus_to_exitcode(os.wait()[1]) == 0
assert table.describe() is not None
"""
    subprocess.run([sys.executable, "-c", SCRIPT + child], check=True, timeout=60)


def test_what_is_not_a_terminal_gets_losses_alone(mark, rows_csv):
    script = f"""
import podere
with podere.Session(executors=1, cores=1) as s:
    s.fit(podere.GBTClassifier(n_estimators=30), s.read_csv({str(rows_csv[0])!r}, label="label"))
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
