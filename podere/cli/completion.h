// Shell completion, from the commands and options that the program has.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace podere::cli {

/// What may be in the place of the last of `words`, a line each: commands, options or values. The line ":files"
/// alone lets the shell complete names of files. The words are those after "podere", as far as the cursor.
std::string completions(CLI::App& app, std::vector<std::string> words);

}  // namespace podere::cli
