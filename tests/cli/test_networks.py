"""Dense networks: trained, used, lost and found again from the command line."""

import json
import os
import random
import shutil
import signal

import numpy
import pytest

from conftest import needed, wait_until
from test_bad_input import limited_files
from test_loss import sha256
from test_session import session  # noqa: F401, a fixture

NN = ["train", "nn", "collider:20000", "--layers", "30", "--batch-size", "500", "-o", "network.json"]


def test_networks_are_trained_evaluated_and_shown(podere):
    facts = json.loads(podere.done(*NN, "--epochs", 12, "--learning-rate", 0.005, "--validation-fraction", 0.2, "--json").stdout)
    assert (facts["layers"], facts["weights"], facts["epochs"]) == ("28-30-1", 901, 12)
    assert facts["training_rows"] + facts["validation_rows"] == 20000
    curve = facts["curve"]
    assert curve["epoch"] == list(range(1, 13)) and {len(curve[name]) for name in ("seconds", "loss", "validation_loss", "validation_accuracy")} == {12}
    assert curve["seconds"] == sorted(curve["seconds"]) and curve["loss"][-1] == facts["loss"]
    assert curve["validation_auc"][-1] == facts["validation_auc"]
    measured = json.loads(podere.done("evaluate", "network.json", "collider:20000?seed=1", "--json").stdout)
    assert measured["auc"] > 0.72
    assert abs(measured["auc"] - facts["validation_auc"]) < 0.03
    shown = json.loads(podere.done("model", "network.json", "--json").stdout)
    assert [(layer["inputs"], layer["outputs"], layer["activation"]) for layer in shown["layers"]] == [
        (28, 30, "relu"), (30, 1, "sigmoid")]
    assert "28" in podere.done("model", "network.json").stdout


def test_a_run_that_stops_early_says_so_and_keeps_the_losses_of_all_epochs(podere):
    facts = json.loads(podere.done("train", "nn", "collider:5000", "--validation-fraction", 0.2, "--early-stopping", 2, "--epochs",
                                   100, "--learning-rate", 0.05, "--layers", 64, "-o", "n.json", "--json").stdout)
    assert facts["stopped_early"] and facts["epochs_run"] == facts["epochs"] + 2
    history = json.loads((podere.folder / "n.json").read_text())["model"]["history"]
    assert len(history["train_loss"]) == facts["epochs"] and len(history["later_validation_loss"]) == 2
    assert history["validation_loss"] + history["later_validation_loss"] == facts["curve"]["validation_loss"]


def test_the_perceptron_of_the_course_has_a_curve_too(podere):
    podere.done("train", "mlp", "collider:20000", "--iterations", 60, "-o", "network.json")
    measured = json.loads(podere.done("evaluate", "network.json", "collider:20000?seed=1", "--plot", "roc.svg", "--json").stdout)
    assert measured["auc"] > 0.68 and measured["objective"] == "cross-entropy"
    assert (podere.folder / "roc.svg").read_text().startswith("<svg")


def test_predictions_are_those_of_the_weights_in_the_file(podere):
    """The file has all that is needed to apply it."""
    import base64

    podere.done("generate", "higgs", "--events", 3000, "-o", "d.csv")
    podere.done("train", "nn", "d.csv", "--layers", "7,5", "--activation", "tanh", "--epochs", 3, "-o", "network.json")
    podere.done("predict", "network.json", "d.csv", "-o", "p.csv")
    model = json.loads((podere.folder / "network.json").read_text())["model"]
    x = numpy.genfromtxt(podere.folder / "d.csv", delimiter=",")[:, 1:]
    x = (x - model["scaling"]["mean"]) / model["scaling"]["scale"]
    weights = numpy.frombuffer(base64.b64decode(model["weights"]), dtype="<f4").astype(float)
    widths = [28, *model["options"]["hidden"], 1]
    for n_in, n_out in zip(widths, widths[1:]):
        layer, weights = weights[: (n_in + 1) * n_out].reshape(n_out, n_in + 1), weights[(n_in + 1) * n_out:]
        x = x @ layer[:, :-1].T + layer[:, -1]
        x = numpy.tanh(x) if n_out > 1 else 1 / (1 + numpy.exp(-x))
    assert weights.size == 0
    predicted = numpy.loadtxt(podere.folder / "p.csv")
    assert numpy.abs(predicted - x[:, 0]).max() < 1e-5


def write_prices(podere, shift, scale):
    """2,500 rows, of numbers of that size, as t.csv."""
    x = numpy.random.default_rng(4).normal(size=(2500, 4))
    y = shift + scale * (x[:, 0] + x[:, 1] * x[:, 2])
    podere.write("t.csv", "price,a,b,c,d\n" + "".join(",".join(f"{v:.9g}" for v in row) + "\n" for row in numpy.c_[y, x]))
    return y, x


PRICES = ["t.csv", "--loss", "squared-error", "--layers", "20", "--batch-size", "50", "--learning-rate", 0.01]


