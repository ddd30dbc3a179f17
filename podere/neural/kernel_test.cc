// Every kernel against a plain reference, and the same bits from the kernels of all kinds of machines.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "hwy/targets.h"
#include "podere/base/hash.h"
#include "podere/base/huge_array.h"
#include "podere/neural/activation_kernel.h"
#include "podere/neural/descent_kernel.h"
#include "podere/neural/loss_kernel.h"
#include "podere/neural/multiply_kernel.h"
#include "podere/neural/sum_kernel.h"

namespace podere::neural {
namespace {

float value_at(std::uint64_t seed, std::size_t i) { return static_cast<float>(2 * uniform01(hash64(seed, 0, i)) - 1); }

HugeArray<float> random_floats(std::size_t n, std::uint64_t seed) {
  HugeArray<float> values(n);
  for (std::size_t i = 0; i < n; ++i) values[i] = value_at(seed, i);
  return values;
}

std::vector<std::uint32_t> bits_of(std::span<const float> values) {
  std::vector<std::uint32_t> bits;
  for (const float value : values) bits.push_back(std::bit_cast<std::uint32_t>(value));
  return bits;
}

/// Calls `compute` with the kernels of each kind of machine with fused multiply-add that this one can be, and expects
/// the same bits from all.
void expect_same_bits_on_all_machines(const std::function<std::vector<std::uint32_t>()>& compute) {
  const std::vector<std::uint32_t> expected = compute();
  for (const std::int64_t target : {HWY_AVX3, HWY_AVX2, HWY_NEON}) {
    if ((hwy::SupportedTargets() & target) == 0) continue;
    hwy::SetSupportedTargetsForTest(target);
    EXPECT_EQ(compute(), expected) << hwy::TargetName(target);
    hwy::SetSupportedTargetsForTest(0);
  }
}

TEST(MultiplyTest, EqualsSumsOfFusedProductsInOrderAtAllSizes) {
  for (const std::size_t m : {1, 2, 3, 5, 7, 8, 9, 31, 64}) {
    for (const std::size_t k : {0, 1, 2, 29, 64}) {
      for (const std::size_t n : {16, 32, 48, 64, 112, 160}) {
        for (const bool by_columns : {false, true}) {
          const HugeArray<float> a = random_floats(m * k, 1);
          const HugeArray<float> b = random_floats(k * n, 2);
          HugeArray<float> c = random_floats(m * (n + kLanes), 3);
          const std::size_t a_row = by_columns ? 1 : k;
          const std::size_t a_step = by_columns ? m : 1;
          multiply({a.data(), a_row, a_step, b.data(), n, c.data(), n + kLanes, m, k, n});
          for (std::size_t i = 0; i < m; ++i) {
            for (std::size_t j = 0; j < n; ++j) {
              float sum = 0;
              for (std::size_t s = 0; s < k; ++s) sum = std::fma(a[i * a_row + s * a_step], b[s * n + j], sum);
              ASSERT_EQ(c[i * (n + kLanes) + j], sum) << m << "x" << k << "x" << n << " at " << i << "," << j;
            }
            for (std::size_t j = n; j < n + kLanes; ++j) {
              ASSERT_EQ(c[i * (n + kLanes) + j], value_at(3, i * (n + kLanes) + j)) << "written beyond the columns";
            }
          }
        }
      }
    }
  }
}

TEST(MultiplyTest, HasTheSameBitsOnAllMachines) {
  const HugeArray<float> a = random_floats(64 * 29, 1);
  const HugeArray<float> b = random_floats(29 * 112, 2);
  expect_same_bits_on_all_machines([&] {
    HugeArray<float> c(64 * 112);
    multiply({a.data(), 29, 1, b.data(), 112, c.data(), 112, 64, 29, 112});
    return bits_of(c.span());
  });
}

TEST(MultiplyRowsTest, EqualsDotProducts) {
  for (const std::size_t m : {1, 5, 64}) {
    for (const std::size_t n : {1, 2, 4}) {
      for (const std::size_t stride : {16, 32, 112}) {
        const HugeArray<float> a = random_floats(m * stride, 4);
        const HugeArray<float> b = random_floats(n * stride, 5);
        HugeArray<float> c(n * 64);
        multiply_rows({a.data(), b.data(), stride, c.data(), 64, m, n});
        for (std::size_t i = 0; i < m; ++i) {
          for (std::size_t j = 0; j < n; ++j) {
            double sum = 0;
            for (std::size_t s = 0; s < stride; ++s) sum += static_cast<double>(a[i * stride + s]) * b[j * stride + s];
            ASSERT_NEAR(c[j * 64 + i], sum, 1e-5);
          }
        }
      }
    }
  }
}

TEST(MultiplyRowsTest, HasTheSameBitsOnAllMachines) {
  const HugeArray<float> a = random_floats(64 * 112, 4);
  const HugeArray<float> b = random_floats(2 * 112, 5);
  expect_same_bits_on_all_machines([&] {
    HugeArray<float> c(2 * 64);
    multiply_rows({a.data(), b.data(), 112, c.data(), 64, 64, 2});
    return bits_of(c.span());
  });
}

class ActivationTest : public testing::TestWithParam<Activation> {};

double plain_activation(Activation activation, double x) {
  return activation == Activation::kIdentity ? x
         : activation == Activation::kRelu   ? std::max(x, 0.0)
         : activation == Activation::kTanh   ? std::tanh(x)
                                             : 1 / (1 + std::exp(-x));
}

TEST_P(ActivationTest, EqualsItsFormulaAndSetsWhatLiesBeyondTheUnits) {
  for (const std::size_t n_units : {1, 15, 16, 30, 100}) {
    const std::size_t stride = round_up(n_units + 1, kLanes);
    HugeArray<float> values(3 * stride);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = 20 * value_at(6, i);
    activate(GetParam(), {values.data(), 3, n_units, stride});
    for (std::size_t i = 0; i < 3; ++i) {
      for (std::size_t j = 0; j < stride; ++j) {
        const std::size_t place = i * stride + j;
        const double expected =
            j < n_units ? plain_activation(GetParam(), 20 * value_at(6, place)) : (j == n_units ? 1 : 0);
        ASSERT_NEAR(values[place], expected, 1e-6 * std::max(1.0, std::abs(expected))) << place;
      }
    }
  }
}

TEST_P(ActivationTest, KeepsNaNAndStaysFiniteFarOut) {
  HugeArray<float> values(16);
  std::fill_n(values.data(), 16, std::numeric_limits<float>::quiet_NaN());
  values[1] = 1e30F;
  values[2] = -1e30F;
  values[3] = std::numeric_limits<float>::infinity();
  values[4] = -std::numeric_limits<float>::infinity();
  activate(GetParam(), {values.data(), 1, 15, 16});
  EXPECT_TRUE(std::isnan(values[0]));
  if (GetParam() == Activation::kSigmoid || GetParam() == Activation::kTanh) {
    EXPECT_EQ(values[1], 1);
    EXPECT_NEAR(values[2], GetParam() == Activation::kTanh ? -1 : 0, 1e-30);
    EXPECT_EQ(values[3], 1);
    EXPECT_NEAR(values[4], GetParam() == Activation::kTanh ? -1 : 0, 1e-30);
  }
}

TEST_P(ActivationTest, SlopesAreThoseOfFiniteDifferences) {
  constexpr double kStep = 1e-6;
  HugeArray<float> values(16);
  std::vector<float> derivatives(16, 2.0F);
  for (std::size_t i = 0; i < 16; ++i) values[i] = 3 * value_at(7, i);
  activate(GetParam(), {values.data(), 1, 15, 16});
  HugeArray<float> aligned(16);
  std::copy(derivatives.begin(), derivatives.end(), aligned.data());
  multiply_by_slope(GetParam(), {values.data(), 1, 15, 16}, aligned.data());
  for (std::size_t i = 0; i < 15; ++i) {
    const double x = 3 * value_at(7, i);
    const double expected = (plain_activation(GetParam(), x + kStep) - plain_activation(GetParam(), x - kStep)) / kStep;
    EXPECT_NEAR(aligned[i], expected, 1e-5) << x;
  }
}

TEST_P(ActivationTest, HasTheSameBitsOnAllMachines) {
  expect_same_bits_on_all_machines([&] {
    HugeArray<float> values(64 * 112);
    HugeArray<float> derivatives = random_floats(64 * 112, 9);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = 10 * value_at(8, i);
    const Units units{values.data(), 64, 100, 112};
    activate(GetParam(), units);
    multiply_by_slope(GetParam(), units, derivatives.data());
    auto bits = bits_of(values.span());
    const auto more = bits_of(derivatives.span());
    bits.insert(bits.end(), more.begin(), more.end());
    return bits;
  });
}

INSTANTIATE_TEST_SUITE_P(All, ActivationTest,
                         testing::Values(Activation::kIdentity, Activation::kRelu, Activation::kSigmoid,
                                         Activation::kTanh),
                         [](const auto& tested) { return to_string(tested.param); });

struct LossCase {
  Loss loss;
  std::size_t n_outputs;
};
class LossTest : public testing::TestWithParam<LossCase> {
 protected:
  static constexpr std::size_t kRows = 37;
  LossTest() : label(kRows), weight(kRows) {
    for (std::size_t i = 0; i < kRows; ++i) {
      const double u = uniform01(hash64(1, 1, i));
      label[i] =
          GetParam().loss == Loss::kSquaredError
              ? static_cast<float>(u)
              : std::floor(static_cast<float>(u * std::max<double>(2, static_cast<double>(GetParam().n_outputs))));
      weight[i] = static_cast<float>(0.5 + u);
    }
    for (std::size_t i = 0; i < GetParam().n_outputs * kTileRows; ++i) values.push_back(4 * value_at(2, i));
  }
  double sum(std::vector<float> z) const {
    return differentiate_loss(GetParam().loss, {z.data(), GetParam().n_outputs, kRows, label.data(), weight.data()});
  }
  std::vector<float> label;
  std::vector<float> weight;
  std::vector<float> values;
};

TEST_P(LossTest, DerivativesAreThoseOfFiniteDifferences) {
  std::vector<float> derivatives = values;
  const TileOutputs tile{derivatives.data(), GetParam().n_outputs, kRows, label.data(), weight.data()};
  differentiate_loss(GetParam().loss, tile);
  for (std::size_t k = 0; k < GetParam().n_outputs; ++k) {
    for (std::size_t i = 0; i < kRows; ++i) {
      std::vector<float> up = values;
      std::vector<float> down = values;
      up[k * kTileRows + i] += 1.0F / 64;
      down[k * kTileRows + i] -= 1.0F / 64;
      EXPECT_NEAR(derivatives[k * kTileRows + i], (sum(up) - sum(down)) * 32, 2e-4);
    }
  }
}

TEST_P(LossTest, IsTheLossOfThePredictions) {
  std::vector<float> predictions = values;
  predict_from_outputs(GetParam().loss, {predictions.data(), GetParam().n_outputs, kRows, nullptr, nullptr});
  double expected = 0;
  for (std::size_t i = 0; i < kRows; ++i) {
    const double p = predictions[i];
    expected += weight[i] * (GetParam().loss == Loss::kBinaryCrossEntropy ? -std::log(label[i] > 0.5F ? p : 1 - p)
                             : GetParam().loss == Loss::kCrossEntropy
                                 ? -std::log(predictions[static_cast<std::size_t>(label[i]) * kTileRows + i])
                                 : (p - label[i]) * (p - label[i]) / 2);
  }
  EXPECT_NEAR(sum(values), expected, 1e-4);
}

TEST_P(LossTest, StaysFiniteFarOut) {
  std::vector<float> far = values;
  for (float& z : far) z *= 1e6F;
  EXPECT_TRUE(std::isfinite(sum(far)));
}

TEST_P(LossTest, HasTheSameBitsOnAllMachines) {
  expect_same_bits_on_all_machines([&] {
    std::vector<float> derivatives = values;
    const double loss = differentiate_loss(
        GetParam().loss, {derivatives.data(), GetParam().n_outputs, kRows, label.data(), weight.data()});
    auto bits = bits_of(derivatives);
    bits.push_back(static_cast<std::uint32_t>(std::bit_cast<std::uint64_t>(loss)));
    bits.push_back(static_cast<std::uint32_t>(std::bit_cast<std::uint64_t>(loss) >> 32));
    return bits;
  });
}

INSTANTIATE_TEST_SUITE_P(All, LossTest,
                         testing::Values(LossCase{Loss::kBinaryCrossEntropy, 1}, LossCase{Loss::kCrossEntropy, 2},
                                         LossCase{Loss::kCrossEntropy, 10}, LossCase{Loss::kSquaredError, 1}));

TEST(AddScaledTest, RoundsEachValueOnceAndAddsExactly) {
  std::vector<float> values = {0.75F, -0.75F, 1.0F / 8, -3.0F / 8, 0, -0.0F, 5e8F, 0x1p-149F};
  std::vector<std::int64_t> sums(values.size(), 10);
  const std::uint32_t largest = add_scaled(values, 2, sums);
  // Ties go to the even neighbor.
  EXPECT_EQ(sums, (std::vector<std::int64_t>{13, 7, 10, 8, 10, 10, 2000000010, 10}));
  EXPECT_EQ(std::bit_cast<float>(largest), 5e8F);
}

TEST(AddScaledTest, IsExactUpToItsBound) {
  const std::vector<float> values = {0x1p31F, -0x1p31F};
  std::vector<std::int64_t> sums(2, 1);
  add_scaled(values, kScaledBits - 31, sums);
  EXPECT_EQ(sums,
            (std::vector<std::int64_t>{(std::int64_t{1} << kScaledBits) + 1, 1 - (std::int64_t{1} << kScaledBits)}));
}

TEST(AddScaledTest, ReportsWhatIsNotFinite) {
  std::vector<std::int64_t> sums(2);
  EXPECT_GE(add_scaled(std::vector<float>{1, -std::numeric_limits<float>::infinity()}, 0, sums), 0x7f800000U);
  EXPECT_GT(add_scaled(std::vector<float>{std::numeric_limits<float>::quiet_NaN(), 2}, 0, sums), 0x7f800000U);
}

TEST(DescentKernelTest, StepsAsTheFormulasSay) {
  const std::vector<double> gradient = {0.5, -2};
  std::vector<float> weights = {1, 2};
  std::vector<float> first = {0.25F, 0};
  std::vector<float> second = {0.5F, 0};
  step_sgd({gradient.data(), weights.data(), first.data(), nullptr, 2}, 0.1, 0.5);
  EXPECT_EQ(first, (std::vector<float>{0.625F, -2}));
  EXPECT_FLOAT_EQ(weights[0], 1 - 0.0625F);
  EXPECT_FLOAT_EQ(weights[1], 2.2F);

  weights = {1, 2};
  first = {0.25F, 0};
  step_adam({gradient.data(), weights.data(), first.data(), second.data(), 2}, {0.1, 0.5, 0.75, 1e-8, 0.75, 0.4375});
  EXPECT_EQ(first, (std::vector<float>{0.375F, -1}));
  EXPECT_EQ(second, (std::vector<float>{0.4375F, 1}));
  EXPECT_FLOAT_EQ(weights[0], 1 - 0.1F * 0.5F / 1.0F);
  EXPECT_FLOAT_EQ(weights[1], 2 + 0.1F * (1 / 0.75F) / std::sqrt(1 / 0.4375F));
}

TEST(DescentKernelTest, HasTheSameBitsOnAllMachines) {
  std::vector<double> gradient;
  for (std::size_t i = 0; i < 77; ++i) gradient.push_back(value_at(1, i));
  expect_same_bits_on_all_machines([&] {
    std::vector<float> weights(77, 0.5F);
    std::vector<float> first(77, 0.25F);
    std::vector<float> second(77, 0.125F);
    step_sgd({gradient.data(), weights.data(), first.data(), nullptr, 77}, 0.01, 0.9);
    step_adam({gradient.data(), weights.data(), first.data(), second.data(), 77}, {0.01, 0.9, 0.999, 1e-8, 0.1, 0.001});
    return bits_of(weights);
  });
}

}  // namespace
}  // namespace podere::neural
