"""podere tune: searches for options, the same on any number of executors, and their journals."""

import csv
import json
import math
import os
import pathlib
import re
import resource
import signal
import time

import pytest

from conftest import wait_until

HIGGS = pathlib.Path(__file__).parents[2] / "data/higgs_15688.csv.gz"
SMALL = "collider:3000"
TREES = """n_trees = 12
depth = { low = 2, high = 5 }
learning_rate = { low = 0.05, high = 0.5, log = true }
subsample = { low = 0.5, high = 1.0, step = 0.1 }
best_first = [false, true]
max_leaves = { low = 4, high = 16, when = { best_first = true } }
"""
NETWORKS = """epochs = 4
early_stopping_epochs = 0
hidden = ["8", "16,8"]
activation = ["relu", "tanh"]
learning_rate = { low = 0.001, high = 0.1, log = true }
batch_size = [32, 128]
dropout = { low = 0.0, high = 0.3 }
"""
SPACES = {"gbt": TREES, "nn": NETWORKS}


def tune(podere, algorithm, data, *arguments, name="m", **options):
    """Runs a search of the space above. Returns its facts, model and journal."""
    podere.write("space.toml", SPACES[algorithm])
    facts = json.loads(podere.done("tune", algorithm, data, "--space", "space.toml", "--study", f"{name}.journal", "-o",
                                   f"{name}.json", "--json", *arguments, **options).stdout)
    return facts, model_of(podere, name), journal_of(podere, name)


def model_of(podere, name):
    return (podere.folder / f"{name}.json").read_bytes()


def journal_of(podere, name):
    return without_times((podere.folder / f"{name}.journal").read_text())


def without_times(journal):
    return re.sub(r'"datetime_(\w+)":"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}"', r'"datetime_\1"', journal)


def decided(facts):
    return {name: facts[name] for name in ("best", "score", "options", "rungs", "trials", "objective", "label")}


@pytest.mark.parametrize("algorithm, data, options", [
    ("gbt", HIGGS, ["--trials", 12]), ("nn", SMALL, ["--trials", 6]),
    ("gbt", SMALL, ["--trials", 6, "--folds", 3, "--score", "auc", "--schedule", "halving"]),
    ("gbt", SMALL, ["--trials", 8, "--score", "auc", "--schedule", "hyperband"])])
def test_searches_are_the_same_on_1_2_3_5_executors_and_1_3_threads(podere, algorithm, data, options):
    found = {}
    for executors in (1, 2, 3, 5):
        for cores in (1, 3):
            facts, model, journal = tune(podere, algorithm, data, *options, "--first-after", 1, "--executors",
                                         executors, "--cores", cores, name=f"m{executors}{cores}")
            found[executors, cores] = decided(facts), model, journal
            assert facts["trials_at_a_time"] == min(executors * cores, 8, options[1])
    facts, *files = tune(podere, algorithm, data, *options, "--first-after", 1, "--executors", 3, "--cores", 2,
                         "--side-by-side", "no", name="together")
    assert facts["trials_at_a_time"] == 1
    found["together"] = decided(facts), *files
    first = found[1, 1]
    for which in range(3):
        assert all(other[which] == first[which] for other in found.values()), which
    assert len({json.dumps(trial["score"]) for trial in first[0]["trials"]}) > 3
    again, *files = tune(podere, algorithm, data, *options, "--first-after", 1, name="m11")
    assert again["steps"] == 0 and (decided(again), *files) == first
    shown = json.loads(podere.done("study", "show", "m11.journal", "--json").stdout)["trials"]
    assert {trial["trial"]: trial["score"] for trial in shown} == {trial["trial"]: trial["score"] for trial in again["trials"]}


COMMON = {"n_trees": "--trees", "depth": "--depth", "learning_rate": "--learning-rate", "subsample": "--subsample",
          "max_leaves": "--max-leaves", "epochs": "--epochs", "hidden": "--layers", "activation": "--activation",
          "batch_size": "--batch-size", "dropout": "--dropout"}


def as_arguments(options):
    """The options of a model as arguments of podere train."""
    arguments = []
    for name, value in options.items():
        if name == "best_first":
            arguments += ["--growth", "best-first" if value else "level"]
        elif not name.startswith("early_stopping"):
            arguments += [COMMON[name], value]
    return arguments


