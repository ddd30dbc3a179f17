"""What must hold on a shared cluster, judged from outside: by pods, nodes and quotas, never by what the operator knows.

`judge(view)` yields findings as (patience in seconds, text). What holds only for a moment, while the operator or its status
catches up, is none: a finding counts when it stood for its patience.
"""

import calendar
import collections
import math
import re
import time

STATUS_SECONDS, ROOM_SECONDS = 6, 12  # how long a status may lag behind, and how long room may stay unused


def amount(text):
    return float(text[:-1]) / 1000 if str(text).endswith("m") else float(text or 0)


def cpu_of(spec):
    return sum(amount(c.get("resources", {}).get("requests", {}).get("cpu", 0)) for c in spec["containers"])


def seconds(timestamp):
    return calendar.timegm(time.strptime(timestamp[:19], "%Y-%m-%dT%H:%M:%S"))


def key_of(item):
    return f"{item['metadata']['namespace']}/{item['metadata']['name']}"


def annotation(pod, name):
    return pod["metadata"].get("annotations", {}).get("podere.dev/" + name)


def is_ending(pod):
    return "deletionTimestamp" in pod["metadata"]


def is_over(pod):
    return pod["status"].get("phase") in ("Succeeded", "Failed")


def ready_since(pod):
    return next((seconds(c["lastTransitionTime"]) for c in pod["status"].get("conditions", [])
                 if c["type"] == "Ready" and c["status"] == "True"), None)


def divided(room, asked):
    """Max-min: who asks for less than an equal part has it whole. asked: {who: count} -> {who: part}, not rounded."""
    given, left = {}, room
    for i, (who, count) in enumerate(sorted(asked.items(), key=lambda entry: entry[1])):
        given[who] = min(count, left / (len(asked) - i))
        left -= given[who]
    return given


def divided_fairly(room, farms, asked):
    """First among namespaces, then among the farms of each; rounded down, as another may get the rest."""
    of_namespace = collections.Counter()
    for farm in farms:
        of_namespace[farm.namespace] += asked[farm.key]
    parts = divided(room, of_namespace)
    return {key: math.floor(n + 1e-9) for namespace, part in parts.items()
            for key, n in divided(part, {f.key: asked[f.key] for f in farms if f.namespace == namespace}).items()}


def ceilings_of(manager, namespace):
    """Of a FarmManager's spec."""
    ceilings = manager.get("ceilings", [])
    named = [c for c in ceilings if any(n == namespace or n.endswith("*") and namespace.startswith(n[:-1]) for n in c.get("namespaces", []))]
    return named or [c for c in ceilings if not c.get("namespaces")]


OF_MANAGER = {"drainSeconds": ("maxDrainSeconds", 300), "minRuntimeSeconds": ("maxMinRuntimeSeconds", 3600), "priority": ("maxPriority", 0)}


def most_of_each(manager, namespace, field):
    """What a farm may have of a field that ceilings have in place of the manager's."""
    most, default = OF_MANAGER[field]
    return min((c[field] for c in ceilings_of(manager, namespace) if field in c), default=manager.get(most, default))


def fields_above(manager, namespace, before, spec):
    """What the admission policy refuses of a farm that was `before` and becomes `spec`: fields above a ceiling, by themselves, and above
    what they were. None for their defaults. manager: a spec; empty: without the policy."""
    above = set()
    for field in ("minExecutors", "weight", *OF_MANAGER) if manager else ():
        if field not in spec or (field, spec[field]) in (("weight", 1), ("drainSeconds", 60), ("priority", 0)):
            continue
        most = [c[field] for c in ceilings_of(manager, namespace) if field in c]
        if field in OF_MANAGER:
            most = [most_of_each(manager, namespace, field)]
        if any(spec[field] > n for n in most) and not (field in before and spec[field] <= before[field]):
            above.add(field)
    return above


