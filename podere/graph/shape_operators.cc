// Operators that move elements, or only give them another shape.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "podere/base/error.h"
#include "podere/graph/lowering.h"
#include "podere/graph/shapes.h"

namespace podere::graph {
namespace {

/// The node's attribute, or its input `i` where that came later; nothing if neither is there.
std::optional<std::vector<std::int64_t>> numbers_of(Lowering& lowering, const Node& node, const char* attribute,
                                                    std::size_t i) {
  if (node.has(attribute)) return node.integers(attribute);
  if (node.has_input(i)) return lowering.constant_integers(node, i);
  return std::nullopt;
}

void lower_same(Lowering& lowering, const Node& node) { lowering.define_same(node, lowering.input(node, 0)); }

void lower_dropout(Lowering& lowering, const Node& node) {
  if (node.has_input(2) && lowering.constant_integers(node, 2) != std::vector<std::int64_t>{0})
    throw_lacking(node, "it is in training mode: export the network for inference");
  lower_same(lowering, node);
}

void lower_cast(Lowering& lowering, const Node& node) {
  const std::int64_t to = node.type == "Cast" ? node.integer("to") : 1;
  if (to != 1 && to != 11)  // float32, float64
    throw_lacking(node, "what depends on the network's input is float32 in Podere; other types are for constants");
  lower_same(lowering, node);
}

void view(Lowering& lowering, const Node& node, ValueId x, Shape shape) {
  x = lowering.in_order(x, row_major(lowering.rank(x)));
  if (n_elements(shape, "the result of " + node.label()) != lowering.values[x].size())
    throw_input_error("{} takes the shape {} to {}: other numbers of elements", node.label(),
                      to_text(lowering.shape(x)), to_text(shape));
  const std::size_t rank = shape.size();
  lowering.define_view(node, x, std::move(shape), row_major(rank));
}

void lower_reshape(Lowering& lowering, const Node& node) {
  check_inputs(node, 2, 2);
  const ValueId x = lowering.input(node, 0);
  view(lowering, node, x, reshaped(node, lowering.shape(x), lowering.constant_integers(node, 1)));
}

void lower_flatten(Lowering& lowering, const Node& node) {
  const ValueId x = lowering.input(node, 0);
  const Shape& shape = lowering.shape(x);
  const std::int64_t axis = node.integer("axis", 1);
  const auto rank = static_cast<std::int64_t>(shape.size());
  if (axis < -rank || axis > rank) throw_lacking(node, fmt::format("its axis is {}", axis));
  const auto middle = shape.begin() + (axis < 0 ? axis + rank : axis);
  const auto product = [](auto begin, auto end) {
    return std::accumulate(begin, end, std::int64_t{1}, [](std::int64_t a, std::int64_t b) { return a * b; });
  };
  view(lowering, node, x, {product(shape.begin(), middle), product(middle, shape.end())});
}

void lower_squeeze(Lowering& lowering, const Node& node) {
  const ValueId x = lowering.input(node, 0);
  view(lowering, node, x, squeezed(node, lowering.shape(x), numbers_of(lowering, node, "axes", 1)));
}

void lower_unsqueeze(Lowering& lowering, const Node& node) {
  const ValueId x = lowering.input(node, 0);
  const auto axes = numbers_of(lowering, node, "axes", 1);
  if (!axes) throw_lacking(node, "it has no axes");
  view(lowering, node, x, unsqueezed(node, lowering.shape(x), *axes));
}

void lower_transpose(Lowering& lowering, const Node& node) {
  check_inputs(node, 1, 1);
  const ValueId x = lowering.input(node, 0);
  const std::vector<std::size_t> axes = permutation(node, lowering.rank(x));
  Shape shape;
  for (const std::size_t axis : axes) shape.push_back(lowering.shape(x)[axis]);
  Order order;  // the same memory
  for (const std::size_t axis : lowering.values[x].order) {
    order.push_back(static_cast<std::size_t>(std::find(axes.begin(), axes.end(), axis) - axes.begin()));
  }
  if (lowering.constant(x)) throw_lacking(node, "its input is a constant");
  lowering.define_view(node, x, std::move(shape), std::move(order));
}

void lower_concat(Lowering& lowering, const Node& node) {
  check_inputs(node, 1, 4096);
  const Order order = lowering.values[lowering.input(node, 0)].order;
  Shape shape = lowering.shape(lowering.input(node, 0));
  const std::size_t axis = axis_of(node, node.integer("axis"), shape.size());
  shape[axis] = 0;
  std::vector<ValueId> parts;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    const ValueId x = lowering.input(node, i);
    Shape expected = lowering.shape(x);
    if (expected.size() != shape.size()) throw_lacking(node, "its inputs have other numbers of dimensions");
    shape[axis] += expected[axis];
    expected[axis] = shape[axis];
    if (expected != shape)
      throw_input_error("{} takes shapes that do not fit: {} and {}", node.label(),
                        to_text(lowering.shape(lowering.input(node, 0))), to_text(lowering.shape(x)));
    if (lowering.constant(x) && !lowering.constant(x)->is_float) throw_lacking(node, "it takes integers");
    if (lowering.shape(x)[axis] > 0) parts.push_back(lowering.in_order(x, order));
  }
  const ValueId y = lowering.define(node, shape, order);
  std::int64_t at = 0;
  for (const ValueId x : parts) {
    Part part = whole(lowering.shape(x));
    part.to[axis] = at;
    at += lowering.shape(x)[axis];
    lowering.emit(node, Kind::kCopy, {x}, y).part = std::move(part);
  }
}

/// Indices first, first + step ... of an axis.
void emit_slice(Lowering& lowering, const Node& node, ValueId x, Part part) {
  const ValueId y = lowering.define(node, part.sizes, lowering.values[x].order);
  lowering.emit(node, Kind::kCopy, {x}, y).part = std::move(part);
}

void lower_slice(Lowering& lowering, const Node& node) {
  const ValueId x = lowering.input(node, 0);
  const auto starts = numbers_of(lowering, node, "starts", 1);
  const auto ends = numbers_of(lowering, node, "ends", 2);
  if (!starts || !ends) throw_lacking(node, "it has no starts or ends");
  const auto slices = slices_of(node, lowering.shape(x), *starts, *ends, numbers_of(lowering, node, "axes", 3),
                                numbers_of(lowering, node, "steps", 4));
  Part part = whole(lowering.shape(x));
  for (std::size_t i = 0; i < slices.size(); ++i) {
    part.sizes[i] = slices[i].size;
    part.steps[i] = slices[i].step;
    part.from[i] = slices[i].first;
  }
  emit_slice(lowering, node, x, std::move(part));
}

void lower_split(Lowering& lowering, const Node& node) {
  const ValueId x = lowering.input(node, 0);
  const Shape shape = lowering.shape(x);
  const std::size_t axis = axis_of(node, node.integer("axis", 0), shape.size());
  const auto n = static_cast<std::int64_t>(node.outputs.size());
  auto sizes = numbers_of(lowering, node, "split", 1);
  if (!sizes) {
    const std::int64_t each = (shape[axis] + n - 1) / n;
    sizes.emplace(node.outputs.size(), each);
    sizes->back() = shape[axis] - each * (n - 1);
  }
  std::int64_t at = 0;
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    if (i >= sizes->size() || (*sizes)[i] < 0 || (*sizes)[i] > shape[axis] - at)
      throw_lacking(node, fmt::format("it does not split {} elements into its {} outputs", shape[axis], n));
    Node one = node;
    one.outputs = {node.outputs[i]};
    Part part = whole(shape);
    part.sizes[axis] = (*sizes)[i];
    part.from[axis] = at;
    at += (*sizes)[i];
    if (!one.outputs[0].empty()) emit_slice(lowering, one, x, std::move(part));
  }
}

