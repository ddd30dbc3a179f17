"""The live page: it follows a session from start to end, and bears whatever becomes of the driver."""

import json
import re
import time

import pytest

import facts
import live
import samples
from conftest import wait_for


@pytest.fixture
def driver():
    driver = live.Driver()
    yield driver
    driver.behavior = "answers"
    driver.stop()


@pytest.fixture
def page(browser, driver):
    """The live page, with what tests ask of it."""

    def opened(view=""):
        browser.driver.get("about:blank")
        browser.driver.get(f"{driver.address}?token={live.KEY}")
        if view:
            browser.driver.get(f"{driver.address}#{view}")
        wait_for(lambda: browser.title() != "Podere report" and "first answer" not in browser.text("main"))
        jobs = [each for each in driver.session["jobs"] if isinstance(each, dict) and each["state"] != "waiting"]
        n = len(
            [each for each in jobs if each["job"] in driver.runs and f"/api/runs/{each['job']}" not in driver.broken]
        )
        wait_for(lambda: browser.run("return document.querySelectorAll('.runs li').length") >= min(50, n))
        browser.polled()
        browser.settle()
        return browser

    browser.opened = opened
    with live.following(browser, driver, "/api/session"):
        yield browser


def test_a_job_from_start_to_end(page, driver):
    """Behind a proxy, too: all addresses are relative."""
    driver.prefix = "/user/ann/proxy/8650"
    driver.session["tables"] = []
    page.opened()
    assert page.text("main > h2") == "Session" and page.title() == "higgs – Podere"
    assert "podere train gbt DATA --session higgs --report out.html" in page.text(".session .empty")
    assert "podere session load higgs DATA --as TABLE" in page.text(".session .empty")
    assert "3 executors · 2 cores each, 6 in all · 365 MB of memory in all · at least 1 needed" in page.text("main")
    assert [row[:3] for row in page.table("Executors")][1] == ["0", "idle", "120 MB"]
    page.go("overview")
    assert "No job has begun yet." in page.text(".view")
    page.go("session")

    live.at(driver, 1, 10)
    page.saw("tree 10 of 50")
    page.polled()
    assert page.title() == "20 % train gbt real.model.json – Podere"
    assert page.text(".far").split("\n") == ["20 %", "train, tree 10 of 50", "2.50 s so far · about 10.0 s left"]
    assert page.run("return document.querySelector('[role=progressbar]').getAttribute('aria-valuenow')") == "20"
    curve = driver.runs[1]["curves"][0]["metrics"]
    assert page.text(".measure").split("\n")[:3] == [
        "Validation AUC",
        f"{curve['validation_auc'][-1]:.4f}",
        f"highest {curve['validation_auc'][-1]:.4f} at tree 10",
    ]
    assert (
        page.labels(".measure [role=img]")[2]
        == f"Loss from {curve['loss'][0]:.4f} to {curve['loss'][-1]:.4f} at tree 10"
    )
    assert page.table("Executors")[3][1] == "train"
    assert page.news() == ["Job 1, train gbt real.model.json, begins."]

    live.at(driver, 1, 30)
    page.saw("lost executor 3 (killed by signal 9) at tree 13; continuing with 3 executors")
    wait_for(lambda: len(page.news()) == 2)
    assert page.news()[1].startswith("Job 1: lost executor 3 (killed by signal 9) at tree 13")
    for view, text in (
        (
            "quality",
            "1: train gbt real.model.json is running. Quality comes when it is done, if it was started with --report FILE.",
        ),
        ("model", "The model comes when it is done, if it was started with --report FILE."),
        ("data", "Histograms come when it is done, if it was started with --report FILE."),
        ("cost", "Figures of its cost come when it is done."),
    ):
        page.go(view)
        assert text in page.text(".empty"), view
    page.go("training")
    assert len(page.labels("figure [role=img]")) == 2
    assert "lost executor 3 (killed by signal 9) at tree 13" in page.text("main ul.plain")

    page.go("quality")
    live.finish(driver, 1)
    page.saw("ROC")
    page.polled()
    assert "running" not in page.text(".view")
    page.go("session")
    assert page.table("Ended jobs")[1] == ["1", "train gbt real.model.json", "done", "12.3 s", ""]
    assert page.news()[2:] == ["Job 1, train gbt real.model.json, is done after 12.3 s."]
    assert page.title() == "higgs – Podere"
    assert page.trouble() == []


