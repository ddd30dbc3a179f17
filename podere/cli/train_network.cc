// podere train nn, podere train mlp: dense networks from a table.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "podere/base/error.h"
#include "podere/base/json_fields.h"
#include "podere/base/number.h"
#include "podere/cli/arguments.h"
#include "podere/cli/help.h"
#include "podere/cli/print.h"
#include "podere/cli/training.h"
#include "podere/neural/algorithm.h"
#include "podere/neural/parameter_servers.h"
#include "podere/session/session.h"

namespace podere::cli {
namespace {

struct NetworkOptions {
  TrainingOptions run;
  neural::Options network;
  bool chose_loss = false;
  int workers = 0;  // 0: as many as there are executors beside the servers
  bool is_async = false;
  std::uint64_t max_steps = 0;
  std::uint64_t checkpoint_steps = 0;
};

/// "100,30" into widths; "none": no hidden layer.
void read_layers(const std::string& text, std::vector<int>& widths) {
  widths.clear();
  if (text == "none") return;
  for (const std::string& width : CLI::detail::split(text, ',')) {
    const auto n = parse_count(width);
    if (!n || *n < 1 || *n > static_cast<std::uint64_t>(neural::kMaxWidth)) {
      throw CLI::ValidationError(
          "--layers", fmt::format("'{}' is neither none nor widths from 1 to {} with commas", text, neural::kMaxWidth));
    }
    widths.push_back(static_cast<int>(*n));
  }
}

class Adder {
 public:
  explicit Adder(CLI::App& app) : app_(app) {}
  void whole(const char* name, int& value, int least, int most, const char* description) {
    app_.add_option(name, value, fmt::format("{} [{}]", description, value))
        ->transform(whole_number(least, most))
        ->type_name("N");
  }
  void real(const char* name, double& value, const char* description) {
    app_.add_option(name, value, fmt::format("{} [{}]", description, value))->check(real_number())->type_name("X");
  }

