// Operators on constants, computed once: above all shapes, which exporters compute in the graph.
#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "podere/base/error.h"
#include "podere/graph/lowering.h"
#include "podere/graph/shapes.h"

namespace podere::graph {
namespace {

constexpr std::size_t kMostElements = std::size_t{1} << 28;

struct Folding {
  const Node& node;
  const std::vector<TensorPtr>& inputs;
  std::int64_t opset;

  const Tensor& at(std::size_t i) const {
    if (i >= inputs.size() || !inputs[i]) throw_input_error("{} has no input {}", node.label(), i + 1);
    return *inputs[i];
  }
  bool has(std::size_t i) const { return i < inputs.size() && inputs[i]; }
  const std::vector<std::int64_t>& integers(std::size_t i) const {
    if (at(i).is_float) throw_input_error("{}: its input {} holds no integers", node.label(), i + 1);
    return at(i).integers;
  }
  /// An attribute, or input `i` in later opsets.
  std::optional<std::vector<std::int64_t>> numbers(const char* attribute, std::size_t i) const {
    if (node.has(attribute)) return node.integers(attribute);
    if (has(i)) return integers(i);
    return std::nullopt;
  }
};

TensorPtr with_shape(const Tensor& tensor, Shape shape) {
  Tensor result = tensor;
  result.shape = std::move(shape);
  return std::make_shared<const Tensor>(std::move(result));
}

/// result[i] = source[element_of(i)], of the shape's elements in row-major order.
template <typename F>
TensorPtr pick(const Folding& f, const Tensor& source, Shape shape, const F& element_of) {
  const std::size_t n = n_elements(shape, "the result of " + f.node.label(), kMostElements);
  Tensor result{std::move(shape), source.is_float};
  (source.is_float ? result.floats.resize(n) : result.integers.resize(n));
  const std::size_t rank = result.shape.size();
  std::vector<std::int64_t> index(rank);
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t from = element_of(index);
    if (source.is_float) {
      result.floats[i] = source.floats[from];
    } else {
      result.integers[i] = source.integers[from];
    }
    for (std::size_t axis = rank; axis-- > 0 && ++index[axis] == result.shape[axis];) index[axis] = 0;
  }
  return std::make_shared<const Tensor>(std::move(result));
}

std::vector<std::int64_t> strides_of(const Shape& shape) {
  std::vector<std::int64_t> strides(shape.size(), 1);
  for (std::size_t i = shape.size(); i-- > 1;) strides[i - 1] = strides[i] * shape[i];
  return strides;
}

/// The element of a tensor that is broadcast to the index's shape.
std::size_t broadcast_element(const Shape& shape, const std::vector<std::int64_t>& strides,
                              const std::vector<std::int64_t>& index) {
  std::int64_t at = 0;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] > 1) at += strides[i] * index[index.size() - shape.size() + i];
  }
  return static_cast<std::size_t>(at);
}

TensorPtr expand(const Folding& f, const Tensor& tensor, const Shape& shape) {
  const auto strides = strides_of(tensor.shape);
  return pick(f, tensor, shape, [&](const auto& index) { return broadcast_element(tensor.shape, strides, index); });
}

template <typename T>
TensorPtr as_list(std::vector<T> values) {
  const auto n = static_cast<std::int64_t>(values.size());
  return make_tensor({n}, std::move(values));
}

TensorPtr fold_constant(const Folding& f) {
  if (f.node.has("value")) return f.node.tensor("value");
  if (f.node.has("value_int")) return make_tensor({}, std::vector<std::int64_t>{f.node.integer("value_int")});
  if (f.node.has("value_float")) return make_tensor({}, std::vector<float>{f.node.number("value_float")});
  if (f.node.has("value_ints")) {
    auto values = f.node.integers("value_ints");
    return as_list(std::move(values));
  }
  if (f.node.has("value_floats")) {
    auto values = f.node.numbers("value_floats");
    return as_list(std::move(values));
  }
  throw_lacking(f.node, "its value is no number");
}

TensorPtr fold_constant_of_shape(const Folding& f) {
  const TensorPtr value = f.node.has("value") ? f.node.tensor("value") : make_tensor({1}, std::vector<float>{0.0F});
  if (value->size() != 1) throw_lacking(f.node, "its value is not one number");
  return expand(f, *with_shape(*value, {}), f.integers(0));
}

