"""A driver as a page sees it: answers as docs/page.md says, steered by tests."""

import contextlib
import copy
import http.server
import json
import threading
import time
import urllib.parse

import facts
import samples
from conftest import wait_for

KEY = "secret"


# Pauses between polls are a tenth of what the page asks for, which is kept. Its patience stays: this machine may be busy.
SOONER = """
window.pauses = [];
const later = window.setTimeout;
window.setTimeout = (call, pause, ...more) => {
  const isPatience = [3000, 9000, 25000, 60000].includes(pause);
  if (!isPatience) window.pauses.push(pause);
  return later(call, isPatience ? pause : pause / 10, ...more);
};
"""


@contextlib.contextmanager
def following(browser, driver, path):
    """The browser, with what tests ask of a page that follows a path of a driver."""
    script = browser.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": SOONER})

    def polled(n=2):
        """Until the page has seen what is now."""
        before = driver.count(path)
        wait_for(lambda: driver.count(path) >= before + n)
        browser.settle()

    def saw(text, selector="main"):
        wait_for(lambda: text in (banner() if selector == ".banner" else browser.text(selector)), 8)

    def trouble():
        """Errors in the console, without those of answers that tests wanted."""
        return [each for each in browser.errors() if "Failed to load resource" not in each]

    def banner():
        return browser.run(
            "const found = document.querySelector('.banner'); return found.offsetParent ? found.innerText : ''"
        )

    browser.polled, browser.saw, browser.trouble, browser.banner = polled, saw, trouble, banner
    browser.news = lambda: browser.run("return [...document.querySelectorAll('[role=log] p')].map(e => e.textContent)")
    browser.title = lambda: browser.run("return document.title")
    yield browser
    browser.driver.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", {"identifier": script["identifier"]})
    browser.driver.get("about:blank")


def press(browser, text, within="body"):
    browser.run(
        "[...document.querySelectorAll(`${arguments[1]} button`)].find(e => e.textContent.startsWith(arguments[0]) && e.offsetParent).click()",
        text,
        within,
    )


def page(word="live"):
    """As a driver serves it that puts this word in the place of a document."""
    text = facts.PAGE.read_text()
    for old, new in (
        (facts.PLACE, facts.PLACE.replace("null", f'"{word}"')),
        ("connect-src 'none'", "connect-src 'self'"),
    ):
        assert text.count(old) == 1
        text = text.replace(old, new)
    return text.encode()


