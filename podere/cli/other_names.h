// What XGBoost, LightGBM, scikit-learn and PyTorch call the options of `podere train`.
#pragma once

#include <string>
#include <vector>

namespace podere::cli {

/// The words of a command line with Podere's names in place of others' that mean the same: "train gbt x --eta 0.1"
/// becomes "train gbt x --learning-rate 0.1", "help train" becomes "train --help", "version" "--version".
std::vector<std::string> in_own_names(std::vector<std::string> words);

/// What to use in place of an option that others have and `command` ("gbt", "nn", "mlp") has not, where that means
/// something else; empty for all other options. `option` is with its dashes.
std::string hint_of(const std::string& command, const std::string& option);

/// All of them, as a table of Markdown.
std::string other_names_text();

}  // namespace podere::cli
