#include "podere/table/features.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <unordered_map>

#include "podere/base/error.h"

namespace podere::table {
namespace {

constexpr std::size_t kMostNamesShown = 40;

/// How many pixels a picture has whose features these are, all of them; 0 for other features.
std::size_t count_pixels(const std::vector<std::string>& names) {
  for (std::size_t j = 0; j < names.size(); ++j) {
    if (names[j] != pixel_name(j)) return 0;
  }
  return names.size();
}

}  // namespace

std::string pixel_name(std::size_t pixel) { return "pixel" + std::to_string(pixel + 1); }

bool is_made_up(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    if (name.size() < 2 || name[0] != 'f' || name.find_first_not_of("0123456789", 1) != std::string::npos) return false;
  }
  return true;
}

bool are_matched_by_order(const Schema& wanted, const std::vector<std::string>& names) {
  return is_made_up(wanted.features) != is_made_up(names) || (is_made_up(names) && !wanted.label);
}

std::vector<std::optional<std::size_t>> find_features(const Schema& wanted, const std::vector<std::string>& names) {
  const std::size_t n = wanted.features.size();
  std::vector<std::optional<std::size_t>> places(n);
  if (are_matched_by_order(wanted, names)) {
    // All that can be checked is the number of columns.
    for (std::size_t j = 0; j < n && n == names.size(); ++j) places[j] = j;
    return places;
  }
  std::unordered_map<std::string, std::size_t> place_of;
  for (std::size_t j = 0; j < names.size(); ++j) place_of.emplace(names[j], j);
  for (std::size_t j = 0; j < n; ++j) {
    if (const auto found = place_of.find(wanted.features[j]); found != place_of.end()) places[j] = found->second;
  }
  return places;
}

void check_same_pictures(const Schema& wanted, const Schema& schema) {
  if (wanted.pictures.empty() || schema.pictures.empty() || wanted.pictures == schema.pictures) return;
  throw_input_error(
      "the model learned pictures as {}, and those of the data are {}: read them as the model learned them",
      wanted.pictures, schema.pictures);
}

std::vector<std::size_t> match_features(const Schema& wanted, const Schema& schema) {
  check_same_pictures(wanted, schema);
  const auto found = find_features(wanted, schema.features);
  // Pixels with the same number are others in pictures of another size.
  const std::size_t n_pixels_wanted = count_pixels(wanted.features);
  const std::size_t n_pixels = count_pixels(schema.features);
  if (n_pixels_wanted > 0 && n_pixels > 0 && n_pixels_wanted != n_pixels) {
    throw_input_error("the model takes pictures of {} pixels, those of the data have {}", n_pixels_wanted, n_pixels);
  }
  std::vector<std::size_t> places;
  std::vector<std::string> absent;
  for (std::size_t j = 0; j < wanted.features.size(); ++j) {
    if (found[j]) places.push_back(*found[j]);
    if (!found[j]) absent.push_back(wanted.features[j]);
  }
  if (absent.empty()) return places;
  if (are_matched_by_order(wanted, schema.features)) {
    throw_input_error(
        "the model has {} features, the data {} (without names on both sides they are matched by order: choose columns "
        "with --label or --columns)",
        wanted.features.size(), schema.features.size());
  }
  const std::size_t n_shown = std::min(absent.size(), kMostNamesShown);
  throw_input_error("the data lacks columns that the model needs: {}{}",
                    fmt::join(absent.begin(), absent.begin() + static_cast<long>(n_shown), ", "),
                    n_shown < absent.size() ? fmt::format(", ... ({} in all)", absent.size()) : "");
}

std::vector<std::span<const float>> feature_columns(const Schema& wanted, const Table& table) {
  const std::vector<std::size_t> places = match_features(wanted, table.schema());
  const auto categories_of = [](const Schema& schema, std::size_t feature) {
    const auto found = schema.categories.find(feature);
    return found == schema.categories.end() ? nullptr : &found->second;
  };
  std::vector<std::span<const float>> columns;
  for (std::size_t j = 0; j < places.size(); ++j) {
    const Dictionary* const a = categories_of(wanted, j);
    const Dictionary* const b = categories_of(table.schema(), places[j]);
    if ((a == nullptr) != (b == nullptr) || (a != nullptr && *a != *b)) {
      throw_input_error("the categories of {} are not those of the model", wanted.features[j]);
    }
    columns.push_back(table.feature(places[j]));
  }
  return columns;
}

}  // namespace podere::table
