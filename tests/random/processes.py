"""The processes of a round, found by a variable of their environment, and the moments of its job."""
import os
import signal
import time
from pathlib import Path


def read(pid, name):
    try:
        return Path(f"/proc/{pid}/{name}").read_bytes()
    except OSError:
        return b""


def size(path):
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


class Processes:
    """Those that have PODERE_FAULTS=token in their environment. A fork has it before it runs a program, so none is missed."""

    def __init__(self, token):
        self.mark = f"PODERE_FAULTS={token}".encode()
        self.is_mine = {}

    def pids(self):
        now = {int(name) for name in os.listdir("/proc") if name.isdigit()}
        self.is_mine = {pid: mine for pid, mine in self.is_mine.items() if pid in now}
        for pid in now - self.is_mine.keys():
            self.is_mine[pid] = self.mark in read(pid, "environ").split(b"\0")
        return sorted(pid for pid, mine in self.is_mine.items() if mine and self.state(pid) not in ("Z", "X", ""))

    @staticmethod
    def state(pid):
        return read(pid, "stat").decode(errors="replace").rpartition(") ")[2][:1]

    @staticmethod
    def role(pid):
        words = read(pid, "cmdline").decode(errors="replace").split("\0")
        if words[1:2] == ["executor"]:
            return "executor"
        if words[0].endswith("mpirun"):
            return "mpirun"
        if words[1:3] == ["session", "start"]:
            return "server"
        return "client" if words[0].endswith("podere") else "other"

    def alive(self, role=None):
        return [pid for pid in self.pids() if role in (None, self.role(pid))]

    def orphans(self, in_session):
        """What must end with its driver: everything, but a session where it lives."""
        return [] if in_session and self.alive("server") else self.alive()

    def wait_until(self, holds, seconds):
        end = time.monotonic() + seconds
        while not holds(self):
            if time.monotonic() > end:
                return False
            time.sleep(0.05)
        return True

    def describe(self):
        return [f"{pid} {self.state(pid)} {read(pid, 'cmdline').decode(errors='replace')}".replace("\0", " ") for pid in self.pids()]


def send(pid, name):
    try:
        os.kill(pid, getattr(signal, "SIG" + name))
    except ProcessLookupError:
        pass


def end_all(token):
    group = Processes(token)
    while pids := group.alive():
        for pid in pids:
            send(pid, "KILL")
        time.sleep(0.02)


class Moments:
    """Says when the moment of a fault has come, and does it."""

    def __init__(self, group, client, folder, data, seconds):
        self.group, self.client, self.folder, self.data = group, client, folder, data.encode()
        self.began, self.seconds = time.monotonic(), seconds
        self.known_executors, self.event_at, self.pauses = set(group.alive("executor")), None, []
        self.old_checkpoint = self.checkpoint()

    def checkpoint(self):
        """Of the checkpoint, wherever it lies, what changes when it is written."""
        found = [*self.folder.glob("out/ck*"), *self.folder.glob("tmp/podere-*/*")]
        try:
            return [(path.name, path.lstat().st_mtime_ns) for path in found]
        except FileNotFoundError:  # one has gone meanwhile: look again
            return self.checkpoint()

    def reads(self, pid):
        try:
            links = [os.readlink(f"/proc/{pid}/fd/{fd}") for fd in os.listdir(f"/proc/{pid}/fd")]
        except OSError:
            return False
        return any(link.encode().endswith(self.data) for link in links)

    def happened(self, when):
        if when == "time":
            return True
        if when == "write":
            return any(size(path) for path in self.folder.glob("out/*.part-*"))
        if when == "checkpoint":
            return self.checkpoint() != self.old_checkpoint
        executors = self.group.alive("executor")
        if when == "start" or b":" in self.data:
            return bool(set(executors) - self.known_executors)
        return any(self.reads(pid) for pid in executors)

    def came(self, fault):
        if fault.what in ("TERM", "INT", "HUP", "USR1") and fault.whom == "client" and not self.group.alive("executor"):
            return False  # it may not have got to where it handles them
        if self.event_at is None and self.happened(fault.when):
            self.event_at = self.began if fault.when == "time" else time.monotonic()
        after = fault.after * (self.seconds if fault.when == "time" else 1)
        return self.event_at is not None and time.monotonic() >= self.event_at + after

    def do(self, fault):
        """Does the fault; returns what it was done to. Nothing, where nothing of that kind was alive."""
        executors, server = self.group.alive("executor"), self.group.alive("server")
        pids = {"executor": executors[fault.pick % len(executors):][:1] if executors else [],
                "some": executors[::2], "executors": executors, "mpirun": self.group.alive("mpirun"),
                "driver": server or [self.client.pid], "client": [self.client.pid], "all": self.group.alive()}[fault.whom]
        for pid in pids:
            send(pid, fault.what)
        if fault.what == "STOP" and fault.lasts:
            self.pauses.append((time.monotonic() + fault.lasts, pids))
        self.known_executors |= set(executors)
        self.event_at, self.old_checkpoint = None, self.checkpoint()
        return [f"{fault.what} {fault.whom} {pids} at {time.monotonic() - self.began:.2f} s"] if pids else []

    def end_pauses(self, all_of_them=False):
        for end, pids in [each for each in self.pauses if all_of_them or each[0] <= time.monotonic()]:
            self.pauses.remove((end, pids))
            for pid in pids:
                send(pid, "CONT")
