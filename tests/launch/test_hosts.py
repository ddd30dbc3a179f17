"""Executors on two hosts, over ssh."""

import json
import shutil
import time

import pytest

from conftest import (ENDLESS, SHORT, TRAIN, as_a_user, check_trained, interrupted, kill, names, says, sha256,
                      wait_until_training)

BOUND = 30  # seconds within which a command reports that executors do not start


@pytest.fixture
def podere(podere, hosts):
    podere.before = hosts.inside
    podere.write("hosts.txt", f"# two hosts\n{hosts.north.name} slots=2\n{hosts.south.name} slots=2\n")
    podere.on_hosts = ["--hosts", "hosts.txt", "--ssh", hosts.ssh]
    return podere


def test_the_model_is_the_same_as_on_one_machine(podere, hosts, here):
    facts = json.loads(podere.done(*TRAIN, *SHORT, *podere.on_hosts, "--executors", 4, "--json").stdout)
    assert facts["executors"] == 4 and facts["losses"] == []
    assert sha256(podere) == here(*SHORT)
    assert names(podere.folder) == ["hosts.txt", "model.json"]


def test_one_executor_takes_its_hosts_cores(podere, hosts):
    facts = json.loads(podere.done("describe", "collider:1000", *podere.on_hosts, "--json").stdout)
    assert facts["executors"] == 1 and facts["cores"] == facts["usable_cores"]


def test_predictions_of_executors_on_hosts(podere, hosts):
    podere.done(*TRAIN, *SHORT)
    podere.done("predict", "model.json", "collider:3000", "-o", "here.csv")
    podere.done("predict", "model.json", "collider:3000", "-o", "there.csv", *podere.on_hosts, "--executors", 2)
    assert sha256(podere, "here.csv") == sha256(podere, "there.csv")


def test_a_session_on_hosts(podere, hosts, here, tmp_path_factory):
    environment = {"XDG_RUNTIME_DIR": str(tmp_path_factory.mktemp("run"))}
    in_session = lambda *arguments: podere.done("session", *arguments, environment=environment).stdout
    status = json.loads(in_session("start", "s", *podere.on_hosts, "--executors", 4, "--json"))
    assert status["executors"] == 4 and status["cores"] >= 1
    in_session("load", "s", "collider:20000", "--as", "t")
    kill(next(iter(hosts.south.processes("executor"))))
    podere.before = []
    train = ["table:t" if argument == "collider:20000" else argument for argument in TRAIN if argument not in ("--cores", "1")]
    facts = json.loads(podere.done(*train, *SHORT, "--session", "s", "--json", environment=environment).stdout)
    assert facts["executors"] == 3
    assert sha256(podere) == here(*SHORT)
    in_session("stop", "s")
    assert names(podere.folder) == ["hosts.txt", "model.json"]


def test_a_study_on_hosts_measures_the_wire_between_them(podere):
    podere.done("scale", "-o", "s.json", "--executors", "1,2,4", "--cores", 1, "--repeats", 1, "--model", "8", "train", "gbt",
                "collider:20000", "--trees", 3, *podere.on_hosts)
    found = json.loads((podere.folder / "s.json").read_text())
    assert [run["executors"] for run in found["runs"]] == [1, 2, 4] and found["same_results"] is True
    assert found["network"]["latency_us"] > 0 and found["points"][-1]["modeled"]
    assert names(podere.folder) == ["hosts.txt", "s.json"]


def start_training(podere, hosts):
    process = podere.start(*TRAIN, *ENDLESS, *podere.on_hosts, "--executors", "4", "--json")
    wait_until_training(process, podere)
    assert [len(host.processes("executor")) for host in (hosts.north, hosts.south)] == [2, 2]
    return process


def test_a_killed_executor_costs_time_and_nothing_else(podere, hosts, this_machine):
    process = start_training(podere, hosts)
    kill(next(iter(hosts.south.processes("executor"))))
    said = says(process, "continuing with .*\n")
    assert "(killed by signal 9) at tree" in said and "; continuing with 3 executors from tree" in said
    assert said.count("\n") == 1, said
    assert json.loads(interrupted(process)[0])["executors"] == 3
    check_trained(podere, this_machine)
    assert names(podere.folder) == ["hosts.txt", "model.json"]


def test_a_lost_host_is_not_used_again(podere, hosts, this_machine):
    process = start_training(podere, hosts)
    hosts.south.stop()
    said = says(process, "continuing with .*\n")
    assert f"lost host {hosts.south.name} (it does not answer) at tree" in said
    assert "; continuing with 2 executors from tree" in said and said.count("\n") == 1, said
    assert json.loads(interrupted(process)[0])["executors"] == 2
    check_trained(podere, this_machine)


