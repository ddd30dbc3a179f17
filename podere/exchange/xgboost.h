// XGBoost's models: JSON, UBJSON, and the binary format before them.
#pragma once

#include <string>
#include <variant>

#include "podere/exchange/target.h"
#include "podere/neural/model.h"
#include "podere/tree/model.h"

namespace podere::exchange {

using XgboostModel = std::variant<tree::Model, neural::Model>;

/// The model in XGBoost's JSON, UBJSON or binary `text` (versions 0.90 to 3), with the same margins. XGBoost compares
/// float32 values with float32 thresholds as Podere does, so rows take the same way, and sums of leaf values differ by
/// rounding of the base score at most. Of a model that early stopping ended, the rounds up to the best one are read, as
/// XGBoost's scikit-learn classes do. Throws InputError for text that is not a whole model, for numbers that lead out
/// of bounds, and, by name, for what Podere does not have: other objectives. Of several targets or quantiles the chosen
/// one is read. Vector leaves become a tree for each output. The weights of dart are multiplied into its leaves.
/// Source: https://xgboost.readthedocs.io/en/stable/tutorials/saving_model.html and doc/model.schema there.
/// A linear model (gblinear) becomes a network without hidden layers (xgboost_linear.h).
XgboostModel any_from_xgboost(const std::string& text, Target target = std::nullopt);
/// The same of trees. Throws InputError for a linear model.
tree::Model from_xgboost(const std::string& text, Target target = std::nullopt);

/// Inverse of from_xgboost: JSON as XGBoost 1.7 writes it, which later versions read too. Base margins are added to the
/// leaves of the first round, since XGBoost keeps a base score as a float32 probability, which is too coarse near 1 and
/// one for all classes. The sums then are the same, bit for bit.
std::string to_xgboost(const tree::Model& model);
/// The same as UBJSON, which 1.6 and later read.
std::string to_xgboost_ubjson(const tree::Model& model);

}  // namespace podere::exchange
