#!/usr/bin/env python3
"""Trains the network of data/micrographs.onnx: the kind of a simulated micrograph, from 96 x 96 gray pixels.

    tools/micrograph_network.py [--folder build/micrograph-network] [--podere build/release/bin/podere]

Makes pictures by `podere generate sem`, keeps them small in the folder for the next time, trains with PyTorch on two
threads (about 20 minutes on two cores, the pictures included), and writes data/micrographs.onnx, data/micrographs.json
(how pictures come to the network) and data/micrographs.txt (names of classes). Prints one JSON line: how many of 10,000
other pictures it names, by ONNX Runtime. Needs numpy, pillow, torch, onnx, onnxscript and onnxruntime; where they are
missing it makes an environment with them in the folder.
"""

import argparse
import importlib.util
import json
import math
import multiprocessing
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = {"numpy": "numpy", "PIL": "pillow", "torch": "torch", "onnx": "onnx", "onnxscript": "onnxscript",
            "onnxruntime": "onnxruntime"}
KINDS = ["biological", "devices", "fibers", "films", "nanowires", "particles", "patterned", "porous", "powder", "tips"]
SIDE = 96
BATCH = 500  # pictures of a seed
# Seeds begin here, one for each BATCH of pictures: neither those of the main job nor of tests, which are small.
TRAIN_SEED, TEST_SEED = 1_000_000, 2_000_000
MEAN, STD = 0.5, 0.25


def enter_environment(folder):
    """Runs this program again by a Python that has the packages, if this one lacks some."""
    if all(importlib.util.find_spec(module) for module in PACKAGES):
        return
    environment = folder / "environment"
    if Path(sys.prefix) == environment:
        sys.exit("micrograph_network: the environment lacks packages: remove " + str(environment))
    if not environment.exists():
        subprocess.run(["/usr/bin/python3", "-m", "venv", environment], check=True)
        subprocess.run([environment / "bin/pip", "install", "-q", *PACKAGES.values()], check=True)
    sys.exit(subprocess.run([environment / "bin/python", __file__, *sys.argv[1:]], check=False).returncode)


def small_batch(job):
    """The pictures of a seed, SIDE x SIDE, and their kinds; resized as Podere resizes them, to the bit."""
    import numpy
    from PIL import Image

    podere, seed, folder = job
    file = folder / f"{seed}-{SIDE}.npz"
    if not file.exists():
        with tempfile.TemporaryDirectory(dir=folder) as temporary:
            made = Path(temporary) / "made"
            subprocess.run([podere, "generate", "sem", "--images", str(BATCH), "--seed", str(seed), "--cores", "1",
                            "-o", made, "--json"], check=True, stdout=subprocess.DEVNULL)
            lines = (made / "LABELS.csv").read_text().split()[1:]
            names, kinds = zip(*(line.split(",") for line in lines), strict=True)
            pixels = [numpy.asarray(Image.open(made / name).convert("L").resize((SIDE, SIDE), Image.BILINEAR))
                      for name in names]
            numpy.savez(file, pixels=numpy.stack(pixels), kinds=numpy.array([KINDS.index(kind) for kind in kinds]))
    loaded = numpy.load(file)
    return loaded["pixels"], loaded["kinds"]


def small_pictures(podere, first_seed, n, folder):
    import numpy

    jobs = [(podere, first_seed + i, folder) for i in range(math.ceil(n / BATCH))]
    with multiprocessing.Pool(2) as pool:
        batches = pool.map(small_batch, jobs, chunksize=1)
    return tuple(numpy.concatenate(column)[:n] for column in zip(*batches, strict=True))


