#include "podere/source/picture_query.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "podere/base/error.h"
#include "podere/base/number.h"
#include "podere/base/printable.h"
#include "podere/io/memory_room.h"
#include "podere/source/location.h"

namespace podere::source {
namespace {

constexpr std::uint64_t kMostSide = 4096;

std::optional<std::uint32_t> parse_side(std::string_view text) {
  const auto side = parse_count(text);
  if (!side || *side < 1 || *side > kMostSide) return std::nullopt;
  return static_cast<std::uint32_t>(*side);
}

class QueryParser {
 public:
  QueryParser(const std::string& location, std::string_view example) : location_(location), example_(example) {}

  void set(std::string_view key, std::string_view value, PictureQuery& query) const {
    if (key == "size") {
      const std::size_t cross = std::min(value.find('x'), value.size());
      const auto width = parse_side(value.substr(0, cross));
      const auto height = cross < value.size() ? parse_side(value.substr(cross + 1)) : width;
      if (!width || !height) refuse(key, value, fmt::format("1 to {} pixels, such as 32 or 64x48", kMostSide));
      query.shape.width = *width;
      query.shape.height = *height;
    } else if (key == "channels") {
      if (value != "1" && value != "3") refuse(key, value, "1 (gray) and 3 (red, green, blue)");
      query.shape.n_channels = value == "1" ? image::kGray : image::kRgb;
    } else if (key == "fit") {
      if (value != "stretch" && value != "crop" && value != "pad") refuse(key, value, "stretch, crop and pad");
      query.shape.fit = value == "stretch" ? image::Fit::kStretch
                        : value == "crop"  ? image::Fit::kCrop
                                           : image::Fit::kPad;
    } else if (key == "labels") {
      if (value.empty()) refuse(key, value, "the name of a file");
      query.labels = value;
    } else {
      const auto seed = parse_count(value);
      if (!seed) refuse(key, value, "whole numbers from 0");
      query.seed = *seed;
    }
  }

 private:
  [[noreturn]] void refuse(std::string_view key, std::string_view value, std::string_view allowed) const {
    throw_input_error("{}: {} is {}, allowed are {}", location_, key, printable(value), allowed);
  }

  const std::string& location_;
  std::string_view example_;
};

}  // namespace

PictureQuery parse_picture_query(const std::string& location, const std::vector<std::string_view>& keys,
                                 std::string_view example) {
  PictureQuery query;
  const QueryParser parser(location, example);
  const std::string text = parse_location(location).query;
  std::set<std::string_view> found;
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t end = std::min(rest.find('&'), rest.size());
    const std::string_view part = rest.substr(0, end);
    rest.remove_prefix(std::min(rest.size(), end + 1));
    const std::size_t equals = part.find('=');
    const std::string_view key = part.substr(0, std::min(equals, part.size()));
    if (equals == part.npos || std::ranges::find(keys, key) == keys.end()) {
      throw_input_error("{}: {} is not known behind the question mark; there are {}, as in {}", location,
                        printable(key), fmt::join(keys, "=, "), example);
    }
    if (!found.insert(key).second) throw_input_error("{}: {} is given twice", location, key);
    parser.set(key, part.substr(equals + 1), query);
  }
  if (query.shape.width == 0) {
    throw_input_error("{}: needs the size that pictures are brought to, as in {}", location, example);
  }
  if (query.shape.n_values() > io::kMostFeatures) {
    throw_input_error("{}: pictures of {} values, allowed are {}: choose a smaller size", location,
                      query.shape.n_values(), io::kMostFeatures);
  }
  return query;
}

image::Picture to_shape(image::Picture picture, const PictureShape& shape) {
  if (shape.n_channels == image::kGray) picture = image::to_gray(std::move(picture));
  picture = image::resize_to_fit(picture, shape.width, shape.height, shape.fit);
  return shape.n_channels == image::kRgb ? image::to_rgb(std::move(picture)) : picture;
}

}  // namespace podere::source
