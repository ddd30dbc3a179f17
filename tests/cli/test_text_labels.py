"""Labels that are texts: learned, kept in the model, printed, and refused where they do not fit."""

import csv
import json
import random

import pytest
from sklearn import datasets

from test_session import session  # noqa: F401, a fixture


def flowers(podere, name="flowers.csv", n=150, header="petal,sepal,species", kinds=("setosa", "versicolor", "virginica")):
    draw = random.Random(3)
    rows = []
    for i in range(n):
        k = i % len(kinds)
        rows.append(f"{draw.gauss(2 * k, 0.4):.3f},{draw.gauss(-k, 0.4):.3f},{kinds[k]}")
    return podere.write(name, "\n".join(([header] if header else []) + rows) + "\n")


def run(podere, *arguments):
    return json.loads(podere.done(*arguments, "--json").stdout)


TRAIN = {"gbt": ["gbt", "--trees", 5], "nn": ["nn", "--layers", 8, "--epochs", 200, "--learning-rate", 0.01], "centroid": ["centroid"]}


@pytest.mark.parametrize("kind", TRAIN)
def test_classes_of_texts_are_learned_kept_and_printed(podere, kind):
    data = flowers(podere)
    facts = run(podere, "train", *TRAIN[kind], data, "-o", "m.json")
    assert facts["label"] == {"column": "species", "position": 2, "kind": "classes",
                              "classes": ["setosa", "versicolor", "virginica"], "chosen": "last"}
    assert run(podere, "model", "m.json")["classes"] == ["setosa", "versicolor", "virginica"]
    measured = podere.done("evaluate", "m.json", data).stdout
    assert "species (column 2, as in the model): 3 classes, 'setosa', 'versicolor', 'virginica'" in measured
    assert "true \\ predicted  setosa  versicolor  virginica" in measured
    assert run(podere, "evaluate", "m.json", data)["accuracy"] > 0.95

    said = podere.done("predict", "m.json", data, "-o", "p.csv").stdout
    assert "(probability of 'setosa', 'versicolor', 'virginica')" in said
    podere.done("predict", "m.json", data, "--as", "class", "-o", "c.csv")
    podere.done("predict", "m.json", data, "--as", "both", "-o", "b.csv")
    read = lambda name: (podere.folder / name).read_text().splitlines()
    probabilities, chosen, both = read("p.csv"), read("c.csv"), read("b.csv")
    assert [f"{c},{p}" for c, p in zip(chosen, probabilities)] == both
    for line, name in zip(probabilities, chosen):
        values = list(map(float, line.split(",")))
        assert ["setosa", "versicolor", "virginica"][values.index(max(values))] == name
    assert "c.csv\n" in podere.done("predict", "m.json", data, "--as", "class", "-o", "c.csv").stdout


def test_the_objective_follows_the_classes_unless_it_is_chosen(podere):
    three, two = flowers(podere), flowers(podere, "two.csv", kinds=("no", "yes"))
    printed = podere.done("train", "gbt", three, "--trees", 2, "-o", "m.json").stdout
    assert "objective" in printed and "softmax, as the label has 3 classes" in printed
    assert run(podere, "train", "gbt", two, "--trees", 2, "-o", "m.json")["objective"] == "logistic"
    assert run(podere, "train", "gbt", two, "--trees", 2, "--objective", "softmax", "-o", "m.json")["objective"] == "softmax"
    assert run(podere, "train", "nn", two, "--epochs", 1, "-o", "m.json")["objective"] == "binary-cross-entropy"
    line = podere.refused("train", "gbt", three, "--objective", "logistic", "-o", "m.json", "--executors", 2)
    assert ("the label 'species' has 3 classes ('setosa', 'versicolor', 'virginica'), and --objective logistic takes 2: "
            "for more use --objective softmax" in line), line
    line = podere.refused("train", "nn", three, "--loss", "squared-error", "-o", "m.json")
    assert "the label 'species' has texts ('setosa', 'versicolor', 'virginica'), and --loss squared-error learns numbers" in line
    line = podere.refused("train", "gbt", three, "--objective", "softmax", "--classes", 2, "-o", "m.json")
    assert "--objective softmax takes 2" in line
    one = flowers(podere, "one.csv", kinds=("only",))
    assert "all labels of 'species' are 'only'; two classes at least are needed" in podere.refused("train", "gbt", one, "-o", "m.json")


