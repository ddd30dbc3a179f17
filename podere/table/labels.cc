#include "podere/table/labels.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <utility>

#include "podere/base/error.h"
#include "podere/base/number.h"
#include "podere/base/parallel.h"
#include "podere/table/number_text.h"

namespace podere::table {
namespace {

constexpr std::size_t kMostShown = 20;
constexpr std::size_t kUsual = 256;

using Places = std::vector<std::pair<float, float>>;  // (class, place), by class

/// Nothing if the label is none of the classes.
const float* place_of(const Places& places, float label) {
  const auto found = std::ranges::lower_bound(places, label, {}, &Places::value_type::first);
  return found != places.end() && found->first == label ? &found->second : nullptr;
}

[[noreturn]] void refuse(float label, GlobalRow row, const std::vector<float>& classes) {
  const auto n = static_cast<std::ptrdiff_t>(std::min(classes.size(), kMostShown));
  throw_input_error("the label of row {} is {}, allowed are {}{}", row.value, label,
                    fmt::join(classes.begin(), classes.begin() + n, ", "), classes.size() > kMostShown ? ", ..." : "");
}

}  // namespace

std::optional<std::vector<float>> label_values(const Table& table, std::size_t most, const comm::Communicator& comm) {
  if (!table.schema().label) return std::nullopt;
  std::set<float> found;
  std::array<bool, kUsual> is_found{};  // of 0, 1, 2, ..., which most labels are
  bool are_few = true;
  for (const float label : table.label()) {
    if (label >= 0 && label < static_cast<float>(kUsual)) {
      bool& is_known = is_found[static_cast<std::size_t>(label)];
      if (is_known && label == std::floor(label)) continue;
      is_known = is_known || label == std::floor(label);
    }
    found.insert(label + 0.0F);  // -0 is 0
    are_few = !std::isnan(label) && found.size() <= most;
    if (!are_few) break;
  }
  if (comm.all_reduce(are_few ? 0 : 1, comm::Reduction::kMax) != 0) return std::nullopt;
  std::vector<float> values = comm.all_gather_v<float>(std::vector<float>(found.begin(), found.end()));
  std::ranges::sort(values);
  values.erase(std::unique(values.begin(), values.end()), values.end());
  if (values.size() > most) return std::nullopt;
  return values;
}

std::vector<std::string> class_texts(const std::vector<float>& classes) {
  std::vector<std::string> texts;
  for (const float number : classes) texts.push_back(number_text(fmt::format("{}", number)).value());
  return texts;
}

std::optional<std::vector<float>> class_numbers(const std::vector<std::string>& texts) {
  std::vector<float> numbers;
  for (const std::string& text : texts) {
    if (number_text(text) != text) return std::nullopt;
    numbers.push_back(static_cast<float>(*parse_real(text)));
  }
  return numbers;
}

bool are_places(const std::vector<float>& classes) {
  for (std::size_t k = 0; k < classes.size(); ++k) {
    if (classes[k] != static_cast<float>(k)) return false;
  }
  return true;
}

void number_labels(Table& table, const std::vector<float>& classes, int n_threads) {
  Places places;
  for (std::size_t k = 0; k < classes.size(); ++k) places.emplace_back(classes[k], static_cast<float>(k));
  std::ranges::sort(places);
  const std::span<float> label = table.label();
  parallel_for_slices(n_threads, label.size(), kGrainRows, [&](std::size_t begin, std::size_t end, int) {
    for (std::size_t i = begin; i < end; ++i) {
      if (place_of(places, label[i]) == nullptr) refuse(label[i], table.global({i}), classes);
    }
  });
  parallel_for_slices(n_threads, label.size(), kGrainRows, [&](std::size_t begin, std::size_t end, int) {
    for (std::size_t i = begin; i < end; ++i) label[i] = *place_of(places, label[i]);
  });
  if (!are_places(classes)) table.set_classes(class_texts(classes));
}

}  // namespace podere::table
