#include "podere/exchange/target.h"

#include <utility>
#include <vector>

#include "podere/base/error.h"

namespace podere::exchange {

std::size_t chosen_target(Target target, std::size_t n, const char* what) {
  if (!target)
    throw_input_error("predicts {} {}, Podere one: choose it with podere convert --target K, K from 0 to {}", n, what,
                      n - 1);
  if (*target >= n) throw_input_error("predicts {} {}, --target is {}: allowed is 0 to {}", n, what, *target, n - 1);
  return *target;
}

void check_no_target(Target target) {
  if (target) throw_input_error("--target is {}, which is for models of several targets: this has one", *target);
}

void keep_output(tree::Model& model, std::size_t k) {
  const std::size_t n = model.n_outputs();
  std::vector<tree::Tree> trees;
  for (std::size_t t = k; t < model.trees.size(); t += n) trees.push_back(std::move(model.trees[t]));
  model.trees = std::move(trees);
  model.base_margin = {model.base_margin[k]};
}

}  // namespace podere::exchange
