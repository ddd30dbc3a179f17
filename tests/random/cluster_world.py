"""A small cluster with the operator under the rights of the chart, users, and what happens to them; see cluster.py."""

import collections
import json
import os
import pathlib
import re
import subprocess
import sys
import time

import yaml

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "kubernetes"))
import live  # noqa: E402
from api import Api, Refused, Watch  # noqa: E402
from cluster_judge import View, annotation, cpu_of, fields_above, is_ending, is_over, judge, judge_sentence, key_of  # noqa: E402
from cluster_reclaims import Reclaim, judge_reclaims  # noqa: E402
from fault_proxy import NO_FAULTS, Proxy, NetworkFaults  # noqa: E402

NAMESPACES = ["astro", "bio", "hep", "course-a", "course-b"]
CORE, PODERE, RIGHTS = "/api/v1", "/apis/podere.dev/v1alpha1", "/apis/rbac.authorization.k8s.io/v1"
MANAGER = f"{PODERE}/farmmanagers/everybody"
ADMISSION = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings"
NETWORK_FAULTS = {"slow": NetworkFaults(delay=(0.2, 2), part=0.7), "refused": NetworkFaults(refused=(409, 429, 500), part=0.6), "cut": NetworkFaults(cut="reset"),
            "silent": NetworkFaults(cut="silent"), "lost": NetworkFaults(loses_answers=True), "aged": NetworkFaults(ages_watches=True, part=0.9)}
SETTLE_SECONDS, QUIET_SECONDS, RETRY_SECONDS = 75, 1.2, 4
POLICY_SECONDS = 15  # until the API server judges by an admission policy, or by ceilings, that have changed
FAKE = {"nodeSelector": {"podere.test/node": "fake"}}


def of(namespace, kind, name=""):
    base = PODERE if kind in ("farms", "whatifs") else "/apis/apps/v1" if kind == "deployments" else \
        RIGHTS if kind.startswith("role") else CORE
    return f"{base}/namespaces/{namespace}/{kind}" + ("/" + name if name else "")


def container(cpu):
    requests = {"cpu": str(cpu), "memory": "64Mi"} if cpu else {}
    return {"name": "main", "image": "none", "resources": {"requests": requests}}


def template(cpu, ends_after, **more):
    annotations = {} if ends_after is None else {"podere.test/ends-after": str(ends_after)}
    return {"metadata": {"annotations": annotations}, "spec": {**FAKE, "containers": [container(cpu)], **more}}


