"""The chart, as a cluster's administrator installs it: the operator runs in pods of the real node, farms on fake nodes."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import urllib.request

import pytest
import yaml
from conftest import HERE, cannot, started
from live import wait_until
from test_operator import ROOMS, Farms, is_reclaimed

ROOT = HERE.parents[1]
CHART = ROOT / "deploy/chart"
COURSE = ROOT / "deploy/examples/course"
IMAGE = "podere.test/operator:1"
TAINT = "podere.test/operators-only"


def helm(*arguments, cluster=None):
    environment = {**os.environ, "HELM_CACHE_HOME": "/nonexistent"}
    if cluster:
        environment["KUBECONFIG"] = cluster.kubeconfig()
    return subprocess.run([HERE / "helm.sh", *map(str, arguments)], env=environment, text=True, capture_output=True)


def rendered(*arguments):
    done = helm("template", "podere", CHART, "--namespace", "podere", "--set", f"image={IMAGE}", *arguments)
    if done.returncode == 3:
        cannot(done.stderr)
    assert done.returncode == 0, done.stderr
    return [manifest for manifest in yaml.safe_load_all(done.stdout) if manifest]


def make_image(root, tar):
    """The program, its libraries, ssh-keygen and a user: what the operator's image is made for, without Debian."""
    programs = [os.environ.get("PODERE") or cannot("PODERE does not name the program"), shutil.which("ssh-keygen")]
    (root / "usr/bin").mkdir(parents=True)
    for program in programs:
        shutil.copy(program, root / "usr/bin")
        for path in re.findall(r"(?:=> |^\s*)(/\S+)", subprocess.check_output(["ldd", program], text=True), re.MULTILINE):
            place = root / path[1:]
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, place)
    for folder in ("etc", "tmp"):
        (root / folder).mkdir()
    (root / "etc/passwd").write_text("podere:x:1000:1000::/tmp:/bin/false\n")
    libraries = sorted({str(path.parent.relative_to(root)) for path in root.rglob("*.so*")})
    (root / "etc/ld.so.conf").write_text("".join(f"/{folder}\n" for folder in libraries))
    subprocess.run(["ldconfig", "-r", root], check=True)
    with open(tar, "wb") as out:
        subprocess.run([HERE / "image.sh", IMAGE, "/usr/bin/podere", root], stdout=out, check=True)


OPTIONS = ["--namespace", "podere", "--set", f"image={IMAGE}", "--set", r"nodeSelector.podere\.test/node=real",
           "--set", f"tolerations[0].key={TAINT}", "--set", "tolerations[0].operator=Exists", "--wait", "--timeout", "90s"]


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    if os.geteuid() != 0:
        cannot("a real kubelet needs root")
    if (done := helm("version")).returncode == 3:
        cannot(done.stderr)
    with started("deploy", "--nodes", "3", "--kubelet") as cluster:
        root = tmp_path_factory.mktemp("operator")
        make_image(root, root.with_suffix(".tar"))
        cluster.do("load", str(root.with_suffix(".tar")))
        cluster.kubectl("taint", "node", "real", f"{TAINT}=:NoSchedule")
        cluster.kubectl("cordon", "fake-2")  # so that there are ROOMS
        done = helm("install", "podere", CHART, "--create-namespace", *OPTIONS, cluster=cluster)
        assert done.returncode == 0, done.stderr + cluster.kubectl("-n", "podere", "describe", "pods")
        assert "kubectl get farms -A" in done.stdout
        yield cluster


@pytest.fixture
def farms(cluster, namespace):
    """By the chart's farm manager."""
    farms = Farms(cluster, namespace)
    yield farms
    farms.kubectl("delete", "farms", "--all", "--wait=false")
    farms.kubectl("delete", "pods", "--all", "--wait=false", "--grace-period=1")
    wait_until(lambda: not farms.pods(), "the rooms are free", 30)


def operators(cluster):
    return {pod["metadata"]["name"]: pod for pod in cluster.get("pods", "podere")}


def leader(cluster):
    held_by = cluster.get("lease/podere-operator", "podere")["spec"]["holderIdentity"]
    return next((name for name in operators(cluster) if name in held_by), held_by)


def running(farms):
    """By their UIDs."""
    return {pod["metadata"]["uid"] for pod in farms.running(None)}


