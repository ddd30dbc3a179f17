#include "podere/jobs/table_search.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "podere/base/clock.h"
#include "podere/base/error.h"
#include "podere/jobs/ensemble.h"
#include "podere/jobs/study_run.h"
#include "podere/jobs/trials.h"
#include "podere/table/fingerprint.h"
#include "podere/table/gather_rows.h"
#include "podere/table/schema_json.h"
#include "podere/table/weighted_labels.h"

namespace podere::jobs {
namespace {

/// The fold to hold out where only one is: the first, or with groups that whose share of the rows is nearest to
/// 1 / n_folds, as the largest group is in the first. Collective.
int fold_to_hold_out(const table::ValueFolds& dealt, int n_folds, bool has_groups, const comm::Communicator& comm) {
  if (!has_groups) return 0;
  std::vector<std::int64_t> n_rows(static_cast<std::size_t>(n_folds) + 1);  // of each fold, and of all
  for (const std::uint8_t fold : dealt.of_rows) ++n_rows[fold];
  n_rows.back() = static_cast<std::int64_t>(dealt.of_rows.size());
  comm.all_reduce(std::span(n_rows), comm::Reduction::kSum);
  const auto beside = [&](std::int64_t n) { return std::abs(n * n_folds - n_rows.back()); };
  return static_cast<int>(std::ranges::min_element(n_rows.begin(), n_rows.end() - 1, {}, beside) - n_rows.begin());
}

/// The parts that trials are trained and measured on, each [n_rows].
struct Parts {
  std::vector<std::vector<std::uint8_t>> is_training;
  std::uint64_t n_groups = 0;
};

/// Collective.
Parts parts_of(const TuneJob& job, const algorithm::Trainer& trainer, const FoldTable& rows,
               const comm::Communicator& comm) {
  const table::LabelKind kind = trainer.label_rules().kind;
  if (kind == table::LabelKind::kTwoClasses) {
    table::weigh_labels(rows.table, {}, 0, trainer.label_rules(), "training", comm);
  }
  Parts parts;
  const auto hold_out = [&](const table::ValueFolds& dealt, int fold) {
    std::vector<std::uint8_t>& is_training = parts.is_training.emplace_back(rows.table.n_rows());
    std::ranges::transform(dealt.of_rows, is_training.begin(), [&](std::uint8_t of) { return of == fold ? 0 : 1; });
    parts.n_groups = dealt.n_values;
  };
  if (job.folds.n == 0) {
    const auto dealt = deal_to_folds(rows, job.folds, {.n_folds = job.held_out, .name = "held-out"}, kind, comm);
    hold_out(dealt, fold_to_hold_out(dealt, job.held_out, !job.folds.group.empty(), comm));
    return parts;
  }
  for (int repeat = 0; repeat < job.folds.repeats; ++repeat) {
    const table::FoldOptions options{.n_folds = job.folds.n, .repeat = static_cast<std::size_t>(repeat)};
    const auto dealt = deal_to_folds(rows, job.folds, options, kind, comm);
    for (int fold = 0; fold < job.folds.n; ++fold) hold_out(dealt, fold);
  }
  return parts;
}

tune::StudyOptions study_options(const SearchTask& task) {
  const TuneJob& job = task.job;
  const Json& options = task.first_options;
  const std::string& length = task.algorithm.length_option();
  const auto parameter = std::ranges::find(task.space.parameters(), length, &tune::Parameter::name);
  if (parameter != task.space.parameters().end() &&
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
Json identity(const SearchTask& task, const tune::StudyOptions& study, const FoldTable& rows,
              const table::Table* validation, const JobContext& context) {
  const TuneJob& job = task.job;
  const auto values = [&](const table::Table& of) { return table::fingerprint(of, context.comm, context.n_threads); };
  return {{"rows", rows.table.n_global_rows()},
          {"values", values(rows.table)},
          {"validation values", validation == nullptr ? Json() : Json(values(*validation))},
          {"group values", rows.column == nullptr ? Json() : Json(values(*rows.column))},
          {"columns", table::to_json(rows.table.schema())},
          {"algorithm", job.algorithm},
          {"options", task.options},
          {"space", task.space.to_json()},
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
  if (job.side_by_side == SideBySide::kNo) return 1;
  if (job.side_by_side == SideBySide::kAuto && !is_small(*rows.table)) return 1;
  return std::min({static_cast<std::size_t>(n_all), options.parallel, options.n_trials});
}

/// As StudyRun::run_side_by_side, for which each executor gets all rows. Collective.
bool run_side_by_side(StudyRun& search, const Trials& trials, TrialRows rows, const comm::Communicator& comm) {
  std::optional<table::Table> table;
  std::optional<table::Table> validation;
  if (comm.size() > 1) {
    rows.table = &table.emplace(table::gather_rows(*rows.table, comm));
    if (rows.validation != nullptr) rows.validation = &validation.emplace(table::gather_rows(*rows.validation, comm));
    for (auto& part : rows.is_training) part = comm.all_gather_v<std::uint8_t>(part);
  }
  return search.run_side_by_side(trials.on(rows));
}

/// The trial that the model is trained as: the best, or the smallest within one standard error of it.
std::size_t chosen_trial(const tune::Study& study, bool by_standard_error) {
  const std::size_t best = *study.best();
  const auto facts_of = [&](std::size_t trial) -> const Json& { return study.trials()[trial].best().second.facts; };
  if (!by_standard_error || !facts_of(best).contains(kStandardError)) return best;
  const double most = study.trials()[best].loss() + facts_of(best).at(kStandardError).get<double>();
  std::size_t chosen = best;
  for (std::size_t trial = 0; trial < study.trials().size(); ++trial) {
    // A journal of an earlier version has no sizes.
    if (!(study.trials()[trial].loss() <= most) || !facts_of(trial).contains(kParameters)) continue;
    const auto size_of = [&](std::size_t one) {
      return std::pair(facts_of(one).at(kParameters).get<double>(), study.trials()[one].loss());
    };
    if (size_of(trial) < size_of(chosen)) chosen = trial;
  }
  return chosen;
}

/// The options of a training on all rows as good as a trial: as long as that was, on the mean of its parts.
Json final_options(const algorithm::Algorithm& algorithm, const Trials& trials, const tune::Trial& trial) {
  const auto& [step, result] = trial.best();
  const Json options = trials.options_of(trial.setting);
  Json lasting = algorithm.options_after_folds(options, {result.facts});
  if (lasting == options) lasting[algorithm.length_option()] = step.budget;
  return lasting;
}

/// What a search ends with.
struct FinalModel {
  std::unique_ptr<const algorithm::Model> model;
  Ensemble ensemble;  // of the chosen trial alone, if no other was asked for
};

/// Trains the chosen trial, or those of an ensemble, on all rows. Nullopt: it was stopped. Collective.
std::optional<FinalModel> train_final(const tune::Study& study, std::size_t chosen, std::size_t n_picks,
                                      const algorithm::Algorithm& algorithm, const Trials& trials,
                                      const StepContext& context) {
  std::optional<Ensemble> ensemble = Ensemble{{{chosen, 1}}, study.trials()[chosen].loss()};
  if (n_picks > 0) ensemble = select_ensemble(study, n_picks, trials, context);
  if (!ensemble) return std::nullopt;
  std::vector<std::unique_ptr<const algorithm::Model>> models;
  std::vector<double> weights;
  for (const auto& [trial, weight] : ensemble->members) {
    auto model = trials.train_on_all(final_options(algorithm, trials, study.trials()[trial]), context);
    if (!model) return std::nullopt;
    models.push_back(std::move(model));
    weights.push_back(weight);
  }
  if (models.size() == 1) return FinalModel{std::move(models.front()), *std::move(ensemble)};
  return FinalModel{algorithm.blend(models, weights), *std::move(ensemble)};
}

/// "score", and of each of "trials" its "trial" and "weight".
Json to_json(const Ensemble& ensemble, bool is_maximized) {
  Json members = Json::array();
  for (const auto& [trial, weight] : ensemble.members) members.push_back({{"trial", trial}, {"weight", weight}});
  return {{"score", is_maximized ? -ensemble.loss : ensemble.loss}, {"trials", std::move(members)}};
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

bool is_small(const table::Table& table) {
  return table.n_global_rows() < kSmallRows && table.n_global_rows() * table.n_columns() < kSmallValues;
}

SearchFound search_on(const SearchTask& task, const FoldTable& given, const table::Table* validation,
                      const JobContext& context) {
  const TuneJob& job = task.job;
  const comm::Communicator& comm = context.comm;
  TrialRows rows{&given.table, validation};
  const auto trainer = task.algorithm.trainer(task.first_options);
  SearchFound found;
  if (validation == nullptr) {
    Parts parts = parts_of(job, *trainer, given, comm);
    rows.is_training = std::move(parts.is_training);
    if (parts.n_groups > 0) found.facts["groups"] = parts.n_groups;
  }
  rows.n_folds = job.folds.n;
  const tune::StudyOptions study_of = study_options(task);
  const StudyFacts facts_of_study{
      job.algorithm, job.search, job.seed, job.score, identity(task, study_of, given, validation, context),
      job.study,     job.seconds};
  const Stopwatch search_watch;
  StudyRun search(facts_of_study, task.space, study_of, context);
  const std::size_t n_at_a_time = n_trials_at_a_time(job, rows, study_of, context);
  const Trials trials(task.algorithm, task.options, job.score, rows);
  const bool is_whole = n_at_a_time > 1 ? run_side_by_side(search, trials, rows, comm) : search.run_in_turn(trials);
  const tune::Study& study = search.study();
  const bool is_maximized_score = is_maximized(job.score);
  found.facts.update(Json{{"search_seconds", search_watch.seconds()},
                          {"rungs", study.rungs()},
                          {"trials", tune::trials_json(study, is_maximized_score)},
                          {"steps", search.n_steps()},
                          {"trials_at_a_time", n_at_a_time},
                          {"was_stopped", !is_whole},
                          {"out_of_time", is_whole && !study.to_do().empty()}});
  if (is_whole) check_some_succeeded(study);
  if (!study.best()) return found;
  const std::size_t chosen = chosen_trial(study, job.one_standard_error);
  const Json& facts_of_best = study.trials()[*study.best()].best().second.facts;
  found.facts["best"] = *study.best();
  found.facts["chosen"] = chosen;
  found.facts["score"] = job.score.empty() ? default_score(facts_of_best) : job.score;
  found.facts["options"] = final_options(task.algorithm, trials, study.trials()[chosen]);
  if (!is_whole) return found;
  const Stopwatch train_watch;
  PausedAnywhere progress(context.progress);
  auto final = train_final(study, chosen, job.ensemble, task.algorithm, trials, {comm, context.n_threads, progress});
  found.facts["train_seconds"] = train_watch.seconds();
  found.facts["was_stopped"] = !final.has_value();
  if (!final) return found;
  if (job.ensemble > 0) found.facts["ensemble"] = to_json(final->ensemble, is_maximized_score);
  found.model = std::move(final->model);
  return found;
}

}  // namespace podere::jobs
