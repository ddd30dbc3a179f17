#include "podere/cli/outputs.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>

#include "podere/base/error.h"
#include "podere/base/interrupt.h"
#include "podere/base/printable.h"
#include "podere/cli/metrics.h"
#include "podere/cli/print.h"
#include "podere/io/file_list.h"

namespace podere::cli {
namespace {

constexpr std::size_t kMostShown = 200;  // bytes of a path

/// Devices such as /dev/null and terminals lose nothing, whichever process writes to them.
bool is_same(const struct stat& a, const struct stat& b) {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino && !S_ISCHR(a.st_mode);
}

bool is_one_file(const std::string& a, const std::string& b) {
  if (a.empty() || b.empty()) return false;
  struct stat status_a {};
  struct stat status_b {};
  if (stat(a.c_str(), &status_a) == 0 && stat(b.c_str(), &status_b) == 0) {
    return is_same(status_a, status_b);
  }
  const auto place = [](const std::string& path) {
    std::error_code unknown;  // what cannot be looked at cannot be opened either, which says why
    return std::filesystem::weakly_canonical(std::filesystem::absolute(path), unknown);
  };
  return place(a) == place(b) && !place(a).empty();
}

/// Throws InputError for an output that would be one of the files that an input means, when they are looked for again.
void refuse_among_many(const NamedFile& output, const NamedFile& input) {
  if (output.path.empty() || !io::may_be_many(input.path)) return;
  std::error_code unknown;  // what cannot be looked at is found when it is opened
  const auto place = std::filesystem::weakly_canonical(std::filesystem::absolute(output.path), unknown);
  const auto below = place.lexically_relative(std::filesystem::canonical(input.path, unknown));
  const bool is_below = std::filesystem::is_directory(input.path) && !below.empty() && *below.begin() != "..";
  const auto files = is_below ? std::vector<io::ListedFile>() : io::list_files(input.path);
  const auto is_it = [&](const io::ListedFile& file) { return is_one_file(output.path, file.path); };
  if (!is_below && std::ranges::none_of(files, is_it)) return;
  throw_input_error("{} {} would be among the files of {} {}, which are read: choose another place", output.argument,
                    output.path, input.argument, input.path);
}

}  // namespace

NamedFile named_file(const std::string& argument, const source::SourceSpec& source) {
  return {argument, source::is_path(source) ? source.location : ""};
}

NamedFile labels_file(const std::string& argument, const source::SourceSpec& source) {
  std::error_code unknown;  // what cannot be looked at is not read either
  for (const std::string& path : source::other_files(source)) {
    if (std::filesystem::exists(path, unknown)) return {argument, path};
  }
  return {argument, ""};
}

void check_outputs(const std::vector<NamedFile>& outputs, const std::vector<NamedFile>& inputs) {
  for (auto output = outputs.begin(); output != outputs.end(); ++output) {
    const auto refuse_if_same = [&](const NamedFile& other) {
      refuse_among_many(*output, other);
      if (!is_one_file(output->path, other.path)) return;
      throw_input_error("{} {} and {} {} are the same file, which would be lost: choose another", output->argument,
                        output->path, other.argument, other.path);
    };
    std::for_each(inputs.begin(), inputs.end(), refuse_if_same);
    std::for_each(outputs.begin(), output, refuse_if_same);
  }
}

void check_outputs(const std::vector<NamedFile>& outputs, const std::string& location,
                   const std::vector<std::string>& paths) {
  for (const NamedFile& output : outputs) {
    for (const std::string& path : paths) {
      if (!is_one_file(output.path, path)) continue;
      throw_input_error("{} {} is a file that {} is read from, which would be lost: choose another", output.argument,
                        output.path, location);
    }
  }
}

void check_outputs(const std::vector<NamedFile>& outputs, const source::SourceSpec& source) {
  std::error_code unknown;
  const bool may_be_one = std::ranges::any_of(
      outputs, [&](const NamedFile& output) { return std::filesystem::exists(output.path, unknown); });
  if (may_be_one && !source::is_path(source)) check_outputs(outputs, source.location, source::other_files(source));
}

int facts_descriptor(const std::vector<NamedFile>& outputs) {
  struct stat standard_output {};
  if (fstat(STDOUT_FILENO, &standard_output) != 0) return STDOUT_FILENO;
  const bool is_used = std::any_of(outputs.begin(), outputs.end(), [&](const NamedFile& output) {
    struct stat status {};
    return !output.path.empty() && stat(output.path.c_str(), &status) == 0 && is_same(status, standard_output);
  });
  return is_used ? STDERR_FILENO : STDOUT_FILENO;
}

int prepare_outputs(const std::vector<NamedFile>& outputs, const std::vector<NamedFile>& inputs) {
  check_outputs(outputs, inputs);
  const int facts_to = facts_descriptor(outputs);
  count_interrupts();  // before there is a file that would be left behind
  return facts_to;
}

namespace {

/// A line for each thing that was found in a file and had not been chosen.
std::string files_text(const Json& result) {
  std::string text;
  const auto files = result.find("files");
  if (files == result.end()) return text;
  for (const auto& file : *files) {
    const std::string name = printable_line(file.at("file").get<std::string>(), kMostShown);
    if (file.contains("n_files") || file.contains("folder_columns")) {
      const auto columns = file.value("folder_columns", std::vector<std::string>());
      const std::size_t n_files = file.value("n_files", std::size_t{1});
      text += fmt::format("{}: {} file{}, one after another{}\n", name, n_files, n_files == 1 ? "" : "s",
                          columns.empty() ? "" : "; columns of their folders' names: " + printable_list(columns));
    }
    if (file.contains("first_line")) {
      text +=
          name + (file["first_line"] == "names" ? ": the first line names the columns (if it is a row: --no-header)\n"
                                                : ": the first line is a row (if it names the columns: --header)\n");
    }
    if (file.contains("renamed")) {
      text += fmt::format("{}: columns with the name of another are called {}\n", name,
                          printable_list(file["renamed"].get<std::vector<std::string>>()));
    }
    for (const auto& column : file.value("read_as", Json::array())) {
      const auto meaning = column.at("meaning").get<std::string>();
      text += fmt::format("{}: column {} holds {}{}\n", name,
                          printable_line(column.at("column").get<std::string>(), kMostShown),
                          column.at("form").get<std::string>(), meaning.empty() ? "" : ": " + meaning);
    }
    for (const auto& column : file.value("rounded", Json::array())) {
      text += fmt::format(
          "{}: column {} holds whole numbers beyond 2^24, which float32 rounds, here to multiples of up to {:.0f}: "
          "some that differ become equal{}\n",
          name, printable_line(column.at("column").get<std::string>(), kMostShown), column.at("step").get<double>(),
          column.contains("only_numbers") ? "" : " (to keep them apart as names: --categorical)");
    }
    if (file.contains("unlabeled_rows")) {
      const auto n = file["unlabeled_rows"].get<std::uint64_t>();
      text += fmt::format("{}: {} row{} without a label {} left out\n", name, with_commas(n), n == 1 ? "" : "s",
                          n == 1 ? "is" : "are");
    }
    if (file.contains("categories")) {
      text += fmt::format("{}: columns of few different texts are taken as categories: {}\n", name,
                          printable_list(file["categories"].get<std::vector<std::string>>()));
    }
    for (const auto& doubt : file.value("doubts", Json::array())) text += name + ": " + doubt.get<std::string>() + '\n';
    for (const auto& note : file.value("notes", Json::array())) text += name + ": " + note.get<std::string>() + '\n';
    std::vector<std::string> coordinates;
    for (const auto& left_out : file.value("left_out", Json::array())) {
      if (left_out.at("reason") == "coordinate") {
        coordinates.push_back(left_out.at("column").get<std::string>());
        continue;
      }
      static const std::map<std::string, const char*> kReasons = {
          {"texts", "has too many different texts for categories and is left out (to take it: --categorical)"},
          {"index",
           "has no name, and all its values differ: taken for an index and left out (to keep it, name it in the first "
           "line)"},
          {"frame", "is the data frame's index and is left out (to keep it, name what to keep with --columns)"},
          {"group", "is a group of arrays beside those that are read, and is left out (to read it instead: --key)"}};
      text +=
          fmt::format("{}: column {} {}\n", name, printable_line(left_out.at("column").get<std::string>(), kMostShown),
                      kReasons.at(left_out.at("reason").get<std::string>()));
    }
    if (!coordinates.empty()) {
      text += fmt::format("{}: coordinates are left out: {} (to take one: --columns, or --key for it alone)\n", name,
                          printable_list(coordinates));
    }
  }
  return text;
}

}  // namespace

void show_result(const OutputOptions& output, const Json& result, int descriptor,
                 const std::function<void()>& print_text) {
  if (output.json) {
    print_json(result, descriptor);
  } else {
    print(files_text(result), descriptor);
    print_text();
    if (!output.metrics.empty())
      print("\n" + metrics_text(result.at("metrics"), output.metrics == "tasks"), descriptor);
  }
  warn_of_unknown_categories(result);
  if (const std::string waiting = waiting_text(result); !waiting.empty()) print_error(waiting);
  // At last, so that only the report is lost.
  if (result.contains("report_failed")) throw InputError(result["report_failed"].get<std::string>());
}

}  // namespace podere::cli
