#!/usr/bin/env python3
"""How long farms wait for their guarantee on a live cluster, and what the operator costs.

    bench/farm_live.py [--farms 100] [--nodes 100] [--requests 100] [--losses 20] [--burst 50] [--idle 60] [--seed 1] [--log FILE]

A real API server, scheduler and controllers with fake nodes (tests/kubernetes), and podere operator. The first half of
the farms holds all 20 rooms of each node in borrowed room; each of the others is guaranteed 10 executors. Measured, a line
of JSON each:
  course  one farm after another requests its guarantee, every other second, and releases it 25 s later
  losses  a farm at its guarantee loses 3 executors at once
  burst   many farms request theirs at the same moment
  idle    nothing changes: requests as the API server's audit log has them, processor time, memory
A wait ends when as many executors as are guaranteed are ready; beyond_drain_s leaves out the 3 s that
reclaimed executors drain. stages_s, medians, shows where the time goes: until the last executor that is reclaimed is deleted (decide: the operator), until
that is gone (drain: the 3 s, and what the fake nodes add), until the last executor that was missing is created (create: the
operator), has a node (schedule) and is ready (start: the fake nodes).
"""

import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import random
import statistics
import sys
import threading
import time

ROOT = pathlib.Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests/kubernetes"))
import api  # noqa: E402
import live  # noqa: E402

DRAIN_SECONDS = 3
GUARANTEED = 10
ROOMS_OF_A_NODE = 20
NAMESPACE = "bench"
FARMS = f"/apis/podere.dev/v1alpha1/namespaces/{NAMESPACE}/farms"
PODS = f"/api/v1/namespaces/{NAMESPACE}/pods"
STAGES = ("decide", "drain", "create", "schedule", "start")


def farm_object(name, wanted, guaranteed):
    template = {"metadata": {"annotations": {"podere.test/ends-after": str(DRAIN_SECONDS - 1)}},
                "spec": {"nodeSelector": {"podere.test/node": "fake"}, "terminationGracePeriodSeconds": 1,
                         "containers": [{"name": "main", "image": "none", "resources": {
                             "requests": {"cpu": "800m", "memory": "1Gi"}}}]}}
    return {"apiVersion": "podere.dev/v1alpha1", "kind": "Farm", "metadata": {"name": name},
            "spec": {"executors": wanted, "minExecutors": guaranteed, "drainSeconds": 20, "template": template}}


def is_ready(pod):
    return "deletionTimestamp" not in pod["metadata"] and any(
        condition["type"] == "Ready" and condition["status"] == "True"
        for condition in pod["status"].get("conditions", []))


class Waits:
    """When farms have what they wait for, from a watch of all pods."""

    def __init__(self):
        self.changed = threading.Condition()
        self.pods = collections.defaultdict(dict)  # of a farm, by UID
        self.since = {}  # farms that wait
        self.done = {}
        self.stages = {}

    def note(self, kind, pod, at):
        name = pod["metadata"]["labels"]["podere.dev/farm"]
        farm = pod["metadata"].get("annotations", {}).get("podere.dev/reclaimed-for", "/").split("/")[1]
        with self.changed:
            pods = self.pods[name]
            if kind == "DELETED":
                pods.pop(pod["metadata"]["uid"], None)
                self.mark(farm, "drain", at)
            else:
                known = pods.get(pod["metadata"]["uid"])
                pods[pod["metadata"]["uid"]] = pod
                if "deletionTimestamp" in pod["metadata"]:
                    if known is None or "deletionTimestamp" not in known["metadata"]:
                        self.mark(farm, "decide", at)
                elif known is None:
                    self.mark(name, "create", at)
                elif "nodeName" in pod["spec"] and "nodeName" not in known["spec"]:
                    self.mark(name, "schedule", at)
            if name in self.since and sum(map(is_ready, pods.values())) >= GUARANTEED:
                self.mark(name, "start", at)
                self.done[name] = at - self.since.pop(name)
                self.changed.notify_all()

    def mark(self, farm, stage, at):
        if farm in self.since:
            self.stages.setdefault(farm, {"from": self.since[farm]})[stage] = at

    def begin(self, farm):
        with self.changed:
            self.done.pop(farm, None)
            self.stages.pop(farm, None)
            self.since[farm] = time.time()

    def end(self, farm, seconds=120):
        """Seconds waited, and the stages of that."""
        with self.changed:
            assert self.changed.wait_for(lambda: farm in self.done, seconds), f"{farm} waits for more than {seconds} s"
            return self.done[farm], self.stages.get(farm, {})

    def n_ready(self):
        with self.changed:
            return sum(is_ready(pod) for pods in self.pods.values() for pod in pods.values())


def percentile(values, part):
    return sorted(values)[min(len(values) - 1, int(part * len(values)))]


def report(name, waits, drain_seconds, **more):
    seconds = [max(0, waited - drain_seconds) for waited, _ in waits]
    stages = collections.defaultdict(list)
    for _, marks in waits:
        before = marks.get("from")
        for stage in STAGES:
            if stage in marks:
                stages[stage].append(marks[stage] - before)
                before = marks[stage]
    print(json.dumps({"benchmark": f"farm_live/{name}", "n": len(waits), "beyond_drain_p50_s": round(percentile(seconds, .5), 2),
                      "beyond_drain_p99_s": round(percentile(seconds, .99), 2), "longest_s": round(max(seconds), 2),
                      "drain_s": drain_seconds, "stages_s": {stage: round(statistics.median(stages[stage]), 2) for stage in STAGES if stages[stage]},
                      **more}), flush=True)


