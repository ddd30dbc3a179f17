// A network made ready to run on inputs of one shape.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "podere/base/huge_array.h"
#include "podere/graph/network.h"

namespace podere::graph {

/// To be raised with each change of the kernels that gives other bits: what was computed before and is kept (features
/// of pictures, the parts of a run that was ended) is not put beside it then.
inline constexpr int kBitsVersion = 1;

struct PlanOptions {
  Shape input = {};  ///< all dimensions: pictures, channels, height, width (as the network has them)
  std::vector<std::string> outputs =
      {};  ///< names of tensors to compute, any of the graph; empty: the network's outputs
  std::size_t memory_limit = std::size_t{4} << 30;  ///< bytes of weights and Workspace beyond which the plan is refused
};

struct Program;  // steps and packed weights

/// Shapes, order of steps, places in memory and packed weights: made once, then shared by any number of threads that
/// run it, each with a Workspace of its own. Operators that only make features for outputs that are not asked for are
/// left out.
class Plan {
 public:
  /// Throws InputError if the input's shape does not fit, if a name in `outputs` is none of the network's tensors (the
  /// nearest name is shown), or if an operator has no meaning for these shapes or is one that Podere lacks.
  Plan(const Network& network, const PlanOptions& options);

  const Shape& input() const;                ///< its shape
  const std::vector<Port>& outputs() const;  ///< names and shapes, all known, as ONNX has them (row-major)
  std::size_t weight_bytes() const;          ///< shared
  std::size_t workspace_bytes() const;       ///< of each Workspace
  std::size_t multiply_adds() const;         ///< of one run, in products and convolutions
  const Program& program() const { return *program_; }

 private:
  std::shared_ptr<const Program> program_;
};

/// The memory of a thread, or a team of threads, that runs a plan.
class Workspace {
 public:
  explicit Workspace(const Plan& plan, int n_threads = 1);
  int n_threads() const { return n_threads_; }
  float* values() { return values_.data(); }
  float* scratch(int thread);

 private:
  HugeArray<float> values_;
  HugeArray<float> scratch_;
  int n_threads_;
};

/// Computes `outputs` [one span for each of plan.outputs(), of its number of elements] of `input`, row-major. The bits
/// depend on nothing but network and input: each picture of a batch gets what it gets alone (so a batch that is not
/// full may be filled up with anything), and threads and instruction sets do not matter. No value is
/// allocated. Operators are spread over the workspace's threads by parallel_for; several threads may run one plan at
/// the same time, each with its own workspace. Throws InputError if input or outputs have other sizes.
void run(const Plan& plan, Workspace& workspace, std::span<const float> input,
         std::span<const std::span<float>> outputs);

}  // namespace podere::graph
