"""podere train on the executors of a farm: real pods, which are taken and come back while it trains."""

import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import time

import pytest
from conftest import cannot, started
from live import HERE, operating, wait_until

ROOT = HERE.parents[1]
IMAGE = "podere.test/executor:1"
TABLE = "collider:3e5"


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """With a node that has an image without programs: those of this machine are mounted, where tests have built them."""
    if os.geteuid() != 0:
        cannot("a real kubelet needs root")
    root = tmp_path_factory.mktemp("executor")
    for folder in ("etc", "tmp", "run/sshd", "root", "var"):
        (root / folder).mkdir(parents=True)
    for folder in ("bin", "sbin", "lib", "lib64"):
        (root / folder).symlink_to(f"usr/{folder}")
    (root / "etc/passwd").write_text("root:x:0:0::/root:/bin/sh\nsshd:x:100:65534::/run/sshd:/bin/false\n")
    (root / "etc/group").write_text("root:x:0:\nnogroup:x:65534:\n")
    with started("launch", "--kubelet") as cluster:
        image = root.with_suffix(".tar")
        with open(image, "wb") as out:
            subprocess.run([HERE / "image.sh", IMAGE, "/bin/sh", root], stdout=out, check=True)
        cluster.do("load", str(image))
        cluster.know_farms()
        with operating(cluster):
            yield cluster


@pytest.fixture
def podere():
    return os.environ.get("PODERE") or cannot("PODERE does not name the program")


def mounted(paths):
    """The paths of this machine in a pod, at the same place."""
    volumes = [{"name": f"v{i}", "hostPath": {"path": str(path)}} for i, path in enumerate(paths)]
    return volumes, [{"name": f"v{i}", "mountPath": str(path)} for i, path in enumerate(paths)]


def farm(name, executors, folder, **spec):
    volumes, mounts = mounted(["/usr", "/etc/alternatives", ROOT, folder])
    volumes.append({"name": "keys", "secret": {"secretName": f"podere-farm-{name}"}})
    mounts.append({"name": "keys", "mountPath": "/etc/podere/keys"})
    container = {"name": "executor", "image": IMAGE, "imagePullPolicy": "Never", "workingDir": str(folder),
                 "command": [str(ROOT / "deploy/images/podere-executor")], "volumeMounts": mounts,
                 "resources": {"requests": {"cpu": "100m"}},
                 "readinessProbe": {"tcpSocket": {"port": 2222}, "periodSeconds": 1}}
    template = {"spec": {"nodeSelector": {"podere.test/node": "real"}, "volumes": volumes, "containers": [container]}}
    return {"apiVersion": "podere.dev/v1alpha1", "kind": "Farm",
            "metadata": {"name": name, "annotations": {"podere.dev/ssh-user": "root"}},
            "spec": {"executors": executors, "drainSeconds": 20, "template": template, **spec}}


def command(cluster, podere, folder, namespace, *arguments):
    environment = {**os.environ, "KUBECONFIG": cluster.do("kubeconfig"), "TMPDIR": "/tmp"}
    return {"args": [podere, "train", "gbt", TABLE, "--on", "kubernetes", "--farm", f"{namespace}/astro", "--cores", "1",
                     *map(str, arguments)], "cwd": folder, "env": environment, "text": True}


