"""--tensorboard: what is in the files, byte by byte, read without any of the libraries that wrote them. That TensorBoard
itself shows it is for tests/tensorboard."""

import collections
import json
import os
import signal
import struct

import numpy
import pytest

from conftest import wait_until
from test_bad_input import limited_files
from test_loss import sha256
from test_session import session  # noqa: F401, a fixture

NN = ["train", "nn", "collider:20000", "--layers", "30", "--batch-size", "500", "-o", "network.json"]

TABLE = []
for byte in range(256):
    for _ in range(8):
        byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)
    TABLE.append(byte)


def masked_crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ TABLE[(crc ^ byte) & 255]
    crc ^= 0xFFFFFFFF
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def records(data):
    while data:
        (length, crc_of_length), data = struct.unpack("<QI", data[:12]), data[12:]
        event, (crc,), data = data[:length], struct.unpack("<I", data[length:length + 4]), data[length + 4:]
        assert crc_of_length == masked_crc32c(struct.pack("<Q", length)) and crc == masked_crc32c(event)
        yield event


def varint(data, place):
    value = shift = 0
    while True:
        byte = data[place]
        place += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, place


def fields(data):
    """Values of a protocol buffer by the numbers of their fields."""
    found = collections.defaultdict(list)
    place = 0
    while place < len(data):
        key, place = varint(data, place)
        kind = key & 7
        if kind == 0:
            value, place = varint(data, place)
        else:
            length, place = varint(data, place) if kind == 2 else ({1: 8, 5: 4}[kind], place)
            value, place = data[place:place + length], place + length
        found[key >> 3].append(value)
    return found


class Run:
    """What the files of a folder contain."""

    def __init__(self, folder):
        self.scalars = collections.defaultdict(list)  # tag: [(step, value)]
        self.histograms = collections.defaultdict(list)  # tag: [(step, buckets)]
        self.texts, self.graph, self.starts = {}, {}, []
        self.files = sorted(folder.glob("events.out.tfevents.*"))
        for path in self.files:
            events = [fields(record) for record in records(path.read_bytes())]
            assert events[0][3] == [b"brain.Event:2"]
            for event in events[1:]:
                assert 1.7e9 < struct.unpack("<d", event[1][0])[0] < 1e11  # seconds since 1970
                self.take(event[2][0] if event[2] else 0, event)

    def take(self, step, event):
        if event[7]:
            assert fields(event[7][0])[1] == [1]
            self.starts.append(step)
        if event[4]:
            nodes = [fields(node) for node in fields(event[4][0])[1]]
            self.graph = {node[1][0].decode(): [name.decode() for name in node[3]] for node in nodes}
        for value in fields(event[5][0])[1] if event[5] else []:
            value = fields(value)
            tag = value[1][0].decode()
            if value[2]:
                self.scalars[tag].append((step, struct.unpack("<f", value[2][0])[0]))
                continue
            plugin = fields(fields(value[9][0])[1][0])[1]
            tensor = fields(value[8][0])
            if plugin == [b"text"]:
                self.texts[tag] = tensor[8][0].decode()
            else:
                assert plugin == [b"histograms"]
                self.histograms[tag].append((step, numpy.frombuffer(tensor[4][0], "<f8").reshape(-1, 3)))

    def steps(self, tag):
        return [step for step, _ in self.scalars[tag]]


