// How good predictions are, by what a model is for.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "podere/algorithm/model.h"
#include "podere/comm/communicator.h"
#include "podere/jobs/job.h"

namespace podere::jobs {

/// Rows of this rank that a model is measured on.
struct MeasuredRows {
  std::span<const float> predictions;  ///< of the model [n_outputs x n_rows], output by output
  std::span<const float> labels;       ///< [n_rows]
  std::span<const float> weights;      ///< [n_rows], or empty: all 1
};

/// Measures of `model` that fit its objective, that which training minimized first. `roc_points` (0: none) are for two
/// classes. Collective. Throws InputError, on all ranks, for labels of which there are no measures.
Json measure(const comm::Communicator& comm, const algorithm::Model& model, const MeasuredRows& rows,
             std::size_t roc_points);

/// Whether there are two classes: then the probability of class 1 of each row, one of the model's outputs.
std::optional<std::span<const float>> probabilities_of_class_1(const algorithm::Model& model, const MeasuredRows& rows);

}  // namespace podere::jobs
