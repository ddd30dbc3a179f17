// podere evaluate: how good a model is on a table.
#include <fmt/format.h>

#include <filesystem>

#include "podere/base/atomic_file.h"
#include "podere/base/error.h"
#include "podere/base/number.h"
#include "podere/cli/arguments.h"
#include "podere/cli/group.h"
#include "podere/cli/help.h"
#include "podere/cli/outputs.h"
#include "podere/cli/print.h"
#include "podere/cli/run_report.h"
#include "podere/evaluate/roc_svg.h"
#include "podere/jobs/evaluate_job.h"
#include "podere/jobs/report_facts.h"

namespace podere::cli {
namespace {

struct EvaluateOptions {
  OutputOptions output;
  GroupOptions group;
  source::SourceSpec source;
  std::string model;
  std::string roc;
  std::string plot;
  std::size_t rounds = 0;
  std::string staged;
};

void define_evaluate(CLI::App& app, EvaluateOptions& options) {
  add_model_argument(app, options.model);
  add_source_options(app, "DATA", options.source);
  app.get_option("--label")->description(
      "Column of the label, by name or position from 0 [the model's label, else the first]");
  app.add_option("--roc", options.roc, "Write the ROC curve as a table")
      ->transform(output_file())
      ->type_name("FILE.csv");
  app.add_option("--plot", options.plot, "Draw the ROC curve")->transform(output_file())->type_name("FILE.svg");
  add_rounds_option(app, options.rounds);
  // Into a text: CLI11 reads flags that are numbers by std::stoll, which has words of its own for wrong ones.
  app.add_flag("--staged{1}", options.staged, "Also measure after each round, or every K rounds (--staged=K)");
  add_group_options(app, options.group);
  add_output_options(app, options.output);
  add_job_output_options(app, options.output);
  make_common(app, {"--label", "--executors"});
  app.footer("Example: podere evaluate model.json higgs.csv --rows 12000: --plot roc.svg");
}

evaluate::Roc roc_of(const Json& result) {
  evaluate::Roc roc{.auc = real(result.at("auc")), .points = {}};
  for (const auto& point : result.at("roc"))
    roc.points.push_back({real(point.at(0)), real(point.at(1)), real(point.at(2))});
  return roc;
}

std::string roc_csv(const evaluate::Roc& roc) {
  std::string text = "threshold,false_positive_rate,true_positive_rate\n";
  for (const auto& point : roc.points) {
    text += fmt::format("{},{},{}\n", point.threshold, point.false_positive_rate, point.true_positive_rate);
  }
  return text;
}

std::string confusion_text(const Json& confusion, const Json& label) {
  std::vector<std::string> names;
  for (std::size_t k = 0; k < confusion.size(); ++k) names.push_back(std::to_string(k));
  const auto classes = label.find("classes");
  const bool are_texts = classes != label.end() && classes->size() == names.size() && classes->at(0).is_string();
  if (are_texts) names = classes->get<std::vector<std::string>>();
  std::vector<std::string> header = {"true \\ predicted"};
  header.insert(header.end(), names.begin(), names.end());
  TextTable table(std::move(header));
  for (std::size_t k = 0; k < confusion.size(); ++k) {
    std::vector<std::string> row = {names[k]};
    for (const auto& weight : confusion[k]) row.push_back(fmt::format("{:.10g}", weight.get<double>()));
    table.add(std::move(row));
  }
  return table.text();
}

/// A line for each stage, with its measures beside each other.
std::string stages_text(const Json& stages) {
  std::vector<std::string> header;
  for (const auto& [name, ignored] : stages.at(0).items()) header.push_back(in_words(name));
  TextTable table(std::move(header));
  for (const auto& stage : stages) {
    std::vector<std::string> row;
    for (const auto& [name, value] : stage.items()) row.push_back(number(value));
    table.add(std::move(row));
  }
  return table.text();
}

void print_measures(const Json& result, int descriptor) {
  std::vector<std::pair<std::string, Json>> lines = {{"label", label_text(result.at("label"))},
                                                     {"rows", with_commas(result.at("rows").get<std::uint64_t>())}};
  if (result.contains("auc")) {
    lines.emplace_back("AUC", result["auc"].is_number() ? number(result["auc"]) : "undefined (one class only)");
  }
  for (const char* name :
       {"accuracy", "log_loss", "mean_poisson_deviance", "pinball_loss", "root_mean_squared_error",
        "mean_absolute_error", "r2", "inertia", "silhouette", "silhouette_rows", "log_likelihood", "bic", "aic",
        "anomalies", "anomaly_share", "median_score", "score_percentile_95", "score_percentile_99", "largest_score"}) {
    if (result.contains(name)) lines.emplace_back(measure_in_words(name), number(result[name]));
  }
  print(facts_text(lines), descriptor);
  if (result.contains("stages")) print("\n" + stages_text(result["stages"]), descriptor);
  if (result.contains("confusion")) print("\n" + confusion_text(result["confusion"], result["label"]), descriptor);
}

/// Of --staged: 0 where it was not given.
std::size_t rounds_of_stage(const std::string& text) {
  if (text.empty()) return 0;
  const auto n_rounds = parse_count(text);
  if (!n_rounds || *n_rounds == 0) throw_input_error("--staged: '{}' is not a whole number from 1", text);
  return *n_rounds;
}

int run_evaluate(const EvaluateOptions& options) {
  const std::size_t staged = rounds_of_stage(options.staged);
  const std::vector<NamedFile> outputs = {
      {"--roc", options.roc}, {"--plot", options.plot}, {"--report", options.output.report}};
  check_outputs(outputs, options.source);
  const int facts_to = prepare_outputs(
      outputs, {{"MODEL", options.model}, named_file("DATA", options.source), labels_file("--labels", options.source)});
  std::optional<AtomicFile> roc_file;
  std::optional<AtomicFile> plot_file;
  if (!options.roc.empty()) roc_file.emplace(options.roc);
  if (!options.plot.empty()) plot_file.emplace(options.plot);
  const OutputOptions output = named_run(options.output, "evaluate", options.model, jobs::name_of(options.source));
  auto result = run_job(options.group, output,
                        jobs::EvaluateJob{options.source, options.model, roc_file || plot_file ? jobs::kRocPoints : 0,
                                          options.rounds, staged, !output.report.empty()});
  if ((roc_file || plot_file) && !result.contains("roc")) {
    throw_input_error("--roc and --plot need a model of two classes, this one is {}", result.at("objective").dump());
  }
  if (result.contains("roc")) {
    const evaluate::Roc roc = roc_of(result);
    if (roc_file) roc_file->write(roc_csv(roc));
    if (plot_file) plot_file->write(evaluate::roc_svg(roc, options.source.location));
    if (roc_file) roc_file->commit();
    if (plot_file) plot_file->commit();
    result.erase("roc");
  }
  show_result(options.output, result, facts_to, [&] { print_measures(result, facts_to); });
  return kDone;
}

}  // namespace

void add_evaluate(CLI::App& app, Command& chosen) {
  add_command<EvaluateOptions>(app, chosen, "evaluate", "Measure a model on labeled data", define_evaluate,
                               run_evaluate);
}

}  // namespace podere::cli
