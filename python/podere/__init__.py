"""Podere: machine-learning models that are the same, bit for bit, on any number of threads and executors.

The estimators have scikit-learn's interface and train in this process::

    import podere
    model = podere.GBTClassifier(n_estimators=50).fit(X, y)
    model.predict_proba(X_new)

or on the executors of a session, which keep tables in their memory::

    with podere.Session(executors=4, cores=2) as s:
        train, test = s.read_csv("higgs.csv", label=0).split(0.9, seed=7)
        model = s.fit(podere.GBTClassifier(n_estimators=50), train)
        model.evaluate(test)

Errors are Python's own exceptions, with one line: ValueError and TypeError for what was given,
RuntimeError for what failed.
"""
from ._algorithm import AlgorithmClassifier
from ._anomalies import IsolationForest
from ._clusters import GaussianMixture, KMeans, MiniBatchKMeans
from ._connection import SessionError
from ._core import __version__
from ._from_sklearn import from_sklearn
from ._gbt import GBTClassifier, GBTRegressor
from ._images import ImageFeatures
from ._kernel_ridge import KernelRidge
from ._linear import LinearRegression, Ridge
from ._matrices import QR, Covariance
from ._network import MLPClassifier, NNClassifier, NNRegressor
from ._root import read_root
from ._search_cv import TuneSearchCV
from ._session import Session
from ._study import Step, Study
from ._svd import PCA, SVD, TruncatedSVD
from ._table import Table
from ._tune import Tuned

__all__ = ["PCA", "QR", "SVD", "AlgorithmClassifier", "Covariance", "GBTClassifier", "GBTRegressor", "GaussianMixture",
           "ImageFeatures", "IsolationForest", "KMeans", "KernelRidge", "LinearRegression", "MLPClassifier",
           "MiniBatchKMeans", "NNClassifier", "NNRegressor", "Ridge", "Session", "SessionError", "Step", "Study", "Table",
           "TruncatedSVD", "TuneSearchCV", "Tuned", "__version__", "from_sklearn", "read_root"]
