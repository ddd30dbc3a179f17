"""An algorithm of examples/ as an estimator: in this process and in a session, the same bits as the command line's."""
import pathlib
import pickle
import sys

import numpy
import pytest
from sklearn.model_selection import cross_val_score

import podere as package

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "examples/nearest_centroid"))
from nearest_centroid import NearestCentroid  # noqa: E402

from conftest import model_text  # noqa: E402


def test_it_learns_and_predicts(three_classes, tmp_path):
    X, y = three_classes
    model = NearestCentroid().fit(X, numpy.array(["a", "b", "c"])[y])
    assert list(model.classes_) == ["a", "b", "c"]
    expected = numpy.stack([X[y == k].astype(numpy.float32).mean(axis=0, dtype=float) for k in range(3)])
    distances = ((X[:, None, :].astype(numpy.float32) - expected) ** 2).sum(axis=2)
    assert (model.predict(X) == numpy.array(["a", "b", "c"])[distances.argmin(axis=1)]).mean() > 0.999
    numpy.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1, rtol=1e-6)
    assert pickle.loads(pickle.dumps(model)).predict(X[:9]).tolist() == model.predict(X[:9]).tolist()
    model.save_model(tmp_path / "m.json")
    assert NearestCentroid().load_model(tmp_path / "m.json").predict(X[:9]).tolist() == model.predict(X[:9]).tolist()
    with pytest.raises(ValueError, match="allowed for NearestCentroid are nearest-centroid"):
        package.GBTClassifier(n_estimators=1).fit(X, y).save_model(tmp_path / "t.json")
        NearestCentroid().load_model(tmp_path / "t.json")


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_it_gives_the_bits_of_the_command_line(podere, two_classes, tmp_path, n_jobs):
    X, y = two_classes
    data = numpy.column_stack([y, X]).astype(numpy.float32)
    numpy.savetxt(podere.folder / "d.csv", data, fmt="%.9g", delimiter=",")
    podere("train", "centroid", "d.csv", "--no-header", "--label", 0, "--classes", 2, "-o", "m.json")
    own = model_text(NearestCentroid(n_jobs=n_jobs).fit(data[:, 1:], y), tmp_path)
    assert (podere.folder / "m.json").read_text().split('"centroids"')[1] == own.split('"centroids"')[1]


def test_a_session_fits_it(two_classes, tmp_path):
    X, y = two_classes
    here = NearestCentroid().fit(X.astype(numpy.float32), y)
    with package.Session(executors=2, cores=1) as session:
        there = NearestCentroid().fit(session.put(X, y))
        with pytest.raises(ValueError, match="centroid keeps none"):
            session.fit(NearestCentroid(), session.put(X, y), checkpoint=tmp_path / "c")
        with pytest.raises(ValueError, match="tensorboard is not for centroid"):
            session.fit(NearestCentroid(), session.put(X, y), tensorboard=tmp_path / "t")
    assert model_text(there, tmp_path).split('"centroids"')[1] == model_text(here, tmp_path).split('"centroids"')[1]


def test_scikit_learn_measures_it(two_classes):
    X, y = two_classes
    assert NearestCentroid().fit(X, y).decision_function(X).shape == (len(X),)
    assert cross_val_score(NearestCentroid(), X, y, scoring="roc_auc").mean() > 0.6
    with pytest.raises(ValueError, match="centroid does not validate while it trains"):
        NearestCentroid().fit(X, y, eval_set=(X, y))


def test_wrong_options_are_named(three_classes):
    class Wrong(NearestCentroid):
        def __init__(self, *, radius=1):
            self.radius = radius

    with pytest.raises(ValueError, match="options: 'radius' is not known, there are "):
        Wrong().fit(*three_classes)
