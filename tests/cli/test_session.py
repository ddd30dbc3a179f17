"""Sessions: executors and tables that stay between commands, whichever clients come and go."""

import itertools
import json
import os
import pathlib
import random
import re
import select
import signal
import socket
import subprocess
import threading
import urllib.parse
import urllib.request

import pytest
from prometheus_client.parser import text_string_to_metric_families

from conftest import ENDLESS, interrupted, says, trained, wait_until
from test_loss import sha256


@pytest.fixture
def session(podere, tmp_path_factory):
    """Starts sessions that end with the test; they keep their sockets in a folder of the test's own."""
    runtime = tmp_path_factory.mktemp("run")
    started = []

    class Session:
        environment = {"XDG_RUNTIME_DIR": str(runtime)}
        folder = runtime / "podere"

        def __call__(self, *arguments, **options):
            return podere.done("session", *arguments, environment=self.environment, **options)

        def start(self, name, *arguments):
            started.append(name)
            return json.loads(self("start", name, "--json", *arguments).stdout)

        def refused(self, *arguments):
            result = podere.run(*arguments, environment=self.environment)
            assert result.returncode == 2 and result.stderr.count("\n") == 1, (result.returncode, result.stderr)
            return result.stderr

        def run(self, *arguments):
            return podere.done(*arguments, environment=self.environment)

        def status(self, name):
            sessions = json.loads(self("list", "--json").stdout)["sessions"]
            return next(s for s in sessions if s["session"] == name)

        def orders(self, name):
            """A connection of one's own."""
            connection = socket.socket(socket.AF_UNIX)
            connection.settimeout(30)
            connection.connect(str(self.folder / f"{name}.socket"))
            return connection.makefile("rw")

    session = Session()
    yield session
    for name in started:
        podere.run("session", "stop", name, environment=session.environment)
    assert podere.processes() == []
    assert not session.folder.exists() or os.listdir(session.folder) == []


def ask(stream, order):
    stream.write(json.dumps(order) + "\n")
    stream.flush()


def answer(stream, id):
    while True:
        event = json.loads(stream.readline())
        if event.get("id") == id and event["event"] in ("result", "failed"):
            return event


def test_tables_stay_and_models_are_the_same(podere, session):
    facts = session.start("s", "--executors", "2", "--cores", "1")
    assert (facts["executors"], facts["cores"], facts["tables"]) == (2, 1, [])
    session("load", "s", "collider:20000", "--as", "all")
    session("split", "s", "all", "--fraction", "0.8", "--seed", "5", "--first", "train", "--second", "test")
    session.run("train", "gbt", "table:train", "--trees", "8", "-o", "model.json", "--session", "s")
    session("save", "s", "train", "-o", "train.csv")
    podere.done("train", "gbt", "train.csv", "--label", "label", "--trees", "8", "-o", "other.json")
    assert sha256(podere) == sha256(podere, "other.json")
    measured = json.loads(session.run("evaluate", "model.json", "table:test", "--session", "s", "--json").stdout)
    assert measured["auc"] > 0.7
    session.run("predict", "model.json", "table:test", "-o", "kept.csv", "--session", "s")
    session("save", "s", "test", "-o", "test.csv")
    podere.done("predict", "model.json", "test.csv", "-o", "read.csv")
    assert sha256(podere, "kept.csv") == sha256(podere, "read.csv")
    status = session.status("s")
    assert {t["name"]: t["rows"] for t in status["tables"]}.keys() == {"all", "train", "test"}
    assert [j["state"] for j in status["jobs"]] == ["done"] * len(status["jobs"])


def test_the_label_of_a_table_is_chosen_when_it_is_loaded(podere, session):
    session.start("s", "--executors", "2", "--cores", "1")
    data = podere.write("rows.csv", "a,b,y\n" + "".join(f"{i * 0.37},{i},{i % 2}\n" for i in range(60)))
    session("load", "s", data, "--as", "bare")
    session("load", "s", data, "--label", "y", "--as", "labeled")
    train = ["train", "gbt", "--session", "s", "-o", "model.json", "--trees", "2", "--json"]
    assert "table:bare has no label: say which column it is when the table is loaded, such as --label y" in session.refused(
        *train, "table:bare")
    labels = [json.loads(session.run(*train, where).stdout)["label"] for where in ("table:labeled", data)]
    assert labels[0] == {"column": "y", "position": None, "kind": "two classes", "classes": [0, 1], "chosen": "table"}
    assert labels[1] == {**labels[0], "position": 2, "chosen": "name"}


