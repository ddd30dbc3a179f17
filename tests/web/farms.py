"""`podere farm status --page` as a page sees it, steered by tests."""

import json
import threading

import live

PATH = "/api/farms"


def condition(type_, holds, reason, message):
    return {"type": type_, "holds": holds, "reason": reason, "message": message, "since": "2026-11-27T20:14:03Z"}


def farm(key, guaranteed, wanted, running, ending=0, message="", reason="NoRoom", **changes):
    """With the counts that the operator would write."""
    namespace, name = key.split("/", 1)
    all_wanted = running if wanted is None else wanted
    sure = min(guaranteed, all_wanted)
    pending = max(0, all_wanted - running)
    return {
        "namespace": namespace,
        "name": name,
        "guaranteed": guaranteed,
        "wanted": wanted,
        "maximum": None,
        "priority": 0,
        "weight": 1,
        "gang": False,
        "makes_pods": wanted is not None,
        "status": {
            "executors": running + pending,
            "running": running,
            "ready": running,
            "pending": pending,
            "terminating": ending,
            "over_guarantee": max(0, running - sure),
            "message": message or f"{running} of {all_wanted} executors running",
            "as_of": "2026-11-28T01:02:03Z",
            "conditions": [
                condition(
                    "GuaranteeMet",
                    running >= sure,
                    "Met" if running >= sure else reason,
                    f"{min(running, sure)} of {sure} guaranteed executors that are wanted have a node",
                ),
                condition(
                    "Ready",
                    not pending,
                    reason if pending else "AllReady",
                    f"{running} of {all_wanted} wanted executors are ready",
                ),
            ],
        },
        "history": [[1795828000.0, 0, all_wanted, 0], [1795828060.5, running, pending, ending]],
        **changes,
    }


SKY = (
    "1 of 7 executors running. 4 guaranteed pending: reclaiming from bio/cells (2) and hep/cms (2), done within 60 s. "
    "2 pending: no room. hep/cms borrows most (4)"
)


def some():
    return [
        farm("bio/cells", 2, 4, 4, 2),
        farm("astro/sky", 5, 7, 1, 0, SKY, "WaitsForDrain", maximum=8, priority=-10, weight=2.5),
        farm("hep/cms", 2, None, 6, 1),
        {**farm("course-ada/ada", 2, 2, 0), "status": None, "history": []},
    ]


class Command(live.Driver):
    """Tests change `answer`, and what `what_if` answers to the page: a status and a body, or nothing until `may_answer` is set."""

    word = "farms"

    def __init__(self):
        self.answer = {
            "podere_farms": 1,
            "version": "0.9.0",
            "id": "ab12",
            "server": "https://10.0.0.1:6443",
            "namespace": None,
            "problem": None,
            "farms": some(),
        }
        self.what_if = 200, {"text": "nothing", "answer": {}}
        self.queries = []
        self.may_answer = threading.Event()
        self.may_answer.set()
        super().__init__()

    def farm(self, key):
        return next(each for each in self.answer["farms"] if f"{each['namespace']}/{each['name']}" == key)

    def _body(self, path):
        return json.dumps(self.answer) if path == PATH else None

    def _reply(self, to, path, query):
        if path != "/api/what-if":
            return super()._reply(to, path, query)
        if to.headers["Sec-Fetch-Site"] != "same-origin":
            return self._send(to, 403, b"{}")
        self.queries.append(query)
        self.may_answer.wait(30)
        status, body = self.what_if
        return self._send(to, status, json.dumps(body).encode())
