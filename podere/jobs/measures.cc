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

Json measure_classes(const Communicator& comm, std::span<const float> probabilities, std::size_t n_classes,
                     const MeasuredRows& rows) {
  const auto predicted = evaluate::predicted_classes(probabilities, n_classes, rows.labels.size());
  const auto matrix = evaluate::confusion_matrix(comm, predicted, n_classes, rows.labels, rows.weights);
  return {{"accuracy", matrix.accuracy()}, {"confusion", to_json(matrix)}};
}

/// `probabilities` are of class 1. Of two outputs that are as likely the first counts.
Json measure_two_classes(const Communicator& comm, std::span<const float> probabilities, const MeasuredRows& rows,
                         std::size_t roc_points) {
  Json result = {{"log_loss", evaluate::log_loss(comm, probabilities, rows.labels, rows.weights)}};
  if (roc_points > 0) {
    const auto roc = evaluate::roc(comm, probabilities, rows.labels, rows.weights, roc_points);
    result["auc"] = roc.auc;
    result["roc"] = Json::array();
    for (const auto& point : roc.points) {
      result["roc"].push_back({point.threshold, point.false_positive_rate, point.true_positive_rate});
    }
  } else {
    result["auc"] = evaluate::auc(comm, probabilities, rows.labels, rows.weights);
  }
  result.update(measure_classes(comm, rows.predictions, 2, rows));
  return result;
}

Json measure_many_classes(const Communicator& comm, std::size_t n_classes, const MeasuredRows& rows) {
  Json result = {{"log_loss", evaluate::multi_log_loss(comm, rows.predictions, n_classes, rows.labels, rows.weights)}};
  result.update(measure_classes(comm, rows.predictions, n_classes, rows));
  return result;
}

Json measure_numbers(const Communicator& comm, const MeasuredRows& rows) {
  const auto& [predictions, labels, weights] = rows;
  return {{"root_mean_squared_error", evaluate::root_mean_squared_error(comm, predictions, labels, weights)},
          {"mean_absolute_error", evaluate::mean_absolute_error(comm, predictions, labels, weights)},
          {"r2", evaluate::r2(comm, predictions, labels, weights)}};
}

}  // namespace

Json measure(const Communicator& comm, const algorithm::Model& model, const MeasuredRows& rows,
             std::size_t roc_points) {
  if (const auto probabilities = probabilities_of_class_1(model, rows)) {
    return measure_two_classes(comm, *probabilities, rows, roc_points);
  }
  Json result;
  switch (model.label_rules().kind) {
    case table::LabelKind::kTwoClasses:
    case table::LabelKind::kClasses:
      return measure_many_classes(comm, model.n_outputs(), rows);
    case table::LabelKind::kCounts:
      result["mean_poisson_deviance"] =
          evaluate::mean_poisson_deviance(comm, rows.predictions, rows.labels, rows.weights);
      break;
    case table::LabelKind::kNumbers:
      if (const auto quantile = model.quantile()) {
        result["pinball_loss"] = evaluate::pinball_loss(comm, rows.predictions, rows.labels, rows.weights, *quantile);
      }
      break;
    case table::LabelKind::kNone:
      return Json::object();
  }
  result.update(measure_numbers(comm, rows));
  return result;
}

std::optional<std::span<const float>> probabilities_of_class_1(const algorithm::Model& model,
                                                               const MeasuredRows& rows) {
  switch (model.label_rules().kind) {
    case table::LabelKind::kTwoClasses:
      return rows.predictions;
    case table::LabelKind::kClasses:
      if (model.n_outputs() == 2) return rows.predictions.subspan(rows.labels.size());
      return std::nullopt;
    default:
      return std::nullopt;
  }
}

}  // namespace podere::jobs
