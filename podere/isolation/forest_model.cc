#include "podere/isolation/forest_model.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "podere/base/error.h"
#include "podere/base/json_fields.h"
#include "podere/base/parallel.h"
#include "podere/base/portable_math.h"
#include "podere/base/printable.h"
#include "podere/evaluate/classification.h"
#include "podere/isolation/grow.h"
#include "podere/table/features.h"
#include "podere/table/labels.h"
#include "podere/table/schema_json.h"
#include "podere/tree/predict.h"
#include "podere/tree/tree_json.h"
#include "podere/tree/weighted_quantile.h"

namespace podere::isolation {
namespace {

constexpr std::size_t kTwoOutputs = 2;

/// Throws InputError for parts that do not fit each other.
void check_parts(const ForestModel::Parts& parts) {
  if (parts.n_sample < 2) throw InputError("its trees are of fewer than 2 rows");
  if (!std::isfinite(parts.threshold)) throw InputError("its threshold is not finite");
  if (parts.trees.empty()) throw InputError("it has no trees");
  for (const tree::Tree& tree : parts.trees) {
    check_tree(tree, parts.schema);
    const auto is_length = [](const tree::Node& node) { return node.value >= 0; };
    if (!std::ranges::all_of(tree.nodes, is_length)) throw InputError("a way to a leaf has a negative length");
  }
}

}  // namespace

ForestModel::ForestModel(Parts parts) : parts_(std::move(parts)), mean_of_sample_(mean_path_length(parts_.n_sample)) {}

std::unique_ptr<const ForestModel> ForestModel::from_text(const std::string& text, const std::string& name) {
  Parts parts;
  read_checked_json(text, name, kForestKind, [&](const Json& content) {
    parts.schema = table::schema_from_json(content.at("schema"));
    read_json(content.at("sample"), "sample", parts.n_sample);
    read_json(content.at("threshold"), "threshold", parts.threshold);
    for (const Json& tree : content.at("trees")) parts.trees.push_back(tree::tree_from_json(tree));
    check_parts(parts);
  });
  return std::make_unique<const ForestModel>(std::move(parts));
}

std::string ForestModel::to_text() const {
  Json trees = Json::array();
  for (const tree::Tree& tree : parts_.trees) trees.push_back(tree::to_json(tree));
  return checked_json_text(kForestKind, 1,
                           {{"schema", table::to_json(parts_.schema)},
                            {"sample", parts_.n_sample},
                            {"threshold", parts_.threshold},
                            {"trees", std::move(trees)}});
}

std::size_t ForestModel::n_parameters() const {
  std::size_t n = 0;
  for (const tree::Tree& tree : parts_.trees) {
    n += static_cast<std::size_t>(std::ranges::count_if(tree.nodes, &tree::Node::is_leaf));
  }
  return n;
}

std::vector<std::string> ForestModel::output_names(bool of_margins) const {
  if (of_margins) return {"score minus threshold", "mean length of ways"};
  return {"1 for an anomaly", "score"};
}

std::vector<float> ForestModel::mean_lengths(const table::Table& table, int n_threads) const {
  std::vector<float> lengths(table.n_rows());
  tree::add_trees(parts_.trees, 1, table::feature_columns(parts_.schema, table), n_threads, lengths);
  const auto n_trees = static_cast<float>(parts_.trees.size());
  for (float& length : lengths) length /= n_trees;
  return lengths;
}

float ForestModel::score_of(float mean_length) const {
  return static_cast<float>(portable_exp(-std::numbers::ln2 * double{mean_length} / mean_of_sample_));
}

std::vector<float> ForestModel::scores(const table::Table& table, int n_threads) const {
  std::vector<float> scores = mean_lengths(table, n_threads);
  parallel_for_slices(n_threads, scores.size(), table::kBlockRows, [&](std::size_t begin, std::size_t end, int) {
    for (std::size_t i = begin; i < end; ++i) scores[i] = score_of(scores[i]);
  });
  return scores;
}

std::vector<float> ForestModel::margins(const table::Table& table, int n_threads) const {
  const std::vector<float> lengths = mean_lengths(table, n_threads);
  const std::size_t n = lengths.size();
  std::vector<float> margins(kTwoOutputs * n);
  parallel_for_slices(n_threads, n, table::kBlockRows, [&](std::size_t begin, std::size_t end, int) {
    for (std::size_t i = begin; i < end; ++i) {
      margins[i] = static_cast<float>(double{score_of(lengths[i])} - parts_.threshold);
      margins[n + i] = lengths[i];
    }
  });
  return margins;
}

std::vector<float> ForestModel::predictions(std::vector<float> margins, int n_threads) const {
  const std::size_t n = margins.size() / kTwoOutputs;
  parallel_for_slices(n_threads, n, table::kBlockRows, [&](std::size_t begin, std::size_t end, int) {
    for (std::size_t i = begin; i < end; ++i) {
      margins[i] = margins[i] > 0 ? 1 : 0;
      margins[n + i] = score_of(margins[n + i]);
    }
  });
  return margins;
}

void check_has_no_weights(const table::Schema& schema) {
  if (!schema.weight) return;
  throw_input_error("an isolation forest counts all rows alike, and the table has weights, {}: leave --weight out",
                    printable(*schema.weight));
}

double score_quantile(const std::vector<float>& scores, double q, const comm::Communicator& comm, int n_threads) {
  const std::vector<std::int64_t> ones(scores.size(), 1);
  const std::vector<Slice> all = {{0, scores.size()}};
  return double{tree::weighted_quantiles({scores, ones}, all, q, comm, n_threads).front()};
}

Json ForestModel::measures_of_rows(const table::Table& table, const comm::Communicator& comm, int n_threads) const {
  if (table.n_global_rows() == 0) throw InputError("the table has no rows");
  check_has_no_weights(table.schema());
  std::vector<float> scores;
  comm.agree([&] { scores = this->scores(table, n_threads); });
  const auto n_here = std::ranges::count_if(scores, [&](float score) { return double{score} > parts_.threshold; });
  const auto n_anomalies = comm.all_reduce(static_cast<std::uint64_t>(n_here), comm::Reduction::kSum);
  const float largest = scores.empty() ? 0 : *std::ranges::max_element(scores);
  Json measures = {{"anomalies", n_anomalies},
                   {"anomaly_share", static_cast<double>(n_anomalies) / static_cast<double>(table.n_global_rows())},
                   {"median_score", score_quantile(scores, 0.5, comm, n_threads)},
                   {"score_percentile_95", score_quantile(scores, 0.95, comm, n_threads)},
                   {"score_percentile_99", score_quantile(scores, 0.99, comm, n_threads)},
                   {"largest_score", comm.all_reduce(largest, comm::Reduction::kMax)}};
  const auto labels = table::label_values(table, kTwoOutputs, comm);
  const bool are_classes = labels && std::ranges::all_of(*labels, [](float label) { return label == 0 || label == 1; });
  if (table.schema().label) {
    measures["auc"] = are_classes ? Json(evaluate::auc(comm, scores, table.label(), {})) : Json();
  }
  return measures;
}

algorithm::Description ForestModel::describe() const {
  std::vector<std::size_t> splits(parts_.schema.features.size());
  for (const tree::Tree& tree : parts_.trees) {
    for (const tree::Node& node : tree.nodes) {
      if (!node.is_leaf()) ++splits[static_cast<std::size_t>(node.feature)];
    }
  }
  algorithm::Description description{.facts = {{"objective", objective()},
                                               {"trees", parts_.trees.size()},
                                               {"rows of each tree", parts_.n_sample},
                                               {"threshold", parts_.threshold},
                                               {"features", splits.size()}},
                                     .head = {"feature", "splits"}};
  Json features = Json::array();
  for (std::size_t j = 0; j < splits.size(); ++j) {
    features.push_back({{"name", parts_.schema.features[j]}, {"splits", splits[j]}});
    description.lines.push_back({parts_.schema.features[j], splits[j]});
  }
  description.json = {{"objective", objective()},
                      {"trees", parts_.trees.size()},
                      {"sample", parts_.n_sample},
                      {"threshold", parts_.threshold},
                      {"features", std::move(features)}};
  return description;
}

}  // namespace podere::isolation
