// podere tune: the options with which an algorithm learns a table best.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "podere/base/atomic_file.h"
#include "podere/base/error.h"
#include "podere/base/number.h"
#include "podere/base/printable.h"
#include "podere/base/read_file.h"
#include "podere/catalog/catalog.h"
#include "podere/cli/arguments.h"
#include "podere/cli/group.h"
#include "podere/cli/help.h"
#include "podere/cli/outputs.h"
#include "podere/cli/print.h"
#include "podere/cli/training.h"
#include "podere/cli/trials.h"
#include "podere/jobs/checkpoint.h"
#include "podere/jobs/trials.h"
#include "podere/jobs/tune_job.h"
#include "podere/table/folds.h"
#include "podere/tune/search.h"
#include "podere/tune/space.h"

namespace podere::cli {
namespace {

constexpr std::size_t kShownTrials = 10;

struct TuneOptions {
  TrainingOptions run;
  std::string space;  // file
  std::vector<std::string> fixed;
  jobs::TuneJob job;
};

/// "90", "90s", "10min", "2h" in seconds. Throws CLI::ValidationError.
double read_seconds(const std::string& text) {
  const std::size_t unit = std::min(text.find_first_not_of("0123456789."), text.size());
  const auto number = parse_real(std::string_view(text).substr(0, unit));
  const std::map<std::string, double> seconds = {{"", 1}, {"s", 1}, {"min", 60}, {"h", 3600}};
  const auto found = seconds.find(text.substr(unit));
  if (!number || *number <= 0 || found == seconds.end()) {
    throw CLI::ValidationError("--for", fmt::format("'{}' is no time such as 90s, 10min or 2h", text));
  }
  return *number * found->second;
}

/// {"depth=6"} as {"depth": 6}: values as JSON has them, else texts. Throws InputError.
Json fixed_options(const std::vector<std::string>& pairs) {
  Json options = Json::object();
  for (const std::string& pair : pairs) {
    const std::size_t equals = pair.find('=');
    if (equals == std::string::npos || equals == 0) throw_input_error("--fix: '{}' is not NAME=VALUE", pair);
    std::string name = pair.substr(0, equals);
    std::ranges::replace(name, '-', '_');
    const std::string text = pair.substr(equals + 1);
    const Json value = Json::parse(text, nullptr, false);
    options[name] = value.is_discarded() || value.is_object() ? Json(text) : value;
  }
  return options;
}

void define_search(CLI::App& app, TuneOptions& options) {
  jobs::TuneJob& job = options.job;
  const InGroup group(app, kTraining);
  app.add_option("--space", options.space,
                 "TOML file of the options to search and their values [that of the algorithm]")
      ->check(file_name())
      ->type_name("FILE");
  app.add_option("--fix", options.fixed, "Option of all trials, in place of that of the space; may be repeated")
      ->allow_extra_args(false)
      ->type_name("NAME=VALUE");
  app.add_option("--trials", job.trials, fmt::format("Settings to try [{}]", job.trials))
      ->transform(count())
      ->type_name("N");
  app.add_option_function<std::string>(
         "--for", [&job](const std::string& text) { job.seconds = read_seconds(text); },
         "Begin no trial after this time, such as 10min; then what is found depends on it [no limit]")
      ->type_name("TIME");
  app.add_option("--search", job.search, fmt::format("How settings are chosen [{}]", job.search))
      ->check(CLI::IsMember(tune::search_names()))
      ->type_name(choices(tune::search_names()));
  add_choice(app, "--schedule", job.schedule, "Which trials are trained further");
  app.add_option("--eta", job.eta, fmt::format("One trial in so many is trained so many times longer [{}]", job.eta))
      ->transform(whole_number(2, 100))
      ->type_name("N");
  app.add_option("--first-after", job.least_budget,
                 "Rounds or epochs before which no trial is measured [a ninth of all, or 1 / eta^2]")
      ->transform(whole_number(1, kMostWhole))
      ->type_name("N");
  app.add_option(
         "--parallel", job.parallel,
         fmt::format("Trials that the search assumes to be under way at once; another number is another search, "
                     "whatever the executors [{}; of {} rows or {} values and more 1]",
                     jobs::kParallelTrials, with_commas(jobs::kSmallRows), with_commas(jobs::kSmallValues)))
      ->transform(whole_number(1, 10000))
      ->type_name("N");
  add_choice(app, "--side-by-side", job.side_by_side,
             "Whether each core trains a trial alone, not all one after the other; auto: of few rows");
  app.add_option("--search-seed", job.seed, "Seed of the search [0]")->transform(count())->type_name("S");
  app.add_option("--score", job.score, "Measure by which trials are compared, such as auc [what training minimizes]")
      ->type_name("NAME");
  app.add_flag("--one-standard-error", job.one_standard_error,
               "Take the smallest model whose score is within one standard error of the best; measures on folds");
  app.add_option(
         "--nested", job.nested,
         "Also measure what such a search reaches: repeat it N times on all rows but one N-th, and measure there")
      ->transform(whole_number(2, table::kMostFolds))
      ->excludes("--validation")
      ->type_name("N");
  app.add_option("--ensemble", job.ensemble,
                 "Blend trials that are best together, picked one by one up to N times [the best trial alone]")
      ->transform(whole_number(1, jobs::kMostPicks))
      ->type_name("N");
  app.add_option("--study", job.study,
                 "Journal of the search; rerun the same command to resume [in a temporary folder]")
      ->check(file_name())
      ->type_name("FILE");
  const InGroup data(app, kData);
  auto* folds = app.add_option("--folds", job.folds.n, "Measure trials on N folds, each on models of all others")
                    ->transform(whole_number(2, table::kMostFolds))
                    ->excludes("--validation")
                    ->type_name("N");
  app.add_option("--fold-repeats", job.folds.repeats, "Repeats of that, each with folds of its own [1]")
      ->transform(whole_number(1, jobs::kMostRepeats))
      ->needs(folds)
      ->type_name("R");
  app.add_option("--fold-seed", job.folds.seed, "Seed of which rows are held out [0]")
      ->transform(count())
      ->type_name("S");
  app.add_option("--fold-group", job.folds.group,
                 "Column, by name, whose rows of one value are held out together; no feature [none]")
      ->excludes("--validation")
      ->type_name("COLUMN");
  app.add_option("--held-out", job.held_out,
                 fmt::format("Measure trials on one row of N [5; of fewer than {} rows --folds 5]",
                             with_commas(jobs::kFoldedRows)))
      ->transform(whole_number(2, jobs::kMostHeldOut))
      ->excludes("--validation")
      ->excludes(folds)
      ->type_name("N");
}

void define_tune(CLI::App& app, TuneOptions& options) {
  add_data_options(app, options.run);
  define_search(app, options);
  add_group_options(app, options.run.group);
  add_output_options(app, options.run.output);
  add_job_output_options(app, options.run.output);
  make_common(app, {"--space", "--trials", "--for", "--score", "--study", "--executors"});
}

/// What trials were measured on.
std::string measured_text(const Json& facts) {
  const Json& on = facts.at("measured_on");
  if (on.contains("validation")) return on.at("validation").get<std::string>();
  std::string group;
  if (on.contains("group") && facts.contains("groups")) {
    group = fmt::format(", grouped by {} ({} groups; no feature)", printable(on.at("group").get<std::string>()),
                        with_commas(facts.at("groups").get<std::uint64_t>()));
  }
  if (on.contains("held_out")) {
    return fmt::format("{}one row of {}{}", group.empty() ? "" : "about ", on.at("held_out").get<int>(), group);
  }
  const int n_repeats = on.at("repeats").get<int>();
  return fmt::format("{} folds{}{}", on.at("folds").get<int>(),
                     n_repeats > 1 ? fmt::format(", {} times", n_repeats) : "", group);
}

/// "64", "5 of 200, as the time was over, 2 repeat a setting, 1 failed (trial 3: ...)".
std::string count_text(const Json& facts, std::size_t n_wanted) {
  const std::vector<Json> trials = facts.at("trials");
  const auto has_failed = [](const Json& trial) { return trial.at("state") == "failed"; };
  std::string text = with_commas(trials.size());
  if (facts.at("out_of_time").get<bool>()) text += fmt::format(" of {}, as the time was over", with_commas(n_wanted));
  std::set<std::string> settings;
  for (const Json& trial : trials) settings.insert(to_text(trial.at("setting")));
  if (settings.size() < trials.size()) {
    text += fmt::format(", {} repeat the setting of another: the space has few", trials.size() - settings.size());
  }
  const auto failed = std::ranges::find_if(trials, has_failed);
  if (failed == trials.end()) return text;
  return text + fmt::format(", {} failed (trial {}: {})", std::ranges::count_if(trials, has_failed),
                            failed->at("trial").get<int>(), failed->at("facts").value("error", ""));
}

std::string at_a_time_text(const Json& facts, const jobs::TuneJob& job) {
  const auto n = facts.at("trials_at_a_time").get<std::size_t>();
  const auto n_parallel = facts.at("parallel").get<std::size_t>();
  const auto n_cores = facts.at("executors").get<std::size_t>() * facts.at("cores").get<std::size_t>();
  if (n == 1) {
    const bool is_short = job.side_by_side == jobs::SideBySide::kYes && n_parallel == 1 && n_cores > 1;
    const std::string hint = fmt::format("; for more: --parallel {}, which is another search", jobs::kParallelTrials);
    return "1 trial, by all executors" + (is_short ? hint : "");
  }
  std::string text = fmt::format("{} trials, each by one core", n);
  if (2 * n_cores <= n_parallel || n == job.trials) return text;
  return text +
         fmt::format("; so that none of {} cores waits: --parallel {}, which is another search", n_cores, 2 * n_cores);
}

std::string chosen_text(const Json& facts) {
  const bool is_best = facts.at("chosen") == facts.at("best");
  const std::string why =
      is_best ? "" : fmt::format(", the smallest within one standard error of trial {}", facts.at("best").get<int>());
  return fmt::format("The model was trained on all rows with the setting of trial {}{}: {}.\n",
                     facts.at("chosen").get<int>(), why, setting_text(facts.at("options")));
}

/// What nested searches found, and what it means.
std::string nested_text(const Json& nested, const std::string& score) {
  const Json& measures = nested.at("measures");
  std::vector<std::string> head = {"part", "rows", measure_in_words(score) + " in the search"};
  std::vector<std::string> names = {"search_score"};
  for (const auto& [name, ignored] : measures.items()) {
    if (name == "search_score") continue;
    names.push_back(name);
    head.push_back(measure_in_words(name));
  }
  TextTable table(std::move(head));
  for (const Json& part : nested.at("each")) {
    std::vector<std::string> line = {number(part.at("fold")), with_commas(part.at("rows").get<std::uint64_t>())};
    for (const std::string& name : names) line.push_back(number(part.at(name)));
    table.add(std::move(line));
  }
  for (const auto& [key, words] : {std::pair("mean", "mean"), std::pair("standard_error", "± standard error")}) {
    std::vector<std::string> line = {words, ""};
    for (const std::string& name : names) line.push_back(number(measures.at(name).at(key)));
    table.add(std::move(line));
  }
  return fmt::format(
      "\nThe search repeated {} times, each without one part of the rows, and measured on that part:\n\n{}",
      nested.at("folds").get<int>(), table.text());
}

/// "... trials 3 (40 %), 8 (60 %) ...".
std::string ensemble_text(const Json& ensemble, const std::string& score) {
  std::vector<std::string> members;
  for (const Json& member : ensemble.at("trials")) {
    members.push_back(
        fmt::format("{} ({:.0f} %)", member.at("trial").get<int>(), 100 * member.at("weight").get<double>()));
  }
  if (members.size() == 1) {
    return fmt::format("The model is trial {} alone, trained on all rows: no blend of it was better.\n",
                       members.front());
  }
  return fmt::format("The model blends trials {}, each trained on all rows. Together they have {} {}.\n",
                     fmt::join(members, ", "), measure_in_words(score), number(ensemble.at("score")));
}

void print_search(const Json& facts, const jobs::TuneJob& job, const std::string& model, int descriptor) {
  const auto seconds = [&](const char* name) { return duration(facts.at(name).get<double>()); };
  std::vector<std::pair<std::string, Json>> lines = {
      {"label", label_text(facts.at("label"))},
      {"objective", objective_text(facts)},
      {"rows × features", fmt::format("{} × {}", with_commas(facts.at("rows").get<std::uint64_t>()),
                                      facts.at("features").get<std::uint64_t>())},
      {"executors × cores", fmt::format("{} × {}", facts.at("executors").get<int>(), facts.at("cores").get<int>())},
      {"trials", count_text(facts, job.trials)},
      {"at a time", at_a_time_text(facts, job)},
      {"measured on", measured_text(facts)},
      {"to load", seconds("load_seconds")},
      {"to search", seconds("search_seconds")},
      {"to train on all rows", seconds("train_seconds")},
      {"peak memory", megabytes(facts.at("peak_memory_bytes").get<std::uint64_t>()) + " per executor"},
      {"model", model}};
  const std::string score = facts.at("score");
  std::vector<Json> trials = facts.at("trials");
  sort_trials(trials, jobs::is_maximized(score));
  print(facts_text(lines) + "\n" + trials_text(trials, score, kShownTrials) + "\n" +
            (facts.contains("ensemble") ? ensemble_text(facts.at("ensemble"), score) : chosen_text(facts)) +
            "The best score of many is a little too good: measure the model on other rows.\n" +
            (facts.contains("nested") ? nested_text(facts.at("nested"), score) : ""),
        descriptor);
}

jobs::TuneJob job_of(const TuneOptions& options) {
  const jobs::TrainJob data = job_of(options.run);
  jobs::TuneJob job = options.job;
  job.table = data.table;
  job.validation = data.validation;
  if (!options.space.empty()) {
    job.space = read_file(options.space);
    job.space_name = options.space;
    if (job.space.empty()) throw_input_error("--space: {} is empty", options.space);
  }
  job.options = fixed_options(options.fixed);
  return job;
}

int run_tune(const TuneOptions& options, const jobs::TuneJob& job) {
  const std::vector<NamedFile> outputs = {
      {"-o", options.run.model}, {"--study", job.study}, {"--report", options.run.output.report}};
  check_outputs(outputs, job.table);
  if (job.validation) check_outputs(outputs, *job.validation);
  const int facts_to = prepare_outputs(
      outputs, {named_file("DATA", job.table), labels_file("--labels", job.table), NamedFile{"--space", options.space},
                job.validation ? named_file("--validation", *job.validation) : NamedFile{}});
  if (!job.study.empty()) jobs::check_is_place_for_checkpoint(job.study, "study");
  AtomicFile file(options.run.model);
  OutputOptions output = options.run.output;
  output.run_name = "tune " + std::filesystem::path(options.run.model).filename().string();
  const Json result = run_job(options.run.group, output, job, [&](const Json& done) {
    if (done.at("facts").at("was_stopped").get<bool>()) return;
    file.write(done.at("model").get_ref<const std::string&>());
    file.commit();
  });
  Json facts = result.at("facts");
  if (facts.at("was_stopped").get<bool>()) {
    const std::string best =
        facts.contains("best")
            ? fmt::format("; the best so far is trial {}: {}", facts["best"].get<int>(), setting_text(facts["options"]))
            : "";
    print_error(fmt::format("interrupted after {} of {} trials{}{}", facts.at("trials").size(), job.trials, best,
                            job.study.empty() ? "" : "; rerun the same command to resume"));
    return kInterrupted;
  }
  facts["model"] = options.run.model;
  show_result(options.run.output, facts, facts_to, [&] { print_search(facts, job, options.run.model, facts_to); });
  return kDone;
}

int run_tune_gbt(TuneOptions& options) {
  jobs::TuneJob job = job_of(options);
  job.algorithm = "trees";
  return run_tune(options, job);
}

int run_tune_nn(TuneOptions& options) {
  jobs::TuneJob job = job_of(options);
  job.algorithm = "network";
  return run_tune(options, job);
}

/// Options are those of podere train mlp where neither --fix nor the space has others.
void take_mlp_defaults(jobs::TuneJob& job) {
  Json options = {{"hidden", Json::array({30, 30})},
                  {"activation", "sigmoid"},
                  {"initialisation", "glorot"},
                  {"optimiser", "lbfgs"},
                  {"epochs", 100}};
  if (job.space.empty()) {
    job.space = catalog::algorithm_called(job.algorithm).default_space(options);
    job.space_name = "the default space";
  }
  const tune::Space space = tune::Space::from_toml(job.space, job.space_name);
  const auto is_optimizer = [](const tune::Parameter& parameter) { return parameter.name == "optimiser"; };
  if (job.options.contains("optimiser") || std::ranges::any_of(space.parameters(), is_optimizer)) {
    throw InputError("podere tune mlp trains by lbfgs: leave out 'optimiser', or take podere tune nn");
  }
  for (const tune::Parameter& parameter : space.parameters()) options.erase(parameter.name);
  options.update(job.options);
  job.options = std::move(options);
}

int run_tune_mlp(TuneOptions& options) {
  jobs::TuneJob job = job_of(options);
  job.algorithm = "network";
  take_mlp_defaults(job);
  return run_tune(options, job);
}

}  // namespace

void add_tune(CLI::App& app, Command& chosen) {
  CLI::App* tune = app.add_subcommand("tune", "Find the options that train the best model")->require_subcommand(1);
  const auto example = [](CLI::App* command, const char* name) {
    command->footer(
        fmt::format("Example: podere tune {0} higgs.csv --trials 100 -o best.json\n"
                    "Resumed: podere tune {0} higgs.csv --for 10min --study higgs.journal -o best.json",
                    name));
  };
  example(add_command<TuneOptions>(*tune, chosen, "gbt", "Of gradient-boosted trees", define_tune, run_tune_gbt),
          "gbt");
  example(add_command<TuneOptions>(*tune, chosen, "nn", "Of dense networks", define_tune, run_tune_nn), "nn");
  example(add_command<TuneOptions>(*tune, chosen, "mlp", "Of dense networks, by L-BFGS over all rows", define_tune,
                                   run_tune_mlp),
          "mlp");
}

}  // namespace podere::cli
