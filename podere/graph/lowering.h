// Turns operators of a network into steps.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "podere/graph/graph.h"
#include "podere/graph/plan.h"
#include "podere/graph/program.h"

namespace podere::graph {

/// Values and steps so far. Each operator in turn is computed if its inputs are constants, joined with the step before
/// it, or becomes a step.
class Lowering {
 public:
  Lowering(const Graph& graph, const PlanOptions& options);

  std::vector<Value> values;
  std::vector<Step> steps;
  std::int64_t opset;

  /// The value that is input `i` of the node. Throws InputError if it is left out.
  ValueId input(const Node& node, std::size_t i) const;
  const Shape& shape(ValueId id) const { return values[id].shape; }
  std::size_t rank(ValueId id) const { return values[id].shape.size(); }
  const TensorPtr& constant(ValueId id) const { return values[id].constant; }
  /// A constant input. Throws InputError if it depends on the network's input.
  TensorPtr constant_input(const Node& node, std::size_t i) const;
  std::vector<float> constant_floats(const Node& node, std::size_t i) const;
  std::vector<std::int64_t> constant_integers(const Node& node, std::size_t i) const;

  /// The same tensor in another order; copied if that is not the same memory.
  ValueId in_order(ValueId id, const Order& order);
  bool has_order(ValueId id, const Order& order) const;

  /// A new value called as the node's first output.
  ValueId define(const Node& node, Shape shape, Order order);
  void define_constant(const std::string& name, TensorPtr tensor);
  /// The node's first output is `id` itself.
  void define_same(const Node& node, ValueId id);
  /// ... is the memory of `id` by another shape.
  void define_view(const Node& node, ValueId id, Shape shape, Order order);
  ValueId add_value(Value value);

  /// All of a value to another of its shape.
  ValueId emit_copy(ValueId from, ValueId to);
  Step& emit(const Node& node, Kind kind, std::vector<ValueId> inputs, ValueId output);

  /// The step that computes `id`, if no other operator takes it and nothing was joined to it that must come last.
  Step* open_step(ValueId id);
  /// The step's result is now the node's first output.
  void continue_step(const Node& node, ValueId id);
  void activate(const Node& node, ValueId x, Activation activation);

  bool is_kept(const std::string& name) const { return kept_.contains(name); }
  const std::vector<std::pair<std::string, ValueId>>& outputs() const { return outputs_; }

 private:
  std::vector<bool> needed_nodes(const Graph& graph, const std::vector<std::string>& names) const;
  /// In memory of the plan's own, where kernels may read beyond the end.
  ValueId copied_input(ValueId id);
  void lower(const Node& node);

  std::map<std::string, ValueId> by_name_;
  std::map<std::string, int> n_uses_;
  std::map<std::string, bool> kept_;
  std::vector<std::pair<std::string, ValueId>> outputs_;
};

/// Lowers a node. Throws InputError.
using LowerNode = void (*)(Lowering&, const Node&);
struct LowerEntry {
  const char* type;
  LowerNode lower;
};
// The tables of operators, by files.
std::vector<LowerEntry> window_operators();       // Conv, pooling, Gemm, MatMul, BatchNormalization
std::vector<LowerEntry> elementwise_operators();  // Relu ..., Add ...
std::vector<LowerEntry> shape_operators();        // Reshape, Concat, Slice ...
std::vector<LowerEntry> reduce_operators();       // Reduce..., Softmax, LayerNormalization ...

/// The value of a node whose inputs are constants (null where left out); nothing if it is not computed beforehand.
TensorPtr fold(const Node& node, const std::vector<TensorPtr>& inputs, std::int64_t opset);

/// All of a value.
Part whole(const Shape& shape);

std::size_t axis_of(const Node& node, std::int64_t axis, std::size_t rank);
/// Throws InputError unless the number of inputs is in [least, most].
void check_inputs(const Node& node, std::size_t least, std::size_t most);
[[noreturn]] void throw_lacking(const Node& node, const std::string& what);
Shape broadcast(const Node& node, const Shape& a, const Shape& b);

/// Joins x op constant with the convolution or product that computes x. False if there is none, or the constant is not
/// one number for each channel.
bool scale_by_constant(Lowering& lowering, const Node& node, ValueId x, const TensorPtr& constant, Pair pair);

/// Sets offsets of values, packs weights, works out loops.
Program place(Lowering lowering, const PlanOptions& options);

}  // namespace podere::graph
