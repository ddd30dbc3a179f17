#include "podere/jobs/measures.h"

#include "podere/evaluate/classification.h"
#include "podere/evaluate/regression.h"
#include "podere/table/weighted_labels.h"

namespace podere::jobs {
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

}  // namespace

Json measure(const Communicator& comm, const algorithm::Model& model, const std::vector<float>& predictions,
             const table::Table& table, std::size_t roc_points) {
  const std::size_t n_outputs = model.n_outputs();
  Json result;
  switch (model.label_rules().kind) {
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
      if (const auto quantile = model.quantile()) {
        result["pinball_loss"] = evaluate::pinball_loss(comm, predictions, table.label(), table.weight(), *quantile);
      }
      break;
  }
  result.update(measure_numbers(comm, predictions, table));
  return result;
}

}  // namespace podere::jobs
