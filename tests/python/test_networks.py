"""Networks with scikit-learn's interface, in the process and in sessions."""
import copy
import pickle
import warnings

import numpy
import pandas
import pytest
import torch
from conftest import model_text
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import make_classification, make_regression
from sklearn.utils.estimator_checks import parametrize_with_checks

from podere import GBTClassifier, MLPClassifier, NNClassifier, NNRegressor
from test_session import session  # noqa: F401, a fixture


@parametrize_with_checks([NNClassifier(), NNClassifier(impute=True), NNRegressor(), MLPClassifier()])
def test_every_check_of_scikit_learn(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("error", category=DeprecationWarning)
        check(estimator)


@pytest.fixture(scope="module")
def rows():
    """3,000 x 8, by number of classes; 1 for numbers."""
    def of(n_classes):
        if n_classes == 1:
            X, y = make_regression(3000, 8, n_informative=4, noise=5, random_state=5)
            return X, y / y.std()
        return make_classification(3000, 8, n_informative=6, n_classes=n_classes, class_sep=1.5, random_state=3)
    return of


ESTIMATORS = [(NNClassifier(epochs=15, learning_rate=0.005, dropout=0.1, early_stopping_epochs=8, random_state=3), 2),
              (NNClassifier(epochs=10, solver="adamw", schedule="cosine", learning_rate=0.01, hidden_layer_sizes=(30, 20)), 3),
              (NNClassifier(epochs=10, solver="sgd", learning_rate=0.05, clip_norm=1.0, l2=1e-4, activation="tanh"), 2),
              (NNRegressor(epochs=20, learning_rate=0.01, hidden_layer_sizes=[40]), 1),
              (MLPClassifier(iterations=30), 2), (MLPClassifier(iterations=30, hidden_layer_sizes=(12,), l2=1e-5), 3)]


@pytest.mark.parametrize("estimator, n_classes", ESTIMATORS)
def test_they_learn_on_any_number_of_threads(rows, tmp_path, estimator, n_classes):
    X, y = rows(n_classes)
    texts = set()
    for n_jobs in (1, 3):
        fitted = clone(estimator).set_params(n_jobs=n_jobs).fit(X[:2500], y[:2500])
        assert fitted.score(X[2500:], y[2500:]) > 0.75
        texts.add(model_text(fitted, tmp_path))
    assert len(texts) == 1
    best = fitted.history_["validation_loss"].argmin() + 1 if fitted.history_["validation_loss"].size else fitted.n_iter_
    assert fitted.n_iter_ == best <= len(fitted.history_["train_loss"])


@pytest.mark.parametrize("estimator, n_classes", ESTIMATORS)
def test_the_command_line_and_a_session_give_the_same_model(rows, podere, session, estimator, n_classes):
    X, y = rows(n_classes)
    X, y = X.astype(numpy.float32), y.astype(numpy.float32)  # what a text of 9 digits reads as
    fitted = clone(estimator).fit(X, y)
    table = session.put(X, y)
    elsewhere = session.fit(clone(estimator), table)
    assert model_text(elsewhere, podere.folder) == model_text(fitted, podere.folder)
    assert_array_equal(session.predict(elsewhere, table), fitted.predict(X))
    if n_classes > 1:
        assert_array_equal(session.predict_proba(elsewhere, table), fitted.predict_proba(X))
        assert abs(session.evaluate(elsewhere, table)["accuracy"] - fitted.score(X, y)) < 1e-12
    numpy.savetxt(podere.folder / "d.csv", numpy.c_[y, X], delimiter=",", fmt="%.9g")
    p = estimator.get_params()
    options = ["--layers", ",".join(map(str, p["hidden_layer_sizes"])), "--activation", p["activation"], "--l2", p["l2"],
               "--seed", p["random_state"] or 0]
    if isinstance(estimator, MLPClassifier):
        options += ["--iterations", p["iterations"]]
    else:
        loss = {1: "squared-error", 2: "binary-cross-entropy", 3: "cross-entropy"}[n_classes]
        stopping = p["early_stopping_epochs"]
        options += ["--loss", loss, "--optimizer", p["solver"], "--epochs", p["epochs"], "--learning-rate", p["learning_rate"],
                    "--schedule", p["schedule"], "--dropout", p["dropout"], "--clip-norm", p["clip_norm"] or 0]
        options += ["--early-stopping", stopping, "--validation-fraction", p["validation_fraction"]] if stopping else []
    kind = "mlp" if isinstance(estimator, MLPClassifier) else "nn"
    podere("train", kind, "d.csv", "-o", "of_command.json", "--executors", 2, *options)
    of_command = clone(estimator).load_model(podere.folder / "of_command.json")
    predict = "predict_proba" if hasattr(estimator, "predict_proba") else "predict"
    assert_array_equal(getattr(of_command, predict)(X), getattr(fitted, predict)(X))


@pytest.mark.parametrize("way", [copy.deepcopy, lambda estimator: pickle.loads(pickle.dumps(estimator))])
def test_a_pickle_predicts_the_same_bits(rows, way):
    X, y = rows(3)
    estimator = NNClassifier(epochs=2).fit(X, y)
    assert_array_equal(way(estimator).predict_proba(X), estimator.predict_proba(X))


def test_weights_are_those_that_predict(rows):
    X, y = rows(1)
    model = NNRegressor(hidden_layer_sizes=(5, 3), activation="tanh", epochs=3, standardize=False, standardize_target=False).fit(X, y)
    values = X
    for i, (coefs, intercepts) in enumerate(zip(model.coefs_, model.intercepts_)):
        values = values @ coefs + intercepts
        values = numpy.tanh(values) if i < 2 else values
    assert_allclose(values[:, 0], model.predict(X), rtol=1e-4, atol=1e-5)


def test_a_warm_start_begins_with_the_weights(rows):
    X, y = rows(2)
    estimator = NNClassifier(epochs=3, warm_start=True).fit(X, y)
    first = estimator.history_["train_loss"]
    second = estimator.fit(X, y).history_["train_loss"]
    assert second[0] < first[0]
    with pytest.raises(ValueError, match="layers was 100, is 7"):
        estimator.set_params(hidden_layer_sizes=(7,)).fit(X, y)


def test_a_warm_start_keeps_the_classes_of_its_model(rows):
    X, y = rows(3)
    estimator = NNClassifier(epochs=3, warm_start=True).fit(X, y)
    some = y > 0
    estimator.fit(X[some], y[some])
    assert list(estimator.classes_) == [0, 1, 2] and estimator.predict_proba(X).shape == (len(X), 3)
    assert (estimator.predict(X[some]) == y[some]).mean() > 0.7
    others = numpy.where(y == 1, 5, y)
    with pytest.raises(ValueError, match="y has the class 5, which is not in the classes of the model that warm_start"):
        estimator.fit(X, others)


def test_starting_weights_are_those_asked_for(rows):
    X, y = rows(2)
    widest = {kind: abs(NNClassifier(epochs=1, learning_rate=1e-9, initialization=kind).fit(X, y).coefs_[0]).max()
              for kind in ("glorot", "he", "pytorch")}
    assert_allclose(widest["glorot"], (6 / 108) ** 0.5, rtol=0.01)
    assert_allclose(widest["he"], (6 / 8) ** 0.5, rtol=0.01)
    assert_allclose(widest["pytorch"], (1 / 8) ** 0.5, rtol=0.01)


def test_old_spellings_of_parameters_are_accepted_also_in_pickles(rows):
    X, y = rows(2)
    new = NNClassifier(epochs=1, initialization="he", standardize=False).fit(X, y)
    old = NNClassifier(epochs=1, initialisation="he", standardise=False).fit(X, y)
    assert old._model.to_text() == new._model.to_text()
    state = new.__getstate__()
    state["initialisation"], state["standardise"] = state.pop("initialization"), state.pop("standardize")
    earlier = NNClassifier.__new__(NNClassifier)
    earlier.__setstate__(state)
    assert earlier.get_params() == new.get_params()


def test_the_first_partial_fit_is_an_epoch_of_fit_and_later_ones_are_more_of_it(rows):
    """The optimizer continues, so the weights are those of one run; the model file says what the last call did."""
    X, y = rows(2)
    for solver in ("adam", "sgd"):
        parts = NNClassifier(solver=solver, learning_rate=0.003, schedule="exponential", learning_rate_decay=0.7)
        for epochs in (1, 2, 3):
            parts.partial_fit(X, y, classes=[0, 1])
            whole = clone(parts).set_params(epochs=epochs).fit(X, y)
            assert parts.n_iter_ == epochs
            for a, b in zip(parts.coefs_ + parts.intercepts_, whole.coefs_ + whole.intercepts_):
                assert_array_equal(a, b)
            assert_array_equal(parts.history_["train_loss"], whole.history_["train_loss"])
            parts = pickle.loads(pickle.dumps(parts))


def test_partial_fit_learns_from_parts(rows):
    X, y = rows(3)
    names = numpy.array(["a", "b", "c"])[y]
    classifier = NNClassifier(learning_rate=0.01)
    X_number, y_number = rows(1)
    regressor = NNRegressor(learning_rate=0.01)
    for _ in range(6):
        for first in range(0, 2500, 500):
            part = slice(first, first + 500)
            classifier.partial_fit(X[part], names[part], classes=["a", "b", "c"])
            regressor.partial_fit(X_number[part], y_number[part], sample_weight=numpy.full(500, 2.0))
    assert classifier.score(X[2500:], names[2500:]) > 0.75
    assert regressor.score(X_number[2500:], y_number[2500:]) > 0.8
    only_a = names[:2500] == "a"
    assert classifier.partial_fit(X[:2500][only_a], names[:2500][only_a]).predict_proba(X).shape == (3000, 3)


def test_partial_fit_continues_from_fit_and_from_a_file(rows, tmp_path):
    X, y = rows(2)
    fitted = NNClassifier(epochs=8, learning_rate=0.005).fit(X, y)
    fitted.save_model(tmp_path / "m.json")
    before = fitted.history_["train_loss"][-1]
    loaded = NNClassifier(learning_rate=0.005).load_model(tmp_path / "m.json")
    for estimator in (fitted, loaded):
        assert estimator.partial_fit(X, y).history_["train_loss"][-1] < before * 1.02
        assert estimator.n_iter_ == 9
    assert_array_equal(fitted.predict_proba(X), loaded.predict_proba(X))
    assert fitted.fit(X, y).n_iter_ == 8


@pytest.mark.parametrize("name", ["f", "column"])  # as of columns that have no names, and of others
def test_arrays_are_a_warm_start_of_a_model_whose_columns_have_names(rows, name):
    X, y = rows(2)
    names = [f"{name}{j + 1}" for j in range(X.shape[1])]
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="X does not have valid feature names")
        for learn in (lambda e, X: e.fit(X, y), lambda e, X: e.partial_fit(X, y)):
            of_frame, of_array = (NNClassifier(epochs=1, warm_start=True).fit(pandas.DataFrame(X, columns=names), y)
                                  for _ in range(2))
            learn(of_frame, pandas.DataFrame(X, columns=names))
            learn(of_array, X)
            assert_array_equal(of_frame.predict_proba(X), of_array.predict_proba(X))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(ValueError, match="trained on other features: the data had .* features, have "):
            of_array.fit(X[:, :-1], y)
        assert_array_equal(of_frame.predict_proba(X), of_array.predict_proba(X))


