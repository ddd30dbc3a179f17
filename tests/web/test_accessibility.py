"""axe finds nothing in any view, in light and dark."""

import pytest

from test_page import VIEWS

# In the dark only colors differ.
AXE = "axe.run({ ...(arguments[0] ? { runOnly: ['color-contrast'] } : {}), resultTypes: ['violations'] }).then(arguments[1])"


@pytest.mark.parametrize("name, theme", [("higgs", "light"), ("higgs", "dark"), ("regression", "light"), ("search", "light"), ("search", "dark")])
def test_axe_finds_nothing(browser, pages, modules, name, theme):
    browser.screen(theme=theme)
    browser.open(pages(name))
    # As the driver's script it is not subject to the page's policy.
    browser.run((modules / "node_modules/axe-core/axe.min.js").read_text() + "; window.axe = axe")
    for view in VIEWS:
        browser.go(view)
        browser.run(
            "document.querySelectorAll('figure:nth-of-type(1) > details').forEach((e, i) => { e.open = i < 3 })"
        )
        browser.settle()
        found = browser.driver.execute_async_script(AXE, theme == "dark")
        assert [
            (each["id"], each["nodes"][0]["html"][:200], each["nodes"][0]["failureSummary"])
            for each in found["violations"]
        ] == [], view
        assert len(found["passes"]) >= (1 if theme == "dark" else 20)


def test_axe_would_find_something(browser, pages, modules):
    browser.open(pages("higgs"))
    browser.run((modules / "node_modules/axe-core/axe.min.js").read_text() + "; window.axe = axe")
    browser.run("document.querySelector('main').append(document.createElement('button'))")
    found = browser.driver.execute_async_script("axe.run().then(arguments[0])")
    assert "button-name" in {each["id"] for each in found["violations"]}


def test_charts_have_texts(browser, pages):
    """Each picture says its title and key figures."""
    browser.open(pages("higgs"))
    for view in VIEWS:
        browser.go(view)
        labels = browser.labels("main [role=img]:not(:empty)")
        assert all(label and any(sign.isdigit() for sign in label) for label in labels), view
        assert view in ("overview", "model", "trials") or labels
    browser.open(pages("search"), "trials")
    assert len(browser.labels("main .plot[aria-label*='. ']")) == 8
