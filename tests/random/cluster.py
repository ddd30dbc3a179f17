#!/usr/bin/env python3
"""Random operations on a real API server with the operator on it, under the rights of the chart; judged from outside.

    PODERE=build/release/bin/podere tests/random/cluster.py [--operations 100] [--seed 1] [--dump FOLDER] [--replay FILE]

Farms in five namespaces, made by users with the rights of users, come, change and go, on a few fake nodes; so do pods of others,
nodes, quotas, ceilings, the operator and the API server's good temper; users try what they may not. After each operation all has
time to settle; then what pods there are says whether it went right (cluster_judge.py), and what watches saw meanwhile
(cluster_world.py). A line an operation, which --replay does again; a summary at the end; exit code 1 if anything was found.
--dump keeps what there was at each finding, and the operator's logs.
"""

import argparse
import collections
import json
import pathlib
import random
import re
import shutil
import sys
import time

from cluster_world import NAMESPACES, NETWORK_FAULTS, World, live, template

NAMES, NODES = ["a", "b"], ["fake-0", "n1", "n2", "n3"]


class Chooser:
    """What happens next: the name of an operation (World.do_...) and what it is given."""

    def __init__(self, seed, world):
        self.random, self.world = random.Random(seed), world
        self.of = self.random.choice

    def next(self):
        kinds = {"farm": 14, "change": 26, "scale": 8, "remove": 4, "end_executor": 4, "strangers": 8, "node": 8, "quota": 8, "operator": 4,
                 "network": 6, "server": 1, "manager": 5, "policy": 3, "secret": 2, "hostile": 2, "ask": 5, "adopted": 2, "rest": 2}
        kinds["farm"] *= 6 if len(self.known()) < 6 else 1
        kind = self.random.choices(list(kinds), list(kinds.values()))[0]
        given = getattr(self, kind)()
        return self.next() if given is None else ("farm" if kind == "adopted" else kind, given)

    def known(self):
        return sorted(self.world.view().farms)

    def spec(self):
        cpu = self.random.choices([4, 2, 8, 0, 64], [14, 4, 3, 1, 1])[0]
        spec = {"executors": self.of([0, 1, 3, 4, 6, 8, 10]), "minExecutors": self.of([0, 0, 1, 2, 2, 3, 4]), "drainSeconds": self.of([0, 3, 5, 10]),
                "template": template(cpu, self.of([1, 1, 3, None]))}
        if self.random.random() < 0.08:
            spec["minExecutors"] = self.of([7, 50, 100000])
        if self.random.random() < 0.1:
            spec["drainSeconds"] = 86400
            spec["template"]["spec"]["terminationGracePeriodSeconds"] = 86400
        if self.random.random() < 0.2:
            spec["minRuntimeSeconds"] = self.of([3, 10, 10, 86400])
        if self.random.random() < 0.2:
            spec["maxExecutors"] = max(spec["minExecutors"], self.of([2, 4, 6]))
        if self.random.random() < 0.2:
            spec["weight"] = self.of([0.001, 2, 1000])
        if self.random.random() < 0.4:
            spec["priority"] = self.of([-5, 0, 3, 10, 1000])
        if self.random.random() < 0.4 and spec["minExecutors"]:
            spec["gang"] = True
        return spec

    def farm(self):
        free = sorted({f"{n}/{name}" for n in NAMESPACES for name in NAMES} - set(self.known()))
        return {"farm": self.of(free), "spec": self.spec()} if free else None

    def adopted(self):
        """Of pods that a Deployment of others makes, or none."""
        farm = f"{self.of(NAMESPACES)}/adopted"
        return None if farm in self.known() else {"farm": farm, "spec": {
            "minExecutors": self.of([0, 1, 2]), "executors": self.of([0, 1, 3]), "drainSeconds": 3,
            "selector": {"matchLabels": {"adopt": "me"}}}}

    def change(self):
        made = [key for key in self.known() if not key.endswith("/adopted")]
        spec, what = self.spec(), self.of(["executors", "executors", "executors", "minExecutors", "drainSeconds", "template", "weight",
                                                  "priority", "gang"])
        default = {"priority": self.of([-5, 5]), "gang": self.of([True, False])}.get(what, 1)
        return {"farm": self.of(made), "spec": {what: spec.get(what, default)}} if made else None

    def scale(self):
        return {"namespace": self.of(NAMESPACES), "executors": self.of([0, 1, 2, 4, 6])}

    def remove(self):
        return {"farm": self.of(self.known())} if self.known() else None

    def end_executor(self):
        return {"farm": self.of(self.known()), "grace": self.of([None, 0, 86400])} if self.known() else None

    def strangers(self):
        return {"namespace": self.of(["default", *NAMESPACES]), "name": self.of(["d1", "d2"]), "replicas": self.of([0, 0, 0, 1, 2, 6]),
                "cpu": self.of([2, 4, 8]), "labels": self.of([{}, {"adopt": "me"}])}

    def node(self):
        return {"name": self.of(NODES[1:]), "act": self.of(["cordon", "uncordon", "uncordon", "drain", "remove", "add", "add"])}

    def quota(self):
        return {"namespace": self.of(NAMESPACES), "hard": self.of([
            {}, {}, {}, {"pods": "2"}, {"pods": "0"}, {"pods": "5"}, {"requests.cpu": "8"}, {"requests.cpu": "14"},
            {"requests.cpu": "26", "pods": "6"}])}

    def operator(self):
        return {"act": self.of(["kill", "kill", "end"])}

    def network(self):
        return {"kind": self.of(sorted(NETWORK_FAULTS)), "seconds": self.of([1, 4, 8]), **(self.change() or {"farm": "astro/a", "spec": {}})}

    def server(self):
        return {"seconds": self.of([1, 4])}

    def manager(self):
        limits = [{"maxDrainSeconds": self.of([0, 5, 12])}, {"maxMinRuntimeSeconds": self.of([5, 3600])}, {"maxPriority": self.of([0, 5, 10])},
                  {"mode": self.of(["Proportional", "Proportional", "FairShare", "HistoryAware"])}]
        ceilings = [{"name": "each", "minExecutors": self.of([1, 3, 6])}]
        if self.random.random() < 0.7:
            ceilings.append({"name": "course", "namespaces": ["course-*"], "minExecutors": 4, "maxExecutors": self.of([4, 8]),
                             "priority": self.of([-10, 5])})
        if self.random.random() < 0.5:
            ceilings.append({"name": "physics", "namespaces": ["astro", "hep"], "minExecutors": self.of([4, 8]), "weight": 2})
        if self.random.random() < 0.3:
            ceilings.append({"name": "hep", "namespaces": ["hep"], "minExecutors": 3, "drainSeconds": 20, "priority": self.of([3, 20])})
        return {"spec": self.of([*limits, {"ceilings": ceilings}, {"ceilings": ceilings}])}

    def policy(self):
        return {"on": self.random.random() < 0.5}

    def secret(self):
        return {"namespace": self.of(NAMESPACES)}

    def hostile(self):
        namespace, other = self.random.sample(NAMESPACES, 2)
        return {"namespace": namespace, "other": other}

    def ask(self):
        farm = self.of(self.known() or ["astro/a"])
        return {"farm": farm, "executors": self.of([1, 2, 5, 10]), "who": self.of(["observer", "user-" + farm.split("/")[0]])}

    def rest(self):
        return {"seconds": 5}


