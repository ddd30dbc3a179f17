"""podere operator on a real cluster: two fake nodes, which have room for eight executors of four cores."""

import json
import os
import pathlib
import re
import signal
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request
from datetime import datetime, timedelta

import jsonschema
import pytest
from api import Api, Watch
from conftest import started
from live import operating, wait_until

ROOMS = 8


@pytest.fixture(scope="module")
def cluster():
    with started("operator", "--nodes", "2") as cluster:
        cluster.know_farms()
        yield cluster


@pytest.fixture(scope="module")
def operator(cluster):
    with operating(cluster) as operator:
        yield operator.wait_for("knows")


class Farms:
    """The farms of one test, in a namespace of its own, with a manager for them alone."""

    def __init__(self, cluster, namespace):
        self.cluster, self.namespace = cluster, namespace

    def kubectl(self, *arguments, **options):
        return self.cluster.kubectl("-n", self.namespace, *arguments, **options)

    def manager(self, name="", **spec):
        self.kubectl("apply", "-f", "-", given={
            "apiVersion": "podere.dev/v1alpha1", "kind": "FarmManager", "metadata": {"name": self.namespace + name},
            "spec": {"farmSelector": {"matchLabels": {"test": self.namespace}}, **spec}})

    def object(self, name, wanted, guaranteed, cpu="4", drain=20, ends_after=1, **spec):
        template = {"metadata": {"annotations": {"podere.test/ends-after": str(ends_after)}},
                    "spec": {"nodeSelector": {"podere.test/node": "fake"},
                             "containers": [{"name": "main", "image": "none",
                                             "resources": {"requests": {"cpu": cpu, "memory": "1Gi"}}}]}}
        return {"apiVersion": "podere.dev/v1alpha1", "kind": "Farm",
                "metadata": {"name": name, "labels": {"test": self.namespace}},
                "spec": {"executors": wanted, "minExecutors": guaranteed, "drainSeconds": drain, "template": template,
                         **spec}}

    def farm(self, *arguments, **options):
        self.kubectl("apply", "-f", "-", given=self.object(*arguments, **options))

    def status(self, name):
        return self.cluster.get(f"farm/{name}", self.namespace).get("status", {})

    def condition(self, name, of):
        return next((c for c in self.status(name).get("conditions", []) if c["type"] == of), {"status": "none"})

    def pods(self, farm=None, only=lambda pod: True):
        pods = self.cluster.get("pods", self.namespace, f"podere.dev/farm={farm}" if farm else "")
        return [pod for pod in pods if only(pod)]

    def running(self, farm):
        return self.pods(farm, lambda pod: pod["status"]["phase"] == "Running" and not is_ending(pod))

    def events(self, of, reason):
        return [event for event in self.cluster.get("events", self.namespace)
                if event["involvedObject"]["name"] == of and event["reason"] == reason]

    def has(self, farm, n_running):
        wait_until(lambda: len(self.running(farm)) == n_running, f"{farm} has {n_running}", 30)


def is_ending(pod):
    return "deletionTimestamp" in pod["metadata"]


def is_reclaimed(pod):
    return "podere.dev/reclaimed-for" in pod["metadata"].get("annotations", {})


@pytest.fixture
def farms(cluster, namespace):
    farms = Farms(cluster, namespace)
    farms.manager()
    yield farms
    farms.kubectl("delete", "farms,deployments", "--all", "--wait=false")
    farms.kubectl("delete", "pods", "--all", "--wait=false", "--grace-period=1")
    cluster.kubectl("delete", "farmmanagers", "--all", "--wait=false")
    wait_until(lambda: not farms.pods(), "the rooms are free", 30)


@pytest.mark.parametrize("spec, words", [
    ({"minExecutors": 3, "maxExecutors": 2}, "minExecutors must be at most maxExecutors"),
    ({"minExecutors": -1}, "greater than or equal to 0"),
    ({"executors": -1}, "greater than or equal to 0"),
    ({"drainSeconds": -5}, "greater than or equal to 0"),
    ({"priority": 1.5}, "must be of type integer"),
    ({"priority": 1001}, "less than or equal to 1000"),
    ({"weight": 0}, "weight must be from 0.001 to 1000"),
    ({"template": None, "selector": None}, "needs a template"),
    ({"gang": True}, "a gang needs a template, and minExecutors"),
    ({"selector": {}}, "must name a label"),
    ({"selector": {"matchExpressions": [{"key": "a", "operator": "In"}]}}, "In and NotIn need values"),
    ({"template": {"spec": {"containers": []}}}, "at least 1 item"),
])
def test_what_contradicts_itself_is_refused(cluster, spec, words):
    farms = Farms(cluster, "default")
    refused = farms.kubectl("create", "-f", "-", given=farms.object("bad", 1, 0, **spec), check=False)
    assert refused.returncode == 1 and words in refused.stderr