def r_squared(podere, y):
    podere.done("predict", "network.json", "t.csv", "--rows", "2000:", "-o", "p.csv")
    predicted = numpy.loadtxt(podere.folder / "p.csv")
    return 1 - ((predicted - y[2000:]) ** 2).sum() / ((y[2000:] - y[2000:].mean()) ** 2).sum()


@pytest.mark.parametrize("shift, scale", [(0, 1), (50000, 10000), (0, 1e-6)])
def test_numbers_of_any_size_are_learned_and_predicted_in_their_unit(podere, shift, scale):
    y, _ = write_prices(podere, shift, scale)
    result = podere.done("train", "nn", *PRICES, "--rows", ":2000", "--epochs", 30, "-o", "network.json")
    assert r_squared(podere, y) > 0.95
    measured = json.loads(podere.done("evaluate", "network.json", "t.csv", "--rows", "2000:", "--json").stdout)
    assert measured["root_mean_squared_error"] < 0.3 * scale * 1.5
    if scale == 1e4:
        assert "numbers to learn   mean 4.9" in result.stdout or "numbers to learn   mean 5" in result.stdout, result.stdout
    facts = json.loads(podere.done("train", "nn", *PRICES, "--rows", ":2000", "--epochs", 1, "-o", "n.json", "--json").stdout)
    assert abs(facts["target_scaling"]["scale"] / y[:2000].std() - 1) < 1e-5
    assert facts["loss"] < 1, "of what is learned"
    plain = podere.done("train", "nn", *PRICES, "--epochs", 1, "--no-standardize-target", "-o", "n.json", "--json")
    assert json.loads(plain.stdout)["target_scaling"] == {"mean": 0, "scale": 1}
    assert ("standardize-target scales them" in plain.stderr) == (scale != 1)


def test_scales_of_numbers_are_kept_by_checkpoints_and_continued_networks(podere):
    y, x = write_prices(podere, 50000, 10000)
    run = ["train", "nn", *PRICES, "--rows", ":2000", "--epochs", 20, "-o", "network.json"]
    podere.done(*run)
    whole = sha256(podere, "network.json")
    podere.done(*run, "--checkpoint", "c.json", "--max-steps", 130, "--executors", 2, "--cores", 1)
    podere.done(*run, "--checkpoint", "c.json")
    assert sha256(podere, "network.json") == whole
    target = json.loads((podere.folder / "network.json").read_text())["model"]["target_scaling"]
    more = ["train", "nn", "t.csv", "--rows", "1000:2000", *PRICES[1:], "--epochs", 3]
    shutil.move(podere.folder / "network.json", podere.folder / "first.json")
    podere.done(*more, "--from", "first.json", "-o", "network.json")
    assert json.loads((podere.folder / "network.json").read_text())["model"]["target_scaling"] == target
    assert r_squared(podere, y) > 0.95


def test_only_numbers_have_a_scale_to_leave_out(podere):
    write_prices(podere, 0, 1)
    assert "standardize-target is false, which is for the loss squared-error" in podere.refused(
        "train", "nn", "collider:2000", "--no-standardize-target", "-o", "n.json")


@pytest.mark.parametrize("arguments", [
    ["nn", "--epochs", 2, "--dropout", 0.2, "--validation-fraction", 0.2, "--early-stopping", 5],
    ["nn", "--epochs", 2, "--loss", "squared-error", "--validation-fraction", 0.2],
    ["nn", "--epochs", 2, "--optimizer", "sgd", "--schedule", "cosine", "--momentum", 0.5, "--l2", 1e-4],
    ["mlp", "--iterations", 8]], ids=["adam", "numbers", "sgd", "lbfgs"])
def test_same_bits_on_1_2_3_5_8_executors_and_1_3_threads(podere, arguments):
    digests = {}
    kind, *options = arguments
    for executors in (1, 2, 3, 5, 8):
        for cores in (1, 3):
            podere.done("train", kind, "collider:9000", "--layers", "20,20", *options, "--seed", 5, "-o", "network.json",
                        "--executors", executors, "--cores", cores)
            digests[executors, cores] = sha256(podere, "network.json")
    assert len(set(digests.values())) == 1, digests


@pytest.mark.parametrize("kind, options, stop", [
    ("nn", ["--epochs", 2, "--dropout", 0.2, "--validation-fraction", 0.2, "--early-stopping", 5], 130),
    ("nn", ["--epochs", 2, "--optimizer", "sgd", "--schedule", "cosine", "--momentum", 0.5, "--l2", 1e-4], 130),
    ("mlp", ["--iterations", 8], 4)], ids=["adam", "sgd", "lbfgs"])