@pytest.mark.parametrize("algorithm, trials", [("gbt", 8), ("nn", 4)])
def test_the_model_is_that_of_train_with_the_options_found(podere, algorithm, trials):
    for seed in range(3):  # so that trials with and without conditional options are the best
        facts, model, _ = tune(podere, algorithm, SMALL, "--trials", trials, "--search-seed", seed, name=f"m{seed}")
        assert ("max_leaves" in facts["options"]) == facts["options"].get("best_first", False)
        podere.done("train", algorithm, SMALL, *as_arguments(facts["options"]), "-o", "alone.json")
        assert model == model_of(podere, "alone"), facts["options"]


def test_a_journal_has_the_trials_as_optuna_reads_them(podere):
    facts, _, _ = tune(podere, "gbt", SMALL, "--trials", 12, "--first-after", 1, "--score", "auc")
    records = [json.loads(line) for line in (podere.folder / "m.journal").read_text().splitlines()]
    assert (records[0]["op_code"], records[0]["directions"]) == (0, [2])
    assert {record["op_code"] for record in records} == {0, 2, 4, 5, 6, 7, 8}
    trials = []
    for record in records[1:]:
        kind = record["op_code"]
        if kind == 4:
            assert record["study_id"] == 0 and "datetime_start" in record
            trials.append({"params": {}, "values": {}, "state": 0})
        if kind < 5:
            continue
        trial = trials[record["trial_id"]]
        assert trial["state"] == 0, "nothing comes after its end"
        if kind == 5:
            distribution = json.loads(record["distribution"])
            of, value = distribution["attributes"], record["param_value_internal"]
            if distribution["name"] == "CategoricalDistribution":
                value = of["choices"][int(value)]
            else:
                assert distribution["name"] in ("FloatDistribution", "IntDistribution")
                assert of["low"] <= value <= of["high"]
                n_steps = (value - of["low"]) / (of["step"] or 1)
                assert not of["step"] or n_steps == pytest.approx(round(n_steps))
            trial["params"][record["param_name"]] = value
        elif kind == 6:
            trial["state"], trial["value"] = record["state"], record["values"][0]
        elif kind == 7:
            trial["values"][record["step"]] = record["intermediate_value"]
    assert len(trials) == len(facts["trials"]) == 12
    for found, trial in zip(facts["trials"], trials):
        assert {**trial["params"], "n_trees": 12} == found["setting"]
        assert ("max_leaves" in trial["params"]) == trial["params"]["best_first"]
        assert trial["state"] == {"complete": 1, "paused": 2}[found["state"]]
        assert trial["value"] == found["score"] == trial["values"][found["budget"]]
        assert found["curve"] == [list(point) for point in trial["values"].items()]
        assert list(trial["values"]) == facts["rungs"][:len(trial["values"])]
    complete = [trial["value"] for trial in trials if trial["state"] == 1]
    assert trials[facts["best"]]["value"] == max(complete)


LONG = ["gbt", HIGGS, "--trials", 60, "--fix", "n_trees=90", "--search", "random", "--score", "auc"]


def n_measured(journal):
    return journal.read_text().count('"after ') if journal.exists() else 0


def test_an_executor_killed_during_a_search_costs_time_and_nothing_else(podere):
    few = [*LONG[:3], 20, *LONG[4:], "--executors", 2, "--cores", 1]
    undisturbed, model, journal = tune(podere, *few)
    process = podere.start("tune", *few, "--space", "space.toml", "-o", "k.json", "--json", "--study", "k.journal")
    wait_until(lambda: n_measured(podere.folder / "k.journal") > 3)
    os.kill(podere.executors(2)[0], signal.SIGKILL)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    facts = json.loads(out)
    assert len(facts["losses"]) == 1
    assert facts["steps"] < undisturbed["steps"], "what was measured is not measured again"
    assert decided(facts) == decided(undisturbed)
    assert model_of(podere, "k") == model
    assert journal_of(podere, "k") == journal


