// podere train gbt: a model from a table.
#include <fmt/format.h>

#include <set>
#include <utility>

#include "podere/base/error.h"
#include "podere/base/json_fields.h"
#include "podere/base/number.h"
#include "podere/cli/arguments.h"
#include "podere/cli/help.h"
#include "podere/cli/print.h"
#include "podere/cli/training.h"
#include "podere/tree/model.h"
#include "podere/tree/objective.h"
#include "podere/tree/options.h"

namespace podere::cli {
namespace {

struct TrainOptions {
  TrainingOptions run;
  std::optional<std::string> objective;
  bool low_memory = false;
  tree::Options tree;
};

/// "balanced", or "0:1,1:3": weights of classes, 1 for those that are not named.
void read_class_weight(const std::string& text, tree::Options& tree) {
  tree.class_weight.clear();
  tree.balance_classes = text == "balanced";
  if (tree.balance_classes) return;
  std::set<std::uint64_t> named;
  for (const std::string& pair : CLI::detail::split(text, ',')) {
    const auto colon = std::min(pair.find(':'), pair.size());
    const auto k = parse_count(std::string_view(pair).substr(0, colon));
    const std::string weight = pair.substr(std::min(colon + 1, pair.size()));
    if (!k || *k >= static_cast<std::uint64_t>(tree::kMaxClasses) || !parse_real(weight)) {
      throw CLI::ValidationError("--class-weight",
                                 fmt::format("'{}' is neither balanced nor CLASS:WEIGHT with a class from 0", pair));
    }
    if (!named.insert(*k).second) {
      throw CLI::ValidationError("--class-weight", fmt::format("class {} is named twice in '{}'", *k, text));
    }
    tree.class_weight.resize(std::max(tree.class_weight.size(), static_cast<std::size_t>(*k) + 1), 1.0);
    tree.class_weight[*k] = *parse_real(weight);
  }
}

/// "level" or "best-first", and how deep such trees are by default.
void read_growth(const std::string& text, tree::Options& tree) {
  if (text != "level" && text != "best-first") {
    throw CLI::ValidationError("--growth", fmt::format("'{}' is neither level nor best-first", text));
  }
  tree.best_first = text == "best-first";
  tree.depth = tree.best_first ? tree::kMaxDepth : tree::Options().depth;
}

void define_tree(CLI::App& app, TrainOptions& options) {
  tree::Options& tree = options.tree;
  const InGroup group(app, kModel);
  const auto whole = [&](const char* name, int& value, int least, int most, const char* description) {
    app.add_option(name, value, fmt::format("{} [{}]", description, value))
        ->transform(whole_number(least, most))
        ->type_name("N");
  };
  const auto real = [&](const char* name, double& value, const char* description) {
    app.add_option(name, value, fmt::format("{} [{}]", description, value))->check(real_number())->type_name("X");
  };
  app.add_option("--objective", options.objective,
                 "Loss to minimize [by the label: logistic for two classes, softmax for more, else squared-error]")
      ->type_name(choices(tree::trained_objectives()));
  whole("--classes", tree.n_classes, 0, tree::kMaxClasses,
        "Number of classes of softmax; 0: the largest label plus one");
  real("--quantile", tree.quantile, "Quantile to predict, above 0 and below 1");
  real("--max-delta-step", tree.max_delta_step,
       "Limit of what a tree of poisson adds to a margin, before the learning rate");
  // One text, not a list, of which CLI11 would take the arguments that follow to be more.
  app.add_option_function<std::string>(
         "--class-weight", [&tree](const std::string& text) { read_class_weight(text, tree); },
         "Multiply the row weights of class K by X; balanced: give all classes the same total weight")
      ->type_name("K:X,...");
  real("--scale-pos-weight", tree.scale_pos_weight, "Multiply the row weights of class 1 of logistic by X");
  app.add_option("--base-score", tree.base_score, "Prediction before the first tree [the best constant]")
      ->check(real_number())
      ->type_name("X");
  whole("--trees", tree.n_trees, 1, tree::kMaxTrees, "Boosting rounds; with --from the number to add");
  // Before --depth, as options are applied in the order in which they are defined here.
  app.add_option_function<std::string>(
         "--growth", [&tree](const std::string& text) { read_growth(text, tree); },
         "Split all nodes of a level, or the leaf that gains most until --max-leaves [level]")
      ->type_name("level|best-first");
  whole("--depth", tree.depth, 1, tree::kMaxDepth, "Maximum depth of a tree, 1 to 30; of best-first 30 by default");
  whole("--max-leaves", tree.max_leaves, 0, kMostWhole, "Maximum number of leaves of a tree; 0: no limit");
  whole("--bins", tree.bins, 2, tree::kMaxBins, "Maximum number of histogram bins of a feature, 2 to 256");
  real("--learning-rate", tree.learning_rate, "Factor of each tree's contribution, above 0, at most 1");
  real("--lambda", tree.lambda, "L2 penalty on leaf values");
  real("--min-child-weight", tree.min_child_weight, "Minimum sum of hessians in a leaf");
  real("--min-gain", tree.min_gain, "Minimum gain of a split");
  {
    const InGroup training(app, kTraining);
    real("--subsample", tree.subsample, "Share of rows to draw for each round");
    real("--column-subsample", tree.column_subsample, "Share of features to draw for each tree");
  }
  app.add_option("--monotone", tree.monotone,
                 "Features with which predictions never fall (+1) or never rise (-1), by name or position")
      ->type_name("A:+1,B:-1,...");
  app.add_option("--interactions", tree.interactions,
                 "Sets of features that may interact; a feature in no set interacts with no other [all may]")
      ->type_name("A,B;C,D,E;...");
  const InGroup training(app, kTraining);
  whole("--early-stopping", tree.early_stopping_rounds, 0, kMostWhole,
        "Stop if the validation loss has not improved for N rounds; 0: never");
  app.add_option("--seed", tree.seed, "Seed of all random draws [0]")->transform(count())->type_name("S");
}

void define_gbt(CLI::App& app, TrainOptions& options) {
  // First, as options are applied in the order in which they are defined here: those given change the model's.
  const InGroup group(app, kTraining);
  app.add_option_function<std::string>(
         "--from",
         [&options](const std::string& path) {
           options.run.from = path;
           options.tree = tree::load_model(path).options;
           options.tree.n_trees = tree::Options().n_trees;
         },
         "Model to add trees to (warm start). Options default to those of its training, but for --trees")
      ->check(file_name())
      ->type_name("MODEL");
  add_data_options(app, options.run);
  add_long_run_options(app, options.run, options.tree.validation_fraction);
  app.get_option("--categorical")->excludes("--from");  // which remembers its own
  app.add_flag("--low-memory", options.low_memory, "Keep bins in memory instead of values; reads DATA three times")
      ->group(kData)
      ->excludes("--from");
  define_tree(app, options);
  add_run_options(app, options.run);
  make_common(app, {"--objective", "--trees", "--depth", "--learning-rate", "--validation", "--executors"});
  app.footer(
      "Example: podere train gbt higgs.csv --rows :12000 --trees 50 --executors 2 -o model.json\n"
      "On hosts over ssh: podere train gbt higgs.csv --hosts hosts.txt --executors 8 -o model.json\n"
      "On Slurm: podere train gbt higgs.csv --executors 8 --cores 4 -o model.json --submit --time 1:00:00");
}

/// The ranges are those of the tree room, the names here those of options.
void check(TrainOptions& options) {
  check(options.run);
  const bool has_validation = !options.run.validation.empty();
  if (has_validation) options.tree.validation_fraction = 0;  // that of --from
  try {
    if (options.objective) options.tree.objective = tree::trained_objective(*options.objective);
    tree::check_is_trained(options.tree.objective);
    tree::validate(options.tree);
  } catch (const InputError& error) {
    throw_input_error("--{}", error.what());
  }
  const bool validates = has_validation || options.tree.validation_fraction > 0 || options.run.folds.n > 0;
  if (options.tree.early_stopping_rounds > 0 && !validates) {
    throw_input_error("--early-stopping needs --validation, --validation-fraction or --folds");
  }
}

/// "40", "40, the best of 50 rounds (stopped early)", "12 (interrupted)".
std::string trees_text(const Json& facts) {
  const auto n_trees = facts.at("trees").get<std::uint64_t>();
  const auto n_rounds = facts.at("rounds_run").get<std::uint64_t>();
  const bool is_early = facts.at("stopped_early").get<bool>();
  std::string text = with_commas(n_trees);
  if (n_rounds > n_trees) text += fmt::format(", the best of {} rounds", with_commas(n_rounds));
  return text + (is_early ? " (stopped early)" : facts.at("was_stopped").get<bool>() ? " (interrupted)" : "");
}

int run_gbt(TrainOptions& options) {
  check(options);
  jobs::TrainJob job = job_of(options.run);
  job.algorithm = "trees";
  job.options = json_of_fields(options.tree);
  if (options.objective) job.options["objective"] = *options.objective;
  job.low_memory = options.low_memory;
  const TrainingWords words{
      [](const Json& facts) -> std::vector<std::pair<std::string, Json>> {
        return {{"trees", trees_text(facts)}};
      },
      "bin", [](const Json& facts) { return fmt::format("{} trees", facts.at("trees").get<int>()); }, "trees"};
  return run_training(options.run, std::move(job), words);
}

}  // namespace

void add_train(CLI::App& app, Command& chosen) {
  CLI::App* train = app.add_subcommand("train", "Train a model")->require_subcommand(1);
  add_command<TrainOptions>(*train, chosen, "gbt", "Gradient-boosted trees", define_gbt, run_gbt);
  add_train_networks(*train, chosen);
  add_train_others(*train, chosen);
}

}  // namespace podere::cli
