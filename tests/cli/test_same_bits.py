"""The model file is the same, bit for bit, on any number of executors and threads."""

import hashlib
import json

import numpy
import pytest

ROWS = 9000  # nine row blocks: eight executors share them unevenly


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """Three classes that two of six features separate; 8 % missing, a column of few values, one of
    texts, some negative weights."""
    rng = numpy.random.default_rng(11)
    classes = rng.integers(0, 3, ROWS)
    features = rng.normal(0, 1, (ROWS, 6))
    features[:, 0] += classes
    features[:, 1] -= 0.5 * classes
    features[:, 2] = rng.integers(0, 4, ROWS)
    features[rng.uniform(size=features.shape) < 0.08] = numpy.nan
    weights = rng.gamma(2, 0.5, ROWS) * numpy.where(rng.uniform(size=ROWS) < 0.05, -1, 1)
    target = classes * 1.5 + rng.normal(0, 0.3, ROWS)
    path = tmp_path_factory.mktemp("bits") / "table.csv"
    columns = numpy.c_[(classes > 0).astype(int), classes, target, weights, features]
    names = "binary,class,target,weight," + ",".join(f"x{j}" for j in range(6)) + ",town"
    # 300 towns: more than there are bins, most of them in a part of the rows only.
    towns = (260 * rng.uniform(size=ROWS) ** 2 * numpy.linspace(0.3, 1, ROWS)).astype(int) + 20 * classes
    with open(path, "w") as file:
        print(names, file=file)
        for row, town in zip(columns, towns):
            print(*(f"{value:.7g}" for value in row), f'"town, {town * 37 % 300}"', sep=",", file=file)
    return path


@pytest.mark.parametrize("objective, label", [("logistic", "binary"), ("softmax", "class"), ("squared-error", "target"),
                                              ("poisson", "class"), ("quantile", "target")])
def test_the_model_is_the_same_on_1_2_3_5_8_executors_and_1_3_threads(podere, table, objective, label):
    digests = {}
    for executors in (1, 2, 3, 5, 8):
        for cores in (1, 3):
            podere.done("train", "gbt", table, "-o", "model.json", "--objective", objective, "--label", label,
                        "--weight", "weight", "--columns", "x0,x1,x2,x3,x4,x5,town", "--categorical", "town",
                        "--trees", 12, "--depth", 5,
                        "--subsample", 0.7, "--column-subsample", 0.8, "--validation-fraction", 0.25,
                        "--early-stopping", 4, "--seed", 5, "--executors", executors, "--cores", cores)
            text = (podere.folder / "model.json").read_bytes()
            digests[executors, cores] = hashlib.sha256(text).hexdigest()
    assert len(set(digests.values())) == 1, digests
    assert len(text) > 5000


@pytest.mark.parametrize("executors", [1, 2, 3, 5])
def test_25_rounds_and_25_more_are_the_file_of_50(podere, table, executors):
    options = ["--weight", "weight", "--columns", "x0,x1,x2,x3,x4,x5", "--executors", executors, "--cores", 1]
    chosen = ["--label", "class", "--objective", "softmax", "--class-weight", "balanced", "--depth", 3,
              "--subsample", 0.7, "--seed", 5]
    podere.done("train", "gbt", table, "-o", "whole.json", "--trees", 50, *chosen, *options)
    podere.done("train", "gbt", table, "-o", "half.json", "--trees", 25, *chosen, *options)
    podere.done("train", "gbt", table, "-o", "both.json", "--trees", 25, "--from", "half.json", "--label", "class", *options)
    assert (podere.folder / "both.json").read_bytes() == (podere.folder / "whole.json").read_bytes()


@pytest.mark.parametrize("options", [
    ["--monotone", "x0:+1,x1:-1,2:1", "--interactions", "x0,x1,x3;x2,x3", "--depth", 6],
    ["--growth", "best-first", "--max-leaves", 24],
    ["--growth", "best-first", "--max-leaves", 24, "--depth", 8, "--monotone", "x0:+1", "--interactions", "0,1"],
])
def test_constraints_and_growth_do_not_depend_on_executors_or_threads(podere, table, options):
    texts = set()
    for executors in (1, 2, 3, 5):
        for cores in (1, 3):
            podere.done("train", "gbt", table, "-o", "model.json", "--label", "target", "--objective", "squared-error",
                        "--weight", "weight", "--columns", "x0,x1,x2,x3,x4,x5", "--trees", 6, "--subsample", 0.7,
                        *options, "--executors", executors, "--cores", cores)
            texts.add((podere.folder / "model.json").read_bytes())
    assert len(texts) == 1
    trained_with = json.loads(texts.pop())["model"]["options"]
    for option, value in zip(options[::2], options[1::2]):
        name = option.removeprefix("--").replace("-", "_")
        assert name == "growth" or trained_with[name] == value
    assert trained_with["best_first"] == ("best-first" in options)


def test_low_memory_gives_the_same_model(podere, table):
    texts = set()
    for executors in (1, 3):
        for held in ([], ["--low-memory"]):
            podere.done("train", "gbt", table, "-o", "model.json", "--label", "binary", "--weight", "weight",
                        "--columns", "x0,x1,x2,x3,x4,x5,town", "--categorical", "town", "--validation", table,
                        "--trees", 6, "--executors", executors, "--cores", 2, *held)
            texts.add((podere.folder / "model.json").read_bytes())
    assert len(texts) == 1


def test_low_memory_takes_less(podere):
    """A million events are 112 MB of features, and 60 MB of bins, beside what the program itself takes."""
    peaks, texts = [], set()
    for rows, held in (("100", []), ("1e6", []), ("1e6", ["--low-memory"])):
        facts = json.loads(podere.done("train", "gbt", f"collider:{rows}", "-o", "model.json", "--trees", 1, "--depth", 3,
                                       "--cores", 2, "--json", *held).stdout)
        peaks.append(facts["peak_memory_bytes"])
        if rows == "1e6":
            texts.add((podere.folder / "model.json").read_bytes())
    assert len(texts) == 1
    program, held, low = peaks
    assert low - program < 100e6 and held - program > 112e6


def test_another_seed_gives_another_model(podere, table):
    texts = set()
    for seed in (1, 2):
        podere.done("train", "gbt", table, "-o", "model.json", "--label", "binary", "--columns", "x0,x1", "--trees", 3,
                    "--subsample", 0.5, "--seed", seed)
        texts.add((podere.folder / "model.json").read_bytes())
    assert len(texts) == 2
