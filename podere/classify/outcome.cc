#include "podere/classify/outcome.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>
#include <numeric>
#include <string_view>
#include <utility>

#include "podere/algorithm/softmax.h"
#include "podere/base/error.h"
#include "podere/base/json.h"
#include "podere/base/printable.h"
#include "podere/io/write_csv.h"

namespace podere::classify {

std::vector<Score> best_of(std::span<const float> scores, std::size_t n, bool needs_softmax) {
  std::vector<float> values(scores.begin(), scores.end());
  if (needs_softmax) values = algorithm::softmax(std::move(values), scores.size());
  std::vector<std::uint32_t> order(values.size());
  std::iota(order.begin(), order.end(), 0U);
  const auto is_before = [&](std::uint32_t a, std::uint32_t b) {
    if (std::isnan(values[a]) != std::isnan(values[b])) return std::isnan(values[b]);
    return values[a] != values[b] && !std::isnan(values[a]) ? values[a] > values[b] : a < b;
  };
  const auto middle = order.begin() + static_cast<std::ptrdiff_t>(std::min(n, order.size()));
  std::partial_sort(order.begin(), middle, order.end(), is_before);
  std::vector<Score> best;
  std::transform(order.begin(), middle, std::back_inserter(best), [&](std::uint32_t label) {
    return Score{label, values[label]};
  });
  return best;
}

std::array<std::optional<double>, kMicroscopeNumbers.size()> microscope_numbers(const image::MicroscopeFacts& facts) {
  return {facts.pixel_size_nm, facts.voltage_kv, facts.working_distance_mm, facts.magnification};
}

Json to_json(const Outcome& outcome) {
  Json top = Json::array();
  for (const Score& score : outcome.top) {
    // As bits: JSON has no NaN.
    top.push_back({score.label, std::bit_cast<std::uint32_t>(score.score)});
  }
  Json numbers = Json::array();
  for (const std::optional<double>& value : microscope_numbers(outcome.microscope)) {
    numbers.push_back(value ? Json(*value) : Json());
  }
  return {{"width", outcome.width},
          {"height", outcome.height},
          {"top", std::move(top)},
          {"kind", outcome.fault_kind},
          {"error", outcome.fault},
          {"numbers", std::move(numbers)},
          {"detector", outcome.microscope.detector},
          {"other_pages", outcome.has_other_pages}};
}

/// JSON, in which no byte is 0, such a byte, and the image.
std::string to_bytes(const Outcome& outcome) {
  std::string bytes = to_text(to_json(outcome));
  bytes += '\0';
  return bytes += outcome.image;
}

Outcome from_bytes(const std::string& bytes) {
  const std::size_t end = std::min(bytes.find('\0'), bytes.size());
  try {
    const Json json = Json::parse(std::string_view(bytes).substr(0, end));
    const auto number = [&](std::size_t i) {
      const Json& value = json.at("numbers").at(i);
      return value.is_null() ? std::optional<double>() : value.get<double>();
    };
    Outcome outcome;
    outcome.width = json.at("width");
    outcome.height = json.at("height");
    outcome.fault_kind = json.at("kind").get<std::string>();
    outcome.fault = json.at("error").get<std::string>();
    outcome.microscope = {number(0), number(1), number(2), number(3), json.at("detector"), {}};
    outcome.has_other_pages = json.at("other_pages");
    outcome.image = bytes.substr(std::min(end + 1, bytes.size()));
    for (const Json& score : json.at("top")) {
      outcome.top.push_back({score.at(0), std::bit_cast<float>(score.at(1).get<std::uint32_t>())});
    }
    return outcome;
  } catch (const Json::exception&) {
    throw_error("the result of a picture is damaged: {}", printable(bytes));
  }
}

std::string csv_head(std::size_t n_top) {
  std::string head = "picture";
  for (std::size_t k = 1; k <= n_top; ++k) head += k == 1 ? ",label,score" : fmt::format(",label_{0},score_{0}", k);
  head += ",width,height,error";
  for (const char* const name : kMicroscopeNumbers) (head += ',') += name;
  return head + ",detector\n";
}

void append_csv_line(const std::string& picture, const Outcome& outcome, std::size_t n_top,
                     std::span<const std::string> labels, std::string& text) {
  text += io::field_of(picture);
  for (std::size_t k = 0; k < n_top; ++k) {
    if (k >= outcome.top.size()) {
      text += ",,";
      continue;
    }
    const auto& [label, score] = outcome.top[k];
    if (!labels.empty() && label >= labels.size()) throw_error("{}: its result is damaged", printable(picture));
    text += ',';
    text += labels.empty() ? std::to_string(label) : io::field_of(labels[label]);
    fmt::format_to(std::back_inserter(text), ",{}", score);
  }
  if (outcome.width == 0) {
    text += ",,,";
  } else {
    fmt::format_to(std::back_inserter(text), ",{},{},", outcome.width, outcome.height);
  }
  if (!outcome.fault.empty()) text += io::field_of(outcome.fault);
  for (const std::optional<double>& value : microscope_numbers(outcome.microscope)) {
    text += ',';
    if (value) fmt::format_to(std::back_inserter(text), "{}", *value);
  }
  text += ',';
  if (!outcome.microscope.detector.empty()) text += io::field_of(outcome.microscope.detector);
  text += '\n';
}

}  // namespace podere::classify
