#include "podere/classify/picture_network.h"

#include <algorithm>
#include <cstdint>
#include <string>

#include "podere/base/error.h"
#include "podere/base/printable.h"

namespace podere::classify {
namespace {

/// Throws InputError for what is no list of scores.
void check_scores(const graph::Port& output, const std::string& path) {
  if (std::ranges::count_if(output.shape, [](std::int64_t size) { return size > 1; }) != 1) {
    throw_input_error(
        "{}: {} is {}, that of a network for classes is 1 x classes, of 2 or more; --layer chooses another tensor",
        path, printable(output.name), graph::to_text(output.shape));
  }
}

}  // namespace

PictureNetwork::PictureNetwork(const NetworkOptions& options) : layer_(options), facts_(layer_.facts()) {
  check_scores(layer_.output(), options.path);
  const std::string& last = layer_.operator_behind();
  needs_softmax_ = last != "Softmax" && last != "Sigmoid";
  facts_["classes"] = n_classes();
  facts_["scores"] = needs_softmax_      ? "softmax of the output"
                     : last == "Softmax" ? "output, which is a softmax"
                                         : "output, a sigmoid for each class";
}

}  // namespace podere::classify
