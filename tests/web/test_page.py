"""The page opens from disk and shows whatever document is in it; readers get around by keyboard, on any screen."""

import xml.etree.ElementTree

import pytest

import facts
import samples
from conftest import wait_for

VIEWS = ["overview", "training", "trials", "quality", "model", "data", "cost", "scaling"]


@pytest.mark.parametrize("name", samples.ALL)
def test_each_view_shows_each_document(browser, pages, name):
    browser.open(pages(name))
    for view in VIEWS:
        browser.go(view)
        assert browser.text("main > h2") == view.capitalize()
        assert browser.text(".view").strip()
    assert browser.errors() == []
    assert browser.run("return document.title") == "Scaling – Podere report"
    assert browser.run("return document.images.length") == 0


@pytest.mark.parametrize("name", ["higgs", "hostile", "three_classes", "search"])
def test_each_view_fits_a_narrow_screen(browser, pages, name):
    browser.screen(320)
    browser.open(pages(name))
    for view in VIEWS:
        browser.go(view)
        assert browser.run("return document.documentElement.scrollWidth") <= 320, view
    assert browser.errors() == []


@pytest.mark.parametrize(
    "document, problem",
    [
        ("null", "This page has no report in it."),
        ('{"podere_report": 1, "runs": [', "This report is damaged: its text ends early or was changed."),
        ("[1, 2]", "This file holds no report of Podere."),
        ("7", "This file holds no report of Podere."),
        ('{"podere_report": 1, "runs": 3}', "This report is damaged: its list of runs is missing."),
        (
            '{"podere_report": 2, "version": "0.9.0", "runs": []}',
            "This report was written by Podere 0.9.0, in form 2, and this page shows forms up to 1.",
        ),
        (
            '{"podere_report": 1.5, "version": {"<b>": 1}}',
            "This report was written by a newer Podere, in form 1.5, and this page shows forms up to 1.",
        ),
    ],
)
def test_a_document_that_cannot_be_shown_is_one_line(browser, tmp_path, document, problem):
    browser.open(facts.page(document, tmp_path / "page.html"))
    line = browser.text("[role=alert]")
    assert line.startswith(problem) and "podere report FILES -o out.html" in line
    assert browser.text("main").strip() == line
    assert browser.errors() == []


def test_a_damaged_curve_or_matrix_leaves_the_other_figures(browser, tmp_path):
    run = samples.trees_training()
    run["measured"][0]["roc"][1] = [0.5, 0.1]
    run["measured"][0]["confusion"] = [[1, 2], [3]]
    browser.open(facts.page(facts.report(run), tmp_path / "page.html"), "quality")
    assert browser.text(".warning").startswith(
        "2 parts of this report are damaged and left out: runs[0].measured[0].confusion, runs[0].measured[0].roc"
    )
    assert browser.table("Measures")[1][0] == "Training"


def test_damaged_parts_are_named_and_the_rest_is_shown(browser, pages):
    browser.open(pages("damaged_parts"))
    assert browser.text(".warning").startswith("6 parts of this report are damaged and left out: runs[0].curves, ")
    assert browser.text(".runs summary") == "1 run"
    browser.go("quality")
    assert browser.table("Measures")[1][:3] == ["Training", "higgs.csv rows :12000", "9,600"]
    browser.go("cost")
    assert "9 tasks" in browser.text(".view")


def test_names_stay_texts(browser, pages):
    browser.open(pages("hostile"))
    shown = browser.run("return [...document.querySelectorAll('.runs .name')].map(e => e.textContent)")
    assert shown[0] == samples.HOSTILE[0] and shown[1] == samples.HOSTILE[1] and shown[5] == "__proto__"
    assert len(shown[2]) <= 1000
    assert browser.run("return document.querySelectorAll('#page script, #page img').length") == 0
    assert browser.run("return document.querySelector('.runs .name').getBoundingClientRect().width") < 300


def test_no_markup_can_be_made_of_texts(browser, pages):
    """The page's own policy: what would become markup is refused, whatever the code does."""
    browser.open(pages("empty"))
    assert (
        browser.run("try { document.body.innerHTML = '<b>x</b>'; return 'made' } catch (error) { return error.name }")
        == "TypeError"
    )
    assert "TrustedHTML" in " ".join(browser.errors())


def test_nothing_is_asked_of_the_network(browser, pages):
    browser.driver.execute_cdp_cmd("Network.enable", {})
    browser.driver.execute_cdp_cmd(
        "Network.emulateNetworkConditions",
        {"offline": True, "latency": 0, "downloadThroughput": 0, "uploadThroughput": 0},
    )
    try:
        browser.open(pages("higgs"))
        for view in VIEWS:
            browser.go(view)
        assert browser.run("return document.querySelectorAll('main svg').length") > 5
        assert browser.run("return performance.getEntriesByType('resource').map(e => e.name)") == []
    finally:
        browser.driver.execute_cdp_cmd(
            "Network.emulateNetworkConditions",
            {"offline": False, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1},
        )
    assert browser.errors() == []


