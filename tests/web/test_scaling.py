"""The view of studies of podere scale: what was measured, and what is modeled, which is never shown as measured."""

import pytest

import facts
import samples
from test_page import column

CAPTION = "Points"


@pytest.fixture
def scaling(browser, pages):
    browser.open(pages("higgs"), "scaling")
    return browser


def test_points_are_in_charts_with_texts(scaling):
    seconds, speed_up, efficiency, phases = scaling.labels("figure [role=img]")
    assert seconds == (
        "Seconds. Over cores in all. 1 core each: 12.0 s on 1, 6.60 s on 2, 3.90 s on 4; "
        "1 core each, modeled: 2.38 s on 8, 1.44 s on 25; 2 cores each: 6.50 s on 2; 4 cores each: 3.75 s on 4."
    )
    assert "2 cores each: 1.85 times on 2" in speed_up
    assert "1 core each, modeled: 63 % on 8, 33 % on 25" in efficiency
    assert phases.startswith("Phases. Seconds by executors × cores. 1 × 1: 12.0 s; 1 × 2: 6.50 s;")


def test_modeled_points_are_hollow_and_named_so(scaling):
    table = scaling.table(CAPTION)
    assert column(table, "times") == ["measured"] * 5 + ["modeled"] * 2
    assert column(table, "executors × cores")[-1] == "25 × 1"
    modeled = dict(zip(table[0], table[-1]))
    assert (modeled["least"], modeled["waiting"], modeled["memory each"], modeled["runs"]) == ("–",) * 4
    for place in range(3):
        marks = scaling.run(
            "const f = document.querySelectorAll('figure')[arguments[0]];"
            "return [f.querySelectorAll('circle.mark:not(.hollow)').length, f.querySelectorAll('circle.hollow').length,"
            " f.querySelectorAll('.plot path.dotted').length]",
            place,
        )
        assert marks == [5, 2, 1]
    assert "1 core each, modeled" in scaling.text("figure .key")


def test_what_podere_says_stands_there(scaling):
    text = scaling.text()
    assert "15 runs of 5 points on A processor. All runs wrote the same bytes." in text
    assert "Suggested\n1 executor × 4 cores: the fastest that was measured" in text
    assert "Modeled: 1 s + 11 s / cores." in text and "GBT in the course's papers" in text


def test_bars_of_phases_have_the_length_of_their_point(scaling):
    widths = scaling.run(
        "return [...document.querySelectorAll('figure')[3].querySelectorAll('rect.fill')].map(e => e.getBBox().width + .5)"
    )
    read, train, other = (widths[i::3] for i in range(3))
    assert read[0] / train[0] == pytest.approx(0.25 / 0.7, rel=0.02)
    assert sum(widths[3:6]) / sum(widths[:3]) == pytest.approx(6.5 / 12, rel=0.02)


def test_the_spread_is_as_long_as_measured(scaling):
    length, mark = scaling.run(
        """const bars = document.querySelectorAll('figure')[0].querySelectorAll('.plot line.line.thin');
        const y = name => Number(bars[0].getAttribute(name));
        return [Math.abs(y('y1') - y('y2')), Number(document.querySelector('circle.mark').getAttribute('cy'))]"""
    )
    bottom = 280 - 40  # where 0 seconds lie
    assert length / (bottom - mark) == pytest.approx(0.14, rel=0.02)


def test_studies_need_no_runs(browser, pages):
    browser.open(pages("studies_alone"), "")
    assert browser.text("main h2") == "Scaling"
    assert len(browser.run("return [...document.querySelectorAll('section.study')].map(e => e.id)")) == 3
    text = browser.text()
    assert "1,000 rows for each core (weak scaling)" in text and "This study has no runs yet" in text
    browser.go("cost")
    assert "This report has no runs." in browser.text()
    assert browser.errors() == []


def test_a_report_without_studies_says_how_to_get_one(browser, pages):
    browser.open(pages("three_classes"), "scaling")
    assert "podere scale -o gbt.json train gbt DATA" in browser.text(".empty")


def test_damaged_and_hostile_studies(browser, tmp_path):
    bad = samples.study()
    bad["points"][0]["seconds"] = "long"
    bad["points"][1]["cores"] = 0
    hostile = {**samples.study(), "name": samples.HOSTILE[0], "command": samples.HOSTILE[1]}
    hostile["suggestion"] = {"reasons": [samples.HOSTILE[0]]}
    hostile["points"][0]["phases"][0]["phase"] = samples.HOSTILE[1]
    browser.open(facts.page(facts.report(studies=[bad, hostile, 7]), tmp_path / "page.html"), "scaling")
    assert "4 parts of this report are damaged" in browser.text()
    assert len(browser.table(CAPTION)) == 1 + 5
    assert "taken" not in browser.driver.title and browser.errors() == []
    assert samples.HOSTILE[0] in browser.text()
