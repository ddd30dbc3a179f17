#!/usr/bin/env python3
"""Faults at random against a pair of live operators, while farms ask and release; judged by what the API server says.

    tests/kubernetes/faults.py [--rounds 200] [--seed 1] [--faults NAME,...] [--lease-seconds 6]

Six nodes have room for 24 executors; six farms are guaranteed 14 in all, and a seventh comes and goes. In each round some
farms want other numbers of executors while one fault happens. When it is over all has to become quiet: guarantees are
held, borrowed room is used, statuses say so. Looked at throughout, from a watch and from the audit log of the API server:
  below    an executor deleted by the operator left its farm below the lesser of what it wanted and is guaranteed
  twice    the operator deleted or took (annotated) a pod twice
  orphan   a pod is left of a farm that is gone, or is not counted in its farm's status
  unquiet  all this was not so 90 s after the fault
A violation prints seed, round and the course of events. At the end a table, and exit code 1 if there was any.
"""

import argparse
import collections
import os
import pathlib
import random
import statistics
import sys
import time

import live
from api import Api, Audit, Refused, Watch
from fault_proxy import NO_FAULTS, Proxy, NetworkFaults

NAMESPACE = "faults"
PODS = f"/api/v1/namespaces/{NAMESPACE}/pods"
FARMS = f"/apis/podere.dev/v1alpha1/namespaces/{NAMESPACE}/farms"
GUARANTEES = {"a": 4, "b": 3, "c": 3, "d": 2, "e": 2, "f": 0}
VISITOR = "visitor"
N_NODES = 6
ROOMS_OF_A_NODE = 4
QUIET_SECONDS = 90
HOLD = "podere.test/hold"


def is_ending(pod):
    return "deletionTimestamp" in pod["metadata"]


def is_running(pod):
    return not is_ending(pod) and pod["status"]["phase"] == "Running"


def farm_of(pod):
    return pod["metadata"].get("labels", {}).get("podere.dev/farm", "")


def reclaimed_for(pod):
    return pod["metadata"].get("annotations", {}).get("podere.dev/reclaimed-for")


