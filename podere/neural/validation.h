// Validation rows of a training run.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "podere/comm/communicator.h"
#include "podere/neural/model.h"
#include "podere/neural/rows.h"
#include "podere/table/weighted_labels.h"

namespace podere::neural {

/// How good weights are on rows that they were not trained on.
struct Quality {
  double loss;                     ///< weighted mean
  std::optional<double> accuracy;  ///< of classes
  std::optional<double> auc;       ///< of two classes
};

struct ValidationRows {
  const FeatureRows* features;        ///< outlives this
  std::vector<std::uint32_t> picked;  ///< places in `features`
  std::vector<float> label;           ///< of these
  std::vector<float> weight;          ///< of these
};

/// The rows here that are not trained on: `is_training` [n_rows] is 0 for them, or empty where none is.
ValidationRows pick_rows(const FeatureRows& features, const table::LabeledRows& rows,
                         std::span<const std::uint8_t> is_training);

/// Of `weights` in the place of those that `model` has. The same on every rank. Collective.
Quality measure(const Model& model, std::span<const float> weights, const ValidationRows& rows,
                const comm::Communicator& comm, int n_threads);

}  // namespace podere::neural