def test_a_farm_below_its_guarantee_gets_room_from_another(operator, farms):
    reclaimed_before = operator.metric('podere_operator_reclaims_total{reason="guarantee"}')
    farms.farm("cms", ROOMS, 2)
    farms.has("cms", ROOMS)
    assert sorted(pod["metadata"]["name"] for pod in farms.pods("cms")) == [f"cms-{i}" for i in range(ROOMS)]
    assert {pod["metadata"]["ownerReferences"][0]["name"] for pod in farms.pods("cms")} == {"cms"}
    wait_until(lambda: farms.status("cms").get("overGuarantee") == ROOMS - 2, "the status shows borrowed room")

    farms.farm("sky", 4, 3, drain=20)
    reclaimed = wait_until(lambda: farms.pods("cms", is_reclaimed), "executors are reclaimed")
    wait_until(lambda: "done within" in farms.status("sky").get("message", ""), "the status says who makes room")
    waits = farms.status("sky")
    assert f"{farms.namespace}/cms (3)" in waits["message"] and waits["running"] == 0
    reclaimed = farms.pods("cms", is_reclaimed)
    assert len(reclaimed) == 3 and all(is_ending(pod) for pod in reclaimed)
    annotations = reclaimed[0]["metadata"]["annotations"]
    assert annotations["podere.dev/reclaimed-for"] == f"{farms.namespace}/sky"
    assert annotations["podere.dev/reclaimed-for-guarantee"] == "true"
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", annotations["podere.dev/reclaim-deadline"])
    assert "guarantee" in annotations["podere.dev/reclaim-reason"]
    assert reclaimed[0]["metadata"]["deletionGracePeriodSeconds"] == 20

    farms.has("sky", 3)
    farms.has("cms", ROOMS - 3)
    wait_until(lambda: farms.condition("sky", "GuaranteeMet")["status"] == "True", "the guarantee is met")
    wait_until(lambda: farms.status("sky").get("ready") == 3, "the status counts")
    assert farms.status("sky")["pending"] == 1 and "1 pending: no room" in farms.status("sky")["message"]
    wait_until(lambda: farms.status("cms")["overGuarantee"] == ROOMS - 5, "so does that of the other")
    event, = wait_until(lambda: farms.events("cms", "Reclaimed"), "an event says which farm lost executors")
    assert event["message"].startswith("3 executors drain until") and f"{farms.namespace}/sky" in event["message"]
    assert wait_until(lambda: farms.events("sky", "GuaranteeMet"), "an event says which farm has them")
    assert wait_until(lambda: farms.events(reclaimed[0]["metadata"]["name"], "Reclaimed"), "an event on the pod")
    assert operator.metric('podere_operator_reclaims_total{reason="guarantee"}') - reclaimed_before == 3
    assert operator.metric("podere_operator_cycles_total") == 0
    assert operator.metric("podere_operator_time_to_guarantee_seconds_count") >= 1
    assert f"{farms.namespace}   " in farms.cluster.kubectl("get", "farmmanagers")
    assert re.search(r"sky +4 +3 +3 +0 +NoRoom ", farms.kubectl("get", "farms")), farms.kubectl("get", "farms")