class Farm:
    def __init__(self, item, pods, manager):
        self.key, self.namespace, self.spec = key_of(item), item["metadata"]["namespace"], item["spec"]
        self.generation, self.status = item["metadata"]["generation"], item.get("status", {})
        self.has_template = "template" in self.spec
        self.conditions = {c["type"]: c for c in self.status.get("conditions", [])}
        self.message = self.status.get("message", "")
        self.staying = [p for p in pods if not is_ending(p) and not is_over(p)]
        self.ending = [p for p in pods if is_ending(p) and not is_over(p)]
        self.running = [p for p in self.staying if p["spec"].get("nodeName")]
        self.ready = [p for p in self.running if ready_since(p) is not None]
        most = self.spec.get("maxExecutors", 100000) if self.has_template else len(self.staying)  # others make its pods, or not
        self.wanted = min(self.spec.get("executors", len(self.staying)), most)
        self.cpu = cpu_of(self.spec["template"]["spec"]) if self.has_template else 4
        claimed = [int(n) for n in re.findall(r"(?:minExecutors|its guarantee of) \d+ counts as (\d+)", self.message)]
        cut = re.search(r"; executors \d+ counts as (\d+)", self.message)
        self.let = min(self.wanted, int(cut[1])) if cut else self.wanted  # by its status
        self.ask = min(self.spec.get("minExecutors", 0), self.wanted)
        self.counted = min(self.ask, *claimed) if claimed else self.ask  # at most, by what its status says
        self.borrowed = max(0, len(self.running) - self.counted)
        self.priority = min(self.spec.get("priority", 0), most_of_each(manager, self.namespace, "priority"))
        self.is_gang = bool(self.spec.get("gang")) and self.has_template
        self.starts_whole = self.is_gang and self.ask > 0  # until it has started