TensorPtr fold_gather(const Folding& f) {
  const Tensor& x = f.at(0);
  const std::vector<std::int64_t>& indices = f.integers(1);
  const std::size_t axis = axis_of(f.node, f.node.integer("axis", 0), x.shape.size());
  for (const std::int64_t index : indices) {
    if (index < -x.shape[axis] || index >= x.shape[axis])
      throw_input_error("{} takes index {} of {}", f.node.label(), index, x.shape[axis]);
  }
  const Shape& index_shape = f.at(1).shape;
  const std::size_t n = index_shape.size();
  Shape shape = x.shape;
  const auto at = shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(axis));
  shape.insert(at, index_shape.begin(), index_shape.end());
  const auto strides = strides_of(x.shape);
  const auto index_strides = strides_of(index_shape);
  return pick(f, x, shape, [&](const std::vector<std::int64_t>& index) {
    std::int64_t which = 0;
    for (std::size_t i = 0; i < n; ++i) which += index_strides[i] * index[axis + i];
    const std::int64_t chosen = indices[static_cast<std::size_t>(which)];
    std::int64_t from = strides[axis] * (chosen < 0 ? chosen + x.shape[axis] : chosen);
    for (std::size_t i = 0; i < axis; ++i) from += strides[i] * index[i];
    for (std::size_t i = axis + 1; i < x.shape.size(); ++i) from += strides[i] * index[i - 1 + n];
    return static_cast<std::size_t>(from);
  });
}

TensorPtr fold_slice(const Folding& f) {
  const Tensor& x = f.at(0);
  const auto starts = f.numbers("starts", 1);
  const auto ends = f.numbers("ends", 2);
  if (!starts || !ends) throw_lacking(f.node, "it has no starts or ends");
  const auto slices = slices_of(f.node, x.shape, *starts, *ends, f.numbers("axes", 3), f.numbers("steps", 4));
  Shape shape;
  for (const AxisSlice& slice : slices) shape.push_back(slice.size);
  const auto strides = strides_of(x.shape);
  return pick(f, x, shape, [&](const auto& index) {
    std::int64_t from = 0;
    for (std::size_t i = 0; i < index.size(); ++i) from += strides[i] * (slices[i].first + slices[i].step * index[i]);
    return static_cast<std::size_t>(from);
  });
}

TensorPtr fold_transpose(const Folding& f) {
  const Tensor& x = f.at(0);
  const auto axes = permutation(f.node, x.shape.size());
  const auto strides = strides_of(x.shape);
  Shape shape;
  for (const std::size_t axis : axes) shape.push_back(x.shape[axis]);
  return pick(f, x, shape, [&](const auto& index) {
    std::int64_t from = 0;
    for (std::size_t i = 0; i < index.size(); ++i) from += strides[axes[i]] * index[i];
    return static_cast<std::size_t>(from);
  });
}

TensorPtr fold_concat(const Folding& f) {
  Shape shape = f.at(0).shape;
  const std::size_t axis = axis_of(f.node, f.node.integer("axis"), shape.size());
  const auto n_before = [&](const Shape& s) {
    return n_elements(Shape(s.begin(), s.begin() + static_cast<std::ptrdiff_t>(axis)), f.node.label());
  };
  Tensor result{shape, f.at(0).is_float};
  result.shape[axis] = 0;
  for (std::size_t i = 0; i < f.inputs.size(); ++i) {
    Shape expected = f.at(i).shape;
    if (expected.size() != shape.size() || f.at(i).is_float != result.is_float)
      throw_lacking(f.node, "its inputs are of other types or numbers of dimensions");
    result.shape[axis] += expected[axis];
    expected[axis] = shape[axis];
    if (expected != shape) throw_lacking(f.node, "its inputs have shapes that do not fit");
  }
  for (std::size_t row = 0; row < n_before(shape); ++row) {
    for (std::size_t i = 0; i < f.inputs.size(); ++i) {
      const std::size_t n = f.at(i).size() / n_before(shape);
      const auto add = [&](const auto& from, auto& to) {
        const auto begin = from.begin() + static_cast<std::ptrdiff_t>(row * n);
        to.insert(to.end(), begin, begin + static_cast<std::ptrdiff_t>(n));
      };
      result.is_float ? add(f.at(i).floats, result.floats) : add(f.at(i).integers, result.integers);
    }
  }
  return std::make_shared<const Tensor>(std::move(result));
}

