"""What views show of a run, and what they derive: compared with the same numbers, computed here another way."""

import math
import re

import pytest

import facts
import samples
from test_page import column


@pytest.fixture
def higgs(browser, pages):
    def of(view):
        browser.open(pages("higgs"), view)
        return browser

    return of


def number(text):
    return float(text.replace(",", "").replace("−", "-").replace(" %", ""))


def measured_of(pages, name, run, place=0):
    return pages.document(name)["runs"][run]["measured"][place]


def test_the_overview_says_how_good_how_long_and_what_was_lost(higgs, pages):
    browser = higgs("overview")
    test = measured_of(pages, "higgs", 2)
    tiles = browser.run("return [...document.querySelector('.card').querySelectorAll('.tile')].map(e => e.innerText)")
    assert tiles[0] == f"AUC, test rows\n{test['auc']:.4f}\ntraining {measured_of(pages, 'higgs', 0)['auc']:.4f}"
    assert tiles[1] == f"accuracy\n{100 * test['accuracy']:.2f} %"
    assert tiles[2:] == [
        "model\n50 trees\nlogistic",
        "rows\n9,600\n18 features",
        "training took\n12.3 s\n4 × 1 core",
        "executors lost\n1\ncost 2.60 s",
    ]
    table = browser.table("Runs side by side")
    assert column(table, "run") == [
        "train gbt real.model.json",
        "train nn network.model.json",
        "evaluate real.model.json",
        "evaluate network.model.json",
    ]
    assert column(table, "AUC, test") == [f"{measured_of(pages, 'higgs', run)['auc']:.4f}" for run in (2, 3, 2, 3)]
    assert column(table, "memory") == ["61.0 MB", "48.0 MB", "31.0 MB", "31.0 MB"]
    assert column(table, "began")[0] == "2026-11-27 18:45 UTC"
    assert (
        "lost executor 3 (killed by signal 9) at tree 13; continuing with 3 executors from tree 13; 2.6 s lost"
        in browser.text(".events")
    )


def test_training_shows_curves_with_their_best_and_where_executors_were_lost(higgs, pages):
    browser = higgs("training")
    loss, auc, accuracy = browser.labels("figure [role=img]")
    curves = pages.document("higgs")["runs"][0]["curves"][0]["metrics"]
    assert loss.startswith(
        "Loss. Over tree or epoch. train gbt real.model.json: loss: 0.3787 at the end, lowest 0.3787 at 50; "
    )
    lowest = min(range(50), key=lambda i: curves["validation_loss"][i])
    assert (
        f"validation loss: {curves['validation_loss'][-1]:.4f} at the end, lowest {curves['validation_loss'][lowest]:.4f} at {lowest + 1}"
        in loss
    )
    assert "train nn network.model.json: loss: 0.5516 at the end, lowest 0.5516 at 30;" in loss  # epochs, of 120 steps
    assert "validation AUC" in auc and "train gbt" not in accuracy
    assert (
        browser.text("main ul")
        == "train gbt real.model.json: lost executor 3 (killed by signal 9) at tree 13; 3 left; cost 2.60 s"
    )
    browser.button("Seconds")
    assert "at 12.10;" in browser.labels("figure [role=img]")[0]
    browser.run("document.querySelector('main details').open = true")
    browser.settle()
    assert browser.table("Loss")[0][0] == "seconds since the run began"
    # A curve is hidden by its key.
    browser.run("document.querySelector('button.series').click()")
    assert browser.run("return document.querySelector('button.series').getAttribute('aria-pressed')") == "false"


def test_rounds_that_were_run_again_count_once(browser, tmp_path):
    run = samples.trees_training()
    run["curves"] = [facts.curve("tree", 5, 3.0, {"loss": [0.6, 0.5, 0.9, 0.4, 0.3]})]
    run["curves"][0]["done"] = [1, 2, 3, 2, 3]
    browser.open(facts.page(facts.report(run), tmp_path / "page.html"), "training")
    browser.run("document.querySelector('main details').open = true")
    browser.settle()
    assert browser.table("Loss")[1:] == [["1", "0.6000"], ["2", "0.4000"], ["3", "0.3000"]]
    browser.button("Seconds")
    assert len(browser.table("Loss")) == 5  # from 0 seconds on


def cuts(scores, s_factor=1.0, b_factor=1.0):
    """By threshold: s, b, s / sqrt(b), AMS with b_reg = 10."""
    background, signal = scores["weights"]
    for i in range(facts.BINS):
        s, b = s_factor * math.fsum(signal[i:]), b_factor * math.fsum(background[i:])
        noise = b + 10
        yield i / facts.BINS, s, b, s / math.sqrt(b) if b > 0 else 0.0, math.sqrt(
            2 * ((s + noise) * math.log(1 + s / noise) - s)
        )


