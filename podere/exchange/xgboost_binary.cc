#include "podere/exchange/xgboost_binary.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>

#include "podere/base/error.h"
#include "podere/base/json_text.h"

namespace podere::exchange {
namespace {

static_assert(std::endian::native == std::endian::little, "XGBoost wrote the bytes of little-endian machines");

// The file, of 32-bit words and texts:
//
//   "binf"                       of some versions
//   learner       34 words       base score, features, classes, has attributes, has metrics, version (2), targets, ...
//   objective     text           64-bit length, bytes
//   booster       text           "gbtree", "dart", "gblinear"
//   gbtree, dart  40 words       trees, trees of a round (from 1.6 on), ...
//     each tree   37 words       roots, nodes, deleted, depth, features, size of vector leaves, ...
//       each node  5 words       parent, left, right, feature with the highest bit for missing values, threshold or
//       leaf each node  4 words       gain, hessians, weight, leaves
//     each tree    1 word        output
//     dart         reals         64-bit length, weights of trees
//   gblinear      34 words, reals
//   attributes    texts          64-bit length, names and values

constexpr std::string_view kMark = "binf";
constexpr std::size_t kLearnerWords = 34, kTreesWords = 40, kLinearWords = 34, kTreeWords = 37;
constexpr std::size_t kNodeWords = 5, kStatisticsWords = 4;

class Bytes {
 public:
  explicit Bytes(std::string_view rest) : rest_(rest) {}

  /// Bytes, of which there are `n` elements of `size`.
  std::string_view take(std::uint64_t n, std::size_t size) {
    if (n > rest_.size() / size) throw InputError("is not a whole model (XGBoost's binary format)");
    const std::string_view taken = rest_.substr(0, n * size);
    rest_.remove_prefix(taken.size());
    return taken;
  }
  template <typename T>
  T next() {
    T value;
    std::memcpy(&value, take(1, sizeof value).data(), sizeof value);
    return value;
  }
  std::string text() { return std::string(take(next<std::uint64_t>(), 1)); }

 private:
  std::string_view rest_;
};

/// Words of a struct, or of several that lie one behind the other.
class Words {
 public:
  Words(Bytes& bytes, std::size_t n, std::uint64_t n_structs = 1)
      : n_(n), bytes_(bytes.take(n_structs, n * sizeof(std::uint32_t))) {}

  template <typename T>
  T at(std::size_t word, std::size_t of_struct = 0) const {
    static_assert(sizeof(T) == sizeof(std::uint32_t));
    T value;
    std::memcpy(&value, bytes_.data() + (of_struct * n_ + word) * sizeof value, sizeof value);
    return value;
  }

