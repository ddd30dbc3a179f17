"""podere train on the executors of a farm: real pods, which are reclaimed and come back while it trains."""

import hashlib
import json
import os
import pathlib
import pwd
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile

import pytest
from conftest import cannot, started
from live import DEPLOY, HERE, operating, wait_until

ROOT = HERE.parents[1]
IMAGE = "podere.test/executor:1"
TABLE = "collider:3e5"
NOBODY = pwd.getpwnam("nobody").pw_uid  # drivers and executors are his


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
    (root / "etc/passwd").write_text(f"root:x:0:0::/root:/bin/sh\nsshd:x:100:65534::/run/sshd:/bin/false\n"
                                     f"nobody:x:{NOBODY}:{NOBODY}::/tmp:/bin/sh\n")
    (root / "etc/group").write_text(f"root:x:0:\nnogroup:x:{NOBODY}:\n")
    (root / "tmp").chmod(0o1777)
    with started("launch", "--kubelet") as cluster:
        image = root.with_suffix(".tar")
        with open(image, "wb") as out:
            subprocess.run([HERE / "image.sh", IMAGE, "/bin/sh", root], stdout=out, check=True)
        cluster.do("load", str(image))
        cluster.know_farms()
        cluster.know_users()
        with operating(cluster, "--namespace", "podere", kubeconfig=cluster.operator_user()):
            yield cluster


@pytest.fixture
def namespace(cluster, namespace):
    """In which ada may use the farm astro."""
    given = subprocess.check_output([DEPLOY / "farm-user.sh", f"{namespace}/astro", "ada"], text=True)
    cluster.kubectl("apply", "-f", "-", given=given)
    return namespace


@pytest.fixture
def folder():
    """Which a user who is not root can reach, as he can the shared one of a real cluster."""
    with tempfile.TemporaryDirectory(prefix="podere-launch-") as name:
        os.chown(name, NOBODY, NOBODY)
        yield pathlib.Path(name)


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
    user = {"runAsUser": NOBODY, "runAsGroup": NOBODY, "fsGroup": NOBODY}
    template = {"spec": {"securityContext": user, "nodeSelector": {"podere.test/node": "real"}, "volumes": volumes, "containers": [container]}}
    return {"apiVersion": "podere.dev/v1alpha1", "kind": "Farm",
            "metadata": {"name": name, "annotations": {"podere.dev/ssh-user": "nobody"}},
            "spec": {"executors": executors, "drainSeconds": 20, "template": template, **spec}}


def command(cluster, podere, folder, namespace, *arguments, user="ada"):
    """By a user who has the rights of deploy/farm-user.sh, and is not root here."""
    config = folder / f"{user}.kubeconfig"
    config.write_text(cluster.kubectl("config", "view", "--raw", "--flatten", user=user))
    os.chown(config, NOBODY, NOBODY)
    environment = {**os.environ, "KUBECONFIG": str(config), "TMPDIR": "/tmp", "HOME": str(folder)}
    return {"args": [podere, "train", "gbt", TABLE, "--on", "kubernetes", "--farm", f"{namespace}/astro", "--cores", "1",
                     *map(str, arguments)], "cwd": folder, "env": environment, "text": True, "user": NOBODY, "group": NOBODY,
            "extra_groups": []}


