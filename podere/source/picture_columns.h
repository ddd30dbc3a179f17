// Pictures as a file of columns.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "podere/columns/column_file.h"
#include "podere/source/reader.h"

namespace podere::source {

/// Pictures in an order, wherever they come from.
struct PictureRows {
  std::string name;  ///< what messages call them all
  std::uint64_t n = 0;
  std::vector<std::string> columns;  ///< names of the numbers of each
  std::string pictures;              ///< of pixels how they are made, as table::Schema has it
  /// Decodes or draws one, and makes its numbers [columns.size()]. Thread-safe. Throws InputError.
  std::function<void(std::uint64_t i, std::span<float> numbers)> read;
  /// The class of one, empty where it is not known; null: there are no labels.
  std::function<std::string(std::uint64_t i)> label = nullptr;
};

inline constexpr const char* kPictureLabel = "label";

/// The columns, and "label" if there are labels.
std::unique_ptr<columns::ColumnFile> picture_columns(PictureRows rows);

/// Opens pictures for a job, which `n_here` ranks of this machine do. Local. Throws InputError.
using OpenPictures = std::unique_ptr<columns::ColumnFile> (*)(const Reading& reading, int n_here);

table::Table load_pictures(const Reading& reading, OpenPictures open);
std::unique_ptr<table::RowSource> open_pictures(const Reading& reading, OpenPictures open);

}  // namespace podere::source
