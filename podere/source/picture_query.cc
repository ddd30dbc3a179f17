#include "podere/source/picture_query.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>
#include <utility>

#include "podere/base/error.h"
#include "podere/base/number.h"
#include "podere/base/printable.h"
#include "podere/classify/picture_layer.h"
#include "podere/classify/preprocessing.h"
#include "podere/io/memory_room.h"
#include "podere/source/location.h"

namespace podere::source {
namespace {

std::optional<std::uint32_t> parse_side(std::string_view text) {
  const auto side = parse_count(text);
  if (!side || *side < 1 || *side > classify::kMostSide) return std::nullopt;
  return static_cast<std::uint32_t>(*side);
}

class QueryParser {
 public:
  explicit QueryParser(const std::string& location) : location_(location) {}

  void set(std::string_view key, std::string_view value, PictureQuery& query) const {
    if (key == "size") {
      const std::size_t cross = std::min(value.find('x'), value.size());
      const auto width = parse_side(value.substr(0, cross));
      const auto height = cross < value.size() ? parse_side(value.substr(cross + 1)) : width;
      if (!width || !height)
        refuse(key, value, fmt::format("1 to {} pixels, such as 32 or 64x48", classify::kMostSide));
      query.shape.width = *width;
      query.shape.height = *height;
    } else if (key == "channels") {
      if (value != "1" && value != "3") refuse(key, value, "1 (gray) and 3 (red, green, blue)");
      query.shape.n_channels = value == "1" ? image::kGray : image::kRgb;
    } else if (key == "fit") {
      query.shape.fit = choice<image::Fit>(key, value);
    } else if (key == "pages") {
      query.pages = choice<image::Pages>(key, value);
    } else if (key == "labels" || key == "model") {
      if (value.empty()) refuse(key, value, "the name of a file");
      (key == "model" ? query.model : query.labels) = value;
    } else if (key == "bits") {
      const auto bits = parse_count(value);
      if (!bits || *bits < classify::kLeastBits || *bits > classify::kMostBits) {
        refuse(key, value, fmt::format("{} to {}, such as 12", classify::kLeastBits, classify::kMostBits));
      }
      query.bits = static_cast<unsigned>(*bits);
    } else if (key == "layer") {
      if (value.empty()) refuse(key, value, "the name of a tensor of the network");
      query.layer = value;
    } else if (key == "preprocess") {
      if (value.empty())
        refuse(key, value,
               fmt::format("{} and the name of a JSON file", fmt::join(classify::preprocessing_names(), ", ")));
      query.preprocess = value;
    } else if (key == "cache") {
      if (value.empty()) refuse(key, value, "no and the name of a folder");
      query.cache = value;
    } else {
      const auto seed = parse_count(value);
      if (!seed) refuse(key, value, "whole numbers from 0");
      query.seed = *seed;
    }
  }

 private:
  template <typename Enum>
  Enum choice(std::string_view key, std::string_view value) const {
    const auto names = names_of(Enum()).values;
    const auto* const name = std::ranges::find(names, value);
    if (name == names.end()) refuse(key, value, fmt::format("{}", fmt::join(names, ", ")));
    return static_cast<Enum>(name - names.begin());
  }
  [[noreturn]] void refuse(std::string_view key, std::string_view value, std::string_view allowed) const {
    throw_input_error("{}: {} is {}, allowed are {}", location_, key, printable(value), allowed);
  }

