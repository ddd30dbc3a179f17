"""The view of a search for options: of a real podere tune, and of reports that lack what others have."""

import collections
import copy
import json
import math
import re
import subprocess

import pytest

import facts
import samples
from conftest import missing
from test_live import PODERE
from test_page import column

SPACE = """n_trees = 27
depth = { low = 2, high = 6 }
learning_rate = { low = 0.01, high = 0.5, log = true }
best_first = [false, true]
max_leaves = { low = 4, high = 16, when = { best_first = true } }
"""
DIVERGING = 'epochs = 3\nhidden = "8"\noptimiser = "sgd"\nlearning_rate = [0.01, 1e6, 0.02]\n'


def number(text):
    return math.nan if text == "–" else float(text.replace(",", "").replace("−", "-").split(" %")[0])


def tune(folder, algorithm, space, *arguments):
    """Runs a search. Returns its page and the result in it."""
    (folder / "space.toml").write_text(space)
    try:
        done = subprocess.run(
            [PODERE, "tune", algorithm, "collider:2000", "--space", "space.toml", "-o", "m.json", "--report", "r.html"]
            + list(arguments),
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=120,
        )
    except FileNotFoundError:
        missing(f"the program {PODERE}")
    assert done.returncode == 0, done.stderr
    text = re.search(r'id="podere-report">(.*?)</script>', (folder / "r.html").read_text(), re.DOTALL)[1]
    return folder / "r.html", json.loads(text)["runs"][0]["result"]


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    return tune(tmp_path_factory.mktemp("tune"), "gbt", SPACE, "--trials", "24", "--score", "auc", "--first-after", "3")


@pytest.fixture
def trials(browser, found):
    browser.open(found[0], "trials")
    return browser


def mean_ranks(values):
    """From 0; of equal values the mean."""
    ordered = sorted(values)
    return [ordered.index(value) + (ordered.count(value) - 1) / 2 for value in values]