@pytest.mark.parametrize("parameters, arguments, words", [
    ({}, {}, "classes must be passed on the first call"),
    ({}, {"classes": [0]}, "allowed are at least two"),
    ({}, {"classes": [1, 2]}, "y has the class 0, which is not in classes"),
    ({"schedule": "cosine"}, {"classes": [0, 1]}, "schedule is 'cosine'"),
    ({"early_stopping_epochs": 3}, {"classes": [0, 1]}, "early_stopping_epochs is 3"),
    ({"initialization": "zero"}, {"classes": [0, 1]}, "initialization is 'zero', allowed are 'glorot', 'he', 'pytorch'"),
])
def test_what_partial_fit_cannot_do_is_refused_and_changes_nothing(rows, parameters, arguments, words):
    estimator = NNClassifier(**parameters)
    with pytest.raises(ValueError, match=words):
        estimator.partial_fit(*rows(2), **arguments)
    assert not hasattr(estimator, "classes_") and not hasattr(estimator, "n_features_in_")


def test_a_session_shows_its_runs_in_tensorboard(rows, session, tmp_path):
    table = session.put(*rows(2))
    session.fit(NNClassifier(epochs=2), table, tensorboard=tmp_path / "logs")
    [events] = (tmp_path / "logs").glob("events.out.tfevents.*")
    assert events.stat().st_size > 5000


