// XGBoost's binary models, which it wrote before JSON.
#pragma once

#include <string_view>

#include "podere/base/json.h"

namespace podere::exchange {

/// Whether a file that begins with `text` is one.
bool is_xgboost_binary(std::string_view text);

/// The model in `text` as XGBoost's JSON has it. Before 1.0 the base score was a margin already: the version then is
/// 0.x. Throws InputError for text that is not a whole model. Source: the structs that XGBoost up to 3.0 reads and
/// writes in src/learner.cc, src/gbm/gbtree_model.h, src/gbm/gblinear_model.h and include/xgboost/tree_model.h.
SortedJson from_xgboost_binary(std::string_view text);

}  // namespace podere::exchange
