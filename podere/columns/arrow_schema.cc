#include "podere/columns/arrow_schema.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string_view>

#include "podere/base/error.h"
#include "podere/base/printable.h"
#include "podere/columns/arrow_format.h"

namespace podere::columns {
namespace {

constexpr std::size_t kMostTypeBytes = 200;  // of a type in a message
constexpr std::array<const char*, 4> kUnitNames = {"s", "ms", "us", "ns"};
constexpr std::array<std::int64_t, 4> kUnitsInDay = {86'400, 86'400'000, 86'400'000'000, 86'400'000'000'000};

std::string_view text_of_string(const flatbuffers::String* text) {
  return text == nullptr ? std::string_view() : std::string_view(text->c_str(), text->size());
}

/// Reads fields depth first, in the order of the nodes and buffers of a record batch.
class ArrowSchemaReader {
 public:
  ArrowSchemaReader(const std::string& name, bool unions_have_validity)
      : name_(name), unions_have_validity_(unions_have_validity) {}

  ArrowSchema read(const arrow::Schema& schema, std::size_t n_bytes) {
    if (schema.endianness() != arrow::Endianness_Little) {
      throw_input_error("{}: was written on a big-endian machine; write it again on one that is little-endian", name_);
    }
    std::size_t n_name_bytes = 0;
    if (schema.fields() != nullptr) {
      for (const arrow::Field* field : *schema.fields()) {
        n_name_bytes += text_of_string(field->name()).size();
        // One text may be the name of many columns, where a file was made to harm.
        if (n_name_bytes > 16 * n_bytes) throw_input_error("{}: the names of its columns are damaged", name_);
        add_column(*field);
      }
    }
    mark_index(schema);
    return std::move(schema_);
  }

 private:
  void add_column(const arrow::Field& field) {
    ArrowField added;
    added.first_node = schema_.n_nodes;
    added.first_buffer = schema_.n_buffers;
    added.first_view = schema_.n_views;
    added.type = read_field(field);
    if (const arrow::DictionaryEncoding* encoding = field.dictionary()) {
      added.dictionary = encoding->id();
      added.index = index_of(field, *encoding);
    }
    schema_.columns.push_back({std::string(text_of_string(field.name())), added.type.kind, added.type.text});
    schema_.fields.push_back(std::move(added));
  }

  ArrowStorage index_of(const arrow::Field& field, const arrow::DictionaryEncoding& encoding) const {
    if (encoding.index() == nullptr) return ArrowStorage::kInt32;
    const ArrowStorage index = type_of_int(*encoding.index()).storage;
    if (index == ArrowStorage::kOther) refuse_type(field, "places in a dictionary");
    return index;
  }

  [[noreturn]] void refuse_type(const arrow::Field& field, const std::string& type) const {
    throw_input_error("{}: column {}: {}: of a kind that is not known", name_, printable(text_of_string(field.name())),
                      type);
  }

  /// Its type, counting its nodes and buffers. Recursive as deep as the verifier of the metadata lets it be.
  ArrowType read_field(const arrow::Field& field) {
    ++schema_.n_nodes;
    if (field.dictionary() == nullptr) return read_type(field);
    // Nodes and buffers of its values are those of dictionary batches.
    const ArrowSchema before = {.n_nodes = schema_.n_nodes, .n_buffers = schema_.n_buffers, .n_views = schema_.n_views};
    ArrowType type = read_type(field);
    schema_.n_nodes = before.n_nodes;
    schema_.n_buffers = before.n_buffers + 2;
    schema_.n_views = before.n_views;
    type.text = clipped(fmt::format("dictionary<{}>", type.text));
    return type;
  }

  static std::string clipped(std::string text) {
    if (text.size() > kMostTypeBytes) text = printable_line(text, kMostTypeBytes) + "...";
    return text;
  }

  /// "name<types of children>", and their nodes and buffers.
  ArrowType with_children(const arrow::Field& field, const std::string& type, bool has_names = false) {
    std::string text = type + "<";
    if (field.children() != nullptr) {
      for (const arrow::Field* child : *field.children()) {
        const ArrowType inner = read_field(*child);
        if (text.size() > kMostTypeBytes) continue;
        if (text.back() != '<') text += ", ";
        if (has_names) text += printable_line(text_of_string(child->name()), 40) + ": ";
        text += inner.text;
      }
    }
    return {.text = clipped(text + ">")};
  }

