// The same model, bit for bit, however the rows are spread, and the means that a few lines compute.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "examples/nearest_centroid/nearest_centroid.h"
#include "podere/base/error.h"
#include "podere/base/hash.h"

namespace podere::examples {
namespace {

constexpr std::size_t kFeatures = 3;
constexpr std::size_t kClasses = 3;

/// Anything that depends on the number of the row alone; one value of ten is missing.
table::Table some_rows(std::uint64_t n_rows, const comm::Communicator& comm) {
  table::Table table({.features = {"a", "b", "c"}, .label = "y", .weight = "w"}, n_rows,
                     table::rows_of(n_rows, comm.rank(), comm.size()));
  for (std::size_t i = 0; i < table.n_rows(); ++i) {
    const std::uint64_t row = table.global({i}).value;
    table.label()[i] = static_cast<float>(row % kClasses);
    table.weight()[i] = static_cast<float>(1 + hash64(9, 0, row) % 4);
    for (std::size_t j = 0; j < kFeatures; ++j) {
      const std::uint64_t drawn = hash64(9, j + 1, row);
      table.feature(j)[i] = drawn % 10 == 0 ? std::numeric_limits<float>::quiet_NaN()
                                            : static_cast<float>(drawn % 1000) / 7 + static_cast<float>(row % kClasses);
    }
  }
  return table;
}

algorithm::Trained train(const table::Table& table, const comm::Communicator& comm, int n_threads,
                         const Json& options = Json::object()) {
  Progress progress;
  algorithm::Summaries summaries;
  return nearest_centroid().trainer(options)->train(
      table::HeldRows(table), nullptr,
      {.comm = comm, .n_threads = n_threads, .progress = progress, .summaries = summaries});
}

TEST(NearestCentroidDistributed, ModelsDoNotDependOnRanksOrThreads) {
  const comm::Communicator world = comm::Communicator::world();
  const comm::Communicator alone = comm::Communicator::self();
  for (const std::uint64_t n_rows : {std::uint64_t{100}, std::uint64_t{20000}}) {  // of 100 ranks are left without rows
    const std::string expected = train(some_rows(n_rows, alone), alone, 1).model->to_text();
    for (const int n_threads : {1, 3}) {
      EXPECT_EQ(train(some_rows(n_rows, world), world, n_threads).model->to_text(), expected);
    }
  }
}

TEST(NearestCentroidDistributed, CentroidsAreWeightedMeans) {
  const comm::Communicator world = comm::Communicator::world();
  const comm::Communicator alone = comm::Communicator::self();
  const table::Table whole = some_rows(5000, alone);
  const auto model = train(some_rows(5000, world), world, 2).model;
  const Json centroids = model->describe().json.at("centroids");
  for (std::size_t k = 0; k < kClasses; ++k) {
    for (std::size_t j = 0; j < kFeatures; ++j) {
      double sum = 0;
      double weight = 0;
      for (std::size_t i = 0; i < whole.n_rows(); ++i) {
        const float x = whole.feature(j)[i];
        if (std::isnan(x) || whole.label()[i] != static_cast<float>(k)) continue;
        sum += static_cast<double>(whole.weight()[i]) * x;
        weight += whole.weight()[i];
      }
      EXPECT_NEAR(centroids.at(k).at(j).get<double>(), sum / weight, 1e-9);
    }
  }
}

TEST(NearestCentroidDistributed, ARowIsOfTheClassThatIsNearest) {
  const comm::Communicator alone = comm::Communicator::self();
  table::Table table({.features = {"x"}, .label = "y"}, 4, {0, 4});
  const std::vector<float> x = {0, 2, 10, 12};
  const std::vector<float> y = {0, 0, 1, 1};
  std::ranges::copy(x, table.feature(0).begin());
  std::ranges::copy(y, table.label().begin());
  const auto model = train(table, alone, 1).model;
  const auto again = nearest_centroid().read_model(model->to_text(), "again");
  EXPECT_EQ(again->to_text(), model->to_text());
  const std::vector<float> probabilities = again->predictions(again->margins(table, 1), 1);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_NEAR(probabilities[i] + probabilities[4 + i], 1, 1e-6);
    EXPECT_GT(probabilities[4 * static_cast<std::size_t>(y[i]) + i], 0.99F);
  }
}

TEST(NearestCentroidDistributed, FarAndInfiniteValuesHaveANearestClassToo) {
  const comm::Communicator alone = comm::Communicator::self();
  table::Table table({.features = {"a", "b"}, .label = "y"}, 4, {0, 4});
  std::ranges::copy(std::vector<float>{0, 2e5, 0, 2e5}, table.feature(0).begin());
  std::ranges::copy(std::vector<float>{0, 0, 4, 4}, table.feature(1).begin());
  std::ranges::copy(std::vector<float>{0, 0, 1, 1}, table.label().begin());
  const auto model = train(table, alone, 1).model;
  EXPECT_GT(model->predictions(model->margins(table, 1), 1)[4 + 3], 0.99F) << "a float has no room for both distances";
  table.feature(0)[0] = std::numeric_limits<float>::infinity();
  table.feature(1)[1] = 1e20F;
  const std::vector<float> far = model->predictions(model->margins(table, 1), 1);
  EXPECT_GT(far[0], 0.99F);
  EXPECT_TRUE(std::ranges::all_of(far, [](float p) { return std::isfinite(p); }));
}

TEST(NearestCentroidDistributed, RefusesWhatHasNoMeaning) {
  const comm::Communicator world = comm::Communicator::world();
  EXPECT_THROW(nearest_centroid().trainer({{"n_classes", 1}}), InputError);
  EXPECT_THROW(nearest_centroid().trainer({{"n_clases", 3}}), InputError);
  EXPECT_THROW(train(some_rows(100, world), world, 1, {{"n_classes", 4}}), InputError) << "a class without rows";
  EXPECT_THROW(train(some_rows(100, world), world, 1, {{"n_classes", 2}}), InputError) << "a label beyond";
  const std::string text = train(some_rows(100, world), world, 1).model->to_text();
  for (std::size_t length = 0; length + 1 < text.size(); length += 37) {
    EXPECT_THROW(nearest_centroid().read_model(text.substr(0, length), "cut"), InputError);
  }
}

}  // namespace
}  // namespace podere::examples