def test_missing_values_are_refused_or_imputed(rows):
    X, y = rows(2)
    X = X.copy()
    X[5, 3] = numpy.nan
    with pytest.raises(ValueError, match="feature 'f3' of row 5 is missing"):
        NNClassifier(epochs=1).fit(X, y)
    assert numpy.isfinite(NNClassifier(epochs=1, impute=True).fit(X, y).predict_proba(X)).all()


def test_two_classes_of_a_perceptron_are_as_those_of_others(rows):
    X, y = rows(2)
    model = MLPClassifier(iterations=10).fit(X, numpy.array(["no", "yes"])[y])
    assert model.decision_function(X).shape == (3000,) and model.predict_proba(X).shape == (3000, 2)
    assert_array_equal(model.predict(X) == "yes", model.decision_function(X) > 0)


@pytest.mark.parametrize("parameters, error, words", [
    ({"hidden_layer_sizes": 0}, ValueError, "hidden_layer_sizes is 0, allowed is a whole number from 1"),
    ({"hidden_layer_sizes": True}, TypeError, "hidden_layer_sizes is True, allowed is a sequence"),
    ({"hidden_layer_sizes": (0,)}, ValueError, "hidden_layer_sizes is 0, allowed is a whole number from 1 to 4096"),
    ({"hidden_layer_sizes": "100"}, TypeError, "hidden_layer_sizes is '100'"),
    ({"activation": "swish"}, ValueError, "activation is 'swish', allowed are 'identity'"),
    ({"solver": "lbfgs"}, ValueError, "solver is 'lbfgs'"),
    ({"epochs": 2.5}, TypeError, "epochs is 2.5"),
    ({"batch_size": 0}, ValueError, "batch_size is 0"),
    ({"learning_rate": float("nan")}, ValueError, "learning_rate is nan"),
    ({"dropout": 1.0}, ValueError, "dropout is 1.0"),
    ({"clip_norm": 0}, ValueError, "clip_norm is 0"),
    ({"standardize": "yes"}, TypeError, "standardize is 'yes'"),
    ({"learning_rate": 10**400}, ValueError, "learning_rate is 1000"),
    ({"hidden_layer_sizes": iter([3])}, TypeError, "hidden_layer_sizes is .*, allowed is a sequence"),
    ({"hidden_layer_sizes": {3}}, TypeError, r"hidden_layer_sizes is \{3\}, allowed is a sequence"),
    ({"hidden_layer_sizes": numpy.array(5)}, TypeError, "hidden_layer_sizes is array"),
    ({"n_jobs": 10**6}, ValueError, "n_jobs is 1000000, allowed is at most 4096"),
])
def test_parameters_out_of_range_are_refused(rows, parameters, error, words):
    with pytest.raises(error, match=words):
        NNClassifier(**{"epochs": 1, **parameters}).fit(*rows(2))


