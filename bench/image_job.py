"""`podere classify`: what executors and cores bring, how much goes to handing out, and what memory it takes.

Hand-out: what the threads of all executors are not in a step of a picture, from the first one handed out until the last
one is done, so waiting for the last one too. "Driver": what of the command is neither that nor the steps of pictures:
start, list, reading the network, and writing the output.
"""

import hashlib
import json
import statistics
import subprocess
import time
from pathlib import Path

import image_networks

ROOT = Path(__file__).resolve().parent.parent
PODERE = ROOT / "build" / "release" / "bin" / "podere"
GROUPS = [(1, 1), (1, 2), (2, 1)]  # executors, cores of each
N_DIFFERENT = 1000
N_OF_INCEPTION = 64


def generate(folder, n_pictures):
    subprocess.run([PODERE, "generate", "sem", "--images", str(n_pictures), "-o", folder], check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return sorted(folder.rglob("*.tif"))


def write_list(file, pictures, n):
    file.write_text("".join(f"{pictures[i % len(pictures)]}\n" for i in range(n)))
    return file


def classify(pictures, model, output, executors, cores, *more):
    """(the facts of the job, seconds of the whole command)"""
    begin = time.perf_counter()
    done = subprocess.run([PODERE, "classify", pictures, "--model", model, "-o", output, "--executors", str(executors),
                           "--cores", str(cores), "--json", "--metrics", *more], check=True, capture_output=True,
                          text=True)
    return json.loads(done.stdout), time.perf_counter() - begin


def measure_groups(what, pictures, model, rounds, folder, *more):
    times, facts_of, outputs = {group: [] for group in GROUPS}, {}, set()
    for _ in range(rounds):
        for group in GROUPS:
            output = folder / "labels.h5"
            facts, seconds = classify(pictures, model, output, *group, *more)
            in_steps = sum(facts["seconds_of"].values())
            n_threads = group[0] * group[1]
            times[group].append({"seconds": facts["classify_seconds"], "command": seconds,
                                 "hand_out": 1 - in_steps / (n_threads * facts["classify_seconds"])})
            facts_of[group] = facts
            outputs.add(hashlib.sha256(output.read_bytes()).hexdigest())
    assert len(outputs) == 1, "other bytes on other executors"
    for group, runs in times.items():
        def median(key, runs=runs):
            return statistics.median(run[key] for run in runs)
        facts = facts_of[group]
        print(json.dumps({
            "job": what, "pictures": facts["pictures"], "executors": group[0], "cores_of_each": group[1],
            "pictures_per_second": round(facts["pictures"] / median("seconds"), 1),
            "command_seconds": round(median("command"), 2), "classify_seconds": round(median("seconds"), 2),
            "times_one_core": round(statistics.median(one["seconds"] / run["seconds"]
                                                      for one, run in zip(times[GROUPS[0]], runs)), 3),
            "of_one_with_two_cores": round(statistics.median(run["seconds"] / two["seconds"]
                                                             for two, run in zip(times[GROUPS[1]], runs)), 3),
            "hand_out": round(median("hand_out"), 4),
            "hand_outs": [round(run["hand_out"], 4) for run in runs],
            "milliseconds_of_a_picture": {step: round(1000 * seconds / facts["pictures"], 3)
                                          for step, seconds in facts["seconds_of"].items()},
            "executor_mb": round(facts["peak_memory_bytes"] / 1e6, 1)}), flush=True)


def measure(n_pictures, rounds, folder):
    micrographs = generate(folder / "sem", min(N_DIFFERENT, n_pictures))
    measure_groups("small network", write_list(folder / "all.txt", micrographs, n_pictures),
                   ROOT / "data" / "micrographs.onnx", rounds, folder)
    _, inception, _ = image_networks.export("inception_v3", folder)
    measure_groups("inception_v3", write_list(folder / "some.txt", micrographs, N_OF_INCEPTION), inception,
                   rounds, folder, "--preprocess", "inception")
