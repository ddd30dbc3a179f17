// How good a model is on a table.
#include "podere/base/clock.h"
#include "podere/evaluate/classification.h"
#include "podere/evaluate/regression.h"
#include "podere/session/jobs.h"
#include "podere/table/features.h"
#include "podere/tree/labels.h"
#include "podere/tree/predict.h"

namespace podere::session {
namespace {

using comm::Communicator;
using tree::Objective;

/// Of rows as they are: weights of classes are a matter of training.
void check_labels(const table::Table& table, const tree::Model& model, const Communicator& comm) {
  tree::Options options = model.options;
  options.class_weight.clear();
  options.scale_pos_weight = 1;
  tree::weigh_labels(table, {}, 0, options, "evaluation", comm);
}

Json to_json(const evaluate::ConfusionMatrix& matrix) {
  Json rows = Json::array();
  for (auto row = matrix.counts.begin(); row != matrix.counts.end(); row += static_cast<long>(matrix.n_classes)) {
    rows.push_back(std::vector<double>(row, row + static_cast<long>(matrix.n_classes)));
  }
  return rows;
}

Json measure_classes(const Communicator& comm, const std::vector<float>& probabilities, std::size_t n_classes,
                     const table::Table& table) {
  const auto predicted = evaluate::predicted_classes(probabilities, n_classes, table.n_rows());
  const auto matrix = evaluate::confusion_matrix(comm, predicted, n_classes, table.label(), table.weight());
  return {{"accuracy", matrix.accuracy()}, {"confusion", to_json(matrix)}};
}

Json measure_two_classes(const Communicator& comm, const std::vector<float>& probabilities, const table::Table& table,
                         std::size_t roc_points) {
  Json result = {{"log_loss", evaluate::log_loss(comm, probabilities, table.label(), table.weight())}};
  if (roc_points > 0) {
    const auto roc = evaluate::roc(comm, probabilities, table.label(), table.weight(), roc_points);
    result["auc"] = roc.auc;
    result["roc"] = Json::array();
    for (const auto& point : roc.points) {
      result["roc"].push_back({point.threshold, point.false_positive_rate, point.true_positive_rate});
    }
  } else {
    result["auc"] = evaluate::auc(comm, probabilities, table.label(), table.weight());
  }
  result.update(measure_classes(comm, probabilities, 2, table));
  return result;
}

Json measure_many_classes(const Communicator& comm, const std::vector<float>& probabilities, std::size_t n_classes,
                          const table::Table& table) {
  Json result = {{"log_loss", evaluate::multi_log_loss(comm, probabilities, n_classes, table.label(), table.weight())}};
  result.update(measure_classes(comm, probabilities, n_classes, table));
  return result;
}

Json measure_numbers(const Communicator& comm, const std::vector<float>& predictions, const table::Table& table) {
  return {
      {"root_mean_squared_error", evaluate::root_mean_squared_error(comm, predictions, table.label(), table.weight())},
      {"mean_absolute_error", evaluate::mean_absolute_error(comm, predictions, table.label(), table.weight())}};
}

/// What fits the objective, that which training makes least first. `roc_points` are for two classes. Collective.
Json measure(const Communicator& comm, const tree::Model& model, const std::vector<float>& predictions,
             const table::Table& table, std::size_t roc_points) {
  Json result;
  switch (model.options.objective) {
    case Objective::kBinaryLogistic:
      return measure_two_classes(comm, predictions, table, roc_points);
    case Objective::kSoftmax:
      return measure_many_classes(comm, predictions, model.n_outputs(), table);
    case Objective::kSquaredError:
      break;
    case Objective::kPoisson:
      result["mean_poisson_deviance"] =
          evaluate::mean_poisson_deviance(comm, predictions, table.label(), table.weight());
      break;
    case Objective::kQuantile:
      result["pinball_loss"] =
          evaluate::pinball_loss(comm, predictions, table.label(), table.weight(), model.options.quantile);
      break;
  }
  result.update(measure_numbers(comm, predictions, table));
  return result;
}

}  // namespace

Json run(const EvaluateJob& job, const Workplace& at) {
  const comm::Communicator& comm = at.comm;
  const int n_threads = at.n_threads;
  const ModelAndTable loaded = load_model_and_table(job.model, job.rounds, job.table, true, at);
  const tree::Model& model = loaded.model;
  const table::Table& table = *loaded.table;
  const Stopwatch watch;
  const std::size_t n_rounds = model.n_rounds();
  const std::size_t n_stages = job.staged > 0 ? (n_rounds + job.staged - 1) / job.staged : 1;
  std::size_t n_measured = 0;
  at.progress.report({"evaluate", 0, n_stages, {}});
  std::vector<std::span<const float>> columns;
  check_labels(table, model, comm);
  comm.agree([&] { columns = table::feature_columns(model.schema, table); });

  Json result = {{"rows", table.n_global_rows()}, {"objective", tree::to_string(model.options.objective)}};
  // A stage goes on from the margins of the one before.
  std::vector<float> margins = tree::start_margins(model.base_margin, table.n_rows());
  const auto measure_next = [&](std::size_t first_round, std::size_t last_round, std::size_t roc_points) {
    at.progress.report({"evaluate", n_measured++, n_stages, {}});
    const std::size_t n_outputs = model.n_outputs();
    const auto trees = std::span(model.trees).subspan(first_round * n_outputs, (last_round - first_round) * n_outputs);
    tree::add_trees(trees, n_outputs, columns, n_threads, margins);
    return measure(comm, model, tree::predictions_of(model, margins, n_threads), table, roc_points);
  };
  std::size_t round = 0;
  Json stages = Json::array();
  for (; job.staged > 0 && round + job.staged < n_rounds; round += job.staged) {
    stages.push_back({{"rounds", round + job.staged}});
    stages.back().update(measure_next(round, round + job.staged, 0));
  }
  const Json last = measure_next(round, n_rounds, job.roc_points);
  result.update(last);
  if (job.staged > 0) {
    stages.push_back({{"rounds", n_rounds}});
    stages.back().update(last);
    for (Json& stage : stages) {
      for (const char* key : {"confusion", "roc"}) stage.erase(key);
    }
    result["stages"] = std::move(stages);
  }
  result["unknown_categories"] = loaded.unknown;
  result["load_seconds"] = loaded.load_seconds;
  result["evaluate_seconds"] = watch.seconds();
  result.update(resources(comm, n_threads));
  return result;
}

}  // namespace podere::session