def test_a_run_stopped_on_two_executors_ends_with_the_same_bits_on_others(podere, kind, options, stop):
    run = ["train", kind, "collider:9000", "--layers", "20,20", *options, "--seed", 5, "-o", "network.json", "--json"]
    podere.done(*run, "--cores", 1)
    whole = sha256(podere, "network.json")
    podere.done(*run, "--checkpoint", "stopped.json", "--max-steps", stop, "--executors", 2, "--cores", 1)
    assert sha256(podere, "network.json") != whole
    for executors, cores in ((1, 3), (3, 1), (5, 3)):
        shutil.copy(podere.folder / "stopped.json", podere.folder / "c.json")
        facts = json.loads(podere.done(*run, "--checkpoint", "c.json", "--executors", executors, "--cores", cores).stdout)
        assert facts["curve"]["epoch"][0] > 1, "it began anew"
        assert sha256(podere, "network.json") == whole, (executors, cores)


MANY = ["train", "nn", "collider:20000", "--layers", "100", "--batch-size", "64", "--epochs", "60", "--cores", "1",
        "--checkpoint-every", "0.1", "-o", "network.json"]


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """SHA-256 of the model that MANY makes."""
    from conftest import Podere

    podere = Podere(tmp_path_factory.mktemp("undisturbed"))
    podere.done(*MANY)
    return sha256(podere, "network.json")


def test_a_killed_executor_costs_time_and_nothing_else(podere, undisturbed):
    process = podere.start(*MANY, "--executors", "3", "--checkpoint", "c.json", "--json")
    wait_until(lambda: (podere.folder / "c.json").exists(), seconds=60)
    os.kill(podere.executors(3)[1], signal.SIGKILL)
    stdout, stderr = process.communicate(timeout=150)
    assert process.returncode == 0, stderr
    assert "(killed by signal 9) at step " in stderr and "; continuing with 2 executors from step " in stderr
    facts = json.loads(stdout)
    assert facts["executors"] == 2 and len(facts["losses"]) == 1
    assert sha256(podere, "network.json") == undisturbed
    assert os.listdir(podere.folder) == ["network.json"]
    assert podere.processes() == []


def test_an_executor_that_is_killed_while_it_starts_costs_another_start(podere):
    process = podere.start(*NN, "--epochs", 40, "--executors", 3)
    os.kill(podere.executors(3)[2], signal.SIGKILL)
    _, stderr = process.communicate(timeout=60)
    assert process.returncode == 0, stderr
    # Killed before its launcher watched it, it is only missed.
    assert "(killed by signal 9) at " in stderr or "(one ended before it was ready) at the start" in stderr, stderr
    assert "2 executors" in stderr
    assert podere.processes() == []


def test_an_interrupted_run_leaves_the_network_so_far_and_resumes(podere, undisturbed):
    process = podere.start(*MANY, "--executors", "2", "--checkpoint", "c.json", "--json")
    wait_until(lambda: (podere.folder / "c.json").exists(), seconds=60)
    process.send_signal(signal.SIGINT)
    stdout, stderr = process.communicate(timeout=60)
    assert process.returncode == 130 and "the model so far is in network.json" in stderr, stderr
    assert 0 <= json.loads(stdout)["epochs"] < 60
    podere.done("evaluate", "network.json", "collider:1000")
    podere.done(*MANY, "--executors", "1", "--checkpoint", "c.json")
    assert sha256(podere, "network.json") == undisturbed


def test_a_run_ends_at_a_step_and_resumes_to_the_same_network(podere):
    kept = ["--epochs", 4, "--checkpoint", "c.json"]
    facts = json.loads(podere.done(*NN, *kept, "--max-steps", 70, "--checkpoint-steps", 30, "--json").stdout)
    assert (facts["steps"], facts["epochs"], facts["reached_max_steps"], facts["was_stopped"]) == (70, 1, True, False)
    assert (podere.folder / "c.json").exists()
    facts = json.loads(podere.done(*NN, *kept, "--executors", 2, "--json").stdout)
    assert (facts["steps"], facts["epochs"], facts["reached_max_steps"]) == (168, 4, False)
    assert not (podere.folder / "c.json").exists()
    whole = sha256(podere, "network.json")
    podere.done(*NN, "--epochs", 4)
    assert sha256(podere, "network.json") == whole


SERVERS = ["--epochs", 15, "--learning-rate", 0.005, "--validation-fraction", 0.2]


@pytest.mark.parametrize("arguments, mode, reproducible", [
    (["--workers", 2, "--servers", 1, "--async"], -1, False),
    (["--workers", 1, "--async"], -1, False),
    (["--executors", 4, "--servers", 2, "--staleness", 2], 2, False),
    (["--workers", 3, "--servers", 2], 0, True),
])
def test_workers_and_servers_train_as_others_do(podere, arguments, mode, reproducible):
    facts = json.loads(podere.done(*NN, *SERVERS, *arguments, "--json").stdout)
    servers = facts["parameter_servers"]
    assert facts["executors"] == servers["workers"] + servers["servers"]
    assert (servers["staleness"], servers["is_reproducible"]) == (mode, reproducible)
    gradients = sum(servers["gradients_by_staleness"])
    assert gradients == facts["steps"]
    assert len(servers["steps_per_second"]) == servers["workers"] and min(servers["steps_per_second"]) > 0
    assert facts["validation_auc"] > 0.7
    measured = json.loads(podere.done("evaluate", "network.json", "collider:20000?seed=1", "--json").stdout)
    assert measured["auc"] > 0.7