class View:
    """What there is at one moment. manager: as the API has it; started: keys of gangs that had all that they ask for, and some since."""

    def __init__(self, farms, pods, nodes, quotas, manager, started):
        self.now, self.manager, self.ceilings = time.time(), manager, manager["spec"].get("ceilings", [])
        of_farm = collections.defaultdict(list)
        self.strangers = []
        known = {item["metadata"]["uid"]: key_of(item) for item in farms}
        selectors = {(item["metadata"]["namespace"], label): key_of(item) for item in farms
                     for label in item["spec"].get("selector", {}).get("matchLabels", {}).items()}
        for pod in pods:
            owner = next((known.get(o["uid"]) for o in pod["metadata"].get("ownerReferences", []) if o["kind"] == "Farm"), None)
            for label in pod["metadata"].get("labels", {}).items():
                owner = owner or selectors.get((pod["metadata"]["namespace"], label))
            (of_farm[owner] if owner else self.strangers).append(pod)
        self.farms = {key_of(item): Farm(item, of_farm[key_of(item)], manager["spec"]) for item in farms}
        for farm in self.farms.values():
            farm.starts_whole = farm.starts_whole and farm.key not in started and len(farm.running) < farm.ask
        self.quotas = {q["metadata"]["namespace"]: q for q in quotas}
        self.nodes = {n["metadata"]["name"]: amount(n["status"]["allocatable"]["cpu"]) for n in nodes
                      if not n["spec"].get("unschedulable") and not n["metadata"].get("deletionTimestamp")}
        self.all_nodes = {n["metadata"]["name"] for n in nodes}
        self.used, self.by_strangers = collections.Counter(), collections.Counter()
        for pod in pods:
            if not is_over(pod):
                self.used[pod["spec"].get("nodeName")] += cpu_of(pod["spec"])
        for pod in self.strangers:
            if not is_over(pod):
                self.by_strangers[pod["spec"].get("nodeName")] += cpu_of(pod["spec"])
        self.compete = any(not p["spec"].get("nodeName") and not is_over(p) for p in self.strangers)
        self.lost_pods = any(p["spec"].get("nodeName", None) not in {None, *self.all_nodes} for p in pods)
        self.due = self.least_guarantees()

    def ceilings_of(self, namespace):
        return ceilings_of(self.manager["spec"], namespace)

    def sharing(self, ceiling, namespace):
        return [f for f in self.farms.values() if ceiling in self.ceilings_of(f.namespace) and
                (ceiling.get("namespaces") or f.namespace == namespace)]

    def drain_limit(self, namespace):
        return most_of_each(self.manager["spec"], namespace, "drainSeconds")

    def most_executors(self, farm, more=1):
        """Whether the ceilings leave it so many beyond what there is."""
        return all(sum(len(f.staying) for f in self.sharing(c, farm.namespace)) + more <= c["maxExecutors"]
                   for c in self.ceilings_of(farm.namespace) if "maxExecutors" in c)

    def fits_empty(self, farm):
        return any(room >= farm.cpu for room in self.nodes.values())

    def least_guarantees(self):
        """What each farm is guaranteed at least, whatever others ask for. Of a gang that has not started, all or nothing."""
        asking = [f for f in self.farms.values() if f.has_template and f.ask and self.fits_empty(f)]
        least = {f.key: f.ask for f in asking}
        for farm in asking:
            for ceiling in self.ceilings_of(farm.namespace):
                among = [f for f in self.sharing(ceiling, farm.namespace) if f.ask]
                part = divided_fairly(min(ceiling.get("minExecutors", 100000), ceiling.get("maxExecutors", 100000)), among,
                                      {f.key: f.ask for f in among})
                least[farm.key] = min(least[farm.key], part[farm.key])
        self.by_ceilings = dict(least)
        sized = [f for f in asking if f.cpu]
        largest = max((f.cpu for f in sized), default=1)
        rooms = sum(max(0, math.floor((room - self.by_strangers[name]) / largest)) for name, room in self.nodes.items())
        part = divided_fairly(rooms, sized, {f.key: f.ask for f in sized})
        least = {key: min(n, part.get(key, n)) for key, n in least.items()}
        return {key: 0 if self.farms[key].starts_whole and n < self.farms[key].ask else n for key, n in least.items()}

    def quota_admits(self, farm):
        """How many more of its executors, as the quota counts now."""
        quota = self.quotas.get(farm.namespace, {})
        hard, used = quota.get("spec", {}).get("hard", {}), quota.get("status", {}).get("used", {})
        left = {name: amount(n) - amount(used.get(name)) for name, n in hard.items()}
        if "requests.cpu" in left and not farm.cpu:
            return 0  # it must be reported
        return math.floor(min((left[name] / n for name, n in (("pods", 1), ("requests.cpu", farm.cpu)) if name in left), default=100000))

    def is_held_back(self, farm):
        """By what is no matter of room: a quota that is full, a template that is refused, a secret of others."""
        if self.quota_admits(farm) < (max(1, farm.ask - len(farm.staying)) if farm.starts_whole else 1):
            return True
        return farm.conditions.get("Ready", {}).get("reason") == "NoPodsAreMade"

    def may_go(self, farm):
        """Cores of executors that have run as long as their farm may protect them, by node, on nodes that take others."""
        safe = min(farm.spec.get("minRuntimeSeconds", 0), most_of_each(self.manager["spec"], farm.namespace, "minRuntimeSeconds"))
        cores = collections.defaultdict(list)
        for pod in farm.running:
            if pod["spec"]["nodeName"] in self.nodes and (ready_since(pod) is None or self.now - ready_since(pod) > safe + 2):
                cores[pod["spec"]["nodeName"]].append(cpu_of(pod["spec"]))
        return cores

    def could_give(self, farm, cpu):
        """Whether it has executors that it is not guaranteed, whatever counts of that, and one of them makes room for so many cores."""
        return len(farm.running) > farm.ask and any(each >= cpu for cores in self.may_go(farm).values() for each in cores)

    def room_on(self, name, farm, borrowers):
        """Of a node, if `borrowers` release what they borrow."""
        room = self.nodes[name] - self.used[name]
        return room + sum(sum(sorted(self.may_go(f)[name])[:f.borrowed]) for f in borrowers if f is not farm)

    def room_for(self, farm, with_borrowed):
        """A node on which one more executor would run: at once, or if others release what they borrow."""
        borrowers = self.farms.values() if with_borrowed else ()
        return next((name for name in self.nodes if self.room_on(name, farm, borrowers) >= farm.cpu), None)

    def rooms_for(self, farm, with_borrowed):
        """How many more would run, likewise; what a farm borrows on several nodes counts once."""
        rooms = sum(max(0, math.floor(self.room_on(name, farm, ()) / farm.cpu)) for name in self.nodes) if farm.cpu else 0
        if with_borrowed and farm.cpu:
            rooms += sum(min(f.borrowed, sum(each >= farm.cpu for cores in self.may_go(f).values() for each in cores))
                         for f in self.farms.values() if f is not farm)
        return rooms


