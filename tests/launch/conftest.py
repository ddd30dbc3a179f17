"""Executors on hosts and in Slurm: both real, started here and ended here."""

import hashlib
import importlib.util
import os
import pathlib
import shutil
import signal

import pytest

from slurm_cluster import slurm_cluster
from ssh_hosts import SSHD, ssh_hosts

spec = importlib.util.spec_from_file_location("as_a_user", pathlib.Path(__file__).parents[1] / "cli/conftest.py")
as_a_user = importlib.util.module_from_spec(spec)
spec.loader.exec_module(as_a_user)
Podere, wait_until = as_a_user.Podere, as_a_user.wait_until
interrupted, says = as_a_user.interrupted, as_a_user.says

TRAIN = ["train", "gbt", "collider:20000", "--depth", "3", "--cores", "1", "-o", "model.json"]
ENDLESS = [*as_a_user.ENDLESS, "--checkpoint-every", "0.1"]
SHORT = ["--trees", "5"]


def cannot(reason):
    """In CI a part that cannot run has failed."""
    (pytest.fail if os.environ.get("CI") else pytest.skip)(reason)


def needed(*programs):
    if os.geteuid() != 0:
        cannot("needs root")
    for program in programs:
        if shutil.which(program) is None:
            cannot(f"needs {program}: tools/setup.sh test")


@pytest.fixture(scope="session")
def started_hosts(tmp_path_factory):
    needed("ip", "unshare", "ssh", "ssh-keygen", SSHD)
    try:
        with ssh_hosts(tmp_path_factory.mktemp("hosts")) as hosts:
            yield hosts
    except RuntimeError as error:
        cannot(str(error))


@pytest.fixture
def hosts(started_hosts):
    """Both hosts up, and nothing left on them afterwards."""
    started_hosts.bring_up()
    yield started_hosts
    started_hosts.bring_up()
    started_hosts.wait_until_idle()
    assert started_hosts.files_left() == []


@pytest.fixture(scope="session")
def slurm(tmp_path_factory):
    needed("munged", "slurmctld", "slurmd", "srun", "sbatch")
    try:
        with slurm_cluster(tmp_path_factory.mktemp("slurm")) as cluster:
            yield cluster
    except RuntimeError as error:
        cannot(str(error))


@pytest.fixture
def podere(tmp_path):
    program = Podere(tmp_path)
    yield program
    assert program.processes() == [], "processes outlived the test"


@pytest.fixture(scope="session")
def this_machine(tmp_path_factory):
    """The program without hosts and Slurm."""
    return Podere(tmp_path_factory.mktemp("here"))


@pytest.fixture(scope="session")
def here(this_machine):
    """SHA-256 of the models that TRAIN makes on this machine, by its other arguments."""
    known = {}

    def of(*arguments):
        if arguments not in known:
            this_machine.done(*TRAIN, *arguments)
            known[arguments] = sha256(this_machine)
        return known[arguments]

    return of


def check_trained(podere, this_machine):
    """What was trained until it was interrupted is what is trained here."""
    model, n_trees = as_a_user.trained(podere.folder / "model.json")
    this_machine.done(*TRAIN, "--trees", n_trees)
    assert (model, n_trees) == as_a_user.trained(this_machine.folder / "model.json")


def sha256(podere, name="model.json"):
    return hashlib.sha256((podere.folder / name).read_bytes()).hexdigest()


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def kill(pid):
    os.kill(pid, signal.SIGKILL)


def wait_until_training(process, podere):
    """Until there is a checkpoint in the folder that a run makes for itself."""
    def is_training():
        assert process.poll() is None, process.communicate()
        return list(podere.folder.glob("podere-*/checkpoint.json"))

    wait_until(is_training, seconds=60)
