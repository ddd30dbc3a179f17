#include "podere/cli/unknown_command.h"

#include <fmt/format.h>

#include "podere/base/nearest_name.h"

namespace podere::cli {
namespace {

/// Without those that are hidden.
std::vector<std::string> commands_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App* c) { return !c->get_group().empty(); })) {
    names.push_back(command->get_name());
  }
  return names;
}

}  // namespace

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
