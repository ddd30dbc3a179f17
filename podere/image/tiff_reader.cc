#include "podere/image/tiff_reader.h"

#include "podere/image/memory_limit.h"

namespace podere::image {

TiffReader::TiffReader(TiffFile& file, const TiffPage& page, std::size_t max_bytes) : file_(file), page_(page) {
  unit_bytes_ = page.is_tiled ? TIFFTileSize64(file.get()) : TIFFStripSize64(file.get());
  const std::uint64_t row_bytes = page.is_tiled ? TIFFTileRowSize64(file.get()) : TIFFScanlineSize64(file.get());
  if (page.is_tiled) {
    TIFFGetField(file.get(), TIFFTAG_TILEWIDTH, &unit_width_);
    TIFFGetField(file.get(), TIFFTAG_TILELENGTH, &unit_height_);
  } else {
    unit_width_ = page.width;
    TIFFGetFieldDefaulted(file.get(), TIFFTAG_ROWSPERSTRIP, &unit_height_);
    unit_height_ = std::min(unit_height_, page.height);
  }
  const bool becomes_rgb = page.colors == PHOTOMETRIC_PALETTE || page.colors == PHOTOMETRIC_SEPARATED;
  const bool turns = page.orientation != ORIENTATION_TOPLEFT;
  check_memory(file.name(), page.width, page.height,
               std::uint64_t{page.n_used} + (becomes_rgb || page.has_scaled_alpha ? kRgb : 0) + (turns ? kRgb : 0),
               unit_bytes_, max_bytes);
  const unsigned n_samples = page.is_planar ? 1 : page.n_samples;
  if (unit_bytes_ == 0 || unit_width_ == 0 || unit_height_ == 0 ||
      row_bytes < (std::uint64_t{unit_width_} * n_samples * page.type.n_bits + 7) / 8 ||
      unit_bytes_ < row_bytes * unit_height_) {
    file.fail();
  }
  row_bytes_ = static_cast<std::size_t>(row_bytes);
}

const std::uint8_t* TiffReader::read(std::uint32_t x, std::uint32_t y, unsigned plane, std::uint32_t height) {
  TIFF* const tiff = file_.get();
  const auto sample = static_cast<std::uint16_t>(plane);
  const std::uint32_t number =
      page_.is_tiled ? TIFFComputeTile(tiff, x, y, 0, sample) : TIFFComputeStrip(tiff, y, sample);
  const std::size_t n_bytes = page_.is_tiled ? static_cast<std::size_t>(unit_bytes_) : row_bytes_ * height;
  if (const std::uint8_t* const in_place = find_in_place(number, n_bytes)) return in_place;
  buffer_.resize(static_cast<std::size_t>(unit_bytes_));
  const auto wanted = static_cast<tmsize_t>(n_bytes);
  const tmsize_t n_read = page_.is_tiled ? TIFFReadEncodedTile(tiff, number, buffer_.data(), wanted)
                                         : TIFFReadEncodedStrip(tiff, number, buffer_.data(), wanted);
  if (n_read != wanted || file_.has_complaint()) file_.fail();
  return buffer_.data();
}

/// The samples in the file itself, where it has them as they are needed; null: it does not.
const std::uint8_t* TiffReader::find_in_place(std::uint32_t number, std::size_t n_bytes) const {
  if (page_.compression != COMPRESSION_NONE || page_.type.n_bits != 8) return nullptr;
  const std::uint64_t offset = TIFFGetStrileOffset(file_.get(), number);
  const std::uint64_t n_there = TIFFGetStrileByteCount(file_.get(), number);
  const std::uint64_t n_file = file_.bytes().size();
  const bool is_there = n_there >= n_bytes && offset > 0 && offset < n_file && n_file - offset >= n_bytes &&
                        file_.tag<std::uint16_t>(TIFFTAG_FILLORDER, FILLORDER_MSB2LSB) == FILLORDER_MSB2LSB;
  return is_there ? file_.bytes().data() + offset : nullptr;
}

}  // namespace podere::image
