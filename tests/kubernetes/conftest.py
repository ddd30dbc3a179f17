"""A real Kubernetes cluster, started once for all tests: 100 fake nodes and, for root, a real one."""

import contextlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import time

import pytest

HERE = pathlib.Path(__file__).parent
VERSION = re.search(r"k8s.io/kubernetes (v\S+)\n", (HERE / "programs/go.mod").read_text())[1]


def cannot(reason):
    """In CI a part that cannot run has failed."""
    (pytest.fail if os.environ.get("CI") else pytest.skip)(reason)


def wait_until(condition, what, seconds=60):
    end = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < end, f"{what}: not within {seconds} s"
        time.sleep(0.1)
    return found


class Cluster:
    def __init__(self, name):
        self.name = name

    def call(self, command, *arguments, **options):
        return subprocess.run([HERE / "cluster.sh", command, "--name", self.name, *arguments], text=True,
                              capture_output=True, **options)

    def do(self, command, *arguments):
        done = self.call(command, *arguments, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def start(self, *arguments):
        """Ends with this process, however that ends."""
        started = self.call("start", "--owner", str(os.getpid()), *arguments)
        if started.returncode == 3:
            cannot(started.stderr)
        assert started.returncode == 0, started.stderr
        self.folder = pathlib.Path(started.stdout.strip()).parent
        settings = (self.folder / "settings").read_text()
        self.programs = pathlib.Path(re.search('programs="(.*)"', settings)[1])

    def kubectl_command(self, *arguments, user=None):
        return [self.programs / "kubectl", "--kubeconfig", self.do("kubeconfig", *([user] if user else [])), *arguments]

    def kubectl(self, *arguments, user=None, given=None, check=True):
        done = subprocess.run(self.kubectl_command(*arguments, user=user), text=True, capture_output=True,
                              input=given if given is None or isinstance(given, str) else json.dumps(given))
        assert done.returncode == 0 or not check, done.stderr
        return done.stdout if check else done

    def get(self, *arguments):
        found = json.loads(self.kubectl("get", "-o", "json", *arguments))
        return found["items"] if found["kind"] == "List" else found


@contextlib.contextmanager
def started(name, *arguments):
    cluster = Cluster(f"{name}-{os.getpid()}")
    try:
        cluster.start(*arguments)
        yield cluster
    finally:
        cluster.do("stop")


@pytest.fixture(scope="session")
def cluster():
    with started("test", "--nodes", "100", *(["--kubelet"] if os.geteuid() == 0 else [])) as cluster:
        yield cluster


@pytest.fixture(scope="session")
def real_node(cluster, tmp_path_factory):
    """The cluster, whose real node has the image podere.test/busybox:1."""
    if os.geteuid() != 0:
        cannot("a real kubelet needs root")
    busybox = shutil.which("busybox") or cannot("needs busybox: tools/setup.sh kubernetes")
    programs = tmp_path_factory.mktemp("busybox") / "bin"
    programs.mkdir()
    shutil.copy(busybox, programs / "busybox")
    for applet in subprocess.run([busybox, "--list"], capture_output=True, text=True, check=True).stdout.split():
        if applet != "busybox":
            (programs / applet).symlink_to("busybox")
    image = programs.with_suffix(".tar")
    with open(image, "wb") as out:
        subprocess.run([HERE / "image.sh", "podere.test/busybox:1", "/bin/sh", programs.parent], stdout=out, check=True)
    cluster.do("load", str(image))
    return cluster


@pytest.fixture
def namespace(cluster, request):
    """One of its own for each test; removed with all that is in it, without waiting."""
    name = re.sub("[^a-z0-9]+", "-", request.node.name)[:60].strip("-")
    cluster.kubectl("create", "namespace", name)
    yield name
    cluster.kubectl("delete", "namespace", name, "--wait=false", "--ignore-not-found")
