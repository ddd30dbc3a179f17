// podere predict: one line per row from a model and a table.
#include <fmt/format.h>

#include "podere/cli/arguments.h"
#include "podere/cli/group.h"
#include "podere/cli/help.h"
#include "podere/cli/outputs.h"
#include "podere/cli/print.h"
#include "podere/cli/shared_file.h"
#include "podere/jobs/predict_job.h"

namespace podere::cli {
namespace {

struct PredictOptions {
  OutputOptions output;
  GroupOptions group;
  source::SourceSpec source;
  std::string model;
  std::string path;
  bool margin = false;
  std::size_t rounds = 0;
};

void define_predict(CLI::App& app, PredictOptions& options) {
  add_model_argument(app, options.model);
  add_source_options(app, "DATA", options.source);
  app.add_option("-o,--output", options.path, "File to write: a line per row, numbers separated by commas")
      ->required()
      ->transform(output_file())
      ->type_name("FILE");
  app.add_flag("--margin", options.margin,
               "Write margins (sums of leaf values, or of a network's last layer) instead of probabilities");
  add_rounds_option(app, options.rounds);
  add_group_options(app, options.group);
  add_output_options(app, options.output);
  add_metrics_option(app, options.output);
  make_common(app, {"--executors"});
  app.footer("Example: podere predict model.json events.csv --label 0 -o probabilities.csv");
}

int run_predict(const PredictOptions& options) {
  const int facts_to = prepare_outputs(
      {{"-o", options.path}},
      {{"MODEL", options.model}, named_file("DATA", options.source), labels_file("--labels", options.source)});
  SharedFile file(options.path);
  auto facts = run_job(options.group, options.output,
                       jobs::PredictJob{options.source, options.model, file.path(), options.margin, options.rounds},
                       [&](const Json&) { file.commit(); });
  facts["output"] = options.path;
  show_result(options.output, facts, facts_to, [&] {
    print(fmt::format("{} predictions: {}\n", with_commas(facts.at("rows").get<std::uint64_t>()), options.path),
          facts_to);
  });
  return kDone;
}

}  // namespace

void add_predict(CLI::App& app, Command& chosen) {
  add_command<PredictOptions>(app, chosen, "predict", "Apply a model to data", define_predict, run_predict);
}

}  // namespace podere::cli
