#include "podere/jobs/shap_points.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <numeric>
#include <vector>

#include "podere/base/hash.h"
#include "podere/table/features.h"

namespace podere::jobs {
namespace {

constexpr double kShownRows = 500;
constexpr std::size_t kShownFeatures = 20;
constexpr std::uint64_t kSeed = 500;

bool is_shown(std::uint64_t row, std::uint64_t n_rows) {
  return uniform01(hash64(kSeed, 0, row)) * static_cast<double>(n_rows) < kShownRows;
}

std::vector<std::size_t> largest(std::span<const double> importance) {
  std::vector<std::size_t> order(importance.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater(), [&](std::size_t j) { return importance[j]; });
  order.resize(std::min(order.size(), kShownFeatures));
  return order;
}

/// Null for what is no number.
Json rounded(double value) {
  if (!std::isfinite(value)) return {};
  const double scale = value == 0 ? 1 : std::pow(10.0, 3 - std::floor(std::log10(std::abs(value))));
  return std::isfinite(scale) && scale > 0 ? std::round(value * scale) / scale : value;
}

/// The places of values among the finite ones, from 0 to 1, equal for equal ones; NaN for those that are not finite.
std::vector<double> places_of(const std::vector<double>& values) {
  std::vector<double> sorted;
  std::ranges::copy_if(values, std::back_inserter(sorted), [](double value) { return std::isfinite(value); });
  std::ranges::sort(sorted);
  std::vector<double> places;
  const double last = std::max(1.0, static_cast<double>(sorted.size()) - 1);
  for (const double value : values) {
    const auto [low, high] = std::equal_range(sorted.begin(), sorted.end(), value);
    const double middle = static_cast<double>(low - sorted.begin() + (high - sorted.begin()) - 1) / 2;
    places.push_back(std::isfinite(value) ? middle / last : std::nan(""));
  }
  return places;
}

/// SHAP values and values [rows x features x 2] of the rows here that are shown.
std::vector<double> numbers_here(const algorithm::Model& model, const algorithm::Explainable& explainable,
                                 const table::Table& table, const std::vector<std::size_t>& features) {
  const auto columns = table::feature_columns(model.schema(), table);
  std::vector<std::vector<float>> shown(columns.size());
  std::size_t n = 0;
  for (std::size_t i = 0; i < table.n_rows(); ++i) {
    if (!is_shown(table.global({i}).value, table.n_global_rows())) continue;
    for (std::size_t j = 0; j < columns.size(); ++j) shown[j].push_back(columns[j][i]);
    ++n;
  }
  const std::vector<std::span<const float>> of_shown(shown.begin(), shown.end());
  const std::size_t stride = columns.size() + 1;
  std::vector<double> values(n * stride);
  explainable.shap_values(of_shown, 0, n, values);
  std::vector<double> numbers;
  for (std::size_t i = 0; i < n; ++i) {
    for (const std::size_t j : features) {
      numbers.push_back(values[i * stride + j]);
      numbers.push_back(shown[j][i]);
    }
  }
  return numbers;
}

}  // namespace

Json shap_points(const comm::Communicator& comm, const algorithm::Model& model,
                 const algorithm::Explainable& explainable, const table::Table& table,
                 std::span<const double> importance) {
  if (model.n_outputs() > 1) return {};
  const std::vector<std::size_t> features = largest(importance);
  std::vector<double> numbers;
  comm.agree([&] { numbers = numbers_here(model, explainable, table, features); });
  numbers = comm.all_gather_v(std::span<const double>(numbers));
  const std::size_t n_rows = features.empty() ? 0 : numbers.size() / (2 * features.size());
  Json all = Json::array();
  for (std::size_t f = 0; f < features.size(); ++f) {
    std::vector<double> shap, values;
    for (std::size_t i = 0; i < n_rows; ++i) {
      shap.push_back(numbers[2 * (i * features.size() + f)]);
      values.push_back(numbers[2 * (i * features.size() + f) + 1]);
    }
    const std::vector<double> places = places_of(values);
    std::vector<std::size_t> order(n_rows);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, {}, [&](std::size_t i) { return shap[i]; });
    Json shown_shap = Json::array(), shown_places = Json::array();
    for (const std::size_t i : order) {
      shown_shap.push_back(rounded(shap[i]));
      shown_places.push_back(rounded(places[i]));
    }
    all.push_back({{"name", model.schema().features[features[f]]},
                   {"is_category", model.schema().is_categorical(features[f])},
                   {"shap", std::move(shown_shap)},
                   {"places", std::move(shown_places)}});
  }
  return {{"rows", n_rows}, {"features", std::move(all)}};
}

}  // namespace podere::jobs
