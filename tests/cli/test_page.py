"""The page that shows what a driver does now: its link, its API, and what browsers must not get."""

import http.client
import json
import os
import re
import signal
import socket
import threading
import urllib.error
import urllib.parse
import urllib.request

import pytest

from conftest import ENDLESS, interrupted, needed, says, wait_until
from test_session import session  # noqa: F401 (a fixture)


class Page:
    def __init__(self, link):
        self.link = link
        self.url, query = link.split("?")
        self.token = query.removeprefix("token=")

    def get(self, path, **headers):
        request = urllib.request.Request(self.url + path, headers={"Authorization": f"Bearer {self.token}", **headers})
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.read().decode()

    def json(self, path):
        return json.loads(self.get(path))

    def session(self):
        return self.json("api/session")

    def job(self, number):
        return next(job for job in self.session()["jobs"] if job["job"] == number)


def status_of(url, **headers):
    try:
        with urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=30) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        return error.code


def test_a_session_has_a_page_of_its_jobs(podere, session):  # noqa: F811
    started = session.start("s", "--executors", "2", "--cores", "1")
    page = Page(started["page"])
    assert page.url.startswith("http://127.0.0.1:")
    assert f"page: {page.link}\n" in session("status", "s").stdout
    assert session.status("s")["page"] == page.link

    session("load", "s", "collider:20000", "--as", "a")
    process = podere.start("train", "gbt", "table:a", *ENDLESS, "-o", "m.json", "--session", "s",
                           environment=session.environment)
    says(process, r"[1-9]\d* of 100,000 trees")
    now = page.session()
    assert now["session"] == "s" and now["executors"]["wanted"] == 2 and not now["ended"]
    assert [table["name"] for table in now["tables"]] == ["a"] and now["tables"][0]["rows"] == 20000
    job = page.job(2)
    assert (job["kind"], job["name"], job["state"]) == ("train", "train m.json", "running")
    assert job["progress"]["total"] == 100000 and job["progress"]["unit"] == "tree" and job["seconds_left"] > 0
    wait_until(lambda: [each.get("phase") for each in page.session()["executors"]["each"]] == ["train", "train"])
    for each in page.session()["executors"]["each"]:
        assert each["process"] in podere.executors(2) and each["memory_bytes"] > 1e6
    run = page.json("api/runs/2")
    assert run["state"] == "running" and "train gbt table:a" in run["arguments"]
    curve = run["curves"][0]
    assert len(curve["done"]) == len(curve["metrics"]["loss"]) > 1
    wait_until(lambda: page.job(2)["revision"] > job["revision"])

    interrupted(process)
    assert page.job(2)["state"] == "cancelled"
    done = page.json("api/runs/2")
    assert done["state"] == "interrupted" and done["result"]["rows"] == 20000
    assert done["result"]["metrics"]["tasks"] and "model" not in done["result"]


def test_a_lost_executor_is_seen(podere, session):  # noqa: F811
    page = Page(session.start("s", "--executors", "3", "--cores", "1")["page"])
    process = podere.start("train", "gbt", "collider:20000", *ENDLESS, "-o", "m.json", "--session", "s",
                           environment=session.environment)
    says(process, r"[1-9]\d* of 100,000 trees")
    os.kill(podere.executors(3)[1], signal.SIGKILL)
    says(process, "continuing with")
    assert any("lost executor" in event["message"] for event in page.json("api/runs/1")["events"])
    wait_until(lambda: page.session()["executors"]["ready"] == 2)
    interrupted(process)
    assert len(page.json("api/runs/1")["result"]["losses"]) == 1


def test_jobs_that_fail_say_why(podere, session):  # noqa: F811
    page = Page(session.start("s")["page"])
    session.refused("train", "gbt", "there.is.none", "-o", "m.json", "--session", "s")
    job = page.job(1)
    assert job["state"] == "failed" and "there.is.none" in job["message"]
    assert page.json("api/runs/1")["state"] == "failed"