  const std::string& location_;
};

/// "key=value" up to the next "&".
struct Part {
  std::string_view key;
  std::string_view value;
  bool has_value;
};

/// Takes it off the text.
Part next_part(std::string_view& rest) {
  const std::size_t end = std::min(rest.find('&'), rest.size());
  const std::string_view part = rest.substr(0, end);
  rest.remove_prefix(std::min(rest.size(), end + 1));
  const std::size_t equals = std::min(part.find('='), part.size());
  return {part.substr(0, equals), part.substr(std::min(part.size(), equals + 1)), equals < part.size()};
}

void check_pixels(const std::string& location, const PictureQuery& query, const std::set<std::string_view>& found,
                  std::string_view example) {
  for (const std::string_view key : {"layer", "preprocess", "cache"}) {
    if (found.contains(key)) throw_input_error("{}: {} is of a network, which model=FILE.onnx names", location, key);
  }
  if (query.shape.width == 0) {
    throw_input_error("{}: needs the size that pictures are brought to, as in {}, or a network, as in model=FILE.onnx",
                      location, example);
  }
  if (query.shape.n_values() > io::kMostFeatures) {
    throw_input_error("{}: pictures of {} values, allowed are {}: choose a smaller size", location,
                      query.shape.n_values(), io::kMostFeatures);
  }
}

void check_network(const std::string& location, const PictureQuery& query, const std::set<std::string_view>& found) {
  for (const std::string_view key : {"channels", "fit"}) {
    if (!found.contains(key)) continue;
    throw_input_error("{}: {} is of pixels; with model= the network says its channels, and preprocess= the rest",
                      location, key);
  }
  if (query.shape.width != query.shape.height) {
    throw_input_error("{}: size is {}x{}, a network takes one number for both sides", location, query.shape.width,
                      query.shape.height);
  }
}

}  // namespace

PictureQuery parse_picture_query(const std::string& location, const std::vector<std::string_view>& keys,
                                 std::string_view example) {
  PictureQuery query;
  const QueryParser parser(location);
  const std::string text = parse_location(location).query;
  std::set<std::string_view> found;
  for (std::string_view rest = text; !rest.empty();) {
    const Part part = next_part(rest);
    if (!part.has_value || std::ranges::find(keys, part.key) == keys.end()) {
      throw_input_error("{}: {} is not known behind the question mark; there are {}=, as in {}", location,
                        printable(part.key), fmt::join(keys, "=, "), example);
    }
    if (!found.insert(part.key).second) throw_input_error("{}: {} is given twice", location, part.key);
    parser.set(part.key, part.value, query);
  }
  if (query.model.empty()) {
    check_pixels(location, query, found, example);
  } else {
    check_network(location, query, found);
  }
  return query;
}

std::vector<std::string> files_of_query(const PictureQuery& query) {
  std::vector<std::string> files;
  if (!query.labels.empty()) files.push_back(query.labels);
  if (query.model.empty()) return files;
  files.push_back(query.model);
  std::string preprocess = query.preprocess.empty() ? classify::preprocessing_file_of(query.model) : query.preprocess;
  if (!classify::is_preprocessing_name(preprocess)) files.push_back(std::move(preprocess));
  return files;
}

std::string with_absolute_files(const std::string& location) {
  const Location parsed = parse_location(location);
  std::string all = location.substr(0, location.size() - parsed.query.size());
  for (std::string_view rest = parsed.query; !rest.empty();) {
    const bool is_first = rest.size() == parsed.query.size();
    const Part part = next_part(rest);
    const bool is_file = part.key == "labels" || part.key == "model" ||
                         (part.key == "cache" && part.value != kNoCache) ||
                         (part.key == "preprocess" && !classify::is_preprocessing_name(std::string(part.value)));
    if (!is_first) all += '&';
    all += part.key;
    if (part.has_value) all += '=';
    all += is_file && !part.value.empty() ? std::filesystem::absolute(part.value).string() : std::string(part.value);
  }
  return all;
}

std::string pixels_query(const PictureShape& shape, unsigned bits) {
  return fmt::format("size={}x{}&channels={}&fit={}{}", shape.width, shape.height, shape.n_channels,
                     to_string(shape.fit), bits == 0 ? "" : fmt::format("&bits={}", bits));
}

image::Picture to_shape(image::Picture picture, const PictureShape& shape) {
  if (shape.n_channels == image::kGray) picture = image::to_gray(std::move(picture));
  picture = image::resize_to_fit(picture, shape.width, shape.height, shape.fit);
  return shape.n_channels == image::kRgb ? image::to_rgb(std::move(picture)) : picture;
}

}  // namespace podere::source
