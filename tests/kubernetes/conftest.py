"""A real Kubernetes cluster, started once by each worker of pytest: 100 fake nodes and, for root, a real one."""

import contextlib
import os
import re
import shutil
import subprocess

import live
import pytest
from live import HERE

VERSION = re.search(r"k8s.io/kubernetes (v\S+)\n", (HERE / "programs/go.mod").read_text())[1]


def cannot(reason):
    """In CI a part that cannot run has failed."""
    (pytest.fail if os.environ.get("CI") else pytest.skip)(reason)


@contextlib.contextmanager
def started(*arguments):
    with contextlib.ExitStack() as stack:
        try:
            cluster = stack.enter_context(live.started(*arguments))
        except live.Missing as missing:
            cannot(str(missing))
        yield cluster


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
