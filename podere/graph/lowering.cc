#include "podere/graph/lowering.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "podere/base/error.h"
#include "podere/base/nearest_name.h"
#include "podere/base/printable.h"

namespace podere::graph {
namespace {

const std::map<std::string, LowerNode>& operators() {
  static const auto table = [] {
    std::map<std::string, LowerNode> entries;
    for (const auto& part : {window_operators(), elementwise_operators(), shape_operators(), reduce_operators()}) {
      for (const LowerEntry& entry : part) entries[entry.type] = entry.lower;
    }
    return entries;
  }();
  return table;
}

/// The order without axes of one index, which are no matter in memory.
Order in_memory(const Value& value, const Order& order) {
  Order result;
  for (const std::size_t axis : order) {
    if (value.shape[axis] != 1) result.push_back(axis);
  }
  return result;
}

void check_input(const Port& port, const Shape& shape) {
  bool fits = shape.size() == port.shape.size() || port.shape.empty();
  for (std::size_t i = 0; fits && i < port.shape.size(); ++i) fits = port.shape[i] < 0 || port.shape[i] == shape[i];
  if (!fits)
    throw_input_error("the network's input {} has the shape {}, not {}", printable(port.name), to_text(port.shape),
                      to_text(shape));
  for (const std::int64_t size : shape) {
    if (size <= 0) throw_input_error("an input of the shape {} has no elements", to_text(shape));
  }
}

}  // namespace

Order row_major(std::size_t rank) {
  Order order(rank);
  std::iota(order.begin(), order.end(), std::size_t{0});
  return order;
}

Order channels_last(std::size_t rank) {
  Order order = row_major(rank);
  if (rank > 2) std::rotate(order.begin() + 1, order.begin() + 2, order.end());
  return order;
}

std::size_t Value::size() const {
  std::size_t n = 1;
  for (const std::int64_t size : shape) n *= static_cast<std::size_t>(size);
  return n;
}

std::vector<std::ptrdiff_t> Value::strides() const {
  std::vector<std::ptrdiff_t> result(shape.size(), 1);
  auto next = static_cast<std::ptrdiff_t>(stride);
  for (std::size_t i = order.size(); i-- > 0;) {
    if (i + 1 == order.size()) continue;
    result[order[i]] = next;
    next *= static_cast<std::ptrdiff_t>(shape[order[i]]);
  }
  return result;
}

Lowering::Lowering(const Graph& graph, const PlanOptions& options) : opset(graph.facts.opset) {
  std::vector<std::string> names = options.outputs;
  if (names.empty()) {
    for (const Port& output : graph.outputs) names.push_back(output.name);
  }
  std::vector<std::string> known;
  for (const Node& node : graph.nodes) known.insert(known.end(), node.outputs.begin(), node.outputs.end());
  for (const Port& input : graph.inputs) known.push_back(input.name);
  for (const std::string& name : names) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    if (graph.weights.contains(name)) throw_input_error("the tensor {} is a weight of the network", printable(name));
    const auto nearest = nearest_name(name, known);
    throw_input_error("the network has no tensor {}{}", printable(name),
                      nearest ? fmt::format(": did you mean {}?", printable(*nearest)) : "");
  }
  if (graph.inputs.size() != 1)
    throw_input_error("the network has {} inputs: Podere runs networks with one", graph.inputs.size());
  check_input(graph.inputs.front(), options.input);

  const std::vector<bool> is_needed = needed_nodes(graph, names);
  for (const std::string& name : names) {
    kept_[name] = true;
    ++n_uses_[name];
  }
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    if (!is_needed[i]) continue;
    for (const std::string& input : graph.nodes[i].inputs) ++n_uses_[input];
  }
  Value in{graph.inputs.front().name, options.input, row_major(options.input.size())};
  n_elements(in.shape, "the input", std::size_t{1} << 36);
  in.n_uses = n_uses_[in.name];
  in.memory = Memory::kInput;
  by_name_[graph.inputs.front().name] = copied_input(add_value(std::move(in)));
  for (const auto& [name, tensor] : graph.weights) {
    if (n_uses_.contains(name)) define_constant(name, tensor);
  }
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    if (is_needed[i]) lower(graph.nodes[i]);
  }
  for (const std::string& name : names) {
    const auto found = by_name_.find(name);
    if (found == by_name_.end()) throw_input_error("the tensor {} is no result that Podere computes", printable(name));
    const Value& value = values[found->second];
    if (value.constant && !value.constant->is_float)
      throw_input_error("the tensor {} holds integers: Podere returns numbers of float32", printable(name));
    outputs_.emplace_back(name, found->second);
  }
}

