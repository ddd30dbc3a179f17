#!/usr/bin/env python3
"""Random models of XGBoost and LightGBM through `podere convert` and `podere predict`, and Podere's through their own runtimes.

Wants the packages xgboost, lightgbm, pandas and onnxruntime. A model either predicts what the library predicts, but for
the rounding of float32, or is refused with one line that names what Podere does not have. Never anything else.
"""

import json
import re

from rounds import Answer, Finding, asked, run

OPTIONS = asked(__doc__)

import lightgbm
import numpy
import onnxruntime
import pandas
import xgboost

# What Podere says it cannot take, in its docs, and whether a round may meet it.
REFUSALS = (r"beyond ASCII|dart|gblinear|random forest|ordered categories|not a number|objective|"
            r"two categories|not text|is empty|categor")


# --- data --------------------------------------------------------------------------------------------------------------


def category_values(rng, library):
    """The values of a categorical column, and what they are."""
    kind = rng.choice(["text", "text", "text like numbers", "int", "negative", "float", "bool", "spaces", "many", "accents"])
    values = {
        "text": ["red", "green", "blue", "it's", 'say "x"', "a,b"],
        "text like numbers": ["1", "2.0", "3", "1e2", "03", "-4"],
        "int": [0, 3, 7, 100, 12345],
        "negative": [-5, -1, 0, 2, 9],
        "float": [0.5, 1.25, -3.75, 2.0],
        "bool": [True, False],
        "spaces": ["north east", "a b", "c", "d e f"],
        "many": [f"v{i}" for i in range(rng.randint(20, 90))],
        "accents": ["été", "Größe", "x", "日本"],
    }[kind]
    return kind, values[: rng.randint(2, len(values))] if kind != "many" else values


def frame_of(rng, numbers, library):
    """A random data frame with signal in each column, its target, and what was made."""
    n = rng.randint(200, 600)
    frame, kinds = pandas.DataFrame(), []
    target = numpy.zeros(n)
    for i in range(rng.randint(0, 3)):
        frame[f"x{i}"] = numbers.normal(size=n).astype(rng.choice(["float32", "float64"])).round(3)
        target += frame[f"x{i}"].astype(float) * numbers.normal()
        if rng.random() < 0.5:
            frame.loc[numbers.random(n) < 0.1, f"x{i}"] = numpy.nan
        kinds.append("number")
    if rng.random() < 0.3:
        frame["count"] = numbers.integers(-3, 4, n)
        target += frame["count"]
        kinds.append("count")
    for i in range(rng.randint(0 if len(frame.columns) else 1, 3)):
        kind, values = category_values(rng, library)
        drawn = numbers.integers(0, len(values), n)
        target += numbers.normal(size=len(values))[drawn] * 2
        column = pandas.Series([values[k] for k in drawn], dtype=object if kind == "bool" else None)
        if rng.random() < 0.3:
            column[numbers.random(n) < 0.1] = None
        categories = None
        if rng.random() < 0.3:  # in an order of their own, some of them without rows
            categories = rng.sample(values, len(values))
        frame[f"c{i}"] = pandas.Series(pandas.Categorical(column, categories=categories))
        kinds.append(kind)
    return frame, target, kinds


def test_frame(rng, numbers, frame, library):
    """Rows to predict: those of training in another order, and for LightGBM, which takes them for missing, unseen ones."""
    test = frame.sample(frac=1, random_state=rng.randint(0, 10**6)).reset_index(drop=True)
    if library == "lightgbm" and rng.random() < 0.4:
        for name in test.columns:
            values = list(test[name].cat.categories) if isinstance(test[name].dtype, pandas.CategoricalDtype) else []
            if values and not isinstance(values[0], bool):
                new = "new" if isinstance(values[0], str) else 77
                column = test[name].astype(object)
                column[numbers.random(len(test)) < 0.1] = new
                test[name] = pandas.Categorical(column, categories=values + [new])
    return test


# --- models of others ----------------------------------------------------------------------------------------------------


