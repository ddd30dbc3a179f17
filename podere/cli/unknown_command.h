// Command lines that name no command, or what a command does not have.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace podere::cli {

/// What is wrong with `words` as the name of a command of `app`, and which may have been meant. Empty if they begin
/// with the name of a command, or with an option.
std::string unknown_command(const CLI::App& app, const std::vector<std::string>& words);

/// The command that was asked for, as far as `app` came: "podere train nn".
std::string command_asked_for(const CLI::App& app);

/// Which words the parsed `app` does not know what to do with, and which command beside the one that was asked for has
/// such an option, or which option may have been meant. Empty if it knows all.
std::string unexpected_words(const CLI::App& app);

}  // namespace podere::cli
