#include <algorithm>
#include <limits>

#include "podere/base/error.h"
#include "podere/exchange/onnx.h"
#include "podere/exchange/onnx_graph.h"
#include "podere/exchange/second_class.h"
#include "podere/tree/objective.h"

namespace podere::exchange {
namespace {

using tree::Node;

constexpr int kMlOpset = 3;  // TreeEnsemble*, as runtimes have had it since 2022

/// The attributes of a TreeEnsemble: a row for each node of each tree, and one for each leaf's weight.
class Ensemble {
 public:
  /// `votes` is what the operator calls its leaves: "class" or "target".
  Ensemble(onnx::NodeProto& op, const std::string& votes)
      : tree_ids_(integers(op, "nodes_treeids")),
        node_ids_(integers(op, "nodes_nodeids")),
        features_(integers(op, "nodes_featureids")),
        modes_(add_attribute(op, "nodes_modes", onnx::AttributeProto::STRINGS)),
        values_(floats(op, "nodes_values")),
        true_ids_(integers(op, "nodes_truenodeids")),
        false_ids_(integers(op, "nodes_falsenodeids")),
        missing_tracks_true_(integers(op, "nodes_missing_value_tracks_true")),
        vote_tree_ids_(integers(op, votes + "_treeids")),
        vote_node_ids_(integers(op, votes + "_nodeids")),
        vote_outputs_(integers(op, votes + "_ids")),
        vote_weights_(floats(op, votes + "_weights")) {}

  /// Votes are `sign` times the values of leaves.
  void add(const tree::Tree& tree, std::int64_t output, float sign) {
    std::vector<Equal> more;  // nodes of chains after the first; their ids come after the tree's own
    const auto n_nodes = static_cast<std::int64_t>(tree.nodes.size());
    for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
      const Node& node = tree.nodes[i];
      const auto id = static_cast<std::int64_t>(i);
      if (node.is_leaf()) {
        add_row(id, "LEAF", 0, 0, 0, 0, false);
        add_vote(id, output, sign * node.value);
      } else if (node.category_set >= 0) {
        const auto& codes = tree.category_sets[static_cast<std::size_t>(node.category_set)];
        add_chain(id, node, codes, n_nodes, more);
      } else {
        add_row(id, "BRANCH_LT", node.feature, node.threshold, node.left, node.left + 1, node.missing_left);
      }
    }
    for (std::size_t i = 0; i < more.size(); ++i) {
      const Equal& e = more[i];
      add_row(n_nodes + static_cast<std::int64_t>(i), "BRANCH_EQ", e.feature, e.code, e.if_true, e.if_false, false);
    }
    ++n_trees_;
  }

  /// onnxruntime takes votes for two classes that are all positive for probabilities, and says class 1 above 0.5 only.
  /// This vote is less than the rounding of any sum.
  void add_negative_vote() {
    if (std::ranges::any_of(vote_weights_.floats(), [](float weight) { return weight < 0; })) return;
    add_row(0, "LEAF", 0, 0, 0, 0, false);
    add_vote(0, 0, -std::numeric_limits<float>::min());
    ++n_trees_;
  }

 private:
  struct Equal {
    std::int64_t feature;
    float code;
    std::int64_t if_true;
    std::int64_t if_false;
  };

  /// A row goes right at the first of `codes` that it has; at the end of the chain it goes left.
  void add_chain(std::int64_t id, const Node& node, const std::vector<std::int32_t>& codes, std::int64_t n_nodes,
                 std::vector<Equal>& more) {
    const std::int64_t right = node.left + 1;
    if (codes.empty()) {  // of numbers, none is below this
      add_row(id, "BRANCH_LT", node.feature, -std::numeric_limits<float>::infinity(), right, node.left,
              !node.missing_left);
      return;
    }
    const auto next_of = [&](std::size_t k) {
      return k + 1 == codes.size() ? std::int64_t{node.left} : n_nodes + static_cast<std::int64_t>(more.size());
    };
    add_row(id, "BRANCH_EQ", node.feature, static_cast<float>(codes[0]), right, next_of(0), !node.missing_left);
    for (std::size_t k = 1; k < codes.size(); ++k) {
      Equal& equal = more.emplace_back(Equal{node.feature, static_cast<float>(codes[k]), right, 0});
      equal.if_false = next_of(k);
    }
  }

  static onnx::AttributeProto& integers(onnx::NodeProto& op, const std::string& name) {
    return add_attribute(op, name, onnx::AttributeProto::INTS);
  }
  static onnx::AttributeProto& floats(onnx::NodeProto& op, const std::string& name) {
    return add_attribute(op, name, onnx::AttributeProto::FLOATS);
  }

  void add_row(std::int64_t id, const char* mode, std::int64_t feature, float value, std::int64_t if_true,
               std::int64_t if_false, bool missing_is_true) {
    tree_ids_.add_ints(n_trees_);
    node_ids_.add_ints(id);
    features_.add_ints(feature);
    modes_.add_strings(mode);
    values_.add_floats(value);
    true_ids_.add_ints(if_true);
    false_ids_.add_ints(if_false);
    missing_tracks_true_.add_ints(missing_is_true ? 1 : 0);
  }

