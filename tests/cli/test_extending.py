"""An algorithm that was added as docs/extending.md has it (examples/nearest_centroid) can all that others can."""
import json
import os
import pathlib
import signal

import pytest

from conftest import says
from test_loss import sha256
from test_session import session  # noqa: F401

TRAIN = ["train", "centroid", "collider:20000", "-o", "model.json"]


def test_the_help_shows_it_with_its_options(podere):
    assert "centroid " in podere.done("train", "--help").stdout
    text = podere.done("train", "centroid", "--help").stdout
    assert "--classes" in text and "Example: podere train centroid" in text and "--checkpoint" not in text


@pytest.mark.parametrize("executors", [1, 2, 3, 5])
@pytest.mark.parametrize("cores", [1, 3])
def test_the_model_is_the_same_on_any_number_of_executors(podere, executors, cores):
    podere.done(*TRAIN, "--executors", executors, "--cores", cores)
    podere.done("train", "centroid", "collider:20000", "-o", "alone.json", "--low-memory")
    assert sha256(podere) == sha256(podere, "alone.json")


def test_it_is_measured_applied_and_shown(podere):
    facts = json.loads(podere.done(*TRAIN, "--validation", "collider:5000?seed=1", "--json").stdout)
    assert facts["objective"] == "nearest-centroid" and 0.55 < facts["validation_auc"] < 0.75
    measures = json.loads(podere.done("evaluate", "model.json", "collider:5000?seed=1", "--json").stdout)
    assert measures["auc"] == facts["validation_auc"] and measures["accuracy"] == facts["validation_accuracy"]
    podere.done("predict", "model.json", "collider:100", "-o", "p.csv")
    lines = (podere.folder / "p.csv").read_text().splitlines()
    assert len(lines) == 100 and all(abs(sum(map(float, line.split(","))) - 1) < 1e-6 for line in lines)
    shown = json.loads(podere.done("model", "model.json", "--json").stdout)
    assert len(shown["centroids"]) == 2 and len(shown["features"]) == 28


def test_executors_that_are_lost_cost_time_and_nothing_else(podere):
    podere.done("train", "centroid", "collider:300000", "-o", "alone.json")
    process = podere.start("train", "centroid", "collider:300000", "-o", "model.json", "--executors", "2", "--cores", "1",
                           "--json")
    os.kill(podere.executors(2)[1], signal.SIGKILL)
    assert "lost " in says(process, "(continuing with|starting) 1 executor.*\n")
    stdout, stderr = process.communicate(timeout=120)
    assert process.returncode == 0, stderr
    assert json.loads(stdout)["executors"] == 1
    assert sha256(podere) == sha256(podere, "alone.json")


def test_a_session_trains_it(podere, session):  # noqa: F811
    podere.done(*TRAIN)
    alone = sha256(podere)
    session.start("s", "--executors", "2", "--cores", "1")
    session("load", "s", "collider:20000", "--as", "t")
    session.run("train", "centroid", "table:t", "--session", "s", "-o", "model.json")
    assert sha256(podere) == alone


@pytest.mark.parametrize("flags, words", [
    (["--classes", "1"], "--classes is 1, allowed is 0 or 2 to 1000"),
    (["--classes", "99999999999"], "options.n_classes must be from -2147483648 to 2147483647, it is 99999999999"),
    (["--classes", "x"], "--classes: 'x' is not a whole number"),
    (["--classes", "3"], "feature"),
    (["--checkpoint", "c.json"], "has no option --checkpoint"),
])
def test_what_it_cannot_do_is_refused(podere, flags, words):
    assert words in podere.refused(*TRAIN, *flags)


def test_a_model_that_cannot_be_validated_is_kept(podere):
    podere.done("generate", "higgs", "--events", "2000", "--header", "-o", "d.csv")
    header = (podere.folder / "d.csv").read_text().split("\n")[0]
    podere.write("v.csv", header + "\n" + ",".join(["7"] * 29) + "\n")
    result = podere.done("train", "centroid", "d.csv", "--validation", "v.csv", "--executors", "2", "--cores", "1",
                         "-o", "model.json")
    assert "the model could not be validated: validation data: label of row 0 is 7" in result.stderr
    podere.done("evaluate", "model.json", "d.csv")


def test_commands_for_trees_name_what_the_model_is(podere):
    podere.done(*TRAIN)
    for command in (["explain", "model.json", "collider:100"], ["evaluate", "model.json", "collider:100", "--staged"]):
        assert "model.json: is nearest centroids, this is for boosted trees" in podere.refused(*command)
    line = podere.refused("train", "gbt", "collider:100", "--from", "model.json", "-o", "x.json")
    assert "model.json: is not a model of boosted trees" in line


def test_the_example_is_as_short_as_the_guide_says():
    source = pathlib.Path(__file__).parents[2] / "examples/nearest_centroid/nearest_centroid.cc"
    assert len(source.read_text().splitlines()) < 200
