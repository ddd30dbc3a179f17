"""What the estimators take (NumPy, pandas, SciPy) and what they refuse, in one clear line."""
import re

import numpy
import pytest
import scipy.sparse
from numpy.testing import assert_array_equal

from conftest import model_text
from podere import GBTClassifier, GBTRegressor, _core


def fitted(X, y, **parameters):
    return GBTClassifier(n_estimators=5, **parameters).fit(X, y)


def layouts(X):
    """The same numbers, laid out differently."""
    wide = numpy.zeros((X.shape[0] * 2, X.shape[1] * 3), X.dtype)
    wide[::2, 1::3] = X
    unaligned = numpy.zeros(X.size * X.itemsize + 1, numpy.uint8)[1:].view(X.dtype).reshape(X.shape)
    unaligned[:] = X
    read_only = X.copy()
    read_only.setflags(write=False)
    return {"rows": numpy.ascontiguousarray(X), "columns": numpy.asfortranarray(X), "strides": wide[::2, 1::3],
            "negative strides": X[::-1, ::-1].copy()[::-1, ::-1], "unaligned": unaligned, "read-only": read_only,
            "other byte order": X.astype(X.dtype.newbyteorder()), "objects": X.astype(object), "lists": X.tolist()}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_layouts_give_the_same_model(two_classes, tmp_path, dtype):
    X, y = two_classes
    X = X[:500].astype(numpy.float32).astype(dtype)
    texts = {name: model_text(fitted(values, y[:500]), tmp_path) for name, values in layouts(X).items()}
    assert [name for name, text in texts.items() if text != texts["rows"]] == []


def test_whole_numbers_of_any_size_give_the_same_model(tmp_path):
    X = numpy.random.default_rng(1).integers(0, 100, (400, 3))
    y = X[:, 0] > X[:, 1]
    types = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "longdouble"]
    assert len({model_text(fitted(X.astype(name), y), tmp_path) for name in types}) == 1


def test_labels_may_be_texts_numbers_or_booleans(two_classes):
    X, y = two_classes
    expected = fitted(X, y).predict_proba(X)
    for labels in (y.astype(bool), y * 2.0 - 1, numpy.array(["b", "s"])[y], numpy.array(["b", "s"], object)[y]):
        estimator = fitted(X, labels)
        assert_array_equal(estimator.predict_proba(X), expected)
        assert set(estimator.predict(X)) <= set(labels)


@pytest.mark.parametrize("matrix", ["csr_matrix", "csc_matrix", "coo_matrix", "lil_matrix"])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int16"])
def test_a_sparse_matrix_is_as_the_dense_one(tmp_path, matrix, dtype):
    rng = numpy.random.default_rng(2)
    X = (rng.integers(1, 9, (600, 12)) * (rng.uniform(size=(600, 12)) < 0.2)).astype(dtype)
    y = X[:, 0] > X[:, 1]
    sparse = getattr(scipy.sparse, matrix)(X)
    estimator = fitted(sparse, y)
    assert model_text(estimator, tmp_path) == model_text(fitted(X, y), tmp_path)
    assert_array_equal(estimator.predict_proba(sparse), estimator.predict_proba(X))


def test_weights_count_rows(two_classes):
    X, y = two_classes
    X, y = X[:300], y[:300]
    weight = numpy.random.default_rng(3).integers(1, 4, len(y))
    weighted = GBTClassifier(n_estimators=40).fit(X, y, sample_weight=weight)
    repeated = GBTClassifier(n_estimators=40).fit(X.repeat(weight, axis=0), y.repeat(weight))
    assert numpy.corrcoef(weighted.decision_function(X), repeated.decision_function(X))[0, 1] > 0.95
    assert_array_equal(GBTClassifier(n_estimators=5).fit(X, y, sample_weight=2).predict(X),
                       GBTClassifier(n_estimators=5).fit(X, y, numpy.full(len(y), 2.0)).predict(X))


def test_classes_weigh_as_given(two_classes):
    X, y = two_classes
    texts = numpy.array(["no", "yes"])[y]
    by_class = fitted(X, texts, class_weight={"yes": 3}).predict_proba(X)
    assert_array_equal(by_class, GBTClassifier(n_estimators=5).fit(X, texts, 1 + 2 * y).predict_proba(X))
    assert_array_equal(by_class, fitted(X, texts, scale_pos_weight=3).predict_proba(X))


