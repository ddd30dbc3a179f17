"""The C++ below the estimators. Not for users: it changes as they need."""
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy
import numpy.typing

__version__: str

class Rows:
    """Columns of float32 on their way into training, which empties them, or prediction."""

    def __init__(
        self,
        n_rows: int,
        features: Sequence[str],
        categories: Mapping[int, Sequence[str] | None],
        label: str | None = None,
        weight: str | None = None,
        dates: set[int] = ...,
    ) -> None: ...
    def set_features(self, values: numpy.typing.NDArray[Any], first: int, n_threads: int) -> None:
        """Features from number `first` on: [n_rows x n] in any layout, or one of them [n_rows]."""
    def set_sparse_features(
        self,
        starts: numpy.typing.NDArray[Any],
        rows: numpy.typing.NDArray[Any],
        values: numpy.typing.NDArray[Any],
        n_threads: int,
    ) -> None:
        """All features: the arrays of a sparse matrix by columns; indices int32 or int64, values float32 or float64."""
    def set_label(self, values: numpy.typing.NDArray[Any], n_threads: int) -> None: ...
    def set_classes(self, texts: Sequence[str]) -> None: ...
    def set_weight(self, values: numpy.typing.NDArray[Any], n_threads: int) -> None: ...

class _Predicting:
    def to_text(self) -> str: ...
    def predict(self, rows: Rows, margins: bool, n_threads: int) -> numpy.typing.NDArray[numpy.float32]:
        """Margins or predictions [n_outputs x n_rows]."""
    @property
    def objective(self) -> str: ...
    @property
    def n_outputs(self) -> int: ...
    @property
    def features(self) -> list[str]: ...
    @property
    def categories(self) -> dict[int, list[str] | None]: ...
    @property
    def dates(self) -> set[int]: ...
    @property
    def classes(self) -> list[str]: ...

class AnyModel(_Predicting):
    """A model of any algorithm."""

    @staticmethod
    def from_text(text: str, name: str) -> AnyModel: ...
    def likeliest(self, rows: Rows, n_threads: int) -> numpy.typing.NDArray[numpy.int32]:
        """The output with the largest margin [n_rows], the first of several."""
    def measures_of_rows(self, rows: Rows, n_threads: int) -> str:
        """Of a model that looks at no labels, as JSON."""
    def describe(self) -> str:
        """As `podere model --json`."""

class _WithHistory(_Predicting):
    @property
    def train_loss(self) -> list[float]:
        """After each round or epoch, those that are not in the model too."""
    @property
    def validation_loss(self) -> list[float]: ...

# Of each node its feature (-1: a leaf), threshold, left child, whether missing values go there, value and cover.
TreeColumns: TypeAlias = tuple[numpy.typing.NDArray[numpy.int32], numpy.typing.NDArray[numpy.float32],
                               numpy.typing.NDArray[numpy.int32], numpy.typing.NDArray[numpy.bool_],
                               numpy.typing.NDArray[numpy.float32], numpy.typing.NDArray[numpy.float32]]

class Model(_WithHistory):
    """Boosted trees."""

    @staticmethod
    def from_trees(objective: str, quantile: float, features: Sequence[str], classes: Sequence[str],
                   base_margin: Sequence[float], trees: Sequence[TreeColumns]) -> Model:
        """Trees of another program, in turns for each output."""

    @staticmethod
    def from_text(text: str, name: str) -> Model: ...
    def explain(self, rows: Rows, n_threads: int) -> numpy.typing.NDArray[numpy.float64]:
        """SHAP values [n_rows x n_outputs x (n_features + 1)], the bias last."""
    @property
    def n_rounds(self) -> int: ...
    @property
    def early_stopping_rounds(self) -> int: ...
    @property
    def gain(self) -> list[float]: ...

class Network(_WithHistory):
    """A dense network."""

    @staticmethod
    def from_text(text: str, name: str) -> Network: ...
    @property
    def n_epochs(self) -> int: ...
    @property
    def layers(self) -> list[numpy.typing.NDArray[numpy.float32]]:
        """Copies of the weights [n_outputs x (n_inputs + 1)], the bias last."""

def abilities_of(algorithm: str) -> dict[str, bool]:
    """Whether it "validates" while it trains, and "keeps_checkpoints"."""

