"""Pictures to classes: podere classify, beside a plain computation of the same network."""

import csv
import hashlib
import json
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import tarfile
import time

import numpy
import pytest
from conftest import needed, wait_until

onnx = needed("onnx")
needed("onnx.numpy_helper")
needed("PIL")
Image = __import__("PIL.Image").Image

SIDE = 16
N_CLASSES = 4
LABELS = ["tips", "wires, long", "powder", "films"]


def weights():
    """Of a small network: a convolution, the mean of each channel, and a product."""
    random_numbers = numpy.random.default_rng(3)
    return {"kernel": random_numbers.normal(size=(6, 3, 3, 3)).astype(numpy.float32),
            "kernel_bias": random_numbers.normal(size=6).astype(numpy.float32),
            "dense": random_numbers.normal(size=(6, N_CLASSES)).astype(numpy.float32),
            "dense_bias": random_numbers.normal(size=N_CLASSES).astype(numpy.float32)}


def write_network(path, batch="N", side=SIDE, ends_in_softmax=False, operator="Relu"):
    node, info = onnx.helper.make_node, onnx.helper.make_tensor_value_info
    nodes = [node("Conv", ["picture", "kernel", "kernel_bias"], ["a"], kernel_shape=[3, 3], pads=[1, 1, 1, 1]),
             node(operator, ["a"], ["b"]),
             node("GlobalAveragePool", ["b"], ["c"]),
             node("Flatten", ["c"], ["d"]),
             node("Gemm", ["d", "dense", "dense_bias"], ["scores"])]
    output = "scores"
    if ends_in_softmax:
        nodes.append(node("Softmax", ["scores"], ["probabilities"], axis=1))
        output = "probabilities"
    graph = onnx.helper.make_graph(
        nodes, "small", [info("picture", onnx.TensorProto.FLOAT, [batch, 3, side, side])],
        [info(output, onnx.TensorProto.FLOAT, [batch, N_CLASSES])],
        [onnx.numpy_helper.from_array(value, name) for name, value in weights().items()])
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 13)])
    model.ir_version = 8
    onnx.save(model, str(path))


def expected(picture):
    """Probabilities of the classes of a Pillow picture, each value of it divided by 255."""
    known = weights()
    small = picture.convert("RGB").resize((SIDE, SIDE), Image.BILINEAR)
    values = numpy.pad(numpy.asarray(small, dtype=numpy.float64) / 255, ((1, 1), (1, 1), (0, 0)))
    patches = numpy.stack([values[i:i + SIDE, j:j + SIDE] for i in range(3) for j in range(3)], axis=2)
    kernel = known["kernel"].transpose(2, 3, 1, 0).reshape(9 * 3, 6)
    features = numpy.maximum(patches.reshape(SIDE, SIDE, 27) @ kernel + known["kernel_bias"], 0).mean(axis=(0, 1))
    scores = features @ known["dense"] + known["dense_bias"]
    powers = numpy.exp(scores - scores.max())
    return powers / powers.sum()


def make_pictures(folder, n, seed=0):
    """Pictures of several kinds and sizes. Returns them by name."""
    random_numbers = numpy.random.default_rng(seed)
    pictures = {}
    for i in range(n):
        height, width = random_numbers.integers(5, 60, size=2)
        values = random_numbers.integers(0, 256, size=(height, width, 3), dtype=numpy.uint8)
        picture = Image.fromarray(values)
        name = f"{'abc'[i % 3]}/{i:05}.{'tif' if i % 2 else 'png'}"
        if i % 5 == 0:
            picture = picture.convert("L")
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        picture.save(folder / name)
        pictures[name] = picture
    return pictures


@pytest.fixture
def network(podere):
    write_network(podere.folder / "net.onnx")
    (podere.folder / "names.txt").write_text("\n".join(LABELS) + "\n")
    return ["--model", "net.onnx", "--preprocess", "unit"]


def rows(podere, name="labels.csv"):
    with open(podere.folder / name, newline="") as lines:
        return list(csv.DictReader(lines))


def test_classes_are_those_of_a_plain_computation(podere, network):
    pictures = make_pictures(podere.folder / "pictures", 30)
    facts = json.loads(podere.done("classify", "pictures", *network, "--labels", "names.txt", "--top", 4, "-o",
                                   "labels.csv", "--json").stdout)
    assert facts["pictures"] == facts["classified"] == 30
    assert facts["faults"] == {}
    assert facts["network"]["scores"] == "softmax of the output"
    read = rows(podere)
    assert [row["picture"] for row in read] == sorted(pictures)
    for row in read:
        probabilities = expected(pictures[row["picture"]])
        order = numpy.argsort(-probabilities)
        found = {row["label" + ("" if k == 1 else f"_{k}")]: float(row["score" + ("" if k == 1 else f"_{k}")])
                 for k in range(1, 5)}
        assert list(found) == [LABELS[k] for k in order]
        assert list(found.values()) == pytest.approx(list(probabilities[order]), abs=1e-5)
        assert (int(row["width"]), int(row["height"])) == pictures[row["picture"]].size


