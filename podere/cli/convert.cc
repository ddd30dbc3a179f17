// podere convert: models to and from other programs.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <utility>
#include <vector>

#include "podere/base/atomic_file.h"
#include "podere/base/json.h"
#include "podere/base/printable.h"
#include "podere/classify/picture_layer.h"
#include "podere/classify/preprocessing.h"
#include "podere/cli/arguments.h"
#include "podere/cli/help.h"
#include "podere/cli/outputs.h"
#include "podere/cli/print.h"
#include "podere/exchange/format.h"
#include "podere/exchange/join_head.h"
#include "podere/exchange/name_categories.h"

namespace podere::cli {
namespace {

using exchange::Format;

struct ConvertOptions {
  OutputOptions output;
  std::string model;
  std::string path;
  std::string to = "podere";
  exchange::Target target;
  classify::NetworkOptions network;
};

void define_convert(CLI::App& app, ConvertOptions& options) {
  app.add_option("MODEL", options.model,
                 "Model file of Podere, XGBoost (JSON, UBJSON, binary), LightGBM (text) or CatBoost (JSON)")
      ->required()
      ->check(file_name())
      ->type_name("");
  app.add_option("-o,--output", options.path, "File to write")->required()->transform(output_file())->type_name("FILE");
  app.add_option("--to", options.to, "Format to write; podere and onnx for networks too, xgboost is JSON [podere]")
      ->check(CLI::IsMember(exchange::written_formats()).description(""))
      ->type_name(choices(exchange::written_formats()));
  app.add_option_function<std::size_t>(
         "--target", [&options](std::size_t target) { options.target = target; },
         "Of a model that predicts several targets or quantiles the one to take, counted from 0")
      ->transform(whole_number(0, kMostWhole))
      ->type_name("K");
  app.add_option("--network", options.network.path,
                 "ONNX file of the network whose features MODEL learned: writes both as one ONNX file for podere "
                 "classify, with its preprocessing and the names of its classes in files beside it")
      ->check(file_name())
      ->type_name("FILE")
      ->excludes("--to")
      ->excludes("--target");
  app.add_option("--layer", options.network.layer, "Layer of the network [its output]")
      ->type_name("NAME")
      ->needs("--network");
  app.add_option("--preprocess", options.network.preprocess,
                 "How values of pictures come to the network, as podere classify has it [NETWORK.json]")
      ->type_name("NAME|FILE")
      ->needs("--network");
  app.add_option("--size", options.network.size, "Height and width of what the network gets, if it takes any")
      ->transform(whole_number(1, classify::kMostSide))
      ->type_name("N")
      ->needs("--network");
  app.add_option("--bits", options.network.bits,
                 "Of pictures with values above 8 bits how many are shown, if MODEL learned so")
      ->transform(whole_number(classify::kLeastBits, classify::kMostBits))
      ->type_name("N")
      ->needs("--network");
  add_output_options(app, options.output);
  app.footer("Example: podere convert xgboost.json -o model.json && podere convert model.json --to onnx -o model.onnx");
}

/// {"c": ["a", "b"]}: the categories of each column by code.
Json categories_of(const table::Schema& schema) {
  auto categories = Json::object();
  for (const auto& [feature, texts] : schema.categories) {
    if (texts) categories[schema.features[feature]] = static_cast<const std::vector<std::string>&>(*texts);
  }
  return categories;
}

/// What users of a model that was exported must know of its categories, a line each.
std::string codes_in_words(const table::Schema& schema, const Format& to) {
  constexpr std::size_t kMostShown = 20;
  std::string lines;
  for (const auto& [feature, texts] : schema.categories) {
    if (!texts) continue;
    lines += fmt::format("Codes of {}:", printable(schema.features[feature]));
    for (std::size_t code = 0; code < std::min(texts->size(), kMostShown); ++code)
      lines += fmt::format("{} {} = {}", code == 0 ? "" : ",", code, printable((*texts)[code]));
    lines += texts->size() > kMostShown ? fmt::format(", ... ({} in all; --json has them)\n", texts->size()) : "\n";
  }
  if (lines.empty()) return lines;
  if (to.id == std::string_view("lightgbm"))
    return lines +
           "LightGBM reads the categories of data frames from the file (columns of dtype category); arrays take "
           "codes.\n";
  return lines + (to.name == std::string_view("XGBoost")
                      ? "XGBoost 3.1 and later reads the categories from the file. Earlier versions take codes: use\n"
                        "pandas.Categorical(column, categories=[...]) in this order, not astype('category').\n"
                        "Of columns with a text beyond ASCII, which XGBoost miscounts, all versions take the codes as\n"
                        "numbers: column.map({text: code, ...}).\n"
                      : "The graph takes codes: turn each category into its code first (metadata \"categories\").\n");
}

/// What the outputs of a model that was exported stand for; empty where its classes are numbers.
std::string classes_in_words(const table::Schema& schema) {
  std::string line;
  for (std::size_t k = 0; k < schema.classes.size(); ++k) {
    line += fmt::format("{} {} = {}", k == 0 ? "Classes:" : ",", k, printable(schema.classes[k]));
  }
  return line.empty() ? "" : line + "; the file that was written has their numbers alone.\n";
}

/// Says which columns of an imported model have codes that nothing explains.
void warn_of_codes(const table::Schema& schema, const Format& from) {
  const std::vector<std::string> names = exchange::unnamed_categories(schema);
  if (exchange::is_podere(from) || names.empty()) return;
  print_error(
      fmt::format("the file does not name the categories of {} (XGBoost before 3.1 and models trained on arrays do "
                  "not): values in data are read as the codes 0, 1, 2, ... of training",
                  fmt::join(names, ", ")));
}

/// Writes the network with its head, and beside it what podere classify needs to know.
int run_join(const ConvertOptions& options) {
  if (!options.path.ends_with(".onnx")) {
    throw_input_error(
        "--output is {}, the name of a network for pictures ends with .onnx: files beside it have the rest",
        printable(options.path));
  }
  const std::string& preprocess = options.network.preprocess;
  const auto beside = [&](const char* suffix) {
    return std::filesystem::path(options.path).replace_extension(suffix).string();
  };
  const std::vector<NamedFile> outputs = {
      {"--output", options.path}, {"the preprocessing", beside(".json")}, {"the classes", beside(".txt")}};
  check_outputs(outputs, {{"MODEL", options.model},
                          {"--network", options.network.path},
                          {"--preprocess", classify::is_preprocessing_name(preprocess) ? "" : preprocess},
                          {"the file beside --network", classify::preprocessing_file_of(options.network.path)}});
  const int facts_to = facts_descriptor(outputs);
  const auto read = exchange::load_model(options.model);
  const exchange::JoinedNetwork joined = exchange::join_head(*read.model, options.network);
  exchange::write_joined(joined, {options.path, beside(".json"), beside(".txt")});
  if (options.output.json) {
    print_json(Json{{"from", read.format.name}, {"to", "ONNX"}, {"classes", joined.classes}, {"output", options.path}},
               facts_to);
  } else {
    print(fmt::format("Network and head as ONNX: {0}, with {1} and {2}\nUse: podere classify PICTURES --model {0} "
                      "--labels {2} -o labels.csv\n",
                      options.path, beside(".json"), beside(".txt")),
          facts_to);
  }
  return kDone;
}

int run_convert(const ConvertOptions& options) {
  if (!options.network.path.empty()) return run_join(options);
  const std::vector<NamedFile> outputs = {{"--output", options.path}};
  check_outputs(outputs, {{"MODEL", options.model}});
  const int facts_to = facts_descriptor(outputs);
  const auto [from, model] = exchange::load_model(options.model, options.target);
  const Format& to = exchange::format_called(options.to);
  const std::string content = to.write(*model);
  AtomicFile file(options.path);
  file.write(content);
  file.commit();

  const table::Schema& schema = model->schema();
  warn_of_codes(schema, from);
  const std::string lost = exchange::what_is_lost(to, *model);
  if (!lost.empty()) print_error(lost);
  const auto facts = model->describe().facts;
  if (options.output.json) {
    Json json{{"from", from.name}, {"to", to.name}};
    if (model->n_rounds() > 0) json["rounds"] = model->n_rounds();
    for (auto [name, value] : facts) {
      std::ranges::replace(name, ' ', '_');
      json[name] = value;
    }
    json["categories"] = categories_of(schema);
    if (!schema.classes.empty()) json["classes"] = schema.classes;
    if (!lost.empty()) json["note"] = lost;
    json["output"] = options.path;
    print_json(json, facts_to);
  } else {
    print(fmt::format("{} model as {}: {}\n", from.name, to.name, options.path) + facts_text(facts) +
              (exchange::is_podere(to) ? "" : codes_in_words(schema, to) + classes_in_words(schema)),
          facts_to);
  }
  return kDone;
}

}  // namespace

void add_convert(CLI::App& app, Command& chosen) {
  add_command<ConvertOptions>(
      app, chosen, "convert",
      "Import models of XGBoost, LightGBM and CatBoost, export models to XGBoost, LightGBM and ONNX", define_convert,
      run_convert);
}

}  // namespace podere::cli
