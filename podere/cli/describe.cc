// podere describe: what a table holds.
#include <fmt/format.h>

#include <algorithm>

#include "podere/base/interrupt.h"
#include "podere/cli/arguments.h"
#include "podere/cli/group.h"
#include "podere/cli/help.h"
#include "podere/cli/outputs.h"
#include "podere/cli/print.h"
#include "podere/jobs/describe_job.h"

namespace podere::cli {
namespace {

struct DescribeOptions {
  OutputOptions output;
  GroupOptions group;
  source::SourceSpec source;
};

void define_describe(CLI::App& app, DescribeOptions& options) {
  add_source_options(app, "DATA", options.source);
  add_group_options(app, options.group);
  add_output_options(app, options.output);
  add_metrics_option(app, options.output);
  make_common(app, {"--executors"});
  app.footer("Example: podere describe data/higgs_15688.csv.gz");
}

void print_table(const Json& result) {
  const double n_rows = result.at("rows").get<double>();
  const auto& columns = result.at("columns");
  const bool has_infinite = std::ranges::any_of(columns, [](const auto& column) { return column.at("infinite") > 0; });
  const bool has_texts = std::ranges::any_of(columns, [](const auto& column) { return column.contains("texts"); });
  const auto share = [&](const Json& count) {
    return fmt::format("{:.2f} %", n_rows == 0 ? 0 : 100 * count.get<double>() / n_rows);
  };
  std::vector<std::string> header = {"column", "minimum", "mean", "maximum", "missing"};
  if (has_texts) header.emplace_back("text");
  if (has_infinite) header.emplace_back("infinite");
  header.emplace_back("histogram");
  TextTable table(std::move(header));
  for (const auto& column : columns) {
    std::vector<std::string> row = {column.at("name").get<std::string>(), number(column.at("minimum")),
                                    number(column.at("mean")), number(column.at("maximum")),
                                    share(column.at("missing"))};
    if (has_texts) row.push_back(share(column.value("texts", Json(0))));
    if (has_infinite) row.push_back(share(column.at("infinite")));
    row.push_back(bars(column.at("histogram").get<std::vector<std::uint64_t>>()));
    table.add(std::move(row));
  }
  print(fmt::format("{} rows, {} columns, read in {}\n\n", with_commas(result.at("rows").get<std::uint64_t>()),
                    result.at("columns").size(), duration(result.at("load_seconds").get<double>())));
  print(table.text());
  if (has_texts) {
    print(
        "\nText is no number: to train, leave such columns out with --drop, take them as categories with --categorical "
        "or\nname a text that means a missing value with --missing; a libsvm file is read with "
        "--format libsvm.\n");
  }
}

int run_describe(const DescribeOptions& options) {
  count_interrupts();
  const auto result = run_job(options.group, options.output, jobs::DescribeJob{options.source});
  show_result(options.output, result, STDOUT_FILENO, [&] { print_table(result); });
  return kDone;
}

}  // namespace

void add_describe(CLI::App& app, Command& chosen) {
  add_command<DescribeOptions>(app, chosen, "describe", "Show minimum, mean, maximum and missing share of each column",
                               define_describe, run_describe);
}

}  // namespace podere::cli
