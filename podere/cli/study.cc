// podere study: what a search has found, of its journal.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "podere/base/atomic_file.h"
#include "podere/base/error.h"
#include "podere/base/read_file.h"
#include "podere/cli/arguments.h"
#include "podere/cli/outputs.h"
#include "podere/cli/print.h"
#include "podere/cli/trials.h"
#include "podere/jobs/trials.h"
#include "podere/tune/kept_study.h"
#include "podere/tune/study_file.h"

namespace podere::cli {
namespace {

struct StudyOptions {
  std::string study;
  std::vector<std::string> studies;
  std::size_t n_shown = 20;
  std::string output;
  bool json = false;
};

/// A study as JSON: "study" (its file), "score", "run", "best" and "trials".
struct ReadStudy {
  std::string path;
  std::string score;
  Json run;
  std::vector<Json> trials;  // the best in front
};

ReadStudy read_study(const std::string& path) {
  const tune::RecordedStudy recorded = tune::study_from_text(read_file(path), path);
  ReadStudy study{path, recorded.head.run.value("score", ""), recorded.head.run, {}};
  for (std::size_t i = 0; i < recorded.trials.size(); ++i) {
    const tune::RecordedTrial& trial = recorded.trials[i];
    if (trial.done.empty()) continue;
    study.trials.push_back(
        tune::trial_json(i, to_string(trial.state), trial.setting, trial.done, recorded.head.is_maximized));
    const Json& shown = study.trials.back();
    if (study.score.empty() && !shown.at("score").is_null()) study.score = jobs::default_score(shown.at("facts"));
  }
  sort_trials(study.trials, recorded.head.is_maximized);
  return study;
}

/// Throws InputError where there is none with a score.
const Json& best_of(const ReadStudy& study) {
  if (study.trials.empty() || study.trials.front().at("score").is_null()) {
    throw_input_error("{}: no trial has a score yet", study.path);
  }
  return study.trials.front();
}

Json to_json(const ReadStudy& study) {
  const bool has_best = !study.trials.empty() && !study.trials.front().at("score").is_null();
  return {{"study", study.path},
          {"score", study.score},
          {"run", study.run},
          {"best", has_best ? study.trials.front().at("trial") : Json()},
          {"trials", study.trials}};
}

int run_show(StudyOptions& options) {
  const ReadStudy study = read_study(options.study);
  if (options.json) {
    print_json(to_json(study));
    return kDone;
  }
  const Json& run = study.run;
  std::vector<std::pair<std::string, Json>> lines = {{"algorithm", run.value("algorithm", "")}};
  if (run.contains("rows")) lines.emplace_back("rows", run.at("rows"));
  lines.emplace_back("search", fmt::format("{}, schedule {}", run.value("search", ""), run.value("schedule", "")));
  lines.emplace_back("trials", study.trials.size());
  print(facts_text(lines) + "\n" + trials_text(study.trials, study.score, options.n_shown));
  return kDone;
}

int run_best(StudyOptions& options) {
  const ReadStudy study = read_study(options.study);
  const Json& best = best_of(study);
  if (options.json) {
    print_json(best);
    return kDone;
  }
  print(fmt::format("trial {}, {} {} after {}\n\n", best.at("trial").get<int>(), measure_in_words(study.score),
                    number(best.at("score")), best.at("budget").get<int>()));
  std::vector<std::pair<std::string, Json>> lines;
  for (const auto& [name, value] : best.at("setting").items()) lines.emplace_back(in_words(name), value_text(value));
  print(facts_text(lines));
  return kDone;
}

int run_compare(StudyOptions& options) {
  std::vector<ReadStudy> studies;
  for (const std::string& path : options.studies) studies.push_back(read_study(path));
  Json all = Json::array();
  const auto rows_of = [](const ReadStudy& study) { return study.run.value("values", Json()); };
  std::vector<std::string> others;  // studies of other rows than the first
  TextTable table({"study", "trials", "score", "best", "after", "setting"}, true);
  for (const ReadStudy& study : studies) {
    const Json& best = best_of(study);
    all.push_back({{"study", study.path}, {"score", study.score}, {"trials", study.trials.size()}, {"best", best}});
    table.add({study.path, std::to_string(study.trials.size()), measure_in_words(study.score), number(best.at("score")),
               number(best.at("budget")), setting_text(best.at("setting"))});
    if (rows_of(study) != rows_of(studies.front())) others.push_back(study.path);
  }
  if (options.json) {
    print_json({{"studies", all}, {"same_rows", others.empty()}});
    return kDone;
  }
  print(table.text());
  if (!others.empty()) {
    print(fmt::format(
        "\nNot of the rows of {}, or of a function: {}. Compare models on rows that none of them has seen.\n",
        studies.front().path, fmt::join(others, ", ")));
  }
  return kDone;
}

/// A text as a cell of CSV.
std::string cell_text(const Json& value) {
  if (value.is_null()) return "";
  std::string text = value.is_string() ? value.get<std::string>() : value.dump();
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  for (std::size_t quote = text.find('"'); quote != std::string::npos; quote = text.find('"', quote + 2)) {
    text.insert(quote, 1, '"');
  }
  return '"' + text + '"';
}

/// The names that a member of any trial has, in order of first use.
std::vector<std::string> names_in(const std::vector<Json>& trials, const char* member) {
  std::vector<std::string> names;
  std::set<std::string> known;
  for (const Json& trial : trials) {
    for (const auto& [name, value] : trial.at(member).items()) {
      if (known.insert(name).second) names.push_back(name);
    }
  }
  return names;
}

int run_export(StudyOptions& options) {
  check_outputs({{"-o", options.output}}, {{"STUDY", options.study}});
  ReadStudy study = read_study(options.study);
  std::ranges::sort(study.trials, {}, [](const Json& trial) { return trial.at("trial").get<int>(); });
  const auto settings = names_in(study.trials, "setting");
  const auto facts = names_in(study.trials, "facts");
  std::string text = "trial,state,score,after";
  for (const std::string& name : settings) text += "," + cell_text(name);
  for (const std::string& name : facts) text += "," + cell_text("measured_" + name);
  text += '\n';
  for (const Json& trial : study.trials) {
    text += fmt::format("{},{},{},{}", trial.at("trial").get<int>(), trial.at("state").get<std::string>(),
                        cell_text(trial.at("score")), trial.at("budget").get<int>());
    for (const std::string& name : settings) text += "," + cell_text(trial.at("setting").value(name, Json()));
    for (const std::string& name : facts) text += "," + cell_text(trial.at("facts").value(name, Json()));
    text += '\n';
  }
  AtomicFile file(options.output);
  file.write(text);
  file.commit();
  return kDone;
}

void add_study_argument(CLI::App& app, StudyOptions& options) {
  app.add_option("STUDY", options.study, "Journal that podere tune --study wrote")->required()->check(file_name());
}

void add_json(CLI::App& app, StudyOptions& options) {
  app.add_flag("--json", options.json, "Print one JSON object instead of text");
}

void define_show(CLI::App& app, StudyOptions& options) {
  add_study_argument(app, options);
  app.add_option("--best", options.n_shown, fmt::format("Trials to show [{}]", options.n_shown))
      ->transform(count())
      ->type_name("N");
  add_json(app, options);
  app.footer("Example: podere study show higgs.journal --best 50");
}

void define_best(CLI::App& app, StudyOptions& options) {
  add_study_argument(app, options);
  add_json(app, options);
  app.footer("Example: podere study best higgs.journal --json");
}

void define_compare(CLI::App& app, StudyOptions& options) {
  app.add_option("STUDY", options.studies, "Journals that podere tune --study wrote")->required()->check(file_name());
  add_json(app, options);
  app.footer("Example: podere study compare trees.journal networks.journal");
}

void define_export(CLI::App& app, StudyOptions& options) {
  add_study_argument(app, options);
  app.add_option("-o,--output", options.output, "CSV file to write, a line for each trial")
      ->required()
      ->transform(output_file())
      ->type_name("FILE");
  app.footer("Example: podere study export higgs.journal -o trials.csv");
}

}  // namespace

void add_study(CLI::App& app, Command& chosen) {
  CLI::App* study = app.add_subcommand("study", "Show what podere tune found")->require_subcommand(1);
  add_command<StudyOptions>(*study, chosen, "show", "The trials of a study, the best first", define_show, run_show);
  add_command<StudyOptions>(*study, chosen, "best", "The setting of the best trial", define_best, run_best);
  add_command<StudyOptions>(*study, chosen, "compare", "The best trials of several studies", define_compare,
                            run_compare);
  add_command<StudyOptions>(*study, chosen, "export", "All trials as CSV", define_export, run_export);
}

}  // namespace podere::cli
