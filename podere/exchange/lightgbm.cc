#include "podere/exchange/lightgbm.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>

#include "podere/base/error.h"
#include "podere/base/json.h"
#include "podere/base/json_text.h"
#include "podere/base/number.h"
#include "podere/exchange/loose_tree.h"
#include "podere/exchange/name_categories.h"
#include "podere/exchange/objectives.h"
#include "podere/tree/objective.h"

namespace podere::exchange {
namespace {

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
    if (line == "end of trees" || line == "feature importances:") return sections;  // the latter until 2.0
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
    throw_input_error(
        "treats zeros as missing (zero_as_missing) in a split at {}, which Podere does not have: train it without",
        threshold);
  }
  node.threshold = threshold < std::numeric_limits<float>::max() ? strict_threshold(threshold)
                                                                 : std::numeric_limits<float>::infinity();
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

/// Sums of hessians; of versions before 2.3, which do not write them, counts of rows.
std::vector<double> covers(const Section& section, const char* weights, const char* counts, std::size_t n) {
  return section.numbers<double>(section.contains(weights) ? weights : counts, n);
}

/// Linear trees (linear_tree): gives `leaves` their parts, whose features and coefficients lie one after another. A
/// leaf without features has its constant for a value.
void read_linear_parts(const Section& section, std::size_t n_features, double scale, std::span<LooseNode> leaves,
                       tree::Tree& tree) {
  if (!section.contains("is_linear") || section.whole("is_linear") == 0) return;
  const auto constants = section.numbers<double>("leaf_const", leaves.size());
  const auto sizes = section.numbers<std::uint32_t>("num_features", leaves.size());
  const std::size_t n = std::accumulate(sizes.begin(), sizes.end(), std::size_t{0});
  const auto features = section.numbers<std::int32_t>("leaf_features", n);
  const auto coefficients = section.numbers<double>("leaf_coeff", n);
  std::size_t first = 0;
  for (std::size_t leaf = 0; leaf < leaves.size(); ++leaf) {
    tree::Node& node = leaves[leaf].node;
    if (sizes[leaf] == 0) {
      node.value = to_float(scale * constants[leaf], "leaf_const");
      continue;
    }
    node.linear_part = static_cast<std::int32_t>(tree.linear_parts.size());
    tree::LinearPart& part = tree.linear_parts.emplace_back(tree::LinearPart{.constant = scale * constants[leaf]});
    for (const std::size_t end = first + sizes[leaf]; first < end; ++first) {
      if (features[first] < 0 || static_cast<std::size_t>(features[first]) >= n_features)
        throw_input_error("leaf {} is linear in feature {} of {}", leaf, features[first], n_features);
      part.features.push_back(features[first]);
      part.coefficients.push_back(scale * coefficients[first]);
    }
  }
}

/// Leaf values are multiplied by `scale`.
tree::Tree read_tree(const Section& section, std::size_t n_features, double scale) {
  const std::int32_t n_leaves = section.whole("num_leaves");
  if (n_leaves < 1) throw_input_error("num_leaves is {}, allowed is 1 or more", n_leaves);
  const auto leaf_value = section.numbers<double>("leaf_value", static_cast<std::size_t>(n_leaves));
  const std::size_t n = leaf_value.size() - 1;  // of splits; leaves come after them
  std::vector<LooseNode> nodes(n + leaf_value.size());
  for (std::size_t i = 0; i < leaf_value.size(); ++i)
    nodes[n + i].node.value = to_float(scale * leaf_value[i], "leaf_value");
  tree::Tree tree;
  read_linear_parts(section, n_features, scale, std::span(nodes).subspan(n), tree);
  if (n == 0) {
    tree.nodes = in_order(nodes);
    return tree;
  }
  tree.category_sets = read_category_sets(section);

  const auto leaf_cover = covers(section, "leaf_weight", "leaf_count", leaf_value.size());
  for (std::size_t i = 0; i < leaf_value.size(); ++i) nodes[n + i].node.cover = to_float(leaf_cover[i], "leaf_weight");
  const auto feature = section.numbers<std::int32_t>("split_feature", n);
  const auto gain = section.numbers<double>("split_gain", n);
  const auto threshold = section.numbers<double>("threshold", n);
  const auto decision_type = section.numbers<int>("decision_type", n);
  const auto left = section.numbers<std::int32_t>("left_child", n);
  const auto right = section.numbers<std::int32_t>("right_child", n);
  const auto cover = covers(section, "internal_weight", "internal_count", n);
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
    if (std::isinf(loose.node.threshold)) part_missing(loose);
  }
  tree.nodes = in_order(nodes);
  return tree;
}

struct LightgbmObjective {
  tree::Objective objective;
  double scale = 1;  ///< of margins
};

