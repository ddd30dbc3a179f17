"""Estimators of Podere as stages of Spark's pipelines. `podere.spark.estimator` makes them."""
from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import sklearn.base
from pyspark.ml import Estimator, Model
from pyspark.ml.base import _FitMultipleIterator
from pyspark.ml.functions import array_to_vector, predict_batch_udf, vector_to_array
from pyspark.ml.param import Param
from pyspark.ml.param.shared import (
    HasFeaturesCol,
    HasLabelCol,
    HasOutputCol,
    HasPredictionCol,
    HasProbabilityCol,
    HasRawPredictionCol,
    HasWeightCol,
)
from pyspark.ml.util import DefaultParamsReader, DefaultParamsWriter, MLReadable, MLReader, MLWritable, MLWriter
from pyspark.sql import functions, types

from . import _clusters, _estimator, _gbt, _kernel_ridge, _linear, _network, _spark_outputs, _spark_worker
from ._table import Table, stored_table

_MOST_CLASSES = 1000
_BATCH_ROWS = 1 << 13
_TYPES = {"array<double>": types.ArrayType(types.DoubleType()), "double": types.DoubleType(), "int": types.IntegerType()}
_WITH_FILES = {cls.__name__: cls for cls in (
    _gbt.GBTClassifier, _gbt.GBTRegressor, _network.NNClassifier, _network.NNRegressor, _network.MLPClassifier,
    _clusters.KMeans, _clusters.MiniBatchKMeans, _clusters.GaussianMixture, _linear.LinearRegression, _linear.Ridge,
    _kernel_ridge.KernelRidge)}


class _Columns(HasFeaturesCol, HasPredictionCol, HasProbabilityCol,  # type: ignore[misc]
               HasRawPredictionCol, HasOutputCol):  # type: ignore[misc]
    """Those that a stage reads and writes; a name that is empty stands for a column that is not made."""


class PodereEstimator(Estimator, _Columns, HasLabelCol, HasWeightCol):  # type: ignore[misc]
    """Its parameters are names of columns, and those of the estimator of Podere."""

    def __init__(self, estimator: Any, send: Callable[..., Table], columns: dict[str, str]) -> None:
        super().__init__()
        _spark_outputs.types_of(estimator)
        self._estimator = estimator
        self._send = send
        self._own = sorted(estimator.get_params(deep=False))
        for name in self._own:
            setattr(self, name, Param(self, name, f"of podere.{type(estimator).__name__}"))
        self._setDefault(**estimator.get_params(deep=False))
        self._set(**columns)

    def _fit(self, dataset: Any) -> PodereModel:
        return self._fit_on(self._table_of(dataset))

    def fitMultiple(self, dataset: Any, paramMaps: Sequence[Any]) -> Iterator[tuple[int, Any]]:
        """Rows are sent once, unless settings differ in which columns those are."""
        estimators = [self.copy(settings) for settings in paramMaps]
        if len({repr(estimator._sent_columns()) for estimator in estimators}) != 1:
            found: Iterator[tuple[int, Any]] = super().fitMultiple(dataset, paramMaps)
            return found
        table = estimators[0]._table_of(dataset)
        return _FitMultipleIterator(lambda index: estimators[index]._fit_on(table),  # type: ignore[no-any-return]
                                    len(estimators))

    def _sent_columns(self) -> dict[str, Any]:
        has_label = _spark_outputs.has_label(self._estimator)
        weight = self.getWeightCol() if self.isDefined(self.weightCol) else ""
        return {"features": [self.getFeaturesCol()], "label": self.getLabelCol() if has_label else None,
                "weight": weight or None}

    def _table_of(self, df: Any) -> Table:
        """The rows, at the executors of the session."""
        columns = self._sent_columns()
        _check_features(df, self.getFeaturesCol())
        is_classifier = isinstance(self._estimator, _estimator.Classifier)
        label = columns["label"]
        if is_classifier and label in df.columns and not isinstance(df.schema[label].dataType, types.NumericType):
            raise ValueError(f"labelCol is {label!r}, which is of {df.schema[label].dataType.simpleString()}, allowed are "
                             "classes numbered from 0: StringIndexer makes them")
        table = self._send(df, **columns)
        if is_classifier:
            classes = stored_table(table).classes()
            if classes.min() < 0 or classes.max() >= _MOST_CLASSES:
                raise ValueError(f"labelCol is {label!r}, which has the class {classes[0 if classes.min() < 0 else -1]}, "
                                 f"allowed are classes numbered from 0 to {_MOST_CLASSES - 1}: StringIndexer makes them")
        return table

    def _fit_on(self, table: Table) -> PodereModel:
        settings = {name: self.getOrDefault(self.getParam(name)) for name in self._own}
        fitted = sklearn.base.clone(self._estimator).set_params(**settings).fit(table)
        return self._copyValues(PodereModel(fitted)._resetUid(self.uid))  # type: ignore[no-any-return]


