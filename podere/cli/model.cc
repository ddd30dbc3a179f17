// podere model: what is in a model file.
#include "podere/algorithm/model_file.h"
#include "podere/catalog/catalog.h"
#include "podere/cli/arguments.h"
#include "podere/cli/print.h"

namespace podere::cli {
namespace {

struct ModelOptions {
  OutputOptions output;
  std::string model;
};

void define_model(CLI::App& app, ModelOptions& options) {
  add_model_argument(app, options.model);
  add_output_options(app, options.output);
  app.footer("Example: podere model model.json");
}

/// Numbers as people read them.
std::string shown(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  return value.is_number_integer() ? with_commas(value.get<std::uint64_t>()) : number(value);
}

int run_model(const ModelOptions& options) {
  const auto model = catalog::model_from_text(algorithm::read_model_text(options.model), options.model);
  const algorithm::Description description = model->describe();
  if (options.output.json) {
    print_json(description.json);
    return kDone;
  }
  std::vector<std::pair<std::string, std::string>> facts;
  for (const auto& [name, value] : description.facts) facts.emplace_back(name, shown(value));
  TextTable table(description.head);
  for (const auto& line : description.lines) {
    std::vector<std::string> cells;
    for (const auto& value : line) cells.push_back(shown(value));
    table.add(std::move(cells));
  }
  print(facts_text(facts));
  print("\n" + table.text());
  return kDone;
}

}  // namespace

void add_model(CLI::App& app, Command& chosen) {
  add_command<ModelOptions>(app, chosen, "model", "Show a model: what its features do for it, or its layers",
                            define_model, run_model);
}

}  // namespace podere::cli