def test_room_that_a_deployment_takes_is_noticed_before_more_is_freed(operator, farms):
    drain = 20
    farms.farm("cms", ROOMS, 0, drain=drain)
    farms.has("cms", ROOMS)
    template = farms.object("any", 1, 0)["spec"]["template"]
    template["metadata"]["labels"] = {"app": "web"}
    farms.kubectl("create", "-f", "-", given={
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"},
        "spec": {"replicas": 1, "selector": {"matchLabels": {"app": "web"}}, "template": template}})

    def web(phase):
        return farms.pods(only=lambda pod: pod["metadata"]["labels"].get("app") == "web" and pod["status"]["phase"] == phase)
    wait_until(lambda: web("Pending"), "its pod waits for room")

    reclaims = {}  # by pod: when, as the operator wrote it

    def note(_, pod, __):
        if is_reclaimed(pod):
            deadline = pod["metadata"]["annotations"]["podere.dev/reclaim-deadline"]
            reclaims[pod["metadata"]["uid"]] = datetime.fromisoformat(deadline) - timedelta(seconds=drain)
    Watch(Api(farms.cluster), f"/api/v1/namespaces/{farms.namespace}/pods", note)
    farms.farm("sky", 1, 1)
    wait_until(lambda: web("Running"), "the freed room is the Deployment's")
    wait_until(lambda: farms.condition("sky", "Ready").get("reason") == "RoomWentToOthers", "the status says so")
    sky = farms.status("sky")
    words = r"1 guaranteed pending: other pods use the reclaimed room, next reclaim in (\d+) s"
    again = datetime.fromisoformat(sky["asOf"]) + timedelta(seconds=int(re.search(words, sky["message"])[1]))
    assert farms.condition("sky", "GuaranteeMet")["status"] == "False"
    wait_until(lambda: len(farms.running("sky")) == 1, "no other farm waits for the next room", 180)
    first, second = sorted(reclaims.values())
    assert first < again <= second + timedelta(seconds=1), "times are whole seconds"
    assert len(farms.running("cms")) == ROOMS - 2


def test_a_farm_shrinks_by_its_scale(operator, farms):
    farms.farm("cms", 5, 1)
    farms.has("cms", 5)
    farms.kubectl("scale", "farm/cms", "--replicas=2")
    farms.has("cms", 2)
    wait_until(lambda: farms.status("cms").get("executors") == 2 and farms.status("cms")["pending"] == 0, "status")
    assert farms.status("cms")["selector"] == "podere.dev/farm=cms"
    assert not farms.events("cms", "Reclaimed")


def test_pods_that_others_make_are_adopted_and_reclaimed_but_no_driver(operator, farms):
    def spark_pod(name, role):
        made = farms.object("any", 1, 1)["spec"]["template"]
        made["metadata"] |= {"name": name, "labels": {"app": "spark", "spark-role": role}}
        return {"apiVersion": "v1", "kind": "Pod", **made}

    adopting = farms.object("spark", 0, 1, drain=4)
    adopting["spec"] |= {"selector": {"matchLabels": {"app": "spark"}}}
    del adopting["spec"]["template"], adopting["spec"]["executors"]
    farms.kubectl("apply", "-f", "-", given=adopting)
    for i in range(ROOMS):
        farms.kubectl("create", "-f", "-", given=spark_pod(f"spark-{i}", "driver" if i == 0 else "executor"))
    wait_until(lambda: farms.status("spark").get("ready") == ROOMS - 1, "they are its executors")
    farms.farm("sky", 2, 2)
    farms.has("sky", 2)
    left = farms.pods(only=lambda pod: pod["metadata"]["name"].startswith("spark") and not is_ending(pod))
    assert len(left) == ROOMS - 2 and "spark-0" in [pod["metadata"]["name"] for pod in left]
    assert farms.condition("spark", "Valid")["status"] == "True"


def test_what_fits_nowhere_reclaims_nothing(operator, farms):
    farms.farm("cms", ROOMS, 0)
    farms.has("cms", ROOMS)
    farms.farm("giant", 2, 2, cpu="17")
    wait_until(lambda: "each needs more than any node has" in farms.status("giant").get("message", ""), "it says why")
    elsewhere = farms.object("elsewhere", 2, 2)
    elsewhere["spec"]["template"]["spec"]["nodeSelector"] = {"podere.test/node": "none"}
    farms.kubectl("create", "-f", "-", given=elsewhere)
    for name in ("giant", "elsewhere"):
        wait_until(lambda: farms.condition(name, "GuaranteeMet").get("reason") == "FitsNowhere", "a condition says so")
    assert len(farms.running("cms")) == ROOMS and not farms.pods("cms", is_reclaimed)


def test_a_pod_that_the_server_refuses_reclaims_nothing_and_is_reported(operator, farms):
    farms.farm("cms", ROOMS, 0)
    farms.has("cms", ROOMS)
    bad = farms.object("bad", 3, 3)
    bad["spec"]["template"]["spec"]["containers"][0]["name"] = "No Such Name"
    farms.kubectl("create", "-f", "-", given=bad)
    wait_until(lambda: farms.condition("bad", "Valid").get("reason") == "NoPodsAreMade", "a condition says so")
    assert "No Such Name" in farms.status("bad")["message"]
    assert wait_until(lambda: farms.events("bad", "NoPodsAreMade"), "an event")
    assert len(farms.running("cms")) == ROOMS and farms.condition("bad", "GuaranteeMet")["status"] == "False"


