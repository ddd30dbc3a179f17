"""podere scale: what a command takes on several numbers of executors and cores."""

import json
import os
import pathlib
import resource
import signal
import xml.etree.ElementTree

import pytest

from conftest import needed, wait_until

TRAIN = ["train", "gbt", "collider:2000", "--trees", 3]


def study(podere, name="s.json"):
    return json.loads((podere.folder / name).read_text())


def test_points_are_measured_and_compared(podere):
    podere.done("scale", "-o", "s.json", "--plot", "s.svg", "--executors", "1,2", "--cores", 1, "--repeats", 2, *TRAIN)
    found = study(podere)
    assert found["command"] == "podere train gbt collider:2000 --trees 3" and found["same_results"] is True
    assert [(r["executors"], r["cores"]) for r in found["runs"]] == [(1, 1), (2, 1)] * 2  # in turn
    assert all(r["rows"] == 2000 and r["seconds"] > 0 and len(r["sha256"]) == 64 for r in found["runs"])
    one, two = found["points"]
    assert (one["speed_up"], one["efficiency"], one["n_runs"]) == (1, 1, 2)
    assert two["speed_up"] == pytest.approx(one["seconds"] / two["seconds"])
    assert two["efficiency"] == pytest.approx(two["speed_up"] / 2)
    assert two["least_seconds"] <= two["seconds"] <= two["most_seconds"]
    assert [p["phase"] for p in two["phases"]] == ["read", "bin", "train"]
    picture = xml.etree.ElementTree.parse(podere.folder / "s.svg").getroot()
    assert len(picture.findall(".//{*}circle")) == 1 + 4
    assert sorted(p.name for p in podere.folder.iterdir()) == ["s.json", "s.svg"]


def test_without_counts_all_powers_of_two_that_fit_are_measured(podere):
    podere.done("scale", "-o", "s.json", "--repeats", 1, *TRAIN)
    found = study(podere)
    cores = found["usable_cores"]
    powers = [2**i for i in range(13) if 2**i <= cores]
    assert sorted((r["executors"], r["cores"]) for r in found["runs"]) == [
        (e, c) for e in powers for c in powers if e * c <= cores]


def test_the_same_command_measures_only_what_is_missing(podere):
    scale = ["scale", "-o", "s.json", "--executors", 1, "--cores", 1]
    podere.done(*scale, "--repeats", 1, *TRAIN)
    first = study(podere)["runs"]
    podere.done(*scale, "--repeats", 3, *TRAIN)
    runs = study(podere)["runs"]
    assert len(runs) == 3 and runs[:1] == first
    text = (podere.folder / "s.json").read_text()
    assert "efficiency" in podere.done(*scale, "--repeats", 3, *TRAIN).stdout
    assert (podere.folder / "s.json").read_text() == text
    assert "holds times of another command" in podere.refused(*scale, *TRAIN, "--depth", 3)
    assert "holds times of another command" in podere.refused(*scale, "--weak", 10, *TRAIN)


def test_an_interrupted_study_continues(podere):
    scale = ["scale", "-o", "s.json", "--executors", "1", "--cores", "1", "--repeats", "500", "train", "gbt", "collider:2000",
             "--trees", "3"]
    process = podere.start(*scale)
    wait_until(lambda: (podere.folder / "s.json").exists() and len(study(podere)["runs"]) > 1)
    process.terminate()
    _, stderr = process.communicate(timeout=60)
    assert process.returncode == 130 and "the same command continues" in stderr
    assert 1 < len(study(podere)["runs"]) < 500
    assert [p.name for p in podere.folder.iterdir()] == ["s.json"]