@pytest.mark.parametrize("labels, classes, words", [
    (["a", 1], ["a", "b"], "y has labels that do not compare with one another"),
    (["a", None], ["a", "b"], "y has labels that do not compare with one another"),
    (["a", "b"], [0, 1], "y has the class 'a', which is not in classes"),
    ([0, 1], ["a", "b"], "y has the class 0, which is not in classes"),
])
def test_labels_of_another_kind_are_refused_in_words(rows, labels, classes, words):
    X, _ = rows(2)
    is_mixed = len({type(label) for label in labels}) > 1
    labels = numpy.array(labels, dtype=object if is_mixed else None)[numpy.arange(len(X)) % 2]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ValueError, match=words):
            NNClassifier(epochs=1).partial_fit(X, labels, classes=classes)
        if is_mixed:
            with pytest.raises(ValueError, match=words):
                NNClassifier(epochs=1).fit(X, labels)


@pytest.mark.parametrize("chosen, words", [
    ({"checkpoint": "/nonexistent/c.json"}, "checkpoint is '/nonexistent/c.json': there is no folder /nonexistent"),
    ({"checkpoint": ""}, "checkpoint is '', allowed is a path"), ({"tensorboard": ""}, "tensorboard is '', allowed is a path"),
])
def test_places_that_a_session_cannot_write_to_are_refused(rows, session, chosen, words):
    with pytest.raises(ValueError, match=words):
        session.fit(NNClassifier(epochs=1), session.put(*rows(2)), **chosen)


def test_a_path_may_be_bytes(rows, session, tmp_path):
    folder = str(tmp_path / "logs").encode()
    session.fit(NNClassifier(epochs=1), session.put(*rows(2)), tensorboard=folder, checkpoint=str(tmp_path / "c").encode())
    assert list((tmp_path / "logs").iterdir())


