#!/usr/bin/env python3
"""Pictures a second on one core, decoded and resized to 299 x 299: Podere beside Pillow and OpenCV.

pictures.py BENCH [FILE...]: BENCH is the program pictures_bench; without files, micrographs of `podere generate sem`
beside it. Runs take turns, since a machine may be busy; medians. One JSON line for each.
"""
import io
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time
import zlib

from PIL import Image

SIZE, SECONDS, RUNS = 299, 1.0, 7


def pillow(content):
    return Image.open(io.BytesIO(content)).convert("RGB").resize((SIZE, SIZE), Image.BILINEAR)


def rate(function, contents):
    n, begin = 0, time.perf_counter()
    while (took := time.perf_counter() - begin) < SECONDS:
        function(contents[n % len(contents)])
        n += 1
    return n / took


def compare(bench, files):
    contents = [pathlib.Path(file).read_bytes() for file in files]
    peers = {"pillow": pillow}
    try:
        os.environ["OPENCV_LOG_LEVEL"] = "OFF"  # else it warns of each tag that it does not know
        import cv2
        import numpy as np
        cv2.setNumThreads(1)
        peers["opencv"] = lambda content: cv2.resize(  # area: its only antialiased way
            cv2.imdecode(np.frombuffer(content, np.uint8), cv2.IMREAD_COLOR), (SIZE, SIZE), interpolation=cv2.INTER_AREA)
    except ImportError:
        print("opencv is not there", file=sys.stderr)
    wanted = 0
    for content in contents:
        wanted = zlib.crc32(pillow(content).tobytes(), wanted)
    rates = {name: [] for name in ("podere", *peers)}
    for _ in range(RUNS):
        facts = json.loads(subprocess.run([bench, *files, "--size", str(SIZE), "--seconds", str(SECONDS)], check=True,
                                          capture_output=True, text=True).stdout)
        assert facts["sum"] == wanted, "other bits than Pillow's"
        rates["podere"].append(facts["pictures_per_second"])
        for name, function in peers.items():
            rates[name].append(rate(function, contents))
    for name, all_rates in rates.items():
        print(json.dumps({"bench": "pictures", "program": name, "pictures_per_second": round(statistics.median(all_rates), 1),
                          "podere_times": round(statistics.median(own / other for own, other in
                                                                  zip(rates["podere"], all_rates)), 2)}))


def main():
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    bench, files = sys.argv[1], sys.argv[2:]
    if files:
        return compare(bench, files)
    podere = pathlib.Path(bench).parents[1] / "bin/podere"
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([podere, "generate", "sem", "--images", "20", "-o", f"{folder}/sem"], check=True,
                       stdout=subprocess.DEVNULL)
        compare(bench, sorted(map(str, pathlib.Path(folder).rglob("*.tif"))))


if __name__ == "__main__":
    main()
