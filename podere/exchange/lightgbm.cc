#include "podere/exchange/lightgbm.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <type_traits>
#include <utility>

#include "podere/base/error.h"
#include "podere/base/json.h"
#include "podere/base/json_text.h"
#include "podere/base/number.h"
#include "podere/exchange/loose_tree.h"
#include "podere/exchange/name_categories.h"
#include "podere/tree/objective.h"

namespace podere::exchange {
namespace {

using tree::Link;
using tree::ObjectiveTraits;

constexpr float kAllNumbers = std::numeric_limits<float>::infinity();
constexpr float kZeroThreshold = 1e-35F;  // nearer to 0 counts as 0
constexpr int kCategorical = 1;           // bits of decision_type
constexpr int kDefaultLeft = 2;
enum class Missing { kNone, kZero, kNan };

/// Lines of "name=value" up to the next section.
class Section {
 public:
  void add(std::string_view line) {
    const auto equals = line.find('=');
    values_.emplace(line.substr(0, equals), equals == std::string_view::npos ? "" : line.substr(equals + 1));
  }
  bool contains(std::string_view name) const { return values_.contains(name); }
  std::string_view text(std::string_view name) const {
    const auto found = values_.find(name);
    if (found == values_.end()) throw_input_error("there is no '{}'", name);
    return found->second;
  }
  std::vector<std::string_view> words(std::string_view name) const {
    std::vector<std::string_view> words;
    std::string_view rest = text(name);
    while (!rest.empty()) {
      const auto space = std::min(rest.find(' '), rest.size());
      if (space > 0) words.push_back(rest.substr(0, space));
      rest.remove_prefix(std::min(space + 1, rest.size()));
    }
    return words;
  }
  template <typename T>
  std::vector<T> numbers(std::string_view name) const {
    std::vector<T> numbers;
    for (const std::string_view word : words(name)) {
      T number{};
      const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
      bool is_number = error == std::errc() && end == word.data() + word.size();
      if constexpr (std::is_floating_point_v<T>) is_number = is_number && !std::isnan(number);
      if (!is_number) throw_input_error("'{}' has '{}', which is not a number of its kind", name, word);
      numbers.push_back(number);
    }
    return numbers;
  }
  template <typename T>
  std::vector<T> numbers(std::string_view name, std::size_t n) const {
    auto result = numbers<T>(name);
    if (result.size() != n) throw_input_error("'{}' has {} numbers, {} are needed", name, result.size(), n);
    return result;
  }
  std::int32_t whole(std::string_view name) const { return numbers<std::int32_t>(name, 1)[0]; }

