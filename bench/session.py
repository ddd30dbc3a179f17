#!/usr/bin/env python3
"""How long a session takes to start, and how much a job in a warm session costs beside its work.

    bench/session.py [--executors 2] [--jobs 50]

A job is `describe` of a table of 1,000 rows, whose work takes well under a millisecond; answers are checked. Prints one
line of JSON. The promises: under 1 s to start 2 executors, under 20 ms a job.
"""

import argparse
import json
import os
import pathlib
import socket
import statistics
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).parents[1]
PODERE = os.environ.get("PODERE", str(ROOT / "build/release/bin/podere"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--executors", type=int, default=2)
    parser.add_argument("--jobs", type=int, default=50)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "XDG_RUNTIME_DIR": folder}

        def podere(*arguments):
            subprocess.run([PODERE, "session", *arguments], check=True, env=environment, stdout=subprocess.DEVNULL)

        starts = []
        for i in range(5):
            begin = time.perf_counter()
            podere("start", "bench", "--executors", str(options.executors), "--cores", "1")
            starts.append(time.perf_counter() - begin)
            if i < 4:
                podere("stop", "bench")
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(f"{folder}/podere/bench.socket")
        stream = connection.makefile("rw")

        def do(number, job):
            stream.write(json.dumps({"id": number, "job": job}) + "\n")
            stream.flush()
            while True:
                event = json.loads(stream.readline())
                if event.get("id") == number and event["event"] in ("result", "failed"):
                    assert event["event"] == "result", event
                    return event["result"]

        do(0, {"kind": "load", "table": {"location": "collider:1000"}, "name": "a"})
        seconds = []
        for number in range(1, options.jobs + 1):
            time.sleep(0.05)  # executors have gone to sleep
            begin = time.perf_counter()
            result = do(number, {"kind": "describe", "table": {"location": "table:a"}})
            seconds.append(time.perf_counter() - begin)
            assert result["rows"] == 1000 and result["executors"] == options.executors
        podere("stop", "bench")
    print(json.dumps({"bench": "session", "executors": options.executors,
                      "start_seconds": round(statistics.median(starts), 3),
                      "job_ms": round(1e3 * statistics.median(seconds), 2),
                      "job_ms_most": round(1e3 * max(seconds), 2)}))


if __name__ == "__main__":
    main()