  ArrowType add(std::size_t n_buffers, ArrowType type) {
    schema_.n_buffers += n_buffers;
    return type;
  }

  ArrowType read_type(const arrow::Field& field) {
    if (field.type() == nullptr) refuse_type(field, "no type");
    switch (field.type_type()) {
      case arrow::Type_Null:
        return {ArrowStorage::kNull, Kind::kNumber, "null"};
      case arrow::Type_Bool:
        return add(2, {ArrowStorage::kBool, Kind::kBoolean, "bool"});
      case arrow::Type_Utf8:
        return add(3, {ArrowStorage::kText, Kind::kText, "string"});
      case arrow::Type_LargeUtf8:
        return add(3, {ArrowStorage::kLargeText, Kind::kText, "large_string"});
      case arrow::Type_Utf8View:
        ++schema_.n_views;
        return add(2, {ArrowStorage::kTextView, Kind::kText, "string_view"});
      case arrow::Type_BinaryView:
        ++schema_.n_views;
        return add(2, {.text = "binary_view"});
      case arrow::Type_Binary:
        return add(3, {.text = "binary"});
      case arrow::Type_LargeBinary:
        return add(3, {.text = "large_binary"});
      case arrow::Type_FixedSizeBinary:
        return add(2, {.text = fmt::format("fixed_size_binary[{}]", field.type_as_FixedSizeBinary()->n_bytes())});
      case arrow::Type_Interval:
        return add(2, {.text = "interval"});
      case arrow::Type_Int:
      case arrow::Type_Float:
      case arrow::Type_Decimal:
      case arrow::Type_Date:
      case arrow::Type_Time:
      case arrow::Type_Timestamp:
      case arrow::Type_Duration:
        return add(2, fixed_type(field));
      default:
        return nested_type(field);
    }
  }

  ArrowType nested_type(const arrow::Field& field) {
    // Buffers of its own come before those of its children.
    const auto nested = [&](std::size_t n_buffers, const std::string& name, bool has_names = false) {
      schema_.n_buffers += n_buffers;
      return with_children(field, name, has_names);
    };
    switch (field.type_type()) {
      case arrow::Type_List:
        return nested(2, "list");
      case arrow::Type_LargeList:
        return nested(2, "large_list");
      case arrow::Type_ListView:
        return nested(3, "list_view");
      case arrow::Type_LargeListView:
        return nested(3, "large_list_view");
      case arrow::Type_FixedSizeList:
        return nested(1, "fixed_size_list");
      case arrow::Type_Struct:
        return nested(1, "struct", true);
      case arrow::Type_Map:
        return nested(2, "map");
      case arrow::Type_RunEndEncoded:
        return nested(0, "run_end_encoded", true);
      case arrow::Type_Union: {
        const bool is_dense = field.type_as_Union()->mode() == arrow::UnionMode_Dense;
        return nested((unions_have_validity_ ? 2U : 1U) + (is_dense ? 1U : 0U), is_dense ? "dense_union" : "union",
                      true);
      }
      default:
        refuse_type(field, fmt::format("type {}", static_cast<int>(field.type_type())));
    }
  }

  static ArrowType type_of_int(const arrow::Int& type) {
    const auto is = [&](int bits, bool is_signed) { return type.bits() == bits && type.is_signed() == is_signed; };
    ArrowType made = {ArrowStorage::kOther, Kind::kNumber,
                      fmt::format("{}int{}", type.is_signed() ? "" : "u", type.bits())};
    if (is(8, true)) made.storage = ArrowStorage::kInt8;
    if (is(16, true)) made.storage = ArrowStorage::kInt16;
    if (is(32, true)) made.storage = ArrowStorage::kInt32;
    if (is(64, true)) made.storage = ArrowStorage::kInt64;
    if (is(8, false)) made.storage = ArrowStorage::kUint8;
    if (is(16, false)) made.storage = ArrowStorage::kUint16;
    if (is(32, false)) made.storage = ArrowStorage::kUint32;
    if (is(64, false)) made.storage = ArrowStorage::kUint64;
    return made;
  }

