// Where values lie, and what steps need in memory beside them.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "podere/base/error.h"
#include "podere/graph/lowering.h"

namespace podere::graph {
namespace {

constexpr std::size_t kAlignment = 16;  // floats

/// With room for vectors that read beyond the end.
std::size_t padded(std::size_t n) { return (n + 2 * kAlignment - 1) / kAlignment * kAlignment; }

/// Copies the outputs row by row out of the plan's own values.
void add_outputs(Lowering& lowering, Program& program) {
  for (const auto& [name, value] : lowering.outputs()) {
    const Shape shape = lowering.shape(value);
    Value output{name, shape, row_major(shape.size())};
    output.memory = Memory::kOutput;
    output.index = program.outputs.size();
    lowering.emit_copy(value, lowering.add_value(std::move(output)));
    program.outputs.push_back({name, shape});
  }
}

/// Puts values that are concatenated along the innermost axis between each other, where the result is to lie.
class Joining {
 public:
  Joining(std::vector<Value>& values, std::vector<Step>& steps) : values_(values), steps_(steps) {
    stays_.resize(values.size());
    is_filled_.resize(values.size());
    for (const Value& value : values_) {
      if (value.lies_in != kNone) stays_[value.lies_in] = true;  // rows of its other shape may be others
    }
    for (const Step& step : steps_) {
      if (step.is_removed) continue;
      const bool takes_rows = step.kind != Kind::kSoftmax && step.kind != Kind::kNormalize &&
                              step.kind != Kind::kLocalNorm && step.kind != Kind::kReduce && step.kind != Kind::kPick;
      const bool gives_rows = takes_rows;
      for (const ValueId input : step.inputs) {
        const bool by_columns =
            step.kind == Kind::kReduce && step.n_inner > 1 && step.n_inner == values_[input].width();
        if (!takes_rows && !by_columns) stays_[input] = true;
      }
      if (!gives_rows) stays_[step.output] = true;
      if (step.kind == Kind::kFill) is_filled_[step.output] = true;
    }
  }

  void join() {
    std::map<ValueId, std::vector<std::size_t>> copies;  // by what they write
    std::vector<ValueId> last_first;
    for (std::size_t i = steps_.size(); i-- > 0;) {
      if (steps_[i].is_removed || steps_[i].kind != Kind::kCopy) continue;
      auto& list = copies[steps_[i].output];
      if (list.empty()) last_first.push_back(steps_[i].output);
      list.push_back(i);
    }
    for (const ValueId y : last_first) {
      if (values_[y].memory != Memory::kWorkspace || is_filled_[y]) continue;
      const auto& list = copies[y];
      if (!is_part_of_another(y, list)) {
        for (const std::size_t i : list) place_within(i);
      }
    }
  }

 private:
  /// Whether the step copies all of a value, to a place along the innermost axis.
  bool is_concatenation(const Step& step) const {
    const Value& x = values_[step.inputs[0]];
    const Value& y = values_[step.output];
    if (x.order != y.order || x.shape.empty() || step.part.sizes != x.shape ||
        step.part.axes != row_major(x.shape.size()))
      return false;
    for (std::size_t axis = 0; axis < x.shape.size(); ++axis) {
      if (step.part.steps[axis] != 1 || step.part.from[axis] != 0) return false;
      if (axis == x.order.back()) continue;
      if (step.part.to[axis] != 0 || x.shape[axis] != y.shape[axis]) return false;
    }
    return true;
  }
  std::size_t place_of(const Step& step) const {
    return static_cast<std::size_t>(step.part.to[values_[step.output].order.back()]);
  }
  bool may_move(ValueId id) const {
    const Value& value = values_[id];
    return !stays_[id] && value.lies_in == kNone && !value.constant && value.memory == Memory::kWorkspace &&
           value.step != kNone;
  }

  /// All that makes `y` lies in another value already, side by side.
  bool is_part_of_another(ValueId y, const std::vector<std::size_t>& list) {
    if (!may_move(y)) return false;
    const ValueId other = values_[steps_[list[0]].inputs[0]].lies_in;
    std::size_t covered = 0;
    std::size_t first = 0;
    for (const std::size_t i : list) {
      const Step& step = steps_[i];
      const Value& x = values_[step.inputs[0]];
      if (other == kNone || x.lies_in != other || !joined_[step.inputs[0]] || !is_concatenation(step) ||
          x.lies_at < place_of(step))
        return false;
      if (covered == 0) first = x.lies_at - place_of(step);
      if (x.lies_at - place_of(step) != first) return false;
      covered += x.width();
    }
    if (covered != values_[y].width()) return false;
    values_[y].lies_in = other;
    values_[y].lies_at = first;
    joined_[y] = true;
    for (const std::size_t i : list) steps_[i].is_removed = true;
    return true;
  }

