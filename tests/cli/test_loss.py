"""Executors that are lost while they work: the command continues with the others and ends with the same bytes."""

import fcntl
import hashlib
import json
import os
import pathlib
import random
import re
import signal
import time

import pytest

from conftest import ENDLESS, TIMEOUT, Podere, interrupted, says, trained, wait_until

TRAIN = ["train", "gbt", "collider:20000", "--depth", "7", "--cores", "1", "-o", "model.json", "--checkpoint-every", "0.1"]


def sha256(podere, name="model.json"):
    return hashlib.sha256((podere.folder / name).read_bytes()).hexdigest()


@pytest.fixture(scope="module")
def another(tmp_path_factory):
    """The program in another folder."""
    return Podere(tmp_path_factory.mktemp("undisturbed"))


@pytest.fixture(scope="module")
def undisturbed(another):
    """SHA-256 of the model that TRAIN makes, by --trees."""
    known = {}

    def of(n_trees):
        if n_trees not in known:
            another.done(*TRAIN, "--trees", n_trees)
            known[n_trees] = sha256(another)
        return known[n_trees]

    return of


def check_trained(podere, another):
    """What was trained and disturbed is what is trained undisturbed."""
    model, n_trees = trained(podere.folder / "model.json")
    another.done(*TRAIN, "--trees", n_trees)
    assert (model, n_trees) == trained(another.folder / "model.json")


def trees_of_checkpoint(podere):
    try:
        return len(json.loads((podere.folder / "c.json").read_text())["model"]["trees"])
    except FileNotFoundError:
        return 0


@pytest.mark.parametrize("executors, flags", [(1, []), (2, ["--low-memory"]), (4, [])])
def test_a_killed_executor_costs_time_and_nothing_else(podere, another, executors, flags):
    process = podere.start(*TRAIN, *ENDLESS, "--executors", str(executors), "--checkpoint", "c.json", "--json", *flags)
    wait_until(lambda: trees_of_checkpoint(podere) > 0)
    os.kill(random.choice(podere.executors(executors)), signal.SIGKILL)
    said = says(process, "continuing with .*\n")
    left = max(1, executors - 1)
    assert re.fullmatch(rf"podere: lost executor \d \(killed by signal 9\) at tree \d+; continuing with {left} executors? "
                        r"from tree \d+; .* s lost\n", said), said
    stdout, stderr = interrupted(process)
    assert "lost" not in stderr
    facts = json.loads(stdout)
    assert facts["executors"] == left
    assert [loss["executors_left"] for loss in facts["losses"]] == [left]
    check_trained(podere, another)
    assert sorted(os.listdir(podere.folder)) == ["c.json", "model.json"]
    assert podere.processes() == []


def test_executors_lost_again_and_again(podere, another):
    process = podere.start(*TRAIN, *ENDLESS, "--executors", "3:4", "--checkpoint", "c.json", "--json")
    lost = []
    for n_executors in (4, 3, 3):
        reached = trees_of_checkpoint(podere)
        wait_until(lambda: trees_of_checkpoint(podere) > reached)
        lost = podere.executors(n_executors, without=lost)
        os.kill(random.choice(lost), signal.SIGKILL)
        says(process, "continuing with 3 executors")
    stdout, _ = interrupted(process)
    assert len(json.loads(stdout)["losses"]) == 3 and json.loads(stdout)["executors"] == 3
    check_trained(podere, another)
    assert podere.processes() == []


def test_an_executor_lost_while_reading(podere, undisturbed):
    process = podere.start(*TRAIN, "--trees", "5", "--executors", "2", "--checkpoint", "c.json")
    os.kill(podere.executors(2)[0], signal.SIGKILL)
    _, stderr = process.communicate(timeout=60)
    assert process.returncode == 0, stderr
    assert "continuing with 1 executor from the beginning" in stderr or "at the start; starting 1 executor" in stderr
    assert sha256(podere) == undisturbed(5)
    assert os.listdir(podere.folder) == ["model.json"]


def test_two_of_four_lost_one_after_the_other_while_reading(podere, undisturbed):
    process = podere.start(*TRAIN, "--trees", "5", "--executors", "4")
    first = podere.executors(4)
    os.kill(first[1], signal.SIGKILL)
    os.kill(podere.executors(3, without=first)[1], signal.SIGKILL)
    _, stderr = process.communicate(timeout=TIMEOUT)
    assert process.returncode == 0, stderr
    assert stderr.count("killed by signal 9") + stderr.count("one ended before it was ready") == 2, stderr
    assert sha256(podere) == undisturbed(5)


