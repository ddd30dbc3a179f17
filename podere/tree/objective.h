// What sets one objective apart from the others.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "podere/comm/communicator.h"
#include "podere/table/weighted_labels.h"
#include "podere/tree/gradient_kernel.h"
#include "podere/tree/options.h"

namespace podere::tree {

/// How a margin becomes a prediction.
enum class Link : std::uint8_t {
  kIdentity,     ///< it is the prediction
  kProbability,  ///< it is the probability of a class, but for rounding
  kLogit,        ///< it is the log odds of a class
  kLog,          ///< it is the logarithm of the mean
  kSoftmax,      ///< one for each class; probabilities are their softmax
};

/// Predictions and what they are compared with.
struct Predictions {
  std::span<const float> values;  ///< [n_outputs x n_rows]
  std::size_t n_outputs;
  std::span<const float> label;   ///< [n_rows]
  std::span<const float> weight;  ///< [n_rows], or empty
};

/// How good predictions are, by a measure of its own for each objective.
struct Measure {
  const char* name;
  bool is_loss;  ///< less is better
  /// Collective.
  double (*of)(const comm::Communicator& comm, const Predictions& predictions, const Options& options);
};

/// Largest derivatives of a row by its margin, as multiples of the largest weight; 0: unbounded, found from the rows.
struct DerivativeBounds {
  double g;
  double h;
};

/// A new objective is a name in options.h, a line of the table in objective.cc and a kernel in gradient_kernel.cc, and
/// what other programs call it a line in exchange/objectives.cc. Nothing else names an objective. Those of imported
/// models alone have no gradients, bounds and best margins.
struct ObjectiveTraits {
  Objective objective;
  table::LabelKind labels;
  Link link;
  double (*gradients)(const GradientBlock& block);
  DerivativeBounds (*bounds)(const Options& options);
  /// The margins that fit best without trees. [n_outputs] Collective. Throws InputError, on all ranks, where there are
  /// none.
  std::vector<double> (*best_margins)(const table::LabeledRows& rows, const Options& options,
                                      const comm::Communicator& comm);
  Measure measure;
  bool has_quantile;        ///< Options::quantile counts, and leaf values are quantiles of the labels
  bool has_max_delta_step;  ///< Options::max_delta_step counts
  const char* xgboost;      ///< what a model is written as; null if XGBoost has none

  /// Labels are classes, predictions probabilities.
  bool has_classes() const { return labels == table::LabelKind::kTwoClasses || labels == table::LabelKind::kClasses; }
  /// Each class has trees and a margin of its own.
  bool has_output_per_class() const { return labels == table::LabelKind::kClasses; }
  bool is_trained() const { return gradients != nullptr; }
};

const ObjectiveTraits& traits_of(Objective objective);
std::span<const ObjectiveTraits> all_objectives();

/// The names of those that are trained.
std::vector<std::string> trained_objectives();

/// One of them by its name. Throws InputError for others.
Objective trained_objective(const std::string& name);
/// Throws InputError for an objective of imported models alone.
void check_is_trained(Objective objective);

/// Trees of a round, and margins of a row.
std::size_t n_outputs_of(const Options& options);

/// Classes of labels; 0 for numbers, or if they are not counted yet.
std::size_t n_classes_of(const Options& options);

}  // namespace podere::tree
