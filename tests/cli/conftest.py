"""Runs `podere` as a user does: a program, its output, its exit code and the files it leaves."""

import hashlib
import json
import os
import pathlib
import re
import select
import signal
import subprocess
import time
import uuid

import pytest

PODERE = os.environ.get("PODERE", str(pathlib.Path(__file__).parents[2] / "build/release/bin/podere"))
TIMEOUT = 180


def needed(name):
    """A module that make test installs; only a person's own run may go without."""
    return __import__(name) if os.environ.get("CI") else pytest.importorskip(name)


class Podere:
    """The program in a folder of its own. A mark in the environment finds all processes that it started."""

    before = ()  # a command that runs the program, such as sudo

    def __init__(self, folder):
        self.folder = folder
        self.mark = f"PODERE_TEST_MARK={uuid.uuid4()}"

    def environment(self, **variables):
        name, value = self.mark.split("=")
        kept = {k: v for k, v in os.environ.items() if k != "PODERE_FAULT"}
        return {**kept, "XDG_CACHE_HOME": f"{self.folder}.cache", name: value, **variables}

    def run(self, *arguments, environment=None, timeout=TIMEOUT, **options):
        return subprocess.run([*self.before, PODERE, *map(str, arguments)], cwd=self.folder, capture_output=True, text=True,
                              timeout=timeout, env=self.environment(**(environment or {})), **options)

    def start(self, *arguments, environment=None, **options):
        """Starts, listening to SIGINT even if this test was started in the background of a shell."""
        options.setdefault("preexec_fn", lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
        return subprocess.Popen([*self.before, PODERE, *map(str, arguments)], cwd=self.folder, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True, env=self.environment(**(environment or {})), **options)

    def done(self, *arguments, **options):
        """Runs; what should succeed did."""
        result = self.run(*arguments, **options)
        assert result.returncode == 0, result.stderr
        return result

    def refused(self, *arguments, code=2, **options):
        """Runs; one line on stderr, the exit code, no file more or less, no process left. Returns the line."""
        before = self.listing()
        result = self.run(*arguments, **options)
        assert result.returncode == code, (result.returncode, result.stdout, result.stderr)
        assert result.stdout == ""
        assert result.stderr.startswith("podere: ") and result.stderr.count("\n") == 1, result.stderr
        assert self.listing() == before
        assert self.processes() == []
        return result.stderr.strip()

    def listing(self):
        return {path.name: (path.stat().st_size, path.stat().st_mtime_ns) for path in self.folder.iterdir()}

    def processes(self, wait=5.0):
        """Ids of the processes that are still there after `wait` seconds at most."""
        end = time.monotonic() + wait
        while (found := self._marked()) and time.monotonic() < end:
            time.sleep(0.05)
        return found

    def executors(self, n, wait=60.0, without=()):
        """Ids of the executors once there are `n` of them, none of those in `without`."""
        end = time.monotonic() + wait
        while time.monotonic() < end:
            found = [pid for pid in self._marked() if _arguments(pid)[1:2] == ["executor"]]
            if len(found) == n and not set(found) & set(without):
                return found
            time.sleep(0.02)
        raise AssertionError(f"there are not {n} executors")

    def _marked(self):
        found = []
        for entry in pathlib.Path("/proc").iterdir():
            try:
                if entry.name.isdigit() and self.mark.encode() in (entry / "environ").read_bytes():
                    found.append(int(entry.name))
            except OSError:
                pass  # it ended, or is another user's
        return found

    def write(self, name, text):
        (self.folder / name).write_text(text)
        return name


def _arguments(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().decode().split("\0")
    except OSError:
        return []


@pytest.fixture
def podere(tmp_path):
    program = Podere(tmp_path)
    yield program
    assert program.processes() == [], "processes outlived the test"


@pytest.fixture(scope="session")
def shared_podere(tmp_path_factory):
    return Podere(tmp_path_factory.mktemp("shared"))


@pytest.fixture(scope="session")
def events(shared_podere):
    """6,000 events as a file with a header."""
    shared_podere.done("generate", "higgs", "--events", "6000", "--seed", "3", "-o", "events.csv", "--header")
    return shared_podere.folder / "events.csv"


@pytest.fixture(scope="session")
def model(shared_podere, events):
    """A model of two classes, trained on the events."""
    shared_podere.done("train", "gbt", events, "--rows", ":4000", "--trees", 10, "--depth", 4, "-o", "model.json")
    return shared_podere.folder / "model.json"


ENDLESS = ["--trees", "100000"]  # for training that interrupted() ends: no machine is so fast that it is over before


def says(process, words, seconds=TIMEOUT):
    """What a program says on stderr until it has said these words."""
    said = ""
    while not re.search(words, said):
        assert select.select([process.stderr], [], [], seconds)[0], f"says no more than: {said}"
        piece = os.read(process.stderr.fileno(), 4096).decode()
        assert piece, f"ended with {process.wait()} before it said {words}: {said}"
        said += piece
    return said


def interrupted(process):
    """Ends training with the model that there is. Returns what it says then, on stdout and on stderr."""
    process.send_signal(signal.SIGINT)
    stdout, stderr = process.communicate(timeout=TIMEOUT)
    assert process.returncode == 130, stderr
    return stdout, stderr


def trained(path):
    """A model without how many trees it was to have, and how many it has."""
    model = json.loads(path.read_text())["model"]
    del model["options"]["n_trees"]
    return model, len(model["trees"])


def wait_until(condition, seconds=60.0):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.02)


def model_of(podere, data, *options, executors=1):
    """The SHA-256 of a small model of a table."""
    podere.done("train", "gbt", data, "--trees", 3, "--executors", executors, "-o", "m.json", *options)
    return hashlib.sha256((podere.folder / "m.json").read_bytes()).hexdigest()
