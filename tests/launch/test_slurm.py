"""Executors in a real Slurm of one node."""

import json
import os
import signal
import stat

import pytest

from conftest import ENDLESS, SHORT, TRAIN, check_trained, kill, names, says, sha256, wait_until, wait_until_training

ALLOCATE = ["salloc", "--quiet", "--ntasks=4"]


@pytest.fixture
def podere(podere, slurm, monkeypatch):
    for name, value in slurm.environment.items():
        monkeypatch.setenv(name, value)
    return podere


@pytest.fixture
def allocated(podere):
    """The program within an allocation of four tasks."""
    podere.before = ALLOCATE
    return podere


def test_the_model_is_the_same_as_without_slurm(allocated, here):
    facts = json.loads(allocated.done(*TRAIN, *SHORT, "--on", "slurm", "--executors", 3, "--json").stdout)
    assert facts["executors"] == 3 and facts["cores"] == 1 and facts["losses"] == []
    assert sha256(allocated) == here(*SHORT)
    assert names(allocated.folder) == ["model.json"]


def test_a_session_in_an_allocation(allocated, here, tmp_path_factory):
    environment = {"XDG_RUNTIME_DIR": str(tmp_path_factory.mktemp("run"))}
    start = allocated.start("session", "start", "s", "--foreground", "--on", "slurm", "--executors", 3, environment=environment)
    allocated.before = []
    in_session = lambda *arguments: allocated.done("session", *arguments, environment=environment).stdout
    sessions = lambda: json.loads(in_session("list", "--json"))["sessions"]
    wait_until(lambda: sessions() and sessions()[0].get("executors"), seconds=60)
    assert (sessions()[0]["executors"], sessions()[0]["cores"]) == (3, 1)
    in_session("load", "s", "collider:20000", "--as", "t")
    train = ["table:t" if argument == "collider:20000" else argument for argument in TRAIN if argument not in ("--cores", "1")]
    allocated.done(*train, *SHORT, "--session", "s", environment=environment)
    assert sha256(allocated) == here(*SHORT)
    in_session("stop", "s")
    assert start.wait(timeout=60) == 0
    assert names(allocated.folder) == ["model.json"]


def test_executors_have_the_cores_of_the_allocation(podere):
    podere.before = ["salloc", "--quiet", "--ntasks=2", "--cpus-per-task=2"]
    facts = json.loads(podere.done("describe", "collider:1000", "--on", "slurm", "--executors", 2, "--json").stdout)
    assert facts["executors"] == 2 and facts["cores"] == 2


def test_a_study_in_an_allocation(allocated):
    allocated.done("scale", "-o", "s.json", "--executors", "1,2,4", "--cores", 1, "--repeats", 1, "--model", "8", "train", "gbt",
                   "collider:20000", "--trees", 3, "--on", "slurm")
    found = json.loads((allocated.folder / "s.json").read_text())
    assert [run["executors"] for run in found["runs"]] == [1, 2, 4] and found["same_results"] is True
    assert found["network"]["latency_us"] > 0 and found["points"][-1]["modeled"]
    assert names(allocated.folder) == ["s.json"]


def driver_of(allocated, n_executors):
    executors = allocated.executors(n_executors)
    return next(pid for pid in allocated.processes(wait=0)
                if os.readlink(f"/proc/{pid}/exe").endswith("/podere") and pid not in executors)


def test_a_killed_executor_costs_time_and_nothing_else(allocated, this_machine):
    process = allocated.start(*TRAIN, *ENDLESS, "--on", "slurm", "--executors", "3", "--json")
    wait_until_training(process, allocated)
    driver = driver_of(allocated, 3)
    kill(allocated.executors(3)[2])
    said = says(process, "continuing with .*\n")
    assert said.startswith("podere: lost executor ") and said.count("\n") == 1
    assert "(killed by signal 9) at tree" in said and "; continuing with 2 executors from tree" in said
    os.kill(driver, signal.SIGINT)  # salloc does not pass it on
    stdout, stderr = process.communicate(timeout=120)
    assert process.returncode == 130, stderr
    assert json.loads(stdout)["executors"] == 2
    check_trained(allocated, this_machine)
    assert names(allocated.folder) == ["model.json"]


def test_nothing_is_left_when_the_driver_is_killed(allocated, slurm):
    process = allocated.start(*TRAIN, *ENDLESS, "--on", "slurm", "--executors", "2")
    wait_until_training(process, allocated)
    kill(driver_of(allocated, 2))
    process.communicate(timeout=20)
    assert allocated.processes(wait=10) == []
    wait_until(lambda: slurm.call("squeue", "-h").stdout == "")