 private:
  std::map<std::string_view, std::string_view> values_;
};

struct Sections {
  Section header;
  std::vector<Section> trees;
};

/// Throws InputError if the text ends before its trees do.
Sections split(std::string_view text) {
  Sections sections;
  while (!text.empty()) {
    const auto newline = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, newline);
    text.remove_prefix(std::min(newline + 1, text.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line == "end of trees") return sections;
    if (line.starts_with("Tree=")) {
      sections.trees.emplace_back();
    } else if (!line.empty()) {
      (sections.trees.empty() ? sections.header : sections.trees.back()).add(line);
    }
  }
  throw InputError("is not a whole model (no 'end of trees')");
}

float to_float(double value, const char* name) {
  if (std::abs(value) > std::numeric_limits<float>::max())
    throw_input_error("'{}' has {}, beyond float32", name, value);
  return static_cast<float>(value);
}

/// Which numbers go left, and whether missing values do: LightGBM's NumericalDecision. Before it, numbers near 0 become
/// 0.
void set_numeric(tree::Node& node, double threshold, int decision_type) {
  const bool default_left = (decision_type & kDefaultLeft) != 0;
  const auto missing = static_cast<Missing>(decision_type >> 2 & 3);
  if (missing > Missing::kNan)
    throw_input_error("'decision_type' has {}, allowed is a missing type of 0 to 2", decision_type);
  const bool zero_left = missing == Missing::kZero ? default_left : 0 <= threshold;
  node.missing_left = missing == Missing::kNone ? zero_left : default_left;  // kNone: missing values become 0
  if (std::abs(threshold) <= kZeroThreshold) {
    node.threshold = zero_left ? std::nextafter(kZeroThreshold, 1.0F) : -kZeroThreshold;
    return;
  }
  if (zero_left != (0 <= threshold)) {
    throw_input_error("treats zeros as missing (zero_as_missing) in a split at {}, which Podere does not have",
                      threshold);
  }
  node.threshold = threshold < std::numeric_limits<float>::max() ? strict_threshold(threshold) : kAllNumbers;
}

/// Podere's thresholds are finite: all numbers go right from the least one, missing values as before.
void part_missing(LooseNode& loose) {
  std::swap(loose.left, loose.right);
  loose.node.threshold = std::numeric_limits<float>::lowest();
  loose.node.missing_left = !loose.node.missing_left;
}

/// LightGBM's categories of a set go left, all others and missing values go right: in Podere it is the other way round.
void set_categories(LooseNode& loose, double set, std::size_t n_sets) {
  if (!(set >= 0 && set < static_cast<double>(n_sets)))
    throw_input_error("a node has category set {} of {}", set, n_sets);
  std::swap(loose.left, loose.right);
  loose.node.category_set = static_cast<std::int32_t>(set);
  loose.node.missing_left = true;
}

/// Sets lie in words of 32 bits, one after another: bit c is category c.
std::vector<std::vector<std::int32_t>> read_category_sets(const Section& section) {
  std::vector<std::vector<std::int32_t>> sets;
  if (!section.contains("cat_boundaries")) return sets;
  const auto bounds = section.numbers<std::size_t>("cat_boundaries");
  const auto words = section.numbers<std::uint32_t>("cat_threshold");
  for (std::size_t s = 0; s + 1 < bounds.size(); ++s) {
    if (bounds[s] > bounds[s + 1] || bounds[s + 1] > words.size() ||
        bounds[s + 1] - bounds[s] > table::kMaxCategories / 32)
      throw_input_error("category set {} has words {} to {} of {}", s, bounds[s], bounds[s + 1], words.size());
    auto& set = sets.emplace_back();
    for (std::size_t w = bounds[s]; w < bounds[s + 1]; ++w) {
      for (std::uint32_t word = words[w]; word != 0; word &= word - 1) {
        set.push_back(static_cast<std::int32_t>(32 * (w - bounds[s])) + std::countr_zero(word));
      }
    }
  }
  return sets;
}

tree::Tree read_tree(const Section& section, std::size_t n_features) {
  if (section.contains("is_linear") && section.whole("is_linear") != 0)
    throw InputError("has linear trees, which Podere does not have");
  const std::int32_t n_leaves = section.whole("num_leaves");
  if (n_leaves < 1) throw_input_error("num_leaves is {}, allowed is 1 or more", n_leaves);
  const auto leaf_value = section.numbers<double>("leaf_value", static_cast<std::size_t>(n_leaves));
  const std::size_t n = leaf_value.size() - 1;  // of splits; leaves come after them
  std::vector<LooseNode> nodes(n + leaf_value.size());
  for (std::size_t i = 0; i < leaf_value.size(); ++i) nodes[n + i].node.value = to_float(leaf_value[i], "leaf_value");
  tree::Tree tree;
  if (n == 0) {
    tree.nodes = in_order(nodes);
    return tree;
  }
  tree.category_sets = read_category_sets(section);

  const auto leaf_weight = section.numbers<double>("leaf_weight", leaf_value.size());
  for (std::size_t i = 0; i < leaf_value.size(); ++i) nodes[n + i].node.cover = to_float(leaf_weight[i], "leaf_weight");
  const auto feature = section.numbers<std::int32_t>("split_feature", n);
  const auto gain = section.numbers<double>("split_gain", n);
  const auto threshold = section.numbers<double>("threshold", n);
  const auto decision_type = section.numbers<int>("decision_type", n);
  const auto left = section.numbers<std::int32_t>("left_child", n);
  const auto right = section.numbers<std::int32_t>("right_child", n);
  const auto cover = section.numbers<double>("internal_weight", n);
  // A negative child -k is leaf k-1.
  const auto child = [n](std::int32_t c) {
    if (std::cmp_greater_equal(c, n)) throw_input_error("a node's child is split {} of {}", c, n);
    return c < 0 ? static_cast<std::int64_t>(n) + ~c : c;
  };
  for (std::size_t i = 0; i < n; ++i) {
    if (feature[i] < 0 || static_cast<std::size_t>(feature[i]) >= n_features)
      throw_input_error("a node splits on feature {} of {}", feature[i], n_features);
    LooseNode& loose = nodes[i];
    loose.left = child(left[i]);
    loose.right = child(right[i]);
    loose.node.feature = feature[i];
    loose.node.gain = to_float(gain[i], "split_gain");
    loose.node.cover = to_float(cover[i], "internal_weight");
    if ((decision_type[i] & kCategorical) != 0) {
      set_categories(loose, threshold[i], tree.category_sets.size());
      continue;
    }
    set_numeric(loose.node, threshold[i], decision_type[i]);
    if (loose.node.threshold == kAllNumbers) part_missing(loose);
  }
  tree.nodes = in_order(nodes);
  return tree;
}

const ObjectiveTraits& read_objective(const Section& header) {
  const auto words = header.words("objective");
  const std::string_view name = words.empty() ? "" : words[0];
  const auto has = [&](std::string_view word) { return std::ranges::find(words, word) != words.end(); };
  std::string allowed;
  for (const ObjectiveTraits& traits : tree::all_objectives()) {
    if (traits.lightgbm == nullptr) continue;
    if (name == traits.lightgbm && !has("sqrt")) {
      if (traits.link == Link::kLogit && !has("sigmoid:1"))
        throw_input_error("has the objective '{}', of which Podere has sigmoid:1", header.text("objective"));
      return traits;
    }
    allowed += (allowed.empty() ? "" : ", ") + std::string(traits.lightgbm);
  }
  throw_input_error("has the objective '{}', which Podere does not have; those read are {}", header.text("objective"),
                    allowed);
}

/// What LightGBM calls features that have no names.
std::string name_of_nameless(std::size_t feature) { return "Column_" + std::to_string(feature); }

std::vector<std::string> read_names(const Section& header) {
  std::vector<std::string> names;
  bool has_names = false;
  for (const std::string_view name : header.words("feature_names")) {
    has_names = has_names || name != name_of_nameless(names.size());
    names.emplace_back(name);
  }
  return has_names ? names : made_up_names(names.size());
}

/// What codes of categories mean: the last but one line of the file has the categories of the data frame's columns
/// of dtype category, in the order of the columns, and does not say which these are.
CategoriesByCode read_pandas_categories(std::string_view text, const Section& header, const table::Schema& schema) {
  constexpr std::string_view kName = "\npandas_categorical:";
  const auto begin = text.rfind(kName);
  if (begin == std::string_view::npos) return {};
  std::string_view line = text.substr(begin + kName.size());
  line = line.substr(0, line.find('\n'));
  if (is_nested_deeper_than(line, 2)) throw InputError("has a pandas_categorical that is no list of lists");
  const auto lists = SortedJson::parse(line, nullptr, /*allow_exceptions=*/false);
  if (lists.is_null() || (lists.is_array() && lists.empty())) return {};
  if (!lists.is_array()) throw InputError("has a pandas_categorical that is no list of lists");

  std::vector<std::size_t> features;  // of categories: "2:0:1" where numbers have "[0:2]"
  const auto infos = header.words("feature_infos");
  for (std::size_t j = 0; j < infos.size(); ++j) {
    if (infos[j] != "none" && !infos[j].starts_with('[')) features.push_back(j);
  }
  std::vector<table::CategoryTexts> columns;
  for (const auto& list : lists) columns.push_back(categories_from_json(list));
  // A column of one category is no feature of categories to LightGBM.
  if (columns.size() != features.size()) std::erase_if(columns, [](const auto& column) { return column.size() < 2; });
  if (columns.size() != features.size())
    throw_input_error(
        "has categories (pandas_categorical) of {} columns and {} features of categories, and does not say "
        "which are whose: train it with all columns of dtype category as unordered categories, and no others",
        columns.size(), features.size());
  CategoriesByCode categories;
  for (std::size_t i = 0; i < features.size(); ++i) {
    if (features[i] >= schema.features.size()) throw InputError("has more feature_infos than features");
    categories.emplace(features[i], std::move(columns[i]));
  }
  return categories;
}

}  // namespace

bool is_lightgbm(std::string_view text) { return text.starts_with("tree\n") || text.starts_with("tree\r\n"); }

float strict_threshold(double threshold) {
  constexpr float kMost = std::numeric_limits<float>::max();
  if (threshold < -kMost) return -kMost;
  const auto nearest = static_cast<float>(threshold);
  return nearest > threshold ? nearest : std::nextafter(nearest, kMost);
}

tree::Model from_lightgbm(const std::string& text) {
  const Sections sections = split(text);
  const Section& header = sections.header;
  const std::string_view version = header.text("version");
  if (version != "v3" && version != "v4")
    throw_input_error("has version {} of LightGBM's format; v3 and v4 are read", version);
  if (header.contains("average_output")) throw InputError("is a random forest, which Podere does not have");
  const ObjectiveTraits& traits = read_objective(header);
  const std::int32_t n_classes = header.whole("num_class");
  const std::int32_t n_outputs = header.whole("num_tree_per_iteration");
  if (n_outputs != n_classes ||
      (traits.link == Link::kSoftmax ? n_classes < 2 || n_classes > tree::kMaxClasses : n_classes != 1))
    throw_input_error("num_class is {} and num_tree_per_iteration {}, which does not fit the objective", n_classes,
                      n_outputs);

  tree::Model model;
  model.schema.features = read_names(header);
  if (std::cmp_not_equal(model.schema.features.size(), std::int64_t{header.whole("max_feature_idx")} + 1))
    throw_input_error("has {} feature_names, max_feature_idx is {}", model.schema.features.size(),
                      header.whole("max_feature_idx"));
  model.base_margin.assign(static_cast<std::size_t>(n_outputs), 0.0);  // the first trees hold it
  if (sections.trees.size() % static_cast<std::size_t>(n_outputs) != 0)
    throw_input_error("has {} trees for {} outputs", sections.trees.size(), n_outputs);
  for (const Section& section : sections.trees) model.trees.push_back(read_tree(section, model.schema.features.size()));
  model.schema.categories = categorical_features(model.trees);
  const auto categories = read_pandas_categories(text, header, model.schema);
  if (!categories.empty()) name_categories(model, categories);
  model.options = options_of(traits.objective, n_classes, model.trees);
  return model;
}

}  // namespace podere::exchange
