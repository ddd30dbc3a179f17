// A state as a JSON file, as docs/farms.md describes it.
#pragma once

#include <string>
#include <string_view>

#include "podere/farm/state.h"

namespace podere::farm {

/// Throws InputError that begins with `name` for text that is no state, or of one that check() refuses.
State parse_state(std::string_view text, const std::string& name);
std::string state_text(const State& state);

}  // namespace podere::farm