  void add_vote(std::int64_t id, std::int64_t output, float weight) {
    vote_tree_ids_.add_ints(n_trees_);
    vote_node_ids_.add_ints(id);
    vote_outputs_.add_ints(output);
    vote_weights_.add_floats(weight);
  }

  // Elements of a repeated field stay where they are when more are added.
  onnx::AttributeProto &tree_ids_, &node_ids_, &features_, &modes_, &values_, &true_ids_, &false_ids_,
      &missing_tracks_true_, &vote_tree_ids_, &vote_node_ids_, &vote_outputs_, &vote_weights_;
  std::int64_t n_trees_ = 0;
};

void add_trees(onnx::NodeProto& op, const tree::Model& model, const std::string& votes) {
  auto& base = add_attribute(op, "base_values", onnx::AttributeProto::FLOATS);
  for (const double margin : model.base_margin) base.add_floats(static_cast<float>(margin));
  Ensemble ensemble(op, votes);
  for (std::size_t t = 0; t < model.trees.size(); ++t)
    ensemble.add(model.trees[t], static_cast<std::int64_t>(t % model.n_outputs()), 1);
  if (traits_of(model.options.objective).link == tree::Link::kLogit) ensemble.add_negative_vote();
}

/// Softmax of two classes is logistic in the difference of their margins. onnxruntime adds but one of two base values.
void add_softmax_of_two_classes(onnx::NodeProto& op, const tree::Model& model) {
  add_attribute(op, "base_values", onnx::AttributeProto::FLOATS)
      .add_floats(static_cast<float>(model.base_margin[1] - model.base_margin[0]));
  Ensemble ensemble(op, "class");
  for (std::size_t t = 0; t < model.trees.size(); ++t) ensemble.add(model.trees[t], 0, t % 2 == 0 ? -1 : 1);
  ensemble.add_negative_vote();
}

/// onnxruntime takes two classes for one number: of the second it is the probability, or the log odds. Returns what
/// ONNX calls the function that makes it a prediction.
const char* add_two_classes(onnx::NodeProto& op, const tree::Model& model) {
  if (const auto of_second = second_class(model, "ONNX")) {
    add_trees(op, *of_second, "class");
    return "NONE";  // votes are all positive, so they are probabilities
  }
  const tree::ObjectiveTraits& traits = traits_of(model.options.objective);
  if (traits.link == tree::Link::kSoftmax) {
    add_softmax_of_two_classes(op, model);
  } else if (model.n_outputs() == 1) {
    add_trees(op, model, "class");
  } else {
    throw_input_error("has the objective {} of two classes, which ONNX's operator does not have: write it as podere",
                      to_string(traits.objective));
  }
  return "LOGISTIC";
}

const char* add_many_classes(onnx::NodeProto& op, const tree::Model& model) {
  add_trees(op, model, "class");
  const tree::Link link = traits_of(model.options.objective).link;
  return link == tree::Link::kSoftmax ? "SOFTMAX" : link == tree::Link::kLogit ? "LOGISTIC" : "NONE";
}

void add_classifier(onnx::GraphProto& graph, const tree::Model& model) {
  const auto n_classes = static_cast<std::int64_t>(n_classes_of(model.options));
  onnx::NodeProto& op = add_op(graph, "ai.onnx.ml", "TreeEnsembleClassifier", {"features"}, {"label", "probabilities"});
  auto& labels = add_attribute(op, "classlabels_int64s", onnx::AttributeProto::INTS);
  for (std::int64_t k = 0; k < n_classes; ++k) labels.add_ints(k);
  set_attribute(op, "post_transform", n_classes == 2 ? add_two_classes(op, model) : add_many_classes(op, model));
  describe_classes(graph, n_classes);
}

void add_regressor(onnx::GraphProto& graph, const tree::Model& model) {
  const bool is_log = traits_of(model.options.objective).link == tree::Link::kLog;
  onnx::NodeProto& op =
      add_op(graph, "ai.onnx.ml", "TreeEnsembleRegressor", {"features"}, {is_log ? "margin" : "prediction"});
  set_attribute(op, "n_targets", 1);
  add_trees(op, model, "target");
  if (is_log) add_op(graph, "", "Exp", {"margin"}, {"prediction"});
  describe_numbers(graph);
}

}  // namespace

std::string to_onnx(const tree::Model& model) {
  if (has_linear_parts(model))
    throw InputError("the model has linear trees, which ONNX does not have: write it as podere or lightgbm");
  onnx::ModelProto file = begin_onnx(model.schema);
  add_opset(file, "ai.onnx.ml", kMlOpset);
  onnx::GraphProto& graph = *file.mutable_graph();
  if (traits_of(model.options.objective).has_classes()) {
    add_classifier(graph, model);
  } else {
    add_regressor(graph, model);
  }
  return to_bytes(file);
}

}  // namespace podere::exchange
