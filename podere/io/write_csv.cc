#include "podere/io/write_csv.h"

#include <fmt/format.h>

#include <cmath>
#include <cstddef>
#include <iterator>
#include <span>
#include <string_view>
#include <vector>

#include "podere/io/write_lines.h"

namespace podere::io {
namespace {

struct Column {
  std::string name;
  std::span<const float> values;
  std::vector<std::string> categories;  // fields by code; empty for numbers
};

std::vector<Column> columns_of(const table::Table& table) {
  const table::Schema& schema = table.schema();
  std::vector<Column> columns;
  if (schema.label) columns.push_back({*schema.label, table.label(), {}});
  for (const std::string& text : schema.classes) columns.back().categories.push_back(field_of(text));
  for (std::size_t j = 0; j < table.n_features(); ++j) {
    columns.push_back({schema.features[j], table.feature(j), {}});
    const auto categories = schema.categories.find(j);
    if (categories == schema.categories.end() || !categories->second) continue;
    for (const std::string& text : *categories->second) columns.back().categories.push_back(field_of(text));
  }
  if (schema.weight) columns.push_back({*schema.weight, table.weight(), {}});
  return columns;
}

void append_field(const Column& column, float value, std::string& text) {
  const float n_categories = static_cast<float>(column.categories.size());
  if (value >= 0 && value < n_categories && value == std::floor(value)) {
    text += column.categories[static_cast<std::size_t>(value)];
  } else if (!std::isnan(value)) {
    fmt::format_to(std::back_inserter(text), "{}", value);
  }
}

}  // namespace

std::string field_of(std::string_view text) {
  if (!text.empty() && text.find_first_of(",;|\t \"\r\n") == std::string_view::npos) return std::string(text);
  std::string field = "\"";
  for (const char c : text) {
    if (c == '"') field += '"';
    field += c;
  }
  return field + '"';
}

std::uint64_t write_csv(const table::Table& table, const std::string& path, const comm::Communicator& comm,
                        int n_threads) {
  const std::vector<Column> columns = columns_of(table);
  std::string head;
  for (const Column& column : columns) head += (head.empty() ? "" : ",") + field_of(column.name);
  const auto format = [&](std::size_t begin, std::size_t end, std::string& text) {
    for (std::size_t i = begin; i < end; ++i) {
      const std::size_t line = text.size();
      for (const Column& column : columns) {
        append_field(column, column.values[i], text);
        text += ',';
      }
      text.back() = '\n';
      if (text.size() == line + 1) text.insert(line, "\"\"");
    }
  };
  return write_lines(path, head + '\n', table.n_rows(), format, comm, n_threads);
}

}  // namespace podere::io