def test_ctrl_c_leaves_the_study_for_the_same_command(podere):
    podere.write("space.toml", TREES)
    command = ["tune", *LONG, "--space", "space.toml", "-o", "c.json", "--study", "c.journal"]
    process = podere.start(*command)
    wait_until(lambda: n_measured(podere.folder / "c.journal") > 3)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert not (podere.folder / "c.json").exists()
    kept = (podere.folder / "c.journal").read_text()
    n_trials = kept.count('"op_code":4,')
    assert 0 < n_trials < 60
    assert f"interrupted after {n_trials} of 60 trials; the best so far is trial " in err, err
    assert err.endswith("; rerun the same command to resume\n"), err
    facts = json.loads(podere.done(*command, "--json").stdout)
    assert (podere.folder / "c.journal").read_text().startswith(kept)
    undisturbed, model, journal = tune(podere, *LONG)
    assert (model_of(podere, "c"), journal_of(podere, "c")) == (model, journal)
    assert decided(facts) == decided(undisturbed)
    assert facts["steps"] == undisturbed["steps"] - kept.count('"after ')


def test_what_a_study_has_is_not_done_again(podere):
    few, _, _ = tune(podere, "gbt", SMALL, "--trials", 5)
    assert few["steps"] > 5
    again, model, journal = tune(podere, "gbt", SMALL, "--trials", 5)
    assert (again["steps"], decided(again)) == (0, decided(few))
    more, _, longer = tune(podere, "gbt", SMALL, "--trials", 8)
    assert 3 <= more["steps"] and longer.startswith(journal)
    assert [trial["setting"] for trial in more["trials"][:5]] == [trial["setting"] for trial in few["trials"]]
    # What is there is not done again: a worse score in it is found in the result.
    paused = next(trial for trial in more["trials"] if trial["budget"] == more["rungs"][0])
    changed = (podere.folder / "m.journal").read_text().replace(f'"loss":{paused["score"]}', '"loss":7.5')
    (podere.folder / "m.journal").write_text(changed)
    assert tune(podere, "gbt", SMALL, "--trials", 8)[0]["trials"][paused["trial"]]["score"] == 7.5
    changed = changed.replace('"setting":{"n_trees":12,"depth":', '"setting":{"n_trees":12,"depth":1')
    (podere.folder / "m.journal").write_text(changed)
    assert "m.journal: its trial 0 has another setting than this search gives it" in podere.refused(
        "tune", "gbt", SMALL, "--space", "space.toml", "--study", "m.journal", "--trials", 8, "-o", "m.json")
    assert (podere.folder / "m.journal").read_text() == changed


def test_a_time_ends_the_search_with_a_model(podere):
    begin = time.monotonic()
    facts, model, _ = tune(podere, "gbt", HIGGS, "--trials", 100000, "--for", "1s", "--search", "random", "--schedule",
                           "none")
    assert 1 < time.monotonic() - begin < 30
    assert 1 <= len(facts["trials"]) < 100000 and facts["best"] is not None and model
    records = [json.loads(line) for line in (podere.folder / "m.journal").read_text().splitlines()]
    assert {record["state"] for record in records if record["op_code"] == 6} == {1}


def test_a_search_that_its_time_ended_continues_as_if_it_had_not(podere):
    long = ["gbt", HIGGS, "--trials", 9, "--fix", "n_trees=60"]
    _, model, journal = tune(podere, *long)
    while '"n_trees"' not in (so_far := tune(podere, *long, "--for", "0.01s", name="f")[2]):
        pass  # no step was done within the time
    assert journal.startswith(so_far) and so_far != journal
    _, continued, whole = tune(podere, *long, name="f")
    assert (continued, whole) == (model, journal)


def test_of_many_rows_one_trial_at_a_time_is_assumed(podere):
    search = ["tune", "gbt", "collider:200000", "--trials", 3, "--fix", "n_trees=2", "--schedule", "none", "-o", "m.json"]
    for executors in (1, 2):
        facts = json.loads(podere.done(*search, "--executors", executors, "--cores", 1, "--json").stdout)
        assert (facts["parallel"], facts["trials_at_a_time"]) == (1, 1)
    assert "for more: --parallel 8" in podere.done(*search, "--side-by-side", "yes", "--executors", 2, "--cores", 1).stdout
    few = json.loads(podere.done(*search[:2], "collider:2000", *search[3:], "--cores", 2, "--json").stdout)
    assert (few["parallel"], few["trials_at_a_time"]) == (8, 2)


