"""tests/random/cluster.py: that its judge finds what it is to find, and nothing else, in clusters made up."""

import collections
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "random"))
from cluster_judge import View, fields_above, judge_ceilings, judge_room, judge_status  # noqa: E402
from cluster_reclaims import Reclaim, judge_reclaims  # noqa: E402

LONG_AGO = "2020-01-01T00:00:00Z"


def farm(key, wanted, guaranteed, cpu=4, **spec):
    namespace, name = key.split("/")
    template = {"spec": {"containers": [{"resources": {"requests": {"cpu": str(cpu)}}}]}}
    return {"metadata": {"namespace": namespace, "name": name, "uid": key, "generation": 1},
            "spec": {"executors": wanted, "minExecutors": guaranteed, "template": template, **spec}}


def pod(key, n, node="n1", cpu=4, reclaimed_for=None):
    namespace, name = key.split("/")
    found = {"metadata": {"namespace": namespace, "name": f"{name}-{n}", "uid": f"{key}-{n}", "ownerReferences": [
                {"kind": "Farm", "uid": key, "name": name}]},
             "spec": {"nodeName": node, "containers": [{"resources": {"requests": {"cpu": str(cpu)}}}]},
             "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True", "lastTransitionTime": LONG_AGO}]}}
    if reclaimed_for:
        found["metadata"].update({"deletionTimestamp": LONG_AGO, "annotations": {"podere.dev/reclaimed-for": reclaimed_for}})
    return found


def seen(farms, pods=(), cores=16, quotas=(), started=(), **manager):
    nodes = [{"metadata": {"name": "n1"}, "spec": {}, "status": {"allocatable": {"cpu": str(cores)}}}]
    return View(farms, list(pods), nodes, quotas, {"spec": {"mode": "Proportional", **manager}}, set(started))


def quota(namespace, hard, used):
    return {"metadata": {"namespace": namespace, "name": "room"}, "spec": {"hard": hard}, "status": {"used": used}}


def kinds(found):
    return {(entry if isinstance(entry, str) else entry[1]).split(":")[0] for entry in found}


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


def test_a_gang_that_holds_a_part_before_it_has_started_is_found():
    ring = farm("hep/ring", 4, 3, gang=True)
    pods = [pod("hep/ring", n) for n in range(2)]
    assert "part" in kinds(judge_room(seen([ring], pods)))
    assert "part" not in kinds(judge_room(seen([ring], pods, started=["hep/ring"])))
    assert "part" not in kinds(judge_room(seen([farm("hep/ring", 4, 3)], pods)))
    assert not kinds(judge_room(seen([ring], [pod("hep/ring", n) for n in range(4)])))


@pytest.mark.parametrize("n_borrowed", [0, 2])
def test_a_gang_that_does_not_start_though_it_could_is_found(n_borrowed):
    ring, cms = farm("hep/ring", 3, 3, gang=True), farm("hep/cms", n_borrowed, 0)
    pods = [pod("hep/cms", n) for n in range(n_borrowed)]
    assert kinds(judge_room(seen([ring, cms], pods))) == {"gang"}
    assert not kinds(judge_room(seen([ring, cms], pods, cores=11)))
    assert not kinds(judge_room(seen([ring, cms], pods, ceilings=[{"name": "each", "minExecutors": 2}])))
    held_back = [quota("hep", {"requests.cpu": "16"}, {"requests.cpu": "5"})]
    assert not kinds(judge_room(seen([ring, cms], pods, quotas=held_back)))


def test_what_is_reported_of_a_gang_is_judged():
    def said(text, reason="NoRoomForGang", **more):
        ring = farm("hep/ring", 3, 3, gang=True)
        ring["status"] = {"observedGeneration": 1, "message": text, "conditions": [
            {"type": "Ready", "status": "False", "reason": reason}, {"type": "GuaranteeMet", "status": "False", "reason": reason}]}
        view = seen([ring], cores=11, **more)
        return list(judge_status(view, view.farms["hep/ring"]))
    assert not said("0 of 3 executors running. 3 guaranteed pending: gang start needs room for all 3, there is room for 2")
    assert said("0 of 3 executors running. 3 guaranteed pending: gang start needs room for all 4, there is room for 2")
    assert said("0 of 3 executors running. 3 guaranteed pending: gang start needs room for all 3, there is room for 3")


