#!/usr/bin/env python3
"""SVD, PCA and clusters beside their peers: matrices.py [--cases ...] [--runs N] [--cores N] [--scale S]

Each measurement is a process of its own, which loads the rows, and then measures: from rows in memory (NumPy) to the
result. Peers are used from build/peers (bench/peers.sh). One line of JSON a measurement; the answers must agree.

svd       rank 20 of 500,000 x 500 float64 whose singular values fall as 1 / i: NumPy's Gram and eigh, scikit-learn's
          randomized method, ARPACK (once)
flat      the same where all singular values are near each other, which are known: 100,000 x 200
mllib     rank 20 of 100,000 x 1,000: MLlib's computeSVD, local[cores]
pca       20 components of 500,000 x 500 float64: scikit-learn
kmeans    50 clusters of 1,000,000 x 28 simulated events, 50 iterations: scikit-learn, faiss
mixture   10 Gaussians of 200,000 x 28, 10 iterations: scikit-learn
linear    least squares of 1,000,000 x 28 simulated events: scikit-learn
kernel    ridge regression by 1,000 random features of these: scikit-learn's RBFSampler and Ridge
isolation an isolation forest of these, of which one in 100 is to be an anomaly: scikit-learn

Needs the package in PYTHONPATH (build/release/python) and the program `podere` for the events (--podere).
Example: PYTHONPATH=build/release/python bench/matrices.py --cases svd kmeans
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

PYTHON = pathlib.Path(__file__).resolve().parents[1] / "build/peers/bin/python"
RANK, CLUSTERS, ITERATIONS = 20, 50, 50
RANDOM_FEATURES = 1_000
SHAPES = {"svd": (500_000, 500), "flat": (100_000, 200), "mllib": (100_000, 1_000), "pca": (500_000, 500),
          "kmeans": (1_000_000, 28), "mixture": (200_000, 28),
          "linear": (1_000_000, 28), "kernel": (1_000_000, 28), "isolation": (1_000_000, 28)}
PEERS = {"svd": ["podere", "numpy", "sklearn", "arpack"], "flat": ["podere", "numpy"], "mllib": ["podere", "mllib"],
         "pca": ["podere", "sklearn"], "kmeans": ["podere", "sklearn", "faiss"], "mixture": ["podere", "sklearn"],
         "linear": ["podere", "sklearn"], "kernel": ["podere", "sklearn"], "isolation": ["podere", "sklearn"]}
ONCE = {"arpack", "mllib"}  # which take minutes


# Rows -----------------------------------------------------------------------------------------------------------------

def spectrum(case, n):
    import numpy
    return 1 + 1e-3 * numpy.cos(numpy.arange(n)) if case == "flat" else 1 / numpy.arange(1, n + 1)


def matrix(case, n_rows, n_columns):
    """Near the spectrum; of `flat` just it: columns are orthogonal, then turned."""
    import numpy
    random = numpy.random.default_rng(1)
    rows = random.standard_normal((n_rows, n_columns))
    if case == "flat":
        rows = numpy.linalg.qr(rows)[0]
    turned = numpy.linalg.qr(random.standard_normal((n_columns, n_columns)))[0]
    return rows @ (spectrum(case, n_columns)[:, None] * turned)


def events(podere, n_rows):
    """float32, each feature of the standard deviation 1."""
    import numpy
    import pandas
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([podere, "generate", "higgs", "--events", str(n_rows), "--seed", "1", "-o", f"{folder}/events.csv"],
                       check=True, capture_output=True)
        rows = pandas.read_csv(f"{folder}/events.csv", header=None, dtype=numpy.float32).to_numpy()[:, 1:]
    return numpy.ascontiguousarray((rows - rows.mean(0)) / rows.std(0))


def make(case, options, path):
    import numpy
    n_rows, n_columns = SHAPES[case]
    n_rows = int(n_rows * options.scale)
    is_of_events = case in ("kmeans", "mixture", "linear", "kernel", "isolation")
    numpy.save(path, events(options.podere, n_rows) if is_of_events else matrix(case, n_rows, n_columns))


# Measurements: what is to be timed, and then the figures that must agree ------------------------------------------------

def podere_svd(rows, cores):
    import podere
    found = podere.TruncatedSVD(RANK, n_jobs=cores).fit(rows)
    return podere.__version__, {"values": found.singular_values_.tolist()}


def numpy_svd(rows, cores):
    import numpy
    squares, vectors = numpy.linalg.eigh(rows.T @ rows)
    values = numpy.sqrt(squares[::-1][:RANK])
    return numpy.__version__, {"values": values.tolist(), "shape": (vectors[:, -RANK:] / values).shape}


def sklearn_svd(rows, cores):
    import sklearn.decomposition
    found = sklearn.decomposition.TruncatedSVD(RANK, random_state=1).fit(rows)
    return sklearn.__version__, {"values": found.singular_values_.tolist()}


def arpack_svd(rows, cores):
    import scipy.sparse.linalg
    _, values, _ = scipy.sparse.linalg.svds(rows, RANK)
    return scipy.__version__, {"values": sorted(values.tolist(), reverse=True)}


def podere_pca(rows, cores):
    import podere
    return podere.__version__, {"values": podere.PCA(RANK, n_jobs=cores).fit(rows).singular_values_.tolist()}


def sklearn_pca(rows, cores):
    import sklearn.decomposition
    found = sklearn.decomposition.PCA(RANK, random_state=1).fit(rows)
    return sklearn.__version__, {"values": found.singular_values_.tolist()}


def podere_kmeans(rows, cores):
    import podere
    found = podere.KMeans(CLUSTERS, max_iter=ITERATIONS, tol=0, n_jobs=cores).fit(rows)
    return podere.__version__, {"iterations": found.n_iter_, "inertia": float(found.inertia_)}


def sklearn_kmeans(rows, cores):
    import sklearn.cluster
    found = sklearn.cluster.KMeans(CLUSTERS, n_init=1, max_iter=ITERATIONS, tol=0, random_state=1).fit(rows)
    return sklearn.__version__, {"iterations": found.n_iter_, "inertia": float(found.inertia_)}


def faiss_kmeans(rows, cores):
    import faiss
    faiss.omp_set_num_threads(cores)
    found = faiss.Kmeans(rows.shape[1], CLUSTERS, niter=ITERATIONS, max_points_per_centroid=len(rows), seed=1)
    found.train(rows)
    return faiss.__version__, {"iterations": ITERATIONS, "inertia": float(found.obj[-1])}


def podere_mixture(rows, cores):
    import podere
    found = podere.GaussianMixture(10, max_iter=10, tol=0, n_jobs=cores).fit(rows)
    return podere.__version__, {"iterations": found.n_iter_, "log_likelihood": float(found.lower_bound_)}


def sklearn_mixture(rows, cores):
    import warnings

    import sklearn.mixture
    warnings.simplefilter("ignore")  # that it has not converged
    found = sklearn.mixture.GaussianMixture(10, max_iter=10, tol=0, random_state=1).fit(rows)
    return sklearn.__version__, {"iterations": found.n_iter_, "log_likelihood": float(found.lower_bound_)}


def podere_isolation(rows, cores):
    import podere
    found = podere.IsolationForest(contamination=0.01, n_jobs=cores).fit(rows)
    return podere.__version__, {"threshold": -float(found.offset_)}


def sklearn_isolation(rows, cores):
    import sklearn.ensemble
    found = sklearn.ensemble.IsolationForest(contamination=0.01, random_state=1, n_jobs=cores).fit(rows)
    return sklearn.__version__, {"threshold": -float(found.offset_)}


def label_of(rows):
    import numpy
    return rows @ (1 / (1 + numpy.arange(rows.shape[1], dtype=numpy.float32))) + rows[:, 0] ** 2


def podere_linear(rows, cores, label):
    import podere
    found = podere.LinearRegression(n_jobs=cores).fit(rows, label)
    return podere.__version__, {"coefficients": found.coef_.tolist()}


def sklearn_linear(rows, cores, label):
    import sklearn.linear_model
    found = sklearn.linear_model.LinearRegression().fit(rows, label)
    return sklearn.__version__, {"coefficients": found.coef_.tolist()}


def podere_kernel(rows, cores, label):
    import podere
    found = podere.KernelRidge(n_components=RANDOM_FEATURES, n_jobs=cores).fit(rows, label)
    return podere.__version__, {"r2": found.score(rows[:10_000], label[:10_000])}


def sklearn_kernel(rows, cores, label):
    import sklearn.kernel_approximation
    import sklearn.linear_model
    import sklearn.pipeline
    sampler = sklearn.kernel_approximation.RBFSampler(gamma=1 / rows.shape[1], n_components=RANDOM_FEATURES, random_state=1)
    found = sklearn.pipeline.make_pipeline(sampler, sklearn.linear_model.Ridge(1, solver="cholesky")).fit(rows, label)
    return sklearn.__version__, {"r2": found.score(rows[:10_000], label[:10_000])}


def timed(peer, case, rows, cores):
    what = {"flat": "svd", "mllib": "svd"}.get(case, case)
    label = [label_of(rows)] if what in ("linear", "kernel") else []
    start = time.perf_counter()
    version, figures = globals()[f"{peer}_{what}"](rows, cores, *label)
    return {"seconds": time.perf_counter() - start, "version": version, **figures}


def mllib(rows, cores):
    """Rows are in Spark's memory before the clock starts."""
    import pyspark
    import spark_rows
    from pyspark.mllib.linalg import Vectors
    from pyspark.mllib.linalg.distributed import RowMatrix
    spark = spark_rows.start(cores, "8g", tempfile.gettempdir())
    parts = [rows[i:i + 1000] for i in range(0, len(rows), 1000)]
    vectors = spark.sparkContext.parallelize(parts, 4 * cores).flatMap(lambda part: map(Vectors.dense, part)).cache()
    RowMatrix(vectors).numRows()
    start = time.perf_counter()
    values = RowMatrix(vectors).computeSVD(RANK, computeU=False).s.toArray().tolist()
    return {"seconds": time.perf_counter() - start, "version": pyspark.__version__, "values": values}


