// An isolation forest beside plain loops.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <numeric>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "podere/base/checked_json.h"
#include "podere/base/error.h"
#include "podere/evaluate/classification.h"
#include "podere/isolation/forest_model.h"
#include "podere/isolation/grow.h"
#include "podere/isolation/samples.h"
#include "podere/isolation/test_rows.h"
#include "podere/tree/tree_json.h"

namespace podere::isolation {
namespace {

constexpr float kMissing = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

const comm::Communicator& self() {
  static const auto group = comm::Communicator::self();
  return group;
}

Json content_of(const algorithm::Model& model) {
  Json content;
  read_checked_json(model.to_text(), "model", kForestKind, [&](const Json& found) { content = found; });
  return content;
}

std::vector<tree::Tree> trees_of(const algorithm::Model& model) {
  std::vector<tree::Tree> trees;
  const Json content = content_of(model);
  for (const Json& tree : content.at("trees")) trees.push_back(tree::tree_from_json(tree));
  return trees;
}

/// The second output of predictions.
std::vector<float> scores_of(const algorithm::Model& model, const table::Table& table) {
  const std::vector<float> outputs = model.predictions(model.margins(table, 2), 2);
  return {outputs.begin() + static_cast<std::ptrdiff_t>(table.n_rows()), outputs.end()};
}

/// A sample of all of `rows` [n][n_features], for one tree.
Samples sample_of(const std::vector<std::vector<float>>& rows) {
  Samples samples{rows.front().size(), {}, {std::vector<std::uint32_t>(rows.size())}};
  for (const auto& row : rows) samples.values.insert(samples.values.end(), row.begin(), row.end());
  std::iota(samples.places[0].begin(), samples.places[0].end(), 0U);
  return samples;
}

/// The node that a row ends in, and how many edges lead there.
std::pair<const tree::Node*, int> walk(const tree::Tree& tree, const std::vector<float>& row) {
  const tree::Node* node = tree.nodes.data();
  int depth = 0;
  for (; !node->is_leaf(); ++depth) {
    const bool left = goes_left(tree, *node, row[static_cast<std::size_t>(node->feature)]);
    node = tree.nodes.data() + node->left + (left ? 0 : 1);
  }
  return {node, depth};
}

TEST(MeanPathLengthTest, IsThatOfSearchTrees) {
  EXPECT_EQ(mean_path_length(0), 0);
  EXPECT_EQ(mean_path_length(1), 0);
  EXPECT_EQ(mean_path_length(2), 1);
  EXPECT_NEAR(mean_path_length(5), 2.327020052042847, 1e-12);  // of scikit-learn's _average_path_length
  EXPECT_NEAR(mean_path_length(999), 12.967939884427995, 1e-12);
}

TEST(RowsOfTreeTest, AreDifferentOnesThatAreAllAsLikely) {
  std::vector<int> counts(20);
  for (std::size_t tree = 0; tree < 4000; ++tree) {
    const auto rows = rows_of_tree(3, tree, 20, 5);
    ASSERT_EQ(rows.size(), 5U);
    ASSERT_TRUE(std::ranges::adjacent_find(rows, std::greater_equal()) == rows.end());
    for (const std::uint64_t row : rows) ++counts.at(row);
  }
  for (const int count : counts) EXPECT_NEAR(count, 1000, 5 * std::sqrt(1000 * 0.75));
  std::vector<std::uint64_t> all(20);
  std::iota(all.begin(), all.end(), 0U);
  EXPECT_EQ(rows_of_tree(3, 0, 20, 20), all);
  EXPECT_NE(rows_of_tree(3, 0, 1000, 20), rows_of_tree(4, 0, 1000, 20));
}

TEST(IsolationTreeTest, LeavesHoldTheirRowsAndTheLengthsOfTheirWays) {
  std::vector<std::vector<float>> rows;
  for (std::uint64_t i = 0; i < 100; ++i) {
    rows.push_back({static_cast<float>(i % 7), static_cast<float>(uniform01(hash64(2, 0, i))),
                    i % 5 == 0 ? kMissing : static_cast<float>(i % 3)});
  }
  const table::Schema schema{.features = {"a", "b", "c"}};
  for (std::size_t number = 0; number < 20; ++number) {
    const tree::Tree tree = grow(sample_of(rows), 0, schema, 1, number);
    EXPECT_NO_THROW(check_tree(tree, schema));
    std::map<const tree::Node*, int> n_rows;
    for (const auto& row : rows) ++n_rows[walk(tree, row).first];
    for (const auto& row : rows) {
      const auto [leaf, depth] = walk(tree, row);
      EXPECT_EQ(leaf->cover, static_cast<float>(n_rows[leaf]));
      EXPECT_LE(depth, 7);  // 2^7 is the first power beyond 100
      EXPECT_TRUE(n_rows[leaf] == 1 || depth == 7);
      EXPECT_EQ(leaf->value, static_cast<float>(depth + mean_path_length(static_cast<std::uint64_t>(n_rows[leaf]))));
    }
  }
}

TEST(IsolationTreeTest, RowsThatAreEqualStayTogether) {
  const table::Schema schema{.features = {"a", "b"}};
  const tree::Tree tree = grow(sample_of({{1, kMissing}, {1, 4}, {1, 4}}), 0, schema, 0, 0);
  ASSERT_EQ(tree.nodes.size(), 1U) << "there is but one value";
  EXPECT_EQ(tree.nodes[0].value, static_cast<float>(mean_path_length(3)));
}

TEST(IsolationTreeTest, ThresholdsPartNeighborsAndInfiniteValues) {
  const table::Schema schema{.features = {"a"}};
  const float one = 1;
  const float next = std::nextafter(one, 2.0F);
  for (const auto& [low, high] : std::vector<std::pair<float, float>>{
           {one, next}, {-0.0F, 1e-45F}, {-kInfinity, kInfinity}, {-kInfinity, 3}, {3, kInfinity}, {-3e38F, 3e38F}}) {
    for (std::size_t number = 0; number < 50; ++number) {
      const tree::Tree tree = grow(sample_of({{low}, {high}}), 0, schema, 0, number);
      ASSERT_EQ(tree.nodes.size(), 3U) << low << " " << high;
      EXPECT_TRUE(std::isfinite(tree.nodes[0].threshold));
      EXPECT_NE(walk(tree, {low}).first, walk(tree, {high}).first);
    }
  }
}

TEST(IsolationTreeTest, SidesOfCategoriesAndMissingValuesAreDrawn) {
  table::Schema schema{.features = {"kind"}};
  schema.categories[0] = std::nullopt;
  int n_missing_left = 0;
  std::vector<int> n_left(3);
  for (std::size_t number = 0; number < 400; ++number) {
    const tree::Tree tree = grow(sample_of({{0}, {1}, {2}, {kMissing}}), 0, schema, 0, number);
    EXPECT_NO_THROW(check_tree(tree, schema));
    const tree::Node& root = tree.nodes[0];
    n_missing_left += goes_left(tree, root, kMissing) ? 1 : 0;
    std::set<const tree::Node*> leaves;
    for (std::size_t code = 0; code < 3; ++code) {
      n_left[code] += goes_left(tree, root, static_cast<float>(code)) ? 1 : 0;
      leaves.insert(walk(tree, {static_cast<float>(code)}).first);
    }
    EXPECT_EQ(leaves.size(), 3U) << "each category has a leaf of its own";
  }
  EXPECT_NEAR(n_missing_left, 200, 50);
  for (const int n : n_left) EXPECT_NEAR(n, 200, 50);
}

TEST(IsolationForestTest, ScoresAreThoseOfPlainWalks) {
  const auto table = rows_with_anomalies(3000, self());
  const auto model = train(table::HeldRows(table), self(), 2, {{"n_trees", 30}, {"sample", 100}}).model;
  const auto trees = trees_of(*model);
  ASSERT_EQ(trees.size(), 30U);
  const std::vector<float> margins = model->margins(table, 3);
  const std::vector<float> outputs = model->predictions(margins, 3);
  for (std::size_t i = 0; i < table.n_rows(); ++i) {
    double sum = 0;
    for (const tree::Tree& tree : trees) {
      const auto [leaf, depth] =
          walk(tree, {table.feature(0)[i], table.feature(1)[i], table.feature(2)[i], table.feature(3)[i]});
      sum += depth + mean_path_length(static_cast<std::uint64_t>(leaf->cover));
    }
    const double score = std::pow(2, -sum / 30 / mean_path_length(100));
    EXPECT_NEAR(margins[3000 + i], sum / 30, 1e-4);
    EXPECT_NEAR(outputs[3000 + i], score, 1e-6);
    EXPECT_NEAR(margins[i], score - 0.5, 1e-6);
    EXPECT_EQ(outputs[i], outputs[3000 + i] > 0.5F ? 1 : 0);
  }
}

TEST(IsolationForestTest, AnomaliesHaveTheLargestScores) {
  const auto table = rows_with_anomalies(5000, self());
  const auto trained = train(table::HeldRows(table), self(), 1, Json::object());
  const Json measures = trained.model->measures_of_rows(table, self(), 2);
  EXPECT_GT(measures.at("auc"), 0.97);
  EXPECT_EQ(measures.at("auc"), evaluate::auc(self(), scores_of(*trained.model, table), table.label(), {}));
  EXPECT_EQ(trained.facts.at("threshold"), 0.5);
}

TEST(IsolationForestTest, AShareOfRowsIsAboveTheThreshold) {
  const auto table = rows_with_anomalies(4321, self());
  for (const double share : {0.0002, 0.02, 0.1, 0.5}) {
    const auto trained = train(table::HeldRows(table), self(), 2, {{"share", share}});
    std::vector<float> scores = scores_of(*trained.model, table);
    const Json measures = trained.model->measures_of_rows(table, self(), 1);
    const auto n = static_cast<std::size_t>(std::floor(share * 4321));
    EXPECT_EQ(trained.facts.at("anomalies"), n);
    EXPECT_EQ(measures.at("anomalies"), n);
    EXPECT_EQ(measures.at("anomaly_share"), static_cast<double>(n) / 4321);
    std::ranges::sort(scores);
    EXPECT_EQ(trained.facts.at("threshold"), double{scores[4321 - n - 1]});
    EXPECT_EQ(measures.at("median_score"), double{scores[2160]});
    EXPECT_EQ(measures.at("largest_score"), double{scores.back()});
  }
}

TEST(IsolationForestTest, TreesDoNotDependOnHowManyThereAre) {
  const table::Table table = wide_rows(400, self());
  const Json many = {{"n_trees", 200}};  // are not grown all at once
  const auto of_many = trees_of(*train(table::HeldRows(table), self(), 2, many).model);
  const auto of_few = trees_of(*train(table::HeldRows(table), self(), 2, {{"n_trees", 3}}).model);
  EXPECT_EQ(of_many.size(), 200U);
  EXPECT_TRUE(std::ranges::equal(of_few, std::span(of_many).first(3)));

  struct Stop : Progress {
    bool stop_requested() override { return true; }
  };
  const auto stopped = train(table::HeldRows(table), self(), 2, many, Stop());
  EXPECT_EQ(stopped.facts.at("was_stopped"), true);
  const auto of_stopped = trees_of(*stopped.model);
  EXPECT_LT(of_stopped.size(), 200U);
  EXPECT_TRUE(std::ranges::equal(of_stopped, std::span(of_many).first(of_stopped.size())));
}

TEST(IsolationForestTest, SmallTablesAreTakenWhole) {
  const auto table = rows_with_anomalies(2, self());
  const auto trained = train(table::HeldRows(table), self(), 1, {{"n_trees", 5}});
  EXPECT_EQ(trained.facts.at("sample"), 2);
  EXPECT_EQ(scores_of(*trained.model, table), (std::vector<float>{0.5, 0.5})) << "one split parts them: c(2) = 1";
}

TEST(IsolationForestTest, RefusesWhatHasNoMeaning) {
  const auto refused = [](const Json& options, const table::Table& table) {
    try {
      train(table::HeldRows(table), self(), 1, options);
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string("nothing was refused");
  };
  const auto table = rows_with_anomalies(50, self());
  EXPECT_EQ(refused({{"n_trees", 0}}, table), "trees is 0, allowed is 1 to 10000");
  EXPECT_EQ(refused({{"sample", 1}}, table), "sample is 1, allowed is 2 to 50000 with 100 trees");
  EXPECT_EQ(refused({{"sample", 501}, {"n_trees", 10'000}}, table),
            "sample is 501, allowed is 2 to 500 with 10000 trees");
  EXPECT_EQ(refused({{"share", 0.6}}, table), "share is 0.6, allowed is 0 to 0.5");
  EXPECT_EQ(refused({{"share", -0.1}}, table), "share is -0.1, allowed is 0 to 0.5");
  EXPECT_EQ(refused(Json::object(), rows_with_anomalies(1, self())), "the table has 1 row: 2 at least are needed");
  EXPECT_EQ(refused(Json::object(), table::Table({.features = {}, .label = "y"}, 3, {0, 3})),
            "the table has no features");
  EXPECT_EQ(refused(Json::object(), table::Table({.features = {"a"}, .weight = "w"}, 3, {0, 3})),
            "an isolation forest counts all rows alike, and the table has weights, 'w': leave --weight out");
}

TEST(IsolationForestTest, CategoriesMustBeCodes) {
  for (const float value : {-1.0F, 1.5F, 1e9F, kInfinity}) {
    auto table = rows_with_anomalies(50, self());
    table.feature(3)[7] = value;
    EXPECT_THROW(train(table::HeldRows(table), self(), 1, Json::object()), InputError) << value;
    table.feature(3)[7] = kMissing;
    EXPECT_NO_THROW(train(table::HeldRows(table), self(), 1, Json::object()));
  }
}

TEST(IsolationForestTest, OnlyWholeModelsAreRead) {
  const auto table = rows_with_anomalies(300, self());
  const auto model = train(table::HeldRows(table), self(), 1, {{"n_trees", 2}, {"sample", 20}}).model;
  const std::string text = model->to_text();
  const auto again = isolation_forest().read_model(text, "again");
  EXPECT_EQ(again->to_text(), text);
  EXPECT_EQ(again->margins(table, 1), model->margins(table, 1));
  for (std::size_t length = 0; length + 1 < text.size(); length += 23) {
    EXPECT_THROW(isolation_forest().read_model(text.substr(0, length), "cut"), InputError);
  }
  const auto expect_refused = [&](const std::function<void(Json&)>& damage, const std::string& words) {
    Json content = content_of(*model);
    damage(content);
    try {
      isolation_forest().read_model(checked_json_text(kForestKind, 1, content), "m");
      ADD_FAILURE() << words << ": read";
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
    }
  };
  expect_refused([](Json& content) { content["sample"] = 1; }, "fewer than 2 rows");
  expect_refused([](Json& content) { content["threshold"] = nullptr; }, "threshold");
  expect_refused([](Json& content) { content["trees"] = Json::array(); }, "no trees");
  expect_refused([](Json& content) { content["trees"][1]["left"][0] = 4000; }, "children are not in its tree");
  expect_refused([](Json& content) { content["trees"][1]["value"].back() = -1; }, "negative length");
  expect_refused([](Json& content) { content["trees"][0]["feature"][0] = 4; }, "not in the schema");
}

}  // namespace
}  // namespace podere::isolation