def sha256(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def ready(cluster, namespace):
    pods = cluster.get("-n", namespace, "pods", "-l", "podere.dev/farm=astro")
    return sum(any(c["type"] == "Ready" and c["status"] == "True" for c in pod["status"].get("conditions", []))
               for pod in pods if "deletionTimestamp" not in pod["metadata"])


def test_a_model_is_the_same_on_a_farm(cluster, namespace, podere, tmp_path):
    cluster.kubectl("-n", namespace, "create", "-f", "-", given=farm("astro", 2, tmp_path))
    options = ["--trees", 20, "-o", tmp_path / "farm.json", "--executors", "2", "--json"]
    done = subprocess.run(**command(cluster, podere, tmp_path, namespace, *options), capture_output=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["losses"] == []
    subprocess.run([podere, "train", "gbt", TABLE, "--trees", "20", "-o", tmp_path / "here.json"], check=True,
                   capture_output=True)
    assert sha256(tmp_path / "farm.json") == sha256(tmp_path / "here.json")


def test_a_farm_that_shrinks_and_grows_gives_the_same_model(cluster, namespace, podere, tmp_path):
    trees = 600
    cluster.kubectl("-n", namespace, "create", "-f", "-", given=farm("astro", 4, tmp_path))
    wait_until(lambda: ready(cluster, namespace) == 4, "four executors")
    options = ["--trees", trees, "-o", tmp_path / "farm.json", "--executors", "1:4"]
    with subprocess.Popen(**command(cluster, podere, tmp_path, namespace, *options), stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE) as process:
        try:
            said = ""
            for wanted in (3, 2, 1, 3):
                time.sleep(2)
                cluster.kubectl("-n", namespace, "scale", "farm/astro", f"--replicas={wanted}")
                words = re.compile(rf"going on with {wanted} executors?")
                while not words.search(said):
                    line = process.stderr.readline()
                    assert line, f"ended with {process.wait()} before it had {wanted}: {said}"
                    said += line
            _, rest = process.communicate(timeout=240)
            assert process.returncode == 0, said + rest
        finally:
            process.kill()
    assert "lost" not in said + rest, "each left in time"
    subprocess.run([podere, "train", "gbt", TABLE, "--trees", str(trees), "-o", tmp_path / "here.json"], check=True,
                   capture_output=True)
    assert sha256(tmp_path / "farm.json") == sha256(tmp_path / "here.json")


def test_a_python_session_runs_on_a_farm(cluster, namespace, podere, tmp_path):
    cluster.kubectl("-n", namespace, "create", "-f", "-", given=farm("astro", 2, tmp_path))
    script = """
import podere, sys
with podere.Session(executors="1:2", cores=1, farm=sys.argv[1], progress=False) as session:
    table = session.read(sys.argv[2])
    model = session.fit(podere.GBTClassifier(n_estimators=3), table)
    few = session.read("collider:500")
    print(session.status["executors"], session.evaluate(model, table)["auc"] > 0.6, session.predict(model, few).shape,
          few.to_pandas().shape)
"""
    started = command(cluster, podere, tmp_path, namespace)
    started["args"] = [sys.executable, "-c", script, f"{namespace}/astro", TABLE]
    done = subprocess.run(**started, capture_output=True, timeout=120)
    assert done.stdout == "2 True (500,) (500, 29)\n", done.stderr


def test_a_session_says_that_it_waits_and_can_be_stopped(cluster, namespace, podere, tmp_path):
    cluster.kubectl("-n", namespace, "create", "-f", "-", given=farm("astro", 0, tmp_path))
    wait_until(lambda: cluster.get("-n", namespace, "farm/astro").get("status", {}).get("selector"), "the operator")
    options = command(cluster, podere, tmp_path, namespace)
    options["env"]["XDG_RUNTIME_DIR"] = str(tmp_path)

    processes = []

    def does(*arguments):
        processes.append(subprocess.Popen(**{**options, "args": [podere, *arguments]}, stdout=subprocess.DEVNULL,
                                          stderr=subprocess.PIPE))
        return processes[-1]

    def says(process, words):
        said = ""
        while words not in said:
            line = process.stderr.readline()
            assert line, f"ended with {process.wait()}: {said}"
            said += line

    try:
        start = does("session", "start", "s", "--on", "kubernetes", "--farm", f"{namespace}/astro", "--cores", "1")
        says(start, "farm astro has 0 of 1 executors ready; 0 of 0 executors; no farm manager selects")
        cluster.kubectl("-n", namespace, "scale", "farm/astro", "--replicas=1")
        assert start.wait(60) == 0, start.stderr.read()
        cluster.kubectl("-n", namespace, "scale", "farm/astro", "--replicas=0")
        wait_until(lambda: ready(cluster, namespace) == 0, "the executor is gone", 60)
        train = does("train", "gbt", TABLE, "--session", "s", "-o", "model.json")
        says(train, "farm astro has 0 of 1 executors ready")
        stop = does("session", "stop", "s")
        assert stop.wait(20) == 0, stop.stderr.read()
        assert train.wait(20) != 0 and not (tmp_path / "model.json").exists()
    finally:
        does("session", "stop", "s").wait(20)
        for process in processes:
            process.kill()


def test_what_cannot_be_is_said_in_one_line(cluster, namespace, podere, tmp_path):
    def refused(*arguments, user=None, of=None):
        started = command(cluster, podere, tmp_path, of or namespace, "--trees", 1, "-o", tmp_path / "m.json", *arguments)
        if user:
            started["env"]["KUBECONFIG"] = cluster.do("kubeconfig", user)
        done = subprocess.run(**started, capture_output=True, timeout=60)
        lines = done.stderr.strip().splitlines()
        assert done.returncode == 2 and len(lines) == 1, done.stderr
        return lines[0]

    assert "there is no Farm" in refused()
    assert "you may not see it" in refused(user="student")
    volumes = farm("astro", 0, tmp_path)
    volumes["spec"]["template"]["spec"]["volumes"] = []
    volumes["spec"]["template"]["spec"]["containers"][0]["volumeMounts"] = []
    cluster.kubectl("-n", namespace, "create", "-f", "-", given=volumes)
    wait_until(lambda: cluster.get("-n", namespace, "farm/astro").get("status", {}).get("selector"), "the operator")
    assert "podere-farm-astro" in refused()
    assert not list(pathlib.Path(tmp_path).glob("m.json*"))