  ArrowType fixed_type(const arrow::Field& field) const {
    ArrowType type;
    switch (field.type_type()) {
      case arrow::Type_Int:
        type = type_of_int(*field.type_as_Int());
        break;
      case arrow::Type_Float:
        type = type_of_float(*field.type_as_Float());
        break;
      case arrow::Type_Decimal:
        type = type_of_decimal(*field.type_as_Decimal());
        break;
      case arrow::Type_Date:
        type = type_of_date(*field.type_as_Date());
        break;
      case arrow::Type_Time: {
        const arrow::Time& time = *field.type_as_Time();
        if (time.bits() != 32 && time.bits() != 64) break;
        type = in_units(Kind::kTimeOfDay, fmt::format("time{}", time.bits()), time.unit());
        if (time.bits() == 32 && type.storage != ArrowStorage::kOther) type.storage = ArrowStorage::kInt32;
        break;
      }
      case arrow::Type_Timestamp: {
        const arrow::Timestamp& time = *field.type_as_Timestamp();
        const std::string_view zone = text_of_string(time.zone());
        type = in_units(Kind::kDate, "timestamp", time.unit(),
                        zone.empty() ? "" : fmt::format(", tz={}", printable_line(zone, 40)));
        break;
      }
      default:
        type = in_units(Kind::kNumber, "duration", field.type_as_Duration()->unit());
    }
    if (type.storage == ArrowStorage::kOther) refuse_type(field, type.text.empty() ? "its type" : type.text);
    return type;
  }

  static ArrowType type_of_float(const arrow::Float& type) {
    switch (type.size()) {
      case arrow::FloatSize_Half:
        return {ArrowStorage::kHalf, Kind::kNumber, "halffloat"};
      case arrow::FloatSize_Single:
        return {ArrowStorage::kFloat, Kind::kNumber, "float"};
      case arrow::FloatSize_Double:
        return {ArrowStorage::kDouble, Kind::kNumber, "double"};
    }
    return {};
  }

  static ArrowType type_of_decimal(const arrow::Decimal& type) {
    constexpr int kMostScale = 1000;  // far beyond all digits that there are
    const std::string text = fmt::format("decimal{}({}, {})", type.bits(), type.precision(), type.scale());
    const bool is_known = type.bits() == 32 || type.bits() == 64 || type.bits() == 128 || type.bits() == 256;
    if (!is_known || type.scale() > kMostScale || type.scale() < -kMostScale) return {.text = text};
    return {.storage = ArrowStorage::kDecimal,
            .kind = Kind::kNumber,
            .text = text,
            .n_bytes = static_cast<std::size_t>(type.bits()) / 8,
            .scale = type.scale()};
  }

  static ArrowType type_of_date(const arrow::Date& type) {
    if (type.unit() == arrow::DateUnit_Day) return {ArrowStorage::kInt32, Kind::kDate, "date32[day]", 1};
    if (type.unit() != arrow::DateUnit_Millisecond) return {};
    return {ArrowStorage::kInt64, Kind::kDate, "date64[ms]", kUnitsInDay[1]};
  }

  static ArrowType in_units(Kind kind, const std::string& name, arrow::TimeUnit unit, const std::string& rest = "") {
    const auto index = static_cast<std::size_t>(unit);
    if (index >= kUnitsInDay.size()) return {};
    return {ArrowStorage::kInt64, kind, fmt::format("{}[{}{}]", name, kUnitNames[index], rest), kUnitsInDay[index]};
  }

  /// Columns that pandas had as its index, as it notes them in JSON; one of plain row numbers is no column.
  void mark_index(const arrow::Schema& schema) {
    if (schema.metadata() == nullptr) return;
    for (const arrow::KeyValue* entry : *schema.metadata()) {
      if (text_of_string(entry->key()) != "pandas") continue;
      const auto notes = nlohmann::json::parse(text_of_string(entry->value()), nullptr, false);
      if (!notes.is_object() || !notes.contains("index_columns") || !notes["index_columns"].is_array()) continue;
      for (const auto& name : notes["index_columns"]) {
        if (!name.is_string()) continue;
        for (Column& column : schema_.columns) {
          if (column.name == name.get_ref<const std::string&>()) column.left_out = kFrameIndex;
        }
      }
    }
  }

  const std::string& name_;
  bool unions_have_validity_;
  ArrowSchema schema_;
};

}  // namespace

ArrowSchema read_arrow_schema(const std::string& name, const arrow::Schema& schema, std::size_t n_bytes,
                              bool unions_have_validity) {
  return ArrowSchemaReader(name, unions_have_validity).read(schema, n_bytes);
}

}  // namespace podere::columns