def test_curves_histograms_options_and_graph_of_a_network_are_there(podere):
    facts = json.loads(podere.done(*NN, "--epochs", 3, "--schedule", "cosine", "--validation-fraction", 0.2, "--summary-steps", 8,
                                   "--tensorboard", "logs/one", "--json").stdout)
    run = Run(podere.folder / "logs/one")
    n_steps = facts["steps"]
    assert len(run.files) == 1 and run.starts == []
    assert run.steps("loss") == run.steps("learning_rate") == list(range(8, n_steps + 1, 8))
    ends = [n_steps // 3, n_steps // 3 * 2, n_steps]
    for tag in ("validation_loss", "validation_accuracy", "validation_auc"):
        assert run.steps(tag) == ends
        assert run.scalars[tag][-1][1] == pytest.approx(facts[tag], rel=1e-6)
    rates = [rate for _, rate in run.scalars["learning_rate"]]
    assert rates == sorted(rates, reverse=True) and 0 < rates[-1] < rates[0] < 0.001
    assert run.scalars["loss"][0][1] > run.scalars["loss"][-1][1]
    widths = {"layer_1/weights": 28 * 30, "layer_1/biases": 30, "layer_2/weights": 30, "layer_2/biases": 1}
    assert {tag: buckets[:, 2].sum() for tag, [*_, (_, buckets)] in run.histograms.items()} == widths
    assert all([step for step, _ in rows] == ends for rows in run.histograms.values())
    assert "| batch_size | 500 |" in run.texts["options"] and "| schedule | cosine |" in run.texts["options"]
    assert run.graph["layer_2/sum"] == ["layer_2/product", "layer_2/biases"]
    assert all(name in run.graph for inputs in run.graph.values() for name in inputs)


def test_histograms_are_of_the_weights_of_the_model(podere):
    import base64

    podere.done(*NN, "--epochs", 1, "--tensorboard", "logs")
    model = json.loads((podere.folder / "network.json").read_text())["model"]
    layer = numpy.frombuffer(base64.b64decode(model["weights"]), "<f4")[:29 * 30].reshape(30, 29)
    for tag, values in (("layer_1/weights", layer[:, :28]), ("layer_1/biases", layer[:, 28])):
        [(_, buckets)] = Run(podere.folder / "logs").histograms[tag]
        assert buckets[0, 0] == values.min() and buckets[-1, 1] == values.max()
        counts, _ = numpy.histogram(values, bins=[*buckets[:, 0], buckets[-1, 1]])
        assert abs(counts - buckets[:, 2]).sum() <= 2  # a value at an edge


def test_trees_and_the_perceptron_have_curves_too(podere):
    podere.done("train", "gbt", "collider:5000", "--trees", 7, "--validation-fraction", 0.2, "--tensorboard", "trees", "-o", "t.json")
    trees = Run(podere.folder / "trees")
    for tag in ("loss", "validation_loss", "validation_auc"):
        assert trees.steps(tag) == list(range(1, 8))
    assert "| depth | 6 |" in trees.texts["options"]
    podere.done("train", "gbt", "collider:5000", "--trees", 7, "--summary-steps", 3, "--tensorboard", "few", "-o", "t.json")
    assert Run(podere.folder / "few").steps("loss") == [3, 6]
    podere.done("train", "mlp", "collider:5000", "--iterations", 5, "--tensorboard", "perceptron", "-o", "p.json")
    perceptron = Run(podere.folder / "perceptron")
    assert perceptron.steps("loss") == [1, 2, 3, 4, 5] and "learning_rate" not in perceptron.scalars


def test_the_network_is_the_same_and_one_executor_writes(podere):
    podere.done(*NN, "--epochs", 1)
    alone = sha256(podere, "network.json")
    podere.done(*NN, "--epochs", 1, "--executors", 3, "--tensorboard", "logs")
    assert sha256(podere, "network.json") == alone
    assert len(Run(podere.folder / "logs").files) == 1


def test_a_run_that_resumes_says_where(podere):
    resumed = ["--epochs", 2, "--checkpoint", "c.json", "--summary-steps", 1, "--tensorboard", "logs"]
    podere.done(*NN, *resumed, "--max-steps", 10)
    podere.done(*NN, *resumed)
    run = Run(podere.folder / "logs")
    assert len(run.files) == 2 and run.starts == [11]
    assert run.steps("loss") == list(range(1, run.steps("loss")[-1] + 1))


def test_steps_that_a_killed_executor_lost_are_written_again(podere):
    process = podere.start("train", "nn", "collider:20000", "--layers", "100", "--batch-size", "64", "--epochs", "30", "--cores", "1",
                           "--checkpoint-every", "0.1", "--checkpoint", "c.json", "--executors", "2", "--summary-steps", 1,
                           "--tensorboard", "logs", "-o", "network.json")
    wait_until(lambda: (podere.folder / "c.json").exists(), seconds=60)
    os.kill(podere.executors(2)[1], signal.SIGKILL)
    _, stderr = process.communicate(timeout=150)
    assert process.returncode == 0, stderr
    run = Run(podere.folder / "logs")
    assert len(run.files) == 2 and len(run.starts) == 1
    steps = run.steps("loss")
    assert run.starts[0] in steps and sorted(set(steps)) == list(range(1, steps[-1] + 1))


def test_a_disk_without_room_is_reported_once_and_training_ends_well(podere):
    arguments = [*NN, "--epochs", 20]
    podere.done(*arguments)
    alone = sha256(podere, "network.json")
    result = podere.run(*arguments, "--summary-steps", 1, "--tensorboard", "logs", preexec_fn=limited_files(20_000))
    assert result.returncode == 0, result.stderr
    assert result.stderr.count("not all can be written for TensorBoard") == 1 and "training continues" in result.stderr
    assert sha256(podere, "network.json") == alone
    run = Run(podere.folder / "logs")  # whole, as far as it goes
    assert 0 < run.files[0].stat().st_size <= 20_000 and run.scalars["loss"]


def test_kept_tables_train_for_tensorboard_too(podere, session):
    session.start("s", "--executors", "2", "--cores", "1")
    session("load", "s", "collider:5000", "--as", "all")
    session.run("train", "nn", "table:all", "--session", "s", "--epochs", 2, "--tensorboard", "logs", "-o", "network.json")
    assert Run(podere.folder / "logs").scalars["loss"]


def test_folders_that_cannot_be_are_refused_and_bad_data_leave_none(podere):
    podere.write("file", "x")
    assert "file: is not a folder" in podere.refused(*NN, "--tensorboard", "file")
    assert "file: is not a folder" in podere.refused(*NN, "--tensorboard", "file/run")
    assert "/proc/run: no files can be made in /proc" in podere.refused(*NN, "--tensorboard", "/proc/run")
    assert "--tensorboard" in podere.refused(*NN, "--summary-steps", 3)
    podere.write("bad.csv", "y,a\n0,1\n,2\n")
    podere.refused("train", "nn", "bad.csv", "--tensorboard", "logs", "-o", "network.json")
