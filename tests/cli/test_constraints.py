"""Trees under constraints, and trees that grow where they gain most, beside XGBoost's."""

import json

import numpy
import pytest

from conftest import needed

ROWS = 8000
TREES = 30


def draw(seed):
    """Eight features, 5 % missing; the label depends on x0 and x3 not quite monotonically, and on pairs."""
    rng = numpy.random.default_rng(seed)
    x = rng.normal(size=(ROWS, 8)).astype("float32")
    x[rng.uniform(size=x.shape) < 0.05] = numpy.nan
    z = numpy.nan_to_num(x)
    score = numpy.sin(2 * z[:, 0]) + z[:, 0] + z[:, 1] * z[:, 2] - numpy.exp(z[:, 3] / 2) + z[:, 4] * (z[:, 5] > 0) / 2
    return x, (score + rng.logistic(size=ROWS) > 0).astype(int)


@pytest.fixture
def tables(podere):
    for name, seed in (("training.csv", 1), ("other.csv", 2)):
        x, y = draw(seed)
        names = "y," + ",".join(f"x{j}" for j in range(8))
        numpy.savetxt(podere.folder / name, numpy.c_[y, x], delimiter=",", header=names, comments="", fmt="%.9g")


@pytest.mark.parametrize("ours, theirs", [
    (["--growth", "best-first", "--max-leaves", 31], dict(grow_policy="lossguide", max_leaves=31, max_depth=0)),
    (["--monotone", "x0:+1,x3:-1"], dict(max_depth=6, monotone_constraints="(1,0,0,-1,0,0,0,0)")),
    (["--monotone", "x0:-1,x1:1"], dict(max_depth=6, monotone_constraints="(-1,1,0,0,0,0,0,0)")),
    (["--interactions", "x1,x2;x4,x5"], dict(max_depth=6, interaction_constraints="[[1,2],[4,5]]")),
    (["--interactions", "0,1;2,3,4"], dict(max_depth=6, interaction_constraints="[[0,1],[2,3,4]]")),
], ids=["best-first", "monotone", "monotone-against-the-data", "interactions", "interactions-apart"])
def test_the_model_is_as_good_as_xgboosts(podere, tables, ours, theirs):
    xgboost = needed("xgboost")
    podere.done("train", "gbt", "training.csv", "-o", "m.json", "--trees", TREES, *ours)
    loss = json.loads(podere.done("evaluate", "m.json", "other.csv", "--json").stdout)["log_loss"]

    x, y = draw(1)
    booster = xgboost.train(dict(objective="binary:logistic", eta=0.1, tree_method="hist", nthread=2, **theirs),
                            xgboost.DMatrix(x, y), TREES)
    x, y = draw(2)
    p = booster.predict(xgboost.DMatrix(x)).astype("float64")
    expected = -numpy.mean(y * numpy.log(p) + (1 - y) * numpy.log(1 - p))
    assert loss < 0.69 and abs(loss / expected - 1) < 0.015, (loss, expected)


@pytest.mark.parametrize("growth", [[], ["--growth", "best-first", "--max-leaves", 40]])
def test_margins_never_move_against_a_constraint(podere, tables, growth):
    podere.done("train", "gbt", "training.csv", "-o", "m.json", "--trees", TREES, "--monotone", "x0:+1,x1:-1", *growth)
    rng = numpy.random.default_rng(3)
    for feature, sign in ((0, 1), (1, -1)):
        x = numpy.repeat(rng.normal(size=(100, 8)), 50, axis=0)  # 100 points, 50 values of the feature for each
        x[:, feature] = numpy.tile(numpy.linspace(-4, 4, 50), 100)
        numpy.savetxt(podere.folder / "steps.csv", x, delimiter=",", comments="", fmt="%.9g",
                      header=",".join(f"x{j}" for j in range(8)))
        podere.done("predict", "m.json", "steps.csv", "--margin", "-o", "margins.csv")
        steps = sign * numpy.diff(numpy.loadtxt(podere.folder / "margins.csv").reshape(100, 50))
        assert steps.min() >= 0 and steps.max() > 0
