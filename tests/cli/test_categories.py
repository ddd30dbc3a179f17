"""Columns of texts: from reading to predicting."""

import csv
import json

import numpy
import pytest

from test_results import auc

TOWNS = 200


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """12,000 rows whose label is known by towns, of which some are rare, by a kind, and by a number. A town's name says
    nothing by its place in the alphabet, and has what CSV must quote."""
    rng = numpy.random.default_rng(4)
    n = 12000
    town = (TOWNS * rng.uniform(size=n) ** 2).astype(int)
    kind = rng.integers(0, 4, n)
    x = rng.normal(size=n)
    score = rng.normal(0, 1.2, TOWNS)[town] + numpy.array([0.7, -0.7, 0.7, -0.7])[kind] * x + 0.3 * x
    label = (rng.uniform(size=n) < 1 / (1 + numpy.exp(-score))).astype(int)
    names = [f'{"Süd" if t % 3 else "Nord"}-"{t * 7919 % 1000}", {t}' for t in range(TOWNS)]
    path = tmp_path_factory.mktemp("categories") / "towns.csv"
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["label", "town", "kind", "x"])
        for i in range(n):
            writer.writerow([label[i], "" if i % 50 == 7 else names[town[i]], "abcd"[kind[i]], f"{x[i]:.6g}"])
    numpy.savez(path.with_suffix(".npz"), label=label, town=numpy.where(numpy.arange(n) % 50 == 7, numpy.nan, town),
                kind=kind, x=x)
    return path


def train(podere, table, *more):
    podere.done("train", "gbt", table, "--categorical", "town,kind", "--rows", ":8000", "--trees", 60, "--depth", 5, *more,
                "-o", "model.json")
    facts = json.loads(podere.done("evaluate", "model.json", table, "--rows", "8000:", "--json").stdout)
    assert facts["unknown_categories"] == {}
    return facts["auc"]


def test_texts_are_worth_what_they_are_worth_to_xgboost(podere, table):
    xgboost = pytest.importorskip("xgboost")
    data = numpy.load(table.with_suffix(".npz"))
    rows = numpy.c_[data["town"], data["kind"], data["x"]].astype(numpy.float32)
    def matrix(part):
        return xgboost.DMatrix(rows[part], data["label"][part], feature_types=["c", "c", "q"], enable_categorical=True)
    peer = xgboost.train({"objective": "binary:logistic", "tree_method": "hist", "max_depth": 5, "eta": 0.1, "nthread": 1},
                         matrix(slice(0, 8000)), 60)
    expected = auc(peer.predict(matrix(slice(8000, None))), data["label"][8000:])
    assert train(podere, table) > expected - 0.005
    assert expected > 0.75


def test_texts_say_more_as_categories_than_as_their_numbers(podere, table):
    data = numpy.load(table.with_suffix(".npz"))
    numpy.savetxt(podere.folder / "numbers.csv", numpy.c_[data["label"], data["town"] * 7919 % 1000, data["kind"], data["x"]],
                  delimiter=",", header="label,town,kind,x", comments="", fmt="%g")
    podere.done("train", "gbt", "numbers.csv", "--rows", ":8000", "--trees", 60, "--depth", 5, "-o", "numbers.json")
    facts = json.loads(podere.done("evaluate", "numbers.json", "numbers.csv", "--rows", "8000:", "--json").stdout)
    assert train(podere, table) > facts["auc"] + 0.005


def test_a_model_needs_no_option_to_read_its_texts(podere, table):
    train(podere, table)
    podere.done("predict", "model.json", table, "-o", "p.csv", "--executors", 2)
    assert len((podere.folder / "p.csv").read_text().splitlines()) == 12000


def test_columns_that_the_model_does_not_use_may_hold_anything(podere, table):
    podere.done("train", "gbt", table, "--columns", "kind,x", "--categorical", "kind", "--trees", 3, "-o", "model.json")
    podere.done("predict", "model.json", table, "-o", "all.csv")
    podere.done("predict", "model.json", table, "--columns", "kind,x", "-o", "chosen.csv")
    assert (podere.folder / "all.csv").read_bytes() == (podere.folder / "chosen.csv").read_bytes()
    podere.done("evaluate", "model.json", table)
    podere.done("explain", "model.json", table, "-o", "shap.csv", "--permutation", 1)
    podere.done("train", "gbt", table, "--from", "model.json", "--trees", 2, "-o", "more.json")


