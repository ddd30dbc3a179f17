"""Executors that fail or die, and users who stop: an answer, and no process left."""

import functools
import json
import os
import pathlib
import re
import resource
import signal
import subprocess
import tempfile

import pytest

from conftest import ENDLESS, PODERE, TIMEOUT, interrupted, says, wait_until

LIMIT = 10
TABLE = ["collider:5000", "--depth", "6", "--cores", "1"]


def start_training(podere, *arguments, **options):
    return podere.start("train", "gbt", *TABLE, *ENDLESS, "-o", "model.json", *arguments, **options)


def part_of_way(podere, executors):
    """Executors that have surely grown some trees: each has worked for longer than a whole command with one tree."""
    found = podere.executors(executors)
    wait_until(lambda: all(cpu_seconds(pid) > cpu_seconds_of_one_tree() + 0.3 for pid in found), seconds=60)
    return found


def cpu_seconds(pid):
    user, system = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


@functools.cache
def cpu_seconds_of_one_tree():
    """Of a command with one executor, which a sanitizer makes many times what it is."""
    with tempfile.TemporaryDirectory() as folder:
        process = subprocess.Popen([PODERE, "train", "gbt", *TABLE, "--trees", "1", "-o", "model.json"], cwd=folder,
                                   stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    return usage.ru_utime + usage.ru_stime


# Executors that fail.


@pytest.mark.parametrize("executors, fault", [
    (1, "read:rank=0"), (2, "read:rank=1"), (3, "read:rank=0"), (2, "train:rank=1:tree=3"), (2, "train:rank=0:tree=3"),
    (1, "answer:rank=0"), (2, "answer:rank=0"),
])
@pytest.mark.parametrize("command", ["collider", "file"])
def test_a_rank_that_throws_ends_the_command_with_its_own_message(podere, events, executors, fault, command):
    source = events if command == "file" else "collider:5000"
    message = podere.refused("train", "gbt", source, "-o", "model.json", "--trees", 5, "--executors", executors,
                             "--json", code=1, environment={"PODERE_FAULT": fault})  # no progress between
    assert message == f"podere: PODERE_FAULT={fault}"


@pytest.mark.parametrize("executors", [1, 3])
def test_a_driver_that_is_killed_leaves_no_executors(podere, executors):
    process = start_training(podere, "--executors", str(executors))
    part_of_way(podere, executors)
    process.kill()
    process.communicate(timeout=LIMIT)
    assert podere.processes(wait=LIMIT) == []


def test_debug_shows_what_mpi_says(podere):
    process = start_training(podere, "--executors", "2", "--debug")
    os.kill(part_of_way(podere, 2)[1], signal.SIGKILL)  # of one lost before its start mpirun says something else
    says(process, "mpirun noticed")
    says(process, "continuing with 1 executor")
    interrupted(process)


def test_no_mpirun_is_reported_with_advice(podere):
    message = podere.refused("describe", "collider:100", "--executors", 2, environment={"PATH": "/nowhere"})
    assert "openmpi-bin" in message
    podere.done("describe", "collider:100", environment={"PATH": "/nowhere"})


def limited_descriptors(soft, hard):
    return lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.parametrize("executors", [1, 4])
def test_too_few_file_descriptors_are_refused_at_once(podere, executors):
    message = podere.refused("describe", "collider:100", "--executors", executors, preexec_fn=limited_descriptors(24, 24))
    assert "24 files" in message
    needed = int(re.search(r"raise the limit with ulimit -n (\d+)", message)[1])
    podere.done("describe", "collider:100", "--executors", executors, preexec_fn=limited_descriptors(24, needed))


# Users who stop.


@pytest.mark.parametrize("executors", [1, 2])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_first_interrupt_keeps_the_model_so_far(podere, executors, number):
    process = start_training(podere, "--executors", str(executors))
    part_of_way(podere, executors)
    process.send_signal(number)
    stdout, stderr = process.communicate(timeout=LIMIT)
    assert process.returncode == 130
    assert "model.json" in stderr and "interrupted" in stderr
    assert "(interrupted)" in stdout and "best" not in stdout
    assert os.listdir(podere.folder) == ["model.json"]
    assert podere.processes() == []
    podere.done("evaluate", "model.json", "collider:2000?seed=5")


def test_the_second_interrupt_ends_at_once_without_a_model(podere):
    process = start_training(podere)
    executor = part_of_way(podere, 1)[0]
    os.kill(executor, signal.SIGSTOP)  # a round that does not end: the first interrupt waits for it
    process.send_signal(signal.SIGINT)
    wait_until(lambda: not is_pending(process.pid, signal.SIGINT))
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=LIMIT)
    assert process.returncode == 130
    assert stderr == "podere: interrupted, nothing was written\n"
    assert os.listdir(podere.folder) == []
    assert podere.processes() == []


def test_an_interrupt_while_loading_leaves_nothing(podere):
    process = podere.start("train", "gbt", "collider:2e7", "-o", "model.json", "--executors", "2", "--cores", "1")
    executors = podere.executors(2)
    wait_until(lambda: all(cpu_seconds(pid) > 0.2 for pid in executors))
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=LIMIT)
    assert process.returncode == 130
    assert stderr == "podere: interrupted, nothing was written\n"
    assert os.listdir(podere.folder) == []
    assert podere.processes() == []


