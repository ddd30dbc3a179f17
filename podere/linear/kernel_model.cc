#include "podere/linear/kernel_model.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "podere/base/error.h"
#include "podere/base/json_fields.h"
#include "podere/base/parallel.h"
#include "podere/comm/communicator.h"
#include "podere/linear/cosine_kernel.h"
#include "podere/table/check_numbers.h"
#include "podere/table/features.h"
#include "podere/table/schema_json.h"

namespace podere::linear {
namespace {

constexpr std::size_t kMostFrequencies = std::size_t{1} << 27;  // a GiB of float64
constexpr std::size_t kRowsOfPrediction = 32;

/// Throws InputError for parts that do not fit each other.
void check_kernel_parts(const KernelModel::Parts& parts) {
  const FeatureMap& map = parts.map;
  check_map_size(map.n_outputs, parts.schema.features.size());
  const auto are_finite = [](const auto& values) {
    return std::ranges::all_of(values, [](double x) { return std::isfinite(x); });
  };
  const bool fit = parts.coefficients.size() == map.n_outputs && map.shift.size() == parts.schema.features.size() &&
                   map.factor.size() == map.shift.size();
  if (!fit || !std::isfinite(parts.intercept) || !are_finite(parts.coefficients) || !are_finite(map.shift) ||
      !are_finite(map.factor)) {
    throw InputError("its coefficients do not fit its features");
  }
  if (!std::isfinite(map.gamma) || map.gamma <= 0) throw InputError("its gamma is not a finite number above 0");
}

}  // namespace

void check_map_size(std::size_t n_random_features, std::size_t n_features) {
  if (n_random_features < 1 || n_random_features > kMostRandomFeatures) {
    throw_input_error("random-features is {}, allowed is 1 to {}", n_random_features, kMostRandomFeatures);
  }
  if (n_random_features * n_features <= kMostFrequencies) return;
  throw_input_error("random-features is {}, allowed is up to {} of {} features", n_random_features,
                    kMostFrequencies / n_features, n_features);
}

KernelModel::KernelModel(Parts parts) : parts_(std::move(parts)), features_(parts_.map) {}

std::unique_ptr<const KernelModel> KernelModel::from_text(const std::string& text, const std::string& name) {
  Parts parts;
  read_checked_json(text, name, kKernelRidgeKind, [&](const Json& content) {
    parts.schema = table::schema_from_json(content.at("schema"));
    read_json(content.at("seed"), "seed", parts.map.seed);
    read_json(content.at("gamma"), "gamma", parts.map.gamma);
    read_json(content.at("shift"), "shift", parts.map.shift);
    read_json(content.at("factor"), "factor", parts.map.factor);
    read_json(content.at("coefficients"), "coefficients", parts.coefficients);
    read_json(content.at("intercept"), "intercept", parts.intercept);
    read_json(content.at("passes"), "passes", parts.n_passes);
    parts.map.n_outputs = parts.coefficients.size();
    check_kernel_parts(parts);
  });
  return std::make_unique<const KernelModel>(std::move(parts));
}

std::string KernelModel::to_text() const {
  return checked_json_text(kKernelRidgeKind, 1,
                           {{"schema", table::to_json(parts_.schema)},
                            {"seed", parts_.map.seed},
                            {"gamma", parts_.map.gamma},
                            {"shift", parts_.map.shift},
                            {"factor", parts_.map.factor},
                            {"coefficients", parts_.coefficients},
                            {"intercept", parts_.intercept},
                            {"passes", parts_.n_passes}});
}

std::vector<float> KernelModel::margins(const table::Table& table, int n_threads) const {
  const auto columns = table::feature_columns(parts_.schema, table);
  table::check_complete(columns, parts_.schema.features, table.global({0}), "kernel ridge needs",
                        comm::Communicator::self(), n_threads);
  const std::size_t n = features_.size();
  std::vector<float> margins(table.n_rows());
  parallel_for_slices(n_threads, table.n_rows(), table::kBlockRows, [&](std::size_t begin, std::size_t end, int) {
    std::vector<double> values(kRowsOfPrediction * n);
    for (std::size_t first = begin; first < end; first += kRowsOfPrediction) {
      const std::size_t last = std::min(end, first + kRowsOfPrediction);
      features_.compute(columns, first, last, values.data(), n);
      for (std::size_t i = first; i < last; ++i) {
        const double sum = dot_in_lanes(values.data() + (i - first) * n, parts_.coefficients.data(), n);
        margins[i] = static_cast<float>(parts_.intercept + sum);
      }
    }
  });
  return margins;
}

algorithm::Description KernelModel::describe() const {
  algorithm::Description description{.facts = {{"objective", objective()},
                                               {"features", parts_.schema.features.size()},
                                               {"random features", features_.size()},
                                               {"gamma", parts_.map.gamma},
                                               {"seed", parts_.map.seed}},
                                     .head = {"feature", "shift", "factor"}};
  for (std::size_t j = 0; j < parts_.schema.features.size(); ++j) {
    description.lines.push_back({parts_.schema.features[j], parts_.map.shift[j], parts_.map.factor[j]});
  }
  description.json = {{"objective", objective()},
                      {"features", parts_.schema.features},
                      {"random_features", features_.size()},
                      {"gamma", parts_.map.gamma},
                      {"seed", parts_.map.seed},
                      {"shift", parts_.map.shift},
                      {"factor", parts_.map.factor},
                      {"random_coefficients", parts_.coefficients},
                      {"intercept", parts_.intercept},
                      {"passes", parts_.n_passes}};
  return description;
}

}  // namespace podere::linear
