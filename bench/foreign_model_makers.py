"""Makes models with one version of one program: foreign_model_makers.py PROGRAM FOLDER. Called by foreign_models.py, by
Python 3.8 and later.

Each case is trained on a few hundred rows. Writes to FOLDER the model in all formats that the version has, test rows as
CSV, and the predictions that the program makes of them; prints a line of JSON for each model. A case that this version
does not have is skipped, and its line says why.
"""
import importlib
import json
import os
import re
import sys
import warnings

import numpy
import pandas

N_ROWS, N_NUMBERS = 400, 5
NAMES = ["a", "b", "c", "d", "e"]
TEXTS = ["ash", "birch", "cedar", "elm", "fir", "oak", "pine", "yew"]
CODES = list(range(12))


def version_of(module):
    return tuple(int(part) for part in re.findall(r"\d+", module.__version__)[:2])


class Rows:
    """Numbers with repeated values and missing ones, and a signal. Features are float32, as Podere's are."""

    def __init__(self, seed=3, missing=True, n=N_ROWS):
        random = numpy.random.RandomState(seed)
        x = random.normal(size=(n, N_NUMBERS)).astype(numpy.float32)
        x[:, 2] = numpy.round(4 * x[:, 2])      # whole numbers, many of them 0
        x[:, 3] = numpy.abs(x[:, 3]) * 1e4
        x[random.uniform(size=n) < 0.5, 4] = 0
        self.signal = x[:, 0] - 0.5 * x[:, 1] * (x[:, 2] > 0) + x[:, 2] / 4 + x[:, 4] + 0.3 * random.normal(size=n)
        if missing:
            x[random.uniform(size=x.shape) < 0.1] = numpy.nan
        self.x, self.random = x, random
        self.code = random.choice(CODES, n)
        self.text = numpy.array(TEXTS)[random.randint(len(TEXTS), size=n)]

    def label(self, kind):
        s = self.signal
        return {"binary": (s > 0.2).astype(float), "number": 3 * s + 2, "positive": numpy.exp(s / 2),
                "count": numpy.floor(numpy.exp(s / 2)), "fraction": 1 / (1 + numpy.exp(-s)),
                "classes": numpy.digitize(s, [-0.5, 0.2, 1]).astype(float),
                "grade": numpy.digitize(s, [-0.5, 0.2, 1]).astype(float)}[kind]


def rows_at(x, thresholds, missing=True, seed=5, largest=1e30):
    """Rows of training, rows at `thresholds` ({feature: numbers}), just below and above them, and extreme ones up to
    `largest`."""
    random = numpy.random.RandomState(seed)
    n, n_features = 150, x.shape[1]
    near = numpy.empty((n, n_features), numpy.float32)
    for j in range(n_features):
        values = numpy.array(thresholds.get(j) or [0.0], dtype=numpy.float64)
        with numpy.errstate(over="ignore"):
            values = values.astype(numpy.float32)
        values = values[numpy.isfinite(values)]
        near[:, j] = random.choice(values if len(values) else numpy.zeros(1, numpy.float32), n)
    infinite = numpy.float32(numpy.inf)
    extreme = [0, -0.0, 1e-36, -1e-36, 1.1e-35, -1.1e-35, 1e30, -1e30, 1e-20, -1e-20]
    extreme = [value for value in extreme if abs(value) <= largest]
    parts = [x[:150], near, numpy.nextafter(near, infinite), numpy.nextafter(near, -infinite),
             numpy.array([[value] * n_features for value in extreme], numpy.float32),
             random.choice(numpy.array(extreme, numpy.float32), (40, n_features))]
    rows = numpy.concatenate(parts)
    if missing:
        rows[random.uniform(size=rows.shape) < 0.05] = numpy.nan
        rows = numpy.concatenate([rows, numpy.full((1, n_features), numpy.nan, numpy.float32)])
    return numpy.where(numpy.abs(rows) > 3e38, 0, rows).astype(numpy.float32)


class Writer:
    """Writes what belongs to a model, and says so on standard output."""

    def __init__(self, folder):
        self.folder, self.n = folder, 0
        self.skipped = None

    def path(self, name):
        return os.path.join(self.folder, name)

    def write_targets(self, case, models, names, columns, predictions):
        """Of a model with several targets: each of predictions [n_rows x n_targets] is a model of its own."""
        for target, of_one in enumerate(numpy.asarray(predictions).T):
            self.write("%s, target %d" % (case, target), models, names, columns, of_one, target=target)

    def write(self, case, models, names, columns, predictions, margin=False, target=None):
        """models: {format: file name}; columns: [n_features], numbers or texts; predictions [n_rows (x n_outputs)]."""
        self.n += 1
        rows, expected = "%d.csv" % self.n, "%d.expected" % self.n
        with open(self.path(rows), "w") as file:
            print(",".join(names), file=file)
            for row in zip(*columns):
                print(",".join(cell(value) for value in row), file=file)
        predictions = numpy.asarray(predictions, numpy.float64)
        numpy.savetxt(self.path(expected), predictions.reshape(len(columns[0]), -1), fmt="%.9g", delimiter=",")
        for kind, model in models.items():
            print(json.dumps({"case": case, "format": kind, "model": model, "rows": rows, "expected": expected,
                              "margin": margin, "target": target}), flush=True)

    def skip(self, case, error):
        print(json.dumps({"case": case, "skipped": "%s: %s" % (type(error).__name__, str(error)[:150])}), flush=True)

    def refuse(self, case, error):
        """Of what Podere's own Python function refuses."""
        print(json.dumps({"case": case, "format": "object", "refused": str(error)}), flush=True)


