// How good a model is on a table.
#include "podere/session/evaluate_job.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "podere/base/clock.h"
#include "podere/evaluate/classification.h"
#include "podere/evaluate/regression.h"
#include "podere/session/job_context.h"
#include "podere/session/training_label.h"
#include "podere/table/features.h"
#include "podere/tree/predict.h"

namespace podere::session {
namespace {

using comm::Communicator;

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
Json measure(const Communicator& comm, const Model& model, const std::vector<float>& predictions,
             const table::Table& table, std::size_t roc_points) {
  const std::size_t n_outputs = n_outputs_of(model);
  Json result;
  switch (label_rules_of(model).kind) {
    case table::LabelKind::kTwoClasses:
      return measure_two_classes(comm, predictions, table, roc_points);
    case table::LabelKind::kClasses: {
      if (n_outputs != 2) return measure_many_classes(comm, predictions, n_outputs, table);
      const std::vector<float> of_class_1(predictions.begin() + static_cast<long>(table.n_rows()), predictions.end());
      return measure_two_classes(comm, of_class_1, table, roc_points);
    }
    case table::LabelKind::kCounts:
      result["mean_poisson_deviance"] =
          evaluate::mean_poisson_deviance(comm, predictions, table.label(), table.weight());
      break;
    case table::LabelKind::kNumbers:
      if (const auto* trees = std::get_if<tree::Model>(&model);
          trees != nullptr && trees->options.objective == tree::Objective::kQuantile) {
        result["pinball_loss"] =
            evaluate::pinball_loss(comm, predictions, table.label(), table.weight(), trees->options.quantile);
      }
      break;
  }
  result.update(measure_numbers(comm, predictions, table));
  return result;
}

/// Measures of `model` after every `staged` rounds but the last ones, and the margins after those, from which the last
/// stage goes on.
class Stages {
 public:
  Stages(const tree::Model& model, const table::Table& table, int n_threads)
      : model_(model),
        columns_(table::feature_columns(model.schema, table)),
        n_threads_(n_threads),
        margins_(tree::start_margins(model.base_margin, table.n_rows())) {}

  /// Adds the rounds up to `last`.
  const std::vector<float>& add_rounds(std::size_t last) {
    const std::size_t n_outputs = model_.n_outputs();
    const auto trees = std::span(model_.trees).subspan(round_ * n_outputs, (last - round_) * n_outputs);
    tree::add_trees(trees, n_outputs, columns_, n_threads_, margins_);
    round_ = last;
    return margins_;
  }

 private:
  const tree::Model& model_;
  std::vector<std::span<const float>> columns_;
  int n_threads_;
  std::vector<float> margins_;
  std::size_t round_ = 0;
};

}  // namespace

Json run(const EvaluateJob& job, const JobContext& context) {
  const comm::Communicator& comm = context.comm;
  const int n_threads = context.n_threads;
  const ModelAndTable loaded = load_model_and_table(job.model, job.rounds, job.table, true, context);
  const table::Table& table = *loaded.table;
  const Stopwatch watch;
  const table::LabelRules rules = label_rules_of(loaded.model);
  table::weigh_labels(table, {}, 0, rules, "evaluation", comm);

  Json result = {{"label", describe_label(job.table, table, loaded.facts.label, rules.kind, comm)},
                 {"rows", table.n_global_rows()},
                 {"objective", objective_of(loaded.model)}};
  if (job.staged == 0) {
    context.progress.report({"evaluate", 0, 1, {}});
    std::vector<float> predictions;
    comm.agree(
        [&] { predictions = predictions_of(loaded.model, margins_of(loaded.model, table, n_threads), n_threads); });
    result.update(measure(comm, loaded.model, predictions, table, job.roc_points));
  } else {
    const tree::Model& model = need_trees(loaded.model, job.model);
    const std::size_t n_rounds = model.n_rounds();
    const std::size_t n_stages = std::max<std::size_t>(1, (n_rounds + job.staged - 1) / job.staged);
    std::optional<Stages> margins;
    comm.agree([&] { margins.emplace(model, table, n_threads); });
    Json stages = Json::array();
    for (std::size_t stage = 0; stage < n_stages; ++stage) {
      context.progress.report({"evaluate", stage, n_stages, {}});
      const std::size_t last = std::min((stage + 1) * job.staged, n_rounds);
      const bool is_last = stage + 1 == n_stages;
      Json measures = measure(comm, loaded.model, tree::predictions_of(model, margins->add_rounds(last), n_threads),
                              table, is_last ? job.roc_points : 0);
      if (is_last) result.update(measures);
      for (const char* key : {"confusion", "roc"}) measures.erase(key);
      stages.push_back({{"rounds", last}});
      stages.back().update(measures);
    }
    result["stages"] = std::move(stages);
  }
  result["unknown_categories"] = loaded.facts.unknown;
  result["load_seconds"] = loaded.load_seconds;
  result["evaluate_seconds"] = watch.seconds();
  result.update(resources(comm, n_threads));
  return result;
}

}  // namespace podere::session
