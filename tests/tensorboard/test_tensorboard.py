"""What training writes with --tensorboard is what TensorBoard serves, and what a browser draws of it."""

import io
import json
import os
import pathlib
import re
import shlex
import signal
import socket
import subprocess
import time
import urllib.parse
import urllib.request

import numpy
import PIL.Image
import pytest
from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By

SEEN = pathlib.Path(os.environ["SEEN"])
GRAPH_LABELS = """
    const labels = [];
    const walk = root => root.querySelectorAll("*").forEach(element => {
      if (element.tagName == "text") element.querySelectorAll("title").forEach(title => title.remove());
      if (element.tagName == "text") labels.push(element.textContent.trim());
      if (element.shadowRoot) walk(element.shadowRoot);
    });
    walk(document);
    return labels;"""
NN = ["train", "nn", "collider:30000", "--layers", "60,30", "--batch-size", "200", "--validation-fraction", "0.2"]


def wait_for(look, seconds=60.0):
    """What `look` finds, once it finds something."""
    end = time.monotonic() + seconds
    while not (found := look()):
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.2)
    return found


def podere(folder, *arguments):
    done = subprocess.run([os.environ["PODERE"], *map(str, arguments), "--json"], cwd=folder, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


class TensorBoard:
    """The server over a folder of runs."""

    def __init__(self, logs):
        with socket.socket() as any_free:
            any_free.bind(("127.0.0.1", 0))
            self.url = f"http://127.0.0.1:{any_free.getsockname()[1]}"
        self.process = subprocess.Popen([os.environ["TENSORBOARD"], "--logdir", str(logs), "--host", "127.0.0.1", "--port",
                                         self.url.rsplit(":", 1)[1], "--reload_interval", "1"],
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_for(lambda: self.get("plugins_listing"))

    def get(self, path, **query):
        try:
            with urllib.request.urlopen(f"{self.url}/data/{path}?{urllib.parse.urlencode(query)}", timeout=10) as answer:
                return answer.read().decode()
        except OSError:  # not yet there
            return ""

    def scalars(self, run, tag):
        """[[wall time, step, value], ...]"""
        return json.loads(self.get("plugin/scalars/scalars", run=run, tag=tag) or "[]")

    def stop(self):
        self.process.terminate()
        self.process.wait(30)


@pytest.fixture
def logs(tmp_path):
    folder = tmp_path / "logs"
    folder.mkdir()
    return folder


@pytest.fixture
def tensorboard(logs):
    server = TensorBoard(logs)
    yield server
    server.stop()


@pytest.fixture
def browser():
    options = webdriver.ChromeOptions()
    for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--window-size=1300,920"):
        options.add_argument(argument)
    driver = webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)
    yield driver
    driver.quit()


def colors(element):
    """Pixels of an element that are neither black, white nor gray."""
    pixels = numpy.asarray(PIL.Image.open(io.BytesIO(element.screenshot_as_png)).convert("RGB")).astype(int)
    return int((pixels.max(axis=2) - pixels.min(axis=2) > 40).sum())


def cards(browser, kind):
    """By tag, those that have come into view."""
    found = browser.find_elements(By.CSS_SELECTOR, kind)
    return {"".join(card.find_element(By.CSS_SELECTOR, ".tag").text.split()): card for card in found}


def canvases(browser):
    return browser.find_elements(By.CSS_SELECTOR, "scalar-card canvas")


def save(browser, name):
    """A picture in few colors, which is small."""
    image = PIL.Image.open(io.BytesIO(browser.get_screenshot_as_png())).convert("RGB")
    image.quantize(128, dither=PIL.Image.Dither.NONE).save(SEEN / name, optimize=True)


def test_curves_grow_while_training_runs(tmp_path, logs, tensorboard):
    process = subprocess.Popen([os.environ["PODERE"], *NN, "--epochs", "100000", "--tensorboard", "logs/live", "-o", "n.json"],
                               cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                               preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
    try:
        before = wait_for(lambda: tensorboard.scalars("live", "loss"))
        later = wait_for(lambda: [point for point in tensorboard.scalars("live", "loss") if point[1] > before[-1][1]])
        assert process.poll() is None and later[-1][0] > before[-1][0]
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(60)


def test_tensorboard_serves_the_numbers_of_the_run(tmp_path, tensorboard):
    facts = podere(tmp_path, *NN, "--epochs", 3, "--tensorboard", "logs/nn", "-o", "n.json")
    trees = podere(tmp_path, "train", "gbt", "collider:5000", "--trees", 9, "--tensorboard", "logs/gbt", "-o", "t.json")
    wait_for(lambda: len(tensorboard.scalars("gbt", "loss")) == 9)
    wait_for(lambda: len(tensorboard.scalars("nn", "validation_auc")) == 3)
    for tag in ("validation_loss", "validation_accuracy", "validation_auc"):
        assert tensorboard.scalars("nn", tag)[-1][1:] == [facts["steps"], pytest.approx(facts[tag], rel=1e-6)]
    assert tensorboard.scalars("gbt", "loss")[-1][2] == pytest.approx(trees["loss"], rel=1e-6)
    _, step, buckets = json.loads(tensorboard.get("plugin/histograms/histograms", run="nn", tag="layer_2/weights"))[-1]
    assert step == facts["steps"] and sum(count for _, _, count in buckets) == 60 * 30
    assert 'name: "layer_3/sum"' in tensorboard.get("plugin/graphs/graph", run="nn", limit_attr_size=1024, large_attrs_key="large")
    [text] = json.loads(tensorboard.get("plugin/text/text", run="nn", tag="options"))
    assert "<td>batch_size</td>" in text["text"].replace(" ", "")


def test_a_browser_draws_curves_histograms_and_the_graph(tmp_path, tensorboard, browser):
    page = (pathlib.Path(__file__).parents[2] / "docs/networks.md").read_text().replace("\\\n", " ")
    commands = re.findall(r"^podere (.* --tensorboard logs/(\w+) .*)$", page, re.M)  # those beside the picture
    assert {name for _, name in commands} == {"fast", "slow"}
    for command, name in commands:
        podere(tmp_path, *shlex.split(command))
        wait_for(lambda: len(tensorboard.scalars(name, "validation_auc")) == 15)
    curves = {"learning_rate", "loss", "validation_auc", "validation_loss"}
    tags = urllib.parse.quote(f"^({'|'.join(sorted(curves))}|layer_1/weights)$")
    browser.set_window_size(1300, 1500)  # cards are drawn once they are in view
    browser.get(f"{tensorboard.url}/?tagFilter={tags}#timeseries")
    wait_for(lambda: browser.find_elements(By.CSS_SELECTOR, "button.settings-button"))[0].click()  # its pane goes away
    wait_for(lambda: curves <= set(cards(browser, "scalar-card")) and len(canvases(browser)) == len(curves))
    for canvas in canvases(browser):
        wait_for(lambda: colors(canvas) > 300)
    histograms = cards(browser, "histogram-card")
    assert set(histograms) == {"layer_1/weights"} and colors(histograms["layer_1/weights"]) > 3000
    browser.set_window_size(1300, 1180)
    time.sleep(2)  # for what moves to come to rest
    save(browser, "time-series.png")

    browser.get("about:blank")
    browser.get(f"{tensorboard.url}/#graphs")
    wait_for(lambda: {"features", "scaling", "layer_1", "layer_2", "layer_3"} <= set(browser.execute_script(GRAPH_LABELS)))
    save(browser, "graph.png")
