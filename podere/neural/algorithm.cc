#include "podere/neural/algorithm.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "podere/algorithm/facts.h"
#include "podere/algorithm/recording_progress.h"
#include "podere/base/clock.h"
#include "podere/base/error.h"
#include "podere/base/json_fields.h"
#include "podere/neural/labels.h"
#include "podere/neural/predict.h"
#include "podere/neural/step_summaries.h"
#include "podere/neural/train.h"

namespace podere::neural {
namespace {

/// "28-100-1"
std::string layers_text(const Layout& layout) {
  std::string text = std::to_string(layout.n_features());
  for (const Layer& layer : layout.layers()) text += fmt::format("-{}", layer.n_outputs);
  return text;
}

class NetworkModel final : public algorithm::Model {
 public:
  explicit NetworkModel(neural::Model model) : model_(std::move(model)) {}
  const neural::Model& network() const { return model_; }

  std::string what() const override { return "a network"; }
  const table::Schema& schema() const override { return model_.schema; }
  std::string objective() const override { return to_string(model_.options.loss); }
  table::LabelRules label_rules() const override { return neural::label_rules(model_.options); }
  std::size_t n_outputs() const override { return model_.n_outputs(); }
  std::size_t n_parameters() const override { return model_.layout.n_weights(); }

  std::vector<float> margins(const table::Table& table, int n_threads) const override {
    return predict_outputs(model_, table, n_threads);
  }
  std::vector<float> predictions(std::vector<float> margins, int n_threads) const override {
    return predictions_of(model_, std::move(margins), n_threads);
  }

  std::string to_text() const override { return neural::to_text(model_); }
  algorithm::Description describe() const override;

 private:
  neural::Model model_;
};

algorithm::Description NetworkModel::describe() const {
  algorithm::Description description{.facts = {{"objective", objective()},
                                               {"optimiser", to_string(model_.options.optimizer)},
                                               {"epochs", model_.history.train_loss.size()},
                                               {"weights", model_.layout.n_weights()},
                                               {"features", model_.schema.features.size()}},
                                     .head = {"layer", "inputs", "outputs", "activation", "weights"}};
  Json layers = Json::array();
  for (std::size_t l = 0; l < model_.layout.n_layers(); ++l) {
    const Layer& layer = model_.layout.layer(l);
    const bool is_last = l + 1 == model_.layout.n_layers();
    const std::string activation =
        is_last ? output_activation(model_.options.loss) : to_string(model_.options.activation);
    const std::size_t n_weights = (layer.n_inputs + 1) * layer.n_outputs;
    layers.push_back(
        {{"inputs", layer.n_inputs}, {"outputs", layer.n_outputs}, {"activation", activation}, {"weights", n_weights}});
    description.lines.push_back({std::to_string(l + 1), layer.n_inputs, layer.n_outputs, activation, n_weights});
  }
  description.json = {{"objective", objective()},
                      {"optimiser", to_string(model_.options.optimizer)},
                      {"epochs", model_.history.train_loss.size()},
                      {"weights", model_.layout.n_weights()},
                      {"label", model_.schema.label.value_or("")},
                      {"features", model_.schema.features},
                      {"layers", std::move(layers)}};
  return description;
}

struct UnderWay final : algorithm::Checkpoint {
  explicit UnderWay(neural::Checkpoint read) : checkpoint(std::move(read)) {}
  neural::Checkpoint checkpoint;
};

/// How many epochs there were, and which of them is the model's last.
Json epoch_facts(const JobOptions& options, bool is_stopped, const Model& model, const TrainReport& report) {
  const bool is_patient = model.options.early_stopping_epochs > 0;
  return {{"epochs", model.history.train_loss.size()},
          {"epochs_run", report.epochs_run},
          {"steps", report.n_steps},
          {"best_epoch", is_patient ? Json(model.history.train_loss.size()) : Json()},
          {"stopped_early", report.stopped_early},
          {"has_converged", report.has_converged},
          {"reached_max_steps", options.max_steps > 0 && report.n_steps >= options.max_steps},
          {"was_stopped", is_stopped}};
}

/// How loss and quality went, an entry an epoch, with the seconds of training until then.
class Curve {
 public:
  void note(const AfterStep& after) {
    if (!after.is_epoch_over) return;
    points_["epoch"].push_back(after.history.train_loss.size());
    points_["seconds"].push_back(watch_.seconds());
    points_["loss"].push_back(after.history.train_loss.back());
    if (!after.quality) return;
    points_["validation_loss"].push_back(after.quality->loss);
    if (after.quality->accuracy) points_["validation_accuracy"].push_back(*after.quality->accuracy);
    if (after.quality->auc) points_["validation_auc"].push_back(*after.quality->auc);
  }
  const Json& points() const { return points_; }

