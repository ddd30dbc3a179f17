// What "images:FOLDER?size=32&channels=3" says behind the question mark.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "podere/image/list.h"
#include "podere/image/picture.h"
#include "podere/image/resize.h"

namespace podere::source {

/// How pictures become rows: all of one size, whose values are the features.
struct PictureShape {
  std::uint32_t width = 0;
  std::uint32_t height = 0;
  int n_channels = image::kGray;
  image::Fit fit = image::Fit::kStretch;
  std::size_t n_values() const { return std::size_t{width} * height * static_cast<std::size_t>(n_channels); }
};

inline constexpr const char* kNoCache = "no";

struct PictureQuery {
  PictureShape shape;                         ///< with a model, width is size= or 0, and the rest means nothing
  std::string model;                          ///< model=FILE, a network whose features are wanted; empty: pixels are
  std::string layer;                          ///< layer=NAME; empty: the network's output
  std::string cache;                          ///< cache=FOLDER, of features; "no": none; empty: the user's
  std::string preprocess;                     ///< preprocess=NAME|FILE; empty: the file beside the model
  std::string labels;                         ///< labels=FILE; empty: none
  image::Pages pages = image::Pages::kFirst;  ///< pages=first|all
  unsigned bits = 0;                          ///< bits=N, as image::DecodeOptions has it
  std::uint64_t seed = 0;                     ///< seed=S
};

/// Of a location whose scheme is that of `example`. `keys` are those that it may have. Throws InputError that names
/// what is allowed.
PictureQuery parse_picture_query(const std::string& location, const std::vector<std::string_view>& keys,
                                 std::string_view example);

/// Files that it names, and the one beside the network that says its preprocessing, if that is used.
std::vector<std::string> files_of_query(const PictureQuery& query);

/// The location with absolute paths in place of those of files that it names behind the question mark.
std::string with_absolute_files(const std::string& location);

/// How pictures become pixels, all of it, as locations have it: "size=32x32&channels=1&fit=stretch", and "&bits=12".
std::string pixels_query(const PictureShape& shape, unsigned bits);

/// The values of the picture in this shape [height][width][n_channels].
image::Picture to_shape(image::Picture picture, const PictureShape& shape);

}  // namespace podere::source