def test_trials_come_while_a_search_runs(page, driver):
    run = samples.search()["runs"][0]
    driver.runs[1] = {**run, "job": 1, "state": "running", "result": None}
    at = {"phase": "tune", "done": 3, "total": 40, "unit": "trial"}
    driver.job(1, kind="tune", name=run["name"], state="running", seconds=2.0, seconds_left=None, progress=at)
    page.opened("trials")
    assert "1: tune best.json is running. Trials come when its search begins." in page.text(".empty")
    new = {"trial": 9, "state": "running", "score": None, "budget": 0, "setting": run["result"]["trials"][0]["setting"],
           "facts": {}, "curve": []}
    so_far = {"score": "", "trials": [{**new, "trial": 0}]}
    driver.runs[1] = {**run, "job": 1, "state": "running", "result": so_far}
    driver.job(1, progress=at)
    page.saw("1 trial: 1 running.")
    assert "No trial has a score yet." in page.text("main") and page.text(".empty").count("running") == 0
    so_far = {"score": run["result"]["score"], "trials": [*run["result"]["trials"][:9], new]}
    driver.runs[1] = {**run, "job": 1, "state": "running", "result": so_far}
    driver.job(1, progress={**at, "done": 9})
    page.saw("10 trials: ")
    assert "1 running" in page.text("main") and "The best is trial" in page.text("main")
    assert len(page.table("Trials")) == 11
    driver.runs[1] = {**driver.runs[1], "state": "failed"}
    driver.job(1, state="failed")
    wait_for(lambda: len(page.table("Trials")) == 10)
    assert "running" not in page.text("main")
    driver.runs[1] = {**run, "job": 1}
    driver.job(1, state="done", seconds=28.0, progress={**at, "done": 40})
    page.saw("40 trials: ")
    assert len(page.labels(".trials figure [role=img]")) == 8 and page.trouble() == []


def test_what_waits_fails_or_is_silent_is_shown(page, driver):
    driver.job(1, name="train nn a.json", state="failed", seconds=3.2, message="column 'label' is missing")
    driver.job(2, name="evaluate m.json", kind="evaluate", state="waiting", seconds=4)
    driver.job(3, name="train gbt b.json", state="waiting", seconds=2)
    driver.session["waits_for"] = "1 of 3 executors is waited for"
    driver.session["executors"].update(ready=2)
    working, idle = driver.session["executors"]["each"][:2]
    working.update(phase="read", silent_seconds=12.4)
    idle.update(silent_seconds=500)
    page.opened()
    assert "1 of 3 executors is waited for" in page.text("main .empty")
    assert "2 of 3 executors · 2 cores each, 4 in all" in page.text("main")
    assert [row[:2] for row in page.table("Waiting jobs")[1:]] == [["2", "evaluate m.json"], ["3", "train gbt b.json"]]
    assert page.table("Ended jobs")[1][2:] == ["failed", "3.20 s", "column 'label' is missing"]
    assert "column 'label' is missing" in page.text(".job .warning")
    assert [row[1] for row in page.table("Executors")[1:]] == ["read, silent for 12 s", "idle", "idle"]
    driver.job(2, state="failed", message="no such model")
    wait_for(lambda: page.news() == ["Job 2, evaluate m.json, failed: no such model."])
    assert page.trouble() == []


def test_one_command_has_no_session(page, driver):
    driver.session.update(session=None, tables=[])
    live.at(driver, 1, 20)
    page.opened()
    assert "One command, without a session" in page.text("main")
    assert page.text(".runs .name") == "train gbt real.model.json"
    assert "podere session" not in page.text("main")
    # What was there before the page is not announced.
    assert "lost executor 3" in page.text("main .events") and page.news() == []


