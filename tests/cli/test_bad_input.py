"""The user's mistakes: one clear line, exit code 2, nothing left half-written."""

import json
import os
import resource
import signal
import subprocess

import pytest

from conftest import PODERE, TIMEOUT

HEADER = "y,a,b\n"
ROWS = "".join(f"{i % 2},{i},{i * i % 7}\n" for i in range(20))


def train(podere, text, *arguments, **options):
    name = podere.write("data.csv", text) if text is not None else "data.csv"
    return podere.refused("train", "gbt", name, "-o", "model.json", "--trees", 2, *arguments, **options)


# Files.


@pytest.mark.parametrize("command", [["describe"], ["train", "gbt", "-o", "m.json"]])
def test_a_file_that_is_missing(podere, command):
    assert "absent.csv" in podere.refused(*command, "absent.csv")


@pytest.mark.parametrize("executors", [1, 3])
def test_an_empty_file(podere, executors):
    assert "data.csv" in train(podere, "", "--executors", executors)


def test_a_file_with_a_header_only(podere):
    assert "data.csv" in train(podere, HEADER)


def test_a_directory(podere):
    (podere.folder / "data.csv").mkdir()
    assert "data.csv" in train(podere, None)


def test_a_gzip_file_that_is_cut_short(podere, events):
    import gzip
    (podere.folder / "data.csv.gz").write_bytes(gzip.compress(events.read_bytes())[:-2000])
    assert "data.csv.gz" in podere.refused("describe", "data.csv.gz")


# Rows and fields. `line` is as an editor counts.


@pytest.mark.parametrize("executors", [1, 2])
@pytest.mark.parametrize("row, line", [("1,2\n", 22), ("1,2,3,4\n", 22)])
def test_a_row_with_too_few_or_too_many_fields(podere, row, line, executors):
    message = train(podere, HEADER + ROWS + row + ROWS, "--executors", executors)
    assert "data.csv" in message and f"{line}" in message


@pytest.mark.parametrize("executors", [1, 2])
def test_text_where_a_number_should_be(podere, executors):
    message = train(podere, HEADER + ROWS + "1,2,many\n" + ROWS, "--executors", executors)
    assert "22" in message and "b" in message and "many" in message and "--drop b" in message


def test_a_column_of_text_can_be_left_out_as_the_message_says(podere):
    podere.write("data.csv", "y,a,town\n0,1,Oslo\n1,2,Rome\n")
    message = podere.refused("train", "gbt", "data.csv", "--label", "y", "-o", "m.json")
    assert "data.csv:2: column 'town' (position 2): 'Oslo'" in message and "--drop town" in message
    podere.done("train", "gbt", "data.csv", "--label", "y", "--drop", "town", "-o", "m.json")


@pytest.mark.parametrize("labels, advice", [
    ("yes 1", "the label 'y' has texts, such as 'yes', and numbers, such as '1': name a text"),
    ("0 1 2", "use --objective softmax"), ("1.5 2.5", "real numbers from 1.5 to 2.5"),
    ("inf 1", "label of row 0 is inf"), ("16777216 16777218", "labels of 'y' are beyond 2^24, where not each whole number is exact: take them as texts with --categorical y"),
])
def test_labels_of_other_kinds_are_answered_with_what_to_do(podere, labels, advice):
    rows = "".join(f"{label},{i}\n" for i in range(9) for label in labels.split())
    assert advice in train(podere, "y,a\n" + rows, "--objective", "logistic")


@pytest.mark.parametrize("command", [["evaluate"], ["predict", "-o", "p.csv"]])
def test_model_and_data_the_other_way_round(podere, model, events, command):
    message = podere.refused(*command, events, model)
    assert "events.csv: is not a Podere model; if it is the data, name the model before it" in message


def test_a_model_in_place_of_data(podere, model):
    assert "model.json: is JSON (a model?)" in podere.refused("predict", model, model, "-o", "p.csv")


# Labels.


def test_a_label_column_that_is_not_there(podere):
    assert "signal" in train(podere, HEADER + ROWS, "--label", "signal")
    assert "9" in train(podere, HEADER + ROWS, "--label", "9")


def test_a_weight_or_feature_column_that_is_not_there(podere):
    assert "luminosity" in train(podere, HEADER + ROWS, "--weight", "luminosity")
    assert "charge" in train(podere, HEADER + ROWS, "--columns", "a,charge")