 private:
  Stopwatch watch_;
  Json points_ = Json::object();
};

/// How workers and servers got on; null where there are none.
Json server_facts(const Options& options, const ServersReport& report) {
  if (options.servers == 0) return {};
  double n_gradients = 0;
  double n_steps_late = 0;
  std::size_t most = 0;
  for (std::size_t i = 0; i < report.staleness.size(); ++i) {
    if (report.staleness[i] == 0) continue;
    n_gradients += static_cast<double>(report.staleness[i]);
    n_steps_late += static_cast<double>(report.staleness[i] * i);
    most = i;
  }
  return {{"workers", report.steps_per_second.size()},
          {"servers", options.servers},
          {"staleness", options.staleness},
          {"is_reproducible", options.staleness == 0},
          {"gradients_by_staleness", std::vector(report.staleness.begin(), report.staleness.begin() + most + 1)},
          {"mean_staleness", n_steps_late / std::max(n_gradients, 1.0)},
          {"most_staleness", most},
          {"steps_per_second", report.steps_per_second},
          {"wait_shares", report.wait_shares}};
}

class NetworkTrainer final : public algorithm::Trainer {
 public:
  explicit NetworkTrainer(JobOptions options) : options_(std::move(options)) { validate(network()); }

  std::string objective() const override { return to_string(network().loss); }
  table::LabelRules label_rules() const override { return neural::label_rules(network()); }
  std::string objective_option() const override { return "--loss " + objective(); }
  std::string option_for_numbers() const override { return "--loss squared-error"; }
  double validation_fraction() const override { return network().validation_fraction; }
  bool is_training_row(table::GlobalRow row) const override { return neural::is_training_row(row, network()); }

  void check_base(const algorithm::Model& base, const std::string& name) const override {
    if (network_of(base) == nullptr) throw_input_error("{}: is of {}, not a network", name, base.what());
  }
  std::unique_ptr<const algorithm::Checkpoint> read_checkpoint(const std::string& text,
                                                               const std::string& name) const override {
    return std::make_unique<UnderWay>(checkpoint_from_text(text, name));
  }

  algorithm::Trained train(const table::RowSource& rows, const table::Table* validation,
                           const algorithm::Run& run) const override {
    if ((run.is_training || run.pause_after > 0) && network().servers > 0) {
      throw_input_error("{} are not for parameter servers, to whose workers rows are moved: leave out servers",
                        run.pause_after > 0 ? "searches" : "folds");
    }
    if ((run.is_training || run.pause_after > 0) && options_.max_steps > 0) {
      throw InputError("folds and searches train for all epochs: leave out max-steps");
    }
    algorithm::RecordingProgress recorder(run.progress);
    StepSummaries summaries(run.summaries);
    Curve curve;
    const Hook keep_checkpoints = [&](const AfterStep& after) {
      const bool pauses = run.pause_after > 0 && after.n_steps >= run.pause_after * after.steps_per_epoch;
      const bool is_end = pauses || (options_.max_steps > 0 && after.n_steps >= options_.max_steps);
      run.offer([&] { return neural::to_text(after.make_checkpoint()); },
                is_end || after.has_passed(options_.checkpoint_steps));
    };
    const auto* under_way = dynamic_cast<const UnderWay*>(run.checkpoint);
    TrainReport report;
    Model model = neural::train(rows, validation, network(), run.comm, run.n_threads, recorder, &report,
                                {.base = run.base == nullptr ? nullptr : network_of(*run.base),
                                 .checkpoint = under_way == nullptr ? nullptr : &under_way->checkpoint,
                                 .hooks = {keep_checkpoints, [&](const AfterStep& after) { curve.note(after); },
                                           [&](const AfterStep& after) { summaries.note(after); }},
                                 .max_steps = options_.max_steps,
                                 .pause_after = run.pause_after,
                                 .is_training = run.is_training});
    Json facts = {{"layers", layers_text(model.layout)},
                  {"weights", model.layout.n_weights()},
                  {"optimiser", to_string(network().optimizer)},
                  {"prepare_seconds", report.prepare_seconds},
                  {"train_seconds", report.train_seconds},
                  {"curve", curve.points()},
                  {"parameter_servers", server_facts(model.options, report.servers)},
                  {"communication", algorithm::communication_facts(report.traffic, run.comm)}};
    if (network().loss == Loss::kSquaredError) {
      facts["target_scaling"] = {{"mean", model.target.mean}, {"scale", model.target.scale}};
    }
    facts.update(epoch_facts(options_, recorder.is_stopped(), model, report));
    if (!model.history.train_loss.empty()) facts["loss"] = model.history.train_loss.back();
    if (!model.history.validation_loss.empty()) facts["validation_loss"] = model.history.validation_loss.back();
    for (const auto& [name, value] : recorder.metrics(model.history.train_loss.size() * report.steps_per_epoch)) {
      if (name != "epoch") facts[name] = value;
    }
    return {as_model(std::move(model)), std::move(facts)};
  }

