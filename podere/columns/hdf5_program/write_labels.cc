#include "podere/columns/hdf5_program/write_labels.h"

#include <array>
#include <bit>
#include <cstdint>
#include <istream>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "podere/columns/hdf5_program/new_file.h"

namespace podere::columns::hdf5 {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kRowsAtOnce = 1024;
constexpr std::int32_t kNoLabel = -1;
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
/// What microscopes wrote, in metadata.
constexpr std::array kNumbers = {"pixel_size_nm", "voltage_kv", "working_distance_mm", "magnification"};

Handle text_type() {
  Handle type(written(H5Tcopy(H5T_C_S1)), H5Tclose);
  H5Tset_size(type.get(), H5T_VARIABLE);
  H5Tset_cset(type.get(), H5T_CSET_UTF8);
  return type;
}

std::vector<const char*> pointers_to(const std::vector<std::string>& texts) {
  std::vector<const char*> pointers;
  for (const std::string& text : texts) pointers.push_back(text.c_str());
  return pointers;
}

/// A dataset with a row for each picture, which is written in runs of rows.
class Rows {
 public:
  using Shape = std::vector<hsize_t>;
  enum class Layout { kTogether, kChunkForEach };

  /// `shape`: how many rows, and the shape of each.
  Rows(hid_t where, const char* name, hid_t type, Shape shape, Layout layout = Layout::kTogether)
      : type_(written(H5Tcopy(type)), H5Tclose), shape_(std::move(shape)) {
    const Handle space(written(H5Screate_simple(n_dimensions(), shape_.data(), nullptr)), H5Sclose);
    const Handle made(written(H5Pcreate(H5P_DATASET_CREATE)), H5Pclose);
    H5Pset_obj_track_times(made.get(), false);
    if (layout == Layout::kChunkForEach) {
      Shape chunk = shape_;
      chunk[0] = 1;
      written(H5Pset_chunk(made.get(), n_dimensions(), chunk.data()));
    }
    dataset_ = Handle(written(H5Dcreate2(where, name, type_.get(), space.get(), H5P_DEFAULT, made.get(), H5P_DEFAULT)),
                      H5Dclose);
  }

  void write(std::size_t first, std::size_t n, const void* values) {
    if (n == 0) return;
    Shape start(shape_.size(), 0), count = shape_;
    start[0] = first;
    count[0] = n;
    const Handle space(written(H5Dget_space(dataset_.get())), H5Sclose);
    written(H5Sselect_hyperslab(space.get(), H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr));
    const Handle memory(written(H5Screate_simple(n_dimensions(), count.data(), nullptr)), H5Sclose);
    written(H5Dwrite(dataset_.get(), type_.get(), memory.get(), space.get(), H5P_DEFAULT, values));
  }

 private:
  int n_dimensions() const { return static_cast<int>(shape_.size()); }

  Handle type_;
  Shape shape_;
  Handle dataset_;
};

void write_attribute(hid_t where, const std::string& name, const std::string& text) {
  const Handle type = text_type();
  const Handle space(written(H5Screate(H5S_SCALAR)), H5Sclose);
  const Handle attribute(written(H5Acreate2(where, name.c_str(), type.get(), space.get(), H5P_DEFAULT, H5P_DEFAULT)),
                         H5Aclose);
  const char* const pointer = text.c_str();
  written(H5Awrite(attribute.get(), type.get(), &pointer));
}

Handle new_group(hid_t where, const char* name) {
  const Handle made(written(H5Pcreate(H5P_GROUP_CREATE)), H5Pclose);
  H5Pset_obj_track_times(made.get(), false);
  return Handle(written(H5Gcreate2(where, name, H5P_DEFAULT, made.get(), H5P_DEFAULT)), H5Gclose);
}

/// The pictures themselves, as far as they are kept.
class Images {
 public:
  Images(hid_t file, std::size_t n_pictures, const Json& head) : kind_(head.at("images")) {
    const auto shape = head.at("image_shape").get<Rows::Shape>();
    n_bytes_ = shape.at(0) * shape.at(1) * shape.at(2);
    if (n_pictures == 0 || kind_ == "none") return;
    if (kind_ == "small") {
      rows_.emplace(file, "images", H5T_NATIVE_UINT8, Rows::Shape{n_pictures, shape[0], shape[1], shape[2]},
                    Rows::Layout::kChunkForEach);
    } else {
      const Handle type(written(H5Tvlen_create(H5T_NATIVE_UINT8)), H5Tclose);
      rows_.emplace(file, "images", type.get(), Rows::Shape{n_pictures});
    }
  }

  void write(std::size_t row, std::string& bytes) {
    if (!rows_) refuse("pictures came, and none were to be kept");
    if (kind_ == "small" && bytes.size() != n_bytes_)
      refuse("a picture has {} bytes instead of {}", bytes.size(), n_bytes_);
    const hvl_t variable = {bytes.size(), bytes.data()};
    rows_->write(row, 1, kind_ == "small" ? static_cast<const void*>(bytes.data()) : &variable);
  }

