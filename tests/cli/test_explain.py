"""podere explain: SHAP values, permutation importance, their table and their picture."""

import csv
import json
import xml.etree.ElementTree

import numpy
import pytest

from test_results import auc


def read_table(path):
    """The names of the columns, and the numbers."""
    with open(path, newline="") as file:
        names = next(csv.reader(file))
    return names, numpy.loadtxt(path, delimiter=",", skiprows=1, ndmin=2)


def feature_named(facts, name):
    return next(feature for feature in facts["features"] if feature["name"] == name)


def test_the_values_of_a_row_sum_to_its_margin(podere, events, model):
    facts = json.loads(podere.done("explain", model, events, "--rows", "4000:", "-o", "shap.csv", "--json",
                                   "--executors", 2).stdout)
    podere.done("predict", model, events, "--rows", "4000:", "--margin", "-o", "m.csv")
    names, values = read_table(podere.folder / "shap.csv")
    assert names == events.read_text().split("\n", 1)[0].split(",")[1:] + ["bias"]
    assert values.shape == (2000, 29) and facts["rows"] == 2000
    assert numpy.abs(values.sum(axis=1) - numpy.loadtxt(podere.folder / "m.csv")).max() < 1e-6
    assert numpy.allclose(values[:, -1], facts["bias"], atol=1e-8)
    for j, name in enumerate(names[:-1]):
        mean = numpy.abs(values[:, j]).mean()
        assert feature_named(facts, name)["mean_abs_shap"] == pytest.approx(mean, abs=1e-8)
    sizes = [feature["mean_abs_shap"] for feature in facts["features"]]
    assert sizes == sorted(sizes, reverse=True) and sizes[0] > 0.01


@pytest.mark.parametrize("executors", [2, 3, 5])
def test_explanations_are_the_same_on_any_number_of_executors(podere, model, executors):
    texts = []
    for n in (1, executors):
        facts = json.loads(podere.done("explain", model, "collider:2500?seed=8", "-o", "shap.csv", "--permutation", 2,
                                       "--executors", n, "--cores", 2, "--plot", "bars.svg", "--json").stdout)
        texts.append([facts["features"], facts["baseline"], facts["bias"],
                      (podere.folder / "shap.csv").read_bytes(), (podere.folder / "bars.svg").read_bytes()])
    assert texts[0] == texts[1]


def xgboost_model(path):
    """The trees of a model file of ours as XGBoost's JSON."""
    model = json.loads(path.read_text())["model"]
    n_features, n_outputs = len(model["schema"]["features"]), len(model["base_margin"])

    def tree_of(number, tree):
        feature, n = tree["feature"], len(tree["feature"])
        is_leaf = [f < 0 for f in feature]
        left = [-1 if leaf else child for leaf, child in zip(is_leaf, tree["left"])]
        parents = [2147483647] * n
        for node, child in enumerate(left):
            if child >= 0:
                parents[child] = parents[child + 1] = node
        return {"id": number, "left_children": left, "right_children": [c + 1 if c >= 0 else -1 for c in left],
                "parents": parents, "split_indices": [max(f, 0) for f in feature], "split_type": [0] * n,
                "split_conditions": [v if leaf else t for leaf, v, t in zip(is_leaf, tree["value"], tree["threshold"])],
                "default_left": [int(missing) for missing in tree["missing_left"]], "sum_hessian": tree["cover"],
                "base_weights": tree["value"], "loss_changes": tree["gain"], "categories": [], "categories_nodes": [],
                "categories_segments": [], "categories_sizes": [],
                "tree_param": {"num_deleted": "0", "num_feature": str(n_features), "num_nodes": str(n),
                               "size_leaf_vector": "0"}}

    trees = [tree_of(number, tree) for number, tree in enumerate(model["trees"])]
    several = n_outputs > 1
    return model["base_margin"], {
        "version": [1, 7, 4],
        "learner": {
            "attributes": {}, "feature_names": [], "feature_types": [],
            "gradient_booster": {"name": "gbtree", "model": {
                "gbtree_model_param": {"num_parallel_tree": "1", "num_trees": str(len(trees)), "size_leaf_vector": "0"},
                "tree_info": [number % n_outputs for number in range(len(trees))], "trees": trees}},
            "learner_model_param": {"base_score": "0", "num_class": str(n_outputs if several else 0),
                                    "num_feature": str(n_features), "num_target": "1"},
            "objective": {"name": "multi:softprob", "softmax_multiclass_param": {"num_class": str(n_outputs)}}
            if several else {"name": "reg:squarederror", "reg_loss_param": {"scale_pos_weight": "1"}}}}