def new_network():
    import torch
    from torch import nn

    def convolution(n_in, n_out, side, stride):
        return [nn.Conv2d(n_in, n_out, side, stride, side // 2, bias=False), nn.BatchNorm2d(n_out), nn.ReLU()]

    class MicrographNetwork(nn.Module):
        """Six convolutions, whose last ones see most of the picture; their means over all places are the features."""

        def __init__(self):
            super().__init__()
            self.convolutions = nn.Sequential(
                *convolution(1, 16, 5, 2), *convolution(16, 32, 3, 2), *convolution(32, 32, 3, 1),
                *convolution(32, 48, 3, 2), *convolution(48, 64, 3, 1), *convolution(64, 96, 3, 2))
            self.head = nn.Linear(96, len(KINDS))

        def forward(self, pictures):
            return self.head(torch.flatten(nn.functional.adaptive_avg_pool2d(self.convolutions(pictures), 1), 1))

    return MicrographNetwork()


def varied(batch):
    """Pictures as they might have been taken as well: turned left to right, moved a little, another contrast and
    brightness. Legends stay where they are."""
    import torch

    n = len(batch)
    turned = torch.rand(n) < 0.5
    batch[turned] = batch[turned].flip(-1)
    room = 6
    padded = torch.nn.functional.pad(batch, (room,) * 4, mode="replicate")
    moves = torch.randint(0, 2 * room + 1, (n, 2))
    batch = torch.stack([padded[i, :, y:y + SIDE, x:x + SIDE] for i, (y, x) in enumerate(moves.tolist())])
    contrast = 1 + 0.3 * (2 * torch.rand(n, 1, 1, 1) - 1)
    brightness = 0.5 * (2 * torch.rand(n, 1, 1, 1) - 1)
    return batch * contrast + brightness


def train(pixels, kinds, n_epochs):
    import torch

    torch.manual_seed(1)
    pictures = torch.from_numpy(pixels)[:, None]
    kinds = torch.from_numpy(kinds)
    network = new_network()
    batch_size = 64
    optimizer = torch.optim.AdamW(network.parameters(), weight_decay=0.02)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 4e-3, epochs=n_epochs,
                                                   steps_per_epoch=len(pictures) // batch_size)
    for epoch in range(n_epochs):
        start = time.monotonic()
        sum_of_losses, n_right = 0.0, 0
        order = torch.randperm(len(pictures))
        for rows in order[:len(order) // batch_size * batch_size].split(batch_size):
            logits = network(varied((pictures[rows].float() / 255 - MEAN) / STD))
            loss = torch.nn.functional.cross_entropy(logits, kinds[rows], label_smoothing=0.05)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
            sum_of_losses += loss.item() * len(rows)
            n_right += (logits.argmax(1) == kinds[rows]).sum().item()
        print(f"epoch {epoch + 1} of {n_epochs}: loss {sum_of_losses / len(order):.4f}, "
              f"right {n_right / len(order):.4f}, {time.monotonic() - start:.0f} s", file=sys.stderr)
    return network.eval()


def name_tensors(graph):
    """What the parts do instead of the exporter's numbers: the input of the head is "features"."""
    names, n_of = {}, {}
    for node in graph.node:
        n_of[node.op_type] = n_of.get(node.op_type, 0) + 1
        node.name = "head" if node.op_type == "Gemm" else f"{node.op_type}{n_of[node.op_type]}"
        for weights, part in zip(node.input[1:], ("weight", "bias"), strict=False):
            names[weights] = f"{node.name}.{part}"
        names[node.output[0]] = {"Flatten": "features", "Softmax": "scores"}.get(node.op_type, f"{node.name}.output")
    for node in graph.node:
        for tensors in (node.input, node.output):
            tensors[:] = [names.get(tensor, tensor) for tensor in tensors]
    for weights in graph.initializer:
        weights.name = names[weights.name]


def export(network, file):
    """One file, batch norm folded. The output "scores" are probabilities, and what the head gets is "features"."""
    import onnx
    import torch

    torch.onnx.export(torch.nn.Sequential(network, torch.nn.Softmax(1)), (torch.zeros(1, 1, SIDE, SIDE),), file,
                      dynamo=False, opset_version=17, input_names=["picture"], output_names=["scores"],
                      dynamic_axes={"picture": {0: "pictures"}, "scores": {0: "pictures"}})
    model = onnx.load(file)
    name_tensors(model.graph)
    model.graph.name = "micrographs"
    model.doc_string = "Kinds of simulated micrographs: tools/micrograph_network.py of Podere"
    onnx.checker.check_model(model, full_check=True)
    onnx.save(model, file)


def accuracy(file, pixels, kinds):
    import numpy
    import onnxruntime

    session = onnxruntime.InferenceSession(file)
    n_right = 0
    for start in range(0, len(pixels), BATCH):
        pictures = ((pixels[start:start + BATCH, None].astype(numpy.float32) / 255) - MEAN) / STD
        scores = session.run(["scores"], {"picture": pictures.astype(numpy.float32)})[0]
        n_right += int((scores.argmax(1) == kinds[start:start + BATCH]).sum())
    return n_right / len(pixels)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, default=ROOT / "build/micrograph-network")
    parser.add_argument("--podere", default=ROOT / "build/release/bin/podere")
    parser.add_argument("--train", type=int, default=14_000, help="pictures to train on")
    parser.add_argument("--test", type=int, default=10_000)
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--output", type=Path, default=ROOT / "data", help="folder for the network")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    enter_environment(options.folder.resolve())

    import torch

    torch.set_num_threads(2)
    torch.use_deterministic_algorithms(True)
    network = train(*small_pictures(options.podere, TRAIN_SEED, options.train, options.folder), options.epochs)
    file = options.output / "micrographs.onnx"
    export(network, str(file))
    file.with_suffix(".json").write_text(json.dumps({"fit": "stretch", "filter": "bilinear", "divisor": 255,
                                                     "mean": [MEAN], "std": [STD]}) + "\n")
    file.with_suffix(".txt").write_text("".join(kind + "\n" for kind in KINDS))
    tested = small_pictures(options.podere, TEST_SEED, options.test, options.folder)
    print(json.dumps({"trained_on": options.train, "tested_on": options.test, "bytes": file.stat().st_size,
                      "parameters": sum(weights.numel() for weights in network.parameters()),
                      "accuracy": accuracy(str(file), *tested)}))


if __name__ == "__main__":
    main()
