// The command whose scaling is studied, as words: "train", "gbt", "higgs.csv", "--trees", "50".
#pragma once

#include <string>
#include <vector>

namespace podere::scaling {

using Words = std::vector<std::string>;

/// Throws InputError for a command that cannot be measured, and for options that studies give it themselves.
void check_command(const Words& command, bool is_weak);

/// Whether executors are to run elsewhere than on this machine.
bool runs_elsewhere(const Words& command);

/// Those of its words that say where and how executors are started.
Words place_words(const Words& command);

/// Whether it writes a file to -o.
bool writes_file(const Words& command);

/// With fewer executors it cannot run: parameter servers are executors beside those that have rows.
int needed_executors(const Words& command);

}  // namespace podere::scaling
