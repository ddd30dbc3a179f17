// podere report: runs that are looked at together.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <utility>
#include <vector>

#include "podere/base/atomic_file.h"
#include "podere/base/read_file.h"
#include "podere/cli/arguments.h"
#include "podere/cli/help.h"
#include "podere/cli/outputs.h"
#include "podere/cli/print.h"
#include "podere/cli/run_report.h"
#include "podere/report/page.h"
#include "podere/scaling/study.h"

namespace podere::cli {
namespace {

struct ReportOptions {
  OutputOptions output;
  std::vector<std::string> reports;
  std::string path;
};

void define_report(CLI::App& app, ReportOptions& options) {
  app.add_option("REPORT", options.reports,
                 "Reports that --report of a command wrote, or this command; studies of podere scale")
      ->required()
      ->check(file_name())
      ->type_name("");
  app.add_option("-o,--output", options.path, "Page to write, or the facts of all reports")
      ->required()
      ->check(report_file())
      ->type_name("FILE.html|FILE.json");
  add_output_options(app, options.output);
  app.footer(
      "Example: podere train gbt higgs.csv --rows :12000 -o model.json --report train.json\n"
      "         podere evaluate model.json higgs.csv --rows 12000: --report test.json\n"
      "         podere report train.json test.json -o report.html");
}

/// What is shown together.
struct Shown {
  std::vector<Json> runs;
  std::vector<Json> studies;

  /// Adds what a file has: a study, a document or a page with runs and studies.
  void add(const std::string& path) {
    const std::string text = read_file(path);
    if (auto study = scaling::study_to_show(text, path)) {
      (*study)["name"] = std::filesystem::path(path).filename().string();
      studies.push_back(std::move(*study));
      return;
    }
    std::ranges::move(report::runs_of(text, path), std::back_inserter(runs));
    std::ranges::move(report::studies_of(text, path), std::back_inserter(studies));
  }
};

std::string count_text(std::size_t n, const char* one, const char* many) {
  return fmt::format("{} {}", n, n == 1 ? one : many);
}

int run_report(const ReportOptions& options) {
  std::vector<NamedFile> inputs;
  for (const std::string& path : options.reports) {
    report::check_is_file(path);
    inputs.push_back({"REPORT", path});
  }
  check_outputs({{"-o", options.path}}, inputs);
  Shown shown;
  for (const std::string& path : options.reports) shown.add(path);
  Json names = Json::array();
  const std::size_t n_studies = shown.studies.size();
  const Json document = report::document_of(std::move(shown.runs), std::move(shown.studies));
  for (const Json& run : document.at("runs")) names.push_back(run.at("name"));
  AtomicFile file(options.path);
  file.write(is_json_report(options.path) ? to_text(document) + "\n" : report::html_of(document));
  file.commit();
  show_result(options.output, {{"output", options.path}, {"runs", names}, {"studies", n_studies}}, STDOUT_FILENO, [&] {
    std::string what = names.empty() && n_studies > 0 ? "" : count_text(names.size(), "run", "runs");
    if (n_studies > 0) what += (what.empty() ? "" : ", ") + count_text(n_studies, "study", "studies");
    print(fmt::format("{} in {}\n", what, options.path));
  });
  return kDone;
}

}  // namespace

void add_report(CLI::App& app, Command& chosen) {
  add_command<ReportOptions>(app, chosen, "report", "Show runs beside each other, as one page", define_report,
                             run_report);
}

}  // namespace podere::cli
