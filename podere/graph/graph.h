// Operators and weights of a network, as the file has them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "podere/graph/network.h"
#include "podere/graph/tensor.h"

namespace podere::graph {

/// A kind of value that no operator here takes, such as a graph.
struct OtherValue {};
using AttributeValue = std::variant<OtherValue, float, std::int64_t, std::string, std::vector<float>,
                                    std::vector<std::int64_t>, TensorPtr>;

struct Node {
  std::string type;                 ///< "Conv"; of other domains than ONNX's own "domain.Type"
  std::string name;                 ///< its own, or else that of its first output
  std::vector<std::string> inputs;  ///< "": left out
  std::vector<std::string> outputs;
  std::map<std::string, AttributeValue> attributes;

  /// "Conv 'features.0'"
  std::string label() const;
  bool has_input(std::size_t i) const { return i < inputs.size() && !inputs[i].empty(); }
  bool has(const std::string& attribute) const { return attributes.contains(attribute); }

  // These throw InputError if the attribute is of another type, or (without a default) is not there.
  std::int64_t integer(const std::string& attribute, std::optional<std::int64_t> otherwise = {}) const;
  float number(const std::string& attribute, std::optional<float> otherwise = {}) const;
  std::string text(const std::string& attribute, const std::string& otherwise) const;
  std::vector<std::int64_t> integers(const std::string& attribute, std::vector<std::int64_t> otherwise = {}) const;
  std::vector<float> numbers(const std::string& attribute, std::vector<float> otherwise = {}) const;
  TensorPtr tensor(const std::string& attribute) const;
};

struct Graph {
  std::string file;  ///< for messages
  std::vector<Port> inputs;
  std::vector<Port> outputs;
  Facts facts;
  std::map<std::string, TensorPtr> weights;
  std::vector<Node> nodes;  ///< each after those whose outputs it takes
};

}  // namespace podere::graph
