#include "podere/io/csv_categories.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "podere/base/error.h"
#include "podere/base/parallel.h"
#include "podere/base/printable.h"
#include "podere/io/csv_field.h"
#include "podere/io/decimal.h"
#include "podere/table/number_text.h"

namespace podere::io {
namespace {

/// Of a category that comes as its code.
float parse_code(std::string_view text) {
  float code;
  if (!parse_float(text, code) || !(code >= 0 && code < static_cast<float>(table::kMaxCategories)) ||
      code != std::trunc(code)) {
    throw CategoryFault{
        fmt::format("is not the code of a category: a whole number from 0 to {}", table::kMaxCategories - 1)};
  }
  return code;
}

/// The texts of all ranks, sorted, each once.
std::vector<std::string> merge_texts(const std::vector<std::string_view>& own, const comm::Communicator& comm) {
  std::string bytes;
  std::vector<std::uint64_t> sizes;
  for (const std::string_view text : own) {
    bytes += text;
    sizes.push_back(text.size());
  }
  const std::vector<char> all_bytes = comm.all_gather_v(std::span<const char>(bytes));
  const std::vector<std::uint64_t> all_sizes = comm.all_gather_v(std::span<const std::uint64_t>(sizes));
  std::vector<std::string_view> texts;
  const char* next = all_bytes.data();
  for (const std::uint64_t size : all_sizes) {
    texts.emplace_back(next, size);
    next += size;
  }
  std::ranges::sort(texts);
  return {texts.begin(), std::unique(texts.begin(), texts.end())};
}

std::size_t code_of(const std::vector<std::string>& sorted, std::string_view text) {
  return static_cast<std::size_t>(std::ranges::lower_bound(sorted, text) - sorted.begin());
}

}  // namespace

Categories::Categories(const table::Schema& schema, bool finds_dictionaries) {
  for (const auto& [feature, dictionary] : schema.categories) {
    auto column = std::make_unique<Column>();
    column->name = schema.features[feature];
    if (!finds_dictionaries) column->known = &dictionary;
    columns_[feature] = std::move(column);
  }
}

std::optional<float> Categories::number(std::size_t feature, std::string_view text) {
  Column& column = *columns_.at(feature);
  if (column.known != nullptr) {
    if (!*column.known) return parse_code(text);
    const table::CategoryTexts& texts = **column.known;
    std::optional<std::string> number;
    if (texts.are_numbers) {
      number = table::number_text(text);
      if (!number) return std::nullopt;
      text = *number;
    }
    const std::size_t code = code_of(texts, text);
    if (code == texts.size() || texts[code] != text) return std::nullopt;
    return static_cast<float>(code);
  }
  if (!is_utf8(text)) throw CategoryFault{"is not UTF-8; save the file as UTF-8"};
  const std::lock_guard lock(column.mutex);
  const auto n = static_cast<std::uint32_t>(column.found.size());
  const auto found = column.found.find(text);
  if (found != column.found.end()) return static_cast<float>(found->second);
  if (n == table::kMaxCategories) {
    throw CategoryFault{fmt::format("is one category too many: {} are allowed", table::kMaxCategories)};
  }
  column.found.emplace(text, n);
  return static_cast<float>(n);
}

void Categories::agree_on_codes(const std::string& file, const comm::Communicator& comm, int n_threads,
                                table::Table& table) {
  for (const auto& [feature, column] : columns_) {
    if (column->known != nullptr) continue;
    std::vector<std::string_view> own(column->found.size());
    for (const auto& [text, number] : column->found) own[number] = text;
    std::vector<std::string> texts = merge_texts(own, comm);
    if (texts.size() > table::kMaxCategories) {
      throw_input_error("{}: column {} has {} categories, allowed are at most {}", file, printable(column->name),
                        texts.size(), table::kMaxCategories);
    }
    std::vector<float> codes;
    for (const std::string_view text : own) codes.push_back(static_cast<float>(code_of(texts, text)));
    const std::span<float> values = table.feature(feature);
    constexpr std::size_t kGrain = 1 << 16;
    parallel_for_slices(n_threads, values.size(), kGrain, [&](std::size_t begin, std::size_t end, int) {
      for (float& value : values.subspan(begin, end - begin)) {
        if (value == value) value = codes[static_cast<std::size_t>(value)];
      }
    });
    table.set_dictionary(feature, std::move(texts));
    column->found = {};
  }
}

UnknownTexts Categories::sum_unknown(const comm::Communicator& comm) const {
  UnknownTexts unknown;
  for (const auto& [feature, column] : columns_) {
    if (column->known == nullptr) continue;
    const std::uint64_t n = comm.all_reduce(column->n_unknown.load(), comm::Reduction::kSum);
    if (n > 0) unknown[column->name] = n;
  }
  return unknown;
}

float CategoryReader::number(std::size_t feature, std::string_view text) {
  if (feature >= answers_.size()) answers_.resize(feature + 1);
  TextMap<Answer>& answers = answers_[feature];
  auto found = answers.find(text);
  if (found == answers.end()) found = answers.emplace(text, ask(feature, text)).first;
  if (found->second.is_unknown) categories_.count_unknown(feature);
  return found->second.number;
}

CategoryReader::Answer CategoryReader::ask(std::size_t feature, std::string_view text) {
  float value;
  if (missing_.holds(text) || (parse_float(text, value) && missing_.holds(value))) return {kMissing, false};
  const std::optional<float> number = categories_.number(feature, text);
  return {number.value_or(kMissing), !number};
}

}  // namespace podere::io