def test_the_best_cuts_are_those_of_the_formulas(higgs, pages):
    browser = higgs("quality")
    scores = measured_of(pages, "higgs", 2)["scores"]
    signal, background = math.fsum(scores["weights"][1]), math.fsum(scores["weights"][0])

    def expect(s_factor, b_factor):
        all_cuts = list(cuts(scores, s_factor, b_factor))
        root = max((cut for cut in all_cuts if cut[2] >= 25 * b_factor), key=lambda cut: cut[3])
        ams = max(all_cuts, key=lambda cut: cut[4])
        table = browser.table("Best cuts")
        for place, (threshold, s, b, significance, best_ams) in ((1, root), (2, ams)):
            shown = {row[0]: number(row[place]) for row in table[1:]}
            assert shown["cut"] == threshold
            assert shown["s / √b"] == pytest.approx(significance, rel=1e-3)
            assert shown["AMS"] == pytest.approx(best_ams, rel=1e-3)
            assert shown["s"] == pytest.approx(s, abs=0.5) and shown["b"] == pytest.approx(b, abs=0.5)
            assert shown["efficiency of signal"] == pytest.approx(100 * s / s_factor / signal, abs=0.06)
            assert shown["efficiency of background"] == pytest.approx(100 * b / b_factor / background, abs=0.06)
        assert f"at a cut of {root[0]:.4f}; best AMS" in next(
            label for label in browser.labels() if label.startswith("Significance")
        )
        return root[0], ams[0]

    before = expect(1, 1)
    for place, text in ((0, "0.02"), (1, "3.5")):
        browser.run(
            """const box = document.querySelectorAll('section.model input[inputmode=decimal]')[arguments[0]];
                       box.value = arguments[1]; box.dispatchEvent(new Event('input'))""",
            place,
            text,
        )
    assert expect(0.02, 3.5) != before
    # What is no number above 0 is marked, and changes nothing.
    browser.run(
        "const box = document.querySelector('section.model input[inputmode=decimal]'); box.value = '-1'; box.dispatchEvent(new Event('input'))"
    )
    assert browser.text(".problem").strip() == "a number above 0"
    expect(0.02, 3.5)


def test_ams_is_that_of_a_sum_done_on_paper(browser, tmp_path):
    """s = 10, b = 10 above 0.5: sqrt(2 (30 ln 1.5 - 10)) = 2.0804; all: s = 20, b = 110: sqrt(2 (140 ln(7/6) - 20)) = 1.7807."""
    weights = [[50.0, 50.0, 5.0, 5.0], [5.0, 5.0, 5.0, 5.0]]
    run = samples.evaluation("m", "m", "d", [], {"sha256": "1", "classes": ["b", "s"]})
    run["measured"] = [{"rows": "test", "n_rows": 130, "scores": {"bins": 4, "weights": weights}}]
    browser.open(facts.page(facts.report(run), tmp_path / "page.html"), "quality")
    table = {row[0]: row[2] for row in browser.table("Best cuts")[1:]}
    assert table == {
        "cut": "0.5000",
        "s / √b": "3.162",
        "AMS": "2.080",
        "s": "10",
        "b": "10",
        "efficiency of s": "50.0 %",
        "efficiency of b": "9.1 %",
    }


def test_negative_weights_break_nothing(browser, tmp_path):
    run = samples.evaluation("m", "m", "d", [], {"sha256": "1"})
    weights = [[4.0, -1.0, 3.0, -2.0], [1.0, 2.0, -1.0, 5.0]]
    run["measured"] = [
        {"rows": rows, "n_rows": 20, "scores": {"bins": 4, "weights": weights}} for rows in ("training", "test")
    ]
    browser.open(facts.page(facts.report(run), tmp_path / "page.html"), "quality")
    browser.button("Counts")
    browser.run("[...document.querySelectorAll('main label')].find(e => e.textContent === 'log scale').click()")
    browser.settle()
    assert browser.errors() == []
    assert "NaN" not in browser.run("return document.querySelector('main').innerHTML")


