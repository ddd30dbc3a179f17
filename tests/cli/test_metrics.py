"""What --metrics shows of a job: figures that add up, and that say what happened."""

import json
import math
import os
import pathlib
import signal
import time

import pytest

from conftest import ENDLESS, interrupted, says, wait_until

SUMS = ["run_seconds", "wait_seconds", "cpu_seconds", "cpu_user_seconds", "cpu_system_seconds", "decode_seconds",
        "read_seconds", "write_seconds", "bytes_read", "bytes_written", "storage_bytes_read", "storage_bytes_written",
        "bytes_sent", "rows_read", "rows_written"]
TRAIN = ["train", "gbt", "--depth", "5", "-o", "m.json", "--cores", "1"]


def metrics_of(podere, *arguments, **options):
    return json.loads(podere.done(*arguments, "--metrics=tasks", "--json", **options).stdout)["metrics"]


def by_phase(metrics):
    return {phase["phase"]: phase for phase in metrics["phases"]}


@pytest.fixture(scope="module")
def trained(shared_podere, events):
    """Metrics of training on the 6,000 events with 3 executors."""
    return metrics_of(shared_podere, *TRAIN, events, "--trees", 8, "--executors", 3)


def test_tasks_add_up_to_phases_and_phases_to_the_job(trained):
    phases, tasks, job = trained["phases"], trained["tasks"], trained["job"]
    assert [phase["phase"] for phase in phases] == ["read", "bin", "train"]
    assert [(task["phase"], task["executor"]) for task in tasks] == [
        (phase, executor) for phase in ("read", "bin", "train") for executor in range(3)]
    for phase in phases:
        of_phase = [task for task in tasks if task["phase"] == phase["phase"]]
        for name in SUMS:
            assert phase[name] == pytest.approx(sum(task[name] for task in of_phase)), (phase["phase"], name)
        assert phase["elapsed_seconds"] == max(task["elapsed_seconds"] for task in of_phase)
        assert phase["peak_memory_bytes"] == max(task["peak_memory_bytes"] for task in of_phase)
        assert phase["skew"] >= 1 and phase["slowest_executor"] in range(3)
    for name in SUMS:
        assert job[name] == pytest.approx(sum(phase[name] for phase in phases)), name
    assert (job["kind"], job["executors"], job["hosts"], job["retries"], job["lost_seconds"]) == ("train", 3, 1, 0, 0)
    assert job["elapsed_seconds"] >= max(phase["elapsed_seconds"] for phase in phases)


def test_each_task_spends_its_time_running_or_waiting_on_no_more_than_its_cores(trained):
    for task in trained["tasks"]:
        assert task["run_seconds"] + task["wait_seconds"] == pytest.approx(task["elapsed_seconds"])
        assert task["run_seconds"] >= 0 and task["wait_seconds"] >= 0
        assert task["cpu_user_seconds"] + task["cpu_system_seconds"] == pytest.approx(task["cpu_seconds"])
        # One core, and threads that only listen; the kernel counts some of it in steps of its clock.
        assert 0 <= task["cpu_seconds"] <= 1.1 * task["elapsed_seconds"] + 0.1


def test_rows_add_up_to_those_of_the_tables(podere, trained, events, model):
    assert [task["rows_read"] for task in trained["tasks"] if task["phase"] == "read"].count(0) == 0
    assert by_phase(trained)["read"]["rows_read"] == trained["job"]["rows_read"] == 6000
    predicted = metrics_of(podere, "predict", model, events, "-o", "p.csv", "--executors", 2)
    assert [phase["phase"] for phase in predicted["phases"]] == ["read", "predict", "write"]
    assert (predicted["job"]["rows_read"], predicted["job"]["rows_written"]) == (6000, 6000)
    both = metrics_of(podere, *TRAIN, "collider:3000", "--validation", "collider:1000?seed=2", "--trees", 2, "--low-memory")
    assert both["job"]["rows_read"] == 4000


