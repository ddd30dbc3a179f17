"""tests/random/cluster.py: that its judge finds what it is to find, and nothing else, in clusters made up."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "random"))
from cluster_judge import fields_above  # noqa: E402


def test_a_farm_is_above_a_ceiling_by_what_it_had_not_before():
    manager = {"ceilings": [{"name": "each", "minExecutors": 3}, {"name": "hep", "namespaces": ["hep"], "minExecutors": 3, "priority": 5}]}
    had = {"minExecutors": 4, "weight": 1}  # before the ceiling came down to 3
    assert not fields_above(manager, "hep", had, {**had, "weight": 2})
    assert not fields_above(manager, "hep", had, {**had, "minExecutors": 3})
    assert fields_above(manager, "hep", had, {**had, "minExecutors": 5}) == {"minExecutors"}
    assert fields_above(manager, "hep", {}, had) == {"minExecutors"}
    assert fields_above(manager, "hep", {}, {"priority": 6, "drainSeconds": 301}) == {"priority", "drainSeconds"}
    assert fields_above(manager, "astro", {}, {"priority": 1, "minExecutors": 4}) == {"priority", "minExecutors"}
    assert not fields_above({**manager, "maxPriority": 1}, "astro", {}, {"priority": 1})
    assert not fields_above({"maxDrainSeconds": 5}, "astro", {}, {"drainSeconds": 60, "priority": 0, "weight": 1})  # defaults
    assert not fields_above({}, "astro", {}, {"minExecutors": 100000, "priority": 1000})  # without the policy
