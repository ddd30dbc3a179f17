// podere model: what is in a model file.
#include "podere/base/printable.h"
#include "podere/cli/arguments.h"
#include "podere/cli/print.h"
#include "podere/exchange/format.h"

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

int run_model(const ModelOptions& options) {
  const auto [format, model] = exchange::load_model(options.model);
  algorithm::Description description = model->describe();
  if (const auto& classes = model->schema().classes; !classes.empty()) {
    description.facts.insert(description.facts.begin() + 1, {"classes", printable_list(classes)});
    description.json["classes"] = classes;
  }
  if (const std::string& pictures = model->schema().pictures; !pictures.empty()) {
    description.facts.emplace_back("pictures", pictures);
    description.json["pictures"] = pictures;
  }
  if (!exchange::is_podere(format)) {
    description.facts.insert(description.facts.begin(), {"format", format.name});
    description.json["format"] = format.name;
  }
  if (options.output.json) {
    print_json(description.json);
    return kDone;
  }
  TextTable table(description.head);
  for (const auto& line : description.lines) {
    std::vector<std::string> cells;
    for (const auto& value : line) cells.push_back(value_text(value));
    table.add(std::move(cells));
  }
  print(facts_text(description.facts));
  print("\n" + table.text());
  return kDone;
}

}  // namespace

void add_model(CLI::App& app, Command& chosen) {
  add_command<ModelOptions>(app, chosen, "model",
                            "Show what is in a model: its features with their importance, or its layers", define_model,
                            run_model);
}

}  // namespace podere::cli
