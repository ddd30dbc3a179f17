#include "podere/graph/graph.h"

#include <fmt/format.h>

#include "podere/base/error.h"
#include "podere/base/printable.h"

namespace podere::graph {
namespace {

template <typename T>
T value_of(const Node& node, const std::string& attribute, const std::optional<T>& otherwise, const char* kind) {
  const auto found = node.attributes.find(attribute);
  if (found == node.attributes.end()) {
    if (otherwise) return *otherwise;
    throw_input_error("{} has no attribute '{}'", node.label(), attribute);
  }
  if (const T* value = std::get_if<T>(&found->second)) return *value;
  throw_input_error("{}: the attribute '{}' is not {}", node.label(), attribute, kind);
}

}  // namespace

std::string to_text(const Shape& shape) {
  if (shape.empty()) return "scalar";
  std::string text;
  for (const std::int64_t size : shape) {
    if (!text.empty()) text += " x ";
    text += size < 0 ? "?" : std::to_string(size);
  }
  return text;
}

std::size_t n_elements(const Shape& shape, const std::string& what, std::size_t most) {
  std::size_t n = 1;
  bool is_empty = false;
  for (const std::int64_t size : shape) {
    if (size < 0) throw_input_error("{} has the shape {}", what, to_text(shape));
    if (size == 0) is_empty = true;
    if (size > 0 && n > most / static_cast<std::size_t>(size))
      throw_input_error("{} has the shape {}: at most {} elements are read", what, to_text(shape), most);
    if (size > 0) n *= static_cast<std::size_t>(size);
  }
  return is_empty ? 0 : n;
}

std::string Node::label() const { return fmt::format("{} '{}'", printable_line(type, 60), printable_line(name, 100)); }

std::int64_t Node::integer(const std::string& attribute, std::optional<std::int64_t> otherwise) const {
  return value_of<std::int64_t>(*this, attribute, otherwise, "an integer");
}
float Node::number(const std::string& attribute, std::optional<float> otherwise) const {
  return value_of<float>(*this, attribute, otherwise, "a number");
}
std::string Node::text(const std::string& attribute, const std::string& otherwise) const {
  return value_of<std::string>(*this, attribute, otherwise, "a text");
}
std::vector<std::int64_t> Node::integers(const std::string& attribute, std::vector<std::int64_t> otherwise) const {
  return value_of<std::vector<std::int64_t>>(*this, attribute, std::move(otherwise), "a list of integers");
}
std::vector<float> Node::numbers(const std::string& attribute, std::vector<float> otherwise) const {
  return value_of<std::vector<float>>(*this, attribute, std::move(otherwise), "a list of numbers");
}
TensorPtr Node::tensor(const std::string& attribute) const {
  return value_of<TensorPtr>(*this, attribute, std::nullopt, "a tensor");
}

Network::Network(std::shared_ptr<const Graph> graph) : graph_(std::move(graph)) {}
const std::vector<Port>& Network::inputs() const { return graph_->inputs; }
const std::vector<Port>& Network::outputs() const { return graph_->outputs; }
const Facts& Network::facts() const { return graph_->facts; }

}  // namespace podere::graph