def test_weak_scaling_gives_each_core_its_rows(podere, events):
    podere.done("scale", "-o", "s.json", "--executors", "1,2", "--cores", 1, "--repeats", 1, "--weak", 1500, "train", "gbt", events,
                "--trees", 2)
    found = study(podere)
    assert [r["rows"] for r in found["runs"]] == [1500, 3000] and found["same_results"] is None
    one, two = found["points"]
    assert two["efficiency"] == pytest.approx(one["seconds"] / two["seconds"])
    result = podere.run("scale", "-o", "w.json", "--executors", "1,2", "--cores", 1, "--repeats", 1, "--weak", 4000, "train", "gbt",
                        events, "--trees", 2)
    assert result.returncode == 2 and "rows 0 to 8000 are asked for" in result.stderr
    result = podere.run("scale", "-o", "c.json", "--executors", "1,2", "--cores", 1, "--repeats", 1, "--weak", 1000, "train", "gbt",
                        "collider:1000", "--trees", 2)
    assert result.returncode == 2 and "2 cores need 2000 rows, and there are 1000" in result.stderr


def test_other_commands_are_measured_too(podere, events, model):
    for command in (["evaluate", model, events], ["predict", model, events], ["describe", events], ["explain", model, events],
                    ["train", "nn", events, "--layers", 4, "--epochs", 1], ["train", "centroid", events]):
        podere.done("scale", "-o", f"{command[0]}-{command[1]}.json".replace("/", "_"), "--executors", "1", "--cores", "1",
                    "--repeats", "1", *command)


def test_what_cannot_be_measured_is_refused(podere, events):
    def refused(*words):
        return podere.refused("scale", "-o", "s.json", *words)
    assert "'generate' is no command to measure" in refused("generate", "higgs")
    for option in (["--executors", 2], ["-o", "m.json"], ["--json"], ["--metrics=tasks"], ["--report", "r.html"]):
        assert f"{str(option[0]).split('=')[0]} is not for a command that is measured" in refused(*TRAIN, *option)
    assert "would share them" in refused("--executors", 64, "--cores", 64, *TRAIN)
    assert "is no list of whole numbers" in refused("--executors", "1,x", *TRAIN)
    assert "say which" in refused("train", "gbt", "collider:10", "--hosts", "h.txt")
    assert "--weak says which rows" in refused("--weak", 5, *TRAIN, "--rows", ":7")
    assert "COMMAND" in refused()
    assert "'s.txt' does not end in .svg" in refused("--plot", "s.txt", *TRAIN)
    assert "--help is not for a command" in refused("train", "gbt", "--help")
    podere.write("d.svg", "0,1\n1,2\n")
    assert "--suggest is for strong scaling" in refused("--weak", 5, "--suggest", *TRAIN)
    assert "--model is for strong scaling" in refused("--weak", 5, "--model", "8", *TRAIN)
    one = ["--executors", 1, "--cores", 1]
    assert "needs 3 measured points at least, and there is 1" in refused(*one, "--model", "8", *TRAIN)
    assert "--network requires --model" in refused(*one, "--network", "50,10", *TRAIN)
    for network in ("50", "50,0", "-1,10", "50,10,1", "x,y"):
        assert "is not microseconds and Gbit/s, such as 50,10" in refused(*one, "--model", "8", f"--network={network}", *TRAIN)
    assert "needs 3 executors at least" in refused(*one, "train", "nn", events, "--layers", 4, "--servers", 2)
    assert "are the same file" in refused("--plot", "d.svg", "train", "gbt", "d.svg")
    assert "is no file" in podere.refused("scale", "-o", ".", *TRAIN)
    for damaged in ("{}", '{"podere_scale": 1, "version', '[{"podere_scale": 1}]'):
        podere.write("s.json", damaged)
        assert "is no study" in refused(*TRAIN)


def test_a_fault_of_the_command_is_its_own_line(podere):
    result = podere.run("scale", "-o", "s.json", "--executors", 1, "--cores", 1, "train", "gbt", "none.csv")
    assert result.returncode == 2 and result.stderr.startswith("podere: none.csv") and result.stderr.count("\n") == 1
    assert podere.run("scale", "-o", "s.json", "--executors", 1, "--cores", 1, "train", "gbt", "none.csv", "--tres", 3).returncode == 2


