#include "podere/scaling/command.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "podere/base/error.h"
#include "podere/base/number.h"

namespace podere::scaling {
namespace {

constexpr std::array<std::string_view, 6> kCommands = {"train",   "evaluate", "predict",
                                                       "explain", "classify", "describe"};
constexpr auto kOwn = std::to_array<std::string_view>({"--executors", "--executors-file", "--workers", "--cores", "-o",
                                                       "--output", "--json", "--metrics", "--page", "--report",
                                                       "--tensorboard", "--submit", "--session", "--checkpoint",
                                                       "--fold-predictions", "--resume", "--help", "-h", "--"});
constexpr std::array<std::string_view, 5> kPlace = {"--on", "--hosts", "--ssh", "--farm", "--slurm-options"};

std::string_view name_of(const std::string& word) { return std::string_view(word).substr(0, word.find('=')); }

/// What the option is set to, last; words behind it or after a "=".
std::optional<std::string> value_of(const Words& command, std::string_view option) {
  std::optional<std::string> value;
  for (std::size_t i = 0; i < command.size(); ++i) {
    if (name_of(command[i]) != option) continue;
    if (command[i].size() > option.size()) {
      value = command[i].substr(option.size() + 1);
    } else if (i + 1 < command.size()) {
      value = command[i + 1];
    }
  }
  return value;
}

}  // namespace

void check_command(const Words& command, bool is_weak) {
  if (std::ranges::find(kCommands, command.front()) == kCommands.end()) {
    throw_input_error("'{}' is no command to measure: these are {}", command.front(), fmt::join(kCommands, ", "));
  }
  for (const std::string& word : command) {
    const std::string_view name = name_of(word);
    if (std::ranges::find(kOwn, name) != kOwn.end()) {
      throw_input_error("{} is not for a command that is measured: leave it out{}", name,
                        name == "--executors" || name == "--cores" ? ", or say it before the command" : "");
    }
    if (name == "--rows" && is_weak) throw_input_error("--rows: --weak says which rows: leave one out");
  }
}

bool runs_elsewhere(const Words& command) {
  return value_of(command, "--hosts") || value_of(command, "--on").value_or("here") != "here";
}

Words place_words(const Words& command) {
  Words found;
  for (std::size_t i = 0; i < command.size(); ++i) {
    const std::string_view name = name_of(command[i]);
    if (std::ranges::find(kPlace, name) == kPlace.end()) continue;
    found.push_back(command[i]);
    if (command[i].size() == name.size() && i + 1 < command.size()) found.push_back(command[++i]);
  }
  return found;
}

bool writes_file(const Words& command) {
  return command.front() == "train" || command.front() == "predict" || command.front() == "classify";
}

int needed_executors(const Words& command) {
  const bool is_async =
      std::ranges::find(command, "--async") != command.end();  // which has one unless --servers says more
  const auto n_servers = parse_count(value_of(command, "--servers").value_or(is_async ? "1" : "0"));
  constexpr std::uint64_t kMost = 10000;  // what is no number, or more, the command itself refuses
  return n_servers && *n_servers > 0 && *n_servers < kMost ? static_cast<int>(*n_servers) + 1 : 1;
}

}  // namespace podere::scaling
