// What --help, man pages and shell completion show of commands and options.
#pragma once

#include <CLI/CLI.hpp>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

namespace podere::cli {

// Groups of options, in the order in which help shows them. Options that name none are common.
inline constexpr const char* kCommon = "Options";  // as CLI11 calls the group of --help
inline constexpr const char* kData = "Data";
inline constexpr const char* kText = "Delimited text";
inline constexpr const char* kModel = "Model";
inline constexpr const char* kTraining = "Training";
inline constexpr const char* kExecutors = "Executors";
inline constexpr const char* kOutput = "Output";
inline constexpr const char* kHidden = "";  // old spellings, and what Podere alone uses

/// While it lives, options that are added to `app` are of a group.
class InGroup {
 public:
  InGroup(CLI::App& app, const char* group) : app_(app), before_(app.option_defaults()->get_group()) {
    app.option_defaults()->group(group);
  }
  ~InGroup() { app_.option_defaults()->group(before_); }
  InGroup(const InGroup&) = delete;
  InGroup& operator=(const InGroup&) = delete;

 private:
  CLI::App& app_;
  std::string before_;
};

/// Shows options first that most users need.
void make_common(CLI::App& app, std::initializer_list<const char*> options);

/// The type of an option with these values: "adam|sgd". Help shows it, and shells complete it.
template <typename Names>
std::string choices(const Names& names) {
  std::string text;
  for (const auto& name : names) text += (text.empty() ? "" : "|") + std::string(name);
  return text;
}

/// Of --help: groups in order, lines that fit a terminal.
std::shared_ptr<CLI::Formatter> help_formatter();

// What people see of an App, in its order: neither hidden options nor hidden commands.
std::vector<const CLI::App*> visible_commands(const CLI::App& app);
std::vector<const CLI::Option*> positionals(const CLI::App& app);
std::vector<const CLI::Option*> options_in(const CLI::App& app, const std::string& group);
/// "-o", "--output"
std::vector<std::string> names_of_option(const CLI::Option& option);
/// Those that have options, in order. Common options have the title "Common options" if there are others.
std::vector<std::string> groups_of(const CLI::App& app);
std::string title_of(const std::string& group, const std::vector<std::string>& groups);
/// "podere train nn"
std::string path_of(const CLI::App& app);

}  // namespace podere::cli
