#include "podere/tree/blend.h"

#include <cstddef>

#include "podere/base/error.h"

namespace podere::tree {
namespace {

/// Importance is that of the trees together, so gains are weighted, too.
Tree weighted(Tree tree, double weight) {
  for (Node& node : tree.nodes) {
    node.value = static_cast<float>(node.value * weight);
    node.gain = static_cast<float>(node.gain * weight);
  }
  for (LinearPart& part : tree.linear_parts) {
    part.constant *= weight;
    for (double& coefficient : part.coefficients) coefficient *= weight;
  }
  return tree;
}

}  // namespace

Model blend(std::span<const Model* const> models, std::span<const double> weights) {
  const Model& first = *models.front();
  Model blended{.schema = first.schema,
                .options = first.options,
                .base_margin = std::vector<double>(first.n_outputs()),
                .trees = {},
                .history = {}};
  for (std::size_t m = 0; m < models.size(); ++m) {
    const Model& model = *models[m];
    if (model.schema != first.schema || model.options.objective != first.options.objective ||
        model.n_outputs() != first.n_outputs()) {
      throw InputError("models of other features, classes or objectives cannot be blended");
    }
    for (std::size_t k = 0; k < model.n_outputs(); ++k) blended.base_margin[k] += model.base_margin[k] * weights[m];
    for (const Tree& tree : model.trees) blended.trees.push_back(weighted(tree, weights[m]));
  }
  if (blended.n_rounds() > kMaxTrees) {
    throw_input_error("models of {} trees for each output in all cannot be blended, allowed are {}", blended.n_rounds(),
                      kMaxTrees);
  }
  blended.options.n_trees = static_cast<int>(blended.n_rounds());
  return blended;
}

}  // namespace podere::tree