/// "binary sigmoid:1"; models of a custom objective have none.
LightgbmObjective read_objective(const Section& header) {
  const std::string_view line = header.contains("objective") ? header.text("objective") : "custom";
  const std::string_view name = line.substr(0, line.find(' '));
  const auto parameter = [&](std::string_view word) {
    const auto place = line.find(word);
    if (place == std::string_view::npos) throw_input_error("has the objective '{}', without '{}'", line, word);
    const std::string_view rest = line.substr(place + word.size());
    const auto number = parse_real(rest.substr(0, rest.find(' ')));
    if (!number || !(*number > 0)) throw_input_error("has the objective '{}', allowed are numbers above 0", line);
    return *number;
  };
  LightgbmObjective result{objective_called(name, line, lightgbm_objectives())};
  if (line.ends_with(" sqrt"))
    throw_input_error("has the objective '{}', whose predictions are squares of margins: train it without reg_sqrt",
                      line);
  if (name == "binary" || name == "multiclassova") result.scale = parameter(" sigmoid:");
  return result;
}

/// "[alpha: 0.9]" among the parameters at the end of the file.
std::optional<double> quantile_in(std::string_view text) {
  constexpr std::string_view kAlpha = "\n[alpha: ";
  const auto place = text.rfind(kAlpha);
  if (place == std::string_view::npos) return std::nullopt;
  const std::string_view rest = text.substr(place + kAlpha.size());
  return parse_real(rest.substr(0, rest.find(']')));
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

tree::Model from_lightgbm(const std::string& text, Target target) {
  const Sections sections = split(text);
  const Section& header = sections.header;
  const std::string_view version = header.text("version");
  if (version != "v2" && version != "v3" && version != "v4")
    throw_input_error("has version {} of LightGBM's format; v2 to v4 are read", version);
  LightgbmObjective objective = read_objective(header);
  const bool has_quantile = traits_of(objective.objective).has_quantile;
  const auto quantile = has_quantile ? quantile_in(text) : std::nullopt;
  // Without parameters a file does not say which quantile it predicts; as a number it predicts the same.
  if (has_quantile && !quantile) objective.objective = objective_of_margins();
  const std::int32_t n_classes = header.whole("num_class");
  const std::int32_t n_outputs = header.whole("num_tree_per_iteration");
  const bool is_of_classes = traits_of(objective.objective).has_output_per_class();
  const bool has_targets = n_outputs > 1 && !header.contains("objective");  // a custom one
  if (!has_targets) check_no_target(target);
  if (n_outputs != n_classes ||
      (is_of_classes || has_targets ? n_classes < 2 || n_classes > tree::kMaxClasses : n_classes != 1))
    throw_input_error("num_class is {} and num_tree_per_iteration {}, which does not fit the objective", n_classes,
                      n_outputs);
  if (header.contains("tree_sizes") && header.words("tree_sizes").size() != sections.trees.size())
    throw_input_error("is not a whole model ({} of {} trees)", sections.trees.size(),
                      header.words("tree_sizes").size());

  tree::Model model;
  model.schema.features = read_names(header);
  if (std::cmp_not_equal(model.schema.features.size(), std::int64_t{header.whole("max_feature_idx")} + 1))
    throw_input_error("has {} feature_names, max_feature_idx is {}", model.schema.features.size(),
                      header.whole("max_feature_idx"));
  model.base_margin.assign(static_cast<std::size_t>(n_outputs), 0.0);  // the first trees hold it
  if (sections.trees.size() % static_cast<std::size_t>(n_outputs) != 0)
    throw_input_error("has {} trees for {} outputs", sections.trees.size(), n_outputs);
  // Random forests predict averages; those of v2 average predictions, not margins.
  if (version == "v2" && header.contains("average_output") &&
      tree::traits_of(objective.objective).link != tree::Link::kIdentity)
    throw InputError(
        "is a random forest of LightGBM before 2.3, whose leaves are predictions: train it with a later one");
  const std::size_t n_rounds = sections.trees.size() / static_cast<std::size_t>(n_outputs);
  const bool is_average = header.contains("average_output");
  const double scale = is_average ? objective.scale / static_cast<double>(n_rounds) : objective.scale;
  for (const Section& section : sections.trees)
    model.trees.push_back(read_tree(section, model.schema.features.size(), scale));
  model.schema.categories = categorical_features(model.trees);
  if (has_targets) keep_output(model, chosen_target(target, model.n_outputs(), "outputs of a custom objective"));
  const auto categories = read_pandas_categories(text, header, model.schema);
  if (!categories.empty()) name_categories(model, categories);
  model.options = options_of(objective.objective, n_classes, model.trees);
  if (quantile) model.options.quantile = checked_quantile(*quantile);
  return model;
}

}  // namespace podere::exchange
