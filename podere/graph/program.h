// What a plan has worked out: values, steps, and where all lies in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "podere/base/huge_array.h"
#include "podere/graph/activation.h"
#include "podere/graph/network.h"
#include "podere/graph/product_kernel.h"
#include "podere/graph/row_kernel.h"
#include "podere/graph/tensor.h"
#include "podere/graph/window_kernel.h"

namespace podere::graph {

/// Axes of a value from the outermost in memory to the innermost. {0, 1, 2, 3} is row-major; {0, 2, 3, 1} has the
/// channels last.
using Order = std::vector<std::size_t>;

Order row_major(std::size_t rank);
Order channels_last(std::size_t rank);

using ValueId = std::size_t;
constexpr ValueId kNone = static_cast<ValueId>(-1);

enum class Memory { kWorkspace, kInput, kOutput, kConstant };

/// A tensor. In memory it is rows of the innermost axis, one every `stride` floats: more than the axis has where
/// values that are concatenated lie between each other.
struct Value {
  std::string name;
  Shape shape;
  Order order;
  TensorPtr constant = nullptr;
  int n_uses = 0;            ///< by operators, and as an output
  std::size_t step = kNone;  ///< that computes it
  ValueId lies_in = kNone;   ///< another value whose memory this one is in, or is
  std::size_t lies_at = 0;   ///< floats from the other's begin
  Memory memory = Memory::kWorkspace;
  std::size_t index = 0;   ///< of the output
  std::size_t offset = 0;  ///< floats from the begin of its memory
  std::size_t stride = 0;  ///< of rows

  std::size_t width() const { return shape.empty() ? 1 : static_cast<std::size_t>(shape[order.back()]); }
  std::size_t size() const;
  std::size_t n_rows() const { return width() == 0 ? 0 : size() / width(); }
  /// Floats from one index of each axis to the next.
  std::vector<std::ptrdiff_t> strides() const;
};

/// A part of one value that becomes a part of another. Axes as the output's; a stride may be 0 or negative.
struct Part {
  Shape sizes;
  std::vector<std::size_t> axes;    ///< of the input, that each axis runs along; kNone: it stays
  std::vector<std::int64_t> steps;  ///< along it
  std::vector<std::int64_t> from;   ///< first index of each axis of the input
  std::vector<std::int64_t> to;     ///< first index of each axis of the output
};

/// How the weights of a product lie in the file.
enum class WeightsLayout { kOutInTaps, kInOut, kOutIn };

enum class Kind {
  kProduct,
  kSlide,
  kActivate,
  kScale,
  kCombine,
  kReduce,
  kSoftmax,
  kNormalize,
  kLocalNorm,
  kCopy,
  kPick,
  kFill
};

struct Step {
  Kind kind = Kind::kCopy;
  std::string label;
  std::vector<ValueId> inputs;
  ValueId output = kNone;
  bool is_removed = false;  ///< joined with another

  Activation activation = {};
  ValueId residual = kNone;
  // kProduct, kSlide: the file's weights, to be multiplied by a factor of each output channel when they are packed
  TensorPtr source = nullptr;
  WeightsLayout layout = WeightsLayout::kOutInTaps;
  std::vector<double> factors = {};
  // kScale, kNormalize: scale and shift; kProduct, kSlide: bias
  std::vector<float> weights = {};
  std::vector<float> bias = {};
  std::size_t weights_at = 0;  // in the constants
  std::size_t bias_at = 0;
  Window window = {};
  Image in = {};
  Image out = {};
  std::size_t n_groups = 1;
  Over over = Over::kMaximum;
  Pair pair = Pair::kAdd;
  Reduction reduction = Reduction::kSum;
  std::size_t n_reduced = 1;   // kReduce: values of each result
  std::size_t n_inner = 1;     // kReduce: results that lie next to each other
  std::size_t run = 1;         // kSoftmax, kNormalize: values of each run
  std::size_t n_channels = 1;  // kNormalize: runs that have a scale of their own; 0: each value of a run has
  bool is_log = false;
  float epsilon = 0;
  float fill = 0;
  LocalNorm local = {};
  Part part = {};
  std::vector<std::size_t> indices = {};  // kPick: out[i][j][k] = in[i][indices[j]][k], k < n_inner, of n_reduced
};

/// Loops over a part, worked out.
struct CopyLoops {
  std::vector<std::size_t> sizes;  // outermost first
  std::vector<std::ptrdiff_t> from_strides;
  std::vector<std::ptrdiff_t> to_strides;
  std::ptrdiff_t from = 0;
  std::ptrdiff_t to = 0;
};

struct CombineLoops {
  std::vector<std::size_t> sizes;
  std::vector<std::ptrdiff_t> a, b, to;
};

struct Program {
  std::vector<Value> values;
  std::vector<Step> steps;
  std::vector<CopyLoops> copies;       // of each step
  std::vector<CombineLoops> combines;  // of each step
  HugeArray<float> constants;
  std::size_t workspace_floats = 0;
  Shape input;
  std::vector<Port> outputs;
  std::size_t multiply_adds = 0;
};

}  // namespace podere::graph
