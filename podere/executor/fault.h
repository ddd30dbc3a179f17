// Failures on demand, for tests.
#pragma once

#include <string>
#include <string_view>

namespace podere::executor {

/// Throws Error if `fault`, such as "read:rank=1" or "train:rank=1:tree=3", names this phase, rank and tree. An empty
/// `fault` names nothing.
void fail_if_asked(std::string_view fault, std::string_view phase, int rank, std::size_t tree);

}  // namespace podere::executor
