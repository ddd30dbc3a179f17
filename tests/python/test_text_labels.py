"""Classes that are texts, between files, sessions, data frames and estimators."""

import json

import numpy as np
import pytest
from podere import GBTClassifier, GBTRegressor, Session


@pytest.fixture(scope="module")
def session():
    with Session(executors=2, cores=1) as started:
        yield started


def rows(n=300, seed=1, kinds=("setosa", "versicolor", "virginica")):
    draw = np.random.default_rng(seed)
    places = draw.integers(0, len(kinds), n)
    X = draw.normal(size=(n, 2)) * 0.3 + np.stack([2 * places, -places], axis=1)
    return X.astype(np.float32), np.array(kinds)[places]


def write(path, X, y, order=slice(None)):
    lines = ["a,b,species", *(f"{a!r},{b!r},{k}" for (a, b), k in zip(X.tolist(), y.tolist()))]
    path.write_text("\n".join([lines[0], *lines[1:][order]]) + "\n")
    return path


def test_a_table_of_a_file_has_the_texts_as_classes(session, tmp_path):
    X, y = rows()
    table = session.read_csv(write(tmp_path / "f.csv", X, y), label="species")
    model = GBTClassifier(n_estimators=5).fit(table)
    assert model.classes_.tolist() == ["setosa", "versicolor", "virginica"]
    assert (model.predict(table) == y).mean() > 0.95
    assert (model.predict(X) == y).mean() > 0.95
    measures = model.evaluate(table)
    assert measures["accuracy"] > 0.95 and measures["confusion"].shape == (3, 3)

    in_memory = GBTClassifier(n_estimators=5).fit(X, y)
    measured = in_memory.evaluate(table)
    assert measured["accuracy"] == pytest.approx(np.mean(in_memory.predict(X) == y))


def test_tables_put_and_tables_read_agree_on_classes(session, tmp_path):
    X, y = rows(kinds=("signal", "background"))
    put = session.put(X, y)
    read = session.read_csv(write(tmp_path / "r.csv", X, y, slice(None, None, -1)), label="species")
    model = GBTClassifier(n_estimators=5).fit(put)
    assert model.classes_.tolist() == ["background", "signal"]
    assert model.evaluate(read)["accuracy"] == pytest.approx(model.evaluate(put)["accuracy"])
    other = session.put(X, np.where(y == "signal", "Signal", y))
    with pytest.raises(ValueError, match="has the class 'Signal', which is none of the model's: 'background', 'signal'"):
        model.evaluate(other)
    with pytest.raises(ValueError, match="holds classes, allowed are numbers"):
        GBTRegressor().fit(put)


def test_files_of_models_keep_the_texts(podere):
    tmp_path = podere.folder
    X, y = rows()
    model = GBTClassifier(n_estimators=3).fit(X, y)
    model.save_model(tmp_path / "m.json")
    again = GBTClassifier().load_model(tmp_path / "m.json")
    assert again.classes_.tolist() == model.classes_.tolist()
    assert (again.predict(X) == model.predict(X)).all()
    data = write(tmp_path / "d.csv", X, y)
    measures = json.loads(podere("evaluate", "m.json", data, "--json"))
    assert measures["label"]["classes"] == model.classes_.tolist()
    assert measures["accuracy"] == pytest.approx(np.mean(model.predict(X) == y))


def test_a_model_whose_positive_class_was_chosen_is_read(podere):
    tmp_path = podere.folder
    X, y = rows(kinds=("signal", "background"))
    data = write(tmp_path / "d.csv", X, y)
    podere("train", "gbt", data, "--positive", "background", "--trees", "5", "-o", "m.json")
    model = GBTClassifier(n_estimators=8, warm_start=True).load_model(tmp_path / "m.json")
    assert model.classes_.tolist() == ["signal", "background"]
    assert (model.predict(X) == y).mean() > 0.95
    model.fit(X, y)
    assert (model.predict(X) == y).mean() > 0.95


@pytest.mark.parametrize("classes", [[False, True], [1, 5, 9], [-3, 0, 2], [1.0, 2.0], ["1", "2"]])
def test_classes_of_any_type_are_the_same_here_in_sessions_in_files_and_on_the_command_line(podere, session, classes):
    X, _ = rows()
    y = np.array(classes)[(X[:, 0] > np.median(X[:, 0])).astype(int) * (len(classes) - 1)]
    model = GBTClassifier(n_estimators=5).fit(X, y)
    model.save_model(podere.folder / "m.json")
    again = GBTClassifier().load_model(podere.folder / "m.json")
    assert again.classes_.tolist() == model.classes_.tolist() and again.classes_.dtype.kind == model.classes_.dtype.kind
    put = session.put(X, y)
    elsewhere = session.fit(GBTClassifier(n_estimators=5), put)
    assert elsewhere._file_text() == model._file_text() and elsewhere.classes_.tolist() == model.classes_.tolist()
    assert session.evaluate(again, put)["accuracy"] == pytest.approx(model.score(X, y))
    data = write(podere.folder / "d.csv", X, y)
    assert json.loads(podere("evaluate", "m.json", data, "--label", "species",
                             "--json"))["accuracy"] == pytest.approx(model.score(X, y))
