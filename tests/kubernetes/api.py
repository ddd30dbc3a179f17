"""The API server of a test cluster, asked by its administrator without a process a question, and watched."""

import collections
import http.client
import json
import re
import ssl
import threading
import time


class Refused(Exception):
    def __init__(self, status, message):
        super().__init__(f"{status}: {message}")
        self.status = status


class Api:
    def __init__(self, cluster, user="admin"):
        folder = cluster.folder
        server = re.search(r"server: https://(\S+):(\d+)", (folder / f"{user}.kubeconfig").read_text())
        self.host, self.port = server[1], int(server[2])
        self.trust = ssl.create_default_context(cafile=folder / "ca.crt")
        self.trust.load_cert_chain(folder / f"{user}.crt", folder / f"{user}.key")
        self.of_thread = threading.local()

    def connect(self, timeout=30):
        return http.client.HTTPSConnection(self.host, self.port, context=self.trust, timeout=timeout)

    def ask(self, method, path, body=None, kind="application/json"):
        used = getattr(self.of_thread, "connection", None)
        for connection in filter(None, (used, self.connect())):
            self.of_thread.connection = None  # until it has served
            try:
                connection.request(method, path, None if body is None else json.dumps(body), {"Content-Type": kind})
                answer = connection.getresponse()
                break
            except (OSError, http.client.HTTPException):
                if connection is not used:  # else the server had closed it meanwhile
                    raise
        text = answer.read()
        self.of_thread.connection = connection
        if answer.status == 429:  # such as while it starts
            time.sleep(1)
            return self.ask(method, path, body, kind)
        if answer.status >= 300:
            raise Refused(answer.status, text.decode()[:500])
        return json.loads(text)

    def get(self, path):
        return self.ask("GET", path)

    def create(self, path, body):
        return self.ask("POST", path, body)

    def patch(self, path, body):
        return self.ask("PATCH", path, body, "application/merge-patch+json")

    def delete(self, path, grace=None):
        return self.ask("DELETE", path, None if grace is None else
                        {"kind": "DeleteOptions", "apiVersion": "v1", "gracePeriodSeconds": grace})


class Watch:
    """Objects of a kind as they are now (`objects`, by UID), and `note(kind, object, time)` for each change, on a thread."""

    def __init__(self, api, path, note=lambda kind, object, at: None):
        self.api, self.path, self.note = api, path, note
        self.objects = {}
        self.lock = threading.Lock()
        self.version = None
        self.list()
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def list(self):
        """Reports what was missed as if it were watched."""
        found = self.api.get(self.path)
        now = time.time()
        there = {item["metadata"]["uid"]: item for item in found["items"]}
        for uid in [uid for uid in self.objects if uid not in there]:
            self.take("DELETED", self.objects[uid], now)
        # What ends comes last: what was first is unknown.
        for uid, item in sorted(there.items(), key=lambda entry: "deletionTimestamp" in entry[1]["metadata"]):
            known = self.objects.get(uid)
            if known is None or known["metadata"]["resourceVersion"] != item["metadata"]["resourceVersion"]:
                self.take("MODIFIED" if known else "ADDED", item, now)
        self.version = found["metadata"]["resourceVersion"]

    def take(self, kind, item, at):
        with self.lock:
            if kind == "DELETED":
                self.objects.pop(item["metadata"]["uid"], None)
            else:
                self.objects[item["metadata"]["uid"]] = item
            self.note(kind, item, at)

    def all(self):
        with self.lock:
            return list(self.objects.values())

    def run(self):
        while True:
            try:
                if self.version is None:
                    self.list()
                self.watch()
            except (OSError, http.client.HTTPException, Refused, ValueError):
                time.sleep(0.1)

    def watch(self):
        connection = self.api.connect(timeout=60)
        connection.request("GET", f"{self.path}?watch=1&allowWatchBookmarks=true&resourceVersion={self.version}")
        answer = connection.getresponse()
        if answer.status != 200:
            self.version = None
            raise Refused(answer.status, "watch")
        for line in answer:
            event = json.loads(line)
            if event["type"] == "ERROR":
                self.version = None
                return
            if event["type"] != "BOOKMARK":
                self.take(event["type"], event["object"], time.time())
            self.version = event["object"]["metadata"]["resourceVersion"]


class Audit:
    """What the API server itself wrote down of the requests of the user `operator` (start --audit)."""

    def __init__(self, cluster):
        self.file = open(cluster.folder / "audit.log")
        self.rest = ""

    def news(self):
        """Entries since the last call."""
        *lines, self.rest = (self.rest + self.file.read()).split("\n")
        return [json.loads(line) for line in lines if line]

    @staticmethod
    def summary(entries):
        return dict(collections.Counter(
            f"{entry['verb']} {entry['objectRef'].get('resource')}" + ("/" + entry["objectRef"]["subresource"]
                                                                     if "subresource" in entry["objectRef"] else "")
            for entry in entries if "objectRef" in entry))