def test_an_asynchronous_run_says_that_it_cannot_be_repeated(podere):
    output = podere.done(*NN, "--epochs", 2, "--workers", 2, "--servers", 1, "--async").stdout
    assert "2 + 1, asynchronous: another run gives another network" in output
    assert "staleness of gradients" in output and "steps per second" in output


def test_an_asynchronous_run_resumes_from_its_checkpoint_on_other_workers(podere):
    run = [*NN, *SERVERS, "--servers", 1, "--async", "--checkpoint", "c.json"]
    facts = json.loads(podere.done(*run, "--workers", 1, "--max-steps", 40, "--json").stdout)
    assert facts["reached_max_steps"] and facts["steps"] == 40
    facts = json.loads(podere.done(*run, "--workers", 3, "--json").stdout)
    assert facts["epochs"] == 15 and facts["parameter_servers"]["workers"] == 3


def test_a_run_of_servers_that_is_over_already_ends_at_once(podere):
    run = [*NN, *SERVERS, "--workers", 1, "--servers", 1, "--max-steps", 30, "--checkpoint", "c.json"]
    podere.done(*run)
    facts = json.loads(podere.done(*run, "--json").stdout)
    assert (facts["steps"], facts["losses"]) == (30, [])
    assert (podere.folder / "c.json").exists()


def test_an_executors_file_cannot_take_what_servers_need(podere):
    (podere.folder / "wanted").write_text("1\n")
    facts = json.loads(podere.done(*NN, *SERVERS, "--executors", 3, "--servers", 1, "--async", "--executors-file", "wanted",
                                   "--json").stdout)
    assert facts["parameter_servers"]["servers"] == 1 and facts["executors"] >= 2


def test_kept_tables_are_moved_to_workers(podere, session):
    session.start("s", "--executors", "2", "--cores", "1")
    session("load", "s", "collider:20000", "--as", "t")
    run = ["train", "nn", "table:t", "--session", "s", "--layers", "30", "-o", "network.json", "--json"]
    for _ in range(2):
        facts = json.loads(podere.done(*run, *SERVERS, "--servers", 1, "--async", environment=session.environment).stdout)
        assert (facts["parameter_servers"]["workers"], facts["rows"]) == (1, 20000)
    facts = json.loads(podere.done(*run, "--epochs", 2, environment=session.environment).stdout)
    assert facts["rows"] == 20000 and facts["parameter_servers"] is None


@pytest.mark.parametrize("arguments, words", [
    (["--servers", 1], "--servers is 1: that takes 2 executors at least, there are 1"),
    (["--servers", 2, "--executors", 2, "--async"], "--servers is 2: that takes 3 executors at least, there are 2"),
    (["--async", "--staleness", 3], "--async excludes --staleness"),
    (["--staleness", 3], "--staleness is 3, allowed is 0 without servers"),
    (["--servers", 1, "--workers", 2, "--executors", 3], "--executors"),
    (["--servers", 1, "--workers", 2, "--optimizer", "lbfgs"], "--servers is 1, allowed is 0 with lbfgs"),
    (["--servers", 1, "--workers", 0], "--workers"),
    (["--servers", "1e18", "--workers", 2], "--servers: '1e18' is not a whole number from 0 to 1024"),
    (["--servers", 500, "--workers", 500], "1000 executors are too many for this machine of "),
])
def test_servers_that_cannot_be_are_refused(podere, arguments, words):
    assert words in podere.refused(*NN, *arguments)


def test_servers_are_not_of_the_perceptron(podere):
    assert ("podere train mlp has no option --servers, that is one of podere train nn"
            in podere.refused("train", "mlp", "collider:100", "--servers", 1, "-o", "network.json"))


@pytest.mark.parametrize("victim, kill, n_left", [(2, signal.SIGABRT, 3), (0, signal.SIGKILL, 2)],
                         ids=["a server that fails", "a worker"])
def test_a_run_continues_when_a_worker_or_a_server_is_lost(podere, victim, kill, n_left):
    """A server that fails ends its process, as abort() does; its machine is as good as before."""
    process = podere.start(*MANY, "--workers", 2, "--servers", 1, "--async", "--checkpoint", "c.json", "--json")
    wait_until(lambda: (podere.folder / "c.json").exists(), seconds=60)
    os.kill(podere.executors(3)[victim], kill)
    stdout, stderr = process.communicate(timeout=150)
    assert process.returncode == 0, stderr
    assert f"(killed by signal {int(kill)}) at step " in stderr and f"; continuing with {n_left} executors from step " in stderr
    facts = json.loads(stdout)
    servers = facts["parameter_servers"]
    assert (servers["workers"], servers["servers"], facts["epochs"]) == (n_left - 1, 1, 60)
    assert podere.processes() == []


