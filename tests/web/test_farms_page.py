"""The page of farms: it follows how all stand, has one in large, and asks what if."""

import re

import pytest

import farms
import live
import samples
from conftest import wait_for


@pytest.fixture
def command():
    command = farms.Command()
    yield command
    command.behavior = "answers"
    command.may_answer.set()
    command.stop()


@pytest.fixture
def page(browser, command):
    """The page, with what tests ask of it."""

    def opened(address=""):
        browser.driver.get("about:blank")
        browser.driver.get(f"{command.address}?token={live.KEY}")
        if address:
            browser.driver.get(f"{command.address}{address}")
        wait_for(lambda: "answered" in browser.text("header"))
        browser.settle()
        return browser

    browser.opened = opened
    browser.names = lambda: [row[0] for row in browser.table("Farms")[1:]]
    browser.chosen = lambda: browser.text(".farm h3")
    browser.address = lambda: browser.run("return location.hash")
    with live.following(browser, command, farms.PATH):
        yield browser


def choose(page, key):
    page.run("[...document.querySelectorAll('.farms a')].find(e => e.textContent === arguments[0]).click()", key)
    page.settle()


def ask(page, executors):
    page.run("const box = document.querySelector('.whatif input'); box.value = arguments[0]", executors)
    page.run("document.querySelector('.whatif button').click()")


def test_counts_and_the_sentence_of_a_farm_are_seen(page, command):
    command.prefix = "/user/ann/proxy/8650"  # all addresses are relative
    page.opened()
    assert page.title() == "Farms – Podere"
    assert page.text("h1") == "Podere https://10.0.0.1:6443 · all namespaces · 0.9.0"
    assert re.search(r"answered \d\d:\d\d:\d\d", page.text("header"))
    assert page.text(".sums").replace("\n", " ") == (
        "farms 4 below guarantee 1 guaranteed 11 running 11 borrowed 6 pending 6 ending 3"
    )
    head, *rows = page.table("Farms")
    assert [title.strip("▲") for title in head] == [
        *("farm", "executors", "guaranteed", "wanted", "running", "borrowed", "pending", "ending")
    ]
    assert [[row[0], *row[2:]] for row in rows] == [
        ["astro/sky", "5", "7", "1", "0", "6", "0"],
        ["bio/cells", "2", "4", "4", "2", "0", "2"],
        ["course-ada/ada", "2", "2", "–", "–", "–", "–"],
        ["hep/cms", "2", "–", "6", "4", "0", "1"],
    ]
    assert page.labels(".farmbar") == [
        "1 guaranteed, 6 pending",
        "2 guaranteed, 2 borrowed, 2 ending",
        "not known yet",
        "2 guaranteed, 4 borrowed, 1 ending",
    ]
    lengths = page.run(
        "return [...document.querySelectorAll('.farmbar')].map(e => [...e.children].reduce((sum, part) => sum + part.offsetWidth, 0) / e.offsetWidth)"
    )
    assert lengths == pytest.approx([1, 6 / 7, 0, 1], abs=0.03)

    # The first that has something pending.
    assert page.chosen() == "astro/sky" and page.text(".sentence") == farms.SKY
    assert page.address() == ""
    assert page.text(".conditions").split("\n")[:2] == [
        "✗ GuaranteeMet: no",
        "1 of 5 guaranteed executors that are wanted have a node",
    ]
    assert re.search(r"WaitsForDrain, since 2026-11-2\d \d\d:\d\d", page.text(".conditions"))
    assert page.text(".farm > dl").replace("\n", " ") == (
        "guaranteed 5 wanted 7 maximum 8 ready 1 priority −10 weight 2.50 gang no pods made by the operator"
    )
    assert re.fullmatch(
        r"Executors over time\. 2 states since \d\d:\d\d:\d\d, at last 1 running, 6 pending, 0 ending, 5 guaranteed",
        page.labels(".farm figure [role=img]")[0],
    )
    choose(page, "hep/cms")
    assert page.address() == "#farm=hep/cms" and page.chosen() == "hep/cms"
    assert "wanted as its program asks" in page.text(".farm > dl").replace("\n", " ")
    assert "made by another program" in page.text(".farm > dl")
    choose(page, "course-ada/ada")
    assert "The operator has not looked at it yet: does podere operator run?" in page.text(".farm")
    assert not page.run("return document.querySelector('.farm figure').offsetParent")
    assert page.trouble() == []


