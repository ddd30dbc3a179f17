// podere train NAME: algorithms whose options the command line takes from the catalog.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "podere/base/error.h"
#include "podere/base/number.h"
#include "podere/catalog/catalog.h"
#include "podere/cli/arguments.h"
#include "podere/cli/help.h"
#include "podere/cli/print.h"
#include "podere/cli/training.h"

namespace podere::cli {
namespace {

struct OtherOptions {
  TrainingOptions run;
  bool low_memory = false;
  const algorithm::Algorithm* algorithm = nullptr;
  Json chosen = Json::object();  // options that were given
};

/// A value of the type of `like`. Throws CLI::ValidationError.
Json parse_like(const Json& like, const std::string& option, const std::string& text) {
  if (like.is_string()) return text;
  if (like.is_number_integer()) {
    const bool is_negative = !like.is_number_unsigned() && text.starts_with('-');
    const auto whole = parse_count(std::string_view(text).substr(is_negative ? 1 : 0));
    if (whole && is_negative) return -static_cast<std::int64_t>(*whole);
    if (whole) return *whole;
    throw CLI::ValidationError(option, fmt::format("'{}' is not a whole number", text));
  }
  if (const auto real = parse_real(text)) return *real;
  throw CLI::ValidationError(option, fmt::format("'{}' is not a number", text));
}

void add_option(CLI::App& app, const algorithm::DescribedOption& described, Json& chosen) {
  std::string option = "--" + (described.name.starts_with("n_") ? described.name.substr(2) : described.name);
  std::ranges::replace(option, '_', '-');
  if (described.default_value.is_boolean()) {
    const std::string flag = described.default_value.get<bool>() ? "--no-" + option.substr(2) : option;
    app.add_flag_callback(
        flag, [&chosen, described] { chosen[described.name] = !described.default_value.get<bool>(); }, described.help);
    return;
  }
  app.add_option_function<std::string>(
         option,
         [&chosen, described, option](const std::string& text) {
           chosen[described.name] = parse_like(described.default_value, option, text);
         },
         fmt::format("{} [{}]", described.help,
                     described.default_value.is_string() ? described.default_value.get<std::string>()
                                                         : described.default_value.dump()))
      ->type_name(described.default_value.is_string()           ? "TEXT"
                  : described.default_value.is_number_integer() ? "N"
                                                                : "X");
}

void define(CLI::App& app, OtherOptions& options) {
  add_data_options(app, options.run);
  if (!table::uses_labels(options.algorithm->trainer(Json::object())->label_rules())) {
    app.get_option("--label")->description(
        "Column that is left out as the label, by name or position from 0 [none: all columns are features]");
    app.remove_option(app.get_option("--positive"));
  }
  const InGroup training(app, kTraining);
  for (const algorithm::DescribedOption& described : options.algorithm->options())
    add_option(app, described, options.chosen);
  if (options.algorithm->abilities().streams) {
    app.add_flag("--low-memory", options.low_memory, "Do not keep DATA in memory; reads it several times")
        ->group(kData);
  }
  add_run_options(app, options.run);
  make_common(app, {"--executors"});
  app.footer(fmt::format("Example: podere train {} higgs.csv --executors 2 -o model.json", options.algorithm->name()));
}

std::vector<std::pair<std::string, Json>> lines_of_clusters(const Json& facts) {
  const bool has_converged = facts.at("has_converged").get<bool>();
  std::vector<std::pair<std::string, Json>> lines = {
      {"iterations",
       fmt::format("{}{}", facts.at("iterations").get<int>(),
                   has_converged ? "" : ", not converged: more --max-iterations may find better clusters")}};
  if (const auto n_empty = facts.at("empty_clusters").get<std::size_t>(); n_empty > 0) {
    lines.emplace_back("clusters without rows", n_empty);
  }
  return lines;
}

std::vector<std::pair<std::string, Json>> lines_of_anomalies(const Json& facts) {
  std::vector<std::pair<std::string, Json>> lines = {
      {"trees", fmt::format("{} of {} rows each", facts.at("trees").get<std::size_t>(),
                            with_commas(facts.at("sample").get<std::uint64_t>()))},
      {"threshold of the score", number(facts.at("threshold"))}};
  if (facts.contains("anomalies")) {
    lines.emplace_back("rows above it", with_commas(facts.at("anomalies").get<std::uint64_t>()));
  }
  return lines;
}

std::vector<std::pair<std::string, Json>> lines_of_kernel(const Json& facts) {
  std::vector<std::pair<std::string, Json>> lines = {
      {"random features", fmt::format("{}, gamma {}", with_commas(facts.at("random_features").get<std::uint64_t>()),
                                      number(facts.at("gamma")))},
      {"solver", fmt::format("{}, {} passes over the rows", facts.at("solver").get<std::string>(),
                             facts.at("passes").get<int>())}};
  if (facts.contains("has_converged")) {
    const bool has_converged = facts.at("has_converged").get<bool>();
    lines.emplace_back("converged", fmt::format("{}, the gradient is {} of that at the start",
                                                has_converged ? "yes" : "no", number(facts.at("residual"))));
  }
  return lines;
}

/// What was found on the training rows.
std::vector<std::pair<std::string, Json>> lines_of_facts(const Json& facts) {
  std::vector<std::pair<std::string, Json>> lines;
  if (facts.contains("clusters")) lines = lines_of_clusters(facts);
  if (facts.contains("threshold")) lines = lines_of_anomalies(facts);
  if (facts.contains("random_features")) lines = lines_of_kernel(facts);
  for (const auto& [name, value] : facts.items()) {
    constexpr std::string_view kPrefix = "validation_";
    if (!name.starts_with(kPrefix) || !value.is_number() || name == "validation_rows") continue;
    lines.emplace_back("validation " + measure_in_words(name.substr(kPrefix.size())), number(value));
  }
  for (const char* name : {"inertia", "log_likelihood", "bic", "aic", "root_mean_squared_error", "r2"}) {
    if (facts.contains(name) && facts.at(name).is_number())
      lines.emplace_back(measure_in_words(name), number(facts.at(name)));
  }
  return lines;
}

int run(const OtherOptions& options) {
  try {
    options.algorithm->trainer(options.chosen);  // what is out of range is refused before executors start
  } catch (const InputError& error) {
    const bool has_own_words = std::string_view(error.what()).starts_with("options.");
    throw_input_error("{}{}", has_own_words ? "" : "--", error.what());
  }
  jobs::TrainJob job = job_of(options.run);
  job.algorithm = options.algorithm->name();
  job.options = options.chosen;
  job.low_memory = options.low_memory;
  const TrainingWords words{lines_of_facts, "", [](const Json&) { return std::string("some of the training"); }};
  return run_training(options.run, std::move(job), words);
}

}  // namespace

void add_train_others(CLI::App& train, Command& chosen) {
  for (const algorithm::Algorithm* algorithm : catalog::algorithms()) {
    if (algorithm->summary().empty()) continue;
    add_command<OtherOptions>(
        train, chosen, algorithm->name(), algorithm->summary(),
        [&](CLI::App& app, OtherOptions& options) {
          options.algorithm = algorithm;
          define(app, options);
        },
        run);
  }
}

}  // namespace podere::cli
