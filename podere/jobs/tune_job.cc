#include "podere/jobs/tune_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "podere/base/clock.h"
#include "podere/base/error.h"
#include "podere/catalog/catalog.h"
#include "podere/jobs/cross_validation.h"
#include "podere/jobs/folds.h"
#include "podere/jobs/job_context.h"
#include "podere/jobs/report_facts.h"
#include "podere/jobs/table_search.h"
#include "podere/jobs/training_label.h"
#include "podere/table/folds.h"
#include "podere/table/keep_rows.h"
#include "podere/table/weighted_labels.h"

namespace podere::jobs {
namespace {

/// Folds of trials are those of repeats from 0, so nested parts are others.
constexpr std::size_t kRepeatOfNested = kMostRepeats;

/// The score of a trial, of the trials of a search.
Json score_of(const Json& trials, const Json& number) {
  return std::ranges::find_if(trials, [&](const Json& trial) { return trial.at("trial") == number; })->at("score");
}

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
  if (job.ensemble > kMostPicks) throw_input_error("ensemble is {}, allowed is 0 to {}", job.ensemble, kMostPicks);
  if (job.ensemble > 0 && !abilities.blends) throw_input_error("there are no ensembles of {} models", job.algorithm);
  if (job.nested != 0 && (job.nested < 2 || job.nested > table::kMostFolds)) {
    throw_input_error("nested is {}, allowed is 2 to {}", job.nested, table::kMostFolds);
  }
  if (job.nested > 0 && job.validation) {
    throw InputError("nested searches are measured on rows of the table: leave out --validation");
  }
  if (job.one_standard_error && job.ensemble > 0) {
    throw InputError("one-standard-error chooses one trial, ensemble blends several: leave one out");
  }
  if (!job.folds.order.empty()) {
    throw InputError("a search has no folds by order yet: leave out fold-order, or give later rows as --validation");
  }
  if (!job.folds.group.empty() && job.validation) {
    throw InputError("groups are of rows that are held out: leave out --fold-group or --validation");
  }
  if (job.folds.n > 0 && job.validation) throw InputError("folds measure each row once: leave out --validation");
  if (!(job.seconds >= 0)) throw_input_error("time is {} seconds, allowed is a number from 0", job.seconds);
}

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
  if (space.n_dimensions() == 0 && job.trials > 1 && job.search != "grid") {
    throw_input_error(
        "{}: each option has one value, so all trials would be the same: give one several values, or train "
        "without a search",
        name_of_space(job));
  }
}

/// A table to learn.
struct LabeledTable {
  std::optional<JobTable> table;
  std::optional<table::Table> fold_column;  // Folds::column(), which the table does not have
  Json label_options;                       // that its label asks for
  Json label;                               // as describe_label
  source::SourceSpec source;
};