def test_lines_of_the_history_are_steps(page, command):
    command.farm("astro/sky")["history"] = [[1795828000, 0, 7, 0], [1795828010, 2, 5, 0], [1795828030, 1, 6, 1]]
    page.opened()
    page.run("document.querySelector('.farm details').open = true")
    page.settle()
    rows = page.table("executors")
    assert [row[2] for row in rows if row[0] == "running"][:3] == ["0", "2", "1"]
    assert [row[2] for row in rows if row[0] == "guaranteed"] == ["5", "5"]
    times = [row[1] for row in rows if row[0] == "running"]
    assert all(re.fullmatch(r"\d\d:\d\d:\d\d", time) for time in times)
    assert times[1][-2:] == "10" or int(times[1][-2:]) - int(times[0][-2:]) in (10, -50)
    path = page.run("return document.querySelector('.farm path.line').getAttribute('d')")
    assert re.fullmatch(r"M[\d.]+ [\d.]+(H[\d.]+V[\d.]+)+", path)


def test_a_change_is_seen_and_leaves_what_the_reader_has(page, command):
    page.opened()
    choose(page, "bio/cells")
    page.run("document.querySelector('.farms [aria-current]').focus(); window.row = document.activeElement")
    command.answer["farms"].insert(0, farms.farm("aaa/new", 1, 1, 0))
    command.answer["farms"][1] = farms.farm("bio/cells", 2, 4, 3, 0, "3 of 4 executors running. 1 pending: starting")
    page.saw("1 pending: starting", ".sentence")
    assert page.names()[:3] == ["aaa/new", "astro/sky", "bio/cells"]
    assert page.table("Farms")[3][2:] == ["2", "4", "3", "1", "1", "0"]
    assert page.run("return document.activeElement === window.row && window.row.textContent") == "bio/cells"
    page.polled()
    page.run(
        "window.seen = []; new MutationObserver(all => window.seen.push(...all.map(e => e.target.parentElement.closest('main') && e.type).filter(Boolean))).observe(document.body, { subtree: true, childList: true, characterData: true })"
    )
    page.polled(4)
    assert page.run("return window.seen.length") <= 4  # at most the chart, once in ten seconds
    del command.answer["farms"][1]
    page.saw("There is no farm bio/cells, or no longer. Choose another one.")
    assert not page.run("return document.querySelector('.farm').offsetParent")


def test_by_default_a_farm_stays_chosen(page, command):
    page.opened()
    assert page.chosen() == "astro/sky"
    command.answer["farms"][1] = farms.farm("astro/sky", 5, 7, 7)
    command.answer["farms"][0] = farms.farm("bio/cells", 2, 4, 1)
    page.saw("7 of 7 executors running", ".sentence")
    assert page.chosen() == "astro/sky"
    del command.answer["farms"][1]
    page.saw("1 of 4 executors running", ".sentence")
    assert page.chosen() == "bio/cells"


def test_what_if_is_asked_once_and_its_answer_shown(page, command):
    page.opened("#farm=hep/cms")
    text = "hep/cms, if it wanted 8 executors (6 now):\n  6 running\n  2 pending: no room. <b>hep/cms</b> borrows most (4)"
    command.what_if = 200, {"text": text, "answer": {"executors": 8}}
    assert page.run("return document.querySelector('.whatif input').value") == "7"
    command.may_answer.clear()
    ask(page, "8")
    page.saw("Asking the operator about hep/cms…", ".whatif")
    assert page.run("return document.querySelector('.whatif button').ariaDisabled") == "true"
    ask(page, "9")
    choose(page, "bio/cells")
    ask(page, "1")
    page.saw("Asking the operator about hep/cms…", ".whatif")
    command.may_answer.set()
    wait_for(lambda: "Asking" not in page.text(".whatif"))
    assert page.text(".whatif pre") == ""  # it is about another farm
    choose(page, "hep/cms")
    assert page.text(".whatif pre") == text
    assert command.queries == [{"farm": ["hep/cms"], "executors": ["8"]}]
    page.polled()
    assert page.text(".whatif pre") == text

    command.what_if = 400, {"error": "no operator answers: is podere operator running?"}
    ask(page, "3")
    page.saw("no operator answers: is podere operator running?", ".whatif .warning")
    for typed in ("", "-1", "2.5", "many"):
        ask(page, typed)
        page.saw("A whole number, 0 or more.", ".whatif .warning")
    assert command.queries[1:] == [{"farm": ["hep/cms"], "executors": ["3"]}]
    for what_if, says in (
        ((500, {"trouble": 1}), "No answer came. Try again."),
        ((200, {"answer": {}}), "What answered is not Podere."),
        ((403, {"error": "open the link with its token"}), "The link of this page is not valid, or no longer."),
    ):
        command.what_if = what_if
        ask(page, "4")
        page.saw(says, ".whatif .warning")
    assert page.trouble() == []


