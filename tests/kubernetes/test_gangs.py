"""Gangs on a real cluster: on fake nodes with eight rooms."""

from live import wait_until
from test_operator import ROOMS, cluster, farms, is_reclaimed, operator  # noqa: F401


def test_a_gang_starts_when_there_is_room_for_all_of_it(operator, farms):
    farms.farm("cms", ROOMS, 1, drain=3)
    farms.has("cms", ROOMS)
    farms.farm("ring", ROOMS, ROOMS, gang=True)
    wait_until(lambda: farms.condition("ring", "Ready").get("reason") == "NoRoomForGang", "the status says why it does not start")
    assert f"gang start needs room for all {ROOMS}, there is room for {ROOMS - 1}" in farms.status("ring")["message"]
    assert farms.condition("ring", "GuaranteeMet")["status"] == "False"
    assert not farms.pods("ring") and not farms.pods("cms", is_reclaimed) and len(farms.running("cms")) == ROOMS

    farms.kubectl("scale", "farm/cms", "--replicas=0")
    farms.has("ring", ROOMS)
    assert not farms.pods("ring", is_reclaimed)
    wait_until(lambda: farms.status("ring").get("history", {}).get("hasStarted"), "it has started")

    farms.kubectl("scale", "farm/cms", "--replicas=1")  # its guarantee
    farms.has("cms", 1)
    farms.has("ring", ROOMS - 1)
    wait_until(lambda: farms.status("ring").get("running") == ROOMS - 1, "the status shows the rest")
    assert "gang start" not in farms.status("ring")["message"]
    lost = farms.running("ring")[0]["metadata"]["name"]
    farms.kubectl("delete", "pod", lost, "--grace-period=1", "--wait=false")
    farms.kubectl("scale", "farm/cms", "--replicas=0")
    farms.has("ring", ROOMS)


def test_a_gang_that_a_quota_keeps_from_starting_has_none(operator, farms):
    quota = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "small"}, "spec": {"hard": {"pods": 3}}}
    farms.kubectl("create", "-f", "-", given=quota)
    wait_until(lambda: farms.cluster.get("resourcequota/small", farms.namespace).get("status", {}).get("used"), "it counts")
    farms.farm("ring", 4, 4, drain=1, gang=True)
    wait_until(lambda: farms.condition("ring", "Ready").get("reason") == "QuotaExceeded", "a condition says so")
    wait_until(lambda: not farms.pods("ring"), "those that were made go")
    farms.kubectl("delete", "resourcequota", "small")
    farms.has("ring", 4)