def processor_seconds(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def peak_mb(pid):
    line, = [line for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith("VmHWM")]
    return round(int(line.split()[1]) / 1024, 1)


class Bench:
    def __init__(self, cluster, options):
        self.cluster, self.options = cluster, options
        self.api = api.Api(cluster)
        self.audit = api.Audit(cluster)
        self.waits = Waits()
        half = options.farms // 2
        self.borrowers = [f"borrower-{i}" for i in range(half)]
        self.guaranteed = [f"guaranteed-{i}" for i in range(options.farms - half)]
        self.rooms = options.nodes * ROOMS_OF_A_NODE

    def prepare(self):
        self.api.create("/api/v1/namespaces", {"metadata": {"name": NAMESPACE}})
        self.api.create("/apis/podere.dev/v1alpha1/farmmanagers", {
            "apiVersion": "podere.dev/v1alpha1", "kind": "FarmManager", "metadata": {"name": "all"},
            "spec": {"mode": "Proportional"}})
        api.Watch(self.api, PODS, self.waits.note)
        for name in self.borrowers:
            self.api.create(FARMS, farm_object(name, self.rooms // len(self.borrowers), 5))
        for name in self.guaranteed:
            self.api.create(FARMS, farm_object(name, 0, GUARANTEED))

    def settle(self):
        live.wait_until(lambda: self.waits.n_ready() == self.rooms, f"{self.rooms} executors are ready", 300)
        time.sleep(3)  # statuses

    def request(self, farm, wanted):
        self.api.patch(f"{FARMS}/{farm}", {"spec": {"executors": wanted}})

    def course(self, random_):
        def one(farm):
            self.waits.begin(farm)
            self.request(farm, GUARANTEED)
            waited = self.waits.end(farm)
            time.sleep(25)
            self.request(farm, 0)
            idle.append(farm)
            return waited

        idle, waits = list(self.guaranteed), []
        with concurrent.futures.ThreadPoolExecutor(len(idle)) as pool:
            for _ in range(self.options.requests):
                waits.append(pool.submit(one, idle.pop(random_.randrange(len(idle)))))
                time.sleep(2)
        report("course", [wait.result() for wait in waits], DRAIN_SECONDS)

    def losses(self, random_):
        farms = random_.sample(self.guaranteed, min(8, len(self.guaranteed)))
        for farm in farms:
            self.waits.begin(farm)
            self.request(farm, GUARANTEED)
        for farm in farms:
            self.waits.end(farm)
        results = []
        for i in range(self.options.losses):
            farm = farms[i % len(farms)]
            with self.waits.changed:
                lost = random_.sample(sorted(pod["metadata"]["name"] for pod in self.waits.pods[farm].values()
                                             if is_ready(pod)), 3)
            for name in lost:  # at once: their room is free
                self.api.delete(f"{PODS}/{name}", grace=0)
            self.waits.begin(farm)
            results.append(self.waits.end(farm))
            time.sleep(1)
        report("losses", results, 0)
        for farm in farms:
            self.request(farm, 0)

    def burst(self):
        farms = self.guaranteed[:self.options.burst]
        began = time.time()
        for farm in farms:
            self.waits.begin(farm)
            self.request(farm, GUARANTEED)
        asked = time.time() - began
        results = [self.waits.end(farm) for farm in farms]
        report("burst", results, DRAIN_SECONDS, executors=len(farms) * GUARANTEED, asked_within_s=round(asked, 2))
        for farm in farms:
            self.request(farm, 0)

    def idle(self, process):
        time.sleep(10)
        self.audit.news()
        before, began = processor_seconds(process.pid), time.time()
        time.sleep(self.options.idle)
        seconds = time.time() - began
        requests = self.audit.news()
        print(json.dumps({"benchmark": "farm_live/idle", "seconds": round(seconds), "requests_per_s":
                          round(len(requests) / seconds, 3), "requests": api.Audit.summary(requests),
                          "core_percent": round(100 * (processor_seconds(process.pid) - before) / seconds, 2),
                          "peak_mb": peak_mb(process.pid)}), flush=True)


def parts_seconds(cluster):
    """Processor time of the parts of the test cluster."""
    return {path.stem: processor_seconds(path.read_text().strip()) for path in cluster.folder.glob("*.pid")
            if path.stem != "supervisor"}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in (("farms", 100), ("nodes", 100), ("requests", 100), ("losses", 20), ("burst", 50), ("idle", 60),
                          ("seed", 1)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--wishes", dest="requests", type=int, help=argparse.SUPPRESS)  # the old name
    parser.add_argument("--log", type=pathlib.Path, help="file for what the operator says")
    options = parser.parse_args()
    os.environ.setdefault("PODERE", str(ROOT / "build/release/bin/podere"))
    random_ = random.Random(options.seed)
    with live.started("bench", "--audit", "--nodes", str(options.nodes)) as cluster:
        cluster.know_farms()
        user = cluster.operator_user()
        with live.operating(cluster, "--namespace", "podere", kubeconfig=user) as operator:
            operator.wait_for("knows")
            bench = Bench(cluster, options)
            bench.prepare()
            bench.settle()
            before = {**parts_seconds(cluster), "operator": processor_seconds(operator.process.pid)}
            for part in (bench.course, bench.losses):
                part(random_)
                bench.settle()
            bench.burst()
            after = {**parts_seconds(cluster), "operator": processor_seconds(operator.process.pid)}
            bench.settle()
            bench.idle(operator.process)
            print(json.dumps({"benchmark": "farm_live/processor", "what": "seconds of course, losses and burst",
                              **{part: round(after[part] - before[part], 1) for part in before}}), flush=True)
            if options.log:
                options.log.write_text(operator.said())


if __name__ == "__main__":
    main()
