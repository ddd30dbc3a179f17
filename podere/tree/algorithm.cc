#include "podere/tree/algorithm.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>

#include "podere/algorithm/facts.h"
#include "podere/algorithm/recording_progress.h"
#include "podere/base/error.h"
#include "podere/base/json_fields.h"
#include "podere/table/features.h"
#include "podere/tree/blend.h"
#include "podere/tree/labels.h"
#include "podere/tree/objective.h"
#include "podere/tree/permutation_importance.h"
#include "podere/tree/predict.h"
#include "podere/tree/shap.h"
#include "podere/tree/train.h"

namespace podere::tree {
namespace {

/// Features by falling gain.
std::vector<std::size_t> by_gain(const Importance& importance) {
  std::vector<std::size_t> order(importance.gain.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater(), [&](std::size_t j) { return importance.gain[j]; });
  return order;
}

class MarginStages final : public algorithm::Stages {
 public:
  MarginStages(const Model& model, const table::Table& table, int n_threads)
      : model_(model),
        columns_(table::feature_columns(model.schema, table)),
        n_threads_(n_threads),
        margins_(start_margins(model.base_margin, table.n_rows())) {}

  const std::vector<float>& margins_after(std::size_t n_rounds) override {
    const std::size_t n_outputs = model_.n_outputs();
    const auto trees = std::span(model_.trees).subspan(round_ * n_outputs, (n_rounds - round_) * n_outputs);
    add_trees(trees, n_outputs, columns_, n_threads_, margins_);
    round_ = n_rounds;
    return margins_;
  }

 private:
  const Model& model_;
  std::vector<std::span<const float>> columns_;
  int n_threads_;
  std::vector<float> margins_;
  std::size_t round_ = 0;
};

class TreesModel final : public algorithm::Model, public algorithm::Explainable {
 public:
  explicit TreesModel(tree::Model model) : model_(std::move(model)) {}
  const tree::Model& trees() const { return model_; }

  std::string what() const override { return "boosted trees"; }
  const table::Schema& schema() const override { return model_.schema; }
  std::string objective() const override { return to_string(model_.options.objective); }
  std::optional<double> quantile() const override {
    if (!traits_of(model_.options.objective).has_quantile) return std::nullopt;
    return model_.options.quantile;
  }
  table::LabelRules label_rules() const override {
    table::LabelRules rules = tree::label_rules(model_.options);
    rules.class_weight.clear();
    return rules;
  }
  std::size_t n_outputs() const override { return model_.n_outputs(); }
  std::size_t n_parameters() const override {
    std::size_t n = 0;
    for (const Tree& tree : model_.trees) {
      n += static_cast<std::size_t>(std::ranges::count_if(tree.nodes, &Node::is_leaf));
      for (const LinearPart& part : tree.linear_parts) n += part.coefficients.size();
    }
    return n;
  }

  std::vector<float> margins(const table::Table& table, int n_threads) const override {
    return predict_margins(model_, table, n_threads);
  }
  std::vector<float> predictions(std::vector<float> margins, int n_threads) const override {
    return predictions_of(model_, std::move(margins), n_threads);
  }

  std::string to_text() const override { return tree::to_text(model_); }
  algorithm::Description describe() const override;

  std::size_t n_rounds() const override { return model_.n_rounds(); }
  std::unique_ptr<const algorithm::Model> first_rounds(std::size_t n) const override {
    tree::Model first = model_;
    first.trees.resize(n * first.n_outputs());
    return as_model(std::move(first));
  }
  std::unique_ptr<algorithm::Stages> stages(const table::Table& table, int n_threads) const override {
    return std::make_unique<MarginStages>(model_, table, n_threads);
  }

  const algorithm::Explainable* explainable() const override { return this; }
  std::vector<double> bias() const override { return shap_bias(model_); }
  void shap_values(std::span<const std::span<const float>> features, std::size_t begin, std::size_t end,
                   std::span<double> values) const override {
    tree::shap_values(model_, features, begin, end, values);
  }
  algorithm::PermutationImportance permutation_importance(const table::Table& table, int repeats, std::uint64_t seed,
                                                          const comm::Communicator& comm, int n_threads,
                                                          Progress& progress) const override {
    return tree::permutation_importance(model_, table, repeats, seed, comm, n_threads, progress);
  }