class PodereModel(Model, _Columns, MLWritable, MLReadable):  # type: ignore[misc]
    """A fitted estimator, which Spark's Python workers apply. They need Podere."""

    def __init__(self, estimator: Any) -> None:
        super().__init__()
        self._estimator = estimator

    @property
    def estimator(self) -> Any:
        """That of Podere, which predicts arrays here and tables in a session."""
        return self._estimator

    def _transform(self, dataset: Any) -> Any:
        all_types = _spark_outputs.types_of(self._estimator)
        names = {name: self.getOrDefault(self.getParam(name)) for name in all_types}
        names = {name: column for name, column in names.items() if column}
        if not names:
            raise ValueError(f"{', '.join(all_types)} are all empty, allowed is one name at least")
        for name, column in names.items():
            if column in dataset.columns:
                raise ValueError(f"{name} is {column!r}, which df has already, allowed is another name")
        apply = predict_batch_udf(
            _spark_worker.applier_of(_spark_outputs.packed(self._estimator), list(names)),
            return_type=types.StructType([types.StructField(name, _TYPES[all_types[name]]) for name in names]),
            batch_size=_BATCH_ROWS, input_tensor_shapes=[[self._estimator.n_features_in_]])
        found = apply(self._features_of(dataset))
        made = {column: array_to_vector(found[name]) if all_types[name].startswith("array") else found[name]
                for name, column in names.items()}
        return dataset.withColumns(made)

    def _features_of(self, df: Any) -> Any:
        """Arrays of as many numbers as the model has features; Spark fails with a line where others are."""
        column, n_features = self.getFeaturesCol(), self._estimator.n_features_in_
        _check_features(df, column)
        features = df["`" + column.replace("`", "``") + "`"]
        if not isinstance(df.schema[column].dataType, types.ArrayType):
            features = vector_to_array(features)
        is_right = functions.coalesce(functions.size(features) == n_features, functions.lit(False))
        message = f"podere: column {column!r} has a null, or another number of features than the model, which has {n_features}"
        return functions.when(is_right, features.cast("array<double>")).otherwise(functions.raise_error(message))

    def write(self) -> MLWriter:
        return _Writer(self)

    @classmethod
    def read(cls) -> MLReader:
        return _Reader()


def _check_features(df: Any, column: str) -> None:
    if not hasattr(df, "schema"):
        raise TypeError(f"df is {type(df).__name__}, allowed is a DataFrame of Spark")
    if column not in df.columns:
        raise ValueError(f"featuresCol is {column!r}, which is no column, allowed are {', '.join(map(repr, df.columns))}")
    kind = df.schema[column].dataType
    is_array = isinstance(kind, types.ArrayType) and isinstance(kind.elementType, (types.NumericType, types.BooleanType))
    if not is_array and type(kind).__name__ != "VectorUDT":
        raise ValueError(f"featuresCol is {column!r}, which is of {kind.simpleString()}, allowed are vectors and arrays of "
                         "numbers: VectorAssembler makes them")


# Files: parameters as Spark writes them, and in the folder `model` the model file of Podere ----------------------------

class _Writer(MLWriter):  # type: ignore[misc]
    def __init__(self, model: PodereModel) -> None:
        super().__init__()
        self._model = model

    def saveImpl(self, path: str) -> None:
        estimator = self._model.estimator
        name = type(estimator).__name__
        if type(estimator) is not _WITH_FILES.get(name):
            raise ValueError(f"a model of {name} cannot be written, allowed are {', '.join(_WITH_FILES)}")
        DefaultParamsWriter.saveMetadata(self._model, path, self.sc, extraMetadata={"podere": name})
        rows = self.sparkSession.createDataFrame([(estimator._file_text(),)], "value string")
        rows.coalesce(1).write.text(os.path.join(path, "model"))


class _Reader(MLReader):  # type: ignore[misc]
    def load(self, path: str) -> PodereModel:
        metadata = DefaultParamsReader.loadMetadata(path, self.sc)
        name = metadata.get("podere")
        if name not in _WITH_FILES:
            raise ValueError(f"{path}: is a model of {name!r}, allowed are {', '.join(_WITH_FILES)}")
        text = self.sparkSession.read.text(os.path.join(path, "model"), wholetext=True).first()["value"]
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            file.write(text)
            file.flush()
            model = PodereModel(_WITH_FILES[name]().load_model(file.name))
        model._resetUid(metadata["uid"])
        DefaultParamsReader.getAndSetParams(model, metadata)
        return model
