#include "podere/cluster/mixture_model.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "podere/algorithm/softmax.h"
#include "podere/base/error.h"
#include "podere/base/json_fields.h"
#include "podere/base/parallel.h"
#include "podere/base/portable_math.h"
#include "podere/cluster/expectation.h"
#include "podere/table/check_numbers.h"
#include "podere/table/features.h"
#include "podere/table/schema_json.h"

namespace podere::cluster {
namespace {

using Matrix = std::vector<std::vector<double>>;

std::vector<double> numbers_of(const Eigen::VectorXd& vector) { return {vector.begin(), vector.end()}; }

Matrix rows_of_matrix(const Eigen::MatrixXd& matrix) {
  Matrix rows;
  for (Eigen::Index i = 0; i < matrix.rows(); ++i) rows.push_back(numbers_of(matrix.row(i)));
  return rows;
}

bool are_all_finite(const Matrix& rows, std::size_t n_rows, std::size_t n_columns) {
  const auto is_whole = [&](const std::vector<double>& row) {
    return row.size() == n_columns && std::ranges::all_of(row, [](double value) { return std::isfinite(value); });
  };
  return rows.size() == n_rows && std::ranges::all_of(rows, is_whole);
}

/// Throws InputError for what is no mixture of so many features.
Gaussians gaussians_of(const Json& content, std::size_t n_features) {
  Gaussians found;
  Matrix means;
  std::vector<Matrix> covariances;
  read_json(content.at("covariance"), "covariance", found.kind);
  read_json(content.at("weights"), "weights", found.weights);
  read_json(content.at("means"), "means", means);
  read_json(content.at("covariances"), "covariances", covariances);
  const std::size_t n_columns = has_matrices(found.kind) ? n_features : 1;
  const bool fits =
      n_features > 0 && !found.weights.empty() && covariances.size() == found.weights.size() &&
      std::ranges::all_of(found.weights, [](double weight) { return weight >= 0 && weight <= 1; }) &&
      are_all_finite(means, found.weights.size(), n_features) &&
      std::ranges::all_of(covariances, [&](const Matrix& m) { return are_all_finite(m, n_features, n_columns); });
  if (!fits) throw InputError("its clusters do not fit its features");
  for (std::size_t k = 0; k < found.size(); ++k) {
    found.means.emplace_back(Eigen::Map<const Eigen::VectorXd>(means[k].data(), static_cast<Eigen::Index>(n_features)));
    Eigen::MatrixXd& covariance = found.covariances.emplace_back(n_features, n_columns);
    for (std::size_t i = 0; i < n_features; ++i) {
      for (std::size_t j = 0; j < n_columns; ++j) {
        covariance(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j)) = covariances[k][i][j];
      }
    }
    if (!has_matrices(found.kind) && covariance.minCoeff() <= 0) throw InputError("a variance is not above 0");
  }
  const LogDensities densities(found);  // which throws for a matrix that is not positive definite
  return found;
}

}  // namespace

double bic(double mean_log_likelihood, double n_rows, std::size_t n_free) {
  return -2 * mean_log_likelihood * n_rows + static_cast<double>(n_free) * portable_log(n_rows);
}

double aic(double mean_log_likelihood, double n_rows, std::size_t n_free) {
  return -2 * mean_log_likelihood * n_rows + 2 * static_cast<double>(n_free);
}

MixtureModel::MixtureModel(table::Schema schema, Units units, Gaussians gaussians)
    : schema_(std::move(schema)), units_(std::move(units)), gaussians_(std::move(gaussians)) {}

std::unique_ptr<const MixtureModel> MixtureModel::from_text(const std::string& text, const std::string& name) {
  std::unique_ptr<const MixtureModel> model;
  read_checked_json(text, name, kMixtureKind, [&](const Json& content) {
    table::Schema schema = table::schema_from_json(content.at("schema"));
    Units units;
    read_json(content.at("units"), "units", units);
    check_units(units, schema.features.size());
    Gaussians gaussians = gaussians_of(content, schema.features.size());
    model = std::make_unique<const MixtureModel>(std::move(schema), std::move(units), std::move(gaussians));
  });
  return model;
}

