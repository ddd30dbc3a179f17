#include "podere/source/images_reader.h"

#include <filesystem>
#include <memory>
#include <utility>

#include "podere/base/error.h"
#include "podere/base/file_traffic.h"
#include "podere/image/decode.h"
#include "podere/image/labels.h"
#include "podere/image/list.h"
#include "podere/source/location.h"
#include "podere/source/picture_columns.h"

namespace podere::source {
namespace {

constexpr std::string_view kImagesExample = "images:FOLDER?size=32";

PictureQuery query_of(const SourceSpec& spec) {
  const std::vector<std::string_view> keys = {"size", "channels", "fit", "labels"};
  PictureQuery query = parse_picture_query(spec.location, keys, kImagesExample);
  if (!spec.labels.empty() && !query.labels.empty()) {
    throw_input_error("{}: labels= and --labels are both chosen; choose one of them", spec.location);
  }
  if (!spec.labels.empty()) query.labels = spec.labels;
  return query;
}

std::unique_ptr<columns::ColumnFile> open_files_of_pictures(const Reading& reading) {
  const SourceSpec& spec = reading.spec;
  const PictureQuery query = query_of(spec);
  const std::string path = parse_location(spec.location).path;
  if (path.empty()) throw_input_error("{}: names no pictures; they are asked for as {}", spec.location, kImagesExample);
  const auto pictures = std::make_shared<const image::PictureList>(image::list_pictures(path));
  PictureRows rows;
  rows.name = spec.location;
  rows.n = pictures->size();
  rows.picture = [pictures](std::uint64_t i) {
    const auto bytes = pictures->read(static_cast<std::size_t>(i));
    const DecodeTime decoding;
    return image::decode(bytes, pictures->title(static_cast<std::size_t>(i)));
  };
  auto labels = std::make_shared<const std::vector<std::string>>(
      query.labels.empty() ? image::folder_labels(*pictures) : image::file_labels(*pictures, query.labels));
  if (!labels->empty()) {
    rows.label = [labels = std::move(labels)](std::uint64_t i) { return (*labels)[static_cast<std::size_t>(i)]; };
  }
  return picture_columns(std::move(rows), query.shape);
}

/// What the rows are made of: the archive, or each picture; and the labels.
std::vector<std::string> files_of_pictures(const SourceSpec& spec) {
  const PictureQuery query = query_of(spec);
  std::vector<std::string> files;
  const std::string path = parse_location(spec.location).path;
  const image::PictureList pictures = image::list_pictures(path);
  for (std::size_t i = 0; i < pictures.size(); ++i) {
    const std::string file = pictures.file(i);
    if (files.empty() || files.back() != file) files.push_back(file);
  }
  if (!query.labels.empty()) files.push_back(query.labels);
  return files;
}

void make_paths_absolute(SourceSpec& spec) {
  const auto absolute = [](const std::string& path) { return std::filesystem::absolute(path).string(); };
  const Location location = parse_location(spec.location);
  if (location.path.empty()) return;
  std::string query = location.query;
  constexpr std::string_view kLabels = "labels=";
  for (std::size_t at = 0; at < query.size(); at = std::min(query.find('&', at), query.size() - 1) + 1) {
    if (query.compare(at, kLabels.size(), kLabels) != 0) continue;
    const std::size_t begin = at + kLabels.size(), end = std::min(query.find('&', begin), query.size());
    if (end > begin) query.replace(begin, end - begin, absolute(query.substr(begin, end - begin)));
    break;
  }
  spec.location = location.scheme + ":" + absolute(location.path) + (query.empty() ? "" : "?" + query);
}

table::Table load_images(const Reading& reading) { return load_pictures(reading, open_files_of_pictures); }

std::unique_ptr<table::RowSource> open_images(const Reading& reading) {
  return open_pictures(reading, open_files_of_pictures);
}

}  // namespace

Reader images_reader() {
  return {.name = "images",
          .reads = Reads::kScheme,
          .options = {"columns", "drop", "positive", "missing", "drop_unlabeled", "labels"},
          .reason = "pictures have their pixels as columns, and a label by their folder or a file of labels",
          .load = load_images,
          .open = open_images,
          .other_files = files_of_pictures,
          .make_absolute = make_paths_absolute};
}

}  // namespace podere::source