def cell(value):
    if isinstance(value, str):
        return value
    return "" if value != value else "%.9g" % value


# XGBoost --------------------------------------------------------------------------------------------------------------

def xgboost_cases():
    """(name, parameters, label, number of rounds, other)"""
    def case(name, label, rounds=8, other=(), **parameters):
        return name, parameters, label, rounds, dict(other)

    yield case("binary:logistic", "binary", objective="binary:logistic")
    yield case("reg:logistic", "fraction", objective="reg:logistic")
    yield case("binary:logitraw", "binary", objective="binary:logitraw")
    yield case("binary:hinge", "binary", objective="binary:hinge")
    yield case("reg:squarederror", "number", objective="reg:squarederror")
    yield case("reg:linear", "number", objective="reg:linear")
    yield case("reg:squaredlogerror", "positive", objective="reg:squaredlogerror")
    yield case("reg:pseudohubererror", "number", objective="reg:pseudohubererror")
    yield case("reg:absoluteerror", "number", objective="reg:absoluteerror")
    yield case("reg:quantileerror", "number", objective="reg:quantileerror", quantile_alpha=0.8)
    yield case("reg:expectileerror", "number", objective="reg:expectileerror", expectile_alpha=0.8)
    yield case("quantiles", "number", objective="reg:quantileerror", quantile_alpha=[0.2, 0.8], tree_method="hist")
    yield case("count:poisson", "count", objective="count:poisson")
    yield case("reg:gamma", "positive", objective="reg:gamma")
    yield case("reg:tweedie", "count", objective="reg:tweedie", tweedie_variance_power=1.3)
    yield case("survival:cox", "positive", objective="survival:cox")
    yield case("survival:aft", "positive", other={"bounds": True}, objective="survival:aft")
    yield case("rank:pairwise", "grade", other={"groups": True}, objective="rank:pairwise")
    yield case("rank:ndcg", "grade", other={"groups": True}, objective="rank:ndcg")
    yield case("rank:map", "binary", other={"groups": True}, objective="rank:map")
    yield case("multi:softprob", "classes", objective="multi:softprob", num_class=4)
    yield case("multi:softmax", "classes", objective="multi:softmax", num_class=4)
    yield case("two classes by softprob", "binary", objective="multi:softprob", num_class=2)
    yield case("exact", "binary", objective="binary:logistic", tree_method="exact")
    yield case("hist, lossguide", "binary", objective="binary:logistic", tree_method="hist", grow_policy="lossguide",
               max_leaves=20, max_depth=0)
    yield case("approx", "number", objective="reg:squarederror", tree_method="approx")
    yield case("deep", "number", objective="reg:squarederror", max_depth=14, min_child_weight=0)
    yield case("stumps", "binary", objective="binary:logistic", max_depth=1, rounds=30)
    yield case("base score", "number", objective="reg:squarederror", base_score=3.25)
    yield case("base score of classes", "binary", objective="binary:logistic", base_score=0.2)
    yield case("monotone", "number", objective="reg:squarederror", tree_method="hist", monotone_constraints="(1,0,1,0,0)")
    yield case("weights of classes", "binary", objective="binary:logistic", scale_pos_weight=4)
    yield case("without missing values", "binary", other={"complete": True}, objective="binary:logistic")
    yield case("without names", "binary", other={"nameless": True}, objective="binary:logistic")
    yield case("dart", "binary", booster="dart", objective="binary:logistic", rate_drop=0.3)
    yield case("dart of numbers", "number", booster="dart", objective="reg:squarederror", rate_drop=0.3,
               normalize_type="forest")
    yield case("dart of classes", "classes", booster="dart", objective="multi:softprob", num_class=4, rate_drop=0.3)
    yield case("forest", "binary", rounds=1, objective="binary:logistic", num_parallel_tree=10, subsample=0.6, eta=1)
    yield case("boosted forests of classes", "classes", rounds=4, objective="multi:softprob", num_class=4,
               num_parallel_tree=3, subsample=0.6)
    yield case("dart of forests", "number", booster="dart", objective="reg:squarederror", num_parallel_tree=2,
               rate_drop=0.3, subsample=0.6)
    yield case("early stopping", "binary", rounds=60, other={"early": True}, objective="binary:logistic", eta=0.9)
    yield case("early stopping of classes", "classes", rounds=60, other={"early": True}, objective="multi:softprob",
               num_class=4, eta=0.9)
    yield case("custom objective", "number", other={"custom": True})
    yield case("categories by codes", "number", other={"categories": "codes"}, objective="reg:squarederror",
               tree_method="hist", max_cat_to_onehot=1)
    yield case("categories one-hot", "binary", other={"categories": "codes"}, objective="binary:logistic",
               tree_method="hist", max_cat_to_onehot=100)
    yield case("categories by approx", "number", other={"categories": "codes"}, objective="reg:squarederror",
               tree_method="approx", max_cat_to_onehot=4)
    yield case("categories by texts", "number", other={"categories": "texts"}, objective="reg:squarederror",
               tree_method="hist", max_cat_to_onehot=1)
    yield case("gblinear", "number", booster="gblinear", objective="reg:squarederror")
    yield case("gblinear, base score", "number", booster="gblinear", objective="reg:squarederror", base_score=3.25)
    yield case("gblinear of two classes", "binary", booster="gblinear", objective="binary:logistic")
    yield case("gblinear of four classes", "classes", booster="gblinear", objective="multi:softprob", num_class=4)
    yield case("gblinear of counts", "count", booster="gblinear", objective="count:poisson")
    yield case("several targets", "number", other={"targets": 2}, objective="reg:squarederror", tree_method="hist")
    yield case("vector leaves", "number", other={"targets": 2}, objective="reg:squarederror", tree_method="hist",
               multi_strategy="multi_output_tree")
    yield case("vector leaves of classes", "classes", objective="multi:softprob", num_class=4, tree_method="hist",
               multi_strategy="multi_output_tree")


