#include "podere/table/same_run.h"

#include <fmt/format.h>

#include <algorithm>

#include "podere/base/error.h"
#include "podere/base/first_difference.h"

namespace podere::table {

std::string first_difference(const Schema& was, const Schema& is) {
  if (was.features.size() != is.features.size()) {
    return fmt::format("the data had {} features, have {}", was.features.size(), is.features.size());
  }
  const auto [old_name, new_name] = std::ranges::mismatch(was.features, is.features);
  if (old_name != was.features.end()) {
    return difference_in_words(fmt::format("feature {}", old_name - was.features.begin()), *old_name, *new_name);
  }
  if (was.label != is.label) return difference_in_words("the label", was.label, is.label);
  if (was.weight != is.weight) return difference_in_words("the weight", was.weight, is.weight);
  return was == is ? "" : "the categories of the data are others";
}

void check_same_run(const std::string& difference) {
  if (difference.empty()) return;
  throw_input_error("the checkpoint is of another run: {}; give the same, or another file for checkpoints", difference);
}

}  // namespace podere::table
