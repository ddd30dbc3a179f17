"""Which column is learned: chosen, or guessed and reported, or refused."""

import json
import random

import pytest

KINDS = {"gbt": ["--trees", 2], "nn": ["--epochs", 1, "--layers", 2], "mlp": ["--iterations", 2, "--layers", 2]}


def table(podere, header, label_of, name="rows.csv", n=60):
    """Rows of three columns, the second of which is `label_of(row)`; the others are real numbers."""
    draw = random.Random(1)
    rows = [f"{draw.uniform(3, 15):.2f},{label_of(i)},{draw.gauss(0, 1):.3f}" for i in range(n)]
    return podere.write(name, "\n".join([header, *rows]) + "\n")


def train(podere, kind, data, *options):
    out = podere.done("train", kind, data, *KINDS[kind], *options, "-o", "m.json", "--json").stdout
    return json.loads(out)["label"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_column_with_a_usual_name_is_the_label_and_the_first_line_says_so(podere, kind):
    data = table(podere, "acidity,Target,sugar", lambda i: i % 2)
    printed = podere.done("train", kind, data, *KINDS[kind], "--header", "-o", "m.json").stdout.splitlines()
    assert printed[0].split(maxsplit=1) == ["label", "Target (column 1, by its name): 2 classes, 0, 1"]
    said = {"column": "Target", "position": 1, "kind": "classes" if kind == "mlp" else "two classes", "classes": [0, 1],
            "chosen": "name"}
    assert train(podere, kind, data) == said
    assert json.loads(podere.done("model", "m.json", "--json").stdout)["label"] == "Target"
    assert train(podere, kind, data, "--label", 1) == {**said, "chosen": "option"}
    assert train(podere, kind, data, "--executors", 2) == said


def test_what_a_label_holds_is_reported(podere, events):
    data = table(podere, "a,class,b", lambda i: i % 3)
    assert train(podere, "gbt", data, "--objective", "softmax")["classes"] == [0, 1, 2]
    numbers = train(podere, "gbt", data, "--label", "b", "--objective", "squared-error")
    assert numbers["kind"] == "numbers" and numbers["min"] < -1 and numbers["max"] > 1 and "classes" not in numbers
    assert train(podere, "gbt", data, "--objective", "poisson")["kind"] == "counts"
    assert train(podere, "gbt", "collider:2000") == {"column": "label", "position": None, "kind": "two classes",
                                                     "classes": [0, 1], "chosen": "format"}
    assert train(podere, "gbt", events)["chosen"] == "name"
    assert train(podere, "gbt", events, "--low-memory")["chosen"] == "name"
    (podere.folder / "m.json").rename(podere.folder / "old.json")
    assert train(podere, "gbt", events, "--from", "old.json")["chosen"] == "model"
    bare = podere.write("bare.csv", "".join(f"{i % 2},{i * 0.5}\n" for i in range(40)))
    assert train(podere, "gbt", bare)["chosen"] == "first"
    assert train(podere, "gbt", bare, "--low-memory")["chosen"] == "first"


def test_a_first_column_that_is_no_label_is_refused_with_what_would_do(podere):
    data = table(podere, "fixed_acidity,sugar,quality", lambda i: i % 7)
    for kind, option in (("gbt", "--objective"), ("nn", "--loss")):
        line = podere.refused("train", kind, data, "-o", "m.json")
        assert ("no label is chosen, and the first column, 'fixed_acidity', holds real numbers from" in line
                and f"choose one, such as --label quality, or --label fixed_acidity {option} squared-error to predict" in line), line
    assert train(podere, "gbt", data, "--objective", "squared-error")["chosen"] == "first", "numbers are what it wants"

    rows = "".join(f"{i},{i % 2},{i * 0.37}\n" for i in range(40))
    ids = podere.write("ids.csv", "id,signal,pt\n" + rows)
    line = podere.refused("train", "gbt", ids, "-o", "m.json", "--objective", "softmax", "--executors", 2)
    assert "'id', holds whole numbers that are all different" in line and "or --label id to insist" in line
    assert train(podere, "gbt", ids, "--objective", "softmax", "--label", "id")["column"] == "id"
    line = podere.refused("train", "gbt", ids, "-o", "m.json", "--low-memory")
    assert "--label id --objective squared-error to predict its numbers" in line

    ages = podere.write("ages.csv", "age,income\n" + "".join(f"{18 + i % 60},{i % 2}\n" for i in range(200)))
    line = podere.refused("train", "gbt", ages, "-o", "m.json")
    assert "'age', holds whole numbers from 18 to 77, which --objective logistic does not learn: choose one, such as --label income" in line


def test_a_first_column_of_other_classes_is_the_label_unless_the_last_may_be(podere):
    signs = podere.write("signs.csv", "sign,x\n" + "".join(f"{1 - 2 * (i % 2)},{i}\n" for i in range(30)))
    assert train(podere, "gbt", signs)["classes"] == ["-1", "1"]
    few = podere.write("few.csv", "kind,x\n" + "".join(f"{i % 4},{i}\n" for i in range(30)))
    line = podere.refused("train", "gbt", few, "-o", "m.json")
    assert "allowed is 0 or 1" in line and "choose another with --label, such as --label x" in line
    real = podere.write("real.csv", "kind,x\n" + "".join(f"{i % 4},{i + 0.5}\n" for i in range(30)))
    assert train(podere, "gbt", real)["classes"] == [0, 1, 2, 3]
    tiny = podere.write("tiny.csv", "kind,x\n0,1\n1,2\n2,3\n")
    assert train(podere, "gbt", tiny, "--objective", "softmax")["classes"] == [0, 1, 2]


def test_a_refusal_of_a_guessed_label_says_that_it_was_guessed(podere):
    wine = podere.write("wine.csv", "quality,x\n" + "".join(f"{5 + i % 3},{i * 0.5}\n" for i in range(60)))
    guess = "no label is chosen, so the first column, 'quality', is used: choose another with --label"
    for kind, objective in (("gbt", "logistic"), ("mlp", "binary-cross-entropy")):
        options = ["--objective" if kind == "gbt" else "--loss", objective]
        line = podere.refused("train", kind, wine, *options, "-o", "m.json", "--executors", 2)
        assert line.endswith(guess) and "is 5, allowed is 0 or 1" in line, line
        assert "no label is chosen" not in podere.refused("train", kind, wine, *options, "-o", "m.json", "--label", "quality")
    named = podere.write("named.csv", "x,class\n" + "".join(f"{i * 0.5},{5 + i % 3}\n" for i in range(60)))
    line = podere.refused("train", "gbt", named, "--objective", "logistic", "-o", "m.json")
    assert "so the column called 'class' is used" in line
    assert train(podere, "gbt", named)["classes"] == train(podere, "gbt", wine)["classes"] == ["5", "6", "7"]
    assert train(podere, "gbt", wine, "--objective", "softmax", "--classes", 8)["classes"] == [5, 6, 7]


def test_two_columns_that_may_be_the_label_are_refused(podere):
    data = table(podere, "a,y,target", lambda i: i % 2)
    assert "the label may be 'y' or 'target': choose one with --label" in podere.refused("train", "gbt", data, "-o", "m.json")


def test_evaluate_reports_what_it_compared_with(podere):
    data = table(podere, "a,class,b", lambda i: i % 2)
    train(podere, "gbt", data)
    printed = podere.done("evaluate", "m.json", data).stdout.splitlines()
    assert ["label", "class (column 1, as in the model): 2 classes, 0, 1"] in [line.split(maxsplit=1) for line in printed]
    bare = podere.write("bare.csv", "".join(f"{i % 2},{i * 0.5},{i}\n" for i in range(40)))
    label = json.loads(podere.done("evaluate", "m.json", bare, "--json").stdout)["label"]
    assert (label["position"], label["chosen"]) == (0, "first"), "a file without names has no class"