def test_kept_tables_train_networks_too(podere, session):
    session.start("s", "--executors", "2", "--cores", "1")
    session("load", "s", "collider:20000", "--as", "all")
    session("split", "s", "all", "--first", "train", "--second", "test", "--fraction", "0.9")
    environment = session.environment
    facts = json.loads(podere.done("train", "nn", "table:train", "--validation", "table:test", "--epochs", 2, "--layers", "10",
                                   "-o", "kept.json", "--session", "s", "--json", environment=environment).stdout)
    assert facts["validation_rows"] + facts["rows"] == 20000
    measured = json.loads(podere.done("evaluate", "kept.json", "table:test", "--session", "s", "--json", "--metrics",
                                      environment=environment).stdout)
    assert abs(measured["auc"] - facts["validation_auc"]) < 1e-9
    assert measured["metrics"]


def test_the_metrics_of_a_network_name_its_phases(podere):
    facts = json.loads(podere.done(*NN, "--epochs", 1, "--json", "--metrics").stdout)
    assert {"read", "prepare", "train"} <= {phase["phase"] for phase in facts["metrics"]["phases"]}


@pytest.fixture
def table(podere):
    path = podere.folder / "d.csv"
    path.write_text("y,a,b\n" + "".join(f"{i % 2},{i},{i * i % 7}\n" for i in range(50)))
    return path


@pytest.mark.parametrize("arguments, words", [
    (["--layers", "0"], "--layers: '0' is neither none nor widths from 1 to 4096 with commas"),
    (["--layers", "10,,3"], "--layers: '10,,3' is neither"),
    (["--layers", ",".join(["4"] * 65)], "--layers are 65, allowed are at most 64"),
    (["--layers", ",".join(["4096"] * 20)], "weights, allowed are at most 134217728"),
    (["--activation", "swish"], "--activation is 'swish', allowed are identity, relu, sigmoid, tanh"),
    (["--optimizer", "lbfgs", "--dropout", "0.1"], "--dropout is 0.1, allowed is 0 with lbfgs"),
    (["--momentum", "0.5"], "--momentum is 0.5, which is for the optimizer sgd, not for adam"),
    (["--learning-rate", "nan"], "--learning-rate is nan, allowed is above 0, at most 1e6"),
    (["--l2", "1e50"], "--l2 is 1e+50, allowed is 0 to 1e12"),
    (["--epochs", "0"], "--epochs: '0' is not a whole number from 1 to 1000000"),
    (["--epochs", "1e18"], "--epochs: '1e18' is not a whole number from 1 to 1000000"),
    (["--batch-size", "1e18"], "--batch-size: '1e18' is not a whole number from 0 to 1048576"),
    (["--layers", "1e18"], "--layers: '1e18' is neither none nor widths from 1 to 4096 with commas"),
    (["--early-stopping", "99999999999"], "--early-stopping: '99999999999' is not a whole number from 0 to 2147483647"),
    (["--max-steps", "1e18"], "--max-steps: '1e18' is not a whole number from 0 to 9007199254740992"),
    (["--checkpoint-steps", "1e18"], "--checkpoint-steps: '1e18' is not a whole number from 0 to 9007199254740992"),
    (["--checkpoint-every", "1e400"], "--checkpoint-every: '1e400' is too large or too small: the largest number is 1.8e308"),
    (["--early-stopping", "3"], "--early-stopping needs --validation, --validation-fraction or --folds"),
    (["--loss", "cross-entropy", "--classes", "1"], "--classes is 1, allowed is 0 (found from the labels) or 2 to 1000"),
    (["--from", "trees.json"], "trees.json: is of boosted trees, not a network"),
    (["--from", "network.json"], "the model to continue is of another kind: layers was 3, is 100"),
])
def test_options_out_of_range_are_refused(podere, table, arguments, words):
    podere.done("train", "gbt", table, "--trees", 1, "-o", "trees.json")
    podere.done("train", "nn", table, "--layers", "3", "--epochs", 1, "-o", "network.json")
    assert words in podere.refused("train", "nn", table, "-o", "other.json", *arguments)


@pytest.mark.parametrize("change, arguments, words", [
    (("y,a,b\n0,0,0", "y,a,b\n2,0,0"), [], "label of row 0 is 2, allowed is 0 or 1: encode two classes so; for more use "
                                           "--loss cross-entropy, for numbers squared-error"),
    (("y,a,b\n0,0,0", "y,a,b\n0,,0"), [], "feature 'a' of row 0 is missing (NaN), allowed are finite numbers; networks trained with impute take the mean"),
    (("y,a,b\n0,0,0", "y,a,b\n0,inf,0"), ["--impute"], "feature 'a' of row 0 is inf"),
    (("y,a,b\n0,0,0", "y,a,b\n7.5,0,0"), ["--label", "y", "--loss", "cross-entropy", "--classes", "3"], "label of row 0 is 7.5"),
    (("", ""), ["--loss", "squared-error", "--optimizer", "sgd", "--learning-rate", "1e6"],
     "the loss is not finite. Try a learning-rate below 1000000, or clip-norm"),
])
def test_data_that_do_not_fit_are_refused(podere, table, change, arguments, words):
    table.write_text(table.read_text().replace(*change, 1))
    assert words in podere.refused("train", "nn", table, "-o", "network.json", *arguments)