def test_tables_do_not_depend_on_executors(podere, session):
    for name, executors in (("one", 1), ("three", 3)):
        session.start(name, "--executors", str(executors), "--cores", "1")
        session("load", name, "collider:9000", "--as", "a")
        session("transform", name, "a", "--where", "m_bb > 0.9 && lepton_pT < 2", "--select", "m_bb,lepton_pT,m_jj",
                "--standardize", "--rows", "100:", "--as", "b")
        session("save", name, "b", "-o", f"{name}.csv")
    assert sha256(podere, "one.csv") == sha256(podere, "three.csv")
    header, *lines = (podere.folder / "one.csv").read_text().splitlines()
    assert header == "label,m_bb,lepton_pT,m_jj" and 1000 < len(lines) < 8900
    for k in (1, 2, 3):
        assert abs(sum(float(line.split(",")[k]) for line in lines) / len(lines)) < 1e-3


def test_executors_lost_between_jobs_come_back_with_their_tables(podere, session):
    session.start("s", "--executors", "3", "--cores", "1")
    session("load", "s", "collider:5000", "--as", "a")
    session("split", "s", "a", "--first", "x", "--second", "y")
    session("drop", "s", "a")
    session("transform", "s", "x", "--select", "m_bb", "--as", "z")
    before = json.loads(session.run("describe", "table:z", "--session", "s", "--json").stdout)["columns"]
    os.kill(random.choice(podere.executors(3)), signal.SIGKILL)
    wait_until(lambda: session.status("s")["executors"] == 2)
    after = json.loads(session.run("describe", "table:z", "--session", "s", "--json").stdout)
    assert after["columns"] == before and after["executors"] == 2
    assert "there is no table called a" in session.refused("describe", "table:a", "--session", "s")


def test_executors_lost_in_training_in_a_session(podere, session):
    session.start("s", "--executors", "3", "--cores", "1")
    session("load", "s", "collider:20000", "--as", "a")
    options = [*ENDLESS, "--depth", "7", "-o", "model.json", "--session", "s", "--json"]
    process = podere.start("train", "gbt", "table:a", *options, environment=session.environment)
    wait_until(lambda: any(j["progress"]["done"] > 20 for j in session.status("s")["jobs"]))
    os.kill(random.choice(podere.executors(3)), signal.SIGKILL)
    said = says(process, "continuing with .*\n")
    assert re.match(r"podere: lost executor \d \(killed by signal 9\) at tree \d+; continuing with 2 executors", said), said
    stdout, _ = interrupted(process)
    assert len(json.loads(stdout)["losses"]) == 1
    check_trained(podere)


def check_trained(podere):
    """What was trained in a session is what is trained alone."""
    model, n_trees = trained(podere.folder / "model.json")
    podere.done("train", "gbt", "collider:20000", "--trees", n_trees, "--depth", "7", "-o", "alone.json")
    assert (model, n_trees) == trained(podere.folder / "alone.json")


def test_training_continues_with_more_executors_and_with_fewer(podere, session):
    session.start("s", "--executors", "1", "--cores", "1")
    session("load", "s", "collider:20000", "--as", "a")
    options = [*ENDLESS, "--depth", "7", "-o", "model.json", "--session", "s", "--json"]
    process = podere.start("train", "gbt", "table:a", *options, environment=session.environment)
    for before, n_executors in ((1, 3), (3, 2)):
        done = max((j["progress"]["done"] for j in session.status("s")["jobs"]), default=0)
        wait_until(lambda: max(j["progress"]["done"] for j in session.status("s")["jobs"]) > done + 10)
        session("scale", "s", str(n_executors))
        says(process, f"continuing with {n_executors} executors instead of {before}")
    podere.executors(2)
    wait_until(lambda: max(j["progress"]["done"] for j in session.status("s")["jobs"]) > done + 10)  # they train again
    stdout, _ = interrupted(process)
    facts = json.loads(stdout)
    assert facts["executors"] == 2 and facts["losses"] == []
    check_trained(podere)