def test_too_few_slots_left_is_the_end(podere, hosts):
    process = podere.start(*TRAIN, *ENDLESS, *podere.on_hosts, "--executors", "3:4")
    wait_until_training(process, podere)
    hosts.south.stop()
    _, stderr = process.communicate(timeout=60)
    assert process.returncode == 1
    assert "the hosts that still answer have 2 slots, 3 executors are too many" in stderr.splitlines()[-1]


def test_nothing_is_left_on_hosts_when_the_driver_is_killed(podere, hosts):
    process = start_training(podere, hosts)
    process.kill()
    process.communicate(timeout=10)
    hosts.wait_until_idle()


def start_failure(podere, hosts, *arguments, code=1, ssh=None):
    """The message when executors do not start: one line, within a bounded time, and nothing stays."""
    begin = time.monotonic()
    said = podere.refused("describe", "collider:1000", "--hosts", "hosts.txt", "--ssh", ssh or hosts.ssh, "--executors",
                          "4", *arguments, code=code)
    assert time.monotonic() - begin < BOUND
    hosts.wait_until_idle()
    return said


def test_a_host_that_is_down(podere, hosts):
    podere.write("hosts.txt", f"{hosts.north.name} slots=2\ndown slots=2\n")
    said = start_failure(podere, hosts, ssh=f"{hosts.ssh} -o ConnectTimeout=2")
    assert f"ssh: connect to host {hosts.address_of_none} port 22: " in said


def test_a_host_whose_name_is_unknown(podere, hosts):
    podere.write("hosts.txt", f"{hosts.north.name} slots=2\nno-such-host.invalid slots=2\n")
    assert "Could not resolve hostname no-such-host.invalid" in start_failure(podere, hosts)


@pytest.mark.parametrize("line, words", [("IdentityFile {folder}/other_key", "Permission denied (publickey)"),
                                         ("UserKnownHostsFile /dev/null", "No ED25519 host key is known")])
def test_ssh_that_is_refused(podere, hosts, line, words):
    text = (hosts.folder / "ssh_config").read_text()
    line = line.format(folder=hosts.folder)
    name = line.split()[0]
    podere.write("config", "\n".join(f"  {line}" if name in old.split() else old for old in text.splitlines()) + "\n")
    assert words in start_failure(podere, hosts, ssh=f"ssh -F {podere.folder}/config")


def test_a_program_that_is_not_on_the_host(podere, hosts, monkeypatch):
    only_here = f"/dev/shm/{podere.folder.name}-podere"  # hosts have memory of their own
    shutil.copy(as_a_user.PODERE, only_here)
    monkeypatch.setattr(as_a_user, "PODERE", only_here)
    try:
        said = start_failure(podere, hosts)
    finally:
        (hosts.folder / only_here).unlink()
    assert f"Executable: {only_here} Node: " in said


def test_an_ssh_that_is_not_there(podere, hosts):
    assert "no-such-ssh was not found in PATH" in start_failure(podere, hosts, ssh="no-such-ssh", code=2)


@pytest.mark.parametrize("text, words", [
    ("{north} slots=2\n{south}\n", "4 executors: the hosts of hosts.txt have 3 slots in all"),
    ("{north} slots=4\n{north} slots=4\n", "hosts.txt:2: host {north} is in line 1 already"),
    ("{north} slots=0\n", "hosts.txt:1: slots=0 is not from 1 to 4096"),
    ("\n-oProxyCommand=false\n", "hosts.txt:2: '-oProxyCommand=false' is not the name of a host"),
    ("# nothing\n", "hosts.txt: there is no host in it"),
])
def test_a_host_file_that_is_wrong_is_refused_at_once(podere, hosts, text, words):
    podere.write("hosts.txt", text.format(north=hosts.north.name, south=hosts.south.name))
    assert words.format(north=hosts.north.name) in start_failure(podere, hosts, code=2)


def test_options_that_do_not_go_together(podere):
    assert "no-hosts.txt: No such file" in podere.refused("describe", "collider:9", "--hosts", "no-hosts.txt")
    for arguments in (["--ssh", "ssh"], ["--hosts", "hosts.txt", "--on", "slurm"], ["--hosts", "hosts.txt", "--submit"]):
        assert arguments[0] in podere.refused("describe", "collider:9", *arguments)