class Driver:
    """Tests change `session`, `runs` and how it behaves; `asked` counts requests by path."""

    word = "live"

    def __init__(self):
        self.session = session()
        self.runs = {}
        self.asked = []
        self.behavior = "answers"  # or: refuses, fails, hangs, lies
        self.bodies = {}  # by path, others than what is true
        self.broken = set()  # paths that fail
        self.key = KEY
        self.prefix = ""  # of a proxy, such as /user/ann/proxy/8650
        self.busy = self.most_at_once = 0
        self._page = page(self.word)
        self._server = None
        self.port = 0
        self.start()

    def start(self):
        driver = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            wbufsize = -1  # head and body go together

            def do_GET(self):
                driver._answer(self)

            def log_message(self, *_):
                pass

        class Server(http.server.ThreadingHTTPServer):
            allow_reuse_address = True
            daemon_threads = True

            def handle_error(self, *_):
                pass  # the browser went away

        self._server = Server(("127.0.0.1", self.port), Handler)
        self.port = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()

    def stop(self):
        """As a driver that is killed: connections are refused."""
        if self._server:
            self._server.shutdown()
            self._server.server_close()
            self._server = None

    @property
    def address(self):
        return f"http://127.0.0.1:{self.port}{self.prefix}/"

    def count(self, path):
        return self.asked.count(path)

    def job(self, number, **changes):
        """Changes a job, or adds it."""
        for each in self.session["jobs"]:
            if each["job"] == number:
                each.update(changes, revision=each["revision"] + 1)
                return
        self.session["jobs"].append({"job": number, "kind": "train", "message": "", "revision": 1, **changes})

    def _answer(self, to):
        if not self._server:
            to.close_connection = True
            return None
        address = urllib.parse.urlsplit(to.path.removeprefix(self.prefix))
        query = urllib.parse.parse_qs(address.query)
        if address.path == "/" and query.get("token") == [self.key]:
            return self._send(
                to,
                302,
                b"",
                {"Location": "./", "Set-Cookie": f"podere-{self.port}={self.key}; HttpOnly; SameSite=Strict"},
            )
        self.asked.append(address.path)
        behavior = self.behavior
        if f"podere-{self.port}={self.key}" not in to.headers.get("Cookie", "") or behavior == "refuses":
            return self._send(to, 403, b'{"error": "open the link with its token"}')
        if behavior == "hangs":
            end = time.monotonic() + 30
            while self.behavior == "hangs" and time.monotonic() < end:
                time.sleep(0.05)
        if behavior == "fails" or address.path in self.broken:
            return self._send(to, 502, b"Bad Gateway", {"Content-Type": "text/html"})
        if behavior == "lies":
            return self._send(to, 200, b"<html>Sign in</html>", {"Content-Type": "text/html"})
        if address.path == "/":
            return self._send(to, 200, self._page, {"Content-Type": "text/html; charset=utf-8"})
        return self._reply(to, address.path, query)

    def _reply(self, to, path, _):
        body = self.bodies.get(path) or self._body(path)
        if body is None:
            return self._send(to, 404, b'{"error": "there is no such thing"}')
        tag = f'"{facts.sha(body)[:16]}"'
        if to.headers.get("If-None-Match") == tag:
            return self._send(to, 304, b"", {"ETag": tag})
        return self._send(to, 200, body.encode(), {"ETag": tag, "Content-Type": "application/json"})

    def _body(self, path):
        if path.startswith("/api/runs/"):
            self.busy += 1
            self.most_at_once = max(self.busy, self.most_at_once)
            time.sleep(0.002)
            self.busy -= 1
        if path == "/api/session":
            return json.dumps(self.session)
        number = path.removeprefix("/api/runs/")
        run = self.runs.get(int(number)) if number.isdigit() else None
        return None if run is None else json.dumps(run)

    @staticmethod
    def _send(to, status, body, headers=None):
        try:
            to.send_response(status)
            for name, value in {
                "Content-Type": "application/json",
                "Cache-Control": "no-cache",
                **(headers or {}),
            }.items():
                to.send_header(name, value)
            if status != 304:
                to.send_header("Content-Length", str(len(body)))
            to.end_headers()
            if status != 304:
                to.wfile.write(body)
        except (BrokenPipeError, ConnectionResetError):
            pass


def session(**changes):
    """Three executors that wait for a job."""
    return {
        "podere_live": 1,
        "version": "0.1.0",
        "id": "e3f1",
        "session": "higgs",
        "host": "node7",
        "process": 4711,
        "executors": {
            "wanted": 3,
            "least": 1,
            "ready": 3,
            "cores": 2,
            "each": [
                {
                    "executor": i,
                    "host": "node7",
                    "process": 4712 + i,
                    "memory_bytes": 120_000_000 + 1_500_000 * i,
                    "phase": "",
                    "silent_seconds": 0.2,
                }
                for i in range(3)
            ],
        },
        "tables": [{"name": "train", "rows": 12000, "columns": 29}, {"name": "test", "rows": 3688, "columns": 29}],
        "waits_for": None,
        "jobs": [],
        "ended": False,
        **changes,
    }


def running(n, name="train gbt real.model.json"):
    """The run of a training after n trees of 50."""
    run = copy.deepcopy(samples.trees_training())
    for part in ("result", "measured", "model", "columns"):
        run.pop(part)
    curve = run["curves"][0]
    for values in (curve["done"], curve["seconds"], *curve["metrics"].values()):
        del values[n:]
    events = [] if n <= 13 else run["events"]
    return {**run, "name": name, "state": "running", "seconds": 0.25 * n, "events": events}


def done(name="train gbt real.model.json"):
    return {**copy.deepcopy(samples.trees_training()), "name": name}


def at(driver, number, n, name="train gbt real.model.json"):
    """Has a job be at tree n of 50."""
    driver.runs[number] = {**running(n, name), "job": number}
    driver.job(
        number,
        name=name,
        state="running",
        seconds=0.25 * n,
        seconds_left=0.25 * (50 - n),
        progress={"phase": "train", "done": n, "total": 50, "unit": "tree"},
    )
    for each in driver.session["executors"]["each"]:
        each["phase"] = "train"


def finish(driver, number, name="train gbt real.model.json"):
    driver.runs[number] = {**done(name), "job": number}
    driver.job(
        number,
        name=name,
        state="done",
        seconds=12.3,
        seconds_left=None,
        progress={"phase": "train", "done": 50, "total": 50, "unit": "tree"},
    )
    for each in driver.session["executors"]["each"]:
        each["phase"] = ""
