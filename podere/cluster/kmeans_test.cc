// K-means beside the plain algorithm, and its kernels beside plain loops.
#include "podere/cluster/kmeans.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "hwy/targets.h"
#include "podere/base/error.h"
#include "podere/cluster/seeding.h"
#include "podere/cluster/silhouette.h"
#include "podere/cluster/test_rows.h"

namespace podere::cluster {
namespace {

const comm::Communicator& self() {
  static const auto group = comm::Communicator::self();
  return group;
}

float plain_distance(const float* tile, std::size_t row, const float* centroid, std::size_t n_features) {
  float sum = 0;
  for (std::size_t j = 0; j < n_features; ++j) {
    const float difference = tile[j * kTileRows + row] - centroid[j];
    sum = std::fma(difference, difference, sum);
  }
  return sum;
}

std::vector<float> random_values(std::size_t n, std::uint64_t seed) {
  std::vector<float> values;
  for (std::size_t i = 0; i < n; ++i) values.push_back(static_cast<float>(4 * uniform01(hash64(seed, 0, i)) - 2));
  return values;
}

TEST(DistanceKernelTest, FindsWhatPlainLoopsFindOnAllMachines) {
  for (const std::size_t n_features : {1, 2, 5, 31}) {
    for (const std::size_t n_centroids : {1, 2, 3, 4, 5, 9, 50}) {
      HugeArray<float> tile(n_features * kTileRows);
      std::ranges::copy(random_values(tile.size(), 1), tile.data());
      const std::vector<float> centroids = random_values(n_centroids * n_features, 2);
      for (const std::int64_t target : {std::int64_t{0}, std::int64_t{HWY_AVX3}, std::int64_t{HWY_AVX2}}) {
        if (target != 0 && (hwy::SupportedTargets() & target) == 0) continue;
        hwy::SetSupportedTargetsForTest(target);
        NearestOfTile found;
        find_nearest(tile.data(), n_features, centroids.data(), n_centroids, found);
        std::vector<float> all(n_centroids * kTileRows);
        squared_distances(tile.data(), n_features, centroids.data(), n_centroids, all.data());
        hwy::SetSupportedTargetsForTest(0);
        for (std::size_t row = 0; row < kTileRows; ++row) {
          std::vector<float> distances;
          for (std::size_t k = 0; k < n_centroids; ++k) {
            distances.push_back(plain_distance(tile.data(), row, centroids.data() + k * n_features, n_features));
            ASSERT_EQ(all[k * kTileRows + row], distances.back());
          }
          const auto nearest = std::ranges::min_element(distances);
          ASSERT_EQ(found.nearest[row], nearest - distances.begin());
          ASSERT_EQ(found.distance[row], *nearest);
          *nearest = std::numeric_limits<float>::infinity();
          ASSERT_EQ(found.second[row], *std::ranges::min_element(distances));
        }
      }
    }
  }
}

/// Whether products find nearest centroids, which then must be those that differences find, within bounds.
bool products_find(const HugeArray<float>& tile, const std::vector<float>& centroids, std::size_t n_features) {
  float largest = 0;
  for (const float x : tile.span()) largest = std::max(largest, std::abs(x));
  for (const float x : centroids) largest = std::max(largest, std::abs(x));
  const float slack = 16 * static_cast<float>(n_features * (n_features + 4)) * largest * largest * 0x1p-24F;
  const std::size_t n_centroids = centroids.size() / n_features;
  std::vector<float> half_squares;
  for (std::size_t k = 0; k < n_centroids; ++k) {
    double sum = 0;
    for (std::size_t j = 0; j < n_features; ++j) sum += std::pow(double{centroids[k * n_features + j]}, 2);
    half_squares.push_back(static_cast<float>(sum / 2));
  }
  NearestOfTile expected;
  NearestOfTile found;
  find_nearest(tile.data(), n_features, centroids.data(), n_centroids, expected);
  if (!find_nearest_by_products(tile.data(), n_features, centroids.data(), half_squares.data(), n_centroids, found)) {
    return false;
  }
  for (std::size_t row = 0; row < kTileRows; ++row) {
    EXPECT_EQ(found.nearest[row], expected.nearest[row]);
    EXPECT_GE(found.distance[row], expected.distance[row]);
    EXPECT_LE(found.second[row], expected.second[row]);
    EXPECT_LE(found.distance[row], expected.distance[row] + slack);
  }
  return true;
}

TEST(DistanceKernelTest, ProductsFindWhatDifferencesFindOrNothing) {
  for (const std::size_t n_features : {1, 2, 5, 31}) {
    for (const std::size_t n_centroids : {1, 3, 4, 9, 50}) {
      HugeArray<float> tile(n_features * kTileRows);
      std::vector<float> centroids = random_values(n_centroids * n_features, 2);
      for (const std::int64_t target : {std::int64_t{0}, std::int64_t{HWY_AVX3}, std::int64_t{HWY_AVX2}}) {
        if (target != 0 && (hwy::SupportedTargets() & target) == 0) continue;
        hwy::SetSupportedTargetsForTest(target);
        for (const float offset : {0.0F, 1.0F, 1000.0F}) {  // the farther from zero, the less products say
          std::ranges::copy(random_values(tile.size(), 1), tile.data());
          for (float& x : tile.span()) x += offset;
          std::vector<float> shifted = centroids;
          for (float& x : shifted) x += offset;
          const bool is_found = products_find(tile, shifted, n_features);
          EXPECT_TRUE(is_found || offset > 0 || n_features < 31);
        }
        std::vector<float> twice = centroids;
        twice.insert(twice.end(), centroids.begin(), centroids.end());
        EXPECT_FALSE(products_find(tile, twice, n_features));
        hwy::SetSupportedTargetsForTest(0);
      }
    }
  }
}

TEST(DistanceKernelTest, ScalesInFloat64AndClearsTheRest) {
  constexpr std::size_t kRows = 37;
  const std::vector<double> shift = {0.1, -1e30};
  const std::vector<double> factor = {1.0 / 3, 1e10};
  const std::vector<float> values = random_values(2 * kTileRows, 3);
  for (const std::int64_t target : {std::int64_t{0}, std::int64_t{HWY_AVX3}, std::int64_t{HWY_AVX2}}) {
    if (target != 0 && (hwy::SupportedTargets() & target) == 0) continue;
    HugeArray<float> tile(values.size());
    std::ranges::copy(values, tile.data());
    hwy::SetSupportedTargetsForTest(target);
    scale_tile(tile.data(), 2, kRows, shift.data(), factor.data(), 1e15F);
    hwy::SetSupportedTargetsForTest(0);
    for (std::size_t i = 0; i < kTileRows; ++i) {
      const auto scaled = static_cast<float>((double{values[i]} - shift[0]) * factor[0]);
      ASSERT_EQ(tile[i], i < kRows ? scaled : 0);
      ASSERT_EQ(tile[kTileRows + i], i < kRows ? 1e15F : 0);
    }
  }
}

/// Lloyd's algorithm without bounds: so many iterations, or until no row moves.
std::vector<float> plain_kmeans(const ScaledRows& rows, const SumUnits& units, Centroids centroids, int n_iterations) {
  std::vector<std::int32_t> before(rows.n_rows(), -1);
  for (int iteration = 0; iteration < n_iterations; ++iteration) {
    std::vector<std::int64_t> sums(centroids.size() * (centroids.n_features + 1), 0);
    std::vector<std::int32_t> nearest(rows.n_rows());
    for_each_nearest(rows, centroids, 1, [&](std::size_t begin, std::size_t end, const NearestOfTile& found, int) {
      for (std::size_t i = begin; i < end; ++i) nearest[i] = found.nearest[i - begin];
    });
    if (nearest == before) break;
    for (std::size_t i = 0; i < rows.n_rows(); ++i) {
      const auto k = static_cast<std::size_t>(nearest[i]);
      units.add(rows.values(i).data(), 1, rows.weight(i), 1, sums.data() + k * (centroids.n_features + 1));
    }
    for (std::size_t k = 0; k < centroids.size(); ++k) {
      const std::int64_t* const of_cluster = sums.data() + k * (centroids.n_features + 1);
      if (units.weight(of_cluster) <= 0) continue;
      for (std::size_t j = 0; j < centroids.n_features; ++j) centroids.of(k)[j] = units.mean(of_cluster, j);
    }
    before = std::move(nearest);
  }
  return centroids.values;
}

TEST(LloydTest, BoundsChangeNothing) {
  for (const std::uint64_t n_groups : {1, 4, 40}) {
    for (const std::size_t n_clusters : {1, 2, 7, 30}) {
      const table::Table table = rows_in_groups(3000, n_groups, self());
      const Spread spread = measure_spread(table, false, self(), 1);
      const ScaledRows rows(table, spread.units);
      const SumUnits units(spread.bound, 4, table.n_global_rows());
      const Centroids start = find_start(rows, n_clusters, 5, self(), 1);
      Lloyd lloyd(rows, units, start, self(), 2);
      for (int i = 0; i < 40 && lloyd.iterate().n_moved > 0; ++i) {
      }
      EXPECT_EQ(lloyd.centroids().values, plain_kmeans(rows, units, start, 40)) << n_groups << " " << n_clusters;
    }
  }
}

TEST(LloydTest, AClusterWithoutRowsGetsTheFarthest) {
  const table::Table table = rows_in_groups(500, 3, self());
  const Spread spread = measure_spread(table, false, self(), 1);
  const ScaledRows rows(table, spread.units);
  const SumUnits units(spread.bound, 4, table.n_global_rows());
  const std::vector<float> first = rows.values(0);
  Centroids start{kTestFeatures, {}};
  for (int k = 0; k < 3; ++k) start.values.insert(start.values.end(), first.begin(), first.end());
  Lloyd lloyd(rows, units, start, self(), 1);
  for (int i = 0; i < 50 && lloyd.iterate().n_moved > 0; ++i) {
  }
  for (const double weight : lloyd.weights()) EXPECT_GT(weight, 0);
}

TEST(SeedingTest, StartsAreDifferentRowsThatAreThere) {
  const table::Table table = rows_in_groups(2000, 5, self());
  const ScaledRows rows(table, measure_spread(table, false, self(), 1).units);
  std::set<std::vector<float>> all;
  for (std::size_t i = 0; i < rows.n_rows(); ++i) all.insert(rows.values(i));
  const Centroids start = find_start(rows, 20, 1, self(), 1);
  std::set<std::vector<float>> chosen;
  for (std::size_t k = 0; k < 20; ++k) chosen.emplace(start.of(k), start.of(k) + kTestFeatures);
  EXPECT_EQ(chosen.size(), 20U);
  EXPECT_TRUE(std::ranges::includes(all, chosen));
  EXPECT_EQ(find_start(rows, 20, 1, self(), 3).values, start.values);
  EXPECT_NE(find_start(rows, 20, 2, self(), 1).values, start.values);
}

TEST(SilhouetteTest, IsThatOfItsDefinition) {
  const table::Table table = rows_in_groups(300, 3, self(), false, 3);
  const ScaledRows rows(table, measure_spread(table, false, self(), 1).units);
  const Centroids centroids = find_start(rows, 4, 3, self(), 1);
  std::vector<std::size_t> cluster(rows.n_rows());
  for_each_nearest(rows, centroids, 1, [&](std::size_t begin, std::size_t end, const NearestOfTile& found, int) {
    for (std::size_t i = begin; i < end; ++i) cluster[i] = static_cast<std::size_t>(found.nearest[i - begin]);
  });
  double sum = 0;
  for (std::size_t i = 0; i < rows.n_rows(); ++i) {
    std::vector<double> sums(4, 0);
    std::vector<double> counts(4, 0);
    for (std::size_t other = 0; other < rows.n_rows(); ++other) {
      double square = 0;
      for (std::size_t j = 0; j < kTestFeatures; ++j) {
        square += std::pow(double{rows.values(i)[j]} - double{rows.values(other)[j]}, 2);
      }
      sums[cluster[other]] += std::sqrt(square);
      counts[cluster[other]] += i == other ? 0 : 1;
    }
    if (counts[cluster[i]] == 0) continue;
    const double a = sums[cluster[i]] / counts[cluster[i]];
    double b = std::numeric_limits<double>::infinity();
    for (std::size_t k = 0; k < 4; ++k) {
      if (k != cluster[i] && counts[k] > 0) b = std::min(b, sums[k] / counts[k]);
    }
    sum += (b - a) / std::max(a, b);
  }
  const Silhouette found = silhouette(rows, centroids, self(), 2);
  EXPECT_EQ(found.n_rows, 300U);
  EXPECT_NEAR(found.mean.value(), sum / 300, 1e-5);
}

TEST(KmeansTest, FindsGroupsThatAreApart) {
  const table::Table table = rows_in_groups(4000, 6, self(), true, 0.2);
  for (const bool standardizes : {false, true}) {
    const auto trained = train(kmeans(), table, self(), 2, {{"n_clusters", 6}, {"standardize", standardizes}});
    const std::vector<float> members = trained.model->predictions(trained.model->margins(table, 1), 1);
    for (std::size_t k = 0; k < 6; ++k) {
      for (std::size_t i = 6; i < 4000; ++i) ASSERT_EQ(members[k * 4000 + i], members[k * 4000 + i % 6]);
    }
    const Json measures = trained.model->measures_of_rows(table, self(), 1);
    EXPECT_GT(measures.at("silhouette").get<double>(), 0.8);
    EXPECT_NEAR(measures.at("inertia").get<double>(), trained.facts.at("inertia").get<double>(), 1e-9);
    EXPECT_TRUE(trained.facts.at("has_converged").get<bool>());
  }
}

TEST(KmeansTest, BatchesFindNearlyWhatAllRowsDo) {
  const table::Table table = rows_in_groups(20'000, 30, self(), true, 1);
  const auto inertia_of = [&](const Json& options) {
    const Json facts = train(kmeans(), table, self(), 2, options).facts;
    EXPECT_TRUE(facts.at("has_converged").get<bool>()) << options;
    return facts.at("inertia").get<double>();
  };
  const double of_all = inertia_of({{"n_clusters", 30}, {"restarts", 3}});
  for (const int batch : {256, 2000, 1'000'000}) {  // the last: of more than all rows
    EXPECT_LT(inertia_of({{"n_clusters", 30}, {"restarts", 3}, {"batch", batch}}), 1.05 * of_all) << batch;
  }
}

TEST(KmeansTest, BatchesOfATableWithFewDifferentRowsBeginWithAllOfThem) {
  table::Table table = rows_in_groups(5000, 1, self(), false, 0);
  table.feature(0)[4999] += 1;  // hardly drawn
  const Json facts = train(kmeans(), table, self(), 1, {{"n_clusters", 2}, {"batch", 64}}).facts;
  EXPECT_EQ(facts.at("cluster_weights").get<std::vector<double>>(), (std::vector<double>{4999, 1})) << facts;
  EXPECT_EQ(facts.at("inertia").get<double>(), 0);
}

TEST(KmeansTest, RowsFarFromZeroAndOfAnySizeHaveTheSameClusters) {
  const auto sizes = [](double factor, double shift) {
    table::Table table = rows_in_groups(1000, 4, self(), false, 0.1);
    for (std::size_t j = 0; j < kTestFeatures; ++j) {
      for (float& x : table.feature(j)) {
        x = static_cast<float>((std::round(double{x} * 16) / 16) * factor + shift);  // without rounding
      }
    }
    auto weights = train(kmeans(), table, self(), 1, {{"n_clusters", 4}}).facts.at("cluster_weights");
    return weights.get<std::vector<double>>();
  };
  const std::vector<double> expected = sizes(1, 0);
  EXPECT_EQ(sizes(1, 65536), expected);
  EXPECT_EQ(sizes(0x1p110, 0), expected);
  EXPECT_EQ(sizes(0x1p-100, 0), expected);
  table::Table table = rows_in_groups(1000, 4, self(), false, 0.1);
  std::ranges::fill(table.feature(1), 3e38F);
  table.feature(1)[5] = -3e38F;
  EXPECT_TRUE(train(kmeans(), table, self(), 1, {{"n_clusters", 2}}).facts.at("has_converged").get<bool>());
}

TEST(KmeansTest, RefusesWhatHasNoMeaning) {
  const auto refusal = [](table::Table table, const Json& options) {
    try {
      train(kmeans(), table, self(), 1, options);
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  const auto rows = [] { return rows_in_groups(50, 2, self()); };
  EXPECT_EQ(refusal(rows(), {{"n_clusters", 0}}), "clusters is 0, allowed is 1 to 10000");
  EXPECT_EQ(refusal(rows(), {{"n_clusters", 51}}), "clusters is 51, the table has 50 rows: allowed is 1 to 50");
  EXPECT_EQ(refusal(rows(), {{"batch", 1'000'000'001}}), "batch is 1000000001, allowed is 0 to 1000000000");
  EXPECT_EQ(refusal(rows(), {{"batch", 10}, {"patience", 0}}), "patience is 0, allowed is 1 to 1000000");
  EXPECT_EQ(refusal(rows(), {{"tolerance", -1.0}}), "tolerance is -1, allowed are finite numbers from 0");
  auto missing = rows();
  missing.feature(1)[7] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(
      refusal(std::move(missing), Json::object()),
      "row 7, column 'b': the value is missing (NaN), and distances need numbers: leave the row or the column out");
  auto negative = rows();
  negative.weight()[9] = -1;
  EXPECT_EQ(refusal(std::move(negative), Json::object()),
            "row 9: its weight 'w' is negative or no number, allowed are finite numbers from 0");
  auto equal = rows();
  for (std::size_t j = 0; j < kTestFeatures; ++j) std::ranges::fill(equal.feature(j), 1.0F);
  equal.feature(0)[3] = 2;
  EXPECT_EQ(refusal(std::move(equal), {{"n_clusters", 3}}),
            "clusters is 3, and the table has only 2 different rows: allowed is 1 to 2");
}

TEST(KmeansTest, ModelFilesThatAreNotWholeAreRefused) {
  const std::string text =
      train(kmeans(), rows_in_groups(50, 2, self()), self(), 1, {{"n_clusters", 2}}).model->to_text();
  EXPECT_EQ(kmeans().read_model(text, "m")->to_text(), text);
  for (std::size_t length = 0; length + 1 < text.size(); length += 37) {
    EXPECT_THROW(kmeans().read_model(text.substr(0, length), "cut"), InputError);
  }
}

}  // namespace
}  // namespace podere::cluster