def test_scores_show_overtraining(higgs, pages):
    """The largest distance of the cumulative distributions of training and test rows."""
    browser = higgs("quality")

    def distance(k):
        training, test = (measured_of(pages, "higgs", run)["scores"]["weights"][k] for run in (0, 2))
        return max(
            abs(math.fsum(training[:i]) / math.fsum(training) - math.fsum(test[:i]) / math.fsum(test))
            for i in range(facts.BINS + 1)
        )

    label = next(label for label in browser.labels() if label.startswith("Scores by class"))
    assert f"(Kolmogorov–Smirnov): background {distance(0):.3f}, signal {distance(1):.3f}." in label
    keys = browser.run(
        "return [...document.querySelectorAll('section.model figure')].find(e => e.innerText.startsWith('Scores')).querySelector('.key').innerText"
    )
    assert keys.split("\n") == ["background, training", "signal, training", "background, test", "signal, test"]
    browser.run(
        "[...document.querySelectorAll('section.model figure')].find(e => e.innerText.startsWith('Scores')).querySelector('details').open = true"
    )
    browser.settle()
    table = browser.table("density of each class")
    assert len(table) == 1 + 40  # 400 bins in tens
    weights = measured_of(pages, "higgs", 2)["scores"]["weights"][0]
    assert number(table[5][3]) == pytest.approx(40 * math.fsum(weights[40:50]) / math.fsum(weights), rel=1e-3)
    # Training rows are steps, test rows points with error bars.
    figure = "[...document.querySelectorAll('section.model figure')].find(e => e.innerText.startsWith('Scores'))"
    assert browser.run(f"return {figure}.querySelectorAll('svg path.area').length") == 2
    assert browser.run(f"return {figure}.querySelector('.plot').querySelectorAll('circle.mark').length") == sum(
        math.fsum(weights[i : i + 10]) > 0 for i in range(0, 400, 10)
    )


def test_error_bars_do_not_depend_on_the_scale_of_weights(browser, tmp_path):
    """The same rows, each with weight 1, 100 or 0.01."""
    ends = []
    for scale in (1, 100, 0.01):
        document = samples.higgs()
        for run in document["runs"]:
            for each in run["measured"]:
                counts = each["scores"]["weights"]
                each["scores"]["weights"] = [[scale * n for n in of_class] for of_class in counts]
                each["scores"]["squares"] = [[scale**2 * n for n in of_class] for of_class in counts]
        browser.open(facts.page(document, tmp_path / "r.html"), "quality")
        found = browser.run(
            """const figure = [...document.querySelectorAll('section.model figure')].find(e => e.innerText.startsWith('Scores'));
            return [...figure.querySelectorAll('.plot line')].map(e => e.getAttribute('y1') - e.getAttribute('y2'))"""
        )
        ends.append([round(length, 1) for length in found])
    assert ends[0] == ends[1] == ends[2] and len({length for length in ends[0] if length > 0}) > 10


def test_roc_calibration_and_confusion(higgs, pages):
    browser = higgs("quality")
    test = measured_of(pages, "higgs", 2)
    roc = next(label for label in browser.labels() if label.startswith("ROC"))
    assert f"train gbt real.model.json: test: AUC {test['auc']:.4f}" in roc
    background, signal = test["scores"]["weights"]
    error = total = 0.0
    for begin in range(0, 400, 20):
        both = [background[i] + signal[i] for i in range(begin, begin + 20)]
        if weight := math.fsum(both):
            predicted = math.fsum((begin + j + 0.5) / 400 * each for j, each in enumerate(both)) / weight
            error += weight * abs(predicted - math.fsum(signal[begin : begin + 20]) / weight)
            total += weight
    calibration = next(label for label in browser.labels() if label.startswith("Calibration"))
    assert f"train gbt real.model.json: test: error {error / total:.4f}" in calibration
    matrix = test["confusion"]
    head, first, second = browser.table("True class by predicted class")
    assert head == ["true class", "as background", "as signal", "recall", "precision"]
    assert first == [
        "background",
        *(f"{each:,}" for each in matrix[0]),
        f"{100 * matrix[0][0] / sum(matrix[0]):.1f} %",
        f"{100 * matrix[0][0] / (matrix[0][0] + matrix[1][0]):.1f} %",
    ]
    assert second[3] == f"{100 * matrix[1][1] / sum(matrix[1]):.1f} %"
    browser.button("Rejection")
    assert "background rejection" in browser.run("return document.querySelector('main figure svg').textContent")
    assert browser.errors() == []


def test_three_classes_have_a_matrix_and_no_cuts(browser, pages):
    browser.open(pages("three_classes"), "quality")
    assert browser.table("True class by predicted class")[2] == ["versicolor", "0", "47", "3", "94.0 %", "92.2 %"]
    assert browser.text("figure:not([hidden] *)").strip() == ""
    browser.go("data")
    assert browser.text(".view > div > .key").split("\n") == ["setosa", "versicolor", "virginica"]