 private:
  tree::Model model_;
};

algorithm::Description TreesModel::describe() const {
  const Importance importance = tree::importance(model_);
  std::size_t n_nodes = 0;
  std::size_t n_linear = 0;
  for (const auto& tree : model_.trees) {
    n_nodes += tree.nodes.size();
    n_linear += tree.linear_parts.size();
  }
  algorithm::Description description{.facts = {{"objective", objective()},
                                               {"trees", model_.trees.size()},
                                               {"nodes", n_nodes},
                                               {"features", model_.schema.features.size()}},
                                     .head = {"feature", "gain", "splits", "cover"}};
  if (n_linear > 0) description.facts.emplace_back("linear leaves", n_linear);
  Json features = Json::array();
  for (const std::size_t j : by_gain(importance)) {
    const std::string& name = model_.schema.features[j];
    features.push_back({{"name", name},
                        {"gain", importance.gain[j]},
                        {"splits", importance.split[j]},
                        {"cover", importance.cover[j]}});
    description.lines.push_back({name, importance.gain[j], importance.split[j], importance.cover[j]});
  }
  description.json = {{"objective", objective()},       {"rounds", model_.n_rounds()},
                      {"trees", model_.trees.size()},   {"nodes", n_nodes},
                      {"linear_leaves", n_linear},      {"label", model_.schema.label.value_or("")},
                      {"features", std::move(features)}};
  return description;
}

struct SoFar final : algorithm::Checkpoint {
  explicit SoFar(Model read) : model(std::move(read)) {}
  Model model;
};

/// How many rounds there were, and which of them is the model's last.
Json round_facts(const algorithm::RecordingProgress& recorder, const Model& model) {
  const std::size_t n_kept = model.n_rounds();
  const auto patience = static_cast<std::size_t>(model.options.early_stopping_rounds);
  const bool is_cut_short = recorder.n_done() < static_cast<std::size_t>(model.options.n_trees);
  return {{"trees", n_kept},
          {"rounds_run", recorder.n_done()},
          {"best_round", patience > 0 ? Json(n_kept) : Json()},
          {"stopped_early", patience > 0 && is_cut_short && recorder.n_done() - n_kept >= patience},
          {"was_stopped", recorder.is_stopped()}};
}

/// The options first, then losses and AUC of rounds.
class RoundSummaries {
 public:
  RoundSummaries(const Options& options, algorithm::Summaries& summaries)
      : options_(options), summaries_(summaries), rounds_apart_(std::max<std::size_t>(summaries.steps_apart(), 1)) {}

  void note(const ProgressStep& step) {
    if (step.phase != "train") return;
    if (!std::exchange(has_begun_, true)) return summaries_.begin(step.done, json_of_all_fields(options_));
    if (!step.metrics.empty() && step.done % rounds_apart_ == 0) summaries_.scalars(step.done, step.metrics);
  }

 private:
  const Options& options_;
  algorithm::Summaries& summaries_;
  const std::size_t rounds_apart_;
  bool has_begun_ = false;
};

class TreeTrainer final : public algorithm::Trainer {
 public:
  explicit TreeTrainer(Options options) : options_(std::move(options)) {
    validate(options_);
    check_is_trained(options_.objective);
  }

  std::string objective() const override { return to_string(options_.objective); }
  table::LabelRules label_rules() const override { return tree::label_rules(options_); }
  std::string objective_option() const override { return "--objective " + objective(); }
  std::string option_for_numbers() const override { return "--objective squared-error"; }
  double validation_fraction() const override { return options_.validation_fraction; }
  bool is_training_row(table::GlobalRow row) const override { return tree::is_training_row(row, options_); }

  void check_base(const algorithm::Model& base, const std::string& name) const override {
    if (trees_of(base) == nullptr) throw_input_error("{}: is {}, this is for boosted trees", name, base.what());
  }
  std::unique_ptr<const algorithm::Checkpoint> read_checkpoint(const std::string& text,
                                                               const std::string& name) const override {
    return std::make_unique<SoFar>(from_text(text, name));
  }