@pytest.mark.parametrize("head, row, arguments, words", [
    ("y,a,c", "0,1,2", [], "validation data v.csv: the data lacks columns that the model needs: b"),
    ("y,a", "0,1", [], "validation data v.csv: the data lacks columns that the model needs: b"),
    ("0,1,2,3", "0,1,2,3", [], "validation data v.csv: the model has 2 features, the data 3"),
    ("z,a,b", "0,1,2", [], "the model was trained on the label 'y', the first column of v.csv is 'z'"),
    ("y,a,b", "2,1,2", [], "validation data: label of row 0 is 2, allowed is 0 or 1"),
    ("y,a,b", "2,1,2", ["--loss", "cross-entropy"], "validation data: label of row 0 is 2, allowed is a whole number from 0 to 1"),
    ("y,a,b", "0.5,1,2", [], "validation data: label of row 0 is 0.5, allowed is 0 or 1"),
    ("y,a,b", "0,,2", [], "validation data: feature 'a' of row 0 is missing (NaN)"),
    ("y,a,b", "0,x,2", [], "v.csv:2: column 'a' (position 1): 'x' is neither a number"),
])
def test_validation_data_of_another_kind_are_refused(podere, table, head, row, arguments, words):
    podere.write("v.csv", f"{head}\n{row}\n")
    assert words in podere.refused("train", "nn", table, "--validation", "v.csv", "-o", "network.json", *arguments)
    if "cross-entropy" not in arguments and "NaN" not in words:
        assert words in podere.refused("train", "gbt", table, "--validation", "v.csv", "-o", "trees.json")


def test_validation_data_without_names_have_as_many_columns(podere):
    podere.write("d.csv", "0,1,2\n1,2,3\n" * 20)
    podere.write("v.csv", "0,1,2,3\n1,2,3,4\n")
    for kind in ("nn", "mlp", "gbt"):
        assert ("validation data v.csv: it has 3 features, the rows trained on have 2"
                in podere.refused("train", kind, "d.csv", "--validation", "v.csv", "-o", "m.json"))


def test_a_model_to_continue_has_the_label_of_the_data(podere, table):
    podere.done("train", "nn", table, "--layers", "3", "--epochs", 1, "-o", "network.json")
    podere.write("other.csv", table.read_text().replace("y,a,b", "z,a,b"))
    assert ("trained on the label 'y', the first column of other.csv is 'z'"
            in podere.refused("train", "nn", "other.csv", "--layers", "3", "--from", "network.json", "-o", "more.json"))


def test_a_checkpoint_of_another_run_is_refused_with_what_differs(podere, table):
    run = ["train", "nn", table, "--epochs", 2, "--checkpoint", "c.json", "-o", "network.json"]
    podere.done(*run, "--max-steps", 1)
    for arguments, words in ((["--layers", "7"], "layers was 100, is 7"), (["--seed", 4], "seed was 0, is 4"),
                             (["--activation", "tanh"], "activation was relu, is tanh"), (["--rows", ":49"], "the data had 50 rows, have 49")):
        assert f"the checkpoint is of another run: {words}" in podere.refused(*run, *arguments)
    podere.done(*run)


def test_a_checkpoint_of_other_trees_is_refused_with_what_differs(podere, table):
    few = ["--trees", 2]
    run = ["train", "gbt", table, "--checkpoint", "c.json", "-o", "trees.json"]
    podere.done(*run, *few)
    (podere.folder / "trees.json").rename(podere.folder / "c.json")  # a model is the checkpoint after its last round
    for arguments, words in (([*few, "--depth", 3], "depth was 6, is 3"), (["--trees", 5], "trees was 2, is 5"),
                             ([*few, "--growth", "best-first", "--max-leaves", 4], "growth was level, is best-first"),
                             ([*few, "--columns", "b"], "the data had 2 features, have 1"), ([*few, "--rows", ":49"], "the rows, or the model to continue"),
                             ([*few, "--objective", "squared-error"], "objective was logistic, is squared-error")):
        assert f"the checkpoint is of another run: {words}" in podere.refused(*run, *arguments)
    podere.done(*run, *few)


