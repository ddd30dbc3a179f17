#!/usr/bin/env python3
"""Makes models for others/ of this folder: NAME.FORMAT, rows NAME.csv, and what the library predicts, NAME.expected.

Uses the libraries that are installed and names models after their versions: run it once for each of them. Needs NumPy;
tests read the files only.
"""

import pathlib
import sys

sys.path.pop(0)  # whose folder pandas/ is no package

import numpy

HERE = pathlib.Path(__file__).parent / "others"
N_ROWS, N_SHOWN = 300, 25
LABELS = {"two": lambda s: (s > 0).astype(int), "three": lambda s: numpy.digitize(s, [-0.7, 0.7]), "number": lambda s: 5 * s + 10,
          "count": lambda s: numpy.digitize(s, [-1, 0, 1, 2]), "positive": numpy.exp}


def table():
    """Numbers with missing values; b has many zeros, d is whole."""
    rng = numpy.random.RandomState(11)
    x = rng.normal(size=(N_ROWS, 4)).astype("float32")
    x[rng.rand(N_ROWS) < 0.3, 1] = 0
    x[:, 3] = rng.randint(0, 12, N_ROWS)
    x[rng.rand(N_ROWS, 4) < 0.1] = numpy.nan
    known = numpy.nan_to_num(x)
    return rng, x, known[:, 0] + known[:, 1] * (known[:, 3] % 3) - (known[:, 3] == 7) + 0.3 * rng.normal(size=N_ROWS)


def write(name, suffix, save, thresholds, predict):
    """Rows of the table, thresholds and their neighbors, rows without numbers and with extreme ones."""
    rng, x, _ = table()
    near = numpy.float32(rng.choice([t for t in thresholds if abs(t) < 1e30] or [0.0], (2 * N_SHOWN, 4)))
    near = numpy.where(rng.rand(*near.shape) < 0.4, near, numpy.nextafter(near, numpy.float32(rng.choice([-1e30, 1e30]))))
    near[rng.rand(*near.shape) < 0.1] = numpy.nan
    rows = numpy.r_[x[:N_SHOWN], near, numpy.float32([[numpy.nan] * 4, [0] * 4, [3e38, -3e38, 1e-45, 99]])].astype("float32")
    HERE.mkdir(exist_ok=True)
    save(str(HERE / f"{name}.{suffix}"))
    numpy.savetxt(HERE / f"{name}.expected", predict(rows), fmt="%.9g")
    lines = [",".join("" if numpy.isnan(v) else f"{v:.9g}" for v in row) for row in rows]
    (HERE / f"{name}.csv").write_text("a,b,c,d\n" + "\n".join(lines) + "\n")


def xgboost_models():
    import xgboost
    version = tuple(int(part) for part in xgboost.__version__.split(".")[:2])
    if version < (1, 0):
        return
    tag = "xgboost_" + xgboost.__version__.replace(".", "")
    cases = {
        "two": ("two", {"objective": "binary:logistic"}),
        "forest": ("three", {"objective": "multi:softprob", "num_class": 3, "num_parallel_tree": 2, "subsample": 0.7, "max_depth": 2}),
        "dart": ("two", {"objective": "binary:logistic", "booster": "dart", "rate_drop": 0.5}),
        "raw": ("two", {"objective": "binary:logitraw", "base_score": 0.2}),
        "gamma": ("positive", {"objective": "reg:gamma"}),
        "quantile": ("number", {"objective": "reg:quantileerror", "quantile_alpha": 0.8}),
        "absolute": ("number", {"objective": "reg:absoluteerror"}),
    }
    if version < (2, 0):
        cases = {name: cases[name] for name in ("two", "forest", "dart", "raw", "gamma")}
    for name, (label, parameters) in cases.items():
        _, x, signal = table()
        data = xgboost.DMatrix(x, LABELS[label](signal), feature_names=list("abcd"))
        model = xgboost.train({"max_depth": 3, "nthread": 1, **parameters}, data, 3)
        thresholds = [float(line.split("<")[1].split("]")[0]) for tree in model.get_dump() for line in tree.split("\n") if "<" in line]
        write(f"{tag}_{name}", "ubj" if version >= (1, 6) else "json", model.save_model, thresholds,
              lambda rows, model=model: model.predict(xgboost.DMatrix(rows, feature_names=list("abcd"))))