def test_a_quota_that_refuses_pods_is_named_and_statuses_stay_true(operator, farms):
    farms.farm("cms", ROOMS, 0)
    farms.has("cms", ROOMS)
    quota = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "small"}, "spec": {"hard": {"pods": ROOMS}}}
    farms.kubectl("create", "-f", "-", given=quota)
    wait_until(lambda: farms.cluster.get("resourcequota/small", farms.namespace).get("status", {}).get("used"), "it counts")
    farms.farm("sky", 2, 2)
    for name in "Ready", "GuaranteeMet", "Valid":
        wait_until(lambda: farms.condition("sky", name).get("reason") == "QuotaExceeded", "a condition says so")
    assert farms.status("sky")["message"].startswith("0 of 2 executors running. 2 pending: exceeded quota: small: ")
    wait_until(lambda: [farms.status("cms")[name] for name in ("ready", "running", "terminating")] == [ROOMS, ROOMS, 0],
               "the status of the other is true")
    assert not farms.pods("cms", is_reclaimed)


def test_no_more_is_reclaimed_than_a_quota_admits(operator, farms, cluster):
    farms.farm("cms", ROOMS, 0, drain=3)
    farms.has("cms", ROOMS)
    narrow = Farms(cluster, farms.namespace + "-narrow")
    cluster.kubectl("create", "namespace", narrow.namespace)
    reclaimed = {}
    Watch(Api(cluster), f"/api/v1/namespaces/{farms.namespace}/pods",
          lambda kind, pod, at: reclaimed.update({pod["metadata"]["uid"]: pod["metadata"]["name"]} if is_reclaimed(pod) else {}))
    try:
        for name, hard in ("wide", {"pods": 10}), ("small", {"requests.cpu": "15", "requests.memory": "64Gi"}):
            narrow.kubectl("create", "-f", "-", given={"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": name},
                                                       "spec": {"hard": hard}})
            wait_until(lambda: narrow.cluster.get(f"resourcequota/{name}", narrow.namespace)
                       .get("status", {}).get("used"), "it counts")
        narrow.kubectl("create", "-f", "-", given=farms.object("sky", 5, 5))
        wait_until(lambda: reclaimed, "executors are reclaimed")
        narrow.has("sky", 3)
        assert len(reclaimed) == 3, reclaimed
        wait_until(lambda: narrow.condition("sky", "GuaranteeMet").get("reason") == "QuotaExceeded", "a condition says so")
        assert narrow.status("sky")["message"].startswith(
            "3 of 5 executors running. 2 pending: exceeded quota: small: requested: requests.cpu=4, used: requests.cpu=12, "
            "limited: requests.cpu=15"), narrow.status("sky")
        farms.kubectl("label", "pods", "--all", "looks=again")  # which makes it decide anew
        farms.farm("other", 1, 0)
        wait_until(lambda: farms.status("other"), "it has")
        assert len(reclaimed) == 3, reclaimed

        narrow.kubectl("patch", "resourcequota/small", "--type=merge", "-p", '{"spec": {"hard": {"requests.cpu": "20"}}}')
        narrow.has("sky", 5)
        wait_until(lambda: narrow.condition("sky", "GuaranteeMet").get("reason") == "Met", "a condition says so")
        assert narrow.condition("sky", "Valid")["status"] == "True" and len(reclaimed) == 5
        assert not narrow.pods("sky", is_reclaimed)
    finally:
        cluster.kubectl("delete", "namespace", narrow.namespace, "--wait=false")
        wait_until(lambda: not narrow.pods(), "its rooms are free", 30)


