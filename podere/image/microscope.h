// What a microscope wrote into a picture.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "podere/image/decode.h"

namespace podere::image {

struct MicroscopeFacts {
  std::optional<double> pixel_size_nm;  ///< else of the resolution that a TIFF has, if that has a unit
  std::optional<double> voltage_kv;
  std::optional<double> working_distance_mm;
  std::optional<double> magnification;
  std::string detector;  ///< empty: not known
  /// All that is there, in its order: "AP_MAG" and "Mag = 10.00 K X" of Zeiss, "Beam.HV" and "5000" of FEI. UTF-8.
  std::vector<std::pair<std::string, std::string>> pairs;
};

/// Reads tag 34118 (Zeiss) or 34682 (FEI, Thermo Fisher) of a TIFF's first page, and its resolution. Nothing of JPEG
/// and PNG, or of metadata that are damaged: what cannot be read is left out. Throws PictureFault as decode() if it is
/// no picture at all.
MicroscopeFacts read_microscope_facts(Bytes bytes, const std::string& name);

/// A picture, and what the microscope wrote beside it, but for `pairs`.
struct PictureWithFacts {
  Picture picture;
  MicroscopeFacts microscope;
  bool has_other_pages = false;  ///< its file has
};

/// As decode().
PictureWithFacts decode_with_facts(Bytes bytes, const std::string& name, const DecodeOptions& options = {});

}  // namespace podere::image