void lower_pad(Lowering& lowering, const Node& node) {
  const ValueId x = lowering.input(node, 0);
  if (const std::string mode = node.text("mode", "constant"); mode != "constant")
    throw_lacking(node, "Podere pads by a constant, not by mode '" + mode + "'");
  const auto pads = numbers_of(lowering, node, "pads", 1);
  const std::size_t rank = lowering.rank(x);
  std::vector<std::size_t> axes = row_major(rank);
  if (node.has_input(3)) {
    axes.clear();
    for (const std::int64_t axis : lowering.constant_integers(node, 3)) axes.push_back(axis_of(node, axis, rank));
  }
  if (!pads || pads->size() != 2 * axes.size()) throw_lacking(node, "it has not two pads for each axis");
  float fill = node.number("value", 0.0F);
  if (node.has_input(2)) {
    const std::vector<float> values = lowering.constant_floats(node, 2);
    if (values.size() != 1) throw_lacking(node, "its value is not one number");
    fill = values[0];
  }
  Part part = whole(lowering.shape(x));
  Shape shape = lowering.shape(x);
  constexpr std::int64_t kMost = 1 << 24;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::int64_t before = (*pads)[i];
    const std::int64_t after = (*pads)[axes.size() + i];
    const std::size_t axis = axes[i];
    if (std::max(std::abs(before), std::abs(after)) > kMost) throw_lacking(node, "its pads are too large");
    shape[axis] += before + after;
    part.from[axis] += std::max<std::int64_t>(-before, 0);  // less than none: a crop
    part.to[axis] += std::max<std::int64_t>(before, 0);
    part.sizes[axis] += std::min<std::int64_t>(before, 0) + std::min<std::int64_t>(after, 0);
    if (part.sizes[axis] < 1) throw_lacking(node, "nothing of its input is left");
  }
  const ValueId y = lowering.define(node, shape, lowering.values[x].order);
  lowering.emit(node, Kind::kFill, {}, y).fill = fill;
  lowering.emit(node, Kind::kCopy, {x}, y).part = std::move(part);
}

