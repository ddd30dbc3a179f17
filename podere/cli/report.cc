// podere report: runs that are looked at together.
#include <fmt/format.h>

#include <vector>

#include "podere/base/atomic_file.h"
#include "podere/cli/arguments.h"
#include "podere/cli/help.h"
#include "podere/cli/outputs.h"
#include "podere/cli/print.h"
#include "podere/cli/run_report.h"
#include "podere/report/page.h"

namespace podere::cli {
namespace {

struct ReportOptions {
  OutputOptions output;
  std::vector<std::string> reports;
  std::string path;
};

void define_report(CLI::App& app, ReportOptions& options) {
  app.add_option("REPORT", options.reports, "Reports that --report of train and evaluate wrote, or this command")
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

int run_report(const ReportOptions& options) {
  std::vector<NamedFile> inputs;
  for (const std::string& path : options.reports) {
    report::check_is_file(path);
    inputs.push_back({"REPORT", path});
  }
  check_outputs({{"-o", options.path}}, inputs);
  std::vector<Json> runs;
  for (const std::string& path : options.reports) {
    for (Json& run : report::read_report(path)) runs.push_back(std::move(run));
  }
  Json names = Json::array();
  const Json document = report::document_of(std::move(runs));
  for (const Json& run : document.at("runs")) names.push_back(run.at("name"));
  AtomicFile file(options.path);
  file.write(is_json_report(options.path) ? to_text(document) + "\n" : report::html_of(document));
  file.commit();
  show_result(options.output, {{"output", options.path}, {"runs", names}}, STDOUT_FILENO, [&] {
    print(fmt::format("{} run{} in {}\n", names.size(), names.size() == 1 ? "" : "s", options.path));
  });
  return kDone;
}

}  // namespace

void add_report(CLI::App& app, Command& chosen) {
  add_command<ReportOptions>(app, chosen, "report", "Show runs beside each other, as one page", define_report,
                             run_report);
}

}  // namespace podere::cli
