// podere explain: why a model predicts what it does.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "podere/base/atomic_file.h"
#include "podere/cli/arguments.h"
#include "podere/cli/group.h"
#include "podere/cli/help.h"
#include "podere/cli/outputs.h"
#include "podere/cli/print.h"
#include "podere/cli/run_report.h"
#include "podere/cli/shared_file.h"
#include "podere/evaluate/importance_svg.h"
#include "podere/jobs/explain_job.h"
#include "podere/jobs/report_facts.h"

namespace podere::cli {
namespace {

constexpr std::size_t kMostBars = 20;

struct ExplainOptions {
  OutputOptions output;
  GroupOptions group;
  source::SourceSpec source;
  std::string model;
  std::string path;
  std::string plot;
  int repeats = 0;
  std::uint64_t seed = 0;
};

void define_explain(CLI::App& app, ExplainOptions& options) {
  add_model_argument(app, options.model);
  add_source_options(app, "DATA", options.source);
  app.get_option("--label")->description(
      "Column of the label, by name or position, for --permutation [the model's label, else the first]");
  app.add_option("-o,--output", options.path, "Write the SHAP values and the bias of each row; they sum to its margin")
      ->transform(output_file())
      ->type_name("FILE.csv");
  app.add_option("--permutation", options.repeats,
                 "Also shuffle each feature N times and report how much worse the model gets (needs labels)")
      ->transform(whole_number(1, 1000))
      ->type_name("N");
  app.add_option("--seed", options.seed, "Seed of the shuffles [0]")->transform(count())->type_name("N");
  app.add_option("--plot", options.plot, "Draw the most important features as bars")
      ->transform(output_file())
      ->type_name("FILE.svg");
  add_group_options(app, options.group);
  add_output_options(app, options.output);
  add_job_output_options(app, options.output);
  make_common(app, {"--executors"});
  app.footer("Example: podere explain model.json higgs.csv --label 0 -o shap.csv --permutation 5 --plot bars.svg");
}

/// The larger first; what is no number last.
void sort_by_size(Json& features) {
  const auto size = [](const Json& feature) {
    const double value = real(feature.at("mean_abs_shap"));
    return std::isnan(value) ? -1 : value;
  };
  std::stable_sort(features.begin(), features.end(), [&](const auto& a, const auto& b) { return size(a) > size(b); });
}

/// "fall of AUC", "rise of RMSE".
std::string permutation_caption(const std::string& measure) {
  return (measure == "auc" ? "fall of " : "rise of ") + measure_in_words(measure);
}

std::string shap_caption(const Json& result) {
  return result.at("objective") == "logistic" ? "mean |SHAP| (log odds)" : "mean |SHAP|";
}

void print_summary(const Json& result, const std::string& path, int descriptor) {
  const bool has_permutation = result.contains("measure");
  std::vector<std::pair<std::string, Json>> facts = {{"rows", with_commas(result.at("rows").get<std::uint64_t>())}};
  if (result.at("bias").size() == 1) facts.emplace_back("expected margin (bias)", number(result.at("bias")[0]));
  if (has_permutation) {
    facts.emplace_back(measure_in_words(result.at("measure")) + " as it is", number(result.at("baseline")));
  }
  if (!path.empty()) facts.emplace_back("SHAP values of each row", path);
  std::vector<std::string> header = {"feature", shap_caption(result)};
  if (has_permutation) {
    header.push_back(permutation_caption(result.at("measure")));
    header.emplace_back("+-");
  }
  TextTable table(std::move(header));
  for (const auto& feature : result.at("features")) {
    std::vector<std::string> row = {feature.at("name").get<std::string>(), number(feature.at("mean_abs_shap"))};
    if (has_permutation) {
      row.push_back(number(feature.at("permutation_mean")));
      row.push_back(number(feature.at("permutation_std")));
    }
    table.add(std::move(row));
  }
  print(facts_text(facts) + "\n" + table.text(), descriptor);
}

std::string plot_of(const Json& result, const std::string& title) {
  std::vector<std::string> names;
  evaluate::ImportanceBars shap{.caption = shap_caption(result)};
  evaluate::ImportanceBars permutation;
  for (const auto& feature : result.at("features")) {
    names.push_back(feature.at("name").get<std::string>());
    shap.size.push_back(real(feature.at("mean_abs_shap")));
    if (!result.contains("measure")) continue;
    permutation.size.push_back(real(feature.at("permutation_mean")));
    permutation.spread.push_back(real(feature.at("permutation_std")));
  }
  std::vector<evaluate::ImportanceBars> columns = {std::move(shap)};
  if (result.contains("measure")) {
    permutation.caption = permutation_caption(result.at("measure")) + " when shuffled";
    columns.push_back(std::move(permutation));
  }
  return evaluate::importance_svg(names, columns, title, kMostBars);
}

int run_explain(const ExplainOptions& options) {
  const std::vector<NamedFile> outputs = {
      {"-o", options.path}, {"--plot", options.plot}, {"--report", options.output.report}};
  check_outputs(outputs, options.source);
  const int facts_to = prepare_outputs(
      outputs, {{"MODEL", options.model}, named_file("DATA", options.source), labels_file("--labels", options.source)});
  std::optional<SharedFile> file;
  std::optional<AtomicFile> plot_file;
  if (!options.path.empty()) file.emplace(options.path);
  if (!options.plot.empty()) plot_file.emplace(options.plot);
  const OutputOptions output = named_run(options.output, "explain", options.model, jobs::name_of(options.source));
  auto result = run_job(options.group, output,
                        jobs::ExplainJob{options.source, options.model, file ? file->path() : "", options.repeats,
                                         options.seed, !output.report.empty()});
  sort_by_size(result.at("features"));
  if (plot_file) plot_file->write(plot_of(result, options.source.location));
  if (file) file->commit();
  if (plot_file) plot_file->commit();
  if (!options.path.empty()) result["output"] = options.path;
  show_result(options.output, result, facts_to, [&] { print_summary(result, options.path, facts_to); });
  return kDone;
}

}  // namespace

void add_explain(CLI::App& app, Command& chosen) {
  add_command<ExplainOptions>(app, chosen, "explain", "Show what each feature does to predictions", define_explain,
                              run_explain);
}

}  // namespace podere::cli
