#include "podere/linalg/prepare.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "podere/base/error.h"
#include "podere/linalg/svd.h"
#include "podere/linalg/test_matrices.h"

namespace podere::linalg {
namespace {

template <typename Call>
std::string refusal_of(Call&& call) {
  try {
    call();
  } catch (const InputError& error) {
    return error.what();
  }
  return "nothing was refused";
}

std::string refusal_of_filling(TallMatrix a) {
  return refusal_of([&] { fill_with_means(a, {"a", "b", "c"}, alone(), 2); });
}

TEST(FillWithMeans, TakesTheMeanOfTheOtherValues) {
  TallMatrix a = test_matrix(2500, 3);
  const TallMatrix whole = test_matrix(2500, 3);
  double sum = 0;
  for (std::size_t i = 0; i < a.n_rows(); ++i) {
    if (i % 7 == 0) {
      a.row(i)[1] = NAN;
    } else {
      sum += a.row(i)[1];
    }
  }
  EXPECT_EQ(fill_with_means(a, {"a", "b", "c"}, alone(), 3), (std::vector<std::uint64_t>{0, 358, 0}));
  for (std::size_t i = 0; i < a.n_rows(); ++i) {
    EXPECT_EQ(a.row(i)[0], whole.row(i)[0]);
    if (i % 7 == 0) {
      EXPECT_NEAR(a.row(i)[1], sum / 2142, 1e-13) << i;
    } else {
      EXPECT_EQ(a.row(i)[1], whole.row(i)[1]);
    }
  }
}

TEST(FillWithMeans, RefusesColumnsWithoutAMean) {
  TallMatrix empty = test_matrix(5, 3), infinite = test_matrix(5, 3);
  for (std::size_t i = 0; i < 5; ++i) empty.row(i)[2] = NAN;
  infinite.row(1)[0] = NAN;
  infinite.row(3)[0] = INFINITY;
  EXPECT_EQ(refusal_of_filling(std::move(empty)), "column 'c' has no values, and no mean: leave it out with --drop");
  EXPECT_EQ(refusal_of_filling(std::move(infinite)),
            "column 'a' has missing values, and no mean: others are infinite, or too large to be added");
}

TEST(Prepare, RefusesWhatCannotBeScaledAndHugeValues) {
  TallMatrix a = test_matrix(50, 2);
  for (std::size_t i = 0; i < a.n_rows(); ++i) a.row(i)[1] = 0.1;
  EXPECT_EQ(refusal_of([&] {
              prepare(a, {"a", "b"}, {.center = false, .scale = true}, alone(), 1);
            }),
            "column 'b' is constant, and cannot be scaled: leave it out with --drop, or do without --scale");
  EXPECT_EQ(prepare(a, {"a", "b"}, {.center = true}, alone(), 1).moments.deviations, std::vector<double>());
  a.row(7)[0] = -1e300;
  EXPECT_EQ(refusal_of([&] {
              prepare(a, {"a", "b"}, {}, alone(), 1);
            }),
            "column 'a' has values of up to 1e+300, allowed are 1e+290: divide them");
}

/// Fill values of places where nothing was measured, which are the same in all rows.
TEST(Prepare, HugeConstantColumnsCostTheOthersNoDigits) {
  TallMatrix a = test_matrix(3000, 20), filled = test_matrix(3000, 20);
  for (std::size_t i = 0; i < a.n_rows(); ++i) {
    a.row(i)[4] = 0;
    filled.row(i)[4] = 9.96921e36;
  }
  const auto values_of = [](const TallMatrix& matrix) {
    const std::vector<std::string> names(20, "x");
    const Prepared prepared = prepare(matrix, names, {.center = true}, alone(), 2);
    return svd(matrix, prepared.map, {.rank = 5}, alone(), 2).s;
  };
  EXPECT_LT((values_of(a) - values_of(filled)).cwiseAbs().maxCoeff(), 1e-14);
}

}  // namespace
}  // namespace podere::linalg
