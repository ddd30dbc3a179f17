"""Nearest centroids as an estimator of scikit-learn: the algorithm is nearest_centroid.cc beside this file."""
from podere import AlgorithmClassifier


class NearestCentroid(AlgorithmClassifier):
    """The class whose mean is nearest.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> NearestCentroid().fit(X, y).score(X, y) > 0.9
    True
    """

    algorithm = "centroid"
    objectives = ("nearest-centroid",)

    def __init__(self, *, verbose=False, n_jobs=None):
        self.verbose = verbose
        self.n_jobs = n_jobs