  void place_within(std::size_t i) {
    Step& step = steps_[i];
    const ValueId x = step.inputs[0];
    if (!may_move(x) || !is_concatenation(step)) return;
    values_[x].lies_in = step.output;
    values_[x].lies_at = place_of(step);
    joined_[x] = true;
    step.is_removed = true;
  }

  std::vector<Value>& values_;
  std::vector<Step>& steps_;
  std::vector<bool> stays_;
  std::vector<bool> is_filled_;  // after its parts would have been written
  std::map<ValueId, bool> joined_;
};

struct Root {
  ValueId id;
  std::size_t at;
};

/// The value whose memory this one's is.
Root root_of(const std::vector<Value>& values, ValueId id) {
  Root root{id, 0};
  while (values[root.id].lies_in != kNone) {
    root.at += values[root.id].lies_at;
    root.id = values[root.id].lies_in;
  }
  return root;
}

/// From the first step that writes a value to the last that reads it.
struct Life {
  std::size_t first = static_cast<std::size_t>(-1);
  std::size_t last = 0;
  bool meets(const Life& other) const { return first <= other.last && other.first <= last; }
};

/// Places so that values that are needed at the same time do not overlap: the largest first, each as low as it can be.
/// Returns the floats that this takes.
std::size_t lay_out(std::vector<Value>& values, const std::vector<Step>& steps) {
  std::map<ValueId, Life> lives;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (steps[i].is_removed) continue;
    const auto touch = [&](ValueId id) {
      Life& life = lives[root_of(values, id).id];
      life.first = std::min(life.first, i);
      life.last = std::max(life.last, i);
    };
    for (const ValueId id : steps[i].inputs) touch(id);
    touch(steps[i].output);
    if (steps[i].residual != kNone) touch(steps[i].residual);
  }
  std::vector<ValueId> ids;
  for (const auto& [id, life] : lives) {
    if (values[id].memory == Memory::kWorkspace && !values[id].constant) ids.push_back(id);
  }
  std::stable_sort(ids.begin(), ids.end(), [&](ValueId a, ValueId b) { return values[a].size() > values[b].size(); });
  std::size_t total = 0;
  std::vector<ValueId> placed;  // by offset
  for (const ValueId id : ids) {
    const std::size_t n = padded(values[id].size());
    std::size_t offset = 0;
    for (const ValueId other : placed) {
      if (!lives[id].meets(lives[other])) continue;
      if (offset + n <= values[other].offset) break;
      offset = std::max(offset, values[other].offset + padded(values[other].size()));
    }
    values[id].offset = offset;
    total = std::max(total, offset + n);
    placed.insert(std::find_if(placed.begin(), placed.end(), [&](ValueId p) { return values[p].offset > offset; }), id);
  }
  return total;
}

/// Row-major constants in another order.
void write_constant(const Value& value, float* to) {
  const auto n = value.size();
  std::vector<std::size_t> strides(value.shape.size(), 1);  // row-major
  for (std::size_t i = strides.size(); i-- > 1;) strides[i - 1] = strides[i] * static_cast<std::size_t>(value.shape[i]);
  std::vector<std::int64_t> index(value.shape.size());
  for (std::size_t i = 0; i < n; ++i) {
    std::size_t from = 0;
    for (std::size_t axis = 0; axis < index.size(); ++axis)
      from += strides[axis] * static_cast<std::size_t>(index[axis]);
    to[i] = value.constant->floats[from];
    for (std::size_t k = index.size(); k-- > 0 && ++index[value.order[k]] == value.shape[value.order[k]];) {
      index[value.order[k]] = 0;
    }
  }
}

/// Floats of a step's weights and bias as the kernels have them.
struct Sizes {
  std::size_t weights;
  std::size_t bias;
};
Sizes packed_sizes(const Step& step) {
  if (step.kind == Kind::kProduct) {
    const std::size_t n = packed_channels(step.out.c / step.n_groups);
    return {step.n_groups * n * step.window.n_taps() * (step.in.c / step.n_groups), step.n_groups * n};
  }
  if (step.kind == Kind::kSlide && step.over == Over::kWeights) {
    return {step.window.n_taps() * padded_channels(step.in.c), padded_channels(step.in.c)};
  }
  return {step.weights.size(), step.bias.size()};
}

/// Weights of one group as [depth][channels of the group], each rounded once.
std::vector<float> weights_by_depth(const Step& step, std::size_t group) {
  const std::size_t n = step.out.c / step.n_groups;
  const std::size_t n_in = step.in.c / step.n_groups;
  const std::size_t n_taps = step.window.n_taps();
  const std::vector<float>& source = step.source->floats;
  std::vector<float> result;
  result.reserve(n * n_in * n_taps);
  for (std::size_t tap = 0; tap < n_taps; ++tap) {
    for (std::size_t i = 0; i < n_in; ++i) {
      for (std::size_t o = group * n; o < (group + 1) * n; ++o) {
        std::size_t at = 0;
        if (step.layout == WeightsLayout::kOutInTaps) at = (o * n_in + i) * n_taps + tap;
        if (step.layout == WeightsLayout::kInOut) at = i * n + o;
        if (step.layout == WeightsLayout::kOutIn) at = o * n_in + i;
        result.push_back(static_cast<float>(source[at] * step.factors[o]));
      }
    }
  }
  return result;
}

void write_weights(const Step& step, float* weights, float* bias) {
  if (step.kind == Kind::kProduct) {
    const std::size_t n = step.out.c / step.n_groups;
    const std::size_t depth = step.window.n_taps() * (step.in.c / step.n_groups);
    for (std::size_t g = 0; g < step.n_groups; ++g) {
      pack(weights_by_depth(step, g), depth, n, weights + g * depth * packed_channels(n));
      std::copy_n(step.bias.begin() + static_cast<std::ptrdiff_t>(g * n), n, bias + g * packed_channels(n));
    }
    return;
  }
  if (step.kind == Kind::kSlide) {
    const std::size_t n_taps = step.window.n_taps();
    for (std::size_t c = 0; c < step.in.c; ++c) {
      for (std::size_t tap = 0; tap < n_taps; ++tap) {
        weights[tap * padded_channels(step.in.c) + c] =
            static_cast<float>(step.source->floats[c * n_taps + tap] * step.factors[c]);
      }
    }
  } else {
    std::copy(step.weights.begin(), step.weights.end(), weights);
  }
  std::copy(step.bias.begin(), step.bias.end(), bias);
}

void check_memory(std::size_t floats, const PlanOptions& options) {
  if (floats > options.memory_limit / sizeof(float))
    throw_input_error(
        "the network needs {} MB for an input of {}: {} MB are allowed; give it fewer or smaller pictures",
        floats * sizeof(float) / 1000000, to_text(options.input), options.memory_limit / 1000000);
}

void place_constants(Program& program, const PlanOptions& options) {
  std::size_t total = kAlignment;
  const auto take = [&](std::size_t n) {
    const std::size_t at = total;
    total += padded(n);
    check_memory(total, options);
    return at;
  };
  std::vector<bool> is_read(program.values.size());
  for (const Step& step : program.steps) {
    if (step.is_removed) continue;
    for (const ValueId id : step.inputs) is_read[root_of(program.values, id).id] = true;
  }
  for (Step& step : program.steps) {
    if (step.bias.empty()) continue;
    const Sizes sizes = packed_sizes(step);
    step.weights_at = take(sizes.weights);
    step.bias_at = take(sizes.bias);
  }
  for (std::size_t i = 0; i < program.values.size(); ++i) {
    Value& value = program.values[i];
    if (!value.constant || !is_read[i] || !value.constant->is_float) continue;
    value.memory = Memory::kConstant;
    value.offset = take(value.size());
  }
  program.constants = HugeArray<float>(total);
  for (Step& step : program.steps) {
    if (step.bias.empty()) continue;
    float* const weights = program.constants.data() + step.weights_at;
    float* const bias = program.constants.data() + step.bias_at;
    const Sizes sizes = packed_sizes(step);
    std::fill_n(weights, padded(sizes.weights), 0.0F);
    std::fill_n(bias, padded(sizes.bias), 0.0F);
    write_weights(step, weights, bias);
    step.weights = {};
    step.source = nullptr;
    step.bias = {};
  }
  for (Value& value : program.values) {
    if (value.memory == Memory::kConstant) {
      float* const to = program.constants.data() + value.offset;
      std::fill_n(to, padded(value.size()), 0.0F);
      write_constant(value, to);
    }
    value.constant = nullptr;
  }
}

/// Loops of several operands, without axes of one index, neighbors joined where all operands run through.
struct Loops {
  std::vector<std::size_t> sizes;
  std::vector<std::vector<std::ptrdiff_t>> strides;  // [operand][axis]

