#include "podere/columns/parquet_footer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "podere/base/error.h"
#include "podere/columns/arrow_durations.h"
#include "podere/columns/thrift.h"

namespace podere::columns {
namespace {

using Type = ThriftReader::Type;

constexpr std::uint64_t kMostRows = std::uint64_t{1} << 48;

/// One node of the tree of columns, as the file has it: before its children.
struct Node {
  std::optional<std::int64_t> physical;
  std::int64_t size = 0;
  std::int64_t repetition = 0;
  std::string name;
  std::int64_t n_children = 0;
  std::optional<std::int64_t> converted;
  std::int64_t scale = 0;
  // The logical type:
  std::int64_t logical = 0;
  bool is_signed = true;
  std::int64_t time_unit = 0;
};

namespace repetition {
constexpr int kOptional = 1, kRepeated = 2;
}
namespace logical {
constexpr int kString = 1, kMap = 2, kList = 3, kEnum = 4, kDecimal = 5, kDate = 6, kTime = 7, kTimestamp = 8,
              kInteger = 10, kNull = 11, kJson = 12, kUuid = 14, kFloat16 = 15;
}
/// Of converted types, which the logical ones came after: what is reported by them alone.
namespace converted {
constexpr int kUtf8 = 0, kMap = 1, kMapKeyValue = 2, kList = 3, kEnum = 4, kDecimal = 5, kDate = 6, kTimeMillis = 7,
              kTimeMicros = 8, kTimestampMillis = 9, kTimestampMicros = 10, kUint8 = 11, kUint64 = 14, kJson = 19;
}
/// Of units of time: 1 is milliseconds.
constexpr std::array<std::int64_t, 4> kPerSecond = {0, 1'000, 1'000'000, 1'000'000'000};

bool read_time(ThriftReader& reader, Node& node) {
  reader.read_struct([&](int id, Type type) {
    if (id != 2 || type != Type::kStruct) return false;
    reader.read_struct([&](int unit, Type) {
      node.time_unit = unit;
      return false;
    });
    return true;
  });
  return true;
}

bool read_logical(ThriftReader& reader, Node& node) {
  reader.read_struct([&](int id, Type type) {
    node.logical = id;
    if (type != Type::kStruct) return false;
    if (id == logical::kTime || id == logical::kTimestamp) return read_time(reader, node);
    reader.read_struct([&](int part, Type part_type) {
      if (id == logical::kInteger && part == 2) node.is_signed = part_type == Type::kTrue;
      if (id != logical::kDecimal || part != 1 || !is_int(part_type)) return false;
      node.scale = reader.read_int();
      return true;
    });
    return true;
  });
  return true;
}

Node read_node(ThriftReader& reader) {
  Node node;
  reader.read_struct([&](int id, Type type) {
    if (id == 10 && type == Type::kStruct) return read_logical(reader, node);
    if (id == 4 && type == Type::kBinary) {
      node.name = reader.read_binary();
      return true;
    }
    if (!is_int(type)) return false;
    const std::int64_t value = reader.read_int();
    if (id == 1) node.physical = value;
    if (id == 2) node.size = value;
    if (id == 3) node.repetition = value;
    if (id == 5) node.n_children = value;
    if (id == 6) node.converted = value;
    if (id == 7) node.scale = value;
    return true;
  });
  return node;
}

/// Of a column of metadata; `path` is where other files hold it.
struct StoredChunk {
  Chunk chunk;
  std::optional<std::int64_t> dictionary_begin;
  std::int64_t data_begin = 0;
  std::int64_t packed_size = 0;
  std::optional<std::int64_t> physical;
  bool has_metadata = false;
  bool is_encrypted = false;
  bool is_elsewhere = false;
};

std::optional<Codec> codec_of(std::int64_t number) {
  constexpr std::array<std::optional<Codec>, 8> kCodecs = {Codec::kNone, Codec::kSnappy, Codec::kGzip,
                                                           std::nullopt, Codec::kBrotli, Codec::kLz4OfHadoop,
                                                           Codec::kZstd, Codec::kLz4};
  return number >= 0 && number < static_cast<std::int64_t>(kCodecs.size()) ? kCodecs[static_cast<std::size_t>(number)]
                                                                           : std::nullopt;
}

bool read_metadata(ThriftReader& reader, StoredChunk& stored) {
  stored.has_metadata = true;
  reader.read_struct([&](int id, Type type) {
    if (!is_int(type)) return false;
    const std::int64_t value = reader.read_int();
    if (id == 1) stored.physical = value;
    if (id == 4) stored.chunk.codec = codec_of(value);
    if (id == 5) stored.chunk.n_values = value;
    if (id == 7) stored.packed_size = value;
    if (id == 9) stored.data_begin = value;
    if (id == 11) stored.dictionary_begin = value;
    return true;
  });
  return true;
}

StoredChunk read_chunk(ThriftReader& reader) {
  StoredChunk stored;
  reader.read_struct([&](int id, Type type) {
    if (id == 1 && type == Type::kBinary) stored.is_elsewhere = true;
    if (id == 8) stored.is_encrypted = true;
    return id == 3 && type == Type::kStruct && read_metadata(reader, stored);
  });
  return stored;
}

struct StoredGroup {
  std::vector<StoredChunk> chunks;
  std::int64_t n_rows = -1;
};

StoredGroup read_group(ThriftReader& reader) {
  StoredGroup group;
  reader.read_struct([&](int id, Type type) {
    if (id == 1 && type == Type::kList) {
      reader.read_list(Type::kStruct, [&] { group.chunks.push_back(read_chunk(reader)); });
      return true;
    }
    if (id != 3 || !is_int(type)) return false;
    group.n_rows = reader.read_int();
    return true;
  });
  return group;
}

struct Stored {
  std::vector<Node> nodes;
  std::vector<StoredGroup> groups;
  std::int64_t n_rows = -1;
  std::string pandas;  // what it says of its indices
  std::string arrow;   // what it says of its columns
};

void read_pair(ThriftReader& reader, Stored& stored) {
  std::string_view key, value;
  reader.read_struct([&](int id, Type type) {
    if (type != Type::kBinary) return false;
    if (id == 1) return key = reader.read_binary(), true;
    if (id == 2) return value = reader.read_binary(), true;
    return false;
  });
  if (key == "pandas") stored.pandas = value;
  if (key == "ARROW:schema") stored.arrow = value;
}

Stored read_footer(ThriftReader& reader) {
  Stored stored;
  reader.read_struct([&](int id, Type type) {
    if (type == Type::kList && (id == 2 || id == 4 || id == 5)) {
      reader.read_list(Type::kStruct, [&] {
        if (id == 2) stored.nodes.push_back(read_node(reader));
        if (id == 4) stored.groups.push_back(read_group(reader));
        if (id == 5) read_pair(reader, stored);
      });
      return true;
    }
    if (id != 3 || !is_int(type)) return false;
    stored.n_rows = reader.read_int();
    return true;
  });
  return stored;
}

/// What a column is that is no list or struct. A kind of kOther has a `type` that says why.
std::pair<Column, Meaning> mean(const Node& node) {
  Column column{.name = node.name};
  Meaning meaning;
  const auto be = [&](Kind kind, std::string type) {
    column.kind = meaning.kind = kind;
    column.type = std::move(type);
    return std::pair(column, meaning);
  };
  if (!node.physical || *node.physical < 0 || *node.physical > static_cast<int>(Physical::kFixedBytes)) {
    return be(Kind::kOther, "of an unknown type");
  }
  constexpr std::array kNames = {"boolean", "int32", "int64", "timestamp", "float", "double", "binary", "binary"};
  meaning.physical = static_cast<Physical>(*node.physical);
  meaning.is_optional = node.repetition == repetition::kOptional;
  const std::string name = kNames[static_cast<std::size_t>(*node.physical)];
  const auto is = [&](int logical_type, int converted_type) {
    return node.logical != 0 ? node.logical == logical_type : node.converted == converted_type;
  };
  const auto is_converted = [&](int from, int to) {
    return node.logical == 0 && node.converted && *node.converted >= from && *node.converted <= to;
  };
  const bool is_int32 = meaning.physical == Physical::kInt32, is_int64 = meaning.physical == Physical::kInt64;
  if (meaning.physical == Physical::kFixedBytes) {
    if (node.size <= 0 || node.size > 1 << 20) return be(Kind::kOther, "binary");
    meaning.size = static_cast<std::size_t>(node.size);
  }
  switch (meaning.physical) {
    case Physical::kBoolean:
      return be(Kind::kBoolean, name);
    case Physical::kInt96:
      meaning.per_second = kPerSecond[3];
      return be(Kind::kDate, name);
    case Physical::kFloat:
    case Physical::kDouble:
      return be(Kind::kNumber, name);
    default:
      break;
  }
  if (is(logical::kDecimal, converted::kDecimal)) {
    constexpr int kMostDigits = 76;
    if (node.scale < 0 || node.scale > kMostDigits) return be(Kind::kOther, "a decimal of an unknown scale");
    meaning.scale = static_cast<int>(node.scale);
    return be(Kind::kNumber, "decimal");
  }
  if (is_int32 || is_int64) {
    if (is(logical::kDate, converted::kDate) && is_int32) return be(Kind::kDate, "date");
    const bool is_timestamp =
        node.logical == logical::kTimestamp || is_converted(converted::kTimestampMillis, converted::kTimestampMicros);
    const bool is_time = node.logical == logical::kTime || is_converted(converted::kTimeMillis, converted::kTimeMicros);
    if (is_timestamp || is_time) {
      std::int64_t unit = node.time_unit;
      if (node.logical == 0) {
        const std::int64_t type = *node.converted;
        unit = type == converted::kTimeMillis || type == converted::kTimestampMillis ? 1 : 2;
      }
      if (unit < 1 || unit > 3) return be(Kind::kOther, "a time of an unknown unit");
      meaning.per_second = kPerSecond[static_cast<std::size_t>(unit)];
      return be(is_time ? Kind::kTimeOfDay : Kind::kDate, is_time ? "time" : "timestamp");
    }
    if (node.logical == logical::kNull) return be(Kind::kNumber, kNoValues);
    meaning.is_unsigned =
        node.logical == logical::kInteger ? !node.is_signed : is_converted(converted::kUint8, converted::kUint64);
    return be(Kind::kNumber, (meaning.is_unsigned ? "u" : "") + name);
  }
  if (node.logical == logical::kFloat16 && meaning.size == 2) {
    meaning.is_half = true;
    return be(Kind::kNumber, "float16");
  }
  const bool is_text = is(logical::kString, converted::kUtf8) || is(logical::kEnum, converted::kEnum) ||
                       is(logical::kJson, converted::kJson);
  if (is_text && meaning.physical == Physical::kBytes) return be(Kind::kText, "string");
  if (node.logical == logical::kUuid) return be(Kind::kOther, "uuid");
  return be(Kind::kOther, name);
}

/// A column of the table that has columns of its own.
const char* nested_type(const Node& node) {
  const std::int64_t type = node.converted.value_or(-1);
  if (node.logical == logical::kList || type == converted::kList) return "list";
  const bool is_map = type == converted::kMap || type == converted::kMapKeyValue;
  return node.logical == logical::kMap || is_map ? "map" : "struct";
}

/// Steps over a node and all below it; counts the leaves.
std::size_t count_leaves(const std::vector<Node>& nodes, std::size_t& next, int depth) {
  constexpr int kDeepest = 64;
  if (next >= nodes.size() || depth > kDeepest) throw ThriftFault{false};
  const Node& node = nodes[next++];
  if (node.n_children < 0) throw ThriftFault{false};
  std::size_t n_leaves = node.n_children == 0 ? 1 : 0;
  for (std::int64_t i = 0; i < node.n_children; ++i) n_leaves += count_leaves(nodes, next, depth + 1);
  return n_leaves;
}

/// What pandas and Arrow wrote of the data frame: which columns number the rows, and which are durations, in what unit.
struct Frame {
  std::vector<std::string> indices;
  std::vector<std::pair<std::string, std::int64_t>> durations;  // and how many of the unit a second has
};

/// Nothing of what is no JSON of pandas' form.
Frame parse_frame(const std::string& pandas) {
  Frame frame;
  const auto json = nlohmann::json::parse(pandas, nullptr, false);
  if (!json.is_object()) return frame;
  const auto list = [&](const char* name) { return json.value(name, nlohmann::json::array()); };
  for (const auto& column : list("index_columns")) {
    if (column.is_string()) frame.indices.push_back(column.get<std::string>());
  }
  for (const auto& column : list("columns")) {
    if (!column.is_object()) continue;
    const auto text = [&](const char* name) {
      return column.contains(name) && column[name].is_string() ? column[name].get<std::string>() : std::string();
    };
    for (const auto& [unit, per_second] :
         {std::pair("s", 1L), {"ms", 1'000L}, {"us", 1'000'000L}, {"ns", 1'000'000'000L}}) {
      if (text("numpy_type") == fmt::format("timedelta64[{}]", unit)) {
        frame.durations.emplace_back(text("field_name"), per_second);
      }
    }
  }
  return frame;
}

/// Where the pages of a column are. Throws ThriftFault for a place outside of the file.
Chunk place(const StoredChunk& stored, std::uint64_t file_size) {
  Chunk chunk = stored.chunk;
  if (!stored.has_metadata || stored.is_elsewhere) return chunk;
  std::int64_t begin = stored.data_begin;
  if (stored.dictionary_begin && *stored.dictionary_begin > 0) begin = std::min(begin, *stored.dictionary_begin);
  const bool is_inside = begin >= 0 && stored.packed_size >= 0 && std::cmp_less_equal(begin, file_size) &&
                         std::cmp_less_equal(stored.packed_size, file_size - static_cast<std::uint64_t>(begin));
  if (!is_inside) throw ThriftFault{false};
  chunk.begin = static_cast<std::uint64_t>(begin);
  chunk.size = static_cast<std::uint64_t>(stored.packed_size);
  chunk.is_there = true;
  return chunk;
}

}  // namespace

Footer parse_footer(const std::string& name, std::span<const char> bytes, std::uint64_t file_size) try {
  ThriftReader reader(bytes);
  const Stored stored = read_footer(reader);
  if (stored.nodes.empty()) throw ThriftFault{false};
  Footer footer;
  std::vector<std::size_t> leaves;  // of each column the first
  Frame frame = parse_frame(stored.pandas);
  for (auto& duration : arrow_durations(stored.arrow)) frame.durations.push_back(std::move(duration));
  std::size_t next = 1, n_leaves = 0;
  for (std::int64_t i = 0; i < stored.nodes[0].n_children; ++i) {
    if (next >= stored.nodes.size()) throw ThriftFault{false};
    const Node& node = stored.nodes[next];
    leaves.push_back(n_leaves);
    n_leaves += count_leaves(stored.nodes, next, 0);
    auto [column, meaning] = mean(node);
    if (node.n_children > 0 || node.repetition == repetition::kRepeated) {
      column.kind = meaning.kind = Kind::kOther;
      column.type = node.n_children > 0 ? nested_type(node) : "list";
    }
    if (std::ranges::find(frame.indices, column.name) != frame.indices.end()) column.left_out = kFrameIndex;
    const auto duration = std::ranges::find(frame.durations, column.name, [](const auto& d) { return d.first; });
    if (duration != frame.durations.end() && column.type == "int64") {
      column.type = "duration";
      meaning.is_duration = true;
      meaning.per_second = duration->second;
    }
    footer.columns.push_back(column);
    footer.meanings.push_back(meaning);
  }
  footer.group_begins = {0};
  for (const StoredGroup& group : stored.groups) {
    const std::uint64_t before = footer.group_begins.back();
    if (group.chunks.size() != n_leaves || group.n_rows < 0 || std::cmp_greater(group.n_rows, kMostRows - before)) {
      throw ThriftFault{false};
    }
    if (group.n_rows == 0) continue;
    std::vector<Chunk> chunks;
    for (std::size_t i = 0; i < footer.columns.size(); ++i) {
      const StoredChunk& chunk = group.chunks[leaves[i]];
      Column& column = footer.columns[i];
      if (chunk.is_encrypted) column.kind = footer.meanings[i].kind = Kind::kOther, column.type = "encrypted";
      if (chunk.physical && column.kind != Kind::kOther &&
          *chunk.physical != static_cast<std::int64_t>(footer.meanings[i].physical)) {
        throw ThriftFault{false};
      }
      chunks.push_back(column.kind == Kind::kOther ? Chunk() : place(chunk, file_size));
    }
    footer.groups.push_back(std::move(chunks));
    footer.group_begins.push_back(before + static_cast<std::uint64_t>(group.n_rows));
  }
  if (!std::cmp_equal(footer.group_begins.back(), stored.n_rows)) throw ThriftFault{false};
  return footer;
} catch (const ThriftFault&) {
  throw_input_error("{}: is a damaged Parquet file: its footer does not say where its columns are", name);
}

}  // namespace podere::columns
