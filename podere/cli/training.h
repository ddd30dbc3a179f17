// What all kinds of training share on the command line.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "podere/cli/arguments.h"
#include "podere/jobs/job.h"
#include "podere/jobs/train_job.h"

namespace podere::cli {

struct TrainingOptions {
  OutputOptions output;
  GroupOptions group;
  source::SourceSpec source;
  std::string validation;
  std::string validation_labels;
  std::string validation_key;
  std::string from;
  jobs::Folds folds;
  std::string fold_predictions;
  std::string checkpoint;
  double checkpoint_seconds = jobs::TrainJob().checkpoint_seconds;
  std::string tensorboard;
  std::uint64_t summary_steps = 0;
  std::string model;
};

/// DATA with what says how to read it, --output, and data to validate on. Before the model's own options.
void add_data_options(CLI::App& app, TrainingOptions& options);
/// Checkpoints, TensorBoard, and a share of the rows to validate on: of algorithms that take many rounds or steps.
void add_long_run_options(CLI::App& app, TrainingOptions& options, double& validation_fraction);
/// Executors, output, metrics. After the model's own options.
void add_run_options(CLI::App& app, TrainingOptions& options);

/// Throws InputError for what is out of range.
void check(const TrainingOptions& options);

/// The job but for what is trained.
jobs::TrainJob job_of(const TrainingOptions& options);

/// What is learned, and why where it was not chosen, by the facts of a job.
std::string objective_text(const Json& facts);

/// How the facts of a run read.
struct TrainingWords {
  /// Lines about the model, such as {"trees", "50"}, and about the seconds between loading and training.
  std::function<std::vector<std::pair<std::string, Json>>(const Json& facts)> lines;
  /// Such as "bin": of "to bin" and "bin_seconds"; empty: there are none.
  std::string prepare_name;
  std::function<std::string(const Json& facts)> so_far;  ///< such as "12 trees"
  std::string length = {};                               ///< what a training is counted in: "trees"
};

/// Trains, writes the model, shows the facts. Returns the exit code. Throws InputError or Error.
int run_training(const TrainingOptions& options, jobs::TrainJob job, const TrainingWords& words);

}  // namespace podere::cli