TensorPtr fold_cast(const Folding& f) {
  const Tensor& x = f.at(0);
  const std::int64_t to = f.node.integer("to");
  const bool is_float = to == 1 || to == 10 || to == 11 || to == 16;
  const bool is_truth = to == 9;
  const bool is_integer = (to >= 2 && to <= 7) || to == 12 || to == 13;
  if (!is_float && !is_truth && !is_integer) throw_lacking(f.node, "Podere does not have the type that it casts to");
  Tensor result{x.shape, is_float};
  const auto take = [&](auto value) {
    if (is_float) {
      result.floats.push_back(static_cast<float>(value));
    } else if (is_truth) {
      result.integers.push_back(value != 0 ? 1 : 0);
    } else if constexpr (std::is_same_v<decltype(value), float>) {
      if (!(std::abs(value) < 0x1p62F)) throw_lacking(f.node, "a number is beyond those of integers");
      result.integers.push_back(static_cast<std::int64_t>(value));
    } else {
      result.integers.push_back(value);
    }
  };
  if (x.is_float) {
    std::for_each(x.floats.begin(), x.floats.end(), take);
  } else {
    std::for_each(x.integers.begin(), x.integers.end(), take);
  }
  return std::make_shared<const Tensor>(std::move(result));
}

/// Wraps around rather than overflows.
std::int64_t wrapped(std::uint64_t value) { return static_cast<std::int64_t>(value); }

std::int64_t on_integers(const Node& node, std::int64_t a, std::int64_t b) {
  const std::string& type = node.type;
  const auto ua = static_cast<std::uint64_t>(a);
  const auto ub = static_cast<std::uint64_t>(b);
  if (type == "Add") return wrapped(ua + ub);
  if (type == "Sub") return wrapped(ua - ub);
  if (type == "Mul") return wrapped(ua * ub);
  if (type == "Max") return std::max(a, b);
  if (type == "Min") return std::min(a, b);
  if (type == "And") return a & b;
  if (type == "Or") return a | b;
  if (type == "Equal") return a == b ? 1 : 0;
  if (type == "Less") return a < b ? 1 : 0;
  if (type == "LessOrEqual") return a <= b ? 1 : 0;
  if (type == "Greater") return a > b ? 1 : 0;
  if (type == "GreaterOrEqual") return a >= b ? 1 : 0;
  if (b == 0 || b == -1) {
    if (b == 0 || type == "Mod") throw_lacking(node, b == 0 ? "it divides by 0" : "it takes the rest by -1");
    return wrapped(0 - ua);
  }
  if (type == "Div") return a / b;
  return a % b + ((a % b != 0 && (a < 0) != (b < 0)) ? b : 0);  // Mod
}

float on_floats(const Node& node, float a, float b) {
  const std::string& type = node.type;
  if (type == "Add") return a + b;
  if (type == "Sub") return a - b;
  if (type == "Mul") return a * b;
  if (type == "Div") return a / b;
  if (type == "Max") return std::max(a, b);
  if (type == "Min") return std::min(a, b);
  throw_lacking(node, "Podere does not compute it for constants of float32");
}

TensorPtr fold_pair(const Folding& f) {
  check_inputs(f.node, 2, 2);
  const Tensor& a = f.at(0);
  const Tensor& b = f.at(1);
  if (a.is_float != b.is_float) throw_lacking(f.node, "its inputs are of different types");
  const Shape shape = broadcast(f.node, a.shape, b.shape);
  const TensorPtr x = expand(f, a, shape);
  const TensorPtr y = expand(f, b, shape);
  Tensor result{shape, a.is_float};
  for (std::size_t i = 0; i < x->size(); ++i) {
    if (a.is_float) {
      result.floats.push_back(on_floats(f.node, x->floats[i], y->floats[i]));
    } else {
      result.integers.push_back(on_integers(f.node, x->integers[i], y->integers[i]));
    }
  }
  return std::make_shared<const Tensor>(std::move(result));
}

TensorPtr fold_where(const Folding& f) {
  check_inputs(f.node, 3, 3);
  const Shape shape = broadcast(f.node, broadcast(f.node, f.at(0).shape, f.at(1).shape), f.at(2).shape);
  f.integers(0);
  if (f.at(1).is_float != f.at(2).is_float) throw_lacking(f.node, "its inputs are of different types");
  const TensorPtr which = expand(f, f.at(0), shape);
  Tensor result = *expand(f, f.at(1), shape);
  const TensorPtr otherwise = expand(f, f.at(2), shape);
  for (std::size_t i = 0; i < which->size(); ++i) {
    if (which->integers[i] != 0) continue;
    if (result.is_float) {
      result.floats[i] = otherwise->floats[i];
    } else {
      result.integers[i] = otherwise->integers[i];
    }
  }
  return std::make_shared<const Tensor>(std::move(result));
}

