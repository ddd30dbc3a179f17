#!/usr/bin/python3
"""One run of one peer in a process of its own: tree_peers.py PART PEER CASE. Prints one JSON line. Called by trees.py.

PART: convert, train, job or predict. CASE is JSON: train and test (CSV), arrays (folder), model (file), rows, trees,
depth, bins, cores. Each trainer says how Podere's parameters map to its own.
"""
import json
import os
import sys
import time

import numpy

LEARNING_RATE, LAMBDA, MIN_CHILD_WEIGHT = 0.1, 1, 1


def memory(field, pid="self"):
    """VmHWM: the most memory that the process has held; VmRSS: what it holds now. Bytes."""
    with open(f"/proc/{pid}/status") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith(field + ":"))


def area_under_roc(label, score):
    _, inverse, counts = numpy.unique(score, return_inverse=True, return_counts=True)
    ranks = (numpy.cumsum(counts) - (counts - 1) / 2)[inverse]
    n_positive = int(label.sum())
    return float((ranks[label == 1].sum() - n_positive * (n_positive + 1) / 2) / n_positive / (len(label) - n_positive))


class Stopwatch:
    def __init__(self):
        self.start = time.perf_counter()

    def restart(self):
        start, self.start = self.start, time.perf_counter()
        return self.start - start


# Data -----------------------------------------------------------------------------------------------------------------

def read_csv(path, cores):
    """The fastest reader of text to be had from Python: (features [n_rows x n_features], label), both float32."""
    try:
        import pyarrow
        from pyarrow import csv
    except ImportError:
        import pandas
        columns = pandas.read_csv(path, header=None, dtype=numpy.float32).to_numpy()
        return numpy.ascontiguousarray(columns[:, 1:]), columns[:, 0].copy()
    pyarrow.set_cpu_count(cores)
    with open(path) as file:
        names = [f"f{i}" for i in range(file.readline().count(",") + 1)]
    table = csv.read_csv(path, csv.ReadOptions(column_names=names, block_size=1 << 24),
                         convert_options=csv.ConvertOptions(column_types={name: pyarrow.float32() for name in names}))
    features = numpy.empty((table.num_rows, len(names) - 1), numpy.float32)
    row = 0
    for batch in table.to_batches():
        for i, column in enumerate(batch.columns[1:]):
            features[row:row + batch.num_rows, i] = column.to_numpy(zero_copy_only=False)
        row += batch.num_rows
    return features, table.column(0).to_numpy()


def load(case, part):
    return [numpy.load(os.path.join(case["arrays"], f"{part}.{what}.npy")) for what in ("features", "label")]


def convert(case):
    """CSV to .npy, which np.load reads straight into the array that the peers get."""
    for part in ("train", "test"):
        for what, values in zip(("features", "label"), read_csv(case[part], case["cores"])):
            numpy.save(os.path.join(case["arrays"], f"{part}.{what}.npy"), values)
    return {}


# Peers: bin(features, label, case) -> binned, train(binned, case) -> model, score(model, features, case), save, load ---

class XGBoost:
    """min_child_weight, lambda, max_bin, max_depth are what Podere's are named after."""

    def __init__(self):
        import xgboost
        self.module, self.version = xgboost, xgboost.__version__

    def bin(self, features, label, case):
        return self.module.QuantileDMatrix(features, label, max_bin=case["bins"], nthread=case["cores"])

    def train(self, binned, case):
        return self.module.train(
            {"objective": "binary:logistic", "tree_method": "hist", "max_depth": case["depth"], "eta": LEARNING_RATE,
             "max_bin": case["bins"], "nthread": case["cores"], "lambda": LAMBDA, "min_child_weight": MIN_CHILD_WEIGHT},
            binned, case["trees"])

    def score(self, model, features, case):
        return model.inplace_predict(features, predict_type="margin")

    def save(self, model, path):
        model.save_model(path)

    def load(self, path, case):
        return self.module.Booster({"nthread": case["cores"]}, model_file=path)

    def predict_seconds(self, model, features, case):
        """The faster of its two ways, without making the matrix that the second needs."""
        watch = Stopwatch()
        in_place = self.score(model, features, case)
        seconds = {"inplace_predict": watch.restart()}
        matrix = self.module.DMatrix(features, nthread=case["cores"])
        watch.restart()
        from_matrix = model.predict(matrix, output_margin=True)
        seconds["predict"] = watch.restart()
        assert numpy.array_equal(in_place, from_matrix)
        return seconds

    def leaves(self, model):
        return sum(tree.count("leaf=") for tree in model.get_dump())


