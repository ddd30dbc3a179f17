"""podere convert: what it writes is what other programs read, and what they predict is what Podere predicts."""

import json
import re
import pathlib

import numpy
import pytest

from conftest import needed

MODELS = pathlib.Path(__file__).parents[1] / "data/models"


def write_table(podere, objective, categorical):
    """Rows with missing values; the last column is a category."""
    rng = numpy.random.default_rng(7)
    x = rng.normal(size=(1500, 4)).astype("float32")
    x[:, 3] = rng.integers(0, 9, len(x))
    signal = x[:, 0] - x[:, 1] + (2 * (x[:, 3] % 3) if categorical else x[:, 3] / 4) + rng.normal(size=len(x))
    x[rng.random(x.shape) < 0.1] = numpy.nan
    y = {"logistic": signal > 1, "squared-error": 5 * signal + 100, "softmax": numpy.digitize(signal, [-1, 1, 2])}[objective]
    numpy.savetxt(podere.folder / "t.csv", numpy.c_[y, x], delimiter=",", fmt="%.9g", header="y,a,b,c,d", comments="")
    return x


def predictions(podere, *flags):
    podere.done("predict", "m.json", "t.csv", "-o", "p.csv", *flags)
    return numpy.loadtxt(podere.folder / "p.csv", delimiter=",")


@pytest.mark.parametrize("categorical", [False])
@pytest.mark.parametrize("objective", ["logistic", "squared-error", "softmax"])
def test_debians_xgboost_predicts_the_same_from_what_is_written(podere, objective, categorical):
    xgboost = needed("xgboost")
    x = write_table(podere, objective, categorical)
    flags = ["--categorical", "d"] if categorical else []
    podere.done("train", "gbt", "t.csv", "--objective", objective, "--trees", 20, "-o", "m.json", *flags)
    podere.done("convert", "m.json", "--to", "xgboost", "-o", "x.json")
    booster = xgboost.Booster(model_file=str(podere.folder / "x.json"))
    rows = xgboost.DMatrix(x, feature_names=list("abcd"), feature_types=["float"] * 3 + ["c" if categorical else "float"])
    assert numpy.allclose(booster.predict(rows, output_margin=True), predictions(podere, "--margin"), rtol=1e-6, atol=1e-6)
    assert numpy.allclose(booster.predict(rows), predictions(podere), rtol=1e-6, atol=1e-6)
    podere.done("convert", "x.json", "-o", "again.json")
    podere.done("predict", "again.json", "t.csv", "-o", "again.csv")
    assert (podere.folder / "again.csv").read_bytes() == (podere.folder / "p.csv").read_bytes()


def test_a_model_without_names_does_not_take_the_label_for_its_first_feature(podere):
    """Files without names begin with the label here, and names that are made up on both sides only seem to match."""
    xgboost = needed("xgboost")
    x = write_table(podere, "logistic", False)
    table = (podere.folder / "t.csv").read_text().split("\n", 1)[1]
    (podere.folder / "t.csv").write_text(table)
    y = numpy.loadtxt(podere.folder / "t.csv", delimiter=",", usecols=0)
    booster = xgboost.train({"objective": "binary:logistic", "max_depth": 4}, xgboost.DMatrix(x, y), 8)
    booster.save_model(podere.folder / "x.json")
    podere.done("convert", "x.json", "-o", "m.json")
    expected = booster.predict(xgboost.DMatrix(x))
    assert "the model has 4 features, the data 5" in podere.refused("predict", "m.json", "t.csv", "-o", "p.csv")
    for flags in (["--label", "0"], ["--columns", "1,2,3,4"]):
        assert numpy.allclose(predictions(podere, *flags), expected, rtol=1e-6, atol=1e-6)
    measured = json.loads(podere.done("evaluate", "m.json", "t.csv", "--json").stdout)
    assert measured["auc"] > 0.9