def test_texts_not_seen_in_training_are_missing_and_counted(podere, table):
    train(podere, table)
    podere.write("known.csv", 'town,kind,x\n"",a,1\n,b,1\n,,1\n')
    podere.write("unknown.csv", "town,kind,x\nAtlantis,a,1\nMu,b,1\nMu,z,1\n")
    known = podere.done("predict", "model.json", "known.csv", "-o", "known.txt")
    assert known.stderr == ""
    podere.done("explain", "model.json", "known.csv", "-o", "shap.csv")
    unknown = podere.done("predict", "model.json", "unknown.csv", "-o", "unknown.txt", "--json")
    assert unknown.stderr == ("podere: categories not seen in training count as missing: 1 of column 'kind', "
                              "3 of column 'town'\n")
    assert json.loads(unknown.stdout)["unknown_categories"] == {"kind": 1, "town": 3}
    assert (podere.folder / "known.txt").read_text() == (podere.folder / "unknown.txt").read_text()


def test_validation_data_have_the_categories_of_training(podere, table):
    podere.write("other.csv", "label,kind,town,x\n1,b,Atlantis,0\n0,a,Mu,1\n1,c,,0\n")
    done = podere.done("train", "gbt", table, "--categorical", "1,2", "--validation", "other.csv", "--trees", 3, "-o",
                       "model.json", "--json")
    assert json.loads(done.stdout)["unknown_categories"] == {"town": 2}
    assert done.stderr.count("\n") == 1


def test_columns_of_nothing_or_one_text_are_trained(podere):
    rows = "".join(f"{i % 2},,one,{'ab'[i % 2]}\n" for i in range(100))
    podere.write("flat.csv", "y,nothing,same,useful\n" + rows)
    podere.done("train", "gbt", "flat.csv", "--categorical", "nothing,same,useful", "--trees", 5, "-o", "model.json")
    facts = json.loads(podere.done("evaluate", "model.json", "flat.csv", "--json").stdout)
    assert facts["auc"] == 1
    podere.write("more.csv", "nothing,same,useful\nnow,one,a\n")
    done = podere.done("predict", "model.json", "more.csv", "-o", "p.csv", "--json")
    assert json.loads(done.stdout)["unknown_categories"] == {"nothing": 1}


@pytest.mark.parametrize("arguments, message", [
    (["--categorical", "x", "--weight", "x"], ":1: the categorical column 'x' is neither a feature nor the label"),
    (["--categorical", "village"], ":1: there is no categorical column 'village'; there are"),
    (["--categorical", "town", "--columns", "x"], ":1: the categorical column 'town' is neither a feature nor the label"),
    (["--categorical", "kind"], "column 'town' (position 1): "),
])
def test_what_cannot_be_a_category_is_refused(podere, table, arguments, message):
    assert message in podere.refused("train", "gbt", table, *arguments, "-o", "model.json")


def test_events_have_no_categories(podere):
    assert "categorical" in podere.refused("train", "gbt", "collider:1000", "--categorical", "m_bb", "-o", "model.json")


def test_a_model_with_categories_is_continued_on_its_own_texts(podere, table):
    rows = ["--rows", ":300", "--depth", 4]
    podere.done("train", "gbt", table, "--categorical", "town,kind", *rows, "--trees", 6, "-o", "whole.json")
    podere.done("train", "gbt", table, "--categorical", "town,kind", *rows, "--trees", 3, "-o", "half.json")
    assert "--from" in podere.refused("train", "gbt", table, "--from", "half.json", "--categorical", "town", "-o", "m.json")
    podere.done("train", "gbt", table, "--from", "half.json", *rows, "--trees", 3, "-o", "both.json")
    assert (podere.folder / "both.json").read_bytes() == (podere.folder / "whole.json").read_bytes()
    more = podere.done("train", "gbt", table, "--from", "half.json", "--trees", 3, "-o", "more.json", "--json")
    assert json.loads(more.stdout)["unknown_categories"]["town"] > 0  # not all are among the first 300 rows