def test_nothing_is_shown_without_the_token(session):  # noqa: F811
    page = Page(session.start("s")["page"])
    for path in ("", "api/session", "api/runs/1", "api/openapi.json", "metrics", "?token=", f"?token={page.token[1:]}"):
        assert status_of(page.url + path) == 403, path
    assert status_of(page.url + "api/session", Cookie=f"podere-1={page.token}") == 403
    assert status_of(page.link) == 403  # who keeps no cookie
    host, port = urllib.parse.urlsplit(page.url).netloc.split(":")
    for method in ("POST", "PUT", "DELETE", "PATCH", "OPTIONS"):
        connection = http.client.HTTPConnection(host, int(port), timeout=30)
        connection.request(method, "/api/session", headers={"Authorization": f"Bearer {page.token}"})
        answer = connection.getresponse()
        assert answer.status == 405 and answer.getheader("Access-Control-Allow-Origin") is None


def test_a_browser_gets_a_cookie(session):  # noqa: F811
    page = Page(session.start("s")["page"])
    jar = urllib.request.HTTPCookieProcessor()
    opener = urllib.request.build_opener(jar)
    with opener.open(page.link, timeout=30) as answer:
        text = answer.read().decode()
        assert answer.url == page.url  # the token has left the address
        assert answer.getheader("X-Frame-Options") == "DENY"
    assert '"live"</script>' in text and "connect-src 'self'" in text
    with opener.open(page.url + "api/session", timeout=30) as answer:
        assert json.load(answer)["session"] == "s"


def test_a_port_in_use_is_passed_over(session):  # noqa: F811
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        link = session.start("s", f"--page={port}")["page"]
        other = urllib.parse.urlsplit(link).port
        assert other != port
        assert f"127.0.0.1:{port} is in use: the page has another port" in (session.folder / "s.log").read_text()
        assert Page(link).session()["session"] == "s"


def test_no_page(session):  # noqa: F811
    assert session.start("s", "--no-page")["page"] is None
    assert "page" not in session("status", "s").stdout


def test_a_command_has_a_page_if_it_is_asked_for(podere):
    process = podere.start("train", "gbt", "collider:20000", *ENDLESS, "--executors", "2", "--cores", "1", "-o", "m.json",
                           "--page=0")
    page = Page(re.search(r"page: (\S+)", says(process, r"page: \S+\n"))[1])
    says(process, r"[1-9]\d* of 100,000 trees")
    now = page.session()
    assert now["session"] is None and now["executors"]["ready"] == 2
    assert (now["jobs"][0]["name"], now["jobs"][0]["state"]) == ("train m.json", "running")
    seen = {}

    def follow():
        while not seen.get("ended"):
            seen.update(page.session())
        seen["run"] = page.json("api/runs/1")

    follower = threading.Thread(target=follow)
    follower.start()
    interrupted(process)
    follower.join(30)
    assert seen["ended"] and seen["jobs"][0]["state"] == "done"
    assert seen["run"]["state"] == "interrupted" and seen["run"]["result"]["trees"] > 0


def test_models_are_the_same_with_a_page(podere):
    podere.done("train", "gbt", "collider:5000", "--trees", "5", "-o", "a.json")
    podere.done("train", "gbt", "collider:5000", "--trees", "5", "-o", "b.json", "--page=0")
    assert (podere.folder / "a.json").read_bytes() == (podere.folder / "b.json").read_bytes()


@pytest.mark.parametrize(("arguments", "words"), [
    (["train", "gbt", "collider:100", "-o", "m", "--page=70000"], "is no port"),
    (["train", "gbt", "collider:100", "-o", "m", "--page=192.0.2.1:80"], "no address of this machine"),
    (["train", "gbt", "collider:100", "-o", "m", "--page", "--session", "s"], "has a page of its own"),
    (["session", "start", "x", "--page=http"], "is no port"),
    (["session", "start", "x", "--page=0", "--no-page"], "excludes"),
])
def test_what_is_no_place_for_a_page(podere, arguments, words):
    assert words in podere.refused(*arguments)


def test_slow_and_rude_clients_stop_nothing(session):  # noqa: F811
    page = Page(session.start("s")["page"])
    host, port = urllib.parse.urlsplit(page.url).netloc.split(":")
    rude = []
    for text in (b"", b"GET", b"GET / HTTP/1.1\r\nHost: x\r\n", b"\x16\x03\x01\x02\x00\x01", b"GET /" + b"a" * 100000):
        connection = socket.create_connection((host, int(port)), timeout=30)
        try:
            connection.sendall(text)
        except OSError:
            pass
        rude.append(connection)
    session.run("describe", "collider:1000", "--session", "s")  # while the page has to do with them
    wait_until(lambda: page.session()["jobs"][0]["state"] == "done")
    for connection in rude:
        connection.close()