TensorPtr fold_range(const Folding& f) {
  if (f.integers(0).size() != 1 || f.integers(1).size() != 1 || f.integers(2).size() != 1 || f.integers(2)[0] == 0)
    throw_lacking(f.node, "it does not have three integers, the last not 0");
  const double start = static_cast<double>(f.integers(0)[0]);
  const double n = std::ceil((static_cast<double>(f.integers(1)[0]) - start) / static_cast<double>(f.integers(2)[0]));
  if (n > 1e6) throw_lacking(f.node, "it is too long");
  std::vector<std::int64_t> values;
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(n); ++i) {
    values.push_back(wrapped(static_cast<std::uint64_t>(f.integers(0)[0]) +
                             static_cast<std::uint64_t>(i) * static_cast<std::uint64_t>(f.integers(2)[0])));
  }
  return as_list(std::move(values));
}

/// Of all elements, as shapes need it.
TensorPtr fold_product(const Folding& f) {
  if (f.at(0).is_float || f.at(0).shape.size() != 1) return nullptr;
  std::uint64_t product = 1;
  for (const std::int64_t value : f.integers(0)) product *= static_cast<std::uint64_t>(value);
  const bool keeps = f.node.integer("keepdims", 1) != 0;
  return make_tensor(keeps ? Shape{1} : Shape{}, std::vector<std::int64_t>{wrapped(product)});
}

TensorPtr fold_shape(const Folding& f) {
  const std::vector<std::int64_t>& all = f.integers(0);  // the caller has put the shape there
  const auto n = static_cast<std::int64_t>(all.size());
  const auto place = [&](std::int64_t at) { return std::clamp<std::int64_t>(at < 0 ? at + n : at, 0, n); };
  const std::int64_t from = place(f.node.integer("start", 0));
  const std::int64_t until = std::max(from, place(f.node.integer("end", n)));
  std::vector<std::int64_t> part(all.begin() + from, all.begin() + until);
  return make_tensor({until - from}, std::move(part));
}

TensorPtr fold_square_root(const Folding& f) {
  if (!f.at(0).is_float) throw_lacking(f.node, "it takes integers");
  Tensor result = f.at(0);
  for (float& value : result.floats) value = std::sqrt(value);
  return std::make_shared<const Tensor>(std::move(result));
}

TensorPtr fold_not(const Folding& f) {
  std::vector<std::int64_t> values = f.integers(0);
  for (std::int64_t& value : values) value = value == 0 ? 1 : 0;
  return make_tensor(f.at(0).shape, std::move(values));
}

using Fold = TensorPtr (*)(const Folding&);

const std::map<std::string, Fold>& table() {
  static const std::map<std::string, Fold> entries = [] {
    std::map<std::string, Fold> result = {
        {"Constant", fold_constant},
        {"ConstantOfShape", fold_constant_of_shape},
        {"Shape", fold_shape},
        {"Gather", fold_gather},
        {"Slice", fold_slice},
        {"Transpose", fold_transpose},
        {"Concat", fold_concat},
        {"Cast", fold_cast},
        {"Where", fold_where},
        {"Range", fold_range},
        {"ReduceProd", fold_product},
        {"Sqrt", fold_square_root},
        {"Not", fold_not},
        {"Identity", [](const Folding& f) { return f.inputs.at(0); }},
        {"Reshape",
         [](const Folding& f) { return with_shape(f.at(0), reshaped(f.node, f.at(0).shape, f.integers(1))); }},
        {"Squeeze",
         [](const Folding& f) { return with_shape(f.at(0), squeezed(f.node, f.at(0).shape, f.numbers("axes", 1))); }},
        {"Unsqueeze",
         [](const Folding& f) {
           const auto axes = f.numbers("axes", 1);
           if (!axes) throw_lacking(f.node, "it has no axes");
           return with_shape(f.at(0), unsqueezed(f.node, f.at(0).shape, *axes));
         }},
        {"Expand",
         [](const Folding& f) { return expand(f, f.at(0), broadcast(f.node, f.at(0).shape, f.integers(1))); }},
    };
    for (const char* type : {"Add", "Sub", "Mul", "Div", "Mod", "Max", "Min", "And", "Or", "Equal", "Less",
                             "LessOrEqual", "Greater", "GreaterOrEqual"}) {
      result[type] = fold_pair;
    }
    return result;
  }();
  return entries;
}

}  // namespace

TensorPtr fold(const Node& node, const std::vector<TensorPtr>& inputs, std::int64_t opset) {
  const auto found = table().find(node.type);
  if (found == table().end()) return nullptr;
  if (inputs.empty() && node.type != "Constant") throw_input_error("{} has no inputs", node.label());
  TensorPtr result = found->second({node, inputs, opset});
  if (result && (result->is_float ? result->floats.size() : result->integers.size()) !=
                    n_elements(result->shape, "the result of " + node.label(), kMostElements))
    throw_input_error("{} takes the elements of its input to the shape {}: other numbers of elements", node.label(),
                      to_text(result->shape));
  return result;
}

}  // namespace podere::graph