@pytest.mark.parametrize("executors", [1, 2])
@pytest.mark.parametrize("option, value", [("--monotone", "charge:+1"), ("--monotone", "2:+1"),
                                           ("--interactions", "a,charge"), ("--monotone", "a:1,0:1")])
def test_a_constraint_on_a_feature_that_is_not_there_or_given_twice(podere, option, value, executors):
    message = train(podere, HEADER + ROWS, option, value, "--executors", executors)
    assert option.removeprefix("--") in message and ("charge" in message or "2" in message or "twice" in message)


MISSING = "data.csv: the label 'y' is missing in 1 of 21 rows, first in row 20 (from 0): leave out such rows with --drop-unlabeled"


@pytest.mark.parametrize("label", ["2", "-1", "0.5", "NaN", ""])
def test_a_label_that_is_not_0_or_1(podere, label):
    message = train(podere, HEADER + ROWS + f"{label},3,4\n")
    if label in ("NaN", ""):
        assert MISSING in message
    else:
        assert "label of row 20 is" in message or "real numbers from" in message, message


@pytest.mark.parametrize("objective, label", [("poisson", "-1"), ("poisson", "inf"), ("quantile", "nan"),
                                              ("quantile", "-inf"), ("squared-error", "")])
def test_a_label_that_the_objective_does_not_know(podere, objective, label):
    message = train(podere, HEADER + ROWS + f"{label},3,4\n", "--objective", objective)
    assert MISSING in message if label in ("nan", "") else "label of row 20" in message and "finite" in message


def test_counts_that_are_all_zero(podere):
    assert "mean of the labels is 0" in train(podere, HEADER + "0,1,2\n0,2,1\n", "--objective", "poisson")


@pytest.mark.parametrize("weight", ["nan", "inf", ""])
def test_a_weight_that_is_not_finite(podere, weight):
    message = train(podere, f"y,a,w\n0,1,1\n1,2,{weight}\n", "--weight", "w")
    assert "weight of row 1" in message and "finite" in message


def test_labels_all_of_one_class(podere):
    assert "class" in train(podere, HEADER + "1,2,3\n" * 20)


def test_one_row(podere):
    train(podere, HEADER + "1,2,3\n")


def test_weights_that_do_not_sum_to_more_than_zero(podere):
    assert "weight" in train(podere, "y,a,w\n" + "0,1,0\n1,2,0\n" * 9, "--weight", "w")


# What is trained, not refused.


@pytest.mark.parametrize("column", ["7", "", "NA"])
def test_a_column_that_is_constant_or_all_missing_is_trained(podere, column):
    podere.write("data.csv", HEADER + "".join(f"{i % 2},{i % 2 * 3 + i % 3},{column}\n" for i in range(40)))
    podere.done("train", "gbt", "data.csv", "-o", "model.json", "--trees", 2)
    assert "a" in podere.done("model", "model.json").stdout


def test_more_executors_than_rows_is_trained(podere):
    podere.write("data.csv", HEADER + "0,1,2\n1,5,2\n0,1,3\n")
    for executors in (1, 5):
        podere.done("train", "gbt", "data.csv", "-o", f"m{executors}.json", "--trees", 2, "--executors", executors,
                    "--min-child-weight", 0)
    assert (podere.folder / "m1.json").read_bytes() == (podere.folder / "m5.json").read_bytes()


# A machine that is too small.


def test_far_more_executors_than_cores_are_warned_of_and_work(podere):
    cores = len(os.sched_getaffinity(0))
    asked = ["--executors", 2, "--cores", 4 * cores, "--json"]
    result = podere.done("describe", "collider:100", *asked)
    assert result.stderr.startswith(f"podere: warning: 2 executors x {4 * cores} cores") and result.stderr.count("\n") == 1
    facts = json.loads(result.stdout)
    assert facts["warning"] in result.stderr and 1 <= facts["usable_cores"] <= cores
    facts = json.loads(podere.done("train", "gbt", "collider:500", "--trees", 2, "-o", "m.json", *asked).stdout)
    assert "usable cores" in facts["warning"] and facts["start_seconds"] > 0


@pytest.mark.parametrize("folder", ["/no/such/folder", "/dev/null", "/proc"])
@pytest.mark.parametrize("executors", [1, 2])
def test_a_temporary_folder_that_mpi_cannot_use(podere, folder, executors):
    message = podere.refused("describe", "collider:100", "--executors", executors, environment={"TMPDIR": folder})
    assert message.startswith(f"podere: temporary folder {folder}: ")
    assert not os.path.exists("/no")