def fight(farms):
    """sky gets the three that it is guaranteed from cms, which has all."""
    farms.farm("cms", ROOMS, 2)
    farms.has("cms", ROOMS)
    farms.farm("sky", 4, 3)
    wait_until(lambda: farms.condition("sky", "GuaranteeMet").get("reason") == "WaitsForDrain", "it says that it waits")
    said = farms.kubectl("get", "farms")
    assert re.search(r"^NAME +WANTED +GUARANTEED +READY +BORROWED +WHY +AGE$", said, re.MULTILINE), said
    assert re.search(r"^sky +4 +3 +0 +0 +WaitsForDrain ", said, re.MULTILINE), said
    farms.has("sky", 3)
    farms.has("cms", ROOMS - 3)


def test_bad_values_are_refused():
    for value, words in [("replicas=-1", "'/replicas': minimum"), ("farmManager.mode=fair", "'/farmManager/mode'"),
                         ("color=red", "'color' not allowed"), ("metrics.port=80", "'/metrics/port': minimum"),
                         ("image=", "image: name the operator's image"), ("farmManager.name=A", "'/farmManager/name'")]:
        done = helm("template", "podere", CHART, "--set", f"image={IMAGE}", "--set", value)
        assert done.returncode == 1 and words in done.stderr, done.stderr


def test_the_operator_may_do_what_it_asks_for_and_nothing_else():
    asked = set()
    source = (ROOT / "podere/controller/rights.cc").read_text()
    of_operator = re.findall(r"k(?:Operator|Quota)Rights = \{(.*?)\};", source, re.DOTALL)
    assert len(of_operator) == 2
    for verb, group, resource in re.findall(r'Right\{"(\w+)", "([\w.]*)", "([\w/]+)"', "".join(of_operator)):
        asked.add((verb, group, resource))
    given = {(verb, group, resource) for manifest in rendered() if manifest["kind"] in ("Role", "ClusterRole")
             and manifest["metadata"]["name"].startswith("podere-operator") for rule in manifest["rules"]
             for group in rule["apiGroups"] for resource in rule["resources"] for verb in rule["verbs"]}
    assert asked and given == asked


def test_plain_manifests_are_those_of_the_chart():
    rendered()
    made = subprocess.run([ROOT / "deploy/plain.sh"], text=True, capture_output=True, check=True).stdout
    assert made == (ROOT / "deploy/operator.yaml").read_text(), "deploy/plain.sh >deploy/operator.yaml"


@pytest.fixture(scope="module", autouse=True)
def unfetched(cluster):
    """A question whose answer stays: asked first, so that the other tests run while the operator keeps it."""
    cluster.kubectl("-n", "default", "create", "-f", "-", given={
        "apiVersion": "podere.dev/v1alpha1", "kind": "WhatIf", "metadata": {"name": "left"},
        "spec": {"farm": "none", "executors": 1}})
    left = wait_until(lambda: cluster.get("whatif/left", "default").get("status"), "an answer")
    assert left["error"].startswith("there is no farm")


def test_two_run_as_nobody_and_one_leads(cluster):
    assert len(operators(cluster)) == 2 and leader(cluster) in operators(cluster)
    for pod in operators(cluster).values():
        assert pod["status"]["containerStatuses"][0]["restartCount"] == 0
        assert pod["spec"]["securityContext"]["runAsNonRoot"]
        own = pod["spec"]["containers"][0]["securityContext"]
        assert own["readOnlyRootFilesystem"] and own["capabilities"] == {"drop": ["ALL"]}
        url = f"http://{pod['status']['podIP']}:{pod['metadata']['annotations']['prometheus.io/port']}/metrics"
        with urllib.request.urlopen(url, timeout=10) as answer:
            assert "podere_operator_leader" in answer.read().decode()


def test_two_farms_fight_and_both_see_why(farms, cluster):
    fight(farms)
    assert {pod["spec"].get("priorityClassName") for pod in farms.running("sky")} == {"podere-guaranteed"}
    wait_until(lambda: farms.events("sky", "GuaranteeMet"), "an event")
    described = farms.kubectl("describe", "farm/sky")
    assert f"pending: no room. {farms.namespace}/cms borrows most (3)" in described, described
    assert re.search(rf"RoomIsFreed .*3 executors of {farms.namespace}/cms drain until", described), described
    described = farms.kubectl("describe", "farm/cms")
    assert re.search(rf"Reclaimed .*3 executors drain until .*{farms.namespace}/sky", described), described
    farms.kubectl("scale", "farm/sky", "--replicas=0")
    farms.has("sky", 0)
    farms.has("cms", ROOMS)  # the room that was borrowed from it


