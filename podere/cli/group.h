// Executors for a command.
#pragma once

#include "podere/cli/arguments.h"
#include "podere/session/driver.h"

namespace podere::cli {

/// Starts executors on this machine that run this very program.
session::Driver start_executors(const GroupOptions& group, const OutputOptions& output, Progress& progress);

}  // namespace podere::cli
