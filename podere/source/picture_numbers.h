// What numbers a picture becomes: the columns of a table of pictures.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "podere/image/decode.h"
#include "podere/source/picture_query.h"
#include "podere/table/table.h"

namespace podere::source {

struct PictureNumbers {
  std::vector<std::string> names;  ///< of the columns
  std::string pictures;  ///< of pixels how they are made, as table::Schema has it; features say it by their names
  /// Of a picture that messages call `title` [names.size()]. Thread-safe. Throws InputError.
  std::function<void(image::Picture picture, const std::string& title, std::span<float> numbers)> compute;
  image::DecodeOptions decoding;  ///< how the picture is decoded
  std::string fingerprint;        ///< differs where numbers do; empty: they are as soon made again as kept
};

/// Pixels of the size that is asked for, or features of the network. Throws InputError for a network that cannot be
/// used.
PictureNumbers picture_numbers(const PictureQuery& query);

/// Throws InputError where a model learned other pictures than `names` and `pictures` are of: pixels that were made in
/// another way, or features of another network.
void check_learned(const std::string& location, const table::Schema& model, const std::vector<std::string>& names,
                   const std::string& pictures);

}  // namespace podere::source