def test_of_two_classes_the_positive_one_is_printed_and_chosen(podere):
    data = flowers(podere, kinds=("signal", "background"))
    printed = podere.done("train", "gbt", data, "--trees", 3, "-o", "m.json").stdout.splitlines()[1]
    assert printed.endswith("2 classes, 'background', 'signal'; positive is 'signal'")
    podere.done("train", "gbt", data, "--trees", 3, "--positive", "background", "-o", "b.json")
    signal, background = (run(podere, "evaluate", model, data) for model in ("m.json", "b.json"))
    assert background["label"]["classes"] == ["signal", "background"]
    assert background["auc"] > 0.9 and signal["auc"] > 0.9
    assert background["confusion"] == [row[::-1] for row in signal["confusion"][::-1]]
    assert "(probability of 'background')" in podere.done("predict", "b.json", data, "-o", "p.csv").stdout
    line = podere.refused("train", "gbt", data, "--positive", "signals", "-o", "m.json")
    assert "the positive class 'signals' is to be one of two classes, and the label 'species' has 2: 'background', 'signal'" in line
    numbers = podere.write("numbers.csv", "y,x\n0,1\n1,2\n0,3\n1,4\n")
    line = podere.refused("train", "gbt", numbers, "--positive", "0", "-o", "m.json")
    assert "the labels of 'y' are numbers" in line and "--categorical y" in line, line


def test_a_label_that_the_model_does_not_know_is_named(podere):
    podere.done("train", "gbt", flowers(podere), "--trees", 2, "-o", "m.json")
    bad = podere.write("bad.csv", "petal,sepal,species\n1,2,setosa\n1,2,Setosa\n")
    line = podere.refused("evaluate", "m.json", bad, "--executors", 2)
    assert line.endswith("bad.csv:3: column 'species' (position 2): 'Setosa' is none of the model's classes: "
                         "'setosa', 'versicolor', 'virginica'"), line
    line = podere.refused("train", "gbt", "flowers.csv", "--validation", bad, "--early-stopping", 2, "-o", "m.json")
    assert "'Setosa' is none of the model's classes" in line
    of_numbers = podere.write("numbers.csv", "petal,sepal,species\n1,2,0\n")
    assert "'0' is none of the model's classes" in podere.refused("evaluate", "m.json", of_numbers)
    missing = podere.write("missing.csv", "petal,sepal,species\n1,2,setosa\n1,2,\n")
    line = podere.refused("evaluate", "m.json", missing)
    assert "missing.csv: the label 'species' is missing in 1 of 2 rows, first in row 1 (from 0): leave out such rows with --drop-unlabeled" in line


def test_the_model_is_the_same_on_any_number_of_executors(podere):
    data = flowers(podere, n=5000)
    models = set()
    for options in ([], ["--executors", 3], ["--low-memory"], ["--executors", 2, "--cores", 2]):
        podere.done("train", "gbt", data, "--trees", 3, *options, "-o", "m.json")
        models.add((podere.folder / "m.json").read_bytes())
    assert len(models) == 1


def test_a_model_is_continued_and_validated_on_texts_in_another_order(podere):
    data = flowers(podere)
    reversed_rows = (podere.folder / data).read_text().splitlines()
    other = podere.write("other.csv", "\n".join([reversed_rows[0], *reversed_rows[:0:-1]]) + "\n")
    facts = run(podere, "train", "gbt", data, "--validation", other, "--trees", 3, "-o", "m.json")
    assert facts["validation_loss"] == pytest.approx(facts["loss"])
    facts = run(podere, "train", "gbt", other, "--from", "m.json", "--trees", 2, "-o", "more.json")
    assert facts["trees"] == 5 and facts["label"]["classes"] == ["setosa", "versicolor", "virginica"]


def test_a_first_column_of_names_is_not_taken_for_the_label(podere):
    people = podere.write("people.csv", "name,age,town\n" + "".join(f"n{i},{i},t{i % 2}\n" for i in range(50)))
    line = podere.refused("train", "gbt", people, "--drop", "town", "-o", "m.json")
    assert ("no label is chosen, and the first column, 'name', holds 50 different values: choose another with --label, or "
            "--label name to insist" in line), line


def test_classes_are_numbers_by_default_and_have_names_in_predictions(podere):
    data = podere.write("n.csv", "y,x\n" + "".join(f"{i % 2},{i % 2}\n" for i in range(40)))
    podere.done("train", "gbt", data, "--trees", 20, "-o", "m.json")
    podere.done("predict", "m.json", data, "--as", "class", "-o", "c.csv")
    assert (podere.folder / "c.csv").read_text().split() == [str(i % 2) for i in range(40)]
    podere.done("train", "gbt", data, "--objective", "squared-error", "--trees", 2, "-o", "r.json")
    assert "predicts numbers, and no classes: leave --as out" in podere.refused("predict", "r.json", data, "--as", "class", "-o", "c.csv")
    assert "--as is for probabilities and classes, and not for --margin" in podere.refused(
        "predict", "m.json", data, "--as", "both", "--margin", "-o", "c.csv")


