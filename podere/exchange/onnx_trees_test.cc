#include <gtest/gtest.h>
#include <onnx/checker.h>

#include <algorithm>
#include <map>

#include "podere/exchange/cases.h"
#include "podere/exchange/onnx.h"
#include "podere/tree/algorithm.h"

namespace podere::exchange {
namespace {

/// The graph's ensemble as ai.onnx.ml says it is evaluated: one row at a time, by the numbers of nodes.
class Evaluator {
 public:
  explicit Evaluator(const onnx::NodeProto& op) {
    for (const auto& attribute : op.attribute()) attributes_[attribute.name()] = attribute;
    votes_ = op.op_type() == "TreeEnsembleClassifier" ? "class" : "target";
    const auto& trees = ints("nodes_treeids");
    for (int i = 0; i < trees.size(); ++i) {
      EXPECT_TRUE(row_of_.emplace(std::pair(trees[i], ints("nodes_nodeids")[i]), i).second);
    }
  }

  /// Sums of votes [n_outputs] and base values, before any transformation.
  std::vector<double> margins(const std::vector<float>& row) const {
    const auto& base = at("base_values").floats();
    std::vector<double> sums(base.begin(), base.end());
    std::map<std::int64_t, std::int64_t> leaves;
    for (const auto& [id, i] : row_of_) {
      if (id.second == 0) leaves[id.first] = leaf(id.first, row);
    }
    const auto& trees = ints(votes_ + "_treeids");
    for (int i = 0; i < trees.size(); ++i) {
      if (leaves.at(trees[i]) == ints(votes_ + "_nodeids")[i])
        sums.at(static_cast<std::size_t>(ints(votes_ + "_ids")[i])) += at(votes_ + "_weights").floats(i);
    }
    return sums;
  }

 private:
  using Ints = google::protobuf::RepeatedField<std::int64_t>;
  const onnx::AttributeProto& at(const std::string& name) const { return attributes_.at(name); }
  const Ints& ints(const std::string& name) const { return at(name).ints(); }

  std::int64_t leaf(std::int64_t tree, const std::vector<float>& row) const {
    for (std::int64_t id = 0;;) {
      const int i = row_of_.at({tree, id});
      const std::string& mode = at("nodes_modes").strings(i);
      if (mode == "LEAF") return id;
      const float value = row.at(static_cast<std::size_t>(ints("nodes_featureids")[i]));
      const float threshold = at("nodes_values").floats(i);
      const bool is_true = std::isnan(value) ? ints("nodes_missing_value_tracks_true")[i] != 0
                                             : (mode == "BRANCH_LT" ? value < threshold : value == threshold);
      EXPECT_TRUE(mode == "BRANCH_LT" || mode == "BRANCH_EQ") << mode;
      id = ints(is_true ? "nodes_truenodeids" : "nodes_falsenodeids")[i];
    }
  }

