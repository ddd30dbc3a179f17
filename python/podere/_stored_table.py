"""Tables in the executors' memory, as jobs name them. What users hold is a Table over one of these."""
from __future__ import annotations

import weakref
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NotRequired, TypedDict

import numpy as np
from numpy.typing import NDArray

from ._jobs import JobRunner

MOST_CLASSES = 1000
_MOST_EXACT = 1 << 24  # whole numbers below are exact as float32


class Facts(TypedDict):
    """What executors say of a table that they keep."""

    name: str
    rows: int
    features: list[str]
    label: str | None
    weight: str | None
    classes: NotRequired[list[str]]
    categorical: list[str]
    memory_bytes: int
    first_line: NotRequired[str | None]
    read_as: NotRequired[dict[str, str]]
    partitions: NotRequired[list[int]]


@dataclass(frozen=True)
class Origin:
    """What this process knows of a table, and of those that are made from it, besides what executors say."""

    classes: NDArray[Any] | None = None
    """Whose places the label column holds, where it does."""
    label_dtype: Any = np.int64
    """Of labels that are numbers, as they were put."""
    arrays: tuple[Any, ...] = ()
    """Of this process, from which it is made should it have to be made again."""


class StoredTable:
    """A table that executors keep. One that is temporary is dropped there when this is collected.

    `scaling` is by what its features were standardized, if they were.
    """

    def __init__(self, jobs: JobRunner, facts: Facts, origin: Origin, scaling: dict[str, Any] | None = None, *,
                 is_temporary: bool) -> None:
        self.jobs = jobs
        self.facts = facts
        self.origin = origin
        self.scaling = scaling
        self._classes_found: NDArray[Any] | None = None
        self._columns: list[dict[str, Any]] | None = None
        self._finalizer = weakref.finalize(self, jobs.drop_later, facts["name"])
        self._finalizer.atexit = False
        if not is_temporary:
            self._finalizer.detach()

    @property
    def name(self) -> str:
        return self.facts["name"]

    def drop(self) -> None:
        self.jobs.drop(self.name)
        self._finalizer.detach()

    def spec(self, classes: NDArray[Any] | None = None) -> dict[str, Any]:
        """What a job says of this table; with labels as places among `classes` [n_classes]."""
        spec: dict[str, Any] = {"location": f"table:{self.name}"}
        if classes is not None and not self.facts.get("classes"):
            values = self._label_values(classes.tolist())
            if values != list(range(len(values))):
                spec["classes"] = values
        return spec

    def run(self, kind: str, **fields: Any) -> dict[str, Any]:
        """The result of a job on this table."""
        return self.jobs.run({"kind": kind, "table": self.spec(), **fields})

    def derived(self, facts: Facts, scaling: dict[str, Any] | None, *, is_temporary: bool) -> StoredTable:
        """A table that was made from this one."""
        return StoredTable(self.jobs, facts, self.origin, scaling, is_temporary=is_temporary)

    def transform(self, name: str | None, **choices: Any) -> StoredTable:
        """Another table, which is temporary if it was given no name."""
        result = self.run("transform", name=self.jobs.table_name(name), **choices)
        facts, = result["tables"]
        if name is not None and self.origin.arrays:
            self.jobs.keep_arrays(facts["name"], self.origin.arrays)
        scaling = result.get("scaling") or (None if "select" in choices else self.scaling)
        return self.derived(facts, scaling, is_temporary=name is None)

    def columns(self) -> list[dict[str, Any]]:
        """Each column in a few numbers."""
        if self._columns is None:
            self._columns = self.run("describe")["columns"]
        return self._columns

    # Labels of classification

    def classes(self) -> NDArray[Any]:
        """The labels [n_classes], rising: those it was put with, or those that occur."""
        if self.origin.classes is not None:
            return self.origin.classes
        if self._classes_found is None:
            self._classes_found = self._find_classes()
        return self._classes_found

    def _find_classes(self) -> NDArray[Any]:
        if texts := self.facts.get("classes"):
            return np.array(texts)
        label = self.facts["label"]
        if label is None:
            raise ValueError(f"the table {self.name} has no label: say which column it is when the table is made")
        values = self.run("describe", label_values=MOST_CLASSES)["label_values"]
        if values is None:
            raise ValueError(f"the label {label!r} has more than {MOST_CLASSES} different values, or missing ones: "
                             "for numbers there are GBTRegressor and NNRegressor; rows without a label are left out where "
                             "they are read, by drop_unlabeled=True")
        if not all(value.is_integer() for value in map(float, values)):
            fraction = next(value for value in values if not float(value).is_integer())
            raise ValueError(f"the label {label!r} has values such as {fraction:g}: allowed for classes are whole "
                             "numbers; for others there are GBTRegressor and NNRegressor")
        if max(map(abs, values)) >= _MOST_EXACT:
            raise ValueError(f"the label {label!r} has values beyond 2^24, which tables hold rounded: put texts as "
                             "labels")
        if len(values) < 2:
            raise ValueError(f"the label {label!r} is {values[0]:g} in all rows, allowed are at least two classes")
        return np.array(values).astype(self.origin.label_dtype)

    def _label_values(self, classes: Sequence[Any]) -> list[float]:
        """The value in the label column for each of some classes; numbers that do not occur for those it lacks."""
        if self.origin.classes is not None:
            places = {label: place for place, label in enumerate(self.origin.classes.tolist())}
            return [places.get(label, -1 - k) for k, label in enumerate(classes)]
        if not all(isinstance(label, (int, float)) for label in classes):  # the table holds their places
            return list(range(len(classes)))
        return [float(label) for label in classes]