def test_a_temporary_folder_without_room(podere):
    def at_most_a_megabyte():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))
    message = podere.refused("describe", "collider:100", "--executors", 2, preexec_fn=at_most_a_megabyte)
    assert "MPI needs up to 10 MB there" in message
    podere.done("describe", "collider:100", preexec_fn=at_most_a_megabyte)


# Options.


@pytest.mark.parametrize("option, value", [
    ("--depth", "0"), ("--depth", "31"), ("--depth", "deep"), ("--depth", "2.5"), ("--depth", "99999999999"),
    ("--trees", "-1"), ("--trees", "0"), ("--trees", "1e3x"), ("--bins", "1"), ("--bins", "257"),
    ("--learning-rate", "nan"), ("--learning-rate", "0"), ("--learning-rate", "1.5"), ("--learning-rate", "fast"),
    ("--lambda", "-1"), ("--lambda", "inf"), ("--min-child-weight", "-0.1"), ("--min-gain", "nan"),
    ("--subsample", "0"), ("--column-subsample", "1.01"), ("--max-leaves", "1"), ("--early-stopping", "-3"),
    ("--growth", "leafwise"), ("--monotone", "a:up"), ("--monotone", "a"), ("--interactions", "a,b;"),
    ("--validation-fraction", "1"), ("--objective", "hinge"), ("--seed", "-1"), ("--executors", "0"),
    ("--classes", "-1"), ("--classes", "2"), ("--columns", "a,"), ("--columns", ",a"), ("--columns", "a,,b"),
    ("--cores", "none"), ("--rows", "5:2"), ("--rows", "x"), ("--rows", "7"), ("--delimiter", "comma,"),
    ("--class-weight", "heavy"), ("--checkpoint-every", "-1"), ("--checkpoint-every", "nan"), ("--checkpoint-every", "often"),
    ("--max-delta-step", "2"), ("--quantile", "0.3"), ("--scale-pos-weight", "0"), ("--base-score", "1"), ("--quantile", "1"), ("--quantile", "nan"), ("--max-delta-step", "0"),
])
def test_an_option_out_of_its_range_is_reported_before_anything_starts(podere, option, value):
    podere.write("data.csv", HEADER + ROWS)
    message = podere.refused("train", "gbt", "data.csv", "-o", "model.json", f"{option}={value}")
    assert option in message and (value in message or "99999999999" in value)


@pytest.mark.parametrize("weights, expected", [("1:0", "is 0"), ("2:3", "class 2"), ("0:1,1", "'1'"), ("x:1", "'x:1'"),
                                           ("0:1,0:2", "twice")])
def test_weights_of_classes_that_make_no_sense(podere, weights, expected):
    message = podere.refused("train", "gbt", "no-such-data.csv", "-o", "model.json", "--class-weight", weights)
    assert "--class-weight" in message and expected in message


@pytest.mark.parametrize("arguments", [
    [], ["fly"], ["executor", "--cores=-1"], ["executor", "--cores", "0"], ["executor", "--cores", "two"], ["executor", "x"],
    ["train"], ["train", "gbt"], ["train", "gbt", "a.csv"], ["train", "gbt", "a.csv", "-o"],
    ["describe", "a.csv", "--color", "red"], ["generate", "higgs", "-o", "x.csv"], ["predict", "m.json"],
    ["generate", "higgs", "--events", "many", "-o", "x.csv"], ["generate", "higgs", "--events", "0", "-o", "x.csv"],
    ["train", "gbt", "a.csv", "-o", "m.json", "--validation", "b.csv", "--validation-fraction", "0.1"],
    ["train", "gbt", "collider:100", "-o", "m.json", "--early-stopping", "3"],
    ["train", "gbt", "collider:100", "-o", "m.json", "--growth", "best-first"],
    ["train", "gbt", "collider:100", "-o", "m.json", "--objective", "softmax", "--monotone", "0:+1"],
])
def test_a_command_line_that_makes_no_sense(podere, arguments):
    podere.refused(*arguments)


