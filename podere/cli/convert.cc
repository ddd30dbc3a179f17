// podere convert: models to and from other programs.
#include <fmt/format.h>

#include <filesystem>
#include <map>

#include "podere/base/atomic_file.h"
#include "podere/cli/arguments.h"
#include "podere/cli/outputs.h"
#include "podere/cli/print.h"
#include "podere/exchange/format.h"

namespace podere::cli {
namespace {

using exchange::Format;

struct ConvertOptions {
  OutputOptions output;
  std::string model;
  std::string path;
  Format to = Format::kPodere;
};

void define(CLI::App& app, ConvertOptions& options) {
  static const std::map<std::string, Format> formats{
      {"podere", Format::kPodere}, {"xgboost", Format::kXgboost}, {"onnx", Format::kOnnx}};
  app.add_option("MODEL", options.model, "Model file of Podere, XGBoost (JSON) or LightGBM (text); which is found out")
      ->required()
      ->type_name("");
  app.add_option("-o,--output", options.path, "File to write")->required()->check(file_name())->type_name("FILE");
  app.add_option_function<std::string>(
         "--to", [&options](const std::string& text) { options.to = formats.at(text); },
         "Format to write: podere, xgboost (JSON) or onnx [podere]")
      ->check(CLI::IsMember(formats))
      ->type_name("FORMAT");
  add_output_options(app, options.output);
  app.footer("Example: podere convert xgboost.json -o model.json && podere convert model.json --to onnx -o model.onnx");
}

int run(const ConvertOptions& options) {
  const std::vector<NamedFile> outputs = {{"--output", options.path}};
  check_outputs(outputs, {{"MODEL", options.model}});
  const int facts_to = facts_descriptor(outputs);
  const auto [from, model] = exchange::load_model(options.model);
  const std::string content = exchange::write_model(model, options.to);
  AtomicFile file(options.path);
  file.write(content);
  file.commit();

  const std::string objective = tree::to_string(model.options.objective);
  if (options.output.json) {
    print_json({{"from", exchange::to_string(from)},
                {"to", exchange::to_string(options.to)},
                {"objective", objective},
                {"rounds", model.n_rounds()},
                {"trees", model.trees.size()},
                {"features", model.schema.features.size()},
                {"output", options.path}},
               facts_to);
  } else {
    print(fmt::format("{} model of {} trees ({}) as {}: {}\n", exchange::to_string(from),
                      with_commas(model.trees.size()), objective, exchange::to_string(options.to), options.path),
          facts_to);
  }
  return kDone;
}

}  // namespace

void add_convert(CLI::App& app, Command& chosen) {
  add_command<ConvertOptions>(app, chosen, "convert", "Turn models of XGBoost and LightGBM into Podere's, and back",
                              define, run);
}

}  // namespace podere::cli