def xgboost_thresholds(booster, version, path):
    if version < (1, 0):
        thresholds = {}
        for tree in booster.get_dump():
            for feature, value in re.findall(r"\[(\w+)<([-+.e\d]+)\]", tree):
                j = NAMES.index(feature) if feature in NAMES else int(feature[1:])
                thresholds.setdefault(j, []).append(float(value))
        return thresholds
    booster.save_model(path)
    with open(path) as file:
        learner = json.load(file)["learner"]["gradient_booster"]
    os.remove(path)
    thresholds = {}
    for tree in learner.get("gbtree", learner).get("model", {}).get("trees", []):
        for j, left, value in zip(tree["split_indices"], tree["left_children"], tree["split_conditions"]):
            if left >= 0 and value is not None and value == value:
                thresholds.setdefault(j, []).append(value)
    return thresholds


def make_xgboost(writer):
    import xgboost
    version = version_of(xgboost)
    formats = {"binary": "deprecated" if version >= (1, 6) else "model"} if version < (3, 1) else {}
    if version >= (1, 0):
        formats["JSON"] = "json"
    if version >= (1, 6):
        formats["UBJSON"] = "ubj"
    for name, parameters, label, rounds, other in xgboost_cases():
        try:
            make_xgboost_case(xgboost, version, writer, formats, name, dict(parameters), label, rounds, other)
        except Exception as error:  # what this version does not have
            writer.skip(name, error)


