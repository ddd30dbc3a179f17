"""podere train linear: least squares and ridge."""
import json

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, Ridge

from test_loss import sha256


def write_rows(podere, name="d.csv", n_rows=2000, seed=1):
    """Features of several units, a label that hangs on them and on chance, and weights."""
    random = np.random.default_rng(seed)
    x = (random.normal(size=(n_rows, 3)) * [0.01, 1, 1000] + [1, 5, -2000]).astype(np.float32)
    y = (x @ [40, -2, 0.003] + random.normal(size=n_rows)).astype(np.float32)
    w = random.integers(0, 4, size=n_rows)
    lines = [",".join([repr(float(v)) for v in row] + [repr(float(label)), str(weight)])
             for row, label, weight in zip(x, y, w)]
    podere.write(name, "a,b,c,y,w\n" + "\n".join(lines) + "\n")
    return x.astype(float), y.astype(float), w


def model(podere, name="m.json"):
    return json.loads(podere.done("model", name, "--json").stdout)


@pytest.mark.parametrize("executors, cores", [(1, 3), (2, 1), (3, 1), (5, 1), (5, 3)])
def test_the_model_is_the_same_on_any_number_of_executors(podere, executors, cores):
    command = ["train", "linear", "collider:20000"]
    podere.done(*command, "-o", "alone.json", "--cores", "1")
    podere.done(*command, "-o", "model.json", "--executors", executors, "--cores", cores)
    assert sha256(podere) == sha256(podere, "alone.json")


@pytest.mark.parametrize("l2", [0, 7.5])
def test_coefficients_are_those_of_scikit_learn(podere, l2):
    x, y, w = write_rows(podere)
    facts = json.loads(podere.done("train", "linear", "d.csv", "--label", "y", "--weight", "w", "--l2", str(l2),
                                   "-o", "m.json", "--json").stdout)
    theirs = (Ridge(l2, tol=1e-12) if l2 else LinearRegression()).fit(x, y, sample_weight=w)
    found = model(podere)
    np.testing.assert_allclose(found["coefficients"], theirs.coef_, rtol=1e-6)
    assert found["intercept"] == pytest.approx(theirs.intercept_, rel=1e-6) and facts["rank"] == 3
    assert facts["r2"] == pytest.approx(theirs.score(x, y, sample_weight=w), rel=1e-9)
    assert facts["largest_cosine"] < 1e-12
    podere.done("predict", "m.json", "d.csv", "-o", "p.csv")
    np.testing.assert_allclose(np.loadtxt(podere.folder / "p.csv"), theirs.predict(x), rtol=1e-5)
    measures = json.loads(podere.done("evaluate", "m.json", "d.csv", "--weight", "w", "--json").stdout)
    assert measures["root_mean_squared_error"] == pytest.approx(facts["root_mean_squared_error"], rel=1e-4)


def test_what_was_found_is_printed(podere):
    write_rows(podere)
    write_rows(podere, "v.csv", seed=2)
    out = podere.done("train", "linear", "d.csv", "--label", "y", "--drop", "w", "--validation", "v.csv", "-o", "m.json").stdout
    assert "RMSE" in out and "R²" in out and "validation RMSE" in out
    assert "(intercept)" in podere.done("model", "m.json").stdout


def test_features_that_hang_on_others_are_counted(podere):
    x, y, _ = write_rows(podere)
    lines = [f"{a!r},{b!r},{2 * a!r},7,{label!r}" for (a, b, _), label in zip(x, y)]
    podere.write("e.csv", "a,b,twice,same,y\n" + "\n".join(map(str, lines)) + "\n")
    done = podere.done("train", "linear", "e.csv", "-o", "m.json")
    assert "only 2 of 4 features are independent of each other" in done.stderr
    found = model(podere)["coefficients"]
    assert found[0] == pytest.approx(2 * found[2], rel=1e-6) and found[3] == 0


def test_a_label_is_not_guessed_by_its_place(podere):
    podere.write("houses.csv", "area,rooms,price\n50.5,2,100.5\n70.5,3,150.5\n90.5,4,200\n")
    assert ("no label is chosen, and the first column, 'area', would be what linear regression learns: choose one, such as "
            "--label price, or --label area to insist") in podere.refused("train", "linear", "houses.csv", "-o", "m.json")
    podere.done("train", "linear", "houses.csv", "--label", "price", "-o", "m.json")


@pytest.mark.parametrize("arguments, words", [
    (["--l2", "-1"], "--l2 is -1, allowed are finite numbers from 0"),
    (["--l2", "x"], "'x' is not a number"),
    (["--label", "text"], "the label 'text' has texts ('u', 'v'), and linear regression learns numbers: choose another with --label"),
    (["--label", "missing"], "row 1, column 'gap': the value is missing (NaN), and linear models need numbers"),
    (["--categorical", "text", "--label", "y"], "linear regression takes numbers"),
    (["--weight", "minus", "--drop", "gap,text", "--label", "y"], "its weight 'minus' is negative"),
])
def test_bad_input_is_named(podere, arguments, words):
    podere.write("b.csv", "gap,text,missing,minus,y\n1,u,1,1,2\n,v,2,-1,3\n3,u,4,1,5\n")
    if arguments == ["--label", "missing"]:
        arguments = [*arguments, "--drop", "text"]
    assert words in podere.refused("train", "linear", "b.csv", *arguments, "-o", "m.json")
    assert not (podere.folder / "m.json").exists()