@pytest.mark.parametrize("arguments, advice", [
    (["trian", "gbt", "x.csv"], "did you mean podere train?"), (["train", "x.csv"], "say what to train: podere train gbt|nn|mlp|kmeans|mixture|isolation-forest|linear|kernel-ridge|centroid x.csv"),
    (["train", "gbt", "x.csv", "--depth", "x", "-o", "m.json"], "(podere train gbt --help shows"), (["fly"], "(podere --help shows"),
])
def test_a_command_that_was_not_named_well(podere, arguments, advice):
    assert advice in podere.refused(*arguments)


@pytest.mark.parametrize("source", ["collider:", "collider:lots", "collider:10?sed=1", "collider:-3", "collider:0"])
def test_a_collider_source_that_makes_no_sense(podere, source):
    assert source in podere.refused("describe", source)


def test_rows_beyond_the_end(podere):
    train(podere, HEADER + ROWS, "--rows", "100:")


# Models.


def test_more_rounds_than_a_model_has(podere, model, events):
    assert "rounds is 11" in podere.refused("evaluate", model, events, "--rounds", 11)
    assert "rounds is 11" in podere.refused("predict", model, events, "--rounds", 11, "-o", "out.csv")


@pytest.mark.parametrize("stage", ["0", "-1", "x", "99999999999999999999"])
def test_stages_that_make_no_sense(podere, model, events, stage):
    assert "--staged" in podere.refused("evaluate", model, events, f"--staged={stage}")


def test_weights_that_measure_nothing(podere):
    rows = "".join(f"{k % 2},{k},-1,0\n" for k in range(40))
    podere.write("table.csv", "y,x,negative,zero\n" + rows)
    podere.done("train", "gbt", "table.csv", "--columns", "x", "--trees", 2, "-o", "m.json")
    for weight in ("negative", "zero"):
        assert "weight" in podere.refused("evaluate", "m.json", "table.csv", "--weight", weight)


def test_gains_beyond_what_a_model_holds(podere):
    podere.write("table.csv", "y,x\n" + "".join(f"{'-' if k % 2 else ''}1e20,{k % 2}\n" for k in range(1000)))
    podere.done("train", "gbt", "table.csv", "--objective", "squared-error", "--trees", 2, "-o", "m.json")
    podere.done("model", "m.json")


def test_a_weight_of_a_class_that_is_hardly_any(podere, events):
    assert "one class" in podere.refused("train", "gbt", events, "--class-weight", "0:1e-310", "--trees", 1, "-o", "m.json")


def test_a_model_that_cannot_be_continued(podere, model, events):
    warm_start = ["train", "gbt", events, "-o", "new.json", "--trees", 2]
    assert "absent.json" in podere.refused(*warm_start, "--from", "absent.json")
    assert "objective is squared-error" in podere.refused(*warm_start, "--from", model, "--objective", "squared-error")
    assert "m_bb" in podere.refused(*warm_start, "--from", model, "--columns", "m_jj")
    assert "--low-memory" in podere.refused(*warm_start, "--from", model, "--low-memory")


def test_a_model_that_is_missing_or_a_directory(podere, events):
    assert "absent.json" in podere.refused("evaluate", "absent.json", events)
    assert "absent.json" in podere.refused("model", "absent.json")
    assert podere.folder.name in podere.refused("model", podere.folder)


