// Operators whose results come from many elements: sums, maxima, softmax, normalization.
#include <fmt/format.h>

#include <algorithm>

#include "podere/base/error.h"
#include "podere/graph/lowering.h"

namespace podere::graph {
namespace {

/// The order with `axes` last, as the others are; the same if they lie next to each other already and `anywhere`.
Order with_last(const Value& value, const std::vector<bool>& is_last, bool anywhere) {
  Order others;
  Order axes;
  int n_changes = 0;
  bool was_last = false;
  for (const std::size_t axis : value.order) {
    (is_last[axis] ? axes : others).push_back(axis);
    if (value.shape[axis] == 1) continue;
    if (is_last[axis] != was_last) ++n_changes;
    was_last = is_last[axis];
  }
  if (n_changes <= 1 || (anywhere && n_changes == 2)) return value.order;
  others.insert(others.end(), axes.begin(), axes.end());
  return others;
}

void emit_reduction(Lowering& lowering, const Node& node, ValueId x, const std::vector<bool>& is_reduced, bool keeps,
                    Reduction reduction) {
  x = lowering.in_order(x, with_last(lowering.values[x], is_reduced, true));
  const Value value = lowering.values[x];
  Step step;
  Shape shape;
  std::vector<std::size_t> place(value.shape.size());  // of an axis in the result
  for (std::size_t i = 0; i < value.shape.size(); ++i) {
    place[i] = shape.size();
    if (!is_reduced[i]) shape.push_back(value.shape[i]);
    if (is_reduced[i] && keeps) shape.push_back(1);
    if (is_reduced[i]) step.n_reduced *= static_cast<std::size_t>(value.shape[i]);
  }
  Order order;
  for (const std::size_t axis : value.order) {
    if (!is_reduced[axis] || keeps) order.push_back(place[axis]);
    if (is_reduced[axis] && value.shape[axis] > 1) step.n_inner = 1;
    if (!is_reduced[axis]) step.n_inner *= static_cast<std::size_t>(value.shape[axis]);
  }
  if (step.n_reduced == 1) step.n_inner = value.size();
  const ValueId y = lowering.define(node, shape, order);
  Step& emitted = lowering.emit(node, Kind::kReduce, {x}, y);
  emitted.reduction = reduction;
  emitted.n_reduced = step.n_reduced;
  emitted.n_inner = step.n_inner;
}

void lower_global_pool(Lowering& lowering, const Node& node) {
  check_inputs(node, 1, 1);
  const ValueId x = lowering.input(node, 0);
  if (lowering.rank(x) < 3) throw_lacking(node, "its input has no axes to pool over");
  std::vector<bool> is_reduced(lowering.rank(x), true);
  is_reduced[0] = is_reduced[1] = false;
  const bool is_maximum = node.type == "GlobalMaxPool";
  emit_reduction(lowering, node, x, is_reduced, true, is_maximum ? Reduction::kMaximum : Reduction::kMean);
}

void lower_reduce(Lowering& lowering, const Node& node) {
  static const std::map<std::string, Reduction> kReductions = {{"ReduceSum", Reduction::kSum},
                                                               {"ReduceMean", Reduction::kMean},
                                                               {"ReduceMax", Reduction::kMaximum},
                                                               {"ReduceMin", Reduction::kMinimum},
                                                               {"ReduceSumSquare", Reduction::kSumOfSquares},
                                                               {"ReduceL2", Reduction::kNorm}};
  check_inputs(node, 1, 2);
  const ValueId x = lowering.input(node, 0);
  const std::size_t rank = lowering.rank(x);
  std::vector<std::int64_t> axes;
  if (node.has("axes")) axes = node.integers("axes");
  if (node.has_input(1)) axes = lowering.constant_integers(node, 1);
  if (axes.empty() && node.integer("noop_with_empty_axes", 0) != 0) return lowering.define_same(node, x);
  std::vector<bool> is_reduced(rank, axes.empty());
  for (const std::int64_t axis : axes) is_reduced[axis_of(node, axis, rank)] = true;
  emit_reduction(lowering, node, x, is_reduced, node.integer("keepdims", 1) != 0, kReductions.at(node.type));
}

void lower_softmax(Lowering& lowering, const Node& node) {
  check_inputs(node, 1, 1);
  ValueId x = lowering.input(node, 0);
  const std::size_t rank = lowering.rank(x);
  const bool is_old = lowering.opset < 13;  // all axes from `axis` on are one then
  const std::size_t axis = axis_of(node, node.integer("axis", is_old ? 1 : -1), rank);
  std::vector<bool> is_last(rank);
  std::size_t run = 1;
  for (std::size_t i = axis; i < (is_old ? rank : axis + 1); ++i) {
    is_last[i] = true;
    run *= static_cast<std::size_t>(lowering.shape(x)[i]);
  }
  x = lowering.in_order(x, with_last(lowering.values[x], is_last, false));
  const ValueId y = lowering.define(node, lowering.shape(x), lowering.values[x].order);
  Step& step = lowering.emit(node, Kind::kSoftmax, {x}, y);
  step.run = run;
  step.is_log = node.type == "LogSoftmax";
}

/// Axes from `axis` on, of which each value has its own scale; or one for each channel, which is the axis before.
void emit_normalization(Lowering& lowering, const Node& node, ValueId x, std::size_t axis, std::size_t n_scales,
                        std::size_t n_channels) {
  x = lowering.in_order(x, row_major(lowering.rank(x)));
  std::size_t run = 1;
  for (std::size_t i = axis; i < lowering.rank(x); ++i) run *= static_cast<std::size_t>(lowering.shape(x)[i]);
  std::vector<float> scale = lowering.constant_floats(node, 1);
  std::vector<float> shift(n_scales);
  if (node.has_input(2)) shift = lowering.constant_floats(node, 2);
  if (scale.size() != n_scales || shift.size() != n_scales)
    throw_input_error("{} has {} scales and {} shifts for {} values", node.label(), scale.size(), shift.size(),
                      n_scales);
  const ValueId y = lowering.define(node, lowering.shape(x), lowering.values[x].order);
  Step& step = lowering.emit(node, Kind::kNormalize, {x}, y);
  step.run = run;
  step.n_channels = n_channels;
  step.epsilon = node.number("epsilon", 1e-5F);
  step.weights = std::move(scale);
  step.bias = std::move(shift);
}

void lower_layer_norm(Lowering& lowering, const Node& node) {
  check_inputs(node, 2, 3);
  const ValueId x = lowering.input(node, 0);
  const std::size_t axis = axis_of(node, node.integer("axis", -1), lowering.rank(x));
  const Shape& shape = lowering.shape(x);
  std::size_t n = 1;
  for (std::size_t i = axis; i < shape.size(); ++i) n *= static_cast<std::size_t>(shape[i]);
  emit_normalization(lowering, node, x, axis, n, 0);
}

void lower_instance_norm(Lowering& lowering, const Node& node) {
  check_inputs(node, 3, 3);
  const ValueId x = lowering.input(node, 0);
  if (lowering.rank(x) < 3) throw_lacking(node, "its input has no axes to normalize over");
  const auto n_channels = static_cast<std::size_t>(lowering.shape(x)[1]);
  emit_normalization(lowering, node, x, 2, n_channels, n_channels);
}

}  // namespace

std::vector<LowerEntry> reduce_operators() {
  return {{"GlobalAveragePool", lower_global_pool},
          {"GlobalMaxPool", lower_global_pool},
          {"ReduceSum", lower_reduce},
          {"ReduceMean", lower_reduce},
          {"ReduceMax", lower_reduce},
          {"ReduceMin", lower_reduce},
          {"ReduceSumSquare", lower_reduce},
          {"ReduceL2", lower_reduce},
          {"Softmax", lower_softmax},
          {"LogSoftmax", lower_softmax},
          {"LayerNormalization", lower_layer_norm},
          {"InstanceNormalization", lower_instance_norm}};
}

}  // namespace podere::graph