class World:
    """The cluster, the operators, and what has to hold."""

    def __init__(self, cluster, seed, lease_seconds):
        self.cluster, self.seed, self.lease_seconds = cluster, seed, lease_seconds
        self.random = random.Random(seed)
        self.api = Api(cluster)
        cluster.know_farms()
        cluster.operator_user()
        self.audit = Audit(cluster)
        self.proxies = [Proxy(Api(cluster, "operator"), seed + i) for i in range(2)]
        self.configs = [proxy.kubeconfig(cluster.folder / f"proxy-{i}") for i, proxy in enumerate(self.proxies)]
        self.operators = [None, None]
        self.n_operators = 2
        self.events, self.violations = [], []
        self.wanted = {name: 2 for name in GUARANTEES}
        self.floors = {}
        self.deleted, self.taken_anew, self.lost = collections.Counter(), collections.Counter(), set()
        self.api.create("/api/v1/namespaces", {"metadata": {"name": NAMESPACE}})
        self.api.create("/apis/podere.dev/v1alpha1/farmmanagers", {
            "apiVersion": "podere.dev/v1alpha1", "kind": "FarmManager", "metadata": {"name": "all"},
            "spec": {"stuckSeconds": 2}})
        self.known, self.began, self.kind, self.round = {}, time.time(), "none", 0  # before the watches report
        self.farms = Watch(self.api, FARMS)
        self.pods = Watch(self.api, PODS, self.note)
        for name in GUARANTEES:
            self.make_farm(name)

    # What happens.

    def guaranteed(self, name):
        return GUARANTEES.get(name, 2)

    def make_farm(self, name):
        template = {"metadata": {"annotations": {"podere.test/ends-after": "1"}},
                    "spec": {"nodeSelector": {"podere.test/node": "fake"},
                             "containers": [{"name": "main", "image": "none", "resources": {
                                 "requests": {"cpu": "4", "memory": "1Gi"}}}]}}
        self.api.create(FARMS, {"apiVersion": "podere.dev/v1alpha1", "kind": "Farm", "metadata": {"name": name},
                                "spec": {"executors": self.wanted[name], "minExecutors": self.guaranteed(name),
                                         "drainSeconds": 15, "template": template}})

    def log(self, what):
        self.events.append(f"{time.time() - self.began:7.2f} {what}")

    def request(self, name, wanted):
        self.floors[name] = min(self.floors.get(name, 0), wanted)
        self.wanted[name] = wanted
        self.log(f"farm {name} wants {wanted}")
        self.try_till_done(lambda: self.api.patch(f"{FARMS}/{name}", {"spec": {"executors": wanted}}))

    def try_till_done(self, act):
        """Also while the API server is down."""
        for _ in range(600):
            self.tend()
            try:
                return act()
            except Refused as refused:
                if refused.status in (404, 409):
                    return None
            except OSError:
                pass
            except Exception as error:  # http.client has many
                self.log(f"{error!r}")
            time.sleep(0.1)
        raise AssertionError("the API server does not come back")

    def request_at_random(self, seconds):
        """A few farms change their minds, some more than once."""
        end = time.time() + seconds
        while True:
            name = self.random.choice([*GUARANTEES, VISITOR])
            if name != VISITOR:
                self.request(name, self.random.choice([0, 2, 4, 8, 12]))
            elif VISITOR in self.wanted:
                del self.wanted[VISITOR]
                self.floors.pop(VISITOR, None)
                self.log("the visitor is deleted")
                self.try_till_done(lambda: self.api.delete(f"{FARMS}/{VISITOR}"))
            else:
                self.wanted[VISITOR] = 4
                self.log("a visitor comes")
                self.try_till_done(lambda: self.make_farm(VISITOR))
            if time.time() >= end:
                return
            self.rest(self.random.uniform(0.2, 1))

    def force_a_reclaim(self):
        """Borrowed room is all in use, and a farm below its guarantee asks: then executors must be reclaimed."""
        for name in ("e", "f"):
            self.request(name, 24)
        self.request("a", 0)
        self.floors["a"] = 0
        self.wait_for(lambda: sum(map(is_running, self.pods.all())) == self.rooms(), 30)
        self.request("a", 4)

    # Operators: started again when they end, as a Deployment would.

    def tend(self):
        for i in range(self.n_operators):
            operator = self.operators[i]
            if operator is None or operator.process.poll() is not None:
                if operator is not None:
                    self.log(f"operator {i} ended with {operator.process.returncode}, and is started again")
                self.operators[i] = live.Operator(self.cluster, "--namespace", "podere", "--lease-seconds",
                                                  str(self.lease_seconds), kubeconfig=self.configs[i])

    def leader(self):
        """Its place; None while there is no leader."""
        leading = [i for i, operator in enumerate(self.operators)
                   if operator is not None and operator.process.poll() is None and " leads\n" in operator.said()]
        return leading[-1] if leading else None

    def rest(self, seconds):
        end = time.time() + seconds
        while time.time() < end:
            self.tend()
            time.sleep(0.05)

    def wait_for(self, condition, seconds):
        end = time.time() + seconds
        while not condition():
            if time.time() >= end:
                return False
            self.tend()
            time.sleep(0.05)
        return True

    def network(self, network_faults, of=None):
        for proxy in self.proxies if of is None else [self.proxies[of]]:
            proxy.set(network_faults)

    # What is looked at.

    def rooms(self):
        return N_NODES * ROOMS_OF_A_NODE

    def violate(self, kind, what):
        self.violations.append((self.kind, kind, what))
        self.log(f"VIOLATION {kind}: {what}")
        print(f"seed {self.seed}, round {self.round}, {self.kind}: {kind}: {what}")
        print("\n".join(self.events[-200:]))
        for i, operator in enumerate(self.operators):
            print(f"operator {i}:\n" + "\n".join(operator.said().splitlines()[-25:]))
        sys.stdout.flush()

    def note(self, kind, pod, at):
        """Of each change of a pod."""
        uid, name, farm = pod["metadata"]["uid"], pod["metadata"]["name"], farm_of(pod)
        if kind == "DELETED":
            self.known.pop(uid, None)
            self.log(f"pod {name} is gone")
            return
        before = self.known.get(uid)
        self.known[uid] = pod
        if before is None:
            self.log(f"pod {name} is created")
        elif "nodeName" in pod["spec"] and "nodeName" not in before["spec"]:
            self.log(f"pod {name} has node {pod['spec']['nodeName']}")
        if reclaimed_for(pod) and not (before and reclaimed_for(before)):
            self.log(f"pod {name} is reclaimed for {reclaimed_for(pod)}")
        if not is_ending(pod) or (before and is_ending(before)):
            return
        self.log(f"pod {name} is deleted, {pod['metadata']['deletionGracePeriodSeconds']} s")
        if uid in self.lost or farm not in self.floors or "nodeName" not in pod["spec"]:
            return
        # Pods that were lost in this round count as held: the operator may not have known.
        held = sum(farm_of(other) == farm and "nodeName" in other["spec"] and
                   (not is_ending(other) or other["metadata"]["uid"] in self.lost) for other in self.known.values())
        if held < self.floors[farm]:
            self.violate("below", f"{name} was deleted, and leaves {held} of {self.floors[farm]}")

    def note_audit(self):
        for entry in self.audit.news():
            is_done = entry.get("responseStatus", {}).get("code") == 200
            if not is_done or entry["verb"] not in ("delete", "patch") or entry["objectRef"].get("resource") != "pods":
                continue
            asked = entry.get("requestObject", {})
            uid = asked.get("preconditions", {}).get("uid") or asked.get("metadata", {}).get("uid")
            count = {"delete": self.deleted, "patch": self.taken_anew}[entry["verb"]]
            count[uid] += 1
            if count[uid] == 2:
                self.violate("twice", f"{entry['verb']} of pod {entry['objectRef']['name']} {uid}")

    def unrest(self):
        """What is not as it should be; empty: all is quiet."""
        pods, farms = self.pods.all(), {farm["metadata"]["name"]: farm for farm in self.farms.all()}
        uids = {farm["metadata"]["uid"] for farm in farms.values()}
        for pod in pods:
            name = pod["metadata"]["name"]
            if not {owner["uid"] for owner in pod["metadata"].get("ownerReferences", [])} & uids:
                return f"orphan: {name} is of a farm that is gone"
            if is_ending(pod):
                return f"unquiet: {name} is ending"
        n_wanted = sum(self.wanted.values())
        n_running = sum(map(is_running, pods))
        if n_running != min(self.rooms(), n_wanted):
            return f"unquiet: {n_running} executors run, {n_wanted} are wanted and {self.rooms()} have room"
        for name, wanted in self.wanted.items():
            running = sum(farm_of(pod) == name and is_running(pod) for pod in pods)
            if not min(wanted, self.guaranteed(name)) <= running <= wanted:
                return f"unquiet: {name} has {running} of {wanted}, guaranteed {self.guaranteed(name)}"
            farm = farms.get(name, {})
            status = farm.get("status", {})
            there = sum(farm_of(pod) == name for pod in pods)
            if (status.get("executors"), status.get("ready"), status.get("terminating")) != (there, running, 0):
                return f"orphan: {name} has {there} pods, {running} ready, its status has {status.get('executors')}, " \
                       f"{status.get('ready')}"
            if status.get("observedGeneration") != farm["metadata"]["generation"]:
                return f"unquiet: the status of {name} is of another generation"
        return "" if self.leader() is not None else "unquiet: there is no leader"

    def run_round(self, kind, number):
        """Seconds from the end of the fault until all is quiet."""
        self.kind, self.round, self.events, self.began = kind, number, [], time.time()
        self.lost.clear()
        self.floors = {name: min(wanted, self.guaranteed(name)) for name, wanted in self.wanted.items()}
        self.log(f"--- {kind}; the leader is {self.leader()}")
        FAULTS[kind](self)
        self.network(NO_FAULTS)
        over = time.time()
        self.log("the fault is over")
        last = ""

        def is_quiet():
            nonlocal last
            last = self.unrest()
            return not last
        if not self.wait_for(is_quiet, QUIET_SECONDS):
            self.violate(*last.split(": ", 1))
        seconds = time.time() - over
        self.note_audit()
        return seconds