def test_a_file_that_changed_is_not_read_again(podere, session, tmp_path_factory):
    temporary = tmp_path_factory.mktemp("tmp")
    session.environment = {**session.environment, "TMPDIR": str(temporary)}
    lines = "".join(f"{i % 2},{i}\n" for i in range(100))
    podere.write("t.csv", lines)
    session.start("s", "--executors", "3", "--cores", "1")
    session("load", "s", "t.csv", "--as", "t", "--label", "0")
    session("load", "s", "collider:1000", "--as", "c")
    podere.write("t.csv", lines + "1,3\n")
    os.kill(podere.executors(3)[0], signal.SIGKILL)
    wait_until(lambda: session.status("s")["executors"] == 2)
    cached = json.loads(session.run("describe", "table:t", "--session", "s", "--json").stdout)
    assert cached["rows"] == 100
    for shard in temporary.glob("podere-*/cache/*/*"):
        shard.unlink()
    os.kill(podere.executors(2)[0], signal.SIGKILL)
    wait_until(lambda: session.status("s")["executors"] == 1)
    assert "changed" in session.refused("describe", "table:t", "--session", "s")
    session.run("describe", "table:c", "--session", "s")  # the others are there
    session("load", "s", "t.csv", "--as", "t", "--label", "0")


def test_dropped_tables_leave_the_cache(podere, session, tmp_path_factory):
    temporary = tmp_path_factory.mktemp("tmp")
    session.environment = {**session.environment, "TMPDIR": str(temporary)}
    podere.write("t.csv", "".join(f"{i % 2},{i}\n" for i in range(100)))
    session.start("s", "--executors", "2", "--cores", "1")
    session("load", "s", "t.csv", "--as", "t", "--label", "0")
    session("split", "s", "t", "--first", "x", "--second", "y")
    session("drop", "s", "t")
    assert len(list(temporary.glob("podere-*/cache/*/*"))) == 1  # x and y come from it
    session("drop", "s", "x")
    session("drop", "s", "y")
    assert list(temporary.glob("podere-*/cache/*")) == []


def test_two_at_once_wait_for_each_other(podere, session):
    session.start("s", "--executors", "2", "--cores", "1")
    a, b = session.orders("s"), session.orders("s")
    assert json.loads(a.readline())["event"] == json.loads(b.readline())["event"] == "ready"
    train = {"kind": "train", "table": {"location": "collider:20000"}, "options": {"n_trees": 100}}
    ask(a, {"id": "x", "job": train})
    ask(b, {"id": "x", "job": train})
    first, second = answer(a, "x")["result"], answer(b, "x")["result"]
    assert first["model"] == second["model"]


def test_a_job_of_who_went_away_is_cancelled(podere, session):
    session.start("s", "--executors", "1", "--cores", "1")
    train = {"kind": "train", "table": {"location": "collider:20000"}, "options": {"n_trees": 100000}}
    stream = session.orders("s")
    ask(stream, {"id": 1, "job": train})
    wait_until(lambda: any(j["progress"]["done"] > 3 for j in session.status("s")["jobs"]))
    stream.close()
    wait_until(lambda: session.status("s")["jobs"][0]["state"] == "cancelled")