def operations(arguments, world):
    if arguments.replay:
        for number, kind, given in re.findall(r"^(\d+) (\w+) ({.*})$", arguments.replay.read_text(), re.M):
            yield int(number), kind, json.loads(given)
        return
    chooser = Chooser(arguments.seed, world)
    for number in range(1, arguments.operations + 1):
        yield number, *chooser.next()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--operations", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--dump", type=pathlib.Path, help="folder for what there was at each finding, and the operator's logs")
    parser.add_argument("--replay", type=pathlib.Path, help="do the operations of an earlier run's output again")
    arguments = parser.parse_args()
    if arguments.dump:
        arguments.dump.mkdir(parents=True, exist_ok=True)
    done, began = collections.Counter(), time.time()
    with live.started("random", "--nodes", "1") as cluster:
        world = World(cluster, arguments.seed, arguments.dump)
        try:
            for world.number, kind, given in operations(arguments, world):
                print(world.number, kind, json.dumps(given), flush=True)
                before = world.view()
                getattr(world, "do_" + kind)(**given)
                world.settle(before)
                done[kind] += 1
        finally:
            if arguments.dump:
                for i, operator in enumerate(world.operators):
                    shutil.copy(operator.log, arguments.dump / f"operator-{i}.log")
            if world.operator.process.poll() is None:
                world.operator.kill()
    print(f"seed {arguments.seed}: {sum(done.values())} operations in {time.time() - began:.0f} s: "
          + ", ".join(f"{n} {kind}" for kind, n in sorted(done.items())))
    print("seen: " + ", ".join(f"{n} {what}" for what, n in sorted(world.seen.items())))
    for number, text in world.findings:
        print(f"found at {number}: {text}")
    print(f"{len(world.findings)} findings")
    return 1 if world.findings else 0


if __name__ == "__main__":
    sys.exit(main())
