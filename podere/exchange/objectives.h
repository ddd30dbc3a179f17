// What other programs call the objectives that Podere has, and those whose predictions Podere has.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "podere/tree/objective.h"

namespace podere::exchange {

/// An objective of another program, whose trees predict what Podere's do with `objective`. Its loss may be another one.
struct ForeignObjective {
  const char* name;
  tree::Objective objective;
  const char* instead = nullptr;  ///< not null: its predictions are none of Podere's, and this is what to do
};

std::span<const ForeignObjective> xgboost_objectives();
std::span<const ForeignObjective> lightgbm_objectives();
std::span<const ForeignObjective> catboost_objectives();

/// The one whose predictions are margins.
tree::Objective objective_of_margins();

/// Throws InputError for an objective of which Podere does not have the predictions: `whole` says what it is.
tree::Objective objective_called(std::string_view name, std::string_view whole,
                                 std::span<const ForeignObjective> objectives);

/// "0.5", "0.2,0.8" or "[0.2,0.8]"; nothing for other texts.
std::optional<std::vector<double>> numbers_in(std::string_view text);
/// The same of quantiles. Throws InputError unless all are above 0 and below 1.
std::vector<double> quantiles_in(std::string_view text);
/// Throws InputError unless 0 < `quantile` < 1.
double checked_quantile(double quantile);

}  // namespace podere::exchange