def test_what_evaluate_prints_is_enough_for_measures(browser, tmp_path):
    run = samples.evaluation("m.json", "plain", "d", samples.TREES_TEST, {})
    found = run.pop("measured")[0]
    browser.open(facts.page(facts.report(run), tmp_path / "page.html"), "quality")
    assert browser.table("Measures")[1] == [
        "Test",
        "–",
        "3,688",
        f"{found['auc']:.4f}",
        f"{100 * found['accuracy']:.2f} %",
        f"{found['log_loss']:.4f}",
    ]
    assert browser.table("True class by predicted class")[1][1] == f"{found['confusion'][0][0]:,}"


def test_numbers_have_residuals(browser, pages):
    browser.open(pages("regression"), "quality")
    assert browser.table("Measures")[2] == ["Test", "houses.csv", "1,000", "2.000", "1.600"]
    label = next(
        label for label in browser.labels("figure:not([hidden] *) [role=img]") if label.startswith("Residuals")
    )
    assert label.endswith("Of training and test. RMS error of training rows: 1.500. RMS error of test rows: 2.000.")


def test_importance_is_sorted_searched_and_cut(browser, tmp_path):
    run = samples.trees_training()
    run["model"]["importance"] = [
        {"feature": f"column {i:02d}", "gain": float(i), "splits": 100 - i} for i in range(50)
    ]
    browser.open(facts.page(facts.report(run), tmp_path / "page.html"), "model")
    table = browser.table("Importance of features")
    assert len(table) == 31 and table[1] == ["column 49", "49.00", "4.0 %", "51"]
    browser.button("Show all 50")
    assert len(browser.table("Importance of features")) == 51
    browser.button("splits")
    assert browser.table("Importance of features")[1][0] == "column 00"
    browser.run(
        "const box = document.querySelector('main input[type=search]'); box.value = 'N 1'; box.dispatchEvent(new Event('input'))"
    )
    assert column(browser.table("Importance of features"), "feature") == [f"column {i}" for i in range(10, 20)]
    assert browser.text("main [role=status]").strip() == "10 features found"


def test_data_has_m_bb_first_and_can_be_searched(higgs):
    browser = higgs("data")
    titles = browser.run("return [...document.querySelectorAll('main figcaption .title')].map(e => e.textContent)")
    assert titles[:2] == ["m_bb", "lepton_pT"] and len(titles) == 18
    m_bb = browser.labels()[0]
    assert (
        m_bb.startswith("m_bb. From 0 to 4; background has a mean of about 0.8")
        and "signal has a mean of about 0.9" in m_bb
    )
    browser.run(
        "const box = document.querySelector('main input[type=search]'); box.value = 'jet4'; box.dispatchEvent(new Event('input'))"
    )
    browser.settle()
    assert "Missing 1.6 %" in browser.text("main .columns")
    assert "1 column found of 18" in browser.text("main")


def test_texts_are_named_below_their_bars(browser, tmp_path):
    run = samples.trees_training()
    counts = {"low": -0.5, "high": 2.5, "below": [0, 0], "above": [0, 0], "missing": [0, 0]}
    run["columns"] = {
        "classes": ["0", "1"],
        "left_out": 12,
        "features": [
            {"name": "color", **counts, "weights": [[5, 3, 2], [1, 1, 2]], "categories": ["red", "green", "blue"]},
            {"name": "wrong", **counts, "weights": [[5, 3, 2], [1, 1, 2]], "categories": ["red"]},
        ],
    }
    browser.open(facts.page(facts.report(run), tmp_path / "page.html"), "data")
    assert browser.text(".warning").startswith(
        "1 part of this report is damaged and left out: runs[0].columns.features[1]."
    )
    assert "1 column; 12 are left out: those of least importance, or the last ones" in browser.text("main .toolbar")
    assert browser.run("return [...document.querySelectorAll('main figure svg .axes text')].map(e => e.textContent)")[
        -5:-2
    ] == ["red", "green", "blue"]
    browser.button("Counts")
    browser.run("document.querySelector('main details').open = true")
    browser.settle()
    assert browser.table("sum of weights") == [
        ["color", "class 0", "class 1"],
        ["red", "5.000", "1.000"],
        ["green", "3.000", "1.000"],
        ["blue", "2.000", "2.000"],
    ]