def test_names_that_need_quotes_have_them(podere):
    data = podere.write("q.csv", 'x,kind\n' + "".join(f'{i % 2},"a, ""b"" {i % 2}"\n' for i in range(40)))
    podere.done("train", "gbt", data, "--trees", 20, "-o", "m.json")
    podere.done("predict", "m.json", data, "--as", "class", "-o", "c.csv")
    assert (podere.folder / "c.csv").read_text().splitlines()[:2] == ['"a, ""b"" 0"', '"a, ""b"" 1"']


def test_exports_say_which_number_is_which_class(podere):
    podere.done("train", "gbt", flowers(podere), "--trees", 2, "-o", "m.json")
    printed = podere.done("convert", "m.json", "--to", "onnx", "-o", "m.onnx").stdout
    assert "Classes: 0 = 'setosa', 1 = 'versicolor', 2 = 'virginica'; the file that was written has their numbers alone." in printed


def qualities(podere, name="quality.csv", label=lambda i: 3 + i % 6, n=120):
    return podere.write(name, "acid,sugar,quality\n" + "".join(f"{i % 6 + 0.5},{i % 5},{label(i)}\n" for i in range(n)))


def test_whole_numbers_are_classes_and_others_are_numbers(podere):
    wine = qualities(podere)
    facts = run(podere, "train", "gbt", wine, "--trees", 5, "-o", "m.json")
    assert facts["label"] == {"column": "quality", "position": 2, "kind": "classes", "chosen": "last",
                              "classes": ["3", "4", "5", "6", "7", "8"]}
    assert facts["objective"] == "softmax" and facts["objective_is_guess"]
    models = {(podere.folder / "m.json").read_bytes()}
    for options in (["--low-memory"], ["--executors", 3], ["--executors", 2, "--low-memory"]):
        podere.done("train", "gbt", wine, "--trees", 5, *options, "-o", "m.json")
        models.add((podere.folder / "m.json").read_bytes())
    assert len(models) == 1
    as_reals = qualities(podere, "reals.csv", lambda i: f"{3 + i % 6}.0")
    assert run(podere, "evaluate", "m.json", as_reals)["confusion"] == run(podere, "evaluate", "m.json", wine)["confusion"]
    podere.done("predict", "m.json", wine, "--as", "class", "-o", "p.csv")
    assert set((podere.folder / "p.csv").read_text().split()) <= set("345678")

    assert run(podere, "train", "nn", wine, "--epochs", 1, "-o", "n.json")["objective"] == "cross-entropy"
    numbers = run(podere, "train", "gbt", wine, "--objective", "squared-error", "--trees", 2, "-o", "r.json")
    assert numbers["label"]["kind"] == "numbers" and not numbers["objective_is_guess"]
    prices = qualities(podere, "prices.csv", lambda i: i * 1.5)
    printed = podere.done("train", "gbt", prices, "--label", "quality", "--trees", 2, "-o", "r.json").stdout
    assert "squared-error, as the label holds numbers" in printed
    assert run(podere, "train", "nn", prices, "--label", "quality", "--epochs", 1, "-o", "r.json")["objective"] == "squared-error"
    many = qualities(podere, "many.csv", lambda i: i % 40)
    assert run(podere, "train", "gbt", many, "--label", "quality", "--trees", 1, "-o", "r.json")["objective"] == "squared-error"
    assert "no label is chosen, and the last column, 'quality', holds whole numbers from 0 to 39" in podere.refused(
        "train", "gbt", many, "-o", "r.json")


@pytest.mark.parametrize("label", ["2", "0.5", "-7"])
def test_a_label_of_one_row_is_taken_for_a_mistake(podere, label):
    data = qualities(podere, label=lambda i: label if i == 70 else i % 2)
    for executors in (1, 3):
        line = podere.refused("train", "gbt", data, "--label", "quality", "-o", "m.json", "--executors", executors)
        assert f"label of row 70 is {label}, allowed is 0 or 1" in line, line


@pytest.mark.parametrize("values, objective, kind", [
    ([1, 2, 3, 4] * 10 + [6, 8], "softmax", "classes"), ([0.5, 1.5, 2.5] * 10 + [9.5], "squared-error", "numbers"),
    ([0, 1, 2] * 20 + [7], "softmax", "classes"), ([0, 0, 0, 2, 3], "softmax", "classes"),
    (list(range(17)) + [3, 4, 5], "squared-error", "numbers")])
def test_rare_values_beside_more_than_two_others_are_no_mistake(podere, values, objective, kind):
    data = qualities(podere, label=lambda i: values[i], n=len(values))
    facts = run(podere, "train", "gbt", data, "--label", "quality", "--trees", 2, "-o", "m.json")
    assert (facts["objective"], facts["label"]["kind"]) == (objective, kind)