def make_xgboost_case(xgboost, version, writer, formats, name, parameters, label, rounds, other):
    linear = parameters.get("booster") == "gblinear"
    rows = Rows(missing=not other.get("complete"))
    y = rows.label(label)
    kind = other.get("categories")
    if kind and version < (1, 6):
        raise ValueError("categories came with 1.6")
    if "multi_strategy" in parameters and version < (2, 0) or "quantile_alpha" in parameters and version < (2, 0):
        raise ValueError("came with 2.0")
    if "expectile_alpha" in parameters and version < (3, 2):
        raise ValueError("is of later versions")
    names = [] if other.get("nameless") else list(NAMES)
    types = None
    x = rows.x
    if kind:
        names.append("kind")
        types = ["float"] * N_NUMBERS + ["c"]
        column = rows.code if kind == "codes" else numpy.searchsorted(TEXTS, rows.text)
        y = y + (column % 3)
        x = numpy.c_[x, column].astype(numpy.float32)
        x[rows.random.uniform(size=len(x)) < 0.05, -1] = numpy.nan
    frame = kind == "texts" and version >= (3, 1)

    def matrix(values, label=None):
        options = {"feature_names": names or None}
        if frame:
            table = pandas.DataFrame(dict(zip(NAMES, values.T)))
            codes = numpy.nan_to_num(values[:, -1], nan=-1).astype(int)
            table["kind"] = pandas.Categorical.from_codes(codes, categories=TEXTS)
            return xgboost.DMatrix(table, label, enable_categorical=True)
        if types:
            options.update(feature_types=types, enable_categorical=True)
        return xgboost.DMatrix(values, label, **options)

    if other.get("targets"):
        if version < (1, 6):
            raise ValueError("several targets came with 1.6")
        y = numpy.c_[y, -y]
    train = matrix(x, None if other.get("bounds") else y)
    if other.get("bounds"):
        train.set_float_info("label_lower_bound", y)
        train.set_float_info("label_upper_bound", 1.5 * y)
    if other.get("groups"):
        train.set_group([20] * (N_ROWS // 20))
    parameters = dict({"max_depth": 4, "eta": 0.5, "nthread": 1, "seed": 1}, **parameters)
    parameters.update({"verbosity": 0})
    options = {}
    if other.get("custom"):
        options["obj"] = lambda margins, matrix: (margins - matrix.get_label(), numpy.ones(len(margins)))
    if other.get("early"):
        valid = Rows(seed=8)
        options = {"evals": [(matrix(valid.x, valid.label(label)), "valid")], "early_stopping_rounds": 3,
                   "verbose_eval": False}
    booster = xgboost.train(parameters, train, rounds, **options)
    thresholds = xgboost_thresholds(booster, version, writer.path("thresholds.json")) if not linear else {}
    test = rows.x if linear else rows_at(rows.x, thresholds)  # terms of 1e30 leave nothing of a sum
    if kind:
        codes = rows.random.choice(CODES if kind == "codes" else range(len(TEXTS)), len(test)).astype(numpy.float32)
        codes[rows.random.uniform(size=len(test)) < 0.1] = numpy.nan
        if not frame and version < (3, 1):
            # Unseen, which 3.1 refuses. 1.6 takes codes from 32 on for missing, later ones and Podere for any other.
            codes[rows.random.uniform(size=len(test)) < 0.1] = 40 if version >= (1, 7) else 30
        test = numpy.c_[test, codes].astype(numpy.float32)
    matrix_of_test = matrix(test)
    limit = {}
    if other.get("early"):
        limit = {"ntree_limit": booster.best_ntree_limit} if version < (1, 4) else {
            "iteration_range": (0, booster.best_iteration + 1)}
    if parameters.get("booster") == "dart" and version < (1, 0):  # else it drops trees to predict
        limit = {"ntree_limit": 1000}
    predictions = booster.predict(matrix_of_test, **limit)
    if parameters.get("objective") == "multi:softmax":
        margins = booster.predict(matrix_of_test, output_margin=True).reshape(len(test), -1)
        odds = numpy.exp(margins.astype(float) - margins.max(axis=1, keepdims=True))
        predictions = odds / odds.sum(axis=1, keepdims=True)
    if parameters.get("objective") == "multi:softprob" and parameters["num_class"] == 2 and predictions.ndim == 1:
        predictions = predictions.reshape(len(test), 2)
    models = {}
    for format_name, ending in formats.items():
        if format_name == "binary" and (kind or "multi_strategy" in parameters):
            continue  # which it cannot hold
        file = "%d.%s" % (writer.n + 1, ending)
        booster.save_model(writer.path(file))
        models[format_name] = file
    columns = list(test.T)
    if frame:
        columns[-1] = ["" if code != code else TEXTS[int(code)] for code in test[:, -1]]
    header = list(names) if names else ["f%d" % j for j in range(N_NUMBERS)]
    write = writer.write_targets if other.get("targets") or name == "quantiles" else writer.write
    write(name, models, header, columns, predictions)


# LightGBM -------------------------------------------------------------------------------------------------------------

def lightgbm_cases():
    def case(name, label, rounds=8, other=(), **parameters):
        return name, parameters, label, rounds, dict(other)

    yield case("binary", "binary", objective="binary")
    yield case("binary, sigmoid 2", "binary", objective="binary", sigmoid=2.0)
    yield case("binary, unbalanced", "binary", objective="binary", is_unbalance=True)
    yield case("regression", "number", objective="regression")
    yield case("reg_sqrt", "positive", objective="regression", reg_sqrt=True)
    yield case("regression_l1", "number", objective="regression_l1")
    yield case("huber", "number", objective="huber")
    yield case("fair", "number", objective="fair", learning_rate=0.05)  # with more leaves grow and cancel
    yield case("poisson", "count", objective="poisson")
    yield case("quantile", "number", objective="quantile", alpha=0.8)
    yield case("mape", "positive", objective="mape")
    yield case("gamma", "positive", objective="gamma")
    yield case("tweedie", "count", objective="tweedie", tweedie_variance_power=1.3)
    yield case("multiclass", "classes", objective="multiclass", num_class=4)
    yield case("multiclassova", "classes", objective="multiclassova", num_class=4)
    yield case("multiclassova, sigmoid 2", "classes", objective="multiclassova", num_class=4, sigmoid=2.0)
    yield case("cross_entropy", "fraction", objective="cross_entropy")
    yield case("cross_entropy_lambda", "fraction", objective="cross_entropy_lambda")
    yield case("lambdarank", "grade", other={"groups": True}, objective="lambdarank")
    yield case("rank_xendcg", "grade", other={"groups": True}, objective="rank_xendcg")
    yield case("custom objective", "number", other={"custom": True})
    yield case("custom objective of classes", "classes", other={"custom": True}, num_class=4)
    yield case("dart", "binary", rounds=20, objective="binary", boosting="dart", drop_rate=0.4)
    yield case("dart of classes", "classes", rounds=12, objective="multiclass", num_class=4, boosting="dart",
               drop_rate=0.4)
    yield case("goss", "number", objective="regression", boosting="goss", learning_rate=0.1)  # as fair
    yield case("forest", "binary", objective="binary", boosting="rf", bagging_freq=1, bagging_fraction=0.6)
    yield case("forest of numbers", "number", objective="regression", boosting="rf", bagging_freq=1,
               bagging_fraction=0.6)
    yield case("forest of classes", "classes", objective="multiclass", num_class=4, boosting="rf", bagging_freq=1,
               bagging_fraction=0.6)
    yield case("forest of counts", "count", objective="poisson", boosting="rf", bagging_freq=1, bagging_fraction=0.6)
    yield case("zero as missing", "number", objective="regression", zero_as_missing=True)
    yield case("zero as missing, no negatives", "number", other={"absolute": True}, objective="regression",
               zero_as_missing=True)
    yield case("missing not used", "number", objective="regression", use_missing=False)
    yield case("without missing values", "number", other={"complete": True}, objective="regression")
    yield case("without names", "binary", other={"nameless": True}, objective="binary")
    yield case("few bins", "number", objective="regression", max_bin=8)
    yield case("many leaves", "number", objective="regression", num_leaves=200, min_data_in_leaf=1)
    yield case("stumps", "binary", rounds=30, objective="binary", num_leaves=2)
    yield case("no splits", "number", objective="regression", min_data_in_leaf=1000)
    yield case("monotone", "number", objective="regression", monotone_constraints=[1, 0, 1, 0, 0])
    yield case("extra trees", "number", objective="regression", extra_trees=True)
    yield case("no average", "number", objective="regression", boost_from_average=False)
    yield case("early stopping", "binary", rounds=60, other={"early": True}, objective="binary", learning_rate=0.9)
    yield case("early stopping of classes", "classes", rounds=60, other={"early": True}, objective="multiclass",
               num_class=4, learning_rate=0.9)
    yield case("first rounds", "number", rounds=20, other={"first": 5}, objective="regression")
    yield case("categories by codes", "number", other={"categories": "codes"}, objective="regression",
               max_cat_to_onehot=1, cat_smooth=1, min_data_per_group=5, cat_l2=1)
    yield case("categories by codes, one-hot", "number", other={"categories": "codes"}, objective="regression",
               max_cat_to_onehot=100)
    yield case("categories by texts", "binary", other={"categories": "texts"}, objective="binary", max_cat_to_onehot=1,
               cat_smooth=1, min_data_per_group=5, cat_l2=1)
    yield case("categories by texts, classes", "classes", other={"categories": "texts"}, objective="multiclass",
               num_class=4, max_cat_to_onehot=1, cat_smooth=1, min_data_per_group=5, cat_l2=1)
    yield case("categories without missing values", "number", other={"categories": "texts", "complete": True},
               objective="regression", max_cat_to_onehot=1, cat_smooth=1, min_data_per_group=5, cat_l2=1)
    yield case("linear trees", "number", objective="regression", linear_tree=True)
    yield case("linear trees of two classes", "binary", objective="binary", linear_tree=True, sigmoid=2)
    yield case("linear trees of four classes", "classes", objective="multiclass", num_class=4, linear_tree=True)
    yield case("linear trees of a custom objective", "classes", other={"custom": True}, num_class=4, linear_tree=True)
    yield case("linear trees, without missing values", "number", other={"complete": True}, objective="regression",
               linear_tree=True)
    yield case("linear trees, missing not used", "number", objective="regression", use_missing=False, linear_tree=True)
    yield case("linear trees, dart", "binary", rounds=20, objective="binary", boosting="dart", drop_rate=0.4,
               linear_tree=True)
    yield case("linear trees, forest of classes", "classes", objective="multiclass", num_class=4, boosting="rf",
               bagging_freq=1, bagging_fraction=0.6, linear_tree=True)
    yield case("linear trees, few splits", "number", rounds=60, objective="regression", min_gain_to_split=200.0,
               linear_tree=True)
    yield case("linear trees, early stopping", "binary", rounds=60, other={"early": True}, objective="binary",
               linear_tree=True)
    yield case("linear trees, categories by texts", "number", other={"categories": "texts"}, objective="regression",
               max_cat_to_onehot=1, cat_smooth=1, min_data_per_group=5, cat_l2=1, linear_tree=True)


def lightgbm_thresholds(text):
    thresholds = {}
    for tree in text.split("Tree=")[1:]:
        values = dict(line.split("=", 1) for line in tree.splitlines() if "=" in line)
        if not values.get("split_feature"):
            continue
        for j, value, decision in zip(values["split_feature"].split(), values["threshold"].split(),
                                      values["decision_type"].split()):
            if not int(decision) & 1:
                thresholds.setdefault(int(j), []).append(float(value))
    return thresholds


def make_lightgbm(writer):
    import lightgbm
    version = version_of(lightgbm)
    for name, parameters, label, rounds, other in lightgbm_cases():
        try:
            make_lightgbm_case(lightgbm, version, writer, name, dict(parameters), label, rounds, other)
        except Exception as error:
            writer.skip(name, error)


def make_lightgbm_case(lightgbm, version, writer, name, parameters, label, rounds, other):
    if parameters.get("linear_tree") and version < (3, 2):
        raise ValueError("linear trees came with 3.2")
    if "extra_trees" in parameters and version < (3, 0) or parameters.get("objective") == "rank_xendcg" and version < (3, 0):
        raise ValueError("came with 3.0")
    rows = Rows(missing=not other.get("complete"))
    y = rows.label(label)
    kind = other.get("categories")
    x = numpy.abs(rows.x) if other.get("absolute") else rows.x
    names = [] if other.get("nameless") else list(NAMES)
    codes = None
    if kind:
        names.append("kind")
        codes = (rows.code if kind == "codes" else numpy.searchsorted(TEXTS, rows.text)).astype(float)
        if label == "number":
            y = y + 2 * (codes % 3)
        if not other.get("complete"):
            codes[rows.random.uniform(size=len(x)) < 0.05] = numpy.nan

    def table(values, codes=None, categories=TEXTS):
        if kind == "texts":
            frame = pandas.DataFrame(dict(zip(NAMES, values.T)))
            whole = numpy.nan_to_num(codes, nan=-1).astype(int)
            frame["kind"] = pandas.Categorical.from_codes(whole, categories=categories)
            return frame
        return values if codes is None else numpy.c_[values, codes]

    def dataset(values, label, codes=None, reference=None):
        options = {"feature_name": names} if names and kind != "texts" else {}
        if kind == "codes":
            options["categorical_feature"] = [N_NUMBERS]
        if other.get("groups"):
            options["group"] = [20] * (N_ROWS // 20)
        return lightgbm.Dataset(table(values, codes), label, reference=reference, **options)

    parameters = dict({"num_leaves": 12, "min_data_in_leaf": 5, "learning_rate": 0.3, "num_threads": 1, "verbosity": -1,
                       "verbose": -1, "seed": 1}, **parameters)
    train, options = dataset(x, y, codes), {}
    if other.get("custom"):
        n = parameters.get("num_class", 1)

        def custom(margins, matrix):
            target = matrix.get_label()
            if n > 1:
                target = (target == numpy.arange(n)[:, None]).astype(float)
                target = target.ravel() if margins.ndim == 1 else target.T
            return margins - target, numpy.ones_like(margins)

        if version < (4, 0):
            options["fobj"] = custom
            parameters["objective"] = "none"
        else:
            parameters["objective"] = custom
    if other.get("early"):
        valid = Rows(seed=8)
        options["valid_sets"] = [dataset(valid.x, valid.label(label), reference=train)]
        if version < (3, 3):
            options.update(early_stopping_rounds=3, verbose_eval=False)
        else:
            options["callbacks"] = [lightgbm.early_stopping(3, verbose=False)]
    booster = lightgbm.train(parameters, train, rounds, **options)
    model = "%d.txt" % (writer.n + 1)
    limit = {"num_iteration": other["first"]} if "first" in other else {}
    booster.save_model(writer.path(model), **limit)
    with open(writer.path(model)) as file:
        text = file.read()
    largest = 1 if parameters.get("linear_tree") else 1e30  # a term of 1e30 leaves nothing else of a sum
    test = rows_at(x, lightgbm_thresholds(text), largest=largest)
    columns = list(test.T)
    if kind:
        n_kinds = len(CODES) if kind == "codes" else len(TEXTS)
        codes = rows.random.choice(n_kinds, len(test)).astype(float)
        codes[rows.random.uniform(size=len(test)) < 0.1] = numpy.nan
        unseen = rows.random.uniform(size=len(test)) < 0.1
        codes[unseen] = n_kinds if kind == "texts" else 77
        values = table(test, codes, TEXTS + ["zelkova"])
        columns.append(codes if kind == "codes" else
                       ["" if code != code else (TEXTS + ["zelkova"])[int(code)] for code in codes])
    else:
        values = test
    predictions = booster.predict(values, **limit)
    header = names or ["f%d" % j for j in range(N_NUMBERS)]
    write = writer.write_targets if other.get("custom") and predictions.ndim == 2 else writer.write
    write(name, {"text": model}, header, columns, predictions)


# CatBoost -------------------------------------------------------------------------------------------------------------

def catboost_cases():
    def case(name, label, how="RawFormulaVal", other=(), **parameters):
        return name, parameters, label, how, dict(other)

    yield case("Logloss", "binary", "Probability", loss_function="Logloss")
    yield case("CrossEntropy", "fraction", "Probability", loss_function="CrossEntropy")
    yield case("RMSE", "number", loss_function="RMSE")
    yield case("MultiClass", "classes", "Probability", loss_function="MultiClass")
    yield case("MultiClass of texts", "classes", "Probability", other={"texts": True}, loss_function="MultiClass")
    yield case("Logloss of texts", "binary", "Probability", other={"texts": True}, loss_function="Logloss")
    yield case("MultiClassOneVsAll", "classes", "Probability", loss_function="MultiClassOneVsAll")
    yield case("MultiClassOneVsAll of two classes", "binary", "Probability", loss_function="MultiClassOneVsAll")
    yield case("Poisson", "count", "Exponent", loss_function="Poisson")
    yield case("Tweedie", "count", "Exponent", loss_function="Tweedie:variance_power=1.3")
    yield case("Quantile", "number", loss_function="Quantile:alpha=0.8")
    yield case("MultiQuantile", "number", loss_function="MultiQuantile:alpha=0.2,0.8")
    yield case("MAE", "number", loss_function="MAE")
    yield case("MAPE", "positive", loss_function="MAPE")
    yield case("Huber", "number", loss_function="Huber:delta=1.5")
    yield case("Expectile", "number", loss_function="Expectile:alpha=0.7")
    yield case("Lq", "number", loss_function="Lq:q=3")
    yield case("LogCosh", "number", loss_function="LogCosh")
    yield case("LogLinQuantile", "positive", loss_function="LogLinQuantile:alpha=0.6")
    yield case("Focal", "binary", "Probability", loss_function="Focal:focal_alpha=0.5;focal_gamma=2")
    yield case("RMSEWithUncertainty", "number", loss_function="RMSEWithUncertainty")
    yield case("MultiRMSE", "number", other={"targets": True}, loss_function="MultiRMSE")
    yield case("MultiLogloss", "binary", "Probability", other={"targets": True}, loss_function="MultiLogloss")
    yield case("YetiRank", "grade", other={"groups": True}, loss_function="YetiRank")
    yield case("QueryRMSE", "number", other={"groups": True}, loss_function="QueryRMSE")
    yield case("QuerySoftMax", "binary", other={"groups": True}, loss_function="QuerySoftMax")
    yield case("PairLogit", "grade", other={"groups": True}, loss_function="PairLogit")
    yield case("Depthwise", "binary", "Probability", loss_function="Logloss", grow_policy="Depthwise")
    yield case("Lossguide", "number", loss_function="RMSE", grow_policy="Lossguide", max_leaves=20)
    yield case("Lossguide of classes", "classes", "Probability", loss_function="MultiClass", grow_policy="Lossguide",
               max_leaves=20)
    yield case("missing first", "number", loss_function="RMSE", nan_mode="Min")
    yield case("missing last", "number", loss_function="RMSE", nan_mode="Max")
    yield case("without missing values", "number", other={"complete": True}, loss_function="RMSE")
    yield case("few borders", "number", loss_function="RMSE", border_count=6, depth=7)
    yield case("depth 1", "binary", "Probability", loss_function="Logloss", depth=1)
    yield case("early stopping", "binary", "Probability", other={"early": True}, loss_function="Logloss",
               learning_rate=0.9, iterations=60, od_type="Iter", od_wait=3)
    yield case("boost from average", "number", loss_function="RMSE", boost_from_average=True)
    yield case("categories one-hot", "number", other={"categories": True}, loss_function="RMSE", one_hot_max_size=20)
    yield case("categories by statistics", "number", other={"categories": True}, loss_function="RMSE",
               one_hot_max_size=2)


def catboost_thresholds(path):
    with open(path) as file:
        features = json.load(file)["features_info"].get("float_features", [])
    return {f["flat_feature_index"]: f.get("borders") or [] for f in features}


def make_catboost(writer):
    import catboost
    for name, parameters, label, how, other in catboost_cases():
        try:
            make_catboost_case(catboost, writer, name, dict(parameters), label, how, other)
        except Exception as error:
            writer.skip(name, error)


def make_catboost_case(catboost, writer, name, parameters, label, how, other):
    rows = Rows(missing=not other.get("complete"))
    y = rows.label(label)
    names, options = list(NAMES), {}
    x = rows.x
    if other.get("texts"):
        y = numpy.array(TEXTS)[y.astype(int)]
    if other.get("targets"):
        y = numpy.c_[y, 1 - y]
    if other.get("groups"):
        options["group_id"] = numpy.arange(N_ROWS) // 20
    if name == "PairLogit":
        first = [i for i in range(0, N_ROWS, 2) if y[i] != y[i + 1]]
        options["pairs"] = [(i, i + 1) if y[i] > y[i + 1] else (i + 1, i) for i in first]
    if other.get("categories"):
        names.append("kind")
        x = pandas.DataFrame(dict(zip(NAMES, rows.x.T)))
        x["kind"] = rows.text
        y = y + 2 * (numpy.searchsorted(TEXTS, rows.text) % 3)
        options["cat_features"] = [N_NUMBERS]
    parameters = dict({"iterations": 8, "depth": 4, "learning_rate": 0.3, "thread_count": 1, "verbose": False,
                       "random_seed": 1, "allow_writing_files": False}, **parameters)
    model = catboost.CatBoost(parameters)
    fit = {}
    if other.get("early"):
        valid = Rows(seed=8)
        fit = {"eval_set": catboost.Pool(valid.x, valid.label(label), feature_names=names), "use_best_model": True}
    model.fit(catboost.Pool(x, y, feature_names=names, **options), **fit)
    models = {}
    for kind, ending in (("JSON", "json"), ("binary", "cbm")):
        if kind == "JSON" or name == "Logloss":  # the binary format once
            models[kind] = "%d.%s" % (writer.n + 1, ending)
            model.save_model(writer.path(models[kind]), format=ending)
    test = rows_at(rows.x, catboost_thresholds(writer.path(models["JSON"])), missing=not other.get("complete"))
    columns = list(test.T)
    values = test
    if other.get("categories"):
        texts = numpy.array(TEXTS + ["zelkova"])[rows.random.randint(len(TEXTS) + 1, size=len(test))]
        columns.append([str(text) for text in texts])
        values = pandas.DataFrame(dict(zip(NAMES, test.T)))
        values["kind"] = texts
    predictions = numpy.asarray(model.predict(values, prediction_type=how, thread_count=1))
    if how == "Probability" and predictions.shape[1:] == (2,) and not name.startswith("Multi"):
        predictions = predictions[:, 1]
    of_classes = name.startswith(("MultiClass", "Lossguide of classes"))
    write = writer.write_targets if predictions.ndim == 2 and not of_classes else writer.write
    write(name, models, names, columns, predictions)


# scikit-learn ---------------------------------------------------------------------------------------------------------

def sklearn_cases():
    """(name, class, parameters, label, missing values, other)"""
    def case(name, of, label, missing=True, other=(), **parameters):
        return name, of, parameters, label, missing, dict(other)

    forest, extra = "RandomForest", "ExtraTrees"
    yield case("forest of numbers", forest + "Regressor", "number", False)
    yield case("forest of numbers, missing values", forest + "Regressor", "number")
    yield case("forest of two classes", forest + "Classifier", "binary", False)
    yield case("forest of two classes, missing values", forest + "Classifier", "binary")
    yield case("forest of two classes, weighted", forest + "Classifier", "binary", False, class_weight="balanced")
    yield case("forest of four classes", forest + "Classifier", "classes", False)
    yield case("forest of counts", forest + "Regressor", "count", False, criterion="poisson")
    yield case("forest of deep trees", forest + "Regressor", "number", False, max_depth=None)
    yield case("forest of two targets", forest + "Regressor", "number", False, {"targets": True})
    yield case("extra trees", extra + "Regressor", "number", False)
    yield case("extra trees, missing values", extra + "Regressor", "number")
    yield case("extra trees of two classes", extra + "Classifier", "binary", False)
    yield case("extra trees of four classes", extra + "Classifier", "classes", False)
    yield case("forest of four classes, missing values", forest + "Classifier", "classes")
    yield case("forest of four classes, deep", forest + "Classifier", "classes", False, max_depth=None, n_estimators=100)
    yield case("forest of four classes, weighted", forest + "Classifier", "classes", False, class_weight="balanced")
    yield case("extra trees of two targets of classes", extra + "Classifier", "classes", False, {"targets": True})
    yield case("one tree", "DecisionTreeRegressor", "number", False)
    yield case("one tree of two classes", "DecisionTreeClassifier", "binary", False)
    yield case("one tree of four classes", "DecisionTreeClassifier", "classes", False)
    yield case("one extra tree of four classes", "ExtraTreeClassifier", "classes", False)
    boosting = "GradientBoosting"
    yield case("boosting", boosting + "Regressor", "number", False)
    for loss in ("absolute_error", "huber", "quantile"):
        yield case("boosting, " + loss, boosting + "Regressor", "number", False, loss=loss)
    yield case("boosting, init zero", boosting + "Regressor", "number", False, init="zero")
    yield case("boosting, early stopping", boosting + "Regressor", "number", False, n_iter_no_change=2, learning_rate=0.9)
    yield case("boosting of two classes", boosting + "Classifier", "binary", False)
    yield case("boosting of four classes", boosting + "Classifier", "classes", False)
    yield case("boosting, exponential", boosting + "Classifier", "binary", False, loss="exponential")
    yield case("boosting, init is a model", boosting + "Regressor", "number", False, {"init": True})
    histograms = "HistGradientBoosting"
    yield case("histograms", histograms + "Regressor", "number")
    for loss, label in (("absolute_error", "number"), ("poisson", "count"), ("gamma", "positive"), ("quantile", "number")):
        yield case("histograms, " + loss, histograms + "Regressor", label, loss=loss,
                   **({"quantile": 0.8} if loss == "quantile" else {}))
    yield case("histograms of two classes", histograms + "Classifier", "binary")
    yield case("histograms of four classes", histograms + "Classifier", "classes")
    yield case("histograms, without missing values", histograms + "Classifier", "binary", False)
    yield case("histograms, few bins", histograms + "Regressor", "number", max_bins=8)
    yield case("histograms, monotone", histograms + "Regressor", "number", monotonic_cst=[1, 0, 1, 0, 0])
    yield case("histograms, categories", histograms + "Regressor", "number", True, {"categories": True},
               categorical_features=[N_NUMBERS])


def sklearn_thresholds(model):
    thresholds = {}
    trees = [tree.tree_ for tree in numpy.ravel(getattr(model, "estimators_", [model])) if hasattr(tree, "tree_")]
    for tree in trees:
        for j, value in zip(tree.feature, tree.threshold):
            thresholds.setdefault(int(j), []).append(float(value))
    for round_ in getattr(model, "_predictors", []):
        for predictor in round_:
            for node in predictor.nodes[predictor.nodes["is_leaf"] == 0]:
                thresholds.setdefault(int(node["feature_idx"]), []).append(float(node["num_threshold"]))
    return thresholds


def make_sklearn(writer):
    for name, of, parameters, label, missing, other in sklearn_cases():
        module = importlib.import_module("sklearn.tree" if of.endswith(("TreeClassifier", "TreeRegressor"))
                                         else "sklearn.ensemble")
        try:
            made = make_sklearn_case(module, name, of, dict(parameters), label, missing, other)
        except Exception as error:
            writer.skip(name, error)
            continue
        write_sklearn_case(writer, name, *made)


def make_sklearn_case(module, name, of, parameters, label, missing, other):
    rows = Rows(missing=missing)
    y, x = rows.label(label), rows.x
    if of.startswith("Hist"):
        parameters.setdefault("max_iter", 8)
        parameters.setdefault("max_leaf_nodes", 12)
    else:
        if not of.endswith(("TreeClassifier", "TreeRegressor")):
            parameters.setdefault("n_estimators", 8)
        parameters = dict({"max_depth": 5, "random_state": 1}, **parameters)
    if of.startswith("Gradient") or of.startswith("Hist"):
        parameters.setdefault("learning_rate", 0.3)
    if other.get("init"):
        from sklearn.linear_model import LinearRegression
        parameters["init"] = LinearRegression()
    if other.get("targets"):
        y = numpy.c_[y, -y]
    if other.get("categories"):
        x = numpy.c_[x, rows.code].astype(numpy.float32)
    model = getattr(module, of)(**parameters).fit(x, y)
    test = rows_at(rows.x, sklearn_thresholds(model), missing)
    if other.get("categories"):
        test = numpy.c_[test, rows.random.choice(CODES + [40], len(test))].astype(numpy.float32)
    if hasattr(model, "classes_") and not other.get("targets"):
        predictions = model.predict_proba(test)
        if predictions.shape[1] == 2 and "Boosting" in of:  # whose trees are of the second class
            predictions = predictions[:, 1]
    elif hasattr(model, "classes_"):
        predictions = model.predict_proba(test)  # a list
    else:
        predictions = model.predict(test)
        predictions = list(predictions.T) if other.get("targets") else predictions
    return model, test, predictions


def write_sklearn_case(writer, name, model, test, predictions):
    if isinstance(predictions, list):  # of several targets
        for target, of_one in enumerate(predictions):
            write_sklearn_target(writer, "%s, target %d" % (name, target), model, test, of_one, target=target)
        return
    write_sklearn_target(writer, name, model, test, predictions)


def write_sklearn_target(writer, name, model, test, predictions, **target):
    import podere
    try:
        converted = podere.from_sklearn(model, **target)
    except (ValueError, TypeError) as error:
        writer.refuse(name, error)
        return
    file = "%d.json" % (writer.n + 1)
    converted.save_model(writer.path(file))
    writer.write(name, {"object": file}, ["f%d" % j for j in range(test.shape[1])], list(test.T), predictions)


def main():
    program, folder = sys.argv[1:]
    warnings.simplefilter("ignore")
    os.makedirs(folder, exist_ok=True)
    {"xgboost": make_xgboost, "lightgbm": make_lightgbm, "catboost": make_catboost,
     "scikit-learn": make_sklearn}[program](Writer(folder))


if __name__ == "__main__":
    main()
