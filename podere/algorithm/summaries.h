// What a run shows in TensorBoard.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "podere/base/json.h"

namespace podere::algorithm {

/// An operator or a constant of a graph. Names with slashes lie in boxes: "layer_1/weights" in "layer_1".
struct GraphNode {
  std::string name;
  std::string op;                   ///< such as "MatMul"
  std::vector<std::string> inputs;  ///< names of nodes
  std::vector<std::int64_t> shape;  ///< of the output; -1: any
};

/// Where a run writes what it shows. All of it does nothing on ranks other than 0, and where the user did not ask.
class Summaries {
 public:
  virtual ~Summaries() = default;
  virtual bool are_wanted() const { return false; }
  /// Steps, or rounds, between two points of a curve; 0: as the algorithm thinks best.
  virtual std::size_t steps_apart() const { return 0; }

  /// To be called first: the run continues after `n_steps`, with these options. What earlier runs wrote of later steps
  /// no longer counts.
  virtual void begin(std::size_t /*n_steps*/, const Json& /*options*/) {}
  virtual void scalars(std::size_t /*step*/, std::span<const std::pair<std::string, double>> /*values*/) {}
  virtual void histogram(std::size_t /*step*/, const std::string& /*tag*/, std::span<const float> /*values*/) {}
  virtual void graph(std::span<const GraphNode> /*nodes*/) {}
};

}  // namespace podere::algorithm