def test_cancelled_jobs(podere, session):
    session.start("s", "--executors", "2", "--cores", "1")
    stream = session.orders("s")
    endless = {"kind": "train", "table": {"location": "collider:20000"}, "options": {"n_trees": 100000}}
    ask(stream, {"id": 1, "job": endless})
    ask(stream, {"id": 2, "job": endless})
    wait_until(lambda: any(j["progress"]["done"] > 3 for j in session.status("s")["jobs"]))
    ask(stream, {"cancel": 2})
    assert answer(stream, 2)["kind"] == "cancelled"
    waits = podere.start("session", "load", "s", "collider:1000", "--as", "a", environment=session.environment)
    assert waits.stderr.readline() == "podere: job 3 of session s: waits for 1 job\n"
    assert re.search(r"^1 +train +running .* of 100000\n2 +train +cancelled .*\n3 +load +waiting ",
                     session("status", "s").stdout, re.M)
    session("cancel", "s", "1")
    assert answer(stream, 1)["result"]["facts"]["was_stopped"]
    assert waits.wait(timeout=30) == 0
    assert [j["state"] for j in session.status("s")["jobs"]] == ["cancelled", "cancelled", "done"]


def test_interrupting_a_command_keeps_the_session(podere, session):
    session.start("s", "--executors", "2", "--cores", "1")
    session("load", "s", "collider:20000", "--as", "a")
    process = podere.start("train", "gbt", "table:a", *ENDLESS, "-o", "model.json", "--session", "s",
                           environment=session.environment)
    says(process, r"[1-9]\d* of 100,000 trees")  # the session knows of trees before the command does
    assert "interrupted after" in interrupted(process)[1]
    session.run("evaluate", "model.json", "table:a", "--session", "s")


def test_stopping_ends_what_runs(podere, session):
    session.start("s", "--executors", "2", "--cores", "1")
    process = podere.start("train", "gbt", "collider:20000", *ENDLESS, "-o", "model.json", "--session", "s",
                           environment=session.environment)
    wait_until(lambda: any(j["progress"]["done"] > 3 for j in session.status("s")["jobs"]))
    session("stop", "s")
    process.communicate(timeout=30)
    assert podere.processes() == []


def test_a_driver_that_was_killed_leaves_its_name_free(podere, session):
    process = session.start("s", "--executors", "2", "--cores", "1")["process"]
    os.kill(process, signal.SIGKILL)
    wait_until(lambda: podere.processes(wait=0) == [])
    assert json.loads(session("list", "--json").stdout)["sessions"] == []
    session.start("s", "--executors", "2", "--cores", "1")


def test_a_session_ends_with_its_owner(podere, session):
    process = podere.start("session", "start", "s", "--foreground", "--owned", "--executors", "2", "--cores", "1",
                           environment=session.environment, stdin=subprocess.PIPE)
    wait_until(lambda: (session.folder / "s.socket").exists())
    process.stdin.close()
    assert process.wait(timeout=20) == 0
    assert podere.processes() == []


def test_low_memory_is_refused_for_what_is_in_memory(session):
    session.start("s", "--executors", "1", "--cores", "1")
    session("load", "s", "collider:1000", "--as", "a")
    line = session.refused("train", "gbt", "table:a", "--session", "s", "--low-memory", "-o", "m.json")
    assert "table:a: --low-memory is for files and events; a session's table is in memory already: leave it out" in line


def test_attached_one_sees_what_others_do(podere, session):
    session.start("s", "--executors", "1", "--cores", "1")
    watcher = podere.start("session", "attach", "s", "--json", environment=session.environment)
    numbers = itertools.count()

    def has_news():  # of what is done once it is attached
        session("load", "s", "collider:1000", "--as", f"a{next(numbers)}")
        return select.select([watcher.stdout], [], [], 0)[0]

    wait_until(has_news)
    session("load", "s", "collider:1000", "--as", "seen")  # from its beginning, as the first one perhaps was not
    events = map(json.loads, iter(watcher.stdout.readline, ""))
    assert next(event for event in events if event["event"] == "progress")["job"] >= 1
    watcher.send_signal(signal.SIGINT)
    _, stderr = watcher.communicate(timeout=10)
    assert watcher.returncode == 0 and "keeps running" in stderr


def test_attached_one_ends_when_its_reader_goes(podere, session):
    session.start("s", "--executors", "1", "--cores", "1")
    watcher = podere.start("session", "attach", "s", "--json", environment=session.environment)
    watcher.stdout.close()
    numbers = itertools.count()

    def has_ended():  # at the next event that it prints
        session("load", "s", "collider:1000", "--as", f"a{next(numbers)}")
        return watcher.poll() is not None

    wait_until(has_ended)
    assert watcher.returncode == 0 and "keeps running" in watcher.stderr.read()