@pytest.mark.parametrize("objective", ["binary:logistic", "multi:softprob", "reg:squarederror"])
def test_what_debians_xgboost_trains_predicts_the_same_here(podere, objective):
    xgboost = needed("xgboost")
    x = write_table(podere, "softmax", True)
    y = numpy.loadtxt(podere.folder / "t.csv", delimiter=",", skiprows=1, usecols=0)
    rows = xgboost.DMatrix(x, y > 1 if objective.startswith("binary") else y, feature_names=list("abcd"),
                           feature_types=["float"] * 3 + ["c"])
    parameters = {"objective": objective, "max_depth": 4, "base_score": 0.3, "tree_method": "hist", "max_cat_to_onehot": 1}
    if objective.startswith("multi"):
        parameters["num_class"] = 4
    booster = xgboost.train(parameters, rows, 8)
    booster.save_model(podere.folder / "x.json")
    podere.done("convert", "x.json", "-o", "m.json")
    assert numpy.allclose(booster.predict(rows), predictions(podere), rtol=1e-6, atol=1e-6)


def test_onnx_is_a_graph_that_the_checker_of_onnx_takes(podere, model):
    onnx = needed("onnx")
    facts = json.loads(podere.done("convert", model, "--to", "onnx", "-o", "m.onnx", "--json").stdout)
    assert facts["to"] == "ONNX" and facts["trees"] == 10
    graph = onnx.load(podere.folder / "m.onnx")
    onnx.checker.check_model(graph, full_check=True)
    assert json.loads(graph.metadata_props[0].value)[:2] == ["lepton_pT", "lepton_eta"]


@pytest.mark.parametrize("loss, columns", [("binary-cross-entropy", 2), ("cross-entropy", 3), ("squared-error", 1)])
def test_onnx_of_a_network_is_a_graph_that_the_checker_of_onnx_takes(podere, loss, columns):
    onnx = needed("onnx")
    labels = {"binary-cross-entropy": 2, "cross-entropy": 3, "squared-error": 50}[loss]
    podere.write("t.csv", "y,a,b\n" + "".join(f"{i % labels},{i % 7 or ''},{i % 5}\n" for i in range(200)))
    podere.done("train", "nn", "t.csv", "--loss", loss, "--layers", "6,5", "--epochs", 1, "--impute", "-o", "n.json")
    facts = json.loads(podere.done("convert", "n.json", "--to", "onnx", "-o", "n.onnx", "--json").stdout)
    assert facts["to"] == "ONNX" and facts["objective"] == loss and facts["weights"] > 0 and facts["features"] == 2
    graph = onnx.load(podere.folder / "n.onnx")
    onnx.checker.check_model(graph, full_check=True)  # the shapes of all operators too
    assert json.loads(graph.metadata_props[0].value) == ["a", "b"]
    assert graph.graph.output[-1].type.tensor_type.shape.dim[1].dim_value == columns


def test_a_model_of_podere_stays_the_same(podere, model):
    podere.done("convert", model, "-o", "m.json")
    assert (podere.folder / "m.json").read_bytes() == model.read_bytes()


def test_lightgbms_text_is_found_out(podere):
    result = podere.done("convert", MODELS / "lightgbm/binary.model.txt", "-o", "m.json")
    assert result.stdout.startswith("LightGBM model as Podere: m.json\n") and re.search(r"trees +6\n", result.stdout)
    assert json.loads(podere.done("model", "m.json", "--json").stdout)["rounds"] == 6


@pytest.mark.parametrize("text, reason", [
    ("", "is no model of"),
    ("signal,pt\n1,2\n", "is no model of"),
    ('{"learner":', "not valid JSON"),
    ('{"a": 1}', "is no model of"),
    ("[" * 100000, "dump of trees"),
    ('{"a":' + "[" * 100000, "nested too deeply"),
    ("tree\nversion=v4\n", "not a whole model"),
    ('{"name":"tree","version":"v4"}', "save_model"),
    ("{L\x00\x00", "not valid UBJSON"),
    ("binf\x00", "not a whole model"),
    ("bs64\t0000", "base64"),
    ("CBM1\x00", "format='json'"),
])
def test_what_is_no_model_is_refused(podere, text, reason):
    podere.write("m.txt", text)
    assert reason in podere.refused("convert", "m.txt", "-o", "out.json")


