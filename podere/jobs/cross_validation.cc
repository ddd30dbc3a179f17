#include "podere/jobs/cross_validation.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "podere/base/error.h"
#include "podere/base/json_fields.h"
#include "podere/base/sha256.h"
#include "podere/jobs/checkpoint.h"
#include "podere/jobs/fold_predictions.h"
#include "podere/jobs/measures.h"
#include "podere/table/fingerprint.h"
#include "podere/table/folds.h"
#include "podere/table/keep_rows.h"
#include "podere/table/schema_json.h"
#include "podere/table/value_folds.h"
#include "podere/table/weighted_labels.h"

namespace podere::jobs {
namespace {

/// What of a fold's facts says which it is, and how long training was.
constexpr const char* kNoMeasures[] = {"repeat", "fold", "rows", "trees", "epochs"};

double mean_of(const std::vector<double>& scores) {
  return std::accumulate(scores.begin(), scores.end(), 0.0) / static_cast<double>(scores.size());
}

/// n - 1 in the denominator.
double deviation_of(const std::vector<double>& scores) {
  const double mean = mean_of(scores);
  double squares = 0;
  for (const double score : scores) squares += std::pow(score - mean, 2);
  return std::sqrt(squares / static_cast<double>(scores.size() - 1));
}

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
Json identity(const Folds& folds, const std::string& algorithm, const FoldTable& rows, const Json& options,
              const JobContext& context) {
  const auto fingerprint = [&](const table::Table& table) {
    return table::fingerprint(table, context.comm, context.n_threads);
  };
  Json run = {{"rows", rows.table.n_global_rows()},
              {"values", fingerprint(rows.table)},
              {"columns", table::to_json(rows.table.schema())},
              {"algorithm", algorithm},
              {"options", options},
              {"folds", json_of_fields(folds)}};
  if (rows.column != nullptr) run["fold_values"] = fingerprint(*rows.column);
  return run;
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

/// A fold's rows: all of the table or some.
struct DealtFold {
  std::size_t place = 0;  ///< among the folds of all repeats
  std::size_t repeat = 0;
  std::size_t fold = 0;
  const table::Table* table = nullptr;    ///< of the dealer, until the next is dealt
  std::vector<std::uint8_t> is_training;  ///< [table->n_rows()]
};

/// Deals the rows to one fold after the other. Collective.
class FoldDealer {
 public:
  FoldDealer(const Folds& folds, const FoldTable& rows, table::LabelKind kind, const JobContext& context)
      : folds_(folds), rows_(rows), kind_(kind), context_(context), values_(deal_rows(0)) {}

  std::size_t n_folds() const { return static_cast<std::size_t>(folds_.n) * static_cast<std::size_t>(folds_.repeats); }
  /// Different ones of the column that folds follow.
  std::uint64_t n_values() const { return values_.n_values; }

  DealtFold deal(std::size_t place) {
    const auto n = static_cast<std::size_t>(folds_.n);
    DealtFold fold{.place = place, .repeat = place / n, .fold = place % n};
    if (std::exchange(dealt_repeat_, fold.repeat) != fold.repeat) values_ = deal_rows(fold.repeat);
    if (!folds_.order.empty()) {
      take_first_runs(fold);
      return fold;
    }
    fold.table = &rows_.table;
    fold.is_training.resize(rows_.table.n_rows());
    std::ranges::transform(values_.of_rows, fold.is_training.begin(),
                           [&](std::uint8_t of) { return of == fold.fold ? 0 : 1; });
    return fold;
  }

  /// Of the rows of the whole table [n_rows].
  std::vector<std::uint8_t> held_out_here(const DealtFold& fold) const {
    const std::size_t held_out = folds_.order.empty() ? fold.fold : fold.fold + 1;
    std::vector<std::uint8_t> marks(values_.of_rows.size());
    std::ranges::transform(values_.of_rows, marks.begin(), [&](std::uint8_t of) { return of == held_out ? 1 : 0; });
    return marks;
  }

  algorithm::Trained train(const algorithm::Trainer& trainer, const DealtFold& fold) {
    FoldProgress progress(context_.progress, fold.place, n_folds());
    return trainer.train(table::HeldRows(*fold.table), nullptr,
                         {.comm = context_.comm,
                          .n_threads = context_.n_threads,
                          .progress = progress,
                          .summaries = no_summaries_,
                          .is_training = fold.is_training,
                          .shared = folds_.order.empty() ? &shared_ : nullptr});
  }

 private:
  table::ValueFolds deal_rows(std::size_t repeat) const {
    return deal_to_folds(rows_, folds_, {.n_folds = folds_.n, .repeat = repeat}, kind_, context_.comm);
  }

  /// Runs 0 .. fold + 1, of which the last is held out.
  void take_first_runs(DealtFold& fold) {
    const std::vector<std::uint8_t>& runs = values_.of_rows;
    std::vector<std::uint8_t> is_taken(runs.size());
    std::ranges::transform(runs, is_taken.begin(), [&](std::uint8_t run) { return run <= fold.fold + 1 ? 1 : 0; });
    table::Table trained({.features = {"is trained on"}}, rows_.table.n_global_rows(), rows_.table.rows());
    std::ranges::transform(runs, trained.feature(0).begin(),
                           [&](std::uint8_t run) { return run <= fold.fold ? 1.0F : 0.0F; });
    taken_.reset();
    taken_.emplace(table::keep_rows(rows_.table, is_taken, context_.comm, context_.n_threads));
    // They lie where the rows do.
    const table::Table marks = table::keep_rows(trained, is_taken, context_.comm, context_.n_threads);
    fold.table = &*taken_;
    fold.is_training.resize(marks.n_rows());
    std::ranges::transform(marks.feature(0), fold.is_training.begin(), [](float mark) { return mark > 0 ? 1 : 0; });
  }

  const Folds& folds_;
  const FoldTable& rows_;
  table::LabelKind kind_;
  const JobContext& context_;
  table::ValueFolds values_;
  std::size_t dealt_repeat_ = 0;  // that values_ are of
  std::optional<table::Table> taken_;
  algorithm::Summaries no_summaries_;
  algorithm::SharedRows shared_;
};

}  // namespace

Json measure_held_out(const algorithm::Model& model, const table::Table& table,
                      const std::vector<std::uint8_t>& is_training, const comm::Communicator& comm, int n_threads) {
  std::vector<std::uint8_t> is_held_out(is_training.size());
  std::ranges::transform(is_training, is_held_out.begin(), [](std::uint8_t trained) { return trained == 0 ? 1 : 0; });
  const table::Table rows = table::keep_rows(table, is_held_out, comm, n_threads);
  std::vector<float> predictions;
  comm.agree([&] { predictions = model.predictions(model.margins(rows, n_threads), n_threads); });
  return measure_rows(model, rows, predictions, comm);
}

Json measure_rows(const algorithm::Model& model, const table::Table& rows, const std::vector<float>& predictions,
                  const comm::Communicator& comm) {
  const Json measured = measure(comm, model, {predictions, rows.label(), rows.weight()}, 0);
  Json facts = {{"rows", rows.n_global_rows()}};
  for (const auto& [name, value] : measured.items()) {
    if (value.is_number()) facts[name] = std::isfinite(value.get<double>()) ? value : Json();
  }
  return facts;
}

double standard_error(const std::vector<double>& scores, int n_folds) {
  return deviation_of(scores) / std::sqrt(static_cast<double>(n_folds));
}

Json CrossValidation::to_json(const Folds& folds) const {
  Json measures = Json::object();
  for (const auto& [name, first] : of_folds.at(0).items()) {
    if (std::ranges::find(kNoMeasures, name) != std::end(kNoMeasures)) continue;
    measures[name] = {{"mean", nullptr}, {"standard_deviation", nullptr}, {"standard_error", nullptr}};
    if (std::ranges::any_of(of_folds, [&measure = name](const Json& fold) { return fold.at(measure).is_null(); }))
      continue;
    std::vector<double> scores;
    for (const Json& fold : of_folds) scores.push_back(fold.at(name).get<double>());
    measures[name] = {{"mean", mean_of(scores)},
                      {"standard_deviation", deviation_of(scores)},
                      {"standard_error", standard_error(scores, folds.n)}};
  }
  Json json = {{"folds", folds.n}, {"repeats", folds.repeats}, {"each", of_folds}, {"measures", std::move(measures)}};
  if (!folds.group.empty()) json.update({{"group", folds.group}, {"groups", n_values}});
  if (!folds.order.empty()) json["order"] = folds.order;
  return json;
}

CrossValidation cross_validate(const Folds& folds, const std::string& algorithm, const algorithm::Trainer& trainer,
                               const FoldTable& rows, const Json& options, const FoldFiles& files,
                               const JobContext& context) {
  const comm::Communicator& comm = context.comm;
  const table::LabelKind kind = trainer.label_rules().kind;
  // Before folds are dealt by labels that are no classes.
  if (kind == table::LabelKind::kTwoClasses)
    table::weigh_labels(rows.table, {}, 0, trainer.label_rules(), "training", comm);
  const Json run = identity(folds, algorithm, rows, options, context);
  CrossValidation found;
  const std::string file = files.predictions.empty() ? files.done : "";
  Checkpoint kept(file, 0, comm, context.progress);
  kept.read([&](const std::string& text) { found.of_folds = folds_from_text(text, file, run); });
  const auto keep = [&](bool is_wanted) { kept.offer([&] { return text_of_folds(run, found.of_folds); }, is_wanted); };

  FoldDealer dealer(folds, rows, kind, context);
  std::optional<FoldPredictions> predictions;
  if (!files.predictions.empty()) predictions.emplace(rows.table, folds.repeats, context);
  while (found.of_folds.size() < dealer.n_folds()) {
    const DealtFold fold = dealer.deal(found.of_folds.size());
    const algorithm::Trained trained = dealer.train(trainer, fold);
    if (comm.all_reduce(trained.facts.value("was_stopped", false) ? 1 : 0, comm::Reduction::kMax) != 0) {
      found.was_stopped = true;
      break;
    }
    Json facts = {{"repeat", fold.repeat + 1}, {"fold", fold.fold + 1}};
    for (const char* length : {"trees", "epochs"}) {
      if (trained.facts.contains(length)) facts[length] = trained.facts.at(length);
    }
    facts.update(measure_held_out(*trained.model, *fold.table, fold.is_training, context.comm, context.n_threads));
    if (predictions) predictions->add(*trained.model, fold.repeat, fold.fold, dealer.held_out_here(fold));
    found.of_folds.push_back(std::move(facts));
    keep(false);
  }
  if (predictions && !found.was_stopped) predictions->write(files.predictions);
  found.n_values = dealer.n_values();
  keep(true);
  return found;
}

}  // namespace podere::jobs