def test_nothing_new_changes_nothing(page, driver):
    live.finish(driver, 1)
    page.opened()
    page.polled()
    page.run("window.read = 0; const parse = JSON.parse; JSON.parse = text => { ++window.read; return parse(text) }")
    for view in ("session", "overview", "quality"):
        page.go(view)
        page.run(
            """
            window.seen = 0;
            window.watch?.disconnect();
            window.watch = new MutationObserver(all => { window.seen += all.filter(e => e.type !== 'attributes' || e.oldValue !== e.target.getAttribute(e.attributeName)).length });
            window.watch.observe(document, { subtree: true, childList: true, attributeOldValue: true, characterData: true })"""
        )
        page.polled(4)
        assert page.run("return window.seen") == 0, view
    assert page.run("return window.read") == 0
    # Another text of a session touches only what it changes.
    page.go("session")
    page.run("window.seen = 0")
    driver.session["executors"]["each"][0]["memory_bytes"] = 130_000_000
    page.saw("130 MB")
    assert 0 < page.run("return window.seen") <= 4
    assert driver.count("/api/runs/1") == 1 and driver.count("/") == 2  # the page itself, and its text to save


def test_only_runs_that_changed_are_asked_for(page, driver):
    live.finish(driver, 1)
    live.at(driver, 2, 10)
    driver.job(3, name="wait", state="waiting")
    page.opened()
    wait_for(lambda: driver.count("/api/runs/2") == 1)
    page.polled(3)
    assert (driver.count("/api/runs/1"), driver.count("/api/runs/2"), driver.count("/api/runs/3")) == (1, 1, 0)
    live.at(driver, 2, 20)
    wait_for(lambda: driver.count("/api/runs/2") == 2)
    page.polled(3)
    assert (driver.count("/api/runs/1"), driver.count("/api/runs/2")) == (1, 2)


def test_many_jobs_are_asked_for_one_by_one_the_newest_first(page, driver):
    for number in range(1, 81):
        driver.runs[number] = {"name": "evaluate m.json", "command": "evaluate", "state": "done", "job": number}
        driver.job(number, name="evaluate m.json", state="done", seconds=0.4)
    page.opened("overview")
    wait_for(lambda: page.text(".runs summary") == "50 runs")
    asked = [path for path in driver.asked if path.startswith("/api/runs/")]
    assert asked == [f"/api/runs/{number}" for number in range(80, 30, -1)]
    assert page.run("return document.querySelector('.runs .name').textContent") == "31: evaluate m.json"
    assert page.text(".runs button") == "Load older runs (30)"
    # Addresses have the numbers of jobs.
    page.run("document.querySelector('.runs input').click()")
    assert page.run("return location.hash") == "#overview&hidden=31"
    live.press(page, "Load older", ".runs")
    wait_for(lambda: page.text(".runs summary") == "Runs: 79 of 80 shown")
    assert not page.run("return document.querySelector('.runs button').offsetParent")
    assert len(page.run("return document.querySelectorAll('.runs li')")) == 80
    assert driver.most_at_once == 1
    page.go("session")
    assert len(page.table("Ended jobs")) == 81