def test_an_eval_set_is_validated_on(two_classes):
    X, y = two_classes
    estimator = GBTClassifier(n_estimators=300, learning_rate=0.5, early_stopping_rounds=4)
    for eval_set in ((X[2000:], y[2000:]), [(X[2000:], y[2000:])], (X[2000:], y[2000:], numpy.ones(1000))):
        estimator.fit(X[:2000], y[:2000], eval_set=eval_set)
        assert estimator.n_estimators_ == estimator.best_iteration_ < 300
    probability = estimator.predict_proba(X[2000:])[numpy.arange(1000), y[2000:]]
    assert estimator.history_["validation_loss"][estimator.best_iteration_ - 1] == pytest.approx(-numpy.log(probability).mean(), rel=1e-5)


def test_constraints_are_held(numbers):
    X, y = numbers
    for constraints in ({2: 1}, [0, 0, 1, 0, 0, 0]):
        estimator = GBTRegressor(n_estimators=20, monotone_constraints=constraints).fit(X, y)
        for row in X[:20]:
            line = numpy.tile(row, (50, 1))
            line[:, 2] = numpy.linspace(-3, 3, 50)
            assert (numpy.diff(estimator.predict(line)) >= 0).all()


# pandas ---------------------------------------------------------------------------------------------------------------

@pytest.fixture
def frame(two_classes):
    pandas = pytest.importorskip("pandas")
    X, y = two_classes
    return pandas.DataFrame(X[:800].astype("float32"), columns=list("abcdefgh")), pandas.Series(y[:800], name="signal")


def test_a_frame_is_as_its_array_whatever_its_columns(frame, tmp_path):
    X, y = frame
    expected = fitted(X.to_numpy(), y).predict_proba(X.to_numpy())
    mixed = X.astype({"a": "float64", "b": "Float64", "c": "Float32"})
    one_by_one = X.iloc[:, :1].copy()
    for name in X.columns[1:]:
        one_by_one[name] = X[name]
    for values in (X, mixed, one_by_one, X.iloc[::-1].iloc[::-1]):
        estimator = fitted(values, y)
        assert_array_equal(estimator.predict_proba(values), expected)
        assert estimator.feature_names_in_.tolist() == list("abcdefgh")
    assert '"label":"signal"' in model_text(estimator, tmp_path)


def test_columns_of_categories_are_matched_by_text(frame):
    X, y = frame
    towns = numpy.array(["Bath", "Rome", "York", "Oslo"])[(numpy.arange(800) * 7 + 2 * y) % 4]
    X = X.assign(town=towns).astype({"town": "category"})
    estimator = fitted(X, y)
    expected = estimator.predict_proba(X)
    other_order = X.assign(town=X["town"].cat.reorder_categories(["York", "Bath", "Oslo", "Rome"]))
    assert_array_equal(estimator.predict_proba(other_order), expected)
    assert_array_equal(estimator.predict_proba(X.assign(town=towns)), expected)
    unknown = X.assign(town="Pisa")
    missing = X.assign(town=numpy.array([None] * 800, dtype=object))
    assert_array_equal(estimator.predict_proba(unknown), estimator.predict_proba(missing))
    with pytest.raises(ValueError, match="'town' has categories of texts; give X as a DataFrame"):
        with pytest.warns(UserWarning):
            estimator.predict(numpy.zeros((3, 9)))


def test_categories_of_whole_numbers_are_the_same_as_floats(frame):
    X, y = frame
    group = numpy.arange(800) % 5
    estimator = fitted(X.assign(group=group).astype({"group": "category"}), y)
    whole = X.assign(group=group).astype({"group": "category"})
    floats = X.assign(group=group.astype(float)).astype({"group": "category"})
    assert_array_equal(estimator.predict_proba(whole), estimator.predict_proba(floats))


def test_codes_of_categories_need_no_frame():
    rng = numpy.random.default_rng(5)
    X = numpy.column_stack([rng.integers(0, 30, 2000), rng.normal(size=2000)])
    y = (X[:, 0].astype(int) % 3 == 0).astype(int)
    for chosen in ([0], [True, False]):
        estimator = GBTClassifier(n_estimators=10, max_depth=1, categorical_features=chosen).fit(X, y)
        assert estimator.score(X, y) == 1


# Refused --------------------------------------------------------------------------------------------------------------