std::string MixtureModel::to_text() const {
  Json means = Json::array();
  Json covariances = Json::array();
  for (std::size_t k = 0; k < n_outputs(); ++k) {
    means.push_back(numbers_of(gaussians_.means[k]));
    covariances.push_back(rows_of_matrix(gaussians_.covariances[k]));
  }
  return checked_json_text(kMixtureKind, 1,
                           {{"schema", table::to_json(schema_)},
                            {"units", json_of_all_fields(units_)},
                            {"covariance", to_string(gaussians_.kind)},
                            {"weights", gaussians_.weights},
                            {"means", std::move(means)},
                            {"covariances", std::move(covariances)}});
}

double MixtureModel::log_factor() const {
  double sum = 0;
  for (const double factor : units_.factor) sum += portable_log(factor);
  return sum;
}

std::vector<float> MixtureModel::margins(const table::Table& table, int n_threads) const {
  const auto columns = table::feature_columns(schema_, table);
  table::check_complete(columns, schema_.features, table.global({0}), "distances need", comm::Communicator::self(),
                        n_threads);
  const ScaledRows rows(columns, {}, table.rows(), table.n_global_rows(), units_);
  const LogDensities densities(gaussians_);
  const double added = log_factor();
  std::vector<float> margins(n_outputs() * rows.n_rows());
  parallel_for_slices(n_threads, rows.n_rows(), kDensityRows, [&](std::size_t begin, std::size_t end, int) {
    LogDensities::Workspace workspace(densities);
    HugeArray<float> tile(rows.n_features() * kTileRows);
    std::vector<double> values;
    std::vector<double> logs((end - begin) * n_outputs());
    unpack(rows, begin, end, tile, values);
    densities.compute(values, workspace, logs);
    for (std::size_t i = begin; i < end; ++i) {
      for (std::size_t k = 0; k < n_outputs(); ++k) {
        margins[k * rows.n_rows() + i] = static_cast<float>(logs[(i - begin) * n_outputs() + k] + added);
      }
    }
  });
  return margins;
}

std::vector<float> MixtureModel::predictions(std::vector<float> margins, int /*n_threads*/) const {
  return algorithm::softmax(std::move(margins), n_outputs());
}

Json MixtureModel::measures_of_rows(const table::Table& table, const comm::Communicator& comm, int n_threads) const {
  const auto columns = table::feature_columns(schema_, table);
  table::check_complete(columns, schema_.features, table.global({0}), "distances need", comm, n_threads);
  const ScaledRows rows(columns, table.weight(), table.rows(), table.n_global_rows(), units_);
  const auto [log_likelihood, n_rows] = mean_log_likelihood(rows, gaussians_, comm, n_threads);
  const double of_features = log_likelihood + log_factor();
  return {{"log_likelihood", of_features},
          {"bic", bic(of_features, n_rows, gaussians_.n_free())},
          {"aic", aic(of_features, n_rows, gaussians_.n_free())}};
}

algorithm::Description MixtureModel::describe() const {
  algorithm::Description description{.facts = {{"objective", objective()},
                                               {"clusters", n_outputs()},
                                               {"features", schema_.features.size()},
                                               {"covariance", to_string(gaussians_.kind)}},
                                     .head = {"feature"}};
  Json means = Json::array();
  Json covariances = Json::array();
  std::vector<Json> weights = {"(share of rows)"};
  for (std::size_t k = 0; k < n_outputs(); ++k) {
    description.head.push_back("cluster " + std::to_string(k));
    weights.emplace_back(gaussians_.weights[k]);
    means.push_back(Json::array());
    Matrix covariance = rows_of_matrix(gaussians_.covariances[k]);
    for (std::size_t i = 0; i < schema_.features.size(); ++i) {
      means.back().push_back(gaussians_.means[k][static_cast<Eigen::Index>(i)] / units_.factor[i] + units_.shift[i]);
      for (std::size_t j = 0; j < covariance[i].size(); ++j) {
        covariance[i][j] /= units_.factor[i] * units_.factor[has_matrices(gaussians_.kind) ? j : i];
      }
    }
    covariances.push_back(std::move(covariance));
  }
  description.lines.push_back(std::move(weights));
  for (std::size_t j = 0; j < schema_.features.size(); ++j) {
    description.lines.push_back({schema_.features[j]});
    for (const Json& mean : means) description.lines.back().push_back(mean[j]);
  }
  description.json = {
      {"objective", objective()},      {"features", schema_.features}, {"covariance", to_string(gaussians_.kind)},
      {"weights", gaussians_.weights}, {"means", std::move(means)},    {"covariances", std::move(covariances)}};
  return description;
}

}  // namespace podere::cluster