@pytest.mark.parametrize("objective, depth", [("logistic", 6), ("logistic", 10), ("softmax", 5)])
def test_values_are_those_of_xgboost_for_the_same_trees(podere, objective, depth):
    xgboost = pytest.importorskip("xgboost")
    rng = numpy.random.default_rng(2)
    x = rng.normal(0, 1, (1500, 12)).astype(numpy.float32)
    score = x[:, 0] + x[:, 1] * x[:, 2] - numpy.abs(x[:, 3])
    label = (score > 0).astype(int) if objective == "logistic" else numpy.digitize(score, [-1, 0.5])
    x[rng.uniform(size=x.shape) < 0.1] = numpy.nan
    numpy.savetxt(podere.folder / "data.csv", numpy.c_[label, x], delimiter=",", fmt="%.9g", comments="",
                  header=",".join(["y"] + [f"x{j}" for j in range(12)]))
    podere.done("train", "gbt", "data.csv", "-o", "model.json", "--objective", objective, "--trees", 20, "--depth", depth)
    podere.done("explain", "model.json", "data.csv", "--label", "y", "-o", "shap.csv")
    names, values = read_table(podere.folder / "shap.csv")
    base_margin, trees = xgboost_model(podere.folder / "model.json")
    booster = xgboost.Booster()
    booster.load_model(bytearray(json.dumps(trees).encode()))
    expected = booster.predict(xgboost.DMatrix(x), pred_contribs=True).reshape(len(x), len(base_margin), 13)
    expected[:, :, -1] += base_margin
    assert names[12].endswith("bias") and len(names) == 13 * len(base_margin)
    # XGBoost adds up in float32.
    assert numpy.abs(values.reshape(expected.shape) - expected).max() < 5e-6 * max(1, numpy.abs(expected).max())


def test_several_classes_have_a_block_each(podere):
    rng = numpy.random.default_rng(4)
    classes = rng.integers(0, 3, 600)
    table = numpy.c_[classes, rng.normal(classes[:, None], 0.7, (600, 2))]
    numpy.savetxt(podere.folder / "three.csv", table, delimiter=",", fmt="%.6g", header='class,"a,b",c', comments="")
    podere.done("train", "gbt", "three.csv", "-o", "m.json", "--objective", "softmax", "--trees", 5)
    facts = json.loads(podere.done("explain", "m.json", "three.csv", "-o", "shap.csv", "--permutation", 3, "--json",
                                   "--plot", "bars.svg").stdout)
    podere.done("predict", "m.json", "three.csv", "--margin", "-o", "margins.csv")
    names, values = read_table(podere.folder / "shap.csv")
    assert names == [f"class{k}:{name}" for k in range(3) for name in ("a,b", "c", "bias")]
    margins = numpy.loadtxt(podere.folder / "margins.csv", delimiter=",")
    assert numpy.abs(values.reshape(600, 3, 3).sum(axis=2) - margins).max() < 1e-6
    by_class = numpy.abs(values.reshape(600, 3, 3)).mean(axis=0)
    feature = feature_named(facts, "a,b")
    assert feature["mean_abs_shap_by_class"] == pytest.approx(by_class[:, 0], abs=1e-7)
    assert feature["mean_abs_shap"] == pytest.approx(by_class[:, 0].sum(), abs=1e-7)
    assert facts["measure"] == "log_loss" and feature["permutation_mean"] > 0.05


def test_permutation_importance_is_the_fall_of_the_auc(podere):
    rng = numpy.random.default_rng(5)
    x = rng.uniform(size=(4000, 3))
    label = (x[:, 0] + 0.2 * x[:, 1] > 0.6).astype(int)
    numpy.savetxt(podere.folder / "d.csv", numpy.c_[label, x], delimiter=",", fmt="%.6g", header="y,strong,weak,no",
                  comments="")
    podere.done("train", "gbt", "d.csv", "-o", "m.json", "--trees", 20, "--depth", 3)
    runs = [json.loads(podere.done("explain", "m.json", "d.csv", "--permutation", 5, "--seed", seed, "--json").stdout)
            for seed in (1, 1, 2)]
    facts = runs[0]
    strong, weak, no = (feature_named(facts, name) for name in ("strong", "weak", "no"))
    assert facts["measure"] == "auc" and facts["baseline"] > 0.98
    assert strong["permutation_mean"] > 0.3 > weak["permutation_mean"] > 0.01 > no["permutation_mean"] >= 0 - 0.01
    assert 0 < strong["permutation_std"] < 0.05
    assert runs[1]["features"] == facts["features"] != runs[2]["features"]
    # As a student would do it.
    falls = []
    table = numpy.loadtxt(podere.folder / "d.csv", delimiter=",", skiprows=1)
    for _ in range(3):
        table[:, 1] = rng.permutation(table[:, 1])
        numpy.savetxt(podere.folder / "s.csv", table, delimiter=",", fmt="%.6g", header="y,strong,weak,no", comments="")
        podere.done("predict", "m.json", "s.csv", "-o", "p.csv")
        falls.append(facts["baseline"] - auc(numpy.loadtxt(podere.folder / "p.csv"), table[:, 0]))
    assert strong["permutation_mean"] == pytest.approx(numpy.mean(falls), abs=0.03)