def judge_room(view):
    short = [f for f in view.farms.values() if view.due.get(f.key, 0) > len(f.staying) and not view.is_held_back(f)]
    for farm in short:
        missing = view.due[farm.key] - len(farm.staying)
        coming = sum(annotation(p, "reclaimed-for") == farm.key for f in view.farms.values() for p in f.ending)
        if missing <= coming or view.compete or not view.most_executors(farm, missing if farm.starts_whole else 1):
            continue
        node = view.room_for(farm, True)
        if not farm.starts_whole and node:
            yield ROOM_SECONDS, f"short: {farm.key} has {len(farm.staying)} of {view.due[farm.key]} while {node} has room, free or borrowed"
        if farm.starts_whole and len(short) == 1 and view.rooms_for(farm, True) >= missing:
            yield ROOM_SECONDS, f"gang: {farm.key} has {len(farm.staying)} of {farm.ask}, and room for {missing} more is free or borrowed"
    yield from judge_gangs(view, short)
    for farm in view.farms.values():
        node = view.room_for(farm, False)
        if (not short and farm.has_template and len(farm.staying) < farm.let and node and not view.is_held_back(farm)
                and view.most_executors(farm) and not farm.starts_whole):
            yield ROOM_SECONDS, f"idle: {farm.key} has {len(farm.staying)} of {farm.let}, {node} has room for one more"
        if not short and not view.compete and len(farm.staying) < farm.let:
            yield from judge_priority(view, farm)
        for pod in farm.ending:
            left = seconds(pod["metadata"]["deletionTimestamp"]) - view.now
            if left > view.drain_limit(farm.namespace) + 3:
                yield STATUS_SECONDS, f"held: {key_of(pod)} may drain for {left:.0f} s more, {view.drain_limit(farm.namespace)} are allowed"
    for pod in view.strangers:
        owners = [o for o in pod["metadata"].get("ownerReferences", []) if o["kind"] == "Farm"]
        if owners:
            yield view.drain_limit(pod["metadata"]["namespace"]) + 30, f"left: {key_of(pod)} of the deleted farm {owners[0]['name']}"


def judge_gangs(view, short):
    """A gang has no executor till all have room, and starts where they have."""
    for farm in view.farms.values():
        if not farm.starts_whole:
            continue
        if farm.staying:
            yield ROOM_SECONDS, f"part: {farm.key} has {len(farm.staying)} executors, {farm.ask} are to start together"
        missing = farm.ask - len(farm.staying)
        is_let = view.by_ceilings.get(farm.key) == farm.ask <= farm.let and view.most_executors(farm, missing)
        if is_let and missing > 0 and not short and view.rooms_for(farm, False) >= missing and not view.is_held_back(farm):
            yield ROOM_SECONDS, f"gang: {farm.key} has {len(farm.staying)} of {farm.ask}, and there is free room for {missing} more"


def judge_priority(view, farm):
    """Borrowed room of lower priority is reclaimed for it, unless a guarantee waits."""
    if any(len(f.running) < f.counted for f in view.farms.values()):
        return
    coming = sum(annotation(p, "reclaimed-for") == farm.key for f in view.farms.values() for p in f.ending)
    if (not farm.has_template or farm.starts_whole or view.is_held_back(farm) or farm.let - len(farm.staying) <= coming
            or not view.most_executors(farm)):
        return
    for other in view.farms.values():
        if other.priority < farm.priority and view.could_give(other, farm.cpu):
            yield ROOM_SECONDS, (f"rank: {farm.key} of priority {farm.priority} has {len(farm.staying)} of {farm.let}, "
                                 f"{other.key} of {other.priority} has {len(other.running)}, guaranteed {other.ask} at most")


def judge_ceilings(view):
    for ceiling in view.ceilings:
        for namespace in {f.namespace for f in view.farms.values() if ceiling in view.ceilings_of(f.namespace)}:
            farms = view.sharing(ceiling, namespace)
            has = sum(len(f.staying) for f in farms)
            if has > ceiling.get("maxExecutors", has) and all(f.has_template for f in farms):
                yield ROOM_SECONDS, f"ceiling: {ceiling['name']} allows {ceiling['maxExecutors']} executors, {namespace} has {has}"
            asking = [f for f in farms if not view.is_held_back(f) and not f.starts_whole]  # others have what is left to those
            counted = sum(f.counted for f in asking)
            if counted > ceiling.get("minExecutors", counted):
                yield STATUS_SECONDS, (f"ceiling: {ceiling['name']} allows guarantees of {ceiling['minExecutors']}, "
                                       f"statuses of {namespace} say {counted}")
            let = sum(f.let for f in asking)
            if let > ceiling.get("maxExecutors", let) and all(f.has_template for f in farms):
                yield STATUS_SECONDS, f"ceiling: {ceiling['name']} allows {ceiling['maxExecutors']}, statuses of {namespace} say {let}"
    for key, n in view.by_ceilings.items():
        claimed = re.search(r"minExecutors \d+ counts as (\d+)", view.farms[key].message)
        if claimed and int(claimed[1]) < n:
            yield STATUS_SECONDS, f"unfair: {key} has a part of {n} below the ceilings: {view.farms[key].message}"


