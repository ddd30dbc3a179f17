#include "podere/table/features.h"

#include <unordered_map>

namespace podere::table {

bool is_made_up(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    if (name.size() < 2 || name[0] != 'f' || name.find_first_not_of("0123456789", 1) != std::string::npos) return false;
  }
  return true;
}

std::vector<std::optional<std::size_t>> find_features(const std::vector<std::string>& wanted,
                                                      const std::vector<std::string>& names) {
  std::vector<std::optional<std::size_t>> places(wanted.size());
  if (is_made_up(wanted) != is_made_up(names)) {
    // One side has no names: all that can be checked is the number of columns.
    for (std::size_t j = 0; j < wanted.size() && wanted.size() == names.size(); ++j) places[j] = j;
    return places;
  }
  std::unordered_map<std::string, std::size_t> place_of;
  for (std::size_t j = 0; j < names.size(); ++j) place_of.emplace(names[j], j);
  for (std::size_t j = 0; j < wanted.size(); ++j) {
    if (const auto found = place_of.find(wanted[j]); found != place_of.end()) places[j] = found->second;
  }
  return places;
}

}  // namespace podere::table
