"""Pictures a second on one core, decoded and resized to 299 x 299: Podere beside Pillow and OpenCV.

The same micrographs of `podere generate sem` as the microscope wrote them (a palette of grays), with a palette of
colors, as LZW, PNG and JPEG. Pixels are compared with Pillow's. Runs take turns, and seconds are those of the
processor, since a machine may be busy.
"""

import io
import json
import os
import statistics
import subprocess
import sys
import time
import zlib
from pathlib import Path

BUILD = Path(__file__).resolve().parent.parent / "build" / "release"
SIZE, SECONDS, N_PICTURES = 299, 1.0, 20


def heat(place):
    """False colors, as programs give them to micrographs: black, red, yellow, white."""
    return [min(255, 3 * place), min(255, max(0, 3 * place - 255)), max(0, 3 * place - 510)]


def write_kinds(folder):
    """{kind of file: its files}."""
    from PIL import Image

    subprocess.run([BUILD / "bin" / "podere", "generate", "sem", "--images", str(N_PICTURES), "-o", folder / "sem"],
                   check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    micrographs = sorted((folder / "sem").rglob("*.tif"))
    kinds = {"TIFF, palette of grays": micrographs}
    palette = [value for place in range(256) for value in heat(place)]

    def add(kind, name, convert, **options):
        kinds[kind] = [folder / f"{i}-{name}" for i in range(len(micrographs))]
        for micrograph, file in zip(micrographs, kinds[kind]):
            convert(Image.open(micrograph)).save(file, **options)

    def colored(picture):
        picture.putpalette(palette)
        return picture

    add("TIFF, palette of colors", "colors.tif", colored)
    add("TIFF, gray, LZW", "gray.tif", lambda picture: picture.convert("L"), compression="tiff_lzw")
    add("JPEG, quality 90", "photo.jpg", lambda picture: colored(picture).convert("RGB"), quality=90)
    add("PNG, RGB", "photo.png", lambda picture: colored(picture).convert("RGB"))
    return kinds


def peers():
    import cv2
    import numpy as np
    from PIL import Image

    cv2.setNumThreads(1)
    cv2.utils.logging.setLogLevel(cv2.utils.logging.LOG_LEVEL_SILENT)  # else it warns of each tag that it does not know

    def pillow(content):
        return Image.open(io.BytesIO(content)).convert("RGB").resize((SIZE, SIZE), Image.BILINEAR)

    def opencv(content):
        picture = cv2.imdecode(np.frombuffer(content, np.uint8), cv2.IMREAD_COLOR)
        return cv2.resize(picture, (SIZE, SIZE), interpolation=cv2.INTER_AREA)  # its only antialiased way

    return {"pillow": pillow, "opencv": opencv}


def rate(function, contents):
    n, begin = 0, time.process_time()
    while (took := time.process_time() - begin) < SECONDS:
        function(contents[n % len(contents)])
        n += 1
    return n / took


def measure(kind, files, rounds):
    contents = [file.read_bytes() for file in files]
    others = peers()
    wanted = 0
    for content in contents:
        wanted = zlib.crc32(others["pillow"](content).tobytes(), wanted)
    rates = {name: [] for name in ("podere", *others)}
    for _ in range(rounds):
        facts = json.loads(subprocess.run([BUILD / "bench" / "pictures_bench", *files, "--size", str(SIZE), "--seconds",
                                           str(SECONDS)], check=True, capture_output=True, text=True).stdout)
        if facts["sum"] != wanted:
            sys.exit(f"images: {kind}: other bits than Pillow's")
        rates["podere"].append(facts["pictures_per_second"])
        for name, function in others.items():
            rates[name].append(rate(function, contents))
    for name, all_rates in rates.items():
        ratio = statistics.median(own / other for own, other in zip(rates["podere"], all_rates))
        print(json.dumps({"pictures": kind, "program": name, "pictures_per_second": round(statistics.median(all_rates), 1),
                          "podere_times": round(ratio, 2)}), flush=True)


def compare(rounds, folder):
    cores = os.sched_getaffinity(0)
    kinds = write_kinds(folder)
    os.sched_setaffinity(0, {min(cores)})
    for kind, files in kinds.items():
        measure(kind, files, rounds)
    os.sched_setaffinity(0, cores)