@pytest.mark.parametrize("name", ["xgboost/gbtree_regression.model.json", "lightgbm/binary.model.txt"])
def test_a_model_that_is_to_be_converted_first_is_named(podere, events, name):
    program = "XGBoost" if name.startswith("xgboost") else "LightGBM"
    assert re.match(rf"format +{program}\nobjective ", podere.done("model", MODELS / name).stdout)
    assert json.loads(podere.done("model", MODELS / name, "--json").stdout)["format"] == program
    for command in (["predict", MODELS / name, events, "-o", "p.csv"],
                    ["train", "gbt", events, "--from", MODELS / name, "-o", "m.json"]):
        assert "podere convert" in podere.refused(*command)


def test_models_are_not_written_over_themselves_or_as_other_things(podere, model):
    assert "out.json" not in podere.listing()
    podere.write("m.json", model.read_text())
    podere.refused("convert", "m.json", "-o", "m.json")
    podere.refused("convert", "m.json", "--to", "catboost", "-o", "out")
    podere.refused("convert", "absent.json", "-o", "out")


def test_the_largest_thresholds_come_back(podere):
    """LightGBM's splits of missing values have the lowest float as their threshold."""
    lightgbm = pathlib.Path(__file__).parents[1] / "data/models/lightgbm/decisions.model.txt"
    podere.done("convert", lightgbm, "--to", "xgboost", "-o", "x.json")
    podere.done("convert", "x.json", "-o", "back.json")


OTHERS = MODELS / "others"