def test_trials_are_measured_on_the_rows_asked_for(podere):
    podere.write("space.toml", TREES)

    def trials_of(*arguments):
        return tune(podere, "gbt", SMALL, "--search", "random", "--trials", 3, "--schedule", "none", *arguments,
                    name=f"m{time.monotonic_ns()}")[0]["trials"]

    def train(trial, *arguments):
        return json.loads(podere.done("train", "gbt", SMALL, *as_arguments(trial["setting"]), *arguments, "-o",
                                      "t.json", "--json").stdout)

    other = "collider:700?seed=9"
    for trial in trials_of("--validation", other, "--score", "auc"):
        train(trial)
        measured = json.loads(podere.done("evaluate", "t.json", other, "--json").stdout)
        assert trial["score"] == measured["auc"] and trial["facts"]["log_loss"] == measured["log_loss"]
    for trial in trials_of("--folds", 3, "--fold-repeats", 2, "--fold-seed", 4):
        folds = train(trial, "--folds", 3, "--fold-repeats", 2, "--fold-seed", 4)["cross_validation"]["each"]
        assert trial["score"] == pytest.approx(sum(fold["log_loss"] for fold in folds) / 6)
    for trial in trials_of("--held-out", 4):
        assert trial["facts"]["rows"] == pytest.approx(750, abs=2)
        assert trial["score"] == train(trial, "--folds", 4)["cross_validation"]["each"][0]["log_loss"]


def test_what_is_fixed_is_the_same_in_all_trials(podere):
    facts, _, _ = tune(podere, "gbt", SMALL, "--trials", 6, "--fix", "depth=3", "--fix", "best-first=true", "--fix",
                       "bins=64")
    assert all(trial["setting"]["depth"] == 3 and trial["setting"]["best_first"] for trial in facts["trials"])
    assert len({trial["setting"]["max_leaves"] for trial in facts["trials"]}) > 1
    assert facts["options"]["bins"] == 64
    facts, _, _ = tune(podere, "gbt", SMALL, "--trials", 6, "--fix", "best_first=false", name="level")
    assert not any("max_leaves" in trial["setting"] for trial in facts["trials"])


def test_labels_are_read_as_the_space_says(podere):
    """1, 2 and 3 are classes, or numbers if squared errors are minimized."""
    podere.write("k.csv", "label,a\n" + "".join(f"{1 + i % 3},{i % 3 + i % 7 / 10}\n" for i in range(300)))
    podere.write("space.toml", 'n_trees = 9\ndepth = 3\nobjective = "squared-error"\n')
    podere.done("tune", "gbt", "k.csv", "--space", "space.toml", "--trials", 1, "-o", "m.json")
    podere.done("train", "gbt", "k.csv", "--trees", 9, "--depth", 3, "--objective", "squared-error", "-o", "alone.json")
    assert model_of(podere, "m") == model_of(podere, "alone")


def test_a_trial_that_fails_is_named_with_its_cause(podere):
    podere.write("space.toml", 'epochs = 3\nhidden = "8"\noptimiser = "sgd"\nlearning_rate = [0.01, 1e6, 0.02]\n')
    search = ["tune", "nn", SMALL, "--space", "space.toml", "--search", "grid", "--study", "s.journal", "-o", "m.json"]
    facts = json.loads(podere.done(*search, "--json").stdout)
    assert [trial["state"] == "failed" for trial in facts["trials"]] == [False, True, False]
    assert re.match(r"training diverged in step \d+ of epoch 1", facts["trials"][1]["facts"]["error"])
    assert facts["trials"][1]["score"] is None and facts["best"] != 1
    assert facts["trials"][facts["best"]]["state"] == "complete"
    out = podere.done(*search).stdout
    assert re.search(r"trials +3, 1 failed \(trial 1: training diverged in step \d+ of epoch 1", out)
    assert re.search(r"\n1 +- +1 +failed +learning rate 1e\+06\n", out)
    podere.write("space.toml", 'epochs = 3\nhidden = "8"\noptimiser = "sgd"\nlearning_rate = [1e6, 1e5]\n')
    refusal = podere.refused(*search[:7], "-o", "m.json")
    assert "all 2 trials failed, the first one by: training diverged in step " in refusal


REFUSED_SPACES = [
    ("", "space.toml is empty"),
    ("n_trees = 5\ndepth = { low = 5, high = 2 }", "space.toml:2: depth: low is 5 and high is 2, the wrong way round"),
    ("n_trees = 5\ndept = { low = 2, high = 4 }", "space.toml: options: 'dept' is not known, there are objective, n_"),
    ("n_trees = 5\ndepth = { low = 2, high = 400 }", "space.toml: depth is 400, allowed is 1 to 30"),
    ("depth = { low = 2, high = 4 }", "say for how long trials are trained: n_trees = ... in the space, or --fix n_"),
    ("n_trees = { low = 2, high = 4 }", "space.toml: n_trees is no choice of a search, all trials are trained up"),
    ("n_trees = 5\nvalidation_fraction = 0.2", "space.toml: validation_fraction is no option of a search"),
    ('n_trees = 5\nobjective = ["logistic", "poisson"]',
     "trials that minimize logistic and others poisson cannot be compared"),
    ("n_trees = 5\ndepth = [", "space.toml:2"),
]