def test_models_of_trees_are_recognized(rows, tmp_path):
    X, y = rows(2)
    GBTClassifier(n_estimators=1).fit(X, y).save_model(tmp_path / "trees.json")
    with pytest.raises(ValueError, match="is not a network"):
        NNClassifier().load_model(tmp_path / "trees.json")
    NNClassifier(epochs=1).fit(X, y).save_model(tmp_path / "network.json")
    with pytest.raises(ValueError, match="is not a model of boosted trees"):
        GBTClassifier().load_model(tmp_path / "network.json")
    NNRegressor(epochs=1).fit(X, y).save_model(tmp_path / "numbers.json")
    with pytest.raises(ValueError, match="its objective is squared-error"):
        NNClassifier().load_model(tmp_path / "numbers.json")


@pytest.mark.parametrize("shift, scale", [(50000, 10000), (0, 1e-6), (-3e6, 100)])
def test_numbers_of_any_size_are_learned_as_those_of_about_1(rows, tmp_path, shift, scale):
    X, y = rows(1)
    model = NNRegressor(epochs=20, learning_rate=0.01)
    plain = clone(model).fit(X[:2500], y[:2500]).score(X[2500:], y[2500:])
    large = shift + scale * y
    texts = set()
    for n_jobs in (1, 3):
        model.set_params(n_jobs=n_jobs).fit(X[:2500], large[:2500], eval_set=(X[2500:], large[2500:]))
        texts.add(model_text(model, tmp_path))
    score = model.score(X[2500:], large[2500:])
    assert len(texts) == 1 and score > 0.9 and abs(score - plain) < 0.02
    assert abs(1 - 2 * model.history_["validation_loss"][-1] - score) < 0.01, "losses are of y on its common scale"
    again = NNRegressor().load_model(tmp_path / "of_estimator.json")
    assert_array_equal(again.predict(X), model.predict(X))
    assert_array_equal(pickle.loads(pickle.dumps(model)).predict(X), model.predict(X))


def test_the_scale_of_numbers_is_that_of_the_first_call(rows):
    X, y = rows(1)
    y = 50000 + 10000 * y
    model = NNRegressor(learning_rate=0.01)
    for _ in range(20):
        for part in range(0, 2500, 500):
            model.partial_fit(X[part:part + 500], y[part:part + 500])
    assert model.score(X[2500:], y[2500:]) > 0.9
    loss = model.history_["train_loss"][-1]
    model.set_params(warm_start=True, epochs=1).fit(X[:2500], y[:2500])
    assert model.history_["train_loss"][0] < 2 * loss