def test_what_is_cut_of_a_guarantee_is_shown_as_pending_pods(operator, farms):
    def shown():
        return farms.pods("sky", lambda pod: "podere.dev/shows-missing-guarantee" in pod["metadata"].get("annotations", {})
                          and not is_ending(pod) and "nodeName" not in pod["spec"])
    farms.farm("sky", 12, 12)
    farms.has("sky", ROOMS)
    assert len(farms.pods("sky")) == ROOMS
    farms.manager(pendingPodsPerFarm=3)
    wait_until(lambda: len(shown()) == 3, "three are shown")
    for pod in shown():
        wait_until(lambda: "Unschedulable" in str(farms.cluster.get(f"pod/{pod['metadata']['name']}", farms.namespace)
                                                  ["status"]), "as an autoscaler looks for them", 20)
    wait_until(lambda: farms.status("sky").get("pending") == 12 - ROOMS, "the status counts them")
    assert len(farms.running("sky")) == ROOMS

    quota = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "small"}, "spec": {"hard": {"pods": ROOMS + 3}}}
    farms.kubectl("create", "-f", "-", given=quota)
    wait_until(lambda: farms.cluster.get("resourcequota/small", farms.namespace).get("status", {}).get("used"), "it counts")
    farms.farm("geo", 1, 1)
    farms.has("geo", 1)  # a quota that is full of what is shown refuses it, until these have gone
    assert len(farms.running("sky")) == ROOMS - 1
    wait_until(lambda: shown(), "they come again")

    farms.farm("sky", 12, 2)
    wait_until(lambda: not shown(), "nothing is cut")
    farms.farm("sky", 12, 12)
    wait_until(lambda: shown(), "it is")
    farms.kubectl("delete", "farm", "sky")
    wait_until(lambda: not farms.pods("sky"), "they go with the farm")


def test_a_template_without_requests_is_warned_of(operator, farms):
    made = farms.object("free", 1, 0)
    del made["spec"]["template"]["spec"]["containers"][0]["resources"]
    farms.kubectl("create", "-f", "-", given=made)
    wait_until(lambda: "the template requests no cpu and no memory" in farms.status("free").get("message", ""), "its status")
    assert farms.condition("free", "Valid")["reason"] == "NoRequests"


def test_guarantees_beyond_the_cluster_are_cut_from_above(operator, farms):
    farms.farm("a", 12, 12)
    farms.has("a", ROOMS)
    farms.farm("c", 2, 2)
    farms.farm("b", 4, 4)
    farms.has("c", 2)
    farms.has("b", 3)
    farms.has("a", 3)
    wait_until(lambda: farms.condition("b", "GuaranteeMet").get("reason") == "GuaranteesExceedCluster", "a condition")
    assert farms.condition("b", "GuaranteeMet")["status"] == "False" and "counts as 3" in farms.status("b")["message"]

    def manager():
        return farms.cluster.get(f"farmmanager/{farms.namespace}").get("status", {})
    wait_until(lambda: manager().get("guaranteedLoad") == "2.25", "the manager's status")
    fits, = [c for c in manager()["conditions"] if c["type"] == "GuaranteesFit"]
    assert fits["status"] == "False" and manager()["message"].startswith("1 of 3 farms have")
    assert fits["message"] == "guarantees requested 18, room 8"


def test_a_farm_without_a_manager_gets_free_room_and_says_so(operator, farms):
    farms.farm("cms", 6, 0)
    farms.has("cms", 6)
    alone = farms.object("alone", 4, 4)
    alone["metadata"]["labels"] = {}
    farms.kubectl("create", "-f", "-", given=alone)
    farms.has("alone", 2)
    wait_until(lambda: farms.condition("alone", "Managed")["status"] == "False", "it says so")
    assert "nothing is reclaimed for it" in farms.status("alone")["message"] and not farms.pods("cms", is_reclaimed)


def test_of_two_managers_the_first_by_name_manages_and_both_say_so(operator, farms):
    farms.manager("-second", mode="FairShare")
    farms.farm("cms", 1, 1)
    wait_until(lambda: farms.condition("cms", "Managed").get("reason") == "SeveralManagers", "the farm says so")
    for name in (farms.namespace, farms.namespace + "-second"):
        wait_until(lambda: "SeveralManagers" in str(farms.cluster.get(f"farmmanager/{name}").get("status")), name)
    assert farms.cluster.get(f"farmmanager/{farms.namespace}")["status"]["farms"] == 1