 private:
  CLI::App& app_;
};

void define_layers(CLI::App& app, NetworkOptions& options) {
  neural::Options& network = options.network;
  const InGroup group(app, kModel);
  Adder add(app);
  app.add_option_function<std::string>(
         "--layers", [&network](const std::string& text) { read_layers(text, network.hidden); },
         fmt::format("Widths of the hidden layers; none: a linear model [{}]", fmt::join(network.hidden, ",")))
      ->type_name("N,N,...");
  add_choice(app, "--activation", network.activation, "Activation of the hidden layers");
  add_choice(app, "--initialization", network.initialization, "Initialization of the weights");
  auto* const loss = add_choice(
      app, "--loss", network.loss,
      "Loss to minimize: binary-cross-entropy for two classes, cross-entropy for more, squared-error for numbers");
  loss->each([&options](const std::string&) { options.chose_loss = true; });
  if (network.loss == neural::Options().loss) {
    loss->description(
        "Loss to minimize [by the label: binary-cross-entropy for two classes, cross-entropy for more, else "
        "squared-error]");
  }
  add.whole("--classes", network.n_classes, 0, neural::kMaxClasses,
            "Number of classes of cross-entropy; 0: the largest label plus one");
}

void define_data(CLI::App& app, neural::Options& network) {
  const InGroup data(app, kData);
  app.add_option("--one-hot", network.one_hot,
                 fmt::format("Categories of a column up to which each has an input of its own; more share N by hashes "
                             "[{}]",
                             network.one_hot))
      ->transform(whole_number(2, neural::kMaxWidth))
      ->type_name("N");
  app.add_flag_callback(
      "--no-standardize", [&network] { network.standardize = false; },
      "Do not scale features to mean 0 and standard deviation 1");
  app.add_flag_callback(
      "--no-standardize-target", [&network] { network.standardize_target = false; },
      "Do not scale the numbers that squared-error learns");
  app.add_flag("--impute", network.impute,
               "Replace missing values by the mean of their feature, instead of refusing them");
  app.add_option("--seed", network.seed, "Seed of all random draws [0]")
      ->group(kTraining)
      ->transform(count())
      ->type_name("S");
}

void define_from(CLI::App& app, TrainingOptions& run) {
  app.add_option("--from", run.from, "Network to continue (warm start), of the same features, layers and loss")
      ->check(file_name())
      ->type_name("MODEL")
      ->excludes("--categorical");
}

/// What happens at steps; those of L-BFGS are its iterations.
void define_steps(CLI::App& app, NetworkOptions& options) {
  app.add_option("--max-steps", options.max_steps, "Stop after N steps and keep the checkpoint; 0: no limit [0]")
      ->transform(count())
      ->type_name("N");
  app.add_option("--checkpoint-steps", options.checkpoint_steps,
                 "Also write a checkpoint every N steps; 0: by time alone [0]")
      ->transform(count())
      ->type_name("N");
}

/// Workers that have the rows and servers that have the weights, in the place of executors that are all alike.
void define_servers(CLI::App& app, NetworkOptions& options) {
  const InGroup group(app, kExecutors);
  app.add_option(
         "--servers", options.network.servers,
         "Parameter servers, to which the other executors send gradients; 0: none, all executors work alike [0]")
      ->transform(whole_number(0, neural::kMaxServers))
      ->type_name("P");
  app.add_option("--workers", options.workers,
                 "Workers beside the servers, instead of --executors: Podere starts W and P executors")
      ->transform(whole_number(1, session::kMostExecutors))
      ->excludes("--executors")
      ->excludes("--executors-file")
      ->excludes("--session")
      ->type_name("W");
  auto* async = app.add_flag("--async", options.is_async,
                             "Let no worker wait for another: faster if they are uneven, but each run gives another "
                             "network. Starts one server unless --servers is given");
  app.add_option("--staleness", options.network.staleness,
                 "With servers: batches that a worker may be ahead of the slowest; 0: synchronous [0]")
      ->transform(whole_number(0, kMostWhole))
      ->excludes(async)
      ->type_name("N");
}

/// Settles what --async and --workers leave open. Throws InputError for executors too few.
void settle_servers(NetworkOptions& options) {
  neural::Options& network = options.network;
  GroupOptions& group = options.run.group;
  if (options.is_async) {
    network.staleness = -1;
    network.servers = std::max(network.servers, 1);
  }
  if (options.workers > 0) group.executors = options.workers + network.servers;
  if (network.servers == 0 || !group.session.empty()) return;
  neural::count_workers(network, group.executors);
  group.needed_executors = network.servers + 1;
  group.least_executors = std::max(group.least_executors, group.needed_executors);
}

void define_nn(CLI::App& app, NetworkOptions& options) {
  neural::Options& network = options.network;
  add_data_options(app, options.run);
  add_long_run_options(app, options.run, network.validation_fraction);
  define_layers(app, options);
  const InGroup group(app, kTraining);
  define_from(app, options.run);
  Adder add(app);
  add_choice(app, "--optimizer", network.optimizer, "Optimizer");
  add.whole("--epochs,--iterations", network.epochs, 1, neural::kMaxEpochs,
            "Passes over the rows, or iterations of lbfgs");
  add.whole("--batch-size", network.batch_size, 0, neural::kMaxBatch,
            "Rows of a step, over all executors; 0: a hundredth of the rows, 32 to 4096");
  add.real("--learning-rate", network.learning_rate, "Learning rate");
  add_choice(app, "--schedule", network.schedule, "Schedule of the learning rate");
  add.real("--learning-rate-decay", network.learning_rate_decay,
           "Of exponential: factor of the learning rate after each epoch");
  add.real("--momentum", network.momentum, "Momentum of sgd");
  add.real("--tolerance", network.tolerance, "Of lbfgs: stop when the loss falls by less than this share");
  add.whole("--history", network.history, 1, neural::kMaxHistory, "Of lbfgs: number of past steps to remember");
  add.real("--l2", network.l2, "Penalty: half of this times the sum of squared weights");
  add.real("--weight-decay", network.weight_decay,
           "Of adamw: each step shrinks weights by the learning rate times this");
  add.real("--clip-norm", network.clip_norm, "Maximum norm of a gradient, longer ones are scaled down; 0: no limit");
  add.real("--dropout", network.dropout, "Share of hidden units to drop for each row and step");
  add.whole("--early-stopping", network.early_stopping_epochs, 0, kMostWhole,
            "Stop if the validation loss has not improved for N epochs; 0: never");
  define_data(app, network);
  define_steps(app, options);
  add_run_options(app, options.run);
  define_servers(app, options);
  make_common(app, {"--layers", "--loss", "--epochs", "--learning-rate", "--validation", "--executors"});
  app.footer(
      "Example: podere train nn higgs.csv --rows :12000 --layers 100 --epochs 20 --executors 2 -o network.json\n"
      "Classes: podere train nn train-images-idx3-ubyte.gz --layers 128,64 --loss cross-entropy -o digits.json\n"
      "Servers: podere train nn digits.csv --layers 128,64 --loss cross-entropy --workers 2 --servers 1 --async -o "
      "d.json");
}

void define_mlp(CLI::App& app, NetworkOptions& options) {
  neural::Options& network = options.network;
  network.hidden = {30, 30};
  network.activation = neural::Activation::kSigmoid;
  network.initialization = neural::Initialization::kGlorot;
  network.loss = neural::Loss::kCrossEntropy;
  network.optimizer = neural::Optimizer::kLbfgs;
  network.epochs = 100;
  add_data_options(app, options.run);
  add_long_run_options(app, options.run, network.validation_fraction);
  define_layers(app, options);
  const InGroup group(app, kTraining);
  define_from(app, options.run);
  Adder add(app);
  add.whole("--iterations", network.epochs, 1, neural::kMaxEpochs, "Maximum number of iterations of L-BFGS");
  add.real("--tolerance", network.tolerance, "Stop when the loss falls by less than this share");
  add.whole("--history", network.history, 1, neural::kMaxHistory, "Number of past steps that L-BFGS remembers");
  add.real("--l2", network.l2, "Penalty: half of this times the sum of squared weights");
  define_data(app, network);
  define_steps(app, options);
  add_run_options(app, options.run);
  make_common(app, {"--layers", "--loss", "--iterations", "--validation", "--executors"});
  app.footer("Example: podere train mlp higgs.csv --rows :12000 --layers 30,30 --executors 2 -o network.json");
}

/// "20 epochs", "12 epochs, the best of 17 (stopped early)".
std::string epochs_text(const Json& facts) {
  const auto n_kept = facts.at("epochs").get<std::uint64_t>();
  const auto n_run = facts.at("epochs_run").get<std::uint64_t>();
  std::string text = with_commas(n_kept);
  if (n_run > n_kept) text += fmt::format(", the best of {}", with_commas(n_run));
  return text + (facts.at("was_stopped").get<bool>()     ? " (interrupted)"
                 : facts.at("stopped_early").get<bool>() ? " (stopped early)"
                 : facts.at("reached_max_steps").get<bool>()
                     ? fmt::format(" (ended after {} steps)", with_commas(facts.at("steps").get<std::uint64_t>()))
                 : facts.at("has_converged").get<bool>() ? " (converged)"
                                                         : "");
}

using Lines = std::vector<std::pair<std::string, Json>>;

/// The unit in which numbers are learned, and losses reported.
void add_target(const Json& facts, Lines& lines) {
  const Json scaling = facts.value("target_scaling", Json());
  if (scaling.is_null()) return;
  const auto mean = scaling.at("mean").get<double>();
  const auto scale = scaling.at("scale").get<double>();
  if (mean == 0 && scale == 1) return;
  lines.emplace_back("numbers to learn", fmt::format("mean {:.4g}, standard deviation {:.4g}: losses are of (y - mean) "
                                                     "/ deviation",
                                                     mean, scale));
}

/// How workers and servers got on.
void add_servers(const Json& facts, Lines& lines) {
  const Json& servers = facts.at("parameter_servers");
  if (servers.is_null()) return;
  const int staleness = servers.at("staleness").get<int>();
  lines.emplace_back("workers + servers",
                     fmt::format("{} + {}, {}", servers.at("workers").get<int>(), servers.at("servers").get<int>(),
                                 staleness == 0 ? "in step" : "asynchronous: another run gives another network"));
  lines.emplace_back("staleness of gradients",
                     fmt::format("{:.1f} steps on average, at most {}", servers.at("mean_staleness").get<double>(),
                                 servers.at("most_staleness").get<int>()));
  const auto rates = servers.at("steps_per_second").get<std::vector<double>>();
  const auto waits = servers.at("wait_shares").get<std::vector<double>>();
  lines.emplace_back(
      "steps per second",
      fmt::format("{:.0f} of each worker, which waits {:.0f} % of its time", fmt::join(rates, ", "),
                  100 * std::accumulate(waits.begin(), waits.end(), 0.0) / static_cast<double>(waits.size())));
}

int run_network(NetworkOptions& options) {
  check(options.run);
  try {
    settle_servers(options);
    neural::validate(options.network);
    neural::check_all_are_used(options.network);
  } catch (const InputError& error) {
    throw_input_error("--{}", error.what());
  }
  const bool validates =
      !options.run.validation.empty() || options.network.validation_fraction > 0 || options.run.folds.n > 0;
  if (options.network.early_stopping_epochs > 0 && !validates) {
    throw_input_error("--early-stopping needs --validation, --validation-fraction or --folds");
  }
  jobs::TrainJob job = job_of(options.run);
  job.algorithm = "network";
  job.options = json_of_fields(neural::JobOptions{options.network, options.max_steps, options.checkpoint_steps});
  if (options.chose_loss) job.options["loss"] = to_string(options.network.loss);
  const bool is_lbfgs = options.network.optimizer == neural::Optimizer::kLbfgs;
  const std::string unit = is_lbfgs ? "iterations" : "epochs";
  const TrainingWords words{
      [&](const Json& facts) {
        Lines lines = {{"layers", facts.at("layers").get<std::string>()},
                       {"weights", with_commas(facts.at("weights").get<std::uint64_t>())},
                       {unit, epochs_text(facts)}};
        add_target(facts, lines);
        add_servers(facts, lines);
        return lines;
      },
      "prepare", [&](const Json& facts) { return fmt::format("{} {}", facts.at("epochs").get<int>(), unit); }, unit};
  return run_training(options.run, std::move(job), words);
}

}  // namespace

void add_train_networks(CLI::App& train, Command& chosen) {
  add_command<NetworkOptions>(train, chosen, "nn", "A dense network, by stochastic gradient descent", define_nn,
                              run_network);
  add_command<NetworkOptions>(train, chosen, "mlp", "A dense network, by L-BFGS over all rows", define_mlp,
                              run_network);
}

}  // namespace podere::cli