def test_a_scale_that_is_not_learned_is_warned_of(rows):
    X, y = rows(1)
    with pytest.warns(UserWarning, match="standardize_target scales them"):
        NNRegressor(epochs=1, standardize_target=False).fit(X, 50000 * y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        NNRegressor(epochs=1).fit(X, 50000 * y)
    with pytest.raises(UserWarning), warnings.catch_warnings():
        warnings.simplefilter("error")
        NNRegressor(epochs=1, standardize_target=False).fit(X, 50000 * y)


# Beside PyTorch, from the same weights. All rows are a batch: shuffling, which differs, changes nothing then.


ACTIVATIONS = {"identity": torch.nn.Identity(), "relu": torch.nn.ReLU(), "sigmoid": torch.nn.Sigmoid(), "tanh": torch.nn.Tanh()}


def torch_network(model):
    layers = []
    for coefs, intercepts in zip(model.coefs_, model.intercepts_):
        layer = torch.nn.Linear(*coefs.shape)
        layer.weight.data, layer.bias.data = torch.tensor(coefs.T.copy()), torch.tensor(intercepts)
        layers += [layer, ACTIVATIONS[model.activation]]
    return torch.nn.Sequential(*layers[:-1])


def torch_loss(net, X, y, weights=None):
    """Weighted mean; half the squared error, or cross-entropy of as many classes as there are outputs."""
    z, labels = net(torch.tensor(X.astype(numpy.float32))), torch.tensor(y)
    if z.shape[1] > 1:
        losses = torch.nn.functional.cross_entropy(z, labels, reduction="none")
    elif y.dtype.kind == "f":
        losses = (z[:, 0] - labels.float()) ** 2 / 2
    else:
        losses = torch.nn.functional.binary_cross_entropy_with_logits(z[:, 0], labels.float(), reduction="none")
    return losses.mean() if weights is None else (losses * torch.tensor(weights)).sum() / weights.sum()


def torch_optimizer(net, solver, learning_rate, momentum, l2, weight_decay):
    decay = weight_decay if solver == "adamw" else l2
    groups = [{"params": [p for p in net.parameters() if p.ndim == 2], "weight_decay": decay},
              {"params": [p for p in net.parameters() if p.ndim == 1], "weight_decay": 0}]
    if solver == "sgd":
        return torch.optim.SGD(groups, lr=learning_rate, momentum=momentum)
    return {"adam": torch.optim.Adam, "adamw": torch.optim.AdamW}[solver](groups, lr=learning_rate)


def shorten_gradient(net, most):
    norm = torch.sqrt(sum((p.grad ** 2).sum() for p in net.parameters()))
    for p in net.parameters():
        p.grad *= min(1.0, float(most / norm))
    return float(norm)


N_STEPS = 12
SCHEDULES = {"constant": lambda step: 1.0, "exponential": lambda step: 0.8 ** step,
             "cosine": lambda step: (1 + numpy.cos(numpy.pi * step / N_STEPS)) / 2}


@pytest.mark.parametrize("solver, n_classes, chosen", [
    *((solver, n_classes, {"activation": "tanh", "l2": 1e-3 * (solver == "sgd")})
      for solver in ("sgd", "adam", "adamw") for n_classes in (1, 2, 3)),
    ("sgd", 1, {"activation": "identity", "schedule": "cosine"}),
    ("sgd", 2, {"activation": "relu", "momentum": 0.0}),
    ("sgd", 3, {"activation": "sigmoid", "clip_norm": 0.05}),
    ("adam", 2, {"activation": "sigmoid", "schedule": "exponential", "learning_rate_decay": 0.8}),
    ("adam", 3, {"activation": "relu", "l2": 1e-2, "hidden_layer_sizes": ()}),
    ("adamw", 1, {"activation": "identity", "hidden_layer_sizes": (9,)}),
])
@pytest.mark.parametrize("weighted", [False, True])
def test_losses_are_those_of_pytorch_step_by_step(rows, solver, n_classes, chosen, weighted):
    X, y = (a[:900] for a in rows(n_classes))
    weights = numpy.random.default_rng(2).uniform(0.5, 2, len(y)) if weighted else None
    kind = NNRegressor if n_classes == 1 else NNClassifier
    ours = kind(epochs=1, batch_size=1024, warm_start=True, solver=solver, learning_rate=0.01, weight_decay=0.1,
                **{"hidden_layer_sizes": (13, 7), **chosen}).fit(X, y, sample_weight=weights)
    net = torch_network(ours)
    optimizer = torch_optimizer(net, solver, 0.01, ours.momentum, ours.l2, ours.weight_decay)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, SCHEDULES[ours.schedule])
    scaled = (X - X.mean(0)) / X.std(0)
    learned = (y - y.mean()) / y.std() if n_classes == 1 else y
    losses, norms = [], []
    for _ in range(N_STEPS):
        optimizer.zero_grad()
        loss = torch_loss(net, scaled, learned, weights)
        loss.backward()
        losses.append(float(loss))
        if ours.clip_norm:
            norms.append(shorten_gradient(net, ours.clip_norm))
        optimizer.step()
        schedule.step()
    assert not norms or max(norms) > ours.clip_norm, "nothing was shortened"
    ours.set_params(epochs=N_STEPS).fit(X, y, sample_weight=weights)
    assert_allclose(ours.history_["train_loss"], losses, rtol=1e-5)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_losses_of_lbfgs_are_those_of_pytorch_at_its_weights(rows, n_classes):
    """Line searches are not the same, so steps are not; neither is far ahead in the end."""
    X, y = (a[:900] for a in rows(n_classes))
    scaled = (X - X.mean(0)) / X.std(0)
    model = MLPClassifier(hidden_layer_sizes=(13, 7), activation="tanh", tolerance=0)
    losses = clone(model).set_params(iterations=N_STEPS).fit(X, y).history_["train_loss"]
    at_weights = [float(torch_loss(torch_network(clone(model).set_params(iterations=n).fit(X, y)), scaled, y))
                  for n in range(1, N_STEPS + 1)]
    assert_allclose(losses, at_weights, rtol=1e-5)
    assert (numpy.diff(losses) < 0).all()

    first = MLPClassifier(hidden_layer_sizes=(13, 7), activation="tanh", iterations=1, warm_start=True, tolerance=0).fit(X, y)
    net = torch_network(first)
    optimizer = torch.optim.LBFGS(net.parameters(), max_iter=N_STEPS - 1, history_size=10, tolerance_change=0, tolerance_grad=0,
                                  line_search_fn="strong_wolfe")

    def closure():
        optimizer.zero_grad()
        loss = torch_loss(net, scaled, y)
        loss.backward()
        return loss

    begin = float(optimizer.step(closure))
    assert_allclose(first.history_["train_loss"][-1], begin, rtol=1e-5)
    first.set_params(iterations=N_STEPS - 1).fit(X, y)
    assert first.history_["train_loss"][-1] < float(torch_loss(net, scaled, y)) * 1.1


