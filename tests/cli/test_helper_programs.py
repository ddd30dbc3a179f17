"""The programs that podere starts beside itself, `podere decode` and podere-hdf5: what becomes of a run when they end
otherwise than they should. The run goes by another name, so that a script can take the place of such a program."""

import os
import pathlib
import shutil

import pytest
from conftest import PODERE, needed

needed("onnx")
needed("PIL")

from test_classify import make_pictures, rows, write_network  # noqa: E402

COMMAND = ["classify", "pictures", "--model", "net.onnx", "--preprocess", "unit"]


@pytest.fixture
def beside(podere, tmp_path_factory, monkeypatch):
    """The folder of the program that runs here, which is a copy without the others that belong beside it."""
    folder = tmp_path_factory.mktemp("bin")
    shutil.copy(PODERE, folder / "copy")
    monkeypatch.setattr("conftest.PODERE", str(folder / "copy"))
    make_pictures(podere.folder / "pictures", 6)
    write_network(podere.folder / "net.onnx")
    return folder


def program(path, *lines):
    path.write_text("\n".join(["#!/bin/sh", *lines]) + "\n")
    path.chmod(0o700)


def programs_of_podere(folder):
    for name in ("podere", "podere-hdf5"):
        (folder / name).unlink(missing_ok=True)
        (folder / name).symlink_to(pathlib.Path(PODERE).with_name(name))


@pytest.fixture
def suspect(podere, beside):
    """A run that has ended with a picture at work, so that the next one decodes it apart: a text, as it happens."""
    (podere.folder / "pictures/zz.tif").write_text("no picture")
    result = podere.run(*COMMAND, "-o", "labels.csv", "--strict")
    assert result.returncode == 2 and "zz.tif" in result.stderr and "--resume" in result.stderr
    return [*COMMAND, "-o", "labels.csv", "--resume"]


CRASHES = {"ILL": 4, "ABRT": 6, "BUS": 7, "FPE": 8, "SEGV": 11, "SYS": 31}


@pytest.mark.parametrize("signal", CRASHES)
def test_a_picture_that_crashes_its_decoder_is_left_out(podere, beside, suspect, signal):
    program(beside / "podere", "ulimit -c 0", f"kill -{signal} $$")
    podere.done(*suspect)
    faults = {row["picture"]: row["error"] for row in rows(podere) if row["error"]}
    assert faults == {"zz.tif": "pictures/zz.tif: the process that decoded it ended by signal "
                                f"{CRASHES[signal]}; it may be damaged"}


def test_a_picture_that_takes_too_long_is_left_out(podere, beside, suspect):
    program(beside / "podere", "kill -XCPU $$")
    podere.done(*suspect)
    [row] = [row for row in rows(podere) if row["error"]]
    assert "takes more than 20 s to decode" in row["error"] and "--decode-seconds" in row["error"]


# No fault, 2 x 2 pixels of 3 channels, no text, and nothing of a microscope: 12 bytes follow.
HEAD = r"printf '\0\0\0\0\0\0\0\0\2\0\0\0\2\0\0\0\3\0\0\0\0\0\0\0" + r"\0" * 40


@pytest.mark.parametrize("lines, words", [
    (["kill -KILL $$"], "zz.tif: the process that decoded it ended by signal 9: there may be too little memory"),
    (["kill -TERM $$"], "zz.tif: the process that decoded it ended by signal 15: there may be too little memory"),
    (["exit 3"], "zz.tif: the process that decoded it ended with exit code 3: there may be too little memory"),
    (["exit 0"], "zz.tif: the process that decoded it answered nothing"),
    ([r"printf '\0\0\0\0'"], "zz.tif: the process that decoded it answered nothing"),
    ([HEAD + "abcdefghijk'"], "zz.tif: the process that decoded it answered in part"),
    ([HEAD + "abcdefghijklm'"], "zz.tif: the process that decoded it answered in part"),
    ([HEAD.replace(r"\3\0\0\0\0", r"\3\0\0\0\377") + "abcdefghijkl'"], "zz.tif: the process that decoded it answered in part"),
    ([HEAD.replace(r"\3", r"\2") + "abcdefgh'"], "zz.tif: the process that decoded it answered in part"),
    (None, "there is no program podere in"),
], ids=["KILL", "TERM", "exit 3", "nothing", "part of a head", "too few", "too many", "text", "channels", "no program"])
def test_what_is_not_the_pictures_fault_ends_the_run_which_can_be_resumed(podere, beside, suspect, lines, words):
    if lines:
        program(beside / "podere", *lines)
    result = podere.run(*suspect)
    assert result.returncode == 1, result.stderr
    assert words in result.stderr
    assert not (podere.folder / "labels.csv").exists()
    programs_of_podere(beside)
    podere.done(*suspect)
    assert [row["picture"] for row in rows(podere) if row["error"]] == ["zz.tif"] and len(rows(podere)) == 7


def test_the_contact_sheet_decodes_such_a_picture_apart_again(podere, beside, suspect):
    program(beside / "podere", f"echo x >> {beside}/decoded.txt", HEAD + "abcdefghijkl'")
    podere.done(*suspect, "--contact-sheet", "sheet.html")
    assert not [row for row in rows(podere) if row["error"]]
    assert 'width="2" height="2" alt="zz.tif' in (podere.folder / "sheet.html").read_text()
    assert len((beside / "decoded.txt").read_text().split()) == 2  # for its class, and for the sheet


@pytest.mark.parametrize("lines, code, words", [
    (["read line", "exit 1"], 2, "podere-hdf5 ended before it was written"),
    (["read line", "kill -KILL $$"], 2, "podere-hdf5 ended before it was written"),
    (["read line", "echo cannot be written: the disk is full >&2", "exit 1"], 2, "labels.h5"),
    (["exit 1"], 2, "podere-hdf5 ended before it was written"),
    (None, 1, "there is no program podere-hdf5 in"),
], ids=["ends", "killed", "has words", "reads nothing", "no program"])
def test_a_file_that_is_not_written_loses_nothing(podere, beside, lines, code, words):
    command = [*COMMAND, "-o", "labels.h5", "--keep-images", "original"]
    if lines:
        program(beside / "podere-hdf5", *lines)
    result = podere.run(*command)
    assert result.returncode == code, result.stderr
    assert words in result.stderr and "--resume continues" in result.stderr and result.stderr.count("\n") == 1
    assert sorted(os.listdir(podere.folder)) == ["labels.h5.parts", "net.onnx", "pictures"]
    programs_of_podere(beside)
    podere.done(*command, "--resume")
    resumed = (podere.folder / "labels.h5").read_bytes()
    podere.done(*command)
    assert (podere.folder / "labels.h5").read_bytes() == resumed and len(resumed) > 2000
