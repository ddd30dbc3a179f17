// podere describe: what a table holds.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <ratio>
#include <string>

#include "podere/base/interrupt.h"
#include "podere/base/number.h"
#include "podere/base/printable.h"
#include "podere/cli/arguments.h"
#include "podere/cli/group.h"
#include "podere/cli/help.h"
#include "podere/cli/outputs.h"
#include "podere/cli/print.h"
#include "podere/cli/run_report.h"
#include "podere/jobs/describe_job.h"
#include "podere/jobs/report_facts.h"

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
  add_job_output_options(app, options.output);
  make_common(app, {"--executors"});
  app.footer("Example: podere describe data/higgs_15688.csv.gz");
}

/// A few fields, shortened.
std::string examples_text(const Json& examples) {
  constexpr std::size_t kMostBytes = 16, kMostTogether = 30;
  std::string text;
  for (const auto& example : examples) {
    const auto field = example.get<std::string>();
    const auto value = parse_real(field);
    const std::string next = value ? number(*value) : printable_line(field, kMostBytes);
    if (!text.empty() && text.size() + next.size() > kMostTogether) break;
    text += (text.empty() ? "" : ", ") + next;
  }
  return text;
}

/// Days since 1970-01-01 as a date, other numbers as they are.
std::string value_of_kind(const std::string& kind, const Json& value) {
  if (kind != "date" || !value.is_number()) return number(value);
  const auto day =
      std::chrono::floor<std::chrono::days>(std::chrono::duration<double, std::ratio<86400>>(value.get<double>()));
  const std::chrono::year_month_day date{std::chrono::sys_days(day)};
  return fmt::format("{:04}-{:02}-{:02}", static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                     static_cast<unsigned>(date.day()));
}

void print_table(const Json& result) {
  const double n_rows = result.at("rows").get<double>();
  const auto& columns = result.at("columns");
  const bool has_infinite = std::ranges::any_of(columns, [](const auto& column) { return column.at("infinite") > 0; });
  const bool has_texts = std::ranges::any_of(columns, [](const auto& column) { return column.contains("texts"); });
  const auto share = [&](const Json& count) {
    return fmt::format("{:.2f} %", n_rows == 0 ? 0 : 100 * count.get<double>() / n_rows);
  };
  const bool has_examples =
      std::ranges::any_of(columns, [](const auto& column) { return !column.at("examples").empty(); });
  std::vector<std::string> header = {"column", "kind"};
  if (has_examples) header.emplace_back("examples");
  for (const char* const name : {"different", "minimum", "mean", "maximum", "missing"}) header.emplace_back(name);
  if (has_texts) header.emplace_back("text");
  if (has_infinite) header.emplace_back("infinite");
  header.emplace_back("histogram");
  TextTable table(std::move(header));
  for (const auto& column : columns) {
    const auto kind = column.at("kind").get<std::string>();
    std::vector<std::string> row = {column.at("name").get<std::string>(), kind};
    if (has_examples) row.push_back(examples_text(column.at("examples")));
    row.push_back(column.at("different").is_null() ? "> 1,000"
                                                   : with_commas(column.at("different").get<std::uint64_t>()));
    for (const char* const name : {"minimum", "mean", "maximum"}) row.push_back(value_of_kind(kind, column.at(name)));
    row.push_back(share(column.at("missing")));
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
        "\nText is no number: to train, leave such columns out with --drop, take them as categories with "
        "--categorical\n"
        "(auto takes all of few different texts) or name a text that means a missing value with --missing; a libsvm "
        "file is read with "
        "--format libsvm.\n");
  }
}

int run_describe(const DescribeOptions& options) {
  const std::vector<NamedFile> outputs = {{"--report", options.output.report}};
  check_outputs(outputs, options.source);
  prepare_outputs(outputs, {named_file("DATA", options.source), labels_file("--labels", options.source)});
  const auto result = run_job(options.group, named_run(options.output, "describe", "", jobs::name_of(options.source)),
                              jobs::DescribeJob{options.source});
  show_result(options.output, result, STDOUT_FILENO, [&] { print_table(result); });
  return kDone;
}

}  // namespace

void add_describe(CLI::App& app, Command& chosen) {
  add_command<DescribeOptions>(app, chosen, "describe", "Show minimum, mean, maximum and missing share of each column",
                               define_describe, run_describe);
}

}  // namespace podere::cli