def test_more_cores_than_there_are_can_be_modeled_and_are_never_passed_off_as_measured(podere):
    scale = ["scale", "-o", "s.json", "--plot", "s.svg", "--executors", "1,2", "--repeats", 1]
    said = podere.done(*scale, "--model", "25,50", "--network", "200,1", "--suggest", *TRAIN).stdout
    found = study(podere)
    modeled = [point for point in found["points"] if point["modeled"]]
    assert (25, 1) in [(point["executors"], point["cores"]) for point in modeled]
    assert {point["total_cores"] for point in modeled} == {25, 50}
    assert all("least_seconds" not in point and point["n_runs"] == 0 for point in modeled)
    assert len(found["runs"]) == len(found["points"]) - len(modeled)
    assert sum(line.endswith("modeled") for line in said.splitlines()) == len(modeled)
    assert "200 µs a step, 1 Gbit/s, as --network says" in said and "differs by up to" in said
    assert found["model"]["network"] == {"latency_us": 200, "gigabits": 1}
    assert found["network"]["latency_us"] > 0 and found["network"]["gigabits"] > 0
    picture = (podere.folder / "s.svg").read_text()
    assert picture.count('class="hollow"') == 1 + 2 * len(modeled) and "modeled, not measured" in picture
    again = podere.done(*scale, "--json", *TRAIN)  # without a model
    assert json.loads(again.stdout)["runs"] == found["runs"] and not any(p["modeled"] for p in study(podere)["points"])
    assert study(podere)["network"] == found["network"]


def test_the_suggestion_is_one_that_was_measured(podere):
    said = podere.done("scale", "-o", "s.json", "--executors", "1,2", "--cores", 1, "--repeats", 1, "--suggest", *TRAIN).stdout
    found = study(podere)
    suggestion = found["suggestion"]
    one, two = found["points"]
    assert suggestion["executors"] == (1 if one["seconds"] <= two["seconds"] else 2) and suggestion["cores"] == 1
    assert "Suggested\n  " + suggestion["reasons"][0] in said and "the fastest that was measured" in said
    assert "GBT in the course's papers took 1 min on 25 cores" in said and found["papers"]["efficiency"] == 0.81


def start_a_long_one(podere, *command):
    process = podere.start("scale", "-o", "s.json", "--executors", 1, "--cores", 1, "--repeats", 500, *command)
    wait_until(lambda: (podere.folder / "s.json").exists() and len(study(podere)["runs"]) > 1)
    return process


def test_two_studies_do_not_share_a_file(podere):
    first = start_a_long_one(podere, *map(str, TRAIN))
    result = podere.run("scale", "-o", "s.json", "--executors", 1, "--cores", 1, "--repeats", 500, *TRAIN)
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr == "podere: s.json: another command is at work on it\n"
    first.send_signal(signal.SIGKILL)
    first.communicate(timeout=60)
    n_runs = len(study(podere)["runs"])
    podere.done("scale", "-o", "s.json", "--executors", 1, "--cores", 1, "--repeats", n_runs + 1, *TRAIN)  # what was killed locks nothing
    assert len(study(podere)["runs"]) == n_runs + 1
    assert not [path.name for path in podere.folder.iterdir() if "lock" in path.name]


def test_a_study_keeps_its_runs_where_one_fails(podere, events):
    (podere.folder / "rows.csv").write_bytes(events.read_bytes())
    process = start_a_long_one(podere, "train", "gbt", "rows.csv", "--trees", "2")
    (podere.folder / "rows.csv").unlink()
    _, stderr = process.communicate(timeout=60)
    assert process.returncode == 2 and stderr.splitlines()[-1].startswith("podere: rows.csv")
    assert len(study(podere)["runs"]) > 1


