// Convolutions, pooling and matrix products.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "podere/base/error.h"
#include "podere/graph/lowering.h"

namespace podere::graph {
namespace {

constexpr std::int64_t kMostTaps = 4096;  // along an axis, of windows, strides, dilations and padding

/// Two-dimensional: of one axis the other is 1.
Image image_of(const Node& node, const Shape& shape) {
  if (shape.size() != 3 && shape.size() != 4)
    throw_lacking(
        node, fmt::format("its input has the shape {}: Podere has windows over one or two dimensions", to_text(shape)));
  const auto size = [&](std::size_t axis) { return static_cast<std::size_t>(shape[axis]); };
  const bool is_line = shape.size() == 3;
  return {size(0), is_line ? 1 : size(2), is_line ? size(2) : size(3), size(1), 0};
}

Shape shape_of(const Image& image, std::size_t rank) {
  const auto size = [](std::size_t n) { return static_cast<std::int64_t>(n); };
  if (rank == 3) return {size(image.n), size(image.c), size(image.w)};
  return {size(image.n), size(image.c), size(image.h), size(image.w)};
}

/// An attribute of one number for each dimension, or each side of each dimension; with a leading `first` where there
/// is one dimension alone.
std::vector<std::size_t> sizes_of(const Node& node, const std::string& attribute, std::size_t n, std::int64_t least,
                                  std::int64_t otherwise) {
  std::vector<std::int64_t> sizes = node.integers(attribute, std::vector<std::int64_t>(n, otherwise));
  if (sizes.size() != n)
    throw_input_error("{}: the attribute '{}' has {} numbers, not {}", node.label(), attribute, sizes.size(), n);
  std::vector<std::size_t> result;
  for (const std::int64_t size : sizes) {
    if (size < least || size > kMostTaps)
      throw_input_error("{}: the attribute '{}' is {}: {} to {} are allowed", node.label(), attribute, size, least,
                        kMostTaps);
    result.push_back(static_cast<std::size_t>(size));
  }
  return result;
}

struct Axis {
  std::size_t kernel, stride, dilation, before, after;
  std::size_t out;
};

/// One axis of a window: padding by auto_pad, and the size of the result.
Axis axis_window(const Node& node, std::size_t size, Axis axis, bool rounds_up) {
  const std::string pad = node.text("auto_pad", "NOTSET");
  const std::size_t span = (axis.kernel - 1) * axis.dilation + 1;
  if (pad == "VALID") axis.before = axis.after = 0;
  if (pad == "SAME_UPPER" || pad == "SAME_LOWER") {
    axis.out = (size + axis.stride - 1) / axis.stride;
    const std::size_t needed = (axis.out - 1) * axis.stride + span;
    const std::size_t missing = needed > size ? needed - size : 0;
    axis.before = pad == "SAME_UPPER" ? missing / 2 : (missing + 1) / 2;
    axis.after = missing - axis.before;
    return axis;
  }
  if (pad != "NOTSET" && pad != "VALID") throw_lacking(node, "auto_pad '" + pad + "' is unknown");
  const std::size_t padded = size + axis.before + axis.after;
  if (padded < span)
    throw_input_error("{}: its window of {} is larger than the input of {} with its padding", node.label(), span,
                      padded);
  axis.out = (padded - span) / axis.stride + 1;
  if (rounds_up && (padded - span) % axis.stride != 0 && axis.out * axis.stride < size + axis.before) ++axis.out;
  return axis;
}

/// Window and size of the result; the channels are left to the caller.
Window window_of(const Node& node, const std::vector<std::int64_t>& kernel, const Image& in, bool rounds_up,
                 Image& out) {
  const std::size_t n = kernel.size();
  const auto strides = sizes_of(node, "strides", n, 1, 1);
  const auto dilations = sizes_of(node, "dilations", n, 1, 1);
  const auto pads = sizes_of(node, "pads", 2 * n, 0, 0);
  const auto axis = [&](std::size_t i, std::size_t size) {
    if (kernel[i] < 1 || kernel[i] > kMostTaps)
      throw_input_error("{} has a window of {}: 1 to {} are allowed", node.label(), kernel[i], kMostTaps);
    return axis_window(node, size,
                       {static_cast<std::size_t>(kernel[i]), strides[i], dilations[i], pads[i], pads[n + i], 0},
                       rounds_up);
  };
  const Axis x = axis(n - 1, in.w);
  const Axis y = n == 2 ? axis(0, in.h) : Axis{1, 1, 1, 0, 0, 1};
  out = {in.n, y.out, x.out, in.c, 0};
  return {y.kernel, x.kernel, y.stride, x.stride, y.dilation, x.dilation, y.before, x.before, y.after, x.after};
}

ValueId last_channels(Lowering& lowering, ValueId id) {
  return lowering.in_order(id, channels_last(lowering.rank(id)));
}

void lower_conv(Lowering& lowering, const Node& node) {
  check_inputs(node, 2, 3);
  const ValueId x = last_channels(lowering, lowering.input(node, 0));
  const std::size_t rank = lowering.rank(x);
  const Image in = image_of(node, lowering.shape(x));
  const TensorPtr w = lowering.constant_input(node, 1);
  if (!w->is_float) throw_lacking(node, "its weights are integers");
  const std::size_t n_groups = [&] {
    const std::int64_t group = node.integer("group", 1);
    if (group < 1 || static_cast<std::size_t>(group) > in.c) throw_lacking(node, fmt::format("its group is {}", group));
    return static_cast<std::size_t>(group);
  }();
  const bool fits = w->shape.size() == rank && w->size() > 0 && in.c % n_groups == 0 &&
                    static_cast<std::size_t>(w->shape[1]) == in.c / n_groups &&
                    static_cast<std::size_t>(w->shape[0]) % n_groups == 0;
  if (!fits)
    throw_input_error("{}: weights of the shape {} in {} groups do not fit an input of the shape {}", node.label(),
                      to_text(w->shape), n_groups, to_text(lowering.shape(x)));
  const std::vector<std::int64_t> kernel(w->shape.begin() + 2, w->shape.end());
  if (node.has("kernel_shape") && node.integers("kernel_shape") != kernel)
    throw_input_error("{}: kernel_shape is not that of its weights, {}", node.label(), to_text(w->shape));
  Image out;
  const Window window = window_of(node, kernel, in, false, out);
  out.c = static_cast<std::size_t>(w->shape[0]);
  std::vector<float> bias(out.c);
  if (node.has_input(2)) bias = lowering.constant_floats(node, 2);
  if (bias.size() != out.c)
    throw_input_error("{}: its bias has {} numbers for {} channels", node.label(), bias.size(), out.c);
  const ValueId y = lowering.define(node, shape_of(out, rank), channels_last(rank));
  const bool is_depthwise = n_groups == in.c && n_groups == out.c && in.c > 1;
  Step& step = lowering.emit(node, is_depthwise ? Kind::kSlide : Kind::kProduct, {x}, y);
  step.over = Over::kWeights;
  step.window = window;
  step.in = in;
  step.out = out;
  step.n_groups = n_groups;
  step.source = w;
  step.factors.assign(out.c, 1.0);
  step.bias = std::move(bias);
}

void lower_pool(Lowering& lowering, const Node& node) {
  check_inputs(node, 1, 1);
  const ValueId x = last_channels(lowering, lowering.input(node, 0));
  const std::size_t rank = lowering.rank(x);
  const Image in = image_of(node, lowering.shape(x));
  const std::vector<std::int64_t> kernel = node.integers("kernel_shape");
  if (kernel.size() != rank - 2) throw_lacking(node, "kernel_shape does not have a number for each dimension");
  if (node.integer("storage_order", 0) != 0) throw_lacking(node, "Podere does not have storage_order");
  Image out;
  const Window window = window_of(node, kernel, in, node.integer("ceil_mode", 0) != 0, out);
  const ValueId y = lowering.define(node, shape_of(out, rank), channels_last(rank));
  Step& step = lowering.emit(node, Kind::kSlide, {x}, y);
  const bool counts_padding = node.type == "AveragePool" && node.integer("count_include_pad", 0) != 0;
  const Over average = counts_padding ? Over::kAverageWithPadding : Over::kAverage;
  step.over = node.type == "MaxPool" ? Over::kMaximum : average;
  step.window = window;
  step.in = in;
  step.out = out;
}

/// The channels of a value if a constant is one number for each, or for all: those as numbers.
std::vector<float> for_channels(const TensorPtr& tensor, std::size_t axis, const Shape& shape) {
  const auto n = static_cast<std::size_t>(shape[axis]);
  if (tensor->size() == 1) return std::vector<float>(n, tensor->floats[0]);
  if (tensor->size() != n || tensor->shape.size() > shape.size()) return {};
  const std::size_t from_end = shape.size() - axis;
  if (tensor->shape.size() < from_end || static_cast<std::size_t>(tensor->shape[tensor->shape.size() - from_end]) != n)
    return {};
  return tensor->floats;
}

/// y = x scale + shift for each channel, into the convolution or product before, where there is one.
void scale_channels(Lowering& lowering, const Node& node, ValueId x, const std::vector<double>& scale,
                    const std::vector<double>& shift) {
  Step* const step = lowering.open_step(x);
  const bool is_open = step != nullptr && step->residual == kNone &&
                       (step->kind == Kind::kProduct || (step->kind == Kind::kSlide && step->over == Over::kWeights));
  if (is_open && step->bias.size() == scale.size()) {
    for (std::size_t o = 0; o < scale.size(); ++o) step->factors[o] *= scale[o];
    for (std::size_t o = 0; o < scale.size(); ++o)
      step->bias[o] = static_cast<float>(step->bias[o] * scale[o] + shift[o]);
    lowering.continue_step(node, x);
    return;
  }
  const Shape shape = lowering.shape(x);
  const ValueId y = lowering.define(node, shape, lowering.values[x].order);
  Step& scaling = lowering.emit(node, Kind::kScale, {x}, y);
  scaling.weights.assign(scale.begin(), scale.end());
  scaling.bias.assign(shift.begin(), shift.end());
}

void lower_batch_norm(Lowering& lowering, const Node& node) {
  check_inputs(node, 5, 5);
  if (node.integer("training_mode", 0) != 0)
    throw_lacking(node, "it is in training mode: export the network for inference");
  if (node.integer("spatial", 1) != 1) throw_lacking(node, "Podere has it for channels alone");
  const ValueId x = last_channels(lowering, lowering.input(node, 0));
  if (lowering.rank(x) < 2) throw_lacking(node, "its input has no channels");
  const auto n = static_cast<std::size_t>(lowering.shape(x)[1]);
  std::vector<std::vector<float>> parts;
  for (std::size_t i = 1; i < 5; ++i) {
    parts.push_back(lowering.constant_floats(node, i));
    if (parts.back().size() != n)
      throw_input_error("{}: its input {} has {} numbers for {} channels", node.label(), i + 1, parts.back().size(), n);
  }
  const double epsilon = node.number("epsilon", 1e-5F);
  std::vector<double> scale(n);
  std::vector<double> shift(n);
  for (std::size_t c = 0; c < n; ++c) {
    scale[c] = parts[0][c] / std::sqrt(parts[3][c] + epsilon);
    shift[c] = parts[1][c] - parts[2][c] * scale[c];
  }
  scale_channels(lowering, node, x, scale, shift);
}

/// out [rows x n] = x [rows x k] weights [k x n] + bias, over the last axis of x in memory.
void emit_product(Lowering& lowering, const Node& node, ValueId x, ValueId y, TensorPtr weights, WeightsLayout layout,
                  std::vector<float> bias) {
  const std::size_t n = bias.size();
  const auto k = weights->size() / n;
  Step& step = lowering.emit(node, Kind::kProduct, {x}, y);
  const std::size_t n_rows = lowering.values[x].size() / k;
  step.in = {n_rows, 1, 1, k, 0};
  step.out = {n_rows, 1, 1, n, 0};
  step.source = std::move(weights);
  step.layout = layout;
  step.factors.assign(n, 1.0);
  step.bias = std::move(bias);
}

void lower_gemm(Lowering& lowering, const Node& node) {
  check_inputs(node, 2, 3);
  ValueId x = lowering.input(node, 0);
  const TensorPtr w = lowering.constant_input(node, 1);
  if (!w->is_float) throw_lacking(node, "its weights are integers");
  if (lowering.rank(x) != 2 || w->shape.size() != 2)
    throw_lacking(node, fmt::format("it takes matrices, not {} and {}", to_text(lowering.shape(x)), to_text(w->shape)));
  const bool takes_columns = node.integer("transA", 0) != 0;
  x = lowering.in_order(x, takes_columns ? Order{1, 0} : Order{0, 1});
  const std::int64_t n_rows = lowering.shape(x)[takes_columns ? 1 : 0];
  const std::int64_t k = lowering.shape(x)[takes_columns ? 0 : 1];
  const bool is_transposed = node.integer("transB", 0) != 0;
  const std::int64_t n = w->shape[is_transposed ? 0 : 1];
  if (w->shape[is_transposed ? 1 : 0] != k || n == 0 || k == 0)
    throw_input_error("{} takes shapes that do not fit: {} and {}", node.label(), to_text(lowering.shape(x)),
                      to_text(w->shape));
  const auto n_out = static_cast<std::size_t>(n);

  std::vector<float> bias(n_out);
  if (node.has_input(2)) {
    const TensorPtr c = lowering.constant_input(node, 2);
    lowering.constant_floats(node, 2);
    bias = for_channels(c, 1, {n_rows, n});
    if (bias.empty())
      throw_lacking(node, fmt::format("Podere has C of one number a column, not of {}", to_text(c->shape)));
    for (float& value : bias) value *= node.number("beta", 1.0F);
  }
  const ValueId y = lowering.define(node, {n_rows, n}, row_major(2));
  emit_product(lowering, node, x, y, w, is_transposed ? WeightsLayout::kOutIn : WeightsLayout::kInOut, std::move(bias));
  lowering.steps.back().factors.assign(n_out, static_cast<double>(node.number("alpha", 1.0F)));
}

void lower_matmul(Lowering& lowering, const Node& node) {
  check_inputs(node, 2, 2);
  ValueId x = lowering.input(node, 0);
  const TensorPtr w = lowering.constant_input(node, 1);
  if (!w->is_float) throw_lacking(node, "its weights are integers");
  const std::size_t rank = lowering.rank(x);
  if (rank < 2 || w->shape.size() != 2)
    throw_lacking(node, fmt::format("Podere multiplies by matrices of weights, not {} by {}",
                                    to_text(lowering.shape(x)), to_text(w->shape)));
  if (lowering.values[x].order.back() != rank - 1) x = lowering.in_order(x, row_major(rank));
  Shape shape = lowering.shape(x);
  const std::int64_t k = shape.back();
  const std::int64_t n = w->shape[1];
  if (w->shape[0] != k || n == 0 || k == 0)
    throw_input_error("{} takes shapes that do not fit: {} and {}", node.label(), to_text(shape), to_text(w->shape));
  shape.back() = n;
  const ValueId y = lowering.define(node, shape, lowering.values[x].order);
  emit_product(lowering, node, x, y, w, WeightsLayout::kInOut, std::vector<float>(static_cast<std::size_t>(n)));
}

void lower_lrn(Lowering& lowering, const Node& node) {
  check_inputs(node, 1, 1);
  const ValueId x = last_channels(lowering, lowering.input(node, 0));
  const std::int64_t size = node.integer("size");
  if (size < 1 || size > kMostTaps) throw_lacking(node, fmt::format("its size is {}", size));
  const ValueId y = lowering.define(node, lowering.shape(x), lowering.values[x].order);
  Step& step = lowering.emit(node, Kind::kLocalNorm, {x}, y);
  step.local = {static_cast<std::size_t>(size), node.number("alpha", 1e-4F), node.number("beta", 0.75F),
                node.number("bias", 1.0F)};
}

}  // namespace

bool scale_by_constant(Lowering& lowering, const Node& node, ValueId x, const TensorPtr& constant, Pair pair) {
  const Value& value = lowering.values[x];
  const Step* const step = lowering.open_step(x);
  const bool is_open = step != nullptr && step->residual == kNone &&
                       (step->kind == Kind::kProduct || (step->kind == Kind::kSlide && step->over == Over::kWeights));
  if (!is_open || !constant->is_float || constant->size() == 0 || value.shape.empty()) return false;
  if (constant->shape.size() > value.shape.size()) return false;
  const std::vector<float> numbers = for_channels(constant, value.order.back(), value.shape);
  if (numbers.empty()) return false;
  std::vector<double> scale(numbers.size(), 1);
  std::vector<double> shift(numbers.size(), 0);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (pair == Pair::kMultiply) scale[i] = numbers[i];
    if (pair == Pair::kDivide) scale[i] = 1.0 / numbers[i];
    if (pair == Pair::kAdd) shift[i] = numbers[i];
    if (pair == Pair::kSubtract) shift[i] = -static_cast<double>(numbers[i]);
  }
  scale_channels(lowering, node, x, scale, shift);
  return true;
}

std::vector<LowerEntry> window_operators() {
  return {{"Conv", lower_conv},        {"MaxPool", lower_pool},
          {"AveragePool", lower_pool}, {"BatchNormalization", lower_batch_norm},
          {"Gemm", lower_gemm},        {"MatMul", lower_matmul},
          {"LRN", lower_lrn}};
}

}  // namespace podere::graph