def test_prometheus_reads_what_jobs_cost(session):
    url = session.start("s", "--executors", "2", "--cores", "1", "--prometheus", "0")["prometheus"]
    assert url.startswith("http://127.0.0.1:") and session.status("s")["prometheus"] == url
    session("load", "s", "collider:4000", "--as", "a")
    stream = session.orders("s")
    stream.readline()
    ask(stream, {"id": 1, "job": {"kind": 'no "job"'}})
    assert answer(stream, 1)["event"] == "failed"
    with urllib.request.urlopen(url, timeout=30) as response:
        families = text_string_to_metric_families(response.read().decode())
    values = {(s.name, *s.labels.values()): s.value for family in families for s in family.samples}
    assert values[("podere_executors",)] == 2
    assert values[("podere_jobs_total", "load", "done")] == 1
    assert values[("podere_jobs_total", "unknown", "failed")] == 1
    assert values[("podere_task_read_rows_total", "load", "read")] == 4000
    assert values[("podere_task_cpu_seconds_total", "load", "read")] > 0
    used = urllib.parse.urlsplit(url).netloc
    assert used in session.refused("session", "start", "t", "--prometheus", used)


@pytest.mark.parametrize("line", [
    "", "{", "[]", "7", '{"id":1}', '{"id":1,"job":{"kind":"fly"}}', '{"id":1,"scale":{"executors":0}}',
    '{"id":1,"scale":{"executors":"many"}}', '{"id":1,"ask":"job","job":77}', '{"id":1,"ask":7}', '{"cancel_job":-1}',
    '{"id":1,"job":{"kind":"load","table":{"location":"collider:9"},"name":"a/b"}}', "[" * 100000, '{"id":"\\ud800"}',
    '{"job":{"kind":"train","table":{"location":"table:none"}}}', '{"stop":false}', '{"follow":0}', '{"checkpoint":1}',
    '{"id":1,"ask":{}}', '{"id":1,"ask":"job"}',
])
def test_nonsense_does_not_end_a_session(podere, session, line):
    session.start("s", "--executors", "1", "--cores", "1")
    stream = session.orders("s")
    stream.readline()
    stream.write(line + "\n")
    ask(stream, {"id": "after", "job": {"kind": "describe", "table": {"location": "collider:10"}}})
    assert answer(stream, "after")["event"] == "result"


def test_one_who_does_not_read_delays_no_one(podere, session):
    session.start("s", "--executors", "1", "--cores", "1")
    n_orders = 3000
    idler = session.orders("s")
    orders = "".join(json.dumps({"id": [i, "x" * 1000], "ask": "status"}) + "\n" for i in range(n_orders))
    writer = threading.Thread(target=lambda: (idler.write(orders), idler.flush()))
    writer.start()
    wait_until(lambda: session.status("s"))
    session("load", "s", "collider:1000", "--as", "a")
    assert writer.is_alive()  # its orders are not read as long as it leaves the answers
    idler.readline()
    assert [json.loads(idler.readline())["id"][0] for _ in range(n_orders)] == list(range(n_orders))
    writer.join()


def test_a_job_that_has_ended_is_not_cancelled(session):
    session.start("s", "--executors", "1", "--cores", "1")
    session("load", "s", "collider:1000", "--as", "a")
    assert "job 1 has ended already: done" in session.refused("session", "cancel", "s", "1")