@pytest.mark.parametrize("space, message", REFUSED_SPACES)
def test_spaces_that_cannot_be_are_refused(podere, space, message):
    podere.write("space.toml", space)
    podere.write("m.json", "an earlier model")
    assert message in podere.refused("tune", "gbt", SMALL, "--space", "space.toml", "-o", "m.json", "--study",
                                     "s.journal")


REFUSED_ARGUMENTS = [
    (["--search", "bayes"], "--search: bayes not in {grid,random,sobol,tpe}"),
    (["--search", "grid"], "a range of real numbers has no end of them; give a step or list choices"),
    (["--score", "aucc"], "score is 'aucc', allowed is log_loss, auc, accuracy"),
    (["--score", "trees"], "score is 'trees', allowed is log_loss, auc, accuracy"),
    (["--trials", "0"], "trials is 0, allowed is 1 to 1000000"),
    (["--for", "0"], "--for: '0' is no time such as 90s, 10min or 2h"),
    (["--for", "5 days"], "--for: '5 days' is no time such as 90s, 10min or 2h"),
    (["--fix", "depth"], "--fix: 'depth' is not NAME=VALUE"),
    (["--fix", "=3"], "--fix: '=3' is not NAME=VALUE"),
    (["--fix", "dept=3"], "options: 'dept' is not known"),
    (["--fix", "depth=1000"], "depth is 1000, allowed is 1 to 30"),
    (["--first-after", "1000"], "1000, allowed is 1 to 500"),
    (["--held-out", "101"], "--held-out"),
    (["--folds", "3", "--held-out", "4"], "--folds excludes --held-out"),
    (["--validation", SMALL, "--folds", "3"], "--validation excludes --folds"),
    (["--study", "no/s.journal"], "no/s.journal: there is no folder no"),
    (["--study", "/dev/full"], "study /dev/full: is a pipe or a device, a file is needed"),
    (["--study", "."], ".: is a directory, a file is needed"),
    (["--study", "m.json"], "are the same file, which would be lost"),
    (["--space", "no.toml"], "no.toml: cannot be read"),
]


@pytest.mark.parametrize("arguments, message", REFUSED_ARGUMENTS)
def test_arguments_that_cannot_be_are_refused(podere, arguments, message):
    podere.write("m.json", "an earlier model")
    study = [] if "--study" in arguments else ["--study", "s.journal"]
    fast = [] if "--first-after" in arguments else ["--fix", "n_trees=400"]
    assert message in podere.refused("tune", "gbt", SMALL, "-o", "m.json", *study, *fast, *arguments)
    assert (podere.folder / "m.json").read_text() == "an earlier model"


def test_more_is_not_held_out_than_there_are_rows(podere):
    podere.write("few.csv", "label,a\n" + "".join(f"{i % 4 == 0:d},{i}\n" for i in range(40)))
    for n, message in ((20, "class 1 of the label has 10 rows"), (50, "there are 40 rows")):
        assert message in podere.refused("tune", "gbt", "few.csv", "--held-out", n, "-o", "m.json")
    podere.done("tune", "gbt", "few.csv", "--held-out", 10, "--trials", 2, "--fix", "n_trees=2", "-o", "m.json")


