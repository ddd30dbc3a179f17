#include "podere/io/shard_file.h"

#include <zlib.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <exception>
#include <string_view>
#include <utility>

#include "podere/base/atomic_file.h"
#include "podere/base/error.h"
#include "podere/base/json.h"
#include "podere/base/json_text.h"
#include "podere/base/parallel.h"

namespace podere::io {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr std::string_view kMagic = "PODSHARD";
constexpr std::uint32_t kVersion = 1;
constexpr std::size_t kChecksumAt = 12;
constexpr std::size_t kCheckedFrom = 16;
constexpr std::size_t kHeaderBytesAt = 16;
constexpr std::size_t kJsonBytesAt = 24;

std::uint32_t checksum(const void* bytes, std::size_t n) {
  return static_cast<std::uint32_t>(crc32_z(0, static_cast<const Bytef*>(bytes), n));
}

template <typename Number>
void append(std::string& bytes, Number value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

template <typename Number>
Number number_at(const std::string& bytes, std::size_t offset) {
  Number value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

/// Zeros up to the next multiple of 64.
std::string_view padding_behind(std::uint64_t n_bytes) {
  static constexpr char kZeros[64] = {};
  return {kZeros, static_cast<std::size_t>((64 - n_bytes % 64) % 64)};
}

std::uint64_t unsigned_at(const SortedJson& json, const char* key) {
  const SortedJson& value = json.at(key);
  if (!value.is_number_unsigned()) throw_error("{} is no count", key);
  return value.get<std::uint64_t>();
}

std::optional<std::string> text_at(const SortedJson& json, const char* key) {
  const SortedJson& value = json.at(key);
  return value.is_null() ? std::nullopt : std::optional(value.get<std::string>());
}

/// Throws SortedJson::exception or Error.
ShardHeader header_of(const SortedJson& json) {
  ShardHeader header;
  header.n_global_rows = unsigned_at(json, "n_global_rows");
  header.rows = {unsigned_at(json, "begin"), unsigned_at(json, "end")};
  header.schema.features = json.at("features").get<std::vector<std::string>>();
  header.schema.label = text_at(json, "label");
  header.schema.weight = text_at(json, "weight");
  header.schema.classes = json.value("classes", std::vector<std::string>());
  header.schema.pictures = json.value("pictures", std::string());
  for (const SortedJson& feature : json.value("dates", SortedJson::array())) {
    header.schema.dates.insert(feature.get<std::size_t>());
  }
  for (const SortedJson& column : json.at("categories")) {
    table::Dictionary texts;
    if (!column.at("texts").is_null())
      texts =
          table::CategoryTexts(column.at("texts").get<std::vector<std::string>>(), column.value("are_numbers", false));
    const std::uint64_t feature = unsigned_at(column, "feature");
    if (feature >= header.schema.features.size()) throw_error("categories of no feature");
    header.schema.categories.emplace(static_cast<std::size_t>(feature), std::move(texts));
  }
  const table::Table checked({}, header.n_global_rows, header.rows);  // refuses rows that cannot be
  return header;
}

/// The first bytes of a shard, up to its columns; empty if they are not whole.
std::string read_header_bytes(const File& file) {
  std::string bytes(ShardHeader::kFixedBytes, '\0');
  if (file.read_at(0, bytes) < bytes.size() || !bytes.starts_with(kMagic)) return {};
  if (number_at<std::uint32_t>(bytes, kMagic.size()) != kVersion) return {};
  const auto n_bytes = number_at<std::uint64_t>(bytes, kHeaderBytesAt);
  const auto n_json = number_at<std::uint64_t>(bytes, kJsonBytesAt);
  if (n_bytes < bytes.size() || n_bytes > file.size() || n_json > n_bytes - bytes.size()) return {};
  bytes.resize(static_cast<std::size_t>(n_bytes));
  if (file.read_at(0, bytes) < bytes.size()) return {};
  const bool is_whole = checksum(bytes.data() + kCheckedFrom, bytes.size() - kCheckedFrom) ==
                        number_at<std::uint32_t>(bytes, kChecksumAt);
  return is_whole ? bytes : std::string();
}

}  // namespace

std::string ShardHeader::to_json() const {
  SortedJson categories = SortedJson::array();
  for (const auto& [feature, texts] : schema.categories) {
    categories.push_back({{"feature", feature}, {"texts", texts ? SortedJson(*texts) : SortedJson()}});
    if (texts && texts->are_numbers) categories.back()["are_numbers"] = true;
  }
  const SortedJson json = {{"n_global_rows", n_global_rows},
                           {"begin", rows.begin},
                           {"end", rows.end},
                           {"features", schema.features},
                           {"label", schema.label ? SortedJson(*schema.label) : SortedJson()},
                           {"weight", schema.weight ? SortedJson(*schema.weight) : SortedJson()},
                           {"classes", schema.classes},
                           {"pictures", schema.pictures},
                           {"dates", schema.dates},
                           {"categories", categories}};
  try {
    return json.dump();
  } catch (const SortedJson::exception& fault) {
    throw_error("the schema of a table cannot be written as JSON: {}", fault.what());
  }
}

std::optional<ShardHeader> ShardHeader::from_json(const std::string& text) {
  if (is_nested_deeper_than(text, kMaxJsonDepth)) return std::nullopt;
  try {
    return header_of(SortedJson::parse(text));
  } catch (const SortedJson::exception&) {
    return std::nullopt;
  } catch (const Error&) {
    return std::nullopt;
  }
}

std::optional<ShardFile> ShardFile::open(const std::filesystem::path& path) {
  try {
    File file(path);
    const std::string bytes = read_header_bytes(file);
    if (bytes.empty()) return std::nullopt;
    const auto n_json = static_cast<std::size_t>(number_at<std::uint64_t>(bytes, kJsonBytesAt));
    std::optional<ShardHeader> header = ShardHeader::from_json(bytes.substr(ShardHeader::kFixedBytes, n_json));
    if (!header) return std::nullopt;

    // Products of what the file says of itself stay below its size, and so do not overflow.
    const std::size_t n_columns = header->n_columns();
    const std::uint64_t columns_begin = bytes.size() + padding_behind(bytes.size()).size();
    if (columns_begin > file.size() || header->rows.size() > file.size() / sizeof(float)) return std::nullopt;
    if (n_columns > 0 && header->column_bytes() > file.size() / n_columns) return std::nullopt;
    const std::size_t n_checksums = n_columns * header->n_chunks();
    if (bytes.size() - ShardHeader::kFixedBytes - n_json != n_checksums * sizeof(std::uint32_t)) return std::nullopt;
    if (file.size() - columns_begin != n_columns * header->column_bytes()) return std::nullopt;

    header->checksums.resize(n_checksums);
    for (std::size_t i = 0; i < n_checksums; ++i) {
      header->checksums[i] =
          number_at<std::uint32_t>(bytes, ShardHeader::kFixedBytes + n_json + i * sizeof(std::uint32_t));
    }
    return ShardFile(std::move(file), std::move(*header), columns_begin);
  } catch (const std::exception&) {  // a header may also claim to be longer than there is memory
    return std::nullopt;
  }
}

bool ShardFile::read(std::size_t column, table::RowRange rows, std::span<float> values) const {
  const std::uint64_t begin = rows.begin - header_.rows.begin;  // in the shard
  const std::uint64_t end = rows.end - header_.rows.begin;
  const std::uint64_t column_begin = columns_begin_ + column * header_.column_bytes();
  std::vector<float> partial;
  for (std::uint64_t at = begin; at < end;) {
    const std::uint64_t chunk = at / ShardHeader::kChunkRows;
    const std::uint64_t chunk_begin = chunk * ShardHeader::kChunkRows;
    const std::uint64_t chunk_end = std::min(chunk_begin + ShardHeader::kChunkRows, header_.rows.size());
    const std::uint64_t stop = std::min(chunk_end, end);
    // Straight to its place, unless only some of the chunk is wanted.
    std::span<float> whole = values.subspan(static_cast<std::size_t>(at - begin), static_cast<std::size_t>(stop - at));
    const bool is_partial = whole.size() < chunk_end - chunk_begin;
    if (is_partial) {
      partial.resize(static_cast<std::size_t>(chunk_end - chunk_begin));
      whole = partial;
    }
    const std::span<char> bytes(reinterpret_cast<char*>(whole.data()), whole.size_bytes());
    if (file_.read_at(column_begin + chunk_begin * sizeof(float), bytes) < bytes.size()) return false;
    const std::size_t place = column * header_.n_chunks() + static_cast<std::size_t>(chunk);
    if (checksum(bytes.data(), bytes.size()) != header_.checksums[place]) return false;
    if (is_partial) {
      std::copy_n(partial.begin() + static_cast<std::ptrdiff_t>(at - chunk_begin), stop - at,
                  values.begin() + static_cast<std::ptrdiff_t>(at - begin));
    }
    at = stop;
  }
  return true;
}

void write_shard_file(const std::filesystem::path& path, const table::Table& table, int n_threads) {
  ShardHeader header{.schema = table.schema(), .n_global_rows = table.n_global_rows(), .rows = table.rows()};
  header.checksums.resize(header.n_columns() * header.n_chunks());
  parallel_for(n_threads, header.checksums.size(), [&](std::size_t i, int) {
    const auto column = table.column(i / header.n_chunks());
    const std::size_t begin = i % header.n_chunks() * ShardHeader::kChunkRows;
    const auto chunk = column.subspan(begin, std::min(ShardHeader::kChunkRows, column.size() - begin));
    header.checksums[i] = checksum(chunk.data(), chunk.size_bytes());
  });

  const std::string json = header.to_json();
  const std::size_t n_checksum_bytes = header.checksums.size() * sizeof(std::uint32_t);
  std::string checked;
  append<std::uint64_t>(checked, ShardHeader::kFixedBytes + json.size() + n_checksum_bytes);
  append<std::uint64_t>(checked, json.size());
  checked += json;
  checked.append(reinterpret_cast<const char*>(header.checksums.data()), n_checksum_bytes);
  std::string bytes(kMagic);
  append(bytes, kVersion);
  append(bytes, checksum(checked.data(), checked.size()));
  bytes += checked;

  AtomicFile file(path);
  file.write(bytes);
  file.write(padding_behind(bytes.size()));
  for (std::size_t j = 0; j < table.n_columns(); ++j) {
    const auto column = table.column(j);
    file.write({reinterpret_cast<const char*>(column.data()), column.size_bytes()});
    file.write(padding_behind(column.size_bytes()));
  }
  file.commit_unflushed();
}

}  // namespace podere::io
