#include "podere/jobs/cross_validation.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "podere/base/error.h"
#include "podere/base/json_fields.h"
#include "podere/base/sha256.h"
#include "podere/jobs/checkpoint.h"
#include "podere/jobs/measures.h"
#include "podere/table/fingerprint.h"
#include "podere/table/folds.h"
#include "podere/table/keep_rows.h"
#include "podere/table/schema_json.h"
#include "podere/table/weighted_labels.h"

namespace podere::jobs {
namespace {

/// What of a fold's facts says which it is, and how long training was.
constexpr const char* kNoMeasures[] = {"repeat", "fold", "rows", "trees", "epochs"};

/// Reports of one training as a part of those of all folds. Warnings come again when all rows are trained on.
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
  /// A pause waits for what was asked to be kept: folds that are done always are.
  bool stop_requested() override {
    next_.checkpoint_requested();
    return next_.stop_requested();
  }

 private:
  Progress& next_;
  std::size_t fold_;
  std::size_t n_folds_;
};

/// By what two runs differ: the folds of one must not be taken for those of the other. Collective.
Json identity(const Folds& folds, const std::string& algorithm, const table::Table& table, const Json& options,
              const JobContext& context) {
  return {{"rows", table.n_global_rows()},
          {"values", table::fingerprint(table, context.comm, context.n_threads)},
          {"columns", table::to_json(table.schema())},
          {"algorithm", algorithm},
          {"options", options},
          {"folds", json_of_fields(folds)}};
}

/// The content of a file of folds that are done.
std::string text_of_folds(const Json& run, const std::vector<Json>& of_folds) {
  const Json folds = of_folds;
  return Json{{"run", run}, {"folds", folds}, {"sha256", sha256_of(folds.dump())}}.dump();
}

/// Inverse of text_of_folds. Throws InputError, beginning with `name`, for what is none, or of another run.
std::vector<Json> folds_from_text(const std::string& text, const std::string& name, const Json& run) {
  const Json file = Json::parse(text, nullptr, false);
  if (!file.is_object() || !file.contains("run") || !file.contains("folds") ||
      file.value("sha256", Json()) != sha256_of(file["folds"].dump())) {
    throw_input_error("{}: is no file of folds, or damaged", name);
  }
  if (file["run"] != run) throw_input_error("{}: is of a run with other rows, options or folds", name);
  return file["folds"].get<std::vector<Json>>();
}

}  // namespace

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
    if (value.is_number()) facts[name] = std::isfinite(value.get<double>()) ? value : Json();
  }
  return facts;
}

Json CrossValidation::to_json(const Folds& folds) const {
  Json measures = Json::object();
  for (const auto& [name, first] : of_folds.at(0).items()) {
    if (std::ranges::find(kNoMeasures, name) != std::end(kNoMeasures)) continue;
    measures[name] = {{"mean", nullptr}, {"standard_deviation", nullptr}, {"standard_error", nullptr}};
    if (std::ranges::any_of(of_folds, [&measure = name](const Json& fold) { return fold.at(measure).is_null(); }))
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

CrossValidation cross_validate(const Folds& folds, const std::string& algorithm, const algorithm::Trainer& trainer,
                               const table::Table& table, const Json& options, const std::string& file,
                               const JobContext& context) {
  const comm::Communicator& comm = context.comm;
  const table::LabelKind kind = trainer.label_rules().kind;
  const bool by_class = kind == table::LabelKind::kTwoClasses || kind == table::LabelKind::kClasses;
  // Before folds are dealt by labels that are no classes.
  if (kind == table::LabelKind::kTwoClasses) table::weigh_labels(table, {}, 0, trainer.label_rules(), "training", comm);
  const Json run = identity(folds, algorithm, table, options, context);
  CrossValidation found;
  Checkpoint kept(file, 0, comm, context.progress);
  kept.read([&](const std::string& text) { found.of_folds = folds_from_text(text, file, run); });
  const auto keep = [&](bool is_wanted) { kept.offer([&] { return text_of_folds(run, found.of_folds); }, is_wanted); };

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
      break;
    }
    Json facts = {{"repeat", repeat + 1}, {"fold", fold + 1}};
    for (const char* length : {"trees", "epochs"}) {
      if (trained.facts.contains(length)) facts[length] = trained.facts.at(length);
    }
    facts.update(measure_held_out(*trained.model, table, is_training, context));
    found.of_folds.push_back(std::move(facts));
    keep(false);
  }
  keep(true);
  return found;
}

}  // namespace podere::jobs