ODD = (r"if it wanted (\d+) executors? and not \1\b", r"\b0 (guaranteed )?pending", r"\((0|-\d+)\)", r"within -", r"\bnan\b|\binf\b|e\+",
       r"\d\.\d+ of ", r"reclaimed in 0 s")


def judge_sentence(who, text, others):
    """Of a status or of an answer to what if; others: names that it may speak of."""
    for pattern in ODD:
        if re.search(pattern, text):
            yield f"sentence: {who}: {text}"
    for has, of in re.findall(r"(\d+) of (\d+) executors", text):
        if int(has) > int(of):
            yield f"sentence: {who}: {text}"
    for named in re.findall(r"([a-z0-9-]+/[a-z0-9-]+)(?= \(\d+\)| borrows)", text):
        if named == who or named not in others:
            yield f"sentence: {who} is reported to wait for {named}: {text}"


def judge_status(view, farm):
    status, ready, text = farm.status, farm.conditions.get("Ready", {}), farm.message
    if status.get("observedGeneration") != farm.generation:
        yield f"status: {farm.key} is of generation {status.get('observedGeneration')}, not {farm.generation}"
        return
    counts = {"executors": len(farm.staying), "running": len(farm.running), "ready": len(farm.ready), "terminating": len(farm.ending),
              "overGuarantee": farm.borrowed}
    for name, count in counts.items():
        if status.get(name, 0) != count and not (name == "overGuarantee" and farm.counted == farm.ask and status.get(name, 0) > count):
            yield f"status: {farm.key} {name} {status.get(name)}, by its pods {count}: {text}"
    said = re.match(r"(\d+) of (\d+) executors running", text)
    if said and int(said[1]) != len(farm.running):
        yield f"status: {farm.key} runs {len(farm.running)}: {text}"
    if (ready.get("status") == "True") != (ready.get("reason") == "AllReady"):
        yield f"status: {farm.key} Ready is {ready.get('status')} with the reason {ready.get('reason')}"
    if ready.get("reason") == "AllReady" and len(farm.ready) < farm.let and farm.has_template:
        yield f"status: {farm.key} AllReady with {len(farm.ready)} of {farm.let}: {text}"
    if farm.has_template and ready.get("reason") != "AllReady" and len(farm.ready) == farm.let and not farm.ending:
        yield f"status: {farm.key} {ready.get('reason')} with {len(farm.ready)} of {farm.let}: {text}"
    met = farm.conditions.get("GuaranteeMet", {}).get("status")
    if met == "True" and len(farm.running) < view.due.get(farm.key, 0) or met == "False" and len(farm.running) >= farm.ask:
        yield f"status: {farm.key} GuaranteeMet {met} with {len(farm.running)}, between {view.due.get(farm.key, 0)} and {farm.ask} due: {text}"
    start = re.search(r"gang start needs room for all (\d+), there is room for (\d+|none)", text)
    if start and (int(start[1]) != farm.ask or (start[2] != "none" and int(start[2]) >= farm.ask)):
        yield f"status: {farm.key} is a gang of {farm.ask}: {text}"
    yield from judge_reason(view, farm, ready.get("reason"))
    yield from judge_sentence(farm.key, text, view.farms)
    hidden = any(view.is_held_back(f) for f in view.farms.values())  # what counts of their guarantees is not said
    for named, n in () if hidden else re.findall(r"([a-z0-9-]+/[a-z0-9-]+) borrows most \((\d+)\)", text):
        most = max((f.borrowed for f in view.farms.values() if f is not farm and any(  # where one of this farm would fit
            view.nodes.get(p["spec"]["nodeName"], 0) - view.by_strangers[p["spec"]["nodeName"]] >= farm.cpu
            for p in f.running)), default=0)
        if named in view.farms and (view.farms[named].borrowed != int(n) or int(n) < most):
            yield f"who: {farm.key}: {named} borrows {view.farms[named].borrowed}, the most are {most}: {text}"
    given = re.search(r"reclaiming from ([^.]*), done within (\d+) s", text)
    reclaimed = collections.Counter(f.key for f in view.farms.values() for p in f.ending if annotation(p, "reclaimed-for") == farm.key)
    if given and dict(reclaimed) != {k: int(n) for k, n in re.findall(r"([a-z0-9-]+/[a-z0-9-]+) \((\d+)\)", given[1])}:
        yield f"who: {farm.key}: what ends for it is {dict(reclaimed)}: {text}"
    if given and int(given[2]) > max((view.drain_limit(f.namespace) for f in view.farms.values()), default=0) + 2:
        yield f"who: {farm.key}: longer than any drain: {text}"