def test_bytes_are_those_of_files(podere, events, model, trained):
    # All of a file is read twice: for where its lines begin, and to parse them. From the page cache, most likely: what
    # came from the storage itself may be nothing.
    assert by_phase(trained)["read"]["bytes_read"] >= events.stat().st_size
    assert by_phase(trained)["read"]["bytes_read"] <= 3 * events.stat().st_size + 3 * 2**21
    assert by_phase(trained)["read"]["decode_seconds"] > 0 and by_phase(trained)["train"]["decode_seconds"] == 0
    predicted = by_phase(metrics_of(podere, "predict", model, events, "-o", "p.csv", "--executors", 2))
    assert predicted["write"]["bytes_written"] == (podere.folder / "p.csv").stat().st_size
    assert predicted["predict"]["bytes_written"] == predicted["read"]["bytes_written"] == 0
    assert predicted["read"]["bytes_read"] >= events.stat().st_size + model.stat().st_size
    made = by_phase(metrics_of(podere, "evaluate", model, "collider:1000"))
    assert made["read"]["bytes_read"] == model.stat().st_size, "events that executors make are in no file"


@pytest.mark.parametrize("arguments, phases", [
    (["describe", "DATA"], ["read", "describe"]),
    (["evaluate", "MODEL", "DATA"], ["read", "evaluate"]),
    (["evaluate", "MODEL", "DATA", "--staged=4"], ["read", "evaluate"]),
    (["explain", "MODEL", "DATA", "--label", "0", "-o", "shap.csv"], ["read", "explain"]),
    (["explain", "MODEL", "DATA", "--permutation", 1], ["read", "explain", "permute"]),
])
def test_all_executors_have_all_phases_also_those_without_rows(podere, model, arguments, phases):
    podere.done("generate", "higgs", "--events", 50, "--seed", 3, "-o", "few.csv", "--header")
    metrics = metrics_of(podere, *[{"MODEL": model, "DATA": "few.csv"}.get(a, a) for a in arguments], "--executors", 3)
    assert [phase["phase"] for phase in metrics["phases"]] == phases
    assert [phase["tasks"] for phase in metrics["phases"]] == [3] * len(phases)
    assert metrics["job"]["rows_read"] == 50
    if "shap.csv" in arguments:
        assert metrics["job"]["rows_written"] == 50


def test_executors_wait_for_one_that_is_held_up(podere):
    process = podere.start(*TRAIN, "collider:20000", *ENDLESS, "--executors", "2", "--metrics=tasks", "--json",
                           "--checkpoint", "c.json", "--checkpoint-every", "0")
    waiting, held_up = sorted(podere.executors(2), key=rank_of)
    wait_until(lambda: (podere.folder / "c.json").exists(), seconds=60)
    os.kill(held_up, signal.SIGSTOP)  # wherever it is, the other gets no further than to their next collective
    wait_until(lambda: sleeps(waiting), seconds=60)
    stopped = time.monotonic()
    time.sleep(1)
    held_seconds = time.monotonic() - stopped
    os.kill(held_up, signal.SIGCONT)
    resumed = time.time()
    wait_until(lambda: (podere.folder / "c.json").stat().st_mtime > resumed + 1, seconds=60)  # trees were reported
    stdout, _ = interrupted(process)
    training = [task for task in json.loads(stdout)["metrics"]["tasks"] if task["phase"] == "train"]
    assert [task["executor"] for task in training] == [0, 1]
    assert training[0]["wait_seconds"] > 0.9 * held_seconds
    assert all(task["elapsed_seconds"] > held_seconds for task in training)


def sleeps(pid):
    """Whether no thread of it had anything to do for a while: each was asleep at twenty looks in a row."""
    def state(task):
        return (task / "stat").read_text().rsplit(")", 1)[1].split()[0]
    for _ in range(20):
        if any(state(task) != "S" for task in pathlib.Path(f"/proc/{pid}/task").iterdir()):
            return False
        time.sleep(0.01)
    return True


def rank_of(pid):
    variables = open(f"/proc/{pid}/environ", "rb").read().split(b"\0")
    return int(next(v.split(b"=")[1] for v in variables if v.startswith(b"OMPI_COMM_WORLD_RANK=")))


