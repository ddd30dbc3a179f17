#include "podere/cli/training.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <optional>

#include "podere/base/atomic_file.h"
#include "podere/base/error.h"
#include "podere/base/printable.h"
#include "podere/cli/group.h"
#include "podere/cli/help.h"
#include "podere/cli/outputs.h"
#include "podere/cli/print.h"
#include "podere/cli/run_report.h"
#include "podere/cli/shared_file.h"
#include "podere/jobs/checkpoint.h"
#include "podere/table/folds.h"

namespace podere::cli {
namespace {

/// The hours that a model took are not to be lost to a full disk.
void save(AtomicFile& file, const std::string& model) {
  const auto rescue = [&](const Error& error) {
    const auto path = std::filesystem::temp_directory_path() / fmt::format("podere-model-{}.json", getpid());
    AtomicFile elsewhere(path);
    elsewhere.write(model);
    elsewhere.commit();
    return fmt::format("{}; the model was saved as {}", error.what(), path.string());
  };
  try {
    file.write(model);
    if (file.reader_has_left()) throw_error("-o: the reader of the pipe left before the model was whole");
    file.commit();
  } catch (const InputError& error) {
    throw InputError(rescue(error));
  } catch (const Error& error) {
    throw Error(rescue(error));
  }
}

/// Which column is not learned from, as folds follow it.
std::string left_out_text(const Json& folds, const std::string& role) {
  std::string column = printable_line(folds.at(role).get<std::string>(), 100);
  if (!folds.contains("groups")) return column;
  return fmt::format("{}, {} groups", column, with_commas(folds.at("groups").get<std::uint64_t>()));
}

void print_facts(const Json& facts, const TrainingWords& words, int descriptor) {
  const auto seconds = [&](const std::string& name) { return duration(facts.at(name + "_seconds").get<double>()); };
  std::vector<std::pair<std::string, Json>> lines = {
      {"label", label_text(facts.at("label"))},
      {"objective", objective_text(facts)},
      {"rows × features", fmt::format("{} × {}", with_commas(facts.at("rows").get<std::uint64_t>()),
                                      facts.at("features").get<std::uint64_t>())}};
  if (const auto folds = facts.find("cross_validation"); folds != facts.end()) {
    for (const char* role : {"group", "order"}) {
      if (folds->contains(role)) lines.emplace_back(fmt::format("left out as {}", role), left_out_text(*folds, role));
    }
  }
  if (const auto& n_validation = facts.at("validation_rows"); n_validation.is_number()) {
    lines.emplace_back("trained, validated on", fmt::format("{}, {} rows", with_commas(facts.at("training_rows")),
                                                            with_commas(n_validation.get<std::uint64_t>())));
  }
  lines.emplace_back("executors × cores",
                     fmt::format("{} × {}", facts.at("executors").get<int>(), facts.at("cores").get<int>()));
  if (const std::size_t n_losses = facts.at("losses").size(); n_losses > 0) {
    lines.emplace_back("losses of executors", std::to_string(n_losses));
  }
  for (auto& line : words.lines(facts)) lines.push_back(std::move(line));
  lines.emplace_back("to start", seconds("start"));
  lines.emplace_back("to load", seconds("load"));
  if (!words.prepare_name.empty()) lines.emplace_back("to " + words.prepare_name, seconds(words.prepare_name));
  lines.emplace_back("to train", seconds("train"));
  for (const char* name : {"loss", "validation_loss", "validation_accuracy", "validation_auc"}) {
    if (!facts.contains(name)) continue;
    lines.emplace_back(in_words(name), number(facts.at(name)));
  }
  lines.emplace_back("peak memory", megabytes(facts.at("peak_memory_bytes").get<std::uint64_t>()) + " per executor");
  lines.emplace_back("model", facts.at("model").get<std::string>());
  print(facts_text(lines), descriptor);
}

/// A line for each fold, and what they say together. `length_words`: what a training is counted in.
std::string folds_text(const Json& found, const std::string& length_words) {
  std::vector<std::string> names;  // of measures
  for (const auto& [name, ignored] : found.at("measures").items()) names.push_back(name);
  const bool has_repeats = found.at("repeats").get<int>() > 1;
  const char* const length = found.at("each").at(0).contains("trees") ? "trees" : "epochs";
  std::vector<std::string> header = {"fold", "rows", length_words};
  if (has_repeats) header.insert(header.begin(), "repeat");
  for (const std::string& name : names) header.push_back(measure_in_words(name));
  TextTable table(std::move(header));
  for (const Json& fold : found.at("each")) {
    std::vector<std::string> row = {number(fold.at("fold")), with_commas(fold.at("rows").get<std::uint64_t>()),
                                    number(fold.at(length))};
    if (has_repeats) row.insert(row.begin(), number(fold.at("repeat")));
    for (const std::string& name : names) row.push_back(number(fold.at(name)));
    table.add(std::move(row));
  }
  for (const auto& [key, words] : {std::pair("mean", "mean"), std::pair("standard_error", "± standard error")}) {
    std::vector<std::string> row = {words, "", ""};
    if (has_repeats) row.emplace_back("");
    for (const std::string& name : names) row.push_back(number(found.at("measures").at(name).at(key)));
    table.add(std::move(row));
  }
  std::string text = table.text();
  if (found.contains("replaces_early_stopping"))
    text += fmt::format(
        "\nEarly stopping watched the rows that each fold was measured on: these scores are a little too good.\n"
        "The model was trained on all rows, without early stopping: its {} are the folds' mean.\n",
        length_words);
  if (found.contains("predictions"))
    text += fmt::format("\nPredictions of rows held out: {}\n", found.at("predictions").get<std::string>());
  return text;
}

}  // namespace

std::string objective_text(const Json& facts) {
  auto objective = facts.at("objective").get<std::string>();
  if (!facts.at("objective_is_guess").get<bool>()) return objective;
  const Json& label = facts.at("label");
  if (!label.contains("classes")) return objective + ", as the label holds numbers";
  return fmt::format("{}, as the label has {} classes", objective, label.at("classes").size());
}

void add_data_options(CLI::App& app, TrainingOptions& options) {
  add_source_options(app, "DATA", options.source);
  app.get_option("--label")->description(
      "Column of the label, by name or position from 0 [label, target, class or y; else the first, or the last if "
      "it looks more like classes]");
  add_categorical_option(app, options.source);
  app.add_option("--positive", options.source.positive,
                 "Of a label of two texts the positive class [the last in order]")
      ->group(kData)
      ->type_name("TEXT");
  app.add_option("-o,--output", options.model, "Model file to write")
      ->required()
      ->transform(output_file())
      ->type_name("MODEL");
  make_common(app, {"--label", "--output"});
  const InGroup group(app, kData);
  auto* validation = app.add_option("--validation", options.validation, "Validation data, read like DATA, all rows")
                         ->check(file_name())
                         ->type_name("DATA");
  app.add_option("--validation-labels", options.validation_labels,
                 "IDX, NumPy: file of the validation labels [IDX: found by name, as that of DATA]")
      ->needs(validation)
      ->check(file_name())
      ->type_name("FILE");
  app.add_option("--validation-key", options.validation_key,
                 "HDF5: --key of the validation data, which may be in the same file [that of DATA]")
      ->needs(validation)
      ->type_name("NAME");
}

void add_long_run_options(CLI::App& app, TrainingOptions& options, double& validation_fraction) {
  const InGroup training(app, kTraining);
  app.add_option("--checkpoint", options.checkpoint,
                 "Checkpoint file; rerun the same command to resume [in a temporary folder]")
      ->check(file_name())
      ->type_name("FILE");
  app.add_option("--checkpoint-every", options.checkpoint_seconds, "Seconds between two checkpoints, at least [2]")
      ->check(real_number())
      ->type_name("S");
  const InGroup output(app, kOutput);
  auto* tensorboard =
      app.add_option("--tensorboard", options.tensorboard, "Write logs for TensorBoard into this folder")
          ->check(file_name())
          ->type_name("FOLDER");
  app.add_option("--summary-steps", options.summary_steps,
                 "Steps, or trees, between two points in TensorBoard [a twentieth of an epoch, one tree]")
      ->transform(count())
      ->needs(tensorboard)
      ->type_name("N");
  const InGroup data(app, kData);
  app.add_option("--validation-fraction", validation_fraction, "Share of DATA to validate on, without --validation [0]")
      ->check(real_number())
      ->excludes("--validation")
      ->type_name("X");
  auto* folds = app.add_option("--folds", options.folds.n,
                               "Cross-validate first: N models, each measured on another N-th of DATA")
                    ->transform(whole_number(2, table::kMostFolds))
                    ->excludes("--validation")
                    ->excludes("--validation-fraction")
                    ->type_name("N");
  app.add_option("--fold-repeats", options.folds.repeats,
                 "Repeats of the cross-validation, each with folds of its own [1]")
      ->transform(whole_number(1, jobs::kMostRepeats))
      ->needs(folds)
      ->type_name("R");
  app.add_option("--fold-seed", options.folds.seed, "Seed of which rows are in a fold [0]")
      ->transform(count())
      ->needs(folds)
      ->type_name("S");
  auto* group = app.add_option("--fold-group", options.folds.group,
                               "Column, by name, whose rows of one value are held out together; no feature [none]")
                    ->needs(folds)
                    ->type_name("COLUMN");
  app.add_option("--fold-order", options.folds.order,
                 "Column, by name, such as the time: folds are measured on rows after those they are trained on; no "
                 "feature [none]")
      ->needs(folds)
      ->excludes(group)
      ->excludes("--fold-repeats")
      ->excludes("--fold-seed")
      ->type_name("COLUMN");
  app.add_option("--fold-predictions", options.fold_predictions,
                 "File to write: what was predicted of each row by models that were not trained on it, as CSV")
      ->needs(folds)
      ->transform(output_file())
      ->type_name("FILE");
}

void add_run_options(CLI::App& app, TrainingOptions& options) {
  add_group_options(app, options.group);
  add_output_options(app, options.output);
  add_job_output_options(app, options.output);
}

void check(const TrainingOptions& options) {
  if (!std::isfinite(options.checkpoint_seconds) || options.checkpoint_seconds < 0) {
    throw_input_error("--checkpoint-every is {}, allowed is a number of seconds from 0", options.checkpoint_seconds);
  }
}

jobs::TrainJob job_of(const TrainingOptions& options) {
  jobs::TrainJob job;
  job.table = options.source;
  job.from = options.from;
  job.folds = options.folds;
  job.checkpoint = options.checkpoint;
  job.checkpoint_seconds = options.checkpoint_seconds;
  job.tensorboard = options.tensorboard;
  job.summary_steps = options.summary_steps;
  if (!options.validation.empty()) {
    job.validation = options.source;
    job.validation->location = options.validation;
    job.validation->labels = options.validation_labels;
    if (!options.validation_key.empty()) job.validation->key = options.validation_key;
    job.validation->rows = {};
  }
  job.report = !options.output.report.empty();
  return job;
}

int run_training(const TrainingOptions& options, jobs::TrainJob job, const TrainingWords& words) {
  const bool keeps_folds = options.folds.n > 0 && options.fold_predictions.empty();
  const std::string folds_file = keeps_folds ? jobs::folds_file(options.checkpoint) : "";
  const std::vector<NamedFile> outputs = {{"-o", options.model},
                                          {"--checkpoint", options.checkpoint},
                                          {"--checkpoint", folds_file},
                                          {"--fold-predictions", options.fold_predictions},
                                          {"--report", options.output.report}};
  check_outputs(outputs, job.table);
  if (job.validation) check_outputs(outputs, *job.validation);
  const int facts_to = prepare_outputs(
      outputs, {named_file("DATA", job.table), labels_file("--labels", job.table), NamedFile{"--from", job.from},
                job.validation ? named_file("--validation", *job.validation) : NamedFile{},
                job.validation ? labels_file("--validation-labels", *job.validation) : NamedFile{}});
  if (!options.checkpoint.empty()) {
    jobs::check_is_place_for_checkpoint(options.checkpoint);
    AtomicFile(options.checkpoint);
  }
  AtomicFile file(options.model);  // now: an unwritable place is reported before the work, not after
  std::optional<SharedFile> predictions;
  if (!options.fold_predictions.empty()) job.fold_predictions = predictions.emplace(options.fold_predictions).path();
  OutputOptions output = options.output;
  output.run_name = "train " + std::filesystem::path(options.model).filename().string();
  const Json result = run_job(options.group, output, job, [&](const Json& done) {
    const Json& facts = done.at("facts");
    if (facts.contains("folds_done")) return;  // there is no model yet
    save(file, done.at("model").get_ref<const std::string&>());
    if (predictions) predictions->commit();
    const bool may_resume = facts.at("was_stopped").get<bool>() || facts.value("reached_max_steps", false);
    if (options.checkpoint.empty() || may_resume) return;
    std::filesystem::remove(options.checkpoint);
    if (!folds_file.empty()) std::filesystem::remove(folds_file);
  });

  Json facts = result.at("facts");
  if (facts.contains("folds_done")) {
    print_error(fmt::format("interrupted after {} of {} folds, before the model was trained{}",
                            facts.at("folds_done").get<int>(), options.folds.n * options.folds.repeats,
                            folds_file.empty() ? "" : "; rerun the same command to resume"));
    return kInterrupted;
  }
  facts["model"] = options.model;
  if (predictions) facts["cross_validation"]["predictions"] = options.fold_predictions;
  show_result(options.output, facts, facts_to, [&] {
    print_facts(facts, words, facts_to);
    if (facts.contains("cross_validation")) print("\n" + folds_text(facts["cross_validation"], words.length), facts_to);
  });
  const bool is_for_later = facts.value("reached_max_steps", false) && !options.checkpoint.empty();
  if (is_for_later && facts.value("checkpoint_failed", false)) {
    throw_input_error(
        "--checkpoint: {} could not be written at the end, so no run can resume from it; the model so far is in {}",
        options.checkpoint, options.model);
  }
  if (!facts.at("was_stopped").get<bool>()) return kDone;
  print_error(fmt::format("interrupted after {}; the model so far is in {}", words.so_far(facts), options.model));
  return kInterrupted;
}

}  // namespace podere::cli