def importance(values, scores):
    """By the formula of Kruskal and Wallis with its correction for ties. A value of None: the trial lacks the option."""
    n = len(scores)
    present = [value for value in values if value is not None]
    if all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in present):
        n_groups = min(5, max(2, n // 5))
        place = dict(zip(present, mean_ranks(present)))
        group = {
            value: min(n_groups - 1, int(rank / max(1, len(present) - 1) * n_groups)) for value, rank in place.items()
        }
    else:
        group = {value: value for value in present}
    ranks = collections.defaultdict(list)
    for value, rank in zip(values, mean_ranks(scores)):
        ranks[group.get(value, "none")].append(rank + 1)
    if len(ranks) < 2 or n <= len(ranks):
        return None
    h = 12 / n / (n + 1) * sum(sum(of) ** 2 / len(of) for of in ranks.values()) - 3 * (n + 1)
    h /= 1 - sum(ties**3 - ties for ties in collections.Counter(scores).values()) / (n**3 - n)
    return max(0, (h - len(ranks) + 1) / (n - len(ranks)))


def scores_after(result, budget):
    """By trial. Those that stopped early keep their last score."""
    scores = {}
    for trial in result["trials"]:
        last, score = trial["curve"][-1]
        at = dict(map(tuple, trial["curve"])).get(budget, score if trial["state"] == "complete" and last < budget else None)
        if at is not None:
            scores[trial["trial"]] = at
    return scores


def shown_importance(browser):
    return {row[0]: row[1] for row in browser.table("Importance of options")[1:]}


def assert_importance(browser, result, budget):
    scores = scores_after(result, budget)
    by_number = {trial["trial"]: trial["setting"] for trial in result["trials"]}
    shown = shown_importance(browser)
    assert set(shown) == {"depth", "learning rate", "best first", "max leaves"}
    for title, text in shown.items():
        values = [by_number[trial].get(title.replace(" ", "_")) for trial in scores]
        expected = importance(values, list(scores.values()))
        assert text == "–" if expected is None else number(text) == pytest.approx(100 * expected, abs=0.051), title
    return shown


def choose(browser, budget):
    browser.run(
        "const box = document.querySelector('main select'); box.value = arguments[0]; box.dispatchEvent(new Event('change'))",
        str(budget),
    )
    browser.settle()


def sort_by(browser, title):
    browser.run(
        "[...document.querySelectorAll('.trials .virtual th button')].find(e => e.textContent.startsWith(arguments[0])).click()",
        title,
    )
    browser.settle()


def test_the_report_has_the_scores_after_each_step(found):
    _, result = found
    assert len(result["rungs"]) > 1
    for trial in result["trials"]:
        assert [budget for budget, _ in trial["curve"]] == result["rungs"][: len(trial["curve"])]
        assert [trial["budget"], trial["score"]] in trial["curve"]
        assert trial["score"] == max(score for _, score in trial["curve"])


def test_the_table_has_all_trials_and_sorts(trials, found):
    _, result = found
    by_number = {trial["trial"]: trial for trial in result["trials"]}
    table = trials.table("Trials")
    assert len(table) == 25
    assert [head.rstrip("▲▼") for head in table[0]] == [
        "trial", "state", "AUC", "±", "after", "depth", "learning rate", "best first", "max leaves",
    ]  # fmt: skip
    best_first = sorted(result["trials"], key=lambda trial: (-trial["score"], trial["trial"]))
    assert column(table, "trial") == [str(trial["trial"]) for trial in best_first]
    for row in table[1:]:
        trial = by_number[int(row[0])]
        setting = trial["setting"]
        assert row[1] == trial["state"] and number(row[4]) == trial["budget"]
        assert number(row[2]) == pytest.approx(trial["score"], abs=1e-5)
        assert number(row[3]) == pytest.approx(trial["facts"]["standard_error"], rel=0.05)
        assert number(row[5]) == setting["depth"] and number(row[6]) == pytest.approx(setting["learning_rate"], rel=1e-3)
        assert row[7] == str(setting["best_first"]).lower() and row[8] == str(setting.get("max_leaves", "–"))
    sort_by(trials, "learning rate")
    rates = sorted((trial["setting"]["learning_rate"] for trial in result["trials"]), reverse=True)
    assert [number(text) for text in column(trials.table("Trials"), "learning rate")] == pytest.approx(rates, rel=1e-3)
    for _ in range(2):
        sort_by(trials, "max leaves")
        leaves = [number(text) for text in column(trials.table("Trials"), "max leaves")]
        absent = [trial for trial in result["trials"] if "max_leaves" not in trial["setting"]]
        assert all(map(math.isnan, leaves[-len(absent) :])) and not any(map(math.isnan, leaves[: -len(absent)]))
    assert leaves[: -len(absent)] == sorted(leaves[: -len(absent)])
    assert "All have n trees 27" in trials.text()
    assert trials.errors() == []


def test_the_best_so_far_is_the_running_best(trials, found):
    _, result = found
    trials.run("document.querySelectorAll('.trials figure > details').forEach(e => { e.open = true })")
    trials.settle()
    best = -math.inf
    shown = trials.table("Best so far")[1:]
    assert len(shown) == 24
    for trial, row in zip(result["trials"], shown):
        best = max(best, trial["score"])
        assert row[0] == str(trial["trial"])
        assert [number(text) for text in row[1:]] == pytest.approx([trial["score"], best], abs=1e-5)
    # The line is as high as the dot of the best trial.
    line, dots = trials.run(
        """const picture = document.querySelector('.trials figure .plot');
        return [picture.querySelector('path.line').getAttribute('d'),
                [...picture.querySelectorAll('path.dots')].map(e => e.getAttribute('d')).join('')]"""
    )
    heights = [float(y) for y in re.findall(r"M[\d.]+ ([\d.]+)h0", dots)]
    assert len(heights) == 24 and min(heights) == float(line.rsplit("V", 1)[1].split("H")[0])
    winner = result["trials"][result["best"]]
    assert f"The best is trial {result['best']}: AUC {winner['score']:.5f} after {winner['budget']} trees" in trials.text()
    rows = trials.table("Scores while they were trained")
    assert rows[0][1:] == [f"after {budget}" for budget in result["rungs"]]
    for trial, row in zip(result["trials"], rows[1:]):
        measured = [number(text) for text in row[1:] if text != "–"]
        assert measured == pytest.approx([score for _, score in trial["curve"]], abs=1e-5)


def hover(browser, figure, x, y):
    """The pointer at a place of a picture. Returns what stands below, and whether something is marked."""
    left, top = browser.run(
        """const picture = document.querySelectorAll('.trials figure')[arguments[0]].querySelector('.plot svg');
        picture.scrollIntoView({block: 'center'});
        const box = picture.getBoundingClientRect(); return [box.left, box.top]""",
        figure,
    )
    browser.driver.execute_cdp_cmd("Input.dispatchMouseEvent", {"type": "mouseMoved", "x": left + x, "y": top + y})
    browser.settle()
    return browser.run(
        """const figure = document.querySelectorAll('.trials figure')[arguments[0]];
        return [figure.querySelector('.readout').textContent, figure.querySelectorAll('.marked').length]""",
        figure,
    )


def test_points_and_lines_name_their_trial(trials):
    places = trials.run(
        "return [...document.querySelectorAll('.trials figure')[0].querySelectorAll('.plot path.dots')].map(e => e.getAttribute('d')).join('')"
    )
    named = set()
    for x, y in re.findall(r"M([\d.]+) ([\d.]+)h0", places):
        text, n_marked = hover(trials, 0, float(x), float(y))
        assert n_marked == 1
        named.add(int(re.match(r"trial (\d+): AUC 0\.\d+ after \d+ trees, (complete|paused); depth \d", text)[1]))
    assert named == set(range(24))
    assert hover(trials, 0, 2, 2) == ["", 0], "far from all"
    # Lines are named at their ends.
    for figure, pattern in ((1, r"trial (\d+): 0\.\d+ after \d+"), (2, r"trial (\d+): AUC")):
        strands = trials.run(
            "return [...document.querySelectorAll('.trials figure')[arguments[0]].querySelectorAll('path.strand')].map(e => e.getAttribute('d'))",
            figure,
        )
        assert sum(d.count("M") for d in strands) == 24
        for d in strands:
            for strand in d.split("M")[1:]:
                x, y = map(float, strand.split("L")[-1].split())
                text, n_marked = hover(trials, figure, x, y)
                assert re.match(pattern, text) and n_marked == 1
    assert trials.errors() == []


def test_importance_is_that_of_the_formula(trials, found):
    _, result = found
    n_after = {budget: len(scores_after(result, budget)) for budget in result["rungs"]}
    chosen = max(budget for budget, n in n_after.items() if n >= 20)
    assert f"Of the differences between {n_after[chosen]} trials that were measured after {chosen} trees" in trials.text()
    first = assert_importance(trials, result, chosen)
    assert max(number(text) for text in first.values()) > 5, "something matters"
    others = [budget for budget, n in n_after.items() if n >= 10 and budget != chosen]
    for budget in others:
        choose(trials, budget)
        assert_importance(trials, result, budget)
    few = next(budget for budget, n in n_after.items() if n < 10)
    choose(trials, few)
    assert trials.table("Importance of options") is None
    assert "Importance needs 10 trials with a score: there " in trials.text()
    dots = trials.run(
        "return [...document.querySelectorAll('.trials .grid.columns figure')].map(f => [...f.querySelectorAll('path.dots')].map(e => e.getAttribute('d')).join('').split('h0').length - 1)"
    )
    assert dots == [n_after[few]] * 4


def test_importance_of_many_kinds_of_options(browser, pages):
    browser.open(pages("search"), "trials")
    result = pages.document("search")["runs"][0]["result"]
    scores = scores_after(result, 4)
    choose(browser, 4)
    shown = shown_importance(browser)
    assert list(shown)[0] == "learning rate"
    for title, name in (("learning rate", "learning_rate"), ("depth", "depth"), ("lambda", "lambda"), ("growth", "growth")):
        values = [result["trials"][trial]["setting"][name] for trial in scores]
        assert number(shown[title]) == pytest.approx(100 * importance(values, list(scores.values())), abs=0.051)
    assert f"Of the differences between {len(scores)} trials" in browser.text()
    ticks = browser.run(
        "return [...document.querySelectorAll('.trials .grid.columns figure')].map(f => [...f.querySelectorAll('.plot text.tick[text-anchor=middle]')].map(e => e.textContent))"
    )
    assert ticks[0] == ["0.05", "0.1", "0.2"] and ticks[2] == ["0.1", "1", "10"], "logarithmic axes"
    assert ticks[3] == ["best-first", "level"] and ticks[4][-1] == "none"


def test_a_report_of_an_earlier_version_opens(browser, found, tmp_path):
    _, result = found
    old = copy.deepcopy(result)
    for trial in old["trials"]:
        del trial["curve"]
    run = {"name": "old", "command": "tune", "state": "done", "result": old}
    browser.open(facts.page(facts.report(run), tmp_path / "old.html"), "trials")
    assert len(browser.table("Trials")) == 25
    titles = browser.run("return [...document.querySelectorAll('.trials figcaption .title')].filter(e => e.offsetParent).map(e => e.innerText)")
    assert titles[:2] == ["Best so far", "Options and score of each trial"]
    budgets = collections.Counter(trial["budget"] for trial in old["trials"])
    assert f"there are {budgets.most_common(1)[0][1]} trials" in browser.text() or browser.table("Importance of options")
    assert "damaged" not in browser.text() and browser.errors() == []


def test_a_search_with_a_failed_trial_names_it_and_its_cause(browser, tmp_path):
    page, result = tune(tmp_path, "nn", DIVERGING, "--search", "grid")
    assert [trial["state"] for trial in result["trials"]].count("failed") == 1
    browser.open(page, "trials")
    assert "3 trials: 1 complete, 1 paused, 1 failed." in browser.text()
    table = browser.table("Trials")
    assert column(table, "trial")[-1] == "1" and column(table, "log loss")[-1] == "–"
    assert column(table, "cause")[-1].startswith("training diverged in step ") and column(table, "cause")[0] == "–"
    dots = browser.run("return document.querySelector('.trials figure .plot path.dots.shade-5').getAttribute('d')")
    x, y = map(float, re.fullmatch(r"M([\d.]+) ([\d.]+)h0", dots).groups())
    text, _ = hover(browser, 0, x, y)
    assert text.startswith("trial 1: failed (training diverged in step ")
    assert "failed" in browser.text(".trials figure .key")
    assert "Importance needs 10 trials with a score: there are 2 trials that were measured after 1 epoch." in browser.text()
    assert browser.errors() == []


def test_a_search_with_a_single_trial_opens(browser, tmp_path):
    page, _ = tune(tmp_path, "gbt", SPACE, "--trials", "1")
    browser.open(page, "trials")
    assert "1 trial: " in browser.text() and "The best is trial 0: " in browser.text()
    assert len(browser.table("Trials")) == 2 and "depth" in browser.table("Trials")[0]
    assert "Importance" not in browser.text() and browser.errors() == []


def test_the_trials_of_an_ensemble_are_named(browser, tmp_path):
    page, result = tune(tmp_path, "gbt", SPACE, "--trials", "12", "--score", "auc", "--ensemble", "5")
    browser.open(page, "trials")
    ensemble = result["ensemble"]
    members = sorted(ensemble["trials"], key=lambda member: -member["weight"])
    named = ", ".join(f"trial {member['trial']} ({100 * member['weight']:.1f} %)" for member in members)
    trials = "1 trial" if len(members) == 1 else f"{len(members)} trials"
    assert f"The model blends {trials}, whose score together is {ensemble['score']:.5f}"[:-1] in browser.text()
    assert named in browser.text() and "The model has the setting of" not in browser.text()
    assert browser.errors() == []


def test_damaged_and_hostile_trials(browser, tmp_path):
    document = samples.search()
    trials = document["runs"][0]["result"]["trials"]
    trials[0]["curve"][0] = [4]
    trials[1]["setting"]["depth"] = {"x": 1}
    del trials[2]["trial"]
    trials[3]["setting"][samples.HOSTILE[1]] = samples.HOSTILE[0]
    trials[4]["setting"]["__proto__"] = [64, 32]
    for trial in trials[7:]:
        trial.update(state="failed", score=None, facts={"error": samples.HOSTILE[2]})
    browser.open(facts.page(document, tmp_path / "page.html"), "trials")
    assert "3 parts of this report are damaged" in browser.text()
    assert "39 trials: " in browser.text() and len(browser.table("Trials")) > 10
    assert browser.run("return document.querySelectorAll('#page script, #page img').length") == 0
    assert "taken" not in browser.driver.title and browser.errors() == []
    for trial in trials:
        trial.update(state="failed", score=None)
    browser.open(facts.page(document, tmp_path / "failed.html"), "trials")
    assert "No trial has a score." in browser.text() and browser.errors() == []
    document["runs"][0]["result"]["trials"] = []
    browser.open(facts.page(document, tmp_path / "none.html"), "trials")
    assert "No trial was measured." in browser.text() and browser.errors() == []


def test_scores_that_are_worse_by_far_lie_at_the_edge(browser, tmp_path):
    document = samples.search()
    trial = document["runs"][0]["result"]["trials"][5]
    trial.update(score=-1e6, curve=[[4, -1e6]])
    browser.open(facts.page(document, tmp_path / "page.html"), "trials")
    ticks = browser.run(
        "return [...document.querySelector('.trials figure').querySelectorAll('text.tick[text-anchor=end]')].map(e => e.textContent)"
    )
    assert all(0.4 < number(text) < 1 for text in ticks), ticks


def test_the_view_is_there_for_searches_only(browser, pages):
    def is_linked():
        return browser.run("return document.querySelector('nav a[data-view=trials]').offsetParent !== null")

    browser.open(pages("higgs"))
    assert not is_linked()
    browser.go("trials")
    assert "podere tune gbt DATA -o best.json --report out.html" in browser.text(".empty")
    browser.open(pages("search"))
    assert is_linked()
