"""podere train kernel-ridge: ridge regression with a Gaussian kernel, by random features."""
import json

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge

from test_loss import sha256

TRAIN = ["train", "kernel-ridge"]


def write_rows(podere, name="d.csv", n_rows=1500, seed=1):
    """A label that waves with the features, and weights."""
    random = np.random.default_rng(seed)
    x = random.uniform(-2, 2, size=(n_rows, 3)).astype(np.float32)
    y = (3 + np.sin(2 * x).sum(1) + 0.1 * random.normal(size=n_rows)).astype(np.float32)
    w = random.integers(0, 4, size=n_rows)
    lines = [",".join([repr(float(v)) for v in row] + [repr(float(label)), str(weight)])
             for row, label, weight in zip(x, y, w)]
    podere.write(name, "a,b,c,y,w\n" + "\n".join(lines) + "\n")
    return x.astype(float), y.astype(float), w


@pytest.mark.parametrize("solver", ["cholesky", "cg"])
@pytest.mark.parametrize("executors, cores", [(1, 3), (2, 1), (3, 1), (5, 3)])
def test_the_model_is_the_same_on_any_number_of_executors(podere, solver, executors, cores):
    command = [*TRAIN, "collider:6000", "--random-features", "75", "--standardize", "--solver", solver]
    podere.done(*command, "-o", "alone.json", "--cores", "1")
    podere.done(*command, "-o", "model.json", "--executors", executors, "--cores", cores)
    assert sha256(podere) == sha256(podere, "alone.json")


@pytest.mark.parametrize("solver", ["cholesky", "cg"])
def test_predictions_are_nearly_those_of_the_kernel(podere, solver):
    x, y, w = write_rows(podere)
    facts = json.loads(podere.done(*TRAIN, "d.csv", "--label", "y", "--weight", "w", "--gamma", "0.5", "--random-features",
                                   "3000", "--solver", solver, "--tolerance", "1e-6", "-o", "m.json", "--json").stdout)
    assert facts["solver"] == solver and facts["gamma"] == 0.5 and facts["random_features"] == 3000
    counts = w > 0
    theirs = KernelRidge(alpha=1, kernel="rbf", gamma=0.5).fit(x[counts], y[counts] - 3, sample_weight=w[counts])
    podere.done("predict", "m.json", "d.csv", "-o", "p.csv")
    ours = np.loadtxt(podere.folder / "p.csv")
    assert np.sqrt(np.mean((ours - theirs.predict(x) - 3) ** 2)) < 0.03 and facts["r2"] > 0.98
    measures = json.loads(podere.done("evaluate", "m.json", "d.csv", "--weight", "w", "--json").stdout)
    assert measures["root_mean_squared_error"] == pytest.approx(facts["root_mean_squared_error"], rel=1e-4)


def test_what_was_chosen_and_found_is_printed(podere):
    x, _, _ = write_rows(podere)
    write_rows(podere, "v.csv", seed=2)
    command = [*TRAIN, "d.csv", "--label", "y", "--drop", "w", "--random-features", "100", "--validation", "v.csv",
               "-o", "m.json"]
    out = podere.done(*command).stdout
    assert f"100, gamma {1 / (3 * x.var()):.6g}" in " ".join(out.split()) and "cholesky, 3 passes over the rows" in out
    assert "validation RMSE" in out and "R²" in out
    done = podere.done(*command, "--solver", "cg", "--tolerance", "1e-3")
    assert "yes, the gradient is" in done.stdout and "not converged" not in done.stderr
    done = podere.done(*command, "--solver", "cg", "--max-iterations", "2")
    assert "cg, 4 passes over the rows" in done.stdout and "no, the gradient is" in done.stdout
    assert "conjugate gradients have not converged after 2 iterations" in done.stderr
    described = json.loads(podere.done("model", "m.json", "--json").stdout)
    assert described["passes"] == 4 and len(described["random_coefficients"]) == 100
    assert "random features" in podere.done("model", "m.json").stdout


def test_small_units_are_warned_of(podere):
    podere.write("u.csv", "a,b,y\n" + "".join(f"{i},{i % 7 / 1000},{i % 5}\n" for i in range(200)))
    command = [*TRAIN, "u.csv", "--label", "y", "--random-features", "10", "-o", "m.json"]
    assert "--standardize makes them alike" in podere.done(*command).stderr
    assert "--standardize" not in podere.done(*command, "--standardize").stderr


@pytest.mark.parametrize("arguments, words", [
    (["--random-features", "0"], "--random-features is 0, allowed is 1 to 100000"),
    (["--random-features", "100001"], "--random-features is 100001, allowed is 1 to 100000"),
    (["--random-features", "20001", "--solver", "cholesky"], "--solver is cholesky, allowed with more than 20000 random "
                                                              "features is cg"),
    (["--solver", "qr"], "qr"),
    (["--gamma", "-1"], "--gamma is -1, allowed are finite numbers from 0"),
    (["--l2", "-1"], "--l2 is -1, allowed are finite numbers from 0"),
    (["--max-iterations", "0"], "--max-iterations is 0, allowed are finite numbers from 1"),
    (["--label", "text"], "kernel ridge regression learns numbers"),
    (["--label", "y", "--drop", "text"], "row 1, column 'gap': the value is missing (NaN), and kernel ridge needs numbers"),
    (["--categorical", "text", "--label", "y"], "kernel ridge regression takes numbers"),
])
def test_bad_input_is_named(podere, arguments, words):
    podere.write("b.csv", "gap,text,minus,y\n1,u,1,2\n,v,-1,3\n3,u,1,5\n")
    assert words in podere.refused(*TRAIN, "b.csv", *arguments, "-o", "m.json")
    assert not (podere.folder / "m.json").exists()


def test_rows_to_predict_need_numbers_too(podere):
    write_rows(podere)
    podere.done(*TRAIN, "d.csv", "--label", "y", "--drop", "w", "--random-features", "10", "-o", "m.json")
    podere.write("n.csv", "a,b,c\n1,2,3\n1,,3\n")
    assert "row 1, column 'b': the value is missing (NaN), and kernel ridge needs numbers" in podere.refused(
        "predict", "m.json", "n.csv", "-o", "p.csv")