def test_a_file_that_is_not_the_study_of_this_search_stays_as_it_is(podere):
    tune(podere, "gbt", SMALL, "--trials", 3)
    podere.write("table.csv", "label,a\n1,2\n0,1\n")
    podere.write("line.csv", "label")
    search = ["tune", "gbt", SMALL, "--space", "space.toml", "--trials", 3, "-o", "n.json", "--study"]
    for name, where in (("table.csv", "table.csv, line 1: is no record of a study"),
                        ("line.csv", "line.csv: is no study")):
        before = (podere.folder / name).read_bytes()
        assert where in podere.refused(*search, name)
        assert (podere.folder / name).read_bytes() == before
    before = (podere.folder / "m.journal").read_bytes()
    podere.write("other.toml", TREES.replace("high = 5", "high = 6"))
    for changed, what in (([*search[:2], "collider:3001", *search[3:]], "rows (3000, not 3001)"),
                          ([*search[:2], "collider:3000?seed=5", *search[3:]], "values"),
                          ([*search[:4], "other.toml", *search[5:]], "space"),
                          ([*search[:-1], "--search", "random", "--study"], 'search ("tpe", not "random")'),
                          ([*search[:-1], "--search-seed", 5, "--study"], "seed (0, not 5)"),
                          ([*search[:-1], "--score", "auc", "--study"], 'score ("", not "auc")'),
                          ([*search[:-1], "--folds", 4, "--study"], "folds"),
                          ([*search[:-1], "--fix", "bins=32", "--study"], "options"),
                          ([*search[:-1], "--parallel", 3, "--study"], "parallel trials (8, not 3)")):
        assert f"m.journal: is a study with other {what}; give another file" in podere.refused(*changed, "m.journal")
        assert (podere.folder / "m.journal").read_bytes() == before


def test_two_commands_are_not_at_work_on_one_study(podere):
    podere.write("space.toml", TREES)
    command = ["tune", *LONG, "--space", "space.toml", "-o", "m.json", "--study", "s.journal"]
    process = podere.start(*command)
    wait_until(lambda: n_measured(podere.folder / "s.journal") > 0)
    other = podere.run(*command[:-3], "n.json", *command[-2:])
    assert (other.returncode, other.stdout) == (2, "")
    assert other.stderr == "podere: s.journal: another command is at work on it\n"
    assert not (podere.folder / "n.json").exists()
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert process.returncode == 130


def test_a_study_that_cannot_be_written_is_no_end_of_the_search(podere):
    """Files may have 20 kB, which models of two trees do not need."""
    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (20000, 20000))

    few = ["tune", "gbt", SMALL, "--space", "space.toml", "--trials", 30, "-o", "m.json", "--fix", "n_trees=2"]
    podere.write("space.toml", "n_trees = 2\ndepth = { low = 1, high = 3 }\nlambda = { low = 0.1, high = 1.0 }\n")
    podere.done(*few, "--study", "whole.journal")
    model = model_of(podere, "m")
    assert (podere.folder / "whole.journal").stat().st_size > 25000 > 20000 > len(model)
    result = podere.done(*few, "--study", "s.journal", preexec_fn=limit)
    assert result.stderr.count("s.journal: File too large; the search continues") == 1, result.stderr
    assert model_of(podere, "m") == model
    assert (podere.folder / "s.journal").stat().st_size == 20000
    podere.done(*few, "--study", "s.journal")
    assert journal_of(podere, "s") == journal_of(podere, "whole")


def test_trials_with_other_bins_do_not_share_them(podere):
    def scores(bins, name):
        podere.write("bins.toml", f"n_trees = 9\nbins = {bins}\n")
        facts = json.loads(podere.done("tune", "gbt", SMALL, "--space", "bins.toml", "--search", "grid", "--schedule",
                                       "none", "-o", f"{name}.json", "--json").stdout)
        return {trial["setting"]["bins"]: trial["score"] for trial in facts["trials"]}

    found = scores([8, 255], "rising")
    assert found[8] != found[255]
    assert found == scores([255, 8], "falling")


def test_the_smallest_model_within_one_standard_error_is_taken(podere):
    search = ["--trials", 12, "--folds", 4, "--score", "auc", "--schedule", "none", "--search", "random"]
    best, model, _ = tune(podere, "gbt", SMALL, *search)
    facts, small, _ = tune(podere, "gbt", SMALL, *search, "--one-standard-error", name="small")
    assert facts["trials"] == best["trials"] and facts["best"] == best["best"] == best["chosen"]
    trials = {trial["trial"]: trial for trial in facts["trials"]}
    top = trials[facts["best"]]
    alone = json.loads(podere.done("train", "gbt", SMALL, *as_arguments(top["setting"]), "--folds", 4, "-o", "alone.json",
                                   "--json").stdout)["cross_validation"]["measures"]["auc"]
    assert (alone["mean"], alone["standard_error"]) == (top["score"], top["facts"]["standard_error"])
    least = top["score"] - top["facts"]["standard_error"]
    good = [trial for trial in trials.values() if trial["score"] >= least]
    assert len(good) > 1 and len(good) < len(trials)
    assert facts["chosen"] == min(good, key=lambda trial: trial["facts"]["parameters"])["trial"] != facts["best"]
    assert model != small
    podere.done("train", "gbt", SMALL, *as_arguments(trials[facts["chosen"]]["setting"]), "-o", "alone.json")
    assert log_odds(podere, "small.json") == log_odds(podere, "alone.json")
    text = podere.done("tune", "gbt", SMALL, "--space", "space.toml", *search, "--one-standard-error", "-o", "m.json").stdout
    assert f"setting of trial {facts['chosen']}, the smallest within one standard error of trial {facts['best']}:" in text
    assert re.search(r"^trial +AUC +± +after", text, re.M)
    assert "needs folds" in podere.refused("tune", "gbt", SMALL, "--held-out", 3, "--one-standard-error", "-o", "m.json")
    assert "leave one out" in podere.refused(
        "tune", "gbt", SMALL, "--one-standard-error", "--ensemble", 3, "-o", "m.json")