@pytest.mark.parametrize("executors", [1, 2])
def test_a_model_that_is_cut_short(podere, model, events, executors):
    text = model.read_text()
    podere.write("cut.json", text[: len(text) // 2])
    message = podere.refused("predict", "cut.json", events, "-o", "out.csv", "--executors", executors)
    assert "cut.json" in message


def test_a_model_that_was_edited(podere, model, events):
    text = model.read_text()
    digit = next(i for i in range(len(text) // 2, len(text)) if text[i].isdigit() and text[i - 1].isdigit())
    podere.write("edited.json", text[:digit] + ("3" if text[digit] != "3" else "4") + text[digit + 1:])
    assert "edited.json" in podere.refused("evaluate", "edited.json", events)


def test_a_model_of_a_newer_version(podere, model, events):
    content = json.loads(model.read_text())
    assert isinstance(content["version"], int)
    content["version"] += 100  # written versions may be below the newest that is read
    podere.write("newer.json", json.dumps(content))
    assert "version" in podere.refused("evaluate", "newer.json", events)


def test_data_without_the_columns_that_a_model_needs(podere, model):
    podere.write("other.csv", "mass,charge\n1,2\n3,4\n")
    message = podere.refused("predict", model, "other.csv", "-o", "out.csv")
    assert "m_bb" in message


def test_a_label_by_another_name_than_the_model_remembers(podere, model, events):
    lines = events.read_text().splitlines(keepends=True)
    name = lines[0].split(",")[0]
    podere.write("moved.csv", lines[0].replace(f"{name},", "truth,", 1) + "".join(lines[1:50]))
    message = podere.refused("evaluate", model, "moved.csv")
    assert name in message and "truth" in message and "--label" in message
    podere.done("evaluate", model, "moved.csv", "--label", "truth")


def test_labels_that_the_model_does_not_know(podere, model, events):
    lines = events.read_text().splitlines(keepends=True)
    podere.write("odd.csv", "".join(lines[:50]) + "7" + lines[50][lines[50].index(","):])
    assert "7" in podere.refused("evaluate", model, "odd.csv")


def test_a_roc_curve_of_a_model_without_classes(podere):
    podere.write("data.csv", HEADER + ROWS)
    podere.done("train", "gbt", "data.csv", "-o", "m.json", "--objective", "squared-error", "--trees", 2)
    podere.refused("evaluate", "m.json", "data.csv", "--roc", "roc.csv", "--plot", "roc.svg")


# Outputs.


@pytest.mark.parametrize("place", ["absent/model.json", "."])
def test_an_output_that_cannot_be_written_is_reported_before_the_work(podere, place):
    message = podere.refused("train", "gbt", "no-such-data.csv", "-o", place)
    assert place in message and "no-such-data" not in message


@pytest.mark.parametrize("arguments, names", [
    (["train", "gbt", "data.csv", "-o", "data.csv"], ["-o", "DATA"]),
    (["train", "gbt", "data.csv", "-o", "link.csv"], ["-o", "DATA"]),
    (["train", "gbt", "collider:100", "--validation", "data.csv", "-o", "./data.csv"], ["-o", "--validation"]),
    (["predict", "model.json", "data.csv", "-o", "hard.csv"], ["-o", "DATA"]),
    (["predict", "model.json", "data.csv", "-o", "model.json"], ["-o", "MODEL"]),
    (["evaluate", "model.json", "data.csv", "--roc", "data.csv"], ["--roc", "DATA"]),
    (["evaluate", "model.json", "data.csv", "--plot", "model.json"], ["--plot", "MODEL"]),
    (["evaluate", "model.json", "data.csv", "--plot", "new", "--roc", "./new"], ["--plot", "--roc"]),
    (["evaluate", "model.json", "data.csv", "--plot", "old", "--roc", "old"], ["--plot", "--roc"]),
])
def test_an_output_that_is_an_input_or_another_output(podere, arguments, names):
    for name in ("data.csv", "model.json", "old"):
        podere.write(name, HEADER + ROWS)
    (podere.folder / "link.csv").symlink_to("data.csv")
    (podere.folder / "hard.csv").hardlink_to(podere.folder / "data.csv")
    message = podere.refused(*arguments)
    assert "the same file" in message and all(name in message for name in names)


def test_standard_output_that_is_appended_to_the_input(podere, model):
    podere.write("data.csv", HEADER + ROWS)
    with open(podere.folder / "data.csv", "a") as data:
        result = subprocess.run([PODERE, "predict", model, "data.csv", "-o", "/dev/stdout"], cwd=podere.folder, stdout=data,
                                stderr=subprocess.PIPE, text=True, env=podere.environment(), timeout=TIMEOUT)
    assert result.returncode == 2 and "the same file" in result.stderr
    assert (podere.folder / "data.csv").read_text() == HEADER + ROWS


@pytest.mark.parametrize("arguments, name", [
    (["train", "gbt", "", "-o", "m.json"], "DATA"), (["describe", ""], "DATA"), (["model", ""], "MODEL"),
    (["predict", "m.json", "", "-o", "p.csv"], "DATA"), (["convert", "", "-o", "m.json"], "MODEL"),
])
def test_an_input_without_a_name(podere, arguments, name):
    assert f"{name}: a file needs a name" in podere.refused(*arguments)


@pytest.mark.parametrize("arguments", [
    ["train", "gbt", "collider:100", "-o"], ["train", "gbt", "collider:100", "-o", "m.json", "--validation"],
    ["predict", "m.json", "collider:100", "-o"], ["generate", "higgs", "--events", "10", "-o"],
    ["evaluate", "m.json", "collider:100", "--roc"], ["evaluate", "m.json", "collider:100", "--plot"],
])
def test_a_file_without_a_name(podere, arguments):
    message = podere.refused(*arguments, "")
    assert arguments[-1] in message and "needs a name" in message


def test_a_full_disk_does_not_lose_the_model(podere, tmp_path_factory):
    podere.write("data.csv", HEADER + ROWS)
    scratch = tmp_path_factory.mktemp("scratch")
    message = podere.refused("train", "gbt", "data.csv", "-o", "/dev/full", "--trees", 2,
                             environment={"TMPDIR": str(scratch)})
    saved = [path for path in scratch.iterdir() if path.suffix == ".json"]
    assert len(saved) == 1 and str(saved[0]) in message and "No space left" in message
    podere.done("model", saved[0])


@pytest.mark.parametrize("arguments", [["evaluate", "MODEL", "collider:100", "--json"], ["model", "MODEL"], ["--help"]])
def test_standard_output_without_room_is_reported(podere, model, arguments):
    arguments = [str(model) if argument == "MODEL" else argument for argument in arguments]
    with open("/dev/full", "w") as full:
        result = subprocess.run([PODERE, *arguments], stdout=full, stderr=subprocess.PIPE, text=True,
                                env=podere.environment(), timeout=TIMEOUT)
    assert (result.returncode, result.stderr) == (2, "podere: standard output: No space left on device\n")


def run_without_reader(podere, *arguments, **environment):
    reader, writer = os.pipe()
    os.close(reader)
    result = subprocess.run([PODERE, *map(str, arguments)], stdout=writer, stderr=subprocess.PIPE, text=True,
                            cwd=podere.folder, env=podere.environment(**environment), timeout=TIMEOUT)
    os.close(writer)
    return result


@pytest.mark.parametrize("arguments, expected", [
    (["model", "MODEL"], ""), (["describe", "collider:100"], ""), (["evaluate", "MODEL", "collider:100", "--json"], ""),
    (["--help"], ""), (["predict", "MODEL", "collider:100", "-o", "-"], "100 predictions: /dev/stdout (probability of '1')\n"),
    (["evaluate", "MODEL", "collider:100", "--roc", "-", "--plot", "roc.svg", "--json"], '"auc"'),
    (["explain", "MODEL", "collider:100", "-o", "-"], "/dev/stdout"),
    (["explain", "MODEL", "collider:100", "--plot", "-", "--json"], '"features"'),
    (["convert", "MODEL", "-o", "-", "--to", "xgboost"], "/dev/stdout"),
    (["farm", "trace", "--farms", "3", "-o", "-"], ""),
    (["generate", "higgs", "--events", "1e15", "-o", "-"], "/dev/stdout"),
])
def test_a_reader_who_goes_has_read_enough(podere, model, arguments, expected):
    result = run_without_reader(podere, *[model if argument == "MODEL" else argument for argument in arguments])
    assert result.returncode == 0 and expected in result.stderr and "podere:" not in result.stderr
    assert (podere.folder / "roc.svg").exists() == ("roc.svg" in arguments)


def test_a_model_whose_reader_goes_is_not_lost(podere, tmp_path_factory):
    scratch = tmp_path_factory.mktemp("scratch")
    result = run_without_reader(podere, "train", "gbt", "collider:100", "--trees", 2, "-o", "-", TMPDIR=str(scratch))
    saved, = scratch.glob("*.json")
    assert result.returncode == 1 and str(saved) in result.stderr and "left before the model was whole" in result.stderr
    podere.done("model", saved)


def limited_files(n_bytes):
    """For a child: files beyond `n_bytes` cannot be written."""
    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, n_bytes))
    return limit


@pytest.mark.parametrize("arguments", [
    ["generate", "higgs", "--events", "20000", "-o", "out"],
    ["predict", "MODEL", "collider:200000", "-o", "out"],
])
def test_a_file_that_grows_too_large_leaves_the_old_one_as_it_was(podere, model, arguments):
    podere.write("out", "old")
    arguments = [str(model) if argument == "MODEL" else argument for argument in arguments]
    message = podere.refused(*arguments, preexec_fn=limited_files(1_000_000))
    assert "out" in message and ".part" not in message
    assert (podere.folder / "out").read_text() == "old"


def test_a_message_stays_one_line_whatever_the_data_hold(podere):
    message = train(podere, 'y,a\n0,1\n1,"two\nlines"\n0,2\n')
    assert "data.csv" in message


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_without_permission(podere):
    (podere.folder / "locked").mkdir(mode=0o500)
    assert "locked" in podere.refused("train", "gbt", "collider:100", "-o", "locked/model.json")


def test_a_model_that_nests_deeply(podere, events):
    (podere.folder / "deep.json").write_text('{"format":"podere-gbt","version":1,"model":' + "[" * 10**6 + "]" * 10**6 + "}")
    assert "nested too deeply" in podere.refused("model", "deep.json")
    assert "nested too deeply" in podere.refused("predict", "deep.json", events, "-o", "out.csv")


def test_an_order_that_nests_deeply_is_refused_and_the_executor_lives_on(podere):
    orders = '{"id":1,"job":' + "[" * 10**6 + "]" * 10**6 + '}\n{"end":true}\n'
    result = podere.run("executor", input=orders)
    assert result.returncode == 0
    assert [json.loads(line)["event"] for line in result.stdout.split("\n") if line] == ["ready", "failed"]


def test_more_events_than_can_be_counted(podere):
    assert "18446744073709551615 rows" in podere.refused("describe", "collider:18446744073709551615")


def test_a_closed_stream_does_not_end_up_in_the_output(podere):
    podere.done("generate", "higgs", "--events", "2000", "-o", "whole.csv")
    script = f"{PODERE} generate higgs --events 2000 -o closed.csv <&- >&- 2>&-"
    assert subprocess.run(["/bin/sh", "-c", script], cwd=podere.folder, timeout=60).returncode == 0
    assert (podere.folder / "closed.csv").read_bytes() == (podere.folder / "whole.csv").read_bytes()


def test_a_file_name_that_is_not_utf8(podere):
    name = os.fsencode(podere.folder) + b"/bad\xff.csv"
    with open(name, "wb") as file:
        file.write(b"y,x\n0,1\n1,2\n")
    result = subprocess.run([PODERE, "describe", name], capture_output=True, timeout=60)
    assert result.returncode == 2
    assert b"not UTF-8" in result.stderr


def test_a_scheme_that_is_not_known_is_named_with_those_that_are(podere):
    expected = "s3://b/x.csv: scheme 's3' is not known; allowed are a path, collider:, images:, sem:, table:"
    for arguments in (["describe", "s3://b/x.csv"], ["train", "gbt", "s3://b/x.csv", "-o", "m.json"],
                      ["train", "gbt", "collider:100", "--validation", "s3://b/x.csv", "-o", "m.json"]):
        assert expected in podere.refused(*arguments)
    (podere.folder / "foo:bar").write_text("y,x\n0,1\n1,2\n")
    assert json.loads(podere.done("describe", "foo:bar", "--json").stdout)["rows"] == 2


def test_a_file_of_another_kind_is_named(podere):
    (podere.folder / "t.csv").write_bytes(b"PAR1\x15\x04\x15,\n1,2\n")
    assert "t.csv: is no whole Parquet file" in podere.refused("describe", "t.csv")
    line = podere.refused("train", "gbt", "t.csv", "--format", "csv", "-o", "m.json")
    assert "t.csv: is a Parquet file, allowed is text, plain or packed: let its format be found (--format auto)" in line


@pytest.mark.parametrize("train", [["gbt", "--objective", "softmax", "--trees", 2], ["nn", "--loss", "cross-entropy", "--epochs", 1],
                                   ["mlp", "--iterations", 2]])
def test_classes_that_do_not_begin_with_0_have_no_class_before_them_unless_it_is_meant(podere, train):
    podere.write("t.csv", "y,a\n" + "".join(f"{1 + i % 2},{i}\n" for i in range(60)))
    models = set()
    for options in ([], ["--executors", 3]):
        podere.done("train", *train, "t.csv", *options, "-o", "m.json")
        models.add((podere.folder / "m.json").read_bytes())
        assert json.loads(podere.done("model", "m.json", "--json").stdout)["classes"] == ["1", "2"]
    assert len(models) == 1
    podere.done("train", *train, "t.csv", "--classes", 3, "-o", "m.json")
    assert json.loads(podere.done("evaluate", "m.json", "t.csv", "--json").stdout)["confusion"][0] == [0, 0, 0]
