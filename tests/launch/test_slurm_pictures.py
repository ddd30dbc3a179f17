"""podere classify --submit: all that the command names arrives in the job, and nothing is left of the submitting."""

import csv
import json
import os
import pathlib
import shutil

import pytest

from conftest import names, wait_until

DATA = pathlib.Path(__file__).parents[2] / "data"
CLASSIFY = ["classify", "pictures", "--model", "net.onnx", "--cores", "1"]


@pytest.fixture(scope="module")
def made(tmp_path_factory, this_machine):
    """Pictures, a network with its preprocessing beside it, names of classes, and a head that learned its features."""
    folder = tmp_path_factory.mktemp("made")
    shutil.copy(DATA / "micrographs.onnx", folder / "net.onnx")
    shutil.copy(DATA / "micrographs.json", folder / "net.json")
    (folder / "names.txt").write_text("".join(f"Kind {k}, called {name}\n" for k, name in
                                              enumerate((DATA / "micrographs.txt").read_text().split())))
    this_machine.done("generate", "sem", "--images", 20, "--seed", 5, "-o", folder / "pictures")
    this_machine.done("train", "mlp", f"images:{folder}/pictures?model={folder}/net.onnx&layer=features", "--layers", "8",
                      "-o", folder / "head.json")
    return folder


@pytest.fixture
def podere(podere, slurm, made, monkeypatch):
    for name, value in slurm.environment.items():
        monkeypatch.setenv(name, value)
    shutil.copytree(made, podere.folder, dirs_exist_ok=True)
    return podere


def submitted(podere, slurm, *arguments):
    """What the submitted command says at its end."""
    job = json.loads(podere.done(*arguments, "--submit", "--json").stdout)
    wait_until(lambda: slurm.job_state(job["job"]) in ("COMPLETED", "FAILED"), seconds=120)
    log = pathlib.Path(job["log"]).read_text()
    assert slurm.job_state(job["job"]) == "COMPLETED", log
    for name in (job["log"], job["script"]):
        pathlib.Path(name).unlink()
    return json.loads(log.splitlines()[-1])


@pytest.mark.parametrize("options", [
    ["--labels", "names.txt", "--contact-sheet", "sheet.html", "-o", "labels.csv"],
    ["--head", "head.json", "--layer", "features", "--contact-sheet", "sheet.html", "-o", "labels.csv"],
    ["--labels", "names.txt", "--keep-images", "small", "-o", "labels.h5"],
], ids=["labels", "head", "hdf5"])
def test_a_submitted_command_writes_what_it_writes_here(podere, slurm, options):
    output = options[-1]
    podere.done(*CLASSIFY, *options)
    expected = {name: (podere.folder / name).read_bytes() for name in (output, "sheet.html")
                if (podere.folder / name).exists()}
    for name in expected:
        (podere.folder / name).unlink()
    before = names(podere.folder)
    facts = submitted(podere, slurm, *CLASSIFY, *options, "--executors", 2)
    assert (facts["executors"], facts["pictures"], facts["classified"]) == (2, 20, 20)
    assert names(podere.folder) == sorted([*before, *expected])
    for name, content in expected.items():
        assert (podere.folder / name).read_bytes() == content, name


@pytest.mark.parametrize("options, words", [
    (["--head", "head.json"], "the head learned feature1@"),
    (["--layer", "feature"], "has no tensor 'feature': did you mean 'features'"),
    (["--size", "50"], "--size is 50, the network takes"),
    (["--head", "head.json", "--labels", "names.txt"], "--labels: the head has the names of classes"),
    (["--resume"], "there is no labels.csv.parts"),
])
def test_what_cannot_be_done_is_refused_before_it_is_submitted(podere, options, words):
    assert words in podere.refused(*CLASSIFY, "-o", "labels.csv", *options, "--submit")


def test_a_job_that_begins_at_once_finds_no_trace_of_the_submitting(podere, slurm, tmp_path_factory, monkeypatch):
    """Here sbatch returns when the job is done."""
    folder = tmp_path_factory.mktemp("bin")
    (folder / "sbatch").write_text(f'#!/bin/sh\nexec {shutil.which("sbatch")} --wait "$@"\n')
    (folder / "sbatch").chmod(0o700)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    assert submitted(podere, slurm, *CLASSIFY, "-o", "labels.csv")["classified"] == 20
    assert not (podere.folder / "labels.csv.parts").exists()


def test_a_submitted_run_continues_what_was_done(podere, slurm):
    (podere.folder / "pictures/zz.tif").write_text("no picture")
    refused = podere.run(*CLASSIFY, "-o", "labels.csv", "--strict")
    assert refused.returncode == 2 and "labels.csv.parts has what was done" in refused.stderr
    facts = submitted(podere, slurm, *CLASSIFY, "-o", "labels.csv", "--resume")
    assert facts["earlier"] > 0 and (facts["pictures"], facts["classified"]) == (21, 20)
    with open(podere.folder / "labels.csv", newline="") as lines:
        assert [bool(row["error"]) for row in csv.DictReader(lines)] == [False] * 20 + [True]
    assert not (podere.folder / "labels.csv.parts").exists()


def test_a_submitted_run_continues_one_that_did_nothing(podere, slurm):
    """What was killed at once leaves an empty folder, which submitting must not remove."""
    (podere.folder / "labels.csv.parts").mkdir()
    assert submitted(podere, slurm, *CLASSIFY, "-o", "labels.csv", "--resume")["classified"] == 20
    assert not (podere.folder / "labels.csv.parts").exists()