def test_nested_searches_measure_what_a_search_reaches(podere):
    search = ["--trials", 6, "--folds", 3, "--score", "auc", "--nested", 3]
    found = {}
    for executors, cores in ((1, 1), (1, 3), (3, 1)):
        facts, model, _ = tune(podere, "gbt", SMALL, *search, "--executors", executors, "--cores", cores,
                               name=f"m{executors}{cores}")
        found[executors, cores] = {**decided(facts), "nested": facts["nested"]}, model
    (facts, model), *others = found.values()
    assert all(other == (facts, model) for other in others)
    plain, without, _ = tune(podere, "gbt", SMALL, *search[:-2], name="plain")
    assert without == model and decided(plain) == {name: facts[name] for name in decided(plain)}
    nested = facts["nested"]
    assert [part["fold"] for part in nested["each"]] == [1, 2, 3] and sum(part["rows"] for part in nested["each"]) == 3000
    for name in ("auc", "search_score"):
        values = [part[name] for part in nested["each"]]
        assert nested["measures"][name]["mean"] == pytest.approx(sum(values) / 3)
        assert all(0.6 < value < 0.95 for value in values)
    assert nested["measures"]["auc"]["standard_error"] > 0
    journals = [(podere.folder / f"m11.journal.nested{part}").read_text() for part in (1, 2, 3)]
    again, *_ = tune(podere, "gbt", SMALL, *search, name="m11")
    assert again["nested"] == nested and again["steps"] == 0
    assert [(podere.folder / f"m11.journal.nested{part}").read_text() for part in (1, 2, 3)] == journals
    assert all(len(journal) > 1000 for journal in journals)
    text = podere.done("tune", "gbt", SMALL, "--space", "space.toml", *search, "-o", "m.json").stdout
    assert "The search repeated 3 times, each without one part of the rows, and measured on that part:" in text
    assert re.search(r"^part +rows +AUC in the search +", text, re.M)
    assert "--validation" in podere.refused("tune", "gbt", SMALL, "--nested", 3, "--validation", SMALL, "-o", "m.json")


def log_odds(podere, model):
    podere.done("predict", model, SMALL, "-o", "p.csv")
    with open(podere.folder / "p.csv") as file:
        return [math.log(p / (1 - p)) for p in (float(row[-1]) for row in list(csv.reader(file))[1:])]


def test_an_ensemble_blends_trials_that_are_best_together(podere):
    search = ["--trials", 10, "--folds", 3, "--score", "auc", "--schedule", "none", "--search", "random", "--ensemble", 8]
    podere.write("kinds.toml", 'n_trees = 5\nobjective = ["softmax", "logistic"]\ndepth = { low = 2, high = 4 }\n')
    assert "trials that minimize" in podere.refused("tune", "gbt", SMALL, "--space", "kinds.toml", "--score", "log_loss", "--trials",
                                                    12, "--ensemble", 5, "-o", "m.json")
    found = {}
    for executors, cores in ((1, 1), (1, 3), (2, 1), (5, 1)):
        facts, model, _ = tune(podere, "gbt", SMALL, *search, "--executors", executors, "--cores", cores,
                               name=f"m{executors}{cores}")
        found[executors, cores] = {**decided(facts), "ensemble": facts["ensemble"]}, model
    (facts, model), *others = found.values()
    assert all(other == (facts, model) for other in others)
    members = facts["ensemble"]["trials"]
    assert len(members) > 1 and sum(member["weight"] for member in members) == pytest.approx(1)
    assert facts["ensemble"]["score"] > facts["trials"][facts["best"]]["score"]
    expected = [0.0] * 3000
    for member in members:
        setting = facts["trials"][member["trial"]]["setting"]
        podere.done("train", "gbt", SMALL, *as_arguments(setting), "-o", "alone.json")
        expected = [so_far + member["weight"] * one for so_far, one in zip(expected, log_odds(podere, "alone.json"))]
    assert log_odds(podere, "m11.json") == pytest.approx(expected, abs=1e-5)
    podere.done("explain", "m11.json", SMALL, "-o", "shap.csv")
    text = podere.done("tune", "gbt", SMALL, "--space", "space.toml", *search, "-o", "m.json").stdout
    assert f"The model blends trials {members[0]['trial']} (" in text
    assert "there are no ensembles of network models" in podere.refused(
        "tune", "nn", SMALL, "--ensemble", 2, "-o", "n.json")


