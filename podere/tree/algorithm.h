// Boosted trees as an entry of the table of algorithms.
#pragma once

#include <memory>

#include "podere/algorithm/algorithm.h"
#include "podere/tree/model.h"

namespace podere::tree {

/// Called "trees"; its options are Options.
const algorithm::Algorithm& boosted_trees();

std::unique_ptr<const algorithm::Model> as_model(Model model);
/// The trees in a model; null if it is of another algorithm.
const Model* trees_of(const algorithm::Model& model);

}  // namespace podere::tree