def test_two_farms_that_select_the_same_pods_are_reported(operator, farms):
    for name in ("a", "b"):
        farms.farm(name, 0, 0, template=None, selector={"matchLabels": {"app": "shared"}})
    pod = {"apiVersion": "v1", "kind": "Pod", **farms.object("any", 1, 1)["spec"]["template"]}
    pod["metadata"] |= {"name": "one", "labels": {"app": "shared"}}
    farms.kubectl("create", "-f", "-", given=pod)
    for name in ("a", "b"):
        wait_until(lambda: farms.condition(name, "Valid").get("reason") == "SelectorsOverlap", name)
    wait_until(lambda: farms.status("a").get("running") == 1, "it belongs to the first")
    assert farms.status("b")["running"] == 0


def test_a_farm_that_is_deleted_leaves_nothing(operator, farms):
    farms.farm("cms", 3, 3)
    farms.has("cms", 3)
    farms.kubectl("delete", "farm/cms", "--wait=false")
    wait_until(lambda: not farms.pods(), "its executors are gone", 30)


def test_a_pod_that_does_not_end_is_reported_and_its_room_no_longer_waited_for(operator, farms):
    farms.manager(stuckSeconds=1)
    farms.farm("cms", ROOMS, 0, drain=1)
    farms.has("cms", ROOMS)
    farms.kubectl("patch", "pod/cms-0", "--type=merge", "-p", '{"metadata": {"finalizers": ["podere.test/hold"]}}')
    farms.kubectl("delete", "pod/cms-0", "--wait=false", "--grace-period=1")
    wait_until(lambda: "does not end" in farms.status("cms").get("message", ""), "the farm says so")
    assert "cms-0 on node fake-" in farms.status("cms")["message"]
    assert wait_until(lambda: farms.events("cms", "StuckTerminating"), "an event")
    farms.farm("sky", 1, 1)
    farms.has("sky", 1)
    assert is_ending(next(pod for pod in farms.pods("cms") if pod["metadata"]["name"] == "cms-0")), "it was not forced"
    farms.kubectl("patch", "pod/cms-0", "--type=merge", "-p", '{"metadata": {"finalizers": null}}')


def test_executors_that_end_by_themselves_are_made_again_ever_later(operator, farms):
    farms.farm("cms", 2, 2)
    farms.has("cms", 2)
    farms.kubectl("patch", "pod/cms-0", "--subresource=status", "--type=merge", "-p", '{"status": {"phase": "Failed"}}')
    wait_until(lambda: "ended by themselves" in farms.status("cms").get("message", ""), "the farm says so")
    assert len(farms.running("cms")) == 1
    farms.has("cms", 2)
    wait_until(lambda: farms.condition("cms", "Valid")["status"] == "True", "all is well again")


def test_a_namespace_can_be_deleted_with_its_farms(operator, farms, cluster):
    farms.farm("cms", 3, 3)
    farms.has("cms", 3)
    failures = operator.metric("podere_operator_pass_failures_total")
    cluster.kubectl("delete", "namespace", farms.namespace, "--wait=false")
    wait_until(lambda: not farms.pods(only=lambda pod: not is_ending(pod)), "all pods end, and no others are made")
    assert operator.metric("podere_operator_pass_failures_total") - failures <= 3


def test_an_api_server_that_comes_back_finds_it_at_work(operator, farms, cluster):
    farms.farm("cms", 2, 2)
    farms.has("cms", 2)
    cluster.do("down", "apiserver")
    time.sleep(1)
    assert operator.get("/livez")[0] == 200, "who cannot reach the API server is alive"
    cluster.do("up", "apiserver")
    wait_until(lambda: cluster.call("status").returncode == 0, "the API server is back")
    farms.farm("cms", 4, 2)
    farms.has("cms", 4)
    assert operator.process.poll() is None


def test_it_is_alive_and_ready_and_shows_figures(operator):
    assert operator.get("/livez") == (200, "ok\n")
    assert operator.get("/readyz") == (200, "ok\n")
    assert operator.get("/else")[0] == 404
    figures = operator.get("/metrics")[1]
    for name in ("reclaims_total", "cycles_total", "time_to_guarantee_seconds_bucket", "queue_depth",
                 "watch_restarts_total", "decision_seconds_bucket", "writes_total", "leader"):
        assert f"\npodere_operator_{name}" in figures, name
    assert operator.metric("podere_operator_leader") == 1


def shown(cluster, *arguments, user=None):
    return subprocess.run([os.environ["PODERE"], "farm", "status", "--kubeconfig", cluster.kubeconfig(user), *arguments], text=True,
                          capture_output=True, timeout=30)


