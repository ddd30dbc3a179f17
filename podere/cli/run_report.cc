#include "podere/cli/run_report.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <vector>

#include "podere/cli/help.h"
#include "podere/cli/submit.h"
#include "podere/report/page.h"

namespace podere::cli {
namespace {

/// What was typed, with the program by its name alone.
std::string typed_command() {
  std::vector<std::string> words = own_command_line();
  words.at(0) = "podere";
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + shell_word(word);
  return text;
}

}  // namespace

std::string shell_word(const std::string& word) {
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:,=+@%";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) return word;
  std::string quoted = "'";
  for (const char c : word) {
    if (c == '\'') {
      quoted += "'\\''";
    } else {
      quoted += c;
    }
  }
  return quoted + "'";
}

bool is_json_report(const std::string& path) { return std::filesystem::path(path).extension() == ".json"; }

void add_report_option(CLI::App& app, OutputOptions& options) {
  const InGroup group(app, kOutput);
  app.add_option("--report", options.report,
                 "Write a page with curves, ROC, scores, columns and costs, or the facts for podere report")
      ->check(report_file())
      ->type_name("FILE.html|FILE.json");
}

report::RunTitle title_of(const OutputOptions& output) {
  const std::vector<std::string> words = own_command_line();
  const std::string command = words.size() > 1 ? words[1] : "";
  return {output.run_name.empty() ? command : output.run_name, command, typed_command()};
}

RunReport::RunReport(const OutputOptions& output) : output_(output) {
  if (!output.report.empty()) file_.emplace(output.report);
}

void RunReport::write(const report::RunRecorder& recorder, const Json& facts) {
  if (!file_) return;
  const report::RunTitle title = title_of(output_);
  Json run = {{"name", title.name}};
  run.update(recorder.run(title.command, title.arguments, facts));
  const Json document = report::document_of({std::move(run)});
  file_->write(is_json_report(output_.report) ? to_text(document) + "\n" : report::html_of(document));
  file_->commit();
}

}  // namespace podere::cli