/// `options`: of any trial.
LabeledTable load_table(const TuneJob& job, const Json& options, const algorithm::Algorithm& algorithm,
                        const JobContext& context) {
  const comm::Communicator& comm = context.comm;
  if (!table::uses_labels(algorithm.trainer(options)->label_rules())) {
    throw_input_error("tune compares how well labels are predicted, and {} looks at none", job.algorithm);
  }
  LabeledTable loaded;
  loaded.source = with_fold_column(source::with_format(job.table, comm), job.folds);
  io::ReadFacts read;
  loaded.table.emplace(table_of(loaded.source, true, context, &read));
  loaded.fold_column = take_fold_column(loaded.table, job.folds, context);
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

/// Says how many trials are assumed to be under way where the job does not.
void settle_parallel(TuneJob& job, const table::Table& table) {
  if (job.parallel == 0) job.parallel = is_small(table) ? kParallelTrials : 1;
}

void check_has_folds(const TuneJob& job) {
  if (!job.one_standard_error || job.folds.n > 0) return;
  throw InputError("one-standard-error needs folds, whose scores have such an error, such as 5");
}

/// Of a search on a part of the rows, whose trials are not those of the result.
class NestedProgress final : public PausedAnywhere {
 public:
  using PausedAnywhere::PausedAnywhere;
  void report(const ProgressStep& step) override {
    ProgressStep without_trials = step;
    without_trials.search.clear();
    PausedAnywhere::report(without_trials);
  }
};

/// One search of several that share the time: that without a part of the rows.
TuneJob nested_job(TuneJob job, int part) {
  if (!job.study.empty()) job.study += fmt::format(".nested{}", part + 1);
  job.seconds /= job.nested + 1;
  return job;
}

/// What the whole search reaches on rows that it has not seen: it is repeated for each of several parts of the rows on
/// all others, and what it finds is measured on that part. As CrossValidation::to_json; of each search also its best
/// "search_score". Null: it was stopped. Collective.
Json nested_searches(const SearchTask& task, const FoldTable& all, const JobContext& context) {
  const comm::Communicator& comm = context.comm;
  const auto trainer = task.algorithm.trainer(task.first_options);
  const std::vector<std::uint8_t> part_of_row =
      deal_to_folds(all, task.job.folds, {.n_folds = task.job.nested, .repeat = kRepeatOfNested, .name = "nested"},
                    trainer->label_rules().kind, comm)
          .of_rows;
  NestedProgress progress(context.progress);
  const JobContext of_nested{comm, context.n_threads, progress, context.tables, context.files};
  CrossValidation found;
  for (int part = 0; part < task.job.nested; ++part) {
    std::vector<std::uint8_t> is_training(part_of_row.size());
    std::vector<std::uint8_t> is_held_out(part_of_row.size());
    for (std::size_t row = 0; row < part_of_row.size(); ++row) {
      is_held_out[row] = part_of_row[row] == part ? 1 : 0;
      is_training[row] = is_held_out[row] == 0 ? 1 : 0;
    }
    const auto rows_of = [&](const table::Table& table) {
      return table::keep_rows(table, is_training, comm, context.n_threads);
    };
    const table::Table rows = rows_of(all.table);
    std::optional<table::Table> column;
    if (all.column != nullptr) column.emplace(rows_of(*all.column));
    const TuneJob job = nested_job(task.job, part);
    const SearchFound of_part = search_on({job, task.algorithm, task.space, task.options, task.first_options},
                                          {rows, column ? &*column : nullptr}, nullptr, of_nested);
    if (!of_part.model) return nullptr;
    Json facts = {{"repeat", 1},
                  {"fold", part + 1},
                  {"search_score", of_part.facts.contains("ensemble")
                                       ? of_part.facts.at("ensemble").at("score")
                                       : score_of(of_part.facts.at("trials"), of_part.facts.at("chosen"))}};
    facts.update(measure_held_out(*of_part.model, all.table, is_training, comm, context.n_threads));
    found.of_folds.push_back(std::move(facts));
  }
  return found.to_json({.n = task.job.nested});
}

/// "folds" and "repeats", or "held_out" or "validation"; with a group its name.
Json measured_on(const TuneJob& job) {
  if (job.validation) return {{"validation", name_of(*job.validation)}};
  Json on = job.folds.n > 0 ? Json({{"folds", job.folds.n}, {"repeats", job.folds.repeats}})
                            : Json({{"held_out", job.held_out}});
  if (!job.folds.group.empty()) on["group"] = job.folds.group;
  return on;
}

}  // namespace

std::string name_of_space(const TuneJob& job) { return job.space.empty() ? "the default space" : job.space_name; }

Json run(const TuneJob& given, const JobContext& context) {
  TuneJob job = given;
  const comm::Communicator& comm = context.comm;
  const algorithm::Algorithm& algorithm = catalog::algorithm_called(job.algorithm);
  check_job(job, algorithm);
  const tune::Space space = space_of(job, algorithm);
  check_space(space, job, algorithm);
  const Stopwatch load_watch;
  SearchTask task{job, algorithm, space, job.options, options_at(0, space, job)};
  const LabeledTable loaded = load_table(job, task.first_options, algorithm, context);
  task.options.update(loaded.label_options);
  task.first_options.update(loaded.label_options);
  const table::Table& table = **loaded.table;
  const FoldTable rows{table, loaded.fold_column ? &*loaded.fold_column : nullptr};
  std::optional<JobTable> validation;
  if (job.validation) {
    io::ReadFacts found;
    validation.emplace(validation_table(*job.validation, job.table, table.schema(), true, context, found));
    check_missing_labels(*job.validation, **validation, found.label, comm);
  }
  Json facts = {{"label", loaded.label},
                {"rows", table.n_global_rows()},
                {"features", table.schema().features.size()},
                {"objective", algorithm.trainer(task.first_options)->objective()},
                {"objective_is_guess", !loaded.label_options.empty()},
                {"load_seconds", load_watch.seconds()}};
  settle_parts(job, table.n_global_rows());
  settle_parallel(job, table);
  check_has_folds(job);
  facts["measured_on"] = measured_on(job);
  facts["parallel"] = job.parallel;
  if (job.nested > 0) {
    const Stopwatch watch;
    facts["nested"] = nested_searches(task, rows, context);
    facts["nested_seconds"] = watch.seconds();
    job.seconds /= job.nested + 1;
  }
  std::string model;
  if (job.nested > 0 && facts["nested"].is_null()) {
    facts["was_stopped"] = true;
    facts["trials"] = Json::array();
  } else {
    SearchFound found = search_on(task, rows, validation ? &**validation : nullptr, context);
    facts.update(found.facts);
    if (found.model && comm.is_root()) model = found.model->to_text();
  }
  facts.update(resources(comm, context.n_threads));
  return {{"facts", std::move(facts)}, {"model", std::move(model)}};
}

}  // namespace podere::jobs