GOOD_X = numpy.arange(24, dtype=float).reshape(8, 3)
GOOD_Y = numpy.array([0, 1] * 4)
INFINITE = numpy.where(GOOD_X == 7, numpy.inf, GOOD_X)


@pytest.mark.parametrize("X, y, kind, message", [
    (GOOD_X[0], GOOD_Y, ValueError, "Expected 2D array, got 1D array"),
    (GOOD_X[None], GOOD_Y, ValueError, "dim 3"),
    (GOOD_X[:0], GOOD_Y[:0], ValueError, "0 sample"),
    (GOOD_X[:, :0], GOOD_Y, ValueError, "0 feature"),
    (GOOD_X[:5], GOOD_Y, ValueError, "inconsistent numbers of samples"),
    (GOOD_X, GOOD_X, ValueError, "1d array"),
    (GOOD_X, None, ValueError, "the target y is None"),
    (INFINITE, GOOD_Y, ValueError, "X has infinity, or a value too large for float32, in row 2, column 1"),
    (GOOD_X * 1e40, GOOD_Y, ValueError, "X has infinity, or a value too large for float32, in row 1, column 0"),
    (scipy.sparse.csr_matrix(INFINITE), GOOD_Y, ValueError, "X has infinity, or a value too large"),
    (GOOD_X * 1j, GOOD_Y, ValueError, "Complex data not supported"),
    (numpy.full((8, 3), "a"), GOOD_Y, ValueError, "could not convert string to float|numeric"),
    (numpy.full((8, 3), numpy.datetime64("2020-01-01")), GOOD_Y, (TypeError, ValueError), ""),
    (GOOD_X, GOOD_Y * 0 + 5, ValueError, "y has one class, 5, allowed are at least two"),
    (GOOD_X, GOOD_Y * 0.7, ValueError, "Unknown label type"),
    (GOOD_X, numpy.array([1, "a", None, 2, 1, 1, 1, 1], dtype=object), ValueError, "label"),
    (object(), GOOD_Y, (TypeError, ValueError), ""),
    (None, GOOD_Y, (TypeError, ValueError), ""),
])
def test_bad_rows_are_refused(X, y, kind, message):
    estimator = GBTClassifier(n_estimators=2)
    with pytest.raises(kind, match=message):
        estimator.fit(X, y)
    assert not hasattr(estimator, "n_features_in_") and not hasattr(estimator, "classes_")


