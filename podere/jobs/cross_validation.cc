#include "podere/jobs/cross_validation.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "podere/base/error.h"
#include "podere/base/json_fields.h"
#include "podere/jobs/checkpoint.h"
#include "podere/jobs/measures.h"
#include "podere/table/folds.h"
#include "podere/table/keep_rows.h"
#include "podere/table/same_run.h"

namespace podere::jobs {
namespace {

/// What of a fold's facts says which it is, and how long training was.
constexpr const char* kNoMeasures[] = {"repeat", "fold", "rows", "trees", "epochs"};

/// Reports of one training as a part of those of all folds.
class FoldProgress final : public Progress {
 public:
  FoldProgress(Progress& next, std::size_t fold, std::size_t n_folds) : next_(next), fold_(fold), n_folds_(n_folds) {}

  void report(const ProgressStep& step) override {
    if (step.phase != "train") return;
    ProgressStep shown = {.phase = "folds",
                          .done = fold_ * step.total + step.done,
                          .total = n_folds_ * step.total,
                          .metrics = {{"fold", static_cast<double>(fold_ + 1)}},
                          .unit = step.unit.empty() ? "tree" : step.unit};
    shown.metrics.insert(shown.metrics.end(), step.metrics.begin(), step.metrics.end());
    next_.report(shown);
  }
  void warn(const std::string& message) override {
    if (fold_ == 0) next_.warn(message);
  }
  bool stop_requested() override { return next_.stop_requested(); }

 private:
  Progress& next_;
  std::size_t fold_;
  std::size_t n_folds_;
};

/// The model's predictions of the rows that `is_training` does not have. Collective.
Json measure_held_out(const algorithm::Model& model, const table::Table& table,
                      const std::vector<std::uint8_t>& is_training, const JobContext& context) {
  std::vector<std::uint8_t> is_held_out(is_training.size());
  std::ranges::transform(is_training, is_held_out.begin(), [](std::uint8_t trained) { return trained == 0 ? 1 : 0; });
  const table::Table rows = table::keep_rows(table, is_held_out, context.comm, context.n_threads);
  std::vector<float> predictions;
  context.comm.agree(
      [&] { predictions = model.predictions(model.margins(rows, context.n_threads), context.n_threads); });
  Json measured = measure(context.comm, model, {predictions, rows.label(), rows.weight()}, 0);
  Json facts = {{"rows", rows.n_global_rows()}};
  for (const auto& [name, value] : measured.items()) {
    if (value.is_number() && std::isfinite(value.get<double>())) facts[name] = value;
  }
  return facts;
}

/// By what two runs differ: the folds of one must not be taken for those of the other.
Json identity(const Folds& folds, const table::Table& table, const Json& options, const comm::Communicator& comm) {
  const table::DataFingerprint rows = table::fingerprint_rows(table, comm);
  return {{"rows", rows.n_rows},
          {"hash", rows.hash},
          {"features", table.schema().features},
          {"options", options},
          {"folds", json_of_fields(folds)}};
}

}  // namespace

Json CrossValidation::to_json(const Folds& folds) const {
  Json measures = Json::object();
  for (const auto& [name, first] : of_folds.at(0).items()) {
    if (std::ranges::find(kNoMeasures, name) != std::end(kNoMeasures)) continue;
    if (!std::ranges::all_of(of_folds, [&measure = name](const Json& fold) { return fold.contains(measure); }))
      continue;
    const auto n = static_cast<double>(of_folds.size());
    double sum = 0;
    for (const Json& fold : of_folds) sum += fold.at(name).get<double>();
    double squares = 0;
    for (const Json& fold : of_folds) squares += std::pow(fold.at(name).get<double>() - sum / n, 2);
    const double deviation = std::sqrt(squares / (n - 1));
    measures[name] = {{"mean", sum / n},
                      {"standard_deviation", deviation},
                      {"standard_error", deviation / std::sqrt(static_cast<double>(folds.n))}};
  }
  return {{"folds", folds.n}, {"repeats", folds.repeats}, {"each", of_folds}, {"measures", std::move(measures)}};
}

CrossValidation cross_validate(const Folds& folds, const algorithm::Trainer& trainer, const table::Table& table,
                               const Json& options, const std::string& checkpoint, const JobContext& context) {
  const comm::Communicator& comm = context.comm;
  const table::LabelKind kind = trainer.label_rules().kind;
  const bool by_class = kind == table::LabelKind::kTwoClasses || kind == table::LabelKind::kClasses;
  const Json run = identity(folds, table, options, comm);
  CrossValidation found;
  Checkpoint kept(checkpoint, 0, comm, context.progress);
  kept.read([&](const std::string& text) {
    const Json before = Json::parse(text, nullptr, false);
    if (!before.is_object() || !before.contains("run") || !before.contains("folds") || !before["folds"].is_array()) {
      throw_input_error("{}: is not of folds", checkpoint);
    }
    if (before["run"] != run) throw_input_error("{}: is of a run with other rows, options or folds", checkpoint);
    found.of_folds = before["folds"].get<std::vector<Json>>();
  });

  algorithm::Summaries no_summaries;
  std::unique_ptr<algorithm::SharedRows> shared;
  const std::size_t n_folds = static_cast<std::size_t>(folds.n) * static_cast<std::size_t>(folds.repeats);
  std::vector<std::uint8_t> fold_of_row;
  std::size_t dealt = n_folds;  // the repeat that fold_of_row is of
  while (found.of_folds.size() < n_folds) {
    const std::size_t place = found.of_folds.size();
    const std::size_t repeat = place / static_cast<std::size_t>(folds.n);
    const std::size_t fold = place % static_cast<std::size_t>(folds.n);
    if (std::exchange(dealt, repeat) != repeat) {
      fold_of_row = table::fold_of_rows(
          table, {.n_folds = folds.n, .repeat = repeat, .seed = folds.seed, .by_class = by_class}, comm);
    }
    std::vector<std::uint8_t> is_training(table.n_rows());
    std::ranges::transform(fold_of_row, is_training.begin(), [&](std::uint8_t of) { return of == fold ? 0 : 1; });
    FoldProgress progress(context.progress, place, n_folds);
    const algorithm::Trained trained = trainer.train(table::HeldRows(table), nullptr,
                                                     {.comm = comm,
                                                      .n_threads = context.n_threads,
                                                      .progress = progress,
                                                      .summaries = no_summaries,
                                                      .is_training = is_training,
                                                      .shared = &shared});
    if (comm.all_reduce(trained.facts.value("was_stopped", false) ? 1 : 0, comm::Reduction::kMax) != 0) {
      found.was_stopped = true;
      return found;
    }
    Json facts = {{"repeat", repeat + 1}, {"fold", fold + 1}};
    for (const char* length : {"trees", "epochs"}) {
      if (trained.facts.contains(length)) facts[length] = trained.facts.at(length);
    }
    facts.update(measure_held_out(*trained.model, table, is_training, context));
    found.of_folds.push_back(std::move(facts));
    kept.offer([&] { return Json{{"run", run}, {"folds", found.of_folds}}.dump(); }, true);
  }
  return found;
}

}  // namespace podere::jobs
