"""What a user who edits a namespace cannot get from others, with these rights and no others: on fake nodes with eight rooms."""

import pytest
from live import wait_until
from test_deploy import rendered
from test_operator import ROOMS, Farms, cluster, farms, is_ending, is_reclaimed, operator  # noqa: F401


@pytest.fixture
def eve(cluster, farms):
    """The farms of a namespace that eve edits, under the manager of `farms`; what she does here is with her rights."""
    cluster.know_users()
    name = farms.namespace[:50] + "-eve"
    cluster.kubectl("create", "namespace", name)
    cluster.kubectl("-n", name, "create", "rolebinding", "eve", "--clusterrole=edit", "--user=eve")

    class Eve(Farms):
        def kubectl(self, *arguments, **options):
            return super().kubectl(*arguments, **{"user": "eve", **options})

        def object(self, *arguments, **options):
            made = super().object(*arguments, **options)
            made["metadata"]["labels"]["test"] = farms.namespace
            return made
    eve = Eve(cluster, name)
    wait_until(lambda: eve.kubectl("get", "farms", check=False).returncode == 0, "an editor edits farms", 10)
    yield eve
    eve.kubectl("delete", "farms", "--all", "--wait=false")
    eve.kubectl("delete", "pods", "--all", "--wait=false", "--grace-period=1")
    wait_until(lambda: not eve.pods(), "her rooms are free", 30)
    cluster.kubectl("delete", "namespace", name, "--wait=false")


def manager_of(farms):
    return farms.cluster.get(f"farmmanager/{farms.namespace}").get("status", {})


def test_an_editor_takes_nothing_from_others_guarantees(operator, farms, eve):
    for name in ("cms", "sky"):
        farms.farm(name, 2, 2)
        farms.has(name, 2)
    eve.farm("all", 100000, 100000)
    eve.has("all", ROOMS - 4)
    wait_until(lambda: "its guarantee of 100000 counts as 4" in eve.status("all").get("message", ""), "her status says so")
    wait_until(lambda: "guarantees requested 100004, room 8" in manager_of(farms).get("message", ""), "so does the manager's")
    for name in ("cms", "sky"):
        assert len(farms.running(name)) == 2 and not farms.pods(name, is_reclaimed), name
        wait_until(lambda: farms.condition(name, "GuaranteeMet")["status"] == "True", name)

    farms.manager(ceilings=[{"name": "eve", "namespaces": [eve.namespace], "minExecutors": 1, "maxExecutors": 3}])
    eve.has("all", 3)
    words = f"the ceiling of namespace {eve.namespace} on FarmManager {farms.namespace}"
    wait_until(lambda: f"minExecutors 100000 counts as 1: {words}" in eve.status("all").get("message", ""), "her status names the ceiling")
    assert f"executors 100000 counts as 3: {words}" in eve.status("all")["message"]
    assert eve.condition("all", "GuaranteeMet")["status"] == "True"
    wait_until(lambda: "above ceilings" in str(manager_of(farms)["conditions"]), "the manager's condition")


def test_a_priority_counts_as_far_as_the_manager_allows(operator, farms, eve):
    farms.farm("cms", ROOMS, 2)
    farms.has("cms", ROOMS)
    eve.farm("all", ROOMS, 0, priority=1000)
    words = f"priority 1000 counts as 0: the ceiling of FarmManager {farms.namespace}"
    wait_until(lambda: words in eve.status("all").get("message", ""), "her status says so")
    assert not farms.pods("cms", is_reclaimed) and not eve.running("all")

    farms.manager(ceilings=[{"name": "eve", "namespaces": [eve.namespace], "priority": 10}])
    reclaimed = wait_until(lambda: farms.pods("cms", is_reclaimed), "borrowed room is hers first")
    annotations = reclaimed[0]["metadata"]["annotations"]
    assert annotations["podere.dev/reclaimed-for-guarantee"] == "false"
    assert f"{eve.namespace}/all of priority 10 runs 0 of 8 executors" in annotations["podere.dev/reclaim-reason"]
    eve.has("all", ROOMS - 2)
    farms.has("cms", 2)
    wait_until(lambda: f"the ceiling of namespace {eve.namespace}" in eve.status("all")["message"], "her status names the ceiling")

    farms.farm("sky", 3, 3)  # a guarantee, of priority 0
    farms.has("sky", 3)
    eve.has("all", ROOMS - 5)
    assert len(farms.running("cms")) == 2


def test_only_administrators_change_what_farms_may_have(cluster, farms, eve):
    cluster.kubectl("-n", eve.namespace, "create", "rolebinding", "ada", "--clusterrole=podere-farm-user", "--user=ada")
    cluster.kubectl("-n", eve.namespace, "create", "rolebinding", "ida", "--clusterrole=admin", "--user=ida")
    for user in ("ada", "eve", "ida"):
        wait_until(lambda: eve.kubectl("get", "farms", user=user, check=False).returncode == 0, "rights", 10)
        manager = f"farmmanager/{farms.namespace}"
        mine = {"apiVersion": "podere.dev/v1alpha1", "kind": "FarmManager", "metadata": {"name": "a-mine"}, "spec": {}}
        change = ["patch", manager, "--type=merge", "-p", '{"spec": {"maxDrainSeconds": 86400}}']
        for request in (change, ["delete", manager], [*change, "--subresource=status"], ["create", "-f", "-"]):
            done = eve.kubectl(*request, user=user, given=mine, check=False)
            assert done.returncode != 0 and "forbidden" in done.stderr, (user, request, done.stderr)


