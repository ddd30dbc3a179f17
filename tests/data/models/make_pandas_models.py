#!/usr/bin/env python3
"""Makes pandas/: models that XGBoost and LightGBM trained on data frames with columns of dtype category, the rows as a CSV
file as pandas writes it, and what the library predicts for the data frame. Tests read the files only.

Run it once with each pair of versions, from PyPI, in a virtual environment of its own:
    make_pandas_models.py new    xgboost 3.2.0, lightgbm 4.7.0, pandas 3.1.1
    make_pandas_models.py old    xgboost 1.7.6, lightgbm 3.3.5, pandas 1.5.3, numpy 1.24.4
"""

import pathlib
import sys

import lightgbm
import numpy
import pandas
import xgboost

HERE = pathlib.Path(__file__).parent / "pandas"
KINDS = {  # categories in the order of their codes, which is not the sorted one
    "text": ["b", "a", "süd, \"west\"", "3", "c"],
    "int": [10, 3, 200, 0, 41],
    "negative": [7, -5, 30, -1, 0],
    "float": [2.25, 0.5, -3.5, 1.0, 1e-7],
    "bool": [True, False],
}
XGBOOST_3_HAS = ["text", "int", "negative"]  # and refuses other kinds
N, N_SHOWN = 400, 60


def table(library, kind, has_missing):
    """Columns x (numbers), c (the categories), d (texts); and labels."""
    rng = numpy.random.default_rng(len(kind))
    values, letters = list(KINDS[kind]), ["z", "y", "x"]
    if library == "xgboost" and kind == "text":
        values[2] = 'south, "west"'  # XGBoost 3.2 cuts off texts beyond ASCII in its file
    place, other = rng.integers(0, len(values), N), rng.integers(0, 3, N)
    x = rng.normal(size=N).round(3)
    c = pandas.Series([values[p] for p in place], dtype=object)
    if has_missing:
        c[rng.random(N) < 0.1] = None
    frame = pandas.DataFrame({"x": x, "c": pandas.Categorical(c, categories=values),
                              "d": pandas.Categorical.from_codes(other, letters)})
    y = (numpy.array([1.5, -1.5, 1, -0.5, 0])[place] + (other == 1) + x / 2 + 0.3 * rng.normal(size=N)) > 0.3
    return frame, y.astype(int)


def unseen(kind):
    return {"text": "Atlantis", "int": 999, "negative": -999, "float": 0.25}.get(kind)


def write(name, frame, predictions, model):
    model.save_model(str(HERE / f"{name}.{'txt' if isinstance(model, lightgbm.Booster) else 'json'}"))
    frame.to_csv(HERE / f"{name}.csv", index=False)
    numpy.savetxt(HERE / f"{name}.expected", predictions, fmt="%.9g")


def make(library, kind, has_missing, age):
    frame, y = table(library, kind, has_missing)
    shown = frame[:N_SHOWN]
    name = f"{library}_{age}_{kind}{'_missing' if has_missing else ''}"
    if library == "xgboost":
        model = xgboost.XGBClassifier(n_estimators=6, max_depth=3, max_cat_to_onehot=2, tree_method="hist",
                                      enable_categorical=True, n_jobs=1).fit(frame, y)
        predictions = model.predict_proba(shown)[:, 1]
        if age == "old":  # whose file does not say what codes stand for: the CSV file has codes
            codes = {column: shown[column].cat.codes.replace(-1, numpy.nan) for column in "cd"}
            shown = shown.assign(**codes)
        write(name, shown, predictions, model)
        return
    model = lightgbm.LGBMClassifier(n_estimators=6, num_leaves=8, min_child_samples=5, min_data_per_group=5, cat_smooth=1,
                                    max_cat_to_onehot=2, n_jobs=1, deterministic=True, verbose=-1).fit(frame, y)
    if has_missing and unseen(kind) is not None:  # XGBoost refuses categories that it has not seen
        shown = shown.copy()
        column = shown["c"].astype(object)
        column.iloc[::9] = unseen(kind)
        shown["c"] = column.astype("category")
    write(name, shown, model.predict_proba(shown)[:, 1], model.booster_)


def main(age):
    HERE.mkdir(exist_ok=True)
    for kind in KINDS:
        for has_missing in (False, True):
            make("lightgbm", kind, has_missing, age)
            if kind in (["text", "int"] if age == "old" else XGBOOST_3_HAS):
                make("xgboost", kind, has_missing, age)


main(sys.argv[1])