def test_where_the_time_went_is_printed(podere, network):
    make_pictures(podere.folder / "pictures", 30)
    facts = json.loads(podere.done("classify", "pictures", *network, "-o", "labels.csv", "--json", "--metrics").stdout)
    assert list(facts["seconds_of"]) == ["read", "decode", "resize", "network", "write"]
    assert all(seconds > 0 for seconds in facts["seconds_of"].values())
    phases = {phase["phase"]: phase for phase in facts["metrics"]["phases"]}
    assert phases["classify"]["decode_seconds"] > 0
    text = podere.done("classify", "pictures", *network, "-o", "labels.csv").stdout
    shares = re.search(r"of the time +read (\d+) %, decode (\d+) %, resize (\d+) %, network (\d+) %, write (\d+) %\n", text)
    assert sum(int(share) for share in shares.groups()) == pytest.approx(100, abs=3)


def test_a_network_that_ends_in_softmax_gives_the_same(podere, network):
    make_pictures(podere.folder / "pictures", 5)
    write_network(podere.folder / "soft.onnx", ends_in_softmax=True)
    podere.done("classify", "pictures", *network, "--top", 2, "-o", "labels.csv")
    text = podere.done("classify", "pictures", "--model", "soft.onnx", "--preprocess", "unit", "--top", 2, "-o",
                       "soft.csv").stdout
    assert "output, which is a softmax" in text
    for plain, soft in zip(rows(podere), rows(podere, "soft.csv")):
        assert plain["label"] == soft["label"]
        assert float(plain["score"]) == pytest.approx(float(soft["score"]), abs=1e-6)


def test_the_bytes_are_the_same_on_any_number_of_executors_and_threads(podere, network):
    make_pictures(podere.folder / "pictures", 40)
    (podere.folder / "pictures/a/text.tif").write_text("no picture")
    written = set()
    for executors, cores in [(1, 1), (1, 3), (2, 1), (3, 2), (5, 1)]:
        podere.done("classify", "pictures", *network, "--top", 3, "-o", "labels.csv", "--executors", executors, "--cores",
                    cores)
        written.add((podere.folder / "labels.csv").read_bytes())
    assert len(written) == 1
    assert not list(podere.folder.glob("*.parts"))


def test_hdf5_has_what_csv_has_and_the_same_bytes_on_any_number_of_executors(podere, network):
    h5py = needed("h5py")
    make_pictures(podere.folder / "pictures", 25)
    (podere.folder / "pictures/a/text.tif").write_text("no picture")
    command = ["classify", "pictures", *network, "--labels", "names.txt", "--top", 3]
    podere.done(*command, "-o", "labels.csv")
    written = set()
    for executors in [1, 2, 3]:
        text = podere.done(*command, "-o", "labels.h5", "--executors", executors, "--cores", 1).stdout
        assert "labels.h5 (hdf5)" in text
        written.add((podere.folder / "labels.h5").read_bytes())
    assert len(written) == 1
    with h5py.File(podere.folder / "labels.h5") as file:
        assert file.attrs["model_sha256"] == hashlib.sha256((podere.folder / "net.onnx").read_bytes()).hexdigest()
        assert json.loads(file.attrs["preprocessing"])["divisor"] == 255
        classes = list(file["classes"].asstr())
        assert classes == LABELS
        assert file["labels"].shape == file["scores"].shape == (26, 3)
        read = rows(podere)
        assert list(file["files"].asstr()) == [row["picture"] for row in read]
        assert list(file["errors"].asstr()) == [row["error"] for row in read]
        assert [str(width) if width else "" for width in file["metadata/width"]] == [row["width"] for row in read]
        for row, labels, scores in zip(read, file["labels"], file["scores"]):
            if row["error"]:
                assert list(labels) == [-1, -1, -1]
                continue
            assert [classes[label] for label in labels] == [row["label"], row["label_2"], row["label_3"]]
            assert [str(score) for score in scores] == [row["score"], row["score_2"], row["score_3"]]
    described = json.loads(podere.done("describe", "labels.h5", "--key", "scores", "--json").stdout)
    assert described["rows"] == 26