@pytest.mark.parametrize("arguments, words", [
    (["session", "stop", "none"], "no session called none"),
    (["session", "start", "../x"], "cannot be called"),
    (["session", "start", "x", "--prometheus", "70000"], "70000"),
    (["session", "start", "x", "--prometheus", "localhost:http"], "is no port, nor an address and a port"),
    (["session", "start", "x", "--prometheus", "192.0.2.1:9400"], "no address of this machine"),
    (["train", "gbt", "table:a", "-o", "m.json"], "no table called a"),
    (["train", "gbt", "collider:100", "--validation", "table:b", "-o", "m.json"], "name one with --session"),
    (["train", "gbt", "collider:100", "-o", "m.json", "--session", ""], "a session has a name"),
    (["session", "scale", "x", "0"], "whole number from 1 to 4096"),
    (["session", "scale", "x", "4:2"], "whole number from 1 to 4096"),
    (["session", "transform", "x", "a", "--as", "b", "--where", ""], "an expression is needed"),
    (["session", "split", "x", "a", "--fraction", "nan", "--first", "b", "--second", "c"], "--fraction is nan"),
    (["train", "gbt", "collider:100", "-o", "m.json", "--session", "x", "--executors", "2"], "--session"),
])
def test_refusals(session, arguments, words):
    assert words in session.refused(*arguments)


def test_names_are_used_once(session):
    session.start("s", "--executors", "1", "--cores", "1")
    assert "already" in session.refused("session", "start", "s")
    session("load", "s", "collider:100", "--as", "a")
    assert "already" in session.refused("session", "load", "s", "collider:100", "--as", "a")
    assert "cannot be called" in session.refused("session", "load", "s", "collider:100", "--as", "a b")
    assert "loaded" in session.refused("describe", "table:a", "--label", "0", "--session", "s")
    assert "m_zz" in session.refused("session", "transform", "s", "a", "--where", "m_zz > 1", "--as", "b")
    assert "shares of 1.5" in session.refused("session", "split", "s", "a", "--fraction", "1.5", "--first", "b", "--second", "c")


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT, signal.SIGHUP])
def test_a_session_that_a_signal_ends_while_it_starts_leaves_nothing(podere, session, tmp_path, number):
    folder = tmp_path / "bin"
    folder.mkdir()
    hanging = folder / "mpirun"
    hanging.write_text("#!/bin/sh\nexec sleep 1000\n")
    hanging.chmod(0o755)
    environment = {**session.environment, "PATH": f"{folder}:{os.environ['PATH']}"}
    starting = podere.start("session", "start", "s", "--executors", "2", environment=environment)
    wait_until(lambda: any(each["process"] for each in json.loads(session("list", "--json").stdout)["sessions"]))
    wait_until(lambda: any(b"sleep" in command_line(pid) for pid in podere.processes(wait=0)))
    os.kill(session.status("s")["process"], number)
    assert starting.wait(timeout=60) == 1
    words = "killed by signal 9" if number == signal.SIGKILL else "interrupted"
    # Before it there may be that another test's session has the port of the page.
    assert starting.communicate()[1].splitlines()[-1] == f"podere: the session ended while it started: {words}" + (
        ", nothing was written" if words == "interrupted" else "")
    assert podere.processes() == [] and os.listdir(session.folder) == []
    assert session.start("s", "--executors", "1", "--cores", "1")["executors"] == 1


def command_line(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:  # it ended
        return b""


def test_a_session_that_is_starting_says_so_and_can_be_stopped(podere, session, tmp_path):
    hanging = tmp_path / "mpirun"
    hanging.write_text("#!/bin/sh\nexec sleep 1000\n")
    hanging.chmod(0o755)
    environment = {**session.environment, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    starting = podere.start("session", "start", "s", "--executors", "2", environment=environment)
    wait_until(lambda: any(each["process"] for each in json.loads(session("list", "--json").stdout)["sessions"]))
    process = session.status("s")["process"]
    for command in (["session", "load", "s", "collider:100", "--as", "t"], ["describe", "table:t", "--session", "s"]):
        assert f"the session s (process {process}) is starting, or ending" in session.refused(*command)
    assert "session s has ended" in session("stop", "s").stdout
    assert starting.wait(timeout=30) == 1
    assert "interrupted" in starting.communicate()[1]
    assert session("list").stdout == "no sessions\n"


def test_a_session_that_cannot_start_says_why(podere, session, tmp_path):
    environment = {**session.environment, "PATH": "/nowhere"}
    result = podere.run("session", "start", "s", "--executors", "2", environment=environment)
    assert result.returncode == 2 and "mpirun was not found" in result.stderr and result.stderr.count("\n") == 1
