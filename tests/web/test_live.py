"""The live page of the real program: a session from start to end, with an executor that is killed."""

import contextlib
import json
import os
import pathlib
import signal
import subprocess

import pytest

from conftest import missing, wait_for

PODERE = os.environ.get("PODERE", str(pathlib.Path(__file__).parents[2] / "build/release/bin/podere"))
ENDLESS = ["--trees", "100000"]


@pytest.fixture
def session(tmp_path_factory):
    """Runs `podere` in a folder of its own, where its sessions have their sockets too."""
    if not os.access(PODERE, os.X_OK):
        missing(f"the program {PODERE}")
    folder = tmp_path_factory.mktemp("session")
    environment = {**os.environ, "XDG_RUNTIME_DIR": str(folder)}

    class Session:
        def start(self, *arguments):
            return subprocess.Popen([PODERE, *arguments], cwd=folder, env=environment, stdout=subprocess.PIPE,
                                    stderr=subprocess.PIPE, text=True,
                                    preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))

        def run(self, *arguments):
            process = self.start(*arguments)
            stdout, stderr = process.communicate(timeout=120)
            assert process.returncode == 0, stderr
            return stdout

        def status(self):
            return json.loads(self.run("session", "list", "--json"))["sessions"][0]

    session = Session()
    yield session
    with contextlib.suppress(AssertionError):
        session.run("session", "stop", "live")


def executors():
    """Processes that a test may kill."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if entry.name.isdigit() and (entry / "cmdline").read_bytes().split(b"\0")[1:2] == [b"executor"]:
                found.append(int(entry.name))
    return found


def saw(browser, text, selector="main"):
    wait_for(lambda: text in browser.text(selector), 60)
    browser.settle()


def test_a_run_from_start_to_end(session, browser):
    link = json.loads(session.run("session", "start", "live", "--executors", "2", "--cores", "1", "--json"))["page"]
    browser.driver.get(link)
    saw(browser, "podere train")  # which is what to do with a session that has had no job
    assert "token" not in browser.driver.current_url

    session.run("session", "load", "live", "collider:20000", "--as", "events")
    training = session.start("train", "gbt", "table:events", *ENDLESS, "-o", "m.json", "--session", "live")
    saw(browser, "train m.json")
    saw(browser, "of 100,000")
    saw(browser, "events")  # the table
    wait_for(lambda: "train m.json" in browser.run("return document.title"))

    of_session = wait_for(lambda: {each.get("process") for each in session.status()["each"]} & set(executors()), 30)
    os.kill(min(of_session), signal.SIGKILL)
    saw(browser, "lost executor")
    saw(browser, "continuing with 1 executor")
    browser.go("training")
    saw(browser, "loss")

    training.send_signal(signal.SIGINT)
    assert training.wait(60) == 130
    session.run("evaluate", "m.json", "collider:4000?seed=9", "--session", "live", "--report", "r.html")
    browser.go("quality")
    auc = json.loads(session.run("evaluate", "m.json", "collider:4000?seed=9", "--session", "live", "--json"))["auc"]
    saw(browser, f"{auc:.4f}"[:5])
    assert browser.errors() == []

    session.run("session", "stop", "live")
    saw(browser, "has ended", ".banner")
    browser.go("training")
    saw(browser, "loss")  # it keeps what it has


def test_the_trials_of_a_search_while_it_runs(session, browser):
    browser.driver.get("about:blank")  # the page of the test before asks at the same port
    browser.errors()
    link = json.loads(session.run("session", "start", "live", "--executors", "2", "--cores", "1", "--json"))["page"]
    session.run("session", "load", "live", "collider:20000", "--as", "events")
    search = session.start("tune", "gbt", "table:events", "--trials", "200", "--score", "auc", "-o", "m.json", "--session", "live")
    browser.driver.get(link)
    saw(browser, "tune m.json")
    browser.go("trials")
    saw(browser, " running")
    saw(browser, "The best is trial")
    assert "AUC" in browser.text() and "is running" not in browser.text() and browser.errors() == []
    search.send_signal(signal.SIGINT)
    search.communicate(timeout=60)
    assert search.returncode == 130


def test_a_driver_that_is_killed(session, browser):
    started = json.loads(session.run("session", "start", "live", "--json"))
    browser.driver.get(started["page"])
    session.run("session", "load", "live", "collider:1000", "--as", "events")
    saw(browser, "events")
    os.kill(started["process"], signal.SIGKILL)
    saw(browser, "No answer", ".banner")
    assert "events" in browser.text("main")


def test_one_command_with_a_page(session, browser):
    training = session.start("train", "gbt", "collider:20000", *ENDLESS, "-o", "m.json", "--page=0")
    line = next(line for line in training.stderr if "page: " in line)
    browser.driver.get(line.split("page: ")[1].strip())
    saw(browser, "of 100,000")
    training.send_signal(signal.SIGINT)
    saw(browser, "has ended", ".banner")
    training.communicate(timeout=60)
    assert training.returncode == 130
    assert browser.errors() == []
