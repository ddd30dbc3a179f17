#include "podere/graph/shapes.h"

#include <algorithm>

#include "podere/base/error.h"
#include "podere/graph/lowering.h"

namespace podere::graph {

Shape reshaped(const Node& node, const Shape& shape, Shape wanted) {
  const auto n = static_cast<std::int64_t>(n_elements(shape, node.label()));
  const bool zero_is_zero = node.integer("allowzero", 0) != 0;
  std::size_t free = wanted.size();
  std::int64_t product = 1;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (wanted[i] == 0 && !zero_is_zero && i < shape.size()) wanted[i] = shape[i];
    if (wanted[i] == -1 && free == wanted.size()) {
      free = i;
    } else if (wanted[i] < 0 || (wanted[i] > 0 && product > (std::int64_t{1} << 40) / wanted[i])) {
      throw_input_error("{} asks for the shape {}", node.label(), to_text(wanted));
    } else {
      product *= wanted[i];
    }
  }
  if (free < wanted.size()) {
    if (product == 0 || n % product != 0)
      throw_input_error("{} takes the shape {} to {}, which has no room for all elements", node.label(), to_text(shape),
                        to_text(wanted));
    wanted[free] = n / product;
  }
  return wanted;
}

Shape squeezed(const Node& node, const Shape& shape, const std::optional<std::vector<std::int64_t>>& axes) {
  std::vector<bool> is_out(shape.size());
  if (axes) {
    for (const std::int64_t axis : *axes) is_out[axis_of(node, axis, shape.size())] = true;
  } else {
    for (std::size_t i = 0; i < shape.size(); ++i) is_out[i] = shape[i] == 1;
  }
  Shape result;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (is_out[i] && shape[i] != 1)
      throw_input_error("{} removes an axis of {} from {}", node.label(), shape[i], to_text(shape));
    if (!is_out[i]) result.push_back(shape[i]);
  }
  return result;
}

Shape unsqueezed(const Node& node, const Shape& shape, const std::vector<std::int64_t>& axes) {
  if (axes.size() > 16) throw_lacking(node, "it adds too many axes");
  const std::size_t rank = shape.size() + axes.size();
  std::vector<bool> is_new(rank);
  for (const std::int64_t axis : axes) {
    const std::size_t at = axis_of(node, axis, rank);
    if (is_new[at]) throw_lacking(node, "it adds an axis twice");
    is_new[at] = true;
  }
  Shape result;
  auto old = shape.begin();
  for (std::size_t i = 0; i < rank; ++i) result.push_back(is_new[i] ? 1 : *old++);
  return result;
}

std::vector<std::size_t> permutation(const Node& node, std::size_t rank) {
  std::vector<std::size_t> axes(rank);
  for (std::size_t i = 0; i < rank; ++i) axes[i] = rank - 1 - i;
  if (!node.has("perm")) return axes;
  const std::vector<std::int64_t> perm = node.integers("perm");
  std::vector<bool> is_there(rank);
  for (std::size_t i = 0; i < rank && perm.size() == rank; ++i) {
    axes[i] = axis_of(node, perm[i], rank);
    is_there[axes[i]] = true;
  }
  if (perm.size() != rank || std::find(is_there.begin(), is_there.end(), false) != is_there.end())
    throw_input_error("{}: perm does not name each of {} axes once", node.label(), rank);
  return axes;
}

std::vector<AxisSlice> slices_of(const Node& node, const Shape& shape, const std::vector<std::int64_t>& starts,
                                 const std::vector<std::int64_t>& ends,
                                 const std::optional<std::vector<std::int64_t>>& axes,
                                 const std::optional<std::vector<std::int64_t>>& steps) {
  std::vector<AxisSlice> slices;
  for (const std::int64_t size : shape) slices.push_back({0, 1, size});
  const std::size_t n = starts.size();
  if (ends.size() != n || (axes && axes->size() != n) || (steps && steps->size() != n) || (!axes && n > shape.size()))
    throw_input_error("{}: starts, ends, axes and steps have different lengths", node.label());
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t axis = axes ? axis_of(node, (*axes)[i], shape.size()) : i;
    const std::int64_t size = shape[axis];
    const std::int64_t step = std::clamp<std::int64_t>(steps ? (*steps)[i] : 1, -(size + 1), size + 1);
    if (step == 0) throw_input_error("{} has a step of 0", node.label());
    const auto place = [&](std::int64_t at, std::int64_t least, std::int64_t most) {
      return std::clamp(at < 0 ? std::max(at, -(size + 1)) + size : at, least, most);
    };
    const std::int64_t from = step > 0 ? place(starts[i], 0, size) : place(starts[i], 0, size - 1);
    const std::int64_t until = step > 0 ? place(ends[i], 0, size) : place(ends[i], -1, size - 1);
    const std::int64_t span = step > 0 ? until - from : from - until;
    slices[axis] = {from, step, span <= 0 ? 0 : (span + std::abs(step) - 1) / std::abs(step)};
  }
  return slices;
}

}  // namespace podere::graph