@pytest.mark.parametrize("parameters, kind, message", [
    ({"n_estimators": 0}, ValueError, "n_estimators is 0, allowed is a whole number from 1 to 100000"),
    ({"n_estimators": 2.5}, TypeError, "n_estimators is 2.5, allowed is a whole number from 1 to 100000"),
    ({"n_estimators": True}, TypeError, "n_estimators is True"),
    ({"max_depth": 31}, ValueError, "max_depth is 31, allowed is a whole number from 1 to 30 or None"),
    ({"max_bins": 257}, ValueError, "max_bins is 257"),
    ({"max_leaves": 1}, ValueError, "max_leaves is 1, allowed is 0"),
    ({"grow_policy": "lossguide"}, ValueError, "max_leaves is 0, allowed is at least 2"),
    ({"grow_policy": "sideways"}, ValueError, "grow_policy is 'sideways', allowed are 'depthwise', 'lossguide'"),
    ({"learning_rate": 0}, ValueError, "learning_rate is 0, allowed is a number above 0, at most 1"),
    ({"learning_rate": float("nan")}, ValueError, "learning_rate is nan"),
    ({"learning_rate": "fast"}, TypeError, "learning_rate is 'fast'"),
    ({"subsample": 1.5}, ValueError, "subsample is 1.5"),
    ({"reg_lambda": -1}, ValueError, "reg_lambda is -1, allowed is a number from 0 to 1e12"),
    ({"reg_lambda": 1e50}, ValueError, "reg_lambda is 1e\\+50, allowed is a number from 0 to 1e12"),
    ({"early_stopping_rounds": 0}, ValueError, "early_stopping_rounds is 0"),
    ({"early_stopping_rounds": 2, "validation_fraction": 1}, ValueError, "validation_fraction is 1"),
    ({"base_score": 2}, ValueError, "base_score is 2"),
    ({"class_weight": {7: 1}}, ValueError, r"class_weight names the class 7, there are \[0, 1\]"),
    ({"class_weight": {0: 0}}, ValueError, "class_weight is 0, allowed is a number above 0"),
    ({"class_weight": "heavy"}, ValueError, "class_weight is 'heavy'"),
    ({"scale_pos_weight": 0}, ValueError, "scale_pos_weight is 0"),
    ({"monotone_constraints": {"f9": 1}}, ValueError, "monotone_constraints names the feature 'f9'; there are f0, f1, f2"),
    ({"monotone_constraints": [1, 0]}, ValueError, "monotone_constraints has 2 values, X has 3 features"),
    ({"monotone_constraints": {0: 2}}, ValueError, "has 2 for 'f0', allowed is -1, 0 or 1"),
    ({"interaction_constraints": [[0, 3]]}, ValueError, "interaction_constraints names the feature 3"),
    ({"interaction_constraints": ["f0"]}, TypeError, "allowed is a list of lists"),
    ({"categorical_features": "f0"}, TypeError, "categorical_features is 'f0'"),
    ({"categorical_features": [True]}, ValueError, "is a mask of 1, and X has 3 features"),
    ({"categorical_features": [0], "monotone_constraints": [1, 0, 0]}, ValueError, "monotone"),
    ({"random_state": -1}, ValueError, "random_state is -1"),
    ({"n_jobs": 0}, ValueError, "n_jobs is 0"),
    ({"n_jobs": 1.0}, TypeError, "n_jobs is 1.0"),
])
def test_bad_parameters_are_refused(parameters, kind, message):
    with pytest.raises(kind, match=message) as refused:
        GBTClassifier(**parameters).fit(GOOD_X, GOOD_Y)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("fit, message", [
    (lambda: GBTRegressor(objective="absolute").fit(GOOD_X, GOOD_Y), "objective is 'absolute', allowed are 'squared_er"),
    (lambda: GBTRegressor(objective="quantile", quantile=1).fit(GOOD_X, GOOD_Y), "quantile is 1, allowed is"),
    (lambda: GBTRegressor(objective="poisson").fit(GOOD_X, GOOD_Y - 1), "y has -1.0, allowed with objective 'poisson'"),
    (lambda: GBTRegressor().fit(GOOD_X, GOOD_Y * numpy.nan), "NaN"),
    (lambda: GBTRegressor().fit(GOOD_X, GOOD_Y * 1e300), "y has NaN, infinity or a value too large for float32 in row 1"),
    (lambda: GBTClassifier().fit(GOOD_X, GOOD_Y, numpy.ones(7)), "inconsistent numbers of samples"),
    (lambda: GBTClassifier().fit(GOOD_X, GOOD_Y, numpy.ones((8, 2))), "sample_weight has 2 dimensions"),
    (lambda: GBTClassifier().fit(GOOD_X, GOOD_Y, numpy.zeros(8)), "sample_weight is zero for every row"),
    (lambda: GBTClassifier().fit(GOOD_X, GOOD_Y, -numpy.ones(8)), "the weights sum to -8, allowed is above 0"),
    (lambda: GBTClassifier().fit(GOOD_X, GOOD_Y, numpy.full(8, numpy.nan)), "NaN"),
    (lambda: GBTClassifier().fit(GOOD_X, GOOD_Y, GOOD_Y), "all of one class"),
    (lambda: GBTClassifier().fit(GOOD_X, GOOD_Y, eval_set=GOOD_X), "eval_set is not"),
    (lambda: GBTClassifier().fit(GOOD_X, GOOD_Y, eval_set=(GOOD_X[:, :2], GOOD_Y)), "X has 2 features"),
    (lambda: GBTClassifier().fit(GOOD_X, GOOD_Y, eval_set=(GOOD_X, GOOD_Y + 1)), "eval_set has the class 2"),
    (lambda: GBTClassifier(scale_pos_weight=2).fit(GOOD_X, [0, 1, 2, 0, 1, 2, 0, 1]), "which is for two classes; y has 3"),
    (lambda: GBTClassifier().load_model("/nowhere/model.json"), "/nowhere/model.json: cannot be read"),
    (lambda: fitted(GOOD_X, GOOD_Y).save_model("/nowhere/model.json"), "/nowhere"),
])
def test_bad_calls_are_refused_with_one_line(fit, message):
    with pytest.raises(ValueError, match=message):
        fit()