# The faults: each begins, lasts and ends, while farms ask and release.

def mid_reclaim(world):
    """All operators are killed when the first pod has been reclaimed."""
    world.force_a_reclaim()
    world.wait_for(lambda: any(reclaimed_for(pod) for pod in world.pods.all()), 20)
    time.sleep(world.random.uniform(0, 0.05))
    world.log("all operators are killed")
    for operator in world.operators:
        operator.process.kill()
    world.request_at_random(1)


def leader_killed(world):
    world.request_at_random(world.random.uniform(0, 2))
    if (leader := world.leader()) is not None:
        world.log(f"operator {leader} is killed")
        world.operators[leader].process.kill()
    world.request_at_random(1)


def leader_cut_off(world):
    leader = world.leader()
    world.request_at_random(0)
    cut = world.random.choice(["reset", "silent"])
    world.log(f"operator {leader} is cut off: {cut}")
    world.network(NetworkFaults(cut=cut), leader)
    world.request_at_random(1.5 * world.lease_seconds)


def watches_cut(world):
    for _ in range(world.random.randint(3, 6)):
        world.request_at_random(0.3)
        for proxy in world.proxies:
            proxy.cut(only_watches=True)


def answers(**network_faults):
    def fault(world):
        world.network(NetworkFaults(part=world.random.uniform(0.2, 0.7), **network_faults))
        if network_faults.get("ages_watches"):
            for proxy in world.proxies:
                proxy.cut(only_watches=True)
        world.force_a_reclaim() if world.random.random() < 0.3 else None
        world.request_at_random(world.random.uniform(2, 4))
    return fault


def restarted(part):
    def fault(world):
        world.request_at_random(world.random.uniform(0, 1))
        world.log(f"{part} is killed")
        world.cluster.do("down", part)
        world.rest(world.random.uniform(0.2, 2))
        world.cluster.do("up", part)
        world.request_at_random(1)
        world.wait_for(lambda: world.cluster.call("status").returncode == 0, 60)
    return fault


