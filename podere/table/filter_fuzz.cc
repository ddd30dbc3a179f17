// libFuzzer program of filters. An expression gives rows or an InputError of one line; on several threads, and in
// brackets, it gives the same rows. Anything else that is thrown ends the program.
#include <fmt/core.h>

#include <cstdlib>
#include <limits>
#include <optional>
#include <string>

#include "podere/base/error.h"
#include "podere/table/expression.h"
#include "podere/table/filter.h"

namespace {

using podere::table::Table;

Table make_table() {
  Table table({.features = {"x", "y", "m bb", "größe", "city", "a`b"},
               .label = "target",
               .weight = "w",
               .categories = {{4, {{"Milan", "Pisa", "Rome"}}}}},
              6, {0, 6});
  constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const float values[] = {0, 1, kNaN, -2.5F, kInfinity, 1e30F, 2};
  for (std::size_t j = 0; j < table.n_columns(); ++j) {
    for (std::size_t i = 0; i < table.n_rows(); ++i) table.column(j)[i] = values[(i * 3 + j) % std::size(values)];
  }
  return table;
}

/// Nothing for an expression with a fault.
std::optional<std::vector<std::uint8_t>> rows_of(const Table& table, const std::string& expression, int n_threads) {
  try {
    return rows_where(table, expression, n_threads);
  } catch (const podere::InputError& error) {
    const std::string message = error.what();
    if (message.empty() || message.find_first_of("\n\r\x1b") != std::string::npos) std::abort();
    return std::nullopt;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t n_bytes) {
  static const Table table = make_table();
  const std::string expression(reinterpret_cast<const char*>(bytes), n_bytes);
  const auto rows = rows_of(table, expression, 1);
  if (rows && rows->size() != table.n_rows()) std::abort();
  if (n_bytes % 16 == 0 && rows_of(table, expression, 2) != rows) std::abort();
  const bool has_room = n_bytes + 2 <= podere::table::kMaxExpressionBytes;
  if (has_room && rows && rows_of(table, "(" + expression + ")", 1) != rows) {
    fmt::print(stderr, "not the same in brackets: {}\n", expression);
    std::abort();
  }
  return 0;
}