def train_any(
    algorithm: str,
    rows: Rows,
    validation: Rows | None,
    options: str,
    n_threads: int,
    show: Callable[[dict[str, Any]], None] | None,
) -> tuple[AnyModel, str]:
    """As train, of an algorithm by its name, with its options as JSON; and the facts of the training as JSON."""

def train(
    rows: Rows,
    validation: Rows | None,
    objective: str,
    options: Mapping[str, Any],
    base: Model | None,
    n_threads: int,
    show: Callable[[dict[str, Any]], None] | None,
) -> Model:
    """Hands `rows` over: their features are gone afterwards. Raises KeyboardInterrupt after the round it came in.

    The trees of `base` come first. `show` is called with a progress event after each round. Warnings are those of the caller of
    the caller of the caller."""

def train_network(
    rows: Rows,
    validation: Rows | None,
    options: Mapping[str, Any],
    base: Network | None,
    n_threads: int,
    show: Callable[[dict[str, Any]], None] | None,
) -> Network:
    """As train. `base` is where the weights start."""

def partial_fit_network(
    rows: Rows, options: Mapping[str, Any], base: Network | None, before: Mapping[str, numpy.typing.NDArray[Any]], n_threads: int
) -> tuple[Network, dict[str, numpy.typing.NDArray[Any]]]:
    """As train_network, with what the optimizer had before (empty: nothing) and has afterwards."""

class ImageLayer:
    """A layer of a network from an ONNX file."""

    def __init__(self, model: bytes, layer: bytes, preprocess: bytes, size: int, bits: int) -> None: ...
    @property
    def n_features(self) -> int: ...
    def names(self) -> list[str]: ...
    def of_files(self, files: Sequence[bytes], n_threads: int) -> numpy.typing.NDArray[numpy.float32]:
        """[n_files x n_features]."""
    def of_arrays(
        self, arrays: Sequence[numpy.typing.NDArray[numpy.uint8]], first: int, n_threads: int
    ) -> numpy.typing.NDArray[numpy.float32]:
        """[n_arrays x n_features] of pixels [height x width] or [height x width x 3]."""

def decompose(
    values: numpy.typing.NDArray[numpy.float64],
    names: Sequence[str],
    rank: int,
    method: str,
    tolerance: float,
    max_passes: int,
    seed: int,
    center: bool,
    left: bool,
    n_threads: int,
    show: Callable[[dict[str, Any]], None] | None,
) -> dict[str, Any]:
    """Of a matrix row by row: arrays "s", "V" [n_columns x rank], "shares", "residuals", "mean" (empty if not centered),
    and "U" [n_rows x rank] if it is wanted; "resolved", "method", "passes", "has_converged". Raises KeyboardInterrupt
    after the pass it came in."""

def project(
    values: numpy.typing.NDArray[numpy.float64],
    names: Sequence[str],
    mean: Sequence[float],
    vectors: numpy.typing.NDArray[numpy.float64],
    n_threads: int,
) -> numpy.typing.NDArray[numpy.float64]:
    """(values - mean) @ vectors [n_rows x rank], of vectors [n_columns x rank] row by row."""

class Study:
    """A search with its decisions and its journal. Threads may share it."""

    def __init__(self, space: str, search: str, schedule: str, trials: int, eta: int, least: int, most: int,
                 parallel: int, seed: int, maximize: bool, journal: str) -> None:
        """`space` is TOML. `journal` may be empty: none."""
    def to_do(self) -> str:
        """The steps that may be done now, a JSON list: "trial", "rung", "start", "budget", "setting"."""
    def report(self, trial: int, rung: int, score: float, ended: bool, error: str) -> None:
        """A score that is NaN: it failed."""
    def trials(self) -> str:
        """Those that were measured, a JSON list: "trial", "state", "score", "budget", "setting", "facts"."""
    def close(self) -> None: ...
    @property
    def best(self) -> int | None: ...
    @property
    def n_trials(self) -> int: ...
    @property
    def fault(self) -> str:
        """Why the journal could not be written."""

def preprocessing_names() -> list[str]: ...
def default_space(algorithm: str, options: str) -> str: ...
def files_of_pictures(location: bytes) -> list[bytes]: ...
def usable_cores() -> int: ...
def write_file(path: str, text: str) -> None:
    """Whole or not at all."""

def report_text(runs: str, as_page: bool) -> str:
    """Of runs as a session has them, a JSON list: the page of them, or the document alone."""

def read_model_text(path: str) -> str: ...
