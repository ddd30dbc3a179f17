#include "podere/jobs/tune_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <utility>
#include <vector>

#include "podere/base/clock.h"
#include "podere/base/error.h"
#include "podere/catalog/catalog.h"
#include "podere/jobs/job_context.h"
#include "podere/jobs/study_run.h"
#include "podere/jobs/training_label.h"
#include "podere/jobs/trials.h"
#include "podere/table/fingerprint.h"
#include "podere/table/folds.h"
#include "podere/table/gather_rows.h"
#include "podere/table/schema_json.h"
#include "podere/table/weighted_labels.h"

namespace podere::jobs {
namespace {

void check_job(const TuneJob& job, const algorithm::Algorithm& algorithm) {
  const algorithm::Abilities abilities = algorithm.abilities();
  if (algorithm.length_option().empty() || !abilities.has_folds || !abilities.keeps_checkpoints) {
    throw_input_error("there is no search for {}", job.algorithm);
  }
  if (job.held_out != 0 && (job.held_out < 2 || job.held_out > kMostHeldOut)) {
    throw_input_error("held-out is {}, allowed is 2 to {}", job.held_out, kMostHeldOut);
  }
  if (job.folds.n != 0 && (job.folds.n < 2 || job.folds.n > table::kMostFolds)) {
    throw_input_error("folds is {}, allowed is 2 to {}", job.folds.n, table::kMostFolds);
  }
  if (job.folds.repeats < 1 || job.folds.repeats > kMostRepeats) {
    throw_input_error("fold-repeats is {}, allowed is 1 to {}", job.folds.repeats, kMostRepeats);
  }
  if (!job.folds.column().empty()) throw InputError("a search has no folds by group or order yet");
  if (job.folds.n > 0 && job.validation) throw InputError("folds measure each row once: leave out --validation");
  if (!(job.seconds >= 0)) throw_input_error("time is {} seconds, allowed is a number from 0", job.seconds);
}

std::string name_of_space(const TuneJob& job) { return job.space.empty() ? "the default space" : job.space_name; }

/// That of the job, or of the algorithm. What the job has as an option is fixed in it, and what then is never there is
/// left out.
tune::Space space_of(const TuneJob& job, const algorithm::Algorithm& algorithm) {
  const bool is_own = job.space.empty();
  const tune::Space space =
      tune::Space::from_toml(is_own ? algorithm.default_space(job.options) : job.space, name_of_space(job));
  std::vector<tune::Parameter> parameters;
  for (tune::Parameter parameter : space.parameters()) {
    if (job.options.contains(parameter.parent)) {
      if (std::ranges::count(parameter.parent_values, job.options[parameter.parent]) == 0) continue;
      parameter.parent.clear();
      parameter.parent_values.clear();
    } else if (!parameter.parent.empty() &&
               std::ranges::find(parameters, parameter.parent, &tune::Parameter::name) == parameters.end()) {
      continue;
    }
    if (job.options.contains(parameter.name)) {
      parameter = {.name = parameter.name,
                   .choices = {job.options[parameter.name]},
                   .parent = parameter.parent,
                   .parent_values = parameter.parent_values};
    }
    parameters.push_back(std::move(parameter));
  }
  return tune::Space(std::move(parameters));
}

/// The options of a point of the space.
Json options_at(double coordinate, const tune::Space& space, const TuneJob& job) {
  Json options = job.options;
  options.update(space.setting_at(std::vector<double>(space.n_dimensions(), coordinate)));
  return options;
}

/// Throws InputError for a space with an option that the algorithm does not have, or with values out of its range.
void check_space(const tune::Space& space, const TuneJob& job, const algorithm::Algorithm& algorithm) {
  std::string objective;
  for (const double coordinate : {0.0, 1 - 1e-9}) {
    const Json options = options_at(coordinate, space, job);
    try {
      if (options.contains("validation_fraction")) {
        throw InputError("validation_fraction is no option of a search, which holds rows out itself");
      }
      const std::string found = algorithm.trainer(options)->objective();
      if (!objective.empty() && found != objective && job.score.empty()) {
        throw_input_error("trials that minimize {} and others {} cannot be compared: choose one, or give --score",
                          objective, found);
      }
      objective = found;
    } catch (const InputError& error) {
      throw_input_error("{}: {}", name_of_space(job), error.what());
    }
  }
}

/// A table to learn.
struct LabeledTable {
  std::optional<JobTable> table;
  Json label_options;  // that its label asks for
  Json label;          // as describe_label
  source::SourceSpec source;
};

/// `options`: of any trial.
LabeledTable load_table(const TuneJob& job, const Json& options, const algorithm::Algorithm& algorithm,
                        const JobContext& context) {
  const comm::Communicator& comm = context.comm;
  LabeledTable loaded;
  loaded.source = source::with_format(job.table, comm);
  io::ReadFacts read;
  loaded.table.emplace(table_of(loaded.source, true, context, &read));
  const table::Table& table = **loaded.table;
  check_missing_labels(loaded.source, table, read.label, comm);
  const Json asked = options_for(algorithm, options, table, read.label, comm);
  loaded.label_options = Json::object();
  for (const auto& [name, value] : asked.items()) {
    if (!options.contains(name)) loaded.label_options[name] = value;
  }
  const auto trainer = algorithm.trainer(asked);
  const LabelWanted wanted{trainer->label_rules(), trainer->objective_option(), trainer->option_for_numbers()};
  const auto classes = numbers_as_classes(loaded.source, table, wanted.rules, comm);
  if (!classes.empty()) comm.agree([&] { loaded.table->number_labels(classes, context.n_threads); });
  check_classes(loaded.source, table.schema(), wanted);
  check_label_guess(loaded.source, table, read.label, wanted, comm);
  loaded.label = describe_label(loaded.source, table, read.label, wanted.rules.kind, comm);
  return loaded;
}

/// Says what trials are measured on where the job does not.
void settle_parts(TuneJob& job, std::uint64_t n_rows) {
  if (job.validation || job.folds.n > 0 || job.held_out > 0) return;
  (n_rows < kFoldedRows ? job.folds.n : job.held_out) = 5;
}

/// The parts that trials are trained and measured on. Collective.
std::vector<std::vector<std::uint8_t>> parts_of(const TuneJob& job, const algorithm::Trainer& trainer,
                                                const table::Table& table, const comm::Communicator& comm) {
  const table::LabelKind kind = trainer.label_rules().kind;
  const bool by_class = kind == table::LabelKind::kTwoClasses || kind == table::LabelKind::kClasses;
  if (kind == table::LabelKind::kTwoClasses) table::weigh_labels(table, {}, 0, trainer.label_rules(), "training", comm);
  const int n_folds = job.folds.n > 0 ? job.folds.n : job.held_out;
  std::vector<std::vector<std::uint8_t>> parts;
  for (int repeat = 0; repeat < job.folds.repeats; ++repeat) {
    const auto fold_of_row = table::fold_of_rows(
        table,
        {.n_folds = n_folds, .repeat = static_cast<std::size_t>(repeat), .seed = job.folds.seed, .by_class = by_class},
        comm);
    for (int fold = 0; fold < (job.folds.n > 0 ? n_folds : 1); ++fold) {
      std::vector<std::uint8_t>& is_training = parts.emplace_back(table.n_rows());
      std::ranges::transform(fold_of_row, is_training.begin(), [&](std::uint8_t of) { return of == fold ? 0 : 1; });
    }
    if (job.folds.n == 0) break;
  }
  return parts;
}

tune::StudyOptions study_options(const TuneJob& job, const algorithm::Algorithm& algorithm, const tune::Space& space,
                                 const Json& options) {
  const std::string& length = algorithm.length_option();
  const auto parameter = std::ranges::find(space.parameters(), length, &tune::Parameter::name);
  if (parameter != space.parameters().end() &&
      (parameter->kind != tune::Parameter::Kind::kFixed || !parameter->parent_values.empty())) {
    throw_input_error("{}: {} is no choice of a search, all trials are trained up to it: give one number",
                      name_of_space(job), length);
  }
  if (!options.contains(length)) {
    throw_input_error("say for how long trials are trained: {} = ... in the space, or --fix {}=...", length, length);
  }
  if (!options[length].is_number_integer() || options[length].get<std::int64_t>() < 1) {
    throw_input_error("{} is {}, allowed is a whole number from 1", length, options[length].dump());
  }
  const auto most = options[length].get<std::size_t>();
  return {
      .n_trials = job.trials,
      .schedule = job.schedule,
      .eta = job.eta,
      .least_budget = job.least_budget > 0 ? job.least_budget : (most + job.eta * job.eta - 1) / (job.eta * job.eta),
      .most_budget = most,
      .parallel = job.parallel};
}

/// By what a search differs from others: its steps must not be taken for theirs. Collective.
Json identity(const TuneJob& job, const tune::Space& space, const tune::StudyOptions& study, const Json& options,
              const table::Table& table, const table::Table* validation, const JobContext& context) {
  const auto values = [&](const table::Table& of) { return table::fingerprint(of, context.comm, context.n_threads); };
  return {{"rows", table.n_global_rows()},
          {"values", values(table)},
          {"validation values", validation == nullptr ? Json() : Json(values(*validation))},
          {"columns", table::to_json(table.schema())},
          {"algorithm", job.algorithm},
          {"options", options},
          {"space", space.to_json()},
          {"search", job.search},
          {"seed", job.seed},
          {"schedule", to_string(job.schedule)},
          {"eta", study.eta},
          {"least budget", study.least_budget},
          {"parallel trials", study.parallel},
          {"folds", json_of_fields(job.folds)},
          {"held out", job.held_out},
          {"score", job.score}};
}

/// How many trials are under way at the same time; 1: all executors train each together. Collective.
std::size_t n_trials_at_a_time(const TuneJob& job, const TrialRows& rows, const tune::StudyOptions& options,
                               const JobContext& context) {
  const auto n_all = context.comm.all_reduce(static_cast<std::uint64_t>(context.n_threads), comm::Reduction::kSum);
  const bool is_few = rows.table->n_global_rows() < kRowsSideBySide &&
                      rows.table->n_global_rows() * rows.table->n_columns() < kValuesSideBySide;
  if (job.side_by_side == SideBySide::kNo || (job.side_by_side == SideBySide::kAuto && !is_few)) return 1;
  return std::min({static_cast<std::size_t>(n_all), options.parallel, options.n_trials});
}

/// The rows of trials, all of them on each executor.
class RowsOnAll {
 public:
  RowsOnAll() = default;
  /// Copies the rows if they lie on several executors. Collective.
  RowsOnAll(const TrialRows& of_all, const comm::Communicator& comm) : rows_(of_all) {
    if (comm.size() == 1) return;
    table_ = std::make_unique<table::Table>(table::gather_rows(*of_all.table, comm));
    rows_.table = table_.get();
    if (of_all.validation != nullptr) {
      validation_ = std::make_unique<table::Table>(table::gather_rows(*of_all.validation, comm));
      rows_.validation = validation_.get();
    }
    for (auto& part : rows_.is_training) part = comm.all_gather_v<std::uint8_t>(part);
  }
  const TrialRows& rows() const { return rows_; }

