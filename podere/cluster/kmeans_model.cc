#include "podere/cluster/kmeans_model.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "podere/base/error.h"
#include "podere/base/json_fields.h"
#include "podere/base/parallel.h"
#include "podere/cluster/silhouette.h"
#include "podere/table/check_numbers.h"
#include "podere/table/features.h"
#include "podere/table/schema_json.h"

namespace podere::cluster {
namespace {

/// Throws InputError for parts that do not fit each other.
void check_parts(const KmeansModel::Parts& parts, const std::vector<std::vector<float>>& centroids) {
  const std::size_t n = parts.schema.features.size();
  check_units(parts.units, n);
  const auto fits = [&](const std::vector<float>& centroid) {
    return centroid.size() == n && std::ranges::all_of(centroid, [](float value) { return std::isfinite(value); });
  };
  const bool has_centroids = !centroids.empty() && std::ranges::all_of(centroids, fits);
  if (!has_centroids || parts.weights.size() != centroids.size()) {
    throw InputError("its centroids do not fit its features");
  }
}

std::vector<std::vector<float>> rows_of_centroids(const Centroids& centroids) {
  std::vector<std::vector<float>> rows;
  for (std::size_t k = 0; k < centroids.size(); ++k) {
    rows.emplace_back(centroids.of(k), centroids.of(k) + centroids.n_features);
  }
  return rows;
}

}  // namespace

KmeansModel::KmeansModel(Parts parts) : parts_(std::move(parts)) {}

std::unique_ptr<const KmeansModel> KmeansModel::from_text(const std::string& text, const std::string& name) {
  Parts parts;
  read_checked_json(text, name, kKmeansKind, [&](const Json& content) {
    parts.schema = table::schema_from_json(content.at("schema"));
    read_json(content.at("units"), "units", parts.units);
    read_json(content.at("standardizes"), "standardizes", parts.standardizes);
    read_json(content.at("weights"), "weights", parts.weights);
    std::vector<std::vector<float>> centroids;
    read_json(content.at("centroids"), "centroids", centroids);
    check_parts(parts, centroids);
    parts.centroids.n_features = parts.schema.features.size();
    for (const auto& centroid : centroids) {
      parts.centroids.values.insert(parts.centroids.values.end(), centroid.begin(), centroid.end());
    }
  });
  return std::make_unique<const KmeansModel>(std::move(parts));
}

std::string KmeansModel::to_text() const {
  return checked_json_text(kKmeansKind, 1,
                           {{"schema", table::to_json(parts_.schema)},
                            {"units", json_of_all_fields(parts_.units)},
                            {"standardizes", parts_.standardizes},
                            {"weights", parts_.weights},
                            {"centroids", rows_of_centroids(parts_.centroids)}});
}

double KmeansModel::square_factor() const {
  const double factor = parts_.standardizes ? 1 : parts_.units.factor.front();
  return factor * factor;
}

ScaledRows KmeansModel::rows_of(const table::Table& table) const {
  return {table::feature_columns(parts_.schema, table), table.weight(), table.rows(), table.n_global_rows(),
          parts_.units};
}

std::vector<float> KmeansModel::margins(const table::Table& table, int n_threads) const {
  const auto columns = table::feature_columns(parts_.schema, table);
  table::check_complete(columns, parts_.schema.features, table.global({0}), "distances need",
                        comm::Communicator::self(), n_threads);
  const ScaledRows rows = rows_of(table);
  const double factor = -1 / square_factor();
  std::vector<float> margins(n_outputs() * rows.n_rows());
  parallel_for_slices(n_threads, rows.n_rows(), kTileRows, [&](std::size_t begin, std::size_t end, int) {
    HugeArray<float> tile(rows.n_features() * kTileRows);
    std::vector<float> distances(n_outputs() * kTileRows);
    rows.pack(begin, end, tile.data());
    squared_distances(tile.data(), rows.n_features(), parts_.centroids.values.data(), n_outputs(), distances.data());
    for (std::size_t k = 0; k < n_outputs(); ++k) {
      for (std::size_t i = begin; i < end; ++i) {
        margins[k * rows.n_rows() + i] = static_cast<float>(factor * double{distances[k * kTileRows + i - begin]});
      }
    }
  });
  return margins;
}

std::vector<float> KmeansModel::predictions(std::vector<float> margins, int n_threads) const {
  const std::size_t n = margins.size() / n_outputs();
  parallel_for_slices(n_threads, n, table::kBlockRows, [&](std::size_t begin, std::size_t end, int) {
    for (std::size_t i = begin; i < end; ++i) {
      std::size_t nearest = 0;
      for (std::size_t k = 1; k < n_outputs(); ++k) {
        if (margins[k * n + i] > margins[nearest * n + i]) nearest = k;
      }
      for (std::size_t k = 0; k < n_outputs(); ++k) margins[k * n + i] = k == nearest ? 1 : 0;
    }
  });
  return margins;
}

Json KmeansModel::measures_of_rows(const table::Table& table, const comm::Communicator& comm, int n_threads) const {
  const auto columns = table::feature_columns(parts_.schema, table);
  table::check_complete(columns, parts_.schema.features, table.global({0}), "distances need", comm, n_threads);
  const ScaledRows rows = rows_of(table);
  const Silhouette apart = silhouette(rows, parts_.centroids, comm, n_threads);
  return {{"inertia", inertia(rows, parts_.centroids, comm, n_threads) / square_factor()},
          {"silhouette", apart.mean ? Json(*apart.mean) : Json()},
          {"silhouette_rows", apart.n_rows}};
}

std::vector<std::vector<double>> KmeansModel::centers() const {
  std::vector<std::vector<double>> centers;
  for (std::size_t k = 0; k < n_outputs(); ++k) {
    centers.emplace_back();
    for (std::size_t j = 0; j < parts_.centroids.n_features; ++j) {
      centers.back().push_back(double{parts_.centroids.of(k)[j]} / parts_.units.factor[j] + parts_.units.shift[j]);
    }
  }
  return centers;
}

algorithm::Description KmeansModel::describe() const {
  const std::vector<std::vector<double>> all = centers();
  algorithm::Description description{.facts = {{"objective", objective()},
                                               {"clusters", n_outputs()},
                                               {"features", parts_.schema.features.size()},
                                               {"standardizes", parts_.standardizes}},
                                     .head = {"feature"}};
  std::vector<Json> weights = {"(weight of rows)"};
  for (std::size_t k = 0; k < n_outputs(); ++k) {
    description.head.push_back("cluster " + std::to_string(k));
    weights.emplace_back(parts_.weights[k]);
  }
  description.lines.push_back(std::move(weights));
  for (std::size_t j = 0; j < parts_.schema.features.size(); ++j) {
    description.lines.push_back({parts_.schema.features[j]});
    for (const auto& center : all) description.lines.back().push_back(center[j]);
  }
  description.json = {{"objective", objective()},
                      {"features", parts_.schema.features},
                      {"centroids", all},
                      {"standardizes", parts_.standardizes},
                      {"weights", parts_.weights}};
  return description;
}

}  // namespace podere::cluster
