"""Options as XGBoost, LightGBM, scikit-learn and PyTorch call them."""

import pathlib

import pytest

DOCS = pathlib.Path(__file__).parents[2] / "docs/command-line.md"


def test_the_docs_have_the_table_of_the_program(podere):
    printed = podere.done("help", "names").stdout
    assert printed.count("\n") > 30 and printed in DOCS.read_text()


def test_options_by_other_names_train_the_same_model(podere):
    own = ["--trees", 3, "--depth", 3, "--learning-rate", 0.3, "--bins", 32, "--column-subsample", 0.5, "--lambda", 2]
    others = ["--n-estimators", 3, "--max_depth", 3, "--eta=0.3", "--max-bin", 32, "--colsample-bytree", 0.5, "--reg-lambda", 2,
              "--objective", "binary:logistic"]
    podere.done("train", "gbt", "collider:1000", *own, "-o", "own.json")
    podere.done("train", "gbt", "collider:1000", *others, "-o", "others.json")
    assert (podere.folder / "own.json").read_bytes() == (podere.folder / "others.json").read_bytes()
    podere.done("train", "nn", "collider:1000", "--hidden-layer-sizes", 4, "--optimizer", "adam", "--lr", 0.01, "--epochs", 1,
                "--no-standardize", "-o", "network.json")


@pytest.mark.parametrize("kind, own, others", [
    ("gbt", ["--trees", 2, "--subsample", 0.5, "--objective", "squared-error"],
     ["--num-iterations", 2, "--bagging-fraction", 0.5, "--objective", "reg:squarederror"]),
    ("gbt", ["--trees", 2, "--growth", "best-first", "--max-leaves", 5], ["--n-estimators", 2, "--num-leaves", 5]),
    ("gbt", ["--trees", 2, "--objective", "softmax"], ["--num-round", 2, "--objective=multi:softmax", "--num-class", 0]),
    ("nn", ["--epochs", 1, "--loss", "binary-cross-entropy"], ["--max-iter", 1, "--objective", "binary:logistic"]),
    ("nn", ["--epochs", 1, "--optimizer", "sgd", "--initialization", "he", "--no-standardize"],
     ["--epochs", 1, "--optimiser", "sgd", "--initialisation", "he", "--no-standardise"]),
    ("mlp", ["--iterations", 2, "--loss", "squared-error"], ["--max-iter", 2, "--loss", "reg:squarederror"]),
])
def test_losses_and_shares_by_other_names_train_the_same_model(podere, kind, own, others):
    podere.done("train", kind, "collider:1000", *own, "-o", "own.json")
    podere.done("train", kind, "collider:1000", *others, "-o", "others.json")
    assert (podere.folder / "own.json").read_bytes() == (podere.folder / "others.json").read_bytes()


@pytest.mark.parametrize("words, advice", [
    (["gbt", "x.csv", "--gamma", 1], "--min-gain"), (["gbt", "x.csv", "--n-jobs", 2], "--cores N"),
    (["mlp", "x.csv", "--alpha", 1], "not divided by the number of rows"), (["mlp", "x.csv", "--lr", 1], "L-BFGS"),
    (["gbt", "x.csv", "--lambda-l1", 1], "no L1 penalty"), (["gbt", "x.csv", "--min_child_samples", 5], "--min-child-weight"),
])
def test_an_option_that_means_something_else_gets_a_hint(podere, words, advice):
    assert advice in podere.refused("train", *words, "-o", "m.json")


def test_version_and_help_are_commands_too(podere):
    assert podere.done("version").stdout == podere.done("--version").stdout
    assert podere.done("help").stdout == podere.done("--help").stdout
    assert podere.done("help", "train", "gbt").stdout == podere.done("train", "gbt", "--help").stdout