def test_empty_states_say_what_to_do(browser, pages):
    browser.open(pages("empty"))
    assert "podere train gbt DATA --report out.html" in browser.text(".empty")
    browser.open(pages("bare"), "quality")
    assert "podere evaluate MODEL DATA --report test.html" in browser.text(".empty")
    browser.go("training")
    assert "podere train gbt DATA --validation-fraction 0.2 --report out.html" in browser.text(".empty")
    browser.go("data")
    assert "podere train gbt DATA --report out.html" in browser.text(".empty")
    browser.open(pages("one_class"), "quality")
    assert "AUC, ROC and cuts need rows of both classes" in browser.text(".empty")
    assert [label.split(".")[0] for label in browser.labels("figure:not([hidden] *) [role=img]")] == ["Scores by class"]
    assert "podere report TRAIN.html TEST.html -o out.html" in browser.text(".empty")
    browser.open(pages("no_rows"), "quality")
    assert "Some data have no rows" in browser.text(".empty")


def column(table, title):
    place = next(i for i, head in enumerate(table[0]) if head.startswith(title))
    return [row[place] for row in table[1:]]


def focus(browser):
    return browser.run("return document.activeElement.innerText || document.activeElement.tagName")


def test_keys_reach_views_runs_and_tables(browser, pages):
    browser.open(pages("higgs"))
    browser.press("TAB")
    assert focus(browser) == "Skip to the content"
    browser.press("TAB", "TAB", "TAB", "TAB", "ENTER")
    assert browser.run("return location.hash") == "#quality"
    assert browser.run("return document.querySelector('nav [aria-current]').innerText") == "Quality"
    browser.driver.back()
    browser.settle()
    assert browser.text("main > h2") == "Overview"
    # A heading of a table sorts by Enter, and keeps the focus.
    browser.run("[...document.querySelectorAll('main th button')].find(e => e.textContent.startsWith('took')).focus()")
    browser.press("ENTER")
    assert column(browser.table("Runs side by side"), "took") == ["21.4 s", "12.3 s", "0.42 s", "0.42 s"]
    browser.press("ENTER")
    assert column(browser.table("Runs side by side"), "took") == ["0.42 s", "0.42 s", "12.3 s", "21.4 s"]
    assert browser.run("return document.activeElement.closest('th').getAttribute('aria-sort')") == "ascending"
    outline = browser.run("return getComputedStyle(document.activeElement).outlineStyle")
    assert outline == "solid"


def test_the_address_holds_view_and_hidden_runs(browser, pages):
    browser.open(pages("higgs"), "quality")
    assert len(browser.run("return [...document.querySelectorAll('section.model h3')].map(e => e.innerText)")) == 2
    browser.run("document.querySelectorAll('.runs input')[1].focus()")
    browser.press("SPACE")
    browser.run("document.querySelectorAll('.runs input')[3].click()")
    assert browser.run("return location.hash") == "#quality&hidden=2,4"
    assert browser.text(".runs summary") == "Runs: 2 of 4 shown"
    browser.driver.refresh()
    browser.settle()
    assert [
        text.strip()
        for text in browser.run("return [...document.querySelectorAll('section.model h3')].map(e => e.innerText)")
    ] == ["train gbt real.model.json"]
    browser.run("document.querySelectorAll('.runs input').forEach(e => e.checked && e.click())")
    browser.run("document.querySelectorAll('.runs input').forEach(e => e.checked && e.click())")
    assert "No run is selected" in browser.text("main")
    assert browser.errors() == []


def test_colors_follow_the_system_until_one_is_chosen(browser, pages):
    def ground():
        return browser.run("return getComputedStyle(document.body).backgroundColor")

    browser.open(pages("higgs"))
    assert ground() == "rgb(255, 255, 255)"
    browser.screen(theme="dark")
    browser.settle()
    assert ground() == "rgb(20, 23, 26)"
    browser.run("document.querySelector('header button').click()")
    assert ground() == "rgb(255, 255, 255)"
    browser.run("localStorage.clear()")


def test_paper_has_heads_of_tables_and_whole_charts(browser, pages):
    browser.open(pages("higgs"), "quality")
    browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    browser.driver.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride", {"width": 700, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    )
    try:
        browser.settle()
        assert (
            browser.run(
                "return Math.max(...[...document.querySelectorAll('.plot svg')].map(e => e.getBoundingClientRect().right))"
            )
            <= 700
        )
        assert browser.run(
            "return [...document.querySelectorAll('nav, .runs, figcaption button, .toolbar')].every(e => getComputedStyle(e).display === 'none')"
        )
        browser.go("overview")
        assert (
            browser.run(
                "return [...document.querySelectorAll('thead button')].filter(e => e.offsetParent && e.innerText.startsWith('AUC, test')).length"
            )
            == 1
        )
        assert browser.run("return getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    finally:
        browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
    assert browser.errors() == []


def test_charts_are_saved_as_files(browser, pages, tmp_path):
    browser.driver.execute_cdp_cmd("Page.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(tmp_path)})
    browser.open(pages("higgs"), "quality")
    browser.button("Save SVG")
    saved = wait_for(lambda: [path for path in tmp_path.iterdir() if path.suffix == ".svg"])
    picture = xml.etree.ElementTree.parse(saved[0]).getroot()
    lines = [
        path for path in picture.iter("{http://www.w3.org/2000/svg}path") if path.get("stroke") == "rgb(0, 114, 178)"
    ]
    assert saved[0].name == "roc.svg" and len(lines) == 3  # training, validation, test of the first model
    browser.go("training")
    browser.button("Save PNG")
    saved = wait_for(lambda: [path for path in tmp_path.iterdir() if path.suffix == ".png"])
    assert saved[0].name == "loss.png" and saved[0].read_bytes().startswith(b"\x89PNG")
    assert browser.errors() == []
