// Command lines that name no command.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace podere::cli {

/// What is wrong with `words` as the name of a command of `app`, and which may have been meant. Empty if they begin
/// with the name of a command, or with an option.
std::string unknown_command(const CLI::App& app, const std::vector<std::string>& words);

}  // namespace podere::cli
