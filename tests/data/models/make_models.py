#!/usr/bin/env python3
"""Makes the cases of lightgbm/ and xgboost-3.2/ in this folder anew: small models, rows, and what the program that made
a model predicts for them. Needs LightGBM 4.7, XGBoost 3.2 and NumPy from PyPI; tests read the files only."""

import json
import pathlib

import lightgbm
import numpy
import xgboost

HERE = pathlib.Path(__file__).parent
N_ROWS, N_SHOWN = 400, 40


def table(rng, missing):
    """Features a, b, c (numbers, b with many zeros) and d (a category of 12), as float32 holds them."""
    x = rng.normal(size=(N_ROWS, 4)).astype("float32")
    x[rng.random(N_ROWS) < 0.3, 1] = 0
    x[:, 3] = rng.integers(0, 12, N_ROWS)
    if missing:
        x[rng.random(x.shape) < 0.1] = numpy.nan
    return x.astype("float64")


def signal(rng, x):
    known = numpy.nan_to_num(x)
    return known[:, 0] + known[:, 1] * (known[:, 3] % 3) - (known[:, 3] == 7) + 0.3 * rng.normal(size=len(x))


def rows_to_show(rng, x, thresholds):
    """Rows of the table; rows of thresholds as float32 and of its neighbours; rows without numbers; a new category."""
    edges = numpy.float32(rng.choice(thresholds, (N_SHOWN, 4)))
    edges = numpy.nextafter(edges, numpy.float32(rng.choice([-1e30, 1e30, 0], edges.shape)))
    edges[:, 3] = rng.integers(0, 12, N_SHOWN)
    edges[rng.random(edges.shape) < 0.1] = numpy.nan
    special = [[numpy.nan] * 4, [0, 0, 0, 0], [1e-35, -1e-35, -0.0, 99], [3e38, -3e38, 1e-45, 1]]
    return numpy.r_[x[:N_SHOWN], edges, numpy.float32(special)].astype("float64")


def write(folder, name, model, rows, margins, predictions, suffix):
    folder.mkdir(exist_ok=True)
    (folder / f"{name}.model.{suffix}").write_text(model)
    features = [[None if numpy.isnan(v) else v for v in row] for row in rows.tolist()]
    (folder / f"{name}.input.json").write_text(json.dumps({"features": features}) + "\n")
    expected = {"predictions": margins.tolist(), "predictions_transformed": predictions.tolist()}
    (folder / f"{name}.expected.json").write_text(json.dumps(expected) + "\n")


def make_lightgbm(name, label, missing=True, categorical=False, **parameters):
    rng = numpy.random.default_rng(len(name))
    x = table(rng, missing)
    data = lightgbm.Dataset(x, label=label(signal(rng, x)), feature_name=list("abcd"),
                            categorical_feature=[3] if categorical else [])
    parameters = {"num_leaves": 8, "min_data_in_leaf": 5, "learning_rate": 0.2, "verbose": -1, "num_threads": 1,
                  "deterministic": True, "min_data_per_group": 5, "cat_smooth": 1, "max_cat_to_onehot": 2, **parameters}
    booster = lightgbm.train(parameters, data, 6)
    text = booster.model_to_string().split("\nfeature_importances:")[0] + "\n"
    thresholds = [float(t) for line in text.splitlines() if line.startswith("threshold=") for t in line[10:].split()]
    rows = rows_to_show(rng, x, [t for t in thresholds if abs(t) < 1e30])
    if parameters.get("linear_tree"):
        rows = rows[(numpy.abs(numpy.nan_to_num(rows)) < 1e30).all(axis=1)]  # terms so large leave nothing else of a sum
    write(HERE / "lightgbm", name, text, rows, booster.predict(rows, raw_score=True), booster.predict(rows), "txt")


def make_decisions():
    """One split a tree: every threshold with every kind of missing values that a float32 threshold can hold."""
    text = """tree\nversion=v4\nnum_class=1\nnum_tree_per_iteration=1\nlabel_index=0\nmax_feature_idx=0
objective=regression\nfeature_names=x\nfeature_infos=[-10:10]\n\n"""
    zero = float(numpy.float32(1e-35))
    thresholds = [-1e300, -1.5, -zero, 0.0, 1e-45, zero, 0.1, 1.5, 3.4e38, 1e300, numpy.inf]
    none, zero_is_missing, nan_is_missing, default_left = 0, 4, 8, 2
    for threshold in thresholds:
        kinds = [none, nan_is_missing, nan_is_missing | default_left]
        if threshold >= -zero:
            kinds += [zero_is_missing | default_left]
        if threshold <= zero:
            kinds += [zero_is_missing]
        for kind in kinds:
            n = text.count("Tree=")
            text += f"""Tree={n}\nnum_leaves=2\nnum_cat=0\nsplit_feature=0\nsplit_gain=1\nthreshold={threshold!r}
decision_type={kind}\nleft_child=-1\nright_child=-2\nleaf_value={n / 16 + 1} {-n / 32 - 1}\nleaf_weight=1 1
leaf_count=1 1\ninternal_value=0\ninternal_weight=2\ninternal_count=2\nis_linear=0\nshrinkage=1\n\n\n"""
    text += "end of trees\n"
    one = numpy.float32(1)
    near = numpy.float32([t for t in thresholds if abs(t) < 1e300])
    rows = numpy.r_[near, numpy.nextafter(near, -one), numpy.nextafter(near, one), -near, numpy.float32([3.4028235e38])]
    rows = numpy.r_[rows, [numpy.nan]].astype("float64")[:, None]
    booster = lightgbm.Booster(model_str=text)
    write(HERE / "lightgbm", "decisions", text, rows, booster.predict(rows, raw_score=True), booster.predict(rows), "txt")


def make_xgboost(name, label, **parameters):
    rng = numpy.random.default_rng(len(name))
    x = table(rng, True)
    types = ["q", "q", "q", "c"]
    data = xgboost.DMatrix(x, label=label(signal(rng, x)), feature_names=list("abcd"), feature_types=types)
    booster = xgboost.train({"max_depth": 3, "max_cat_to_onehot": 2, "nthread": 1, **parameters}, data, 5)
    text = booster.save_raw("json").decode()
    thresholds = [t for tree in json.loads(text)["learner"]["gradient_booster"]["model"]["trees"]
                  for t in tree["split_conditions"]]
    rows = rows_to_show(rng, x, thresholds)
    shown = xgboost.DMatrix(rows, feature_names=list("abcd"), feature_types=types)
    margins, predictions = booster.predict(shown, output_margin=True), booster.predict(shown)
    write(HERE / "xgboost-3.2", name, text, rows, margins, predictions, "json")


def classes(n):
    return lambda s: numpy.digitize(s, numpy.quantile(s, numpy.arange(1, n) / n))


make_lightgbm("binary", classes(2), objective="binary")
make_lightgbm("never_missing", classes(2), missing=False, objective="binary")
make_lightgbm("multiclass", classes(3), objective="multiclass", num_class=3)
make_lightgbm("regression", lambda s: 5 * s + 100, objective="regression")
make_lightgbm("categorical", classes(2), categorical=True, objective="binary")
make_lightgbm("categorical_never_missing", classes(3), missing=False, categorical=True, objective="multiclass", num_class=3)
make_lightgbm("linear", lambda s: 5 * s + 100, categorical=True, objective="regression", linear_tree=True)
make_lightgbm("linear_classes", classes(3), objective="multiclass", num_class=3, linear_tree=True)
make_decisions()
make_xgboost("binary", classes(2), objective="binary:logistic")
make_xgboost("multiclass", classes(3), objective="multi:softprob", num_class=3)
