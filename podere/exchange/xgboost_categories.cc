#include "podere/exchange/xgboost_categories.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
#include <utility>

#include "podere/base/error.h"
#include "podere/base/json.h"
#include "podere/table/number_text.h"

namespace podere::exchange {
namespace {

constexpr int kInt64 = 15;  // as XGBoost numbers the types of arrays

/// The texts of one feature lie one after another as bytes from -128 on.
table::CategoryTexts texts_of(const SortedJson& encoded) {
  const SortedJson& offsets = encoded.at("offsets");
  std::string bytes;
  for (const SortedJson& value : encoded.at("values")) {
    if (!value.is_number_integer() || !std::in_range<std::int8_t>(value.get<std::int64_t>()))
      throw_input_error("has categories (cats) with {}, which is no byte", value.dump());
    // XGBoost 3.2 counts characters where it means bytes, so texts begin elsewhere and the last ones are cut off.
    if (value.get<std::int64_t>() < 0)
      throw InputError(
          "has categories with texts beyond ASCII, which XGBoost cuts off in its file: train it with ASCII texts or "
          "whole "
          "numbers as categories");
    bytes += static_cast<char>(value.get<std::int64_t>());
  }
  SortedJson texts = SortedJson::array();
  for (std::size_t i = 0; i + 1 < offsets.size(); ++i) {
    const auto begin = offsets[i].get<std::int64_t>(), end = offsets[i + 1].get<std::int64_t>();
    if (begin < 0 || begin > end || std::cmp_greater(end, bytes.size()))
      throw InputError("has categories (cats) that lead out of their texts");
    const std::string text = bytes.substr(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin));
    texts.push_back(text);
  }
  return categories_from_json(texts);
}

std::optional<std::int64_t> whole_number(const std::string& text) {
  std::int64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || rest != end || table::number_text(text) != text) return std::nullopt;
  return number;
}

/// `texts` as whole numbers if they all are.
std::optional<std::vector<std::int64_t>> whole_numbers(const table::CategoryTexts& texts) {
  std::vector<std::int64_t> numbers;
  for (const std::string& text : texts) {
    const auto number = whole_number(text);
    if (!number) return std::nullopt;
    numbers.push_back(*number);
  }
  return numbers;
}

bool is_ascii(const table::CategoryTexts& texts) {
  return std::ranges::all_of(texts, [](const std::string& text) {
    return std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
  });
}

template <typename Value>
void append_order(const std::vector<Value>& values, Json& sorted) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) -> const Value& { return values[i]; });
  for (const std::size_t place : order) sorted.push_back(place);
}

/// Adds to `sorted` the places of the texts in XGBoost's order, which is that of signed bytes.
Json encode_texts(const table::CategoryTexts& texts, Json& sorted) {
  Json offsets = Json::array({0}), values = Json::array();
  std::vector<std::vector<std::int8_t>> all_bytes;
  for (const std::string& text : texts) {
    const auto& bytes = all_bytes.emplace_back(text.begin(), text.end());
    for (const std::int8_t byte : bytes) values.push_back(byte);
    offsets.push_back(values.size());
  }
  append_order(all_bytes, sorted);
  return {{"offsets", offsets}, {"values", values}};
}

}  // namespace

CategoriesByCode categories_from_xgboost(const SortedJson& model, const table::Schema& schema) {
  CategoriesByCode categories;
  if (!model.contains("cats")) return categories;
  const SortedJson& encoded = model["cats"].at("enc");
  if (encoded.empty()) return categories;
  if (!encoded.is_array() || encoded.size() != schema.features.size())
    throw_input_error("has categories (cats) of {} features, not of {}", encoded.size(), schema.features.size());
  for (const auto& [feature, texts] : schema.categories) {
    const SortedJson& one = encoded[feature];
    const SortedJson& values = one.at("values");
    if (!values.is_array()) throw InputError("has categories (cats) that are no list");
    if (one.contains("offsets")) {
      if (one["offsets"].size() > 1) categories.emplace(feature, texts_of(one));
    } else if (!values.empty()) {
      categories.emplace(feature, categories_from_json(values));
    }
  }
  return categories;
}

Json categories_to_xgboost(const table::Schema& schema) {
  Json encoded = Json::array(), segments = Json::array({0}), sorted = Json::array();
  for (std::size_t j = 0; j < schema.features.size(); ++j) {
    const auto found = schema.categories.find(j);
    if (found == schema.categories.end() || !found->second || found->second->empty() || !is_ascii(*found->second)) {
      encoded.push_back({{"offsets", Json::array()}, {"values", Json::array()}});
    } else if (const auto numbers = whole_numbers(*found->second)) {
      encoded.push_back({{"type", kInt64}, {"values", *numbers}});
      append_order(*numbers, sorted);
    } else {
      encoded.push_back(encode_texts(*found->second, sorted));
    }
    segments.push_back(sorted.size());
  }
  return {{"enc", encoded}, {"feature_segments", segments}, {"sorted_idx", sorted}};
}

}  // namespace podere::exchange
