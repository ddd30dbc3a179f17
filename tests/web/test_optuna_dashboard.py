"""Optuna's dashboard on the journal of podere tune, in a real browser."""

import json
import pathlib
import socket
import subprocess

import pytest

from conftest import ROOT, missing, wait_for
from test_live import PODERE

SPACE = """n_trees = 27
learning_rate = { low = 0.01, high = 0.5, log = true }
best_first = [false, true]
max_leaves = { low = 4, high = 16, when = { best_first = true } }
"""


@pytest.fixture(scope="module")
def program():
    """Optuna's dashboard, from PyPI."""
    done = subprocess.run(
        [ROOT / "tools/python_tools.sh", pathlib.Path(__file__).with_name("optuna_dashboard.txt")],
        capture_output=True,
        text=True,
        timeout=300,
    )
    if done.returncode:
        missing(f"optuna-dashboard from PyPI ({done.stderr.strip()[-300:]})")
    return pathlib.Path(done.stdout.strip(), "optuna-dashboard")


@pytest.fixture(scope="module")
def facts(tmp_path_factory):
    """What podere tune prints, and its journal."""
    folder = tmp_path_factory.mktemp("study")
    (folder / "space.toml").write_text(SPACE)
    done = subprocess.run(
        [PODERE, "tune", "gbt", "collider:2000", "--space", "space.toml", "--trials", "20", "--score", "auc",
         "--first-after", "3", "--study", "a.journal", "-o", "m.json", "--json"],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return {**json.loads(done.stdout), "journal": folder / "a.journal"}


@pytest.fixture(scope="module")
def address(program, facts):
    """Where the dashboard shows the journal."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with open(facts["journal"].with_suffix(".log"), "w+") as log:
        process = subprocess.Popen(
            [program, facts["journal"], "--host", "127.0.0.1", "--port", str(port)],
            stdout=log,
            stderr=subprocess.STDOUT,
        )
        try:
            wait_for(lambda: socket.socket().connect_ex(("127.0.0.1", port)) == 0, 60)
            yield f"http://127.0.0.1:{port}/dashboard"
        finally:
            process.terminate()
            process.wait(20)


def open_page(browser, address, text):
    """Waits until the text is there. Returns all texts of the page."""
    browser.driver.get(address)
    wait_for(lambda: text in browser.text("body"), 30)
    return browser.text("body")


def test_shows_the_study_and_its_best_trial(browser, address, facts):
    assert "Direction: MAXIMIZE" in open_page(browser, address, "podere tune trees")
    text = open_page(browser, f"{address}/studies/0", "Best Trial (number=")
    best = facts["trials"][facts["best"]]
    assert f"Best Trial (number={best['trial']})" in text
    assert str(best["score"]) in text
    for name in ("learning_rate", "best_first"):
        assert f"{name}: {best['setting'][name]}".lower() in text.lower()
    assert "Hyperparameter Importance" in text
    assert not browser.errors()


def test_shows_each_trial_with_its_scores(browser, address, facts):
    text = open_page(browser, f"{address}/studies/0/trials", "Trial 19")
    states = {"complete": "Complete", "paused": "Pruned"}
    for trial in facts["trials"]:
        assert f"Trial {trial['trial']}\n{states[trial['state']]}" in text
    one = next(trial for trial in facts["trials"] if len(trial["curve"]) > 1)
    text = open_page(browser, f"{address}/studies/0/trials?numbers={one['trial']}", f"Trial {one['trial']} (trial_id")
    for budget, score in one["curve"]:
        assert f"{budget} {score}" in text
    assert not browser.errors()
