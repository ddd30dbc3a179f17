// A convolutional network as it is in an ONNX file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace podere::graph {

using Shape = std::vector<std::int64_t>;

/// "1 x 3 x 299 x 299"; -1 is a dimension that is free: "? x 3 x 299 x 299".
std::string to_text(const Shape& shape);

/// An input or output of the network.
struct Port {
  std::string name;
  Shape shape;  ///< -1: free, or (of an output) not named in the file
};

/// What the file says of itself, to print.
struct Facts {
  std::string producer;    ///< "pytorch 2.1.0"; may be empty
  std::int64_t opset = 0;  ///< of ONNX's own operators
  std::size_t n_operators = 0;
  std::size_t n_parameters = 0;           ///< numbers in weights
  std::vector<std::string> weight_files;  ///< beside the ONNX file, by their paths below its folder, in their order
};

struct Graph;  // its operators and weights

/// Immutable; copies share the weights.
class Network {
 public:
  explicit Network(std::shared_ptr<const Graph> graph);

  /// Those that are no weights. A Plan takes one, of float32.
  const std::vector<Port>& inputs() const;
  const std::vector<Port>& outputs() const;
  const Facts& facts() const;
  const Graph& graph() const { return *graph_; }

 private:
  std::shared_ptr<const Graph> graph_;
};

/// Reads an ONNX file (opsets 9 to 26). Weights may be in files beside it, within its folder. Throws InputError that
/// names file and operator, attribute or tensor for what is damaged or what Podere lacks.
Network read_onnx(const std::filesystem::path& file);

/// SHA-256 of the file that a network was read from, as 64 digits. Where it has weights in other files: of the digits
/// of all files, one a line, the ONNX file first. Throws InputError if one cannot be read any more.
std::string sha256_of_network(const std::filesystem::path& file, const Network& network);

/// As read_onnx, of the content of a file called `name`. Weights in other files are refused.
Network read_onnx(std::string_view content, const std::string& name);

}  // namespace podere::graph
