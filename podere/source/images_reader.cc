#include "podere/source/images_reader.h"

#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <utility>

#include "podere/base/error.h"
#include "podere/base/file_traffic.h"
#include "podere/base/sha256.h"
#include "podere/classify/feature_cache.h"
#include "podere/image/decode.h"
#include "podere/image/labels.h"
#include "podere/image/list.h"
#include "podere/source/location.h"
#include "podere/source/picture_columns.h"
#include "podere/source/picture_numbers.h"
#include "podere/source/picture_query.h"

namespace podere::source {
namespace {

constexpr std::string_view kImagesExample = "images:FOLDER?size=32";

PictureQuery query_of(const SourceSpec& spec) {
  const std::vector<std::string_view> keys = {"size",  "channels", "fit",   "labels",     "bits",
                                              "pages", "model",    "layer", "preprocess", "cache"};
  PictureQuery query = parse_picture_query(spec.location, keys, kImagesExample);
  if (!spec.labels.empty() && !query.labels.empty()) {
    throw_input_error("{}: labels= and --labels are both chosen; choose one of them", spec.location);
  }
  if (!spec.labels.empty()) query.labels = spec.labels;
  return query;
}

/// Null: there is none.
std::shared_ptr<classify::FeatureCache> open_cache(const PictureQuery& query, const PictureNumbers& numbers,
                                                   std::uint64_t n_pictures, int n_writers) {
  if (numbers.fingerprint.empty() || query.cache == kNoCache) return nullptr;
  const auto folder = query.cache.empty() ? classify::usual_feature_cache() : std::filesystem::path(query.cache);
  if (folder.empty()) return nullptr;
  return std::make_shared<classify::FeatureCache>(classify::FeatureCacheOptions{.folder = folder,
                                                                                .fingerprint = numbers.fingerprint,
                                                                                .n_values = numbers.names.size(),
                                                                                .n_pictures = n_pictures,
                                                                                .n_writers = n_writers});
}

/// By which the cache knows a page.
std::string key_of(const image::FileBytes& file, std::uint32_t page) {
  return page == 0 ? file.sha256() : sha256_of(fmt::format("{} page {}", file.sha256(), page));
}

std::unique_ptr<columns::ColumnFile> open_files_of_pictures(const Reading& reading, int n_here) {
  const SourceSpec& spec = reading.spec;
  const PictureQuery query = query_of(spec);
  const std::string path = parse_location(spec.location).path;
  if (path.empty()) throw_input_error("{}: names no pictures; they are asked for as {}", spec.location, kImagesExample);
  const auto pictures = std::make_shared<const image::PictureList>(image::list_pictures(path, query.pages));
  PictureNumbers numbers = picture_numbers(query);
  PictureRows rows;
  rows.name = spec.location;
  rows.n = pictures->size();
  rows.columns = numbers.names;
  rows.pictures = numbers.pictures;
  // A folder that is chosen may be one of all machines.
  const int n_writers = query.cache.empty() ? n_here : reading.comm.size();
  rows.read = [pictures, cache = open_cache(query, numbers, rows.n, n_writers), options = numbers.decoding,
               compute = std::move(numbers.compute)](std::uint64_t row, std::span<float> values) {
    const auto i = static_cast<std::size_t>(row);
    const auto file = pictures->read(i);
    const DecodeTime decoding;
    const std::string key = cache ? key_of(*file, pictures->page(i)) : "";
    if (cache && cache->find(key, values)) return;
    const std::string title = pictures->title(i);
    image::DecodeOptions of_page = options;
    of_page.page = pictures->page(i);
    compute(image::decode(file->get(), title, of_page), title, values);
    if (cache) cache->add(key, values);
  };
  auto labels = std::make_shared<const std::vector<std::string>>(
      query.labels.empty() ? image::folder_labels(*pictures) : image::file_labels(*pictures, query.labels));
  if (!labels->empty()) {
    rows.label = [labels = std::move(labels)](std::uint64_t i) { return (*labels)[static_cast<std::size_t>(i)]; };
  }
  return picture_columns(std::move(rows));
}

/// What the rows are made of: the archive, or each picture; and the labels.
std::vector<std::string> files_of_pictures(const SourceSpec& spec) {
  const PictureQuery query = query_of(spec);
  std::vector<std::string> files = image::files_of_pictures(parse_location(spec.location).path);
  for (std::string& file : files_of_query(query)) files.push_back(std::move(file));
  return files;
}

void make_paths_absolute(SourceSpec& spec) {
  const Location location = parse_location(with_absolute_files(spec.location));
  if (location.path.empty()) return;
  spec.location = location.scheme + ":" + std::filesystem::absolute(location.path).string() +
                  (location.query.empty() ? "" : "?" + location.query);
}

table::Table load_images(const Reading& reading) { return load_pictures(reading, open_files_of_pictures); }

std::unique_ptr<table::RowSource> open_images(const Reading& reading) {
  return open_pictures(reading, open_files_of_pictures);
}

}  // namespace

Reader images_reader() {
  return {
      .name = "images",
      .reads = Reads::kScheme,
      .options = {"columns", "drop", "positive", "missing", "drop_unlabeled", "labels"},
      .reason = "pictures have their pixels or features as columns, and a label by their folder or a file of labels",
      .load = load_images,
      .open = open_images,
      .other_files = files_of_pictures,
      .make_absolute = make_paths_absolute};
}

}  // namespace podere::source