def judge_reason(view, farm, reason):
    """Whether what it says that executors wait for is there."""
    kept = any(len(f.running) < f.counted for f in view.farms.values() if f is not farm)  # free room, for a guarantee
    kept = kept or any(annotation(p, "reclaimed-for") not in (None, farm.key) for f in view.farms.values() for p in f.ending)
    wrong = {
        "QuotaExceeded": farm.namespace not in view.quotas or view.quotas[farm.namespace]["metadata"]["name"] not in farm.message,
        "FitsNowhere": view.fits_empty(farm),
        "NoRoomForGang": not farm.starts_whole,
        "HeldByOthers": not any(view.by_strangers[name] for name in view.nodes),
        "NoRoom": not kept and not view.is_held_back(farm) and view.room_for(farm, False) and view.most_executors(farm),
        "WaitsForDrain": not any(f.ending for f in view.farms.values()) and not any(is_ending(p) for p in view.strangers),
        "Starts": len(farm.ready) >= len(farm.staying) and len(farm.ready) >= farm.wanted,
        "WaitsForRunTime": not any(f.spec.get("minRuntimeSeconds") for f in view.farms.values() if f is not farm)}
    if wrong.get(reason):
        yield f"reason: {farm.key} {reason}, which is not so: {farm.message}"
    valid = farm.conditions.get("Valid", {})  # of which a fault is reported first
    if farm.cpu == 0 and not (valid.get("reason") == "NoRequests" or valid.get("status") == "False" and "requests no" in farm.message):
        yield f"reason: {farm.key} requests nothing and is not warned of it"


def judge_manager(view):
    status = view.manager.get("status", {})
    running = sum(len(f.running) for f in view.farms.values())
    if status.get("farms") != len(view.farms) or status.get("executors") != running:
        yield f"manager: {status.get('farms')} farms, {status.get('executors')} executors; there are {len(view.farms)} and {running}"
    met = sum(f.conditions.get("GuaranteeMet", {}).get("status") == "True" for f in view.farms.values())
    said = re.match(r"(\d+) of \d+ farms have what they are guaranteed", status.get("message", ""))
    if said and int(said[1]) != met:
        yield f"manager: {status['message']}; by the farms' conditions {met} have"
    fit = next((c for c in status.get("conditions", []) if c["type"] == "GuaranteesFit"), {})
    nowhere = [f.key for f in view.farms.values() if f.has_template and f.counted and not view.fits_empty(f)]
    if fit.get("status") == "True" and nowhere:
        yield f"manager: {fit.get('message')}, but {nowhere} fit nowhere"
    if fit.get("status") == "False" and not nowhere and sum(f.spec.get("minExecutors", 0) for f in view.farms.values()) <= sum(view.due.values()):
        yield f"manager: guarantees fit, {fit.get('message')}"
    for pattern in ODD:
        if re.search(pattern, status.get("message", "") + fit.get("message", "")):
            yield f"sentence: manager: {status.get('message')}; {fit.get('message')}"


def judge(view):
    yield from judge_room(view)
    yield from judge_ceilings(view)
    if not view.lost_pods:  # of a node that is gone, until the controller manager removes them
        for farm in view.farms.values():
            yield from ((STATUS_SECONDS, text) for text in judge_status(view, farm))
        yield from ((STATUS_SECONDS, text) for text in judge_manager(view))
