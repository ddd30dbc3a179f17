// podere train gbt: a model from a table.
#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <set>

#include "podere/base/atomic_file.h"
#include "podere/base/error.h"
#include "podere/base/number.h"
#include "podere/cli/arguments.h"
#include "podere/cli/group.h"
#include "podere/cli/outputs.h"
#include "podere/cli/print.h"
#include "podere/tree/model.h"
#include "podere/tree/options.h"

namespace podere::cli {
namespace {

struct TrainOptions {
  OutputOptions output;
  GroupOptions group;
  session::SourceSpec source;
  std::string validation;
  std::optional<std::string> objective;
  std::string from;
  bool low_memory = false;
  std::string checkpoint;
  double checkpoint_seconds = session::TrainJob().checkpoint_seconds;
  tree::Options tree;
  std::string model;
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

/// "level" or "best-first", and how deep such trees are where nothing is said of it.
void read_growth(const std::string& text, tree::Options& tree) {
  if (text != "level" && text != "best-first") {
    throw CLI::ValidationError("--growth", fmt::format("'{}' is neither level nor best-first", text));
  }
  tree.best_first = text == "best-first";
  tree.depth = tree.best_first ? tree::kMaxDepth : tree::Options().depth;
}

void define_tree(CLI::App& app, TrainOptions& options) {
  tree::Options& tree = options.tree;
  const auto whole = [&](const char* name, int& value, const char* description) {
    app.add_option(name, value, fmt::format("{} [{}]", description, value))->check(whole_number())->type_name("N");
  };
  const auto real = [&](const char* name, double& value, const char* description) {
    app.add_option(name, value, fmt::format("{} [{}]", description, value))->check(real_number())->type_name("X");
  };
  app.add_option("--objective", options.objective, "logistic, softmax, squared-error, poisson or quantile [logistic]")
      ->type_name("NAME");
  whole("--classes", tree.n_classes, "Classes of softmax; 0: the largest label plus one");
  real("--quantile", tree.quantile, "Which quantile, above 0, below 1");
  real("--max-delta-step", tree.max_delta_step,
       "Most that a tree of poisson adds to a margin before the learning rate");
  // One text, not a list, of which CLI11 would take the arguments that follow to be more.
  app.add_option_function<std::string>(
         "--class-weight", [&tree](const std::string& text) { read_class_weight(text, tree); },
         "By which weights of classes are multiplied; balanced: so that classes weigh the same")
      ->type_name("K:X,...");
  real("--scale-pos-weight", tree.scale_pos_weight, "By which weights of class 1 of logistic are multiplied");
  app.add_option("--base-score", tree.base_score, "Prediction before any tree [the one that fits best]")
      ->check(real_number())
      ->type_name("X");
  whole("--trees", tree.n_trees, "Rounds; with --from those that are added");
  // Before --depth, as options are taken in the order in which they are defined here.
  app.add_option_function<std::string>(
         "--growth", [&tree](const std::string& text) { read_growth(text, tree); },
         "level: all nodes of a level; best-first: the leaf that gains most, up to --max-leaves [level]")
      ->type_name("NAME");
  whole("--depth", tree.depth, "Levels of a tree, 1 to 30; best-first: 30 unless given");
  whole("--max-leaves", tree.max_leaves, "Leaves of a tree; 0: no limit");
  whole("--bins", tree.bins, "Histogram bins of a feature, 2 to 256");
  real("--learning-rate", tree.learning_rate, "Step of each tree, above 0, at most 1");
  real("--lambda", tree.lambda, "L2 penalty on leaf values");
  real("--min-child-weight", tree.min_child_weight, "Least sum of hessians in a leaf");
  real("--min-gain", tree.min_gain, "Least gain of a split");
  real("--subsample", tree.subsample, "Share of rows drawn for each round");
  real("--column-subsample", tree.column_subsample, "Share of features drawn for each tree");
  app.add_option("--monotone", tree.monotone,
                 "Features with which predictions never fall (+1) or never rise (-1), by name or position among them")
      ->type_name("A:+1,B:-1,...");
  app.add_option("--interactions", tree.interactions,
                 "Sets of features that may meet on a path of a tree; those in none meet no other [all may]")
      ->type_name("A,B;C,D,E;...");
  whole("--early-stopping", tree.early_stopping_rounds,
        "Stop after so many rounds without gain in validation; 0: never");
  app.add_option("--seed", tree.seed, "Of all random draws [0]")->transform(count())->type_name("S");
}

void define(CLI::App& app, TrainOptions& options) {
  // First, as options are taken in the order in which they are defined here: those given change the model's.
  app.add_option_function<std::string>(
         "--from",
         [&options](const std::string& path) {
           options.from = path;
           options.tree = tree::load_model(path).options;
           options.tree.n_trees = tree::Options().n_trees;
         },
         "Model to continue; options that are not given, but for --trees, are those of its training")
      ->check(file_name())
      ->type_name("MODEL");
  add_source_options(app, "DATA", options.source);
  app.get_option("--label")->description("Column of the label, by name or by position from 0 [the first]");
  add_categorical_option(app, options.source);
  app.get_option("--categorical")->excludes("--from");  // which remembers its own
  app.add_option("-o,--output", options.model, "Model file to write")
      ->required()
      ->check(file_name())
      ->type_name("MODEL");
  app.add_option("--checkpoint", options.checkpoint,
                 "Keep the model so far here; the same command goes on from it [in a temporary folder]")
      ->check(file_name())
      ->type_name("FILE");
  app.add_option("--checkpoint-every", options.checkpoint_seconds, "Least seconds between two checkpoints [2]")
      ->check(real_number())
      ->type_name("S");
  app.add_flag("--low-memory", options.low_memory, "Hold bins instead of DATA, which is read three times")
      ->excludes("--from");
  auto* validation = app.add_option("--validation", options.validation, "Data to validate on; read as DATA, all rows")
                         ->check(file_name())
                         ->type_name("DATA");
  app.add_option("--validation-fraction", options.tree.validation_fraction, "Share of rows to validate on instead [0]")
      ->check(real_number())
      ->excludes(validation)
      ->type_name("X");
  define_tree(app, options);
  add_group_options(app, options.group);
  add_output_options(app, options.output);
  add_metrics_option(app, options.output);
  app.footer(
      "Example: podere train gbt higgs.csv --rows :12000 --trees 50 --executors 2 -o model.json\n"
      "On hosts over ssh: podere train gbt higgs.csv --hosts hosts.txt --executors 8 -o model.json\n"
      "On Slurm: podere train gbt higgs.csv --executors 8 --cores 4 -o model.json --submit --time 1:00:00");
}

/// The ranges are those of the tree room, the names here those of options.
void check(TrainOptions& options) {
  if (!std::isfinite(options.checkpoint_seconds) || options.checkpoint_seconds < 0) {
    throw_input_error("--checkpoint-every is {}, allowed is a number of seconds from 0", options.checkpoint_seconds);
  }
  if (!options.validation.empty()) options.tree.validation_fraction = 0;  // that of --from
  try {
    if (options.objective) options.tree.objective = tree::parse_objective(*options.objective);
    tree::validate(options.tree);
  } catch (const InputError& error) {
    throw_input_error("--{}", error.what());
  }
  const bool validates = !options.validation.empty() || options.tree.validation_fraction > 0;
  if (options.tree.early_stopping_rounds > 0 && !validates) {
    throw_input_error("--early-stopping needs --validation or --validation-fraction");
  }
}

session::TrainJob job_of(const TrainOptions& options) {
  session::TrainJob job{options.source,
                        {},
                        options.tree,
                        options.from,
                        options.low_memory,
                        options.checkpoint,
                        options.checkpoint_seconds};
  if (!options.validation.empty()) {
    job.validation = options.source;
    job.validation->location = options.validation;
    job.validation->csv.first_row = 0;
    job.validation->csv.last_row.reset();
  }
  return job;
}

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
    file.commit();
  } catch (const InputError& error) {
    throw InputError(rescue(error));
  } catch (const Error& error) {
    throw Error(rescue(error));
  }
}

/// "40", "40, the best of 50 rounds (stopped early)", "12 (interrupted)".
std::string trees_text(const session::Json& facts) {
  const auto n_trees = facts.at("trees").get<std::uint64_t>();
  const auto n_rounds = facts.at("rounds_run").get<std::uint64_t>();
  const bool is_early = facts.at("stopped_early").get<bool>();
  std::string text = with_commas(n_trees);
  if (n_rounds > n_trees) text += fmt::format(", the best of {} rounds", with_commas(n_rounds));
  return text + (is_early ? " (stopped early)" : facts.at("was_stopped").get<bool>() ? " (interrupted)" : "");
}

void print_facts(const session::Json& facts, int descriptor) {
  const auto seconds = [&](const char* name) { return duration(facts.at(name).get<double>()); };
  std::vector<std::pair<std::string, std::string>> lines = {
      {"rows × features", fmt::format("{} × {}", with_commas(facts.at("rows").get<std::uint64_t>()),
                                      facts.at("features").get<std::uint64_t>())},
      {"executors × cores", fmt::format("{} × {}", facts.at("executors").get<int>(), facts.at("cores").get<int>())},
      {"trees", trees_text(facts)},
      {"to start", seconds("start_seconds")},
      {"to load", seconds("load_seconds")},
      {"to bin", seconds("bin_seconds")},
      {"to train", seconds("train_seconds")},
  };
  if (const std::size_t n_losses = facts.at("losses").size(); n_losses > 0) {
    lines.insert(lines.begin() + 2, {"losses of executors", std::to_string(n_losses)});
  }
  if (const auto& n_validation = facts.at("validation_rows"); n_validation.is_number()) {
    lines.insert(lines.begin() + 1,
                 {"trained, validated on", fmt::format("{}, {} rows", with_commas(facts.at("training_rows")),
                                                       with_commas(n_validation.get<std::uint64_t>()))});
  }
  for (const char* name : {"loss", "validation_loss", "validation_auc"}) {
    if (!facts.contains(name)) continue;
    lines.emplace_back(in_words(name), number(facts.at(name)));
  }
  lines.emplace_back("peak memory", megabytes(facts.at("peak_memory_bytes").get<std::uint64_t>()) + " per executor");
  lines.emplace_back("model", facts.at("model").get<std::string>());
  print(facts_text(lines), descriptor);
}

int run(TrainOptions& options) {
  check(options);
  const session::TrainJob job = job_of(options);
  const int facts_to = prepare_outputs({{"-o", options.model}, {"--checkpoint", options.checkpoint}},
                                       {named_file("DATA", job.table), NamedFile{"--from", job.from},
                                        job.validation ? named_file("--validation", *job.validation) : NamedFile{}});
  if (!options.checkpoint.empty()) AtomicFile(options.checkpoint);
  AtomicFile file(options.model);  // now: an unwritable place is told before the work, not after
  const session::Json result = run_job(options.group, options.output, job, [&](const session::Json& done) {
    save(file, done.at("model").get_ref<const std::string&>());
    if (!options.checkpoint.empty() && !done.at("facts").at("was_stopped").get<bool>()) {
      std::filesystem::remove(options.checkpoint);
    }
  });

  session::Json facts = result.at("facts");
  facts["model"] = options.model;
  show_result(options.output, facts, facts_to, [&] { print_facts(facts, facts_to); });
  if (!facts.at("was_stopped").get<bool>()) return kDone;
  print_error(fmt::format("interrupted after {} trees; the model so far is in {}", facts.at("trees").get<int>(),
                          options.model));
  return kInterrupted;
}

}  // namespace

void add_train(CLI::App& app, Command& chosen) {
  CLI::App* train = app.add_subcommand("train", "Train a model")->require_subcommand(1);
  add_command<TrainOptions>(*train, chosen, "gbt", "Gradient-boosted trees", define, run);
}

}  // namespace podere::cli
