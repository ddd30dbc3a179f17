"""Trees of ROOT files, where uproot is installed."""
import pathlib

import numpy
import pandas
import pytest

import podere

N = 4000


def rows():
    random = numpy.random.default_rng(3)
    values = random.normal(size=(N, 2))
    return {"pt": values[:, 0], "eta": values[:, 1].astype("f4"), "n": random.integers(0, 9, N).astype("i2"),
            "ok": values[:, 1] > 0, "label": (values[:, 0] > 0).astype("i4"), "w": random.random(N)}


@pytest.fixture(scope="module")
def uproot():
    return pytest.importorskip("uproot")


@pytest.fixture
def path(uproot, tmp_path):
    name = str(tmp_path / "events.root")
    with uproot.recreate(name) as file:
        tree = file.mktree("events", {key: values.dtype for key, values in rows().items()})
        for begin in range(0, N, 700):  # in baskets
            tree.extend({key: values[begin:begin + 700] for key, values in rows().items()})
    return name


def test_a_tree_is_a_data_frame(path):
    pandas.testing.assert_frame_equal(podere.read_root(path), pandas.DataFrame(rows()))
    some = podere.read_root(path, "events", ["n", "pt"], rows=slice(650, 1500), n_jobs=2)
    assert list(some) == ["n", "pt"] and (some["pt"].to_numpy() == rows()["pt"][650:1500]).all()
    assert len(podere.read_root(path, rows=slice(3990, None))) == 10


def test_a_session_puts_it(path):
    with podere.Session(executors=2, cores=1, progress=False) as session:
        table = session.read_root(path, label="label", weight="w")
        assert table.features == ["pt", "eta", "n", "ok"] and table.shape[0] == N and table.label == "label"
        model = session.fit(podere.GBTClassifier(n_estimators=5), table)
        frame = podere.read_root(path)
        features, label, weight = frame[["pt", "eta", "n", "ok"]], frame["label"], frame["w"]
        here = podere.GBTClassifier(n_estimators=5).fit(features, label, sample_weight=weight)
        assert (model.predict_proba(features) == here.predict_proba(features)).all()
        assert session.read_root(path, branches=["eta"], label="label").features == ["eta"]
        with pytest.raises(ValueError, match="has no branch 'y'"):
            session.read_root(path, label="y")


def test_an_rntuple_with_texts(uproot, tmp_path):
    path = tmp_path / "t.root"
    ak = pytest.importorskip("awkward")
    with uproot.recreate(str(path)) as file:
        file["t"] = {"x": numpy.arange(4.0), "name": ak.Array(["a", "b", "a", "ü"]), "jets": ak.Array([[1], [], [2], []])}
    frame = podere.read_root(path, branches=["name", "x"])
    assert frame["name"].tolist() == ["a", "b", "a", "ü"] and frame["x"].tolist() == [0, 1, 2, 3]
    with pytest.raises(ValueError, match=r"'jets' \(std::vector<std::int64_t>\); choose with branches from"):
        podere.read_root(path)


def test_what_is_no_table_is_refused_by_name(uproot, path, tmp_path):
    ak = pytest.importorskip("awkward")
    lists = str(tmp_path / "lists.root")
    with uproot.recreate(lists) as file:
        tree = file.mktree("a", {"x": "f8", "jets": "var * float64", "p": numpy.dtype(("f8", (4,)))})
        tree.extend({"x": numpy.arange(3.0), "jets": ak.Array([[1.0], [], [2.0, 3.0]]), "p": numpy.ones((3, 4))})
        file.mktree("folder/b", {"x": "f8"}).extend({"x": numpy.arange(3.0)})
    for words, arguments in [
            ("has 2 trees, choose one with tree: 'a', 'folder/b'", [lists]),
            ("has no tree 'c', allowed are 'a', 'folder/b'", [lists, "c"]),
            (r"other than one value in each row: 'jets' \(double\[\]\), 'p' \(double\[4\]\); choose with branches from 'x'",
             [lists, "a"]),
            ("has no branch 'z', allowed are 'x'", [lists, "folder/b", ["z"]]),
            ("branches names one twice", [lists, "folder/b", ["x", "x"]])]:
        with pytest.raises(ValueError, match=words):
            podere.read_root(*arguments)
    assert podere.read_root(lists, "a", ["x"])["x"].tolist() == [0, 1, 2]
    with pytest.raises(TypeError, match="branches is 'x', allowed is a list"):
        podere.read_root(lists, "a", "x")


def test_files_that_are_none_are_refused_in_one_line(uproot, path, tmp_path):
    with pytest.raises(FileNotFoundError):
        podere.read_root(tmp_path / "none.root")
    (tmp_path / "text.root").write_text("1,2\n" * 99)
    (tmp_path / "cut.root").write_bytes(pathlib.Path(path).read_bytes()[:3000])
    (tmp_path / "empty.root").write_bytes(b"")
    for name in "text", "cut", "empty":
        with pytest.raises(ValueError, match=f"{name}.root: ") as error:
            podere.read_root(tmp_path / f"{name}.root")
        assert "\n" not in str(error.value)
    with uproot.recreate(str(tmp_path / "no.root")) as file:
        file["h"] = numpy.histogram([1, 2, 3])
    with pytest.raises(ValueError, match="has no tree"):
        podere.read_root(tmp_path / "no.root")


def test_without_uproot_there_is_the_command_to_install_it(monkeypatch, tmp_path):
    monkeypatch.setitem(__import__("sys").modules, "uproot", None)
    with pytest.raises(ImportError, match="^read_root needs uproot, which is not installed: pip install uproot$"):
        podere.read_root(tmp_path / "x.root")
