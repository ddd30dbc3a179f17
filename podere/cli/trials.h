// Trials of a search as text.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "podere/base/json.h"

namespace podere::cli {

/// "depth 8, learning rate 0.1", without what `but` has too.
std::string setting_text(const Json& setting, const Json& but = Json::object());

/// The best in front, those without a score behind. Trials are as the fact "trials" of a search has them: "trial",
/// "state", "score", "budget", "setting".
void sort_trials(std::vector<Json>& trials, bool is_maximized);

/// The first `n_shown`, one a line. Of their settings what is not the same in all.
std::string trials_text(const std::vector<Json>& trials, const std::string& score, std::size_t n_shown);

}  // namespace podere::cli