ADVICE = ("Open MPI needs PMIx of srun (is pmix in `srun --mpi=list`?); without it use --hosts with the nodes of the "
          "allocation")


@pytest.mark.parametrize("options, words", [
    ("--mpi=no-such-kind", "Couldn't find the specified plugin name for mpi/no-such-kind"),
    # Debian's Open MPI refuses by itself to be started so,
    ("--mpi=none", f"the executors could not be started as one group: {ADVICE}"),
    # and one that does not know that it is in Slurm makes each process a group of its own.
    ("--mpi=none --task-prolog={forget}", f"asked for one group of 2 executors, got groups of 1: {ADVICE}"),
])
def test_processes_that_are_no_group_are_refused(allocated, slurm, options, words):
    forget = slurm.folder / "forget"
    forget.write_text("#!/bin/sh\nfor name in STEPID STEP_ID NODELIST JOBID PROCID; do echo unset SLURM_$name; done\n")
    forget.chmod(0o700)
    assert words in allocated.refused("describe", "collider:9", "--on", "slurm", "--executors", "2",
                                      f"--slurm-options={options.format(forget=forget)}", code=1,
                                      environment={"TMPDIR": str(slurm.folder)})  # processes alone leave folders there


def test_more_executors_than_the_allocation_has_room_for(allocated):
    said = allocated.refused("describe", "collider:9", "--on", "slurm", "--executors", "5", code=1)
    assert "srun: error: Unable to create step for job" in said and "More processors requested than permitted" in said


def test_where_there_is_no_allocation(podere):
    said = podere.refused("describe", "collider:9", "--on", "slurm")
    assert "salloc" in said and "--submit" in said


def test_a_submitted_command_runs_to_its_end(podere, slurm, here):
    command = [*TRAIN, *SHORT, "--executors", "2", "--submit", "--time", "10", "--slurm-options", "--partition=all --nice=1"]
    submitted = json.loads(podere.done(*command, "--json").stdout)
    assert names(podere.folder)[-1].endswith(".sbatch")
    script = podere.folder / names(podere.folder)[-1]
    assert submitted == {"job": submitted["job"], "script": str(script), "log": f"{podere.folder}/podere-train-{submitted['job']}.log"}
    for line in ("#SBATCH --ntasks=2", "#SBATCH --cpus-per-task=1", "#SBATCH --time=10",
                 "#SBATCH --partition=all --nice=1"):
        assert line in script.read_text().splitlines()
    wait_until(lambda: slurm.job_state(submitted["job"]) == "COMPLETED", seconds=60)
    log = (podere.folder / f"podere-train-{submitted['job']}.log").read_text()
    assert json.loads(log)["executors"] == 2
    assert sha256(podere) == here(*SHORT)
    # What people do with the script: look, and submit it again.
    (podere.folder / "model.json").unlink()
    assert stat.S_IMODE(script.stat().st_mode) & stat.S_IRUSR
    again = slurm.call("sbatch", "--parsable", "--wait", f"--chdir={podere.folder}", str(script), timeout=60)
    assert again.returncode == 0, again.stderr
    assert sha256(podere) == here(*SHORT)


def test_people_are_shown_the_job_and_its_script(podere, slurm):
    submitted = dict(line.split() for line in podere.done("describe", "collider:9", "--submit").stdout.splitlines())
    wait_until(lambda: slurm.job_state(submitted["job"]) == "COMPLETED", seconds=60)
    here = podere.done("describe", "collider:9").stdout
    with open(submitted["log"]) as log:
        assert log.read() == here


@pytest.mark.parametrize("options, words", [
    ("--partition=no-such", "invalid partition specified: no-such; Batch job submission failed: Invalid partition name "),
    ("--no-such-option", "unrecognized option"),
    ("long", "does not begin with an option"),
])
def test_a_job_that_slurm_does_not_take_leaves_no_script(podere, options, words):
    assert words in podere.refused("describe", "collider:9", "--submit", f"--slurm-options={options}")


def test_options_of_slurm_without_slurm(podere):
    assert "--slurm-options" in podere.refused("describe", "collider:9", "--slurm-options=--mem=1G")
    assert "--time" in podere.refused("describe", "collider:9", "--time=5")
    assert "none of here, slurm, kubernetes" in podere.refused("describe", "collider:9", "--on", "mars")