def test_what_the_reader_did_stays(page, driver):
    driver.runs[1] = {**live.done("big"), "job": 1}
    driver.runs[1]["result"]["metrics"] = samples.many_tasks(200, 50)["runs"][0]["result"]["metrics"]
    driver.job(1, name="big", state="done")
    live.at(driver, 2, 10)
    page.opened("cost")
    page.run("document.querySelectorAll('.runs input')[1].click()")  # hides the running job
    page.settle()
    page.run("[...document.querySelectorAll('.tasks th button')].find(e => e.textContent.startsWith('wait')).click()")
    page.run("document.querySelector('.tasks').parentElement.scrollTop = 4000")
    page.settle()
    page.run("window.row = document.querySelectorAll('.tasks tbody tr:not(.spacer)')[5]; scrollTo(0, 300)")
    before = page.run("return window.row.getBoundingClientRect().top")
    live.at(driver, 2, 20)
    live.finish(driver, 3, "another")
    wait_for(lambda: page.text(".runs summary") == "Runs: 2 of 3 shown")
    assert page.run("return location.hash") == "#cost&hidden=2"
    assert [e for e in page.run("return [...document.querySelectorAll('.runs input')].map(e => e.checked)")] == [
        True,
        False,
        True,
    ]
    # 10,000 tasks of a run that did not change are not drawn anew.
    assert page.run("return window.row.isConnected && document.querySelector('.tasks').parentElement.scrollTop") == 4000
    assert page.run("return document.querySelector('.tasks [aria-sort]').textContent").startswith("wait")
    assert page.run("return window.row.getBoundingClientRect().top") == pytest.approx(before, abs=1)
    # The numbers in the address are those of jobs.
    page.driver.refresh()
    wait_for(lambda: page.text(".runs summary") == "Runs: 2 of 3 shown")
    # A button that is pressed while news come is still there when it is let go.
    page.go("overview")
    page.run("document.querySelectorAll('.runs input')[1].click()")
    page.run(
        "window.head = [...document.querySelectorAll('main th button')].find(e => e.textContent.startsWith('took')); window.box = document.querySelectorAll('.runs input')[1]"
    )
    live.at(driver, 2, 30)
    page.saw("7.50 s", "main table")
    assert page.run("return window.head.isConnected && window.box.isConnected")
    assert page.trouble() == []


def test_a_zoom_stays_while_a_curve_grows(page, driver):
    live.at(driver, 1, 20)
    page.opened("training")
    page.run(
        """
        const over = document.querySelector('.u-over'), box = over.getBoundingClientRect();
        const at = (type, target, share) => target.dispatchEvent(new MouseEvent(type, { bubbles: true, button: 0, clientX: box.left + share * box.width, clientY: box.top + 50,
          movementX: 5, movementY: 0 }));
        at('mouseenter', over, 0.2); at('mousemove', over, 0.2); at('mousedown', over, 0.2); at('mousemove', document, 0.5); at('mousemove', over, 0.5); at('mouseup', document, 0.5);
        window.canvas = document.querySelector('canvas')"""
    )
    page.settle()
    ticks = "return document.querySelector('canvas').toDataURL().length"
    zoomed = page.run(ticks)
    live.at(driver, 1, 12)
    wait_for(lambda: "at 12" in page.labels()[0])
    assert page.run("return window.canvas === document.querySelector('canvas')") and zoomed
    page.button("Show all")
    assert page.run(ticks) != zoomed


@pytest.mark.parametrize("behavior", ["stopped", "fails", "hangs", "lies"])
def test_silence_is_reported_and_costs_nothing_that_is_shown(page, driver, behavior):
    live.at(driver, 1, 20)
    page.opened()
    page.run("window.pauses = []")
    driver.stop() if behavior == "stopped" else setattr(driver, "behavior", behavior)
    says = (
        "What answers at this address is not Podere; trying again."
        if behavior == "lies"
        else "; trying again. The page keeps what it has."
    )
    page.saw(says, ".banner")
    assert re.match(
        r"(No answer( for \d+ s)?|What answers at this address is not Podere); trying again\.", page.banner()
    )
    assert page.title() == "No answer: higgs – Podere"
    assert "as of " in page.text(".far")
    page.go("training")
    assert len(page.labels("figure [role=img]")) == 2
    if behavior == "fails":
        pauses = wait_for(lambda: (found := page.run("return window.pauses")).count(10_000) >= 2 and found)
        polls = [pause for pause in pauses if pause >= 1000]
        assert polls[polls.index(2000) - 1 :] == [1000, 2000, 4000, 8000, 10_000, 10_000]
        asked = driver.count("/api/session")
        page.run("[...document.querySelectorAll('.banner button')].find(e => e.textContent === 'Try now').click()")
        wait_for(lambda: driver.count("/api/session") > asked, 0.7)
    # It comes back by itself.
    driver.start() if behavior == "stopped" else setattr(driver, "behavior", "answers")
    wait_for(lambda: not page.banner())
    assert page.news()[-2:] == [
        "What answers is not Podere; trying again." if behavior == "lies" else "No answer; trying again.",
        "The session higgs answers.",
    ]
    live.at(driver, 1, 40)
    page.go("session")
    page.saw("tree 40 of 50")
    assert page.title().startswith("80 %")
    assert page.trouble() == []


