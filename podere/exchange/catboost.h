// CatBoost's JSON models.
#pragma once

#include <string>

#include "podere/exchange/target.h"
#include "podere/tree/model.h"

namespace podere::exchange {

/// The model in CatBoost's JSON `text`, with the same margins up to rounding to float32. Levels of symmetric trees
/// become ordinary splits. CatBoost's `value > border` with a float32 border is `value >= t`, with t the next float32;
/// missing values are below all borders, or above. Throws InputError for text that is not a whole model, and, by name,
/// for what Podere does not have: features of categories, texts and embeddings, other objectives. Of several targets or
/// quantiles the chosen one is read.
tree::Model from_catboost(const std::string& text, Target target = std::nullopt);

}  // namespace podere::exchange
