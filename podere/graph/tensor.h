// Constant tensors of a network.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "podere/graph/network.h"

namespace podere::graph {

/// Elements of a shape whose dimensions are all known. Throws InputError, naming `what`, for more than `most`.
std::size_t n_elements(const Shape& shape, const std::string& what, std::size_t most = std::size_t{1} << 40);

/// Row-major. Floating-point types of files are float32 here; integers and truth values (0, 1) are int64.
struct Tensor {
  Shape shape;
  bool is_float = true;
  std::vector<float> floats = {};
  std::vector<std::int64_t> integers = {};

  std::size_t size() const { return is_float ? floats.size() : integers.size(); }
};
using TensorPtr = std::shared_ptr<const Tensor>;

inline TensorPtr make_tensor(Shape shape, std::vector<float> values) {
  return std::make_shared<const Tensor>(Tensor{std::move(shape), true, std::move(values)});
}
inline TensorPtr make_tensor(Shape shape, std::vector<std::int64_t> values) {
  return std::make_shared<const Tensor>(Tensor{std::move(shape), false, {}, std::move(values)});
}

}  // namespace podere::graph