ValueId Lowering::copied_input(ValueId id) {
  Value copy = values[id];
  copy.memory = Memory::kWorkspace;
  // Few channels are those of a picture, which convolutions want last.
  if (copy.shape.size() == 4 && copy.shape[1] <= 4) copy.order = channels_last(4);
  copy.step = steps.size();
  return emit_copy(id, add_value(std::move(copy)));
}

std::vector<bool> Lowering::needed_nodes(const Graph& graph, const std::vector<std::string>& names) const {
  std::map<std::string, bool> wanted;
  for (const std::string& name : names) wanted[name] = true;
  std::vector<bool> is_needed(graph.nodes.size());
  for (std::size_t i = graph.nodes.size(); i-- > 0;) {
    const Node& node = graph.nodes[i];
    is_needed[i] = std::any_of(node.outputs.begin(), node.outputs.end(),
                               [&](const std::string& name) { return wanted.contains(name); });
    if (!is_needed[i]) continue;
    for (const std::string& input : node.inputs) {
      if (!input.empty()) wanted[input] = true;
    }
  }
  return is_needed;
}

void Lowering::lower(const Node& node) {
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    // Dropout gives its mask, BatchNormalization statistics of training.
    if (i > 0 && node.type != "Split" && n_uses_.contains(node.outputs[i]))
      throw_lacking(node, fmt::format("its output {} is not computed", i + 1));
  }
  if (node.outputs.empty()) throw_lacking(node, "it has no output");
  const auto found = operators().find(node.type);
  std::vector<TensorPtr> constants;
  bool are_constant = true;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    constants.push_back(node.has_input(i) ? values[input(node, i)].constant : nullptr);
    are_constant = are_constant && (!node.has_input(i) || constants.back());
  }
  if (node.type == "Shape" && node.has_input(0)) {
    constants[0] = make_tensor({static_cast<std::int64_t>(rank(input(node, 0)))}, shape(input(node, 0)));
    are_constant = true;
  }
  if (are_constant) {
    if (TensorPtr result = fold(node, constants, opset)) {
      define_constant(node.outputs[0], std::move(result));
      return;
    }
  }
  if (found == operators().end()) throw_lacking(node, "Podere does not have this operator");
  for (std::size_t i = 0; i < constants.size(); ++i) {
    const bool is_computed_with = constants[i] == nullptr || (are_constant && i == 0);  // others may say how
    if (node.has_input(i) && is_computed_with && values[input(node, i)].size() == 0)
      throw_lacking(node, "an input has no elements");
  }
  if (!constants.empty() && constants[0] && !constants[0]->is_float) throw_lacking(node, "it takes integers");
  found->second(*this, node);
}

ValueId Lowering::input(const Node& node, std::size_t i) const {
  if (!node.has_input(i)) throw_input_error("{} has no input {}", node.label(), i + 1);
  const auto found = by_name_.find(node.inputs[i]);
  if (found == by_name_.end())
    throw_input_error("{}: the tensor {} is not there", node.label(), printable(node.inputs[i]));
  return found->second;
}

TensorPtr Lowering::constant_input(const Node& node, std::size_t i) const {
  const TensorPtr& tensor = values[input(node, i)].constant;
  if (!tensor)
    throw_lacking(node, fmt::format("{} depends on the network's input: Podere needs it to be a constant",
                                    printable(node.inputs[i])));
  return tensor;
}

std::vector<float> Lowering::constant_floats(const Node& node, std::size_t i) const {
  const TensorPtr tensor = constant_input(node, i);
  if (!tensor->is_float) throw_input_error("{}: {} holds integers", node.label(), printable(node.inputs[i]));
  return tensor->floats;
}

std::vector<std::int64_t> Lowering::constant_integers(const Node& node, std::size_t i) const {
  const TensorPtr tensor = constant_input(node, i);
  if (tensor->is_float) throw_input_error("{}: {} holds no integers", node.label(), printable(node.inputs[i]));
  return tensor->integers;
}

bool Lowering::has_order(ValueId id, const Order& order) const {
  return in_memory(values[id], values[id].order) == in_memory(values[id], order);
}

ValueId Lowering::in_order(ValueId id, const Order& order) {
  const Value& value = values[id];
  if (value.order == order) return id;
  Value other{value.name, value.shape, order};
  if (value.constant) {
    other.constant = value.constant;
    return add_value(std::move(other));
  }
  if (has_order(id, order)) {
    other.lies_in = id;
    return add_value(std::move(other));
  }
  other.step = steps.size();
  return emit_copy(id, add_value(std::move(other)));
}

