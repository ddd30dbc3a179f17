"""Tables that people learn with, in the layouts of the UCI repository and of scikit-learn's files: each just trains."""

import gzip
import json
import pathlib

import pytest
from sklearn import datasets

SHIPPED = pathlib.Path(datasets.__file__).parent / "data"
HIGGS = pathlib.Path(__file__).parents[2] / "data/higgs_15688.csv.gz"


def shipped(name):
    """The lines of a file of scikit-learn."""
    data = (SHIPPED / name).read_bytes()
    return (gzip.decompress(data) if name.endswith(".gz") else data).decode().splitlines()


def without_counts(name):
    """Without the first line, which has the numbers of rows and features."""
    return shipped(name)[1:]


def split_label(lines):
    return [line.rsplit(",", 1) for line in lines]


def diabetes():
    target = [f"{float(text):g}" for text in shipped("diabetes_target.csv.gz")]
    names = ["AGE", "SEX", "BMI", "BP", "S1", "S2", "S3", "S4", "S5", "S6", "Y"]
    rows = [line.split() + [label] for line, label in zip(shipped("diabetes_data_raw.csv.gz"), target, strict=True)]
    return ["\t".join(row) for row in [names, *rows]]


def linnerud():
    sides = zip(shipped("linnerud_exercise.csv"), shipped("linnerud_physiological.csv"), strict=True)
    return [f"{exercise} {body}" for exercise, body in sides]


KINDS = ("setosa", "versicolor", "virginica")
TABLES = {
    # name: (lines, options, rows, features, column of the label, objective, least accuracy or largest error)
    "iris.data": (lambda: [f"{x},Iris-{KINDS[int(y)]}" for x, y in split_label(without_counts("iris.csv"))] + [""],
                  [], 150, 4, "f4", "softmax", 0.95),
    "iris.csv": (lambda: without_counts("iris.csv"), [], 150, 4, "f4", "softmax", 0.95),
    "wine.data": (lambda: [f"{int(y) + 1},{x}" for x, y in split_label(without_counts("wine_data.csv"))],
                  ["--label", "0"], 178, 13, "f0", "softmax", 0.98),  # the last column may be the label as well
    "wine.csv": (lambda: without_counts("wine_data.csv"), [], 178, 13, "f13", "softmax", 0.98),
    "wdbc.data": (lambda: [f"{842302 + 7 * i},{'MB'[int(y)]},{x}" for i, (x, y) in
                           enumerate(split_label(without_counts("breast_cancer.csv")))],
                  ["--label", "1"], 569, 31, "f1", "logistic", 0.98),
    "breast_cancer.csv": (lambda: without_counts("breast_cancer.csv"), [], 569, 30, "f30", "logistic", 0.98),
    "digits.csv": (lambda: shipped("digits.csv.gz"), ["--label", "64"], 1797, 64, "f64", "softmax", 0.95),
    "diabetes.tab.txt": (diabetes, [], 442, 10, "Y", "squared-error", 50),
    "linnerud.txt": (linnerud, ["--label", "Weight"], 20, 5, "Weight", "squared-error", 25),
    "boston.csv": (lambda: without_counts("boston_house_prices.csv"), ["--label", "MEDV"], 506, 13, "MEDV", "squared-error", 4),
    "higgs.csv.gz": (lambda: gzip.decompress(HIGGS.read_bytes()).decode().splitlines(), [], 15688, 28, "label", "logistic", 0.7),
}


@pytest.mark.parametrize("name", TABLES)
def test_a_known_table_trains_with_no_option_but_the_label(podere, name):
    lines, options, n_rows, n_features, label, objective, measure = TABLES[name]
    text = "\n".join(lines()) + "\n"
    (podere.folder / name).write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    trained = json.loads(podere.done("train", "gbt", name, *options, "--trees", 30, "-o", "m.json", "--json").stdout)
    assert (trained["rows"], trained["features"]) == (n_rows, n_features)
    assert (trained["label"]["column"], trained["objective"]) == (label, objective)
    measured = json.loads(podere.done("evaluate", "m.json", name, *options, "--json").stdout)
    assert measured["accuracy"] > measure if measure < 1 else measured["root_mean_squared_error"] < measure


@pytest.mark.parametrize("name", ["iris.csv", "wine_data.csv", "breast_cancer.csv", "boston_house_prices.csv"])
def test_the_line_of_counts_in_files_of_scikit_learn_is_refused(podere, name):
    podere.write(name, "\n".join(shipped(name)) + "\n")
    line = podere.refused("train", "gbt", name, "-o", "m.json")
    assert line == f"podere: {name}:1: the line counts rows and features, as in files of scikit-learn: leave out what is above the table with --skip 1"
    podere.done("describe", name, "--skip", 1)
