"""Podere's estimators as stages of Spark's pipelines."""
import numpy
import podere
import podere.spark
import pytest
from pyspark.ml import Pipeline, PipelineModel
from pyspark.ml.evaluation import (
    BinaryClassificationEvaluator,
    ClusteringEvaluator,
    MulticlassClassificationEvaluator,
    RegressionEvaluator,
)
from pyspark.ml.feature import VectorAssembler
from pyspark.ml.tuning import CrossValidator, ParamGridBuilder
from pyspark.sql import functions as F

WORKERS_HAVE_PODERE = True
NAMES = ["a", "b", "c"]


@pytest.fixture(scope="module")
def rows(spark):
    """1,000 rows in 3 partitions; two and three classes, and a number, that follow from features."""
    random = numpy.random.default_rng(2)
    X = random.normal(size=(1000, 3)).round(3)
    number = X[:, 0] - 2 * X[:, 1] + random.normal(scale=0.3, size=1000)
    frame = [(*map(float, x), float(n), int(n > 0), int(numpy.digitize(n, [-1, 1])), float(i % 3 + 1))
             for i, (x, n) in enumerate(zip(X, number))]
    return spark.createDataFrame(frame, "a double, b double, c double, number double, two int, three int, w double"
                                 ).repartition(3).cache()


@pytest.fixture(scope="module")
def assembler():
    return VectorAssembler(inputCols=NAMES, outputCol="features")


def vectors_of(df, name):
    return numpy.array([row[0].toArray() for row in df.select(name).collect()])


def test_a_classifier_in_a_pipeline_is_the_model_of_the_same_rows(rows, assembler, session):
    trees = podere.GBTClassifier(n_estimators=10, max_depth=3)
    stage = podere.spark.estimator(trees, session, labelCol="two", weightCol="w")
    model = Pipeline(stages=[assembler, stage]).fit(rows)
    scored = model.transform(rows)
    assert scored.columns == [*rows.columns, "features", "rawPrediction", "probability", "prediction"]
    frame = rows.toPandas()
    expected = session.fit(trees, session.put(frame[NAMES], frame["two"], frame["w"]))
    assert numpy.array_equal(vectors_of(scored, "probability"), expected.predict_proba(frame[NAMES]))
    assert numpy.array_equal(vectors_of(scored, "rawPrediction")[:, 1], expected.decision_function(frame[NAMES]))
    assert scored.toPandas()["prediction"].tolist() == expected.predict(frame[NAMES]).astype(float).tolist()
    assert model.stages[-1].estimator.feature_importances_.argmax() == 1
    assert BinaryClassificationEvaluator(labelCol="two").evaluate(scored) > 0.9
    assert not session.tables  # rows that were sent are dropped


def test_cross_validation_chooses_among_its_parameters_and_sends_rows_once_a_fold(rows, assembler, session):
    stage = podere.spark.estimator(podere.GBTClassifier(n_estimators=5), session, labelCol="three")
    grid = ParamGridBuilder().addGrid(stage.max_depth, [1, 4]).build()
    evaluator = MulticlassClassificationEvaluator(labelCol="three", metricName="logLoss")
    before = len([job for job in session.jobs if job["kind"] == "receive"])
    found = CrossValidator(estimator=stage, estimatorParamMaps=grid, evaluator=evaluator, numFolds=2, seed=1,
                           parallelism=2).fit(assembler.transform(rows))
    assert len([job for job in session.jobs if job["kind"] == "receive"]) == before + 3
    assert numpy.argmin(found.avgMetrics) == 1
    assert found.bestModel.estimator.get_params()["max_depth"] == 4
    assert vectors_of(found.transform(assembler.transform(rows)), "probability").shape == (1000, 3)


def test_classes_that_lack_among_the_labels_have_their_place_in_vectors(rows, assembler, session):
    df = assembler.transform(rows.where("three != 1"))
    scored = podere.spark.estimator(podere.MLPClassifier(hidden_layer_sizes=4, iterations=20), session, labelCol="three"
                                    ).fit(df).transform(df)
    probability, raw = vectors_of(scored, "probability"), vectors_of(scored, "rawPrediction")
    assert probability.shape == (df.count(), 3) and not probability[:, 1].any() and numpy.isneginf(raw[:, 1]).all()
    assert MulticlassClassificationEvaluator(labelCol="three", metricName="accuracy").evaluate(scored) > 0.95