def test_a_picture_that_cannot_be_used_is_named_and_costs_no_other(podere, network):
    make_pictures(podere.folder / "pictures", 6)
    folder = podere.folder / "pictures/bad"
    folder.mkdir()
    (folder / "empty.tif").write_bytes(b"")
    (folder / "text.png").write_text("no picture")
    whole = (podere.folder / "pictures/a/00000.png").read_bytes()
    (folder / "cut.png").write_bytes(whole[:len(whole) // 2])
    result = podere.done("classify", "pictures", *network, "--top", 1, "-o", "labels.csv", "--executors", 2)
    faults = {row["picture"]: row["error"] for row in rows(podere) if row["error"]}
    assert sorted(faults) == ["bad/cut.png", "bad/empty.tif", "bad/text.png"]
    for name, message in faults.items():
        assert message.startswith(f"pictures/{name}: ")
    assert "not: empty" in result.stdout
    strict = podere.run("classify", "pictures", *network, "--strict", "-o", "strict.csv")
    assert strict.returncode == 2
    assert "pictures/bad/" in strict.stderr
    assert not (podere.folder / "strict.csv").exists()


def kill_an_executor(podere):
    """One of those that run, if there are any."""
    found = []
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if podere.mark.encode() in (process / "environ").read_bytes():
                if b"\0executor\0" in (process / "cmdline").read_bytes():
                    found.append(int(process.name))
        except OSError:
            continue
    if found:
        os.kill(random.choice(found), signal.SIGKILL)
    return bool(found)


def test_lost_executors_cost_no_picture(podere, network):
    make_pictures(podere.folder / "pictures", 1500)
    command = ["classify", "pictures", *network, "--top", 2, "--executors", 2, "--cores", 1]
    podere.done(*command, "-o", "quiet.csv")
    process = podere.start(*command, "-o", "labels.csv")
    n_killed = 0
    while process.poll() is None and n_killed < 3:
        if list(podere.folder.glob("labels.csv.parts/*.part")) and kill_an_executor(podere):
            n_killed += 1
            time.sleep(0.5)
        time.sleep(0.01)
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors
    assert n_killed > 0
    assert (podere.folder / "labels.csv").read_bytes() == (podere.folder / "quiet.csv").read_bytes()


def test_a_run_that_was_ended_is_resumed(podere, network):
    make_pictures(podere.folder / "pictures", 1500)
    command = ["classify", "pictures", *network, "--top", 2, "-o", "labels.csv"]
    podere.done(*command)
    whole = (podere.folder / "labels.csv").read_bytes()
    (podere.folder / "labels.csv").unlink()
    process = podere.start(*command)
    while not any(part.stat().st_size > 5000 for part in podere.folder.glob("labels.csv.parts/*.part")):
        assert process.poll() is None
        time.sleep(0.005)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130, errors
    assert "podere: interrupted; labels.csv.parts has what was done, the same command with --resume continues" in errors
    assert not (podere.folder / "labels.csv").exists()

    assert "--resume continues it" in podere.refused(*command)
    assert "other settings (top)" in podere.refused("classify", "pictures", *network, "--top", 3, "-o", "labels.csv", "--resume")
    facts = json.loads(podere.done(*command, "--resume", "--json").stdout)
    assert 0 < facts["earlier"] < 1500
    assert (podere.folder / "labels.csv").read_bytes() == whole
    assert "there is no" in podere.refused(*command, "--resume")


# What a damaged library would do: pictures of some widths end or hold up who decodes them.
BAD_DECODER = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <png.h>
#include <signal.h>
void png_read_info(png_structp png, png_infop info) {
  ((void (*)(png_structp, png_infop))dlsym(RTLD_NEXT, "png_read_info"))(png, info);
  if (png_get_image_width(png, info) == 71) raise(SIGSEGV);
  for (volatile int forever = png_get_image_width(png, info) == 73; forever;) continue;
}
"""


@pytest.fixture(scope="session")
def bad_decoder(tmp_path_factory):
    """The environment of a program that has it."""
    folder = tmp_path_factory.mktemp("decoder")
    (folder / "bad.c").write_text(BAD_DECODER)
    library = folder / "bad.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", str(library), str(folder / "bad.c"), "-ldl", "-lpng"], check=True)
    return {"LD_PRELOAD": str(library)}


def save_wide(folder, *widths):
    for i, width in enumerate(widths):
        Image.fromarray(numpy.full((4, width, 3), 90, dtype=numpy.uint8)).save(folder / f"w{i}_{width}.png")


@pytest.mark.parametrize("executors, cores", [(1, 1), (1, 2), (2, 1), (4, 1)])
def test_pictures_that_end_their_decoder_are_left_out_and_no_other(podere, network, bad_decoder, executors, cores):
    pictures = make_pictures(podere.folder / "pictures", 60)
    save_wide(podere.folder / "pictures/a", 71, 71, 72)  # two side by side
    save_wide(podere.folder / "pictures/b", 71)
    result = podere.done("classify", "pictures", *network, "-o", "labels.csv", "--executors", executors, "--cores", cores,
                         environment=bad_decoder)
    faults = {row["picture"]: row["error"] for row in rows(podere) if row["error"]}
    assert sorted(faults) == ["a/w0_71.png", "a/w1_71.png", "b/w0_71.png"]
    assert "pictures/a/w0_71.png: the process that decoded it ended by signal 11" in faults["a/w0_71.png"]
    assert re.search(r"not: ends its decoder +3\b", result.stdout)
    assert len(rows(podere)) == len(pictures) + 4
    assert "decoded in processes of their own" in result.stderr


@pytest.mark.parametrize("executors", [1, 2])
def test_pictures_whose_decoder_does_not_end_are_left_out(podere, network, bad_decoder, executors):
    make_pictures(podere.folder / "pictures", 20)
    save_wide(podere.folder / "pictures/a", 73, 72)
    result = podere.done("classify", "pictures", *network, "-o", "labels.csv", "--executors", executors,
                         "--decode-seconds", 2, environment=bad_decoder)
    faults = {row["picture"]: row["error"] for row in rows(podere) if row["error"]}
    assert list(faults) == ["a/w0_73.png"]
    assert "takes more than 2 s to decode" in faults["a/w0_73.png"]
    assert re.search(r"not: too slow +1\b", result.stdout)


# Where it is asked what a microscope wrote into a picture 71 pixels wide: which decoding it does not ask.
BAD_METADATA = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
const void* TIFFFindField(void* tiff, unsigned tag, int type) {
  unsigned width = 0;
  if (tag == 34118) ((int (*)(void*, unsigned, ...))dlsym(RTLD_NEXT, "TIFFGetField"))(tiff, 256, &width);
  if (width == 71) raise(SIGSEGV);
  return ((const void* (*)(void*, unsigned, int))dlsym(RTLD_NEXT, "TIFFFindField"))(tiff, tag, type);
}
"""


def test_metadata_that_end_their_reader_cost_their_picture_and_no_other(podere, network, tmp_path):
    pictures = make_pictures(podere.folder / "pictures", 10)
    for i, width in enumerate((70, 71, 72)):
        Image.fromarray(numpy.full((4, width, 3), 90, dtype=numpy.uint8)).save(podere.folder / f"pictures/{i}.tif")
    (tmp_path / "bad.c").write_text(BAD_METADATA)
    subprocess.run(["cc", "-shared", "-fPIC", "-o", str(tmp_path / "bad.so"), str(tmp_path / "bad.c"), "-ldl"], check=True)
    result = podere.done("classify", "pictures", *network, "-o", "labels.csv", "--executors", 2, "--cores", 1,
                         environment={"LD_PRELOAD": str(tmp_path / "bad.so")})
    faults = {row["picture"]: row["error"] for row in rows(podere) if row["error"]}
    assert list(faults) == ["1.tif"] and "the process that decoded it ended by signal 11" in faults["1.tif"]
    assert re.search(r"not: ends its decoder +1\b", result.stdout)
    assert len(rows(podere)) == len(pictures) + 3


def test_the_environment_of_bad_decoders_changes_nothing_else(podere, network, bad_decoder):
    make_pictures(podere.folder / "pictures", 20)
    podere.done("classify", "pictures", *network, "-o", "labels.csv")
    podere.done("classify", "pictures", *network, "-o", "again.csv", environment=bad_decoder)
    assert (podere.folder / "labels.csv").read_bytes() == (podere.folder / "again.csv").read_bytes()


def test_runs_that_end_often_leave_no_picture_out(podere, network):
    make_pictures(podere.folder / "pictures", 8)
    (podere.folder / "pictures/zz.tif").write_bytes(b"")
    command = ["classify", "pictures", *network, "-o", "labels.csv", "--executors", 2]
    podere.done(*command)
    whole = (podere.folder / "labels.csv").read_bytes()
    for i in range(4):
        again = podere.run(*command, "--strict", *(["--resume"] if i else []))
        assert again.returncode == 2
        assert "zz.tif" in again.stderr
    podere.done(*command, "--resume")
    assert (podere.folder / "labels.csv").read_bytes() == whole


def test_two_commands_do_not_share_a_folder(podere, network, bad_decoder):
    make_pictures(podere.folder / "pictures", 10)
    save_wide(podere.folder / "pictures/a", 73)
    command = ["classify", "pictures", *network, "-o", "labels.csv"]
    process = podere.start(*command, environment=bad_decoder)  # is not done soon
    wait_until(lambda: list(podere.folder.glob("labels.csv.parts/*.part")))
    second = podere.run(*command, "--resume")
    assert second.returncode == 2
    assert "another command is at work on it" in second.stderr
    process.kill()
    process.communicate(timeout=60)
    podere.done(*command, "--resume")
    assert len(rows(podere)) == 11


def test_strict_meets_the_faults_of_earlier_runs(podere, network, bad_decoder):
    make_pictures(podere.folder / "pictures", 3)
    (podere.folder / "pictures/a/0.tif").write_bytes(b"")
    save_wide(podere.folder / "pictures/b", 73)
    command = ["classify", "pictures", *network, "-o", "labels.csv", "--cores", 1]
    process = podere.start(*command, environment=bad_decoder)
    wait_until(lambda: any(b"a/0.tif" in part.read_bytes() for part in podere.folder.glob("labels.csv.parts/*.part")))
    process.kill()
    process.communicate(timeout=60)
    result = podere.run(*command, "--strict", "--resume")
    assert result.returncode == 2
    assert "pictures/a/0.tif" in result.stderr


def test_strict_meets_pictures_that_ended_their_decoder_before(podere, network, bad_decoder):
    make_pictures(podere.folder / "pictures", 3)
    save_wide(podere.folder / "pictures/b", 71, 73)
    command = ["classify", "pictures", *network, "-o", "labels.csv", "--cores", 1]
    process = podere.start(*command, environment=bad_decoder)
    wait_until(lambda: any(b"w0_71.png: the process" in part.read_bytes()
                           for part in podere.folder.glob("labels.csv.parts/*.part")))
    process.kill()
    process.communicate(timeout=60)
    result = podere.run(*command, "--strict", "--resume", environment=bad_decoder)
    assert result.returncode == 2, result.stderr
    assert "pictures/b/w0_71.png: the process that decoded it ended by signal 11" in result.stderr


def test_a_folder_that_is_gone_is_no_folder_of_unreadable_pictures(podere, network):
    make_pictures(podere.folder / "pictures", 10)
    (podere.folder / "pictures/zz.tif").write_bytes(b"")
    command = ["classify", "pictures", *network, "-o", "labels.csv"]
    assert podere.run(*command, "--strict").returncode == 2
    (podere.folder / "pictures").rename(podere.folder / "elsewhere")
    make_pictures(podere.folder / "pictures", 1)
    (podere.folder / "pictures/a/00000.png").rename(podere.folder / "pictures/other.png")
    result = podere.run(*command, "--resume")
    assert result.returncode == 2
    assert "all executors, and runs that continue, need the same files" in result.stderr
    shutil.rmtree(podere.folder / "pictures")
    (podere.folder / "elsewhere").rename(podere.folder / "pictures")
    podere.done(*command, "--resume")
    assert len(rows(podere)) == 11


def test_a_folder_of_a_run_that_was_changed_is_refused(podere, network, bad_decoder):
    make_pictures(podere.folder / "pictures", 10)
    (podere.folder / "pictures/zz.tif").write_bytes(b"")
    command = ["classify", "pictures", *network, "-o", "labels.csv"]
    assert podere.run(*command, "--strict").returncode == 2
    folder = podere.folder / "labels.csv.parts"
    whole = {name: (folder / name).read_bytes() for name in ["run.json", "pictures.list"]}

    def refused():
        result = podere.run(*command, "--resume")
        assert result.returncode == 2
        return result.stderr

    for name, content in whole.items():
        (folder / name).unlink()
        assert f"no file {name}" in refused()
        (folder / name).write_bytes(content)
    for damaged in [whole["pictures.list"][:-1], whole["pictures.list"].replace(b"00001", b"00002", 1), b""]:
        (folder / "pictures.list").write_bytes(damaged)
        assert "pictures.list: is damaged" in refused()
    (folder / "pictures.list").write_bytes(whole["pictures.list"])
    os.mkfifo(folder / "9.0.part")  # no part of a run
    result = podere.done(*command, "--resume")
    assert "something else is in it" in result.stderr
    assert len(rows(podere)) == 11


@pytest.mark.parametrize("pictures, model, output, words", [
    ("images:pictures?size=8", "net.onnx", "l.csv", "images: is for tables; classify takes the pictures themselves: pictures"),
    ("pictures", "net.onnx", "l.xlsx", "-o l.xlsx: classify writes CSV, which spreadsheets read, or HDF5: name it l.csv or l.h5"),
    ("", "net.onnx", "l.csv", "no pictures are named: name a folder"),
    ("pictures", "none.onnx", "l.csv", "none.onnx: cannot be read: No such file or directory"),
    ("pictures", "head.json", "l.csv", "'head.json' is no ONNX file, or a damaged one; networks come here as ONNX files"),
])
def test_what_is_easily_mistaken_is_refused_with_what_to_do(podere, network, pictures, model, output, words):
    make_pictures(podere.folder / "pictures", 1)
    (podere.folder / "head.json").write_text('{"podere": 1}')
    assert words in podere.refused("classify", pictures, "--model", model, "--preprocess", "unit", "-o", output)


def test_names_of_classes_are_text_and_lists_are_lines(podere, network):
    make_pictures(podere.folder / "pictures", 2)

    def refused(pictures, labels):
        (podere.folder / "l.txt").write_bytes(labels)
        return podere.refused("classify", pictures, *network, "--labels", "l.txt", "-o", "labels.csv")

    assert "line 2 is empty" in refused("pictures", b"a\n\nb\nc\n")
    assert "line 1 is no UTF-8 text" in refused("pictures", "a\nb\nc\nd\n".encode("utf-16"))
    (podere.folder / "p.txt").write_bytes("pictures/a/00000.png\n".encode("utf-16"))
    assert "zero bytes, perhaps as UTF-16" in refused("p.txt", b"a\nb\nc\nd\n")
    (podere.folder / "p.txt").write_bytes(b"\xef\xbb\xbfpictures/a/00000.png\r\n")
    (podere.folder / "l.txt").write_bytes(b"\xef\xbb\xbfa\r\nb\r\nc\r\nd\r\n")
    podere.done("classify", "p.txt", *network, "--labels", "l.txt", "--top", 4, "-o", "labels.csv")
    [row] = rows(podere)
    assert row["picture"] == "pictures/a/00000.png"
    assert {row["label"], row["label_2"], row["label_3"], row["label_4"]} == set("abcd")


def test_names_of_several_classes_are_printed_with_their_lines(podere, network):
    make_pictures(podere.folder / "pictures", 2)
    (podere.folder / "l.txt").write_text("crane\nheron\ncrane\nmaillot\n")
    result = podere.done("classify", "pictures", *network, "--labels", "l.txt", "-o", "labels.csv")
    assert ("l.txt: 'crane' is in the lines 1 and 3: in CSV and contact sheets these classes look the same, HDF5 has their numbers"
            in result.stderr)
    assert {row["label"] for row in rows(podere)} <= {"crane", "heron", "maillot"}
    (podere.folder / "l.txt").write_text("crane\nheron\ncrane, a machine\nmaillot\n")
    assert "lines" not in podere.done("classify", "pictures", *network, "--labels", "l.txt", "-o", "labels.csv").stderr


def test_lists_may_lack_pictures_but_not_all(podere, network):
    make_pictures(podere.folder / "pictures", 1)
    lost = [f"lost{i}.png" for i in range(150)]
    (podere.folder / "list.txt").write_text("\n".join([*lost, "pictures/a/00000.png"]))
    podere.done("classify", "list.txt", *network, "-o", "labels.H5")
    with needed("h5py").File(podere.folder / "labels.H5") as file:
        assert [label[0] >= 0 for label in file["labels"]] == [False] * 150 + [True]
    (podere.folder / "list.txt").write_text("\n".join(lost))
    line = podere.refused("classify", "list.txt", *network, "-o", "labels.csv")
    assert "list.txt: none of its 150 pictures is there, such as lost0.png" in line and "relative to its folder" in line


@pytest.mark.parametrize("length", [240, 246, 251, 255, 260])
def test_names_of_outputs_that_are_too_long_are_refused(podere, network, length):
    make_pictures(podere.folder / "pictures", 1)
    assert "File name too long" in podere.refused("classify", "pictures", *network, "-o", "n" * (length - 4) + ".csv")


def test_what_else_is_in_the_folder_stays(podere, network):
    make_pictures(podere.folder / "pictures", 3)
    (podere.folder / "pictures/zz.tif").write_bytes(b"")
    command = ["classify", "pictures", *network, "-o", "labels.csv"]
    assert podere.run(*command, "--strict").returncode == 2
    (podere.folder / "labels.csv.parts/notes.txt").write_text("mine")
    assert "something else is in it" in podere.done(*command, "--resume").stderr
    assert [file.name for file in podere.folder.glob("labels.csv.parts/*")] == ["notes.txt"]


def test_what_is_white_is_chosen_for_pictures_that_use_few_of_their_bits(podere, network):
    for folder in ("eight", "twelve"):
        (podere.folder / folder).mkdir()
    values = numpy.random.default_rng(5).integers(0, 256, size=(4, 20, 30), dtype=numpy.uint8)
    for i, of_one in enumerate(values):
        ending = ("png", "tif")[i % 2]
        Image.fromarray(of_one).save(podere.folder / f"eight/{i}.{ending}")
        Image.fromarray(of_one.astype(numpy.uint16) * 16).save(podere.folder / f"twelve/{i}.{ending}")
    podere.done("classify", "eight", "--model", "net.onnx", "--preprocess", "unit", "-o", "labels.csv")
    options = ("--model", "net.onnx", "--preprocess", "unit", "-o", "twelve.csv", "--contact-sheet", "sheet.html")
    run = podere.run("classify", "twelve", *options)
    assert run.returncode == 2 and re.search(r"not: nearly black +4\n", run.stdout)
    assert "16 bits and uses 12 of them" in rows(podere, "twelve.csv")[0]["error"]
    podere.done("classify", "twelve", *options, "--bits", "12")
    assert (podere.folder / "twelve.csv").read_text() == (podere.folder / "labels.csv").read_text()
    assert "data:image" in (podere.folder / "sheet.html").read_text()
    (podere.folder / "net.json").write_text('{"bits": 12}')
    podere.done("classify", "twelve", "--model", "net.onnx", "-o", "beside.csv")
    assert (podere.folder / "beside.csv").read_text() == (podere.folder / "labels.csv").read_text()
    (podere.folder / "net.json").write_text('{"bits": 7}')
    assert "net.json: bits is 7, allowed are 8 to 32, or 0" in podere.refused(
        "classify", "twelve", "--model", "net.onnx", "-o", "no.csv")


def test_nothing_that_can_be_used_is_an_error(podere, network):
    (podere.folder / "pictures").mkdir()
    for i in range(3):
        (podere.folder / f"pictures/{i}.tif").write_text("no picture")
    result = podere.run("classify", "pictures", *network, "-o", "labels.csv")
    assert result.returncode == 2
    assert "none of the pictures could be used: labels.csv says why" in result.stderr
    assert len(rows(podere)) == 3


def test_scores_that_are_no_numbers_are_no_classes(podere, network):
    make_pictures(podere.folder / "pictures", 3)
    Image.fromarray(numpy.zeros((9, 9), dtype=numpy.uint8)).save(podere.folder / "pictures/black.png")
    write_network(podere.folder / "log.onnx", operator="Sqrt")  # of what is below 0 NaN
    result = podere.run("classify", "pictures", "--model", "log.onnx", "--preprocess", "unit", "-o", "labels.csv")
    assert re.search(r"not: scores are NaN +4\b", result.stdout)
    assert all("NaN" in row["error"] and not row["label"] for row in rows(podere))


def test_names_that_are_no_text_stay_apart(podere, network):
    h5py = needed("h5py")
    make_pictures(podere.folder / "pictures", 1)
    picture = (podere.folder / "pictures/a/00000.png").read_bytes()
    for name in [b"x\xfe.png", b"x\xff.png", b"x\\xff.png"]:
        with open(os.path.join(os.fsencode(podere.folder), b"pictures", name), "wb") as file:
            file.write(picture)
    for output in ["labels.csv", "labels.h5"]:
        podere.done("classify", "pictures", *network, "-o", output)
    names = ["a/00000.png", "x\\x5cxff.png", "x\\xfe.png", "x\\xff.png"]
    assert [row["picture"] for row in rows(podere)] == names
    with h5py.File(podere.folder / "labels.h5") as file:
        assert list(file["files"].asstr()) == names


def test_what_the_microscope_wrote_is_in_the_output(podere, network):
    h5py = needed("h5py")
    podere.done("generate", "sem", "--images", 4, "-o", "micrographs")
    make_pictures(podere.folder / "micrographs", 1)
    for name, dpi in {"screen.tif": 72, "printer.tif": 600, "x.tif": 50800}.items():  # the last are 0.5 um of a microscope
        Image.new("L", (9, 9)).save(podere.folder / "micrographs/a" / name, dpi=(dpi, dpi))
    for output in ["labels.csv", "labels.h5"]:
        podere.done("classify", "micrographs", *network, "-o", output)
    read = rows(podere)
    of_picture = {row["picture"]: row["pixel_size_nm"] for row in read}
    assert float(of_picture.pop("a/x.tif")) == pytest.approx(500)
    assert all(bool(size) == (not name.startswith("a/")) for name, size in of_picture.items())
    with h5py.File(podere.folder / "labels.h5") as file:
        for column in ["pixel_size_nm", "voltage_kv", "working_distance_mm", "magnification"]:
            numbers = [float(row[column] or "nan") for row in read]
            numpy.testing.assert_array_equal(file["metadata"][column], numbers)
        assert list(file["metadata/detector"].asstr()) == [row["detector"] for row in read]
        assert any(row["detector"] for row in read)


def test_pictures_may_be_kept(podere, network):
    h5py = needed("h5py")
    pictures = make_pictures(podere.folder / "pictures", 12)
    (podere.folder / "pictures/a/text.tif").write_text("no picture")
    command = ["classify", "pictures", *network]
    for kept in ["small", "original"]:
        written = set()
        for executors in [1, 3]:
            podere.done(*command, "--keep-images", kept, "-o", "labels.h5", "--executors", executors, "--cores", 1)
            written.add((podere.folder / "labels.h5").read_bytes())
        assert len(written) == 1
        with h5py.File(podere.folder / "labels.h5") as file:
            names = list(file["files"].asstr())
            if kept == "small":
                assert file["images"].shape == (13, SIDE, SIDE, 3)
                assert file["images"].chunks == (1, SIDE, SIDE, 3)
                for name, image in zip(names, file["images"]):
                    wanted = (pictures[name].convert("RGB").resize((SIDE, SIDE), Image.BILINEAR) if name in pictures
                              else numpy.zeros((SIDE, SIDE, 3)))
                    numpy.testing.assert_array_equal(image, wanted)
            else:
                for name, content in zip(names, file["images"]):
                    assert content.tobytes() == (podere.folder / "pictures" / name).read_bytes()
    assert "--keep-images needs an HDF5 file" in podere.refused(*command, "--keep-images", "small", "-o", "labels.csv")


def test_networks_that_do_not_fit_are_refused(podere, network):
    make_pictures(podere.folder / "pictures", 2)

    def refused(*options, model="net.onnx", preprocess="unit"):
        chosen = ["--preprocess", preprocess] if preprocess else []
        line = podere.refused("classify", "pictures", "--model", model, *chosen, *options, "-o", "labels.csv")
        shutil.rmtree(podere.folder / "labels.csv.parts", ignore_errors=True)
        return line

    assert "--preprocess imagenet" in refused(preprocess=None)
    assert "--top is 9, the network has 4 classes" in refused("--top", 9)
    assert "--size is 20" in refused("--size", 20)
    (podere.folder / "short.txt").write_text("one\ntwo\n")
    assert "has 2 names, one a line, and the network 4 classes" in refused("--labels", "short.txt")
    write_network(podere.folder / "any.onnx", side="side")
    assert "--size says which" in refused(model="any.onnx")
    write_network(podere.folder / "eight.onnx", batch=8)
    assert "8 pictures at a time" in refused(model="eight.onnx")
    write_network(podere.folder / "odd.onnx", operator="Sinh")
    assert "Sinh" in refused(model="odd.onnx")
    assert "1 x classes" in refused("--layer", "a")
    two = onnx.load(str(podere.folder / "net.onnx"))
    two.graph.initializer.pop(0)  # a constant that an exporter left without its value
    two.graph.input.append(onnx.helper.make_tensor_value_info("kernel", onnx.TensorProto.FLOAT, [6, 3, 3, 3]))
    onnx.save(two, str(podere.folder / "two.onnx"))
    assert "has 2 inputs (picture, kernel), a network for pictures has one" in refused(model="two.onnx")
    (podere.folder / "text.onnx").write_text("no network")
    assert "text.onnx" in refused(model="text.onnx")
    (podere.folder / "odd.json").write_text('{"fit": "twist"}')
    assert "stretch, crop, pad" in refused(preprocess="odd.json")
    (podere.folder / "short.json").write_text('{"fit": "crop", "shortest_side": 8}')
    assert "shortest_side is 8, of which 16 cannot be cut out" in refused(preprocess="short.json")
    (podere.folder / "zero.json").write_text('{"std": [0]}')
    assert "std must be numbers above 0" in refused(preprocess="zero.json")


def make_stacks(folder):
    """Pages in files of several, and of one. Returns them by their names."""
    random_numbers = numpy.random.default_rng(8)
    pages = {}
    for name, n in {"a/stack.tif": 7, "a/one.tif": 1, "b/long.tif": 20}.items():
        sizes = random_numbers.integers(5, 60, size=(n, 2))
        pictures = [Image.fromarray(random_numbers.integers(0, 256, size=(height, width, 3), dtype=numpy.uint8))
                    for height, width in sizes]
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        pictures[0].save(folder / name, save_all=True, append_images=pictures[1:])
        pages.update({f"{name}[{i}]" if n > 1 else name: picture for i, picture in enumerate(pictures)})
    return pages


def test_pages_are_pictures_where_all_are_asked_for(podere, network):
    pages = make_stacks(podere.folder / "pictures")
    text = podere.done("classify", "pictures", *network, "-o", "first.csv").stdout
    assert re.search("files of several pages +2, the first page of each counts; --pages all takes all\n", text)
    assert [row["picture"] for row in rows(podere, "first.csv")] == ["a/one.tif", "a/stack.tif", "b/long.tif"]
    outputs = set()
    for executors, cores in [(1, 1), (1, 3), (2, 1), (3, 2)]:
        text = podere.done("classify", "pictures", *network, "--pages", "all", "--top", 1, "-o", "labels.csv", "--executors",
                           executors, "--cores", cores).stdout
        assert "files of several pages" not in text
        outputs.add((podere.folder / "labels.csv").read_bytes())
    assert len(outputs) == 1
    read = rows(podere)
    assert [row["picture"] for row in read] == list(dict(sorted(pages.items(), key=lambda page: (
        page[0].partition("[")[0], int(page[0].partition("[")[2].rstrip("]") or 0)))))
    for row in read:
        probabilities = expected(pages[row["picture"]])
        assert int(row["label"]) == probabilities.argmax()
        assert float(row["score"]) == pytest.approx(probabilities.max(), abs=1e-5)
        assert (int(row["width"]), int(row["height"])) == pages[row["picture"]].size
    assert "whole files, and with --pages all" in podere.refused(
        "classify", "pictures", *network, "--pages", "all", "--keep-images", "original", "-o", "x.h5")


def test_a_run_over_pages_is_resumed(podere, network):
    make_stacks(podere.folder / "pictures")
    (podere.folder / "pictures/zz.tif").write_bytes(b"")
    command = ["classify", "pictures", *network, "--pages", "all", "-o", "labels.csv"]
    podere.done(*command)
    whole = (podere.folder / "labels.csv").read_bytes()
    for i in range(2):
        again = podere.run(*command, "--strict", *(["--resume"] if i else []))
        assert again.returncode == 2
        assert "zz.tif" in again.stderr
    assert "is of a run with other settings (pages)" in podere.refused(
        "classify", "pictures", *network, "-o", "labels.csv", "--resume")
    assert json.loads(podere.done(*command, "--resume", "--json").stdout)["earlier"] > 20
    assert (podere.folder / "labels.csv").read_bytes() == whole


def test_files_that_are_left_out_are_printed(podere, network):
    make_pictures(podere.folder / "pictures", 3)
    (podere.folder / "pictures/notes.dm3").write_text("of another program")
    text = podere.done("classify", "pictures", *network, "-o", "labels.csv").stdout
    assert re.search(r"other files, left out +1\b", text)


@pytest.mark.parametrize("mode", ["w", "w:gz"])
def test_pictures_of_an_archive_whose_names_come_again_are_counted(podere, network, mode):
    make_pictures(podere.folder / "pictures", 3)
    files = sorted(path for path in (podere.folder / "pictures").rglob("*") if path.is_file())
    archive = "p.tar" if mode == "w" else "p.tar.gz"
    with tarfile.open(podere.folder / archive, mode) as tar:
        for path, name in ((files[0], "a.png"), (files[1], "b.png"), (files[0], "b.png"), (files[2], "a.png"), (files[1], "a.png")):
            tar.add(path, name)
    text = podere.done("classify", archive, *network, "-o", "labels.csv").stdout
    assert re.search(r"names that come again +3 left out, the last counts\n", text)
    of_archive = {row["picture"]: row["score"] for row in rows(podere)}
    podere.done("classify", "pictures", *network, "-o", "labels.csv")
    scores = [row["score"] for row in rows(podere)]
    assert of_archive == {"b.png": scores[0], "a.png": scores[1]}
    text = podere.done("classify", "pictures", *network, "-o", "labels.csv", "--json").stdout
    assert json.loads(text)["replaced"] == 0


def test_an_output_does_not_replace_an_input(podere, network):
    make_pictures(podere.folder / "pictures", 2)
    (podere.folder / "list.txt").write_text("pictures/a/00000.png\n")
    (podere.folder / "net.json").write_text("{}")
    for pictures, options in [("list.txt", ["-o", "list.txt"]), ("pictures/a/00000.png", ["-o", "pictures/a/00000.png"]),
                              ("pictures", ["-o", "net.json"]), ("pictures", ["-o", "net.onnx"]),
                              ("list.txt", ["-o", "pictures/a/00000.png"])]:
        assert "would be lost" in podere.refused("classify", pictures, *network, *options)
    assert "--contact-sheet ./l.csv.parts: is the folder that keeps what is done until all is" in podere.refused(
        "classify", "pictures", *network, "-o", "l.csv", "--contact-sheet", "./l.csv.parts")
    assert not list(podere.folder.glob("l.csv*"))


def test_the_file_beside_the_model_says_how_values_come_to_it(podere, network):
    make_pictures(podere.folder / "pictures", 4)
    podere.done("classify", "pictures", *network, "--top", 2, "-o", "named.csv")
    (podere.folder / "net.json").write_text(json.dumps({"mean": [0], "std": [1]}))
    text = podere.done("classify", "pictures", "--model", "net.onnx", "--top", 2, "-o", "labels.csv").stdout
    assert "net.json" in text
    assert (podere.folder / "labels.csv").read_bytes() == (podere.folder / "named.csv").read_bytes()
    (podere.folder / "net.json").write_text(json.dumps({"mean": [0.5], "std": [0.5]}))
    podere.done("classify", "pictures", "--model", "net.onnx", "--top", 2, "-o", "labels.csv")
    assert (podere.folder / "labels.csv").read_bytes() != (podere.folder / "named.csv").read_bytes()
