"""What a layer of a network makes of pictures, as a transformer of scikit-learn."""
from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
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
            A folder, a pattern or a list of paths, in the order of `images:`; or a sequence (also an array, a Series or
            a DataFrame of one column) of paths, or of pictures: those of Pillow with up to 8 bits, and arrays of uint8
            [height, width], [height, width, 1] or [height, width, 3], also as one array of 4 dimensions. Real numbers,
            16 bits, channels that come first and alpha are refused. Of a TIFF with several pages the first is taken.

        Raises
        ------
        ValueError
            For the first picture that cannot be decoded, with its name.
        """
        network = self._network()
        threads = _parameters.n_threads(self.n_jobs)
        pictures = _core.files_of_pictures(_path(X, "X")) if _is_path(X) else _sequence(X)
        features = np.empty((len(pictures), network.n_features), dtype=np.float32)
        are_files = _are_files(pictures)
        step = _PIECE * threads
        for begin in range(0, len(pictures), step):
            piece = pictures[begin:begin + step]
            if are_files:
                features[begin:begin + step] = network.of_files(
                    [_path(path, f"picture {begin + i}") for i, path in enumerate(piece)], threads)
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
        chosen = (os.path.abspath(_path(self.model, "model")), os.fsencode(self.layer or ""),
                  b"" if self.preprocess is None else _path(self.preprocess, "preprocess"), size, bits)
        if getattr(self, "_read", (None,))[0] != chosen:
            self._read = (chosen, _core.ImageLayer(*chosen))
        return self._read[1]

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in super().__getstate__().items() if name != "_read"}

    def __sklearn_is_fitted__(self) -> bool:
        return True


def _is_path(picture: Any) -> bool:
    return isinstance(picture, (str, bytes, os.PathLike))


def _path(path: Any, name: str) -> bytes:
    """As the system has it, whose names may be no text."""
    encoded = os.fsencode(path)
    if not encoded or b"\0" in encoded:
        raise ValueError(f"{name} is {path!r}, allowed is a path")
    return encoded


def _sequence(X: Any) -> Sequence[Any] | np.ndarray[Any, Any]:
    if _is_of_pillow(X):
        raise TypeError(f"X is {type(X).__name__}, which is one picture: give [X]")
    if hasattr(X, "iloc") and getattr(X, "ndim", 0) == 2:  # a data frame, which would be its names of columns
        if X.shape[1] != 1:
            raise ValueError(f"X has {X.shape[1]} columns, allowed is 1, with the paths of pictures")
        return list(X.iloc[:, 0])
    if isinstance(X, np.ndarray) and X.dtype.kind in "OUS":
        return list(X[:, 0] if X.ndim == 2 and X.shape[1] == 1 else X)
    if isinstance(X, np.ndarray) and (X.ndim < 3 or X.ndim == 3 and X.shape[2] in (1, 3)):
        if X.dtype == np.uint8 and X.ndim > 1:
            raise ValueError(f"X is an array {list(X.shape)}, which is one picture: give [X]")
        raise ValueError(f"X is an array of {X.dtype} {list(X.shape)}, {_ALLOWED}")
    try:
        return X if isinstance(X, np.ndarray) else list(_ordered(X))
    except TypeError:
        raise TypeError(f"X is {type(X).__name__}, {_ALLOWED}") from None


def _ordered(X: Any) -> Any:
    if isinstance(X, (Mapping, AbstractSet)):
        raise TypeError
    return X


def _are_files(pictures: Sequence[Any] | np.ndarray[Any, Any]) -> bool:
    are_paths = [_is_path(picture) for picture in pictures]
    if any(are_paths) and not all(are_paths):
        other = are_paths.index(False)
        raise TypeError(f"picture {are_paths.index(True)} is a path and picture {other} is {type(pictures[other]).__name__}: "
                        "give paths alone, or pictures alone")
    return all(are_paths)


def _is_of_pillow(picture: Any) -> bool:
    return hasattr(picture, "convert") and hasattr(picture, "mode")


def _array(picture: Any, place: int) -> np.ndarray[Any, Any]:
    if _is_of_pillow(picture):
        if picture.mode[0] in "IF":  # more than 8 bits, which Pillow cuts off at 255
            raise ValueError(f"picture {place} is of Pillow's mode {picture.mode}: give the path of its file")
        picture = np.asarray(picture.convert("L" if picture.mode in ("1", "L") else "RGB"))
    if not isinstance(picture, np.ndarray):
        advice = ": give .permute(1, 2, 0).numpy()" if hasattr(picture, "permute") else f", {_ALLOWED}"  # of PyTorch
        raise TypeError(f"picture {place} is {type(picture).__name__}{advice}")
    if advice := _why_not(picture):
        raise ValueError(f"picture {place} is an array of {picture.dtype} {list(picture.shape)}{advice}")
    return np.ascontiguousarray(picture)


def _why_not(array: np.ndarray[Any, Any]) -> str:
    """What to do with an array that is no picture of 8 bits; empty: it is one."""
    if array.size == 0 or array.ndim not in (2, 3):
        return f", {_ALLOWED}"
    if array.ndim == 3 and array.shape[2] == 4:
        return ": leave out alpha, as [:, :, :3] does"
    if array.ndim == 3 and array.shape[2] not in (1, 3):
        return ": the channels come last, give .transpose(1, 2, 0)" if array.shape[0] in (1, 3) else f", {_ALLOWED}"
    if array.dtype.kind == "f":
        return ": 8 bits are needed: where 1 is white, give (255 * x).round().astype('uint8')"
    if array.dtype.kind == "b":
        return ": 8 bits are needed: where True is white, give 255 * x.astype('uint8')"
    if array.dtype != np.uint8:
        return ": 8 bits are needed: give the path of its file and bits=, or uint8 of 0 to 255"
    return ""