def sha256(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def ready(cluster, namespace):
    pods = cluster.get("pods", namespace, "podere.dev/farm=astro")
    return sum(any(c["type"] == "Ready" and c["status"] == "True" for c in pod["status"].get("conditions", []))
               for pod in pods if "deletionTimestamp" not in pod["metadata"])


def test_a_model_is_the_same_on_a_farm(cluster, namespace, podere, folder):
    cluster.kubectl("-n", namespace, "create", "-f", "-", given=farm("astro", 2, folder))
    options = ["--trees", 20, "-o", folder / "farm.json", "--executors", "2", "--json"]
    done = subprocess.run(**command(cluster, podere, folder, namespace, *options), capture_output=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["losses"] == []
    subprocess.run([podere, "train", "gbt", TABLE, "--trees", "20", "-o", folder / "here.json"], check=True,
                   capture_output=True)
    assert sha256(folder / "farm.json") == sha256(folder / "here.json")


def says(process, words, seconds=180):
    """What a command says on until it has said these words."""
    said = ""
    while not re.search(words, said):
        assert select.select([process.stderr], [], [], seconds)[0], f"says no more than: {said}"
        piece = os.read(process.stderr.fileno(), 4096).decode()
        assert piece, f"ended with {process.wait()} before it said {words}: {said}"
        said += piece
    return said


def trained(path):
    """A model but for how many trees it was to have, and how many it has."""
    model = json.loads(path.read_text())["model"]
    del model["options"]["n_trees"]
    return model, len(model["trees"])


def test_a_farm_that_shrinks_and_grows_gives_the_same_model(cluster, namespace, podere, folder):
    trees = 100_000  # far more than it comes to: it is interrupted
    cluster.kubectl("-n", namespace, "create", "-f", "-", given=farm("astro", 4, folder))
    wait_until(lambda: ready(cluster, namespace) == 4, "four executors")
    options = ["--trees", trees, "-o", folder / "farm.json", "--executors", "1:4"]
    with subprocess.Popen(**command(cluster, podere, folder, namespace, *options), stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE) as process:
        try:
            said = ""
            for wanted in (3, 1, 4):
                said += says(process, f"of {trees:,} trees")  # all of before are up
                cluster.kubectl("-n", namespace, "scale", "farm/astro", f"--replicas={wanted}")
                said += says(process, f"continuing with {wanted} executors?")
            said += says(process, f"of {trees:,} trees")
            process.send_signal(signal.SIGINT)
            _, rest = process.communicate(timeout=60)
            assert process.returncode == 130, said + rest
        finally:
            process.kill()
    assert "lost" not in said + rest, "each left in time"
    on_farm, n_trees = trained(folder / "farm.json")
    subprocess.run([podere, "train", "gbt", TABLE, "--trees", str(n_trees), "-o", folder / "here.json"], check=True,
                   capture_output=True)
    assert (on_farm, n_trees) == trained(folder / "here.json")


def test_an_executor_that_is_reclaimed_while_its_group_starts_is_not_waited_for(cluster, namespace, podere, folder):
    cluster.kubectl("-n", namespace, "create", "-f", "-", given=farm("astro", 3, folder))
    wait_until(lambda: ready(cluster, namespace) == 3, "three executors")
    begun = folder / "begun"
    mpirun = folder / "bin/mpirun"
    mpirun.parent.mkdir()
    mpirun.write_text(f'#!/bin/sh\nif mkdir {begun} 2>/dev/null; then exec sleep 1000; fi\nexec {shutil.which("mpirun")} "$@"\n')
    mpirun.chmod(0o755)
    options = command(cluster, podere, folder, namespace, "--trees", 20, "-o", folder / "farm.json", "--executors", "1:3")
    options["env"]["PATH"] = f"{mpirun.parent}:{os.environ['PATH']}"
    with subprocess.Popen(**options, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        try:
            wait_until(begun.exists, "a group starts, and never comes up")
            cluster.kubectl("-n", namespace, "scale", "farm/astro", "--replicas=2")
            _, said = process.communicate(timeout=180)
            assert process.returncode == 0, said
        finally:
            process.kill()
    assert "continuing with 2 executors instead of 3" in said and "lost" not in said, said
    subprocess.run([podere, "train", "gbt", TABLE, "--trees", "20", "-o", folder / "here.json"], check=True,
                   capture_output=True)
    assert sha256(folder / "farm.json") == sha256(folder / "here.json")


def test_a_python_session_runs_on_a_farm(cluster, namespace, podere, folder):
    cluster.kubectl("-n", namespace, "create", "-f", "-", given=farm("astro", 2, folder))
    script = """
import podere, sys
with podere.Session(executors="1:2", cores=1, farm=sys.argv[1], progress=False) as session:
    table = session.read(sys.argv[2])
    model = session.fit(podere.GBTClassifier(n_estimators=3), table)
    few = session.read("collider:500")
    print(session.status["executors"], session.evaluate(model, table)["auc"] > 0.6, session.predict(model, few).shape,
          few.to_pandas().shape)
"""
    started = command(cluster, podere, folder, namespace)
    started["args"] = [sys.executable, "-c", script, f"{namespace}/astro", TABLE]
    done = subprocess.run(**started, capture_output=True, timeout=120)
    assert done.stdout == "2 True (500,) (500, 29)\n", done.stderr


def test_a_session_says_that_it_waits_and_can_be_stopped(cluster, namespace, podere, folder):
    cluster.kubectl("-n", namespace, "create", "-f", "-", given=farm("astro", 0, folder))
    wait_until(lambda: cluster.get("farm/astro", namespace).get("status", {}).get("selector"), "the operator")
    options = command(cluster, podere, folder, namespace)
    options["env"]["XDG_RUNTIME_DIR"] = str(folder)

    processes = []

    def does(*arguments):
        processes.append(subprocess.Popen(**{**options, "args": [podere, *arguments]}, stdout=subprocess.DEVNULL,
                                          stderr=subprocess.PIPE))
        return processes[-1]

    try:
        start = does("session", "start", "s", "--on", "kubernetes", "--farm", f"{namespace}/astro", "--cores", "1")
        assert "farm astro has 0 of 1 executors ready; 0 of 0 executors running;" in says(start, "no farm manager selects")
        cluster.kubectl("-n", namespace, "scale", "farm/astro", "--replicas=1")
        assert start.wait(60) == 0, start.stderr.read()
        cluster.kubectl("-n", namespace, "scale", "farm/astro", "--replicas=0")
        wait_until(lambda: ready(cluster, namespace) == 0, "the executor is gone", 60)
        train = does("train", "gbt", TABLE, "--session", "s", "-o", "model.json")
        says(train, "farm astro has 0 of 1 executors ready")
        stop = does("session", "stop", "s")
        assert stop.wait(20) == 0, stop.stderr.read()
        assert train.wait(20) != 0 and not (folder / "model.json").exists()
    finally:
        does("session", "stop", "s").wait(20)
        for process in processes:
            process.kill()


def test_what_cannot_be_is_reported_in_one_line(cluster, namespace, podere, folder):
    def refused(*arguments, user="ada", of=None):
        options = ["--trees", 1, "-o", folder / "m.json", *arguments]
        done = subprocess.run(**command(cluster, podere, folder, of or namespace, *options, user=user), capture_output=True, timeout=60)
        lines = done.stderr.strip().splitlines()
        assert done.returncode == 2 and len(lines) == 1, done.stderr
        return lines[0]

    assert "there is no Farm" in refused()
    assert "you may not see it" in refused(user="student")
    volumes = farm("astro", 0, folder)
    volumes["spec"]["template"]["spec"]["volumes"] = []
    volumes["spec"]["template"]["spec"]["containers"][0]["volumeMounts"] = []
    cluster.kubectl("-n", namespace, "create", "-f", "-", given=volumes)
    wait_until(lambda: cluster.get("farm/astro", namespace).get("status", {}).get("selector"), "the operator")
    assert "podere-farm-astro" in refused()
    assert not list(pathlib.Path(folder).glob("m.json*"))


def test_how_a_command_scales_on_a_farm_is_measured_there(cluster, namespace, podere, folder):
    cluster.kubectl("-n", namespace, "create", "-f", "-", given=farm("astro", 2, folder))
    wait_until(lambda: ready(cluster, namespace) == 2, "two executors", 90)
    run = command(cluster, podere, folder, namespace)
    run["args"] = [podere, "scale", "-o", folder / "study.json", "--executors", "1,2", "--cores", "1", "--repeats", "1", "--json",
                   "train", "gbt", "collider:2e4", "--trees", "5", "--on", "kubernetes", "--farm", f"{namespace}/astro"]
    done = subprocess.run(**run, capture_output=True, timeout=150)
    assert done.returncode == 0, done.stderr
    study = json.loads(done.stdout)
    assert [(run["executors"], run["cores"], run["rows"]) for run in study["runs"]] == [(1, 1, 20000), (2, 1, 20000)]
    assert study["same_results"] and not any(point["modeled"] for point in study["points"])
    assert any(each["bytes"] > 0 for each in study["runs"][1]["collectives"]), "two pods had something to say to each other"
