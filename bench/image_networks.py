"""Convolutional networks with weights at random: Podere's engine and others.

Each round measures all engines one after the other, a median of runs; "of_podere" is the median over rounds of the
other's time by Podere's: above 1 Podere is faster. Both are processor times for one thread, since other programs may be
running, and wall times for more. Before that the answers are checked: scores within 1e-4 of ONNX Runtime's, and the
same bits for batches of 1, 2 and 8, 1 and 2 threads, and every instruction set.
"""

import json
import statistics
import subprocess
import sys
import time
from pathlib import Path

BENCH = Path(__file__).resolve().parent.parent / "build" / "release" / "bench" / "graph_bench"
SIZES = {"inception_v3": 299}
RUNS = 8
REST_SECONDS = 0.3  # threads of the engine before, which wait for work, fall asleep meanwhile


def export(name, folder):
    import torch
    import torchvision

    torch.manual_seed(1)
    options = {"init_weights": False} if name == "inception_v3" else {}
    model = getattr(torchvision.models, name)(weights=None, **options).eval()
    for module in model.modules():
        if isinstance(module, torch.nn.BatchNorm2d):
            module.running_mean.normal_(0, 0.1)
            module.running_var.uniform_(0.5, 1.5)
    side = SIZES.get(name, 224)
    file = folder / f"{name}.onnx"
    torch.onnx.export(model, (torch.randn(1, 3, side, side),), file, dynamo=False, opset_version=17,
                      input_names=["x"], output_names=["y"], dynamic_axes={"x": {0: "n"}, "y": {0: "n"}})
    return model, file, side


def command(file, shape, threads=1, runs=1, **paths):
    words = [BENCH, file, "--shape", ",".join(map(str, shape)), "--threads", str(threads), "--runs", str(runs)]
    for option, value in paths.items():
        words += ["--" + option, str(value)]
    return words


def podere(*arguments, **options):
    return json.loads(subprocess.run(command(*arguments, **options), check=True, capture_output=True, text=True).stdout)


def seconds_of_two(file, shape):
    """Seconds a picture while two processes of one thread each work side by side, as two executors do."""
    both = [subprocess.Popen(command(file, shape, runs=RUNS), stdout=subprocess.PIPE, text=True) for _ in range(2)]
    return 1 / sum(1 / json.loads(process.communicate()[0])["seconds"] for process in both)


def check(file, side, folder):
    """Scores against ONNX Runtime's, and bits against each other."""
    import numpy as np
    import onnxruntime

    x = np.random.default_rng(0).standard_normal((8, 3, side, side)).astype(np.float32)
    x.tofile(folder / "x")
    expected = onnxruntime.InferenceSession(file, providers=["CPUExecutionProvider"]).run(["y"], {"x": x})[0]
    results = {}
    for n in (1, 2, 8):
        for threads in (1, 2):
            podere(file, (n, 3, side, side), threads, input=folder / "x", output=folder / "y")
            results[n, threads] = np.fromfile(folder / "y", np.float32).reshape(n, -1)
    for target in ("AVX2", "SSE4", "NEON"):
        try:
            podere(file, (1, 3, side, side), input=folder / "x", output=folder / "y", target=target)
        except subprocess.CalledProcessError:
            continue
        results[1, target] = np.fromfile(folder / "y", np.float32).reshape(1, -1)
    whole = results[8, 1]
    same = all(np.array_equal(part.view(np.int32), whole[: len(part)].view(np.int32)) for part in results.values())
    error = float(np.abs(whole - expected).max() / np.abs(expected).max())
    if not same or error > 1e-4:
        sys.exit(f"images: {file.name}: same bits: {same}, error {error}")
    return error


def engines(model, file, x, threads):
    """Functions that run the network once, by name."""
    import cv2
    import onnxruntime
    import openvino
    import torch

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    session = onnxruntime.InferenceSession(file, options, providers=["CPUExecutionProvider"])
    core = openvino.Core()
    network = core.read_model(file)
    network.reshape(list(x.shape))
    compiled = core.compile_model(network, "CPU", {"INFERENCE_NUM_THREADS": threads, "INFERENCE_PRECISION_HINT": "f32",
                                                   "PERFORMANCE_HINT": "LATENCY"})
    cv2.setNumThreads(threads)
    net = cv2.dnn.readNetFromONNX(str(file))
    torch.set_num_threads(threads)
    tensor = torch.from_numpy(x)

    def opencv():
        net.setInput(x)
        net.forward()

    def pytorch():
        with torch.inference_mode():
            model(tensor)

    return {"onnxruntime": lambda: session.run(["y"], {"x": x}), "openvino": lambda: compiled(x), "pytorch": pytorch,
            "opencv": opencv}


def seconds_of(function, clock):
    function()
    times = []
    for _ in range(RUNS):
        begin = clock()
        function()
        times.append(clock() - begin)
    return statistics.median(times)


def measure(name, model, file, side, threads, rounds):
    import numpy as np

    x = np.random.default_rng(0).standard_normal((1, 3, side, side)).astype(np.float32)
    clock, field = (time.process_time, "processor_seconds") if threads == 1 else (time.perf_counter, "seconds")
    programs = {"podere": lambda: podere(file, x.shape, threads, RUNS)[field]}
    if threads == 2:
        programs["podere, 2 executors of 1 thread"] = lambda: seconds_of_two(file, x.shape)
    for other, function in engines(model, file, x, threads).items():
        programs[other] = lambda function=function: seconds_of(function, clock)
    times = {program: [] for program in programs}
    for _ in range(rounds):
        for program, seconds in programs.items():
            time.sleep(REST_SECONDS)
            times[program].append(seconds())
    for program, values in times.items():
        ratio = statistics.median(v / p for v, p in zip(values, times["podere"]))
        print(json.dumps({"network": name, "threads": threads, "clock": field, "engine": program,
                          "milliseconds": round(1000 * statistics.median(values), 2), "of_podere": round(ratio, 3)}),
              flush=True)


def compare(models, all_threads, rounds, folder):
    for name in models:
        model, file, side = export(name, folder)
        error = check(file, side, folder)
        print(json.dumps({"network": name, "same_bits": True, "error": error}), flush=True)
        for threads in all_threads:
            measure(name, model, file, side, threads, rounds)
