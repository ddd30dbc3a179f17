// Which name may have been meant.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace podere {

/// Of `names` the one from which `word` differs by the fewest letters inserted, removed or replaced, the first of
/// several; nothing if those are more than two, or all letters of `word`.
std::optional<std::string> nearest_name(std::string_view word, const std::vector<std::string>& names);

}  // namespace podere
