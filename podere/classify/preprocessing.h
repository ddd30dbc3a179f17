// How a picture becomes the input of a network.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "podere/base/enum_names.h"
#include "podere/image/picture.h"
#include "podere/image/resize.h"

namespace podere::classify {

enum class ChannelOrder { kRgb, kBgr };
constexpr EnumNames<2> names_of(ChannelOrder /*enumeration*/) { return {"channels", {"rgb", "bgr"}}; }

/// The shape of a network's input for one picture.
struct InputShape {
  std::uint32_t n_channels = 3;
  std::uint32_t height = 0;
  std::uint32_t width = 0;
  bool is_channels_last = false;
  std::size_t n_values() const { return std::size_t{n_channels} * height * width; }
};

/// A picture is resized; each value v of 0 to 255 becomes (v / divisor - mean) / std, channel by channel, in float32.
struct Preprocessing {
  image::Fit fit = image::Fit::kStretch;
  std::uint32_t shortest_side = 0;  ///< of fit crop: the shorter side before the middle is cut out; 0: as the network's
  image::Filter filter = image::Filter::kBilinear;
  ChannelOrder channels = ChannelOrder::kRgb;
  float divisor = 255;
  std::vector<float> mean = {0};  ///< of each channel, or one for all
  std::vector<float> std = {1};   ///< the same
  unsigned bits = 0;              ///< that values above 8 bits use, as image::DecodeOptions has it

  static void visit_fields(auto& self, auto&& visit) {
    visit("fit", self.fit);
    visit("shortest_side", self.shortest_side);
    visit("filter", self.filter);
    visit("channels", self.channels);
    visit("divisor", self.divisor);
    visit("mean", self.mean);
    visit("std", self.std);
    visit("bits", self.bits);
  }
};

struct NamedPreprocessing {
  std::string name;  ///< or the path of a file
  Preprocessing preprocessing;
};

inline constexpr int kMostSide = 1 << 14;
inline constexpr unsigned kLeastBits = 8;
inline constexpr unsigned kMostBits = 32;

/// "imagenet", "inception", "unit", "raw": what preprocessing_of knows by name.
std::vector<std::string> preprocessing_names();
bool is_preprocessing_name(const std::string& name);

/// What --preprocess knows by name, for a network that takes pictures of `shape`; else the path of a JSON file with
/// fields of Preprocessing. Throws InputError.
Preprocessing preprocessing_of(const std::string& name_or_path, const InputShape& shape);

/// Makes inputs of pictures. Thread-safe.
class Preparer {
 public:
  /// Throws InputError that begins with `name` for fields that cannot be.
  Preparer(const Preprocessing& preprocessing, const InputShape& shape, const std::string& name);

  /// The picture at the network's height and width; gray if it is, or the network takes gray ones.
  image::Picture resized(const image::Picture& picture) const;
  /// Fills `input` [shape.n_values()] with the values of what resized() returned.
  void fill(const image::Picture& small, std::span<float> input) const;
  const InputShape& shape() const { return shape_; }
  std::size_t n_values() const { return shape_.n_values(); }

 private:
  image::Picture to_size(const image::Picture& picture) const;

  Preprocessing preprocessing_;
  InputShape shape_;
  std::vector<float> values_;  // [n_channels x 256]
};

}  // namespace podere::classify
