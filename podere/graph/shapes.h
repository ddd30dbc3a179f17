// What operators do to shapes, for constants and for what is computed alike. All throw InputError that names the node.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "podere/graph/graph.h"

namespace podere::graph {

/// 0: as it was; -1: what is left.
Shape reshaped(const Node& node, const Shape& shape, Shape wanted);
Shape squeezed(const Node& node, const Shape& shape, const std::optional<std::vector<std::int64_t>>& axes);
Shape unsqueezed(const Node& node, const Shape& shape, const std::vector<std::int64_t>& axes);
/// perm, or all axes reversed.
std::vector<std::size_t> permutation(const Node& node, std::size_t rank);

struct AxisSlice {
  std::int64_t first;
  std::int64_t step;
  std::int64_t size;
};
std::vector<AxisSlice> slices_of(const Node& node, const Shape& shape, const std::vector<std::int64_t>& starts,
                                 const std::vector<std::int64_t>& ends,
                                 const std::optional<std::vector<std::int64_t>>& axes,
                                 const std::optional<std::vector<std::int64_t>>& steps);

}  // namespace podere::graph
