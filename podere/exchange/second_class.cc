#include "podere/exchange/second_class.h"

#include "podere/base/error.h"
#include "podere/exchange/loose_tree.h"
#include "podere/exchange/objectives.h"
#include "podere/exchange/target.h"
#include "podere/tree/objective.h"

namespace podere::exchange {

std::optional<tree::Model> second_class(const tree::Model& model, const char* program) {
  if (traits_of(model.options.objective).link != tree::Link::kProbability) return std::nullopt;
  if (model.n_outputs() != 2)
    throw_input_error("averages probabilities of {} classes, which {} does not have: write it as podere or onnx",
                      model.n_outputs(), program);
  tree::Model numbers = model;
  keep_output(numbers, 1);
  numbers.options = options_of(objective_of_margins(), 0, numbers.trees);
  return numbers;
}

}  // namespace podere::exchange
