#include "podere/jobs/train_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "podere/algorithm/algorithm.h"
#include "podere/base/clock.h"
#include "podere/base/error.h"
#include "podere/base/json_fields.h"
#include "podere/base/printable.h"
#include "podere/catalog/catalog.h"
#include "podere/jobs/checkpoint.h"
#include "podere/jobs/cross_validation.h"
#include "podere/jobs/folds.h"
#include "podere/jobs/job_context.h"
#include "podere/jobs/measures.h"
#include "podere/jobs/report_facts.h"
#include "podere/jobs/tensorboard_summaries.h"
#include "podere/jobs/training_label.h"
#include "podere/table/folds.h"

namespace podere::jobs {
namespace {

/// Throws InputError for folds that are out of range, or with which something else does not go.
void check_folds(const TrainJob& job, const algorithm::Abilities& abilities) {
  if (!abilities.has_folds) throw_input_error("folds are not for {}", job.algorithm);
  if (job.folds.n < 2 || job.folds.n > table::kMostFolds) {
    throw_input_error("folds is {}, allowed is 2 to {}", job.folds.n, table::kMostFolds);
  }
  if (job.folds.repeats < 1 || job.folds.repeats > kMostRepeats) {
    throw_input_error("fold-repeats is {}, allowed is 1 to {}", job.folds.repeats, kMostRepeats);
  }
  if (!job.folds.group.empty() && !job.folds.order.empty()) {
    throw InputError("folds follow groups or an order: leave out --fold-group or --fold-order");
  }
  if (!job.folds.order.empty() && (job.folds.repeats > 1 || job.folds.seed > 0)) {
    throw InputError("folds that follow an order are always the same: leave out --fold-repeats and --fold-seed");
  }
  if (job.low_memory) throw InputError("folds need all rows in memory: leave out --low-memory");
  if (!job.from.empty()) throw InputError("folds are for models that begin anew: leave out --from");
  if (job.validation || job.options.value("validation_fraction", 0.0) > 0) {
    throw InputError("folds validate on each row once: leave out --validation and --validation-fraction");
  }
}

/// Throws InputError for what a job asks of its algorithm in vain.
void check_abilities(const TrainJob& job, const algorithm::Abilities& abilities) {
  if (job.low_memory && !abilities.streams) {
    throw_input_error("low-memory is not for {}, which needs all rows in memory", job.algorithm);
  }
  if (job.low_memory && job.report) {
    throw_input_error("a report is made of rows in memory: leave out --low-memory, or the report");
  }
  if (!json_of_fields(job.folds).empty() || !job.fold_predictions.empty()) check_folds(job, abilities);
  if (!job.tensorboard.empty() && !abilities.writes_summaries) {
    throw_input_error("tensorboard is not for {}, which has no curves to show", job.algorithm);
  }
}

std::unique_ptr<const algorithm::Model> load_base(const TrainJob& job, const algorithm::Trainer& trainer,
                                                  const JobContext& context) {
  if (job.from.empty()) return nullptr;
  context.progress.report({"read", 0, 1, {}});
  auto base = load_shared_model(job.from, context.comm);
  trainer.check_base(*base, job.from);
  return base;
}

/// The rows of a job, in memory or not.
class TrainingRows {
 public:
  /// With labels, if they are used.
  TrainingRows(const TrainJob& job, const algorithm::Model* base, bool uses_labels, const JobContext& context) {
    if (job.low_memory) {
      source_ = job.table;
      rows_ = open_rows(uses_labels, context);
      return;
    }
    source_ = with_fold_column(source::with_format(job.table, context.comm), job.folds);
    memory_.emplace(base != nullptr ? table_for_model(source_, true, base->schema(), context, facts_)
                                    : table_of(source_, uses_labels, context, &facts_));
    if (base != nullptr) check_label_name(source_, **memory_, base->schema());
    fold_column_ = take_fold_column(memory_, job.folds, context);
    // A report is made of the rows after the training.
    rows_ = job.report ? std::make_unique<table::HeldRows>(**memory_) : memory_->rows();
  }