@pytest.mark.parametrize("label", [lambda i: i * 1.5, lambda i: i % 7, lambda i: i])
def test_the_first_row_without_a_label_is_named_whatever_the_others_are(podere, label):
    data = qualities(podere, label=lambda i: "" if i in (70, 80) else label(i))
    for executors in (1, 3):
        line = podere.refused("train", "gbt", data, "--label", "quality", "-o", "m.json", "--executors", executors)
        assert "the label 'quality' is missing in 2 of " in line and "first in row 70 (from 0): leave out such rows with --drop-unlabeled" in line, line


def test_a_label_that_two_columns_may_be_is_refused(podere):
    data = podere.write("p.csv", "pregnancies,mass,outcome\n" + "".join(f"{i % 5},{i + 0.5},{i % 2}\n" for i in range(90)))
    line = podere.refused("train", "gbt", data, "-o", "m.json")
    assert "so the first column, 'pregnancies', is used: choose another with --label, such as --label outcome" in line
    podere.done("train", "gbt", data, "--label", "outcome", "--trees", 1, "-o", "m.json")


def test_a_column_of_categories_is_not_guessed_as_label(podere):
    data = podere.write("c.csv", "hit,x,town\n" + "".join(f"{i % 2},{i},t{i % 3}\n" for i in range(60)))
    facts = run(podere, "train", "gbt", data, "--categorical", "town", "--trees", 1, "-o", "m.json")
    assert facts["label"]["column"] == "hit" and facts["features"] == 2


def test_a_table_of_a_session_has_its_own_labels_again(podere, session):  # noqa: F811
    session.start("s", "--executors", 2, "--cores", 1)
    data = qualities(podere, label=lambda i: 1 + i % 2)
    session("load", "s", data, "--as", "t", "--label", "quality")
    options = ["table:t", "--session", "s", "--json"]
    facts = json.loads(session.run("train", "gbt", *options, "--trees", 3, "-o", "m.json").stdout)
    assert facts["label"]["classes"] == ["1", "2"] and facts["objective"] == "logistic"
    measures = json.loads(session.run("evaluate", "m.json", *options).stdout)
    assert measures["accuracy"] == run(podere, "evaluate", "m.json", data)["accuracy"]
    facts = json.loads(session.run("train", "gbt", *options, "--objective", "squared-error", "-o", "r.json").stdout)
    assert (facts["label"]["min"], facts["label"]["max"]) == (1, 2)
    session("load", "s", flowers(podere), "--as", "f", "--label", "species")
    line = session.refused("evaluate", "m.json", "table:f", "--session", "s")
    assert "none of the model's" in line or "lacks columns" in line, line


TABLES = {"iris": ("softmax", 0.95), "wine": ("softmax", 0.99), "breast_cancer": ("logistic", 0.99), "digits": ("softmax", 0.95),
          "diabetes": ("squared-error", None)}


@pytest.mark.parametrize("name", TABLES)
def test_tables_that_others_ship_train_with_no_option(podere, name):
    data = getattr(datasets, f"load_{name}")(as_frame=True)
    objective, least = TABLES[name]
    data.frame.to_csv(podere.folder / "numbers.csv", index=False)
    files = ["numbers.csv"]
    if least is not None:
        names = [f"is {text}" for text in data.target_names]
        data.frame.assign(target=[names[k] for k in data.target]).rename(columns={"target": "what"}).to_csv(
            podere.folder / "texts.csv", index=False)
        data.data.assign(z=data.target).rename(columns={"z": "kind"}).to_csv(podere.folder / "last.csv", index=False)
        files += ["texts.csv"] + ["last.csv"] * (name != "digits")  # whose first column may be the label as well
    for file in files:
        facts = run(podere, "train", "gbt", file, "--trees", 30, "-o", "m.json")
        assert facts["objective"] == objective and facts["label"]["column"] in ("target", "what", "kind")
        measures = run(podere, "evaluate", "m.json", file)
        assert measures["accuracy"] > least if least else measures["root_mean_squared_error"] < 40
        podere.done("predict", "m.json", file, *([] if least is None else ["--as", "class"]), "-o", "p.csv")
        if least is not None:
            wanted = names if file == "texts.csv" else [str(k) for k in range(len(names))]
            predicted = [row[0] for row in csv.reader((podere.folder / "p.csv").open())]
            right = sum(wanted[k] == text for k, text in zip(data.target, predicted, strict=True))
            assert right / len(predicted) == pytest.approx(measures["accuracy"])
        podere.done("train", "nn", file, "--epochs", 2, "-o", "n.json")


def test_a_guessed_label_of_one_value_is_refused_as_a_guess(podere):
    data = podere.write("digits.csv", "a,b,c\n" + "".join(f"0,{i % 7},{i % 10}\n" for i in range(100)))
    line = podere.refused("train", "gbt", data, "-o", "m.json")
    assert "no label is chosen, and the first column, 'a', holds 0 in all rows" in line and "such as --label c" in line