def node_deleted(world):
    """For two thirds of a minute, or a few seconds: then it comes back, without its pods."""
    number = world.random.randrange(N_NODES)
    node = f"fake-{number}"
    made = world.api.get(f"/api/v1/nodes/{node}")
    world.request_at_random(0.5)
    with world.pods.lock:
        world.lost |= {uid for uid, pod in world.pods.objects.items() if pod["spec"].get("nodeName") == node}
    world.log(f"{node} is deleted, with {len(world.lost)} pods")
    world.api.delete(f"/api/v1/nodes/{node}")
    world.request_at_random(3)
    for pod in world.pods.all():  # what the pod garbage collector does, half a minute later
        if pod["spec"].get("nodeName") == node:
            world.lost.add(pod["metadata"]["uid"])
            world.try_till_done(lambda pod=pod: world.api.delete(f"{PODS}/{pod['metadata']['name']}", grace=0))
    world.request_at_random(2)
    metadata = {"name": node, "labels": made["metadata"]["labels"]}
    world.api.create("/api/v1/nodes", {"apiVersion": "v1", "kind": "Node", "metadata": metadata,
                                       "status": made["status"]})


def pods_stick(world):
    """Pods that are to make room do not go, for longer than they are waited for."""
    world.request("f", 24)
    world.rest(1)
    held = [pod for pod in world.pods.all() if farm_of(pod) == "f" and is_running(pod)][:2]
    for pod in held:
        world.log(f"pod {pod['metadata']['name']} will stick")
        world.try_till_done(lambda pod=pod: world.api.patch(f"{PODS}/{pod['metadata']['name']}",
                                                            {"metadata": {"finalizers": [HOLD]}}))
    world.request("f", 0)
    world.request_at_random(6)
    for pod in held:
        world.try_till_done(lambda pod=pod: world.api.patch(f"{PODS}/{pod['metadata']['name']}",
                                                            {"metadata": {"finalizers": None}}))


FAULTS = {
    "operator killed in mid-reclaim": mid_reclaim,
    "leader killed while another waits": leader_killed,
    "leader cut off": leader_cut_off,
    "watches cut": watches_cut,
    "409": answers(refused=[409]),
    "410": answers(refused=[410]),
    "410 within watches": answers(ages_watches=True),
    "429": answers(refused=[429]),
    "500": answers(refused=[500]),
    "answers lost": answers(loses_answers=True),
    "slow answers": answers(delay=(0.3, 3)),
    "etcd restarted": restarted("etcd"),
    "API server restarted": restarted("apiserver"),
    "node deleted": node_deleted,
    "pods stick in terminating": pods_stick,
}


def run(rounds, seed, kinds=tuple(FAULTS), lease_seconds=6):
    """The violations, and of each kind of fault the seconds until all was quiet."""
    quiet = collections.defaultdict(list)
    with live.started("faults", "--audit", "--nodes", str(N_NODES)) as cluster:
        world = World(cluster, seed, lease_seconds)
        try:
            if not world.wait_for(lambda: not world.unrest(), 60):
                raise AssertionError(world.unrest() + "\n" + "\n".join(each.said() for each in world.operators))
            for number in range(rounds):
                if number % len(kinds) == 0:
                    order = world.random.sample(kinds, len(kinds))
                kind = order[number % len(kinds)]
                quiet[kind].append(world.run_round(kind, number))
                print(f"round {number}: {kind}: {quiet[kind][-1]:.1f} s", flush=True)
        finally:
            world.n_operators = 0
            for operator in world.operators:
                if operator is not None:
                    operator.kill()
    return world.violations, quiet


def table(violations, quiet):
    lines = ["| fault | rounds | violations | quiet after, median | longest |", "|---|---:|---:|---:|---:|"]
    for kind in FAULTS:
        if kind in quiet:
            n_violations = sum(violation[0] == kind for violation in violations)
            lines.append(f"| {kind} | {len(quiet[kind])} | {n_violations} | {statistics.median(quiet[kind]):.1f} s | "
                         f"{max(quiet[kind]):.1f} s |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--faults", default=",".join(FAULTS), help="names, with commas between")
    parser.add_argument("--lease-seconds", type=int, default=6)
    options = parser.parse_args()
    root = pathlib.Path(__file__).parents[2]
    os.environ.setdefault("PODERE", str(root / "build/release/bin/podere"))
    kinds = options.faults.split(",")
    if unknown := [kind for kind in kinds if kind not in FAULTS]:
        parser.error(f"no fault '{unknown[0]}'; there are: {', '.join(FAULTS)}")
    violations, quiet = run(options.rounds, options.seed, kinds, options.lease_seconds)
    print(table(violations, quiet))
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main())