@pytest.mark.parametrize("name", sorted(path.stem for path in OTHERS.glob("*.csv")))
def test_models_of_many_versions_predict_what_their_library_predicts(podere, name):
    """With missing values, rows at thresholds and beside them, and extreme numbers."""
    model = next(path for path in OTHERS.glob(f"{name}.*") if path.suffix not in (".csv", ".expected"))
    done = podere.done("convert", model, "-o", "m.json")
    program = {"xgboost": "XGBoost", "lightgbm": "LightGBM", "catboost": "CatBoost"}[name.split("_")[0]]
    assert done.stdout.startswith(f"{program} model as Podere")
    podere.done("predict", "m.json", OTHERS / f"{name}.csv", "-o", "p.csv")
    expected = numpy.loadtxt(OTHERS / f"{name}.expected")
    assert numpy.ptp(expected) > 0.1
    assert numpy.allclose(numpy.loadtxt(podere.folder / "p.csv", delimiter=","), expected, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("to, suffix", [("lightgbm", "txt"), ("xgboost-ubjson", "ubj"), ("xgboost", "json")])
@pytest.mark.parametrize("objective", ["logistic", "squared-error", "softmax"])
def test_what_is_written_for_others_comes_back_with_the_same_predictions(podere, objective, to, suffix):
    write_table(podere, objective, True)
    podere.done("train", "gbt", "t.csv", "--objective", objective, "--trees", 8, "-o", "m.json", "--categorical", "d")
    expected = predictions(podere, "--margin")
    podere.done("convert", "m.json", "--to", to, "-o", f"x.{suffix}")
    podere.done("convert", f"x.{suffix}", "-o", "m.json")
    assert numpy.allclose(predictions(podere, "--margin"), expected, rtol=1e-6, atol=1e-6)


def test_one_versus_all_predicts_classes_and_probabilities_that_need_not_add_up(podere):
    text = (MODELS / "lightgbm/multiclass.model.txt").read_text()
    podere.write("m.txt", text.replace("objective=multiclass num_class:3", "objective=multiclassova num_class:3 sigmoid:1"))
    podere.done("convert", "m.txt", "-o", "m.json")
    rows = json.loads((MODELS / "lightgbm/multiclass.input.json").read_text())["features"]
    names = json.loads(podere.done("model", "m.json", "--json").stdout)["features"]
    x = numpy.array([[numpy.nan if value is None else value for value in row] for row in rows])
    labels = numpy.arange(len(x)) % 3
    header = ",".join(["y"] + sorted(feature["name"] for feature in names))
    numpy.savetxt(podere.folder / "t.csv", numpy.c_[labels, x], delimiter=",", fmt="%.9g", header=header, comments="")
    margins = predictions(podere, "--margin")
    shares = 1 / (1 + numpy.exp(-margins))
    assert numpy.allclose(predictions(podere), shares, atol=1e-6) and numpy.ptp(shares.sum(axis=1)) > 0.01
    assert (predictions(podere, "--as", "class") == shares.argmax(axis=1)).all()
    facts = json.loads(podere.done("evaluate", "m.json", "t.csv", "--json").stdout)
    assert facts["accuracy"] == (shares.argmax(axis=1) == labels).mean() and numpy.sum(facts["confusion"]) == len(labels)
    assert numpy.isclose(facts["log_loss"], -numpy.log(shares[numpy.arange(len(labels)), labels]).mean(), atol=1e-6)
    assert re.search(r"objective +one-versus-all\n", podere.done("model", "m.json").stdout)
    podere.done("explain", "m.json", "t.csv", "-o", "s.csv")
    assert "only models of other programs have" in podere.refused("train", "gbt", "t.csv", "--from", "m.json", "-o", "n.json")
    assert "allowed are logistic" in podere.refused("train", "gbt", "t.csv", "--objective", "probabilities", "-o", "n.json")
    podere.done("convert", "m.json", "--to", "onnx", "-o", "m.onnx")
    assert "XGBoost does not have" in podere.refused("convert", "m.json", "--to", "xgboost", "-o", "x.json")


def test_linear_trees_predict_what_lightgbm_predicts_and_training_continues_from_them(podere):
    converted = json.loads(podere.done("convert", MODELS / "lightgbm/linear.model.txt", "-o", "m.json", "--json").stdout)
    rows = json.loads((MODELS / "lightgbm/linear.input.json").read_text())["features"]
    expected = json.loads((MODELS / "lightgbm/linear.expected.json").read_text())["predictions"]
    lines = [",".join("" if value is None else repr(value) for value in row) for row in rows]
    podere.write("t.csv", "a,b,c,d\n" + "\n".join(lines) + "\n")
    assert numpy.allclose(predictions(podere), expected, rtol=1e-6)
    labels = [f"{number:.9g}" for number in expected]
    podere.write("labeled.csv", "y,a,b,c,d\n" + "\n".join(map(",".join, zip(labels, lines))) + "\n")
    assert json.loads(podere.done("evaluate", "m.json", "labeled.csv", "--json").stdout)["root_mean_squared_error"] < 1e-3
    facts = json.loads(podere.done("model", "m.json", "--json").stdout)
    assert facts["linear_leaves"] == converted["linear_leaves"] > 0
    assert re.search(r"linear leaves +\d+\n", podere.done("model", "m.json").stdout)
    podere.done("train", "gbt", "labeled.csv", "--label", "y", "--objective", "squared-error", "--from", "m.json",
                "--trees", 2, "--learning-rate", 1e-6, "-o", "more.json")
    podere.done("predict", "more.json", "t.csv", "-o", "more.csv")
    assert numpy.allclose(numpy.loadtxt(podere.folder / "more.csv"), expected, rtol=1e-4)
    podere.done("convert", "m.json", "--to", "lightgbm", "-o", "again.txt")
    podere.done("convert", "again.txt", "-o", "again.json")
    podere.done("predict", "again.json", "t.csv", "-o", "again.csv")
    assert numpy.allclose(numpy.loadtxt(podere.folder / "again.csv"), expected, rtol=1e-6)
    for to in ("xgboost", "xgboost-ubjson", "onnx"):
        assert "the model has linear trees, which" in podere.refused("convert", "m.json", "--to", to, "-o", "x")
    assert "has linear trees, for which there are no SHAP values; podere model" in \
        podere.refused("explain", "m.json", "t.csv", "-o", "s.csv")


def test_one_of_several_targets_is_converted(podere):
    model = json.loads((MODELS / "xgboost/gbtree_multiclass.model.json").read_text())
    model["learner"]["objective"] = {"name": "reg:squarederror"}
    model["learner"]["learner_model_param"].update(num_class="0", num_target="3", base_score="[1,2,3]")
    podere.write("x.json", json.dumps(model))
    for command in (["convert", "x.json", "-o", "m.json"], ["model", "x.json"]):
        assert "x.json: predicts 3 targets, Podere one: choose it with podere convert --target K, K from 0 to 2" in \
            podere.refused(*command)
    rows = json.loads((MODELS / "xgboost/gbtree_multiclass.input.json").read_text())["features"]
    table = "\n".join(",".join("" if value is None else repr(value) for value in row) for row in rows)
    podere.write("t.csv", ",".join(f"f{j}" for j in range(len(rows[0]))) + "\n" + table + "\n")
    podere.done("convert", MODELS / "xgboost/gbtree_multiclass.model.json", "-o", "classes.json")
    podere.done("predict", "classes.json", "t.csv", "--margin", "-o", "classes.csv")
    margins = numpy.loadtxt(podere.folder / "classes.csv", delimiter=",")
    for target in range(3):
        podere.done("convert", "x.json", "--target", target, "-o", "m.json")
        difference = predictions(podere) - margins[:, target]
        assert numpy.ptp(difference) < 1e-5
    assert "--target is 3: allowed is 0 to 2" in podere.refused("convert", "x.json", "--target", 3, "-o", "m.json")
    assert "--target" in podere.refused("convert", "x.json", "--target", "first", "-o", "m.json")
    assert "this has one" in podere.refused("convert", "classes.json", "--target", 0, "-o", "m.json")


PANDAS = MODELS / "pandas"


@pytest.mark.parametrize("name", sorted(path.stem for path in PANDAS.glob("*.csv")))
def test_models_of_data_frames_predict_on_their_csv_what_they_predict_on_the_frame(podere, name):
    """Each library, its newest and an older version; categories of texts, whole and negative numbers, reals, truth values;
    with missing values, and values that training did not see."""
    model = next(path for path in (PANDAS / f"{name}.json", PANDAS / f"{name}.txt") if path.exists())
    done = podere.done("convert", model, "-o", "m.json")
    has_codes = name.startswith("xgboost_old")
    assert ("does not name the categories of c, d" in done.stderr) == has_codes
    assert done.stderr.count("\n") == has_codes
    podere.done("predict", "m.json", PANDAS / f"{name}.csv", "-o", "p.csv")
    expected = numpy.loadtxt(PANDAS / f"{name}.expected")
    assert numpy.ptp(expected) > 0.1
    assert numpy.allclose(numpy.loadtxt(podere.folder / "p.csv"), expected, rtol=1e-6, atol=1e-6)


def test_numbers_that_are_categories_match_in_any_notation_and_texts_do_not(podere):
    """What XGBoost and LightGBM know as the number 3 is 3, 3.0 and 3e0 in a CSV file; the text "3" is 3 only."""
    podere.done("convert", PANDAS / "lightgbm_new_int.txt", "-o", "numbers.json")
    podere.done("convert", PANDAS / "lightgbm_new_text.txt", "-o", "texts.json")
    podere.write("t.csv", "x,c,d\n0,3,x\n0,3.0,x\n0,3e0,x\n0,,x\n")
    podere.write("wrong.csv", "x,c,d\n0,3,x\n0,True,x\n")
    def unknown(model, table):
        return json.loads(podere.done("predict", model, table, "-o", "p.csv", "--json").stdout)["unknown_categories"]
    assert unknown("numbers.json", "t.csv") == {}
    first, *same, missing = (podere.folder / "p.csv").read_text().split()
    assert same == [first, first] and missing
    assert unknown("numbers.json", "wrong.csv") == {"c": 1}
    assert unknown("texts.json", "t.csv") == {"c": 2}


@pytest.mark.parametrize("old, new, reason", [
    ('[["b"', '[["a"', "two categories that read 'a'"),
    ('[["b"', '[[["b"]', "list"),
    ('[["b", ', "[[", "has category"),
    ('pandas_categorical:[', 'pandas_categorical:[["k", "l"], ', "does not say"),
    ('pandas_categorical:[', 'pandas_categorical:[null, ', "list"),
    ('pandas_categorical:[', 'pandas_categorical:', "list"),
])
def test_categories_of_lightgbm_that_do_not_fit_are_refused(podere, old, new, reason):
    text = (PANDAS / "lightgbm_new_text.txt").read_text()
    assert text.count(old) == 1
    podere.write("m.txt", text.replace(old, new))
    assert reason in podere.refused("convert", "m.txt", "-o", "out.json")


@pytest.mark.parametrize("key, value", [("offsets", [0, 9999]), ("offsets", [5, 0]), ("offsets", ["0", 1]), ("offsets", [-1, 1]),
                                        ("values", [1000]), ("values", [-61]), ("values", {}), ("offsets", [0, 1])])
def test_categories_of_xgboost_that_do_not_fit_are_refused(podere, key, value):
    model = json.loads((PANDAS / "xgboost_new_text.json").read_text())
    model["learner"]["gradient_booster"]["model"]["cats"]["enc"][1][key] = value
    podere.write("x.json", json.dumps(model))
    podere.refused("convert", "x.json", "-o", "out.json")


def test_exports_carry_categories_and_print_their_order(podere):
    rows = "".join(f"{i % 2},{['red', 'white', 'east'][(i * 7) % 3 if i % 2 else i % 2]},{10 * (i % 3)}\n" for i in range(90))
    podere.write("t.csv", "y,c,k\n" + rows)
    podere.done("train", "gbt", "t.csv", "--label", "y", "--categorical", "c,k", "--trees", 5, "-o", "m.json")
    done = podere.done("convert", "m.json", "--to", "xgboost", "-o", "x.json")
    assert "Codes of 'c': 0 = 'east', 1 = 'red', 2 = 'white'" in done.stdout and "astype('category')" in done.stdout
    cats = json.loads((podere.folder / "x.json").read_text())["learner"]["gradient_booster"]["model"]["cats"]
    assert cats["enc"][1] == {"type": 15, "values": [0, 10, 20]}
    assert bytes(value % 256 for value in cats["enc"][0]["values"]).decode() == "eastredwhite"
    assert cats["enc"][0]["offsets"] == [0, 4, 7, 12] and cats["feature_segments"] == [0, 3, 6]
    assert cats["sorted_idx"] == [0, 1, 2, 0, 1, 2]
    facts = json.loads(podere.done("convert", "m.json", "--to", "onnx", "-o", "m.onnx", "--json").stdout)
    assert facts["categories"] == {"c": ["east", "red", "white"], "k": ["0", "10", "20"]}
    assert b'{"c":["east","red","white"],"k":["0","10","20"]}' in (podere.folder / "m.onnx").read_bytes()
    podere.done("convert", "x.json", "-o", "again.json")
    for model in ("m.json", "again.json"):
        podere.done("predict", model, "t.csv", "-o", f"{model}.csv")
    assert (podere.folder / "m.json.csv").read_bytes() == (podere.folder / "again.json.csv").read_bytes()