def test_keys_sort_and_choose(page, command):
    command.answer["farms"] += [farms.farm(f"z/{i:02}", 1, i, 0) for i in range(60)]
    page.opened()
    page.run("document.querySelector('.allfarms input').focus()")
    page.press(*["TAB"] * 7)  # the list, and its heads
    assert page.run("return document.activeElement.textContent") == "pending"
    page.press("ENTER")
    assert page.names()[:3] == ["z/59", "z/58", "z/57"]
    assert page.run("return document.querySelector('.farms [aria-sort]').ariaSort") == "descending"
    assert page.run("return document.activeElement.textContent") == "pending▼"
    page.press("ENTER")
    assert page.names()[:2] == ["bio/cells", "hep/cms"]  # unknown numbers are last either way
    # The farm that is chosen may be out of view. Then the list takes the keys.
    page.run("document.querySelector('.virtual').scrollTop = 1e6; document.querySelector('.virtual').focus()")
    page.press("HOME")
    assert page.chosen() == "bio/cells" and page.run("return document.activeElement.textContent") == "bio/cells"
    page.press("DOWN", "DOWN")
    assert page.address() == "#farm=z/00" and page.chosen() == "z/00"
    page.press("UP")
    assert page.chosen() == "hep/cms"
    page.press("END")
    assert page.chosen() == "course-ada/ada" and page.run("return document.activeElement.textContent") == "course-ada/ada"
    shown = page.run(
        "const row = document.activeElement.getBoundingClientRect(), list = document.querySelector('.virtual').getBoundingClientRect(); return row.top >= list.top && row.bottom <= list.bottom"
    )
    assert shown
    page.press("TAB")
    assert page.run("return document.activeElement.closest('.farm') !== null")


def test_a_thousand_farms_scroll_and_are_found(page, command):
    command.answer["farms"] = [farms.farm(f"team-{i % 50}/farm-{i:03}", i % 5, i % 20, i % 7) for i in range(1000)]
    page.opened()
    assert page.text(".sums").startswith("farms\n1,000\n")
    assert len(page.names()) < 60
    assert page.run("return document.querySelector('.farms').ariaRowCount") == "1001"
    page.run("document.querySelector('.virtual').scrollTop = 1e6")
    wait_for(lambda: page.names()[-1] == "team-49/farm-999")
    assert len(page.names()) < 60
    page.run(
        "const box = document.querySelector('.allfarms input'); box.value = 'Farm-12'; box.dispatchEvent(new Event('input'))"
    )
    assert "10 farms found" in page.text(".allfarms")
    assert sorted(name[-3:] for name in page.names()) == [f"12{i}" for i in range(10)]
    assert page.trouble() == []


def test_names_and_texts_stay_texts(page, command):
    names = [name for name in samples.HOSTILE if name]
    command.answer["farms"] = [
        farms.farm("x/y", 1, 1, 0, message=name, reason=name, namespace=name, name=name) for name in names
    ]
    command.answer.update(namespace=names[0], version=names[1], server=names[2], problem=names[1])
    page.screen(320)
    page.opened()
    for name in names[:2]:
        page.run("location.hash = `#farm=${encodeURIComponent(arguments[0])}/${encodeURIComponent(arguments[0])}`", name)
        page.settle()
        assert page.text(".sentence") == name
        command.what_if = 200, {"text": name}
        ask(page, "1")
        page.saw(name, ".whatif pre")
        assert command.queries[-1] == {"farm": [f"{name}/{name}"], "executors": ["1"]}
        assert page.run("return document.documentElement.scrollWidth") <= 320
    assert page.run("return document.querySelectorAll('#page script, #page img').length") == 0
    assert not page.title().startswith("taken")
    assert set(command.asked) <= {"/", farms.PATH, "/api/what-if", "/favicon.ico"}
    assert page.trouble() == []


