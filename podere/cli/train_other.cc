// podere train NAME: algorithms whose options the command line takes from the catalog.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "podere/base/error.h"
#include "podere/base/number.h"
#include "podere/catalog/catalog.h"
#include "podere/cli/arguments.h"
#include "podere/cli/print.h"
#include "podere/cli/training.h"

namespace podere::cli {
namespace {

using algorithm::Json;

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
    if (const auto whole = parse_count(text)) return *whole;
    throw CLI::ValidationError(option, fmt::format("'{}' is not a whole number from 0", text));
  }
  if (const auto real = parse_real(text)) return *real;
  throw CLI::ValidationError(option, fmt::format("'{}' is not a number", text));
}

void add_option(CLI::App& app, const algorithm::OptionInfo& info, Json& chosen) {
  std::string option = "--" + info.name;
  std::ranges::replace(option, '_', '-');
  if (info.default_value.is_boolean()) {
    const std::string flag = info.default_value.get<bool>() ? "--no-" + option.substr(2) : option;
    app.add_flag_callback(
        flag, [&chosen, info] { chosen[info.name] = !info.default_value.get<bool>(); }, info.help);
    return;
  }
  app.add_option_function<std::string>(
         option,
         [&chosen, info, option](const std::string& text) {
           chosen[info.name] = parse_like(info.default_value, option, text);
         },
         fmt::format(
             "{} [{}]", info.help,
             info.default_value.is_string() ? info.default_value.get<std::string>() : info.default_value.dump()))
      ->type_name(info.default_value.is_string()           ? "TEXT"
                  : info.default_value.is_number_integer() ? "N"
                                                           : "X");
}

void define(CLI::App& app, OtherOptions& options) {
  add_data_options(app, options.run);
  for (const algorithm::OptionInfo& info : options.algorithm->options()) add_option(app, info, options.chosen);
  if (options.algorithm->trainer(Json::object())->can_stream()) {
    app.add_flag("--low-memory", options.low_memory, "Do not hold DATA, which is read several times");
  }
  add_run_options(app, options.run);
  app.footer(fmt::format("Example: podere train {} higgs.csv --executors 2 -o model.json", options.algorithm->name()));
}

int run(const OtherOptions& options) {
  options.algorithm->trainer(options.chosen);  // throws for what is out of range, before the executors start
  session::TrainJob job = job_of(options.run);
  job.algorithm = options.algorithm->name();
  job.options = options.chosen;
  job.low_memory = options.low_memory;
  const TrainingWords words{[](const Json&) { return std::vector<std::pair<std::string, std::string>>(); }, "",
                            [](const Json&) { return std::string("some of the training"); }};
  return run_training(options.run, job, words);
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