def train_xgboost(rng, frame, label, task):
    """A model, what predicts with it, its file, and how it was made."""
    has_categories = any(isinstance(kind, pandas.CategoricalDtype) for kind in frame.dtypes)
    parameters = {"max_depth": rng.randint(1, 6), "learning_rate": 0.3, "tree_method": rng.choice(["hist", "approx"]),
                  "max_cat_to_onehot": rng.choice([1, 4, 100]), "subsample": rng.choice([1, 0.7]), "seed": 3}
    if rng.random() < 0.3:
        parameters.update(grow_policy="lossguide", max_leaves=12)
    if rng.random() < 0.2:
        parameters["base_score"] = 0.3
    objective = {"two": "binary:logistic", "many": rng.choice(["multi:softprob", "multi:softmax"]),
                 "number": rng.choice(["reg:squarederror", "count:poisson"])}[task]
    if objective == "count:poisson":
        label = numpy.round(numpy.exp(label / (abs(label).max() + 1)) * 3)
    if rng.random() < 0.5:
        maker = xgboost.XGBRegressor if task == "number" else xgboost.XGBClassifier
        model = maker(n_estimators=rng.randint(1, 12), objective=objective, enable_categorical=has_categories,
                      early_stopping_rounds=rng.choice([None, 2]), **parameters)
        model.fit(frame, label, eval_set=[(frame, label)], verbose=False)
        return model.save_model, (model.predict if task == "number" else model.predict_proba), f"XGB wrapper {objective}"
    if task == "many":
        parameters.update(num_class=3, objective="multi:softprob")
    else:
        parameters["objective"] = objective
    model = xgboost.train(parameters, xgboost.DMatrix(frame, label, enable_categorical=True), rng.randint(1, 12))
    return model.save_model, lambda rows: model.predict(xgboost.DMatrix(rows, enable_categorical=True)), f"XGB native {objective}"


def train_lightgbm(rng, frame, label, task):
    parameters = {"max_depth": rng.randint(1, 6), "learning_rate": 0.3, "verbose": -1, "num_leaves": rng.choice([4, 31]),
                  "min_data_in_leaf": 5, "min_data_per_group": rng.choice([1, 100]), "cat_smooth": rng.choice([0, 10]), "seed": 3,
                  "max_cat_to_onehot": rng.choice([1, 4, 100]), "use_missing": rng.random() < 0.9, "num_threads": 1}
    if rng.random() < 0.2:
        parameters["boosting"] = rng.choice(["dart", "rf", "goss"])
        parameters.update(bagging_freq=1, bagging_fraction=0.6) if parameters["boosting"] == "rf" else None
    if rng.random() < 0.3:
        parameters["linear_tree"] = True
    objective = {"two": "binary", "many": rng.choice(["multiclass", "multiclassova"]), "number": rng.choice(["regression", "poisson", "quantile"])}[task]
    if objective == "poisson":
        label = numpy.round(numpy.exp(label / (abs(label).max() + 1)) * 3)
    how = f"LGBM {objective} {parameters.get('boosting', '')}{' linear' if parameters.get('linear_tree') else ''}"
    if rng.random() < 0.5:
        maker = lightgbm.LGBMRegressor if task == "number" else lightgbm.LGBMClassifier
        model = maker(n_estimators=rng.randint(1, 12), objective=objective, **parameters)
        model.fit(frame, label)
        return model.booster_.save_model, (model.predict if task == "number" else model.predict_proba), how + " wrapper"
    parameters.update(objective=objective, **({"num_class": 3} if task == "many" else {}))
    model = lightgbm.train(parameters, lightgbm.Dataset(frame, label), rng.randint(1, 12))
    return model.save_model, model.predict, how + " native"


# --- compare -------------------------------------------------------------------------------------------------------------


def predictions_of(folder, path):
    return numpy.loadtxt(f"{folder}/{path}", delimiter=",", ndmin=2)


def compare(ours, theirs, what, allowed=0):
    """Throws a Finding unless both are equal but for float32; `allowed` rows may lie on the other side of a threshold."""
    theirs = numpy.asarray(theirs, dtype=float)
    theirs = theirs.reshape(len(theirs), -1)
    if theirs.shape[1] == 2 and ours.shape[1] == 1:
        theirs = theirs[:, 1:]
    if ours.shape != theirs.shape:
        raise Finding(f"{what}: {ours.shape} predictions, {theirs.shape} of the library")
    far = ~numpy.isclose(ours, theirs, rtol=3e-5, atol=3e-6).all(axis=1)
    if far.sum() > allowed:
        i = numpy.flatnonzero(far)[0]
        raise Finding(f"{what}: {far.sum()} of {len(ours)} rows differ, by up to {abs(ours - theirs).max():.3g}; row {i}: {ours[i]} and {theirs[i]}")