def test_explain_and_describe(browser, pages):
    browser.open(pages("other_commands"), "model")
    assert browser.table("Mean |SHAP|")[1] == ["m_bb", "0.4000", "80.0 %", "0.02000"]
    assert "runs[0].shap_points.features[2]" in browser.text(".warning"), "a list of another length"
    assert any("SHAP values of 4 rows for 2 features. Those of m_bb go from −0.5000 to 0.5000." in each for each in browser.labels())
    dots = browser.run("return [...document.querySelectorAll('.plot .dots')].map(e => [e.getAttribute('class'), e.getAttribute('d')])")
    places = {shade: [float(x) for x in re.findall(r"M([\d.]+)", d)] for shade, d in dots[:4]}
    low, middle, high, missing = (places[f"dots shade-{shade}"][0] for shade in (0, 2, 4, 5))
    assert low < middle < missing < high, "the largest value has the largest SHAP value, and so on"
    assert [shade for shade, _ in dots[4:]] == ["dots shade-6"] and dots[4][1].count("M") == 4, "of a category"
    browser.run("[...document.querySelectorAll('main details')].at(-1).open = true")
    browser.settle()
    assert browser.table("SHAP values by feature")[1:] == [["m_bb", "−0.5000", "0.5000", "1.00"], ["m_lv", "−0.1000", "0.1000", "–"]]
    browser.go("data")
    assert browser.run("return [...document.querySelectorAll('main figcaption .title')].map(e => e.textContent)") == [
        "a"
    ]
    assert "the mean is about 3.53. Missing 50.0 %" in browser.labels()[0]


def test_cost_shows_where_the_time_went(higgs, pages):
    browser = higgs("cost")
    figures = pages.document("higgs")["runs"][0]["result"]["metrics"]
    share = 100 * figures["job"]["run_seconds"] / (figures["job"]["run_seconds"] + figures["job"]["wait_seconds"])
    assert f"3 executors: {share:.0f} % of their time was work" in browser.text("main")
    assert "Executor 2 had most work" in browser.text("main")
    assert column(browser.table("Runs side by side"), "lost") == ["2.60 s", "–", "–", "–"]
    assert column(browser.table("Phases"), "phase") == ["read", "bin", "train"]
    bars = browser.labels(".timeline .item [role=img]")
    first = [task for task in figures["tasks"] if task["executor"] == 0]
    wait = math.fsum(task["wait_seconds"] for task in first)
    assert f"wait {wait:.2f} s" in bars[0] and "in 3 tasks" in bars[0]
    bands = browser.run(
        "return [...document.querySelector('.timeline').querySelectorAll('.times title')].map(e => e.textContent)"
    )
    assert bands == ["start", "read", "bin", "train", "read", "bin", "train"]
    assert "1 executor was lost, which cost 2.60 s: bars are of those that finished." in browser.text("main")
    # Bars are of the phases after the loss, which begin at 4.2 of 12.1 seconds.
    left, width = browser.run(
        """
        const row = document.querySelector(".timeline .item svg"), box = row.getBoundingClientRect();
        return [Math.min(...[...row.children].filter(e => e.getAttribute("d")).map(e => e.getBoundingClientRect().left)) - box.left, box.width - 14];"""
    )
    assert left / width == pytest.approx(4.2 / 12.1, abs=0.01)
    # One phase alone; those with most work first.
    browser.run(
        "const box = document.querySelector('main select'); box.value = '2'; box.dispatchEvent(new Event('change'))"
    )
    browser.button("Most work first")
    assert browser.run("return document.querySelector('.timeline .item').innerText").strip() == "2"
    assert "in 1 task" in browser.labels(".timeline .item [role=img]")[0]
    assert len(browser.table("Tasks")) == 4


def test_many_tasks_are_a_window_of_rows(browser, pages):
    browser.open(pages("many_tasks"), "cost")
    tasks = pages.document("many_tasks")["runs"][0]["result"]["metrics"]["tasks"]
    assert len(tasks) == 10_000 and "10,000 tasks" in browser.text("main")
    assert browser.run("return document.querySelector('.tasks').getAttribute('aria-rowcount')") == "10001"
    assert browser.run("return document.querySelectorAll('main tr').length") < 300
    browser.run("[...document.querySelectorAll('.tasks th button')].find(e => e.textContent.startsWith('run')).click()")
    runs = sorted((task["run_seconds"] for task in tasks), reverse=True)
    assert column(browser.table("Tasks"), "run")[0] == f"{runs[0]:.2f} s"
    browser.run("const box = document.querySelector('.tasks').parentElement; box.scrollTop = box.scrollHeight")
    browser.settle()
    last = browser.table("Tasks")[-1]
    assert last[4] == f"{runs[-1]:.2f} s"
    assert (
        browser.run(
            "const rows = document.querySelectorAll('.tasks tbody tr:not(.spacer)'); return rows[rows.length - 1].getAttribute('aria-rowindex')"
        )
        == "10001"
    )
    assert browser.errors() == []
