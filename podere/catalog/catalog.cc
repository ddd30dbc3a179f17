#include "podere/catalog/catalog.h"

#include <fmt/ranges.h>

#include "examples/nearest_centroid/nearest_centroid.h"
#include "podere/base/error.h"
#include "podere/base/printable.h"
#include "podere/cluster/kmeans.h"
#include "podere/cluster/mixture.h"
#include "podere/isolation/isolation_forest.h"
#include "podere/linear/kernel_ridge.h"
#include "podere/linear/linear.h"
#include "podere/neural/algorithm.h"
#include "podere/tree/algorithm.h"

namespace podere::catalog {

const std::vector<const algorithm::Algorithm*>& algorithms() {
  static const std::vector<const algorithm::Algorithm*> kAlgorithms = {
      &tree::boosted_trees(),  &neural::dense_networks(),      &cluster::kmeans(),
      &cluster::mixture(),     &isolation::isolation_forest(), &linear::linear_regression(),
      &linear::kernel_ridge(), &examples::nearest_centroid(),
  };
  return kAlgorithms;
}

const algorithm::Algorithm& algorithm_called(const std::string& name) {
  std::vector<std::string> names;
  for (const algorithm::Algorithm* algorithm : algorithms()) {
    if (algorithm->name() == name) return *algorithm;
    names.push_back(algorithm->name());
  }
  throw_input_error("algorithm is {}, allowed are {}", printable(name), fmt::join(names, ", "));
}

std::unique_ptr<const algorithm::Model> model_from_text(const std::string& text, const std::string& name) {
  for (const algorithm::Algorithm* algorithm : algorithms()) {
    if (algorithm->is_model(text)) return algorithm->read_model(text, name);
  }
  return algorithms().front()->read_model(text, name);  // which says what is wrong with it
}

}  // namespace podere::catalog