def test_an_upgrade_loses_nothing(farms, cluster):
    fight(farms)
    before, ran = running(farms), set(operators(cluster))
    done = helm("upgrade", "podere", CHART, *OPTIONS, "--set", "jsonLog=true", cluster=cluster)
    assert done.returncode == 0, done.stderr
    wait_until(lambda: not ran & set(operators(cluster)) and leader(cluster) in operators(cluster), "others lead", 60)
    assert running(farms) == before
    farms.kubectl("scale", "farm/cms", "--replicas=4")
    farms.has("cms", 4)
    farms.has("sky", 4)
    assert len(running(farms) & before) == 3 + 4, "three of sky and four of cms are those of before"


def test_what_if_of_the_cluster_as_it_is(farms, cluster):
    def asked(*arguments, user=None):
        return subprocess.run([os.environ["PODERE"], "farm", "what-if", "--kubeconfig",
                               cluster.kubeconfig(user), *arguments], text=True,
                              capture_output=True, timeout=30)

    farms.farm("cms", ROOMS - 1, 2)
    farms.has("cms", ROOMS - 1)
    farms.farm("sky", 0, 3)
    sky = f"{farms.namespace}/sky"
    wait_until(lambda: farms.status("sky"), "the operator")
    before = farms.kubectl("get", "pods", "-o", "name")
    done = asked("--farm", sky, "--executors", "6")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == f"{sky}, if it wanted 6 executors (0 now):"
    assert any(re.fullmatch(r" *1 guaranteed pending: room is free, starting", line) for line in lines), done.stdout
    assert any(f"reclaiming from {farms.namespace}/cms (2), done within 20 s" in line for line in lines), done.stdout
    assert any("3 pending: no room" in line for line in lines), done.stdout
    assert f"2 would be reclaimed from {farms.namespace}/cms, with 20 s to save their work" in lines
    answer = json.loads(asked("--farm", sky, "--executors", "6", "--json").stdout)
    assert answer["at_once"] == 1 and answer["would_be_reclaimed_from"] == {f"{farms.namespace}/cms": 2}
    assert answer["manager"] == "everybody" and answer["drained_within_seconds"] == 20
    assert farms.kubectl("get", "pods", "-o", "name") == before and not farms.pods(only=is_reclaimed), "it changes nothing"

    farms.kubectl("scale", "farm/sky", "--replicas=6")  # and so it happens
    farms.has("sky", 3)
    farms.has("cms", ROOMS - 3)
    fewer = asked("--farm", f"{farms.namespace}/cms", "--executors", "1").stdout
    assert f"  {ROOMS - 4} would drain and end" in fewer.splitlines(), fewer

    assert [asked["metadata"]["name"] for asked in cluster.get("whatifs")] in ([], ["left"]), "questions do not stay"
    for arguments, user, words in [
            (("--farm", sky + "y", "--executors", "1"), None, f"there is '{sky}'"),
            (("--farm", "nowhere/sky", "--executors", "1"), None, "there is no namespace nowhere"),
            (("--farm", sky, "--executors", "1"), "student", f"you may not ask about farms of namespace {farms.namespace}")]:
        done = asked(*arguments, user=user)
        line, = done.stderr.splitlines()
        assert done.returncode == 2 and words in line and "--farm" not in line, line


