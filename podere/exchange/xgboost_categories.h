// The categories of XGBoost's files from version 3.1 on.
#pragma once

#include <limits>

#include "podere/base/json.h"
#include "podere/exchange/name_categories.h"

namespace podere::exchange {

/// The threshold that means an empty set of categories, which XGBoost does not take: all codes are below it.
inline constexpr float kAboveAllCodes = std::numeric_limits<float>::max();

/// What the codes of the categorical features of `schema` mean, from the model of a "gradient_booster". Nothing of
/// features, and files, that do not say it. Throws InputError or Json::exception for what is not whole.
CategoriesByCode categories_from_xgboost(const SortedJson& model, const table::Schema& schema);

/// Inverse: the value of "cats". Categories that are all whole numbers are written as numbers, as pandas reads them,
/// others as texts. Features with texts beyond ASCII, which XGBoost miscounts, are left without.
Json categories_to_xgboost(const table::Schema& schema);

}  // namespace podere::exchange
