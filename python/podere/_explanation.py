"""Why boosted trees predict what they do."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray


class Explanation:
    """SHAP values of rows, in the unit of margins: log odds of classes, numbers themselves.

    Attributes
    ----------
    values : ndarray of shape (n_samples, n_features), or (n_samples, n_features, n_classes) for more than two classes
        The share of each feature in the margin of each row.
    base_values : float, or ndarray of shape (n_classes,) for more than two classes
        The margin of a row of which nothing is known.
    feature_names : list of str
    """

    def __init__(self, shares: NDArray[Any], feature_names: Sequence[str], classes: NDArray[Any] | None) -> None:
        self.values: NDArray[np.float64] = np.moveaxis(shares[:, :, :-1], 1, 2)
        self.base_values: NDArray[np.float64] | float = shares[0, :, -1]
        if shares.shape[1] == 1:
            self.values, self.base_values = self.values[:, :, 0], float(shares[0, 0, -1])
        self.feature_names = list(feature_names)
        self._classes = classes

    def __repr__(self) -> str:
        return f"<podere.Explanation of {len(self.values):,} rows x {len(self.feature_names)} features>"

    def plot(self, ax: Any = None, max_features: int = 20) -> Any:
        """Draw the mean absolute share of each feature with matplotlib, the largest first.

        Parameters
        ----------
        ax : Axes of matplotlib or None
            To draw on; None makes a figure.
        max_features : int, default=20
            How many features to show.

        Returns
        -------
        Axes
        """
        try:
            from matplotlib import pyplot
        except ImportError:
            raise ImportError("plot needs matplotlib, which is not installed") from None
        if ax is None:
            ax = pyplot.subplots()[1]
        means = np.abs(self.values).mean(axis=0).reshape(len(self.feature_names), -1)  # of each class
        order = np.argsort(-means.sum(axis=1), kind="stable")[:max_features][::-1]
        left = np.zeros(len(order))
        labels = [None] if self._classes is None or means.shape[1] == 1 else list(map(str, self._classes))
        for k, label in enumerate(labels):
            ax.barh([self.feature_names[j] for j in order], means[order, k], left=left, label=label)
            left += means[order, k]
        if means.shape[1] > 1:
            ax.legend(title="class")
        ax.set(xlabel="mean |SHAP value|")
        return ax