def test_a_run_that_diverges_leaves_its_last_good_checkpoint(podere, table):
    result = podere.run("train", "nn", table, "--layers", "none", "--loss", "squared-error", "--optimizer", "sgd", "--learning-rate", 5,
                        "--epochs", 1000, "--checkpoint", "c.json", "--checkpoint-steps", 1, "-o", "network.json")
    assert result.returncode == 2 and "the loss is not finite. Try a learning-rate below 5" in result.stderr, result.stderr
    assert sorted(os.listdir(podere.folder)) == ["c.json", "d.csv"]
    losses = json.loads((podere.folder / "c.json").read_text())["model"]["history"]["train_loss"]
    assert losses and numpy.isfinite(losses).all()
    podere.done("predict", "c.json", table, "-o", "p.csv")
    assert numpy.isfinite(numpy.loadtxt(podere.folder / "p.csv")).all()


def test_a_checkpoint_without_room_costs_a_warning_and_the_old_one_stays(podere, table):
    run = ["train", "nn", table, "--checkpoint", "c.json", "--checkpoint-steps", 1, "-o", "network.json"]
    podere.done(*run, "--max-steps", 1)
    old = (podere.folder / "c.json").read_bytes()
    model_bytes = (podere.folder / "network.json").stat().st_size
    assert model_bytes + 1000 < len(old)
    result = podere.run(*run, "--max-steps", 3, preexec_fn=limited_files(model_bytes + 1000))
    assert result.stderr.count("no checkpoint could be written: ") == 1 and "training continues without" in result.stderr
    assert (podere.folder / "c.json").read_bytes() == old
    assert sorted(os.listdir(podere.folder)) == ["c.json", "d.csv", "network.json"]
    # It was what those steps were for.
    assert result.returncode == 2 and result.stderr.splitlines()[-1] == (
        "podere: --checkpoint: c.json could not be written at the end, so no run can resume from it; "
        "the model so far is in network.json")
    result = podere.run(*run, preexec_fn=limited_files(model_bytes + 1000))
    assert result.returncode == 0 and result.stderr.count("no checkpoint could be written: ") == 1


def test_a_missing_value_may_be_imputed(podere, table):
    table.write_text(table.read_text().replace("0,0,0", "0,,0", 1))
    podere.done("train", "nn", table, "--impute", "--epochs", 1, "-o", "network.json")
    assert len(podere.done("predict", "network.json", table, "-o", "p.csv").stdout) >= 0
    assert numpy.isfinite(numpy.loadtxt(podere.folder / "p.csv")).all()


@pytest.mark.parametrize("cut", [10, 500, -2])
def test_a_network_or_checkpoint_that_was_cut_is_refused(podere, table, cut):
    podere.done("train", "nn", table, "--epochs", 1, "-o", "network.json")
    text = (podere.folder / "network.json").read_text()
    (podere.folder / "cut.json").write_text(text[:cut])
    assert "cut.json: is not" in podere.refused("evaluate", "cut.json", table)
    assert "cut.json: is not" in podere.refused("train", "nn", table, "-o", "other.json", "--checkpoint", "cut.json")
    (podere.folder / "whole.json").write_text(text)
    assert "is a whole model, not a checkpoint" in podere.refused("train", "nn", table, "-o", "other.json", "--checkpoint",
                                                                  "whole.json")


def test_a_network_or_checkpoint_that_was_altered_is_refused(podere, table):
    train = ["train", "nn", table, "--epochs", 2]
    podere.done(*train, "--max-steps", 1, "--checkpoint", "c.json", "-o", "network.json")
    for name, use in (("network.json", ["evaluate", "network.json", table]),
                      ("c.json", [*train, "--checkpoint", "c.json", "-o", "other.json"])):
        text = (podere.folder / name).read_text()
        place = text.index('"weights":"') + 40
        podere.write(name, text[:place] + ("A" if text[place] != "A" else "B") + text[place + 1:])
        assert f"{name}: was altered after it was written (checksum does not fit)" in podere.refused(*use)


def test_labels_that_a_network_has_no_output_for_are_refused(podere, table):
    podere.done("train", "nn", table, "--epochs", 1, "--loss", "cross-entropy", "-o", "network.json")
    podere.write("more.csv", table.read_text().replace("y,a,b\n0", "y,a,b\n2"))
    words = "label of row 0 is 2, allowed is a whole number from 0 to 1"
    assert f"evaluation data: {words}" in podere.refused("evaluate", "network.json", "more.csv")
    assert f"training data: {words}" in podere.refused("train", "nn", "more.csv", "--epochs", 1, "--loss", "cross-entropy", "--from",
                                                       "network.json", "-o", "other.json")


@pytest.mark.parametrize("arguments, words", [
    (["explain", "network.json", "d.csv"], "network.json: is a network, this is for boosted trees"),
    (["evaluate", "network.json", "d.csv", "--staged"], "network.json: is a network, this is for boosted trees"),
    (["evaluate", "network.json", "d.csv", "--rounds", "2"], "rounds is 2, but network.json is a network, which has none"),
    (["convert", "network.json", "--to", "xgboost", "-o", "n.json"], "a network is written as podere and onnx only: the other formats have boosted trees"),
])
def test_what_is_for_trees_says_so(podere, table, arguments, words):
    podere.done("train", "nn", table, "--epochs", 1, "-o", "network.json")
    assert words in podere.refused(*arguments)