def import_one(rng, folder, log):
    """A library's model on a data frame, then Podere's on the same rows as CSV."""
    numbers = numpy.random.default_rng(rng.getrandbits(32))
    library = rng.choice(["xgboost", "lightgbm"])
    frame, target, kinds = frame_of(rng, numbers, library)
    log.append(f"{len(frame)} rows, {' '.join(f'{name}={kind}' for name, kind in zip(frame.columns, kinds))}")
    task = rng.choice(["two", "two", "many", "number"])
    order = target.argsort().argsort()
    label = {"two": order * 2 // len(frame), "many": order * 3 // len(frame), "number": target}[task]
    names = list(frame.columns)
    train = train_xgboost if library == "xgboost" else train_lightgbm
    try:
        save, predict, how = train(rng, frame, label, task)
    except (ValueError, TypeError, xgboost.core.XGBoostError, lightgbm.basic.LightGBMError) as fault:
        log.append(f"{library} itself refuses: {str(fault).splitlines()[0][:80]}")
        return
    log.append(how)
    path = "model.json" if library == "xgboost" else "model.txt"
    save(f"{folder}/{path}")
    test = test_frame(rng, numbers, frame, library)
    test.to_csv(f"{folder}/test.csv", index=False, na_rep=rng.choice(["", "NA"]))
    converted = Answer(["convert", path, "-o", "podere.json", "--json"], folder)
    if converted.code == 2:
        if not re.search(REFUSALS, converted.error):
            raise Finding(f"not a clear refusal: {converted}")
        log.append("refused: " + converted.error.strip()[:160])
        return
    theirs = predict(test[names])
    answer = Answer(["predict", "podere.json", "test.csv", "-o", "ours.csv", "--json"], folder)
    if answer.code == 2:
        raise Finding(f"{answer}")
    compare(predictions_of(folder, "ours.csv"), theirs, f"{answer} {converted.error.strip()}")


def export_one(rng, folder, log):
    """Podere's model on a CSV, then XGBoost's and ONNX's of it on the same rows."""
    numbers = numpy.random.default_rng(rng.getrandbits(32))
    frame, target, kinds = frame_of(rng, numbers, "xgboost")
    log.append(f"export {len(frame)} rows, {' '.join(f'{name}={kind}' for name, kind in zip(frame.columns, kinds))}")
    task = rng.choice(["two", "two", "many", "number"])
    order = target.argsort().argsort()
    categorical = [name for name in frame.columns if isinstance(frame[name].dtype, pandas.CategoricalDtype)]
    plain = frame.assign(label={"two": order * 2 // len(frame), "many": order * 3 // len(frame), "number": target.round(4)}[task])
    plain.to_csv(f"{folder}/train.csv", index=False)
    objective = {"two": "logistic", "many": "softmax", "number": "squared-error"}[task]
    arguments = ["train", "gbt", "train.csv", "--label", "label", "--objective", objective, "--trees", rng.randint(1, 12),
                 "--depth", rng.randint(1, 6), "--learning-rate", 0.3, "-o", "podere.json", "--json"]
    if categorical:
        arguments += ["--categorical", ",".join(categorical)]
    Answer(arguments, folder).json
    Answer(["predict", "podere.json", "train.csv", "-o", "ours.csv", "--json"], folder).json
    ours = predictions_of(folder, "ours.csv")
    said = Answer(["convert", "podere.json", "--to", "xgboost", "-o", "xgboost.json", "--json"], folder)
    Answer(["convert", "podere.json", "--to", "onnx", "-o", "model.onnx", "--json"], folder).json
    lists = said.json.get("categories", {})
    # As a user reads the file: numbers are numbers; then the dtype that the docs ask for.
    rows = pandas.read_csv(f"{folder}/train.csv", dtype={name: str for name in categorical})[list(frame.columns)]
    check_onnx(folder, rows, lists, categorical, ours)
    booster = xgboost.Booster(model_file=f"{folder}/xgboost.json")
    for name in categorical:
        texts = lists[name]
        if all(re.fullmatch(r"0|-?[1-9]\d*", text) for text in texts):
            rows[name] = pandas.Categorical(rows[name].astype("float"), categories=[int(text) for text in texts])
        elif all(text.isascii() for text in texts):
            rows[name] = rows[name].astype("category")
        else:
            rows[name] = rows[name].map({text: code for code, text in enumerate(texts)})
    try:
        theirs = booster.predict(xgboost.DMatrix(rows, enable_categorical=True))
    except (ValueError, TypeError, xgboost.core.XGBoostError) as fault:
        raise Finding(f"XGBoost refuses {said}: {fault}") from fault
    compare(ours, theirs, f"XGBoost on {said} {lists}")


def check_onnx(folder, rows, lists, categorical, ours):
    """onnxruntime on numbers, and codes by the lists that convert gives."""
    session = onnxruntime.InferenceSession(f"{folder}/model.onnx")
    stored = session.get_modelmeta().custom_metadata_map.get("categories")
    if categorical and {name: texts for name, texts in json.loads(stored or "{}").items()} != lists:
        raise Finding(f"the metadata of ONNX has {stored}, convert says {lists}")
    coded = rows.copy()
    for name in categorical:
        codes = {text: code for code, text in enumerate(lists[name])}
        coded[name] = [numpy.nan if pandas.isna(text) else codes[text] for text in rows[name]]
    output = session.run(None, {"features": coded.to_numpy(dtype="float32")})[-1]
    compare(ours, output, "onnxruntime")


def one_round(rng, folder, log):
    (export_one if rng.random() < 0.35 else import_one)(rng, folder, log)


if __name__ == "__main__":
    run(one_round, OPTIONS)
