#include "podere/cli/unknown_command.h"

#include <fmt/format.h>

#include <algorithm>

#include "podere/base/nearest_name.h"
#include "podere/cli/help.h"
#include "podere/cli/other_names.h"

namespace podere::cli {
namespace {

/// Without those that are hidden.
std::vector<std::string> commands_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : visible_commands(app)) names.push_back(command->get_name());
  return names;
}

/// Without dashes.
std::vector<std::string> options_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option :
       app.get_options([](const CLI::Option* option) { return !option->get_group().empty(); })) {
    names.insert(names.end(), option->get_lnames().begin(), option->get_lnames().end());
  }
  return names;
}

/// The commands beside `app` that have the option.
std::vector<std::string> siblings_with(const CLI::App& app, const std::string& option) {
  std::vector<std::string> paths;
  if (app.get_parent() == nullptr) return paths;
  for (const CLI::App* sibling : app.get_parent()->get_subcommands([](const CLI::App*) { return true; })) {
    if (sibling != &app && sibling->get_option_no_throw(option) != nullptr) paths.push_back(path_of(*sibling));
  }
  return paths;
}

}  // namespace

std::string command_asked_for(const CLI::App& app) {
  return app.get_subcommands().empty() ? path_of(app) : command_asked_for(*app.get_subcommands().front());
}

std::string unexpected_words(const CLI::App& app) {
  const CLI::App* at = &app;
  std::vector<std::string> words = at->remaining();
  while (words.empty() && !at->get_subcommands().empty()) {
    at = at->get_subcommands().front();
    words = at->remaining();
  }
  if (words.empty()) return "";
  const auto first = std::ranges::find_if(words, [](const std::string& word) { return word.starts_with('-'); });
  if (first == words.end()) return fmt::format("{} does not expect '{}'", path_of(*at), fmt::join(words, " "));
  const std::string option = first->substr(0, first->find('='));
  if (const std::string hint = hint_of(at->get_name(), option); !hint.empty()) {
    return fmt::format("{} has no option {}: {}", path_of(*at), option, hint);
  }
  const auto paths = siblings_with(*at, option);
  const auto nearest =
      nearest_name(option.substr(std::min(option.find_first_not_of('-'), option.size())), options_of(*at));
  return fmt::format("{} has no option {}{}", path_of(*at), option,
                     !paths.empty() ? fmt::format(", that is one of {}", fmt::join(paths, " and "))
                     : nearest      ? fmt::format(": did you mean --{}?", *nearest)
                                    : "");
}

std::string unknown_command(const CLI::App& app, const std::vector<std::string>& words) {
  const CLI::App* at = &app;
  std::string path = app.get_name();
  std::string word;
  for (const std::string& next : words) {
    const auto found = at->get_subcommands([&](const CLI::App* c) { return c->get_name() == next; });
    if (found.empty()) {
      word = next;
      break;
    }
    at = found.front();
    path += " " + next;
  }
  const auto names = commands_of(*at);
  if (names.empty() || word.starts_with('-')) return "";
  if (!word.empty()) {
    if (const auto nearest = nearest_name(word, names)) {
      return fmt::format("there is no command '{} {}': did you mean {} {}?", path, word, path, *nearest);
    }
    if (at == &app) return fmt::format("there is no command '{}': it is one of {}", word, fmt::join(names, ", "));
  }
  if (at == &app) return fmt::format("say what to do: {}", fmt::join(names, ", "));
  const std::string rest = word.empty() ? "" : " " + word;  // such as a file name: the kind was left out
  return fmt::format("say what to {}: {} {}{}", at->get_name(), path, fmt::join(names, "|"), rest);
}

}  // namespace podere::cli