def test_what_if_needs_no_right_to_see_others_pods(farms, cluster):
    farms.farm("cms", ROOMS, 2)
    farms.has("cms", ROOMS)
    farms.farm("sky", 0, 3)
    wait_until(lambda: farms.status("sky"), "the operator")

    def asked(user):
        return subprocess.run([os.environ["PODERE"], "farm", "what-if", "--kubeconfig", cluster.kubeconfig(user),
                               "--farm", f"{farms.namespace}/sky", "--executors", "3", "--json"], text=True,
                              capture_output=True, timeout=30)

    def may(user, *request):
        done = cluster.kubectl(*request, user=user, check=False)
        assert done.returncode == 0 or "forbidden" in done.stderr.lower(), done.stderr
        return done.returncode == 0
    cluster.kubectl("create", "clusterrolebinding", "olga", "--clusterrole=podere-farm-observer", "--user=olga")
    given = subprocess.check_output([ROOT / "deploy/farm-user.sh", f"{farms.namespace}/sky", "ada"], text=True)
    cluster.kubectl("apply", "-f", "-", given=given)
    for user in ("olga", "ada"):
        wait_until(lambda: asked(user).returncode == 0, "who may, can", 10)
        assert json.loads(asked(user).stdout)["would_be_reclaimed_from"] == {f"{farms.namespace}/cms": 3}
        assert not may(user, "get", "pods", "-A") and not may(user, "get", "nodes"), user
        assert not may(user, "get", "whatifs", "-A"), "what others ask"
        for resource in ("secrets", "configmaps"):
            assert not may(user, "-n", farms.namespace, "get", resource), user
    assert may("olga", "get", "farms", "-A") and not may("olga", "-n", farms.namespace, "get", "pods")
    assert not may("olga", "-n", farms.namespace, "scale", "farm/sky", "--replicas=1")
    assert asked("nemo").returncode == 2 and "you may not ask" in asked("nemo").stderr


def test_an_answer_that_was_not_fetched_is_deleted(unfetched, cluster):
    wait_until(lambda: not cluster.get("whatifs", "default"), "it is gone", 90)


def test_a_course_of_fifteen(cluster):
    names = re.findall(r"(?m)^[a-z]+$", (COURSE / "students.txt").read_text())
    assert len(names) == 15
    cluster.kubectl("uncordon", "fake-2")
    course = subprocess.check_output([COURSE / "course.sh", COURSE / "students.txt"], text=True)
    cluster.kubectl("apply", "-f", "-", given=course)

    def all_ready():
        said = cluster.kubectl("get", "farms", "-A")
        return all(re.search(rf"^course-{name} +{name} +2 +2 +2 +0 +AllReady ", said, re.MULTILINE) for name in names)
    wait_until(all_ready, "each has what it is guaranteed", 90)

    def may(*arguments):
        done = cluster.kubectl("-n", "course-ada", *arguments, user="ada", check=False)
        assert done.returncode == 0 or "forbidden" in done.stderr, done.stderr
        return done.returncode == 0
    assert may("scale", "farm/ada", "--replicas=1") and may("get", "secret/podere-farm-ada") and may("get", "pods")
    assert not may("get", "secrets") and not may("delete", "farm/ada") and not may("patch", "farm/ada", "-p", "{}")
    assert not may("get", "farms", "-A") and not may("-n", "course-alan", "get", "farm/alan")
    notebook = "system:serviceaccount:course-ada:notebook"
    allowed = cluster.kubectl("-n", "course-ada", "auth", "can-i", "get", "farms", "--as", notebook, check=False)
    assert allowed.stdout.strip() == "yes"
    cluster.kubectl("delete", "namespaces", "-l", "course=podere", "--wait=false")
    cluster.kubectl("delete", "pods", "-A", "-l", "podere.dev/farm", "--wait=false", "--grace-period=1")


def test_uninstalled_it_leaves_farms_and_says_what_stays(farms, cluster):
    farms.farm("cms", 3, 2)
    farms.has("cms", 3)
    before = running(farms)
    done = helm("uninstall", "podere", "--namespace", "podere", "--wait", "--timeout", "60s", cluster=cluster)
    assert done.returncode == 0, done.stderr
    assert "[FarmManager] everybody" in done.stdout, done.stdout
    wait_until(lambda: not operators(cluster), "the operators end", 20)
    assert running(farms) == before
    assert cluster.get("farmmanager/everybody")
    assert not [role for role in cluster.get("clusterroles") if role["metadata"]["name"].startswith("podere")]
    done = helm("install", "podere", CHART, *OPTIONS, "--dry-run=server", cluster=cluster)
    assert done.returncode == 0, "what stayed is no obstacle: " + done.stderr
    cluster.kubectl("apply", "-f", CHART / "crds")
    said = cluster.kubectl("apply", "--dry-run=server", "-f", ROOT / "deploy/operator.yaml")
    assert "deployment.apps/podere-operator created" in said, "without Helm it can come back"
