#include "podere/collider/higgs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "podere/base/error.h"
#include "podere/collider/features.h"

namespace podere::collider {
namespace {

constexpr std::size_t kMbb = 25;

const table::Table& events() {
  static const auto comm = comm::Communicator::self();
  static const table::Table table = generate_table(11, 0, 40'000, comm, 2);
  return table;
}

std::vector<double> feature_of_class(std::size_t j, float label) {
  std::vector<double> values;
  for (std::size_t i = 0; i < events().n_rows(); ++i) {
    if (events().label()[i] == label) values.push_back(events().feature(j)[i]);
  }
  std::sort(values.begin(), values.end());
  return values;
}

double mean_of(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

/// Mean and quartiles of a feature among the 15,688 real rows in data/, by class.
struct Real {
  std::size_t feature;
  float label;
  double mean, lower_quartile, median, upper_quartile;
};
constexpr Real kReal[] = {
    {0, 0, 1.022, 0.579, 0.861, 1.285},  {0, 1, 0.966, 0.605, 0.849, 1.189},  {3, 0, 1.065, 0.598, 0.934, 1.381},
    {3, 1, 0.939, 0.562, 0.857, 1.224},  {5, 0, 0.964, 0.653, 0.866, 1.152},  {5, 1, 1.019, 0.705, 0.926, 1.191},
    {9, 0, 0.985, 0.659, 0.872, 1.193},  {9, 1, 1.007, 0.664, 0.905, 1.214},  {13, 0, 0.982, 0.652, 0.894, 1.205},
    {13, 1, 1.001, 0.653, 0.902, 1.246}, {17, 0, 0.966, 0.609, 0.854, 1.193}, {17, 1, 0.998, 0.624, 0.882, 1.245},
    {21, 0, 1.023, 0.790, 0.893, 1.026}, {21, 1, 1.042, 0.795, 0.897, 1.023}, {22, 0, 1.010, 0.855, 0.940, 1.049},
    {22, 1, 1.038, 0.833, 0.962, 1.112}, {23, 0, 1.049, 0.986, 0.990, 1.019}, {23, 1, 1.054, 0.986, 0.990, 1.023},
    {24, 0, 1.024, 0.783, 0.909, 1.120}, {24, 1, 0.998, 0.755, 0.925, 1.160}, {25, 0, 1.048, 0.636, 0.926, 1.305},
    {25, 1, 0.900, 0.700, 0.856, 1.001}, {26, 0, 1.054, 0.796, 0.967, 1.202}, {26, 1, 1.013, 0.840, 0.942, 1.086},
    {27, 0, 1.001, 0.773, 0.920, 1.124}, {27, 1, 0.924, 0.771, 0.845, 0.993}};

TEST(Higgs, EnergiesAndMassesAreSpreadAsInTheRealRows) {
  for (const Real& real : kReal) {
    const auto values = feature_of_class(real.feature, real.label);
    const auto quantile = [&](double q) {
      return values[static_cast<std::size_t>(q * static_cast<double>(values.size()))];
    };
    SCOPED_TRACE(std::string(kFeatureNames[real.feature]) + (real.label > 0 ? " of signal" : " of background"));
    EXPECT_NEAR(mean_of(values), real.mean, 0.08);
    EXPECT_NEAR(quantile(0.25), real.lower_quartile, 0.12);
    EXPECT_NEAR(quantile(0.5), real.median, 0.12);
    EXPECT_NEAR(quantile(0.75), real.upper_quartile, 0.12);
  }
}

TEST(Higgs, AnglesHaveMeanZeroAndDeviationOne) {
  for (const std::size_t j : {1, 2, 4, 6, 7, 10, 11, 14, 15, 18, 19}) {
    double sum = 0, squares = 0;
    for (const float x : events().feature(j)) {
      sum += x;
      squares += double{x} * x;
    }
    const auto n = static_cast<double>(events().n_rows());
    EXPECT_NEAR(sum / n, 0, 0.03) << kFeatureNames[j];
    EXPECT_NEAR(squares / n, 1, 0.03) << kFeatureNames[j];
  }
}

TEST(Higgs, TagsHaveTheThreeValuesOfTheRealRowsAboutAsOften) {
  struct Tag {
    std::size_t feature;
    float loose;
    double share_none, share_loose;
  };
  for (const Tag& tag : {Tag{8, 1.0865380764007568f, 0.488, 0.105}, Tag{12, 1.1074360609054565f, 0.500, 0.092},
                         Tag{16, 1.2741122245788574f, 0.569, 0.074}, Tag{20, 1.5509806871414185f, 0.652, 0.060}}) {
    double none = 0, loose = 0;
    for (const float x : events().feature(tag.feature)) {
      ASSERT_TRUE(x == 0 || x == tag.loose || x == 2 * tag.loose) << x;
      none += x == 0;
      loose += x == tag.loose;
    }
    EXPECT_NEAR(none / static_cast<double>(events().n_rows()), tag.share_none, 0.06);
    EXPECT_NEAR(loose / static_cast<double>(events().n_rows()), tag.share_loose, 0.03);
  }
}

TEST(Higgs, MassOfTheBottomPairPeaksAtTheLightHiggsForSignalOnly) {
  const auto share_near = [](float label) {
    const auto masses = feature_of_class(kMbb, label);
    const auto near = std::count_if(masses.begin(), masses.end(), [](double m) {
      const double gev = m * kFeatureUnits[kMbb];
      return gev > 90 && gev < 150;
    });
    return static_cast<double>(near) / static_cast<double>(masses.size());
  };
  EXPECT_GT(share_near(1), 0.6);
  EXPECT_LT(share_near(0), 0.42);
}

TEST(Higgs, IsFiniteAndWithinTheCuts) {
  for (std::size_t j = 0; j < kFeatures; ++j) {
    for (const float x : events().feature(j)) ASSERT_TRUE(std::isfinite(x)) << kFeatureNames[j];
  }
  for (const std::size_t j : {0, 5, 9, 13, 17}) {
    for (const float x : events().feature(j)) ASSERT_GT(x * kFeatureUnits[j], 19.999);
  }
  for (const std::size_t j : {1, 6, 10, 14, 18}) {
    for (const float x : events().feature(j)) ASSERT_LT(std::abs(x * kFeatureUnits[j]), 2.5001);
  }
}

TEST(Higgs, HasFiftyThreePercentSignal) {
  double signal = 0;
  for (const float label : events().label()) signal += label;
  EXPECT_NEAR(signal / static_cast<double>(events().n_rows()), 0.53, 0.01);
}

TEST(Higgs, AnEventDependsOnSeedAndNumberAlone) {
  const auto comm = comm::Communicator::self();
  const auto part = generate_table(11, 1000, 1600, comm, 3);
  EXPECT_EQ(part.n_global_rows(), 600u);
  for (std::size_t i = 0; i < 600; ++i) {
    const Event event = generate_event(11, 1000 + i);
    ASSERT_EQ(part.label()[i], event.label);
    for (std::size_t j = 0; j < kFeatures; ++j) {
      ASSERT_EQ(part.feature(j)[i], event.features[j]);
      ASSERT_EQ(part.feature(j)[i], events().feature(j)[1000 + i]);
    }
  }
  EXPECT_NE(generate_event(12, 1000).features, generate_event(11, 1000).features);
}

TEST(Higgs, RefusesARangeThatRunsBackwards) {
  const auto comm = comm::Communicator::self();
  EXPECT_THROW(generate_table(1, 5, 4, comm, 1), InputError);
  EXPECT_EQ(generate_table(1, 5, 5, comm, 1).n_rows(), 0u);
}

}  // namespace
}  // namespace podere::collider