  void add(std::size_t size, const std::vector<std::ptrdiff_t>& steps) {
    if (size == 1) return;
    const std::size_t last = sizes.size() - 1;
    bool runs_through = !sizes.empty();
    for (std::size_t i = 0; runs_through && i < steps.size(); ++i) {
      runs_through = strides[i][last] == steps[i] * static_cast<std::ptrdiff_t>(size);
    }
    if (runs_through) {
      sizes[last] *= size;
      for (std::size_t i = 0; i < steps.size(); ++i) strides[i][last] = steps[i];
      return;
    }
    sizes.push_back(size);
    for (std::size_t i = 0; i < steps.size(); ++i) strides[i].push_back(steps[i]);
  }
  void close(bool needs_runs) {
    bool is_run = !sizes.empty();
    for (const auto& operand : strides) is_run = is_run && (operand.back() == 0 || operand.back() == 1);
    if (is_run && strides.back().back() == 1) return;
    if (!sizes.empty() && !needs_runs) return;
    sizes.push_back(1);
    for (auto& operand : strides) operand.push_back(1);
  }
};

CopyLoops copy_loops(const std::vector<Value>& values, const Step& step) {
  const Value& x = values[step.inputs[0]];
  const Value& y = values[step.output];
  const auto x_strides = x.strides();
  const auto y_strides = y.strides();
  CopyLoops result;
  for (std::size_t axis = 0; axis < x.shape.size(); ++axis) result.from += x_strides[axis] * step.part.from[axis];
  Loops loops;
  loops.strides.resize(2);
  for (const std::size_t axis : y.order) {
    const std::size_t along = step.part.axes[axis];
    const std::ptrdiff_t from = along == kNone ? 0 : x_strides[along] * step.part.steps[axis];
    result.to += y_strides[axis] * step.part.to[axis];
    loops.add(static_cast<std::size_t>(step.part.sizes[axis]), {from, y_strides[axis]});
  }
  loops.close(false);
  result.sizes = loops.sizes;
  result.from_strides = loops.strides[0];
  result.to_strides = loops.strides[1];
  return result;
}

CombineLoops combine_loops(const std::vector<Value>& values, const Step& step) {
  const Value& y = values[step.output];
  const auto y_strides = y.strides();
  const auto strides = [&](ValueId id) {  // along the result's axes
    const Value& x = values[id];
    const auto its = x.strides();
    std::vector<std::ptrdiff_t> result(y.shape.size(), 0);
    const std::size_t missing = y.shape.size() - x.shape.size();
    for (std::size_t i = 0; i < x.shape.size(); ++i) result[i + missing] = x.shape[i] == 1 ? 0 : its[i];
    return result;
  };
  const auto a = strides(step.inputs[0]);
  const auto b = strides(step.inputs[1]);
  Loops loops;
  loops.strides.resize(3);
  for (const std::size_t axis : y.order)
    loops.add(static_cast<std::size_t>(y.shape[axis]), {a[axis], b[axis], y_strides[axis]});
  loops.close(true);
  return {loops.sizes, loops.strides[0], loops.strides[1], loops.strides[2]};
}

}  // namespace

