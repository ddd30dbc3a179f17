// XGBoost's linear models (gblinear).
#pragma once

#include <span>

#include "podere/base/json.h"
#include "podere/neural/model.h"
#include "podere/tree/objective.h"

namespace podere::exchange {

/// The network without hidden layers that predicts what gblinear does: a missing value adds nothing. `booster` is the
/// "gradient_booster"; of `base_margins` [n_outputs] XGBoost takes the first. Throws InputError or Json::exception if
/// weights are absent or too many, and for objectives whose predictions are exponentials, which networks do not have.
neural::Model linear_from_xgboost(const SortedJson& booster, const table::Schema& schema, tree::Objective objective,
                                  std::span<const double> base_margins);

}  // namespace podere::exchange
