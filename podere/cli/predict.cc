// podere predict: one line per row from a model and a table.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <optional>
#include <string>
#include <vector>

#include "podere/base/printable.h"
#include "podere/cli/arguments.h"
#include "podere/cli/group.h"
#include "podere/cli/help.h"
#include "podere/cli/outputs.h"
#include "podere/cli/print.h"
#include "podere/cli/run_report.h"
#include "podere/cli/shared_file.h"
#include "podere/jobs/predict_job.h"
#include "podere/jobs/report_facts.h"

namespace podere::cli {
namespace {

struct PredictOptions {
  OutputOptions output;
  GroupOptions group;
  source::SourceSpec source;
  std::string model;
  std::string path;
  bool margin = false;
  std::optional<jobs::Prediction> as;
  std::size_t rounds = 0;
};

void define_predict(CLI::App& app, PredictOptions& options) {
  add_model_argument(app, options.model);
  add_source_options(app, "DATA", options.source);
  app.add_option("-o,--output", options.path, "File to write: a line per row, fields separated by commas")
      ->required()
      ->transform(output_file())
      ->type_name("FILE");
  app.add_flag(
      "--margin", options.margin,
      "Write margins (sums of leaf values, or of a network's last layer; of clusters minus squared distances, or "
      "logarithms of weighted densities; of an isolation forest the score minus the threshold, and the mean length of "
      "ways through the trees) instead of probabilities");
  add_choice<jobs::Prediction>(app, "--as", options.as, "probability; of clusters class",
                               "What to write of classes and clusters: probabilities, the most likely one, or both");
  add_rounds_option(app, options.rounds);
  add_group_options(app, options.group);
  add_output_options(app, options.output);
  add_job_output_options(app, options.output);
  make_common(app, {"--as", "--executors"});
  app.footer("Example: podere predict model.json events.csv --label 0 -o probabilities.csv");
}

/// What the numbers of a line in the file are; empty where there is nothing to say.
std::string what_is_written(const Json& facts, const PredictOptions& options) {
  if (facts.contains("outputs")) {
    return fmt::format(" ({})", fmt::join(facts.at("outputs").get<std::vector<std::string>>(), ", "));
  }
  if (!facts.contains("classes") || facts.at("as") == to_string(jobs::Prediction::kClass)) return "";
  const auto classes = facts.at("classes").get<std::vector<std::string>>();
  const std::string of = options.margin ? "margin of " : "probability of ";
  if (classes.size() == 2 && !facts.at("is_of_each_class").get<bool>())
    return fmt::format(" ({}{})", of, printable(classes[1]));
  return fmt::format(" ({}{})", of, printable_list(classes));
}

int run_predict(const PredictOptions& options) {
  const std::vector<NamedFile> outputs = {{"-o", options.path}, {"--report", options.output.report}};
  check_outputs(outputs, options.source);
  const int facts_to = prepare_outputs(
      outputs, {{"MODEL", options.model}, named_file("DATA", options.source), labels_file("--labels", options.source)});
  SharedFile file(options.path);
  auto facts =
      run_job(options.group, named_run(options.output, "predict", options.model, jobs::name_of(options.source)),
              jobs::PredictJob{options.source, options.model, file.path(), options.margin, options.as, options.rounds},
              [&](const Json&) { file.commit(); });
  facts["output"] = options.path;
  show_result(options.output, facts, facts_to, [&] {
    print(fmt::format("{} predictions: {}{}\n", with_commas(facts.at("rows").get<std::uint64_t>()), options.path,
                      what_is_written(facts, options)),
          facts_to);
  });
  return kDone;
}

}  // namespace

void add_predict(CLI::App& app, Command& chosen) {
  add_command<PredictOptions>(app, chosen, "predict", "Apply a model to data", define_predict, run_predict);
}

}  // namespace podere::cli
