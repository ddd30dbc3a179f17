// Several models as one.
#pragma once

#include <span>

#include "podere/tree/model.h"

namespace podere::tree {

/// The model whose margins are the means of those of `models`, weighted by `weights`, which are finite and sum to 1. It
/// has the trees of all, with their values times their model's weight, and the options of the first. Throws InputError
/// for models that have other features, classes or objectives than the first.
Model blend(std::span<const Model* const> models, std::span<const double> weights);

}  // namespace podere::tree
