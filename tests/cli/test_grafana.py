"""The dashboard for Grafana, and metrics as a real Prometheus reads them."""

import json
import pathlib
import re
import shutil
import socket
import subprocess
import urllib.parse
import urllib.request

import pytest

from conftest import wait_until
from test_session import session  # noqa: F401 (a fixture)

ROOT = pathlib.Path(__file__).parents[2]
DASHBOARD = json.loads((ROOT / "deploy/grafana/podere.json").read_text())
NAMES = re.compile(r"\bpodere_[a-z_]+")


def expressions():
    """(title of the panel, expression) of all panels."""
    return [(panel["title"], target["expr"]) for panel in DASHBOARD["panels"] for target in panel.get("targets", ())]


def scraped(url, accept):
    with urllib.request.urlopen(urllib.request.Request(url, headers={"Accept": accept}), timeout=30) as answer:
        return answer.headers["Content-Type"], answer.read().decode()


@pytest.fixture
def prometheus(tmp_path_factory):
    """Starts Prometheus for some targets; returns what asks it."""
    if not shutil.which("prometheus"):
        pytest.fail("prometheus is missing: tools/setup.sh test")
    folder = tmp_path_factory.mktemp("prometheus")
    started = []

    def start(*targets):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            address = f"127.0.0.1:{free.getsockname()[1]}"
        configuration = {"global": {"scrape_interval": "1s"},
                         "scrape_configs": [{"job_name": "podere", "static_configs": [{"targets": list(targets)}]}]}
        (folder / "prometheus.yml").write_text(json.dumps(configuration))
        with open(folder / "log", "w") as log:
            started.append(subprocess.Popen(
                ["prometheus", f"--config.file={folder}/prometheus.yml", f"--storage.tsdb.path={folder}/data",
                 f"--web.listen-address={address}", "--log.level=warn"], stdout=log, stderr=log))

        def query(expression):
            asked = urllib.parse.urlencode({"query": expression})
            with urllib.request.urlopen(f"http://{address}/api/v1/query?{asked}", timeout=30) as answer:
                return json.load(answer)["data"]["result"]

        def is_up():
            try:
                return [series["value"][1] for series in query("up")] == ["1"] * len(targets)
            except OSError:
                return False

        wait_until(is_up)
        return query

    yield start
    for process in started:
        process.terminate()
        process.wait(30)


def test_the_dashboard_shows_a_session(podere, session, prometheus):  # noqa: F811
    url = session.start("s", "--executors", "2", "--cores", "1", "--prometheus", "0")["prometheus"]
    session("load", "s", "collider:4000", "--as", "a")
    session.run("train", "gbt", "table:a", "--trees", "3", "-o", "m.json", "--session", "s")
    query = prometheus(urllib.parse.urlsplit(url).netloc)
    session.run("evaluate", "m.json", "table:a", "--session", "s")
    session.refused("describe", "table:b", "--session", "s")
    wait_until(lambda: len(query("podere_jobs_total")) == 4)
    wait_until(lambda: query("rate(podere_jobs_total[1m])"))
    for title, expression in expressions():
        for variable, value in (("$job", ".*"), ("$__rate_interval", "1m"), ("$__range", "1h")):
            expression = expression.replace(variable, value)
        assert "$" not in expression
        found = query(expression)  # what Prometheus cannot read is an error here
        if "podere_operator" not in expression and title != "Energy":
            assert found, (title, expression)
    assert [series["value"][1] for series in query("sum(podere_executors)")] == ["2"]


def test_metrics_are_of_both_formats(session):  # noqa: F811
    from prometheus_client.openmetrics.parser import text_string_to_metric_families

    url = session.start("s", "--prometheus", "0")["prometheus"]
    session("load", "s", "collider:4000", "--as", "a")
    kind, text = scraped(url, "application/openmetrics-text; version=1.0.0")
    assert kind == "application/openmetrics-text; version=1.0.0; charset=utf-8"
    samples = {sample.name: sample.value for family in text_string_to_metric_families(text) for sample in family.samples}
    assert samples["podere_jobs_total"] == 1 and samples["podere_executors"] == 1
    kind, text = scraped(url, "*/*")
    assert kind == "text/plain; version=0.0.4; charset=utf-8"
    checked = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True, text=True, timeout=60)
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_the_dashboard_names_what_there_is():
    sources = "".join((ROOT / "podere" / name).read_text() for name in ("controller/metrics.cc", "session/prometheus.cc"))
    there_are = set(re.findall(r'"(podere_[a-z_]+)"', sources))
    asked = {name.removesuffix("_bucket") for _, expression in expressions() for name in NAMES.findall(expression)}
    assert asked and asked <= there_are
    # Each operator metric that says how farms are has its place.
    assert {name for name in there_are if name.startswith("podere_operator") and "writes" not in name
            and "lists" not in name and "queue_" not in name and "restarts" not in name} <= asked


def test_the_dashboard_is_one_that_grafana_imports():
    assert DASHBOARD["uid"] == "podere" and DASHBOARD["schemaVersion"] >= 36
    panels = DASHBOARD["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels)
    taken = set()
    for panel in panels:
        place = panel["gridPos"]
        cells = {(x, y) for x in range(place["x"], place["x"] + place["w"])
                 for y in range(place["y"], place["y"] + place["h"])}
        assert not cells & taken and place["x"] + place["w"] <= 24
        taken |= cells
        if panel["type"] != "row":
            assert panel["title"] and panel["description"] and panel["fieldConfig"]["defaults"]["unit"]