def test_regressors_clusters_and_components_are_stages_too(rows, assembler, session):
    df = assembler.transform(rows)
    X = rows.select(*NAMES).toPandas()

    def scored_by(estimator, **columns):
        model = podere.spark.estimator(estimator, session, labelCol="number", **columns).fit(df)
        return model.estimator, model.transform(df)

    fitted, scored = scored_by(podere.GBTRegressor(n_estimators=20), predictionCol="guess")
    assert RegressionEvaluator(predictionCol="guess", labelCol="number", metricName="r2").evaluate(scored) > 0.9
    assert numpy.array_equal(scored.toPandas()["guess"], fitted.predict(X))
    fitted, scored = scored_by(podere.KMeans(n_clusters=3))
    assert scored.toPandas()["prediction"].tolist() == fitted.predict(X).tolist()
    assert 0 < ClusteringEvaluator().evaluate(scored) < 1
    fitted, scored = scored_by(podere.GaussianMixture(n_components=2), predictionCol="")
    assert "prediction" not in scored.columns
    assert numpy.array_equal(vectors_of(scored, "probability"), fitted.predict_proba(X))
    fitted, scored = scored_by(podere.PCA(n_components=2), outputCol="scores")
    assert numpy.array_equal(vectors_of(scored, "scores"), fitted.transform(X))


def test_arrays_with_missing_values_are_features(rows, session):
    df = rows.select(F.array(F.when(F.col("a") > 0, F.col("a")), "b").alias("features"), F.col("two").alias("label"))
    scored = podere.spark.estimator(podere.GBTClassifier(n_estimators=5), session).fit(df).transform(df)
    assert MulticlassClassificationEvaluator(metricName="accuracy").evaluate(scored) > 0.8


def test_a_pipeline_that_was_written_predicts_the_same_when_it_is_read(rows, assembler, session, tmp_path):
    stage = podere.spark.estimator(podere.GBTClassifier(n_estimators=3), session, labelCol="three", probabilityCol="p")
    model = Pipeline(stages=[assembler, stage]).fit(rows)
    model.write().overwrite().save(str(tmp_path / "model"))
    again = PipelineModel.load(str(tmp_path / "model"))
    values = [vectors_of(known.transform(rows), "p") for known in (model, again)]
    assert numpy.array_equal(*values) and again.uid == model.uid and again.stages[1].uid == stage.uid
    for ours in (podere.Ridge(), podere.KernelRidge(n_components=20)):
        fitted = podere.spark.estimator(ours, session, labelCol="number").fit(assembler.transform(rows))
        path = str(tmp_path / type(ours).__name__)
        fitted.save(path)
        numbers = [[row.prediction for row in known.transform(assembler.transform(rows)).collect()]
                   for known in (fitted, type(fitted).load(path))]
        assert numbers[0] == numbers[1] and len(set(numbers[0])) > 1
    pca = podere.spark.estimator(podere.PCA(n_components=2), session).fit(assembler.transform(rows))
    with pytest.raises(ValueError, match="a model of PCA cannot be written, allowed are GBTClassifier"):
        pca.save(str(tmp_path / "pca"))


@pytest.mark.parametrize("label, message", [
    ("cast(two as string)", "labelCol is 'label', which is of string, allowed are classes numbered from 0: StringIndexer"),
    ("two = 1", "labelCol is 'label', which is of boolean"),
    ("two - 1", "has the class -1, allowed are classes numbered from 0 to 999"),
    ("two * 5000", "has the class 5000"),
    ("number", "has values such as .*: allowed for classes are whole numbers"),
])
def test_labels_that_spark_cannot_evaluate_are_refused(rows, assembler, session, label, message):
    df = assembler.transform(rows).withColumn("label", F.expr(label))
    with pytest.raises(ValueError, match=message):
        podere.spark.estimator(podere.GBTClassifier(n_estimators=2), session).fit(df)


def test_columns_and_estimators_that_do_not_fit_are_named(rows, assembler, session):
    with pytest.raises(TypeError, match="estimator is ImageFeatures, allowed are classifiers"):
        podere.spark.estimator(podere.ImageFeatures.__new__(podere.ImageFeatures), session)
    df = assembler.transform(rows)
    with pytest.raises(ValueError, match="featuresCol is 'other', which is no column"):
        podere.spark.estimator(podere.KMeans(), session, featuresCol="other").fit(df)
    model = podere.spark.estimator(podere.KMeans(n_clusters=2), session).fit(df)
    with pytest.raises(ValueError, match="predictionCol is 'a', which df has already"):
        model.transform(df, {model.predictionCol: "a"})
    with pytest.raises(ValueError, match="featuresCol is 'features', which is no column"):
        model.transform(rows)
    for other in ("array(a, b)", "null", "array(a, b, c, a, b, c)"):
        with pytest.raises(Exception, match="podere: column 'features' has a null, or another number of features than the"):
            model.transform(rows.withColumn("features", F.expr(f"cast({other} as array<double>)"))).collect()