def test_an_interrupt_while_generating_leaves_nothing(podere):
    process = podere.start("generate", "higgs", "--events", "1e8", "-o", "events.csv")
    wait_until(lambda: os.listdir(podere.folder) != [])
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=LIMIT)
    assert process.returncode == 130
    assert os.listdir(podere.folder) == []


def status_of(pid):
    return dict(line.split(":", 1) for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines())


def sleeps_and_catches(pid, number):
    status = status_of(pid)
    return status["State"].strip().startswith("S") and int(status["SigCgt"], 16) >> (number - 1) & 1


def is_pending(pid, number):
    """Whether a signal that was sent has not reached the process yet."""
    return int(status_of(pid)["ShdPnd"], 16) >> (number - 1) & 1


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("reader", ["absent", "asleep"])
def test_an_interrupt_while_a_pipe_waits_for_its_reader(podere, number, reader):
    pipe = podere.folder / "pipe"
    os.mkfifo(pipe)
    process = podere.start("generate", "higgs", "--events", "1e4", "-o", "pipe")
    descriptor = os.open(pipe, os.O_RDONLY) if reader == "asleep" else None
    wait_until(lambda: sleeps_and_catches(process.pid, number))
    process.send_signal(number)
    _, stderr = process.communicate(timeout=LIMIT)
    assert (process.returncode, stderr) == (130, "podere: interrupted, nothing was written\n")
    if descriptor is not None:
        os.close(descriptor)


def test_a_terminals_interrupt_reaches_the_driver_alone(podere):
    # As a terminal does: to the whole process group of the command.
    process = start_training(podere, "--executors", "2", start_new_session=True)
    part_of_way(podere, 2)
    os.killpg(process.pid, signal.SIGINT)
    process.communicate(timeout=LIMIT)
    assert process.returncode == 130
    podere.done("model", "model.json")


# Executors driven by the test.


def test_a_group_can_be_driven_by_hand(podere, model):
    orders = ('nonsense\n{"id":1,"job":{"kind":"describe","table":{"location":"absent.csv"}}}\n'
              '{"id":2,"job":{"kind":"fly"}}\n'
              '{"id":3,"job":{"kind":"evaluate","table":{"location":"collider:1000"},"model":"' + str(model) + '"}}\n'
              '{"end":true}\n')
    result = podere.run("executor", input=orders)
    assert result.returncode == 0, result.stderr
    lines = [json.loads(line) for line in result.stdout.splitlines() if line]
    assert [(line["event"], line.get("id")) for line in lines if line["event"] != "progress"] in (
        [("ready", None), ("failed", None), ("failed", 1), ("failed", 2), ("result", 3)],
        [("failed", None), ("ready", None), ("failed", 1), ("failed", 2), ("result", 3)])
    assert lines[-1]["result"]["auc"] > 0.6


def test_the_example_of_the_documentation_works_as_it_stands(podere):
    text = (pathlib.Path(__file__).parents[2] / "docs/control-protocol.md").read_text()
    example = text.split("```sh\n")[1].split("```")[0]
    assert "build/release/bin/podere" in example
    result = subprocess.run(["sh", "-c", example.replace("build/release/bin/podere", PODERE)], capture_output=True, text=True,
                            env=podere.environment(), timeout=TIMEOUT)
    events = [json.loads(line) for line in result.stdout.splitlines() if line]
    assert result.returncode == 0, result.stderr
    assert [event["event"] for event in events] == ["ready", "progress", "progress", "result"]
    assert [event["phase"] for event in events[1:3]] == ["read", "describe"]
    assert events[0]["executors"] == 2 and events[3]["result"]["rows"] == 100000


# A group that is none: the driver's side of the protocol.


def wrongly_typed(value):
    """Copies of a value of JSON, each with one member of another type, or without it."""
    for name, member in value.items():
        for wrong in (None, True, "text", 1.5, [], {}):
            if type(wrong) is not type(member):
                yield {**value, name: wrong}
        yield {n: m for n, m in value.items() if n != name}


def test_a_result_with_wrong_members_is_reported_in_one_line(podere, model):
    order = json.dumps({"id": 1, "job": {"kind": "evaluate", "table": {"location": "collider:200"}, "model": str(model)}})
    events = podere.run("executor", input=order + '\n{"end":true}\n').stdout.splitlines()
    result = next(event["result"] for event in map(json.loads, filter(None, events)) if event["event"] == "result")
    (podere.folder / "bin").mkdir()
    mpirun = podere.folder / "bin/mpirun"
    mpirun.write_text("""#!/bin/sh
echo '{"event":"ready","protocol":2,"executors":2}'; read -r order; read -r answer < answer.json; echo "$answer"; read -r end\n""")
    mpirun.chmod(0o755)
    n_reported = 0
    for wrong in wrongly_typed(result):
        podere.write("answer.json", json.dumps({"event": "result", "id": 1, "result": wrong}) + "\n")
        answer = podere.run("evaluate", model, "collider:200", "--executors", 2, "--cores", 1,
                            environment={"PATH": str(podere.folder / "bin")})
        if answer.returncode == 1:
            n_reported += 1
            assert answer.stderr.startswith("podere: the executors answered something else than the protocol has: ")
            assert answer.stderr.count("\n") == 1
        else:
            assert (answer.returncode, answer.stderr) == (0, "")
    assert n_reported > 5


def test_a_group_whose_driver_goes_without_a_word_ends(podere):
    result = podere.run("executor", input='{"id":1,"job":{"kind":"describe","table":{"location":"collider:1e8"}}}\n',
                        timeout=LIMIT)
    assert result.returncode == 1
