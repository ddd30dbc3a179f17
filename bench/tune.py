#!/usr/bin/python3
"""Searches for the options of trees beside Podere's: tune.py [--rows N] [--trials N] [--podere PROGRAM] [--peers ...]

All search the same space, which is that of `podere tune gbt`, and measure trials by AUC on one row in five of the same
simulated events; the best setting is trained on all rows, and measured on 200,000 other events. Prints one line of JSON
a peer: seconds from rows in memory to the trained model (Podere reads its CSV, too), and the AUC on the other events.

optuna: XGBoost, TPE, and Optuna's successive halving at the rounds of Podere's rungs.
halving: HalvingRandomSearchCV of scikit-learn with its HistGradientBoostingClassifier, which has no row sampling.
flaml: XGBoost and FLAML's own search, which takes samples of the rows first.
ray: XGBoost, Optuna's TPE and Ray Tune's ASHA at those rounds; as many trials at a time as cores, each on one.

Peers are used from build/peers (bench/peers.sh). Example: bench/tune.py --rows 1e6 --trials 64 --cores 2
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
TEST_ROWS = 200_000
HELD_OUT = 5
ROUNDS, PATIENCE, ETA = 500, 20, 3
SPACE = {  # low, high, in the logarithm
    "learning_rate": (0.02, 0.3, True), "depth": (3, 10, False), "min_child_weight": (0.5, 100, True),
    "lambda": (0.01, 100, True), "subsample": (0.5, 1, False), "column_subsample": (0.4, 1, False)}


def podere(options, train, test):
    with tempfile.TemporaryDirectory() as folder:
        model = f"{folder}/best.json"
        start = time.perf_counter()
        run = subprocess.run([options.podere, "tune", "gbt", train, "--score", "auc", "--trials", str(options.trials),
                              "--held-out", str(HELD_OUT), "--cores", str(options.cores), "-o", model, "--json"],
                             check=True, capture_output=True, text=True)
        seconds = time.perf_counter() - start
        facts = json.loads(run.stdout)
        measured = subprocess.run([options.podere, "evaluate", model, test, "--json"], check=True, capture_output=True,
                                  text=True)
    return {"seconds": seconds, "validation_auc": facts["trials"][facts["best"]]["score"],
            "auc": json.loads(measured.stdout)["auc"], "chosen": facts["options"], "steps": facts["steps"]}


def rows_of(path):
    import numpy
    import pandas
    table = pandas.read_csv(path, header=None, dtype=numpy.float32).to_numpy()
    return numpy.ascontiguousarray(table[:, 1:]), table[:, 0].astype(int)


def xgboost_parameters(setting, cores):
    return {"objective": "binary:logistic", "eval_metric": "auc", "tree_method": "hist", "nthread": cores,
            "eta": setting["learning_rate"], "max_depth": setting["depth"], "lambda": setting["lambda"],
            "min_child_weight": setting["min_child_weight"], "subsample": setting["subsample"],
            "colsample_bytree": setting["column_subsample"]}


def optuna_peer(options, train, test):
    import optuna
    import xgboost
    from sklearn.model_selection import train_test_split

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    x, y = rows_of(train)
    start = time.perf_counter()
    parts = train_test_split(x, y, test_size=1 / HELD_OUT, stratify=y, random_state=0)
    bins = xgboost.QuantileDMatrix(parts[0], parts[2], nthread=options.cores)
    held_out = xgboost.QuantileDMatrix(parts[1], parts[3], ref=bins, nthread=options.cores)

    class Prune(xgboost.callback.TrainingCallback):
        def __init__(self, trial):
            super().__init__()
            self.trial = trial

        def after_iteration(self, model, epoch, evals_log):
            self.trial.report(evals_log["held_out"]["auc"][-1], epoch + 1)
            if self.trial.should_prune():
                raise optuna.TrialPruned
            return False

    def suggest(trial):
        return {name: trial.suggest_int(name, low, high) if name == "depth" else
                trial.suggest_float(name, low, high, log=is_log) for name, (low, high, is_log) in SPACE.items()}

    def objective(trial):
        model = xgboost.train(xgboost_parameters(suggest(trial), options.cores), bins, ROUNDS,
                              evals=[(held_out, "held_out")], early_stopping_rounds=PATIENCE, verbose_eval=False,
                              callbacks=[Prune(trial)])
        trial.set_user_attr("rounds", model.best_iteration + 1)
        return model.best_score

    pruner = optuna.pruners.SuccessiveHalvingPruner(min_resource=ROUNDS // ETA**2 + 1, reduction_factor=ETA)
    study = optuna.create_study(direction="maximize", pruner=pruner,
                                sampler=optuna.samplers.TPESampler(multivariate=True, seed=0))
    study.optimize(objective, n_trials=options.trials)
    best = study.best_trial
    model = xgboost.train(xgboost_parameters(best.params, options.cores),
                          xgboost.QuantileDMatrix(x, y, nthread=options.cores), best.user_attrs["rounds"])
    seconds = time.perf_counter() - start
    rows, labels = rows_of(test)
    return {"seconds": seconds, "validation_auc": best.value, "auc": auc(labels, model.inplace_predict(rows)),
            "chosen": {**best.params, "n_trees": best.user_attrs["rounds"]},
            "version": f"optuna {optuna.__version__}, xgboost {xgboost.__version__}"}


def halving_peer(options, train, test):
    import scipy.stats
    import sklearn
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.experimental import enable_halving_search_cv  # noqa: F401
    from sklearn.model_selection import HalvingRandomSearchCV, StratifiedShuffleSplit

    x, y = rows_of(train)
    start = time.perf_counter()
    space = {"learning_rate": scipy.stats.loguniform(0.02, 0.3), "max_depth": scipy.stats.randint(3, 11),
             "max_leaf_nodes": [None], "l2_regularization": scipy.stats.loguniform(0.01, 100),
             "max_features": scipy.stats.uniform(0.4, 0.6)}
    estimator = HistGradientBoostingClassifier(early_stopping=False, random_state=0)
    search = HalvingRandomSearchCV(estimator, space, n_candidates=options.trials, factor=ETA, resource="max_iter",
                                   min_resources=ROUNDS // ETA**2 + 1, max_resources=ROUNDS, scoring="roc_auc",
                                   cv=StratifiedShuffleSplit(1, test_size=1 / HELD_OUT, random_state=0), random_state=0)
    search.fit(x, y)
    seconds = time.perf_counter() - start
    rows, labels = rows_of(test)
    return {"seconds": seconds, "validation_auc": search.best_score_,
            "auc": auc(labels, search.predict_proba(rows)[:, 1]), "chosen": search.best_params_,
            "version": f"scikit-learn {sklearn.__version__}"}


def flaml_peer(options, train, test):
    import flaml
    import xgboost
    from flaml import AutoML, tune

    def domain(name):
        low, high, is_log = SPACE[name]
        return {"domain": tune.randint(low, high + 1) if name == "depth" else
                tune.loguniform(low, high) if is_log else tune.uniform(low, high)}

    x, y = rows_of(train)
    start = time.perf_counter()
    space = {"learning_rate": domain("learning_rate"), "max_depth": domain("depth"), "subsample": domain("subsample"),
             "min_child_weight": domain("min_child_weight"), "reg_lambda": domain("lambda"), "reg_alpha": {"domain": 0},
             "colsample_bytree": domain("column_subsample"), "colsample_bylevel": {"domain": 1},
             "n_estimators": {"domain": tune.lograndint(4, ROUNDS), "low_cost_init_value": 4}}
    search = AutoML()
    search.fit(x, y, task="classification", metric="roc_auc", estimator_list=["xgb_limitdepth"], max_iter=options.trials,
               time_budget=-1, eval_method="holdout", split_ratio=1 / HELD_OUT, n_jobs=options.cores, seed=0, verbose=0,
               custom_hp={"xgb_limitdepth": space})
    seconds = time.perf_counter() - start
    rows, labels = rows_of(test)
    return {"seconds": seconds, "validation_auc": 1 - search.best_loss,
            "auc": auc(labels, search.predict_proba(rows)[:, 1]), "chosen": search.best_config,
            "version": f"flaml {flaml.__version__}, xgboost {xgboost.__version__}"}


def ray_peer(options, train, test):
    import ray
    import xgboost
    from ray import tune
    from ray.tune.search.optuna import OptunaSearch
    from sklearn.model_selection import train_test_split

    class Report(xgboost.callback.TrainingCallback):
        def after_iteration(self, model, epoch, evals_log):
            tune.report({"auc": evals_log["held_out"]["auc"][-1]})
            return False

    def train_one(setting, parts):
        bins = xgboost.QuantileDMatrix(parts[0], parts[2], nthread=1)
        held_out = xgboost.QuantileDMatrix(parts[1], parts[3], ref=bins, nthread=1)
        xgboost.train(xgboost_parameters(setting, 1), bins, ROUNDS, evals=[(held_out, "held_out")], verbose_eval=False,
                      early_stopping_rounds=PATIENCE, callbacks=[Report()])

    def domain(name, low, high, is_log):
        if name == "depth":
            return tune.randint(low, high + 1)
        return tune.loguniform(low, high) if is_log else tune.uniform(low, high)

    x, y = rows_of(train)
    start = time.perf_counter()
    ray.init(num_cpus=options.cores, include_dashboard=False, log_to_driver=False, logging_level="error")
    parts = train_test_split(x, y, test_size=1 / HELD_OUT, stratify=y, random_state=0)
    scheduler = tune.schedulers.ASHAScheduler(max_t=ROUNDS, grace_period=ROUNDS // ETA**2 + 1, reduction_factor=ETA)
    tuner = tune.Tuner(
        tune.with_parameters(train_one, parts=parts),
        param_space={name: domain(name, *limits) for name, limits in SPACE.items()},
        tune_config=tune.TuneConfig(metric="auc", mode="max", scheduler=scheduler, num_samples=options.trials,
                                    search_alg=OptunaSearch(seed=0)),
        run_config=tune.RunConfig(storage_path=options.folder, verbose=0))
    best = tuner.fit().get_best_result(metric="auc", mode="max", scope="all")
    curve = best.metrics_dataframe["auc"]
    model = xgboost.train(xgboost_parameters(best.config, options.cores),
                          xgboost.QuantileDMatrix(x, y, nthread=options.cores), int(curve.argmax()) + 1)
    seconds = time.perf_counter() - start
    rows, labels = rows_of(test)
    return {"seconds": seconds, "validation_auc": curve.max(), "auc": auc(labels, model.inplace_predict(rows)),
            "chosen": {**best.config, "n_trees": int(curve.argmax()) + 1},
            "version": f"ray {ray.__version__}, xgboost {xgboost.__version__}"}


def auc(labels, probabilities):
    from sklearn.metrics import roc_auc_score
    return roc_auc_score(labels, probabilities)


PEERS = {"podere": podere, "optuna": optuna_peer, "halving": halving_peer, "flaml": flaml_peer, "ray": ray_peer}


def events(options, folder, n_rows, seed):
    path = f"{folder}/events-{n_rows}-{seed}.csv"
    if not os.path.exists(path):
        subprocess.run([options.podere, "generate", "higgs", "--events", str(n_rows), "--seed", str(seed), "-o", path],
                       check=True, capture_output=True)
    return path


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=lambda text: int(float(text)), default=1_000_000)
    parser.add_argument("--trials", type=int, default=64)
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--peers", nargs="+", choices=PEERS, default=list(PEERS))
    parser.add_argument("--podere", default=str(HERE.parent / "build/release/bin/podere"))
    parser.add_argument("--peer", choices=PEERS, help=argparse.SUPPRESS)  # in a process of its own
    parser.add_argument("--folder", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.peer:
        train = events(options, options.folder, options.rows, 0)
        test = events(options, options.folder, TEST_ROWS, 1)
        facts = {"bench": "tune", "peer": options.peer, "rows": options.rows, "trials": options.trials,
                 "cores": options.cores, **PEERS[options.peer](options, train, test)}
        print(json.dumps({**facts, "load_average": os.getloadavg()[0]}, default=float), flush=True)
        if not facts["auc"] > 0.75:
            sys.exit(f"tune: the AUC of {options.peer} is {facts['auc']}, too low to be right")
        return
    python = HERE.parent / "build/peers/bin/python"
    environment = {**os.environ, "OMP_NUM_THREADS": str(options.cores), "LOKY_MAX_CPU_COUNT": str(options.cores)}
    with tempfile.TemporaryDirectory() as folder:
        for peer in options.peers:
            command = [python if python.exists() else sys.executable, __file__, "--peer", peer, "--folder", folder,
                       "--rows", str(options.rows), "--trials", str(options.trials), "--cores", str(options.cores),
                       "--podere", options.podere]
            subprocess.run(command, check=True, env=environment)


if __name__ == "__main__":
    main()