 private:
  const std::string kind_;
  std::size_t n_bytes_;  // of a small one
  std::optional<Rows> rows_;
};

/// All datasets of pictures, and the rows that are not written yet.
class Pictures {
 public:
  Pictures(hid_t file, std::size_t n_pictures, std::size_t n_top, const Json& head)
      : n_pictures_(n_pictures),
        n_top_(n_top),
        images_(file, n_pictures, head),
        metadata_(new_group(file, "metadata")),
        files_(file, "files", text_type().get(), {n_pictures}),
        labels_(file, "labels", H5T_NATIVE_INT32, {n_pictures, n_top}),
        scores_(file, "scores", H5T_NATIVE_FLOAT, {n_pictures, n_top}),
        errors_(file, "errors", text_type().get(), {n_pictures}),
        widths_(metadata_.get(), "width", H5T_NATIVE_UINT32, {n_pictures}),
        heights_(metadata_.get(), "height", H5T_NATIVE_UINT32, {n_pictures}),
        detectors_(metadata_.get(), "detector", text_type().get(), {n_pictures}) {
    for (const char* const name : kNumbers)
      numbers_.emplace_back(metadata_.get(), name, H5T_NATIVE_DOUBLE, Rows::Shape{n_pictures});
  }

  void add_image(std::string bytes) { images_.write(n_written_ + names_.size(), bytes); }

  void add(const Json& picture) {
    if (n_written_ + names_.size() == n_pictures_) refuse("there are more pictures than there should be");
    names_.push_back(picture.at("name"));
    errors_texts_.push_back(picture.at("error"));
    width_.push_back(picture.at("width"));
    height_.push_back(picture.at("height"));
    detectors_texts_.push_back(picture.at("detector"));
    for (std::size_t k = 0; k < kNumbers.size(); ++k) {
      const Json& value = picture.at("numbers").at(k);
      number_[k].push_back(value.is_null() ? kNaN : value.get<double>());
    }
    const Json& top = picture.at("top");
    for (std::size_t k = 0; k < n_top_; ++k) {
      label_.push_back(k < top.size() ? top[k].at(0).get<std::int32_t>() : kNoLabel);
      score_.push_back(k < top.size() ? std::bit_cast<float>(top[k].at(1).get<std::uint32_t>()) : 0.0F);
    }
    if (names_.size() == kRowsAtOnce) write();
  }

  void end() {
    write();
    if (n_written_ != n_pictures_) refuse("{} of {} pictures came", n_written_, n_pictures_);
  }

 private:
  void write() {
    const std::size_t n = names_.size();
    files_.write(n_written_, n, pointers_to(names_).data());
    errors_.write(n_written_, n, pointers_to(errors_texts_).data());
    labels_.write(n_written_, n, label_.data());
    scores_.write(n_written_, n, score_.data());
    widths_.write(n_written_, n, width_.data());
    heights_.write(n_written_, n, height_.data());
    detectors_.write(n_written_, n, pointers_to(detectors_texts_).data());
    for (std::size_t k = 0; k < kNumbers.size(); ++k) {
      numbers_[k].write(n_written_, n, number_[k].data());
      number_[k].clear();
    }
    n_written_ += n;
    names_.clear();
    errors_texts_.clear();
    label_.clear();
    score_.clear();
    width_.clear();
    height_.clear();
    detectors_texts_.clear();
  }

  const std::size_t n_pictures_;
  const std::size_t n_top_;
  Images images_;
  Handle metadata_;
  Rows files_, labels_, scores_, errors_, widths_, heights_, detectors_;
  std::vector<Rows> numbers_;  // of kNumbers
  std::size_t n_written_ = 0;
  std::vector<std::string> names_, errors_texts_, detectors_texts_;
  std::vector<std::int32_t> label_;
  std::vector<float> score_;
  std::vector<std::uint32_t> width_, height_;
  std::array<std::vector<double>, kNumbers.size()> number_;
};

/// So many bytes, behind which a line ends.
std::string read_bytes(std::istream& lines, std::size_t n) {
  std::string bytes(n, '\0');
  if (!lines.read(bytes.data(), static_cast<std::streamsize>(n)) || lines.get() != '\n')
    refuse("a picture came in part");
  return bytes;
}

}  // namespace

void write_labels(const char* path, std::istream& lines) {
  std::string line;
  if (!std::getline(lines, line)) refuse("nothing is to be written");
  const Json head = Json::parse(line);
  const Handle file = new_file(path);
  for (const auto& [name, text] : head.at("attributes").items()) {
    write_attribute(file.get(), name, text.get<std::string>());
  }
  const auto classes = head.at("classes").get<std::vector<std::string>>();
  if (!classes.empty()) {
    Rows(file.get(), "classes", text_type().get(), {classes.size()})
        .write(0, classes.size(), pointers_to(classes).data());
  }
  Pictures pictures(file.get(), head.at("pictures"), head.at("top"), head);
  while (std::getline(lines, line)) {
    const Json picture = Json::parse(line);
    if (const std::size_t n = picture.at("image_bytes"); n > 0) pictures.add_image(read_bytes(lines, n));
    pictures.add(picture);
  }
  pictures.end();
  written(H5Fflush(file.get(), H5F_SCOPE_GLOBAL));
}

}  // namespace podere::columns::hdf5
