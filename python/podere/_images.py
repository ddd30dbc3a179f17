"""What a layer of a network makes of pictures, as a transformer of scikit-learn."""
from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin

from . import _core, _parameters

_MOST_SIDE = 16384
_LEAST_BITS, _MOST_BITS = 8, 32
_PIECE = 64  # pictures of a thread, between two looks for Ctrl-C
_ALLOWED = ("allowed are a folder, pattern, list or picture, paths of pictures, and pictures of Pillow or arrays of uint8 "
            "[height, width] or [height, width, 3]")


class ImageFeatures(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Features of pictures: the values of a layer of a network from an ONNX file.

    There is nothing to fit. The features have the same bits on any number of threads, and are those of
    `images:FOLDER?model=...&layer=...`.

    Parameters
    ----------
    model : path
        ONNX file of a network that takes a picture.
    layer : str or None
        The tensor whose values are the features, of any shape; None: the network's output.
    preprocess : str, path or None
        How values of pictures come to the network: "imagenet", "inception", "unit", "raw" or a JSON file; None: the
        file MODEL.json beside MODEL.onnx.
    size : int or None
        Height and width of what the network gets, if it takes any.
    bits : int or None
        Of files with values above 8 bits how many are shown: 2^bits and more is white; None: all that the file has, and
        pictures that use few of them are refused.
    n_jobs : int or None
        Threads; None: all cores that this process may use.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> features = podere.ImageFeatures("resnet50.onnx", "/avgpool/GlobalAveragePool_output_0", "imagenet")
    >>> head = make_pipeline(features, LogisticRegression()).fit(paths, labels)  # doctest: +SKIP
    """

    def __init__(self, model: str | os.PathLike[str], layer: str | None = None,
                 preprocess: str | os.PathLike[str] | None = None, *, size: int | None = None,
                 bits: int | None = None, n_jobs: int | None = None) -> None:
        self.model = model
        self.layer = layer
        self.preprocess = preprocess
        self.size = size
        self.bits = bits
        self.n_jobs = n_jobs

    def fit(self, X: Any = None, y: Any = None) -> ImageFeatures:
        """Reads the network, and raises if it cannot be used. Pictures are not looked at."""
        self.__dict__.pop("_read", None)  # the file may be another by now
        self._network()
        return self

    def transform(self, X: Any) -> np.ndarray[Any, Any]:
        """The features of pictures, float32 [n_pictures, n_features].

        Parameters
        ----------
        X : str, path or sequence
            A folder, a pattern or a list of paths, in the order of `images:`; or a sequence of paths, of pictures of
            Pillow, or of arrays of uint8 [height, width] or [height, width, 3].

        Raises
        ------
        ValueError
            For the first picture that cannot be decoded, with its name.
        """
        network = self._network()
        threads = _parameters.n_threads(self.n_jobs)
        pictures = _core.files_of_pictures(os.fsdecode(X)) if isinstance(X, (str, bytes, os.PathLike)) else _sequence(X)
        features = np.empty((len(pictures), network.n_features), dtype=np.float32)
        are_files = all(isinstance(picture, (str, bytes, os.PathLike)) for picture in pictures)
        step = _PIECE * threads
        for begin in range(0, len(pictures), step):
            piece = pictures[begin:begin + step]
            if are_files:
                features[begin:begin + step] = network.of_files([os.fsdecode(path) for path in piece], threads)
            else:
                arrays = [_array(picture, begin + i) for i, picture in enumerate(piece)]
                features[begin:begin + step] = network.of_arrays(arrays, begin, threads)
        return features

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray[Any, Any]:
        """Names of the features, as tables of `images:` have them."""
        return np.array(self._network().names(), dtype=object)

    def _network(self) -> _core.ImageLayer:
        """As the parameters have it now; read once for these."""
        size = _parameters.whole("size", self.size, 1, _MOST_SIDE, none=0)
        bits = _parameters.whole("bits", self.bits, _LEAST_BITS, _MOST_BITS, none=0)
        for name in ("layer", "preprocess"):
            value = getattr(self, name)
            if value is not None and (not isinstance(value, (str, os.PathLike)) or not os.fspath(value)):
                raise TypeError(f"{name} is {value!r}, allowed is a text, or None")
        chosen = (_parameters.absolute("model", self.model), self.layer or "",
                  "" if self.preprocess is None else os.fsdecode(self.preprocess), size, bits)
        if getattr(self, "_read", (None,))[0] != chosen:
            self._read = (chosen, _core.ImageLayer(*chosen))
        return self._read[1]

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in super().__getstate__().items() if name != "_read"}

    def __sklearn_is_fitted__(self) -> bool:
        return True


def _sequence(X: Any) -> Sequence[Any] | np.ndarray[Any, Any]:
    if isinstance(X, np.ndarray) and X.dtype == np.uint8 and (X.ndim == 2 or X.ndim == 3 and X.shape[2] in (1, 3)):
        raise ValueError(f"X is an array {list(X.shape)}, which is one picture: give [X]")
    if isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind in "OUS" and X.shape[1] == 1:
        return X[:, 0]
    try:
        return X if isinstance(X, np.ndarray) else list(X)
    except TypeError:
        raise TypeError(f"X is {type(X).__name__}, {_ALLOWED}") from None


def _array(picture: Any, place: int) -> np.ndarray[Any, Any]:
    if hasattr(picture, "convert") and hasattr(picture, "mode"):  # of Pillow
        if picture.mode[0] in "IF":  # more than 8 bits, which Pillow cuts off at 255
            raise ValueError(f"picture {place} is of Pillow's mode {picture.mode}: give the path of its file")
        picture = np.asarray(picture.convert("L" if picture.mode in ("1", "L") else "RGB"))
    if not isinstance(picture, np.ndarray):
        raise TypeError(f"picture {place} is {type(picture).__name__}, {_ALLOWED}")
    if picture.dtype != np.uint8 or picture.ndim not in (2, 3) or (picture.ndim == 3 and picture.shape[2] not in (1, 3)) \
            or picture.size == 0:
        raise ValueError(f"picture {place} is an array of {picture.dtype} {list(picture.shape)}, {_ALLOWED}")
    return np.ascontiguousarray(picture)