MEMORY = pathlib.Path("/sys/fs/cgroup/memory")  # v1, where a test may make a group of its own without asking systemd


@pytest.fixture
def memory_group():
    group = MEMORY / f"podere-test-{os.getpid()}"
    try:
        group.mkdir()
    except OSError as error:
        (pytest.fail if os.environ.get("CI") else pytest.skip)(f"no groups of control for memory here: {error}")
    yield group
    for _ in range(100):
        try:
            return group.rmdir()
        except OSError:
            time.sleep(0.05)  # what was in it ends


@pytest.mark.skipif("ASAN_OPTIONS" in os.environ, reason="an executor has other needs under a sanitizer")
def test_a_memory_limit_is_met_with_fewer_executors(podere, undisturbed, memory_group):
    # One executor needs 15 MB here, two with their mpirun 40 MB.
    (memory_group / "memory.limit_in_bytes").write_text(str(28 << 20))

    def enter():
        (memory_group / "cgroup.procs").write_text(str(os.getpid()))

    result = podere.run(*TRAIN, "--trees", "5", "--executors", "4", "--json", preexec_fn=enter)
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout)["executors"] == 1 and "lost " in result.stderr
    assert sha256(podere) == undisturbed(5)


def test_predictions_begin_anew(podere, model):
    podere.done("predict", model, "collider:1e6", "-o", "expected.csv")
    process = podere.start("predict", str(model), "collider:1e6", "-o", "p.csv", "--executors", "2", "--cores", "1")
    victim = podere.executors(2)[1]
    time.sleep(0.2)
    os.kill(victim, signal.SIGKILL)
    _, stderr = process.communicate(timeout=60)
    assert process.returncode == 0 and "lost executor" in stderr
    assert sha256(podere, "p.csv") == sha256(podere, "expected.csv")


def test_the_same_command_resumes_after_its_driver_was_killed(podere, another):
    command = [*TRAIN, *ENDLESS, "--executors", "2", "--checkpoint", "c.json"]
    process = podere.start(*command)
    wait_until(lambda: trees_of_checkpoint(podere) > 0)
    process.kill()
    process.communicate(timeout=10)
    assert podere.processes(wait=10) == []
    reached = trees_of_checkpoint(podere)
    again = podere.start(*command)
    says(again, f"resuming at tree {reached} from checkpoint c.json")
    wait_until(lambda: trees_of_checkpoint(podere) > reached)
    interrupted(again)
    check_trained(podere, another)


def test_the_kernel_ends_executors_before_their_driver_where_memory_runs_out(podere):
    def score(pid):
        return int(pathlib.Path(f"/proc/{pid}/oom_score_adj").read_text())

    for n in (1, 2):
        process = podere.start(*TRAIN, "--trees", "10000", "--executors", n)
        for executor in podere.executors(n):
            wait_until(lambda: score(executor) == min(score(process.pid) + 500, 1000))
        process.kill()
        process.communicate(timeout=10)
        assert podere.processes(wait=10) == []


def test_nothing_is_left_of_a_driver_that_was_killed(podere, tmp_path):
    folder = tmp_path / "temporary"
    folder.mkdir()
    environment = {"TMPDIR": str(folder)}
    process = podere.start(*TRAIN, *ENDLESS, "--executors", "2", environment=environment)
    podere.executors(2)
    process.kill()
    process.communicate(timeout=10)
    assert podere.processes(wait=10) == []
    podere.done("describe", "collider:100", environment=environment)
    assert os.listdir(folder) == []


