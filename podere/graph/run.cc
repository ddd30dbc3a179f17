#include <algorithm>
#include <array>

#include "podere/base/error.h"
#include "podere/base/parallel.h"
#include "podere/graph/plan.h"
#include "podere/graph/program.h"

namespace podere::graph {
namespace {

constexpr std::size_t kFewElements = 16384;  // for which threads would cost more than they save
constexpr std::size_t kTaskElements = 8192;

/// A run of a program.
class Run {
 public:
  Run(const Program& program, Workspace& workspace, std::span<const float> input,
      std::span<const std::span<float>> outputs)
      : program_(program), workspace_(workspace), input_(input), outputs_(outputs) {}

  void step(std::size_t i) {
    const Step& step = program_.steps[i];
    switch (step.kind) {
      case Kind::kProduct:
        return product(step);
      case Kind::kSlide:
        return slide(step);
      case Kind::kActivate:
        return by_rows(
            step, [&](const float* from, float* to, std::size_t n) { graph::activate(step.activation, from, to, n); });
      case Kind::kScale:
        return scale(step);
      case Kind::kCombine:
        return combine(step, program_.combines[i]);
      case Kind::kReduce:
        return reduce(step);
      case Kind::kSoftmax:
        return by_runs(step,
                       [&](const float* from, float* to, std::size_t) { softmax(from, to, step.run, step.is_log); });
      case Kind::kNormalize:
        return by_runs(step, [&](const float* from, float* to, std::size_t run) {
          const std::size_t channel = step.n_channels == 0 ? 0 : run % step.n_channels;
          normalize(from, to, step.run, step.epsilon, constants() + step.weights_at + channel,
                    constants() + step.bias_at + channel, step.n_channels == 0 ? 1 : 0);
        });
      case Kind::kLocalNorm:
        return by_rows(
            step, [&](const float* from, float* to, std::size_t n) { normalize_locally(step.local, from, to, n); });
      case Kind::kCopy:
        return copy(step, program_.copies[i]);
      case Kind::kPick:
        return pick(step);
      case Kind::kFill:
        return fill(step);
    }
  }

 private:
  const float* constants() const { return program_.constants.data(); }
  const Value& value(ValueId id) const { return program_.values[id]; }
  const float* read(ValueId id) const {
    const Value& v = value(id);
    switch (v.memory) {
      case Memory::kInput:
        return input_.data() + v.offset;
      case Memory::kConstant:
        return program_.constants.data() + v.offset;
      case Memory::kOutput:
        return outputs_[v.index].data() + v.offset;
      default:
        return workspace_.values() + v.offset;
    }
  }
  float* written(ValueId id) const {
    const Value& v = value(id);
    return (v.memory == Memory::kOutput ? outputs_[v.index].data() : workspace_.values()) + v.offset;
  }
  int threads_for(std::size_t n_elements) const { return n_elements < kFewElements ? 1 : workspace_.n_threads(); }

  void product(const Step& step) {
    Product p;
    p.in = step.in;
    p.out = step.out;
    p.window = step.window;
    p.n_groups = step.n_groups;
    p.input = read(step.inputs[0]);
    p.weights = constants() + step.weights_at;
    p.bias = constants() + step.bias_at;
    p.output = written(step.output);
    p.activation = step.activation;
    if (step.residual != kNone) {
      p.residual = read(step.residual);
      p.residual_stride = value(step.residual).stride;
    }
    const int n_threads = threads_for(p.out.n_pixels() * p.out.c * p.depth() / 16);
    const ProductTasks tasks(p, n_threads);
    parallel_for(n_threads, tasks.size(),
                 [&](std::size_t task, int thread) { multiply(p, tasks, task, workspace_.scratch(thread)); });
  }

  void slide(const Step& step) {
    Sliding s;
    s.over = step.over;
    s.in = step.in;
    s.out = step.out;
    s.window = step.window;
    s.input = read(step.inputs[0]);
    s.weights = constants() + step.weights_at;
    s.bias = constants() + step.bias_at;
    s.output = written(step.output);
    s.activation = step.activation;
    parallel_for(threads_for(s.out.n_pixels() * s.out.c), s.out.n * s.out.h,
                 [&](std::size_t row, int) { graph::slide(s, row); });
  }