@pytest.mark.parametrize("n_classes", [2, 3])
def test_lbfgs_ends_where_that_of_pytorch_does(rows, n_classes):
    """Of a linear model with a penalty there is one least loss."""
    X, y = (a[:900] for a in rows(n_classes))
    scaled = (X - X.mean(0)) / X.std(0)
    ours = MLPClassifier(hidden_layer_sizes=(), l2=0.01, iterations=300, tolerance=0).fit(X, y)
    net = torch_network(MLPClassifier(hidden_layer_sizes=(), l2=0.01, iterations=1).fit(X, y))
    optimizer = torch.optim.LBFGS(net.parameters(), max_iter=300, tolerance_change=1e-12, tolerance_grad=1e-8,
                                  line_search_fn="strong_wolfe")

    def objective(of):
        return torch_loss(of, scaled, y) + 0.01 / 2 * sum((p ** 2).sum() for p in of.parameters() if p.ndim == 2)

    def closure():
        optimizer.zero_grad()
        loss = objective(net)
        loss.backward()
        return loss

    optimizer.step(closure)
    assert_allclose(float(objective(torch_network(ours))), float(objective(net)), rtol=1e-5)
    for layer, coefs in zip((net[0],), ours.coefs_):
        assert_allclose(coefs.T, layer.weight.detach().numpy(), atol=2e-3)


def test_categories_of_data_frames_are_learned_here_and_in_a_session(podere, session, tmp_path):  # noqa: F811
    draw = numpy.random.default_rng(3)
    towns = ["Bari", "Oslo", "Rome", "Wien"]
    X = pandas.DataFrame({"x": draw.normal(size=2000).astype(numpy.float32),
                          "town": pandas.Categorical(draw.choice(towns, 2000))})
    y = X["town"].isin(["Oslo", "Wien"]).to_numpy().astype(int)
    model = NNClassifier(hidden_layer_sizes=(16,), epochs=20, learning_rate=0.01).fit(X, y)
    assert model.score(X, y) > 0.99
    X.assign(label=y).to_csv(podere.folder / "towns.csv", index=False, float_format="%.9g")
    table = session.read_csv(podere.folder / "towns.csv", label="label", categorical=["town"])
    elsewhere = session.fit(clone(model), table)
    assert model_text(elsewhere, tmp_path) == model_text(model, tmp_path)
    assert_array_equal(session.predict(model, table), model.predict(X))
    few = pandas.DataFrame({"x": [0.5] * 3, "town": pandas.Categorical(["Paris", None, "Oslo"])})
    unknown, missing, known = model.predict_proba(few)[:, 1]
    assert unknown == missing != known > 0.9
    with pytest.raises(ValueError, match="one_hot is 1, allowed is"):
        NNClassifier(one_hot=1).fit(X, y)


def test_a_network_that_continues_knows_the_categories_of_before():
    frame = pandas.DataFrame({"town": pandas.Categorical(["Bari", "Oslo"] * 200)})
    y = numpy.array([0, 1] * 200)
    model = NNClassifier(hidden_layer_sizes=(), learning_rate=0.1)
    for _ in range(5):
        model.partial_fit(frame, y, classes=[0, 1])
    fewer = pandas.DataFrame({"town": pandas.Categorical(["Oslo"] * 200)})
    model.partial_fit(fewer, numpy.ones(200, int))
    assert model.score(frame, y) == 1
