// A page that shows some of many pictures, with their classes.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "podere/image/picture.h"

namespace podere::classify {

/// What came out of a picture.
struct SheetRow {
  std::string name;
  std::string label;  ///< the most likely class
  float score = 0;
  std::string fault;  ///< why it could not be used; empty if it could
};

struct SheetSource {
  std::string title;
  std::vector<std::pair<std::string, std::string>> facts;  ///< name and value of each line below the title
  std::size_t n_pictures = 0;
  std::function<SheetRow(std::size_t)> row;
  /// Nothing where it cannot be read any more: it is left out. Called for few, which could be used before, in their
  /// order, so that a packed archive is unpacked once.
  std::function<std::optional<image::Picture>(std::size_t)> picture;
};

inline constexpr std::size_t kMostSpread = 60;
inline constexpr std::size_t kMostUnsure = 12;
inline constexpr std::size_t kMostFaults = 12;

/// An HTML file that needs no other and runs no script: how many pictures each class has; up to kMostSpread pictures,
/// evenly from the list, sorted by class; those that the network is least sure of; some that could not be used, with
/// the reason. Names may be any bytes.
std::string contact_sheet(const SheetSource& source);

}  // namespace podere::classify
