"""The sweep of executors a node over 72 cores (3 nodes of 24), modeled: 146,916 micrographs, Inception v3.

    seconds(e) = start(3 e) + list + pictures * t / 72 + t + pictures * w
    memory of a node = e * one + 24 * lane

t: seconds of a picture on one of two busy cores; start(n): of n executors, a line through 1 to 8 of them here, where
they share 2 cores; list: seconds until the network is read and packed, each executor for itself; w: seconds to write
the result of a picture, by rank 0 alone at the end; the last picture may begin when all others end. one: the most that
an executor of one core takes, which is while it reads the network; lane: what the network needs for each thread. That
cores do not slow each other down is assumed beyond two: this machine has no more. Handing out is no term, but
"most_handed_out" is how many pictures of no work a group of 2 gets through in a second, which 72 cores must stay below.

"check" lines have the same model for this machine's 2 cores beside what was measured.
"""

import json
import statistics

import image_job
import image_networks

N_PICTURES, N_NODES, CORES_OF_NODE = 146916, 3, 24
EXECUTORS_OF_NODE = [1, 2, 3, 4, 6, 8, 12, 24]
N_MEASURED, N_TINY, RUNS = 96, 20000, 3


def phase_seconds(facts, name):
    return next(phase["elapsed_seconds"] for phase in facts["metrics"]["phases"] if phase["phase"] == name)


def median_of(measure, runs=RUNS):
    return statistics.median(measure() for _ in range(runs))


def network_of_nothing(file):
    """Three values of a picture of one pixel are its scores."""
    import onnx
    from onnx import TensorProto, helper

    values = [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3, 1, 1])]
    scores = [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 3])]
    graph = helper.make_graph([helper.make_node("Flatten", ["x"], ["y"])], "nothing", values, scores)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), file)
    return file


def tiny_pictures(folder):
    from PIL import Image

    folder.mkdir()
    files = [folder / f"{i}.png" for i in range(100)]
    for i, file in enumerate(files):
        Image.new("RGB", (1, 1), (i, 2 * i, 255 - i)).save(file)
    return image_job.write_list(folder / "all.txt", files, N_TINY)


def fit_line(points):
    """(at zero, for each) by least squares."""
    mean_x, mean_y = (statistics.mean(values) for values in zip(*points))
    slope = sum((x - mean_x) * (y - mean_y) for x, y in points) / sum((x - mean_x) ** 2 for x, _ in points)
    return mean_y - slope * mean_x, slope


def measure(folder):
    """What the model needs, and the seconds of groups here."""
    micrographs = image_job.generate(folder / "sem", N_MEASURED)
    some = image_job.write_list(folder / "some.txt", micrographs, N_MEASURED)
    one = image_job.write_list(folder / "one.txt", micrographs, 1)
    _, inception, side = image_networks.export("inception_v3", folder)
    small = image_job.ROOT / "data" / "micrographs.onnx"
    output = folder / "labels.h5"
    nothing, tiny = network_of_nothing(folder / "nothing.onnx"), tiny_pictures(folder / "tiny")

    runs = {group: [image_job.classify(some, inception, output, *group, "--preprocess", "inception")[0]
                    for _ in range(RUNS)] for group in image_job.GROUPS}
    of_nothing = [image_job.classify(tiny, nothing, output, 2, 1, "--preprocess", "unit")[0] for _ in range(RUNS)]
    starts = [(n, median_of(lambda n=n: image_job.classify(one, small, output, n, 1)[0]["start_seconds"]))
              for n in (1, 2, 4, 8)]

    def median(group, value):
        return statistics.median(value(facts) for facts in runs[group])

    engine = image_networks.podere(inception, (1, 3, side, side))
    found = {"t": median((2, 1), lambda facts: facts["classify_seconds"]) * 2 / N_MEASURED,
             "start": fit_line(starts),
             "list": median((1, 1), lambda facts: phase_seconds(facts, "list")),
             "w": statistics.median(phase_seconds(facts, "write") for facts in of_nothing) / N_TINY,
             "most_handed_out": statistics.median(N_TINY / facts["classify_seconds"] for facts in of_nothing),
             "lane_mb": engine["workspace_mb"],
             "one_mb": median((1, 1), lambda facts: facts["peak_memory_bytes"]) / 1e6}
    seconds = {group: median(group, lambda facts: facts["start_seconds"] + facts["metrics"]["job"]["elapsed_seconds"])
               for group in image_job.GROUPS}
    return found, seconds


def model(found, n_pictures, n_executors, n_cores):
    at_zero, for_each = found["start"]
    return (at_zero + for_each * n_executors + found["list"] + n_pictures * found["t"] / n_cores + found["t"] +
            n_pictures * found["w"])


def predict(folder):
    found, seconds = measure(folder)
    print(json.dumps({"sweep": "measured", **found}), flush=True)
    for (executors, cores), took in seconds.items():
        if executors * cores == 2:
            print(json.dumps({"sweep": "check", "executors": executors, "cores_of_each": cores, "measured": round(took, 2),
                              "modeled": round(model(found, N_MEASURED, executors, 2), 2)}), flush=True)
    n_cores = N_NODES * CORES_OF_NODE
    for executors in EXECUTORS_OF_NODE:
        took = model(found, N_PICTURES, N_NODES * executors, n_cores)
        memory_mb = executors * found["one_mb"] + CORES_OF_NODE * found["lane_mb"]
        print(json.dumps({"sweep": "modeled", "executors_of_node": executors, "cores_of_each": CORES_OF_NODE // executors,
                          "seconds": round(took, 1), "pictures_per_second": round(N_PICTURES / took, 1),
                          "start_seconds": round(found["start"][0] + found["start"][1] * N_NODES * executors, 2),
                          "node_gb": round(memory_mb / 1e3, 2)}), flush=True)
