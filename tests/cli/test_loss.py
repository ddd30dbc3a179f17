"""Executors that are lost while they work: the command goes on with the others and ends with the same bytes."""

import fcntl
import hashlib
import json
import os
import pathlib
import random
import signal
import time

import pytest

from conftest import TIMEOUT, wait_until

TRAIN = ["train", "gbt", "collider:20000", "--depth", "7", "--cores", "1", "-o", "model.json", "--checkpoint-every", "0.1"]

# So many that a run outlasts what is done to it by far, though not under a sanitizer, where all takes longer.
MANY_TREES = 400 if "ASAN_OPTIONS" in os.environ else 1500


def sha256(podere, name="model.json"):
    return hashlib.sha256((podere.folder / name).read_bytes()).hexdigest()


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """SHA-256 of the model that TRAIN makes, by --trees."""
    from conftest import Podere

    podere = Podere(tmp_path_factory.mktemp("undisturbed"))
    known = {}

    def of(n_trees, *arguments):
        if (n_trees, arguments) not in known:
            podere.done(*TRAIN, "--trees", n_trees, *arguments)
            known[n_trees, arguments] = sha256(podere)
        return known[n_trees, arguments]

    return of


def trees_of_checkpoint(podere):
    try:
        return len(json.loads((podere.folder / "c.json").read_text())["model"]["trees"])
    except FileNotFoundError:
        return 0


@pytest.mark.parametrize("executors, flags", [(1, []), (2, ["--low-memory"]), (4, [])])
def test_a_killed_executor_costs_time_and_nothing_else(podere, undisturbed, executors, flags):
    process = podere.start(*TRAIN, "--trees", "300", "--executors", str(executors), "--checkpoint", "c.json", "--json", *flags)
    wait_until(lambda: trees_of_checkpoint(podere) > 0, seconds=60)
    os.kill(random.choice(podere.executors(executors)), signal.SIGKILL)
    stdout, stderr = process.communicate(timeout=120)
    assert process.returncode == 0, stderr
    left = max(1, executors - 1)
    assert stderr.startswith("podere: lost executor ") and stderr.count("\n") == 1
    assert f"(killed by signal 9) at tree " in stderr and f"; going on with {left} executor" in stderr
    assert "from the beginning" not in stderr
    facts = json.loads(stdout)
    assert facts["executors"] == left
    assert [loss["executors_left"] for loss in facts["losses"]] == [left]
    assert sha256(podere) == undisturbed(300)
    assert os.listdir(podere.folder) == ["model.json"]
    assert podere.processes() == []


def test_executors_lost_again_and_again(podere, undisturbed):
    process = podere.start(*TRAIN, "--trees", str(MANY_TREES), "--executors", "3:4", "--checkpoint", "c.json", "--json")
    reached, lost = 0, []
    for n_executors in (4, 3, 3):
        wait_until(lambda: trees_of_checkpoint(podere) > reached or process.poll() is not None, seconds=60)
        assert process.poll() is None, "the run was over too early"
        time.sleep(0.3)  # for the driver to hear of those trees
        reached = trees_of_checkpoint(podere)
        lost = podere.executors(n_executors, without=lost)
        os.kill(random.choice(lost), signal.SIGKILL)
    stdout, stderr = process.communicate(timeout=180)
    assert process.returncode == 0, stderr
    assert len(json.loads(stdout)["losses"]) == 3 and json.loads(stdout)["executors"] == 3
    assert sha256(podere) == undisturbed(MANY_TREES)
    assert podere.processes() == []


def test_an_executor_lost_while_reading(podere, undisturbed):
    process = podere.start(*TRAIN, "--trees", "5", "--executors", "2")
    os.kill(podere.executors(2)[0], signal.SIGKILL)
    _, stderr = process.communicate(timeout=60)
    assert process.returncode == 0, stderr
    assert "going on with 1 executor from the beginning" in stderr or "at the start; starting 1 executor" in stderr
    assert sha256(podere) == undisturbed(5)


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


def test_the_same_command_goes_on_after_its_driver_was_killed(podere, undisturbed):
    command = [*TRAIN, "--trees", "250", "--executors", "2", "--checkpoint", "c.json"]
    process = podere.start(*command)
    wait_until(lambda: trees_of_checkpoint(podere) > 0, seconds=60)
    process.kill()
    process.communicate(timeout=10)
    assert podere.processes(wait=10) == []
    reached = trees_of_checkpoint(podere)
    again = podere.done(*command, "--json")
    assert f"resuming at tree {reached} from checkpoint c.json" in again.stderr
    assert 0 < reached < 250 and json.loads(again.stdout)["trees"] == 250
    assert sha256(podere) == undisturbed(250)
    assert not (podere.folder / "c.json").exists()


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
    process = podere.start(*TRAIN, "--trees", "10000", "--executors", "2", environment=environment)
    podere.executors(2)
    process.kill()
    process.communicate(timeout=10)
    assert podere.processes(wait=10) == []
    podere.done("describe", "collider:100", environment=environment)
    assert os.listdir(folder) == []


def test_what_killed_commands_left_goes_with_the_next_one(podere, undisturbed):
    shared = pathlib.Path("/dev/shm")
    before = set(shared.iterdir())
    process = podere.start(*TRAIN, "--trees", "10000", "--executors", "2", "--checkpoint", "c.json")
    wait_until(lambda: trees_of_checkpoint(podere) > 0)
    # All at once: nobody tidies up behind the others.
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
    """Whether nobody has it locked; others may work here at the same time."""
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


def test_an_empty_checkpoint_is_none_and_that_is_said(podere, undisturbed):
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


def test_a_notice_makes_a_checkpoint_at_once(podere, undisturbed):
    process = podere.start(*TRAIN[:-1], "3600", "--trees", "300", "--executors", "2", "--checkpoint", "c.json")
    podere.executors(2)
    # Until it is up nothing is trained that could be kept.
    while not (podere.folder / "c.json").exists():
        process.send_signal(signal.SIGUSR1)
        time.sleep(0.1)
        assert process.poll() is None, "the run was over too early"
    reached = trees_of_checkpoint(podere)
    os.kill(podere.executors(2)[1], signal.SIGKILL)
    _, stderr = process.communicate(timeout=180)
    assert process.returncode == 0 and reached > 0, stderr
    assert "going on with 1 executor from tree" in stderr
    assert sha256(podere) == undisturbed(300)


def test_a_file_says_how_many_executors_are_wanted(podere, undisturbed):
    podere.write("wanted", "1\n")
    process = podere.start(*TRAIN, "--trees", str(MANY_TREES), "--executors-file", "wanted", "--checkpoint", "c.json", "--json")
    wait_until(lambda: trees_of_checkpoint(podere) > 0, seconds=60)
    podere.write("wanted", "2:3\n")
    podere.executors(3)
    podere.write("wanted", "nonsense\n")
    assert any("warning: wanted: 'nonsense' is not a whole number" in line for line in process.stderr)
    podere.write("wanted", "2")
    podere.executors(2)
    stdout, stderr = process.communicate(timeout=180)
    assert process.returncode == 0, stderr
    assert json.loads(stdout)["executors"] == 2 and json.loads(stdout)["losses"] == []
    assert sha256(podere) == undisturbed(MANY_TREES)