ValueId Lowering::emit_copy(ValueId from, ValueId to) {
  Step step;
  step.label = "copy of '" + values[from].name + "'";
  step.inputs = {from};
  step.output = to;
  step.part = whole(values[from].shape);
  steps.push_back(std::move(step));
  return to;
}

Part whole(const Shape& shape) {
  const std::size_t rank = shape.size();
  return {shape, row_major(rank), std::vector<std::int64_t>(rank, 1), std::vector<std::int64_t>(rank, 0),
          std::vector<std::int64_t>(rank, 0)};
}

ValueId Lowering::add_value(Value value) {
  values.push_back(std::move(value));
  return values.size() - 1;
}

ValueId Lowering::define(const Node& node, Shape shape, Order order) {
  Value value{node.outputs[0], std::move(shape), std::move(order)};
  if (n_elements(value.shape, "the result of " + node.label(), std::size_t{1} << 36) == 0)
    throw_input_error("{} gives no elements: {}", node.label(), to_text(value.shape));
  value.n_uses = n_uses_[value.name];
  return by_name_[node.outputs[0]] = add_value(std::move(value));
}

void Lowering::define_constant(const std::string& name, TensorPtr tensor) {
  Value value{name, tensor->shape, row_major(tensor->shape.size())};
  value.n_uses = n_uses_[name];
  value.constant = std::move(tensor);
  by_name_[name] = add_value(std::move(value));
}

void Lowering::define_same(const Node& node, ValueId id) {
  by_name_[node.outputs[0]] = id;
  values[id].n_uses += n_uses_[node.outputs[0]];
}

void Lowering::define_view(const Node& node, ValueId id, Shape shape, Order order) {
  const ValueId view = define(node, std::move(shape), std::move(order));
  values[view].lies_in = id;
}

Step& Lowering::emit(const Node& node, Kind kind, std::vector<ValueId> inputs, ValueId output) {
  values[output].step = steps.size();
  Step step;
  step.kind = kind;
  step.label = node.label();
  step.inputs = std::move(inputs);
  step.output = output;
  steps.push_back(std::move(step));
  return steps.back();
}

Step* Lowering::open_step(ValueId id) {
  const Value& value = values[id];
  if (value.n_uses != 1 || value.step == kNone || value.lies_in != kNone) return nullptr;
  Step& step = steps[value.step];
  return step.output == id && step.activation.is_identity() ? &step : nullptr;
}

void Lowering::continue_step(const Node& node, ValueId id) {
  const std::size_t step = values[id].step;
  const ValueId output = define(node, values[id].shape, values[id].order);
  values[output].step = step;
  values[id].step = kNone;
  steps[step].output = output;
}

void Lowering::activate(const Node& node, ValueId x, Activation activation) {
  if (Step* const step = open_step(x)) {
    const Kind kind = step->kind;
    if (kind == Kind::kProduct || kind == Kind::kSlide || kind == Kind::kScale || kind == Kind::kCombine) {
      step->activation = activation;
      continue_step(node, x);
      return;
    }
  }
  const ValueId output = define(node, shape(x), values[x].order);
  emit(node, Kind::kActivate, {x}, output).activation = activation;
}

std::size_t axis_of(const Node& node, std::int64_t axis, std::size_t rank) {
  const auto n = static_cast<std::int64_t>(rank);
  if (axis < -n || axis >= n)
    throw_input_error("{} has the axis {} of a tensor of {} dimensions", node.label(), axis, rank);
  return static_cast<std::size_t>(axis < 0 ? axis + n : axis);
}

void check_inputs(const Node& node, std::size_t least, std::size_t most) {
  if (node.inputs.size() < least || node.inputs.size() > most)
    throw_input_error("{} has {} inputs: it takes {}", node.label(), node.inputs.size(),
                      least == most ? std::to_string(least) : fmt::format("{} to {}", least, most));
}

void throw_lacking(const Node& node, const std::string& what) { throw_input_error("{}: {}", node.label(), what); }

Shape broadcast(const Node& node, const Shape& a, const Shape& b) {
  Shape result(std::max(a.size(), b.size()), 1);
  for (std::size_t i = 0; i < result.size(); ++i) {  // from the last axis on
    const std::int64_t x = i < a.size() ? a[a.size() - 1 - i] : 1;
    const std::int64_t y = i < b.size() ? b[b.size() - 1 - i] : 1;
    if (x != y && x != 1 && y != 1)
      throw_input_error("{} takes shapes that do not fit: {} and {}", node.label(), to_text(a), to_text(b));
    result[result.size() - 1 - i] = x == 1 ? y : x;
  }
  return result;
}

}  // namespace podere::graph