def test_many_open_tabs_cost_little(session):  # noqa: F811
    """100 tabs, each of which asks once: answers come, and the driver's memory stays."""
    started = session.start("s")
    page = Page(started["page"])

    def resident():
        with open(f"/proc/{started['process']}/status") as status:
            return int(re.search(r"VmRSS:\s+(\d+)", status.read())[1]) * 1024

    page.session()
    before = resident()
    answers = []
    tabs = [threading.Thread(target=lambda: answers.append(page.session()["session"])) for _ in range(100)]
    for tab in tabs:
        tab.start()
    for tab in tabs:
        tab.join()
    assert answers == ["s"] * 100
    assert resident() - before < 20e6


def schema_of(document, reference):
    """As jsonschema wants it: references within the document."""
    return {"$ref": reference, "components": document["components"]}


def test_the_api_is_as_its_description_says(session):  # noqa: F811
    jsonschema = needed("jsonschema")
    page = Page(session.start("s", "--executors", "2", "--cores", "1")["page"])
    document = page.json("api/openapi.json")
    assert document["openapi"] == "3.1.0"
    session("load", "s", "collider:1000", "--as", "a")
    session.run("train", "gbt", "table:a", "--trees", "3", "-o", "m.json", "--session", "s")
    session.run("evaluate", "m.json", "table:a", "--session", "s")
    session.refused("describe", "table:b", "--session", "s")
    jsonschema.validate(page.session(), schema_of(document, "#/components/schemas/Session"))
    assert len(page.session()["jobs"]) == 4
    for job in range(1, 5):
        jsonschema.validate(page.json(f"api/runs/{job}"), schema_of(document, "#/components/schemas/Run"))


def test_hostile_requests(session, tmp_path_factory):  # noqa: F811
    """Any path, query and headers have an answer of the description, and the server lives."""
    needed("hypothesis")
    from hypothesis import HealthCheck, configuration, given, settings
    from hypothesis import strategies as st

    configuration.set_hypothesis_home_dir(str(tmp_path_factory.mktemp("hypothesis")))

    page = Page(session.start("s")["page"])
    host, port = urllib.parse.urlsplit(page.url).netloc.split(":")
    paths = st.one_of(
        st.text(st.characters(min_codepoint=33, max_codepoint=126), max_size=300).map(lambda text: "/" + text),
        st.integers().map(lambda job: f"/api/runs/{job}"),
        st.sampled_from(["/", "/api/session", "/metrics", "/api/runs/1", "/../../etc/passwd", "/%00", "/%2e%2e/", "//x"]),
    )
    headers = st.dictionaries(
        st.sampled_from(["If-None-Match", "Cookie", "Accept", "Range", "Authorization", "Content-Length", "Expect",
                         "Upgrade", "Connection", "Transfer-Encoding", "Host"]),
        st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=200), max_size=4)

    @settings(max_examples=300, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck))
    @given(st.sampled_from(["GET", "HEAD", "POST", "X"]), paths, headers, st.booleans())
    def ask(method, path, more, knows_the_token):
        connection = http.client.HTTPConnection(host, int(port), timeout=30)
        connection.putrequest(method, path, skip_host="Host" in more, skip_accept_encoding=True)
        for name, value in more.items():
            connection.putheader(name, value)
        if knows_the_token and "Authorization" not in more:
            connection.putheader("Authorization", f"Bearer {page.token}")
        connection.endheaders()
        try:
            answer = connection.getresponse()
            body = answer.read()
        except (http.client.HTTPException, OSError):
            return  # what is no HTTP, its connection ends
        assert answer.status in (200, 302, 304, 400, 403, 404, 405, 411, 413, 414, 417, 431, 501, 505), answer.status
        if not knows_the_token:
            assert answer.status != 200 and page.token.encode() not in body

    ask()
    assert page.session()["session"] == "s"