  /// Makes labels places among `classes`.
  void number_labels(const std::vector<float>& classes, const JobContext& context) {
    context.comm.agree([&] {
      if (memory_) {
        memory_->number_labels(classes, context.n_threads);
      } else {
        rows_ = std::make_unique<table::NumberedRows>(std::move(rows_), classes, context.n_threads);
      }
    });
  }

  const source::SourceSpec& source() const { return source_; }
  const io::ReadFacts& facts() const { return facts_; }
  /// Not of rows that are not in memory.
  const table::Table& table() const { return **memory_; }
  FoldTable fold_table() const { return {**memory_, fold_column_ ? &*fold_column_ : nullptr}; }
  const table::RowSource& operator*() const { return *rows_; }
  const table::RowSource* operator->() const { return rows_.get(); }

 private:
  std::unique_ptr<table::RowSource> open_rows(bool uses_labels, const JobContext& context) {
    if (source::kept_name(source_.location)) {
      throw_input_error(
          "{}: --low-memory is for files and events; a session's table is in memory already: leave it out",
          source_.location);
    }
    if (!source_.classes.empty()) throw_input_error("{}: classes are for what is in memory", source_.location);
    context.progress.report({"read", 0, 1, {}});
    auto rows = open(source_, uses_labels, context.comm, context.n_threads, &facts_);
    note_file(source_, facts_, context);
    context.progress.count_rows(rows->labels().n_rows(), 0);
    return rows;
  }