def test_the_end_is_reported_and_the_page_stays(page, driver, tmp_path):
    live.finish(driver, 1)
    page.opened()
    driver.session["ended"] = True
    page.saw("The session has ended at ", ".banner")
    assert re.match(r"The session has ended at \d\d:\d\d:\d\d\. The page keeps what it has\.", page.banner())
    before = page.banner()
    driver.stop()
    pauses = page.run("return window.pauses.length")
    wait_for(lambda: page.run("return window.pauses.length") > pauses + 4)
    assert page.banner() == before and page.title() == "Ended: higgs – Podere"
    page.go("quality")
    assert "ROC" in page.text("main")
    # What is most wanted then works: the page as one file.
    page.driver.execute_cdp_cmd("Page.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(tmp_path)})
    live.press(page, "Save as report")
    wait_for(lambda: [path for path in tmp_path.iterdir() if path.suffix == ".html"])
    assert page.text("header [role=status]") == "Saved 1 run"


def test_another_session_at_this_address_is_another(page, driver):
    live.finish(driver, 1)
    page.opened()
    driver.session = live.session(id="f00d", session="tau")
    driver.runs = {}
    page.saw("Another session answers now: tau. The page keeps what it has.", ".banner")
    assert page.table("Ended jobs")[1][1] == "train gbt real.model.json" and page.text(".runs summary") == "1 run"
    live.press(page, "Load it", ".banner")
    page.saw("podere train gbt DATA --session tau")
    assert not page.banner() and not page.run("return document.querySelector('.runs').offsetParent")


def test_a_newer_podere_at_this_address_is_loaded_anew(page, driver):
    page.opened()
    driver.session["podere_live"] = 2
    page.saw("A newer Podere answers now, which this page cannot read.", ".banner")
    live.press(page, "Load it", ".banner")
    wait_for(lambda: driver.count("/") == 3)


def test_without_its_link_the_page_says_how_to_get_it(page, driver):
    live.finish(driver, 1)
    page.opened()
    driver.behavior = "refuses"
    page.saw("The link of this page is not valid, or no longer", ".banner")
    assert "podere session status higgs prints it. The page keeps what it has." in page.banner()
    assert page.title() == "Link needed: higgs – Podere"
    driver.behavior = "answers"  # opened in another tab
    live.press(page, "Try now", ".banner")
    wait_for(lambda: not page.banner())


def test_a_hidden_page_asks_for_nothing(page, driver):
    live.at(driver, 1, 10)
    page.opened()
    look = "Object.defineProperty(document, 'hidden', { value: arguments[0], configurable: true }); document.dispatchEvent(new Event('visibilitychange'))"

    def while_hidden(under_way):
        before = len(driver.asked)
        page.driver.execute_async_script("setTimeout(arguments[0], 6000)")  # 600 ms: six polls
        assert len(driver.asked) <= before + under_way

    page.run(look, True)
    assert page.title() == "train gbt real.model.json – Podere"  # how far it is would be old
    live.at(driver, 1, 40)
    while_hidden(1)
    page.run(look, False)
    page.saw("tree 40 of 50")
    # An answer that was under way asks for no other.
    driver.behavior = "hangs"
    before = driver.count("/api/session")
    wait_for(lambda: driver.count("/api/session") > before)
    page.run(look, True)
    driver.behavior = "answers"
    while_hidden(0)
    page.run(look, False)
    page.saw("tree 40 of 50")
    assert page.title().startswith("80 %")


def test_names_stay_texts_and_damage_is_named(page, driver):
    hostile = samples.hostile()["runs"]
    for number, run in enumerate(hostile, 1):
        driver.runs[number] = {**run, "job": number}
        driver.job(
            number, name=run["name"], kind=run["name"], state="failed" if number % 2 else "done", message=run["name"]
        )
    driver.session["tables"] = [{"name": name, "rows": 1, "columns": 1} for name in samples.HOSTILE]
    driver.session["executors"]["each"][0].update(host=samples.HOSTILE[0], phase=samples.HOSTILE[1])
    driver.session.update(waits_for=samples.HOSTILE[1], host=samples.HOSTILE[2])
    driver.job(90, name="cut", state="done")
    driver.bodies["/api/runs/90"] = '{"name": "cut", "command": "train", "curves": [{]}'
    driver.job(91, name="odd", state="done")
    driver.bodies["/api/runs/91"] = json.dumps({"name": "odd", "command": "train", "curves": 7, "state": "asleep"})
    driver.session["jobs"] += [
        {"job": -1, "state": "done", "revision": 1},
        {"job": "../x", "state": "done", "revision": 1},
        3,
    ]
    page.screen(320)
    page.opened()
    wait_for(lambda: f"{len(hostile) + 1} runs" == page.text(".runs summary"))
    assert "3 parts of this session are damaged and left out: job 90, job 91.state, job 91.curves" in page.text(
        ".warning"
    )
    for view in ("session", "overview", "training"):
        page.go(view)
        assert page.run("return document.documentElement.scrollWidth") <= 320, view
    page.go("session")
    assert samples.HOSTILE[0] in page.run("return document.querySelector('main').textContent")
    assert page.run("return document.querySelectorAll('#page script, #page img').length") == 0
    assert not page.title().startswith("taken")
    assert all(
        path in ("/", "/api/session", "/favicon.ico") or re.fullmatch(r"/api/runs/\d+", path) for path in driver.asked
    )
    assert page.trouble() == []
    # A session that is damaged as a whole is no answer.
    for text in ("", "[]", "null", '{"podere_live": 1}', '{"podere_live": 1, "id": "e3f1", "jobs"'):
        driver.bodies["/api/session"] = text
        page.polled(1)
    page.saw("What answers at this address is not Podere", ".banner")


def test_a_run_that_fails_is_asked_for_again_and_one_that_is_not_there_is_not(page, driver):
    live.finish(driver, 1)
    live.finish(driver, 2, "other")
    driver.job(3, name="x", state="cancelled")
    driver.broken = {"/api/runs/2"}
    page.opened()
    wait_for(lambda: page.text(".runs .name") == "1: train gbt real.model.json")
    wait_for(lambda: driver.count("/api/runs/2") == 2)
    driver.broken = set()
    wait_for(lambda: page.text(".runs summary") == "2 runs")
    assert driver.count("/api/runs/1") == driver.count("/api/runs/3") == 1


def test_saved_it_is_a_report(page, driver, tmp_path):
    driver.runs[1] = {**samples.hostile()["runs"][1], "job": 1}
    driver.job(1, name="hostile", state="done")
    driver.runs[2] = {**live.done(), "job": 2}
    del driver.runs[2]["result"]["metrics"]["tasks"][3]["cpu_seconds"]
    driver.job(2, name="train gbt real.model.json", state="done")
    page.opened("overview")
    page.polled()
    figures = page.table("Runs side by side")
    page.go("cost")
    costs = page.table("Tasks", 1)
    page.driver.execute_cdp_cmd("Page.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(tmp_path)})
    live.press(page, "Save as report")
    (saved,) = wait_for(lambda: [path for path in tmp_path.iterdir() if path.suffix == ".html"])
    assert re.fullmatch(r"higgs-\d{4}-\d\d-\d\dt\d\d-\d\d\.html", saved.name)
    text = saved.read_text()
    before, after = facts.PAGE.read_text().split(facts.PLACE)
    assert text.startswith(before) and text.endswith(after)  # Podere's own page again, without connections
    document = json.loads(text[len(before) + facts.PLACE.index("null") : -len(after)].removesuffix("</script>"))
    assert [run["name"] for run in document["runs"]] == [f"1: {samples.HOSTILE[1]}", "2: train gbt real.model.json"]
    tasks = driver.runs[2]["result"]["metrics"]["tasks"]
    found = document["runs"][1]["result"]["metrics"]["tasks"]
    assert len(found) == len(tasks) and all(each.items() <= {**whole}.items() for each, whole in zip(found, tasks))
    driver.stop()
    page.open(saved, "overview")
    assert page.table("Runs side by side") == figures
    page.go("cost")
    assert page.table("Tasks", 1) == costs
    assert page.text("h1").startswith("Podere report")
    assert page.trouble() == []


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_in_a_session(page, driver, modules, theme):
    live.finish(driver, 1)
    driver.job(2, name="x", state="failed", message="no such file")
    live.at(driver, 3, 30)
    driver.job(4, name="y", state="waiting", seconds=3)
    driver.session["executors"]["each"][1].update(silent_seconds=30)
    driver.session["waits_for"] = "executors"
    page.screen(theme=theme)
    page.opened()
    page.run((modules / "node_modules/axe-core/axe.min.js").read_text() + "; window.axe = axe")
    check = "axe.run({ resultTypes: ['violations'] }).then(arguments[0])"
    for behavior, banner in (("answers", ""), ("fails", "No answer"), ("refuses", "The link")):
        driver.behavior = behavior
        wait_for(lambda: page.banner().startswith(banner) and bool(page.banner()) == bool(banner))
        found = page.driver.execute_async_script(check)
        assert [
            (each["id"], each["nodes"][0]["html"][:200], each["nodes"][0]["failureSummary"])
            for each in found["violations"]
        ] == []
        assert len(found["passes"]) >= 20


def test_keys_reach_what_a_live_page_has(page, driver):
    for number in range(1, 60):
        driver.runs[number] = {"name": "m", "command": "evaluate", "job": number}
        driver.job(number, name="m", state="done")
    page.opened()
    wait_for(lambda: page.text(".runs summary") == "50 runs")
    driver.behavior = "fails"
    page.saw("No answer", ".banner")

    def tabs(n):
        found = []
        for _ in range(n):
            page.press("TAB")
            found.append(
                page.run(
                    "const at = document.activeElement; return at.role ? `${at.role} ${at.ariaLabel}` : at.innerText"
                )
            )
        return found

    assert tabs(12) == [
        "Skip to the content",
        "Save as report",
        "Dark",
        "Session",
        "Overview",
        "Training",
        "Quality",
        "Model",
        "Data",
        "Cost",
        "Try now",
        "50 runs",
    ]
    page.run("[...document.querySelectorAll('.runs input')].pop().focus()")
    assert tabs(3) == ["Load older runs (9)", "group Executors", "group Kept tables"]


def test_a_hundred_polls_leave_nothing_behind(page, driver):
    live.at(driver, 1, 50)

    def change(n):
        live.at(driver, 1, 30 + n % 20)
        driver.session["executors"]["each"][n % 3]["memory_bytes"] += 1_000_000

    def used():
        page.driver.execute_cdp_cmd("HeapProfiler.collectGarbage", {})
        found = {
            each["name"]: each["value"] for each in page.driver.execute_cdp_cmd("Performance.getMetrics", {})["metrics"]
        }
        return found["JSHeapUsedSize"], found["Nodes"], found["JSEventListeners"]

    def follow(polls):
        end = driver.count("/api/session") + polls
        seen = 0
        while driver.count("/api/session") < end:
            if driver.count("/api/session") != seen:
                seen = driver.count("/api/session")
                change(seen)
            time.sleep(0.002)
        page.settle()

    page.opened()
    page.driver.execute_cdp_cmd("Performance.enable", {})
    page.run(
        "const later = setTimeout; window.setTimeout = (call, pause) => later(call, pause === 1000 ? 100 : pause)"
    )  # 10 ms
    follow(20)
    heap, nodes, listeners = used()
    follow(100)
    more = used()
    page.driver.execute_cdp_cmd("Performance.disable", {})
    assert driver.count("/api/runs/1") > 5
    assert more[0] - heap < 400_000 and more[1] - nodes < 50 and more[2] - listeners < 10
