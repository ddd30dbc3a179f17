"""podere farm: traces, simulations and what-if, as a user runs them."""

import json
import pathlib

import pytest

EXAMPLES = pathlib.Path(__file__).parents[1] / "fuzz/trace_fuzz"
STATE = EXAMPLES / "states/full.json"
WHAT_IF = ["farm", "what-if", "--state", STATE, "--farm", "astro/sky", "--executors", 3]


def test_a_random_trace_is_simulated_by_all_policies(podere):
    podere.done("farm", "trace", "--farms", 10, "--nodes", 4, "--slots", 8, "--hours", 1, "-o", "t.jsonl")
    reports = json.loads(podere.done("farm", "simulate", "t.jsonl", "--json").stdout)["policies"]
    assert [report["policy"] for report in reports] == ["proportional", "fair-share", "history-aware", "original"]
    for report in reports[:3]:
        assert report["reclaimed_needlessly"] == 0 and report["cycles"] == 0
    text = podere.done("farm", "simulate", "t.jsonl", "--policy", "proportional").stdout
    assert "executors reclaimed for guarantees" in text and "original" not in text


def test_a_trace_is_the_same_for_the_same_seed(podere):
    for name, seed in ("a", 1), ("b", 1), ("c", 2):
        podere.done("farm", "trace", "--farms", 3, "--nodes", 2, "--seed", seed, "-o", name)
    texts = [(podere.folder / name).read_bytes() for name in "abc"]
    assert texts[0] == texts[1] != texts[2]


def test_what_if(podere):
    answer = json.loads(podere.done(*WHAT_IF, "--json").stdout)
    assert answer["below_guarantee"]["for_drain"] == 1 and answer["beyond"]["for_room"] == 2
    lines = podere.done(*WHAT_IF).stdout.splitlines()
    assert lines[0] == "astro/sky, if it wanted 3 executors (1 now):"
    assert lines[1] == "  1 guaranteed pending: reclaiming from hep/cms (1), done within 30 s"
    assert lines[-1] == "no other executors would be reclaimed", "it wanted that one before"


@pytest.mark.parametrize("arguments, words", [
    (["what-if", "--state", STATE, "--farm", "astro/skyy", "--executors", 3], "'astro/sky'"),
    (["what-if", "--state", STATE, "--farm", "astro/sky", "--executors", 4], "0 to 3"),
    (["what-if", "--state", "absent.json", "--farm", "a", "--executors", 4], "absent.json"),
    (["what-if", "--kubeconfig", "absent.conf", "--farm", "astro/sky", "--executors", 4], "absent.conf"),
    (["what-if", "--state", STATE, "--context", "here", "--farm", "astro/sky", "--executors", 3], "--context"),
    (["what-if", "--farm", "/sky", "--executors", 4], "--farm: '/sky' is no farm; allowed are NAME and NAMESPACE/NAME"),
    (["what-if", "--farm", "astro/", "--executors", 4], "--farm: 'astro/' is no farm"),
    (["status", "/sky"], "FARM: '/sky' is no farm; allowed are NAME, NAMESPACE/NAME, and NAMESPACE/"),
    (["status", "astro/sky/x"], "FARM: 'astro/sky/x' is no farm"),
    (["simulate", "absent.jsonl"], "absent.jsonl"),
    (["simulate", STATE, "--policy", "best"], "proportional"),
    (["trace", "--farms", 0, "-o", "t"], "--farms"),
])
def test_mistakes(podere, arguments, words):
    assert words in podere.refused("farm", *arguments)


def test_a_trace_with_a_fault_is_refused_with_its_line(podere):
    podere.write("t.jsonl", '{"at": 0, "node": "n1", "cpu": 2}\n{"at": 5, "farm": "a", "wanted": "many", "executor": {}}\n')
    assert "t.jsonl:2: wanted" in podere.refused("farm", "simulate", "t.jsonl")