def test_whatever_becomes_of_the_command_is_reported_and_the_page_stays(page, command):
    page.opened()
    command.behavior = "refuses"
    page.saw("The link of this page is not valid, or no longer. The command printed it when it started.", ".banner")
    assert page.title() == "Link needed: Farms – Podere" and page.text(".sentence") == farms.SKY
    command.behavior = "answers"
    live.press(page, "Try now", ".banner")
    wait_for(lambda: not page.banner())
    command.stop()
    page.saw("; trying again. The page keeps what it has.", ".banner")
    assert page.title() == "No answer: Farms – Podere"
    command.start()
    wait_for(lambda: not page.banner())
    command.answer["problem"] = "The API server refuses: user ann may not list farms."
    page.saw("The API server refuses: user ann may not list farms.", ".banner")
    assert page.text(".sentence") == farms.SKY
    command.answer["problem"] = None
    wait_for(lambda: not page.banner())
    assert page.news() == [
        "The link of this page is not valid, or no longer.",
        "The command answers.",
        "No answer; trying again.",
        "The command answers.",
        "The API server refuses: user ann may not list farms.",
        "The command answers.",
    ]
    command.answer["podere_farms"] = 2
    page.saw("A newer Podere answers now, which this page cannot read.", ".banner")
    command.answer.update(podere_farms=1, id="f00d", server="https://other:6443")
    page.saw("Another command answers now: https://other:6443. The page keeps what it has.", ".banner")
    assert "10.0.0.1" in page.text("h1")
    live.press(page, "Load it", ".banner")
    wait_for(lambda: "other" in page.text("h1"))
    command.stop()
    page.saw("No answer", ".banner")
    assert page.trouble() == []


def test_where_there_are_no_farms_the_page_says_what_to_do(page, command):
    command.answer.update(farms=[], namespace="hep")
    page.opened()
    assert page.text("main > .empty").split("\n\n") == [
        "There are no farms in namespace hep.",
        "To see those of all namespaces: podere farm status --all-namespaces --page",
        "To make one, apply an object of the kind Farm, as docs/farms.md shows: kubectl apply -f farm.yaml",
    ]
    command.answer["namespace"] = None
    page.saw("There are no farms in this cluster.")
    # What could not be read is not called absent.
    command.answer["problem"] = "user ann may not list farms"
    page.saw("user ann may not list farms", ".banner")
    assert "There are no farms" not in page.text("main")
    command.answer.update(farms=farms.some(), problem=None)
    page.saw(farms.SKY, ".sentence")


def test_damage_is_left_out(page, command):
    command.answer["farms"][1]["history"] = [[1, 2], "x", [1795828000, 1, 2, 0], [None, 1, 2, 3]]
    command.answer["farms"] += [7, {"name": "no namespace"}, {"namespace": "only", "name": "names"}]
    page.opened("#farm=%E0%A4%A")
    page.saw("There is no farm %E0%A4%A, or no longer.")
    assert len(page.names()) == 5
    choose(page, "astro/sky")
    assert " 1 state since " in page.labels(".farm figure [role=img]")[0]
    choose(page, "only/names")
    assert "The operator has not looked at it yet" in page.text(".farm")
    assert page.trouble() == []


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_and_nothing_is_wider_than_the_screen(page, command, modules, theme):
    page.screen(theme=theme)
    page.opened()
    page.run((modules / "node_modules/axe-core/axe.min.js").read_text() + "; window.axe = axe")

    def check():
        found = page.driver.execute_async_script("axe.run({ resultTypes: ['violations'] }).then(arguments[0])")
        assert [
            (each["id"], each["nodes"][0]["html"][:200], each["nodes"][0]["failureSummary"])
            for each in found["violations"]
        ] == []
        assert len(found["passes"]) >= 20

    ask(page, "8")
    page.saw("nothing", ".whatif pre")
    check()
    command.answer["problem"] = "The API server does not answer."
    page.saw("The API server", ".banner")
    command.what_if = 400, {"error": "no right"}
    ask(page, "8")
    page.saw("no right", ".whatif")
    choose(page, "course-ada/ada")
    check()
    for width in (320, 390, 800, 1280):
        page.screen(width, theme)
        page.settle()
        assert page.run("return document.documentElement.scrollWidth") <= width