 private:
  std::size_t n_;
  std::string_view bytes_;
};

SortedJson read_reals(Bytes& bytes) {
  const auto n = bytes.next<std::uint64_t>();
  const Words words(bytes, 1, n);
  SortedJson values = SortedJson::array();
  for (std::size_t i = 0; i < n; ++i) values.push_back(words.at<float>(0, i));
  return values;
}

/// How many structs there are, of a field that is signed in the file.
std::uint32_t count(const Words& words, std::size_t word, const char* name) {
  const auto n = words.at<std::int32_t>(word);
  if (n < 0) throw_input_error("{} is {}, allowed is 0 or more", name, n);
  return static_cast<std::uint32_t>(n);
}

SortedJson read_tree(Bytes& bytes) {
  const Words parameters(bytes, kTreeWords);
  if (const auto n_roots = parameters.at<std::int32_t>(0); n_roots > 1)
    throw_input_error("has trees with {} roots, which Podere does not have: train it without", n_roots);
  const std::uint32_t n_nodes = count(parameters, 1, "num_nodes");
  const Words nodes(bytes, kNodeWords, n_nodes), statistics(bytes, kStatisticsWords, n_nodes);
  constexpr std::uint32_t kMissingBit = 1U << 31;
  SortedJson tree{{"tree_param", {{"size_leaf_vector", count(parameters, 5, "size_leaf_vector")}}}};
  const auto add_column = [&](const char* name, auto of_node) {
    SortedJson& values = tree[name] = SortedJson::array();
    for (std::size_t i = 0; i < n_nodes; ++i) values.push_back(of_node(i));
  };
  add_column("left_children", [&](std::size_t i) { return nodes.at<std::int32_t>(1, i); });
  add_column("right_children", [&](std::size_t i) { return nodes.at<std::int32_t>(2, i); });
  add_column("split_indices", [&](std::size_t i) { return nodes.at<std::uint32_t>(3, i) & ~kMissingBit; });
  add_column("default_left", [&](std::size_t i) { return (nodes.at<std::uint32_t>(3, i) & kMissingBit) != 0; });
  add_column("split_conditions", [&](std::size_t i) { return nodes.at<float>(4, i); });
  add_column("loss_changes", [&](std::size_t i) { return statistics.at<float>(0, i); });
  add_column("sum_hessian", [&](std::size_t i) { return statistics.at<float>(1, i); });
  return tree;
}

SortedJson read_trees(Bytes& bytes, bool has_forests) {
  const Words parameters(bytes, kTreesWords);
  const std::uint32_t n_trees = count(parameters, 0, "num_trees");
  SortedJson model{{"gbtree_model_param", {{"num_trees", n_trees}}}};
  if (has_forests) model["gbtree_model_param"]["num_parallel_tree"] = count(parameters, 1, "num_parallel_tree");
  model["trees"] = model["tree_info"] = SortedJson::array();
  for (std::uint32_t t = 0; t < n_trees; ++t) model["trees"].push_back(read_tree(bytes));
  const Words outputs(bytes, 1, n_trees);
  for (std::uint32_t t = 0; t < n_trees; ++t) model["tree_info"].push_back(outputs.at<std::int32_t>(0, t));
  return model;
}

SortedJson read_booster(Bytes& bytes, const std::string& name, bool has_forests) {
  if (name == "gbtree") return {{"name", name}, {"model", read_trees(bytes, has_forests)}};
  if (name == "gblinear") {
    const Words parameters(bytes, kLinearWords);
    return {{"name", name}, {"model", {{"weights", read_reals(bytes)}}}};
  }
  SortedJson booster{{"name", name}};
  if (name != "dart") return booster;  // refused by its name
  booster["gbtree"]["model"] = read_trees(bytes, has_forests);
  const bool has_trees = !booster["gbtree"]["model"]["trees"].empty();
  booster["weight_drop"] = has_trees ? read_reals(bytes) : SortedJson::array();
  return booster;
}

SortedJson read_attributes(Bytes& bytes) {
  SortedJson attributes = SortedJson::object();
  for (auto n = bytes.next<std::uint64_t>(); n > 0; --n) {
    const std::string name = bytes.text();
    attributes[name] = bytes.text();
  }
  return attributes;
}

/// Among the attributes is the objective with its parameters, as JSON; not before 1.0.
SortedJson objective_in(const SortedJson& attributes, const std::string& name) {
  SortedJson objective;
  if (attributes.contains("objective")) {
    const auto& text = attributes["objective"].get_ref<const std::string&>();
    if (!is_nested_deeper_than(text, kMaxJsonDepth))
      objective = SortedJson::parse(text, nullptr, /*allow_exceptions=*/false);
  }
  if (!objective.is_object()) objective = SortedJson::object();
  objective["name"] = name;
  return objective;
}

}  // namespace

bool is_xgboost_binary(std::string_view text) {
  if (text.starts_with(kMark)) return true;
  constexpr std::size_t kLength = kLearnerWords * sizeof(std::uint32_t);  // of the objective's name, which follows
  if (text.size() < kLength + 8 || !text.substr(kLength + 1).starts_with(std::string_view("\0\0\0\0\0\0\0", 7)))
    return false;
  const std::string_view name = text.substr(kLength + 8, static_cast<unsigned char>(text[kLength]));
  return !name.empty() &&
         std::ranges::all_of(name, [](char c) { return c == ':' || c == '_' || (c >= 'a' && c <= 'z'); });
}

SortedJson from_xgboost_binary(std::string_view text) {
  if (text.starts_with(kMark)) text.remove_prefix(kMark.size());
  Bytes bytes(text);
  const Words learner(bytes, kLearnerWords);
  const auto version = std::array{learner.at<std::uint32_t>(5), learner.at<std::uint32_t>(6)};
  const bool has_attributes = learner.at<std::uint32_t>(3) != 0;
  const std::string objective = bytes.text();
  const std::string booster = bytes.text();
  SortedJson json{{"gradient_booster", read_booster(bytes, booster, version >= std::array{1U, 6U})},
                  {"learner_model_param",
                   {{"base_score", learner.at<float>(0)},
                    {"num_feature", learner.at<std::uint32_t>(1)},
                    {"num_class", count(learner, 2, "num_class")},
                    {"num_target", std::max(learner.at<std::uint32_t>(7), 1U)}}}};
  json["attributes"] = has_attributes ? read_attributes(bytes) : SortedJson::object();
  json["objective"] = objective_in(json["attributes"], objective);
  return {{"version", version}, {"learner", std::move(json)}};
}

}  // namespace podere::exchange
