"""The page of a session, its link in notebooks, and reports of what ran in it."""
import json
import os
import pathlib
import urllib.request

import nbformat
import numpy as np
import pytest
from nbclient import NotebookClient

import podere
from podere import GBTClassifier
from podere._progress import address_here

MARK = '<script type="application/json" id="podere-report">'


def answer(page, path):
    address, token = page.split("?token=")
    request = urllib.request.Request(address + path, headers={"Authorization": f"Bearer {token}"})
    with urllib.request.urlopen(request, timeout=30) as got:
        return json.load(got)


def test_a_session_has_a_page():
    with podere.Session(executors=2, cores=1, progress=False) as s:
        table = s.read("collider:1000", name="events")
        s.fit(GBTClassifier(n_estimators=3), table)
        now = answer(s.page, "api/session")
        assert now["executors"]["wanted"] == 2 and [each["name"] for each in now["tables"]] == ["events"]
        assert [job["name"] for job in now["jobs"]] == ["load collider:1000", "describe table:events",
                                                       "train trees table:events"]
        assert answer(s.page, "api/runs/3")["result"]["rows"] == 1000
        assert s.status["page"] == s.page


def test_no_page():
    with podere.Session(page=False, progress=False) as s:
        assert s.page is None and "open the page" not in s._repr_html_()


@pytest.mark.parametrize(("page", "error"), [(1.5, TypeError), (None, TypeError), ("http", ValueError),
                                             (70000, ValueError)])
def test_what_is_no_place_for_a_page(page, error):
    with pytest.raises(error):
        podere.Session(page=page, progress=False)


def test_a_link_goes_by_way_of_the_hub(monkeypatch):
    link = "http://127.0.0.1:8651/?token=abc"
    monkeypatch.delenv("JUPYTERHUB_SERVICE_PREFIX", raising=False)
    assert address_here(link) == link
    monkeypatch.setenv("JUPYTERHUB_SERVICE_PREFIX", "/hub/user/ada/")
    assert address_here(link) == "/hub/user/ada/proxy/8651/?token=abc"


def test_a_session_writes_reports(tmp_path):
    with podere.Session(executors=2, cores=1, progress=False, report=True) as s:
        with pytest.raises(ValueError, match="nothing to report"):
            s.report(tmp_path / "none.html")
        train, test = s.read("collider:3000").split(0.7)
        model = s.fit(GBTClassifier(n_estimators=5), train)
        measures = s.evaluate(model, test)
        path = s.report(tmp_path / "runs.html")
        text = pathlib.Path(path).read_text(encoding="utf-8")
        runs = json.loads(text.split(MARK)[1].split("</script>")[0])["runs"]
        assert [run["command"] for run in runs] == ["train", "evaluate"]
        assert runs[0]["model"]["sha256"] == runs[1]["model"]["sha256"]
        [measured] = runs[1]["measured"]
        assert measured["auc"] == pytest.approx(measures["auc"]) and len(measured["roc"]) > 10
        assert np.sum(measured["scores"]["weights"]) == measures["rows"]
        s.report(tmp_path / "one.json", jobs=[s.jobs[-1]["job"]])
        assert len(json.loads((tmp_path / "one.json").read_text())["runs"]) == 1
        with pytest.raises(ValueError, match="no run of job 999"):
            s.report(tmp_path / "no.html", jobs=[999])


def test_without_reports_there_are_curves_and_costs(tmp_path):
    with podere.Session(progress=False) as s:
        s.fit(GBTClassifier(n_estimators=5), s.read("collider:1000"))
        s.report(tmp_path / "r.json")
    [run] = json.loads((tmp_path / "r.json").read_text())["runs"]
    assert run["curves"] and run["result"]["metrics"] and not run.get("measured")


def test_a_notebook_shows_the_session_and_its_page(tmp_path):
    cell = nbformat.v4.new_code_cell(
        "import podere\ns = podere.Session(executors=2, cores=1)\nprint(s.page)\ntext = repr(s)\ns.close()")
    notebook = nbformat.v4.new_notebook(cells=[cell])
    NotebookClient(notebook, timeout=120, kernel_name="python3", resources={"metadata": {"path": tmp_path}}).execute(
        env={**os.environ, "JUPYTERHUB_SERVICE_PREFIX": ""})
    printed = "".join(output.text for output in cell.outputs if output.output_type == "stream").strip().splitlines()[-1]
    panels = [output.data for output in cell.outputs if output.output_type == "display_data"
              and "2 executors" in output.data["text/html"]]
    assert len(panels) == 1
    assert f'href="{printed}" target="_blank"' in panels[0]["text/html"]
    assert panels[0]["text/plain"].startswith("<podere.Session python-") and "token" not in panels[0]["text/plain"]
