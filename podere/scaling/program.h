// Running commands of this program, as a user does.
#pragma once

#include <functional>

#include "podere/base/json.h"
#include "podere/scaling/command.h"

namespace podere::scaling {

/// Runs `podere WORDS`, of which "--json" is one, and returns what it prints.
using RunProgram = std::function<Json(const Words& words)>;

/// A process of its own for each command. Throws Interrupted once an interrupt came, which ends it too, and otherwise
/// the command's own message: InputError or Error, as its exit code says.
Json run_this_program(const Words& words);

}  // namespace podere::scaling