  /// Calls body(from, to, width) for all rows of the input; values without gaps are one row in pieces, unless the rows
  /// themselves matter.
  template <typename Body>
  void by_rows(const Step& step, const Body& body) {
    const Value& x = value(step.inputs[0]);
    const Value& y = value(step.output);
    const float* const from = read(step.inputs[0]);
    float* const to = written(step.output);
    const bool is_one = step.kind == Kind::kActivate && x.stride == x.width() && y.stride == y.width();
    const std::size_t n = x.size();
    if (is_one) {
      parallel_for_slices(threads_for(n), n, kTaskElements, [&](std::size_t begin, std::size_t end, int) {
        body(from + begin, to + begin, end - begin);
      });
      return;
    }
    const std::size_t width = x.width();
    parallel_for_slices(threads_for(n), x.n_rows(), std::max<std::size_t>(kTaskElements / width, 1),
                        [&](std::size_t begin, std::size_t end, int) {
                          for (std::size_t row = begin; row < end; ++row)
                            body(from + row * x.stride, to + row * y.stride, width);
                        });
  }

  void scale(const Step& step) {
    by_rows(step, [&](const float* from, float* to, std::size_t n) {
      scale_and_shift(from, constants() + step.weights_at, constants() + step.bias_at, step.activation, to, n);
    });
  }

  /// Calls body(from, to, run) for runs of step.run values that lie without gaps.
  template <typename Body>
  void by_runs(const Step& step, const Body& body) {
    const float* const from = read(step.inputs[0]);
    float* const to = written(step.output);
    const std::size_t n = value(step.output).size();
    parallel_for_slices(threads_for(n), n / step.run, std::max<std::size_t>(kTaskElements / step.run, 1),
                        [&](std::size_t begin, std::size_t end, int) {
                          for (std::size_t run = begin; run < end; ++run)
                            body(from + run * step.run, to + run * step.run, run);
                        });
  }

  /// Calls body(offsets of each operand) for all indices but those of the innermost loop.
  template <std::size_t kOperands, typename Body>
  void nest(const std::vector<std::size_t>& sizes,
            const std::array<const std::vector<std::ptrdiff_t>*, kOperands>& strides, const Body& body) {
    const std::size_t n_axes = sizes.size() - 1;
    std::size_t n_outer = 1;
    for (std::size_t axis = 0; axis < n_axes; ++axis) n_outer *= sizes[axis];
    const std::size_t n = n_outer * sizes.back();
    parallel_for_slices(threads_for(n), n_outer, std::max<std::size_t>(kTaskElements / sizes.back(), 1),
                        [&](std::size_t begin, std::size_t end, int) {
                          for (std::size_t outer = begin; outer < end; ++outer) {
                            std::array<std::ptrdiff_t, kOperands> offsets{};
                            std::size_t rest = outer;
                            for (std::size_t axis = n_axes; axis-- > 0; rest /= sizes[axis]) {
                              const auto index = static_cast<std::ptrdiff_t>(rest % sizes[axis]);
                              for (std::size_t k = 0; k < kOperands; ++k) offsets[k] += (*strides[k])[axis] * index;
                            }
                            body(offsets);
                          }
                        });
  }

  void combine(const Step& step, const CombineLoops& loops) {
    const float* const a = read(step.inputs[0]);
    const float* const b = read(step.inputs[1]);
    float* const to = written(step.output);
    const auto a_step = static_cast<std::size_t>(loops.a.back());
    const auto b_step = static_cast<std::size_t>(loops.b.back());
    if (loops.sizes.size() == 1 && loops.sizes[0] > kTaskElements) {  // in pieces
      parallel_for_slices(threads_for(loops.sizes[0]), loops.sizes[0], kTaskElements,
                          [&](std::size_t begin, std::size_t end, int) {
                            graph::combine(step.pair, a + begin * a_step, a_step, b + begin * b_step, b_step,
                                           step.activation, to + begin, end - begin);
                          });
      return;
    }
    nest<3>(loops.sizes, {&loops.a, &loops.b, &loops.to}, [&](const auto& at) {
      graph::combine(step.pair, a + at[0], a_step, b + at[1], b_step, step.activation, to + at[2], loops.sizes.back());
    });
  }