void lower_expand(Lowering& lowering, const Node& node) {
  check_inputs(node, 2, 2);
  const ValueId x = lowering.input(node, 0);
  const Shape shape = broadcast(node, lowering.shape(x), lowering.constant_integers(node, 1));
  if (shape == lowering.shape(x)) return lowering.define_same(node, x);
  const std::size_t missing = shape.size() - lowering.rank(x);
  Part part = whole(shape);
  part.from.assign(lowering.rank(x), 0);
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const bool is_repeated = i < missing || lowering.shape(x)[i - missing] == 1;
    part.axes[i] = is_repeated ? kNone : i - missing;
  }
  const ValueId y = lowering.define(node, shape, row_major(shape.size()));
  lowering.emit(node, Kind::kCopy, {x}, y).part = std::move(part);
}

void lower_gather(Lowering& lowering, const Node& node) {
  check_inputs(node, 2, 2);
  ValueId x = lowering.input(node, 0);
  const Shape shape = lowering.shape(x);
  const std::size_t axis = axis_of(node, node.integer("axis", 0), shape.size());
  const Shape index_shape = lowering.constant_input(node, 1)->shape;
  std::vector<std::int64_t> indices = lowering.constant_integers(node, 1);
  for (std::int64_t& index : indices) {
    if (index < -shape[axis] || index >= shape[axis])
      throw_input_error("{} takes index {} of {}", node.label(), index, shape[axis]);
    if (index < 0) index += shape[axis];
  }
  Shape result = shape;
  const auto at = result.erase(result.begin() + static_cast<std::ptrdiff_t>(axis));
  result.insert(at, index_shape.begin(), index_shape.end());
  x = lowering.in_order(x, row_major(shape.size()));
  const ValueId y = lowering.define(node, result, row_major(result.size()));
  Step& step = lowering.emit(node, Kind::kPick, {x}, y);
  step.indices.assign(indices.begin(), indices.end());
  step.n_reduced = static_cast<std::size_t>(shape[axis]);
  for (std::size_t i = axis + 1; i < shape.size(); ++i) step.n_inner *= static_cast<std::size_t>(shape[i]);
}

}  // namespace

std::vector<LowerEntry> shape_operators() {
  return {{"Identity", lower_same},   {"Dropout", lower_dropout},     {"Cast", lower_cast},
          {"CastLike", lower_cast},   {"Reshape", lower_reshape},     {"Flatten", lower_flatten},
          {"Squeeze", lower_squeeze}, {"Unsqueeze", lower_unsqueeze}, {"Transpose", lower_transpose},
          {"Concat", lower_concat},   {"Slice", lower_slice},         {"Split", lower_split},
          {"Pad", lower_pad},         {"Expand", lower_expand},       {"Gather", lower_gather}};
}

}  // namespace podere::graph
