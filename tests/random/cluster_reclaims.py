"""What of executors that were reclaimed during an operation was wrong, by what was seen before it, on the way and after."""

import collections

from cluster_judge import annotation

# An executor that the operator took. left: how many its farm keeps.
Reclaim = collections.namedtuple("Reclaim", "farm reclaimed_for is_guarantee left cpu")


def judge_reclaims(reclaimed, lost, views):
    """Sentences. lost: of each farm, how many went otherwise."""
    for one in reclaimed:
        floor = min((v.due.get(one.farm, 0) for v in views), default=0)
        if one.left + lost[one.farm] < floor:
            yield f"below: {one.farm} keeps {one.left} of {floor} guaranteed after one was reclaimed for {one.reclaimed_for}"
        if all(one.farm in v.farms and one.reclaimed_for in v.farms for v in views):
            yield from judge_rank(one, views)
    for waiting in {one.reclaimed_for for one in reclaimed}:
        for_it = [one for one in reclaimed if one.reclaimed_for == waiting]
        if all(waiting in v.farms for v in views):
            yield from judge_vain(waiting, for_it, lost, views)
        if not views[0].compete and not views[-1].compete:
            yield from judge_more(waiting, [one.cpu for one in for_it if one.is_guarantee], lost, views)


def rooms_of(cpu, each):
    """At most so many executors of `each` cores fit where these were."""
    return sum(min(1, c / each) if each else 1 for c in cpu)


def judge_more(waiting, cpu, lost, views):
    """No more is reclaimed for a guarantee than is missing of it."""
    of_waiting = [v.farms[waiting] for v in views if waiting in v.farms]
    if not cpu or not of_waiting:
        return
    coming = sum(annotation(p, "reclaimed-for") == waiting for f in views[0].farms.values() for p in f.ending)
    missing = max(f.ask - len(f.running) for f in of_waiting) + lost[waiting] - coming
    each = max(f.cpu for f in of_waiting)
    if rooms_of(cpu, each) > (missing if len({each, *cpu}) == 1 else 1.5 * missing):
        yield f"more: {len(cpu)} reclaimed for {waiting}, of {cpu} cores, which missed {missing} of {each} cores"


def judge_vain(waiting, reclaimed, lost, views):
    """The quota admits those for whom room is made, where it counts no longer what leaves the namespace meanwhile."""
    if all(v.is_held_back(v.farms[waiting]) for v in views):
        yield f"vain: {len(reclaimed)} reclaimed for {waiting}, whose pods are refused"
        return
    namespace = views[0].farms[waiting].namespace
    admitted = max(v.quota_admits(v.farms[waiting]) for v in views)
    leave = len({p["metadata"]["uid"] for v in views for f in v.farms.values() if f.namespace == namespace for p in f.ending})
    leave += sum(n for key, n in lost.items() if key.startswith(namespace + "/"))
    each = min(v.farms[waiting].cpu for v in views)
    if each == max(v.farms[waiting].cpu for v in views) and rooms_of([one.cpu for one in reclaimed], each) > admitted + leave:
        yield f"vain: {len(reclaimed)} reclaimed for {waiting}, of which the quota admits {admitted} more, and {leave} where others left"


def judge_rank(one, views):
    """Without shares, borrowed room is reclaimed for higher priority only, and from the lowest that has some of use."""
    is_above = any(v.farms[one.reclaimed_for].priority > v.farms[one.farm].priority for v in views)
    if not (one.is_guarantee or is_above) and all(v.manager["spec"].get("mode") == "Proportional" for v in views):
        yield f"rank: one of {one.farm} was reclaimed for {one.reclaimed_for}, which is not above it"

    def could_give(v, key):
        other = v.farms.get(key)
        is_lower = other and other.priority < v.farms[one.farm].priority
        return is_lower and v.could_give(other, v.farms[one.reclaimed_for].cpu) and not v.lost_pods
    for key in set(views[0].farms) - {one.farm, one.reclaimed_for}:
        if all(could_give(v, key) for v in views):
            yield f"rank: one of {one.farm} was reclaimed for {one.reclaimed_for}, while {key} of lower priority had some to give"
