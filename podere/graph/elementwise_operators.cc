// Operators on each element.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "podere/base/error.h"
#include "podere/graph/lowering.h"

namespace podere::graph {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

void lower_function(Lowering& lowering, const Node& node) {
  check_inputs(node, 1, 1);
  const auto activation = [&]() -> Activation {
    const std::string& type = node.type;
    if (type == "Relu") return {Function::kClip, 0, kInfinity};
    if (type == "LeakyRelu") return {Function::kLeakyRelu, node.number("alpha", 0.01F), 0};
    if (type == "HardSigmoid") return {Function::kHardSigmoid, node.number("alpha", 0.2F), node.number("beta", 0.5F)};
    if (type == "HardSwish") return {Function::kHardSwish};
    if (type == "Elu") return {Function::kElu, node.number("alpha", 1.0F), 0};
    if (type == "Swish") return {Function::kSilu, node.number("alpha", 1.0F), 0};
    if (type == "Gelu") {
      const std::string how = node.text("approximate", "none");
      if (how != "none" && how != "tanh") throw_lacking(node, "approximate '" + how + "' is unknown");
      return {how == "none" ? Function::kGelu : Function::kGeluTanh};
    }
    static const std::map<std::string, Function> kOthers = {
        {"Sigmoid", Function::kSigmoid}, {"Tanh", Function::kTanh}, {"Erf", Function::kErf},
        {"Mish", Function::kMish},       {"Exp", Function::kExp},   {"Log", Function::kLog},
        {"Sqrt", Function::kSqrt},       {"Abs", Function::kAbs},   {"Neg", Function::kNeg},
        {"Floor", Function::kFloor},     {"Ceil", Function::kCeil}, {"Reciprocal", Function::kReciprocal}};
    return {kOthers.at(type)};
  }();
  lowering.activate(node, lowering.input(node, 0), activation);
}

void lower_clip(Lowering& lowering, const Node& node) {
  check_inputs(node, 1, 3);
  Activation activation;
  const auto bound = [&](std::size_t i, const char* attribute, float otherwise) {
    if (!node.has_input(i)) return node.number(attribute, otherwise);
    const std::vector<float> values = lowering.constant_floats(node, i);
    if (values.size() != 1) throw_lacking(node, fmt::format("its bound has {} numbers", values.size()));
    return values[0];
  };
  activation.a = bound(1, "min", -kInfinity);
  activation.b = bound(2, "max", kInfinity);
  lowering.activate(node, lowering.input(node, 0), activation);
}

/// Where `id` is function(x) and nothing else takes it: removes that step.
bool remove_step(Lowering& lowering, ValueId id, ValueId x, const std::vector<Function>& functions, Activation& found) {
  const Value& value = lowering.values[id];
  if (value.n_uses != 1 || value.step == kNone || value.lies_in != kNone) return false;
  Step& step = lowering.steps[value.step];
  if (step.kind != Kind::kActivate || step.output != id || step.inputs[0] != x) return false;
  if (std::find(functions.begin(), functions.end(), step.activation.function) == functions.end()) return false;
  found = step.activation;
  step.is_removed = true;
  --lowering.values[x].n_uses;
  return true;
}

/// x times sigmoid(x) or hard sigmoid(x).
bool lower_gate(Lowering& lowering, const Node& node, ValueId x, ValueId gate) {
  const Value& value = lowering.values[gate];
  if (value.step == kNone || lowering.steps[value.step].is_removed) return false;
  const Activation is = lowering.steps[value.step].activation;
  const bool is_hard = is.function == Function::kHardSigmoid && std::abs(is.a - 1.0F / 6) < 1e-6F && is.b == 0.5F;
  if (is.function != Function::kSigmoid && !is_hard) return false;
  Activation found;
  if (!remove_step(lowering, gate, x, {Function::kSigmoid, Function::kHardSigmoid}, found)) return false;
  lowering.activate(node, x, is_hard ? Activation{Function::kHardSwish, 0, 0} : Activation{Function::kSilu, 1, 0});
  return true;
}

/// Adds to the product that computes the later of two values.
bool lower_residual(Lowering& lowering, const Node& node, ValueId a, ValueId b) {
  if (lowering.shape(a) != lowering.shape(b) || lowering.values[a].order != lowering.values[b].order) return false;
  if (lowering.constant(a) || lowering.constant(b) || a == b) return false;
  const auto made = [&](ValueId id) {  // after how many steps it is there
    ValueId root = id;
    while (lowering.values[root].lies_in != kNone) root = lowering.values[root].lies_in;
    const std::size_t step = lowering.values[root].step;
    return step == kNone ? 0 : step + 1;
  };
  if (made(a) < made(b)) std::swap(a, b);
  Step* const step = lowering.open_step(a);
  if (step == nullptr || step->kind != Kind::kProduct || step->residual != kNone || made(b) >= made(a)) return false;
  step->residual = b;
  lowering.continue_step(node, a);
  return true;
}

void lower_pair(Lowering& lowering, const Node& node) {
  static const std::map<std::string, Pair> kPairs = {
      {"Add", Pair::kAdd},    {"Sub", Pair::kSubtract}, {"Mul", Pair::kMultiply},
      {"Div", Pair::kDivide}, {"Max", Pair::kMaximum},  {"Min", Pair::kMinimum},
      {"Pow", Pair::kPower},  {"PRelu", Pair::kPRelu},  {"Sum", Pair::kAdd}};
  check_inputs(node, 2, 2);
  const Pair pair = kPairs.at(node.type);
  ValueId a = lowering.input(node, 0);
  ValueId b = lowering.input(node, 1);
  if (pair == Pair::kPower && lowering.constant(b) && !lowering.constant(b)->is_float) {
    const TensorPtr exponent = lowering.constant(b);
    lowering.values[b].constant =
        make_tensor(exponent->shape, std::vector<float>(exponent->integers.begin(), exponent->integers.end()));
  }
  for (const ValueId id : {a, b}) {
    if (lowering.constant(id) && !lowering.constant(id)->is_float) throw_lacking(node, "it takes integers");
  }
  const bool commutes = pair == Pair::kAdd || pair == Pair::kMultiply;
  const bool is_linear = commutes || pair == Pair::kSubtract || pair == Pair::kDivide;
  if (lowering.constant(b) && is_linear && scale_by_constant(lowering, node, a, lowering.constant(b), pair)) return;
  if (lowering.constant(a) && commutes && scale_by_constant(lowering, node, b, lowering.constant(a), pair)) return;
  if (pair == Pair::kAdd && lower_residual(lowering, node, a, b)) return;
  if (pair == Pair::kMultiply && (lower_gate(lowering, node, a, b) || lower_gate(lowering, node, b, a))) return;
  const Shape shape = broadcast(node, lowering.shape(a), lowering.shape(b));
  // The order of the operand that has the result's shape; the other one's strides follow.
  const bool a_leads = lowering.shape(a) == shape && !(lowering.constant(a) && lowering.shape(b) == shape);
  const ValueId leading = a_leads ? a : b;
  const Order order = lowering.shape(leading) == shape ? lowering.values[leading].order : row_major(shape.size());
  const auto arrange = [&](ValueId id) {
    if (lowering.rank(id) == shape.size()) return lowering.in_order(id, order);
    Order its;  // the axes that it has
    const std::size_t missing = shape.size() - lowering.rank(id);
    for (const std::size_t axis : order) {
      if (axis >= missing) its.push_back(axis - missing);
    }
    return lowering.in_order(id, its);
  };
  a = arrange(a);
  b = arrange(b);
  const ValueId y = lowering.define(node, shape, order);
  lowering.emit(node, Kind::kCombine, {a, b}, y).pair = pair;
}

void lower_several(Lowering& lowering, const Node& node) {
  if (node.inputs.size() == 1) return lowering.define_same(node, lowering.input(node, 0));
  if (node.inputs.size() > 2)
    throw_lacking(node, fmt::format("Podere has it for two inputs, not {}", node.inputs.size()));
  lower_pair(lowering, node);
}

}  // namespace

std::vector<LowerEntry> elementwise_operators() {
  return {{"Relu", lower_function},
          {"LeakyRelu", lower_function},
          {"HardSigmoid", lower_function},
          {"Elu", lower_function},
          {"Swish", lower_function},
          {"HardSwish", lower_function},
          {"Gelu", lower_function},
          {"Sigmoid", lower_function},
          {"Tanh", lower_function},
          {"Erf", lower_function},
          {"Mish", lower_function},
          {"Exp", lower_function},
          {"Log", lower_function},
          {"Sqrt", lower_function},
          {"Abs", lower_function},
          {"Neg", lower_function},
          {"Floor", lower_function},
          {"Ceil", lower_function},
          {"Reciprocal", lower_function},
          {"Clip", lower_clip},
          {"Add", lower_pair},
          {"Sub", lower_pair},
          {"Mul", lower_pair},
          {"Div", lower_pair},
          {"Pow", lower_pair},
          {"PRelu", lower_pair},
          {"Max", lower_several},
          {"Min", lower_several},
          {"Sum", lower_several}};
}

}  // namespace podere::graph