 private:
  const Options& network() const { return options_.network; }
  JobOptions options_;
};

/// Hidden layers may be a text, as on the command line, "64,64", or the width of a single one.
Json with_widths(Json options) {
  if (!options.is_object() || !options.contains("hidden")) return options;
  Json& hidden = options["hidden"];
  if (hidden.is_number()) hidden = Json::array({hidden});
  if (!hidden.is_string()) return options;
  const auto text = hidden.get<std::string>();
  hidden = Json::parse("[" + text + "]", nullptr, false);
  if (hidden.is_discarded()) throw_input_error("hidden is '{}', allowed are widths such as 64,32", text);
  return options;
}

class DenseNetworks final : public algorithm::Algorithm {
 public:
  std::string name() const override { return "network"; }
  algorithm::Abilities abilities() const override {
    return {.validates = true, .writes_summaries = true, .keeps_checkpoints = true, .has_folds = true};
  }
  std::unique_ptr<const algorithm::Trainer> trainer(const Json& given) const override {
    JobOptions options;
    read_json(with_widths(given), "options", options);
    return std::make_unique<NetworkTrainer>(std::move(options));
  }
  Json options_for_classes() const override { return {{"loss", to_string(Loss::kCrossEntropy)}}; }
  Json options_for_numbers() const override { return {{"loss", to_string(Loss::kSquaredError)}}; }
  std::string length_option() const override { return "epochs"; }
  std::string default_space(const Json& options) const override {
    if (options.value("optimiser", "") == to_string(Optimizer::kLbfgs)) {
      return R"(epochs = 200
early_stopping_epochs = 20
hidden = ["10", "30", "100", "30,30", "100,30"]
activation = ["sigmoid", "tanh", "relu"]
l2 = { low = 0.0000001, high = 0.01, log = true }
)";
    }
    return R"("optimiser" = "adamw"
epochs = 40
early_stopping_epochs = 5
hidden = ["32", "64", "128", "64,64", "128,64", "128,128"]
activation = ["relu", "tanh"]
learning_rate = { low = 0.0003, high = 0.03, log = true }
batch_size = [64, 256, 1024]
dropout = { low = 0.0, high = 0.4 }
weight_decay = { low = 0.000001, high = 0.01, log = true }
)";
  }
  Json options_after_folds(Json options, const std::vector<Json>& facts) const override {
    return algorithm::trained_as_long(std::move(options), "early_stopping_epochs", "epochs", facts, "epochs");
  }
  bool is_model(const std::string& text) const override { return is_network_text(text); }
  std::unique_ptr<const algorithm::Model> read_model(const std::string& text, const std::string& name) const override {
    return as_model(from_text(text, name));
  }
};

}  // namespace

const algorithm::Algorithm& dense_networks() {
  static const DenseNetworks kNetworks;
  return kNetworks;
}

std::unique_ptr<const algorithm::Model> as_model(Model model) {
  return std::make_unique<NetworkModel>(std::move(model));
}

const Model* network_of(const algorithm::Model& model) {
  const auto* own = dynamic_cast<const NetworkModel*>(&model);
  return own == nullptr ? nullptr : &own->network();
}

}  // namespace podere::neural
