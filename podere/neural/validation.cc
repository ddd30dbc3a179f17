#include "podere/neural/validation.h"

#include "podere/base/error.h"
#include "podere/evaluate/classification.h"
#include "podere/evaluate/regression.h"
#include "podere/neural/predict.h"

namespace podere::neural {

ValidationRows pick_rows(const FeatureRows& features, const table::LabeledRows& rows,
                         std::span<const std::uint8_t> is_training) {
  ValidationRows validation{&features, {}, {}, {}};
  for (std::size_t i = 0; i < features.n_rows(); ++i) {
    if (!is_training.empty() && is_training[i] != 0) continue;
    validation.picked.push_back(static_cast<std::uint32_t>(i));
    validation.label.push_back(rows.label[i]);
    validation.weight.push_back(rows.weight_of(i));
  }
  return validation;
}

Quality measure(const Model& model, std::span<const float> weights, const ValidationRows& rows,
                const comm::Communicator& comm, int n_threads) {
  const std::vector<float> predictions = predictions_of(
      model, outputs_of_rows(model.layout, model.options, weights, *rows.features, rows.picked, n_threads), n_threads);
  const auto accuracy = [&](std::size_t n_classes) {
    const std::vector<std::int32_t> predicted = evaluate::predicted_classes(predictions, n_classes, rows.label.size());
    return evaluate::confusion_matrix(comm, predicted, n_classes, rows.label, rows.weight).accuracy();
  };
  switch (model.options.loss) {
    case Loss::kBinaryCrossEntropy:
      return {evaluate::log_loss(comm, predictions, rows.label, rows.weight), accuracy(2),
              evaluate::auc(comm, predictions, rows.label, rows.weight)};
    case Loss::kCrossEntropy:
      return {evaluate::multi_log_loss(comm, predictions, model.n_outputs(), rows.label, rows.weight),
              accuracy(model.n_outputs()), std::nullopt};
    case Loss::kSquaredError: {
      const double root = evaluate::root_mean_squared_error(comm, predictions, rows.label, rows.weight);
      return {root * root / 2, std::nullopt, std::nullopt};
    }
  }
  throw Error("unknown loss");
}

}  // namespace podere::neural