 private:
  std::unique_ptr<const table::Table> table_;
  std::unique_ptr<const table::Table> validation_;
  TrialRows rows_;
};

/// The options of a training on all rows as good as the best trial: as long as that was, on the mean of its parts.
Json final_options(const algorithm::Algorithm& algorithm, const Trials& trials, const tune::Trial& best) {
  const auto& [step, result] = best.best();
  const Json options = trials.options_of(best.setting);
  Json lasting = algorithm.options_after_folds(options, {result.facts});
  if (lasting == options) lasting[algorithm.length_option()] = step.budget;
  return lasting;
}

/// "folds" and "repeats", or "held_out" or "validation".
Json measured_on(const TuneJob& job) {
  if (job.validation) return {{"validation", name_of(*job.validation)}};
  if (job.folds.n > 0) return {{"folds", job.folds.n}, {"repeats", job.folds.repeats}};
  return {{"held_out", job.held_out}};
}

/// Throws InputError that names the cause, where each trial failed.
void check_some_succeeded(const tune::Study& study) {
  if (study.best()) return;
  if (study.trials().empty() || study.trials()[0].done.empty()) {
    throw InputError("no trial was measured within the time: give more time");
  }
  const Json& facts = study.trials()[0].done.back().second.facts;
  throw_input_error("all {} trials failed, the first one by: {}", study.trials().size(),
                    facts.value("error", std::string("an unknown cause")));
}

}  // namespace

Json run(const TuneJob& given, const JobContext& context) {
  TuneJob job = given;
  const comm::Communicator& comm = context.comm;
  const algorithm::Algorithm& algorithm = catalog::algorithm_called(job.algorithm);
  check_job(job, algorithm);
  const tune::Space space = space_of(job, algorithm);
  check_space(space, job, algorithm);
  const Stopwatch load_watch;
  Json first_options = options_at(0, space, job);
  const LabeledTable loaded = load_table(job, first_options, algorithm, context);
  Json options = job.options;
  options.update(loaded.label_options);
  first_options.update(loaded.label_options);
  const table::Table& table = **loaded.table;
  std::optional<JobTable> validation;
  if (job.validation) {
    io::ReadFacts found;
    validation.emplace(validation_table(*job.validation, job.table, table.schema(), context, found));
    check_missing_labels(*job.validation, **validation, found.label, comm);
  }
  const double load_seconds = load_watch.seconds();

  settle_parts(job, table.n_global_rows());
  TrialRows rows{&table, validation ? &**validation : nullptr};
  if (!validation) rows.is_training = parts_of(job, *algorithm.trainer(first_options), table, comm);
  const tune::StudyOptions study_of = study_options(job, algorithm, space, first_options);
  const StudyFacts facts_of_study{job.algorithm,
                                  job.search,
                                  job.seed,
                                  job.score,
                                  identity(job, space, study_of, options, table, rows.validation, context),
                                  job.study,
                                  job.seconds};
  const Stopwatch search_watch;
  StudyRun search(facts_of_study, space, study_of, context);
  const std::size_t n_side_by_side = n_trials_at_a_time(job, rows, study_of, context);
  const RowsOnAll rows_on_all = n_side_by_side > 1 ? RowsOnAll(rows, comm) : RowsOnAll();
  const Trials trials(algorithm, options, job.score, n_side_by_side > 1 ? rows_on_all.rows() : rows);
  const bool is_whole = n_side_by_side > 1 ? search.run_side_by_side(trials) : search.run_in_turn(trials);
  const tune::Study& study = search.study();
  const bool is_maximized_score = is_maximized(job.score);
  Json facts = {{"label", loaded.label},
                {"rows", table.n_global_rows()},
                {"features", table.schema().features.size()},
                {"objective", algorithm.trainer(first_options)->objective()},
                {"objective_is_guess", !loaded.label_options.empty()},
                {"load_seconds", load_seconds},
                {"search_seconds", search_watch.seconds()},
                {"measured_on", measured_on(job)},
                {"rungs", study.rungs()},
                {"trials", tune::trials_json(study, is_maximized_score)},
                {"steps", search.n_steps()},
                {"trials_at_a_time", n_side_by_side},
                {"was_stopped", !is_whole},
                {"out_of_time", is_whole && !study.to_do().empty()}};
  if (is_whole) check_some_succeeded(study);
  if (study.best()) {
    const tune::Trial& best = study.trials()[*study.best()];
    facts["best"] = *study.best();
    facts["score"] = job.score.empty() ? default_score(best.best().second.facts) : job.score;
    facts["options"] = final_options(algorithm, trials, best);
  }
  std::string model;
  if (is_whole) {
    const Stopwatch train_watch;
    algorithm::Summaries no_summaries;
    PausedAnywhere progress(context.progress);
    const algorithm::Trained trained =
        algorithm.trainer(facts["options"])
            ->train(table::HeldRows(table), nullptr,
                    {.comm = comm, .n_threads = context.n_threads, .progress = progress, .summaries = no_summaries});
    facts["train_seconds"] = train_watch.seconds();
    facts["was_stopped"] = trained.facts.value("was_stopped", false);
    if (comm.is_root()) model = trained.model->to_text();
  }
  facts.update(resources(comm, context.n_threads));
  return {{"facts", std::move(facts)}, {"model", std::move(model)}};
}

}  // namespace podere::jobs
