#include "podere/cli/run_report.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <vector>

#include "podere/base/error.h"
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

OutputOptions named_run(OutputOptions output, const std::string& command, const std::string& model,
                        const std::string& data) {
  output.run_name = model.empty()
                        ? fmt::format("{} {}", command, data)
                        : fmt::format("{} {} on {}", command, std::filesystem::path(model).filename().string(), data);
  return output;
}

report::RunTitle title_of(const OutputOptions& output) {
  const std::vector<std::string> words = own_command_line();
  const std::size_t place = words.size() > 2 && words[1] == "session" ? 2 : 1;  // podere session load
  const std::string command = words.size() > place ? words[place] : "";
  return {output.run_name.empty() ? command : output.run_name, command, typed_command()};
}

RunReport::RunReport(const OutputOptions& output) : output_(output) {
  if (!output.report.empty()) file_.emplace(output.report);
}

void RunReport::write(const report::RunRecorder& recorder, Json& facts) {
  if (!file_) return;
  const report::RunTitle title = title_of(output_);
  Json run = {{"name", title.name}};
  run.update(recorder.run(title.command, title.arguments, facts));
  const Json document = report::document_of({std::move(run)});
  try {
    file_->write(is_json_report(output_.report) ? to_text(document) + "\n" : report::html_of(document));
    file_->commit();
  } catch (const InputError& error) {
    facts["report_failed"] = fmt::format("--report: {}", error.what());
  }
}

}  // namespace podere::cli
