#include "podere/cli/help.h"

#include <algorithm>
#include <array>
#include <sstream>
#include <utility>

namespace podere::cli {
namespace {

constexpr std::array kGroups = {kCommon, kData, kText, kModel, kTraining, kExecutors, kOutput};
constexpr std::size_t kNameColumns = 30;
constexpr std::size_t kLineColumns = 80;

/// Text in lines of at most `columns` characters. A longer word has a line of its own.
std::string wrapped(const std::string& text, std::size_t columns, const std::string& between) {
  std::istringstream words(text);
  std::string result;
  std::size_t used = 0;
  for (std::string word; words >> word; used += word.size()) {
    if (used > 0 && used + 1 + word.size() > columns) {
      result += between;
      used = 0;
    } else if (used > 0) {
      result += ' ';
      ++used;
    }
    result += word;
  }
  return result;
}

class HelpFormatter : public CLI::Formatter {
 public:
  HelpFormatter() {
    label("Positionals", "Arguments");
    label("SUBCOMMAND", "COMMAND");
  }

  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode /*mode*/) const override {
    std::string text = app->get_description() + "\n\n" + make_usage(app, std::move(name)) + make_positionals(app);
    const std::vector<std::string> groups = groups_of(*app);
    for (const std::string& group : groups) text += make_group(title_of(group, groups), false, options_in(*app, group));
    const std::vector<const CLI::App*> commands = visible_commands(*app);
    if (!commands.empty()) text += "\nCommands:\n";
    for (const CLI::App* command : commands) text += entry(command->get_name(), command->get_description());
    return text + "\n" + make_footer(app);
  }

  std::string make_option(const CLI::Option* option, bool is_positional) const override {
    return entry(make_option_name(option, is_positional) + make_option_opts(option), option->get_description());
  }

  std::string make_option_name(const CLI::Option* option, bool is_positional) const override {
    return is_positional ? option->get_name(true) : CLI::detail::join(names_of_option(*option), ", ");
  }

  /// What an option needs or excludes is left to its description, and to the message if it is not heeded.
  std::string make_option_opts(const CLI::Option* option) const override {
    const bool has_type = option->get_type_size() != 0 && !option->get_type_name().empty();
    return (has_type ? " " + option->get_type_name() : "") +
           (option->get_required() && option->nonpositional() ? " (required)" : "");
  }

 private:
  static std::string entry(const std::string& name, const std::string& description) {
    const std::string indent(kNameColumns, ' ');
    std::string text = "  " + name;
    if (description.empty()) return text + "\n";
    text += text.size() + 1 < kNameColumns ? std::string(kNameColumns - text.size(), ' ') : "\n" + indent;
    return text + wrapped(description, kLineColumns - kNameColumns, "\n" + indent) + "\n";
  }
};

}  // namespace

void make_common(CLI::App& app, std::initializer_list<const char*> options) {
  for (const char* name : options) app.get_option(name)->group(kCommon);
}

std::shared_ptr<CLI::Formatter> help_formatter() { return std::make_shared<HelpFormatter>(); }

std::vector<const CLI::App*> visible_commands(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App* command) { return !command->get_group().empty(); });
}

std::vector<const CLI::Option*> positionals(const CLI::App& app) {
  return app.get_options([](const CLI::Option* option) { return option->get_positional(); });
}

std::vector<const CLI::Option*> options_in(const CLI::App& app, const std::string& group) {
  return app.get_options(
      [&](const CLI::Option* option) { return option->nonpositional() && option->get_group() == group; });
}

std::vector<std::string> names_of_option(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  return names;
}

std::vector<std::string> groups_of(const CLI::App& app) {
  std::vector<std::string> groups;
  std::ranges::copy_if(kGroups, std::back_inserter(groups),
                       [&](const char* group) { return !options_in(app, group).empty(); });
  return groups;
}

std::string title_of(const std::string& group, const std::vector<std::string>& groups) {
  return group == kCommon && groups.size() > 1 ? "Common options" : group;
}

std::string path_of(const CLI::App& app) {
  return app.get_parent() == nullptr ? app.get_name() : path_of(*app.get_parent()) + " " + app.get_name();
}

}  // namespace podere::cli