  source::SourceSpec source_;
  io::ReadFacts facts_;
  std::optional<JobTable> memory_;
  std::optional<table::Table> fold_column_;
  std::unique_ptr<table::RowSource> rows_;
};

/// Finds what the labels are, and with `options` how they are learned, unless the training continues one. What results
/// have as "label". Collective. Throws InputError, on all ranks, for labels that cannot be learned.
Json settle_labels(TrainingRows& rows, const algorithm::Algorithm& algorithm, bool is_continued, Json& options,
                   const JobContext& context) {
  const comm::Communicator& comm = context.comm;
  const auto& column = rows.facts().label;
  check_missing_labels(rows.source(), rows->labels(), column, comm);
  if (!is_continued) options = options_for(algorithm, options, rows->labels(), column, comm);
  const auto trainer = algorithm.trainer(options);
  const LabelWanted wanted{trainer->label_rules(), trainer->objective_option(), trainer->option_for_numbers()};
  if (!is_continued) {
    const auto classes = numbers_as_classes(rows.source(), rows->labels(), wanted.rules, comm);
    if (!classes.empty()) rows.number_labels(classes, context);
  }
  check_classes(rows.source(), rows->labels().schema(), wanted);
  const bool learns_numbers_alone =
      wanted.rules.kind == table::LabelKind::kNumbers && !is_continued && algorithm.options_for_numbers().empty();
  if (learns_numbers_alone) check_guessed_numbers(rows.source(), rows->labels(), column, wanted.objective);
  check_label_guess(rows.source(), rows->labels(), column, wanted, comm);
  return describe_label(rows.source(), rows->labels(), column, wanted.rules.kind, comm);
}

std::uint64_t count_training_rows(const table::Table& table, const algorithm::Trainer& trainer,
                                  const comm::Communicator& comm) {
  std::uint64_t n_rows = 0;
  for (std::size_t i = 0; i < table.n_rows(); ++i) n_rows += trainer.is_training_row(table.global({i})) ? 1 : 0;
  return comm.all_reduce(n_rows, comm::Reduction::kSum);
}

Json validation_facts(const Json& measures) {
  Json facts = Json::object();
  for (const auto& [name, value] : measures.items()) {
    if (value.is_number() || value.is_null()) facts["validation_" + name] = value;
  }
  return facts;
}

/// Of an algorithm that does not look at validation data itself. What cannot be measured is warned of: the model is
/// there. Collective.
Json validation_measures(const algorithm::Model& model, const table::Table& table, const JobContext& context) {
  const comm::Communicator& comm = context.comm;
  Json facts = Json::object();
  try {
    if (!table::uses_labels(model.label_rules()))
      return validation_facts(model.measures_of_rows(table, comm, context.n_threads));
    table::weigh_labels(table, {}, 0, model.label_rules(), "validation", comm);
    std::vector<float> predictions;
    comm.agree([&] { predictions = model.predictions(model.margins(table, context.n_threads), context.n_threads); });
    facts = validation_facts(measure(comm, model, {predictions, table.label(), table.weight()}, 0));
  } catch (const InputError& error) {  // on all ranks
    if (comm.is_root()) context.progress.warn(fmt::format("the model could not be validated: {}", error.what()));
  }
  return facts;
}

/// Rows of a table that are trained on, or not.
struct RowsOfPart {
  std::vector<float> predictions;
  std::vector<float> labels;
  std::vector<float> weights;
};

RowsOfPart rows_of_part(const table::Table& table, const std::vector<float>& predictions, std::size_t n_outputs,
                        const algorithm::Trainer& trainer, bool is_training) {
  std::vector<std::size_t> rows;
  for (std::size_t i = 0; i < table.n_rows(); ++i) {
    if (trainer.is_training_row(table.global({i})) == is_training) rows.push_back(i);
  }
  const auto taken = [&](std::span<const float> values) {
    std::vector<float> part;
    for (const std::size_t i : rows) part.push_back(values[i]);
    return part;
  };
  RowsOfPart part{{}, taken(table.label()), table.weight().empty() ? std::vector<float>() : taken(table.weight())};
  for (std::size_t k = 0; k < n_outputs; ++k) {
    const auto of_output = taken(std::span(predictions).subspan(k * table.n_rows(), table.n_rows()));
    part.predictions.insert(part.predictions.end(), of_output.begin(), of_output.end());
  }
  return part;
}

/// What a report shows of a training. Collective.
Json training_report(const TrainJob& job, const algorithm::Trainer& trainer, const algorithm::Model& model,
                     const table::Table& table, const table::Table* validation, const JobContext& context) {
  const comm::Communicator& comm = context.comm;
  context.progress.report({"report", 0, 1, {}});
  const auto predicted = [&](const table::Table& rows) {
    std::vector<float> predictions;
    comm.agree([&] { predictions = model.predictions(model.margins(rows, context.n_threads), context.n_threads); });
    return predictions;
  };
  Json measured = Json::array();
  const bool uses_labels = table::uses_labels(model.label_rules());
  // The model is there: what cannot be measured is left out of the report, on all ranks.
  const auto measure_part = [&](const MeasuredRows& rows, const char* which, const source::SourceSpec& source) {
    try {
      measured.push_back(measured_facts(comm, model, rows, which, name_of(source)));
    } catch (const InputError& error) {
      if (comm.is_root()) {
        context.progress.warn(fmt::format("the report has no measures of {} rows: {}", which, error.what()));
      }
    }
  };
  const std::vector<float> predictions = uses_labels ? predicted(table) : std::vector<float>();
  for (const bool is_training : {true, false}) {
    if (!uses_labels) break;
    if (!is_training && trainer.validation_fraction() == 0) continue;
    const RowsOfPart part = rows_of_part(table, predictions, model.n_outputs(), trainer, is_training);
    measure_part({part.predictions, part.labels, part.weights}, is_training ? "training" : "validation", job.table);
  }
  if (validation != nullptr && uses_labels) {
    const std::vector<float> of_validation = predicted(*validation);
    measure_part({of_validation, validation->label(), validation->weight()}, "validation", *job.validation);
  }
  Json facts = model_facts(comm, model);
  Json columns = column_facts(comm, table, model, facts.value("importance", Json::array()), context.n_threads);
  return {{"model", std::move(facts)}, {"measured", std::move(measured)}, {"columns", std::move(columns)}};
}

/// The folds of a training.
struct FoldsDone {
  bool was_stopped = false;
  Json facts;    ///< "cross_validation"; of what was stopped those of the job
  Json options;  ///< for the training on all rows
};

/// Collective.
FoldsDone run_folds(const TrainJob& job, const FoldTable& rows, const algorithm::Trainer& trainer, const Json& options,
                    const JobContext& context) {
  const Stopwatch watch;
  const CrossValidation found = cross_validate(job.folds, job.algorithm, trainer, rows, options,
                                               {folds_file(job.checkpoint), job.fold_predictions}, context);
  if (found.was_stopped) return {true, {{"was_stopped", true}, {"folds_done", found.of_folds.size()}}, {}};
  Json facts = found.to_json(job.folds);
  facts["seconds"] = watch.seconds();
  Json lasting = catalog::algorithm_called(job.algorithm).options_after_folds(options, found.of_folds);
  if (lasting != options) facts["replaces_early_stopping"] = true;
  return {false, std::move(facts), std::move(lasting)};
}

}  // namespace

Json run(const TrainJob& job, const JobContext& context) {
  const comm::Communicator& comm = context.comm;
  const algorithm::Algorithm& algorithm = catalog::algorithm_called(job.algorithm);
  auto trainer = algorithm.trainer(job.options);
  check_abilities(job, algorithm.abilities());
  TensorboardSummaries summaries(job.tensorboard, job.summary_steps, comm, context.progress);
  const Stopwatch load_watch;
  const auto base = load_base(job, *trainer, context);
  const bool uses_labels = table::uses_labels(trainer->label_rules());
  TrainingRows rows(job, base.get(), uses_labels, context);
  Json options = job.options;
  Json label = uses_labels ? settle_labels(rows, algorithm, base != nullptr, options, context)
                           : describe_no_label(rows->schema());
  trainer = algorithm.trainer(options);
  const table::Table& labels = rows->labels();
  io::UnknownTexts unknown = rows.facts().unknown;
  std::optional<JobTable> validation;
  if (job.validation) {
    io::ReadFacts found;
    validation.emplace(validation_table(*job.validation, job.table, rows->schema(), uses_labels, context, found));
    if (uses_labels) check_missing_labels(*job.validation, **validation, found.label, comm);
    for (const auto& [column, n] : found.unknown) unknown[column] += n;
  }
  const double load_seconds = load_watch.seconds();

  FoldsDone folds;
  if (job.folds.n > 0) {
    folds = run_folds(job, rows.fold_table(), *trainer, options, context);
    if (folds.was_stopped) return {{"facts", std::move(folds.facts)}, {"model", ""}};
    trainer = algorithm.trainer(folds.options);
  }
  Checkpoint checkpoint(job.checkpoint, job.checkpoint_seconds, comm, context.progress);
  std::unique_ptr<const algorithm::Checkpoint> so_far;
  checkpoint.read([&](const std::string& text) { so_far = trainer->read_checkpoint(text, job.checkpoint); });
  const std::uint64_t n_rows = labels.n_global_rows();
  const std::uint64_t n_training = count_training_rows(labels, *trainer, comm);
  CurveProgress progress(context.progress);
  const Stopwatch train_watch;
  const algorithm::Trained trained =
      trainer->train(*rows, validation ? &**validation : nullptr,
                     {.comm = comm,
                      .n_threads = context.n_threads,
                      .progress = progress,
                      .base = base.get(),
                      .checkpoint = so_far.get(),
                      .offer = [&](const auto& make_text, bool is_wanted) { checkpoint.offer(make_text, is_wanted); },
                      .summaries = summaries});

  const bool validates = validation || trainer->validation_fraction() > 0;
  const std::uint64_t n_validation = validation ? (*validation)->n_global_rows() : n_rows - n_training;
  Json facts = {{"label", std::move(label)},
                {"rows", n_rows},
                {"training_rows", n_training},
                {"validation_rows", validates ? Json(n_validation) : Json()},
                {"features", rows->schema().features.size()},
                {"objective", trainer->objective()},
                {"objective_is_guess", options != job.options},
                {"load_seconds", load_seconds},
                {"train_seconds", train_watch.seconds()},
                {"was_stopped", false}};
  facts.update(trained.facts);
  if (job.folds.n > 0) facts["cross_validation"] = std::move(folds.facts);
  if (validation && !algorithm.abilities().validates) {
    facts.update(validation_measures(*trained.model, **validation, context));
  }
  if (job.report) {
    facts["report"] =
        training_report(job, *trainer, *trained.model, rows.table(), validation ? &**validation : nullptr, context);
    facts["report"]["curve"] = progress.curve().to_json();
  }
  facts["checkpoint_failed"] = checkpoint.has_failed();
  if (validation || base) facts["unknown_categories"] = unknown;
  facts.update(resources(comm, context.n_threads));
  return {{"facts", std::move(facts)}, {"model", comm.is_root() ? trained.model->to_text() : ""}};
}

}  // namespace podere::jobs
