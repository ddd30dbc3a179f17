"""docs/course.md: exercises whose results have the same digits everywhere come out as the page says."""
import json
import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).parents[2]
REAL = (ROOT / "data/higgs_15688.csv.gz", "--label", "label")
OTHERS = ("collider:1e5?seed=1",)


def expected(lesson, exercise):
    """The text of what should come out."""
    page = (ROOT / "docs/course.md").read_text()
    section = re.search(rf"\n## {lesson}\. .*?(?=\n## |\Z)", page, re.DOTALL)[0]
    found = re.search(rf"\n{exercise}\. .*?\*Expected:?\*:? (.*?)(?=\n\d\. |\Z)", section, re.DOTALL)
    return " ".join(found[1].split())


def auc(podere, train, test):
    podere.done("train", *train, "-o", "m.json")
    return f"{json.loads(podere.done('evaluate', 'm.json', *test, '--json').stdout)['auc']:.3f}"


def test_no_column_says_it_all(podere):
    aucs = [auc(podere, ["gbt", *REAL, "--rows", ":12000", "--trees", "50", *columns], [*REAL, "--rows", "12000:"])
            for columns in (["--columns", "m_bb"], ["--drop", "m_bb"], [])]
    assert expected(1, 2).startswith(f"AUC {aucs[0]}, {aucs[1]} and {aucs[2]}.")


def test_more_trees_and_deeper_ones(podere):
    aucs = [auc(podere, ["gbt", "collider:1e5", "--trees", trees], OTHERS) for trees in (1, 10, 100)]
    assert expected(2, 1).startswith(f"AUC {', '.join(aucs)}.")
    aucs = [auc(podere, ["gbt", "collider:1e5", "--trees", 50, "--depth", depth], OTHERS) for depth in (1, 2, 6)]
    assert expected(2, 2).startswith(f"AUC {', '.join(aucs)}.")


def test_steps_that_are_too_large_or_too_small(podere):
    aucs = [auc(podere, ["nn", "collider:1e5", "--layers", 30, "--epochs", 20, "--learning-rate", rate], OTHERS)
            for rate in ("0.1", "0.00001")]
    assert expected(3, 2).startswith(f"AUC {' and '.join(aucs)}.")


def test_what_a_search_reaches(podere):
    search = ["tune", "gbt", *REAL, "--rows", ":8000", "--score", "auc", "--trials", 24, "-o", "m.json", "--json"]

    def on_others():
        return f"{json.loads(podere.done('evaluate', 'm.json', *REAL, '--rows', '8000:', '--json').stdout)['auc']:.3f}"

    facts = json.loads(podere.done(*search, "--nested", 5).stdout)
    measures = facts["nested"]["measures"]
    best = on_others()
    podere.done("train", "gbt", *REAL, "--rows", ":8000", "-o", "m.json")
    assert expected(9, 1) == (f"AUC {facts['trials'][facts['best']]['score']:.3f} in the search, {best} on the other rows. The "
                              f"default options reach {on_others()}.")
    mean = {name: f"{values['mean']:.3f}" for name, values in measures.items()}
    assert expected(9, 2).startswith(f"AUC {mean['search_score']} in the searches and {mean['auc']} ± "
                                     f"{measures['auc']['standard_error']:.3f} on the parts held out")
    parts = [part["auc"] for part in facts["nested"]["each"]]
    assert f"the AUC is {min(parts):.3f} to {max(parts):.3f}," in expected(9, 2)
    members = json.loads(podere.done(*search, "--ensemble", 8).stdout)["ensemble"]["trials"]
    assert len(members) == 5 and max(member["weight"] for member in members) == 3 / 7
    assert expected(9, 3).startswith(f"AUC {on_others()}. Five trials are blended, and one of them was picked three times.")


@pytest.mark.parametrize("exercise, commands", [
    (2, [["gbt", "--trees", 20, "--depth", depth] for depth in (3, 6, 9)]),
    (3, [["nn", "--layers", 30, "--epochs", 5, *batch] for batch in ([], ["--batch-size", 10000])]),
])
def test_what_is_sent(podere, exercise, commands):
    sent = []
    for kind, *options in commands:
        result = podere.done("train", kind, "collider:1e5", *options, "--executors", 2, "--cores", 1, "-o", "m.json", "--metrics")
        sent.append(re.search(r"^sent to others +(\S+ [kM]B)$", result.stdout, re.MULTILINE)[1])
    assert re.findall(r"\d+\.\d [kM]B", expected(7, exercise)) == sent