def test_borrowed_room_of_a_lower_priority_is_found_where_a_higher_one_waits():
    low, high = farm("hep/low", 4, 1), farm("astro/high", 2, 0, priority=10)
    pods = [pod("hep/low", n) for n in range(4)]
    assert kinds(judge_room(seen([low, high], pods, maxPriority=5))) == {"rank"}
    assert not kinds(judge_room(seen([low, high], pods)))  # it counts as 0
    assert not kinds(judge_room(seen([farm("hep/low", 4, 4), high], pods, maxPriority=5)))
    safe = farm("hep/low", 4, 1, minRuntimeSeconds=10 ** 9)
    assert not kinds(judge_room(seen([safe, high], pods, maxPriority=5, maxMinRuntimeSeconds=10 ** 9)))


def reclaimed_for(waiting, n, is_guarantee=True, lender="bio/a", left=0):
    return [Reclaim(lender, waiting, is_guarantee, left, 4)] * n


def test_executors_reclaimed_beyond_what_a_quota_admits_are_found():
    waiting, lender = farm("hep/cms", 4, 4), farm("bio/a", 4, 0)
    pods = [pod("bio/a", n) for n in range(4)]

    def judged(n, hard, used, more_pods=()):
        view = seen([waiting, lender], [*pods, *more_pods], quotas=[quota("hep", hard, used)])
        return kinds(judge_reclaims(reclaimed_for("hep/cms", n), collections.Counter(), [view, view]))
    assert judged(2, {"pods": "0"}, {}) == {"vain"}
    assert judged(3, {"pods": "2"}, {}) == {"vain"}
    assert not judged(2, {"pods": "2"}, {})
    assert judged(2, {"requests.cpu": "14"}, {"requests.cpu": "8"}) == {"vain"}
    assert not judged(1, {"requests.cpu": "14"}, {"requests.cpu": "8"})
    assert not judged(4, {"requests.cpu": "14"}, {"requests.cpu": "0"}, [pod("hep/cms", 9, reclaimed_for="bio/a")])  # which leaves


def test_what_is_reclaimed_for_a_priority_comes_from_the_lowest():
    def judged(farms, lender, is_guarantee, **manager):
        pods = [pod(f["metadata"]["uid"], n) for f in farms[1:] for n in range(2)]
        view = seen(farms, pods, maxPriority=10, **manager)
        return kinds(judge_reclaims(reclaimed_for("hep/cms", 1, is_guarantee, lender, 1), collections.Counter(), [view, view]))
    low, middle = farm("bio/low", 2, 0, priority=-5), farm("bio/middle", 2, 0)
    asks = farm("hep/cms", 2, 2, priority=5)
    assert not judged([asks, low, middle], "bio/low", True)
    assert judged([asks, low, middle], "bio/middle", True) == {"rank"}
    assert not judged([asks, farm("bio/low", 2, 2, priority=-5), middle], "bio/middle", True)  # its own
    equal = farm("hep/cms", 2, 0)
    assert judged([equal, middle], "bio/middle", False) == {"rank"}
    assert not judged([equal, middle], "bio/middle", False, mode="FairShare")


def test_ceilings_are_judged_by_what_runs():
    pods = [pod("hep/cms", n) for n in range(3)]
    view = seen([farm("hep/cms", 3, 0)], pods, ceilings=[{"name": "hep", "namespaces": ["h*"], "maxExecutors": 2}])
    assert kinds(judge_ceilings(view)) == {"ceiling"}


def test_a_gang_that_is_held_back_leaves_others_the_ceiling_that_it_speaks_of():
    ring, cms = farm("hep/ring", 4, 4, gang=True), farm("hep/cms", 4, 2)
    ring["status"] = {"message": "0 of 2 executors running; minExecutors 4 counts as 2: ...; executors 4 counts as 2: the ceiling"}

    def judged(started):
        ceiling = {"name": "hep", "namespaces": ["hep"], "minExecutors": 3, "maxExecutors": 4}
        return kinds(judge_ceilings(seen([ring, cms], [pod("hep/cms", n) for n in range(4)], ceilings=[ceiling], started=started)))
    assert not judged([])
    assert judged(["hep/ring"]) == {"ceiling"}
