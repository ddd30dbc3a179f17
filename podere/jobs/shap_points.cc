#include "podere/jobs/shap_points.h"

#include <algorithm>
#include <cmath>
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

}  // namespace

Json shap_points(const comm::Communicator& comm, const algorithm::Model& model,
                 const algorithm::Explainable& explainable, const table::Table& table,
                 std::span<const double> importance) {
  if (model.n_outputs() > 1) return {};
  const std::vector<std::size_t> features = largest(importance);
  std::vector<double> numbers;  // [rows x features x 2]: SHAP value, value
  comm.agree([&] {
    const auto columns = table::feature_columns(model.schema(), table);
    std::vector<double> of_row(columns.size() + 1);
    for (std::size_t i = 0; i < table.n_rows(); ++i) {
      if (!is_shown(table.global({i}).value, table.n_global_rows())) continue;
      explainable.shap_values(columns, i, i + 1, of_row);
      for (const std::size_t j : features) {
        numbers.push_back(of_row[j]);
        numbers.push_back(columns[j][i]);
      }
    }
  });
  numbers = comm.all_gather_v(std::span<const double>(numbers));
  const std::size_t n_rows = features.empty() ? 0 : numbers.size() / (2 * features.size());
  Json all = Json::array();
  for (std::size_t f = 0; f < features.size(); ++f) {
    Json shap = Json::array(), values = Json::array();
    for (std::size_t i = 0; i < n_rows; ++i) {
      shap.push_back(rounded(numbers[2 * (i * features.size() + f)]));
      values.push_back(rounded(numbers[2 * (i * features.size() + f) + 1]));
    }
    all.push_back({{"name", model.schema().features[features[f]]},
                   {"is_category", model.schema().is_categorical(features[f])},
                   {"shap", std::move(shap)},
                   {"values", std::move(values)}});
  }
  return {{"rows", n_rows}, {"features", std::move(all)}};
}

}  // namespace podere::jobs