def xgboost_binary_models():
    """In the format before JSON, which does not keep names of features."""
    import xgboost
    version = tuple(int(part) for part in xgboost.__version__.split(".")[:2])
    if version >= (3, 1):
        return
    tag = "xgboost_" + xgboost.__version__.replace(".", "")
    cases = {
        "old_forest": ("three", {"objective": "multi:softprob", "num_class": 3, "num_parallel_tree": 2, "subsample": 0.7, "max_depth": 2}),
        "old_dart": ("two", {"objective": "binary:logistic", "booster": "dart", "rate_drop": 0.5, "base_score": 0.2}),
        "old_gamma": ("positive", {"objective": "reg:gamma"}),
    }
    for name, (label, parameters) in cases.items():
        _, x, signal = table()
        model = xgboost.train({"max_depth": 3, "nthread": 1, **parameters}, xgboost.DMatrix(x, LABELS[label](signal)), 3)
        thresholds = [float(line.split("<")[1].split("]")[0]) for tree in model.get_dump() for line in tree.split("\n") if "<" in line]
        limit = {"ntree_limit": 1000} if version < (1, 0) else {}  # else dart drops trees to predict
        write(f"{tag}_{name}", "bin" if version < (1, 6) else "deprecated", model.save_model, thresholds,
              lambda rows, model=model, limit=limit: model.predict(xgboost.DMatrix(rows), **limit))


def lightgbm_models():
    import lightgbm
    tag = "lightgbm_" + lightgbm.__version__.replace(".", "")
    forest = {"boosting": "rf", "bagging_freq": 1, "bagging_fraction": 0.7, "feature_fraction": 0.9}
    cases = {"two": ("two", {"objective": "binary", "sigmoid": 2.0}), "tweedie": ("positive", {"objective": "tweedie"}),
             "huber": ("number", {"objective": "huber"}), "quantile": ("number", {"objective": "quantile", "alpha": 0.8}),
             "forest": ("two", {"objective": "binary", **forest})}
    if lightgbm.__version__ < "2.3":
        cases = {name: cases[name] for name in ("two", "huber", "quantile")}
    for name, (label, parameters) in cases.items():
        _, x, signal = table()
        data = lightgbm.Dataset(x.astype("float64"), LABELS[label](signal), feature_name=list("abcd"))
        model = lightgbm.train({"num_leaves": 6, "min_data_in_leaf": 5, "verbose": -1, "num_threads": 1, **parameters}, data, 4)
        path = HERE / f"{tag}_{name}.txt"
        HERE.mkdir(exist_ok=True)
        model.save_model(str(path))
        lines = [line for line in path.read_text().split("\n") if line.startswith("threshold=")]
        thresholds = [float(text) for line in lines for text in line[len("threshold="):].split()]
        write(f"{tag}_{name}", "txt", model.save_model, thresholds,
              lambda rows, model=model: model.predict(rows.astype("float64")))


def catboost_models():
    import catboost
    cases = {"two": ("two", {"loss_function": "Logloss"}, "Probability"),
             "three": ("three", {"loss_function": "MultiClass", "grow_policy": "Depthwise"}, "Probability"),
             "leaves": ("number", {"loss_function": "RMSE", "grow_policy": "Lossguide", "nan_mode": "Max"}, "RawFormulaVal"),
             "poisson": ("count", {"loss_function": "Poisson"}, "Exponent")}
    for name, (label, parameters, kind) in cases.items():
        _, x, signal = table()
        model = catboost.CatBoost({"iterations": 3, "depth": 3, "border_count": 8, "learning_rate": 0.3, "thread_count": 1,
                                   "verbose": False, "allow_writing_files": False, **parameters})
        model.fit(catboost.Pool(x, LABELS[label](signal), feature_names=list("abcd")))
        thresholds = [border for borders in model.get_borders().values() for border in borders]

        def predict(rows, model=model, kind=kind, name=name):
            found = model.predict(rows, prediction_type=kind)
            return found[:, 1] if name == "two" else found

        write(f"catboost_{catboost.__version__.replace('.', '')}_{name}", "json",
              lambda path, model=model: model.save_model(path, format="json"), thresholds, predict)


if __name__ == "__main__":
    for make in (xgboost_models, xgboost_binary_models, lightgbm_models, catboost_models):
        try:
            make()
        except ImportError as missing:
            print(f"{make.__name__}: {missing}")