  algorithm::Trained train(const table::RowSource& rows, const table::Table* validation,
                           const algorithm::Run& run) const override {
    RoundSummaries summaries(options_, run.summaries);
    algorithm::RecordingProgress recorder(run.progress, [&](const ProgressStep& step) { summaries.note(step); });
    const auto* so_far = dynamic_cast<const SoFar*>(run.checkpoint);
    std::shared_ptr<SharedBins> bins;
    if (run.shared != nullptr) {
      bins = run.shared->part<SharedBins>(fmt::format("bins {} of seed {}", options_.bins, options_.seed));
    }
    TrainTimes times;
    Model model = tree::train(rows, validation, options_, run.comm, run.n_threads, recorder, &times,
                              {.base = run.base == nullptr ? nullptr : trees_of(*run.base),
                               .checkpoint = so_far == nullptr ? nullptr : &so_far->model,
                               .offer =
                                   [&](const Model& grown) {
                                     const bool pauses = run.pause_after > 0 && grown.n_rounds() >= run.pause_after;
                                     run.offer([&] { return to_text(grown); }, pauses);
                                   },
                               .pause_after = run.pause_after,
                               .is_training = run.is_training,
                               .bins = bins.get()});
    Json facts = {{"bin_seconds", times.bin_seconds},
                  {"train_seconds", times.boost_seconds},
                  {"communication", algorithm::communication_facts(times.boost_traffic, run.comm)}};
    facts.update(round_facts(recorder, model));
    facts["loss"] = model.history.train_loss.back();
    if (!model.history.validation_loss.empty()) facts["validation_loss"] = model.history.validation_loss.back();
    for (const auto& [name, value] : recorder.metrics(model.n_rounds())) facts[name] = value;
    return {as_model(std::move(model)), std::move(facts)};
  }

 private:
  Options options_;
};

Json first_objective_for(table::LabelKind labels) {
  return {{"objective", to_string(std::ranges::find(all_objectives(), labels, &ObjectiveTraits::labels)->objective)}};
}

class BoostedTrees final : public algorithm::Algorithm {
 public:
  std::string name() const override { return "trees"; }
  algorithm::Abilities abilities() const override {
    return {.streams = true,
            .validates = true,
            .writes_summaries = true,
            .keeps_checkpoints = true,
            .has_folds = true,
            .blends = true};
  }
  std::unique_ptr<const algorithm::Trainer> trainer(const Json& given) const override {
    if (given.is_object() && given.contains("objective") && given["objective"].is_string())
      trained_objective(given["objective"].get<std::string>());
    Options options;
    read_json(given, "options", options);
    return std::make_unique<TreeTrainer>(std::move(options));
  }
  Json options_for_classes() const override { return first_objective_for(table::LabelKind::kClasses); }
  Json options_for_numbers() const override { return first_objective_for(table::LabelKind::kNumbers); }
  std::string length_option() const override { return "n_trees"; }
  std::string default_space(const Json& /*options*/) const override {
    return R"(n_trees = 500
early_stopping_rounds = 20
learning_rate = { low = 0.02, high = 0.3, log = true }
depth = { low = 3, high = 10 }
min_child_weight = { low = 0.5, high = 100.0, log = true }
lambda = { low = 0.01, high = 100.0, log = true }
subsample = { low = 0.5, high = 1.0 }
column_subsample = { low = 0.4, high = 1.0 }
)";
  }
  Json options_after_folds(Json options, const std::vector<Json>& facts) const override {
    return algorithm::trained_as_long(std::move(options), "early_stopping_rounds", "n_trees", facts, "trees");
  }
  std::unique_ptr<const algorithm::Model> blend(const std::vector<std::unique_ptr<const algorithm::Model>>& models,
                                                const std::vector<double>& weights) const override {
    std::vector<const Model*> trees;
    for (const auto& model : models) trees.push_back(trees_of(*model));
    return as_model(tree::blend(trees, weights));
  }
  bool is_model(const std::string& text) const override { return is_trees_text(text); }
  std::unique_ptr<const algorithm::Model> read_model(const std::string& text, const std::string& name) const override {
    return as_model(from_text(text, name));
  }
};

}  // namespace

const algorithm::Algorithm& boosted_trees() {
  static const BoostedTrees kTrees;
  return kTrees;
}

std::unique_ptr<const algorithm::Model> as_model(Model model) { return std::make_unique<TreesModel>(std::move(model)); }

const Model* trees_of(const algorithm::Model& model) {
  const auto* own = dynamic_cast<const TreesModel*>(&model);
  return own == nullptr ? nullptr : &own->trees();
}

}  // namespace podere::tree