class LightGBM:
    """Depth d is max_depth d with 2^d leaves, so that no leaf is missing. min_child_weight is min_sum_hessian_in_leaf;
    min_data_in_leaf 0 leaves the decision to it. max_bin 255 instead of 256, for which bins would take two bytes."""
    quantized = False

    def __init__(self):
        import lightgbm
        self.module, self.version = lightgbm, lightgbm.__version__

    def parameters(self, case):
        return {"objective": "binary", "max_depth": case["depth"], "num_leaves": 2 ** case["depth"], "lambda_l2": LAMBDA,
                "min_sum_hessian_in_leaf": MIN_CHILD_WEIGHT, "min_data_in_leaf": 0, "max_bin": case["bins"] - 1,
                "learning_rate": LEARNING_RATE, "num_threads": case["cores"], "use_quantized_grad": self.quantized,
                "verbosity": -1}

    def bin(self, features, label, case):
        return self.module.Dataset(features, label, params=self.parameters(case)).construct()

    def train(self, binned, case):
        return self.module.train(self.parameters(case), binned, case["trees"])

    def score(self, model, features, case):
        return model.predict(features, raw_score=True, num_threads=case["cores"])

    def save(self, model, path):
        model.save_model(path)

    def load(self, path, case):
        return self.module.Booster(model_file=path)

    def predict_seconds(self, model, features, case):
        watch = Stopwatch()
        self.score(model, features, case)
        return {"predict": watch.restart()}

    def leaves(self, model):
        return sum(tree["num_leaves"] for tree in model.dump_model()["tree_info"])


class LightGBMQuantized(LightGBM):
    """As LightGBM, with use_quantized_grad and its default of 4 levels."""
    quantized = True


class ScikitLearn:
    """HistGradientBoostingClassifier. It has no min_child_weight (min_samples_leaf is 1) and at most 255 bins. It bins
    inside of fit, in a method whose calls are timed here."""

    def __init__(self):
        import sklearn
        self.version = sklearn.__version__

    def bin(self, features, label, case):
        return features, label

    def train(self, binned, case):
        from sklearn.ensemble import HistGradientBoostingClassifier
        model = HistGradientBoostingClassifier(
            max_iter=case["trees"], max_depth=case["depth"], max_leaf_nodes=2 ** case["depth"],
            max_bins=case["bins"] - 1, learning_rate=LEARNING_RATE, l2_regularization=LAMBDA, min_samples_leaf=1,
            early_stopping=False)
        bin_data, self.bin_seconds = model._bin_data, 0.0

        def timed_bin_data(*arguments, **named):
            watch = Stopwatch()
            binned = bin_data(*arguments, **named)
            self.bin_seconds += watch.restart()
            return binned

        model._bin_data = timed_bin_data
        model.fit(*binned)
        del model._bin_data
        return model

    def score(self, model, features, case):
        return model.decision_function(features)


PEERS = {"xgboost": XGBoost, "lightgbm": LightGBM, "lightgbm-quantised": LightGBMQuantized, "scikit-learn": ScikitLearn}


# Parts ----------------------------------------------------------------------------------------------------------------

def fit(peer, features, label, case):
    watch = Stopwatch()
    binned = peer.bin(features, label, case)
    bin_seconds = watch.restart()
    model = peer.train(binned, case)
    train_seconds = watch.restart()
    inside = getattr(peer, "bin_seconds", 0.0)
    return model, {"bin_seconds": bin_seconds + inside, "train_seconds": train_seconds - inside}


def train(peer, case):
    """From rows in memory to a model; then AUC on the test part. Peak memory is that before the test part is read."""
    watch = Stopwatch()
    features, label = load(case, "train")
    facts = {"version": peer.version, "load_seconds": watch.restart()}
    loaded = memory("VmRSS")
    model, seconds = fit(peer, features, label, case)
    peak = memory("VmHWM")
    if hasattr(peer, "save"):
        peer.save(model, case["model"])
    features, label = load(case, "test")
    return {**facts, **seconds, "peak_memory_bytes": peak, "memory_above_data_bytes": peak - loaded,
            "auc": area_under_roc(label, peer.score(model, features, case))}


def job(peer, case):
    """From the text of the training part to AUC on the test part. Does not count the start of Python and its imports."""
    read_csv(case["test"], case["cores"])  # nor those of the reader
    watch = Stopwatch()
    model, seconds = fit(peer, *read_csv(case["train"], case["cores"]), case)
    features, label = read_csv(case["test"], case["cores"])
    auc = area_under_roc(label, peer.score(model, features, case))
    return {"version": peer.version, "seconds": watch.restart(), **seconds, "auc": auc}


def predict(peer, case):
    """Margins of the training part, in memory, from the model that the part `train` has left."""
    features, label = load(case, "train")
    if not os.path.exists(case["model"]):
        peer.save(fit(peer, features, label, case)[0], case["model"])
    model = peer.load(case["model"], case)
    seconds = peer.predict_seconds(model, features, case)
    return {"version": peer.version, "ways_seconds": seconds, "predict_seconds": min(seconds.values()),
            "leaves": peer.leaves(model)}


def main():
    part, name, case = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
    if part == "convert":
        facts = convert(case)
    elif name == "spark":
        import tree_spark
        facts = tree_spark.train(case)
    else:
        facts = {"train": train, "job": job, "predict": predict}[part](PEERS[name](), case)
    print(json.dumps(facts))


if __name__ == "__main__":
    main()