  std::map<std::string, onnx::AttributeProto> attributes_;
  std::map<std::pair<std::int64_t, std::int64_t>, int> row_of_;
  std::string votes_;
};

onnx::ModelProto parse(const tree::Model& model) {
  onnx::ModelProto file;
  EXPECT_TRUE(file.ParseFromString(to_onnx(model)));
  onnx::checker::check_model(file);  // throws
  return file;
}

void expect_same(const std::string& name, const tree::Model& model) {
  SCOPED_TRACE(name);
  const Evaluator evaluator(parse(model).graph().node(0));
  const table::Table table = case_table(name, model);
  const auto margins = tree::predict_margins(model, table, 1);
  for (std::size_t i = 0; i < table.n_rows(); ++i) {
    std::vector<float> row;
    for (std::size_t j = 0; j < table.n_features(); ++j) row.push_back(table.feature(j)[i]);
    const auto found = evaluator.margins(row);
    for (std::size_t k = 0; k < found.size(); ++k) {
      const double expected = margins[k * table.n_rows() + i];
      EXPECT_NEAR(found[k], expected, 1e-6 * std::max(1.0, std::abs(expected))) << "row " << i;
    }
  }
}

tree::Model read(const std::string& file) { return *tree::trees_of(*load_model(case_path(file)).model); }

TEST(Onnx, TheGraphGivesTheMarginsOfTheModel) {
  for (const char* name :
       {"binary_logistic", "binary_logistic_missing", "multiclass", "regression", "categorical_binary"}) {
    tree::Model model = read(std::string("xgboost/gbtree_") + name + ".model.json");
    for (double& margin : model.base_margin) margin += 0.25;
    expect_same(std::string("xgboost/gbtree_") + name, model);
  }
  for (const char* name : {"binary", "multiclass", "decisions", "categorical", "categorical_never_missing"}) {
    expect_same(std::string("lightgbm/") + name, read(std::string("lightgbm/") + name + ".model.txt"));
  }
}

TEST(Onnx, AClassifierSaysClassesAndProbabilitiesARegressorNumbers) {
  const auto binary = parse(read("xgboost/gbtree_binary_logistic.model.json"));
  ASSERT_EQ(binary.graph().output_size(), 2);
  EXPECT_EQ(binary.graph().output(0).name(), "label");
  EXPECT_EQ(binary.graph().output(1).type().tensor_type().shape().dim(1).dim_value(), 2);
  EXPECT_EQ(binary.graph().input(0).type().tensor_type().shape().dim(1).dim_value(), 4);
  EXPECT_EQ(binary.metadata_props(0).value(), R"(["f0","f1","f2","f3"])");
  const auto classes = parse(read("lightgbm/multiclass.model.txt"));
  EXPECT_EQ(classes.graph().output(1).type().tensor_type().shape().dim(1).dim_value(), 3);
  const auto number = parse(read("xgboost/gbtree_regression.model.json"));
  ASSERT_EQ(number.graph().output_size(), 1);
  EXPECT_EQ(number.graph().output(0).name(), "prediction");
}

TEST(Onnx, OfCountsThePredictionIsTheExponentialOfTheMargin) {
  tree::Model model = read("xgboost/gbtree_regression.model.json");
  model.options.objective = tree::Objective::kPoisson;
  expect_same("xgboost/gbtree_regression", model);
  const auto graph = parse(model).graph();
  ASSERT_EQ(graph.node_size(), 2);
  EXPECT_EQ(graph.node(1).op_type(), "Exp");
  EXPECT_EQ(graph.node(1).input(0), graph.node(0).output(0));
  EXPECT_EQ(graph.node(1).output(0), graph.output(0).name());
}

TEST(Onnx, SoftmaxOfTwoClassesVotesWithTheDifferenceOfMargins) {
  tree::Model model = read("xgboost/gbtree_binary_logistic.model.json");
  model.trees.resize(4);
  model.options.objective = tree::Objective::kSoftmax;
  model.options.n_classes = 2;
  model.base_margin = {0.5, 2};
  const table::Table table = case_table("xgboost/gbtree_binary_logistic", model);
  const auto margins = tree::predict_margins(model, table, 1);
  const Evaluator evaluator(parse(model).graph().node(0));
  for (std::size_t i = 0; i < table.n_rows(); ++i) {
    std::vector<float> row;
    for (std::size_t j = 0; j < table.n_features(); ++j) row.push_back(table.feature(j)[i]);
    EXPECT_NEAR(evaluator.margins(row)[0], margins[table.n_rows() + i] - margins[i], 1e-6);
  }
}

/// onnxruntime takes votes that are all positive for probabilities, and says class 1 above 0.5 only.
TEST(Onnx, VotesOfTwoClassesAreNeverAllPositive) {
  tree::Model model = read("xgboost/gbtree_binary_logistic.model.json");
  for (tree::Tree& tree : model.trees) {
    for (tree::Node& node : tree.nodes) node.value = std::abs(node.value);
  }
  const auto file = parse(model);
  float least = 0;
  for (const auto& attribute : file.graph().node(0).attribute()) {
    if (attribute.name() == "class_weights") least = *std::ranges::min_element(attribute.floats());
  }
  EXPECT_LT(least, 0);
  expect_same("xgboost/gbtree_binary_logistic", model);
}

TEST(Onnx, ProbabilitiesOfTwoClassesAreThoseOfTheSecond) {
  tree::Model model = read("xgboost/gbtree_binary_logistic.model.json");
  model.trees.resize(4);
  model.options.n_classes = 2;
  model.base_margin = {0, 0};
  model.options.objective = tree::Objective::kProbabilities;
  const table::Table table = case_table("xgboost/gbtree_binary_logistic", model);
  const auto margins = tree::predict_margins(model, table, 1);
  const auto file = parse(model);
  const Evaluator evaluator(file.graph().node(0));
  for (std::size_t i = 0; i < table.n_rows(); ++i) {
    std::vector<float> row;
    for (std::size_t j = 0; j < table.n_features(); ++j) row.push_back(table.feature(j)[i]);
    EXPECT_EQ(evaluator.margins(row).size(), 1U);
    EXPECT_NEAR(evaluator.margins(row)[0], margins[table.n_rows() + i], 1e-6);
  }
  model.options.objective = tree::Objective::kOneVersusAll;
  EXPECT_THROW(to_onnx(model), InputError);
}

TEST(Onnx, ProbabilitiesAreWhatTheVotesAddUpToAndOneVersusAllHasALogisticFunctionForEach) {
  tree::Model model = read("lightgbm/multiclass.model.txt");
  for (const auto& [objective, function] :
       {std::pair{tree::Objective::kProbabilities, "NONE"}, std::pair{tree::Objective::kOneVersusAll, "LOGISTIC"},
        std::pair{tree::Objective::kSoftmax, "SOFTMAX"}}) {
    model.options.objective = objective;
    expect_same("lightgbm/multiclass", model);
    const auto file = parse(model);
    const auto& attributes = file.graph().node(0).attribute();
    const auto found = std::ranges::find(attributes, "post_transform", &onnx::AttributeProto::name);
    ASSERT_NE(found, attributes.end());
    EXPECT_EQ(found->s(), function);
  }
}

}  // namespace
}  // namespace podere::exchange