def cpu_seconds(pid):
    """Of all threads."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def test_a_run_that_lost_an_executor_does_not_count(podere):
    process = podere.start("scale", "-o", "s.json", "--executors", "2", "--cores", "1", "--repeats", "1", "train", "gbt",
                           "collider:200000", "--trees", "300")
    executor = podere.executors(2)[1]
    wait_until(lambda: cpu_seconds(executor) > 1.5)  # it has started, and works
    os.kill(executor, signal.SIGKILL)
    _, stderr = process.communicate(timeout=120)
    assert process.returncode == 1 and "executors were lost, so this run does not count" in stderr
    assert study(podere)["runs"] == []


def test_a_full_disk_costs_no_more_than_a_run(podere):
    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (12_000, 12_000))

    process = podere.start("scale", "-o", "s.json", "--executors", "1", "--cores", "1", "--repeats", "500", "describe",
                           "collider:100", preexec_fn=limit)
    _, stderr = process.communicate(timeout=120)
    assert process.returncode in (1, 2) and "s.json" in stderr.splitlines()[-1] and "too large" in stderr
    assert len(study(podere)["runs"]) > 1
    assert [path.name for path in podere.folder.iterdir()] == ["s.json"]


def test_points_without_room_for_servers_are_left_out(podere, events):
    result = podere.done("scale", "-o", "s.json", "--executors", "1,2", "--cores", 1, "--repeats", 1, "train", "nn", events,
                         "--layers", 4, "--epochs", 1, "--servers", 1)
    assert "warning: 1 × 1 cores are left out: the command needs 2 executors at least\n" in result.stderr
    assert [(run["executors"], run["cores"]) for run in study(podere)["runs"]] == [(2, 1)]


def test_classifying_pictures_scales(podere):
    needed("onnx")
    from test_classify import make_pictures, write_network
    write_network(podere.folder / "small.onnx")
    make_pictures(podere.folder / "pictures", 30)
    podere.done("scale", "-o", "s.json", "--executors", "1,2", "--cores", 1, "--repeats", 2, "classify", "pictures", "--model",
                "small.onnx", "--preprocess", "unit")
    found = study(podere)
    assert [(p["executors"], p["n_runs"]) for p in found["points"]] == [(1, 2), (2, 2)]
    assert found["same_results"] is True
    assert [p["phase"] for p in found["points"][0]["phases"]] == ["list", "classify", "write"]
    assert sorted(path.name for path in podere.folder.iterdir()) == ["pictures", "s.json", "small.onnx"]


def test_studies_are_shown_on_the_page_of_reports(podere, events):
    podere.done("scale", "-o", "s.json", "--executors", 1, "--cores", 1, "--repeats", 1, *TRAIN)
    podere.done("train", "gbt", events, "--trees", 2, "-o", "m.json", "--report", "train.html")
    said = podere.done("report", "s.json", "train.html", "-o", "both.html").stdout
    assert said == "1 run, 1 study in both.html\n"
    podere.done("report", "both.html", "-o", "again.json")
    document = json.loads((podere.folder / "again.json").read_text())
    assert len(document["runs"]) == 1
    assert document["studies"] == [{**study(podere), "name": "s.json"}]
    assert podere.done("report", "s.json", "-o", "s.html").stdout == "1 study in s.html\n"
    assert json.loads(podere.done("report", "s.json", "-o", "s.html", "--json").stdout)["studies"] == 1
    damaged = study(podere)
    damaged["runs"][0]["seconds"] = -1
    podere.write("damaged.json", json.dumps(damaged))
    assert "damaged.json: is damaged" in podere.refused("report", "damaged.json", "-o", "x.html")
    damaged["podere_scale"] = 2
    podere.write("damaged.json", json.dumps(damaged))
    assert "is a study in form 2; this Podere reads form 1" in podere.refused("report", "damaged.json", "-o", "x.html")