def test_a_loss_is_a_retry_of_the_phase_that_it_broke_off(podere):
    process = podere.start(*TRAIN, "collider:20000", *ENDLESS, "--executors", 2, "--json", "--metrics",
                           "--checkpoint", "c.json", "--checkpoint-every", "0.1")
    wait_until(lambda: (podere.folder / "c.json").exists(), seconds=60)
    os.kill(podere.executors(2)[1], signal.SIGKILL)
    says(process, "continuing with 1 executor")
    facts = json.loads(interrupted(process)[0])
    metrics = facts["metrics"]
    assert metrics["job"]["retries"] == 1 and metrics["job"]["executors"] == 1
    assert metrics["job"]["lost_seconds"] == facts["losses"][0]["seconds_lost"]
    assert {name: phase["retries"] for name, phase in by_phase(metrics).items()} == {"read": 0, "bin": 0, "train": 1}
    # The tasks are those of the group that ended the job; the time is that of all.
    assert metrics["job"]["elapsed_seconds"] >= facts["losses"][0]["back_at_seconds"]


def counters(folder, joules):
    for number, name in enumerate(["package-0", "package-1"]):
        counter = folder / f"intel-rapl:{number}"
        counter.mkdir(parents=True, exist_ok=True)
        (counter / "name").write_text(name + "\n")
        (counter / "max_energy_range_uj").write_text("262143328850\n")
        (counter / "energy_uj").write_text(f"{int(joules * 1e6)}\n")


def test_the_energy_of_a_machine_counts_once(podere):
    counters(podere.folder / "powercap", 7)
    job = metrics_of(podere, "describe", "collider:1000", "--executors", 2,
                     environment={"PODERE_POWERCAP": str(podere.folder / "powercap")})
    assert job["job"]["energy_joules"] == 0
    assert [("energy_joules" in task, task["executor"]) for task in job["tasks"]] == [(True, 0), (False, 1)] * 2


def test_energy_that_the_machine_does_not_measure_is_null_with_the_cause(podere):
    environment = {"PODERE_POWERCAP": str(podere.folder / "none")}
    job = metrics_of(podere, "describe", "collider:1000", environment=environment)["job"]
    assert job["energy_joules"] is None and job["energy_note"].endswith("none: no energy counters (intel-rapl)")
    text = podere.done("describe", "collider:1000", "--metrics", environment=environment).stdout
    assert "not measured on this machine (" in text


def test_json_has_job_and_phases_and_tasks_only_where_asked(podere):
    for flags, keys in (([], {"job", "phases"}), (["--metrics"], {"job", "phases"}),
                        (["--metrics=tasks"], {"job", "phases", "tasks"})):
        assert set(json.loads(podere.done("describe", "collider:100", "--json", *flags).stdout)["metrics"]) == keys
    figures = json.loads(podere.done("describe", "collider:100", "--json").stdout)["metrics"]["job"]
    assert all(v is None or isinstance(v, str) or math.isfinite(v) for v in figures.values())


def test_the_table_has_a_line_per_phase_and_one_of_the_job(podere, model):
    assert "peak memory" not in podere.done("evaluate", model, "collider:100").stdout
    lines = podere.done("evaluate", model, "collider:100", "--executors", 2, "--metrics").stdout.splitlines()
    header = next(i for i, line in enumerate(lines) if line.startswith("phase "))
    assert [line.split()[:2] for line in lines[header + 1:header + 4]] == [["read", "all"], ["evaluate", "all"], ["job", "all"]]
    lines = podere.done("evaluate", model, "collider:100", "--executors", 2, "--metrics=tasks").stdout.splitlines()
    header = next(i for i, line in enumerate(lines) if line.startswith("phase "))
    assert [line.split()[:2] for line in lines[header + 1:header + 8]] == [
        ["read", "0"], ["read", "1"], ["read", "all"], ["evaluate", "0"], ["evaluate", "1"], ["evaluate", "all"], ["job", "all"]]


def test_metrics_go_where_facts_go(podere, model):
    result = podere.done("predict", model, "collider:100", "-o", "/dev/stdout", "--metrics")
    assert len(result.stdout.splitlines()) == 100 and "peak memory" in result.stderr


def test_what_is_neither_phases_nor_tasks_is_refused(podere):
    assert "'rows' is neither phases nor tasks" in podere.refused("describe", "collider:100", "--metrics=rows")