Program place(Lowering lowering, const PlanOptions& options) {
  Program program;
  program.input = options.input;
  add_outputs(lowering, program);
  program.values = std::move(lowering.values);
  program.steps = std::move(lowering.steps);
  Joining(program.values, program.steps).join();
  std::erase_if(program.steps, [](const Step& step) { return step.is_removed; });
  place_constants(program, options);
  program.workspace_floats = lay_out(program.values, program.steps);
  check_memory(program.constants.size() + program.workspace_floats, options);
  for (std::size_t id = 0; id < program.values.size(); ++id) {
    Value& value = program.values[id];
    const Root root = root_of(program.values, id);
    const Value& in = program.values[root.id];
    value.memory = in.memory;
    value.index = in.index;
    value.offset = in.offset + root.at;
    // Rows of a part are as far from each other as those of the whole; a view of another shape has no gaps.
    value.stride = in.size() == value.size() ? value.width() : in.width();
  }
  for (Step& step : program.steps) {
    if (step.kind == Kind::kProduct || step.kind == Kind::kSlide) {
      step.in.stride = program.values[step.inputs[0]].stride;
      step.out.stride = program.values[step.output].stride;
      const bool multiplies = step.kind == Kind::kProduct || step.over == Over::kWeights;
      const std::size_t depth = step.window.n_taps() * (step.in.c / step.n_groups);
      if (multiplies) program.multiply_adds += step.out.n_pixels() * step.out.c * depth;
    }
    program.copies.push_back(step.kind == Kind::kCopy ? copy_loops(program.values, step) : CopyLoops{});
    program.combines.push_back(step.kind == Kind::kCombine ? combine_loops(program.values, step) : CombineLoops{});
  }
  return program;
}

}  // namespace podere::graph
