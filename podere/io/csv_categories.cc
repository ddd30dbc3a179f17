#include "podere/io/csv_categories.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <span>
#include <utility>

#include "podere/base/error.h"
#include "podere/base/number.h"
#include "podere/base/parallel.h"
#include "podere/base/printable.h"
#include "podere/io/csv_field.h"
#include "podere/io/decimal.h"
#include "podere/io/number_form.h"
#include "podere/table/labels.h"
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

std::size_t code_of(const std::vector<std::string>& sorted, std::string_view text) {
  return static_cast<std::size_t>(std::ranges::lower_bound(sorted, text) - sorted.begin());
}

/// The number that a text stands for, be it of one of number_forms(), as a text.
std::optional<std::string> number_text_of(std::string_view text) {
  auto plain = table::number_text(text);
  const std::uint64_t forms = plain ? 0 : forms_of(text);
  if (forms == 0) return plain;
  const auto value = number_forms()[static_cast<std::size_t>(std::countr_zero(forms))].read(text);
  return table::number_text(fmt::format("{}", static_cast<float>(*value)));
}

}  // namespace

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

Categories::Categories(const CsvLayout& layout) : layout_(layout) {
  const table::Schema& schema = layout.schema;
  for (const auto& [feature, dictionary] : schema.categories) {
    auto column = std::make_unique<Column>();
    column->name = schema.features[feature];
    if (!layout.finds_categories) column->known = &dictionary;
    columns_[feature] = std::move(column);
  }
  if (!layout.has_text_label()) return;
  auto label = std::make_unique<Column>();
  label->name = *schema.label;
  for (const std::string& text : schema.classes) label->classes.emplace(text, label->classes.size());
  label->has_numbers = table::class_numbers(schema.classes).has_value();
  columns_[schema.features.size()] = std::move(label);
}

std::optional<float> Categories::number(std::size_t column_of_table, std::string_view text) {
  Column& column = *columns_.at(column_of_table);
  if (!column.classes.empty()) {
    const std::optional<std::string> number = column.has_numbers ? number_text_of(text) : std::nullopt;
    const auto found = column.classes.find(number ? *number : text);
    if (found != column.classes.end()) return found->second;
    const bool is_chosen = layout_.label_choice == LabelChoice::kOption || layout_.label_choice == LabelChoice::kModel;
    throw CategoryFault{fmt::format("is none of the model's classes: {}{}", printable_list(layout_.schema.classes),
                                    is_chosen ? "" : "; choose another column with --label")};
  }
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

/// The classes of a label. Throws InputError where they may be something else.
std::vector<std::string> Categories::order_classes(std::vector<std::string> texts, const std::string& file,
                                                   const std::optional<std::string>& positive) const {
  const std::string name = printable(*layout_.schema.label);
  if (texts.size() > table::kMaxTextClasses) {
    throw_input_error("{}: the label {} has {} different texts, allowed are at most {}: choose another with --label",
                      file, name, texts.size(), table::kMaxTextClasses);
  }
  const auto is_number = [](const std::string& text) { return table::number_text(text).has_value(); };
  const auto number = std::ranges::find_if(texts, is_number);
  const auto other = std::ranges::find_if_not(texts, is_number);
  if (!layout_.chose_classes && number != texts.end() && other != texts.end()) {
    throw_input_error(
        "{}: the label {} has texts, such as {}, and numbers, such as {}: name a text for missing values with "
        "--missing, or take all of them as classes with --categorical {}",
        file, name, printable(*other), printable(*number), *layout_.schema.label);
  }
  if (other == texts.end()) {
    std::ranges::stable_sort(texts, {}, [](const std::string& text) { return *parse_real(*table::number_text(text)); });
  }
  if (!positive) return texts;
  const auto found = std::ranges::find(texts, *positive);
  if (found == texts.end() || texts.size() != 2) {
    throw_input_error("{}: the positive class {} is to be one of two classes, and the label {} has {}: {}", file,
                      printable(*positive), name, texts.size(), printable_list(texts));
  }
  std::rotate(found, found + 1, texts.end());
  return texts;
}

void Categories::agree_on_codes(const std::string& file, const std::optional<std::string>& positive,
                                const comm::Communicator& comm, int n_threads, table::Table& table) {
  for (const auto& [place, column] : columns_) {
    const bool is_label = place == layout_.schema.features.size();
    if (column->known != nullptr || !column->classes.empty()) continue;
    std::vector<std::string_view> own(column->found.size());
    for (const auto& [text, number] : column->found) own[number] = text;
    std::vector<std::string> texts = merge_texts(own, comm);
    if (is_label) texts = order_classes(std::move(texts), file, positive);
    if (texts.size() > table::kMaxCategories) {
      throw_input_error("{}: column {} has {} categories, allowed are at most {}", file, printable(column->name),
                        texts.size(), table::kMaxCategories);
    }
    TextMap<float> code_of_text;
    for (const std::string& text : texts) code_of_text.emplace(text, static_cast<float>(code_of_text.size()));
    std::vector<float> codes;
    for (const std::string_view text : own) codes.push_back(code_of_text.find(text)->second);
    const std::span<float> values = table.column(place);
    constexpr std::size_t kGrain = 1 << 16;
    parallel_for_slices(n_threads, values.size(), kGrain, [&](std::size_t begin, std::size_t end, int) {
      for (float& value : values.subspan(begin, end - begin)) {
        if (value == value) value = codes[static_cast<std::size_t>(value)];
      }
    });
    is_label ? table.set_classes(std::move(texts)) : table.set_dictionary(place, std::move(texts));
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

float CategoryReader::number(std::size_t column, std::string_view text) {
  if (column >= answers_.size()) answers_.resize(column + 1);
  TextMap<Answer>& answers = answers_[column];
  auto found = answers.find(text);
  if (found == answers.end()) found = answers.emplace(text, ask(column, text)).first;
  if (found->second.is_unknown) categories_.count_unknown(column);
  return found->second.number;
}

CategoryReader::Answer CategoryReader::ask(std::size_t column, std::string_view text) {
  float value;
  if (missing_.holds(text) || (parse_float(text, value) && missing_.holds(value))) return {kMissing, false};
  const std::optional<float> number = categories_.number(column, text);
  return {number.value_or(kMissing), !number};
}

}  // namespace podere::io