def test_objectives_of_other_libraries_are_answered_with_their_counterpart(podere):
    rows = [[cell.strip(" `") for cell in line.split("|")[1:-1]] for line in podere("help", "names").splitlines()]
    own = {name: counterpart for names, commands, counterpart, *_ in rows if commands == "gbt"
           for name in re.findall(r"--objective (\S+?)(?:`|$)", names)}
    assert {"reg:squarederror", "binary:logistic", "mae", "multiclass"} <= set(own)
    counterparts = {"logistic": "GBTClassifier", "softmax": "GBTClassifier", "squared-error": "'squared_error'"}
    for name in set(own) - {"squared_error"}:
        wanted = counterparts.get(own[name], repr(own[name]))
        with pytest.raises(ValueError, match=f"of '{re.escape(name)}' the counterpart is {wanted}"):
            GBTRegressor(objective=name).fit(GOOD_X, GOOD_Y)


@pytest.mark.parametrize("column, message", [
    (["a", "b"] * 4, "column 'x' of X is of object, allowed are numbers; boosted trees take texts as categories where"),
    (numpy.array([1j] * 8), "column 'x' of X is of complex128"),
])
def test_columns_that_are_no_numbers_are_refused(column, message):
    pandas = pytest.importorskip("pandas")
    with pytest.raises(ValueError, match=message):
        GBTClassifier().fit(pandas.DataFrame({"good": GOOD_X[:, 0], "x": column}), GOOD_Y)


def test_texts_of_which_few_differ_are_categories_where_that_is_asked_for():
    pandas = pytest.importorskip("pandas")
    rng = numpy.random.default_rng(3)
    town, remark = rng.choice(["Bari", "Pisa", "Rome"], 90), [f"remark {i}" for i in range(90)]
    frame = pandas.DataFrame({"x": rng.normal(size=90), "town": town, "kind": [None, "a", "b"] * 30})
    y = (town == "Rome").astype(int)
    as_categories = frame.astype({"town": "category", "kind": "category"})
    wanted = GBTClassifier(n_estimators=20).fit(as_categories, y)
    found = GBTClassifier(n_estimators=20, categorical_features="auto").fit(frame, y)
    assert found.predict_proba(frame).tolist() == wanted.predict_proba(as_categories).tolist()
    assert found.score(frame, y) == 1
    GBTClassifier(n_estimators=1, categorical_features="auto").fit(GOOD_X, GOOD_Y)
    with pytest.raises(ValueError, match="column 'remark' of X has 90 different texts in 90 rows, too many for categorical_features='auto'"):
        GBTClassifier(categorical_features="auto").fit(frame.assign(remark=remark), y)
    with pytest.raises(ValueError, match="column 'mixed' of X is of object"):
        GBTClassifier(categorical_features="auto").fit(frame.assign(mixed=[1, "a", "b"] * 30), y)
    with pytest.raises(TypeError, match="allowed is a list of names or positions, a mask, or 'auto'"):
        GBTClassifier(categorical_features="all").fit(frame, y)


def test_frames_with_names_that_do_not_fit_are_refused():
    pandas = pytest.importorskip("pandas")
    with pytest.raises(ValueError, match="two columns named 'a'"):
        GBTClassifier().fit(pandas.DataFrame(GOOD_X, columns=list("aab")), GOOD_Y)
    estimator = fitted(pandas.DataFrame(GOOD_X, columns=list("abc")), GOOD_Y)
    with pytest.raises(ValueError, match="feature names should match"):
        estimator.predict(pandas.DataFrame(GOOD_X, columns=list("acd")))


def test_the_core_refuses_what_the_estimators_would_not_give_it():
    rows = _core.Rows(8, ["a", "b", "c"], {}, "y")
    with pytest.raises(ValueError, match="do not fit"):
        rows.set_features(GOOD_X[:5], 0, 1)
    with pytest.raises(ValueError, match="do not fit"):
        rows.set_features(GOOD_X, 1, 1)
    with pytest.raises(ValueError, match="do not fit"):
        rows.set_weight(GOOD_Y, 1)
    with pytest.raises(TypeError, match="an array of complex128"):
        rows.set_features(GOOD_X * 1j, 0, 1)
    with pytest.raises(KeyError, match="options"):
        _core.train(rows, None, "logistic", {"trees": 5}, None, 1, None)
