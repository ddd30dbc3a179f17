// The file with what was found of all pictures.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "podere/base/enum_names.h"
#include "podere/base/json.h"
#include "podere/classify/outcome.h"
#include "podere/classify/preprocessing.h"

namespace podere::classify {

enum class OutputFormat { kText, kHdf5 };
constexpr EnumNames<2> names_of(OutputFormat /*enumeration*/) { return {"format", {"text", "hdf5"}}; }

/// What an HDF5 file has of the pictures themselves.
enum class KeptImages {
  kNone,
  kSmall,     ///< as they came to the network: its size and channels, values of 0 to 255
  kOriginal,  ///< the bytes of their files
};
constexpr EnumNames<3> names_of(KeptImages /*enumeration*/) { return {"keep-images", {"none", "small", "original"}}; }

struct OutputOptions {
  std::string path;  ///< a file that is there, and empty
  OutputFormat format = OutputFormat::kText;
  std::size_t n_pictures = 0;
  std::size_t n_top = 0;
  std::vector<std::string> labels;  ///< names of classes; empty: their numbers
  KeptImages keep_images = KeptImages::kNone;
  InputShape input;  ///< of the network
  Json attributes;   ///< what HDF5 says of where its rows come from, {name: text}
};

/// Takes what was found of each picture, in the order of the list.
class Output {
 public:
  virtual ~Output() = default;
  /// Bytes of `picture` that are no UTF-8 are written as \xNN. Throws InputError where there is no room.
  virtual void add(const std::string& picture, const Outcome& outcome) = 0;
  /// All are there. Throws as add.
  virtual void end() = 0;
};

std::unique_ptr<Output> open_output(OutputOptions options);

}  // namespace podere::classify
