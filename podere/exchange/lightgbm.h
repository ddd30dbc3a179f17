// LightGBM's text models.
#pragma once

#include <string>
#include <string_view>

#include "podere/exchange/target.h"
#include "podere/tree/model.h"

namespace podere::exchange {

/// Whether `text` begins as LightGBM's models do.
bool is_lightgbm(std::string_view text);

/// The model in LightGBM's `text` (versions v2 to v4 of the format), with the same margins up to rounding of leaf
/// values to float32. Those of random forests are averages; where `sigmoid` is not 1, it is multiplied into the leaves.
/// LightGBM's `value <= threshold` with a double threshold becomes `value < t`, where t is the least float32 above it:
/// the same for every float32 value. One exception: a split between all numbers and missing values has a threshold
/// beyond float32; t then is the largest float32, which itself goes to the right, as infinity does. Throws InputError
/// for text that is not a whole model, and, by name, for what Podere does not have: linear trees, other objectives,
/// splits that treat zeros as missing and send them against the order of numbers. Source: LightGBM's
/// include/LightGBM/tree.h, of which the decisions below keep the names.
tree::Model from_lightgbm(const std::string& text, Target target = std::nullopt);

/// LightGBM's text, version v4. Base margins are added to the leaves of the first round. Doubles go where Podere sends
/// the float32 they round to. Throws InputError for names of features that LightGBM does not take.
std::string to_lightgbm(const tree::Model& model);

}  // namespace podere::exchange