def test_what_killed_commands_left_goes_with_the_next_one(podere, undisturbed):
    shared = pathlib.Path("/dev/shm")
    before = set(shared.iterdir())
    process = podere.start(*TRAIN, *ENDLESS, "--executors", "2", "--checkpoint", "c.json")
    wait_until(lambda: trees_of_checkpoint(podere) > 0)
    # All at once: no process cleans up after the others.
    for pid in podere.processes(wait=0):
        os.kill(pid, signal.SIGKILL)
    process.communicate(timeout=10)
    left = [name for name in os.listdir(podere.folder) if ".part-" in name]
    assert any(name.startswith("model.json.part-") for name in left)
    (podere.folder / "c.json").unlink()
    podere.done(*TRAIN, "--trees", "5", "--executors", "2", "--checkpoint", "c.json")
    assert os.listdir(podere.folder) == ["model.json"]
    assert sha256(podere) == undisturbed(5)
    mine = [path for path in set(shared.iterdir()) - before if path.name.startswith("podere-")]
    assert not [path for path in mine if is_left(path)]


def is_left(path):
    """Whether no process has it locked; others may work here at the same time."""
    try:
        descriptor = os.open(path, os.O_RDONLY)
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    os.close(descriptor)
    return True


@pytest.mark.parametrize("make, what", [(os.mkfifo, "a pipe"), (os.mkdir, "a directory")])
def test_a_checkpoint_is_a_file(podere, make, what):
    make(podere.folder / "c.json")
    message = podere.refused(*TRAIN, "--trees", 3, "--checkpoint", "c.json", timeout=30)
    assert f"checkpoint c.json: is {what}" in message
    assert "checkpoint /dev/null: is a pipe or a device" in podere.refused(*TRAIN, "--checkpoint", "/dev/null", timeout=30)


def test_an_empty_checkpoint_is_none_and_that_is_reported(podere, undisturbed):
    podere.write("c.json", "")
    result = podere.done(*TRAIN, "--trees", 5, "--checkpoint", "c.json")
    assert "checkpoint c.json is empty: training begins at the beginning" in result.stderr
    assert sha256(podere) == undisturbed(5)


@pytest.mark.parametrize("damage", ["cut", "other run", "text"])
def test_a_checkpoint_that_does_not_fit_is_refused(podere, damage):
    podere.done(*TRAIN, "--trees", 5)
    text = (podere.folder / "model.json").read_text()
    podere.write("c.json", {"cut": text[: len(text) // 2], "other run": text, "text": "hello"}[damage])
    message = podere.refused(*TRAIN, "--trees", 7, "--checkpoint", "c.json")
    assert "checkpoint" in message and message.rstrip().endswith("another file for checkpoints")
    assert "if it is the data" not in message


def test_a_checkpoint_needs_a_place(podere):
    assert "nowhere" in podere.refused(*TRAIN, "--checkpoint", "nowhere/c.json")
    assert "same file" in podere.refused(*TRAIN, "--checkpoint", "model.json")


@pytest.mark.parametrize("executors", ["0", "3:2", "0:2", "2:", ":2", "2:3:4", "many", "1:5000"])
def test_a_range_of_executors_that_is_none(podere, executors):
    assert executors in podere.refused("describe", "collider:100", "--executors", executors)


def test_a_notice_makes_a_checkpoint_at_once(podere, another):
    process = podere.start(*TRAIN[:-1], "3600", *ENDLESS, "--executors", "2", "--checkpoint", "c.json")
    podere.executors(2)
    # Until it is up nothing is trained that could be kept.
    while not (podere.folder / "c.json").exists():
        process.send_signal(signal.SIGUSR1)
        time.sleep(0.1)
        assert process.poll() is None
    reached = trees_of_checkpoint(podere)
    os.kill(podere.executors(2)[1], signal.SIGKILL)
    assert reached > 0 and "continuing with 1 executor from tree" in says(process, "continuing with .*\n")
    interrupted(process)
    check_trained(podere, another)


def test_a_file_says_how_many_executors_are_wanted(podere, another):
    podere.write("wanted", "1\n")
    process = podere.start(*TRAIN, *ENDLESS, "--executors-file", "wanted", "--checkpoint", "c.json", "--json")
    wait_until(lambda: trees_of_checkpoint(podere) > 0)
    podere.write("wanted", "2:3\n")
    podere.executors(3)
    podere.write("wanted", "nonsense\n")
    says(process, "warning: wanted: 'nonsense' is not a whole number")
    podere.write("wanted", "2")
    podere.executors(2)
    reached = trees_of_checkpoint(podere)
    wait_until(lambda: trees_of_checkpoint(podere) > reached)
    stdout, _ = interrupted(process)
    assert json.loads(stdout)["executors"] == 2 and json.loads(stdout)["losses"] == []
    check_trained(podere, another)
