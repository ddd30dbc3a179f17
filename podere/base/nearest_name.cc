#include "podere/base/nearest_name.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>

namespace podere {
namespace {

constexpr std::size_t kMostSlips = 2;

/// Letters to insert, remove or replace to make `b` of `a` (Levenshtein).
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);  // of the first i letters of a to the first j of b
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = std::exchange(row[j], std::min({replaced, row[j] + 1, row[j - 1] + 1}));
    }
  }
  return row.back();
}

}  // namespace

std::optional<std::string> nearest_name(std::string_view word, const std::vector<std::string>& names) {
  if (word.empty()) return std::nullopt;
  std::size_t fewest = std::min(kMostSlips, word.size() - 1) + 1;
  std::optional<std::string> nearest;
  for (const std::string& name : names) {
    // Longer by more than the fewest slips so far, it cannot be nearer: time with thousands of long names.
    if (name.size() >= word.size() + fewest || word.size() >= name.size() + fewest) continue;
    const std::size_t distance = edit_distance(word, name);
    if (distance < fewest) {
      fewest = distance;
      nearest = name;
    }
  }
  return nearest;
}

}  // namespace podere
