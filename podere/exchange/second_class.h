// Averages of probabilities for programs that have none.
#pragma once

#include <optional>

#include "podere/tree/model.h"

namespace podere::exchange {

/// Of a model whose margins are the probabilities of two classes, a model of numbers that predicts the probability of
/// the second. Nothing for a model with other margins. Throws InputError for probabilities of more classes, which
/// `program` does not have.
std::optional<tree::Model> second_class(const tree::Model& model, const char* program);

}  // namespace podere::exchange
