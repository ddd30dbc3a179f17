#include "podere/cli/unknown_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <string_view>
#include <utility>

namespace podere::cli {
namespace {

constexpr std::size_t kMostSlips = 2;

/// Letters to insert, remove or replace to make `b` of `a` (Levenshtein).
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);  // of the first i letters of a to the first j of b
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = std::exchange(row[j], std::min({replaced, row[j] + 1, row[j - 1] + 1}));
    }
  }
  return row.back();
}

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
    const auto distance = [&](const std::string& name) { return edit_distance(word, name); };
    const auto nearest = std::ranges::min(names, {}, distance);
    if (distance(nearest) <= std::min(kMostSlips, word.size() - 1)) {
      return fmt::format("there is no command '{} {}': did you mean {} {}?", path, word, path, nearest);
    }
    if (at == &app) return fmt::format("there is no command '{}': it is one of {}", word, fmt::join(names, ", "));
  }
  if (at == &app) return fmt::format("say what to do: {}", fmt::join(names, ", "));
  const std::string rest = word.empty() ? "" : " " + word;  // such as a file name: the kind was left out
  return fmt::format("say what to {}: {} {}{}", at->get_name(), path, fmt::join(names, " or "), rest);
}

}  // namespace podere::cli
