// CatBoost's JSON models.
#pragma once

#include <string>

#include "podere/tree/model.h"

namespace podere::exchange {

/// The model in CatBoost's JSON `text`, with the same margins up to rounding to float32. Levels of symmetric trees
/// become ordinary splits. CatBoost's `value > border` with a float32 border is `value >= t`, with t the next float32;
/// missing values are below all borders, or above. Throws InputError for text that is not a whole model, and, by name,
/// for what Podere does not have: features of categories, texts and embeddings, several targets, other objectives.
tree::Model from_catboost(const std::string& text);

}  // namespace podere::exchange