def test_weights_count_in_the_means(podere, model):
    podere.done("generate", "higgs", "--events", 300, "--seed", 9, "--header", "-o", "e.csv")
    lines = (podere.folder / "e.csv").read_text().splitlines()
    weights = numpy.arange(300) % 3
    podere.write("w.csv", "\n".join([lines[0] + ",w"] + [f"{line},{w}" for line, w in zip(lines[1:], weights)]) + "\n")
    facts = json.loads(podere.done("explain", model, "w.csv", "--weight", "w", "-o", "shap.csv", "--json").stdout)
    names, values = read_table(podere.folder / "shap.csv")
    for j, name in enumerate(names[:-1]):
        mean = numpy.average(numpy.abs(values[:, j]), weights=weights)
        assert feature_named(facts, name)["mean_abs_shap"] == pytest.approx(mean, abs=1e-8)


def test_columns_in_another_order_are_found_by_name(podere, events, model):
    rows = [line.split(",") for line in events.read_text().splitlines()[:101]]
    podere.write("same.csv", "\n".join(",".join(row) for row in rows) + "\n")
    podere.write("turned.csv", "\n".join(",".join(row[::-1] + ["7" if i else "more"]) for i, row in enumerate(rows)) + "\n")
    for name in ("same", "turned"):
        podere.done("explain", model, f"{name}.csv", "-o", f"{name}.shap.csv")
    assert (podere.folder / "same.shap.csv").read_bytes() == (podere.folder / "turned.shap.csv").read_bytes()


def test_the_table_and_the_picture_show_the_largest_first(podere, model):
    text = podere.done("explain", model, "collider:1000?seed=5", "--permutation", 2, "--plot", "bars.svg").stdout
    assert "mean |SHAP| (log odds)" in text and "fall of AUC" in text and "expected margin" in text
    lines = text.split("\n\n", 1)[1].splitlines()[1:]
    sizes = [float(line.split()[1]) for line in lines]
    assert len(lines) == 28 and sizes == sorted(sizes, reverse=True)
    picture = xml.etree.ElementTree.parse(podere.folder / "bars.svg").getroot()
    texts = [element.text for element in picture.iter("{http://www.w3.org/2000/svg}text")]
    bars = [element for element in picture.iter("{http://www.w3.org/2000/svg}rect") if element.get("class") == "bar"]
    assert lines[0].split()[0] in texts and "and 8 more" in texts and len(bars) == 40


def test_values_can_go_to_a_pipe(podere, model):
    result = podere.done("explain", model, "collider:50", "-o", "/dev/stdout")
    assert len(result.stdout.splitlines()) == 51 and list(podere.folder.iterdir()) == []


# Bad input.


def test_columns_that_the_model_needs_and_the_data_lacks_are_named(podere, model):
    podere.write("d.csv", "y,a,b\n1,2,3\n")
    message = podere.refused("explain", model, "d.csv", "-o", "shap.csv")
    assert "lacks columns" in message and "lepton_pT" in message


@pytest.mark.parametrize("repeats", ["0", "-1", "1001", "many", "1.5"])
def test_repeats_out_of_range_are_refused(podere, model, repeats):
    assert "--permutation" in podere.refused("explain", model, "collider:10", f"--permutation={repeats}")


def test_permutation_importance_needs_labels_that_the_model_knows(podere, events, model):
    lines = events.read_text().splitlines()
    podere.write("other.csv", "\n".join([lines[0]] + [line.replace(line[:line.index(",")], "3", 1) for line in lines[1:9]]) + "\n")
    assert "allowed is 0 or 1" in podere.refused("explain", model, "other.csv", "--permutation", 2, "-o", "shap.csv")
    podere.write("one.csv", "\n".join([lines[0]] + [line for line in lines[1:] if float(line.split(",")[0]) == 1][:9]) + "\n")
    assert "both classes" in podere.refused("explain", model, "one.csv", "--permutation", 2, "--executors", 2)


def test_outputs_that_would_destroy_what_is_read_are_refused(podere, events, model):
    podere.write("data.csv", events.read_text())
    podere.refused("explain", model, "data.csv", "-o", "data.csv")
    podere.refused("explain", model, "data.csv", "-o", "x", "--plot", "x")
    assert "nowhere" in podere.refused("explain", model, "data.csv", "-o", "nowhere/shap.csv")