def test_the_status_of_farms_is_shown_with_the_reason(operator, farms, cluster):
    farms.farm("cms", ROOMS - 2, 2)
    farms.farm("sky", 6, 1)
    wait_until(lambda: len(farms.running("cms")) + len(farms.running("sky")) == ROOMS, "the rooms are full")
    place = f"{farms.namespace}/"
    shows = {}

    def row(name, guaranteed, wanted):
        status = farms.status(name)
        counts = (guaranteed, wanted, *(status.get(count) for count in ("running", "overGuarantee", "pending", "terminating")))
        return [place + name, *(str(count) for count in counts)]

    def all_is_shown():
        """Statuses are written in the background, each for itself, and may change between two looks."""
        shows["text"] = shown(cluster, place).stdout
        rows = [line.split() for line in shows["text"].splitlines()]
        full = sum(farms.status(name).get("running", 0) for name in ("cms", "sky")) == ROOMS
        sentence = f"\n{place}sky: {farms.status('sky').get('message')}\n"
        return full and row("cms", 2, ROOMS - 2) in rows and row("sky", 1, 6) in rows and sentence in shows["text"]

    try:
        wait_until(all_is_shown, "the counts")
    except AssertionError:
        pytest.fail(f"a minute later this is still shown:\n{shows.get('text')}")
    assert shows["text"].split("\n")[0].split() == ["farm", "guaranteed", "wanted", "running", "borrowed", "pending", "ending"]
    of_one = json.loads(shown(cluster, place + "cms", "--json").stdout)
    assert of_one["namespace"] == farms.namespace and [farm["name"] for farm in of_one["farms"]] == ["cms"]
    status = of_one["farms"][0]["status"]
    assert 2 < status["running"] <= ROOMS - 2 and status["over_guarantee"] == status["running"] - 2
    assert {condition["type"] for condition in status["conditions"]} >= {"GuaranteeMet", "Ready"}
    everywhere = json.loads(shown(cluster, "--all-namespaces", "--json").stdout)
    assert everywhere["namespace"] is None and {"cms", "sky"} <= {farm["name"] for farm in everywhere["farms"]}
    for arguments, user, words in [
            ((place + "nix",), None, "there is no farm 'nix'"),
            ((place,), "student", f"you may not see the farms of namespace {farms.namespace}"),
            (("--all-namespaces",), "student", "you may not see the farms of all namespaces")]:
        refused = shown(cluster, *arguments, user=user)
        line, = refused.stderr.splitlines()
        assert refused.returncode == 2 and words in line, line
    assert "There are no farms in namespace kube-public: --all-namespaces" in shown(cluster, "kube-public/").stdout