def test_study_shows_compares_and_exports(podere):
    facts, _, _ = tune(podere, "gbt", SMALL, "--trials", 6, "--score", "auc", name="a")
    tune(podere, "nn", SMALL, "--trials", 3, "--fix", "epochs=2", "--score", "auc", name="b")
    best = facts["trials"][facts["best"]]
    shown = json.loads(podere.done("study", "show", "a.journal", "--json").stdout)
    assert shown["best"] == facts["best"] and shown["score"] == "auc"
    assert sorted(shown["trials"], key=lambda trial: trial["trial"]) == facts["trials"]
    assert json.loads(podere.done("study", "best", "a.journal", "--json").stdout) == best
    compared = json.loads(podere.done("study", "compare", "a.journal", "b.journal", "--json").stdout)
    assert compared["same_rows"] and [study["trials"] for study in compared["studies"]] == [6, 3]
    podere.done("study", "export", "a.journal", "-o", "trials.csv")
    with open(podere.folder / "trials.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [float(row["score"]) for row in rows] == [trial["score"] for trial in facts["trials"]]
    assert {row["state"] for row in rows} == {trial["state"] for trial in facts["trials"]}
    assert "trials.csv, line 1: is no record of a study" in podere.refused("study", "show", "trials.csv")
    assert "STUDY" in podere.refused("study", "export", "a.journal", "-o", "a.journal")


def test_mlp_has_the_defaults_of_its_training(podere):
    podere.write("space.toml", "l2 = [0.0001, 0.001]\n")
    facts = json.loads(podere.done("tune", "mlp", SMALL, "--space", "space.toml", "--search", "grid", "--fix", "epochs=9",
                                   "--fix", "loss=cross-entropy", "-o", "m.json", "--json").stdout)
    options = facts["options"]
    podere.done("train", "mlp", SMALL, "--iterations", options["epochs"], "--l2", options["l2"], "-o", "t.json")
    assert model_of(podere, "m") == model_of(podere, "t")
    for more in (["--fix", "=".join(("optimiser", "adam"))], ["--space", "other.toml"]):
        podere.write("other.toml", '"optimiser" = ["adam", "lbfgs"]\nepochs = 3\n')
        assert "trains by lbfgs" in podere.refused("tune", "mlp", SMALL, *more, "-o", "n.json")


def test_a_space_without_a_choice_is_refused_and_repeated_settings_are_counted(podere, events):
    one = podere.write("one.toml", "n_trees = 3\n")
    assert "so all trials would be the same" in podere.refused("tune", "gbt", events, "--space", one, "--trials", 5, "-o",
                                                              "m.json")
    two = podere.write("two.toml", "n_trees = 3\ndepth = [2, 3]\n")
    found = podere.done("tune", "gbt", events, "--space", two, "--trials", 6, "--schedule", "none", "-o", "m.json").stdout
    assert "6, 4 repeat the setting of another: the space has few" in found


def test_why_a_trial_failed_is_in_the_table(podere, events):
    space = podere.write("space.toml", "epochs = 2\nlearning_rate = [0.01, 1000000.0]\noptimiser = 'sgd'\n")
    found = podere.done("tune", "nn", events, "--space", space, "--search", "grid", "--trials", 2, "--study", "s.journal",
                        "-o", "m.json").stdout
    for text in (found, podere.done("study", "show", "s.journal").stdout):
        assert "\nTrial 1 failed: training diverged" in text