def measure(peer, case, path, cores):
    import numpy
    rows = numpy.load(path)
    if peer == "podere":  # what is loaded at the first call is not measured
        timed(peer, case, rows[:2 * max(rows.shape[1], 100)], cores)
    return mllib(rows, cores) if peer == "mllib" else timed(peer, case, rows, cores)


# The run --------------------------------------------------------------------------------------------------------------

def check(case, figures, of_podere):
    """The randomized method finds values that lack a little."""
    if "values" in figures:
        close = 0.02 if figures["estimator"] == "sklearn" and case != "pca" else 1e-8
        worst = max(abs(a - b) / a for a, b in zip(of_podere["values"], figures["values"], strict=True))
        assert worst < close, (case, figures["estimator"], worst)
    elif "coefficients" in figures:  # of float32
        assert max(abs(a - b) for a, b in zip(of_podere["coefficients"], figures["coefficients"], strict=True)) < 1e-3
    elif "r2" in figures:  # of other random features
        assert abs(figures["r2"] - of_podere["r2"]) < 0.02, (case, figures, of_podere)
    elif "inertia" in figures:
        assert abs(figures["inertia"] / of_podere["inertia"] - 1) < 0.02, (case, figures, of_podere)
    elif "threshold" in figures:  # of other trees
        assert abs(figures["threshold"] - of_podere["threshold"]) < 0.03, (case, figures, of_podere)
    elif "log_likelihood" in figures:  # of other starts
        assert abs(figures["log_likelihood"] - of_podere["log_likelihood"]) < 0.5, (case, figures, of_podere)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--podere", default="build/release/bin/podere")
    parser.add_argument("--cases", nargs="+", choices=SHAPES, default=list(SHAPES))
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--scale", type=float, default=1, help="of the rows")
    parser.add_argument("--measure", nargs=3, metavar=("PEER", "CASE", "ROWS"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        print(json.dumps(measure(*options.measure, options.cores)))
        return
    threads = {name: str(options.cores) for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")}
    for case in options.cases:
        with tempfile.TemporaryDirectory(dir=os.environ.get("BENCH_DIRECTORY")) as folder:
            path = f"{folder}/rows.npy"
            make(case, options, path)
            first = {}
            for run in range(options.runs):
                for peer in PEERS[case]:
                    if run > 0 and peer in ONCE:
                        continue
                    ended = subprocess.run([PYTHON, __file__, "--measure", peer, case, path, "--cores", str(options.cores)],
                                           stdout=subprocess.PIPE, text=True, check=True, env=os.environ | threads)
                    figures = {"bench": "matrices", "case": case, "estimator": peer, "run": run, "cores": options.cores,
                               "load_average": os.getloadavg()[0], **json.loads(ended.stdout.splitlines()[-1])}
                    if peer == "podere":
                        first.setdefault(case, figures)
                        if case == "flat":
                            right = sorted(spectrum(case, SHAPES[case][1]), reverse=True)[:RANK]
                            figures["worst_error"] = max(abs(a / b - 1) for a, b in zip(figures["values"], right, strict=True))
                            assert figures["worst_error"] < 1e-8, figures
                    check(case, figures, first[case])
                    print(json.dumps({k: v[:3] if isinstance(v, list) else v for k, v in figures.items()}), flush=True)


if __name__ == "__main__":
    sys.exit(main())