  void copy(const Step& step, const CopyLoops& loops) {
    const float* const from = read(step.inputs[0]) + loops.from;
    float* const to = written(step.output) + loops.to;
    const std::size_t n = loops.sizes.back();
    const std::ptrdiff_t from_step = loops.from_strides.back();
    const std::ptrdiff_t to_step = loops.to_strides.back();
    nest<2>(loops.sizes, {&loops.from_strides, &loops.to_strides}, [&](const auto& at) {
      const float* x = from + at[0];
      float* y = to + at[1];
      if (from_step == 1 && to_step == 1) {
        std::copy_n(x, n, y);
      } else {
        for (std::size_t i = 0; i < n; ++i, x += from_step, y += to_step) *y = *x;
      }
    });
  }

  void pick(const Step& step) {
    const float* const from = read(step.inputs[0]);
    float* const to = written(step.output);
    const std::size_t n = step.indices.size();
    const std::size_t n_runs = value(step.output).size() / step.n_inner;
    for (std::size_t run = 0; run < n_runs; ++run) {
      std::copy_n(from + (run / n * step.n_reduced + step.indices[run % n]) * step.n_inner, step.n_inner,
                  to + run * step.n_inner);
    }
  }

  void fill(const Step& step) {
    const Value& y = value(step.output);
    float* const to = written(step.output);
    for (std::size_t row = 0; row < y.n_rows(); ++row) std::fill_n(to + row * y.stride, y.width(), step.fill);
  }

  void reduce(const Step& step) {
    const Value& x = value(step.inputs[0]);
    const float* const from = read(step.inputs[0]);
    float* const to = written(step.output);
    const std::size_t n_outer = x.size() / step.n_reduced / step.n_inner;
    const std::size_t stride = step.n_inner == x.width() ? x.stride : step.n_inner;
    constexpr std::size_t kColumns = 64;
    if (step.n_inner == 1) {
      parallel_for_slices(threads_for(x.size()), n_outer, std::max<std::size_t>(kTaskElements / step.n_reduced, 1),
                          [&](std::size_t begin, std::size_t end, int) {
                            for (std::size_t i = begin; i < end; ++i) {
                              to[i] = reduce_run(step.reduction, from + i * step.n_reduced, step.n_reduced);
                            }
                          });
      return;
    }
    const std::size_t n_parts = (step.n_inner + kColumns - 1) / kColumns;
    parallel_for(threads_for(x.size()), n_outer * n_parts, [&](std::size_t task, int) {
      const std::size_t i = task / n_parts;
      const std::size_t j = task % n_parts * kColumns;
      reduce_columns(step.reduction, from + i * step.n_reduced * stride + j, step.n_reduced, stride,
                     std::min(kColumns, step.n_inner - j), to + i * step.n_inner + j);
    });
  }

  const Program& program_;
  Workspace& workspace_;
  std::span<const float> input_;
  std::span<const std::span<float>> outputs_;
};

}  // namespace

std::size_t Plan::workspace_bytes() const { return (program_->workspace_floats + product_scratch()) * sizeof(float); }

Workspace::Workspace(const Plan& plan, int n_threads)
    : values_(plan.program().workspace_floats),
      scratch_(product_scratch() * static_cast<std::size_t>(std::max(n_threads, 1))),
      n_threads_(std::max(n_threads, 1)) {
  std::fill_n(values_.data(), values_.size(), 0.0F);
  std::fill_n(scratch_.data(), scratch_.size(), 0.0F);
}

float* Workspace::scratch(int thread) { return scratch_.data() + static_cast<std::size_t>(thread) * product_scratch(); }

void run(const Plan& plan, Workspace& workspace, std::span<const float> input,
         std::span<const std::span<float>> outputs) {
  const Program& program = plan.program();
  const auto check = [](std::size_t size, const Shape& shape, const char* what) {
    if (size != n_elements(shape, what))
      throw_input_error("{} has {} numbers, but the shape is {}", what, size, to_text(shape));
  };
  check(input.size(), program.input, "the input");
  if (outputs.size() != program.outputs.size())
    throw_input_error("{} outputs for the {} of the network", outputs.size(), program.outputs.size());
  for (std::size_t i = 0; i < outputs.size(); ++i) check(outputs[i].size(), program.outputs[i].shape, "an output");
  Run run(program, workspace, input, outputs);
  for (std::size_t i = 0; i < program.steps.size(); ++i) run.step(i);
}

}  // namespace podere::graph
