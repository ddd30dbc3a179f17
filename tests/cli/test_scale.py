"""podere scale: what a command takes on several numbers of executors and cores."""

import json
import xml.etree.ElementTree

import pytest

from conftest import wait_until

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
    assert "are the same file" in refused("--plot", "d.svg", "train", "gbt", "d.svg")
    assert "is no file" in podere.refused("scale", "-o", ".", *TRAIN)
    podere.write("s.json", "{}")
    assert "is no study" in refused(*TRAIN)


def test_a_fault_of_the_command_is_its_own_line(podere):
    result = podere.run("scale", "-o", "s.json", "--executors", 1, "--cores", 1, "train", "gbt", "none.csv")
    assert result.returncode == 2 and result.stderr.startswith("podere: none.csv") and result.stderr.count("\n") == 1
    assert podere.run("scale", "-o", "s.json", "--executors", 1, "--cores", 1, "train", "gbt", "none.csv", "--tres", 3).returncode == 2