def test_the_page_of_farms_follows_them_and_asks_what_if(operator, farms, cluster):
    """What it answers is what its description says; the token is all that it takes."""
    farms.farm("cms", 2, 2)
    farms.has("cms", 2)
    page = subprocess.Popen([os.environ["PODERE"], "farm", "status", f"{farms.namespace}/", "--page=0", "--kubeconfig",
                             cluster.kubeconfig(None)], text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        link = page.stdout.readline().removeprefix("page: ").strip()
        address, token = link.split("?token=")

        def get(path, token=token, **query):
            request = urllib.request.Request(f"{address}{path}?{urllib.parse.urlencode(query)}",
                                             headers={"Authorization": f"Bearer {token}"})
            try:
                with urllib.request.urlopen(request, timeout=30) as answer:
                    return answer.status, answer.read().decode()
            except urllib.error.HTTPError as error:
                return error.code, error.read().decode()

        def farm():
            return next(farm for farm in json.loads(get("api/farms")[1])["farms"] if farm["name"] == "cms")

        for path in ("", "api/farms", "api/what-if", "api/openapi.json"):
            assert get(path, token="0" * 48)[0] == 403
        assert '>"farms"</script>' in get("")[1]
        wait_until(lambda: farm()["status"] and farm()["status"]["running"] == 2, "the page knows", 30)
        api = json.loads(get("api/openapi.json")[1])
        schema = {"$ref": "#/components/schemas/Farms", "components": api["components"]}
        jsonschema.validate(json.loads(get("api/farms")[1]), schema)
        farms.kubectl("scale", "farm/cms", "--replicas=5")
        wait_until(lambda: farm()["wanted"] == 5 and farm()["status"]["running"] == 5, "the page follows", 30)
        history = farm()["history"]
        assert history[-1][1:] == [5, 0, 0] and [point[0] for point in history] == sorted(point[0] for point in history)

        name = f"{farms.namespace}/cms"
        status, answer = get("api/what-if", farm=name, executors=3)
        assert status == 200 and json.loads(answer)["answer"]["executors"] == 3
        assert json.loads(answer)["text"].startswith(f"{name}, if it wanted 3 executors (5 now):\n")
        assert not cluster.get("whatifs", farms.namespace)
        for query, words in [({}, "farm is missing"), ({"farm": "cms", "executors": 3}, "farm is missing"),
                             ({"farm": name}, "executors is no"), ({"farm": name, "executors": -1}, "executors is no"),
                             ({"farm": name, "executors": 100001}, "executors is no"),
                             ({"farm": name + "x", "executors": 1}, f"there is '{name}'"),
                             ({"farm": "no/where", "executors": 1}, "there is no namespace no"),
                             ({"farm": "../../x/y", "executors": 1}, "")]:
            status, answer = get("api/what-if", **query)
            assert status == 400 and words in json.loads(answer)["error"], answer
        farms.kubectl("delete", "farm/cms", "--wait=false")
        wait_until(lambda: json.loads(get("api/farms")[1])["farms"] == [], "it is gone from the page", 30)
        page.send_signal(signal.SIGINT)
        assert page.wait(10) == 0 and page.stderr.read() == ""
    finally:
        page.kill()
        page.wait()


def test_killed_in_mid_reclaim_it_takes_nothing_twice(cluster, operator, farms):
    operator.process.send_signal(signal.SIGSTOP)  # the one of the other tests stands still, and loses its lease
    try:
        with operating(cluster, lease="killed") as first:
            first.wait_for("knows")
            farms.farm("cms", ROOMS, 0)
            farms.has("cms", ROOMS)
            farms.farm("sky", 4, 4, drain=30)
            farms.kubectl("annotate", "pods", "-l", "podere.dev/farm=cms", "--overwrite", "podere.test/ends-after=6")
            wait_until(lambda: farms.pods("cms", is_reclaimed), "the first was reclaimed")
            first.kill()
            reclaimed_before = {pod["metadata"]["uid"] for pod in farms.pods("cms", is_reclaimed)}
        with operating(cluster, lease="killed") as second:  # waits for the lease of the dead
            second.wait_for("knows", 40)
            farms.has("sky", 4)
            farms.has("cms", ROOMS - 4)
            second.wait_for("knows")
            assert second.metric('podere_operator_reclaims_total{reason="guarantee"}') + len(reclaimed_before) == 4
    finally:
        operator.process.send_signal(signal.SIGCONT)
    wait_until(lambda: operator.process.poll() is not None, "who has lost the lease ends", 20)
    assert operator.process.returncode == 1 and "the lease is lost" in operator.said()


def test_another_leads_when_the_leader_is_killed(cluster, farms):
    with operating(cluster, lease="two") as first:
        first.wait_for("knows")
        with operating(cluster, lease="two") as second:
            second.wait_for("the leader is")
            farms.farm("cms", 2, 2)
            farms.has("cms", 2)
            assert second.get("/readyz")[0] == 200 and second.metric("podere_operator_leader") == 0
            first.process.terminate()  # which releases the lease
            assert first.process.wait(timeout=10) == 0
            second.wait_for("knows", 10)
            farms.farm("cms", 4, 2)
            farms.has("cms", 4)


def test_mistakes_of_the_user_are_reported_in_a_line(cluster):
    def refused(*arguments):
        done = subprocess.run([os.environ["PODERE"], "operator", "--listen", "127.0.0.1:0", *arguments], text=True,
                              capture_output=True, timeout=30)
        lines = done.stderr.splitlines()
        assert done.returncode == 2 and lines[-1].startswith("podere: "), done.stderr
        return lines[-1]

    assert "/no/such" in refused("--kubeconfig", "/no/such")
    student = cluster.kubeconfig("student")
    assert "may not list farms" in refused("--kubeconfig", student)
    assert "no port" in refused("--listen", "everywhere")
    wrong = cluster.folder / "wrong.kubeconfig"
    wrong.write_text(re.sub(r"https://127.0.0.1:\d+", "https://127.0.0.1:1", pathlib.Path(cluster.kubeconfig()).read_text()))
    assert "127.0.0.1:1" in refused("--kubeconfig", str(wrong))
