"""Views that are given a newer document keep what the reader did: this is how a page follows a running session."""

import copy
import json
import re
import subprocess

import pytest

import facts
import samples

ENTRY = """
import { App } from "./app";
import { readText } from "./read";
const app = new App(document.getElementById("page"));
addEventListener("newer", (event) => app.show(readText(event.detail)));
"""


@pytest.fixture
def following(browser, modules, tmp_path):
    """The page with another source of documents: events."""
    (modules / "src/follow.ts").write_text(ENTRY)
    built = subprocess.run(
        ["node_modules/.bin/esbuild", "src/follow.ts", "--bundle", "--format=iife"],
        cwd=modules,
        capture_output=True,
        text=True,
        timeout=60,
    )
    (modules / "src/follow.ts").unlink()
    assert built.returncode == 0, built.stderr
    page = re.sub(r"<meta http-equiv.*\n", "", facts.PAGE.read_text())
    page = page[: page.rindex("<script>")] + "<script>" + built.stdout + "</script></body></html>"
    (tmp_path / "page.html").write_text(page)
    browser.open(tmp_path / "page.html", "training")

    def show(document):
        browser.run(
            "dispatchEvent(new CustomEvent('newer', { detail: arguments[0] }))",
            document if isinstance(document, str) else json.dumps(document),
        )
        browser.settle()

    browser.newer = show
    return browser


def running(n):
    """A run after n trees, beside one that is done."""
    run = copy.deepcopy(samples.trees_training())
    curve = run["curves"][0]
    for values in (curve["done"], curve["seconds"], *curve["metrics"].values()):
        del values[n:]
    return facts.report({**run, "state": "running"}, samples.network_training())


def test_curves_grow_and_zoom_and_choices_stay(following):
    following.newer(running(10))
    assert "at the end, lowest 0.612 at 10" in following.labels()[0].replace("0.6120", "0.612")
    following.run("document.querySelector('button.series').click()")
    following.button("Seconds")
    canvas = following.run("return window.kept = document.querySelector('canvas')")
    following.newer(running(20))
    assert following.run("return document.querySelector('canvas') === window.kept") and canvas
    assert "at 20" not in following.labels()[0] and "at 5.2" in following.labels()[0]
    assert following.run("return document.querySelector('button.series').getAttribute('aria-pressed')") == "false"
    assert following.errors() == []


def test_a_zoom_stays(following):
    following.newer(running(20))
    box = following.run(
        "const box = document.querySelector('.u-over').getBoundingClientRect(); return [box.left, box.top, box.width, box.height]"
    )
    following.run(
        """
        const over = document.querySelector('.u-over'), box = over.getBoundingClientRect();
        const at = (type, target, share) => target.dispatchEvent(new MouseEvent(type, { bubbles: true, button: 0, clientX: box.left + share * box.width, clientY: box.top + 50,
          movementX: 5, movementY: 0 }));
        at('mouseenter', over, 0.2); at('mousemove', over, 0.2); at('mousedown', over, 0.2); at('mousemove', document, 0.5); at('mousemove', over, 0.5); at('mouseup', document, 0.5);"""
    )
    following.settle()
    before = following.run("return document.querySelector('canvas').toDataURL()")
    assert box[2] > 100
    following.newer(running(20))
    assert following.run("return document.querySelector('canvas').toDataURL()") == before
    following.button("Show all")
    assert following.run("return document.querySelector('canvas').toDataURL()") != before


def test_selection_scroll_search_and_order_stay(following):
    following.newer(running(10))
    following.go("data")
    following.run("document.querySelectorAll('.runs input')[1].click()")
    following.run(
        "const box = document.querySelector('main input[type=search]'); box.value = 'jet'; box.dispatchEvent(new Event('input'))"
    )
    following.run("scrollTo(0, 200); window.figure = document.querySelectorAll('main figure')[3]")
    following.newer(running(30))
    assert following.run("return scrollY") == 200
    assert following.run("return document.querySelectorAll('main figure')[3] === window.figure")
    assert following.run("return document.querySelectorAll('main figure').length") == 7
    assert following.text(".runs summary") == "Runs: 1 of 2 shown"
    following.go("cost")
    following.run(
        "[...document.querySelectorAll('.tasks th button')].find(e => e.textContent.startsWith('wait')).click()"
    )
    following.newer(running(40))
    assert following.run("return document.querySelector('.tasks [aria-sort]').textContent").startswith("wait")
    assert following.errors() == []


def test_a_damaged_newer_document_costs_nothing_that_is_shown(following):
    following.newer(running(10))
    following.newer('{"podere_report": 1, "runs"')
    assert following.text("[role=alert]").startswith("This report is damaged")
    assert len(following.labels("figure [role=img]")) == 3
    following.newer(running(20))
    assert following.text("[role=alert]") == ""