def towns(podere, n=3000, n_towns=20):
    """Rows whose label depends on categories alone."""
    draw = random.Random(4)
    rows = []
    for i in range(n):
        town, kind = draw.randrange(n_towns), draw.choice("abc")
        rows.append(f"{draw.gauss(0, 1):.3f},{'' if i % 40 == 0 else kind},t{town},{(town * 7 % 5 < 2) ^ (kind == 'b'):d}\n")
    return podere.write("towns.csv", "x,kind,town,y\n" + "".join(rows))


OF_TOWNS = ["--categorical", "kind,town", "--layers", 32, "--epochs", 60, "--learning-rate", 0.01]


@pytest.mark.parametrize("one_hot, n_inputs", [(64, 24), (8, 12)])
def test_networks_learn_from_categories_on_any_executors(podere, one_hot, n_inputs):
    data = towns(podere)
    train = ["train", "nn", data, *OF_TOWNS, "--one-hot", one_hot, "-o", "network.json"]
    facts = json.loads(podere.done(*train, "--json").stdout)
    assert facts["layers"] == f"{n_inputs}-32-1" and facts["features"] == 3
    expected = sha256(podere, "network.json")
    for options in (["--executors", 2], ["--executors", 5], ["--cores", 2]):
        podere.done(*train, *options)
        assert sha256(podere, "network.json") == expected, options
    measures = json.loads(podere.done("evaluate", "network.json", data, "--json").stdout)
    assert measures["accuracy"] > (0.96 if one_hot == 64 else 0.7)
    podere.write("unknown.csv", "town,x,kind\nt1,1,elsewhere\nt1,1,\nt1,1,a\n")
    warned = podere.done("predict", "network.json", "unknown.csv", "-o", "p.csv").stderr
    assert "categories not seen in training count as missing: 1 of column 'kind'" in warned
    unknown, missing, known = (podere.folder / "p.csv").read_text().split()
    assert unknown == missing != known


def test_a_network_of_categories_is_continued_and_resumed(podere):
    data = towns(podere)
    podere.done("train", "nn", data, *OF_TOWNS, "-o", "whole.json")
    podere.done("train", "nn", data, *OF_TOWNS, "--max-steps", 500, "--checkpoint", "c.json", "-o", "network.json")
    podere.done("train", "nn", data, *OF_TOWNS, "--checkpoint", "c.json", "-o", "network.json", "--executors", 2)
    assert sha256(podere, "network.json") == sha256(podere, "whole.json")
    more = ["train", "nn", data, "--from", "whole.json", "--layers", 32, "--epochs", 1, "-o", "more.json"]
    podere.done(*more)
    assert "one-hot was 64, is 8" in podere.refused(*more, "--one-hot", 8)
    line = podere.refused("train", "nn", data, "--categorical", "kind,town", "--validation", podere.write("v.csv", "x,y\n1,0\n"), "-o", "m.json")
    assert "v.csv:1: there is no categorical column 'kind'; there are 'x', 'y'" in line, line


@pytest.mark.parametrize("one_hot", [64, 8])  # of 20 towns: an input each, hashed
def test_onnx_of_a_network_with_categories_has_their_codes(podere, one_hot):
    onnx = needed("onnx")
    podere.done("train", "nn", towns(podere), *OF_TOWNS[:2], "--epochs", 1, "--one-hot", one_hot, "-o", "network.json")
    facts = json.loads(podere.done("convert", "network.json", "--to", "onnx", "-o", "n.onnx", "--json").stdout)
    graph = onnx.load(podere.folder / "n.onnx")
    onnx.checker.check_model(graph, full_check=True)  # the shapes of all operators too
    assert graph.graph.input[0].type.tensor_type.shape.dim[1].dim_value == 3
    named = {entry.key: json.loads(entry.value) for entry in graph.metadata_props}
    assert named["feature_names"] == ["x", "kind", "town"]
    assert named["categories"] == {"kind": ["a", "b", "c"], "town": sorted(f"t{town}" for town in range(20))}
    assert facts["categories"] == named["categories"]


def test_categories_that_a_network_cannot_take_are_refused(podere):
    data = towns(podere)
    assert "town" in podere.refused("train", "nn", data, "--categorical", "kind", "-o", "m.json")
    wide = podere.write("wide.csv", "a,x,y\n" + "".join(f"t{i},0,{i % 2}\n" for i in range(5000)))
    train = ["train", "nn", wide, "--categorical", "a", "--epochs", 1, "-o", "m.json"]
    line = podere.refused(*train, "--one-hot", 4096, "--executors", 2)
    assert "the features have 4097 inputs, categories included, a network takes at most 4096: lower one-hot" in line
    podere.done(*train)
