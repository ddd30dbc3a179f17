#include "podere/linear/linear_model.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "podere/base/error.h"
#include "podere/base/json_fields.h"
#include "podere/base/parallel.h"
#include "podere/comm/communicator.h"
#include "podere/table/check_numbers.h"
#include "podere/table/features.h"
#include "podere/table/schema_json.h"

namespace podere::linear {

LinearModel::LinearModel(table::Schema schema, std::vector<double> coefficients, double intercept)
    : schema_(std::move(schema)), coefficients_(std::move(coefficients)), intercept_(intercept) {}

std::unique_ptr<const LinearModel> LinearModel::from_text(const std::string& text, const std::string& name) {
  table::Schema schema;
  std::vector<double> coefficients;
  double intercept = 0;
  read_checked_json(text, name, kLinearKind, [&](const Json& content) {
    schema = table::schema_from_json(content.at("schema"));
    read_json(content.at("coefficients"), "coefficients", coefficients);
    read_json(content.at("intercept"), "intercept", intercept);
    const bool are_finite =
        std::isfinite(intercept) && std::ranges::all_of(coefficients, [](double x) { return std::isfinite(x); });
    if (!are_finite || coefficients.size() != schema.features.size()) {
      throw InputError("its coefficients do not fit its features");
    }
  });
  return std::make_unique<const LinearModel>(std::move(schema), std::move(coefficients), intercept);
}

std::string LinearModel::to_text() const {
  return checked_json_text(
      kLinearKind, 1,
      {{"schema", table::to_json(schema_)}, {"coefficients", coefficients_}, {"intercept", intercept_}});
}

std::vector<float> LinearModel::margins(const table::Table& table, int n_threads) const {
  const auto columns = table::feature_columns(schema_, table);
  table::check_complete(columns, schema_.features, table.global({0}), "linear models need", comm::Communicator::self(),
                        n_threads);
  std::vector<float> margins(table.n_rows());
  parallel_for_slices(n_threads, table.n_rows(), table::kBlockRows, [&](std::size_t begin, std::size_t end, int) {
    std::vector<double> sums(end - begin, intercept_);
    for (std::size_t j = 0; j < columns.size(); ++j) {
      for (std::size_t i = begin; i < end; ++i) sums[i - begin] += coefficients_[j] * double{columns[j][i]};
    }
    for (std::size_t i = begin; i < end; ++i) margins[i] = static_cast<float>(sums[i - begin]);
  });
  return margins;
}

algorithm::Description LinearModel::describe() const {
  algorithm::Description description{.facts = {{"objective", objective()}, {"features", schema_.features.size()}},
                                     .head = {"feature", "coefficient"}};
  description.lines.push_back({"(intercept)", intercept_});
  for (std::size_t j = 0; j < coefficients_.size(); ++j) {
    description.lines.push_back({schema_.features[j], coefficients_[j]});
  }
  description.json = {{"objective", objective()},
                      {"features", schema_.features},
                      {"coefficients", coefficients_},
                      {"intercept", intercept_}};
  return description;
}

}  // namespace podere::linear