def test_borrowed_room_is_not_held_by_long_drains(operator, farms, eve):
    farms.manager(maxDrainSeconds=4)
    eve.farm("all", ROOMS, 0, drain=86400, ends_after=86400)
    eve.has("all", ROOMS)
    words = f"drainSeconds 86400 counts as 4: the ceiling of FarmManager {farms.namespace}"
    wait_until(lambda: words in eve.status("all").get("message", ""), "her status says so")
    assert {pod["spec"]["terminationGracePeriodSeconds"] for pod in eve.pods()} == {4}

    farms.farm("sky", 2, 2)
    reclaimed = wait_until(lambda: eve.pods("all", is_reclaimed), "executors are reclaimed")
    wait_until(lambda: all(is_ending(pod) for pod in eve.pods("all", is_reclaimed)), "they are deleted")
    assert all(pod["metadata"].get("deletionGracePeriodSeconds", 4) <= 4 for pod in reclaimed)
    farms.has("sky", 2)

    longest = eve.running("all")[0]["metadata"]["name"]  # she deletes one herself, with a day of grace
    eve.kubectl("delete", "pod", longest, "--grace-period=86400", "--wait=false")
    wait_until(lambda: not eve.pods(only=lambda pod: pod["metadata"]["name"] == longest and is_ending(pod)), "it ends", 20)

    eve.farm("all", 1, 0, drain=86400, ends_after=86400)  # what she releases
    eve.has("all", 1)
    wait_until(lambda: len(eve.pods("all")) == 1, "it ends", 20)
    eve.farm("all", ROOMS - 2, 0, drain=86400, ends_after=86400)
    eve.has("all", ROOMS - 2)
    eve.kubectl("delete", "farm", "all")
    wait_until(lambda: not eve.pods(), "pods of a deleted farm end", 20)


def test_a_farm_above_its_ceiling_is_refused_where_the_cluster_can(cluster, farms, eve):
    farms.manager(ceilings=[{"name": "each", "minExecutors": 2, "weight": 2},
                            {"name": "others", "namespaces": ["other-*"], "minExecutors": 0}])
    policy = [found for found in rendered("--set", f"farmManager.name={farms.namespace}", "--api-versions",
                                          "admissionregistration.k8s.io/v1/ValidatingAdmissionPolicy")
              if found["kind"].startswith("ValidatingAdmissionPolicy")]
    assert len(policy) == 2
    given = {"apiVersion": "v1", "kind": "List", "items": policy}

    def made(name, **spec):
        return eve.kubectl("create", "-f", "-", given=eve.object(name, 0, **{"guaranteed": 0, **spec}), check=False)
    assert made("before", guaranteed=3).returncode == 0
    cluster.kubectl("apply", "-f", "-", given=given)
    try:
        refusal = f"minExecutors is above the ceiling of namespace {eve.namespace} on FarmManager {farms.namespace}"
        count = iter(range(100))
        wait_until(lambda: refusal in made(f"try-{next(count)}", guaranteed=3).stderr, "it is refused", 30)
        for spec, words in [({"weight": 2.5}, "weight is above"), ({"drain": 301}, "drainSeconds is above"),
                            ({"minRuntimeSeconds": 3601}, "minRuntimeSeconds is above"),
                            ({"priority": 1}, "priority is above")]:
            assert words in made("bad", **spec).stderr, spec
        assert made("good", guaranteed=2, weight=2, drain=300, minRuntimeSeconds=3600).returncode == 0
        change = ["patch", "farm/before", "--type=merge", "-p"]
        assert eve.kubectl(*change, '{"metadata": {"labels": {"a": "b"}}}', check=False).returncode == 0, "its spec is as it was"
        assert eve.kubectl("scale", "farm/before", "--replicas=1", check=False).returncode == 0
        assert eve.kubectl(*change, '{"spec": {"minExecutors": 4}}', check=False).returncode != 0
        assert made("least").returncode == 0

        farms.manager(maxDrainSeconds=30, ceilings=[{"name": "each", "minExecutors": 2, "weight": 0.5}])
        wait_until(lambda: "weight is above" in made(f"later-{next(count)}", weight=2).stderr, "the new ceilings hold", 30)
        again = ["patch", "farm/good", "--type=merge", "-p"]
        template = '{"spec": {"template": {"metadata": {"labels": {"a": "b"}}}%s}}'
        assert eve.kubectl(*again, template % "", check=False).returncode == 0, "what it asks for is as it was"
        assert eve.kubectl(*again, template % ', "weight": 1.5', check=False).returncode == 0, "it asks for less"
        assert "weight is above" in eve.kubectl(*again, template % ', "weight": 2', check=False).stderr
        silent = eve.object("silent", 0, 0)
        for default in "drainSeconds", "weight":
            silent["spec"].pop(default, None)
        done = eve.kubectl("create", "-f", "-", given=silent, check=False)
        assert done.returncode == 0, f"it is refused for a default: {done.stderr}"
    finally:
        cluster.kubectl("delete", "-f", "-", given=given)