class World:
    def __init__(self, cluster, seed, dump):
        self.cluster, self.dump, self.number, self.n_said = cluster, dump, 0, 0
        self.api = Api(cluster)
        self.install()
        self.proxy = Proxy(Api(cluster, "operator"), seed)
        self.operator, self.operators = None, []
        self.start_operator()
        self.lost, self.reclaimed, self.counted, self.started = collections.Counter(), [], set(), set()
        self.seen = collections.Counter()  # how often what is judged came up
        self.quotas, self.managers = Watch(self.api, CORE + "/resourcequotas"), Watch(self.api, PODERE + "/farmmanagers")
        self.farms, self.nodes = Watch(self.api, PODERE + "/farms"), Watch(self.api, CORE + "/nodes")
        self.pods = None
        self.pods = Watch(self.api, CORE + "/pods", self.note)
        self.findings, self.first_seen, self.still_open = [], {}, set()
        self.has_policy, self.rules = True, [(time.time(), {})]  # from when on, and the manager's spec; {}: without the policy
        self.note_rules()
    def install(self):
        cluster = self.cluster
        cluster.know_farms()
        things = [t for t in yaml.safe_load_all((live.DEPLOY / "operator.yaml").read_text()) if t["kind"] != "Deployment"]
        cluster.kubectl("apply", "-f", "-", given={"apiVersion": "v1", "kind": "List", "items": things})
        cluster.operator_user()
        self.api.patch(MANAGER, {"spec": {"retrySeconds": RETRY_SECONDS, "maxDrainSeconds": 12, "maxPriority": 5, "ceilings": [
            {"name": "each", "minExecutors": 6}, {"name": "course", "namespaces": ["course-*"], "minExecutors": 4, "maxExecutors": 8}]}})
        cluster.kubectl("create", "clusterrolebinding", "observer", "--clusterrole=podere-farm-observer", "--user=observer")
        self.users = {"observer": self.user("observer"), "operator": Api(cluster, "operator")}
        for namespace in NAMESPACES:
            cluster.kubectl("create", "namespace", namespace)
            cluster.kubectl("create", "rolebinding", "edit", "--clusterrole=edit", f"--user=editor-{namespace}", "-n", namespace)
            rights = subprocess.run([live.DEPLOY / "farm-user.sh", f"{namespace}/a", f"user-{namespace}"], check=True, text=True,
                                    capture_output=True).stdout
            cluster.kubectl("apply", "-f", "-", given=rights)
            cluster.kubectl("create", "secret", "generic", "database", "--from-literal=password=x", "-n", namespace)
            for kind in "editor", "user":
                self.users[f"{kind}-{namespace}"] = self.user(f"{kind}-{namespace}")
        for name in "n1", "n2", "n3":
            self.do_node(name, "add")

    def user(self, name):
        self.cluster.do("kubeconfig", name)
        return Api(self.cluster, name)

    def start_operator(self):
        config = self.proxy.kubeconfig(self.cluster.folder / "proxy")
        self.operator = live.Operator(self.cluster, "--namespace", "podere", "--lease-seconds", "3", "--guaranteed-priority-class",
                                      "podere-guaranteed", kubeconfig=config)
        self.operators.append(self.operator)
        self.n_said = 0

    # What watches see meanwhile.

    def note(self, kind, pod, _at):
        """Each pod that goes: reclaimed by the operator for a farm, or lost otherwise. And gangs that have started by it."""
        owner = next((o["name"] for o in pod["metadata"].get("ownerReferences", []) if o["kind"] == "Farm"), None)
        if not owner or self.pods is None:
            return
        key = f"{pod['metadata']['namespace']}/{owner}"
        self.note_start(key)
        uid, reclaimed_for = pod["metadata"]["uid"], annotation(pod, "reclaimed-for")
        if uid in self.counted or not (reclaimed_for or kind == "DELETED" or is_ending(pod)):
            return
        self.counted.add(uid)
        if not reclaimed_for:
            self.lost[key] += 1
            return
        left = sum(p["metadata"]["uid"] not in self.counted for p in self.executors(key))
        self.reclaimed.append(Reclaim(key, reclaimed_for, annotation(pod, "reclaimed-for-guarantee") == "true", left, cpu_of(pod["spec"])))

    def executors(self, key):
        """Pods of a farm that are to stay, in the midst of a change of one."""
        namespace, name = key.split("/")
        return [p for p in list(self.pods.objects.values()) if not is_ending(p) and not is_over(p) and
                p["metadata"]["namespace"] == namespace and any(o["name"] == name for o in p["metadata"].get("ownerReferences", []))]

    def note_start(self, key):
        """Between two looks a gang may have started, or lost all."""
        namespace, name = key.split("/")
        spec = next((f["spec"] for f in self.farms.all() if f["metadata"]["namespace"] == namespace and f["metadata"]["name"] == name), {})
        running = sum("nodeName" in p["spec"] and not annotation(p, "reclaimed-for") for p in self.executors(key))
        if running == 0:
            self.started.discard(key)
        elif running >= min(spec.get(n, 100000) for n in ("minExecutors", "executors", "maxExecutors")):
            self.seen["gangs started"] += bool(spec.get("gang")) and key not in self.started
            self.started.add(key)

    def view(self):
        manager = next(m for m in self.managers.all() if m["metadata"]["name"] == "everybody")
        for farm in self.farms.all():
            with self.pods.lock:
                self.note_start(key_of(farm))
        return View(self.farms.all(), self.pods.all(), self.nodes.all(), self.quotas.all(), manager, set(self.started))

    def note_rules(self):
        self.rules.append((time.time(), self.api.get(MANAGER)["spec"] if self.has_policy else {}))

    def late_rules(self):
        """By which the API server may judge now: {} if by none."""
        ends = [since for since, _ in self.rules[1:]] + [time.time()]
        return [manager for (_, manager), end in zip(self.rules, ends) if time.time() - end < POLICY_SECONDS]

    # After each operation.

    def find(self, text, view=None):
        print(f"  FOUND {text}", flush=True)
        self.findings.append((self.number, text))
        if self.dump and view:
            keep = {key: {"spec": f.spec, "status": f.status, "pods": [
                [p["metadata"]["name"], p["spec"].get("nodeName"), p["status"].get("phase"), p["metadata"].get("deletionTimestamp"),
                 p["metadata"].get("annotations")] for p in f.staying + f.ending]} for key, f in view.farms.items()}
            keep["view"] = {"nodes": view.nodes, "used": view.used, "strangers": view.by_strangers, "due": view.due, "now": view.now,
                            "compete": view.compete, "manager": view.manager, "quotas": view.quotas}
            (self.dump / f"{self.number}-{len(self.findings)}.json").write_text(json.dumps({"found": text, **keep}, indent=1))

    def settle(self, before):
        """Waits till nothing changes and nothing is wrong; says what stays wrong, and what went wrong on the way."""
        views, end, said = [before], time.time() + SETTLE_SECONDS, self.still_open
        self.first_seen, print_, changed, open_now = {}, None, time.time(), {}
        while time.time() < end:
            time.sleep(0.3)
            self.tend()
            view = self.view()
            views.append(view)
            open_now = {re.sub(r"\d+ s\b", "", text): (patience, text) for patience, text in judge(view)}
            self.first_seen = {k: self.first_seen.get(k, view.now) if self.leads() else view.now for k in open_now}
            for k, (patience, text) in open_now.items():
                if view.now - self.first_seen[k] > patience and k not in said:
                    said.add(k)
                    self.find(text, view)
            now = [(f.key, f.message, [(p["metadata"]["uid"], is_ending(p), p["status"].get("phase")) for p in f.staying + f.ending])
                   for f in view.farms.values()]
            if now != print_:
                print_, changed = now, view.now
            if view.now - changed > QUIET_SECONDS and not set(open_now) - said:
                break
        else:
            print(f"  unsettled after {SETTLE_SECONDS} s", flush=True)
            if not self.leads():
                self.find(f"crash: the operator does not lead: {self.operator.said()[-500:]}")
        self.still_open = said & set(open_now)
        reclaimed, self.reclaimed = self.reclaimed, []
        lost, self.lost = self.lost, collections.Counter()
        self.seen += collections.Counter("reclaimed for guarantees" if one.is_guarantee else "reclaimed for shares" for one in reclaimed)
        stand = [f for f in views[-1].farms.values() if len(f.staying) < f.let]
        self.seen["gangs held back"] += sum(f.starts_whole and not f.staying for f in stand)
        self.seen["admitted in part"] += sum(views[-1].is_held_back(f) and bool(f.staying) for f in stand)
        for text in judge_reclaims(reclaimed, lost, views):
            self.find(text, views[-1])
        self.judge_operator()

    def tend(self):
        """What a Deployment does: an operator that ended is started again. It may end when it lost its lease, or found no API server."""
        ended = self.operator.process.poll()
        if ended is not None:
            if ended not in (1, 2) or not re.search("the lease is lost|Empty reply|refused|timed out", self.operator.said()[-300:]):
                self.find(f"crash: the operator ended with {ended}: {self.operator.said()[-500:]}")
            self.start_operator()

    def leads(self):
        """Until then nothing happens."""
        return re.search("Z leads$", self.operator.said(), re.M)

    def judge_operator(self):
        lines = collections.Counter(re.sub(r"\d+", "#", line[25:]) for line in self.operator.said().splitlines()[self.n_said:])
        self.n_said = len(self.operator.said().splitlines())
        for line, n in lines.items():
            if n > 30:
                self.find(f"log: {n} times: {line}")

    def writes(self):
        return sum(float(n) for n in re.findall(r"^podere_operator_writes_total.* (\S+)$", self.operator.get("/metrics")[1], re.M))

    def do_rest(self, seconds):
        """Nothing changes, so nothing is to be written."""
        counts = [self.writes()]
        time.sleep(seconds)
        counts.append(self.writes())
        if counts[1] - counts[0] > 2 + seconds and not any(f.ending for f in self.view().farms.values()):
            self.find(f"busy: {counts[1] - counts[0]:.0f} writes in {seconds} s without cause", self.view())

    # Operations. Each is made of what its line says.

    def do_farm(self, farm, spec):
        namespace, name = farm.split("/")
        body = {"apiVersion": "podere.dev/v1alpha1", "kind": "Farm", "metadata": {"name": name}, "spec": spec}
        self.write_farm(farm, spec, lambda: self.users[f"editor-{namespace}"].create(of(namespace, "farms"), body))

    def do_change(self, farm, spec):
        namespace, name = farm.split("/")
        self.write_farm(farm, spec, lambda: self.users[f"editor-{namespace}"].patch(of(namespace, "farms", name), {"spec": spec}))

    def write_farm(self, farm, spec, write):
        """What is above a ceiling by itself, and above what it was, is refused where the admission policy is in force."""
        view, namespace = self.view(), farm.split("/")[0]
        known = view.farms[farm].spec if farm in view.farms else {}
        spec = {**known, **spec}
        try:
            write()
        except Refused as refused:
            above = set().union(*(fields_above(manager, namespace, known, spec) for manager in self.late_rules()))
            is_above = any(f"{field} is above the ceiling" in str(refused) for field in above)
            is_odd_gang = "a gang needs" in str(refused) and spec.get("gang") and not (spec.get("minExecutors") and "template" in spec)
            if refused.status != 404 and not (refused.status == 422 and (is_above or is_odd_gang or "must be" in str(refused))):
                self.find(f"refused: {refused}")
            print(f"  refused: {refused.status}", flush=True)
        else:
            above = set.intersection(*(fields_above(manager, namespace, known, spec) for manager in self.late_rules()))
            if above:
                self.find(f"admitted: {', '.join(sorted(above))} above a ceiling: was {known}, is {spec}", view)

    def do_scale(self, namespace, executors):
        try:
            self.users[f"user-{namespace}"].patch(of(namespace, "farms", "a/scale"), {"spec": {"replicas": executors}})
        except Refused as refused:
            if refused.status != 404:
                self.find(f"refused: {refused}")

    def do_remove(self, farm):
        self.users["editor-" + farm.split("/")[0]].delete(of(farm.split("/")[0], "farms", farm.split("/")[1]))

    def do_end_executor(self, farm, grace):
        found = [p for p in self.view().farms[farm].staying] if farm in self.view().farms else []
        if found:
            name = min(p["metadata"]["name"] for p in found)
            self.users["editor-" + farm.split("/")[0]].delete(of(farm.split("/")[0], "pods", name), grace)

    def do_strangers(self, namespace, name, replicas, cpu, labels):
        """A Deployment of others, or its end."""
        made = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name}, "spec": {
            "replicas": replicas, "selector": {"matchLabels": {"of": name}}, "template": template(cpu, 1)}}
        made["spec"]["template"]["metadata"]["labels"] = {"of": name, **labels}
        try:
            self.api.delete(of(namespace, "deployments", name))
        except Refused:
            pass
        if replicas:
            self.api.create(of(namespace, "deployments"), made)

    def do_node(self, name, act):
        path = f"{CORE}/nodes/{name}"
        try:
            if act == "add":
                room = {"cpu": "8", "memory": "32Gi", "pods": "110"}
                self.api.create(CORE + "/nodes", {"metadata": {"name": name, "labels": {
                    "podere.test/node": "fake", "kubernetes.io/hostname": name}}, "status": {"allocatable": room, "capacity": room}})
            elif act == "remove":
                self.api.delete(path)
                for pod in self.api.get(f"{CORE}/pods?fieldSelector=spec.nodeName%3D{name}")["items"]:
                    self.api.delete(of(pod["metadata"]["namespace"], "pods", pod["metadata"]["name"]), 0)
            else:
                self.api.patch(path, {"spec": {"unschedulable": act != "uncordon"}})
            if act == "drain":
                for pod in self.api.get(f"{CORE}/pods?fieldSelector=spec.nodeName%3D{name}")["items"]:
                    self.api.delete(of(pod["metadata"]["namespace"], "pods", pod["metadata"]["name"]))
        except Refused as refused:
            if refused.status not in (404, 409):
                raise

    def do_quota(self, namespace, hard):
        """One that is there is changed; {}: it goes."""
        path, body = of(namespace, "resourcequotas", "room"), {"metadata": {"name": "room"}, "spec": {"hard": hard}}
        try:
            if hard:
                self.api.ask("PUT", path, body)
            else:
                self.api.delete(path)
        except Refused as refused:
            if refused.status != 404:
                raise
            if hard:
                self.api.create(of(namespace, "resourcequotas"), body)

    def do_operator(self, act):
        if act == "kill":
            self.operator.kill()
        else:
            self.operator.process.terminate()
            if self.operator.process.wait(timeout=20) != 0:
                self.find(f"crash: ended with {self.operator.process.returncode}")
        self.start_operator()

    def do_network(self, kind, seconds, farm, spec):
        self.proxy.set(NETWORK_FAULTS[kind])
        try:
            self.do_change(farm, spec)
            time.sleep(seconds)
        finally:
            self.proxy.set(NO_FAULTS)

    def do_server(self, seconds):
        self.cluster.do("down", "apiserver")
        time.sleep(seconds)
        self.cluster.do("up", "apiserver")
        live.wait_until(lambda: self.cluster.call("status").returncode == 0, "the API server is back")
        time.sleep(3)
        self.rules.append((time.time(), {}))  # which it knows by and by
        self.note_rules()

    def do_manager(self, spec):
        self.api.patch(MANAGER, {"spec": spec})
        self.note_rules()

    def do_policy(self, on):
        if on == self.has_policy:
            return
        if on:
            self.api.create(ADMISSION, next(t for t in yaml.safe_load_all((live.DEPLOY / "operator.yaml").read_text())
                                            if t["kind"] == "ValidatingAdmissionPolicyBinding"))
        else:
            self.api.delete(ADMISSION + "/podere-farm-ceilings")
        self.has_policy = on
        self.note_rules()
        time.sleep(3)

    def do_secret(self, namespace):
        """A key that was there before its farm: no pods are made, and the status says why."""
        self.api.create(of(namespace, "secrets"), {"metadata": {"name": "podere-farm-forged"}, "stringData": {"id": "mine"}})
        mount = {"volumes": [{"name": "key", "secret": {"secretName": "podere-farm-forged"}}]}
        self.do_farm(f"{namespace}/forged", {"executors": 1, "drainSeconds": 0, "template": template(1, 1, **mount)})
        time.sleep(4)
        view = self.view()
        farm = view.farms.get(f"{namespace}/forged")
        if farm and (farm.staying or farm.conditions.get("Ready", {}).get("reason") != "NoPodsAreMade" or "secret" not in farm.message):
            self.find(f"forged: {len(farm.staying)} pods with a secret that was there before: {farm.message}", view)
        for kind, name in ("farms", "forged"), ("secrets", "podere-farm-forged"):
            try:
                self.api.delete(of(namespace, kind, name))
            except Refused as refused:
                if refused.status != 404:
                    raise

    def do_hostile(self, namespace, other):
        """What docs/security.md forbids."""
        editor, user = self.users[f"editor-{namespace}"], self.users[f"user-{namespace}"]
        observer, operator = self.users["observer"], self.users["operator"]
        farm, foreign, lease = of(namespace, "farms", "a"), of(other, "farms", "a"), "/apis/coordination.k8s.io/v1/namespaces/{}/leases/{}"
        role = {"metadata": {"name": "mine"}, "rules": [{"apiGroups": [""], "resources": ["secrets"], "verbs": ["*"]}]}
        tries = [("PATCH", who, path) for who in (editor, user, observer) for path in (
            MANAGER, MANAGER + "/status", farm + "/status", foreign, foreign + "/scale", f"{RIGHTS}/clusterroles/podere-farm-user",
            of(namespace, "whatifs", "x/status"), lease.format("podere", "podere-operator"), f"{CORE}/nodes/n1",
            f"{ADMISSION}/podere-farm-ceilings", of(other, "pods", "a-0"), of(namespace, "roles", "podere-farm-a"))]
        tries += [("DELETE", who, path) for who in (editor, user, observer) for path in (
            MANAGER, foreign, of(other, "pods", "a-0"), of(other, "secrets", "database"), f"{CORE}/nodes/n1")]
        tries += [("GET", who, path) for who in (user, observer) for path in (
            of(namespace, "secrets"), of(namespace, "secrets", "database"), of(namespace, "secrets", "podere-farm-b"), of(other, "pods"),
            CORE + "/nodes", CORE + "/pods", of(namespace, "whatifs"))]
        tries += [("GET", editor, path) for path in (of(other, "secrets"), of(other, "pods"), foreign, CORE + "/nodes")]
        tries += [("GET", user, foreign), ("GET", user, of(other, "secrets", "podere-farm-a")), ("GET", observer, of(namespace, "pods"))]
        tries += [("PATCH", user, path) for path in (farm, of(namespace, "pods", "a-0"), of(namespace, "farms", "b/scale"))]
        tries += [("PATCH", observer, farm), ("DELETE", user, of(namespace, "pods", "a-0")), ("DELETE", user, farm)]
        tries += [("POST", who, of(namespace, "roles"), role) for who in (editor, user, observer)]
        tries += [("POST", user, of(namespace, "pods"), {"metadata": {"name": "x"}, "spec": {"containers": [container(1)]}})]
        tries += [("GET", operator, of(namespace, "secrets", "database")), ("GET", operator, of(namespace, "secrets")),
                  ("DELETE", operator, of(namespace, "secrets", "database")), ("PATCH", operator, of(namespace, "secrets", "database")),
                  ("PATCH", operator, f"{CORE}/nodes/n1"), ("PATCH", operator, farm), ("DELETE", operator, farm),
                  ("GET", operator, of(namespace, "roles")), ("GET", operator, of(namespace, "configmaps")), ("PATCH", operator, MANAGER),
                  ("GET", operator, lease.format("kube-system", "kube-scheduler")), ("GET", operator, lease.format("kube-node-lease", "n1"))]
        names = {id(api): name for name, api in self.users.items()}
        for method, who, path, *body in tries:
            body = body[0] if body else {"metadata": {"labels": {"x": "y"}}}
            try:
                who.ask(method, path, None if method in ("GET", "DELETE") else body,
                        "application/json" if method == "POST" else "application/merge-patch+json")
                self.find(f"allowed: {names[id(who)]} {method} {path}")
            except Refused as refused:
                if refused.status != 403:
                    self.find(f"allowed: {names[id(who)]} {method} {path}: {refused}")

    def do_ask(self, farm, executors, who):
        config = self.cluster.do("kubeconfig", who)
        asked = subprocess.run([os.environ["PODERE"], "farm", "what-if", "--farm", farm, "--executors", str(executors), "--kubeconfig",
                                config], capture_output=True, text=True)
        text = asked.stdout + asked.stderr
        if asked.returncode and not (asked.returncode == 2 and (farm not in self.view().farms or "may have" in text or "made by others" in text)):
            self.find(f"what-if: {farm} {executors}: exit code {asked.returncode}: {text}", self.view())
        for found in judge_sentence(farm, text.replace(farm + ", if", "if"), self.view().farms):
            self.find(found, self.view())
        pending = sum(int(n) for n in re.findall(r"^ +(\d+) (?:guaranteed )?(?:pending|running)", asked.stdout, re.M))
        if pending > executors:
            self.find(f"what-if: {farm} {executors}, answered for {pending}: {text}", self.view())
